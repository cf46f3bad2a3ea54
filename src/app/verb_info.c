// sinew info: the program itself, methods, parameters, presets, the schema of scenes; or what a file holds, whatever
// kind it is.

#include "app/asset_report.h"
#include "app/common.h"
#include "app/console.h"
#include "app/prepared_report.h"
#include "scene/shipped.h"
#include "app/settings.h"
#include "app/table.h"
#include "app/verbs.h"
#include "base/ending.h"
#include "geom/quality.h"
#include "math/cpu.h"
#include "rig/skeleton.h"
#include "scene/blueprint_file.h"
#include "scene/builtin.h"
#include "sim/vocabulary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Methods and parameters

static json_t* ParamToJson(const snwParamInfo* param)
{
    json_t* json = json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", param->name, "type", snw_paramTypeWords[param->type],
        "unit", param->unit, "live", param->live, "help", param->help);
    json_object_set_new(json, "lower", snwJsonReal(param->lower));
    json_object_set_new(json, "upper", snwJsonReal(param->upper));
    json_object_set_new(json, "initial", snwJsonReal(param->initial));
    for (int i = 0; param->type == snw_paramChoice && param->choices[i] != NULL; ++i)
    {
        if (i == 0)
            json_object_set_new(json, "choices", json_array());
        json_array_append_new(json_object_get(json, "choices"), json_string(param->choices[i]));
    }
    return json;
}

static json_t* MethodToJson(int method)
{
    snwMethodInfo info = snwMethod_GetInfo(method);
    json_t* params = json_array();
    for (int i = 0; i < info.paramCount; ++i)
        json_array_append_new(params, ParamToJson(snwMethod_GetParam(method, i)));
    return json_pack(
        "{s:s, s:s, s:s, s:o}", "name", info.name, "title", info.title, "source", info.source, "params", params);
}

static snwExit PrintMethods(bool json)
{
    json_t* rows = json_array();
    for (int i = 0; i < snwMethodCount(); ++i)
    {
        snwMethodInfo info = snwMethod_GetInfo(i);
        if (json)
            json_array_append_new(rows, MethodToJson(i));
        else
            printf("%s\n    %s\n    %s\n", info.name, info.title, info.source);
    }
    if (json)
        return snwPrintJson(json_pack("{s:i, s:o}", "schema", 1, "methods", rows));
    json_decref(rows);
    return snw_exitOk;
}

static json_t* PresetToJson(const snwPresetInfo* preset)
{
    const snwMaterial* m = &preset->material;
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "name", preset->name, "help", preset->help, "density",
        m->density, "young", m->young, "poisson", m->poisson, "damping", m->damping, "frequency", m->frequency,
        "settling", m->settling);
}

static snwExit PrintPresets(bool json)
{
    static const char* const s_heads[] = {"<preset", "Hz", "settles s", "Pa", "poisson", "kg/m^3", "<what it is like"};
    json_t* rows = json_array();
    snwTextTable table = snwTextTable_Start(s_heads, 7);
    for (int i = 0; i < snwPresetCount(); ++i)
    {
        const snwPresetInfo* preset = snwPreset_GetInfo(i);
        const snwMaterial* m = &preset->material;
        const double numbers[] = {m->frequency, m->settling, m->young, m->poisson, m->density};

        // Rows for both: JSON and the table.
        json_array_append_new(rows, PresetToJson(preset));
        snwTextTable_AddRow(&table);
        snwTextTable_Set(&table, 0, "%s", preset->name);
        for (int k = 0; k < 5; ++k)
            snwTextTable_Set(&table, 1 + k, "%g", numbers[k]);
        snwTextTable_Set(&table, 6, "%s", preset->help);
    }

    if (!json)
        snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
    if (json)
        return snwPrintJson(json_pack("{s:i, s:o}", "schema", 1, "presets", rows));
    json_decref(rows);

    return snw_exitOk;
}

