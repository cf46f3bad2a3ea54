// The surfaces of a prepared character as one mesh of a picture.

#pragma once

#include "view/film_surface.h"

// What the triangles of a part of a surface look like.
typedef struct snwFilmPart
{
    float color[3];     // linear
    snwTexture texture; // width 0: none
} snwFilmPart;

// Leaves surface->prepared NULL if the character came from no file.
snwResult snwFilmSurface_UsePrepared(
    snwContext* context, const snwCharacterDef* character, snwFilmSurface* surface, snwMessage* message);
// Likewise of one that is at hand; it is retained. The surface has an arena and nothing else yet.
snwResult snwFilmSurface_TakePrepared(snwPrepared* prepared, snwFilmSurface* surface, snwMessage* message);
// Where the surfaces of the prepared character are given, one skin each.
void snwFilmSurface_TakeSkins(const snwFilmSurface* surface, const snwSkin* skins, float* points);
// values: mm, by point: how far apart two of them are.
void snwFilmSurface_Compare(const snwFilmSurface* surface, const snwSkin* skins, const snwSkin* others, float* values);
void snwFilmSurface_MovePrepared(const snwFilmSurface* surface, const snwVertices* vertices, float* points);
// data: snwFilmPart of all surfaces; point: u, v and number of the part.
void snwFilmPart_Paint(const void* data, const float point[3], float color[3]);
