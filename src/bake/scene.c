// The plan as a scene file and a prepared file, side by side in the folder of the bake. They are read back before they
// are run: what is baked is what the files say.

#include "bake/parts.h"

#include "base/result.h"
#include "scene/file.h"
#include "scene/text.h"
#include "scene/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNW_NEAR_GROUND 0.1 // of the size: feet so near to height 0 stand on it

// ---------------------------------------------------------------------------------------------------------------------
// Colliders

// Where the artist's flesh is lowest in the range.
static snwResult FindLowest(snwBake* bake, double* lowest, snwMessage* message)
{
    const snwCharacter* body = snwPrepared_GetCharacter(bake->prepared);
    const snwCharacterDef* def = snwCharacter_GetDef(body);
    snwTransform* pose = snwAllocArray(bake->context, (size_t)def->boneCount + 1, sizeof *pose);
    const snwWeights* weights = &def->boneWeights;

    if (pose == NULL)
        return snwFailMemory(message);
    *lowest = INFINITY;

    // Every frame of the range, skinned as far as heights go.
    for (int f = 0; f < bake->plan.frameCount; ++f)
    {
        snwCharacter_Pose(body, bake->plan.motion, bake->plan.start + f / bake->plan.rate, pose, def->boneCount);
        for (int v = 0; v < def->vertexCount; ++v)
        {
            double y = weights->vertexCount > 0 ? 0 : def->vertices[v].y;
            for (int i = weights->vertexCount > 0 ? weights->starts[v] : 0;
                 weights->vertexCount > 0 && i < weights->starts[v + 1]; ++i)
                y += weights->values[i] * snwTransform_Apply(pose[weights->handles[i]], def->vertices[v]).y;
            *lowest = fmin(*lowest, y);
        }
    }

    snwFree(bake->context, pose);
    return snw_ok;
}

static snwResult WriteGround(snwBake* bake, snwText* text, snwMessage* message)
{
    double lowest = 0;
    snwResult result = FindLowest(bake, &lowest, message);
    if (fabs(lowest) <= SNW_NEAR_GROUND * bake->report.size)
        lowest = 0;
    else
        snwBake_Note(bake, "the ground is at a height of %.4g m, where the character is lowest", lowest);
    snwText_Open(text, '{');
    snwText_Key(text, "name");
    snwText_String(text, "ground");
    snwText_Key(text, "kind");
    snwText_String(text, "plane");
    snwText_Key(text, "position");
    snwText_Reals(text, (double[]){0, lowest, 0}, 3);
    snwText_Close(text, '}');
    return result;
}

static void WriteAssetMesh(snwText* text, const snwAssetMesh* mesh, snwAffine place)
{
    snwText_Key(text, "vertices");
    snwText_Open(text, '[');
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        snwVec3 x = snwAffine_Apply(place, mesh->positions[i]);
        snwText_Reals(text, (double[]){x.x, x.y, x.z}, 3);
    }
    snwText_Close(text, ']');
    snwText_Key(text, "triangles");
    snwText_Open(text, '[');
    for (int i = 0; i < mesh->triangleCount; ++i)
        snwText_Reals(text, (double[]){mesh->triangles[i][0], mesh->triangles[i][1], mesh->triangles[i][2]}, 3);
    snwText_Close(text, ']');
}

static snwAffine MeshPlace(const snwAsset* asset, int mesh)
{
    snwAffine place = {snwMat3_Diagonal(1, 1, 1), {0, 0, 0}};
    for (int i = 0; i < asset->nodeCount; ++i)
        for (int node = i; asset->nodes[i].mesh == mesh && node >= 0; node = asset->nodes[node].parent)
            place = snwAffine_Compose(asset->nodes[node].local, place);
    return place;
}

