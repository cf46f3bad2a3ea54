// Edges wait in a heap by the cost of equation 4.1. After a collapse every edge around the new vertex has another cost
// and is put in again; an entry whose cost is no longer the edge's is old and thrown away when it comes up. Ties fall
// to the lower vertices, so the result depends on the surface alone.
//
// The rim of an open surface stays: no edge with an end on it collapses.

#include "asset/decimate_angle.h"

#include "base/array.h"
#include "math/vec.h"

#include <math.h>

typedef struct Entry
{
    double cost;
    int a, b;
} Entry;

typedef struct Collapser
{
    snwContext* context;
    const snwDecimateDef* def;
    double size;
    snwVec3* positions;
    int (*triangles)[3];
    int* targets;
    int *first, *last, *next; // corners (3 triangle + k) of each vertex, as a list
    snwArray(Entry) heap;
    bool failed;
} Collapser;

enum
{
    snw_maxCollapseRing = 64 // neighbours of an edge that may collapse
};

// ---------------------------------------------------------------------------------------------------------------------
// The heap

static bool IsCheaper(const Entry* x, const Entry* y)
{
    if (x->cost != y->cost)
        return x->cost < y->cost;
    return x->a != y->a ? x->a < y->a : x->b < y->b;
}

static void PushEntry(Collapser* c, Entry entry)
{
    if (!snwArray_Push(c->context, &c->heap, entry))
    {
        c->failed = true;
        return;
    }
    Entry* heap = c->heap.data;
    int i = c->heap.count - 1;
    for (; i > 0 && IsCheaper(&entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = entry;
}

static Entry Pop(Collapser* c)
{
    Entry *heap = c->heap.data, top = heap[0], moved = heap[--c->heap.count];
    int i = 0, count = c->heap.count;
    for (int child = 1; child < count; child = 2 * i + 1)
    {
        child += child + 1 < count && IsCheaper(&heap[child + 1], &heap[child]);
        if (!IsCheaper(&heap[child], &moved))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
    return top;
}

// ---------------------------------------------------------------------------------------------------------------------
// Edges

static snwVec3 Normal(const Collapser* c, const int t[3])
{
    snwVec3 a = c->positions[t[0]];
    return snwVec3_Cross(snwVec3_Sub(c->positions[t[1]], a), snwVec3_Sub(c->positions[t[2]], a));
}

static bool HasCorner(const int t[3], int vertex)
{
    return t[0] == vertex || t[1] == vertex || t[2] == vertex;
}

// The living triangles of vertex a that have b, too: at most three are told.
static int FindSides(const Collapser* c, int a, int b, int sides[3])
{
    int count = 0;
    for (int corner = c->first[a]; corner >= 0 && count < 3; corner = c->next[corner])
    {
        const int* t = c->triangles[corner / 3];
        if (t[0] >= 0 && HasCorner(t, b))
            sides[count++] = corner / 3;
    }
    return count;
}

// Equation 4.1; INFINITY if the edge has not two triangles.
static double Cost(const Collapser* c, int a, int b)
{
    int sides[3];
    if (FindSides(c, a, b, sides) != 2)
        return INFINITY;
    snwVec3 m1 = snwVec3_Normalize(Normal(c, c->triangles[sides[0]]));
    snwVec3 m2 = snwVec3_Normalize(Normal(c, c->triangles[sides[1]]));
    double cosine = fmin(fmax(snwVec3_Dot(m1, m2), -1), 1);
    double length = snwVec3_Distance(c->positions[a], c->positions[b]) / c->size;
    return c->def->angleWeight * acos(cosine) + c->def->edgeWeight * length;
}

static void PushEdge(Collapser* c, int a, int b)
{
    Entry entry = {Cost(c, a < b ? a : b, a < b ? b : a), a < b ? a : b, a < b ? b : a};
    if (a != b && isfinite(entry.cost))
        PushEntry(c, entry);
}

static void PushAround(Collapser* c, int vertex)
{
    for (int corner = c->first[vertex]; corner >= 0; corner = c->next[corner])
    {
        const int* t = c->triangles[corner / 3];
        for (int k = 0; k < 3 && t[0] >= 0; ++k)
            PushEdge(c, t[k], t[(k + 1) % 3]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// May it collapse?

// The vertices around; false if there are too many or an edge to one of them has not two triangles (a rim).
static bool ListRing(const Collapser* c, int vertex, int ring[snw_maxCollapseRing], int* count)
{
    *count = 0;

    // Corners of a vertex are a list; each triangle adds the vertices that are not there yet.
    for (int corner = c->first[vertex]; corner >= 0; corner = c->next[corner])
    {
        const int* t = c->triangles[corner / 3];
        for (int k = 0; k < 3 && t[0] >= 0; ++k)
        {
            int other = t[k], i = 0, sides[3];
            while (i < *count && ring[i] != other)
                i++;

            if (other == vertex || i < *count)
                continue;
            if (*count == snw_maxCollapseRing || FindSides(c, vertex, other, sides) != 2)
                return false;
            ring[(*count)++] = other;
        }
    }

    return true;
}

// Two vertices in common, the tips of the edge's triangles: else the surface would be pinched (link condition).
static bool KeepsTopology(const Collapser* c, int a, int b)
{
    int ringA[snw_maxCollapseRing], ringB[snw_maxCollapseRing], countA, countB, common = 0;
    if (!ListRing(c, a, ringA, &countA) || !ListRing(c, b, ringB, &countB) || countA + countB <= 8)
        return false;
    for (int i = 0; i < countA; ++i)
        for (int k = 0; k < countB; ++k)
            common += ringA[i] == ringB[k];
    return common == 2;
}

// No triangle that stays turns by much more than a right angle or loses its area.
static bool KeepsSides(const Collapser* c, int vertex, int other, snwVec3 place)
{
    for (int corner = c->first[vertex]; corner >= 0; corner = c->next[corner])
    {
        const int* t = c->triangles[corner / 3];
        if (t[0] < 0 || HasCorner(t, other))
            continue;
        snwVec3 before = Normal(c, t), p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = t[k] == vertex ? place : c->positions[t[k]];
        snwVec3 after = snwVec3_Cross(snwVec3_Sub(p[1], p[0]), snwVec3_Sub(p[2], p[0]));
        if (snwVec3_Dot(before, after) <= 0.2 * snwVec3_Length(before) * snwVec3_Length(after) ||
            snwVec3_Length(after) < 1e-3 * snwVec3_Length(before))
            return false;
    }
    return true;
}

// b becomes a, in the middle. Returns the triangles that are gone, 0: it may not.
static int Collapse(Collapser* c, int a, int b)
{
    snwVec3 middle = snwVec3_Lerp(c->positions[a], c->positions[b], 0.5);
    if (!KeepsTopology(c, a, b) || !KeepsSides(c, a, b, middle) || !KeepsSides(c, b, a, middle))
        return 0;
    int gone = 0;

    // Triangles of the edge itself vanish, the others of b now meet in a.
    for (int corner = c->first[b]; corner >= 0; corner = c->next[corner])
    {
        int* t = c->triangles[corner / 3];
        if (t[0] < 0)
            continue;
        if (HasCorner(t, a))
            t[0] = -1, gone++;
        else
            t[t[0] == b ? 0 : t[1] == b ? 1 : 2] = a;
    }

    // Both lists of corners become one.
    c->next[c->last[a]] = c->first[b];
    c->last[a] = c->last[b];
    c->first[b] = c->last[b] = -1;
    c->positions[a] = middle;
    c->targets[b] = a;
    PushAround(c, a);

    return gone;
}

// ---------------------------------------------------------------------------------------------------------------------

static bool StartCollapser(Collapser* c)
{
    int vertices = c->def->faces.vertexCount, triangles = c->def->faces.triangleCount;
    c->first = snwAllocArray(c->context, (size_t)vertices, sizeof *c->first);
    c->last = snwAllocArray(c->context, (size_t)vertices, sizeof *c->last);
    c->next = snwAllocArray(c->context, 3 * (size_t)triangles, sizeof *c->next);
    if (c->first == NULL || c->last == NULL || c->next == NULL)
        return false;
    for (int i = 0; i < vertices; ++i)
        c->first[i] = c->last[i] = -1, c->targets[i] = i;

    // Corners of each vertex in the order of triangles.
    for (int i = 0; i < 3 * triangles; ++i)
    {
        int vertex = c->triangles[i / 3][i % 3];
        c->next[i] = -1;
        *(c->last[vertex] < 0 ? &c->first[vertex] : &c->next[c->last[vertex]]) = i;
        c->last[vertex] = i;
    }

    // Every edge once, from its lower end.
    for (int i = 0; i < 3 * triangles && !c->failed; ++i)
        if (c->triangles[i / 3][i % 3] < c->triangles[i / 3][(i % 3 + 1) % 3])
            PushEdge(c, c->triangles[i / 3][i % 3], c->triangles[i / 3][(i % 3 + 1) % 3]);
    return !c->failed;
}

int snwCollapseByAngle(snwContext* context, const snwDecimateDef* def, const snwCollapse* collapse)
{
    Collapser c = {.context = context,
        .def = def,
        .size = collapse->size,
        .positions = collapse->positions,
        .triangles = collapse->triangles,
        .targets = collapse->targets};
    int left = def->faces.triangleCount;
    bool enough = StartCollapser(&c);

    // The cheapest edge that still has the cost it was put in with.
    while (enough && !c.failed && left > def->triangles && c.heap.count > 0)
    {
        Entry entry = Pop(&c);
        if (c.first[entry.a] >= 0 && c.first[entry.b] >= 0 && Cost(&c, entry.a, entry.b) == entry.cost)
            left -= Collapse(&c, entry.a, entry.b);
    }

    snwFree(context, c.first);
    snwFree(context, c.last);
    snwFree(context, c.next);
    snwArray_Free(context, &c.heap);

    return enough && !c.failed ? left : -1;
}
