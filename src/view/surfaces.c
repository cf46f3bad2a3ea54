// Colliders as triangles to be seen: rooms, flights of stairs, height fields with skirts, meshes; and how large any
// collider is.

#include "view/surfaces.h"

#include "base/array.h"

#include <float.h>

// ---------------------------------------------------------------------------------------------------------------------
// Bounds

static void HeightRange(const snwColliderDef* field, double* low, double* high)
{
    *low = DBL_MAX;
    *high = -DBL_MAX;
    for (int i = 0; i < field->columns * field->rows; ++i)
    {
        *low = fmin(*low, field->heights[i]);
        *high = fmax(*high, field->heights[i]);
    }
}

static void MeshBounds(const snwColliderDef* mesh, snwVec3* lower, snwVec3* upper)
{
    *lower = *upper = mesh->vertices[0];
    for (int i = 1; i < mesh->vertexCount; ++i)
    {
        *lower = snwVec3_Min(*lower, mesh->vertices[i]);
        *upper = snwVec3_Max(*upper, mesh->vertices[i]);
    }
}

void snwCollider_Bounds(const snwColliderDef* collider, snwVec3* lower, snwVec3* upper)
{
    snwVec3 size = collider->size, half = {0, 0, 0};
    int steps = collider->stepCount;

    // Half extents where the shape is centred; the others know both corners.
    switch (collider->kind)
    {
        case snw_colliderSphere:
            half = (snwVec3){size.x, size.x, size.x};
            break;
        case snw_colliderCapsule:
            half = (snwVec3){size.x, size.x + size.y, size.x};
            break;
        case snw_colliderBox:
        case snw_colliderRoom:
            half = size;
            break;
        case snw_colliderStairs:
            *lower = (snwVec3){0, 0, -0.5 * size.z};
            *upper = (snwVec3){steps * size.x, steps * size.y, 0.5 * size.z};
            return;
        case snw_colliderHeightfield:
            half = (snwVec3){0.5 * (collider->columns - 1) * size.x, 0, 0.5 * (collider->rows - 1) * size.x};
            HeightRange(collider, &lower->y, &upper->y);
            *lower = (snwVec3){-half.x, lower->y, -half.z};
            *upper = (snwVec3){half.x, upper->y, half.z};
            return;
        case snw_colliderMesh:
            MeshBounds(collider, lower, upper);
            return;
        case snw_colliderPlane:
        case snw_colliderKindCount:
        default:
            break;
    }

    *lower = snwVec3_Negate(half);
    *upper = half;
}

// ---------------------------------------------------------------------------------------------------------------------
// Triangles

typedef struct Builder
{
    snwContext* context;
    snwArray(snwVec3) corners; // three per triangle, outward
    bool failed;
} Builder;

static void AddTriangle(Builder* builder, snwVec3 a, snwVec3 b, snwVec3 c)
{
    if (builder->failed || !snwArray_Reserve(builder->context, &builder->corners, 3))
    {
        builder->failed = true;
        return;
    }
    builder->corners.data[builder->corners.count++] = a;
    builder->corners.data[builder->corners.count++] = b;
    builder->corners.data[builder->corners.count++] = c;
}

// Seen from outside counter-clockwise.
static void AddQuad(Builder* builder, snwVec3 a, snwVec3 b, snwVec3 c, snwVec3 d)
{
    AddTriangle(builder, a, b, c);
    AddTriangle(builder, a, c, d);
}

static void AddBox(Builder* builder, snwVec3 l, snwVec3 u)
{
    snwVec3 p[8];
    for (int i = 0; i < 8; ++i)
        p[i] = (snwVec3){i & 1 ? u.x : l.x, i & 2 ? u.y : l.y, i & 4 ? u.z : l.z};
    AddQuad(builder, p[0], p[4], p[6], p[2]);
    AddQuad(builder, p[1], p[3], p[7], p[5]);
    AddQuad(builder, p[0], p[1], p[5], p[4]);
    AddQuad(builder, p[2], p[6], p[7], p[3]);
    AddQuad(builder, p[0], p[2], p[3], p[1]);
    AddQuad(builder, p[4], p[5], p[7], p[6]);
}

