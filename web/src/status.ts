// The top bar: what is open, by which method, how fast it runs, and whether the engine is there.

import type { App } from "./app";
import { h, setText } from "./dom";
import { icon, type IconName } from "./icons";
import { prefs, setPrefs } from "./prefs";

export interface StatusHooks {
    onHelp(): void;
    onPalette(): void;
}

export class Status {
    readonly element: HTMLElement;
    private readonly title = h("b", {});
    private readonly about = h("small", { class: "dim" });
    private readonly method = h("select", { "aria-label": "Method", title: "Method: the same scene from its start" });
    private readonly undo: HTMLButtonElement;
    private readonly redo: HTMLButtonElement;
    private readonly pace = h("span", { class: "pace", title: "Frames per second that arrive, and how much of real time is reached" });
    private readonly dot = h("span", { class: "dot" });
    private arrived = 0;

    constructor(
        private readonly app: App,
        hooks: StatusHooks,
    ) {
        const button = (name: IconName, title: string, run: () => void): HTMLButtonElement =>
            h("button", { class: "quiet", title, "aria-label": title, onclick: run }, icon(name));
        this.undo = button("undo", "Undo (Ctrl+Z)", () => void this.goBack("undo"));
        this.redo = button("redo", "Redo (Ctrl+Shift+Z)", () => void this.goBack("redo"));
        this.method.addEventListener("change", () => app.do("method", { name: this.method.value }));
        this.element = h(
            "header",
            { class: "bar" },
            button("side", "Library", () => setPrefs({ left: !prefs.value.left })),
            h("span", { class: "brand" }, "sinew"),
            h("div", { class: "scene" }, this.title, this.about),
            this.undo,
            this.redo,
            h("span", { class: "gap" }),
            h("label", { class: "method" }, h("span", { class: "dim" }, "method"), this.method),
            this.pace,
            this.dot,
            button("search", "Do anything (Ctrl+K)", hooks.onPalette),
            button("help", "Shortcuts (?)", hooks.onHelp),
            button("tune", "Panels", () => setPrefs({ right: !prefs.value.right })),
        );
        app.state.use(() => this.update());
        app.link.use(() => this.showLink());
        app.frame.on((f) => f && ++this.arrived);
        setInterval(() => this.showPace(), 1000);
    }

    async goBack(word: "undo" | "redo"): Promise<void> {
        const answer = await this.app.ask(word);
        if (answer && typeof answer.label === "string")
            this.app.note.value = { level: "info", text: `${word === "undo" ? "Undone" : "Done again"}: ${answer.label}` };
    }

    private update(): void {
        const state = this.app.state.value;
        setText(this.title, state?.scene?.name ?? "");
        setText(this.about, state?.scene?.description ?? "");
        this.about.title = state?.scene?.description ?? "";
        document.title = state?.scene ? `${state.scene.name} \u00b7 Sinew studio` : "Sinew studio";
        this.undo.disabled = !state?.undo;
        this.redo.disabled = !state?.redo;
        this.undo.title = state?.undo ? `Undo: ${state.undo} (Ctrl+Z)` : "Nothing to undo";
        this.redo.title = state?.redo ? `Redo: ${state.redo} (Ctrl+Shift+Z)` : "Nothing to redo";
        if (!state || document.activeElement === this.method) return;
        const names = state.methods.map((m) => m.name).join();
        if ([...this.method.options].map((o) => o.value).join() !== names)
            this.method.replaceChildren(...state.methods.map((m) => h("option", { value: m.name, title: m.title }, m.name)));
        this.method.value = state.method;
    }

    private showPace(): void {
        const state = this.app.state.value;
        const realtime = state?.playing ? ` \u00b7 ${Math.round(100 * state.realtime)} %` : "";
        setText(this.pace, state ? `${this.arrived} fps${realtime}` : "");
        this.pace.classList.toggle("slow", !!state?.playing && state.realtime < 0.9 * Math.min(1, state.speed));
        this.arrived = 0;
    }

    private showLink(): void {
        const { link } = this.app.link.value;
        const words = { connecting: "connecting", open: "connected", lost: "connection lost", refused: "refused" };
        this.dot.className = `dot ${link}`;
        this.dot.title = words[link];
        this.dot.setAttribute("role", "img");
        this.dot.setAttribute("aria-label", words[link]);
    }
}
