// The sparse factor of projective dynamics, mass / h^2 + weighted Laplacian, on cubes of tetrahedra; beside the
// memory's speed and beside CHOLMOD, all in turns.

#include "kernels_solve.h"

#include "kernels_measure.h"
#include "peer_cholmod.h"

#include "base/clock.h"
#include "linalg/cholesky.h"
#include "math/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_solveRepeats = 9, // solves behind each sample
    snw_createRuns = 3,   // analyses, at most
    snw_mainSide = 31,    // vertices along an edge of the cube with all rows
    snw_bandwidthMegabytes = 256
};

// ---------------------------------------------------------------------------------------------------------------------
// The matrix

// Five tetrahedra per cell, mirrored in every other cell so that faces match.
static void FillTets(int side, int (*tets)[4])
{
    static const int corners[5][4] = {{0, 1, 3, 5}, {0, 3, 2, 6}, {0, 5, 4, 6}, {3, 5, 6, 7}, {0, 3, 6, 5}};
    int cells = side - 1;
    for (int cell = 0; cell < cells * cells * cells; ++cell)
    {
        int x = cell % cells, y = cell / cells % cells, z = cell / cells / cells, flip = (x + y + z) & 1;
        for (int t = 0; t < 5; ++t)
        {
            for (int k = 0; k < 4; ++k)
            {
                int c = corners[t][k] ^ flip;
                tets[5 * cell + t][k] = (x + (c & 1)) + side * ((y + (c >> 1 & 1)) + side * (z + (c >> 2 & 1)));
            }
        }
    }
}

static snwVec3 VertexAt(int side, int v)
{
    double h = 0.5 / (side - 1);
    int x = v % side, y = v / side % side, z = v / side / side;
    return (snwVec3){h * x, h * y, h * z};
}

// Lower triangle of the element's matrix, by rows: 1000 kg/m^3 at 60 Hz and 30 kPa.
static void FillElement(int side, const int tet[4], double* out)
{
    snwVec3 x[4] = {{0}}, normal[4] = {{0}};
    for (int k = 0; k < 4; ++k)
        x[k] = VertexAt(side, tet[k]);
    double volume = fabs(snwVec3_Dot(
                        snwVec3_Sub(x[1], x[0]), snwVec3_Cross(snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0])))) /
                    6;
    for (int k = 0; k < 4; ++k) // gradient of vertex k's hat times six volumes, up to its sign
    {
        snwVec3 a = x[(k + 1) % 4], b = x[(k + 2) % 4], c = x[(k + 3) % 4];
        normal[k] = snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(c, a));
        if (snwVec3_Dot(normal[k], snwVec3_Sub(x[k], a)) < 0)
            normal[k] = snwVec3_Scale(normal[k], -1);
    }
    for (int a = 0, at = 0; a < 4; ++a)
        for (int b = 0; b <= a; ++b, ++at)
            out[at] = 3e4 * snwVec3_Dot(normal[a], normal[b]) / (36 * volume) + (a == b ? 3.6e6 * volume / 4 : 0);
}

