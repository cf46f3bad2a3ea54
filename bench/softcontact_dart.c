// A soft box of 290 points is put flat on 81 of them and lies, by us and by DART, the library of the paper's authors:
// the same points, masses, springs and steps. DART is given what it stands: with edges or dampers as stiff as published
// its boxes go through the ground, at 4 ms and at 1 ms, which are rows as well; and where its box falls, it lies on
// half of its points.

#include "softcontact_bench.h"

#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"
#include "peer_dart.h"
#include "softcontact_stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_side = 9,
    snw_layers = 6,
    snw_turns = 3
};

static const snwDartDef s_box = {.points = {snw_side, snw_layers, snw_side},
    .half = 0.1,
    .boneMass = 3.6,
    .skinMass = 0.4,
    .vertex = 4000,
    .edge = 10,
    .damping = 10,
    .friction = 0.5,
    .h = 0.001,
    .steps = 500,
    .firstAtRest = 300};

// As a walker's foot with k_m = 10^4 at 4 ms.
static snwDartDef Published(double h, double stiffness)
{
    snwDartDef def = s_box;
    def.vertex = 0.4 * stiffness, def.edge = 0.6 * stiffness, def.damping = 0.1 * stiffness;
    def.height = 0.02, def.h = h, def.steps = (int)(0.8 / h), def.firstAtRest = (int)(0.5 / h);
    return def;
}

static void MakeBox(const snwDartDef* def, snwSkinBox* box)
{
    snwSkinBoxDef boxDef = {{0, def->half + def->height, 0}, {def->half, def->half, def->half},
        def->boneMass + def->skinMass, def->vertex / 0.4, 0.4 * def->edge / def->vertex, {0}};
    for (int c = 0; c < 3; ++c)
        boxDef.cells[c] = def->points[c] - 1;
    snwSkinBox_Make(box, &boxDef);
    for (int i = 0; i < box->skin.pointCount; ++i)
        box->damping[i] = def->damping;
}

typedef struct Ours
{
    double settlingMs, restingMs, lowest, speed;
    int points, contacts;
    long failures;
    double residual; // worst
} Ours;

static snwResult PlayOurs(snwContext* context, const snwDartDef* def, Ours* ours, snwMessage* message)
{
    snwSkinBox* box = malloc(sizeof *box);
    snwSoftStage* stage = malloc(sizeof *stage);
    double* ms = malloc((size_t)def->steps * sizeof *ms);
    snwResult result = box != NULL && stage != NULL && ms != NULL ? snw_ok : snwFailMemory(message);
    *ours = (Ours){0};
    if (box != NULL && stage != NULL && ms != NULL)
    {
        MakeBox(def, box);
        snwSoftStage_Begin(stage, context, def->friction, (snwVec3){0, 0, 1}, 0);
        result = snwSoftStage_AddBox(stage, box, message);
        if (result == snw_ok)
            result = snwSoftStage_Open(stage, 200, message);
        stage->settings.h = def->h;
        int settling = 0, resting = 0;
        for (int i = 0; i < def->steps && result == snw_ok; ++i)
        {
            double began = snwClock_ThreadSeconds();
            result = snwSoftStage_Step(stage, 1, message);
            double now = 1e3 * (snwClock_ThreadSeconds() - began);
            if (stage->world.contactCount == 0)
                continue;
            if (i < def->firstAtRest)
                ms[settling++] = now;
            else
                ms[settling + resting++] = now;
            ours->contacts = stage->world.contactCount;
            ours->residual = fmax(ours->residual, stage->world.report.residual);
        }
        if (result == snw_ok)
        {
            const snwSoftBody* body = stage->bodies;
            ours->settlingMs = snwMedian(ms, settling), ours->restingMs = snwMedian(ms + settling, resting);
            ours->lowest = snwSoftStage_Lowest(body), ours->points = body->skins->count;
            ours->failures = stage->world.failures;
            for (int i = 0; i < body->skins->count; ++i)
                if (body->skins->awake[i])
                    ours->speed = fmax(ours->speed, snwVec3_Length(body->skins->v[i]));
        }
        snwSoftStage_Close(stage);
    }
    free(box), free(stage), free(ms);
    return result;
}

