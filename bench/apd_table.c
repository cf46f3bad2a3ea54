// Tables 1 and 2: all solvers take the same step, one after the other, from the same moment, again and again.
//
// Projective dynamics with the bones' vertices pinned is the flesh alone: the same elements and the block A_ff of our
// own matrix, factored for itself. Its time is our local step, our residual's share of flesh, and sweeps of that
// factor.

#include "apd_bench.h"
#include "kernels_measure.h"

#include "base/clock.h"
#include "base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const snwApdCase snwApdCases[snw_apdCaseCount] = {
    {"cantilever", NULL, 60, {70, 73, 8370, 139}, {9.264, 0.1, 4.091, 0.245, 0.225, 0.009}, false},
    {"bracelet", NULL, 60, {40, 62, 3495, 51}, {4.927, 0.155, NAN, 0.027, NAN, NAN}, false},
    {"nunchuck", NULL, 20, {712, 706, 6074, 791}, {76.955, 2.164, NAN, 0.027, NAN, NAN}, false},
    {"silk", NULL, 30, {431, 449, 9681e3, 1816}, {52.364, 0.191, 103.627, 20.145, 4.218, 1.127}, false},
    {"frog", NULL, 30, {1140, 1241, 30686e3, 5750}, {111.627, 0.591, 343.882, 107.791, 7.873, 3.382}, false},
    {"snail", NULL, 30, {1029, 1027, 580e3, 1795}, {144.955, 2.5, 24.536, 1.136, 6.1, 0.236}, false},
    {"monster-hanging", NULL, 20, {1319, 2337, NAN, 16958}, {126.764, 0.919, 1175.3, 370.609, 10.073, 12.145}, true},
    {"monster-stairs", NULL, 20, {1317, 1672, NAN, 17347}, {127.055, 0.927, 1213.8, 370.727, 10.127, 12.136}, true},
};

enum
{
    snw_paperPd,
    snw_paperSplit,
    snw_paperIpopt,
    snw_paperOurs
};

enum
{
    snw_ours,
    snw_plain,
    snw_stiff,
    snw_split,
    snw_literal,
    snw_contestantCount
};

static const struct
{
    snwApdSolver solver;
    int paper; // column of Table 1; -1: none
} s_contestants[snw_contestantCount] = {
    {snw_apdArticulated, snw_paperOurs},
    {snw_apdPlain, snw_paperPd},
    {snw_apdStiff, -1},
    {snw_apdSplit, snw_paperSplit},
    {snw_apdLiteral, -1},
};

// Parts of an iteration, as Table 2 has them.
enum
{
    snw_partLocal,
    snw_partBones,
    snw_partColumns,
    snw_partSweeps,
    snw_partOther,
    snw_partCount
};

static const char* const s_parts[snw_partCount] = {
    "stage_ms.local", "stage_ms.bones", "stage_ms.columns", "stage_ms.sweeps", "stage_ms.other"};

enum
{
    snw_iterations = 10,
    snw_mostRepeats = 20, // of a step in one turn
    snw_bandwidthBytes = 1 << 27,
    snw_kernelRepeats = 5
};

static const double s_mostRatio = 1.1;    // to plain projective dynamics
static const double s_turnSeconds = 0.06; // within which a step is repeated
static const double s_slowMs = 100;       // per iteration: a step as slow as that is taken once

typedef struct Contestant
{
    snwSim* sim;
    char why[160]; // it has no time
    snwSamples all;
    snwSamples parts[snw_partCount];
    bool slow;
} Contestant;

typedef struct Table
{
    const snwApdCase* which;
    snwApdStage stage;
    snwApdMoment moment;
    Contestant contestants[snw_contestantCount];
    double gap, rigidity; // worst over all frames
    double difference;    // of ours and literal, of the size
    int contacts[2];      // that either ended with: one more or less is no rounding
    snwCholesky* flesh;   // A_ff; NULL: there is no flesh
    snwCholeskyScratch* scratch;
    float* right;
    float* forces;
    snwSamples pinnedMs;  // local step and sweeps of the flesh alone
    snwSamples bandwidth; // GB/s
} Table;

// ---------------------------------------------------------------------------------------------------------------------
// Opening

