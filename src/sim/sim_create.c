// Making a sim: the model from the character, the layout of the state block, the first state.

#include "sim/command.h"
#include "sim/grip.h"
#include "sim/methods.h"
#include "sim/origin.h"
#include "sim/scene.h"
#include "sim/shapes.h"
#include "base/hash.h"
#include "rig/clip.h"

#include <assert.h>
#include <string.h>

enum
{
    sim_maxTouches = 8,
    sim_maxPropTouches = 100,
    sim_maxPinned = 8 << 20 // vertices of all pins: 224 MB
};

snwSimDef snwDefaultSimDef(void)
{
    return (snwSimDef){.maxGrabs = 64};
}

// ---------------------------------------------------------------------------------------------------------------------
// Models, shared through the character

static uint64_t ModelKey(const snwMethod* method, const double* params)
{
    uint64_t key = snwHashText(method->name, 0);
    for (int i = snw_sharedParamCount; i < snwMethod_ParamCount(method); ++i)
        if (!snwMethod_Param(method, i)->live)
            key = snwHash(&params[i], sizeof params[i], key);
    return key;
}

static snwResult AddModel(
    snwCharacter* character, const snwMethod* method, const double* params, uint64_t key, snwMessage* message)
{
    snwModel* model = snwAlloc(character->context, sizeof *model);
    if (model == NULL)
        return snwFailMemory(message);

    // What depends on the mesh alone is shared with other characters of this mesh.
    snwModelDef def = {character->context, character, params, NULL};
    snwResult result = snwShape_Acquire(&def, method, key, &model->shape, message);
    def.shape = model->shape != NULL ? model->shape->data : NULL;
    if (result >= 0)
        result = method->createModel(&def, &model->data, message);

    if (result < 0)
    {
        snwShape_Release(character->context, model->shape);
        snwFree(character->context, model);
        return result;
    }

    // Kept with the character, for the next sim with the same method and parameters.
    model->method = method;
    model->key = key;
    model->next = character->models;
    character->models = model;
    atomic_fetch_add(&character->modelCount, 1);

    return snw_ok;
}

static snwResult GetModel(
    snwCharacter* character, const snwMethod* method, const double* params, const void** data, snwMessage* message)
{
    uint64_t key = ModelKey(method, params);
    snwResult result = snw_ok;
    pthread_mutex_lock(&character->modelMutex);
    snwModel* model = character->models;
    while (model != NULL && (model->method != method || model->key != key))
        model = model->next;
    if (model == NULL)
    {
        result = AddModel(character, method, params, key, message);
        model = character->models;
    }
    if (result >= 0)
        *data = model->data;
    pthread_mutex_unlock(&character->modelMutex);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Layout of the state block

static size_t TakeSpace(size_t* size, size_t bytes)
{
    size_t at = *size;
    *size += (bytes + snw_alignment - 1) / snw_alignment * snw_alignment;
    return at;
}

// Called twice: with block == NULL to measure, then to set the pointers.
static size_t LayOutSim(snwSim* sim, unsigned char* block)
{
    size_t size = 0;

    // Places first; pointers only where there is a block to point into.
    size_t header = TakeSpace(&size, sizeof *sim->state);
    size_t pins = TakeSpace(&size, (size_t)sim->def->pinCount * sizeof *sim->pins);
    size_t colliders = TakeSpace(&size, (size_t)sim->def->colliderCount * sizeof *sim->colliders);
    size_t props = TakeSpace(&size, (size_t)sim->def->propCount * sizeof *sim->props);
    size_t grabs = TakeSpace(&size, (size_t)sim->grabCount * sizeof *sim->grabs);

    if (block != NULL)
    {
        sim->state = (snwStateHeader*)(block + header);
        sim->pins = (snwMover*)(block + pins);
        sim->colliders = (snwMover*)(block + colliders);
        sim->props = (snwProp*)(block + props);
        sim->grabs = (snwGrab*)(block + grabs);
    }

    // Each body: materials, origin, and what the method asks for.
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwBody* body = &sim->bodies[i];
        size_t materials = TakeSpace(&size, (size_t)body->character->def.materialCount * sizeof *body->materials);
        size_t origin = TakeSpace(&size, sizeof *body->origin);
        size_t state = TakeSpace(&size, sim->method->bodyStateSize(body->model));

        if (block != NULL)
        {
            body->materials = (snwMaterial*)(block + materials);
            body->origin = (snwVec3*)(block + origin);
            body->state = block + state;
        }
    }

    return size;
}

