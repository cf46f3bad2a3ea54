// Flesh in an artist's words: how fast it swings, how soon it is still; what leads it; and what it must not notice
// (teleports, places far away).

#include "fixture.h"
#include "rigged.h"
#include "sim/pbcd/pbcd.h"
#include "sim/vertex_track.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum
{
    snw_mostSettings = 8,
    snw_frames = 9, // of the vertex motion
};

typedef struct Wobble
{
    snwMaterial material;
    snwSetting settings[snw_mostSettings];
    int settingCount;
    snwMotionDef motion; // without a name: none
    bool bones;
    snwVec3 place; // m, of the body
} Wobble;

static Wobble DefaultWobble(void)
{
    Wobble wobble = {.material = snwDefaultMaterial(), .bones = true};
    wobble.material.young = 1e-2; // as good as none: nothing but the anchors
    return wobble;
}

static void Set(Wobble* wobble, const char* name, double value)
{
    wobble->settings[wobble->settingCount++] = (snwSetting){name, value};
}

static snwCharacter* MakeCharacter(snwContext* context, const Wobble* wobble)
{
    snwRiggedBar bar = snwRigged_DefaultBar();
    bar.bones = wobble->bones;
    bar.material = wobble->material;
    snwCharacter *still = snwRigged_MakeBar(context, &bar), *character = NULL;
    snwCharacterDef def = still->def;
    def.motions = wobble->motion.name != NULL ? &wobble->motion : NULL;
    def.motionCount = wobble->motion.name != NULL;
    CHECK(snwCreateCharacter(context, &def, &character, NULL) == snw_ok);
    snwCharacter_Release(still);
    return character;
}

static snwSim* MakeSim(snwContext* context, const Wobble* wobble)
{
    snwRiggedScene scene = snwRigged_DefaultScene(MakeCharacter(context, wobble));
    scene.def.method = "pbcd";
    scene.def.gravity = (snwVec3){0, 0, 0};
    scene.def.settings = wobble->settings;
    scene.def.settingCount = wobble->settingCount;
    scene.body.motion = wobble->motion.name != NULL ? wobble->motion.name : "";
    scene.body.transform.position = wobble->place;
    return snwRigged_MakeSim(context, &scene);
}

// Moves all flesh by this much from where the artist puts it, at rest.
static void Release(snwSim* sim, float offset)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, 0);
    for (int i = 0; i < work->model->vertexCount; ++i)
        if (!work->state.held[i])
            work->state.positions[4 * (size_t)i + 1] += offset;
}

static int AnyFlesh(const snwSim* sim)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, 0);
    int vertex = 0;
    while (work->state.held[vertex])
        ++vertex;
    return vertex;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frequency and settling

typedef struct Seen
{
    double frequency; // Hz
    double settling;  // s
} Seen;

// Counts the swings of a released vertex by where they pass zero, and takes its amplitude at each turn.
static Seen Watch(snwSim* sim, double dt, double seconds)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, 0);
    int vertex = AnyFlesh(sim), passes = 0;
    double first = 0, last = 0, before = 0.01, peak = 0, slope = 0, weight = 0;
    size_t at = 4 * (size_t)vertex + 1;
    Release(sim, 0.01f);
    for (int i = 1; i * dt < seconds; ++i)
    {
        snwFixture_Run(sim, 1, dt);
        double u = (double)(work->state.positions[at] - work->reference[at]);
        peak = fmax(peak, fabs(u));
        if (u * before < 0.0 && peak > 1e-4)
        {
            double time = (i - 1 + before / (before - u)) * dt;
            first = passes == 0 ? time : first;
            if (passes > 0) // swings since the pass before shrink as exp(-rate t), by least squares
            {
                double middle = 0.5 * (time + last);
                slope += middle * log(0.01 / peak);
                weight += middle * middle;
            }
            last = time;
            passes += 1;
            peak = 0.0;
        }
        before = u;
    }
    return (Seen){passes > 1 ? (passes - 1) / (2.0 * (last - first)) : 0.0, log(20.0) * weight / slope};
}

