// Several films side by side in one, seen by the same camera, with a name under each.

#pragma once

#include "view/film.h"

typedef struct snwTilesDef
{
    snwFilm* const* films;    // with frames, not finished; all of one size
    const char* const* names; // one per film
    int count;                // 1..16
    const char* title;        // NULL: none
    const char* directory;    // frames go to directory/frames
    const char* filmPath;     // .mp4 or .gif; NULL: none
    const char* picturePath;  // NULL: none
    int pictureFrame;         // of it; -1: the frame that tells most of the first film
    snwVec3 focus;            // m: what the picture shows from near
    snwVec3 focusNormal;      // of the surface there: it is seen from that side; 0: from where the film is
    double focusRadius;       // m; 0: it shows everything, as the film
    bool overwrite;
} snwTilesDef;

// The films cannot be finished afterwards, only destroyed. One that is shorter stands still at its end. progress may be
// NULL; a negative result from it stops the drawing.
snwResult snwTiles_Draw(
    snwContext* context, const snwTilesDef* def, snwFilmProgressFn* progress, void* user, snwMessage* message);
