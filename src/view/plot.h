// Plots: plot.c lays out and draws with a pen; the pens are SVG text and pixels.

#pragma once

#include "base/context.h"
#include "sinew/tools.h"

typedef struct snwPlotStyle
{
    uint32_t color; // 0xrrggbb
    double width;   // of lines, pixels
    bool dashed;
} snwPlotStyle;

typedef enum snwPlotAnchor
{
    snw_anchorStart,
    snw_anchorMiddle,
    snw_anchorEnd,
} snwPlotAnchor;

typedef struct snwPlotText
{
    double x, y; // of the baseline, pixels
    double size; // pixels
    snwPlotAnchor anchor;
    uint32_t color;
    bool bold;
    bool upward; // reads from the bottom to the top
    int power;   // 0: none; else "x 10^power" follows
    const char* text;
} snwPlotText;

// A path is Begin, points with the pen up or down, End. A point with the pen up that nothing follows is a dot.
typedef struct snwPlotPen
{
    void (*line)(void* own, double x1, double y1, double x2, double y2, const snwPlotStyle* style);
    void (*text)(void* own, const snwPlotText* text);
    void (*ring)(void* own, double x, double y, double radius, const snwPlotStyle* style);
    void (*begin)(void* own);
    void (*point)(void* own, double x, double y, bool down);
    void (*end)(void* own, const snwPlotStyle* style);
    void* own;
} snwPlotPen;

snwResult snwPlot_Check(const snwPlotDef* def, snwMessage* message);
// Everything but the paper.
void snwPlot_Draw(const snwPlotDef* def, const snwPlotPen* pen);
