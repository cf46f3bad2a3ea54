# blender -b --factory-startup -P blender_positions.py -- OUT RATE FRAMES START OBJECT CLIP FILE
#
# What Blender shows of FILE: the positions of OBJECT's vertices in every frame, as floats x y z with Y up. FILE is a
# .glb to import or a .py to run. OUT begins with the numbers of frames and of vertices, 32 bits each. Objects are
# called as their node, but under a skin as their mesh: OBJECT may be NODE|MESH. START is the clip's time of frame 0, s.
# CLIP may be '' where there is one alone.

import runpy
import struct
import sys

import bpy
import numpy

if not hasattr(numpy, 'bool'):
    numpy.bool = bool

out, rate, frames, start, names, clip, path = sys.argv[sys.argv.index('--') + 1:]
rate, frames, start = float(rate), int(frames), float(start)
scene = bpy.context.scene
scene.render.fps = round(rate)
scene.render.fps_base = round(rate) / rate
for ob in list(bpy.data.objects):
    bpy.data.objects.remove(ob)


# Clips come as muted tracks of the NLA editor, and one of them as the action. Strips begin at frame 1 with their first
# key, whenever that is: they are moved so that frame 1 is second 0.
def play(holder):
    if holder is None or holder.animation_data is None:
        return
    holder.animation_data.action = None
    for track in holder.animation_data.nla_tracks:
        track.mute = clip != '' and track.name.split('.')[0] != clip.split('.')[0]
        for strip in track.strips:
            late = 1 + strip.action_frame_start - strip.frame_start
            strip.frame_end += late
            strip.frame_start += late


if path.endswith('.py'):
    runpy.run_path(path, run_name='__main__')
    first = scene.frame_start
else:
    bpy.ops.import_scene.gltf(filepath=path)
    first = 1 + start * rate
    for ob in bpy.data.objects:
        play(ob)
        play(getattr(ob.data, 'shape_keys', None))

meshes = [ob for ob in bpy.data.objects if ob.type == 'MESH']
named = [ob for ob in meshes if ob.name in names.split('|')]
target = (named or meshes)[0]
with open(out, 'wb') as file:
    for frame in range(frames):
        now = first + frame
        scene.frame_set(int(now), subframe=now - int(now))
        shown = target.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = shown.to_mesh()
        if frame == 0:
            file.write(struct.pack('<ii', frames, len(mesh.vertices)))
        co = numpy.empty(3 * len(mesh.vertices), dtype=numpy.float32)
        mesh.vertices.foreach_get('co', co)
        world = numpy.array(shown.matrix_world)
        co = co.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
        co = numpy.stack((co[:, 0], co[:, 2], -co[:, 1]), axis=1).astype(numpy.float32)
        file.write(co.tobytes())
        shown.to_mesh_clear()
