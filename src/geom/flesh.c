// Signed distances of a blueprint's parts and of the body melted from them, with colours and bones; and the
// preparation that makes asking fast: curves as chains of round cones, a ball around every part, a grid of what can
// be felt where.

#include "geom/flesh.h"
#include "base/array.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum
{
    snw_curveSteps = 5 // straight pieces between two points of a curve
};

// ---------------------------------------------------------------------------------------------------------------------
// Distances of single parts

// p in the frame of the ellipsoid. First order at the surface, exact along the axes outside: |Ap| (|Ap| - 1) / |A^2 p|
// with A = 1 / radii. Deep inside that is too deep along the long axes, where the smallest radius takes over.
static double EllipsoidDistance(snwVec3 p, snwVec3 r)
{
    snwVec3 q = {p.x / r.x, p.y / r.y, p.z / r.z};
    snwVec3 s = {q.x / r.x, q.y / r.y, q.z / r.z};
    double k = snwVec3_Length(q), slope = snwVec3_Length(s);
    double least = fmin(r.x, fmin(r.y, r.z));
    if (slope <= 0)
        return -least;
    double t = fmin(fmax((k - 0.2) / 0.6, 0), 1), share = t * t * (3 - 2 * t);
    return (k - 1) * (least + share * (k / slope - least));
}

static double RoundBoxDistance(snwVec3 p, snwVec3 half, double round)
{
    snwVec3 q = {fabs(p.x) - half.x + round, fabs(p.y) - half.y + round, fabs(p.z) - half.z + round};
    snwVec3 out = {fmax(q.x, 0), fmax(q.y, 0), fmax(q.z, 0)};
    return snwVec3_Length(out) + fmin(fmax(q.x, fmax(q.y, q.z)), 0) - round;
}

static double TorusDistance(snwVec3 p, snwVec3 size)
{
    double ring = sqrt(p.x * p.x + p.z * p.z) - size.x;
    return sqrt(ring * ring + p.y * p.y) - size.y;
}

static snwRoundCone MakeCone(snwVec3 a, snwVec3 b, double radiusA, double radiusB)
{
    snwVec3 axis = snwVec3_Sub(b, a);
    double length2 = snwVec3_LengthSquared(axis), shrink = radiusA - radiusB, along2 = length2 - shrink * shrink;
    if (along2 <= 0)
    {
        snwVec3 centre = shrink >= 0 ? a : b;
        double radius = fmax(radiusA, radiusB);
        return (snwRoundCone){.a = centre, .radius = radius, .middle = centre, .reach = radius};
    }
    return (snwRoundCone){.a = a,
        .axis = axis,
        .radius = radiusA,
        .shrink = shrink,
        .perLength2 = 1 / length2,
        .tilt = shrink / sqrt(along2 * length2),
        .middle = snwVec3_MulAdd(a, 0.5, axis),
        .reach = 0.5 * sqrt(length2) + fmax(radiusA, radiusB)};
}

// Distance to the hull of two balls; *core gets the point of the axis from which the surface is nearest.
static double ConeDistance(const snwRoundCone* cone, snwVec3 p, snwVec3* core)
{
    snwVec3 q = snwVec3_Sub(p, cone->a);
    double y = snwVec3_Dot(q, cone->axis) * cone->perLength2;
    double x = snwVec3_Length(snwVec3_MulAdd(q, -y, cone->axis));
    // The foot on the axis moves towards the thick end by the slope of the surface.
    double t = y - x * cone->tilt;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    *core = snwVec3_MulAdd(cone->a, t, cone->axis);
    return snwVec3_Distance(p, *core) - (cone->radius - t * cone->shrink);
}

