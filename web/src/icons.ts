// Small pictures of our own, drawn on a grid of 16 by 16 with lines of 1.5.

import { svg } from "./dom";

const paths = {
    play: "M5 3.2v9.6L12.8 8z",
    pause: "M5 3v10M11 3v10",
    step: "M4 3.2v9.6L10.5 8zM12.8 3.5v9",
    reset: "M3.2 8a4.8 4.8 0 1 0 1.6-3.6M3 2.6v3h3",
    record: "M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
    undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M3 6.5l3-3M3 6.5l3 3",
    redo: "M13 6.5H6.5a3.5 3.5 0 0 0 0 7H10M13 6.5l-3-3M13 6.5l-3 3",
    export: "M8 10V2.5M5 5l3-3 3 3M3 9.5v4h10v-4",
    copy: "M6 6h7.5v7.5H6zM10 6V2.5H2.5V10H6",
    help: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6M8 12.4v.2",
    search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4l3.1 3.1",
    file: "M4 2h5l3 3v9H4zM9 2v3h3",
    scene: "M2 13.5h12M4 13V8l4-5 4 5v5",
    body: "M8 2.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zM8 6v4M4 7.5c2-1 6-1 8 0M5.5 14 8 10l2.5 4",
    close: "M4 4l8 8M12 4l-8 8",
    tune: "M3 4.5h10M3 8h10M3 11.5h10M6 3v3M10.5 6.5v3M5 10v3",
    eye: "M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
    plot: "M2.5 2.5v11h11M4.5 10.5l2.5-4 2.5 2.5 3-5",
    lock: "M4 7.5h8v6H4zM5.8 7.5V5.2a2.2 2.2 0 0 1 4.4 0v2.3",
    warning: "M8 2.5 14 13H2zM8 6.5v3M8 11.2v.2",
    side: "M2.5 3h11v10h-11zM6 3v10",
} as const;

export type IconName = keyof typeof paths;

const filled: IconName[] = ["play", "record"];

export function icon(name: IconName): SVGElement {
    return svg(
        "svg",
        { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "icon" },
        svg("path", {
            d: paths[name],
            fill: filled.includes(name) ? "currentColor" : "none",
            stroke: "currentColor",
            "stroke-width": 1.5,
            "stroke-linecap": "round",
            "stroke-linejoin": "round",
        }),
    );
}
