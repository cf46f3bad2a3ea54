// A grid of heights as a solid: two triangles per cell on top, upright walls along the border, no end below.
//
// The top is a soup of triangles with its tree. Rings of cells around the point were tried instead: a point at height h
// over cells of size s then looks at (h / s)^2 of them, and a body that falls towards fine ground pays for it all the
// way down.

#include "contact/collider_kinds.h"

#include <string.h>

// NaN becomes the lower end.
static double ClampOnField(double value, double lower, double upper)
{
    return value > upper ? upper : value > lower ? value : lower;
}

static snwVec3 GridPoint(const snwColliderDef* field, int column, int row)
{
    double spacing = field->size.x;
    return (snwVec3){(column - 0.5 * (field->columns - 1)) * spacing,
        field->heights[(size_t)row * (size_t)field->columns + (size_t)column],
        (row - 0.5 * (field->rows - 1)) * spacing};
}

static void FillFieldTriangles(const snwColliderDef* field, int (*triangles)[3])
{
    for (int row = 0; row + 1 < field->rows; ++row)
        for (int column = 0; column + 1 < field->columns; ++column)
        {
            int a = row * field->columns + column, b = a + 1, c = a + field->columns, d = c + 1;
            const int cell[2][3] = {{a, d, b}, {a, c, d}};
            memcpy(triangles, cell, sizeof cell);
            triangles += 2;
        }
}

snwResult snwHeightfield_Triangulate(
    snwContext* context, const snwColliderDef* field, snwSurface* surface, snwMessage* message)
{
    surface->vertexCount = field->columns * field->rows;
    surface->triangleCount = 2 * (field->columns - 1) * (field->rows - 1);
    surface->vertices = snwAllocArray(context, (size_t)surface->vertexCount, sizeof *surface->vertices);
    surface->triangles = snwAllocArray(context, (size_t)surface->triangleCount, sizeof *surface->triangles);
    if (surface->vertices == NULL || surface->triangles == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < surface->vertexCount; ++i)
        surface->vertices[i] = GridPoint(field, i % field->columns, i / field->columns);
    FillFieldTriangles(field, surface->triangles);
    return snw_ok;
}

// Cell, and place in it 0..1, along one axis of `count` heights.
static int CellOfField(double position, double spacing, int count, double* inside)
{
    double place = ClampOnField(position / spacing + 0.5 * (count - 1), 0, count - 1);
    int cell = (int)fmin(floor(place), count - 2);
    *inside = place - cell;
    return cell;
}

// Height of the surface over a place of the grid; beyond its border, that of the nearest place.
static double HeightAt(const snwColliderDef* field, double x, double z)
{
    double u, v;
    int column = CellOfField(x, field->size.x, field->columns, &u),
        row = CellOfField(z, field->size.x, field->rows, &v);
    double a = GridPoint(field, column, row).y, d = GridPoint(field, column + 1, row + 1).y;
    double b = GridPoint(field, column + 1, row).y, c = GridPoint(field, column, row + 1).y;
    return u >= v ? a + u * (b - a) + v * (d - b) : a + v * (c - a) + u * (d - c);
}

typedef struct Nearest
{
    snwVec3 way;    // from the nearest point to the point
    snwVec3 normal; // of what it lies on, not unit
    double squared;
} Nearest;

static void TryFieldPoint(Nearest* best, snwVec3 way, snwVec3 normal)
{
    double squared = snwVec3_LengthSquared(way);
    if (squared < best->squared)
        *best = (Nearest){way, normal, squared};
}

// Where the point is beside a wall, the nearest point of the wall is at its own height; above a wall, the triangles at
// its top are nearer.
static void TryWalls(Nearest* best, const snwColliderDef* field, snwVec3 half, snwVec3 p)
{
    double x = ClampOnField(p.x, -half.x, half.x), z = ClampOnField(p.z, -half.z, half.z);
    for (int side = -1; side <= 1; side += 2)
    {
        if (p.y <= HeightAt(field, side * half.x, z))
            TryFieldPoint(best, (snwVec3){p.x - side * half.x, 0, p.z - z}, (snwVec3){side, 0, 0});
        if (p.y <= HeightAt(field, x, side * half.z))
            TryFieldPoint(best, (snwVec3){p.x - x, 0, p.z - side * half.z}, (snwVec3){0, 0, side});
    }
}

static snwVec3 TopNormal(const snwColliderDef* field, int triangle)
{
    int cell = triangle / 2, column = cell % (field->columns - 1), row = cell / (field->columns - 1);
    snwVec3 a = GridPoint(field, column, row), d = GridPoint(field, column + 1, row + 1);
    snwVec3 other = triangle % 2 == 0 ? GridPoint(field, column + 1, row) : GridPoint(field, column, row + 1);
    snwVec3 normal = snwVec3_Cross(snwVec3_Sub(d, a), snwVec3_Sub(other, a));
    return triangle % 2 == 0 ? normal : snwVec3_Negate(normal);
}

snwTouch snwHeightfield_Touch(const snwCollider* collider, snwVec3 p)
{
    const snwColliderDef* field = &collider->def;
    snwVec3 half = {0.5 * (field->columns - 1) * field->size.x, 0, 0.5 * (field->rows - 1) * field->size.x};
    bool inside = fabs(p.x) <= half.x && fabs(p.z) <= half.z && p.y < HeightAt(field, p.x, p.z);
    snwClosest top = snwSoup_Closest(collider->soup, p);
    snwVec3 away = snwVec3_Sub(p, top.point);
    Nearest best = {away, TopNormal(field, top.triangle < 0 ? 0 : top.triangle), snwVec3_LengthSquared(away)};
    TryWalls(&best, field, half, p);
    double distance = sqrt(best.squared), size = fabs(p.x) + fabs(p.y) + fabs(p.z);
    // On the surface itself the way is rounding.
    snwVec3 way = distance > 1e-12 * size ? snwVec3_Scale(best.way, inside ? -1.0 : 1.0) : best.normal;
    return (snwTouch){inside ? distance : -distance, snwVec3_Normalize(way)};
}
