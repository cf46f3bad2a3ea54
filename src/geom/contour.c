// Outlines from the values of a picture by marching squares, linked into rings on the way; then smoothing that keeps
// sharp corners and drops points that a chord comes near enough to.

#include "geom/contour.h"

#include "base/array.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Marching squares
//
// Square (i, j), from -1, has its corners at the centres of pixels i, i + 1 and j, j + 1. A crossing is named after the
// side of a square that it lies on: 2 (column + row * pitch) for a side along x that begins at that centre, one more
// for a side along y. Segments keep what is inside on the same hand, so each crossing has one segment that leaves it.

typedef struct Field
{
    const snwContourDef* def;
    size_t pitch;
    int* next; // per crossing: where its segment leads; -1: none
} Field;

static double ValueAt(const Field* field, int i, int j)
{
    bool beyond = i < 0 || j < 0 || i >= field->def->width || j >= field->def->height;
    return beyond ? 0 : field->def->values[(size_t)j * (size_t)field->def->width + (size_t)i];
}

// Sides of square (i, j): 0 top, 1 right, 2 bottom, 3 left.
static int SideName(const Field* field, int i, int j, int side)
{
    int column = i + 1 + (side == 1), row = j + 1 + (side == 2);
    return (int)(2 * ((size_t)row * field->pitch + (size_t)column)) + (side == 1 || side == 3);
}

static void PlaceCrossing(const Field* field, int name, double point[2])
{
    int column = name / 2 % (int)field->pitch - 1, row = name / 2 / (int)field->pitch - 1, down = name & 1;
    double a = ValueAt(field, column, row), b = ValueAt(field, column + !down, row + down);
    double t = (field->def->level - 0.5 - a) / (b - a);
    point[0] = column + 0.5 + (down ? 0 : t);
    point[1] = row + 0.5 + (down ? t : 0);
}

// Corners by bits: 1 top left, 2 top right, 4 bottom right, 8 bottom left. Per case two segments at most, from side to
// side, inside on the left as seen on the screen.
static const int8_t s_segments[16][4] = {
    {-1, -1, -1, -1},
    {3, 0, -1, -1},
    {0, 1, -1, -1},
    {3, 1, -1, -1},
    {1, 2, -1, -1},
    {3, 0, 1, 2}, // two corners apart
    {0, 2, -1, -1},
    {3, 2, -1, -1},
    {2, 3, -1, -1},
    {2, 0, -1, -1},
    {0, 1, 2, 3}, // likewise
    {2, 1, -1, -1},
    {1, 3, -1, -1},
    {1, 0, -1, -1},
    {0, 3, -1, -1},
    {-1, -1, -1, -1},
};
static const int8_t s_joined[2][4] = {{1, 0, 3, 2}, {0, 3, 2, 1}}; // cases 5 and 10 with a full middle

static void MarchSquare(Field* field, int i, int j)
{
    double v[4] = {
        ValueAt(field, i, j), ValueAt(field, i + 1, j), ValueAt(field, i + 1, j + 1), ValueAt(field, i, j + 1)};
    int kind = 0;
    for (int k = 0; k < 4; ++k)
        kind |= (v[k] >= field->def->level) << k;
    const int8_t* sides = s_segments[kind];
    if ((kind == 5 || kind == 10) && v[0] + v[1] + v[2] + v[3] > 4 * (field->def->level - 0.5))
        sides = s_joined[kind == 10];
    for (int k = 0; k < 4 && sides[k] >= 0; k += 2)
        field->next[SideName(field, i, j, sides[k])] = SideName(field, i, j, sides[k + 1]);
}

typedef struct RingList
{
    snwArray(snwRing) rings;
    int dropped;
} RingList;

static double SignedArea(const double (*points)[2], int count)
{
    double sum = 0;
    for (int i = 0; i < count; ++i)
    {
        const double *a = points[i], *b = points[(i + 1) % count];
        sum += (a[0] * b[1] - a[1] * b[0]) / 2;
    }
    return sum;
}

double snwRing_Area(const snwRing* ring)
{
    return fabs(SignedArea(ring->points, ring->count));
}

