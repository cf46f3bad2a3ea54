// Contact problems as they come: how long making and solving one takes, what is left of it, and whether the start
// matters. A run is repeated, and of every step the least time of the processor counts: machines
// have other work to do.

#include "softcontact_bench.h"

#include "base/context.h"
#include "base/result.h"
#include "softcontact_shake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_replays = 3,
    snw_warmSteps = 20,
    snw_startProblems = 200, // of Fig. 8
};

typedef struct Kind
{
    const char* name;
    int contacts;
    bool rigid;
    double compliance;              // as snwShakeDef has it
    int steps, fullSteps;           // that are timed
    double warm, cold;              // ms, targets; NAN: none
    double median, worst, failures; // targets of residuals, and the part that may be left
} Kind;

static const Kind s_kinds[] = {
    {"soft 20", 20, false, 1e-3, 1000, 1000, 0.1, 0.25, 1e-8, 1e-6, 0.001},
    {"soft 40", 40, false, 1e-3, 500, 1000, 0.4, NAN, 1e-8, 1e-6, 0.001},
    {"soft 100", 100, false, 1e-3, 150, 1000, 4, NAN, 1e-8, 1e-6, 0.001},
    {"rigid 20, 1e-3 of W", 20, true, 1e-3, 1000, 1000, NAN, NAN, NAN, 1e-5, 0.01},
    {"rigid 20, 2e6 N/m", 20, true, 0, 1000, 1000, NAN, NAN, NAN, 1e-5, 0.01},
    {"rigid 40, 1e-3 of W", 40, true, 1e-3, 500, 1000, NAN, NAN, NAN, 1e-5, 0.01},
};

// What a run of so many steps with all contacts shows.
typedef struct Times
{
    int count;
    double *ms, *residuals;
    long problems, failures; // those with fewer contacts, too
} Times;

static snwShakeDef DefOf(const Kind* kind)
{
    snwShakeDef def = snwShake_DefaultDef(kind->contacts);
    def.rigid = kind->rigid, def.compliance = kind->compliance;
    return def;
}

// Steps with all contacts are counted until there are `most` of them, or ten times as many steps.
static snwResult PlayOnce(
    snwContext* context, const snwShakeDef* def, int contacts, int most, bool first, Times* times, snwMessage* message)
{
    snwShake* shake = malloc(sizeof *shake);
    if (shake == NULL)
        return snwFailMemory(message);
    snwResult result = snwShake_Open(shake, context, def, message);
    int at = 0;
    for (int i = 0; i < 10 * most && at < most && result == snw_ok; ++i)
    {
        double before = shake->stage.world.problemTime;
        result = snwShake_Step(shake, message);
        double ms = 1e3 * (shake->stage.world.problemTime - before);
        if (i < snw_warmSteps || shake->stage.world.contactCount != contacts)
            continue;
        times->ms[at] = first ? ms : fmin(ms, times->ms[at]);
        times->residuals[at++] = shake->stage.world.report.residual;
    }
    times->count = at, times->problems = shake->stage.world.problems, times->failures = shake->stage.world.failures;
    snwShake_Close(shake);
    free(shake);
    return result;
}

static snwResult Play(
    snwContext* context, const snwShakeDef* def, int contacts, int most, Times* times, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int replay = 0; replay < snw_replays && result == snw_ok; ++replay)
        result = PlayOnce(context, def, contacts, most, replay == 0, times, message);
    return result;
}

static void AddRow(
    snwBenchRows* rows, const Kind* kind, const char* what, const char* metric, double value, int n, double target)
{
    char name[48];
    snprintf(name, sizeof name, "%s, %s", kind->name, what);
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", metric);
    row.value = value, row.n = n;
    if (isfinite(target))
        snwBenchRow_SetTarget(&row, "<=", target);
    if (!isfinite(value))
        snprintf(row.note, sizeof row.note, "no step had all contacts");
    snwBenchRows_Add(rows, &row);
}

