// Lines and discs over a finished image, in pixels, with smooth rims: marks that nothing in the picture can hide.

#pragma once

#include "view/image.h"

// A linear colour as the bytes of an image, 0..255.
void snwInk_ToBytes(snwFloat3 color, float bytes[3]);

// With round ends. What is outside the image is left out.
void snwImage_DrawStroke(snwImage* image, float x0, float y0, float x1, float y1, float width, snwFloat3 color);
void snwImage_DrawDisc(snwImage* image, float x, float y, float radius, snwFloat3 color);
// The lower half of a disc.
void snwImage_DrawHalfDisc(snwImage* image, float x, float y, float radius, snwFloat3 color);
