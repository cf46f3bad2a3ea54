// Line plots: ranges, ticks and places, drawn with whichever pen.

#include "view/plot.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_maxCurves = 12,
    snw_colorCount = 6, // then the same again, dashed
    snw_maxPoints = 2000,
    snw_buckets = snw_maxPoints / 2,
    snw_maxTicks = 40,
};

static const double s_limit = 1e150; // beyond it a value is a gap: differences must not overflow

// Okabe and Ito's colours that stand out on white; told apart with any kind of colour vision.
static const uint32_t s_colors[snw_colorCount] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9};
static const uint32_t s_ink = 0x24292f, s_quietInk = 0x4a5058, s_frame = 0x8a9099, s_grid = 0xe3e6ea;
static const uint32_t s_reference = 0x7c828b; // what others measured is grey

typedef struct Axis
{
    double lower, upper, step;
    double unit;     // labels show value / unit
    int power;       // unit = 10^power
    int decimals;    // of labels
    double from, to; // pixels at lower and upper
} Axis;

// A curve or a reference, and how it looks.
typedef struct Series
{
    snwPlotCurve curve;
    snwPlotStyle style;
    bool dots;
} Series;

typedef struct Plot
{
    const snwPlotDef* def;
    const snwPlotPen* pen;
    int seriesCount;
    Axis x, y;
    double left, right, top, bottom; // of the frame
    double legendTop;
} Plot;

snwPlotDef snwDefaultPlotDef(void)
{
    return (snwPlotDef){.title = "", .xLabel = "", .yLabel = "", .width = 760, .height = 440};
}

// References come after the curves.
static Series GetSeries(const snwPlotDef* def, int index)
{
    if (index < def->curveCount)
        return (Series){def->curves[index], {s_colors[index % snw_colorCount], 1.8, index >= snw_colorCount}, false};
    const snwPlotReference* other = &def->references[index - def->curveCount];
    return (Series){{other->label, other->x, other->y, other->count}, {s_reference, 1.6, !other->dots}, other->dots};
}

static int SeriesCount(const snwPlotDef* def)
{
    return def->curveCount + def->referenceCount;
}

static bool HasText(const char* text)
{
    return text != NULL && text[0] != 0;
}

// Characters, for guessing how wide a text will be.
static double GuessTextWidth(const char* text, double perCharacter)
{
    int count = 0;
    for (const char* c = text != NULL ? text : ""; *c != 0; ++c)
        count += ((unsigned char)*c & 0xc0) != 0x80;
    return count * perCharacter;
}

// ---------------------------------------------------------------------------------------------------------------------
// Axes

static bool IsDrawn(double value)
{
    return fabs(value) <= s_limit; // false for NaN
}

static void FindAxisRange(const snwPlotDef* def, bool ofX, double* lower, double* upper)
{
    *lower = DBL_MAX;
    *upper = -DBL_MAX;

    // Curves and dots alike; what has no finite value, or none that the axis shows, does not count.
    for (int s = 0; s < SeriesCount(def); ++s)
    {
        snwPlotCurve curve = GetSeries(def, s).curve;
        for (int i = 0; i < curve.count; ++i)
        {
            double x = curve.x[i], y = curve.y[i];
            if (!IsDrawn(x) || !IsDrawn(y))
                continue;
            *lower = fmin(*lower, ofX ? x : y);
            *upper = fmax(*upper, ofX ? x : y);
        }
    }

    // Nothing to show: a range all the same.
    if (*lower > *upper)
    {
        *lower = 0;
        *upper = 1;
    }
}

