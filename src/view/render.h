// Draws a picture by tracing rays with Embree. The same bytes for any number of threads.

#pragma once

#include "view/camera.h"
#include "view/image.h"
#include "view/inspect.h"
#include "view/picture.h"

typedef struct snwRenderer snwRenderer;

snwResult snwCreateRenderer(snwContext* context, snwRenderer** renderer, snwMessage* message);
void snwDestroyRenderer(snwRenderer* renderer);

// samples: rays per pixel, 1..256. The image gives the size.
snwResult snwRenderer_Draw(snwRenderer* renderer, const snwPicture* picture, const snwCamera* camera, int samples,
    snwImage* image, snwMessage* message);

// What of the last picture was drawn, neither ground, wall nor scenery.
snwSubject snwRenderer_Subject(const snwRenderer* renderer);
