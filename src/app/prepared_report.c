// What is in a prepared file: for people as lines and tables, for programs as JSON.

#include "app/prepared_report.h"

#include "app/common.h"
#include "app/console.h"
#include "app/table.h"
#include "scene/prepared_file.h"
#include "sim/vocabulary.h"

#include <inttypes.h>
#include <stdio.h>

static json_t* ToJson(const snwPrepared* prepared)
{
    snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared));
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    snwPreparedInfo made = snwPrepared_GetInfo(prepared);
    json_t *json = json_object(), *surfaces = json_array(), *motions = json_array(), *bones = json_array(),
           *handles = json_array();

    for (int i = 0; i < made.surfaceCount; ++i)
    {
        const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, i);
        json_array_append_new(surfaces,
            json_pack("{s:s, s:s, s:i, s:i}", "name", surface->name, "kind", snw_surfaceKindWords[surface->kind],
                "vertices", surface->vertexCount, "triangles", surface->triangleCount));
    }

    for (int i = 0; i < def->motionCount; ++i)
        json_array_append_new(motions, json_pack("{s:s, s:f, s:b}", "name", def->motions[i].name, "duration",
                                           def->motions[i].duration, "loop", def->motions[i].loop));
    for (int i = 0; i < def->boneCount; ++i)
        json_array_append_new(bones, json_string(def->bones[i].name));
    for (int i = 0; i < def->handleCount; ++i)
        json_array_append_new(handles, json_string(def->handles[i].name));

    // The character as a whole, then its lists.
    json_object_set_new(json, "schema", json_integer(1));
    json_object_set_new(json, "character", json_string(info.name));
    json_object_set_new(json, "source", json_string(made.source));
    json_object_set_new(json, "source_hash", json_sprintf("%016" PRIx64, made.sourceHash));
    json_object_set_new(json, "checksum", json_sprintf("%016" PRIx64, made.checksum));
    json_object_set_new(json, "scale", snwJsonReal(made.scale));
    json_object_set_new(json, "tets", json_integer(info.tetCount));
    json_object_set_new(json, "triangles", json_integer(info.triangleCount));
    json_object_set_new(json, "vertices", json_integer(info.vertexCount));
    json_object_set_new(json, "handles", handles);
    json_object_set_new(json, "mass", snwJsonReal(info.mass));
    json_object_set_new(json, "embedding_error", snwJsonReal(made.embeddingError));
    json_object_set_new(json, "bones", bones);
    json_object_set_new(json, "motions", motions);
    json_object_set_new(json, "surfaces", surfaces);

    return json;
}

static void PrintSurfaces(const snwPrepared* prepared)
{
    static const char* const s_heads[] = {"<surface", "<kind", "vertices", "triangles", "parts"};
    snwTextTable table = snwTextTable_Start(s_heads, 5);
    for (int i = 0; i < snwPrepared_GetInfo(prepared).surfaceCount; ++i)
    {
        const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, i);
        snwTextTable_AddRow(&table);
        snwTextTable_Set(&table, 0, "%s", surface->name);
        snwTextTable_Set(&table, 1, "%s", snw_surfaceKindWords[surface->kind]);
        snwTextTable_Set(&table, 2, "%d", surface->vertexCount);
        snwTextTable_Set(&table, 3, "%d", surface->triangleCount);
        snwTextTable_Set(&table, 4, "%d", surface->partCount);
    }
    snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
}

static int OwnedBy(const snwCharacterDef* def, int bone)
{
    int count = 0;
    for (int i = 0; i < def->tetCount && def->elementBones != NULL; ++i)
        count += def->elementBones[i] == bone;
    return count;
}

static const char* NameOfJointType(const snwCharacterDef* def, int bone)
{
    for (int i = 0; i < def->jointCount; ++i)
        if (def->joints[i].bone == bone)
            return snwJointType_Name(def->joints[i].type);
    return "";
}

static void PrintBones(const snwCharacterDef* def)
{
    static const char* const s_heads[] = {"<bone", "<parent", "<joint", "radius/m", "elements"};
    snwTextTable table = snwTextTable_Start(s_heads, 5);
    for (int i = 0; i < def->boneCount; ++i)
    {
        const snwBoneDef* bone = &def->bones[i];
        snwTextTable_AddRow(&table);
        snwTextTable_Set(&table, 0, "%s", bone->name);
        snwTextTable_Set(&table, 1, "%s", bone->parent >= 0 ? def->bones[bone->parent].name : "");
        snwTextTable_Set(&table, 2, "%s", NameOfJointType(def, i));
        snwTextTable_Set(&table, 3, "%.3g", bone->radius);
        snwTextTable_Set(&table, 4, "%d", OwnedBy(def, i));
    }
    if (def->boneCount > 0)
        printf("\n");
    snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
}

static void Print(const snwPrepared* prepared)
{
    snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared));
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    snwPreparedInfo made = snwPrepared_GetInfo(prepared);

    // Where it comes from and how large it is, then what it is made of.
    printf("character %s, prepared from %s (%016" PRIx64 ")\n", info.name, made.source, made.sourceHash);
    printf("size      %.3g x %.3g x %.3g m, %.3g kg; one unit of the file is %g m\n", info.upper.x - info.lower.x,
        info.upper.y - info.lower.y, info.upper.z - info.lower.z, info.mass, made.scale);
    if (info.triangleCount > 0)
        printf("sheet     %d triangles, %d vertices, %d x %d pixels\n", info.triangleCount, info.vertexCount,
            def->texture.width, def->texture.height);
    else
        printf("body      %d tets, %d vertices, %d materials\n", info.tetCount, info.vertexCount, info.materialCount);

    for (int i = 0; i < def->handleCount; ++i)
        printf("handle    %s\n", def->handles[i].name);
    for (int i = 0; i < def->motionCount; ++i)
        printf("motion    %s, %.3g s%s\n", def->motions[i].name, def->motions[i].duration,
            def->motions[i].loop ? ", loops" : "");
    printf("checksum  %016" PRIx64 "\n\n", made.checksum);
    if (made.surfaceCount > 0)
        PrintSurfaces(prepared);
    if (def->boneCount > 0)
        PrintBones(def);
}

snwExit snwPreparedReport_Print(snwContext* context, const char* path, bool json)
{
    snwPrepared* prepared = NULL;
    snwMessage message = {0};
    if (snwPrepared_Open(context, path, &prepared, &message) < 0)
        return snwReportInput(&message);
    snwExit exit = snw_exitOk;
    if (json)
        exit = snwPrintJson(ToJson(prepared));
    else
        Print(prepared);
    snwPrepared_Release(prepared);
    return exit;
}
