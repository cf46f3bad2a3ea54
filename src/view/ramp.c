// The ramp is a path through OKLab (Ottosson 2020): lightness rises evenly while the hue turns from violet over green
// to yellow, with as much chroma as the screen can show. Rejected: a table of somebody's colours, and rainbows, in
// which yellow looks like more than red.

#include "view/ramp.h"

#include "view/caption.h"

#include <stdio.h>
#include <string.h>

static snwFloat3 FromOklab(float lightness, float a, float b)
{
    float l = lightness + 0.3963377774f * a + 0.2158037573f * b;
    float m = lightness - 0.1055613458f * a - 0.0638541728f * b;
    float s = lightness - 0.0894841775f * a - 1.2914855480f * b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return (snwFloat3){4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s,
        -1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s,
        -0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s};
}

static bool IsShown(snwFloat3 c)
{
    return c.x >= 0 && c.y >= 0 && c.z >= 0 && c.x <= 1 && c.y <= 1 && c.z <= 1;
}

snwFloat3 snwRamp_Color(float t)
{
    t = t > 0 ? snwFloat_Min(t, 1) : 0;
    float lightness = 0.33f + 0.60f * t, hue = (290 - 188 * t) * SNW_PIF / 180;
    float none = 0, most = 0.13f; // chroma
    snwFloat3 color = FromOklab(lightness, most * cosf(hue), most * sinf(hue));
    for (int i = 0; i < 12 && !IsShown(color); ++i)
    {
        float chroma = 0.5f * (none + most);
        bool shown = IsShown(FromOklab(lightness, chroma * cosf(hue), chroma * sinf(hue)));
        none = shown ? chroma : none;
        most = shown ? most : chroma;
        if (i == 11)
            color = FromOklab(lightness, none * cosf(hue), none * sinf(hue));
    }
    return color;
}

float snwScale_Place(const snwScale* scale, double value)
{
    double place = scale->logarithmic ? log(value / scale->lower) / log(scale->upper / scale->lower)
                                      : (value - scale->lower) / (scale->upper - scale->lower);
    return place > 0 ? (float)fmin(place, 1) : 0;
}

double snwScale_RoundUp(double value)
{
    if (!(value > 0) || !isfinite(value))
        return 1;
    double power = pow(10, floor(log10(value)));
    static const double steps[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; ++i)
        if (value <= steps[i] * power * (1 + 1e-9))
            return steps[i] * power;
    return 10 * power;
}

// 150000 Pa -> "150 kPa"
static void FormatQuantity(char* text, size_t capacity, double value, const char* unit)
{
    static const char* const prefixes[] = {"u", "m", "", "k", "M", "G"};
    int prefix = 2;
    bool prefixed = strcmp(unit, "%") != 0;
    for (; prefixed && fabs(value) >= 1000 && prefix < 5; ++prefix)
        value /= 1000;
    for (; prefixed && value != 0 && fabs(value) < 0.1 && prefix > 0; --prefix)
        value *= 1000;
    snprintf(text, capacity, "%.3g %s%s", value, prefixed && value != 0 ? prefixes[prefix] : "", unit);
}

void snwImage_DrawScale(snwImage* image, const snwScale* scale)
{
    if (image->height < 48)
        return;
    const snwFloat3 ink = {0.03f, 0.035f, 0.045f};
    float size = snwFloat_Max(0.032f * (float)image->height, 7);
    int width = (int)(0.24f * (float)image->width), height = (int)(0.55f * size) + 1;
    int left = (int)(1.1f * size), top = image->height - (int)(2.9f * size);
    int margin = (int)(0.7f * size);
    // On a panel, where the picture behind would make it hard to read.
    if (scale->panel)
        snwImage_Fill(image, left - margin, top - (int)(1.7f * size), width + 2 * margin, (int)(4.1f * size),
            (snwFloat3){0.84f, 0.83f, 0.81f});
    for (int x = 0; x < width; ++x)
        snwImage_Fill(image, left + x, top, 1, height, snwRamp_Color(((float)x + 0.5f) / (float)width));

    // Title above, both ends of the range below.
    char lower[48], upper[48];
    FormatQuantity(lower, sizeof lower, scale->lower, scale->unit);
    FormatQuantity(upper, sizeof upper, scale->upper, scale->unit);
    float below = (float)(top + height) + 0.95f * size;
    snwImage_DrawText(image, (float)left, (float)top - 0.4f * size, size, ink, scale->title);
    snwImage_DrawText(image, (float)left, below, size, ink, lower);
    snwImage_DrawText(image, (float)(left + width) - snwText_Width(size, upper), below, size, ink, upper);
}
