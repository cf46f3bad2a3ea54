// Tables 3.2 to 3.4 of the thesis and its figures 3.7, 3.9 and 3.11.

#include "pbcd_bench.h"
#include "pbcd_tables.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

typedef struct Paper
{
    double sweeps, sweepMs, error;
} Paper;

typedef struct Table
{
    snwPbcdScenario (*make)(void);
    const char* about; // of the truth, for notes
    snwPbcdEnd end;
    int methods;
    bool analytic;       // the truth is; else Newton's method with the same step, and a run of fine steps
    snwPbcdVariant fine; // of the latter
    bool onceBdf2;       // PBD with BDF2 makes one sweep, as the thesis says: to the end it would be rigid
    bool wins;           // Gauss-Seidel shall beat every baseline
    Paper paper[snw_pbcdMethodCount];
} Table;

static const Table s_tables[] = {
    {.make = snwMakePbcdOscillator,
        .about = "both particles against the cosine",
        .end = {1e-6, 1000, 10},
        .methods = snw_pbcdMethodCount,
        .analytic = true,
        .onceBdf2 = true,
        .paper = {{5, 0.8, 2.682}, {1, 1.6, 2.664}, {1, 2.3, 0.887}, {5, 0.9, 2.087}, {5, 0.9, 2.087}, {NAN, NAN, NAN},
            {NAN, NAN, NAN}}},
    {.make = snwMakePbcdBeam,
        .about = "1.04 m, 180 vertices; thesis: larger",
        .end = {3e-6, 300, 5},
        .methods = snw_pbcdThesisMethods,
        .fine = {.solver = snw_pbcdSmpbd, .substeps = 64, .iterations = 8},
        .wins = true,
        .paper = {{14, 1.2, 2.950}, {1, 20.6, 0.294}, {5, 5.3, 2.870}, {10, 2.1, 0.142}, {15, 1.4, 0.159}}},
    {.make = snwMakePbcdJello,
        .about = "9.3 m, 3625 vertices, half as stiff along y, stuck to a plate as it lands",
        .end = {5e-6, 250, 0},
        .methods = snw_pbcdThesisMethods,
        .fine = {.solver = snw_pbcdSmpbd, .substeps = 40, .iterations = 10},
        .wins = true,
        .paper = {{35, 11.4, 4.155}, {1, 456.6, 2.121}, {31, 29.2, 1.790}, {35, 14.1, 0.342}, {NAN, 11.9, NAN}}},
};

// What a table is made of: everything has been run.
typedef struct Runs
{
    const Table* table;
    snwPbcdScenario scenario;
    snwPbcdTrack truth, fine;
    snwPbcdBest best[snw_pbcdMethodCount];
} Runs;

// ---------------------------------------------------------------------------------------------------------------------
// Running

static snwResult RunTruths(Runs* runs, snwMessage* message)
{
    if (runs->table->analytic)
        return snwMakePbcdOscillatorTrack(&runs->scenario, &runs->truth, message);
    const snwPbcdVariant newton = {.solver = snw_pbcdImplicit, .substeps = 1, .iterations = 40, .tolerance = 1e-6};
    snwResult result = snwPbcdScenario_Run(&runs->scenario, &newton, &runs->truth, message);
    return result < 0 ? result : snwPbcdScenario_Run(&runs->scenario, &runs->table->fine, &runs->fine, message);
}

static snwResult OpenRuns(Runs* runs, const Table* table, snwMessage* message)
{
    *runs = (Runs){.table = table, .scenario = table->make()};
    snwResult result = snwPbcdScenario_Open(&runs->scenario, message);
    if (result >= 0)
        result = RunTruths(runs, message);
    for (int i = 0; i < table->methods && result >= 0; ++i)
    {
        snwPbcdEnd end = table->end;
        end.most = table->onceBdf2 && i == snw_methodBdf2 ? 1 : end.most;
        result = snwPbcdScenario_RunBest(&runs->scenario, (snwPbcdMethod)i, end, &runs->truth, &runs->best[i], message);
    }
    return result;
}

