// node three_positions.mjs OUT RATE FRAMES START OBJECT CLIP FILE
//
// What three.js shows of FILE: the positions of OBJECT's vertices in every frame, as floats x y z with Y up; arguments and
// OUT are those of blender_positions.py. Vertices are those that triangles use, primitive by primitive, rising. Exit 69:
// no three.js here (make web puts it there).

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [out, rate, frames, start, names, clipName, file] = process.argv.slice(2);
const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../web/node_modules/three');
if (!fs.existsSync(folder)) {
    console.error('three_positions: there is no three.js here\n  try: make web');
    process.exit(69);
}
const load = name => import(pathToFileURL(path.join(folder, name)).href);
const three = await load('build/three.module.js');
const { GLTFLoader } = await load('examples/jsm/loaders/GLTFLoader.js');
const { MeshoptDecoder } = await load('examples/jsm/libs/meshopt_decoder.module.js');

// Pictures are not looked at, and a node has no place to draw them.
globalThis.self = globalThis;
three.TextureLoader.prototype.load = (url, done) => {
    const texture = new three.Texture();
    setTimeout(() => done(texture), 0);
    return texture;
};
three.ImageBitmapLoader.prototype.load = (url, done) => {
    setTimeout(() => done({ width: 1, height: 1, close() {} }), 0);
};

const loader = new GLTFLoader();
loader.setMeshoptDecoder(MeshoptDecoder);
const bytes = fs.readFileSync(file);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const gltf = await loader.parseAsync(buffer, '');

// Nodes are named without blanks and dots; a mesh of several primitives is a group of them.
const wanted = names.split('|').map(name => three.PropertyBinding.sanitizeNodeName(name));
let target = null;
gltf.scene.traverse(object => {
    const shows = object.isMesh || object.children.some(child => child.isMesh);
    if (target === null && shows && wanted.includes(object.name))
        target = object;
});
gltf.scene.traverse(object => {
    if (target === null && object.isSkinnedMesh)
        target = object;
});
const meshes = target.isMesh ? [target] : target.children.filter(child => child.isMesh);
const used = meshes.map(mesh => {
    const index = mesh.geometry.index;
    const count = mesh.geometry.attributes.position.count;
    return index === null ? [...Array(count).keys()] : [...new Set(index.array)].sort((a, b) => a - b);
});

const clip = gltf.animations.find(each => each.name === clipName) ?? gltf.animations[0];
const mixer = new three.AnimationMixer(gltf.scene);
const action = mixer.clipAction(clip);
action.setLoop(three.LoopOnce);
action.clampWhenFinished = true;
action.play();

const total = used.reduce((sum, list) => sum + list.length, 0);
const numbers = new Float32Array(3 * Number(frames) * total);
const point = new three.Vector3();
let at = 0;
for (let frame = 0; frame < Number(frames); ++frame) {
    mixer.setTime(Math.min(Number(start) + frame / Number(rate), clip.duration));
    gltf.scene.updateMatrixWorld(true);
    meshes.forEach((mesh, i) => {
        if (mesh.isSkinnedMesh)
            mesh.skeleton.update();
        for (const vertex of used[i]) {
            mesh.getVertexPosition(vertex, point).applyMatrix4(mesh.matrixWorld);
            numbers[at++] = point.x;
            numbers[at++] = point.y;
            numbers[at++] = point.z;
        }
    });
}
fs.writeFileSync(out, Buffer.concat([Buffer.from(new Int32Array([Number(frames), total]).buffer), Buffer.from(numbers.buffer)]));
