// sinew bench: benchmarks by name or all of them, each with its table, plots and targets; and the stored reference
// solutions, computed again.

#include "app/common.h"
#include "app/console.h"
#include "app/nearest.h"
#include "app/verbs.h"
#include "base/result.h"
#include "bench.h"
#include "truth.h"

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

static void PrintBenches(void)
{
    for (int i = 0; snwBenches[i] != NULL; ++i)
        printf("%-10s %s\n", snwBenches[i]->name, snwBenches[i]->summary);
}

typedef struct Output
{
    bool json;
    bool overwrite;
    const char* folder; // NULL: no files
} Output;

// A benchmark takes minutes: whether its files may be written is asked before.
static snwResult CheckFolder(const Output* output, const char* folder, snwMessage* message)
{
    char path[snw_maxPath];
    snwResult result = snwMakeFolder(folder, message);
    if (result < 0 || output->overwrite || !snwJoinPath(path, sizeof path, folder, "rows.json") || !snwFileExists(path))
        return result;
    snwFail(message, snw_errorIo, "--force replaces files, -o OTHER writes elsewhere", "the file exists");
    snwMessage_SetFile(message, path);
    return snw_errorIo;
}

static snwResult WriteBenchFiles(const Output* output, const char* folder, snwBenchReport* report, snwMessage* message)
{
    snwContext* context = NULL;
    snwContextDef def = snwDefaultContextDef();
    snwResult result = snwCreateContext(&def, &context, message);
    if (result < 0)
        return result;
    snwBenchOutput files = {context, folder, output->overwrite};
    result = snwBenchReport_WriteFiles(report, &files, message);
    snwDestroyContext(context);
    return result;
}

// Figures that miss their target are news, not errors: the exit code is about the measuring.
static snwExit RunBench(const snwBench* bench, const snwBenchOptions* options, const Output* output)
{
    snwBenchReport report = {.bench = bench->name};
    snwMessage message = {0};
    if (output->folder != NULL && CheckFolder(output, output->folder, &message) < 0)
        return snwReportMessage(&message);
    snwNote("bench %s ...", bench->name);
    snwResult result = bench->run(options, &report, &message);
    if (output->json && snwBenchReport_WriteJson(&report, stdout) < 0 && result >= 0)
        result = snwFail(&message, snw_errorIo, NULL, "could not write JSON to stdout");
    else if (!output->json)
        snwBenchReport_WriteTable(&report, stdout);
    fflush(stdout);
    if (result >= 0 && output->folder != NULL)
        result = WriteBenchFiles(output, output->folder, &report, &message);
    snwBenchReport_Free(&report);
    return result < 0 ? snwReportMessage(&message) : snw_exitOk;
}

// Each in a folder of its own.
static snwExit RunAll(const snwBenchOptions* options, const Output* output)
{
    snwExit worst = snw_exitOk;
    for (int i = 0; snwBenches[i] != NULL; ++i)
    {
        char folder[snw_maxPath];
        Output own = *output;
        if (output->folder != NULL)
        {
            if (!snwJoinPath(folder, sizeof folder, output->folder, snwBenches[i]->name))
                return snwUsage(NULL, "the path of the folder is too long");
            own.folder = folder;
        }
        snwExit result = RunBench(snwBenches[i], options, &own);
        if (result != snw_exitOk)
            worst = result;
    }
    return worst;
}

static void TellBenchProgress(const char* text, void* user)
{
    (void)user;
    snwNote("%s", text);
}

static snwExit RegenerateTruth(void)
{
    snwContext* context = NULL;
    snwContextDef def = snwDefaultContextDef();
    snwMessage message = {0};
    snwResult result = snwCreateContext(&def, &context, &message);
    if (result >= 0)
        result = snwTruth_Regenerate(context, TellBenchProgress, NULL, &message);
    if (context != NULL)
        snwDestroyContext(context);
    return result < 0 ? snwReportMessage(&message) : snw_exitOk;
}

