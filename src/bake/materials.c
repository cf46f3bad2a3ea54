// What flesh is made of in a bake: a preset, numbers of one's own, by region, and how soft all of it is.
//
// What is said of all flesh, or of a material of the file, goes to preparation, where painted maps change it as they
// would change the sidecar's. What is said of a bone is for the elements that follow this bone more than any other.

#include "bake/parts.h"

#include "bake/thickness.h"
#include "scene/tables.h"
#include "scene/words.h"
#include "sim/character.h"

#include <math.h>
#include <string.h>

#define SNW_THICKNESS_STEP 1.2 // from one material to the next firmer one
#define SNW_MOST_FREQUENCY 1e3 // Hz

enum
{
    snw_thicknessSteps = 28 // 1.2^27 is 137: the square of the largest factor
};

static const char* PresetName(int index, const void* data)
{
    (void)data;
    return snwPreset_GetInfo(index)->name;
}

// All numbers of it, so that none of the sidecar's stay.
static snwResult AddPreset(const char* name, json_t* into, snwMessage* message)
{
    int preset = snwPreset_Find(name);
    if (preset < 0)
    {
        char remedy[240];
        snwSuggestWord(remedy, sizeof remedy, name, snwPresetCount(), PresetName, NULL);
        return snwFail(message, snw_errorInput, remedy, "there is no preset '%s'", snwQuoteWord(name).text);
    }

    // Every number of the preset, so that nothing of another material is left.
    const snwMaterial* material = &snwPreset_GetInfo(preset)->material;
    for (int i = 0; i < snw_materialTable.count; ++i)
    {
        const snwField* field = &snw_materialTable.fields[i];
        double value;
        if (field->type != snw_fieldReal)
            continue;
        memcpy(&value, (const char*)material + field->offset, sizeof value);
        json_object_set_new(into, field->key, json_real(value));
    }

    return snw_ok;
}

// {"preset": "fat", "settling": 1} as numbers.
static snwResult AddMaterialNumbers(const json_t* given, json_t* into, snwMessage* message)
{
    const char* preset = json_string_value(json_object_get(given, "preset"));
    const char* key;
    json_t* value;
    snwResult result = preset != NULL ? AddPreset(preset, into, message) : snw_ok;
    json_object_foreach((json_t*)given, key, value)
    {
        if (strcmp(key, "preset") != 0)
            json_object_set(into, key, value);
    }
    return result;
}

static bool IsFileMaterial(const snwBake* bake, const char* name)
{
    for (int i = 0; bake->asset != NULL && i < bake->asset->meshCount; ++i)
        for (int k = 0; k < bake->asset->meshes[i].partCount; ++k)
            if (strcmp(bake->asset->meshes[i].parts[k].material, name) == 0)
                return true;
    return false;
}

static json_t* NewChild(json_t* object, const char* key)
{
    json_t* child = json_object();
    json_object_set_new(object, key, child);
    return child;
}

// Whatever the sidecar says wins over these.
static snwResult MakeUnder(const snwBake* bake, json_t* under, snwMessage* message)
{
    const snwAssetFlesh* flesh = &bake->asset->flesh;
    json_t* material = NewChild(under, "material");
    snwResult result = AddPreset("flesh", material, message);
    if (flesh->young > 0)
        json_object_set_new(material, "young", json_real(flesh->young));
    if (flesh->poisson > 0)
        json_object_set_new(material, "poisson", json_real(flesh->poisson));
    return result;
}