static bool SharedBefore(int method, const char* name)
{
    for (int before = 0; before < method; ++before)
        for (int i = 0; i < snwMethod_GetInfo(before).paramCount; ++i)
            if (strcmp(snwMethod_GetParam(before, i)->name, name) == 0)
                return true;
    return false;
}

static void AddParamRow(snwTextTable* table, const snwParamInfo* param)
{
    char range[64], initial[48];
    snwParam_FormatRange(param, range, sizeof range);
    snwParam_FormatValue(param, param->initial, initial, sizeof initial);
    snwTextTable_AddRow(table);
    snwTextTable_Set(table, 0, "%s", param->name);
    snwTextTable_Set(table, 1, "%s", initial);
    snwTextTable_Set(table, 2, "%s", param->unit);
    snwTextTable_Set(table, 3, "%s", range);
    snwTextTable_Set(table, 4, "%s", param->live ? "live" : "");
    snwTextTable_Set(table, 5, "%s", param->help);
}

// method -1: all, each parameter once
static snwExit PrintParams(int method, bool json)
{
    if (json && method >= 0)
        return snwPrintJson(MethodToJson(method));
    if (json)
        return PrintMethods(true);
    static const char* const heads[] = {"<parameter", "default", "<unit", "<range", "<live", "<help"};
    snwTextTable table = snwTextTable_Start(heads, 6);
    for (int m = 0; m < snwMethodCount(); ++m)
        for (int i = 0; i < snwMethod_GetInfo(m).paramCount; ++i)
        {
            const snwParamInfo* param = snwMethod_GetParam(m, i);
            if (method == m || (method < 0 && !SharedBefore(m, param->name)))
                AddParamRow(&table, param);
        }
    snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
    return snw_exitOk;
}

// docs/parameters.md: the same table for reading.
static snwExit PrintParamsDoc(void)
{
    // The head.
    printf("<!-- Made by `sinew info --params-doc`; change the methods' tables, not this file. -->\n"
           "# Parameters\n\n"
           "Set them in a scene (`\"settings\": {\"sim.substeps\": 4}`), on the command line (`--set sim.substeps=4`, "
           "`--sweep`) or, where live, with a command while the sim runs.\n");

    // A table per method.
    for (int m = 0; m < snwMethodCount(); ++m)
    {
        snwMethodInfo info = snwMethod_GetInfo(m);
        printf("\n## %s: %s\n\n%s\n\n| parameter | default | unit | range | live | meaning |\n"
               "| --- | --- | --- | --- | --- | --- |\n",
            info.name, info.title, info.source);

        for (int i = 0; i < info.paramCount; ++i)
        {
            const snwParamInfo* param = snwMethod_GetParam(m, i);
            char range[64], initial[48];
            snwParam_FormatRange(param, range, sizeof range);
            snwParam_FormatValue(param, param->initial, initial, sizeof initial);
            printf("| `%s` | %s | %s | %s | %s | %s |\n", param->name, initial, param->unit, range,
                param->live ? "yes" : "no", param->help);
        }
    }

    return snw_exitOk;
}

static snwExit PrintParamsOf(const snwArgs* args)
{
    bool json = snwArgs_Has(args, "json");
    if (args->operandCount == 0)
        return PrintParams(-1, json);
    int method = snwMethod_Find(args->operands[0]);
    if (method >= 0)
        return PrintParams(method, json);
    return snwUsage("sinew info --methods", "there is no method '%s'", args->operands[0]);
}

static snwExit PrintSchema(snwContext* context)
{
    char* text = NULL;
    size_t size = 0;
    snwMessage message;
    if (snwSceneFile_Schema(context, &text, &size, &message) < 0)
        return snwReportMessage(&message);
    fwrite(text, 1, size, stdout);
    if (size > 0 && text[size - 1] != '\n')
        putchar('\n');
    snwContext_Free(context, text);
    return snw_exitOk;
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static json_t* BodyToJson(const snwBodyDef* body)
{
    snwCharacterInfo info = snwCharacter_GetInfo(body->character);
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o}", "name", body->name, "character", info.name,
        "vertices", info.vertexCount, "tets", info.tetCount, "edges", info.edgeCount, "skin_triangles",
        info.skinTriangleCount, "bones", info.boneCount, "mass", snwJsonReal(info.mass), "volume",
        snwJsonReal(info.volume));
}

