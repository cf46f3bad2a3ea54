// Whoever adds a scene, a method, a choice, a character, a look or a format is told to add a case.

#include "golden.h"

#include "app/cli.h"
#include "app/settings.h"
#include "asset/export.h"
#include "scene/blueprint_tables.h"
#include "scene/builtin.h"
#include "scene/gestures.h"
#include "scene/tables.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int s_missing;

__attribute__((format(printf, 1, 2))) static void Miss(const char* format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "golden.complete: ");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    s_missing++;
}

static bool HasWord(const snwGoldenLine* line, const char* word)
{
    for (int i = 0; i < line->wordCount; ++i)
        if (strcmp(line->words[i], word) == 0)
            return true;
    return false;
}

// Is there a case with these two words next to each other?
static bool HasPair(const snwGoldenNet* net, const char* verb, const char* first, const char* second)
{
    for (int i = 0; i < net->count; ++i)
        for (int k = 0; k + 1 < net->lines[i].wordCount; ++k)
            if (strcmp(net->lines[i].words[k], first) == 0 && strcmp(net->lines[i].words[k + 1], second) == 0 &&
                HasWord(&net->lines[i], verb))
                return true;
    return false;
}

// ---------------------------------------------------------------------------------------------------------------------
// Scenes, methods and what scenes are written in

static json_t* LoadScene(const snwGoldenLine* line)
{
    char path[512];
    snprintf(path, sizeof path, SNW_SOURCE_DIR "/%s", line->words[0]);
    return json_load_file(path, 0, NULL);
}

static void CheckScenes(const snwGoldenNet* net)
{
    DIR* folder = opendir(SNW_SOURCE_DIR "/scenes");
    for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;)
    {
        char path[300];
        bool found = strstr(entry->d_name, ".json") == NULL;
        snprintf(path, sizeof path, "scenes/%s", entry->d_name);
        for (int i = 0; i < net->count; ++i)
            found = found || (net->lines[i].kind == snw_goldenState && strcmp(net->lines[i].words[0], path) == 0);
        if (!found)
            Miss("no case of states.txt runs %s", path);
    }
    if (folder == NULL || closedir(folder) != 0)
        Miss("the folder scenes cannot be read");
}

static bool UsesMethod(const snwGoldenLine* line, const char* method)
{
    if (line->kind != snw_goldenState)
        return false;
    if (snwGoldenLine_Option(line, "method") != NULL)
        return strcmp(snwGoldenLine_Option(line, "method"), method) == 0;
    json_t* scene = LoadScene(line);
    const char* name = json_string_value(json_object_get(scene, "method"));
    bool uses = name != NULL && strcmp(name, method) == 0;
    json_decref(scene);
    return uses;
}

// Every value of every choice and switch; the default ones are in any case of the method.
static void CheckMethod(const snwGoldenNet* net, int method)
{
    snwMethodInfo info = snwMethod_GetInfo(method);
    bool runs = false;
    for (int i = 0; i < net->count && !runs; ++i)
        runs = UsesMethod(&net->lines[i], info.name);
    if (!runs)
        Miss("no case of states.txt uses the method %s", info.name);

    for (int p = 0; p < info.paramCount; ++p)
    {
        const snwParamInfo* param = snwMethod_GetParam(method, p);
        int values = param->type == snw_paramBool ? 2 : 0;
        while (param->type == snw_paramChoice && param->choices[values] != NULL)
            values++;
        for (int value = 0; value < values; ++value)
        {
            char text[64], word[160];
            bool found = value == (int)param->initial;
            snwParam_FormatValue(param, value, text, sizeof text);
            snprintf(word, sizeof word, "%s=%s", param->name, text);
            for (int i = 0; i < net->count && !found; ++i)
                found = HasWord(&net->lines[i], word) && UsesMethod(&net->lines[i], info.name);
            if (!found)
                Miss("no case of states.txt has %s", word);
        }
    }
}

// Two cases of a method that show the same at the end: an option does nothing there, and so its case guards nothing.
static void CheckDifferences(const snwGoldenNet* net)
{
    for (int i = 0; i < net->count; ++i)
        for (int k = i + 1; k < net->count; ++k)
        {
            const char* one = snwGoldenValues_Find(&net->lines[i].recorded, "shown");
            const char* other = snwGoldenValues_Find(&net->lines[k].recorded, "shown");
            if (one != NULL && other != NULL && strcmp(one, other) == 0)
                Miss("%s and %s show the same: what sets them apart does nothing", net->lines[i].name,
                    net->lines[k].name);
        }
}

