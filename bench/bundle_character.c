#include "bundle_character.h"

#include "asset/asset.h"
#include "base/result.h"
#include "math/transform.h"

#include <string.h>

// Tets of positive volume.
static const int (*TurnTets(snwAsset* asset))[4]
{
    const snwAssetMesh* mesh = &asset->meshes[0];
    int(*tets)[4] = snwAsset_Alloc(asset, mesh->tetCount, sizeof *tets);
    for (int i = 0; tets != NULL && i < mesh->tetCount; ++i)
    {
        memcpy(tets[i], mesh->tets[i], sizeof *tets);
        snwVec3 corner = mesh->positions[tets[i][0]], edges[3];
        for (int k = 0; k < 3; ++k)
            edges[k] = snwVec3_Sub(mesh->positions[tets[i][k + 1]], corner);
        if (snwVec3_Dot(snwVec3_Cross(edges[0], edges[1]), edges[2]) < 0.0)
        {
            tets[i][2] = mesh->tets[i][3];
            tets[i][3] = mesh->tets[i][2];
        }
    }
    return (const int(*)[4])tets;
}

static const snwBoneDef* MakeBones(snwAsset* asset)
{
    snwBoneDef* bones = snwAsset_Alloc(asset, asset->movedHandleCount, sizeof *bones);
    for (int i = 0; bones != NULL && i < asset->movedHandleCount; ++i)
    {
        const snwAssetHandle* handle = &asset->handles[i];
        bones[i] = snwDefaultBoneDef();
        bones[i].head = bones[i].tail = asset->points[handle->a];
        if (handle->b >= 0)
            bones[i].tail = asset->points[handle->b];
    }
    return bones;
}

// A key says how a bone turns about its head, and how its head moves.
static const snwKey* MakeKeys(snwAsset* asset, int handle)
{
    const snwAssetHandleMotion* motion = &asset->handleMotion;
    snwKey* keys = snwAsset_Alloc(asset, motion->frameCount, sizeof *keys);
    snwVec3 head = asset->points[asset->handles[handle].a];
    for (int i = 0; keys != NULL && i < motion->frameCount; ++i)
    {
        snwTransform now = motion->transforms[(size_t)i * (size_t)motion->handleCount + (size_t)handle];
        keys[i] = (snwKey){
            .time = motion->times[i], .transform = {snwVec3_Sub(snwTransform_Apply(now, head), head), now.rotation}};
    }
    return keys;
}

static const snwTrackDef* MakeTracks(snwAsset* asset)
{
    int count = asset->handleMotion.handleCount;
    snwTrackDef* tracks = snwAsset_Alloc(asset, count, sizeof *tracks);
    for (int i = 0; tracks != NULL && i < count; ++i)
        tracks[i] = (snwTrackDef){i, MakeKeys(asset, i), asset->handleMotion.frameCount};
    return tracks;
}

static snwResult Make(snwAsset* asset, snwBundleBody* body, snwMessage* message)
{
    const snwAssetMesh* mesh = &asset->meshes[0];
    const snwAssetHandleMotion* frames = &asset->handleMotion;
    if (asset->meshCount != 1 || mesh->weights.starts == NULL || frames->frameCount < 2 || frames->times == NULL ||
        frames->handleCount != asset->movedHandleCount)
        return snwFail(message, snw_errorInput, NULL, "the bundle has no mesh with weights and a motion");
    body->frameCount = frames->frameCount;
    body->step = frames->times[1] - frames->times[0];
    snwMotionDef motion = {.name = "bundle",
        .duration = frames->times[frames->frameCount - 1],
        .tracks = MakeTracks(asset),
        .trackCount = frames->handleCount};
    snwMaterial material = {.density = 1000, .young = asset->flesh.young, .poisson = asset->flesh.poisson};
    snwCharacterDef def = snwDefaultCharacterDef();
    def.name = asset->name;
    def.vertices = mesh->positions;
    def.vertexCount = mesh->vertexCount;
    def.tets = TurnTets(asset);
    def.tetCount = mesh->tetCount;
    def.materials = &material;
    def.materialCount = 1;
    def.bones = MakeBones(asset);
    def.boneCount = asset->movedHandleCount;
    def.motions = &motion;
    def.motionCount = 1;
    def.boneWeights = (snwWeights){
        mesh->vertexCount, mesh->weights.boneCount, mesh->weights.starts, mesh->weights.bones, mesh->weights.values};
    if (asset->arena.failed)
        return snwFailMemory(message);
    return snwCreateCharacter(asset->context, &def, &body->character, message);
}

snwResult snwBundleBody_Open(snwContext* context, const char* path, snwBundleBody* body, snwMessage* message)
{
    snwAsset* asset = NULL;
    *body = (snwBundleBody){0};
    snwResult result = snwAsset_Open(context, path, &asset, message);
    if (result >= 0)
        result = Make(asset, body, message);
    snwAsset_Close(asset);
    return result;
}
