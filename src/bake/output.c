// Which writer writes, and the words about it.

#include "bake/output.h"

#include "asset/gltf.h"
#include "bake/reel.h"
#include "base/context.h"
#include "base/ending.h"
#include "scene/file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct
{
    const char *name, *ending;
    snwResult (*write)(const snwBakeWriting* writing);
} s_formats[] = {
    [snw_bakeAuto] = {"auto", "", NULL},
    [snw_bakeGlb] = {"glb", ".glb", snwBakeWriting_Gltf},
    [snw_bakeMorphs] = {"morphs", "", snwBakeWriting_Gltf},
    [snw_bakeJoints] = {"joints", "", snwBakeWriting_Joints},
    [snw_bakePc2] = {"pc2", ".pc2", snwBakeWriting_Caches},
    [snw_bakeMdd] = {"mdd", ".mdd", snwBakeWriting_Caches},
    [snw_bakeObj] = {"obj", ".obj", snwBakeWriting_Obj},
};

// ---------------------------------------------------------------------------------------------------------------------
// Formats

const char* snwBakeFormat_Name(snwBakeFormat format)
{
    return s_formats[format].name;
}

bool snwBakeFormat_Find(const char* name, snwBakeFormat* format)
{
    for (int i = 0; i < snw_bakeFormatCount; ++i)
        if (strcmp(name, s_formats[i].name) == 0)
            return *format = (snwBakeFormat)i, true;
    return false;
}

snwBakeFormat snwBakeFormat_OfPath(const char* path)
{
    for (int i = snw_bakeGlb; i < snw_bakeFormatCount; ++i)
        if (snwHasEnding(path, s_formats[i].ending))
            return (snwBakeFormat)i;
    return snwHasEnding(path, ".gltf") || snwHasEnding(path, ".vrm") ? snw_bakeGlb : snw_bakeAuto;
}

snwBakeOutputDef snwDefaultBakeOutputDef(void)
{
    return (snwBakeOutputDef){.format = snw_bakeAuto};
}

static bool IsDocument(snwBakeFormat format)
{
    return format == snw_bakeGlb || format == snw_bakeMorphs || format == snw_bakeJoints;
}

static snwResult ChooseFormat(const snwBakeOutputDef* def, snwBakeFormat* format, snwMessage* message)
{
    snwBakeFormat ending = snwBakeFormat_OfPath(def->path);
    *format = def->format == snw_bakeAuto ? ending : def->format;
    if (*format == snw_bakeAuto)
        return snwFail(message, snw_errorArgument, "name a .glb, .gltf, .pc2, .mdd or .obj, or say --format",
            "'%s' does not tell what to write", def->path);
    bool fits = IsDocument(*format) ? ending == snw_bakeGlb : ending == *format;
    if (!fits)
        return snwFail(message, snw_errorArgument,
            IsDocument(*format) ? "end its name with .glb or .gltf" : "end its name as the format does",
            "'%s' is no name for the format %s", def->path, s_formats[*format].name);
    return snw_ok;
}

