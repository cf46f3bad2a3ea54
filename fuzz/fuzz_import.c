// The block that sinew-import hands back: its writer read a hostile file.

#include "fuzz_rig.h"

#include "asset/import_block.h"

static void CheckScene(const snwAsset* asset)
{
    for (int i = 0; i < asset->nodeCount; ++i)
        snwFuzz_Expect(asset->nodes[i].parent < i && asset->nodes[i].mesh < asset->meshCount &&
                       asset->nodes[i].skin < asset->skinCount && snwQuat_IsFinite(asset->nodes[i].pose.rotation) &&
                       snwVec3_IsFinite(asset->nodes[i].pose.scale));
    for (int i = 0; i < asset->skinCount; ++i)
        for (int k = 0; k < asset->skins[i].jointCount; ++k)
            snwFuzz_Expect(asset->skins[i].joints[k] >= 0 && asset->skins[i].joints[k] < asset->nodeCount);
    for (int i = 0; i < asset->animationCount; ++i)
        for (int k = 0; k < asset->animations[i].channelCount; ++k)
        {
            const snwAssetChannel* channel = &asset->animations[i].channels[k];
            snwFuzz_Expect(channel->node >= 0 && channel->node < asset->nodeCount && channel->keyCount > 0);
            for (int j = 1; j < channel->keyCount; ++j)
                snwFuzz_Expect(channel->times[j] > channel->times[j - 1]);
        }
}

static void CheckMesh(const snwAssetMesh* mesh)
{
    for (int i = 0; i < mesh->triangleCount; ++i)
        for (int k = 0; k < 3; ++k)
            snwFuzz_Expect(mesh->triangles[i][k] >= 0 && mesh->triangles[i][k] < mesh->vertexCount);
    for (int i = 0; i < mesh->vertexCount; ++i)
        snwFuzz_Expect(snwVec3_IsFinite(mesh->positions[i]));
    snwFuzz_CheckWeights(mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    snwMessage message = {0};
    snwContext* context = snwFuzz_NewContext(&memory, 16 << 20);
    snwAsset asset = {.context = context, .arena = {.context = context}};
    if (snwImportBlock_Read(&asset, data, size, &message) >= 0)
    {
        CheckScene(&asset);
        for (int i = 0; i < asset.meshCount; ++i)
            CheckMesh(&asset.meshes[i]);
    }
    else
        snwFuzz_Expect(message.text[0] != 0);
    snwArena_Free(&asset.arena);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