static json_t* SceneToJson(const snwScene* scene)
{
    const snwSceneDef* def = snwScene_GetDef(scene);
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, snwScene_Hash(scene));
    json_t *bodies = json_array(), *settings = json_object();
    for (int i = 0; i < def->bodyCount; ++i)
        json_array_append_new(bodies, BodyToJson(&def->bodies[i]));
    for (int i = 0; i < def->settingCount; ++i)
        json_object_set_new(settings, def->settings[i].name, snwJsonReal(def->settings[i].value));
    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:I, s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o}", "schema", 1, "name",
        def->name, "method", def->method, "rate", snwJsonReal(def->rate), "duration", snwJsonReal(def->duration),
        "seed", (json_int_t)def->seed, "hash", hash, "colliders", def->colliderCount, "props", def->propCount, "pins",
        def->pinCount, "clips", def->clipCount, "commands", def->commandCount, "settings", settings, "bodies", bodies);
}

static void PrintBodies(const snwSceneDef* def)
{
    static const char* const heads[] = {
        "<body", "<character", "vertices", "tets", "edges", "triangles", "mass kg", "<rest bounds m"};
    snwTextTable table = snwTextTable_Start(heads, 8);
    for (int i = 0; i < def->bodyCount; ++i)
    {
        snwCharacterInfo info = snwCharacter_GetInfo(def->bodies[i].character);
        snwTextTable_AddRow(&table);
        snwTextTable_Set(&table, 0, "%s", def->bodies[i].name);
        snwTextTable_Set(&table, 1, "%s", info.name);
        snwTextTable_Set(&table, 2, "%d", info.vertexCount);
        snwTextTable_Set(&table, 3, "%d", info.tetCount);
        snwTextTable_Set(&table, 4, "%d", info.edgeCount);
        snwTextTable_Set(&table, 5, "%d", info.skinTriangleCount);
        snwTextTable_Set(&table, 6, "%.4g", info.mass);
        snwTextTable_Set(&table, 7, "%.4g %.4g %.4g .. %.4g %.4g %.4g", info.lower.x, info.lower.y, info.lower.z,
            info.upper.x, info.upper.y, info.upper.z);
    }

    snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
}

static void PrintScene(const snwScene* scene)
{
    const snwSceneDef* def = snwScene_GetDef(scene);
    printf("scene     %s\nmethod    %s\nlength    %g s, %g frames per second\nhash      %016" PRIx64 "\n", def->name,
        def->method, def->duration, def->rate, snwScene_Hash(scene));
    printf("has       %d colliders, %d props, %d pins, %d clips, %d commands\n", def->colliderCount, def->propCount,
        def->pinCount, def->clipCount, def->commandCount);
    for (int i = 0; i < def->settingCount; ++i)
    {
        char value[48] = "?";
        const snwParamInfo* param = snwFindAnyParam(def->settings[i].name);
        if (param != NULL)
            snwParam_FormatValue(param, def->settings[i].value, value, sizeof value);
        printf("set       %s = %s\n", def->settings[i].name, value);
    }
    putchar('\n');
    PrintBodies(def);
}

// ---------------------------------------------------------------------------------------------------------------------
// Characters

typedef struct CharacterFacts
{
    snwCharacterInfo info;
    snwMeshQuality quality; // of the flesh; no tets: nothing to say
    int freedom;
} CharacterFacts;

static CharacterFacts GetFacts(const snwCharacter* character)
{
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    CharacterFacts facts = {.info = snwCharacter_GetInfo(character), .freedom = snwCharacter_JointFreedom(character)};
    snwTetMesh mesh = {(snwVec3*)def->vertices, def->vertexCount, (int(*)[4])def->tets, def->tetCount};
    if (def->tetCount > 0)
        facts.quality = snwTetMesh_FleshQuality(&mesh, def->elementBones);
    return facts;
}

