// Documents for the tests of the glTF writer, and what may be added to them. Each addition is a function, so that the
// same one is read back, validated, and starved of memory.

#pragma once

#include "gltf_world.h"

#include "asset/gltf_write.h"

#include <stdbool.h>

// ---------------------------------------------------------------------------------------------------------------------
// Documents

typedef struct snwWrittenSource
{
    const char* name;
    snwGltfWorld (*make)(void);
    snwGltfBytes (*file)(const snwGltfWorld* world);
} snwWrittenSource;

enum
{
    snw_sourceCount = 7,
    snw_sourceBar = 2, // the bar as a GLB
    snw_additionCount = 9,
};

extern const snwWrittenSource snw_writtenSources[snw_sourceCount];

snwGltfWorld snwWritten_Rich(void); // with everything that a writer might lose
snwAsset* snwWritten_OpenSource(snwContext* context, const snwWrittenSource* source);
// NULL, and a failed test, if it cannot be read.
snwAsset* snwWritten_Read(snwContext* context, const char* name, const void* data, size_t size);

snwGltfWriter* snwWritten_Open(snwContext* context, const snwAsset* asset); // asset NULL: a new document
// Writes and reads back; the writer is closed.
snwAsset* snwWritten_Reopen(snwContext* context, snwGltfWriter* writer, snwGltfForm form);

// ---------------------------------------------------------------------------------------------------------------------
// Looking at them: "meshes/0/weights/1"

json_t* snwWritten_At(const snwAsset* asset, const char* path);
int snwWritten_Int(const snwAsset* asset, const char* path);          // -1: none
const char* snwWritten_Text(const snwAsset* asset, const char* path); // "": none
// The numbers of an accessor; free() them.
float* snwWritten_Floats(const snwAsset* asset, int accessor, int* count);
// Those of the accessor that is named at the path have these bits.
void snwWritten_CheckFloats(const snwAsset* asset, const char* path, const float* expected, int count);
// Everything of a is in b: JSON in its order, and each buffer as the first bytes of b's; with atEnd there may be more
// behind it.
void snwWritten_CheckSurvived(const snwAsset* a, const snwAsset* b, bool atEnd);

// ---------------------------------------------------------------------------------------------------------------------
// Additions

typedef struct snwAddition
{
    const char* name;
    snwGltfWorld (*make)(void); // NULL: into a new document
    void (*add)(snwGltfWriter* writer);
} snwAddition;

extern const snwAddition snw_additions[snw_additionCount];
snwAsset* snwWritten_OpenAddition(snwContext* context, const snwAddition* addition); // NULL for a new document

void snwWritten_AddMorphs(snwGltfWriter* writer); // to mesh 0 of a bar, with an animation of them
void snwWritten_AddAnimation(snwGltfWriter* writer);

extern const float snw_small[2][snw_barVertices][3], snw_tilt[snw_barVertices][3];
extern const float snw_wobble[2][snw_barVertices][3], snw_lean[snw_barVertices][3];
extern const snwAssetMorph snw_morphs[2];
extern const snwVec3 snw_hard[7]; // positions of the new mesh, hard on round trips
