// Meshes of a picture: skins with normals per corner (sharp edges stay sharp), meshes from plain arrays, and solids -
// spheres, capsules, boxes with rounded edges, the disc of a ground.

#include "view/picture.h"

#include "base/array.h"

#include <string.h>

static const float s_creaseCosine = 0.766f; // edges of more than 40 degrees stay sharp

static void FreeMesh(snwContext* context, snwPictureMesh* mesh)
{
    snwFree(context, mesh->positions);
    snwFree(context, mesh->normals);
    snwFree(context, mesh->triangles);
    snwFree(context, mesh->corners);
    snwFree(context, mesh->shape);
    snwFree(context, mesh->shapeNormals);
    snwFree(context, mesh->colors);
    snwFree(context, mesh->paintPoints);
    snwFree(context, mesh->texcoords);
    snwFree(context, mesh->edges);
}

void snwPicture_Truncate(snwPicture* picture, int count)
{
    for (; picture->meshCount > count; picture->meshCount--)
        FreeMesh(picture->context, &picture->meshes[picture->meshCount - 1]);
}

void snwPicture_Free(snwPicture* picture)
{
    snwPicture_Truncate(picture, 0);
    snwFree(picture->context, picture->meshes);
    picture->meshes = NULL;
    picture->meshCapacity = 0;
}

// Takes the mesh over, also when it fails.
static snwResult KeepMesh(snwPicture* picture, snwPictureMesh* mesh, int* index, snwMessage* message)
{
    if (!snwArray_Grow(picture->context, (void**)&picture->meshes, picture->meshCount, &picture->meshCapacity, 1,
            sizeof *picture->meshes))
    {
        FreeMesh(picture->context, mesh);
        return snwFailMemory(message);
    }
    *index = picture->meshCount;
    picture->meshes[picture->meshCount++] = *mesh;
    return snw_ok;
}

static bool AllocMesh(snwContext* context, snwPictureMesh* mesh, bool solid)
{
    size_t vertices = (size_t)mesh->vertexCount + 2, corners = 3 * (size_t)mesh->triangleCount + 1;
    mesh->positions = snwAllocArray(context, vertices, 3 * sizeof(float));
    mesh->triangles = snwAllocArray(context, corners, sizeof(int));
    mesh->corners = snwAllocArray(context, corners, sizeof(int));
    if (solid)
    {
        mesh->normalCount = mesh->vertexCount;
        mesh->normals = snwAllocArray(context, vertices, 3 * sizeof(float));
        mesh->shape = snwAllocArray(context, vertices, 3 * sizeof(float));
        mesh->shapeNormals = snwAllocArray(context, vertices, 3 * sizeof(float));
    }
    bool whole = mesh->positions && mesh->triangles && mesh->corners;
    return whole && (!solid || (mesh->normals && mesh->shape && mesh->shapeNormals));
}

// ---------------------------------------------------------------------------------------------------------------------
// Skins

static snwFloat3 Position(const snwPictureMesh* mesh, int vertex)
{
    return snwFloat3_Load(mesh->positions + 3 * (size_t)vertex);
}

static snwFloat3 FaceNormal(const snwPictureMesh* mesh, int triangle)
{
    const int* v = mesh->triangles + 3 * (size_t)triangle;
    snwFloat3 a = Position(mesh, v[0]);
    return snwFloat3_Cross(snwFloat3_Sub(Position(mesh, v[1]), a), snwFloat3_Sub(Position(mesh, v[2]), a));
}

static int PlaceOfVertex(const int* places, int vertex)
{
    return places != NULL ? places[vertex] : vertex;
}

// Corners around each vertex: corners[first[v] .. first[v + 1]).
typedef struct Fans
{
    int* first;
    int* corners;
    snwFloat3* faces; // unit normals of the triangles
    int* group;       // of each entry of corners: the smallest entry that it is smooth with
} Fans;

