// Half-edges that are flipped in place. A flip moves edges between slots, so slots on the stack may name another edge
// than the one that was pushed; that is harmless, since every flip pushes its whole quadrilateral again.

#include "geom/planar.h"

static void Link(snwPlanar* planar, int e, int f)
{
    planar->twin.data[e] = f;
    if (f >= 0)
        planar->twin.data[f] = e;
}

static void SetSide(snwPlanar* planar, int e, int vertex, int segment)
{
    planar->vertex.data[e] = vertex;
    planar->segment.data[e] = segment;
    planar->leaving.data[vertex] = e;
}

static int AddPlanarPoint(snwPlanar* planar, snwGridPoint point, int home)
{
    snwContext* c = planar->context;
    planar->failed |= !snwArray_Reserve(c, &planar->points, 1) || !snwArray_Reserve(c, &planar->leaving, 1) ||
                      !snwArray_Reserve(c, &planar->home, 1);
    if (planar->failed)
        return -1;
    planar->points.data[planar->points.count] = point;
    planar->home.data[planar->home.count++] = home;
    planar->leaving.data[planar->leaving.count++] = -1;
    return planar->points.count++;
}

// First half-edge of a new triangle without neighbours; -1 without memory.
static int AddHalfEdges(snwPlanar* planar, int count)
{
    snwContext* c = planar->context;
    int first = planar->vertex.count;
    planar->failed |= !snwArray_Reserve(c, &planar->vertex, 3 * count) ||
                      !snwArray_Reserve(c, &planar->twin, 3 * count) ||
                      !snwArray_Reserve(c, &planar->segment, 3 * count);
    if (planar->failed)
        return -1;
    for (int i = 0; i < 3 * count; ++i)
    {
        planar->vertex.data[planar->vertex.count++] = 0;
        planar->twin.data[planar->twin.count++] = -1;
        planar->segment.data[planar->segment.count++] = -1;
    }
    return first;
}

static void StackEdge(snwPlanar* planar, int e)
{
    if (!planar->failed && !snwArray_Push(planar->context, &planar->stack, e))
        planar->failed = true;
}

// The diagonal p q of the quadrilateral p, s, q, r becomes r s.
static void Flip(snwPlanar* planar, int e)
{
    int f = planar->twin.data[e], ep = snwPrevEdge(e), fp = snwPrevEdge(f);
    int r = planar->vertex.data[ep], s = planar->vertex.data[fp];
    int outerE = planar->twin.data[fp], outerF = planar->twin.data[ep];
    int segmentE = planar->segment.data[fp], segmentF = planar->segment.data[ep];
    SetSide(planar, e, s, segmentE);
    SetSide(planar, f, r, segmentF);
    planar->segment.data[ep] = planar->segment.data[fp] = -1;
    planar->leaving.data[planar->vertex.data[snwNextEdge(e)]] = snwNextEdge(e);
    planar->leaving.data[planar->vertex.data[snwNextEdge(f)]] = snwNextEdge(f);
    Link(planar, e, outerE);
    Link(planar, f, outerF);
    Link(planar, ep, fp);
}

static bool IsIllegal(const snwPlanar* planar, int e)
{
    int f = planar->twin.data[e];
    if (f < 0 || planar->segment.data[e] >= 0)
        return false;
    return snwInCircle(snwPlanar_Start(planar, e), snwPlanar_Start(planar, snwNextEdge(e)),
               snwPlanar_Start(planar, snwPrevEdge(e)), snwPlanar_Start(planar, snwPrevEdge(f))) > 0;
}

// Lawson's flips; with segments that stay they end in the constrained Delaunay triangulation.
static void Legalize(snwPlanar* planar)
{
    while (planar->stack.count > 0 && !planar->failed)
    {
        int e = planar->stack.data[--planar->stack.count];
        if (!IsIllegal(planar, e))
            continue;
        int f = planar->twin.data[e];
        Flip(planar, e);
        StackEdge(planar, e);
        StackEdge(planar, f);
        StackEdge(planar, snwNextEdge(e));
        StackEdge(planar, snwNextEdge(f));
    }
}

