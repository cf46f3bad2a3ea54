// So many vertices and so many triangles, as even as can be.
//
// With b vertices on the rings, Euler gives triangles = 2 vertices - b - 2 outer + 2 holes: the two wanted numbers say
// how many points the rings get, and the rest goes inside. Rings are walked at even steps, a little shorter where they
// turn, so that the tip of a narrow arm is not cut off between two steps. A hexagonal lattice whose spacing gives just
// that number is spread by smoothing. Where angles are still small, refinement adds points; the next attempt starts
// with as many less. In the end vertices are sorted along a curve that fills the plane, for whoever works on
// neighbours.

#include "geom/triangulate_parts.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

enum
{
    snw_maxAttempts = 8,
    snw_spreadPasses = 40,
    snw_smoothPasses = 24,
};

static const double s_turnSteps = 0.4; // of a step, per radian

// A stretch of a ring between two corners, or a whole ring without any.
typedef struct Stretch
{
    int ring, first, count; // points of the ring, from first; count segments
    double length;          // m, weighted
    int steps;              // at least
} Stretch;

typedef struct Fit
{
    snwContext* context;
    snwMessage* message;
    const snwOutline* outline;
    const snwFlatFitDef* def;
    Stretch* stretches;
    int stretchCount;
    int euler;         // 2 outer - 2 holes
    double turnWeight; // m per radian
} Fit;

typedef struct Attempt
{
    snwArena arena;
    snwOutline* outline; // in the arena
    snwFlatWork work;
    double score; // 1: on the edge of what is good
} Attempt;

// ---------------------------------------------------------------------------------------------------------------------
// Rings at even steps

// Angle between the sides before and after the point; 0 at corners, which are points of their own anyway.
static double TurnAt(const snwRing* ring, int i)
{
    const double* o = ring->points[i % ring->count];
    const double *a = ring->points[(i + ring->count - 1) % ring->count], *b = ring->points[(i + 1) % ring->count];
    if (ring->corners != NULL && ring->corners[i % ring->count])
        return 0;
    double ux = o[0] - a[0], uy = o[1] - a[1], vx = b[0] - o[0], vy = b[1] - o[1];
    return atan2(fabs(ux * vy - uy * vx), ux * vx + uy * vy);
}

// What a side counts in walking: its length, and a part of a step for each radian that the ring turns there.
static double SideWeight(const Fit* fit, const snwRing* ring, int i)
{
    const double *a = ring->points[i % ring->count], *b = ring->points[(i + 1) % ring->count];
    return hypot(b[0] - a[0], b[1] - a[1]) + fit->turnWeight * (TurnAt(ring, i) + TurnAt(ring, i + 1)) / 2;
}

static void AddStretch(Fit* fit, int r, int first, int count)
{
    Stretch* stretch = &fit->stretches[fit->stretchCount++];
    *stretch = (Stretch){.ring = r, .first = first, .count = count};
    for (int i = 0; i < count; ++i)
        stretch->length += SideWeight(fit, &fit->outline->rings[r], first + i);
}

static void FindStretches(Fit* fit)
{
    // From corner to corner; a ring without corners is a single stretch from its first point.
    for (int r = 0; r < fit->outline->ringCount; ++r)
    {
        const snwRing* ring = &fit->outline->rings[r];
        int begin = fit->stretchCount, last = -1, firstCorner = -1;
        for (int i = 0; i < ring->count && ring->corners != NULL; ++i)
        {
            if (!ring->corners[i])
                continue;
            if (last >= 0)
                AddStretch(fit, r, last, i - last);
            firstCorner = firstCorner < 0 ? i : firstCorner;
            last = i;
        }

        if (last < 0)
            AddStretch(fit, r, 0, ring->count);
        else
            AddStretch(fit, r, last, firstCorner + ring->count - last);

        // a ring is never fewer than three points
        int corners = fit->stretchCount - begin;
        for (int s = begin; s < fit->stretchCount; ++s)
            fit->stretches[s].steps = corners == 1 ? 6 : corners == 2 ? 2 : 1;
    }
}

