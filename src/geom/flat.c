// Flat blueprints to outlines: centripetal Catmull-Rom curves sampled between the drawn points, mirrored where only
// half is drawn, checked with the place of each mistake. Meshing and painting start from these.

#include "geom/flat.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------------------------------
// Curves

// Four points around a span. Beyond a corner or an end the curve goes on as if reflected there.
static void GatherSpan(const snwSplinePoint* points, int count, bool closed, int i, double p[4][2])
{
    int a = i, b = (i + 1) % count;
    bool hasBefore = !points[a].corner && (closed || a > 0), hasAfter = !points[b].corner && (closed || b + 1 < count);
    for (int k = 0; k < 2; ++k)
    {
        p[1][k] = points[a].at[k];
        p[2][k] = points[b].at[k];
        p[0][k] = hasBefore ? points[(a + count - 1) % count].at[k] : 2 * p[1][k] - p[2][k];
        p[3][k] = hasAfter ? points[(b + 1) % count].at[k] : 2 * p[2][k] - p[1][k];
    }
}

static double KnotStep(const double a[2], const double b[2])
{
    return fmax(sqrt(hypot(b[0] - a[0], b[1] - a[1])), 1e-6); // centripetal; equal points must not divide by zero
}

// Barry and Goldman's pyramid: three interpolations of interpolations.
static void EvaluateSpan(double p[4][2], double t, double out[2])
{
    double t0 = 0, t1 = KnotStep(p[0], p[1]), t2 = t1 + KnotStep(p[1], p[2]), t3 = t2 + KnotStep(p[2], p[3]);
    double x = t1 + t * (t2 - t1);
    for (int k = 0; k < 2; ++k)
    {
        double a = (p[0][k] * (t1 - x) + p[1][k] * (x - t0)) / (t1 - t0);
        double b = (p[1][k] * (t2 - x) + p[2][k] * (x - t1)) / (t2 - t1);
        double c = (p[2][k] * (t3 - x) + p[3][k] * (x - t2)) / (t3 - t2);
        double d = (a * (t2 - x) + b * (x - t0)) / (t2 - t0);
        double e = (b * (t3 - x) + c * (x - t1)) / (t3 - t1);
        out[k] = (d * (t2 - x) + e * (x - t1)) / (t2 - t1);
    }
}

