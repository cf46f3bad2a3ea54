// A glTF 2.0 or GLB file as a document: the JSON whole and unchanged, its buffers as bytes, buffer views after
// decompression and accessors that are checked and read as numbers. The reader (gltf_read.c) makes the asset from it,
// the writer passes it through and appends.
//
// Indices of the asset are those of the document: asset->meshes[i] is meshes[i], its part k is primitives[k] (empty if
// it was left out), nodes, skins and animations likewise. Only the channels of an animation may be fewer.
//
// Everything lives in the asset's arena and goes with snwAsset_Close; json_t only through jansson's own allocator.

#pragma once

#include "asset/asset.h"

#include <jansson.h>

// What a channel moves and how it goes between keys, as glTF spells it: in the order of snwAssetPath and of
// snwAssetInterpolation.
extern const char* const snw_gltfPathWords[];
extern const char* const snw_gltfInterpolationWords[];

enum
{
    snw_maxGltfJson = 1 << 29,         // bytes of JSON text
    snw_maxGltfValues = 8000000,       // commas, colons and brackets of it: what its parse may cost
    snw_maxGltfItems = 1000000,        // of one list of the document
    snw_maxGltfUnfolding = 256,        // bytes that may come from one byte of the file ...
    snw_maxGltfUnfoldingBase = 1 << 28 // ... beyond this
};

typedef struct snwGltfBuffer
{
    const unsigned char* data; // NULL: it has none; nobody may need it
    size_t size;               // byteLength
    const char* uri;           // as the document gives it; NULL: none
    bool fallback;             // holds what compressed views unpack to; never loaded
} snwGltfBuffer;

typedef struct snwGltfView
{
    const unsigned char* data; // unpacked; NULL: its buffer has none
    size_t size;
    int buffer;      // as the view says: of a compressed view the fallback
    int stride;      // bytes; 0: elements follow each other
    bool compressed; // EXT_meshopt_compression
} snwGltfView;

// componentType; the numbers are glTF's.
typedef enum snwGltfComponent
{
    snw_gltfByte = 5120,
    snw_gltfUbyte = 5121,
    snw_gltfShort = 5122,
    snw_gltfUshort = 5123,
    snw_gltfUint = 5125,
    snw_gltfFloat = 5126,
} snwGltfComponent;

typedef enum snwGltfType
{
    snw_gltfScalar,
    snw_gltfVec2,
    snw_gltfVec3,
    snw_gltfVec4,
    snw_gltfMat2,
    snw_gltfMat3,
    snw_gltfMat4,
    snw_gltfTypeCount,
} snwGltfType;

// Elements that differ from the plain ones; indices are checked when the accessor is read.
typedef struct snwGltfSparse
{
    int count; // 0: none
    int indexView, valueView;
    size_t indexOffset, valueOffset; // in their views
    snwGltfComponent indexComponent;
} snwGltfSparse;

// Checked: every element lies inside of its view.
typedef struct snwGltfAccessor
{
    int view; // -1: zeros, but for the sparse ones; of the document, or one that Draco unpacked
    size_t offset;
    int stride; // bytes from element to element
    int count;
    snwGltfComponent component;
    snwGltfType type;
    bool normalized;
    const double* min; // snwGltfType_Width of them; NULL: not given
    const double* max;
    snwGltfSparse sparse;
} snwGltfAccessor;

// What a GLB holds behind its BIN chunk.
typedef struct snwGltfChunk
{
    uint32_t kind;
    const unsigned char* data;
    size_t size;
} snwGltfChunk;

typedef struct snwGltf
{
    json_t* root;
    bool binary; // it was a GLB
    snwGltfBuffer* buffers;
    int bufferCount;
    snwGltfView* views; // behind those of the document: what Draco unpacked
    int viewCount;      // of the document
    snwGltfAccessor* accessors;
    int accessorCount;
    snwGltfChunk* chunks;
    int chunkCount;
    size_t sourceBytes; // of the file and of what it loaded
    size_t unfolded;    // bytes made from them so far
} snwGltf;

extern const snwAssetReader snw_gltfReader;

// Sets asset->gltf; notes go to the asset.
snwResult snwGltf_Parse(snwAsset* asset, const snwAssetInput* input, snwMessage* message);
void snwGltf_Free(snwGltf* gltf); // the JSON; NULL is allowed. The rest is the arena's

// What a "uri" stands for: base64 data, or a file in the folder (NULL: there is none). *data goes back through snwFree.
snwResult snwGltf_LoadUri(
    snwContext* context, const snwAssetFolder* folder, const char* uri, char** data, size_t* size, snwMessage* message);

int snwGltfType_Width(snwGltfType type); // numbers per element: 1 .. 16
const char* snwGltfType_Name(snwGltfType type);
int snwGltfComponent_Size(snwGltfComponent component); // bytes; 0: there is none such

// All elements of an accessor, sparse ones applied, count * width numbers; matrices by columns. Integers become what
// `normalized` says. Numbers that are not finite are an error, or, with `repaired`, become 0 and are counted there.
// Places are those of the document: "accessors[3]".
snwResult snwGltf_ReadReals(const snwGltf* gltf, int accessor, double* values, int64_t* repaired, snwMessage* message);
snwResult snwGltf_ReadFloats(const snwGltf* gltf, int accessor, float* values, int64_t* repaired, snwMessage* message);
// Integers as they are; fails if the components are floats or have a sign.
snwResult snwGltf_ReadInts(const snwGltf* gltf, int accessor, uint32_t* values, snwMessage* message);
