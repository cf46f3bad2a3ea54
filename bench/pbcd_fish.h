// The complementary option beside complementary dynamics, on the fish that its authors published.

#pragma once

#include "pbcd_bench.h"

void snwAddPbcdFish(snwBenchRows* rows);
