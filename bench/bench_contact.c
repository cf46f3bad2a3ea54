// Contact: what finding it costs and whether anything is missed.

#include "contact_bench.h"
#include "contact_suite.h"

typedef snwResult AddRowsFn(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message);

// Parts of the bench, in the order of its rows.
static AddRowsFn* const s_parts[] = {snwAddDetectionRows, snwSuite_AddRows, NULL};

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = options->only != NULL; s_parts[i] != NULL && result >= 0; ++i) // cases are those of the suite
        result = s_parts[i](options, report, message);
    return result;
}

const snwBench snwContactBench = {"contact", "contact: time of finding it, and what it misses", Run};
