// sinew sim: one run of a scene, or the product of sweeps and seeds, one folder each; the result for people, as JSON
// or as a table.

#include "app/console.h"
#include "app/nearest.h"
#include "app/perform.h"
#include "scene/shipped.h"
#include "app/settings.h"
#include "app/table.h"
#include "app/verbs.h"
#include "scene/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One run or many: the product of all sweeps and seeds, the last sweep turning fastest.
typedef struct Batch
{
    snwContext* context;
    snwPerformDef def; // what all runs share
    const char* directory;
    snwSetting* settings; // those of --set, then one per sweep
    int settingCount;
    snwSweep* sweeps;
    int sweepCount;
    uint64_t firstSeed;
    bool seedGiven;
    int seedCount; // 0: the scene's own seed
    int runCount;
    int inverted; // runs with inverted elements ...
    int warned;   // ... and with warnings
    bool json;
} Batch;

// ---------------------------------------------------------------------------------------------------------------------
// From the command line

static snwExit ReadMethod(const snwArgs* args, Batch* batch)
{
    const char* name = snwArgs_Text(args, "method");
    batch->def.options.method = name;
    if (name == NULL || snwMethod_Find(name) >= 0)
        return snw_exitOk;
    snwNearest nearest = snwNearest_Start(name);
    for (int i = 0; i < snwMethodCount(); ++i)
        snwNearest_Try(&nearest, snwMethod_GetInfo(i).name);
    return snwUsage(nearest.best != NULL ? nearest.best : "sinew info --methods", "there is no method '%s'", name);
}

// One of two values would silently win.
static snwExit CheckSweeps(const Batch* batch)
{
    for (int i = 0; i < batch->sweepCount; ++i)
    {
        const char* name = batch->sweeps[i].param->name;
        for (int j = 0; j < i; ++j)
            if (strcmp(batch->sweeps[j].param->name, name) == 0)
                return snwUsage("all values in one --sweep", "%s is swept twice", name);
        for (int j = 0; j < batch->settingCount; ++j)
            if (strcmp(batch->settings[j].name, name) == 0)
                return snwUsage("one of them", "%s is in --sweep and in --set", name);
    }
    return snw_exitOk;
}

static snwExit ReadSimSettings(const snwArgs* args, Batch* batch)
{
    snwExit result = snw_exitOk;
    batch->settingCount = snwArgs_Count(args, "set");
    batch->sweepCount = snwArgs_Count(args, "sweep");
    if (batch->sweepCount > snw_maxSweeps)
        return snwUsage("fewer sweeps", "at most %d sweeps at a time", snw_maxSweeps);
    batch->settings = calloc((size_t)(batch->settingCount + batch->sweepCount) + 1, sizeof *batch->settings);
    batch->sweeps = calloc((size_t)batch->sweepCount + 1, sizeof *batch->sweeps);
    if (batch->settings == NULL || batch->sweeps == NULL)
        return snwReportMemory();
    for (int i = 0; i < batch->settingCount && result == snw_exitOk; ++i)
        result = snwSetting_Parse(snwArgs_Nth(args, "set", i), &batch->settings[i]);
    for (int i = 0; i < batch->sweepCount && result == snw_exitOk; ++i)
        result = snwSweep_Parse(snwArgs_Nth(args, "sweep", i), &batch->sweeps[i]);
    return result == snw_exitOk ? CheckSweeps(batch) : result;
}

static snwExit CountRuns(Batch* batch)
{
    double count = batch->seedCount > 0 ? batch->seedCount : 1;
    for (int i = 0; i < batch->sweepCount; ++i)
        count *= batch->sweeps[i].count;
    if (count > snw_maxRuns)
        return snwUsage("fewer values", "that would be %.0f runs; at most %d", count, snw_maxRuns);
    batch->runCount = (int)count;
    return snw_exitOk;
}

