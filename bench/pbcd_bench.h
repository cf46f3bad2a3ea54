// What the parts of `sinew bench pbcd` share.

#pragma once

#include "parts.h"

// Parts
void snwAddPbcdSpeed(snwBenchRows* rows);      // a projection, threads
void snwAddPbcdBullet(snwBenchRows* rows);     // beside Bullet's
void snwAddPbcdGrowth(snwBenchRows* rows);     // a substep over the size of the mesh
void snwAddPbcdOscillator(snwBenchRows* rows); // Table 3.2, Fig. 3.7
void snwAddPbcdBeam(snwBenchRows* rows);       // Table 3.3, Fig. 3.9
void snwAddPbcdJello(snwBenchRows* rows);      // Table 3.4
void snwAddPbcdSag(snwBenchRows* rows);        // Fig. 3.11
void snwAddPbcdRest(snwBenchRows* rows);       // rest, momentum, scale, stress states
