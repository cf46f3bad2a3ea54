// The geometry of one facet or element against a point: nearest point, crossing on the way, leaving along a
// direction, being inside. Facets of flat bodies are edges in the plane.

#include "contact/facet.h"

#include <float.h>

enum
{
    snw_rootSteps = 24
};

snwVec3 snwFacet_Normal(const snwFacet* facet)
{
    return snwVec3_Normalize(snwFacet_AreaNormal(facet));
}

// ---------------------------------------------------------------------------------------------------------------------
// Closest point

static snwFacetPoint AtWeights(const snwFacet* facet, snwVec3 point, double u, double v, double w)
{
    snwVec3 at = snwVec3_MulAdd(snwVec3_Scale(facet->p[0], u), v, facet->p[1]);
    if (!facet->edge)
        at = snwVec3_MulAdd(at, w, facet->p[2]);
    return (snwFacetPoint){at, {u, v, w}, snwVec3_LengthSquared(snwVec3_Sub(point, at))};
}

static double AlongSegment(snwVec3 a, snwVec3 b, snwVec3 point)
{
    snwVec3 ab = snwVec3_Sub(b, a);
    double squared = snwVec3_LengthSquared(ab);
    double t = squared > 0.0 ? snwVec3_Dot(snwVec3_Sub(point, a), ab) / squared : 0.0;
    return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

static snwFacetPoint NearerPoint(snwFacetPoint a, snwFacetPoint b)
{
    return b.squared < a.squared ? b : a;
}

// Weights of the foot of the perpendicular, times the squared length of the normal.
static void PlaneWeights(const snwFacet* facet, snwVec3 n, snwVec3 point, double weights[3])
{
    snwVec3 a = snwVec3_Sub(facet->p[0], point), b = snwVec3_Sub(facet->p[1], point);
    snwVec3 c = snwVec3_Sub(facet->p[2], point);
    weights[0] = snwVec3_Dot(n, snwVec3_Cross(b, c));
    weights[1] = snwVec3_Dot(n, snwVec3_Cross(c, a));
    weights[2] = snwVec3_Dot(n, snwVec3_Cross(a, b));
}

snwFacetPoint snwFacet_Closest(const snwFacet* facet, snwVec3 point)
{
    double t = AlongSegment(facet->p[0], facet->p[1], point), weights[3];
    snwFacetPoint best = AtWeights(facet, point, 1.0 - t, t, 0.0);
    if (facet->edge)
        return best;
    snwVec3 n = snwFacet_AreaNormal(facet);
    PlaneWeights(facet, n, point, weights);
    double sum = weights[0] + weights[1] + weights[2];
    if (weights[0] >= 0.0 && weights[1] >= 0.0 && weights[2] >= 0.0 && sum > 0.0)
        return AtWeights(facet, point, weights[0] / sum, weights[1] / sum, weights[2] / sum);
    t = AlongSegment(facet->p[1], facet->p[2], point);
    best = NearerPoint(best, AtWeights(facet, point, 0.0, 1.0 - t, t));
    t = AlongSegment(facet->p[2], facet->p[0], point);
    return NearerPoint(best, AtWeights(facet, point, t, 0.0, 1.0 - t));
}

// ---------------------------------------------------------------------------------------------------------------------
// Crossing

static snwFacet BetweenFacets(const snwFacet* a, const snwFacet* b, double t)
{
    snwFacet facet = {.edge = a->edge};
    for (int k = 0; k < 3; ++k)
        facet.p[k] = snwVec3_Lerp(a->p[k], b->p[k], t);
    return facet;
}

// > 0 outside: distance to the facet's plane times its area (or length).
static double SideOfFacet(const snwFacet* facet, snwVec3 point)
{
    return snwVec3_Dot(snwFacet_AreaNormal(facet), snwVec3_Sub(point, facet->p[0]));
}

// Is the point, which lies in the plane, on the facet itself? Neighbours share the border, so nothing slips between.
static bool IsOn(const snwFacet* facet, snwVec3 point)
{
    const double slack = 1e-9;
    if (facet->edge)
    {
        snwVec3 ab = snwVec3_Sub(facet->p[1], facet->p[0]);
        double along = snwVec3_Dot(snwVec3_Sub(point, facet->p[0]), ab), whole = snwVec3_LengthSquared(ab);
        return whole > 0.0 && along >= -slack * whole && along <= (1.0 + slack) * whole;
    }
    double weights[3];
    PlaneWeights(facet, snwFacet_AreaNormal(facet), point, weights);
    double sum = weights[0] + weights[1] + weights[2], least = -slack * sum;
    return sum > 0.0 && weights[0] >= least && weights[1] >= least && weights[2] >= least;
}

typedef struct Motion
{
    const snwFacet *before, *now;
    snwVec3 from, to;
} Motion;

static double SideAt(const Motion* motion, double t)
{
    snwFacet facet = BetweenFacets(motion->before, motion->now, t);
    return SideOfFacet(&facet, snwVec3_Lerp(motion->from, motion->to, t));
}

// The side is a cubic in time, > 0 at 0 and < 0 at 1. False position, where an end that stayed twice counts half (the
// Illinois rule).
static double FindTimeRoot(const Motion* motion, double before, double now)
{
    double a = 0.0, b = 1.0, fa = before, fb = now, t = 1.0;
    int last = 0;
    for (int i = 0; i < snw_rootSteps && b - a > 1e-12; ++i)
    {
        t = (a * fb - b * fa) / (fb - fa);
        double f = SideAt(motion, t);
        if (f == 0.0)
            break;
        int side = f > 0.0 ? 1 : -1;
        if (side > 0)
            a = t, fa = f, fb *= last > 0 ? 0.5 : 1.0;
        else
            b = t, fb = f, fa *= last < 0 ? 0.5 : 1.0;
        last = side;
    }
    return t;
}

bool snwFacet_Crossed(const snwFacet* before, const snwFacet* now, snwVec3 from, snwVec3 to, double* time)
{
    double side1 = SideOfFacet(now, to);
    if (!(side1 < 0.0))
        return false;
    double side0 = SideOfFacet(before, from), area = snwVec3_Length(snwFacet_AreaNormal(before));
    double size = before->edge ? area : sqrt(area);
    if (!(side0 >= -1e-3 * size * area))
        return false;
    Motion motion = {before, now, from, to};
    double t = side0 > 0.0 ? FindTimeRoot(&motion, side0, side1) : 0.0;
    snwFacet then = BetweenFacets(before, now, t);
    *time = t;
    return IsOn(&then, snwVec3_Lerp(from, to, t));
}

bool snwFacet_Leaves(const snwFacet* facet, snwVec3 origin, snwVec3 direction, double* time, double weights[3])
{
    snwVec3 n = snwFacet_AreaNormal(facet);
    double speed = snwVec3_Dot(n, direction), height = -SideOfFacet(facet, origin);
    if (!(speed > 0.0) || !(height >= 0.0) || height > *time * speed)
        return false;
    double t = height / speed;
    snwVec3 at = snwVec3_MulAdd(origin, t, direction);
    if (!IsOn(facet, at))
        return false;
    snwFacetPoint on = snwFacet_Closest(facet, at);
    for (int k = 0; k < 3; ++k)
        weights[k] = on.weights[k];
    *time = t;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

static bool TriangleContains(const snwVec3 c[4], snwVec3 p)
{
    double w[3];
    for (int k = 0; k < 3; ++k)
    {
        snwVec3 a = snwVec3_Sub(c[(k + 1) % 3], p), b = snwVec3_Sub(c[(k + 2) % 3], p);
        w[k] = a.x * b.y - a.y * b.x;
    }
    double sum = w[0] + w[1] + w[2];
    return (sum > 0.0 && w[0] >= 0.0 && w[1] >= 0.0 && w[2] >= 0.0) ||
           (sum < 0.0 && w[0] <= 0.0 && w[1] <= 0.0 && w[2] <= 0.0);
}

bool snwElement_Contains(const snwVec3 corners[4], bool flat, snwVec3 point)
{
    if (flat)
        return TriangleContains(corners, point);
    snwVec3 a = snwVec3_Sub(corners[0], point), b = snwVec3_Sub(corners[1], point);
    snwVec3 c = snwVec3_Sub(corners[2], point), d = snwVec3_Sub(corners[3], point);
    snwVec3 ab = snwVec3_Cross(a, b), cd = snwVec3_Cross(c, d);
    double w[4] = {snwVec3_Dot(b, cd), -snwVec3_Dot(a, cd), snwVec3_Dot(d, ab), -snwVec3_Dot(c, ab)};
    double sum = w[0] + w[1] + w[2] + w[3];
    bool all = true;
    for (int k = 0; k < 4; ++k)
        all = all && (sum > 0.0 ? w[k] >= 0.0 : w[k] <= 0.0);
    return all && sum != 0.0;
}

double snwElement_Distance(const snwVec3 corners[4], bool flat, snwVec3 point)
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    static const int edges[3][3] = {{0, 1, 0}, {1, 2, 0}, {2, 0, 0}};
    if (snwElement_Contains(corners, flat, point))
        return 0.0;
    double squared = DBL_MAX;
    for (int i = 0; i < (flat ? 3 : 4); ++i)
    {
        const int* face = flat ? edges[i] : faces[i];
        snwFacet facet = {{corners[face[0]], corners[face[1]], corners[face[2]]}, flat};
        squared = fmin(squared, snwFacet_Closest(&facet, point).squared);
    }
    return sqrt(squared);
}
