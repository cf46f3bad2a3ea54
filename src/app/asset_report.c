// What is in an artist's file, in one sentence, as tables for people, or as JSON; with what is wrong about its
// surfaces.

#include "app/asset_report.h"

#include "app/common.h"
#include "app/table.h"

#include <stdio.h>
#include <string.h>

snwResult snwAssetReport_Make(snwContext* context, const char* path, snwAssetReport* report, snwMessage* message)
{
    *report = (snwAssetReport){.context = context, .arena = {.context = context}};
    snwResult result = snwAsset_Open(context, path, &report->asset, message);
    if (result >= 0)
        result = snwAsset_FindSurfaces(report->asset, &report->arena, true, &report->surfaces, message);
    return result;
}

void snwAssetReport_Free(snwAssetReport* report)
{
    snwAsset_Close(report->asset);
    snwArena_Free(&report->arena);
}

snwVerdict snwAssetReport_Verdict(const snwAssetReport* report)
{
    snwVerdict worst = snw_verdictGood;
    for (int i = 0; i < report->surfaces.count; ++i)
    {
        snwReportLine lines[snw_maxReportLines];
        int count = snwSurvey_Describe(&report->surfaces.items[i].survey, "", lines);
        for (int k = 0; k < count; ++k)
            worst = lines[k].verdict > worst ? lines[k].verdict : worst;
    }
    return worst;
}

// ---------------------------------------------------------------------------------------------------------------------
// One line

typedef struct Sentence
{
    char* text;
    size_t capacity, length;
} Sentence;

static void Say(Sentence* sentence, int64_t count, const char* one, const char* many)
{
    if (count == 0 || sentence->length >= sentence->capacity)
        return;
    int size = snprintf(sentence->text + sentence->length, sentence->capacity - sentence->length, "%s%lld %s",
        sentence->length > 0 ? ", " : "", (long long)count, count == 1 ? one : many);
    sentence->length += size > 0 ? (size_t)size : 0;
}

void snwAssetReport_Summarise(const snwAsset* asset, char* text, size_t capacity)
{
    Sentence sentence = {text, capacity, 0};
    int64_t vertices = 0, triangles = 0, tets = 0, hexes = 0, joints = 0;

    // Counted over all of its parts.
    for (int i = 0; i < asset->meshCount; ++i)
    {
        vertices += asset->meshes[i].vertexCount, triangles += asset->meshes[i].triangleCount;
        tets += asset->meshes[i].tetCount, hexes += asset->meshes[i].hexCount;
    }

    for (int i = 0; i < asset->skinCount; ++i)
        joints += asset->skins[i].jointCount;

    // Each only if there is any of it.
    text[0] = 0;
    Say(&sentence, vertices, "vertex", "vertices");
    Say(&sentence, triangles, "triangle", "triangles");
    Say(&sentence, tets, "tet", "tets");
    Say(&sentence, hexes, "hex", "hexes");
    Say(&sentence, joints, "joint of a skin", "joints of skins");
    Say(&sentence, asset->animationCount, "animation", "animations");
    int handles = asset->handleCount > 0 ? asset->movedHandleCount : asset->handleMotion.handleCount;
    Say(&sentence, handles, "handle", "handles");
    Say(&sentence, asset->boneCount, "rigid bone", "rigid bones");
    Say(&sentence, asset->jointCount, "joint", "joints");
    Say(&sentence, (int64_t)asset->matrix.rows * asset->matrix.columns, "number", "numbers");
    Say(&sentence, asset->cache.frameCount, "frame", "frames");
    Say(&sentence, asset->cache.pointCount, "point each", "points each");
    Say(&sentence, asset->handleMotion.frameCount, "frame of a motion", "frames of a motion");
    Say(&sentence, asset->noteCount, "note", "notes");
}

// ---------------------------------------------------------------------------------------------------------------------
// For people

static const char* NoteWord(snwAssetNoteKind kind)
{
    return kind == snw_noteRepaired ? "repaired" : kind == snw_noteLeftOut ? "left out" : "odd";
}

