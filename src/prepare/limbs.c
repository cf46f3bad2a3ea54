// Elements that join limbs which are apart - two fingers, the thighs, an arm and the side - are parted: cells are
// coarser than the gap between the two.
//
// An edge of the body joins limbs if the bones that its ends follow are others (SNW_APART) and the way over the surface
// from the one to the other is long against the edge (SNW_WAY). Without such edges the corners of an element fall into
// groups. Each group gets the element once; corners of other groups are copies there, which hang on the group's own
// corners alone (virtual nodes, Molino et al. 2004). Copies follow what those around them follow (weights.c), no bone
// owns them (bones.c), and of two elements that lie in each other a point of the surface hangs in that of its own limb
// (surfaces.c).

#include "prepare/parts.h"

#include "base/pieces.h"
#include "base/sort.h"
#include "base/tasks.h"
#include "geom/mesh.h"

#include <math.h>
#include <string.h>

#define SNW_APART 0.2 // half of the sum of the differences of weights
#define SNW_WAY   3.0 // times the edge, and once the longest side of the triangles at both ends

typedef struct Limbs
{
    snwPreparer* preparer;
    double* rows; // by vertex of the body: weights of all bones of the rig
    snwClosest* closest;
    int (*edges)[2]; // of the body, sorted
    bool* joins;
    int edgeCount;
    // The surface
    int *starts, *neighbours;
    double* ways; // from where the search began
    int* rounds;  // in which it came by
    int* ring;
    bool* waiting;
    int round, last;
} Limbs;

// ---------------------------------------------------------------------------------------------------------------------
// What vertices follow

static void FindClosestRange(int begin, int end, void* data)
{
    const Limbs* l = data;
    const snwPreparer* p = l->preparer;
    for (int i = begin; i < end; ++i)
    {
        double* row = l->rows + (size_t)i * (size_t)p->rigCount;
        l->closest[i] = snwSoup_Closest(p->flesh, p->body.vertices[i]);
        for (int k = 0; k < 3; ++k)
        {
            int vertex = p->fleshTriangles[l->closest[i].triangle][k];
            const snwRigWeights* weights = &p->weights[p->fleshSource[vertex]];
            const int* starts = weights->starts != NULL ? weights->starts + p->fleshVertex[vertex] : (const int[2]){0};
            for (int e = starts[0]; e < starts[1]; ++e)
                row[weights->bones[e]] += l->closest[i].weights[k] * weights->values[e];
        }
    }
}

static bool FollowOthers(const Limbs* l, int a, int b)
{
    size_t bones = (size_t)l->preparer->rigCount;
    const double *x = l->rows + (size_t)a * bones, *y = l->rows + (size_t)b * bones;
    double sum = 0;
    for (size_t i = 0; i < bones; ++i)
        sum += fabs(x[i] - y[i]);
    return 0.5 * sum > SNW_APART;
}

// ---------------------------------------------------------------------------------------------------------------------
// Ways over the surface

static bool LinkSurface(Limbs* l)
{
    snwPreparer* p = l->preparer;
    int n = p->fleshVertexCount, sides = 3 * p->fleshTriangleCount;
    l->starts = snwPreparer_Alloc(p, n + 2, sizeof(int));
    l->neighbours = snwPreparer_Alloc(p, 2 * (int64_t)sides + 1, sizeof(int));
    l->ways = snwPreparer_Alloc(p, n + 1, sizeof(double));
    l->rounds = snwPreparer_Alloc(p, n + 1, sizeof(int));
    l->ring = snwPreparer_Alloc(p, n + 1, sizeof(int));
    l->waiting = snwPreparer_Alloc(p, n + 1, sizeof *l->waiting);
    if (p->arena.failed)
        return false;

    // Neighbours over the sides of triangles, each side from both of its triangles: counted, then listed.
    for (int i = 0; i < sides; ++i)
        l->starts[p->fleshTriangles[i / 3][i % 3] + 2] += 2;
    for (int i = 1; i <= n + 1; ++i)
        l->starts[i] += l->starts[i - 1];
    for (int i = 0; i < sides; ++i)
        for (int k = 1; k < 3; ++k)
            l->neighbours[l->starts[p->fleshTriangles[i / 3][i % 3] + 1]++] = p->fleshTriangles[i / 3][(i + k) % 3];

    return true;
}

// Each vertex waits in the ring once at most.
static void ReachVertex(Limbs* l, int vertex, double way, double limit)
{
    bool met = l->rounds[vertex] == l->round;
    if (way > limit || (met && l->ways[vertex] <= way))
        return;
    if (!met || !l->waiting[vertex])
        l->ring[l->last++ % (l->preparer->fleshVertexCount + 1)] = vertex;
    l->waiting[vertex] = true;
    l->rounds[vertex] = l->round;
    l->ways[vertex] = way;
}

