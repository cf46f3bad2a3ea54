// Unfolding: tets that are flat or inside out are given a fifth of their rest volume, whatever their law says. Energies
// of flesh are finite there and have wells, which sweeps alone do not leave: in the crease of an elbow, under what
// lands hard, where an artist bends a joint by more than the elements between two bones can follow.
//
// A round is one Gauss-Seidel sweep of C = V - V0 / 5 >= 0 over the tets that are near it. Rounds converge from as far
// as poses of characters get (a third of the tets around 50 joints inside out, down to -4 of a volume: 8 to 60 rounds),
// and where nothing is folded they cost one look at every volume. Of the time of all sweeps (a dropped jello, part of
// it pressed flat) that is 2 % in pbcd, whose law marks what it visits, and 9 % in pbd.

#pragma once

#include "contact/response.h"
#include "sim/constraints/blocks.h"

// Marks of blocks.
enum
{
    snw_nearlyFolded = 1, // a tet had less than half of its rest volume when the block was last looked at
    snw_unfoldedNow = 2,  // and the round moved one
};

typedef struct snwUnfold
{
    const snwBlocks* blocks;
    const snwTetBlock* tets; // the blocks', or copies in which a rest volume below 0 means that a tet is left alone
    float* positions;        // rows of float4: x y z and the inverse mass
    unsigned char* folded;   // a mark per block of tets
} snwUnfold;

// Marks all blocks anew. False: nothing is near.
bool snwUnfold_Mark(snwContext* context, const snwUnfold* unfold);

// A round over what is marked, or the same backwards. False: it moved nothing.
bool snwUnfold_Round(snwContext* context, const snwUnfold* unfold, bool back);

// Round `index` of several. What is unfolded may fold its neighbours: in every fourth round, and where the one before
// moved nothing, all blocks are marked anew. False: none of them has anything to unfold.
bool snwUnfold_Next(snwContext* context, const snwUnfold* unfold, int index);

// Rounds after the last sweep over an island, with its contacts in between, which have the last word but for those of a
// body with itself: in the crease of an elbow they ask for room that there is not. What may be folded is marked.
// unfolds: per body; tets NULL: it is left alone.
void snwUnfold_Island(snwResponse* response, int island, const snwUnfold* unfolds);

// As many rounds as it takes, 64 at most.
void snwUnfold_All(snwContext* context, const snwUnfold* unfold);
