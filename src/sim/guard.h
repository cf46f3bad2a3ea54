// What a step must not do, and what a person wants to be told: see guard.c.

#pragma once

#include "sim/method.h"

// snw_errorDiverged if a number is not finite, or beyond what anybody would believe: says which and where. snw_warning,
// without words, if flesh is drawn out so far that it cannot be meant, but may come back.
snwResult snwSim_CheckReason(const snwSim* sim, snwMessage* message);

// After a step that diverged, before its state is put back: the remedy is what the scene did in it that is out of
// proportion, if anything is.
void snwSim_NameRemedy(const snwSim* sim, snwMessage* message);

// Warns of bodies that are deep inside of a collider.
void snwSim_WarnOfOverlaps(snwSim* sim);
