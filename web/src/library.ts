// The left side: scenes, characters and the files of the folder, with a search over all of them.

import type { App } from "./app";
import { h, setText } from "./dom";
import { icon, type IconName } from "./icons";
import type { Entry } from "./types";

interface Card {
    name: string;
    description: string;
    icon: IconName;
    kind: "scene" | "character" | "file";
}

export class Library {
    readonly element: HTMLElement;
    private readonly search: HTMLInputElement;
    private readonly results = h("div", { class: "cards" });
    private readonly restore = h("button", { class: "card restore", hidden: true });
    private restored = false;
    private readonly count = h("span", { class: "dim" });

    constructor(
        private readonly app: App,
        onUpload: (files: File[]) => void,
    ) {
        this.search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search scenes, characters and files" });
        this.search.addEventListener("input", () => this.fill());
        this.search.addEventListener("keydown", (e) => this.onKey(e));
        const chooser = h("input", { type: "file", multiple: true, hidden: true });
        chooser.addEventListener("change", () => {
            onUpload([...(chooser.files ?? [])]);
            chooser.value = "";
        });
        const choose = h("button", { class: "wide", title: "GLB, glTF, OBJ, PLY, PNG with transparency, .snw, scenes, logs ..." }, icon("file"), "Open a file\u2026");
        choose.addEventListener("click", () => chooser.click());
        this.element = h(
            "aside",
            { class: "side left", "aria-label": "Library" },
            h("label", { class: "search" }, icon("search"), this.search, this.count),
            this.restore,
            this.results,
            h("div", { class: "foot" }, choose, chooser, h("p", { class: "dim" }, "or drop one anywhere")),
        );
        this.restore.append(icon("undo"), h("span", {}, h("b", {}, "Go on where you were"), h("small", {}, "what the studio saved last time")));
        this.restore.addEventListener("click", () => {
            void app.open(".autosave");
            this.restored = true;
            this.restore.hidden = true;
        });
        app.state.use((state) => (this.restore.hidden = this.restored || !state?.restorable));
        app.lists.on(() => this.fill());
        app.state.on((state, old) => JSON.stringify(state?.scene) !== JSON.stringify(old?.scene) && this.mark());
        this.fill();
    }

    focus(): void {
        this.search.focus();
        this.search.select();
    }

    private onKey(e: KeyboardEvent): void {
        const cards = [...this.results.querySelectorAll<HTMLButtonElement>(".card")];
        if (e.key === "Enter") cards[0]?.click();
        if (e.key === "ArrowDown") cards[0]?.focus();
        if (e.key === "Escape") this.search.blur();
    }

    private groups(): { title: string; cards: Card[] }[] {
        const lists = this.app.lists.value;
        if (!lists) return [];
        const make = (e: Entry, i: IconName, kind: Card["kind"]): Card => ({ name: e.name, description: e.description, icon: i, kind });
        const files = lists.files.map((f) => make({ name: f.name, description: `${f.kind}, ${bytesText(f.bytes)}` }, "file", "file"));
        return [
            { title: "Your files", cards: files },
            { title: "Scenes", cards: lists.scenes.map((e) => make(e, "scene", "scene")) },
            { title: "Characters", cards: lists.characters.map((e) => make(e, "body", "character")) },
        ];
    }

    private fill(): void {
        const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
        const fits = (c: Card): boolean => words.every((w) => `${c.name} ${c.description}`.toLowerCase().includes(w));
        this.results.replaceChildren();
        let total = 0;
        for (const { title, cards } of this.groups()) {
            const shown = cards.filter(fits);
            total += shown.length;
            if (shown.length === 0) continue;
            this.results.append(h("h2", {}, title), ...shown.map((c) => this.card(c)));
        }
        if (total === 0) {
            const text = this.app.lists.value ? "Nothing has that name." : "Waiting for the engine\u2026";
            this.results.append(h("p", { class: "dim empty" }, text));
        }
        setText(this.count, words.length > 0 ? String(total) : "");
        this.mark();
    }

    private card(card: Card): HTMLElement {
        const button = h(
            "button",
            { class: "card", "data-name": card.name, "data-kind": card.kind, title: card.description },
            icon(card.icon),
            h("span", {}, h("b", {}, card.name), h("small", {}, card.description)),
        );
        button.addEventListener("click", () => void this.app.open(card.name, card.kind));
        button.addEventListener("keydown", (e) => moveFocus(this.results, button, e));
        return button;
    }

    // A scene and a character may share a name; only scenes have a description of what happens.
    private mark(): void {
        const scene = this.app.state.value?.scene;
        const kind = scene?.file ? "file" : scene?.description ? "scene" : "character";
        for (const card of this.results.querySelectorAll<HTMLElement>(".card")) {
            const name = kind === "file" ? scene?.file : scene?.opened;
            const is = card.dataset.name === name && card.dataset.kind === kind;
            card.classList.toggle("open", is);
            card.setAttribute("aria-current", String(is));
        }
    }
}

function moveFocus(list: HTMLElement, from: HTMLElement, e: KeyboardEvent): void {
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
    const cards = [...list.querySelectorAll<HTMLElement>(".card")];
    cards[cards.indexOf(from) + (e.key === "ArrowDown" ? 1 : -1)]?.focus();
    e.preventDefault();
    e.stopPropagation();
}

export function bytesText(bytes: number): string {
    if (bytes < 1000) return `${bytes} B`;
    return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
