// The list of shortcuts, made from the actions, and what the mouse does.

import { keysText, type Action } from "./actions";
import { makeDialog } from "./dialog";
import { h } from "./dom";

const mouse: [string, string][] = [
    ["drag", "flesh, bone, joint, handle, pin, prop or collider: it follows"],
    ["drag beside", "turn the view; in flat scenes move it"],
    ["right button", "turn the view, from anywhere"],
    ["middle button, two fingers", "move the view"],
    ["wheel, pinch", "nearer and farther; while dragging: turn what is held"],
    ["Alt + drag", "push"],
    ["Shift + click", "select several handles; dragging one moves all"],
    ["double click on a label", "its default"],
];

const groups: Action["group"][] = ["Play", "Take hold", "Look", "Work"];

function table(title: string, rows: [string, string][]): HTMLElement {
    const list = h("dl", {});
    for (const [keys, text] of rows) list.append(h("dt", {}, h("kbd", {}, keys)), h("dd", {}, text));
    return h("section", {}, h("h2", {}, title), list);
}

export function makeHelp(actions: Action[]): HTMLDialogElement {
    const tables = groups.map((group) => {
        const rows = actions.filter((a) => a.group === group && a.keys.length > 0 && a.label !== "");
        return table(group, rows.map((a) => [a.shown ?? a.keys.map(keysText).join("  "), a.label]));
    });
    return makeDialog("Shortcuts", "help", h("div", { class: "columns" }, table("Mouse", mouse), ...tables));
}
