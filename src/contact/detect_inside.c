// Ways out that neighbours agree on (Heidelberger, Teschner, Keiser, Mueller, Gross 2004, "Consistent penetration depth
// estimation for deformable collision response").
//
// The nearest point of the surface is a poor way out once an overlap is deep: vertices on either side of the middle are
// sent in opposite directions, and the bodies lock. So directions are found where they are certain, at the border of
// the overlap, and passed on inwards:
//   1. A vertex inside with a neighbour on its skin outside: the edge between them leaves the other body somewhere,
//      and the normals there, weighted by 1 / distance^2, give the direction (their equations 1 and 2). A vertex that
//      came in during this step leaves by the facet it came through.
//   2. Round by round, a vertex next to ones with directions takes their mean, weighted likewise (equation 4).
//   3. Vertices that no round reaches - a body wholly inside another - take the way of the one among them that is
//      nearest to the surface.
//   4. Where rounds from opposite borders meet, neighbours disagree by what the borders do, up to half a turn (the
//      paper leaves it so; two balls that overlap by half: 103 degrees). A few sweeps towards the neighbours' mean
//      spread that over the overlap (the balls: 12).
// Unlike the paper the depth is not passed on too: the facet where a vertex leaves is wanted anyway, and the ray to it
// gives the depth exactly.

#include "contact/detect_parts.h"

#include <float.h>

enum
{
    snw_maxRays = 32, // neighbours of a vertex beyond these are not asked for directions
    snw_roundWaiting = -2,
    snw_smoothSweeps = 16
};

typedef struct Exit
{
    int facet; // -1: none
    double time;
    double weights[3];
} Exit;

static const snwPart* OtherPart(const snwDetector* detector, const snwHit* hit)
{
    return &detector->parts[hit->overlap.otherBody];
}

static snwVec3 NowOf(const snwDetector* detector, int body, int vertex)
{
    return snwPart_Point(detector->parts[body].now, vertex);
}

static snwVec3 PointOfHit(const snwDetector* detector, const snwHit* hit)
{
    return NowOf(detector, hit->overlap.body, hit->overlap.vertex);
}

// A facet right beside the vertex on its own body is no way out.
static bool IsOwn(const snwDetector* detector, const snwHit* hit, int facet)
{
    const snwOverlap* o = &hit->overlap;
    const snwShell* shell = detector->parts[o->body].shell;
    return o->body == o->otherBody && snwShell_RestDistance(shell, o->vertex, facet) <= shell->reach[o->vertex];
}

static void TryFacet(
    const snwDetector* detector, const snwHit* hit, int i, const snwFacet* facet, snwVec3 direction, Exit* exit)
{
    double time = exit->time, weights[3];
    if (!snwFacet_Leaves(facet, PointOfHit(detector, hit), direction, &time, weights) || IsOwn(detector, hit, i))
        return;
    if (time < exit->time || exit->facet < 0 || i < exit->facet)
        *exit = (Exit){i, time, {weights[0], weights[1], weights[2]}};
}

// Rays from one vertex, and where each first leaves the other body, at times up to what their exits say.
typedef struct Rays
{
    snwVec3 directions[snw_maxRays];
    Exit exits[snw_maxRays];
    int count;
} Rays;

static void TryLeaf(const snwDetector* detector, const snwHit* hit, int leaf, Rays* rays)
{
    const snwPart* other = OtherPart(detector, hit);
    int end = (leaf + 1) * snw_leafFacets;
    for (int i = leaf * snw_leafFacets; i < end && i < other->shell->facetCount; ++i)
    {
        snwFacet facet = snwPart_Facet(other, other->now, i);
        snwVec3 normal = snwFacet_AreaNormal(&facet);
        double height = -snwVec3_Dot(normal, snwVec3_Sub(PointOfHit(detector, hit), facet.p[0]));
        // Most facets have the point in front of them, or are farther than any ray is long.
        for (int k = 0; k < rays->count && height >= 0.0; ++k)
            if (height <= rays->exits[k].time * snwVec3_Dot(normal, rays->directions[k]))
                TryFacet(detector, hit, i, &facet, rays->directions[k], &rays->exits[k]);
    }
}

static void AddPointToBox(snwBox* box, snwVec3 p)
{
    snwBox_Add(box, (const float[]){(float)p.x, (float)p.y, (float)p.z});
}

