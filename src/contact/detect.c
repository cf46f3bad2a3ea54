// Find, stage by stage: boxes of everything as it is now, the three questions for every vertex, the ways out.
//
// Vertices are asked in leaves of sixteen that are neighbours on the skin, so that one walk down a tree serves all of
// them and the first look at an element or facet takes eight at a time.
//
// Trees, not a hash of space (Teschner et al. 2003: vertices into cells of the mean edge, then every element asks the
// cells under its box). Both were measured on the bench's scenes of 100 k vertices, one thread of a busy machine, best
// of seven in turns:
//     pile of balls       hash, which element holds which vertex: 50 ms    tree, ways out included: 43 ms
//     bar bent to a ring  hash                                    59 ms    tree                     35 ms
// The hash has to look at all elements, and most of those are deep inside where no skin ever comes; the tree's boxes
// are made from the vertices of 32 elements at once and only leaves near a skin are opened. The tree also answers the
// other questions - ways, gaps, rays, nearest facet - and has no cell size to choose for bodies of different detail.

#include "contact/detect_parts.h"
#include "base/sort.h"

#include <float.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Boxes, as things are now

// The part that holds a leaf, given a part that is not behind it.
static int PartOfLeaf(const int* starts, int leaf, int part)
{
    while (leaf >= starts[part + 1])
        part++;
    return part;
}

