#include "prep_gltf.h"

#include "asset/gltf_write.h"
#include "base/clock.h"
#include "base/context.h"
#include "scene/blueprint_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A file that is read, and one that we write: the character itself, or what was read with a morph and its animation.
typedef struct Case
{
    const char* name;
    const char* data; // file of SINEW_DATA; NULL: a built-in character
    char from[512], to[512];
    snwSamples loads; // ms
    int errors;       // -1: nobody looked
    char note[160];
} Case;

typedef struct Bench
{
    snwContext* context;
    Case cases[5];
    char folder[64];
    snwMessage* message;
} Bench;

enum
{
    snw_caseCount = 5,
    snw_skinVertices = 30000,
};

// ---------------------------------------------------------------------------------------------------------------------
// Files

static snwResult Save(Bench* bench, snwGltfWriter* writer, const char* path)
{
    snwGltfSave save = snwDefaultGltfSave(path);
    save.overwrite = true;
    snwResult result = snwGltfWriter_Save(writer, &save, bench->message);
    snwGltfWriter_Close(writer);
    return result;
}

// A reptile with bones, weights and a motion, at the size of a character in a game.
static snwResult WriteCharacter(Bench* bench, Case* c)
{
    snwBlueprintFile file;
    snwBlueprintSize size = {.skinVertices = snw_skinVertices};
    snwCharacter* character = NULL;
    snwGltfWriter* writer = NULL;
    snwResult result = snwBlueprintFile_Open(bench->context, "reptile", &file, bench->message);
    if (result >= 0)
        result = snwBlueprint_Create(bench->context, &file.blueprint, &size, NULL, NULL, &character, bench->message);
    snwBlueprintFile_Free(&file);
    if (result >= 0)
        result = snwGltfWriter_Open(bench->context, NULL, &writer, bench->message);
    if (result >= 0)
    {
        snwGltfCharacterDef def = snwDefaultGltfCharacterDef(character);
        snwGltfWriter_AddCharacter(writer, &def);
        snprintf(c->note, sizeof c->note, "%d vertices", snwCharacter_GetInfo(character).skinVertexCount);
        result = Save(bench, writer, c->to);
    }
    if (character != NULL)
        snwCharacter_Release(character);
    return result;
}

static int FirstMesh(const snwAsset* asset, int* node)
{
    for (*node = 0; *node < asset->nodeCount; ++*node)
        if (asset->nodes[*node].mesh >= 0)
            return asset->nodes[*node].mesh;
    return -1;
}

// Adds one more morph to the mesh of a node, and a second in which it comes and goes.
static snwResult AddMorph(Bench* bench, const snwAsset* asset, snwGltfWriter* writer)
{
    int node, mesh = FirstMesh(asset, &node);
    if (mesh < 0)
        return snw_ok;
    float(*offsets)[3] = snwAllocArray(bench->context, (size_t)asset->meshes[mesh].vertexCount + 1, sizeof *offsets);
    double* values = snwAllocArray(bench->context, 3 * (size_t)asset->meshes[mesh].morphCount + 3, sizeof *values);
    if (offsets != NULL && values != NULL)
    {
        for (int i = 0; i < asset->meshes[mesh].vertexCount; ++i)
            offsets[i][1] = 0.001f * (float)(i % 100);
        snwAssetMorph morph = {"breath", (const float(*)[3])offsets, NULL, 0};
        snwGltfMorphDef def = {.mesh = mesh, .morphs = &morph, .morphCount = 1, .parts = asset->meshes[mesh].parts};
        int width = snwGltfWriter_AddMorphs(writer, &def) + 1;
        double times[3] = {0, 0.5, 1};
        values[2 * width - 1] = 1;
        snwAssetChannel channel = {node, snw_pathMorphs, snw_assetLinear, times, 3, width, values};
        snwAssetAnimation animation = {.name = "breathing", .channels = &channel, .channelCount = 1};
        snwGltfWriter_AddAnimation(writer, &animation);
    }
    snwResult result = offsets != NULL && values != NULL ? snw_ok : snwFailMemory(bench->message);
    snwFree(bench->context, values);
    snwFree(bench->context, offsets);
    return result;
}

static snwResult WritePassed(Bench* bench, Case* c)
{
    snwAsset* asset = NULL;
    snwGltfWriter* writer = NULL;
    snwResult result = snwAsset_Open(bench->context, c->from, &asset, bench->message);
    if (result >= 0)
        result = snwGltfWriter_Open(bench->context, asset->gltf, &writer, bench->message);
    if (result >= 0)
        result = AddMorph(bench, asset, writer);
    if (result >= 0)
        result = Save(bench, writer, c->to);
    else
        snwGltfWriter_Close(writer);
    snwAsset_Close(asset);
    return result;
}

