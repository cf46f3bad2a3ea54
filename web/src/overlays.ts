// Everything drawn besides the skins: bones, marks, wires, forces, solids.

import { Group, Matrix4, Quaternion, Vector3 } from "three";
import { sameItem, type App } from "./app";
import { Bones } from "./bones";
import { Kind, type Message, type Model } from "./codec";
import { Dots } from "./dots";
import { Lines } from "./lines";
import type { Prefs } from "./prefs";
import { Solids } from "./solids";
import type { Item, ModelBody, Vec3 } from "./types";

export const tints = { free: 0xf4efe9, locked: 0xf2c14e, chosen: 0xff8a5c, joint: 0x8fb8ff, pin: 0xf2c14e, bone: 0xe9e2d6 };

// A mark that can be picked, where it is now.
export interface Mark {
    item: Item;
    place: Vector3;
}

export class Overlays {
    readonly group = new Group();
    readonly solidColliders = new Solids(0x4a5261);
    readonly solidProps = new Solids(0xa8b3c4);
    bones: Bones[] = [];
    marks: Mark[] = [];
    private given: number[][] = [];
    private held: Float32Array = new Float32Array(0); // vertices that pins hold
    private readonly dots = new Dots();
    private readonly wires: Lines[] = [];
    private readonly contacts = new Lines(0x7fd4ff, true, 0.9);
    private readonly pressure = new Lines(0xffd166, true);
    private readonly grabs = new Lines(0xff8a5c, true, 0.9);
    private readonly arrow = new Lines(0xff8a5c, true);
    private readonly boneGroup = new Group();
    private readonly wireGroup = new Group();
    private scale = 1;

    constructor(private readonly app: App) {
        this.group.add(this.solidColliders.group, this.solidProps.group, this.boneGroup, this.wireGroup);
        for (const lines of [this.contacts, this.pressure, this.grabs, this.arrow]) this.group.add(lines.segments);
        this.group.add(this.dots.points);
    }

    build(model: Model, size: number): void {
        const text = model.text;
        this.scale = size;
        for (const bones of this.bones) bones.dispose();
        this.bones = text.bodies.map((b) => new Bones(b.bones));
        this.boneGroup.clear();
        for (const { mesh } of this.bones) this.boneGroup.add(mesh);
        this.wireGroup.clear();
        this.wires.splice(0, Infinity, ...text.bodies.map(() => new Lines(0xcfd6e2, false, 0.22)));
        for (const { segments } of this.wires) this.wireGroup.add(segments);
        this.solidColliders.build(text.colliders, model);
        this.solidProps.build(text.props, model);
        this.given = text.bodies.map(() => []);
    }

    show(prefs: Prefs): void {
        this.boneGroup.visible = prefs.bones;
        this.wireGroup.visible = prefs.elements;
        this.contacts.segments.visible = prefs.contacts;
        this.pressure.segments.visible = prefs.pressure;
        this.solidColliders.group.visible = prefs.colliders;
    }

    move(frame: Message, model: Model, prefs: Prefs): void {
        this.bones.forEach((bones, i) => bones.move(frame.floatsOf(Kind.bones, i)));
        this.solidColliders.move(frame.floatsOf(Kind.colliders));
        this.solidProps.move(frame.floatsOf(Kind.props));
        if (prefs.elements) this.moveWires(frame, model);
        if (prefs.contacts) this.contacts.set(this.forceLines(frame.floatsOf(Kind.contacts), 7));
        if (prefs.pressure) this.pressure.set(this.forceLines(frame.floatsOf(Kind.pressure), 6));
        this.grabs.set(frame.floatsOf(Kind.grabs));
        this.held = prefs.pins ? frame.floatsOf(Kind.pins) : new Float32Array(0);
        this.findMarks(frame, model, prefs);
        this.drawMarks();
    }

    private moveWires(frame: Message, model: Model): void {
        model.text.bodies.forEach((body, i) => {
            if (body.edges !== null) this.wires[i]?.set(frame.floatsOf(Kind.elements, i), model.numbers(body.edges));
        });
    }

    // From each point along its force; the strongest is as long as a quarter of the character.
    private forceLines(data: Float32Array, stride: number): Float32Array {
        const count = Math.floor(data.length / stride);
        let strongest = 1e-9;
        const at = (i: number, k: number): number => data[i * stride + k] ?? 0;
        for (let i = 0; i < count; ++i) strongest = Math.max(strongest, Math.hypot(at(i, 3), at(i, 4), at(i, 5)));
        const lines = new Float32Array(count * 6);
        for (let i = 0; i < count; ++i)
            for (let k = 0; k < 3; ++k) {
                lines[i * 6 + k] = at(i, k);
                lines[i * 6 + 3 + k] = at(i, k) + (0.25 * this.scale * at(i, k + 3)) / strongest;
            }
        return lines;
    }

