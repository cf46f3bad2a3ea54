// Rows of `sinew bench prep` about weights and skinning.

#pragma once

#include "bench.h"

snwResult snwBenchSkinning(int runs, snwBenchReport* report, snwMessage* message);
snwResult snwBenchWeights(snwContext* context, int runs, snwBenchReport* report, snwMessage* message);