static void PrintMeshes(const snwAssetReport* report)
{
    static const char* const heads[] = {"<surface", "vertices", "welded", "triangles", "elements", "morphs", "bones"};
    snwTextTable table = snwTextTable_Start(heads, 7);

    // A row per surface.
    for (int i = 0; i < report->surfaces.count; ++i)
    {
        const snwAssetSurface* surface = &report->surfaces.items[i];
        const snwAssetMesh* mesh = &report->asset->meshes[surface->mesh];
        snwTextTable_AddRow(&table);
        snwTextTable_Set(&table, 0, "%s", surface->name[0] != 0 ? surface->name : "-");
        snwTextTable_Set(&table, 1, "%d", mesh->vertexCount);
        snwTextTable_Set(&table, 2, "%d", surface->weld.count);
        snwTextTable_Set(&table, 3, "%d", surface->triangleCount);
        snwTextTable_Set(&table, 4, "%d", mesh->tetCount + mesh->hexCount);
        snwTextTable_Set(&table, 5, "%d", mesh->morphCount);
        snwTextTable_Set(&table, 6, "%d", mesh->weights.boneCount);
    }

    if (report->surfaces.count > 0)
    {
        putchar('\n');
        snwTextTable_Print(&table, stdout);
    }

    snwTextTable_Free(&table);
}

static void PrintSurface(const snwAssetReport* report, const snwAssetSurface* surface)
{
    snwReportLine lines[snw_maxReportLines];
    int count = snwSurvey_Describe(&surface->survey, report->asset->format == snw_assetGltf ? "m" : "", lines);
    printf("\n%s\n", surface->name[0] != 0 ? surface->name : "surface");
    for (int i = 0; i < count; ++i)
    {
        printf("  %-8s %s\n", snwVerdict_Name(lines[i].verdict), lines[i].text);
        if (lines[i].remedy[0] != 0)
            printf("           try: %s\n", lines[i].remedy);
    }
    if (surface->invertedElements > 0)
        printf(
            "  %-8s %d elements are inverted or flat\n", snwVerdict_Name(snw_verdictLook), surface->invertedElements);
}

static void PrintRig(const snwAsset* asset)
{
    for (int i = 0; i < asset->skinCount; ++i)
        printf("skin      %s%s%d joints\n", asset->skins[i].name, asset->skins[i].name[0] != 0 ? ", " : "",
            asset->skins[i].jointCount);
    for (int i = 0; i < asset->animationCount; ++i)
        printf("animation %s, %.3g s, %d channels\n",
            asset->animations[i].name[0] != 0 ? asset->animations[i].name : "(no name)",
            asset->animations[i].end - asset->animations[i].start, asset->animations[i].channelCount);
}

static void PrintAssetNotes(const snwAsset* asset)
{
    for (int i = 0; i < asset->noteCount; ++i)
    {
        const snwAssetNote* note = &asset->notes[i];
        printf("%-9s %s%s%s", NoteWord(note->kind), note->place, note->place[0] != 0 ? ": " : "", note->text);
        if (note->count > 1)
            printf(" (%lld times)", (long long)note->count);
        putchar('\n');
    }
    if (asset->notesLost > 0)
        printf("          and %lld notes more\n", (long long)asset->notesLost);
}

static void PrintSize(const snwAssetReport* report)
{
    if (report->surfaces.count == 0)
        return;
    snwVec3 size = snwVec3_Sub(report->surfaces.upper, report->surfaces.lower);
    printf(
        "size      %.4g x %.4g x %.4g%s", size.x, size.y, size.z, report->asset->format == snw_assetGltf ? " m" : "");
    if (report->asset->scale > 0 && report->asset->scale != 1)
        printf(", one unit is probably %g m", report->asset->scale);
    putchar('\n');
}

static void PrintAssetReport(const snwAssetReport* report)
{
    char summary[256];
    const snwAssetReader* reader = NULL;
    for (int i = 0; (reader = snwAssetReader_Get(i)) != NULL && reader->format != report->asset->format;)
        ++i;
    snwAssetReport_Summarise(report->asset, summary, sizeof summary);
    printf("file      %s, %s\nholds     %s\n", report->asset->name, reader != NULL ? reader->title : "?", summary);
    PrintSize(report);
    PrintRig(report->asset);
    PrintAssetNotes(report->asset);
    PrintMeshes(report);
    for (int i = 0; i < report->surfaces.count; ++i)
        PrintSurface(report, &report->surfaces.items[i]);
    if (report->surfaces.left > 0)
        printf("\n%d further copies of meshes were not looked at\n", report->surfaces.left);
}

