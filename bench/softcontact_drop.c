// Fig. 9 of the paper: a box is dropped, hard and soft, on complementarity and on penalty springs. And at the
// stiffnesses and steps that the paper names, by implicit and explicit springs.

#include "softcontact_bench.h"

#include "base/context.h"
#include "base/result.h"
#include "softcontact_stage.h"

#include <math.h>
#include <stdlib.h>

static const double s_half = 0.1, s_mass = 4, s_fall = 0.5; // m, kg, m

typedef struct Drop
{
    const char* name;
    double stiffness, h; // k_m in N/m; s
    bool rigid, penalty, isExplicit;
    double spring, damper;        // of penalty
    double time;                  // s; 0: three
    int cells;                    // along each side; 0: four
    double tilt;                  // rad
    const char *bounceOp, *curve; // of its target; NULL: none
    double bounce;
} Drop;

// Contact lasts as long for penalty and complementarity where the box is soft.
static const Drop s_drops[] = {
    {.name = "hard", .h = 0.0005, .rigid = true, .bounceOp = "<=", .bounce = 0.01, .curve = "complementarity, hard"},
    {.name = "hard, penalty",
        .h = 0.0005,
        .rigid = true,
        .penalty = true,
        .spring = 1e5,
        .damper = 20,
        .bounceOp = ">=",
        .bounce = 0.2,
        .curve = "penalty, hard"},
    {.name = "soft", .h = 0.0005, .stiffness = 1e3, .curve = "complementarity, soft"},
    {.name = "soft, penalty",
        .h = 0.0005,
        .rigid = true,
        .penalty = true,
        .spring = 6400,
        .damper = 16,
        .curve = "penalty, soft"},
    {.name = "soft, 4 ms", .h = 0.004, .stiffness = 1e4, .tilt = 0.4},
    {.name = "k_e 600, 4 ms", .h = 0.004, .stiffness = 1e3, .tilt = 0.2},
    {.name = "k_v 4000, k_e 6000, 8.3 ms", .h = 0.0083, .stiffness = 1e4, .tilt = 0.2},
    {.name = "20 x as stiff, 8 ms", .h = 0.008, .stiffness = 2e5, .tilt = 0.2},
};

typedef struct Fall
{
    double deepest, rebound, speed; // m, m, m/s at the end
    double duration, force;         // s from the first contact until the bone comes down no more, N at its highest
    long failures;
} Fall;

static snwResult Play(snwContext* context, const Drop* drop, snwBenchCurve* curve, Fall* fall, snwMessage* message)
{
    snwSkinBox* box = malloc(sizeof *box);
    snwSoftStage* stage = malloc(sizeof *stage);
    snwResult result = box != NULL && stage != NULL ? snw_ok : snwFailMemory(message);
    *fall = (Fall){0};
    if (box != NULL && stage != NULL)
    {
        snwSkinBox_Make(box, &(snwSkinBoxDef){{0, 0, 0}, {s_half, s_half, s_half}, s_mass, drop->stiffness, 0.6,
                                 {drop->cells, drop->cells, drop->cells}});
        snwSoftStage_Begin(stage, context, 0.5, (snwVec3){0, 0, 1}, 0);
        result = snwSoftStage_AddBox(stage, box, message);
        if (result == snw_ok)
            result = snwSoftStage_Open(stage, 200, message);
        snwSoftSettings* settings = &stage->settings;
        settings->h = drop->h, settings->rigid = drop->rigid, settings->penalty = drop->penalty;
        settings->implicit = !drop->isExplicit;
        settings->penaltyStiffness = drop->spring, settings->penaltyDamping = drop->damper;
        snwSoftBody* body = stage->bodies;
        if (result == snw_ok)
        {
            body->poses[0].turn = snwQuat_FromRotationVector((snwVec3){drop->tilt, 0, drop->tilt});
            snwSoftBody_Look(body);
            body->poses[0].shift.y = s_fall - snwSoftStage_Lowest(body);
            snwSoftBody_Look(body);
        }
        bool touched = false, back = false;
        for (int i = 0; i * drop->h < (drop->time > 0 ? drop->time : 3) && result == snw_ok; ++i)
        {
            result = snwSoftStage_Step(stage, 1, message);
            double force = snwSoftStage_ForceAlong(stage, (snwVec3){0, 1, 0}), lowest = snwSoftStage_Lowest(body);
            touched = touched || force > 0;
            back = back || (touched && body->u[1] >= 0);
            fall->duration += touched && !back ? drop->h : 0;
            fall->deepest = fmax(fall->deepest, -lowest), fall->force = fmax(fall->force, force);
            fall->rebound = touched ? fmax(fall->rebound, lowest) : 0;
            if (i * drop->h > 0.315 && i * drop->h < 0.345)
                snwBenchCurve_Add(curve, i * drop->h, force);
        }
        if (result == snw_ok)
            for (int k = 0; k < 3; ++k)
                fall->speed = fmax(fall->speed, fabs(body->u[k]));
        fall->failures = stage->world.failures;
        snwSoftStage_Close(stage);
    }
    free(box), free(stage);
    return result;
}

