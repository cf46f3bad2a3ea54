// A written file against its source: is every surface where the source has it, but for the flesh, and does it hold
// together?
//
// Both files are read and posed by code of its own: nothing is shared with what writes them.

#pragma once

#include "asset/asset.h"

#define SNW_AGAINST_OFF 0.01 // of the size: a surface that is farther off without its flesh is wrong

// What flesh adds to the surface of a node in a frame, per vertex x y z in the unit of the source; *offsets NULL: none.
typedef snwResult snwAgainstFleshFn(void* user, int frame, int node, const float** offsets, snwMessage* message);

typedef struct snwAgainstDef
{
    const snwAsset *source, *written;
    int clip; // that flesh was added to; -1: not known, all are looked at alike
    double start, rate;
    int frameCount;           // of that clip: frame i is at start + i / rate
    snwAgainstFleshFn* flesh; // NULL: not known; what the file has beyond the source's morphs is taken for it
    void* user;
    const volatile bool* interrupt; // NULL: none
} snwAgainstDef;

typedef struct snwAgainstPlace
{
    const char *mesh, *bone, *clip; // bone "": none
    int vertex, frame;
    double time; // s, in the clip
} snwAgainstPlace;

// Differences are shares of the size: the diagonal of what the source shows at the beginning of its first clip.
typedef struct snwAgainst
{
    double size;       // in the unit of the source
    double mean, most; // mean: over a clip, of the clip where it is largest
    snwAgainstPlace mostPlace;
    double bare; // the most without flesh
    snwAgainstPlace barePlace;
    int torn; // edges in the worst frame: twice as long as the source ever makes them, seams that open
    snwAgainstPlace tornPlace;
    int frames, surfaces;
} snwAgainst;

// An error if the two have not the same surfaces and clips. The names live as long as the source.
snwResult snwCompareAgainst(snwContext* context, const snwAgainstDef* def, snwAgainst* result, snwMessage* message);
// An error that names mesh, bone and frame if the written file is wrong.
snwResult snwAgainst_Judge(const snwAgainst* against, snwMessage* message);
