// The parts of the bench of softcontact.

#pragma once

#include "parts.h"

void snwAddSoftProblems(snwBenchRows* rows);
void snwAddSoftSiconos(snwBenchRows* rows);
void snwAddSoftDart(snwBenchRows* rows);
