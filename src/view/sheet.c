// Contact sheets: title, names of rows and columns, tiles with round corners and captions, laid out from the size of
// a tile.

#include "view/sheet.h"

#include "view/caption.h"

static const snwFloat3 s_paper = {0.905f, 0.895f, 0.870f};
static const snwFloat3 s_ink = {0.022f, 0.024f, 0.030f};
static const snwFloat3 s_quietInk = {0.150f, 0.150f, 0.155f};

snwSheetDef snwDefaultSheetDef(void)
{
    return (snwSheetDef){.tileWidth = 320, .tileHeight = 320, .textSize = 20};
}

static int RoundToPixel(float x)
{
    return (int)floorf(x + 0.5f);
}

static const char* TextOrNothing(const char* text)
{
    return text != NULL ? text : "";
}

// ---------------------------------------------------------------------------------------------------------------------
// Layout

static float TitleSize(const snwSheetDef* def)
{
    return 1.9f * def->textSize;
}

// Names of the rows stand in a gutter on the left, as wide as the longest of them.
static int GutterWidth(const snwSheetDef* def)
{
    float widest = 0;
    for (int i = 0; i < def->rowCount && def->rows != NULL; ++i)
        widest = snwFloat_Max(widest, snwText_Width(1.15f * def->textSize, TextOrNothing(def->rows[i])));
    return widest > 0 ? RoundToPixel(widest + 1.3f * def->textSize) : 0;
}

static int HeadHeight(const snwSheetDef* def)
{
    float height = 0;
    height += def->title != NULL ? 1.35f * TitleSize(def) : 0;
    height += def->subtitle != NULL ? 1.5f * def->textSize : 0;
    height += height > 0 ? 0.6f * def->textSize : 0;
    height += def->columns != NULL ? 1.5f * def->textSize : 0;
    return RoundToPixel(height);
}

static snwResult CheckSheetDef(const snwSheetDef* def, snwMessage* message)
{
    bool size = def->tileWidth > 0 && def->tileHeight > 0 && def->tileWidth <= 8192 && def->tileHeight <= 8192;
    bool counts = def->rowCount > 0 && def->columnCount > 0 && def->rowCount <= 1000 && def->columnCount <= 1000;
    if (size && counts && def->textSize >= 4 && def->textSize <= 200)
        return snw_ok;
    return snwFail(message, snw_errorArgument, "start from snwDefaultSheetDef and give rows and columns",
        "a sheet of %d x %d tiles of %d x %d pixels with text of %g", def->columnCount, def->rowCount, def->tileWidth,
        def->tileHeight, (double)def->textSize);
}

static void LayOutSheet(snwSheet* sheet, int* width, int* height)
{
    const snwSheetDef* def = &sheet->def;
    int margin = RoundToPixel(2.2f * def->textSize);
    sheet->gap = RoundToPixel(0.6f * def->textSize);
    sheet->groupGap = def->groupSize > 0 ? RoundToPixel(1.2f * def->textSize) : 0;
    sheet->left = margin + GutterWidth(def);
    sheet->top = margin + HeadHeight(def);
    sheet->rowStep = def->tileHeight + sheet->gap + (def->captions ? RoundToPixel(1.5f * def->textSize) : 0);
    int x, y;
    snwSheet_Place(sheet, def->rowCount - 1, def->columnCount - 1, &x, &y);
    *width = x + def->tileWidth + margin;
    *height = y + sheet->rowStep - sheet->gap + margin;
}

void snwSheet_Place(const snwSheet* sheet, int row, int column, int* x, int* y)
{
    int groups = sheet->def.groupSize > 0 ? column / sheet->def.groupSize : 0;
    *x = sheet->left + column * (sheet->def.tileWidth + sheet->gap) + groups * sheet->groupGap;
    *y = sheet->top + row * sheet->rowStep;
}

// ---------------------------------------------------------------------------------------------------------------------
// Texts

// In the middle of a span, or from its start if it is too long.
static void DrawCentred(snwImage* image, int x, int width, float y, float size, snwFloat3 color, const char* text)
{
    float free = (float)width - snwText_Width(size, text);
    snwImage_DrawText(image, (float)x + 0.5f * snwFloat_Max(free, 0), y, size, color, text);
}

