// The same handles for ARAP and FAST (rival.h): what is given of a handle becomes fixed vertices and rotations for
// the one, fixed coordinates and turns for the other, and the pose is read back.

#include "sim/rigpbd/rival.h"

#include "math/rows.h"
#include "rig/weights.h"

#include <math.h>
#include <string.h>

static const double s_followsMost = 0.5; // of the largest weight that a handle has anywhere
static const double s_followsAlone = 1 - 1e-6;

struct snwRival
{
    snwContext* context;
    snwArena arena;
    snwRivalDef def;
    int dimension;
    snwArap* arap; // one of the two
    snwFast* fast;
    int* anchors;         // ARAP: the vertex of each handle; -1: no vertex follows it
    int* starts;          // ARAP: vertices that turn with handle k: from starts[k] ...
    int* followers;       // ... up to starts[k + 1]
    unsigned char* fixed; // of vertices or handles
    snwMat3* turns;
    snwVec3* x;
};

// ---------------------------------------------------------------------------------------------------------------------
// Vertices of a handle

static int FindAnchor(const snwRivalDef* def, int handle)
{
    double most = 0, nearest = INFINITY;
    int anchor = -1;
    for (int i = 0; i < def->mesh.vertexCount; ++i)
        most = fmax(most, snwWeights_Get(def->weights, i, handle));
    for (int i = 0; i < def->mesh.vertexCount && most > 0; ++i)
    {
        double distance = snwVec3_Distance(def->mesh.rest[i], def->origins[handle]);
        if (snwWeights_Get(def->weights, i, handle) >= s_followsMost * most && distance < nearest)
            nearest = distance, anchor = i;
    }
    return anchor;
}

static void MarkFollowers(const snwRivalDef* def, int handle, int anchor, bool* marks)
{
    memset(marks, 0, (size_t)def->mesh.vertexCount * sizeof *marks);
    for (int i = 0; i < def->mesh.vertexCount; ++i)
        marks[i] = snwWeights_Get(def->weights, i, handle) >= s_followsAlone;
    for (int i = 0; i < def->mesh.elements.count && anchor >= 0; ++i)
    {
        const int* corners = snwElements_Corners(def->mesh.elements, i);
        bool touches = false;
        for (int corner = 0; corner < def->mesh.elements.arity; ++corner)
            touches |= corners[corner] == anchor;
        for (int corner = 0; touches && corner < def->mesh.elements.arity; ++corner)
            marks[corners[corner]] = true;
    }
}

// Two rounds: count, then list.
static snwResult ListFollowers(snwRival* rival, snwMessage* message)
{
    int handles = rival->def.weights->handleCount, n = rival->def.mesh.vertexCount;
    bool* marks = snwAllocArray(rival->context, (size_t)n, sizeof *marks);
    for (int round = 0; round < 2 && marks != NULL && !rival->arena.failed; ++round)
    {
        int count = 0;
        for (int k = 0; k < handles; ++k)
        {
            MarkFollowers(&rival->def, k, rival->anchors[k], marks);
            for (int i = 0; i < n; ++i)
            {
                if (marks[i] && round == 1)
                    rival->followers[count] = i;
                count += marks[i];
            }
            rival->starts[k + 1] = count;
        }

        // The first round has told how many there are.
        if (round == 0)
            rival->followers = snwArena_Alloc(&rival->arena, (size_t)count + 1, sizeof *rival->followers);
    }

    bool failed = marks == NULL || rival->arena.failed;
    snwFree(rival->context, marks);
    return failed ? snwFailMemory(message) : snw_ok;
}

