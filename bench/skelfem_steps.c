// Whole steps of the method: Table 1 of the paper (two V(2, 1) cycles a step), how many steps a second two threads
// make, and Bullet's deformable finite elements beside it. Times are those of the processor.

#include "skelfem_bench.h"

#include "peer_bullet.h"
#include "skelfem_play.h"

#include <math.h>
#include <stdlib.h>

static const double s_step = 0.02; // s

enum
{
    snw_warmSteps = 4
};

typedef struct Case
{
    const char* name;
    int cells[3];          // of a bar
    const char* character; // or one of the cast
    int tets;
    double paperMs;
    double rate; // steps per second that two threads shall make
} Case;

static const Case s_cases[] = {
    {"manikin 14,062", {0}, "manikin", 14062, 49, 120},
    {"bar 24,576", {64, 8, 8}, NULL, 24576, 56, NAN},
    {"dragon 67,309", {0}, "dragon", 67309, 203, 30},
};

typedef struct StepTimes
{
    snwSamples ms;               // of the busier thread, where there are two
    double left, newton, cycles; // of the last step
} StepTimes;

static snwResult PlaySteps(const snwSkelfemPlayDef* def, int runs, StepTimes* times, snwMessage* message)
{
    snwSkelfemPlay play;
    *times = (StepTimes){0};
    snwResult result = snwSkelfemPlay_Open(&play, def, message);
    for (int i = -snw_warmSteps; i < runs && result >= 0; ++i)
    {
        double all = snwCpuMs(), own = snwThreadMs();
        result = snwSkelfemPlay_Step(&play, 1, s_step, message);
        all = snwCpuMs() - all;
        own = snwThreadMs() - own;
        if (i >= 0)
            snwSamples_Add(&times->ms, fmax(own, all - own));
    }
    if (result >= 0)
    {
        const snwSkelfemTally* tally = &snwSkelfemPlay_Body(&play)->tally;
        times->left = tally->linear;
        times->newton = tally->newton;
        times->cycles = tally->cycles;
    }
    snwSkelfemPlay_Close(&play);
    return result;
}

static snwSkelfemPlayDef PlayDef(const Case* c, const snwFemBody* body, bool paper)
{
    snwSkelfemPlayDef def = snwDefaultSkelfemPlayDef(body);
    if (paper)
        def.settings[0] = (snwSetting){"skelfem.preset", 1};
    if (c->character == NULL)
        return def;

    // The lowest tenth of it.
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < body->vertexCount; ++i)
    {
        low = fmin(low, body->rest[i].y);
        high = fmax(high, body->rest[i].y);
    }
    def.heldAxis = 1;
    def.held = 0.1 * (high - low);
    return def;
}

static int RunsOf(const snwBenchRows* rows)
{
    return rows->options->runs < 10 ? 10 : rows->options->runs;
}

static void AddStep(snwBenchRows* rows, const Case* c, const snwFemBody* body, bool paper)
{
    StepTimes times;
    snwSkelfemPlayDef def = PlayDef(c, body, paper);
    rows->result = PlaySteps(&def, RunsOf(rows), &times, rows->message);
    char name[48];
    snprintf(name, sizeof name, "%s, %s", c->name, paper ? "preset paper" : "as it is");
    snwBenchRow row = snwMakeBenchRow(name, "skelfem", "step_ms");
    snwBenchRow_SetSamples(&row, &times.ms);
    if (paper)
        row.paper = c->paperMs;
    snprintf(row.note, sizeof row.note,
        "%d tets, 1 thread; %g Newton steps, %g cycles, the last solution left %.2g of the forces", body->tetCount,
        times.newton, times.cycles, times.left);
    snwBenchRows_Add(rows, &row);
}

