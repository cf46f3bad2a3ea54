// The published schema of scene files, made from the tables that read them and from the methods' parameters.

#include "scene/blueprint_tables.h"
#include "scene/characters.h"
#include "scene/flat_file.h"
#include "scene/gestures.h"
#include "scene/material_changes.h"
#include "scene/names.h"

#include <stdio.h>
#include <string.h>

static void PutSchemaText(snwText* text, const char* key, const char* value)
{
    snwText_Key(text, key);
    snwText_String(text, value);
}

static void PutSchemaReal(snwText* text, const char* key, double value)
{
    snwText_Key(text, key);
    snwText_Real(text, value);
}

static void Describe(snwText* text, const char* help, const char* unit)
{
    char words[512];
    snprintf(words, sizeof words, unit != NULL && unit[0] != 0 ? "%s [%s]" : "%s", help, unit);
    PutSchemaText(text, "description", words);
}

static void Reference(snwText* text, const char* title)
{
    char path[64];
    snprintf(path, sizeof path, "#/$defs/%s", title);
    PutSchemaText(text, "$ref", path);
}

static void Enum(snwText* text, const char* const* names)
{
    snwText_Key(text, "enum");
    snwText_Open(text, '[');
    for (int i = 0; names[i] != NULL; ++i)
        snwText_String(text, names[i]);
    snwText_Close(text, ']');
}

static void Range(snwText* text, double lower, double upper)
{
    if (lower == 0 && upper == 0)
        return;
    PutSchemaReal(text, "minimum", lower);
    PutSchemaReal(text, "maximum", upper);
}

static void NumberList(snwText* text, const char* type, const snwField* field, int count)
{
    PutSchemaText(text, "type", "array");
    snwText_Key(text, "items");
    snwText_Open(text, '{');
    PutSchemaText(text, "type", type);
    Range(text, field->lower, field->upper);
    snwText_Close(text, '}');
    PutSchemaReal(text, "minItems", count);
    PutSchemaReal(text, "maxItems", count);
}

// oneOf the field's own form and another; both are written by the caller between these two.
static void OpenOneOf(snwText* text)
{
    snwText_Key(text, "oneOf");
    snwText_Open(text, '[');
    snwText_Open(text, '{');
}

static void NextOneOf(snwText* text)
{
    snwText_Close(text, '}');
    snwText_Open(text, '{');
}

static void CloseOneOf(snwText* text)
{
    snwText_Close(text, '}');
    snwText_Close(text, ']');
}

static void WriteMaskType(snwText* text, const snwField* field)
{
    OpenOneOf(text);
    PutSchemaText(text, "type", "array");
    snwText_Key(text, "items");
    snwText_Open(text, '{');
    Enum(text, field->names);
    snwText_Close(text, '}');
    NextOneOf(text);
    PutSchemaText(text, "type", "integer");
    CloseOneOf(text);
}

static void WriteColorType(snwText* text, const snwField* field)
{
    OpenOneOf(text);
    PutSchemaText(text, "type", "string");
    PutSchemaText(text, "pattern", "^#[0-9a-fA-F]{6}$");
    NextOneOf(text);
    NumberList(text, "number", field, 3);
    CloseOneOf(text);
}

static void WriteParamSchema(snwText* text, const snwParamInfo* info)
{
    snwText_Open(text, '{');
    Describe(text, info->help, info->unit);
    if (info->type == snw_paramBool)
        PutSchemaText(text, "type", "boolean");
    else if (info->type == snw_paramChoice)
        Enum(text, info->choices);
    else
    {
        PutSchemaText(text, "type", info->type == snw_paramInt ? "integer" : "number");
        Range(text, info->lower, info->upper);
    }
    snwText_Key(text, "default");
    snwParam_WriteValue(text, info, info->initial);
    snwText_Close(text, '}');
}

// Parameters that methods share appear once.
static bool IsListed(int method, int param)
{
    const char* name = snwMethod_GetParam(method, param)->name;
    for (int i = 0; i < method; ++i)
        if (snwParam_Find(i, name) >= 0)
            return true;
    return false;
}

