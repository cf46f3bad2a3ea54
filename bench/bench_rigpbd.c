// Two-way coupling of skinning transformations and position-based dynamics: the parts of its bench.

#include "rigpbd_bench.h"

#include "base/result.h"

#include <string.h>

typedef struct Part
{
    const char* name;
    void (*add)(snwRigpbdRows* rows);
} Part;

static const Part s_parts[] = {
    {"table", snwAddRigpbdTable},
    {"solid", snwAddRigpbdSolid},
    {"rivals", snwAddRigpbdRivals},
    {"smoothness", snwAddRigpbdSmoothness},
    {"laws", snwAddRigpbdLaws},
    {"exact", snwAddRigpbdExact},
};

enum
{
    snw_partCount = sizeof s_parts / sizeof *s_parts
};

void snwRigpbdRows_Add(snwRigpbdRows* rows, const snwBenchRow* row)
{
    if (rows->result >= 0)
        rows->result = snwBenchReport_Add(rows->report, row, rows->message);
}

void snwRigpbdRows_AddValue(
    snwRigpbdRows* rows, const char* caseName, const char* method, const char* metric, double value)
{
    snwBenchRow row = snwMakeBenchRow(caseName, method, metric);
    row.value = value;
    row.n = 1;
    snwRigpbdRows_Add(rows, &row);
}

static bool IsAsked(const snwBenchOptions* options, const Part* part)
{
    return options->only == NULL || strcmp(options->only, part->name) == 0;
}

static snwResult CheckCase(const snwBenchOptions* options, snwMessage* message)
{
    char names[160] = "";
    for (int i = 0; i < snw_partCount; ++i)
    {
        size_t used = strlen(names);
        if (IsAsked(options, &s_parts[i]))
            return snw_ok;
        snprintf(names + used, sizeof names - used, " %s", s_parts[i].name);
    }
    return snwFail(message, snw_errorArgument, names + 1, "there is no case '%s'", options->only);
}

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    snwRigpbdRows rows = {.report = report, .options = options, .message = message};
    rows.result = CheckCase(options, message);
    for (int i = 0; i < snw_partCount; ++i)
        if (IsAsked(options, &s_parts[i]) && rows.result >= 0)
            s_parts[i].add(&rows);
    return rows.result;
}

const snwBench snwRigpbdBench = {"rigpbd",
    "rigs and flesh that move each other: Table 1 of its paper, ARAP and FAST on the same drags, its laws", Run};
