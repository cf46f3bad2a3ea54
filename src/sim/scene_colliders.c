// What colliders of a scene have beyond a place and a size: heightfields and meshes are checked, copied and hashed
// here. A mesh must be closed, or nobody could say what is inside of it.

#include "sim/scene_colliders.h"
#include "base/sort.h"
#include "math/transform.h"
#include "sim/check.h"
#include "sim/limits.h"

// ---------------------------------------------------------------------------------------------------------------------
// Checks

static bool IsLength(double value)
{
    return value >= SNW_MIN_SIZE && value <= SNW_MAX_SIZE;
}

static bool IsSizeSound(snwColliderKind kind, snwVec3 size)
{
    switch (kind)
    {
        case snw_colliderSphere:
        case snw_colliderHeightfield:
            return IsLength(size.x);
        case snw_colliderCapsule:
            return IsLength(size.x) && size.y >= 0.0;
        case snw_colliderBox:
        case snw_colliderRoom:
        case snw_colliderStairs:
            return IsLength(size.x) && IsLength(size.y) && IsLength(size.z);
        case snw_colliderPlane:
        case snw_colliderMesh:
        case snw_colliderKindCount:
        default:
            return true;
    }
}

static snwResult CheckHeights(const snwColliderDef* field, snwMessage* message)
{
    int columns = field->columns, rows = field->rows;
    bool sound = columns >= 2 && rows >= 2 && columns <= SNW_MAX_HEIGHTS / 2 && rows <= SNW_MAX_HEIGHTS / columns;
    if (!sound || field->heights == NULL)
        return snwFail(message, snw_errorArgument, NULL, "heights must be 2 x 2 .. %d in all, are %d x %d",
            SNW_MAX_HEIGHTS, columns, rows);
    for (int i = 0; i < columns * rows; ++i)
        if (!(fabs(field->heights[i]) <= SNW_MAX_SIZE))
            return snwFail(
                message, snw_errorArgument, NULL, "heights[%d] is not finite or beyond %g m", i, SNW_MAX_SIZE);
    return snw_ok;
}

static snwResult CheckColliderMesh(const snwColliderDef* mesh, snwMessage* message)
{
    bool counts = mesh->vertexCount >= 4 && mesh->vertexCount <= SNW_MAX_MESH && mesh->triangleCount >= 4 &&
                  mesh->triangleCount <= SNW_MAX_MESH;
    if (!counts || mesh->vertices == NULL || mesh->triangles == NULL)
        return snwFail(message, snw_errorArgument, NULL, "a mesh has 4..%d vertices and triangles, not %d and %d",
            SNW_MAX_MESH, mesh->vertexCount, mesh->triangleCount);

    for (int i = 0; i < mesh->vertexCount; ++i)
        if (!snwVec3_IsWithin(mesh->vertices[i], SNW_MAX_SIZE))
            return snwFail(
                message, snw_errorArgument, NULL, "vertices[%d] is not finite or beyond %g m", i, SNW_MAX_SIZE);

    // Corners that exist and differ; whether it is closed is looked at later.
    for (int i = 0; i < mesh->triangleCount; ++i)
    {
        const int* t = mesh->triangles[i];
        for (int k = 0; k < 3; ++k)
            if (t[k] < 0 || t[k] >= mesh->vertexCount || t[k] == t[(k + 1) % 3])
                return snwFail(message, snw_errorArgument, NULL, "triangles[%d] does not have three of the %d vertices",
                    i, mesh->vertexCount);
    }

    return snw_ok;
}