static int FirstPart(const int* starts, int count, int leaf)
{
    int low = 0, high = count;
    while (high - low > 1)
    {
        int middle = (low + high) / 2;
        if (starts[middle] <= leaf)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void CopyPositions(const float* from, const float shift[3], int stride, int count, float* to)
{
    for (int i = 0; i < count; ++i, from += stride, to += 4)
    {
        bool finite = isfinite(from[0]) && isfinite(from[1]) && isfinite(from[2]);
        for (int k = 0; k < 3; ++k)
            to[k] = finite ? from[k] + shift[k] : NAN;
    }
}

static void CopyParts(int begin, int end, void* data)
{
    snwDetector* detector = data;
    const snwDetectorInput* input = detector->input;
    for (int i = begin; i < end; ++i)
    {
        snwPart* part = &detector->parts[i];
        const float* previous = detector->moving ? input->previous[i] : input->positions[i];
        snwVec3 way = input->origins != NULL ? snwVec3_Sub(input->origins[i], input->origins[0]) : (snwVec3){0, 0, 0};
        float shift[3] = {(float)way.x, (float)way.y, (float)way.z}; // all seen from the first
        CopyPositions(input->positions[i], shift, input->stride, part->shell->vertexCount, part->now);
        CopyPositions(previous, shift, input->stride, part->shell->vertexCount, part->before);
    }
}

static void BoxFacets(int begin, int end, void* data)
{
    snwDetector* detector = data;
    const int* starts = detector->starts[1];
    int index = FirstPart(starts, detector->partCount, begin);
    for (int i = begin; i < end; ++i)
    {
        index = PartOfLeaf(starts, i, index);
        snwPart* part = &detector->parts[index];
        int leaf = i - starts[index], last = (leaf + 1) * snw_leafFacets;
        snwBox box = snwBox_Empty();

        // Before and after the motion: whoever is in between is found, too.
        for (int f = leaf * snw_leafFacets; f < last && f < part->shell->facetCount; ++f)
            for (int k = 0; k < 3; ++k)
            {
                int vertex = part->shell->facets[f][k];
                if (vertex < 0)
                    continue;
                size_t at = 4 * (size_t)vertex;
                snwBox_Add(&box, part->now + at);
                if (detector->moving)
                    snwBox_Add(&box, part->before + at);
            }

        snwBoxTree_SetLeaf(&part->facets, leaf, &box);
    }
}

static void BoxElements(int begin, int end, void* data)
{
    snwDetector* detector = data;
    const int* starts = detector->starts[2];
    int index = FirstPart(starts, detector->partCount, begin);
    for (int i = begin; i < end; ++i)
    {
        index = PartOfLeaf(starts, i, index);
        snwPart* part = &detector->parts[index];
        int leaf = i - starts[index];
        snwBox box = snwBox_Empty();
        for (int v = part->shell->leafStarts[leaf]; v < part->shell->leafStarts[leaf + 1]; ++v)
            snwBox_Add(&box, part->now + 4 * (size_t)part->shell->leafVertices[v]);
        snwBoxTree_SetLeaf(&part->elements, leaf, &box);
    }
}

static void RefitParts(int begin, int end, void* data)
{
    snwDetector* detector = data;
    for (int i = begin; i < end; ++i)
    {
        snwPart* part = &detector->parts[i];
        snwBoxTree_Refit(&part->facets);
        snwBoxTree_Refit(&part->elements);
        part->bounds = snwBox_Union(snwBoxTree_Bounds(&part->facets), snwBoxTree_Bounds(&part->elements));
    }
}

// Bodies in the order of their places: those change from call to call, so it must be a quick one.
static void BoxBodies(snwDetector* detector)
{
    // Centres as shares of the box of all, in the order of a curve; bodies that are not finite go to its start.
    int count = detector->partCount;
    snwBox all = snwBox_Empty();
    for (int i = 0; i < count; ++i)
        all = snwBox_Union(all, detector->parts[i].bounds);

    for (int i = 0; i < count; ++i)
    {
        const snwBox* box = &detector->parts[i].bounds;
        double cell[3];
        for (int k = 0; k < 3; ++k)
        {
            double size = (double)all.upper[k] - all.lower[k];
            double centre = 0.5 * ((double)box->lower[k] + box->upper[k]) - all.lower[k];
            cell[k] = size > 0.0 && isfinite(centre) ? centre / size : 0.0;
        }

        detector->keys[i] = snwMortonCode(cell);
        detector->order[i] = i;
    }

    snwSortKeysWith(detector->keys, detector->order, count, detector->otherKeys, detector->otherOrder);
    for (int i = 0; i < count; ++i)
    {
        detector->bodyOrder[i] = detector->order[i];
        snwBoxTree_SetLeaf(&detector->bodies, i, &detector->parts[detector->order[i]].bounds);
    }

    snwBoxTree_Refit(&detector->bodies);
}

// ---------------------------------------------------------------------------------------------------------------------
// Contact with oneself

double snwShell_RestDistance(const snwShell* shell, int vertex, int facet)
{
    const int* c = shell->facets[facet];
    if (vertex == c[0] || vertex == c[1] || vertex == c[2])
        return 0.0;
    snwFacet at = {{shell->rest[c[0]], shell->rest[c[1]], shell->rest[c[2] < 0 ? c[0] : c[2]]}, c[2] < 0};
    return sqrt(snwFacet_Closest(&at, shell->rest[vertex]).squared);
}

static bool HasElementCorner(const int* element, int vertex)
{
    return element[0] == vertex || element[1] == vertex || element[2] == vertex || element[3] == vertex;
}

static bool IsNearAtRest(const snwShell* shell, int vertex, const int* element)
{
    snwVec3 corners[4];
    if (HasElementCorner(element, vertex))
        return true;
    for (int k = 0; k < 4; ++k)
        corners[k] = shell->rest[element[k] < 0 ? 0 : element[k]];
    double reach = shell->reach[vertex];
    return reach > 0.0 && snwElement_Distance(corners, shell->flat, shell->rest[vertex]) <= reach;
}

// ---------------------------------------------------------------------------------------------------------------------
// One leaf of vertices against one body

// What is known of one vertex and one body.
typedef struct Found
{
    bool inside;
    int crossedFacet; // -1: none
    double crossedTime;
    int nearFacet; // -1: none
    double nearSquared;
} Found;

typedef struct Query
{
    snwDetector* detector;
    const snwPointLeaf* leaf;
    const snwPart *part, *other;
    bool self;
    Found found[snw_leafPoints];
} Query;

static void LoadLeaf(const snwDetector* detector, int part, int index, snwPointLeaf* leaf)
{
    const snwPart* p = &detector->parts[part];
    int begin = index * snw_leafPoints, end = begin + snw_leafPoints;

    // A leaf has room for sixteen; places without a vertex are NaN and in no box.
    leaf->part = part;
    leaf->count = (end < p->shell->pointCount ? end : p->shell->pointCount) - begin;
    leaf->box = leaf->swept = snwBox_Empty();

    for (int i = 0; i < snw_leafPoints; ++i)
    {
        snwBox box = snwBox_Empty();
        int vertex = i < leaf->count ? p->shell->points[begin + i] : -1;
        size_t at = 4 * (size_t)(vertex < 0 ? 0 : vertex);

        // Where the vertex is and, grown by the margin, where it was on its way.
        leaf->vertices[i] = vertex;
        if (vertex >= 0)
        {
            snwBox_Add(&leaf->box, p->now + at);
            snwBox_Add(&box, p->now + at);
            if (detector->moving)
                snwBox_Add(&box, p->before + at);
            box = snwBox_Grow(box, detector->margin);
        }

        for (int k = 0; k < 3; ++k)
        {
            leaf->now[k][i] = vertex >= 0 ? p->now[at + (size_t)k] : NAN;
            leaf->lower[k][i] = box.lower[k];
            leaf->upper[k][i] = box.upper[k];
        }

        leaf->swept = snwBox_Union(leaf->swept, box);
    }
}

static void TestElement(Query* query, int i, const int* element)
{
    const snwPart* other = query->other;
    int vertex = query->leaf->vertices[i];
    if (query->found[i].inside || (query->self && HasElementCorner(element, vertex)))
        return;
    snwVec3 c[4];
    for (int k = 0; k < 4; ++k)
        c[k] = snwPart_Point(other->now, element[k] < 0 ? element[0] : element[k]);
    if (snwElement_Contains(c, other->shell->flat, snwPart_Point(query->part->now, vertex)))
        query->found[i].inside = !query->self || !IsNearAtRest(other->shell, vertex, element);
}

static void TestElements(Query* query, int leaf)
{
    const snwPart* other = query->other;
    snwPair pairs[snw_maxPairs];
    int count = query->detector->kernels->elements(
        query->leaf, other->now, (const int(*)[snw_leafElements])other->shell->elementBlocks[leaf], pairs);
    for (int i = 0; i < count; ++i)
    {
        int element = leaf * snw_leafElements + pairs[i].thing;
        if (element < other->shell->elementCount)
            TestElement(query, pairs[i].point, other->shell->elements[element]);
    }
}

// Earlier, or as early and listed before.
static void TestCrossing(Query* query, int i, int facet, const snwFacet* before, const snwFacet* now)
{
    Found* found = &query->found[i];
    int vertex = query->leaf->vertices[i];
    snwVec3 from = snwPart_Point(query->part->before, vertex), to = snwPart_Point(query->part->now, vertex);
    double time;
    if (!snwFacet_Crossed(before, now, from, to, &time))
        return;
    if (found->crossedFacet < 0 || time < found->crossedTime ||
        (time == found->crossedTime && facet < found->crossedFacet))
    {
        found->crossedFacet = facet;
        found->crossedTime = time;
    }
}

static void TestGap(Query* query, int i, int facet, const snwFacet* now, double margin)
{
    Found* found = &query->found[i];
    snwVec3 p = snwPart_Point(query->part->now, query->leaf->vertices[i]);
    snwFacetPoint closest = snwFacet_Closest(now, p);
    bool outside = snwVec3_Dot(snwVec3_Sub(p, closest.point), snwFacet_Normal(now)) >= 0.0;
    if (!(closest.squared <= margin * margin) || !outside)
        return;
    if (found->nearFacet < 0 || closest.squared < found->nearSquared ||
        (closest.squared == found->nearSquared && facet < found->nearFacet))
    {
        found->nearFacet = facet;
        found->nearSquared = closest.squared;
    }
}

static void TestFacet(Query* query, int i, int facet)
{
    const snwPart* other = query->other;
    const snwDetector* detector = query->detector;
    int vertex = query->leaf->vertices[i];
    double rest = query->self ? snwShell_RestDistance(other->shell, vertex, facet) : DBL_MAX;
    snwFacet now = snwPart_Facet(other, other->now, facet);
    snwFacet before = snwPart_Facet(other, other->before, facet);
    if (detector->moving && (!query->self || rest > other->shell->reach[vertex]))
        TestCrossing(query, i, facet, &before, &now);
    // Flesh that is thinner than the margin must not hold itself apart.
    double margin = query->self ? fmin(detector->margin, 0.25 * rest) : detector->margin;
    if (margin > 0.0 && !query->found[i].inside)
        TestGap(query, i, facet, &now, margin);
}

static void TestFacets(Query* query, int leaf)
{
    const snwPart* other = query->other;
    snwPair pairs[snw_maxPairs];
    int count = query->detector->kernels->facets(
        query->leaf, other->now, other->before, (const int(*)[snw_leafFacets])other->shell->facetBlocks[leaf], pairs);
    for (int i = 0; i < count; ++i)
    {
        int facet = leaf * snw_leafFacets + pairs[i].thing;
        if (facet < other->shell->facetCount)
            TestFacet(query, pairs[i].point, facet);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Hits

void snwHit_SetExit(snwHit* hit, const snwPart* other, int facet, const double weights[3])
{
    for (int k = 0; k < 3; ++k)
    {
        hit->overlap.triangle[k] = other->shell->facets[facet][k];
        hit->overlap.weights[k] = weights[k];
    }
}

static bool MakeCrossed(const Query* query, int facet, snwVec3 p, snwHit* hit)
{
    snwFacet now = snwPart_Facet(query->other, query->other->now, facet);
    snwFacetPoint exit = snwFacet_Closest(&now, p);
    snwVec3 normal = snwFacet_Normal(&now);
    snwHit_SetExit(hit, query->other, facet, exit.weights);
    hit->overlap.normal = normal;
    hit->overlap.depth = snwVec3_Dot(normal, snwVec3_Sub(exit.point, p));
    return snwVec3_LengthSquared(normal) > 0.0;
}

static bool MakeGap(const Query* query, int facet, snwVec3 p, snwHit* hit)
{
    snwFacet now = snwPart_Facet(query->other, query->other->now, facet);
    snwFacetPoint exit = snwFacet_Closest(&now, p);
    double distance = sqrt(exit.squared);
    snwVec3 normal = snwFacet_Normal(&now);
    if (distance > 1e-6 * query->other->shell->edge)
        normal = snwVec3_Scale(snwVec3_Sub(p, exit.point), 1.0 / distance);
    snwHit_SetExit(hit, query->other, facet, exit.weights);
    hit->overlap.normal = normal;
    hit->overlap.depth = snwVec3_Dot(normal, snwVec3_Sub(exit.point, p));
    return snwVec3_LengthSquared(normal) > 0.0;
}

static bool MakeHit(const Query* query, int i, int otherBody, snwHit* hit)
{
    const Found* found = &query->found[i];
    snwVec3 p = {query->leaf->now[0][i], query->leaf->now[1][i], query->leaf->now[2][i]};
    *hit = (snwHit){.overlap = {.body = query->leaf->part, .vertex = query->leaf->vertices[i], .otherBody = otherBody},
        .round = -1};
    if (found->crossedFacet >= 0 && MakeCrossed(query, found->crossedFacet, p, hit))
    {
        hit->kind = snw_hitCrossed;
        return true;
    }
    hit->kind = found->inside ? snw_hitInside : snw_hitGap;
    return found->inside || (found->nearFacet >= 0 && MakeGap(query, found->nearFacet, p, hit));
}

static void KeepHits(const Query* query, int otherBody)
{
    snwDetector* detector = query->detector;
    snwHit hits[snw_leafPoints];
    int count = 0;
    for (int i = 0; i < query->leaf->count; ++i)
        count += MakeHit(query, i, otherBody, &hits[count]);
    if (count == 0)
        return;
    int first = atomic_fetch_add(&detector->hitCount, count);
    for (int i = 0; i < count && first <= detector->capacity - 1 - i; ++i)
        detector->hits[first + i] = hits[i];
}

// ---------------------------------------------------------------------------------------------------------------------
// All leaves

static void AskBody(snwDetector* detector, const snwPointLeaf* leaf, int other)
{
    const snwPart* part = &detector->parts[leaf->part];

    // What is flat never meets what is solid, and not every body asks itself.
    Query query = {.detector = detector, .leaf = leaf, .part = part, .other = &detector->parts[other]};
    query.self = other == leaf->part;
    if ((query.self && !part->self) || query.other->shell->flat != part->shell->flat)
        return;
    for (int i = 0; i < snw_leafPoints; ++i)
        query.found[i] = (Found){.crossedFacet = -1, .nearFacet = -1};

    // Inside of an element now?
    snwBoxWalk walk;
    snwBoxWalk_Start(&walk, &query.other->elements, &leaf->box);
    for (int i = snwBoxWalk_Next(&walk); i >= 0; i = snwBoxWalk_Next(&walk))
        TestElements(&query, i);

    // Through or near a facet?
    if (detector->moving || detector->margin > 0.0)
    {
        snwBoxWalk_Start(&walk, &query.other->facets, &leaf->swept);
        for (int i = snwBoxWalk_Next(&walk); i >= 0; i = snwBoxWalk_Next(&walk))
            TestFacets(&query, i);
    }

    KeepHits(&query, other);
}

static void AskLeaves(int begin, int end, void* data)
{
    snwDetector* detector = data;
    const int* starts = detector->starts[0];
    int part = FirstPart(starts, detector->partCount, begin);
    for (int i = begin; i < end; ++i)
    {
        snwPointLeaf leaf;
        snwBoxWalk walk;
        part = PartOfLeaf(starts, i, part);
        LoadLeaf(detector, part, i - starts[part], &leaf);
        snwBoxWalk_Start(&walk, &detector->bodies, &leaf.swept);
        for (int k = snwBoxWalk_Next(&walk); k >= 0; k = snwBoxWalk_Next(&walk))
            AskBody(detector, &leaf, detector->bodyOrder[k]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Order

typedef uint64_t KeyFn(const snwOverlap* overlap);

static uint64_t ByBodies(const snwOverlap* o)
{
    return (uint64_t)o->body << 48 | (uint64_t)o->otherBody << 32 | (uint64_t)o->vertex;
}

static uint64_t ByVertex(const snwOverlap* o)
{
    return (uint64_t)o->body << 48 | (uint64_t)o->vertex << 16 | (uint64_t)o->otherBody;
}

static void SortHits(snwDetector* detector, const snwHit* hits, int count, KeyFn* key)
{
    for (int i = 0; i < count; ++i)
    {
        detector->keys[i] = key(&hits[i].overlap);
        detector->order[i] = i;
    }
    snwSortKeysWith(detector->keys, detector->order, count, detector->otherKeys, detector->otherOrder);
}

static void GroupHits(snwDetector* detector, int count)
{
    SortHits(detector, detector->hits, count, ByBodies);
    for (int i = 0; i < count; ++i)
        detector->sorted[i] = detector->hits[detector->order[i]];
    for (int begin = 0, end = 0; begin < count; begin = end)
    {
        while (end < count && detector->keys[end] >> 32 == detector->keys[begin] >> 32)
            end++;
        for (int i = begin; i < end; ++i)
        {
            detector->sorted[i].begin = begin;
            detector->sorted[i].end = end;
        }
    }
}

// From the hits in any order to those that have a way out, in `hits`, by body, vertex, otherBody.
static int FinishHits(snwDetector* detector)
{
    int count = atomic_load(&detector->hitCount), kept = 0;
    GroupHits(detector, count);
    snwDetector_ResolveInside(detector, count);
    SortHits(detector, detector->sorted, count, ByVertex);
    for (int i = 0; i < count; ++i)
    {
        const snwHit* hit = &detector->sorted[detector->order[i]];
        if (hit->kind != snw_hitInside || hit->round >= 0)
            detector->hits[kept++] = *hit;
    }
    return kept;
}

// Hits come in the order of the threads and are sorted afterwards. Too many of them would leave out some by chance;
// then one thread does it again, in the order of the leaves.
static void FindHits(snwDetector* detector)
{
    int leaves = detector->starts[0][detector->partCount];
    atomic_store(&detector->hitCount, 0);
    snwParallelFor(detector->context, leaves, 8, AskLeaves, detector);
    if (atomic_load(&detector->hitCount) <= detector->capacity)
        return;
    atomic_store(&detector->hitCount, 0);
    AskLeaves(0, leaves, detector);
    if (atomic_load(&detector->hitCount) > detector->capacity)
        atomic_store(&detector->hitCount, detector->capacity);
}

int snwDetector_FindAtRest(snwDetector* detector, int part, const float* positions)
{
    for (int i = 0; i < detector->partCount; ++i)
        detector->parts[i].bounds = snwBox_Empty();
    const float shift[3] = {0.0f, 0.0f, 0.0f};
    CopyPositions(positions, shift, 3, detector->parts[part].shell->vertexCount, detector->parts[part].now);
    CopyPositions(positions, shift, 3, detector->parts[part].shell->vertexCount, detector->parts[part].before);
    detector->margin = 0.0;
    detector->moving = false;
    BoxFacets(detector->starts[1][part], detector->starts[1][part + 1], detector);
    BoxElements(detector->starts[2][part], detector->starts[2][part + 1], detector);
    RefitParts(part, part + 1, detector);
    BoxBodies(detector);
    atomic_store(&detector->hitCount, 0);
    AskLeaves(detector->starts[0][part], detector->starts[0][part + 1], detector);
    if (atomic_load(&detector->hitCount) > detector->capacity)
        atomic_store(&detector->hitCount, detector->capacity);
    return FinishHits(detector);
}

int snwDetector_Find(snwDetector* detector, const snwDetectorInput* input, snwOverlap* overlaps, int capacity)
{
    detector->input = input;
    detector->margin = input->margin;
    detector->moving = input->previous != NULL;
    snwParallelFor(detector->context, detector->partCount, 4, CopyParts, detector);
    snwParallelFor(detector->context, detector->starts[1][detector->partCount], 256, BoxFacets, detector);
    snwParallelFor(detector->context, detector->starts[2][detector->partCount], 128, BoxElements, detector);
    snwParallelFor(detector->context, detector->partCount, 8, RefitParts, detector);
    BoxBodies(detector);
    FindHits(detector);
    int count = FinishHits(detector);
    count = count < capacity ? count : capacity;
    for (int i = 0; i < count; ++i)
        overlaps[i] = detector->hits[i].overlap;
    return count;
}