// A case without its file has a note instead.
static snwResult Prepare(Bench* bench, Case* c)
{
    const char* data = getenv("SINEW_DATA");
    c->errors = -1;
    if (c->data == NULL)
    {
        snprintf(c->to, sizeof c->to, "%s/%s.glb", bench->folder, c->name);
        snprintf(c->from, sizeof c->from, "%s", c->to);
        return WriteCharacter(bench, c);
    }
    snprintf(c->note, sizeof c->note, "SINEW_DATA names no folder with %s", c->data);
    snprintf(c->from, sizeof c->from, "%s/%s", data == NULL ? "" : data, c->data);
    if (data == NULL || access(c->from, R_OK) != 0)
    {
        c->from[0] = 0;
        return snw_ok;
    }
    c->note[0] = 0;
    snprintf(c->to, sizeof c->to, "%s/%s.glb", bench->folder, c->name);
    return WritePassed(bench, c);
}

// ---------------------------------------------------------------------------------------------------------------------
// Measures

static snwResult Load(Bench* bench, Case* c)
{
    snwAsset* asset = NULL;
    double start = snwClock_Seconds();
    snwResult result = snwAsset_Open(bench->context, c->from, &asset, bench->message);
    snwSamples_Add(&c->loads, (snwClock_Seconds() - start) * 1000);
    snwAsset_Close(asset);
    return result < 0 ? result : snw_ok;
}

// One start of node for all files; a line per file begins with the number of errors.
static void Validate(Bench* bench)
{
    char command[5 * 600], line[1024];
    int length = snprintf(command, sizeof command, "node '%s/tools/validate.js'", SNW_SOURCE_DIR);
    for (int i = 0; i < snw_caseCount; ++i)
        if (bench->cases[i].to[0] != 0)
            length += snprintf(command + length, sizeof command - (size_t)length, " '%s'", bench->cases[i].to);
    snprintf(command + length, sizeof command - (size_t)length, " 2>/dev/null");
    FILE* lines = popen(command, "r");
    int next = 0;
    while (lines != NULL && fgets(line, sizeof line, lines) != NULL)
    {
        if (line[0] == ' ')
            continue;
        while (next < snw_caseCount && bench->cases[next].to[0] == 0)
            next++;
        if (next < snw_caseCount)
            bench->cases[next++].errors = (int)strtol(line, NULL, 10);
    }
    if (lines != NULL)
        pclose(lines);
}

static snwResult Report(Bench* bench, const Case* c, snwBenchReport* report)
{
    snwBenchRow load = snwMakeBenchRow(c->name, "prep", "load_ms");
    snprintf(load.note, sizeof load.note, "%s", c->note);
    if (c->loads.count > 0)
        snwBenchRow_SetSamples(&load, &c->loads);
    snwBenchRow valid = snwMakeBenchRow(c->name, "prep", "validator_errors");
    snprintf(valid.note, sizeof valid.note, "%s",
        c->to[0] == 0   ? c->note
        : c->errors < 0 ? "no gltf-validator here: tools/setup.sh validate"
                        : "");
    if (c->errors >= 0)
    {
        valid.value = c->errors;
        valid.n = 1;
    }
    valid.target = 0;
    valid.op = "==";
    snwResult result = snwBenchReport_Add(report, &load, bench->message);
    return result < 0 ? result : snwBenchReport_Add(report, &valid, bench->message);
}

snwResult snwPrepGltf_Run(snwContext* context, int runs, snwBenchReport* report, snwMessage* message)
{
    static const char* const s_cases[snw_caseCount][2] = {{"gltf-reptile-30k", NULL}, {"gltf-fox", "gltf/Fox.glb"},
        {"gltf-rigged-simple", "gltf/RiggedSimple.glb"}, {"gltf-morph-stress", "gltf/MorphStressTest.glb"},
        {"gltf-blender-rig", "blender-rig/rig.glb"}};
    Bench bench = {.context = context, .message = message, .folder = "/tmp/sinew-bench-XXXXXX"};
    if (mkdtemp(bench.folder) == NULL)
        return snwFail(message, snw_errorIo, "make room in /tmp", "cannot make a folder in /tmp");
    snwResult result = snw_ok;
    for (int i = 0; i < snw_caseCount && result >= 0; ++i)
    {
        bench.cases[i].name = s_cases[i][0];
        bench.cases[i].data = s_cases[i][1];
        result = Prepare(&bench, &bench.cases[i]);
    }
    for (int k = 0; k < runs && result >= 0; ++k) // in turns
        for (int i = 0; i < snw_caseCount && result >= 0; ++i)
            if (bench.cases[i].from[0] != 0)
                result = Load(&bench, &bench.cases[i]);
    if (result >= 0)
        Validate(&bench);
    for (int i = 0; i < snw_caseCount; ++i)
    {
        if (result >= 0)
            result = Report(&bench, &bench.cases[i], report);
        if (bench.cases[i].to[0] != 0)
            unlink(bench.cases[i].to);
    }
    rmdir(bench.folder);
    return result;
}
