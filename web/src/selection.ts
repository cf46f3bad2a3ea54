// What is selected, and which of its degrees of freedom are held.

import type { App } from "./app";
import { h, setText } from "./dom";
import { allDofs, dofs, type Item } from "./types";

const inDepth = [2, 3, 4];
const names = ["x", "y", "z", "rx", "ry", "rz"];

export class SelectionPanel {
    readonly element: HTMLElement;
    private readonly title = h("b", {});
    private readonly hint = h("p", { class: "dim" });
    private readonly toggles: HTMLButtonElement[];

    constructor(private readonly app: App) {
        this.toggles = dofs.map((dof, i) => {
            const button = h("button", { class: "dof", title: `Hold ${dof.replace("_", " about ")}`, "aria-pressed": "false" }, names[i]);
            button.addEventListener("click", () => this.toggle(i));
            return button;
        });
        const all = h("button", { title: "Hold all where they are, or let all go (L)", onclick: () => this.toggleAll() }, "lock");
        this.element = h(
            "section",
            { class: "selection", "aria-label": "Selection" },
            h("div", { class: "row" }, this.title, all),
            h("div", { class: "dofs", role: "group", "aria-label": "Held degrees of freedom" }, ...this.toggles),
            this.hint,
        );
        app.selection.use(() => this.update());
        app.state.on(() => this.update());
    }

    private handles(): Item[] {
        const chosen = this.app.selection.value.filter((s) => s.kind === "handle");
        const hover = this.app.hover.value;
        return chosen.length === 0 && hover?.kind === "handle" ? [hover] : chosen;
    }

    private maskOf(item: Item): number {
        return this.app.state.value?.bodies[item.body]?.given[item.index] ?? 0;
    }

    private send(word: "lock" | "unlock", given: number): void {
        const byBody = new Map<number, number[]>();
        for (const item of this.handles()) byBody.set(item.body, [...(byBody.get(item.body) ?? []), item.index]);
        const list = dofs.filter((_, i) => given & (1 << i));
        for (const [body, handles] of byBody) this.app.do(word, { body, handles, given: list });
    }

    private toggle(dof: number): void {
        const on = this.handles().every((item) => this.maskOf(item) & (1 << dof));
        this.send(on ? "unlock" : "lock", 1 << dof);
    }

    toggleAll(): void {
        const held = this.handles().some((item) => this.maskOf(item) !== 0);
        this.send(held ? "unlock" : "lock", allDofs);
    }

    private update(): void {
        const chosen = this.app.selection.value;
        const handles = chosen.filter((s) => s.kind === "handle");
        this.element.hidden = chosen.length === 0;
        const first = chosen[0];
        if (!first) return;
        setText(this.title, chosen.length === 1 ? `${first.kind} ${this.app.nameOf(first)}` : `${chosen.length} selected`);
        this.element.classList.toggle("plain", handles.length === 0);
        setText(this.hint, handles.length === 0 ? "drag it, or move it with the arrow keys" : "pressed: held where it is. Arrow keys move it.");
        // A drawing has no depth to move in.
        const flat = handles.every((item) => this.app.state.value?.bodies[item.body]?.flat);
        this.toggles.forEach((button, i) => {
            button.hidden = flat && inDepth.includes(i);
            const count = handles.filter((item) => this.maskOf(item) & (1 << i)).length;
            button.setAttribute("aria-pressed", count === 0 ? "false" : count === handles.length ? "true" : "mixed");
        });
    }
}
