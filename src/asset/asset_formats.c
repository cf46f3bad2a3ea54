#include "asset/asset.h"
#include "asset/rig_parts.h"

// One row per format, beside the file that reads it.
static const snwAssetReader* const s_readers[] = {
    &snwTgfReader,
    &snwDmatReader,
    &snwHandleTextReader,
    &snwJointReader,
    &snwBundleReader,
    &snwPc2Reader,
    &snwMddReader,
    NULL,
};

const snwAssetReader* snwAssetReader_Get(int index)
{
    return s_readers[index];
}
