// The scenarios of the thesis' section 3.5.2, at 24 frames per second with 1 kg per vertex. It gives neither sizes nor
// moduli; these are ours.
//
// Beam. h^2 k / m of its edges, with h = 1/24 s, is about 20: sweeps end after tens to hundreds. Its swing of 3 s is
// seen in 72 frames.
//
// Jello. The thesis drops it on a plane. What contact does in a step differs between a sweep, which pushes out after
// each visit, and Newton's method, which knows nothing of it; errors would tell that difference and no other. So the
// jello falls on a plate and sticks to it: all that is lower than 6 cm stops at once and is held, the rest still falls
// at 1 m/s. Every method has the same contact then, exactly.

#include "pbcd_tables.h"

#include "base/result.h"

#include <math.h>
#include <stdlib.h>

static const double s_rate = 24;

static const snwSetting s_plain[] = {{"pbcd.damping", 0}, {"pbcd.equal_masses", 1}};
static const snwSetting s_still[] = {{"pbcd.damping", 0}, {"pbcd.equal_masses", 1}, {"pbcd.drag", 4}};
static const snwSetting s_anisotropic[] = {{"pbcd.damping", 0}, {"pbcd.equal_masses", 1}, {"pbcd.along_y", 0.5}};

// ---------------------------------------------------------------------------------------------------------------------
// Oscillator: a mass on a spring of 10 m, stretched by 5; k = E l, so that it swings once in two seconds.

static const char s_oscillator[] =
    "{\"sinew\": 1, \"name\": \"oscillator\", \"gravity\": [0, 0, 0],"
    " \"bodies\": [{\"name\": \"spring\", \"character\": {\"shape\": \"spring\", \"size\": [10, 0, 0], \"mass\": 1,"
    "   \"material\": {\"young\": 0.986960440108936}}}],"
    " \"pins\": [{\"name\": \"wall\", \"body\": \"spring\", \"lower\": [-5.1, -1, -1], \"upper\": [-4.9, 1, 1]}]}";
static const double s_stretch = 5;

static void Stretch(snwSim* sim)
{
    snwPbcd_Work(sim, 0)->state.positions[4] += (float)s_stretch;
}

snwPbcdScenario snwMakePbcdOscillator(void)
{
    return (snwPbcdScenario){.name = "oscillator",
        .json = s_oscillator,
        .rate = s_rate,
        .frames = 120,
        .law = snw_pbcdEdges,
        .settings = s_plain,
        .settingCount = sizeof s_plain / sizeof *s_plain,
        .place = Stretch};
}

double snwPbcdOscillator_At(double time)
{
    return 5 + s_stretch * cos(SNW_PI * time);
}

snwResult snwMakePbcdOscillatorTrack(const snwPbcdScenario* scenario, snwPbcdTrack* track, snwMessage* message)
{
    *track = (snwPbcdTrack){.frames = scenario->frames, .vertices = 2, .size = 10};
    track->x = calloc(2 * (size_t)scenario->frames, 3 * sizeof *track->x);
    if (track->x == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < scenario->frames; ++i)
    {
        track->x[6 * (size_t)i] = -5;
        track->x[6 * (size_t)i + 3] = (float)snwPbcdOscillator_At((i + 1) / scenario->rate);
    }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Beam

static const char s_beam[] =
    "{\"sinew\": 1, \"name\": \"beam\", \"gravity\": [0, 0, 0],"
    " \"bodies\": [{\"name\": \"beam\", \"character\": {\"blueprint\": \"beam\","
    "   \"material\": {\"density\": 1000, \"young\": 2e5, \"poisson\": 0.45}}}],"
    " \"pins\": [{\"name\": \"wall\", \"body\": \"beam\", \"lower\": [-0.6, -1, -1], \"upper\": [-0.49, 1, 1]}]}";

static const char s_sag[] =
    "{\"sinew\": 1, \"name\": \"sag\", \"gravity\": [0, -0.3, 0],"
    " \"bodies\": [{\"name\": \"beam\", \"character\": {\"blueprint\": \"beam\","
    "   \"material\": {\"density\": 1000, \"young\": 2e5, \"poisson\": 0.45}}}],"
    " \"pins\": [{\"name\": \"wall\", \"body\": \"beam\", \"lower\": [-0.6, -1, -1], \"upper\": [-0.49, 1, 1]}]}";

// As a force on its end bends a thin beam, y' = a (2 s - s^2): sections stay flat and the axis keeps its length.
static void Bend(snwSim* sim)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, 0);
    const double slope = 0.525;
    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        snwVec3 x = snwRow_Get(work->state.positions, i), axis = {-0.5, 0, 0};
        double end = x.x + 0.5, angle = atan(slope * (2 * end - end * end));
        const int pieces = 200;
        for (int k = 0; k < pieces; ++k)
        {
            double s = (k + 0.5) / pieces * end, turn = atan(slope * (2 * s - s * s));
            axis.x += end / pieces * cos(turn);
            axis.y += end / pieces * sin(turn);
        }
        snwVec3 across = {-sin(angle) * x.y, cos(angle) * x.y, x.z};
        snwRow_Set(work->state.positions, i, snwVec3_Add(axis, across));
    }
}

snwPbcdScenario snwMakePbcdBeam(void)
{
    return (snwPbcdScenario){.name = "beam",
        .json = s_beam,
        .rate = s_rate,
        .frames = 72,
        .law = snw_pbcdEdges,
        .settings = s_plain,
        .settingCount = sizeof s_plain / sizeof *s_plain,
        .place = Bend};
}

snwPbcdScenario snwMakePbcdSag(void)
{
    return (snwPbcdScenario){.name = "sag",
        .json = s_sag,
        .rate = s_rate,
        .frames = 144,
        .law = snw_pbcdEdges,
        .settings = s_still,
        .settingCount = sizeof s_still / sizeof *s_still};
}

// ---------------------------------------------------------------------------------------------------------------------
// Jello

static const char s_jello[] =
    "{\"sinew\": 1, \"name\": \"jello\","
    " \"bodies\": [{\"name\": \"jello\", \"character\": {\"blueprint\": \"jello\","
    "   \"material\": {\"density\": 1000, \"young\": 2e5, \"poisson\": 0.4}}, \"velocity\": [0, -3, 0]}],"
    " \"pins\": [{\"name\": \"plate\", \"body\": \"jello\", \"lower\": [-9, -1, -9], \"upper\": [9, 0.6, 9]}]}";

snwPbcdScenario snwMakePbcdJello(void)
{
    return (snwPbcdScenario){.name = "jello",
        .json = s_jello,
        .rate = s_rate,
        .frames = 12,
        .scale = 10,
        .law = snw_pbcdStrain,
        .settings = s_anisotropic,
        .settingCount = sizeof s_anisotropic / sizeof *s_anisotropic};
}
