// Assets: what every reader fills in, notes about what was odd, repaired or left out, poses taken out of matrices,
// the reader of a file by its ending, and files beside it, which may not lead out of its folder.

#define _XOPEN_SOURCE 700 // realpath

#include "asset/asset.h"

#include "asset/gltf.h"
#include "asset/rig_parts.h"
#include "math/eigen.h"
#include "scene/file.h"
#include "scene/words.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// For readers

void* snwAsset_Alloc(snwAsset* asset, int64_t count, size_t size)
{
    if (count < 0 || count > (int64_t)snw_maxAssetVertices * 16)
        return NULL;
    return snwArena_Alloc(&asset->arena, (size_t)count, size);
}

static snwAssetNote* FindNote(snwAsset* asset, snwAssetNoteKind kind, const char* text)
{
    for (int i = 0; i < asset->noteCount; ++i)
        if (asset->notes[i].kind == kind && strcmp(asset->notes[i].text, text) == 0)
            return &asset->notes[i];
    return NULL;
}

static void AddNote(snwAsset* asset, snwAssetNote note, const char* place, const char* format, va_list list)
{
    vsnprintf(note.text, sizeof note.text, format, list);
    snprintf(note.place, sizeof note.place, "%s", place);
    snwAssetNote* known = FindNote(asset, note.kind, note.text);
    if (known != NULL)
    {
        known->count += note.count;
        return;
    }
    if (asset->notes == NULL)
        asset->notes = snwArena_Alloc(&asset->arena, snw_maxAssetNotes, sizeof *asset->notes);
    if (asset->notes == NULL || asset->noteCount == snw_maxAssetNotes)
        asset->notesLost += note.count;
    else
        asset->notes[asset->noteCount++] = note;
}

void snwAsset_Note(snwAsset* asset, snwAssetNoteKind kind, const char* place, const char* format, ...)
{
    va_list list;
    va_start(list, format);
    AddNote(asset, (snwAssetNote){.kind = kind, .count = 1}, place, format, list);
    va_end(list);
}

void snwAsset_NoteMany(
    snwAsset* asset, snwAssetNoteKind kind, int64_t count, const char* place, const char* format, ...)
{
    va_list list;
    va_start(list, format);
    if (count > 0)
        AddNote(asset, (snwAssetNote){.kind = kind, .count = count}, place, format, list);
    va_end(list);
}

const char* snwAsset_Text(snwAsset* asset, const char* text, int size)
{
    enum
    {
        snw_longest = 200
    };

    // Cut to what fits into a message.
    char* copy = snwArena_Alloc(&asset->arena, (size_t)(size < snw_longest ? size : snw_longest) + 1, 1);

    // Letter by letter of UTF-8: what is none, and control codes, become question marks; no letter is cut in half.
    for (int i = 0, to = 0; copy != NULL && i < size;)
    {
        int bytes = snwUtf8Size(text + i, (size_t)(size - i));
        if (to + (bytes == 0 ? 1 : bytes) > snw_longest)
            break;
        if (bytes == 0 || (bytes == 1 && ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)))
            copy[to++] = '?', bytes = 1;
        else
            for (int k = 0; k < bytes; ++k)
                copy[to++] = text[i + k];
        i += bytes;
    }
    return copy == NULL ? "" : copy;
}

static bool IsOrthogonal(snwMat3 a)
{
    for (int i = 0; i < 3; ++i)
    {
        snwVec3 p = snwMat3_Column(a, i), q = snwMat3_Column(a, (i + 1) % 3);
        if (fabs(snwVec3_Dot(p, q)) > 1e-4 * snwVec3_Length(p) * snwVec3_Length(q))
            return false;
    }
    return true;
}

// Rotation times scale where the axes are orthogonal; else the polar rotation and what is left along its axes. A mirror
// is a negative scale.
static snwAssetPose TakeApart(snwAffine a, bool* sheared)
{
    *sheared = !IsOrthogonal(a.linear);
    double mirror = snwMat3_Determinant(a.linear) < 0 ? -1 : 1;
    snwMat3 rotation = snwPolar3_Compute(snwMat3_Scale(a.linear, mirror)).rotation;
    snwMat3 rest = snwMat3_TransposeMul(rotation, a.linear);
    snwAssetPose pose = {a.translation, snwQuat_FromMat3(rotation), {rest.m[0][0], rest.m[1][1], rest.m[2][2]}};
    return pose;
}