static void WriteSchemaSettings(snwText* text)
{
    PutSchemaText(text, "type", "object");
    snwText_Key(text, "additionalProperties");
    snwText_Bool(text, false);
    snwText_Key(text, "properties");
    snwText_Open(text, '{');
    for (int method = 0; method < snwMethodCount(); ++method)
        for (int i = 0; i < snwMethod_GetInfo(method).paramCount; ++i)
        {
            if (IsListed(method, i))
                continue;
            snwText_Key(text, snwMethod_GetParam(method, i)->name);
            WriteParamSchema(text, snwMethod_GetParam(method, i));
        }
    snwText_Close(text, '}');
}

static void WriteSchemaMethods(snwText* text)
{
    snwText_Key(text, "enum");
    snwText_Open(text, '[');
    for (int i = 0; i < snwMethodCount(); ++i)
        snwText_String(text, snwMethod_GetInfo(i).name);
    snwText_Close(text, ']');
}

static void WriteTypes(snwText* text, const char* const* types)
{
    snwText_Key(text, "type");
    snwText_Open(text, '[');
    for (; *types != NULL; ++types)
        snwText_String(text, *types);
    snwText_Close(text, ']');
}

// Lists of lists of numbers, of numbers, or of names.
static void WriteLists(snwText* text, const char* items)
{
    PutSchemaText(text, "type", "array");
    snwText_Key(text, "items");
    snwText_Open(text, '{');
    PutSchemaText(text, "type", items);
    if (strcmp(items, "array") == 0)
    {
        snwText_Key(text, "items");
        snwText_Open(text, '{');
        WriteTypes(text, (const char* const[]){"number", "string", NULL}); // "corner" of a curve
        snwText_Close(text, '}');
    }
    snwText_Close(text, '}');
}

static void WriteRawType(snwText* text, const snwField* field)
{
    // What a field's own reader accepts, by the word that the table gives it.
    if (strcmp(field->schema, "list") == 0)
    {
        PutSchemaText(text, "type", "array");
        snwText_Key(text, "items");
        snwText_Open(text, '{');
        Reference(text, field->table->title);
        snwText_Close(text, '}');
    }
    else if (strcmp(field->schema, "characters") == 0)
    {
        PutSchemaText(text, "type", "object");
        snwText_Key(text, "additionalProperties");
        snwText_Open(text, '{');
        Reference(text, "character");
        snwText_Close(text, '}');
    }
    else if (strcmp(field->schema, "character") == 0)
    {
        OpenOneOf(text);
        PutSchemaText(text, "type", "string");
        NextOneOf(text);
        Reference(text, "character");
        CloseOneOf(text);
    }
    else if (strcmp(field->schema, "blueprint") == 0)
    {
        OpenOneOf(text);
        PutSchemaText(text, "type", "string");
        NextOneOf(text);
        Reference(text, "blueprint");
        CloseOneOf(text);
    }
    else if (strcmp(field->schema, "points") == 0)
        WriteLists(text, "array");
    else if (strcmp(field->schema, "numbers") == 0 || strcmp(field->schema, "point") == 0)
        WriteLists(text, "number");
    else if (strcmp(field->schema, "names") == 0)
        WriteLists(text, "string");
    else if (strcmp(field->schema, "settings") == 0)
        WriteSchemaSettings(text);
    else if (strcmp(field->schema, "setting") == 0)
        WriteTypes(text, (const char* const[]){"number", "boolean", "string", NULL});
    else if (strcmp(field->schema, "index") == 0)
        WriteTypes(text, (const char* const[]){"string", "integer", NULL});
    else
        Reference(text, field->table->title);
}