// Takes the ring of a crossing out of the field.
static bool TakeRing(Field* field, int first, snwContext* context, snwArena* arena, RingList* list)
{
    // Along the links once round, marking them.
    int count = 0;
    for (int at = first, go; field->next[at] >= 0; at = go, ++count)
    {
        go = field->next[at];
        field->next[at] = -2 - go; // seen, and still known
    }

    double(*points)[2] = snwAllocArray(context, (size_t)count, sizeof *points);
    if (points == NULL)
        return false;
    for (int at = first, i = 0; i < count; ++i)
    {
        int go = -2 - field->next[at];
        PlaceCrossing(field, at, points[i]);
        field->next[at] = -1;
        at = go;
    }

    // Islands below the wanted area go, holes below it are filled: neither makes a ring.
    double area = SignedArea((const double(*)[2])points, count);
    bool keep = count >= 3 && fabs(area) >= field->def->leastArea, hole = area > 0; // y is down
    bool good = true;
    list->dropped += !keep && !hole;

    if (keep)
    {
        double(*kept)[2] = snwArena_Copy(arena, points, (size_t)count, sizeof *points);
        snwRing ring = {.points = (const double(*)[2])kept, .count = count, .hole = hole};
        good = kept != NULL && snwArray_Push(context, &list->rings, ring);
    }

    snwFree(context, points);
    return good;
}

static bool TakeRings(Field* field, snwContext* context, snwArena* arena, RingList* list)
{
    int crossings = (int)(2 * field->pitch * ((size_t)field->def->height + 2));
    for (int i = 0; i < crossings; ++i)
        if (field->next[i] >= 0 && !TakeRing(field, i, context, arena, list))
            return false;
    return true;
}

