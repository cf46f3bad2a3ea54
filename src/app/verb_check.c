// sinew check: is a file sound - log, scene, blueprint, cache, asset, prepared or baked file - and what is in it.

#include "app/asset_report.h"
#include "app/common.h"
#include "app/console.h"
#include "scene/shipped.h"
#include "app/verbs.h"
#include "bake/output.h"
#include "bake/written_frames.h"
#include "base/ending.h"
#include "base/result.h"
#include "prepare/prepare.h"
#include "scene/blueprint_file.h"
#include "scene/builtin.h"
#include "scene/prepared_file.h"

#include <stdio.h>
#include <string.h>

// What there is in a file, for people and for programs.
typedef struct Finding
{
    char what[512];
    json_t* notes; // NULL: none
} Finding;

static snwResult CheckLog(snwContext* context, const char* path, Finding* finding, snwMessage* message)
{
    snwLog log = {0};
    snwResult result = snwLog_Open(context, path, NULL, &log, message);
    if (result < 0)
        return result;
    snprintf(finding->what, sizeof finding->what, "log of %d frames, %d commands, %s", snwLog_Frames(&log),
        log.commandCount, log.complete ? "complete" : "cut short");
    snwLog_Close(context, &log);
    return result;
}

static snwResult CheckSceneFile(snwContext* context, const char* path, Finding* finding, snwMessage* message)
{
    snwSceneFile file = {0};
    snwSceneOptions options = snwDefaultSceneOptions();
    snwResult result = snwOpenScene(context, path, &options, &file, message);
    if (result < 0)
        return result;
    const snwSceneDef* scene = snwScene_GetDef(file.scene);
    snprintf(finding->what, sizeof finding->what, "scene of %d bodies, %d colliders, %g s", scene->bodyCount,
        scene->colliderCount, scene->duration);
    snwSceneFile_Close(&file);
    return result;
}

static snwResult CheckBlueprint(snwContext* context, const char* path, Finding* finding, snwMessage* message)
{
    snwBlueprintFile file;
    snwResult result = snwBlueprintFile_Open(context, path, &file, message);
    if (result >= 0)
        snprintf(finding->what, sizeof finding->what, "blueprint of %d parts, %d bones, %d joints, %d motions",
            file.blueprint.flesh.partCount, file.blueprint.boneCount, file.blueprint.jointCount,
            file.blueprint.motionCount);
    snwBlueprintFile_Free(&file);
    return result;
}

// Every frame is read, so every checksum is looked at. A cache that is not complete gives a warning.
static snwResult CheckFrames(snwContext* context, const char* path, Finding* finding, snwMessage* message)
{
    snwFrames* frames = NULL;
    snwFrame frame;
    snwResult result = snwFrames_Open(context, path, &frames, message);
    if (result < 0)
        return result;
    snwFramesInfo info = snwFrames_GetInfo(frames);
    snwResult read = snw_ok;
    for (int i = 0; i < info.frameCount && read >= 0; ++i)
        read = snwFrames_Read(frames, i, &frame, message);
    snprintf(finding->what, sizeof finding->what, "cache of %d frames, %d bodies, %s", info.frameCount, info.bodyCount,
        info.complete ? "complete" : "cut short");
    if (read >= 0 && info.tailBytes > 0)
        read = snwFail(message, snw_warning, "sinew sim with --resume makes it whole",
            "%llu bytes at the end are of a chunk that is not whole", (unsigned long long)info.tailBytes);
    snwFrames_Close(frames);
    return read;
}

// Prep would go on with bones and weights: by then it knows whether there is a body in the file.
static snwResult StopAtBones(snwPrepareStep step, void* user)
{
    bool* reached = user;
    *reached = step == snw_prepareBones;
    return *reached ? snw_errorInterrupted : snw_ok;
}

// What prep and bake refuse is not sound. Caches, rigs and motions alone are none of their business.
static snwResult AskPrepare(snwContext* context, const char* path, snwMessage* message)
{
    bool reached = false;
    snwPrepared* prepared = NULL;
    snwPrepareDef def = snwDefaultPrepareDef();
    def.elements = 500; // enough to know
    def.sidecar = "";
    def.progress = StopAtBones;
    def.user = &reached;
    snwResult result = snwPrepareFile(context, path, &def, &prepared, NULL, message);
    snwPrepared_Release(prepared);
    return reached ? snw_ok : result;
}

static snwResult CheckAsset(snwContext* context, const char* path, Finding* finding, snwMessage* message)
{
    snwAssetReport report;
    snwResult result = snwAssetReport_Make(context, path, &report, message);
    if (result >= 0)
    {
        snwAssetReport_Summarise(report.asset, finding->what, sizeof finding->what);
        finding->notes = snwAssetReport_Notes(&report);
        if (report.asset->meshCount > 0)
            result = AskPrepare(context, path, message);
    }
    snwAssetReport_Free(&report);
    return result;
}

static snwResult CheckPrepared(snwContext* context, const char* path, Finding* finding, snwMessage* message)
{
    snwPrepared* prepared = NULL;
    snwResult result = snwPrepared_Open(context, path, &prepared, message);
    if (result < 0)
        return result;
    snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared));
    snprintf(finding->what, sizeof finding->what, "prepared character of %d tets, %d bones, %d motions, %d surfaces",
        info.tetCount, info.boneCount, info.motionCount, snwPrepared_GetInfo(prepared).surfaceCount);
    snwPrepared_Release(prepared);
    return result;
}

