// What is painted at a place of a picture.

#pragma once

#include "base/arena.h"

// "image/png", "image/jpeg", "image/webp" or "image/ktx2", by the first bytes; NULL: something else.
const char* snwTexture_Kind(const void* data, size_t size);
// Pixels of a PNG, JPEG or WebP file, in the arena. Errors say what is wrong with it.
snwResult snwTexture_Read(snwArena* arena, const void* data, size_t size, snwTexture* texture, snwMessage* message);

// The bytes of a PNG file, freed with snwFree; NULL: no memory.
void* snwTexture_EncodePng(snwContext* context, const snwTexture* texture, size_t* size);

// Between the four nearest pixels. Coordinates beyond 0..1 repeat the picture, as glTF has it; at its borders nothing
// of the other side shows. linear: red, green and blue as light, else as the bytes are; all 0..1.
void snwTexture_Sample(const snwTexture* texture, const float uv[2], bool linear, float color[4]);
