// What the sidecar of a picture may say: threshold, islands, size, triangles, handles. Tables with ranges and help.

#include "prepare/flat.h"

#include "scene/file.h"
#include "scene/tables.h"
#include "sim/limits.h"

#define FIELD(T, member, k, t, ...)                                                                                    \
    {                                                                                                                  \
        .key = k, .type = t, .offset = offsetof(T, member), __VA_ARGS__                                                \
    }

enum
{
    snw_maxFlatSidecarBytes = 4 << 20
};

static const char* const s_islandNames[] = {"join", "largest", NULL};

static const snwField s_fields[] = {
    FIELD(snwFlatSettings, format, "sinew", snw_fieldInt, .lower = 1, .upper = 1, .required = true,
        .help = "version of the format"),
    FIELD(snwFlatSettings, schema, "$schema", snw_fieldText, .upper = 1000, .help = "for editors"),
    FIELD(snwFlatSettings, size, "size", snw_fieldReal, .lower = SNW_MIN_SIZE, .upper = 1000, .unit = "m",
        .help = "longest side of what is drawn"),
    FIELD(
        snwFlatSettings, triangles, "elements", snw_fieldInt, .lower = 1, .upper = 1000000, .help = "triangles, about"),
    FIELD(snwFlatSettings, threshold, "threshold", snw_fieldReal, .lower = 0.01, .upper = 1,
        .help = "opacity from which on a pixel belongs to the character"),
    FIELD(snwFlatSettings, tolerance, "tolerance", snw_fieldReal, .upper = 100, .unit = "pixels",
        .help = "how far the outline may be smoothed"),
    FIELD(snwFlatSettings, margin, "margin", snw_fieldReal, .upper = 32, .unit = "pixels",
        .help = "clear rim that the triangles cover, so that they cut nothing off"),
    FIELD(snwFlatSettings, minAngle, "min_angle", snw_fieldReal, .upper = 30, .unit = "degrees",
        .help = "of the triangles"),
    FIELD(snwFlatSettings, islands, "islands", snw_fieldChoice, .names = s_islandNames,
        .help = "what is done with pieces that hang on nothing"),
    FIELD(snwFlatSettings, thickness, "thickness", snw_fieldReal, .lower = SNW_MIN_SIZE, .upper = 1000, .unit = "m",
        .help = "of the sheet: its weight"),
    FIELD(snwFlatSettings, material, "material", snw_fieldObject, .table = &snw_materialTable, .help = "of the flesh"),
    FIELD(snwFlatSettings, handles, "handles", snw_fieldRaw, .help = "how many, or which"),
};

static void InitFlatSettings(void* object, int kind)
{
    (void)kind;
    *(snwFlatSettings*)object = (snwFlatSettings){.size = 1,
        .triangles = 1500,
        .threshold = 0.5,
        .tolerance = 1,
        .margin = 1,
        .minAngle = 25,
        .thickness = snwDefaultCharacterDef().thickness,
        .material = snwDefaultMaterial()};
}

static const snwTable s_table = {"picture", "How a picture becomes a character", SNW_TABLE_FIELDS(s_fields),
    sizeof(snwFlatSettings), NULL, InitFlatSettings};

snwFlatSettings snwDefaultFlatSettings(void)
{
    snwFlatSettings settings;
    InitFlatSettings(&settings, 0);
    settings.file = "";
    return settings;
}

snwResult snwFlatSettings_Open(snwContext* context, const char* path, snwFlatSettings* settings, snwMessage* message)
{
    char* text = NULL;
    size_t size = 0;
    snwResult result = snwFile_Read(context, path, snw_maxFlatSidecarBytes, &text, &size, message);
    if (result < 0)
        return result;
    snwJson json = {.context = context, .message = message, .file = path};
    json_t* document = snwJson_Parse(&json, text, size, &result);
    snwFree(context, text);
    if (document == NULL)
        return result;
    result = snwTable_Read(&json, &s_table, document, settings, NULL);
    settings->document = document;
    settings->file = path;
    return result;
}

void snwFlatSettings_Free(snwFlatSettings* settings)
{
    json_decref(settings->document);
    settings->document = NULL;
}
