// Flesh added to an artist's surface: the difference between the simulated and the skinned body, smoothed, kept from
// stretching edges too far, limited by how thick flesh is, and drawn back where the surface would double back on
// itself.

#include "bake/flesh.h"

#include "base/result.h"
#include "base/tasks.h"
#include "geom/weld.h"
#include "sim/character.h"

#include <math.h>
#include <string.h>

#define SNW_DOUBLING (-0.75f) // cosine at an edge: from here on flesh is held back
#define SNW_STRETCH  0.5      // of the length of an edge: by so much flesh may stretch it

enum
{
    flesh_smoothRounds = 8,   // of what flesh adds
    flesh_stretchRounds = 24, // of holding edges together
    flesh_foldRounds = 8,     // of smoothing what would double back
    flesh_reachRounds = 4,
    flesh_grain = 1024
};

// ---------------------------------------------------------------------------------------------------------------------
// Making

// m: the mean edge of the body.
static double FleshCell(const snwCharacterDef* def)
{
    double sum = 0;
    for (int i = 0; i < def->tetCount; ++i)
        sum += snwVec3_Distance(def->vertices[def->tets[i][0]], def->vertices[def->tets[i][1]]);
    return def->tetCount > 0 ? sum / def->tetCount : 1;
}

static snwVec3 RestOf(const snwSurfaceInfo* surface, int vertex)
{
    const float* x = surface->positions[vertex];
    return (snwVec3){(double)x[0], (double)x[1], (double)x[2]};
}

// Edges all around which there is flesh.
static snwResult FindFolds(
    snwArena* arena, const snwSurfaceInfo* surface, const snwWeld* weld, snwBakeFlesh* flesh, snwMessage* message)
{
    snwFolds* folds = &flesh->folds;
    int kept = 0;
    snwResult result = snwFolds_Find(arena, flesh->bind.mesh, weld, folds, message);

    // Only where all four corners may move.
    for (int e = 0; e < folds->count; ++e)
    {
        bool soft = true;
        for (int k = 0; k < 4; ++k)
            soft = soft && flesh->points[folds->corners[e][k]] >= 0;
        if (soft)
            memcpy(folds->corners[kept++], folds->corners[e], sizeof *folds->corners);
    }

    folds->count = kept;

    // Edges shorter than can be seen do not count as folds.
    snwVec3 lower = {INFINITY, INFINITY, INFINITY}, upper = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < surface->vertexCount; ++i)
        lower = snwVec3_Min(lower, RestOf(surface, i)), upper = snwVec3_Max(upper, RestOf(surface, i));
    flesh->least = SNW_FOLD_SEEN * snwVec3_Distance(lower, upper);
    return result;
}

