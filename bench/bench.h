// Benchmarks speak one language: flat rows with a case, a method, a metric and its value, beside the paper's and a
// peer's figure and our target. Metrics are registered in one table (metrics.c); docs/bench.md is made from it.

#pragma once

#include "sinew/sinew.h"

#include <stdio.h>

typedef struct snwMetric
{
    const char* name;   // NULL ends the table
    const char* unit;   // "" if none
    const char* better; // "lower", "higher" or "equal"
    const char* help;
} snwMetric;

extern const snwMetric snwMetrics[];

const snwMetric* snwMetric_Find(const char* name); // NULL if it is not registered

// NAN stands for "missing" in value, spread, paper, peer and target; a missing value needs a note.
typedef struct snwBenchRow
{
    char caseName[48];
    char method[24];
    const char* metric;
    double value;
    int n;         // runs behind the value
    double spread; // half the interquartile range of the runs
    double paper;  // the paper's figure, on the paper's machine
    double peer;   // another program's figure, on this machine
    char peerName[32];
    double target;
    const char* op; // "<=", ">=", "==", "~5%" or "~10%" (that near); NULL without a target
    char note[160];
} snwBenchRow;

typedef struct snwBenchFigure snwBenchFigure;

typedef struct snwBenchReport
{
    const char* bench;
    snwBenchRow* rows;
    int count, capacity;
    snwBenchFigure** figures;
    int figureCount;
    struct snwBenchPicture* pictures;
    int pictureCount;
} snwBenchReport;

// A row with everything missing but its name.
snwBenchRow snwMakeBenchRow(const char* caseName, const char* method, const char* metric);
void snwBenchRow_SetTarget(snwBenchRow* row, const char* op, double target);

// Refuses metrics that are not registered, missing values without a note and targets without an operator.
snwResult snwBenchReport_Add(snwBenchReport* report, const snwBenchRow* row, snwMessage* message);
void snwBenchReport_Free(snwBenchReport* report);

// 1 passed, 0 failed, -1: there is no target or no value.
int snwBenchRow_Passes(const snwBenchRow* row);

// JSON on one line, or a table for people.
snwResult snwBenchReport_WriteJson(const snwBenchReport* report, FILE* file);
void snwBenchReport_WriteTable(const snwBenchReport* report, FILE* file);

// ---------------------------------------------------------------------------------------------------------------------
// Figures: curves of ours, and behind them in grey what a paper or another program has

typedef enum snwCurveKind
{
    snw_curveOurs,
    snw_curveOursStems,     // a line up to every point: for cases that are not numbers
    snw_curveReference,     // of a paper: a dashed line
    snw_curveReferenceDots, // a ring per point
} snwCurveKind;

enum
{
    snw_maxFigureCurves = 12
};

typedef struct snwBenchCurve
{
    char label[64];
    snwCurveKind kind;
    double *x, *y;
    int count, capacity;
    bool failed; // memory ran out: the figure is not written
} snwBenchCurve;

struct snwBenchFigure
{
    char name[48]; // of its files
    char title[96], xLabel[160], yLabel[64];
    bool logX, logY; // powers of ten; the labels should say so
    snwBenchCurve curves[snw_maxFigureCurves];
    int curveCount;
};

// NULL when memory runs out; what follows takes NULL and does nothing. Lives as long as the report.
snwBenchFigure* snwBenchReport_AddFigure(snwBenchReport* report, const char* name, const char* title);
snwBenchFigure* snwBenchReport_FindFigure(const snwBenchReport* report, const char* name);            // NULL: none
snwBenchCurve* snwBenchFigure_AddCurve(snwBenchFigure* figure, snwCurveKind kind, const char* label); // NULL: full
void snwBenchCurve_Add(snwBenchCurve* curve, double x, double y);
void snwBenchFigure_Destroy(snwBenchFigure* figure);

// A drawing that is no plot: red green blue, rows from the top. It is copied; false: no memory.
bool snwBenchReport_AddPicture(
    snwBenchReport* report, const char* name, int width, int height, const unsigned char* pixels);
void snwBenchReport_FreePictures(snwBenchReport* report);

// NAME.svg, NAME.png and NAME.csv of every figure that has a point, NAME.png of every picture, and rows.json, in a
// folder that exists.
typedef struct snwBenchOutput
{
    snwContext* context;
    const char* folder;
    bool overwrite;
} snwBenchOutput;
snwResult snwBenchReport_WriteFiles(snwBenchReport* report, const snwBenchOutput* output, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Repeated measurements

enum
{
    snw_maxBenchRuns = 101
};

typedef struct snwSamples
{
    double values[snw_maxBenchRuns];
    int count;
} snwSamples;

void snwSamples_Add(snwSamples* samples, double value); // beyond snw_maxBenchRuns: ignored
double snwSamples_Median(const snwSamples* samples);    // NAN if empty
double snwSamples_Spread(const snwSamples* samples);    // half the interquartile range
// Ratio of the n-th runs of both, so that a slow moment of the machine meets both alike.
snwSamples snwSamples_Ratios(const snwSamples* above, const snwSamples* below);
void snwBenchRow_SetSamples(snwBenchRow* row, const snwSamples* samples);

double snwMedian(double* values, int count); // sorts them; NAN if empty

double snwBenchRandom(uint64_t* seed); // 0 .. 1, the same from the same seed, which is not 0

// ---------------------------------------------------------------------------------------------------------------------
// Benches

typedef struct snwBenchOptions
{
    int runs;           // of every timing
    int64_t count;      // matrices per class in `kernels`
    const char* method; // of the conformance suite in `contact`, NULL: pbd; the only one of `flesh`, NULL: all
    const char* only;   // case of `apd`, part of `flesh`, `pbcd` and `rigpbd`, part of a surface's name of `prep`;
                        // NULL: all
    bool full;          // `flesh`: all that is promised, which takes hours; else what minutes can show
    bool noPictures;    // rows and curves alone
} snwBenchOptions;

typedef struct snwBench
{
    const char* name;
    const char* summary;
    snwResult (*run)(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message);
} snwBench;

snwBenchOptions snwDefaultBenchOptions(void);

extern const snwBench snwApdBench, snwBakeBench, snwContactBench, snwFleshBench, snwFramesBench, snwKernelsBench,
    snwPbcdBench, snwPbdBench, snwPrepBench, snwRigpbdBench, snwSimsBench, snwSkelfemBench, snwSoftcontactBench,
    snwStudioBench;
extern const snwBench* const snwBenches[]; // NULL ends the table

// docs/bench.md
void snwPrintMetricsDoc(FILE* file);
