// Rows of `bench prep` about files that become characters: how long it takes, how much memory, how fast the prepared
// file loads, and how far the artist's surface is from its place.

#pragma once

#include "bench.h"

snwResult snwPrepCharacter_Run(snwContext* context, int runs, snwBenchReport* report, snwMessage* message);