static void OpenContestant(Table* table, int which)
{
    Contestant* contestant = &table->contestants[which];
    snwApdVariant variant = snwMakeApdVariant(s_contestants[which].solver);
    variant.iterations = snw_iterations;
    snwMessage message = {0};
    if (snwApdStage_CreateSim(&table->stage, &variant, &contestant->sim, &message) < 0)
        snprintf(contestant->why, sizeof contestant->why, "%.150s", message.text);
}

static snwResult Step(const Table* table, snwSim* sim, snwMessage* message)
{
    return snwSim_Step(sim, 1 / table->stage.def->rate, message);
}

static void Watch(Table* table)
{
    const snwSim* sim = table->contestants[snw_ours].sim;
    table->gap = fmax(table->gap, snwApdSim_JointGap(sim));
    table->rigidity = fmax(table->rigidity, snwApdSim_Rigidity(sim));
}

static snwResult WarmUp(Table* table, snwMessage* message)
{
    snwSim* sim = table->contestants[snw_ours].sim;
    snwResult result = snw_ok;
    for (int i = 0; i < table->which->frames && result >= 0; ++i)
    {
        result = Step(table, sim, message);
        Watch(table);
    }
    return result < 0 ? result : snwApdMoment_Take(sim, &table->moment, message);
}

// The first rows of a lower triangle are the lower triangle of the block that comes first.
static snwResult FactorFlesh(Table* table, snwMessage* message)
{
    const snwApdBody* body = snwApd_Body(table->contestants[snw_ours].sim, 0);
    if (body->model->fleshCount == 0)
        return snw_ok;
    snwSparse block = *snwPattern_Matrix(body->pattern);
    block.rows = block.columns = body->model->fleshCount;
    block.mirrorStarts = NULL;
    snwCholeskyDef def = snwDefaultCholeskyDef();
    def.matrix = &block;
    def.precision = snw_precisionFloat;
    snwResult result = snwCholesky_Create(table->stage.context, &def, &table->flesh, message);
    if (result >= 0)
        result = snwCholeskyScratch_Create(table->flesh, &table->scratch, message);
    table->right = snwAllocArray(table->stage.context, (size_t)body->model->fleshCount, 4 * sizeof(float));
    table->forces = snwAllocArray(table->stage.context, (size_t)body->model->vertexCount, 4 * sizeof(float));
    if (result >= 0 && (table->right == NULL || table->forces == NULL))
        result = snwFailMemory(message);
    return result;
}

static snwResult OpenTable(Table* table, snwMessage* message)
{
    const snwApdCase* which = table->which;
    snwResult result = which->json != NULL ? snwApdStage_Parse(&table->stage, which->json, message)
                                           : snwApdStage_Open(&table->stage, which->name, message);
    if (result < 0)
        return result;
    for (int i = 0; i < snw_contestantCount; ++i)
        OpenContestant(table, i);
    if (table->contestants[snw_ours].sim == NULL)
        return snwFail(message, snw_errorArgument, NULL, "%s: %s", which->name, table->contestants[snw_ours].why);
    result = WarmUp(table, message);
    return result < 0 ? result : FactorFlesh(table, message);
}

static void CloseTable(Table* table)
{
    snwCholeskyScratch_Destroy(table->scratch);
    snwCholesky_Destroy(table->flesh);
    if (table->stage.context != NULL)
    {
        snwFree(table->stage.context, table->right);
        snwFree(table->stage.context, table->forces);
    }
    snwApdMoment_Free(&table->moment);
    for (int i = 0; i < snw_contestantCount; ++i)
        if (table->contestants[i].sim != NULL)
            snwDestroySim(table->contestants[i].sim);
    snwApdStage_Close(&table->stage);
}

// ---------------------------------------------------------------------------------------------------------------------
// Measuring

// -1: not part of an iteration.
static int PartOf(const char* stage)
{
    static const char* const outside[] = {"factor", "predict", "detect", "contact", "finish"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; ++i)
        if (strcmp(stage, outside[i]) == 0)
            return -1;
    for (int i = 0; i < snw_partOther; ++i)
        if (strcmp(stage, s_parts[i] + strlen("stage_ms.")) == 0)
            return i;
    return snw_partOther;
}

// ms per iteration.
typedef struct Reading
{
    double all;
    double parts[snw_partCount];
} Reading;

