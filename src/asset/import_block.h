// What the helper program sinew-import found in a file.

#pragma once

#include "asset/asset.h"

snwResult snwImportBlock_Read(snwAsset* asset, const void* data, size_t size, snwMessage* message);
