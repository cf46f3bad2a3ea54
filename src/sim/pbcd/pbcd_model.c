// Preparing a character for pbcd: constraints, rest shapes, skinning and what ties flesh to bones.

#include "sim/pbcd/pbcd.h"

#include <math.h>

static snwResult MakePbcdWeights(snwPbcdModel* model, snwMessage* message)
{
    const snwCharacter* character = model->character;
    model->weights = &character->def.boneWeights;
    if (model->weights->vertexCount > 0)
        return snw_ok;
    snwWeightsDef def = snwDefaultWeightsDef();
    snwResult result = snwComputeWeights(character, &def, &model->ownWeights, message);
    model->weights = model->ownWeights;
    return result < 0 ? result : snw_ok;
}

static snwResult MakePbcdSkin(snwPbcdModel* model, snwMessage* message)
{
    const snwCharacter* character = model->character;

    // Skinning takes floats.
    float* rest = snwAllocArray(model->context, 3 * (size_t)model->vertexCount, sizeof *rest);
    if (rest == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < model->vertexCount; ++i)
    {
        snwVec3 x = character->def.vertices[i];
        rest[3 * (size_t)i] = (float)x.x;
        rest[3 * (size_t)i + 1] = (float)x.y;
        rest[3 * (size_t)i + 2] = (float)x.z;
    }

    snwSkinningDef def = snwDefaultSkinningDef();
    def.positions = rest;
    def.stride = 3 * (int)sizeof *rest;
    def.vertexCount = model->vertexCount;
    def.weights = model->weights;
    snwResult result = snwSkinModel_Create(model->context, &def, &model->skin, message);
    snwFree(model->context, rest);

    return result;
}

static snwResult MakeComplement(snwPbcdModel* model, snwMessage* message)
{
    const snwCharacter* character = model->character;
    size_t count = (size_t)model->vertexCount;

    // One array for both: masses, and behind them what bones hold.
    double* masses = snwAllocArray(model->context, count + count / sizeof *masses + 1, sizeof *masses);
    if (masses == NULL)
        return snwFailMemory(message);
    unsigned char* held = (unsigned char*)(masses + count);

    snwPbcd_Masses(model, character->def.materials, masses);
    for (size_t i = 0; i < count; ++i)
        held[i] = character->vertexBones[i] >= 0;

    snwComplementDef def = {.kind = model->complementKind == snw_pbcdRig ? snw_complementRig : snw_complementAffine,
        .vertexCount = model->vertexCount,
        .rest = character->def.vertices,
        .masses = masses,
        .weights = model->weights,
        .held = held};

    snwResult result = snwComplement_Create(model->context, &def, &model->complement, message);
    snwFree(model->context, masses);
    return result;
}

// Eq. 4.4, with the projection on the clamped segment: the printed one leaves the bone.
static snwResult MakeBonds(snwPbcdModel* model, snwMessage* message)
{
    const snwCharacterDef* def = &model->character->def;
    model->bonds = snwArena_Alloc(&model->arena, (size_t)model->vertexCount, sizeof *model->bonds);
    if (model->bonds == NULL)
        return snwFailMemory(message);

    // The nearest bone, and how far away it is at rest: that distance is kept.
    for (int i = 0; i < model->vertexCount; ++i)
    {
        double least = INFINITY;
        for (int k = 0; k < def->boneCount; ++k)
        {
            snwVec3 near = snwPbcd_NearestOnSegment(def->vertices[i], def->bones[k].head, def->bones[k].tail);
            double distance = snwVec3_Distance(def->vertices[i], near);
            if (distance < least)
                model->bonds[i] = (snwPbcdBond){k, (float)distance};
            least = fmin(least, distance);
        }
    }

    return snw_ok;
}

static snwResult MakePbcdRig(snwPbcdModel* model, const double* params, snwMessage* message)
{
    snwResult result = MakePbcdWeights(model, message);
    if (result >= 0)
        result = MakePbcdSkin(model, message);
    if (result >= 0 && model->complementKind != snw_pbcdNoComplement)
        result = MakeComplement(model, message);
    if (result >= 0 && (snwPbcdBind)params[snw_pbcdBind_] == snw_pbcdDistance)
        result = MakeBonds(model, message);
    return result;
}