// Is there, anywhere in the document, a list of this name with an object whose key has this value?
static bool Occurs(const json_t* value, const char* list, const char* key, const char* text)
{
    const char* name;
    json_t* child;
    size_t i;
    json_array_foreach(json_object_get(value, list), i, child)
    {
        const char* has = json_string_value(json_object_get(child, key));
        if (has != NULL && strcmp(has, text) == 0)
            return true;
    }
    json_object_foreach((json_t*)value, name, child) if (Occurs(child, list, key, text)) return true;
    json_array_foreach(value, i, child) if (Occurs(child, list, key, text)) return true;
    return false;
}

// Every kind of collider, prop, command, gesture and joint is in a scene that is run.
static void CheckKinds(const snwGoldenNet* net)
{
    static const struct
    {
        const snwTable* table;
        const char *list, *key;
        const char* except; // in the table, but none can be made
    } s_kinds[] = {
        {&snw_colliderTable, "colliders", "kind", ""},
        {&snw_propTable, "props", "kind", "plane"},
        {&snw_commandTable, "commands", "kind", ""},
        {&snw_gestureTable, "gestures", "kind", ""},
        {&snw_jointTable, "joints", "type", ""},
    };
    json_t* scenes = json_array();
    for (int i = 0; i < net->count; ++i)
        if (net->lines[i].kind == snw_goldenState)
            json_array_append_new(scenes, LoadScene(&net->lines[i]));

    for (size_t k = 0; k < sizeof s_kinds / sizeof *s_kinds; ++k)
        for (int f = 0; f < s_kinds[k].table->count; ++f)
        {
            const snwField* field = &s_kinds[k].table->fields[f];
            if (strcmp(field->key, s_kinds[k].key) != 0 || field->names == NULL)
                continue;
            for (int n = 0; field->names[n] != NULL; ++n)
                if (strcmp(field->names[n], s_kinds[k].except) != 0 &&
                    !Occurs(scenes, s_kinds[k].list, s_kinds[k].key, field->names[n]))
                    Miss("no scene of states.txt has %s of the %s '%s'", s_kinds[k].list, s_kinds[k].key,
                        field->names[n]);
        }
    json_decref(scenes);
}

// ---------------------------------------------------------------------------------------------------------------------
// Characters, exports and the fixed words of the command line

static void CheckWords(const snwGoldenNet* net, const char* verb, const char* name)
{
    char dashed[64], words[256];
    const snwOption* option = snwVerb_Find(verb)->options;
    while (option->name != NULL && strcmp(option->name, name) != 0)
        option++;
    if (option->name == NULL)
        return Miss("sinew %s has no option --%s any more", verb, name);
    snprintf(dashed, sizeof dashed, "--%s", name);
    snprintf(words, sizeof words, "%s", option->words);
    char* rest = words;
    for (char* word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        if (!HasPair(net, verb, dashed, word))
            Miss("no case has sinew %s --%s %s", verb, name, word);
}

bool snwGoldenNet_IsComplete(const snwGoldenNet* net)
{
    s_missing = 0;
    CheckScenes(net);
    CheckKinds(net);
    CheckDifferences(net);
    for (int method = 0; method < snwMethodCount(); ++method)
        CheckMethod(net, method);
    for (int i = 0; i < snwBuiltInCount(); ++i)
        if (!HasPair(net, "character", "character", snwBuiltIn_Get(i)->name))
            Miss("no case of files.txt has character %s", snwBuiltIn_Get(i)->name);
    for (snwExportKind kind = 0; kind < snw_exportKindCount; ++kind)
        if (!HasPair(net, "sim", "--export", snwExportKind_Name(kind)))
            Miss("no case of files.txt has sinew sim --export %s", snwExportKind_Name(kind));
    CheckWords(net, "bake", "format");
    CheckWords(net, "sim", "look");
    CheckWords(net, "render", "look");
    for (int i = 0; i < net->count; ++i)
        if (net->lines[i].recorded.count == 0)
            Miss("%s is not recorded: make golden", net->lines[i].name);
    return s_missing == 0;
}
