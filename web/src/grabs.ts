// What a hand holds: the pointer's or the arrow keys'. The engine gives each hold a number, which moves and the letting go
// name.

import { Quaternion, Vector3 } from "three";
import type { App } from "./app";
import type { Item, Vec3 } from "./types";

export interface Ray {
    origin: Vector3;
    direction: Vector3;
}

export class Grab {
    readonly from = new Vector3(); // where it was when it was taken
    private readonly at = new Vector3();
    private readonly turn = new Quaternion();
    private turned = false;
    private over = false;
    private fresh = false;

    private constructor(
        private readonly app: App,
        private readonly number: number,
        place: Vec3,
    ) {
        this.from.fromArray(place);
        this.at.copy(this.from);
    }

    // By what it is, or for flesh by the ray that met it. Resolves when the engine has taken hold; null: nothing there.
    static async take(app: App, item: Item, ray: Ray | null, turn = new Quaternion()): Promise<Grab | null> {
        const keys = ray
            ? { origin: ray.origin.toArray(), direction: ray.direction.toArray() }
            : { body: item.body, [item.kind]: item.index };
        const answer = await app.ask("grab", keys);
        if (!answer || answer.kind === "none" || typeof answer.grab !== "number") return null;
        const grab = new Grab(app, answer.grab, answer.position as Vec3);
        grab.turn.copy(turn);
        return grab;
    }

    moveBy(delta: Vector3): void {
        this.at.copy(this.from).add(delta);
        this.fresh = true;
    }

    nudge(delta: Vector3): void {
        this.at.add(delta);
        this.fresh = true;
    }

    rotate(axis: Vector3, angle: number): void {
        this.turn.premultiply(new Quaternion().setFromAxisAngle(axis, angle));
        this.turned = this.fresh = true;
    }

    // At most one message per drawing, whatever the mouse's rate is.
    flush(): void {
        if (!this.fresh || this.over) return;
        this.fresh = false;
        const rotation = this.turned ? { rotation: this.turn.toArray() } : {};
        this.app.connection.send("move", { grab: this.number, position: this.at.toArray(), ...rotation });
    }

    drop(keep: boolean): void {
        if (this.over) return;
        this.flush();
        this.over = true;
        this.app.do("drop", { grab: this.number, keep });
    }
}