static snwResult MakeBoneTets(snwPbcdModel* model, snwMessage* message)
{
    const snwCharacter* character = model->character;
    const snwBlocks* blocks = &model->blocks;
    model->boneTets = snwArena_Copy(&model->arena, blocks->tets, (size_t)blocks->tetBlocks, sizeof *blocks->tets);
    if (model->boneTets == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < character->def.tetCount; ++i)
    {
        bool held = false;
        for (int k = 0; k < 4; ++k)
            held = held || character->vertexBones[character->def.tets[i][k]] >= 0;
        int place = blocks->tetPlaces[i];
        if (!held)
            model->boneTets[place / snw_blockLanes].rest[place % snw_blockLanes] = -INFINITY;
    }
    return snw_ok;
}

static snwResult MakeConstraints(snwPbcdModel* model, snwMessage* message)
{
    snwResult result = snwBlocks_Make(&model->arena, model->character, &model->blocks, message);
    if (result < 0)
        return result;
    model->tetEdges = snwTetEdges_Make(&model->arena, model->character);
    model->rests = snwArena_Alloc(&model->arena, (size_t)model->blocks.tetBlocks + 1, sizeof *model->rests);
    if (model->arena.failed)
        return snwFailMemory(message);
    snwNeoRest_SetAll(model->rests, &model->blocks, model->character);
    return model->driven && model->unfolds ? MakeBoneTets(model, message) : snw_ok;
}

static void ReadParams(snwPbcdModel* model, const double* params)
{
    const snwCharacterDef* def = &model->character->def;

    model->mode = (snwPbcdMode)params[snw_pbcdMode_];
    model->solver = (snwPbcdSolver)params[snw_pbcdSolver_];

    // Lengths are all that a body without tets has, and all that the method of 2007 knows.
    bool edges = def->tetCount == 0 || model->solver == snw_pbcdPbd;
    model->law = edges ? snw_pbcdEdges : (snwPbcdLaw)params[snw_pbcdLaw_];

    // Unfolding belongs to sweeps of elements that flesh may leave.
    model->hold = params[snw_pbcdHold] != 0.0;
    model->unfolds = model->solver == snw_pbcdSmpbd && model->law != snw_pbcdEdges && !model->hold;

    model->commit = (snwPbcdCommit)params[snw_pbcdCommit_];

    model->integrator = (snwPbcdIntegrator)params[snw_pbcdIntegrator_];
    model->corrected = params[snw_pbcdCorrected] != 0.0;
    model->complementKind = (snwPbcdComplement)params[snw_pbcdComplement_];
    model->equalMasses = params[snw_pbcdEqualMasses] != 0.0;
    model->skinning = (snwSkinningKind)params[snw_pbcdSkinning];

    // Who follows an artist: what has bones, or a shape that changes.
    for (int i = 0; i < def->motionCount; ++i)
        model->moving = model->moving || def->motions[i].vertices.sampleCount > 0;
    model->driven = (def->boneCount > 0 || model->moving) && params[snw_pbcdFollow] != 0.0;

    // Rests move along with the artist unless the complement asks for fixed ones.
    snwPbcdRestKind rest = (snwPbcdRestKind)params[snw_pbcdRest];
    bool fixed = rest == snw_pbcdRestAuto ? model->complementKind != snw_pbcdNoComplement : rest == snw_pbcdRestFixed;
    model->movingRests = model->driven && model->mode == snw_pbcdFlesh && !fixed;
}

snwResult snwPbcd_CreateModel(const snwModelDef* def, void** out, snwMessage* message)
{
    const double* params = def->params + snw_sharedParamCount;
    snwPbcdModel* model = snwAlloc(def->context, sizeof *model);

    *out = model;
    if (model == NULL)
        return snwFailMemory(message);

    model->arena.context = model->context = def->context;
    model->character = def->character;
    model->vertexCount = def->character->def.vertexCount;
    ReadParams(model, params);

    // Elements, and with a skeleton the rig.
    snwResult result = MakeConstraints(model, message);
    if (result >= 0 && model->driven && model->character->def.boneCount > 0)
        result = MakePbcdRig(model, params, message);
    if (result < 0)
    {
        snwPbcd_DestroyModel(def->context, model);
        *out = NULL;
    }

    return result;
}

void snwPbcd_DestroyModel(snwContext* context, void* data)
{
    snwPbcdModel* model = data;
    if (model == NULL)
        return;
    snwSkinModel_Destroy(context, model->skin);
    snwComplement_Destroy(context, model->complement);
    snwFree(context, model->ownWeights);
    snwArena_Free(&model->arena);
    snwFree(context, model);
}
