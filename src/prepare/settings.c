// Sidecar settings: tables of what a person may say about bones, surfaces, motions, materials, joints and maps;
// patterns with * that name several things at once; and the check that every name means something in the file.

#include "prepare/settings.h"

#include "asset/gltf.h"
#include "asset/mesher.h"
#include "scene/file.h"
#include "scene/tables.h"
#include "scene/words.h"
#include "sim/limits.h"
#include "sim/vocabulary.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define FIELD(T, member, k, t, ...)                                                                                    \
    {                                                                                                                  \
        .key = k, .type = t, .offset = offsetof(T, member), __VA_ARGS__                                                \
    }

enum
{
    snw_maxSidecarBytes = 4 << 20,
    snw_maxMaps = 64,
};

// ---------------------------------------------------------------------------------------------------------------------
// The file

static const snwField s_fields[] = {
    FIELD(snwPrepareSettings, format, "sinew", snw_fieldInt, .lower = 1, .upper = 1, .required = true,
        .help = "version of the format"),
    FIELD(snwPrepareSettings, schema, "$schema", snw_fieldText, .upper = 1000, .help = "for editors"),
    FIELD(snwPrepareSettings, scale, "scale", snw_fieldReal, .lower = 1e-9, .upper = 1e9, .unit = "m",
        .help = "one unit of the file"),
    FIELD(snwPrepareSettings, size, "size", snw_fieldReal, .lower = SNW_MIN_SIZE, .upper = SNW_MAX_SIZE, .unit = "m",
        .help = "longest side of the character, instead of scale"),
    FIELD(snwPrepareSettings, elements, "elements", snw_fieldInt, .lower = 1, .upper = snw_maxTets,
        .help = "tetrahedra of the body, about"),
    FIELD(snwPrepareSettings, mesher, "mesher", snw_fieldChoice, .names = snw_mesherWords, .help = "how they are made"),
    FIELD(snwPrepareSettings, regions, "regions", snw_fieldInt, .lower = 1, .upper = 256,
        .help = "materials that maps are divided into, at most"),
    FIELD(
        snwPrepareSettings, material, "material", snw_fieldObject, .table = &snw_materialTable, .help = "of the flesh"),
    FIELD(snwPrepareSettings, materials, "materials", snw_fieldRaw, .help = "by name of the file's materials"),
    FIELD(snwPrepareSettings, bones, "bones", snw_fieldRaw, .help = "by name"),
    FIELD(snwPrepareSettings, surfaces, "surfaces", snw_fieldRaw, .help = "by name"),
    FIELD(snwPrepareSettings, maps, "maps", snw_fieldRaw, .help = "materials painted on the surface"),
    FIELD(snwPrepareSettings, motions, "motions", snw_fieldRaw, .help = "by name"),
    FIELD(snwPrepareSettings, bake, "bake", snw_fieldRaw, .help = "how sinew bake goes"),
};

static void InitPrepareSettings(void* object, int kind)
{
    (void)kind;
    *(snwPrepareSettings*)object = (snwPrepareSettings){.regions = 8, .material = snwDefaultMaterial()};
}

static const snwTable s_table = {"prepare", "How a file becomes a character", SNW_TABLE_FIELDS(s_fields),
    sizeof(snwPrepareSettings), NULL, InitPrepareSettings};

snwPrepareSettings snwDefaultPrepareSettings(snwContext* context, const snwAsset* asset)
{
    snwPrepareSettings settings;
    InitPrepareSettings(&settings, 0);
    settings.context = context;
    settings.asset = asset;
    settings.file = "";
    return settings;
}

static snwJson MakeJson(const snwPrepareSettings* settings, snwMessage* message)
{
    return (snwJson){.context = settings->context, .message = message, .file = settings->file};
}

static snwResult NeedObject(snwJson* json, const char* key, const json_t* value)
{
    if (value == NULL || json_is_object(value))
        return snw_ok;
    snwJson_Enter(json, key);
    return snwJson_Fail(json, "names with an object each", "must be an object, is %s", snwJson_TypeName(value));
}

