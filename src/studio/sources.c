#define _XOPEN_SOURCE 700 // realpath

// What a name or a file becomes: a scene as it is, a character in a scene that suits it, a recording to go on with.

#include "studio/jobs.h"

#include "app/common.h"
#include "prepare/prepare.h"
#include "scene/builtin.h"
#include "scene/file.h"
#include "scene/prepared_file.h"
#include "studio/folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---------------------------------------------------------------------------------------------------------------------
// A scene for a character

typedef struct Cast
{
    const char* name;
    char use[snw_stagePath + 64]; // the character object of the scene
    bool flat, jointed;
    const char* motion; // NULL: none
} Cast;

static void WriteBody(snwText* text, const Cast* cast)
{
    snwText_Key(text, "bodies");
    snwText_Open(text, '[');
    snwText_Open(text, '{');
    snwText_Key(text, "name");
    snwText_String(text, cast->name);
    snwText_Key(text, "character");
    snwText_Json(text, cast->use);
    if (cast->motion != NULL)
    {
        snwText_Key(text, "motion");
        snwText_String(text, cast->motion);
    }
    snwText_Close(text, '}');
    snwText_Close(text, ']');
}

static void WriteGround(snwText* text)
{
    snwText_Key(text, "colliders");
    snwText_Open(text, '[');
    snwText_Open(text, '{');
    snwText_Key(text, "name");
    snwText_String(text, "ground");
    snwText_Key(text, "kind");
    snwText_String(text, "plane");
    snwText_Close(text, '}');
    snwText_Close(text, ']');
}

static void WriteScene(snwText* text, const Cast* cast, const char* method)
{
    snwText_Open(text, '{');
    snwText_Key(text, "sinew");
    snwText_Int(text, 1);
    snwText_Key(text, "name");
    snwText_String(text, cast->name);
    snwText_Key(text, "method");
    snwText_String(text, method);
    snwText_Key(text, "duration");
    snwText_Real(text, 10);
    if (cast->flat)
    {
        snwText_Key(text, "gravity");
        snwText_Reals(text, (double[]){0, 0, 0}, 3);
        snwText_Key(text, "settings"); // what is thrown comes to rest, in sight
        snwText_Json(text, "{\"rigpbd.damping\": 2, \"rigpbd.settle\": 5, \"rigpbd.drag\": 3}");
    }
    WriteBody(text, cast);
    if (!cast->flat)
        WriteGround(text);
    snwText_Close(text, '}');
}

static const char* ChooseMethod(const Cast* cast)
{
    if (cast->flat)
        return "rigpbd";
    if (cast->motion != NULL)
        return "pbcd";
    return cast->jointed ? "apd" : "pbd";
}

static snwResult MakeStage(snwJob* job, snwSceneFile* file)
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

// A figure of paper floats before the viewer and waits for a hand; one with a motion plays it, on a ground where it is
// lowest; all others fall a little, so that one sees at once what they are made of.
static snwResult Place(snwJob* job, const Cast* cast, snwSceneFile* file)
{
    snwSceneDef def = *snwScene_GetDef(file->scene);
    snwCharacterInfo info = snwCharacter_GetInfo(def.bodies[0].character);
    snwBodyDef body = def.bodies[0];
    snwScene* placed = NULL;
    double size = info.upper.y - info.lower.y;
    if (cast->flat || def.colliderCount == 0)
        return snw_ok;
    snwColliderDef ground = def.colliders[0];
    if (cast->motion == NULL)
        body.transform.position.y = 0.15 * size - info.lower.y;
    else if (fabs(info.lower.y) > 0.1 * size)
        ground.transform.position.y = info.lower.y;
    def.bodies = &body;
    def.colliders = &ground;
    snwResult result = snwCreateScene(job->context, &def, &placed, &job->message);
    if (result < 0)
        return result;
    snwScene_Release(file->scene);
    file->scene = placed;
    return result;
}

static snwResult ReadCast(snwJob* job, const Cast* cast, snwSceneFile* file)
{
    snwText text = snwCreateText(job->context, 0);
    snwSceneOptions options = snwDefaultSceneOptions();
    WriteScene(&text, cast, ChooseMethod(cast));
    snwResult result = text.failed ? snwFailMemory(&job->message)
                                   : snwSceneFile_Parse(
                                         job->context, text.data, text.size, cast->name, &options, file, &job->message);
    snwText_Free(&text);
    return result < 0 ? result : Place(job, cast, file);
}

