// What is under the pointer. Marks win by distance on the screen, then bones, then the nearest surface along the ray.

import { Raycaster, Vector3 } from "three";
import type { Overlays } from "./overlays";
import type { Part, Parts } from "./parts";
import type { Prefs } from "./prefs";
import type { Stage } from "./stage";
import type { Item } from "./types";

export interface Pick {
    item: Item;
    point: Vector3;
    vertex: number; // of the part, for flesh; -1: none
}

const reach = 13; // px around a mark

export class Picker {
    private readonly caster = new Raycaster();

    constructor(
        private readonly stage: Stage,
        private readonly parts: Parts,
        private readonly overlays: Overlays,
    ) {}

    // x, y in pixels of the canvas.
    at(x: number, y: number, prefs: Prefs): Pick | null {
        const bones = prefs.bones ? this.bone(x, y) : null;
        return this.mark(x, y) ?? bones ?? this.surface(x, y, prefs);
    }

    private mark(x: number, y: number): Pick | null {
        let best: Pick | null = null;
        let least = reach;
        for (const { item, place } of this.overlays.marks) {
            const p = this.stage.view.project(place);
            const distance = Math.hypot(p.x - x, p.y - y);
            if (p.z > 1 || distance >= least) continue;
            least = distance;
            best = { item, point: place.clone(), vertex: -1 };
        }
        return best;
    }

    private bone(x: number, y: number): Pick | null {
        let best: Pick | null = null;
        let least = 8;
        this.overlays.bones.forEach((bones, body) =>
            bones.heads.forEach((head, index) => {
                const tail = bones.tails[index] ?? head;
                const [a, b] = [this.stage.view.project(head), this.stage.view.project(tail)];
                const t = alongSegment(x, y, a, b);
                const distance = Math.hypot(a.x + t * (b.x - a.x) - x, a.y + t * (b.y - a.y) - y);
                if (a.z > 1 || distance >= least) return;
                least = distance;
                best = { item: { kind: "bone", body, index }, point: head.clone().lerp(tail, t), vertex: -1 };
            }),
        );
        return best;
    }

    private surface(x: number, y: number, prefs: Prefs): Pick | null {
        const { width, height } = this.stage.view.size;
        const { origin, direction } = this.stage.view.ray((2 * x) / width - 1, 1 - (2 * y) / height);
        let best: Pick | null = null;
        let nearest = Infinity;
        const offer = (distance: number, item: Item, vertex: number): void => {
            if (distance >= nearest) return;
            nearest = distance;
            best = { item, point: origin.clone().addScaledVector(direction, distance), vertex };
        };
        if (prefs.opacity > 0.01)
            for (const part of this.parts.list) {
                const hit = castPart(part, origin, direction);
                if (hit) offer(hit.distance, { kind: "flesh", body: part.text.body, index: 0 }, hit.vertex);
            }
        this.caster.set(origin, direction);
        const solids = [
            { kind: "prop" as const, list: this.overlays.solidProps.objects() },
            { kind: "collider" as const, list: prefs.colliders ? this.overlays.solidColliders.objects() : [] },
        ];
        for (const { kind, list } of solids)
            for (const { object, index } of list)
                for (const hit of this.caster.intersectObject(object).slice(0, 1))
                    offer(hit.distance, { kind, body: 0, index }, -1);
        return best;
    }
}

function alongSegment(x: number, y: number, a: Vector3, b: Vector3): number {
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const squared = dx * dx + dy * dy;
    return squared < 1e-9 ? 0 : Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / squared));
}

// Moeller and Trumbore over all triangles: the flesh moves every frame, so a tree would be older than its surface.
// Sixty thousand take about a millisecond, and it is asked once per drawing at most.
function castPart(part: Part, o: Vector3, d: Vector3): { distance: number; vertex: number } | null {
    const p = part.positions;
    const index = part.triangles;
    let nearest = Infinity;
    let vertex = -1;
    for (let i = 0; i + 2 < index.length; i += 3) {
        const a = index[i]! * 3;
        const b = index[i + 1]! * 3;
        const c = index[i + 2]! * 3;
        const ax = p[a]!, ay = p[a + 1]!, az = p[a + 2]!;
        const ux = p[b]! - ax, uy = p[b + 1]! - ay, uz = p[b + 2]! - az;
        const vx = p[c]! - ax, vy = p[c + 1]! - ay, vz = p[c + 2]! - az;
        const px = d.y * vz - d.z * vy, py = d.z * vx - d.x * vz, pz = d.x * vy - d.y * vx;
        const det = ux * px + uy * py + uz * pz;
        if (det > -1e-14 && det < 1e-14) continue;
        const tx = o.x - ax, ty = o.y - ay, tz = o.z - az;
        const s = (tx * px + ty * py + tz * pz) / det;
        if (s < 0 || s > 1) continue;
        const qx = ty * uz - tz * uy, qy = tz * ux - tx * uz, qz = tx * uy - ty * ux;
        const t = (d.x * qx + d.y * qy + d.z * qz) / det;
        if (t < 0 || s + t > 1) continue;
        const distance = (vx * qx + vy * qy + vz * qz) / det;
        if (distance <= 0 || distance >= nearest) continue;
        nearest = distance;
        vertex = 1 - s - t > Math.max(s, t) ? index[i]! : s > t ? index[i + 1]! : index[i + 2]!;
    }
    return vertex < 0 ? null : { distance: nearest, vertex };
}
