// Prepared characters that scenes name by file: opened, held to the checksum that the scene remembers, and given the
// text that finds them again.

#include "scene/prepared_file.h"

#include "scene/constraints_file.h"
#include "scene/file.h"
#include "scene/material_changes.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

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
    {.key = "fine",
        .type = snw_fieldInt,
        .offset = offsetof(snwPreparedUse, fine),
        .upper = 64,
        .help = "of a flat character: what is shown has so many times as many triangles; 0: as many"},
    {.key = "constraints",
        .type = snw_fieldRaw,
        .offset = offsetof(snwPreparedUse, constraints),
        .schema = "list",
        .table = &snw_constraintTable,
        .help = "between degrees of freedom of its handles, beside its own"},
    {.key = "materials",
        .type = snw_fieldRaw,
        .offset = offsetof(snwPreparedUse, materials),
        .schema = "list",
        .table = &snw_materialChangeTable,
        .help = "what is other than it was prepared with, also of one region; the last of two counts"},
};

const snwTable snw_preparedUseTable = {
    "prepared", "A prepared character", SNW_TABLE_FIELDS(s_fields), sizeof(snwPreparedUse), NULL, NULL};

typedef struct Wanted
{
    const char* path;
    const char* name;     // of the character; NULL: its own
    const char* checksum; // NULL: any
    bool tell;            // the character's source says where it came from
    int fine;             // and how finely it is shown
} Wanted;

static void FormatChecksum(uint64_t checksum, char text[20])
{
    snprintf(text, 20, "%016" PRIx64, checksum);
}

static snwText MakeSource(snwContext* context, const Wanted* wanted, const char* checksum)
{
    snwText source = snwCreateText(context, 0);
    snwText_Open(&source, '{');
    snwText_Key(&source, "file");
    snwText_String(&source, wanted->path);
    snwText_Key(&source, "checksum");
    snwText_String(&source, checksum);
    if (wanted->fine > 0)
    {
        snwText_Key(&source, "fine");
        snwText_Int(&source, wanted->fine);
    }
    snwText_Close(&source, '}');
    return source;
}

static snwResult LoadPrepared(snwContext* context, const Wanted* wanted, const char* data, size_t size,
    snwPrepared** prepared, snwMessage* message)
{
    char checksum[20];
    FormatChecksum(snwPrepared_PeekChecksum(data, size), checksum);
    if (snwPrepared_IsOne(data, size) && wanted->checksum != NULL && strcmp(checksum, wanted->checksum) != 0)
        return snwFail(message, snw_errorInput, "prepare it as it was, or take the checksum out",
            "it has changed: its checksum is %s, not %.20s", checksum, wanted->checksum);

    // A likely mistake gets a hint of its own.
    if (size > 4 && memcmp(data, "\x89PNG", 4) == 0)
        return snwFail(message, snw_errorInput, "sinew prep PICTURE.png -o NAME.snw makes a character of it",
            "this is a picture, not a prepared character");
    if (!wanted->tell)
        return snwPrepared_LoadAs(context, data, size, wanted->name, NULL, prepared, message);
    snwText source = MakeSource(context, wanted, checksum);

    // With a source the character can be written into a scene again.
    snwResult result = source.failed
                           ? snwFailMemory(message)
                           : snwPrepared_LoadAs(context, data, size, wanted->name, source.data, prepared, message);
    snwText_Free(&source);

    return result;
}

static snwResult OpenWanted(snwContext* context, const Wanted* wanted, snwPrepared** prepared, snwMessage* message)
{
    char* data = NULL;
    size_t size = 0;
    *prepared = NULL;
    snwResult result = snwFile_Read(context, wanted->path, snw_maxPreparedBytes, &data, &size, message);
    if (result >= 0)
        result = LoadPrepared(context, wanted, data, size, prepared, message);
    snwFree(context, data);
    if (result < 0)
        snwMessage_SetFile(message, wanted->path);
    return result;
}

snwResult snwPrepared_Open(snwContext* context, const char* path, snwPrepared** prepared, snwMessage* message)
{
    Wanted wanted = {.path = path};
    return OpenWanted(context, &wanted, prepared, message);
}

snwResult snwPreparedUse_Open(snwJson* json, const char* name, const snwPreparedUse* use, snwPrepared** prepared)
{
    char path[PATH_MAX];
    snwResult result = snwJson_FindFile(json, use->file, path);
    if (result < 0)
        return result;
    Wanted wanted = {path, name, use->checksum, true, use->fine};
    return OpenWanted(json->context, &wanted, prepared, json->message);
}

snwResult snwPrepared_OfCharacter(snwContext* context, const char* source, snwPrepared** prepared, snwMessage* message)
{
    *prepared = NULL;
    snwJson json = {.context = context, .file = ""};
    snwResult result = snw_ok;
    json_t* document = source != NULL && source[0] == '{' ? snwJson_Parse(&json, source, strlen(source), &result)
                                                          : NULL;
    const char* file = json_string_value(json_object_get(document, "file"));
    Wanted wanted = {.path = file, .checksum = json_string_value(json_object_get(document, "checksum"))};
    result = file != NULL ? OpenWanted(context, &wanted, prepared, message) : snw_ok;
    json_decref(document);
    return result;
}