static snwResult MakeMatrix(snwContext* context, int side, snwPattern** out, snwMessage* message)
{
    int cells = side - 1, count = 5 * cells * cells * cells;
    int(*tets)[4] = calloc((size_t)count, sizeof *tets);
    double* parts = malloc((size_t)count * 10 * sizeof *parts);
    snwResult result = snw_ok;
    *out = NULL;
    if (tets == NULL || parts == NULL)
        result = snwFailMemory(message);
    else
    {
        FillTets(side, tets);
        for (int t = 0; t < count; ++t)
            FillElement(side, tets[t], parts + 10 * (size_t)t);
        snwElementPatternDef def = {
            .nodeCount = side * side * side, .elementCount = count, .size = 4, .nodes = tets[0]};
        result = snwPattern_CreateFromElements(context, &def, out, message);
    }
    if (result >= 0)
        snwPattern_Assemble(*out, parts);
    free(tets);
    free(parts);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Variants

typedef struct Variant
{
    const char* name;
    snwPrecision precision;
    int threads;
    snwContext* context;
    snwCholesky* factor;
    snwCholeskyScratch* scratch;
    snwSamples createS, refactorS, solveMs, solveOneMs;
    snwSamples bestMs; // fastest solve of each turn
    double residual;
} Variant;

enum
{
    snw_float1,
    snw_float2,
    snw_double1,
    snw_double2,
    snw_solverCount
};

typedef struct Lab
{
    int side, n;
    snwPattern* pattern; // of the first variant's context
    snwSparse* matrix;
    double *b, *x, *y;
    Variant variants[snw_solverCount];
    snwCholmod* peer;
    const char* why;
    snwSamples peerCreateS, peerRefactorS, peerSolveMs, bandwidth;
} Lab;

static void CloseVariant(Variant* variant)
{
    snwCholeskyScratch_Destroy(variant->scratch);
    snwCholesky_Destroy(variant->factor);
    variant->scratch = NULL;
    variant->factor = NULL;
}

static snwResult CreateFactor(Lab* lab, Variant* variant, snwMessage* message)
{
    CloseVariant(variant);
    snwCholeskyDef def = snwDefaultCholeskyDef();
    def.matrix = lab->matrix;
    def.precision = variant->precision;
    double start = snwClock_Seconds();
    snwResult result = snwCholesky_Create(variant->context, &def, &variant->factor, message);
    snwSamples_Add(&variant->createS, snwClock_Seconds() - start);
    return result >= 0 ? snwCholeskyScratch_Create(variant->factor, &variant->scratch, message) : result;
}

static void CloseLab(Lab* lab)
{
    snwCholmod_Close(lab->peer);
    for (int i = 0; i < snw_solverCount; ++i)
        CloseVariant(&lab->variants[i]);
    snwPattern_Destroy(lab->pattern);
    for (int i = 0; i < snw_solverCount; ++i)
        snwDestroyContext(lab->variants[i].context);
    free(lab->b);
    free(lab->x);
    free(lab->y);
}

static snwResult OpenLab(Lab* lab, int side, snwMessage* message)
{
    static const Variant variants[snw_solverCount] = {
        {.name = "float-1t", .precision = snw_precisionFloat, .threads = 1},
        {.name = "float-2t", .precision = snw_precisionFloat, .threads = 2},
        {.name = "double-1t", .precision = snw_precisionDouble, .threads = 1},
        {.name = "double-2t", .precision = snw_precisionDouble, .threads = 2},
    };
    *lab = (Lab){.side = side, .n = side * side * side};
    memcpy(lab->variants, variants, sizeof variants);
    size_t bytes = 3 * (size_t)lab->n * sizeof(double);
    lab->b = malloc(bytes), lab->x = malloc(bytes), lab->y = malloc(bytes);
    if (lab->b == NULL || lab->x == NULL || lab->y == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < 3 * lab->n; ++i)
        lab->b[i] = sin(i * 0.7) + 0.3 * cos(i * 0.013);
    snwResult result = snw_ok;
    for (int i = 0; i < snw_solverCount && result >= 0; ++i)
    {
        snwContextDef def = snwDefaultContextDef();
        def.threadCount = variants[i].threads;
        result = snwCreateContext(&def, &lab->variants[i].context, message);
    }
    if (result >= 0)
        result = MakeMatrix(lab->variants[0].context, side, &lab->pattern, message);
    if (result >= 0)
        lab->matrix = snwPattern_Matrix(lab->pattern);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Measuring

static double SolveMs(Lab* lab, Variant* variant, int columns, double* best)
{
    snwSamples times = {0};
    *best = INFINITY;
    for (int i = 0; i < snw_solveRepeats; ++i)
    {
        memcpy(lab->x, lab->b, 3 * (size_t)lab->n * sizeof(double));
        double start = snwClock_Seconds();
        snwCholesky_Solve(variant->factor, variant->scratch, snwRows_Double(lab->x, columns, 3));
        double time = 1e3 * (snwClock_Seconds() - start);
        snwSamples_Add(&times, time);
        *best = fmin(*best, time);
    }
    return snwSamples_Median(&times);
}

static double Residual(Lab* lab)
{
    double error = 0, scale = 0;
    snwSparse_Multiply(lab->variants[0].context, lab->matrix, lab->x, lab->y, 3);
    for (int i = 0; i < 3 * lab->n; ++i)
    {
        error += (lab->y[i] - lab->b[i]) * (lab->y[i] - lab->b[i]);
        scale += lab->b[i] * lab->b[i];
    }
    return sqrt(error / scale);
}

static snwResult MeasureVariant(Lab* lab, Variant* variant, snwMessage* message)
{
    double start = snwClock_Seconds();
    snwResult result = snwCholesky_Refactor(variant->factor, lab->matrix, message);
    snwSamples_Add(&variant->refactorS, snwClock_Seconds() - start);
    if (result < 0)
        return result;
    double best;
    snwSamples_Add(&variant->solveOneMs, SolveMs(lab, variant, 1, &best));
    snwSamples_Add(&variant->solveMs, SolveMs(lab, variant, 3, &best));
    snwSamples_Add(&variant->bestMs, best);
    variant->residual = Residual(lab);
    return snw_ok;
}

static void MeasurePeer(Lab* lab, bool create)
{
    snwSamples times = {0};
    if (lab->peer == NULL)
        return;
    if (create)
        snwSamples_Add(&lab->peerCreateS, snwCholmod_Factor(lab->peer));
    snwSamples_Add(&lab->peerRefactorS, snwCholmod_Refactor(lab->peer));
    for (int i = 0; i < snw_solveRepeats; ++i)
        snwSamples_Add(&times, 1e3 * snwCholmod_Solve(lab->peer));
    snwSamples_Add(&lab->peerSolveMs, snwSamples_Median(&times));
}

static snwResult MeasureTurn(Lab* lab, int run, snwMessage* message)
{
    snwResult result = snw_ok;
    bool create = run < snw_createRuns;
    for (int i = 0; i < snw_solverCount && result >= 0 && create; ++i)
        result = CreateFactor(lab, &lab->variants[i], message);
    if (result >= 0)
        result = MeasureVariant(lab, &lab->variants[snw_float1], message);
    snwSamples_Add(&lab->bandwidth, snwMeasureReadBandwidth((int64_t)snw_bandwidthMegabytes << 20, 3));
    MeasurePeer(lab, create);
    for (int i = snw_float1 + 1; i < snw_solverCount && result >= 0; ++i)
        result = MeasureVariant(lab, &lab->variants[i], message);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

typedef struct Rows
{
    const Lab* lab;
    const char* caseName;
    snwBenchReport* report;
    snwMessage* message;
    snwResult result;
} Rows;

static void AddRow(Rows* rows, const snwBenchRow* row)
{
    if (rows->result >= 0)
        rows->result = snwBenchReport_Add(rows->report, row, rows->message);
}

static void AddSamples(
    Rows* rows, const char* method, const char* metric, const snwSamples* samples, const snwSamples* peer)
{
    snwBenchRow row = snwMakeBenchRow(rows->caseName, method, metric);
    snwBenchRow_SetSamples(&row, samples);
    if (peer != NULL && peer->count > 0)
    {
        row.peer = snwSamples_Median(peer);
        snprintf(row.peerName, sizeof row.peerName, "CHOLMOD, 1 thread");
    }
    AddRow(rows, &row);
}

static void AddValue(Rows* rows, const char* method, const char* metric, double value, double target)
{
    snwBenchRow row = snwMakeBenchRow(rows->caseName, method, metric);
    row.value = value;
    row.n = 1;
    if (!isnan(target))
        row.op = "<=", row.target = target;
    AddRow(rows, &row);
}

// Solve time over the time of reading what both sweeps read: the fastest of a turn against the fastest of a turn, since
// both stand for what the machine can do.
static void AddVsBandwidth(Rows* rows, const Variant* variant)
{
    snwSamples ratios = {0};
    double gigabytes = 2e-9 * (double)snwCholesky_Stats(variant->factor).bytes;
    for (int i = 0; i < variant->bestMs.count; ++i)
        snwSamples_Add(&ratios, variant->bestMs.values[i] * 1e-3 * rows->lab->bandwidth.values[i] / gigabytes);
    snwBenchRow row = snwMakeBenchRow(rows->caseName, variant->name, "solve_vs_bandwidth");
    snwBenchRow_SetSamples(&row, &ratios);
    row.op = "<=", row.target = 2;
    snprintf(row.note, sizeof row.note, "both sweeps read %.1f MB, memory gives %.1f GB/s", 1e3 * gigabytes,
        snwSamples_Median(&rows->lab->bandwidth));
    AddRow(rows, &row);
}

static void AddVsCholmod(Rows* rows, const Variant* variant)
{
    snwBenchRow row = snwMakeBenchRow(rows->caseName, variant->name, "solve_vs_cholmod");
    snwSamples ratios = snwSamples_Ratios(&rows->lab->peerSolveMs, &variant->solveMs);
    if (rows->lab->peer != NULL)
        snwBenchRow_SetSamples(&row, &ratios);
    else
        snprintf(row.note, sizeof row.note, "%s", rows->lab->why);
    if (variant->precision == snw_precisionFloat)
        row.op = ">=", row.target = 2;
    AddRow(rows, &row);
}

static void AddVariant(Rows* rows, const Variant* variant)
{
    const Lab* lab = rows->lab;
    AddSamples(rows, variant->name, "factor_s", &variant->createS, &lab->peerCreateS);
    AddSamples(rows, variant->name, "refactor_s", &variant->refactorS, &lab->peerRefactorS);
    AddSamples(rows, variant->name, "solve_ms", &variant->solveMs, &lab->peerSolveMs);
    AddSamples(rows, variant->name, "solve_one_ms", &variant->solveOneMs, NULL);
    AddValue(rows, variant->name, "solve_residual", variant->residual,
        variant->precision == snw_precisionFloat ? 1e-5 : 1e-12);
    if (variant->threads == 1)
    {
        AddVsBandwidth(rows, variant);
        AddVsCholmod(rows, variant);
        return;
    }
    snwSamples ratios = snwSamples_Ratios(&(variant - 1)->solveMs, &variant->solveMs); // the same with one thread
    AddSamples(rows, variant->name, "speedup_2t", &ratios, NULL);
}

static void AddEntries(Rows* rows)
{
    snwCholeskyStats stats = snwCholesky_Stats(rows->lab->variants[snw_float1].factor);
    snwBenchRow row = snwMakeBenchRow(rows->caseName, "nested", "factor_entries");
    row.value = (double)stats.entries;
    row.n = 1;
    if (rows->lab->peer != NULL)
    {
        row.peer = snwCholmod_Entries(rows->lab->peer);
        snprintf(row.peerName, sizeof row.peerName, "CHOLMOD with METIS");
    }
    snprintf(row.note, sizeof row.note, "%d unknowns, %d supernodes, %d tasks in %d levels, %.2f Gflop", stats.rows,
        stats.supernodes, stats.tasks, stats.levels, 1e-9 * stats.flops);
    AddRow(rows, &row);
}

static snwResult AddCube(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    Lab lab;
    snwResult result = OpenLab(&lab, snw_mainSide, message);
    if (result >= 0)
        lab.peer = snwCholmod_Open(lab.matrix, &lab.why);
    for (int run = 0; run < options->runs && result >= 0; ++run)
        result = MeasureTurn(&lab, run, message);
    Rows rows = {.lab = &lab, .caseName = "cube-30k", .report = report, .message = message, .result = result};
    if (result >= 0)
        AddEntries(&rows);
    for (int i = 0; i < snw_solverCount && rows.result >= 0; ++i)
        AddVariant(&rows, &lab.variants[i]);
    CloseLab(&lab);
    return rows.result;
}

// How time and size grow: one run each.
static snwResult AddGrowth(int side, const char* name, snwBenchReport* report, snwMessage* message)
{
    Lab lab;
    snwResult result = OpenLab(&lab, side, message);
    Variant* variant = &lab.variants[snw_float1];
    if (result >= 0)
        result = CreateFactor(&lab, variant, message);
    for (int run = 0; run < 3 && result >= 0; ++run)
        result = MeasureVariant(&lab, variant, message);
    Rows rows = {.lab = &lab, .caseName = name, .report = report, .message = message, .result = result};
    if (result >= 0)
    {
        AddEntries(&rows);
        AddSamples(&rows, variant->name, "factor_s", &variant->createS, NULL);
        AddSamples(&rows, variant->name, "refactor_s", &variant->refactorS, NULL);
        AddSamples(&rows, variant->name, "solve_ms", &variant->solveMs, NULL);
    }
    CloseLab(&lab);
    return rows.result;
}

snwResult snwAddSolveRows(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    snwResult result = AddCube(options, report, message);
    if (result >= 0)
        result = AddGrowth(16, "cube-4k", report, message);
    return result >= 0 ? AddGrowth(40, "cube-64k", report, message) : result;
}
