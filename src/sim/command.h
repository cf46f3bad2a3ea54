// Commands inside the sim.

#pragma once

#include "sim/method.h"

snwResult snwCommand_CheckFor(
    const snwSceneDef* scene, const snwMethod* method, const snwCommand* command, snwMessage* message);

// Changes the common state and tells the method.
snwResult snwSim_Apply(snwSim* sim, const snwCommand* command, snwMessage* message);

// Everything but step, time and parameters as at the start; clips and script begin again.
void snwSim_Reset(snwSim* sim);
