// The lit, empty stage: renderer, light, ground. It draws only when something has changed.

import {
    BufferAttribute,
    CircleGeometry,
    Color,
    DirectionalLight,
    type IUniform,
    LightProbe,
    Mesh,
    MeshStandardMaterial,
    NeutralToneMapping,
    PCFShadowMap,
    Scene,
    SphericalHarmonics3,
    Vector3,
    Vector4,
    WebGLRenderer,
} from "three";
import { View } from "./camera";

const shadowSize = 1024;
const slowDrawing = 70; // ms

export class Stage {
    readonly scene = new Scene();
    readonly view = new View();
    readonly renderer: WebGLRenderer;
    readonly canvas: HTMLCanvasElement;
    private readonly key = new DirectionalLight(0xfff1e2, 2.3);
    private readonly ground: Mesh;
    private readonly shade = { value: new Vector4(0, 0, 1, 0) }; // x, z, radius, how dark
    private dirty = true;
    private drew = false;
    private ticked = 0;
    private cost = 0; // ms per drawing, smoothed
    private thrift = 0; // 1: no shadows, 2: fewer pixels
    private shadows = true;
    private readonly before: (() => void)[] = [];
    drawn = 0;

    // fine: whatever it costs.
    constructor(
        private readonly parent: HTMLElement,
        private readonly fine: boolean,
    ) {
        if (!fine && drawsInSoftware()) this.thrift = 1;
        this.renderer = new WebGLRenderer({ antialias: this.thrift === 0, alpha: true, powerPreference: "high-performance" });
        this.canvas = this.renderer.domElement;
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute("aria-label", "The scene. Drag the character with the mouse, or press Tab to choose a handle and the arrow keys to move it.");
        this.renderer.toneMapping = NeutralToneMapping;
        this.renderer.toneMappingExposure = 1.05;
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = PCFShadowMap;
        parent.prepend(this.canvas);
        this.light();
        this.ground = makeGround(this.shade);
        this.scene.add(this.ground);
        new ResizeObserver(() => this.resize()).observe(parent);
        this.resize();
        const loop = (now: number): void => {
            requestAnimationFrame(loop);
            this.adapt(now);
            this.draw();
        };
        requestAnimationFrame(loop);
    }

    private light(): void {
        this.key.castShadow = true;
        this.key.shadow.mapSize.set(shadowSize, shadowSize);
        this.key.shadow.radius = 5;
        this.key.shadow.bias = -0.0004;
        const rim = new DirectionalLight(0xc4d6f2, 0.9);
        rim.position.set(-3, 2.5, -4);
        this.scene.add(this.key, this.key.target, rim, makeRoomLight());
        this.lightAround(new Vector3(0, 0.5, 0), 1);
    }

    // The shadow's box follows the character: all its pixels go where they are needed.
    lightAround(center: Vector3, radius: number): void {
        this.key.target.position.copy(center);
        this.key.position.set(1.6, 3.2, 2.2).normalize().multiplyScalar(radius * 4).add(center);
        const camera = this.key.shadow.camera;
        const reach = radius * 1.6;
        [camera.left, camera.right, camera.bottom, camera.top] = [-reach, reach, -reach, reach];
        [camera.near, camera.far] = [radius * 0.5, radius * 9];
        this.key.shadow.normalBias = radius * 0.012;
        camera.updateProjectionMatrix();
    }

    setGround(on: boolean, radius: number): void {
        this.ground.visible = on;
        this.ground.scale.setScalar(Math.max(0.2, radius) * 9);
    }

    // The disc lies in its plane (x y z, quaternion), under the character.
    // Where the character is near it, it gets less light from the sky: a soft shade that costs nothing.
    // size: of the one character; null: there are several, and no single shade.
    moveGround(pose: Float32Array, center: Vector3, size: Vector3 | null): void {
        if (pose.length < 7) return;
        this.ground.quaternion.fromArray(pose, 3);
        const normal = new Vector3(0, 1, 0).applyQuaternion(this.ground.quaternion);
        const height = center.clone().sub(new Vector3().fromArray(pose)).dot(normal);
        this.ground.position.copy(center).addScaledVector(normal, -height);
        if (!size) {
            this.shade.value.w = 0;
            return;
        }
        const radius = Math.max(0.02, 0.3 * (size.x + size.z));
        const gap = Math.max(0, height - size.y / 2) / radius;
        this.shade.value.set(this.ground.position.x, this.ground.position.z, radius, 0.65 / (1 + 2 * gap));
    }

    setShadows(on: boolean): void {
        this.shadows = on;
        this.key.castShadow = on && this.thrift < 1;
        this.touch();
    }

    // Without a graphics card a drawing may take a tenth of a second: then first the shadows go, then every other pixel.
    private adapt(now: number): void {
        const gap = now - this.ticked;
        this.ticked = now;
        if (!this.drew || gap > 2000 || this.fine) return;
        this.cost += 0.15 * (gap - this.cost);
        if (this.cost < slowDrawing || this.thrift === 2) return;
        this.cost = 0;
        ++this.thrift;
        this.setShadows(this.shadows);
        this.resize();
    }

