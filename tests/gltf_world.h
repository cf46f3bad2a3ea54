// Small glTF and GLB files made in memory. Values are JSON with ' for ", so that they read well in C.
//
//   snwGltfWorld world = snwGltfWorld_Bar();
//   snwGltfWorld_Set(&world, "nodes/1/scale", "[1, 2, 1]");
//   snwGltfBytes file = snwGltfWorld_Glb(&world);

#pragma once

#include <jansson.h>
#include <stddef.h>

typedef struct snwGltfWorld
{
    json_t* root;
    unsigned char* bytes; // of the one buffer
    size_t size;
} snwGltfWorld;

typedef struct snwGltfBytes
{
    char* data; // a zero follows; goes back through free
    size_t size;
} snwGltfBytes;

snwGltfWorld snwGltfWorld_Empty(void); // only "asset"
void snwGltfWorld_Free(snwGltfWorld* world);

// Appends bytes at a multiple of 4; a buffer view for them; a packed accessor. Each gives its index (offset).
size_t snwGltfWorld_Bytes(snwGltfWorld* world, const void* data, size_t size);
int snwGltfWorld_View(snwGltfWorld* world, const void* data, size_t size);
int snwGltfWorld_Accessor(snwGltfWorld* world, const void* data, int count, int component, const char* type);
int snwGltfWorld_Floats(snwGltfWorld* world, const float* data, int count, const char* type);
// A view that is compressed data: mode "ATTRIBUTES" ... and filter as the extension spells them. Gives the view.
typedef struct snwGltfPacked
{
    const void* data; // as after decoding and before the filter's
    int count, stride;
    const char *mode, *filter;
} snwGltfPacked;
int snwGltfWorld_Packed(snwGltfWorld* world, const snwGltfPacked* packed);

// Appends an item to a list of the root (made if needed) and gives its index.
int snwGltfWorld_Add(snwGltfWorld* world, const char* list, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// Sets the value at a path: "accessors/0/count". An index at the end of a list appends; NULL removes.
void snwGltfWorld_Set(snwGltfWorld* world, const char* path, const char* value);
json_t* snwGltfWorld_Get(const snwGltfWorld* world, const char* path); // borrowed; NULL: none

// The file. The world stays as it is: the buffer's entry is made here unless there is one.
snwGltfBytes snwGltfWorld_Glb(const snwGltfWorld* world);
snwGltfBytes snwGltfWorld_Embedded(const snwGltfWorld* world);              // .gltf with base64
snwGltfBytes snwGltfWorld_Text(const snwGltfWorld* world, const char* uri); // .gltf; the bytes are the caller's
snwGltfBytes snwGltfWorld_Wrap(
    const char* json, const void* chunk, size_t chunkSize); // a GLB of parts; chunk NULL: none

// Ready-made: one triangle with indices, alone in node 0.
snwGltfWorld snwGltfWorld_Triangle(void);

enum
{
    snw_barVertices = 12, // 4 rings of a triangle, 0.5 m apart along +Y
    snw_barTriangles = 20,
};

// A skinned bar of two bones (nodes 1 'hip' and 2 'knee', 0.75 m above), its mesh in node 0, with normals, texture
// coordinates, colours, two morphs, and one animation 'bend' of 1 s that has all interpolations: rotation of the knee
// (linear), translation of the hip (cubic), scale of the hip (step, constant 1), morphs (linear).
snwGltfWorld snwGltfWorld_Bar(void);
extern const float snw_barPositions[snw_barVertices][3];
