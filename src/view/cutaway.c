// Meshes cut open by whole cells: the faces between a kept cell and one taken away, bare ones coloured by bone and
// cell, with lines along the cells' edges.

#include "view/cutaway.h"

#include "base/sort.h"
#include "geom/mesh.h"

#include <stdint.h>

enum
{
    snw_tetFaces = 4,
    snw_hexFaces = 6,
};

snwCutawayDef snwDefaultCutawayDef(void)
{
    return (snwCutawayDef){
        .skinColor = {0.62f, 0.36f, 0.28f},
        .fleshColor = {0.80f, 0.27f, 0.22f},
        .boneColor = {0.86f, 0.78f, 0.60f},
    };
}

// A face of one cell, seen from outside counter-clockwise; a triangle has -1 at its end.
typedef struct Face
{
    int v[4];
    int sorted[4];
    int cell;
} Face;

typedef struct Work
{
    const snwCutawayDef* def;
    Face* faces;
    int faceCount;
    bool* kept;    // cells
    int* order;    // faces, equal ones side by side
    uint8_t* bare; // of each face: 0 not to be seen, 1 skin, 2 laid bare
} Work;

static int CellCount(const snwCutawayDef* def)
{
    return def->tetCount + def->hexCount;
}

static int CellVertices(const snwCutawayDef* def, int cell, const int** vertices)
{
    bool tet = cell < def->tetCount;
    *vertices = tet ? def->tets[cell] : def->hexes[cell - def->tetCount];
    return tet ? 4 : 8;
}

static snwResult CheckCells(const snwCutawayDef* def, snwMessage* message)
{
    for (int c = 0; c < CellCount(def); ++c)
    {
        const int* v;
        int count = CellVertices(def, c, &v);
        for (int i = 0; i < count; ++i)
            if (v[i] < 0 || v[i] >= def->vertexCount)
                return snwFail(message, snw_errorArgument, "number vertices from 0", "cell %d has vertex %d of %d", c,
                    v[i], def->vertexCount);
    }
    return snw_ok;
}