static double LongestSide(const snwPreparer* p, const int triangle[3])
{
    double most = 0;
    for (int k = 0; k < 3; ++k)
        most = fmax(most, snwVec3_Distance(p->fleshVertices[triangle[k]], p->fleshVertices[triangle[(k + 1) % 3]]));
    return most;
}

// Is the way over the surface between the places nearest to two vertices of the body so short?
static bool IsWayShort(Limbs* l, int a, int b, double limit)
{
    const snwPreparer* p = l->preparer;
    const snwClosest *from = &l->closest[a], *to = &l->closest[b];
    const int *begin = p->fleshTriangles[from->triangle], *end = p->fleshTriangles[to->triangle];
    if (from->triangle == to->triangle)
        return true;

    // Between vertices the way may be longer by a side at either end.
    limit += fmax(LongestSide(p, begin), LongestSide(p, end));
    l->round += 1;
    l->last = 0;
    for (int k = 0; k < 3; ++k)
        ReachVertex(l, begin[k], snwVec3_Distance(from->point, p->fleshVertices[begin[k]]), limit);

    // Relaxed breadth first from the corners of the first triangle (a ring of vertices that may get shorter ways), no
    // farther than the limit.
    for (int next = 0; next < l->last; ++next)
    {
        int vertex = l->ring[next % (p->fleshVertexCount + 1)];
        snwVec3 x = p->fleshVertices[vertex];
        l->waiting[vertex] = false;
        for (int k = 0; k < 3; ++k)
            if (end[k] == vertex && l->ways[vertex] + snwVec3_Distance(to->point, x) <= limit)
                return true;
        for (int k = l->starts[vertex]; k < l->starts[vertex + 1]; ++k)
        {
            int other = l->neighbours[k];
            ReachVertex(l, other, l->ways[vertex] + snwVec3_Distance(x, p->fleshVertices[other]), limit);
        }
    }

    return false;
}

static snwResult FindJoins(Limbs* l, int* count)
{
    snwPreparer* p = l->preparer;
    snwElements elements = {(const int*)p->body.tets, 4, p->body.tetCount};
    if (snwMesh_FindEdges(p->context, elements, NULL, 0, &l->edges, &l->edgeCount) < 0)
        return snwFailMemory(p->message);
    l->joins = snwPreparer_Alloc(p, l->edgeCount + 1, sizeof *l->joins);
    for (int i = 0; i < l->edgeCount && l->joins != NULL; ++i)
    {
        int a = l->edges[i][0], b = l->edges[i][1];
        double length = snwVec3_Distance(p->body.vertices[a], p->body.vertices[b]);
        l->joins[i] = FollowOthers(l, a, b) && !IsWayShort(l, a, b, SNW_WAY * length);
        *count += l->joins[i];
    }
    return p->arena.failed ? snwFailMemory(p->message) : snw_ok;
}

static bool Joins(const Limbs* l, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a, first = 0, last = l->edgeCount - 1;
    while (first < last)
    {
        int middle = first + (last - first) / 2;
        const int* edge = l->edges[middle];
        if (edge[0] < low || (edge[0] == low && edge[1] < high))
            first = middle + 1;
        else
            last = middle;
    }
    return l->joins[first];
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements once for each group

// By corner: the first corner of its group.
static void Group(const Limbs* l, const int tet[4], int groups[4])
{
    for (int k = 0; k < 4; ++k)
        groups[k] = k;
    for (int round = 0; round < 3; ++round)
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < i; ++k)
                if (!Joins(l, tet[i], tet[k]))
                    groups[i] = groups[k] = groups[i] < groups[k] ? groups[i] : groups[k];
}

// A copy that one corner asks for; those of one vertex that hang on the same corner are one.
typedef struct Copies
{
    uint64_t* keys; // a corner that is itself, and the vertex that is copied
    int* copies;    // which
    int keyCount;
    int *roots, *sources; // by copy: another one that it is one with; the vertex
    int count;
} Copies;

static void AddCopy(Copies* copies, const int tet[4], const int groups[4], int group, int vertex)
{
    int mine = copies->count++;
    copies->roots[mine] = mine;
    copies->sources[mine] = vertex;
    for (int k = 0; k < 4; ++k)
        if (groups[k] == group)
        {
            copies->keys[copies->keyCount] = (uint64_t)(uint32_t)tet[k] << 32 | (uint32_t)vertex;
            copies->copies[copies->keyCount++] = mine;
        }
}

// How many elements there will be, and how many copies they ask for.
static void CountCopies(const Limbs* l, int64_t* tets, int64_t* copies)
{
    for (int i = 0; i < l->preparer->body.tetCount; ++i)
    {
        int groups[4], count = 0;
        Group(l, l->preparer->body.tets[i], groups);
        for (int k = 0; k < 4; ++k)
            count += groups[k] == k;
        *tets += count;
        *copies += 4 * (count - 1);
    }
}