static Seen WatchMaterial(double frequency, double settling, int substeps, snwPbcdIntegrator integrator)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Wobble wobble = DefaultWobble();
    wobble.material.frequency = frequency;
    wobble.material.settling = settling;
    Set(&wobble, "sim.substeps", substeps);
    Set(&wobble, "pbcd.integrator", integrator);
    Set(&wobble, "pbcd.iterations", 1);
    snwSim* sim = MakeSim(context, &wobble);
    Seen seen = Watch(sim, 1.0 / 120.0, 2.0);
    snwDestroySim(sim);
    snwDestroyContext(context);
    return seen;
}

// What is stated is what is seen, whatever the integrator does to swings by itself.
TEST_HEAVY(wobble, frequencyAndSettlingAreSeenAsStated)
{
    const double cases[][2] = {{3, 0.5}, {2, 1.5}, {5, 0.6}};
    for (int integrator = snw_pbcdEuler; integrator <= snw_pbcdTrapezoid; ++integrator)
        for (int i = 0; i < 3; ++i)
        {
            Seen seen = WatchMaterial(cases[i][0], cases[i][1], 2, (snwPbcdIntegrator)integrator);
            CHECK_NEAR(seen.frequency, cases[i][0], 0.02 * cases[i][0]);
            CHECK_NEAR(seen.settling, cases[i][1], 0.1 * cases[i][1]);
        }
}

// The same with other substeps: nothing is left to the step.
TEST(wobble, substepsDoNotShow)
{
    for (int substeps = 1; substeps <= 4; substeps *= 4)
    {
        Seen seen = WatchMaterial(3, 0.5, substeps, snw_pbcdEuler);
        CHECK_NEAR(seen.frequency, 3.0, 0.06);
        CHECK_NEAR(seen.settling, 0.5, 0.05);
    }
}

// Without a frequency the method's number counts; without settling the damping.
TEST(wobble, theMethodsNumbersCountWhereNothingIsStated)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Wobble wobble = DefaultWobble();
    Set(&wobble, "pbcd.anchor", 2.5);
    Set(&wobble, "pbcd.damping", 4);
    Set(&wobble, "pbcd.integrator", snw_pbcdTrapezoid);
    Set(&wobble, "sim.substeps", 4);
    snwSim* sim = MakeSim(context, &wobble);
    Seen seen = Watch(sim, 1.0 / 120.0, 2.0);
    CHECK_NEAR(seen.frequency, 2.5, 0.05);
    CHECK_NEAR(seen.settling, log(20.0) / 2.0, 0.1);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// Two halves of two materials: each swings as its own says, and between them in between.
TEST(wobble, everyRegionSwingsByItself)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Wobble wobble = DefaultWobble();
    snwCharacter *whole = MakeCharacter(context, &wobble), *halves = NULL;
    snwMaterial materials[2] = {wobble.material, wobble.material};
    materials[0].frequency = 2;
    materials[1].frequency = 6;
    materials[0].settling = materials[1].settling = 1;
    snwCharacterDef def = whole->def;
    int* regions = calloc((size_t)def.tetCount, sizeof *regions);
    for (int i = 0; i < def.tetCount; ++i)
        regions[i] = def.vertices[def.tets[i][0]].x + def.vertices[def.tets[i][3]].x > 0.0;
    def.regions = regions;
    def.materials = materials;
    def.materialCount = 2;
    CHECK(snwCreateCharacter(context, &def, &halves, NULL) == snw_ok);
    snwRiggedScene scene = snwRigged_DefaultScene(halves);
    snwSetting setting = {"sim.substeps", 2};
    scene.def.method = "pbcd";
    scene.def.settings = &setting;
    scene.def.settingCount = 1;
    snwSim* sim = snwRigged_MakeSim(context, &scene);
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    const snwPbcdWork* work = snwPbcd_Work(sim, 0);
    const double h = 1.0 / 120.0, r = exp(-log(20.0) * h); // as pbcd_inertia.c has it
    for (int i = 0; i < def.vertexCount; ++i)
    {
        double x = def.vertices[i].x, f = x < -0.2 ? 2.0 : 6.0;
        double D = 1.0 / (2.0 * r * cos(2.0 * SNW_PI * f * h) - r * r);
        if (f == 6.0) // Euler's own damping is more than asked for
            D = 1.0 / (cos(2.0 * SNW_PI * f * h) * cos(2.0 * SNW_PI * f * h));
        if (fabs(x) > 0.2)
            CHECK_NEAR((double)work->stiffer[i], 1.0 / D, 1e-6);
    }
    snwDestroySim(sim);
    snwCharacter_Release(whole);
    free(regions);
    snwDestroyContext(context);
}