// 1, 2 or 5 times a power of ten, so that about `count` steps fill the range.
static double NiceStep(double range, double count)
{
    double rough = range / fmax(count, 1);
    double power = pow(10, floor(log10(rough)));
    double rest = rough / power;
    return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

// A range that is almost a point is opened, or its ticks would all be the same number.
static void OpenRange(double* lower, double* upper)
{
    double size = fmax(fabs(*lower), fabs(*upper));
    if (*upper - *lower > 1e-9 * size && *upper - *lower > 1e-300)
        return;
    double margin = size > 1e-290 ? 0.1 * size : 1;
    *lower -= margin;
    *upper += margin;
}

static Axis MakeAxis(double lower, double upper, bool snap, double count)
{
    OpenRange(&lower, &upper);
    Axis axis = {.lower = lower, .upper = upper, .step = NiceStep(upper - lower, count), .unit = 1};
    if (snap)
    {
        axis.lower = floor(lower / axis.step + 1e-9) * axis.step;
        axis.upper = ceil(upper / axis.step - 1e-9) * axis.step;
    }
    double size = fmax(fabs(axis.lower), fabs(axis.upper));
    if (size >= 1e5 || size < 1e-2)
    {
        axis.power = 3 * (int)floor(log10(size) / 3);
        axis.unit = pow(10, axis.power);
    }
    axis.decimals = (int)fmin(fmax(-floor(log10(axis.step / axis.unit) + 1e-9), 0), 12);
    return axis;
}

static double ToPixel(const Axis* axis, double value)
{
    return axis->from + (value - axis->lower) / (axis->upper - axis->lower) * (axis->to - axis->from);
}

static int TickCount(const Axis* axis, double* first)
{
    *first = ceil(axis->lower / axis->step - 1e-9);
    double count = floor(axis->upper / axis->step + 1e-9) - *first + 1;
    return (int)fmin(count, snw_maxTicks);
}

static void FormatTick(const Axis* axis, double value, char text[64])
{
    double shown = value / axis->unit;
    if (fabs(shown) < 1e-9 * axis->step / axis->unit)
        shown = 0; // never "-0.0"
    snprintf(text, 64, "%.*f", axis->decimals, shown);
    for (char* c = text; *c != 0; ++c)
        *c = *c == ',' ? '.' : *c;
}

static double TickLabelWidth(const Axis* axis)
{
    double first, widest = 0;
    int count = TickCount(axis, &first);
    for (int i = 0; i < count; ++i)
    {
        char text[64];
        FormatTick(axis, (first + i) * axis->step, text);
        widest = fmax(widest, GuessTextWidth(text, 7));
    }
    return widest;
}

// ---------------------------------------------------------------------------------------------------------------------
// Layout

static const double s_legendRow = 18;

static void DrawText(Plot* plot, double x, double y, snwPlotAnchor anchor, uint32_t color, const char* text)
{
    plot->pen->text(plot->pen->own,
        &(snwPlotText){.x = x, .y = y, .size = 12, .anchor = anchor, .color = color, .text = text != NULL ? text : ""});
}

static void DrawLine(Plot* plot, double x1, double y1, double x2, double y2, snwPlotStyle style)
{
    plot->pen->line(plot->pen->own, x1, y1, x2, y2, &style);
}

static void DrawLegendEntry(Plot* plot, const Series* series, double x, double y)
{
    snwPlotStyle style = series->style;
    style.width += 0.4;
    if (series->dots)
        plot->pen->ring(plot->pen->own, x + 11, y - 4, 3.5, &style);
    else
        DrawLine(plot, x, y - 4, x + 22, y - 4, style);
    DrawText(plot, x + 28, y, snw_anchorStart, s_ink, series->curve.label);
}

// Places the entries in rows and returns how many rows; with draw false nothing is drawn.
static int LayLegend(Plot* plot, bool draw)
{
    double x = plot->left;
    int row = 0;
    for (int i = 0; i < plot->seriesCount; ++i)
    {
        Series series = GetSeries(plot->def, i);
        double width = 46 + GuessTextWidth(series.curve.label, 6.8);
        if (x > plot->left && x + width > plot->def->width - 16)
        {
            x = plot->left;
            row++;
        }
        if (draw)
            DrawLegendEntry(plot, &series, x, plot->legendTop + s_legendRow * row);
        x += width;
    }
    return row + 1;
}

static bool HasLegend(const snwPlotDef* def)
{
    return SeriesCount(def) > 1 || (SeriesCount(def) == 1 && HasText(GetSeries(def, 0).curve.label));
}

static void LayOutPlot(Plot* plot)
{
    const snwPlotDef* def = plot->def;
    double lower, upper;
    FindAxisRange(def, true, &lower, &upper);
    plot->x = MakeAxis(lower, upper, false, def->width / 95.0);
    FindAxisRange(def, false, &lower, &upper);
    plot->y = MakeAxis(lower, upper, true, def->height / 62.0);
    plot->left = 18 + TickLabelWidth(&plot->y) + (HasText(def->yLabel) || plot->y.power != 0 ? 24 : 0);
    plot->right = def->width - 22;
    plot->legendTop = HasText(def->title) ? 54 : 26;
    int rows = HasLegend(def) ? LayLegend(plot, false) : 0;
    plot->top = plot->legendTop + s_legendRow * rows - (rows > 0 ? 8 : 14);
    plot->bottom = def->height - 30 - (HasText(def->xLabel) || plot->x.power != 0 ? 22 : 0);
    plot->x.from = plot->left;
    plot->x.to = plot->right;
    plot->y.from = plot->bottom;
    plot->y.to = plot->top;
}

// ---------------------------------------------------------------------------------------------------------------------
// Drawing

static void DrawTicks(Plot* plot)
{
    const snwPlotStyle grid = {s_grid, 1, false};
    double first;
    int count = TickCount(&plot->y, &first);

    // Horizontal lines with their values on the left, then vertical ones below.
    for (int i = 0; i < count; ++i)
    {
        char text[64];
        double value = (first + i) * plot->y.step, y = ToPixel(&plot->y, value);
        FormatTick(&plot->y, value, text);
        DrawLine(plot, plot->left, y, plot->right, y, grid);
        DrawText(plot, plot->left - 8, y + 4, snw_anchorEnd, s_quietInk, text);
    }

    count = TickCount(&plot->x, &first);
    for (int i = 0; i < count; ++i)
    {
        char text[64];
        double value = (first + i) * plot->x.step, x = ToPixel(&plot->x, value);
        FormatTick(&plot->x, value, text);
        DrawLine(plot, x, plot->top, x, plot->bottom, grid);
        DrawText(plot, x, plot->bottom + 18, snw_anchorMiddle, s_quietInk, text);
    }
}

static void DrawAxes(Plot* plot)
{
    const snwPlotDef* def = plot->def;
    const snwPlotStyle frame = {s_frame, 1.2, false};
    DrawTicks(plot);

    // Two sides of a frame are enough; ticks lie below them.
    DrawLine(plot, plot->left, plot->bottom, plot->right, plot->bottom, frame);
    DrawLine(plot, plot->left, plot->top, plot->left, plot->bottom, frame);

    // Names of both axes, the second one turned upwards.
    snwPlotText label = {.size = 13, .anchor = snw_anchorMiddle, .color = s_ink};
    label.x = 0.5 * (plot->left + plot->right);
    label.y = def->height - 12;
    label.power = plot->x.power;
    label.text = def->xLabel != NULL ? def->xLabel : "";
    plot->pen->text(plot->pen->own, &label);
    label.x = 20;
    label.y = 0.5 * (plot->top + plot->bottom);
    label.upward = true;
    label.power = plot->y.power;
    label.text = def->yLabel != NULL ? def->yLabel : "";
    plot->pen->text(plot->pen->own, &label);
}

// The pen is up after a gap; a point alone between gaps becomes a dot.
static void DrawPoint(Plot* plot, const snwPlotCurve* curve, int i, bool* down)
{
    if (!IsDrawn(curve->x[i]) || !IsDrawn(curve->y[i]))
    {
        *down = false;
        return;
    }
    plot->pen->point(plot->pen->own, ToPixel(&plot->x, curve->x[i]), ToPixel(&plot->y, curve->y[i]), *down);
    *down = true;
}

// Draws only the lowest and the highest point of a bucket, in their order: the plot keeps every spike.
static void DrawBucket(Plot* plot, const snwPlotCurve* curve, int begin, int end, bool* down)
{
    int lowest = -1, highest = -1, gap = -1;

    // Places without a value break the curve.
    for (int i = begin; i < end; ++i)
    {
        if (!IsDrawn(curve->x[i]) || !IsDrawn(curve->y[i]))
        {
            gap = i;
            continue;
        }
        lowest = lowest < 0 || curve->y[i] < curve->y[lowest] ? i : lowest;
        highest = highest < 0 || curve->y[i] > curve->y[highest] ? i : highest;
    }

    if (gap >= 0)
        *down = false;
    if (lowest < 0)
        return;
    // In the order of x, so that the line does not go back.
    DrawPoint(plot, curve, lowest < highest ? lowest : highest, down);
    if (lowest != highest)
        DrawPoint(plot, curve, lowest < highest ? highest : lowest, down);
}

static void DrawCurve(Plot* plot, const Series* series)
{
    const snwPlotCurve* curve = &series->curve;
    bool down = false;
    int count = curve->count;
    plot->pen->begin(plot->pen->own);
    for (int i = 0; count <= snw_maxPoints && i < count; ++i)
        DrawPoint(plot, curve, i, &down);
    for (int b = 0; count > snw_maxPoints && b < snw_buckets; ++b)
        DrawBucket(plot, curve, (int)((long long)count * b / snw_buckets),
            (int)((long long)count * (b + 1) / snw_buckets), &down);
    plot->pen->end(plot->pen->own, &series->style);
}

static void DrawDots(Plot* plot, const Series* series)
{
    const snwPlotCurve* curve = &series->curve;
    for (int i = 0; i < curve->count; ++i)
        if (IsDrawn(curve->x[i]) && IsDrawn(curve->y[i]))
            plot->pen->ring(
                plot->pen->own, ToPixel(&plot->x, curve->x[i]), ToPixel(&plot->y, curve->y[i]), 3.5, &series->style);
}

void snwPlot_Draw(const snwPlotDef* def, const snwPlotPen* pen)
{
    Plot plot = {.def = def, .pen = pen, .seriesCount = SeriesCount(def)};

    // Axes behind, then title and legend, then curves.
    LayOutPlot(&plot);
    DrawAxes(&plot);
    if (HasText(def->title))
        pen->text(pen->own,
            &(snwPlotText){.x = plot.left, .y = 28, .size = 16, .bold = true, .color = s_ink, .text = def->title});
    if (HasLegend(def))
        LayLegend(&plot, true);

    // References first: they lie behind.
    for (int i = plot.seriesCount - 1; i >= def->curveCount; --i)
    {
        Series series = GetSeries(def, i);
        if (series.dots)
            DrawDots(&plot, &series);
        else
            DrawCurve(&plot, &series);
    }

    for (int i = 0; i < def->curveCount; ++i)
    {
        Series series = GetSeries(def, i);
        DrawCurve(&plot, &series);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

snwResult snwPlot_Check(const snwPlotDef* def, snwMessage* message)
{
    if (def->width < 200 || def->width > 8192 || def->height < 160 || def->height > 8192)
        return snwFail(message, snw_errorArgument, "give 200 x 160 to 8192 x 8192", "the size of the plot is %d x %d",
            def->width, def->height);
    if (def->curveCount < 0 || def->curveCount > snw_maxCurves || def->referenceCount < 0 ||
        def->referenceCount > snw_maxCurves)
        return snwFail(message, snw_errorArgument, "make several plots", "a plot of %d curves; 12 can be told apart",
            def->curveCount > def->referenceCount ? def->curveCount : def->referenceCount);
    for (int i = 0; i < SeriesCount(def); ++i)
    {
        snwPlotCurve curve = GetSeries(def, i).curve;
        if (curve.count < 0 || (curve.count > 0 && (curve.x == NULL || curve.y == NULL)))
            return snwFail(message, snw_errorArgument, NULL, "curve %d of the plot has no points to read", i);
    }
    return snw_ok;
}

// Axes around nothing help nobody.
static snwResult CheckPlotPoints(const snwPlotDef* def, snwMessage* message)
{
    for (int s = 0; s < def->curveCount; ++s)
        for (int i = 0; i < def->curves[s].count; ++i)
            if (IsDrawn(def->curves[s].x[i]) && IsDrawn(def->curves[s].y[i]))
                return snw_ok;
    return snwFail(message, snw_errorArgument, "give it a curve with a finite point", "nothing to plot in '%s'",
        def->title != NULL ? def->title : "");
}

snwResult snwPlot_Write(snwContext* context, const snwPlotDef* def, const char* stem, snwMessage* message)
{
    size_t capacity = strlen(stem) + 8;
    snwResult result = snwPlot_Check(def, message);
    if (result >= 0)
        result = CheckPlotPoints(def, message);
    if (result < 0)
        return result;
    char* path = snwAlloc(context, capacity);
    if (path == NULL)
        return snwFailMemory(message);
    snprintf(path, capacity, "%s.svg", stem);
    result = snwPlot_WriteSvg(context, def, path, message);
    snprintf(path, capacity, "%s.png", stem);
    if (result >= 0)
        result = snwPlot_WritePng(context, def, path, message);
    snwFree(context, path);
    return result;
}
