// Rows of `bench prep` about files: how fast glTF is read, and what Khronos' validator finds in what we write.

#pragma once

#include "bench.h"

snwResult snwPrepGltf_Run(snwContext* context, int runs, snwBenchReport* report, snwMessage* message);