// Presets are sound, and softer ones swing slower by the root.
TEST(wobble, presetsAreSoundAndScale)
{
    CHECK(snwPresetCount() == 6 && snwPreset_Find("jelly") >= 0 && snwPreset_Find("stone") < 0);
    for (int i = 0; i < snwPresetCount(); ++i)
    {
        const snwPresetInfo* preset = snwPreset_GetInfo(i);
        snwMaterial softer = snwMaterial_Soften(&preset->material, 4.0);
        CHECK(snwPreset_Find(preset->name) == i && preset->help[0] != 0);
        CHECK(snwMaterial_Check(&preset->material, NULL) == snw_ok && snwMaterial_Check(&softer, NULL) == snw_ok);
        CHECK(preset->material.frequency > 0.0 && preset->material.settling > 0.0);
        CHECK_NEAR(softer.frequency, 0.5 * preset->material.frequency, 1e-12);
        CHECK_NEAR(softer.settling, 2.0 * preset->material.settling, 1e-12);
        CHECK_NEAR(softer.young, 0.25 * preset->material.young, 1e-9);
    }
    CHECK(snwPreset_GetInfo(-1) == NULL && snwPreset_GetInfo(snwPresetCount()) == NULL);
}

// With the complement the artist's trajectory is kept whatever the materials say: regions, frequencies, presets.
TEST(wobble, presetsKeepTheTrajectory)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Wobble wobble = DefaultWobble();
    snwCharacter *whole = MakeCharacter(context, &wobble), *halves = NULL;
    snwCharacterDef def = whole->def;
    snwMaterial materials[2] = {
        snwPreset_GetInfo(snwPreset_Find("jelly"))->material, snwPreset_GetInfo(snwPreset_Find("muscle"))->material};
    int* regions = calloc((size_t)def.tetCount, sizeof *regions);
    for (int i = 0; i < def.tetCount; ++i)
        regions[i] = i % 2;
    def.regions = regions;
    def.materials = materials;
    def.materialCount = 2;
    CHECK(snwCreateCharacter(context, &def, &halves, NULL) == snw_ok);
    snwRiggedScene scene = snwRigged_DefaultScene(halves);
    const snwSetting settings[] = {{"pbcd.complement", snw_pbcdRig}, {"sim.substeps", 2}};
    scene.def.method = "pbcd";
    scene.def.settings = settings;
    scene.def.settingCount = 2;
    snwSim* sim = snwRigged_MakeSim(context, &scene);
    const snwPbcdWork* work = snwPbcd_Work(sim, 0);
    for (int i = 0; i < work->model->vertexCount; ++i)
        work->state.velocities[4 * (size_t)i + 1] = (float)(3.0 * sin(20.0 * def.vertices[i].x));
    double worst = 0.0, most = 0.0;
    for (int i = 0; i < 20; ++i)
    {
        snwFixture_Run(sim, 1, 1.0 / 60.0);
        worst = fmax(worst, snwPbcd_ComplementResidual(sim, 0));
        for (int k = 0; k < work->model->vertexCount; ++k)
            most = fmax(most, snwVec3_Distance(snwRow_Get(work->state.positions, k), snwRow_Get(work->reference, k)));
    }
    CHECK(most > 1e-3);
    CHECK(worst < 1e-6);
    CHECK(work->stiffer[AnyFlesh(sim)] < 1.0f); // what is stated counts
    snwDestroySim(sim);
    snwCharacter_Release(whole);
    free(regions);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices of a motion