static snwResult CheckAny(snwContext* context, const char* path, Finding* finding, snwMessage* message)
{
    if (snwHasEnding(path, ".jsonl"))
        return CheckLog(context, path, finding, message);
    if (snwHasEnding(path, ".snwf"))
        return CheckFrames(context, path, finding, message);
    if (snwHasEnding(path, ".snw"))
        return CheckPrepared(context, path, finding, message);
    if (snwAsset_IsOne(context, path) || !snwMayBeJson(path))
        return CheckAsset(context, path, finding, message);
    if (snwBuiltIn_Find(path) != NULL || snwBlueprintFile_IsOne(context, path))
        return CheckBlueprint(context, path, finding, message);
    return CheckSceneFile(context, path, finding, message);
}

// A baked file against the file that it was baked from.
static snwResult CheckAgainst(
    snwContext* context, const char* path, const char* source, Finding* finding, snwMessage* message)
{
    snwAsset *from = NULL, *to = NULL;
    snwAgainst against = {0};
    snwResult result = snwAsset_Open(context, source, &from, message);

    // A GLB is read again as a document; other formats are compared by what they hold.
    bool document = snwBakeFormat_OfPath(path) == snw_bakeGlb;

    if (result >= 0 && document)
        result = snwAsset_Open(context, path, &to, message);

    snwAgainstDef def = {.source = from, .written = to, .clip = -1};
    if (result >= 0)
        result = document ? snwCompareAgainst(context, &def, &against, message)
                          : snwCompareFileAgainst(context, from, path, &against, message);

    // What was found, also if it is not good enough.
    if (result >= 0)
    {
        int length = snprintf(finding->what, sizeof finding->what,
            "%.3f %% of the size from the source on average, %.2f %% at most ('%s', %s, frame %d of '%s'); ",
            100 * against.mean, 100 * against.most, against.mostPlace.mesh, against.mostPlace.bone,
            against.mostPlace.frame, against.mostPlace.clip);
        if (document && length < (int)sizeof finding->what)
            length += snprintf(finding->what + length, sizeof finding->what - (size_t)length,
                "%.2g %% without its flesh; ", 100 * against.bare);
        if (length < (int)sizeof finding->what)
            snprintf(finding->what + length, sizeof finding->what - (size_t)length,
                "%d edges torn, %d folded (%d in the source)", against.torn, against.folded, against.sourceFolded);
        result = snwAgainst_Judge(&against, message);
    }

    snwAsset_Close(from);
    snwAsset_Close(to);
    return result;
}

static void PrintCheckNotes(const json_t* notes)
{
    size_t i;
    const json_t* note;
    json_array_foreach(notes, i, note)
    {
        const char* place = json_string_value(json_object_get(note, "place"));
        json_int_t count = json_integer_value(json_object_get(note, "count"));
        printf("  %-8s %s%s%s", json_string_value(json_object_get(note, "kind")), place, place[0] != 0 ? ": " : "",
            json_string_value(json_object_get(note, "text")));
        if (count > 1)
            printf(" (%lld times)", (long long)count);
        putchar('\n');
    }
}

static bool CheckFile(snwContext* context, const char* path, const char* source, json_t* rows)
{
    Finding finding = {.what = ""};
    snwMessage message = {0};
    snwResult result = source != NULL ? CheckAgainst(context, path, source, &finding, &message)
                                      : CheckAny(context, path, &finding, &message);
    bool sound = result >= 0;
    if (finding.notes == NULL)
        finding.notes = json_array();

    // A row of JSON, or a line for people and its notes.
    if (rows != NULL)
        json_array_append_new(
            rows, json_pack("{s:s, s:b, s:s, s:s, s:s, s:s, s:O}", "file", path, "sound", sound, "what", finding.what,
                      "place", message.place, "text", message.text, "remedy", message.remedy, "notes", finding.notes));
    else if (sound)
        printf("%s: ok: %s\n", path, finding.what);

    if (rows == NULL)
        PrintCheckNotes(finding.notes);
    fflush(stdout);
    json_decref(finding.notes);
    if (result != snw_ok)
        snwReportMessage(&message);

    return sound;
}

static snwExit RunCheck(const snwArgs* args)
{
    snwContext* context = NULL;
    snwExit result = snwContextFromArgs(args, &context);
    if (result != snw_exitOk)
        return result;
    json_t* rows = snwArgs_Has(args, "json") ? json_array() : NULL;
    for (int i = 0; i < args->operandCount; ++i)
        if (!CheckFile(context, args->operands[i], snwArgs_Text(args, "against"), rows))
            result = snw_exitInput;
    if (rows != NULL)
        snwPrintJson(json_pack("{s:i, s:o}", "schema", 1, "rows", rows));
    snwDestroyContext(context);
    return result;
}

static const snwOption s_options[] = {
    {"against", 0, "SOURCE", false, snw_completeFile, NULL,
        "are baked files where SOURCE has them, but for the flesh, and is nothing torn?"},
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print one JSON object with a row per file"},
    {0},
};

static const snwExample s_examples[] = {
    {"sinew check scenes/*.json", "are these scenes sound?"},
    {"sinew check out/demo-drop/log.jsonl", "logs too"},
    {"sinew check fox.glb wobble.pc2", "and files of artists"},
    {"sinew check --against fox.glb fox_soft.glb", "is a bake right?"},
    {0},
};

const snwVerb snwCheckVerb = {
    .name = "check",
    .operands = "FILE...",
    .leastOperands = 1,
    .mostOperands = 1 << 20,
    .complete = snw_completeFile,
    .summary = "say whether files are sound, without simulating",
    .about = "Scenes and blueprints (.json), logs (.jsonl), frames caches (.snwf), prepared characters (.snw), and\n"
             "what artists have:\n"
             "glTF, OBJ, PLY, MEDIT, TetGen, TGF, DMAT, PC2, MDD and others (docs/formats.md). What prep would\n"
             "refuse is not sound; what is odd is printed below. Ends with 3 if any file is bad.",
    .options = s_options,
    .examples = s_examples,
    .run = RunCheck,
};