static void AddKind(snwBenchRows* rows, snwContext* context, const Kind* kind)
{
    int most = rows->options->full ? kind->fullSteps : kind->steps;
    Times times = {.ms = malloc((size_t)most * sizeof(double)), .residuals = malloc((size_t)most * sizeof(double))};
    snwShakeDef def = DefOf(kind);
    snwResult result = times.ms != NULL && times.residuals != NULL ? snw_ok : snwFailMemory(rows->message);
    for (int cold = 0; cold < 2 && result == snw_ok; ++cold)
    {
        def.start = cold ? snw_coulombZero : snw_coulombWarm;
        result = Play(context, &def, kind->contacts, most, &times, rows->message);
        int n = times.count;
        if (result != snw_ok)
            break;
        double ms = snwMedian(times.ms, n), residual = snwMedian(times.residuals, n); // and they are sorted
        AddRow(rows, kind, cold ? "cold" : "warm", "lcp_ms", ms, n, cold ? kind->cold : kind->warm);
        AddRow(rows, kind, cold ? "cold, worst" : "warm, worst", "lcp_ms", n > 0 ? times.ms[n - 1] : NAN, n, NAN);
        if (cold)
            continue;
        AddRow(rows, kind, "median", "lcp_residual", residual, n, kind->median);
        AddRow(rows, kind, "worst", "lcp_residual", n > 0 ? times.residuals[n - 1] : NAN, n, kind->worst);
    }
    free(times.ms), free(times.residuals);
    rows->result = rows->result == snw_ok ? result : rows->result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Failures, of many

typedef struct Many
{
    long problems, failures;
    double worst;
} Many;

static snwResult Count(snwContext* context, const snwShakeDef* def, long problems, Many* many, snwMessage* message)
{
    snwShake* shake = malloc(sizeof *shake);
    if (shake == NULL)
        return snwFailMemory(message);
    snwResult result = snwShake_Open(shake, context, def, message);
    while (result == snw_ok && shake->stage.world.problems < problems && shake->step < 10 * problems)
    {
        result = snwShake_Step(shake, message);
        many->worst = fmax(many->worst, shake->stage.world.report.residual);
    }
    many->problems += shake->stage.world.problems, many->failures += shake->stage.world.failures;
    snwShake_Close(shake);
    free(shake);
    return result;
}

typedef struct Family
{
    const char* name;
    bool rigid;
    double compliances[2];
    double failures, worst; // targets
} Family;

// Hard points that say the same are the harder the less they yield.
static const Family s_families[] = {
    {"soft", false, {1e-3, 1e-3}, 0.001, 1e-6},
    {"rigid, 1e-3 of W or 2e6 N/m", true, {1e-3, 0}, 0.01, 1e-5},
    {"rigid, 1e-4 of W", true, {1e-4, 1e-4}, 0.01, 1e-5},
};

// 10^5 of each family if all is asked for: several steps, numbers of contacts and stiffnesses or compliances.
static void AddFailures(snwBenchRows* rows, snwContext* context, const Family* family)
{
    static const double stiffness[] = {1e3, 1e4, 1e5}, steps[] = {0.001, 0.004, 0.008};
    char name[48];
    snprintf(name, sizeof name, "%s, of many", family->name);
    if (!snwBenchRows_Wants(rows, name, "softcontact"))
        return;
    Many many = {0};
    long each = rows->options->full ? 100000 / 18 + 1 : 300;
    snwResult result = snw_ok;
    for (int i = 0; i < 18 && result == snw_ok; ++i)
    {
        snwShakeDef def = snwShake_DefaultDef(i % 2 == 0 ? 20 : 40);
        def.rigid = family->rigid, def.stiffness = stiffness[i / 2 % 3], def.h = steps[i / 6];
        def.seed = (uint64_t)i + 11, def.compliance = family->compliances[i / 2 % 2];
        result = Count(context, &def, each, &many, rows->message);
    }
    rows->result = rows->result == snw_ok ? result : rows->result;
    Kind kind = {.name = family->name};
    double part = many.problems > 0 ? (double)many.failures / (double)many.problems : NAN;
    AddRow(rows, &kind, "of many", "lcp_failures", part, (int)many.problems, family->failures);
    AddRow(rows, &kind, "worst of many", "lcp_residual", many.worst, (int)many.problems, family->worst);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fig. 8: does the start matter?

static void AddStarts(snwBenchRows* rows, snwContext* context)
{
    static const snwCoulombStart starts[] = {snw_coulombWarm, snw_coulombZero, snw_coulombOnes, snw_coulombRandom};
    static const char* const names[] = {"warm", "zero", "ones", "random"};
    if (!snwBenchRows_Wants(rows, "soft 20, any start", "softcontact"))
        return;
    snwKeptProblems kept;
    snwKeptProblems_Init(&kept, snw_startProblems, 0);
    snwShakeDef def = snwShake_DefaultDef(20);
    rows->result = snwKeptProblems_Fill(&kept, context, &def, rows->message);
    snwBenchFigure* figure = snwBenchReport_AddFigure(rows->report, "fig8", "Contact forces from four starts (Fig. 8)");
    if (figure != NULL)
    {
        snprintf(figure->xLabel, sizeof figure->xLabel, "s");
        snprintf(figure->yLabel, sizeof figure->yLabel, "N");
    }
    double spread = 0, largest = 0, forces[4][snw_startProblems] = {{0}};
    for (int s = 0; s < 4; ++s)
    {
        snwBenchCurve* curve = snwBenchFigure_AddCurve(figure, snw_curveOurs, names[s]);
        for (int p = 0; p < kept.count; ++p)
        {
            snwKeptProblems_Solve(&kept, p, starts[s], (uint64_t)p + 1);
            forces[s][p] = snwKeptProblem_Force(&kept.problems[p]) / def.h;
            largest = fmax(largest, forces[s][p]);
            spread = fmax(spread, fabs(forces[s][p] - forces[0][p]));
            snwBenchCurve_Add(curve, p * def.h, forces[s][p]);
        }
    }
    Kind kind = {.name = "soft 20"};
    AddRow(rows, &kind, "any start", "lcp_start_spread", spread / largest, kept.count, 1e-6);
    snwKeptProblems_Free(&kept);
}

void snwAddSoftProblems(snwBenchRows* rows)
{
    snwContextDef contextDef = snwDefaultContextDef();
    snwContext* context = NULL;
    contextDef.threadCount = 1;
    rows->result = snwCreateContext(&contextDef, &context, rows->message);
    for (size_t i = 0; i < sizeof s_kinds / sizeof *s_kinds && rows->result == snw_ok; ++i)
        if (snwBenchRows_Wants(rows, s_kinds[i].name, "softcontact"))
            AddKind(rows, context, &s_kinds[i]);
    for (size_t i = 0; i < sizeof s_families / sizeof *s_families && rows->result == snw_ok; ++i)
        AddFailures(rows, context, &s_families[i]);
    AddStarts(rows, context);
    snwDestroyContext(context);
}
