// Soft contact: the parts of its bench.

#include "softcontact_bench.h"

static const snwBenchPart s_parts[] = {
    {"problems", snwAddSoftProblems},
    {"siconos", snwAddSoftSiconos},
    {"dart", snwAddSoftDart},
    {"table", snwAddSoftTable},
    {"drop", snwAddSoftDrop},
    {"truths", snwAddSoftTruths},
};

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    static const snwBenchParts s_all = {s_parts, sizeof s_parts / sizeof *s_parts};
    return snwBenchParts_Run(&s_all, options, report, message);
}

const snwBench snwSoftcontactBench = {
    "softcontact", "contact problems of soft and hard skins, beside Siconos and DART; what its bodies promise", Run};
