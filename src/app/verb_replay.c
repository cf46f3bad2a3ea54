#include "app/common.h"
#include "app/console.h"
#include "app/verbs.h"

#include <inttypes.h>
#include <stdio.h>

static snwResult OnFrame(const snwRunFrame* frame, void* user, snwMessage* message)
{
    (void)message;
    snwProgress* progress = user;
    if (frame->frame == 0)
        *progress = snwProgress_Begin("replaying", frame->frameCount);
    snwProgress_Update(progress, frame->frame);
    return snw_ok;
}

static void PrintReport(const snwArgs* args, const snwLog* log, const snwRunReport* report)
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

static snwExit Replay(const snwArgs* args, snwContext* context, const snwLog* log)
{
    snwProgress progress = {0};
    snwMessage message = {0};
    snwRunReport report = {.firstDifference = -1};
    snwRunDef def = snwDefaultRunDef();
    def.file = &log->file;
    def.replay = log;
    def.interrupt = snwInterrupt_Flag();
    def.onFrame = OnFrame;
    def.user = &progress;
    snwResult result = snwRun(context, &def, &report, &message);
    snwProgress_End(&progress);
    bool differs = report.firstDifference >= 0;
    if (result >= 0 || differs)
        PrintReport(args, log, &report);
    if (result < 0 && !differs)
        return snwReportMessage(&message);
    if (!differs)
        return snw_exitOk;
    return snwReport(snw_errorIo, "was the log changed, or made by another version of sinew?",
        "%s: frame %d: the hash differs from the log", args->operands[0], report.firstDifference);
}

static snwExit Run(const snwArgs* args)
{
    snwContext* context = NULL;
    snwLog log = {0};
    snwMessage message;
    snwExit result = snwContextFromArgs(args, &context);
    if (result != snw_exitOk)
        return result;
    snwInterrupt_Listen();
    if (snwLog_Open(context, args->operands[0], &log, &message) < 0)
        result = snwReportInput(&message);
    else
    {
        result = Replay(args, context, &log);
        snwLog_Close(context, &log);
    }
    snwDestroyContext(context);
    return result;
}

static const snwOption s_options[] = {
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print the outcome as JSON"},
    SNW_CONTEXT_OPTIONS,
    {0},
};

static const snwExample s_examples[] = {
    {"sinew replay out/demo-drop/log.jsonl", "0 if every frame is the same"},
    {"sinew replay log.jsonl --threads 1 --simd scalar", "the same bits, whatever the machine does"},
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
             "Ends with 1 and the first unlike frame if any hash differs.",
    .options = s_options,
    .examples = s_examples,
    .run = Run,
};
