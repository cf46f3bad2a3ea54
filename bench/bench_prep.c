// Characters at the papers' sizes: what the meshers make of them, how good it is and how long it takes. Then files.

#include "bench.h"
#include "prep_character.h"
#include "prep_gltf.h"
#include "prep_sizes.h"
#include "prep_skinning.h"
#include "prep_surfaces.h"

#include "base/clock.h"
#include "base/result.h"
#include "geom/measure.h"
#include "geom/quality.h"
#include "rig/skeleton.h"
#include "scene/blueprint_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Case
{
    const snwPrepCase* def;
    snwBenchReport* report;
    snwContext* context;
    snwBlueprintFile file;
    snwArena arena;
    snwBlueprintMesh mesh;
    snwSamples seconds;
    char note[160]; // of a number that was missed
    snwMessage* message;
    snwResult result;
} Case;

// wanted: NAN for none.
static void Add(Case* c, const char* metric, double value, double wanted, const char* op, bool paper)
{
    snwBenchRow row = snwMakeBenchRow(c->def->name, "prep", metric);
    row.value = value;
    row.n = 1;
    if (isfinite(wanted))
    {
        row.target = wanted;
        row.op = op;
    }
    if (paper && c->def->source[0] != 0)
        row.paper = wanted;
    snprintf(row.note, sizeof row.note, "%s", paper ? c->def->source : "");
    if (c->result >= 0)
        c->result = snwBenchReport_Add(c->report, &row, c->message);
}

// A number that the paper prints and that is not promised.
static void AddBeside(Case* c, const char* metric, double value, int paper)
{
    snwBenchRow row = snwMakeBenchRow(c->def->name, "prep", metric);
    row.value = value;
    row.n = 1;
    row.paper = paper;
    snprintf(row.note, sizeof row.note, "%s", c->def->why);
    if (c->result >= 0)
        c->result = snwBenchReport_Add(c->report, &row, c->message);
}

static double Wanted(int count)
{
    return count > 0 ? count : NAN;
}

static void AddCounts(Case* c)
{
    const snwBlueprintSize* size = &c->def->size;
    const snwBlueprintMesh* mesh = &c->mesh;
    if (mesh->hexCount > 0)
        Add(c, "hexes", mesh->hexCount, Wanted(size->hexes), "~5%", false);
    else if (mesh->triangleCount > 0)
        Add(c, "triangles", mesh->triangleCount, Wanted(size->triangles), "~5%", true);
    else if (c->def->paperTets > 0)
        AddBeside(c, "tets", mesh->body.tetCount, c->def->paperTets);
    else
        Add(c, "tets", mesh->body.tetCount, Wanted(size->tets), "~5%", true);
    if (c->def->paperVertices > 0)
        AddBeside(c, "vertices", mesh->body.vertexCount, c->def->paperVertices);
    else
        Add(c, "vertices", mesh->body.vertexCount, Wanted(size->vertices), mesh->triangleCount > 0 ? "~10%" : "~5%",
            true);
    Add(c, "elastic_vertices", mesh->elasticCount, Wanted(size->elasticVertices), "~10%", true);
    if (size->skinVertices > 0)
        Add(c, "skin_vertices", mesh->skinCount, size->skinVertices, "~5%", false);
}

static void AddSkeleton(Case* c)
{
    const snwBlueprint* blueprint = &c->file.blueprint;
    int freedom = 0, fewest = INT32_MAX;
    for (int i = 0; i < blueprint->jointCount; ++i)
        freedom += snwJointType_Freedom(blueprint->joints[i].type);
    for (int bone = 0; bone < blueprint->boneCount && c->mesh.elementBones != NULL; ++bone)
    {
        int count = 0;
        for (int i = 0; i < c->mesh.body.tetCount + c->mesh.hexCount; ++i)
            count += c->mesh.elementBones[i] == bone;
        fewest = count < fewest ? count : fewest;
    }
    const snwPrepCase* def = c->def;
    Add(c, "bones", blueprint->boneCount, def->bones >= 0 ? def->bones : NAN, "==", true);
    Add(c, "joints", blueprint->jointCount, def->joints >= 0 ? def->joints : NAN, "==", true);
    Add(c, "joint_freedom", freedom, def->freedom >= 0 ? def->freedom : NAN, "==", true);
    if (fewest < INT32_MAX)
        Add(c, "min_bone_tets", fewest, 8, ">=", false);
}

// The volume of the flesh, and of bands beside it.
static double SurfaceVolume(Case* c)
{
    const snwBlueprint* blueprint = &c->file.blueprint;
    if (blueprint->boxSize.x > 0)
        return blueprint->boxSize.x * blueprint->boxSize.y * blueprint->boxSize.z;
    snwSolid solid = snwFlesh_Solid(&blueprint->flesh);
    double volume = NAN;
    return snwSolid_Volume(c->context, &solid, &volume, NULL) >= 0 ? volume : NAN;
}