static double SweepDistance(const snwFleshPart* part, snwVec3 p)
{
    // Flattened sweeps are round in a space stretched along the flat axis.
    double stretch = 1 / part->flatness - 1;
    snwVec3 q = snwVec3_MulAdd(p, stretch * snwVec3_Dot(p, part->flatAxis), part->flatAxis);
    double best = DBL_MAX;
    snwVec3 nearest = q;

    for (int i = 0; i < part->coneCount; ++i)
    {
        const snwRoundCone* cone = &part->cones[i];
        snwVec3 core;
        double far = best + cone->reach;
        if (far <= 0 || snwVec3_LengthSquared(snwVec3_Sub(q, cone->middle)) >= far * far)
            continue; // its ball is farther away than the best
        double distance = ConeDistance(cone, q, &core);
        if (distance >= best)
            continue;
        best = distance;
        nearest = core;
    }

    if (part->flatness == 1)
        return best;
    // Back from the stretched space: over the length of the gradient there.
    snwVec3 normal = snwVec3_Normalize(snwVec3_Sub(q, nearest));
    normal = snwVec3_MulAdd(normal, stretch * snwVec3_Dot(normal, part->flatAxis), part->flatAxis);
    return best / fmax(snwVec3_Length(normal), 1);
}

// Signed distance to a closed polygon in the plane; even-odd inside.
static double PolygonDistance(const snwFleshPoint* points, int count, double x, double y)
{
    double best = DBL_MAX;
    bool inside = false;
    for (int i = 0, j = count - 1; i < count; j = i++)
    {
        snwVec3 a = points[j].at, b = points[i].at;
        double ex = b.x - a.x, ey = b.y - a.y, px = x - a.x, py = y - a.y;
        double length2 = ex * ex + ey * ey;
        double t = length2 > 0 ? fmin(fmax((px * ex + py * ey) / length2, 0), 1) : 0;
        double dx = px - t * ex, dy = py - t * ey;
        best = fmin(best, dx * dx + dy * dy);
        if ((a.y > y) != (b.y > y) && x < a.x + (y - a.y) / ey * ex)
            inside = !inside;
    }
    return inside ? -sqrt(best) : sqrt(best);
}

// All points within the half thickness of a flat sheet, so that its rim is round.
static double FinDistance(const snwFleshPart* part, snwVec3 p)
{
    double half = part->size.z, rim = PolygonDistance(part->points, part->pointCount, p.x, p.y) + half;
    return (rim <= 0 ? fabs(p.z) : sqrt(rim * rim + p.z * p.z)) - half;
}

static double PartDistance(const snwFleshPart* part, snwVec3 point)
{
    if (part->coneCount > 0)
        return SweepDistance(part, point);
    snwVec3 local = snwTransform_ApplyInverse(part->frame, point);
    switch (part->kind)
    {
        case snw_partEllipsoid:
            return EllipsoidDistance(local, part->size);
        case snw_partBox:
            return RoundBoxDistance(local, part->size, part->round);
        case snw_partTorus:
            return TorusDistance(local, part->size);
        default:
            return FinDistance(part, local);
    }
}

// Far from the part the distance to its ball is enough: it is never too large, and blends do not reach there.
static double QuickDistance(const snwFleshPart* part, snwVec3 point)
{
    double ball = snwVec3_Distance(point, part->centre) - part->radius;
    return ball > part->radius + part->blend ? ball : PartDistance(part, point);
}

// ---------------------------------------------------------------------------------------------------------------------
// Melting

// Smooth minimum of a and b within `blend` of each other; *share gets how much of b is in it.
static double Melt(double a, double b, double blend, double* share)
{
    double h = blend > 0 ? fmax(blend - fabs(a - b), 0) / blend : 0;
    double mix = 0.5 * h * h;
    *share = b < a ? 1 - mix : mix;
    return fmin(a, b) - 0.25 * h * h * blend;
}

static void MixColor(float color[3], const float other[3], double share)
{
    for (int i = 0; i < 3; ++i)
        color[i] += (float)share * (other[i] - color[i]);
}

typedef enum Which
{
    snw_everything,
    snw_fleshOnly, // no rigid parts
} Which;

