// The truth of the sinking plate: a block of flesh whose lower side is held and whose upper side carries a rigid plate
// that can only move along y. Its height in rest, from the energy alone: nothing here steps, touches or knows a method.

#pragma once

#include "sinew/sinew.h"

typedef enum snwColumnLaw
{
    snw_columnNeoHookean, // stable Neo-Hookean, as in sim/constraints/neo_hookean.h
    snw_columnCorotated,  // linear in the turned frame
} snwColumnLaw;

// m; `load` in N on the upper side, gravity in m/s^2 downwards. NAN if there is no memory or no rest was found.
double snwFindColumnHeight(
    snwColumnLaw law, const snwCharacterDef* column, const double* masses, double load, double gravity);
