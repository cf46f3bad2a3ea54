// The volume of a solid, from its distance alone, and spacings found from it.

#pragma once

#include "base/context.h"
#include "geom/solid.h"

// m^3, to about a thousandth of the volume (more for solids that are thin everywhere).
snwResult snwSolid_Volume(snwContext* context, const snwSolid* solid, double* volume, snwMessage* message);

// To 24 bits: a spacing that came out of cbrt, log or exp is then the same with any mathematical library.
double snwRoundSpacing(double spacing);
