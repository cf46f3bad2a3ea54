// Line segments whose number changes from frame to frame.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, LineBasicMaterial, LineSegments, Sphere, Vector3 } from "three";

export class Lines {
    readonly segments: LineSegments<BufferGeometry, LineBasicMaterial>;

    constructor(color: number, inFront: boolean, opacity = 1) {
        const material = new LineBasicMaterial({
            color,
            opacity,
            transparent: opacity < 1 || inFront,
            depthTest: !inFront,
            depthWrite: false,
            toneMapped: false,
        });
        this.segments = new LineSegments(new BufferGeometry(), material);
        this.segments.geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
        this.segments.frustumCulled = false;
        this.segments.renderOrder = inFront ? 15 : 5;
    }

    // Pairs of points; with edges: pairs of numbers of points.
    set(points: Float32Array, edges: Uint32Array | null = null): void {
        const geometry = this.segments.geometry;
        const old = geometry.getAttribute("position") as BufferAttribute | undefined;
        if (old?.array.length === points.length) {
            old.array = points;
            old.needsUpdate = true;
        } else {
            geometry.dispose();
            geometry.setAttribute("position", new BufferAttribute(points, 3).setUsage(DynamicDrawUsage));
        }
        if (edges && geometry.index?.array !== edges) geometry.setIndex(new BufferAttribute(edges, 1));
        if (!edges) geometry.setIndex(null);
        this.segments.visible = points.length > 0;
    }
}
