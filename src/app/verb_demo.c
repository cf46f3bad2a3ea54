// sinew demo: the built-in scenes and characters, listed or played.

#include "app/console.h"
#include "app/perform.h"
#include "scene/shipped.h"
#include "app/table.h"
#include "app/verbs.h"
#include "scene/blueprint_file.h"
#include "scene/builtin.h"

#include <stdio.h>
#include <string.h>

// As its file says: a list should not mesh every character of every scene.
static void AddListRow(const char* name, const char* description, snwTextTable* table)
{
    char path[snw_maxPath];
    snwTextTable_AddRow(table);
    snwTextTable_Set(table, 0, "%s", name);
    json_t* scene = snwScenes_Find(name, path, sizeof path) ? json_load_file(path, 0, NULL) : NULL;
    const char* method = json_string_value(json_object_get(scene, "method"));
    if (json_is_object(scene))
    {
        snwTextTable_Set(table, 1, "%s", method != NULL ? method : "");
        snwTextTable_Set(table, 2, "%d", (int)json_array_size(json_object_get(scene, "bodies")));
        snwTextTable_Set(table, 3, "%g s", json_number_value(json_object_get(scene, "duration")));
        snwTextTable_Set(table, 4, "%s", description != NULL ? description : "");
    }
    else
        snwTextTable_Set(table, 4, "not sound: sinew check %s", name);
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

        // Names of all motions, as far as the cell reaches.
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

static void PrintScenes(const snwNames* scenes)
{
    static const char* const heads[] = {"<demo", "<method", "bodies", "length", "<what is to be seen"};
    snwTextTable table = snwTextTable_Start(heads, 5);
    for (int i = 0; i < scenes->count; ++i)
        AddListRow(scenes->names[i], scenes->notes[i], &table);
    snwTextTable_Print(&table, stdout);
    snwTextTable_Free(&table);
}

// With --quiet only the scenes' names, for shells.
static snwExit PrintDemos(snwContext* context, bool quiet)
{
    snwNames scenes;
    char folder[snw_maxPath];
    snwScenes_List(context, &scenes);
    bool none = scenes.count == 0;
    if (none)
        snwReport(snw_errorIo, "set SINEW_SCENES to the folder of the scenes", "there are no scenes in %s",
            snwScenesFolder(folder, sizeof folder));

    // Names alone are for shells, tables for people.
    for (int i = 0; quiet && i < scenes.count; ++i)
        puts(scenes.names[i]);

    if (!quiet && !none)
    {
        PrintScenes(&scenes);
        putchar('\n');
        PrintCast(context);
    }

    snwNames_Free(context, &scenes);
    return none ? snw_exitFailed : snw_exitOk;
}

static void PrintOutcome(const snwPerformDef* def, const snwPerformance* performance)
{
    printf("%s: %d frames, %.2f ms per step, energy %.4g J -> %.4g J\n", performance->scene, performance->report.frames,
        performance->report.stepMsMedian, performance->report.first.energy, performance->report.last.energy);
    fflush(stdout);
    snwPerformance_Warn(performance);
    snwPerform_ListFiles(def, performance);
}

static snwExit PlayDemo(snwContext* context, const snwPerformDef* def)
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

static snwExit PlayNamed(const snwArgs* args, snwContext* context, const char* name)
{
    char directory[96];
    const char* slash = strrchr(name, '/');
    snwPerformDef def = snwDefaultPerformDef();
    snprintf(directory, sizeof directory, "out/demo-%s", slash != NULL ? slash + 1 : name);
    def.path = name;
    def.directory = snwArgs_Has(args, "output") ? snwArgs_Text(args, "output") : directory;
    def.film = !snwArgs_Has(args, "no-film");
    def.overwrite = snwArgs_Has(args, "force");
    snwExit result = snwPerformDef_ReadFilm(args, &def);
    if (result != snw_exitOk)
        return result;
    snwInterrupt_Listen();
    return PlayDemo(context, &def);
}

static snwExit RunDemo(const snwArgs* args)
{
    snwContext* context = NULL;
    snwExit result = snwContextFromArgs(args, &context);
    if (result != snw_exitOk)
        return result;
    if (snwArgs_Has(args, "list"))
        result = PrintDemos(context, snwArgs_Has(args, "quiet"));
    else
        result = PlayNamed(args, context, args->operandCount > 0 ? args->operands[0] : "drop");
    snwDestroyContext(context);
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
    {"sinew demo octopus", "a character, in a scene that suits it"},
    {"sinew demo jello --look strain --turntable", "where it is stretched, seen from all sides"},
    {0},
};

const snwVerb snwDemoVerb = {
    .name = "demo",
    .operands = "[NAME]",
    .mostOperands = 1,
    .complete = snw_completeDemos,
    .summary = "run a scene or character by its name and make a film of it",
    .about = "Writes film, picture, plots, measures, report and log, and says where each is.",
    .options = s_options,
    .examples = s_examples,
    .run = RunDemo,
};
