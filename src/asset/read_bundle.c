// A bundle: the JSON with which the programs of "Complementary Dynamics" (Zhang et al. 2020) name a mesh, its handles,
// its weights and the motion of its handles. Every file is read by its own reader into the one asset, in that order,
// for each needs what came before.
//
// Weights become sparse: what is below a millionth is left out, for solvers leave such crumbs (the elephant has -6e-9),
// and rows are made to sum to one again.

#include "asset/rig_parts.h"
#include "scene/fields.h"
#include "scene/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_maxBundleBytes = 1 << 20
};

static const double s_crumb = 1e-6;

typedef struct Bundle
{
    const char *mesh, *handles, *weights, *motion, *model;
    double timeStep, young, poisson, scale;
} Bundle;

typedef struct Key
{
    const char* name;
    size_t offset;
    bool text;
    double lower, upper; // of numbers
} Key;

#define TEXT(key, field)                                                                                               \
    {                                                                                                                  \
        key, offsetof(Bundle, field), true, 0, 0                                                                       \
    }
#define REAL(key, field, lower, upper)                                                                                 \
    {                                                                                                                  \
        key, offsetof(Bundle, field), false, lower, upper                                                              \
    }

static const Key s_keys[] = {
    TEXT("mesh_file", mesh),
    TEXT("handle_file", handles),
    TEXT("weight_file", weights),
    TEXT("anim_file", motion),
    TEXT("model", model),
    REAL("dt", timeStep, 1e-6, 1e3),
    REAL("YM", young, 0, 1e15),
    REAL("pr", poisson, -1, 0.5),
    REAL("scale", scale, 1e-9, 1e9),
};

