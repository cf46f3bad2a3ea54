// The nodes of an asset as an animation has them at some time.
//
//   snwAssetPoser poser;
//   snwResult result = snwAssetPoser_Make(asset, &arena, &poser, message);
//   snwAssetPoser_Pose(&poser, &asset->animations[0], 0.5);
//   poser.places[node] ...

#pragma once

#include "asset/asset.h"
#include "base/array.h"

typedef struct snwAssetPoser
{
    const snwAsset* asset;
    int* order;          // nodes, parents first
    snwAssetPose* poses; // of the nodes that move
    uint8_t* moved;
    snwAffine* places; // of every node, in the world and the unit of the file
} snwAssetPoser;

// Everything comes from the arena; nodes stand as at rest.
snwResult snwAssetPoser_Make(const snwAsset* asset, snwArena* arena, snwAssetPoser* poser, snwMessage* message);
// time: s; before the first and behind the last key of a channel its ends hold. animation NULL: as at rest.
void snwAssetPoser_Pose(snwAssetPoser* poser, const snwAssetAnimation* animation, double time);

// Times at which an animation is sampled: all its keys from 0 s on, none nearer than 1e-4 s to the one before, and at
// least thirty a second. Freed with snwArray_Free. False: no memory.
typedef snwArray(double) snwTimes;
bool snwAssetAnimation_FindTimes(snwContext* context, const snwAssetAnimation* animation, snwTimes* times);

// The weights of the morphs of the node's mesh; weights has a place for each of them.
void snwAsset_SampleMorphs(
    const snwAsset* asset, const snwAssetAnimation* animation, int node, double time, double* weights);

// The channel's value, `width` numbers.
void snwAssetChannel_Sample(const snwAssetChannel* channel, double time, double* out);
