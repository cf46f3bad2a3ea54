// The tets of the cut lattice, part by part. A face of a lattice tet with one vertex outside and two inside leaves a
// quadrilateral that two tets share; both must cut it along the same diagonal. The diagonal ends in the cut of the
// longer edge: in the lattice's faces that is the shorter one. Edges of one length are told apart by the paper's parity
// rule. As that orders the edges at the outer vertex, three such faces of a prism never form a cycle that no tets fill.

#include "geom/stuffing.h"
#include "base/pieces.h"
#include "geom/cut.h"
#include "geom/improve.h"
#include "geom/measure.h"
#include "geom/mesh.h"
#include "geom/quality.h"

#include <string.h>

typedef int Corners4[4];

typedef struct Stuffer
{
    snwContext* context;
    snwCut cut;
    snwArray(Corners4) tets;
    snwVec3* positions;
    bool* boundary; // of the vertices: on the surface
    int vertexCount;
} Stuffer;

snwStuffDef snwDefaultStuffDef(const snwSolid* solid, double spacing)
{
    return (snwStuffDef){.solid = solid, .spacing = spacing, .detail = spacing};
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts of lattice tets

static bool AddCutTet(Stuffer* stuffer, int a, int b, int c, int d)
{
    if (!snwArray_Reserve(stuffer->context, &stuffer->tets, 1))
        return false;
    int64_t p[4][3];
    snwCut_IdealPlace(&stuffer->cut, a, p[0]);
    snwCut_IdealPlace(&stuffer->cut, b, p[1]);
    snwCut_IdealPlace(&stuffer->cut, c, p[2]);
    snwCut_IdealPlace(&stuffer->cut, d, p[3]);
    bool positive = snwLattice_Volume(p[0], p[1], p[2], p[3]) > 0;
    int* tet = stuffer->tets.data[stuffer->tets.count++];
    tet[0] = a, tet[1] = b, tet[2] = positive ? c : d, tet[3] = positive ? d : c;
    return true;
}

// Is the edge from `apex` to b before that to c: longer, or of the other parity?
static bool GoesFirst(const snwCut* cut, int apex, int b, int c)
{
    const int *p = cut->lattice.points[apex].at, *q = cut->lattice.points[b].at, *r = cut->lattice.points[c].at;
    int64_t lengthB = 0, lengthC = 0;
    int parityB = 0, parityC = 0;
    for (int k = 0; k < 3; ++k)
    {
        lengthB += (int64_t)(q[k] - p[k]) * (q[k] - p[k]), lengthC += (int64_t)(r[k] - p[k]) * (r[k] - p[k]);
        parityB ^= q[k] > p[k], parityC ^= r[k] > p[k];
    }
    if (lengthB != lengthC)
        return lengthB > lengthC;
    return parityB != parityC ? parityB > parityC : b < c;
}

// A prism between the triangles top and bottom whose sides have the diagonals top[i] - bottom[j] for i before j in the
// order.
static bool AddPrism(Stuffer* stuffer, const int top[3], const int bottom[3], const int order[3])
{
    int a = order[0], b = order[1], c = order[2];
    return AddCutTet(stuffer, top[a], bottom[a], bottom[b], bottom[c]) &&
           AddCutTet(stuffer, top[a], top[b], bottom[b], bottom[c]) &&
           AddCutTet(stuffer, top[a], top[b], top[c], bottom[c]);
}

// One outside: a frustum.
static bool AddThreeInside(Stuffer* stuffer, const int in[3], int out)
{
    const snwCut* cut = &stuffer->cut;
    int cuts[3], order[3];
    for (int i = 0; i < 3; ++i)
    {
        int before = 0;
        for (int j = 0; j < 3; ++j)
            before += j != i && GoesFirst(cut, out, in[j], in[i]);
        order[before] = i;
        cuts[i] = snwCut_EdgeVertex(cut, in[i], out);
    }
    return AddPrism(stuffer, cuts, in, order);
}

// Two outside: a wedge. Its third quadrilateral lies on the surface and is nobody else's: the shorter diagonal, if the
// two others leave the choice.
static bool AddTwoInside(Stuffer* stuffer, const int in[2], const int out[2])
{
    const snwCut* cut = &stuffer->cut;

    // The two triangles of the wedge, one around each inner vertex.
    int top[3] = {in[0], snwCut_EdgeVertex(cut, in[0], out[0]), snwCut_EdgeVertex(cut, in[0], out[1])};
    int bottom[3] = {in[1], snwCut_EdgeVertex(cut, in[1], out[0]), snwCut_EdgeVertex(cut, in[1], out[1])};
    bool first1 = GoesFirst(cut, out[0], in[0], in[1]), first2 = GoesFirst(cut, out[1], in[0], in[1]);
    bool oneBeforeTwo = first1;

    if (first1 == first2)
        oneBeforeTwo = snwVec3_Distance(snwCut_Position(cut, top[1]), snwCut_Position(cut, bottom[2])) <=
                       snwVec3_Distance(snwCut_Position(cut, top[2]), snwCut_Position(cut, bottom[1]));
    // 0 is the inner edge; 1 and 2, the cuts towards the outer vertices, come before or after it.
    int order[3], count = 0;
    int one = oneBeforeTwo ? 1 : 2, two = 3 - one;
    bool oneFirst = one == 1 ? first1 : first2, twoFirst = two == 1 ? first1 : first2;
    if (oneFirst)
        order[count++] = one;
    if (twoFirst)
        order[count++] = two;
    order[count++] = 0;
    if (!oneFirst)
        order[count++] = one;
    if (!twoFirst)
        order[count++] = two;

    return AddPrism(stuffer, top, bottom, order);
}

// Two inside, one on the surface: a pyramid.
static bool AddPyramid(Stuffer* stuffer, const int in[2], int out, int on)
{
    const snwCut* cut = &stuffer->cut;
    bool first = GoesFirst(cut, out, in[0], in[1]);
    int longer = first ? in[0] : in[1], shorter = first ? in[1] : in[0];
    int longerCut = snwCut_EdgeVertex(cut, longer, out), shorterCut = snwCut_EdgeVertex(cut, shorter, out);
    return AddCutTet(stuffer, on, longer, shorter, longerCut) && AddCutTet(stuffer, on, shorter, shorterCut, longerCut);
}

static bool AddTetParts(Stuffer* stuffer, const int tet[4])
{
    const snwCut* cut = &stuffer->cut;
    int in[4], out[4], corners[4], inCount = 0, outCount = 0, count = 0;
    snwCut_SortCorners(cut, tet, in, &inCount, out, &outCount, corners, &count);
    if (inCount == 0)
        return true;
    if (outCount == 0)
        return AddCutTet(stuffer, tet[0], tet[1], tet[2], tet[3]);
    if (inCount == 3)
        return AddThreeInside(stuffer, in, out[0]);
    if (inCount == 2 && outCount == 2)
        return AddTwoInside(stuffer, in, out);
    if (inCount == 2)
        return count == 1 ? AddPyramid(stuffer, in, out[0], corners[0]) : false;
    for (int i = 0; i < outCount; ++i)
        corners[count++] = snwCut_EdgeVertex(cut, in[0], out[i]);
    return AddCutTet(stuffer, in[0], corners[0], corners[1], corners[2]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pieces

// What is left of a part too thin for the lattice: pieces of a few tets that hang on nothing. Something always stays.
static bool DropTetCrumbs(Stuffer* stuffer)
{
    int most = stuffer->cut.lattice.pointCount + stuffer->cut.edgeCount, kept = 0, largest = 0;
    int* pieces = snwAllocArray(stuffer->context, (size_t)most, sizeof *pieces);
    int* counts = snwAllocArray(stuffer->context, (size_t)most, sizeof *counts);
    bool enough = pieces != NULL && counts != NULL;

    // Union of corners; the lower number is the root.
    for (int i = 0; enough && i < most; ++i)
        pieces[i] = i;
    for (int i = 0; enough && i < stuffer->tets.count; ++i)
        for (int k = 1; k < 4; ++k)
            snwPieces_Join(pieces, stuffer->tets.data[i][0], stuffer->tets.data[i][k]);

    // How many tets each piece has, and the most.
    for (int i = 0; enough && i < stuffer->tets.count; ++i)
    {
        int size = ++counts[snwPieces_Root(pieces, stuffer->tets.data[i][0])];
        largest = size > largest ? size : largest;
    }

    // Thirty tets or less are a crumb, unless they are the largest piece.
    for (int i = 0; enough && i < stuffer->tets.count; ++i)
    {
        int size = counts[snwPieces_Root(pieces, stuffer->tets.data[i][0])];
        if (size > 30 || size == largest)
            memmove(stuffer->tets.data[kept++], stuffer->tets.data[i], sizeof(Corners4));
    }

    stuffer->tets.count = enough ? kept : stuffer->tets.count;
    snwFree(stuffer->context, pieces);
    snwFree(stuffer->context, counts);
    return enough;
}

// Numbers the vertices in the order in which tets use them.
static bool NumberTetVertices(Stuffer* stuffer)
{
    const snwCut* cut = &stuffer->cut;
    size_t most = (size_t)cut->lattice.pointCount + (size_t)cut->edgeCount;
    int* numbers = snwAllocArray(stuffer->context, most, sizeof *numbers);
    stuffer->positions = snwAllocArray(stuffer->context, most, sizeof *stuffer->positions);
    stuffer->boundary = snwAllocArray(stuffer->context, most, sizeof *stuffer->boundary);
    bool enough = numbers != NULL && stuffer->positions != NULL && stuffer->boundary != NULL;

    // On the surface are the cuts and the vertices that moved there.
    for (int i = 0; enough && i < 4 * stuffer->tets.count; ++i)
    {
        int* vertex = &stuffer->tets.data[i / 4][i % 4];
        if (numbers[*vertex] == 0)
        {
            stuffer->positions[stuffer->vertexCount] = snwCut_Position(cut, *vertex);
            stuffer->boundary[stuffer->vertexCount] = *vertex >= cut->lattice.pointCount || cut->signs[*vertex] == 0;
            numbers[*vertex] = ++stuffer->vertexCount;
        }
        *vertex = numbers[*vertex] - 1;
    }

    snwFree(stuffer->context, numbers);
    return enough;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult StuffTets(Stuffer* stuffer, const snwLatticeDef* def, snwMessage* message)
{
    snwResult result = snwCut_Create(stuffer->context, def, &stuffer->cut, message);
    if (result < 0)
        return result;
    for (int i = 0; i < stuffer->cut.lattice.tetCount; ++i)
        if (!AddTetParts(stuffer, stuffer->cut.lattice.tets[i]))
            return snwFailMemory(message);
    if (!DropTetCrumbs(stuffer) || !NumberTetVertices(stuffer))
        return snwFailMemory(message);
    snwImproveDef improve = {.solid = def->solid,
        .level = def->level,
        .positions = stuffer->positions,
        .boundary = stuffer->boundary,
        .vertexCount = stuffer->vertexCount,
        .tets = (const int(*)[4])stuffer->tets.data,
        .tetCount = stuffer->tets.count};
    return snwImproveTets(stuffer->context, &improve, message);
}

static void FreeStuffer(Stuffer* stuffer)
{
    snwFree(stuffer->context, stuffer->positions);
    snwFree(stuffer->context, stuffer->boundary);
    snwArray_Free(stuffer->context, &stuffer->tets);
    snwCut_Free(stuffer->context, &stuffer->cut);
    *stuffer = (Stuffer){.context = stuffer->context};
}

static double StuffedVolume(const Stuffer* stuffer)
{
    double sum = 0;
    for (int i = 0; i < stuffer->tets.count; ++i)
    {
        const int* t = stuffer->tets.data[i];
        const snwVec3* p = stuffer->positions;
        sum += snwTet_Volume(p[t[0]], p[t[1]], p[t[2]], p[t[3]]);
    }
    return sum;
}

static snwResult BoundaryArea(const Stuffer* stuffer, double* area, snwMessage* message)
{
    int(*triangles)[3] = NULL, count = 0;
    if (snwMesh_FindBoundary(
            stuffer->context, (const int(*)[4])stuffer->tets.data, stuffer->tets.count, &triangles, &count) < 0)
        return snwFailMemory(message);
    *area = 0;
    for (int i = 0; i < count; ++i)
    {
        snwVec3 a = stuffer->positions[triangles[i][0]], b = stuffer->positions[triangles[i][1]];
        snwVec3 cross = snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(stuffer->positions[triangles[i][2]], a));
        *area += snwVec3_Length(cross) / 2;
    }
    snwFree(stuffer->context, triangles);
    return snw_ok;
}

// Chords of a round surface lie inside of it and lose volume: the mesh of a level set a little outside has it back.
static snwResult MatchVolume(Stuffer* stuffer, snwLatticeDef* def, double volume, snwMessage* message)
{
    snwResult result = snw_ok;

    // Missing volume over area: how far out the surface must go. Three rounds at most, and never far.
    for (int i = 0; i < 3; ++i)
    {
        double missing = volume - StuffedVolume(stuffer), area = 0;
        if (fabs(missing) < 0.005 * volume)
            break;
        result = BoundaryArea(stuffer, &area, message);
        if (result < 0)
            return result;
        double level = def->level + missing / area, limit = 0.3 * def->spacing;
        level = fmin(fmax(level, -limit), limit);
        if (level == def->level)
            break;
        def->level = level;
        FreeStuffer(stuffer);
        result = StuffTets(stuffer, def, message);
        if (result < 0)
            return result;
    }

    return result;
}

static snwResult FinishStuffing(Stuffer* stuffer, double volume, snwArena* arena, snwTetMesh* mesh, snwMessage* message)
{
    mesh->vertices = snwArena_Copy(arena, stuffer->positions, (size_t)stuffer->vertexCount, sizeof *mesh->vertices);
    mesh->tets = snwArena_Copy(arena, stuffer->tets.data, (size_t)stuffer->tets.count, sizeof *mesh->tets);
    if (mesh->vertices == NULL || mesh->tets == NULL)
        return snwFailMemory(message);
    mesh->vertexCount = stuffer->vertexCount, mesh->tetCount = stuffer->tets.count;
    snwMeshQuality quality = snwTetMesh_Quality(mesh);
    if (quality.inverted > 0 || quality.minDihedral < 8 || quality.maxDihedral > 165)
        return snwFail(message, snw_warning, "use a smaller spacing or detail",
            "%d inverted tets, dihedral angles from %.1f to %.1f degrees", quality.inverted, quality.minDihedral,
            quality.maxDihedral);
    if (fabs(quality.volume - volume) > 0.02 * volume)
        return snwFail(message, snw_warning, "use a smaller spacing or detail",
            "the mesh has %.1f %% of the solid's volume", 100 * quality.volume / volume);
    return snw_ok;
}

snwResult snwStuffSolid(
    snwContext* context, const snwStuffDef* def, snwArena* arena, snwTetMesh* mesh, snwMessage* message)
{
    *mesh = (snwTetMesh){0};
    snwLatticeDef lattice = {.solid = def->solid,
        .spacing = def->spacing,
        .detail = def->detail,
        .shift = def->shift,
        .coarseInside = def->coarseInside};
    Stuffer stuffer = {.context = context};
    double volume = def->volume;
    snwResult result = StuffTets(&stuffer, &lattice, message);

    // As it is: without a volume to match, the first mesh's own counts.
    if (result >= 0 && def->asItIs)
        volume = StuffedVolume(&stuffer);
    else if (result >= 0 && volume <= 0)
        result = snwSolid_Volume(context, def->solid, &volume, message);

    if (result >= 0)
        result = MatchVolume(&stuffer, &lattice, volume, message);
    if (result >= 0)
        result = FinishStuffing(&stuffer, volume, arena, mesh, message);
    FreeStuffer(&stuffer);
    return result;
}
