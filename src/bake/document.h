// A glTF document for a bake whose source has none - a built-in character, a bundle: bones as nodes, surfaces as
// skinned meshes, the artist's motion as an animation with a key per frame. Written and read back, it is a source like
// any other, in metres.

#pragma once

#include "bake/reel.h"

typedef struct snwBakeDocument
{
    snwAsset* asset; // NULL: none was made
    int animation;   // -1: there are no bones
    snwReelSurface* surfaces;
    int surfaceCount;
    double bytes; // of the asset's file, if it were one
} snwBakeDocument;

snwResult snwMakeBakeDocument(
    snwContext* context, snwBakeFrames* frames, snwBakeDocument* document, snwMessage* message);
void snwBakeDocument_Free(snwContext* context, snwBakeDocument* document);

// The frames of a bake as a reel, with the document of the source or one that is made of it.
typedef struct snwBakeReel
{
    snwBakeFrames* frames;
    snwBakeInfo info;
    snwArena arena;
    snwBakeDocument made; // of a source that has none
    snwReel reel;         // its user is this struct, which must stay where it is
} snwBakeReel;

snwResult snwBakeReel_Open(snwContext* context, snwBakeFrames* frames, snwBakeReel* reel, snwMessage* message);
void snwBakeReel_Close(snwContext* context, snwBakeReel* reel); // also after a failure
