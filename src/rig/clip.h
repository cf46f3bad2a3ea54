// Motion over time by keys.

#pragma once

#include "math/transform.h"

// Before the first key and after the last one the motion stands still, unless it loops.
snwTransform snwClip_Evaluate(const snwClipDef* clip, double time);

// Its stretch less the identity: xx yy zz yz xz xy.
void snwClip_Strain(const snwClipDef* clip, double time, double strain[6]);

// From a to b as positions in a straight line and rotations on the shortest way.
snwTransform snwTransform_Interpolate(snwTransform a, snwTransform b, double fraction);
