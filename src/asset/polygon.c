// Ear clipping. A corner is an ear if it turns left and no corner of the rest lies in its triangle; cutting it off
// leaves a polygon with one corner less. That is quadratic, but polygons of artists have few corners, it copes with
// holes that are joined to the outside by a double edge, and it needs no further points. Sweeping or a constrained
// triangulation (geom/triangulate.h) would be faster for huge polygons and refuses the double edges.
//
// The polygon is looked at along the axis nearest to its normal (Newell's): coordinates are then those of the file, not
// rounded ones, and what is straight in space stays straight.

#include "asset/polygon.h"

#include <limits.h>

static int LargestAxis(snwVec3 n)
{
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    return z >= x && z >= y ? 2 : y >= x ? 1 : 0;
}

// Twice the area vector. Relative to the first corner, so that far away from zero nothing is lost.
static snwVec3 NewellNormal(const snwVec3* positions, const int* corners, int count)
{
    snwVec3 sum = {0}, origin = positions[corners[0]];
    for (int i = 2; i < count; ++i)
        sum = snwVec3_Add(sum,
            snwVec3_Cross(snwVec3_Sub(positions[corners[i - 1]], origin), snwVec3_Sub(positions[corners[i]], origin)));
    return sum;
}

int snwPolygon_Axis(const snwVec3* positions, const int* corners, int count)
{
    return LargestAxis(NewellNormal(positions, corners, count));
}

// ---------------------------------------------------------------------------------------------------------------------
// Quads

static double TurnAtCorner(const snwPolygonCutter* cutter, snwVec3 normal, int a, int b, int c)
{
    const snwVec3* p = cutter->positions;
    return snwVec3_Dot(normal, snwVec3_Cross(snwVec3_Sub(p[b], p[a]), snwVec3_Sub(p[c], p[a])));
}

static snwPolygonCut CutQuad(const snwPolygonCutter* cutter, const int* q, int (*triangles)[3])
{
    snwVec3 normal = NewellNormal(cutter->positions, q, 4);
    bool first = TurnAtCorner(cutter, normal, q[0], q[1], q[2]) > 0 &&
                 TurnAtCorner(cutter, normal, q[0], q[2], q[3]) > 0;
    bool second = TurnAtCorner(cutter, normal, q[1], q[2], q[3]) > 0 &&
                  TurnAtCorner(cutter, normal, q[1], q[3], q[0]) > 0;
    int s = !first && second;
    for (int k = 0; k < 3; ++k)
    {
        triangles[0][k] = q[s + k];
        triangles[1][k] = q[k == 0 ? s : (s + k + 1) % 4];
    }
    return first || second ? snw_polygonCut : snw_polygonCrossing;
}

// ---------------------------------------------------------------------------------------------------------------------
// More corners

typedef struct Ring
{
    const double* points; // x y of each corner, counter-clockwise
    int *next, *previous; // next -1: cut off
    int* others;          // corners that do not turn left
    int otherCount;
} Ring;

static double Orient(const Ring* ring, int a, int b, int c)
{
    const double *p = ring->points + 2 * (size_t)a, *q = ring->points + 2 * (size_t)b,
                 *r = ring->points + 2 * (size_t)c;
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
}

static bool IsSamePoint(const Ring* ring, int a, int b)
{
    const double *p = ring->points + 2 * (size_t)a, *q = ring->points + 2 * (size_t)b;
    return p[0] == q[0] && p[1] == q[1];
}

// Corners that lie on those of the triangle belong to double edges and are not in the way.
static bool Blocks(const Ring* ring, int corner, int a, int b, int c)
{
    return Orient(ring, a, b, corner) >= 0 && Orient(ring, b, c, corner) >= 0 && Orient(ring, c, a, corner) >= 0 &&
           !IsSamePoint(ring, corner, a) && !IsSamePoint(ring, corner, b) && !IsSamePoint(ring, corner, c);
}

static bool TurnsLeft(const Ring* ring, int corner)
{
    return Orient(ring, ring->previous[corner], corner, ring->next[corner]) > 0;
}

