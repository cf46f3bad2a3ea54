// One run of a scene with all that it may leave in a folder: log, measures, report, plots, exports, film, frames.
// What `sinew sim` and `sinew demo` are made of.

#include "app/perform.h"
#include "app/console.h"
#include "scene/shipped.h"
#include "app/settings.h"
#include "base/result.h"
#include "math/cpu.h"
#include "scene/file.h"
#include "view/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Everything a performance may leave in its folder.
typedef enum Output
{
    perform_outputFilm,
    perform_outputPicture,
    perform_outputEnergy, // the plots in the order of snwPlotKind, each as SVG and PNG
    perform_outputEnergyPng,
    perform_outputTimings,
    perform_outputTimingsPng,
    perform_outputResidual,
    perform_outputResidualPng,
    perform_outputDeviation,
    perform_outputDeviationPng,
    perform_outputCentre,
    perform_outputCentrePng,
    perform_outputPressure,
    perform_outputPressurePng,
    perform_outputMeasures,
    perform_outputReport,
    perform_outputLog,
    perform_outputFrames,
    perform_outputCount,
} Output;

static const struct
{
    const char* name;
    bool film;  // only with a film
    bool cache; // only with a frames cache
    const char* what;
} s_outputs[perform_outputCount] = {
    [perform_outputFilm] = {"film.mp4", true, false, "film"},
    [perform_outputPicture] = {"picture.png", true, false, "picture"},
    [perform_outputEnergy] = {"energy.svg", false, false, "plot"},
    [perform_outputEnergyPng] = {"energy.png", false, false, "plot_png"},
    [perform_outputTimings] = {"timings.svg", false, false, "timings"},
    [perform_outputTimingsPng] = {"timings.png", false, false, "timings_png"},
    [perform_outputResidual] = {"residual.svg", false, false, "residual"},
    [perform_outputResidualPng] = {"residual.png", false, false, "residual_png"},
    [perform_outputDeviation] = {"deviation.svg", false, false, "deviation"},
    [perform_outputDeviationPng] = {"deviation.png", false, false, "deviation_png"},
    [perform_outputCentre] = {"centre.svg", false, false, "centre"},
    [perform_outputCentrePng] = {"centre.png", false, false, "centre_png"},
    [perform_outputPressure] = {"pressure.svg", false, false, "pressure"},
    [perform_outputPressurePng] = {"pressure.png", false, false, "pressure_png"},
    [perform_outputMeasures] = {"measures.csv", false, false, "measures"},
    [perform_outputReport] = {"report.json", false, false, "report"},
    [perform_outputLog] = {"log.jsonl", false, false, "log"},
    [perform_outputFrames] = {"frames.snwf", false, true, "frames"},
};

static const char s_frames[] = "frames"; // the folder of a sequence

typedef char Path[snw_maxPath];

typedef struct Stage
{
    const snwPerformDef* def;
    snwContext* context;
    snwPerformance* performance;
    snwSceneFile file;
    Path paths[perform_outputCount];
    bool resuming;  // there are frames to go on from
    bool overwrite; // what belongs to those frames is made again
    snwFilm* film;
    snwPlots plots;
    snwExports exports;
    snwProgress progress;
} Stage;

static const char* NameOfOutput(const snwPerformDef* def, Output output)
{
    return output == perform_outputFilm && def->gif ? "film.gif" : s_outputs[output].name;
}

snwPerformDef snwDefaultPerformDef(void)
{
    return (snwPerformDef){.options = snwDefaultSceneOptions(),
        .width = SNW_FILM_WIDTH,
        .height = SNW_FILM_HEIGHT,
        .samples = SNW_FILM_SAMPLES,
        .exports = snwDefaultExportsDef()};
}

static snwExit ReadShow(const char* list, uint32_t* show)
{
    static const struct
    {
        const char* name;
        uint32_t bit;
    } marks[] = {{"contacts", snw_showContacts}, {"pins", snw_showPins}, {"joints", snw_showJoints},
        {"pressure", snw_showPressure}, {"handles", snw_showHandles}};

    // Word by word, between commas.
    *show = 0;
    for (const char* word = list; *word != 0; word += strspn(word, ","))
    {
        size_t length = strcspn(word, ",");
        uint32_t bit = 0;
        for (size_t i = 0; i < sizeof marks / sizeof *marks; ++i)
            if (strlen(marks[i].name) == length && strncmp(marks[i].name, word, length) == 0)
                bit = marks[i].bit;

        if (bit == 0)
            return snwUsage(
                "contacts, pins, joints, pressure, handles", "--show does not know '%.*s'", (int)length, word);
        *show |= bit;

        word += length;
    }

    return *show != 0 ? snw_exitOk
                      : snwUsage("contacts, pins, joints, pressure, handles", "--show needs something to show");
}

