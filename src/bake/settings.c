// Settings of a bake: the table of the sidecar's "bake" object, the same keys as words of the command line, and
// checks that they make sense together.

#include "bake/settings.h"

#include "base/result.h"
#include "scene/tables.h"
#include "scene/words.h"
#include "sim/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(member, k, t, ...)                                                                                       \
    {                                                                                                                  \
        .key = k, .type = t, .offset = offsetof(snwBakeSettings, member), __VA_ARGS__                                  \
    }

static const snwField s_fields[] = {
    FIELD(clip, "clip", snw_fieldText, .help = "name of the clip, or its number from 1; the first if absent"),
    FIELD(start, "start", snw_fieldReal, .lower = 0, .upper = SNW_MAX_MOTION, .unit = "s", .help = "of the clip"),
    FIELD(end, "end", snw_fieldReal, .lower = 0, .upper = SNW_MAX_MOTION, .unit = "s",
        .help = "of the clip; where it ends if absent"),
    FIELD(fps, "fps", snw_fieldReal, .lower = 1, .upper = 1000, .help = "frames per second; by the file if absent"),
    FIELD(preroll, "preroll", snw_fieldReal, .lower = 0, .upper = 1000, .unit = "s",
        .help = "the first pose is held for so long before the first frame"),
    FIELD(loop, "loop", snw_fieldBool, .help = "the clip is a cycle: run it until it repeats"),
    FIELD(blend, "blend", snw_fieldReal, .lower = 0, .upper = 1, .help = "0 the artist's motion, 1 the flesh's"),
    FIELD(softness, "softness", snw_fieldReal, .lower = 0.01, .upper = 100, .help = "gives way so much farther"),
    FIELD(
        falloff, "falloff", snw_fieldReal, .lower = 0, .upper = 2, .help = "hands, feet and faces are so much firmer"),
    FIELD(gravity, "gravity", snw_fieldReal, .lower = -1000, .upper = 1000, .unit = "m/s^2",
        .help = "downwards; 0: what the artist modelled hangs as it should"),
    FIELD(preset, "preset", snw_fieldText, .help = "flesh, muscle, fat, rubber, jelly or inflatable"),
    FIELD(material, "material", snw_fieldRaw, .help = "of all flesh: frequency, settling, young, poisson ..."),
    FIELD(materials, "materials", snw_fieldRaw, .help = "by name of a bone or of a material of the file"),
    FIELD(collide, "collide", snw_fieldRaw, .help = "a list of `ground` and files with closed surfaces"),
    FIELD(selfCollision, "self_collision", snw_fieldBool, .help = "flesh does not pass through itself"),
    FIELD(keepTrajectory, "keep_trajectory", snw_fieldBool, .help = "flesh does nothing that the rig could do"),
    FIELD(method, "method", snw_fieldText, .help = "pbcd, or another one that follows a motion"),
    FIELD(substeps, "substeps", snw_fieldInt, .lower = 1, .upper = 1000, .help = "parts of each frame"),
    FIELD(iterations, "iterations", snw_fieldInt, .lower = 1, .upper = 100000, .help = "sweeps of each part"),
    FIELD(settings, "settings", snw_fieldRaw, .help = "of the method, by name"),
    FIELD(only, "only", snw_fieldRaw, .help = "surfaces to touch, by name; all if absent"),
    FIELD(bones, "bones", snw_fieldRaw, .help = "bones whose flesh moves, by name; all if absent"),
    FIELD(rigid, "rigid", snw_fieldRaw, .help = "surfaces and materials that move with a bone, by name or pattern"),
    FIELD(carried, "carried", snw_fieldRaw, .help = "the same of what rides on the flesh"),
    FIELD(soft, "soft", snw_fieldRaw, .help = "the same of flesh"),
    FIELD(
        format, "format", snw_fieldText, .help = "auto, glb, morphs, joints, pc2, mdd or obj; by the ending if absent"),
    FIELD(tolerance, "tolerance", snw_fieldReal, .lower = 1e-6, .upper = 1, .unit = "m",
        .help = "how far morph targets and helper joints may be off; if absent 1/1500 of the longest side"),
    FIELD(most, "most", snw_fieldInt, .lower = 1, .upper = 4096,
        .help = "morph targets of a mesh or helper joints of a skin, at most; as many as are usual if absent"),
    FIELD(influences, "influences", snw_fieldInt, .lower = 1, .upper = 8,
        .help = "with helper joints: joints that a vertex follows, at most; 8 if absent"),
    FIELD(compress, "compress", snw_fieldBool, .help = "documents with EXT_meshopt_compression"),
    FIELD(up, "up", snw_fieldText, .help = "y or z: of caches and OBJ files"),
    FIELD(motionFrom, "motion_from", snw_fieldText, .upper = 4000,
        .help = "a file with a clip (glTF, FBX, BVH ...) that is put on this skeleton; `clip` is then one of its"),
    FIELD(jointMap, "joint_map", snw_fieldRaw, .help = "joints of this skeleton, and which of that file they are"),
    FIELD(cache, "cache", snw_fieldText, .upper = 4000, .help = "a PC2 or MDD file whose motion is the artist's"),
};

