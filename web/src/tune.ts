// The panel of everything that can be tuned, made from what the engine says there is.

import { Pane, type FolderApi } from "tweakpane";
import type { App } from "./app";
import { h } from "./dom";
import { Field, type FieldDef } from "./field";
import { emptyState, type BodyState, type Material, type Param, type State } from "./types";

type Source = (state: State) => string | number | boolean | undefined;

interface Row {
    field: Field;
    source: Source;
}

// What the softness of a preset may be: beyond, it is a material of its own.
const [leastSoftness, mostSoftness] = [0.1, 10];

const materialRows: { key: keyof Material & ("density" | "young" | "poisson" | "damping" | "frequency" | "settling"); label: string; help: string; min: number; max: number; step: number }[] = [
    { key: "young", label: "stiffness, Pa", help: "Young's modulus: fat 3e3, muscle 3e4, rubber 1e6", min: 1, max: 1e10, step: 10 },
    { key: "poisson", label: "keeps volume", help: "Poisson's ratio: 0.5 keeps all of it", min: 0, max: 0.495, step: 0.005 },
    { key: "density", label: "density, kg/m\u00b3", help: "water and flesh: 1000", min: 1, max: 30000, step: 10 },
    { key: "damping", label: "damping, 1/s", help: "how fast motion dies away inside the flesh", min: 0, max: 100, step: 0.1 },
    { key: "frequency", label: "frequency, Hz", help: "how fast it wobbles, where the method asks for that", min: 0, max: 100, step: 0.1 },
    { key: "settling", label: "settling, s", help: "how long it wobbles, where the method asks for that", min: 0, max: 100, step: 0.05 },
];

const materialKeys = materialRows.map((r) => r.key);

export class Tune {
    readonly element = h("div", { class: "pane" });
    private pane: Pane | null = null;
    private rows: Row[] = [];
    private shape = "";
    private region = -1;
    private readonly closed = new Set<string>();

    constructor(private readonly app: App) {
        app.state.use(() => this.update());
        app.lists.on(() => this.update());
    }

    // What the panel is made of; values are not in it.
    private shapeOf(state: State): string {
        const bodies = state.bodies.map((b) => [b.name, b.regions.length, b.motions, b.constraints.length]);
        const params = state.params.map((p) => [p.name, p.live]);
        return JSON.stringify([state.scene?.opened, state.method, bodies, params, this.app.lists.value?.presets.length, this.region]);
    }

    private update(): void {
        const state = this.app.state.value;
        if (!state?.scene) return;
        const shape = this.shapeOf(state);
        if (shape !== this.shape) this.build(state);
        this.shape = shape;
        for (const { field, source } of this.rows) {
            const value = source(state);
            if (value !== undefined) field.show(value);
        }
    }

    private build(state: State): void {
        const top = this.element.parentElement?.scrollTop ?? 0;
        this.pane?.dispose();
        this.rows = [];
        this.pane = new Pane({ container: this.element });
        this.addWorld(this.pane, state);
        state.bodies.forEach((body, i) => this.addBody(this.pane as Pane, state, body, i));
        this.addParams(this.pane, state);
        if (this.element.parentElement) this.element.parentElement.scrollTop = top;
    }

    private folder(parent: Pane, title: string, open = true): FolderApi {
        const folder = parent.addFolder({ title, expanded: open && !this.closed.has(title) });
        folder.on("fold", (e) => (e.expanded ? this.closed.delete(title) : this.closed.add(title)));
        return folder;
    }

    private add(folder: FolderApi, source: Source, def: FieldDef): void {
        this.rows.push({ field: new Field(folder, def), source });
    }

    private addWorld(pane: Pane, state: State): void {
        const folder = this.folder(pane, "World");
        const axes = [
            { axis: 1, label: "gravity, m/s\u00b2", sign: -1, help: "downwards; the earth has 9.81", normal: 9.81 },
            { axis: 0, label: "sideways, m/s\u00b2", sign: 1, help: "gravity to the right", normal: 0 },
        ] as const;
        for (const { axis, label, sign, help, normal } of axes) {
            const send = (value: number): void => {
                const vector = [...(this.app.state.value?.gravity ?? [0, -9.81, 0])];
                vector[axis] = sign * value;
                this.app.do("gravity", { vector });
            };
            this.add(folder, (s) => sign * s.gravity[axis] || 0, {
                label,
                help,
                value: sign * state.gravity[axis] || 0,
                min: -20,
                max: 20,
                step: 0.01,
                send: (v) => send(v as number),
                reset: () => send(normal),
            });
        }
    }

    private addBody(pane: Pane, state: State, body: BodyState, index: number): void {
        const name = state.bodies.length > 1 ? `${body.name}: ` : "";
        if (body.motions.length > 0) this.addMotion(this.folder(pane, `${name}motion`), body, index);
        if (body.constraints.length > 0) this.addRules(this.folder(pane, `${name}rules`), body, index);
        if (body.regions.length > 0) this.addMaterial(this.folder(pane, `${name}material`, index === 0), body, index);
    }

    private addMotion(folder: FolderApi, body: BodyState, index: number): void {
        this.add(folder, (s) => s.bodies[index]?.motion, {
            label: "follows",
            help: "the artist's motion that the bones follow",
            value: body.motion,
            choices: [{ text: "none", value: "" }, ...body.motions.map((m) => ({ text: m, value: m }))],
            restarts: true,
            send: (name) => this.app.do("motion", name === "" ? { body: index } : { body: index, name }),
            reset: () => this.app.do("motion", { body: index }),
        });
    }

