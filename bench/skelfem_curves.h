// Curves of Fig. 5: what is left of the error, in the norm of its energy, over processor time.

#pragma once

#include "parts.h"
#include "peer_petsc.h"
#include "skelfem_stage.h"

typedef struct snwSkelfemCurvesDef
{
    const char* name;
    snwFemStage* stage;
    double h;                   // s; 0: static
    const snwPetscTimes* petsc; // NULL: there is none
    double cholmodMs;           // below 0: there is none
    bool large;                 // what goes with the square of its size is left out
} snwSkelfemCurvesDef;

void snwAddSkelfemCurves(snwBenchRows* rows, const snwSkelfemCurvesDef* def);