static void WriteType(snwText* text, const snwField* field)
{
    // One word of JSON Schema for each type of field.
    switch (field->type)
    {
        case snw_fieldReal:
        case snw_fieldInt:
            PutSchemaText(text, "type", field->type == snw_fieldReal ? "number" : "integer");
            Range(text, field->lower, field->upper);
            break;
        case snw_fieldU64:
            PutSchemaText(text, "type", "integer");
            PutSchemaReal(text, "minimum", 0);
            break;
        case snw_fieldBool:
            PutSchemaText(text, "type", "boolean");
            break;
        case snw_fieldText:
            PutSchemaText(text, "type", "string");
            if (field->schema != NULL)
                WriteSchemaMethods(text);
            break;
        case snw_fieldChoice:
            Enum(text, field->names);
            break;
        case snw_fieldMask:
            WriteMaskType(text, field);
            break;
        case snw_fieldVec3:
        case snw_fieldAngles:
            NumberList(text, "number", field, 3);
            break;
        case snw_fieldInt3:
            NumberList(text, "integer", field, 3);
            break;
        case snw_fieldRotation:
            NumberList(text, "number", field, 4);
            break;
        case snw_fieldColor:
            WriteColorType(text, field);
            break;
        case snw_fieldObject:
            Reference(text, field->table->title);
            break;
        case snw_fieldRaw:
            WriteRawType(text, field);
            break;
        case snw_fieldWord:
            Enum(text, field->names);
            break;
        case snw_fieldScale:
            PutSchemaText(text, "type", "number");
            Range(text, field->lower, field->upper);
            break;
    }
}

static bool HasDefault(const snwField* field, const char* object)
{
    const char* word = NULL;
    if (field->words != NULL || field->required || field->type == snw_fieldAngles || field->type == snw_fieldRaw)
        return false;
    if (field->type == snw_fieldText)
        memcpy(&word, object + field->offset, sizeof word);
    return field->type != snw_fieldText || word != NULL;
}

static void WriteProperty(snwText* text, const snwTable* table, const snwField* field, int kind, const void* defaults)
{
    snwText_Key(text, field->key);
    snwText_Open(text, '{');
    Describe(text, field->help, field->unit);
    if (kind >= 0 && strcmp(field->key, table->variant) == 0)
        PutSchemaText(text, "const", field->names[kind]);
    else
        WriteType(text, field);
    if (HasDefault(field, defaults))
    {
        snwText_Key(text, "default");
        snwField_Write(text, field, defaults);
    }
    snwText_Close(text, '}');
}

// defaults: room for the table's struct.
static void WriteObject(snwText* text, const snwTable* table, int kind, void* defaults)
{
    // Defaults come from the table's own init, so they cannot differ from what reading does.
    memset(defaults, 0, table->size);
    if (table->init != NULL)
        table->init(defaults, kind);
    PutSchemaText(text, "type", "object");
    snwText_Key(text, "additionalProperties");
    snwText_Bool(text, false);
    snwText_Key(text, "properties");
    snwText_Open(text, '{');
    for (int i = 0; i < table->count; ++i)
        if (snwField_Belongs(&table->fields[i], kind))
            WriteProperty(text, table, &table->fields[i], kind, defaults);
    snwText_Close(text, '}');

    // The keys that must be there.
    snwText_Key(text, "required");
    snwText_Open(text, '[');
    for (int i = 0; i < table->count; ++i)
        if (table->fields[i].required && snwField_Belongs(&table->fields[i], kind))
            snwText_String(text, table->fields[i].key);
    snwText_Close(text, ']');
}

// An object, or a word instead of it.
static void WriteWordOr(snwText* text, const snwTable* table, void* defaults)
{
    const snwField* word = NULL;
    for (int i = 0; i < table->count && word == NULL; ++i)
        word = table->fields[i].type == snw_fieldWord ? &table->fields[i] : NULL;
    if (word == NULL)
    {
        WriteObject(text, table, -1, defaults);
        return;
    }
    OpenOneOf(text);
    Enum(text, word->names);
    NextOneOf(text);
    WriteObject(text, table, -1, defaults);
    CloseOneOf(text);
}