// By length, rounded down; each further point goes to the stretch with the longest steps.
static int ShareSteps(const Fit* fit, int wanted, int* steps)
{
    // First every stretch gets its share, never less than what keeps the ring a ring.
    int total = 0;
    double length = 0;
    for (int s = 0; s < fit->stretchCount; ++s)
        length += fit->stretches[s].length;
    for (int s = 0; s < fit->stretchCount; ++s)
    {
        int share = (int)(fit->stretches[s].length / length * wanted);
        steps[s] = share > fit->stretches[s].steps ? share : fit->stretches[s].steps;
        total += steps[s];
    }

    for (; total < wanted; ++total)
    {
        int longest = 0;
        for (int s = 1; s < fit->stretchCount; ++s)
            if (fit->stretches[s].length * steps[longest] > fit->stretches[longest].length * steps[s])
                longest = s;
        steps[longest]++;
    }

    return total;
}

static int WalkStretch(
    const Fit* fit, const snwRing* ring, const Stretch* stretch, int steps, double (*out)[2], int* names)
{
    double walked = 0;
    int made = 0;

    // Points at even distances along the stretch; each gets the name of the outline's point before it.
    for (int i = 0; i < stretch->count && made < steps; ++i)
    {
        const double* a = ring->points[(stretch->first + i) % ring->count];
        const double* b = ring->points[(stretch->first + i + 1) % ring->count];
        double length = SideWeight(fit, ring, stretch->first + i);
        for (; made < steps && made * stretch->length / steps <= walked + length; ++made)
        {
            double t = length > 0 ? (made * stretch->length / steps - walked) / length : 0;
            out[made][0] = a[0] + t * (b[0] - a[0]);
            out[made][1] = a[1] + t * (b[1] - a[1]);
            names[made] = snwRing_Name(ring, (stretch->first + i) % ring->count);
        }

        walked += length;
    }

    return made;
}

