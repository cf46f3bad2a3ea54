// Scenes with fewer elements than they ask for: what a test or a bench of minutes can run.

#pragma once

#include <jansson.h>

// Characters of the scene get `scale` times the elements that they ask for (shapes: cells along each side), no paint,
// which takes longer to draw than all the rest, and no fine skin. Boxes of pins grow by `wider` (m) each way, for a
// coarse body may have no vertex in a small one.
void snwMakeSceneSmaller(json_t* scene, double scale, double wider);
