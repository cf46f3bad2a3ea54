// One verb per file.

#pragma once

#include "app/cli.h"

extern const snwVerb snwDemoVerb, snwSimVerb, snwReplayVerb, snwInfoVerb, snwCheckVerb, snwBenchVerb, snwHelpVerb,
    snwCompletionsVerb;