// Both ways along each side of a triangle; an edge of two triangles counts twice, everywhere alike.
static snwResult LinkPlaces(
    snwArena* arena, const snwSurfaceInfo* surface, double cell, snwBakeFlesh* flesh, snwMessage* message)
{
    snwWeldDef def = {.positions = flesh->bind.mesh->positions, .count = surface->vertexCount};
    snwWeld weld;
    snwResult result = snwWeldVertices(arena, &def, &weld, message);
    if (result < 0)
        return result;

    // Places are welded vertices; each has its neighbours, how strongly they draw, and how far an edge may stretch.
    size_t links = 6 * (size_t)surface->triangleCount + 1, places = (size_t)weld.count + 2;
    flesh->places = weld.map;
    flesh->placeCount = weld.count;
    flesh->sources = weld.sources;
    flesh->starts = snwArena_Alloc(arena, places, sizeof(int));
    flesh->neighbours = snwArena_Alloc(arena, links, sizeof(int));
    flesh->draws = snwArena_Alloc(arena, links, sizeof(float));
    flesh->slack = snwArena_Alloc(arena, links, sizeof(float));
    flesh->moves = snwArena_Alloc(arena, 3 * places, sizeof(float));
    flesh->next = snwArena_Alloc(arena, 3 * places, sizeof(float));
    if (arena->failed)
        return snwFailMemory(message);

    // Counted two places late, so that filling moves the starts to where they belong.
    for (int i = 0; i < 3 * surface->triangleCount; ++i)
        flesh->starts[weld.map[surface->triangles[i / 3][i % 3]] + 2] += 2;
    for (int i = 2; i <= weld.count + 1; ++i)
        flesh->starts[i] += flesh->starts[i - 1];
    for (int i = 0; i < 3 * surface->triangleCount; ++i)
        for (int k = 1; k < 3; ++k)
        {
            int a = surface->triangles[i / 3][i % 3], b = surface->triangles[i / 3][(i + k) % 3];
            double length = snwVec3_Distance(RestOf(surface, a), RestOf(surface, b)) / cell;

            // Rigid places neither draw others nor tear.
            bool rigid = flesh->points[a] < 0 || flesh->points[b] < 0;
            int at = flesh->starts[weld.map[a] + 1]++;
            flesh->neighbours[at] = weld.map[b];
            flesh->slack[at] = rigid ? INFINITY : (float)(SNW_STRETCH * length * cell);
            flesh->draws[at] = rigid ? 0.0f : (float)exp(-4 * length * length);
        }

    return FindFolds(arena, surface, &weld, flesh, message);
}

// How far the flesh of each vertex may go, without jumps from one to the next.
static snwResult FindReach(snwArena* arena, const snwPrepared* prepared, const snwSurfaceInfo* surface,
    const snwThickness* thickness, double reach, snwBakeFlesh* flesh, snwMessage* message)
{
    const snwEmbedding* embedding = &prepared->embedding;
    if (thickness->character == NULL)
        return snw_ok;
    flesh->reach = snwArena_Alloc(arena, (size_t)surface->vertexCount + 1, sizeof(float));
    if (arena->failed)
        return snwFailMemory(message);
    float *now = flesh->moves, *next = flesh->next;

    // How thick flesh is at each place, by the body's vertices that carry it.
    for (int p = 0; p < flesh->placeCount; ++p)
    {
        int i = flesh->sources[p], point = flesh->points[i], vertices[4] = {0};
        double shares[4] = {1};
        if (point < 0)
            vertices[0] = prepared->anchors[~point].vertices[0];
        for (int k = 0; k < 4 && point >= 0; ++k)
        {
            vertices[k] = embedding->vertices[embedding->corners[point][k]];
            shares[k] = (double)embedding->weights[point][k];
        }

        now[p] = (float)snwThickness_At(thickness, RestOf(surface, i), vertices, shares, point < 0 ? 1 : 4);
    }

    // Means of neighbours, several times: no jumps.
    for (int round = 0; round < flesh_reachRounds; ++round)
    {
        for (int p = 0; p < flesh->placeCount; ++p)
        {
            float sum = now[p];
            int count = flesh->starts[p + 1] - flesh->starts[p];
            for (int k = flesh->starts[p]; k < flesh->starts[p + 1]; ++k)
                sum += now[flesh->neighbours[k]];
            next[p] = sum / (float)(count + 1);
        }

        float* swap = now;
        now = next, next = swap;
    }

    // Not 0, for it is divided by.
    for (int i = 0; i < surface->vertexCount; ++i)
        flesh->reach[i] = (float)reach * now[flesh->places[i]] + 1e-9f;
    return snw_ok;
}