void snwAssetNode_SetLocal(snwAssetNode* node, snwAffine local)
{
    node->pose = TakeApart(local, &node->sheared);
    node->local = node->sheared ? local
                                : snwAffine_FromTrs(node->pose.translation, node->pose.rotation, node->pose.scale);
}

// ---------------------------------------------------------------------------------------------------------------------
// Formats

static bool HasEnding(const char* path, const char* ending, size_t size)
{
    size_t length = strlen(path);
    return length > size && strncasecmp(path + length - size, ending, size) == 0;
}

static bool ReadsPath(const snwAssetReader* reader, const char* path)
{
    for (const char* ending = reader->endings; *ending != 0;)
    {
        size_t size = strcspn(ending, " ");
        if (HasEnding(path, ending, size))
            return true;
        ending += size + strspn(ending + size, " ");
    }
    return false;
}

const snwAssetReader* snwAssetReader_Find(const char* path)
{
    const snwAssetReader* reader;
    for (int i = 0; (reader = snwAssetReader_Get(i)) != NULL; ++i)
        if (ReadsPath(reader, path))
            return reader;
    return NULL;
}

bool snwAsset_IsOne(snwContext* context, const char* path)
{
    const snwAssetReader* reader = snwAssetReader_Find(path);
    return reader != NULL && (reader->format != snw_assetBundle || snwBundle_IsOneAt(context, path));
}

// ---------------------------------------------------------------------------------------------------------------------
// The folder of a file

static bool IsInsideFolder(const char* name)
{
    if (name[0] == 0 || name[0] == '/' || strchr(name, '\\') != NULL || strchr(name, ':') != NULL)
        return false;
    for (const char* part = name; part != NULL; part = strchr(part, '/'))
    {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == 0))
            return false;
    }
    return true;
}

// The real place of the file must be below the real place of the folder: no link leads out.
static bool StaysInside(const char* folder, const char* path)
{
    char* home = realpath(folder, NULL);
    char* real = realpath(path, NULL);
    size_t length = home == NULL ? 0 : strlen(home);
    bool inside = home != NULL && real != NULL && strncmp(home, real, length) == 0 &&
                  (real[length] == '/' || (length == 1 && home[0] == '/'));
    free(home);
    free(real);
    return inside;
}

static snwResult ReadFileBeside(
    void* user, snwContext* context, const char* name, char** data, size_t* size, snwMessage* message)
{
    const char* file = user;
    const char* slash = strrchr(file, '/');
    int length = slash == NULL ? 0 : (int)(slash - file) + 1;
    char path[PATH_MAX], home[PATH_MAX];
    if (!IsInsideFolder(name))
        return snwFail(message, snw_errorInput, "put the file into the same folder and name it without a path",
            "it names a file outside of its folder: '%.100s'", name);
    if (snprintf(path, sizeof path, "%.*s%s", length, file, name) >= (int)sizeof path)
        return snwFail(message, snw_errorInput, NULL, "the name of a file beside it is too long");
    snprintf(home, sizeof home, "%.*s", length, file);
    if (access(path, F_OK) == 0 && !StaysInside(length == 0 ? "." : home, path))
        return snwFail(message, snw_errorInput, "copy the file into the folder",
            "'%.100s' is a link that leads out of the folder", name);
    return snwFile_Read(context, path, snw_maxAssetBytes, data, size, message);
}