static void FreeFans(snwContext* context, Fans* fans)
{
    snwFree(context, fans->first);
    snwFree(context, fans->corners);
    snwFree(context, fans->faces);
    snwFree(context, fans->group);
}

static bool MakeFans(snwContext* context, const snwPictureMesh* mesh, const int* places, Fans* fans)
{
    int cornerCount = 3 * mesh->triangleCount;
    fans->first = snwAllocArray(context, (size_t)mesh->vertexCount + 2, sizeof(int));
    fans->corners = snwAllocArray(context, (size_t)cornerCount + 1, sizeof(int));
    fans->group = snwAllocArray(context, (size_t)cornerCount + 1, sizeof(int));
    fans->faces = snwAllocArray(context, (size_t)mesh->triangleCount + 1, sizeof(snwFloat3));
    if (!fans->first || !fans->corners || !fans->group || !fans->faces)
        return false;
    for (int i = 0; i < cornerCount; ++i)
        fans->first[PlaceOfVertex(places, mesh->triangles[i]) + 2]++;
    for (int v = 2; v <= mesh->vertexCount; ++v)
        fans->first[v] += fans->first[v - 1];
    for (int i = 0; i < cornerCount; ++i)
        fans->corners[fans->first[PlaceOfVertex(places, mesh->triangles[i]) + 1]++] = i;
    for (int t = 0; t < mesh->triangleCount; ++t)
        fans->faces[t] = snwFloat3_Normalize(FaceNormal(mesh, t));
    return true;
}

// Two triangles at a vertex share an edge if they have one more vertex in common.
static bool SharesEdge(const snwPictureMesh* mesh, const int* places, int cornerA, int cornerB)
{
    const int* a = mesh->triangles + cornerA / 3 * 3;
    const int* b = mesh->triangles + cornerB / 3 * 3;
    int common = 0;
    for (int i = 0; i < 9; ++i)
        common += PlaceOfVertex(places, a[i / 3]) == PlaceOfVertex(places, b[i % 3]);
    return common >= 2;
}

static void JoinGroups(Fans* fans, int begin, int end, int i, int j)
{
    int keep = fans->group[i] < fans->group[j] ? fans->group[i] : fans->group[j];
    int drop = fans->group[i] < fans->group[j] ? fans->group[j] : fans->group[i];
    for (int k = begin; k < end; ++k)
        if (fans->group[k] == drop)
            fans->group[k] = keep;
}

// Corners of a vertex that are connected by smooth edges get one normal.
static void GroupFan(const snwPictureMesh* mesh, const int* places, Fans* fans, int vertex)
{
    int begin = fans->first[vertex], end = fans->first[vertex + 1];
    for (int i = begin; i < end; ++i)
        fans->group[i] = i;
    for (int i = begin; i < end; ++i)
        for (int j = i + 1; j < end; ++j)
        {
            int a = fans->corners[i], b = fans->corners[j];
            bool smooth = snwFloat3_Dot(fans->faces[a / 3], fans->faces[b / 3]) > s_creaseCosine;
            if (smooth && fans->group[i] != fans->group[j] && SharesEdge(mesh, places, a, b))
                JoinGroups(fans, begin, end, i, j);
        }
}

// places: NULL, or the place of each vertex: those that files split at a seam look like one.
static bool MakeCorners(snwContext* context, snwPictureMesh* mesh, const int* places)
{
    Fans fans = {0};
    bool made = MakeFans(context, mesh, places, &fans);
    for (int v = 0; made && v < mesh->vertexCount; ++v)
    {
        GroupFan(mesh, places, &fans, v);
        for (int i = fans.first[v]; i < fans.first[v + 1]; ++i)
        {
            bool leads = fans.group[i] == i;
            mesh->corners[fans.corners[i]] = leads ? mesh->normalCount++ : mesh->corners[fans.corners[fans.group[i]]];
        }
    }
    FreeFans(context, &fans);
    mesh->normals = made ? snwAllocArray(context, (size_t)mesh->normalCount + 1, 3 * sizeof(float)) : NULL;
    return mesh->normals != NULL;
}

