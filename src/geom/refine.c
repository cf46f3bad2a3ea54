// Delaunay refinement: a point at the circumcentre of each bad triangle, or nearer (off-centres, Ungor 2004) so that
// fewer are needed; where that would lie behind or too close to a segment, the segment is split instead (Ruppert 1995;
// segments are only looked at when a bad triangle asks for it, as Chew 1993 does, so good outlines stay as they are).
//
// Corners sharper than 60 degrees would make this go on for ever: a split on one side calls for a closer one on the
// other. Two rules end that. Sides of sharp corners are split at distances from the corner that are powers of two, so
// that the splits of both sides pair up; and at needles a triangle is left alone when its short side joins such a pair
// (Miller, Pav, Walkington 2003; they do so below 60 degrees, where it can be proved to end, but segments that are only
// split on demand end without it as well, and the rule leaves angles small that need not be). What stays below the
// angle for that reason is counted.

#include "geom/triangulate_parts.h"
#include "math/types.h"

#include <math.h>

typedef struct Suspect
{
    int v[3];
} Suspect;

typedef struct Refiner
{
    snwFlatWork* work;
    snwPlanar* planar;
    const snwTriangulateDef* def;
    double sine2;    // of the wanted angle, squared
    double offset;   // of an off-centre from the short side's middle, in units of that side
    double longest2; // grid units; infinite: any
    double* corners; // radians, per input point: the angle inside the outline
    double needle;   // radians: corners below are left as they are
    snwArray(Suspect) queue;
    int head;
    snwArray(int) cavity;
    snwArray(int) stamps; // per triangle: the last search that met it
    int stamp;
} Refiner;

enum
{
    snw_leastGridLength = 64 // nothing is made shorter than this many cells
};

static const double s_sharp = SNW_PI / 3 - 1e-6;

static double Length2(const snwPlanar* planar, int e)
{
    return (double)snwGridDistance2(snwPlanar_Start(planar, e), snwPlanar_Start(planar, snwNextEdge(e)));
}

// Whether the angle at the start of e is below the wanted one.
static bool IsNarrow(const Refiner* refiner, int e)
{
    const snwPlanar* planar = refiner->planar;
    snwGridPoint o = snwPlanar_Start(planar, e);
    snwGridPoint a = snwPlanar_Start(planar, snwNextEdge(e)), b = snwPlanar_Start(planar, snwPrevEdge(e));
    double cross = (double)snwOrient(o, a, b);
    double lengths2 = (double)snwGridDistance2(o, a) * (double)snwGridDistance2(o, b);
    return snwGridDot(o, a, b) > 0 && cross * cross < refiner->sine2 * lengths2;
}

// Whether the edge joins a pair of splits at equal distances from a sharp corner.
static bool IsPair(const Refiner* refiner, int e)
{
    const snwFlatWork* work = refiner->work;
    const snwPlanar* planar = refiner->planar;
    int u = planar->vertex.data[e], v = planar->vertex.data[snwNextEdge(e)];
    int s = planar->home.data[u], t = planar->home.data[v];
    if (s < 0 || t < 0 || s == t)
        return false;
    int corner = snwFlatWork_SegmentEnd(work, s) == t ? t : snwFlatWork_SegmentEnd(work, t) == s ? s : -1;
    if (corner < 0 || refiner->corners[corner] >= refiner->needle)
        return false;
    double a = sqrt((double)snwGridDistance2(planar->points.data[corner], planar->points.data[u]));
    double b = sqrt((double)snwGridDistance2(planar->points.data[corner], planar->points.data[v]));
    return fabs(a - b) <= 1e-3 * a + 4;
}

