// Bakes of real files and of built-in characters, and what others read in what was written: Khronos' validator and
// Blender, where they are here.

#include "pbcd_bench.h"

#include "bake/bake.h"
#include "bake/output.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Case
{
    const char* name;
    const char* data; // file of SINEW_DATA; NULL: a built-in character
    const char* character;
    bool loop;
} Case;

static const Case s_cases[] = {
    {"bake-fox", "gltf/Fox.glb", NULL, true},
    {"bake-rigged-simple", "gltf/RiggedSimple.glb", NULL, false},
    {"bake-morph-stress", "gltf/MorphStressTest.glb", NULL, false},
    {"bake-blender-rig", "blender-rig/rig.glb", NULL, false},
    {"bake-biped", NULL, "biped", true},
    {"bake-cow", NULL, "cow", true},
    {"bake-fish", NULL, "fish", true},
};

static const snwBakeFormat s_formats[] = {snw_bakeGlb, snw_bakeJoints, snw_bakePc2};

typedef struct Baking
{
    snwBenchRows* rows;
    const Case* which;
    snwContext* context;
    snwBake* bake;
    char folder[64], source[512], path[160];
    double size, seconds; // m; s of run and first file
} Baking;

// ---------------------------------------------------------------------------------------------------------------------
// Rows

static snwBenchRow RowOf(const Baking* b, snwBakeFormat format, const char* metric)
{
    char name[48];
    snprintf(name, sizeof name, "%s%s%s", b->which->name, format == snw_bakeGlb ? "" : "-",
        format == snw_bakeGlb ? "" : snwBakeFormat_Name(format));
    return snwMakeBenchRow(name, "pbcd", metric);
}

// A missing value needs its note.
static void AddRow(Baking* b, snwBenchRow row, double value, const char* note)
{
    row.value = value;
    row.n = isnan(value) ? 0 : 1;
    snprintf(row.note, sizeof row.note, "%s", note);
    snwBenchRows_Add(b->rows, &row);
}

static void SetTarget(snwBenchRow* row, const char* op, double target)
{
    row->op = op;
    row->target = target;
}

static void AddMissing(Baking* b, const char* note)
{
    static const char* const s_metrics[] = {
        "bake_err", "validator_errors", "blender_err", "loop_seam", "trajectory_drift", "file_bytes", "bake_fps"};
    for (size_t i = 0; i < sizeof s_metrics / sizeof s_metrics[0]; ++i)
        AddRow(b, RowOf(b, snw_bakeGlb, s_metrics[i]), NAN, note);
}

// ---------------------------------------------------------------------------------------------------------------------
// Other readers

static double ValidatorErrors(const Baking* b)
{
    char command[1024], line[512] = "";
    snprintf(command, sizeof command, "node '%s/tools/validate.js' '%s' 2>/dev/null", SNW_SOURCE_DIR, b->path);
    FILE* lines = popen(command, "r");
    bool told = lines != NULL && fgets(line, sizeof line, lines) != NULL;
    if (lines != NULL)
        pclose(lines);
    return told ? strtod(line, NULL) : NAN;
}

// Positions that Blender shows of the first surface; NULL: it has none for us.
static float* RunBlender(const Baking* b, const snwBakeInfo* info, const char* path, int* count)
{
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(info->prepared, info->surfaces[0]);
    const char* mesh = info->asset != NULL && surface->mesh >= 0 ? info->asset->meshes[surface->mesh].name : "";
    char out[128], command[2048];
    snprintf(out, sizeof out, "%s/blender.bin", b->folder);
    unlink(out);
    snprintf(command, sizeof command,
        "blender -b --factory-startup -P '%s/tools/blender_positions.py' -- '%s' %.9g %d %.9g '%s|%s' '%s' '%s' "
        ">/dev/null 2>&1",
        SNW_SOURCE_DIR, out, info->rate, info->frameCount, info->asset != NULL ? info->start : 0.0, surface->name, mesh,
        info->clip, path);
    int32_t head[2] = {0};
    float* positions = NULL;
    FILE* file = system(command) == 0 ? fopen(out, "rb") : NULL;
    if (file != NULL && fread(head, sizeof head, 1, file) == 1 && head[0] == info->frameCount && head[1] > 0)
    {
        size_t numbers = 3 * (size_t)head[0] * (size_t)head[1];
        positions = malloc(numbers * sizeof *positions);
        if (positions != NULL && fread(positions, sizeof *positions, numbers, file) != numbers)
        {
            free(positions);
            positions = NULL;
        }
    }
    if (file != NULL)
        fclose(file);
    unlink(out);
    *count = head[1];
    return positions;
}

