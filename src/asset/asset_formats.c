#include "asset/asset.h"

#include "asset/gltf.h"

// One row per format, beside the file that reads it.
static const snwAssetReader* const s_readers[] = {
    &snw_gltfReader,
    NULL,
};

const snwAssetReader* snwAssetReader_Get(int index)
{
    return s_readers[index];
}
