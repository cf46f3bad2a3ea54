// What is seen of a body that a blueprint made: the surface of its flesh, finer than the mesh that is simulated, riding
// in it. The mesh's own boundary shows its elements in every highlight.

#pragma once

#include "geom/embedding.h"
#include "scene/blueprint_file.h"

typedef struct snwFilmSurface
{
    snwArena arena;
    snwBlueprintFile blueprint;
    float* points; // x y z at rest
    int pointCount;
    int* triangles;
    int triangleCount;
    snwEmbedding embedding;
    float* scratch;
} snwFilmSurface;

// *surface stays NULL if there is no finer one: no blueprint, no flesh, or ribbons beside it. detail: edges of
// triangles from one end of the character to the other.
snwResult snwCreateFilmSurface(snwContext* context, const snwCharacterDef* character, double detail,
    snwFilmSurface** surface, snwMessage* message);
void snwDestroyFilmSurface(snwContext* context, snwFilmSurface* surface); // NULL is allowed

// points: x y z, tight, pointCount of them.
void snwFilmSurface_Move(
    snwContext* context, const snwFilmSurface* surface, const snwVertices* vertices, float* points);
