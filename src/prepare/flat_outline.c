// The outline of what a picture shows.
//
// Pieces that hang on nothing would fall apart as soon as the character moves. They are joined to the largest by
// bridges in the mask, from where they are closest: the picture is clear there, so nobody sees them, and the character
// is one sheet. Rejected: a mesh of several parts, each with handles of its own, which somebody who drew an eyebrow
// beside a face did not ask for.

#include "prepare/flat.h"

#include "geom/contour.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum
{
    snw_longMask = 2048, // pixels; larger pictures have an outline from every second pixel, or third ...
    snw_maxIslands = 64, // that are joined
    snw_bridgePoints = 256,
};

static const double s_speck = 0.002;       // of the largest island
static const double s_bridgeWidth = 0.025; // of the picture's longer side

// ---------------------------------------------------------------------------------------------------------------------
// The mask

static uint8_t MeanAlpha(const snwTexture* picture, int x, int y, int step)
{
    int sum = 0, count = 0;
    for (int j = y; j < y + step && j < picture->height; ++j)
        for (int i = x; i < x + step && i < picture->width; ++i, ++count)
            sum += picture->pixels[4 * ((size_t)j * (size_t)picture->width + (size_t)i) + 3];
    return (uint8_t)(count > 0 ? (sum + count / 2) / count : 0);
}

// Every pixel gets the largest value within `reach` of it.
static void GrowMask(const uint8_t* from, uint8_t* to, int width, int height, double reach)
{
    int most = (int)reach;
    for (int j = 0; j < height; ++j)
        for (int i = 0; i < width; ++i)
        {
            uint8_t value = 0;
            for (int y = j - most < 0 ? 0 : j - most; y <= j + most && y < height; ++y)
                for (int x = i - most < 0 ? 0 : i - most; x <= i + most && x < width; ++x)
                    if ((x - i) * (x - i) + (y - j) * (y - j) <= reach * reach && from[y * width + x] > value)
                        value = from[y * width + x];
            to[j * width + i] = value;
        }
}