// ---------------------------------------------------------------------------------------------------------------------
// For programs

static json_t* SurfaceToJson(const snwAssetReport* report, const snwAssetSurface* surface)
{
    const snwSurvey* s = &surface->survey;
    const snwAssetMesh* mesh = &report->asset->meshes[surface->mesh];
    json_t* json = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:b}", "name", surface->name, "vertices",
        mesh->vertexCount, "welded", surface->weld.count, "triangles", surface->triangleCount, "tets", mesh->tetCount,
        "hexes", mesh->hexCount, "sound", snwSurvey_IsSound(s));
    json_object_update_new(
        json, json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "shells", s->shellCount, "holes",
                  s->holeCount, "open_edges", s->openEdges, "crowded_edges", s->crowdedEdges, "pinched_vertices",
                  s->pinchedVertices, "turned_triangles", s->turnedTriangles, "double_triangles", s->doubleTriangles,
                  "flat_triangles", s->flatTriangles, "loose_vertices", s->looseVertices, "crossing_triangles",
                  s->crossingTriangles, "inverted_elements", surface->invertedElements));
    json_object_set_new(json, "volume", snwJsonReal(s->volume));
    json_object_set_new(json, "area", snwJsonReal(s->area));
    return json;
}

static json_t* NotesToJson(const snwAsset* asset)
{
    json_t* notes = json_array();
    for (int i = 0; i < asset->noteCount; ++i)
        json_array_append_new(notes,
            json_pack("{s:s, s:I, s:s, s:s}", "kind", NoteWord(asset->notes[i].kind), "count",
                (json_int_t)asset->notes[i].count, "place", asset->notes[i].place, "text", asset->notes[i].text));
    return notes;
}

json_t* snwAssetReport_Notes(const snwAssetReport* report)
{
    json_t* notes = NotesToJson(report->asset);

    // Every finding about a surface that is not good.
    for (int i = 0; i < report->surfaces.count; ++i)
    {
        const snwAssetSurface* surface = &report->surfaces.items[i];
        snwReportLine lines[snw_maxReportLines];
        int count = snwSurvey_Describe(&surface->survey, "", lines);
        for (int k = 0; k < count; ++k)
            if (lines[k].verdict != snw_verdictGood)
                json_array_append_new(
                    notes, json_pack("{s:s, s:i, s:s, s:s}", "kind", snwVerdict_Name(lines[k].verdict), "count", 1,
                               "place", surface->name, "text", lines[k].text));

        if (surface->invertedElements > 0)
            json_array_append_new(
                notes, json_pack("{s:s, s:i, s:s, s:s}", "kind", snwVerdict_Name(snw_verdictLook), "count",
                           surface->invertedElements, "place", surface->name, "text", "elements are inverted or flat"));
    }

    return notes;
}

static json_t* ReportToJson(const snwAssetReport* report)
{
    const snwAsset* asset = report->asset;
    json_t* surfaces = json_array();
    json_t* animations = json_array();
    for (int i = 0; i < report->surfaces.count; ++i)
        json_array_append_new(surfaces, SurfaceToJson(report, &report->surfaces.items[i]));
    for (int i = 0; i < asset->animationCount; ++i)
        json_array_append_new(
            animations, json_pack("{s:s, s:o, s:o}", "name", asset->animations[i].name, "start",
                            snwJsonReal(asset->animations[i].start), "end", snwJsonReal(asset->animations[i].end)));
    return json_pack("{s:i, s:s, s:s, s:i, s:i, s:o, s:o, s:o}", "schema", 1, "name", asset->name, "verdict",
        snwVerdict_Name(snwAssetReport_Verdict(report)), "nodes", asset->nodeCount, "skins", asset->skinCount,
        "animations", animations, "surfaces", surfaces, "notes", NotesToJson(asset));
}

snwExit snwAssetReport_Print(const snwAssetReport* report, bool json)
{
    if (json)
        return snwPrintJson(ReportToJson(report));
    PrintAssetReport(report);
    return snw_exitOk;
}
