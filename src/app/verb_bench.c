#include "app/common.h"
#include "app/console.h"
#include "app/nearest.h"
#include "app/verbs.h"
#include "base/result.h"
#include "bench.h"

#include <stdio.h>
#include <string.h>

static const snwBench* FindBench(const char* name)
{
    for (int i = 0; snwBenches[i] != NULL; ++i)
        if (strcmp(snwBenches[i]->name, name) == 0)
            return snwBenches[i];
    snwNearest nearest = snwNearest_Start(name);
    for (int i = 0; snwBenches[i] != NULL; ++i)
        snwNearest_Try(&nearest, snwBenches[i]->name);
    snwUsage(nearest.best != NULL ? nearest.best : "sinew bench --list", "there is no bench '%s'", name);
    return NULL;
}

static void PrintList(void)
{
    for (int i = 0; snwBenches[i] != NULL; ++i)
        printf("%-10s %s\n", snwBenches[i]->name, snwBenches[i]->summary);
}

// Figures that miss their target are news, not errors: the exit code is about the measuring.
static snwExit RunBench(const snwBench* bench, const snwBenchOptions* options, bool json)
{
    snwBenchReport report = {.bench = bench->name};
    snwMessage message = {0};
    snwNote("bench %s ...", bench->name);
    snwResult result = bench->run(options, &report, &message);
    if (json && snwBenchReport_WriteJson(&report, stdout) < 0 && result >= 0)
        result = snwFail(&message, snw_errorIo, NULL, "could not write JSON to stdout");
    else if (!json)
        snwBenchReport_WriteTable(&report, stdout);
    fflush(stdout);
    snwBenchReport_Free(&report);
    return result < 0 ? snwReportMessage(&message) : snw_exitOk;
}

static snwExit RunAll(const snwBenchOptions* options, bool json)
{
    snwExit worst = snw_exitOk;
    for (int i = 0; snwBenches[i] != NULL; ++i)
    {
        snwExit result = RunBench(snwBenches[i], options, json);
        if (result != snw_exitOk)
            worst = result;
    }
    return worst;
}

static snwExit Run(const snwArgs* args)
{
    snwBenchOptions options = snwDefaultBenchOptions();
    int count = snwArgs_Has(args, "full") ? 10000000 : (int)options.count;
    if (!snwArgs_Int(args, "runs", 1, snw_maxBenchRuns, &options.runs) ||
        !snwArgs_Int(args, "count", 1, 1000000000, &count))
        return snw_exitUsage;
    options.count = count;
    options.method = snwArgs_Text(args, "method");
    if (options.method != NULL && snwMethod_Find(options.method) < 0)
        return snwUsage("sinew info --methods", "there is no method '%s'", options.method), snw_exitUsage;
    if (snwArgs_Has(args, "metrics-doc"))
        return snwPrintMetricsDoc(stdout), snw_exitOk;
    if (snwArgs_Has(args, "list"))
        return PrintList(), snw_exitOk;
    bool json = snwArgs_Has(args, "json");
    if (args->operandCount == 0)
        return RunAll(&options, json);
    const snwBench* bench = FindBench(args->operands[0]);
    return bench == NULL ? snw_exitUsage : RunBench(bench, &options, json);
}

static const snwOption s_options[] = {
    {"list", 'l', NULL, false, snw_completeNothing, NULL, "list the benches"},
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print one line of JSON per bench"},
    {"runs", 'r', "N", false, snw_completeNothing, NULL, "runs behind every median (default 7)"},
    {"count", 0, "N", false, snw_completeNothing, NULL, "kernels: matrices per class (default 1000000)"},
    {"method", 'm', "NAME", false, snw_completeMethods, NULL, "contact: run the conformance suite with this method"},
    {"full", 0, NULL, false, snw_completeNothing, NULL, "kernels: ten million matrices per class"},
    {"metrics-doc", 0, NULL, false, snw_completeNothing, NULL, "print docs/bench.md"},
    {0},
};

static const snwExample s_examples[] = {
    {"sinew bench pbd", "a table with targets and, where known, the paper's and a peer's figures"},
    {"sinew bench contact --method pbd", "does the method do what contact asks of all?"},
    {"sinew bench kernels --count 100000 --json", "quickly, for a program to read"},
    {0},
};

const snwVerb snwBenchVerb = {
    .name = "bench",
    .operands = "[NAME]",
    .mostOperands = 1,
    .complete = snw_completeWords,
    .words = "contact frames kernels pbd prep sims",
    .summary = "measure speed and exactness, beside targets and other programs",
    .about = "Without a name all benches run. Rows and metrics are explained in docs/bench.md.",
    .options = s_options,
    .examples = s_examples,
    .run = Run,
};