static json_t* NamesToJson(const void* items, size_t size, int count)
{
    json_t* names = json_array();
    for (int i = 0; i < count; ++i)
    {
        const char* name = NULL; // the first member of every Def
        memcpy(&name, (const char*)items + (size_t)i * size, sizeof name);
        json_array_append_new(names, json_string(name));
    }
    return names;
}

static json_t* CharacterToJson(const snwBlueprint* blueprint, const snwCharacter* character)
{
    CharacterFacts facts = GetFacts(character);
    const snwCharacterInfo* info = &facts.info;
    json_t* json = json_pack("{s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "schema", 1, "name", info->name,
        "description", blueprint->description, "vertices", info->vertexCount, "elastic_vertices",
        info->elasticVertexCount, "tets", info->tetCount, "hexes", info->hexCount, "triangles", info->triangleCount,
        "skin_vertices", info->skinVertexCount, "joint_freedom", facts.freedom);
    json_object_set_new(json, "mass", snwJsonReal(info->mass));
    json_object_set_new(json, "volume", snwJsonReal(info->volume));

    if (facts.quality.tetCount > 0)
    {
        json_object_set_new(json, "min_dihedral", snwJsonReal(facts.quality.minDihedral));
        json_object_set_new(json, "max_dihedral", snwJsonReal(facts.quality.maxDihedral));
    }

    // Lists by name: the whole is in the blueprint.
    json_object_set_new(json, "bones", NamesToJson(blueprint->bones, sizeof(snwBoneDef), blueprint->boneCount));
    json_object_set_new(json, "joints", NamesToJson(blueprint->joints, sizeof(snwJointDef), blueprint->jointCount));
    json_object_set_new(json, "handles", NamesToJson(blueprint->handles, sizeof(snwHandleDef), blueprint->handleCount));
    json_object_set_new(json, "motions", NamesToJson(blueprint->motions, sizeof(snwMotionDef), blueprint->motionCount));

    return json;
}

static void PrintJoints(const snwBlueprint* blueprint)
{
    static const char* const heads[] = {"<joint", "<type", "<from", "<to", "<limits"};
    snwTextTable table = snwTextTable_Start(heads, 5);

    for (int i = 0; i < blueprint->jointCount; ++i)
    {
        const snwJointDef* joint = &blueprint->joints[i];
        snwTextTable_AddRow(&table);
        snwTextTable_Set(&table, 0, "%s", joint->name);
        snwTextTable_Set(&table, 1, "%s", snwJointType_Name(joint->type));
        snwTextTable_Set(&table, 2, "%s", joint->parentBone >= 0 ? blueprint->bones[joint->parentBone].name : "world");
        snwTextTable_Set(&table, 3, "%s", blueprint->bones[joint->bone].name);

        // Angles in degrees, ways in metres; a range that is none is left out.
        double unit = snwJointType_Slides(joint->type) ? 1 : 180 / SNW_PI;
        char range[48] = "", others[2][56] = {"", ""}, cone[32] = "";
        if (joint->lower <= joint->upper)
            snprintf(range, sizeof range, "%.4g..%.4g ", joint->lower * unit, joint->upper * unit);
        const double further[2][2] = {{joint->lower2, joint->upper2}, {joint->lower3, joint->upper3}};
        for (int k = 0; k < 2; ++k)
            if (further[k][0] < further[k][1])
                snprintf(others[k], sizeof others[k], "| %.4g..%.4g ", further[k][0] * unit, further[k][1] * unit);

        if (joint->type == snw_jointBall && joint->cone < SNW_PI)
            snprintf(cone, sizeof cone, "cone %.4g", joint->cone * unit);
        snwTextTable_Set(&table, 4, "%s%s%s%s", range, others[0], others[1], cone);
    }

    if (blueprint->jointCount > 0)
        snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
}

