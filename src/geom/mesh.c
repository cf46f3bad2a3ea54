// Edges, boundary triangles and skins of meshes of triangles, tets or hexes. Faces and edges are sorted by their
// vertices, so equal ones become neighbours and no hash table is needed.

#include "geom/mesh.h"
#include "base/sort.h"

#include <string.h>

// Edges and outward faces of an element of positive volume. Faces of tets are padded with -1.
typedef struct Kind
{
    int edgeCount;
    int edges[12][2];
    int faceCount, faceArity;
    int faces[6][4];
} Kind;

static const Kind s_triangle = {.edgeCount = 3, .edges = {{0, 1}, {1, 2}, {0, 2}}};

// Face i of a tet is opposite to vertex i.
static const Kind s_tet = {.edgeCount = 6,
    .edges = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}},
    .faceCount = 4,
    .faceArity = 3,
    .faces = {{1, 2, 3, -1}, {0, 3, 2, -1}, {0, 1, 3, -1}, {0, 2, 1, -1}}};

static const Kind s_hex = {.edgeCount = 12,
    .edges = {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {4, 5}, {5, 6}, {6, 7}, {4, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}},
    .faceCount = 6,
    .faceArity = 4,
    .faces = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}};

static const Kind* KindOfElements(snwElements elements)
{
    return elements.arity == 8 ? &s_hex : elements.arity == 4 ? &s_tet : &s_triangle;
}

// ---------------------------------------------------------------------------------------------------------------------
// Hexes