static snwResult CreateArap(snwRival* rival, snwMessage* message)
{
    size_t n = (size_t)rival->def.mesh.vertexCount, handles = (size_t)rival->def.weights->handleCount;
    rival->anchors = snwArena_Alloc(&rival->arena, handles, sizeof *rival->anchors);
    rival->starts = snwArena_Alloc(&rival->arena, handles + 1, sizeof *rival->starts);
    rival->fixed = snwArena_Alloc(&rival->arena, n, sizeof *rival->fixed);
    rival->turns = snwArena_Alloc(&rival->arena, n, sizeof *rival->turns);
    if (rival->arena.failed)
        return snwFailMemory(message);
    for (int k = 0; k < (int)handles; ++k)
        rival->anchors[k] = FindAnchor(&rival->def, k);
    snwResult result = ListFollowers(rival, message);
    return result < 0 ? result : snwArap_Create(rival->context, &rival->def.mesh, &rival->arap, message);
}

static snwResult CreateFast(snwRival* rival, snwMessage* message)
{
    snwFastDef def = {.mesh = rival->def.mesh, .weights = rival->def.weights, .origins = rival->def.origins};
    rival->fixed = snwArena_Alloc(&rival->arena, (size_t)def.weights->handleCount, sizeof *rival->fixed);
    if (rival->arena.failed)
        return snwFailMemory(message);
    return snwFast_Create(rival->context, &def, &rival->fast, message);
}

snwResult snwRival_Create(snwContext* context, const snwRivalDef* def, snwRival** out, snwMessage* message)
{
    snwRival* rival = snwAlloc(context, sizeof *rival);
    if (rival == NULL)
        return snwFailMemory(message);

    rival->context = rival->arena.context = context;
    rival->def = *def;
    rival->dimension = def->mesh.elements.arity - 1;
    rival->x = snwArena_Alloc(&rival->arena, (size_t)def->mesh.vertexCount, sizeof *rival->x);

    snwResult result = rival->arena.failed          ? snwFailMemory(message)
                       : def->kind == snw_rivalArap ? CreateArap(rival, message)
                                                    : CreateFast(rival, message);
    if (result < 0)
    {
        snwRival_Destroy(rival);
        return result;
    }

    *out = rival;
    return snw_ok;
}

void snwRival_Destroy(snwRival* rival)
{
    if (rival == NULL)
        return;
    snwArap_Destroy(rival->arap);
    snwFast_Destroy(rival->fast);
    snwArena_Free(&rival->arena);
    snwFree(rival->context, rival);
}

// ---------------------------------------------------------------------------------------------------------------------
// A step

static unsigned char FixedAxes(const snwRival* rival, const snwRigTarget* target)
{
    unsigned axes = rival->dimension == 2 ? snw_fixedX | snw_fixedY : snw_fixedX | snw_fixedY | snw_fixedZ;
    return (unsigned char)(target->given & axes);
}

static bool TurnIsGiven(const snwRival* rival, const snwRigTarget* target)
{
    uint32_t all = snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
    uint32_t wanted = rival->dimension == 2 ? snw_dofRotationZ : all;
    return (target->given & wanted) == wanted;
}

// Takes the coordinates in `fixed` from one vector, the others from another.
static snwVec3 BlendGiven(unsigned char fixed, snwVec3 given, snwVec3 other)
{
    return (snwVec3){(fixed & snw_fixedX) != 0 ? given.x : other.x, (fixed & snw_fixedY) != 0 ? given.y : other.y,
        (fixed & snw_fixedZ) != 0 ? given.z : other.z};
}

// The vertex goes where the handle takes it, as far as the handle's coordinates are given.
static void FixVertex(snwRival* rival, int handle, int vertex, const snwRigPose* given, unsigned char fixed)
{
    snwVec3 offset = snwVec3_Sub(rival->def.mesh.rest[vertex], rival->def.origins[handle]);
    snwVec3 place = snwVec3_Add(given->place, snwMat3_MulVec(given->linear, offset));
    rival->x[vertex] = BlendGiven(fixed, place, rival->x[vertex]);
    rival->fixed[vertex] |= fixed;
    rival->turns[vertex] = given->linear;
}

