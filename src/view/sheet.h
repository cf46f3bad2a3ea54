// A contact sheet: tiles in rows and columns with their names, on light paper.
//
// The sheet is laid out first and tiles are put in one by one, so that they need not all be in memory.

#pragma once

#include "view/image.h"

typedef struct snwSheetDef
{
    const char* title;    // NULL: none
    const char* subtitle; // NULL: none
    const char* const* rows;
    int rowCount;
    const char* const* columns; // headings; NULL: none
    int columnCount;
    int groupSize;             // columns that belong together, with a wider gap between groups; 0: none
    int tileWidth, tileHeight; // pixels
    bool captions;             // leave room for a line under each tile
    float textSize;            // pixels
} snwSheetDef;

snwSheetDef snwDefaultSheetDef(void);

typedef struct snwSheet
{
    snwSheetDef def; // its texts are only read while the sheet is made
    snwImage image;
    int left, top; // pixels, of the first tile
    int gap, groupGap, rowStep;
} snwSheet;

snwResult snwCreateSheet(snwContext* context, const snwSheetDef* def, snwSheet* sheet, snwMessage* message);
void snwDestroySheet(snwContext* context, snwSheet* sheet);

// Where a tile's upper left corner is, pixels.
void snwSheet_Place(const snwSheet* sheet, int row, int column, int* x, int* y);

// Copies the tile in, with round corners; a smaller one is centred, a larger one is cut at its right and bottom.
// caption may be NULL.
void snwSheet_PutTile(snwSheet* sheet, int row, int column, const snwImage* tile, const char* caption);