void snwPlanar_LegalizeAll(snwPlanar* planar)
{
    for (int e = 0; e < planar->vertex.count; ++e)
        StackEdge(planar, e);
    Legalize(planar);
}

void snwPlanar_StartSquare(snwPlanar* planar, int32_t half)
{
    const snwGridPoint corners[4] = {{-half, -half}, {half, -half}, {half, half}, {-half, half}};
    for (int i = 0; i < 4; ++i)
        AddPlanarPoint(planar, corners[i], -1);
    if (AddHalfEdges(planar, 2) < 0)
        return;
    const int sides[6] = {0, 1, 2, 0, 2, 3};
    for (int e = 0; e < 6; ++e)
        SetSide(planar, e, sides[e], -1);
    Link(planar, 2, 3);
}

void snwPlanar_Free(snwPlanar* planar)
{
    snwContext* c = planar->context;
    snwArray_Free(c, &planar->points);
    snwArray_Free(c, &planar->leaving);
    snwArray_Free(c, &planar->home);
    snwArray_Free(c, &planar->vertex);
    snwArray_Free(c, &planar->twin);
    snwArray_Free(c, &planar->segment);
    snwArray_Free(c, &planar->stack);
}

// ---------------------------------------------------------------------------------------------------------------------
// Searching

// The point in one triangle; sides that it is beyond are set in *beyond as bits.
static snwPlace PlaceIn(const snwPlanar* planar, snwGridPoint point, int triangle, int* edge, int* beyond)
{
    int zero = 0;
    *beyond = 0;
    *edge = 3 * triangle;

    // Exact signs on the grid.
    for (int k = 0; k < 3; ++k)
    {
        int e = 3 * triangle + k;
        int64_t side = snwOrient(snwPlanar_Start(planar, e), snwPlanar_Start(planar, snwNextEdge(e)), point);
        *beyond |= (side < 0) << k;
        zero |= (side == 0) << k;
    }

    // Inside, or on a side, or at the corner between two.
    if (*beyond != 0 || zero == 0)
        return *beyond != 0 ? snw_placeBeyond : snw_placeInside;
    for (int k = 0; k < 3; ++k)
        if ((zero >> k & 1) != 0)
        {
            *edge = 3 * triangle + k;
            // on this side and on the one before: on the corner between them
            if ((zero >> (k + 2) % 3 & 1) != 0)
                return snw_placeVertex;
        }

    return snw_placeEdge;
}

// Where walking goes round in circles, which constrained triangulations allow.
static snwPlace LocateSlowly(const snwPlanar* planar, snwGridPoint point, int* edge)
{
    int beyond;
    for (int t = 0; t < snwPlanar_TriangleCount(planar); ++t)
    {
        snwPlace place = PlaceIn(planar, point, t, edge, &beyond);
        if (place != snw_placeBeyond)
            return place;
    }
    *edge = 0;
    return snw_placeBeyond;
}

snwPlace snwPlanar_Locate(snwPlanar* planar, snwGridPoint point, int triangle, bool stop, int* edge)
{
    int from = -1, limit = 3 * snwPlanar_TriangleCount(planar) + 16;
    for (int step = 0; step < limit; ++step)
    {
        int beyond, wall = -1, next = -1;
        snwPlace place = PlaceIn(planar, point, triangle, edge, &beyond);
        planar->last = triangle;
        if (place != snw_placeBeyond)
            return place;

        // Out over any side that the point is beyond, but not back to where the walk came from.
        for (int k = 0; k < 3; ++k)
        {
            int e = 3 * triangle + (k + step) % 3; // not always the same side first, against circles
            if ((beyond >> e % 3 & 1) == 0)
                continue;
            if (planar->twin.data[e] < 0 || (stop && planar->segment.data[e] >= 0))
                wall = e;
            else if (e != from)
                next = e;
        }

        if (next < 0)
        {
            // a wall hides what is behind a bend; whoever does not stop at walls wants to know
            *edge = wall;
            return stop && wall >= 0 ? snw_placeBeyond : LocateSlowly(planar, point, edge);
        }

        from = planar->twin.data[next];
        triangle = from / 3;
    }

    return LocateSlowly(planar, point, edge);
}

