// The run loop: frame 0, then one step per frame. Whatever ends a run - its length, the user, a divergence, the
// caller's callback - the frames that were finished are kept: the log and the measures are closed properly and get
// their names.
//
// With a frames cache a run can be resumed. The cache is then the only witness: log and measures are written anew from
// its records, whatever the run that was cut short left of them, so the three cannot disagree.

#include "scene/frames.h"
#include "scene/log.h"
#include "scene/measures_file.h"
#include "scene/tables.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/sort.h"
#include "math/transform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Run
{
    snwContext* context;
    const snwRunDef* def;
    const snwSceneFile* file;
    snwRunReport* report;
    snwSim* sim;
    double dt;      // s
    int frameCount; // to do, frame 0 not counted
    int frame;
    int nextCommand; // of the replayed log
    bool logging, measuring, caching;
    bool overwrite; // log and measures
    bool recalling; // frames of the cache are passed on; nothing is new yet
    snwFramesWriter frames;
    snwLogWriter log;
    snwMeasuresWriter measures;
    snwArray(double) stepMs;
    int firstStretched, stretchedCount; // frames with flesh that is drawn out too far
} Run;

// Stretch of the flesh in a frame, parts of the volume at the end of a run, and sizes that a body goes without a cause,
// beyond which a person would doubt the run.
#define snw_mostStretch 10.0
#define snw_leastVolume 0.5
#define snw_mostVolume  2.0
#define snw_farSizes    100.0

snwRunDef snwDefaultRunDef(void)
{
    return (snwRunDef){0};
}

static snwResult OpenFrames(Run* run, snwMessage* message)
{
    const snwRunDef* def = run->def;
    snwFramesDef frames = {.path = def->framesPath,
        .file = run->file,
        .lastFrame = run->frameCount,
        .tolerance = def->framesTolerance,
        .vertices = def->framesVertices,
        .framesPerChunk = def->framesPerChunk,
        .overwrite = def->overwrite,
        .resume = def->resume};

    // Only a cache can be gone on with: logs and measures alone hold no state.
    if (def->framesPath == NULL)
        return def->resume
                   ? snwFail(message, snw_errorArgument, "give framesPath", "only a frames cache can be resumed")
                   : snw_ok;

    snwResult result = snwFramesWriter_Open(&run->frames, run->context, &frames, message);
    run->caching = result == snw_ok;

    // With a cache that goes on, log and measures belong to it and go on, too; with a new one they are replaced.
    run->overwrite = def->overwrite || (run->caching && !run->frames.isFresh);
    if (run->caching && def->resume && run->frames.isFresh)
    {
        snwPartFile_Clear(run->context, def->logPath);
        snwPartFile_Clear(run->context, def->measuresPath);
    }

    return result;
}

// The cache first: its lock keeps a second run away from all of them.
static snwResult OpenFiles(Run* run, snwMessage* message)
{
    const snwRunDef* def = run->def;
    run->overwrite = def->overwrite;
    snwResult result = OpenFrames(run, message);
    if (result == snw_ok && def->logPath != NULL)
    {
        result = snwLogWriter_Open(&run->log, run->context, def->logPath, run->file, run->overwrite, message);
        run->logging = result == snw_ok;
    }
    if (result == snw_ok && def->measuresPath != NULL)
    {
        result = snwMeasuresWriter_Open(
            &run->measures, run->context, def->measuresPath, run->caching, run->overwrite, message);
        run->measuring = result == snw_ok;
    }
    return result;
}

// Nothing was written yet that is worth keeping.
static void DropFiles(Run* run)
{
    if (run->logging)
        snwPartFile_Drop(&run->log.output);
    if (run->measuring)
        snwPartFile_Drop(&run->measures.output);
    if (run->caching)
        snwFramesWriter_Drop(&run->frames);
    run->logging = run->measuring = run->caching = false;
}

static snwResult PrepareRun(Run* run, snwMessage* message)
{
    const snwSceneDef* scene = snwScene_GetDef(run->file->scene);
    snwSimDef def = snwDefaultSimDef();
    def.scene = run->file->scene;
    double frames = floor(scene->duration * scene->rate + 0.5);
    if (!(frames <= snw_maxFrames))
        return snwFail(message, snw_errorArgument, "lower rate or duration", "more than %d million frames",
            snw_maxFrames / 1000000);

    // Frames from the scene's length, or as many as the log has.
    run->dt = 1 / scene->rate;
    run->frameCount = run->def->replay != NULL ? run->def->replay->frameCount - 1 : (int)frames;
    if (run->frameCount < 0)
        return snwFail(message, snw_errorInput, NULL, "the log holds no frame");
    snwResult result = OpenFiles(run, message); // before the sim: a wrong path should not cost a preparation
    if (result >= 0)
        result = snwCreateSim(run->context, &def, &run->sim, message);
    if (result >= 0 && run->caching)
        result = snwFramesWriter_Begin(&run->frames, run->sim, message);

    return result;
}

