// Before and after: the artist's motion on the left, the baked one on the right, in one film.

#pragma once

#include "bake/bake.h"
#include "view/tiles.h"

typedef struct snwBakeFilmDef
{
    const char* path;     // .mp4 or .gif; NULL: no film
    const char* picture;  // PNG; NULL: none
    const char* folder;   // for the pictures that become the film
    int width, height;    // pixels of each side
    int samples, repeats; // rays per pixel; how often a loop is shown
    bool overwrite;
    snwFilmProgressFn* progress;
    void* user;
} snwBakeFilmDef;

snwBakeFilmDef snwDefaultBakeFilmDef(void);
snwResult snwBakeFilm_Draw(snwContext* context, snwBake* bake, const snwBakeFilmDef* def, snwMessage* message);
