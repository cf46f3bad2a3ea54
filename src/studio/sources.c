// What a name or a file becomes: a scene as it is, a character in a scene that suits it, a recording to go on with.

#define _XOPEN_SOURCE 700 // realpath

#include "studio/jobs.h"

#include "scene/file.h"
#include "base/ending.h"
#include "prepare/prepare.h"
#include "scene/builtin.h"
#include "scene/cast.h"
#include "scene/file.h"
#include "scene/prepared_file.h"
#include "studio/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---------------------------------------------------------------------------------------------------------------------
// Characters

static snwResult MakeStudioStage(snwJob* job, snwSceneFile* file)
{
    snwSimDef def = snwDefaultSimDef();
    snwResult result = snwJob_Progress(job, "drawing", 0.6);
    if (result >= 0)
        result = snwCreateStage(job->context, file, NULL, &job->stage, &job->message);
    else
        snwSceneFile_Close(file);
    if (result < 0)
        return result;
    def.scene = job->stage->file.scene;
    result = snwJob_Progress(job, "preparing", 0.8);
    return result < 0 ? result : snwCreateSim(job->context, &def, &job->sim, &job->message);
}

// Some skeletons are nothing for a method; flesh alone always is.
static snwResult ShowCast(snwJob* job, const snwCast* cast, snwSceneFile* file)
{
    snwSimDef def = snwDefaultSimDef();
    snwStage* plain = NULL;
    snwResult result = MakeStudioStage(job, file);
    if (result >= 0 || result == snw_errorInterrupted || job->stage == NULL || cast->flat || !cast->jointed)
        return result;
    snwStageChange change = {.method = "pbd", .body = -1};
    result = snwStage_Change(job->stage, &change, &plain, &job->message);
    if (result < 0)
        return result;
    snwStage_Release(job->stage);
    job->stage = plain;
    def.scene = plain->file.scene;
    return snwCreateSim(job->context, &def, &job->sim, &job->message);
}

