// What is wrong with surfaces, seen: triangles that cross or face the wrong way in colours, rims of holes and crowded
// edges as bright lines, from two sides, with a legend.

#pragma once

#include "geom/survey.h"
#include "view/image.h"

typedef struct snwDefectSurface
{
    const snwVec3* vertices; // welded, those of the survey
    const int (*triangles)[3];
    const snwSurvey* survey;
} snwDefectSurface;

typedef struct snwDefectsDef
{
    const snwDefectSurface* surfaces;
    int surfaceCount;
    const char* title;
    const char* subtitle; // NULL: none
    int size;             // pixels, of each of the two views, 64..4096
    int samples;          // rays per pixel, 1..256
} snwDefectsDef;

snwDefectsDef snwDefaultDefectsDef(void);

// Makes the image; the caller destroys it.
snwResult snwDrawDefects(snwContext* context, const snwDefectsDef* def, snwImage* image, snwMessage* message);
