// Commands inside the sim.

#pragma once

#include "sim/method.h"

snwResult snwCommand_CheckFor(
    const snwSceneDef* scene, const snwMethod* method, const snwCommand* command, snwMessage* message);

// Changes the common state and tells the method.
snwResult snwSim_Apply(snwSim* sim, const snwCommand* command, snwMessage* message);

// Bodies, pins, colliders, grabs and materials as at the start; step, time, gravity and parameters stay... and the
// script begins again.
void snwSim_Reset(snwSim* sim);
