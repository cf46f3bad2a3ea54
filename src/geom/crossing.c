// Crossings, exactly.
//
// Pairs come from a tree of boxes over the triangles. Each triangle asks the tree by itself, so every pair is met
// twice, but threads never write to the same place and nothing has to be merged.
//
// Signs decide everything, so they must be right: corners are whole numbers (as in predicates.h, here of 31 bits in
// three dimensions) and determinants have at most 3 * 32 + 3 bits, which fit in 128. Doubles with an adaptive error
// bound would keep the input as it is, but what differs by a billionth of the size is no different to any mesher.

#include "geom/crossing.h"

#include "geom/boxes.h"
#include "math/vec.h"

typedef __int128 Wide;

// ---------------------------------------------------------------------------------------------------------------------
// Signs

static int Sign(Wide value)
{
    return (value > 0) - (value < 0);
}

static snwGridPoint3 Minus(snwGridPoint3 a, snwGridPoint3 b)
{
    return (snwGridPoint3){a.x - b.x, a.y - b.y, a.z - b.z};
}

// The sign of the volume of a tet.
static int Orient3(snwGridPoint3 a, snwGridPoint3 b, snwGridPoint3 c, snwGridPoint3 d)
{
    snwGridPoint3 u = Minus(b, a), v = Minus(c, a), w = Minus(d, a);
    Wide x = (Wide)v.y * w.z - (Wide)v.z * w.y, y = (Wide)v.z * w.x - (Wide)v.x * w.z,
         z = (Wide)v.x * w.y - (Wide)v.y * w.x;
    return Sign(u.x * x + u.y * y + u.z * z);
}

// In the plane of the two axes that `drop` is not.
static int Orient2(snwGridPoint3 a, snwGridPoint3 b, snwGridPoint3 c, int drop)
{
    snwGridPoint3 u = Minus(b, a), v = Minus(c, a);
    if (drop == 0)
        return Sign((Wide)u.y * v.z - (Wide)u.z * v.y);
    if (drop == 1)
        return Sign((Wide)u.z * v.x - (Wide)u.x * v.z);
    return Sign((Wide)u.x * v.y - (Wide)u.y * v.x);
}

