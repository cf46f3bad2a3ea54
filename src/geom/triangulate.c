// The outline becomes a triangulation: all points into a large square, the segments forced into it, and what is not
// inside cut away. Whatever is wrong with the rings shows on the way, exactly: points that coincide, segments that pass
// through a point or another segment, rings in the wrong depth.

#include "geom/triangulate_parts.h"
#include "math/types.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

snwTriangulateDef snwDefaultTriangulateDef(void)
{
    return (snwTriangulateDef){.minAngle = 25.0, .smoothing = 8, .maxVertices = 200000};
}

// ---------------------------------------------------------------------------------------------------------------------
// Rings

enum
{
    snw_maxOutlinePoints = 1000000
};

static snwResult FailAtSegment(snwFlatWork* work, int segment, const char* remedy, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

static int PointName(const snwFlatWork* work, int point)
{
    int ring = work->ringOf[point];
    return snwRing_Name(&work->outline->rings[ring], point - work->firstOf[ring]);
}

// Names ring and point.
static snwResult FailAtSegment(snwFlatWork* work, int segment, const char* remedy, const char* format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snwResult result = snwFail(work->message, snw_errorInput, remedy, "%s", text);
    int ring = work->ringOf[segment];
    snwMessage_AddPlace(work->message, "outline[%d].points[%d]", ring, PointName(work, segment));
    return result;
}

static snwResult CheckRings(const snwOutline* outline, int* total, snwMessage* message)
{
    *total = 0;
    if (outline->ringCount < 1)
        return snwFail(message, snw_errorInput, NULL, "an outline needs at least one ring");
    for (int r = 0; r < outline->ringCount; ++r)
    {
        // Every error names its ring and point, as drawn.
        const snwRing* ring = &outline->rings[r];
        snwResult result = snw_ok;
        if (ring->count < 3)
            result = snwFail(message, snw_errorInput, NULL, "a ring needs 3 points or more, has %d", ring->count);
        else if (ring->count > snw_maxOutlinePoints - *total)
            result = snwFail(message, snw_errorInput, NULL, "more than %d points", (int)snw_maxOutlinePoints);

        for (int i = 0; i < ring->count && result == snw_ok; ++i)
            if (!isfinite(ring->points[i][0]) || !isfinite(ring->points[i][1]))
            {
                result = snwFail(message, snw_errorInput, NULL, "a point is not finite");
                snwMessage_AddPlace(message, "points[%d]", snwRing_Name(ring, i));
            }

        if (result < 0)
        {
            snwMessage_AddPlace(message, "outline[%d]", r);
            return result;
        }
        *total += ring->count;
    }

    return snw_ok;
}

// The grid's cell is a power of two and its origin a multiple of it, so that grid points are exact in double.
static snwResult ChooseOutlineGrid(const snwOutline* outline, snwGrid* grid, snwMessage* message)
{
    // The box of all rings.
    double lower[2] = {INFINITY, INFINITY}, upper[2] = {-INFINITY, -INFINITY};
    for (int r = 0; r < outline->ringCount; ++r)
        for (int i = 0; i < outline->rings[r].count; ++i)
            for (int k = 0; k < 2; ++k)
            {
                lower[k] = fmin(lower[k], outline->rings[r].points[i][k]);
                upper[k] = fmax(upper[k], outline->rings[r].points[i][k]);
            }

    double extent = fmax(upper[0] - lower[0], upper[1] - lower[1]);
    double farthest = fmax(fmax(fabs(lower[0]), fabs(upper[0])), fmax(fabs(lower[1]), fabs(upper[1])));
    if (!(extent > 1e-9) || extent > 1e9)
        return snwFail(message, snw_errorInput, "lengths are in metres", "the outline is %.3g m large", extent);
    if (farthest > 1e5 * extent)
        return snwFail(message, snw_errorInput, "move it to the origin",
            "the outline is %.3g m from the origin but only %.3g m large", farthest, extent);

    // The cell: extent over 2^bits, rounded up to a power of two.
    grid->step = ldexp(1.0, ilogb(extent) + 1 - snw_gridBits);
    grid->originX = rint((lower[0] + upper[0]) / 2 / grid->step) * grid->step;
    grid->originY = rint((lower[1] + upper[1]) / 2 / grid->step) * grid->step;

    return snw_ok;
}

snwGridPoint snwGrid_Round(const snwGrid* grid, const double point[2])
{
    return (snwGridPoint){(int32_t)lrint((point[0] - grid->originX) / grid->step),
        (int32_t)lrint((point[1] - grid->originY) / grid->step)};
}

// Zero for a ring that was drawn flat; rings that cross themselves may also have it.
static bool HasArea(const snwFlatWork* work, const snwRing* ring)
{
    double sum = 0; // whole numbers; rounding cannot make a flat ring's zeros anything else
    snwGridPoint origin = snwGrid_Round(&work->grid, ring->points[0]);
    for (int i = 1; i + 1 < ring->count; ++i)
        sum += (double)snwOrient(
            origin, snwGrid_Round(&work->grid, ring->points[i]), snwGrid_Round(&work->grid, ring->points[i + 1]));
    return sum != 0;
}

static snwResult AddRingPoints(snwFlatWork* work)
{
    snwPlanar* planar = &work->planar;

    // One after the other, each found from the last: points of a ring are near each other.
    for (int s = 0; s < work->inputCount && !planar->failed; ++s)
    {
        int ring = work->ringOf[s], edge;
        const snwRing* source = &work->outline->rings[ring];
        if (s == work->firstOf[ring] && !HasArea(work, source))
            return FailAtSegment(work, s, NULL, "the ring has no area");
        snwGridPoint point = snwGrid_Round(&work->grid, source->points[s - work->firstOf[ring]]);
        snwPlace place = snwPlanar_Locate(planar, point, planar->last, false, &edge);

        // A place that is taken already is an error, worded for the case that the ring was closed by hand.
        if (place == snw_placeVertex)
        {
            int other = planar->vertex.data[edge] - 4;
            bool closing = other == work->firstOf[ring] && snwFlatWork_SegmentEnd(work, s) == other;
            return FailAtSegment(work, s, closing ? "leave the last point out: rings close by themselves" : NULL,
                "the same place as outline[%d].points[%d]", work->ringOf[other], PointName(work, other));
        }

        if (place == snw_placeEdge)
            snwPlanar_AddOnEdge(planar, point, edge);
        else
            snwPlanar_AddInside(planar, point, edge / 3);
    }

    return planar->failed ? snwFailMemory(work->message) : snw_ok;
}

static snwResult ForceSegments(snwFlatWork* work)
{
    snwPlanar* planar = &work->planar;

    // Every segment must become an edge; what is in its way is named.
    for (int s = 0; s < work->inputCount; ++s)
    {
        int hitPoint, hitSegment, end = snwFlatWork_SegmentEnd(work, s);
        bool clear = snwPlanar_Force(planar, s + 4, end + 4, s, &hitPoint, &hitSegment);
        if (planar->failed)
            return snwFailMemory(work->message);
        if (clear)
            continue;
        int other = hitPoint >= 0 ? hitPoint - 4 : hitSegment;
        int ring = work->ringOf[other], index = other - work->firstOf[ring];
        const double* at = work->outline->rings[ring].points[index];

        return FailAtSegment(work, s, NULL,
            "the outline %s itself: the line from here to the next point %s outline[%d].points[%d] "
            "near [%.4g, %.4g]",
            hitPoint >= 0 ? "touches" : "crosses", hitPoint >= 0 ? "passes through" : "cuts the line from", ring,
            PointName(work, other), at[0], at[1]);
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Inside and outside

// Number of rings around each triangle: a flood from outside, ring by ring. Borders of the present flood are kept in
// the planar's stack, which is empty between calls.
static bool FindDepths(snwPlanar* planar, int* depths, int* queue)
{
    // From a corner of the square, which is outside.
    int count = snwPlanar_TriangleCount(planar), head = 0, tail = 0;
    for (int t = 0; t < count; ++t)
        depths[t] = -1;
    int border = 0;
    depths[planar->leaving.data[0] / 3] = 0;
    queue[tail++] = planar->leaving.data[0] / 3;

    // All that can be reached without crossing a segment is of one depth; behind its border the next begins.
    for (int depth = 0; tail > head; ++depth)
    {
        for (; head < tail; ++head)
            for (int k = 0; k < 3; ++k)
            {
                int e = 3 * queue[head] + k, f = planar->twin.data[e];
                if (f < 0 || depths[f / 3] >= 0)
                    continue;
                if (planar->segment.data[e] >= 0)
                    planar->failed |= !snwArray_Push(planar->context, &planar->stack, f / 3);
                else
                    depths[f / 3] = depth, queue[tail++] = f / 3;
            }

        if (planar->failed)
            return false;
        for (; border < planar->stack.count; ++border)
            if (depths[planar->stack.data[border]] < 0)
                depths[planar->stack.data[border]] = depth + 1, queue[tail++] = planar->stack.data[border];
    }

    planar->stack.count = 0;
    return true;
}

static snwResult CheckDepths(snwFlatWork* work, const int* depths)
{
    const snwPlanar* planar = &work->planar;
    for (int s = 0; s < work->inputCount; ++s)
    {
        int e = snwPlanar_FindEdge(planar, s + 4, snwFlatWork_SegmentEnd(work, s) + 4);
        int a = depths[e / 3], b = depths[planar->twin.data[e] / 3], outside = a < b ? a : b;
        bool hole = work->outline->rings[work->ringOf[s]].hole;
        if (hole && outside % 2 == 0)
            return FailAtSegment(work, s, NULL, "a hole that lies in no ring");
        if (!hole && outside % 2 == 1)
            return FailAtSegment(work, s, "mark it as a hole", "a ring inside another ring");
    }
    return snw_ok;
}

static snwResult CutOutside(snwFlatWork* work)
{
    snwPlanar* planar = &work->planar;
    size_t count = (size_t)snwPlanar_TriangleCount(planar);
    int* depths = snwAllocArray(work->context, count, sizeof *depths);
    int* queue = snwAllocArray(work->context, count, sizeof *queue);
    bool* keep = snwAllocArray(work->context, count, sizeof *keep);
    bool good = depths != NULL && queue != NULL && keep != NULL && FindDepths(planar, depths, queue);
    snwResult result = good ? CheckDepths(work, depths) : snwFailMemory(work->message);

    // Inside of an odd number of rings is inside; the square's four corners go.
    if (good && result == snw_ok)
    {
        for (size_t t = 0; t < count; ++t)
            keep[t] = depths[t] % 2 == 1;
        snwPlanar_Cut(planar, keep, 4);
        result = planar->failed ? snwFailMemory(work->message) : snw_ok;
    }

    snwFree(work->context, depths);
    snwFree(work->context, queue);
    snwFree(work->context, keep);
    return result;
}

static snwResult NumberSegments(snwFlatWork* work)
{
    work->ringOf = snwAllocArray(work->context, (size_t)work->inputCount, sizeof *work->ringOf);
    work->firstOf = snwAllocArray(work->context, (size_t)work->outline->ringCount, sizeof *work->firstOf);
    if (work->ringOf == NULL || work->firstOf == NULL)
        return snwFailMemory(work->message);
    int s = 0;
    for (int r = 0; r < work->outline->ringCount; ++r)
    {
        work->firstOf[r] = s;
        for (int i = 0; i < work->outline->rings[r].count; ++i)
            work->ringOf[s++] = r;
    }
    return snw_ok;
}

snwResult snwFlatWork_Create(snwFlatWork* work, snwContext* context, const snwOutline* outline, snwMessage* message)
{
    *work = (snwFlatWork){.context = context, .message = message, .outline = outline, .planar = {.context = context}};
    snwResult result = CheckRings(outline, &work->inputCount, message);
    result = result < 0 ? result : ChooseOutlineGrid(outline, &work->grid, message);
    result = result < 0 ? result : NumberSegments(work);
    if (result < 0)
        return result;
    snwPlanar_StartSquare(&work->planar, (1 << snw_gridBits) + 8);
    if (work->planar.failed)
        return snwFailMemory(message);
    result = AddRingPoints(work);
    result = result < 0 ? result : ForceSegments(work);
    return result < 0 ? result : CutOutside(work);
}

void snwFlatWork_Free(snwFlatWork* work)
{
    snwPlanar_Free(&work->planar);
    snwFree(work->context, work->ringOf);
    snwFree(work->context, work->firstOf);
}

// ---------------------------------------------------------------------------------------------------------------------
// The result

static void CopyEdges(const snwPlanar* planar, snwFlatMesh* mesh)
{
    for (int e = 0; e < planar->vertex.count; ++e)
        if (planar->segment.data[e] >= 0)
        {
            mesh->edges[mesh->edgeCount][0] = planar->vertex.data[e];
            mesh->edges[mesh->edgeCount++][1] = planar->vertex.data[snwNextEdge(e)];
        }
}

snwResult snwFlatWork_Finish(snwFlatWork* work, snwArena* arena, snwFlatMesh* mesh)
{
    const snwPlanar* planar = &work->planar;
    int edgeCount = 0;

    // How much room; then points from the grid back to metres.
    for (int e = 0; e < planar->vertex.count; ++e)
        edgeCount += planar->segment.data[e] >= 0;
    *mesh = (snwFlatMesh){.vertices = snwArena_Alloc(arena, (size_t)planar->points.count, sizeof *mesh->vertices),
        .triangles = snwArena_Alloc(arena, (size_t)planar->vertex.count / 3, sizeof *mesh->triangles),
        .edges = snwArena_Alloc(arena, (size_t)edgeCount, sizeof *mesh->edges),
        .vertexCount = planar->points.count,
        .triangleCount = snwPlanar_TriangleCount(planar),
        .sharpCount = work->sharpCount};
    if (arena->failed)
    {
        *mesh = (snwFlatMesh){0};
        return snwFailMemory(work->message);
    }

    for (int i = 0; i < planar->points.count; ++i)
    {
        mesh->vertices[i][0] = work->grid.originX + planar->points.data[i].x * work->grid.step;
        mesh->vertices[i][1] = work->grid.originY + planar->points.data[i].y * work->grid.step;
    }

    for (int e = 0; e < planar->vertex.count; ++e)
        mesh->triangles[e / 3][e % 3] = planar->vertex.data[e];
    CopyEdges(planar, mesh);
    return snw_ok;
}

static snwResult CheckTriangulateDef(const snwTriangulateDef* def, snwMessage* message)
{
    if (!(def->minAngle >= 0 && def->minAngle <= 30))
        return snwFail(message, snw_errorArgument, NULL, "minAngle must be 0..30 degrees, is %.4g", def->minAngle);
    if (!(def->maxEdge >= 0) || def->smoothing < 0 || def->maxVertices < 3)
        return snwFail(message, snw_errorArgument, NULL, "maxEdge and smoothing must be 0 or more, maxVertices 3");
    return snw_ok;
}

snwResult snwTriangulate(snwContext* context, const snwOutline* outline, const snwTriangulateDef* def, snwArena* arena,
    snwFlatMesh* mesh, snwMessage* message)
{
    snwFlatWork work;
    *mesh = (snwFlatMesh){0};
    snwResult result = CheckTriangulateDef(def, message);
    if (result < 0)
        return result;
    result = snwFlatWork_Create(&work, context, outline, message);
    if (result == snw_ok && (def->minAngle > 0 || def->maxEdge > 0))
        result = snwFlatWork_Refine(&work, def);
    if (result == snw_ok && def->smoothing > 0)
        result = snwFlatWork_Relax(&work, def->smoothing, true);
    if (result == snw_ok)
        result = snwFlatWork_Finish(&work, arena, mesh);
    snwFlatWork_Free(&work);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Quality

snwFlatQuality snwFlatMesh_Measure(const snwFlatMesh* mesh)
{
    snwFlatQuality quality = {.minAngle = 180, .shortEdge = INFINITY};

    // Angle and edge length at every corner.
    for (int t = 0; t < mesh->triangleCount; ++t)
    {
        double area = 0;
        for (int k = 0; k < 3; ++k)
        {
            const double* p = mesh->vertices[mesh->triangles[t][k]];
            const double* q = mesh->vertices[mesh->triangles[t][(k + 1) % 3]];
            const double* r = mesh->vertices[mesh->triangles[t][(k + 2) % 3]];
            double ux = q[0] - p[0], uy = q[1] - p[1], vx = r[0] - p[0], vy = r[1] - p[1];
            double angle = atan2(fabs(ux * vy - uy * vx), ux * vx + uy * vy) * (180 / SNW_PI);

            area = (ux * vy - uy * vx) / 2;
            quality.minAngle = fmin(quality.minAngle, angle);
            quality.maxAngle = fmax(quality.maxAngle, angle);
            quality.shortEdge = fmin(quality.shortEdge, hypot(ux, uy));
            quality.longEdge = fmax(quality.longEdge, hypot(ux, uy));
        }

        quality.area += area;
        quality.inverted += !(area > 0);
    }

    return quality;
}
