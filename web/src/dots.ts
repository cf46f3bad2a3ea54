// Round marks of a constant size on the screen, always in front: handles, joints, pins.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Points, ShaderMaterial, Sphere, Vector3 } from "three";

const vertexShader = `
attribute vec4 tint;
attribute float size;
uniform float ratio;
varying vec4 vTint;
varying float vSize;
void main()
{
    vTint = tint;
    vSize = size * ratio;
    gl_Position = projectionMatrix * viewMatrix * vec4(position, 1.0);
    gl_PointSize = vSize;
}`;

// A filled middle and a ring; alpha of the tint is how much of the middle is filled.
const fragmentShader = `
varying vec4 vTint;
varying float vSize;
void main()
{
    float r = length(gl_PointCoord - 0.5) * vSize;
    float edge = vSize * 0.5 - 1.0;
    float disc = 1.0 - smoothstep(edge - 0.7, edge + 0.7, r);
    float ring = disc * smoothstep(edge - 2.8, edge - 1.4, r);
    float dark = 1.0 - smoothstep(edge + 0.2, edge + 1.0, r);
    float fill = disc * vTint.a;
    float light = max(ring, fill);
    gl_FragColor = vec4(mix(vec3(0.05), vTint.rgb, light), max(light, dark * 0.55));
    if (gl_FragColor.a < 0.02) discard;
}`;

export class Dots {
    readonly points: Points<BufferGeometry, ShaderMaterial>;
    private readonly ratio = { value: 1 };
    private count = 0;
    positions = new Float32Array(0);
    private tints = new Float32Array(0);
    private sizes = new Float32Array(0);

    constructor() {
        const material = new ShaderMaterial({
            vertexShader,
            fragmentShader,
            uniforms: { ratio: this.ratio },
            transparent: true,
            depthTest: false,
            depthWrite: false,
        });
        this.points = new Points(new BufferGeometry(), material);
        this.points.frustumCulled = false;
        this.points.onBeforeRender = (renderer) => (this.ratio.value = renderer.getPixelRatio());
        this.points.renderOrder = 20;
        this.reserve(0);
    }

    private reserve(count: number): void {
        this.count = count;
        this.positions = new Float32Array(count * 3);
        this.tints = new Float32Array(count * 4);
        this.sizes = new Float32Array(count);
        this.points.geometry.dispose();
        const geometry = new BufferGeometry();
        geometry.setAttribute("position", new BufferAttribute(this.positions, 3).setUsage(DynamicDrawUsage));
        geometry.setAttribute("tint", new BufferAttribute(this.tints, 4).setUsage(DynamicDrawUsage));
        geometry.setAttribute("size", new BufferAttribute(this.sizes, 1).setUsage(DynamicDrawUsage));
        geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
        this.points.geometry = geometry;
    }

    begin(count: number): void {
        if (count !== this.count) this.reserve(count);
        for (const attribute of Object.values(this.points.geometry.attributes)) attribute.needsUpdate = true;
        this.points.visible = count > 0;
    }

    // color: 0xrrggbb; fill 0..1; size in pixels.
    set(i: number, place: Vector3, color: number, fill: number, size: number): void {
        place.toArray(this.positions, i * 3);
        this.tints.set([(color >> 16) / 255, ((color >> 8) & 255) / 255, (color & 255) / 255, fill], i * 4);
        this.sizes[i] = size;
    }
}
