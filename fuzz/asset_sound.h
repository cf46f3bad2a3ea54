// What every reader of assets promises, for fuzzers and tests: numbers are finite, indices are inside, rows are sorted,
// times rise, trees have no circles.

#pragma once

#include "asset/asset.h"

#include <math.h>

static inline bool snwSound_Reals(const double* values, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static inline bool snwSound_Floats(const float* values, size_t count)
{
    for (size_t i = 0; values != NULL && i < count; ++i)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static inline bool snwSound_Weights(const snwAssetWeights* weights, int vertexCount)
{
    if (weights->starts == NULL)
        return true;
    for (int i = 0; i < vertexCount; ++i)
    {
        double sum = 0;
        for (int e = weights->starts[i]; e < weights->starts[i + 1]; ++e)
        {
            bool rises = e == weights->starts[i] || weights->bones[e] > weights->bones[e - 1];
            if (!rises || weights->bones[e] < 0 || weights->bones[e] >= weights->boneCount || !(weights->values[e] > 0))
                return false;
            sum += weights->values[e];
        }
        if (weights->starts[i + 1] > weights->starts[i] && !(fabs(sum - 1) < 1e-9))
            return false;
    }
    return weights->starts[0] == 0;
}

static inline bool snwSound_Parts(const snwAssetMesh* mesh)
{
    int next = 0;
    for (int i = 0; i < mesh->partCount; ++i)
    {
        const snwAssetPart* part = &mesh->parts[i];
        if (part->firstTriangle != next || part->triangleCount < 0 || part->firstVertex < 0 || part->vertexCount < 0 ||
            part->firstVertex + part->vertexCount > mesh->vertexCount)
            return false;
        next += part->triangleCount;
        for (int t = part->firstTriangle; t < next; ++t)
            for (int k = 0; k < 3; ++k)
                if (mesh->triangles[t][k] < part->firstVertex ||
                    mesh->triangles[t][k] >= part->firstVertex + part->vertexCount)
                    return false;
    }
    return next == mesh->triangleCount || mesh->partCount == 0;
}

static inline bool snwSound_Mesh(const snwAssetMesh* mesh)
{
    size_t count = (size_t)mesh->vertexCount;
    for (int i = 0; i < mesh->morphCount; ++i)
        if (!snwSound_Floats((const float*)mesh->morphs[i].positions, count * 3) ||
            !snwSound_Floats((const float*)mesh->morphs[i].normals, count * 3) || !isfinite(mesh->morphs[i].weight))
            return false;
    return snwSound_Reals((const double*)mesh->positions, count * 3) &&
           snwSound_Floats((const float*)mesh->normals, count * 3) &&
           snwSound_Floats((const float*)mesh->texcoords, count * 2) &&
           snwSound_Floats((const float*)mesh->colors, count * 4) &&
           snwSound_Weights(&mesh->weights, mesh->vertexCount) && snwSound_Parts(mesh);
}

static inline bool snwSound_Node(const snwAsset* asset, int index)
{
    const snwAssetNode* node = &asset->nodes[index];
    int steps = 0;
    for (int parent = node->parent; parent >= 0; parent = asset->nodes[parent].parent)
        if (parent >= asset->nodeCount || ++steps > asset->nodeCount)
            return false;
    const snwQuat* r = &node->pose.rotation;
    bool unit = fabs(r->x * r->x + r->y * r->y + r->z * r->z + r->w * r->w - 1) < 1e-9;
    return unit && node->mesh >= -1 && node->mesh < asset->meshCount && node->skin >= -1 &&
           node->skin < asset->skinCount && snwSound_Floats(node->morphWeights, (size_t)node->morphCount);
}

static inline bool snwSound_Skin(const snwAsset* asset, const snwAssetSkin* skin)
{
    for (int i = 0; i < skin->jointCount; ++i)
        if (skin->joints[i] < 0 || skin->joints[i] >= asset->nodeCount ||
            !snwMat3_IsFinite(skin->inverseBinds[i].linear) || !snwVec3_IsFinite(skin->inverseBinds[i].translation))
            return false;
    return skin->jointCount > 0 && skin->root >= -1 && skin->root < asset->nodeCount;
}

static inline bool snwSound_Channel(const snwAsset* asset, const snwAssetChannel* channel)
{
    size_t numbers = (size_t)channel->keyCount * (size_t)channel->width;
    for (int i = 1; i < channel->keyCount; ++i)
        if (!(channel->times[i] > channel->times[i - 1]))
            return false;
    return channel->node >= 0 && channel->node < asset->nodeCount && channel->keyCount > 0 && channel->width > 0 &&
           snwSound_Reals(channel->times, (size_t)channel->keyCount) &&
           snwSound_Reals(channel->values, numbers * (channel->interpolation == snw_assetCubic ? 3 : 1));
}

static inline bool snwSound_Asset(const snwAsset* asset)
{
    for (int i = 0; i < asset->meshCount; ++i)
        if (!snwSound_Mesh(&asset->meshes[i]))
            return false;
    for (int i = 0; i < asset->nodeCount; ++i)
        if (!snwSound_Node(asset, i))
            return false;
    for (int i = 0; i < asset->skinCount; ++i)
        if (!snwSound_Skin(asset, &asset->skins[i]))
            return false;
    for (int i = 0; i < asset->animationCount; ++i)
        for (int c = 0; c < asset->animations[i].channelCount; ++c)
            if (!snwSound_Channel(asset, &asset->animations[i].channels[c]))
                return false;
    return true;
}
