// Articulated projective dynamics: the tables and figures of its paper, and what was promised of it.

#include "apd_bench.h"

#include "base/result.h"

#include <string.h>

typedef struct Part
{
    const char* name;
    void (*add)(snwApdRows* rows);
} Part;

static const Part s_figures[] = {
    {"locking", snwAddApdLocking},
    {"convergence", snwAddApdErrors},
    {"energy", snwAddApdEnergies},
    {"rigid", snwAddApdNunchuck},
    {"loops", snwAddApdLoops},
    {"ratios", snwAddApdRatios},
    {"shell", snwAddApdSnail},
    {"swing", snwAddApdSilk},
    {"explosion", snwAddApdExplosion},
};

enum
{
    snw_figureCount = sizeof s_figures / sizeof *s_figures
};

static bool IsAsked(const snwBenchOptions* options, const char* name)
{
    return options->only == NULL || strcmp(options->only, name) == 0;
}

static snwResult CheckCase(const snwBenchOptions* options, snwMessage* message)
{
    for (int i = 0; i < snw_apdCaseCount; ++i)
        if (IsAsked(options, snwApdCases[i].name))
            return snw_ok;
    for (int i = 0; i < snw_figureCount; ++i)
        if (IsAsked(options, s_figures[i].name))
            return snw_ok;
    char names[320] = "";
    for (int i = 0; i < snw_apdCaseCount + snw_figureCount; ++i)
    {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s",
            i < snw_apdCaseCount ? snwApdCases[i].name : s_figures[i - snw_apdCaseCount].name);
    }
    return snwFail(message, snw_errorArgument, names + 1, "there is no case '%s'", options->only);
}

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    snwApdRows rows = {.report = report, .options = options, .message = message};
    rows.result = CheckCase(options, message);
    for (int i = 0; i < snw_apdCaseCount; ++i)
        if (IsAsked(options, snwApdCases[i].name))
            snwAddApdTable(&rows, &snwApdCases[i]);
    for (int i = 0; i < snw_figureCount; ++i)
        if (IsAsked(options, s_figures[i].name) && rows.result >= 0)
            s_figures[i].add(&rows);
    return rows.result;
}

const snwBench snwApdBench = {"apd", "articulated projective dynamics: tables and figures of its paper, truths", Run};