// The whole of the material if there is a preset, else what is said.
static snwResult MakeOver(const snwBake* bake, json_t* over, snwMessage* message)
{
    const snwBakeSettings* settings = &bake->settings;
    json_t* material = NewChild(over, "material");
    const char* name;
    json_t* value;
    snwResult result = settings->preset[0] != 0 ? AddPreset(settings->preset, material, message) : snw_ok;

    // Numbers on top of the preset.
    if (result >= 0 && settings->material != NULL)
        result = AddMaterialNumbers(settings->material, material, message);

    // Materials that the file names go to preparation; names of bones are for later.
    json_t* named = json_object();
    json_object_foreach((json_t*)settings->materials, name, value)
    {
        if (result >= 0 && IsFileMaterial(bake, name))
            result = AddMaterialNumbers(value, NewChild(named, name), message);
    }
    if (json_object_size(named) > 0)
        json_object_set(over, "materials", named);
    json_decref(named);

    // Patterns of kinds, as the sidecar would have them; what is added later wins.
    const struct
    {
        const json_t* patterns;
        const char* kind;
    } kinds[] = {{settings->rigid, "rigid"}, {settings->carried, "carried"}, {settings->soft, "soft"}};
    json_t* surfaces = NewChild(over, "surfaces");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        for (size_t k = 0; k < json_array_size(kinds[i].patterns); ++k)
            json_object_set_new(NewChild(surfaces, json_string_value(json_array_get(kinds[i].patterns, k))), "kind",
                json_string(kinds[i].kind));

    return result;
}

