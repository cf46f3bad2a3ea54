// What the parts of `sinew bench pbcd` share.

#pragma once

#include "bench.h"

typedef struct snwPbcdRows
{
    snwBenchReport* report;
    const snwBenchOptions* options;
    snwMessage* message;
    snwResult result; // of the first thing that failed; nothing is added after it
} snwPbcdRows;

void snwPbcdRows_Add(snwPbcdRows* rows, const snwBenchRow* row);

// Parts
void snwAddPbcdSpeed(snwPbcdRows* rows);      // a projection, threads
void snwAddPbcdBullet(snwPbcdRows* rows);     // beside Bullet's
void snwAddPbcdGrowth(snwPbcdRows* rows);     // a substep over the size of the mesh
void snwAddPbcdOscillator(snwPbcdRows* rows); // Table 3.2, Fig. 3.7
void snwAddPbcdBeam(snwPbcdRows* rows);       // Table 3.3, Fig. 3.9
void snwAddPbcdJello(snwPbcdRows* rows);      // Table 3.4
void snwAddPbcdSag(snwPbcdRows* rows);        // Fig. 3.11
void snwAddPbcdRest(snwPbcdRows* rows);       // rest, momentum, scale, stress states
void snwAddPbcdBake(snwPbcdRows* rows);       // files baked, checked by other readers
