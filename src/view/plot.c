// Line plots as SVG text. All numbers are written by hand or with their decimal comma put right, so a host's locale
// cannot break the file.

#include "base/bytes.h"
#include "sinew/tools.h"
#include "scene/file.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
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
static const char* const s_colors[snw_colorCount] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

typedef struct Axis
{
    double lower, upper, step;
    double unit;     // labels show value / unit
    int power;       // unit = 10^power
    int decimals;    // of labels
    double from, to; // pixels at lower and upper
} Axis;

typedef struct Plot
{
    const snwPlotDef* def;
    snwWriter out;
    Axis x, y;
    double left, right, top, bottom; // of the frame
    double legendTop;
} Plot;

snwPlotDef snwDefaultPlotDef(void)
{
    return (snwPlotDef){.title = "", .xLabel = "", .yLabel = "", .width = 760, .height = 440};
}

// ---------------------------------------------------------------------------------------------------------------------
// Text

static void Put(Plot* plot, const char* text)
{
    snwWrite(&plot->out, text, strlen(text));
}

// Whole numbers and words only: see PutNumber.
static void __attribute__((format(printf, 2, 3))) PutFormat(Plot* plot, const char* format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    Put(plot, text);
}

// A coordinate with at most two decimals.
static void PutNumber(Plot* plot, double value)
{
    long hundredths = lround(fmin(fmax(value, -1e6), 1e6) * 100);
    const char* sign = hundredths < 0 ? "-" : "";
    hundredths = hundredths < 0 ? -hundredths : hundredths;
    if (hundredths % 100 == 0)
        PutFormat(plot, "%s%ld", sign, hundredths / 100);
    else
        PutFormat(plot, "%s%ld.%02ld", sign, hundredths / 100, hundredths % 100);
}

// Attributes: name="value" name="value" ..., the last name is NULL.
static void PutAttributes(Plot* plot, const char* names[], const double* values)
{
    for (int i = 0; names[i] != NULL; ++i)
    {
        PutFormat(plot, " %s=\"", names[i]);
        PutNumber(plot, values[i]);
        Put(plot, "\"");
    }
}

// Bytes of a well-formed UTF-8 character that XML allows, else 0.
static int CharacterLength(const unsigned char* c)
{
    int length = c[0] < 0x80                   ? 1
                 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                 : (c[0] & 0xf0) == 0xe0       ? 3
                 : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                               : 0;
    for (int i = 1; i < length; ++i)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool outside = (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf4 && c[1] >= 0x90);
    bool noCharacter = c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe;
    return c[0] < 0x20 || overlong || outside || noCharacter ? 0 : length;
}

static void PutEscaped(Plot* plot, const char* text)
{
    const unsigned char* c = (const unsigned char*)(text != NULL ? text : "");
    while (*c != 0)
    {
        int length = CharacterLength(c);
        if (length == 0)
            Put(plot, *c < 0x20 ? " " : "?");
        else if (*c == '<' || *c == '>' || *c == '&' || *c == '"')
            Put(plot, *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '&' ? "&amp;" : "&quot;");
        else
            snwWrite(&plot->out, c, (size_t)length);
        c += length > 0 ? length : 1;
    }
}

static bool HasText(const char* text)
{
    return text != NULL && text[0] != 0;
}

// Characters, for guessing how wide a text will be.
static double TextWidth(const char* text, double perCharacter)
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

static void FindRange(const snwPlotDef* def, bool ofX, double* lower, double* upper)
{
    *lower = DBL_MAX;
    *upper = -DBL_MAX;
    for (int c = 0; c < def->curveCount; ++c)
        for (int i = 0; i < def->curves[c].count; ++i)
        {
            double x = def->curves[c].x[i], y = def->curves[c].y[i];
            if (!IsDrawn(x) || !IsDrawn(y))
                continue;
            *lower = fmin(*lower, ofX ? x : y);
            *upper = fmax(*upper, ofX ? x : y);
        }
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
        widest = fmax(widest, TextWidth(text, 7));
    }
    return widest;
}

// ---------------------------------------------------------------------------------------------------------------------
// Layout

static const double s_legendRow = 18;

static double LegendWidth(const snwPlotCurve* curve)
{
    return 46 + TextWidth(curve->label, 6.8);
}

