// sinew compare: the same scene by several methods, settings or seeds, one after the other; then a table, plots, a
// report and a film of all of them side by side.

#include "app/compare.h"
#include "app/console.h"
#include "scene/shipped.h"
#include "app/settings.h"
#include "base/hash.h"
#include "base/result.h"
#include "scene/file.h"
#include "view/tiles.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Everything a comparison may leave in its folder beside the folders of the variants.
static const struct
{
    const char* name;
    bool film;
    const char* what;
} s_outputs[] = {
    {"film.mp4", true, "film"},
    {"picture.png", true, "picture"},
    {"energy.svg", false, "energy"},
    {"energy.png", false, "energy_png"},
    {"height.svg", false, "height"},
    {"height.png", false, "height_png"},
    {"step.svg", false, "step"},
    {"step.png", false, "step_png"},
    {"compare.csv", false, "table"},
    {"compare.json", false, "report"},
};

enum
{
    compare_outputCount = sizeof s_outputs / sizeof *s_outputs
};

snwCompareDef snwDefaultCompareDef(void)
{
    return (snwCompareDef){.options = snwDefaultSceneOptions(), .width = 480, .height = 270, .samples = 4};
}

static snwResult JoinComparePath(char* path, const char* folder, const char* name, snwMessage* message)
{
    return snwJoinPath(path, snw_maxPath, folder, name)
               ? snw_ok
               : snwFail(message, snw_errorIo, "a shorter -o", "the path is too long");
}

// ---------------------------------------------------------------------------------------------------------------------
// Before the runs

static snwResult CheckComparePaths(const snwCompareDef* def, snwMessage* message)
{
    char path[snw_maxPath];
    for (int i = 0; i < compare_outputCount && def->directory != NULL; ++i)
    {
        snwResult result = JoinComparePath(path, def->directory, s_outputs[i].name, message);
        if (result < 0)
            return result;
        if (def->overwrite || (s_outputs[i].film && !def->film) || !snwFileExists(path))
            continue;
        snwFail(message, snw_errorIo, "--force to replace it, or another folder with -o", "it exists already");
        snwMessage_SetFile(message, path);
        return snw_errorIo;
    }
    return def->directory != NULL ? snwMakeFolder(def->directory, message) : snw_ok;
}

static bool Films(const snwCompareDef* def)
{
    return def->film && def->directory != NULL;
}

// Better known before minutes of drawing than after.
static void FindFfmpeg(const snwCompareDef* def, snwComparison* comparison)
{
    comparison->noFilm = Films(def) && !snwHasProgram("ffmpeg");
    if (comparison->noFilm)
        snwReport(snw_warning, "apt install ffmpeg",
            "there will be a picture but no film, for the program ffmpeg is not here");
}

// ---------------------------------------------------------------------------------------------------------------------
// One variant

typedef struct Stage
{
    snwContext* context;
    snwVariantRun* run;
    char label[128];
    snwProgress progress;
} Stage;

// What is for all variants need only act where they have one method.
static snwResult CheckSettings(
    const snwCompareDef* def, const snwVariant* variant, const snwSceneDef* scene, snwMessage* message)
{
    bool methods = false;
    for (int i = 0; i < def->variantCount; ++i)
        methods = methods || def->variants[i].method != NULL;
    snwResult result = snwSettings_Check(&variant->setting, variant->hasSetting, scene, message);
    if (result >= 0 && !methods)
        result = snwSettings_Check(def->options.settings, def->options.settingCount, scene, message);
    return result;
}

