// The bottom bar: play, step, reset, record, speed, timeline.

import type { App } from "./app";
import { h, setText } from "./dom";
import { icon, type IconName } from "./icons";
import type { Timeline } from "./timeline";

const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];

export interface TransportHooks {
    onExport(): void;
}

export class Transport {
    readonly element: HTMLElement;
    private readonly playButton = h("button", { class: "round primary" });
    private readonly recordButton = h("button", { class: "record" });
    private readonly speed: HTMLSelectElement;
    private recordingFrom: number | null = null;

    constructor(
        private readonly app: App,
        timeline: Timeline,
        private readonly hooks: TransportHooks,
    ) {
        this.playButton.addEventListener("click", () => this.toggle());
        this.recordButton.addEventListener("click", () => this.record());
        this.speed = h("select", { "aria-label": "Speed of time", title: "Speed of time" });
        this.speed.append(...speeds.map((s) => h("option", { value: s }, `${s}\u00d7`)));
        this.speed.addEventListener("change", () => this.setSpeed(Number(this.speed.value)));
        const button = (name: IconName, title: string, run: () => void): HTMLElement =>
            h("button", { class: "round", title, "aria-label": title, onclick: run }, icon(name));
        this.element = h(
            "footer",
            { class: "transport" },
            button("reset", "Back to the start (R)", () => app.do("reset")),
            this.playButton,
            button("step", "One frame (.)", () => app.do("step")),
            this.speed,
            timeline.element,
            this.recordButton,
            h("button", { class: "export", title: "Export the recording (E)", onclick: () => hooks.onExport() }, icon("export"), "Export"),
        );
        app.state.use(() => this.update());
    }

    toggle(): void {
        const playing = !this.app.state.value?.playing;
        this.app.do(playing ? "play" : "pause");
        this.app.expect({ playing });
    }

    faster(by: number): void {
        const now = this.app.state.value?.speed ?? 1;
        const i = speeds.findIndex((s) => s >= now - 1e-6);
        const speed = speeds[Math.min(speeds.length - 1, Math.max(0, i + by))] ?? 1;
        this.setSpeed(speed);
    }

    // Known at once, so that a key that follows goes on from there.
    private setSpeed(speed: number): void {
        this.app.do("speed", { value: speed });
        this.app.expect({ speed });
    }

    // Everything is recorded all the time; this button starts a clean take from the beginning, and ends it with the
    // question what to do with it.
    record(): void {
        if (this.recordingFrom !== null) {
            this.recordingFrom = null;
            this.app.do("pause");
            this.update();
            this.hooks.onExport();
            return;
        }
        this.recordingFrom = 0;
        void this.app.ask("reset").then(() => this.app.do("play"));
        this.update();
    }

    get isRecording(): boolean {
        return this.recordingFrom !== null;
    }

    private update(): void {
        const state = this.app.state.value;
        const playing = state?.playing ?? false;
        const title = playing ? "Pause (Space)" : "Play (Space)";
        if (this.playButton.title !== title) {
            this.playButton.title = title;
            this.playButton.setAttribute("aria-label", title);
            this.playButton.replaceChildren(icon(playing ? "pause" : "play"));
        }
        if (state && document.activeElement !== this.speed) this.showSpeed(state.speed);
        this.recordButton.classList.toggle("on", this.isRecording);
        const word = this.isRecording ? "Stop" : "Record";
        if (this.recordButton.textContent !== word) {
            this.recordButton.replaceChildren(icon("record"), h("span", {}, word));
            this.recordButton.title = this.isRecording ? "End the take" : "A new take from the start; what your hand does is in it";
        }
    }

    private showSpeed(speed: number): void {
        const value = String(speed);
        if (![...this.speed.options].some((o) => o.value === value)) this.speed.append(h("option", { value }, `${value}\u00d7`));
        this.speed.value = value;
        setText(this.speed.options[this.speed.selectedIndex] ?? this.speed, `${value}\u00d7`);
    }
}