// The side to work on: opposite an angle that is too small, or the longest one. -1 if the triangle is good, or if it
// cannot be better.
static int FindFault(const Refiner* refiner, int triangle, bool* tooLong)
{
    const snwPlanar* planar = refiner->planar;
    int fault = -1, longest = 3 * triangle;
    double least = INFINITY;
    for (int k = 0; k < 3; ++k)
    {
        int e = 3 * triangle + k, opposite = snwNextEdge(e);
        double length2 = Length2(planar, opposite);
        longest = Length2(planar, e) > Length2(planar, longest) ? e : longest;
        bool corner = planar->segment.data[e] >= 0 && planar->segment.data[snwPrevEdge(e)] >= 0;
        if (length2 < least && IsNarrow(refiner, e) && !corner && !IsPair(refiner, opposite))
            fault = opposite, least = length2;
    }
    *tooLong = fault < 0 && Length2(planar, longest) > refiner->longest2;
    return *tooLong ? longest : fault;
}

static void PushTriangle(Refiner* refiner, int triangle)
{
    bool tooLong;
    if (FindFault(refiner, triangle, &tooLong) < 0)
        return;
    const int* v = &refiner->planar->vertex.data[3 * triangle];
    refiner->planar->failed |= !snwArray_Push(refiner->work->context, &refiner->queue, ((Suspect){{v[0], v[1], v[2]}}));
}

