// The keys and words of the page, each with what it does.

import type { Action } from "./actions";
import type { App } from "./app";
import type { Exports } from "./exports";
import type { Hand } from "./hand";
import type { Library } from "./library";
import type { Nudge } from "./nudge";
import { prefs, setPrefs, type Prefs } from "./prefs";
import type { SelectionPanel } from "./selection";
import type { Stage } from "./stage";
import type { Status } from "./status";
import type { Transport } from "./transport";
import type { Item, Vec3 } from "./types";
import type { Viewer } from "./viewer";

export interface Tools {
    app: App;
    stage: Stage;
    viewer: Viewer;
    hand: Hand;
    nudge: Nudge;
    transport: Transport;
    status: Status;
    exports: Exports;
    library: Library;
    selection: SelectionPanel;
    openHelp(): void;
    openPalette(): void;
}

type Flag = { [K in keyof Prefs]: Prefs[K] extends boolean ? K : never }[keyof Prefs];

function flip(key: Flag): () => void {
    return () => setPrefs({ [key]: !prefs.value[key] });
}

// Off, and back to what it was.
function makeGravitySwitch(app: App): () => void {
    let before: Vec3 = [0, -9.81, 0];
    return () => {
        const now: Vec3 = app.state.value?.gravity ?? [0, 0, 0];
        const isOn = now.some((x) => x !== 0);
        if (isOn) before = now;
        const gravity: Vec3 = isOn ? [0, 0, 0] : before;
        app.do("gravity", { vector: gravity });
        app.expect({ gravity });
    };
}

// Tab goes through handles, or through bones where there are none.
function cycle(app: App, by: number): void {
    const bodies = app.model.value?.text.bodies ?? [];
    const all: Item[] = bodies.flatMap((b, body) => b.handles.map((_, index) => ({ kind: "handle" as const, body, index })));
    if (all.length === 0) all.push(...bodies.flatMap((b, body) => b.bones.map((_, index) => ({ kind: "bone" as const, body, index }))));
    const last = app.selection.value.at(-1);
    const at = all.findIndex((i) => last?.kind === i.kind && last.body === i.body && last.index === i.index);
    const next = all[(at + by + all.length) % Math.max(1, all.length)];
    if (next) app.select(next, false);
}

export function makeActions(t: Tools): Action[] {
    const { app } = t;
    const turn = (azimuth: number, elevation: number) => (): void => {
        t.stage.view.turn(azimuth, elevation);
        t.stage.touch();
    };
    const nudge = (right: number, up: number) => (): void => void t.nudge.move(right, up, t.viewer.size.value);
    const quarter = Math.PI / 2;
    return [
        { group: "Play", label: "Play or pause", keys: ["Space"], run: () => t.transport.toggle() },
        { group: "Play", label: "One frame on", keys: ["."], run: () => app.do("step") },
        { group: "Play", label: "Back to the start", keys: ["R"], run: () => app.do("reset") },
        { group: "Play", label: "Record a new take, or end it", keys: ["Shift+R"], run: () => t.transport.record() },
        { group: "Play", label: "Slower", keys: ["["], run: () => t.transport.faster(-1) },
        { group: "Play", label: "Faster", keys: ["]"], run: () => t.transport.faster(1) },
        { group: "Play", label: "Gravity on or off", keys: ["G"], run: makeGravitySwitch(app) },
        { group: "Take hold", label: "While dragging: keep it where it is let go", keys: ["K"], run: () => t.hand.toggleKeep(), hidden: true },
        { group: "Take hold", label: "Lock the selected handles, or let them go", keys: ["L"], run: () => t.selection.toggleAll() },
        { group: "Take hold", label: "Next handle", keys: ["Tab"], run: () => cycle(app, 1) },
        { group: "Take hold", label: "Handle before", keys: ["Shift+Tab"], run: () => cycle(app, -1) },
        { group: "Take hold", label: "Select nothing", keys: ["Escape"], run: () => app.select(null, false) },
        { group: "Take hold", label: "Move the selection", shown: "arrow keys", keys: ["ArrowLeft"], run: nudge(-1, 0), hidden: true },
        { group: "Take hold", label: "", keys: ["ArrowRight"], run: nudge(1, 0), hidden: true },
        { group: "Take hold", label: "", keys: ["ArrowUp"], run: nudge(0, 1), hidden: true },
        { group: "Take hold", label: "", keys: ["ArrowDown"], run: nudge(0, -1), hidden: true },
        { group: "Look", label: "Bones", keys: ["B"], run: flip("bones") },
        { group: "Look", label: "Joints", keys: ["J"], run: flip("joints") },
        { group: "Look", label: "Handles", keys: ["H"], run: flip("handles") },
        { group: "Look", label: "Elements", keys: ["W"], run: flip("elements") },
        { group: "Look", label: "Contact forces", keys: ["C"], run: flip("contacts") },
        { group: "Look", label: "See through flesh", keys: ["X"], run: () => setPrefs({ opacity: prefs.value.opacity > 0.9 ? 0.3 : 1 }) },
        { group: "Look", label: "Camera follows", keys: ["F"], run: flip("follow") },
        { group: "Look", label: "All in the picture", keys: ["A", "Home"], run: () => t.viewer.frameAll() },
        { group: "Look", label: "From the front", keys: ["1"], run: turn(0, 0) },
        { group: "Look", label: "From the side", keys: ["3"], run: turn(quarter, 0) },
        { group: "Look", label: "From above", keys: ["7"], run: turn(0, 0.98 * quarter) },
        { group: "Work", label: "Undo", keys: ["Ctrl+Z"], run: () => void t.status.goBack("undo") },
        { group: "Work", label: "Redo", keys: ["Ctrl+Shift+Z", "Ctrl+Y"], run: () => void t.status.goBack("redo") },
        { group: "Work", label: "Search scenes, characters, files", keys: ["/"], run: () => t.library.focus() },
        { group: "Work", label: "Do anything", keys: ["Ctrl+K"], run: t.openPalette, hidden: true },
        { group: "Work", label: "Export", keys: ["E"], run: () => t.exports.open() },
        { group: "Work", label: "Copy as command line", keys: [], run: () => void t.exports.copyWords() },
        { group: "Work", label: "Shortcuts", keys: ["?"], run: t.openHelp },
        { group: "Work", label: "Library and panels", keys: ["\\"], run: () => setPrefs({ left: !prefs.value.left, right: !prefs.value.left }) },
    ];
}
