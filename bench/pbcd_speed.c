// How fast the sweeps are, measured in the simulation: from the times that the sim gives for its stages, divided by the
// projections in them. What is compared takes turns, so that a slow moment of the machine meets both.

#include "pbcd_bench.h"
#include "peer_bullet.h"
#include "world.h"

#include "base/clock.h"
#include "base/result.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_speedIterations = 10
};

static const char s_method[] = "pbcd";
static const snwSetting s_settings[] = {
    {"sim.substeps", 1}, {"pbcd.iterations", snw_speedIterations}, {"pbcd.law", 1} // edges
};
static const double s_step = 1.0 / 240; // s

typedef struct Size
{
    const char* name;
    int cells;
    int steps;                                // per turn
    double distance, volume, speedup, bullet; // targets; NAN: none
    bool alone;                               // too small for two threads
} Size;

static const Size s_sizes[] = {{"block-1k", 9, 14, NAN, NAN, 1, NAN, true}, {"block-30k", 30, 4, 3, 6, 1.6, 5, false}};

// ---------------------------------------------------------------------------------------------------------------------
// Steps

typedef struct Runner
{
    snwContext* context;
    snwScene* scene;
    snwSim* sim;
    const snwCharacter* character;
    snwSamples distanceNs, volumeNs, stepMs; // one per step
    snwSamples turnMs;                       // one per call of StepRunner: a step in it, on average
} Runner;

static snwResult OpenRunner(Runner* runner, int cells, int threads, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = threads;
    snwResult result = snwCreateContext(&def, &runner->context, message);
    snwBlockDef block = {cells, s_method, s_settings, sizeof s_settings / sizeof *s_settings};
    if (result >= 0)
        result = snwMakeBlockSceneWith(runner->context, &block, &runner->scene, message);
    if (result < 0)
        return result;
    runner->character = snwScene_GetDef(runner->scene)->bodies[0].character;
    snwSimDef sim = snwDefaultSimDef();
    sim.scene = runner->scene;
    return snwCreateSim(runner->context, &sim, &runner->sim, message);
}

static void CloseRunner(Runner* runner)
{
    if (runner->sim != NULL)
        snwDestroySim(runner->sim);
    if (runner->scene != NULL)
        snwScene_Release(runner->scene);
    if (runner->context != NULL)
        snwDestroyContext(runner->context);
}

// ns per projection in the last step; NAN if the method has no such stage.
static double ProjectionNs(const Runner* runner, const char* stage, int count)
{
    snwTimings timings;
    if (snwSim_GetTimings(runner->sim, &timings) < 0)
        return NAN;
    for (int i = 0; i < timings.count; ++i)
        if (strcmp(timings.data[i].stage, stage) == 0)
            return timings.data[i].ms * 1e6 / ((double)count * snw_speedIterations);
    return NAN;
}