// The floor, and a rod along each edge, all outside of the room.
static void AddRoom(Builder* builder, snwVec3 half)
{
    double rod = 0.01 * fmax(half.x, fmax(half.y, half.z));
    const double size[3] = {half.x, half.y, half.z};
    AddBox(builder, (snwVec3){-half.x, -half.y - rod, -half.z}, (snwVec3){half.x, -half.y, half.z});
    for (int i = 0; i < 12; ++i)
    {
        int along = i / 4, sides[3] = {0};
        sides[(along + 1) % 3] = i & 1 ? 1 : -1;
        sides[(along + 2) % 3] = i & 2 ? 1 : -1;
        double lower[3], upper[3];
        for (int k = 0; k < 3; ++k)
        {
            lower[k] = sides[k] == 0 ? -size[k] - rod : sides[k] < 0 ? -size[k] - rod : size[k];
            upper[k] = sides[k] == 0 ? size[k] + rod : lower[k] + rod;
        }
        AddBox(builder, (snwVec3){lower[0], lower[1], lower[2]}, (snwVec3){upper[0], upper[1], upper[2]});
    }
}

static void AddStairs(Builder* builder, const snwColliderDef* stairs)
{
    double run = stairs->size.x, rise = stairs->size.y, side = 0.5 * stairs->size.z;
    for (int i = 0; i < stairs->stepCount; ++i)
        AddBox(builder, (snwVec3){i * run, 0, -side}, (snwVec3){(i + 1) * run, (i + 1) * rise, side});
}

// Down from an edge of the top, which has the outside on its right.
static void AddSkirt(Builder* builder, snwVec3 a, snwVec3 b, double bottom)
{
    AddQuad(builder, a, (snwVec3){a.x, bottom, a.z}, (snwVec3){b.x, bottom, b.z}, b);
}

static void AddField(Builder* builder, const snwColliderDef* field, const snwSurface* top)
{
    double low, high;
    int columns = field->columns, rows = field->rows, last = columns * (rows - 1);
    const snwVec3* v = top->vertices;

    HeightRange(field, &low, &high);

    // The top as it is, then skirts down from all four borders.
    for (int i = 0; i < top->triangleCount; ++i)
        AddTriangle(builder, v[top->triangles[i][0]], v[top->triangles[i][1]], v[top->triangles[i][2]]);

    // One cell deep below the lowest point.
    low -= field->size.x;
    for (int i = 0; i + 1 < columns; ++i)
    {
        AddSkirt(builder, v[i + 1], v[i], low);
        AddSkirt(builder, v[last + i], v[last + i + 1], low);
    }

    for (int i = 0; i + 1 < rows; ++i)
    {
        AddSkirt(builder, v[i * columns], v[(i + 1) * columns], low);
        AddSkirt(builder, v[(i + 2) * columns - 1], v[(i + 1) * columns - 1], low);
    }
}

static snwResult AddHeightfield(Builder* builder, const snwColliderDef* field, snwMessage* message)
{
    snwSurface top = {0};
    snwResult result = snwHeightfield_Triangulate(builder->context, field, &top, message);
    if (result >= 0)
        AddField(builder, field, &top);
    snwFree(builder->context, top.vertices);
    snwFree(builder->context, top.triangles);
    return result;
}

static void AddMesh(Builder* builder, const snwColliderDef* mesh)
{
    for (int i = 0; i < mesh->triangleCount; ++i)
    {
        const int* t = mesh->triangles[i];
        AddTriangle(builder, mesh->vertices[t[0]], mesh->vertices[t[1]], mesh->vertices[t[2]]);
    }
}

snwResult snwPicture_AddCollider(
    snwPicture* picture, const snwColliderDef* collider, snwFloat3 color, int* mesh, snwMessage* message)
{
    Builder builder = {.context = picture->context};
    snwResult result = snw_ok;

    switch (collider->kind)
    {
        // What the picture knows as a solid of its own.
        case snw_colliderPlane:
        case snw_colliderSphere:
        case snw_colliderBox:
        case snw_colliderCapsule:
            return snwPicture_AddSolid(picture, collider->kind, collider->size, color, mesh, message);

        // What becomes triangles.
        case snw_colliderRoom:
            AddRoom(&builder, collider->size);
            break;
        case snw_colliderStairs:
            AddStairs(&builder, collider);
            break;
        case snw_colliderHeightfield:
            result = AddHeightfield(&builder, collider, message);
            break;
        case snw_colliderMesh:
            AddMesh(&builder, collider);
            break;
        case snw_colliderKindCount:
            break;
    }

    if (result >= 0 && builder.failed)
        result = snwFailMemory(message);
    if (result >= 0)
        result = snwPicture_AddTriangles(
            picture, builder.corners.data, builder.corners.count / 3, color, mesh, message);
    snwArray_Free(picture->context, &builder.corners);
    return result;
}
