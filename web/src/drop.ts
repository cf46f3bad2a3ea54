// Files dropped anywhere: sent to the studio's folder, then opened.

import type { App } from "./app";
import { h, setText } from "./dom";
import { bytesText } from "./library";
import type { Toasts } from "./toasts";

// XMLHttpRequest, because fetch does not tell how far an upload is.
function upload(address: string, file: File, onShare: (share: number) => void): Promise<string> {
    return new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open("PUT", address);
        request.upload.onprogress = (e) => e.lengthComputable && onShare(e.loaded / e.total);
        request.onerror = () => reject(new Error("the upload was cut off"));
        request.onload = () => {
            if (request.status < 200 || request.status > 299) reject(new Error(refusal(request)));
            else resolve(String((JSON.parse(request.responseText) as { name: string }).name));
        };
        request.send(file);
    });
}

function refusal(request: XMLHttpRequest): string {
    try {
        const answer = JSON.parse(request.responseText) as { error?: { text?: string } };
        if (answer.error?.text) return answer.error.text;
    } catch {
        // Not JSON: the status has to do.
    }
    return request.status === 413 ? "the file is too large" : `the server refused it (${request.status})`;
}

export class Drop {
    readonly element = h("div", { class: "dropzone", hidden: true }, h("p", {}, "Drop it to open it"));
    readonly progress = h("div", { class: "upload", hidden: true, role: "status" });
    private readonly bar = h("progress", { max: 1, value: 0 });
    private readonly text = h("span", {});

    constructor(
        private readonly app: App,
        private readonly toasts: Toasts,
    ) {
        this.progress.append(this.text, this.bar);
        let depth = 0;
        window.addEventListener("dragenter", (e) => {
            e.preventDefault();
            ++depth;
            this.element.hidden = !e.dataTransfer?.types.includes("Files");
        });
        window.addEventListener("dragleave", () => (this.element.hidden = --depth <= 0 || this.element.hidden));
        window.addEventListener("dragover", (e) => e.preventDefault());
        window.addEventListener("drop", (e) => {
            e.preventDefault();
            depth = 0;
            this.element.hidden = true;
            void this.take([...(e.dataTransfer?.files ?? [])]);
        });
    }

    // All are sent, for a sidecar or a texture may belong to the first; the first that can be opened is.
    async take(files: File[]): Promise<void> {
        const names: string[] = [];
        for (const file of files) {
            const name = await this.send(file);
            if (name) names.push(name);
        }
        await this.app.refreshLists();
        const first = names.find((n) => !/\.(txt|md|bin|jpe?g)$/i.test(n)) ?? names[0];
        if (first) await this.app.open(first, "file");
    }

    private async send(file: File): Promise<string | null> {
        this.progress.hidden = false;
        setText(this.text, `${file.name}, ${bytesText(file.size)}`);
        this.bar.value = 0;
        try {
            return await upload(this.app.connection.fileAddress(file.name), file, (share) => (this.bar.value = share));
        } catch (error) {
            this.toasts.show({ level: "error", text: `${file.name}: ${(error as Error).message}` });
            return null;
        } finally {
            this.progress.hidden = true;
        }
    }
}
