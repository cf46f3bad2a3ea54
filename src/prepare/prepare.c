// The steps of a preparation in their order, each timed and announced; sidecar settings found and mixed with those of
// the command line; the source hashed so that a prepared file knows what it came from.

#include "prepare/flat.h"

#include "base/clock.h"
#include "base/hash.h"
#include "scene/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char* snwPrepareStep_Name(snwPrepareStep step)
{
    static const char* const s_names[] = {
        "read", "rest pose", "body", "bones", "weights", "motions", "materials", "surfaces"};
    return step >= 0 && step < snw_prepareStepCount ? s_names[step] : "";
}

snwPrepareDef snwDefaultPrepareDef(void)
{
    return (snwPrepareDef){.mesher = snw_mesherAuto};
}

void snwPreparer_Note(snwPreparer* preparer, const char* format, ...)
{
    snwPrepareReport* report = preparer->report;
    if (report->noteCount == snw_maxPrepareNotes)
    {
        report->notesLost += 1;
        return;
    }
    va_list list;
    va_start(list, format);
    vsnprintf(report->notes[report->noteCount++], sizeof report->notes[0], format, list);
    va_end(list);
}

void* snwPreparer_Alloc(snwPreparer* preparer, int64_t count, size_t size)
{
    return snwArena_Alloc(&preparer->arena, (size_t)(count > 0 ? count : 1), size);
}

// ---------------------------------------------------------------------------------------------------------------------
// Settings

bool snwPreparer_FindSidecar(const snwPreparer* p, char* path, size_t capacity)
{
    if (p->def->sidecar != NULL)
        return snprintf(path, capacity, "%s", p->def->sidecar) < (int)capacity && path[0] != 0;
    const char *slash = strrchr(p->path, '/'), *dot = strrchr(p->path, '.');
    size_t length = dot != NULL && (slash == NULL || dot > slash) ? (size_t)(dot - p->path) : strlen(p->path);
    return snprintf(path, capacity, "%.*s.sinew.json", (int)length, p->path) < (int)capacity && access(path, F_OK) == 0;
}

// What the sidecar says, above and below what the caller says; NULL if nobody says anything.
static snwResult FindPrepareSettings(snwPreparer* p, const char* path, json_t** document)
{
    snwResult result = snw_ok;
    json_t* own = path[0] != 0 ? snwPrepareSettings_Load(p->context, path, &result, p->message) : NULL;
    *document = NULL;
    if (result < 0)
        return result;
    if (p->def->under == NULL && p->def->over == NULL)
    {
        *document = own;
        return snw_ok;
    }

    // Under, sidecar, over: what comes later wins, key by key.
    json_t* all = json_pack("{s:i}", "sinew", 1);
    json_object_update_recursive(all, (json_t*)p->def->under);
    json_object_update_recursive(all, own);
    json_object_update_recursive(all, (json_t*)p->def->over);
    json_decref(own);
    *document = all;

    return all != NULL ? snw_ok : snwFailMemory(p->message);
}

static snwResult ReadPrepareSettings(snwPreparer* p)
{
    char path[4096] = "";
    json_t* document = NULL;
    p->settings = snwDefaultPrepareSettings(p->context, p->asset);
    const snwAssetFlesh* flesh = &p->asset->flesh;
    if (!snwPreparer_FindSidecar(p, path, sizeof path))
        path[0] = 0;
    const char* kept = snwArena_Text(&p->arena, path);
    snwResult result = p->arena.failed ? snwFailMemory(p->message) : FindPrepareSettings(p, kept, &document);
    if (result < 0 || document != NULL)
        return result < 0 ? result : snwPrepareSettings_Use(&p->settings, document, kept, p->message);
    if (flesh->young > 0)
        p->settings.material.young = flesh->young;
    if (flesh->poisson > 0)
        p->settings.material.poisson = flesh->poisson;
    return snw_ok;
}

// The file's bytes; the caller frees them.
static snwResult ReadSourceBytes(snwPreparer* p, char** data, size_t* size)
{
    snwResult result = snwFile_Read(p->context, p->path, snw_maxAssetBytes, data, size, p->message);
    if (result >= 0)
        p->sourceHash = snwHash(*data, *size, 0);
    return result;
}

