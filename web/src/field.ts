// One value in a panel that the engine owns: shown as the engine says, changed by asking it.

import type { BindingApi, BindingParams } from "@tweakpane/core";
import type { FolderApi, Pane } from "tweakpane";

export type Value = number | string | boolean;

export interface FieldDef {
    label: string;
    help?: string;
    value: Value;
    min?: number;
    max?: number;
    step?: number;
    choices?: { text: string; value: Value }[];
    restarts?: boolean; // changing it starts the scene again
    reset?: () => void; // what a double click on the label does
    send(value: Value): void;
}

const patience = 700; // ms in which the engine's older answers do not move what a hand is moving
const pause = 60; // ms between two messages of one slider

// Ranges over many decades make no slider: numbers are typed, or dragged at the number itself.
const widest = 2000;

export function numberText(value: number): string {
    if (Math.abs(value) >= 1e7) return value.toExponential(3).replace(/\.?0*e\+/, "e");
    if (Number.isInteger(value)) return String(value);
    return String(Number(value.toPrecision(4)));
}

export class Field {
    private readonly target: { value: Value };
    private readonly binding: BindingApi;
    private quiet = false;
    private touched = -Infinity;
    private timer = 0;

    constructor(
        folder: FolderApi | Pane,
        private readonly def: FieldDef,
    ) {
        this.target = { value: def.value };
        this.binding = folder.addBinding(this.target, "value", this.params()) as BindingApi;
        this.binding.on("change", (e) => this.onChange(e.value as Value, e.last ?? true));
        this.decorate();
    }

    private params(): BindingParams {
        const { def } = this;
        const params: Record<string, unknown> = { label: def.label };
        if (def.choices) params.options = def.choices;
        if (typeof def.value === "number" && !def.choices) {
            params.format = numberText;
            if (def.step) params.step = def.step;
            const { min, max } = def;
            if (min !== undefined && max !== undefined && max - min <= widest) Object.assign(params, { min, max });
        }
        return params as BindingParams;
    }

    private decorate(): void {
        const { def } = this;
        const element = this.binding.element;
        const again = def.restarts ? " (starts the scene again)" : "";
        element.title = `${def.help ?? ""}${again}`.trim();
        element.classList.toggle("restarts", !!def.restarts);
        const label = element.querySelector<HTMLElement>(".tp-lblv_l");
        if (!label || !def.reset) return;
        label.classList.add("resets");
        label.title = `${element.title}\ndouble click: back to the default`.trim();
        label.addEventListener("dblclick", () => {
            this.touched = -Infinity;
            def.reset?.();
        });
    }

    private onChange(value: Value, last: boolean): void {
        if (this.quiet) return;
        this.touched = performance.now();
        clearTimeout(this.timer);
        if (last) this.send(value);
        else if (!this.def.restarts) this.timer = window.setTimeout(() => this.send(value), pause);
    }

    private send(value: Value): void {
        const { min = -Infinity, max = Infinity } = this.def;
        this.def.send(typeof value === "number" ? Math.min(max, Math.max(min, value)) : value);
    }

    show(value: Value): void {
        const editing = this.binding.element.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement && document.activeElement.type === "text";
        if (this.target.value === value || performance.now() - this.touched < patience || editing) return;
        this.target.value = value;
        this.quiet = true;
        this.binding.refresh();
        this.quiet = false;
    }
}
