// What the modules of the page share: the connection, what the engine last said, what is selected and pointed at.

import type { Message, Model } from "./codec";
import { Connection, RequestError, type Link, type Listener } from "./connection";
import { Signal } from "./signal";
import { emptyState, type Item, type Job, type Lists, type Note, type State } from "./types";

export interface LinkState {
    link: Link;
    retryIn: number; // ms
}

export function sameItem(a: Item | null, b: Item | null): boolean {
    return a === b || (!!a && !!b && a.kind === b.kind && a.body === b.body && a.index === b.index);
}

export class App implements Listener {
    readonly connection: Connection;
    readonly link = new Signal<LinkState>({ link: "connecting", retryIn: 0 });
    readonly state = new Signal<State | null>(null);
    readonly model = new Signal<Model | null>(null);
    readonly frame = new Signal<Message | null>(null);
    readonly lists = new Signal<Lists | null>(null);
    readonly selection = new Signal<Item[]>([]);
    readonly hover = new Signal<Item | null>(null);
    readonly job = new Signal<Job | null>(null);
    readonly note = new Signal<Note | null>(null);

    opening = -1; // the job; -1: nothing is being opened

    constructor(token: string) {
        this.connection = new Connection(token, this);
    }

    onLink(link: Link, retryIn: number): void {
        // The listener is told while the connection is still being made, so the first requests wait for the next turn.
        this.link.value = { link, retryIn };
        if (link === "open") queueMicrotask(() => void this.greet());
    }

    private async greet(): Promise<void> {
        const state = await this.ask("hello");
        if (state) this.state.value = { ...emptyState, ...state };
        await this.refreshLists();
    }

    async refreshLists(): Promise<void> {
        const lists = await this.ask("list");
        if (lists) this.lists.value = lists as unknown as Lists;
    }

    onEvent(event: Record<string, unknown>): void {
        if (event.event === "state") this.state.value = { ...emptyState, ...event };
        else if (event.event === "job") this.onJob(event as unknown as Job);
        else if (event.event === "note") this.note.value = event as unknown as Note;
    }

    onModel(model: Model): void {
        this.selection.value = [];
        this.hover.value = null;
        this.frame.value = null;
        this.model.value = model;
    }

    // A frame of a model that is not here (it changed meanwhile) has nothing to be drawn on.
    onFrame(frame: Message): void {
        if (frame.model === this.model.value?.serial) this.frame.value = frame;
    }

    // A refusal is told to the user; the answer is then null.
    async ask(word: string, keys: Record<string, unknown> = {}): Promise<Record<string, unknown> | null> {
        try {
            return await this.connection.ask(word, keys);
        } catch (error) {
            if (!(error instanceof RequestError)) throw error;
            this.note.value = { level: "error", text: error.message, remedy: error.remedy };
            return null;
        }
    }

    // What is opened comes alive, even if what was there before stood still.
    async open(name: string, kind: "any" | "scene" | "character" | "file" = "any"): Promise<void> {
        const answer = await this.ask("open", { name, kind });
        if (answer) this.opening = answer.job as number;
    }

    private onJob(job: Job): void {
        this.job.value = job;
        if (job.job !== this.opening || !job.done) return;
        this.opening = -1;
        if (!job.error) this.do("play");
    }

    // What the engine will say in a moment: keys that are pressed twice quickly must not read the old value twice.
    expect(change: Partial<State>): void {
        if (this.state.value) this.state.value = { ...this.state.value, ...change };
    }

    do(word: string, keys: Record<string, unknown> = {}): void {
        void this.ask(word, keys);
    }

    isSelected(item: Item): boolean {
        return this.selection.value.some((s) => sameItem(s, item));
    }

    select(item: Item | null, more: boolean): void {
        const old = this.selection.value;
        if (!item) this.selection.value = more ? old : [];
        else if (!more) this.selection.value = [item];
        else if (this.isSelected(item)) this.selection.value = old.filter((s) => !sameItem(s, item));
        else this.selection.value = [...old, item];
    }

    nameOf(item: Item): string {
        const text = this.model.value?.text;
        const body = text?.bodies[item.body];
        switch (item.kind) {
            case "handle":
                return body?.handles[item.index]?.name || `handle ${item.index}`;
            case "bone":
                return body?.bones[item.index]?.name || `bone ${item.index}`;
            case "joint":
                return body?.joints[item.index]?.name || `joint ${item.index}`;
            case "pin":
                return this.state.value?.pins[item.index]?.name || `pin ${item.index}`;
            case "prop":
                return text?.props[item.index]?.name || `prop ${item.index}`;
            case "collider":
                return text?.colliders[item.index]?.name || `collider ${item.index}`;
            case "flesh":
                return body?.name || "flesh";
        }
    }
}