// What is known of the group being melted and of the groups before it.
typedef struct Melting
{
    double distance, group; // DBL_MAX: nothing yet
    double groupBlend;
    float *color, *groupColor; // NULL: not asked for
} Melting;

static void MeltPart(Melting* m, const snwFleshPart* part, snwVec3 point)
{
    double ball = snwVec3_Distance(point, part->centre) - part->radius, share = 0;
    if (part->op == snw_partCut)
    {
        if (m->group < DBL_MAX && ball < part->blend - m->group) // also a hole that is near deep inside
            m->group = -Melt(-m->group, PartDistance(part, point), part->blend, &share);
    }
    else if (m->group == DBL_MAX)
        m->group = QuickDistance(part, point), share = 1;
    else if (ball < m->group + part->blend)
        m->group = Melt(m->group, QuickDistance(part, point), part->blend, &share);
    if (m->color != NULL && share > 0)
        MixColor(m->groupColor, part->color, share);
}

static void FinishGroup(Melting* m)
{
    double share = 1;
    if (m->group == DBL_MAX)
        return;
    m->distance = m->distance == DBL_MAX ? m->group : Melt(m->distance, m->group, m->groupBlend, &share);
    m->group = DBL_MAX;
    if (m->color != NULL)
        MixColor(m->color, m->groupColor, share);
}

// The grid's cell of a point; -1: outside.
static int FindFleshCell(const snwFlesh* flesh, snwVec3 point)
{
    if (flesh->cellStart == NULL)
        return -1;
    double at[3] = {point.x - flesh->lower.x, point.y - flesh->lower.y, point.z - flesh->lower.z};
    int cell[3];
    for (int i = 0; i < 3; ++i)
    {
        double x = at[i] / flesh->cellSize;
        if (!(x >= 0 && x < flesh->cells[i]))
            return -1;
        cell[i] = (int)x;
    }
    return (cell[2] * flesh->cells[1] + cell[1]) * flesh->cells[0] + cell[0];
}

// color: NULL, or black to be mixed with.
static double Distance(
    const snwFlesh* flesh, snwVec3 point, Which which, float color[3]) // NOLINT: mixed through melting
{
    int cell = FindFleshCell(flesh, point), group = -1;
    int first = cell >= 0 ? flesh->cellStart[cell] : 0;
    int last = cell >= 0 ? flesh->cellStart[cell + 1] : flesh->partCount;
    float groupColor[3] = {0};

    // In the order of parts, which is by group; a new group begins when the one before has melted into the rest.
    Melting melting = {DBL_MAX, DBL_MAX, 0, color, groupColor};
    for (int i = first; i < last; ++i)
    {
        const snwFleshPart* part = &flesh->parts[cell >= 0 ? flesh->cellParts[i] : i];
        if (part->op == snw_partPaint || (which == snw_fleshOnly && part->rigid))
            continue;
        if (part->group != group)
            FinishGroup(&melting);
        group = part->group;
        melting.groupBlend = part->groupBlend;
        MeltPart(&melting, part, point);
    }

    FinishGroup(&melting);
    return melting.distance;
}

double snwFlesh_Distance(const snwFlesh* flesh, snwVec3 point)
{
    return Distance(flesh, point, snw_everything, NULL);
}

void snwFlesh_Color(const snwFlesh* flesh, snwVec3 point, float color[3])
{
    color[0] = color[1] = color[2] = 0;
    Distance(flesh, point, snw_everything, color);
    for (int i = 0; i < flesh->partCount; ++i)
    {
        const snwFleshPart* part = &flesh->parts[i];
        if (part->op != snw_partPaint || snwVec3_Distance(point, part->centre) > part->radius + part->blend)
            continue;
        double inside = 0.5 - PartDistance(part, point) / fmax(part->blend, 1e-9);
        double t = fmin(fmax(inside, 0), 1);
        MixColor(color, part->color, t * t * (3 - 2 * t));
    }
}