// ---------------------------------------------------------------------------------------------------------------------
// Start and reset

static void StartMover(snwMover* mover, const snwClipDef* clip, snwTransform start, bool held)
{
    memset(mover, 0, sizeof *mover);
    mover->held = held;
    mover->byClip = clip != NULL;
    mover->transform = clip != NULL ? snwClip_Evaluate(clip, 0.0) : start;
    mover->previous = mover->start = mover->target = mover->transform;
}

void snwSim_Reset(snwSim* sim)
{
    snwStateHeader* state = sim->state;
    const snwSceneDef* def = sim->def;

    // Back to the scene as it began. Time goes on, and so does the count of steps: the script is seen from here.
    state->startTime = state->time;
    state->scriptStart = state->step;
    state->scriptNext = 0;
    state->gravity = def->gravity;
    memset(sim->grabs, 0, (size_t)sim->grabCount * sizeof *sim->grabs);

    for (int i = 0; i < def->pinCount; ++i)
        StartMover(&sim->pins[i], sim->pinClips[i], snwTransform_Identity(), def->pins[i].held);
    for (int i = 0; i < def->colliderCount; ++i)
        StartMover(&sim->colliders[i], sim->colliderClips[i], def->colliders[i].transform, true);
    for (int i = 0; i < def->propCount; ++i)
        sim->props[i] = (snwProp){def->props[i].transform, def->props[i].velocity, def->props[i].angularVelocity};

    // Bodies where the scene puts them; the method starts its own part.
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwCharacterDef* character = &sim->bodies[i].character->def;
        memcpy(sim->bodies[i].materials, character->materials,
            (size_t)character->materialCount * sizeof *character->materials);
        *sim->bodies[i].origin = (snwVec3){0, 0, 0};
        snwBody_Follow(&sim->bodies[i], snwTransform_Apply(sim->starts[i].transform, character->vertices[0]));
        sim->method->initBody(sim, i);
    }
}

static void SetParams(const snwSceneDef* def, const snwMethod* method, double* params)
{
    for (int i = 0; i < snwMethod_ParamCount(method); ++i)
        params[i] = snwMethod_Param(method, i)->initial;
    for (int i = 0; i < def->settingCount; ++i)
    {
        int param = snwMethod_FindParam(method, def->settings[i].name);
        if (param >= 0)
            params[param] = def->settings[i].value;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts

// The n-th random number of a seed, in [-1, 1).
static double Random(uint64_t seed, uint64_t n)
{
    uint64_t bits = snwHash(&n, sizeof n, seed);
    return (double)(bits >> 11) * 0x1p-52 - 1.0;
}

// Jitter turns a body about as fast as it moves it: 1 m/s comes with 1 rad/s.
static void MakeStarts(snwSim* sim, double jitter)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwBodyDef* def = &sim->def->bodies[i];
        double r[6];
        for (int k = 0; k < 6; ++k)
            r[k] = jitter * Random(sim->def->seed, 6 * (uint64_t)i + (uint64_t)k);
        sim->starts[i] = (snwBodyStart){def->transform, snwVec3_Add(def->velocity, (snwVec3){r[0], r[1], r[2]}),
            snwVec3_Add(def->angularVelocity, (snwVec3){r[3], r[4], r[5]})};
    }
}

// A scene has at most one clip for each of them.
static void FindClips(snwSim* sim)
{
    for (int i = 0; i < sim->def->clipCount; ++i)
    {
        const snwClipDef* clip = &sim->def->clips[i];
        if (clip->target == snw_clipPin)
            sim->pinClips[clip->index] = clip;
        else if (clip->target == snw_clipCollider)
            sim->colliderClips[clip->index] = clip;
    }
}

static bool InBox(snwVec3 v, snwVec3 lower, snwVec3 upper)
{
    return v.x >= lower.x && v.y >= lower.y && v.z >= lower.z && v.x <= upper.x && v.y <= upper.y && v.z <= upper.z;
}

