// The parts of the bench of skelfem.

#pragma once

#include "parts.h"

void snwAddSkelfemSolve(snwBenchRows* rows);
