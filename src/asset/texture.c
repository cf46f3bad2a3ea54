// Pictures as textures: sampled between four texels, in light or as they are stored, and encoded as PNG.

#include "asset/texture.h"
#include "base/context.h"
#include "math/display.h"

#include <math.h>
#include <png.h>

static float Repeat(float x)
{
    return x >= 0 && x <= 1 ? x : isfinite(x) ? x - floorf(x) : 0;
}

static int ClampIndex(int x, int count)
{
    return x < 0 ? 0 : x >= count ? count - 1 : x;
}

void snwTexture_Sample(const snwTexture* texture, const float uv[2], bool linear, float color[4])
{
    float u = Repeat(uv[0]) * (float)texture->width - 0.5f, v = Repeat(uv[1]) * (float)texture->height - 0.5f;
    int x0 = (int)floorf(u), y0 = (int)floorf(v);
    float tx = u - (float)x0, ty = v - (float)y0;
    for (int k = 0; k < 4; ++k)
        color[k] = 0;
    for (int c = 0; c < 4; ++c)
    {
        int x = ClampIndex(x0 + (c & 1), texture->width), y = ClampIndex(y0 + (c >> 1), texture->height);
        const uint8_t* pixel = texture->pixels + 4 * ((size_t)y * (size_t)texture->width + (size_t)x);
        float share = (c & 1 ? tx : 1 - tx) * (c & 2 ? ty : 1 - ty);
        for (int k = 0; k < 4; ++k)
            color[k] += share *
                        (linear && k < 3 ? snwDisplay_ToLightFloat((float)pixel[k] / 255) : (float)pixel[k] / 255);
    }
}

void* snwTexture_EncodePng(snwContext* context, const snwTexture* texture, size_t* size)
{
    png_image png = {.version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)texture->width,
        .height = (png_uint_32)texture->height,
        .format = PNG_FORMAT_RGBA};
    png_alloc_size_t room = PNG_IMAGE_PNG_SIZE_MAX(png);
    void* bytes = snwAllocRaw(context, room);
    bool written = bytes != NULL && png_image_write_to_memory(&png, bytes, &room, 0, texture->pixels, 0, NULL);
    png_image_free(&png);
    if (!written)
    {
        snwFree(context, bytes);
        return NULL;
    }
    *size = room;
    return bytes;
}