snwResult snwBakeFlesh_Make(snwArena* arena, const snwPrepared* prepared, const snwAsset* asset, int index,
    const snwThickness* thickness, double reach, snwBakeFlesh* flesh, snwMessage* message)
{
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, index);
    const double* m = surface->place;
    snwAffine place = {{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}}, {m[3], m[7], m[11]}};

    // From the surface's place in the file to the rest pose and back.
    *flesh = (snwBakeFlesh){.scale = prepared->info.scale,
        .normals = (const float*)surface->normals,
        .points = prepared->points[index],
        .vertexCount = surface->vertexCount,
        .anchorCount = prepared->anchorCount};
    snwAffine_Inverse(place, &flesh->fromRest);
    snwResult result = snwBind_Make(asset, surface->node, true, arena, &flesh->bind, message);
    if (result >= 0)
        result = LinkPlaces(arena, surface, FleshCell(snwCharacter_GetDef(prepared->character)), flesh, message);
    if (result >= 0)
        result = FindReach(arena, prepared, surface, thickness, reach, flesh, message);
    size_t floats = 3 * (size_t)surface->vertexCount + 1;

    // Room for one frame of everything.
    flesh->shares = snwArena_Alloc(arena, (size_t)prepared->anchorCount + 1, sizeof(float));
    flesh->artist = snwArena_Alloc(arena, floats, sizeof(float));
    flesh->artistNormals = snwArena_Alloc(arena, floats, sizeof(float));
    flesh->positions = snwArena_Alloc(arena, floats, sizeof(float));
    flesh->shown = snwArena_Alloc(arena, floats, sizeof(float));
    flesh->offsets = snwArena_Alloc(arena, floats, sizeof(float));

    return result >= 0 && arena->failed ? snwFailMemory(message) : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// A frame

typedef struct Work
{
    snwBakeFlesh* flesh;
    const snwSkin *simulated, *skinned;
} Work;

static void StoreFleshPlace(snwVec3 x, float* out)
{
    out[0] = (float)x.x, out[1] = (float)x.y, out[2] = (float)x.z;
}

static void SmoothFleshRange(int begin, int end, void* data)
{
    const snwBakeFlesh* flesh = data;
    for (int p = begin; p < end; ++p)
    {
        const float* own = flesh->moves + 3 * (size_t)p;
        float sum[3] = {0, 0, 0}, count = (float)(flesh->starts[p + 1] - flesh->starts[p]);
        for (int k = flesh->starts[p]; k < flesh->starts[p + 1]; ++k)
            for (int c = 0; c < 3; ++c)
                sum[c] += flesh->draws[k] * (flesh->moves[3 * (size_t)flesh->neighbours[k] + (size_t)c] - own[c]);
        for (int c = 0; c < 3; ++c)
            flesh->next[3 * (size_t)p + (size_t)c] = own[c] + (count > 0 ? 0.5f * sum[c] / count : 0);
    }
}

// Both ends of an edge that would be stretched too far go half of the way; a place that many pull goes the mean way.
// Counts such ends.
static double HoldRange(int begin, int end, void* data)
{
    const snwBakeFlesh* flesh = data;
    double held = 0;
    for (int p = begin; p < end; ++p)
    {
        const float* own = flesh->moves + 3 * (size_t)p;
        float sum[3] = {0, 0, 0}, count = 0;

        // Squares first; most edges are far from their limit.
        for (int k = flesh->starts[p]; k < flesh->starts[p + 1]; ++k)
        {
            const float* other = flesh->moves + 3 * (size_t)flesh->neighbours[k];
            float d[3] = {other[0] - own[0], other[1] - own[1], other[2] - own[2]};
            float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], slack = flesh->slack[k];
            if (square < 0.9999f * slack * slack)
                continue; // nearly all: without a root
            float length = sqrtf(square);
            if (!(length > slack))
                continue;
            for (int c = 0; c < 3; ++c)
                sum[c] += 0.5f * (1 - slack / length) * d[c];
            count += 1;
        }

        held += (double)count;
        for (int c = 0; c < 3; ++c)
            flesh->next[3 * (size_t)p + (size_t)c] = own[c] + (count > 0 ? sum[c] / count : 0);
    }

    return held;
}

