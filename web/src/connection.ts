// The socket: requests with answers, events, frames. It comes back by itself when the server does; what the page shows
// stays meanwhile.

import { Message, Model } from "./codec";
import type { Problem } from "./types";

export type Link = "connecting" | "open" | "lost" | "refused";

export class RequestError extends Error {
    readonly remedy: string;
    readonly place: string;

    constructor(problem: Problem) {
        super(problem.text);
        this.remedy = problem.remedy ?? "";
        this.place = problem.place ?? "";
    }
}

export interface Listener {
    onLink(link: Link, retryIn: number): void;
    onEvent(event: Record<string, unknown>): void;
    onFrame(frame: Message): void;
    onModel(model: Model): void;
}

interface Waiting {
    resolve(answer: Record<string, unknown>): void;
    reject(error: RequestError): void;
}

const slowestRetry = 5000;

export class Connection {
    private socket: WebSocket | null = null;
    private next = 1;
    private retry = 250;
    private opened = 0;
    private readonly waiting = new Map<number, Waiting>();

    constructor(
        readonly token: string,
        private readonly listener: Listener,
    ) {
        this.connect();
    }

    get isOpen(): boolean {
        return this.socket?.readyState === WebSocket.OPEN;
    }

    fileAddress(name: string): string {
        return `file/${encodeURIComponent(name)}?token=${encodeURIComponent(this.token)}`;
    }

    private connect(): void {
        this.listener.onLink("connecting", 0);
        const address = new URL(`socket?token=${encodeURIComponent(this.token)}`, location.href);
        address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
        const socket = new WebSocket(address, "sinew.1");
        socket.binaryType = "arraybuffer";
        socket.onopen = () => this.onOpen();
        socket.onclose = () => this.onClose();
        socket.onmessage = (event) => this.onMessage(event.data as string | ArrayBuffer);
        this.socket = socket;
    }

    private onOpen(): void {
        this.retry = 250;
        ++this.opened;
        this.listener.onLink("open", 0);
    }

    // A server that was never reached although it sent this page does not know the token: waiting would not help, but
    // we go on asking seldom, for it may have been started again with the same one.
    private onClose(): void {
        for (const w of this.waiting.values()) w.reject(new RequestError({ text: "the connection was lost" }));
        this.waiting.clear();
        this.listener.onLink(this.opened === 0 ? "refused" : "lost", this.retry);
        setTimeout(() => this.connect(), this.retry);
        this.retry = Math.min(slowestRetry, this.retry * 1.7);
    }

    private onMessage(data: string | ArrayBuffer): void {
        if (typeof data === "string") this.onText(JSON.parse(data) as Record<string, unknown>);
        else this.onBinary(data);
    }

    private onText(message: Record<string, unknown>): void {
        if (typeof message.event === "string") {
            this.listener.onEvent(message);
            return;
        }
        const waiting = this.waiting.get(message.id as number);
        this.waiting.delete(message.id as number);
        if (message.ok === true) waiting?.resolve(message);
        else waiting?.reject(new RequestError((message.error ?? { text: "the server refused" }) as Problem));
    }

    private onBinary(data: ArrayBuffer): void {
        const message = new Message(data);
        if (message.isModel) {
            this.listener.onModel(new Model(message));
            return;
        }
        // At once, not after drawing: the next frame travels while this one is drawn.
        this.post({ do: "ack", serial: message.serial });
        this.listener.onFrame(message);
    }

    private post(request: Record<string, unknown>): void {
        if (this.isOpen) this.socket?.send(JSON.stringify({ v: 1, ...request }));
    }

    // The answer is not wanted: for moves of the pointer.
    send(word: string, keys: Record<string, unknown> = {}): void {
        this.post({ do: word, ...keys });
    }

    ask(word: string, keys: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
        if (!this.isOpen) return Promise.reject(new RequestError({ text: "there is no connection to the engine" }));
        const id = this.next++;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve, reject });
            this.post({ id, do: word, ...keys });
        });
    }
}
