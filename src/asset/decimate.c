// Surfaces with fewer triangles, by quadrics (libmeshoptimizer) or by angles (decimate_angle.c), with a map from old
// vertices to those that took their place.

#include "asset/decimate.h"

#include "asset/decimate_angle.h"
#include "math/vec.h"

#include <math.h>
#include <meshoptimizer.h>

typedef struct Work
{
    snwContext* context;
    const snwDecimateDef* def;
    snwArena arena;
    snwVec3* positions;
    int (*triangles)[3]; // first corner -1: gone
    int* targets;        // of vertices
    snwVec3 middle;
    double size; // m, the diagonal
    double error;
} Work;

snwDecimateDef snwDefaultDecimateDef(void)
{
    return (snwDecimateDef){
        .kind = snw_decimateQuadric, .triangles = 1000, .maxError = 0.02, .angleWeight = 1, .edgeWeight = 30};
}

static snwResult CheckDecimateDef(const snwDecimateDef* def, snwMessage* message)
{
    const snwFaces* faces = &def->faces;
    if (faces->triangleCount < 1 || faces->vertexCount < 1)
        return snwFail(message, snw_errorInput, NULL, "there are no triangles");
    if (def->triangles < 4 || !(def->maxError >= 0 && def->maxError <= 1) || !(def->angleWeight >= 0) ||
        !(def->edgeWeight >= 0))
        return snwFail(message, snw_errorArgument, "start from snwDefaultDecimateDef()",
            "at least 4 triangles, an error of 0..1 and weights not below 0");
    for (int i = 0; i < faces->vertexCount; ++i)
        if (!snwVec3_IsWithin(faces->vertices[i], 1e12))
            return snwFail(message, snw_errorInput, NULL, "vertex %d is not finite or too far away", i);
    for (int i = 0; i < 3 * faces->triangleCount; ++i)
        if (faces->triangles[i / 3][i % 3] < 0 || faces->triangles[i / 3][i % 3] >= faces->vertexCount)
            return snwFail(message, snw_errorInput, NULL, "triangle %d names no vertex", i / 3);
    return snw_ok;
}

static bool StartDecimation(Work* work)
{
    const snwFaces* faces = &work->def->faces;
    work->positions = snwArena_Copy(&work->arena, faces->vertices, (size_t)faces->vertexCount, sizeof *work->positions);
    work->triangles = snwArena_Copy(
        &work->arena, faces->triangles, (size_t)faces->triangleCount, sizeof *work->triangles);
    work->targets = snwArena_Alloc(&work->arena, (size_t)faces->vertexCount, sizeof *work->targets);
    if (work->arena.failed)
        return false;
    snwVec3 lower = faces->vertices[0], upper = lower;
    for (int i = 0; i < faces->vertexCount; ++i)
    {
        lower = snwVec3_Min(lower, faces->vertices[i]), upper = snwVec3_Max(upper, faces->vertices[i]);
        work->targets[i] = i;
    }
    work->middle = snwVec3_Lerp(lower, upper, 0.5);
    work->size = fmax(snwVec3_Distance(lower, upper), 1e-300);
    return true;
}

// libmeshoptimizer takes floats: seen from the middle, so that nothing is lost far from the origin.
static bool CollapseByQuadrics(Work* work)
{
    const snwFaces* faces = &work->def->faces;
    size_t indices = 3 * (size_t)faces->triangleCount, vertices = (size_t)faces->vertexCount;
    float(*floats)[3] = snwArena_Alloc(&work->arena, vertices, sizeof *floats);
    unsigned* from = snwArena_Alloc(&work->arena, indices, sizeof *from);
    unsigned* to = snwArena_Alloc(&work->arena, indices, sizeof *to);
    float error = 0;
    if (work->arena.failed)
        return false;

    for (size_t i = 0; i < vertices; ++i)
    {
        snwVec3 p = snwVec3_Scale(snwVec3_Sub(faces->vertices[i], work->middle), 1 / work->size);
        floats[i][0] = (float)p.x, floats[i][1] = (float)p.y, floats[i][2] = (float)p.z;
    }

    // Collapsed in units of the surface's size; what is left comes first, the rest is marked as gone.
    for (size_t i = 0; i < indices; ++i)
        from[i] = (unsigned)faces->triangles[i / 3][i % 3];
    size_t left = meshopt_simplify(to, from, indices, floats[0], vertices, sizeof *floats,
        3 * (size_t)work->def->triangles, (float)work->def->maxError, 0, &error);
    for (size_t i = 0; i < indices; ++i)
        work->triangles[i / 3][i % 3] = i < left ? (int)to[i] : -1;
    work->error = (double)error;

    return true;
}

// Numbers what is left.
static bool FinishDecimation(Work* work, snwArena* arena, snwDecimated* result)
{
    int given = work->def->faces.vertexCount;
    *result = (snwDecimated){.error = work->error,
        .vertices = snwArena_Alloc(arena, (size_t)given, sizeof *result->vertices),
        .triangles = snwArena_Alloc(arena, (size_t)work->def->faces.triangleCount, sizeof *result->triangles),
        .map = snwArena_Alloc(arena, (size_t)given, sizeof *result->map)};
    if (arena->failed)
        return false;

    // -1: nothing uses it any more.
    for (int i = 0; i < given; ++i)
        result->map[i] = -1;

    // Vertices are numbered in the order in which triangles use them.
    for (int i = 0; i < work->def->faces.triangleCount; ++i)
    {
        for (int k = 0; k < 3 && work->triangles[i][0] >= 0; ++k)
        {
            int vertex = work->triangles[i][k];
            if (result->map[vertex] < 0)
            {
                result->vertices[result->vertexCount] = work->positions[vertex];
                result->map[vertex] = result->vertexCount++;
            }
            result->triangles[result->triangleCount][k] = result->map[vertex];
        }
        result->triangleCount += work->triangles[i][0] >= 0;
    }

    // A vertex that was collapsed goes to where its target went, along shortened chains.
    for (int i = 0; i < given; ++i)
    {
        int target = i;
        while (work->targets[target] != target)
            target = work->targets[target] = work->targets[work->targets[target]];
        result->map[i] = result->map[target];
    }

    return true;
}

snwResult snwDecimateSurface(
    snwContext* context, const snwDecimateDef* def, snwArena* arena, snwDecimated* result, snwMessage* message)
{
    *result = (snwDecimated){0};
    snwResult checked = CheckDecimateDef(def, message);
    if (checked < 0)
        return checked;

    Work work = {.context = context, .def = def, .arena = {.context = context}};
    bool enough = StartDecimation(&work);

    if (enough && def->kind == snw_decimateQuadric)
        enough = CollapseByQuadrics(&work);
    else if (enough)
    {
        snwCollapse collapse = {work.positions, work.triangles, work.targets, work.size};
        enough = snwCollapseByAngle(context, def, &collapse) >= 0;
    }

    // What is left is numbered anew, in the caller's memory.
    enough = enough && FinishDecimation(&work, arena, result);
    snwArena_Free(&work.arena);
    return enough ? snw_ok : snwFailMemory(message);
}
