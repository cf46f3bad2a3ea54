// sinew-import ENDING: reads an FBX, DAE, BVH ... on standard input with assimp and writes what it holds to standard
// output (block.h). A program of its own, with limits, because assimp reads such files in good faith: what crashes or
// eats memory here is an error message there.

#include "import/block.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum
{
    snw_maxInput = 1 << 30,
    snw_secondsOfWork = 60,
    snw_maxNodes = 100000,
};

// ---------------------------------------------------------------------------------------------------------------------
// Bytes. Writing is checked once, at the end.

static void PutInt(int value)
{
    const uint32_t bits = (uint32_t)value;
    const unsigned char bytes[4] = {
        (unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16), (unsigned char)(bits >> 24)};
    fwrite(bytes, 1, sizeof bytes, stdout);
}

static void PutFloat(float value)
{
    int bits;
    memcpy(&bits, &value, sizeof bits);
    PutInt(bits);
}

static void PutImportReal(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    PutInt((int)(uint32_t)bits);
    PutInt((int)(uint32_t)(bits >> 32));
}

static void PutText(const char* text)
{
    size_t length = strnlen(text, 1000);
    PutInt((int)length);
    fwrite(text, 1, length, stdout);
}

static void PutImportVec(struct aiVector3D v)
{
    PutFloat(v.x);
    PutFloat(v.y);
    PutFloat(v.z);
}

static void PutImportMatrix(struct aiMatrix4x4 m)
{
    const double values[12] = {m.a1, m.a2, m.a3, m.b1, m.b2, m.b3, m.c1, m.c2, m.c3, m.a4, m.b4, m.c4};
    for (int i = 0; i < 12; ++i)
        PutImportReal(values[i]);
}