static void InitBakeSettings(void* object, int kind)
{
    (void)kind;
    *(snwBakeSettings*)object = (snwBakeSettings){.clip = "",
        .preroll = -1,
        .blend = 1,
        .softness = 1,
        .falloff = 1,
        .preset = "",
        .method = "pbcd",
        .format = "",
        .up = "",
        .motionFrom = "",
        .cache = ""};
}

const snwTable snw_bakeTable = {
    "bake", "How a bake goes", SNW_TABLE_FIELDS(s_fields), sizeof(snwBakeSettings), NULL, InitBakeSettings};

// ---------------------------------------------------------------------------------------------------------------------
// Words of the command line

// A number, true, false or a text.
static json_t* Value(const char* word)
{
    char* end = NULL;
    double number = strtod(word, &end);
    if (end != word && *end == 0 && isfinite(number))
        return number == floor(number) && fabs(number) < 1e15 ? json_integer((json_int_t)number) : json_real(number);
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
        return json_boolean(word[0] == 't');
    return json_string(word);
}

static json_t* Child(json_t* object, const char* key)
{
    json_t* child = json_object_get(object, key);
    if (!json_is_object(child))
    {
        child = json_object();
        json_object_set_new(object, key, child);
    }
    return child;
}

// "a=1,b=2"; a word alone is a preset.
static snwResult AddWordPairs(json_t* object, const char* words, snwMessage* message)
{
    char text[256];
    if (snprintf(text, sizeof text, "%s", words) >= (int)sizeof text)
        return snwFail(message, snw_errorArgument, NULL, "a material has more than %d letters", (int)sizeof text - 1);
    char* rest = NULL;
    for (char* word = strtok_r(text, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest))
    {
        char* sign = strchr(word, '=');
        if (sign == word)
            return snwFail(
                message, snw_errorArgument, "frequency=3,settling=0.5", "a number without a name: '%s'", word);
        if (sign != NULL)
            *sign = 0;
        json_object_set_new(object, sign != NULL ? word : "preset", sign != NULL ? Value(sign + 1) : json_string(word));
    }
    return snw_ok;
}

static snwResult AddMaterialWord(json_t* object, const char* word, snwMessage* message)
{
    const char* colon = strrchr(word, ':');
    char name[128];
    if (colon == NULL)
        return AddWordPairs(Child(object, "material"), word, message);
    if (colon - word >= (ptrdiff_t)sizeof name)
        return snwFail(message, snw_errorArgument, NULL, "the name of a region is too long");
    snprintf(name, sizeof name, "%.*s", (int)(colon - word), word);
    return AddWordPairs(Child(Child(object, "materials"), name), colon + 1, message);
}

