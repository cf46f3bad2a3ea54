// Models and frames onto the stage.

import { Box3, Vector3 } from "three";
import type { App } from "./app";
import { Kind, type Message, type Model } from "./codec";
import { Overlays } from "./overlays";
import { Parts, type Range } from "./parts";
import { prefs, type Prefs } from "./prefs";
import { Signal } from "./signal";
import type { Stage } from "./stage";

const wants = ["strain", "speed", "contact", "stiffness", "weights"] as const;

export class Viewer {
    readonly parts: Parts;
    readonly overlays: Overlays;
    readonly range = new Signal<Range | null>(null);
    readonly size = new Signal(1); // m, of what is shown
    shown = -1; // the frame that is in the picture
    private seen = "";
    private fresh: Message | null = null;
    private framed = true;
    private ground = -1; // the collider that is
    private readonly center = new Vector3();

    constructor(
        private readonly app: App,
        private readonly stage: Stage,
    ) {
        this.parts = new Parts(() => stage.touch());
        this.overlays = new Overlays(app);
        stage.scene.add(this.parts.group, this.overlays.group);
        app.model.on((model) => model && this.build(model));
        app.frame.on((frame) => {
            this.fresh = frame;
            stage.touch();
        });
        app.hover.on(() => this.mark());
        app.selection.on(() => this.mark());
        app.link.on(({ link }) => link === "open" && queueMicrotask(() => this.want(prefs.value)));
        prefs.on((now, old) => this.show(now, old));
        // Frames may come faster than drawings: only the newest is unpacked.
        stage.onDraw(() => this.unpack());
    }

    private mark(): void {
        this.overlays.drawMarks();
        this.stage.touch();
    }

    // Asked for only what is looked at: the rest costs the engine and the wire nothing.
    private want(now: Prefs): void {
        const want: string[] = wants.filter((w) => w === now.look);
        for (const key of ["elements", "contacts", "pressure"] as const) if (now[key]) want.push(key);
        this.app.do("view", { want });
    }

    private build(model: Model): void {
        const { lower, upper } = model.text.bounds;
        const size = Math.max(0.05, new Vector3(...upper).sub(new Vector3(...lower)).length() * 0.6);
        this.size.value = size;
        this.parts.build(model);
        this.overlays.build(model, size);
        this.ground = model.text.colliders.findIndex((c) => c.kind === "plane");
        this.stage.setGround(this.ground >= 0, size);
        this.lookAt(model);
        this.show(prefs.value, null);
        this.stage.touch();
    }

    // A scene that is only started again, or computed by another method, is looked at from where we are.
    private lookAt(model: Model): void {
        const { text } = model;
        const key = JSON.stringify([text.camera, text.parts.map((p) => p.name), text.bodies.map((b) => b.name), text.bounds]);
        if (key === this.seen) return;
        this.seen = key;
        const view = this.stage.view;
        view.flat = text.parts.length > 0 && text.parts.every((p) => p.flat);
        this.framed = false;
        if (text.camera && !view.flat) {
            view.look(new Vector3(...text.camera.position), new Vector3(...text.camera.target), text.camera.field_of_view);
            this.framed = true;
        }
    }

    // From the front, or as it is: all of the characters in the picture.
    frameAll(): void {
        const { lower, upper } = this.parts;
        if (lower.x > upper.x) return;
        this.stage.view.frame(lower, upper, false);
        this.stage.touch();
    }

    private show(now: Prefs, old: Prefs | null): void {
        if (now.look !== old?.look) {
            this.parts.dress(now.look);
            this.range.value = null;
        }
        this.parts.setOpacity(now.opacity);
        this.overlays.show(now);
        this.stage.setShadows(now.shadows);
        if (old) this.want(now);
        this.fresh ??= this.app.frame.value;
        this.stage.touch();
    }

    private unpack(): void {
        const frame = this.fresh;
        const model = this.app.model.value;
        this.fresh = null;
        if (!frame || !model) return;
        this.shown = frame.frame;
        this.parts.move(frame);
        this.overlays.move(frame, model, prefs.value);
        const look = prefs.value.look;
        if (look !== "skin" && look !== "weights") this.range.value = this.parts.paint(frame);
        this.follow(frame);
    }

    private follow(frame: Message): void {
        const { lower, upper } = this.parts;
        if (lower.x > upper.x) return;
        const box = new Box3(lower, upper);
        const center = box.getCenter(new Vector3());
        if (!this.framed) {
            // What falls should be in the picture when it has landed.
            const floor = this.ground < 0 ? lower.y : (frame.floatsOf(Kind.colliders)[this.ground * 7 + 1] ?? lower.y);
            const reach = Math.max(Math.min(lower.y, floor), lower.y - 3 * (upper.y - lower.y));
            this.stage.view.frame(lower.clone().setY(reach), upper, true);
            this.framed = true;
        } else if (prefs.value.follow) {
            this.stage.view.target.add(center.clone().sub(this.center));
            this.stage.view.update();
        }
        this.center.copy(center);
        this.stage.lightAround(center, Math.max(0.05, box.getSize(new Vector3()).length() / 2));
        const ground = frame.floatsOf(Kind.colliders).subarray(this.ground * 7, this.ground * 7 + 7);
        if (this.ground >= 0) this.stage.moveGround(ground, center, this.overlays.bones.length === 1 ? box.getSize(new Vector3()) : null);
    }
}