// Some skeletons are nothing for a method; flesh alone always is.
static snwResult OpenCast(snwJob* job, const Cast* cast)
{
    snwSceneFile file = {0};
    snwSimDef def = snwDefaultSimDef();
    snwStage* plain = NULL;
    snwResult result = ReadCast(job, cast, &file);
    if (result < 0)
    {
        snwSceneFile_Close(&file);
        return result;
    }
    result = MakeStage(job, &file);
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

static void LookAt(Cast* cast, const snwCharacterDef* def)
{
    cast->flat = def->triangleCount > 0;
    cast->jointed = def->jointCount > 0 && def->elementBones != NULL;
    cast->motion = def->motionCount > 0 && def->boneCount > 0 ? def->motions[0].name : NULL;
}

// Characters are made for films; a hand wants an answer in a sixtieth of a second.
static bool IsLarge(const snwBlueprint* blueprint)
{
    const snwBlueprintSize* size = &blueprint->size;
    return blueprint->boxSize.x == 0 && blueprint->flat.ringCount == 0 &&
           (size->vertices > 4000 || size->tets > 16000 || size->elasticVertices > 4000 || size->skinVertices > 3000);
}

static snwResult CastBlueprint(
    snwJob* job, const char* reference, const snwBlueprint* blueprint, Cast* cast, bool small)
{
    snwText use = snwCreateText(job->context, 0);
    snwText_Open(&use, '{');
    snwText_Key(&use, "blueprint");
    snwText_String(&use, reference);
    if (small)
    {
        snwText_Key(&use, "size");
        snwText_Json(&use, "{\"vertices\": 3000}");
    }
    if (blueprint->flat.ringCount == 0 && blueprint->motionCount > 0 && blueprint->boneCount > 0)
    {
        snwText_Key(&use, "material"); // softer than most are made for, so that a hand feels flesh on moving bones
        snwText_String(&use, "fat");
    }
    snwText_Close(&use, '}');
    bool fits = !use.failed && use.size < sizeof cast->use;
    if (fits)
        memcpy(cast->use, use.data, use.size + 1);
    snwText_Free(&use);
    cast->flat = blueprint->flat.ringCount > 0;
    cast->jointed = blueprint->jointCount > 0;
    cast->motion = blueprint->motionCount > 0 && blueprint->boneCount > 0 ? blueprint->motions[0].name : NULL;
    return fits ? OpenCast(job, cast) : snwFailMemory(&job->message);
}

// Thin ones cannot be made small, and get the size that they are made for.
static snwResult OpenBlueprint(snwJob* job, const char* name, const char* reference)
{
    snwBlueprintFile file;
    Cast cast = {.name = name};
    snwResult result = snwBlueprintFile_Open(job->context, reference, &file, &job->message);
    if (result >= 0)
    {
        bool small = IsLarge(&file.blueprint);
        result = CastBlueprint(job, reference, &file.blueprint, &cast, small);
        if (result == snw_errorInput && small && job->stage == NULL)
            result = CastBlueprint(job, reference, &file.blueprint, &cast, false);
    }
    snwBlueprintFile_Free(&file);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static snwResult OpenSceneFile(snwJob* job, const char* path, const snwWall* wall)
{
    snwSceneOptions options = snwDefaultSceneOptions();
    options.wall = wall;
    snwSceneFile file = {0};
    snwResult result = snwSceneFile_Open(job->context, path, &options, &file, &job->message);
    return result < 0 ? result : MakeStage(job, &file);
}

static snwResult ShowPrepared(snwJob* job, const char* path, const snwPrepared* prepared, const char* name)
{
    snwText use = snwCreateText(job->context, 0);
    char* full = realpath(path, NULL);
    const snwCharacter* character = snwPrepared_GetCharacter(prepared);
    Cast cast = {.name = name};
    snwText_Open(&use, '{');
    snwText_Key(&use, "file");
    snwText_String(&use, full != NULL ? full : path);
    snwText_Close(&use, '}');
    LookAt(&cast, snwCharacter_GetDef(character));
    free(full);
    if (use.failed || use.size >= sizeof cast.use)
    {
        snwText_Free(&use);
        return snwFail(&job->message, snw_errorIo, "a shorter folder", "the path is too long");
    }
    memcpy(cast.use, use.data, use.size + 1);
    snwText_Free(&use);
    return OpenCast(job, &cast);
}

static snwResult OpenPrepared(snwJob* job, const char* path, const char* name)
{
    snwPrepared* prepared = NULL;
    snwResult result = snwPrepared_Open(job->context, path, &prepared, &job->message);
    if (result >= 0)
        result = ShowPrepared(job, path, prepared, name);
    snwPrepared_Release(prepared);
    return result;
}

static snwResult OnStep(snwPrepareStep step, void* user)
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
    def.progress = OnStep;
    def.user = job;
    snwResult result = snwPrepareFile(job->context, path, &def, &prepared, report, &job->message);
    if (result >= 0)
        result = StorePrepared(job, prepared, name, stored);
    if (result >= 0)
        result = ShowPrepared(job, stored, prepared, name);
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
    snwSceneFile file = log.file;
    snwScene_Retain(file.scene);
    result = MakeStage(job, &file);
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

static bool EndsWith(const char* text, const char* end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcasecmp(text + length - size, end) == 0;
}

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
    if (EndsWith(path, ".jsonl"))
        result = OpenLog(job, path, wall);
    else if (EndsWith(path, ".json"))
        result = snwBlueprintFile_IsOne(job->context, path) ? OpenBlueprint(job, stem, path)
                                                            : OpenSceneFile(job, path, wall);
    else if (EndsWith(path, ".snw"))
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
    bool any = job->source == snw_sourceAny;
    const snwWall wall = {job->session->folder, job->session->source};
    if ((any || job->source == snw_sourceFile) && snwFolder_Find(job->session, job->name, path))
        result = OpenPath(job, path, &wall);
    else if ((any || job->source == snw_sourceScene) && snwScenes_Find(job->name, path))
        result = OpenSceneFile(job, path, NULL);
    else if ((any || job->source == snw_sourceCharacter) && snwBuiltIn_Find(job->name) != NULL)
        result = OpenBlueprint(job, job->name, job->name);
    else if (job->trusted && snwFileExists(job->name))
        result = OpenPath(job, job->name, NULL);
    else
        result = snwScenes_FailUnknown(job->context, job->name, &job->message);
    snwStage* stage = job->stage != NULL ? job->stage : job->moment.stage;
    if (stage != NULL)
        StemOf(job->name, stage->name, sizeof stage->name);
    return result;
}
