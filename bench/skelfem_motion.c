// What the method's motion keeps and how exact it is: order of its rules, energy of a body that tumbles, momentum, free
// fall, the weight on what is held, bars against beam theory. Small bodies; Newton's steps go on until nothing moves.

#include "skelfem_bench.h"

#include "skelfem_play.h"

#include "math/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int s_small[3] = {8, 2, 2};

// Settles the variant's rule among its settings.
static void SetRule(snwSkelfemPlayDef* def, snwSkelfemRule rule)
{
    def->settings[0] = (snwSetting){"skelfem.rule", rule};
    memcpy(def->settings + 1, snwSkelfemConverged, sizeof snwSkelfemConverged);
}

static const char* const s_rules[] = {"euler", "bdf2", "newmark"};

// ---------------------------------------------------------------------------------------------------------------------
// Order

// Where a bar is that begins to hang and is pushed, after so many steps of `seconds` in all.
static snwResult PlayBar(
    const snwFemBody* body, snwSkelfemRule rule, int steps, double seconds, snwVec3* x, snwMessage* message)
{
    snwSkelfemPlay play;
    snwSkelfemPlayDef def = snwDefaultSkelfemPlayDef(body);
    SetRule(&def, rule);
    def.young = 2e4; // its end swings by half of its length, with large turns
    snwResult result = snwSkelfemPlay_Open(&play, &def, message);
    if (result < 0)
        return result;
    result = snwSkelfemPlay_Step(&play, steps, seconds / steps, message);
    if (result >= 0)
        memcpy(x, snwSkelfemPlay_Body(&play)->state.positions, (size_t)body->vertexCount * sizeof *x);
    snwSkelfemPlay_Close(&play);
    return result;
}

static double LargestDifference(const snwVec3* a, const snwVec3* b, int count)
{
    double most = 0;
    for (int i = 0; i < count; ++i)
        most = fmax(most, snwVec3_Distance(a[i], b[i]));
    return most;
}

static void AddOrder(snwBenchRows* rows, const snwFemBody* body, snwSkelfemRule rule, const char* metric)
{
    enum
    {
        snw_coarsest = 50
    };
    const double seconds = 0.2;
    size_t count = (size_t)body->vertexCount;
    snwVec3* x = calloc(3 * count, sizeof *x);
    if (x == NULL || rows->result < 0)
    {
        free(x);
        return;
    }
    for (int k = 0; k < 3 && rows->result >= 0; ++k)
        rows->result = PlayBar(body, rule, snw_coarsest << k, seconds, x + count * (size_t)k, rows->message);
    double coarse = LargestDifference(x, x + count, body->vertexCount),
           fine = LargestDifference(x + count, x + 2 * count, body->vertexCount);
    snwBenchRow row = snwMakeBenchRow("swinging bar", "skelfem", metric);
    row.value = log2(coarse / fine);
    row.n = 1;
    snwBenchRow_SetTarget(&row, ">=", rule == snw_ruleEuler ? 0.9 : 1.9);
    snprintf(row.note, sizeof row.note, "steps of %.3g, %.3g and %.3g ms differ by %.2g and %.2g m after %.2g s",
        1e3 * seconds / snw_coarsest, 5e2 * seconds / snw_coarsest, 2.5e2 * seconds / snw_coarsest, coarse, fine,
        seconds);
    snwBenchRows_Add(rows, &row);
    free(x);
}

// ---------------------------------------------------------------------------------------------------------------------
// Tumbling, falling

