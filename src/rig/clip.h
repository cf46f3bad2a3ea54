// Motion over time by keys.

#pragma once

#include "math/transform.h"

// Before the first key and after the last one the motion stands still, unless it loops.
snwTransform snwClip_Evaluate(const snwClipDef* clip, double time);

// From a to b as positions in a straight line and rotations on the shortest way.
snwTransform snwTransform_Interpolate(snwTransform a, snwTransform b, double fraction);
