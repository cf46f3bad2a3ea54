#include "asset/asset.h"
#include "asset/gltf.h"
#include "asset/rig_parts.h"

// One row per format, beside the file that reads it.
static const snwAssetReader* const s_readers[] = {
    &snw_gltfReader,
    &snw_tgfReader,
    &snw_dmatReader,
    &snw_handleTextReader,
    &snw_jointReader,
    &snw_bundleReader,
    &snw_pc2Reader,
    &snw_mddReader,
    NULL,
};

const snwAssetReader* snwAssetReader_Get(int index)
{
    return s_readers[index];
}
