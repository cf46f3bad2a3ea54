// What a file of an artist holds and what is wrong with it, printed: shared by info and prep.

#pragma once

#include "app/cli.h"
#include "asset/surfaces.h"

#include <jansson.h>

typedef struct snwAssetReport
{
    snwContext* context;
    snwArena arena;
    snwAsset* asset;
    snwAssetSurfaces surfaces;
} snwAssetReport;

// Reads the file and looks at its surfaces; Free after success and failure alike.
snwResult snwAssetReport_Make(snwContext* context, const char* path, snwAssetReport* report, snwMessage* message);
void snwAssetReport_Free(snwAssetReport* report);

// The worst verdict on any of its surfaces.
snwVerdict snwAssetReport_Verdict(const snwAssetReport* report);

snwExit snwAssetReport_Print(const snwAssetReport* report, bool json);
// Everything that its reader noted and that a person should look at on its surfaces: a list of objects.
json_t* snwAssetReport_Notes(const snwAssetReport* report);
// One line for `sinew check`.
void snwAssetReport_Summarise(const snwAsset* asset, char* text, size_t capacity);