snwExit snwPerformDef_ReadFilm(const snwArgs* args, snwPerformDef* def)
{
    if (!snwArgs_Int(args, "width", 16, 8192, &def->width) || !snwArgs_Int(args, "height", 16, 8192, &def->height) ||
        !snwArgs_Int(args, "samples", 1, 256, &def->samples))
        return snw_exitUsage;
    const char* look = snwArgs_Text(args, "look");
    for (int i = 0; i < snw_filmLookCount && look != NULL; ++i)
        if (strcmp(look, snwFilmLook_Name((snwFilmLook)i)) == 0)
            def->look = (snwFilmLook)i;
    def->turntable = snwArgs_Has(args, "turntable");
    def->transparent = snwArgs_Has(args, "transparent");
    def->sequence = def->transparent || snwArgs_Has(args, "png-sequence");
    def->gif = snwArgs_Has(args, "gif");
    const char* show = snwArgs_Text(args, "show");
    return show != NULL ? ReadShow(show, &def->show) : snw_exitOk;
}

static bool Makes(const snwPerformDef* def, Output output)
{
    return def->directory != NULL && (def->film || !s_outputs[output].film) && (def->cache || !s_outputs[output].cache);
}

// ---------------------------------------------------------------------------------------------------------------------
// Before the run

static snwResult FindFrames(Stage* stage, snwMessage* message)
{
    Path frames;
    const snwPerformDef* def = stage->def;
    stage->overwrite = def->overwrite;
    if (!def->resume)
        return snw_ok;
    if (!snwJoinPath(frames, sizeof frames, def->directory, s_outputs[perform_outputFrames].name))
        return snwFail(message, snw_errorIo, "a shorter -o", "the path is too long");
    stage->resuming = snwFileExists(frames);
    stage->overwrite = def->overwrite || stage->resuming;
    return snw_ok;
}

static snwResult CheckStagePaths(Stage* stage, snwMessage* message)
{
    const snwPerformDef* def = stage->def;
    snwResult found = FindFrames(stage, message);
    if (found < 0)
        return found;

    // Nothing that is there already is written over unasked: looked for before anything runs.
    for (Output i = 0; i < perform_outputCount; ++i)
    {
        if (!Makes(def, i))
            continue;
        if (!snwJoinPath(stage->paths[i], sizeof stage->paths[i], def->directory, NameOfOutput(def, (Output)i)))
            return snwFail(message, snw_errorIo, "a shorter -o", "the path is too long");
        if (stage->overwrite || !snwFileExists(stage->paths[i]))
            continue;
        snwFail(message, snw_errorIo,
            i == perform_outputFrames ? "--resume to go on, --force to start again, or another folder with -o"
                                      : "--force to replace it, or another folder with -o",
            "it exists already");
        snwMessage_SetFile(message, stage->paths[i]);

        return snw_errorIo;
    }

    return def->directory != NULL ? snwMakeFolder(def->directory, message) : snw_ok;
}

// Frames are a matter of the scene's rate, which only the opened scene knows.
static snwResult OpenStageScene(Stage* stage, snwMessage* message)
{
    const snwPerformDef* def = stage->def;
    snwSceneOptions options = def->options;
    snwResult result = snwOpenScene(stage->context, def->path, &options, &stage->file, message);
    if (result >= 0)
    {
        const snwSceneDef* scene = snwScene_GetDef(stage->file.scene);
        snwResult words = snwSettings_Check(options.settings, options.settingCount, scene, message);
        result = words < 0 ? words : result;
    }
    if (result < 0 || def->frames <= 0)
        return result;
    options.duration = def->frames / snwScene_GetDef(stage->file.scene)->rate;
    snwSceneFile_Close(&stage->file);
    return snwOpenScene(stage->context, def->path, &options, &stage->file, message);
}

