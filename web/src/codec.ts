// The binary messages: frames and models. Nothing is copied, all arrays look into the message; what does not fit is an
// error, never a read outside.

import type { ModelText } from "./types";

const magic = 0x56574e53;
const headBytes = 48;

export const enum Kind {
    positions = 1,
    normals = 2,
    bones = 3,
    joints = 4,
    handles = 5,
    given = 6,
    colliders = 7,
    props = 8,
    contacts = 9,
    values = 10,
    measures = 11,
    stages = 12,
    pins = 13,
    grabs = 14,
    elements = 15,
    pressure = 16,
    acks = 17,
    modelText = 100,
}

export interface Section {
    kind: number;
    index: number;
    count: number;
    offset: number;
    bytes: number;
}

export class Message {
    readonly isModel: boolean;
    readonly serial: number;
    readonly model: number;
    readonly frame: number;
    readonly time: number;
    readonly taken: number; // ms since the session began
    readonly playing: boolean;
    readonly scrubbing: boolean;
    private readonly sections: Section[] = [];

    constructor(readonly buffer: ArrayBuffer) {
        if (buffer.byteLength < headBytes) throw new Error("a message is too short");
        const view = new DataView(buffer);
        const layout = view.getUint16(4, true);
        if (view.getUint32(0, true) !== magic || layout !== 1) throw new Error("a message of an unknown layout");
        this.isModel = view.getUint16(6, true) === 2;
        this.serial = view.getUint32(8, true);
        this.model = view.getUint32(12, true);
        this.frame = Number(view.getBigUint64(16, true));
        this.time = view.getFloat64(24, true);
        this.taken = view.getFloat64(32, true);
        const flags = view.getUint32(40, true);
        this.playing = (flags & 1) !== 0;
        this.scrubbing = (flags & 2) !== 0;
        this.readSections(view, view.getUint32(44, true));
    }

    private readSections(view: DataView, count: number): void {
        let at = headBytes;
        for (let i = 0; i < count; ++i) {
            if (at + 16 > view.byteLength) throw new Error("a section is cut off");
            const bytes = view.getUint32(at + 12, true);
            const section = {
                kind: view.getUint32(at, true),
                index: view.getUint32(at + 4, true),
                count: view.getUint32(at + 8, true),
                offset: at + 16,
                bytes,
            };
            if (section.offset + bytes > view.byteLength) throw new Error("a section is cut off");
            this.sections.push(section);
            at = section.offset + ((bytes + 7) & ~7);
        }
    }

    find(kind: number, index = 0): Section | undefined {
        return this.sections.find((s) => s.kind === kind && s.index === index);
    }

    all(kind: number): Section[] {
        return this.sections.filter((s) => s.kind === kind);
    }

    floats(section: Section): Float32Array {
        return new Float32Array(this.buffer, section.offset, section.bytes >> 2);
    }

    numbers(section: Section): Uint32Array {
        return new Uint32Array(this.buffer, section.offset, section.bytes >> 2);
    }

    shorts(section: Section): Int16Array {
        return new Int16Array(this.buffer, section.offset, section.bytes >> 1);
    }

    bytes(section: Section): Uint8Array {
        return new Uint8Array(this.buffer, section.offset, section.bytes);
    }

    // The floats of a section, or none.
    floatsOf(kind: number, index = 0): Float32Array {
        const section = this.find(kind, index);
        return section ? this.floats(section) : new Float32Array(0);
    }
}

export class Model {
    readonly text: ModelText;
    readonly serial: number;

    constructor(private readonly message: Message) {
        const section = message.find(Kind.modelText);
        if (!section) throw new Error("a model without its text");
        this.text = JSON.parse(new TextDecoder().decode(message.bytes(section))) as ModelText;
        this.serial = message.serial;
    }

    private section(kind: number): Section {
        const section = this.message.find(kind);
        if (!section) throw new Error(`a model without its section ${kind}`);
        return section;
    }

    numbers(kind: number): Uint32Array {
        return this.message.numbers(this.section(kind));
    }

    floats(kind: number): Float32Array {
        return this.message.floats(this.section(kind));
    }

    bytes(kind: number): Uint8Array {
        return this.message.bytes(this.section(kind));
    }
}