// Each corner adds the face's normal with the weight sin(angle) / (|e1| |e2|) (Max 1999): exact on a sphere, and
// independent of how a flat face is cut into triangles.
static void UpdateNormals(snwPictureMesh* mesh)
{
    memset(mesh->normals, 0, (size_t)mesh->normalCount * 3 * sizeof(float));

    for (int t = 0; t < mesh->triangleCount; ++t)
    {
        snwFloat3 face = FaceNormal(mesh, t);
        const int* v = mesh->triangles + 3 * (size_t)t;
        for (int i = 0; i < 3; ++i)
        {
            snwFloat3 a = Position(mesh, v[i]);
            snwFloat3 e1 = snwFloat3_Sub(Position(mesh, v[(i + 1) % 3]), a);
            snwFloat3 e2 = snwFloat3_Sub(Position(mesh, v[(i + 2) % 3]), a);
            float weight = snwFloat3_Dot(e1, e1) * snwFloat3_Dot(e2, e2);
            float* n = mesh->normals + 3 * (size_t)mesh->corners[3 * (size_t)t + (size_t)i];
            if (weight > 0)
                snwFloat3_Store(snwFloat3_MulAdd(snwFloat3_Load(n), 1 / weight, face), n);
        }
    }

    // Sums to units.
    for (int i = 0; i < mesh->normalCount; ++i)
    {
        float* n = mesh->normals + 3 * (size_t)i;
        snwFloat3_Store(snwFloat3_Normalize(snwFloat3_Load(n)), n);
    }
}

snwResult snwPicture_AddSeamedSkin(
    snwPicture* picture, const snwSkin* skin, const int* places, snwFloat3 color, int* index, snwMessage* message)
{
    snwPictureMesh mesh = {.kind = snw_pictureSkin, .color = color, .vertexCount = skin->vertexCount};
    mesh.triangleCount = skin->triangleCount;
    bool made = AllocMesh(picture->context, &mesh, false);
    for (int i = 0; made && i < skin->vertexCount; ++i)
        memcpy(mesh.positions + 3 * (size_t)i, (const char*)skin->positions + (size_t)i * (size_t)skin->stride,
            3 * sizeof(float));
    if (made)
        memcpy(mesh.triangles, skin->triangles, 3 * (size_t)skin->triangleCount * sizeof(int));
    if (!made || !MakeCorners(picture->context, &mesh, places))
    {
        FreeMesh(picture->context, &mesh);
        return snwFailMemory(message);
    }
    UpdateNormals(&mesh);
    return KeepMesh(picture, &mesh, index, message);
}

snwResult snwPicture_AddSkin(snwPicture* picture, const snwSkin* skin, snwFloat3 color, int* index, snwMessage* message)
{
    return snwPicture_AddSeamedSkin(picture, skin, NULL, color, index, message);
}