// "pbcd.law=edges" for settings, "Hips=mixamorig:Hips" for the joint map.
static snwResult AddNamed(json_t* object, const char* key, const char* word, snwMessage* message)
{
    bool joints = strcmp(key, "joint_map") == 0;
    const char* sign = strchr(word, '=');
    char name[128];
    if (sign == NULL || sign - word >= (ptrdiff_t)sizeof name)
        return snwFail(message, snw_errorArgument, joints ? "Hips=mixamorig:Hips" : "pbcd.law=edges",
            "'%s' is no NAME=VALUE", snwQuoteWord(word).text);
    snprintf(name, sizeof name, "%.*s", (int)(sign - word), word);
    json_object_set_new(Child(object, key), name, joints ? json_string(sign + 1) : Value(sign + 1));
    return snw_ok;
}

static void AddToList(json_t* object, const char* key, const char* word)
{
    json_t* list = json_object_get(object, key);
    if (list == NULL)
    {
        list = json_array();
        json_object_set_new(object, key, list);
    }
    json_array_append_new(list, json_string(word));
}

static const snwField* FindBakeField(const char* key)
{
    for (int i = 0; i < snw_bakeTable.count; ++i)
        if (strcmp(snw_bakeTable.fields[i].key, key) == 0)
            return &snw_bakeTable.fields[i];
    return NULL;
}

