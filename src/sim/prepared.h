// A prepared character: body, surfaces that ride in it, textures, and where it all came from. See sinew.h.
//
// The file is a row of sections, each with its size and checksum:
//
//   "SNWPREP1", u32 version, u32 number of sections, u64 bytes of the whole file
//   per section: u32 tag, u32 zero, u64 offset, u64 size, u64 checksum
//   u64 checksum of everything above
//   sections at multiples of 16 bytes, zeros between them
//
// Readers skip tags that they do not know; a change that old readers must not miss raises the version.

#pragma once

#include "base/arena.h"
#include "geom/embedding.h"

#include <stdatomic.h>

enum
{
    snw_preparedVersion = 1,
    snw_maxSurfaces = 4096,
    snw_maxTextures = 256,
};

// What moves a rigid piece of a surface: the rigid motion that fits these vertices of the body best; or a bone that has
// no flesh of its own, where it is told where bones are (snwDisplay_SetBones).
typedef struct snwRigidAnchor
{
    const int* vertices; // of a bone without flesh: the nearest
    int count;           // >= 1
    int bone;            // without flesh; -1: the vertices alone count
} snwRigidAnchor;

typedef struct snwPreparedDef
{
    snwCharacter* character;        // retained
    const snwSurfaceInfo* surfaces; // their arrays are copied
    int surfaceCount;
    const snwRigidAnchor* anchors;
    int anchorCount;
    const int* const* points;      // per surface and vertex: the point of the embedding that it is, or ~anchor
    const snwEmbedding* embedding; // of all points
    const snwTexture* textures;
    int textureCount;
    snwPreparedInfo info; // counts and checksum are not looked at
} snwPreparedDef;

snwResult snwCreatePrepared(
    snwContext* context, const snwPreparedDef* def, snwPrepared** prepared, snwMessage* message);

// Does the block begin as a prepared file does?
bool snwPrepared_IsOne(const void* data, size_t size);
// What the block says its checksum is, before anybody looked; 0: it is too short to say.
uint64_t snwPrepared_PeekChecksum(const void* data, size_t size);
// The same as snwPrepared_Load, but the character gets this name and source; NULL: its own.
snwResult snwPrepared_LoadAs(snwContext* context, const void* data, size_t size, const char* name, const char* source,
    snwPrepared** prepared, snwMessage* message);

// What a surface needs beyond what the display shows of it now, so that it would be at the targets: m, in the axes of
// the flesh around (see display.c). The display shows no motion then.
void snwDisplay_FindDetail(const snwDisplay* display, int surface, const float (*targets)[3], float (*detail)[3]);

struct snwPrepared
{
    snwContext* context;
    snwArena arena;
    atomic_int references;
    snwCharacter* character;
    snwSurfaceInfo* surfaces;
    snwRigidAnchor* anchors;
    int anchorCount;
    const int** points;
    snwEmbedding embedding;
    snwTexture* textures;
    snwPreparedInfo info;
};
