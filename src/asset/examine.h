// What is worth a look in a rigged asset although it makes sense: bones without length or weight, a bind pose that is
// not the rest pose, animated scale, first keys after 0, a size that nobody means, vertices on top of each other.

#pragma once

#include "asset/asset.h"

// Adds notes; changes nothing but asset->scale, which becomes a guess (and a note) when a character is far too large.
// Fails only without memory.
snwResult snwAsset_Examine(snwAsset* asset, snwMessage* message);
