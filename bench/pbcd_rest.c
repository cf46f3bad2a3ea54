// What pbcd shall do whatever the law: rest is rest, momentum is kept, size does not matter, what was crushed comes
// back, incompressible flesh is finite. On a bar of 81 vertices.

#include "pbcd_bench.h"
#include "pbcd_tables.h"
#include "stress_states.h"

#include "base/result.h"
#include "math/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_lawCount = 3
};

static const char* const s_lawNames[snw_lawCount] = {"neo", "edges", "strain"};

// A bar in the world.
typedef struct World
{
    double size; // m, its length
    double gravity;
    double poisson;
    double rate;
    bool held;          // at its left end
    const char* motion; // of the body, JSON
} World;

static const World s_free = {.size = 1, .poisson = 0.45, .rate = 24, .motion = ""};

typedef struct Trial
{
    char json[1024];
    snwPbcdScenario scenario;
    snwPbcdLaw law;
    snwSim* sim;
} Trial;

static const snwSetting s_undamped[] = {{"pbcd.damping", 0}};
// Without drag a body that recoils goes on turning, and is stretched by that.
static const snwSetting s_damped[] = {{"pbcd.damping", 3}, {"pbcd.drag", 2}};

static void WriteJson(Trial* trial, const World* world)
{
    char pins[160] = "";
    double end = -0.5 * world->size;
    if (world->held)
        snprintf(pins, sizeof pins,
            ", \"pins\": [{\"name\": \"wall\", \"body\": \"bar\", \"lower\": [%g, %g, %g], \"upper\": [%g, %g, %g]}]",
            1.1 * end, end, end, 0.98 * end, -end, -end);
    snprintf(trial->json, sizeof trial->json,
        "{\"sinew\": 1, \"name\": \"bar\", \"gravity\": [0, %.9g, 0], \"bodies\": [{\"name\": \"bar\"%s, "
        "\"character\": "
        "{\"shape\": \"bar\", \"size\": [%g, %g, %g], \"cells\": [8, 2, 2], \"material\": "
        "{\"density\": 1000, \"young\": 1e5, \"poisson\": %g}}}]%s}",
        -world->gravity, world->motion, world->size, world->size / 4, world->size / 4, world->poisson, pins);
}

static snwResult OpenTrial(Trial* trial, const World* world, snwPbcdVariant variant, bool damped, snwMessage* message)
{
    WriteJson(trial, world);
    trial->scenario = (snwPbcdScenario){.name = "bar",
        .json = trial->json,
        .rate = world->rate,
        .law = trial->law,
        .settings = damped ? s_damped : s_undamped,
        .settingCount = damped ? 2 : 1};
    trial->sim = NULL;
    variant.solver = snw_pbcdSmpbd;
    snwResult result = snwPbcdScenario_Open(&trial->scenario, message);
    return result < 0 ? result : snwPbcdScenario_CreateSim(&trial->scenario, &variant, &trial->sim, message);
}

static void CloseTrial(Trial* trial)
{
    if (trial->sim != NULL)
        snwDestroySim(trial->sim);
    snwPbcdScenario_Close(&trial->scenario);
}

// False: a step failed, or something is not finite.
static bool Play(Trial* trial, int frames)
{
    for (int i = 0; i < frames; ++i)
        if (snwSim_Step(trial->sim, 1 / trial->scenario.rate, NULL) < 0)
            return false;
    const snwPbcdWork* work = snwPbcd_Work(trial->sim, 0);
    for (int i = 0; i < work->model->vertexCount; ++i)
        if (!snwVec3_IsFinite(snwRow_Get(work->state.positions, i)))
            return false;
    return true;
}

static double Size(const Trial* trial)
{
    const snwCharacter* character = trial->sim->bodies[0].character;
    return snwVec3_Distance(character->lower, character->upper);
}

static snwVec3 At(const Trial* trial, int vertex)
{
    return snwRow_Get(snwPbcd_Work(trial->sim, 0)->state.positions, vertex);
}

static int Count(const Trial* trial)
{
    return trial->sim->bodies[0].character->def.vertexCount;
}

