// A facet's polygons are rings in one plane, one in another. Between a ring and those directly in it lies a cell: it is
// left out if there is a hole's point in it, else it is filled with triangles. A cell with no ring in it stays a
// polygon.

#include "asset/polygon.h"
#include "asset/read_tetgen.h"
#include "geom/triangulate.h"

#include <string.h>

enum
{
    snw_maxFacetWork = 20000000 // rings times corners
};

typedef struct FacetRing
{
    const int* corners;
    double (*points)[2];
    int count;
    int parent;  // the smallest ring around it; -1: none
    double area; // signed
    bool empty;  // its cell is a hole
} FacetRing;

typedef struct Work
{
    snwDraft* draft;
    const snwTetgenFacet* facet;
    snwArena scratch;
    FacetRing* rings;
    int ringCount, axis;
} Work;

static void Flatten(snwVec3 p, int axis, double* point)
{
    point[0] = axis == 0 ? p.y : axis == 1 ? p.z : p.x;
    point[1] = axis == 0 ? p.z : axis == 1 ? p.x : p.y;
}

static bool IsInsideFacet(const FacetRing* ring, const double* point)
{
    bool inside = false;
    for (int i = 0, last = ring->count - 1; i < ring->count; last = i++)
    {
        const double *a = ring->points[i], *b = ring->points[last];
        if ((a[1] > point[1]) != (b[1] > point[1]) &&
            point[0] < (b[0] - a[0]) * (point[1] - a[1]) / (b[1] - a[1]) + a[0])
            inside = !inside;
    }
    return inside;
}

// The ring of the smallest area around the point, but not `except`.
static int SmallestAround(const Work* work, const double* point, int except)
{
    int best = -1;
    for (int i = 0; i < work->ringCount; ++i)
        if (i != except && (best < 0 || fabs(work->rings[i].area) < fabs(work->rings[best].area)) &&
            IsInsideFacet(&work->rings[i], point))
            best = i;
    return best;
}

static bool MakeFacetRing(Work* work, FacetRing* ring)
{
    ring->points = snwArena_Alloc(&work->scratch, (size_t)ring->count, sizeof *ring->points);
    for (int i = 0; ring->points != NULL && i < ring->count; ++i)
        Flatten(work->draft->positions.data[ring->corners[i]], work->axis, ring->points[i]);
    for (int i = 2; ring->points != NULL && i < ring->count; ++i)
    {
        const double *o = ring->points[0], *a = ring->points[i - 1], *b = ring->points[i];
        ring->area += ((a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])) / 2;
    }
    return ring->points != NULL;
}

// Copies the corners, for the faces are written again. false: no memory, or (scratch has not failed) a bad index, which
// is told when the draft is finished.
static bool CollectCorners(Work* work)
{
    snwDraft* draft = work->draft;
    int first = draft->faces.data[work->facet->firstFace].first, total = draft->corners.count - first;
    const int* corners = snwArena_Copy(&work->scratch, draft->corners.data + first, (size_t)total, sizeof *corners);

    work->ringCount = draft->faces.count - work->facet->firstFace;
    work->rings = snwArena_Alloc(&work->scratch, (size_t)work->ringCount, sizeof *work->rings);
    if (corners == NULL || work->rings == NULL ||
        (int64_t)(work->ringCount + work->facet->holeCount) * total > snw_maxFacetWork)
        return false;
    for (int i = 0; i < total; ++i)
        if (corners[i] >= draft->positions.count)
            return false;
    int largest = 0;

    // Rings by their corners; the largest one decides along which axis they are seen.
    for (int i = 0; i < work->ringCount; ++i)
    {
        const snwDraftFace* face = &draft->faces.data[work->facet->firstFace + i];
        int end = i + 1 < work->ringCount ? face[1].first : draft->corners.count;
        work->rings[i] = (FacetRing){.corners = corners + face->first - first, .count = end - face->first};
        largest = work->rings[i].count > work->rings[largest].count ? i : largest;
    }

    work->axis = snwPolygon_Axis(draft->positions.data, work->rings[largest].corners, work->rings[largest].count);
    for (int i = 0; i < work->ringCount; ++i)
        if (!MakeFacetRing(work, &work->rings[i]))
            return false;
    return true;
}

