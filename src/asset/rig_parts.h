// Inside the readers of rigs and caches: what a bundle puts together from several files, and the writer of joints.

#pragma once

#include "asset/asset.h"
#include "base/bytes.h"

// Each fills its part of an asset: points and handles; matrix; handleMotion; bones and joints; cache; all of it.
snwResult snwTgf_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message);
snwResult snwDmat_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message);
// Needs the handles if it moves bones: those of the asset, or else those of NAME.tgf beside NAME_anim.txt.
snwResult snwHandleText_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message);
snwResult snwJointText_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message);
snwResult snwPc2_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message);
snwResult snwMdd_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message);
snwResult snwBundle_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message);
// FBX, DAE, BVH: see import.c.
snwResult snwImport_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message);

extern const snwAssetReader snw_tgfReader, snw_dmatReader, snw_handleTextReader, snw_jointReader, snw_pc2Reader,
    snw_mddReader, snw_bundleReader, snw_importReader;

// Is this JSON text a bundle, and not a scene or a blueprint? Broken JSON is none.
bool snwBundle_IsOne(snwContext* context, const char* text, size_t size);
bool snwBundle_IsOneAt(snwContext* context, const char* path);

// The bones and joints of an asset as text that snwJointText_Read reads back.
snwResult snwJointText_Write(snwWriter* out, const snwAsset* asset, snwMessage* message);