double snwFlesh_BoneDistance(const snwFlesh* flesh, int bone, snwVec3 point)
{
    const snwFleshBone* own = &flesh->bones[bone];
    double distance = DBL_MAX, others = DBL_MAX;
    snwVec3 core;

    // A bone's own flesh is a capsule around it.
    if (own->radius > 0)
    {
        snwRoundCone cone = MakeCone(own->head, own->tail, own->radius, own->radius);
        distance = ConeDistance(&cone, point, &core);
    }

    for (int i = flesh->rigidStart[bone]; i < flesh->rigidStart[bone + 1]; ++i)
    {
        const snwFleshPart* part = &flesh->parts[flesh->rigidParts[i]];
        double mine = QuickDistance(part, point);
        if (others == DBL_MAX && flesh->hasFlesh && mine < part->radius)
            others = Distance(flesh, point, snw_fleshOnly, NULL);

        // Its inside, and outside of the flesh whatever is nearer to it than to flesh: the skin of the part is rigid
        // although a mesh only comes close to it. Where nothing is flesh, all of the mesh belongs to the nearest part.
        double nearer = 0.5 * (mine - others);
        if (!flesh->hasFlesh)
            nearer = mine - snwVec3_Distance(flesh->lower, flesh->upper);
        if (mine < part->radius)
            mine = fmin(mine, nearer);
        distance = fmin(distance, mine);
    }

    return distance;
}

static double FleshSolidDistance(snwVec3 point, const void* data)
{
    return snwFlesh_Distance(data, point);
}

static double SolidBoneDistance(int bone, snwVec3 point, const void* data)
{
    return snwFlesh_BoneDistance(data, bone, point);
}

snwSolid snwFlesh_Solid(const snwFlesh* flesh)
{
    return (snwSolid){.distance = FleshSolidDistance,
        .boneDistance = flesh->boneCount > 0 ? SolidBoneDistance : NULL,
        .boneCount = flesh->boneCount,
        .data = flesh,
        .lower = flesh->lower,
        .upper = flesh->upper};
}

// ---------------------------------------------------------------------------------------------------------------------
// Preparation

// Centripetal curves need no loops taken care of, uniform ones are smoother between even points: these are uniform.
static double Curve(double a, double b, double c, double d, double t)
{
    double m0 = 0.5 * (c - a), m1 = 0.5 * (d - b), t2 = t * t, t3 = t2 * t;
    return (2 * t3 - 3 * t2 + 1) * b + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * c + (t3 - t2) * m1;
}

snwFleshPoint snwCurve_Point(const snwFleshPoint* points, int count, int span, double t)
{
    const snwFleshPoint* b = &points[span];
    const snwFleshPoint* c = &points[span + 1];
    const snwFleshPoint* a = span > 0 ? b - 1 : b;
    const snwFleshPoint* d = span + 2 < count ? c + 1 : c;
    double least = 0.3 * fmin(b->radius, c->radius);
    return (snwFleshPoint){{Curve(a->at.x, b->at.x, c->at.x, d->at.x, t), Curve(a->at.y, b->at.y, c->at.y, d->at.y, t),
                               Curve(a->at.z, b->at.z, c->at.z, d->at.z, t)},
        fmax(Curve(a->radius, b->radius, c->radius, d->radius, t), least), -1};
}

