// Words in the view: what is under the pointer, how strong a push is, the meaning of colours, warnings, a first hint.

import type { App } from "./app";
import { rampCss } from "./colors";
import { h, setText } from "./dom";
import type { Hand } from "./hand";
import type { Range } from "./parts";
import { prefs, setPrefs } from "./prefs";
import { numberText } from "./field";

const units: Record<string, string> = { strain: "", speed: "m/s", contact: "N", stiffness: "Pa" };

export class Tips {
    readonly element: HTMLElement;
    private readonly tip = h("div", { class: "tip", hidden: true });
    private readonly legend: HTMLElement;
    private readonly low = h("span", {});
    private readonly high = h("span", {});
    private readonly what = h("b", {});
    private readonly warnings = h("div", { class: "warnings", role: "status" });
    private readonly hint = h("div", { class: "hint", hidden: true }, "Drag the character. Space plays and pauses, ? shows all keys.");

    constructor(
        private readonly app: App,
        private readonly hand: Hand,
        private readonly canvas: HTMLCanvasElement,
    ) {
        const bar = h("i", {});
        bar.style.background = rampCss;
        this.legend = h("div", { class: "legend", hidden: true }, this.what, h("div", { class: "row" }, this.low, bar, this.high));
        this.element = h("div", { class: "tips" }, this.tip, this.legend, this.warnings, this.hint);
        app.hover.on(() => this.showTip());
        hand.mode.on(() => this.showTip());
        hand.keep.on(() => this.showTip());
        hand.push.on(() => this.showTip());
        canvas.addEventListener("pointermove", () => this.place());
        app.state.on((state, old) => {
            this.showWarnings();
            if (state?.playing !== old?.playing) this.showTip();
        });
        app.frame.on((frame, old) => frame && !old && this.showHint());
        hand.mode.on((mode) => mode === "drag" && this.endHint());
    }

    private place(): void {
        const { x, y } = this.hand.pointer;
        this.tip.style.transform = `translate(${Math.round(x + 16)}px, ${Math.round(y + 18)}px)`;
    }

    private showTip(): void {
        const item = this.app.hover.value;
        const mode = this.hand.mode.value;
        const push = this.hand.push.value;
        let text = "";
        if (push) text = `push ${numberText(Math.round(push.newtons))} N`;
        else if (mode === "drag" && !this.app.state.value?.playing) text = "paused: Space lets it move";
        else if (mode === "drag") text = this.hand.keep.value ? "stays where you let go" : item?.kind === "handle" || item?.kind === "flesh" ? "K: keep it here" : "";
        else if (mode === "none" && item) text = item.kind === "flesh" ? "" : `${this.app.nameOf(item)} \u00b7 ${item.kind}`;
        this.tip.hidden = text === "";
        setText(this.tip, text);
        this.place();
        this.canvas.style.cursor = mode === "drag" || mode === "push" ? "grabbing" : mode !== "none" ? "move" : item ? "grab" : "default";
    }

    showRange(range: Range | null): void {
        const look = prefs.value.look;
        this.legend.hidden = range === null || !(look in units);
        if (!range) return;
        setText(this.what, look);
        setText(this.low, String(Number(range.low.toPrecision(2))));
        setText(this.high, `${Number(range.high.toPrecision(2))} ${units[look] ?? ""}`);
    }

    private showWarnings(): void {
        const list = this.app.state.value?.warnings ?? [];
        const key = list.join("\n");
        if (this.warnings.dataset.key === key) return;
        this.warnings.dataset.key = key;
        this.warnings.replaceChildren(...list.map((w) => h("p", {}, w)));
    }

    private showHint(): void {
        this.hint.hidden = prefs.value.hinted;
    }

    private endHint(): void {
        this.hint.hidden = true;
        if (!prefs.value.hinted) setPrefs({ hinted: true });
    }
}
