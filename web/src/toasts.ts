// Short words in the corner: what was undone, what went wrong and what helps.

import { h } from "./dom";
import { icon } from "./icons";
import type { Note } from "./types";

const shortest = 3500; // ms; errors stay longer, for they have more to read

export class Toasts {
    readonly element = h("div", { class: "toasts", role: "status", "aria-live": "polite" });

    show(note: Note): void {
        const last = this.element.lastElementChild;
        // The newest of small words is enough; of the others only repetitions go.
        const isSmall = note.level === "info" && last?.classList.contains("info");
        if (isSmall || last?.querySelector("p")?.textContent === note.text) last?.remove();
        const close = h("button", { class: "quiet", "aria-label": "Close" }, icon("close"));
        const toast = h(
            "div",
            { class: `toast ${note.level}` },
            h("div", {}, h("p", {}, note.text), note.remedy ? h("p", { class: "dim" }, note.remedy) : null),
            close,
        );
        close.addEventListener("click", () => toast.remove());
        this.element.append(toast);
        while (this.element.childElementCount > 4) this.element.firstElementChild?.remove();
        setTimeout(() => toast.remove(), note.level === "error" ? 3 * shortest : shortest);
    }

    say(text: string): void {
        this.show({ level: "info", text });
    }
}