static void MakePinSet(snwSim* sim, int index)
{
    const snwPinDef* pin = &sim->def->pins[index];
    const snwCharacterDef* character = &sim->bodies[pin->body].character->def;
    snwPinSet* set = &sim->pinSets[index];

    // Twice over the vertices: to count, and to list.
    set->body = pin->body;
    for (int i = 0; i < character->vertexCount; ++i)
        set->count += InBox(character->vertices[i], pin->lower, pin->upper);
    set->vertices = snwArena_Alloc(&sim->arena, (size_t)set->count, sizeof *set->vertices);
    set->offsets = snwArena_Alloc(&sim->arena, (size_t)set->count, sizeof *set->offsets);
    if (sim->arena.failed)
        return;

    int count = 0;
    for (int i = 0; i < character->vertexCount; ++i)
    {
        if (!InBox(character->vertices[i], pin->lower, pin->upper))
            continue;
        set->offsets[count] = snwTransform_Apply(sim->def->bodies[pin->body].transform, character->vertices[i]);
        set->pivot = snwVec3_MulAdd(set->pivot, 1.0 / set->count, set->offsets[count]);
        set->vertices[count++] = i;
    }

    // Seen from their middle, about which the pin turns them.
    for (int i = 0; i < count; ++i)
        set->offsets[i] = snwVec3_Sub(set->offsets[i], set->pivot);
}

static void MakeRestPoses(snwSim* sim, int index)
{
    snwBody* body = &sim->bodies[index];
    const snwCharacterDef* def = &body->character->def;
    snwTransform start = sim->starts[index].transform;
    int handles = snwCharacterDef_HandleCount(def);
    int poses = def->boneCount > def->jointCount ? def->boneCount : def->jointCount;
    poses = poses > handles ? poses : handles;
    body->restPoses = snwArena_Alloc(&sim->arena, (size_t)poses, sizeof *body->restPoses);
    body->restMatrices = snwArena_Alloc(&sim->arena, (size_t)handles, sizeof *body->restMatrices);
    for (int i = 0; body->restPoses != NULL && i < poses; ++i)
        body->restPoses[i] = start;
    for (int i = 0; body->restMatrices != NULL && i < handles; ++i)
        snwAffine_ToMatrix(snwAffine_FromTransform(start), body->restMatrices[i]);
}

static snwResult MakeBodies(snwSim* sim, const double* params, snwMessage* message)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwBody* body = &sim->bodies[i];
        snwCharacter* character = sim->def->bodies[i].character;
        body->character = character;
        snwResult result = GetModel(character, sim->method, params, &body->model, message);
        if (result < 0)
            return result;
        MakeRestPoses(sim, i);
        body->skinPositions = snwArena_Alloc(&sim->arena, (size_t)character->skinVertexCount, 3 * sizeof(float));
        body->skinNormals = snwArena_Alloc(&sim->arena, (size_t)character->skinVertexCount, 3 * sizeof(float));
        for (int k = 0; k < 2; ++k)
            body->placeRows[k] = snwArena_Alloc(&sim->arena, (size_t)character->def.vertexCount, 4 * sizeof(float));
        sim->contactCapacity += character->touchCount;
    }
    return snw_ok;
}

// Commands name parameters by number, and the scene's numbers are those of its own method.
static snwResult CheckScripted(const snwSim* sim, const snwCommand* command, snwMessage* message)
{
    if (command->kind == snw_commandParam && strcmp(sim->method->name, sim->def->method) != 0)
        return snwFail(message, snw_errorUnsupported, "remove it, or run the scene with its own method",
            "a script made for method %s sets a parameter, but the sim uses %s", sim->def->method, sim->method->name);
    return snwCommand_CheckFor(sim->def, sim->method, command, message);
}

static snwResult CheckMethodElements(const snwSim* sim, snwMessage* message)
{
    uint32_t known = sim->method->features;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwCharacterDef* character = &sim->def->bodies[i].character->def;
        uint32_t needed = character->hexCount > 0        ? snw_featureHexes
                          : character->triangleCount > 0 ? snw_featureTriangles
                                                         : snw_featureTets;
        if (known & needed)
            continue;
        return snwFail(message, snw_errorUnsupported, "choose another method, or mesh the character anew",
            "body '%s' is made of %s; method %s simulates%s%s%s", sim->def->bodies[i].name,
            snwCharacterDef_ElementsName(character), sim->method->name,
            known & snw_featureTets ? " tetrahedra or edges" : "", known & snw_featureHexes ? " hexahedra" : "",
            known & snw_featureTriangles ? " triangles" : "");
    }
    return snw_ok;
}

