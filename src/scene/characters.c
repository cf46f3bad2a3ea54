#include "scene/characters.h"
#include "scene/words.h"

#include <string.h>

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
        return snwJson_Fail(
            json, "use fewer cells", "the scene would have more than %d million tetrahedra", snw_maxTets / 1000000);
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

const snwCharacterForm snw_characterForms[] = {
    {&snw_shapeTable, "shape", CreateShape},
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
