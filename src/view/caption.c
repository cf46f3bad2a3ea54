// Each glyph is a string: its width, then strokes. M x y lifts the pen, L x y draws a line, H and V draw a quarter of
// an ellipse that starts horizontally or vertically, D x y is a dot. Numbers are single characters: 0..9, a..z for
// 10..35 and A..Z for 36..61. The baseline is at 10 (a), small letters reach 30 (u), capitals 38 (C).
//
// Rejected: a bitmap font (one size) and outlines (three times the data, and the weight could not follow the size).

#include "view/caption.h"

#include "view/ink.h"

enum
{
    snw_firstGlyph = 32,
    snw_glyphCount = 95,
    snw_arcSteps = 8,
    snw_maxSegments = 192,
};

static const float s_unit = 0.72f / 28; // of the size
static const float s_gap = 7.4f;        // units between glyphs
static const float s_pen = 1.75f;       // units, half the width of a stroke
static const int s_baseline = 10;

static const char* const s_glyphs[snw_glyphCount] = {
    /*   */ "6",
    /* ! */ "0M0CL0jD0a",
    /* " */ "6M0CL0uM6CL6u",
    /* # */ "kM6CL2aMiCLeaM1tLktM0jLjj",
    /* $ */ "iMhxV9CH0vV9oHihV9aH0fM9FL97",
    /* % */ "qM0wV5CHawV5rH0wMgfVlkHqfVlaHgfMmCL4a",
    /* & */ "lMlaL4wV9CHexL3mL0hV8aHkl",
    /* ' */ "0M0CL0u",
    /* ( */ "6M6EL2xL0rL0jL2dL66",
    /* ) */ "6M0EL4xL6rL6jL4dL06",
    /* * */ "cM6CL6qM0zLctM0tLcz",
    /* + */ "iM9tL9bM0kLik",
    /* , */ "2M2bL05",
    /* - */ "aM0kLak",
    /* . */ "0D0a",
    /* / */ "cM07LcE",
    /* 0 */ "iM0oV9CHioV9aH0o",
    /* 1 */ "8M0wL8CL8a",
    /* 2 */ "iM0wV9CHiuLhqL0aLia",
    /* 3 */ "iM0xV9CHhvV9oHihV9aH0fM6oL9o",
    /* 4 */ "jMeaLeCL0jLjj",
    /* 5 */ "hMgCL2CL1pL8rHhiV8aH0e",
    /* 6 */ "iM0jV9sHijV9aH0jVfC",
    /* 7 */ "hM0CLhCL6a",
    /* 8 */ "iM9oH1vV9CHhvV9oHihV9aH0hV9o",
    /* 9 */ "iMitV9kH0tV9CHitV3a",
    /* : */ "0D0aD0q",
    /* ; */ "2D2qM2bL05",
    /* < */ "gMgtL0kLgb",
    /* = */ "iM0oLioM0gLig",
    /* > */ "gM0tLgkL0b",
    /* ? */ "fM0wV7CHfvV7nL7jD7a",
    /* @ */ "uMmrVftH8lVfeHmlMmtLmgVqdHumVfCH0mVf6Ho8",
    /* A */ "kM0aLaCLkaM3jLhj",
    /* B */ "hM0aL0CL9CHgvV9oL0oM9oHhhV9aL0a",
    /* C */ "jMjwVaCH0oVaaHjg",
    /* D */ "jM0aL0CL8CHjoV8aL0a",
    /* E */ "gMgaL0aL0CLgCM0oLeo",
    /* F */ "gM0aL0CLgCM0oLeo",
    /* G */ "kMjwVaCH0oVaaHkiLkmLcm",
    /* H */ "kM0aL0CMkaLkCM0oLko",
    /* I */ "0M0aL0C",
    /* J */ "cMcCLciV6aH0h",
    /* K */ "jM0aL0CMjCL0lM7rLja",
    /* L */ "fM0CL0aLfa",
    /* M */ "mM0aL0CLbgLmCLma",
    /* N */ "kM0aL0CLkaLkC",
    /* O */ "mM0oVbCHmoVbaH0o",
    /* P */ "hM0aL0CL9CHhuV9mL0m",
    /* Q */ "mM0oVbCHmoVbaH0oMegLm8",
    /* R */ "iM0aL0CL9CHhuV9mL0mM9mLia",
    /* S */ "iMhxV9CH0vV9oHihV9aH0f",
    /* T */ "kM0CLkCMaCLaa",
    /* U */ "kM0CL0jVaaHkjLkC",
    /* V */ "kM0CLaaLkC",
    /* W */ "sM0CL7aLeCLlaLsC",
    /* X */ "jM0aLjCM0CLja",
    /* Y */ "kM0CLaoLkCMaoLaa",
    /* Z */ "iM0CLiCL0aLia",
    /* [ */ "5M5EL0EL06L56",
    /* \ */ "cM0ELc7",
    /* ] */ "5M0EL5EL56L06",
    /* ^ */ "eM0sL7CLes",
    /* _ */ "iM07Li7",
    /* ` */ "4M0DL4x",
    /* a */ "fM1qV8uHfoLfaMflL6lH0fV6aHfg",
    /* b */ "gM0CL0aM0kV8uHgkV8aH0k",
    /* c */ "eMeqV8uH0kV8aHee",
    /* d */ "gMgCLgaM0kV8uHgkV8aH0k",
    /* e */ "gM0kLgkV8uH0kV8aHfe",
    /* f */ "9M9CH3wL3aM0uL9u",
    /* g */ "gM0kV8uHgkV8aH0kMguLg8V80H14",
    /* h */ "fM0CL0aM0lV8uHflLfa",
    /* i */ "0M0uL0aD0C",
    /* j */ "5M5uL57V00D5C",
    /* k */ "eM0CL0aMeuL0hM5mLea",
    /* l */ "4M0CL0eV4a",
    /* m */ "qM0uL0aM0mV7uHdmLdaMdmVkuHqmLqa",
    /* n */ "fM0uL0aM0lV8uHflLfa",
    /* o */ "gM0kV8uHgkV8aH0k",
    /* p */ "gM0uL00M0kV8uHgkV8aH0k",
    /* q */ "gMguLg0M0kV8uHgkV8aH0k",
    /* r */ "9M0uL0aM0lV9u",
    /* s */ "dMcrV6uH0pV6kHdfV6aH0d",
    /* t */ "9M3zL3gV9aM0uL9u",
    /* u */ "fM0uL0jV7aHfjMfuLfa",
    /* v */ "gM0uL8aLgu",
    /* w */ "oM0uL6aLcuLiaLou",
    /* x */ "fM0uLfaMfuL0a",
    /* y */ "gM0uL8aMguL52L10",
    /* z */ "eM0uLeuL0aLea",
    /* { */ "8M8EH4AL4rL0nL4jL4aV86",
    /* | */ "0M0EL06",
    /* } */ "8M0EH4AL4rL8nL4jL4aV06",
    /* ~ */ "iM0jV5nLdjHin",
};

