// The room between a flat body and its cage, filled with triangles, and bounded biharmonic weights in it. Why in the
// room, and where corners stand in it, is in cage.h.

#include "rig/cage.h"

#include "base/arena.h"
#include "base/result.h"
#include "geom/cage_space.h"
#include "rig/weights.h"

#include <math.h>

static const double s_edgePieces = 12; // of a mean edge of the cage
static const double s_between = 0.5;   // from the flesh to a corner: where the corner's weight is one

typedef struct Cage
{
    snwContext* context;
    const snwHandleMesh* mesh;
    snwArena arena;
    snwVec3 (*edges)[2];
    snwHandleShape* stands; // the handles in the room: corners moved towards the flesh
    snwCageSpace space;
    snwMessage* message;
} Cage;

// ---------------------------------------------------------------------------------------------------------------------
// What a cage is

static int CountHandleEdges(const snwHandleMesh* mesh, int handle)
{
    int count = 0;
    for (int i = 0; i < mesh->cageEdgeCount; ++i)
        count += (mesh->cageEdges[i][0] == handle) + (mesh->cageEdges[i][1] == handle);
    return count;
}

static double SideOfLine(snwVec3 a, snwVec3 b, snwVec3 point)
{
    return (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
}

static bool EdgesCross(const snwHandleMesh* mesh, int first, int second)
{
    const int *e = mesh->cageEdges[first], *f = mesh->cageEdges[second];
    if (e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1])
        return false;
    snwVec3 a = mesh->handles[e[0]].head, b = mesh->handles[e[1]].head;
    snwVec3 c = mesh->handles[f[0]].head, d = mesh->handles[f[1]].head;
    return SideOfLine(a, b, c) * SideOfLine(a, b, d) <= 0 && SideOfLine(c, d, a) * SideOfLine(c, d, b) <= 0;
}