static void PutStroke(Plot* plot, int curve)
{
    PutFormat(plot, " stroke=\"%s\"%s", s_colors[curve % snw_colorCount],
        curve >= snw_colorCount ? " stroke-dasharray=\"6 4\"" : "");
}

static void PutText(Plot* plot, double x, double y, const char* attributes, const char* text)
{
    Put(plot, "<text");
    PutAttributes(plot, (const char*[]){"x", "y", NULL}, (double[]){x, y});
    PutFormat(plot, " %s>", attributes);
    PutEscaped(plot, text);
    Put(plot, "</text>\n");
}

static void PutLine(Plot* plot, double x1, double y1, double x2, double y2)
{
    Put(plot, "<line");
    PutAttributes(plot, (const char*[]){"x1", "y1", "x2", "y2", NULL}, (double[]){x1, y1, x2, y2});
    Put(plot, "/>\n");
}

// Places the entries in rows and returns how many rows; with draw false nothing is written.
static int LayLegend(Plot* plot, bool draw)
{
    double x = plot->left;
    int row = 0;
    for (int i = 0; i < plot->def->curveCount; ++i)
    {
        const snwPlotCurve* curve = &plot->def->curves[i];
        double width = LegendWidth(curve);
        if (x > plot->left && x + width > plot->def->width - 16)
        {
            x = plot->left;
            row++;
        }
        double y = plot->legendTop + s_legendRow * row;
        if (draw)
        {
            Put(plot, "<g stroke-width=\"2.2\"");
            PutStroke(plot, i);
            Put(plot, ">");
            PutLine(plot, x, y - 4, x + 22, y - 4);
            Put(plot, "</g>");
            PutText(plot, x + 28, y, "font-size=\"12\"", curve->label);
        }
        x += width;
    }
    return row + 1;
}

static bool HasLegend(const snwPlotDef* def)
{
    return def->curveCount > 1 || (def->curveCount == 1 && HasText(def->curves[0].label));
}