static bool PrepareCones(snwFleshPart* part, snwArena* arena)
{
    int steps = part->pointCount > 2 ? snw_curveSteps : 1, spans = part->pointCount - 1;
    part->coneCount = steps * spans;
    part->cones = snwArena_Alloc(arena, (size_t)part->coneCount, sizeof *part->cones);
    if (part->cones == NULL)
        return false;
    double stretch = 1 / part->flatness - 1;

    // From point to point of the curve, in the stretched space of flattened sweeps.
    snwFleshPoint last = part->points[0];

    for (int i = 0; i < part->coneCount; ++i)
    {
        int step = i % steps + 1;
        snwFleshPoint next = step == steps
                                 ? part->points[i / steps + 1]
                                 : snwCurve_Point(part->points, part->pointCount, i / steps, (double)step / steps);
        snwVec3 a = snwVec3_MulAdd(last.at, stretch * snwVec3_Dot(last.at, part->flatAxis), part->flatAxis);
        snwVec3 b = snwVec3_MulAdd(next.at, stretch * snwVec3_Dot(next.at, part->flatAxis), part->flatAxis);

        part->cones[i] = MakeCone(a, b, last.radius, next.radius);
        last = next;
    }

    return true;
}

static bool IsCurve(snwPartKind kind)
{
    return kind == snw_partCapsule || kind == snw_partCone || kind == snw_partSweep;
}

static void FindBall(snwFleshPart* part)
{
    snwVec3 lower = {DBL_MAX, DBL_MAX, DBL_MAX}, upper = {-DBL_MAX, -DBL_MAX, -DBL_MAX};

    // Around points with their radii; other kinds sit in the middle of their frames.
    if (part->kind == snw_partFin || part->coneCount > 0)
    {
        for (int i = 0; i < part->pointCount; ++i)
        {
            snwVec3 p = part->points[i].at;
            lower = snwVec3_Min(lower, p);
            upper = snwVec3_Max(upper, p);
        }

        part->centre = snwVec3_Scale(snwVec3_Add(lower, upper), 0.5);
        part->radius = 0;
        for (int i = 0; i < part->pointCount; ++i)
            part->radius = fmax(
                part->radius, snwVec3_Distance(part->centre, part->points[i].at) + part->points[i].radius);

        // A curve leaves the hull of its points by at most a quarter of the way between them.
        part->radius += part->pointCount > 2 && part->coneCount > 0 ? 0.1 * part->radius : part->size.z;
        if (part->kind == snw_partFin)
            part->centre = snwTransform_Apply(part->frame, part->centre);
        return;
    }

    part->centre = part->frame.position;
    part->radius = part->kind == snw_partTorus       ? part->size.x + part->size.y
                   : part->kind == snw_partEllipsoid ? fmax(part->size.x, fmax(part->size.y, part->size.z))
                                                     : snwVec3_Length(part->size);
}

static double CoreDistance(const snwFleshBone* bone, snwVec3 p)
{
    snwRoundCone cone = MakeCone(bone->head, bone->tail, 0, 0);
    snwVec3 core;
    return ConeDistance(&cone, p, &core);
}

static int NearestBone(const snwFlesh* flesh, snwVec3 p)
{
    int best = -1;
    double least = DBL_MAX;
    for (int i = 0; i < flesh->boneCount; ++i)
    {
        double distance = CoreDistance(&flesh->bones[i], p);
        if (distance < least)
        {
            least = distance;
            best = i;
        }
    }
    return best;
}

static void FindPartBones(const snwFlesh* flesh, snwFleshPart* part)
{
    bool curve = IsCurve(part->kind);
    for (int i = 0; curve && i < part->pointCount; ++i)
        if (part->points[i].bone < 0)
            part->points[i].bone = part->bone >= 0 ? part->bone : NearestBone(flesh, part->points[i].at);
    if (!curve && part->bone < 0)
        part->bone = NearestBone(flesh, part->frame.position);
}

static bool PreparePart(snwFlesh* flesh, snwFleshPart* part, snwArena* arena)
{
    FindPartBones(flesh, part);
    if (IsCurve(part->kind) && !PrepareCones(part, arena))
        return false;
    FindBall(part);
    return true;
}