static snwResult WriteMeshFile(snwBake* bake, snwText* text, const char* path, int number, snwMessage* message)
{
    snwAsset* asset = NULL;
    snwResult result = snwAsset_Open(bake->context, path, &asset, message);
    double scale = snwPrepared_GetInfo(bake->prepared).scale;

    // Every mesh of the file is a collider of its own, in metres.
    for (int m = 0; result >= 0 && m < asset->meshCount; ++m)
    {
        char name[64];
        snwAffine place = MeshPlace(asset, m);
        for (int i = 0; i < 9; ++i)
            place.linear.m[i / 3][i % 3] *= scale;
        place.translation = snwVec3_Scale(place.translation, scale);
        snprintf(name, sizeof name, "obstacle-%d-%d", number + 1, m + 1);
        snwText_Open(text, '{');
        snwText_Key(text, "name");
        snwText_String(text, name);
        snwText_Key(text, "kind");
        snwText_String(text, "mesh");
        WriteAssetMesh(text, &asset->meshes[m], place);
        snwText_Close(text, '}');
    }

    snwAsset_Close(asset);
    return result < 0 ? result : snw_ok;
}

static snwResult WriteBakeColliders(snwBake* bake, snwText* text, snwMessage* message)
{
    const json_t* collide = bake->settings.collide;
    snwResult result = snw_ok;
    if (json_array_size(collide) == 0)
        return snw_ok;
    snwText_Key(text, "colliders");
    snwText_Open(text, '[');
    for (size_t i = 0; i < json_array_size(collide) && result >= 0; ++i)
    {
        const char* word = json_string_value(json_array_get(collide, i));
        result = strcmp(word, "ground") == 0 ? WriteGround(bake, text, message)
                                             : WriteMeshFile(bake, text, word, (int)i, message);
    }
    snwText_Close(text, ']');
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Settings of the method

static bool HasParam(int method, const char* name)
{
    for (int i = 0; i < snwMethod_GetInfo(method).paramCount; ++i)
        if (strcmp(snwMethod_GetParam(method, i)->name, name) == 0)
            return true;
    return false;
}

static snwResult SetOwn(json_t* settings, const char* method, const char* name, json_t* value, snwMessage* message)
{
    char full[96];
    snprintf(full, sizeof full, "%.40s.%s", method, name);
    bool known = HasParam(snwMethod_Find(method), full);
    if (known)
        json_object_set_new(settings, full, value);
    else
        json_decref(value);
    return known ? snw_ok : snwFail(message, snw_errorInput, "another --method", "method %s has no %s", method, full);
}

// What the words say, then --set, which wins.
static snwResult FindSceneSettings(const snwBake* bake, json_t* out, snwMessage* message)
{
    const snwBakeSettings* settings = &bake->settings;
    const char* method = settings->method;
    snwResult result = snw_ok;
    if (snwMethod_Find(method) < 0)
        return snwFail(message, snw_errorInput, "pbcd", "there is no method '%s'", snwQuoteWord(method).text);
    if (settings->substeps > 0)
        json_object_set_new(out, "sim.substeps", json_integer(settings->substeps));
    if (settings->iterations > 0)
        result = SetOwn(out, method, "iterations", json_integer(settings->iterations), message);
    if (result >= 0 && settings->selfCollision)
        result = SetOwn(out, method, "self", json_true(), message);
    if (result >= 0 && settings->keepTrajectory)
        result = SetOwn(out, method, "complement", json_string("rig"), message);
    json_object_update(out, (json_t*)settings->settings);
    return result;
}

static snwResult WriteBakeSettings(const snwBake* bake, snwText* text, snwMessage* message)
{
    json_t* settings = json_object();
    snwResult result = FindSceneSettings(bake, settings, message);
    char* words = result >= 0 ? json_dumps(settings, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (words != NULL)
    {
        snwText_Key(text, "settings");
        snwText_Json(text, words);
    }
    free(words);
    json_decref(settings);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The files

static void WriteBakeBody(const snwBake* bake, snwText* text, const char* file)
{
    const snwCharacterDef* character = snwCharacter_GetDef(snwPrepared_GetCharacter(bake->prepared));
    const snwBakePlan* plan = &bake->plan;
    snwText_Key(text, "bodies");

    // The prepared character, in the clip that is baked, after it has stood still for the run-in.
    snwText_Open(text, '[');
    snwText_Open(text, '{');
    snwText_Key(text, "name");
    snwText_String(text, "character");
    snwText_Key(text, "character");
    snwText_Open(text, '{');
    snwText_Key(text, "file");
    snwText_String(text, file);
    snwText_Close(text, '}');
    snwText_Key(text, "motion");
    snwText_String(text, character->motions[plan->motion].name);
    snwText_Key(text, "motion_start");
    snwText_Real(text, plan->start);
    snwText_Key(text, "motion_wait");
    snwText_Real(text, plan->prerollFrames / plan->rate);
    snwText_Close(text, '}');
    snwText_Close(text, ']');
}

// file: of the character, beside the scene. lastFrame: of the run.
static snwResult WriteBakeScene(snwBake* bake, snwText* text, const char* file, int lastFrame, snwMessage* message)
{
    const snwBakeSettings* settings = &bake->settings;

    // As a person would write it, so that the scene can be used by itself.
    snwText_Open(text, '{');
    snwText_Key(text, "sinew");
    snwText_Int(text, 1);
    snwText_Key(text, "name");
    snwText_String(text, bake->name);
    snwText_Key(text, "method");
    snwText_String(text, settings->method);
    snwText_Key(text, "gravity");
    snwText_Reals(text, (double[]){0, -settings->gravity, 0}, 3);
    snwText_Key(text, "rate");
    snwText_Real(text, bake->plan.rate);
    snwText_Key(text, "duration");
    snwText_Real(text, lastFrame / bake->plan.rate);
    snwResult result = WriteBakeSettings(bake, text, message);
    WriteBakeBody(bake, text, file);
    if (result >= 0)
        result = WriteBakeColliders(bake, text, message);
    snwText_Close(text, '}');
    snwText_Raw(text, "\n", 1);

    return result >= 0 && text->failed ? snwFailMemory(message) : result;
}

typedef struct Files
{
    const char *scene, *character; // paths
    const char* word;              // the character as the scene names it
    int lastFrame;
    bool overwrite;
} Files;

static snwResult WriteSceneFiles(snwBake* bake, const Files* files, snwMessage* message)
{
    void* data = NULL;
    size_t size = 0;
    snwText text = snwCreateText(bake->context, 3);
    snwResult result = WriteBakeScene(bake, &text, files->word, files->lastFrame, message);
    if (result >= 0)
        result = snwPrepared_Save(bake->prepared, &data, &size, message);
    if (result >= 0)
        result = snwFile_Write(bake->context, files->character, data, size, files->overwrite, message);
    if (result >= 0)
        result = snwFile_Write(bake->context, files->scene, text.data, text.size, files->overwrite, message);
    snwFree(bake->context, data);
    snwText_Free(&text);
    return result;
}

snwResult snwBake_MakeScene(snwBake* bake, snwMessage* message)
{
    char scene[snw_bakePathSize], character[snw_bakePathSize];
    snwSceneOptions options = snwDefaultSceneOptions();
    snwResult result = snwBake_Path(bake, "scene.json", scene, message);
    if (result >= 0)
        result = snwBake_Path(bake, "character.snw", character, message);
    if (result >= 0)
        result = snwBake_Path(bake, "frames.snwf", bake->framesPath, message);
    Files files = {scene, character, "character.snw", bake->plan.lastFrame, true};
    if (result >= 0)
        result = WriteSceneFiles(bake, &files, message);
    return result < 0 ? result : snwSceneFile_Open(bake->context, scene, &options, &bake->scene, message);
}

snwResult snwBake_SaveScene(const snwBake* bake, const char* path, bool overwrite, snwMessage* message)
{
    char character[snw_bakePathSize];
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    int length = dot != NULL && (slash == NULL || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    if (snprintf(character, sizeof character, "%.*s.snw", length, path) >= (int)sizeof character)
        return snwFail(message, snw_errorIo, "a shorter --scene", "the path is too long");
    const char* word = slash != NULL ? character + (slash - path) + 1 : character;
    int last = bake->plan.cycleFrames > 0 && bake->plan.firstFrame > 0
                   ? bake->plan.firstFrame + bake->plan.cycleFrames + 1
                   : bake->plan.lastFrame;
    Files files = {path, character, word, last, overwrite};
    return WriteSceneFiles((snwBake*)bake, &files, message);
}