static void AddTumble(snwBenchRows* rows, const snwFemBody* body, snwSkelfemRule rule, double young, double h)
{
    enum
    {
        snw_tumbleSteps = 150
    };
    char name[48];
    snprintf(name, sizeof name, "tumbling, %s, E %.0e, %g ms", s_rules[rule], young, 1e3 * h);
    if (!snwBenchRows_Wants(rows, name, "skelfem"))
        return;
    snwSkelfemPlay play;
    snwSkelfemPlayDef def = snwDefaultSkelfemPlayDef(body);
    SetRule(&def, rule);
    def.young = young;
    def.held = -1;
    def.gravity = (snwVec3){0, 0, 0};
    def.velocity = (snwVec3){0.3, 0.2, 0.1};
    def.spin = (snwVec3){0.5, 0.7, 4};
    rows->result = snwSkelfemPlay_Open(&play, &def, rows->message);
    if (rows->result < 0)
        return;
    double start = snwSkelfemPlay_Energy(&play), end = start, peaks[2] = {0}, off = 0; // peaks: of both halves
    snwVec3 momentum = snwSkelfemPlay_Momentum(&play);
    for (int i = 0; i < snw_tumbleSteps && rows->result >= 0; ++i)
    {
        rows->result = snwSkelfemPlay_Step(&play, 1, h, rows->message);
        end = snwSkelfemPlay_Energy(&play);
        double* peak = &peaks[2 * i / snw_tumbleSteps];
        *peak = fmax(*peak, end);
        off = fmax(off, snwVec3_Distance(momentum, snwSkelfemPlay_Momentum(&play)));
    }
    snwSkelfemPlay_Close(&play);

    snwBenchRow row = snwMakeBenchRow(name, "skelfem", "tumble_growth");
    row.value = pow(peaks[1] / peaks[0], 2.0 / snw_tumbleSteps);
    row.n = 1;
    if (rule != snw_ruleNewmark)
        snwBenchRow_SetTarget(&row, "<=", 1);
    snprintf(row.note, sizeof row.note, "energy at its most %.6f, at the end %.6f of the start's",
        fmax(peaks[0], peaks[1]) / start, end / start);
    snwBenchRows_Add(rows, &row);
    row = snwMakeBenchRow(name, "skelfem", "momentum_err");
    row.value = off / snwVec3_Length(momentum);
    row.n = 1;
    if (rule != snw_ruleNewmark)
        snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snwBenchRows_Add(rows, &row);
}