json_t* snwPrepareSettings_Load(snwContext* context, const char* path, snwResult* result, snwMessage* message)
{
    char* text = NULL;
    size_t size = 0;
    *result = snwFile_Read(context, path, snw_maxSidecarBytes, &text, &size, message);
    if (*result < 0)
        return NULL;
    snwJson json = {.context = context, .message = message, .file = path};
    json_t* document = snwJson_Parse(&json, text, size, result);
    snwFree(context, text);
    return document;
}

snwResult snwPrepareSettings_Use(snwPrepareSettings* settings, json_t* document, const char* path, snwMessage* message)
{
    settings->file = path;
    snwJson json = MakeJson(settings, message);
    snwPrepareSettings read;
    snwResult result = snwTable_Read(&json, &s_table, document, &read, NULL);

    // What the table's reading does not know.
    read.context = settings->context;
    read.asset = settings->asset;
    read.file = path;
    read.document = document;
    *settings = read;
    // Objects by name are kept as they are, and read when a thing of that name turns up.
    if (result >= 0)
        result = NeedObject(&json, "materials", settings->materials);
    if (result >= 0)
        result = NeedObject(&json, "bones", settings->bones);
    if (result >= 0)
        result = NeedObject(&json, "surfaces", settings->surfaces);
    if (result >= 0)
        result = NeedObject(&json, "motions", settings->motions);
    if (result >= 0 && settings->scale > 0 && settings->size > 0)
        result = snwJson_Fail(&json, "remove one of them", "scale and size say the same thing");

    return result;
}