static void FixVertices(snwRival* rival, const snwRigTarget* targets, const snwRigPose* pose)
{
    memset(rival->fixed, 0, (size_t)rival->def.mesh.vertexCount);
    for (int k = 0; k < rival->def.weights->handleCount; ++k)
    {
        unsigned char axes = FixedAxes(rival, &targets[k]);
        bool turns = TurnIsGiven(rival, &targets[k]);
        snwRigPose given = {pose[k].linear, targets[k].place};
        if (turns)
            given.linear = snwQuat_ToMat3(targets[k].rotation);
        for (int i = rival->starts[k]; turns && i < rival->starts[k + 1]; ++i)
            FixVertex(rival, k, rival->followers[i], &given, axes | snw_fixedTurn);
        if (!turns && rival->anchors[k] >= 0)
            FixVertex(rival, k, rival->anchors[k], &given, axes);
    }
}

static void ReadRivalHandles(const snwRival* rival, const snwRigTarget* targets, snwRigPose* pose)
{
    const snwMat3* turns = snwArap_Turns(rival->arap);
    for (int k = 0; k < rival->def.weights->handleCount; ++k)
    {
        int anchor = rival->anchors[k];
        snwVec3 place = pose[k].place;
        if (TurnIsGiven(rival, &targets[k]))
            pose[k].linear = snwQuat_ToMat3(targets[k].rotation);
        else if (anchor >= 0)
            pose[k].linear = turns[anchor];
        if (anchor >= 0)
        {
            snwVec3 offset = snwVec3_Sub(rival->def.origins[k], rival->def.mesh.rest[anchor]);
            place = snwVec3_Add(rival->x[anchor], snwMat3_MulVec(pose[k].linear, offset));
        }
        pose[k].place = BlendGiven(FixedAxes(rival, &targets[k]), targets[k].place, place);
    }
}

static snwResult StepArap(
    snwRival* rival, const snwRigTarget* targets, int iterations, snwRigPose* pose, snwMessage* message)
{
    snwRimsReport report;
    FixVertices(rival, targets, pose);
    snwArapGiven given = {rival->fixed, rival->turns};
    snwResult result = snwArap_Solve(rival->arap, &given, iterations, rival->x, &report, message);
    if (result >= 0)
        ReadRivalHandles(rival, targets, pose);
    return result;
}

static void StepFast(snwRival* rival, const snwRigTarget* targets, int iterations, snwRigPose* pose)
{
    snwRimsReport report;
    for (int k = 0; k < rival->def.weights->handleCount; ++k)
    {
        rival->fixed[k] = FixedAxes(rival, &targets[k]);
        pose[k].place = BlendGiven(rival->fixed[k], targets[k].place, pose[k].place);
        if (!TurnIsGiven(rival, &targets[k]))
            continue;
        rival->fixed[k] |= snw_fixedTurn;
        pose[k].linear = snwQuat_ToMat3(targets[k].rotation);
    }
    snwFast_Solve(rival->fast, rival->fixed, iterations, pose, &report);
    snwFast_Skin(rival->fast, pose, rival->x);
}

snwResult snwRival_Step(snwRival* rival, const snwRigTarget* targets, int iterations, snwRigPose* pose,
    const snwRigFlesh* flesh, snwMessage* message)
{
    snwResult result = snw_ok;

    // Places in the world, where handles are given.
    for (int i = 0; i < rival->def.mesh.vertexCount; ++i)
        rival->x[i] = snwRow_Place(flesh->rows, i, flesh->origin);
    if (rival->def.kind == snw_rivalArap)
        result = StepArap(rival, targets, iterations, pose, message);
    else
        StepFast(rival, targets, iterations, pose);

    if (result < 0)
        return result;

    // Flat characters stay in their plane.
    for (int i = 0; i < rival->def.mesh.vertexCount; ++i)
    {
        if (rival->dimension == 2)
            rival->x[i].z = snwRow_Place(flesh->rows, i, flesh->origin).z;
        snwRow_SetPlace(flesh->rows, i, flesh->origin, rival->x[i]);
    }

    return snw_ok;
}
