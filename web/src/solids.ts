// Colliders and props: their shapes as meshes that are moved by the frames.

import {
    BoxGeometry,
    BufferAttribute,
    BufferGeometry,
    CapsuleGeometry,
    DoubleSide,
    EdgesGeometry,
    FrontSide,
    Group,
    LineBasicMaterial,
    LineSegments,
    Mesh,
    MeshStandardMaterial,
    Object3D,
    PlaneGeometry,
    SphereGeometry,
} from "three";
import type { Model } from "./codec";
import type { ModelSolid } from "./types";

// Null: nothing to show of its own (the first plane is the stage's ground).
function shapeOf(solid: ModelSolid, model: Model, isGround: boolean): BufferGeometry | null {
    const [x, y, z] = solid.size;
    switch (solid.kind) {
        case "plane":
            return isGround ? null : new PlaneGeometry(3, 3).rotateX(-Math.PI / 2);
        case "sphere":
            return new SphereGeometry(x, 40, 24);
        case "capsule":
            return new CapsuleGeometry(x, 2 * y, 12, 32);
        case "box":
        case "room":
            return new BoxGeometry(2 * x, 2 * y, 2 * z);
        case "stairs":
            return stairsOf(solid);
        case "heightfield":
            return fieldOf(solid, model);
        default:
            return meshOf(solid, model);
    }
}

function stairsOf(solid: ModelSolid): BufferGeometry {
    const [run, rise, width] = solid.size;
    const points: number[] = [];
    for (let i = 0; i < (solid.steps ?? 0); ++i) {
        const height = (i + 1) * rise;
        const step = new BoxGeometry(run, height, width).translate((i + 0.5) * run, height / 2, 0).toNonIndexed();
        points.push(...step.getAttribute("position").array);
    }
    return faceted(new Float32Array(points));
}

function fieldOf(solid: ModelSolid, model: Model): BufferGeometry | null {
    const { columns = 0, rows = 0, heights } = solid;
    if (typeof heights !== "number") return null;
    const y = model.floats(heights);
    const spacing = solid.size[0];
    const points = new Float32Array(columns * rows * 3);
    for (let i = 0; i < columns * rows; ++i) {
        points[i * 3] = ((i % columns) - (columns - 1) / 2) * spacing;
        points[i * 3 + 1] = y[i] ?? 0;
        points[i * 3 + 2] = (Math.floor(i / columns) - (rows - 1) / 2) * spacing;
    }
    const faces: number[] = [];
    for (let r = 0; r + 1 < rows; ++r)
        for (let c = 0; c + 1 < columns; ++c) {
            const a = r * columns + c;
            faces.push(a, a + columns, a + columns + 1, a, a + columns + 1, a + 1);
        }
    return indexed(points, new Uint32Array(faces));
}

function meshOf(solid: ModelSolid, model: Model): BufferGeometry | null {
    if (typeof solid.vertices !== "number" || typeof solid.triangles !== "number") return null;
    return indexed(model.floats(solid.vertices), model.numbers(solid.triangles));
}

function indexed(points: Float32Array, faces: Uint32Array): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(points, 3));
    geometry.setIndex(new BufferAttribute(faces, 1));
    return faceted(geometry.toNonIndexed().getAttribute("position").array as Float32Array);
}

// Solid things show their faces: no smoothing over edges.
function faceted(points: Float32Array): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(points, 3));
    geometry.computeVertexNormals();
    return geometry;
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
        const ground = solids.findIndex((s) => s.kind === "plane");
        this.items = solids.map((solid, i) => this.make(solid, model, i === ground));
        for (const item of this.items) if (item) this.group.add(item);
    }

    private make(solid: ModelSolid, model: Model, isGround: boolean): Object3D | null {
        const shape = shapeOf(solid, model, isGround);
        if (!shape) return null;
        const holder = new Group();
        // From inside a room one wants to see: only its edges.
        if (solid.kind !== "room") {
            const material = new MeshStandardMaterial({ color: this.color, roughness: 0.8, side: solid.kind === "plane" ? DoubleSide : FrontSide });
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