void snwPrepareSettings_Free(snwPrepareSettings* settings)
{
    json_decref(settings->document);
    settings->document = NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// Objects by name

static const char* const s_boneUses[] = {"auto", "keep", "drop", NULL};

static const snwField s_boneFields[] = {
    FIELD(snwBoneSetting, use, "use", snw_fieldChoice, .names = s_boneUses,
        .help = "auto: kept if the surface follows it"),
    FIELD(snwBoneSetting, radius, "radius", snw_fieldReal, .lower = 0, .upper = SNW_MAX_SIZE, .unit = "m",
        .help = "the flesh this near to it is bone"),
    FIELD(snwBoneSetting, tail, "tail", snw_fieldVec3, .lower = -SNW_MAX_POSITION, .upper = SNW_MAX_POSITION,
        .unit = "m", .help = "where it ends, in the rest pose"),
    FIELD(snwBoneSetting, joint, "joint", snw_fieldRaw, .help = "to its parent"),
};

static const snwTable s_boneTable = {
    "bone", "A bone of the file", SNW_TABLE_FIELDS(s_boneFields), sizeof(snwBoneSetting), NULL, NULL};

static const snwField s_jointFields[] = {
    FIELD(
        snwJointSetting, def.type, "type", snw_fieldChoice, .names = snw_jointTypeWords, .help = "what it leaves free"),
    FIELD(snwJointSetting, def.axis, "axis", snw_fieldVec3, .lower = -1, .upper = 1,
        .help = "in the rest pose; made unit"),
    FIELD(snwJointSetting, def.axis2, "axis2", snw_fieldVec3, .lower = -1, .upper = 1, .help = "of a universal joint"),
    FIELD(snwJointSetting, range, "range", snw_fieldRaw, .help = "lower and upper limit, degrees or m"),
    FIELD(snwJointSetting, def.cone, "cone", snw_fieldReal, .lower = 0, .upper = 180, .unit = "degrees",
        .help = "how far a ball joint swings"),
    FIELD(snwJointSetting, def.stiffness, "stiffness", snw_fieldReal, .lower = 0, .upper = SNW_MAX_FORCE,
        .unit = "N m/rad", .help = "towards the rest pose"),
    FIELD(snwJointSetting, def.damping, "damping", snw_fieldReal, .lower = 0, .upper = SNW_MAX_FORCE,
        .unit = "N m s/rad", .help = "against motion"),
};

static const snwTable s_jointTable = {
    "joint", "A joint to the parent", SNW_TABLE_FIELDS(s_jointFields), sizeof(snwJointSetting), NULL, NULL};

static const char* const s_surfaceUses[] = {"auto", "soft", "carried", "rigid", "none", NULL};

static const snwField s_surfaceFields[] = {
    FIELD(snwSurfaceSetting, kind, "kind", snw_fieldChoice, .names = s_surfaceUses,
        .help = "soft: flesh; carried: rides on it; rigid: moves with a bone; none: left out"),
    FIELD(snwSurfaceSetting, bone, "bone", snw_fieldText, .help = "that a rigid one moves with"),
};

static const snwTable s_surfaceTable = {
    "surface", "A surface of the file", SNW_TABLE_FIELDS(s_surfaceFields), sizeof(snwSurfaceSetting), NULL, NULL};

static const char* const s_loopNames[] = {"auto", "yes", "no", NULL};

static const snwField s_motionFields[] = {
    FIELD(snwMotionSetting, use, "use", snw_fieldBool, .help = "false: left out"),
    FIELD(snwMotionSetting, loop, "loop", snw_fieldChoice, .names = s_loopNames,
        .help = "auto: if its end is its beginning"),
};

static const snwTable s_motionTable = {
    "motion", "An animation of the file", SNW_TABLE_FIELDS(s_motionFields), sizeof(snwMotionSetting), NULL, NULL};

// What extras.sinew of a node says; NULL: nothing.
static const json_t* ExtrasOf(const snwPrepareSettings* settings, int node)
{
    if (node < 0 || settings->asset == NULL || settings->asset->gltf == NULL)
        return NULL;
    const json_t* nodes = json_object_get(settings->asset->gltf->root, "nodes");
    return json_object_get(json_object_get(json_array_get(nodes, (size_t)node), "extras"), "sinew");
}

static size_t FieldSize(snwFieldType type)
{
    switch (type)
    {
        case snw_fieldBool:
            return sizeof(bool);
        case snw_fieldInt:
        case snw_fieldChoice:
            return sizeof(int);
        case snw_fieldVec3:
            return sizeof(snwVec3);
        case snw_fieldText:
        case snw_fieldRaw:
            return sizeof(void*);
        default:
            return sizeof(double);
    }
}

// Only keys that are there change the object; *seen collects them.
static snwResult MixSettings(snwJson* json, const snwTable* table, const json_t* value, void* object, uint64_t* seen)
{
    _Alignas(16) char given[512];
    uint64_t bits = 0;
    assert(table->size <= sizeof given);
    snwResult result = snwTable_Read(json, table, value, given, &bits);
    for (int i = 0; i < table->count && result >= 0; ++i)
        if ((bits >> i & 1) != 0)
        {
            const snwField* field = &table->fields[i];
            memcpy((char*)object + field->offset, given + field->offset, FieldSize(field->type));
        }
    if (seen != NULL)
        *seen |= bits;
    return result;
}

typedef struct Sought
{
    const snwTable* table;
    const char* list; // key of the sidecar
    const json_t* objects;
    const char* names[2]; // of the same thing; "": none
    int node;
} Sought;

// What all patterns of the sidecar say that mean this thing; what stands later wins.
static snwResult MixAll(snwJson* json, const Sought* sought, void* object, uint64_t* seen)
{
    snwResult result = snw_ok;
    const char* key;
    json_t* value;
    snwJson_Enter(json, sought->list);
    json_object_foreach((json_t*)sought->objects, key, value)
    {
        bool meant = snwWord_Matches(key, sought->names[0]) ||
                     (sought->names[1][0] != 0 && snwWord_Matches(key, sought->names[1]));
        if (!meant || result < 0)
            continue;
        size_t mark = snwJson_Enter(json, key);
        result = MixSettings(json, sought->table, value, object, seen);
        if (result >= 0)
            snwJson_Leave(json, mark);
    }
    return result;
}

static snwResult FindNodeSettings(
    const snwPrepareSettings* settings, const Sought* sought, void* object, uint64_t* seen, snwMessage* message)
{
    snwJson json = MakeJson(settings, message);
    const json_t* extras = ExtrasOf(settings, sought->node);
    snwResult result = snw_ok;
    if (extras != NULL)
    {
        char place[64];
        snprintf(place, sizeof place, "nodes[%d].extras.sinew", sought->node);
        json.file = settings->asset->name;
        size_t mark = snwJson_Enter(&json, place);
        result = MixSettings(&json, sought->table, extras, object, seen);
        snwJson_Leave(&json, mark);
        json.file = settings->file;
    }
    return result < 0 ? result : MixAll(&json, sought, object, seen);
}

snwResult snwPrepareSettings_Bone(
    const snwPrepareSettings* settings, const char* name, int node, snwBoneSetting* bone, snwMessage* message)
{
    uint64_t seen = 0;
    Sought sought = {&s_boneTable, "bones", settings->bones, {name, ""}, node};
    *bone = (snwBoneSetting){.radius = -1};
    snwResult result = FindNodeSettings(settings, &sought, bone, &seen, message);
    bone->hasTail = snwTable_Saw(&s_boneTable, seen, "tail");
    return result;
}

snwResult snwPrepareSettings_Surface(const snwPrepareSettings* settings, const char* name, const char* mesh, int node,
    snwSurfaceSetting* surface, snwMessage* message)
{
    Sought sought = {&s_surfaceTable, "surfaces", settings->surfaces, {name, mesh}, node};
    *surface = (snwSurfaceSetting){0};
    return FindNodeSettings(settings, &sought, surface, NULL, message);
}

snwResult snwPrepareSettings_Motion(
    const snwPrepareSettings* settings, const char* name, snwMotionSetting* motion, snwMessage* message)
{
    Sought sought = {&s_motionTable, "motions", settings->motions, {name, ""}, -1};
    *motion = (snwMotionSetting){.use = true};
    return FindNodeSettings(settings, &sought, motion, NULL, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Joints and materials

static snwResult ReadRange(snwJson* json, const json_t* range, snwJointDef* joint)
{
    bool slides = joint->type == snw_jointPrismatic || joint->type == snw_jointCylindrical;
    double most = slides ? SNW_MAX_SIZE : 360, unit = slides ? 1 : SNW_PI / 180;
    snwJson_Enter(json, "range");
    if (json_array_size(range) != 2)
        return snwJson_Fail(json, "[lower, upper]", "must be a list of two numbers");
    snwResult result = snwJson_ReadReal(json, json_array_get(range, 0), -most, most, &joint->lower);
    if (result >= 0)
        result = snwJson_ReadReal(json, json_array_get(range, 1), -most, most, &joint->upper);
    joint->lower *= unit;
    joint->upper *= unit;
    return result;
}

static snwResult MakeUnit(snwJson* json, const char* key, snwVec3* axis)
{
    double length = snwVec3_Length(*axis);
    if (!(length > 1e-6))
    {
        snwJson_Enter(json, key);
        return snwJson_Fail(json, NULL, "has no direction");
    }
    *axis = snwVec3_Scale(*axis, 1 / length);
    return snw_ok;
}

snwResult snwPrepareSettings_MixJoint(
    const snwPrepareSettings* settings, const json_t* value, snwJointDef* joint, snwMessage* message)
{
    if (value == NULL)
        return snw_ok;
    snwJson json = MakeJson(settings, message);

    // Degrees for reading, radians for the joint.
    snwJointSetting setting = {*joint, NULL};
    snwJson_Enter(&json, "joint");
    setting.def.cone *= 180 / SNW_PI;
    snwResult result = MixSettings(&json, &s_jointTable, value, &setting, NULL);
    if (result < 0)
        return result;
    setting.def.cone *= SNW_PI / 180;
    result = MakeUnit(&json, "axis", &setting.def.axis);
    if (result >= 0)
        result = MakeUnit(&json, "axis2", &setting.def.axis2);
    if (result >= 0 && setting.range != NULL)
        result = ReadRange(&json, setting.range, &setting.def);
    else if (setting.def.type != joint->type) // limits of another type mean nothing
        setting.def.lower = 1, setting.def.upper = -1;

    if (result >= 0)
        *joint = setting.def;
    return result;
}

snwResult snwPrepareSettings_Material(
    const snwPrepareSettings* settings, const char* name, snwMaterial* material, bool* given, snwMessage* message)
{
    snwJson json = MakeJson(settings, message);
    Sought sought = {&snw_materialTable, "materials", settings->materials, {name, ""}, -1};
    uint64_t seen = 0;
    snwResult result = MixAll(&json, &sought, material, &seen);
    *given = seen != 0;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Maps

static const char* const s_properties[] = {
    "density", "young", "poisson", "damping", "stiffness", "frequency", "settling", NULL};
static const char* const s_sources[] = {"color", "attribute", "texture", NULL};
static const char* const s_channels[] = {"red", "green", "blue", "alpha", NULL};

static const snwField s_mapFields[] = {
    FIELD(snwMapSetting, property, "property", snw_fieldChoice, .names = s_properties, .required = true,
        .help = "what it sets; stiffness multiplies young"),
    FIELD(snwMapSetting, from, "from", snw_fieldChoice, .names = s_sources, .required = true,
        .help = "colours of the vertices, an attribute of the glTF file, or a texture"),
    FIELD(snwMapSetting, channel, "channel", snw_fieldChoice, .names = s_channels, .help = "of a colour or texture"),
    FIELD(snwMapSetting, attribute, "attribute", snw_fieldText, .help = "_SNW_..."),
    FIELD(
        snwMapSetting, texture, "texture", snw_fieldText, .upper = 1000, .help = "a PNG, JPEG or WebP file beside it"),
    FIELD(snwMapSetting, surface, "surface", snw_fieldText, .help = "by name; all if absent"),
    FIELD(snwMapSetting, lower, "lower", snw_fieldReal, .lower = -1e13, .upper = 1e13, .help = "what 0 means"),
    FIELD(snwMapSetting, upper, "upper", snw_fieldReal, .lower = -1e13, .upper = 1e13, .help = "what 1 means"),
};

static void InitMap(void* object, int kind)
{
    (void)kind;
    ((snwMapSetting*)object)->upper = 1;
}

static const snwTable s_mapTable = {
    "map", "A material painted on the surface", SNW_TABLE_FIELDS(s_mapFields), sizeof(snwMapSetting), NULL, InitMap};

static snwResult ReadMapSetting(snwJson* json, const json_t* value, snwMapSetting* map)
{
    snwResult result = snwTable_Read(json, &s_mapTable, value, map, NULL);
    if (result < 0)
        return result;
    if (map->from == snw_mapAttribute && map->attribute == NULL)
        return snwJson_Fail(json, "\"attribute\": \"_SNW_YOUNG\"", "does not say which attribute");
    if (map->from == snw_mapTexture && map->texture == NULL)
        return snwJson_Fail(json, "\"texture\": \"map.png\"", "does not say which texture");
    return snw_ok;
}

snwResult snwPrepareSettings_Maps(
    const snwPrepareSettings* settings, snwArena* arena, snwMapSetting** maps, int* count, snwMessage* message)
{
    snwJson json = MakeJson(settings, message);
    snwResult result = snw_ok;
    *count = 0;
    *maps = snwJson_NewList(&json, arena, "maps", settings->maps, snw_maxMaps, sizeof **maps, &result);
    if (*maps == NULL || result < 0)
        return result;
    snwJson_Enter(&json, "maps");
    for (size_t i = 0; i < json_array_size(settings->maps) && result >= 0; ++i)
    {
        size_t mark = snwJson_EnterIndex(&json, i);
        result = ReadMapSetting(&json, json_array_get(settings->maps, i), &(*maps)[i]);
        snwJson_Leave(&json, mark);
        *count += 1;
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

snwResult snwPrepareSettings_CheckNames(const snwPrepareSettings* settings, const char* list, int count,
    snwNameFn* name, const void* user, snwMessage* message)
{
    const json_t* objects = json_object_get(settings->document, list);
    snwJson json = MakeJson(settings, message);
    snwJson_Enter(&json, list);
    for (void* at = json_object_iter((json_t*)objects); at != NULL; at = json_object_iter_next((json_t*)objects, at))
    {
        // A key fits by name or by pattern; else the nearest name is the hint.
        const char* key = json_object_iter_key(at);
        bool found = false;
        for (int i = 0; i < count && !found; ++i)
            found = snwWord_Matches(key, name(i, user));
        if (found)
            continue;
        char remedy[240];
        snwSuggestWord(remedy, sizeof remedy, key, count, name, user);

        return snwJson_Fail(&json, remedy, "the file has no '%s'", snwQuoteWord(key).text);
    }

    return snw_ok;
}
