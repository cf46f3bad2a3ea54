// What becomes of a recording: files in the studio's folder, ready to be downloaded.

import type { App } from "./app";
import { makeDialog } from "./dialog";
import { h, setText } from "./dom";
import { icon } from "./icons";
import { bytesText } from "./library";
import type { Toasts } from "./toasts";
import type { Job } from "./types";

const kinds: [string, string, string][] = [
    ["glb", "GLB", "the character with its flesh as morph targets: Blender, game engines, viewers"],
    ["joints", "GLB, joints only", "flesh as helper joints: for engines without morph targets"],
    ["mp4", "Film", "MP4, as sinew sim renders it"],
    ["pc2", "Point cache PC2", "for Blender's mesh cache and others"],
    ["mdd", "Point cache MDD", "for other programs"],
    ["obj", "OBJ per frame", "plain meshes"],
    ["scene", "Scene", "JSON: what is here now, to open or edit"],
    ["log", "Log", "every command with hashes: sinew replay makes the same bits of it"],
    ["sidecar", "Sidecar", "NAME.sinew.json: the settings for sinew bake, beside the artist's file"],
];

interface Row {
    element: HTMLElement;
    bar: HTMLProgressElement;
    text: HTMLElement;
    action: HTMLElement;
}

export class Exports {
    readonly dialog: HTMLDialogElement;
    private readonly name = h("input", { type: "text", "aria-label": "Name of the file", spellcheck: false, maxlength: 80, autofocus: true });
    private readonly jobs = h("div", { class: "jobs", "aria-live": "polite" });
    private readonly about = h("p", { class: "dim" });
    private readonly rows = new Map<number, Row>();

    constructor(
        private readonly app: App,
        private readonly toasts: Toasts,
    ) {
        const list = h("div", { class: "kinds" });
        for (const [kind, title, text] of kinds) {
            const button = h("button", { class: "card", "data-kind": kind }, icon("export"), h("span", {}, h("b", {}, title), h("small", {}, text)));
            button.addEventListener("click", () => void this.start(kind));
            list.append(button);
        }
        const copy = h("button", { class: "wide", "data-kind": "words" }, icon("copy"), "Copy as command line");
        copy.addEventListener("click", () => void this.copyWords());
        this.dialog = makeDialog("Export", "exports", this.about, h("label", { class: "row" }, h("span", { class: "dim" }, "name"), this.name), list, this.jobs, copy);
        // Opening is a job, too, which the curtain shows.
        app.job.on((job) => job && kinds.some(([kind]) => kind === job.kind) && this.onJob(job));
    }

    open(): void {
        const state = this.app.state.value;
        if (!state?.scene) return;
        const { first, last } = state.recording;
        const frames = last - first;
        const seconds = (frames / state.rate).toFixed(2);
        setText(this.about, frames > 0 ? `${frames} frames, ${seconds} s, as they were shown.` : "Nothing is recorded yet: play first.");
        if (!this.name.value) this.name.value = state.scene.name.replace(/\.[a-z0-9]+$/i, "").replace(/[^\w-]+/g, "-") || "take";
        if (!this.dialog.open) this.dialog.showModal();
    }

    private async start(kind: string): Promise<void> {
        const stem = this.name.value.trim().replace(/\.[a-z0-9]+$/i, "") || "take";
        const extra = kind === "joints" ? "-joints" : ""; // a sidecar has the name of the file that it is beside
        const answer = await this.app.ask("export", { kind, name: `${stem}${extra}` });
        if (answer) this.onJob({ job: answer.job as number, kind, text: "waiting", share: 0 });
    }

    private row(job: Job): Row {
        const known = this.rows.get(job.job);
        if (known) return known;
        const cancel = h("button", { class: "quiet", "aria-label": "Cancel" }, icon("close"));
        cancel.addEventListener("click", () => this.app.do("cancel", { job: job.job }));
        const bar = h("progress", { max: 1, value: 0 });
        const text = h("span", {});
        const action = h("span", {}, cancel);
        const row = { element: h("div", { class: "job" }, text, bar, action), bar, text, action };
        this.rows.set(job.job, row);
        this.jobs.prepend(row.element);
        return row;
    }

    private onJob(job: Job): void {
        const row = this.row(job);
        if (row.element.classList.contains("done")) return;
        row.bar.value = job.share ?? 0;
        setText(row.text, `${job.kind}: ${job.text}`);
        if (!job.done && !job.error) return;
        row.element.classList.add("done");
        row.bar.remove();
        if (job.error) {
            row.element.classList.add("failed");
            setText(row.text, `${job.kind}: ${job.error.text}. ${job.error.remedy ?? ""}`);
            row.action.replaceChildren();
            this.toasts.show({ level: "error", text: job.error.text, ...(job.error.remedy ? { remedy: job.error.remedy } : {}) });
        } else this.finish(job, row);
        void this.app.refreshLists();
    }

    private finish(job: Job, row: Row): void {
        const file = job.file ?? "";
        setText(row.text, `${file}, ${bytesText(job.bytes ?? 0)}`);
        row.text.title = (job.notes ?? []).join("\n");
        const link = h("a", { class: "button", href: this.app.connection.fileAddress(file), download: file }, "Download");
        row.action.replaceChildren(link);
        if (!this.dialog.open) this.toasts.say(`${file} is ready`);
    }

    async copyWords(): Promise<void> {
        const answer = await this.app.ask("words");
        if (!answer) return;
        const text = String(answer.text);
        try {
            await navigator.clipboard.writeText(text);
            this.toasts.say(`Copied: ${text}`);
        } catch {
            // Some browsers want the clipboard only with https: show it, to be copied by hand.
            this.toasts.show({ level: "info", text });
        }
    }
}
