// The words of `sinew compare`: variants by method, setting or seed, and what is printed of them (compare.c does the
// work).

#include "app/compare.h"
#include "app/console.h"
#include "app/nearest.h"
#include "app/perform.h"
#include "app/settings.h"
#include "app/verbs.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Request
{
    snwCompareDef def;
    snwSetting* settings; // of --set with one value: for all variants
    snwSweep sweep;       // while a --set is read
    bool json;
} Request;

// ---------------------------------------------------------------------------------------------------------------------
// From the command line

// Unlike names: two variants alike would be the same run, and write to the same folder.
static snwExit AddVariant(snwCompareDef* def, const snwVariant* variant)
{
    for (int i = 0; i < def->variantCount; ++i)
        if (strcmp(def->variants[i].name, variant->name) == 0)
            return snwUsage("each value once", "'%s' is there twice", variant->name);
    if (def->variantCount == snw_mostVariants)
        return snwUsage("fewer values, or sinew sim --sweep", "more than %d variants", snw_mostVariants);
    def->variants[def->variantCount++] = *variant;
    return snw_exitOk;
}

// The next word of a list with commas; false at its end.
static bool NextWord(const char** list, char* word, size_t capacity)
{
    if (*list == NULL)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(word, capacity, "%.*s", (int)length, *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

static snwExit UnknownMethod(const char* name)
{
    snwNearest nearest = snwNearest_Start(name);
    for (int i = 0; i < snwMethodCount(); ++i)
        snwNearest_Try(&nearest, snwMethod_GetInfo(i).name);
    return snwUsage(nearest.best != NULL ? nearest.best : "sinew info --methods", "there is no method '%s'", name);
}

static snwExit ReadMethods(const snwArgs* args, snwCompareDef* def)
{
    char word[64];
    const char* list = snwArgs_Text(args, "methods");
    snwExit result = snw_exitOk;
    while (result == snw_exitOk && NextWord(&list, word, sizeof word))
    {
        int method = snwMethod_Find(word);
        if (method < 0)
            return UnknownMethod(word);
        snwVariant variant = {.method = snwMethod_GetInfo(method).name};
        snprintf(variant.name, sizeof variant.name, "%s", word);
        result = AddVariant(def, &variant);
    }
    return result;
}

static snwExit ReadCompareSeeds(const snwArgs* args, snwCompareDef* def)
{
    char word[64];
    const char* list = snwArgs_Text(args, "seeds");
    snwExit result = snw_exitOk;
    while (result == snw_exitOk && NextWord(&list, word, sizeof word))
    {
        char* end = NULL;
        errno = 0;
        snwVariant variant = {.hasSeed = true, .seed = strtoull(word, &end, 10)};
        if (!isdigit((unsigned char)word[0]) || *end != 0 || errno != 0)
            return snwUsage("whole numbers with commas: 1,2,3", "--seeds cannot be '%s'", word);
        snprintf(variant.name, sizeof variant.name, "seed=%" PRIu64, variant.seed);
        result = AddVariant(def, &variant);
    }
    return result;
}

static snwExit AddSetting(Request* request, const snwSweep* sweep)
{
    snwCompareDef* def = &request->def;
    const snwParamInfo* param = sweep->param;

    // One value is for all variants, several make a variant each.
    if (sweep->count == 1)
    {
        request->settings[def->options.settingCount++] = (snwSetting){param->name, sweep->values[0]};
        return snw_exitOk;
    }

    snwExit result = snw_exitOk;
    for (int i = 0; i < sweep->count && result == snw_exitOk; ++i)
    {
        char value[48];
        snwVariant variant = {.hasSetting = true, .setting = {param->name, sweep->values[i]}};
        snwParam_FormatValue(param, sweep->values[i], value, sizeof value);
        snprintf(variant.name, sizeof variant.name, "%s=%s", param->name, value);
        result = AddVariant(def, &variant);
    }

    return result;
}

static snwExit ReadCompareSettings(const snwArgs* args, Request* request)
{
    int count = snwArgs_Count(args, "set");
    request->settings = calloc((size_t)count + 1, sizeof *request->settings);
    if (request->settings == NULL)
        return snwReportMemory();
    request->def.options.settings = request->settings;
    snwExit result = snw_exitOk;
    for (int i = 0; i < count && result == snw_exitOk; ++i)
    {
        result = snwSweep_ParseFor("--set", snwArgs_Nth(args, "set", i), &request->sweep);
        if (result == snw_exitOk)
            result = AddSetting(request, &request->sweep);
    }
    return result;
}

static snwExit ReadVariants(const snwArgs* args, Request* request)
{
    snwExit result = ReadMethods(args, &request->def);
    if (result == snw_exitOk)
        result = ReadCompareSettings(args, request);
    if (result == snw_exitOk)
        result = ReadCompareSeeds(args, &request->def);
    if (result == snw_exitOk && request->def.variantCount < snw_leastVariants)
        return snwUsage("--set sim.substeps=1,2,4", "there are not two variants to compare");
    return result;
}

static snwExit ReadRequest(const snwArgs* args, Request* request)
{
    snwCompareDef* def = &request->def;
    *def = snwDefaultCompareDef();
    def->path = args->operands[0];
    def->directory = snwArgs_Text(args, "output");
    def->overwrite = snwArgs_Has(args, "force");
    def->film = !snwArgs_Has(args, "no-film");
    request->json = snwArgs_Has(args, "json");

    // The same ranges as for films.
    bool sound = snwArgs_Real(args, "duration", 1e-6, 1e6, &def->options.duration) &&
                 snwArgs_Int(args, "frames", 1, 10000000, &def->frames) &&
                 snwArgs_Int(args, "width", 16, 2048, &def->width) &&
                 snwArgs_Int(args, "height", 16, 2048, &def->height) &&
                 snwArgs_Int(args, "samples", 1, 256, &def->samples) &&
                 snwArgs_Real(args, "memory", 0.001, 1000, &def->options.memory);
    if (!sound)
        return snw_exitUsage;

    if (snwArgs_Has(args, "duration") && def->frames > 0)
        return snwUsage("one of them", "--duration and --frames contradict each other");

    return ReadVariants(args, request);
}

// ---------------------------------------------------------------------------------------------------------------------

// Nothing to compare is worth a word: the change was one that this scene does not feel.
static void WarnIfSame(const snwCompareDef* def, const snwComparison* comparison)
{
    bool seeds = true;
    for (int i = 0; i < comparison->count; ++i)
    {
        seeds = seeds && def->variants[i].hasSeed;
        if (comparison->runs[i].report.hash != comparison->runs[0].report.hash)
            return;
    }
    if (comparison->count > 1)
        snwNote("all variants gave the same motion%s",
            seeds ? ", for nothing is random here: --set sim.jitter=0.1 makes seeds differ" : "");
}

static snwExit CompareRuns(snwContext* context, const Request* request)
{
    snwComparison comparison;
    snwMessage message;
    const snwCompareDef* def = &request->def;
    snwResult result = snwCompare(context, def, &comparison, &message);

    // Whatever ran is shown, also if a later variant failed.
    if (comparison.count > 0 && request->json)
        snwPrintJson(snwComparison_ToJson(def, &comparison));
    else if (comparison.count > 0)
    {
        snwTextTable table = snwComparison_ToTable(def, &comparison);
        snwTextTable_Print(&table, stdout);
        snwTextTable_Free(&table);
    }

    fflush(stdout);
    WarnIfSame(def, &comparison);
    if (result == snw_errorInterrupted)
        snwNote("kept: %d of %d variants", comparison.count, def->variantCount);
    if (comparison.count > 0)
        snwComparison_ListFiles(def, &comparison);

    // A diverged variant is a row; its result is in the table.
    snwExit code = snwExit_FromResult(result);
    if (result < 0 && result != snw_errorDiverged)
        code = comparison.badInput ? snwReportInput(&message) : snwReportMessage(&message);
    snwComparison_Free(&comparison);
    return code;
}

static snwExit RunCompare(const snwArgs* args)
{
    snwContext* context = NULL;
    Request* request = calloc(1, sizeof *request);
    if (request == NULL)
        return snwReportMemory();
    snwExit result = ReadRequest(args, request);
    if (result == snw_exitOk)
        result = snwContextFromArgs(args, &context);
    if (result == snw_exitOk)
    {
        snwInterrupt_Listen();
        result = CompareRuns(context, request);
        snwDestroyContext(context);
    }
    free(request->settings);
    free(request);
    return result;
}

static const snwOption s_options[] = {
    {"methods", 'm', "NAMES", false, snw_completeMethods, NULL, "a variant per method, with commas"},
    {"set", 's', "NAME=VALUES", true, snw_completeParams, NULL,
        "a variant per value: v1,v2,v3 or a:b:n; a single value is for all variants"},
    {"seeds", 0, "NUMBERS", false, snw_completeNothing, NULL, "a variant per seed, with commas"},
    {"output", 'o', "DIR", false, snw_completeFolder, NULL, "write table, plots, film and each variant's log here"},
    {"force", 'f', NULL, false, snw_completeNothing, NULL, "replace files that exist"},
    {"duration", 'd', "SECONDS", false, snw_completeNothing, NULL, "how long to simulate"},
    {"frames", 'n', "N", false, snw_completeNothing, NULL, "how many frames to simulate"},
    SNW_MEMORY_OPTION,
    {"no-film", 0, NULL, false, snw_completeNothing, NULL, "draw neither film nor picture"},
    {"width", 0, "PIXELS", false, snw_completeNothing, NULL, "width of each variant in the film (default 480)"},
    {"height", 0, "PIXELS", false, snw_completeNothing, NULL, "height of each variant in the film (default 270)"},
    {"samples", 0, "N", false, snw_completeNothing, NULL,
        "rays per pixel of the film (default " SNW_WORD(SNW_FILM_SAMPLES) ")"},
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print the comparison as JSON"},
    SNW_CONTEXT_OPTIONS,
    {0},
};

static const snwExample s_examples[] = {
    {"sinew compare scene.json --set sim.substeps=1,2,4", "three runs and their numbers"},
    {"sinew compare scene.json --set pbd.iterations=5,20 -o out/c", "with plots and a film side by side"},
    {"sinew compare jello --set material.young=2000,20000 -o out/c", "soft and firm flesh side by side"},
    {"sinew compare scene.json --seeds 1,2,3 --set sim.jitter=0.1", "how much chance matters"},
    {0},
};

const snwVerb snwCompareVerb = {
    .name = "compare",
    .operands = "SCENE|CHARACTER",
    .leastOperands = 1,
    .mostOperands = 1,
    .complete = snw_completeFile,
    .summary = "run variants of a scene side by side",
    .about = "Two to eight variants of one scene, each with one change: a method, a value of a\n"
             "parameter or a seed. Several lists are not combined but put one after the other (for\n"
             "every combination see sinew sim --sweep). What flesh is made of is a parameter too:\n"
             "material.young, or of one body material.BODY.young; likewise density, poisson, damping.\n"
             "\n"
             "With -o DIR the folder gets compare.csv, compare.json, the plots energy, height and step\n"
             "as .svg and .png, film.mp4 and picture.png with all variants under one camera, and a\n"
             "folder per variant with log.jsonl and measures.csv. The drift is the change of energy\n"
             "from the first frame to the last, over the largest energy there was; a caution says why a\n"
             "variant's numbers are not to be trusted alone.\n"
             "Ctrl-C ends after the current frame and keeps what is finished; again ends at once.",
    .options = s_options,
    .examples = s_examples,
    .run = RunCompare,
};
