// One verb per file.

#pragma once

#include "app/cli.h"

extern const snwVerb snwStudioVerb, snwDemoVerb, snwSimVerb, snwCompareVerb, snwReplayVerb, snwInfoVerb, snwCheckVerb,
    snwRenderVerb, snwPrepVerb, snwBakeVerb, snwBenchVerb, snwHelpVerb, snwCompletionsVerb;