    private findMarks(frame: Message, model: Model, prefs: Prefs): void {
        this.marks = [];
        model.text.bodies.forEach((body, i) => {
            const given = frame.find(Kind.given, i);
            this.given[i] = given ? Array.from(frame.numbers(given)) : [];
            if (prefs.handles) this.addHandles(frame.floatsOf(Kind.handles, i), body, i);
            if (prefs.joints) this.addJoints(frame.floatsOf(Kind.joints, i), body, i);
        });
        if (prefs.pins) this.addPins();
    }

    // A pin holds many vertices, but it is taken as one.
    private addPins(): void {
        this.app.state.value?.pins.forEach((pin, index) => {
            if (pin.held) this.marks.push({ item: { kind: "pin", body: pin.body, index }, place: new Vector3(...pin.position) });
        });
    }

    private addHandles(matrices: Float32Array, body: ModelBody, index: number): void {
        body.handles.forEach((handle, i) => {
            const m = matrices.subarray(i * 12, i * 12 + 12);
            if (m.length === 12)
                this.marks.push({ item: { kind: "handle", body: index, index: i }, place: affine(m, handle.position) });
        });
    }

    private addJoints(transforms: Float32Array, body: ModelBody, index: number): void {
        body.joints.forEach((joint, i) => {
            if (transforms.length < (i + 1) * 7) return;
            const place = new Vector3(...joint.position)
                .applyQuaternion(new Quaternion().fromArray(transforms, i * 7 + 3))
                .add(new Vector3().fromArray(transforms, i * 7));
            this.marks.push({ item: { kind: "joint", body: index, index: i }, place });
        });
    }

    // How a thing is turned now; what has no turn of its own is taken as not turned.
    turnOf(item: Item, frame: Message): Quaternion {
        const sections = { handle: Kind.handles, collider: Kind.colliders, prop: Kind.props } as const;
        const kind = item.kind as keyof typeof sections;
        if (!(kind in sections)) return new Quaternion();
        if (kind !== "handle") {
            const pose = frame.floatsOf(sections[kind]).subarray(item.index * 7 + 3, item.index * 7 + 7);
            return pose.length === 4 ? new Quaternion().fromArray(pose) : new Quaternion();
        }
        const m = frame.floatsOf(Kind.handles, item.body).subarray(item.index * 12, item.index * 12 + 12);
        if (m.length < 12) return new Quaternion();
        const rows = [0, 4, 8].map((r) => Array.from(m.subarray(r, r + 4)));
        const matrix = new Matrix4().set(...(rows.flat().concat([0, 0, 0, 1]) as Parameters<Matrix4["set"]>));
        const turn = new Quaternion();
        matrix.decompose(new Vector3(), turn, new Vector3());
        return turn;
    }

    maskOf(item: Item): number {
        return item.kind === "handle" ? (this.given[item.body]?.[item.index] ?? 0) : 0;
    }

    // Also when only the selection or the pointer moved.
    drawMarks(): void {
        const { hover, selection } = this.app;
        const isHot = (item: Item): boolean => sameItem(hover.value, item);
        const isChosen = (item: Item): boolean => selection.value.some((s) => sameItem(s, item));
        const heldCount = Math.floor(this.held.length / 3);
        this.dots.begin(this.marks.length + heldCount);
        for (let i = 0; i < heldCount; ++i)
            this.dots.set(this.marks.length + i, new Vector3().fromArray(this.held, i * 3), tints.pin, 1, 5);
        this.marks.forEach(({ item, place }, i) => {
            const base = item.kind === "handle" ? 15 : 11;
            const size = base + (isHot(item) ? 5 : 0);
            this.dots.set(i, place, this.tintOf(item, isChosen(item)), this.maskOf(item) || isChosen(item) ? 1 : 0.25, size);
        });
        this.bones.forEach((bones, body) =>
            bones.tint((index) => {
                const item: Item = { kind: "bone", body, index };
                return isChosen(item) ? tints.chosen : isHot(item) ? 0xffc9a8 : tints.bone;
            }),
        );
        this.solidColliders.highlight(hover.value?.kind === "collider" ? hover.value.index : -1);
        this.solidProps.highlight(hover.value?.kind === "prop" ? hover.value.index : -1);
    }

    private tintOf(item: Item, chosen: boolean): number {
        if (chosen) return tints.chosen;
        if (item.kind === "pin") return tints.pin;
        if (item.kind === "joint") return tints.joint;
        return this.maskOf(item) ? tints.locked : tints.free;
    }

    drawArrow(from: Vector3 | null, to: Vector3 | null): void {
        this.arrow.set(from && to ? new Float32Array([...from.toArray(), ...to.toArray()]) : new Float32Array(0));
    }
}

function affine(m: Float32Array, [x, y, z]: Vec3): Vector3 {
    const row = (r: number): number =>
        (m[r * 4] ?? 0) * x + (m[r * 4 + 1] ?? 0) * y + (m[r * 4 + 2] ?? 0) * z + (m[r * 4 + 3] ?? 0);
    return new Vector3(row(0), row(1), row(2));
}