static void LayOut(Plot* plot)
{
    const snwPlotDef* def = plot->def;
    double lower, upper;
    FindRange(def, true, &lower, &upper);
    plot->x = MakeAxis(lower, upper, false, def->width / 95.0);
    FindRange(def, false, &lower, &upper);
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

// The label and, if the ticks are scaled, by what.
static void PutAxisLabel(Plot* plot, const Axis* axis, const char* label)
{
    PutEscaped(plot, label);
    if (axis->power != 0)
        PutFormat(plot, " \xc3\x97 10<tspan dy=\"-5\" font-size=\"10\">%d</tspan>", axis->power);
    Put(plot, "</text>\n");
}

static void DrawTicks(Plot* plot)
{
    double first;
    int count = TickCount(&plot->y, &first);
    for (int i = 0; i < count; ++i)
    {
        char text[64];
        double value = (first + i) * plot->y.step, y = ToPixel(&plot->y, value);
        FormatTick(&plot->y, value, text);
        PutLine(plot, plot->left, y, plot->right, y);
        PutText(plot, plot->left - 8, y + 4, "text-anchor=\"end\" stroke=\"none\"", text);
    }
    count = TickCount(&plot->x, &first);
    for (int i = 0; i < count; ++i)
    {
        char text[64];
        double value = (first + i) * plot->x.step, x = ToPixel(&plot->x, value);
        FormatTick(&plot->x, value, text);
        PutLine(plot, x, plot->top, x, plot->bottom);
        PutText(plot, x, plot->bottom + 18, "text-anchor=\"middle\" stroke=\"none\"", text);
    }
}

static void DrawAxes(Plot* plot)
{
    const snwPlotDef* def = plot->def;
    Put(plot, "<g stroke=\"#e3e6ea\" stroke-width=\"1\" font-size=\"12\" fill=\"#4a5058\">\n");
    DrawTicks(plot);
    Put(plot, "</g>\n<g stroke=\"#8a9099\" stroke-width=\"1.2\">\n");
    PutLine(plot, plot->left, plot->bottom, plot->right, plot->bottom);
    PutLine(plot, plot->left, plot->top, plot->left, plot->bottom);
    Put(plot, "</g>\n");
    Put(plot, "<text text-anchor=\"middle\" font-size=\"13\"");
    PutAttributes(
        plot, (const char*[]){"x", "y", NULL}, (double[]){0.5 * (plot->left + plot->right), (double)def->height - 12});
    Put(plot, ">");
    PutAxisLabel(plot, &plot->x, def->xLabel);
    Put(plot, "<text text-anchor=\"middle\" font-size=\"13\" transform=\"translate(20 ");
    PutNumber(plot, 0.5 * (plot->top + plot->bottom));
    Put(plot, ") rotate(-90)\">");
    PutAxisLabel(plot, &plot->y, def->yLabel);
}

// The pen is up after a gap; a point alone between gaps becomes a dot.
static void PutPoint(Plot* plot, const snwPlotCurve* curve, int i, bool* down)
{
    if (!IsDrawn(curve->x[i]) || !IsDrawn(curve->y[i]))
    {
        *down = false;
        return;
    }
    Put(plot, *down ? "L" : "M");
    PutNumber(plot, ToPixel(&plot->x, curve->x[i]));
    Put(plot, " ");
    PutNumber(plot, ToPixel(&plot->y, curve->y[i]));
    if (!*down)
        Put(plot, "h0");
    *down = true;
}

// Of every bucket only its lowest and highest point, in their order: the plot keeps every spike.
static void PutBucket(Plot* plot, const snwPlotCurve* curve, int begin, int end, bool* down)
{
    int lowest = -1, highest = -1, gap = -1;
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
    PutPoint(plot, curve, lowest < highest ? lowest : highest, down);
    if (lowest != highest)
        PutPoint(plot, curve, lowest < highest ? highest : lowest, down);
}

static void DrawCurve(Plot* plot, int index)
{
    const snwPlotCurve* curve = &plot->def->curves[index];
    Put(plot, "<path d=\"");
    bool down = false;
    int count = curve->count;
    for (int i = 0; count <= snw_maxPoints && i < count; ++i)
        PutPoint(plot, curve, i, &down);
    for (int b = 0; count > snw_maxPoints && b < snw_buckets; ++b)
        PutBucket(plot, curve, (int)((long long)count * b / snw_buckets),
            (int)((long long)count * (b + 1) / snw_buckets), &down);
    Put(plot, "\"");
    PutStroke(plot, index);
    Put(plot, "/>\n");
}

static void Draw(Plot* plot)
{
    const snwPlotDef* def = plot->def;
    PutFormat(plot, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" ",
        def->width, def->height, def->width, def->height);
    Put(plot, "font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" fill=\"#24292f\">\n<title>");
    PutEscaped(plot, def->title);
    Put(plot, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    DrawAxes(plot);
    if (HasText(def->title))
        PutText(plot, plot->left, 28, "font-size=\"16\" font-weight=\"600\"", def->title);
    if (HasLegend(def))
        LayLegend(plot, true);
    Put(plot, "<g fill=\"none\" stroke-width=\"1.8\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n");
    for (int i = 0; i < def->curveCount; ++i)
        DrawCurve(plot, i);
    Put(plot, "</g>\n</svg>\n");
}

static snwResult CheckDef(const snwPlotDef* def, snwMessage* message)
{
    if (def->width < 200 || def->width > 8192 || def->height < 160 || def->height > 8192)
        return snwFail(message, snw_errorArgument, "give 200 x 160 to 8192 x 8192", "the size of the plot is %d x %d",
            def->width, def->height);
    if (def->curveCount < 0 || def->curveCount > snw_maxCurves)
        return snwFail(message, snw_errorArgument, "make several plots", "a plot of %d curves; 12 can be told apart",
            def->curveCount);
    for (int i = 0; i < def->curveCount; ++i)
    {
        const snwPlotCurve* curve = &def->curves[i];
        if (curve->count < 0 || (curve->count > 0 && (curve->x == NULL || curve->y == NULL)))
            return snwFail(message, snw_errorArgument, NULL, "curve %d of the plot has no points to read", i);
    }
    return snw_ok;
}

snwResult snwPlot_WriteSvg(snwContext* context, const snwPlotDef* def, const char* path, snwMessage* message)
{
    snwResult result = CheckDef(def, message);
    if (result < 0)
        return result;
    Plot plot = {.def = def, .out = {.context = context}};
    LayOut(&plot);
    Draw(&plot);
    result = plot.out.failed ? snwFailMemory(message)
                             : snwFile_Write(context, path, plot.out.data, plot.out.size, def->overwrite, message);
    snwFree(context, plot.out.data);
    return result;
}
