// Colliders and props: their shapes as meshes that are moved by the frames.

import {
    BoxGeometry,
    BufferAttribute,
    BufferGeometry,
    CapsuleGeometry,
    EdgesGeometry,
    Group,
    LineBasicMaterial,
    LineSegments,
    Mesh,
    MeshStandardMaterial,
    Object3D,
    SphereGeometry,
} from "three";
import type { Model } from "./codec";
import type { ModelSolid } from "./types";

// Null: nothing of its own to show (a plane is the stage's ground).
function shapeOf(solid: ModelSolid, model: Model): BufferGeometry | null {
    const [x, y, z] = solid.half_size ?? [0.5, 0.5, 0.5];
    const radius = solid.radius ?? 0.5;
    switch (solid.kind) {
        case "plane":
            return null;
        case "sphere":
            return new SphereGeometry(radius, 40, 24);
        case "capsule":
            return new CapsuleGeometry(radius, 2 * (solid.half_length ?? 0.5), 12, 32);
        case "box":
        case "room":
            return new BoxGeometry(2 * x, 2 * y, 2 * z);
        default:
            return meshOf(solid, model);
    }
}

function meshOf(solid: ModelSolid, model: Model): BufferGeometry | null {
    if (typeof solid.vertices !== "number" || typeof solid.triangles !== "number") return null;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(model.floats(solid.vertices), 3));
    geometry.setIndex(new BufferAttribute(model.numbers(solid.triangles), 1));
    const flat = geometry.toNonIndexed();
    flat.computeVertexNormals();
    return flat;
}

export class Solids {
    readonly group = new Group();
    private items: (Object3D | null)[] = [];

    constructor(private readonly color: number) {}

    build(solids: ModelSolid[], model: Model): void {
        this.group.traverse((o) => {
            if (o instanceof Mesh || o instanceof LineSegments) (o.geometry as BufferGeometry).dispose();
        });
        this.group.clear();
        this.items = solids.map((solid) => this.make(solid, model));
        this.group.add(...this.items.filter((o): o is Object3D => o !== null));
    }

    private make(solid: ModelSolid, model: Model): Object3D | null {
        const shape = shapeOf(solid, model);
        if (!shape) return null;
        const holder = new Group();
        // From inside a room one wants to see: only its edges.
        if (solid.kind !== "room") {
            const material = new MeshStandardMaterial({ color: solid.color ?? this.color, roughness: 0.8 });
            const mesh = new Mesh(shape, material);
            mesh.castShadow = mesh.receiveShadow = true;
            holder.add(mesh);
        }
        if (["room", "box", "stairs"].includes(solid.kind)) {
            const edges = new EdgesGeometry(shape, 20);
            holder.add(new LineSegments(edges, new LineBasicMaterial({ color: 0x8b95a5, transparent: true, opacity: 0.35 })));
        }
        return holder;
    }

    // x y z, quaternion: where each is now.
    move(transforms: Float32Array): void {
        this.items.forEach((item, i) => {
            if (!item || transforms.length < (i + 1) * 7) return;
            item.position.fromArray(transforms, i * 7);
            item.quaternion.fromArray(transforms, i * 7 + 3);
        });
    }

    highlight(index: number): void {
        this.items.forEach((item, i) =>
            item?.traverse((o) => {
                if (o instanceof Mesh) (o.material as MeshStandardMaterial).emissive.setHex(i === index ? 0x3a2010 : 0);
            }),
        );
    }

    objects(): { object: Object3D; index: number }[] {
        return this.items.flatMap((object, index) => (object ? [{ object, index }] : []));
    }
}
