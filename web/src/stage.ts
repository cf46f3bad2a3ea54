// The lit, empty stage: renderer, light, ground. It draws only when something has changed.

import {
    BufferAttribute,
    CircleGeometry,
    Color,
    DirectionalLight,
    DoubleSide,
    HemisphereLight,
    Mesh,
    MeshBasicMaterial,
    MeshStandardMaterial,
    NeutralToneMapping,
    PCFShadowMap,
    PlaneGeometry,
    PMREMGenerator,
    Scene,
    SphereGeometry,
    BackSide,
    Vector3,
    WebGLRenderer,
} from "three";
import { View } from "./camera";

const shadowSize = 1024;

export class Stage {
    readonly scene = new Scene();
    readonly view = new View();
    readonly renderer: WebGLRenderer;
    readonly canvas: HTMLCanvasElement;
    private readonly key = new DirectionalLight(0xfff1e2, 2.6);
    private readonly ground: Mesh;
    private dirty = true;
    private readonly before: (() => void)[] = [];
    drawn = 0;

    constructor(parent: HTMLElement) {
        this.renderer = new WebGLRenderer({ antialias: true, alpha: true, powerPreference: "high-performance" });
        this.canvas = this.renderer.domElement;
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute("aria-label", "The scene. Drag the character with the mouse, or press Tab to choose a handle and the arrow keys to move it.");
        this.renderer.toneMapping = NeutralToneMapping;
        this.renderer.toneMappingExposure = 1.05;
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = PCFShadowMap;
        parent.prepend(this.canvas);
        this.scene.environment = makeEnvironment(this.renderer);
        this.scene.environmentIntensity = 0.55;
        this.light();
        this.ground = makeGround();
        this.scene.add(this.ground);
        new ResizeObserver(() => this.resize(parent)).observe(parent);
        this.resize(parent);
        const loop = (): void => {
            requestAnimationFrame(loop);
            this.draw();
        };
        requestAnimationFrame(loop);
    }

    private light(): void {
        this.key.castShadow = true;
        this.key.shadow.mapSize.set(shadowSize, shadowSize);
        this.key.shadow.radius = 5;
        this.key.shadow.bias = -0.0004;
        const rim = new DirectionalLight(0x9fc4ff, 1.1);
        rim.position.set(-3, 2.5, -4);
        this.scene.add(this.key, this.key.target, rim, new HemisphereLight(0xdfe8ff, 0x3a302a, 0.35));
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

    setGround(height: number | null, radius: number): void {
        this.ground.visible = height !== null;
        if (height === null) return;
        this.ground.position.y = height;
        this.ground.scale.setScalar(Math.max(0.2, radius) * 9);
    }

    moveGround(center: Vector3): void {
        this.ground.position.x = center.x;
        this.ground.position.z = center.z;
    }

    setShadows(on: boolean): void {
        this.key.castShadow = on;
        this.touch();
    }

    private resize(parent: HTMLElement): void {
        const { clientWidth: width, clientHeight: height } = parent;
        this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
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
        if (!this.dirty) return;
        this.dirty = false;
        for (const listener of this.before) listener();
        this.renderer.render(this.scene, this.view.camera);
        ++this.drawn;
    }
}

// A dim room with three soft boxes: enough for flesh to shine softly, and no picture to load.
function makeEnvironment(renderer: WebGLRenderer): Scene["environment"] {
    const room = new Scene();
    const wall = new Mesh(new SphereGeometry(10, 16, 12), new MeshBasicMaterial({ color: 0x353b45, side: BackSide }));
    room.add(wall);
    const boxes: [Vector3, number, number, Color][] = [
        [new Vector3(3, 6, 4), 5, 5, new Color(9, 8.4, 7.6)],
        [new Vector3(-7, 2, 1), 3, 6, new Color(2.2, 2.7, 3.6)],
        [new Vector3(2, 1, -7), 6, 3, new Color(2.6, 2.3, 2)],
    ];
    for (const [place, width, height, color] of boxes) {
        const box = new Mesh(new PlaneGeometry(width, height), new MeshBasicMaterial({ color, side: DoubleSide }));
        box.position.copy(place);
        box.lookAt(0, 0, 0);
        room.add(box);
    }
    const generator = new PMREMGenerator(renderer);
    const target = generator.fromScene(room, 0.04);
    generator.dispose();
    return target.texture;
}

// A disc that fades into the background, so there is no horizon to look at. The lines are in its shader: they stay thin
// at any distance and their spacing tells sizes (0.1 m, stronger every metre).
function makeGround(): Mesh {
    const geometry = new CircleGeometry(1, 96).rotateX(-Math.PI / 2);
    const count = geometry.getAttribute("position").count;
    const colors = new Float32Array(count * 4).fill(1);
    for (let i = 1; i < count; ++i) colors[i * 4 + 3] = 0;
    geometry.setAttribute("color", new BufferAttribute(colors, 4));
    const material = new MeshStandardMaterial({
        color: 0x2a2f37,
        roughness: 0.95,
        vertexColors: true,
        transparent: true,
        envMapIntensity: 0.4,
        depthWrite: false,
    });
    material.onBeforeCompile = (shader) => {
        shader.vertexShader = shader.vertexShader
            .replace("#include <common>", "#include <common>\nvarying vec2 vGround;")
            .replace("#include <begin_vertex>", "#include <begin_vertex>\nvGround = (modelMatrix * vec4(position, 1.0)).xz;");
        shader.fragmentShader = shader.fragmentShader
            .replace("#include <common>", `#include <common>\nvarying vec2 vGround;\n${lineShader}`)
            .replace(
                "#include <color_fragment>",
                "#include <color_fragment>\ndiffuseColor.a *= diffuseColor.a;\n" +
                    "diffuseColor.rgb += 0.012 * lines(vGround * 10.0) + 0.04 * lines(vGround);",
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
