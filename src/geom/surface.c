// Marching tetrahedra on a lattice whose vertices near the surface were moved on to it, then a few rounds of smoothing
// along the surface. Dual contouring would keep sharp edges, but cannot promise a manifold; bodies have few of them.

#include "geom/surface.h"
#include "base/sort.h"
#include "geom/cut.h"

#include <string.h>

enum
{
    surface_smoothRounds = 4,
    surface_landRounds = 2
};

// Edge of a lattice cell whose triangles come out with edges of length 1.
#define SNW_CELL_PER_EDGE 1.28

typedef int Corners3[3];

typedef struct Surface
{
    snwContext* context;
    snwCut cut;
    snwArray(Corners3) triangles;
    snwVec3* positions;
    int vertexCount;
    int *firstTriangle, *vertexTriangles; // triangles of each vertex
} Surface;

// ---------------------------------------------------------------------------------------------------------------------
// Triangles

// Outwards: away from the inner vertex of the tet that it was cut from.
static bool AddSurfaceTriangle(Surface* surface, int a, int b, int c, int inside)
{
    if (!snwArray_Reserve(surface->context, &surface->triangles, 1))
        return false;
    int64_t p[4][3];
    snwCut_IdealPlace(&surface->cut, a, p[0]);
    snwCut_IdealPlace(&surface->cut, b, p[1]);
    snwCut_IdealPlace(&surface->cut, c, p[2]);
    snwCut_IdealPlace(&surface->cut, inside, p[3]);
    bool outward = snwLattice_Volume(p[0], p[1], p[2], p[3]) < 0;
    int* triangle = surface->triangles.data[surface->triangles.count++];
    triangle[0] = a, triangle[1] = outward ? b : c, triangle[2] = outward ? c : b;
    return true;
}

// Two inside, two outside: a quadrilateral, cut along its shorter diagonal.
static bool AddCutQuad(Surface* surface, const int in[2], const int out[2])
{
    const snwCut* cut = &surface->cut;
    int corners[4] = {snwCut_EdgeVertex(cut, in[0], out[0]), snwCut_EdgeVertex(cut, in[0], out[1]),
        snwCut_EdgeVertex(cut, in[1], out[1]), snwCut_EdgeVertex(cut, in[1], out[0])};
    snwVec3 p[4];
    for (int i = 0; i < 4; ++i)
        p[i] = snwCut_Position(cut, corners[i]);
    int first = snwVec3_Distance(p[0], p[2]) <= snwVec3_Distance(p[1], p[3]) ? 0 : 1;
    const int* c = corners;
    return AddSurfaceTriangle(surface, c[first], c[first + 1], c[first + 2], in[first]) &&
           AddSurfaceTriangle(surface, c[first], c[first + 2], c[(first + 3) % 4], in[1]);
}

static bool AddTetTriangles(Surface* surface, const int tet[4])
{
    const snwCut* cut = &surface->cut;
    int in[4], out[4], corners[4], inCount = 0, outCount = 0, count = 0;
    snwCut_SortCorners(cut, tet, in, &inCount, out, &outCount, corners, &count);
    if (inCount == 2 && outCount == 2)
        return AddCutQuad(surface, in, out);
    if (inCount == 0 || count + inCount * outCount != 3)
        return true;
    for (int i = 0; i < inCount * outCount; ++i)
        corners[count++] = snwCut_EdgeVertex(cut, in[i / outCount], out[i % outCount]);
    return AddSurfaceTriangle(surface, corners[0], corners[1], corners[2], in[0]);
}

static uint64_t TriangleHash(const int t[3])
{
    // Equal for equal vertices in any order; others rarely share one, and then are compared.
    uint64_t hash = 0;
    for (int k = 0; k < 3; ++k)
    {
        uint64_t x = ((uint64_t)t[k] + 1) * 0x9E3779B97F4A7C15ull;
        hash += (x ^ x >> 29) * 0xD6E8FEB86659FD93ull;
    }
    return hash >> 20;
}

static bool SameTriangle(const int a[3], const int b[3])
{
    int same = 0;
    for (int i = 0; i < 3; ++i)
        same += a[i] == b[0] || a[i] == b[1] || a[i] == b[2];
    return same == 3;
}

