#include "prep_surfaces.h"

#include "asset/mesher.h"
#include "asset/surfaces.h"
#include "base/clock.h"
#include "broken.h"
#include "geom/surface.h"
#include "peak.h"
#include "prep_sizes.h"
#include "scene/blueprint_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
    snw_surfaceTets = 10000, // wanted of every surface
    snw_brokenTriangles = 5000,
    snw_growthSizes = 3,
};

typedef struct Bench
{
    snwContext* context;
    const char* only;
    snwBenchReport* report;
    snwMessage* message;
    snwResult result;
} Bench;

static bool IsWanted(const Bench* bench, const char* name)
{
    return bench->result >= 0 && (bench->only == NULL || strstr(name, bench->only) != NULL);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

typedef struct Row
{
    const char *name, *metric, *op;
    snwMesher mesher;
    double value, target;
    const char* note;
} Row;

static void Add(Bench* bench, const Row* def)
{
    snwBenchRow row = snwMakeBenchRow(def->name, snwMesher_Name(def->mesher), def->metric);
    row.value = def->value;
    row.n = isnan(def->value) ? 0 : 1;
    row.target = def->op != NULL ? def->target : NAN;
    row.op = def->op;
    snprintf(row.note, sizeof row.note, "%.150s", def->note);
    if (bench->result >= 0)
        bench->result = snwBenchReport_Add(bench->report, &row, bench->message);
}

// What was done to the surface, in a few words.
static void Describe(const snwMeshed* meshed, char note[160])
{
    const snwFillReport* r = &meshed->report;
    int length = snprintf(note, 160, "%d vertices", meshed->mesh.vertexCount);
    const struct
    {
        int count;
        const char* what;
    } parts[] = {{r->flatTriangles, "flat"}, {r->doubleTriangles, "double"}, {r->turnedTriangles, "turned"},
        {r->hiddenTriangles, "hidden"}, {r->crossingTriangles, "crossing"}, {r->holeCount, "holes"},
        {r->droppedShells, "shells dropped"}, {r->thickTriangles, "thickened"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && length < 140; ++i)
        if (parts[i].count > 0)
            length += snprintf(note + length, 160 - (size_t)length, ", %d %s", parts[i].count, parts[i].what);
}

static void AddBody(Bench* bench, const char* name, const snwMeshed* meshed, double seconds, double megabytes)
{
    const snwFillReport* report = &meshed->report;
    char note[160];
    Describe(meshed, note);
    bool lattice = meshed->mesher == snw_mesherLattice;
    // A sheet has no volume; one that is open has that of what closes it, which is measured.
    bool sheet = 2 * report->thickTriangles > report->crossingTriangles && !report->closed && report->volumeError > 0.5;
    const Row rows[] = {{name, "tets", NULL, meshed->mesher, meshed->mesh.tetCount, 0, note},
        {name, "min_dihedral", lattice ? ">=" : NULL, meshed->mesher, report->quality.minDihedral, 8, ""},
        {name, "inverted", "==", meshed->mesher, report->quality.inverted, 0, ""},
        {name, "volume_err_rel", sheet ? NULL : "<=", meshed->mesher, sheet ? NAN : report->volumeError, 0.02,
            sheet ? "a sheet has no volume" : ""},
        {name, "mesh_s", NULL, meshed->mesher, seconds, 0, ""},
        {name, "peak_rss", NULL, meshed->mesher, megabytes, 0,
            isnan(megabytes) ? "/proc/self/clear_refs cannot be written" : ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        Add(bench, &rows[i]);
}

// Returns the seconds; NAN if there is no body.
static double RunOne(Bench* bench, const char* name, const snwFaces* faces, snwMesher mesher)
{
    snwArena arena = {.context = bench->context};
    snwMesherDef def = snwDefaultMesherDef();
    snwMeshed meshed;
    snwMessage message = {0};
    def.faces = *faces;
    def.mesher = mesher;
    def.tets = snw_surfaceTets;
    snwPeak peak = snwPeak_Start();
    double start = snwClock_Seconds();
    snwResult result = snwMakeTets(bench->context, &def, &arena, &meshed, &message);
    double seconds = snwClock_Seconds() - start, megabytes = snwPeak_End(&peak) + meshed.megabytes * 1.048576;
    if (result >= 0)
        AddBody(bench, name, &meshed, seconds, megabytes);
    else // the reason
        Add(bench, &(Row){name, "tets", NULL, mesher, NAN, 0, message.text});
    snwArena_Free(&arena);
    if (result == snw_errorMemory)
        bench->result = snwFailMemory(bench->message);
    return result >= 0 ? seconds : NAN;
}

static void RunBoth(Bench* bench, const char* name, const snwFaces* faces)
{
    RunOne(bench, name, faces, snw_mesherLattice);
    RunOne(bench, name, faces, snw_mesherTetgen);
}

// ---------------------------------------------------------------------------------------------------------------------
// Cases

static void RunFile(Bench* bench, const char* name, const char* file)
{
    const char* data = getenv("SINEW_DATA");
    char path[600], note[160];
    snwAsset* asset = NULL;
    snwAssetSurfaces surfaces = {0};
    snwArena arena = {.context = bench->context};
    if (!IsWanted(bench, name))
        return;
    snprintf(path, sizeof path, "%s/%s", data != NULL ? data : "", file);
    if (data == NULL || access(path, R_OK) != 0)
    {
        snprintf(note, sizeof note, "SINEW_DATA names no folder with %s", file);
        Add(bench, &(Row){name, "tets", NULL, snw_mesherLattice, NAN, 0, note});
        return;
    }
    bench->result = snwAsset_Open(bench->context, path, &asset, bench->message);
    if (bench->result >= 0)
        bench->result = snwAsset_FindSurfaces(asset, &arena, false, &surfaces, bench->message);
    if (bench->result >= 0 && surfaces.count > 0)
    {
        const snwAssetSurface* s = &surfaces.items[0];
        snwFaces faces = {s->vertices, s->weld.count, (const int(*)[3])s->triangles, s->triangleCount};
        RunBoth(bench, name, &faces);
    }
    snwAsset_Close(asset);
    snwArena_Free(&arena);
}

// The skin of a built-in character, at sixty triangles along its size.
static void RunCharacter(Bench* bench, const char* character)
{
    char name[64];
    snwBlueprintFile file;
    snwArena arena = {.context = bench->context};
    snwTriangleMesh skin;
    snprintf(name, sizeof name, "skin-%s", character);
    if (!IsWanted(bench, name))
        return;
    bench->result = snwBlueprintFile_Open(bench->context, character, &file, bench->message);
    if (bench->result < 0)
        return;
    if (file.blueprint.boxSize.x <= 0 && file.blueprint.flat.ringCount == 0)
    {
        snwSolid solid = snwFlesh_Solid(&file.blueprint.flesh);
        double spacing = snwVec3_Distance(solid.lower, solid.upper) / 60;
        bench->result = snwMeshSurface(bench->context, &solid, spacing, &arena, &skin, bench->message);
        snwFaces faces = {skin.vertices, skin.vertexCount, (const int(*)[3])skin.triangles, skin.triangleCount};
        if (bench->result >= 0)
            RunBoth(bench, name, &faces);
    }
    snwArena_Free(&arena);
    snwBlueprintFile_Free(&file);
}

static void RunCharacters(Bench* bench)
{
    for (int i = 0; i < snw_prepCaseCount; ++i)
    {
        bool again = false;
        for (int k = 0; k < i; ++k)
            again = again || strcmp(snw_prepCases[k].character, snw_prepCases[i].character) == 0;
        if (!again)
            RunCharacter(bench, snw_prepCases[i].character);
    }
}

static void RunBroken(Bench* bench, const snwBrokenKind* kind)
{
    char name[64];
    snwBroken broken;
    snprintf(name, sizeof name, "broken-%s", kind->name);
    if (!IsWanted(bench, name))
        return;
    if (!snwBroken_Make(kind, snw_brokenTriangles, &broken))
    {
        bench->result = snwFailMemory(bench->message);
        return;
    }
    snwFaces faces = {broken.vertices, broken.vertexCount, (const int(*)[3])broken.triangles, broken.triangleCount};
    RunBoth(bench, name, &faces);
    snwBroken_Free(&broken);
}

// Two bodies that cross, up to a million triangles: how time grows.
static void RunGrowth(Bench* bench)
{
    static const int s_sizes[snw_growthSizes] = {10000, 100000, 1000000};
    const snwBrokenKind* kind = snw_brokenKinds;
    double seconds[snw_growthSizes] = {0};
    while (strcmp(kind->name, "crossing") != 0)
        kind++;
    if (!IsWanted(bench, "crossing-growth"))
        return;
    for (int i = 0; i < snw_growthSizes && bench->result >= 0; ++i)
    {
        char name[64];
        snwBroken broken;
        snprintf(name, sizeof name, "crossing-%dk", s_sizes[i] / 1000);
        if (!snwBroken_Make(kind, s_sizes[i], &broken))
        {
            bench->result = snwFailMemory(bench->message);
            return;
        }
        snwFaces faces = {broken.vertices, broken.vertexCount, (const int(*)[3])broken.triangles, broken.triangleCount};
        seconds[i] = RunOne(bench, name, &faces, snw_mesherLattice);
        snwBroken_Free(&broken);
    }
    double exponent = log(seconds[2] / seconds[1]) / log(10.0);
    Add(bench, &(Row){"crossing-growth", "growth_exponent", "<=", snw_mesherLattice, exponent, 1.1,
                   isnan(exponent) ? "a size failed" : "from 100 k to 1 M triangles; the mesh is the same"});
}

snwResult snwPrepSurfaces_Run(snwContext* context, const char* only, snwBenchReport* report, snwMessage* message)
{
    static const char* const s_files[][2] = {{"surface-spot", "spot/spot.obj"}, {"surface-fox", "gltf/Fox.glb"},
        {"surface-rigged-simple", "gltf/RiggedSimple.glb"}, {"surface-morph-stress", "gltf/MorphStressTest.glb"},
        {"surface-blender-rig", "blender-rig/rig.glb"},
        {"surface-elephant", "complementary-dynamics/elephant/elephant.obj"},
        {"surface-fish", "complementary-dynamics/fish/fish.obj"},
        {"surface-frog", "complementary-dynamics/frog/frog.obj"},
        {"surface-sphere", "complementary-dynamics/sphere/sphere.obj"}};
    Bench bench = {.context = context, .only = only, .report = report, .message = message};
    for (size_t i = 0; i < sizeof s_files / sizeof *s_files; ++i)
        RunFile(&bench, s_files[i][0], s_files[i][1]);
    RunCharacters(&bench);
    for (const snwBrokenKind* kind = snw_brokenKinds; kind->name != NULL; ++kind)
        RunBroken(&bench, kind);
    RunGrowth(&bench);
    return bench.result;
}
