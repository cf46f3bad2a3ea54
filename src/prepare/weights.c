// Weights of the surface become weights of the body.
//
// A vertex of the body's skin takes those of the nearest point of the flesh, and inside weights are harmonic: each is
// the mean of its neighbours, by 1 / length^2. So they stay between 0 and 1, sum to one and have no jump where the
// nearest point changes. A body of the file's own elements has the file's own weights. Elements that a bone owns get no
// say: in a thin leg they reach the skin, and a weight of one there, next to that of the next bone, would fold what the
// artist bends gently. Copies for another limb (limbs.c) are as inside: the nearest point is not that of their limb.

#include "prepare/parts.h"

#include "base/sort.h"
#include "geom/mesh.h"
#include "rig/weights.h"

#include <math.h>
#include <string.h>

enum
{
    snw_influences = 8,
    snw_steps = 400, // of conjugate gradients, at most
};

typedef struct Field
{
    snwPreparer* preparer;
    bool* fixed;
    double* values; // of all vertices and bones, vertex by vertex
    int* starts;    // neighbours
    int* neighbours;
    double* pulls;
    double* diagonal;
    double* work; // four vectors per bone
} Field;

// ---------------------------------------------------------------------------------------------------------------------
// What is known

static void AddSurfaceWeights(const snwPreparer* p, int surface, int vertex, double share, double* row)
{
    const snwRigWeights* weights = &p->weights[surface];
    if (weights->starts == NULL)
        return;
    for (int k = weights->starts[vertex]; k < weights->starts[vertex + 1]; ++k)
    {
        int bone = snwPreparer_BoneOf(p, weights->bones[k]);
        if (bone >= 0)
            row[bone] += share * weights->values[k];
    }
}

static void FixRange(int begin, int end, void* data)
{
    const Field* field = data;
    const snwPreparer* p = field->preparer;

    // Fixed by the file's own weights, or by those of the nearest triangle of the flesh.
    for (int i = begin; i < end; ++i)
    {
        double* row = field->values + (size_t)i * (size_t)p->boneCount;
        bool own = p->ownSurface >= 0; // the file says it of all vertices
        if (!field->fixed[i] && !own)
            continue;
        snwClosest closest = snwSoup_Closest(p->flesh, p->body.vertices[i]);
        for (int k = 0; k < 3 && !own; ++k)
        {
            int vertex = p->fleshTriangles[closest.triangle][k];
            AddSurfaceWeights(p, p->fleshSource[vertex], p->fleshVertex[vertex], closest.weights[k], row);
        }

        // Rows are scaled to one; a row of nothing fixes nothing.
        if (own)
            AddSurfaceWeights(p, p->ownSurface, p->ownVertices[i], 1, row);
        double sum = 0;
        for (int b = 0; b < p->boneCount; ++b)
            sum += row[b];
        field->fixed[i] = sum > 0;
        for (int b = 0; b < p->boneCount && sum > 0; ++b)
            row[b] /= sum;
    }
}