static void CloseRuns(Runs* runs)
{
    snwPbcdTrack_Free(&runs->truth);
    snwPbcdTrack_Free(&runs->fine);
    for (int i = 0; i < snw_pbcdMethodCount; ++i)
        snwPbcdTrack_Free(&runs->best[i].track);
    snwPbcdScenario_Close(&runs->scenario);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

static snwBenchRow StartRow(const Runs* runs, snwPbcdMethod method, const char* metric)
{
    snwBenchRow row = snwMakeBenchRow(runs->scenario.name, snwPbcdMethod_Name(method), metric);
    row.n = 1;
    return row;
}

// As the thesis counts: all substeps of a frame are one iteration.
static void AddSpeed(snwBenchRows* rows, const Runs* runs, snwPbcdMethod method)
{
    const snwPbcdBest* best = &runs->best[method];
    bool substeps = method == snw_methodSubsteps;
    snwBenchRow ni = StartRow(runs, method, "ni"), ci = StartRow(runs, method, "ci");
    ni.value = best->track.diverged ? NAN : substeps ? 1 : best->track.sweeps;
    ni.paper = runs->table->paper[method].sweeps;
    if (best->track.diverged)
        snprintf(ni.note, sizeof ni.note, "infinite: diverges in frame %d%s", best->track.frames,
            isnan(runs->table->paper[method].sweeps) ? ", in the thesis too" : "");
    else if (runs->table->onceBdf2 && method == snw_methodBdf2)
        snprintf(ni.note, sizeof ni.note, "as in the thesis; to the end it would be rigid, whatever k");
    else if (substeps)
        snprintf(ni.note, sizeof ni.note, "%.0f substeps count as one", best->track.sweeps);
    else
        snprintf(ni.note, sizeof ni.note, "mean of %d frames, until nothing moves by %g sizes%s", best->track.frames,
            runs->table->end.tolerance, best->track.capped ? "; some frames end before that, at the most" : "");
    ci.value = substeps ? best->track.frameMs : best->track.sweepMs;
    ci.n = best->track.frames;
    ci.paper = runs->table->paper[method].sweepMs;
    snprintf(ci.note, sizeof ci.note, "1 thread, all of a step over its sweeps; thesis: 4 threads");
    snwBenchRows_Add(rows, &ni);
    snwBenchRows_Add(rows, &ci);
}

static void AddError(snwBenchRows* rows, const Runs* runs, snwPbcdMethod method, bool fine)
{
    const snwPbcdBest* best = &runs->best[method];
    snwBenchRow row = StartRow(runs, method, fine ? "ae_fine" : "ae");
    row.value = fine ? snwPbcdTrack_Error(&best->track, &runs->fine) : best->error;
    row.paper = fine ? NAN : runs->table->paper[method].error;
    if (!isfinite(row.value))
        snprintf(row.note, sizeof row.note, "infinite: diverges");
    else if (isfinite(best->stiffness))
        snprintf(row.note, sizeof row.note, "k = %g is the best; %s", best->stiffness, runs->table->about);
    else
        snprintf(row.note, sizeof row.note, "%s", runs->table->about);
    if (fine && isfinite(row.value))
        snprintf(row.note, sizeof row.note, "%d substeps a frame; Newton with 1 is %.3g m from it",
            runs->table->fine.substeps, snwPbcdTrack_Error(&runs->truth, &runs->fine));
    snwBenchRows_Add(rows, &row);
}

static void AddVerdict(snwBenchRows* rows, const Runs* runs)
{
    double least = INFINITY, own = runs->best[snw_methodSeidel].error;
    for (int i = snw_methodPbd; i <= snw_methodBdf2; ++i)
        least = fmin(least, runs->best[i].error);
    snwBenchRow row = StartRow(runs, snw_methodSeidel, "gs_beats_all");
    row.value = own < least;
    row.op = "==";
    row.target = 1;
    snprintf(row.note, sizeof row.note, "its error %.3g m, the least of the baselines %.3g m", own, least);
    snwBenchRows_Add(rows, &row);
}

static void AddRows(snwBenchRows* rows, const Runs* runs)
{
    for (int i = 0; i < runs->table->methods; ++i)
    {
        AddSpeed(rows, runs, (snwPbcdMethod)i);
        AddError(rows, runs, (snwPbcdMethod)i, false);
        if (!runs->table->analytic)
            AddError(rows, runs, (snwPbcdMethod)i, true);
    }
    if (runs->table->wins)
        AddVerdict(rows, runs);
}

// ---------------------------------------------------------------------------------------------------------------------
// Figures

// The vertex that is farthest along x at rest.
static int FindTip(const Runs* runs)
{
    const snwCharacterDef* def = &snwScene_GetDef(runs->scenario.file.scene)->bodies[0].character->def;
    int tip = 0;
    for (int i = 0; i < def->vertexCount; ++i)
        tip = def->vertices[i].x > def->vertices[tip].x ? i : tip;
    return tip;
}

typedef struct Curve
{
    snwCurveKind kind;
    const char* label;
    const snwPbcdTrack* track;
    int vertex, axis;
} Curve;

static void AddCurve(snwBenchFigure* figure, const Runs* runs, Curve curve)
{
    char label[64];
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < curve.track->frames; ++i)
    {
        snwVec3 x = snwPbcdTrack_At(curve.track, i, curve.vertex);
        low = fmin(low, curve.axis == 0 ? x.x : x.y);
        high = fmax(high, curve.axis == 0 ? x.x : x.y);
    }
    snprintf(label, sizeof label, "%s, range %.2f m", curve.label, high - low);
    snwBenchCurve* to = snwBenchFigure_AddCurve(figure, curve.kind, label);
    for (int i = 0; i < curve.track->frames; ++i)
    {
        snwVec3 x = snwPbcdTrack_At(curve.track, i, curve.vertex);
        snwBenchCurve_Add(to, (i + 1) / runs->scenario.rate, curve.axis == 0 ? x.x : x.y);
    }
}

