#include "rig/cage.h"

#include "base/arena.h"
#include "base/result.h"
#include "geom/cage_space.h"
#include "linalg/cholesky.h"
#include "rig/weights.h"

#include <math.h>
#include <string.h>

static const double s_dropped = 1e-5;  // weights below this are left out of the result
static const double s_edgePieces = 12; // of a mean edge of the cage: enough to round its corners off

typedef struct Cage
{
    snwContext* context;
    const snwBiharmonicDef* def;
    const snwHandleMesh* mesh;
    snwArena arena;
    int* cornerOf; // per handle: its number among the cage's corners, -1: it is none
    int* otherOf;  // per handle: its number among the others, -1: it is a corner
    int cornerCount, otherCount;
    snwCageSpace space;
    double* stiffness;   // six per triangle of the room
    bool* fixed;         // per vertex of the room
    double* shares;      // of the corners, per vertex of the room
    snwWeights* others;  // of the other handles and, last, of the cage, in the room; NULL: it has all
    snwSparse laplacian; // both halves
    snwBiharmonicReport report;
    snwMessage* message;
} Cage;

// ---------------------------------------------------------------------------------------------------------------------
// What a cage is

static int CountEdges(const snwHandleMesh* mesh, int handle)
{
    int count = 0;
    for (int i = 0; i < mesh->cageEdgeCount; ++i)
        count += (mesh->cageEdges[i][0] == handle) + (mesh->cageEdges[i][1] == handle);
    return count;
}

static double Side(snwVec3 a, snwVec3 b, snwVec3 point)
{
    return (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
}

static bool Cross(const snwHandleMesh* mesh, int first, int second)
{
    const int *e = mesh->cageEdges[first], *f = mesh->cageEdges[second];
    if (e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1])
        return false;
    snwVec3 a = mesh->handles[e[0]].head, b = mesh->handles[e[1]].head;
    snwVec3 c = mesh->handles[f[0]].head, d = mesh->handles[f[1]].head;
    return Side(a, b, c) * Side(a, b, d) <= 0 && Side(c, d, a) * Side(c, d, b) <= 0;
}

bool snwHasClosedCage(const snwHandleMesh* mesh)
{
    if (mesh->elements.arity != 3 || mesh->cageEdgeCount < 3)
        return false;
    for (int i = 0; i < mesh->cageEdgeCount; ++i)
    {
        if (CountEdges(mesh, mesh->cageEdges[i][0]) != 2 || CountEdges(mesh, mesh->cageEdges[i][1]) != 2)
            return false;
        for (int k = 0; k < i; ++k)
            if (Cross(mesh, i, k))
                return false;
    }
    return true;
}

static void NumberHandles(Cage* cage)
{
    for (int i = 0; i < cage->mesh->handleCount; ++i)
    {
        bool corner = CountEdges(cage->mesh, i) > 0;
        cage->cornerOf[i] = corner ? cage->cornerCount++ : -1;
        cage->otherOf[i] = corner ? -1 : cage->otherCount++;
    }
}

