// Outlines and paint of flat blueprints: tables, points with an optional "corner", rings and shapes, within limits
// that keep the fit and the picture small.

#include "scene/flat_file.h"

#include <string.h>

#define FIELD(T, member, k, t, ...)                                                                                    \
    {                                                                                                                  \
        .key = k, .type = t, .offset = offsetof(T, member), __VA_ARGS__                                                \
    }

static const double s_far = 1000; // m: paper is not larger

// ---------------------------------------------------------------------------------------------------------------------
// Tables

static const snwField s_ringFields[] = {
    FIELD(snwFlatRingData, points, "points", snw_fieldRaw, .required = true, .schema = "points", .unit = "m",
        .help = "a closed curve goes through them; \"corner\" as the third entry makes it bend sharply there"),
    FIELD(snwFlatRingData, ring.mirror, "mirror", snw_fieldBool,
        .help = "the points are the right half (x >= 0), from one end of the axis to the other"),
    FIELD(snwFlatRingData, ring.hole, "hole", snw_fieldBool, .help = "cut out of the ring around it"),
};

const snwTable snw_flatRingTable = {
    "ring", "A closed curve of the outline", SNW_TABLE_FIELDS(s_ringFields), sizeof(snwFlatRingData), NULL, NULL};

static const char* const s_gradientNames[] = {"linear", "radial", NULL};

static const snwField s_gradientFields[] = {
    FIELD(snwGradientData, gradient.kind, "kind", snw_fieldChoice, .required = true, .names = s_gradientNames,
        .help = "linear: from one point to the other; radial: from a centre to a circle through the other point"),
    FIELD(snwGradientData, from, "from", snw_fieldRaw, .required = true, .schema = "point", .unit = "m",
        .help = "where the shape's own colour is"),
    FIELD(snwGradientData, to, "to", snw_fieldRaw, .required = true, .schema = "point", .unit = "m",
        .help = "where this colour is"),
    FIELD(snwGradientData, gradient.color, "color", snw_fieldColor, .upper = 1,
        .help = "\"#rrggbb\" or three linear numbers; the shape's own if not given"),
    FIELD(snwGradientData, gradient.opacity, "opacity", snw_fieldReal, .upper = 1, .help = "there; 0: nothing is seen"),
};

static void InitGradient(void* object, int kind)
{
    (void)kind;
    ((snwGradientData*)object)->gradient.opacity = 1;
}

const snwTable snw_gradientTable = {"gradient", "A change of colour across a shape", SNW_TABLE_FIELDS(s_gradientFields),
    sizeof(snwGradientData), NULL, InitGradient};

static const char* const s_paintNames[] = {"fill", "polygon", "ellipse", "stroke", "rim", NULL};

enum
{
    snw_drawnPaints = 1 << snw_paintFill | 1 << snw_paintPolygon | 1 << snw_paintStroke,
    snw_linePaints = 1 << snw_paintStroke | 1 << snw_paintRim,
    snw_placedPaints = snw_drawnPaints | 1 << snw_paintEllipse,
};

static const snwField s_paintFields[] = {
    FIELD(snwPaintData, paint.kind, "shape", snw_fieldChoice, .required = true, .names = s_paintNames,
        .help = "fill: inside of a closed curve; polygon: likewise with straight sides; ellipse; stroke: a line with "
                "round ends; rim: a line along the outline"),
    FIELD(snwPaintData, points, "points", snw_fieldRaw, .required = true, .kinds = snw_drawnPaints, .schema = "points",
        .unit = "m", .help = "the curve goes through them"),
    FIELD(snwPaintData, center, "center", snw_fieldRaw, .required = true, .kinds = 1 << snw_paintEllipse,
        .schema = "point", .unit = "m", .help = "of the ellipse"),
    FIELD(snwPaintData, radius, "radius", snw_fieldRaw, .required = true, .kinds = 1 << snw_paintEllipse,
        .schema = "point", .unit = "m", .help = "along its own x and y"),
    FIELD(snwPaintData, paint.angle, "angle", snw_fieldReal, .lower = -360, .upper = 360, .unit = "degrees",
        .kinds = 1 << snw_paintEllipse, .help = "of its own x, counter-clockwise"),
    FIELD(snwPaintData, paint.width, "width", snw_fieldReal, .lower = 1e-5, .upper = 100, .unit = "m", .required = true,
        .kinds = snw_linePaints, .help = "of the line"),
    FIELD(snwPaintData, paint.closed, "closed", snw_fieldBool, .kinds = 1 << snw_paintStroke,
        .help = "the line ends where it began"),
    FIELD(snwPaintData, paint.color, "color", snw_fieldColor, .upper = 1, .required = true,
        .help = "\"#rrggbb\" as in a colour picker, or three linear numbers"),
    FIELD(snwPaintData, paint.opacity, "opacity", snw_fieldReal, .upper = 1, .help = "1: hides what is below"),
    FIELD(
        snwPaintData, paint.soft, "soft", snw_fieldReal, .upper = 100, .unit = "m", .help = "its edge fades over this"),
    FIELD(snwPaintData, gradient, "gradient", snw_fieldRaw, .schema = "object", .table = &snw_gradientTable,
        .help = "to another colour or opacity"),
    FIELD(snwPaintData, paint.mirror, "mirror", snw_fieldBool, .kinds = snw_placedPaints,
        .help = "painted again on the other side of the axis x = 0"),
};