static void SwapMoves(snwBakeFlesh* flesh)
{
    float* swap = flesh->moves;
    flesh->moves = flesh->next, flesh->next = swap;
}

// What the limit leaves of a move.
static float ShareOf(const snwBakeFlesh* flesh, int vertex)
{
    const float* d = flesh->moves + 3 * (size_t)flesh->places[vertex];
    float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    return flesh->reach != NULL ? 1.0f / sqrtf(1.0f + square / (flesh->reach[vertex] * flesh->reach[vertex])) : 1.0f;
}

static void AddFleshRange(int begin, int end, void* data)
{
    const Work* work = data;
    snwBakeFlesh* flesh = work->flesh;
    for (int i = begin; i < end; ++i)
    {
        // Rigid pieces have a share of their own.
        size_t at = 3 * (size_t)i;
        const float *move = flesh->moves + 3 * (size_t)flesh->places[i], *rest = flesh->normals + at;
        float share = flesh->points[i] < 0 ? flesh->shares[~flesh->points[i]] : ShareOf(flesh, i);

        // What the file makes of the vertex and its normal.
        snwAffine map = snwBind_Blend(&flesh->bind, i);
        snwVec3 x = snwVec3_Scale(snwAffine_Apply(map, flesh->bind.base[i]), flesh->scale);
        snwMat3 linear = snwMat3_Mul(map.linear, flesh->fromRest.linear);
        snwVec3 n = snwMat3_MulVec(
            snwMat3_Cofactor(linear), (snwVec3){(double)rest[0], (double)rest[1], (double)rest[2]});

        n = snwVec3_Normalize(snwMat3_Determinant(linear) < 0 ? snwVec3_Negate(n) : n);
        StoreFleshPlace(x, flesh->artist + at);
        StoreFleshPlace(n, flesh->artistNormals + at);

        // Flesh on top; normals turn as those of the two bodies differ.
        const float *now = work->simulated->normals + at, *before = work->skinned->normals + at;
        for (int c = 0; c < 3; ++c)
        {
            flesh->offsets[at + (size_t)c] = share * move[c];
            (&x.x)[c] += (double)flesh->offsets[at + (size_t)c];
            (&n.x)[c] += (double)(share * (now[c] - before[c]));
        }

        StoreFleshPlace(x, flesh->positions + at);
        StoreFleshPlace(snwVec3_Normalize(n), flesh->shown + at);
    }
}

static snwVec3 LoadFleshPlace(const float* x)
{
    return (snwVec3){(double)x[0], (double)x[1], (double)x[2]};
}

// Draws the four corners of an edge together, all the way where the surface doubles back, not at all where it does not
// come near that or where the artist's is creased. Returns whether it did.
static bool UnfoldEdge(snwBakeFlesh* flesh, const int corners[4])
{
    snwVec3 now[4], artist[4], mean = {0, 0, 0};

    // How far the edge is bent now.
    for (int k = 0; k < 4; ++k)
        now[k] = LoadFleshPlace(flesh->positions + 3 * (size_t)corners[k]);
    float bend = snwFold_Bend(now, flesh->least);
    if (!(bend < SNW_DOUBLING))
        return false;

    // What it would be without flesh, and the mean way that flesh takes its corners.
    for (int k = 0; k < 4; ++k)
    {
        artist[k] = LoadFleshPlace(flesh->artist + 3 * (size_t)corners[k]);
        mean = snwVec3_MulAdd(mean, 0.25, snwVec3_Sub(now[k], artist[k]));
    }

    // By how much it is bent too far, and less where the artist has a crease.
    float share = fminf((SNW_DOUBLING - bend) / (SNW_DOUBLING - SNW_FOLDED), 1);
    share *= fminf(fmaxf((snwFold_Bend(artist, 0) - SNW_CREASE) / -SNW_CREASE, 0), 1);
    for (int k = 0; k < 4 && share > 0; ++k)
        StoreFleshPlace(snwVec3_Lerp(now[k], snwVec3_Add(artist[k], mean), (double)share),
            flesh->positions + 3 * (size_t)corners[k]);
    return share > 0;
}

