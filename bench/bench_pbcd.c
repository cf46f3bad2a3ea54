// Position-based complementary dynamics: the parts of its bench.

#include "pbcd_bench.h"
#include "pbcd_characters.h"
#include "pbcd_fish.h"

#include "base/result.h"

#include <string.h>

typedef struct Part
{
    const char* name;
    void (*add)(snwPbcdRows* rows);
} Part;

static const Part s_parts[] = {
    {"speed", snwAddPbcdSpeed},
    {"bullet", snwAddPbcdBullet},
    {"growth", snwAddPbcdGrowth},
    {"oscillator", snwAddPbcdOscillator},
    {"beam", snwAddPbcdBeam},
    {"jello", snwAddPbcdJello},
    {"sag", snwAddPbcdSag},
    {"rest", snwAddPbcdRest},
    {"characters", snwAddPbcdCharacters},
    {"fish", snwAddPbcdFish},
    {"bake", snwAddPbcdBake},
};

enum
{
    snw_partCount = sizeof s_parts / sizeof *s_parts
};

void snwPbcdRows_Add(snwPbcdRows* rows, const snwBenchRow* row)
{
    if (rows->result >= 0)
        rows->result = snwBenchReport_Add(rows->report, row, rows->message);
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
    snwPbcdRows rows = {.report = report, .options = options, .message = message};
    rows.result = CheckCase(options, message);
    for (int i = 0; i < snw_partCount; ++i)
        if (IsAsked(options, &s_parts[i]) && rows.result >= 0)
            s_parts[i].add(&rows);
    return rows.result;
}

const snwBench snwPbcdBench = {"pbcd",
    "position-based complementary dynamics: speed of its sweeps beside Bullet's, tables and figures of its "
    "thesis",
    Run};
