// What must hold of every mesh that a reader gives, for the fuzzers and the tests of readers.

#pragma once

#include "asset/asset.h"

#include <math.h>
#include <string.h>

static inline bool snwSound_Indices(const int* corners, int64_t count, int vertexCount)
{
    for (int64_t i = 0; corners != NULL && i < count; ++i)
        if (corners[i] < 0 || corners[i] >= vertexCount)
            return false;
    return corners != NULL || count == 0;
}

static inline bool snwSound_Floats(const float* values, int64_t count)
{
    for (int64_t i = 0; values != NULL && i < count; ++i)
        if (!isfinite(values[i]))
            return false;
    return true;
}

// Parts follow each other and hold all triangles; their vertices are in their ranges.
static inline bool snwSound_Parts(const snwAssetMesh* mesh)
{
    int triangle = 0;
    for (int i = 0; i < mesh->partCount; ++i)
    {
        const snwAssetPart* part = &mesh->parts[i];
        int end = part->firstTriangle + part->triangleCount;
        if (part->name == NULL || part->material == NULL || part->firstTriangle != triangle ||
            part->triangleCount < 1 || end > mesh->triangleCount || part->firstVertex < 0 || part->vertexCount < 1 ||
            part->firstVertex + part->vertexCount > mesh->vertexCount)
            return false;
        for (; triangle < end; ++triangle)
            for (int k = 0; k < 3; ++k)
                if (mesh->triangles[triangle][k] < part->firstVertex ||
                    mesh->triangles[triangle][k] >= part->firstVertex + part->vertexCount)
                    return false;
    }
    return triangle == mesh->triangleCount;
}

static inline bool snwSound_Mesh(const snwAssetMesh* mesh)
{
    int count = mesh->vertexCount;
    for (int i = 0; i < count; ++i)
        if (!(fabs(mesh->positions[i].x) <= 1e30 && fabs(mesh->positions[i].y) <= 1e30 &&
                fabs(mesh->positions[i].z) <= 1e30))
            return false;
    for (int i = 0; i < mesh->triangleCount; ++i)
    {
        const int* t = mesh->triangles[i];
        if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
            return false;
    }
    return count > 0 && mesh->name != NULL && snwSound_Parts(mesh) &&
           snwSound_Indices((const int*)mesh->triangles, 3 * (int64_t)mesh->triangleCount, count) &&
           snwSound_Indices((const int*)mesh->tets, 4 * (int64_t)mesh->tetCount, count) &&
           snwSound_Indices((const int*)mesh->hexes, 8 * (int64_t)mesh->hexCount, count) &&
           snwSound_Indices((const int*)mesh->edges, 2 * (int64_t)mesh->edgeCount, count) &&
           snwSound_Floats((const float*)mesh->normals, 3 * (int64_t)count) &&
           snwSound_Floats((const float*)mesh->texcoords, 2 * (int64_t)count) &&
           snwSound_Floats((const float*)mesh->colors, 4 * (int64_t)count);
}

static inline bool snwSound_Asset(const snwAsset* asset)
{
    for (int i = 0; i < asset->meshCount; ++i)
        if (!snwSound_Mesh(&asset->meshes[i]))
            return false;
    for (int i = 0; i < asset->seedCount; ++i)
    {
        const snwAssetSeed* seed = &asset->seeds[i];
        if (!isfinite(seed->point.x + seed->point.y + seed->point.z) || !isfinite(seed->attribute + seed->maxVolume))
            return false;
    }
    return asset->name != NULL && asset->noteCount <= snw_maxAssetNotes && isfinite(asset->scale);
}
