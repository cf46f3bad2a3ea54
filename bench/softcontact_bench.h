// The parts of the bench of softcontact.

#pragma once

#include "parts.h"

void snwAddSoftProblems(snwBenchRows* rows);
void snwAddSoftSiconos(snwBenchRows* rows);
void snwAddSoftDart(snwBenchRows* rows);
void snwAddSoftTable(snwBenchRows* rows);
void snwAddSoftDrop(snwBenchRows* rows);
void snwAddSoftTruths(snwBenchRows* rows);
