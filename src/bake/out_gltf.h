// What the writers of documents share.

#pragma once

#include "asset/gltf_write.h"
#include "bake/offsets.h"

// Morph targets and their weights for all surfaces of the reel; errors are added to those that are there.
snwResult snwBakeWriting_AddMorphs(const snwBakeWriting* writing, snwGltfWriter* writer, snwBakeErrors* errors);
// To the baked clip; to a new one with the channels' name if the reel has none.
void snwBakeWriting_AddChannels(
    const snwBakeWriting* writing, snwGltfWriter* writer, const snwAssetAnimation* channels);
snwResult snwBakeWriting_Save(const snwBakeWriting* writing, snwGltfWriter* writer, const snwBakeErrors* errors);
