// Reads worlds of gltf_world.h and looks at what came of them.

#pragma once

#include "asset/gltf.h"
#include "fixture.h"
#include "gltf_world.h"
#include "test.h"

typedef struct snwGltfRead
{
    snwContext* context;
    snwAsset* asset; // NULL: refused
    snwMessage message;
    snwResult result;
} snwGltfRead;

// The world's or the file's memory goes with the call.
snwGltfRead snwGltfRead_World(snwGltfWorld* world); // as a GLB
snwGltfRead snwGltfRead_File(snwGltfBytes file, const char* name);
void snwGltfRead_End(snwGltfRead* read);

// The first note of the kind with these words; NULL: there is none.
const snwAssetNote* snwGltfRead_Note(const snwGltfRead* read, snwAssetNoteKind kind, const char* words);

#define CHECK_NOTE(read, kind, words, number)                                                                          \
    do                                                                                                                 \
    {                                                                                                                  \
        const snwAssetNote* checkNote = snwGltfRead_Note(read, kind, words);                                           \
        if (checkNote == NULL)                                                                                         \
            snwTest_Fail(__FILE__, __LINE__, "no note '%s'", words);                                                   \
        else                                                                                                           \
            CHECK_INT(checkNote->count, number);                                                                       \
    } while (0)

// Reads the world, which must be refused at the place with these words; the world goes.
#define CHECK_REFUSED(world, where, words)                                                                             \
    do                                                                                                                 \
    {                                                                                                                  \
        snwGltfRead checkRead = snwGltfRead_World(world);                                                              \
        CHECK(checkRead.result < 0 && checkRead.asset == NULL);                                                        \
        CHECK_CONTAINS(checkRead.message.place, where);                                                                \
        CHECK_CONTAINS(checkRead.message.text, words);                                                                 \
        snwGltfRead_End(&checkRead);                                                                                   \
    } while (0)
