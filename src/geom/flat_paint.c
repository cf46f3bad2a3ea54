// The painter. Each shape first becomes a picture of its coverage, exact for the part of each pixel that it covers, and
// is then laid over what is there. Colours mix as sRGB values, which is what drawing programs do and what people expect
// of a gradient between two colours they picked.

#include "geom/flat.h"
#include "math/display.h"
#include "math/types.h"

#include <math.h>
#include <string.h>

typedef struct Painter
{
    snwContext* context;
    const snwFlatBlueprint* blueprint;
    snwFlatPicture* picture;
    snwOutline outline;
    double pixel;    // m
    float* coverage; // one row more than the picture has, for the sums that run over the end
    float* scratch;  // as large
    double* sums;    // one per column
    float* colors;   // three per pixel, sRGB 0..1
} Painter;

typedef struct Area
{
    int left, top, right, bottom; // right and bottom excluded
} Area;

static double ToPixelX(const Painter* painter, double x)
{
    return (x - painter->picture->lower[0]) / painter->pixel;
}

static double ToPixelY(const Painter* painter, double y)
{
    return (painter->picture->upper[1] - y) / painter->pixel;
}

// Inline, which the library's functions, with their care for NaN, are not.
static inline double Within(double value, double lower, double upper)
{
    return value < lower ? lower : value > upper ? upper : value;
}

// ---------------------------------------------------------------------------------------------------------------------
// Coverage of polygons

// Adds what lies right of a piece of a line within one row: `height` (signed) of the pixels beyond its right end, and
// shares of the pixels that it passes. Sums along the row then give the coverage.
static void AddPiece(float* row, int width, double x0, double x1, double height)
{
    // A piece within one pixel: its own coverage, and the rest for the pixel behind it.
    double left = Within(x0 < x1 ? x0 : x1, 0, width), right = Within(x0 < x1 ? x1 : x0, 0, width);
    int first = (int)left, last = (int)right;
    if (first >= width)
        return;
    if (last == first)
    {
        double covered = height * (first + 1 - (left + right) / 2);
        row[first] += (float)covered;
        row[first + 1] += (float)(height - covered);
        return;
    }

    // a trapezoid over several pixels; `done` is the sum of what went into the row
    double slope = height / (right - left), done = 0;
    for (int i = first; i <= last; ++i)
    {
        double from = fmax(left, i), to = fmin(right, i + 1);
        double reached = slope * (from - left), here = slope * (to - from);
        // the pixel's own coverage: all that entered before, and this part's mean
        double covered = reached + here * (i + 1 - (from + to) / 2);
        row[i] += (float)(covered - done);
        done = covered;
    }

    row[last + 1] += (float)(height - done);
}

static void AddPaintLine(const Painter* painter, const double a[2], const double b[2], double sign)
{
    // In pixels, always downwards; turned round, it counts the other way.
    int width = painter->picture->width, height = painter->picture->height;
    double x0 = ToPixelX(painter, a[0]), y0 = ToPixelY(painter, a[1]);
    double x1 = ToPixelX(painter, b[0]), y1 = ToPixelY(painter, b[1]);
    if (y0 == y1)
        return;

    if (y0 > y1)
    {
        double x = x0, y = y0;
        x0 = x1, y0 = y1, x1 = x, y1 = y;
        sign = -sign;
    }

    // Row by row, cut off at the picture.
    double slope = (x1 - x0) / (y1 - y0), top = fmax(y0, 0), bottom = fmin(y1, height);
    for (int j = (int)top; j < bottom; ++j)
    {
        double from = fmax(top, j), to = fmin(bottom, j + 1);
        if (to > from)
            AddPiece(painter->coverage + (size_t)j * (size_t)(width + 2), width, x0 + slope * (from - y0),
                x0 + slope * (to - y0), sign * (to - from));
    }
}

static void AddPolygon(const Painter* painter, const double (*points)[2], int count, bool hole)
{
    double area = 0;
    for (int i = 0; i < count; ++i)
        area += points[i][0] * points[(i + 1) % count][1] - points[(i + 1) % count][0] * points[i][1];
    double sign = (area > 0) == hole ? -1 : 1;
    for (int i = 0; i < count; ++i)
        AddPaintLine(painter, points[i], points[(i + 1) % count], sign);
}