static snwResult OpenStageFilm(Stage* stage, snwMessage* message)
{
    const snwPerformDef* def = stage->def;
    if (!Makes(def, perform_outputFilm))
        return snw_ok;
    if (stage->resuming) // the film is drawn from the sim, which has not seen the first frames
    {
        stage->performance->noFilm = true;
        snwNote("a resumed run has no film");
        return snw_ok;
    }

    // Better known before minutes of drawing than after.
    bool encoder = snwHasProgram("ffmpeg");
    stage->performance->noFilm = def->transparent || !encoder; // films have no opacity
    if (!encoder && !def->transparent)
        snwReport(snw_warning, "apt install ffmpeg",
            "there will be a picture but no film, for the program ffmpeg is not here");

    snwFilmDef film = snwDefaultFilmDef();
    film.directory = def->directory;
    film.filmPath = stage->performance->noFilm ? NULL : stage->paths[perform_outputFilm];
    film.picturePath = stage->paths[perform_outputPicture];
    film.width = def->width;
    film.height = def->height;
    film.samples = def->samples;
    film.overwrite = stage->overwrite;
    film.camera = stage->file.camera;
    film.look = def->look;
    film.show = def->show;
    film.turntable = def->turntable;
    film.keepFrames = def->sequence;
    film.transparent = def->transparent;

    return snwCreateFilm(stage->context, &film, stage->file.scene, &stage->film, message);
}