static void DrawOscillator(snwBenchRows* rows, const Runs* runs)
{
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig3_7", "Oscillator: where the mass is (thesis, Fig. 3.7)");
    if (figure == NULL)
        return;
    snprintf(figure->xLabel, sizeof figure->xLabel, "time, s");
    snprintf(figure->yLabel, sizeof figure->yLabel, "position, m");
    AddCurve(figure, runs, (Curve){snw_curveReference, "analytic", &runs->truth, 1, 0});
    for (int i = 0; i < snw_pbcdMethodCount; ++i)
        AddCurve(
            figure, runs, (Curve){snw_curveOurs, snwPbcdMethod_Name((snwPbcdMethod)i), &runs->best[i].track, 1, 0});
}

// Beside the best PBD the stiffest: the more sweeps it makes, the more every other becomes like it.
static void DrawStiffest(snwBenchRows* rows, const Runs* runs, snwBenchFigure* figure, int tip)
{
    snwPbcdTrack track;
    snwPbcdVariant variant = snwPbcdMethod_Variant(snw_methodPbd, runs->table->end, 1);
    rows->result = snwPbcdScenario_Run(&runs->scenario, &variant, &track, rows->message);
    if (rows->result < 0)
        return;
    AddCurve(figure, runs, (Curve){snw_curveOurs, "PBD, k = 1", &track, tip, 1});
    snwPbcdTrack_Free(&track);
}

static void DrawBeam(snwBenchRows* rows, const Runs* runs)
{
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig3_9", "Beam: how far its tip swings (thesis, Fig. 3.9)");
    if (figure == NULL)
        return;
    int tip = FindTip(runs);
    snprintf(figure->xLabel, sizeof figure->xLabel, "time, s");
    snprintf(figure->yLabel, sizeof figure->yLabel, "height of the tip, m");
    AddCurve(figure, runs, (Curve){snw_curveReference, "Newton, same step", &runs->truth, tip, 1});
    const snwPbcdMethod shown[] = {snw_methodSeidel, snw_methodPbd, snw_methodSubsteps};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; ++i)
        AddCurve(
            figure, runs, (Curve){snw_curveOurs, snwPbcdMethod_Name(shown[i]), &runs->best[shown[i]].track, tip, 1});
    DrawStiffest(rows, runs, figure, tip);
}

static void AddTable(snwBenchRows* rows, const Table* table, void (*draw)(snwBenchRows* rows, const Runs* runs))
{
    Runs runs;
    rows->result = OpenRuns(&runs, table, rows->message);
    if (rows->result >= 0)
        AddRows(rows, &runs);
    if (rows->result >= 0 && draw != NULL)
        draw(rows, &runs);
    CloseRuns(&runs);
}

void snwAddPbcdOscillator(snwBenchRows* rows)
{
    AddTable(rows, &s_tables[0], DrawOscillator);
}

void snwAddPbcdBeam(snwBenchRows* rows)
{
    AddTable(rows, &s_tables[1], DrawBeam);
}

void snwAddPbcdJello(snwBenchRows* rows)
{
    AddTable(rows, &s_tables[2], NULL);
}

