// Table 4.3 and Fig. 4.9 of the thesis: four characters with the sizes and materials of Table 4.2.

#pragma once

#include "pbcd_bench.h"

void snwAddPbcdCharacters(snwBenchRows* rows);
