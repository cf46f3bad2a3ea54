// The inside of a mended surface as a solid that meshers can stuff.
//
// Its sign is the winding number's, its size the distance to the nearest triangle that bounds it. Two things differ
// from snwSoup_Solid. Where shells overlap, triangles inside of the body are no surface: they would make the middle of
// the body look thin. And over a hole the sign changes far from any triangle: there the distance must fall to zero
// without one. The winding number w is harmonic between triangles, so within a ball of radius r that holds none it
// cannot fall from w to 1/2 on less than about 2 |w - 1/2| r; over the middle of a round hole that is the very distance
// to the film that closes it, at its rim a third of it. Closed surfaces have w = 0 or 1 and keep the plain distance.

#pragma once

#include "geom/mend.h"
#include "geom/winding.h"

typedef struct snwInside
{
    snwContext* context;
    const snwMend* mend;
    snwSoup* all;     // tells inside from outside
    snwSoup* skin;    // triangles that bound the body; `all` itself if none is hidden
    snwSoup* thick;   // what is thickened; NULL: nothing
    double thickness; // m, on either side
    double inset;     // m, the rest of the surface lies so much deeper: gives back the volume that thickening takes
    snwSoup** bones;
    int boneCount;
    uint8_t* hidden; // by triangle of the mend
    int hiddenCount;
    bool open; // there are holes
} snwInside;

// The mends must live as long.
snwResult snwInside_Create(snwContext* context, const snwMend* mend, const snwMend* bones, int boneCount,
    snwInside* inside, snwMessage* message);
void snwInside_Free(snwInside* inside);

// Whatever is within `by` (m) of the chosen triangles (by number: not 0) is inside, too. Replaces what was chosen
// before.
snwResult snwInside_Thicken(snwInside* inside, const uint8_t* chosen, double by, snwMessage* message);

snwSolid snwInside_Solid(const snwInside* inside); // points to inside
