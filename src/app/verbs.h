// One verb per file.

#pragma once

#include "app/cli.h"

extern const snwVerb snwDemoVerb, snwSimVerb, snwReplayVerb, snwInfoVerb, snwCheckVerb, snwRenderVerb, snwBenchVerb,
    snwHelpVerb, snwCompletionsVerb;