static snwResult CheckMaterials(const snwSim* sim, snwMessage* message)
{
    for (int i = 0; i < sim->bodyCount && sim->method->checkMaterial != NULL; ++i)
    {
        const snwCharacterDef* character = &sim->def->bodies[i].character->def;
        for (int k = 0; k < character->materialCount; ++k)
        {
            snwResult result = sim->method->checkMaterial(&character->materials[k], message);
            if (result < 0)
            {
                snwMessage_AddPlace(message, "body '%s', material %d", sim->def->bodies[i].name, k);
                return result;
            }
        }
    }
    return snw_ok;
}

static snwResult CheckFeatures(const snwSim* sim, snwMessage* message)
{
    const snwMethod* method = sim->method;
    if (sim->def->propCount > 0 && !(method->features & snw_featureProps))
        return snwFail(message, snw_errorUnsupported, "remove the props or choose another method",
            "method %s does not simulate props", method->name);
    if (sim->def->colliderCount > 0 && !(method->features & snw_featureColliders))
        return snwFail(message, snw_errorUnsupported, "remove the colliders or choose another method",
            "method %s knows no colliders", method->name);
    if (sim->def->pinCount > 0 && !(method->features & snw_featurePins))
        return snwFail(message, snw_errorUnsupported, "remove the pins or choose another method",
            "method %s knows no pins", method->name);

    // What the script and the clips ask for.
    for (int i = 0; i < sim->def->commandCount; ++i)
    {
        snwResult result = CheckScripted(sim, &sim->def->commands[i], message);
        if (result < 0)
        {
            snwMessage_AddPlace(message, "commands[%d]", i);
            return result;
        }
    }

    for (int i = 0; i < sim->def->clipCount; ++i)
    {
        snwClipTarget target = sim->def->clips[i].target;
        if ((target == snw_clipHandle && !(method->features & snw_featureHandles)) ||
            (target == snw_clipJoint && !(method->features & snw_featureJoints)))
            return snwFail(message, snw_errorUnsupported, "choose another method",
                "method %s does not move what clips[%d] moves", method->name, i);
    }

    return snw_ok;
}

// Not an error: the flesh of a rigged character can be simulated without its rig.
static snwResult WarnOfIgnored(const snwSim* sim, snwMessage* message)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwCharacterDef* character = &sim->bodies[i].character->def;
        bool joints = character->boneCount + character->jointCount > 0 && !(sim->method->features & snw_featureBones);
        bool handles = character->handleCount > 0 && !(sim->method->features & snw_featureHandles);
        if (joints || handles)
            return snwFail(message, snw_warning, "choose another method", "method %s leaves the %s of '%s' aside",
                sim->method->name, joints ? "skeleton" : "handles", sim->def->bodies[i].name);
    }
    return snw_ok;
}