// ---------------------------------------------------------------------------------------------------------------------
// Stiffness against iterations

static const double s_sagStiffness = 0.1; // of PBD

typedef struct Sag
{
    double drop; // m, of the tip in the last frame
    bool failed; // it never came to rest
} Sag;

static snwResult MeasureSag(const Runs* runs, snwPbcdSolver solver, int iterations, Sag* sag, snwMessage* message)
{
    snwPbcdTrack track;
    int tip = FindTip(runs);
    snwPbcdVariant variant = {.solver = solver, .substeps = 1, .iterations = iterations, .stiffness = s_sagStiffness};
    if (solver == snw_pbcdImplicit)
        variant.tolerance = 1e-8;
    snwResult result = snwPbcdScenario_Run(&runs->scenario, &variant, &track, message);
    if (result < 0)
        return result;
    snwVec3 rest = snwScene_GetDef(runs->scenario.file.scene)->bodies[0].character->def.vertices[tip];
    sag->failed = track.diverged;
    sag->drop = track.diverged ? NAN : rest.y - snwPbcdTrack_At(&track, track.frames - 1, tip).y;
    snwPbcdTrack_Free(&track);
    return snw_ok;
}

static void AddSagRow(snwBenchRows* rows, snwPbcdSolver solver, const double drops[2], double truth)
{
    bool soft = solver == snw_pbcdSmpbd;
    snwBenchRow row = snwMakeBenchRow("sag", soft ? "SMPBD_GS" : "PBD", "sag_change");
    row.value = fabs(drops[1] - drops[0]) / fabs(drops[0]);
    row.n = 1;
    row.op = soft ? "<=" : ">=";
    row.target = soft ? 0.01 : 0.2;
    snprintf(row.note, sizeof row.note, "tip sags %.4g m with 200, %.4g m with 2000 sweeps a step; Newton %.4g m",
        drops[0], drops[1], truth);
    snwBenchRows_Add(rows, &row);
}

static const int s_sweeps[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 2000};

enum
{
    snw_sweepCounts = sizeof s_sweeps / sizeof *s_sweeps
};

static void AddSagCurve(
    snwBenchRows* rows, const Runs* runs, snwPbcdSolver solver, snwBenchFigure* figure, double truth)
{
    double drops[2] = {NAN, NAN};
    snwBenchCurve* curve = snwBenchFigure_AddCurve(
        figure, snw_curveOurs, solver == snw_pbcdSmpbd ? "SMPBD_GS" : "PBD, k = 0.1");
    for (int i = 0; i < snw_sweepCounts && rows->result >= 0; ++i)
    {
        Sag sag = {0};
        rows->result = MeasureSag(runs, solver, s_sweeps[i], &sag, rows->message);
        snwBenchCurve_Add(curve, s_sweeps[i], sag.drop);
        if (s_sweeps[i] == 200 || s_sweeps[i] == 2000)
            drops[s_sweeps[i] == 2000] = sag.drop;
    }
    AddSagRow(rows, solver, drops, truth);
}

void snwAddPbcdSag(snwBenchRows* rows)
{
    Runs runs = {.scenario = snwMakePbcdSag()};
    Sag truth = {0};
    rows->result = snwPbcdScenario_Open(&runs.scenario, rows->message);
    if (rows->result >= 0)
        rows->result = MeasureSag(&runs, snw_pbcdImplicit, 100, &truth, rows->message);
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig3_11", "Beam at rest: stiffness against iterations (thesis, Fig. 3.11)");
    if (figure != NULL)
    {
        figure->logX = true;
        snprintf(figure->xLabel, sizeof figure->xLabel, "sweeps in a step, powers of ten");
        snprintf(figure->yLabel, sizeof figure->yLabel, "sag of the tip, m");
    }
    snwBenchCurve* line = snwBenchFigure_AddCurve(figure, snw_curveReference, "Newton");
    for (int i = 0; i < snw_sweepCounts; ++i)
        snwBenchCurve_Add(line, s_sweeps[i], truth.drop);
    if (rows->result >= 0)
        AddSagCurve(rows, &runs, snw_pbcdSmpbd, figure, truth.drop);
    if (rows->result >= 0)
        AddSagCurve(rows, &runs, snw_pbcdPbd, figure, truth.drop);
    snwPbcdScenario_Close(&runs.scenario);
}