bool snwHasClosedCage(const snwHandleMesh* mesh)
{
    if (mesh->elements.arity != 3 || mesh->cageEdgeCount < 3)
        return false;
    for (int i = 0; i < mesh->cageEdgeCount; ++i)
    {
        if (CountHandleEdges(mesh, mesh->cageEdges[i][0]) != 2 || CountHandleEdges(mesh, mesh->cageEdges[i][1]) != 2)
            return false;
        for (int k = 0; k < i; ++k)
            if (EdgesCross(mesh, i, k))
                return false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The room

static snwVec3 FindNearestVertex(const snwHandleMesh* mesh, snwVec3 point)
{
    snwVec3 nearest = point;
    double least = INFINITY;
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        double distance = snwVec3_Distance(mesh->vertices[i], point);
        if (distance < least)
            least = distance, nearest = mesh->vertices[i];
    }
    return nearest;
}

// A place behind a bend of the cage is not in the room: the flesh itself has to do.
static snwVec3 FindStand(const Cage* cage, snwVec3 corner)
{
    snwVec3 flesh = FindNearestVertex(cage->mesh, corner);
    snwVec3 stand = snwVec3_MulAdd(flesh, s_between, snwVec3_Sub(corner, flesh));
    return snwIsInCage(cage->edges, cage->mesh->cageEdgeCount, stand.x, stand.y) ? stand : flesh;
}

static snwResult MakeCageRoom(Cage* cage)
{
    const snwHandleMesh* mesh = cage->mesh;
    double length = 0;
    snwVec3* points = snwArena_Alloc(&cage->arena, (size_t)mesh->handleCount, sizeof *points);
    cage->edges = snwArena_Alloc(&cage->arena, (size_t)mesh->cageEdgeCount, sizeof *cage->edges);
    cage->stands = snwArena_Copy(&cage->arena, mesh->handles, (size_t)mesh->handleCount, sizeof *mesh->handles);
    if (cage->arena.failed)
        return snwFailMemory(cage->message);

    // The grid is as fine as the body, or a twelfth of the cage's mean edge where that is finer.
    for (int i = 0; i < mesh->cageEdgeCount; ++i)
    {
        for (int k = 0; k < 2; ++k)
            cage->edges[i][k] = mesh->handles[mesh->cageEdges[i][k]].head;
        length += snwVec3_Distance(cage->edges[i][0], cage->edges[i][1]) / mesh->cageEdgeCount;
    }

    // Corners stand off their own places: halfway to the flesh (see FindStand).
    int count = 0;
    for (int i = 0; i < mesh->handleCount; ++i)
        if (CountHandleEdges(mesh, i) > 0)
            points[count++] = cage->stands[i].head = FindStand(cage, mesh->handles[i].head);
    snwCageSpaceDef def = {.vertices = mesh->vertices,
        .vertexCount = mesh->vertexCount,
        .triangles = mesh->elements,
        .cageEdges = (const snwVec3(*)[2])cage->edges,
        .cageEdgeCount = mesh->cageEdgeCount,
        .points = points,
        .pointCount = count,
        .step = fmin(snwHandleMesh_MeanEdge(mesh), length / s_edgePieces)};

    return snwFillCage(cage->context, &def, &cage->arena, &cage->space, cage->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights

static snwResult SolveRoom(Cage* cage, const snwBiharmonicDef* def, snwWeights** weights, snwBiharmonicReport* report)
{
    const snwHandleMesh* mesh = cage->mesh;
    const snwCageSpace* space = &cage->space;
    int* owners = snwArena_Alloc(&cage->arena, (size_t)space->vertexCount, sizeof *owners);
    if (owners == NULL)
        return snwFailMemory(cage->message);

    // Vertices of the body keep their owners; those of the room alone have none.
    for (int i = 0; i < space->vertexCount; ++i)
        owners[i] = -1;
    for (int i = 0; mesh->owners != NULL && i < mesh->vertexCount; ++i)
        owners[space->bodyVertices[i]] = mesh->owners[i];
    snwHandleMesh room = {.vertices = space->vertices,
        .vertexCount = space->vertexCount,
        .fleshCount = space->bodyCount,
        .elements = {space->triangles, 3, space->triangleCount},
        .handles = cage->stands,
        .handleCount = mesh->handleCount,
        .owners = owners};
    // All influences: what is few enough on the body is chosen afterwards.
    snwBiharmonicDef inside = *def;
    inside.mesh = &room;
    inside.influences = 0;

    return snwSolveBiharmonic(cage->context, &inside, weights, report, cage->message);
}

static snwResult TakeBodyWeights(Cage* cage, const snwWeights* room, int influences, snwWeights** weights)
{
    int vertices = cage->mesh->vertexCount, handles = cage->mesh->handleCount;
    double* values = snwArena_Alloc(&cage->arena, (size_t)vertices, (size_t)handles * sizeof *values);
    if (values == NULL)
        return snwFailMemory(cage->message);
    for (int i = 0; i < vertices; ++i)
        for (int at = cage->space.bodyVertices[i], k = room->starts[at]; k < room->starts[at + 1]; ++k)
            values[(size_t)i * (size_t)handles + (size_t)room->handles[k]] = room->values[k];
    snwWeightLists lists = {.vertexCount = vertices,
        .handleCount = handles,
        .perVertex = handles,
        .values = values,
        .influences = influences};
    return snwWeights_FromLists(cage->context, &lists, weights, NULL, cage->message);
}

snwResult snwSolveCage(snwContext* context, const snwBiharmonicDef* def, snwWeights** weights,
    snwBiharmonicReport* report, snwMessage* message)
{
    *weights = NULL;
    Cage cage = {.context = context, .mesh = def->mesh, .message = message};
    cage.arena.context = context;
    snwWeights* room = NULL;
    snwResult result = MakeCageRoom(&cage);
    result = result < 0 ? result : SolveRoom(&cage, def, &room, report);
    if (result >= 0 && room != NULL)
        result = TakeBodyWeights(&cage, room, def->influences, weights);
    snwFree(context, room);
    snwArena_Free(&cage.arena);
    return result;
}
