// The pointer over the view: hover, take, drag, push, orbit, pan, zoom.
//
// The left button on something takes it and moves it in the plane through it that faces the camera; anywhere else, and
// with the other buttons, the camera turns. Two fingers on a trackpad pan, a pinch zooms.

import { Vector3 } from "three";
import { sameItem, type App } from "./app";
import { Grab, type Ray } from "./grabs";
import type { Overlays } from "./overlays";
import type { Pick, Picker } from "./pick";
import { prefs } from "./prefs";
import { Signal } from "./signal";
import type { Stage } from "./stage";
import type { Item } from "./types";

type Mode = "none" | "orbit" | "pan" | "drag" | "push";

export interface Push {
    newtons: number;
    x: number;
    y: number;
}

const clickReach = 4; // px that a click may wander
const pushTime = 0.12; // s

export class Hand {
    readonly mode = new Signal<Mode>("none");
    readonly push = new Signal<Push | null>(null);
    readonly keep = new Signal(false);
    private pick: Pick | null = null;
    private readonly anchor = new Vector3();
    private grabs: Grab[] = [];
    private last = { x: 0, y: 0 };
    private start = { x: 0, y: 0 };
    private pinch = 0;
    private pointers = new Map<number, { x: number; y: number }>();
    private hoverWanted = false;
    private size = 1;

    constructor(
        private readonly app: App,
        private readonly stage: Stage,
        private readonly picker: Picker,
        private readonly overlays: Overlays,
    ) {
        const canvas = stage.canvas;
        canvas.addEventListener("pointerdown", (e) => this.onDown(e));
        canvas.addEventListener("pointermove", (e) => this.onMove(e));
        canvas.addEventListener("pointerup", (e) => this.onUp(e));
        canvas.addEventListener("pointercancel", (e) => this.onUp(e));
        canvas.addEventListener("pointerleave", () => this.leave());
        canvas.addEventListener("wheel", (e) => this.onWheel(e), { passive: false });
        canvas.addEventListener("contextmenu", (e) => e.preventDefault());
        canvas.addEventListener("dblclick", () => this.app.select(null, false));
        const loop = (): void => {
            requestAnimationFrame(loop);
            this.tick();
        };
        requestAnimationFrame(loop);
        app.model.on(() => this.letGo());
        app.link.on(({ link }) => link !== "open" && this.letGo());
        app.frame.on(() => (this.hoverWanted = true));
    }

    setSize(size: number): void {
        this.size = size;
    }

    private place(e: PointerEvent | WheelEvent): { x: number; y: number } {
        const box = this.stage.canvas.getBoundingClientRect();
        return { x: e.clientX - box.left, y: e.clientY - box.top };
    }

    private unit({ x, y }: { x: number; y: number }): [number, number] {
        const { width, height } = this.stage.view.size;
        return [(2 * x) / width - 1, 1 - (2 * y) / height];
    }

    private onDown(e: PointerEvent): void {
        this.stage.canvas.focus({ preventScroll: true });
        this.stage.canvas.setPointerCapture(e.pointerId);
        this.last = this.start = this.place(e);
        this.pointers.set(e.pointerId, this.last);
        if (this.pointers.size > 1) {
            this.letGo();
            this.pinch = this.spread();
            this.mode.value = "pan";
            return;
        }
        this.pick = this.picker.at(this.last.x, this.last.y, prefs.value);
        this.app.hover.value = this.pick?.item ?? null;
        if (e.button === 1 || (e.button === 2 && e.shiftKey)) this.mode.value = "pan";
        else if (e.button !== 0 || !this.pick || isFixed(this.app, this.pick.item)) this.mode.value = "orbit";
        else if (e.altKey) this.mode.value = "push";
        else this.take(e.shiftKey);
    }

    private take(more: boolean): void {
        const pick = this.pick;
        if (!pick) return;
        const item = pick.item;
        this.anchor.copy(pick.point);
        if (item.kind !== "flesh") {
            if (more) {
                this.app.select(item, true);
                return;
            }
            if (!this.app.isSelected(item)) this.app.select(item, false);
        }
        this.mode.value = "drag";
        const ray = this.stage.view.ray(...this.unit(this.last));
        const items = this.app.isSelected(item) ? this.app.selection.value : [item];
        for (const i of items) void this.hold(i, item.kind === "flesh" ? ray : null);
    }

    // The answer may come after the button was released: then it is let go at once, where it is.
    private async hold(item: Item, ray: Ray | null): Promise<void> {
        const begun = this.start;
        const frame = this.app.frame.value;
        const grab = await Grab.take(this.app, item, ray, frame ? this.overlays.turnOf(item, frame) : undefined);
        if (!grab) return;
        if (this.mode.value === "drag" && this.start === begun) {
            this.grabs.push(grab);
            this.moveGrabs();
        } else grab.drop(false);
    }