static void AddDrop(snwBenchRows* rows, snwContext* context, snwBenchFigure* figure, const Drop* drop)
{
    char name[48];
    snprintf(name, sizeof name, "drop, %s", drop->name);
    if (!snwBenchRows_Wants(rows, name, "softcontact"))
        return;
    Fall fall;
    snwBenchCurve* curve = drop->curve == NULL ? NULL : snwBenchFigure_AddCurve(figure, snw_curveOurs, drop->curve);
    rows->result = Play(context, drop, curve, &fall, rows->message);
    if (rows->result != snw_ok)
        return;
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", "bounce_height");
    row.value = fall.rebound / s_fall, row.n = 1;
    if (drop->bounceOp != NULL)
        snwBenchRow_SetTarget(&row, drop->bounceOp, drop->bounce);
    snprintf(row.note, sizeof row.note, "stopped within %.1f ms, at most %.0f N", 1e3 * fall.duration, fall.force);
    snwBenchRows_Add(rows, &row);
    row = snwMakeBenchRow(name, "softcontact", "penetration");
    row.value = fall.deepest / (2 * s_half), row.n = 1;
    if (!drop->penalty)
        snwBenchRow_SetTarget(&row, "<=", 1e-4);
    snwBenchRows_Add(rows, &row);
    row = snwMakeBenchRow(name, "softcontact", "rest_speed");
    row.value = fall.speed, row.n = 1;
    if (!drop->penalty)
        snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snprintf(row.note, sizeof row.note, "after 3 s");
    snwBenchRows_Add(rows, &row);
}

// The longest step at which a soft box lies still, by implicit springs and by explicit ones. With dampers of a tenth of
// k_m explicit ones leave a point of mass m two m / c.
static void AddLongestStep(snwBenchRows* rows, snwContext* context, bool isExplicit)
{
    static const double steps[] = {
        0.02, 0.016, 0.012, 0.0083, 0.004, 0.002, 0.001, 0.0005, 0.00025, 0.000125, 6e-5, 3e-5, 1.5e-5};
    const char* name = isExplicit ? "k_m 1e4, explicit" : "k_m 1e4, implicit";
    if (!snwBenchRows_Wants(rows, name, "softcontact"))
        return;
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", "stable_step");
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !isfinite(row.value); ++i)
    {
        Fall fall;
        Drop drop = {.h = steps[i], .stiffness = 1e4, .tilt = 0.2, .isExplicit = isExplicit, .cells = 2, .time = 1};
        snwMessage message;
        snwResult result = Play(context, &drop, NULL, &fall, &message);
        if (result == snw_ok && fall.speed < 1e-3 && fall.rebound < 0.1 * s_fall && fall.deepest < 0.01 * s_half)
            row.value = 1e3 * steps[i];
    }
    row.n = 1;
    snprintf(row.note, sizeof row.note,
        "of 20, 16, 12, 8.3, 4 and halves of that; 26 points of 15 g with dampers of 1,000 N s/m");
    snwBenchRows_Add(rows, &row);
}

void snwAddSoftDrop(snwBenchRows* rows)
{
    snwContextDef contextDef = snwDefaultContextDef();
    snwContext* context = NULL;
    contextDef.threadCount = 1;
    rows->result = snwCreateContext(&contextDef, &context, rows->message);
    if (rows->result != snw_ok)
        return;
    snwBenchFigure* figure = snwBenchReport_AddFigure(rows->report, "fig9", "A box falls 0.5 m (Fig. 9)");
    if (figure != NULL)
    {
        snprintf(figure->xLabel, sizeof figure->xLabel, "s");
        snprintf(figure->yLabel, sizeof figure->yLabel, "contact force, N");
    }
    for (size_t i = 0; i < sizeof s_drops / sizeof *s_drops && rows->result == snw_ok; ++i)
        AddDrop(rows, context, figure, &s_drops[i]);
    AddLongestStep(rows, context, false);
    AddLongestStep(rows, context, true);
    snwDestroyContext(context);
}
