// Pictures in memory and as PNG files.

#pragma once

#include "base/context.h"
#include "view/vec.h"

#include <stdint.h>

typedef struct snwImage
{
    int width, height;
    uint8_t* pixels; // red green blue, rows from the top, no padding
} snwImage;

snwResult snwCreateImage(snwContext* context, int width, int height, snwImage* image, snwMessage* message);
void snwDestroyImage(snwContext* context, snwImage* image);

// Linear light -> filmic curve -> sRGB bytes, dithered.
void snwImage_SetPixel(snwImage* image, int x, int y, snwFloat3 linear);

// effort 1..9 is zlib's: low for frames on their way to a film, high for pictures to keep.
snwResult snwImage_WritePng(
    snwContext* context, const snwImage* image, const char* path, int effort, bool overwrite, snwMessage* message);