static Reading ReadStages(const Contestant* contestant)
{
    snwTimings timings;
    Reading reading = {0};
    double substeps = 1;
    snwSim_GetParam(contestant->sim, "sim.substeps", &substeps);
    if (snwSim_GetTimings(contestant->sim, &timings) < 0)
        return reading;
    for (int i = 0; i < timings.count; ++i)
    {
        int part = PartOf(timings.data[i].stage);
        if (part < 0)
            continue;
        reading.parts[part] += timings.data[i].ms / (snw_iterations * substeps);
        reading.all += timings.data[i].ms / (snw_iterations * substeps);
    }
    return reading;
}

// The moment's step; false if there is none to take.
static bool TakeStep(const Table* table, Contestant* contestant)
{
    snwMessage message = {0};
    if (contestant->sim == NULL || contestant->why[0] != 0)
        return false;
    snwApdMoment_Apply(&table->moment, contestant->sim);
    if (Step(table, contestant->sim, &message) < 0)
        snprintf(contestant->why, sizeof contestant->why, "the step failed: %.130s", message.text);
    return contestant->why[0] == 0;
}

static void AddReading(Contestant* contestant, const Reading* reading)
{
    for (int i = 0; i < snw_partCount; ++i)
        snwSamples_Add(&contestant->parts[i], reading->parts[i]);
    snwSamples_Add(&contestant->all, reading->all);
}

// A few times, at least twice.
static bool IsTurn(int repeat, double start)
{
    return repeat < 2 || snwClock_Seconds() - start < s_turnSeconds;
}

// The fastest of a few steps: short ones are at the mercy of whatever else the machine does.
static void TakeTurn(const Table* table, Contestant* contestant)
{
    Reading best = {.all = INFINITY};
    double start = snwClock_Seconds();
    if (contestant->slow)
        return;
    for (int i = 0; i < snw_mostRepeats && IsTurn(i, start); ++i)
    {
        if (!TakeStep(table, contestant))
            return;
        Reading reading = ReadStages(contestant);
        best = reading.all < best.all ? reading : best;
    }
    AddReading(contestant, &best);
}

// The first step makes the factor and warms up. One that takes long is the only one.
static void TakeReading(Contestant* contestant)
{
    Reading reading = ReadStages(contestant);
    contestant->slow = reading.all > s_slowMs;
    if (contestant->slow)
        AddReading(contestant, &reading);
}

// Local step and sweeps of the flesh alone, ms per iteration.
static double PinnedIteration(const Table* table)
{
    const snwSim* sim = table->contestants[snw_ours].sim;
    const snwApdBody* body = snwApd_Body(sim, 0);
    const snwElasticKernels* kernels = snwElastic_Kernels(snw_simdAuto);
    snwElasticTask task = {.law = body->model->law,
        .tets = body->model->tets,
        .weights = body->weights,
        .positions = body->rows,
        .start = body->damped ? body->start : NULL,
        .rotations = snwApd_GetState(sim, 0).rotations,
        .forces = table->forces};
    double start = snwClock_Seconds();
    for (int i = 0; i < snw_iterations; ++i)
    {
        memset(table->forces, 0, 4 * (size_t)body->model->vertexCount * sizeof(float));
        kernels->addForces(&task, 0, body->model->blockCount);
        snwCholesky_Solve(table->flesh, table->scratch, snwRows_Float(table->right, 3, 4));
    }
    return 1e3 * (snwClock_Seconds() - start) / snw_iterations;
}

static void TakePinned(Table* table)
{
    double best = INFINITY, start = snwClock_Seconds();
    for (int i = 0; i < snw_mostRepeats && table->flesh != NULL && IsTurn(i, start); ++i)
        best = fmin(best, PinnedIteration(table));
    if (table->flesh != NULL)
        snwSamples_Add(&table->pinnedMs, best);
}

// Eq. 17 is one linearisation in every iteration. With as many, a metric that is never old and no acceleration the two
// are the same but for rounding; what further passes change is not a difference of the solves.
static const char* const s_extras[] = {"apd.passes", "apd.refresh", "apd.accelerate"};

enum
{
    snw_extraCount = sizeof s_extras / sizeof *s_extras
};

// Commands are for a step: they are pushed when the sim is at the moment.
static void SetExtras(const Table* table, snwSim* sim, const double values[snw_extraCount])
{
    snwApdMoment_Apply(&table->moment, sim);
    for (int i = 0; i < snw_extraCount; ++i)
        snwSim_SetParam(sim, s_extras[i], values[i], NULL);
}

static int ContactCount(const snwSim* sim)
{
    snwContacts contacts = {0};
    return sim != NULL && snwSim_GetContacts(sim, &contacts) >= 0 ? contacts.count : 0;
}

