// What the colours of the flesh tell, as numbers at the vertices of a character: strain in percent, speed in m/s,
// contact forces in N, stiffness in Pa.

#pragma once

#include "sinew/tools.h"

// values: one per vertex of the body's character. False: the look tells no numbers.
bool snwFindLookValues(const snwSim* sim, int body, snwFilmLook look, float* values);
