// The formats that are read: one row each, beside the file that reads it.

#include "asset/asset.h"
#include "asset/draft.h"
#include "asset/gltf.h"
#include "asset/rig_parts.h"

// One row per format, beside the file that reads it.
static const snwAssetReader* const s_readers[] = {
    &snw_gltfReader,
    &snw_objReader,
    &snw_plyReader,
    &snw_meditReader,
    &snw_tetgenReader,
    &snw_tgfReader,
    &snw_dmatReader,
    &snw_handleTextReader,
    &snw_jointReader,
    &snw_bundleReader,
    &snw_pc2Reader,
    &snw_mddReader,
    &snw_importReader,
    NULL,
};

const snwAssetReader* snwAssetReader_Get(int index)
{
    return s_readers[index];
}