static void PushStar(Refiner* refiner, int point)
{
    int first = point < 0 ? -1 : snwPlanar_FirstEdge(refiner->planar, point);
    for (int e = first; e >= 0 && !refiner->planar->failed;)
    {
        PushTriangle(refiner, e / 3);
        e = snwPlanar_TurnLeft(refiner->planar, e);
        if (e == first)
            break;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Segments

// Where along the edge it is split: the middle, or from a sharp corner the power of two next to it.
static double SplitFraction(const Refiner* refiner, int edge)
{
    const snwPlanar* planar = refiner->planar;
    int a = planar->vertex.data[edge], b = planar->vertex.data[snwNextEdge(edge)];
    bool sharpA = a < refiner->work->inputCount && refiner->corners[a] < s_sharp;
    bool sharpB = b < refiner->work->inputCount && refiner->corners[b] < s_sharp;
    if (sharpA == sharpB)
        return 0.5;
    double length = sqrt(Length2(planar, edge));
    double shell = exp2(rint(log2(length / 2))) / length;
    return sharpA ? shell : 1 - shell;
}

static bool SplitSegment(Refiner* refiner, int edge)
{
    snwPlanar* planar = refiner->planar;
    if (edge < 0 || Length2(planar, edge) < 4.0 * snw_leastGridLength * snw_leastGridLength)
        return false;
    snwGridPoint p = snwPlanar_Start(planar, edge), q = snwPlanar_Start(planar, snwNextEdge(edge));
    double fraction = SplitFraction(refiner, edge);
    snwGridPoint middle = {(int32_t)lrint(p.x + fraction * (q.x - p.x)), (int32_t)lrint(p.y + fraction * (q.y - p.y))};
    if (!snwPlanar_CanSplit(planar, middle, edge))
        return false;
    PushStar(refiner, snwPlanar_AddOnEdge(planar, middle, edge));
    return true;
}

// The segment that a point in this triangle would see at more than a right angle; -1: none. These are the only ones
// that its insertion would spoil.
static int FindEncroached(Refiner* refiner, snwGridPoint point, int triangle)
{
    snwPlanar* planar = refiner->planar;
    snwContext* context = refiner->work->context;

    // The triangles whose circumcircle holds the point are those that its insertion would replace; stamps say which
    // were seen.
    refiner->cavity.count = 0;
    refiner->stamp++;
    while (refiner->stamps.count < snwPlanar_TriangleCount(planar) && !planar->failed)
        planar->failed |= !snwArray_Push(context, &refiner->stamps, 0);
    planar->failed = planar->failed || !snwArray_Push(context, &refiner->cavity, triangle);
    if (planar->failed)
        return -1;
    refiner->stamps.data[triangle] = refiner->stamp;

    // From triangle to triangle, but never through a segment.
    for (int i = 0; i < refiner->cavity.count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            int e = 3 * refiner->cavity.data[i] + k, f = planar->twin.data[e];
            snwGridPoint a = snwPlanar_Start(planar, e), b = snwPlanar_Start(planar, snwNextEdge(e));
            if (planar->segment.data[e] >= 0 && snwGridDot(point, a, b) < 0)
                return e;
            if (f < 0 || planar->segment.data[e] >= 0 || refiner->stamps.data[f / 3] == refiner->stamp)
                continue;
            if (snwInCircle(b, a, snwPlanar_Start(planar, snwPrevEdge(f)), point) <= 0)
                continue;
            refiner->stamps.data[f / 3] = refiner->stamp;
            planar->failed |= !snwArray_Push(context, &refiner->cavity, f / 3);
            if (planar->failed)
                return -1;
        }

    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Triangles

// The circumcentre, or the off-centre above the short side; seen from the start of the side. False if out of range.
static bool FindCircumcentre(const Refiner* refiner, int side, bool tooLong, snwGridPoint* centre)
{
    const snwPlanar* planar = refiner->planar;
    snwGridPoint p = snwPlanar_Start(planar, side), q = snwPlanar_Start(planar, snwNextEdge(side));
    snwGridPoint r = snwPlanar_Start(planar, snwPrevEdge(side));
    double ux = (double)q.x - p.x, uy = (double)q.y - p.y, vx = (double)r.x - p.x, vy = (double)r.y - p.y;

    // Circumcentre relative to p.
    double u2 = ux * ux + uy * uy, v2 = vx * vx + vy * vy, cross = 2 * (ux * vy - uy * vx);
    double x = (vy * u2 - uy * v2) / cross, y = (ux * v2 - vx * u2) / cross;

    // height of the circumcentre above the side's middle, in units of the side
    double height = ((x - ux / 2) * -uy + (y - uy / 2) * ux) / u2;

    if (!tooLong && height > refiner->offset)
    {
        x = ux / 2 - uy * refiner->offset;
        y = uy / 2 + ux * refiner->offset;
    }

    x += p.x, y += p.y;
    if (!(fabs(x) < snw_gridLimit && fabs(y) < snw_gridLimit))
        return false;
    *centre = (snwGridPoint){(int32_t)lrint(x), (int32_t)lrint(y)};
    return true;
}

static bool HasRoomAround(const snwPlanar* planar, snwGridPoint point, int triangle)
{
    for (int k = 0; k < 3; ++k)
        if (snwGridDistance2(point, snwPlanar_Start(planar, 3 * triangle + k)) <
            (int64_t)snw_leastGridLength * snw_leastGridLength)
            return false;
    return true;
}

// Improves the triangle by one point. False if there is no way.
static bool ImproveTriangle(Refiner* refiner, int triangle)
{
    snwPlanar* planar = refiner->planar;
    bool tooLong;
    // The worst fault decides where the point goes.
    int side = FindFault(refiner, triangle, &tooLong), edge;
    snwGridPoint centre;

    if (side < 0)
        return false;
    if (tooLong && planar->segment.data[side] >= 0)
        return SplitSegment(refiner, side);
    if (!FindCircumcentre(refiner, side, tooLong, &centre))
        return false;

    // Behind a segment, or on it: the segment is split instead.
    snwPlace place = snwPlanar_Locate(planar, centre, triangle, true, &edge);
    if (place == snw_placeBeyond || (place == snw_placeEdge && planar->segment.data[edge] >= 0))
        return SplitSegment(refiner, edge);
    if (place == snw_placeVertex || !HasRoomAround(planar, centre, edge / 3))
        return false;

    // The same where the point would come too near to a segment.
    int encroached = FindEncroached(refiner, centre, edge / 3);
    if (encroached >= 0 && SplitSegment(refiner, encroached))
        return true;
    if (encroached >= 0 || planar->failed)
        return false;
    PushStar(refiner, place == snw_placeEdge ? snwPlanar_AddOnEdge(planar, centre, edge)
                                             : snwPlanar_AddInside(planar, centre, edge / 3));

    return true;
}

static int FindTriangle(const snwPlanar* planar, const int v[3])
{
    int e = snwPlanar_FindEdge(planar, v[0], v[1]);
    return e >= 0 && planar->vertex.data[snwPrevEdge(e)] == v[2] ? e / 3 : -1;
}

static snwResult RefineAll(Refiner* refiner)
{
    snwPlanar* planar = refiner->planar;
    for (int t = 0; t < snwPlanar_TriangleCount(planar) && !planar->failed; ++t)
        PushTriangle(refiner, t);
    while (refiner->head < refiner->queue.count && !planar->failed)
    {
        Suspect suspect = refiner->queue.data[refiner->head++];
        int t = FindTriangle(planar, suspect.v);
        if (t >= 0 && ImproveTriangle(refiner, t) && FindTriangle(planar, suspect.v) >= 0)
            planar->failed |= !snwArray_Push(refiner->work->context, &refiner->queue, suspect);
        if (planar->points.count > refiner->def->maxVertices)
            return snwFail(refiner->work->message, snw_errorInput,
                "a larger maxEdge, a smaller minAngle or less detail", "the outline needs more than %d vertices",
                refiner->def->maxVertices);
    }
    return planar->failed ? snwFailMemory(refiner->work->message) : snw_ok;
}

static int CountNarrow(const Refiner* refiner)
{
    int count = 0;
    for (int t = 0; t < snwPlanar_TriangleCount(refiner->planar); ++t)
        count += IsNarrow(refiner, 3 * t) || IsNarrow(refiner, 3 * t + 1) || IsNarrow(refiner, 3 * t + 2);
    return count;
}

static void FindInputCorners(Refiner* refiner)
{
    const snwPlanar* planar = refiner->planar;
    for (int i = 0; i < refiner->work->inputCount; ++i)
    {
        double angle = 0;
        for (int e = snwPlanar_FirstEdge(planar, i); e >= 0; e = snwPlanar_TurnLeft(planar, e))
        {
            snwGridPoint a = snwPlanar_Start(planar, snwNextEdge(e)), b = snwPlanar_Start(planar, snwPrevEdge(e));
            snwGridPoint o = planar->points.data[i];
            angle += atan2((double)snwOrient(o, a, b), (double)snwGridDot(o, a, b));
        }
        refiner->corners[i] = angle;
    }
}

snwResult snwFlatWork_Refine(snwFlatWork* work, const snwTriangulateDef* def)
{
    const double radians = SNW_PI / 180;

    // Lengths in units of the grid, squared, as everything is compared.
    double sine = sin(def->minAngle * radians), longest = def->maxEdge > 0 ? def->maxEdge / work->grid.step : INFINITY;
    Refiner refiner = {
        .work = work, .planar = &work->planar, .def = def, .sine2 = sine * sine, .longest2 = longest * longest};

    // an apex there sees the short side at a little more than the wanted angle
    refiner.offset = 0.475 / tan(fmax(def->minAngle, 1.0) * radians / 2);
    refiner.needle = def->minAngle * radians / 2;
    refiner.corners = snwAllocArray(work->context, (size_t)work->inputCount, sizeof *refiner.corners);
    if (refiner.corners == NULL)
        return snwFailMemory(work->message);
    FindInputCorners(&refiner);
    snwResult result = RefineAll(&refiner);
    work->sharpCount = result < 0 ? 0 : CountNarrow(&refiner);
    snwFree(work->context, refiner.corners);
    snwArray_Free(work->context, &refiner.queue);
    snwArray_Free(work->context, &refiner.cavity);
    snwArray_Free(work->context, &refiner.stamps);

    return result;
}