static void CompareHash(Run* run, uint64_t hash)
{
    const snwLog* replay = run->def->replay;
    if (replay != NULL && run->report->firstDifference < 0 && hash != replay->hashes[run->frame])
        run->report->firstDifference = run->frame;
}

static snwResult WriteFrame(Run* run, const snwMeasures* measures, uint64_t hash, snwMessage* message)
{
    snwResult result = snw_ok;
    if (run->caching)
        result = snwFramesWriter_AddFrame(&run->frames, run->sim, run->frame, hash, measures, message);
    if (result == snw_ok && run->logging)
        result = snwLogWriter_AddFrame(&run->log, run->sim, run->frame, hash, message);
    if (result == snw_ok && run->measuring)
        result = snwMeasuresWriter_AddFrame(&run->measures, run->sim, run->frame, measures, message);
    return result;
}

// Sums for now; ReportTimes makes them means.
static void AddStageTimes(Run* run)
{
    snwTimings timings;
    snwSim_GetTimings(run->sim, &timings);
    int most = (int)(sizeof run->report->stages / sizeof run->report->stages[0]);
    run->report->stageCount = timings.count < most ? timings.count : most;
    for (int i = 0; i < run->report->stageCount; ++i)
    {
        run->report->stages[i].stage = timings.data[i].stage;
        run->report->stages[i].ms += timings.data[i].ms;
    }
}

// A warning that follows from the measures of a frame. Its format is its kind: figures are those of the first time.
typedef struct Doubt
{
    const char* format;
    const char* remedy;
} Doubt;

static const Doubt s_stretched = {
    "flesh was drawn out to %.3g times its length", "a softer hand, slower motions, more iterations or stiffer flesh"};
static const Doubt s_shrunk = {"the flesh has only %.2g of its volume at the end",
    "start outside of colliders, use gentler motions or more iterations"};
static const Doubt s_swollen = {"the flesh has %.3g times its volume at the end", "gentler motions or more iterations"};

static const Doubt s_away = {"the bodies ended %.3g m away from where they began, which no fall explains",
    "start outside of colliders, and move what hits them more slowly"};

static snwWarning* AddWarning(snwRunReport* report)
{
    int most = (int)(sizeof report->warnings / sizeof report->warnings[0]);
    return report->warningCount < most ? &report->warnings[report->warningCount++] : NULL;
}

static void AddDoubt(snwRunReport* report, const Doubt* doubt, int frame, int count, double figure)
{
    report->doubtful = report->doubtful || count > 0;
    snwWarning* warning = count > 0 ? AddWarning(report) : NULL;
    if (warning == NULL)
        return;
    *warning = (snwWarning){.step = (uint64_t)frame - 1, .count = (uint64_t)count};
    snprintf(warning->text, sizeof warning->text, doubt->format, figure);
    snprintf(warning->remedy, sizeof warning->remedy, "%s", doubt->remedy);
}

// m: how far the centre of everything went beyond what gravity and its first speed explain; 0 if that is not far for
// bodies of this size.
static double WayBeyondReason(const Run* run)
{
    const snwRunReport* report = run->report;
    const snwSceneDef* scene = snwScene_GetDef(run->file->scene);
    double time = report->last.time - report->first.time, size = 0;
    for (int i = 0; i < scene->bodyCount; ++i)
    {
        snwCharacterInfo info = snwCharacter_GetInfo(scene->bodies[i].character);
        size = fmax(size, snwVec3_Distance(info.lower, info.upper));
    }
    double way = snwVec3_Distance(report->first.centre, report->last.centre);
    double explained = 0.5 * snwVec3_Length(scene->gravity) * time * time + report->first.maxSpeed * time;
    return way > explained + snw_farSizes * size ? way : 0;
}

