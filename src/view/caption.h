// Text in images: our own font of lines and quarter ellipses, drawn with a round pen. ASCII; any other character is
// drawn as a question mark.

#pragma once

#include "view/image.h"

// x, y: left end of the baseline, pixels. size: pixels from one line to the next would be 1.3 of it; capitals are 0.72
// of it high. color: linear. What is outside the image is left out.
void snwImage_DrawText(snwImage* image, float x, float y, float size, snwFloat3 color, const char* text);

// Pixels from the left end to where the next character would start, without the gap before it.
float snwText_Width(float size, const char* text);

// A rectangle in one colour (linear), cut off at the image's borders.
void snwImage_Fill(snwImage* image, int x, int y, int width, int height, snwFloat3 color);
