// Table 1: what a substep costs, one thread, 15 substeps for a frame of 1/60 s, one of the handles dragged about.
//
// The paper's times are of a whole frame (its rates show it: 1.8 + 5.2 ms are 125 frames a second with the drawing);
// beside ours they stand divided by 15. Stages "rig", "fit", "skin" and "complement" are what the paper calls t_rig;
// all others are t_pbd. A triangle or tet has two constraints.

#include "rigpbd_bench.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

typedef struct Case
{
    const char* name;
    double pbd, rig, fps; // the paper's: ms per frame, frames per second; NAN: it has none
    const char* note;     // on what its rig costs; NULL: none
} Case;

static const Case s_flat[] = {{"ghost", 1.8, 5.2, 125, NULL}, {"starfish", 1.9, 5.9, 113, NULL},
    {"worm", 2.4, 6.4, 101, NULL}, {"ellipse", 3.2, 6.6, 91, NULL}, {"mushroom", 3.2, 8.1, 82, NULL},
    {"octopus-2d", 2.0, 9.4, 78, NULL}, {"fish-2d", 3.2, 13.0, 72, NULL}, {"bunny", 3.1, 14.4, 55, NULL}};

static const Case s_solid[] = {{"manikin", NAN, NAN, NAN, NULL},
    {"reptile", NAN, NAN, NAN, "50 bones: two dense factors of 150 turns in a substep, docs/rigpbd.md"},
    {"fish", NAN, NAN, NAN, NULL}, {"horse", NAN, NAN, NAN, NULL}};

enum
{
    snw_warmFrames = 5,
    snw_flatFrames = 40, // of one run
    snw_solidFrames = 5,
};

typedef struct Times
{
    snwSamples frame, pbd, rig, elastic; // s per frame, by run
    snwSamples damped;                   // likewise: a frame with all damping on
} Times;

static bool IsRigStage(const char* stage)
{
    static const char* const names[] = {"rig", "fit", "skin", "complement"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(names[i], stage) == 0)
            return true;
    return false;
}

// s: of the frame just done.
static void AddStages(const snwSim* sim, double* rig, double* elastic, double* rest)
{
    snwTimings timings;
    if (snwSim_GetTimings(sim, &timings) < 0)
        return;
    for (int i = 0; i < timings.count; ++i)
    {
        double s = timings.data[i].ms * 1e-3;
        bool ours = IsRigStage(timings.data[i].stage);
        *rig += ours ? s : 0;
        *rest += ours ? 0 : s;
        *elastic += strcmp(timings.data[i].stage, "elastic") == 0 ? s : 0;
    }
}

static void Drag(snwRigStage* stage, int frame)
{
    double t = frame / 60.0, reach = 0.15 * stage->size;
    snwVec3 rest = snwRigStage_HandleRest(stage, 0);
    snwVec3 place = {rest.x + reach * sin(5 * t), rest.y + reach * sin(3.1 * t), rest.z};
    snwRigStage_Give(stage, 0, snw_dofX | snw_dofY | snw_dofZ, place);
}

// A run's figure is the median of its frames: on a busy machine some of them wait for others.
static snwResult MeasureRun(snwRigStage* stage, int* frame, Times* times, snwMessage* message)
{
    Times frames = {0};
    snwResult result = snw_ok;
    int count = stage->character->def.triangleCount > 0 ? snw_flatFrames : snw_solidFrames;
    for (int i = 0; i < count && result >= 0; ++i, ++*frame)
    {
        double rig = 0, elastic = 0, rest = 0;
        Drag(stage, *frame);
        double start = snwClock_Seconds();
        result = snwRigStage_Step(stage, message);
        snwSamples_Add(&frames.frame, snwClock_Seconds() - start);
        AddStages(stage->sim, &rig, &elastic, &rest);
        snwSamples_Add(&frames.pbd, rest);
        snwSamples_Add(&frames.rig, rig);
        snwSamples_Add(&frames.elastic, elastic);
    }
    snwSamples_Add(&times->frame, snwSamples_Median(&frames.frame));
    snwSamples_Add(&times->pbd, snwSamples_Median(&frames.pbd));
    snwSamples_Add(&times->rig, snwSamples_Median(&frames.rig));
    snwSamples_Add(&times->elastic, snwSamples_Median(&frames.elastic));
    return result;
}

// Damping is live: the same stage, with it and without.
static snwResult SetDamping(snwRigStage* stage, double rate, snwMessage* message)
{
    snwResult result = snwSim_SetParam(stage->sim, "rigpbd.damping", rate, message);
    return result < 0 ? result : snwSim_SetParam(stage->sim, "rigpbd.settle", rate, message);
}

