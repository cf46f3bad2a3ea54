// The block of sinew-import (import/block.h) becomes an asset. The program that wrote it read a hostile file, so
// nothing in it is believed.

#include "asset/import_block.h"

#include "base/bytes.h"
#include "import/block.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Import
{
    snwReader reader;
    snwAsset* asset;
    int* skins; // of every mesh; -1: none
    bool noMemory;
} Import;

static const double s_farthest = 1e30; // products of three still fit

static void* AllocImport(Import* import, int64_t count, size_t size)
{
    void* room = snwAsset_Alloc(import->asset, count + 1, size); // + 1: never nothing
    import->noMemory = import->noMemory || room == NULL;
    import->reader.failed = import->reader.failed || room == NULL; // ends all reading
    return room;
}

static void RefuseImport(Import* import, bool bad)
{
    import->reader.failed = import->reader.failed || bad;
}

static int ReadImportCount(Import* import, size_t least, int most)
{
    int count = snwReadCount(&import->reader, least);
    RefuseImport(import, count < 0 || count > most);
    return import->reader.failed ? 0 : count;
}

static const char* ReadImportText(Import* import)
{
    int length = ReadImportCount(import, 1, 1000);
    const unsigned char* bytes = snwReadBytes(&import->reader, (size_t)length);
    char* text = AllocImport(import, length, 1);
    if (text == NULL || bytes == NULL)
        return "";
    for (int i = 0; i < length; ++i)
        text[i] = bytes[i] < 0x20 || bytes[i] == 0x7f ? ' ' : (char)bytes[i];
    return text;
}

static float Float(Import* import)
{
    int32_t bits = snwReadInt(&import->reader);
    float value;
    memcpy(&value, &bits, sizeof value);
    RefuseImport(import, !isfinite(value));
    return import->reader.failed ? 0 : value;
}

static float* Floats(Import* import, int64_t count)
{
    if (import->reader.failed || (size_t)count * 4 > import->reader.size - import->reader.position)
        import->reader.failed = true;
    float* values = import->reader.failed ? NULL : AllocImport(import, count, sizeof *values);
    for (int64_t i = 0; values != NULL && i < count; ++i)
        values[i] = Float(import);
    return values;
}

static snwAffine Matrix(Import* import)
{
    snwAffine a;
    for (int i = 0; i < 9; ++i)
        a.linear.m[i / 3][i % 3] = snwReadReal(&import->reader);
    a.translation.x = snwReadReal(&import->reader);
    a.translation.y = snwReadReal(&import->reader);
    a.translation.z = snwReadReal(&import->reader);
    for (int i = 0; i < 9; ++i)
        RefuseImport(import, !(fabs(a.linear.m[i / 3][i % 3]) < s_farthest));
    snwVec3 t = a.translation;
    RefuseImport(import, !(fmax(fabs(t.x), fmax(fabs(t.y), fabs(t.z))) < s_farthest));
    return import->reader.failed ? (snwAffine){snwMat3_Identity(), {0, 0, 0}} : a;
}

// ---------------------------------------------------------------------------------------------------------------------
// Nodes

static void ReadNodes(Import* import)
{
    snwAsset* asset = import->asset;
    int count = ReadImportCount(import, 108, snw_maxAssetNodes);
    asset->nodes = AllocImport(import, count, sizeof *asset->nodes);
    for (int i = 0; i < count && !import->reader.failed; ++i)
    {
        snwAssetNode* node = &asset->nodes[asset->nodeCount++];
        node->name = ReadImportText(import);
        node->parent = snwReadInt(&import->reader);
        RefuseImport(import, node->parent < -1 || node->parent >= i); // parents come first
        snwAssetNode_SetLocal(node, Matrix(import));
        node->mesh = snwReadInt(&import->reader);
        node->skin = -1;
        if (node->sheared)
            snwAsset_Note(asset, snw_noteOdd, node->name,
                "a node's matrix shears: no translation, rotation and scale say the same");
    }
}

