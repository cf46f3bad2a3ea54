// Character objects of scenes, read and written: simple shapes, blueprints, prepared files. Every character carries
// the text that makes it again, so that scenes can be saved.

#include "scene/characters.h"
#include "scene/blueprint_file.h"
#include "scene/builtin.h"
#include "scene/constraints_file.h"
#include "scene/material_changes.h"
#include "scene/prepared_file.h"
#include "scene/words.h"

#include <math.h>
#include <string.h>

enum
{
    snw_bytesPerTet = 250, // of a character and its state, measured: blocks and figures, of 1 to 2.4 million
    snw_defaultGibs = 2,
};

int64_t snwCharacter_TetsOfMemory(double memory)
{
    double tets = (memory > 0 ? memory : snw_defaultGibs) * (1 << 30) / snw_bytesPerTet;
    return tets < snw_maxTets ? (int64_t)tets : snw_maxTets;
}

snwResult snwCharacter_FailTooLarge(snwJson* json, int64_t tets)
{
    return snwJson_Fail(json, "ask for fewer elements; or --memory GIB, up to 5",
        "%.1f million tetrahedra would take %.1f GiB, more than is left for bodies", (double)tets * 1e-6,
        (double)tets * snw_bytesPerTet / (1 << 30));
}

// A ball of n cells across, n even, has n^3 tets; each cell of a box has six.
static int64_t TetCount(const snwShapeDef* def)
{
    if (def->kind == snw_shapeSpring)
        return 0;
    int64_t across = (def->cells[0] + 1) / 2 * 2;
    return def->kind == snw_shapeBall ? across * across * across
                                      : 6 * (int64_t)def->cells[0] * def->cells[1] * def->cells[2];
}