static snwExit ReadSimSeeds(const snwArgs* args, Batch* batch)
{
    if (!snwArgs_U64(args, "seed", &batch->firstSeed) || !snwArgs_Int(args, "seeds", 1, snw_maxRuns, &batch->seedCount))
        return snw_exitUsage;
    batch->seedGiven = snwArgs_Has(args, "seed");
    if (batch->seedGiven && batch->seedCount == 0)
        batch->seedCount = 1;
    return snw_exitOk;
}

static snwExit ReadFilm(const snwArgs* args, Batch* batch)
{
    snwPerformDef* def = &batch->def;
    if (snwArgs_Has(args, "film") && snwArgs_Has(args, "no-film"))
        return snwUsage("one of them", "--film and --no-film contradict each other");
    if (snwArgs_Has(args, "film") && batch->directory == NULL)
        return snwUsage("-o DIR", "--film needs a folder to write to");
    def->film = snwArgs_Has(args, "film") || (batch->runCount == 1 && !snwArgs_Has(args, "no-film"));
    return snwPerformDef_ReadFilm(args, def);
}

static snwExit ReadCache(const snwArgs* args, Batch* batch)
{
    snwPerformDef* def = &batch->def;
    def->resume = snwArgs_Has(args, "resume");
    def->cache = def->resume || snwArgs_Has(args, "cache") || snwArgs_Has(args, "cache-tolerance");
    if (!snwArgs_Real(args, "cache-tolerance", 1e-9, 1, &def->cacheTolerance))
        return snw_exitUsage;
    if (def->cache && batch->directory == NULL)
        return snwUsage("-o DIR", "a frames cache needs a folder to write to");
    if (def->resume && def->overwrite)
        return snwUsage("one of them", "--resume and --force contradict each other");
    return snw_exitOk;
}

