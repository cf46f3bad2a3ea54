// Traps that the script steps around, each met in Blender 3.4: Debian's glTF importer needs numpy.bool, which numpy has
// no more; a cache with another number of points is dropped in silence, so the script counts; frame 0 of a cache
// belongs to frame_start, which is not 1 by itself; an armature would bend what the cache has bent already; skinned
// meshes are called as the mesh, others as their node; and clips come as muted tracks whose strips begin at frame 1.

#include "bake/blender_script.h"

#include "asset/gltf_write.h"
#include "base/context.h"
#include "scene/file.h"
#include "scene/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char s_head[] =
    "# Made by Sinew: point caches for meshes in Blender.\n"
    "#\n"
    "#   blender -P THIS.py                       opens Blender with them\n"
    "#   blender -b -P THIS.py -- out.blend       saves a file without opening it\n"
    "#\n"
    "# In a file of your own, run it from the text editor: objects with these names and numbers of\n"
    "# vertices get the caches, and nothing is imported.\n"
    "\n"
    "import os\n"
    "import sys\n"
    "\n"
    "import bpy\n"
    "import numpy\n"
    "\n";

static const char s_body[] =
    "\n"
    "if not hasattr(numpy, 'bool'):\n"
    "    numpy.bool = bool  # Blender's glTF importer of some systems asks for it\n"
    "\n"
    "HERE = os.path.dirname(os.path.abspath(bpy.path.abspath(__file__)))\n"
    "\n"
    "\n"
    "def beside(path):\n"
    "    near = os.path.join(HERE, os.path.basename(path))\n"
    "    return near if os.path.exists(near) else path\n"
    "\n"
    "\n"
    "def find(cache):\n"
    "    fits = [o for o in bpy.data.objects if o.type == 'MESH' and len(o.data.vertices) == cache['points']]\n"
    "    called = [o for o in fits if o.name.split('.')[0] in (cache['object'], cache['mesh'])]\n"
    "    return (called or fits or [None])[0]\n"
    "\n"
    "\n"
    "def play(holder):\n"
    "    if holder is None or holder.animation_data is None:\n"
    "        return\n"
    "    holder.animation_data.action = None\n"
    "    for track in holder.animation_data.nla_tracks:\n"
    "        track.mute = track.name.split('.')[0] != CLIP.split('.')[0]\n"
    "        for strip in track.strips:  # frame 1 is second 0, whenever its first key is\n"
    "            late = 1 + strip.action_frame_start - strip.frame_start\n"
    "            strip.frame_end += late\n"
    "            strip.frame_start += late\n"
    "\n"
    "\n"
    "def bring():\n"
    "    path = beside(SOURCE)\n"
    "    if path.lower().endswith(('.glb', '.gltf')):\n"
    "        bpy.ops.import_scene.gltf(filepath=path)\n"
    "        for ob in bpy.data.objects:\n"
    "            play(ob)\n"
    "            play(getattr(ob.data, 'shape_keys', None))\n"
    "    else:\n"
    "        raise SystemExit('open the file that %s came from first' % path)\n"
    "\n"
    "\n"
    "def attach(cache):\n"
    "    ob = find(cache)\n"
    "    if ob is None:\n"
    "        raise SystemExit(\"no mesh '%s' with %d vertices\" % (cache['object'], cache['points']))\n"
    "    if cache['skinned']:\n"
    "        ob.animation_data_clear()\n"
    "        ob.parent = None\n"
    "        ob.matrix_world.identity()\n"
    "        for modifier in [m for m in ob.modifiers if m.type in ('ARMATURE', 'MESH_CACHE')]:\n"
    "            ob.modifiers.remove(modifier)\n"
    "    modifier = ob.modifiers.new('Sinew', 'MESH_CACHE')\n"
    "    modifier.cache_format = FORMAT\n"
    "    modifier.filepath = beside(cache['file'])\n"
    "    modifier.frame_start = FIRST\n"
    "    modifier.forward_axis, modifier.up_axis = AXES\n"
    "    print('Sinew: %s plays %s' % (ob.name, cache['file']))\n"
    "\n"
    "\n"
    "scene = bpy.context.scene\n"
    "scene.render.fps = max(1, round(RATE))\n"
    "scene.render.fps_base = scene.render.fps / RATE\n"
    "scene.frame_start, scene.frame_end = round(FIRST), round(FIRST) + FRAMES - 1\n"
    "if any(find(cache) is None for cache in CACHES):\n"
    "    for ob in [o for o in bpy.data.objects if o.name == 'Cube' and bpy.data.filepath == '']:\n"
    "        bpy.data.objects.remove(ob)\n"
    "    bring()\n"
    "for cache in CACHES:\n"
    "    attach(cache)\n"
    "scene.frame_set(scene.frame_start)\n"
    "if '--' in sys.argv and sys.argv[-1].endswith('.blend'):\n"
    "    bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(sys.argv[-1]))\n";

