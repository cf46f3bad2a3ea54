// The parts of the bench `contact`.

#pragma once

#include "bench.h"

// Finding contact of soft bodies: time and growth with size, and what is missed.
snwResult snwAddDetectionRows(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message);