static void CheckMeshesOfNodes(Import* import)
{
    for (int i = 0; i < import->asset->nodeCount; ++i)
    {
        snwAssetNode* node = &import->asset->nodes[i];
        RefuseImport(import, node->mesh < -1 || node->mesh >= import->asset->meshCount);
        if (!import->reader.failed && node->mesh >= 0)
            node->skin = import->skins[node->mesh];
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

static void ReadImportVertices(Import* import, snwAssetMesh* mesh)
{
    mesh->vertexCount = ReadImportCount(import, 12, snw_maxAssetVertices);
    int flags = snwReadInt(&import->reader);
    const float* floats = Floats(import, 3LL * mesh->vertexCount);
    snwVec3* positions = AllocImport(import, mesh->vertexCount, sizeof *positions);
    for (int i = 0; floats != NULL && positions != NULL && i < mesh->vertexCount; ++i)
        positions[i] = (snwVec3){floats[3 * (size_t)i], floats[3 * (size_t)i + 1], floats[3 * (size_t)i + 2]};
    mesh->positions = positions;
    if (flags & snw_importNormals)
        mesh->normals = (const float(*)[3])Floats(import, 3LL * mesh->vertexCount);
    if (flags & snw_importTexcoords)
        mesh->texcoords = (const float(*)[2])Floats(import, 2LL * mesh->vertexCount);
    if (flags & snw_importColors)
        mesh->colors = (const float(*)[4])Floats(import, 4LL * mesh->vertexCount);
}

static void ReadTriangles(Import* import, snwAssetMesh* mesh)
{
    int count = ReadImportCount(import, 12, snw_maxAssetVertices);
    int(*triangles)[3] = AllocImport(import, count, sizeof *triangles);
    for (int i = 0; i < count && !import->reader.failed; ++i)
        for (int k = 0; k < 3; ++k)
        {
            triangles[i][k] = snwReadInt(&import->reader);
            RefuseImport(import, triangles[i][k] < 0 || triangles[i][k] >= mesh->vertexCount);
        }
    mesh->triangles = (const int(*)[3])triangles;
    mesh->triangleCount = count;
}

// Influences of all bones of a mesh as they stand in the block: twice read, to count and to fill.
typedef struct Influences
{
    int* starts;
    int* ends; // of the rows as far as they are filled
    int* bones;
    double* values;
} Influences;

static void CountMeshInfluences(Import* import, const snwAssetMesh* mesh, Influences* rows)
{
    int weights = ReadImportCount(import, 8, snw_maxAssetVertices);
    for (int i = 0; i < weights && !import->reader.failed; ++i)
    {
        int vertex = snwReadInt(&import->reader);
        Float(import);
        RefuseImport(import, vertex < 0 || vertex >= mesh->vertexCount);
        if (!import->reader.failed)
            rows->starts[vertex + 1] += 1;
    }
}

static void PutInfluences(Import* import, int bone, Influences* rows)
{
    int weights = snwReadInt(&import->reader);
    for (int i = 0; i < weights; ++i)
    {
        int vertex = snwReadInt(&import->reader);
        double weight = (double)Float(import);
        int* end = &rows->ends[vertex];
        if (!(weight > 0))
            continue;
        if (*end > rows->starts[vertex] && rows->bones[*end - 1] == bone)
            rows->values[*end - 1] += weight;
        else
        {
            rows->bones[*end] = bone;
            rows->values[(*end)++] = weight;
        }
    }
}

// Rows close up and sum to one.
static void EndInfluences(snwAsset* asset, const snwAssetMesh* mesh, Influences* rows)
{
    int filled = 0;

    // Rows move down over the room that their vertices did not need.
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        double sum = 0;
        int begin = filled;
        for (int k = rows->starts[i]; k < rows->ends[i]; ++k, ++filled)
        {
            rows->bones[filled] = rows->bones[k];
            rows->values[filled] = rows->values[k];
            sum += rows->values[k];
        }

        for (int k = begin; k < filled; ++k)
            rows->values[k] /= sum;
        rows->starts[i] = begin;
        if (begin == filled)
            snwAsset_Note(asset, snw_noteOdd, mesh->name, "vertices that no bone holds: paint weights for them");
        else if (fabs(sum - 1) > 1e-3)
            snwAsset_Note(
                asset, snw_noteRepaired, mesh->name, "weights of vertices that did not sum to one were normalised");
    }
    rows->starts[mesh->vertexCount] = filled;
}

static void ReadBoneHeads(Import* import, const snwAssetMesh* mesh, snwAssetSkin* skin, Influences* rows)
{
    int* joints = AllocImport(import, skin->jointCount, sizeof *joints);
    snwAffine* binds = AllocImport(import, skin->jointCount, sizeof *binds);
    for (int i = 0; i < skin->jointCount && !import->reader.failed; ++i)
    {
        joints[i] = snwReadInt(&import->reader);
        RefuseImport(import, joints[i] < 0 || joints[i] >= import->asset->nodeCount);
        binds[i] = Matrix(import);
        CountMeshInfluences(import, mesh, rows);
    }
    skin->joints = joints;
    skin->inverseBinds = binds;
}

// Checked by ReadBoneHeads.
static void FillMeshInfluences(Import* import, const snwAssetMesh* mesh, const snwAssetSkin* skin, Influences* rows)
{
    for (int i = 0; i < mesh->vertexCount; ++i)
        rows->starts[i + 1] += rows->starts[i];
    int total = rows->starts[mesh->vertexCount];
    rows->ends = AllocImport(import, mesh->vertexCount, sizeof *rows->ends);
    rows->bones = AllocImport(import, total, sizeof *rows->bones);
    rows->values = AllocImport(import, total, sizeof *rows->values);
    if (import->reader.failed)
        return;
    memcpy(rows->ends, rows->starts, (size_t)mesh->vertexCount * sizeof *rows->ends);
    for (int i = 0; i < skin->jointCount; ++i)
    {
        snwReadInt(&import->reader);
        Matrix(import);
        PutInfluences(import, i, rows);
    }
    EndInfluences(import->asset, mesh, rows);
}

// One skin per mesh with bones.
static void ReadImportBones(Import* import, snwAssetMesh* mesh)
{
    snwAssetSkin skin = {.name = mesh->name, .root = -1, .jointCount = ReadImportCount(import, 104, snw_maxAssetNodes)};
    Influences rows = {0};
    if (skin.jointCount == 0 || import->reader.failed)
        return;
    size_t mark = import->reader.position;
    rows.starts = AllocImport(import, mesh->vertexCount + 1LL, sizeof *rows.starts);
    if (rows.starts != NULL)
        ReadBoneHeads(import, mesh, &skin, &rows);
    if (import->reader.failed)
        return;
    import->reader.position = mark;
    FillMeshInfluences(import, mesh, &skin, &rows);
    mesh->weights = (snwAssetWeights){rows.starts, rows.bones, rows.values, skin.jointCount};
    import->skins[mesh - import->asset->meshes] = import->asset->skinCount;
    import->asset->skins[import->asset->skinCount++] = skin;
}

static void ReadMeshes(Import* import)
{
    snwAsset* asset = import->asset;
    int count = ReadImportCount(import, 24, snw_maxAssetNodes);
    asset->meshes = AllocImport(import, count, sizeof *asset->meshes);
    asset->skins = AllocImport(import, count, sizeof *asset->skins);
    import->skins = AllocImport(import, count, sizeof *import->skins);

    // Each mesh with its skin; a mesh of assimp's is one part.
    for (int i = 0; i < count && !import->reader.failed; ++i)
    {
        snwAssetMesh* mesh = &asset->meshes[asset->meshCount++];
        import->skins[i] = -1;
        mesh->name = ReadImportText(import);
        const char* material = ReadImportText(import);
        ReadImportVertices(import, mesh);
        ReadTriangles(import, mesh);
        ReadImportBones(import, mesh);
        snwAssetPart* part = AllocImport(import, 1, sizeof *part);
        if (part != NULL)
            *part = (snwAssetPart){mesh->name, material, 0, mesh->vertexCount, 0, mesh->triangleCount};
        mesh->parts = part;
        mesh->partCount = 1;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Animations

// Keys whose time does not rise are left out; rotations are made unit.
static int CloseUpKeys(snwAsset* asset, const char* name, snwAssetChannel* channel, double* times, double* values)
{
    int kept = 0;

    for (int i = 0; i < channel->keyCount; ++i)
    {
        if (kept > 0 && !(times[i] > times[kept - 1]))
        {
            snwAsset_Note(asset, snw_noteRepaired, name, "keys whose time does not rise were left out");
            continue;
        }

        times[kept] = times[i];
        memmove(values + (size_t)kept * (size_t)channel->width, values + (size_t)i * (size_t)channel->width,
            (size_t)channel->width * sizeof *values);

        // Rotations are read as unit quaternions.
        double* q = values + (size_t)kept++ * (size_t)channel->width;
        if (channel->path != snw_pathRotation)
            continue;
        snwQuat unit = snwQuat_Normalize((snwQuat){q[0], q[1], q[2], q[3]});
        q[0] = unit.x, q[1] = unit.y, q[2] = unit.z, q[3] = unit.w;
    }

    return kept;
}

// False if the channel has no keys, or no node.
static bool ReadImportTrack(Import* import, const char* name, snwAssetChannel* channel)
{
    channel->width = channel->path == snw_pathRotation ? 4 : 3;
    channel->interpolation = snw_assetLinear;
    channel->keyCount = ReadImportCount(import, 8 * (1 + (size_t)channel->width), snw_maxAssetVertices);
    int64_t count = (int64_t)channel->keyCount * channel->width;
    double* times = AllocImport(import, channel->keyCount, sizeof *times);
    double* values = AllocImport(import, count, sizeof *values);
    for (int i = 0; i < channel->keyCount && !import->reader.failed; ++i)
        times[i] = snwReadReal(&import->reader);
    for (int64_t i = 0; i < count && !import->reader.failed; ++i)
        values[i] = snwReadReal(&import->reader);
    if (import->reader.failed || channel->keyCount == 0 || channel->node < 0)
        return false;
    channel->keyCount = CloseUpKeys(import->asset, name, channel, times, values);
    channel->times = times;
    channel->values = values;
    return true;
}

static void ReadImportAnimation(Import* import, snwAssetAnimation* animation)
{
    animation->name = ReadImportText(import);
    int count = ReadImportCount(import, 16, snw_maxAssetNodes);
    snwAssetChannel* channels = AllocImport(import, 3LL * count, sizeof *channels);
    for (int i = 0; i < 3 * count && !import->reader.failed; ++i)
    {
        static const snwAssetPath s_paths[] = {snw_pathTranslation, snw_pathRotation, snw_pathScale};
        snwAssetChannel* channel = &channels[animation->channelCount];
        int node = i % 3 == 0 ? snwReadInt(&import->reader) : channel->node;
        RefuseImport(import, node < -1 || node >= import->asset->nodeCount);
        *channel = (snwAssetChannel){.node = node, .path = s_paths[i % 3]};
        if (ReadImportTrack(import, animation->name, channel))
            channels[++animation->channelCount].node = node; // the next one's
        if (node < 0)
            snwAsset_Note(import->asset, snw_noteLeftOut, animation->name, "keys of nodes that are not there");
    }
    animation->channels = channels;
}

static void SetSpan(snwAssetAnimation* animation)
{
    for (int i = 0; i < animation->channelCount; ++i)
    {
        const snwAssetChannel* channel = &animation->channels[i];
        double start = channel->times[0], end = channel->times[channel->keyCount - 1];
        animation->start = i == 0 ? start : fmin(animation->start, start);
        animation->end = i == 0 ? end : fmax(animation->end, end);
    }
}

static void ReadAnimations(Import* import)
{
    snwAsset* asset = import->asset;
    int count = ReadImportCount(import, 8, snw_maxAssetNodes);
    asset->animations = AllocImport(import, count, sizeof *asset->animations);
    for (int i = 0; i < count && !import->reader.failed; ++i)
    {
        snwAssetAnimation* animation = &asset->animations[asset->animationCount++];
        ReadImportAnimation(import, animation);
        if (!import->reader.failed)
            SetSpan(animation);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

static snwResult FailWhy(Import* import, snwMessage* message)
{
    const char* why = ReadImportText(import);
    return snwFail(message, snw_errorInput, "export it again, best as glTF", "%.150s",
        why[0] == 0 ? "assimp cannot read it" : why);
}

snwResult snwImportBlock_Read(snwAsset* asset, const void* data, size_t size, snwMessage* message)
{
    Import import = {.reader = {.data = data, .size = size}, .asset = asset};

    // What the helper writes, in its order; every number is looked at.
    int magic = snwReadInt(&import.reader);
    if (magic == snw_importFailed && !import.reader.failed)
        return FailWhy(&import, message);
    RefuseImport(&import, magic != snw_importScene);
    asset->scale = snwReadReal(&import.reader);
    RefuseImport(&import, asset->scale < 0);
    ReadNodes(&import);
    ReadMeshes(&import);
    CheckMeshesOfNodes(&import);
    ReadAnimations(&import);
    RefuseImport(&import, snwReadInt(&import.reader) != snw_importScene);

    if (import.noMemory)
        return snwFailMemory(message);
    if (import.reader.failed)
        return snwFail(message, snw_errorInput, "export it again, best as glTF",
            "what assimp made of it makes no sense: numbers that are not finite, or too many");

    return snw_ok;
}
