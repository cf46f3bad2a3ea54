// What the server says, as docs/studio.md has it. The names are the server's own, so they are not in camel case.

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];

export interface Material {
    density: number;
    young: number;
    poisson: number;
    damping: number;
    frequency: number;
    settling: number;
}

export interface Preset {
    name: string;
    help: string;
    material: Material;
}

export interface Method {
    name: string;
    title: string;
}

export interface Constraint {
    name?: string;
    on: boolean;
    value: number;
}

export interface BodyState {
    name: string;
    character: string;
    flat: boolean;
    regions: Material[];
    bones: string[];
    joints: { name: string; type: string; parent: number }[];
    handles: { name: string; kind: string }[];
    given: number[];
    motions: string[];
    motion: string;
    constraints: Constraint[];
}

export type ParamType = "real" | "int" | "bool" | "choice";

export interface Param {
    name: string;
    label: string;
    unit: string;
    type: ParamType;
    min: number;
    max: number;
    default: number | string | boolean;
    value: number | string | boolean;
    live: boolean;
    help: string;
    choices?: string[];
}

export interface Measure {
    name: string;
    unit: string;
}

export interface State {
    revision: number;
    loading: { text: string; share: number } | null;
    scene: { name: string; opened: string; description: string; file: string } | null; // null: nothing is open
    method: string;
    methods: Method[];
    playing: boolean;
    speed: number;
    frame: number;
    time: number;
    rate: number;
    realtime: number;
    gravity: Vec3;
    params: Param[];
    bodies: BodyState[];
    pins: { name: string; body: number; held: boolean; position: Vec3 }[];
    colliders: string[];
    props: string[];
    recording: { first: number; last: number; cached: [number, number][]; bytes: number };
    undo: string | null;
    redo: string | null;
    grabs: unknown[];
    measures: Measure[];
    stages: string[];
    warnings: string[];
    autosave: number | null; // s
    restorable: boolean; // a session before this one left something
}

// What a state is before anything is open: the engine leaves out what there is not.
export const emptyState: State = {
    revision: 0,
    loading: null,
    scene: null,
    method: "",
    methods: [],
    playing: false,
    speed: 1,
    frame: 0,
    time: 0,
    rate: 60,
    realtime: 0,
    gravity: [0, 0, 0],
    params: [],
    bodies: [],
    pins: [],
    colliders: [],
    props: [],
    recording: { first: 0, last: 0, cached: [], bytes: 0 },
    undo: null,
    redo: null,
    grabs: [],
    measures: [],
    stages: [],
    warnings: [],
    autosave: null,
    restorable: false,
};

export interface Entry {
    name: string;
    description: string;
}

export interface FileEntry {
    name: string;
    kind: string;
    bytes: number;
}

export interface Lists {
    scenes: Entry[];
    characters: Entry[];
    files: FileEntry[];
    presets: Preset[];
    methods: Method[];
}

export interface Problem {
    text: string;
    place?: string;
    remedy?: string;
}

export interface Job {
    job: number;
    kind: string;
    text: string;
    share: number;
    done?: boolean;
    file?: string;
    bytes?: number;
    notes?: string[];
    error?: Problem;
}

export interface Note {
    level: "info" | "warning" | "error";
    text: string;
    remedy?: string;
}

export type ItemKind = "flesh" | "handle" | "bone" | "joint" | "pin" | "prop" | "collider";

// Something that a hand can take: of a body, but for pins, props and colliders, which stand in the scene.
export interface Item {
    kind: ItemKind;
    body: number;
    index: number;
}

export const dofs = ["x", "y", "z", "rotation_x", "rotation_y", "rotation_z"] as const;
export const allDofs = 63;

export interface ModelPart {
    body: number;
    name: string;
    vertices: number;
    triangles: number;
    colors: number | null;
    texcoords: number | null;
    texture: number | null;
    color: string;
    flat: boolean;
    weights: number | null;
}

export interface ModelBone {
    name: string;
    head: Vec3;
    tail: Vec3;
    radius: number;
    parent: number;
}

export interface ModelBody {
    name: string;
    bones: ModelBone[];
    joints: { name: string; type: string; position: Vec3 }[];
    handles: { name: string; kind: string; position: Vec3 }[];
    edges: number | null;
}

// size by kind: sphere radius; box and room half sides; capsule radius, half length; stairs run, rise, width; heightfield
// spacing.
export interface ModelSolid {
    name: string;
    kind: string;
    size: Vec3;
    steps?: number;
    columns?: number;
    rows?: number;
    heights?: number | null;
    vertices?: number | null;
    triangles?: number | null;
}

export interface ModelText {
    parts: ModelPart[];
    bodies: ModelBody[];
    colliders: ModelSolid[];
    props: ModelSolid[];
    camera: { position: Vec3; target: Vec3; field_of_view: number } | null;
    bounds: { lower: Vec3; upper: Vec3 };
}