    private addRules(folder: FolderApi, body: BodyState, index: number): void {
        body.constraints.forEach((rule, constraint) => {
            const send = (change: Record<string, unknown>): void => {
                const now = this.app.state.value?.bodies[index]?.constraints[constraint];
                this.app.do("rule", { body: index, constraint, on: now?.on ?? rule.on, value: now?.value ?? rule.value, ...change });
            };
            const of = (s: State) => s.bodies[index]?.constraints[constraint];
            this.add(folder, (s) => of(s)?.on, { label: rule.name ?? `rule ${constraint + 1}`, value: rule.on, send: (on) => send({ on }) });
            this.add(folder, (s) => of(s)?.value, { label: "\u2003value", value: rule.value, send: (value) => send({ value }) });
        });
    }

    private addMaterial(folder: FolderApi, body: BodyState, index: number): void {
        if (this.region >= body.regions.length) this.region = -1;
        if (body.regions.length > 1)
            new Field(folder, {
                label: "region",
                value: this.region,
                choices: [{ text: "all", value: -1 }, ...body.regions.map((_, i) => ({ text: `${i + 1}`, value: i }))],
                send: (v) => {
                    this.region = v as number;
                    queueMicrotask(() => this.update());
                },
            });
        const of = (s: State): Material | undefined => s.bodies[index]?.regions[Math.max(0, this.region)];
        const send = (keys: Record<string, unknown>): void => this.app.do("material", { body: index, region: this.region, ...keys });
        this.addPreset(folder, of, send);
        for (const row of materialRows) {
            const all = (): Record<string, number | undefined> => {
                const now = this.app.state.value ? of(this.app.state.value) : undefined;
                return Object.fromEntries(materialKeys.map((k) => [k, now?.[k]]));
            };
            const state = this.app.state.value;
            const value = (state && of(state)?.[row.key]) ?? 0;
            this.add(folder, (s) => of(s)?.[row.key], { ...row, value, send: (v) => send({ ...all(), [row.key]: v }) });
        }
    }

    // The engine keeps numbers, not names: which preset they are, and how much softer, is read off them.
    private likeness(material: Material | undefined): { name: string; softness: number } {
        for (const preset of this.app.lists.value?.presets ?? []) {
            const p = preset.material;
            if (!material || p.density !== material.density || p.poisson !== material.poisson) continue;
            const softness = p.young / material.young;
            const alike = p.damping === material.damping || p.young === material.young;
            if (alike && softness >= leastSoftness && softness <= mostSoftness) return { name: preset.name, softness };
        }
        return { name: "", softness: 1 };
    }

    private addPreset(folder: FolderApi, of: (s: State) => Material | undefined, send: (keys: Record<string, unknown>) => void): void {
        const presets = this.app.lists.value?.presets ?? [];
        const now = (): { name: string; softness: number } => this.likeness(of(this.app.state.value ?? emptyState));
        const choices = [{ text: "own", value: "" }, ...presets.map((p) => ({ text: p.name, value: p.name }))];
        this.add(folder, (s) => this.likeness(of(s)).name, {
            label: "like",
            help: `what it is made of\n${presets.map((p) => `${p.name}: ${p.help}`).join("\n")}`,
            value: now().name,
            choices,
            send: (preset) => preset !== "" && send({ preset }),
        });
        const soften = (softness: number): void => {
            const preset = now().name;
            if (preset) send({ preset, softness });
            else this.app.note.value = { level: "info", text: "softness is that of a preset: choose what it is like first" };
        };
        this.add(folder, (s) => this.likeness(of(s)).softness, {
            label: "softness",
            help: "2: twice as soft as the preset",
            value: now().softness,
            min: leastSoftness,
            max: mostSoftness,
            step: 0.05,
            send: (softness) => soften(softness as number),
            reset: () => soften(1),
        });
    }

    private addParams(pane: Pane, state: State): void {
        const groups = new Map<string, Param[]>();
        for (const param of state.params) {
            const group = param.name.split(".")[0] ?? "";
            groups.set(group, [...(groups.get(group) ?? []), param]);
        }
        // The method's own come first; what all share is seldom touched.
        const order = [...groups.keys()].sort((a, b) => Number(a === "sim") - Number(b === "sim"));
        for (const group of order) {
            const folder = this.folder(pane, group, group !== "sim");
            for (const param of groups.get(group) ?? []) this.addParam(folder, param);
        }
    }

    private addParam(folder: FolderApi, param: Param): void {
        const short = param.label || param.name.slice(param.name.indexOf(".") + 1);
        const isNumber = param.type === "real" || param.type === "int";
        this.add(folder, (s) => s.params.find((p) => p.name === param.name)?.value, {
            label: param.unit ? `${short}, ${param.unit}` : short,
            help: `${param.help}\n${param.name}`,
            value: param.value,
            ...(isNumber ? { min: param.min, max: param.max } : {}),
            ...(param.type === "int" ? { step: 1 } : {}),
            ...(param.choices?.length ? { choices: param.choices.map((c) => ({ text: c, value: c })) } : {}),
            restarts: !param.live,
            send: (value) => this.app.do("set", { name: param.name, value }),
            reset: () => this.app.do("set", { name: param.name, value: null }),
        });
    }
}
