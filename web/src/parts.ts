// The skins of the bodies: their meshes, dressed as the artist has them or coloured by numbers.

import {
    BufferAttribute,
    BufferGeometry,
    Color,
    DoubleSide,
    DynamicDrawUsage,
    FrontSide,
    Group,
    InterleavedBuffer,
    InterleavedBufferAttribute,
    Mesh,
    MeshBasicMaterial,
    MeshPhysicalMaterial,
    Points,
    PointsMaterial,
    SRGBColorSpace,
    Sphere,
    Texture,
    Vector3,
} from "three";
import { Kind, type Message, type Model } from "./codec";
import { linearColors, ramp } from "./colors";
import type { Look } from "./prefs";
import type { ModelPart } from "./types";

export interface Range {
    low: number;
    high: number;
}

type SkinMaterial = MeshPhysicalMaterial | MeshBasicMaterial;

export class Part {
    readonly mesh: Mesh<BufferGeometry, SkinMaterial>;
    readonly triangles: Uint32Array;
    positions: Float32Array;
    private readonly place: BufferAttribute;
    private normals: InterleavedBuffer | null = null;
    private readonly skin: BufferAttribute | null;
    private readonly weights: BufferAttribute | null;
    private readonly numbers: BufferAttribute;
    private texture: Texture | null = null;
    private look: Look = "skin";

    constructor(
        readonly text: ModelPart,
        model: Model,
        private readonly touch: () => void,
    ) {
        const count = text.vertices;
        this.positions = new Float32Array(count * 3);
        this.triangles = model.numbers(text.triangles);
        this.place = new BufferAttribute(this.positions, 3).setUsage(DynamicDrawUsage);
        this.numbers = new BufferAttribute(new Uint16Array(count * 3), 3, true).setUsage(DynamicDrawUsage);
        this.skin = colorsOf(model, text.colors, count);
        this.weights = colorsOf(model, text.weights, count);
        const geometry = new BufferGeometry();
        geometry.setIndex(new BufferAttribute(this.triangles, 1));
        geometry.setAttribute("position", this.place);
        if (text.texcoords !== null) geometry.setAttribute("uv", new BufferAttribute(model.floats(text.texcoords), 2));
        // Flesh moves every frame; a sphere around it would be wrong at once, so it is never culled.
        geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
        this.mesh = new Mesh(geometry, skinMaterial(text));
        this.mesh.frustumCulled = false;
        this.mesh.castShadow = !text.flat;
        this.mesh.receiveShadow = !text.flat;
        if (this.triangles.length === 0) this.mesh.add(pointsOf(geometry, text.color));
        if (text.texture !== null) void this.loadTexture(model.bytes(text.texture));
        this.dress("skin");
    }

    private async loadTexture(png: Uint8Array): Promise<void> {
        const image = await createImageBitmap(new Blob([png.slice()], { type: "image/png" }));
        this.texture = new Texture(image);
        this.texture.flipY = false;
        this.texture.colorSpace = SRGBColorSpace;
        this.texture.anisotropy = 4;
        this.texture.needsUpdate = true;
        this.dress(this.look);
    }

    // Needs a fresh program only when colours or the texture come or go, which three.js sees by needsUpdate.
    dress(look: Look): void {
        this.look = look;
        const material = this.mesh.material;
        const colors = look === "skin" ? this.skin : look === "weights" ? this.weights : this.numbers;
        const map = look === "skin" ? this.texture : null;
        if (colors) this.mesh.geometry.setAttribute("color", colors);
        material.vertexColors = colors !== null && map === null;
        material.map = map;
        material.color = material.vertexColors || map ? new Color(1, 1, 1) : new Color(this.text.color);
        material.needsUpdate = true;
        this.touch();
    }

    setOpacity(opacity: number): void {
        const material = this.mesh.material;
        const clear = opacity < 0.995 || this.text.flat;
        if (material.transparent !== clear) material.needsUpdate = true;
        material.transparent = clear;
        material.opacity = opacity;
        material.depthWrite = opacity >= 0.995;
        this.mesh.visible = opacity > 0.01;
        this.touch();
    }