static void InitPaint(void* object, int kind)
{
    (void)kind;
    ((snwPaintData*)object)->paint.opacity = 1;
}

const snwTable snw_paintTable = {"paint", "A shape painted into the outline, over those before it",
    SNW_TABLE_FIELDS(s_paintFields), sizeof(snwPaintData), "shape", InitPaint};

// ---------------------------------------------------------------------------------------------------------------------
// Points

static snwResult ReadCoordinates(snwJson* json, const json_t* value, double lower, double out[2])
{
    snwResult result = snw_ok;
    for (size_t k = 0; k < 2 && result == snw_ok; ++k)
    {
        size_t mark = snwJson_EnterIndex(json, k);
        result = snwJson_ReadReal(json, json_array_get(value, k), lower, s_far, &out[k]);
        if (result == snw_ok)
            snwJson_Leave(json, mark);
    }
    return result;
}

static snwResult ReadPair(snwJson* json, const char* key, const json_t* value, double lower, double out[2])
{
    size_t mark = snwJson_Enter(json, key);
    if (!json_is_array(value) || json_array_size(value) != 2)
        return snwJson_Fail(json, NULL, "must be a list of 2 numbers");
    snwResult result = ReadCoordinates(json, value, lower, out);
    if (result == snw_ok)
        snwJson_Leave(json, mark);
    return result;
}

static snwResult ReadSplinePoint(snwJson* json, const json_t* value, snwSplinePoint* point)
{
    size_t size = json_array_size(value);
    if (!json_is_array(value) || size < 2 || size > 3)
        return snwJson_Fail(json, NULL, "must be [x, y] or [x, y, \"corner\"]");
    const json_t* flag = json_array_get(value, 2);
    if (flag != NULL && (!json_is_string(flag) || strcmp(json_string_value(flag), "corner") != 0))
        return snwJson_Fail(json, NULL, "the third entry of a point can only be \"corner\"");
    point->corner = flag != NULL;
    return ReadCoordinates(json, value, -s_far, point->at);
}