static void PrintCharacter(const snwBlueprint* blueprint, const snwCharacter* character)
{
    CharacterFacts facts = GetFacts(character);
    const snwCharacterInfo* info = &facts.info;
    printf(
        "character %s\n%s%s\n", info->name, blueprint->description[0] != 0 ? "          " : "", blueprint->description);

    // The mesh, by its kind of elements.
    printf("mesh      %d vertices, %d of them elastic; ", info->vertexCount, info->elasticVertexCount);

    if (info->triangleCount > 0)
        printf("%d triangles\n", info->triangleCount);
    else
        printf("%d %s; %d skin triangles\n", info->hexCount > 0 ? info->hexCount : info->tetCount,
            info->hexCount > 0 ? "hexahedra" : "tetrahedra", info->skinTriangleCount);

    if (facts.quality.tetCount > 0)
        printf("angles    %.1f to %.1f degrees between faces of the flesh\n", facts.quality.minDihedral,
            facts.quality.maxDihedral);

    // Litres: 1e3 of them are a cubic metre.
    printf("body      %.4g kg, %.4g l, %.3g x %.3g x %.3g m\n", info->mass, 1e3 * info->volume,
        info->upper.x - info->lower.x, info->upper.y - info->lower.y, info->upper.z - info->lower.z);
    printf("skeleton  %d bones, %d joints with %d degrees of freedom, %d handles\n", info->boneCount, info->jointCount,
        facts.freedom, info->handleCount);

    for (int i = 0; i < blueprint->motionCount; ++i)
        printf("motion    %s, %g s%s\n", blueprint->motions[i].name, blueprint->motions[i].duration,
            blueprint->motions[i].loop ? ", in a loop" : "");
    putchar('\n');
    PrintJoints(blueprint);
}

static snwExit PrintBlueprint(snwContext* context, const char* name, bool json)
{
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    snwMessage message = {0};
    snwResult result = snwBlueprintFile_Open(context, name, &file, &message);
    if (result >= 0)
        result = snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, &message);
    if (result > 0)
        snwReportMessage(&message);
    if (result >= 0 && json)
        snwPrintJson(CharacterToJson(&file.blueprint, character));
    else if (result >= 0)
        PrintCharacter(&file.blueprint, character);
    if (character != NULL)
        snwCharacter_Release(character);
    snwBlueprintFile_Free(&file);
    return result < 0 ? snwReportInput(&message) : snw_exitOk;
}

// ---------------------------------------------------------------------------------------------------------------------
// Logs and scenes

static snwExit PrintLog(snwContext* context, const char* path, bool json)
{
    snwLog log = {0};
    snwMessage message;
    if (snwLog_Open(context, path, NULL, &log, &message) < 0)
        return snwReportInput(&message);
    if (json)
        snwPrintJson(json_pack("{s:i, s:s, s:i, s:i, s:b, s:o}", "schema", 1, "version", log.version, "frames",
            snwLog_Frames(&log), "commands", log.commandCount, "complete", log.complete, "scene",
            SceneToJson(log.file.scene)));
    else
    {
        printf("log       %d frames, %d commands, %s, written by sinew %s\n", snwLog_Frames(&log), log.commandCount,
            log.complete ? "complete" : "cut short", log.version[0] != 0 ? log.version : "of unknown version");
        PrintScene(log.file.scene);
    }
    snwLog_Close(context, &log);
    return snw_exitOk;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static json_t* FramesToJson(const snwFramesInfo* info)
{
    json_t* bodies = json_array();
    for (int i = 0; i < info->bodyCount; ++i)
    {
        const snwFramesBody* body = &info->bodies[i];
        json_array_append_new(
            bodies, json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "name", body->name, "character", body->character,
                        "vertices", body->vertexCount, "skin_vertices", body->skinVertexCount, "triangles",
                        body->triangleCount, "bones", body->boneCount));
    }

    json_t* json = json_pack("{s:i, s:s, s:i, s:i, s:b, s:i, s:i, s:i, s:b, s:I, s:I, s:i, s:o}", "schema", 1,
        "version", info->version, "frames", info->frameCount, "planned", info->plannedFrames, "complete",
        info->complete, "chunks", info->chunkCount, "damaged_chunks", info->damagedChunks, "frames_per_chunk",
        info->framesPerChunk, "vertices_stored", info->hasVertices, "bytes", (json_int_t)info->bytes, "tail_bytes",
        (json_int_t)info->tailBytes, "colliders", info->colliderCount, "bodies", bodies);
    json_object_set_new(json, "rate", snwJsonReal(info->rate));
    json_object_set_new(json, "tolerance", snwJsonReal(info->tolerance));
    json_object_set_new(json, "scene_hash", json_sprintf("%016llx", (unsigned long long)info->sceneHash));

    return json;
}

