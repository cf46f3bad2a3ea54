// The rigid part of a character as a surface: the skin of the elements that its bones own.

#pragma once

#include "sinew/sinew.h"

typedef struct snwFilmSkeleton
{
    float* rest; // x y z, in the rest pose
    int* owners; // the bone of each vertex
    int vertexCount;
    int* triangles; // three vertices each, outward
    int triangleCount;
    float* positions; // x y z, where they were moved last
    bool* solid;      // one per bone: its surface is here; NULL: of none
} snwFilmSkeleton;

// Without triangles if no bone owns elements, or if bones own all of them: then the skin shows everything.
snwResult snwFilmSkeleton_Make(
    snwContext* context, const snwCharacter* character, snwFilmSkeleton* skeleton, snwMessage* message);
void snwFilmSkeleton_Free(snwContext* context, snwFilmSkeleton* skeleton);

// bones: what takes the rest pose to now.
void snwFilmSkeleton_Move(snwFilmSkeleton* skeleton, const snwTransform* bones);
