#include "prep_character.h"

#include "asset/gltf_write.h"
#include "base/clock.h"
#include "base/context.h"
#include "peak.h"
#include "prepare/prepare.h"
#include "scene/blueprint_file.h"
#include "scene/file.h"
#include "scene/prepared_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Case
{
    const char* name;
    const char* data; // file of SINEW_DATA; NULL: `character` as glTF
    const char* character;
} Case;

static const Case s_cases[] = {
    {"character-manikin", NULL, "manikin"},
    {"character-fox", "gltf/Fox.glb", NULL},
    {"character-rigged-simple", "gltf/RiggedSimple.glb", NULL},
    {"character-morph-stress", "gltf/MorphStressTest.glb", NULL},
    {"character-blender-rig", "blender-rig/rig.glb", NULL},
    {"character-spot", "spot/spot.obj", NULL},
    {"character-elephant", "complementary-dynamics/elephant/elephant.json", NULL},
    {"character-fish", "complementary-dynamics/fish/fish.json", NULL},
    {"character-frog", "complementary-dynamics/frog/frog.json", NULL},
    {"character-sphere", "complementary-dynamics/sphere/sphere.json", NULL},
};

typedef struct Bench
{
    snwContext* context;
    snwBenchReport* report;
    char folder[64];
    snwMessage* message;
} Bench;

typedef struct Measured
{
    snwSamples seconds, loads;
    double peak;  // MB
    double error; // NAN: it failed
    char note[160];
} Measured;

// ---------------------------------------------------------------------------------------------------------------------
// One case

// A built-in character as an artist's file would be: skin, joints, weights, animations.
static snwResult WriteBuiltIn(Bench* bench, const char* name, const char* path)
{
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    snwGltfWriter* writer = NULL;
    snwResult result = snwBlueprintFile_Open(bench->context, name, &file, bench->message);
    if (result >= 0)
        result = snwBlueprint_Create(bench->context, &file.blueprint, NULL, NULL, NULL, &character, bench->message);
    snwBlueprintFile_Free(&file);
    if (result >= 0)
        result = snwGltfWriter_Open(bench->context, NULL, &writer, bench->message);
    if (result >= 0)
    {
        snwGltfCharacterDef def = snwDefaultGltfCharacterDef(character);
        snwGltfSave save = snwDefaultGltfSave(path);
        snwGltfWriter_AddCharacter(writer, &def);
        save.overwrite = true;
        result = snwGltfWriter_Save(writer, &save, bench->message);
    }
    snwGltfWriter_Close(writer);
    if (character != NULL)
        snwCharacter_Release(character);
    return result;
}

static snwResult PrepareOnce(Bench* bench, const char* path, const char* out, Measured* measured)
{
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    void* data = NULL;
    size_t size = 0;
    snwPeak peak = snwPeak_Start();
    double start = snwClock_Seconds();
    def.sidecar = "";
    snwResult result = snwPrepareFile(bench->context, path, &def, &prepared, NULL, bench->message);
    if (result >= 0)
        result = snwPrepared_Save(prepared, &data, &size, bench->message);
    if (result >= 0)
        result = snwFile_Write(bench->context, out, data, size, true, bench->message);
    snwSamples_Add(&measured->seconds, snwClock_Seconds() - start);
    measured->peak = snwPeak_End(&peak);
    if (result >= 0)
    {
        measured->error = snwPrepared_GetInfo(prepared).embeddingError;
        snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared));
        snprintf(measured->note, sizeof measured->note, "%d tets, %d bones, %d motions, %.1f MB", info.tetCount,
            info.boneCount, info.motionCount, (double)size / 1e6);
    }
    snwFree(bench->context, data);
    snwPrepared_Release(prepared);
    return result;
}

static snwResult LoadOnce(Bench* bench, const char* path, Measured* measured)
{
    snwPrepared* prepared = NULL;
    double start = snwClock_Seconds();
    snwResult result = snwPrepared_Open(bench->context, path, &prepared, bench->message);
    snwSamples_Add(&measured->loads, (snwClock_Seconds() - start) * 1000);
    snwPrepared_Release(prepared);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

static snwResult AddRow(Bench* bench, const Case* c, const Measured* measured, const char* metric, double value)
{
    snwBenchRow row = snwMakeBenchRow(c->name, "prep", metric);
    row.value = value;
    row.n = isnan(value) ? 0 : 1;
    snprintf(row.note, sizeof row.note, "%s", measured->note);
    if (strcmp(metric, "embedding_error") == 0)
        row.target = 1e-5, row.op = "<=";
    if (strcmp(metric, "prep_s") == 0 && measured->seconds.count > 0)
        snwBenchRow_SetSamples(&row, &measured->seconds);
    if (strcmp(metric, "load_ms") == 0 && measured->loads.count > 0)
        snwBenchRow_SetSamples(&row, &measured->loads);
    return snwBenchReport_Add(bench->report, &row, bench->message);
}

static snwResult AddRows(Bench* bench, const Case* c, const Measured* measured)
{
    snwResult result = AddRow(bench, c, measured, "prep_s", NAN);
    if (result >= 0)
        result = AddRow(bench, c, measured, "peak_rss", measured->peak);
    if (result >= 0)
        result = AddRow(bench, c, measured, "load_ms", NAN);
    return result < 0 ? result : AddRow(bench, c, measured, "embedding_error", measured->error);
}

static snwResult RunCase(Bench* bench, const Case* c, int runs)
{
    Measured measured = {.peak = NAN, .error = NAN};
    char path[1024], out[1024];
    const char* data = getenv("SINEW_DATA");
    snprintf(out, sizeof out, "%s/%s.snw", bench->folder, c->name);
    snprintf(path, sizeof path, "%s/%s", c->data != NULL ? (data != NULL ? data : "") : bench->folder,
        c->data != NULL ? c->data : "built-in.glb");
    snwResult result = c->data == NULL ? WriteBuiltIn(bench, c->character, path) : snw_ok;
    if (c->data != NULL && (data == NULL || access(path, R_OK) != 0))
    {
        snprintf(measured.note, sizeof measured.note, "SINEW_DATA names no folder with %s", c->data);
        return AddRows(bench, c, &measured);
    }
    for (int i = 0; i < runs && result >= 0; ++i)
        result = PrepareOnce(bench, path, out, &measured);
    for (int i = 0; i < runs && result >= 0; ++i)
        result = LoadOnce(bench, out, &measured);
    unlink(out);
    if (c->data == NULL)
        unlink(path);
    if (result == snw_errorInput) // a row too
    {
        snprintf(measured.note, sizeof measured.note, "%s", bench->message != NULL ? bench->message->text : "failed");
        measured.seconds.count = measured.loads.count = 0;
        result = snw_ok;
    }
    return result < 0 ? result : AddRows(bench, c, &measured);
}

snwResult snwPrepCharacter_Run(snwContext* context, int runs, snwBenchReport* report, snwMessage* message)
{
    Bench bench = {context, report, "/tmp/sinew-bench-XXXXXX", message};
    if (mkdtemp(bench.folder) == NULL)
        return snwFail(message, snw_errorIo, "make room in /tmp", "cannot make a folder in /tmp");
    snwResult result = snw_ok;
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases && result >= 0; ++i)
        result = RunCase(&bench, &s_cases[i], runs);
    rmdir(bench.folder);
    return result;
}
