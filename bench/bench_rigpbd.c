// Two-way coupling of skinning transformations and position-based dynamics: the parts of its bench.

#include "rigpbd_bench.h"

static const snwBenchPart s_parts[] = {
    {"table", snwAddRigpbdTable},
    {"solid", snwAddRigpbdSolid},
    {"rivals", snwAddRigpbdRivals},
    {"smoothness", snwAddRigpbdSmoothness},
    {"laws", snwAddRigpbdLaws},
    {"toggles", snwAddRigpbdToggles},
    {"locks", snwAddRigpbdLocks},
    {"exact", snwAddRigpbdExact},
};

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    static const snwBenchParts s_all = {s_parts, sizeof s_parts / sizeof *s_parts};
    return snwBenchParts_Run(&s_all, options, report, message);
}

const snwBench snwRigpbdBench = {"rigpbd",
    "rigs and flesh that move each other: Table 1 of its paper, ARAP and FAST on the same drags, its laws", Run};
