// One tree of boxes serves both questions: the nearest triangle (boxes) and the winding number (moments). It is built
// top down by the surface area heuristic in bins, on one thread; its order depends on the triangles alone. The moments
// of each node are summed over its triangles afresh, in their order, so nodes may be done on any thread.
//
// Moments. A triangle with area vector A at x adds A . g(x - q) to the winding number at q, with g(d) = d / (4 pi
// |d|^3). Around the centre c of a group, with x = c + e,
//     4 pi w = A.d / r^3 - 3 P1(d) / r^5 + 15/2 P2(d) / r^7 + ...,      d = c - q, r = |d|,
//     P1(d) = sum (A.d) (e.d),   P2(d) = sum (A.d) <(e.d)^2>,
// where < > is the mean over the triangle. g is harmonic, so only the harmonic parts of the polynomials count: with
// P1 - r^2 lap P1 / 6 and P2 - r^2 lap P2 / 10 in their place all trace terms of the papers' formulas (eq. 13 to 15)
// vanish, and a node needs 3 + 6 + 10 numbers instead of 3 + 9 + 27.

#include "geom/winding.h"
#include "base/arena.h"

#include <float.h>
#include <math.h>

enum
{
    snw_maxSoup = 100000000,
    snw_soupLeaf = 4,   // triangles
    snw_soupBins = 16,  // of the surface area heuristic
    snw_soupDepth = 40, // from here on groups are halved, so that ...
    snw_soupStack = 80  // ... no path is longer than this
};

#define SNW_MAX_SOUP_POSITION 1e12

typedef struct Node
{
    snwVec3 lower, upper;
    int begin, end; // its triangles
    int right;      // second child; the first one is the next node. 0: a leaf
} Node;

// Monomials of degree two: x^2 y^2 z^2 xy xz yz, of degree three: x^3 y^3 z^3 x^2y x^2z xy^2 y^2z xz^2 yz^2 xyz.
typedef struct Moments
{
    snwVec3 centre, area;
    double p1[6], p2[10];
    double near2; // squared distance within which the group must be opened
} Moments;

typedef struct Triangle
{
    snwVec3 a, b, c;
    int id;
    bool thin; // no area to speak of: a segment or a point
} Triangle;

struct snwSoup
{
    snwContext* context;
    snwArena arena;
    Triangle* triangles; // in the order of the tree
    int triangleCount;
    Node* nodes;
    Moments* moments;
    int nodeCount;
    double beta;
};

snwSoupDef snwDefaultSoupDef(void)
{
    return (snwSoupDef){.beta = 2.3};
}

// ---------------------------------------------------------------------------------------------------------------------
// The tree

typedef struct Box
{
    snwVec3 lower, upper;
} Box;