static snwResult OpenVariantScene(
    snwContext* context, const snwCompareDef* def, const snwVariant* variant, snwSceneFile* file, snwMessage* message)
{
    snwSceneOptions options = def->options;
    snwSetting* settings = calloc((size_t)options.settingCount + 1, sizeof *settings);
    if (settings == NULL)
        return snwFailMemory(message);

    // The variant's own setting comes last, so it wins.
    for (int i = 0; i < options.settingCount; ++i)
        settings[i] = options.settings[i];
    options.settings = settings;
    if (variant->hasSetting)
        settings[options.settingCount++] = variant->setting;

    options.method = variant->method != NULL ? variant->method : options.method;
    options.hasSeed = options.hasSeed || variant->hasSeed;
    options.seed = variant->hasSeed ? variant->seed : options.seed;

    snwResult result = snwOpenScene(context, def->path, &options, file, message);
    if (result >= 0 && def->frames > 0) // a matter of the rate, which only the opened scene knows
    {
        options.duration = def->frames / snwScene_GetDef(file->scene)->rate;
        snwSceneFile_Close(file);
        result = snwOpenScene(context, def->path, &options, file, message);
    }

    // Words that say nothing here are told, unless something worse has happened.
    if (result >= 0)
    {
        snwResult words = CheckSettings(def, variant, snwScene_GetDef(file->scene), message);
        if (words < 0)
            snwSceneFile_Close(file);
        result = words < 0 ? words : result;
    }

    free(settings);
    return result;
}

static uint64_t HashBones(const snwSim* sim, int bodyCount)
{
    snwTransforms bones;
    uint64_t hash = 0;
    for (int b = 0; b < bodyCount; ++b)
        for (int i = 0; snwSim_GetBones(sim, b, &bones) >= 0 && i < bones.count; ++i)
            hash = snwHash((const char*)bones.data + (size_t)i * (size_t)bones.stride, sizeof *bones.data, hash);
    return hash;
}

// A skeleton that stays where it is cannot sag, whatever its flesh does: not to be compared with one that moves.
static void WatchBones(snwVariantRun* run, const snwRunFrame* frame)
{
    uint64_t hash = HashBones(frame->sim, run->bodyCount);
    if (frame->frame == 0)
        run->bonesAtFirst = hash;
    run->bonesMove = run->bonesMove || hash != run->bonesAtFirst;
}

static snwResult OnVariantFrame(const snwRunFrame* frame, void* user, snwMessage* message)
{
    Stage* stage = user;
    snwVariantRun* run = stage->run;
    if (frame->frame == 0)
        stage->progress = snwProgress_Begin(stage->label, frame->frameCount);
    snwProgress_Update(&stage->progress, frame->frame);
    WatchBones(run, frame);
    bool kept = snwArray_Push(stage->context, &run->times, frame->measures->time) &&
                snwArray_Push(stage->context, &run->energies, frame->measures->energy) &&
                snwArray_Push(stage->context, &run->heights, frame->measures->centre.y) &&
                snwArray_Push(stage->context, &run->stepMs, frame->frame > 0 ? frame->stepMs : NAN);
    if (!kept)
        return snwFailMemory(message);
    return run->film != NULL ? snwFilm_AddFrame(run->film, frame->sim, message) : snw_ok;
}

// Only kept frames: the tiles are drawn when all variants are there.
static snwResult OpenVariantFilm(
    snwContext* context, const snwCompareDef* def, const snwSceneFile* file, snwVariantRun* run, snwMessage* message)
{
    if (!Films(def))
        return snw_ok;
    snwFilmDef film = snwDefaultFilmDef();
    film.width = def->width;
    film.height = def->height;
    film.samples = def->samples;
    film.camera = file->camera;
    return snwCreateFilm(context, &film, file->scene, &run->film, message);
}

static snwResult RunVariantScene(
    Stage* stage, const snwCompareDef* def, const snwVariant* variant, const snwSceneFile* file, snwMessage* message)
{
    char folder[snw_maxPath], log[snw_maxPath], measures[snw_maxPath];
    snwRunDef run = snwDefaultRunDef();
    snwResult result = snw_ok;

    // With a folder, each variant has one of its own in it.
    if (def->directory != NULL)
    {
        result = JoinComparePath(folder, def->directory, variant->name, message);
        if (result >= 0)
            result = JoinComparePath(log, folder, "log.jsonl", message);
        if (result >= 0)
            result = JoinComparePath(measures, folder, "measures.csv", message);
        if (result >= 0)
            result = snwMakeFolder(folder, message);
        run.logPath = log;
        run.measuresPath = measures;
    }

    if (result < 0)
        return result;

    run.file = file;
    run.overwrite = def->overwrite;
    run.interrupt = snwInterrupt_Flag();
    run.onFrame = OnVariantFrame;
    run.user = stage;
    result = snwRun(stage->context, &run, &stage->run->report, message);
    snwProgress_End(&stage->progress);

    return result;
}