typedef struct Cache
{
    double times[snw_frames];
    float (*offsets)[3];
    snwMotionDef motion;
} Cache;

// All vertices go round in y and z, with a wave along x.
static float Wave(double x, double time, int axis)
{
    double angle = 2.0 * SNW_PI * time + 3.0 * x;
    return (float)(axis == 1 ? 0.05 * sin(angle) : axis == 2 ? 0.05 * (cos(angle) - cos(3.0 * x)) : 0.0);
}

static void MakeCache(snwContext* context, const Wobble* wobble, bool loop, Cache* cache)
{
    snwCharacter* character = MakeCharacter(context, wobble);
    int count = character->def.vertexCount;
    cache->offsets = calloc((size_t)count * snw_frames, sizeof *cache->offsets);
    for (int f = 0; f < snw_frames; ++f)
    {
        cache->times[f] = f / 8.0;
        for (int i = 0; i < 3 * count; ++i)
            cache->offsets[f * count + i / 3][i % 3] = Wave(
                character->def.vertices[i / 3].x, f == snw_frames - 1 ? 0.0 : cache->times[f], i % 3);
    }
    cache->motion = (snwMotionDef){.name = "wave",
        .duration = 1.0,
        .loop = loop,
        .vertices = {cache->times, snw_frames, (const float(*)[3])cache->offsets}};
    snwCharacter_Release(character);
}

// The spline of four weights against the definition: Hermite pieces with mean velocities from neighbour to neighbour.
static double Spline(const double* times, const double* values, int count, bool loop, double t)
{
    int a = 0;
    while (a + 2 < count && times[a + 1] <= t)
        ++a;
    double h = times[a + 1] - times[a], u = (t - times[a]) / h, period = times[count - 1];
    double va = 0.0, vb = 0.0;
    int before = a > 0 ? a - 1 : count - 2, after = a + 2 < count ? a + 2 : 1;
    if (loop || a > 0)
        va = (values[a + 1] - values[before]) / (times[a + 1] - times[before] + (a > 0 ? 0.0 : period));
    if (loop || a + 2 < count)
        vb = (values[after] - values[a]) / (times[after] + (a + 2 < count ? 0.0 : period) - times[a]);
    return values[a] * (1 - u) * (1 - u) * (1 + 2 * u) + values[a + 1] * u * u * (3 - 2 * u) +
           h * va * u * (1 - u) * (1 - u) - h * vb * u * u * (1 - u);
}

TEST(wobble, samplesAreJoinedSmoothly)
{
    const double times[6] = {0.0, 0.1, 0.35, 0.4, 0.8, 1.0}, values[6] = {1, 3, -2, 0.5, 4, 1};
    float offsets[6][3] = {{0}};
    for (int i = 0; i < 6; ++i)
        offsets[i][0] = (float)values[i];
    for (int loop = 0; loop < 2; ++loop)
    {
        snwMotionDef motion = {
            .name = "x", .duration = 1.0, .loop = loop != 0, .vertices = {times, 6, (const float(*)[3])offsets}};
        CHECK(snwVertexTrack_Check(&motion, &motion.vertices, 1, 1e6, NULL) == snw_ok);
        for (int i = 0; i < 50; ++i)
        {
            float at[3];
            double t = i / 50.0;
            snwVertexBlend blend = snwVertexTrack_At(&motion, &motion.vertices, t + 3.0 * loop);
            snwVertexTrack_Offset(&motion.vertices, &blend, 1, 0, at);
            CHECK_NEAR((double)at[0], Spline(times, values, 6, loop != 0, t), 2e-6);
        }
    }
}