static bool ListRigidParts(snwFlesh* flesh, snwArena* arena)
{
    flesh->rigidStart = snwArena_Alloc(arena, (size_t)flesh->boneCount + 1, sizeof *flesh->rigidStart);
    flesh->rigidParts = snwArena_Alloc(arena, (size_t)flesh->partCount + 1, sizeof *flesh->rigidParts);
    if (flesh->rigidStart == NULL || flesh->rigidParts == NULL)
        return false;
    int count = 0;
    for (int bone = 0; bone <= flesh->boneCount; ++bone)
    {
        flesh->rigidStart[bone] = count;
        for (int i = 0; i < flesh->partCount && bone < flesh->boneCount; ++i)
            if (flesh->parts[i].rigid && flesh->parts[i].bone == bone && flesh->parts[i].op == snw_partAdd)
                flesh->rigidParts[count++] = i;
    }
    return true;
}

enum
{
    snw_gridCells = 36,    // at most, along the longest side
    snw_gridWork = 6000000 // distances that making it may cost, whatever a file holds
};

// Distances of all parts at a cell's centre tell which of them can be felt anywhere in it. Distances of parts are
// smooth enough for that: hardly one changes by more than the way, none by more than 1.3 times it.
static int FeltParts(const snwFlesh* flesh, snwVec3 centre, double reach, double* distances, int* felt)
{
    double nearest[2] = {DBL_MAX, DBL_MAX}; // of all, of those that are not rigid
    double blend = 0;                       // a part is felt through what melts into it later
    int count = 0;

    // Distances of all at the cell's centre, and the widest blend.
    for (int i = 0; i < flesh->partCount; ++i)
    {
        const snwFleshPart* part = &flesh->parts[i];
        distances[i] = part->op == snw_partPaint ? DBL_MAX : QuickDistance(part, centre);
        blend = fmax(blend, part->op == snw_partPaint ? 0 : part->blend);
        if (part->op != snw_partAdd)
            continue;
        nearest[0] = fmin(nearest[0], distances[i]);
        nearest[1] = part->rigid ? nearest[1] : fmin(nearest[1], distances[i]);
    }

    for (int pass = 0; pass < 2; ++pass) // then only the blends of those that were felt count
    {
        double limit = 2 * reach + 1.6 * blend;
        count = 0;
        blend = 0;
        for (int i = 0; i < flesh->partCount; ++i)
        {
            const snwFleshPart* part = &flesh->parts[i];
            bool near = distances[i] < nearest[0] + limit || (!part->rigid && distances[i] < nearest[1] + limit);
            bool cuts = distances[i] < limit - fmin(nearest[0], 0) + part->radius;
            if (distances[i] == DBL_MAX || !(part->op == snw_partCut ? cuts : near))
                continue;
            blend = fmax(blend, fmax(part->blend, part->groupBlend));
            felt[count++] = i;
        }
    }

    return count;
}

bool snwFlesh_MakeGrid(snwFlesh* flesh, snwArena* arena)
{
    if (flesh->partCount < 8) // not worth it
        return true;

    // As many cells as keep the work in bounds, cubes that fill the body's box.
    snwContext* context = arena->context;
    snwVec3 size = snwVec3_Sub(flesh->upper, flesh->lower);
    double across = fmin(snw_gridCells, cbrt((double)snw_gridWork / flesh->partCount));
    flesh->cellSize = fmax(size.x, fmax(size.y, size.z)) / fmax(floor(across), 1);
    const double sizes[3] = {size.x, size.y, size.z};
    int total = 1;
    for (int i = 0; i < 3; ++i)
        total *= flesh->cells[i] = (int)ceil(sizes[i] / flesh->cellSize + 1e-9);

    snwArray(int) list = {0};
    int* start = snwArena_Alloc(arena, (size_t)total + 1, sizeof *start);
    int* felt = snwAllocArray(context, (size_t)flesh->partCount, sizeof *felt);
    double* distances = snwAllocArray(context, (size_t)flesh->partCount, sizeof *distances);
    bool enough = start != NULL && felt != NULL && distances != NULL;

    // Half a cell's diagonal, and what distances may grow on it beyond the way.
    double reach = 0.5 * sqrt(3) * flesh->cellSize * 1.3;

    // A list per cell, all in one array.
    for (int cell = 0; cell < total && enough; ++cell)
    {
        int x = cell % flesh->cells[0], y = cell / flesh->cells[0] % flesh->cells[1];
        int z = cell / (flesh->cells[0] * flesh->cells[1]);
        snwVec3 corner = {x + 0.5, y + 0.5, z + 0.5};
        int count = FeltParts(flesh, snwVec3_MulAdd(flesh->lower, flesh->cellSize, corner), reach, distances, felt);

        start[cell + 1] = start[cell] + count;
        enough = snwArray_Reserve(context, &list, count);
        for (int i = 0; i < count && enough; ++i)
            list.data[list.count++] = felt[i];
    }

    if (enough)
        flesh->cellParts = snwArena_Copy(arena, list.data, (size_t)list.count, sizeof *list.data);
    flesh->cellStart = flesh->cellParts != NULL ? start : NULL;
    snwArray_Free(context, &list);
    snwFree(context, felt);
    snwFree(context, distances);

    return enough && flesh->cellParts != NULL;
}

