// The state of a reader: path, failures, warnings, the files that it may open, and the parse of the text itself.

#define _XOPEN_SOURCE 700 // realpath

#include "scene/fields.h"
#include "scene/file.h"
#include "sinew/tools.h"
#include "scene/words.h"

#include <stdarg.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_maxNesting = 32 // scenes need six
};

snwResult snwJson_Fail(snwJson* json, const char* remedy, const char* format, ...)
{
    char text[sizeof json->message->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snwFail(json->message, snw_errorInput, remedy, "%s", text);
    return snwJson_Locate(json, snw_errorInput);
}

snwResult snwJson_Locate(snwJson* json, snwResult result)
{
    // What is a caller's mistake to the engine is the file's here.
    if (result == snw_errorArgument)
        result = snw_errorInput;
    if (json->message != NULL)
        json->message->result = result;
    if (json->path[0] != 0)
        snwMessage_AddPlace(json->message, "%s", json->path);
    if (json->file != NULL && json->file[0] != 0)
        snwMessage_SetFile(json->message, json->file);
    return result;
}

void snwJson_Warn(snwJson* json, const char* format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (json->context != NULL)
        snwLogText(json->context, snw_logWarning, "%s: %s: %s", json->file, json->path, text);
    if (json->warnings++ > 0)
        return; // the message keeps the first
    snwFail(json->message, snw_warning, NULL, "%s", text);
    snwJson_Locate(json, snw_warning);
}

size_t snwJson_Enter(snwJson* json, const char* key)
{
    size_t mark = strlen(json->path);
    snprintf(json->path + mark, sizeof json->path - mark, "%s%s", mark > 0 ? "." : "", snwQuoteWord(key).text);
    return mark;
}

size_t snwJson_EnterIndex(snwJson* json, size_t index)
{
    size_t mark = strlen(json->path);
    snprintf(json->path + mark, sizeof json->path - mark, "[%zu]", index);
    return mark;
}

void snwJson_Leave(snwJson* json, size_t mark)
{
    json->path[mark] = 0;
}

const char* snwJson_TypeName(const json_t* value)
{
    switch (json_typeof(value))
    {
        case JSON_OBJECT:
            return "an object";
        case JSON_ARRAY:
            return "a list";
        case JSON_STRING:
            return "a text";
        case JSON_INTEGER:
        case JSON_REAL:
            return "a number";
        case JSON_TRUE:
        case JSON_FALSE:
            return "true or false";
        case JSON_NULL:
            break;
    }

    return "null";
}

// path has its links followed; what is not there lies nowhere.
static bool IsBehindWall(const snwWall* wall, const char* path)
{
    char folder[PATH_MAX], guest[PATH_MAX];
    if (realpath(wall->folder, folder) == NULL)
        return false;
    size_t length = strlen(folder);
    bool below = strncmp(path, folder, length) == 0 && (path[length] == '/' || strcmp(folder, "/") == 0);
    bool invited = wall->guest != NULL && wall->guest[0] != 0 && realpath(wall->guest, guest) != NULL &&
                   strcmp(path, guest) == 0;
    return below || invited;
}

snwResult snwJson_FindFile(snwJson* json, const char* file, char* path)
{
    char found[PATH_MAX];
    snwPathBeside(file, json->file, path);
    if (json->wall == NULL)
        return snw_ok;
    // Whether a file outside is there is nobody's business either.
    if (realpath(path, found) == NULL || !IsBehindWall(json->wall, found))
        return snwJson_Fail(json, "put it into the folder", "'%s' is not in the folder", snwQuoteWord(file).text);
    snprintf(path, PATH_MAX, "%s", found);
    return snw_ok;
}

// jansson allows 2048 levels; fewer keep recursion small and hostile files quick to refuse.
static bool TooDeep(const char* text, size_t size)
{
    int depth = 0;

    // Brackets outside of texts; what is quoted does not count.
    bool quoted = false;
    for (size_t i = 0; i < size; ++i)
    {
        char c = text[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            depth++;
        else if (!quoted && (c == '}' || c == ']'))
            depth--;

        if (depth > snw_maxNesting)
            return true;
    }

    return false;
}

// What people most often do wrong, by the words with which jansson stumbles over it; the first that fits counts.
static const char* SyntaxRemedy(const json_error_t* error)
{
    static const struct
    {
        const char *words, *remedy;
    } s_hints[] = {
        {" near '/", "JSON has no comments: remove it"},
        {" near '#", "JSON has no comments: remove it"},
        {" near ''", "texts and keys stand in double quotes"},
        {"string or '}' expected near '}'", "remove the comma before it: nothing follows"},
        {"string or '}' expected near", "keys stand in double quotes"},
        {"unexpected token near ']'", "remove the comma before it: nothing follows"},
        {"'}' expected near end of file", "close every { with a }"},
        {"']' expected near end of file", "close every [ with a ]"},
        {"'}' expected near", "is a comma missing before it?"},
        {"']' expected near", "is a comma missing before it?"},
        {"invalid token near '.", "numbers begin with a digit: 0.5"},
        {"invalid token near '+", "numbers have no plus sign"},
        {"invalid token near", "texts and keys stand in double quotes"},
    };

    if (json_error_code(error) == json_error_duplicate_key)
        return "each key may occur once in an object";
    for (size_t i = 0; i < sizeof s_hints / sizeof s_hints[0]; ++i)
        if (strstr(error->text, s_hints[i].words) != NULL)
            return s_hints[i].remedy;

    return NULL;
}

static snwResult FailSyntax(snwJson* json, const json_error_t* error)
{
    if (json_error_code(error) == json_error_out_of_memory)
        return snwJson_Locate(json, snwFailMemory(json->message));
    snwFail(json->message, snw_errorInput, SyntaxRemedy(error), "%s", snwQuoteWord(error->text).text);
    if (error->line > 0 && json->path[0] != 0) // the path names the line already
    {
        snwMessage_AddPlace(json->message, "%s, column %d", json->path, error->column);
        json->path[0] = 0;
    }
    else if (error->line > 0)
        snwMessage_AddPlace(json->message, "line %d, column %d", error->line, error->column);
    return snwJson_Locate(json, snw_errorInput);
}

json_t* snwJson_Parse(snwJson* json, const char* text, size_t size, snwResult* result)
{
    static const char s_byteOrderMark[] = "\xEF\xBB\xBF"; // some editors write one
    if (size >= 3 && memcmp(text, s_byteOrderMark, 3) == 0)
    {
        text += 3;
        size -= 3;
    }
    if (TooDeep(text, size))
    {
        *result = snwJson_Fail(json, NULL, "nested deeper than %d levels", snw_maxNesting);
        return NULL;
    }
    json_error_t error;
    json_t* root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    *result = root != NULL ? snw_ok : FailSyntax(json, &error);
    return root;
}

void* snwJson_NewList(
    snwJson* json, snwArena* arena, const char* key, const json_t* list, int limit, size_t size, snwResult* result)
{
    if (list == NULL || *result < 0)
        return NULL;
    size_t mark = snwJson_Enter(json, key), count = json_array_size(list);
    void* items = NULL;
    if (!json_is_array(list))
        *result = snwJson_Fail(json, NULL, "must be a list, is %s", snwJson_TypeName(list));
    else if (count > (size_t)limit)
        *result = snwJson_Fail(json, NULL, "has %zu items; at most %d are read", count, limit);
    else if (count > 0 && (items = snwArena_Alloc(arena, count, size)) == NULL)
        *result = snwJson_Locate(json, snwFailMemory(json->message));
    snwJson_Leave(json, mark);
    return items;
}