static const Key* FindBundleKey(const char* name)
{
    for (size_t i = 0; i < sizeof s_keys / sizeof *s_keys; ++i)
        if (strcmp(s_keys[i].name, name) == 0)
            return &s_keys[i];
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// The JSON

static snwResult ReadValue(snwJson* json, const Key* key, const json_t* value, snwAsset* asset, Bundle* bundle)
{
    void* field = (char*)bundle + key->offset;
    if (!key->text)
        return snwJson_ReadReal(json, value, key->lower, key->upper, field);
    if (!json_is_string(value))
        return snwJson_Fail(json, NULL, "must be a text, not %s", snwJson_TypeName(value));
    const char* text = snwArena_Text(&asset->arena, json_string_value(value));
    *(const char**)field = text;
    return text == NULL ? snwFailMemory(json->message) : snw_ok;
}

static snwResult ReadKeys(snwJson* json, json_t* document, snwAsset* asset, Bundle* bundle)
{
    const char* name;
    json_t* value;
    snwResult result = snw_ok;

    json_object_foreach(document, name, value)
    {
        // Keys that are not known are told, not refused.
        const Key* key = FindBundleKey(name);
        if (key == NULL)
        {
            snwAsset_Note(asset, snw_noteLeftOut, "", "the key '%.60s'", name);
            continue;
        }
        size_t mark = snwJson_Enter(json, name);
        result = ReadValue(json, key, value, asset, bundle);
        snwJson_Leave(json, mark);
        if (result < 0)
            return result;
    }
    if (bundle->mesh == NULL)
        return snwJson_Fail(json, "name the mesh: \"mesh_file\": \"fish.mesh\"", "there is no mesh_file");

    return result;
}

static snwResult ReadJson(const snwAssetInput* input, snwAsset* asset, Bundle* bundle, snwMessage* message)
{
    snwJson json = {.context = asset->context, .message = message, .file = input->name};
    snwResult result = snw_ok;
    if (input->size > snw_maxBundleBytes)
        return snwFail(message, snw_errorInput, NULL, "too long for a bundle: at most %d bytes", snw_maxBundleBytes);
    json_t* document = snwJson_Parse(&json, input->data, input->size, &result);
    if (document == NULL)
        return result;
    if (!json_is_object(document))
        result = snwJson_Fail(&json, NULL, "a bundle is an object, not %s", snwJson_TypeName(document));
    else
        result = ReadKeys(&json, document, asset, bundle);
    json_decref(document);
    return result;
}

static bool HasFiles(const json_t* document)
{
    return json_object_get(document, "mesh_file") != NULL;
}

bool snwBundle_IsOne(snwContext* context, const char* text, size_t size)
{
    snwJson json = {.context = context, .file = ""};
    snwResult result = snw_ok;
    json_t* document = size > snw_maxBundleBytes ? NULL : snwJson_Parse(&json, text, size, &result);
    bool is = HasFiles(document);
    json_decref(document);
    return is;
}

bool snwBundle_IsOneAt(snwContext* context, const char* path)
{
    char* text = NULL;
    size_t size = 0;
    bool is = snwFile_Read(context, path, snw_maxBundleBytes, &text, &size, NULL) >= 0 &&
              snwBundle_IsOne(context, text, size);
    snwFree(context, text);
    return is;
}

// ---------------------------------------------------------------------------------------------------------------------
// Its files

// What a mesh may come from. Not a bundle again: files do not name each other in circles here.
static const snwAssetReader* MeshReader(const char* name)
{
    const snwAssetReader* reader = snwAssetReader_Find(name);
    if (reader == NULL)
        return NULL;
    switch (reader->format)
    {
        case snw_assetObj:
        case snw_assetPly:
        case snw_assetMedit:
        case snw_assetTetgen:
            return reader;
        default:
            return NULL;
    }
}

static snwResult ReadBundlePart(
    const snwAssetInput* input, const snwAssetReader* reader, const char* name, snwAsset* asset, snwMessage* message)
{
    char* data = NULL;
    size_t size = 0;

    // Which reader, by the name; errors name the part's file, not the bundle's.
    if (reader == NULL)
        return snwFail(message, snw_errorInput, "name a .mesh, .obj, .ply or TetGen file",
            "mesh_file '%.100s' is of no kind that is read here", name);
    snwResult result = input->folder->read(input->folder->user, asset->context, name, &data, &size, message);
    if (result < 0)
        return result;
    snwAssetInput part = {name, data, size, input->folder};
    result = reader->read(&part, asset, message);
    if (result >= 0 && asset->arena.failed)
        result = snwFailMemory(message);
    if (result < 0 && message != NULL && message->file[0] == 0)
        snwMessage_SetFile(message, name);
    snwFree(asset->context, data);

    return result;
}

static snwResult ReadBundleParts(const snwAssetInput* input, const Bundle* bundle, snwAsset* asset, snwMessage* message)
{
    snwResult result = ReadBundlePart(input, MeshReader(bundle->mesh), bundle->mesh, asset, message);
    if (result >= 0 && bundle->handles != NULL)
        result = ReadBundlePart(input, &snw_tgfReader, bundle->handles, asset, message);
    if (result >= 0 && bundle->weights != NULL)
        result = ReadBundlePart(input, &snw_dmatReader, bundle->weights, asset, message);
    if (result >= 0 && bundle->motion != NULL)
        result = ReadBundlePart(input, &snw_handleTextReader, bundle->motion, asset, message);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights

static snwResult CheckBundleWeights(const snwAsset* asset, snwMessage* message)
{
    const snwAssetMatrix* matrix = &asset->matrix;
    if (asset->meshCount != 1)
        return snwFail(message, snw_errorInput, NULL, "weights are of one mesh, and there are %d", asset->meshCount);
    if (matrix->rows != asset->meshes[0].vertexCount)
        return snwFail(message, snw_errorInput, "a row per vertex, a column per handle",
            "weights have %d rows, the mesh %d vertices", matrix->rows, asset->meshes[0].vertexCount);
    if (asset->handleCount > 0 && matrix->columns != asset->movedHandleCount)
        return snwFail(message, snw_errorInput, "a row per vertex, a column per handle",
            "weights have %d columns, and there are %d handles", matrix->columns, asset->movedHandleCount);
    return snw_ok;
}

static bool CountsAsWeight(double value)
{
    return value >= s_crumb;
}

static int64_t CountMatrixEntries(const snwAssetMatrix* matrix)
{
    int64_t count = 0, all = (int64_t)matrix->rows * matrix->columns;
    for (int64_t i = 0; i < all; ++i)
        count += CountsAsWeight(matrix->values[i]);
    return count;
}

// One row: entries from `at` on, summing to one. Returns how many.
static int PutBundleRow(snwAsset* asset, int row, int* bones, double* values)
{
    const snwAssetMatrix* matrix = &asset->matrix;
    double sum = 0;
    int count = 0;

    // Negative and tiny weights are noise of whoever computed them.
    for (int k = 0; k < matrix->columns; ++k)
    {
        double value = matrix->values[(int64_t)k * matrix->rows + row];
        if (value <= -1e-3)
            snwAsset_Note(asset, snw_noteRepaired, "", "weights below zero were set to zero");
        if (!CountsAsWeight(value))
            continue;
        bones[count] = k;
        values[count++] = value;
        sum += value;
    }

    // What was not as it should be is noted once, with a count.
    for (int i = 0; i < count; ++i)
        values[i] /= sum;
    if (count == 0)
        snwAsset_Note(asset, snw_noteOdd, "", "vertices without weights");
    else if (fabs(sum - 1) > 1e-3)
        snwAsset_Note(asset, snw_noteRepaired, "", "weights that did not sum to one were normalised");

    return count;
}

static snwResult MakeBundleWeights(snwAsset* asset, snwMessage* message)
{
    snwResult result = CheckBundleWeights(asset, message);
    if (result < 0)
        return result;
    const snwAssetMatrix* matrix = &asset->matrix;
    int64_t entries = CountMatrixEntries(matrix);
    int* starts = snwAsset_Alloc(asset, matrix->rows + 1, sizeof *starts);
    int* bones = snwAsset_Alloc(asset, entries + 1, sizeof *bones);
    double* values = snwAsset_Alloc(asset, entries + 1, sizeof *values);
    if (starts == NULL || bones == NULL || values == NULL || entries > INT32_MAX)
        return snwFailMemory(message);
    for (int i = 0; i < matrix->rows; ++i)
        starts[i + 1] = starts[i] + PutBundleRow(asset, i, bones + starts[i], values + starts[i]);
    asset->meshes[0].weights = (snwAssetWeights){starts, bones, values, matrix->columns};
    asset->matrix = (snwAssetMatrix){0}; // the weights say it
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

static snwResult SetTimes(snwAsset* asset, double step, snwMessage* message)
{
    snwAssetHandleMotion* motion = &asset->handleMotion;
    if (motion->frameCount == 0 || step == 0)
        return snw_ok;
    double* times = snwAsset_Alloc(asset, motion->frameCount, sizeof *times);
    if (times == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < motion->frameCount; ++i)
        times[i] = i * step;
    motion->times = times;
    return snw_ok;
}

snwResult snwBundle_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    Bundle bundle = {0};
    snwResult result = ReadJson(input, asset, &bundle, message);
    if (result < 0)
        return result;
    if (input->folder == NULL)
        return snwFail(
            message, snw_errorInput, "open it where its files are", "a bundle is read with the files beside it");
    asset->flesh = (snwAssetFlesh){
        bundle.young, bundle.poisson, bundle.timeStep, bundle.scale, bundle.model == NULL ? "" : bundle.model};
    result = ReadBundleParts(input, &bundle, asset, message);
    if (result >= 0 && bundle.weights != NULL)
        result = MakeBundleWeights(asset, message);
    return result < 0 ? result : SetTimes(asset, bundle.timeStep, message);
}

const snwAssetReader snw_bundleReader = {snw_assetBundle, "bundle of a mesh with handles", ".json", snwBundle_Read};