static void WriteTableSchema(snwText* text, const snwTable* table, void* defaults)
{
    const snwField* variant = snwTable_Variant(table);
    PutSchemaText(text, "description", table->help);
    if (variant == NULL)
    {
        WriteWordOr(text, table, defaults);
        return;
    }

    // One object per kind, each with its own keys.
    snwText_Key(text, "oneOf");
    snwText_Open(text, '[');
    for (int kind = 0; variant->names[kind] != NULL; ++kind)
    {
        if (table == &snw_propTable && kind == snw_colliderPlane)
            continue; // a plane cannot move freely
        snwText_Open(text, '{');
        PutSchemaText(text, "title", variant->names[kind]);
        WriteObject(text, table, kind, defaults);
        snwText_Close(text, '}');
    }

    snwText_Close(text, ']');
}

static void WriteCharacterDef(snwText* text)
{
    snwText_Key(text, "character");
    snwText_Open(text, '{');
    PutSchemaText(text, "description", "What a body is made of");
    snwText_Key(text, "oneOf");
    snwText_Open(text, '[');
    for (int i = 0; i < snw_characterFormCount; ++i)
    {
        snwText_Open(text, '{');
        Reference(text, snw_characterForms[i].table->title);
        snwText_Close(text, '}');
    }
    snwText_Close(text, ']');
    snwText_Close(text, '}');
}

static const snwTable* const s_tables[] = {&snw_materialTable, &snw_materialChangeTable, &snw_bodyTable,
    &snw_colliderTable, &snw_propTable, &snw_frictionTable, &snw_pinTable, &snw_clipTable, &snw_keyTable,
    &snw_commandTable, &snw_gestureTable, &snw_cameraTable, &snw_sceneTable, &snw_blueprintTable,
    &snw_blueprintSizeTable, &snw_boxTable, &snw_boneTable, &snw_boneShapeTable, &snw_jointTable, &snw_partTable,
    &snw_ribbonTable, &snw_handleTable, &snw_motionTable, &snw_trackTable, &snw_flatRingTable, &snw_paintTable,
    &snw_gradientTable};

enum
{
    snw_tableCount = sizeof s_tables / sizeof s_tables[0]
};

static const snwTable* GetTable(int index)
{
    return index < snw_tableCount ? s_tables[index] : snw_characterForms[index - snw_tableCount].table;
}

static void WriteDefs(snwText* text, void* defaults)
{
    snwText_Key(text, "$defs");
    snwText_Open(text, '{');
    WriteCharacterDef(text);
    for (int i = 0; i < snw_tableCount + snw_characterFormCount; ++i)
    {
        if (GetTable(i) == &snw_sceneTable)
            continue;
        snwText_Key(text, GetTable(i)->title);
        snwText_Open(text, '{');
        WriteTableSchema(text, GetTable(i), defaults);
        snwText_Close(text, '}');
    }
    snwText_Close(text, '}');
}

// Room for the struct of any table.
static void* NewDefaults(snwContext* context)
{
    size_t size = 0;
    for (int i = 0; i < snw_tableCount + snw_characterFormCount; ++i)
        size = GetTable(i)->size > size ? GetTable(i)->size : size;
    return snwAlloc(context, size);
}

snwResult snwSceneFile_Schema(snwContext* context, char** out, size_t* size, snwMessage* message)
{
    snwText text = snwCreateText(context, 7);
    void* defaults = NewDefaults(context);
    *out = NULL;
    *size = 0;
    if (defaults == NULL)
        return snwFailMemory(message);

    // The root object, then whatever it refers to.
    snwText_Open(&text, '{');
    PutSchemaText(&text, "$schema", "https://json-schema.org/draft/2020-12/schema");
    PutSchemaText(&text, "title", "Sinew scene");
    WriteTableSchema(&text, &snw_sceneTable, defaults);
    WriteDefs(&text, defaults);
    snwText_Close(&text, '}');
    snwText_Raw(&text, "\n", 1);
    snwFree(context, defaults);
    if (text.failed)
    {
        snwText_Free(&text);
        return snwFailMemory(message);
    }

    *out = text.data;
    *size = text.size;
    return snw_ok;
}
