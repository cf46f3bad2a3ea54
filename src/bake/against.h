// A written file against its source: is every surface where the source has it, but for the flesh, and does it hold
// together?
//
// Both files are read and posed by code of its own: nothing is shared with what writes them.

#pragma once

#include "asset/asset.h"

#define SNW_AGAINST_OFF    0.01  // of the size: a surface that is farther off without its flesh is wrong
#define SNW_AGAINST_FOLDED 0.001 // of the edges: more that double back are a fault that is seen

// What flesh adds to the surface of a node in a frame; values NULL: nothing.
typedef struct snwAgainstFlesh
{
    const float* values; // per vertex x y z in the unit of the source
    bool whole;          // where the surface is with flesh, in the world; else what is added to the source's
} snwAgainstFlesh;

typedef snwResult snwAgainstFleshFn(void* user, int frame, int node, snwAgainstFlesh* flesh, snwMessage* message);

// Where the surface of a node is in a frame; positions NULL: not told.
typedef struct snwAgainstShown
{
    const float* positions; // per vertex x y z in the unit of the source; a vertex with a NAN is not told
    bool local;             // in the space of the node; else in the world
} snwAgainstShown;

typedef snwResult snwAgainstShownFn(void* user, int frame, int node, snwAgainstShown* shown, snwMessage* message);

typedef snwResult snwAgainstProgressFn(int done, int total, void* user); // a negative result stops the work

typedef struct snwAgainstDef
{
    const snwAsset* source;
    const snwAsset* written;  // NULL: it is no document
    snwAgainstShownFn* shown; // of what is no document: frames of the clip, nothing else is looked at
    int clip;                 // that flesh was added to; -1: not known, all are looked at alike
    double start, rate;
    int frameCount;                 // of that clip: frame i is at start + i / rate
    snwAgainstFleshFn* flesh;       // NULL: not known
    snwAgainstProgressFn* progress; // NULL: none
    void* user;
} snwAgainstDef;

typedef struct snwAgainstPlace
{
    const char *mesh, *bone, *clip; // bone "": none
    int vertex, frame;
    double time; // s, in the clip
    bool flat;   // the bone's bind matrix flattens what follows it
} snwAgainstPlace;

// Differences are shares of the size: the diagonal of what the source shows at the beginning of its first clip.
typedef struct snwAgainst
{
    double size;       // in the unit of the source
    double mean, most; // mean: over a clip, of the clip where it is largest
    snwAgainstPlace mostPlace;
    double missed; // the most from source and flesh together, where flesh is known
    snwAgainstPlace missedPlace;
    double bare; // the most of the document without what the source has not: its further morphs and moving nodes
    snwAgainstPlace barePlace;
    double held; // the most of a run whose flesh is held to its skin (snwBake_CheckWritten); -1: there was none
    snwAgainstPlace heldPlace;
    int torn; // edges in the worst frame: twice as long as the source ever makes them, seams that open
    snwAgainstPlace tornPlace;
    int folded; // edges in the worst frame at which the surface doubles back, and that of the source nowhere
    snwAgainstPlace foldedPlace;
    int edges;        // that could
    int sourceFolded; // edges in the worst frame at which the source itself doubles back
    snwAgainstPlace sourceFoldedPlace;
    int frames, surfaces;
} snwAgainst;

// An error if the two have not the same surfaces and clips. The names live as long as the source.
snwResult snwCompareAgainst(snwContext* context, const snwAgainstDef* def, snwAgainst* result, snwMessage* message);
// Shares of the size: the mean of one node over the frames of def's clip, without a look at edges.
snwResult snwAgainst_Probe(snwContext* context, const snwAgainstDef* def, int node, double* mean, snwMessage* message);
// An error that names mesh, bone and frame if the written file is wrong.
snwResult snwAgainst_Judge(const snwAgainst* against, snwMessage* message);
