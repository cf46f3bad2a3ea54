#define _XOPEN_SOURCE 700 // realpath
#include "scene/prepared_file.h"

#include "scene/file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void InitNothing(void* object, int kind)
{
    (void)object;
    (void)kind;
}

static const snwField s_fields[] = {
    {.key = "file",
        .type = snw_fieldText,
        .offset = offsetof(snwPreparedUse, file),
        .upper = 4000,
        .required = true,
        .help = "what sinew prep made; beside the scene unless it begins at the root"},
    {.key = "checksum",
        .type = snw_fieldText,
        .offset = offsetof(snwPreparedUse, checksum),
        .help = "that it must have; logs write it down"},
};

const snwTable snw_preparedUseTable = {
    "prepared", "A prepared character", SNW_TABLE_FIELDS(s_fields), sizeof(snwPreparedUse), NULL, InitNothing};

// Room for PATH_MAX bytes.
static void FindPath(const char* file, const char* beside, char* path)
{
    char joined[PATH_MAX];
    const char* slash = strrchr(beside, '/');
    int folder = file[0] == '/' || slash == NULL ? 0 : (int)(slash - beside) + 1;
    snprintf(joined, sizeof joined, "%.*s%s", folder, beside, file);
    if (realpath(joined, path) == NULL)
        snprintf(path, PATH_MAX, "%s", joined);
}

typedef struct Wanted
{
    const char* path;
    const char* name;
    const char* source;   // NULL: the character's own
    const char* checksum; // NULL: any
} Wanted;

static void FormatChecksum(uint64_t checksum, char text[20])
{
    snprintf(text, 20, "%016" PRIx64, checksum);
}

static snwResult Open(snwContext* context, const Wanted* wanted, snwPrepared** prepared, snwMessage* message)
{
    char* data = NULL;
    size_t size = 0;
    *prepared = NULL;
    snwResult result = snwFile_Read(context, wanted->path, snw_maxPreparedBytes, &data, &size, message);
    if (result >= 0)
        result = snwPrepared_LoadAs(context, data, size, wanted->name, wanted->source, prepared, message);
    snwFree(context, data);
    if (result >= 0 && wanted->checksum != NULL)
    {
        char text[20];
        FormatChecksum((*prepared)->info.checksum, text);
        if (strcmp(text, wanted->checksum) != 0)
            result = snwFail(message, snw_errorInput, "prepare it as it was, or take the checksum out",
                "it has changed: its checksum is %s, not %.20s", text, wanted->checksum);
    }
    if (result < 0)
    {
        snwPrepared_Release(*prepared);
        *prepared = NULL;
        snwMessage_SetFile(message, wanted->path);
    }
    return result;
}

snwResult snwPrepared_Open(snwContext* context, const char* path, snwPrepared** prepared, snwMessage* message)
{
    Wanted wanted = {path, NULL, NULL, NULL};
    return Open(context, &wanted, prepared, message);
}

// The checksum is known only when the file was read; it is read twice, which is a matter of milliseconds.
snwResult snwPreparedUse_Open(snwJson* json, const char* name, const snwPreparedUse* use, snwPrepared** prepared)
{
    char path[PATH_MAX], checksum[20];
    FindPath(use->file, json->file, path);
    Wanted wanted = {path, name, NULL, use->checksum};
    snwResult result = Open(json->context, &wanted, prepared, json->message);
    if (result < 0)
        return result;
    FormatChecksum((*prepared)->info.checksum, checksum);
    snwPrepared_Release(*prepared);
    *prepared = NULL;
    snwText source = snwCreateText(json->context, 0);
    snwText_Open(&source, '{');
    snwText_Key(&source, "file");
    snwText_String(&source, path);
    snwText_Key(&source, "checksum");
    snwText_String(&source, checksum);
    snwText_Close(&source, '}');
    wanted.source = source.data;
    wanted.checksum = checksum;
    result = source.failed ? snwFailMemory(json->message) : Open(json->context, &wanted, prepared, json->message);
    snwText_Free(&source);
    return result;
}

snwResult snwPrepared_OfCharacter(snwContext* context, const char* source, snwPrepared** prepared, snwMessage* message)
{
    *prepared = NULL;
    snwJson json = {.context = context, .file = ""};
    snwResult result = snw_ok;
    json_t* document = source != NULL && source[0] == '{' ? snwJson_Parse(&json, source, strlen(source), &result)
                                                          : NULL;
    const char* file = json_string_value(json_object_get(document, "file"));
    Wanted wanted = {file, NULL, source, json_string_value(json_object_get(document, "checksum"))};
    result = file != NULL ? Open(context, &wanted, prepared, message) : snw_ok;
    json_decref(document);
    return result;
}