static snwResult MakeRoom(Cage* cage)
{
    const snwHandleMesh* mesh = cage->mesh;
    double length = 0;
    snwVec3(*edges)[2] = snwArena_Alloc(&cage->arena, (size_t)mesh->cageEdgeCount, sizeof *edges);
    cage->cornerOf = snwArena_Alloc(&cage->arena, (size_t)mesh->handleCount, sizeof *cage->cornerOf);
    cage->otherOf = snwArena_Alloc(&cage->arena, (size_t)mesh->handleCount, sizeof *cage->otherOf);
    if (cage->arena.failed)
        return snwFailMemory(cage->message);
    NumberHandles(cage);
    for (int i = 0; i < mesh->cageEdgeCount; ++i)
    {
        for (int k = 0; k < 2; ++k)
            edges[i][k] = mesh->handles[mesh->cageEdges[i][k]].head;
        length += snwVec3_Distance(edges[i][0], edges[i][1]) / mesh->cageEdgeCount;
    }
    snwCageSpaceDef def = {.vertices = mesh->vertices,
        .vertexCount = mesh->vertexCount,
        .triangles = mesh->elements,
        .cageEdges = (const snwVec3(*)[2])edges,
        .cageEdgeCount = mesh->cageEdgeCount,
        .step = fmin(snwHandleMesh_MeanEdge(mesh), length / s_edgePieces)};
    return snwFillCage(cage->context, &def, &cage->arena, &cage->space, cage->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Shares of the corners

static void FixOutline(Cage* cage)
{
    for (int i = 0; i < cage->space.placeCount; ++i)
    {
        const snwCagePlace* place = &cage->space.places[i];
        const int* ends = cage->mesh->cageEdges[place->edge];
        double* row = &cage->shares[(size_t)place->vertex * (size_t)cage->cornerCount];
        memset(row, 0, (size_t)cage->cornerCount * sizeof *row);
        row[cage->cornerOf[ends[0]]] = 1 - place->share;
        row[cage->cornerOf[ends[1]]] += place->share;
        cage->fixed[place->vertex] = true;
    }
}

static snwResult MakeLaplacian(Cage* cage)
{
    const snwCageSpace* space = &cage->space;
    snwPattern* pattern = NULL;
    for (int i = 0; i < space->triangleCount; ++i)
    {
        snwVec3 p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = space->vertices[space->triangles[3 * (size_t)i + (size_t)k]];
        snwTriangleStiffness(p, &cage->stiffness[6 * (size_t)i]);
    }
    snwElementPatternDef def = {
        .nodeCount = space->vertexCount, .elementCount = space->triangleCount, .size = 3, .nodes = space->triangles};
    snwResult result = snwPattern_CreateFromElements(cage->context, &def, &pattern, cage->message);
    if (result == snw_ok)
    {
        snwPattern_Assemble(pattern, cage->stiffness);
        result = snwSparse_Full(cage->context, snwPattern_Matrix(pattern), &cage->laplacian, cage->message);
    }
    snwPattern_Destroy(pattern);
    return result;
}

static bool TouchesReached(const snwSparse* L, int vertex, const bool* reached)
{
    for (int k = L->starts[vertex]; k < L->starts[vertex + 1]; ++k)
        if (reached[L->indices[k]] && L->values[k] != 0)
            return true;
    return false;
}

// All but parts of the body wholly outside the cage. To and fro, so that a few rounds are enough.
static void FindReached(const Cage* cage, bool* reached)
{
    int count = cage->space.vertexCount;
    bool changed = true;
    memcpy(reached, cage->fixed, (size_t)count * sizeof *reached);
    for (int round = 0; changed; ++round)
    {
        changed = false;
        for (int n = 0; n < count; ++n)
        {
            int i = round % 2 == 0 ? n : count - 1 - n;
            if (reached[i] || !TouchesReached(&cage->laplacian, i, reached))
                continue;
            reached[i] = changed = true;
        }
    }
}

// They follow the corner that is nearest to each of them.
static snwResult FixUnreached(Cage* cage)
{
    bool* reached = snwArena_Alloc(&cage->arena, (size_t)cage->space.vertexCount, sizeof *reached);
    if (reached == NULL)
        return snwFailMemory(cage->message);
    FindReached(cage, reached);
    for (int i = 0; i < cage->space.vertexCount; ++i)
    {
        double least = INFINITY;
        int nearest = 0;
        for (int k = 0; k < cage->mesh->handleCount && !reached[i]; ++k)
        {
            double distance = snwHandleShape_Distance(&cage->mesh->handles[k], cage->space.vertices[i]);
            if (cage->cornerOf[k] >= 0 && distance < least)
                least = distance, nearest = cage->cornerOf[k];
        }
        if (reached[i])
            continue;
        cage->shares[(size_t)i * (size_t)cage->cornerCount + (size_t)nearest] = 1;
        cage->fixed[i] = true;
        ++cage->report.unreachedVertexCount;
    }
    return snw_ok;
}

// The rows of what is free: L_ff x = -L_fc w_c.
typedef struct Free
{
    int* numberOf; // per vertex of the room, -1: fixed
    int count;
    snwSparse matrix; // lower half
    double* x;        // cornerCount per row
} Free;

static void FillRow(const Cage* cage, Free* f, int vertex, int* at)
{
    const snwSparse* L = &cage->laplacian;
    int row = f->numberOf[vertex];
    size_t width = (size_t)cage->cornerCount;
    for (int k = L->starts[vertex]; k < L->starts[vertex + 1]; ++k)
    {
        int other = L->indices[k], column = f->numberOf[other];
        if (column >= 0 && column <= row)
        {
            f->matrix.indices[*at] = column;
            f->matrix.values[(*at)++] = L->values[k];
        }
        for (size_t c = 0; c < width && column < 0; ++c)
            f->x[(size_t)row * width + c] -= L->values[k] * cage->shares[(size_t)other * width + c];
    }
    f->matrix.starts[row + 1] = *at;
}

static snwResult SplitFree(Cage* cage, Free* f)
{
    int vertices = cage->space.vertexCount, at = 0;
    size_t entries = (size_t)snwSparse_Count(&cage->laplacian);
    f->numberOf = snwArena_Alloc(&cage->arena, (size_t)vertices, sizeof *f->numberOf);
    for (int i = 0; f->numberOf != NULL && i < vertices; ++i)
        f->numberOf[i] = cage->fixed[i] ? -1 : f->count++;
    f->matrix = (snwSparse){.rows = f->count, .columns = f->count, .symmetric = true};
    f->matrix.starts = snwArena_Alloc(&cage->arena, (size_t)f->count + 1, sizeof(int));
    f->matrix.indices = snwArena_Alloc(&cage->arena, entries, sizeof(int));
    f->matrix.values = snwArena_Alloc(&cage->arena, entries, sizeof(double));
    f->x = snwArena_Alloc(&cage->arena, (size_t)f->count, (size_t)cage->cornerCount * sizeof(double));
    if (cage->arena.failed)
        return snwFailMemory(cage->message);
    for (int i = 0; i < vertices; ++i)
        if (!cage->fixed[i])
            FillRow(cage, f, i, &at);
    return snw_ok;
}

static snwResult SolveFree(Cage* cage, const Free* f)
{
    snwCholesky* factor = NULL;
    snwCholeskyScratch* scratch = NULL;
    snwCholeskyDef def = snwDefaultCholeskyDef();
    def.matrix = &f->matrix;
    snwResult result = snwCholesky_Create(cage->context, &def, &factor, cage->message);
    if (result == snw_ok)
        result = snwCholeskyScratch_Create(factor, &scratch, cage->message);
    if (result == snw_ok)
        snwCholesky_Solve(factor, scratch, snwRows_Double(f->x, cage->cornerCount, cage->cornerCount));
    snwCholeskyScratch_Destroy(scratch);
    snwCholesky_Destroy(factor);
    return result;
}

static snwResult ShareCorners(Cage* cage)
{
    size_t vertices = (size_t)cage->space.vertexCount, width = (size_t)cage->cornerCount;
    Free f = {0};
    cage->stiffness = snwArena_Alloc(&cage->arena, (size_t)cage->space.triangleCount, 6 * sizeof(double));
    cage->fixed = snwArena_Alloc(&cage->arena, vertices, sizeof *cage->fixed);
    cage->shares = snwArena_Alloc(&cage->arena, vertices, width * sizeof(double));
    if (cage->arena.failed)
        return snwFailMemory(cage->message);
    FixOutline(cage);
    snwResult result = MakeLaplacian(cage);
    result = result < 0 ? result : FixUnreached(cage);
    result = result < 0 ? result : SplitFree(cage, &f);
    if (result == snw_ok && f.count > 0)
        result = SolveFree(cage, &f);
    for (size_t i = 0; i < vertices && result == snw_ok; ++i)
        if (!cage->fixed[i])
            memcpy(&cage->shares[i * width], &f.x[(size_t)f.numberOf[i] * width], width * sizeof(double));
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Other handles

// The room with the others as handles and the outline as what the last one owns. A point holds the vertex of the body
// next to it, as it would without a cage: filling has no flesh.
static void DescribeOthers(const Cage* cage, snwHandleMesh* room, snwHandleShape* shapes, int* owners)
{
    const snwHandleMesh* mesh = cage->mesh;
    for (int i = 0; i < cage->space.vertexCount; ++i)
        owners[i] = cage->fixed[i] ? cage->otherCount : -1;
    for (int i = 0; i < mesh->handleCount; ++i)
    {
        if (cage->otherOf[i] >= 0)
            shapes[cage->otherOf[i]] = mesh->handles[i];
        else
            shapes[cage->otherCount] = mesh->handles[i];
    }
    for (int i = 0; mesh->owners != NULL && i < mesh->vertexCount; ++i)
        if (mesh->owners[i] >= 0 && cage->otherOf[mesh->owners[i]] >= 0)
            owners[cage->space.bodyVertices[i]] = cage->otherOf[mesh->owners[i]];
    *room = (snwHandleMesh){.vertices = cage->space.vertices,
        .vertexCount = cage->space.vertexCount,
        .elements = {cage->space.triangles, 3, cage->space.triangleCount},
        .handles = shapes,
        .handleCount = cage->otherCount + 1,
        .owners = owners};
}

static snwResult SolveOthers(Cage* cage)
{
    snwHandleShape* shapes = snwArena_Alloc(&cage->arena, (size_t)cage->otherCount + 1, sizeof *shapes);
    int* owners = snwArena_Alloc(&cage->arena, (size_t)cage->space.vertexCount, sizeof *owners);
    if (cage->arena.failed)
        return snwFailMemory(cage->message);
    snwHandleMesh room;
    DescribeOthers(cage, &room, shapes, owners);
    snwBiharmonicDef def = *cage->def;
    def.mesh = &room;
    def.influences = 0;
    int unreached = cage->report.unreachedVertexCount;
    snwResult result = snwSolveBiharmonic(cage->context, &def, &cage->others, &cage->report, cage->message);
    cage->report.unreachedVertexCount = unreached;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// All

static void FillWeights(const Cage* cage, int vertex, double* row)
{
    int place = cage->space.bodyVertices[vertex];
    const double* shares = &cage->shares[(size_t)place * (size_t)cage->cornerCount];
    double whole = cage->others != NULL ? snwWeights_Get(cage->others, place, cage->otherCount) : 1;
    for (int k = 0; k < cage->mesh->handleCount; ++k)
        row[k] = cage->cornerOf[k] >= 0 ? whole * fmax(shares[cage->cornerOf[k]], 0)
                                        : snwWeights_Get(cage->others, place, cage->otherOf[k]);
}

static snwResult WriteWeights(Cage* cage, snwWeights** weights)
{
    const snwHandleMesh* mesh = cage->mesh;
    double* values = snwArena_Alloc(
        &cage->arena, (size_t)mesh->vertexCount, (size_t)mesh->handleCount * sizeof(double));
    if (values == NULL)
        return snwFailMemory(cage->message);
    for (int i = 0; i < mesh->vertexCount; ++i)
        FillWeights(cage, i, &values[(size_t)i * (size_t)mesh->handleCount]);
    snwWeightLists lists = {.vertexCount = mesh->vertexCount,
        .handleCount = mesh->handleCount,
        .perVertex = mesh->handleCount,
        .values = values,
        .least = s_dropped,
        .influences = cage->def->influences};
    return snwWeights_FromLists(cage->context, &lists, weights, NULL, cage->message);
}

snwResult snwSolveCage(snwContext* context, const snwBiharmonicDef* def, snwWeights** weights,
    snwBiharmonicReport* report, snwMessage* message)
{
    *weights = NULL;
    Cage cage = {.context = context, .def = def, .mesh = def->mesh, .message = message};
    cage.arena.context = context;
    cage.report.converged = true;
    snwResult result = MakeRoom(&cage);
    result = result < 0 ? result : ShareCorners(&cage);
    if (result == snw_ok && cage.otherCount > 0)
        result = SolveOthers(&cage);
    result = result < 0 ? result : WriteWeights(&cage, weights);
    if (report != NULL)
        *report = cage.report;
    snwFree(context, cage.others);
    snwSparse_Free(context, &cage.laplacian);
    snwArena_Free(&cage.arena);
    return result;
}
