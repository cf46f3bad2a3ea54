// Bones as slender double pyramids, as animators know them, one instance each.

import {
    BufferAttribute,
    BufferGeometry,
    Color,
    DynamicDrawUsage,
    InstancedMesh,
    Matrix4,
    MeshStandardMaterial,
    Quaternion,
    Vector3,
} from "three";
import type { ModelBone } from "./types";

const up = new Vector3(0, 1, 0);

// From 0 0 0 to 0 1 0, widest a fifth of the way.
function pyramid(): BufferGeometry {
    const points = [0, 0, 0, 1, 0.18, 0, 0, 0.18, 1, -1, 0.18, 0, 0, 0.18, -1, 0, 1, 0];
    const faces = [0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1, 5, 2, 1, 5, 3, 2, 5, 4, 3, 5, 1, 4];
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    geometry.setIndex(faces);
    const flat = geometry.toNonIndexed();
    flat.computeVertexNormals();
    return flat;
}

export class Bones {
    readonly mesh: InstancedMesh<BufferGeometry, MeshStandardMaterial>;
    readonly heads: Vector3[];
    readonly tails: Vector3[];
    private readonly rest: Matrix4[];

    constructor(private readonly bones: ModelBone[]) {
        const material = new MeshStandardMaterial({ color: 0xffffff, roughness: 0.7 });
        this.mesh = new InstancedMesh(pyramid(), material, bones.length);
        this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
        this.mesh.frustumCulled = false;
        this.mesh.renderOrder = 2;
        this.rest = bones.map(restOf);
        this.heads = bones.map((b) => new Vector3(...b.head));
        this.tails = bones.map((b) => new Vector3(...b.tail));
        bones.forEach((_, i) => this.mesh.setColorAt(i, new Color(0xe9e2d6)));
    }

    move(transforms: Float32Array): void {
        if (transforms.length < this.bones.length * 7) return;
        const place = new Vector3();
        const turn = new Quaternion();
        const now = new Matrix4();
        const one = new Vector3(1, 1, 1);
        this.bones.forEach((bone, i) => {
            now.compose(place.fromArray(transforms, i * 7), turn.fromArray(transforms, i * 7 + 3), one);
            this.heads[i]?.set(...bone.head).applyMatrix4(now);
            this.tails[i]?.set(...bone.tail).applyMatrix4(now);
            const rest = this.rest[i];
            if (rest) this.mesh.setMatrixAt(i, now.multiply(rest));
        });
        this.mesh.instanceMatrix.needsUpdate = true;
    }

    tint(colorOf: (index: number) => number): void {
        const color = new Color();
        this.bones.forEach((_, i) => this.mesh.setColorAt(i, color.setHex(colorOf(i))));
        if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    }

    dispose(): void {
        this.mesh.geometry.dispose();
        this.mesh.material.dispose();
        this.mesh.dispose();
    }
}

// Takes the pyramid to the bone at rest. A bone's own radius is that of its collision shape and may be thick.
function restOf(bone: ModelBone): Matrix4 {
    const head = new Vector3(...bone.head);
    const axis = new Vector3(...bone.tail).sub(head);
    const length = Math.max(1e-4, axis.length());
    const turn = new Quaternion().setFromUnitVectors(up, axis.divideScalar(length));
    const width = Math.min(0.2 * length, Math.max(0.6 * bone.radius, 0.07 * length));
    return new Matrix4().compose(head, turn, new Vector3(width, length, width));
}