// What the sim warned of, and what its measures look like to somebody who was not there.
static void ReportWarnings(Run* run)
{
    snwRunReport* report = run->report;
    snwWarnings warnings = {0};
    if (run->sim != NULL)
        snwSim_GetWarnings(run->sim, &warnings);
    for (int i = 0; i < warnings.count; ++i)
    {
        snwWarning* warning = AddWarning(report);
        if (warning != NULL)
            *warning = warnings.data[i];
    }
    double rest = report->first.volume, left = rest > 0 ? report->last.volume / rest : 1;
    AddDoubt(report, &s_stretched, run->firstStretched, run->stretchedCount, 1 + report->maxStretch);
    AddDoubt(report, &s_shrunk, report->frames, report->frames > 0 && left < snw_leastVolume, left);
    double away = report->frames > 0 ? WayBeyondReason(run) : 0;
    AddDoubt(report, &s_away, report->frames, away > 0, away);
    AddDoubt(report, &s_swollen, report->frames, report->frames > 0 && left > snw_mostVolume, left);
}

// The worst of a run matters, not how it happened to end.
static void AddExtremes(snwRunReport* report, int frame, const snwMeasures* measures)
{
    bool first = frame == 0;
    report->energyMax = first ? measures->energy : fmax(report->energyMax, measures->energy);
    report->minVolumeRatio = first ? measures->minVolumeRatio : fmin(report->minVolumeRatio, measures->minVolumeRatio);
    report->maxStretch = first ? measures->maxStretch : fmax(report->maxStretch, measures->maxStretch);
    if (measures->minVolumeRatio < 0 && report->firstInverted < 0)
        report->firstInverted = frame;
}

static void ReportFrame(Run* run, const snwMeasures* measures, uint64_t hash)
{
    snwRunReport* report = run->report;
    if (run->frame == 0)
        report->first = *measures;
    AddExtremes(report, run->frame, measures);
    if (run->frame > 0 && measures->maxStretch > snw_mostStretch && run->stretchedCount++ == 0)
        run->firstStretched = run->frame;
    report->retries += measures->retries > 0;
    report->last = *measures;
    report->hash = hash;
    report->frames = run->frame;
    CompareHash(run, hash);
}

static snwResult FinishFrame(Run* run, snwMessage* message)
{
    snwMeasures measures;
    uint64_t hash = snwSim_Hash(run->sim);
    snwResult result = snwSim_GetMeasures(run->sim, -1, &measures);
    if (result < 0)
        return snwFail(message, result, NULL, "cannot measure frame %d", run->frame);
    ReportFrame(run, &measures, hash);
    AddStageTimes(run);
    if (run->frame > 0 && !snwArray_Push(run->context, &run->stepMs, measures.stepMs))
        return snwFailMemory(message);
    result = WriteFrame(run, &measures, hash, message);
    if (result < 0 || run->def->onFrame == NULL)
        return result;
    snwRunFrame frame = {run->sim, run->frame, run->frameCount, hash, run->frame > 0 ? measures.stepMs : 0, &measures};
    return run->def->onFrame(&frame, run->def->user, message);
}

static snwResult PushReplayed(Run* run, snwMessage* message)
{
    const snwLog* replay = run->def->replay;
    uint64_t step = snwSim_GetStepCount(run->sim);
    while (replay != NULL && run->nextCommand < replay->commandCount && replay->commands[run->nextCommand].step <= step)
    {
        snwResult result = snwSim_Push(run->sim, &replay->commands[run->nextCommand++], message);
        if (result < 0)
        {
            snwMessage_AddPlace(message, "commands[%d]", run->nextCommand - 1);
            return result;
        }
    }
    return snw_ok;
}

static bool Interrupted(const Run* run)
{
    return run->def->interrupt != NULL && *run->def->interrupt;
}

// One frame of the cache goes the way it once went: into the log, the measures, the report and to the caller.
static snwResult PassFrame(Run* run, const snwFrame* frame, bool last, snwMessage* message)
{
    snwResult result = snw_ok;
    run->frame = frame->frame;
    ReportFrame(run, &frame->measures, frame->hash);
    if (run->logging)
        result = snwLogWriter_AddCommands(&run->log, frame->commands, frame->commandsSize, message);
    if (result == snw_ok && run->logging)
        result = snwLogWriter_AddFrame(&run->log, NULL, frame->frame, frame->hash, message);
    if (result == snw_ok && run->measuring)
        result = snwMeasuresWriter_AddFrame(&run->measures, run->sim, frame->frame, &frame->measures, message);
    if (result < 0 || run->def->onFrame == NULL)
        return result;
    snwRunFrame passed = {last ? run->sim : NULL, frame->frame, run->frameCount, frame->hash, 0, &frame->measures};
    return run->def->onFrame(&passed, run->def->user, message);
}

// Commands of a replayed log from before the frame where the run goes on are in the state already.
static void SkipReplayed(Run* run)
{
    const snwLog* replay = run->def->replay;
    uint64_t step = snwSim_GetStepCount(run->sim);
    while (replay != NULL && run->nextCommand < replay->commandCount && replay->commands[run->nextCommand].step < step)
        run->nextCommand++;
}

