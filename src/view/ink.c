// Lines, discs and half discs drawn into a finished image with smooth rims, in display values.

#include "view/ink.h"
#include "math/display.h"

#include <math.h>

typedef struct Shape
{
    float x, y, dx, dy; // from, and how far to the other end
    float radius;
    bool half; // only what is below y
} Shape;

void snwInk_ToBytes(snwFloat3 color, float bytes[3])
{
    const float linear[3] = {color.x, color.y, color.z};
    for (int i = 0; i < 3; ++i)
        bytes[i] = 255 * snwDisplay_FromLightFloat(snwFloat_Clamp(linear[i], 0, 1));
}

// Bytes are mixed as they are, as in captions.
static void MixInk(snwImage* image, int x, int y, const float ink[3], float cover)
{
    size_t at = (size_t)y * (size_t)image->width + (size_t)x;
    uint8_t* pixel = image->pixels + 3 * at;
    float share = cover;
    if (image->alpha != NULL)
    {
        float before = (float)image->alpha[at] / 255, after = cover + (1 - cover) * before;
        image->alpha[at] = (uint8_t)(255 * after + 0.5f);
        share = after > 0 ? cover / after : 0;
    }
    for (int k = 0; k < 3; ++k)
        pixel[k] = (uint8_t)((float)pixel[k] + share * (ink[k] - (float)pixel[k]) + 0.5f);
}

static float Cover(const Shape* shape, float x, float y)
{
    float ex = x - shape->x, ey = y - shape->y, square = shape->dx * shape->dx + shape->dy * shape->dy;
    float t = square > 0 ? snwFloat_Clamp((ex * shape->dx + ey * shape->dy) / square, 0, 1) : 0;
    float below = shape->half ? snwFloat_Clamp(ey + 0.5f, 0, 1) : 1;
    ex -= t * shape->dx;
    ey -= t * shape->dy;
    return below * snwFloat_Clamp(shape->radius + 0.5f - sqrtf(ex * ex + ey * ey), 0, 1);
}

static int InsideImage(float x, int limit)
{
    return (int)snwFloat_Clamp(x, 0, (float)limit);
}

static void Draw(snwImage* image, const Shape* shape, snwFloat3 color)
{
    float ink[3], reach = shape->radius + 1;
    float ends[2][2] = {{shape->x, shape->x + shape->dx}, {shape->y, shape->y + shape->dy}};
    if (!isfinite(ends[0][0] + ends[0][1] + ends[1][0] + ends[1][1]))
        return;
    snwInk_ToBytes(color, ink);
    int left = InsideImage(snwFloat_Min(ends[0][0], ends[0][1]) - reach, image->width);
    int right = InsideImage(snwFloat_Max(ends[0][0], ends[0][1]) + reach + 1, image->width);
    int top = InsideImage(snwFloat_Min(ends[1][0], ends[1][1]) - reach, image->height);
    int bottom = InsideImage(snwFloat_Max(ends[1][0], ends[1][1]) + reach + 1, image->height);
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x)
        {
            float cover = Cover(shape, (float)x + 0.5f, (float)y + 0.5f);
            if (cover > 0)
                MixInk(image, x, y, ink, cover);
        }
}

void snwImage_DrawStroke(snwImage* image, float x0, float y0, float x1, float y1, float width, snwFloat3 color)
{
    Shape shape = {.x = x0, .y = y0, .dx = x1 - x0, .dy = y1 - y0, .radius = 0.5f * width};
    Draw(image, &shape, color);
}

void snwImage_DrawDisc(snwImage* image, float x, float y, float radius, snwFloat3 color)
{
    Shape shape = {.x = x, .y = y, .radius = radius};
    Draw(image, &shape, color);
}

void snwImage_DrawHalfDisc(snwImage* image, float x, float y, float radius, snwFloat3 color)
{
    Shape shape = {.x = x, .y = y, .radius = radius, .half = true};
    Draw(image, &shape, color);
}