static void CompareWithLiteral(Table* table)
{
    static const double bare[snw_extraCount] = {1, 0, 0};
    Contestant *ours = &table->contestants[snw_ours], *literal = &table->contestants[snw_literal];
    double usual[snw_extraCount] = {0};
    for (int i = 0; i < snw_extraCount; ++i)
        snwSim_GetParam(ours->sim, s_extras[i], &usual[i]);
    table->difference = NAN;
    SetExtras(table, ours->sim, bare);
    if (literal->sim != NULL)
        SetExtras(table, literal->sim, bare);
    if (TakeStep(table, literal) && TakeStep(table, ours))
        table->difference = snwApdSim_Distance(ours->sim, literal->sim) / snwApdSim_Size(literal->sim);
    table->contacts[0] = ContactCount(ours->sim);
    table->contacts[1] = ContactCount(literal->sim);
    SetExtras(table, ours->sim, usual);
    if (literal->why[0] == 0)
        TakeReading(literal);
    if (literal->sim != NULL)
        SetExtras(table, literal->sim, usual);
}

static void Measure(Table* table, int runs)
{
    CompareWithLiteral(table);
    for (int i = 0; i < snw_contestantCount; ++i)
        if (i != snw_literal && TakeStep(table, &table->contestants[i]))
            TakeReading(&table->contestants[i]);
    Watch(table);
    for (int run = 0; run < runs; ++run)
    {
        for (int i = 0; i < snw_contestantCount; ++i)
            TakeTurn(table, &table->contestants[i]);
        TakePinned(table);
        snwSamples_Add(&table->bandwidth, snwMeasureReadBandwidth(snw_bandwidthBytes, 2));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

static double PaperTime(const Table* table, int column)
{
    return column < 0 ? NAN : table->which->total[column] / snw_iterations;
}

static void AddTimes(snwApdRows* rows, const Table* table)
{
    for (int i = 0; i < snw_contestantCount; ++i)
    {
        const Contestant* contestant = &table->contestants[i];
        snwBenchRow row = snwApdRows_Start(rows, snwApdSolver_Name(s_contestants[i].solver), "ms_per_iteration");
        snwBenchRow_SetSamples(&row, &contestant->all);
        row.paper = PaperTime(table, s_contestants[i].paper);
        snprintf(row.note, sizeof row.note, "%s", contestant->why);
        if (i == snw_literal && contestant->why[0] == 0)
            snprintf(row.note, sizeof row.note, "Eq. 17; the paper's own times are beside articulated");
        snwApdRows_Add(rows, &row);
    }
    snwBenchRow row = snwApdRows_Start(rows, "ipopt", "ms_per_iteration");
    row.n = 0;
    row.paper = PaperTime(table, snw_paperIpopt);
    snprintf(row.note, sizeof row.note,
        "not run on this scene (the cantilever's truths are stored); the paper's time of "
        "a step over 10%s",
        isnan(row.paper) ? ": more than ten hours" : "");
    snwApdRows_Add(rows, &row);
}

static void AddRatio(snwApdRows* rows, const Table* table, snwBenchFigure* figure)
{
    const Contestant *ours = &table->contestants[snw_ours], *plain = &table->contestants[snw_plain];
    snwBenchRow row = snwApdRows_Start(rows, "articulated", "ratio_to_pd");
    snwSamples ratios = snwSamples_Ratios(&ours->all, &plain->all);
    snwBenchRow_SetSamples(&row, &ratios);
    snwBenchRow_SetTarget(&row, "<=", s_mostRatio);
    row.paper = table->which->total[snw_paperOurs] / table->which->total[snw_paperPd];
    snprintf(row.note, sizeof row.note, "%s", plain->why);
    snwApdRows_Add(rows, &row);
    double place = (double)(table->which - snwApdCases) + 1;
    if (figure == NULL || table->which < snwApdCases || table->which >= snwApdCases + snw_apdCaseCount)
        return;
    snwBenchCurve_Add(&figure->curves[0], place, row.value);
    snwBenchCurve_Add(&figure->curves[1], place, row.paper);
}

static void AddPinned(snwApdRows* rows, const Table* table)
{
    const Contestant* ours = &table->contestants[snw_ours];
    const snwApdModel* model = snwApd_Body(ours->sim, 0)->model;
    snwBenchRow row = snwApdRows_Start(rows, "articulated", "ratio_to_pd_pinned");
    snwSamples pinned = {0};
    double share = (double)model->fleshCount / model->vertexCount;
    for (int i = 0; i < table->pinnedMs.count && i < ours->all.count; ++i)
        snwSamples_Add(&pinned, table->pinnedMs.values[i] + share * ours->parts[snw_partOther].values[i]);
    snwSamples ratios = snwSamples_Ratios(&ours->all, &pinned);
    snwBenchRow_SetSamples(&row, &ratios);
    snwBenchRow_SetTarget(&row, "<=", 1.4);
    if (table->flesh == NULL)
        snprintf(row.note, sizeof row.note, "no flesh: with all vertices pinned there is nothing to solve");
    else
        snprintf(row.note, sizeof row.note, "pinned: %.3f ms, its sweeps read %.1f MB, ours %.1f MB",
            snwSamples_Median(&pinned), 2e-6 * (double)snwCholesky_Stats(table->flesh).bytes,
            2e-6 * (double)snwCholesky_Stats(snwApd_Body(ours->sim, 0)->factor).bytes);
    snwApdRows_Add(rows, &row);
}

static void AddLiteral(snwApdRows* rows, const Table* table)
{
    const Contestant *ours = &table->contestants[snw_ours], *literal = &table->contestants[snw_literal];
    snwBenchRow row = snwApdRows_Start(rows, "articulated", "speedup_vs_literal");
    snwSamples ratios = snwSamples_Ratios(&literal->all, &ours->all);
    snwBenchRow_SetSamples(&row, &ratios);
    if (table->which->isMonster)
        snwBenchRow_SetTarget(&row, ">=", 20);
    snprintf(row.note, sizeof row.note, "%s", literal->why);
    snwApdRows_Add(rows, &row);
    row = snwApdRows_Start(rows, "articulated", "diff_vs_literal");
    row.value = table->difference;
    snwBenchRow_SetTarget(&row, "<=", 1e-5);
    if (literal->why[0] != 0)
        snprintf(row.note, sizeof row.note, "%s", literal->why);
    else
        snprintf(row.note, sizeof row.note,
            "both with one linearisation per iteration, as Eq. 17 has, not accelerated; %d and %d contacts",
            table->contacts[0], table->contacts[1]);
    snwApdRows_Add(rows, &row);
}

// Local step at 20 ns per tet and two readings of the factor: nothing else has to be.
static void AddRoofline(snwApdRows* rows, const Table* table)
{
    const Contestant* plain = &table->contestants[snw_plain];
    snwBenchRow row = snwApdRows_Start(rows, "plain", "pd_vs_roofline");
    snwBenchRow_SetTarget(&row, "<=", 2.5);
    snprintf(row.note, sizeof row.note, "%s", plain->why);
    if (plain->sim != NULL && plain->why[0] == 0)
    {
        const snwApdBody* body = snwApd_Body(plain->sim, 0);
        double bytes = 2 * (double)snwCholesky_Stats(body->factor).bytes, local = 20e-6 * body->model->tetCount;
        snwSamples ratios = {0};
        for (int i = 0; i < table->bandwidth.count; ++i)
            snwSamples_Add(&ratios, plain->all.values[i] / (local + 1e-6 * bytes / table->bandwidth.values[i]));
        snwBenchRow_SetSamples(&row, &ratios);
        snprintf(row.note, sizeof row.note,
            "local %.3f ms + %.1f MB of factor at %.1f GB/s; took %.3f + %.3f + %.3f other", local, 1e-6 * bytes,
            snwSamples_Median(&table->bandwidth), snwSamples_Median(&plain->parts[snw_partLocal]),
            snwSamples_Median(&plain->parts[snw_partSweeps]), snwSamples_Median(&plain->parts[snw_partOther]));
    }
    snwApdRows_Add(rows, &row);
}

static void AddSweeps(snwApdRows* rows, const Table* table, int which)
{
    const Contestant* contestant = &table->contestants[which];
    snwBenchRow row = snwApdRows_Start(rows, snwApdSolver_Name(s_contestants[which].solver), "solve_vs_bandwidth");
    snwSamples ratios = {0};
    if (contestant->sim == NULL || contestant->why[0] != 0 || snwApd_Body(contestant->sim, 0)->model->fleshCount == 0)
    {
        snprintf(row.note, sizeof row.note, "%s", contestant->why[0] != 0 ? contestant->why : "no flesh, no factor");
        snwApdRows_Add(rows, &row);
        return;
    }
    double bytes = 2 * (double)snwCholesky_Stats(snwApd_Body(contestant->sim, 0)->factor).bytes;
    for (int i = 0; i < table->bandwidth.count; ++i)
        snwSamples_Add(&ratios, contestant->parts[snw_partSweeps].values[i] * 1e6 * table->bandwidth.values[i] / bytes);
    snwBenchRow_SetSamples(&row, &ratios);
    snprintf(row.note, sizeof row.note, "both sweeps read %.1f MB", 1e-6 * bytes);
    snwApdRows_Add(rows, &row);
}

static void AddStages(snwApdRows* rows, const Table* table, int which)
{
    const Contestant* contestant = &table->contestants[which];
    const double* paper = table->which->stages;
    const double papers[snw_partCount] = {paper[0], paper[1] + paper[3], paper[2], paper[4], paper[5]};
    for (int i = 0; i < snw_partCount; ++i)
    {
        snwBenchRow row = snwApdRows_Start(rows, snwApdSolver_Name(s_contestants[which].solver), s_parts[i]);
        row.paper = papers[i];
        if (i == snw_partColumns && which != snw_literal)
            snprintf(row.note, sizeof row.note, "none: the complement is constant");
        else
            snwBenchRow_SetSamples(&row, &contestant->parts[i]);
        if (contestant->why[0] != 0)
            snprintf(row.note, sizeof row.note, "%s", contestant->why);
        snwApdRows_Add(rows, &row);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The local step alone

typedef struct Kernel
{
    const snwApdBody* body;
    snwElasticWeights* weights;
    snwQuatBlock* rotations;
    snwElasticTask task;
} Kernel;

static void WeighFor(Kernel* kernel, snwElasticLaw law)
{
    const snwApdModel* model = kernel->body->model;
    const snwCharacter* character = model->character;
    for (int s = 0; s < model->blockCount * snw_apdLanes; ++s)
    {
        int tet = model->tetOf[s];
        snwElasticWeight weight = {0};
        if (tet >= 0)
            weight = snwElastic_Weigh(
                law, &character->def.materials[character->def.regions[tet]], character->restVolumes[tet], 1e-3, 1e-2);
        snwElasticWeights* block = &kernel->weights[s / snw_apdLanes];
        block->shear[s % snw_apdLanes] = (float)weight.shear;
        block->bulk[s % snw_apdLanes] = (float)weight.bulk;
        block->damping[s % snw_apdLanes] = (float)weight.damping;
    }
}

// The fastest of a few.
static double TimeKernel(Kernel* kernel, snwElasticLaw law, bool damped)
{
    const snwApdModel* model = kernel->body->model;
    const snwElasticKernels* kernels = snwElastic_Kernels(snw_simdAuto);
    double best = INFINITY;
    WeighFor(kernel, law);
    kernel->task.law = law;
    kernel->task.start = damped ? kernel->body->start : NULL;
    for (int i = -1; i < snw_kernelRepeats; ++i)
    {
        double start = snwClock_Seconds();
        memset(kernel->task.forces, 0, 4 * (size_t)model->vertexCount * sizeof(float));
        kernels->addForces(&kernel->task, 0, model->blockCount);
        if (i >= 0)
            best = fmin(best, 1e9 * (snwClock_Seconds() - start) / model->tetCount);
    }
    return best;
}

snwSamples snwApdSim_TimeLocal(const snwSim* sim, snwElasticLaw law, bool damped, int runs)
{
    snwContext* context = sim->context;
    Kernel kernel = {.body = snwApd_Body(sim, 0)};
    const snwApdModel* model = kernel.body->model;
    kernel.weights = snwAllocArray(context, (size_t)model->blockCount, sizeof *kernel.weights);
    kernel.rotations = snwAllocArray(context, (size_t)model->blockCount, sizeof *kernel.rotations);
    float* forces = snwAllocArray(context, (size_t)model->vertexCount, 4 * sizeof(float));
    bool able = kernel.weights != NULL && kernel.rotations != NULL && forces != NULL && model->tetCount > 0;
    if (able)
        memcpy(
            kernel.rotations, snwApd_GetState(sim, 0).rotations, (size_t)model->blockCount * sizeof *kernel.rotations);
    kernel.task = (snwElasticTask){.tets = model->tets,
        .weights = kernel.weights,
        .positions = kernel.body->rows,
        .rotations = kernel.rotations,
        .forces = forces};

    snwSamples times = {0};
    for (int run = 0; run < runs && able; ++run)
        snwSamples_Add(&times, TimeKernel(&kernel, law, damped));
    snwFree(context, forces);
    snwFree(context, kernel.rotations);
    snwFree(context, kernel.weights);
    return times;
}

static void AddLocal(snwApdRows* rows, const Table* table)
{
    static const struct
    {
        const char* name;
        snwElasticLaw law;
        bool damped;
        double target;
    } kinds[] = {{"strain", snw_elasticStrain, false, 20}, {"corotated", snw_elasticCorotated, false, 20},
        {"volume", snw_elasticVolume, false, 50}, {"corotated, damped", snw_elasticCorotated, true, 18},
        {"neo", snw_elasticNeo, false, 20}, {"neo, damped", snw_elasticNeo, true, 18}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    {
        snwBenchRow row = snwApdRows_Start(rows, kinds[i].name, "local_ns");
        snwBenchRow_SetTarget(&row, "<=", kinds[i].target);
        snwSamples times = snwApdSim_TimeLocal(
            table->contestants[snw_ours].sim, kinds[i].law, kinds[i].damped, rows->options->runs);
        snwBenchRow_SetSamples(&row, &times);
        snprintf(row.note, sizeof row.note, "%s", times.count > 0 ? "" : "no flesh, no elements");
        snwApdRows_Add(rows, &row);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

static void AddExactness(snwApdRows* rows, const Table* table)
{
    int frames = table->which->frames + 1;
    bool jointed = snwApd_Body(table->contestants[snw_ours].sim, 0)->model->character->def.jointCount > 0;
    snwBenchRow row = snwApdRows_Start(rows, "articulated", "joint_gap");
    row.value = jointed ? table->gap : NAN;
    snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snprintf(row.note, sizeof row.note, jointed ? "worst of %d frames" : "no joints", frames);
    snwApdRows_Add(rows, &row);
    row = snwApdRows_Start(rows, "articulated", "bone_rigidity");
    row.value = table->rigidity;
    snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snprintf(row.note, sizeof row.note, "worst of %d frames, in float", frames);
    snwApdRows_Add(rows, &row);
}

static snwBenchFigure* RatioFigure(snwBenchReport* report)
{
    snwBenchFigure* figure = snwBenchReport_FindFigure(report, "table1");
    if (figure != NULL)
        return figure;
    figure = snwBenchReport_AddFigure(report, "table1", "Table 1: time of an iteration over that of plain PD");
    if (figure == NULL)
        return NULL;
    snprintf(figure->xLabel, sizeof figure->xLabel,
        "1 cantilever  2 bracelet  3 nunchuck  4 silk  5 frog  6 snail  7 monster hanging  8 on stairs");
    snprintf(figure->yLabel, sizeof figure->yLabel, "ratio");
    snwBenchFigure_AddCurve(figure, snw_curveOursStems, "ours");
    snwBenchFigure_AddCurve(figure, snw_curveReferenceDots, "Li, Liu, Kavan, Table 1");
    snwBenchCurve* bound = snwBenchFigure_AddCurve(figure, snw_curveOurs, "what ours may be");
    snwBenchCurve_Add(bound, 0.5, s_mostRatio);
    snwBenchCurve_Add(bound, snw_apdCaseCount + 0.5, s_mostRatio);
    return figure;
}

void snwAddApdTable(snwApdRows* rows, const snwApdCase* which)
{
    if (rows->result < 0)
        return;
    Table table = {.which = which};
    rows->caseName = which->name;
    rows->result = OpenTable(&table, rows->message);
    if (rows->result >= 0)
    {
        Measure(&table, rows->options->runs);
        AddTimes(rows, &table);
        AddRatio(rows, &table, RatioFigure(rows->report));
        AddPinned(rows, &table);
        AddLiteral(rows, &table);
        AddRoofline(rows, &table);
        AddSweeps(rows, &table, snw_ours);
        AddSweeps(rows, &table, snw_plain);
        AddStages(rows, &table, snw_ours);
        AddStages(rows, &table, snw_literal);
        AddLocal(rows, &table);
        AddExactness(rows, &table);
    }
    CloseTable(&table);
}
