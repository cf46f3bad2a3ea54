// A plot as pixels, twice as many each way as the SVG says, so that it is crisp on paper and on dense screens.

#include "base/array.h"
#include "math/display.h"
#include "view/caption.h"
#include "view/image.h"
#include "view/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_scale = 2,
    snw_effort = 6
};

typedef struct Point
{
    float x, y;
    bool down;
} Point;

typedef struct Pixels
{
    snwContext* context;
    snwImage image;
    snwArray(Point) path;
    bool failed; // no memory
} Pixels;

// ---------------------------------------------------------------------------------------------------------------------
// Lines

static float Linear(uint32_t byte)
{
    return snwDisplay_ToLightFloat((float)(byte & 255) / 255);
}

static snwFloat3 LinearColor(uint32_t color)
{
    return (snwFloat3){Linear(color >> 16), Linear(color >> 8), Linear(color)};
}

static void MixPixel(uint8_t* pixel, uint32_t color, float cover)
{
    for (int k = 0; k < 3; ++k)
    {
        float ink = (float)(color >> (16 - 8 * k) & 255);
        pixel[k] = (uint8_t)((float)pixel[k] + cover * (ink - (float)pixel[k]) + 0.5f);
    }
}

static float PenDistance(Point a, Point b, float x, float y)
{
    float dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    float t = square > 0 ? snwFloat_Clamp(((x - a.x) * dx + (y - a.y) * dy) / square, 0, 1) : 0;
    return hypotf(x - a.x - t * dx, y - a.y - t * dy);
}

// A stroke with round ends. Points are in pixels of the image.
static void Stroke(Pixels* pixels, Point a, Point b, float radius, uint32_t color)
{
    const snwImage* image = &pixels->image;
    float pad = radius + 1;
    int left = (int)snwFloat_Clamp(snwFloat_Min(a.x, b.x) - pad, 0, (float)image->width);
    int right = (int)snwFloat_Clamp(snwFloat_Max(a.x, b.x) + pad + 1, 0, (float)image->width);
    int top = (int)snwFloat_Clamp(snwFloat_Min(a.y, b.y) - pad, 0, (float)image->height);
    int bottom = (int)snwFloat_Clamp(snwFloat_Max(a.y, b.y) + pad + 1, 0, (float)image->height);
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x)
        {
            float cover = radius + 0.5f - PenDistance(a, b, (float)x + 0.5f, (float)y + 0.5f);
            if (cover > 0)
                MixPixel(
                    image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x), color, snwFloat_Min(cover, 1));
        }
}

static Point BetweenPoints(Point a, Point b, float t)
{
    return (Point){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), true};
}

// *walked: pixels since the path began, for dashes go on around corners.
static void Dash(Pixels* pixels, Point a, Point b, float radius, uint32_t color, float* walked)
{
    const float on = 6 * snw_scale - 2 * radius, period = 10 * snw_scale; // round ends make a dash longer
    float length = hypotf(b.x - a.x, b.y - a.y), at = 0;
    while (at < length)
    {
        float phase = fmodf(*walked + at, period);
        float step = snwFloat_Max(phase < on ? on - phase : period - phase, 0.01f),
              next = snwFloat_Min(at + step, length);
        if (phase < on)
            Stroke(pixels, BetweenPoints(a, b, at / length), BetweenPoints(a, b, next / length), radius, color);
        at = next;
    }
    *walked += length;
}

static Point ScalePoint(double x, double y, bool down)
{
    return (Point){(float)(snw_scale * x), (float)(snw_scale * y), down};
}

static void DrawPngLine(void* own, double x1, double y1, double x2, double y2, const snwPlotStyle* style)
{
    float radius = (float)(0.5 * snw_scale * style->width), walked = 0;
    if (style->dashed)
        Dash(own, ScalePoint(x1, y1, false), ScalePoint(x2, y2, true), radius, style->color, &walked);
    else
        Stroke(own, ScalePoint(x1, y1, false), ScalePoint(x2, y2, true), radius, style->color);
}

