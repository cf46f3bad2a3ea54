// Live curves of the last seconds: energies, times of the stages, contacts, whatever the engine measures.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { App } from "./app";
import { Kind, type Message } from "./codec";
import { h } from "./dom";
import { prefs } from "./prefs";

const kept = 300; // frames
const colors = ["#ff8a5c", "#7fd4ff", "#f2c14e", "#9be38f", "#c79bff", "#ff7fa8", "#8fb8ff", "#d9d2c5"];

interface Curve {
    name: string;
    kind: Kind.measures | Kind.stages;
    index: number;
}

interface Group {
    title: string;
    unit: string;
    curves: Curve[];
}

// Curves of one unit share a picture; more than fit are left out, the first ones being the most telling.
export class Plots {
    readonly element = h("div", { class: "plots" });
    private plots: { plot: uPlot; group: Group }[] = [];
    private groups: Group[] = [];
    private times: number[] = [];
    private rows: Map<string, number[]> = new Map();
    private shape = "";
    private stale = false;

    constructor(private readonly app: App) {
        app.frame.on((frame) => frame && this.add(frame));
        app.model.on(() => this.clear());
        setInterval(() => this.draw(), 150);
        prefs.on(() => (this.stale = true));
    }

    private clear(): void {
        this.times = [];
        this.rows.clear();
        this.shape = "";
    }

    private findGroups(): void {
        const state = this.app.state.value;
        if (!state) return;
        const shape = JSON.stringify([state.measures, state.stages]);
        if (shape === this.shape) return;
        this.shape = shape;
        const byUnit = new Map<string, Curve[]>();
        state.measures.forEach((m, index) =>
            m.name === "time" || m.name === "frame" || byUnit.set(m.unit, [...(byUnit.get(m.unit) ?? []), { name: m.name, kind: Kind.measures, index }]),
        );
        const stages = state.stages.map((name, index) => ({ name, kind: Kind.stages as const, index }));
        this.groups = [...byUnit].map(([unit, curves]) => ({ title: titleOf(unit, curves), unit, curves: curves.slice(0, 8) }));
        this.groups.sort((a, b) => Number(b.unit === "J") - Number(a.unit === "J"));
        if (stages.length > 0) this.groups.splice(1, 0, { title: "time per frame", unit: "ms", curves: stages.slice(0, 8) });
        this.build();
    }

    private build(): void {
        for (const { plot } of this.plots) plot.destroy();
        this.element.replaceChildren();
        this.plots = this.groups.map((group) => {
            const holder = h("section", {}, h("h2", {}, group.title, h("small", { class: "dim" }, group.unit ? ` ${group.unit}` : "")));
            this.element.append(holder);
            return { group, plot: new uPlot(optionsOf(group), [[]], holder) };
        });
        if (this.groups.length === 0) this.element.append(h("p", { class: "dim empty" }, "Curves appear as the scene plays."));
    }

    private add(frame: Message): void {
        this.findGroups();
        // Going back in time begins anew: a curve that runs backwards tells nothing.
        const last = this.times.at(-1);
        if (last !== undefined && frame.time <= last) {
            if (frame.time === last || frame.scrubbing) return;
            this.times = [];
            this.rows.clear();
        }
        this.times.push(frame.time);
        if (this.times.length > kept) this.times.shift();
        for (const { curves } of this.groups)
            for (const curve of curves) {
                const row = this.rows.get(keyOf(curve)) ?? [];
                row.push(frame.floatsOf(curve.kind)[curve.index] ?? NaN);
                if (row.length > kept) row.shift();
                this.rows.set(keyOf(curve), row);
            }
        this.stale = true;
    }

    private draw(): void {
        if (!this.stale || prefs.value.tab !== "plots" || !prefs.value.right || document.hidden) return;
        this.stale = false;
        const width = this.element.clientWidth - 24;
        for (const { plot, group } of this.plots) {
            if (plot.width !== width) plot.setSize({ width, height: 120 });
            plot.setData([this.times, ...group.curves.map((c) => this.rows.get(keyOf(c)) ?? [])]);
        }
    }
}

function keyOf(curve: Curve): string {
    return `${curve.kind}.${curve.index}`;
}

function titleOf(unit: string, curves: Curve[]): string {
    if (unit === "J") return "energy";
    return curves.length === 1 ? (curves[0]?.name ?? "") : curves.map((c) => c.name).slice(0, 3).join(", ");
}

function optionsOf(group: Group): uPlot.Options {
    const axis = { stroke: "#969da8", grid: { stroke: "#2a3039", width: 1 }, ticks: { show: false }, font: "10px system-ui" };
    const series = group.curves.map((c, i) => ({ label: c.name, stroke: colors[i % colors.length] ?? "#fff", width: 1.5, points: { show: false } }));
    return {
        width: 250,
        height: 120,
        cursor: { y: false, points: { size: 5 } },
        legend: { live: false },
        scales: { x: { time: false } },
        axes: [{ ...axis, size: 20, values: (_, v) => v.map((t) => `${Number(t.toFixed(2))}`) }, { ...axis, size: 44, values: (_, v) => v.map(short) }],
        series: [{ label: "s" }, ...series],
    };
}

function short(value: number): string {
    const size = Math.abs(value);
    if (size >= 1e6) return `${value / 1e6}M`;
    if (size >= 1e3) return `${value / 1e3}k`;
    return String(Number(value.toPrecision(3)));
}
