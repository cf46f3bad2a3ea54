// Elements in few words. Text is always text: names from files never become HTML.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | EventListener | null | undefined>;

function apply(element: Element, props: Props): void {
    for (const [key, value] of Object.entries(props)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(key.slice(2), value);
        else element.setAttribute(key, value === true ? "" : String(value));
    }
}

export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    props: Props = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    apply(element, props);
    element.append(...children.filter((c): c is Node | string => !!c || c === ""));
    return element;
}

export function svg(tag: string, props: Props = {}, ...children: Node[]): SVGElement {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    apply(element, props);
    element.append(...children);
    return element;
}

export function setText(element: Element, text: string): void {
    if (element.textContent !== text) element.textContent = text;
}

// Keys go to what is being typed into, not to the shortcuts.
export function isTyping(target: EventTarget | null): boolean {
    if (!(target instanceof HTMLElement)) return false;
    if (target instanceof HTMLInputElement) return !["checkbox", "range", "button"].includes(target.type);
    return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
