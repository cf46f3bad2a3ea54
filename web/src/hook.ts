// window.sinew: what tests may read. Nothing can be changed through it.

import type { App } from "./app";
import { Kind } from "./codec";
import type { Stage } from "./stage";
import type { State } from "./types";
import type { Viewer } from "./viewer";

export interface Hook {
    readonly state: State | null;
    readonly link: string;
    readonly opening: boolean;
    readonly frame: { number: number; serial: number; time: number; scrubbing: boolean } | null;
    readonly drawn: number;
    readonly shown: number;
    readonly selection: unknown;
    readonly hover: unknown;
    readonly camera: { position: number[]; target: number[]; flat: boolean };
    readonly parts: { name: string; vertices: number }[];
    positions(part: number): number[];
    values(part: number): number;
    marks(): { kind: string; body: number; index: number; x: number; y: number; place: number[] }[];
    project(point: [number, number, number]): [number, number];
}

declare global {
    interface Window {
        sinew: Hook;
    }
}

export function makeHook(app: App, stage: Stage, viewer: Viewer): Hook {
    return {
        get state() {
            return app.state.value;
        },
        get link() {
            return app.link.value.link;
        },
        get opening() {
            return app.opening >= 0;
        },
        get frame() {
            const f = app.frame.value;
            return f && { number: f.frame, serial: f.serial, time: f.time, scrubbing: f.scrubbing };
        },
        get drawn() {
            return stage.drawn;
        },
        get shown() {
            return viewer.shown;
        },
        get selection() {
            return structuredClone(app.selection.value);
        },
        get hover() {
            return structuredClone(app.hover.value);
        },
        get camera() {
            const { camera, target, flat } = stage.view;
            return { position: camera.position.toArray(), target: target.toArray(), flat };
        },
        get parts() {
            return viewer.parts.list.map((p) => ({ name: p.text.name, vertices: p.text.vertices }));
        },
        positions: (part) => Array.from(viewer.parts.list[part]?.positions ?? []),
        values: (part) => app.frame.value?.find(Kind.values, part)?.count ?? 0,
        marks: () =>
            viewer.overlays.marks.map(({ item, place }) => {
                const { x, y } = stage.view.project(place);
                return { ...item, x, y, place: place.toArray() };
            }),
        project: ([x, y, z]) => {
            const p = stage.view.project(stage.view.target.clone().set(x, y, z));
            return [p.x, p.y];
        },
    };
}
