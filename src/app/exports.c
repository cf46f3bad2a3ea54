// Exports of a run: the kinds that were asked for, one writer per kind and body, fed frame by frame and finished
// together.

#include "app/exports.h"
#include "app/console.h"
#include "app/nearest.h"
#include "base/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

snwExportsDef snwDefaultExportsDef(void)
{
    return (snwExportsDef){.meditFrame = -1};
}

bool snwExportsDef_IsEmpty(const snwExportsDef* def)
{
    bool any = def->json;
    for (int i = 0; i < snw_exportKindCount; ++i)
        any = any || def->kinds[i];
    return !any;
}

// ---------------------------------------------------------------------------------------------------------------------
// From the command line

static snwExit ReadExportKind(const char* word, snwExportsDef* def)
{
    snwNearest nearest = snwNearest_Start(word);
    if (strcmp(word, "json") == 0)
        return def->json = true, snw_exitOk;
    for (snwExportKind i = 0; i < snw_exportKindCount; ++i)
    {
        if (strcmp(word, snwExportKind_Name(i)) == 0)
            return def->kinds[i] = true, snw_exitOk;
        snwNearest_Try(&nearest, snwExportKind_Name(i));
    }
    snwNearest_Try(&nearest, "json");
    return snwUsage(nearest.best != NULL ? nearest.best : "obj, ply, pc2, mdd, medit, clips, glb, json",
        "--export does not know '%s'", word);
}

static snwExit ReadKinds(const char* text, snwExportsDef* def)
{
    snwExit result = snw_exitOk;
    for (const char* c = text; result == snw_exitOk; ++c)
    {
        char word[32];
        size_t length = strcspn(c, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, c);
        result = ReadExportKind(word, def);
        c += length;
        if (*c == 0)
            break;
    }
    return result;
}

snwExit snwExportsDef_Read(const snwArgs* args, const char* directory, snwExportsDef* def)
{
    *def = snwDefaultExportsDef();
    const char* kinds = snwArgs_Text(args, "export");
    const char* up = snwArgs_Text(args, "up");
    def->up = up == NULL ? snw_upUsual : up[0] == 'z' ? snw_upZ : snw_upY;
    def->allVertices = snwArgs_Has(args, "all-vertices");
    if (!snwArgs_Int(args, "medit-frame", 0, 100000000, &def->meditFrame))
        return snw_exitUsage;
    if (kinds != NULL && directory == NULL)
        return snwUsage("-o DIR", "--export needs a folder to write to");
    if (kinds == NULL && (up != NULL || def->allVertices || def->meditFrame >= 0))
        return snwUsage("--export obj", "there is nothing to export");
    return kinds != NULL ? ReadKinds(kinds, def) : snw_exitOk;
}

// ---------------------------------------------------------------------------------------------------------------------
// A run

// The folder of a kind.
static bool KindFolder(snwExportKind kind, const char* directory, char* folder)
{
    if (snwExportKind_IsSequence(kind))
        return snwJoinPath(folder, snw_maxPath, directory, snwExportKind_Name(kind));
    return snprintf(folder, snw_maxPath, "%s", directory) < snw_maxPath;
}

static snwResult OpenOne(snwExports* exports, const snwExportDef* def, snwScene* scene, const char* directory,
    bool overwrite, snwMessage* message)
{
    char folder[snw_maxPath], path[snw_maxPath], name[160];
    snwExportDef own = *def;
    snwExport_FileName(scene, def->body, name, sizeof name);
    if (!KindFolder(def->kind, directory, folder) || !snwJoinPath(path, sizeof path, folder, name))
        return snwFail(message, snw_errorIo, "a shorter -o", "the path is too long");
    snwResult result = snwMakeFolder(folder, message);
    own.path = path;
    own.overwrite = overwrite;
    if (result >= 0)
        result = snwExporter_Open(exports->context, &own, scene, &exports->list[exports->count], message);
    exports->count += result >= 0;
    return result;
}