static void AddRate(snwBenchRows* rows, const Case* c, const snwFemBody* body)
{
    StepTimes times;
    snwSkelfemPlayDef def = PlayDef(c, body, true);
    def.threads = 2;
    rows->result = PlaySteps(&def, RunsOf(rows), &times, rows->message);
    char name[48];
    snprintf(name, sizeof name, "%s, preset paper", c->name);
    snwBenchRow row = snwMakeBenchRow(name, "skelfem", "steps_per_s");
    double least = INFINITY;
    for (int i = 0; i < times.ms.count; ++i)
        least = fmin(least, times.ms.values[i]);
    row.value = 1e3 / least;
    row.n = times.ms.count;
    snwBenchRow_SetTarget(&row, ">=", c->rate);
    snprintf(row.note, sizeof row.note, "2 threads, processor time of the busier one: least %.3g, median %.3g ms",
        least, snwSamples_Median(&times.ms));
    snwBenchRows_Add(rows, &row);
}

// One linearised step each, implicit, without collisions.
static void AddBullet(snwBenchRows* rows, const snwFemBody* body)
{
    const Case* c = &s_cases[1];
    StepTimes times;
    snwSkelfemPlayDef def = PlayDef(c, body, false);
    def.settings[0] = (snwSetting){"skelfem.newton", 1};
    rows->result = PlaySteps(&def, RunsOf(rows), &times, rows->message);
    if (rows->result < 0)
        return;
    const char* why = NULL;
    snwBulletFlesh flesh = {.vertexCount = body->vertexCount,
        .vertices = body->rest,
        .masses = calloc((size_t)body->vertexCount, sizeof *flesh.masses),
        .tetCount = body->tetCount,
        .tets = body->tets,
        .mu = body->mu[0],
        .lambda = body->lambda[0],
        .step = s_step,
        .steps = 5};
    if (flesh.masses == NULL)
    {
        rows->result = snw_errorMemory;
        return;
    }
    for (int i = 0; i < body->vertexCount; ++i)
        flesh.masses[i] = body->held[i] ? 0 : body->masses[i];
    snwBulletFleshTimes bullet;
    bool there = snwMeasureBulletFlesh(&flesh, &bullet, &why);
    free(flesh.masses);

    snwBenchRow row = snwMakeBenchRow("bar 24,576, one linear solution", "skelfem", "bullet_ratio");
    snwBenchRow_SetTarget(&row, ">=", 25);
    double ms = snwSamples_Median(&times.ms);
    if (there)
    {
        row.value = bullet.stepMs / ms;
        row.n = flesh.steps;
        row.peer = bullet.stepMs;
        snprintf(
            row.peerName, sizeof row.peerName, "Bullet %d.%d, deformable", bullet.version / 100, bullet.version % 100);
        snprintf(row.note, sizeof row.note,
            "ours %.3g ms, %g cycles, left %.2g of the forces; Bullet's end has sunk by %.2g m after %d steps", ms,
            times.cycles, times.left, bullet.lowest, flesh.steps);
    }
    else
        snprintf(row.note, sizeof row.note, "%.150s", why);
    snwBenchRows_Add(rows, &row);
}

void snwAddSkelfemSteps(snwBenchRows* rows)
{
    for (int i = 0; i < (int)(sizeof s_cases / sizeof *s_cases) && rows->result >= 0; ++i)
    {
        const Case* c = &s_cases[i];
        snwFemBody body = {0};
        if (!snwBenchRows_Wants(rows, c->name, "skelfem"))
            continue;
        rows->result = c->character != NULL ? snwFemBody_MakeCharacter(&body, c->character, c->tets, rows->message)
                                            : snwFemBody_MakeBar(&body, c->cells, 0, rows->message);
        if (rows->result >= 0)
            AddStep(rows, c, &body, true);
        if (rows->result >= 0)
            AddStep(rows, c, &body, false);
        if (rows->result >= 0 && isfinite(c->rate))
            AddRate(rows, c, &body);
        if (rows->result >= 0 && c->character == NULL)
            AddBullet(rows, &body);
        snwFemBody_Free(&body);
    }
}