static bool IsOutcome(snwResult result)
{
    return result >= 0 || result == snw_errorDiverged || result == snw_errorInterrupted;
}

static snwResult RunVariant(snwComparison* comparison, const snwCompareDef* def, int index, snwMessage* message)
{
    const snwVariant* variant = &def->variants[index];
    snwVariantRun* run = &comparison->runs[index];
    snwSceneFile file = {0};

    Stage stage = {.context = comparison->context, .run = run};
    snprintf(stage.label, sizeof stage.label, "%d/%d %s", index + 1, def->variantCount, variant->name);
    snwResult result = OpenVariantScene(comparison->context, def, variant, &file, message);
    comparison->badInput = result < 0;
    if (result < 0)
        return result;

    // What the scene says of itself, for the table.
    const snwSceneDef* scene = snwScene_GetDef(file.scene);
    snprintf(comparison->scene, sizeof comparison->scene, "%s", scene->name);
    snprintf(run->method, sizeof run->method, "%s", scene->method);
    run->seed = scene->seed;
    run->bodyCount = scene->bodyCount;

    result = OpenVariantFilm(comparison->context, def, &file, run, message);
    if (result >= 0)
        result = RunVariantScene(&stage, def, variant, &file, message);
    snwSceneFile_Close(&file);

    // A run that diverges is an outcome; only what is none ends the comparison.
    run->result = result;
    if (!IsOutcome(result))
        return result;
    comparison->count = index + 1;
    if (result < 0)
        snprintf(run->reason, sizeof run->reason, "%s", message->text);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static snwResult WritePlot(const snwCompareDef* def, const snwComparison* comparison, const char* name,
    const char* title, const char* yLabel, size_t column, snwMessage* message)
{
    char stem[snw_maxPath], words[256];
    snwPlotCurve curves[snw_mostVariants];
    int most = 0;

    // A curve per variant, each with its own times.
    for (int i = 0; i < comparison->count; ++i)
    {
        const snwVariantRun* run = &comparison->runs[i];
        const snwColumn* values = (const snwColumn*)((const char*)run + column);
        curves[i] = (snwPlotCurve){def->variants[i].name, run->times.data, values->data, values->count};
        most = values->count > most ? values->count : most;
    }

    if (most < 2) // frame 0 alone is no curve
        return snw_ok;

    snwResult result = JoinComparePath(stem, def->directory, name, message);
    if (result < 0)
        return result;
    snprintf(words, sizeof words, "%s of %s", title, comparison->scene);

    snwPlotDef plot = snwDefaultPlotDef();

    plot.title = words;
    plot.xLabel = "time (s)";
    plot.yLabel = yLabel;
    plot.curves = curves;
    plot.curveCount = comparison->count;
    plot.overwrite = def->overwrite;

    return snwPlot_Write(comparison->context, &plot, stem, message);
}

static snwResult WritePlots(const snwCompareDef* def, const snwComparison* comparison, snwMessage* message)
{
    snwResult result = WritePlot(
        def, comparison, "energy", "Energy", "energy (J)", offsetof(snwVariantRun, energies), message);
    if (result >= 0)
        result = WritePlot(def, comparison, "height", "Height of the centre of mass", "height (m)",
            offsetof(snwVariantRun, heights), message);
    if (result >= 0)
        result = WritePlot(
            def, comparison, "step", "Time per step", "time (ms)", offsetof(snwVariantRun, stepMs), message);
    return result;
}

static snwResult WriteCompareText(const snwCompareDef* def, const snwComparison* comparison, const char* name,
    const char* text, size_t size, snwMessage* message)
{
    char path[snw_maxPath];
    snwResult result = JoinComparePath(path, def->directory, name, message);
    return result >= 0 ? snwFile_Write(comparison->context, path, text, size, def->overwrite, message) : result;
}

static snwResult WriteCompareTable(const snwCompareDef* def, const snwComparison* comparison, snwMessage* message)
{
    char* text = NULL;
    size_t size = 0;
    FILE* stream = open_memstream(&text, &size);
    if (stream == NULL)
        return snwFailMemory(message);
    snwTextTable table = snwComparison_ToTable(def, comparison);
    snwTextTable_WriteCsv(&table, stream);
    snwTextTable_Free(&table);
    fclose(stream);
    snwResult result = WriteCompareText(def, comparison, "compare.csv", text, size, message);
    free(text);
    return result;
}

static snwResult WriteCompareReport(const snwCompareDef* def, const snwComparison* comparison, snwMessage* message)
{
    json_t* report = snwComparison_ToJson(def, comparison);
    char* text = json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(report);
    if (text == NULL)
        return snwFailMemory(message);
    size_t length = strlen(text);
    text[length] = '\n'; // in the place of the zero: the size is told
    snwResult result = WriteCompareText(def, comparison, "compare.json", text, length + 1, message);
    free(text);
    return result;
}

static snwResult OnCompareDrawn(int done, int total, void* user)
{
    snwProgress* progress = user;
    if (progress->total != total)
    {
        *progress = snwProgress_Begin("drawing", total);
        if (!progress->visible)
            snwNote("drawing %d frames; --no-film skips this", total);
    }
    snwProgress_Update(progress, done);
    return *snwInterrupt_Flag() ? snw_errorInterrupted : snw_ok;
}

static snwResult DrawTiledFilm(const snwCompareDef* def, snwComparison* comparison, snwMessage* message)
{
    snwFilm* films[snw_mostVariants];
    const char* names[snw_mostVariants];
    char film[snw_maxPath], picture[snw_maxPath];

    for (int i = 0; i < comparison->count; ++i)
    {
        films[i] = comparison->runs[i].film;
        names[i] = def->variants[i].name;
    }

    if (JoinComparePath(film, def->directory, "film.mp4", message) < 0 ||
        JoinComparePath(picture, def->directory, "picture.png", message) < 0)
        return snw_errorIo;
    snwTilesDef tiles = {.films = films,
        .names = names,
        .count = comparison->count,
        .title = comparison->scene,
        .directory = def->directory,
        .filmPath = comparison->noFilm ? NULL : film,
        .picturePath = picture,
        .pictureFrame = -1,
        .overwrite = def->overwrite};
    snwProgress progress = {0};
    snwResult result = snwTiles_Draw(comparison->context, &tiles, OnCompareDrawn, &progress, message);
    snwProgress_End(&progress);
    if (result >= 0 || strncmp(message->file, film, sizeof message->file - 1) != 0)
        return result;

    // The numbers are worth more than their film: say it, and go on.
    comparison->noFilm = true;
    message->result = snw_warning;
    snwReportMessage(message);
    snwMessage_Clear(message);

    return snw_ok;
}

// Numbers first: a film takes minutes, and somebody may stop it.
static snwResult WriteCompareFiles(
    const snwCompareDef* def, snwComparison* comparison, bool interrupted, snwMessage* message)
{
    if (def->directory == NULL || comparison->count == 0)
        return snw_ok;
    snwResult result = WriteCompareTable(def, comparison, message);
    if (result >= 0)
        result = WriteCompareReport(def, comparison, message);
    if (result >= 0)
        result = WritePlots(def, comparison, message);
    if (result >= 0 && Films(def) && !interrupted)
        result = DrawTiledFilm(def, comparison, message);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

snwResult snwCompare(snwContext* context, const snwCompareDef* def, snwComparison* comparison, snwMessage* message)
{
    *comparison = (snwComparison){.context = context};
    snwMessage_Clear(message);
    snwResult result = CheckComparePaths(def, message), worst = snw_ok;
    if (result < 0)
        return comparison->result = result;
    FindFfmpeg(def, comparison);

    // One that diverges is a result like others; Ctrl-C, and what is wrong with scene or disk, end the comparison.
    for (int i = 0; i < def->variantCount && worst != snw_errorInterrupted; ++i)
    {
        result = RunVariant(comparison, def, i, message);
        if (!IsOutcome(result))
            break;
        worst = result < 0 ? result : worst;
    }

    snwMessage later = {0};
    snwResult written = WriteCompareFiles(def, comparison, !IsOutcome(result) || worst == snw_errorInterrupted, &later);

    // What ended the runs is the news; trouble with the files is told only if they were fine.
    if (!IsOutcome(result) || worst < 0)
    {
        if (written < 0)
            snwPrintError(&later);
        return comparison->result = IsOutcome(result) ? worst : result;
    }

    *message = later;
    return comparison->result = written;
}

void snwComparison_Free(snwComparison* comparison)
{
    for (int i = 0; i < snw_mostVariants && comparison->context != NULL; ++i)
    {
        snwVariantRun* run = &comparison->runs[i];
        snwArray_Free(comparison->context, &run->times);
        snwArray_Free(comparison->context, &run->energies);
        snwArray_Free(comparison->context, &run->heights);
        snwArray_Free(comparison->context, &run->stepMs);
        snwDestroyFilm(run->film);
    }
    *comparison = (snwComparison){0};
}

double snwVariantRun_Drift(const snwVariantRun* run)
{
    const snwRunReport* report = &run->report;
    double scale = fmax(fabs(report->first.energy), fabs(report->energyMax));
    return scale > 0 ? (report->last.energy - report->first.energy) / scale : 0;
}

static void SetNumber(snwTextTable* table, int column, double value)
{
    char number[32];
    snwFormatNumber(value, number, sizeof number);
    snwTextTable_Set(table, column, "%s", number);
}

// The worst first: a table has room for one.
void snwComparison_Caution(const snwCompareDef* def, const snwComparison* comparison, int index, char text[160])
{
    const snwVariantRun* run = &comparison->runs[index];
    const snwRunReport* report = &run->report;
    bool others = false;
    int same = -1;

    // How this run differs from the others, if at all.
    for (int i = 0; i < comparison->count; ++i)
    {
        others = others || comparison->runs[i].bonesMove;
        if (i < index && same < 0 && comparison->runs[i].report.hash == report->hash)
            same = i;
    }

    // A warning that casts doubt comes before what is merely odd, any other one behind it.
    bool stays = others && !run->bonesMove;
    text[0] = 0;
    if (run->result < 0)
        snprintf(text, 160, "%s", run->reason);
    else if (report->firstInverted >= 0)
        snprintf(text, 160, "flesh is inside out from frame %d on (least element %.2g)", report->firstInverted,
            report->minVolumeRatio);
    else if (report->warningCount > 0 && (report->doubtful || (!stays && same < 0)))
        snprintf(text, 160, "%s", report->warnings[0].text);
    else if (stays)
        snprintf(text, 160, "its bones stay where they are: they cannot sag here");
    else if (same >= 0)
        snprintf(text, 160, "the same motion as %s", def->variants[same].name);
}

static const char* Outcome(const snwVariantRun* run)
{
    return snwResult_Name(run->result == snw_ok && run->report.doubtful ? snw_warning : run->result);
}

snwTextTable snwComparison_ToTable(const snwCompareDef* def, const snwComparison* comparison)
{
    static const char* const heads[] = {"<variant", "frames", "step ms", "drift", "stretch", "least element",
        "centre x", "centre y", "centre z", "hash", "<result", "<caution"};
    snwTextTable table = snwTextTable_Start(heads, (int)(sizeof heads / sizeof *heads));

    // A row per variant, as far as they ran.
    for (int i = 0; i < comparison->count; ++i)
    {
        const snwVariantRun* run = &comparison->runs[i];
        const snwRunReport* report = &run->report;
        const double numbers[] = {report->stepMsMedian, snwVariantRun_Drift(run), report->maxStretch,
            report->minVolumeRatio, report->last.centre.x, report->last.centre.y, report->last.centre.z};

        snwTextTable_AddRow(&table);
        snwTextTable_Set(&table, 0, "%s", def->variants[i].name);
        snwTextTable_Set(&table, 1, "%d", report->frames);
        for (int k = 0; k < 7; ++k)
            SetNumber(&table, 2 + k, numbers[k]);
        snwTextTable_Set(&table, 9, "%016" PRIx64, report->hash);
        snwTextTable_Set(&table, 10, "%s", Outcome(run));

        char caution[160];
        snwComparison_Caution(def, comparison, i, caution);
        snwTextTable_Set(&table, 11, "%s", caution);
    }

    return table;
}

static json_t* RunToJson(const snwCompareDef* def, const snwComparison* comparison, int index)
{
    const snwVariant* variant = &def->variants[index];
    const snwVariantRun* run = &comparison->runs[index];
    const snwRunReport* report = &run->report;
    snwVec3 centre = report->last.centre;
    json_t* json = json_pack("{s:s, s:s, s:I, s:s, s:s, s:i}", "name", variant->name, "method", run->method, "seed",
        (json_int_t)run->seed, "result", Outcome(run), "reason", run->reason, "frames", report->frames);

    char caution[160];
    snwComparison_Caution(def, comparison, index, caution);
    json_object_set_new(json, "caution", json_string(caution));
    json_object_set_new(
        json, "first_inverted_frame", report->firstInverted >= 0 ? json_integer(report->firstInverted) : json_null());

    // The one setting in which it differs.
    const snwParamInfo* param = variant->hasSetting ? snwFindAnyParam(variant->setting.name) : NULL;
    if (param != NULL)
        json_object_set_new(json, "settings",
            json_pack("{s:o}", variant->setting.name, snwParam_ToJson(param, variant->setting.value)));

    // Figures as the table has them, in full.
    json_object_set_new(json, "hash", json_sprintf("%016" PRIx64, report->hash));
    json_object_set_new(json, "step_ms_median", snwJsonReal(report->stepMsMedian));
    json_object_set_new(json, "energy_first", snwJsonReal(report->first.energy));
    json_object_set_new(json, "energy_last", snwJsonReal(report->last.energy));
    json_object_set_new(json, "energy_drift", snwJsonReal(snwVariantRun_Drift(run)));
    json_object_set_new(json, "max_stretch_max", snwJsonReal(report->maxStretch));
    json_object_set_new(json, "min_volume_ratio_min", snwJsonReal(report->minVolumeRatio));
    json_object_set_new(
        json, "centre", json_pack("[o, o, o]", snwJsonReal(centre.x), snwJsonReal(centre.y), snwJsonReal(centre.z)));

    return json;
}

json_t* snwComparison_ToJson(const snwCompareDef* def, const snwComparison* comparison)
{
    json_t* rows = json_array();
    for (int i = 0; i < comparison->count; ++i)
        json_array_append_new(rows, RunToJson(def, comparison, i));
    return json_pack("{s:i, s:s, s:s, s:b, s:o}", "schema", 1, "scene", comparison->scene, "file", def->path,
        "complete", comparison->count == def->variantCount, "variants", rows);
}

void snwComparison_ListFiles(const snwCompareDef* def, const snwComparison* comparison)
{
    for (int i = 0; i < compare_outputCount && def->directory != NULL; ++i)
    {
        char path[snw_maxPath];
        bool made = !s_outputs[i].film || (def->film && (i > 0 || !comparison->noFilm));
        if (made && snwJoinPath(path, sizeof path, def->directory, s_outputs[i].name) && snwFileExists(path))
            snwNote("%-12s %s", s_outputs[i].what, path);
    }
}
