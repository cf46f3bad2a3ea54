// Arrow keys move what is selected, in the plane of the screen. Each run of key presses is one hold: it is taken at the
// first, and stays where it is a moment after the last.

import { Vector3 } from "three";
import type { App } from "./app";
import { Grab } from "./grabs";
import type { Stage } from "./stage";

const calm = 500; // ms

export class Nudge {
    private grabs: Grab[] = [];
    private taking: Promise<void> | null = null;
    private timer = 0;

    constructor(
        private readonly app: App,
        private readonly stage: Stage,
    ) {
        app.selection.on(() => this.end());
    }

    // right and up in steps; a step is 1 % of the character.
    async move(right: number, up: number, size: number): Promise<void> {
        if (this.app.selection.value.length === 0) return;
        const e = this.stage.view.camera.matrixWorld.elements;
        const delta = new Vector3(e[0], e[1], e[2])
            .multiplyScalar(right)
            .addScaledVector(new Vector3(e[4], e[5], e[6]), up)
            .multiplyScalar(0.01 * size);
        this.taking ??= this.take();
        clearTimeout(this.timer);
        await this.taking;
        for (const grab of this.grabs) {
            grab.nudge(delta);
            grab.flush();
        }
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.end(), calm);
    }

    private async take(): Promise<void> {
        const taken = await Promise.all(this.app.selection.value.map((item) => Grab.take(this.app, item, null)));
        this.grabs = taken.filter((g): g is Grab => g !== null);
    }

    private end(): void {
        clearTimeout(this.timer);
        for (const grab of this.grabs) grab.drop(true);
        this.grabs = [];
        this.taking = null;
    }
}
