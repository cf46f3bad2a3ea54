// The bones that the file has: joints of skins, handles of a bundle, or bones with regions of their own; and which
// vertices of the surfaces follow them.

#include "prepare/parts.h"

#include "sim/limits.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Names

static bool IsBoneNameTaken(const snwPreparer* p, const char* name)
{
    for (int i = 0; i < p->rigCount; ++i)
        if (p->rig[i].name != NULL && strcmp(p->rig[i].name, name) == 0)
            return true;
    return false;
}

// Short, not empty and unlike all before.
static const char* MakeName(snwPreparer* p, const char* name, int number)
{
    char base[SNW_MAX_NAME - 15], text[SNW_MAX_NAME + 1];
    snprintf(base, sizeof base, "%s", name);
    if (base[0] == 0)
        snprintf(base, sizeof base, "bone %d", number);
    for (size_t end = strlen(base); strlen(name) > end && end > 0 && ((unsigned char)base[end - 1] & 0x80) != 0;)
        base[--end] = 0; // half a character
    snprintf(text, sizeof text, "%s", base);
    for (int i = 2; IsBoneNameTaken(p, text); ++i)
        snprintf(text, sizeof text, "%s.%d", base, i);
    return snwArena_Text(&p->arena, text);
}

static snwResult AddRigBone(snwPreparer* p, const char* name, snwRigBone bone)
{
    int index = p->rigCount;
    bone.name = MakeName(p, name, index);
    bone.bone = -1;
    snwResult result = snwPrepareSettings_Bone(&p->settings, bone.name, bone.node, &bone.setting, p->message);
    if (p->arena.failed)
        return snwFailMemory(p->message);
    p->rig[index] = bone;
    p->rigCount += 1;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// glTF

static snwResult AddSkinBones(snwPreparer* p)
{
    const snwAsset* asset = p->asset;
    snwResult result = snw_ok;

    // A bone for every node that a skin binds.
    for (int i = 0; i < asset->nodeCount && result >= 0; ++i)
    {
        p->rigOfNode[i] = -1;
        if (!p->bound[i])
            continue;
        p->rigOfNode[i] = p->rigCount;
        snwRigBone bone = {.node = i, .column = -1, .parent = -1, .bind = p->binds[i]};
        bone.head = bone.tail = p->binds[i].translation;
        result = AddRigBone(p, asset->nodes[i].name, bone);
    }

    // The nearest node above that is a bone, too: helpers in between do not count.
    for (int i = 0; i < p->rigCount; ++i)
    {
        int above = asset->nodes[p->rig[i].node].parent;
        while (above >= 0 && p->rigOfNode[above] < 0)
            above = asset->nodes[above].parent;
        p->rig[i].parent = above >= 0 ? p->rigOfNode[above] : -1;
    }

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Bundles

static snwResult AddBundleHandles(snwPreparer* p)
{
    const snwAsset* asset = p->asset;
    snwResult result = snw_ok;

    // Handles of a bundle: points, or bones between two of its points.
    for (int i = 0; i < asset->movedHandleCount && result >= 0; ++i)
    {
        const snwAssetHandle* handle = &asset->handles[i];
        snwVec3 a = snwVec3_Scale(asset->points[handle->a], p->scale);
        snwVec3 b = handle->b >= 0 ? snwVec3_Scale(asset->points[handle->b], p->scale) : a;
        char name[32];

        snprintf(name, sizeof name, "handle %d", i);
        snwRigBone bone = {.node = -1, .column = i, .parent = -1, .head = a, .tail = b, .point = handle->b < 0};
        bone.bind = (snwAffine){snwMat3_Diagonal(1, 1, 1), a};
        result = AddRigBone(p, name, bone);
    }

    for (int i = 0; i < p->rigCount; ++i) // a bone follows the one that ends where it begins
        for (int k = 0; k < p->rigCount && !p->rig[i].point; ++k)
            if (k != i && p->rig[i].parent < 0 && asset->handles[k].b == asset->handles[i].a)
                p->rig[i].parent = k;

    return result;
}

// Bones that own labelled elements.
static snwResult AddLabelled(snwPreparer* p)
{
    const snwAsset* asset = p->asset;
    snwResult result = snw_ok;
    for (int i = 0; i < asset->boneCount && result >= 0; ++i)
    {
        const snwBoneDef* def = &asset->bones[i].def;
        snwRigBone bone = {.node = -1, .column = i, .parent = def->parent};
        bone.head = snwVec3_Scale(def->head, p->scale);
        bone.tail = snwVec3_Scale(def->tail, p->scale);
        bone.radius = def->radius * p->scale;
        bone.bind = (snwAffine){snwMat3_Diagonal(1, 1, 1), bone.head};
        result = AddRigBone(p, def->name, bone);
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights

static int RigOf(const snwPreparer* p, const snwRestSurface* surface, int column)
{
    if (surface->skin >= 0)
    {
        const snwAssetSkin* skin = &p->asset->skins[surface->skin];
        return column < skin->jointCount ? p->rigOfNode[skin->joints[column]] : -1;
    }
    return p->asset->gltf == NULL && column < p->rigCount ? column : -1;
}

// The bone that carries a surface without a skin; -1: none, or it is rigid with a joint.
static int CarrierOfSurface(const snwPreparer* p, const snwRestSurface* surface)
{
    int node = surface->skin < 0 ? surface->node : -1;
    while (node >= 0 && p->bound[node] == snw_boundNot)
        node = p->asset->nodes[node].parent;
    return node >= 0 && p->bound[node] == snw_boundCarrier ? p->rigOfNode[node] : -1;
}

// All of it follows the one bone.
static snwResult FollowCarrier(snwPreparer* p, int index, int bone)
{
    int count = p->surfaces[index].vertexCount;
    snwRigWeights* out = &p->weights[index];
    out->starts = snwPreparer_Alloc(p, count + 1, sizeof(int));
    out->bones = snwPreparer_Alloc(p, count + 1, sizeof(int));
    out->values = snwPreparer_Alloc(p, count + 1, sizeof(double));
    if (p->arena.failed)
        return snwFailMemory(p->message);
    for (int i = 0; i < count; ++i)
    {
        out->bones[i] = bone;
        out->values[i] = 1;
        out->starts[i + 1] = i + 1;
    }
    p->rig[bone].weight += count;
    return snw_ok;
}

// Rows of surfaces, scaled to one; a row without weights follows the first bone of the rig.
static snwResult TakeFileWeights(snwPreparer* p, int index)
{
    const snwRestSurface* surface = &p->surfaces[index];
    const snwAssetWeights* source = &p->asset->meshes[surface->mesh].weights;
    snwRigWeights* out = &p->weights[index];
    // What hangs on a bone without a skin follows it as a whole.
    int carrier = CarrierOfSurface(p, surface);

    if (carrier >= 0)
        return FollowCarrier(p, index, carrier);
    if (source->starts == NULL || p->rigCount == 0 || (surface->skin < 0 && p->asset->gltf != NULL))
        return snw_ok;
    int entries = source->starts[surface->vertexCount], count = 0;
    out->starts = snwPreparer_Alloc(p, surface->vertexCount + 1, sizeof(int));
    out->bones = snwPreparer_Alloc(p, (int64_t)entries + surface->vertexCount + 1, sizeof(int));
    out->values = snwPreparer_Alloc(p, (int64_t)entries + surface->vertexCount + 1, sizeof(double));
    if (p->arena.failed)
        return snwFailMemory(p->message);

    // Weights that name bones of the rig, and their sum.
    for (int i = 0; i < surface->vertexCount; ++i)
    {
        double sum = 0;
        int first = count;
        for (int k = source->starts[i]; k < source->starts[i + 1]; ++k)
        {
            int bone = RigOf(p, surface, source->bones[k]);
            if (bone < 0 || !(source->values[k] > 0))
                continue;
            out->bones[count] = bone;
            out->values[count++] = source->values[k];
            sum += source->values[k];
        }

        // Nobody holds it: the first bone does.
        if (count == first)
            out->bones[count] = 0, out->values[count++] = sum = 1;
        for (int k = first; k < count; ++k)
        {
            out->values[k] /= sum;
            p->rig[out->bones[k]].weight += out->values[k];
        }

        out->starts[i + 1] = count;
    }

    return snw_ok;
}

static const char* RigName(int index, const void* user)
{
    return ((const snwPreparer*)user)->rig[index].name;
}

// What patterns may mean: surfaces, then their meshes, then materials.
static const char* RigSurfaceName(int index, const void* user)
{
    const snwPreparer* p = user;
    if (index < p->surfaceCount)
        return p->surfaces[index].name;
    index -= p->surfaceCount;
    if (index < p->surfaceCount)
        return p->asset->meshes[p->surfaces[index].mesh].name;
    return snwPreparer_PartMaterial(p, index - p->surfaceCount);
}

snwResult snwPreparer_FindRig(snwPreparer* p)
{
    const snwAsset* asset = p->asset;
    int64_t room = (int64_t)asset->nodeCount + asset->movedHandleCount + asset->boneCount + 1;

    // Room for any of the three kinds; a file has only one of them.
    p->rig = snwPreparer_Alloc(p, room, sizeof *p->rig);
    p->rigOfNode = snwPreparer_Alloc(p, asset->nodeCount + 1, sizeof *p->rigOfNode);
    p->weights = snwPreparer_Alloc(p, p->surfaceCount + 1, sizeof *p->weights);
    if (p->arena.failed)
        return snwFailMemory(p->message);
    snwResult result = asset->boneCount > 0          ? AddLabelled(p)
                       : asset->movedHandleCount > 0 ? AddBundleHandles(p)
                                                     : AddSkinBones(p);
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
        result = TakeFileWeights(p, i);
    if (result >= 0)
        result = snwPrepareSettings_CheckNames(&p->settings, "bones", p->rigCount, RigName, p, p->message);

    // A pattern of the sidecar that fits nothing is told as a mistake.
    int names = 2 * p->surfaceCount;
    for (int i = 0; i < p->surfaceCount; ++i)
        names += p->asset->meshes[p->surfaces[i].mesh].partCount;
    if (result >= 0)
        result = snwPrepareSettings_CheckNames(&p->settings, "surfaces", names, RigSurfaceName, p, p->message);

    return result;
}