// Of the size; NAN where Blender is missing or has another number of vertices.
static double BlenderError(Baking* b, const char* path)
{
    snwBakeFrames* frames = snwBake_GetFrames(b->bake);
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);
    double scale = info.asset != NULL ? snwPrepared_GetInfo(info.prepared).scale : 1, worst = 0;
    int count = 0;
    float* shown = RunBlender(b, &info, path, &count);
    for (int frame = 0; frame < info.frameCount && shown != NULL && !isnan(worst); ++frame)
    {
        snwBakeFrame read;
        snwSkin skin;
        if (snwBakeFrames_Read(frames, frame, &read, NULL) < 0 ||
            snwBakeFrames_GetSurface(frames, info.surfaces[0], &skin, NULL) < 0 || skin.vertexCount != count)
            worst = NAN;
        for (int i = 0; i < count && !isnan(worst); ++i)
        {
            const float* x = (const float*)((const char*)skin.positions + (size_t)i * (size_t)skin.stride);
            const float* y = shown + 3 * ((size_t)frame * (size_t)count + (size_t)i);
            double square = 0;
            for (int k = 0; k < 3; ++k)
                square += ((double)x[k] - scale * (double)y[k]) * ((double)x[k] - scale * (double)y[k]);
            worst = fmax(worst, sqrt(square));
        }
    }
    bool there = shown != NULL;
    free(shown);
    return there ? worst / b->size : NAN;
}

// ---------------------------------------------------------------------------------------------------------------------
// A case

static void AddBlender(Baking* b, snwBakeFormat format, double tolerance, const snwBakeOutputReport* report)
{
    snwBenchRow row = RowOf(b, format, "blender_err");
    int script = report->fileCount - 1; // of a cache
    double error = BlenderError(b, format == snw_bakePc2 ? report->files[script] : b->path);
    SetTarget(&row, "<=", format == snw_bakePc2 ? 1e-5 : tolerance / b->size + 1e-5);
    AddRow(b, row, error, isnan(error) ? "no Blender here, or it has another number of vertices" : "");
}

static void AddOutput(Baking* b, snwBakeFormat format)
{
    snwBakeOutputDef def = snwDefaultBakeOutputDef();
    snwBakeOutputReport* report = calloc(1, sizeof *report);
    snprintf(b->path, sizeof b->path, "%s/out.%s", b->folder, format == snw_bakePc2 ? "pc2" : "glb");
    def.path = b->path;
    def.format = format;
    def.overwrite = true;
    double start = snwClock_Seconds();
    if (report != NULL)
        b->rows->result = snwBakeOutput_Write(b->context, snwBake_GetFrames(b->bake), &def, report, b->rows->message);
    b->seconds += format == snw_bakeGlb ? snwClock_Seconds() - start : 0;
    if (report == NULL || b->rows->result < 0)
    {
        free(report);
        return;
    }
    snwBenchRow error = RowOf(b, format, "bake_err"), valid = RowOf(b, format, "validator_errors");
    if (format != snw_bakePc2)
        SetTarget(&error, "<=", 1e3 * report->tolerance);
    SetTarget(&valid, "==", 0);
    AddRow(b, error, 1e3 * report->maxError, report->noteCount > 0 ? report->notes[0] : "");
    if (format != snw_bakePc2)
    {
        double errors = ValidatorErrors(b);
        AddRow(b, valid, errors, isnan(errors) ? "no gltf-validator here: tools/setup.sh validate" : "");
        AddRow(b, RowOf(b, format, "targets"), report->targets, "");
        snwBenchRow ratio = RowOf(b, format, "size_ratio"), share = RowOf(b, format, "targets_per_frame");
        int frames = snwBake_GetReport(b->bake)->frames;
        SetTarget(&ratio, "<=", 3);
        SetTarget(&share, "<=", frames < 48 ? 1 : 0.5);
        AddRow(b, ratio, report->bytes[0] / report->sourceBytes, "");
        if (format == snw_bakeGlb)
            AddRow(b, share, (double)report->targets / frames, "");
    }
    AddRow(b, RowOf(b, format, "file_bytes"), report->bytes[0], "");
    AddBlender(b, format, report->tolerance, report);
    for (int i = 0; i < report->fileCount; ++i)
        unlink(report->files[i]);
    free(report);
}

