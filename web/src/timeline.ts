// The recording as a line: click or drag to look at an old frame; playing goes on from there.

import type { App } from "./app";
import { h, setText } from "./dom";

export class Timeline {
    readonly element: HTMLElement;
    private readonly track = h("div", { class: "track" });
    private readonly cached = h("div", { class: "cached" });
    private readonly head = h("div", { class: "playhead" });
    private readonly label = h("span", { class: "time" });
    private readonly end = h("span", { class: "time dim" });
    private wanted: number | null = null;
    private asking = false;
    private shown = "";

    constructor(private readonly app: App) {
        this.track.append(this.cached, this.head);
        this.track.tabIndex = 0;
        this.track.setAttribute("role", "slider");
        this.track.setAttribute("aria-label", "Frame of the recording");
        this.track.addEventListener("pointerdown", (e) => {
            this.track.setPointerCapture(e.pointerId);
            this.seekTo(e);
        });
        this.track.addEventListener("pointermove", (e) => e.buttons & 1 && this.seekTo(e));
        this.track.addEventListener("keydown", (e) => this.onKey(e));
        this.element = h("div", { class: "timeline" }, this.label, this.track, this.end);
        app.state.on(() => this.update());
        app.frame.on(() => this.update());
    }

    private range(): { first: number; last: number } {
        const r = this.app.state.value?.recording;
        const now = this.app.frame.value;
        const last = Math.max(r?.last ?? 0, now && !now.scrubbing ? now.frame : 0);
        return { first: r?.first ?? 0, last };
    }

    private seekTo(e: PointerEvent): void {
        const box = this.track.getBoundingClientRect();
        const { first, last } = this.range();
        const t = Math.min(1, Math.max(0, (e.clientX - box.left) / Math.max(1, box.width)));
        this.seek(Math.round(first + t * (last - first)));
    }

    private onKey(e: KeyboardEvent): void {
        const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageDown: -30, PageUp: 30, Home: -1e9, End: 1e9 };
        const step = steps[e.key];
        if (step === undefined) return;
        e.preventDefault();
        e.stopPropagation();
        this.seek((this.app.frame.value?.frame ?? 0) + step);
    }

    // One question at a time, the newest next: a fast hand must not queue a hundred.
    seek(frame: number): void {
        const { first, last } = this.range();
        this.wanted = Math.min(last, Math.max(first, frame));
        if (!this.asking) void this.askOn();
    }

    private async askOn(): Promise<void> {
        this.asking = true;
        while (this.wanted !== null) {
            const frame = this.wanted;
            this.wanted = null;
            await this.app.ask("seek", { frame });
        }
        this.asking = false;
    }

    private update(): void {
        const state = this.app.state.value;
        if (!state) return;
        const frame = this.app.frame.value;
        const { first, last } = this.range();
        const now = frame?.frame ?? state.frame;
        const share = (f: number): number => (last > first ? (100 * (f - first)) / (last - first) : 0);
        this.head.style.left = `${share(now)}%`;
        this.track.setAttribute("aria-valuemin", String(first));
        this.track.setAttribute("aria-valuemax", String(last));
        this.track.setAttribute("aria-valuenow", String(now));
        setText(this.label, `${(now / state.rate).toFixed(2)} s`);
        setText(this.end, `${last} frames`);
        this.element.classList.toggle("scrubbing", frame?.scrubbing ?? false);
        this.drawCached(state.recording.cached, first, last);
    }

    private drawCached(ranges: [number, number][], first: number, last: number): void {
        const key = JSON.stringify([ranges, first, last]);
        if (key === this.shown) return;
        this.shown = key;
        const length = Math.max(1, last - first);
        this.cached.replaceChildren(
            ...ranges.map(([a, b]) => {
                const bar = h("i");
                bar.style.left = `${(100 * (a - first)) / length}%`;
                bar.style.width = `${(100 * (b - a)) / length}%`;
                return bar;
            }),
        );
    }
}
