#include "asset/asset.h"

// One row per format, beside the file that reads it.
static const snwAssetReader* const s_readers[] = {
    NULL,
};

const snwAssetReader* snwAssetReader_Get(int index)
{
    return s_readers[index];
}