static snwBenchRow StartRow(const char* caseName, snwPbcdLaw law, const char* metric)
{
    snwBenchRow row = snwMakeBenchRow(caseName, s_lawNames[law], metric);
    row.n = 1;
    return row;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rest

static double FarthestFrom(const Trial* trial, const snwVec3* start)
{
    double most = 0;
    for (int i = 0; i < Count(trial); ++i)
        most = fmax(most, snwVec3_Distance(At(trial, i), start[i]));
    return most;
}

// Turned and away from the origin, where lengths in float are not those of the rest shape to the last bit.
static void AddDrift(snwBenchRows* rows, snwPbcdLaw law)
{
    Trial trial = {.law = law};
    World world = s_free;
    world.motion = ", \"position\": [0.3, 0.7, 0.2], \"angles\": [20, 30, 40]";
    snwBenchRow row = StartRow("rest", law, "rest_drift");
    rows->result = OpenTrial(&trial, &world, (snwPbcdVariant){.substeps = 100, .iterations = 5}, false, rows->message);
    snwVec3* start = rows->result < 0 ? NULL : calloc((size_t)Count(&trial), sizeof *start);
    if (rows->result >= 0 && start == NULL)
        rows->result = snwFailMemory(rows->message);
    for (int i = 0; start != NULL && i < Count(&trial); ++i)
        start[i] = At(&trial, i);
    if (start != NULL)
        row.value = Play(&trial, 100) ? FarthestFrom(&trial, start) / Size(&trial) : NAN;
    snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snprintf(row.note, sizeof row.note, "10,000 substeps of 1/2400 s with 5 sweeps, undamped%s",
        isnan(row.value) ? "; it did not stay finite" : "");
    snwBenchRows_Add(rows, &row);
    free(start);
    CloseTrial(&trial);
}

// ---------------------------------------------------------------------------------------------------------------------
// Momentum

typedef struct Momentum
{
    snwVec3 linear, angular;
    double sum; // of the sizes of the linear ones
} Momentum;

static Momentum MeasureMomentum(const Trial* trial)
{
    const snwPbcdWork* work = snwPbcd_Work(trial->sim, 0);
    Momentum momentum = {0};
    for (int i = 0; i < Count(trial); ++i)
    {
        double mass = 1 / (double)work->state.velocities[4 * (size_t)i + 3];
        snwVec3 p = snwVec3_Scale(snwRow_Get(work->state.velocities, i), mass);
        momentum.linear = snwVec3_Add(momentum.linear, p);
        momentum.angular = snwVec3_Add(momentum.angular, snwVec3_Cross(At(trial, i), p));
        momentum.sum += snwVec3_Length(p);
    }
    return momentum;
}

#define FLIGHT ", \"velocity\": [1, 0.5, -0.3], \"angular_velocity\": [1, 4, 2]"

// Velocities come from differences of positions, so how far from the origin it flies matters.
static void AddFlight(snwBenchRows* rows, snwPbcdLaw law, bool far)
{
    Trial trial = {.law = law};
    World world = s_free;
    world.motion = far ? ", \"position\": [40, 0, 0]" FLIGHT : FLIGHT;
    snwBenchRow row = StartRow(far ? "flight, 40 m away" : "flight", law, "momentum_err");
    rows->result = OpenTrial(&trial, &world, (snwPbcdVariant){.substeps = 20, .iterations = 5}, false, rows->message);
    if (rows->result >= 0)
    {
        Momentum before = MeasureMomentum(&trial);
        bool sound = Play(&trial, 24);
        Momentum after = MeasureMomentum(&trial);
        row.value = sound ? snwVec3_Distance(before.linear, after.linear) / before.sum : NAN;
        snprintf(row.note, sizeof row.note,
            "rounding to float, 480 substeps; angular momentum changes by %.2g, by implicit Euler",
            snwVec3_Distance(before.angular, after.angular) / snwVec3_Length(before.angular));
    }
    if (!far)
        snwBenchRow_SetTarget(&row, "<=", 1e-3); // 480 substeps of some 120 visits, each rounded, as a random walk
    snwBenchRows_Add(rows, &row);
    CloseTrial(&trial);
}

static void AddMomentum(snwBenchRows* rows, snwPbcdLaw law)
{
    AddFlight(rows, law, false);
    if (rows->result >= 0)
        AddFlight(rows, law, true);
}

// ---------------------------------------------------------------------------------------------------------------------
// Scale: with the same material times grow like lengths, and gravity shrinks like them.

static snwResult OpenScaled(Trial* trial, double size, snwMessage* message)
{
    const World world = {
        .size = size, .gravity = 1.5 / size, .poisson = 0.45, .rate = 24 / size, .held = true, .motion = ""};
    return OpenTrial(trial, &world, (snwPbcdVariant){.substeps = 5, .iterations = 20}, false, message);
}

static void AddScale(snwBenchRows* rows, snwPbcdLaw law)
{
    Trial small = {.law = law}, large = {.law = law};
    const double sizes[2] = {0.1, 10};
    snwBenchRow row = StartRow("scale", law, "scale_err");
    rows->result = OpenScaled(&small, sizes[0], rows->message);
    if (rows->result >= 0)
        rows->result = OpenScaled(&large, sizes[1], rows->message);
    if (rows->result >= 0)
    {
        double most = Play(&small, 24) && Play(&large, 24) ? 0 : NAN, drop = 0;
        for (int i = 0; i < Count(&small); ++i)
        {
            snwVec3 a = snwVec3_Scale(At(&small, i), 1 / sizes[0]), b = snwVec3_Scale(At(&large, i), 1 / sizes[1]);
            most = isnan(most) ? most : fmax(most, snwVec3_Distance(a, b) * sizes[1] / Size(&large));
            drop = fmax(drop, -b.y);
        }
        row.value = most;
        snprintf(row.note, sizeof row.note,
            "bar of 0.1 m and of 10 m, hanging down by %.2g of its length after 24 frames", drop - 0.125);
    }
    snwBenchRow_SetTarget(&row, "<=", 1e-4);
    snwBenchRows_Add(rows, &row);
    CloseTrial(&small);
    CloseTrial(&large);
}

// ---------------------------------------------------------------------------------------------------------------------
// Stress states

// Lengths and strains cannot tell left from right; lengths are measured, without a target.
static bool IsMirrored(snwStressKind kind)
{
    return kind == snw_stressPoint || kind == snw_stressRandom || kind == snw_stressInsideOut;
}

// Largest distance of a vertex from the rest shape once that is turned and shifted onto the body, m.
static double DistanceFromRest(const Trial* trial)
{
    const snwVec3* rest = trial->sim->bodies[0].character->def.vertices;
    snwVec3 centre = {0, 0, 0}, restCentre = {0, 0, 0};
    int count = Count(trial);
    for (int i = 0; i < count; ++i)
    {
        centre = snwVec3_MulAdd(centre, 1.0 / count, At(trial, i));
        restCentre = snwVec3_MulAdd(restCentre, 1.0 / count, rest[i]);
    }
    snwMat3 sum = {{{0}}};
    for (int i = 0; i < count; ++i)
    {
        snwVec3 a = snwVec3_Sub(At(trial, i), centre), b = snwVec3_Sub(rest[i], restCentre);
        const double now[3] = {a.x, a.y, a.z}, then[3] = {b.x, b.y, b.z};
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c)
                sum.m[r][c] += now[r] * then[c];
    }
    snwMat3 turn = snwPolar3_Compute(sum).rotation;
    double most = 0;
    for (int i = 0; i < count; ++i)
    {
        snwVec3 there = snwMat3_MulVec(turn, snwVec3_Sub(rest[i], restCentre));
        most = fmax(most, snwVec3_Distance(snwVec3_Sub(At(trial, i), centre), there));
    }
    return most;
}

