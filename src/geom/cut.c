// The lattice cut along the surface (Labelle and Shewchuk 2007): where each edge crosses it, and which vertices move
// on to it because a cut is too near them. A vertex moves only if the surface stays a manifold around it.

#include "geom/cut.h"
#include "base/sort.h"

#include <string.h>

// How near a cut may be to an end of its edge, as a share of the edge: in the lattice's tets of one size these keep
// all dihedral angles between 10.7 and 164.8 degrees (paper, table 1).
#define SNW_ALPHA_LONG  0.24999
#define SNW_ALPHA_SHORT 0.41189

enum
{
    snw_maxLink = 128 // tets at a vertex that is moved
};

typedef struct Cutter
{
    snwContext* context;
    const snwLatticeDef* def;
    snwCut* cut;
    snwMessage* message;
    int *firstTet, *vertexTets;      // tets of each vertex
    int *firstByOutside, *byOutside; // edges by their outer end
} Cutter;

static const int s_tetEdges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

// ---------------------------------------------------------------------------------------------------------------------
// Edges

static int CollectCrossings(const snwCut* cut, uint64_t* keys)
{
    int count = 0;
    for (int i = 0; i < cut->lattice.tetCount; ++i)
    {
        const int* tet = cut->lattice.tets[i];
        for (int e = 0; e < 6; ++e)
        {
            int a = tet[s_tetEdges[e][0]], b = tet[s_tetEdges[e][1]];
            if (cut->signs[a] == cut->signs[b])
                continue;
            if (keys != NULL)
                keys[count] = cut->signs[a] < 0 ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
            count++;
        }
    }
    return count;
}

static bool FindCutCrossings(Cutter* cutter)
{
    snwCut* cut = cutter->cut;

    // Several tets share an edge: sorted by its ends, the first of equals stays.
    int count = CollectCrossings(cut, NULL), points = cut->lattice.pointCount;
    uint64_t* keys = snwAllocArray(cutter->context, (size_t)count, sizeof *keys);
    int* values = snwAllocArray(cutter->context, (size_t)count, sizeof *values);
    cut->edges = snwAllocArray(cutter->context, (size_t)count, sizeof *cut->edges);
    cut->firstEdge = snwAllocArray(cutter->context, (size_t)points + 1, sizeof *cut->firstEdge);
    bool enough = keys != NULL && values != NULL && cut->edges != NULL && cut->firstEdge != NULL;
    if (enough)
        CollectCrossings(cut, keys);
    enough = enough && snwSortKeys(cutter->context, keys, values, count);

    for (int i = 0; enough && i < count; ++i)
    {
        if (i > 0 && keys[i] == keys[i - 1])
            continue;

        // In order of the inner ends, so a count per vertex gives the starts.
        cut->edges[cut->edgeCount++] = (snwCutEdge){(int)(keys[i] >> 32), (int)(uint32_t)keys[i], 0.5};
        cut->firstEdge[(keys[i] >> 32) + 1]++;
    }

    for (int i = 0; enough && i < points; ++i)
        cut->firstEdge[i + 1] += cut->firstEdge[i];
    snwFree(cutter->context, keys);
    snwFree(cutter->context, values);
    return enough;
}

// The Illinois method: halves the weight of an end that stays, so that no end stays for ever.
static double FindEdgeRoot(const Cutter* cutter, snwVec3 a, snwVec3 b, double valueA, double valueB)
{
    const snwSolid* solid = cutter->def->solid;
    double low = 0, high = 1, size = snwVec3_Distance(a, b), t = 0.5;

    // Vertices of a surface are put on to it again later.
    double tolerance = cutter->def->surfaceOnly ? 1e-2 : 2e-3;

    // A vertex on the surface counts as inside, if by next to nothing.
    valueA = fmin(valueA, -1e-12 * size);
    for (int i = 0; i < 20 && high - low > tolerance; ++i)
    {
        // Every fifth step halves: the surface of melted parts has kinks that false position creeps along.
        t = i % 5 == 4 ? 0.5 * (low + high) : low + (high - low) * valueA / (valueA - valueB);
        double value = solid->distance(snwVec3_Lerp(a, b, t), solid->data) - cutter->def->level;
        if (!isfinite(value))
            return NAN;
        if (fabs(value) < 0.1 * tolerance * size)
            break;
        if (value <= 0)
            low = t, valueA = value, valueB *= 0.5;
        else
            high = t, valueB = value, valueA *= 0.5;
    }

    return t;
}