// A triangle between three lattice vertices may have come from the tets on both sides: it is inside then.
static bool DropTwins(Surface* surface)
{
    int count = surface->triangles.count, corners = surface->cut.lattice.pointCount, found = 0, kept = 0;
    uint64_t* keys = snwAllocArray(surface->context, (size_t)count, sizeof *keys);
    int* indices = snwAllocArray(surface->context, (size_t)count, sizeof *indices);
    bool* twin = snwAllocArray(surface->context, (size_t)count, sizeof *twin);
    bool enough = keys != NULL && indices != NULL && twin != NULL;

    int(*triangles)[3] = surface->triangles.data;

    // Only triangles of lattice vertices alone can have twins.
    for (int i = 0; enough && i < count; ++i)
    {
        const int* t = triangles[i];
        if (t[0] < corners && t[1] < corners && t[2] < corners)
            keys[found] = TriangleHash(t), indices[found++] = i;
    }

    // Equal hashes are compared.
    enough = enough && snwSortKeys(surface->context, keys, indices, found);
    for (int i = 0; enough && i < found; ++i)
        for (int j = i + 1; j < found && keys[j] == keys[i]; ++j)
            if (SameTriangle(triangles[indices[i]], triangles[indices[j]]))
                twin[indices[i]] = twin[indices[j]] = true;

    // The others close up.
    for (int i = 0; enough && i < count; ++i)
    {
        if (twin[i])
            continue;
        memmove(triangles[kept++], triangles[i], sizeof *triangles);
    }

    surface->triangles.count = enough ? kept : count;
    snwFree(surface->context, keys);
    snwFree(surface->context, indices);
    snwFree(surface->context, twin);

    return enough;
}

// Numbers the vertices in the order in which triangles use them.
static bool NumberSurfaceVertices(Surface* surface)
{
    const snwCut* cut = &surface->cut;
    size_t most = (size_t)cut->lattice.pointCount + (size_t)cut->edgeCount;
    int* numbers = snwAllocArray(surface->context, most, sizeof *numbers);

    // Euler: a closed surface has at most half as many vertices as triangles, and two more for each part of it.
    surface->positions = snwAllocArray(
        surface->context, 3 * (size_t)surface->triangles.count, sizeof *surface->positions);
    bool enough = numbers != NULL && surface->positions != NULL;
    for (int i = 0; enough && i < 3 * surface->triangles.count; ++i)
    {
        int* vertex = &surface->triangles.data[i / 3][i % 3];
        if (numbers[*vertex] == 0)
        {
            surface->positions[surface->vertexCount++] = snwCut_Position(cut, *vertex);
            numbers[*vertex] = surface->vertexCount;
        }
        *vertex = numbers[*vertex] - 1;
    }

    snwFree(surface->context, numbers);
    return enough;
}

static bool ListTriangles(Surface* surface)
{
    int count = 3 * surface->triangles.count;
    int* first = snwAllocArray(surface->context, (size_t)surface->vertexCount + 2, sizeof *first);
    int* list = snwAllocArray(surface->context, (size_t)count, sizeof *list);
    surface->firstTriangle = first, surface->vertexTriangles = list;
    if (first == NULL || list == NULL)
        return false;
    for (int i = 0; i < count; ++i)
        first[surface->triangles.data[i / 3][i % 3] + 2]++;
    for (int i = 0; i < surface->vertexCount; ++i)
        first[i + 2] += first[i + 1];
    for (int i = 0; i < count; ++i)
        list[first[surface->triangles.data[i / 3][i % 3] + 1]++] = i / 3;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Smoothing

typedef struct Smoother
{
    const Surface* surface;
    const snwSolid* solid;
    const snwVec3* from;
    snwVec3* to;
    double reach; // m, of one move along the normal
    double share; // of the way to the neighbours' middle
} Smoother;

static snwVec3 SurfaceTriangleNormal(const snwVec3* positions, const int t[3])
{
    return snwVec3_Cross(snwVec3_Sub(positions[t[1]], positions[t[0]]), snwVec3_Sub(positions[t[2]], positions[t[0]]));
}

// Would a triangle at the vertex turn by more than a right angle, or nearly vanish, if the vertex went to `place`?
static bool WouldFold(const Smoother* smoother, int vertex, snwVec3 place)
{
    const Surface* surface = smoother->surface;
    for (int i = surface->firstTriangle[vertex]; i < surface->firstTriangle[vertex + 1]; ++i)
    {
        const int* t = surface->triangles.data[surface->vertexTriangles[i]];
        snwVec3 p[3], before = SurfaceTriangleNormal(smoother->from, t);
        for (int k = 0; k < 3; ++k)
            p[k] = t[k] == vertex ? place : smoother->from[t[k]];
        snwVec3 after = SurfaceTriangleNormal(p, (const int[3]){0, 1, 2});
        if (snwVec3_Dot(before, after) < 0.2 * snwVec3_LengthSquared(before))
            return true;
    }
    return false;
}

// Towards the middle of the neighbours, but only along the surface, then back on to the surface.
static snwVec3 SmoothedPlace(const Smoother* smoother, int vertex)
{
    const Surface* surface = smoother->surface;
    snwVec3 place = smoother->from[vertex], middle = {0}, normal = {0};
    double weight = 0;

    // Area-weighted middle and normal of the triangles around.
    for (int i = surface->firstTriangle[vertex]; i < surface->firstTriangle[vertex + 1]; ++i)
    {
        const int* t = surface->triangles.data[surface->vertexTriangles[i]];
        snwVec3 area = SurfaceTriangleNormal(smoother->from, t);
        double w = snwVec3_Length(area);
        normal = snwVec3_Add(normal, area);
        for (int k = 0; k < 3; ++k)
            middle = snwVec3_MulAdd(middle, w / 3, smoother->from[t[k]]);
        weight += w;
    }

    normal = snwVec3_Normalize(normal);

    // Only what of the way lies in the surface.
    if (weight > 0)
    {
        snwVec3 way = snwVec3_MulAdd(snwVec3_Scale(middle, 1 / weight), -1, place);
        way = snwVec3_MulAdd(way, -snwVec3_Dot(way, normal), normal);
        place = snwVec3_MulAdd(place, smoother->share, way);
    }

    double value = smoother->solid->distance(place, smoother->solid->data);
    if (fabs(value) > smoother->reach)
    {
        // Through a thin part, perhaps: its other side would be as good to land on. Better stay.
        place = smoother->from[vertex];
        value = smoother->solid->distance(place, smoother->solid->data);
    }

    // Newton's step back on to the surface.
    value = fmin(fmax(value, -smoother->reach), smoother->reach);
    return snwVec3_MulAdd(place, -value, normal);
}

static void SmoothSurfaceRange(int begin, int end, void* data)
{
    const Smoother* smoother = data;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 place = SmoothedPlace(smoother, i);
        bool good = snwVec3_IsFinite(place) && !WouldFold(smoother, i, place);
        smoother->to[i] = good ? place : smoother->from[i];
    }
}

