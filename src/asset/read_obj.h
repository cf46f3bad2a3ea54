// Inside the reader of OBJ: materials.

#pragma once

#include "asset/asset.h"
#include "asset/scan.h"

typedef struct snwObjLibrary
{
    snwWord names[16]; // of .mtl files, as the OBJ writes them
    int count;
} snwObjLibrary;

// Gives the vertices the diffuse colour (Kd) of the material of their first triangle. Files that are missing make a
// note; the mesh then has no colours.
snwResult snwObj_ColorFromMaterials(
    const snwAssetInput* input, snwAsset* asset, snwAssetMesh* mesh, const snwObjLibrary* library, snwMessage* message);