static snwResult MeasureDamped(snwRigStage* stage, int* frame, Times* times, snwMessage* message)
{
    Times frames = {0};
    snwResult result = SetDamping(stage, 2, message);
    if (result >= 0)
        result = MeasureRun(stage, frame, &frames, message);
    snwSamples_Add(&times->damped, snwSamples_Median(&frames.frame));
    return result < 0 ? result : SetDamping(stage, 0, message);
}

static snwSamples Rates(const snwSamples* seconds)
{
    snwSamples rates = *seconds;
    for (int i = 0; i < rates.count; ++i)
        rates.values[i] = 1 / rates.values[i];
    return rates;
}

static snwSamples Scale(const snwSamples* samples, double scale)
{
    snwSamples scaled = *samples;
    for (int i = 0; i < scaled.count; ++i)
        scaled.values[i] *= scale;
    return scaled;
}

static void AddRow(
    snwBenchRows* rows, const Case* which, const char* metric, const snwSamples* samples, double paper, double target)
{
    snwBenchRow row = snwMakeBenchRow(which->name, "rigpbd", metric);
    snwBenchRow_SetSamples(&row, samples);
    row.paper = paper;
    row.target = target;
    if (isfinite(target))
        row.op = strncmp(metric, "fps", 3) == 0 ? ">=" : "<=";
    if (which->note != NULL && strcmp(metric, "rig_over_pbd") == 0)
        snprintf(row.note, sizeof row.note, "%s", which->note);
    snwBenchRows_Add(rows, &row);
}

static void AddRows(snwBenchRows* rows, const Case* which, const snwRigStage* stage, const Times* times)
{
    const snwCharacter* character = stage->character;
    int handles = snwCharacter_HandleCount(character), vertices = character->def.vertexCount;
    bool flat = character->def.triangleCount > 0;
    double substep = 1e6 / snw_stageSubsteps, constraint = 1e9 / snw_stageSubsteps / (2.0 * character->elements.count);
    snwSamples pbd = Scale(&times->pbd, substep), rig = Scale(&times->rig, substep);
    snwSamples each = Scale(&times->elastic, constraint), ratio = snwSamples_Ratios(&times->rig, &times->pbd);
    snwSamples fps = Rates(&times->frame), damped = Rates(&times->damped);
    snwBenchRows_AddValue(rows, which->name, "rigpbd", "vertices", vertices);
    snwBenchRows_AddValue(rows, which->name, "rigpbd", flat ? "triangles" : "tets", character->elements.count);
    snwBenchRows_AddValue(rows, which->name, "rigpbd", "handles", handles);
    AddRow(rows, which, "t_pbd_us", &pbd, which->pbd * 1e3 / snw_stageSubsteps, NAN);
    AddRow(rows, which, "t_rig_us", &rig, which->rig * 1e3 / snw_stageSubsteps, flat && handles == 12 ? 15 : NAN);
    AddRow(rows, which, "rig_over_pbd", &ratio, which->rig / which->pbd, vertices >= 1500 ? 0.3 : NAN);
    AddRow(rows, which, "ns_per_constraint", &each, NAN, 8);
    AddRow(rows, which, "fps", &fps, which->fps, flat ? 2000 : NAN);
    AddRow(rows, which, "fps_damped", &damped, NAN, flat ? 2000 : NAN);
}

static void AddCase(snwBenchRows* rows, const Case* which)
{
    snwRigStage stage;
    snwRigStageDef def = {.character = which->name};
    Times times = {0};
    int frame = 0;
    rows->result = snwRigStage_Open(&stage, &def, rows->message);
    if (rows->result < 0)
        return;
    for (; frame < snw_warmFrames && rows->result >= 0; ++frame)
    {
        Drag(&stage, frame);
        rows->result = snwRigStage_Step(&stage, rows->message);
    }
    for (int i = 0; i < rows->options->runs && rows->result >= 0; ++i)
    {
        rows->result = MeasureRun(&stage, &frame, &times, rows->message);
        if (rows->result >= 0)
            rows->result = MeasureDamped(&stage, &frame, &times, rows->message);
    }
    if (rows->result >= 0)
        AddRows(rows, which, &stage, &times);
    snwRigStage_Close(&stage);
}

void snwAddRigpbdTable(snwBenchRows* rows)
{
    for (size_t i = 0; i < sizeof s_flat / sizeof *s_flat && rows->result >= 0; ++i)
        AddCase(rows, &s_flat[i]);
}

void snwAddRigpbdSolid(snwBenchRows* rows)
{
    for (size_t i = 0; i < sizeof s_solid / sizeof *s_solid && rows->result >= 0; ++i)
        AddCase(rows, &s_solid[i]);
}