static void DrawPngRing(void* own, double x, double y, double radius, const snwPlotStyle* style)
{
    enum
    {
        corners = 24
    };
    for (int i = 0; i < corners; ++i)
    {
        double a = 2 * (double)SNW_PIF * i / corners, b = 2 * (double)SNW_PIF * (i + 1) / corners;
        Stroke(own, ScalePoint(x + radius * cos(a), y + radius * sin(a), false),
            ScalePoint(x + radius * cos(b), y + radius * sin(b), true), (float)(0.5 * snw_scale * style->width),
            style->color);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Paths

static void BeginPngPath(void* own)
{
    Pixels* pixels = own;
    pixels->path.count = 0;
}

static void AddPathPoint(void* own, double x, double y, bool down)
{
    Pixels* pixels = own;
    // After a failure no more: a point with the pen down needs the one before it.
    if (!pixels->failed && !snwArray_Push(pixels->context, &pixels->path, ScalePoint(x, y, down)))
        pixels->failed = true;
}

static void EndPngPath(void* own, const snwPlotStyle* style)
{
    Pixels* pixels = own;
    float radius = (float)(0.5 * snw_scale * style->width), walked = 0;
    for (int i = 0; i < pixels->path.count; ++i)
    {
        Point to = pixels->path.data[i], from = to.down ? pixels->path.data[i - 1] : to;
        if (!to.down)
            walked = 0;
        if (style->dashed && to.down)
            Dash(pixels, from, to, radius, style->color, &walked);
        else
            Stroke(pixels, from, to, radius, style->color);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Words

// Our letters are a little wider than those that the layout has in mind.
static float TextSize(const snwPlotText* text)
{
    return 0.94f * snw_scale * (float)text->size;
}

static float MeasureText(const snwPlotText* text, const char* times, const char* power)
{
    float size = TextSize(text);
    return snwText_Width(size, text->text) + snwText_Width(size, times) + snwText_Width(0.75f * size, power);
}

// Twice, a little apart, is bold.
static void DrawWords(snwImage* image, float x, float y, const snwPlotText* text, const char* times, const char* power)
{
    float size = TextSize(text);
    snwFloat3 color = LinearColor(text->color);
    snwImage_DrawText(image, x, y, size, color, text->text);
    if (text->bold)
        snwImage_DrawText(image, x + 1, y, size, color, text->text);
    x += snwText_Width(size, text->text);
    snwImage_DrawText(image, x, y, size, color, times);
    snwImage_DrawText(image, x + snwText_Width(size, times), y - 0.4f * size, 0.75f * size, color, power);
}

// A quarter turn to the left; the paper is white, so the darker of two is the ink.
static void CopyTurned(snwImage* to, const snwImage* from, int left, int top)
{
    for (int y = 0; y < from->height; ++y)
        for (int x = 0; x < from->width; ++x)
        {
            int column = left + y, row = top + from->width - 1 - x;
            if (column < 0 || column >= to->width || row < 0 || row >= to->height)
                continue;
            uint8_t* target = to->pixels + 3 * ((size_t)row * (size_t)to->width + (size_t)column);
            const uint8_t* source = from->pixels + 3 * ((size_t)y * (size_t)from->width + (size_t)x);
            for (int k = 0; k < 3; ++k)
                target[k] = source[k] < target[k] ? source[k] : target[k];
        }
}

static void DrawTurned(Pixels* pixels, const snwPlotText* text, float width, const char* times, const char* power)
{
    int above = (int)(1.2f * TextSize(text)), height = (int)(1.7f * TextSize(text));
    snwImage words;
    if (snwCreateImage(pixels->context, (int)width + 6, height, &words, NULL) < 0)
    {
        pixels->failed = true;
        return;
    }
    memset(words.pixels, 255, 3 * (size_t)words.width * (size_t)words.height);
    DrawWords(&words, 3, (float)above, text, times, power);
    CopyTurned(
        &pixels->image, &words, (int)(snw_scale * text->x) - above, (int)(snw_scale * text->y - 0.5 * words.width));
    snwDestroyImage(pixels->context, &words);
}

static void DrawPngText(void* own, const snwPlotText* text)
{
    Pixels* pixels = own;
    char power[16] = "";
    if (text->power != 0)
        snprintf(power, sizeof power, "%d", text->power);
    const char* times = text->power != 0 ? " x 10" : "";
    float width = MeasureText(text, times, power);
    if (width <= 0)
        return;
    if (text->upward)
    {
        DrawTurned(pixels, text, width, times, power);
        return;
    }
    float shift = text->anchor == snw_anchorStart ? 0 : text->anchor == snw_anchorMiddle ? 0.5f : 1;
    DrawWords(
        &pixels->image, (float)(snw_scale * text->x) - shift * width, (float)(snw_scale * text->y), text, times, power);
}

snwResult snwPlot_WritePng(snwContext* context, const snwPlotDef* def, const char* path, snwMessage* message)
{
    snwResult result = snwPlot_Check(def, message);
    if (result < 0)
        return result;
    Pixels pixels = {.context = context};
    result = snwCreateImage(context, snw_scale * def->width, snw_scale * def->height, &pixels.image, message);
    if (result < 0)
        return result;
    memset(pixels.image.pixels, 255, 3 * (size_t)pixels.image.width * (size_t)pixels.image.height);
    snwPlot_Draw(
        def, &(snwPlotPen){DrawPngLine, DrawPngText, DrawPngRing, BeginPngPath, AddPathPoint, EndPngPath, &pixels});
    result = pixels.failed ? snwFailMemory(message)
                           : snwImage_WritePng(context, &pixels.image, path, snw_effort, def->overwrite, message);
    snwArray_Free(context, &pixels.path);
    snwDestroyImage(context, &pixels.image);
    return result;
}