snwResult snwBakeOutput_Check(
    snwContext* context, const snwBakeOutputDef* def, const snwAsset* asset, snwMessage* message)
{
    snwBakeFormat format;
    (void)asset; // every source has a document, or one is made of it
    if (!(def->tolerance >= 0 && def->tolerance <= 10))
        return snwFail(message, snw_errorArgument, "1 mm is usual on a person", "a tolerance of %g m", def->tolerance);
    snwResult result = ChooseFormat(def, &format, message);
    if (result < 0 || format == snw_bakeObj)
        return result; // its files have numbers, and are looked at one by one
    return snwPartFile_Check(context, def->path, def->overwrite, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reports

void snwBakeWriting_Note(const snwBakeWriting* w, const char* format, ...)
{
    int room = (int)(sizeof w->report->notes / sizeof w->report->notes[0]);
    if (w->report->noteCount >= room)
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(w->report->notes[w->report->noteCount++], sizeof w->report->notes[0], format, list);
    va_end(list);
}

void snwBakeWriting_AddFile(const snwBakeWriting* w, const char* path)
{
    struct stat status;
    snwBakeOutputReport* report = w->report;
    if (report->fileCount == snw_maxBakeFiles)
    {
        ++report->filesLost;
        return;
    }
    snprintf(report->files[report->fileCount], sizeof report->files[0], "%s", path);
    report->bytes[report->fileCount++] = stat(path, &status) == 0 ? (double)status.st_size : 0;
}

snwResult snwBakeWriting_Progress(const snwBakeWriting* w, double share)
{
    if (w->def->progress == NULL)
        return snw_ok;
    return w->def->progress((int)(1000 * share), 1000, w->def->user);
}

snwResult snwBakeWriting_Get(const snwBakeWriting* w, const snwReelSurface* surface, snwSkin* skin)
{
    int count = w->reel->asset->meshes[surface->mesh].vertexCount;
    snwResult result = w->reel->get(w->reel->user, surface->index, skin, w->message);
    if (result >= 0 && surface->vertices == NULL && skin->vertexCount != count)
        return snwFail(w->message, snw_errorInput, NULL, "surface '%s' has %d vertices, its mesh %d", surface->name,
            skin->vertexCount, count);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing

// What helper joints would take at least: three for each morph target, and mostly five to ten.
static double LeastOfJoints(const snwBakeWriting* w)
{
    const snwAsset* asset = w->reel->asset;
    double vertices = 0;
    for (int i = 0; i < w->reel->surfaceCount; ++i)
    {
        bool skinned = asset->nodes[w->reel->surfaces[i].node].skin >= 0;
        vertices += skinned ? asset->meshes[w->reel->surfaces[i].mesh].vertexCount : 0;
    }
    return vertices == 0
               ? INFINITY
               : w->report->sourceBytes + 24 * vertices + 3.0 * w->report->targets * (700 + 20 * w->reel->frameCount);
}

// Morph targets, or helper joints if their file is smaller and as near.
static snwResult WriteSmaller(const snwBakeWriting* w)
{
    char path[4096];
    snwBakeOutputDef def = *w->def;
    snwResult result = snwBakeWriting_Gltf(w);
    double least = result < 0 ? INFINITY : LeastOfJoints(w), bytes = w->report->bytes[0];

    // Joints cannot be smaller, or there is no skin for them.
    if (result < 0)
        return result;
    if (!(least < bytes) || snprintf(path, sizeof path, "%s.joints.glb", w->def->path) >= (int)sizeof path)
    {
        snwBakeWriting_Note(w, "auto: morph targets, %.2f MB; helper joints %s", 1e-6 * bytes,
            isfinite(least) ? "would take more" : "need a skin");
        return result;
    }

    // Written beside it, and compared.
    snwBakeOutputReport* other = snwAlloc(w->context, sizeof *other);
    if (other == NULL)
        return snwFailMemory(w->message);
    *other = (snwBakeOutputReport){.tolerance = def.tolerance, .sourceBytes = w->report->sourceBytes};
    def.path = path;
    def.format = snw_bakeJoints;
    def.overwrite = true;
    snwBakeWriting joints = {w->context, w->reel, &def, other, w->message};
    result = snwBakeWriting_Joints(&joints);
    bool smaller = result >= 0 && other->bytes[0] < bytes && other->maxError <= def.tolerance;
    if (result >= 0)
        snwBakeWriting_Note(smaller ? &joints : w,
            "auto: %s; morph targets take %.2f MB, helper joints %.2f MB and come within %.2g mm",
            smaller ? "helper joints" : "morph targets", 1e-6 * bytes, 1e-6 * other->bytes[0], 1e3 * other->maxError);

    // The smaller one gets the name.
    if (smaller && rename(path, w->def->path) != 0)
        result = snwFail(w->message, snw_errorIo, NULL, "cannot rename '%s'", path);
    if (smaller && result >= 0)
    {
        *w->report = *other;
        snprintf(w->report->files[0], sizeof w->report->files[0], "%s", w->def->path);
    }
    else
        unlink(path);

    snwFree(w->context, other);
    return result;
}

snwResult snwBakeWriting_Write(const snwBakeWriting* w)
{
    snwBakeFormat format;
    snwResult result = ChooseFormat(w->def, &format, w->message);
    if (result < 0)
        return result;

    // A tolerance that suits the size.
    snwBakeOutputDef def = *w->def;
    def.format = format;
    if (!(def.tolerance > 0))
        def.tolerance = w->reel->size > 0 ? SNW_USUAL_TOLERANCE * w->reel->size : 1e-3;
    snwBakeWriting chosen = {w->context, w->reel, &def, w->report, w->message};
    const snwGltf* gltf = w->reel->asset->gltf;

    // What the result is compared with in bytes.
    *w->report = (snwBakeOutputReport){.tolerance = def.tolerance, .sourceBytes = w->reel->madeBytes};
    if (w->reel->path != NULL && w->reel->path[0] != 0)
        w->report->sourceBytes = (double)
                                     gltf->sourceBytes; // with its buffers; pictures beside it when they come inside
    for (int i = 0; w->report->sourceBytes == 0 && i < gltf->bufferCount; ++i)
        w->report->sourceBytes = (double)gltf->buffers[i].size; // of a built-in character: the first, and there is one

    return def.choose && format == snw_bakeGlb ? WriteSmaller(&chosen) : s_formats[format].write(&chosen);
}
