#include "gltf_fixture.h"

#include <stdlib.h>

snwGltfRead snwGltfRead_File(snwGltfBytes file, const char* name)
{
    snwGltfRead read = {.context = snwFixture_Context(1, snw_simdAuto, NULL)};
    snwAssetInput input = {name, file.data, file.size, NULL};
    read.result = snwAsset_Read(read.context, &input, &read.asset, &read.message);
    free(file.data);
    return read;
}

snwGltfRead snwGltfRead_World(snwGltfWorld* world)
{
    snwGltfBytes file = snwGltfWorld_Glb(world);
    snwGltfWorld_Free(world);
    return snwGltfRead_File(file, "world.glb");
}

void snwGltfRead_End(snwGltfRead* read)
{
    snwAsset_Close(read->asset);
    snwDestroyContext(read->context);
}

const snwAssetNote* snwGltfRead_Note(const snwGltfRead* read, snwAssetNoteKind kind, const char* words)
{
    for (int i = 0; read->asset != NULL && i < read->asset->noteCount; ++i)
        if (read->asset->notes[i].kind == kind && strstr(read->asset->notes[i].text, words) != NULL)
            return &read->asset->notes[i];
    return NULL;
}
