// Everything that can be done by a key or from the palette, in one list: the shortcuts, the help and the palette are
// made from it, so they cannot disagree.

import { isTyping } from "./dom";

export interface Action {
    group: "Play" | "Take hold" | "Look" | "Work";
    label: string; // "": told by another line of the help
    keys: string[]; // "Space", "Ctrl+Z", "?"; as KeyboardEvent.key has them
    run(): void;
    shown?: string; // keys as the help shows them, if one line tells of several actions
    hidden?: boolean; // only by key: makes no sense in a list
}

const isMac = navigator.platform.startsWith("Mac");

export function keysText(keys: string): string {
    return isMac ? keys.replace("Ctrl+", "\u2318").replace("Shift+", "\u21e7") : keys;
}

function matches(keys: string, e: KeyboardEvent): boolean {
    const words = keys === "+" ? ["+"] : keys.split("+");
    const key = words.at(-1) ?? "";
    const ctrl = isMac ? e.metaKey : e.ctrlKey;
    const name = e.key === " " ? "Space" : e.key;
    // Signs such as ? need Shift on some keyboards and not on others.
    const shift = key.length > 1 || /[a-z0-9]/i.test(key) ? words.includes("Shift") === e.shiftKey : true;
    return name.toLowerCase() === key.toLowerCase() && words.includes("Ctrl") === ctrl && shift && !e.altKey;
}

export class Actions {
    readonly list: Action[] = [];

    constructor() {
        window.addEventListener("keydown", (e) => this.onKey(e));
    }

    add(...actions: Action[]): void {
        this.list.push(...actions);
    }

    private onKey(e: KeyboardEvent): void {
        if (e.defaultPrevented || document.querySelector("dialog[open]")) return;
        const onControl = e.target instanceof HTMLElement && e.target.closest("button, a, summary, [role=slider]");
        // Space presses a focused button; in fields everything but Ctrl belongs to the text.
        if (isTyping(e.target) && !(e.ctrlKey || e.metaKey)) return;
        if (isTyping(e.target) && /^[zyac]$/i.test(e.key)) return;
        if (onControl && [" ", "Enter", "Tab"].includes(e.key)) return;
        const action = this.list.find((a) => a.keys.some((k) => matches(k, e)));
        if (!action) return;
        e.preventDefault();
        action.run();
    }
}
