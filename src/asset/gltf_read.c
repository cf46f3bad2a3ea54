// The glTF 2.0 reader: from the document to the asset.

#include "asset/gltf_parts.h"

static snwResult ReadGltf(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    return snwGltf_Parse(asset, input, message);
}

const snwAssetReader snw_gltfReader = {snw_assetGltf, "glTF 2.0", ".gltf .glb", ReadGltf};