static snwResult OpenMeasures(snwExports* exports, const char* directory, bool overwrite, snwMessage* message)
{
    char path[snw_maxPath];
    if (!snwJoinPath(path, sizeof path, directory, "measures.json"))
        return snwFail(message, snw_errorIo, "a shorter -o", "the path is too long");
    snwResult result = snwMeasuresWriter_Open(&exports->measures, exports->context, path, false, overwrite, message);
    exports->measuring = result >= 0;
    return result;
}

snwResult snwExports_Open(snwExports* exports, snwContext* context, const snwExportsDef* def, snwScene* scene,
    const char* directory, int frameCount, bool overwrite, snwMessage* message)
{
    const snwSceneDef* sceneDef = snwScene_GetDef(scene);
    *exports = (snwExports){.context = context};
    if (directory == NULL || snwExportsDef_IsEmpty(def))
        return snw_ok;

    // Room for every kind of every body.
    exports->list = calloc((size_t)sceneDef->bodyCount * snw_exportKindCount + 1, sizeof(void*));
    if (exports->list == NULL)
        return snwFailMemory(message);
    snwResult result = snwMakeFolder(directory, message);

    // Drop frees those that were opened, if a later one fails.
    for (snwExportKind kind = 0; kind < snw_exportKindCount && result >= 0; ++kind)
        for (int body = 0; def->kinds[kind] && body < sceneDef->bodyCount && result >= 0; ++body)
        {
            snwExportDef one = snwDefaultExportDef(kind);
            one.body = body;
            one.frameCount = frameCount;
            one.rate = sceneDef->rate;
            one.up = def->up;
            one.allVertices = def->allVertices;
            one.meditFrame = def->meditFrame;
            result = OpenOne(exports, &one, scene, directory, overwrite, message);
        }

    if (result >= 0 && def->json)
        result = OpenMeasures(exports, directory, overwrite, message);
    if (result < 0)
        snwExports_Drop(exports);
    return result;
}

snwResult snwExports_AddFrame(snwExports* exports, const snwRunFrame* frame, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < exports->count && result >= 0; ++i)
        result = snwExporter_AddFrame(exports->list[i], frame->sim, message);
    if (result >= 0 && exports->measuring)
        result = snwMeasuresWriter_AddFrame(&exports->measures, frame->sim, frame->frame, frame->measures, message);
    return result;
}

snwResult snwExports_Finish(snwExports* exports, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < exports->count; ++i)
    {
        snwResult one = snwExporter_Finish(exports->list[i], result < 0 ? NULL : message);
        result = result < 0 ? result : one;
    }
    exports->count = 0;
    if (exports->measuring)
    {
        snwResult one = snwMeasuresWriter_Finish(&exports->measures, result < 0 ? NULL : message);
        result = result < 0 ? result : one;
    }
    exports->measuring = false;
    return result;
}

void snwExports_Drop(snwExports* exports)
{
    for (int i = 0; i < exports->count && exports->list != NULL; ++i)
        snwExporter_Drop(exports->list[i]);
    if (exports->measuring)
        snwPartFile_Drop(&exports->measures.output);
    free(exports->list);
    *exports = (snwExports){0};
}

json_t* snwExportsDef_ToJson(const snwExportsDef* def)
{
    json_t* list = json_array();
    for (snwExportKind i = 0; i < snw_exportKindCount; ++i)
        if (def->kinds[i])
            json_array_append_new(list, json_string(snwExportKind_Name(i)));
    if (def->json)
        json_array_append_new(list, json_string("json"));
    return list;
}

static const char* const s_patterns[snw_exportKindCount] = {
    [snw_exportObj] = "obj/*.obj",
    [snw_exportPly] = "ply/*.ply",
    [snw_exportPc2] = "*.pc2",
    [snw_exportMdd] = "*.mdd",
    [snw_exportMedit] = "*.mesh",
    [snw_exportClips] = "*.clips.json",
    [snw_exportGlb] = "*.glb",
};

void snwExportsDef_List(const snwExportsDef* def, const char* directory)
{
    for (snwExportKind i = 0; i < snw_exportKindCount; ++i)
        if (def->kinds[i])
            snwNote("%-12s %s/%s", snwExportKind_Name(i), directory, s_patterns[i]);
    if (def->json)
        snwNote("%-12s %s/measures.json", "json", directory);
}
