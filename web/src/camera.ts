// Orbit, pan and zoom around a target; flat characters are looked at from the front, without perspective.

import { MathUtils, OrthographicCamera, PerspectiveCamera, Plane, Raycaster, Vector2, Vector3 } from "three";

const farthest = 0.49 * Math.PI;
// A hand that misses turns the view; it never ends up below the ground.
const lowest = -0.06;

export class View {
    readonly perspective = new PerspectiveCamera(32, 1, 0.01, 500);
    readonly orthographic = new OrthographicCamera(-1, 1, 1, -1, -100, 500);
    readonly target = new Vector3(0, 0.5, 0);
    flat = false;
    private distance = 4;
    private azimuth = 0.6;
    private elevation = 0.25;
    private width = 1;
    private height = 1;
    private readonly caster = new Raycaster();

    get camera(): PerspectiveCamera | OrthographicCamera {
        return this.flat ? this.orthographic : this.perspective;
    }

    resize(width: number, height: number): void {
        this.width = Math.max(1, width);
        this.height = Math.max(1, height);
        this.update();
    }

    private get halfHeight(): number {
        return this.distance * Math.tan(MathUtils.degToRad(this.perspective.fov / 2));
    }

    update(): void {
        const aspect = this.width / this.height;
        const camera = this.camera;
        const azimuth = this.flat ? 0 : this.azimuth;
        const elevation = this.flat ? 0 : this.elevation;
        camera.position
            .set(Math.sin(azimuth) * Math.cos(elevation), Math.sin(elevation), Math.cos(azimuth) * Math.cos(elevation))
            .multiplyScalar(this.distance)
            .add(this.target);
        camera.lookAt(this.target);
        if (camera instanceof PerspectiveCamera) {
            camera.aspect = aspect;
            camera.near = this.distance / 200;
            camera.far = this.distance * 40;
        } else {
            camera.top = this.halfHeight;
            camera.bottom = -this.halfHeight;
            camera.left = -this.halfHeight * aspect;
            camera.right = this.halfHeight * aspect;
        }
        camera.updateProjectionMatrix();
        camera.updateMatrixWorld();
    }

    orbit(dx: number, dy: number): void {
        if (this.flat) {
            this.pan(dx, dy);
            return;
        }
        this.azimuth -= (dx / this.height) * 4;
        this.elevation = MathUtils.clamp(this.elevation + (dy / this.height) * 4, lowest, farthest);
        this.update();
    }

    pan(dx: number, dy: number): void {
        const scale = (2 * this.halfHeight) / this.height;
        const e = this.camera.matrixWorld.elements;
        this.target.addScaledVector(new Vector3(e[0], e[1], e[2]), -dx * scale);
        this.target.addScaledVector(new Vector3(e[4], e[5], e[6]), dy * scale);
        this.update();
    }

    // factor < 1 comes nearer; towards the point under the pointer (in -1..1), as maps do.
    zoom(factor: number, x = 0, y = 0): void {
        const before = this.onPlane(x, y, this.target);
        this.distance = MathUtils.clamp(this.distance * factor, 0.02, 400);
        this.update();
        const after = this.onPlane(x, y, this.target);
        if (before && after) this.target.add(before.sub(after));
        this.update();
    }

    // Cameras of scenes are set up for films, 16:9: in a narrower window we stand back to have as much in the picture.
    look(position: Vector3, target: Vector3, fieldOfView: number): void {
        const back = Math.max(1, Math.min(1.25, 16 / 9 / (this.width / this.height)));
        const offset = position.clone().sub(target).multiplyScalar(back);
        this.distance = Math.max(0.02, offset.length());
        this.azimuth = Math.atan2(offset.x, offset.z);
        this.elevation = Math.asin(MathUtils.clamp(offset.y / this.distance, -1, 1));
        this.perspective.fov = fieldOfView;
        this.target.copy(target);
        this.update();
    }

    // All of a box, with air around it; from where we look, or half from the side the first time.
    frame(lower: Vector3, upper: Vector3, anew: boolean): void {
        if (anew) [this.azimuth, this.elevation] = [0.55, 0.2];
        const size = upper.clone().sub(lower);
        const aspect = Math.min(1, this.width / this.height);
        const radius = this.flat ? Math.max(size.y, size.x / (this.width / this.height)) / 2 : size.length() / 2;
        this.target.copy(lower).add(upper).multiplyScalar(0.5);
        const half = MathUtils.degToRad(this.perspective.fov / 2);
        this.distance = Math.max(0.02, (1.15 * radius) / (this.flat ? Math.tan(half) : Math.sin(half) * aspect));
        this.update();
    }

    turn(azimuth: number, elevation: number): void {
        [this.azimuth, this.elevation] = [azimuth, elevation];
        this.update();
    }

    // x and y from -1 to 1, up is positive.
    ray(x: number, y: number): { origin: Vector3; direction: Vector3 } {
        this.caster.setFromCamera(new Vector2(x, y), this.camera);
        return { origin: this.caster.ray.origin.clone(), direction: this.caster.ray.direction.clone() };
    }

    // Where the pointer's ray meets the plane through a point that faces the camera.
    onPlane(x: number, y: number, point: Vector3): Vector3 | null {
        const forward = this.camera.getWorldDirection(new Vector3());
        this.caster.setFromCamera(new Vector2(x, y), this.camera);
        return this.caster.ray.intersectPlane(new Plane().setFromNormalAndCoplanarPoint(forward, point), new Vector3());
    }

    // Metres per pixel at a point.
    scaleAt(point: Vector3): number {
        if (this.flat) return (2 * this.halfHeight) / this.height;
        const depth = point.clone().sub(this.camera.position).dot(this.camera.getWorldDirection(new Vector3()));
        return (2 * depth * Math.tan(MathUtils.degToRad(this.perspective.fov / 2))) / this.height;
    }

    // Pixels of the canvas; z is the depth, beyond 1 it cannot be seen.
    project(point: Vector3): Vector3 {
        const p = point.clone().project(this.camera);
        return p.set(((p.x + 1) / 2) * this.width, ((1 - p.y) / 2) * this.height, p.z);
    }

    get size(): { width: number; height: number } {
        return { width: this.width, height: this.height };
    }
}
