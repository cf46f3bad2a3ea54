// What stands in the middle when there is no picture to show, or not yet: loading, no connection, nothing open.

import type { App } from "./app";
import { h, setText } from "./dom";

export class Curtain {
    readonly element: HTMLElement;
    private readonly title = h("b", {});
    private readonly text = h("p", { class: "dim" });
    private readonly bar = h("progress", { max: 1 });
    private lost = 0;

    constructor(private readonly app: App) {
        this.element = h("div", { class: "curtain", role: "status", "aria-live": "polite" }, h("div", {}, this.title, this.text, this.bar));
        app.link.on(({ link }) => {
            if (link === "open") this.lost = 0;
            else if (this.lost === 0) this.lost = performance.now();
            this.update();
        });
        app.state.on(() => this.update());
        app.frame.on((_, old) => old === null && this.update());
        this.update();
    }

    private say(kind: string, title: string, text: string, share: number | null): void {
        this.element.className = `curtain ${kind}`;
        this.element.hidden = title === "";
        setText(this.title, title);
        setText(this.text, text);
        this.bar.hidden = share === null;
        if (share === null || share <= 0) this.bar.removeAttribute("value");
        else this.bar.value = share;
    }

    // Without a connection the last picture stays, with a word above it.
    private update(): void {
        const { link } = this.app.link.value;
        const state = this.app.state.value;
        const seen = this.app.frame.value !== null;
        if (link === "refused")
            this.say("full", "The engine does not answer", "Is `sinew studio` running? Open the address that it printed: the token in it changes with every start.", null);
        else if (link !== "open" && (seen || this.lost)) this.say("top", "Connection lost", "Trying again\u2026 Your view is kept.", null);
        else if (!state) this.say("full", "Connecting\u2026", "", 0);
        else if (state.loading) this.say(seen ? "top" : "full", state.loading.text || "Loading\u2026", "", state.loading.share);
        else if (!state.scene) this.say("full", "Nothing is open", "Choose a scene or a character on the left, or drop a file here.", null);
        else if (!seen) this.say("full", "Loading\u2026", "", 0);
        else this.say("", "", "", null);
    }
}
