// Puts the page together.

import "./style.css";
import { Actions } from "./actions";
import { App } from "./app";
import { makeActions } from "./commands";
import { Curtain } from "./curtain";
import { h } from "./dom";
import { Drop } from "./drop";
import { Exports } from "./exports";
import { Hand } from "./hand";
import { makeHelp } from "./help";
import { makeHook } from "./hook";
import { Library } from "./library";
import { Nudge } from "./nudge";
import { Palette } from "./palette";
import { Picker } from "./pick";
import { Plots } from "./plots";
import { prefs } from "./prefs";
import { See } from "./see";
import { SelectionPanel } from "./selection";
import { Stage } from "./stage";
import { Status } from "./status";
import { makeTabs } from "./tabs";
import { Timeline } from "./timeline";
import { Tips } from "./tips";
import { Toasts } from "./toasts";
import { Transport } from "./transport";
import { Tune } from "./tune";
import { Viewer } from "./viewer";

function start(root: HTMLElement): void {
    const app = new App(new URLSearchParams(location.search).get("token") ?? "");
    const toasts = new Toasts();
    const center = h("main", { class: "view" });
    root.append(center);
    const stage = new Stage(center, prefs.value.fine);
    const viewer = new Viewer(app, stage);
    const hand = new Hand(app, stage, new Picker(stage, viewer.parts, viewer.overlays), viewer.overlays);
    const tips = new Tips(app, hand, stage.canvas);
    const drop = new Drop(app, toasts);
    const exports = new Exports(app, toasts);
    const actions = new Actions();
    const palette = new Palette(app, actions);
    const selection = new SelectionPanel(app);
    const library = new Library(app, (files) => void drop.take(files));
    const transport = new Transport(app, new Timeline(app), { onExport: () => exports.open() });
    const openPalette = (): void => palette.open();
    const openHelp = (): void => help.showModal();
    const status = new Status(app, { onHelp: openHelp, onPalette: openPalette });
    const nudge = new Nudge(app, stage);
    actions.add(...makeActions({ app, stage, viewer, hand, nudge, transport, status, exports, library, selection, openHelp, openPalette }));
    const help = makeHelp(actions.list);
    const panels = makeTabs([
        { name: "tune", title: "Tune", icon: "tune", content: [selection.element, new Tune(app).element] },
        { name: "see", title: "See", icon: "eye", content: [new See().element] },
        { name: "plots", title: "Plots", icon: "plot", content: [new Plots(app).element] },
    ]);
    center.append(tips.element, new Curtain(app).element, toasts.element, drop.progress);
    root.append(status.element, library.element, panels, transport.element, drop.element, exports.dialog, help, palette.dialog);
    viewer.range.on((range) => tips.showRange(range));
    viewer.size.use((size) => hand.setSize(size));
    app.note.on((note) => note && toasts.show(note));
    prefs.use((now) => {
        root.classList.toggle("noleft", !now.left);
        root.classList.toggle("noright", !now.right);
    });
    window.sinew = makeHook(app, stage, viewer);
}

const root = document.getElementById("app");
if (root) start(root);