static void SumRows(const Painter* painter, Area area)
{
    int width = painter->picture->width;
    for (int j = area.top; j < area.bottom; ++j)
    {
        float* row = painter->coverage + (size_t)j * (size_t)(width + 2);
        double sum = 0;
        for (int i = 0; i < width; ++i)
        {
            sum += row[i];
            row[i] = (float)Within(fabs(sum), 0, 1); // overlaps of a curve with itself count once
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Coverage of lines

static Area WholeArea(const Painter* painter)
{
    return (Area){0, 0, painter->picture->width, painter->picture->height};
}

static Area AreaAround(const Painter* painter, const double (*points)[2], int count, double margin)
{
    double lower[2] = {INFINITY, INFINITY}, upper[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < 2; ++k)
        {
            lower[k] = fmin(lower[k], points[i][k]);
            upper[k] = fmax(upper[k], points[i][k]);
        }
    Area whole = WholeArea(painter);
    double w = whole.right, h = whole.bottom;
    return (Area){(int)fmin(fmax(floor(ToPixelX(painter, lower[0] - margin)) - 1, 0), w),
        (int)fmin(fmax(floor(ToPixelY(painter, upper[1] + margin)) - 1, 0), h),
        (int)fmin(fmax(ceil(ToPixelX(painter, upper[0] + margin)) + 1, 0), w),
        (int)fmin(fmax(ceil(ToPixelY(painter, lower[1] - margin)) + 1, 0), h)};
}

// The coverage of a round-ended line, where it is more than what is there.
static void AddStrokePiece(const Painter* painter, const double a[2], const double b[2], double width)
{
    // Distance to the segment of each pixel's centre; half a pixel on either side makes the edge soft.
    const double ends[2][2] = {{a[0], a[1]}, {b[0], b[1]}};
    Area area = AreaAround(painter, ends, 2, width / 2 + painter->pixel);
    double ax = ToPixelX(painter, a[0]), ay = ToPixelY(painter, a[1]);
    double ux = ToPixelX(painter, b[0]) - ax, uy = ToPixelY(painter, b[1]) - ay, u2 = fmax(ux * ux + uy * uy, 1e-12);
    double reach = width / 2 / painter->pixel, most = (reach + 0.5) * (reach + 0.5);

    for (int j = area.top; j < area.bottom; ++j)
    {
        float* row = painter->coverage + (size_t)j * (size_t)(painter->picture->width + 2);
        for (int i = area.left; i < area.right; ++i)
        {
            // The nearest place on the segment.
            double vx = i + 0.5 - ax, vy = j + 0.5 - ay;
            double t = Within((ux * vx + uy * vy) / u2, 0, 1);
            double dx = vx - t * ux, dy = vy - t * uy, d2 = dx * dx + dy * dy;
            if (d2 >= most)
                continue;
            float covered = (float)Within(reach + 0.5 - sqrt(d2), 0, 1);
            row[i] = covered > row[i] ? covered : row[i];
        }
    }
}

static void AddStroke(const Painter* painter, const double (*points)[2], int count, bool closed, double width)
{
    for (int i = 0; i + 1 < count; ++i)
        AddStrokePiece(painter, points[i], points[i + 1], width);
    if (closed || count == 1)
        AddStrokePiece(painter, points[count - 1], points[0], width);
}

// ---------------------------------------------------------------------------------------------------------------------
// Soft edges

static int ClampToPicture(int index, int count)
{
    return index < 0 ? 0 : index >= count ? count - 1 : index;
}

// Means over 2 reach + 1 values of a row. What lies outside counts as its nearest.
static void BlurRow(const float* in, float* out, int count, int reach)
{
    double sum = 0, share = 1.0 / (2 * reach + 1);
    for (int i = -reach; i <= reach; ++i)
        sum += in[ClampToPicture(i, count)];
    for (int i = 0; i < count; ++i)
    {
        out[i] = (float)(sum > 0 ? sum * share : 0);
        sum += in[ClampToPicture(i + reach + 1, count)] - in[ClampToPicture(i - reach, count)];
    }
}

// The same along columns, all of them together: pixels of a column are far apart in memory.
static void BlurColumns(const Painter* painter, Area area, int reach)
{
    size_t pitch = (size_t)painter->picture->width + 2;
    int width = area.right - area.left, height = area.bottom - area.top;
    double *sums = painter->sums, share = 1.0 / (2 * reach + 1);
    const float* in = painter->scratch + (size_t)area.top * pitch + area.left;
    float* out = painter->coverage + (size_t)area.top * pitch + area.left;

    // A sliding sum for each column; beyond the picture the rim repeats.
    memset(sums, 0, (size_t)width * sizeof *sums);
    for (int j = -reach; j <= reach; ++j)
        for (int i = 0; i < width; ++i)
            sums[i] += in[(size_t)ClampToPicture(j, height) * pitch + (size_t)i];
    for (int j = 0; j < height; ++j)
    {
        const float* enter = in + (size_t)ClampToPicture(j + reach + 1, height) * pitch;
        const float* leave = in + (size_t)ClampToPicture(j - reach, height) * pitch;
        for (int i = 0; i < width; ++i)
        {
            out[(size_t)j * pitch + (size_t)i] = (float)(sums[i] > 0 ? sums[i] * share : 0);
            sums[i] += enter[i] - leave[i];
        }
    }
}

// Three box blurs along rows and columns are close to a Gaussian.
static void SoftenArea(const Painter* painter, Area area, double soft)
{
    size_t pitch = (size_t)painter->picture->width + 2;
    int reach = (int)lrint(soft / painter->pixel / 3), width = area.right - area.left, height = area.bottom - area.top;
    if (reach < 1 || width < 1 || height < 1)
        return;
    for (int pass = 0; pass < 3; ++pass)
    {
        for (int j = area.top; j < area.bottom; ++j)
        {
            size_t first = (size_t)j * pitch + (size_t)area.left;
            BlurRow(painter->coverage + first, painter->scratch + first, width, reach);
        }
        BlurColumns(painter, area, reach);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Shapes

static double GradientAt(const snwGradient* gradient, double x, double y)
{
    double ux = gradient->to[0] - gradient->from[0], uy = gradient->to[1] - gradient->from[1];
    double vx = x - gradient->from[0], vy = y - gradient->from[1], u2 = fmax(ux * ux + uy * uy, 1e-18);
    double t = gradient->kind == snw_gradientLinear ? (ux * vx + uy * vy) / u2 : sqrt((vx * vx + vy * vy) / u2);
    t = Within(t, 0, 1);
    return t * t * (3 - 2 * t); // no line where it begins and ends
}

// Lays the coverage over the picture and clears it.
static void Composite(Painter* painter, const snwPaint* paint, Area area, bool turned)
{
    // Colours as the screen shows them: gradients mix those.
    float from[3], to[3];
    for (int k = 0; k < 3; ++k)
    {
        from[k] = snwDisplay_FromLight(paint->color[k]);
        to[k] = snwDisplay_FromLight(paint->gradient.color[k]);
    }

    int width = painter->picture->width;
    for (int j = area.top; j < area.bottom; ++j)
    {
        float* row = painter->coverage + (size_t)j * (size_t)(width + 2);
        double y = painter->picture->upper[1] - (j + 0.5) * painter->pixel;
        for (int i = area.left; i < area.right; ++i)
        {
            // Nothing of the shape is here.
            if (row[i] <= 0)
                continue;
            double x = painter->picture->lower[0] + (i + 0.5) * painter->pixel, opacity = paint->opacity, t = 0;
            if (paint->gradient.kind != snw_gradientNone)
                t = GradientAt(&paint->gradient, turned ? -x : x, y);
            opacity += t * (paint->gradient.opacity - opacity);
            float alpha = row[i] * (float)opacity,
                  *pixel = painter->colors + 3 * ((size_t)j * (size_t)width + (size_t)i);
            for (int k = 0; k < 3; ++k)
                pixel[k] += alpha * (from[k] + (float)t * (to[k] - from[k]) - pixel[k]);
        }

        memset(row, 0, (size_t)(width + 2) * sizeof *row);
    }
}

enum
{
    snw_ellipsePoints = 128
};

// The shape's curve as a polygon in the arena; NULL without memory.
static double (*ShapePoints(const snwPaint* paint, snwArena* arena, int* count))[2]
{
    size_t most = paint->kind == snw_paintEllipse ? snw_ellipsePoints : (size_t)paint->count * snw_spanSamples + 1;
    double(*points)[2] = snwArena_Alloc(arena, most, sizeof *points);
    if (points == NULL)
        return NULL;
    double turn = paint->angle * (SNW_PI / 180);

    // Ellipses and polygons as they are, everything else as a spline through its points.
    switch (paint->kind)
    {
        case snw_paintEllipse:
            for (*count = 0; *count < snw_ellipsePoints; ++*count)
            {
                double angle = *count * (2 * SNW_PI / snw_ellipsePoints);
                double x = paint->radius[0] * cos(angle), y = paint->radius[1] * sin(angle);
                points[*count][0] = paint->center[0] + cos(turn) * x - sin(turn) * y;
                points[*count][1] = paint->center[1] + sin(turn) * x + cos(turn) * y;
            }
            break;
        case snw_paintPolygon:
            for (*count = 0; *count < paint->count; ++*count)
                memcpy(points[*count], paint->points[*count].at, sizeof *points);
            break;
        default:
            *count = snwSpline_Sample(
                paint->points, paint->count, paint->kind == snw_paintFill || paint->closed, points, NULL, NULL);
            break;
    }

    return points;
}

static void PaintRim(Painter* painter, const snwPaint* paint)
{
    for (int r = 0; r < painter->outline.ringCount; ++r)
        AddStroke(painter, painter->outline.rings[r].points, painter->outline.rings[r].count, true, paint->width);
    SoftenArea(painter, WholeArea(painter), paint->soft);
    Composite(painter, paint, WholeArea(painter), false);
}

static bool PaintShape(Painter* painter, const snwPaint* paint)
{
    snwArena arena = {.context = painter->context};
    int count = 0;
    if (paint->kind == snw_paintRim)
    {
        PaintRim(painter, paint);
        return true;
    }

    // Mirrored shapes are painted twice, the second time with x turned round.
    double(*points)[2] = ShapePoints(paint, &arena, &count);
    for (int turned = 0; points != NULL && count > 0 && turned <= (int)paint->mirror; ++turned)
    {
        for (int i = 0; i < count && turned == 1; ++i)
            points[i][0] = -points[i][0];
        Area area = AreaAround(painter, (const double(*)[2])points, count, 2 * paint->soft + paint->width);
        if (paint->kind == snw_paintStroke)
            AddStroke(painter, (const double(*)[2])points, count, paint->closed, paint->width);
        else
        {
            AddPolygon(painter, (const double(*)[2])points, count, false);
            SumRows(painter, area);
        }

        SoftenArea(painter, area, paint->soft);
        Composite(painter, paint, area, turned == 1);
    }

    snwArena_Free(&arena);
    return points != NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// The picture

// What the outline covers, and a little more, so that no vertex lies on the picture's rim.
static void PlacePicture(Painter* painter, int longSide)
{
    snwFlatPicture* picture = painter->picture;
    double lower[2] = {INFINITY, INFINITY}, upper[2] = {-INFINITY, -INFINITY};

    // The box of the outline, and a margin on all sides.
    for (int r = 0; r < painter->outline.ringCount; ++r)
        for (int i = 0; i < painter->outline.rings[r].count; ++i)
            for (int k = 0; k < 2; ++k)
            {
                lower[k] = fmin(lower[k], painter->outline.rings[r].points[i][k]);
                upper[k] = fmax(upper[k], painter->outline.rings[r].points[i][k]);
            }

    double extent = fmax(upper[0] - lower[0], upper[1] - lower[1]), margin = 0.02 * extent;

    // Square pixels: the long side has the wanted number, the short side as many as it takes.
    painter->pixel = (extent + 2 * margin) / longSide;
    picture->width = (int)ceil((upper[0] - lower[0] + 2 * margin) / painter->pixel - 1e-6);
    picture->height = (int)ceil((upper[1] - lower[1] + 2 * margin) / painter->pixel - 1e-6);
    double size[2] = {picture->width * painter->pixel, picture->height * painter->pixel};
    for (int k = 0; k < 2; ++k)
    {
        picture->lower[k] = (lower[k] + upper[k] - size[k]) / 2;
        picture->upper[k] = picture->lower[k] + size[k];
    }
}

static void FillBase(Painter* painter)
{
    float base[3];
    for (int k = 0; k < 3; ++k)
        base[k] = snwDisplay_FromLight(painter->blueprint->color[k]);
    size_t count = (size_t)painter->picture->width * (size_t)painter->picture->height;
    for (size_t i = 0; i < count; ++i)
        memcpy(painter->colors + 3 * i, base, sizeof base);
}

static void StorePixels(Painter* painter)
{
    const snwFlatPicture* picture = painter->picture;
    for (int r = 0; r < painter->outline.ringCount; ++r)
        AddPolygon(
            painter, painter->outline.rings[r].points, painter->outline.rings[r].count, painter->outline.rings[r].hole);
    SumRows(painter, WholeArea(painter));
    for (int j = 0; j < picture->height; ++j)
        for (int i = 0; i < picture->width; ++i)
        {
            size_t index = (size_t)j * (size_t)picture->width + (size_t)i;
            for (int k = 0; k < 3; ++k)
                picture->pixels[4 * index + (size_t)k] = (uint8_t)lrintf(255 * painter->colors[3 * index + (size_t)k]);
            float alpha = painter->coverage[(size_t)j * (size_t)(picture->width + 2) + (size_t)i];
            picture->pixels[4 * index + 3] = (uint8_t)lrintf(255 * alpha);
        }
}

static snwResult PaintAll(Painter* painter, snwArena* arena, snwMessage* message)
{
    snwFlatPicture* picture = painter->picture;
    size_t count = (size_t)picture->width * (size_t)picture->height;
    size_t padded = ((size_t)picture->width + 2) * ((size_t)picture->height + 1);

    // Coverage has a column and a row to spare, which AddPiece writes into.
    painter->coverage = snwAllocArray(painter->context, padded, sizeof(float));
    painter->scratch = snwAllocArray(painter->context, padded, sizeof(float));
    painter->sums = snwAllocArray(painter->context, (size_t)picture->width, sizeof(double));
    painter->colors = snwAllocArray(painter->context, 3 * count, sizeof(float));
    picture->pixels = snwArena_Alloc(arena, 4 * count, 1);
    bool good = painter->coverage != NULL && painter->scratch != NULL && painter->sums != NULL &&
                painter->colors != NULL && !arena->failed;

    // The base first, then shape by shape in the order of the list.
    if (good)
        FillBase(painter);
    for (int i = 0; i < painter->blueprint->paintCount && good; ++i)
        good = PaintShape(painter, &painter->blueprint->paints[i]);
    if (good)
        StorePixels(painter);
    snwFree(painter->context, painter->coverage);
    snwFree(painter->context, painter->scratch);
    snwFree(painter->context, painter->sums);
    snwFree(painter->context, painter->colors);

    return good ? snw_ok : snwFailMemory(message);
}

snwResult snwFlat_Paint(snwContext* context, const snwFlatBlueprint* blueprint, int longSide, snwArena* arena,
    snwFlatPicture* picture, snwMessage* message)
{
    snwArena scratch = {.context = context};
    Painter painter = {.context = context, .blueprint = blueprint, .picture = picture};
    *picture = (snwFlatPicture){0};
    if (longSide < 16 || longSide > snw_maxFlatPicture)
        return snwFail(
            message, snw_errorArgument, NULL, "a picture has 16..%d pixels, not %d", (int)snw_maxFlatPicture, longSide);

    // The outline decides how large the picture is.
    snwResult result = snwFlat_MakeOutline(blueprint, &scratch, &painter.outline, message);
    if (result == snw_ok)
    {
        PlacePicture(&painter, longSide);
        result = PaintAll(&painter, arena, message);
    }

    if (result < 0)
        *picture = (snwFlatPicture){0};
    snwArena_Free(&scratch);
    return result;
}
