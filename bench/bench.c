#include "bench.h"
#include "base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const snwBench* const snwBenches[] = {&snwApdBench, &snwBakeBench, &snwContactBench, &snwFleshBench, &snwFramesBench,
    &snwKernelsBench, &snwPbcdBench, &snwPbdBench, &snwPrepBench, &snwRigpbdBench, &snwSimsBench, &snwSkelfemBench,
    &snwSoftcontactBench, &snwStudioBench, NULL};

snwBenchOptions snwDefaultBenchOptions(void)
{
    return (snwBenchOptions){.runs = 7, .count = 1000000};
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

snwBenchRow snwMakeBenchRow(const char* caseName, const char* method, const char* metric)
{
    snwBenchRow row = {.metric = metric, .value = NAN, .spread = NAN, .paper = NAN, .peer = NAN, .target = NAN};
    snprintf(row.caseName, sizeof row.caseName, "%s", caseName);
    snprintf(row.method, sizeof row.method, "%s", method);
    return row;
}

void snwBenchRow_SetTarget(snwBenchRow* row, const char* op, double target)
{
    row->op = op;
    row->target = target;
}

static bool IsOperator(const char* op)
{
    return op != NULL && (strcmp(op, "<=") == 0 || strcmp(op, ">=") == 0 || strcmp(op, "==") == 0 ||
                             strcmp(op, "~5%") == 0 || strcmp(op, "~10%") == 0);
}

snwResult snwBenchReport_Add(snwBenchReport* report, const snwBenchRow* row, snwMessage* message)
{
    if (snwMetric_Find(row->metric) == NULL)
        return snwFail(
            message, snw_errorArgument, "add it to bench/metrics.c", "the metric '%s' is not registered", row->metric);
    if (!isfinite(row->value) && row->note[0] == 0)
        return snwFail(message, snw_errorArgument, "say why in the note", "%s of %s is missing without a word",
            row->metric, row->caseName);
    if (isfinite(row->target) != IsOperator(row->op))
        return snwFail(message, snw_errorArgument, "<=, >= or == with every target",
            "%s of %s has a target without an operator, or the reverse", row->metric, row->caseName);
    if (report->count == report->capacity)
    {
        int capacity = report->capacity * 2 + 16;
        snwBenchRow* rows = realloc(report->rows, (size_t)capacity * sizeof *rows);
        if (rows == NULL)
            return snwFailMemory(message);
        report->rows = rows;
        report->capacity = capacity;
    }
    report->rows[report->count++] = *row;
    return snw_ok;
}

void snwBenchReport_Free(snwBenchReport* report)
{
    for (int i = 0; i < report->figureCount; ++i)
        snwBenchFigure_Destroy(report->figures[i]);
    free(report->figures);
    snwBenchReport_FreePictures(report);
    free(report->rows);
    *report = (snwBenchReport){0};
}

int snwBenchRow_Passes(const snwBenchRow* row)
{
    if (!isfinite(row->target) || !isfinite(row->value) || row->op == NULL)
        return -1;
    if (row->op[0] == '<')
        return row->value <= row->target;
    if (row->op[0] == '~') // "~5%": that near
        return fabs(row->value - row->target) <= 0.01 * strtod(row->op + 1, NULL) * fabs(row->target);
    return row->op[0] == '>' ? row->value >= row->target : row->value == row->target;
}

// ---------------------------------------------------------------------------------------------------------------------
// Samples

void snwSamples_Add(snwSamples* samples, double value)
{
    if (samples->count < snw_maxBenchRuns)
        samples->values[samples->count++] = value;
}

static int CompareReals(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double snwMedian(double* values, int count)
{
    if (count == 0)
        return NAN;
    qsort(values, (size_t)count, sizeof *values, CompareReals);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

// Between the two nearest order statistics.
static double Quantile(const snwSamples* samples, double q)
{
    if (samples->count == 0)
        return NAN;
    snwSamples sorted = *samples;
    qsort(sorted.values, (size_t)sorted.count, sizeof *sorted.values, CompareReals);
    double place = q * (sorted.count - 1);
    int below = (int)floor(place);
    int above = below + 1 < sorted.count ? below + 1 : below;
    return sorted.values[below] + (place - below) * (sorted.values[above] - sorted.values[below]);
}

double snwSamples_Median(const snwSamples* samples)
{
    return Quantile(samples, 0.5);
}

double snwSamples_Spread(const snwSamples* samples)
{
    return 0.5 * (Quantile(samples, 0.75) - Quantile(samples, 0.25));
}

snwSamples snwSamples_Ratios(const snwSamples* above, const snwSamples* below)
{
    snwSamples ratios = {0};
    for (int i = 0; i < above->count && i < below->count; ++i)
        snwSamples_Add(&ratios, above->values[i] / below->values[i]);
    return ratios;
}

void snwBenchRow_SetSamples(snwBenchRow* row, const snwSamples* samples)
{
    row->value = snwSamples_Median(samples);
    row->spread = snwSamples_Spread(samples);
    row->n = samples->count;
}

double snwBenchRandom(uint64_t* seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53;
}
