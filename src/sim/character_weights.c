// Weights for the mesh of a character: its bones or handles as shapes, the solver, and what is done when it gives up.

#include "base/result.h"
#include "rig/cage.h"
#include "sim/character.h"

#include <math.h>
#include <string.h>

enum
{
    snw_boneInfluences = 8
};

snwWeightsDef snwDefaultWeightsDef(void)
{
    return (snwWeightsDef){.tolerance = 1e-4};
}

typedef struct Job
{
    snwContext* context;
    const snwCharacter* character;
    const snwWeightsDef* def;
    snwArena arena;
    snwHandleMesh mesh;
    snwMessage* message;
} Job;

// ---------------------------------------------------------------------------------------------------------------------
// What the weights are for

static void UseBones(Job* job)
{
    const snwCharacterDef* def = &job->character->def;
    snwHandleShape* shapes = snwArena_Alloc(&job->arena, (size_t)def->boneCount, sizeof *shapes);
    for (int i = 0; shapes != NULL && i < def->boneCount; ++i)
        shapes[i] = (snwHandleShape){snw_handleBone, def->bones[i].head, def->bones[i].tail};
    job->mesh.handles = shapes;
    job->mesh.handleCount = def->boneCount;
    job->mesh.owners = job->character->vertexBones;
}

// A handle that is a bone is the bone of its name, with what that owns; without one it is a point.
static void UseHandleBones(Job* job)
{
    const snwCharacterDef* def = &job->character->def;
    snwHandleShape* shapes = snwArena_Alloc(&job->arena, (size_t)def->handleCount, sizeof *shapes);
    int* owners = snwArena_Alloc(&job->arena, (size_t)def->vertexCount, sizeof *owners);
    int* handleOf = snwArena_Alloc(&job->arena, (size_t)def->boneCount + 1, sizeof *handleOf);

    if (job->arena.failed)
        return;

    // Which handle is the bone, so that vertices of the bone belong to that handle.
    for (int i = 0; i < def->boneCount; ++i)
        handleOf[i] = -1;
    for (int i = 0; i < def->handleCount; ++i)
    {
        const snwHandleDef* handle = &def->handles[i];
        int bone = snwCharacterDef_BoneOfHandle(def, i);
        shapes[i] = (snwHandleShape){handle->kind, handle->position, handle->position};
        if (bone < 0)
            continue;
        shapes[i] = (snwHandleShape){snw_handleBone, def->bones[bone].head, def->bones[bone].tail};
        handleOf[bone] = i;
    }

    // -1: flesh, or a bone without a handle.
    for (int i = 0; i < def->vertexCount; ++i)
        owners[i] = job->character->vertexBones[i] >= 0 ? handleOf[job->character->vertexBones[i]] : -1;
    job->mesh.handles = shapes;
    job->mesh.handleCount = def->handleCount;
    job->mesh.owners = owners;
}

// The cage of a flat character: its corners in order, and back to the first.
static void DrawPolygon(Job* job)
{
    const snwCharacterDef* def = &job->character->def;
    int(*edges)[2] = snwArena_Alloc(&job->arena, (size_t)def->handleCount, sizeof *edges);
    int first = -1, last = -1, count = 0;
    for (int i = 0; edges != NULL && i < def->handleCount; ++i)
    {
        if (def->handles[i].kind != snw_handleCage)
            continue;
        if (last >= 0)
            edges[count][0] = last, edges[count++][1] = i;
        first = first < 0 ? i : first;
        last = i;
    }
    if (count > 1)
        edges[count][0] = last, edges[count++][1] = first;
    job->mesh.cageEdges = (const int(*)[2])edges;
    job->mesh.cageEdgeCount = count;
}