enum
{
    snw_recoverSeconds = 5,
    snw_recoverRate = 24
};

// Until it is back or the time is over. Returns the seconds that took.
static double WaitForRest(Trial* trial, snwBenchRow* row)
{
    int frames = 0;
    const int turn = snw_recoverRate / 2;
    row->value = INFINITY;
    while (frames < snw_recoverSeconds * snw_recoverRate && row->value > 1e-3)
    {
        row->value = Play(trial, turn) ? DistanceFromRest(trial) / Size(trial) : NAN;
        frames += turn;
    }
    return (double)frames / snw_recoverRate;
}

static void AddRecovery(snwBenchRows* rows, snwStressKind kind, snwPbcdLaw law, int substeps)
{
    Trial trial = {.law = law};
    char name[48];
    snprintf(name, sizeof name, "%s, h = 1/%d", snwStressNames[kind], substeps * snw_recoverRate);
    snwBenchRow row = StartRow(name, law, "recover");
    rows->result = OpenTrial(
        &trial, &s_free, (snwPbcdVariant){.substeps = substeps, .iterations = 40}, true, rows->message);
    if (rows->result >= 0)
    {
        float* positions = snwPbcd_Work(trial.sim, 0)->state.positions;
        for (int i = 0; i < Count(&trial); ++i)
            snwRow_Set(positions, i, snwStress_Move(kind, At(&trial, i), i));
        double seconds = WaitForRest(&trial, &row);
        snwMeasures measures = {0};
        snwSim_GetMeasures(trial.sim, 0, &measures);
        snprintf(row.note, sizeof row.note, "after %.1f s, 40 sweeps; smallest tet %.2g of its rest%s%s", seconds,
            measures.minVolumeRatio, isnan(row.value) ? "; not finite" : "",
            IsMirrored(kind) && law != snw_pbcdNeo ? "; this law has mirrored minima" : "");
    }
    if (!IsMirrored(kind) || law == snw_pbcdNeo)
        snwBenchRow_SetTarget(&row, "<=", 1e-3);
    snwBenchRows_Add(rows, &row);
    CloseTrial(&trial);
}

