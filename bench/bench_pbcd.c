// Position-based complementary dynamics: the parts of its bench.

#include "pbcd_bench.h"
#include "pbcd_characters.h"
#include "pbcd_fish.h"

static const snwBenchPart s_parts[] = {
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
};

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    static const snwBenchParts s_all = {s_parts, sizeof s_parts / sizeof *s_parts};
    return snwBenchParts_Run(&s_all, options, report, message);
}

const snwBench snwPbcdBench = {"pbcd",
    "position-based complementary dynamics: speed of its sweeps beside Bullet's, tables and figures of its "
    "thesis",
    Run};
