// What `sinew bake` makes of files that others made, of the cast, and of files with one oddity each; by the program
// itself, as somebody at a terminal runs it. The gate's figures are those of its report: they come from files that were
// read again. Other readers: Khronos' validator, Blender, three.js, where they are here.

#define _GNU_SOURCE // wait4, environ

#include "bake_files.h"
#include "bake_peers.h"
#include "parts.h"

#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum
{
    snw_mostWords = 32,
    snw_interrupts = 6
};

typedef struct Case
{
    const char* name;
    const char* source;     // of SINEW_DATA, or a built-in character
    const char* options[8]; // of the bake
    bool lively;            // a run, or fat: its file may be larger
} Case;

static const Case s_data[] = {
    {"fox", "gltf/Fox.glb", {"--loop"}, false},
    {"fox-run", "gltf/Fox.glb", {"--clip", "Run"}, true},
    {"rigged-simple", "gltf/RiggedSimple.glb", {NULL}, false},
    {"morph-stress", "gltf/MorphStressTest.glb", {NULL}, false},
    {"blender-rig", "blender-rig/rig.glb", {NULL}, false},
    {"cesium-man", "real/CesiumMan.glb", {NULL}, false},
    {"cesium-man-fat", "real/CesiumMan.glb", {"--preset", "fat", "--softness", "2"}, true},
    {"cesium-man-draco", "real/CesiumMan_Draco/CesiumMan.gltf", {NULL}, false},
    {"robot", "real/RobotExpressive.glb", {NULL}, false},
    {"xbot", "real/Xbot.glb", {NULL}, false},
    {"lumberjack", "real/lumberjack.glb", {NULL}, false},
    {"facecap", "real/facecap.glb", {NULL}, false},
    {"fish-bundle", "complementary-dynamics/fish/fish.json", {NULL}, true},
    {"frog-bundle", "complementary-dynamics/frog/frog.json", {NULL}, true},
    {"sphere-bundle", "complementary-dynamics/sphere/sphere.json", {NULL}, true},
    {"elephant-bundle", "complementary-dynamics/elephant/elephant.json", {NULL}, true},
};

static const Case s_cast[] = {
    {"biped", "biped", {"--loop"}, false},
    {"cow", "cow", {"--loop"}, false},
    {"fish", "fish", {"--loop"}, false},
    {"head", "head", {NULL}, false},
    {"horse", "horse", {"--loop"}, false},
    {"manikin", "manikin", {NULL}, false},
    {"octopus", "octopus", {NULL}, false},
    {"reptile", "reptile", {NULL}, false},
    {"upper-body", "upper-body", {NULL}, false},
};

typedef struct Baking
{
    snwBenchRows* rows;
    const Case* which;
    char program[PATH_MAX], folder[64];
    char source[PATH_MAX], out[96], report[96], errors[96];
    double seconds, megabytes; // of the last run
} Baking;

// ---------------------------------------------------------------------------------------------------------------------
// Rows

static void AddRow(Baking* b, const char* variant, snwBenchRow row, double value, const char* note)
{
    snprintf(row.caseName, sizeof row.caseName, "%s%s", b->which->name, variant);
    row.value = value;
    row.n = isnan(value) ? 0 : 1;
    snprintf(row.note, sizeof row.note, "%s", note);
    snwBenchRows_Add(b->rows, &row);
}

// op NULL: no target.
static void Add(Baking* b, const char* variant, const char* metric, double value, const char* op, double target)
{
    snwBenchRow row = snwMakeBenchRow("", "pbcd", metric);
    if (op != NULL)
        snwBenchRow_SetTarget(&row, op, target);
    AddRow(b, variant, row, value, isnan(value) ? "the report does not tell" : "");
}

static void AddMissing(Baking* b, const char* note)
{
    static const char* const s_metrics[] = {"baked", "gate_err", "gate_err_held", "torn_edges", "folded_edges",
        "bake_err", "size_ratio", "targets_per_frame", "bake_s", "peak_rss", "validator_errors"};
    for (size_t i = 0; i < sizeof s_metrics / sizeof *s_metrics; ++i)
        AddRow(b, "", snwMakeBenchRow("", "pbcd", s_metrics[i]), NAN, note);
}

// ---------------------------------------------------------------------------------------------------------------------
// The program

