// Preparing a character for rigpbd: elements in blocks, weights, and the rig as the fit wants it.

#include "contact/facet.h"
#include "sim/rigpbd/rigpbd.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Handles and chains

static const snwJointDef* FindJoint(const snwCharacterDef* def, int bone)
{
    for (int i = 0; i < def->jointCount; ++i)
        if (def->joints[i].bone == bone)
            return &def->joints[i];
    return NULL;
}

static void FindHandles(snwRigpbdModel* model)
{
    const snwCharacterDef* def = &model->character->def;
    for (int i = 0; i < def->boneCount; ++i)
        model->boneHandles[i] = def->handleCount > 0 ? -1 : i;
    for (int i = 0; i < model->handleCount; ++i)
    {
        const snwHandleDef* handle = def->handleCount > 0 ? &def->handles[i] : NULL;
        int bone = snwCharacterDef_BoneOfHandle(def, i);
        if (bone >= 0)
            model->boneHandles[bone] = i;
        model->origins[i] = handle != NULL ? handle->position : snwCharacterDef_BonePoint(def, bone);
        model->given[i] = handle != NULL ? handle->given : 0;
    }
}

static void FillRigHandles(const snwRigpbdModel* model, snwRigHandleDef* handles, bool affine)
{
    const snwCharacterDef* def = &model->character->def;
    for (int i = 0; i < model->handleCount; ++i)
    {
        bool cage = def->handleCount > 0 && def->handles[i].kind == snw_handleCage;
        handles[i].origin = model->origins[i];
        handles[i].freedom = cage ? snw_rigMoving : affine ? snw_rigAffine : snw_rigRigid;
    }
}

// In the plane the fit knows hinges, balls and fixed joints; in space all of them. What slides is left loose.
static bool HoldsTogether(const snwJointDef* joint)
{
    return joint == NULL ||
           (joint->type != snw_jointPrismatic && joint->type != snw_jointCylindrical && joint->type != snw_jointFree);
}

static bool HasLimits(const snwRigpbdModel* model, const snwJointDef* joint, bool affine)
{
    bool plane = joint != NULL &&
                 (joint->type == snw_jointHinge || joint->type == snw_jointBall || joint->type == snw_jointFixed);
    return joint != NULL && !affine && (!model->flat || plane);
}

// A bone and its parent hold together at the bone's joint, or its head without one.
static int FillLinks(const snwRigpbdModel* model, snwRigLinkDef* links, bool affine)
{
    const snwCharacterDef* def = &model->character->def;
    int count = 0;
    for (int i = 0; i < def->boneCount; ++i)
    {
        const snwJointDef* joint = FindJoint(def, i);
        int parent = joint != NULL ? joint->parentBone : def->bones[i].parent;
        if (parent < 0 || model->boneHandles[i] < 0 || model->boneHandles[parent] < 0 || !HoldsTogether(joint))
            continue;
        links[count++] = (snwRigLinkDef){.parent = model->boneHandles[parent],
            .child = model->boneHandles[i],
            .joint = snwCharacterDef_BonePoint(def, i),
            .limits = HasLimits(model, joint, affine) ? joint : NULL};
    }
    return count;
}

// Half as deep as it lies in the flesh at rest; less than none outside: corners of cages may be in the ground.
static double FindRoom(const snwCharacter* character, bool flat, snwVec3 origin)
{
    double outside = INFINITY, inside = INFINITY;
    for (int i = 0; i < character->elements.count; ++i)
    {
        const int* ids = snwElements_Corners(character->elements, i);
        snwVec3 corners[4] = {{0, 0, 0}};
        for (int k = 0; k < character->elements.arity; ++k)
            corners[k] = character->def.vertices[ids[k]];
        outside = fmin(outside, snwElement_Distance(corners, flat, origin));
    }
    for (int i = 0; i < character->skinVertexCount; ++i)
        inside = fmin(inside, snwVec3_Distance(origin, character->def.vertices[character->skinVertices[i]]));
    return outside > 0.0 ? -outside : 0.5 * inside;
}