// The axis along which a triangle is seen with an area; -1: it has none.
static int DropAxis(const snwGridPoint3 t[3])
{
    for (int axis = 0; axis < 3; ++axis)
        if (Orient2(t[0], t[1], t[2], axis) != 0)
            return axis;
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pairs

static bool IsBetween(int64_t a, int64_t b, int64_t c)
{
    return (a <= c && c <= b) || (b <= c && c <= a);
}

// c is on the line of a and b: is it between them?
static bool IsOnSegment(snwGridPoint3 a, snwGridPoint3 b, snwGridPoint3 c)
{
    return IsBetween(a.x, b.x, c.x) && IsBetween(a.y, b.y, c.y) && IsBetween(a.z, b.z, c.z);
}

static bool SegmentsMeet(snwGridPoint3 p, snwGridPoint3 q, snwGridPoint3 a, snwGridPoint3 b, int drop)
{
    int pa = Orient2(a, b, p, drop), qa = Orient2(a, b, q, drop), ap = Orient2(p, q, a, drop),
        bp = Orient2(p, q, b, drop);
    if (pa * qa < 0 && ap * bp < 0)
        return true;
    return (pa == 0 && IsOnSegment(a, b, p)) || (qa == 0 && IsOnSegment(a, b, q)) ||
           (ap == 0 && IsOnSegment(p, q, a)) || (bp == 0 && IsOnSegment(p, q, b));
}

static bool IsInTriangle(snwGridPoint3 p, const snwGridPoint3 t[3], int drop)
{
    int s = Orient2(t[0], t[1], p, drop), u = Orient2(t[1], t[2], p, drop), v = Orient2(t[2], t[0], p, drop);
    return (s >= 0 && u >= 0 && v >= 0) || (s <= 0 && u <= 0 && v <= 0);
}

// In one plane: an end inside, or a side crossed.
static bool SegmentMeetsInPlane(snwGridPoint3 p, snwGridPoint3 q, const snwGridPoint3 t[3])
{
    int drop = DropAxis(t);
    if (IsInTriangle(p, t, drop) || IsInTriangle(q, t, drop))
        return true;
    for (int i = 0; i < 3; ++i)
        if (SegmentsMeet(p, q, t[i], t[(i + 1) % 3], drop))
            return true;
    return false;
}

static bool SegmentMeets(snwGridPoint3 p, snwGridPoint3 q, const snwGridPoint3 t[3])
{
    int above = Orient3(t[0], t[1], t[2], p), below = Orient3(t[0], t[1], t[2], q);
    if (above * below > 0)
        return false;
    if (above == 0 && below == 0)
        return SegmentMeetsInPlane(p, q, t);
    int s = Orient3(p, q, t[0], t[1]), u = Orient3(p, q, t[1], t[2]), v = Orient3(p, q, t[2], t[0]);
    return (s >= 0 && u >= 0 && v >= 0) || (s <= 0 && u <= 0 && v <= 0);
}

static bool AnySideMeets(const snwGridPoint3 a[3], const snwGridPoint3 b[3])
{
    for (int i = 0; i < 3; ++i)
        if (SegmentMeets(a[i], a[(i + 1) % 3], b))
            return true;
    return false;
}

// They share corner i of a and j of b: only the sides across from it can meet the other.
static bool CrossAtCorner(const snwGridPoint3 a[3], int i, const snwGridPoint3 b[3], int j)
{
    return SegmentMeets(a[(i + 1) % 3], a[(i + 2) % 3], b) || SegmentMeets(b[(j + 1) % 3], b[(j + 2) % 3], a);
}

// They share the side across from corner i of a and j of b: only when one is folded flat onto the other.
static bool CrossAtSide(const snwGridPoint3 a[3], int i, const snwGridPoint3 b[3], int j)
{
    snwGridPoint3 p = a[(i + 1) % 3], q = a[(i + 2) % 3];
    int drop = DropAxis(a);
    return Orient3(a[0], a[1], a[2], b[j]) == 0 && Orient2(p, q, a[i], drop) == Orient2(p, q, b[j], drop);
}

bool snwTrianglesCross(
    const snwGridPoint3 a[3], const int aVertices[3], const snwGridPoint3 b[3], const int bVertices[3])
{
    int shared = 0, sumA = 0, sumB = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (aVertices[i] == bVertices[j])
                shared += 1, sumA += i, sumB += j;
    if (DropAxis(a) < 0 || DropAxis(b) < 0)
        return false;
    if (shared == 0)
        return AnySideMeets(a, b) || AnySideMeets(b, a);
    if (shared == 1)
        return CrossAtCorner(a, sumA, b, sumB);
    return shared == 2 && CrossAtSide(a, 3 - sumA, b, 3 - sumB); // the same triangle twice is no crossing
}

// ---------------------------------------------------------------------------------------------------------------------
// Asking the tree

typedef struct Finder
{
    const snwCrossingDef* def;
    snwGridPoint3* points;
    snwBoxTree tree; // of the triangles on the grid
    int* order;      // triangle of each leaf
    uint8_t* marks;
    int* found; // crossings of each triangle
    uint8_t* unchecked;
} Finder;

static int64_t RoundToGrid(double value)
{
    return (int64_t)llround(value);
}

static void MakePoints(Finder* finder)
{
    const snwCrossingDef* def = finder->def;
    snwVec3 lower = def->vertices[0], upper = lower;
    for (int i = 1; i < def->vertexCount; ++i)
    {
        lower = snwVec3_Min(lower, def->vertices[i]);
        upper = snwVec3_Max(upper, def->vertices[i]);
    }
    snwVec3 extent = snwVec3_Sub(upper, lower), centre = snwVec3_Lerp(lower, upper, 0.5);
    double size = fmax(extent.x, fmax(extent.y, extent.z));
    double scale = size > 0 ? (double)(1 << 30) / size : 0.0; // half of it to each side
    for (int i = 0; i < def->vertexCount; ++i)
    {
        snwVec3 p = snwVec3_Scale(snwVec3_Sub(def->vertices[i], centre), scale);
        finder->points[i] = (snwGridPoint3){RoundToGrid(p.x), RoundToGrid(p.y), RoundToGrid(p.z)};
    }
}

// Floats round, so the box is grown by that.
static snwBox BoxAroundFacet(const Finder* finder, int triangle)
{
    snwBox box = snwBox_Empty();
    for (int k = 0; k < 3; ++k)
    {
        snwGridPoint3 p = finder->points[finder->def->triangles[triangle][k]];
        snwBox_Add(&box, (const float[]){(float)p.x, (float)p.y, (float)p.z});
    }
    return snwBox_Grow(box, 0.0);
}

static snwResult BuildTriangleTree(Finder* finder, snwArena* arena, snwMessage* message)
{
    snwBox* boxes = snwArena_Alloc(arena, (size_t)finder->def->triangleCount, sizeof *boxes);
    for (int i = 0; i < finder->def->triangleCount && boxes != NULL; ++i)
        boxes[i] = BoxAroundFacet(finder, i);
    return boxes == NULL
               ? snwFailMemory(message)
               : snwBuildBoxTree(arena, boxes, finder->def->triangleCount, &finder->tree, &finder->order, message);
}

static bool CrossTriangles(const Finder* finder, int a, int b)
{
    const int* u = finder->def->triangles[a];
    const int* v = finder->def->triangles[b];
    const snwGridPoint3 p[3] = {finder->points[u[0]], finder->points[u[1]], finder->points[u[2]]};
    const snwGridPoint3 q[3] = {finder->points[v[0]], finder->points[v[1]], finder->points[v[2]]};
    return snwTrianglesCross(p, u, q, v);
}

static void AskTree(Finder* finder, int triangle)
{
    snwBox box = BoxAroundFacet(finder, triangle);
    snwBoxWalk walk;
    int found = 0, tried = 0, leaf;
    snwBoxWalk_Start(&walk, &finder->tree, &box);
    while (found < snw_maxCrossingsEach && tried < snw_maxNeighboursEach && (leaf = snwBoxWalk_Next(&walk)) >= 0)
    {
        int other = finder->order[leaf];
        if (other == triangle)
            continue;
        tried += 1;
        if (CrossTriangles(finder, triangle, other))
            found += 1;
    }
    finder->found[triangle] = found;
    finder->marks[triangle] = found > 0;
    finder->unchecked[triangle] = tried == snw_maxNeighboursEach && found == 0;
}

// Along the curve, so that neighbours in time are neighbours in the tree.
static void AskRange(int begin, int end, void* data)
{
    Finder* finder = data;
    for (int leaf = begin; leaf < end; ++leaf)
        AskTree(finder, finder->order[leaf]);
}

static void CollectMarked(const Finder* finder, uint8_t* marks, snwCrossings* crossings)
{
    int64_t ends = 0; // every pair has two
    for (int i = 0; i < finder->def->triangleCount; ++i)
    {
        marks[i] = finder->marks[i];
        crossings->triangleCount += marks[i];
        ends += finder->found[i];
        crossings->uncheckedCount += finder->unchecked[i];
    }
    crossings->pairCount = (ends + 1) / 2;
}

snwResult snwFindCrossings(
    snwContext* context, const snwCrossingDef* def, uint8_t* marks, snwCrossings* crossings, snwMessage* message)
{
    *crossings = (snwCrossings){0};
    if (def->triangleCount == 0)
        return snw_ok;
    snwArena arena = {.context = context};
    Finder finder = {.def = def};
    finder.points = snwArena_Alloc(&arena, (size_t)def->vertexCount, sizeof *finder.points);
    finder.found = snwArena_Alloc(&arena, (size_t)def->triangleCount, sizeof(int));
    finder.unchecked = snwArena_Alloc(&arena, (size_t)def->triangleCount, 1);
    finder.marks = snwArena_Alloc(&arena, (size_t)def->triangleCount, 1);
    if (!arena.failed)
        MakePoints(&finder);

    // Each triangle asks the tree by itself; what is found is collected in the order of triangles.
    snwResult result = arena.failed ? snwFailMemory(message) : BuildTriangleTree(&finder, &arena, message);
    if (result >= 0)
    {
        snwParallelFor(context, def->triangleCount, 256, AskRange, &finder);
        CollectMarked(&finder, marks, crossings);
    }

    snwArena_Free(&arena);
    return result;
}