// All rules give what falls h g in each step, exactly.
static void AddFall(snwBenchRows* rows, const snwFemBody* body, snwSkelfemRule rule)
{
    enum
    {
        snw_fallSteps = 50
    };
    const double h = 0.02;
    char name[48];
    snprintf(name, sizeof name, "free fall, %s", s_rules[rule]);
    if (!snwBenchRows_Wants(rows, name, "skelfem"))
        return;
    snwSkelfemPlay play;
    snwSkelfemPlayDef def = snwDefaultSkelfemPlayDef(body);
    SetRule(&def, rule);
    def.held = -1;
    rows->result = snwSkelfemPlay_Open(&play, &def, rows->message);
    if (rows->result < 0)
        return;
    const snwSkelfemBody* made = snwSkelfemPlay_Body(&play);
    rows->result = snwSkelfemPlay_Step(&play, snw_fallSteps, h, rows->message);
    double speed = 9.81 * h * snw_fallSteps, off = 0;
    for (int i = 0; i < body->vertexCount; ++i)
        off = fmax(off, snwVec3_Distance(made->state.velocities[i], (snwVec3){0, -speed, 0}));
    snwSkelfemPlay_Close(&play);
    snwBenchRow row = snwMakeBenchRow(name, "skelfem", "free_fall_err");
    row.value = off / speed;
    row.n = 1;
    snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snprintf(row.note, sizeof row.note, "after %g s", h * snw_fallSteps);
    snwBenchRows_Add(rows, &row);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bars that hang

static int TipOf(const int cells[3])
{
    return (cells[0] * (cells[1] + 1) + cells[1] / 2) * (cells[2] + 1) + cells[2] / 2;
}

// Comes to rest: long steps of the rule that damps.
static snwResult Hang(snwSkelfemPlay* play, const snwFemBody* body, double gravity, snwMessage* message)
{
    enum
    {
        snw_hangSteps = 4
    };
    snwSkelfemPlayDef def = snwDefaultSkelfemPlayDef(body);
    SetRule(&def, snw_ruleEuler);
    def.gravity.y = -gravity;
    snwResult result = snwSkelfemPlay_Open(play, &def, message);
    return result < 0 ? result : snwSkelfemPlay_Step(play, snw_hangSteps, 50, message);
}

static void AddWeight(snwBenchRows* rows, const snwFemBody* body)
{
    const double gravity = 9.81;
    snwSkelfemPlay play;
    if (!snwBenchRows_Wants(rows, "hanging bar", "skelfem"))
        return;
    rows->result = Hang(&play, body, gravity, rows->message);
    if (rows->result < 0)
        return;
    const snwSkelfemBody* made = snwSkelfemPlay_Body(&play);
    double weight = 0;
    for (int i = 0; i < body->vertexCount; ++i)
        weight += made->held[i] ? 0 : gravity * made->masses[i];
    snwVec3 held = made->tally.held;
    snwSkelfemPlay_Close(&play);
    snwBenchRow row = snwMakeBenchRow("hanging bar", "skelfem", "held_weight_err");
    row.value = snwVec3_Length(snwVec3_Sub(held, (snwVec3){0, weight, 0})) / weight;
    row.n = 1;
    snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snprintf(row.note, sizeof row.note, "flesh weighs %.6g N", weight);
    snwBenchRows_Add(rows, &row);
}

// What a mesh of size e says is off by C e^p; with p = 2, as linear elements have it, two meshes give the limit.
static double Limit(const double values[2])
{
    return (4 * values[1] - values[0]) / 3;
}

static const double s_young = 1e6, s_poisson = 0.3, s_density = 1000, s_width = 0.125;

// Of a bar of one metre under its weight: bending, and what shear adds.
static double BeamTip(double gravity)
{
    double shear = s_young / (2 * (1 + s_poisson)), kappa = 10 * (1 + s_poisson) / (12 + 11 * s_poisson);
    return s_density * gravity * (12 / (8 * s_young * s_width * s_width) + 1 / (2 * kappa * shear));
}

// Of Timoshenko's beam of one metre, held at x = 0 and shaken with a frequency: what is left of force and moment at its
// end, as a determinant over the two ways in which it can begin. Zero at a frequency of its own.
static double EndOfBeam(double omega)
{
    enum
    {
        snw_parts = 400
    };
    double area = s_width * s_width, bend = s_young * area * area / 12, turning = s_density * area * area / 12;
    double kappa = 10 * (1 + s_poisson) / (12 + 11 * s_poisson), shear = kappa * area * s_young / (2 * (1 + s_poisson));
    double ends[2][2];
    for (int begin = 0; begin < 2; ++begin)
    {
        double y[4] = {0, 0, begin == 0, begin == 1}, h = 1.0 / snw_parts; // way, turn, moment, force
        for (int i = 0; i < snw_parts; ++i)
        {
            double slope[4][4], at[4];
            for (int stage = 0; stage < 4; ++stage) // Runge and Kutta
            {
                double share = stage == 0 ? 0 : stage == 3 ? h : 0.5 * h;
                for (int k = 0; k < 4; ++k)
                    at[k] = y[k] + (stage > 0 ? share * slope[stage - 1][k] : 0);
                slope[stage][0] = at[1] + at[3] / shear;
                slope[stage][1] = at[2] / bend;
                slope[stage][2] = -at[3] - turning * omega * omega * at[1];
                slope[stage][3] = -s_density * area * omega * omega * at[0];
            }
            for (int k = 0; k < 4; ++k)
                y[k] += h / 6 * (slope[0][k] + 2 * slope[1][k] + 2 * slope[2][k] + slope[3][k]);
        }
        ends[begin][0] = y[2], ends[begin][1] = y[3];
    }
    return ends[0][0] * ends[1][1] - ends[0][1] * ends[1][0];
}

// Hz
static double BeamFrequency(void)
{
    double root = 1.8751040687, high = root * root * s_width * sqrt(s_young / (12 * s_density)), low = 0.5 * high;
    bool sign = EndOfBeam(low) > 0;
    for (int i = 0; i < 60; ++i)
    {
        double middle = 0.5 * (low + high);
        *(sign == (EndOfBeam(middle) > 0) ? &low : &high) = middle;
    }
    return low / (2 * SNW_PI);
}

// The first shape of a beam that is held at x = 0.
static double BeamShape(double x)
{
    const double root = 1.8751040687, share = 0.7340955;
    double a = root * x;
    return cosh(a) - cos(a) - share * (sinh(a) - sin(a));
}

// How much of the first shape there is in where a bar is.
static double ShareOfShape(const snwSkelfemPlay* play, const snwFemBody* body)
{
    const snwSkelfemBody* made = snwSkelfemPlay_Body(play);
    double sum = 0, all = 0;
    for (int i = 0; i < body->vertexCount; ++i)
    {
        double shape = BeamShape(body->rest[i].x);
        sum += made->masses[i] * shape * (made->state.positions[i].y - body->rest[i].y);
        all += made->masses[i] * shape * shape;
    }
    return sum / all;
}

// Hz: from when a bar that begins to hang passes the middle on its way down until it does so again; it is let hang at
// `gravity`, where it comes to rest with a share `middle`.
static snwResult FindFrequency(
    const snwFemBody* body, double gravity, double middle, double* frequency, snwMessage* message)
{
    snwSkelfemPlay play;
    snwSkelfemPlayDef def = snwDefaultSkelfemPlayDef(body);
    const double h = 0.01;
    SetRule(&def, snw_ruleBdf2);
    def.settings[2] = (snwSetting){"skelfem.tolerance", 1e-4};
    def.gravity.y = -gravity;
    snwResult result = snwSkelfemPlay_Open(&play, &def, message);
    if (result < 0)
        return result;
    double before = 0, first = NAN;
    *frequency = NAN;
    for (int i = 1; i <= 300 && result >= 0 && isnan(*frequency); ++i)
    {
        result = snwSkelfemPlay_Step(&play, 1, h, message);
        double now = ShareOfShape(&play, body);
        if (before > middle && now <= middle)
        {
            double time = h * (i - (middle - now) / (before - now));
            if (isnan(first))
                first = time;
            else
                *frequency = 1 / (time - first);
        }
        before = now;
    }
    snwSkelfemPlay_Close(&play);
    return result;
}

static void AddBeams(snwBenchRows* rows)
{
    static const int sizes[3][3] = {{32, 4, 4}, {64, 8, 8}, {128, 16, 16}};
    const double gravity = 0.0981;
    double tips[3] = {0}, squares[2] = {0};
    for (int k = 0; k < 3 && rows->result >= 0; ++k)
    {
        snwFemBody body = {0};
        snwSkelfemPlay play = {0};
        double middle = 0, frequency = 0;
        rows->result = snwFemBody_MakeBar(&body, sizes[k], 0, rows->message);
        if (rows->result >= 0)
            rows->result = Hang(&play, &body, gravity, rows->message);
        if (rows->result >= 0)
        {
            int tip = TipOf(sizes[k]);
            tips[k] = body.rest[tip].y - snwSkelfemPlay_Body(&play)->state.positions[tip].y;
            middle = ShareOfShape(&play, &body);
            snwSkelfemPlay_Close(&play);
        }
        if (rows->result >= 0 && k < 2) // two are enough
        {
            rows->result = FindFrequency(&body, gravity, middle, &frequency, rows->message);
            squares[k] = frequency * frequency;
        }
        snwFemBody_Free(&body);
    }

    double beam = BeamTip(gravity), limit = Limit(tips + 1);
    snwBenchRow row = snwMakeBenchRow("bar under g / 100", "skelfem", "beam_tip_err");
    row.value = fabs(limit / beam - 1);
    row.n = 1;
    snwBenchRow_SetTarget(&row, "<=", 0.02);
    snprintf(row.note, sizeof row.note,
        "3,072 tets %.4g mm, 24,576 %.4g, 196,608 %.4g, limit of the last two %.4g; Timoshenko's beam %.4g mm",
        1e3 * tips[0], 1e3 * tips[1], 1e3 * tips[2], 1e3 * limit, 1e3 * beam);
    snwBenchRows_Add(rows, &row);

    beam = BeamFrequency(), limit = sqrt(Limit(squares));
    row = snwMakeBenchRow("bar under g / 100", "skelfem", "beam_frequency_err");
    row.value = fabs(limit / beam - 1);
    row.n = 1;
    snwBenchRow_SetTarget(&row, "<=", 0.02);
    snprintf(row.note, sizeof row.note,
        "3,072 tets %.4g Hz, 24,576 %.4g Hz, their limit %.4g Hz; Timoshenko's beam %.4g Hz", sqrt(squares[0]),
        sqrt(squares[1]), limit, beam);
    snwBenchRows_Add(rows, &row);
}

// ---------------------------------------------------------------------------------------------------------------------
// Patch

static snwVec3 Stretched(snwVec3 x)
{
    return (snwVec3){1.3 * x.x - 0.4 * x.y + 0.1 * x.z, 0.5 * x.x + 0.9 * x.y, -0.2 * x.x + 0.3 * x.y + 1.1 * x.z};
}

static bool IsOutside(const int cells[3], int vertex)
{
    int points[2] = {cells[1] + 1, cells[2] + 1};
    int at[3] = {vertex / (points[0] * points[1]), vertex / points[1] % points[0], vertex % points[1]};
    return at[0] == 0 || at[0] == cells[0] || at[1] == 0 || at[1] == cells[1] || at[2] == 0 || at[2] == cells[2];
}

// Vertices inside of an uneven mesh are pulled at from all sides alike, if it is stretched, sheared and turned evenly:
// the largest force that is left on one of them, of the largest on the outside.
static void AddPatch(snwBenchRows* rows)
{
    static const int cells[3] = {6, 4, 4};
    snwFemBody body = {0};
    snwSkelfemPlay play = {0};
    if (!snwBenchRows_Wants(rows, "patch", "skelfem"))
        return;
    rows->result = snwFemBody_MakeBar(&body, cells, 0.4, rows->message);
    snwSkelfemPlayDef def = snwDefaultSkelfemPlayDef(&body);
    if (rows->result >= 0)
        rows->result = snwSkelfemPlay_Open(&play, &def, rows->message);
    if (rows->result >= 0) // sets materials, too
        rows->result = snwSkelfemPlay_Step(&play, 1, 0.01, rows->message);
    if (rows->result >= 0)
    {
        const snwSkelfemBody* made = snwSkelfemPlay_Body(&play);
        double inside = 0, outside = 0;
        for (int i = 0; i < body.vertexCount; ++i)
            made->state.positions[i] = Stretched(body.rest[i]);
        snwElasticity_Begin(made->elasticity, made->state.positions, 0);
        snwElasticity_Evaluate(made->elasticity, made->state.positions, made->state.rotations);
        memset(made->gradient, 0, (size_t)body.vertexCount * sizeof *made->gradient);
        snwElasticity_AddGradient(made->elasticity, made->gradient);
        for (int i = 0; i < body.vertexCount; ++i)
        {
            double* most = IsOutside(cells, i) ? &outside : &inside;
            *most = fmax(*most, snwVec3_Length(made->gradient[i]));
        }
        snwBenchRow row = snwMakeBenchRow("patch", "skelfem", "patch_err");
        row.value = inside / outside;
        row.n = 1;
        snwBenchRow_SetTarget(&row, "<=", 1e-6);
        snprintf(row.note, sizeof row.note, "rotations are float, good to 1e-7");
        snwBenchRows_Add(rows, &row);
    }
    snwSkelfemPlay_Close(&play);
    snwFemBody_Free(&body);
}

// ---------------------------------------------------------------------------------------------------------------------

void snwAddSkelfemMotion(snwBenchRows* rows)
{
    static const double youngs[] = {1e4, 1e5, 1e6, 1e7, 1e8}, steps[] = {0.005, 0.02};
    snwFemBody body = {0};
    rows->result = snwFemBody_MakeBar(&body, s_small, 0, rows->message);
    if (snwBenchRows_Wants(rows, "swinging bar", "skelfem"))
    {
        AddOrder(rows, &body, snw_ruleEuler, "euler_order");
        AddOrder(rows, &body, snw_ruleBdf2, "bdf2_order");
        AddOrder(rows, &body, snw_ruleNewmark, "newmark_order");
    }
    for (int rule = snw_ruleEuler; rule <= snw_ruleNewmark; ++rule)
        for (int k = 0; k < 10; ++k)
            AddTumble(rows, &body, (snwSkelfemRule)rule, youngs[k / 2], steps[k % 2]);
    for (int rule = snw_ruleEuler; rule <= snw_ruleNewmark; ++rule)
        AddFall(rows, &body, (snwSkelfemRule)rule);
    AddWeight(rows, &body);
    snwFemBody_Free(&body);
    AddPatch(rows);
    if (snwBenchRows_Wants(rows, "bar under g / 100", "skelfem"))
        AddBeams(rows);
}