// Edges one after the other, in a fixed order: few are ever met.
static void UnfoldAll(snwBakeFlesh* flesh)
{
    bool any = false, more = true;

    // A few rounds; each may fold a neighbour, so until nothing is left to do.
    for (int round = 0; round < flesh_foldRounds && more; ++round)
    {
        more = false;
        for (int e = 0; e < flesh->folds.count; ++e)
            more = UnfoldEdge(flesh, flesh->folds.corners[e]) || more;
        any = any || more;
    }

    // Vertices of one place go the same way.
    for (int i = 0; i < flesh->vertexCount && any; ++i)
    {
        size_t at = 3 * (size_t)i, from = 3 * (size_t)flesh->sources[flesh->places[i]];
        for (size_t c = 0; c < 3 && flesh->points[i] >= 0; ++c)
        {
            flesh->offsets[at + c] = flesh->positions[from + c] - flesh->artist[from + c];
            flesh->positions[at + c] = flesh->artist[at + c] + flesh->offsets[at + c];
        }
    }
}

static double RideOf(int begin, int end, void* data)
{
    const Work* work = data;
    double sum = 0;
    for (int i = begin; i < end; ++i)
    {
        if (work->flesh->points[i] < 0)
            continue;
        const float *a = work->flesh->artist + 3 * (size_t)i, *b = work->skinned->positions + 3 * (size_t)i;
        double x = (double)(a[0] - b[0]), y = (double)(a[1] - b[1]), z = (double)(a[2] - b[2]);
        sum += sqrt(x * x + y * y + z * z);
    }
    return sum;
}

void snwBakeFlesh_Add(snwBakeFlesh* flesh, const snwAssetPoser* poser, const snwAssetAnimation* animation, double time,
    const snwSkin* simulated, const snwSkin* skinned)
{
    snwContext* context = flesh->bind.asset->context;

    // The artist's pose, and the difference of both bodies at every place.
    snwBind_Pose(&flesh->bind, poser, animation, time);
    for (int p = 0; p < flesh->placeCount; ++p)
        for (int c = 0; c < 3; ++c)
        {
            size_t from = 3 * (size_t)flesh->sources[p] + (size_t)c;
            flesh->moves[3 * (size_t)p + (size_t)c] = simulated->positions[from] - skinned->positions[from];
        }

    // Smooth first, then hold.
    for (int round = 0; round < flesh_smoothRounds; ++round, SwapMoves(flesh))
        snwParallelFor(context, flesh->placeCount, flesh_grain, SmoothFleshRange, flesh);
    bool holds = false;
    for (int round = 0; round < flesh_stretchRounds && !holds; ++round, SwapMoves(flesh))
        holds = snwParallelSum(context, flesh->placeCount, flesh_grain, HoldRange, flesh) == 0;

    // A rigid piece stays one: it is held back as much as the vertex that is held back most.
    for (int i = 0; i < flesh->anchorCount; ++i)
        flesh->shares[i] = 1;
    flesh->limited = 0;
    for (int i = 0; i < flesh->vertexCount; ++i)
    {
        float share = ShareOf(flesh, i);
        flesh->limited += share < 0.7f; // sqrt(1/2): as far as its reach
        if (flesh->points[i] < 0)
            flesh->shares[~flesh->points[i]] = fminf(flesh->shares[~flesh->points[i]], share);
    }

    // Flesh on top of the artist's surface, then edges that fold.
    Work work = {flesh, simulated, skinned};
    snwParallelFor(context, flesh->vertexCount, flesh_grain, AddFleshRange, &work);
    UnfoldAll(flesh);
    flesh->ride = snwParallelSum(context, flesh->vertexCount, flesh_grain, RideOf, &work) / flesh->vertexCount;
}
