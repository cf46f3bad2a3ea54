// A window in front of everything; Escape and a click beside it close it.

import { h } from "./dom";
import { icon } from "./icons";

export function makeDialog(title: string, name: string, ...content: Node[]): HTMLDialogElement {
    const close = h("button", { class: "quiet", "aria-label": "Close" }, icon("close"));
    const dialog = h("dialog", { class: name, "aria-label": title }, h("div", { class: "row head" }, h("h1", {}, title), close), ...content);
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("pointerdown", (e) => e.target === dialog && dialog.close());
    return dialog;
}
