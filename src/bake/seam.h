// A clip that nearly ends as it begins, made to do so.

#pragma once

#include "asset/asset.h"

typedef struct snwSeam
{
    double gap;                  // of the joints at the end from where they are at the beginning, in the file's unit
    double way;                  // of it, what the uppermost joint has moved on
    double size;                 // of the skeleton in the first pose
    snwAssetAnimation animation; // channels that end as they begin, the arena's; none if the gap is too small or large
} snwSeam;

// Gaps from half a percent of the size to a tenth are closed: what is missing at the end is faded in over the last
// quarter of the clip, at most 0.4 s. A clip that walks away, by more than a twentieth, does so on purpose.
snwResult snwSeam_Close(
    snwArena* arena, const snwAsset* asset, const snwAssetAnimation* animation, snwSeam* seam, snwMessage* message);
