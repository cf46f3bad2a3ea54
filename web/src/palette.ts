// Ctrl+K: type a few letters of anything that can be done or opened.

import { keysText, type Actions } from "./actions";
import type { App } from "./app";
import { h } from "./dom";

interface Choice {
    label: string;
    hint: string;
    run(): void;
}

const most = 12;

export class Palette {
    readonly dialog: HTMLDialogElement;
    private readonly input = h("input", { type: "text", placeholder: "Do or open\u2026", "aria-label": "Do or open anything" });
    private readonly list = h("div", { class: "cards", role: "listbox" });
    private chosen = 0;
    private shown: Choice[] = [];

    constructor(
        private readonly app: App,
        private readonly actions: Actions,
    ) {
        this.dialog = h("dialog", { class: "palette", "aria-label": "Do anything" }, this.input, this.list);
        this.dialog.addEventListener("pointerdown", (e) => e.target === this.dialog && this.dialog.close());
        this.input.addEventListener("input", () => this.fill());
        this.input.addEventListener("keydown", (e) => this.onKey(e));
    }

    open(): void {
        this.input.value = "";
        this.fill();
        this.dialog.showModal();
        this.input.focus();
    }

    private all(): Choice[] {
        const acts = this.actions.list
            .filter((a) => !a.hidden)
            .map((a) => ({ label: a.label, hint: keysText(a.keys[0] ?? ""), run: () => a.run() }));
        const lists = this.app.lists.value;
        const state = this.app.state.value;
        const opens = [...(lists?.files ?? []), ...(lists?.scenes ?? []), ...(lists?.characters ?? [])];
        return [
            ...acts,
            ...opens.map(({ name }) => ({ label: `Open ${name}`, hint: "", run: () => void this.app.open(name) })),
            ...(state?.methods ?? []).map(({ name, title }) => ({ label: `Method ${name}: ${title}`, hint: "", run: () => this.app.do("method", { name }) })),
        ];
    }

    private fill(): void {
        const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
        this.shown = this.all().filter((c) => words.every((w) => c.label.toLowerCase().includes(w))).slice(0, most);
        this.chosen = 0;
        this.list.replaceChildren(
            ...this.shown.map((c, i) => {
                const row = h("button", { class: "line", role: "option", tabindex: -1 }, c.label, h("kbd", {}, c.hint));
                row.addEventListener("click", () => this.pick(i));
                return row;
            }),
        );
        this.mark();
    }

    private mark(): void {
        [...this.list.children].forEach((c, i) => c.setAttribute("aria-selected", String(i === this.chosen)));
    }

    private onKey(e: KeyboardEvent): void {
        const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
        if (step !== undefined) {
            this.chosen = Math.min(this.shown.length - 1, Math.max(0, this.chosen + step));
            this.mark();
            e.preventDefault();
        }
        if (e.key === "Enter") this.pick(this.chosen);
    }

    private pick(index: number): void {
        this.dialog.close();
        this.shown[index]?.run();
    }
}