snwResult snwBakeWord_Add(json_t* object, const char* key, const char* word, snwMessage* message)
{
    const snwField* field = FindBakeField(key);
    if (field == NULL)
        return snwFail(message, snw_errorArgument, NULL, "a bake has no '%s'", key);
    if (strcmp(key, "material") == 0)
        return AddMaterialWord(object, word, message);
    if (strcmp(key, "settings") == 0 || strcmp(key, "joint_map") == 0)
        return AddNamed(object, key, word, message);
    if (field->type == snw_fieldRaw)
        AddToList(object, key, word);
    else if (field->type == snw_fieldBool)
        json_object_set_new(object, key, json_true());
    else
        json_object_set_new(object, key, field->type == snw_fieldText ? json_string(word) : Value(word));
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

static snwResult CheckKind(snwJson* json, const snwBakeSettings* settings)
{
    const struct
    {
        const char* key;
        const json_t* value;
        bool list;
    } raw[] = {{"material", settings->material, false}, {"materials", settings->materials, false},
        {"settings", settings->settings, false}, {"collide", settings->collide, true}, {"only", settings->only, true},
        {"bones", settings->bones, true}, {"rigid", settings->rigid, true}, {"carried", settings->carried, true},
        {"soft", settings->soft, true}, {"joint_map", settings->jointMap, false}};

    // Keys that the table leaves as they are: lists of names, and objects.
    for (size_t i = 0; i < sizeof raw / sizeof *raw; ++i)
    {
        bool fits = raw[i].value == NULL || (raw[i].list ? json_is_array(raw[i].value) : json_is_object(raw[i].value));
        for (size_t k = 0; fits && raw[i].list && k < json_array_size(raw[i].value); ++k)
            fits = json_is_string(json_array_get(raw[i].value, k));
        if (fits)
            continue;
        snwJson_Enter(json, raw[i].key);
        return snwJson_Fail(json, NULL, raw[i].list ? "must be a list of names" : "must be an object");
    }

    return snw_ok;
}

static snwResult CheckSense(snwJson* json, const snwBakeSettings* settings)
{
    if (settings->end > 0 && settings->end <= settings->start)
        return snwJson_Fail(json, NULL, "the end, %g s, is not behind the start, %g s", settings->end, settings->start);
    if (strcmp(settings->up, "") != 0 && strcmp(settings->up, "y") != 0 && strcmp(settings->up, "z") != 0)
    {
        snwJson_Enter(json, "up");
        return snwJson_Fail(json, "y or z", "does not know '%s'", snwQuoteWord(settings->up).text);
    }
    return snw_ok;
}

// {"preset": "fat", "settling": 1}
static snwResult CheckMaterial(snwJson* json, const char* name, const json_t* given)
{
    const char* preset = json_string_value(json_object_get(given, "preset"));
    json_t* numbers = json_is_object(given) ? json_copy((json_t*)given) : NULL;
    size_t mark = snwJson_Enter(json, name);
    snwMaterial read = snwDefaultMaterial();
    json_object_del(numbers, "preset");
    snwResult result = numbers == NULL ? snwJson_Fail(json, NULL, "must be an object")
                                       : snwTable_Read(json, &snw_materialTable, numbers, &read, NULL);
    if (result >= 0 && preset != NULL && snwPreset_Find(preset) < 0)
        result = snwJson_Fail(
            json, "sinew info --presets lists them", "there is no preset '%s'", snwQuoteWord(preset).text);
    json_decref(numbers);
    if (result >= 0)
        snwJson_Leave(json, mark);
    return result;
}

static snwResult CheckMaterialWords(snwJson* json, const snwBakeSettings* settings)
{
    const char* name;
    json_t* value;
    snwResult result = settings->material != NULL ? CheckMaterial(json, "material", settings->material) : snw_ok;
    size_t mark = snwJson_Enter(json, "materials");
    json_object_foreach((json_t*)settings->materials, name, value)
    {
        if (result >= 0)
            result = CheckMaterial(json, name, value);
    }
    if (result >= 0)
        snwJson_Leave(json, mark);
    return result;
}

static snwResult ReadSettingsObject(snwJson* json, const json_t* object, snwBakeSettings* settings)
{
    snwResult result = snwTable_Read(json, &snw_bakeTable, object, settings, NULL);
    if (result >= 0)
        result = CheckKind(json, settings);
    if (result >= 0)
        result = CheckMaterialWords(json, settings);
    return result < 0 ? result : CheckSense(json, settings);
}

snwResult snwBakeSettings_Read(snwContext* context, const json_t* sidecar, const char* file, const json_t* words,
    snwBakeSettings* settings, snwMessage* message)
{
    snwJson json = {.context = context, .message = message, .file = file};

    // The sidecar first, the command line over it.
    const json_t* own = json_object_get(sidecar, "bake");
    json_t* merged = own != NULL ? json_deep_copy(own) : json_object();

    InitBakeSettings(settings, 0);
    if (merged == NULL)
        return snwFailMemory(message);
    snwJson_Enter(&json, "bake");
    snwResult result = ReadSettingsObject(
        &json, merged, settings); // each by itself, so that a mistake is told where it is

    // Words of the command line have no file to name in messages.
    if (result >= 0 && words != NULL)
    {
        json = (snwJson){.context = context, .message = message, .file = ""};
        result = ReadSettingsObject(&json, words, settings);
        json_object_update_recursive(merged, (json_t*)words);
        if (result >= 0)
            result = ReadSettingsObject(&json, merged, settings);
    }

    settings->document = merged;
    return result;
}

void snwBakeSettings_Free(snwBakeSettings* settings)
{
    json_decref(settings->document);
    settings->document = NULL;
}

// ---------------------------------------------------------------------------------------------------------------------

bool snwSidecarPath(const char* source, char* path, size_t capacity)
{
    const char *slash = strrchr(source, '/'), *dot = strrchr(source, '.');
    size_t length = dot != NULL && (slash == NULL || dot > slash) ? (size_t)(dot - source) : strlen(source);
    return snprintf(path, capacity, "%.*s.sinew.json", (int)length, source) < (int)capacity;
}

snwResult snwBakeSettings_Format(snwContext* context, const json_t* document, const snwBakeSettings* settings,
    char** text, size_t* size, snwMessage* message)
{
    json_t* root = document != NULL ? json_deep_copy(document) : json_pack("{s:i}", "sinew", 1);
    *text = NULL;
    json_object_set(root, "bake", settings->document);
    *size = json_dumpb(root, NULL, 0, JSON_INDENT(4) | JSON_REAL_PRECISION(12));
    *text = *size > 0 ? snwAlloc(context, *size + 2) : NULL;
    if (*text != NULL)
    {
        json_dumpb(root, *text, *size, JSON_INDENT(4) | JSON_REAL_PRECISION(12));
        (*text)[(*size)++] = '\n';
    }
    json_decref(root);
    return *text != NULL ? snw_ok : snwFailMemory(message);
}