    private moveGrabs(): void {
        const at = this.stage.view.onPlane(...this.unit(this.last), this.anchor);
        const from = this.stage.view.onPlane(...this.unit(this.start), this.anchor);
        if (!at || !from) return;
        for (const grab of this.grabs) grab.moveBy(at.clone().sub(from));
    }

    private onMove(e: PointerEvent): void {
        const now = this.place(e);
        const [dx, dy] = [now.x - this.last.x, now.y - this.last.y];
        if (this.pointers.has(e.pointerId)) this.pointers.set(e.pointerId, now);
        this.last = now;
        if (this.pointers.size > 1) this.pinched(dx / 2, dy / 2);
        else if (this.mode.value === "orbit") this.stage.view.orbit(dx, dy);
        else if (this.mode.value === "pan") this.stage.view.pan(dx, dy);
        else if (this.mode.value === "drag") this.moveGrabs();
        else if (this.mode.value === "push") this.aim();
        this.hoverWanted = true;
        this.stage.touch();
    }

    private spread(): number {
        const [a, b] = [...this.pointers.values()];
        return a && b ? Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) : 1;
    }

    private pinched(dx: number, dy: number): void {
        const spread = this.spread();
        this.stage.view.pan(dx, dy);
        this.stage.view.zoom(this.pinch / spread);
        this.pinch = spread;
    }

    private pushTarget(): { to: Vector3; newtons: number } | null {
        const from = this.pick?.point;
        const to = from ? this.stage.view.onPlane(...this.unit(this.last), from) : null;
        if (!from || !to) return null;
        return { to, newtons: (to.distanceTo(from) / this.size) * prefs.value.push };
    }

    private aim(): void {
        const target = this.pushTarget();
        if (!target || !this.pick) return;
        this.overlays.drawArrow(this.pick.point, target.to);
        this.push.value = { newtons: target.newtons, ...this.last };
    }

    private shove(): void {
        const target = this.pushTarget();
        const pick = this.pick;
        this.overlays.drawArrow(null, null);
        this.push.value = null;
        if (!target || !pick || target.newtons <= 0) return;
        const force = target.to.clone().sub(pick.point).normalize().multiplyScalar(target.newtons);
        const { origin, direction } = this.stage.view.ray(...this.unit(this.start));
        const ray = { origin: origin.toArray(), direction: direction.toArray() };
        this.app.do("push", { ...ray, force: force.toArray(), duration: pushTime });
    }

    private onUp(e: PointerEvent): void {
        this.pointers.delete(e.pointerId);
        const still = Math.hypot(this.last.x - this.start.x, this.last.y - this.start.y) < clickReach;
        if (this.mode.value === "push") this.shove();
        if (this.mode.value === "orbit" && still && e.button === 0 && !e.shiftKey) this.app.select(null, false);
        if (this.pointers.size === 0) this.letGo();
        this.stage.touch();
    }

    private letGo(): void {
        for (const grab of this.grabs) grab.drop(this.keep.value);
        this.grabs = [];
        this.keep.value = false;
        this.push.value = null;
        this.overlays.drawArrow(null, null);
        this.mode.value = "none";
    }

    // K while dragging: what is held stays where it is let go.
    toggleKeep(): boolean {
        if (this.mode.value !== "drag") return false;
        this.keep.value = !this.keep.value;
        return true;
    }

    private leave(): void {
        if (this.mode.value === "none") this.app.hover.value = null;
        this.hoverWanted = false;
    }

    // A wheel has notches (large, whole steps); a trackpad sends small ones, and pinches with ctrlKey.
    private onWheel(e: WheelEvent): void {
        e.preventDefault();
        const lines = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
        const [dx, dy] = [e.deltaX * lines, e.deltaY * lines];
        const isPad = !e.ctrlKey && e.deltaMode === 0 && (dx !== 0 || Math.abs(dy) < 40 || !Number.isInteger(dy));
        const axis = this.stage.view.camera.getWorldDirection(new Vector3());
        if (this.mode.value === "drag") for (const grab of this.grabs) grab.rotate(axis, dy * 0.002);
        else if (isPad) this.stage.view.pan(-dx, -dy);
        else this.stage.view.zoom(Math.exp(dy * (e.ctrlKey ? 0.01 : 0.0015)), ...this.unit(this.place(e)));
        this.hoverWanted = true;
        this.stage.touch();
    }

    // Once per drawing: messages of moves, and what is under the pointer.
    private tick(): void {
        for (const grab of this.grabs) grab.flush();
        if (!this.hoverWanted || this.mode.value !== "none" || !this.stage.canvas.matches(":hover")) return;
        this.hoverWanted = false;
        const item = this.picker.at(this.last.x, this.last.y, prefs.value)?.item ?? null;
        if (!sameItem(item, this.app.hover.value)) this.app.hover.value = item;
    }

    get pointer(): { x: number; y: number } {
        return this.last;
    }
}

// A plane is the ground: one turns the view there.
function isFixed(app: App, item: Item): boolean {
    return item.kind === "collider" && app.model.value?.text.colliders[item.index]?.kind === "plane";
}