static void FindCutsRange(int begin, int end, void* data)
{
    Cutter* cutter = data;
    snwCut* cut = cutter->cut;
    for (int i = begin; i < end; ++i)
    {
        snwCutEdge* edge = &cut->edges[i];
        edge->t = FindEdgeRoot(cutter, cut->positions[edge->inside], cut->positions[edge->outside],
            cut->lattice.values[edge->inside], cut->lattice.values[edge->outside]);
    }
}

static snwResult FindCuts(Cutter* cutter)
{
    snwCut* cut = cutter->cut;
    snwParallelFor(cutter->context, cut->edgeCount, 128, FindCutsRange, cutter);
    for (int i = 0; i < cut->edgeCount; ++i)
        if (!isfinite(cut->edges[i].t))
            return snwFailDistance(cutter->message, cut->positions[cut->edges[i].inside]);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is where

static bool ListCutTets(Cutter* cutter)
{
    const snwLattice* lattice = &cutter->cut->lattice;
    int* first = snwAllocArray(cutter->context, (size_t)lattice->pointCount + 2, sizeof *first);
    int* tets = snwAllocArray(cutter->context, 4 * (size_t)lattice->tetCount, sizeof *tets);
    cutter->firstTet = first, cutter->vertexTets = tets;
    if (first == NULL || tets == NULL)
        return false;
    // Counted two places further on, so that filling leaves the starts in place.
    for (int i = 0; i < 4 * lattice->tetCount; ++i)
        first[lattice->tets[i / 4][i % 4] + 2]++;
    for (int i = 0; i < lattice->pointCount; ++i)
        first[i + 2] += first[i + 1];
    for (int i = 0; i < 4 * lattice->tetCount; ++i)
        tets[first[lattice->tets[i / 4][i % 4] + 1]++] = i / 4;
    return true;
}

static bool ListEdgesByOutside(Cutter* cutter)
{
    const snwCut* cut = cutter->cut;
    int* first = snwAllocArray(cutter->context, (size_t)cut->lattice.pointCount + 2, sizeof *first);
    int* edges = snwAllocArray(cutter->context, (size_t)cut->edgeCount, sizeof *edges);
    cutter->firstByOutside = first, cutter->byOutside = edges;
    if (first == NULL || edges == NULL)
        return false;
    for (int i = 0; i < cut->edgeCount; ++i)
        first[cut->edges[i].outside + 2]++;
    for (int i = 0; i < cut->lattice.pointCount; ++i)
        first[i + 2] += first[i + 1];
    for (int i = 0; i < cut->edgeCount; ++i)
        edges[first[cut->edges[i].outside + 1]++] = i;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Would the surface still be a manifold?
//
// Around a vertex on the surface, the surface meets the vertex' link (a sphere of triangles) in curves. The surface is
// a disc there if that is one closed curve that does not touch itself.

typedef struct Curve
{
    uint64_t ends[snw_maxLink][2]; // segments; an end is an edge of the lattice or a vertex on the surface
    int count;
} Curve;

static uint64_t CurvePoint(int a, int b)
{
    return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}

// Segments along an edge of the link come from both sides of it and cancel.
static void ToggleSegment(Curve* curve, uint64_t a, uint64_t b)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    for (int i = 0; i < curve->count; ++i)
        if (curve->ends[i][0] == low && curve->ends[i][1] == high)
        {
            curve->count--;
            curve->ends[i][0] = curve->ends[curve->count][0], curve->ends[i][1] = curve->ends[curve->count][1];
            return;
        }
    curve->ends[curve->count][0] = low, curve->ends[curve->count][1] = high;
    curve->count++;
}

static void AddLinkTriangle(const signed char* signs, const int v[3], Curve* curve)
{
    int inside = 0, outside = 0, count = 0;
    uint64_t ends[3];
    for (int i = 0; i < 3; ++i)
    {
        int a = v[i], b = v[(i + 1) % 3];
        inside += signs[a]<0, outside += signs[a]> 0;
        if (signs[a] == 0)
            ends[count++] = CurvePoint(a, a);
        else if (signs[a] * signs[b] < 0)
            ends[count++] = CurvePoint(a, b);
    }
    if (inside > 0 && count == 2 && (outside > 0 || inside == 1))
        ToggleSegment(curve, ends[0], ends[1]);
}

static bool IsOneLoop(const Curve* curve)
{
    if (curve->count < 3)
        return false;
    // Walk from segment to segment; a point where not exactly two meet ends it.
    uint64_t start = curve->ends[0][0], at = curve->ends[0][1];
    int last = 0, length = 1;
    for (; at != start; ++length)
    {
        int next = -1;
        for (int i = 0; i < curve->count; ++i)
        {
            if (i == last || (curve->ends[i][0] != at && curve->ends[i][1] != at))
                continue;
            if (next >= 0)
                return false;
            next = i;
        }

        if (next < 0 || length > curve->count)
            return false;
        at = curve->ends[next][0] == at ? curve->ends[next][1] : curve->ends[next][0];
        last = next;
    }

    return length == curve->count;
}

static bool IsDisc(const Cutter* cutter, int vertex)
{
    const snwCut* cut = cutter->cut;
    int begin = cutter->firstTet[vertex], end = cutter->firstTet[vertex + 1];
    if (end - begin > snw_maxLink)
        return false;
    Curve curve = {.count = 0};
    for (int i = begin; i < end; ++i)
    {
        const int* tet = cut->lattice.tets[cutter->vertexTets[i]];
        int others[3], count = 0;
        for (int k = 0; k < 4; ++k)
            if (tet[k] != vertex)
                others[count++] = tet[k];
        AddLinkTriangle(cut->signs, others, &curve);
    }
    return IsOneLoop(&curve);
}

// With the sign of `vertex` already 0: it and all its neighbours on the surface.
static bool StaysManifold(const Cutter* cutter, int vertex)
{
    const snwCut* cut = cutter->cut;
    if (!IsDisc(cutter, vertex))
        return false;

    // The vertex itself is a disc. Is each of its neighbours on the surface still one?
    int seen[snw_maxLink], seenCount = 0;
    for (int i = cutter->firstTet[vertex]; i < cutter->firstTet[vertex + 1]; ++i)
        for (int k = 0; k < 4; ++k)
        {
            int other = cut->lattice.tets[cutter->vertexTets[i]][k], s = 0;
            if (cut->signs[other] != 0 || other == vertex)
                continue;

            while (s < seenCount && seen[s] != other)
                s++;
            if (s < seenCount)
                continue;
            if (seenCount == snw_maxLink || !IsDisc(cutter, other))
                return false;
            seen[seenCount++] = other;
        }

    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Moving vertices on to the surface

// Edges of the lattice of length 1 along an axis are long, those along the cell's diagonal short. The others, between
// cells of different size, are treated as the longer ones.
static double Alpha(const snwCut* cut, const snwCutEdge* edge)
{
    const int *a = cut->lattice.points[edge->inside].at, *b = cut->lattice.points[edge->outside].at;
    bool diagonal = a[0] != b[0] && a[1] != b[1] && a[2] != b[2];
    return diagonal ? SNW_ALPHA_SHORT : SNW_ALPHA_LONG;
}

// The nearest cut on an edge of the vertex that is too near to it, or -1.
static int FindViolation(const Cutter* cutter, int vertex)
{
    const snwCut* cut = cutter->cut;
    bool inside = cut->signs[vertex] < 0;
    const int* first = inside ? cut->firstEdge : cutter->firstByOutside;
    double nearest = 1;
    int found = -1;
    for (int i = first[vertex]; i < first[vertex + 1]; ++i)
    {
        int e = inside ? i : cutter->byOutside[i];
        const snwCutEdge* edge = &cut->edges[e];
        if (cut->signs[inside ? edge->outside : edge->inside] == 0)
            continue;
        double share = inside ? edge->t : 1 - edge->t;
        if (share < Alpha(cut, edge) && share < nearest)
            nearest = share, found = e;
    }
    return found;
}

// True if a vertex had to stay.
static bool MoveCutVertices(Cutter* cutter)
{
    snwCut* cut = cutter->cut;
    bool refused = false;
    for (int i = 0; i < cut->lattice.pointCount; ++i)
    {
        int violation = cut->signs[i] == 0 ? -1 : FindViolation(cutter, i);
        if (violation < 0)
            continue;
        signed char before = cut->signs[i];
        cut->signs[i] = 0;
        if (StaysManifold(cutter, i))
            cut->positions[i] = snwCut_Position(cut, cut->lattice.pointCount + violation);
        else
            cut->signs[i] = before, refused = true;
    }
    return refused;
}

static void KeepCutsApart(snwCut* cut)
{
    for (int i = 0; i < cut->edgeCount; ++i)
    {
        double alpha = Alpha(cut, &cut->edges[i]);
        cut->edges[i].t = fmin(fmax(cut->edges[i].t, alpha), 1 - alpha);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult MakeCut(Cutter* cutter)
{
    snwCut* cut = cutter->cut;
    size_t points = (size_t)cut->lattice.pointCount;
    cut->positions = snwAllocArray(cutter->context, points, sizeof *cut->positions);
    cut->signs = snwAllocArray(cutter->context, points, sizeof *cut->signs);
    if (cut->positions == NULL || cut->signs == NULL)
        return snwFailMemory(cutter->message);

    // On the surface counts as inside.
    for (int i = 0; i < cut->lattice.pointCount; ++i)
    {
        cut->positions[i] = snwLattice_Position(&cut->lattice, i);
        cut->signs[i] = cut->lattice.values[i] <= 0 ? -1 : 1;
    }

    if (!FindCutCrossings(cutter) || !ListCutTets(cutter) || !ListEdgesByOutside(cutter))
        return snwFailMemory(cutter->message);
    snwResult result = FindCuts(cutter);
    if (result < 0)
        return result;

    // What was refused may be possible once the neighbours have moved.
    for (int i = 0; i < 3 && MoveCutVertices(cutter); ++i)
        continue;
    KeepCutsApart(cut);
    return snw_ok;
}

snwResult snwCut_Create(snwContext* context, const snwLatticeDef* def, snwCut* cut, snwMessage* message)
{
    *cut = (snwCut){0};
    snwResult result = snwLattice_Create(context, def, &cut->lattice, message);
    if (result < 0)
        return result;
    Cutter cutter = {.context = context, .def = def, .cut = cut, .message = message};
    result = MakeCut(&cutter);
    snwFree(context, cutter.firstTet);
    snwFree(context, cutter.vertexTets);
    snwFree(context, cutter.firstByOutside);
    snwFree(context, cutter.byOutside);
    if (result < 0)
        snwCut_Free(context, cut);
    return result;
}

void snwCut_Free(snwContext* context, snwCut* cut)
{
    snwLattice_Free(context, &cut->lattice);
    snwFree(context, cut->positions);
    snwFree(context, cut->signs);
    snwFree(context, cut->edges);
    snwFree(context, cut->firstEdge);
    *cut = (snwCut){0};
}

int snwCut_EdgeVertex(const snwCut* cut, int inside, int outside)
{
    int i = cut->firstEdge[inside];
    while (cut->edges[i].outside != outside)
        i++;
    return cut->lattice.pointCount + i;
}

snwVec3 snwCut_Position(const snwCut* cut, int vertex)
{
    if (vertex < cut->lattice.pointCount)
        return cut->positions[vertex];
    const snwCutEdge* edge = &cut->edges[vertex - cut->lattice.pointCount];
    return snwVec3_Lerp(cut->positions[edge->inside], cut->positions[edge->outside], edge->t);
}

void snwCut_IdealPlace(const snwCut* cut, int vertex, int64_t place[3])
{
    bool onEdge = vertex >= cut->lattice.pointCount;
    const snwCutEdge* edge = onEdge ? &cut->edges[vertex - cut->lattice.pointCount] : NULL;
    const int* a = cut->lattice.points[onEdge ? edge->inside : vertex].at;
    const int* b = cut->lattice.points[onEdge ? edge->outside : vertex].at;
    for (int k = 0; k < 3; ++k)
        place[k] = (int64_t)a[k] + b[k];
}

void snwCut_SortCorners(
    const snwCut* cut, const int tet[4], int in[4], int* inCount, int out[4], int* outCount, int on[4], int* onCount)
{
    *inCount = *outCount = *onCount = 0;
    for (int k = 0; k < 4; ++k)
    {
        if (cut->signs[tet[k]] < 0)
            in[(*inCount)++] = tet[k];
        else if (cut->signs[tet[k]] > 0)
            out[(*outCount)++] = tet[k];
        else
            on[(*onCount)++] = tet[k];
    }
}