    private resize(): void {
        const { clientWidth: width, clientHeight: height } = this.parent;
        this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio) * (this.thrift < 2 ? 1 : 0.6));
        this.renderer.setSize(width, height);
        this.view.resize(width, height);
        this.touch();
    }

    touch(): void {
        this.dirty = true;
    }

    // Called before each drawing.
    onDraw(listener: () => void): void {
        this.before.push(listener);
    }

    private draw(): void {
        this.drew = this.dirty;
        if (!this.dirty) return;
        this.dirty = false;
        for (const listener of this.before) listener();
        this.renderer.render(this.scene, this.view.camera);
        ++this.drawn;
    }
}

// A dim room with a large warm window above and cooler light from the side, as nine numbers per colour (spherical
// harmonics): soft light from everywhere at the price of nothing. A reflected picture of such a room costs seconds to
// prepare where there is no graphics card, and on skin it hardly shows.
function makeRoomLight(): LightProbe {
    const windows = [
        { towards: new Vector3(0.35, 0.8, 0.5).normalize(), sharp: 3, color: new Color(2.4, 2.2, 1.95) },
        { towards: new Vector3(-0.95, 0.2, 0.1).normalize(), sharp: 2, color: new Color(0.6, 0.7, 0.85) },
        { towards: new Vector3(0.3, -0.2, -0.95).normalize(), sharp: 2, color: new Color(0.6, 0.5, 0.42) },
    ];
    const probe = new LightProbe();
    const basis = new Array<number>(9).fill(0);
    const samples = 800;
    for (let i = 0; i < samples; ++i) {
        // Evenly over the sphere, along a spiral.
        const y = 1 - (2 * (i + 0.5)) / samples;
        const turn = i * Math.PI * (3 - Math.sqrt(5));
        const direction = new Vector3(Math.cos(turn) * Math.sqrt(1 - y * y), y, Math.sin(turn) * Math.sqrt(1 - y * y));
        const light = new Color(0.2, 0.21, 0.24);
        for (const w of windows) {
            const share = Math.max(0, direction.dot(w.towards)) ** w.sharp;
            light.add(w.color.clone().multiplyScalar(share));
        }
        SphericalHarmonics3.getBasisAt(direction, basis);
        probe.sh.coefficients.forEach((c, k) =>
            c.addScaledVector(new Vector3(light.r, light.g, light.b), ((basis[k] ?? 0) * 4 * Math.PI) / samples),
        );
    }
    probe.intensity = 0.55;
    return probe;
}

// Chromium and Firefox say so when they would draw without a graphics card.
function drawsInSoftware(): boolean {
    const context = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return context === null;
}

// A disc that fades into the background, so there is no horizon to look at. The lines are in its shader: they stay thin
// at any distance and their spacing tells sizes (0.1 m, stronger every metre).
function makeGround(shade: IUniform<Vector4>): Mesh {
    const geometry = new CircleGeometry(1, 96).rotateX(-Math.PI / 2);
    const count = geometry.getAttribute("position").count;
    const colors = new Float32Array(count * 4).fill(1);
    for (let i = 1; i < count; ++i) colors[i * 4 + 3] = 0;
    geometry.setAttribute("color", new BufferAttribute(colors, 4));
    const material = new MeshStandardMaterial({
        color: 0x3a3f47,
        roughness: 0.95,
        vertexColors: true,
        transparent: true,
        depthWrite: false,
    });
    material.onBeforeCompile = (shader) => {
        shader.uniforms.shade = shade;
        shader.vertexShader = shader.vertexShader
            .replace("#include <common>", "#include <common>\nvarying vec2 vGround;")
            .replace("#include <begin_vertex>", "#include <begin_vertex>\nvGround = (modelMatrix * vec4(position, 1.0)).xz;");
        shader.fragmentShader = shader.fragmentShader
            .replace("#include <common>", `#include <common>\nvarying vec2 vGround;\nuniform vec4 shade;\n${lineShader}`)
            .replace(
                "#include <color_fragment>",
                "#include <color_fragment>\ndiffuseColor.a *= diffuseColor.a;\n" +
                    "diffuseColor.rgb += 0.012 * lines(vGround * 10.0) + 0.04 * lines(vGround);\n" +
                    "vec2 toShade = (vGround - shade.xy) / shade.z;\n" +
                    "diffuseColor.rgb *= 1.0 - shade.w * exp(-dot(toShade, toShade));",
            );
    };
    const mesh = new Mesh(geometry, material);
    mesh.receiveShadow = true;
    mesh.renderOrder = -10;
    return mesh;
}

const lineShader = `
float lines(vec2 p)
{
    vec2 width = fwidth(p);
    vec2 d = abs(fract(p - 0.5) - 0.5) / max(width, vec2(1e-6));
    float line = 1.0 - min(min(d.x, d.y), 1.0);
    return line * (1.0 - smoothstep(0.15, 0.5, max(width.x, width.y)));
}`;