static const char* BaseName(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void PutScript(snwText* out, const char* text)
{
    snwText_Raw(out, text, strlen(text));
}

// Texts and numbers of Python look as those of JSON do; true and false do not, so those are numbers.
static void PutCaches(snwText* out, const snwBlenderCache* caches, int count)
{
    PutScript(out, "CACHES = ");
    snwText_Open(out, '[');

    // One line per cache: which object and mesh it is for, and how many points that must have.
    for (int i = 0; i < count; ++i)
    {
        snwText_Open(out, '{');
        snwText_Key(out, "object");
        snwText_String(out, caches[i].object);
        snwText_Key(out, "mesh");
        snwText_String(out, caches[i].mesh);
        snwText_Key(out, "file");
        snwText_String(out, BaseName(caches[i].path));
        snwText_Key(out, "points");
        snwText_Int(out, caches[i].points);
        snwText_Key(out, "skinned");
        snwText_Int(out, caches[i].skinned);
        snwText_Close(out, '}');
    }

    snwText_Close(out, ']');
    PutScript(out, "\n");
}

static void PutSettings(snwText* out, const snwBakeWriting* w, const char* source)
{
    char rate[32], first[32], line[160];
    snwFormatReal(rate, w->reel->rate);
    snwFormatReal(first, 1 + w->reel->start * w->reel->rate);
    snprintf(line, sizeof line, "FORMAT = '%s'\nRATE = %s\nFIRST = %s\nFRAMES = %d\nAXES = %s\nSOURCE = ",
        w->def->format == snw_bakeMdd ? "MDD" : "PC2", rate, first, w->reel->frameCount,
        w->def->up == snw_upY ? "('NEG_Z', 'POS_Y')" : "('POS_Y', 'POS_Z')");
    PutScript(out, line);
    snwText_String(out, source);
    PutScript(out, "\nCLIP = ");
    snwText_String(out, w->reel->clip);
    PutScript(out, "\n");
}

// The document of a source that has none, as a file for the script to import.
static snwResult WriteSourceMesh(const snwBakeWriting* w, const char* path)
{
    snwGltfWriter* writer = NULL;
    snwGltfSave save = {.path = path, .form = snw_gltfGlb, .overwrite = w->def->overwrite};
    snwResult result = snwGltfWriter_Open(w->context, w->reel->asset->gltf, &writer, w->message);
    if (result >= 0)
        result = snwGltfWriter_Save(writer, &save, w->message);
    snwGltfWriter_Close(writer);
    if (result >= 0)
        snwBakeWriting_AddFile(w, path);
    return result;
}

static snwResult WriteBlenderScript(
    const snwBakeWriting* w, const char* path, const char* source, const snwBlenderCache* caches, int count)
{
    snwText out = snwCreateText(w->context, 1);
    PutScript(&out, s_head);
    PutSettings(&out, w, source);
    PutCaches(&out, caches, count);
    PutScript(&out, s_body);
    snwResult result = out.failed ? snwFailMemory(w->message)
                                  : snwFile_Write(w->context, path, out.data, out.size, w->def->overwrite, w->message);
    snwText_Free(&out);
    if (result >= 0)
        snwBakeWriting_AddFile(w, path);
    return result;
}

// With its folder, for the script may be run from anywhere.
static void FindSource(const char* path, char* source, size_t capacity)
{
    char folder[2048];
    if (path[0] != '/' && getcwd(folder, sizeof folder) != NULL)
        snprintf(source, capacity, "%s/%s", folder, path);
    else
        snprintf(source, capacity, "%s", path);
}

snwResult snwWriteBlenderScript(const snwBakeWriting* w, const snwBlenderCache* caches, int count)
{
    char path[4096], source[4096];
    snprintf(path, sizeof path - 16, "%s", w->def->path);
    char* dot = strrchr(BaseName(path) == path ? path : strrchr(path, '/'), '.');
    size_t length = dot != NULL ? (size_t)(dot - path) : strlen(path);
    snwResult result = snw_ok;
    if (w->reel->path == NULL || w->reel->path[0] == 0)
    {
        snprintf(path + length, sizeof path - length, "-mesh.glb");
        snprintf(source, sizeof source, "%s", BaseName(path));
        result = WriteSourceMesh(w, path);
    }
    else
        FindSource(w->reel->path, source, sizeof source);
    snprintf(path + length, sizeof path - length, ".py");
    return result < 0 ? result : WriteBlenderScript(w, path, source, caches, count);
}
