// A plot as SVG text. All numbers are written by hand, so a host's locale cannot break the file.

#include "base/bytes.h"
#include "scene/file.h"
#include "view/plot.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct Svg
{
    snwWriter out;
} Svg;

static void PutSvg(Svg* svg, const char* text)
{
    snwWrite(&svg->out, text, strlen(text));
}

// Whole numbers and words only: see PutSvgNumber.
static void __attribute__((format(printf, 2, 3))) PutFormat(Svg* svg, const char* format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    PutSvg(svg, text);
}

// A coordinate with at most two decimals.
static void PutSvgNumber(Svg* svg, double value)
{
    long hundredths = lround(fmin(fmax(value, -1e6), 1e6) * 100);
    const char* sign = hundredths < 0 ? "-" : "";
    hundredths = hundredths < 0 ? -hundredths : hundredths;
    if (hundredths % 100 == 0)
        PutFormat(svg, "%s%ld", sign, hundredths / 100);
    else
        PutFormat(svg, "%s%ld.%02ld", sign, hundredths / 100, hundredths % 100);
}

// Attributes: name="value" name="value" ..., the last name is NULL.
static void PutAttributes(Svg* svg, const char* names[], const double* values)
{
    for (int i = 0; names[i] != NULL; ++i)
    {
        PutFormat(svg, " %s=\"", names[i]);
        PutSvgNumber(svg, values[i]);
        PutSvg(svg, "\"");
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

static void PutEscaped(Svg* svg, const char* text)
{
    const unsigned char* c = (const unsigned char*)(text != NULL ? text : "");
    while (*c != 0)
    {
        int length = CharacterLength(c);
        if (length == 0)
            PutSvg(svg, *c < 0x20 ? " " : "?");
        else if (*c == '<' || *c == '>' || *c == '&' || *c == '"')
            PutSvg(svg, *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '&' ? "&amp;" : "&quot;");
        else
            snwWrite(&svg->out, c, (size_t)length);
        c += length > 0 ? length : 1;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The pen

static void PutStroke(Svg* svg, const snwPlotStyle* style)
{
    PutFormat(svg, " stroke=\"#%06x\" stroke-width=\"", (unsigned)style->color);
    PutSvgNumber(svg, style->width);
    PutSvg(svg, style->dashed ? "\" stroke-dasharray=\"6 4\"" : "\"");
}

static void PutSvgLine(void* own, double x1, double y1, double x2, double y2, const snwPlotStyle* style)
{
    PutSvg(own, "<line");
    PutAttributes(own, (const char*[]){"x1", "y1", "x2", "y2", NULL}, (double[]){x1, y1, x2, y2});
    PutStroke(own, style);
    PutSvg(own, "/>\n");
}

static void PutSvgRing(void* own, double x, double y, double radius, const snwPlotStyle* style)
{
    PutSvg(own, "<circle");
    PutAttributes(own, (const char*[]){"cx", "cy", "r", NULL}, (double[]){x, y, radius});
    PutSvg(own, " fill=\"none\"");
    PutStroke(own, &(snwPlotStyle){style->color, style->width, false});
    PutSvg(own, "/>\n");
}

static void PutSvgText(void* own, const snwPlotText* text)
{
    static const char* const anchors[] = {"start", "middle", "end"};
    PutSvg(own, "<text");

    // Upward text is turned about its own place.
    if (!text->upward)
        PutAttributes(own, (const char*[]){"x", "y", NULL}, (double[]){text->x, text->y});
    else
    {
        PutSvg(own, " transform=\"translate(");
        PutSvgNumber(own, text->x);
        PutSvg(own, " ");
        PutSvgNumber(own, text->y);
        PutSvg(own, ") rotate(-90)\"");
    }

    // Words are escaped; a power of ten stands raised behind them.
    PutAttributes(own, (const char*[]){"font-size", NULL}, (double[]){text->size});
    PutFormat(own, " text-anchor=\"%s\" fill=\"#%06x\"%s>", anchors[text->anchor], (unsigned)text->color,
        text->bold ? " font-weight=\"600\"" : "");
    PutEscaped(own, text->text);
    if (text->power != 0)
        PutFormat(own, " \xc3\x97 10<tspan dy=\"-5\" font-size=\"10\">%d</tspan>", text->power);
    PutSvg(own, "</text>\n");
}

static void BeginSvgPath(void* own)
{
    PutSvg(own, "<path d=\"");
}

static void PutSvgPoint(void* own, double x, double y, bool down)
{
    PutSvg(own, down ? "L" : "M");
    PutSvgNumber(own, x);
    PutSvg(own, " ");
    PutSvgNumber(own, y);
    if (!down)
        PutSvg(own, "h0"); // a point alone becomes a dot
}

static void EndSvgPath(void* own, const snwPlotStyle* style)
{
    PutSvg(own, "\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"");
    PutStroke(own, style);
    PutSvg(own, "/>\n");
}

snwResult snwPlot_WriteSvg(snwContext* context, const snwPlotDef* def, const char* path, snwMessage* message)
{
    snwResult result = snwPlot_Check(def, message);
    if (result < 0)
        return result;
    Svg svg = {.out = {.context = context}};
    PutFormat(&svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" ",
        def->width, def->height, def->width, def->height);
    PutSvg(&svg, "font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\">\n<title>");
    PutEscaped(&svg, def->title);
    PutSvg(&svg, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    snwPlot_Draw(def, &(snwPlotPen){PutSvgLine, PutSvgText, PutSvgRing, BeginSvgPath, PutSvgPoint, EndSvgPath, &svg});
    PutSvg(&svg, "</svg>\n");
    result = svg.out.failed ? snwFailMemory(message)
                            : snwFile_Write(context, path, svg.out.data, svg.out.size, def->overwrite, message);
    snwFree(context, svg.out.data);
    return result;
}
