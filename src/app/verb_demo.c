#include "app/console.h"
#include "app/nearest.h"
#include "app/perform.h"
#include "app/table.h"
#include "app/verbs.h"
#include "scene/blueprint_file.h"
#include "scene/builtin.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_maxDemos = 256
};

// Names of the scenes in the folder, without ".json".
typedef struct DemoList
{
    char folder[snw_maxPath];
    char names[snw_maxDemos][64];
    int count;
} DemoList;

static int CompareNames(const void* a, const void* b)
{
    return strcmp(a, b);
}

static snwExit ReadList(DemoList* list)
{
    list->count = 0;
    DIR* folder = opendir(snwScenesFolder(list->folder, sizeof list->folder));
    if (folder == NULL)
        return snwReport(
            snw_errorIo, "set SINEW_SCENES to the folder of the scenes", "there are no scenes in %s", list->folder);
    for (struct dirent* entry = readdir(folder); entry != NULL && list->count < snw_maxDemos; entry = readdir(folder))
    {
        size_t length = strlen(entry->d_name);
        if (length <= 5 || length - 5 >= sizeof *list->names || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        snprintf(list->names[list->count++], sizeof *list->names, "%.*s", (int)(length - 5), entry->d_name);
    }
    closedir(folder);
    qsort(list->names, (size_t)list->count, sizeof *list->names, CompareNames);
    return snw_exitOk;
}

static void ScenePath(const DemoList* list, const char* name, char* path, size_t capacity)
{
    char file[80];
    snprintf(file, sizeof file, "%s.json", name);
    snwJoinPath(path, capacity, list->folder, file);
}

// As its file says: a list should not mesh every character of every scene.
static void AddListRow(const DemoList* list, int index, snwTextTable* table)
{
    char path[snw_maxPath];
    ScenePath(list, list->names[index], path, sizeof path);
    snwTextTable_AddRow(table);
    snwTextTable_Set(table, 0, "%s", list->names[index]);
    json_t* scene = json_load_file(path, 0, NULL);
    const char* method = json_string_value(json_object_get(scene, "method"));
    const char* description = json_string_value(json_object_get(scene, "description"));
    if (json_is_object(scene))
    {
        snwTextTable_Set(table, 1, "%s", method != NULL ? method : "");
        snwTextTable_Set(table, 2, "%d", (int)json_array_size(json_object_get(scene, "bodies")));
        snwTextTable_Set(table, 3, "%g s", json_number_value(json_object_get(scene, "duration")));
        snwTextTable_Set(table, 4, "%s", description != NULL ? description : "");
    }
    else
        snwTextTable_Set(table, 4, "not sound: sinew check %s", path);
    json_decref(scene);
}

// The built-in characters, as their files say: nothing is meshed for a list.
static void PrintCast(snwContext* context)
{
    static const char* const heads[] = {"<character", "bones", "joints", "<motions", "<what it is"};
    snwTextTable table = snwTextTable_Start(heads, 5);
    for (int i = 0; i < snwBuiltInCount(); ++i)
    {
        snwBlueprintFile file;
        char motions[snw_maxCell] = "";
        if (snwBlueprintFile_Open(context, snwBuiltIn_Get(i)->name, &file, NULL) >= 0)
        {
            const snwBlueprint* blueprint = &file.blueprint;
            size_t length = 0;
            for (int m = 0; m < blueprint->motionCount && length < sizeof motions; ++m)
                length += (size_t)snprintf(
                    motions + length, sizeof motions - length, "%s%s", m > 0 ? " " : "", blueprint->motions[m].name);
            snwTextTable_AddRow(&table);
            snwTextTable_Set(&table, 0, "%s", snwBuiltIn_Get(i)->name);
            snwTextTable_Set(&table, 1, "%d", blueprint->boneCount);
            snwTextTable_Set(&table, 2, "%d", blueprint->jointCount);
            snwTextTable_Set(&table, 3, "%s", motions);
            snwTextTable_Set(&table, 4, "%s", blueprint->description);
        }
        snwBlueprintFile_Free(&file);
    }
    snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
}

// With --quiet only the names, for shells.
static snwExit PrintList(const snwArgs* args, const DemoList* list)
{
    if (snwArgs_Has(args, "quiet"))
    {
        for (int i = 0; i < list->count; ++i)
            puts(list->names[i]);
        return snw_exitOk;
    }
    snwContext* context = NULL;
    snwExit result = snwContextFromArgs(args, &context);
    if (result != snw_exitOk)
        return result;
    static const char* const heads[] = {"<demo", "<method", "bodies", "length", "<what is to be seen"};
    snwTextTable table = snwTextTable_Start(heads, 5);
    for (int i = 0; i < list->count; ++i)
        AddListRow(list, i, &table);
    snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
    putchar('\n');
    PrintCast(context);
    snwDestroyContext(context);
    return snw_exitOk;
}

static snwExit FindDemo(const DemoList* list, const char* name)
{
    snwNearest nearest = snwNearest_Start(name);
    for (int i = 0; i < list->count; ++i)
    {
        if (strcmp(list->names[i], name) == 0)
            return snw_exitOk;
        snwNearest_Try(&nearest, list->names[i]);
    }
    return snwUsage(nearest.best != NULL ? nearest.best : "sinew demo --list", "there is no demo '%s'", name);
}

static void PrintOutcome(const snwPerformDef* def, const snwPerformance* performance)
{
    printf("%s: %d frames, %.2f ms per step, energy %.4g J -> %.4g J\n", performance->scene, performance->report.frames,
        performance->report.stepMsMedian, performance->report.first.energy, performance->report.last.energy);
    fflush(stdout);
    snwPerformance_Warn(performance);
    snwPerform_ListFiles(def, performance);
}

static snwExit Play(snwContext* context, const snwPerformDef* def)
{
    snwPerformance performance;
    snwMessage message;
    snwResult result = snwPerform(context, def, &performance, &message);
    if (result != snw_ok)
        snwReportMessage(&message);
    if (performance.ran)
        PrintOutcome(def, &performance);
    snwPerformance_Free(&performance);
    return snwExit_FromResult(result);
}

static snwExit PlayNamed(const snwArgs* args, const DemoList* list, const char* name)
{
    char path[snw_maxPath], directory[96];
    snwPerformDef def = snwDefaultPerformDef();
    ScenePath(list, name, path, sizeof path);
    snprintf(directory, sizeof directory, "out/demo-%s", name);
    def.path = path;
    def.directory = snwArgs_Has(args, "output") ? snwArgs_Text(args, "output") : directory;
    def.film = !snwArgs_Has(args, "no-film");
    def.overwrite = snwArgs_Has(args, "force");
    snwContext* context = NULL;
    snwExit result = snwPerformDef_ReadFilm(args, &def);
    if (result == snw_exitOk)
        result = snwContextFromArgs(args, &context);
    if (result != snw_exitOk)
        return result;
    snwInterrupt_Listen();
    result = Play(context, &def);
    snwDestroyContext(context);
    return result;
}

static snwExit Run(const snwArgs* args)
{
    DemoList* list = calloc(1, sizeof *list);
    if (list == NULL)
        return snwReportMemory();
    const char* name = args->operandCount > 0 ? args->operands[0] : "drop";
    snwExit result = ReadList(list);
    if (result == snw_exitOk && snwArgs_Has(args, "list"))
        result = PrintList(args, list);
    else if (result == snw_exitOk)
    {
        result = FindDemo(list, name);
        if (result == snw_exitOk)
            result = PlayNamed(args, list, name);
    }
    free(list);
    return result;
}

static const snwOption s_options[] = {
    {"list", 'l', NULL, false, snw_completeNothing, NULL,
        "list the demos and the characters (with --quiet only the demos' names)"},
    {"output", 'o', "DIR", false, snw_completeFolder, NULL, "write here instead of out/demo-NAME"},
    {"force", 'f', NULL, false, snw_completeNothing, NULL, "replace files that exist"},
    SNW_FILM_OPTIONS,
    SNW_CONTEXT_OPTIONS,
    {0},
};

static const snwExample s_examples[] = {
    {"sinew demo", "the first one: a soft body falls (drop)"},
    {"sinew demo --list", "what else there is"},
    {"sinew demo drop -o /tmp/drop --force", "into a folder of your choice"},
    {"sinew demo jello --look strain --turntable", "where it is stretched, seen from all sides"},
    {0},
};

const snwVerb snwDemoVerb = {
    .name = "demo",
    .operands = "[NAME]",
    .mostOperands = 1,
    .complete = snw_completeDemos,
    .summary = "run a built-in scene and make a film of it",
    .about = "Writes film, picture, plots, measures, report and log, and says where each is.",
    .options = s_options,
    .examples = s_examples,
    .run = Run,
};