static void AddRun(Baking* b)
{
    const snwBakeReport* report = snwBake_GetReport(b->bake);
    snwBenchRow seam = RowOf(b, snw_bakeGlb, "loop_seam");
    double drift = 0;
    for (int i = 0; i < report->driftCount; ++i)
        drift = fmax(drift, report->drifts[i].mean / b->size);
    SetTarget(&seam, "<=", 2);
    AddRow(b, seam, b->which->loop ? fmax(report->seamPosition, report->seamVelocity) : NAN,
        b->which->loop ? "" : "its clip is no loop");
    AddRow(b, RowOf(b, snw_bakeGlb, "trajectory_drift"), drift, "");
    AddRow(b, RowOf(b, snw_bakeGlb, "bake_fps"), report->frames / b->seconds, "");
}

static snwResult Bake(Baking* b)
{
    snwBakeDef def = snwDefaultBakeDef();
    def.source = b->source;
    def.folder = b->folder;
    def.sidecar = "";
    def.restart = true;
    json_t* words = json_object();
    json_object_set_new(words, "loop", json_boolean(b->which->loop));
    def.words = words;
    snwResult result = snwBake_Open(b->context, &def, &b->bake, b->rows->message);
    double start = snwClock_Seconds();
    if (result >= 0)
        result = snwBake_Run(b->bake, b->rows->message);
    b->seconds = snwClock_Seconds() - start;
    if (result >= 0)
        b->size = snwBake_GetReport(b->bake)->size;
    json_decref(words);
    return result;
}

static bool FindSource(Baking* b)
{
    const char* data = getenv("SINEW_DATA");
    char note[160];
    if (b->which->data == NULL)
        return snprintf(b->source, sizeof b->source, "%s", b->which->character), true;
    snprintf(b->source, sizeof b->source, "%s/%s", data == NULL ? "" : data, b->which->data);
    if (data != NULL && access(b->source, R_OK) == 0)
        return true;
    snprintf(note, sizeof note, "SINEW_DATA names no folder with %s", b->which->data);
    AddMissing(b, note);
    return false;
}

static void AddCase(snwBenchRows* rows, const Case* which)
{
    Baking b = {.rows = rows, .which = which, .folder = "/tmp/sinew-bake-XXXXXX"};
    if (!FindSource(&b))
        return;
    snwContextDef def = snwDefaultContextDef();
    if (mkdtemp(b.folder) == NULL)
        rows->result = snwFail(rows->message, snw_errorIo, "make room in /tmp", "cannot make a folder in /tmp");
    if (rows->result >= 0)
        rows->result = snwCreateContext(&def, &b.context, rows->message);
    if (rows->result >= 0)
        rows->result = Bake(&b);
    for (size_t i = 0; i < sizeof s_formats / sizeof s_formats[0] && rows->result >= 0; ++i)
        AddOutput(&b, s_formats[i]);
    if (rows->result >= 0)
        AddRun(&b);
    if (b.bake != NULL)
        snwBake_RemoveFolder(b.bake);
    snwBake_Close(b.bake);
    if (b.context != NULL)
        snwDestroyContext(b.context);
    rmdir(b.folder);
}

void snwAddPbcdBake(snwBenchRows* rows)
{
    for (size_t i = 0; i < sizeof s_cases / sizeof s_cases[0] && rows->result >= 0; ++i)
        AddCase(rows, &s_cases[i]);
}
