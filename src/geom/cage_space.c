// Triangles that fill the room of a flat cage: the body's vertices and points along the cage as given, rows of a
// triangular lattice in between, all triangulated by Delaunay's rule. Weights of a cage are solved on them
// (rig/cage.c).

#include "geom/cage_space.h"

#include "base/result.h"
#include "geom/planar.h"

#include <math.h>

static const double s_apart = 0.6;   // of a step: how near to others no vertex is added
static const double s_most = 20000;  // vertices that fill the room, about
static const double s_row = 0.86602; // height of a triangle with sides of 1

enum
{
    snw_frameCorners = 4,      // points of the planar that are not ours
    snw_mostEdgePieces = 4096, // of one edge of the cage
};

typedef struct Work
{
    snwContext* context;
    const snwCageSpaceDef* def;
    snwArena* arena;
    snwCageSpace* space;
    snwPlanar planar;
    double lower[2], upper[2]; // m, of cage and body
    double center[2], cell;    // of the grid, m
    double step;
    bool finite;
} Work;

bool snwIsInCage(const snwVec3 (*edges)[2], int edgeCount, double x, double y)
{
    bool inside = false;
    for (int i = 0; i < edgeCount; ++i)
    {
        snwVec3 a = edges[i][0], b = edges[i][1];
        if ((a.y > y) != (b.y > y) && x < a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x))
            inside = !inside;
    }
    return inside;
}

static bool IsInCage(const Work* work, double x, double y)
{
    return snwIsInCage(work->def->cageEdges, work->def->cageEdgeCount, x, y);
}

// ---------------------------------------------------------------------------------------------------------------------
// The grid

static void IncludeCagePoint(Work* work, snwVec3 point)
{
    double at[2] = {point.x, point.y};
    work->finite = work->finite && isfinite(point.x) && isfinite(point.y);
    for (int k = 0; k < 2; ++k)
    {
        work->lower[k] = at[k] < work->lower[k] ? at[k] : work->lower[k];
        work->upper[k] = at[k] > work->upper[k] ? at[k] : work->upper[k];
    }
}

static snwResult ChooseCageGrid(Work* work, snwMessage* message)
{
    const snwCageSpaceDef* def = work->def;
    work->finite = true;

    // Not finer than a budget of vertices allows; the grid of exact points then holds all that is given.
    work->lower[0] = work->lower[1] = INFINITY, work->upper[0] = work->upper[1] = -INFINITY;
    for (int i = 0; i < def->cageEdgeCount; ++i)
        IncludeCagePoint(work, def->cageEdges[i][0]);
    double size[2] = {work->upper[0] - work->lower[0], work->upper[1] - work->lower[1]};
    work->step = fmax(def->step, sqrt(fmax(size[0] * size[1], 0) / s_most));
    for (int i = 0; i < def->vertexCount; ++i)
        IncludeCagePoint(work, def->vertices[i]);
    for (int i = 0; i < def->pointCount; ++i)
        IncludeCagePoint(work, def->points[i]);
    if (!work->finite)
        return snwFail(message, snw_errorInput, NULL, "a corner or a vertex is not finite");

    double extent = fmax(work->upper[0] - work->lower[0], work->upper[1] - work->lower[1]);
    if (!(size[0] > 0 && size[1] > 0 && work->step > 1e-6 * extent && extent > 1e-9 && extent < 1e9))
        return snwFail(message, snw_errorInput, "draw it around the body", "the cage has no area");
    for (int k = 0; k < 2; ++k)
        work->center[k] = (work->lower[k] + work->upper[k]) / 2;
    work->cell = extent / (1 << snw_gridBits);

    return snw_ok;
}

static snwGridPoint OnGrid(const Work* work, double x, double y)
{
    return (snwGridPoint){
        (int32_t)lrint((x - work->center[0]) / work->cell), (int32_t)lrint((y - work->center[1]) / work->cell)};
}

