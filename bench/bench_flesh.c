// Flesh that never breaks: what every method promises of any character under any hand, and what that may cost.

#include "flesh_bench.h"

static const snwBenchPart s_parts[] = {
    {"storm", snwAddFleshStorms},
    {"clips", snwAddFleshClips},
    {"energy", snwAddFleshEnergy},
    {"scenes", snwAddFleshScenes},
    {"stress", snwAddFleshStress},
    {"sag", snwAddFleshSag},
    {"fall", snwAddFleshFall},
    {"scale", snwAddFleshScale},
    {"absurd", snwAddFleshAbsurd},
    {"speed", snwAddFleshSpeed},
};

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    static const snwBenchParts s_all = {s_parts, sizeof s_parts / sizeof *s_parts};
    return snwBenchParts_Run(&s_all, options, report, message);
}

const snwBench snwFleshBench = {"flesh",
    "flesh under any hand: what diverges, stays inside out or gains energy; sag, fall, sizes, places; absurd scenes",
    Run};
