// The panel of what is shown. Nothing here changes what is computed.

import { Pane } from "tweakpane";
import { h } from "./dom";
import { prefs, setPrefs, type Look, type Prefs } from "./prefs";

const looks: Record<string, Look> = {
    skin: "skin",
    strain: "strain",
    speed: "speed",
    contact: "contact",
    stiffness: "stiffness",
    "whose bones": "weights",
};

type Switch = { [K in keyof Prefs]: Prefs[K] extends boolean ? K : never }[keyof Prefs];

const switches: [Switch, string, string][] = [
    ["handles", "handles", "H"],
    ["bones", "bones", "B"],
    ["joints", "joints", "J"],
    ["pins", "pins", ""],
    ["elements", "elements", "W"],
    ["contacts", "contact forces", "C"],
    ["pressure", "centre of pressure", ""],
    ["colliders", "colliders", ""],
    ["shadows", "shadows", ""],
    ["follow", "camera follows", "F"],
    ["fine", "finest drawing", ""],
];

export class See {
    readonly element = h("div", { class: "pane" });

    constructor() {
        const shown: Prefs = { ...prefs.value };
        const pane = new Pane({ container: this.element });
        const flesh = pane.addFolder({ title: "Flesh" });
        flesh.addBinding(shown, "opacity", { min: 0, max: 1, step: 0.01 });
        flesh.addBinding(shown, "look", { label: "colours", options: looks });
        const marks = pane.addFolder({ title: "Show" });
        for (const [key, label, shortcut] of switches) {
            const binding = marks.addBinding(shown, key, { label });
            if (shortcut) binding.element.title = `key ${shortcut}`;
            if (key === "fine") binding.element.title = "shadows and smooth edges even without a graphics card; when the page is loaded again";
        }
        const hand = pane.addFolder({ title: "Hand" });
        hand.addBinding(shown, "push", { label: "push, N", min: 1, max: 5000, step: 1 }).element.title =
            "force of a push (Alt and drag) as long as the character is high";
        let quiet = false;
        pane.on("change", () => !quiet && setPrefs({ ...shown }));
        prefs.on((now) => {
            Object.assign(shown, now);
            quiet = true;
            pane.refresh();
            quiet = false;
        });
    }
}