static snwResult ReadSplinePoints(
    snwJson* json, const json_t* value, size_t least, snwArena* arena, snwSplinePoint** points, int* count)
{
    size_t mark = snwJson_Enter(json, "points"), size = json_array_size(value);
    if (!json_is_array(value))
        return snwJson_Fail(json, NULL, "must be a list of points, is %s", snwJson_TypeName(value));
    if (size < least || size > snw_maxFlatPoints)
        return snwJson_Fail(json, NULL, "must have %zu..%d points, has %zu", least, (int)snw_maxFlatPoints, size);

    // As long as it is: each point has its place in messages.
    *points = snwArena_Alloc(arena, size, sizeof **points);
    if (*points == NULL)
        return snwFailMemory(json->message);

    for (size_t i = 0; i < size; ++i)
    {
        size_t inner = snwJson_EnterIndex(json, i);
        snwResult result = ReadSplinePoint(json, json_array_get(value, i), &(*points)[i]);
        if (result < 0)
            return result;
        snwJson_Leave(json, inner);
    }

    *count = (int)size;
    snwJson_Leave(json, mark);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rings and shapes

static snwResult ReadRing(snwJson* json, const json_t* value, snwArena* arena, snwFlatRing* ring)
{
    snwFlatRingData data;
    snwResult result = snwTable_Read(json, &snw_flatRingTable, value, &data, NULL);
    if (result < 0)
        return result;
    *ring = data.ring;
    return ReadSplinePoints(json, data.points, ring->mirror ? 2 : 3, arena, &ring->points, &ring->count);
}

static snwResult ReadGradient(snwJson* json, const json_t* value, const snwPaint* paint, snwGradient* gradient)
{
    snwGradientData data;
    uint64_t seen = 0;
    size_t mark = snwJson_Enter(json, "gradient");
    snwResult result = snwTable_Read(json, &snw_gradientTable, value, &data, &seen);
    result = result < 0 ? result : ReadPair(json, "from", data.from, -s_far, data.gradient.from);
    result = result < 0 ? result : ReadPair(json, "to", data.to, -s_far, data.gradient.to);
    if (result < 0)
        return result;
    data.gradient.kind = (snwGradientKind)(data.gradient.kind + 1);
    if (!snwTable_Saw(&snw_gradientTable, seen, "color"))
        memcpy(data.gradient.color, paint->color, sizeof paint->color);
    *gradient = data.gradient;
    snwJson_Leave(json, mark);
    return snw_ok;
}

static snwResult ReadPaint(snwJson* json, const json_t* value, snwArena* arena, snwPaint* paint)
{
    snwPaintData data;
    snwResult result = snwTable_Read(json, &snw_paintTable, value, &data, NULL);
    if (result < 0)
        return result;
    *paint = data.paint;
    if (data.points != NULL)
        result = ReadSplinePoints(
            json, data.points, paint->kind == snw_paintStroke ? 1 : 3, arena, &paint->points, &paint->count);
    if (result == snw_ok && data.center != NULL)
        result = ReadPair(json, "center", data.center, -s_far, paint->center);
    if (result == snw_ok && data.radius != NULL)
        result = ReadPair(json, "radius", data.radius, 1e-6, paint->radius);
    if (result == snw_ok && data.gradient != NULL)
        result = ReadGradient(json, data.gradient, paint, &paint->gradient);
    return result;
}

static snwResult CheckFlatList(snwJson* json, const json_t* value, size_t least, size_t most)
{
    if (value == NULL)
        return snwJson_Fail(json, NULL, "is missing");
    if (!json_is_array(value))
        return snwJson_Fail(json, NULL, "must be a list, is %s", snwJson_TypeName(value));
    if (json_array_size(value) < least || json_array_size(value) > most)
        return snwJson_Fail(json, NULL, "must have %zu..%zu entries, has %zu", least, most, json_array_size(value));
    return snw_ok;
}

static snwResult ReadOutline(snwJson* json, const json_t* outline, snwArena* arena, snwFlatBlueprint* blueprint)
{
    size_t mark = snwJson_Enter(json, "outline"), count = json_array_size(outline);
    snwResult result = CheckFlatList(json, outline, 1, snw_maxFlatRings);
    if (result < 0)
        return result;

    blueprint->rings = snwArena_Alloc(arena, count, sizeof *blueprint->rings);
    if (blueprint->rings == NULL)
        return snwFailMemory(json->message);

    // A failure leaves the path where it is: it names the ring.
    for (size_t i = 0; i < count; ++i)
    {
        size_t inner = snwJson_EnterIndex(json, i);
        result = ReadRing(json, json_array_get(outline, i), arena, &blueprint->rings[i]);
        if (result < 0)
            return result;
        snwJson_Leave(json, inner);
    }

    blueprint->ringCount = (int)count;
    snwJson_Leave(json, mark);
    return snw_ok;
}

static snwResult ReadPaints(snwJson* json, const json_t* paint, snwArena* arena, snwFlatBlueprint* blueprint)
{
    size_t mark = snwJson_Enter(json, "paint"), count = json_array_size(paint);
    snwResult result = CheckFlatList(json, paint, 0, snw_maxPaints);
    if (result < 0)
        return result;

    blueprint->paints = snwArena_Alloc(arena, count, sizeof *blueprint->paints);
    if (arena->failed)
        return snwFailMemory(json->message);

    for (size_t i = 0; i < count; ++i)
    {
        size_t inner = snwJson_EnterIndex(json, i);
        result = ReadPaint(json, json_array_get(paint, i), arena, &blueprint->paints[i]);
        if (result < 0)
            return result;
        snwJson_Leave(json, inner);
    }

    blueprint->paintCount = (int)count;
    snwJson_Leave(json, mark);
    return snw_ok;
}

snwResult snwFlat_ReadJson(
    snwJson* json, const json_t* outline, const json_t* paint, snwArena* arena, snwFlatBlueprint* blueprint)
{
    snwResult result = ReadOutline(json, outline, arena, blueprint);
    return result < 0 || paint == NULL ? result : ReadPaints(json, paint, arena, blueprint);
}
