#include "view/likeness.h"
#include "geom/mesh.h"
#include "rig/skeleton.h"

#include <float.h>
#include <math.h>
#include <string.h>

const char* const snw_likenessLookNames[] = {"flesh", "bones", "elements", "silhouette", NULL};

snwLikenessDef snwDefaultLikenessDef(void)
{
    return (snwLikenessDef){.motion = -1, .detail = 150};
}

// ---------------------------------------------------------------------------------------------------------------------
// The display surface

typedef struct ColorTask
{
    const snwFlesh* flesh;
    const snwVec3* vertices;
    float* colors;
} ColorTask;

static void ColorRange(int begin, int end, void* data)
{
    ColorTask* task = data;
    for (int i = begin; i < end; ++i)
        snwFlesh_Color(task->flesh, task->vertices[i], &task->colors[3 * (size_t)i]);
}

// Makes room for so many more vertices and triangles; false: no memory.
static bool GrowSurface(snwLikeness* likeness, int vertices, int triangles)
{
    size_t v = (size_t)likeness->vertexCount, t = (size_t)likeness->triangleCount;
    float* positions = snwArena_Alloc(&likeness->arena, 3 * (v + (size_t)vertices), sizeof *positions);
    float* colors = snwArena_Alloc(&likeness->arena, 3 * (v + (size_t)vertices), sizeof *colors);
    int* corners = snwArena_Alloc(&likeness->arena, 3 * (t + (size_t)triangles), sizeof *corners);
    if (positions == NULL || colors == NULL || corners == NULL)
        return false;
    if (v > 0)
    {
        memcpy(positions, likeness->positions, 3 * v * sizeof *positions);
        memcpy(colors, likeness->colors, 3 * v * sizeof *colors);
        memcpy(corners, likeness->triangles, 3 * t * sizeof *corners);
    }
    likeness->positions = positions;
    likeness->colors = colors;
    likeness->triangles = corners;
    return true;
}

static void PutVertex(snwLikeness* likeness, int vertex, snwVec3 p)
{
    likeness->positions[3 * (size_t)vertex] = (float)p.x;
    likeness->positions[3 * (size_t)vertex + 1] = (float)p.y;
    likeness->positions[3 * (size_t)vertex + 2] = (float)p.z;
}

static snwResult AddFlesh(snwLikeness* likeness, double detail, snwMessage* message)
{
    snwFlesh posed;
    snwTriangleMesh mesh = {0};
    if (!snwFlesh_Pose(&likeness->blueprint->flesh, likeness->pose, &likeness->arena, &posed))
        return snwFailMemory(message);
    snwSolid solid = snwFlesh_Solid(&posed);
    double size = snwVec3_Distance(solid.lower, solid.upper);
    snwResult result = snwMeshSurface(likeness->context, &solid, size / detail, &likeness->arena, &mesh, message);
    if (result < 0)
        return result;
    if (!GrowSurface(likeness, mesh.vertexCount, mesh.triangleCount))
        return snwFailMemory(message);
    ColorTask task = {&posed, mesh.vertices, likeness->colors};
    snwParallelFor(likeness->context, mesh.vertexCount, 512, ColorRange, &task);
    for (int i = 0; i < mesh.vertexCount; ++i)
        PutVertex(likeness, i, mesh.vertices[i]);
    memcpy(likeness->triangles, mesh.triangles, (size_t)mesh.triangleCount * sizeof *mesh.triangles);
    likeness->vertexCount = mesh.vertexCount;
    likeness->triangleCount = mesh.triangleCount;
    return snw_ok;
}