static bool IsKept(const snwCutawayDef* def, int cell)
{
    const int* v;
    int count = CellVertices(def, cell, &v);
    double side = 0;
    for (int i = 0; i < count; ++i)
        side += snwVec3_Dot(snwVec3_Sub(def->vertices[v[i]], def->planePoint), def->planeNormal);
    return !(side > 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Faces

static void SortFour(int v[4])
{
    for (int i = 1; i < 4; ++i)
        for (int j = i; j > 0 && v[j] < v[j - 1]; --j)
        {
            int swapped = v[j];
            v[j] = v[j - 1];
            v[j - 1] = swapped;
        }
}

static void PutFace(Work* work, int cell, int a, int b, int c, int d)
{
    Face* face = &work->faces[work->faceCount++];
    *face = (Face){{a, b, c, d}, {a, b, c, d}, cell};
    SortFour(face->sorted);
}

static void PutTet(Work* work, int cell)
{
    static const int sides[snw_tetFaces][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    const int* v = work->def->tets[cell];
    const snwVec3* p = work->def->vertices;
    bool turned = snwTet_Volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]) < 0;
    for (int i = 0; i < snw_tetFaces; ++i)
        PutFace(work, cell, v[sides[i][0]], v[sides[i][turned ? 2 : 1]], v[sides[i][turned ? 1 : 2]], -1);
}

static void PutHex(Work* work, int cell)
{
    static const int sides[snw_hexFaces][4] = {
        {0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
    const int* v = work->def->hexes[cell - work->def->tetCount];
    for (int i = 0; i < snw_hexFaces; ++i)
        PutFace(work, cell, v[sides[i][0]], v[sides[i][1]], v[sides[i][2]], v[sides[i][3]]);
}

static uint64_t CornerPairKey(int a, int b)
{
    return (uint64_t)(uint32_t)(a + 1) << 32 | (uint32_t)(b + 1);
}

// Stably by the two higher vertices and then by the two lower ones: equal faces become neighbours.
static bool SortCutFaces(snwContext* context, Work* work, uint64_t* keys)
{
    for (int i = 0; i < work->faceCount; ++i)
    {
        keys[i] = CornerPairKey(work->faces[i].sorted[2], work->faces[i].sorted[3]);
        work->order[i] = i;
    }
    if (!snwSortKeys(context, keys, work->order, work->faceCount))
        return false;
    for (int i = 0; i < work->faceCount; ++i)
        keys[i] = CornerPairKey(work->faces[work->order[i]].sorted[0], work->faces[work->order[i]].sorted[1]);
    return snwSortKeys(context, keys, work->order, work->faceCount);
}

static bool IsSameFace(const Face* a, const Face* b)
{
    return a->sorted[0] == b->sorted[0] && a->sorted[1] == b->sorted[1] && a->sorted[2] == b->sorted[2] &&
           a->sorted[3] == b->sorted[3];
}

// A face is seen if its cell is kept and the one beyond is not; it was skin if there never was one beyond.
static void FindSeen(Work* work)
{
    for (int begin = 0, end; begin < work->faceCount; begin = end)
    {
        int kept = 0;
        for (end = begin; end < work->faceCount; ++end)
        {
            if (!IsSameFace(&work->faces[work->order[begin]], &work->faces[work->order[end]]))
                break;
            kept += work->kept[work->faces[work->order[end]].cell];
        }
        for (int i = begin; i < end && kept == 1; ++i)
            if (work->kept[work->faces[work->order[i]].cell])
                work->bare[work->order[i]] = end - begin == 1 ? 1 : 2;
    }
}

static bool MakeFaces(snwContext* context, Work* work)
{
    const snwCutawayDef* def = work->def;
    size_t count = snw_tetFaces * (size_t)def->tetCount + snw_hexFaces * (size_t)def->hexCount + 1;
    work->faces = snwAllocArray(context, count, sizeof *work->faces);
    work->kept = snwAllocArray(context, (size_t)CellCount(def) + 1, sizeof *work->kept);
    work->order = snwAllocArray(context, count, sizeof *work->order);
    work->bare = snwAllocArray(context, count, 1);
    uint64_t* keys = snwAllocArray(context, count, sizeof *keys);
    bool made = work->faces && work->kept && work->order && work->bare && keys;

    // Faces of all cells, kept or not: sorting then pairs them.
    for (int c = 0; made && c < CellCount(def); ++c)
    {
        work->kept[c] = IsKept(def, c);
        if (c < def->tetCount)
            PutTet(work, c);
        else
            PutHex(work, c);
    }

    // What is seen is known once each face knows whether it has a neighbour.
    made = made && SortCutFaces(context, work, keys);
    if (made)
        FindSeen(work);
    snwFree(context, keys);
    return made;
}

static void FreeWork(snwContext* context, Work* work)
{
    snwFree(context, work->faces);
    snwFree(context, work->kept);
    snwFree(context, work->order);
    snwFree(context, work->bare);
}

// ---------------------------------------------------------------------------------------------------------------------
// The mesh

typedef struct Output
{
    float *positions, *colors;
    int *triangles, *sources;
    uint8_t* edges;
    int vertexCount, triangleCount;
} Output;

// Neighbours of one colour are told apart by a few percent of brightness.
static float CellShade(int cell)
{
    uint32_t x = (uint32_t)cell * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    return 0.90f + 0.16f * (float)(x >> 16) / 65536;
}

static snwFloat3 FaceColor(const Work* work, const Face* face, int corner, bool bare)
{
    const snwCutawayDef* def = work->def;
    bool bone = def->bones != NULL && def->bones[face->cell] >= 0;
    if (bare)
        return snwFloat3_Scale(bone ? def->boneColor : def->fleshColor, CellShade(face->cell));
    if (def->colors != NULL)
        return snwFloat3_Load(def->colors + 3 * (size_t)face->v[corner]);
    return bone ? def->boneColor : def->skinColor;
}

static void PutCutTriangle(Output* out, int a, int b, int c, uint8_t edges)
{
    int* t = out->triangles + 3 * (size_t)out->triangleCount;
    t[0] = a;
    t[1] = b;
    t[2] = c;
    out->edges[out->triangleCount++] = edges;
}

// A quad becomes two triangles without a line along their common side.
static void EmitFace(const Work* work, Output* out, const Face* face, bool bare)
{
    int corners = face->v[3] < 0 ? 3 : 4, first = out->vertexCount;
    for (int i = 0; i < corners; ++i, ++out->vertexCount)
    {
        size_t at = 3 * (size_t)out->vertexCount;
        snwFloat3_Store(snwFloat3_FromVec3(work->def->vertices[face->v[i]]), out->positions + at);
        snwFloat3_Store(FaceColor(work, face, i, bare), out->colors + at);
        out->sources[out->vertexCount] = face->v[i];
    }
    PutCutTriangle(out, first, first + 1, first + 2, corners == 3 ? 7 : 3);
    if (corners == 4)
        PutCutTriangle(out, first, first + 2, first + 3, 6);
}

static snwResult EmitFaces(const Work* work, snwArena* arena, snwCutaway* cut, snwMessage* message)
{
    // As many faces as are seen, at most four corners and two triangles each.
    size_t seen = 1;
    for (int i = 0; i < work->faceCount; ++i)
        seen += work->bare[i] > 0;
    Output out = {
        .positions = snwArena_Alloc(arena, 4 * seen, 3 * sizeof(float)),
        .colors = snwArena_Alloc(arena, 4 * seen, 3 * sizeof(float)),
        .triangles = snwArena_Alloc(arena, 2 * seen, 3 * sizeof(int)),
        .sources = snwArena_Alloc(arena, 4 * seen, sizeof(int)),
        .edges = snwArena_Alloc(arena, 2 * seen, 1),
    };
    if (arena->failed)
        return snwFailMemory(message);

    // First the skin, then what the cut laid bare.
    for (int pass = 1; pass <= 2; ++pass)
    {
        for (int i = 0; i < work->faceCount; ++i)
            if (work->bare[i] == pass)
                EmitFace(work, &out, &work->faces[i], pass == 2);
        cut->skinCount = pass == 1 ? out.triangleCount : cut->skinCount;
    }

    // Lines only along the elements' own edges, not along the diagonals of quads.
    cut->bareCount = out.triangleCount - cut->skinCount;
    cut->sources = out.sources;
    cut->look = (snwMeshLook){
        .kind = snw_pictureSolid,
        .positions = out.positions,
        .colors = out.colors,
        .vertexCount = out.vertexCount,
        .triangles = out.triangles,
        .triangleCount = out.triangleCount,
        .opacity = 1,
        .flat = true,
        .edges = true,
        .edgeMask = out.edges,
    };

    return snw_ok;
}

snwResult snwMakeCutaway(
    snwContext* context, snwArena* arena, const snwCutawayDef* def, snwCutaway* cut, snwMessage* message)
{
    *cut = (snwCutaway){0};
    Work work = {.def = def};
    snwResult result = CheckCells(def, message);
    if (result >= 0 && !MakeFaces(context, &work))
        result = snwFailMemory(message);
    if (result >= 0)
        result = EmitFaces(&work, arena, cut, message);
    for (int c = 0; result >= 0 && c < CellCount(def); ++c)
        cut->keptCount += work.kept[c];
    FreeWork(context, &work);
    return result;
}