static const int s_hexCorners[8][3] = {
    {0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

snwMat3 snwHex_Jacobian(const snwVec3 corners[8], int point)
{
    static const double places[2] = {0.21132486540518711775, 0.78867513459481288225}; // 1/2 -+ 1/sqrt(12)

    // At the Gauss point of the corner; columns are the derivatives of the trilinear map along its axes.
    double at[3], column[3][3] = {{0}};
    for (int axis = 0; axis < 3; ++axis)
        at[axis] = places[s_hexCorners[point][axis]];
    for (int i = 0; i < 8; ++i)
    {
        double value[3], slope[3]; // of corner i's linear factor along each axis
        for (int axis = 0; axis < 3; ++axis)
        {
            value[axis] = s_hexCorners[i][axis] ? at[axis] : 1.0 - at[axis];
            slope[axis] = s_hexCorners[i][axis] ? 1.0 : -1.0;
        }

        const double weight[3] = {
            slope[0] * value[1] * value[2], value[0] * slope[1] * value[2], value[0] * value[1] * slope[2]};
        for (int axis = 0; axis < 3; ++axis)
        {
            column[axis][0] += weight[axis] * corners[i].x;
            column[axis][1] += weight[axis] * corners[i].y;
            column[axis][2] += weight[axis] * corners[i].z;
        }
    }

    snwMat3 jacobian;
    for (int axis = 0; axis < 3; ++axis)
        for (int row = 0; row < 3; ++row)
            jacobian.m[row][axis] = column[axis][row];
    return jacobian;
}

double snwHex_Volume(const snwVec3 corners[8])
{
    double sum = 0.0;
    for (int point = 0; point < snw_hexPoints; ++point)
        sum += snwMat3_Determinant(snwHex_Jacobian(corners, point));
    return sum / snw_hexPoints;
}

// ---------------------------------------------------------------------------------------------------------------------
// Edges

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

static uint64_t EdgeKeyOfElement(snwElements elements, int index)
{
    const Kind* kind = KindOfElements(elements);
    const int* corners = snwElements_Corners(elements, index / kind->edgeCount);
    const int* edge = kind->edges[index % kind->edgeCount];
    return PairKey(corners[edge[0]], corners[edge[1]]);
}

snwResult snwMesh_FindEdges(
    snwContext* context, snwElements elements, const int (*extra)[2], int extraCount, int (**edges)[2], int* edgeCount)
{
    int own = KindOfElements(elements)->edgeCount * elements.count, count = own + extraCount;
    uint64_t* keys = snwAllocArray(context, (size_t)count, sizeof *keys);
    int* values = snwAllocArray(context, (size_t)count, sizeof *values);
    *edges = snwAllocArray(context, (size_t)count, sizeof **edges);
    bool enough = keys != NULL && values != NULL && *edges != NULL;

    // Own edges, then the extra ones; sorting puts doubles together.
    for (int i = 0; enough && i < count; ++i)
        keys[i] = i < own ? EdgeKeyOfElement(elements, i) : PairKey(extra[i - own][0], extra[i - own][1]);
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

// ---------------------------------------------------------------------------------------------------------------------
// Boundary

typedef struct Face
{
    int v[4]; // as the element has them; the fourth of a triangle is -1
} Face;

static Face GetFace(snwElements elements, int index)
{
    const Kind* kind = KindOfElements(elements);
    const int* corners = snwElements_Corners(elements, index / kind->faceCount);
    const int* at = kind->faces[index % kind->faceCount];
    return (Face){{corners[at[0]], corners[at[1]], corners[at[2]], at[3] < 0 ? -1 : corners[at[3]]}};
}

static void OrderEnds(int* a, int* b)
{
    int low = *a < *b ? *a : *b;
    *b = *a < *b ? *b : *a;
    *a = low;
}

static Face SortedFace(snwElements elements, int index)
{
    Face face = GetFace(elements, index);
    OrderEnds(&face.v[0], &face.v[1]), OrderEnds(&face.v[2], &face.v[3]);
    OrderEnds(&face.v[0], &face.v[2]), OrderEnds(&face.v[1], &face.v[3]);
    OrderEnds(&face.v[1], &face.v[2]);
    return face;
}

static bool AreSameFaces(snwElements elements, int a, int b)
{
    Face x = SortedFace(elements, a), y = SortedFace(elements, b);
    return memcmp(&x, &y, sizeof x) == 0;
}

// Sorted by the two highest vertices and then, stably, by the two others: equal faces become neighbours, whatever the
// mesh.
static bool SortFaces(snwContext* context, snwElements elements, uint64_t* keys, int* faces, int count)
{
    for (int i = 0; i < count; ++i)
    {
        Face face = SortedFace(elements, i);
        keys[i] = PairKey(face.v[2], face.v[3]);
        faces[i] = i;
    }
    if (!snwSortKeys(context, keys, faces, count))
        return false;
    for (int i = 0; i < count; ++i)
    {
        Face face = SortedFace(elements, faces[i]);
        keys[i] = (uint64_t)(face.v[0] + 1) << 32 | (uint32_t)face.v[1];
    }
    return snwSortKeys(context, keys, faces, count);
}

// From the lowest vertex, so that both sides of a quad are cut alike.
static int CutFromLowest(Face face, int arity, int (*triangles)[3])
{
    int first = 0;
    for (int k = 1; k < arity && arity == 4; ++k)
        first = face.v[k] < face.v[first] ? k : first;
    for (int t = 0; t < arity - 2; ++t)
    {
        triangles[t][0] = face.v[first];
        triangles[t][1] = face.v[(first + t + 1) % arity];
        triangles[t][2] = face.v[(first + t + 2) % arity];
    }
    return arity - 2;
}

static snwResult FindOuterFaces(snwContext* context, snwElements elements, int (**triangles)[3], int* triangleCount)
{
    const Kind* kind = KindOfElements(elements);
    int count = kind->faceCount * elements.count;
    uint64_t* keys = snwAllocArray(context, (size_t)count, sizeof *keys);
    int* values = snwAllocArray(context, (size_t)count, sizeof *values);
    bool* outer = snwAllocArray(context, (size_t)count, sizeof *outer);
    bool enough = keys != NULL && values != NULL && outer != NULL && SortFaces(context, elements, keys, values, count);
    size_t kept = 0;

    // A face that two elements share is inside.
    for (int i = 0; enough && i < count; ++i)
    {
        bool twin = (i > 0 && AreSameFaces(elements, values[i], values[i - 1])) ||
                    (i + 1 < count && AreSameFaces(elements, values[i], values[i + 1]));
        outer[values[i]] = !twin;
        kept += !twin;
    }

    // Quads are cut in two.
    *triangles = enough ? snwAllocArray(context, kept * (size_t)(kind->faceArity - 2), sizeof **triangles) : NULL;
    enough = *triangles != NULL;
    *triangleCount = 0;
    for (int i = 0; enough && i < count; ++i)
        if (outer[i])
            *triangleCount += CutFromLowest(GetFace(elements, i), kind->faceArity, *triangles + *triangleCount);
    snwFree(context, keys);
    snwFree(context, values);
    snwFree(context, outer);

    return enough ? snw_ok : snw_errorMemory;
}

snwResult snwMesh_FindBoundary(
    snwContext* context, const int (*tets)[4], int tetCount, int (**triangles)[3], int* triangleCount)
{
    return FindOuterFaces(context, (snwElements){(const int*)tets, 4, tetCount}, triangles, triangleCount);
}

snwResult snwMesh_FindSkin(snwContext* context, snwElements elements, int (**triangles)[3], int* triangleCount)
{
    if (elements.arity > 3)
        return FindOuterFaces(context, elements, triangles, triangleCount);
    *triangles = snwCopyArray(context, elements.corners, (size_t)elements.count, sizeof **triangles);
    *triangleCount = *triangles != NULL ? elements.count : 0;
    return *triangles != NULL ? snw_ok : snw_errorMemory;
}