// A copy is the number of vertices and its own. pieces: of each the first one. Returns how
// many there are.
static int PartTets(const Limbs* l, Copies* copies, int (*tets)[4], int* pieces)
{
    const snwTetMesh* body = &l->preparer->body;
    int made = 0;

    // Corners in groups that are near over the surface: one piece of the element for each group.
    for (int i = 0; i < body->tetCount; ++i)
    {
        const int* t = body->tets[i];
        int groups[4];
        Group(l, t, groups);
        pieces[i] = made;

        for (int g = 0; g < 4; ++g)
        {
            if (groups[g] != g)
                continue; // not the first of a group

            // A piece has the corners of its own group and copies of all others.
            for (int k = 0; k < 4; ++k)
            {
                tets[made][k] = groups[k] == g ? t[k] : body->vertexCount + copies->count;
                if (groups[k] != g)
                    AddCopy(copies, t, groups, g, t[k]);
            }
            ++made;
        }
    }

    pieces[body->tetCount] = made;
    return made;
}

static snwResult JoinCopies(snwPreparer* p, Copies* copies)
{
    if (!snwSortKeys(p->context, copies->keys, copies->copies, copies->keyCount))
        return snwFailMemory(p->message);
    for (int i = 1; i < copies->keyCount; ++i)
    {
        if (copies->keys[i] == copies->keys[i - 1])
            snwPieces_Join(copies->roots, copies->copies[i - 1], copies->copies[i]);
    }
    return snw_ok;
}

static snwResult PartBody(Limbs* l)
{
    snwPreparer* p = l->preparer;
    int n = p->body.vertexCount, total = n;
    int64_t room = 1, most = 1;

    // First counted: most bodies have nothing to part.
    CountCopies(l, &room, &most);
    if (room == p->body.tetCount + 1)
        return snw_ok; // ends of the edges hang together around it
    Copies copies = {.keys = snwPreparer_Alloc(p, 3 * most, sizeof *copies.keys),
        .copies = snwPreparer_Alloc(p, 3 * most, sizeof(int)),
        .roots = snwPreparer_Alloc(p, most, sizeof(int)),
        .sources = snwPreparer_Alloc(p, most, sizeof(int))};
    int(*tets)[4] = snwPreparer_Alloc(p, room, sizeof *tets);
    p->pieces = snwPreparer_Alloc(p, p->body.tetCount + 1, sizeof(int));
    p->whole = snwPreparer_Alloc(p, 1, sizeof *p->whole);
    if (p->arena.failed)
        return snwFailMemory(p->message);

    // The body as it was: points of the surface are still looked for in it.
    *p->whole = p->body;
    int made = PartTets(l, &copies, tets, p->pieces);
    snwResult result = JoinCopies(p, &copies);
    int* numbers = snwPreparer_Alloc(p, copies.count + 1, sizeof *numbers);
    snwVec3* vertices = snwPreparer_Alloc(p, n + copies.count + 1, sizeof *vertices);
    p->copies = snwPreparer_Alloc(p, n + copies.count + 1, sizeof *p->copies);
    if (p->arena.failed || result < 0)
        return snwFailMemory(p->message);

    // Copies that are the same place on the same side get one number, behind the old vertices.
    memcpy(vertices, p->body.vertices, (size_t)n * sizeof *vertices);
    for (int i = 0; i < copies.count; ++i)
    {
        if (snwPieces_Root(copies.roots, i) != i)
            continue; // a later one than its root
        numbers[i] = total;
        p->copies[total] = true;
        vertices[total++] = p->body.vertices[copies.sources[i]];
    }

    // Pieces name vertices of the parted body.
    for (int i = 0; i < 4 * made; ++i)
    {
        int* corner = &tets[i / 4][i % 4];
        *corner = *corner < n ? *corner : numbers[snwPieces_Root(copies.roots, *corner - n)];
    }

    snwPreparer_Note(p, "%d elements joined limbs that are apart and were parted", made - p->body.tetCount);
    p->body.vertices = vertices;
    p->body.vertexCount = total;
    p->body.tets = tets;
    p->body.tetCount = made;

    return snw_ok;
}

snwResult snwPreparer_PartLimbs(snwPreparer* p)
{
    Limbs l = {.preparer = p};
    int n = p->body.vertexCount, count = 0;
    if (p->rigCount < 2)
        return snw_ok;
    l.rows = snwPreparer_Alloc(p, (int64_t)n * p->rigCount + 1, sizeof(double));
    l.closest = snwPreparer_Alloc(p, n + 1, sizeof *l.closest);
    if (p->arena.failed || !LinkSurface(&l))
        return snwFailMemory(p->message);
    snwParallelFor(p->context, n, 64, FindClosestRange, &l);
    snwResult result = FindJoins(&l, &count);
    if (result >= 0 && count > 0)
        result = PartBody(&l);
    snwFree(p->context, l.edges);
    return result;
}