// Frame 0, or all frames of the cache.
static snwResult BeginRun(Run* run, snwMessage* message)
{
    int count = run->caching && run->frames.found != NULL ? snwFrames_GetInfo(run->frames.found).frameCount : 0;
    snwResult result = snw_ok;
    snwFrame frame;
    if (count == 0)
        return FinishFrame(run, message);
    SkipReplayed(run);
    run->recalling = true;
    for (int i = 0; i < count && result >= 0; ++i)
    {
        result = snwFrames_Read(run->frames.found, i, &frame, message);
        if (result >= 0)
            result = PassFrame(run, &frame, i == count - 1, message);
    }
    run->recalling = result < 0;
    return result;
}

static snwResult LoopFrames(Run* run, snwMessage* message)
{
    snwResult result = BeginRun(run, message);
    while (result >= 0 && run->frame < run->frameCount)
    {
        if (Interrupted(run))
            return snwFail(message, snw_errorInterrupted, NULL,
                "stopped after frame %d of %d; what is finished is kept", run->frame, run->frameCount);
        result = PushReplayed(run, message);
        if (result >= 0)
            result = snwSim_Step(run->sim, run->dt, message);
        if (result < 0)
            return result;
        snwMessage_Clear(message); // the sim keeps its warnings, and the report has them
        run->frame++;
        result = FinishFrame(run, message);
    }
    return result < 0 ? result : snw_ok;
}

// The first failure keeps its words: later ones come from the same cause or matter less.
static snwResult CloseFiles(Run* run, snwResult result, snwMessage* message)
{
    if (run->recalling) // what the run that was cut short left is worth more than half a copy of it
    {
        DropFiles(run);
        return result;
    }

    // A full disk or a lost drive: the log's part holds what was flushed, half a table of measures is of no use.
    bool broken = result == snw_errorIo;
    snwResult closing = snw_ok;

    // Each file is closed properly, whatever happened to the others; the first failure is the one that is told.
    if (run->caching)
        closing = snwFramesWriter_Finish(&run->frames, run->sim, result < 0 ? NULL : message);
    result = result < 0 ? result : closing;
    broken = broken || result == snw_errorIo;
    if (run->logging && broken)
        snwLogWriter_Abandon(&run->log);
    else if (run->logging)
        closing = snwLogWriter_Finish(&run->log, run->frameCount, result < 0 ? NULL : message);

    result = result < 0 ? result : closing;
    if (run->measuring && broken)
        snwPartFile_Drop(&run->measures.output);
    else if (run->measuring)
        closing = snwMeasuresWriter_Finish(&run->measures, result < 0 ? NULL : message);

    return result < 0 ? result : closing;
}

static void ReportTimes(Run* run)
{
    int count = run->stepMs.count;
    if (count == 0)
        return;
    double* times = run->stepMs.data;
    snwSortReals(times, count);
    run->report->stepMsMedian = 0.5 * (times[(count - 1) / 2] + times[count / 2]);
    run->report->stepMsMax = times[count - 1];
    for (int i = 0; i < run->report->stageCount; ++i)
        run->report->stages[i].ms /= count;
}

snwResult snwRun(snwContext* context, const snwRunDef* def, snwRunReport* report, snwMessage* message)
{
    snwRunReport ignored;
    const snwSceneFile* file = def->file == NULL && def->replay != NULL ? &def->replay->file : def->file;

    // From the file, or from a log, which brings its scene along.
    Run run = {.context = context, .def = def, .file = file, .report = report != NULL ? report : &ignored};
    double start = snwClock_Seconds();
    *run.report = (snwRunReport){.firstDifference = -1, .firstInverted = -1};
    snwMessage_Clear(message);
    if (file == NULL || file->scene == NULL)
        return snwFail(message, snw_errorArgument, NULL, "a run needs a scene or a log");
    snwResult result = PrepareRun(&run, message);
    if (result < 0)
        DropFiles(&run);
    else
        result = CloseFiles(&run, LoopFrames(&run, message), message);

    // Reports are filled in also after a failure.
    ReportWarnings(&run);
    if (run.sim != NULL)
        snwDestroySim(run.sim);
    ReportTimes(&run);
    snwArray_Free(context, &run.stepMs);
    run.report->wallSeconds = snwClock_Seconds() - start;
    if (result >= 0 && run.report->firstDifference >= 0)
        return snwFail(message, snw_warning, NULL, "the replay differs from the log from frame %d on",
            run.report->firstDifference);

    return result;
}