snwAssetFolder snwAssetFolder_Of(const char* path)
{
    return (snwAssetFolder){ReadFileBeside, (void*)(uintptr_t)path};
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

static snwResult FailUnknown(const char* path, snwMessage* message)
{
    snwResult result = snwFail(message, snw_errorInput, "the ending must be one that `sinew help check` lists",
        "no reader for files of this kind");
    snwMessage_SetFile(message, path);
    return result;
}

static char* NameOfAsset(snwArena* arena, const char* path)
{
    const char* slash = strrchr(path, '/');
    char* name = snwArena_Text(arena, slash == NULL ? path : slash + 1);
    char* dot = name == NULL ? NULL : strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = 0;
    return name;
}

snwResult snwAsset_Read(snwContext* context, const snwAssetInput* input, snwAsset** out, snwMessage* message)
{
    *out = NULL;
    const snwAssetReader* reader = snwAssetReader_Find(input->name);
    if (reader == NULL)
        return FailUnknown(input->name, message);
    snwAsset* asset = snwAlloc(context, sizeof *asset);
    if (asset == NULL)
        return snwFailMemory(message);

    // By the ending of its name; the arena lives as long as the asset.
    asset->context = context;
    asset->arena.context = context;
    asset->format = reader->format;
    asset->name = NameOfAsset(&asset->arena, input->name);

    snwResult result = asset->name == NULL ? snwFailMemory(message) : reader->read(input, asset, message);
    if (result >= 0 && asset->arena.failed)
        result = snwFailMemory(message);

    // The message names the file, unless the reader has named another one.
    if (result < 0)
    {
        if (message != NULL && message->file[0] == 0)
            snwMessage_SetFile(message, input->name);
        snwAsset_Close(asset);
        return result;
    }
    *out = asset;
    return result;
}

snwResult snwAsset_Open(snwContext* context, const char* path, snwAsset** asset, snwMessage* message)
{
    *asset = NULL;
    if (snwAssetReader_Find(path) == NULL)
        return FailUnknown(path, message);
    char* data = NULL;
    size_t size = 0;
    snwResult result = snwFile_Read(context, path, snw_maxAssetBytes, &data, &size, message);
    if (result < 0)
        return result;
    snwAssetFolder folder = snwAssetFolder_Of(path);
    snwAssetInput input = {path, data, size, &folder};
    result = snwAsset_Read(context, &input, asset, message);
    snwFree(context, data);
    return result;
}

static bool FollowsBones(const snwAsset* asset, int node)
{
    int mesh = asset->nodes[node].mesh;
    return mesh >= 0 && asset->nodes[node].skin >= 0 && asset->meshes[mesh].weights.starts != NULL;
}

static bool IsJoint(const snwAsset* asset, int node)
{
    bool is = false;
    for (int s = 0; s < asset->skinCount; ++s)
        for (int j = 0; j < asset->skins[s].jointCount && !is; ++j)
            is = asset->skins[s].joints[j] == node;
    return is;
}

bool snwAsset_IsScenery(const snwAsset* asset, int node)
{
    bool others = false;

    // Only beside something that follows bones can anything be scenery.
    for (int i = 0; i < asset->nodeCount && !others; ++i)
        others = FollowsBones(asset, i);
    if (!others || FollowsBones(asset, node))
        return false;

    // Nothing above it moves: no joint, no channel.
    for (int above = node; above >= 0; above = asset->nodes[above].parent)
    {
        if (IsJoint(asset, above))
            return false;
        for (int a = 0; a < asset->animationCount; ++a)
            for (int k = 0; k < asset->animations[a].channelCount; ++k)
            {
                const snwAssetChannel* channel = &asset->animations[a].channels[k];
                if (channel->node == above && (channel->path != snw_pathMorphs || above == node))
                    return false;
            }
    }
    return true;
}

const char* snwAsset_NameSurface(const snwAsset* asset, int mesh, int node)
{
    if (node < 0 || (asset->nodes[node].name[0] == 0 && asset->meshes[mesh].name[0] != 0))
        return asset->meshes[mesh].name;
    while (asset->nodes[node].name[0] == 0 && asset->nodes[node].parent >= 0)
        node = asset->nodes[node].parent;
    return asset->nodes[node].name;
}

void snwAsset_Close(snwAsset* asset)
{
    if (asset == NULL)
        return;
    snwGltf_Free(asset->gltf);
    snwArena_Free(&asset->arena);
    snwFree(asset->context, asset);
}