static int FailImport(const char* why)
{
    PutInt(snw_importFailed);
    PutText(why);
    return fflush(stdout) == 0 ? 0 : 1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Nodes, in a list: parents before children. A node of several meshes gets children that carry the further ones.

typedef struct Item
{
    const struct aiNode* node;
    int parent;
    int mesh;
    bool extra; // carries a further mesh of its parent
} Item;

typedef struct List
{
    Item* items;
    int count;
} List;

static bool AddItem(List* list, Item item)
{
    if (list->count == snw_maxNodes)
        return false;
    list->items[list->count++] = item;
    return true;
}

static bool ListImportNodes(const struct aiScene* scene, List* list)
{
    list->items = calloc(snw_maxNodes, sizeof *list->items);
    bool room = list->items != NULL && AddItem(list, (Item){scene->mRootNode, -1, -1, false});
    for (int i = 0; room && i < list->count; ++i)
    {
        const struct aiNode* node = list->items[i].node;
        if (list->items[i].extra)
            continue;
        for (unsigned k = 0; room && k < node->mNumMeshes; ++k)
            if (k == 0)
                list->items[i].mesh = (int)node->mMeshes[k];
            else
                room = AddItem(list, (Item){node, i, (int)node->mMeshes[k], true});
        for (unsigned k = 0; room && k < node->mNumChildren; ++k)
            room = AddItem(list, (Item){node->mChildren[k], i, -1, false});
    }
    return room;
}

static int FindImportNode(const List* list, const char* name)
{
    for (int i = 0; i < list->count; ++i)
        if (!list->items[i].extra && strcmp(list->items[i].node->mName.data, name) == 0)
            return i;
    return -1;
}

static void PutNodes(const List* list)
{
    const struct aiMatrix4x4 same = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    PutInt(list->count);
    for (int i = 0; i < list->count; ++i)
    {
        PutText(list->items[i].node->mName.data);
        PutInt(list->items[i].parent);
        PutImportMatrix(list->items[i].extra ? same : list->items[i].node->mTransformation);
        PutInt(list->items[i].mesh);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

static void PutMaterial(const struct aiScene* scene, const struct aiMesh* mesh)
{
    struct aiString name = {0};
    if (mesh->mMaterialIndex < scene->mNumMaterials)
        aiGetMaterialString(scene->mMaterials[mesh->mMaterialIndex], AI_MATKEY_NAME, &name);
    PutText(name.data);
}

static void PutVertices(const struct aiMesh* mesh)
{
    const struct aiVector3D* texcoords = mesh->mTextureCoords[0];
    const struct aiColor4D* colors = mesh->mColors[0];
    PutInt((int)mesh->mNumVertices);
    PutInt((mesh->mNormals != NULL ? snw_importNormals : 0) | (texcoords != NULL ? snw_importTexcoords : 0) |
           (colors != NULL ? snw_importColors : 0));
    for (unsigned i = 0; i < mesh->mNumVertices; ++i)
        PutImportVec(mesh->mVertices[i]);
    for (unsigned i = 0; mesh->mNormals != NULL && i < mesh->mNumVertices; ++i)
        PutImportVec(mesh->mNormals[i]);
    for (unsigned i = 0; texcoords != NULL && i < mesh->mNumVertices; ++i)
        PutFloat(texcoords[i].x), PutFloat(texcoords[i].y);
    for (unsigned i = 0; colors != NULL && i < mesh->mNumVertices; ++i)
        PutFloat(colors[i].r), PutFloat(colors[i].g), PutFloat(colors[i].b), PutFloat(colors[i].a);
}

static void PutTriangles(const struct aiMesh* mesh)
{
    int count = 0;
    for (unsigned i = 0; i < mesh->mNumFaces; ++i)
        count += mesh->mFaces[i].mNumIndices == 3;
    PutInt(count);
    for (unsigned i = 0; i < mesh->mNumFaces; ++i)
        for (int k = 0; mesh->mFaces[i].mNumIndices == 3 && k < 3; ++k)
            PutInt((int)mesh->mFaces[i].mIndices[k]);
}

static void PutBones(const struct aiMesh* mesh, const List* list)
{
    PutInt((int)mesh->mNumBones);
    for (unsigned i = 0; i < mesh->mNumBones; ++i)
    {
        const struct aiBone* bone = mesh->mBones[i];
        PutInt(FindImportNode(list, bone->mName.data));
        PutImportMatrix(bone->mOffsetMatrix);
        PutInt((int)bone->mNumWeights);
        for (unsigned k = 0; k < bone->mNumWeights; ++k)
            PutInt((int)bone->mWeights[k].mVertexId), PutFloat(bone->mWeights[k].mWeight);
    }
}

static void PutMeshes(const struct aiScene* scene, const List* list)
{
    PutInt((int)scene->mNumMeshes);
    for (unsigned i = 0; i < scene->mNumMeshes; ++i)
    {
        PutText(scene->mMeshes[i]->mName.data);
        PutMaterial(scene, scene->mMeshes[i]);
        PutVertices(scene->mMeshes[i]);
        PutTriangles(scene->mMeshes[i]);
        PutBones(scene->mMeshes[i], list);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Animations

static void PutVecKeys(const struct aiVectorKey* keys, unsigned count, double rate)
{
    PutInt((int)count);
    for (unsigned i = 0; i < count; ++i)
        PutImportReal(keys[i].mTime / rate);
    for (unsigned i = 0; i < count; ++i)
        PutImportReal(keys[i].mValue.x), PutImportReal(keys[i].mValue.y), PutImportReal(keys[i].mValue.z);
}

static void PutTurnKeys(const struct aiQuatKey* keys, unsigned count, double rate)
{
    PutInt((int)count);
    for (unsigned i = 0; i < count; ++i)
        PutImportReal(keys[i].mTime / rate);
    for (unsigned i = 0; i < count; ++i)
    {
        const struct aiQuaternion q = keys[i].mValue;
        PutImportReal(q.x), PutImportReal(q.y), PutImportReal(q.z), PutImportReal(q.w);
    }
}

static void PutAnimation(const struct aiAnimation* animation, const List* list)
{
    double rate = animation->mTicksPerSecond > 0 ? animation->mTicksPerSecond : 25; // as assimp's own programs
    PutText(animation->mName.data);
    PutInt((int)animation->mNumChannels);
    for (unsigned i = 0; i < animation->mNumChannels; ++i)
    {
        const struct aiNodeAnim* channel = animation->mChannels[i];
        PutInt(FindImportNode(list, channel->mNodeName.data));
        PutVecKeys(channel->mPositionKeys, channel->mNumPositionKeys, rate);
        PutTurnKeys(channel->mRotationKeys, channel->mNumRotationKeys, rate);
        PutVecKeys(channel->mScalingKeys, channel->mNumScalingKeys, rate);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

// FBX says how many centimetres a unit has; DAE is brought to metres by its reader.
static double ScaleOf(const struct aiScene* scene, const char* ending)
{
    const struct aiMetadata* data = scene->mMetaData;
    if (strcmp(ending, "dae") == 0)
        return 1;
    for (unsigned i = 0; data != NULL && i < data->mNumProperties; ++i)
    {
        if (strcmp(data->mKeys[i].data, "UnitScaleFactor") != 0)
            continue;
        if (data->mValues[i].mType == AI_DOUBLE)
            return *(const double*)data->mValues[i].mData / 100;
        if (data->mValues[i].mType == AI_FLOAT)
            return *(const float*)data->mValues[i].mData / 100;
    }
    return 0;
}

static int PutScene(const struct aiScene* scene, const char* ending)
{
    List list = {0};
    if (scene->mRootNode == NULL || !ListImportNodes(scene, &list))
        return FailImport("it has no nodes, or too many");
    PutInt(snw_importScene);
    PutImportReal(ScaleOf(scene, ending));
    PutNodes(&list);
    PutMeshes(scene, &list);
    PutInt((int)scene->mNumAnimations);
    for (unsigned i = 0; i < scene->mNumAnimations; ++i)
        PutAnimation(scene->mAnimations[i], &list);
    PutInt(snw_importScene);
    free(list.items);
    return fflush(stdout) == 0 ? 0 : 1;
}

static const struct aiScene* Import(const char* data, size_t size, const char* ending)
{
    struct aiPropertyStore* store = aiCreatePropertyStore();
    aiSetImportPropertyInteger(store, AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, 0);
    aiSetImportPropertyInteger(store, AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1);
    aiSetImportPropertyInteger(store, AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
    unsigned steps = aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_SortByPType |
                     aiProcess_FlipUVs;
    const struct aiScene* scene = aiImportFileFromMemoryWithProperties(data, (unsigned)size, steps, ending, store);
    aiReleasePropertyStore(store);
    return scene;
}

static char* ReadInput(size_t* size)
{
    size_t capacity = 1 << 16;
    char* data = malloc(capacity);
    for (*size = 0; data != NULL;)
    {
        *size += fread(data + *size, 1, capacity - *size, stdin);
        if (*size < capacity)
            return data;
        capacity *= 2;
        char* more = capacity > 2ull * snw_maxInput ? NULL : realloc(data, capacity);
        if (more == NULL)
            free(data);
        data = more;
    }
    return NULL;
}

// Sanitizers map much more than they use.
static void Limit(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const struct rlimit memory = {4ull << 30, 4ull << 30};
    setrlimit(RLIMIT_AS, &memory);
#endif
    const struct rlimit time = {snw_secondsOfWork, snw_secondsOfWork};
    const struct rlimit nothing = {0, 0};
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_CORE, &nothing);
}

int main(int count, char** arguments)
{
    size_t size = 0;
    if (count != 2)
        return 2;
    Limit();
    char* data = ReadInput(&size);
    if (data == NULL)
        return FailImport("it is too long");
    const struct aiScene* scene = Import(data, size, arguments[1]);
    return scene == NULL ? FailImport(aiGetErrorString()) : PutScene(scene, arguments[1]);
}