static snwResult HashSource(snwPreparer* p)
{
    char* data = NULL;
    size_t size = 0;
    snwResult result = ReadSourceBytes(p, &data, &size);
    snwFree(p->context, data);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps

static snwResult ReadAsset(snwPreparer* p)
{
    snwAsset* asset = NULL;
    snwResult result = HashSource(p);
    if (result >= 0)
        result = snwAsset_Open(p->context, p->path, &asset, p->message);
    p->asset = asset;
    return result < 0 ? result : ReadPrepareSettings(p);
}

static snwResult Rest(snwPreparer* p)
{
    snwResult result = snwPreparer_FindRest(p);
    if (result >= 0)
        result = snwPreparer_FindRig(p);
    return result < 0 ? result : snwPreparer_SortSurfaces(p);
}

static snwResult Motions(snwPreparer* p)
{
    snwResult result = snwPreparer_MakeMotions(p);
    return result < 0 ? result : snwPreparer_MakeJoints(p);
}

static snwResult RunPrepareSteps(snwPreparer* p, snwPrepared** prepared)
{
    static snwResult (*const s_steps[])(snwPreparer*) = {[snw_prepareRead] = ReadAsset,
        [snw_prepareRest] = Rest,
        [snw_prepareBody] = snwPreparer_MakeBody,
        [snw_prepareBones] = snwPreparer_ChooseBones,
        [snw_prepareWeights] = snwPreparer_MakeWeights,
        [snw_prepareMotions] = Motions,
        [snw_prepareMaterials] = snwPreparer_MakeMaterials};
    snwResult result = snw_ok;

    // Each step may be stopped before it begins.
    for (int i = 0; i < snw_prepareStepCount && result >= 0; ++i)
    {
        double start = snwClock_Seconds();
        if (p->def->progress != NULL)
            result = p->def->progress((snwPrepareStep)i, p->def->user);
        if (result < 0)
            return snwFail(p->message, result, NULL, "stopped");
        result = i < snw_prepareSurfaces ? s_steps[i](p) : snwPreparer_Finish(p, prepared);
        p->report->seconds[i] = snwClock_Seconds() - start;
    }

    return result;
}

static bool IsPicture(const char* path)
{
    const char* dot = strrchr(path, '.');
    return dot != NULL && (strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".webp") == 0);
}

static snwResult PreparePicture(snwPreparer* p, snwPrepared** prepared)
{
    char* data = NULL;
    size_t size = 0;
    double start = snwClock_Seconds();
    snwResult result = ReadSourceBytes(p, &data, &size);
    if (result >= 0)
        result = snwPreparePicture(p, data, size, prepared);
    snwFree(p->context, data);
    p->report->seconds[snw_prepareBody] = snwClock_Seconds() - start;
    return result;
}

snwResult snwPrepareFile(snwContext* context, const char* path, const snwPrepareDef* def, snwPrepared** prepared,
    snwPrepareReport* report, snwMessage* message)
{
    snwPrepareReport own = {0};
    snwPreparer p = {.context = context,
        .arena = {.context = context},
        .path = path,
        .ownSurface = -1,
        .def = def,
        .report = report != NULL ? report : &own,
        .message = message};

    // Messages name the file, whichever step fails.
    *p.report = own;
    *prepared = NULL;
    snwResult result = IsPicture(path) ? PreparePicture(&p, prepared) : RunPrepareSteps(&p, prepared);

    // What steps have made for each other.
    if (p.flesh != NULL)
        snwDestroySoup(p.flesh);
    snwFree(context, p.boneWeights);
    snwPrepareSettings_Free(&p.settings);
    snwAsset_Close(p.cache);
    snwAsset_Close((snwAsset*)p.asset);
    snwArena_Free(&p.arena);
    if (result < 0 && message != NULL && message->file[0] == 0)
        snwMessage_SetFile(message, path);

    return result < 0 ? result : snw_ok;
}