static float HexValue(char c)
{
    if (c >= '0' && c <= '9')
        return (float)(c - '0');
    return c >= 'a' ? (float)(c - 'a' + 10) : (float)(c - 'A' + 36);
}

// The glyph at the start of a text, and how many bytes it stands for: UTF-8 goes as one question mark.
static const char* Glyph(const char* text, int* bytes)
{
    unsigned char c = (unsigned char)text[0];
    *bytes = 1;
    while (c >= 0xc0 && ((unsigned char)text[*bytes] & 0xc0) == 0x80)
        ++*bytes;
    bool known = c >= snw_firstGlyph && c < snw_firstGlyph + snw_glyphCount;
    return s_glyphs[(known ? c : '?') - snw_firstGlyph];
}

float snwText_Width(float size, const char* text)
{
    float units = 0;
    for (int bytes; *text != 0; text += bytes)
    {
        units += HexValue(Glyph(text, &bytes)[0]);
        units += text[bytes] != 0 ? s_gap : 0;
    }
    return units * s_unit * size;
}

// ---------------------------------------------------------------------------------------------------------------------
// Strokes

typedef struct Segment
{
    float x, y, dx, dy; // pixels, y downwards
    float radius;       // pixels
} Segment;

typedef struct Strokes
{
    Segment segments[snw_maxSegments];
    int count;
    float x, y, scale; // pixels, of the glyph's origin; pixels per unit
    float penX, penY;  // units
    float left, right, top, bottom;
} Strokes;

static void PutSegment(Strokes* strokes, float x, float y, float radius)
{
    float scale = strokes->scale, pad = radius * scale + 1;
    float x0 = strokes->x + strokes->penX * scale, y0 = strokes->y - strokes->penY * scale;
    float x1 = strokes->x + x * scale, y1 = strokes->y - y * scale;
    if (strokes->count < snw_maxSegments)
        strokes->segments[strokes->count++] = (Segment){x0, y0, x1 - x0, y1 - y0, radius * scale};
    strokes->left = snwFloat_Min(strokes->left, snwFloat_Min(x0, x1) - pad);
    strokes->right = snwFloat_Max(strokes->right, snwFloat_Max(x0, x1) + pad);
    strokes->top = snwFloat_Min(strokes->top, snwFloat_Min(y0, y1) - pad);
    strokes->bottom = snwFloat_Max(strokes->bottom, snwFloat_Max(y0, y1) + pad);
    strokes->penX = x;
    strokes->penY = y;
}