// One walk for all rays: they start together and end near each other. `begin`: what comes before is known to be free.
static void FindRayExits(const snwDetector* detector, const snwHit* hit, double begin, Rays* rays)
{
    snwVec3 p = PointOfHit(detector, hit);
    snwBox box = snwBox_Empty();
    for (int k = 0; k < rays->count; ++k)
    {
        AddPointToBox(&box, snwVec3_MulAdd(p, begin, rays->directions[k]));
        AddPointToBox(&box, snwVec3_MulAdd(p, rays->exits[k].time, rays->directions[k]));
    }
    box = snwBox_Grow(box, 1e-6 * OtherPart(detector, hit)->shell->edge);
    snwBoxWalk walk;
    snwBoxWalk_Start(&walk, &OtherPart(detector, hit)->facets, &box);
    for (int leaf = snwBoxWalk_Next(&walk); leaf >= 0; leaf = snwBoxWalk_Next(&walk))
        TryLeaf(detector, hit, leaf, rays);
}

// Along a ray of unit direction: in pieces that grow, so that a vertex near the surface looks no farther.
static Exit FindRayExit(const snwDetector* detector, const snwHit* hit, snwVec3 direction)
{
    const snwPart* other = OtherPart(detector, hit);
    double whole = 0.0, begin = 0.0, piece = 2.0 * other->shell->edge;
    for (int k = 0; k < 3; ++k)
        whole += (double)other->bounds.upper[k] - other->bounds.lower[k];
    Rays ray = {.directions = {direction}, .exits = {{.facet = -1}}, .count = 1};
    for (; ray.exits[0].facet < 0 && begin < whole; begin += piece, piece *= 2.0)
    {
        ray.exits[0].time = begin + piece;
        FindRayExits(detector, hit, begin, &ray);
    }
    return ray.exits[0];
}

static Exit FindClosest(const snwDetector* detector, const snwHit* hit, snwVec3* point)
{
    const snwPart* other = OtherPart(detector, hit);
    snwVec3 p = PointOfHit(detector, hit);
    Exit exit = {.facet = -1};
    double squared = DBL_MAX;
    snwNearWalk walk;

    // The nearest facet that is not the vertex's own; of equally near ones the first, so that the order of the walk
    // does not count.
    snwNearWalk_Start(&walk, &other->facets, p, &squared);

    for (int leaf = snwNearWalk_Next(&walk); leaf >= 0; leaf = snwNearWalk_Next(&walk))
    {
        int end = (leaf + 1) * snw_leafFacets;
        for (int i = leaf * snw_leafFacets; i < end && i < other->shell->facetCount; ++i)
        {
            snwFacet facet = snwPart_Facet(other, other->now, i);
            snwFacetPoint on = snwFacet_Closest(&facet, p);
            bool nearer = on.squared < squared || (on.squared == squared && i < exit.facet);
            if (!nearer || IsOwn(detector, hit, i))
                continue;
            squared = on.squared;
            *point = on.point;
            exit = (Exit){i, sqrt(on.squared), {on.weights[0], on.weights[1], on.weights[2]}};
        }
    }

    return exit;
}

// ---------------------------------------------------------------------------------------------------------------------
// Directions