void snwPicture_MoveSkin(snwPicture* picture, int index, const float* positions)
{
    snwPictureMesh* mesh = &picture->meshes[index];
    memcpy(mesh->positions, positions, 3 * (size_t)mesh->vertexCount * sizeof(float));
    UpdateNormals(mesh);
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes from plain arrays

static snwResult CheckMeshLook(const snwMeshLook* look, snwMessage* message)
{
    if (look->vertexCount < 0 || look->triangleCount < 0)
        return snwFail(message, snw_errorArgument, "give counts of 0 or more", "a mesh has %d vertices, %d triangles",
            look->vertexCount, look->triangleCount);
    for (int t = 0; t < look->triangleCount; ++t)
        for (int i = 0; i < 3; ++i)
        {
            int v = look->triangles[3 * (size_t)t + (size_t)i];
            if (v < 0 || v >= look->vertexCount)
                return snwFail(message, snw_errorArgument, "number vertices from 0", "triangle %d has vertex %d of %d",
                    t, v, look->vertexCount);
        }
    return snw_ok;
}

// Embree reads a little past the end, and nobody wants to draw NaN.
static float* CopyLookColors(snwContext* context, const snwMeshLook* look)
{
    size_t count = 3 * (size_t)look->vertexCount;
    float* colors = snwAllocArray(context, count + 1, sizeof(float));
    for (size_t i = 0; colors != NULL && i < count; ++i)
        colors[i] = look->colors[i] > 0 ? snwFloat_Min(look->colors[i], 1) : 0;
    return colors;
}

static bool CopyTexcoords(snwContext* context, const snwMeshLook* look, snwPictureMesh* mesh)
{
    size_t count = 2 * (size_t)look->vertexCount;
    mesh->texture = *look->texture;
    mesh->texcoords = snwAllocArray(context, count + 1, sizeof(float));
    for (size_t i = 0; mesh->texcoords != NULL && i < count; ++i)
        mesh->texcoords[i] = isfinite(look->texcoords[i]) ? look->texcoords[i] : 0;
    return mesh->texcoords != NULL;
}

static bool CopyMeshLook(snwContext* context, const snwMeshLook* look, snwPictureMesh* mesh)
{
    size_t triangleCount = (size_t)look->triangleCount;
    if (!AllocMesh(context, mesh, false))
        return false;

    // Rays that start very far away would stop the ray tracer; NaN it leaves alone.
    for (size_t i = 0; i < 3 * (size_t)look->vertexCount; ++i)
        mesh->positions[i] = fabsf(look->positions[i]) <= SNW_FARTHEST ? look->positions[i] : NAN;
    if (triangleCount > 0)
        memcpy(mesh->triangles, look->triangles, 3 * triangleCount * sizeof(int));
    mesh->paint = look->paint;
    mesh->paintData = look->paintData;

    // Where colours come from, if not from the mesh as a whole: a function of places, colours per vertex, or a
    // texture.
    if (look->paintPoints != NULL)
    {
        size_t count = 3 * (size_t)look->vertexCount;
        mesh->paintPoints = snwCopyArray(context, look->paintPoints, count, sizeof(float));
        if (mesh->paintPoints == NULL)
            return false;
    }

    if (look->colors != NULL)
        mesh->colors = CopyLookColors(context, look);
    if (look->colors != NULL && mesh->colors == NULL)
        return false;
    if (look->texcoords != NULL && look->texture != NULL && !CopyTexcoords(context, look, mesh))
        return false;

    // Lines along all three sides, or those that a mask names.
    if (!look->edges)
        return true;
    mesh->edges = snwAllocArray(context, triangleCount + 1, 1);
    for (size_t t = 0; mesh->edges != NULL && t < triangleCount; ++t)
        mesh->edges[t] = look->edgeMask != NULL ? look->edgeMask[t] : 7;

    return mesh->edges != NULL;
}

// One normal per triangle, or those given, or smooth ones.
static bool SetNormals(snwContext* context, const snwMeshLook* look, snwPictureMesh* mesh)
{
    // Smooth: by corners, with creases.
    if (!look->flat && look->normals == NULL)
    {
        if (!MakeCorners(context, mesh, look->places))
            return false;
        UpdateNormals(mesh);
        return true;
    }

    // Flat ones have one normal per triangle, others one per vertex.
    mesh->normalCount = look->flat ? mesh->triangleCount : mesh->vertexCount;
    mesh->normals = snwAllocArray(context, (size_t)mesh->normalCount + 1, 3 * sizeof(float));
    if (mesh->normals == NULL)
        return false;
    for (int i = 0; i < mesh->normalCount; ++i)
    {
        snwFloat3 n = look->flat ? FaceNormal(mesh, i) : snwFloat3_Load(look->normals + 3 * (size_t)i);
        snwFloat3_Store(snwFloat3_Normalize(n), mesh->normals + 3 * (size_t)i);
    }

    for (int i = 0; i < 3 * mesh->triangleCount; ++i)
        mesh->corners[i] = look->flat ? i / 3 : mesh->triangles[i];
    return true;
}

snwResult snwPicture_AddMesh(snwPicture* picture, const snwMeshLook* look, int* index, snwMessage* message)
{
    snwResult result = CheckMeshLook(look, message);
    if (result < 0)
        return result;
    snwPictureMesh mesh = {
        // Skin that is added as a mesh is shaded as flesh.
        .kind = look->kind == snw_pictureSkin ? snw_pictureFlesh : look->kind,
        .color = look->color,
        .vertexCount = look->vertexCount,
        .triangleCount = look->triangleCount,
        .transparency = look->opacity > 0 && look->opacity < 1 ? 1 - look->opacity : 0,
        .gloss = snwFloat_Clamp(look->gloss, 0, 1),
        .frame = snwIdentityTransform(),
    };

    if (!CopyMeshLook(picture->context, look, &mesh) || !SetNormals(picture->context, look, &mesh))
    {
        FreeMesh(picture->context, &mesh);
        return snwFailMemory(message);
    }

    return KeepMesh(picture, &mesh, index, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Solids

static void PutPictureVertex(snwPictureMesh* mesh, snwFloat3 position, snwFloat3 normal)
{
    snwFloat3_Store(position, mesh->shape + 3 * (size_t)mesh->vertexCount);
    snwFloat3_Store(normal, mesh->shapeNormals + 3 * (size_t)mesh->vertexCount);
    mesh->vertexCount++;
}

static void PutPictureTriangle(snwPictureMesh* mesh, int a, int b, int c)
{
    int* corner = mesh->corners + 3 * (size_t)mesh->triangleCount;
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
    memcpy(mesh->triangles + 3 * (size_t)mesh->triangleCount++, corner, 3 * sizeof(int));
}

// A grid of (columns + 1) x (rows + 1) vertices that starts at `first`; wound so that the normals point outward.
static void PutGrid(snwPictureMesh* mesh, int first, int columns, int rows)
{
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
        {
            int a = first + r * (columns + 1) + c, b = a + columns + 1;
            PutPictureTriangle(mesh, a, b, a + 1);
            PutPictureTriangle(mesh, a + 1, b, b + 1);
        }
}

// A sphere whose halves are pulled apart by 2 halfLength along y.
static bool MakeCapsule(snwContext* context, snwPictureMesh* mesh, float radius, float halfLength)
{
    enum
    {
        columns = 96,
        rings = 24 // of each half
    };
    mesh->vertexCount = 2 * (rings + 1) * (columns + 1);
    mesh->triangleCount = 2 * (2 * rings + 1) * columns;
    if (!AllocMesh(context, mesh, true))
        return false;
    mesh->vertexCount = mesh->triangleCount = 0;

    // Two halves, each with its own ring at the middle: rings of the upper one are lifted, of the lower one pushed
    // down.
    for (int r = 0; r < 2 * (rings + 1); ++r)
    {
        int ring = r <= rings ? r : r - 1;
        float polar = SNW_PIF * (float)ring / (2 * rings), lift = r <= rings ? halfLength : -halfLength;
        for (int c = 0; c <= columns; ++c)
        {
            float around = 2 * SNW_PIF * (float)(c % columns) / columns;
            snwFloat3 n = {sinf(polar) * sinf(around), cosf(polar), sinf(polar) * cosf(around)};
            PutPictureVertex(mesh, snwFloat3_MulAdd((snwFloat3){0, lift, 0}, radius, n), n);
        }
    }

    PutGrid(mesh, 0, columns, 2 * rings + 1);
    return true;
}

enum
{
    snw_bevelSteps = 5,
    snw_boxColumns = 2 * snw_bevelSteps + 1
};

// Position along one axis of a face: the steps crowd where the edge is rounded. offset is -1..1, past the flat part.
static float BoxStep(int i, float flat, float* offset)
{
    int step = i <= snw_bevelSteps ? i - snw_bevelSteps : i - snw_bevelSteps - 1;
    *offset = tanf(0.25f * SNW_PIF * (float)step / snw_bevelSteps);
    return i <= snw_bevelSteps ? -flat : flat;
}

static void PutBoxFace(snwPictureMesh* mesh, const float flat[3], float bevel, int axis, float side)
{
    int first = mesh->vertexCount, u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int j = 0; j <= snw_boxColumns; ++j)
        for (int i = 0; i <= snw_boxColumns; ++i)
        {
            float p[3], n[3];
            p[axis] = side * flat[axis];
            n[axis] = side;
            p[u] = BoxStep(i, flat[u], &n[u]);
            p[v] = BoxStep(j, flat[v], &n[v]);
            p[u] *= -side; // mirrored for one side, so that both wind the same way
            n[u] *= -side;
            snwFloat3 normal = snwFloat3_Normalize(snwFloat3_Load(n));
            PutPictureVertex(mesh, snwFloat3_MulAdd(snwFloat3_Load(p), bevel, normal), normal);
        }
    PutGrid(mesh, first, snw_boxColumns, snw_boxColumns);
}

// A real edge catches a line of light; so the edges are rounded a little inside the true box.
static bool MakeBox(snwContext* context, snwPictureMesh* mesh, snwFloat3 half)
{
    mesh->vertexCount = 6 * (snw_boxColumns + 1) * (snw_boxColumns + 1);
    mesh->triangleCount = 6 * 2 * snw_boxColumns * snw_boxColumns;
    if (!AllocMesh(context, mesh, true))
        return false;
    mesh->vertexCount = mesh->triangleCount = 0;
    float bevel = 0.08f * snwFloat_Min(half.x, snwFloat_Min(half.y, half.z));
    const float flat[3] = {half.x - bevel, half.y - bevel, half.z - bevel};
    for (int axis = 0; axis < 3; ++axis)
    {
        PutBoxFace(mesh, flat, bevel, axis, 1);
        PutBoxFace(mesh, flat, bevel, axis, -1);
    }
    return true;
}

static bool MakeGround(snwContext* context, snwPictureMesh* mesh, float radius)
{
    enum
    {
        columns = 64
    };
    mesh->kind = snw_pictureGround;
    mesh->vertexCount = columns + 1;
    mesh->triangleCount = columns;
    if (!AllocMesh(context, mesh, true))
        return false;

    // Room for all has been made; Put counts them again.
    mesh->vertexCount = mesh->triangleCount = 0;
    PutPictureVertex(mesh, (snwFloat3){0, 0, 0}, (snwFloat3){0, 1, 0});

    // A fan around the middle.
    for (int c = 0; c < columns; ++c)
    {
        float around = 2 * SNW_PIF * (float)c / columns;
        PutPictureVertex(mesh, (snwFloat3){radius * sinf(around), 0, radius * cosf(around)}, (snwFloat3){0, 1, 0});
        PutPictureTriangle(mesh, 0, 1 + c, 1 + (c + 1) % columns);
    }

    return true;
}

static bool MakeSolid(snwPicture* picture, snwPictureMesh* mesh, snwColliderKind kind, snwFloat3 size)
{
    switch (kind)
    {
        case snw_colliderPlane:
            return MakeGround(picture->context, mesh, 80 * picture->radius);
        case snw_colliderSphere:
            return MakeCapsule(picture->context, mesh, size.x, 0);
        case snw_colliderBox:
            return MakeBox(picture->context, mesh, size);
        case snw_colliderCapsule:
        default:
            return MakeCapsule(picture->context, mesh, size.x, size.y);
    }
}

static snwResult KeepSolid(snwPicture* picture, snwPictureMesh* mesh, bool made, int* index, snwMessage* message)
{
    if (!made)
    {
        FreeMesh(picture->context, mesh);
        return snwFailMemory(message);
    }
    snwResult result = KeepMesh(picture, mesh, index, message);
    if (result >= 0)
    {
        snwTransform identity = {.rotation = {0, 0, 0, 1}};
        snwPicture_MoveSolid(picture, *index, &identity);
    }
    return result;
}

snwResult snwPicture_AddSolid(
    snwPicture* picture, snwColliderKind kind, snwVec3 size, snwFloat3 color, int* index, snwMessage* message)
{
    snwPictureMesh mesh = {.kind = snw_pictureSolid, .color = color};
    bool made = MakeSolid(picture, &mesh, kind, snwFloat3_FromVec3(size));
    return KeepSolid(picture, &mesh, made, index, message);
}

snwResult snwPicture_AddTriangles(
    snwPicture* picture, const snwVec3* corners, int count, snwFloat3 color, int* index, snwMessage* message)
{
    snwPictureMesh mesh = {.kind = snw_pictureSolid, .color = color, .vertexCount = 3 * count, .triangleCount = count};
    bool made = AllocMesh(picture->context, &mesh, true);
    mesh.vertexCount = mesh.triangleCount = 0;
    for (int i = 0; made && i < count; ++i)
    {
        snwFloat3 a = snwFloat3_FromVec3(corners[3 * i]), b = snwFloat3_FromVec3(corners[3 * i + 1]);
        snwFloat3 c = snwFloat3_FromVec3(corners[3 * i + 2]);
        snwFloat3 n = snwFloat3_Normalize(snwFloat3_Cross(snwFloat3_Sub(b, a), snwFloat3_Sub(c, a)));
        PutPictureVertex(&mesh, a, n);
        PutPictureVertex(&mesh, b, n);
        PutPictureVertex(&mesh, c, n);
        PutPictureTriangle(&mesh, 3 * i, 3 * i + 1, 3 * i + 2);
    }
    return KeepSolid(picture, &mesh, made, index, message);
}

// The disc of a plane is laid under the centre of the picture, wherever the plane's own origin is.
static snwFloat3 GroundOrigin(const snwPicture* picture, const snwTransform* transform)
{
    snwFloat3 up = snwFloat3_Rotate(transform->rotation, (snwFloat3){0, 1, 0});
    snwFloat3 origin = snwFloat3_FromVec3(transform->position);
    float height = snwFloat3_Dot(snwFloat3_Sub(picture->centre, origin), up);
    return snwFloat3_MulAdd(picture->centre, -height, up);
}

void snwPicture_MoveSolid(snwPicture* picture, int index, const snwTransform* transform)
{
    snwPictureMesh* mesh = &picture->meshes[index];
    mesh->frame = *transform;
    snwFloat3 origin = mesh->kind == snw_pictureGround ? GroundOrigin(picture, transform)
                                                       : snwFloat3_FromVec3(transform->position);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        size_t at = 3 * (size_t)i;
        snwFloat3 p = snwFloat3_Rotate(transform->rotation, snwFloat3_Load(mesh->shape + at));
        snwFloat3 n = snwFloat3_Rotate(transform->rotation, snwFloat3_Load(mesh->shapeNormals + at));
        snwFloat3_Store(snwFloat3_Add(origin, p), mesh->positions + at);
        snwFloat3_Store(n, mesh->normals + at);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Colours

static bool IsDefaultColor(const float color[3])
{
    snwShapeDef def = snwDefaultShapeDef(snw_shapeBlock);
    return def.color[0] == color[0] && def.color[1] == color[1] && def.color[2] == color[2];
}

snwFloat3 snwPicture_BodyColor(int body, const float color[3])
{
    static const snwFloat3 palette[] = {
        {0.72f, 0.11f, 0.06f}, // coral
        {0.02f, 0.27f, 0.34f}, // teal
        {0.80f, 0.38f, 0.03f}, // amber
        {0.24f, 0.17f, 0.52f}, // violet
        {0.22f, 0.45f, 0.14f}, // leaf
        {0.74f, 0.22f, 0.36f}, // rose
    };
    bool own = color[0] + color[1] + color[2] > 0 && (body == 0 || !IsDefaultColor(color));
    if (own)
        return snwFloat3_Load(color);
    return palette[body % (int)(sizeof palette / sizeof palette[0])];
}