static snwResult CreateShape(snwJson* json, const char* name, void* data, int64_t* tets, snwCharacter** character)
{
    snwShapeDef* def = data;
    if (TetCount(def) > *tets)
        return snwCharacter_FailTooLarge(json, TetCount(def));

    // The text is what a file needs to make this character again; the engine carries it along.
    snwText source = snwCreateText(json->context, 0);
    snwText_Open(&source, '{');
    snwTable_Write(&source, &snw_shapeTable, def);
    snwText_Close(&source, '}');
    def->name = name;
    def->source = source.data;
    snwResult result = source.failed ? snwFailMemory(json->message)
                                     : snwCreateShape(json->context, def, character, json->message);
    snwText_Free(&source);
    if (result < 0)
        return snwJson_Locate(json, result);
    *tets -= snwCharacter_GetInfo(*character).tetCount;

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Blueprints

// A built-in one by name, or what the scene itself holds.
static snwResult OpenSceneBlueprint(snwJson* json, const json_t* value, snwBlueprintFile* file)
{
    if (json_is_object(value))
        return snwBlueprintFile_FromJson(json, value, file);
    *file = (snwBlueprintFile){0};
    const char* name = json_string_value(value);
    const snwBuiltIn* builtIn = name != NULL ? snwBuiltIn_Find(name) : NULL;
    if (builtIn != NULL)
        return snwBlueprintFile_Read(json->context, name, builtIn->text, builtIn->size, file, json->message);
    if (name == NULL)
        return snwJson_Fail(json, NULL, "must be a name or an object, is %s", snwJson_TypeName(value));
    char remedy[240];
    snwSuggestWord(remedy, sizeof remedy, name, snwBuiltInCount(), snwBuiltInWord, NULL);
    return snwJson_Fail(json, remedy, "there is no built-in character '%s'", snwQuoteWord(name).text);
}

// Only what is given changes.
static snwResult MixMaterial(snwJson* json, const json_t* value, snwMaterial* material)
{
    if (value == NULL)
        return snw_ok;
    snwMaterial given;
    uint64_t seen = 0;
    size_t mark = snwJson_Enter(json, "material");
    snwResult result = snwTable_Read(json, &snw_materialTable, value, &given, &seen);
    if (result < 0)
        return result;
    snwJson_Leave(json, mark);
    for (int i = 0; i < snw_materialTable.count; ++i)
        if ((seen >> i & 1) != 0)
        {
            size_t offset = snw_materialTable.fields[i].offset;
            memcpy((char*)material + offset, (const char*)&given + offset, sizeof(double));
        }
    return snw_ok;
}

// An object or a list as it was read.
static void WriteValue(snwText* text, const json_t* value)
{
    size_t size = json_dumpb(value, NULL, 0, JSON_COMPACT);
    char* inner = snwAlloc(text->context, size + 1);
    text->failed = text->failed || inner == NULL || size == 0;
    if (inner != NULL)
        json_dumpb(value, inner, size, JSON_COMPACT);
    snwText_Json(text, inner != NULL ? inner : "null");
    snwFree(text->context, inner);
}

static void WriteBlueprintUse(snwText* text, const snwBlueprintUse* use, const snwMaterial* material)
{
    // The text that makes the same character again, with all that matters spelled out.
    snwText_Open(text, '{');
    snwText_Key(text, "blueprint");
    if (json_is_string(use->blueprint))
        snwText_String(text, json_string_value(use->blueprint));
    else
        WriteValue(text, use->blueprint);

    snwText_Key(text, "size");
    snwText_Open(text, '{');
    snwTable_Write(text, &snw_blueprintSizeTable, &use->size);
    snwText_Close(text, '}');
    if (use->fine > 0)
    {
        snwText_Key(text, "fine");
        snwText_Int(text, use->fine);
    }

    if (use->constraints != NULL)
    {
        snwText_Key(text, "constraints");
        WriteValue(text, use->constraints);
    }

    snwText_Key(text, "material");
    snwText_Open(text, '{');
    snwTable_Write(text, &snw_materialTable, material);
    snwText_Close(text, '}');
    snwText_Close(text, '}');
}

static bool AsksForNothing(const snwBlueprintSize* size)
{
    static const snwBlueprintSize s_nothing = {0};
    return memcmp(size, &s_nothing, sizeof *size) == 0; // ints only, no padding
}

// What was asked for, in tetrahedra: a lattice has six per vertex, and a skin of n vertices has at least n^1.5 / 10
// inside, whatever the figure.
static int64_t ExpectedTets(const snwBlueprintSize* size)
{
    double most = fmax(size->tets, fmax(size->hexes, size->triangles));
    most = fmax(most, 6.0 * fmax(size->vertices, size->elasticVertices));
    most = fmax(most, 0.1 * pow(size->skinVertices, 1.5));
    return (int64_t)most;
}

static snwResult BuildBlueprint(snwJson* json, const char* name, const snwBlueprintUse* use, snwBlueprint* blueprint,
    int64_t* tets, snwCharacter** character)
{
    // Without a size in the scene the blueprint's own counts.
    const snwBlueprintSize* size = AsksForNothing(&use->size) ? &blueprint->size : &use->size;
    int64_t expected = ExpectedTets(size);
    if (expected > *tets)
        return snwCharacter_FailTooLarge(json, expected);
    snwText source = snwCreateText(json->context, 0);
    WriteBlueprintUse(&source, use, &blueprint->material);
    snwMessage words = {0};
    snwResult result = source.failed
                           ? snwFailMemory(json->message)
                           : snwBlueprint_Create(json->context, blueprint, size, name, source.data, character, &words);
    snwText_Free(&source);

    // A warning goes on; an error keeps its words, and its place in the file.
    if (result > 0)
        snwJson_Warn(json, "%s", words.text);
    else if (result < 0 && json->message != NULL)
        *json->message = words;

    if (result < 0)
        return snwJson_Locate(json, result);
    *tets -= snwCharacter_GetInfo(*character).tetCount;
    return snw_ok;
}

static snwResult ChangeMaterials(snwJson* json, const json_t* list, snwCharacter** character)
{
    snwResult result = snwMaterialChanges_Apply(json, list, character);
    if (result >= 0)
        return result;
    snwCharacter_Release(*character);
    *character = NULL;
    return result;
}

static snwResult CreateBlueprint(snwJson* json, const char* name, void* data, int64_t* tets, snwCharacter** character)
{
    const snwBlueprintUse* use = data;
    snwBlueprintFile file;
    size_t mark = snwJson_Enter(json, "blueprint");
    snwResult result = OpenSceneBlueprint(json, use->blueprint, &file);
    if (result == snw_ok)
    {
        snwJson_Leave(json, mark);
        result = MixMaterial(json, use->material, &file.blueprint.material);
    }
    if (result == snw_ok)
        result = snwConstraints_ReadJson(json, use->constraints, &file.arena, &file.blueprint);
    if (result == snw_ok)
        result = BuildBlueprint(json, name, use, &file.blueprint, tets, character);
    if (result == snw_ok)
        result = ChangeMaterials(json, use->materials, character);
    snwBlueprintFile_Free(&file);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Prepared ones

// The same with more constraints between its handles; what it came from says so.
static snwResult Constrain(snwJson* json, const json_t* list, snwCharacter** character)
{
    snwCharacterDef def = *snwCharacter_GetDef(*character);
    snwArena arena = {.context = json->context};

    // A rig made of what the character has, so that constraints are read as in a blueprint.
    snwBlueprint rig = {.bones = (snwBoneDef*)def.bones,
        .boneCount = def.boneCount,
        .handles = (snwHandleDef*)def.handles,
        .handleCount = def.handleCount,
        .constraints = (snwLinearConstraintDef*)def.constraints,
        .constraintCount = def.constraintCount,
        .flat.ringCount = def.triangleCount > 0};
    snwText source = snwCreateText(json->context, 0);
    // The source is what it was, with the constraints in it.
    json_t* use = json_loads(snwCharacter_GetInfo(*character).source, 0, NULL);

    json_object_set(use, "constraints", (json_t*)list);
    WriteValue(&source, use);
    json_decref(use);
    snwResult result = source.failed ? snwFailMemory(json->message) : snwConstraints_ReadJson(json, list, &arena, &rig);
    def.constraints = rig.constraints;
    def.constraintCount = rig.constraintCount;
    def.source = source.data;

    // The plain character is replaced by one with constraints.
    snwCharacter* plain = *character;
    if (result >= 0)
        result = snwCreateCharacter(json->context, &def, character, json->message);
    if (result >= 0)
        snwCharacter_Release(plain);
    snwText_Free(&source);
    snwArena_Free(&arena);

    return result;
}

static snwResult CreatePrepared(snwJson* json, const char* name, void* data, int64_t* tets, snwCharacter** character)
{
    snwPrepared* prepared = NULL;
    const snwPreparedUse* use = data;
    snwResult result = snwPreparedUse_Open(json, name, data, &prepared);
    if (result < 0)
        return result;
    *character = snwPrepared_GetCharacter(prepared);
    int count = snwCharacter_GetInfo(*character).tetCount;

    // Within the scene's budget, and only with what a prepared character can still take.
    if (count > *tets)
        result = snwCharacter_FailTooLarge(json, count);
    else if (use->fine > 0 && snwCharacter_GetDef(*character)->triangleCount == 0)
    {
        snwJson_Enter(json, "fine");
        result = snwJson_Fail(json, "remove it", "a solid character has no finer skin: that is for flat ones");
    }
    else
        snwCharacter_Retain(*character);

    // On top of what was prepared.
    if (result >= 0 && use->constraints != NULL)
    {
        result = Constrain(json, use->constraints, character);
        if (result < 0)
            snwCharacter_Release(*character);
    }
    if (result >= 0)
        result = ChangeMaterials(json, use->materials, character);
    *character = result < 0 ? NULL : *character;
    *tets -= count;
    snwPrepared_Release(prepared);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

const snwCharacterForm snw_characterForms[] = {
    {&snw_shapeTable, "shape", CreateShape},
    {&snw_blueprintUseTable, "blueprint", CreateBlueprint},
    {&snw_preparedUseTable, "file", CreatePrepared},
};
const int snw_characterFormCount = (int)(sizeof snw_characterForms / sizeof *snw_characterForms);

static const char* FormKey(int index, const void* data)
{
    (void)data;
    return snw_characterForms[index].key;
}

snwResult snwCharacter_ReadJson(
    snwJson* json, const char* name, const json_t* value, int64_t* tets, snwCharacter** character)
{
    if (!json_is_object(value))
        return snwJson_Fail(json, NULL, "must be an object, is %s", snwJson_TypeName(value));

    // The first form whose key is there; its own table reads the rest.
    for (int i = 0; i < snw_characterFormCount; ++i)
    {
        const snwCharacterForm* form = &snw_characterForms[i];
        if (json_object_get(value, form->key) == NULL)
            continue;
        void* data = snwAlloc(json->context, form->table->size);
        if (data == NULL)
            return snwFailMemory(json->message);
        snwResult result = snwTable_Read(json, form->table, value, data, NULL);
        if (result == snw_ok && character != NULL)
            result = form->create(json, name, data, tets, character);
        snwFree(json->context, data);

        return result;
    }

    // No form fits: the nearest word to the first key is the hint.
    char remedy[200];
    const char* first = json_object_size(value) > 0 ? json_object_iter_key(json_object_iter((json_t*)value)) : "";
    snwSuggestWord(remedy, sizeof remedy, first, snw_characterFormCount, FormKey, NULL);
    return snwJson_Fail(json, remedy, "does not say what it is");
}

snwResult snwCharacter_WriteJson(snwText* text, const snwCharacter* character, snwMessage* message)
{
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    json_t* check = info.source[0] != 0 ? json_loads(info.source, 0, NULL) : NULL;
    if (!json_is_object(check))
    {
        json_decref(check);
        return snwFail(message, snw_errorUnsupported, "save it with snwCharacter_Save",
            "character '%s' was made by a program, not by a scene file", snwQuoteWord(info.name).text);
    }
    json_decref(check);
    snwText_Json(text, info.source);
    return snw_ok;
}
