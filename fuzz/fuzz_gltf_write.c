// The glTF writer: whatever document the reader takes passes through the writer and is read again, with all its things;
// so does what was added to it.

#include "fuzz.h"

#include "asset/gltf_write.h"
#include "base/context.h"

#include <string.h>

enum
{
    snw_mostVertices = 4096 // of meshes that get morphs: offsets are made for so many
};

static snwResult Read(snwContext* context, const char* name, const void* data, size_t size, snwAsset** asset)
{
    char* copy = calloc(1, size + 1);
    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    snwAssetInput input = {name, copy, size, NULL};
    snwResult result = snwAsset_Read(context, &input, asset, NULL);
    free(copy);
    return result;
}

static void AddMorph(snwGltfWriter* writer, const snwAsset* asset)
{
    static const float s_offsets[snw_mostVertices][3] = {{1, 2, 3}, {-0.0f, 1e-30f, 7}};
    static const snwAssetMorph s_morph = {"morph", s_offsets, s_offsets, 0.5};
    for (int i = 0; i < asset->meshCount && i < 4; ++i)
    {
        int vertices = 0, parts = asset->meshes[i].partCount;
        for (int k = 0; k < parts && vertices <= snw_mostVertices; ++k)
            vertices += snwGltfWriter_VertexCount(writer, i, k);
        snwGltfMorphDef def = {.mesh = i, .morphs = &s_morph, .morphCount = 1};
        if (vertices > 0 && vertices <= snw_mostVertices)
            snwGltfWriter_AddMorphs(writer, &def);
    }
}

static void AddRest(snwGltfWriter* writer, const snwAsset* asset)
{
    static const double s_times[2] = {0, 1}, s_values[6] = {0, 1, 2, 3, 4, 5};
    snwGltfNodeDef def = snwDefaultGltfNodeDef();
    def.parent = asset->nodeCount > 0 ? 0 : -1;
    int node = snwGltfWriter_AddNode(writer, &def);
    snwAffine bind = {.linear = snwMat3_Identity()};
    snwAssetSkin more = {.joints = &node, .inverseBinds = &bind, .jointCount = 1, .root = -1};
    if (asset->skinCount > 0)
        snwGltfWriter_AddJoints(writer, 0, &more);
    snwAssetChannel channel = {0, snw_pathTranslation, snw_assetLinear, s_times, 2, 3, s_values};
    snwAssetAnimation animation = {.name = "moves", .channels = &channel, .channelCount = 1};
    snwGltfWriter_AddAnimation(writer, &animation);
}

// A channel of a node that is not there is left out unread; an added node may get that number, and the channel with it.
static bool HasLeftOut(const snwAsset* asset)
{
    for (int i = 0; i < asset->noteCount; ++i)
        if (asset->notes[i].kind == snw_noteLeftOut)
            return true;
    return asset->notesLost > 0;
}

// Additions may be refused, if the document does not allow them; what is written must be read.
static void RoundTrip(snwContext* context, const snwAsset* asset, bool add, snwGltfForm form)
{
    snwGltfWriter* writer = NULL;
    snwAsset* again = NULL;
    unsigned char* data = NULL;
    size_t size = 0;
    snwMessage message = {0};
    snwResult result = snwGltfWriter_Open(context, asset->gltf, &writer, &message);
    if (result >= 0 && add)
    {
        AddMorph(writer, asset);
        AddRest(writer, asset);
    }
    if (result >= 0)
        result = snwGltfWriter_Write(writer, form, &data, &size, &message);
    if (result < 0 && (message.text[0] == 0 || (!add && result != snw_errorMemory)))
        abort();
    if (result >= 0)
    {
        result = Read(context, form == snw_gltfGlb ? "again.glb" : "again.gltf", data, size, &again);
        if (result < 0 && result != snw_errorMemory && !(add && HasLeftOut(asset)))
            abort();
        if (again != NULL && (again->meshCount != asset->meshCount || again->nodeCount != asset->nodeCount + add ||
                                 again->animationCount != asset->animationCount + add))
            abort();
    }
    snwAsset_Close(again);
    snwFree(context, data);
    snwGltfWriter_Close(writer);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    snwContext* context = snwFuzz_NewContext(&memory, 16 << 20);
    snwAsset* asset = NULL;
    bool text = size > 0 && data[0] == '{';
    if (Read(context, text ? "fuzz.gltf" : "fuzz.glb", data, size, &asset) >= 0)
    {
        RoundTrip(context, asset, false, snw_gltfGlb);
        RoundTrip(context, asset, true, text ? snw_gltfEmbedded : snw_gltfGlb);
    }
    snwAsset_Close(asset);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