static snwResult MarkSkin(Field* field)
{
    snwPreparer* p = field->preparer;
    int(*triangles)[3] = NULL, count = 0;
    snwElements elements = {(const int*)p->body.tets, 4, p->body.tetCount};
    if (snwMesh_FindSkin(p->context, elements, &triangles, &count) < 0)
        return snwFailMemory(p->message);
    for (int i = 0; i < 3 * count; ++i)
        field->fixed[triangles[i / 3][i % 3]] = p->copies == NULL || !p->copies[triangles[i / 3][i % 3]];
    snwFree(p->context, triangles);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Between

static snwResult FindFieldNeighbours(Field* field)
{
    snwPreparer* p = field->preparer;
    int(*edges)[2] = NULL, count = 0, n = p->body.vertexCount;
    snwElements elements = {(const int*)p->body.tets, 4, p->body.tetCount};
    if (snwMesh_FindEdges(p->context, elements, NULL, 0, &edges, &count) < 0)
        return snwFailMemory(p->message);
    field->starts = snwPreparer_Alloc(p, n + 2, sizeof(int));
    field->neighbours = snwPreparer_Alloc(p, 2 * (int64_t)count + 1, sizeof(int));
    field->pulls = snwPreparer_Alloc(p, 2 * (int64_t)count + 1, sizeof(double));
    field->diagonal = snwPreparer_Alloc(p, n + 1, sizeof(double));

    // Neighbours over edges, counted two places late.
    for (int i = 0; i < 2 * count && !p->arena.failed; ++i)
        field->starts[edges[i / 2][i % 2] + 2] += 1;
    for (int i = 1; i <= n + 1 && !p->arena.failed; ++i)
        field->starts[i] += field->starts[i - 1];

    // Pulls fall with the square of the length: harmonic on an even mesh.
    for (int i = 0; i < 2 * count && !p->arena.failed; ++i)
    {
        int a = edges[i / 2][i % 2], b = edges[i / 2][1 - i % 2], at = field->starts[a + 1]++;
        double square = snwVec3_LengthSquared(snwVec3_Sub(p->body.vertices[a], p->body.vertices[b]));
        field->neighbours[at] = b;
        field->pulls[at] = 1 / fmax(square, 1e-30);
        field->diagonal[a] += field->pulls[at];
    }

    snwFree(p->context, edges);
    return p->arena.failed ? snwFailMemory(p->message) : snw_ok;
}

// out = (D - W) x over free vertices; zero elsewhere.
static void MultiplyField(const Field* field, const double* x, double* out)
{
    int n = field->preparer->body.vertexCount;
    for (int i = 0; i < n; ++i)
    {
        double sum = field->fixed[i] ? 0 : field->diagonal[i] * x[i];
        for (int k = field->starts[i]; k < field->starts[i + 1] && !field->fixed[i]; ++k)
            sum -= field->pulls[k] * (field->fixed[field->neighbours[k]] ? 0 : x[field->neighbours[k]]);
        out[i] = sum;
    }
}

static double DotVectors(const double* a, const double* b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

// Conjugate gradients with the diagonal, for one bone.
static void SolveBone(const Field* field, int bone)
{
    const snwPreparer* p = field->preparer;
    int n = p->body.vertexCount, bones = p->boneCount;
    double *x = field->work + 4 * (size_t)bone * (size_t)n, *r = x + n, *d = r + n, *q = d + n;

    // r = b: pulls of fixed neighbours; x starts at 0.
    for (int i = 0; i < n; ++i)
    {
        r[i] = 0;
        for (int k = field->starts[i]; k < field->starts[i + 1] && !field->fixed[i]; ++k)
            if (field->fixed[field->neighbours[k]])
                r[i] += field->pulls[k] * field->values[(size_t)field->neighbours[k] * (size_t)bones + (size_t)bone];
        x[i] = 0;
        d[i] = r[i] / field->diagonal[i];
    }

    // At most so many steps; where it stops, weights are smooth enough.
    double rho = DotVectors(r, d, n), first = rho;
    for (int step = 0; step < snw_steps && rho > 1e-16 * first; ++step)
    {
        MultiplyField(field, d, q);
        double alpha = rho / DotVectors(d, q, n), next = 0;
        for (int i = 0; i < n; ++i)
        {
            x[i] += alpha * d[i];
            r[i] -= alpha * q[i];
            next += r[i] * r[i] / field->diagonal[i];
        }

        for (int i = 0; i < n; ++i)
            d[i] = r[i] / field->diagonal[i] + next / rho * d[i];
        rho = next;
    }

    // Clamped, as rounding may leave the range.
    for (int i = 0; i < n; ++i)
        if (!field->fixed[i])
            field->values[(size_t)i * (size_t)bones + (size_t)bone] = fmin(fmax(x[i], 0), 1);
}

static void SolveRange(int begin, int end, void* data)
{
    for (int i = begin; i < end; ++i)
        SolveBone(data, i);
}

// Parts of the body that nothing fixed reaches follow the nearest bone.
static void FillEmpty(const Field* field)
{
    const snwPreparer* p = field->preparer;
    for (int i = 0; i < p->body.vertexCount; ++i)
    {
        // Nothing reached the vertex: the bone with the nearest middle takes it.
        double *row = field->values + (size_t)i * (size_t)p->boneCount, sum = 0, nearest = INFINITY;
        int best = 0;
        for (int b = 0; b < p->boneCount; ++b)
            sum += row[b];
        for (int b = 0; b < p->boneCount && !(sum > 1e-6); ++b)
        {
            double distance = snwVec3_Distance(
                p->body.vertices[i], snwVec3_Lerp(p->bones[b].head, p->bones[b].tail, 0.5));
            if (distance < nearest)
                nearest = distance, best = b;
        }

        if (!(sum > 1e-6))
            row[best] = 1;
    }
}

static snwResult SpreadWeights(snwPreparer* p)
{
    Field field = {.preparer = p};
    int64_t n = p->body.vertexCount, cells = n * p->boneCount;
    field.fixed = snwPreparer_Alloc(p, n + 1, sizeof *field.fixed);
    field.values = snwPreparer_Alloc(p, cells + 1, sizeof(double));
    field.work = snwAllocArray(p->context, (size_t)(4 * cells) + 1, sizeof(double));
    snwResult result = p->arena.failed || field.work == NULL ? snwFailMemory(p->message) : MarkSkin(&field);
    if (result >= 0)
        result = FindFieldNeighbours(&field);

    // Vertices on all threads, then bones on all threads: no two write to the same place.
    if (result >= 0)
    {
        snwParallelFor(p->context, (int)n, 64, FixRange, &field);
        snwParallelFor(p->context, p->boneCount, 1, SolveRange, &field);
        FillEmpty(&field);
        snwWeightLists lists = {.vertexCount = (int)n,
            .handleCount = p->boneCount,
            .perVertex = p->boneCount,
            .values = field.values,
            .least = 1e-3,
            .influences = snw_influences};
        result = snwWeights_FromLists(p->context, &lists, &p->boneWeights, NULL, p->message);
    }

    snwFree(p->context, field.work);
    return result;
}

snwResult snwPreparer_MakeWeights(snwPreparer* p)
{
    bool any = false;
    for (int i = 0; i < p->surfaceCount; ++i)
        any = any || (p->weights[i].starts != NULL && p->surfaces[i].kind == snw_surfaceSoft && !p->surfaces[i].left);
    return any && p->boneCount > 0 ? SpreadWeights(p) : snw_ok;
}
