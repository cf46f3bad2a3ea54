// How things are looked at: kept by the browser, never sent to the engine's log.

import { Signal } from "./signal";

export type Look = "skin" | "strain" | "speed" | "contact" | "stiffness" | "weights";

export interface Prefs {
    opacity: number;
    look: Look;
    bones: boolean;
    joints: boolean;
    handles: boolean;
    pins: boolean;
    elements: boolean;
    contacts: boolean;
    pressure: boolean;
    colliders: boolean;
    shadows: boolean;
    follow: boolean;
    fine: boolean; // draw well even where that is slow
    push: number; // N per character's height of pulling
    left: boolean;
    right: boolean;
    tab: "tune" | "see" | "plots";
    hinted: boolean; // has dragged something before
}

const defaults: Prefs = {
    opacity: 1,
    look: "skin",
    bones: false,
    joints: false,
    handles: true,
    pins: true,
    elements: false,
    contacts: false,
    pressure: false,
    colliders: true,
    shadows: true,
    follow: false,
    fine: false,
    push: 300,
    left: true,
    right: true,
    tab: "tune",
    hinted: false,
};

const place = "sinew.view.1";

// Only what is of the right type is taken over: an older page may have left other things.
function load(): Prefs {
    const prefs: Record<string, unknown> = { ...defaults };
    try {
        const kept = JSON.parse(localStorage.getItem(place) ?? "{}") as Record<string, unknown>;
        for (const key of Object.keys(prefs)) if (typeof kept[key] === typeof prefs[key]) prefs[key] = kept[key];
    } catch {
        // No storage, or not ours: the defaults are good.
    }
    return prefs as unknown as Prefs;
}

export const prefs = new Signal<Prefs>(load());

export function setPrefs(change: Partial<Prefs>): void {
    prefs.value = { ...prefs.value, ...change };
    try {
        localStorage.setItem(place, JSON.stringify(prefs.value));
    } catch {
        // Private windows may have no storage; the settings then last as long as the page.
    }
}