static void PrintFramesInfo(const snwFramesInfo* info)
{
    // The file: frames, chunks, bytes, how exact.
    printf("cache     %d of %d frames, %s, written by sinew %s\n", info->frameCount, info->plannedFrames,
        info->complete ? "complete" : "cut short", info->version);
    printf("chunks    %d of up to %d frames", info->chunkCount, info->framesPerChunk);
    if (info->damagedChunks > 0)
        printf(", %d damaged", info->damagedChunks);
    printf("\nbytes     %" PRIu64, info->bytes);
    if (info->tailBytes > 0)
        printf(" and %" PRIu64 " of a chunk that is not whole", info->tailBytes);
    if (info->tolerance > 0)
        printf("\npositions within %g m", info->tolerance);
    else
        printf("\npositions exact");

    printf("%s\nrate      %g frames per second\nscene     %016" PRIx64 "\n\n",
        info->hasVertices ? ", of the meshes too" : "", info->rate, info->sceneHash);

    // Its bodies.
    static const char* const heads[] = {"<body", "<character", "vertices", "skin", "triangles", "bones"};
    snwTextTable table = snwTextTable_Start(heads, 6);

    for (int i = 0; i < info->bodyCount; ++i)
    {
        const snwFramesBody* body = &info->bodies[i];
        snwTextTable_AddRow(&table);
        snwTextTable_Set(&table, 0, "%s", body->name);
        snwTextTable_Set(&table, 1, "%s", body->character);
        snwTextTable_Set(&table, 2, "%d", body->vertexCount);
        snwTextTable_Set(&table, 3, "%d", body->skinVertexCount);
        snwTextTable_Set(&table, 4, "%d", body->triangleCount);
        snwTextTable_Set(&table, 5, "%d", body->boneCount);
    }

    snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
}

static snwExit PrintFrames(snwContext* context, const char* path, bool json)
{
    snwFrames* frames = NULL;
    snwMessage message;
    snwResult result = snwFrames_Open(context, path, &frames, &message);
    if (result < 0)
        return snwReportInput(&message);
    snwFramesInfo info = snwFrames_GetInfo(frames);
    if (json)
        snwPrintJson(FramesToJson(&info));
    else
        PrintFramesInfo(&info);
    snwFrames_Close(frames);
    if (result > 0)
        snwReportMessage(&message);
    return snw_exitOk;
}

static snwExit PrintAsset(snwContext* context, const char* path, bool json)
{
    snwAssetReport report;
    snwMessage message = {0};
    snwResult result = snwAssetReport_Make(context, path, &report, &message);
    snwExit exit = result < 0 ? snwReportInput(&message) : snwAssetReport_Print(&report, json);
    snwAssetReport_Free(&report);
    return exit;
}

static snwExit PrintFile(snwContext* context, const char* path, bool json)
{
    // By the ending where that is enough; names and contents decide about the rest.
    if (snwHasEnding(path, ".snwf"))
        return PrintFrames(context, path, json);
    if (snwHasEnding(path, ".snw"))
        return snwPreparedReport_Print(context, path, json);
    if (snwHasEnding(path, ".jsonl"))
        return PrintLog(context, path, json);

    if (snwBuiltIn_Find(path) != NULL || snwBlueprintFile_IsOne(context, path))
        return PrintBlueprint(context, path, json);
    if (snwAsset_IsOne(context, path) || !snwMayBeJson(path))
        return PrintAsset(context, path, json);

    // All else is a scene, or a mistake that reading a scene explains.
    snwSceneFile file = {0};
    snwMessage message;
    snwSceneOptions options = snwDefaultSceneOptions();
    if (snwOpenScene(context, path, &options, &file, &message) < 0)
        return snwReportInput(&message);
    if (json)
        snwPrintJson(SceneToJson(file.scene));
    else
        PrintScene(file.scene);

    snwSceneFile_Close(&file);
    return snw_exitOk;
}