static void FindCells(Work* work)
{
    for (int i = 0; i < work->ringCount; ++i)
        work->rings[i].parent = SmallestAround(work, work->rings[i].points[0], i);
    for (int i = 0; i < work->facet->holeCount; ++i)
    {
        double point[2];
        Flatten(work->facet->holes[i], work->axis, point);
        int ring = SmallestAround(work, point, -1);
        if (ring >= 0)
            work->rings[ring].empty = true;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Cells

typedef struct Cell
{
    int* corners; // of all its rings, in the order of the triangulation's vertices
    snwFlatMesh mesh;
} Cell;

static int CountInner(const Work* work, int outer)
{
    int count = 0;
    for (int i = 0; i < work->ringCount; ++i)
        count += i != outer && work->rings[i].parent == outer;
    return count;
}

static snwFacetCut FillCell(Work* work, int outer, int inner, Cell* cell)
{
    snwRing* rings = snwArena_Alloc(&work->scratch, (size_t)inner + 1, sizeof *rings);
    snwTriangulateDef def = {.maxVertices = INT32_MAX / 4};
    int count = 0, total = 0;
    for (int i = 0; rings != NULL && i < work->ringCount; ++i)
        if (i == outer || work->rings[i].parent == outer)
            total += work->rings[i].count;
    cell->corners = snwArena_Alloc(&work->scratch, (size_t)total, sizeof *cell->corners);
    if (rings == NULL || cell->corners == NULL)
        return snw_facetNoMemory;
    total = 0;

    // The outer ring, then those directly inside of it as holes.
    for (int pass = 0; pass < 2; ++pass)
        for (int i = 0; i < work->ringCount; ++i)
        {
            const FacetRing* ring = &work->rings[i];
            if (pass == 0 ? i != outer : i == outer || ring->parent != outer)
                continue;
            rings[count++] = (snwRing){
                .points = (const double(*)[2])ring->points, .count = ring->count, .hole = pass == 1};
            memcpy(cell->corners + total, ring->corners, (size_t)ring->count * sizeof *cell->corners);
            total += ring->count;
        }

    snwOutline outline = {rings, count};
    snwResult result = snwTriangulate(work->draft->asset->context, &outline, &def, &work->scratch, &cell->mesh, NULL);
    if (result == snw_errorMemory)
        return snw_facetNoMemory;
    return result < 0 || cell->mesh.vertexCount != total ? snw_facetOdd : snw_facetCut;
}

// All cells are filled before the first face is written, so that an odd facet stays as it is.
static snwFacetCut FillCells(Work* work, Cell* cells)
{
    for (int i = 0; i < work->ringCount; ++i)
    {
        int inner = CountInner(work, i);
        snwFacetCut outcome = work->rings[i].empty || inner == 0 ? snw_facetCut : FillCell(work, i, inner, &cells[i]);
        if (outcome != snw_facetCut)
            return outcome;
    }
    return snw_facetCut;
}

// Everything in a ring faces as the outermost ring around it does. The count of steps is bounded, for rings that cross
// may hold each other.
static bool FacesBack(const Work* work, int ring)
{
    int root = ring;
    for (int i = 0; i < work->ringCount && work->rings[root].parent >= 0; ++i)
        root = work->rings[root].parent;
    return work->rings[root].area < 0;
}

static void WritePolygon(Work* work, const FacetRing* ring, bool back)
{
    bool turned = (ring->area < 0) != back;
    snwDraft_BeginFace(work->draft, work->facet->place, work->facet->label);
    for (int i = 0; i < ring->count; ++i)
        snwDraft_AddCorner(work->draft, ring->corners[turned ? ring->count - 1 - i : i]);
}

static void WriteCell(Work* work, const Cell* cell, bool back)
{
    for (int t = 0; t < cell->mesh.triangleCount; ++t)
    {
        const int* v = cell->mesh.triangles[t];
        const int corners[3] = {cell->corners[v[0]], cell->corners[v[back ? 2 : 1]], cell->corners[v[back ? 1 : 2]]};
        snwDraft_AddFace(work->draft, corners, 3, work->facet->place, work->facet->label);
    }
}

static void WriteCells(Work* work, const Cell* cells)
{
    snwDraft* draft = work->draft;
    draft->corners.count = draft->faces.data[work->facet->firstFace].first;
    draft->faces.count = work->facet->firstFace;
    for (int i = 0; i < work->ringCount; ++i)
    {
        if (work->rings[i].empty)
            continue;
        if (cells[i].corners == NULL)
            WritePolygon(work, &work->rings[i], FacesBack(work, i));
        else
            WriteCell(work, &cells[i], FacesBack(work, i));
    }
}

snwFacetCut snwTetgenFacet_Cut(snwDraft* draft, const snwTetgenFacet* facet)
{
    Work work = {.draft = draft, .facet = facet, .scratch = {.context = draft->asset->context}};
    snwFacetCut outcome = snw_facetOdd;
    if (CollectCorners(&work))
    {
        Cell* cells = snwArena_Alloc(&work.scratch, (size_t)work.ringCount, sizeof *cells);
        FindCells(&work);
        outcome = cells == NULL ? snw_facetNoMemory : FillCells(&work, cells);
        if (outcome == snw_facetCut)
            WriteCells(&work, cells);
    }
    if (work.scratch.failed)
        outcome = snw_facetNoMemory;
    snwArena_Free(&work.scratch);
    return outcome;
}
