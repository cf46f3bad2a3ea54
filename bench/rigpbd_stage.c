#include "rigpbd_bench.h"

#include "base/result.h"
#include "math/eigen.h"
#include "scene/builtin.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Making

static snwResult ReadScene(snwRigStage* stage, const snwRigStageDef* def, snwMessage* message)
{
    const snwBuiltIn* builtIn = snwBuiltIn_Find(def->character);
    json_t* blueprint = builtIn != NULL ? json_loadb(builtIn->text, builtIn->size, 0, NULL) : NULL;
    if (blueprint == NULL)
        return snwFail(message, snw_errorArgument, NULL, "there is no character '%s'", def->character);
    if (!def->painted)
        json_object_del(blueprint, "paint");
    json_t* scene = json_pack("{s:i, s:s, s:i, s:[iii], s:[{s:s, s:{s:o}}]}", "sinew", 1, "method", "rigpbd", "rate",
        60, "gravity", 0, 0, 0, "bodies", "name", "body", "character", "blueprint", blueprint);
    char* json = json_dumps(scene, 0);
    json_decref(scene);
    if (json == NULL)
        return snwFailMemory(message);
    snwResult result = snwSceneFile_Parse(
        stage->context, json, strlen(json), def->character, NULL, &stage->file, message);
    free(json);
    return result;
}

static snwResult CreateSim(snwRigStage* stage, const snwRigStageDef* def, snwMessage* message)
{
    snwSceneDef sceneDef = *snwScene_GetDef(stage->file.scene);
    snwSetting settings[snw_maxStageSettings + 1] = {{"sim.substeps", snw_stageSubsteps}};
    int count = 1;
    for (int i = 0; i < snw_maxStageSettings && def->settings[i].name != NULL; ++i)
        settings[strcmp(def->settings[i].name, "sim.substeps") == 0 ? 0 : count++] = def->settings[i];
    snwScene* scene = NULL;
    sceneDef.settings = settings;
    sceneDef.settingCount = count;
    sceneDef.gravity = (snwVec3){0, -def->gravity, 0};
    snwResult result = snwCreateScene(stage->context, &sceneDef, &scene, message);
    if (result < 0)
        return result;
    snwSimDef made = snwDefaultSimDef();
    made.scene = scene;
    if (def->method != NULL)
        result = snwCreateSimWith(stage->context, &made, def->method, &stage->sim, message);
    else
        result = snwCreateSim(stage->context, &made, &stage->sim, message);
    snwScene_Release(scene);
    return result;
}

snwResult snwRigStage_Open(snwRigStage* stage, const snwRigStageDef* def, snwMessage* message)
{
    *stage = (snwRigStage){0};
    snwContextDef contextDef = snwDefaultContextDef();
    contextDef.threadCount = 1;
    contextDef.logUser = def->user;
    snwResult result = snwCreateContext(&contextDef, &stage->context, message);
    if (result >= 0)
        result = ReadScene(stage, def, message);
    if (result >= 0)
    {
        stage->character = snwScene_GetDef(stage->file.scene)->bodies[0].character;
        stage->size = snwVec3_Distance(stage->character->lower, stage->character->upper);
        result = CreateSim(stage, def, message);
    }
    if (result < 0)
        snwRigStage_Close(stage);
    return result;
}

snwResult snwRigStage_Reopen(snwRigStage* stage, const snwRigStageDef* def, snwMessage* message)
{
    if (stage->sim != NULL)
        snwDestroySim(stage->sim);
    stage->sim = NULL;
    return CreateSim(stage, def, message);
}

void snwRigStage_Close(snwRigStage* stage)
{
    if (stage->sim != NULL)
        snwDestroySim(stage->sim);
    if (stage->file.scene != NULL)
        snwSceneFile_Close(&stage->file);
    if (stage->context != NULL)
        snwDestroyContext(stage->context);
    *stage = (snwRigStage){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Playing

snwResult snwRigStage_Step(snwRigStage* stage, snwMessage* message)
{
    return snwSim_Step(stage->sim, 1.0 / 60, message);
}

snwVec3 snwRigStage_HandleRest(const snwRigStage* stage, int handle)
{
    return snwCharacterDef_HandlePoint(&stage->character->def, handle);
}

snwVec3 snwRigStage_HandlePlace(const snwRigStage* stage, int handle)
{
    snwMatrices handles;
    snwVec3 p = snwRigStage_HandleRest(stage, handle);
    if (snwSim_GetHandleMatrices(stage->sim, 0, &handles) < 0)
        return p;
    const double* m = handles.data[handle];
    return (snwVec3){m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
        m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
}

void snwRigStage_Give(snwRigStage* stage, int handle, uint32_t mask, snwVec3 place)
{
    snwCommand command = {.kind = snw_commandHandle,
        .step = snwSim_GetStepCount(stage->sim),
        .body = 0,
        .index = handle,
        .mask = mask,
        .transform = {place, {0, 0, 0, 1}}};
    snwSim_Push(stage->sim, &command, NULL);
}

// ---------------------------------------------------------------------------------------------------------------------
// Looking

snwVec3 snwRigStage_Shown(const snwRigStage* stage, int vertex)
{
    snwVertices shown;
    if (snwSim_GetShown(stage->sim, 0, &shown) < 0)
        return (snwVec3){NAN, NAN, NAN};
    const float* row = (const float*)((const char*)shown.positions + (size_t)vertex * (size_t)shown.stride);
    return (snwVec3){row[0], row[1], row[2]};
}

int snwRigStage_Flipped(const snwRigStage* stage)
{
    const snwElements elements = stage->character->elements;
    int flipped = 0;
    for (int i = 0; i < elements.count; ++i)
    {
        const int* c = snwElements_Corners(elements, i);
        snwVec3 a = snwRigStage_Shown(stage, c[0]);
        snwVec3 u = snwVec3_Sub(snwRigStage_Shown(stage, c[1]), a), v = snwVec3_Sub(snwRigStage_Shown(stage, c[2]), a);
        snwVec3 cross = snwVec3_Cross(u, v);
        double volume = elements.arity == 3 ? cross.z
                                            : snwVec3_Dot(cross, snwVec3_Sub(snwRigStage_Shown(stage, c[3]), a));
        flipped += !(volume > 0);
    }
    return flipped;
}

double snwRigStage_Distortion(const snwRigStage* stage)
{
    const snwCharacterDef* def = &stage->character->def;
    snwVec3 now = {0, 0, 0}, then = {0, 0, 0};
    for (int i = 0; i < def->vertexCount; ++i)
    {
        now = snwVec3_MulAdd(now, 1.0 / def->vertexCount, snwRigStage_Shown(stage, i));
        then = snwVec3_MulAdd(then, 1.0 / def->vertexCount, def->vertices[i]);
    }
    snwMat3 sum = {{{0}}};
    for (int i = 0; i < def->vertexCount; ++i)
        sum = snwMat3_Add(
            sum, snwMat3_Outer(snwVec3_Sub(snwRigStage_Shown(stage, i), now), snwVec3_Sub(def->vertices[i], then)));
    if (def->triangleCount > 0) // turns in the plane only
        sum.m[2][2] = 10 * snwMat3_Norm(sum);
    snwMat3 turn = snwPolar3_Compute(sum).rotation;
    double farthest = 0;
    for (int i = 0; i < def->vertexCount; ++i)
    {
        snwVec3 place = snwVec3_Add(now, snwMat3_MulVec(turn, snwVec3_Sub(def->vertices[i], then)));
        farthest = fmax(farthest, snwVec3_Distance(place, snwRigStage_Shown(stage, i)));
    }
    return farthest / stage->size;
}
