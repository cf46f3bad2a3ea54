// The volume of a solid, from its distance alone.

#pragma once

#include "base/context.h"
#include "geom/solid.h"

// m^3, to about a thousandth of the volume (more for solids that are thin everywhere).
snwResult snwSolid_Volume(snwContext* context, const snwSolid* solid, double* volume, snwMessage* message);
