// What is seen of a body: the surface of a blueprint's flesh or the surfaces of an artist's file, finer than the mesh
// that is simulated, riding in it. The mesh's own boundary shows its elements in every highlight.

#pragma once

#include "geom/embedding.h"
#include "scene/blueprint_file.h"
#include "view/picture.h"

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

    // For a flat character that asked for a finer skin, whose points are moved by the handles:
    struct snwFineSkin* fine;
    snwTexture texture; // the character's

    // For a prepared character, instead of the blueprint and the embedding:
    snwPrepared* prepared;
    snwDisplay* display;
    struct snwFilmPart* parts; // colours and textures
    int* sources;              // by point: its vertex among those of all surfaces
    int* places;               // by point: which are one
    float* paint;              // by point: u, v and number of the part; NULL: no textures
    float* colors;             // by point; NULL: painted
} snwFilmSurface;

// *surface stays NULL if there is no finer one: no file, no blueprint, no flesh, or ribbons beside it. detail: edges of
// triangles from one end of the character to the other.
snwResult snwCreateFilmSurface(snwContext* context, const snwCharacterDef* character, double detail,
    snwFilmSurface** surface, snwMessage* message);
void snwDestroyFilmSurface(snwContext* context, snwFilmSurface* surface); // NULL is allowed

// By the handles, if that is what moves it.
void snwFilmSurface_MoveFine(const snwFilmSurface* surface, const snwMatrices* handles, float* points);

// Gives the mesh of the body its colours. False: no memory.
bool snwFilmSurface_Dress(snwContext* context, const snwFilmSurface* surface, snwPictureMesh* mesh);

// points: x y z, tight, pointCount of them.
void snwFilmSurface_Move(
    snwContext* context, const snwFilmSurface* surface, const snwVertices* vertices, float* points);