// With bones at rest flesh is led exactly to where the samples say; bones' own vertices are held there.
TEST(wobble, aVertexMotionLeads)
{
    for (int bones = 0; bones < 2; ++bones)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        Wobble wobble = DefaultWobble();
        Cache cache;
        wobble.bones = bones != 0;
        wobble.place = (snwVec3){1, 2, 3};
        wobble.material.frequency = 40; // tight
        MakeCache(context, &wobble, true, &cache);
        wobble.motion = cache.motion;
        Set(&wobble, "sim.substeps", 4);
        snwSim* sim = MakeSim(context, &wobble);
        const snwPbcdWork* work = snwPbcd_Work(sim, 0);
        const snwCharacterDef* def = &work->model->character->def;
        snwFixture_Run(sim, 75, 1.0 / 60.0); // a quarter of the second turn: at a sample
        double most = 0.0, worst = 0.0, moved = 0.0;
        for (int i = 0; i < def->vertexCount; ++i)
        {
            snwVec3 at = snwVec3_Add(def->vertices[i], wobble.place), rest = at;
            at.y += (double)Wave(def->vertices[i].x, 0.25, 1);
            at.z += (double)Wave(def->vertices[i].x, 0.25, 2);
            most = fmax(most, snwVec3_Distance(at, snwRow_Get(work->reference, i)));
            worst = fmax(worst, snwVec3_Distance(at, snwRow_Get(work->state.positions, i)));
            moved = fmax(moved, snwVec3_Distance(at, rest));
        }
        CHECK(moved > 0.08);
        CHECK(most < 2e-6);
        CHECK(worst < 0.004);
        snwDestroySim(sim);
        snwDestroyContext(context);
        free(cache.offsets);
    }
}

// Characters with vertex motions and stated numbers come back from their blocks; damaged ones are refused.
TEST(wobble, blocksKeepEverything)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Wobble wobble = DefaultWobble();
    Cache cache;
    MakeCache(context, &wobble, true, &cache);
    wobble.material.frequency = 3;
    wobble.material.settling = 0.5;
    wobble.motion = cache.motion;
    snwCharacter *first = MakeCharacter(context, &wobble), *second = NULL;
    void *block = NULL, *again = NULL;
    size_t size = 0, againSize = 0;
    CHECK(snwCharacter_Save(first, &block, &size, NULL) == snw_ok);
    CHECK(snwCharacter_Load(context, block, size, &second, NULL) == snw_ok);
    CHECK(snwCharacter_Save(second, &again, &againSize, NULL) == snw_ok);
    CHECK(size == againSize && memcmp(block, again, size) == 0);
    CHECK(second->def.materials[0].settling == 0.5 && second->def.motions[0].vertices.sampleCount == snw_frames);
    snwCharacter_Release(second);
    CHECK(snwCharacter_Load(context, block, size - 4, &second, NULL) == snw_errorInput);
    float broken = NAN;
    memcpy((char*)block + size - sizeof broken, &broken, sizeof broken);
    CHECK(snwCharacter_Load(context, block, size, &second, NULL) == snw_errorInput);
    snwCharacter_Release(first);
    snwContext_Free(context, block);
    snwContext_Free(context, again);
    free(cache.offsets);
    snwDestroyContext(context);
}

// A morph that squeezes flesh to half of its volume is what the artist wants, with bones and without them: flesh comes
// to rest there, and not where it would keep its volume.
TEST(wobble, fleshFollowsWhatMorphsSqueeze)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int bones = 0; bones < 2; ++bones)
    {
        Wobble wobble = DefaultWobble();
        Cache cache;
        wobble.bones = bones == 1;
        wobble.material.young = 3e3;
        MakeCache(context, &wobble, false, &cache);
        snwCharacter* character = MakeCharacter(context, &wobble);
        int count = character->def.vertexCount;
        for (int f = 0; f < snw_frames; ++f)
            for (int i = 0; i < count; ++i)
            {
                double share = fmin(cache.times[f], 0.5) / 0.5;
                cache.offsets[f * count + i][0] = 0;
                cache.offsets[f * count + i][1] = (float)(-0.3 * share * character->def.vertices[i].y);
                cache.offsets[f * count + i][2] = (float)(-0.3 * share * character->def.vertices[i].z);
            }
        snwCharacter_Release(character);
        wobble.motion = cache.motion;
        wobble.material.frequency = 4;
        wobble.material.settling = 0.3;
        snwSim* sim = MakeSim(context, &wobble);
        snwFixture_Run(sim, 120, 1.0 / 60.0);
        const snwPbcdWork* work = snwPbcd_Work(sim, 0);
        double most = 0;
        for (int i = 0; i < count; ++i)
            most = fmax(most, snwVec3_Distance(snwRow_Get(work->state.positions, i), snwRow_Get(work->reference, i)));
        CHECK(most < 1e-5);
        snwDestroySim(sim);
        free(cache.offsets);
    }
    snwDestroyContext(context);
}

