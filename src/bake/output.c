// Which writer writes, and the words about it.

#include "bake/output.h"

#include "bake/reel.h"
#include "base/context.h"
#include "scene/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

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

static bool EndsWith(const char* path, const char* ending)
{
    size_t length = strlen(path), size = strlen(ending);
    return size > 0 && length > size && strcasecmp(path + length - size, ending) == 0;
}

snwBakeFormat snwBakeFormat_OfPath(const char* path)
{
    for (int i = snw_bakeGlb; i < snw_bakeFormatCount; ++i)
        if (EndsWith(path, s_formats[i].ending))
            return (snwBakeFormat)i;
    return EndsWith(path, ".gltf") ? snw_bakeGlb : snw_bakeAuto;
}

snwBakeOutputDef snwDefaultBakeOutputDef(void)
{
    return (snwBakeOutputDef){.format = snw_bakeAuto, .tolerance = 1e-3};
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
    if (!(def->tolerance > 0 && def->tolerance <= 10))
        return snwFail(message, snw_errorArgument, "1 mm is usual", "a tolerance of %g m", def->tolerance);
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

snwResult snwBakeWriting_Write(const snwBakeWriting* w)
{
    snwBakeFormat format;
    snwResult result = ChooseFormat(w->def, &format, w->message);
    if (result < 0)
        return result;
    snwBakeOutputDef def = *w->def;
    def.format = format;
    snwBakeWriting chosen = {w->context, w->reel, &def, w->report, w->message};
    *w->report = (snwBakeOutputReport){0};
    return s_formats[format].write(&chosen);
}
