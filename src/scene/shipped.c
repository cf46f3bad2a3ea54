// The scenes that come with Sinew: where they are, what they are called, and what a word means where a scene is wanted.

#include "scene/shipped.h"

#include "base/ending.h"
#include "scene/blueprint_file.h"
#include "scene/builtin.h"
#include "scene/cast.h"
#include "scene/words.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_maxNames = 1000,
};

// ---------------------------------------------------------------------------------------------------------------------
// Lists

void snwNames_Free(snwContext* context, snwNames* names)
{
    for (int i = 0; i < names->count; ++i)
    {
        snwFree(context, names->names[i]);
        snwFree(context, names->notes[i]);
    }
    snwFree(context, names->names);
    snwFree(context, names->notes);
    snwFree(context, names->sizes);
    *names = (snwNames){0};
}

bool snwNames_Start(snwContext* context, snwNames* names)
{
    *names = (snwNames){0};
    names->names = snwAllocArray(context, snw_maxNames, sizeof *names->names);
    names->notes = snwAllocArray(context, snw_maxNames, sizeof *names->notes);
    names->sizes = snwAllocArray(context, snw_maxNames, sizeof *names->sizes);
    return names->names != NULL && names->notes != NULL && names->sizes != NULL;
}

// Kept in order.
void snwNames_Add(snwContext* context, snwNames* names, const char* name, const char* note, double size)
{
    if (names->count == snw_maxNames)
        return;
    char *own = snwCopyText(context, name), *ownNote = snwCopyText(context, note);

    // A list for people: without memory it is shorter.
    if (own == NULL || ownNote == NULL)
    {
        snwFree(context, own);
        snwFree(context, ownNote);
        return;
    }

    // Inserted where it belongs; lists are short.
    int at = names->count++;
    for (; at > 0 && strcmp(names->names[at - 1], name) > 0; --at)
    {
        names->names[at] = names->names[at - 1];
        names->notes[at] = names->notes[at - 1];
        names->sizes[at] = names->sizes[at - 1];
    }

    names->names[at] = own;
    names->notes[at] = ownNote;
    names->sizes[at] = size;
}

// ---------------------------------------------------------------------------------------------------------------------
// Scenes

const char* snwScenesFolder(char* buffer, size_t capacity)
{
    const char* chosen = getenv("SINEW_SCENES");
    if (chosen != NULL && chosen[0] != 0)
        snprintf(buffer, capacity, "%s", chosen);
    else if (!snwPathBesideProgram("../share/sinew/scenes", buffer, capacity) || !snwIsFolder(buffer))
        snprintf(buffer, capacity, "%s",
            snwIsFolder(SNW_SOURCE_DIR "/scenes") ? SNW_SOURCE_DIR "/scenes" : SNW_SHARE_DIR "/scenes");
    return buffer;
}

static void AddScene(snwContext* context, const char* folder, const char* file, snwNames* names)
{
    char path[snw_maxPath], name[snw_maxName];
    json_error_t error;
    if (!snwJoinPath(path, sizeof path, folder, file))
        return;
    json_t* document = json_load_file(path, 0, &error);
    const char* description = json_string_value(json_object_get(document, "description"));
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen(".json")), file);
    snwNames_Add(context, names, name, description, 0);
    json_decref(document);
}

void snwScenes_List(snwContext* context, snwNames* names)
{
    char folder[snw_maxPath];
    if (!snwNames_Start(context, names))
        return;
    DIR* list = opendir(snwScenesFolder(folder, sizeof folder));
    for (struct dirent* entry; list != NULL && (entry = readdir(list)) != NULL;)
        if (entry->d_name[0] != '.' && snwHasEnding(entry->d_name, ".json"))
            AddScene(context, folder, entry->d_name, names);
    if (list != NULL)
        closedir(list);
}

bool snwScenes_Find(const char* name, char* path, size_t capacity)
{
    char folder[snw_maxPath], file[snw_maxName + 8];
    if (name[0] == 0 || name[0] == '.' || strlen(name) > snw_maxName || strpbrk(name, "/\\") != NULL)
        return false;
    snprintf(file, sizeof file, "%s.json", name);
    snwScenesFolder(folder, sizeof folder);
    return snwJoinPath(path, capacity, folder, file) && snwFileExists(path);
}

static const char* KnownWord(int index, const void* data)
{
    const snwNames* scenes = data;
    return index < scenes->count ? scenes->names[index] : snwBuiltInWord(index - scenes->count, NULL);
}

snwResult snwScenes_FailUnknown(snwContext* context, const char* name, snwMessage* message)
{
    char remedy[256];
    snwNames scenes = {0};
    snwScenes_List(context, &scenes);
    snwSuggestWord(remedy, sizeof remedy, name, scenes.count + snwBuiltInCount(), KnownWord, &scenes);
    snwNames_Free(context, &scenes);
    return snwFail(
        message, snw_errorInput, remedy, "there is no scene, character or file '%s'", snwQuoteWord(name).text);
}

// ---------------------------------------------------------------------------------------------------------------------
// What a word means

static snwResult OpenShippedFile(
    snwContext* context, const char* path, const snwSceneOptions* options, snwSceneFile* file, snwMessage* message)
{
    char name[snw_maxName];
    snwCast cast;
    const char* slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%s", slash != NULL ? slash + 1 : path);
    char* dot = strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = 0;

    if (snwHasEnding(path, ".snw"))
        return snwCast_OpenPrepared(context, name, path, options, &cast, file, message);
    if (snwBlueprintFile_IsOne(context, path))
        return snwCast_OpenBlueprint(context, name, path, options, &cast, file, message);
    return snwSceneFile_Open(context, path, options, file, message);
}

snwResult snwOpenScene(
    snwContext* context, const char* word, const snwSceneOptions* options, snwSceneFile* file, snwMessage* message)
{
    char path[snw_maxPath];
    snwCast cast;
    *file = (snwSceneFile){0};
    if (snwFileExists(word) || strchr(word, '/') != NULL || strchr(word, '.') != NULL)
        return OpenShippedFile(context, word, options, file, message);
    if (snwScenes_Find(word, path, sizeof path))
        return snwSceneFile_Open(context, path, options, file, message);
    if (snwBuiltIn_Find(word) != NULL)
        return snwCast_OpenBlueprint(context, word, word, options, &cast, file, message);
    return snwScenes_FailUnknown(context, word, message);
}