static snwResult UseCage(Job* job)
{
    const snwWeightsDef* def = job->def;
    if (def->cageEdges == NULL)
    {
        if (job->character->def.triangleCount > 0)
            DrawPolygon(job);
        return snw_ok;
    }
    for (int i = 0; i < def->cageEdgeCount; ++i)
        for (int k = 0; k < 2; ++k)
            if (def->cageEdges[i][k] < 0 || def->cageEdges[i][k] >= job->mesh.handleCount ||
                def->cageEdges[i][0] == def->cageEdges[i][1])
                return snwFail(job->message, snw_errorArgument, NULL, "cageEdges[%d] joins handles %d and %d of %d", i,
                    def->cageEdges[i][0], def->cageEdges[i][1], job->mesh.handleCount);
    job->mesh.cageEdges = def->cageEdges;
    job->mesh.cageEdgeCount = def->cageEdgeCount;
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Solving

static snwResult SolveClosest(Job* job, const char* why, snwWeights** weights)
{
    int influences = job->def->influences > 0 ? job->def->influences : snw_boneInfluences;
    snwResult result = snwSolveClosest(job->context, &job->mesh, influences, weights, job->message);
    if (result < 0 || why == NULL)
        return result;
    return snwFail(job->message, snw_warning, NULL, "weights by distance, not smooth ones: %s", why);
}

static snwResult SolveSmooth(Job* job, snwWeights** weights)
{
    snwBiharmonicDef def = snwDefaultBiharmonicDef();
    snwBiharmonicReport report = {0};
    snwMessage why = {0};

    def.mesh = &job->mesh;
    def.tolerance = job->def->tolerance;

    // A ninth handle of a cage weighs as much as the eighth: cut off, the flesh is torn. Of bones it hardly does.
    def.influences = job->def->influences > 0 || job->def->handles ? job->def->influences : snw_boneInfluences;

    if (job->mesh.elements.count == 0)
        return SolveClosest(job, "the character has no elements", weights);

    bool cage = snwHasClosedCage(&job->mesh);
    snwResult result = cage ? snwSolveCage(job->context, &def, weights, &report, &why)
                            : snwSolveBiharmonic(job->context, &def, weights, &report, &why);

    // A mesh that it cannot solve gets the weights of the closest handles, and the reason is told.
    if (result == snw_errorInput)
        return SolveClosest(job, why.text, weights);

    // The caller's message gets what went wrong.
    if (result < 0)
    {
        if (job->message != NULL)
            *job->message = why;
        return result;
    }

    // How it went, for the log; and a warning where weights are not what they should be.
    snwLogText(job->context, snw_logDebug, "weights of '%s': %d iterations, %d factors, residuals %.2g and %.2g",
        job->character->def.name, report.iterations, report.factors, report.primal, report.dual);
    if (!report.converged)
        return snwFail(job->message, snw_warning, "raise the tolerance",
            "weights are not quite smooth: they still move by %.2g after %d iterations",
            fmax(report.primal, report.dual), report.iterations);
    if (report.unreachedVertexCount > 0)
        return snwFail(job->message, snw_warning, "give these parts a handle or a bone",
            "%d vertices are in parts of the mesh without a handle and follow the closest one",
            report.unreachedVertexCount);

    return snw_ok;
}

static snwResult CheckWeightsDef(const snwCharacter* character, const snwWeightsDef* def, snwMessage* message)
{
    int count = def->handles ? character->def.handleCount : character->def.boneCount;
    if (count < 1)
        return snwFail(message, snw_errorArgument, "ask for weights of the other, or add some",
            "'%s' has no %s that its vertices could follow", character->def.name, def->handles ? "handles" : "bones");
    if (def->kind < snw_weightsBiharmonic || def->kind > snw_weightsClosest || def->influences < 0 ||
        !(def->tolerance >= 1e-9 && def->tolerance <= 0.1) || def->cageEdgeCount < 0)
        return snwFail(message, snw_errorArgument, "start from snwDefaultWeightsDef()",
            "a number of snwWeightsDef is out of range");
    return snw_ok;
}

snwResult snwComputeWeights(
    const snwCharacter* character, const snwWeightsDef* def, snwWeights** weights, snwMessage* message)
{
    *weights = NULL;
    snwResult result = CheckWeightsDef(character, def, message);
    if (result < 0)
        return result;

    // The mesh as the solver wants it.
    Job job = {.context = character->context, .character = character, .def = def, .message = message};
    job.arena.context = character->context;
    job.mesh.vertices = character->def.vertices;
    job.mesh.vertexCount = character->def.vertexCount;
    job.mesh.elements = character->elements;

    // What carries the flesh: handles, or bones where no handles are asked for.
    if (def->handles)
        UseHandleBones(&job);
    else
        UseBones(&job);

    // A cage has edges, or faces, between its handles.
    result = def->handles && !job.arena.failed ? UseCage(&job) : snw_ok;
    if (job.arena.failed)
        result = snwFailMemory(message);

    if (result == snw_ok && def->kind == snw_weightsClosest)
        result = SolveClosest(&job, NULL, weights);
    else if (result == snw_ok)
        result = SolveSmooth(&job, weights);

    snwArena_Free(&job.arena);
    return result;
}