TEST(wobble, badVertexMotionsAreRefused)
{
    double times[3] = {0.0, 0.5, 1.0};
    float offsets[3][3] = {{0, 0, 0}, {0, 1, 0}, {0, 0, 0}};
    snwMotionDef motion = {
        .name = "x", .duration = 1.0, .loop = true, .vertices = {times, 3, (const float(*)[3])offsets}};
    CHECK(snwVertexTrack_Check(&motion, &motion.vertices, 1, 10, NULL) == snw_ok);
    offsets[2][0] = 0.1f; // a loop that does not close
    CHECK(snwVertexTrack_Check(&motion, &motion.vertices, 1, 10, NULL) < 0);
    offsets[2][0] = 0.0f, offsets[1][2] = NAN;
    CHECK(snwVertexTrack_Check(&motion, &motion.vertices, 1, 10, NULL) < 0);
    offsets[1][2] = 11.0f;
    CHECK(snwVertexTrack_Check(&motion, &motion.vertices, 1, 10, NULL) < 0);
    offsets[1][2] = 0.0f, times[1] = 1e-7;
    CHECK(snwVertexTrack_Check(&motion, &motion.vertices, 1, 10, NULL) < 0);
    times[1] = 0.5, times[2] = 1.1;
    CHECK(snwVertexTrack_Check(&motion, &motion.vertices, 1, 10, NULL) < 0);
    times[2] = 1.0, motion.vertices.sampleCount = -1;
    CHECK(snwVertexTrack_Check(&motion, &motion.vertices, 1, 10, NULL) < 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// What flesh must not notice

// A bar that is shaken, and jumps by `jump` at half of its time.
static void Jump(double jump, snwVec3 place, int vertexCount, float* end)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Wobble wobble = DefaultWobble();
    wobble.material.young = 1e4;
    wobble.place = place;
    snwKey keys[38];
    for (int k = 0; k < 38; ++k) // three keys within microseconds before the jump and three after it: an edge
    {
        double time = k < 16 ? k / 32.0 : k < 22 ? 0.5 + 2e-6 * (k - 16) : (k - 5) / 32.0;
        keys[k] = (snwKey){time, snwTransform_Identity()};
        keys[k].transform.position = (snwVec3){k < 19 ? 0.0 : jump, 0.1 * sin(12.0 * time), 0.0};
    }
    const snwTrackDef track = {0, keys, 38}; // the other bone follows this one
    wobble.motion = (snwMotionDef){.name = "go", .duration = 1.1, .tracks = &track, .trackCount = 1};
    Set(&wobble, "sim.substeps", 2);
    snwSim* sim = MakeSim(context, &wobble);
    snwFixture_Run(sim, 40, 1.0 / 60.0);
    const snwPbcdWork* work = snwPbcd_Work(sim, 0);
    for (int i = 0; i < vertexCount; ++i)
        for (size_t k = 0; k < 3; ++k)
            end[3 * (size_t)i + k] = work->state.positions[4 * (size_t)i + k] - work->reference[4 * (size_t)i + k];
    snwDestroySim(sim);
    snwDestroyContext(context);
}

static double FarthestOffset(const float* a, const float* b, int count)
{
    double most = 0.0;
    for (int i = 0; i < 3 * count; ++i)
        most = fmax(most, fabs((double)(a[i] - b[i])));
    return most;
}

// A character that is teleported by 100 m shows the flesh of one that is not, to what is left of floats at 100 m.
TEST(wobble, teleportsLeaveFleshAlone)
{
    enum
    {
        count = 14 * 4 * 4
    };
    static float still[3 * count], moved[3 * count];
    const float none[3 * count] = {0};
    Jump(0.0, (snwVec3){0, 0, 0}, count, still);
    Jump(100.0, (snwVec3){0, 0, 0}, count, moved);
    CHECK(FarthestOffset(still, none, count) > 0.01);
    CHECK(FarthestOffset(still, moved, count) < 3e-4); // where floats are 8e-6 m apart
    Jump(0.0, (snwVec3){1000, 0, 1000}, count, moved); // where they are 6e-5 m apart
    CHECK(FarthestOffset(still, moved, count) < 5e-3);
}

// A bar that goes along x without end, up and down once a second: as a loop that jumps back by 0.3 m, or as it is.
static void Stride(bool loop, int vertexCount, float* end)
{
    enum
    {
        seconds = 3,
        perSecond = 16,
        most = seconds * perSecond + 8
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Wobble wobble = DefaultWobble();
    wobble.material.young = 1e4;
    wobble.material.frequency = 4;
    wobble.material.settling = 0.3;
    snwKey keys[most];
    int count = 0;
    for (int k = 0; k <= (loop ? 1 : seconds) * perSecond; ++k)
        for (int e = loop && k == perSecond ? -5 : 0; e <= 0; ++e, ++count)
        {
            bool back = loop && k == perSecond && e > -3;
            double time = (double)k / perSecond;
            keys[count] = (snwKey){time + 2e-6 * e, snwTransform_Identity()};
            keys[count].transform.position = (snwVec3){back ? 0.0 : 0.3 * time, 0.1 * sin(2.0 * SNW_PI * time), 0.0};
            keys[count].transform.position.y = k % perSecond == 0 ? 0.0 : keys[count].transform.position.y;
        }
    const snwTrackDef track = {0, keys, count};
    wobble.motion = (snwMotionDef){
        .name = "go", .duration = loop ? 1.0 : seconds, .loop = loop, .tracks = &track, .trackCount = 1};
    Set(&wobble, "sim.substeps", 2);
    snwSim* sim = MakeSim(context, &wobble);
    snwFixture_Run(sim, 137, 1.0 / 60.0); // past two ends of the loop
    const snwPbcdWork* work = snwPbcd_Work(sim, 0);
    for (int i = 0; i < vertexCount; ++i)
        for (size_t k = 0; k < 3; ++k)
            end[3 * (size_t)i + k] = work->state.positions[4 * (size_t)i + k] - work->reference[4 * (size_t)i + k];
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(wobble, loopsWithRootMotionGoOn)
{
    enum
    {
        count = 14 * 4 * 4
    };
    static float loop[3 * count], straight[3 * count];
    const float none[3 * count] = {0};
    Stride(true, count, loop);
    Stride(false, count, straight);
    CHECK(FarthestOffset(straight, none, count) > 1e-3);
    CHECK(FarthestOffset(loop, straight, count) < 2e-5);
}

// Whatever allocation fails, it is an error without a leak.
TEST(wobble, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwContext* plain = snwFixture_Context(1, snw_simdAuto, NULL);
    Wobble wobble = DefaultWobble();
    Cache cache;
    MakeCache(plain, &wobble, true, &cache);
    wobble.motion = cache.motion;
    wobble.material.frequency = 3;
    snwCharacter *source = MakeCharacter(plain, &wobble), *character = NULL;
    void* block = NULL;
    size_t size = 0;
    CHECK(snwCharacter_Save(source, &block, &size, NULL) == snw_ok);
    snwResult result = snw_errorMemory;
    for (long n = 1; result == snw_errorMemory && n < 1000; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        counter.failAt = counter.allocations + n;
        result = snwCharacter_Load(context, block, size, &character, NULL);
        CHECK(result == snw_ok || (result == snw_errorMemory && character == NULL));
        if (result == snw_ok)
            snwCharacter_Release(character);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
    CHECK(result == snw_ok);
    snwContext_Free(plain, block);
    snwCharacter_Release(source);
    snwDestroyContext(plain);
    free(cache.offsets);
}