static Box EmptyBox(void)
{
    return (Box){{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
}

static Box JoinBoxes(Box a, Box b)
{
    return (Box){snwVec3_Min(a.lower, b.lower), snwVec3_Max(a.upper, b.upper)};
}

static Box BoxOfTriangle(const Triangle* t)
{
    return (Box){snwVec3_Min(t->a, snwVec3_Min(t->b, t->c)), snwVec3_Max(t->a, snwVec3_Max(t->b, t->c))};
}

static double HalfSurface(Box box)
{
    snwVec3 s = snwVec3_Sub(box.upper, box.lower);
    return s.x >= 0.0 ? s.x * s.y + s.y * s.z + s.z * s.x : 0.0;
}

static double AxisOfVec(snwVec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static double MiddleOfBox(const Triangle* t, int axis)
{
    Box box = BoxOfTriangle(t);
    return 0.5 * (AxisOfVec(box.lower, axis) + AxisOfVec(box.upper, axis));
}

typedef struct Split
{
    int axis, bin;
    double low, scale; // bin = (middle - low) scale
    double cost;
} Split;

static int BinOf(const Split* split, const Triangle* t)
{
    int bin = (int)((MiddleOfBox(t, split->axis) - split->low) * split->scale);
    return bin < snw_soupBins ? bin : snw_soupBins - 1;
}

// The cheapest plane between bins along one axis, if it beats what is known.
static void TryAxis(const Triangle* triangles, int count, int axis, double low, double high, Split* best)
{
    Split split = {.axis = axis, .low = low, .scale = snw_soupBins / (high - low)};
    if (!(high > low) || !isfinite(split.scale))
        return;
    Box boxes[snw_soupBins], right[snw_soupBins];
    int counts[snw_soupBins] = {0};

    // Boxes and counts of the bins.
    for (int i = 0; i < snw_soupBins; ++i)
        boxes[i] = EmptyBox();

    for (int i = 0; i < count; ++i)
    {
        int bin = BinOf(&split, &triangles[i]);
        boxes[bin] = JoinBoxes(boxes[bin], BoxOfTriangle(&triangles[i]));
        counts[bin]++;
    }

    // Joined from the right, then from the left: the cost of a cut is surface times triangles on either side.
    right[snw_soupBins - 1] = boxes[snw_soupBins - 1];
    for (int i = snw_soupBins - 2; i > 0; --i)
        right[i] = JoinBoxes(boxes[i], right[i + 1]);
    Box left = EmptyBox();
    int leftCount = 0;

    for (split.bin = 1; split.bin < snw_soupBins; ++split.bin)
    {
        left = JoinBoxes(left, boxes[split.bin - 1]);
        leftCount += counts[split.bin - 1];
        split.cost = HalfSurface(left) * leftCount + HalfSurface(right[split.bin]) * (count - leftCount);
        if (leftCount > 0 && leftCount < count && split.cost < best->cost)
            *best = split;
    }
}

static Split FindSplit(const Triangle* triangles, int count)
{
    Split best = {.cost = DBL_MAX};
    for (int axis = 0; axis < 3; ++axis)
    {
        double low = DBL_MAX, high = -DBL_MAX;
        for (int i = 0; i < count; ++i)
        {
            double middle = MiddleOfBox(&triangles[i], axis);
            low = middle < low ? middle : low;
            high = middle > high ? middle : high;
        }
        TryAxis(triangles, count, axis, low, high, &best);
    }
    return best;
}

// Number of triangles that go to the left. Without a plane (all in one place) half of them do.
static int Partition(Triangle* triangles, int count, int depth)
{
    Split split = depth < snw_soupDepth ? FindSplit(triangles, count) : (Split){.cost = DBL_MAX};
    if (split.cost == DBL_MAX)
        return count / 2;
    int left = 0, right = count;
    while (left < right)
    {
        if (BinOf(&split, &triangles[left]) < split.bin)
        {
            left++;
            continue;
        }
        Triangle swapped = triangles[--right];
        triangles[right] = triangles[left];
        triangles[left] = swapped;
    }
    return left;
}

static void BuildNode(snwSoup* soup, int begin, int end, int depth)
{
    int index = soup->nodeCount++;
    Box box = EmptyBox();
    for (int i = begin; i < end; ++i)
        box = JoinBoxes(box, BoxOfTriangle(&soup->triangles[i]));
    soup->nodes[index] = (Node){.lower = box.lower, .upper = box.upper, .begin = begin, .end = end};
    if (end - begin <= snw_soupLeaf)
        return;
    int middle = begin + Partition(soup->triangles + begin, end - begin, depth);
    BuildNode(soup, begin, middle, depth + 1);
    soup->nodes[index].right = soup->nodeCount;
    BuildNode(soup, middle, end, depth + 1);
}

// ---------------------------------------------------------------------------------------------------------------------
// Moments

static snwVec3 AreaVector(const Triangle* t)
{
    return snwVec3_Scale(snwVec3_Cross(snwVec3_Sub(t->b, t->a), snwVec3_Sub(t->c, t->a)), 0.5);
}

static snwVec3 Centroid(const Triangle* t)
{
    return snwVec3_Scale(snwVec3_Add(snwVec3_Add(t->a, t->b), t->c), 1.0 / 3.0);
}

// + s (v.d)^2
static void AddSquare(double q[6], double s, snwVec3 v)
{
    q[0] += s * v.x * v.x, q[1] += s * v.y * v.y, q[2] += s * v.z * v.z;
    q[3] += 2.0 * s * v.x * v.y, q[4] += 2.0 * s * v.x * v.z, q[5] += 2.0 * s * v.y * v.z;
}

// + (a.d) (e.d)
static void AddProductMoments(double p[6], snwVec3 a, snwVec3 e)
{
    p[0] += a.x * e.x, p[1] += a.y * e.y, p[2] += a.z * e.z;
    p[3] += a.x * e.y + a.y * e.x, p[4] += a.x * e.z + a.z * e.x, p[5] += a.y * e.z + a.z * e.y;
}

// + (a.d) q(d)
static void AddCubic(double p[10], snwVec3 a, const double q[6])
{
    p[0] += a.x * q[0], p[1] += a.y * q[1], p[2] += a.z * q[2];
    p[3] += a.x * q[3] + a.y * q[0], p[4] += a.x * q[4] + a.z * q[0];
    p[5] += a.x * q[1] + a.y * q[3], p[6] += a.y * q[5] + a.z * q[1];
    p[7] += a.x * q[2] + a.z * q[4], p[8] += a.y * q[2] + a.z * q[5];
    p[9] += a.x * q[5] + a.y * q[4] + a.z * q[3];
}

static void AddTriangleMoments(Moments* m, const Triangle* t)
{
    snwVec3 area = AreaVector(t), middle = Centroid(t), e = snwVec3_Sub(middle, m->centre);
    double mean[6] = {0}; // of (e.d)^2 over the triangle: at its centroid, and the spread about it
    AddSquare(mean, 1.0, e);
    AddSquare(mean, 1.0 / 12.0, snwVec3_Sub(t->a, middle));
    AddSquare(mean, 1.0 / 12.0, snwVec3_Sub(t->b, middle));
    AddSquare(mean, 1.0 / 12.0, snwVec3_Sub(t->c, middle));
    m->area = snwVec3_Add(m->area, area);
    AddProductMoments(m->p1, area, e);
    AddCubic(m->p2, area, mean);
}

// The harmonic parts of both polynomials.
static void DropTraces(Moments* m)
{
    double trace = (m->p1[0] + m->p1[1] + m->p1[2]) / 3.0;
    for (int i = 0; i < 3; ++i)
        m->p1[i] -= trace;
    double* p = m->p2;
    double x = (6.0 * p[0] + 2.0 * p[5] + 2.0 * p[7]) / 10.0; // the Laplacian of P2 is linear
    double y = (6.0 * p[1] + 2.0 * p[3] + 2.0 * p[8]) / 10.0;
    double z = (6.0 * p[2] + 2.0 * p[4] + 2.0 * p[6]) / 10.0;
    p[0] -= x, p[5] -= x, p[7] -= x;
    p[1] -= y, p[3] -= y, p[8] -= y;
    p[2] -= z, p[4] -= z, p[6] -= z;
}

static void SumMoments(const snwSoup* soup, const Node* node, Moments* m)
{
    double area = 0.0, reach = 0.0;
    snwVec3 sum = {0, 0, 0};
    *m = (Moments){.centre = snwVec3_Lerp(node->lower, node->upper, 0.5)};

    // The middle, weighted by area.
    for (int i = node->begin; i < node->end; ++i)
    {
        double a = snwVec3_Length(AreaVector(&soup->triangles[i]));
        sum = snwVec3_MulAdd(sum, a, snwVec3_Sub(Centroid(&soup->triangles[i]), m->centre));
        area += a;
    }

    // Moments about it; from where on they serve is `beta` times the farthest corner.
    if (area > 0.0)
        m->centre = snwVec3_MulAdd(m->centre, 1.0 / area, sum);
    for (int i = node->begin; i < node->end; ++i)
    {
        const Triangle* t = &soup->triangles[i];
        AddTriangleMoments(m, t);
        reach = fmax(reach, snwVec3_Distance(t->a, m->centre));
        reach = fmax(reach, snwVec3_Distance(t->b, m->centre));
        reach = fmax(reach, snwVec3_Distance(t->c, m->centre));
    }

    DropTraces(m);
    m->near2 = soup->beta * reach * soup->beta * reach;
}

static void SumRange(int begin, int end, void* data)
{
    snwSoup* soup = data;
    for (int i = begin; i < end; ++i)
        SumMoments(soup, &soup->nodes[i], &soup->moments[i]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Making a soup

static snwResult CheckSoup(const snwSoupDef* def, snwMessage* message)
{
    if (def->triangleCount < 1 || def->triangles == NULL || def->vertexCount < 1 || def->vertices == NULL)
        return snwFail(message, snw_errorArgument, NULL, "a soup needs triangles");
    if (def->triangleCount > snw_maxSoup)
        return snwFail(message, snw_errorArgument, NULL, "%d triangles, at most %d", def->triangleCount, snw_maxSoup);
    if (!(def->beta >= 1.0 && def->beta <= 1000.0))
        return snwFail(
            message, snw_errorArgument, "start from snwDefaultSoupDef()", "beta must be 1..1000, is %g", def->beta);

    // Corners must be finite and exist.
    for (int i = 0; i < def->vertexCount; ++i)
        if (!snwVec3_IsWithin(def->vertices[i], SNW_MAX_SOUP_POSITION))
            return snwFail(message, snw_errorArgument, NULL, "vertices[%d] is not finite or beyond %g m", i,
                SNW_MAX_SOUP_POSITION);

    for (int i = 0; i < 3 * def->triangleCount; ++i)
    {
        int vertex = def->triangles[i / 3][i % 3];
        if (vertex < 0 || vertex >= def->vertexCount)
            return snwFail(message, snw_errorArgument, NULL, "triangles[%d] names vertex %d of %d", i / 3, vertex,
                def->vertexCount);
    }

    return snw_ok;
}

static void CopyTriangles(snwSoup* soup, const snwSoupDef* def)
{
    for (int i = 0; i < def->triangleCount && def->triangles != NULL; ++i)
    {
        const int* v = def->triangles[i];
        Triangle* t = &soup->triangles[i];
        *t = (Triangle){.a = def->vertices[v[0]], .b = def->vertices[v[1]], .c = def->vertices[v[2]], .id = i};
        snwVec3 ab = snwVec3_Sub(t->b, t->a), ac = snwVec3_Sub(t->c, t->a), bc = snwVec3_Sub(t->c, t->b);
        double longest = fmax(snwVec3_LengthSquared(ab), fmax(snwVec3_LengthSquared(ac), snwVec3_LengthSquared(bc)));
        t->thin = snwVec3_Length(snwVec3_Cross(ab, ac)) <= 1e-12 * longest;
    }
}

snwResult snwCreateSoup(snwContext* context, const snwSoupDef* def, snwSoup** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckSoup(def, message);
    if (result < 0)
        return result;
    snwSoup* soup = snwAlloc(context, sizeof *soup);
    if (soup == NULL)
        return snwFailMemory(message);
    size_t count = (size_t)def->triangleCount;
    soup->context = soup->arena.context = context;
    soup->triangleCount = def->triangleCount;
    soup->beta = def->beta;

    // A tree with one triangle per leaf has fewer than twice as many nodes.
    soup->triangles = snwArena_Alloc(&soup->arena, count, sizeof *soup->triangles);
    soup->nodes = snwArena_Alloc(&soup->arena, 2 * count, sizeof *soup->nodes);

    if (!soup->arena.failed)
    {
        CopyTriangles(soup, def);
        BuildNode(soup, 0, def->triangleCount, 0);
        soup->moments = snwArena_Alloc(&soup->arena, (size_t)soup->nodeCount, sizeof *soup->moments);
    }

    if (soup->arena.failed)
    {
        snwDestroySoup(soup);
        return snwFailMemory(message);
    }

    snwParallelFor(context, soup->nodeCount, 256, SumRange, soup);
    *out = soup;
    return snw_ok;
}

void snwDestroySoup(snwSoup* soup)
{
    if (soup == NULL)
        return;
    snwArena_Free(&soup->arena);
    snwFree(soup->context, soup);
}

// ---------------------------------------------------------------------------------------------------------------------
// Nearest point. Everything is seen from the query, so that far from the origin nothing is lost.

typedef struct Nearest
{
    double distance2;
    double weights[3];
    int index; // in the tree's order
} Nearest;

static void KeepNearer(Nearest* best, snwVec3 offset, double u, double v, double w)
{
    double distance2 = snwVec3_LengthSquared(offset);
    if (distance2 < best->distance2)
        *best = (Nearest){distance2, {u, v, w}, best->index};
}

// Share of the way from a to b at which the line is nearest to the origin, kept within.
static double ShareAlong(snwVec3 a, snwVec3 ab)
{
    double length2 = snwVec3_LengthSquared(ab);
    double t = length2 > 0.0 ? -snwVec3_Dot(a, ab) / length2 : 0.0;
    return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

static Nearest NearestOnEdges(snwVec3 a, snwVec3 b, snwVec3 c)
{
    Nearest best = {.distance2 = DBL_MAX};
    snwVec3 ab = snwVec3_Sub(b, a), bc = snwVec3_Sub(c, b), ca = snwVec3_Sub(a, c);
    double t = ShareAlong(a, ab);
    KeepNearer(&best, snwVec3_MulAdd(a, t, ab), 1.0 - t, t, 0.0);
    t = ShareAlong(b, bc);
    KeepNearer(&best, snwVec3_MulAdd(b, t, bc), 0.0, 1.0 - t, t);
    t = ShareAlong(c, ca);
    KeepNearer(&best, snwVec3_MulAdd(c, t, ca), t, 0.0, 1.0 - t);
    return best;
}

// The foot of the perpendicular if it lies inside, else the nearest point of the three edges.
static Nearest NearestOnTriangle(const Triangle* t, snwVec3 point)
{
    snwVec3 a = snwVec3_Sub(t->a, point), b = snwVec3_Sub(t->b, point), c = snwVec3_Sub(t->c, point);
    if (!t->thin)
    {
        snwVec3 n = snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(c, a));
        double u = snwVec3_Dot(n, snwVec3_Cross(b, c)), v = snwVec3_Dot(n, snwVec3_Cross(c, a));
        double w = snwVec3_Dot(n, snwVec3_Cross(a, b)), n2 = snwVec3_LengthSquared(n);
        if (u >= 0.0 && v >= 0.0 && w >= 0.0)
        {
            double height = snwVec3_Dot(n, a), sum = u + v + w;
            return (Nearest){height * height / n2, {u / sum, v / sum, w / sum}, 0};
        }
    }
    return NearestOnEdges(a, b, c);
}

// Comparisons rather than fmax, which is a call: it must also do right by NaN.
static inline double OutsideSpan(double lower, double upper, double p)
{
    double below = lower - p, above = p - upper, most = below > above ? below : above;
    return most > 0.0 ? most : 0.0;
}

static double BoxDistance2(const Node* node, snwVec3 p)
{
    double x = OutsideSpan(node->lower.x, node->upper.x, p.x);
    double y = OutsideSpan(node->lower.y, node->upper.y, p.y);
    double z = OutsideSpan(node->lower.z, node->upper.z, p.z);
    return x * x + y * y + z * z;
}

static void SearchLeaf(const snwSoup* soup, const Node* node, snwVec3 point, Nearest* best)
{
    for (int i = node->begin; i < node->end; ++i)
    {
        Nearest found = NearestOnTriangle(&soup->triangles[i], point);
        bool first = best->index < 0 || soup->triangles[i].id < soup->triangles[best->index].id;
        if (found.distance2 < best->distance2 || (found.distance2 == best->distance2 && first))
        {
            *best = found;
            best->index = i;
        }
    }
}

typedef struct Visit
{
    int node;
    double distance2;
} Visit;

static Nearest SearchNearest(const snwSoup* soup, snwVec3 point)
{
    Nearest best = {.distance2 = DBL_MAX, .index = -1};
    Visit stack[snw_soupStack] = {{0, BoxDistance2(&soup->nodes[0], point)}};

    // The nearer child on top of the stack, so that the best is found early and the rest is cut off.
    for (int count = 1; count > 0;)
    {
        Visit visit = stack[--count];
        const Node* node = &soup->nodes[visit.node];
        if (visit.distance2 > best.distance2)
            continue;
        if (node->right == 0)
        {
            SearchLeaf(soup, node, point, &best);
            continue;
        }

        Visit near = {visit.node + 1, BoxDistance2(node + 1, point)};
        Visit far = {node->right, BoxDistance2(&soup->nodes[node->right], point)};
        bool swap = far.distance2 < near.distance2;
        stack[count++] = swap ? near : far;
        stack[count++] = swap ? far : near;
    }

    return best;
}

snwClosest snwSoup_Closest(const snwSoup* soup, snwVec3 point)
{
    Nearest best = SearchNearest(soup, point);
    const Triangle* t = &soup->triangles[best.index < 0 ? 0 : best.index];
    snwVec3 p = snwVec3_Scale(t->a, best.weights[0]);
    p = snwVec3_MulAdd(snwVec3_MulAdd(p, best.weights[1], t->b), best.weights[2], t->c);
    return (snwClosest){
        p, sqrt(best.distance2), {best.weights[0], best.weights[1], best.weights[2]}, best.index < 0 ? -1 : t->id};
}

// ---------------------------------------------------------------------------------------------------------------------
// Winding number

// atan2(y, x), and for small angles its series to 1e-12: most triangles of an opened group are still small in the view,
// and atan2 would take half of the time.
static double QuickAngle(double y, double x)
{
    double t = x > 0.0 ? y / x : 1.0, t2 = t * t;
    return t2 < 0.01 ? t * (1.0 - t2 * (1.0 / 3 - t2 * (1.0 / 5 - t2 * (1.0 / 7 - t2 * (1.0 / 9))))) : atan2(y, x);
}

// Solid angle over 4 pi (van Oosterom and Strackee 1983).
static double TriangleWinding(const Triangle* t, snwVec3 point, double (*angle)(double y, double x))
{
    snwVec3 a = snwVec3_Sub(t->a, point), b = snwVec3_Sub(t->b, point), c = snwVec3_Sub(t->c, point);
    double la = snwVec3_Length(a), lb = snwVec3_Length(b), lc = snwVec3_Length(c);
    double triple = snwVec3_Dot(a, snwVec3_Cross(b, c));
    double below = la * lb * lc + snwVec3_Dot(a, b) * lc + snwVec3_Dot(b, c) * la + snwVec3_Dot(c, a) * lb;
    return triple == 0.0 || t->thin ? 0.0 : angle(triple, below) / (2.0 * SNW_PI);
}

double snwSoup_WindingExact(const snwSoup* soup, snwVec3 point)
{
    double sum = 0.0;
    for (int i = 0; i < soup->triangleCount; ++i)
        sum += TriangleWinding(&soup->triangles[i], point, atan2);
    return sum;
}

static double LeafWinding(const snwSoup* soup, const Node* node, snwVec3 point)
{
    double sum = 0.0;
    for (int i = node->begin; i < node->end; ++i)
        sum += TriangleWinding(&soup->triangles[i], point, QuickAngle);
    return sum;
}

// d: from the query to the centre. In powers of 1/r and a unit vector, so that no scale overflows.
static double FarWinding(const Moments* m, snwVec3 d, double r2)
{
    double s = 1.0 / sqrt(r2), x = d.x * s, y = d.y * s, z = d.z * s;
    const double *p = m->p1, *q = m->p2;
    double first = m->area.x * x + m->area.y * y + m->area.z * z;
    double second = x * (p[0] * x + p[3] * y + p[4] * z) + y * (p[1] * y + p[5] * z) + p[2] * z * z;
    double third = x * x * (q[0] * x + q[3] * y + q[4] * z) + y * y * (q[1] * y + q[5] * x + q[6] * z) +
                   z * z * (q[2] * z + q[7] * x + q[8] * y) + q[9] * x * y * z;
    return s * s * (first - s * (3.0 * second - s * 7.5 * third)) / (4.0 * SNW_PI);
}

double snwSoup_Winding(const snwSoup* soup, snwVec3 point)
{
    int stack[snw_soupStack] = {0};
    double sum = 0.0;

    // Far nodes by their moments, near leaves exactly, near inner nodes by their children.
    for (int count = 1; count > 0;)
    {
        int index = stack[--count];
        const Moments* m = &soup->moments[index];
        const Node* node = &soup->nodes[index];
        snwVec3 d = snwVec3_Sub(m->centre, point);
        double r2 = snwVec3_LengthSquared(d);

        if (r2 > m->near2)
            sum += FarWinding(m, d, r2);
        else if (node->right == 0)
            sum += LeafWinding(soup, node, point);
        else
        {
            stack[count++] = node->right;
            stack[count++] = index + 1;
        }
    }

    return sum;
}

// ---------------------------------------------------------------------------------------------------------------------
// Signed distance

double snwSoup_Distance(const snwSoup* soup, snwVec3 point)
{
    double distance = sqrt(SearchNearest(soup, point).distance2);
    bool inside = BoxDistance2(&soup->nodes[0], point) == 0.0 && snwSoup_Winding(soup, point) > 0.5;
    return inside ? -distance : distance;
}

static double SoupSolidDistance(snwVec3 point, const void* data)
{
    return snwSoup_Distance(data, point);
}

snwSolid snwSoup_Solid(const snwSoup* soup)
{
    return (snwSolid){
        .distance = SoupSolidDistance, .data = soup, .lower = soup->nodes[0].lower, .upper = soup->nodes[0].upper};
}
