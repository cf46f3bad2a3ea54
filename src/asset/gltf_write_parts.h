// Inside the glTF writer.

#pragma once

#include "asset/gltf_write.h"
#include "base/bytes.h"
#include "scene/tree.h"

struct snwGltfWriter
{
    snwContext* context;
    const snwGltf* source; // NULL: none
    snwTree tree;
    snwValue* root;
    snwWriter bytes;  // what was added, behind the first `base` bytes of its buffer
    int buffer;       // that they belong to; it may not exist yet
    size_t base;      // multiple of 4; what the source has of that buffer, and zeros
    bool* replaced;   // per accessor of the source: something of ours has taken its place; NULL: none
    snwWriter packed; // all bytes of `buffer` after packing
    snwResult result;
    snwMessage message;
};

// Records the first failure; returns -1.
int snwGltfWriter_Fail(snwGltfWriter* writer, const char* remedy, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
int snwGltfWriter_FailMemory(snwGltfWriter* writer);
bool snwGltfWriter_Failed(const snwGltfWriter* writer);

// Rows of `stride` bytes for vertices, as a view of their own.
int snwGltfWriter_AddRows(snwGltfWriter* writer, const void* data, size_t size, int stride);
// The accessor is no longer used where it was.
void snwGltfWriter_Replace(snwGltfWriter* writer, int64_t accessor);

// Something of the primitive changes: the attribute, or another thing that has a number per vertex (NULL). What Draco
// has packed stays as it was, without the attribute; but a part that has its numbers unpacked besides loses the packed
// ones, whose vertices may come in another order than the rest was made for.
void snwGltfWriter_LoosenDraco(snwGltfWriter* writer, snwValue* primitive, const char* semantic);

// NULL, and a failure, if it is not there.
snwValue* snwGltfWriter_Item(snwGltfWriter* writer, const char* list, int index);
// Adds to a list of the document; returns the index.
int snwGltfWriter_AddItem(snwGltfWriter* writer, const char* list, snwValue* item);

// Whoever reads the document has to know the extension.
void snwGltfWriter_NeedExtension(snwGltfWriter* writer, const char* name);

typedef struct snwGltfShape
{
    int count, width; // -1: there is no such accessor
} snwGltfShape;

snwGltfShape snwGltfWriter_Shape(const snwGltfWriter* writer, int accessor);
// All numbers of an accessor of the source or of one that was added; NULL is a failure. Goes back through snwFree.
double* snwGltfWriter_Read(snwGltfWriter* writer, int accessor);

// Doubles as an accessor of floats.
int snwGltfWriter_AddFloats(snwGltfWriter* writer, const double* values, int count, snwGltfType type, bool bounds);
