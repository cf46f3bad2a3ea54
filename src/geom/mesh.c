#include "geom/mesh.h"
#include "base/sort.h"

static const int s_edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

// Outward faces of a tet of positive volume; face i is opposite to vertex i.
static const int s_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static uint64_t PairKey(int a, int b)
{
    return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}

static int KeepUnique(const uint64_t* keys, int count, int (*edges)[2])
{
    int kept = 0;
    for (int i = 0; i < count; ++i)
    {
        if (i > 0 && keys[i] == keys[i - 1])
            continue;
        edges[kept][0] = (int)(keys[i] >> 32);
        edges[kept][1] = (int)(uint32_t)keys[i];
        kept++;
    }
    return kept;
}

snwResult snwMesh_FindEdges(snwContext* context, const int (*tets)[4], int tetCount, const int (*extra)[2],
    int extraCount, int (**edges)[2], int* edgeCount)
{
    int count = 6 * tetCount + extraCount;
    uint64_t* keys = snwAllocArray(context, (size_t)count, sizeof *keys);
    int* values = snwAllocArray(context, (size_t)count, sizeof *values);
    *edges = snwAllocArray(context, (size_t)count, sizeof **edges);
    bool enough = keys != NULL && values != NULL && *edges != NULL;
    for (int i = 0; enough && i < count; ++i)
    {
        const int* tet = i < 6 * tetCount ? tets[i / 6] : NULL;
        keys[i] = tet != NULL ? PairKey(tet[s_edges[i % 6][0]], tet[s_edges[i % 6][1]])
                              : PairKey(extra[i - 6 * tetCount][0], extra[i - 6 * tetCount][1]);
    }
    enough = enough && snwSortKeys(context, keys, values, count);
    *edgeCount = enough ? KeepUnique(keys, count, *edges) : 0;
    snwFree(context, keys);
    snwFree(context, values);
    if (!enough)
    {
        snwFree(context, *edges);
        *edges = NULL;
    }
    return enough ? snw_ok : snw_errorMemory;
}

typedef struct Face
{
    int low, middle, high;
} Face;

static Face SortedFace(const int tet[4], int face)
{
    int a = tet[s_faces[face][0]], b = tet[s_faces[face][1]], c = tet[s_faces[face][2]];
    int low = a < b ? a : b, high = a < b ? b : a;
    if (c < low)
        return (Face){c, low, high};
    return c > high ? (Face){low, high, c} : (Face){low, c, high};
}

static bool SameFace(const int (*tets)[4], int a, int b)
{
    Face x = SortedFace(tets[a / 4], a % 4), y = SortedFace(tets[b / 4], b % 4);
    return x.low == y.low && x.middle == y.middle && x.high == y.high;
}

// Sorted by the highest vertex and then, stably, by the two others: equal faces become neighbours, whatever the mesh.
static bool SortFaces(snwContext* context, const int (*tets)[4], uint64_t* keys, int* faces, int count)
{
    for (int i = 0; i < count; ++i)
    {
        keys[i] = (uint64_t)SortedFace(tets[i / 4], i % 4).high;
        faces[i] = i;
    }
    if (!snwSortKeys(context, keys, faces, count))
        return false;
    for (int i = 0; i < count; ++i)
    {
        Face face = SortedFace(tets[faces[i] / 4], faces[i] % 4);
        keys[i] = PairKey(face.low, face.middle);
    }
    return snwSortKeys(context, keys, faces, count);
}

snwResult snwMesh_FindBoundary(
    snwContext* context, const int (*tets)[4], int tetCount, int (**triangles)[3], int* triangleCount)
{
    int count = 4 * tetCount;
    uint64_t* keys = snwAllocArray(context, (size_t)count, sizeof *keys);
    int* values = snwAllocArray(context, (size_t)count, sizeof *values);
    bool* outer = snwAllocArray(context, (size_t)count, sizeof *outer);
    bool enough = keys != NULL && values != NULL && outer != NULL && SortFaces(context, tets, keys, values, count);
    int kept = 0;
    for (int i = 0; enough && i < count; ++i)
    {
        bool twin = (i > 0 && SameFace(tets, values[i], values[i - 1])) ||
                    (i + 1 < count && SameFace(tets, values[i], values[i + 1]));
        outer[values[i]] = !twin;
        kept += !twin;
    }
    *triangles = enough ? snwAllocArray(context, (size_t)kept, sizeof **triangles) : NULL;
    enough = *triangles != NULL;
    *triangleCount = 0;
    for (int i = 0; enough && i < count; ++i)
        for (int k = 0; k < 3 && outer[i]; ++k)
            (*triangles)[*triangleCount][k] = tets[i / 4][s_faces[i % 4][k]], *triangleCount += k == 2;
    snwFree(context, keys);
    snwFree(context, values);
    snwFree(context, outer);
    return enough ? snw_ok : snw_errorMemory;
}
