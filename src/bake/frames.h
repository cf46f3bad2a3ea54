// What a bake produced: for every output frame where the surfaces of the artist are, and where the artist's motion
// alone would have put them.
//
// Frames come one at a time from the cache of the run (a file: meshes times frames need not fit into memory). Positions
// are in metres in the space of the character: the world of the source file, times info.prepared's scale. So
//
//   x of the source's world, its unit  =  x / scale
//   x of the mesh, at rest             =  place^-1 x      (snwSurfaceInfo.place)
//
// and under a skin the source's own joints at clipTime take bind space to x / scale.
//
//   for (int i = 0; i < info.frameCount; ++i)
//   {
//       snwBakeFrames_Read(frames, i, &frame, message);
//       snwBakeFrames_GetSurface(frames, info.surfaces[0], &skin);
//   }

#pragma once

#include "asset/asset.h"
#include "sim/prepared.h"

typedef struct snwBakeFrames snwBakeFrames;

// Lives as long as the frames.
typedef struct snwBakeInfo
{
    const snwPrepared* prepared; // body, surfaces with mesh, node and place, scale, nodes of the bones
    const snwAsset* asset;       // the source; asset->gltf is its document, if it is one. NULL: a built-in character
    const char* path;            // of the source; "" if it is a built-in character
    const char* name;            // of the source, without folder and ending
    const char* clip;            // name of the motion; "" if there is none
    int animation;               // of the asset, whose times clipTime means; -1: none
    int frameCount;              // >= 1; with loop the last frame is the first one again
    double rate;                 // frames per second
    double start;                // s, in the clip, of frame 0
    bool loop;
    const int* surfaces; // of the prepared character, that are to be touched, rising
    int surfaceCount;
} snwBakeInfo;

snwBakeInfo snwBakeFrames_GetInfo(const snwBakeFrames* frames);

typedef struct snwBakeFrame
{
    int frame;
    double time;         // s, 0 for the first
    double clipTime;     // s, of the artist's animation
    snwTransforms bones; // where the artist's motion has them: take the rest pose to now; until the next Read
} snwBakeFrame;

// Any frame in any order; forward is fastest. Makes it the one that the two below are about.
snwResult snwBakeFrames_Read(snwBakeFrames* frames, int frame, snwBakeFrame* result, snwMessage* message);

// Another body in place of the frame's own, as it would be written whole.
snwResult snwBakeFrames_ShowBody(snwBakeFrames* frames, int frame, const snwVertices* body, snwMessage* message);

// A surface of the prepared character: positions and normals of its vertices in the artist's order, until the next
// Read.
snwResult snwBakeFrames_GetSurface(const snwBakeFrames* frames, int surface, snwSkin* skin, snwMessage* message);
// The same without flesh: what the file makes of it.
snwResult snwBakeFrames_GetArtist(snwBakeFrames* frames, int surface, snwSkin* skin, snwMessage* message);
// The difference of the two: m, x y z of each vertex; *offsets NULL: the motion is no clip of the file.
snwResult snwBakeFrames_GetFlesh(snwBakeFrames* frames, int surface, const float** offsets, snwMessage* message);
// m, on average: from where the surface is on the skinned body to what the file makes of it. Flesh of a body that is
// far from what is shown is not its own.
double snwBakeFrames_GetRide(const snwBakeFrames* frames, int surface);
// The share of all vertices whose flesh is held back because it would go beyond its reach.
double snwBakeFrames_GetLimited(const snwBakeFrames* frames);

// Body vertices, x y z each, simulated and skinned, until the next Read.
const float* snwBakeFrames_GetBody(const snwBakeFrames* frames);
const float* snwBakeFrames_GetArtistBody(snwBakeFrames* frames);

void snwBakeFrames_Close(snwBakeFrames* frames); // NULL is allowed