    // The arrays of the message are taken over, not copied: three.js uploads them as they are.
    move(frame: Message, index: number): void {
        const positions = frame.find(Kind.positions, index);
        if (positions?.bytes !== this.positions.byteLength) return;
        this.positions = frame.floats(positions);
        this.place.array = this.positions;
        this.place.needsUpdate = true;
        const normals = frame.find(Kind.normals, index);
        if (normals) this.turn(frame.shorts(normals));
    }

    private turn(normals: Int16Array): void {
        if (this.normals === null) {
            this.normals = new InterleavedBuffer(normals, 4).setUsage(DynamicDrawUsage);
            this.mesh.geometry.setAttribute("normal", new InterleavedBufferAttribute(this.normals, 3, 0, true));
        } else this.normals.array = normals;
        this.normals.needsUpdate = true;
    }

    // What the colours mean, if the frame has numbers for this part.
    paint(frame: Message, index: number): Range | null {
        const section = frame.find(Kind.values, index);
        if (!section || section.bytes < 8 + this.text.vertices) return null;
        const [low, high] = new Float32Array(frame.buffer, section.offset, 2);
        const values = new Uint8Array(frame.buffer, section.offset + 8, this.text.vertices);
        const colors = this.numbers.array as Uint16Array;
        for (let i = 0; i < values.length; ++i) {
            const c = (values[i] ?? 0) * 3;
            colors[i * 3] = ramp[c] ?? 0;
            colors[i * 3 + 1] = ramp[c + 1] ?? 0;
            colors[i * 3 + 2] = ramp[c + 2] ?? 0;
        }
        this.numbers.needsUpdate = true;
        return { low: low ?? 0, high: high ?? 1 };
    }

    dispose(): void {
        this.mesh.geometry.dispose();
        this.mesh.material.dispose();
        this.texture?.dispose();
    }
}

function colorsOf(model: Model, section: number | null, count: number): BufferAttribute | null {
    return section === null ? null : new BufferAttribute(linearColors(model.bytes(section), count), 3, true);
}

// Skin has a soft glow at grazing angles (sheen) and a broad highlight; a drawing is shown as it was painted.
function skinMaterial(text: ModelPart): SkinMaterial {
    if (text.flat)
        return new MeshBasicMaterial({ side: DoubleSide, transparent: true, alphaTest: 0.02, toneMapped: false });
    return new MeshPhysicalMaterial({
        roughness: 0.52,
        sheen: 0.35,
        sheenRoughness: 0.5,
        sheenColor: new Color(0xffb59c),
        side: FrontSide,
    });
}

// A body without a surface (two masses and a spring) is shown by its vertices.
function pointsOf(geometry: BufferGeometry, color: string): Points {
    const points = new Points(geometry, new PointsMaterial({ color, size: 14, sizeAttenuation: false }));
    points.frustumCulled = false;
    return points;
}

export class Parts {
    readonly group = new Group();
    list: Part[] = [];
    readonly lower = new Vector3();
    readonly upper = new Vector3();

    constructor(private readonly touch: () => void) {}

    build(model: Model): void {
        for (const part of this.list) part.dispose();
        this.group.clear();
        this.list = model.text.parts.map((text) => new Part(text, model, this.touch));
        for (const part of this.list) this.group.add(part.mesh);
    }

    dress(look: Look): void {
        for (const part of this.list) part.dress(look);
    }

    setOpacity(opacity: number): void {
        for (const part of this.list) part.setOpacity(opacity);
    }

    move(frame: Message): void {
        this.list.forEach((part, i) => part.move(frame, i));
        this.measure();
    }

    paint(frame: Message): Range | null {
        let range: Range | null = null;
        this.list.forEach((part, i) => (range = part.paint(frame, i) ?? range));
        return range;
    }

    // The box around what is seen, of every eighth vertex: it steers light and camera, which need no more.
    private measure(): void {
        this.lower.setScalar(Infinity);
        this.upper.setScalar(-Infinity);
        const p = new Vector3();
        for (const { positions } of this.list)
            for (let i = 0; i + 2 < positions.length; i += 24) {
                p.fromArray(positions, i);
                this.lower.min(p);
                this.upper.max(p);
            }
    }
}