snwResult snwColliderDef_Check(const snwColliderDef* collider, snwMessage* message)
{
    if (collider->kind < snw_colliderPlane || collider->kind >= snw_colliderKindCount)
        return snwFail(message, snw_errorArgument, NULL, "kind is %d", (int)collider->kind);
    if (!snwVec3_IsWithin(collider->size, SNW_MAX_SIZE) || !IsSizeSound(collider->kind, collider->size))
        return snwFail(message, snw_errorArgument, NULL, "size must be %g..%g m", SNW_MIN_SIZE, SNW_MAX_SIZE);
    snwResult result = snw_ok;
    if (collider->kind == snw_colliderStairs && (collider->stepCount < 1 || collider->stepCount > SNW_MAX_STAIRS))
        return snwFail(
            message, snw_errorArgument, NULL, "steps must be 1..%d, are %d", SNW_MAX_STAIRS, collider->stepCount);
    if (collider->kind == snw_colliderHeightfield)
        result = CheckHeights(collider, message);
    else if (collider->kind == snw_colliderMesh)
        result = CheckColliderMesh(collider, message);
    return result < 0 ? result : snwCheckTransform(collider->transform, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Closed meshes

static double ColliderVolume(const snwColliderDef* mesh)
{
    double six = 0.0;
    snwVec3 origin = mesh->vertices[0];
    for (int i = 0; i < mesh->triangleCount; ++i)
    {
        const int* t = mesh->triangles[i];
        snwVec3 a = snwVec3_Sub(mesh->vertices[t[0]], origin), b = snwVec3_Sub(mesh->vertices[t[1]], origin);
        six += snwVec3_Dot(snwVec3_Cross(a, b), snwVec3_Sub(mesh->vertices[t[2]], origin));
    }
    return six / 6.0;
}

// Both ways along an edge have the same key; values say which.
static void FillColliderEdges(const snwColliderDef* mesh, uint64_t* keys, int* values)
{
    for (int i = 0; i < 3 * mesh->triangleCount; ++i)
    {
        int from = mesh->triangles[i / 3][i % 3], to = mesh->triangles[i / 3][(i + 1) % 3];
        int low = from < to ? from : to, high = from < to ? to : from;
        keys[i] = (uint64_t)low << 32 | (uint64_t)high;
        values[i] = from < to ? i : ~i;
    }
}

static snwResult FindOpenEdge(const uint64_t* keys, const int* values, int count, snwMessage* message)
{
    for (int i = 0; i < count;)
    {
        int balance = 0, first = i;
        for (; i < count && keys[i] == keys[first]; ++i)
            balance += values[i] >= 0 ? 1 : -1;
        if (balance != 0)
            return snwFail(message, snw_errorArgument, "close its holes and turn all triangles the same way",
                "the mesh is not closed along vertices %d and %d", (int)(keys[first] >> 32),
                (int)(keys[first] & UINT32_MAX));
    }
    return snw_ok;
}

static snwResult CheckClosed(snwContext* context, const snwColliderDef* mesh, snwMessage* message)
{
    int count = 3 * mesh->triangleCount;
    uint64_t* keys = snwAllocArray(context, (size_t)count, sizeof *keys);
    int* values = snwAllocArray(context, (size_t)count, sizeof *values);
    bool enough = keys != NULL && values != NULL;
    if (enough)
        FillColliderEdges(mesh, keys, values);
    enough = enough && snwSortKeys(context, keys, values, count);
    snwResult result = enough ? FindOpenEdge(keys, values, count, message) : snwFailMemory(message);
    snwFree(context, keys);
    snwFree(context, values);
    if (result >= 0 && !(ColliderVolume(mesh) > 0.0))
        return snwFail(message, snw_errorArgument, "turn all triangles round", "the mesh has no inside");
    return result;
}

snwResult snwColliders_CheckClosed(snwContext* context, const snwSceneDef* def, snwMessage* message)
{
    for (int i = 0; i < def->colliderCount; ++i)
    {
        bool mesh = def->colliders[i].kind == snw_colliderMesh;
        snwResult result = mesh ? CheckClosed(context, &def->colliders[i], message) : snw_ok;
        if (result < 0)
        {
            snwMessage_AddPlace(message, "colliders[%d]", i);
            return result;
        }
    }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Copy and hash

void snwColliderDef_Copy(snwColliderDef* collider, snwArena* arena)
{
    snwColliderDef def = *collider;
    bool field = def.kind == snw_colliderHeightfield, mesh = def.kind == snw_colliderMesh;
    collider->stepCount = def.kind == snw_colliderStairs ? def.stepCount : 0;
    collider->columns = field ? def.columns : 0;
    collider->rows = field ? def.rows : 0;
    collider->vertexCount = mesh ? def.vertexCount : 0;
    collider->triangleCount = mesh ? def.triangleCount : 0;
    size_t heights = (size_t)collider->columns * (size_t)collider->rows;
    size_t vertices = (size_t)collider->vertexCount, triangles = (size_t)collider->triangleCount;
    collider->heights = field ? snwArena_Copy(arena, def.heights, heights, sizeof *def.heights) : NULL;
    collider->vertices = mesh ? snwArena_Copy(arena, def.vertices, vertices, sizeof *def.vertices) : NULL;
    collider->triangles = mesh ? snwArena_Copy(arena, def.triangles, triangles, sizeof *def.triangles) : NULL;
}

void snwColliderDef_Write(const snwColliderDef* collider, snwWriter* writer)
{
    if (collider->kind < snw_colliderStairs)
        return;
    const int32_t counts[] = {
        collider->stepCount, collider->columns, collider->rows, collider->vertexCount, collider->triangleCount};
    snwWrite(writer, counts, sizeof counts);
    size_t heights = (size_t)collider->columns * (size_t)collider->rows;
    snwWrite(writer, collider->heights, heights * sizeof *collider->heights);
    snwWrite(writer, collider->vertices, (size_t)collider->vertexCount * sizeof *collider->vertices);
    snwWrite(writer, collider->triangles, (size_t)collider->triangleCount * sizeof *collider->triangles);
}