snwResult snwFindContours(snwContext* context, const snwContourDef* def, snwArena* arena, snwOutline* outline,
    int* dropped, snwMessage* message)
{
    *outline = (snwOutline){0};
    if (def->width < 1 || def->height < 1 || def->width > 8192 || def->height > 8192 || def->level < 1 ||
        def->level > 255)
        return snwFail(message, snw_errorArgument, NULL, "a picture of %d x %d pixels and the level %d: out of range",
            def->width, def->height, def->level);

    // The picture has a rim of zeros, so every ring is closed.
    Field field = {.def = def, .pitch = (size_t)def->width + 2};
    size_t crossings = 2 * field.pitch * ((size_t)def->height + 2);
    field.next = snwAllocArray(context, crossings, sizeof *field.next);
    if (field.next == NULL)
        return snwFailMemory(message);
    memset(field.next, 0xff, crossings * sizeof *field.next);
    for (int j = -1; j < def->height; ++j)
        for (int i = -1; i < def->width; ++i)
            MarchSquare(&field, i, j);

    RingList list = {0};
    bool good = TakeRings(&field, context, arena, &list);
    snwRing* rings = good ? snwArena_Copy(arena, list.rings.data, (size_t)list.rings.count, sizeof *rings) : NULL;
    *outline = (snwOutline){rings, rings != NULL ? list.rings.count : 0};
    if (dropped != NULL)
        *dropped = list.dropped;
    good = good && !arena->failed;
    snwArray_Free(context, &list.rings);
    snwFree(context, field.next);

    return good ? snw_ok : snwFailMemory(message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Smoothing

enum
{
    snw_contourPasses = 12,
    snw_cornerReach = 4, // points either side that a corner is measured over
};

static double TurnAngle(const double* a, const double* o, const double* b)
{
    double ux = o[0] - a[0], uy = o[1] - a[1], vx = b[0] - o[0], vy = b[1] - o[1];
    return atan2(fabs(ux * vy - uy * vx), ux * vx + uy * vy);
}

// Sharp turns of the ring as it came, and of neighbours only the sharpest.
static void FindSharpCorners(const snwRing* ring, double least, double* turns, bool* corners)
{
    int count = ring->count, reach = snw_cornerReach;
    for (int i = 0; i < count && count > 4 * reach; ++i)
        turns[i] = TurnAngle(
            ring->points[(i + count - reach) % count], ring->points[i], ring->points[(i + reach) % count]);
    for (int i = 0; i < count && count > 4 * reach; ++i)
    {
        corners[i] = turns[i] > least;
        for (int k = 1; k <= 2 * reach && corners[i]; ++k)
            corners[i] = turns[i] > turns[(i + k) % count] && turns[i] >= turns[(i + count - k) % count];
    }
}

// Each pass moves points to the mean of their neighbours and themselves, as far as they may go. Corners stay.
static void SmoothPoints(const snwRing* ring, double reach, const bool* corners, double (*points)[2], double (*old)[2])
{
    int count = ring->count;
    for (int pass = 0; pass < snw_contourPasses && reach > 0; ++pass)
    {
        memcpy(old, points, (size_t)count * sizeof *points);
        for (int i = 0; i < count; ++i)
        {
            const double *a = old[(i + count - 1) % count], *b = old[(i + 1) % count], *home = ring->points[i];
            double x = (a[0] + 2 * old[i][0] + b[0]) / 4, y = (a[1] + 2 * old[i][1] + b[1]) / 4;
            double far = hypot(x - home[0], y - home[1]), share = corners[i] ? 0 : far > reach ? reach / far : 1;
            points[i][0] = home[0] + share * (x - home[0]);
            points[i][1] = home[1] + share * (y - home[1]);
        }
    }
}

static double DistanceToSide(const double* p, const double* a, const double* b)
{
    double ux = b[0] - a[0], uy = b[1] - a[1], vx = p[0] - a[0], vy = p[1] - a[1], u2 = ux * ux + uy * uy;
    double t = u2 > 0 ? fmin(fmax((ux * vx + uy * vy) / u2, 0), 1) : 0;
    return hypot(vx - t * ux, vy - t * uy);
}

// Keeps what a chord between two kept points misses by more than the tolerance (Ramer 1972), without recursion: the
// list of kept points is the stack.
static void KeepBetween(const double (*points)[2], int count, int first, int last, double tolerance, bool* keep)
{
    while (first < last)
    {
        int to = first + 1, far = -1;
        while (to < last && !keep[to % count])
            ++to;
        double worst = tolerance;
        for (int i = first + 1; i < to; ++i)
        {
            double miss = DistanceToSide(points[i % count], points[first % count], points[to % count]);
            if (miss > worst)
                worst = miss, far = i;
        }

        // Near enough: on to the next chord; else the farthest point splits this one.
        if (far < 0)
            first = to;
        else
            keep[far % count] = true;
    }
}

static int FarthestFrom(const double (*points)[2], int count, int from)
{
    int best = (from + 1) % count;
    double most = -1;
    for (int i = 0; i < count; ++i)
    {
        double far = hypot(points[i][0] - points[from][0], points[i][1] - points[from][1]);
        if (far > most)
            most = far, best = i;
    }
    return best;
}

bool snwRing_Smooth(const snwRing* ring, const snwSmoothDef* def, snwArena* arena, snwRing* smooth)
{
    size_t count = (size_t)ring->count;
    double(*points)[2] = snwArena_Copy(arena, ring->points, count, sizeof *points);
    double(*old)[2] = snwArena_Alloc(arena, count, sizeof *old);
    double* turns = snwArena_Alloc(arena, count, sizeof *turns);
    bool* corners = snwArena_Alloc(arena, count, sizeof *corners);
    bool* keep = snwArena_Alloc(arena, count, sizeof *keep);
    if (arena->failed)
        return false;

    // Half of the tolerance is for moving points, the other half for leaving them out.
    FindSharpCorners(ring, def->corner, turns, corners);
    SmoothPoints(ring, def->tolerance / 2, (const bool*)corners, points, old);

    // Two points far apart split the ring, so that each half has chords to begin with.
    int start = FarthestFrom((const double(*)[2])points, ring->count, 0);
    memcpy(keep, corners, count * sizeof *keep);
    keep[start] = keep[FarthestFrom((const double(*)[2])points, ring->count, start)] = true;
    KeepBetween((const double(*)[2])points, ring->count, start, start + ring->count, def->tolerance / 2, keep);
    int kept = 0;

    for (int i = 0; i < ring->count; ++i)
        if (keep[i])
        {
            memcpy(points[kept], points[i], sizeof *points);
            corners[kept++] = corners[i];
        }

    *smooth = (snwRing){(const double(*)[2])points, corners, NULL, kept, ring->hole};
    if (kept < 3) // thinner than the tolerance
        *smooth = *ring;
    return true;
}
