// Hands on single vertices, for methods that move rows of float4 (x y z and the inverse mass in use).

#pragma once

#include "sim/method.h"

// Vertices that a pin of the scene or a hand holds go where it is.
void snwHands_MovePinned(const snwSim* sim, int body, float* positions);

// One of `iterations` visits of the drags: after all of them the part `value` of the way is gone.
void snwHands_Drag(const snwSim* sim, int body, float* positions, int iterations);