static snwResult OpenExports(Stage* stage, snwMessage* message)
{
    const snwSceneDef* scene = snwScene_GetDef(stage->file.scene);
    int frames = (int)fmin(floor(scene->duration * scene->rate + 0.5), 1e9); // as the run loop counts them
    return snwExports_Open(&stage->exports, stage->context, &stage->def->exports, stage->file.scene,
        stage->def->directory, frames + 1, stage->def->overwrite, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// During the run

// What the sim really uses: defaults, the scene's settings and the command line's, in this order.
static void RecordSettings(Stage* stage, const snwSim* sim)
{
    json_t* settings = json_object();
    for (int i = 0; i < snwSim_GetParamCount(sim); ++i)
    {
        const snwParamInfo* param = snwSim_GetParamInfo(sim, i);
        double value = 0;
        if (snwSim_GetParam(sim, param->name, &value) >= 0)
            json_object_set_new(settings, param->name, snwParam_ToJson(param, value));
    }
    stage->performance->settings = settings;
}

static snwResult OnStageFrame(const snwRunFrame* frame, void* user, snwMessage* message)
{
    Stage* stage = user;
    stage->progress.total = frame->frameCount;
    if (frame->frame == 0)
        stage->progress = snwProgress_Begin("simulating", frame->frameCount);
    snwProgress_Update(&stage->progress, frame->frame);
    if (frame->sim != NULL && stage->performance->settings == NULL)
        RecordSettings(stage, frame->sim);
    snwResult result = Makes(stage->def, perform_outputEnergy) ? snwPlots_AddFrame(&stage->plots, frame, message)
                                                               : snw_ok;
    if (result >= 0)
        result = snwExports_AddFrame(&stage->exports, frame, message);
    return result >= 0 && stage->film != NULL ? snwFilm_AddFrame(stage->film, frame->sim, message) : result;
}

static snwResult RunStage(Stage* stage, snwPerformance* performance, snwMessage* message)
{
    const snwPerformDef* def = stage->def;
    snwRunDef run = snwDefaultRunDef();
    run.file = &stage->file;
    run.logPath = Makes(def, perform_outputLog) ? stage->paths[perform_outputLog] : NULL;
    run.measuresPath = Makes(def, perform_outputMeasures) ? stage->paths[perform_outputMeasures] : NULL;
    run.framesPath = Makes(def, perform_outputFrames) ? stage->paths[perform_outputFrames] : NULL;
    run.framesTolerance = def->cacheTolerance;
    run.resume = def->resume;
    run.overwrite = def->overwrite;
    run.interrupt = snwInterrupt_Flag();
    run.onFrame = OnStageFrame;
    run.user = stage;
    snwResult result = snwRun(stage->context, &run, &performance->report, message);
    performance->frameCount = stage->progress.total;
    snwProgress_End(&stage->progress);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// After the run

static snwResult OnPerformDrawn(int done, int total, void* user)
{
    snwProgress* progress = user;
    if (progress->total != total)
    {
        *progress = snwProgress_Begin("drawing", total);
        if (!progress->visible && total > 1)
            snwNote("drawing %d frames; --no-film skips this", total);
    }
    snwProgress_Update(progress, done);
    return *snwInterrupt_Flag() ? snw_errorInterrupted : snw_ok;
}

// Else it is the picture or a frame that could not be written: a full disk, most likely.
static bool IsAboutFilm(const Stage* stage, const snwMessage* message)
{
    return strncmp(message->file, stage->paths[perform_outputFilm], sizeof message->file - 1) == 0;
}

static snwResult DrawStageFilm(Stage* stage, snwMessage* message)
{
    if (stage->film == NULL)
        return snw_ok;
    snwProgress progress = {0};
    snwResult result = snwFilm_Finish(stage->film, OnPerformDrawn, &progress, message);
    snwProgress_End(&progress);
    stage->performance->filmCheck = snwFilm_GetCheck(stage->film);
    if (result >= 0 || !IsAboutFilm(stage, message))
        return result;
    // The run is worth more than its film: say it, and go on.
    stage->performance->noFilm = true;
    message->result = snw_warning;
    snwReportMessage(message);
    snwMessage_Clear(message);
    return snw_ok;
}

static snwResult DrawPlots(Stage* stage, snwPerformance* performance, snwMessage* message)
{
    char name[192];
    snwResult result = snw_ok;
    snprintf(name, sizeof name, "%s (%s)", performance->scene, performance->method);
    for (snwPlotKind kind = 0; kind < snw_plotKindCount && result >= 0; ++kind)
    {
        Path stem;
        if (!snwPlots_Has(&stage->plots, kind))
            continue;
        if (!snwJoinPath(stem, sizeof stem, stage->def->directory, snwPlotKind_Name(kind)))
            return snwFail(message, snw_errorIo, "a shorter -o", "the path is too long");
        result = snwPlots_Write(&stage->plots, kind, name, stem, stage->overwrite, message);
        performance->plotted[kind] = result >= 0;
    }
    return result;
}

static snwResult WriteStageReport(Stage* stage, const snwPerformance* performance, snwMessage* message)
{
    if (!Makes(stage->def, perform_outputReport))
        return snw_ok;
    json_t* report = snwPerformance_ToJson(stage->def, performance);
    char* text = json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(report);
    if (text == NULL)
        return snwFailMemory(message);
    size_t length = strlen(text);
    text[length] = '\n'; // in the place of the zero: the size is told
    snwResult result = snwFile_Write(
        stage->context, stage->paths[perform_outputReport], text, length + 1, stage->overwrite, message);
    free(text);
    return result;
}

// A diverged run is drawn too, for it shows where; an interrupted one is not, for the user wants to go.
static snwResult WriteOutputs(Stage* stage, snwPerformance* performance, snwMessage* message)
{
    snwResult result = snwExports_Finish(&stage->exports, message);
    if (result >= 0)
        result = DrawPlots(stage, performance, message);
    if (result >= 0 && performance->result != snw_errorInterrupted)
        result = DrawStageFilm(stage, message);
    if (result == snw_errorInterrupted)
    {
        performance->result = result;
        snprintf(performance->reason, sizeof performance->reason, "interrupted while drawing the film");
    }
    // Whatever happened to the pictures, the numbers are there.
    bool failed = result < 0 && result != snw_errorInterrupted;
    snwResult report = WriteStageReport(stage, performance, failed ? NULL : message);
    return failed ? result : report;
}

// ---------------------------------------------------------------------------------------------------------------------

static void DescribePerformance(const Stage* stage, snwPerformance* performance)
{
    const snwSceneDef* scene = snwScene_GetDef(stage->file.scene);
    snprintf(performance->scene, sizeof performance->scene, "%s", scene->name);
    snprintf(performance->method, sizeof performance->method, "%s", scene->method);
    performance->seed = scene->seed;
    performance->rate = scene->rate;
    performance->duration = scene->duration;
    performance->bodyCount = scene->bodyCount;
    performance->threads = snwContext_ThreadCount(stage->context);
    performance->simd = snwContext_Simd(stage->context);
}

static snwResult Stage_Run(Stage* stage, snwPerformance* performance, snwMessage* message)
{
    snwResult result = CheckStagePaths(stage, message);
    if (result < 0)
        return result;
    result = OpenStageScene(stage, message);
    performance->badInput = result < 0;
    if (result < 0)
        return result;

    DescribePerformance(stage, performance);
    result = OpenStageFilm(stage, message);
    if (result >= 0)
        result = OpenExports(stage, message);
    if (result >= 0)
        result = RunStage(stage, performance, message);

    // What a run that diverged or was stopped has shown is kept.
    performance->result = result;
    if (result < 0 && result != snw_errorDiverged && result != snw_errorInterrupted)
        return result;
    performance->ran = true;
    if (result < 0)
        snprintf(performance->reason, sizeof performance->reason, "%s", message->text);

    snwMessage later = {0};
    snwResult written = WriteOutputs(stage, performance, &later);

    // The run's own end is the news; what went wrong afterwards is told only if the run was fine.
    if (result >= 0 && written != snw_ok)
        *message = later;
    else if (written < 0)
        snwPrintError(&later);

    return result < 0 ? result : written < 0 ? written : performance->result;
}

snwResult snwPerform(snwContext* context, const snwPerformDef* def, snwPerformance* performance, snwMessage* message)
{
    // Too large for the stack: it has the paths of all files.
    Stage* stage = calloc(1, sizeof *stage);
    *performance = (snwPerformance){0};
    if (stage == NULL)
        return snwFailMemory(message);

    stage->def = def;
    stage->context = stage->plots.context = context;
    stage->performance = performance;
    snwMessage_Clear(message);
    snwResult result = Stage_Run(stage, performance, message);
    performance->result = result;

    // In any case: whatever was opened is closed.
    snwExports_Drop(&stage->exports);
    if (stage->film != NULL)
        snwDestroyFilm(stage->film);
    if (stage->file.scene != NULL)
        snwSceneFile_Close(&stage->file);
    snwPlots_Free(&stage->plots);
    free(stage);

    return result;
}

// Also with --force only what this run made, not what an older one left.
static bool IsOutputThere(const snwPerformDef* def, const snwPerformance* performance, Output output, char* path)
{
    if (!Makes(def, output) || (output == perform_outputFilm && performance->noFilm))
        return false;
    if (output >= perform_outputEnergy && output <= perform_outputPressurePng &&
        !performance->plotted[(output - perform_outputEnergy) / 2])
        return false;
    return snwJoinPath(path, snw_maxPath, def->directory, NameOfOutput(def, output)) && snwFileExists(path);
}

static bool HasSequence(const snwPerformDef* def, const snwPerformance* performance, char* path)
{
    return Makes(def, perform_outputFilm) && def->sequence && performance->filmCheck.frames > 0 &&
           snwJoinPath(path, snw_maxPath, def->directory, s_frames);
}

static json_t* FilesToJson(const snwPerformDef* def, const snwPerformance* performance)
{
    json_t* object = json_object();
    for (Output i = 0; i < perform_outputCount; ++i)
    {
        char path[snw_maxPath];
        // The report cannot exist while it is written.
        if (IsOutputThere(def, performance, i, path) || (i == perform_outputReport && Makes(def, i)))
            json_object_set_new(object, s_outputs[i].what, json_string(path));
    }
    char frames[snw_maxPath];
    if (HasSequence(def, performance, frames))
        json_object_set_new(object, s_frames, json_string(frames));
    return object;
}

static json_t* StagesToJson(const snwRunReport* report)
{
    json_t* object = json_object();
    for (int i = 0; i < report->stageCount; ++i)
        json_object_set_new(object, report->stages[i].stage, snwJsonReal(report->stages[i].ms));
    return object;
}

const char* snwPerformance_Outcome(const snwPerformance* performance)
{
    bool doubtful = performance->result == snw_ok && performance->report.doubtful;
    return snwResult_Name(doubtful ? snw_warning : performance->result);
}

json_t* snwWarnings_ToJson(const snwWarning* warnings, int count)
{
    json_t* array = json_array();
    for (int i = 0; i < count; ++i)
        json_array_append_new(
            array, json_pack("{s:s, s:s, s:I, s:I}", "text", warnings[i].text, "remedy", warnings[i].remedy, "frame",
                       (json_int_t)warnings[i].step + 1, "count", (json_int_t)warnings[i].count));
    return array;
}

void snwPerformance_Free(snwPerformance* performance)
{
    json_decref(performance->settings);
    performance->settings = NULL;
}

void snwPerformance_Warn(const snwPerformance* performance)
{
    int frame = performance->report.firstInverted;
    if (performance->ran && frame >= 0)
        snwReport(snw_warning, "gentler motions, more iterations or --set sim.substeps=N with a larger N",
            "elements were inverted from frame %d on", frame);
    for (int i = 0; performance->ran && i < performance->report.warningCount; ++i)
    {
        const snwWarning* warning = &performance->report.warnings[i];
        snwReport(snw_warning, warning->remedy[0] != 0 ? warning->remedy : NULL, "%s (frame %" PRIu64 "%s)",
            warning->text, warning->step + 1, warning->count > 1 ? " and others" : "");
    }
    char text[128];
    if (snwFilmCheck_Format(&performance->filmCheck, text, sizeof text) > 0)
        snwReport(snw_warning, "another camera or duration in the scene", "the film is not good: %s", text);
}

json_t* snwFilmCheck_ToJson(const snwFilmCheck* check)
{
    static const char* const names[] = {"empty", "bright", "still", "small", "large"};
    json_t* faults = json_array();
    for (int i = 0; i < 5; ++i)
        if ((check->faults >> i & 1) != 0)
            json_array_append_new(faults, json_string(names[i]));
    return json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:o}", "frames", check->frames, "empty_frames",
        check->emptyFrames, "bright_frames", check->brightFrames, "still_frames", check->stillFrames, "subject_min",
        check->leastSubject, "subject_mean", check->meanSubject, "subject_max", check->mostSubject, "fill", check->fill,
        "faults", faults);
}

json_t* snwPerformance_ToJson(const snwPerformDef* def, const snwPerformance* performance)
{
    // What was run.
    const snwRunReport* report = &performance->report;
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, report->hash);
    json_t* json = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:i, s:s}", "schema", 1, "scene",
        performance->scene, "file", def->path, "method", performance->method, "result",
        snwPerformance_Outcome(performance), "reason", performance->reason, "seed", (json_int_t)performance->seed,
        "frames", report->frames, "bodies", performance->bodyCount, "hash", hash);

    // By what, and how.
    snwVersion version = snwGetVersion();
    json_object_set_new(json, "version", json_sprintf("%d.%d.%d", version.major, version.minor, version.patch));
    json_object_set_new(json, "threads", json_integer(performance->threads));
    json_object_set_new(json, "simd", json_string(snwSimd_Name(performance->simd)));
    json_object_set(json, "settings", performance->settings);
    json_object_set_new(json, "rate", snwJsonReal(performance->rate));
    json_object_set_new(json, "duration", snwJsonReal(performance->duration));

    // How long it took, and what was odd.
    json_object_set_new(json, "step_ms_median", snwJsonReal(report->stepMsMedian));
    json_object_set_new(json, "step_ms_max", snwJsonReal(report->stepMsMax));
    json_object_set_new(json, "stage_ms", StagesToJson(report));
    json_object_set_new(json, "wall_seconds", snwJsonReal(report->wallSeconds));
    json_object_set_new(json, "energy_max", snwJsonReal(report->energyMax));
    json_object_set_new(json, "min_volume_ratio_min", snwJsonReal(report->minVolumeRatio));
    json_object_set_new(json, "max_stretch_max", snwJsonReal(report->maxStretch));
    json_object_set_new(
        json, "first_inverted_frame", report->firstInverted >= 0 ? json_integer(report->firstInverted) : json_null());
    json_object_set_new(json, "retries", json_integer(report->retries));
    json_object_set_new(json, "warnings", snwWarnings_ToJson(report->warnings, report->warningCount));

    // Measures at both ends, then the files.
    json_object_set_new(json, "first", snwMeasures_ToJson(&report->first));
    json_object_set_new(json, "last", snwMeasures_ToJson(&report->last));
    if (performance->filmCheck.frames > 0)
        json_object_set_new(json, "film_check", snwFilmCheck_ToJson(&performance->filmCheck));
    json_object_set_new(json, "files", FilesToJson(def, performance));
    json_object_set_new(json, "exports", snwExportsDef_ToJson(&def->exports));

    return json;
}

void snwPerform_ListFiles(const snwPerformDef* def, const snwPerformance* performance)
{
    for (Output i = 0; i < perform_outputCount; ++i)
    {
        char path[snw_maxPath];
        if (IsOutputThere(def, performance, i, path))
            snwNote("%-12s %s", s_outputs[i].what, path);
    }
    char frames[snw_maxPath];
    if (HasSequence(def, performance, frames))
        snwNote("%-12s %s", s_frames, frames);
    if (def->directory != NULL)
        snwExportsDef_List(&def->exports, def->directory);
}