static snwVec3 FromGrid(const Work* work, snwGridPoint point)
{
    return (snwVec3){work->center[0] + point.x * work->cell, work->center[1] + point.y * work->cell, 0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Points

// The point of the planar at this place, which may be one that was there before; 0 without memory.
static int AddCagePoint(Work* work, double x, double y)
{
    int edge;
    snwGridPoint point = OnGrid(work, x, y);
    snwPlace place = snwPlanar_Locate(&work->planar, point, work->planar.last, false, &edge);
    if (place == snw_placeVertex)
        return work->planar.vertex.data[edge];
    int added = place == snw_placeEdge ? snwPlanar_AddOnEdge(&work->planar, point, edge)
                                       : snwPlanar_AddInside(&work->planar, point, edge / 3);
    return added < 0 ? 0 : added;
}

static void AddGiven(Work* work)
{
    const snwCageSpaceDef* def = work->def;
    for (int i = 0; i < def->vertexCount && !work->planar.failed; ++i)
        work->space->bodyVertices[i] = AddCagePoint(work, def->vertices[i].x, def->vertices[i].y) - snw_frameCorners;
    work->space->bodyCount = work->planar.points.count - snw_frameCorners;
    for (int i = 0; i < def->pointCount && !work->planar.failed; ++i)
        work->space->pointVertices[i] = AddCagePoint(work, def->points[i].x, def->points[i].y) - snw_frameCorners;
}

static int CountEdgePieces(const Work* work, int edge)
{
    const snwVec3* ends = work->def->cageEdges[edge];
    double pieces = ceil(snwVec3_Distance(ends[0], ends[1]) / work->step);
    return pieces < 1 ? 1 : pieces < snw_mostEdgePieces ? (int)pieces : snw_mostEdgePieces;
}

// Pieces that cannot be forced (another edge or a vertex is in the way) are left: they only keep triangles apart.
static void AddEdge(Work* work, int edge)
{
    const snwVec3* ends = work->def->cageEdges[edge];
    int pieces = CountEdgePieces(work, edge), last = 0;
    for (int i = 0; i <= pieces && !work->planar.failed; ++i)
    {
        int hitPoint, hitSegment;
        double share = (double)i / pieces;
        snwVec3 at = snwVec3_MulAdd(ends[0], share, snwVec3_Sub(ends[1], ends[0]));
        int point = AddCagePoint(work, at.x, at.y);
        if (i > 0 && point != last && !work->planar.failed)
            snwPlanar_Force(&work->planar, last, point, edge, &hitPoint, &hitSegment);
        last = point;
    }
}

// Near a corner of its triangle there is no room for another. That triangle obeys Delaunay's rule, so hardly any other
// vertex is nearer.
static void AddFiller(Work* work, double x, double y)
{
    int edge;
    snwPlanar* planar = &work->planar;
    snwGridPoint point = OnGrid(work, x, y);
    snwPlace place = snwPlanar_Locate(planar, point, planar->last, false, &edge);
    double least = s_apart * work->step / work->cell;
    if (place != snw_placeInside)
        return;
    for (int k = 0; k < 3; ++k)
        if ((double)snwGridDistance2(point, snwPlanar_Start(planar, 3 * (edge / 3) + k)) < least * least)
            return;
    snwPlanar_AddInside(planar, point, edge / 3);
}

static void FillCageInside(Work* work)
{
    double height = s_row * work->step;
    int rows = (int)((work->upper[1] - work->lower[1]) / height) + 1;
    int columns = (int)((work->upper[0] - work->lower[0]) / work->step) + 1;
    for (int r = 0; r < rows && !work->planar.failed; ++r)
        for (int c = 0; c < columns && !work->planar.failed; ++c)
        {
            double x = work->lower[0] + (c + (r % 2 == 0 ? 0.25 : 0.75)) * work->step;
            double y = work->lower[1] + (r + 0.5) * height;
            if (IsInCage(work, x, y))
                AddFiller(work, x, y);
        }
}

// ---------------------------------------------------------------------------------------------------------------------
// Triangles

static void AddCageTriangle(snwCageSpace* space, int a, int b, int c)
{
    int* to = &space->triangles[3 * (size_t)space->triangleCount++];
    to[0] = a, to[1] = b, to[2] = c;
}

static void TakeInside(Work* work)
{
    const snwPlanar* planar = &work->planar;
    for (int t = 0; t < snwPlanar_TriangleCount(planar); ++t)
    {
        const int* v = &planar->vertex.data[3 * (size_t)t];
        if (v[0] < snw_frameCorners || v[1] < snw_frameCorners || v[2] < snw_frameCorners)
            continue;
        snwVec3 middle = {0, 0, 0};
        for (int k = 0; k < 3; ++k)
            middle = snwVec3_MulAdd(middle, 1.0 / 3, FromGrid(work, planar->points.data[v[k]]));
        if (IsInCage(work, middle.x, middle.y))
            AddCageTriangle(work->space, v[0] - snw_frameCorners, v[1] - snw_frameCorners, v[2] - snw_frameCorners);
    }
}

static void TakeOutside(Work* work)
{
    const snwCageSpaceDef* def = work->def;
    for (int t = 0; t < def->triangles.count; ++t)
    {
        const int* v = snwElements_Corners(def->triangles, t);
        bool inside = true;
        for (int k = 0; k < 3; ++k)
            inside = inside && IsInCage(work, def->vertices[v[k]].x, def->vertices[v[k]].y);
        const int* to = work->space->bodyVertices;
        if (!inside && to[v[0]] != to[v[1]] && to[v[1]] != to[v[2]] && to[v[2]] != to[v[0]])
            AddCageTriangle(work->space, to[v[0]], to[v[1]], to[v[2]]);
    }
}

static void TakePlanarTriangles(Work* work)
{
    snwCageSpace* space = work->space;
    const snwPlanar* planar = &work->planar;
    size_t most = (size_t)snwPlanar_TriangleCount(planar) + (size_t)work->def->triangles.count;
    space->vertexCount = planar->points.count - snw_frameCorners;
    space->vertices = snwArena_Alloc(work->arena, (size_t)space->vertexCount, sizeof *space->vertices);
    space->triangles = snwArena_Alloc(work->arena, most, 3 * sizeof(int));
    if (work->arena->failed)
        return;
    for (int i = 0; i < space->vertexCount; ++i)
        space->vertices[i] = FromGrid(work, planar->points.data[i + snw_frameCorners]);
    TakeInside(work);
    TakeOutside(work);
}

snwResult snwFillCage(
    snwContext* context, const snwCageSpaceDef* def, snwArena* arena, snwCageSpace* space, snwMessage* message)
{
    Work work = {.context = context, .def = def, .arena = arena, .space = space, .planar = {.context = context}};
    *space = (snwCageSpace){0};
    snwResult result = ChooseCageGrid(&work, message);
    if (result < 0)
        return result;
    space->bodyVertices = snwArena_Alloc(arena, (size_t)def->vertexCount, sizeof *space->bodyVertices);
    space->pointVertices = snwArena_Alloc(arena, (size_t)def->pointCount, sizeof *space->pointVertices);
    snwPlanar_StartSquare(&work.planar, (1 << snw_gridBits) + 8);

    // Given points first, then the cage's edges as segments, then the rows in between.
    if (!arena->failed && !work.planar.failed)
    {
        AddGiven(&work);
        for (int i = 0; i < def->cageEdgeCount; ++i)
            AddEdge(&work, i);
        FillCageInside(&work);
    }

    if (!arena->failed && !work.planar.failed)
        TakePlanarTriangles(&work);
    bool sound = !arena->failed && !work.planar.failed;
    snwPlanar_Free(&work.planar);
    return sound ? snw_ok : snwFailMemory(message);
}