int snwPlanar_FirstEdge(const snwPlanar* planar, int point)
{
    int first = planar->leaving.data[point], e = first;
    while (e >= 0)
    {
        int right = snwPlanar_TurnRight(planar, e);
        if (right < 0 || right == first)
            return e;
        e = right;
    }
    return first;
}

int snwPlanar_FindEdge(const snwPlanar* planar, int a, int b)
{
    int first = snwPlanar_FirstEdge(planar, a);
    for (int e = first; e >= 0;)
    {
        if (planar->vertex.data[snwNextEdge(e)] == b)
            return e;
        e = snwPlanar_TurnLeft(planar, e);
        if (e == first)
            break;
    }
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Points

int snwPlanar_AddInside(snwPlanar* planar, snwGridPoint point, int triangle)
{
    int p = AddPlanarPoint(planar, point, -1), first = p < 0 ? -1 : AddHalfEdges(planar, 2);
    if (first < 0)
        return -1;
    int e = 3 * triangle, vertices[3], twins[3], segments[3];
    int bases[3] = {e, first, first + 3};

    // What was around the triangle, before its slots are taken.
    for (int k = 0; k < 3; ++k)
    {
        vertices[k] = planar->vertex.data[e + k];
        twins[k] = planar->twin.data[e + k];
        segments[k] = planar->segment.data[e + k];
    }

    // Three triangles around the point, in the old slot and two new ones.
    for (int k = 0; k < 3; ++k)
    {
        int base = bases[k];
        SetSide(planar, base, vertices[k], segments[k]);
        SetSide(planar, base + 1, vertices[(k + 1) % 3], -1);
        SetSide(planar, base + 2, p, -1);
        Link(planar, base, twins[k]);
        StackEdge(planar, base);
    }

    // The three to each other; then Delaunay's rule, outwards from them.
    for (int k = 0; k < 3; ++k)
        Link(planar, bases[k] + 1, bases[(k + 1) % 3] + 2);
    Legalize(planar);
    return p;
}

// Cuts the triangle of e = (p, q, r) into (p, m, r), which keeps its slots, and (m, q, r); returns side m q.
static int CutTriangle(snwPlanar* planar, int e, int m, int fresh)
{
    int next = snwNextEdge(e), q = planar->vertex.data[next], r = planar->vertex.data[snwPrevEdge(e)];
    int outer = planar->twin.data[next], segment = planar->segment.data[next];
    SetSide(planar, fresh, m, planar->segment.data[e]);
    SetSide(planar, fresh + 1, q, segment);
    SetSide(planar, fresh + 2, r, -1);
    Link(planar, fresh + 1, outer);
    SetSide(planar, next, m, -1);
    Link(planar, next, fresh + 2);
    StackEdge(planar, fresh + 1);
    StackEdge(planar, snwPrevEdge(e));
    return fresh;
}

int snwPlanar_AddOnEdge(snwPlanar* planar, snwGridPoint point, int edge)
{
    int f = planar->twin.data[edge], m = AddPlanarPoint(planar, point, planar->segment.data[edge]);
    int first = m < 0 ? -1 : AddHalfEdges(planar, f < 0 ? 1 : 2);
    if (first < 0)
        return -1;
    int half = CutTriangle(planar, edge, m, first);
    planar->twin.data[half] = -1;
    if (f >= 0)
    {
        int other = CutTriangle(planar, f, m, first + 3);
        Link(planar, edge, other);
        Link(planar, half, f);
    }
    planar->leaving.data[planar->vertex.data[edge]] = edge;
    Legalize(planar);
    return m;
}

bool snwPlanar_CanSplit(const snwPlanar* planar, snwGridPoint point, int edge)
{
    int f = planar->twin.data[edge];
    snwGridPoint p = snwPlanar_Start(planar, edge), q = snwPlanar_Start(planar, snwNextEdge(edge));
    snwGridPoint r = snwPlanar_Start(planar, snwPrevEdge(edge));
    bool good = snwOrient(p, point, r) > 0 && snwOrient(point, q, r) > 0;
    if (good && f >= 0)
    {
        snwGridPoint s = snwPlanar_Start(planar, snwPrevEdge(f));
        good = snwOrient(q, point, s) > 0 && snwOrient(point, p, s) > 0;
    }
    return good;
}

// ---------------------------------------------------------------------------------------------------------------------
// Segments

typedef struct Crossing
{
    int a, b; // points; an edge keeps them when flips move it to another slot
} Crossing;

typedef snwArray(Crossing) Crossings;

// Turns around a until the sector is found through which b is seen. Returns the edge opposite a, or -1 with *through
// set to the point that lies in that direction (b itself, if it is a neighbour).
static int FindSector(const snwPlanar* planar, int a, int b, int* through)
{
    const snwGridPoint* points = planar->points.data;
    int first = snwPlanar_FirstEdge(planar, a);
    for (int e = first; e >= 0;)
    {
        int x = planar->vertex.data[snwNextEdge(e)], y = planar->vertex.data[snwPrevEdge(e)];

        // A point exactly in the direction of b ends the search.
        int64_t sideX = snwOrient(points[a], points[b], points[x]), sideY = snwOrient(points[a], points[b], points[y]);
        for (int k = 0; k < 2; ++k)
            if ((k == 0 ? sideX : sideY) == 0 && snwGridDot(points[a], points[b], points[k == 0 ? x : y]) > 0)
            {
                *through = k == 0 ? x : y;
                return -1;
            }

        if (sideX < 0 && sideY > 0)
            return snwNextEdge(e);
        e = snwPlanar_TurnLeft(planar, e);
        if (e == first)
            break;
    }

    *through = -1;
    return -1;
}

// The edges between a and b. False if a segment or a point is in the way.
static bool CollectEdges(snwPlanar* planar, int a, int b, Crossings* crossings, int* hitPoint, int* hitSegment)
{
    const snwGridPoint* points = planar->points.data;
    int e = FindSector(planar, a, b, hitPoint);
    if (e < 0)
    {
        bool there = *hitPoint == b;
        *hitPoint = there ? -1 : *hitPoint;
        return there;
    }

    // From edge to edge along the way from a to b; a segment or a point in it is reported.
    for (;;)
    {
        if (planar->segment.data[e] >= 0)
        {
            *hitSegment = planar->segment.data[e];
            return false;
        }

        Crossing crossing = {planar->vertex.data[e], planar->vertex.data[snwNextEdge(e)]};
        planar->failed |= !snwArray_Push(planar->context, crossings, crossing);
        int f = planar->twin.data[e], apex = planar->vertex.data[snwPrevEdge(f)];
        if (apex == b || planar->failed)
            return true;
        int64_t side = snwOrient(points[a], points[b], points[apex]);
        if (side == 0)
        {
            *hitPoint = apex;
            return false;
        }

        // crossing edges run from the right of a b to its left: the apex replaces the end on its own side
        e = side > 0 ? snwNextEdge(f) : snwPrevEdge(f);
    }
}

static bool CanFlip(const snwPlanar* planar, int e)
{
    int f = planar->twin.data[e];
    snwGridPoint p = snwPlanar_Start(planar, e), q = snwPlanar_Start(planar, f);
    snwGridPoint r = snwPlanar_Start(planar, snwPrevEdge(e)), s = snwPlanar_Start(planar, snwPrevEdge(f));
    return snwOrient(s, q, r) > 0 && snwOrient(r, p, s) > 0;
}

// Sloan 1993: flips crossing edges, putting back those that still cross, until none is left.
static void ClearCrossings(snwPlanar* planar, int a, int b, Crossings* crossings)
{
    const snwGridPoint* points = planar->points.data;
    for (int i = 0; i < crossings->count && !planar->failed; ++i)
    {
        // An edge that cannot be flipped yet (its quadrilateral is not convex) goes to the end of the list.
        Crossing edge = crossings->data[i];
        int e = snwPlanar_FindEdge(planar, edge.a, edge.b);
        if (!CanFlip(planar, e))
        {
            planar->failed |= !snwArray_Push(planar->context, crossings, edge);
            continue;
        }

        Flip(planar, e);
        int diagonal = snwPrevEdge(e), r = planar->vertex.data[diagonal], s = planar->vertex.data[e];
        for (int k = 0; k < 3; ++k)
        {
            StackEdge(planar, e / 3 * 3 + k);
            StackEdge(planar, planar->twin.data[diagonal] / 3 * 3 + k);
        }

        // Does the new diagonal still cross?
        int64_t sideR = snwOrient(points[a], points[b], points[r]), sideS = snwOrient(points[a], points[b], points[s]);
        if ((sideR > 0 && sideS < 0) || (sideR < 0 && sideS > 0))
            planar->failed |= !snwArray_Push(planar->context, crossings, ((Crossing){r, s}));
    }
}

bool snwPlanar_Force(snwPlanar* planar, int a, int b, int segment, int* hitPoint, int* hitSegment)
{
    Crossings crossings = {0};
    *hitPoint = *hitSegment = -1;
    bool clear = CollectEdges(planar, a, b, &crossings, hitPoint, hitSegment);

    // Edges out of the way, then the edge between a and b is marked on both sides, unless another segment is there
    // already.
    if (clear && !planar->failed)
    {
        ClearCrossings(planar, a, b, &crossings);
        int e = planar->failed ? -1 : snwPlanar_FindEdge(planar, a, b);
        if (e >= 0 && planar->segment.data[e] >= 0)
        {
            *hitSegment = planar->segment.data[e];
            clear = false;
        }
        else if (e >= 0)
        {
            planar->segment.data[e] = segment;
            planar->segment.data[planar->twin.data[e]] = segment;
        }

        Legalize(planar);
    }

    snwArray_Free(planar->context, &crossings);
    return clear;
}

// ---------------------------------------------------------------------------------------------------------------------
// Cutting out

static void MoveTriangle(snwPlanar* planar, const int* renumber, int from, int to, int drop)
{
    for (int k = 0; k < 3; ++k)
    {
        int twin = planar->twin.data[from + k];
        int kept = twin < 0 ? -1 : renumber[twin / 3];
        planar->vertex.data[to + k] = planar->vertex.data[from + k] - drop;
        planar->segment.data[to + k] = planar->segment.data[from + k];
        planar->twin.data[to + k] = kept < 0 ? -1 : 3 * kept + twin % 3;
    }
}

void snwPlanar_Cut(snwPlanar* planar, const bool* keep, int drop)
{
    int count = snwPlanar_TriangleCount(planar), kept = 0;
    int* renumber = snwAllocArray(planar->context, (size_t)count, sizeof *renumber);
    planar->failed |= renumber == NULL;
    if (planar->failed)
    {
        snwFree(planar->context, renumber);
        return;
    }

    // Triangles that stay move to the front, and lose neighbours that do not.
    for (int t = 0; t < count; ++t)
        renumber[t] = keep[t] ? kept++ : -1;
    for (int t = 0; t < count; ++t)
        if (keep[t])
            MoveTriangle(planar, renumber, 3 * t, 3 * renumber[t], drop);
    planar->vertex.count = planar->twin.count = planar->segment.count = 3 * kept;

    // So do points, without the first `drop`, which are the corners of the square.
    planar->points.count = planar->leaving.count = planar->home.count = planar->points.count - drop;

    for (int i = 0; i < planar->points.count; ++i)
    {
        planar->points.data[i] = planar->points.data[i + drop];
        planar->home.data[i] = planar->home.data[i + drop];
        planar->leaving.data[i] = -1;
    }

    for (int e = 0; e < planar->vertex.count; ++e)
        planar->leaving.data[planar->vertex.data[e]] = e;
    planar->last = 0;
    snwFree(planar->context, renumber);
}