bool snwFlesh_Prepare(snwFlesh* flesh, snwArena* arena)
{
    flesh->lower = (snwVec3){DBL_MAX, DBL_MAX, DBL_MAX};
    flesh->upper = (snwVec3){-DBL_MAX, -DBL_MAX, -DBL_MAX};
    flesh->cellStart = NULL;

    // Each part, what its group melts by, and the bounds of all that adds flesh.
    for (int i = 0; i < flesh->partCount; ++i)
    {
        snwFleshPart* part = &flesh->parts[i];
        if (!PreparePart(flesh, part, arena))
            return false;
        bool first = i == 0 || flesh->parts[i - 1].group != part->group;
        part->groupBlend = first ? part->blend : flesh->parts[i - 1].groupBlend;
        flesh->hasFlesh = flesh->hasFlesh || (part->op == snw_partAdd && !part->rigid);
        if (part->op != snw_partAdd)
            continue;

        // Melting makes a part thicker by a quarter of the blend at most.
        double reach = part->radius + 0.25 * part->blend;
        snwVec3 ball = {reach, reach, reach};
        flesh->lower = snwVec3_Min(flesh->lower, snwVec3_Sub(part->centre, ball));
        flesh->upper = snwVec3_Max(flesh->upper, snwVec3_Add(part->centre, ball));
    }

    return ListRigidParts(flesh, arena);
}

bool snwFlesh_Pose(const snwFlesh* flesh, const snwTransform* bones, snwArena* arena, snwFlesh* posed)
{
    *posed = *flesh;
    posed->parts = snwArena_Copy(arena, flesh->parts, (size_t)flesh->partCount, sizeof *flesh->parts);
    if (flesh->partCount > 0 && posed->parts == NULL)
        return false;

    // Points that belong to bones move with theirs, and each part's frame with its own.
    for (int i = 0; i < posed->partCount; ++i)
    {
        snwFleshPart* part = &posed->parts[i];
        if (part->pointCount > 0)
            part->points = snwArena_Copy(arena, part->points, (size_t)part->pointCount, sizeof *part->points);
        if (part->pointCount > 0 && part->points == NULL)
            return false;
        if (part->kind != snw_partFin)
            for (int k = 0; k < part->pointCount; ++k)
                if (part->points[k].bone >= 0)
                    part->points[k].at = snwTransform_Apply(bones[part->points[k].bone], part->points[k].at);

        if (part->bone < 0)
            continue;
        part->frame = snwTransform_Compose(bones[part->bone], part->frame);
        part->flatAxis = snwQuat_Rotate(bones[part->bone].rotation, part->flatAxis);
    }

    // The rest depends on places, so it is prepared anew.
    return snwFlesh_Prepare(posed, arena) && snwFlesh_MakeGrid(posed, arena);
}