static snwExit PrintProgram(const snwContext* context, bool json)
{
    char folder[snw_maxPath];
    snwVersion version = snwGetVersion();
    const char* simd = snwSimd_Name(snwContext_Simd(context));
    int threads = snwContext_ThreadCount(context);
    snwScenesFolder(folder, sizeof folder);
    if (json)
        return snwPrintJson(
            json_pack("{s:i, s:[iii], s:s, s:i, s:i, s:s}", "schema", 1, "version", version.major, version.minor,
                version.patch, "simd", simd, "threads", threads, "methods", snwMethodCount(), "scenes", folder));
    printf("sinew %d.%d.%d, %d thread(s), %s\nmethods:", version.major, version.minor, version.patch, threads, simd);
    for (int i = 0; i < snwMethodCount(); ++i)
        printf(" %s", snwMethod_GetInfo(i).name);
    printf("\nscenes:  %s\n", folder);
    return snw_exitOk;
}

static snwExit RunInfo(const snwArgs* args)
{
    // What needs no context.
    bool json = snwArgs_Has(args, "json");
    if (snwArgs_Has(args, "params-doc"))
        return PrintParamsDoc();
    if (snwArgs_Has(args, "params"))
        return PrintParamsOf(args);
    if (snwArgs_Has(args, "methods"))
        return PrintMethods(json);
    if (snwArgs_Has(args, "presets"))
        return PrintPresets(json);

    snwContext* context = NULL;
    snwExit result = snwContextFromArgs(args, &context);
    if (result != snw_exitOk)
        return result;

    if (snwArgs_Has(args, "schema"))
        result = PrintSchema(context);
    else if (args->operandCount > 0)
        result = PrintFile(context, args->operands[0], json);
    else
        result = PrintProgram(context, json);

    snwDestroyContext(context);
    return result;
}

static const snwOption s_options[] = {
    {"methods", 0, NULL, false, snw_completeNothing, NULL, "list the methods"},
    {"params", 0, NULL, false, snw_completeNothing, NULL, "list the parameters of all methods, or of the one named"},
    {"presets", 0, NULL, false, snw_completeNothing, NULL, "list the materials that have names"},
    {"params-doc", 0, NULL, false, snw_completeNothing, NULL, "print docs/parameters.md"},
    {"schema", 0, NULL, false, snw_completeNothing, NULL, "print the JSON schema of scene files"},
    {"json", 'j', NULL, false, snw_completeNothing, NULL, "print as JSON"},
    {0},
};

static const snwExample s_examples[] = {
    {"sinew info", "version, threads, instruction set, methods"},
    {"sinew info scene.json", "bodies, sizes and settings of a scene"},
    {"sinew info frog", "the mesh, skeleton and motions of a built-in character"},
    {"sinew info fox.glb", "meshes, bones and animations of a file, what was repaired and what is wrong"},
    {"sinew info fox.snw", "the body, bones and surfaces of a prepared character"},
    {"sinew info --params pbd", "what --set may change, with units and ranges"},
    {"sinew info --presets", "flesh, muscle, fat, rubber, jelly, inflatable, and what they are like"},
    {"sinew info --schema > scene.schema.json", "for editors that check while you type"},
    {0},
};

const snwVerb snwInfoVerb = {
    .name = "info",
    .operands = "[FILE|CHARACTER|METHOD]",
    .mostOperands = 1,
    .complete = snw_completeFile,
    .summary = "describe a character, an artist's file, a scene, a log, a frames cache, the methods or this program",
    .about = "",
    .options = s_options,
    .examples = s_examples,
    .run = RunInfo,
};