static snwResult StepRunner(Runner* runner, int steps, bool measured, snwMessage* message)
{
    double sum = 0;
    for (int i = 0; i < steps; ++i)
    {
        double start = snwClock_Seconds();
        snwResult result = snwSim_Step(runner->sim, s_step, message);
        double ms = (snwClock_Seconds() - start) * 1e3;
        if (result < 0)
            return result;
        sum += ms;
        if (!measured)
            continue;
        snwSamples_Add(&runner->stepMs, ms);
        snwSamples_Add(&runner->distanceNs, ProjectionNs(runner, "distance", runner->character->edgeCount));
        snwSamples_Add(&runner->volumeNs, ProjectionNs(runner, "volume", runner->character->def.tetCount));
    }
    if (measured)
        snwSamples_Add(&runner->turnMs, sum / steps);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// A projection, and two threads

static void SetTarget(snwBenchRow* row, const char* op, double target)
{
    row->op = isfinite(target) ? op : NULL;
    row->target = target;
}

static void AddProjection(snwBenchRows* rows, const Size* size, const Runner* runner, bool volume)
{
    snwBenchRow row = snwMakeBenchRow(size->name, s_method, volume ? "volume_ns" : "distance_ns");
    snwBenchRow_SetSamples(&row, volume ? &runner->volumeNs : &runner->distanceNs);
    SetTarget(&row, "<=", volume ? size->volume : size->distance);
    snprintf(row.note, sizeof row.note, "1 thread; %d constraints, %d iterations, float",
        volume ? runner->character->def.tetCount : runner->character->edgeCount, snw_speedIterations);
    snwBenchRows_Add(rows, &row);
}

typedef struct Rival
{
    Runner* runner;
    int steps;
    snwResult result;
} Rival;

static void* StepRival(void* data)
{
    Rival* rival = data;
    rival->result = StepRunner(rival->runner, rival->steps, true, NULL);
    return NULL;
}

// One turn of two sims of one thread each, at once.
static snwResult StepBoth(Runner runners[2], int steps, snwMessage* message)
{
    pthread_t thread;
    Rival rival = {&runners[1], steps, snw_ok};
    if (pthread_create(&thread, NULL, StepRival, &rival) != 0)
        return snwFail(message, snw_errorIo, NULL, "no second thread");
    snwResult result = StepRunner(&runners[0], steps, true, message);
    pthread_join(thread, NULL);
    return result < 0 ? result : rival.result;
}

// Two processors may be one that takes turns, and then no program has twice the speed.
static void AddLimit(snwBenchRows* rows, const Size* size)
{
    Runner alone = {0}, both[2] = {0};
    Runner* all[] = {&alone, &both[0], &both[1]};
    for (int i = 0; i < 3 && rows->result >= 0; ++i)
        rows->result = OpenRunner(all[i], size->cells, 1, rows->message);
    for (int turn = 0; turn < rows->options->runs && rows->result >= 0; ++turn)
    {
        rows->result = StepRunner(&alone, size->steps, true, rows->message);
        if (rows->result >= 0)
            rows->result = StepBoth(both, size->steps, rows->message);
    }
    snwBenchRow row = snwMakeBenchRow(size->name, s_method, "speedup_limit");
    snwSamples ratios = {0};
    for (int i = 0; i < alone.turnMs.count && i < both[1].turnMs.count; ++i)
        snwSamples_Add(&ratios, 2 * alone.turnMs.values[i] / fmax(both[0].turnMs.values[i], both[1].turnMs.values[i]));
    snwBenchRow_SetSamples(&row, &ratios);
    snwBenchRows_Add(rows, &row);
    for (int i = 0; i < 3; ++i)
        CloseRunner(all[i]);
}

static void AddSpeedup(snwBenchRows* rows, const Size* size, const Runner* one, const Runner* two)
{
    snwBenchRow row = snwMakeBenchRow(size->name, s_method, "speedup_2t");
    snwSamples ratios = snwSamples_Ratios(&one->turnMs, &two->turnMs);
    snwBenchRow_SetSamples(&row, &ratios);
    SetTarget(&row, ">=", size->speedup);
    snprintf(row.note, sizeof row.note, "whole steps: %.3g and %.3g ms%s", snwSamples_Median(&one->turnMs),
        snwSamples_Median(&two->turnMs), size->alone ? "; so small a body stays on one thread: 1, and noise" : "");
    snwBenchRows_Add(rows, &row);
}

static void AddSize(snwBenchRows* rows, const Size* size)
{
    Runner runners[2] = {0}; // one thread, two
    for (int i = 0; i < 2 && rows->result >= 0; ++i)
        rows->result = OpenRunner(&runners[i], size->cells, i + 1, rows->message);
    for (int step = -size->steps; step < size->steps * rows->options->runs; ++step) // the first ones warm up
        for (int i = 0; i < 2 && rows->result >= 0; ++i)
            rows->result = StepRunner(&runners[i], 1, step >= 0, rows->message);
    if (rows->result >= 0)
    {
        AddProjection(rows, size, &runners[0], false);
        AddProjection(rows, size, &runners[0], true);
        AddSpeedup(rows, size, &runners[0], &runners[1]);
    }
    for (int i = 0; i < 2; ++i)
        CloseRunner(&runners[i]);
}

void snwAddPbcdSpeed(snwBenchRows* rows)
{
    for (size_t i = 0; i < sizeof s_sizes / sizeof *s_sizes; ++i)
    {
        AddSize(rows, &s_sizes[i]);
        AddLimit(rows, &s_sizes[i]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Bullet

typedef struct Match
{
    Runner ours;
    snwBulletDef def;
    snwBulletTimes last;
    snwSamples linkNs, stepMs; // Bullet's, one per turn
    snwSamples ratios;
    const char* why; // there is no Bullet; NULL: there is
} Match;

// As in the scene: one side is held.
static double* MakeMasses(const snwCharacter* character)
{
    double* masses = calloc((size_t)character->def.vertexCount, sizeof *masses);
    if (masses == NULL)
        return NULL;
    snwCharacter_ComputeMasses(character, character->def.materials, masses);
    double lowest = INFINITY;
    for (int i = 0; i < character->def.vertexCount; ++i)
        lowest = fmin(lowest, character->def.vertices[i].x);
    for (int i = 0; i < character->def.vertexCount; ++i)
        if (character->def.vertices[i].x < lowest + 0.01)
            masses[i] = 0;
    return masses;
}

static void PlayTurn(snwBenchRows* rows, Match* match, int steps)
{
    int before = match->ours.distanceNs.count;
    rows->result = StepRunner(&match->ours, steps, true, rows->message);
    if (rows->result < 0 || match->why != NULL || !snwMeasureBullet(&match->def, &match->last, &match->why))
        return;
    match->why = NULL;
    snwSamples own = {0};
    for (int i = before; i < match->ours.distanceNs.count; ++i)
        snwSamples_Add(&own, match->ours.distanceNs.values[i]);
    snwSamples_Add(&match->linkNs, match->last.linkNs);
    snwSamples_Add(&match->stepMs, match->last.stepMs);
    snwSamples_Add(&match->ratios, match->last.linkNs / snwSamples_Median(&own));
}

static void SetPeer(snwBenchRow* row, const Match* match, const snwSamples* samples)
{
    row->peer = snwSamples_Median(samples);
    snprintf(row->peerName, sizeof row->peerName, "Bullet %d.%d", match->last.version / 100, match->last.version % 100);
}

static void AddRatio(snwBenchRows* rows, const Size* size, const Match* match)
{
    snwBenchRow row = snwMakeBenchRow(size->name, s_method, "bullet_ratio");
    SetTarget(&row, ">=", size->bullet);
    if (match->why != NULL)
    {
        snprintf(row.note, sizeof row.note, "%s", match->why);
        snwBenchRows_Add(rows, &row);
        return;
    }
    snwBenchRow_SetSamples(&row, &match->ratios);
    SetPeer(&row, match, &match->linkNs);
    snprintf(row.note, sizeof row.note,
        "1 thread; ours %.3g ns, %d edges, float; Bullet %d links, %s, %.3g ns in mesh order, %.3g reordered: the "
        "better",
        snwSamples_Median(&match->ours.distanceNs), match->ours.character->edgeCount, match->last.linkCount,
        match->last.scalarBytes == 4 ? "float" : "double", match->last.plainNs, match->last.reorderedNs);
    snwBenchRows_Add(rows, &row);
}

static void AddStep(snwBenchRows* rows, const Size* size, const Match* match)
{
    snwBenchRow row = snwMakeBenchRow(size->name, s_method, "step_ms");
    snwBenchRow_SetSamples(&row, &match->ours.stepMs);
    if (match->why == NULL)
        SetPeer(&row, match, &match->stepMs);
    snprintf(row.note, sizeof row.note, "1 thread, %d iterations; ours with %d volumes, Bullet has links alone",
        snw_speedIterations, match->ours.character->def.tetCount);
    snwBenchRows_Add(rows, &row);
}

static void AddMatch(snwBenchRows* rows, const Size* size)
{
    Match match = {0};
    double* masses = NULL;
    rows->result = OpenRunner(&match.ours, size->cells, 1, rows->message);
    if (rows->result >= 0 && (masses = MakeMasses(match.ours.character)) == NULL)
        rows->result = snwFailMemory(rows->message);
    match.def = (snwBulletDef){match.ours.character, masses, snw_speedIterations, size->steps};
    if (rows->result >= 0)
        rows->result = StepRunner(&match.ours, size->steps, false, rows->message);
    for (int turn = 0; turn < rows->options->runs && rows->result >= 0; ++turn)
        PlayTurn(rows, &match, size->steps);
    AddRatio(rows, size, &match);
    AddStep(rows, size, &match);
    CloseRunner(&match.ours);
    free(masses);
}

void snwAddPbcdBullet(snwBenchRows* rows)
{
    for (size_t i = 0; i < sizeof s_sizes / sizeof *s_sizes && rows->result >= 0; ++i)
        AddMatch(rows, &s_sizes[i]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Growth

// Of the line through the points that has the least squares.
static double Slope(const double* x, const double* y, int count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; ++i)
    {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

// From a thousand tets to a million.
void snwAddPbcdGrowth(snwBenchRows* rows)
{
    static const int cells[] = {6, 12, 25, 55};
    enum
    {
        snw_growthSizes = sizeof cells / sizeof *cells
    };
    double tets[snw_growthSizes], times[snw_growthSizes];
    char note[160] = "1 thread; us per substep:";
    for (int i = 0; i < snw_growthSizes && rows->result >= 0; ++i)
    {
        Runner runner = {0};
        rows->result = OpenRunner(&runner, cells[i], 1, rows->message);
        for (int turn = -1; turn < rows->options->runs && rows->result >= 0; ++turn)
            rows->result = StepRunner(&runner, 1, turn >= 0, rows->message);
        if (rows->result >= 0)
        {
            double us = snwSamples_Median(&runner.stepMs) * 1e3;
            size_t used = strlen(note);
            snprintf(note + used, sizeof note - used, " %.4g (%d tets)", us, runner.character->def.tetCount);
            tets[i] = log(runner.character->def.tetCount);
            times[i] = log(us);
        }
        CloseRunner(&runner);
    }
    if (rows->result < 0)
        return;
    snwBenchRow row = snwMakeBenchRow("blocks", s_method, "growth_exponent");
    row.value = Slope(tets, times, snw_growthSizes);
    row.n = rows->options->runs;
    SetTarget(&row, "<=", 1.1);
    snprintf(row.note, sizeof row.note, "%s", note);
    snwBenchRows_Add(rows, &row);
}