static snwResult AddTets(snwLikeness* likeness, const snwTetMesh* mesh, const float color[3], snwMessage* message)
{
    int(*boundary)[3] = NULL;
    int count = 0, first = likeness->vertexCount;
    snwResult result =
        snwMesh_FindBoundary(likeness->context, (const int(*)[4])mesh->tets, mesh->tetCount, &boundary, &count);
    if (result < 0 || !GrowSurface(likeness, mesh->vertexCount, count))
    {
        snwFree(likeness->context, boundary);
        return snwFailMemory(message);
    }
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        PutVertex(likeness, first + i, mesh->vertices[i]);
        memcpy(&likeness->colors[3 * (size_t)(first + i)], color, 3 * sizeof *color);
    }
    for (int i = 0; i < 3 * count; ++i)
        likeness->triangles[3 * likeness->triangleCount + i] = first + boundary[i / 3][i % 3];
    likeness->vertexCount += mesh->vertexCount;
    likeness->triangleCount += count;
    snwFree(likeness->context, boundary);
    return snw_ok;
}

static snwResult AddRest(snwLikeness* likeness, snwMessage* message)
{
    const snwBlueprint* blueprint = likeness->blueprint;
    snwResult result = snw_ok;
    for (int i = 0; i < blueprint->ribbonCount && result == snw_ok; ++i)
    {
        snwTetMesh mesh;
        if (!snwRibbon_Mesh(&blueprint->ribbons[i], &likeness->arena, &mesh))
            return snwFailMemory(message);
        result = AddTets(likeness, &mesh, blueprint->ribbons[i].color, message);
    }
    if (result == snw_ok && blueprint->boxSize.x > 0)
    {
        snwTetMesh mesh;
        if (!snwMakeBoxMesh(&likeness->arena, blueprint->boxSize, blueprint->boxCells, &mesh))
            return snwFailMemory(message);
        result = AddTets(likeness, &mesh, blueprint->color, message);
    }
    return result;
}

static snwResult MakePose(snwLikeness* likeness, const snwLikenessDef* def, snwMessage* message)
{
    int count = def->blueprint->boneCount;
    likeness->pose = snwArena_Alloc(&likeness->arena, (size_t)count + 1, sizeof *likeness->pose);
    if (likeness->pose == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < count; ++i)
        likeness->pose[i] = snwTransform_Identity();
    if (def->motion < 0)
        return snw_ok;
    snwSkeleton skeleton;
    const snwBlueprint* blueprint = def->blueprint;
    snwResult result = snwSkeleton_Build(
        &likeness->arena, blueprint->bones, count, blueprint->joints, blueprint->jointCount, &skeleton, message);
    if (result == snw_ok)
        snwSkeleton_Pose(&skeleton, &blueprint->motions[def->motion], def->time, likeness->pose);
    return result;
}

snwResult snwCreateLikeness(
    snwContext* context, const snwLikenessDef* def, snwLikeness* likeness, snwMessage* message)
{
    *likeness = (snwLikeness){.context = context, .arena = {.context = context}, .blueprint = def->blueprint};
    likeness->character = def->character;
    snwResult result = MakePose(likeness, def, message);
    if (result == snw_ok && def->blueprint->flesh.partCount > 0)
        result = AddFlesh(likeness, def->detail, message);
    return result == snw_ok ? AddRest(likeness, message) : result;
}

void snwLikeness_Free(snwLikeness* likeness)
{
    snwArena_Free(&likeness->arena);
    *likeness = (snwLikeness){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Pictures

static snwMeshLook SkinLook(const snwLikeness* likeness)
{
    return (snwMeshLook){.kind = snw_pictureSkin,
        .positions = likeness->positions,
        .colors = likeness->colors,
        .vertexCount = likeness->vertexCount,
        .triangles = likeness->triangles,
        .triangleCount = likeness->triangleCount,
        .opacity = 1,
        .gloss = 0.15f};
}

snwResult snwLikeness_Draw(
    snwLikeness* likeness, snwLikenessLook look, const snwPortraitDef* view, snwImage* image, snwMessage* message)
{
    snwMeshLook meshes[1] = {SkinLook(likeness)};
    snwPortraitDef def = *view;
    def.meshes = meshes;
    def.meshCount = 1;
    if (look == snw_lookSilhouette)
        def.style = snw_styleSilhouette;
    return snwDrawPortrait(likeness->context, &def, image, message);
}