static snwResult ResampleRings(const Fit* fit, int wanted, Attempt* attempt)
{
    int ringCount = fit->outline->ringCount, total = 0, s = 0;
    int* steps = snwArena_Alloc(&attempt->arena, (size_t)fit->stretchCount, sizeof *steps);
    snwRing* rings = snwArena_Alloc(&attempt->arena, (size_t)ringCount, sizeof *rings);
    attempt->outline = snwArena_Alloc(&attempt->arena, 1, sizeof *attempt->outline);
    if (!attempt->arena.failed)
        total = ShareSteps(fit, wanted, steps);
    double(*points)[2] = snwArena_Alloc(&attempt->arena, (size_t)total, sizeof *points);
    int* names = snwArena_Alloc(&attempt->arena, (size_t)total, sizeof *names);
    if (attempt->arena.failed)
        return snwFailMemory(fit->message);

    *attempt->outline = (snwOutline){rings, ringCount};

    // Stretches of a ring follow each other, so its points do, too.
    for (int r = 0; r < ringCount; ++r)
    {
        rings[r] = (snwRing){.points = (const double(*)[2])points, .names = names, .hole = fit->outline->rings[r].hole};
        for (; s < fit->stretchCount && fit->stretches[s].ring == r; ++s)
        {
            int made = WalkStretch(fit, &fit->outline->rings[r], &fit->stretches[s], steps[s], points, names);
            rings[r].count += made;
            points += made;
            names += made;
        }
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The inside

typedef struct Side
{
    const double *a, *b;
} Side;

typedef struct Lattice
{
    double (*points)[2];
    double* distances2; // to the rings, as far as it matters
    int count, capacity;
    double lower[2], upper[2];
    Side* near; // sides of the rings that matter for one row
} Lattice;

// The sides that come within reach of the row at y; all those that cross it are among them.
static int GatherSides(const snwOutline* outline, double y, double reach, Side* near)
{
    int count = 0;
    for (int r = 0; r < outline->ringCount; ++r)
    {
        const snwRing* ring = &outline->rings[r];
        for (int i = 0; i < ring->count; ++i)
        {
            const double *a = ring->points[i], *b = ring->points[(i + 1) % ring->count];
            if (fmin(a[1], b[1]) <= y + reach && fmax(a[1], b[1]) >= y - reach)
                near[count++] = (Side){a, b};
        }
    }
    return count;
}

// Squared distance to the sides, at most reach2; negative outside.
static double SignedDistance2(const Side* sides, int count, double x, double y, double reach2)
{
    double least = reach2;
    bool inside = false;
    for (int i = 0; i < count; ++i)
    {
        const double *a = sides[i].a, *b = sides[i].b;
        double ux = b[0] - a[0], uy = b[1] - a[1], vx = x - a[0], vy = y - a[1];
        double t = fmin(fmax((ux * vx + uy * vy) / (ux * ux + uy * uy), 0), 1);
        double dx = vx - t * ux, dy = vy - t * uy;
        least = fmin(least, dx * dx + dy * dy);
        if ((a[1] > y) != (b[1] > y) && vx - ux * vy / uy < 0)
            inside = !inside;
    }
    return inside ? least : -least;
}

static void FillLatticeRow(double x0, double y, int count, double spacing, int sideCount, Lattice* lattice)
{
    for (int i = 0; i < count && lattice->count < lattice->capacity; ++i)
    {
        double x = x0 + i * spacing;
        double distance2 = SignedDistance2(lattice->near, sideCount, x, y, spacing * spacing);
        if (distance2 < 0.25 * spacing * spacing)
            continue;
        lattice->points[lattice->count][0] = x;
        lattice->points[lattice->count][1] = y;
        lattice->distances2[lattice->count++] = distance2;
    }
}

// Points of a hexagonal lattice that keep half a spacing from the rings. Stops at the capacity.
static void FillLattice(const snwOutline* outline, double spacing, Lattice* lattice)
{
    double row = spacing * sqrt(0.75), middle[2], half[2];
    for (int k = 0; k < 2; ++k)
    {
        middle[k] = (lattice->lower[k] + lattice->upper[k]) / 2;
        half[k] = lattice->upper[k] - middle[k];
    }
    int rows = (int)ceil(half[1] / row), columns = (int)ceil(half[0] / spacing) + 1;
    lattice->count = 0;
    for (int j = -rows; j <= rows; ++j)
    {
        double y = middle[1] + (j + 0.37) * row; // off the middle: points of the rings like to lie on it
        int sideCount = GatherSides(outline, y, spacing, lattice->near);
        FillLatticeRow(
            middle[0] + ((j & 1 ? 0.5 : 0.0) - columns) * spacing, y, 2 * columns, spacing, sideCount, lattice);
    }
}

static double OutlineArea(const snwOutline* outline)
{
    double area = 0;
    for (int r = 0; r < outline->ringCount; ++r)
    {
        const snwRing* ring = &outline->rings[r];
        double sum = 0;
        for (int i = 0; i < ring->count; ++i)
        {
            const double *a = ring->points[i], *b = ring->points[(i + 1) % ring->count];
            sum += (a[0] * b[1] - a[1] * b[0]) / 2;
        }
        area += ring->hole ? -fabs(sum) : fabs(sum);
    }
    return area;
}

// The widest lattice with at least as many points as wanted.
static void SearchSpacing(const snwOutline* outline, int wanted, Lattice* lattice)
{
    double wide = 1.5 * sqrt(OutlineArea(outline) / (sqrt(0.75) * (wanted + 1))), narrow = wide / 8;
    for (int i = 0; i < 14; ++i)
    {
        double spacing = sqrt(wide * narrow);
        FillLattice(outline, spacing, lattice);
        if (lattice->count >= wanted)
            narrow = spacing;
        else
            wide = spacing;
    }
    FillLattice(outline, narrow, lattice);
}

// Those next to the rings are the ones too many.
static bool DropNearest(snwContext* context, Lattice* lattice, int wanted)
{
    int surplus = lattice->count - wanted;
    if (surplus <= 0)
        return true;
    uint64_t* keys = snwAllocArray(context, (size_t)lattice->count, sizeof *keys);
    int* order = snwAllocArray(context, (size_t)lattice->count, sizeof *order);
    bool good = keys != NULL && order != NULL;

    // Sorted by the squared distance to the rings; the first are dropped.
    for (int i = 0; good && i < lattice->count; ++i)
    {
        memcpy(&keys[i], &lattice->distances2[i], sizeof keys[i]); // positive doubles sort like their bits
        order[i] = i;
    }

    good = good && snwSortKeys(context, keys, order, lattice->count);
    for (int i = 0; good && i < surplus; ++i)
        lattice->distances2[order[i]] = -1;
    snwFree(context, keys);
    snwFree(context, order);

    return good;
}

static snwResult AddLattice(const Fit* fit, Attempt* attempt, const Lattice* lattice)
{
    snwPlanar* planar = &attempt->work.planar;
    for (int i = 0; i < lattice->count && !planar->failed; ++i)
    {
        int edge;
        if (lattice->distances2[i] < 0)
            continue;
        snwGridPoint point = snwGrid_Round(&attempt->work.grid, lattice->points[i]);
        snwPlace place = snwPlanar_Locate(planar, point, planar->last, false, &edge);
        if (place == snw_placeInside)
            snwPlanar_AddInside(planar, point, edge / 3);
        else if (place == snw_placeEdge && planar->segment.data[edge] < 0)
            snwPlanar_AddOnEdge(planar, point, edge);
    }
    return planar->failed ? snwFailMemory(fit->message) : snw_ok;
}

static snwResult FillOutline(const Fit* fit, Attempt* attempt, int wanted)
{
    Lattice lattice = {.capacity = 2 * wanted + 64, .lower = {INFINITY, INFINITY}, .upper = {-INFINITY, -INFINITY}};
    if (wanted < 1)
        return snw_ok;

    // The box of all rings bounds the lattice.
    for (int r = 0; r < attempt->outline->ringCount; ++r)
        for (int i = 0; i < attempt->outline->rings[r].count; ++i)
            for (int k = 0; k < 2; ++k)
            {
                lattice.lower[k] = fmin(lattice.lower[k], attempt->outline->rings[r].points[i][k]);
                lattice.upper[k] = fmax(lattice.upper[k], attempt->outline->rings[r].points[i][k]);
            }

    lattice.near = snwArena_Alloc(&attempt->arena, (size_t)attempt->work.inputCount, sizeof *lattice.near);
    lattice.points = snwArena_Alloc(&attempt->arena, (size_t)lattice.capacity, sizeof *lattice.points);
    lattice.distances2 = snwArena_Alloc(&attempt->arena, (size_t)lattice.capacity, sizeof *lattice.distances2);
    if (attempt->arena.failed)
        return snwFailMemory(fit->message);

    // A spacing that gives about as many points as wanted; the surplus next to the rings goes.
    SearchSpacing(attempt->outline, wanted, &lattice);
    if (!DropNearest(fit->context, &lattice, wanted))
        return snwFailMemory(fit->message);

    return AddLattice(fit, attempt, &lattice);
}

// ---------------------------------------------------------------------------------------------------------------------
// Attempts

static int CountRingEdges(const snwFlatWork* work)
{
    int count = 0;
    for (int e = 0; e < work->planar.segment.count; ++e)
        count += work->planar.segment.data[e] >= 0;
    return count;
}

static Attempt EmptyAttempt(snwContext* context)
{
    return (Attempt){.arena = {.context = context}, .work = {.context = context, .planar = {.context = context}}};
}

static void FreeAttempt(Attempt* attempt)
{
    snwFlatWork_Free(&attempt->work);
    snwArena_Free(&attempt->arena);
}

static snwResult TryFit(const Fit* fit, int ringPoints, int innerPoints, Attempt* attempt)
{
    snwTriangulateDef def = snwDefaultTriangulateDef();
    def.minAngle = fit->def->minAngle;
    def.maxVertices = 4 * fit->def->vertices + 1000;
    *attempt = EmptyAttempt(fit->context);
    snwResult result = ResampleRings(fit, ringPoints, attempt);
    result = result < 0 ? result : snwFlatWork_Create(&attempt->work, fit->context, attempt->outline, fit->message);
    result = result < 0 ? result : FillOutline(fit, attempt, innerPoints);
    result = result < 0 ? result : snwFlatWork_Relax(&attempt->work, snw_spreadPasses, false);
    result = result < 0 ? result : snwFlatWork_Relax(&attempt->work, snw_smoothPasses, true);
    result = result < 0 ? result : snwFlatWork_Refine(&attempt->work, &def);
    result = result < 0 ? result : snwFlatWork_Relax(&attempt->work, snw_smoothPasses, true);
    double triangles = snwPlanar_TriangleCount(&attempt->work.planar), vertices = attempt->work.planar.points.count;
    attempt->score = fabs(triangles / fit->def->triangles - 1) / 0.01 + fabs(vertices / fit->def->vertices - 1) / 0.02;
    return result;
}

// Repeats with the numbers corrected by what came out; *best is the nearest.
static snwResult SearchCounts(const Fit* fit, int wantedRing, Attempt* best)
{
    // What came out against what was wanted: both counts are corrected by the difference.
    int wantedInner = fit->def->vertices - wantedRing, ringPoints = wantedRing, innerPoints = wantedInner;
    for (int i = 0; i < snw_maxAttempts; ++i)
    {
        Attempt attempt;
        snwResult result = TryFit(fit, ringPoints, innerPoints, &attempt);
        // No mesh at all: an error at the first try, else the end of the search.
        if (result < 0)
        {
            FreeAttempt(&attempt);
            if (i == 0 || result == snw_errorMemory)
                return result;
            break; // fewer points on the rings make them cross: what was found before stands
        }

        int ring = CountRingEdges(&attempt.work), inner = attempt.work.planar.points.count - ring;
        bool better = i == 0 || attempt.score < best->score;
        if (better && i > 0)
            FreeAttempt(best);
        if (better)
            *best = attempt;
        else
            FreeAttempt(&attempt);

        if (best->score < 0.1)
            break;
        ringPoints += wantedRing - ring;
        innerPoints += wantedInner - inner;
        if (ringPoints < 3 || innerPoints < 0)
            break;
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Order

// Place of a point of the unit square on the curve that fills it (Hilbert 1891).
static uint64_t CurveCode(double u, double v)
{
    const uint32_t most = (1u << 16) - 1;
    uint32_t x = (uint32_t)(u * most), y = (uint32_t)(v * most);
    uint64_t code = 0;
    for (uint32_t bit = 1u << 15; bit > 0; bit >>= 1)
    {
        bool right = (x & bit) != 0, upper = (y & bit) != 0;
        code = code << 2 | (uint64_t)((right ? 3 : 0) ^ (upper ? 1 : 0));
        if (upper)
            continue;
        uint32_t across = right ? most - x : x;
        x = right ? most - y : y;
        y = across;
    }
    return code;
}

static void PutCodes(const snwFlatMesh* mesh, uint64_t* codes, int* order)
{
    double lower[2] = {INFINITY, INFINITY}, upper[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < mesh->vertexCount; ++i)
        for (int k = 0; k < 2; ++k)
        {
            lower[k] = fmin(lower[k], mesh->vertices[i][k]);
            upper[k] = fmax(upper[k], mesh->vertices[i][k]);
        }
    double size = fmax(upper[0] - lower[0], upper[1] - lower[1]);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        const double* at = mesh->vertices[i];
        codes[i] = CurveCode((at[0] - lower[0]) / size, (at[1] - lower[1]) / size);
        order[i] = i;
    }
}

// order: by place the vertex that comes there.
static void ReorderVertices(const int* order, double (*vertices)[2], int* places, snwFlatMesh* mesh)
{
    memcpy(vertices, mesh->vertices, (size_t)mesh->vertexCount * sizeof *vertices);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        places[order[i]] = i;
        memcpy(mesh->vertices[i], vertices[order[i]], sizeof *vertices);
    }
    for (int i = 0; i < 3 * mesh->triangleCount; ++i)
        mesh->triangles[i / 3][i % 3] = places[mesh->triangles[i / 3][i % 3]];
    for (int i = 0; i < 2 * mesh->edgeCount; ++i)
        mesh->edges[i / 2][i % 2] = places[mesh->edges[i / 2][i % 2]];
}

static snwResult OrderFlatVertices(const Fit* fit, snwFlatMesh* mesh)
{
    snwArena scratch = {.context = fit->context};
    size_t count = (size_t)mesh->vertexCount;
    uint64_t* codes = snwArena_Alloc(&scratch, count, sizeof *codes);
    int* order = snwArena_Alloc(&scratch, count, sizeof *order);
    int* places = snwArena_Alloc(&scratch, count, sizeof *places);
    double(*vertices)[2] = snwArena_Alloc(&scratch, count, sizeof *vertices);
    if (!scratch.failed)
        PutCodes(mesh, codes, order);
    bool good = !scratch.failed && snwSortKeys(fit->context, codes, order, mesh->vertexCount);
    if (good)
        ReorderVertices(order, vertices, places, mesh);
    snwArena_Free(&scratch);
    return good ? snw_ok : snwFailMemory(fit->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The fit

static snwResult CheckFit(const snwOutline* outline, const snwFlatFitDef* def, snwMessage* message)
{
    if (outline->ringCount < 1)
        return snwFail(message, snw_errorInput, NULL, "an outline needs at least one ring");
    if (!(def->minAngle >= 0 && def->minAngle <= 30))
        return snwFail(message, snw_errorArgument, NULL, "minAngle must be 0..30 degrees, is %.4g", def->minAngle);
    if (def->vertices < 3 || def->vertices > 1000000 || def->triangles < 1 || def->triangles > 2000000)
        return snwFail(
            message, snw_errorInput, NULL, "%d vertices and %d triangles: out of range", def->vertices, def->triangles);
    return snw_ok;
}

static snwResult PrepareRings(Fit* fit, int* ringPoints)
{
    int total = 0;
    double length = 0;

    // Outlines must be sound before anything is counted; lengths are weighted where they turn.
    for (int r = 0; r < fit->outline->ringCount; ++r)
    {
        snwResult result = snw_ok;
        const snwRing* ring = &fit->outline->rings[r];
        if (ring->count < 3)
            result = snwFail(fit->message, snw_errorInput, NULL, "a ring needs 3 points or more, has %d", ring->count);
        for (int i = 0; i < ring->count && result == snw_ok; ++i)
            if (!isfinite(ring->points[i][0]) || !isfinite(ring->points[i][1]))
                result = snwFail(fit->message, snw_errorInput, NULL, "points[%d] is not finite", snwRing_Name(ring, i));
        if (result < 0)
        {
            snwMessage_AddPlace(fit->message, "outline[%d]", r);
            return result;
        }

        total += ring->count + 1;
        fit->euler += ring->hole ? -2 : 2;
        for (int i = 0; i < ring->count; ++i)
            length += SideWeight(fit, ring, i);
    }

    fit->stretches = snwAllocArray(fit->context, (size_t)total, sizeof *fit->stretches);
    if (fit->stretches == NULL)
        return snwFailMemory(fit->message);

    // Euler's formula: two wanted numbers leave only one choice for the points on the rings.
    *ringPoints = 2 * fit->def->vertices - fit->def->triangles - fit->euler;
    int least = 3 * fit->outline->ringCount;
    if (*ringPoints < least || *ringPoints > fit->def->vertices)
        return snwFail(fit->message, snw_errorInput, "triangles = 2 vertices - points on the rings - 2 + 2 holes",
            "%d vertices and %d triangles would put %d vertices on the rings", fit->def->vertices, fit->def->triangles,
            *ringPoints);

    if (!(length > 1e-9 && length < 1e12))
        return snwFail(fit->message, snw_errorInput, "lengths are in metres", "the outline is %.3g m long", length);
    fit->turnWeight = s_turnSteps * length / *ringPoints;
    FindStretches(fit);

    return snw_ok;
}

snwFlatFitDef snwDefaultFlatFitDef(void)
{
    return (snwFlatFitDef){.vertices = 1000, .triangles = 1850, .minAngle = 25.0};
}

snwResult snwFitTriangles(snwContext* context, const snwOutline* outline, const snwFlatFitDef* def, snwArena* arena,
    snwFlatMesh* mesh, snwMessage* message)
{
    Fit fit = {.context = context, .message = message, .outline = outline, .def = def};
    int ringPoints = 0;
    *mesh = (snwFlatMesh){0};
    snwResult result = CheckFit(outline, def, message);
    result = result < 0 ? result : PrepareRings(&fit, &ringPoints);

    // The best try, finished, its vertices put in order.
    if (result == snw_ok)
    {
        Attempt best = EmptyAttempt(context);
        result = SearchCounts(&fit, ringPoints, &best);
        if (result == snw_ok)
            result = snwFlatWork_Finish(&best.work, arena, mesh);
        if (result == snw_ok)
            result = OrderFlatVertices(&fit, mesh);
        FreeAttempt(&best);
    }

    snwFree(context, fit.stretches);
    return result;
}