static snwExit RunOnce(const snwArgs* args, const snwBenchOptions* options)
{
    Output output = {snwArgs_Has(args, "json"), snwArgs_Has(args, "force"), snwArgs_Text(args, "output")};
    if (snwArgs_Has(args, "metrics-doc"))
        return snwPrintMetricsDoc(stdout), snw_exitOk;
    if (snwArgs_Has(args, "list"))
        return PrintBenches(), snw_exitOk;
    if (args->operandCount == 0)
        return snwArgs_Has(args, "regenerate-truth") ? RegenerateTruth() : RunAll(options, &output);
    const snwBench* bench = FindBench(args->operands[0]);
    if (bench == NULL)
        return snw_exitUsage;
    if (snwArgs_Has(args, "regenerate-truth"))
        return bench == &snwApdBench ? RegenerateTruth()
                                     : snwUsage("sinew bench apd --regenerate-truth", "only apd has a stored truth");
    return RunBench(bench, options, &output);
}

static snwExit RunBenches(const snwArgs* args)
{
    snwBenchOptions options = snwDefaultBenchOptions();
    int count = snwArgs_Has(args, "full") ? 10000000 : (int)options.count;
    if (!snwArgs_Int(args, "runs", 1, snw_maxBenchRuns, &options.runs) ||
        !snwArgs_Int(args, "count", 1, 1000000000, &count))
        return snw_exitUsage;
    options.count = count;
    options.full = snwArgs_Has(args, "full");
    options.only = snwArgs_Text(args, "case");
    options.method = snwArgs_Text(args, "method");
    if (options.method != NULL && snwMethod_Find(options.method) < 0)
        return snwUsage("sinew info --methods", "there is no method '%s'", options.method), snw_exitUsage;
    return RunOnce(args, &options);
}

static const snwOption s_options[] = {
    {"list", 'l', NULL, false, snw_completeNothing, NULL, "list the benches"},
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print one line of JSON per bench"},
    {"runs", 'r', "N", false, snw_completeNothing, NULL, "runs behind every median (default 7)"},
    {"count", 0, "N", false, snw_completeNothing, NULL, "kernels: matrices per class (default 1000000)"},
    {"method", 'm', "NAME", false, snw_completeMethods, NULL,
        "contact: run the conformance suite with this method; flesh: only this method"},
    {"full", 0, NULL, false, snw_completeNothing, NULL,
        "kernels: ten million matrices per class; flesh: all seeds, substeps and sizes (hours)"},
    {"case", 0, "NAME", false, snw_completeNothing, NULL,
        "apd, contact: only this scene or figure; flesh, pbcd, rigpbd: only this part (flesh: PART/WORDS for some of "
        "it); bake: only this part or case; prep: "
        "only surfaces so named"},
    {"output", 'o', "DIR", false, snw_completeFolder, NULL, "write rows.json and figures (SVG, PNG, CSV) there"},
    {"force", 'f', NULL, false, snw_completeNothing, NULL, "replace files that exist"},
    {"regenerate-truth", 0, NULL, false, snw_completeNothing, NULL, "apd: compute the stored truths anew (minutes)"},
    {"metrics-doc", 0, NULL, false, snw_completeNothing, NULL, "print docs/bench.md"},
    {0},
};

static const snwExample s_examples[] = {
    {"sinew bench pbd", "a table with targets and, where known, the paper's and a peer's figures"},
    {"sinew bench apd -o figures", "the paper's tables and curves beside ours, as SVG and PNG"},
    {"sinew bench contact --method pbd", "does the method do what contact asks of all?"},
    {"sinew bench flesh --case storm/horse", "what random hands do to the horse, in every method"},
    {"sinew bench kernels --count 100000 --json", "quickly, for a program to read"},
    {0},
};

const snwVerb snwBenchVerb = {
    .name = "bench",
    .operands = "[NAME]",
    .mostOperands = 1,
    .complete = snw_completeWords,
    .words = "apd contact flesh frames kernels pbcd pbd prep rigpbd sims studio",
    .summary = "measure speed and exactness, beside targets and other programs",
    .about = "Without a name all benches run. Rows and metrics are explained in docs/bench.md. With -o the rows are "
             "kept in rows.json, and benches that have figures draw them beside it: our curves in colour, those of a "
             "paper behind them in grey.",
    .options = s_options,
    .examples = s_examples,
    .run = RunBenches,
};
