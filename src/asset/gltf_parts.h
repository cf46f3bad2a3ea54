// What the files of the glTF reader share: the place in the document, the first failure, and values by key.
//
// A failure stays: everything after it gives zeros and does nothing, so that a function reads all it wants and asks
// once.

#pragma once

#include "asset/gltf.h"
#include "scene/fields.h"

typedef struct snwGltfReading
{
    snwAsset* asset;
    snwGltf* gltf;
    const snwAssetInput* input;
    snwJson json;   // where we are; whom to tell
    char where[96]; // the same for people, in notes: "mesh 'fox', part 0"; "" is the place in the document
    snwResult result;
    int64_t vertices, triangles; // of all meshes so far
} snwGltfReading;

static inline bool snwGltfReading_Failed(const snwGltfReading* reading)
{
    return reading->result < 0;
}

// Fails at the current place, unless something failed before. remedy may be NULL.
void snwGltf_Fail(snwGltfReading* reading, const char* remedy, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// Takes over a result whose words are in the message already.
void snwGltf_Check(snwGltfReading* reading, snwResult result);
void snwGltf_FailMemory(snwGltfReading* reading);

// reading->where = "mesh 'fox'", or "mesh 3" if it has no name.
void snwGltf_SetWhere(snwGltfReading* reading, const char* kind, int index, const char* name);
// A note at the current place: snwAsset_NoteMany.
void snwGltf_Note(snwGltfReading* reading, snwAssetNoteKind kind, int64_t count, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// Zeroed room in the asset's arena. Fails if the file unfolds to more than a file of its size may.
void* snwGltf_Room(snwGltfReading* reading, int64_t count, size_t size);

// The list under a key: NULL with 0 items if there is none or it is no list (which fails).
const json_t* snwGltf_List(snwGltfReading* reading, const json_t* object, const char* key, int limit, int* count);
// An item of a list; fails and gives an empty object if it is no object. Enter and leave are the caller's.
const json_t* snwGltf_Item(snwGltfReading* reading, const json_t* list, int index);
const json_t* snwGltf_Object(snwGltfReading* reading, const json_t* object, const char* key); // NULL: none

// A whole number in [lower, upper]; `fallback` if there is none. With fallback < lower it must be there.
int64_t snwGltf_Int(
    snwGltfReading* reading, const json_t* object, const char* key, const int64_t range[2], int64_t fallback);
// -1: there is none. `what` the index points to is for messages: "accessors".
int snwGltf_Index(snwGltfReading* reading, const json_t* object, const char* key, int count, const char* what);
// One that must be there.
int snwGltf_NeedIndex(snwGltfReading* reading, const json_t* object, const char* key, int count, const char* what);
// Numbers of a list of exactly `count`; false if there is none.
bool snwGltf_Reals(snwGltfReading* reading, const json_t* object, const char* key, int count, double* values);
const char* snwGltf_Text(snwGltfReading* reading, const json_t* object, const char* key); // NULL: none
bool snwGltf_Bool(snwGltfReading* reading, const json_t* object, const char* key);        // false: none

// Fails unless the accessor has one of the types and components: bits 1 << snwGltfType, 1 << (component - 5120).
void snwGltf_CheckAccessor(snwGltfReading* reading, int accessor, unsigned types, unsigned components);

enum
{
    snw_gltfSmallInts = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3,
    snw_gltfUnsigned = 1 << 1 | 1 << 3 | 1 << 5,
    snw_gltfReal = 1 << 6,
};

// Steps of snwGltf_Parse and of the reader.
void snwGltf_ReadBuffers(snwGltfReading* reading, const unsigned char* chunk, size_t chunkSize);
void snwGltf_ReadViews(snwGltfReading* reading);
void snwGltf_ReadAccessors(snwGltfReading* reading);
void snwGltf_UnpackDraco(snwGltfReading* reading);
void snwGltf_ReadNodes(snwGltfReading* reading);
void snwGltf_ReadSkins(snwGltfReading* reading);
void snwGltf_ReadMeshes(snwGltfReading* reading);
void snwGltf_ReadNodeMorphs(snwGltfReading* reading); // after the meshes
void snwGltf_ReadAnimations(snwGltfReading* reading);

// The influences of one mesh, part by part in the order of their vertices.
typedef struct snwGltfInfluences
{
    snwGltfReading* reading;
    int limit;   // joints of the skin; 0: no skin, whatever the vertices name
    int* starts; // of the whole mesh
    int* bones;
    double* values;
    int vertex, entry; // next ones
    int highest;       // joint
    int64_t unequal, negative, twice, beyond, unheld, notFinite;
} snwGltfInfluences;

int snwGltf_CountSets(snwGltfReading* reading, const json_t* attributes); // JOINTS_n with WEIGHTS_n
void snwGltfInfluences_Add(snwGltfInfluences* influences, const json_t* attributes, int vertexCount);
void snwGltfInfluences_Note(const snwGltfInfluences* influences);

// Bytes of one element, its last padding left out; and the distance of packed ones.
int snwGltfAccessor_ElementSize(const snwGltfAccessor* accessor);
int snwGltfAccessor_PackedSize(const snwGltfAccessor* accessor);