static snwResult OpenStudioBlueprint(snwJob* job, const char* name, const char* reference)
{
    snwCast cast;
    snwSceneFile file;
    snwResult result = snwCast_OpenBlueprint(job->context, name, reference, NULL, &cast, &file, &job->message);
    return result < 0 ? result : ShowCast(job, &cast, &file);
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static snwResult OpenSceneFile(snwJob* job, const char* path, const snwWall* wall)
{
    snwSceneOptions options = snwDefaultSceneOptions();
    options.wall = wall;
    snwSceneFile file = {0};
    snwResult result = snwSceneFile_Open(job->context, path, &options, &file, &job->message);
    return result < 0 ? result : MakeStudioStage(job, &file);
}

static snwResult OpenPrepared(snwJob* job, const char* path, const char* name)
{
    snwCast cast;
    snwSceneFile file;
    snwResult result = snwCast_OpenPrepared(job->context, name, path, NULL, &cast, &file, &job->message);
    return result < 0 ? result : ShowCast(job, &cast, &file);
}

static snwResult OnOpenStep(snwPrepareStep step, void* user)
{
    return snwJob_Progress(user, snwPrepareStep_Name(step), 0.05 + 0.5 * step / snw_prepareStepCount);
}

// The prepared file stays in the folder, where scenes and logs find it again.
static snwResult StorePrepared(snwJob* job, const snwPrepared* prepared, const char* stem, char* path)
{
    void* data = NULL;
    size_t size = 0;
    snwResult result = snwPrepared_Save(prepared, &data, &size, &job->message);
    if (result >= 0)
        result = snwFolder_Store(job->session, stem, ".snw", data, size, path, &job->message);
    if (data != NULL)
        snwContext_Free(job->context, data);
    return result;
}

static snwResult OpenAsset(snwJob* job, const char* path, const char* name)
{
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepareReport* report = snwAlloc(job->context, sizeof *report);
    snwPrepared* prepared = NULL;
    char stored[snw_stagePath];
    if (report == NULL)
        return snwFailMemory(&job->message);

    // Prepared with the defaults, stored beside the others, and opened from there.
    def.progress = OnOpenStep;
    def.user = job;
    snwResult result = snwPrepareFile(job->context, path, &def, &prepared, report, &job->message);
    if (result >= 0)
        result = StorePrepared(job, prepared, name, stored);
    if (result >= 0)
        result = OpenPrepared(job, stored, name);
    if (result >= 0)
    {
        snprintf(job->stage->asset, sizeof job->stage->asset, "%s", path);
        if (report->noteCount > 0)
            snprintf(job->note, sizeof job->note, "%s", report->notes[0]);
    }
    snwPrepared_Release(prepared);
    snwFree(job->context, report);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Recordings

static snwResult Perform(snwJob* job, const snwLog* log, snwSim* sim)
{
    double dt = 1 / snwScene_GetDef(log->file.scene)->rate;
    snwResult result = snw_ok;
    int next = 0;
    for (int frame = 0; frame + 1 < log->frameCount && result >= 0; ++frame)
    {
        for (; next < log->commandCount && log->commands[next].step <= (uint64_t)frame && result >= 0; ++next)
            result = snwSim_Push(sim, &log->commands[next], &job->message);
        if (result >= 0)
            result = snwSim_Step(sim, dt, &job->message);
        if (result >= 0 && snwSim_Hash(sim) != log->hashes[frame + 1])
            return snwFail(&job->message, snw_errorInput, "was it made by another version of sinew?",
                "frame %d differs from the recording", frame + 1);
        if (result >= 0)
            result = snwJob_Progress(job, "replaying", 0.5 + 0.5 * frame / log->frameCount);
    }
    return result < 0 ? result : snw_ok;
}

static snwResult KeepMoment(snwJob* job, const snwLog* log, snwSim* sim)
{
    snwMoment* moment = &job->moment;
    snwRecording recorded = {
        .commands = {log->commands, log->commandCount, log->commandCount},
        .hashes = {log->hashes, log->frameCount, log->frameCount},
    };
    moment->blockSize = snwSim_GetStateSize(sim);
    moment->block = snwAllocRaw(job->context, moment->blockSize);
    if (moment->block == NULL || !snwRecording_Copy(job->context, &recorded, &moment->recording))
        return snwFailMemory(&job->message);
    moment->stage = job->stage;
    job->stage = NULL;
    return snwSim_Save(sim, moment->block, moment->blockSize, NULL, &job->message);
}

static snwResult OpenLog(snwJob* job, const char* path, const snwWall* wall)
{
    snwLog log = {0};
    snwResult result = snwLog_Open(job->context, path, wall, &log, &job->message);
    if (result < 0)
        return result;

    // The log brings its scene along; the stage keeps it.
    snwSceneFile file = log.file;
    snwScene_Retain(file.scene);
    result = MakeStudioStage(job, &file);
    if (result >= 0 && log.frameCount > 0) // else it was cut short before its first frame, and the scene is all it has
    {
        snwSim* sim = job->sim;
        job->sim = NULL;
        result = Perform(job, &log, sim);
        if (result >= 0)
            result = KeepMoment(job, &log, sim);
        snwDestroySim(sim);
    }

    snwLog_Close(job->context, &log);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Which is it?

static void StemOf(const char* path, char* stem, size_t capacity)
{
    const char* slash = strrchr(path, '/');
    snprintf(stem, capacity, "%s", slash != NULL ? slash + 1 : path);
    char* dot = strrchr(stem, '.');
    if (dot != NULL && dot != stem)
        *dot = 0;
}

static snwResult OpenPath(snwJob* job, const char* path, const snwWall* wall)
{
    char stem[128];
    StemOf(path, stem, sizeof stem);
    snwResult result;
    if (snwHasEnding(path, ".jsonl"))
        result = OpenLog(job, path, wall);
    else if (snwHasEnding(path, ".json"))
        result = snwBlueprintFile_IsOne(job->context, path) ? OpenStudioBlueprint(job, stem, path)
                                                            : OpenSceneFile(job, path, wall);
    else if (snwHasEnding(path, ".snw"))
        result = OpenPrepared(job, path, stem);
    else
        result = OpenAsset(job, path, stem);
    snwStage* stage = job->stage != NULL ? job->stage : job->moment.stage;
    if (result >= 0 && stage != NULL)
        snprintf(stage->origin, sizeof stage->origin, "%s", path);
    return result;
}

snwResult snwJob_Open(snwJob* job)
{
    char path[snw_stagePath];
    snwResult result = snwJob_Progress(job, "reading", 0.05);
    if (result < 0)
        return result;

    // By name, in the order in which users mean it: uploads, shipped scenes, built-in characters; a path only if it
    // came from the command line.
    bool any = job->source == snw_sourceAny;
    const snwWall wall = {job->session->folder, job->session->source};
    if ((any || job->source == snw_sourceFile) && snwFolder_Find(job->session, job->name, path))
        result = OpenPath(job, path, &wall);
    else if ((any || job->source == snw_sourceScene) && snwScenes_Find(job->name, path, sizeof path))
        result = OpenSceneFile(job, path, NULL);
    else if ((any || job->source == snw_sourceCharacter) && snwBuiltIn_Find(job->name) != NULL)
        result = OpenStudioBlueprint(job, job->name, job->name);
    else if (job->trusted && snwFileExists(job->name))
        result = OpenPath(job, job->name, NULL);
    else
        result = snwScenes_FailUnknown(job->context, job->name, &job->message);

    // Its name is the file's, without its ending.
    snwStage* stage = job->stage != NULL ? job->stage : job->moment.stage;
    if (stage != NULL)
        StemOf(job->name, stage->name, sizeof stage->name);
    return result;
}
