// A bake as an object: what it notes and warns of, where its files are, opening in all of its steps and closing, and
// the folder of finished frames, which stays until nobody needs it.

#include "bake/parts.h"

#include "base/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

snwBakeDef snwDefaultBakeDef(void)
{
    return (snwBakeDef){.prepare = snwDefaultPrepareDef()};
}

// ---------------------------------------------------------------------------------------------------------------------
// For the other files

static void AddNoteLine(char lines[snw_maxBakeNotes][224], int* count, const char* format, va_list list)
{
    char line[224];
    vsnprintf(line, sizeof line, format, list);
    for (int i = 0; i < *count; ++i)
        if (strcmp(lines[i], line) == 0)
            return;
    if (*count < snw_maxBakeNotes)
        memcpy(lines[(*count)++], line, sizeof line);
}

void snwBake_Note(snwBake* bake, const char* format, ...)
{
    va_list list;
    va_start(list, format);
    AddNoteLine(bake->report.notes, &bake->report.noteCount, format, list);
    va_end(list);
}

void snwBake_Warn(snwBake* bake, const char* format, ...)
{
    va_list list;
    va_start(list, format);
    AddNoteLine(bake->report.warnings, &bake->report.warningCount, format, list);
    va_end(list);
}

snwResult snwBake_Tell(const snwBake* bake, snwBakeStage stage, const char* word, int done, int total)
{
    if (bake->def.interrupt != NULL && *bake->def.interrupt)
        return snw_errorInterrupted;
    snwBakeProgress progress = {stage, word, done, total};
    return bake->def.progress != NULL ? bake->def.progress(&progress, bake->def.user) : snw_ok;
}

snwResult snwBake_Path(const snwBake* bake, const char* name, char* path, snwMessage* message)
{
    return snprintf(path, snw_bakePathSize, "%s/%s", bake->def.folder, name) < snw_bakePathSize
               ? snw_ok
               : snwFail(message, snw_errorIo, "a shorter -o", "the path is too long");
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult OpenBake(snwBake* bake, snwMessage* message)
{
    static snwResult (*const s_steps[])(snwBake*, snwMessage*) = {
        snwBake_FindSource, snwBake_Prepare, snwBake_Retouch, snwBake_MakePlan, snwBake_MakeScene};
    snwResult result = snw_ok;
    for (size_t i = 0; i < sizeof s_steps / sizeof *s_steps && result >= 0; ++i)
        result = s_steps[i](bake, message);
    return result;
}

snwResult snwBake_Open(snwContext* context, const snwBakeDef* def, snwBake** out, snwMessage* message)
{
    snwBake* bake = snwAlloc(context, sizeof *bake);
    *out = NULL;
    if (bake == NULL)
        return snwFailMemory(message);
    bake->context = context;
    bake->arena.context = context;
    bake->def = *def;
    bake->addedClip = -1;

    // Until the source is known, messages are not about it.
    snwResult result = OpenBake(bake, message);
    if (result >= 0)
        snprintf(bake->report.clip, sizeof bake->report.clip, "%s",
            snwCharacter_GetDef(snwPrepared_GetCharacter(bake->prepared))->motions[bake->plan.motion].name);
    if (result < 0 && message != NULL && message->file[0] == 0 && bake->path[0] != 0 && !bake->builtIn)
        snwMessage_SetFile(message, bake->path);

    if (result < 0)
    {
        snwBake_TidyFolder(bake);
        snwBake_Close(bake);
    }
    else
        *out = bake;

    return result < 0 ? result : snw_ok;
}

void snwBake_Close(snwBake* bake)
{
    if (bake == NULL)
        return;
    snwBakeFrames_Close(bake->frames);
    if (bake->scene.scene != NULL)
        snwSceneFile_Close(&bake->scene);
    if (bake->prepared != NULL)
        snwPrepared_Release(bake->prepared);
    snwAsset_Close(bake->asset);
    snwBakeSettings_Free(&bake->settings);
    json_decref(bake->sidecar);
    snwArena_Free(&bake->arena);
    snwFree(bake->context, bake);
}

void snwBake_RemoveFolder(snwBake* bake)
{
    static const char* const s_files[] = {
        "scene.json", "character.snw", "frames.snwf", "frames.snwf.new", "motion.glb"};
    char path[snw_bakePathSize];
    snwBakeFrames_Close(bake->frames);
    bake->frames = NULL;
    for (size_t i = 0; i < sizeof s_files / sizeof *s_files; ++i)
        if (snwBake_Path(bake, s_files[i], path, NULL) >= 0)
            unlink(path);
    if (bake->builtIn)
        unlink(bake->path);
    rmdir(bake->def.folder);
}

void snwBake_TidyFolder(snwBake* bake)
{
    char path[snw_bakePathSize];
    if (snwBake_Path(bake, "frames.snwf", path, NULL) >= 0 && access(path, F_OK) != 0)
        snwBake_RemoveFolder(bake);
}

// ---------------------------------------------------------------------------------------------------------------------

const snwBakeSettings* snwBake_GetSettings(const snwBake* bake)
{
    return &bake->settings;
}

const json_t* snwBake_GetSidecar(const snwBake* bake)
{
    return bake->sidecar;
}

const snwAsset* snwBake_GetAsset(const snwBake* bake)
{
    return bake->asset;
}

const snwPrepared* snwBake_GetPrepared(const snwBake* bake)
{
    return bake->prepared;
}

const snwSceneFile* snwBake_GetScene(const snwBake* bake)
{
    return &bake->scene;
}

snwBakeFrames* snwBake_GetFrames(snwBake* bake)
{
    return bake->frames;
}

const snwBakeReport* snwBake_GetReport(const snwBake* bake)
{
    return &bake->report;
}