static void AddRatio(snwBenchRows* rows, const char* name, const snwSamples* theirs, const snwSamples* ours,
    double target, const snwDartTimes* dart, const Ours* our)
{
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", "dart_ratio");
    snwSamples ratios = snwSamples_Ratios(theirs, ours);
    snwBenchRow_SetSamples(&row, &ratios);
    snwBenchRow_SetTarget(&row, ">=", target);
    row.peer = snwSamples_Median(theirs);
    snprintf(row.peerName, sizeof row.peerName, "DART %s, ms", dart->version);
    snprintf(row.note, sizeof row.note,
        "ours %.2f ms, %d contacts, residual %.0e; DART's faster solver, %d contacts, %.1f mm deep",
        snwSamples_Median(ours), our->contacts, our->residual, dart->contacts, -1e3 * dart->lowest);
    snwBenchRows_Add(rows, &row);
}

static void AddMissing(snwBenchRows* rows, const char* name, const char* metric, const char* why)
{
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", metric);
    snprintf(row.note, sizeof row.note, "%s", why);
    snwBenchRows_Add(rows, &row);
}

// In turns; of DART's two solvers the one that is faster in the phase.
static void AddSpeed(snwBenchRows* rows, snwContext* context)
{
    snwSamples theirs[2] = {{.count = 0}}, ours[2] = {{.count = 0}};
    snwDartTimes pivots = {.points = 0}, sweeps = {.points = 0};
    Ours our = {0};
    const char* why = NULL;
    snwDartDef bySweeps = s_box;
    bySweeps.sweeps = true;
    if (!snwBenchRows_Wants(rows, "soft box, settling and rest", "softcontact"))
        return;
    for (int turn = 0; turn < snw_turns; ++turn)
    {
        rows->result = PlayOurs(context, &s_box, &our, rows->message);
        if (rows->result != snw_ok)
            return;
        if (!snwMeasureDart(&s_box, &pivots, &why) || !snwMeasureDart(&bySweeps, &sweeps, &why))
        {
            AddMissing(rows, "soft box, settling", "dart_ratio", why);
            AddMissing(rows, "soft box, at rest", "dart_ratio", why);
            return;
        }
        snwSamples_Add(&theirs[0], fmin(pivots.settlingMs, sweeps.settlingMs)),
            snwSamples_Add(&ours[0], our.settlingMs);
        snwSamples_Add(&theirs[1], fmin(pivots.restingMs, sweeps.restingMs)), snwSamples_Add(&ours[1], our.restingMs);
    }
    AddRatio(rows, "soft box, settling", &theirs[0], &ours[0], 5, &pivots, &our);
    AddRatio(rows, "soft box, at rest", &theirs[1], &ours[1], 20, &pivots, &our);
}

// The published stiffnesses and steps: how deep the lowest point is when the box should lie.
static void AddDepth(snwBenchRows* rows, snwContext* context, double h, double stiffness)
{
    char name[48];
    snprintf(name, sizeof name, "soft box, k_m %g, %g ms", stiffness, 1e3 * h);
    if (!snwBenchRows_Wants(rows, name, "softcontact"))
        return;
    snwDartDef def = Published(h, stiffness);
    snwDartTimes dart;
    Ours our;
    const char* why = NULL;
    rows->result = PlayOurs(context, &def, &our, rows->message);
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", "penetration");
    row.value = fmax(0, -our.lowest) / (2 * def.half), row.n = 1;
    snwBenchRow_SetTarget(&row, "<=", 1e-4);
    if (snwMeasureDart(&def, &dart, &why))
    {
        row.peer = fmax(0, -dart.lowest) / (2 * def.half);
        snprintf(row.peerName, sizeof row.peerName, "DART %s", dart.version);
        snprintf(
            row.note, sizeof row.note, "after 0.8 s; fastest point: ours %.1e m/s, DART's %.1e", our.speed, dart.speed);
    }
    else
        snprintf(row.note, sizeof row.note, "after 0.8 s; %s", why);
    if (rows->result == snw_ok)
        snwBenchRows_Add(rows, &row);
}

void snwAddSoftDart(snwBenchRows* rows)
{
    snwContextDef contextDef = snwDefaultContextDef();
    snwContext* context = NULL;
    contextDef.threadCount = 1;
    rows->result = snwCreateContext(&contextDef, &context, rows->message);
    if (rows->result != snw_ok)
        return;
    AddSpeed(rows, context);
    AddDepth(rows, context, 0.004, 1e3);
    AddDepth(rows, context, 0.0083, 1e4);
    AddDepth(rows, context, 0.004, 2e4);
    snwDestroyContext(context);
}