static void DrawHead(snwSheet* sheet)
{
    const snwSheetDef* def = &sheet->def;
    float left = 2.2f * def->textSize, y = 2.2f * def->textSize;
    if (def->title != NULL)
    {
        snwImage_DrawText(&sheet->image, left, y + 0.72f * TitleSize(def), TitleSize(def), s_ink, def->title);
        y += 1.35f * TitleSize(def);
    }
    if (def->subtitle != NULL)
        snwImage_DrawText(&sheet->image, left, y + 0.72f * def->textSize, def->textSize, s_quietInk, def->subtitle);
}

static void DrawNames(snwSheet* sheet)
{
    const snwSheetDef* def = &sheet->def;
    int x, y;
    for (int c = 0; c < def->columnCount && def->columns != NULL; ++c)
    {
        snwSheet_Place(sheet, 0, c, &x, &y);
        DrawCentred(&sheet->image, x, def->tileWidth, (float)y - 0.7f * def->textSize, def->textSize, s_quietInk,
            TextOrNothing(def->columns[c]));
    }
    for (int r = 0; r < def->rowCount && def->rows != NULL; ++r)
    {
        float size = 1.15f * def->textSize;
        snwSheet_Place(sheet, r, 0, &x, &y);
        float middle = (float)y + 0.5f * (float)def->tileHeight + 0.36f * size;
        snwImage_DrawText(&sheet->image, 2.2f * def->textSize, middle, size, s_ink, TextOrNothing(def->rows[r]));
    }
}

snwResult snwCreateSheet(snwContext* context, const snwSheetDef* def, snwSheet* sheet, snwMessage* message)
{
    *sheet = (snwSheet){.def = *def};
    snwResult result = CheckSheetDef(def, message);
    if (result < 0)
        return result;
    int width, height;
    LayOutSheet(sheet, &width, &height);
    result = snwCreateImage(context, width, height, &sheet->image, message);
    if (result < 0)
        return result;
    snwImage_Fill(&sheet->image, 0, 0, width, height, s_paper);
    DrawHead(sheet);
    DrawNames(sheet);
    return snw_ok;
}

void snwDestroySheet(snwContext* context, snwSheet* sheet)
{
    snwDestroyImage(context, &sheet->image);
}

// ---------------------------------------------------------------------------------------------------------------------
// Tiles

// How much of a pixel lies inside a rectangle with round corners.
static float RoundCover(int x, int y, int width, int height, float radius)
{
    float px = (float)x + 0.5f, py = (float)y + 0.5f;
    float dx = snwFloat_Max(radius - px, px - ((float)width - radius));
    float dy = snwFloat_Max(radius - py, py - ((float)height - radius));
    if (dx <= 0 || dy <= 0)
        return 1;
    return snwFloat_Clamp(radius + 0.5f - sqrtf(dx * dx + dy * dy), 0, 1);
}

static void CopyPixel(uint8_t* to, const uint8_t* from, float cover)
{
    for (int k = 0; k < 3; ++k)
        to[k] = (uint8_t)((float)to[k] + cover * ((float)from[k] - (float)to[k]) + 0.5f);
}

void snwSheet_PutTile(snwSheet* sheet, int row, int column, const snwImage* tile, const char* caption)
{
    const snwSheetDef* def = &sheet->def;
    int x, y, width = tile->width < def->tileWidth ? tile->width : def->tileWidth;
    int height = tile->height < def->tileHeight ? tile->height : def->tileHeight;
    float radius = snwFloat_Min(0.35f * def->textSize, 0.25f * (float)(width < height ? width : height));
    snwSheet_Place(sheet, row, column, &x, &y);
    int left = x + (def->tileWidth - width) / 2, top = y + (def->tileHeight - height) / 2;
    for (int j = 0; j < height; ++j)
        for (int i = 0; i < width; ++i)
            CopyPixel(sheet->image.pixels + 3 * ((size_t)(top + j) * (size_t)sheet->image.width + (size_t)(left + i)),
                tile->pixels + 3 * ((size_t)j * (size_t)tile->width + (size_t)i),
                RoundCover(i, j, width, height, radius));
    if (caption != NULL && def->captions)
        DrawCentred(&sheet->image, x, def->tileWidth, (float)(y + def->tileHeight) + 1.05f * def->textSize,
            0.85f * def->textSize, s_quietInk, caption);
}