snwResult snwBake_FindMaterials(snwBake* bake, json_t** under, json_t** over, snwMessage* message)
{
    *under = json_object();
    *over = json_object();
    snwResult result = MakeUnder(bake, *under, message);
    return result < 0 ? result : MakeOver(bake, *over, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// On the body

typedef struct Touch
{
    snwBake* bake;
    const snwCharacterDef* character;
    snwMaterial* materials;
    int materialCount;
    int* regions;
    bool* asked; // by element: its bone was named
    bool changed;
} Touch;

// Numbers that are given change the material.
static snwResult ChangeMaterial(
    const Touch* touch, const char* place, const json_t* given, snwMaterial* material, snwMessage* message)
{
    // Messages point at the sidecar.
    snwJson json = {.context = touch->bake->context, .message = message, .file = touch->bake->sidecarPath};
    json_t* numbers = json_object();
    snwMaterial read;
    uint64_t seen = 0;

    snwJson_Enter(&json, "bake.materials");
    snwJson_Enter(&json, place);
    snwResult result = AddMaterialNumbers(given, numbers, message);
    if (result >= 0)
        result = snwTable_Read(&json, &snw_materialTable, numbers, &read, &seen);

    // Only what was given.
    for (int i = 0; i < snw_materialTable.count && result >= 0; ++i)
        if ((seen >> i & 1) != 0 && snw_materialTable.fields[i].type == snw_fieldReal)
        {
            size_t offset = snw_materialTable.fields[i].offset;
            memcpy((char*)material + offset, (const char*)&read + offset, sizeof(double));
        }

    json_decref(numbers);
    return result;
}

static const char* MaterialBoneName(int index, const void* user)
{
    return ((const snwCharacterDef*)user)->bones[index].name;
}

static snwResult FailBone(const snwCharacterDef* character, const char* name, snwMessage* message)
{
    char remedy[240];
    snwSuggestWord(remedy, sizeof remedy, name, character->boneCount, MaterialBoneName, character);
    return snwFail(message, snw_errorInput, remedy, "there is no bone '%s' that flesh follows, and no material",
        snwQuoteWord(name).text);
}

static double Follows(const snwCharacterDef* character, int element, int bone)
{
    const snwWeights* weights = &character->boneWeights;
    double sum = 0;
    for (int k = 0; k < 4 && weights->vertexCount > 0; ++k)
    {
        int vertex = character->tets[element][k];
        for (int i = weights->starts[vertex]; i < weights->starts[vertex + 1]; ++i)
            sum += weights->handles[i] == bone ? weights->values[i] : 0;
    }
    return sum;
}

static bool FollowsMost(const snwCharacterDef* character, int element, int bone)
{
    const snwWeights* weights = &character->boneWeights;
    double share = Follows(character, element, bone);
    for (int k = 0; k < 4 && share > 0; ++k)
    {
        int vertex = character->tets[element][k];
        for (int i = weights->starts[vertex]; i < weights->starts[vertex + 1]; ++i)
            if (Follows(character, element, weights->handles[i]) > share)
                return false;
    }
    return share > 0;
}

// The elements of a bone get copies of their materials, with the difference.
static snwResult TouchBone(Touch* touch, const char* name, const json_t* given, snwMessage* message)
{
    const snwCharacterDef* character = touch->character;
    int bone = snwCharacterDef_FindBone(character, name), before = touch->materialCount;
    if (bone < 0)
        return FailBone(character, name, message);

    // Twice as many materials: each one as it was, and with the difference.
    snwMaterial* all = snwArena_Alloc(&touch->bake->arena, 2 * (size_t)before, sizeof *all);
    if (all == NULL)
        return snwFailMemory(message);
    memcpy(all, touch->materials, (size_t)before * sizeof *all);
    snwResult result = snw_ok;
    for (int i = 0; i < before && result >= 0; ++i)
    {
        all[before + i] = all[i];
        result = ChangeMaterial(touch, name, given, &all[before + i], message);
    }

    // Elements that follow the bone most take the second half.
    for (int i = 0; i < character->tetCount; ++i)
        if (touch->regions[i] < before && FollowsMost(character, i, bone))
        {
            touch->regions[i] += before;
            touch->asked[i] = true;
        }

    touch->materials = all;
    touch->materialCount = 2 * before;
    touch->changed = true;
    return result;
}

// Only what some element has stays.
static void DropUnused(Touch* touch)
{
    int count = 0;
    for (int m = 0; m < touch->materialCount; ++m)
    {
        bool used = false;
        for (int i = 0; i < touch->character->tetCount; ++i)
            if (touch->regions[i] == m)
            {
                touch->regions[i] = count;
                used = true;
            }
        if (used)
            touch->materials[count++] = touch->materials[m];
    }
    touch->materialCount = count;
}

static snwResult TouchMaterials(Touch* touch, snwMessage* message)
{
    const snwBakeSettings* settings = &touch->bake->settings;
    snwResult result = snw_ok;
    const char* name;
    json_t* value;
    json_t* whole = json_object();

    // What was prepared before has its materials already: they are changed here.
    if (touch->bake->wasPrepared && settings->preset[0] != 0)
        json_object_set_new(whole, "preset", json_string(settings->preset));
    if (touch->bake->wasPrepared)
        json_object_update(whole, (json_t*)settings->material);
    for (int i = 0; i < touch->materialCount && result >= 0 && json_object_size(whole) > 0; ++i)
    {
        result = ChangeMaterial(touch, "all", whole, &touch->materials[i], message);
        touch->changed = true;
    }

    json_decref(whole);
    // Then bones, one after the other.
    json_object_foreach((json_t*)settings->materials, name, value)
    {
        if (result >= 0 && !IsFileMaterial(touch->bake, name))
            result = TouchBone(touch, name, value, message);
    }

    // Softness last, so that it means the same whatever was said before.
    for (int i = 0; i < touch->materialCount && result >= 0 && settings->softness != 1; ++i)
    {
        touch->materials[i] = snwMaterial_Soften(&touch->materials[i], settings->softness);
        touch->changed = true;
    }

    return result;
}

// Thin flesh swings faster and settles sooner, but where somebody said what it does: copies of the materials, in steps.
static snwResult TouchThickness(Touch* touch, snwMessage* message)
{
    const snwCharacterDef* character = touch->character;
    snwArena* arena = &touch->bake->arena;
    int before = touch->materialCount;
    double falloff = touch->bake->settings.falloff;
    snwThickness thickness;
    snwResult result = snwThickness_Make(arena, touch->bake->prepared, &thickness, message);

    if (result < 0 || thickness.character == NULL || falloff == 0)
        return result;

    // A copy of every material for every step of thinness.
    snwMaterial* all = snwArena_Alloc(arena, (size_t)before * snw_thicknessSteps, sizeof *all);
    if (all == NULL)
        return snwFailMemory(message);
    for (int k = 0; k < snw_thicknessSteps * before; ++k)
    {
        int step = k / before;
        double factor = pow(SNW_THICKNESS_STEP, step);
        all[k] = touch->materials[k % before];
        all[k].frequency = fmin(all[k].frequency * factor, SNW_MOST_FREQUENCY);
        all[k].settling /= factor;
    }

    // Where an element is as thick as its corners are on average.
    for (int i = 0; i < character->tetCount; ++i)
    {
        double length = 0;
        for (int k = 0; k < 4; ++k)
            length += 0.25 * snwThickness_At(&thickness, character->vertices[character->tets[i][k]],
                                 &character->tets[i][k], &(double){1}, 1);
        double steps = log(snwThickness_Factor(&thickness, length, falloff)) / log(SNW_THICKNESS_STEP);
        int step = touch->asked[i] ? 0 : (int)fmin(round(steps), snw_thicknessSteps - 1);
        touch->regions[i] += before * step;
        touch->changed = touch->changed || step > 0;
    }

    touch->materials = all;
    touch->materialCount = snw_thicknessSteps * before;
    return snw_ok;
}

static snwResult Rebuild(Touch* touch, snwMessage* message)
{
    snwBake* bake = touch->bake;
    snwPrepared *old = bake->prepared, *made = NULL;
    snwCharacterDef def = *touch->character;
    snwCharacter* character = NULL;
    bool heavier = false;

    // Masses are kept unless the density changed.
    for (int i = 0; i < def.tetCount && !heavier; ++i)
        heavier = touch->materials[touch->regions[i]].density != def.materials[def.regions[i]].density;
    def.materials = touch->materials;
    def.materialCount = touch->materialCount;
    def.regions = touch->regions;
    if (heavier)
        def.masses = NULL;
    snwResult result = snwCreateCharacter(bake->context, &def, &character, message);
    if (result < 0)
        return result;

    // Everything else of the prepared character stays.
    snwPreparedDef parts = {.character = character,
        .surfaces = old->surfaces,
        .surfaceCount = old->info.surfaceCount,
        .anchors = old->anchors,
        .anchorCount = old->anchorCount,
        .points = old->points,
        .embedding = &old->embedding,
        .textures = old->textures,
        .textureCount = old->info.textureCount,
        .info = old->info};
    result = snwCreatePrepared(bake->context, &parts, &made, message);
    snwCharacter_Release(character);
    if (result < 0)
        return result;

    snwPrepared_Release(old);
    bake->prepared = made;

    return snw_ok;
}

snwResult snwBake_Retouch(snwBake* bake, snwMessage* message)
{
    const snwCharacterDef* character = snwCharacter_GetDef(snwPrepared_GetCharacter(bake->prepared));
    Touch touch = {.bake = bake, .character = character, .materialCount = character->materialCount};
    if (character->tetCount == 0)
        return snwFail(
            message, snw_errorUnsupported, "sinew sim, with a scene", "it is flat: only solid flesh is baked");

    // Copies to work on.
    touch.materials = snwArena_Copy(
        &bake->arena, character->materials, (size_t)character->materialCount, sizeof(snwMaterial));
    touch.regions = snwArena_Copy(&bake->arena, character->regions, (size_t)character->tetCount, sizeof(int));
    touch.asked = snwArena_Alloc(&bake->arena, (size_t)character->tetCount + 1, sizeof *touch.asked);
    if (bake->arena.failed)
        return snwFailMemory(message);

    // What is said, then thickness; without a change the character stays as it is.
    snwResult result = TouchMaterials(&touch, message);
    if (result >= 0)
        result = TouchThickness(&touch, message);
    if (result < 0 || !touch.changed)
        return result;
    DropUnused(&touch);

    return Rebuild(&touch, message);
}
