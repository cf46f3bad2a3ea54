// Corotated finite elements on geometric multigrid: the parts of its bench.

#include "skelfem_bench.h"

static const snwBenchPart s_parts[] = {
    {"solve", snwAddSkelfemSolve},
    {"scale", snwAddSkelfemScale},
    {"boundary", snwAddSkelfemBoundary},
    {"steps", snwAddSkelfemSteps},
    {"motion", snwAddSkelfemMotion},
};

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    static const snwBenchParts s_all = {s_parts, sizeof s_parts / sizeof *s_parts};
    return snwBenchParts_Run(&s_all, options, report, message);
}

const snwBench snwSkelfemBench = {
    "skelfem", "the multigrid of corotated finite elements beside conjugate gradients, CHOLMOD, PETSc and hypre", Run};