int snwSpline_Sample(const snwSplinePoint* points, int count, bool closed, double (*out)[2], int* owners, bool* corners)
{
    int made = 0, spans = closed ? count : count - 1;

    // Each span gives as many samples; its first is the drawn point, which alone may be a corner.
    for (int i = 0; i < spans; ++i)
    {
        double p[4][2];
        GatherSpan(points, count, closed, i, p);
        for (int k = 0; k < snw_spanSamples; ++k, ++made)
        {
            EvaluateSpan(p, (double)k / snw_spanSamples, out[made]);
            if (owners != NULL)
                owners[made] = i;
            if (corners != NULL)
                corners[made] = k == 0 && points[i].corner;
        }
    }

    // An open curve ends at its last point.
    if (closed || count < 1)
        return made;
    out[made][0] = points[count - 1].at[0], out[made][1] = points[count - 1].at[1];
    if (owners != NULL)
        owners[made] = count - 1;
    if (corners != NULL)
        corners[made] = points[count - 1].corner;

    return made + 1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Outlines

static snwResult FailPoint(snwMessage* message, int ring, int point, const char* remedy, const char* text)
{
    snwResult result = snwFail(message, snw_errorInput, remedy, "%s", text);
    snwMessage_AddPlace(message, "outline[%d].points[%d]", ring, point);
    return result;
}

static snwResult CheckRing(const snwFlatRing* ring, int index, snwMessage* message)
{
    if (ring->count < (ring->mirror ? 2 : 3))
    {
        snwResult result = snwFail(
            message, snw_errorInput, NULL, "a ring needs %d points or more, has %d", ring->mirror ? 2 : 3, ring->count);
        snwMessage_AddPlace(message, "outline[%d]", index);
        return result;
    }

    // Points are finite, on their side of the axis, and not twice at the same place.
    for (int i = 0; i < ring->count; ++i)
    {
        const double *a = ring->points[i].at, *b = ring->points[(i + 1) % ring->count].at;
        bool open = ring->mirror && i + 1 == ring->count;
        if (!isfinite(a[0]) || !isfinite(a[1]))
            return FailPoint(message, index, i, NULL, "a point is not finite");
        if (ring->mirror && a[0] < 0)
            return FailPoint(message, index, i, "give the half with x >= 0", "left of the axis of a mirrored ring");
        if (!open && hypot(b[0] - a[0], b[1] - a[1]) < 1e-6)
            return FailPoint(message, index, i,
                i + 1 == ring->count ? "leave the last point out: rings close by themselves" : NULL,
                "the same place as the next point");
    }

    return snw_ok;
}

// Both halves; points on the axis are there once.
static int MirrorRing(const snwFlatRing* ring, snwSplinePoint* out, int* owners)
{
    int count = 0;
    for (int i = 0; i < ring->count; ++i)
    {
        out[count] = ring->points[i];
        owners[count++] = i;
    }
    for (int i = ring->count - 1; i >= 0 && ring->mirror; --i)
    {
        if (fabs(ring->points[i].at[0]) < 1e-9)
            continue;
        out[count] = ring->points[i];
        out[count].at[0] = -out[count].at[0];
        owners[count++] = i;
    }
    return count;
}

static bool MakeFlatRing(const snwFlatRing* source, snwArena* arena, snwRing* ring)
{
    size_t most = 2 * (size_t)source->count, samples = most * snw_spanSamples;
    snwSplinePoint* points = snwArena_Alloc(arena, most, sizeof *points);
    int* owners = snwArena_Alloc(arena, most, sizeof *owners);
    double(*polygon)[2] = snwArena_Alloc(arena, samples, sizeof *polygon);
    int* names = snwArena_Alloc(arena, samples, sizeof *names);
    bool* corners = snwArena_Alloc(arena, samples, sizeof *corners);
    if (arena->failed)
        return false;
    int count = MirrorRing(source, points, owners);
    int made = snwSpline_Sample(points, count, true, polygon, names, corners);
    for (int i = 0; i < made; ++i)
        names[i] = owners[names[i]];
    *ring = (snwRing){(const double(*)[2])polygon, corners, names, made, source->hole};
    return true;
}

snwResult snwFlat_MakeOutline(
    const snwFlatBlueprint* blueprint, snwArena* arena, snwOutline* outline, snwMessage* message)
{
    *outline = (snwOutline){0};
    if (blueprint->ringCount < 1)
        return snwFail(message, snw_errorInput, NULL, "an outline needs at least one ring");
    snwRing* rings = snwArena_Alloc(arena, (size_t)blueprint->ringCount, sizeof *rings);
    if (arena->failed)
        return snwFailMemory(message);

    // A ring is checked as it was drawn, so that errors name the drawn points.
    for (int r = 0; r < blueprint->ringCount; ++r)
    {
        snwResult result = CheckRing(&blueprint->rings[r], r, message);
        if (result < 0)
            return result;
        if (!MakeFlatRing(&blueprint->rings[r], arena, &rings[r]))
            return snwFailMemory(message);
    }

    *outline = (snwOutline){rings, blueprint->ringCount};
    return snw_ok;
}

snwResult snwFlat_MakeMesh(snwContext* context, const snwFlatBlueprint* blueprint, const snwFlatFitDef* def,
    snwArena* arena, snwFlatMesh* mesh, snwMessage* message)
{
    snwArena scratch = {.context = context};
    snwOutline outline;
    *mesh = (snwFlatMesh){0};
    snwResult result = snwFlat_MakeOutline(blueprint, &scratch, &outline, message);
    if (result == snw_ok)
        result = snwFitTriangles(context, &outline, def, arena, mesh, message);
    snwArena_Free(&scratch);
    return result;
}

void snwFlatPicture_Place(const snwFlatPicture* picture, const double point[2], double uv[2])
{
    uv[0] = (point[0] - picture->lower[0]) / (picture->upper[0] - picture->lower[0]);
    uv[1] = (picture->upper[1] - point[1]) / (picture->upper[1] - picture->lower[1]);
}