static snwResult BuildSim(snwSim* sim, snwMessage* message)
{
    double params[snw_maxParams] = {0};
    SetParams(sim->def, sim->method, params);

    // What a sim has beside its state: arrays of the bodies, pins and clips.
    sim->bodies = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *sim->bodies);
    sim->pinSets = snwArena_Alloc(&sim->arena, (size_t)sim->def->pinCount, sizeof *sim->pinSets);
    sim->starts = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *sim->starts);
    sim->pinClips = snwArena_Alloc(&sim->arena, (size_t)sim->def->pinCount, sizeof(void*));
    sim->colliderClips = snwArena_Alloc(&sim->arena, (size_t)sim->def->colliderCount, sizeof(void*));
    if (sim->arena.failed)
        return snwFailMemory(message);
    FindClips(sim);
    MakeStarts(sim, params[snw_paramJitter]);
    snwResult result = MakeBodies(sim, params, message);
    if (result < 0)
        return result;

    // A vertex rarely touches more than a few things at once; what goes beyond is resolved but not reported.
    int others = sim->def->colliderCount + sim->def->propCount + sim->bodyCount;
    sim->contactCapacity *= others < sim_maxTouches ? others : sim_maxTouches;
    sim->contactCapacity += sim_maxPropTouches * sim->def->propCount;
    sim->contacts = snwArena_Alloc(&sim->arena, (size_t)sim->contactCapacity, sizeof *sim->contacts);

    // Vertices that pins hold, up to a bound: each pin may hold all of a body.
    size_t pinned = 0;
    for (int i = 0; i < sim->def->pinCount && pinned <= sim_maxPinned; ++i)
    {
        MakePinSet(sim, i);
        pinned += (size_t)sim->pinSets[i].count;
    }

    if (pinned > sim_maxPinned)
        return snwFail(message, snw_errorUnsupported, "use fewer or smaller pins",
            "the pins hold more than %d vertices", sim_maxPinned);

    // The state, twice more: to go back to, and to begin again from.
    snwSim_CreateGrips(sim);
    sim->blockSize = LayOutSim(sim, NULL);
    sim->block = snwArena_Alloc(&sim->arena, sim->blockSize, 1);
    sim->backup = snwArena_Alloc(&sim->arena, sim->blockSize, 1);
    sim->begun = snwArena_Alloc(&sim->arena, sim->blockSize, 1);
    if (sim->arena.failed)
        return snwFailMemory(message);

    LayOutSim(sim, sim->block);

    // The state is laid out: parameters, then what the method wants of it.
    memcpy(sim->state->params, params, sizeof params);
    result = sim->method->createScratch != NULL ? sim->method->createScratch(sim, message) : snw_ok;
    if (result < 0)
        return result;

    for (int i = 0; i < sim->method->stageCount; ++i)
        sim->timings[i].stage = sim->method->stages[i];
    snwSim_Reset(sim);

    return snw_ok;
}

snwResult snwCreateSimWith(
    snwContext* context, const snwSimDef* def, const snwMethod* method, snwSim** out, snwMessage* message)
{
    *out = NULL;
    assert(snwMethod_ParamCount(method) <= snw_maxParams && method->stageCount <= snw_maxStages);
    snwSim* sim = snwAlloc(context, sizeof *sim);
    if (sim == NULL)
        return snwFailMemory(message);
    sim->context = context;
    sim->arena.context = context;
    sim->scene = def->scene;
    snwScene_Retain(sim->scene);
    sim->def = snwScene_GetDef(def->scene);

    sim->method = method;
    sim->grabCount = def->maxGrabs;
    sim->bodyCount = sim->def->bodyCount;
    sim->changes = 1;

    // Whether the method can do all that the scene asks for.
    snwResult result = CheckMethodElements(sim, message);
    result = result < 0 ? result : CheckMaterials(sim, message);
    result = result < 0 ? result : CheckFeatures(sim, message);
    result = result < 0 ? result : BuildSim(sim, message);
    if (result < 0)
    {
        snwDestroySim(sim);
        return result;
    }

    *out = sim;
    return WarnOfIgnored(sim, message);
}

snwResult snwCreateSim(snwContext* context, const snwSimDef* def, snwSim** out, snwMessage* message)
{
    *out = NULL;
    snwMessage_Clear(message);
    if (def->scene == NULL)
        return snwFail(message, snw_errorArgument, NULL, "a sim needs a scene");
    if (def->maxGrabs < 1 || def->maxGrabs > 4096)
        return snwFail(message, snw_errorArgument, NULL, "maxGrabs must be 1..4096, is %d", def->maxGrabs);
    const char* name = def->method != NULL ? def->method : snwScene_GetDef(def->scene)->method;
    int method = snwMethod_Find(name);
    if (method < 0)
        return snwFail(
            message, snw_errorArgument, "`sinew info --methods` lists them", "there is no method '%s'", name);
    return snwCreateSimWith(context, def, snwMethod_Get(method), out, message);
}

void snwDestroySim(snwSim* sim)
{
    if (sim == NULL)
        return;
    snwContext* context = sim->context;
    if (sim->scratch != NULL && sim->method->destroyScratch != NULL)
        sim->method->destroyScratch(sim);
    snwArray_Free(context, &sim->pending);
    snwArray_Free(context, &sim->log);
    snwArena_Free(&sim->arena);
    snwScene_Release(sim->scene);
    snwFree(context, sim);
}
