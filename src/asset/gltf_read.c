// The glTF 2.0 reader: from the document to the asset.

#include "asset/examine.h"
#include "asset/gltf_parts.h"

static snwResult ReadGltf(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    snwMessage words;
    message = message != NULL ? message : &words;

    // Failures stay in the reading: every step does nothing once one has failed.
    snwGltfReading reading = {.asset = asset, .input = input};
    reading.json = (snwJson){.message = message, .file = ""};
    reading.result = snwGltf_Parse(asset, input, message);
    reading.gltf = asset->gltf;
    if (snwGltfReading_Failed(&reading))
        return reading.result;
    asset->scale = 1; // glTF is in metres

    // Nodes first: skins, meshes and animations name them.
    snwGltf_ReadNodes(&reading);
    snwGltf_ReadSkins(&reading);
    snwGltf_ReadMeshes(&reading);
    snwGltf_ReadNodeMorphs(&reading);
    snwGltf_ReadAnimations(&reading);
    if (!snwGltfReading_Failed(&reading) && asset->arena.failed)
        snwGltf_FailMemory(&reading);

    return snwGltfReading_Failed(&reading) ? reading.result : snwAsset_Examine(asset, message);
}

const snwAssetReader snw_gltfReader = {snw_assetGltf, "glTF 2.0", ".gltf .glb .vrm", ReadGltf};