// A vertex counts for each handle by its weight.
static void FindHandleVolumes(const snwRigpbdModel* model)
{
    const snwCharacter* character = model->character;
    const snwWeights* w = model->rigWeights;
    for (int i = 0; i < character->elements.count; ++i)
    {
        const int* corners = snwElements_Corners(character->elements, i);
        double part = character->restVolumes[i] / character->elements.arity;
        for (int c = 0; c < character->elements.arity; ++c)
            for (int e = w->starts[corners[c]]; e < w->starts[corners[c] + 1]; ++e)
                model
                    ->volumes[w->handles[e] * character->def.materialCount + character->def.regions[i]] += part *
                                                                                                           w->values[e];
    }
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult FindRigWeights(snwRigpbdModel* model, const double* params, snwMessage* message)
{
    const snwCharacterDef* character = &model->character->def;
    bool handles = character->handleCount > 0;
    model->rigWeights = handles ? &character->handleWeights : &character->boneWeights;
    if (model->rigWeights->vertexCount > 0)
        return snw_ok;
    snwWeightsDef def = snwDefaultWeightsDef();
    def.handles = handles;
    def.kind = (snwWeightsKind)params[snw_sharedParamCount + snw_rigpbdWeights];
    snwResult result = snwComputeWeights(model->character, &def, &model->weights, message);
    model->rigWeights = model->weights;
    return result < 0 ? result : snw_ok;
}

// With chains, and then without if there are any.
static snwResult MakePair(
    snwContext* context, const snwRigpbdModel* model, bool affine, snwRigFit* fits[2], snwMessage* message)
{
    const snwCharacterDef* character = &model->character->def;
    snwArena arena = {.context = context};
    snwWeights weights = *model->rigWeights;
    snwRigHandleDef* handles = snwArena_Alloc(&arena, (size_t)model->handleCount, sizeof *handles);
    snwRigLinkDef* links = snwArena_Alloc(&arena, (size_t)character->boneCount + 1, sizeof *links);
    snwResult result = arena.failed ? snwFailMemory(message) : snw_ok;

    if (result == snw_ok)
    {
        FillRigHandles(model, handles, affine);
        snwRigFitDef fit = {.dimension = model->flat ? 2 : 3,
            .vertexCount = model->vertexCount,
            .rest = character->vertices,
            .masses = model->character->masses,
            .weights = &weights,
            .handles = handles,
            .links = links,
            .linkCount = FillLinks(model, links, affine),
            .constraints = character->constraints,
            .constraintCount = character->constraintCount};
        result = snwRigFit_Create(context, &fit, &fits[0], message);

        if (result >= 0 && fit.linkCount > 0)
        {
            fit.linkCount = 0;
            result = snwRigFit_Create(context, &fit, &fits[1], message);
        }
    }

    snwArena_Free(&arena);
    return result;
}

static snwResult MakeFits(snwRigpbdModel* model, const snwModelDef* def, snwMessage* message)
{
    const snwCharacterDef* character = &model->character->def;

    model->origins = snwArena_Alloc(&model->arena, (size_t)model->handleCount, sizeof *model->origins);
    model->rooms = snwArena_Alloc(&model->arena, (size_t)model->handleCount, sizeof *model->rooms);
    model->volumes = snwArena_Alloc(
        &model->arena, (size_t)model->handleCount * (size_t)character->materialCount, sizeof *model->volumes);
    model->given = snwArena_Alloc(&model->arena, (size_t)model->handleCount, sizeof *model->given);
    model->boneHandles = snwArena_Alloc(&model->arena, (size_t)character->boneCount + 1, sizeof *model->boneHandles);
    if (model->arena.failed)
        return snwFailMemory(message);

    // Where handles are, and how much room there is around them.
    FindHandles(model);
    for (int i = 0; i < model->handleCount; ++i)
        model->rooms[i] = FindRoom(model->character, model->flat, model->origins[i]);

    // Weights, the volume that each handle holds, and the fits.
    snwResult result = FindRigWeights(model, def->params, message);
    if (result < 0)
        return result;

    FindHandleVolumes(model);
    return MakePair(def->context, model, false, model->fits, message);
}

snwResult snwRigpbd_MakeAffine(
    snwContext* context, const snwRigpbdModel* model, const snwRigFit* fits[2], snwMessage* message)
{
    snwRigFit* made[2] = {NULL, NULL};
    snwResult result = MakePair(context, model, true, made, message);
    if (result < 0)
        snwRigFit_Destroy(context, made[0]);
    else
        fits[0] = made[0], fits[1] = made[1];
    return result < 0 ? result : snw_ok;
}

static bool NamesTurns(const snwCharacterDef* def)
{
    bool any = false;
    for (int i = 0; i < def->constraintCount; ++i)
        for (int k = 0; k < def->constraints[i].termCount; ++k)
            any = any || def->constraints[i].terms[k].dof > snw_dofZ;
    return any;
}

snwResult snwRigpbd_CheckParam(const snwSceneDef* scene, int param, double value, snwMessage* message)
{
    if (param != snw_rigpbdHandles || value == 0.0)
        return snw_ok;
    for (int i = 0; i < scene->bodyCount; ++i)
        if (NamesTurns(snwCharacter_GetDef(scene->bodies[i].character)))
            return snwFail(message, snw_errorUnsupported, "constrain places only, or keep the handles rigid",
                "the constraints of body '%s' name turns, which affine handles have not", scene->bodies[i].name);
    return snw_ok;
}

snwResult snwRigpbd_CreateModel(const snwModelDef* def, void** out, snwMessage* message)
{
    const snwCharacter* character = def->character;
    if (character->def.tetCount + character->def.triangleCount == 0)
        return snwFail(message, snw_errorUnsupported, "give it tets or triangles, or choose another method",
            "character '%s' has no elements", character->def.name);
    snwRigpbdModel* model = snwAlloc(def->context, sizeof *model);
    *out = model;
    if (model == NULL)
        return snwFailMemory(message);

    // Elements in blocks for the law, and the rig if there are handles.
    model->arena.context = def->context;
    model->character = character;
    model->flat = character->def.triangleCount > 0;
    model->vertexCount = character->def.vertexCount;
    model->handleCount = snwCharacterDef_HandleCount(&character->def);
    model->size = snwVec3_Distance(character->lower, character->upper);

    snwResult result = snwBlocks_Make(&model->arena, character, &model->blocks, message);
    if (result == snw_ok && model->handleCount > 0)
        result = MakeFits(model, def, message);
    if (result < 0)
        snwRigpbd_DestroyModel(def->context, model);
    return result;
}

void snwRigpbd_DestroyModel(snwContext* context, void* data)
{
    snwRigpbdModel* model = data;
    for (int i = 0; model != NULL && i < snw_rigpbdModelFits; ++i)
        snwRigFit_Destroy(context, model->fits[i]);
    if (model != NULL)
    {
        snwContext_Free(context, model->weights);
        snwArena_Free(&model->arena);
    }
    snwFree(context, model);
}