// A corner that turns left is never in the way alone, so the others are enough. Those that were cut off or turn left by
// now leave the list.
static bool IsEar(Ring* ring, int corner, int64_t* budget)
{
    int a = ring->previous[corner], c = ring->next[corner];
    if (!TurnsLeft(ring, corner))
        return false;
    for (int i = 0; i < ring->otherCount;)
    {
        int other = ring->others[i];
        *budget -= 1;
        if (ring->next[other] < 0 || TurnsLeft(ring, other))
            ring->others[i] = ring->others[--ring->otherCount];
        else if (Blocks(ring, other, a, corner, c))
            return false;
        else
            i += 1;
    }
    return true;
}

// After an ear the walk goes on behind its neighbour: round polygons then give no needles.
static snwPolygonCut ClipEars(Ring* ring, const int* corners, int count, int64_t* budget, int (*triangles)[3])
{
    snwPolygonCut outcome = snw_polygonCut;
    int at = 0, written = 0, misses = 0;

    // Forced: nothing is an ear any more, or the budget is used up; then whatever comes next is cut off.
    for (int left = count; left >= 3;)
    {
        bool forced = left == 3 || misses >= left || *budget < 0;
        if (!forced && !IsEar(ring, at, budget))
        {
            at = ring->next[at];
            misses += 1;
            continue;
        }

        // The corner goes, its neighbours meet.
        int a = ring->previous[at], c = ring->next[at];
        if (left > 3 && forced)
            outcome = *budget < 0 ? snw_polygonTooLarge : snw_polygonCrossing;
        triangles[written][0] = corners[a];
        triangles[written][1] = corners[at];
        triangles[written++][2] = corners[c];
        ring->next[a] = c;
        ring->previous[c] = a;
        ring->next[at] = -1;
        at = *budget < 0 ? c : ring->next[c];
        misses = 0;
        left -= 1;
    }

    return outcome;
}

static bool MakePolygonRing(snwPolygonCutter* cutter, const int* corners, int count, Ring* ring)
{
    cutter->points.count = cutter->ring.count = 0;
    if (count > INT_MAX / 3 || !snwArray_Reserve(cutter->context, &cutter->points, 2 * count) ||
        !snwArray_Reserve(cutter->context, &cutter->ring, 3 * count))
        return false;

    // Seen along the largest axis of its normal, counter-clockwise.
    snwVec3 normal = NewellNormal(cutter->positions, corners, count);
    int axis = LargestAxis(normal);
    bool backwards = (axis == 0 ? normal.x : axis == 1 ? normal.y : normal.z) < 0;
    *ring = (Ring){cutter->points.data, cutter->ring.data, cutter->ring.data + count, cutter->ring.data + 2 * count, 0};

    for (int i = 0; i < count; ++i)
    {
        snwVec3 p = cutter->positions[corners[i]];
        double u = axis == 0 ? p.y : axis == 1 ? p.z : p.x, v = axis == 0 ? p.z : axis == 1 ? p.x : p.y;
        cutter->points.data[2 * (size_t)i] = backwards ? v : u;
        cutter->points.data[2 * (size_t)i + 1] = backwards ? u : v;
        ring->next[i] = (i + 1) % count;
        ring->previous[i] = (i + count - 1) % count;
    }

    // Only reflex corners can lie in an ear.
    for (int i = 0; i < count; ++i)
        if (!TurnsLeft(ring, i))
            ring->others[ring->otherCount++] = i;
    return true;
}

snwPolygonCut snwPolygonCutter_Cut(snwPolygonCutter* cutter, const int* corners, int count, int (*triangles)[3])
{
    if (count == 3)
    {
        for (int k = 0; k < 3; ++k)
            triangles[0][k] = corners[k];
        return snw_polygonCut;
    }
    if (count == 4)
        return CutQuad(cutter, corners, triangles);
    Ring ring;
    if (!MakePolygonRing(cutter, corners, count, &ring))
        return snw_polygonNoMemory;
    return ClipEars(&ring, corners, count, &cutter->budget, triangles);
}

void snwPolygonCutter_Free(snwPolygonCutter* cutter)
{
    snwArray_Free(cutter->context, &cutter->points);
    snwArray_Free(cutter->context, &cutter->ring);
}