static snwExit ReadBatch(const snwArgs* args, Batch* batch)
{
    snwPerformDef* def = &batch->def;
    *def = snwDefaultPerformDef();

    // Words that stand for themselves, then those that contradict each other.
    def->path = args->operands[0];
    def->overwrite = snwArgs_Has(args, "force");
    if (!snwArgs_Real(args, "memory", 0.001, 1000, &def->options.memory))
        return snw_exitUsage;
    batch->directory = snwArgs_Text(args, "output");
    batch->json = snwArgs_Has(args, "json");
    if (!snwArgs_Real(args, "duration", 1e-6, 1e6, &def->options.duration) ||
        !snwArgs_Int(args, "frames", 1, 100000000, &def->frames))
        return snw_exitUsage;
    if (snwArgs_Has(args, "duration") && def->frames > 0)
        return snwUsage("one of them", "--duration and --frames contradict each other");

    // Each reader tells its own mistakes; the number of runs follows from sweeps and seeds.
    snwExit result = ReadCache(args, batch);
    if (result == snw_exitOk)
        result = snwExportsDef_Read(args, batch->directory, &def->exports);
    if (result == snw_exitOk && def->resume && snwArgs_Has(args, "export"))
        return snwUsage(
            "sinew replay DIR/log.jsonl --export ... afterwards", "a resumed run has not seen its first frames");
    if (result == snw_exitOk)
        result = ReadMethod(args, batch);
    if (result == snw_exitOk)
        result = ReadSimSettings(args, batch);
    if (result == snw_exitOk)
        result = ReadSimSeeds(args, batch);
    if (result == snw_exitOk)
        result = CountRuns(batch);

    return result == snw_exitOk ? ReadFilm(args, batch) : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// One run of many

typedef struct FolderName
{
    char text[32];
} FolderName;

static FolderName RunFolder(int run)
{
    FolderName name;
    snprintf(name.text, sizeof name.text, "run-%04d", run + 1);
    return name;
}

static void ChooseRun(Batch* batch, int run, snwPerformDef* def, char* directory, size_t capacity)
{
    *def = batch->def;
    int seeds = batch->seedCount > 0 ? batch->seedCount : 1;
    def->options.hasSeed = batch->seedCount > 0;
    def->options.seed = batch->firstSeed + (uint64_t)(run % seeds);
    int rest = run / seeds;

    // The number of the run in mixed radix: seeds change fastest, then the last sweep.
    for (int i = batch->sweepCount - 1; i >= 0; --i)
    {
        const snwSweep* sweep = &batch->sweeps[i];
        batch->settings[batch->settingCount + i] = (snwSetting){sweep->param->name, sweep->values[rest % sweep->count]};
        rest /= sweep->count;
    }

    def->options.settings = batch->settings;
    def->options.settingCount = batch->settingCount + batch->sweepCount;
    def->directory = batch->directory;
    if (batch->directory != NULL && batch->runCount > 1)
    {
        if (snwJoinPath(directory, capacity, batch->directory, RunFolder(run).text))
            def->directory = directory;
    }
}

static void PrintLine(const char* name, double value, const char* unit)
{
    char number[32];
    snwFormatNumber(value, number, sizeof number);
    printf("%-16s %10s %s\n", name, number, unit);
}

static void PrintSingle(const snwPerformance* performance)
{
    const snwRunReport* report = &performance->report;
    printf("%-16s %s\n%-16s %s\n", "scene", performance->scene, "method", performance->method);
    printf("%-16s %10d\n%-16s %016" PRIx64 "\n", "frames", report->frames, "hash", report->hash);
    PrintLine("time", report->last.time, "s");
    PrintLine("step, median", report->stepMsMedian, "ms");
    PrintLine("step, longest", report->stepMsMax, "ms");

    for (int i = 0; i < report->stageCount; ++i)
    {
        char name[64];
        snprintf(name, sizeof name, "  %s", report->stages[i].stage);
        PrintLine(name, report->stages[i].ms, "ms of each step");
    }

    // What became of the motion: energies, and how far flesh was from its rest.
    PrintLine("energy, first", report->first.energy, "J");
    PrintLine("energy, last", report->last.energy, "J");
    PrintLine("energy, most", report->energyMax, "J");
    PrintLine("volume", report->last.volume / report->first.volume, "of the first");
    PrintLine("least element", report->minVolumeRatio, "of its rest volume");
    PrintLine("stretch, most", report->maxStretch, "of the rest length");
}

static snwExit RunSingle(Batch* batch)
{
    snwPerformDef def;
    snwPerformance performance;
    snwMessage message;

    ChooseRun(batch, 0, &def, NULL, 0);
    snwResult result = snwPerform(batch->context, &def, &performance, &message);

    // It did not even begin.
    if (!performance.ran)
    {
        snwPerformance_Free(&performance);
        return performance.badInput ? snwReportInput(&message) : snwReportMessage(&message);
    }

    if (batch->json)
        snwPrintJson(snwPerformance_ToJson(&def, &performance));
    else
        PrintSingle(&performance);

    fflush(stdout);
    snwReportMessage(&message);
    snwPerformance_Warn(&performance);

    if (result == snw_errorInterrupted)
        snwNote("kept: %d of %d frames%s", performance.report.frames, performance.frameCount,
            def.cache ? "; --resume goes on" : "");

    snwPerform_ListFiles(&def, &performance);
    snwPerformance_Free(&performance);
    return snwExit_FromResult(result);
}

// ---------------------------------------------------------------------------------------------------------------------
// Many runs: a row each

static snwTextTable StartTable(const Batch* batch)
{
    const char* heads[snw_maxSweeps + 10];
    int count = 0;
    if (batch->directory != NULL)
        heads[count++] = "<run";
    for (int i = 0; i < batch->sweepCount; ++i)
        heads[count++] = batch->sweeps[i].param->name;
    static const char* const rest[] = {
        "seed", "frames", "step ms", "energy J", "most J", "least element", "stretch", "hash", "<result"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; ++i)
        heads[count++] = rest[i];
    return snwTextTable_Start(heads, count);
}

static void SetSimNumber(snwTextTable* table, int column, double value)
{
    char number[32];
    snwFormatNumber(value, number, sizeof number);
    snwTextTable_Set(table, column, "%s", number);
}

static void AddTableRow(const Batch* batch, snwTextTable* table, const snwPerformance* performance, int run)
{
    const snwRunReport* report = &performance->report;
    int column = 0;

    snwTextTable_AddRow(table);
    if (batch->directory != NULL)
        snwTextTable_Set(table, column++, "%s", RunFolder(run).text);
    for (int i = 0; i < batch->sweepCount; ++i)
    {
        char value[48];
        snwParam_FormatValue(
            batch->sweeps[i].param, batch->settings[batch->settingCount + i].value, value, sizeof value);
        snwTextTable_Set(table, column++, "%s", value);
    }

    // The figures of the run.
    snwTextTable_Set(table, column++, "%" PRIu64, performance->seed);
    snwTextTable_Set(table, column++, "%d", report->frames);
    SetSimNumber(table, column++, report->stepMsMedian);
    SetSimNumber(table, column++, report->last.energy);
    SetSimNumber(table, column++, report->energyMax);
    SetSimNumber(table, column++, report->minVolumeRatio);
    SetSimNumber(table, column++, report->maxStretch);
    snwTextTable_Set(table, column++, "%016" PRIx64, report->hash);
    snwTextTable_Set(table, column, "%s", snwPerformance_Outcome(performance));
}

// A diverged run is a row like any other; anything else that fails ends the batch.
static snwExit RunRow(Batch* batch, int run, json_t* rows, snwTextTable* table)
{
    char directory[snw_maxPath];
    snwPerformDef def;
    snwPerformance performance;
    snwMessage message;

    ChooseRun(batch, run, &def, directory, sizeof directory);
    snwDetail("run %d of %d", run + 1, batch->runCount);
    snwResult result = snwPerform(batch->context, &def, &performance, &message);
    snwExit code = snwExit_FromResult(result);

    if (performance.ran)
    {
        json_array_append_new(rows, snwPerformance_ToJson(&def, &performance));
        AddTableRow(batch, table, &performance, run);
        batch->inverted += performance.report.firstInverted >= 0;
        batch->warned += performance.report.warningCount > 0;
    }

    if (result < 0 && result != snw_errorDiverged)
        code = performance.badInput ? snwReportInput(&message) : snwReportMessage(&message);
    snwPerformance_Free(&performance);
    return code;
}

static bool SweepPath(const Batch* batch, char* path)
{
    return batch->directory != NULL && snwJoinPath(path, snw_maxPath, batch->directory, "sweep.csv");
}

// Before the runs: an hour later is too late.
static snwExit CheckSweepFile(const Batch* batch)
{
    char path[snw_maxPath];
    if (!SweepPath(batch, path) || batch->def.overwrite || batch->def.resume || !snwFileExists(path))
        return snw_exitOk;
    return snwReport(snw_errorIo, "--force to replace it, or another folder with -o", "%s: it exists already", path);
}

// The table that was printed, for spreadsheets.
static snwExit WriteSweepFile(const Batch* batch, const snwTextTable* table)
{
    char path[snw_maxPath];
    char* text = NULL;
    size_t size = 0;
    snwMessage message = {0};

    if (!SweepPath(batch, path))
        return snw_exitOk;
    FILE* stream = open_memstream(&text, &size);
    if (stream == NULL)
        return snwReportMemory();
    snwTextTable_WriteCsv(table, stream);
    fclose(stream);

    // A batch that is resumed writes its table anew.
    bool overwrite = batch->def.overwrite || batch->def.resume;
    snwResult result = snwFile_Write(batch->context, path, text, size, overwrite, &message);
    free(text);
    if (result < 0)
        return snwReportMessage(&message);
    snwNote("%-12s %s", "table", path);

    return snw_exitOk;
}

static snwExit RunMany(Batch* batch)
{
    snwExit sound = CheckSweepFile(batch);
    if (sound != snw_exitOk)
        return sound;

    // Run by run: one that diverges does not stop the others, an error does.
    json_t* rows = json_array();
    snwTextTable table = StartTable(batch);
    snwExit worst = snw_exitOk;
    bool goOn = true;

    for (int run = 0; run < batch->runCount && goOn; ++run)
    {
        snwExit result = RunRow(batch, run, rows, &table);

        goOn = (result == snw_exitOk || result == snw_exitDiverged) && !*snwInterrupt_Flag();
        if (result != snw_exitOk)
            worst = result;
    }

    if (batch->json)
        snwPrintJson(json_pack("{s:i, s:O}", "schema", 1, "rows", rows));
    else if (table.rows > 1)
        snwTextTable_Print(&table, stdout);

    fflush(stdout);

    // What went wrong in any of them.
    if (batch->inverted > 0)
        snwReport(snw_warning, "see first_inverted_frame with --json", "elements were inverted in %d of %d runs",
            batch->inverted, table.rows - 1);
    if (batch->warned > 0)
        snwReport(snw_warning, "see warnings with --json", "%d of %d runs ended with warnings", batch->warned,
            table.rows - 1);

    snwExit written = table.rows > 1 ? WriteSweepFile(batch, &table) : snw_exitOk;
    json_decref(rows);
    snwTextTable_Free(&table);
    return *snwInterrupt_Flag() ? snw_exitInterrupted : worst != snw_exitOk ? worst : written;
}

// Is anything random in any of the runs?
static bool HasJitter(const Batch* batch, const snwSceneDef* scene)
{
    const snwParamInfo* param = snwFindAnyParam("sim.jitter");
    double value = param != NULL ? param->initial : 0;
    for (int i = 0; i < scene->settingCount; ++i)
        if (strcmp(scene->settings[i].name, "sim.jitter") == 0)
            value = scene->settings[i].value;
    bool swept = false;
    for (int i = 0; i < batch->sweepCount; ++i)
        swept = swept || strcmp(batch->sweeps[i].param->name, "sim.jitter") == 0;
    return value != 0 || swept;
}

// Several seeds start at --seed, or at the scene's own.
static snwExit ChooseSeeds(Batch* batch)
{
    snwSceneFile file = {0};
    snwMessage message = {0};
    snwSceneOptions options = batch->def.options;
    if (batch->seedCount == 0 || (batch->seedCount == 1 && batch->seedGiven))
        return snw_exitOk;
    options.settings = batch->settings;
    options.settingCount = batch->settingCount;
    if (snwOpenScene(batch->context, batch->def.path, &options, &file, &message) < 0)
        return snwReportInput(&message);
    const snwSceneDef* scene = snwScene_GetDef(file.scene);
    if (!batch->seedGiven)
        batch->firstSeed = scene->seed;
    if (batch->seedCount > 1 && !HasJitter(batch, scene))
        snwNote("every seed gives the same run, because sim.jitter is 0: --set sim.jitter=0.1 makes them differ");
    snwSceneFile_Close(&file);
    return snw_exitOk;
}

static snwExit RunSim(const snwArgs* args)
{
    Batch batch = {0};
    snwExit result = ReadBatch(args, &batch);
    if (result == snw_exitOk)
        result = snwContextFromArgs(args, &batch.context);
    if (result == snw_exitOk)
    {
        snwInterrupt_Listen();
        result = ChooseSeeds(&batch);
        if (result == snw_exitOk)
            result = batch.runCount == 1 ? RunSingle(&batch) : RunMany(&batch);
        snwDestroyContext(batch.context);
    }
    free(batch.settings);
    free(batch.sweeps);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

static const snwOption s_options[] = {
    {"output", 'o', "DIR", false, snw_completeFolder, NULL, "write log, measures, report, plots and film here"},
    {"force", 'f', NULL, false, snw_completeNothing, NULL, "replace files that exist"},
    {"method", 'm', "NAME", false, snw_completeMethods, NULL, "use this method instead of the scene's"},
    {"set", 's', "NAME=VALUE", true, snw_completeParams, NULL, "set a parameter: see sinew info --params"},
    {"sweep", 0, "NAME=VALUES", true, snw_completeParams, NULL, "run once per value: a:b:n or v1,v2,v3"},
    {"seed", 0, "N", false, snw_completeNothing, NULL, "seed of everything random"},
    {"seeds", 0, "N", false, snw_completeNothing, NULL, "run with N seeds, from --seed or the scene's own on"},
    {"duration", 'd', "SECONDS", false, snw_completeNothing, NULL, "how long to simulate"},
    {"frames", 'n', "N", false, snw_completeNothing, NULL, "how many frames to simulate"},
    SNW_MEMORY_OPTION,
    {"cache", 0, NULL, false, snw_completeNothing, NULL, "write frames.snwf: every frame, and what --resume needs"},
    {"cache-tolerance", 0, "METRES", false, snw_completeNothing, NULL,
        "a smaller cache with positions at most so far off (default: every bit)"},
    {"resume", 0, NULL, false, snw_completeNothing, NULL, "go on with a run that wrote a cache and was cut short"},
    {"film", 0, NULL, false, snw_completeNothing, NULL, "draw a film also in a sweep (a single run has one)"},
    SNW_FILM_OPTIONS,
    SNW_EXPORT_OPTIONS,
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print one JSON object; several runs are its rows"},
    SNW_CONTEXT_OPTIONS,
    {0},
};

static const snwExample s_examples[] = {
    {"sinew sim scene.json", "simulate and print the numbers"},
    {"sinew sim scene.json -o out/a --set pbd.iterations=20", "keep log, measures, plot, film and picture"},
    {"sinew sim scene.json -o out/a --resume", "go on with a run that had --cache, after a crash or Ctrl-C"},
    {"sinew sim scene.json -o out/b --look strain --show contacts,pins", "a film in which colours tell the strain"},
    {"sinew sim scene.json --sweep pbd.iterations=5:20:4 --json", "four runs: a JSON object with four rows"},
    {"sinew sim jello --sweep material.young=2000,8000,32000", "three stiffnesses of the flesh, in Pa"},
    {"sinew sim scene.json --sweep sim.substeps=1,2,4 --seeds 3", "nine runs: every value with three seeds"},
    {"sinew sim scene.json -o out/b --export pc2,obj --no-film", "point caches and meshes for other programs"},
    {0},
};

const snwVerb snwSimVerb = {
    .name = "sim",
    .operands = "SCENE|CHARACTER",
    .leastOperands = 1,
    .mostOperands = 1,
    .complete = snw_completeFile,
    .summary = "simulate a scene or a character, by its file or its name",
    .about = "A character stands in a scene that suits it, as in the studio.\n"
             "Without -o only the numbers are printed. With -o DIR the folder gets log.jsonl (see\n"
             "sinew replay), measures.csv, report.json, film.mp4, picture.png and plots as .svg and\n"
             ".png: energy, timings, residual, centre (of mass) and, with contacts, pressure (its centre).\n"
             "\n"
             "--export writes every body for other programs: obj and ply as one file per frame in\n"
             "DIR/obj and DIR/ply, pc2 and mdd as point caches of the skin, medit as labelled\n"
             "elements, json as measures.json.\n"
             "\n"
             "With --cache also frames.snwf. A run that was cut short, even by kill -9 or a power\n"
             "cut, goes on with the same words and --resume, and leaves the same cache, log and\n"
             "measures to the last byte. Measures then have no columns of times.\n"
             "\n"
             "Also what flesh is made of is a parameter: material.young, material.BODY.young,\n"
             "material.REGION.young, material.BODY.REGION.young; likewise density, poisson, damping.\n"
             "\n"
             "Several --sweep options give every combination; with -o each run has its own folder,\n"
             "and sweep.csv holds the table.\n"
             "Ctrl-C ends after the current frame and keeps what is finished; again ends at once.",
    .options = s_options,
    .examples = s_examples,
    .run = RunSim,
};
