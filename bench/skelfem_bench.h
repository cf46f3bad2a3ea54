// The parts of the bench of skelfem.

#pragma once

#include "parts.h"

void snwAddSkelfemSolve(snwBenchRows* rows);
void snwAddSkelfemScale(snwBenchRows* rows);
void snwAddSkelfemBoundary(snwBenchRows* rows);
void snwAddSkelfemSteps(snwBenchRows* rows);
void snwAddSkelfemMotion(snwBenchRows* rows);