// ---------------------------------------------------------------------------------------------------------------------
// Poisson's ratio 0.5

static void AddHalf(snwBenchRows* rows, snwPbcdLaw law)
{
    Trial trial = {.law = law};
    const World world = {.size = 1, .gravity = 1.5, .poisson = 0.5, .rate = 24, .held = true, .motion = ""};
    snwBenchRow row = StartRow("incompressible", law, "finite_at_half");
    rows->result = OpenTrial(&trial, &world, (snwPbcdVariant){.substeps = 10, .iterations = 20}, false, rows->message);
    if (rows->result >= 0)
    {
        snwMeasures before = {0}, after = {0};
        snwSim_GetMeasures(trial.sim, 0, &before);
        bool sound = Play(&trial, 24) && snwSim_GetMeasures(trial.sim, 0, &after) >= 0;
        double change = fabs(after.volume / before.volume - 1), drop = 0;
        for (int i = 0; i < Count(&trial); ++i)
            drop = fmax(drop, -At(&trial, i).y - 0.125);
        row.value = sound && change < 0.02 && drop > 0.02;
        snprintf(row.note, sizeof row.note, "the volume changes by %.2g, the tip falls by %.2g m", change, drop);
    }
    snwBenchRow_SetTarget(&row, "==", 1);
    snwBenchRows_Add(rows, &row);
    CloseTrial(&trial);
}

static void AddRecoveries(snwBenchRows* rows, snwStressKind kind, int substeps)
{
    for (int law = 0; law < snw_lawCount && rows->result >= 0; ++law)
        if (!IsMirrored(kind) || law != snw_pbcdStrain)
            AddRecovery(rows, kind, (snwPbcdLaw)law, substeps);
}

void snwAddPbcdRest(snwBenchRows* rows)
{
    void (*const parts[])(snwBenchRows * rows, snwPbcdLaw law) = {AddDrift, AddMomentum, AddScale, AddHalf};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        for (int law = 0; law < snw_lawCount && rows->result >= 0; ++law)
            parts[i](rows, (snwPbcdLaw)law);
    for (int kind = 0; kind < snw_stressKindCount; ++kind)
    {
        AddRecoveries(rows, (snwStressKind)kind, 10);
        AddRecoveries(rows, (snwStressKind)kind, 40);
    }
}