static void PutArc(Strokes* strokes, float x, float y, bool horizontal)
{
    float x0 = strokes->penX, y0 = strokes->penY;
    for (int i = 1; i <= snw_arcSteps; ++i)
    {
        float angle = 0.5f * SNW_PIF * (float)i / snw_arcSteps, s = sinf(angle), c = 1 - cosf(angle);
        PutSegment(strokes, x0 + (horizontal ? s : c) * (x - x0), y0 + (horizontal ? c : s) * (y - y0), s_pen);
    }
}

static Strokes MakeStrokes(const char* glyph, float x, float y, float size)
{
    Strokes strokes = {.x = x, .y = y, .scale = s_unit * size, .left = 1e9f, .right = -1e9f, .top = 1e9f};
    strokes.bottom = -1e9f;
    for (const char* c = glyph + 1; *c != 0; c += 3)
    {
        // Pen moves, dots, lines and arcs; y counts from the baseline.
        float px = HexValue(c[1]), py = HexValue(c[2]) - (float)s_baseline;
        if (*c == 'M' || *c == 'D')
        {
            strokes.penX = px;
            strokes.penY = py + (*c == 'D' ? 0.6f : 0);
        }

        if (*c == 'D')
            PutSegment(&strokes, px, py + 0.6f, 1.4f * s_pen);
        else if (*c == 'L')
            PutSegment(&strokes, px, py, s_pen);
        else if (*c != 'M')
            PutArc(&strokes, px, py, *c == 'H');
    }

    return strokes;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pixels

static float SegmentCover(const Segment* s, float x, float y)
{
    float ex = x - s->x, ey = y - s->y, square = s->dx * s->dx + s->dy * s->dy;
    float t = square > 0 ? snwFloat_Clamp((ex * s->dx + ey * s->dy) / square, 0, 1) : 0;
    ex -= t * s->dx;
    ey -= t * s->dy;
    return snwFloat_Clamp(s->radius + 0.5f - sqrtf(ex * ex + ey * ey), 0, 1);
}

static int InsideCaption(float x, int limit)
{
    return (int)snwFloat_Clamp(x, 0, (float)limit);
}

// Bytes are mixed as they are: dark text on light paper would look thin if light were mixed.
static void Ink(snwImage* image, const Strokes* strokes, const float ink[3])
{
    int left = InsideCaption(strokes->left, image->width), right = InsideCaption(strokes->right + 1, image->width);
    int top = InsideCaption(strokes->top, image->height), bottom = InsideCaption(strokes->bottom + 1, image->height);
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x)
        {
            float cover = 0;
            for (int i = 0; i < strokes->count && cover < 1; ++i)
                cover = snwFloat_Max(cover, SegmentCover(&strokes->segments[i], (float)x + 0.5f, (float)y + 0.5f));
            uint8_t* pixel = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
            for (int k = 0; k < 3 && cover > 0; ++k)
                pixel[k] = (uint8_t)((float)pixel[k] + cover * (ink[k] - (float)pixel[k]) + 0.5f);
        }
}

void snwImage_DrawText(snwImage* image, float x, float y, float size, snwFloat3 color, const char* text)
{
    float ink[3];
    snwInk_ToBytes(color, ink);
    for (int bytes; *text != 0; text += bytes)
    {
        const char* glyph = Glyph(text, &bytes);
        Strokes strokes = MakeStrokes(glyph, x, y, size);
        if (strokes.count > 0)
            Ink(image, &strokes, ink);
        x += (HexValue(glyph[0]) + s_gap) * s_unit * size;
    }
}

void snwImage_Fill(snwImage* image, int x, int y, int width, int height, snwFloat3 color)
{
    float bytes[3];
    snwInk_ToBytes(color, bytes);
    int left = InsideCaption((float)x, image->width), right = InsideCaption((float)(x + width), image->width);
    int top = InsideCaption((float)y, image->height), bottom = InsideCaption((float)(y + height), image->height);
    for (int row = top; row < bottom; ++row)
        for (int column = left; column < right; ++column)
        {
            uint8_t* pixel = image->pixels + 3 * ((size_t)row * (size_t)image->width + (size_t)column);
            for (int k = 0; k < 3; ++k)
                pixel[k] = (uint8_t)(bytes[k] + 0.5f);
        }
}