static bool SmoothSurface(Surface* surface, const snwSolid* solid, double spacing)
{
    snwVec3* other = snwAllocArray(surface->context, (size_t)surface->vertexCount, sizeof *other);
    if (other == NULL)
        return false;
    Smoother smoother = {.surface = surface, .solid = solid, .reach = 0.2 * spacing};
    for (int i = 0; i < surface_smoothRounds + surface_landRounds; ++i)
    {
        smoother.share = i < surface_smoothRounds ? 0.7 : 0;
        smoother.from = surface->positions, smoother.to = other;
        snwParallelFor(surface->context, surface->vertexCount, 512, SmoothSurfaceRange, &smoother);
        other = surface->positions;
        surface->positions = smoother.to;
    }
    snwFree(surface->context, other);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------

static bool MakeTriangles(Surface* surface)
{
    for (int i = 0; i < surface->cut.lattice.tetCount; ++i)
        if (!AddTetTriangles(surface, surface->cut.lattice.tets[i]))
            return false;
    return DropTwins(surface) && NumberSurfaceVertices(surface) && ListTriangles(surface);
}

snwResult snwMeshSurface(snwContext* context, const snwSolid* solid, double spacing, snwArena* arena,
    snwTriangleMesh* mesh, snwMessage* message)
{
    *mesh = (snwTriangleMesh){0};
    double cell = spacing * SNW_CELL_PER_EDGE;
    snwLatticeDef def = {.solid = solid, .spacing = cell, .detail = cell / 4, .surfaceOnly = true};
    Surface surface = {.context = context};
    snwResult result = snwCut_Create(context, &def, &surface.cut, message);
    if (result < 0)
        return result;
    bool enough = MakeTriangles(&surface) && SmoothSurface(&surface, solid, spacing);

    // Into the caller's memory.
    if (enough)
    {
        size_t vertices = (size_t)surface.vertexCount, triangles = (size_t)surface.triangles.count;
        mesh->vertices = snwArena_Copy(arena, surface.positions, vertices, sizeof *mesh->vertices);
        mesh->triangles = snwArena_Copy(arena, surface.triangles.data, triangles, sizeof *mesh->triangles);
        mesh->vertexCount = surface.vertexCount, mesh->triangleCount = surface.triangles.count;
        enough = mesh->vertices != NULL && mesh->triangles != NULL;
    }

    snwFree(context, surface.positions);
    snwFree(context, surface.firstTriangle);
    snwFree(context, surface.vertexTriangles);
    snwArray_Free(context, &surface.triangles);
    snwCut_Free(context, &surface.cut);

    return enough ? snw_ok : snwFailMemory(message);
}

double snwTriangleMesh_Volume(const snwTriangleMesh* mesh)
{
    double sum = 0;
    for (int i = 0; i < mesh->triangleCount; ++i)
    {
        const int* t = mesh->triangles[i];
        // From the first vertex rather than the origin: no loss of digits far from it.
        snwVec3 a = snwVec3_Sub(mesh->vertices[t[0]], mesh->vertices[0]);
        snwVec3 b = snwVec3_Sub(mesh->vertices[t[1]], mesh->vertices[0]);
        snwVec3 c = snwVec3_Sub(mesh->vertices[t[2]], mesh->vertices[0]);
        sum += snwVec3_Dot(a, snwVec3_Cross(b, c)) / 6;
    }
    return sum;
}

double snwTriangleMesh_Area(const snwTriangleMesh* mesh)
{
    double sum = 0;
    for (int i = 0; i < mesh->triangleCount; ++i)
        sum += snwVec3_Length(SurfaceTriangleNormal(mesh->vertices, mesh->triangles[i])) / 2;
    return sum;
}