// The hit of a vertex with the same two bodies; -1 if it has nothing to do with the other body.
static int FindHit(const snwDetector* detector, const snwHit* hit, int vertex)
{
    int low = hit->begin, high = hit->end;
    while (low < high)
    {
        int middle = (low + high) / 2;
        if (detector->sorted[middle].overlap.vertex < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < hit->end && detector->sorted[low].overlap.vertex == vertex ? low : -1;
}

static snwVec3 FacetNormal(const snwDetector* detector, const snwHit* hit, int facet)
{
    const snwPart* other = OtherPart(detector, hit);
    snwFacet at = snwPart_Facet(other, other->now, facet);
    return snwFacet_Normal(&at);
}

static void SetDirection(snwHit* hit, snwVec3 sum, int round)
{
    if (!(snwVec3_LengthSquared(sum) > 0.0))
        return;
    hit->overlap.normal = snwVec3_Normalize(sum);
    hit->round = round;
}

// Edges of the skin from a vertex inside to its neighbours outside.
static void ListWaysOut(const snwDetector* detector, const snwHit* hit, Rays* rays)
{
    const snwShell* shell = detector->parts[hit->overlap.body].shell;
    snwVec3 p = PointOfHit(detector, hit);
    int begin = shell->neighbourStarts[hit->overlap.vertex], end = shell->neighbourStarts[hit->overlap.vertex + 1];
    rays->count = 0;
    for (int i = begin; i < end && rays->count < snw_maxRays; ++i)
    {
        int found = FindHit(detector, hit, shell->neighbours[i]);
        if (found >= 0 && detector->sorted[found].kind != snw_hitGap)
            continue;
        rays->directions[rays->count] = snwVec3_Sub(NowOf(detector, hit->overlap.body, shell->neighbours[i]), p);
        rays->exits[rays->count++] = (Exit){.facet = -1, .time = 1.0};
    }
}

// Step 1, for one vertex.
static void Seed(const snwDetector* detector, snwHit* hit)
{
    double edge = detector->parts[hit->overlap.body].shell->edge, nothing = 1e-12 * edge * edge;
    snwVec3 sum = {0, 0, 0};
    Rays rays;
    ListWaysOut(detector, hit, &rays);
    if (rays.count > 0)
        FindRayExits(detector, hit, 0.0, &rays);
    for (int k = 0; k < rays.count; ++k)
    {
        const Exit* exit = &rays.exits[k];
        if (exit->facet < 0)
            continue;
        double squared = exit->time * exit->time * snwVec3_LengthSquared(rays.directions[k]) + nothing;
        sum = snwVec3_MulAdd(sum, 1.0 / squared, FacetNormal(detector, hit, exit->facet));
    }
    SetDirection(hit, sum, 0);
}

static void SeedHits(int begin, int end, void* data)
{
    snwDetector* detector = data;
    for (int i = begin; i < end; ++i)
    {
        snwHit* hit = &detector->sorted[i];
        if (hit->kind == snw_hitCrossed)
            hit->round = 0;
        else if (hit->kind == snw_hitInside)
            Seed(detector, hit);
    }
}

// Sum of the directions of neighbours that have them from before this round, weighted by 1 / distance^2.
static snwVec3 NeighbourSum(const snwDetector* detector, const snwHit* hit, int round)
{
    const snwShell* shell = detector->parts[hit->overlap.body].shell;
    snwVec3 p = PointOfHit(detector, hit), sum = {0, 0, 0};
    double nothing = 1e-12 * shell->edge * shell->edge;
    int vertex = hit->overlap.vertex;
    for (int i = shell->neighbourStarts[vertex]; i < shell->neighbourStarts[vertex + 1]; ++i)
    {
        int found = FindHit(detector, hit, shell->neighbours[i]);
        const snwHit* other = found >= 0 ? &detector->sorted[found] : NULL;
        if (other == NULL || other->kind == snw_hitGap || other->round < 0 || other->round >= round)
            continue;
        double squared = snwVec3_LengthSquared(snwVec3_Sub(PointOfHit(detector, other), p)) + nothing;
        sum = snwVec3_MulAdd(sum, 1.0 / squared, other->overlap.normal);
    }
    return sum;
}

// Adds the neighbours of a hit that wait for a direction to the queue, once each: `waiting` becomes their round.
static int Enqueue(snwDetector* detector, const snwHit* hit, int tail, int waiting)
{
    const snwShell* shell = detector->parts[hit->overlap.body].shell;
    int vertex = hit->overlap.vertex;
    for (int i = shell->neighbourStarts[vertex]; i < shell->neighbourStarts[vertex + 1]; ++i)
    {
        int found = FindHit(detector, hit, shell->neighbours[i]);
        if (found < 0 || detector->sorted[found].kind != snw_hitInside || detector->sorted[found].round != -1)
            continue;
        detector->sorted[found].round = waiting;
        detector->queue[tail++] = found;
    }
    return tail;
}

// The queue holds hits with directions from `head` to `tail`; theirs spread over everything that hangs together.
static void SpreadDirections(snwDetector* detector, int head, int tail)
{
    for (int round = 1; head < tail; ++round)
    {
        int end = tail;
        for (int i = head; i < end; ++i)
            tail = Enqueue(detector, &detector->sorted[detector->queue[i]], tail, snw_roundWaiting);
        for (int i = end; i < tail; ++i)
        {
            snwHit* hit = &detector->sorted[detector->queue[i]]; // step 2
            SetDirection(hit, NeighbourSum(detector, hit, round), round);
        }
        head = end;
    }
}

// Step 3: all that hang together with `first`, and no direction among them.
static void ResolveIsland(snwDetector* detector, int first)
{
    int begin = detector->sorted[first].begin, tail = begin, best = first;
    double nearest = DBL_MAX;
    snwVec3 way = {0, 0, 0};

    // Breadth first over neighbours; all of the island leave by the way of the one that is nearest to the surface.
    detector->sorted[first].round = snw_roundWaiting;
    detector->queue[tail++] = first;
    for (int i = begin; i < tail; ++i)
    {
        snwHit* hit = &detector->sorted[detector->queue[i]];
        snwVec3 point = {0, 0, 0};
        Exit exit = FindClosest(detector, hit, &point);
        tail = Enqueue(detector, hit, tail, snw_roundWaiting);
        if (exit.facet < 0 || exit.time > nearest || (exit.time == nearest && detector->queue[i] > best))
            continue;
        nearest = exit.time;
        best = detector->queue[i];
        way = snwVec3_Sub(point, PointOfHit(detector, hit));

        // On the facet itself: there is no way, so its normal serves.
        if (!(snwVec3_Length(way) > 1e-6 * OtherPart(detector, hit)->shell->edge))
            way = FacetNormal(detector, hit, exit.facet);
    }

    for (int i = begin; i < tail; ++i)
        SetDirection(&detector->sorted[detector->queue[i]], way, 0);
}

// Step 4. One after the other, there and back: no copy is needed and the order is always the same. The fewer rounds it
// took, the fewer sweeps it takes.
static void SmoothDirections(snwDetector* detector, int begin, int end)
{
    int rounds = 0;
    for (int i = begin; i < end; ++i)
        rounds = detector->sorted[i].round > rounds ? detector->sorted[i].round : rounds;
    for (int sweep = 0; sweep < 4 * rounds && sweep < snw_smoothSweeps; ++sweep)
        for (int k = 0; k < end - begin; ++k)
        {
            snwHit* hit = &detector->sorted[sweep % 2 == 0 ? begin + k : end - 1 - k];
            if (hit->kind != snw_hitInside || hit->round < 0)
                continue;
            snwVec3 mean = snwVec3_Normalize(NeighbourSum(detector, hit, INT32_MAX));
            SetDirection(hit, snwVec3_Add(hit->overlap.normal, mean), hit->round);
        }
}

static void ResolveGroup(snwDetector* detector, int begin, int end)
{
    int tail = begin;
    for (int i = begin; i < end; ++i)
        if (detector->sorted[i].kind != snw_hitGap && detector->sorted[i].round == 0)
            detector->queue[tail++] = i;
    SpreadDirections(detector, begin, tail);
    for (int i = begin; i < end; ++i)
        if (detector->sorted[i].kind == snw_hitInside && detector->sorted[i].round == -1)
            ResolveIsland(detector, i);
    SmoothDirections(detector, begin, end);
}

// Chunks start anywhere; whoever has the first hit of a group does the group.
static void ResolveGroups(int begin, int end, void* data)
{
    snwDetector* detector = data;
    for (int i = begin; i < end; ++i)
        if (detector->sorted[i].begin == i)
            ResolveGroup(detector, i, detector->sorted[i].end);
}

// ---------------------------------------------------------------------------------------------------------------------
// Ways out

// Without a direction, or where its ray meets nothing: the nearest point of the skin.
static Exit LeaveNearest(const snwDetector* detector, snwHit* hit)
{
    snwVec3 p = PointOfHit(detector, hit), point = p;
    Exit exit = FindClosest(detector, hit, &point);
    snwVec3 way = snwVec3_Sub(point, p);
    bool clear = snwVec3_Length(way) > 1e-6 * OtherPart(detector, hit)->shell->edge;
    if (exit.facet >= 0)
        hit->overlap.normal = clear ? snwVec3_Normalize(way) : FacetNormal(detector, hit, exit.facet);
    return exit;
}

static void LeaveFlesh(const snwDetector* detector, snwHit* hit)
{
    Exit exit = {.facet = -1};
    if (hit->round >= 0)
        exit = FindRayExit(detector, hit, hit->overlap.normal);
    if (exit.facet < 0)
        exit = LeaveNearest(detector, hit);
    hit->round = exit.facet >= 0 ? 0 : -1;
    hit->overlap.depth = exit.time;
    if (exit.facet >= 0)
        snwHit_SetExit(hit, OtherPart(detector, hit), exit.facet, exit.weights);
}

static void LeaveAll(int begin, int end, void* data)
{
    snwDetector* detector = data;
    for (int i = begin; i < end; ++i)
        if (detector->sorted[i].kind == snw_hitInside)
            LeaveFlesh(detector, &detector->sorted[i]);
}

void snwDetector_ResolveInside(snwDetector* detector, int count)
{
    snwParallelFor(detector->context, count, 32, SeedHits, detector);
    snwParallelFor(detector->context, count, 256, ResolveGroups, detector);
    snwParallelFor(detector->context, count, 32, LeaveAll, detector);
}