// Beside this one, or above it: tests have a folder of their own.
static bool FindProgram(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    for (int up = 0; up < 2; ++up)
    {
        char* slash = strrchr(path, '/');
        if (slash == NULL || slash - path > PATH_MAX - 8)
            return false;
        memcpy(slash, "/sinew", sizeof "/sinew");
        if (access(path, X_OK) == 0)
            return true;
        *slash = 0;
    }
    return false;
}

// bake SOURCE with the case's options and more; its report goes to b->report.
static pid_t Start(const Baking* b, const char* const* more)
{
    const char* words[snw_mostWords] = {b->program, "bake", b->source, "-o", b->out, "--force", "--json", "--keep"};
    int count = 8;
    for (int i = 0; i < 8 && b->which->options[i] != NULL; ++i)
        words[count++] = b->which->options[i];
    for (int i = 0; more[i] != NULL && count < snw_mostWords - 1; ++i)
        words[count++] = more[i];
    posix_spawn_file_actions_t actions;
    pid_t process = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    bool good = posix_spawn_file_actions_addopen(&actions, 1, b->report, O_WRONLY | O_CREAT | O_TRUNC, 0666) == 0 &&
                posix_spawn_file_actions_addopen(&actions, 2, b->errors, O_WRONLY | O_CREAT | O_TRUNC, 0666) == 0 &&
                posix_spawn(&process, b->program, &actions, NULL, (char* const*)words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return good ? process : -1;
}

// The report; NULL: it failed, and the note says how.
static json_t* Bake(Baking* b, const char* const* more, char note[160])
{
    double start = snwClock_Seconds();
    pid_t process = Start(b, more);
    struct rusage usage;
    int status = 0;
    snprintf(note, 160, "the program could not be started");
    if (process < 0 || wait4(process, &status, 0, &usage) != process)
        return NULL;
    b->seconds = snwClock_Seconds() - start;
    b->megabytes = (double)usage.ru_maxrss * 1024 / 1e6;
    if (status == 0)
        return json_load_file(b->report, 0, NULL);

    // What it complained about.
    char line[256] = "";
    FILE* file = fopen(b->errors, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL && strstr(line, "error:") == NULL)
        continue;
    if (file != NULL)
        fclose(file);
    line[strcspn(line, "\n")] = 0;
    snprintf(note, 160, "%.150s", line);
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// A case

static double Number(const json_t* object, const char* key)
{
    const json_t* value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

// What every file that was written has to keep. still: how far it may be off without flesh, of the size.
static void AddGate(Baking* b, const char* variant, const json_t* report, double still)
{
    const json_t* against = json_object_get(report, "against");
    double size = Number(against, "size"), tolerance = Number(report, "tolerance");
    Add(b, variant, "baked", json_is_object(against), "==", 1);
    if (!json_is_object(against))
        return;
    Add(b, variant, "gate_err", Number(against, "bare"), "<=", still > 0 ? still : tolerance / size);
    Add(b, variant, "gate_err_held", Number(against, "held"), "<=", 1e-3);
    Add(b, variant, "torn_edges", Number(against, "torn"), "==", 0);
    Add(b, variant, "folded_edges", Number(against, "folded"), "==", 0);
    Add(b, variant, "bake_err", 1e3 * Number(against, "missed") * size, "<=", 1e3 * tolerance);
}

static void AddSize(Baking* b, const char* variant, const json_t* report, double most)
{
    const json_t* file = json_array_get(json_object_get(report, "files"), 0);
    double bytes = Number(file, "bytes"), source = Number(report, "source_bytes");
    Add(b, variant, "size_ratio", bytes / source, "<=", most);
}

// Errors beyond those of the source, which passes through as it is.
static void AddValidator(Baking* b, const char* variant)
{
    snwBenchRow row = snwMakeBenchRow("", "pbcd", "validator_errors");
    const char* dot = strrchr(b->source, '.');
    bool document = dot != NULL && (strcmp(dot, ".glb") == 0 || strcmp(dot, ".gltf") == 0);
    double errors = snwBakePeer_Validate(b->out), given = document ? snwBakePeer_Validate(b->source) : 0;
    char note[160] = "";
    if (given > 0)
        snprintf(note, sizeof note, "beyond %g of the source", given);
    if (isnan(errors))
        snprintf(note, sizeof note, "no gltf-validator here: tools/setup.sh validate");
    snwBenchRow_SetTarget(&row, "==", 0);
    AddRow(b, variant, row, fmax(errors - given, 0) + 0 * errors, note);
}

// How far the flesh of the leg that is still moves on average, in its worst frame.
static void AddNeighbour(Baking* b, const json_t* report)
{
    const json_t* drifts = json_object_get(report, "drift");
    for (size_t i = 0; i < json_array_size(drifts); ++i)
    {
        const json_t* drift = json_array_get(drifts, i);
        if (strcmp(json_string_value(json_object_get(drift, "bone")), "chest") == 0)
            Add(b, "", "neighbour_flesh", Number(drift, "most") / Number(report, "size"), "<=", 1e-4);
    }
}

static void AddMotion(Baking* b, const json_t* report)
{
    const json_t *loop = json_object_get(report, "loop"), *drifts = json_object_get(report, "drift");
    double drift = 0, frames = Number(report, "frames"), size = Number(report, "size");
    for (size_t i = 0; i < json_array_size(drifts); ++i)
        drift = fmax(drift, Number(json_array_get(drifts, i), "mean") / size);
    Add(b, "", "targets_per_frame", Number(report, "targets") / frames,
        "<=", frames >= 48 && !b->which->lively ? 0.5 : 1);
    Add(b, "", "trajectory_drift", drift, NULL, 0);
    Add(b, "", "ride", Number(json_object_get(report, "ride"), "most") / size, "<=", 0.05);
    if (json_is_object(loop))
        Add(b, "", "loop_seam", fmax(Number(loop, "seam_position"), Number(loop, "seam_velocity")), "<=", 2);
    bool whole = Number(report, "end") - Number(report, "start") >= 10; // seconds, of a real body
    Add(b, "", "bake_s", b->seconds, whole ? "<=" : NULL, 60);
    Add(b, "", "peak_rss", b->megabytes, "<=", 600);
}

// What other programs show of the file, against a point cache of the same frames.
static void AddPeer(Baking* b, const char* variant, const char* metric, const json_t* report, const char* cache)
{
    snwBenchRow row = snwMakeBenchRow("", "pbcd", metric);
    snwBakeShown shown = {.file = b->out,
        .cache = cache,
        .folder = b->folder,
        .clip = json_string_value(json_object_get(report, "clip")),
        .rate = Number(report, "fps"),
        .start = Number(report, "start"),
        .frames = (int)Number(report, "frames")};
    char note[160] = "";
    const json_t* against = json_object_get(report, "against");
    double size = Number(against, "size"), tolerance = Number(report, "tolerance");
    bool blender = strcmp(metric, "blender_err") == 0;
    double error = blender ? snwBakePeer_Blender(&shown, note) : snwBakePeer_Three(&shown, note);
    snwBenchRow_SetTarget(&row, "<=", tolerance / size + 1e-5);
    AddRow(b, variant, row, error * Number(against, "unit") / size, note);
}

static void AddPeers(Baking* b, const char* variant, const json_t* report, const char* cache, bool packed)
{
    if (!packed)
        AddPeer(b, variant, "blender_err", report, cache);
    AddPeer(b, variant, "three_err", report, cache);
}

// Bakes once more, from the frames that are there, and adds the rows of the gate; NULL: it failed, which a row tells.
static json_t* BakeVariant(Baking* b, const char* variant, const char* const* more, double still)
{
    char note[160];
    json_t* report = Bake(b, more, note);
    snwBenchRow row = snwMakeBenchRow("", "pbcd", "baked");
    snwBenchRow_SetTarget(&row, "==", 1);
    if (report != NULL)
        AddGate(b, variant, report, still);
    else
        AddRow(b, variant, row, 0, note);
    return report;
}

// The same frames as a cache, for other readers to be compared with; "" if the file has several surfaces.
static void BakeCache(Baking* b, char cache[96])
{
    char glb[96];
    snprintf(glb, sizeof glb, "%s", b->out);
    snprintf(b->out, sizeof b->out, "%s/out.pc2", b->folder);
    json_t* report = BakeVariant(b, "-pc2", (const char* const[]){"--up", "y", NULL}, 1e-6);
    const json_t* files = json_object_get(report, "files");
    const char* path = json_string_value(json_object_get(json_array_get(files, 0), "path"));
    snprintf(cache, 96, "%.90s", json_array_size(files) == 2 ? path : ""); // a surface, and a script
    json_decref(report);
    snprintf(b->out, sizeof b->out, "%s", glb);
}

// One simulation; further formats are written from its frames.
static void BakeCase(Baking* b)
{
    char cache[96] = "";
    bool full = b->rows->options->full;
    json_t* report = BakeVariant(b, "", (const char* const[]){"--restart", NULL}, 1e-4);
    if (report == NULL)
        return;
    AddSize(b, "", report, 3);
    AddMotion(b, report);
    if (strcmp(b->which->name, snwBakeFileNames[snw_bakeLegs]) == 0)
        AddNeighbour(b, report);
    if (full || b->which->source != NULL) // not of every small file that we make
        AddValidator(b, "");
    if (full)
    {
        BakeCache(b, cache);
        AddPeers(b, "", report, cache, false);
    }
    json_decref(report);

    report = BakeVariant(b, "-compress", (const char* const[]){"--compress", NULL}, 1e-4);
    if (report != NULL)
        AddSize(b, "-compress", report, b->which->lively ? 2 : 1.5);
    if (report != NULL && full)
        AddPeers(b, "-compress", report, cache, true);
    json_decref(report);
    if (!full)
        return;

    report = BakeVariant(b, "-joints", (const char* const[]){"--format", "joints", "--influences", "4", NULL}, 0);
    if (report != NULL)
    {
        AddValidator(b, "-joints");
        AddPeers(b, "-joints", report, cache, false);
    }
    json_decref(report);
}

// SIGTERM at moments of the whole bake; the worst time until it ends.
static void AddInterrupts(Baking* b, int count, double seconds)
{
    double worst = 0;
    for (int i = 0; i < count; ++i)
    {
        int status = 0;
        double wait = seconds * (i + 0.5) / count;
        pid_t process = Start(b, (const char* const[]){"--restart", NULL});
        if (process < 0)
            return;
        nanosleep(&(struct timespec){(time_t)wait, (long)(1e9 * fmod(wait, 1))}, NULL);
        double start = snwClock_Seconds();
        kill(process, SIGTERM);
        waitpid(process, &status, 0);
        worst = fmax(worst, 1e3 * (snwClock_Seconds() - start));
    }
    Add(b, "", "interrupt_ms", worst, "<=", 1000);
}

static bool Open(Baking* b)
{
    snprintf(b->folder, sizeof b->folder, "/tmp/sinew-bake-XXXXXX");
    if (!FindProgram(b->program) || mkdtemp(b->folder) == NULL)
    {
        b->rows->result = snwFail(
            b->rows->message, snw_errorIo, "make", "there is no program sinew, or no room in /tmp");
        return false;
    }
    snprintf(b->out, sizeof b->out, "%s/out.glb", b->folder);
    snprintf(b->report, sizeof b->report, "%s/report.json", b->folder);
    snprintf(b->errors, sizeof b->errors, "%s/errors.txt", b->folder);
    return true;
}

static void Close(Baking* b)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", b->folder);
    if (system(command) != 0) // NOLINT(cert-env33-c): the folder is ours
        b->rows->result = snwFail(b->rows->message, snw_errorIo, NULL, "cannot remove %s", b->folder);
}

static void AddCases(snwBenchRows* rows, const Case* cases, size_t count, bool files)
{
    const char* data = getenv("SINEW_DATA");
    for (size_t i = 0; i < count && rows->result >= 0; ++i)
    {
        Baking b = {.rows = rows, .which = &cases[i]};
        char note[160];
        if (!snwBenchRows_Wants(rows, cases[i].name, "pbcd"))
            continue;
        snprintf(
            b.source, sizeof b.source, "%s%s%s", files && data != NULL ? data : "", files ? "/" : "", cases[i].source);
        snprintf(note, sizeof note, "SINEW_DATA names no folder with %s", cases[i].source);
        if (files && (data == NULL || access(b.source, R_OK) != 0))
        {
            AddMissing(&b, note);
            continue;
        }
        if (!Open(&b))
            return;
        BakeCase(&b);
        Close(&b);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts

static void AddData(snwBenchRows* rows)
{
    AddCases(rows, s_data, sizeof s_data / sizeof *s_data, true);
}

static void AddCast(snwBenchRows* rows)
{
    AddCases(rows, s_cast, sizeof s_cast / sizeof *s_cast, false);
}

static bool MakeFile(Baking* b, const snwBakeFileDef* def)
{
    snwContextDef contextDef = snwDefaultContextDef();
    snwContext* context = NULL;
    snprintf(b->source, sizeof b->source, "%s/made.glb", b->folder);
    b->rows->result = snwCreateContext(&contextDef, &context, b->rows->message);
    if (b->rows->result >= 0)
        b->rows->result = snwMakeBakeFile(context, def, b->source, b->rows->message);
    if (context != NULL)
        snwDestroyContext(context);
    return b->rows->result >= 0;
}

// Small files with one oddity each.
static void AddMade(snwBenchRows* rows)
{
    for (int i = 0; i < snw_bakeFileCount; ++i)
    {
        const char* clip = i == snw_bakeUnnamed ? "2" : "1";
        Case made = {snwBakeFileNames[i], NULL, {"--clip", clip, "--elements", "300"}, false};
        Baking b = {.rows = rows, .which = &made};
        snwBakeFileDef def = {.kind = (snwBakeFileKind)i, .rings = 16, .sides = 12, .seconds = 0.6};
        if (!snwBenchRows_Wants(rows, made.name, "pbcd") || !Open(&b))
            continue;
        if (MakeFile(&b, &def))
            BakeCase(&b);
        Close(&b);
    }
}

// Ten seconds of ten thousand triangles.
static void AddCost(snwBenchRows* rows)
{
    static const Case s_long = {"long", NULL, {"--clip", "1"}, false};
    Baking b = {.rows = rows, .which = &s_long};
    snwBakeFileDef def = {.kind = snw_bakePlain, .rings = 100, .sides = 50, .seconds = 10};
    if (!snwBenchRows_Wants(rows, s_long.name, "pbcd") || !Open(&b))
        return;
    json_t* report = MakeFile(&b, &def) ? BakeVariant(&b, "", (const char* const[]){"--restart", NULL}, 1e-4) : NULL;
    double seconds = b.seconds;
    if (report != NULL)
    {
        AddSize(&b, "", report, 3);
        Add(&b, "", "bake_s", seconds, "<=", 60);
        Add(&b, "", "peak_rss", b.megabytes, "<=", 600);
        AddInterrupts(&b, rows->options->full ? 2 * snw_interrupts : snw_interrupts, seconds);
    }
    json_decref(report);
    Close(&b);
}

static bool HasCase(const Case* cases, size_t count, const char* name)
{
    for (size_t i = 0; i < count; ++i)
        if (strcmp(cases[i].name, name) == 0)
            return true;
    return false;
}

// The part that has a case of this name; NULL: none.
static const char* PartOf(const char* name)
{
    for (int i = 0; i < snw_bakeFileCount; ++i)
        if (strcmp(snwBakeFileNames[i], name) == 0)
            return "made";
    return HasCase(s_data, sizeof s_data / sizeof *s_data, name)   ? "data"
           : HasCase(s_cast, sizeof s_cast / sizeof *s_cast, name) ? "cast"
                                                                   : NULL;
}

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    static const snwBenchPart s_parts[] = {
        {"made", AddMade},
        {"cost", AddCost},
        {"data", AddData},
        {"cast", AddCast},
    };
    static const snwBenchParts s_all = {s_parts, sizeof s_parts / sizeof *s_parts};

    // A case by its name alone.
    char only[96];
    snwBenchOptions own = *options;
    const char* part = options->only != NULL ? PartOf(options->only) : NULL;
    snprintf(only, sizeof only, "%s/%.80s", part != NULL ? part : "", part != NULL ? options->only : "");
    own.only = part != NULL ? only : options->only;
    return snwBenchParts_Run(&s_all, &own, report, message);
}

const snwBench snwBakeBench = {"bake",
    "bakes of real files, the cast and rigs with one oddity each: what the gate finds, sizes, time, interrupts, other "
    "readers",
    Run};
