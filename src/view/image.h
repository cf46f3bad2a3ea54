// Pictures in memory and as PNG files.

#pragma once

#include "base/context.h"
#include "view/vec.h"

#include <stdint.h>

typedef struct snwImage
{
    int width, height;
    uint8_t* pixels; // red green blue, rows from the top, no padding
    uint8_t* alpha;  // opacity of each pixel; NULL: all are opaque
} snwImage;

snwResult snwCreateImage(snwContext* context, int width, int height, snwImage* image, snwMessage* message);
// Gives it an opacity, 0 everywhere to begin with.
snwResult snwImage_AddAlpha(snwContext* context, snwImage* image, snwMessage* message);
void snwDestroyImage(snwContext* context, snwImage* image);

// Linear light -> filmic curve -> sRGB bytes, dithered.
void snwImage_SetPixel(snwImage* image, int x, int y, snwFloat3 linear);

// The same for the share `cover` of a pixel that is there; the rest is plain white, dimmed to `light`. linear is
// already weighted with the share.
void snwImage_SetOnWhite(snwImage* image, int x, int y, snwFloat3 linear, float cover, float light);
// The same, but the rest stays clear: needs an opacity.
void snwImage_SetClear(snwImage* image, int x, int y, snwFloat3 linear, float cover);
// Dark in the share `cover` of a pixel, else white: two tones, and those between them only along the outline.
void snwImage_SetTone(snwImage* image, int x, int y, float cover);

// An sRGB byte as the linear light that the filmic curve turns into that byte again.
float snwImage_ToLight(float byte);

// effort 1..9 is zlib's: low for frames on their way to a film, high for pictures to keep.
snwResult snwImage_WritePng(
    snwContext* context, const snwImage* image, const char* path, int effort, bool overwrite, snwMessage* message);

// Any PNG of up to 8192 x 8192 pixels, as 8-bit red green blue; what is clear is black. The caller destroys the image.
snwResult snwImage_ReadPng(snwContext* context, const char* path, snwImage* image, snwMessage* message);
