// sinew replay: a log performed again, hash by hash, with exports made of it if they are wanted.

#include "app/common.h"
#include "app/console.h"
#include "app/exports.h"
#include "app/verbs.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Stage
{
    snwProgress progress;
    snwExportsDef def;
    const char* directory;
    snwExports exports;
} Stage;

static snwResult OnReplayFrame(const snwRunFrame* frame, void* user, snwMessage* message)
{
    Stage* stage = user;
    if (frame->frame == 0)
        stage->progress = snwProgress_Begin("replaying", frame->frameCount);
    snwProgress_Update(&stage->progress, frame->frame);
    return snwExports_AddFrame(&stage->exports, frame, message);
}

static void PrintReplayReport(const snwArgs* args, const snwLog* log, const snwRunReport* report)
{
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, report->hash);
    bool same = report->firstDifference < 0;
    if (snwArgs_Has(args, "json"))
        snwPrintJson(json_pack("{s:i, s:s, s:b, s:i, s:i, s:b, s:s}", "schema", 1, "file", args->operands[0], "same",
            same, "frames", report->frames, "first_difference", report->firstDifference, "complete", log->complete,
            "hash", hash));
    else if (same)
        printf("%s: all %d frames are the same, hash %s%s\n", args->operands[0], report->frames, hash,
            log->complete ? "" : " (the log was cut short)");
    else
        printf("%s: frame %d is the first that differs\n", args->operands[0], report->firstDifference);
}

// What was exported of a run that ended early is kept; its words count more than those of the files.
static snwResult RunLog(snwContext* context, const snwLog* log, Stage* stage, snwRunReport* report, snwMessage* message)
{
    snwRunDef def = snwDefaultRunDef();
    def.file = &log->file;
    def.replay = log;
    def.interrupt = snwInterrupt_Flag();
    def.onFrame = OnReplayFrame;
    def.user = stage;
    snwResult result = snwRun(context, &def, report, message);
    snwProgress_End(&stage->progress);
    bool kept = result >= 0 || result == snw_errorInterrupted || result == snw_errorDiverged;
    snwResult written = kept ? snwExports_Finish(&stage->exports, result == snw_ok ? message : NULL) : snw_ok;
    snwExports_Drop(&stage->exports);
    return result < 0 || written >= 0 ? result : written;
}

static snwExit Replay(const snwArgs* args, snwContext* context, const snwLog* log, Stage* stage)
{
    snwMessage message = {0};
    snwRunReport report = {.firstDifference = -1};
    snwResult result = snwExports_Open(&stage->exports, context, &stage->def, log->file.scene, stage->directory,
        log->frameCount, snwArgs_Has(args, "force"), &message);
    if (result < 0)
        return snwReportMessage(&message);

    // A frame that differs ends in a failure, but what was found is told first.
    result = RunLog(context, log, stage, &report, &message);
    bool differs = report.firstDifference >= 0;
    if (result >= 0 || differs)
        PrintReplayReport(args, log, &report);
    fflush(stdout);
    if (result < 0 && !differs)
        return snwReportMessage(&message);

    if (stage->directory != NULL)
        snwExportsDef_List(&stage->def, stage->directory);
    if (!differs)
        return snw_exitOk;

    return snwReport(snw_errorIo, "was the log changed, or made by another version of sinew?",
        "%s: frame %d: the hash differs from the log", args->operands[0], report.firstDifference);
}

// A folder without --export would stay empty.
static snwExit ReadStage(const snwArgs* args, Stage* stage)
{
    stage->directory = snwArgs_Text(args, "output");
    snwExit result = snwExportsDef_Read(args, stage->directory, &stage->def);
    if (result == snw_exitOk && stage->directory != NULL && snwExportsDef_IsEmpty(&stage->def))
        return snwUsage("--export obj", "-o says where to, but not what to write");
    return result;
}

static snwExit RunReplay(const snwArgs* args)
{
    snwContext* context = NULL;
    snwLog log = {0};
    snwMessage message;

    Stage stage = {0};
    snwExit result = ReadStage(args, &stage);
    if (result == snw_exitOk)
        result = snwContextFromArgs(args, &context);
    if (result != snw_exitOk)
        return result;

    // From here on Ctrl-C ends the replay between two frames.
    snwInterrupt_Listen();

    if (snwLog_Open(context, args->operands[0], NULL, &log, &message) < 0)
        result = snwReportInput(&message);
    else
    {
        result = Replay(args, context, &log, &stage);
        snwLog_Close(context, &log);
    }

    snwDestroyContext(context);
    return result;
}

static const snwOption s_options[] = {
    {"output", 'o', "DIR", false, snw_completeFolder, NULL, "write the exports here"},
    {"force", 'f', NULL, false, snw_completeNothing, NULL, "replace files that exist"},
    SNW_EXPORT_OPTIONS,
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print the outcome as JSON"},
    SNW_CONTEXT_OPTIONS,
    {0},
};

static const snwExample s_examples[] = {
    {"sinew replay out/demo-drop/log.jsonl", "0 if every frame is the same"},
    {"sinew replay log.jsonl --threads 1 --simd scalar", "the same bits, whatever the machine does"},
    {"sinew replay log.jsonl -o out --export pc2", "the performance as point caches"},
    {0},
};

const snwVerb snwReplayVerb = {
    .name = "replay",
    .operands = "LOG",
    .leastOperands = 1,
    .mostOperands = 1,
    .complete = snw_completeFile,
    .summary = "run a log again and compare every frame",
    .about = "A log holds the scene, every command and one hash per frame: the whole performance.\n"
             "Ends with 1 and the first unlike frame if any hash differs.\n"
             "--export writes the bodies as sinew sim does.",
    .options = s_options,
    .examples = s_examples,
    .run = RunReplay,
};