static void AddTetQuality(Case* c)
{
    int bodyTets = c->mesh.body.tetCount - c->mesh.ribbonTetCount;
    snwTetMesh body = c->mesh.body;
    snwMeshQuality all = snwTetMesh_Quality(&body), flesh = snwTetMesh_FleshQuality(&body, c->mesh.elementBones);
    body.tetCount = bodyTets;
    snwMeshQuality lattice = snwTetMesh_Quality(&body);
    if (flesh.tetCount > 0)
    {
        Add(c, "min_dihedral", flesh.minDihedral, 8, ">=", false);
        Add(c, "max_dihedral", flesh.maxDihedral, 165, "<=", false);
    }
    Add(c, "inverted", all.inverted, 0, "==", false);
    Add(c, "volume_err_rel", fabs(lattice.volume / SurfaceVolume(c) - 1), 0.02, "<=", false);
}

static void AddFlatQuality(Case* c)
{
    double least = 180;
    int inverted = 0;
    for (int i = 0; i < c->mesh.triangleCount; ++i)
        for (int k = 0; k < 3; ++k)
        {
            const int* t = c->mesh.triangles[i];
            snwVec3 a = c->mesh.body.vertices[t[k]];
            snwVec3 u = snwVec3_Sub(c->mesh.body.vertices[t[(k + 1) % 3]], a);
            snwVec3 v = snwVec3_Sub(c->mesh.body.vertices[t[(k + 2) % 3]], a);
            double area = snwVec3_Cross(u, v).z;
            least = fmin(least, atan2(fabs(area), snwVec3_Dot(u, v)) * 180 / SNW_PI);
            inverted += k == 0 && area <= 0;
        }
    Add(c, "min_angle", least, 20, ">=", false);
    Add(c, "inverted", inverted, 0, "==", false);
}

static snwResult MeshOnce(Case* c)
{
    snwArena_Free(&c->arena);
    c->arena = (snwArena){.context = c->context};
    static const snwBlueprintSize s_nothing = {0};
    bool own = memcmp(&c->def->size, &s_nothing, sizeof s_nothing) == 0; // ints only, no padding
    double start = snwClock_Seconds();
    snwResult result = snwBlueprint_Mesh(
        c->context, &c->file.blueprint, own ? NULL : &c->def->size, &c->arena, &c->mesh, c->message);
    snwSamples_Add(&c->seconds, snwClock_Seconds() - start);
    return result;
}

static void AddSeconds(Case* c)
{
    snwBenchRow row = snwMakeBenchRow(c->def->name, "prep", "mesh_s");
    snwBenchRow_SetSamples(&row, &c->seconds);
    if (c->mesh.body.tetCount <= 150000)
    {
        row.target = 10;
        row.op = "<=";
    }
    if (c->result >= 0)
        c->result = snwBenchReport_Add(c->report, &row, c->message);
}

// A mesh that fails is a row too.
static void AddFailure(Case* c)
{
    snwBenchRow row = snwMakeBenchRow(c->def->name, "prep", "tets");
    snprintf(row.note, sizeof row.note, "%s", c->message != NULL ? c->message->text : "failed");
    c->result = snwBenchReport_Add(c->report, &row, c->message);
}

static snwResult RunCase(
    snwContext* context, const snwPrepCase* def, int runs, snwBenchReport* report, snwMessage* message)
{
    Case c = {.def = def, .report = report, .context = context, .message = message};
    c.result = snwBlueprintFile_Open(context, def->character, &c.file, message);
    for (int i = 0; i < runs && c.result >= 0; ++i)
        c.result = MeshOnce(&c);
    if (c.result < 0 && c.result != snw_errorMemory)
        AddFailure(&c);
    else
    {
        AddCounts(&c);
        AddSkeleton(&c);
        if (c.mesh.triangleCount > 0)
            AddFlatQuality(&c);
        else if (c.mesh.hexCount == 0)
            AddTetQuality(&c);
        AddSeconds(&c);
    }
    snwArena_Free(&c.arena);
    snwBlueprintFile_Free(&c.file);
    return c.result;
}

// All but the surfaces, which have names to pick from.
static snwResult RunAll(
    snwContext* context, const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    int runs = options->runs < 3 ? options->runs : 3; // seconds each, and the same every time
    snwResult result = snw_ok;
    for (int i = 0; i < snw_prepCaseCount && result >= 0; ++i)
        result = RunCase(context, &snw_prepCases[i], runs, report, message);
    if (result >= 0)
        result = snwBenchWeights(context, runs, report, message);
    if (result >= 0)
        result = snwBenchSkinning(options->runs, report, message);
    if (result >= 0)
        result = snwPrepGltf_Run(context, options->runs, report, message);
    if (result >= 0)
        result = snwPrepCharacter_Run(context, runs, report, message);
    return result;
}

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    snwContext* context = NULL;
    snwResult result = snwCreateContext(&def, &context, message);
    if (result >= 0 && options->only == NULL)
        result = RunAll(context, options, report, message);
    if (result >= 0)
        result = snwPrepSurfaces_Run(context, options->only, report, message);
    if (context != NULL)
        snwDestroyContext(context);
    return result < 0 ? result : snw_ok;
}

const snwBench snwPrepBench = {"prep",
    "meshes of the built-in characters at the papers' sizes; weights, skinning; glTF; tets for any surface", Run};