static snwResult MakeMask(snwFlatPreparer* p)
{
    const snwTexture* picture = &p->picture;
    int longest = picture->width > picture->height ? picture->width : picture->height;
    p->step = (longest + snw_longMask - 1) / snw_longMask;
    p->maskWidth = (picture->width + p->step - 1) / p->step;
    p->maskHeight = (picture->height + p->step - 1) / p->step;
    size_t count = (size_t)p->maskWidth * (size_t)p->maskHeight;
    uint8_t* plain = snwArena_Alloc(&p->base->arena, count, 1);
    p->mask = snwArena_Alloc(&p->base->arena, count, 1);
    if (p->base->arena.failed)
        return snwFailMemory(p->base->message);
    for (int j = 0; j < p->maskHeight; ++j)
        for (int i = 0; i < p->maskWidth; ++i)
            plain[j * p->maskWidth + i] = MeanAlpha(picture, i * p->step, j * p->step, p->step);
    GrowMask(plain, p->mask, p->maskWidth, p->maskHeight, p->settings.margin / p->step);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Islands

typedef struct Bridge
{
    const double *from, *to;
    double length;
} Bridge;

static const double* SampleRing(const snwRing* ring, int index)
{
    int stride = ring->count / snw_bridgePoints + 1;
    return index * stride < ring->count ? ring->points[index * stride] : NULL;
}

static void MeasureBridge(const snwRing* a, const snwRing* b, Bridge* best)
{
    const double *from, *to;
    for (int i = 0; (from = SampleRing(a, i)) != NULL; ++i)
        for (int k = 0; (to = SampleRing(b, k)) != NULL; ++k)
        {
            double length = hypot(from[0] - to[0], from[1] - to[1]);
            if (length < best->length)
                *best = (Bridge){from, to, length};
        }
}

// Full between its two ends and around them.
static void DrawBridge(snwFlatPreparer* p, const Bridge* bridge)
{
    double longest = p->maskWidth > p->maskHeight ? p->maskWidth : p->maskHeight;
    double reach = fmax(s_bridgeWidth * longest / 2, 1.5);
    double ux = bridge->to[0] - bridge->from[0], uy = bridge->to[1] - bridge->from[1], u2 = ux * ux + uy * uy;
    int left = (int)fmax(fmin(bridge->from[0], bridge->to[0]) - reach, 0);
    int top = (int)fmax(fmin(bridge->from[1], bridge->to[1]) - reach, 0);
    double right = fmax(bridge->from[0], bridge->to[0]) + reach, bottom = fmax(bridge->from[1], bridge->to[1]) + reach;
    for (int j = top; j < p->maskHeight && j < bottom; ++j)
        for (int i = left; i < p->maskWidth && i < right; ++i)
        {
            double vx = i + 0.5 - bridge->from[0], vy = j + 0.5 - bridge->from[1];
            double t = u2 > 0 ? fmin(fmax((ux * vx + uy * vy) / u2, 0), 1) : 0;
            if (hypot(vx - t * ux, vy - t * uy) <= reach)
                p->mask[j * p->maskWidth + i] = 255;
        }
}

// A tree of bridges: the island that is closest to what is joined already comes next.
static void JoinIslands(snwFlatPreparer* p, const snwRing* const* islands, int count)
{
    Bridge bridges[snw_maxIslands];
    bool joined[snw_maxIslands] = {true};

    // To begin with, everything is infinitely far; the loop measures from whatever joined last.
    for (int i = 1; i < count; ++i)
        bridges[i] = (Bridge){islands[0]->points[0], islands[i]->points[0], DBL_MAX};
    for (int made = 1, last = 0; made < count; ++made)
    {
        int next = -1;
        for (int i = 1; i < count; ++i)
        {
            if (joined[i])
                continue;
            MeasureBridge(islands[last], islands[i], &bridges[i]);
            next = next < 0 || bridges[i].length < bridges[next].length ? i : next;
        }

        DrawBridge(p, &bridges[next]);
        joined[next] = true;
        last = next;
    }
}

// The larger ones, the largest first; the rest of the outline's islands are specks.
static int SortIslands(const snwOutline* outline, const snwRing** islands)
{
    int count = 0;
    double least = 0;
    for (int r = 0; r < outline->ringCount; ++r)
        least = fmax(least, outline->rings[r].hole ? 0 : s_speck * snwRing_Area(&outline->rings[r]));
    for (int r = 0; r < outline->ringCount; ++r)
    {
        double area = snwRing_Area(&outline->rings[r]);
        if (outline->rings[r].hole || area < least)
            continue;
        int at = count < snw_maxIslands ? count++ : snw_maxIslands - 1;
        for (; at > 0 && snwRing_Area(islands[at - 1]) < area; --at)
            islands[at] = islands[at - 1];
        islands[at] = &outline->rings[r];
    }
    return count;
}

static snwResult Contours(snwFlatPreparer* p, snwOutline* outline)
{
    int level = (int)ceil(255 * p->settings.threshold);
    snwContourDef def = {p->mask, p->maskWidth, p->maskHeight, level < 1 ? 1 : level, 4};
    return snwFindContours(p->base->context, &def, &p->base->arena, outline, NULL, p->base->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The ring around, and its holes

static bool IsInsideRing(const snwRing* ring, const double point[2])
{
    bool inside = false;
    for (int i = 0; i < ring->count; ++i)
    {
        const double *a = ring->points[i], *b = ring->points[(i + 1) % ring->count];
        if ((a[1] > point[1]) != (b[1] > point[1]) &&
            point[0] < a[0] + (b[0] - a[0]) * (point[1] - a[1]) / (b[1] - a[1]))
            inside = !inside;
    }
    return inside;
}

// The largest ring and its holes, smoothed, in pixels of the picture.
static snwResult KeepLargest(snwFlatPreparer* p, const snwOutline* all, const snwRing* largest)
{
    snwArena* arena = &p->base->arena;
    snwRing* rings = snwArena_Alloc(arena, (size_t)all->ringCount, sizeof *rings);
    snwSmoothDef smooth = {p->settings.tolerance / p->step, 50 * (SNW_PI / 180)};
    int count = 0;
    double least = s_speck * snwRing_Area(largest);
    for (int r = 0; r < all->ringCount && !arena->failed; ++r)
    {
        const snwRing* ring = &all->rings[r];
        bool hole = ring->hole && snwRing_Area(ring) >= least && IsInsideRing(largest, ring->points[0]);
        if ((ring == largest || hole) && !snwRing_Smooth(ring, &smooth, arena, &rings[count++]))
            break;
    }
    p->outline = (snwOutline){rings, count};
    return arena->failed ? snwFailMemory(p->base->message) : snw_ok;
}

static void MeasureRings(snwFlatPreparer* p)
{
    p->lower[0] = p->lower[1] = DBL_MAX;
    p->upper[0] = p->upper[1] = -DBL_MAX;
    for (int r = 0; r < p->outline.ringCount; ++r)
        for (int i = 0; i < p->outline.rings[r].count; ++i)
            for (int k = 0; k < 2; ++k)
            {
                double at = p->step * p->outline.rings[r].points[i][k];
                p->lower[k] = fmin(p->lower[k], at);
                p->upper[k] = fmax(p->upper[k], at);
            }
    for (int k = 0; k < 2; ++k)
        p->centre[k] = (p->lower[k] + p->upper[k]) / 2;
    p->pixel = p->settings.size / fmax(p->upper[0] - p->lower[0], p->upper[1] - p->lower[1]);
}

// Pixels of the mask, y down -> metres, y up.
static snwResult ScaleRings(snwFlatPreparer* p)
{
    for (int r = 0; r < p->outline.ringCount; ++r)
    {
        snwRing* ring = (snwRing*)&p->outline.rings[r];
        double(*points)[2] = snwArena_Alloc(&p->base->arena, (size_t)ring->count, sizeof *points);
        if (points == NULL)
            return snwFailMemory(p->base->message);
        for (int i = 0; i < ring->count; ++i)
            snwFlatPreparer_Place(
                p, (double[2]){p->step * ring->points[i][0], p->step * ring->points[i][1]}, points[i]);
        ring->points = (const double(*)[2])points;
    }
    return snw_ok;
}

static snwResult Unite(snwFlatPreparer* p, snwOutline* all, const snwRing** islands, int* count)
{
    if (*count < 2)
        return snw_ok;
    if (p->settings.islands == snw_islandsLargest)
    {
        snwPreparer_Note(p->base, "%d pieces that hang on nothing were left out", *count - 1);
        return snw_ok;
    }
    JoinIslands(p, islands, *count);
    snwPreparer_Note(
        p->base, "%d pieces that hang on nothing were joined to the largest by bridges that nobody sees", *count - 1);
    snwResult result = Contours(p, all);
    *count = result < 0 ? 0 : SortIslands(all, islands);
    return result;
}

static bool IsOpaqueMask(const snwFlatPreparer* p)
{
    bool any = false;
    for (int i = 0; i < p->maskWidth * p->maskHeight; ++i)
        any = any || p->mask[i] >= 255 * p->settings.threshold;
    return any;
}

snwResult snwFlatPreparer_MakeOutline(snwFlatPreparer* p)
{
    snwOutline all;
    const snwRing* islands[snw_maxIslands];
    snwResult result = MakeMask(p);
    if (result >= 0)
        result = Contours(p, &all);
    if (result < 0)
        return result;

    // Nothing to draw around: too small, or too clear.
    int count = SortIslands(&all, islands);
    if (count == 0 && IsOpaqueMask(p))
        return snwFail(p->base->message, snw_errorInput, "give a larger picture",
            "what the picture shows is too small for an outline: it has %d x %d pixels", p->picture.width,
            p->picture.height);
    if (count == 0)
        return snwFail(p->base->message, snw_errorInput, "lower the threshold, or give a picture with something in it",
            "nothing of the picture has an opacity of %g or more", p->settings.threshold);

    // One island is left, joined or the largest; its holes stay.
    result = Unite(p, &all, islands, &count);
    if (result >= 0)
        result = KeepLargest(p, &all, islands[0]);
    if (result < 0)
        return result;
    MeasureRings(p);

    return ScaleRings(p);
}
