// Minimises the elastic energy of the law that a method has and the potential of the weights by conjugate gradients
// (Polak, Ribiere), each line to where the slope vanishes (secants).

#include "column.h"

#include "math/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Column
{
    snwColumnLaw law;
    const snwCharacterDef* def;
    const double* masses;
    double load, gravity, lower, upper;
    int count;                // of vertices
    snwVec3 *x, *g, *d, *old; // places, gradient, direction, the gradient before
} Column;

static bool IsLower(const Column* column, int i)
{
    return column->def->vertices[i].y < column->lower + 1e-9;
}

static bool IsUpper(const Column* column, int i)
{
    return column->def->vertices[i].y > column->upper - 1e-9;
}

static snwMat3 Edges(const snwVec3* x, const int tet[4])
{
    return snwMat3_FromColumns(
        snwVec3_Sub(x[tet[1]], x[tet[0]]), snwVec3_Sub(x[tet[2]], x[tet[0]]), snwVec3_Sub(x[tet[3]], x[tet[0]]));
}

// dPsi/dF
static snwMat3 Stress(snwColumnLaw law, const snwMaterial* material, snwMat3 f)
{
    double nu = material->poisson, mu = material->young / (2 * (1 + nu));
    if (law == snw_columnNeoHookean)
    {
        double pressure = mu / (1 - 2 * nu) * (snwMat3_Determinant(f) - 1) - mu;
        return snwMat3_Add(snwMat3_Scale(f, mu), snwMat3_Scale(snwMat3_Cofactor(f), pressure));
    }
    snwPolar3 polar = snwPolar3_Compute(f);
    double trace = polar.sigma[0] + polar.sigma[1] + polar.sigma[2] - 3, lambda = 2 * mu * nu / (1 - 2 * nu);
    snwMat3 shear = snwMat3_Scale(snwMat3_Sub(f, polar.rotation), 2 * mu);
    return snwMat3_Add(shear, snwMat3_Scale(polar.rotation, lambda * trace));
}

static void AddTet(const Column* column, int t)
{
    const int* tet = column->def->tets[t];
    snwMat3 inverse, rest = Edges(column->def->vertices, tet);
    if (!snwMat3_Inverse(rest, &inverse))
        return;
    double volume = snwMat3_Determinant(rest) / 6;
    snwMat3 f = snwMat3_Mul(Edges(column->x, tet), inverse);
    snwMat3 stress = Stress(column->law, &column->def->materials[column->def->regions[t]], f);
    snwMat3 force = snwMat3_Scale(snwMat3_MulTranspose(stress, inverse), volume);
    for (int k = 0; k < 3; ++k)
    {
        snwVec3 part = snwMat3_Column(force, k);
        column->g[tet[k + 1]] = snwVec3_Add(column->g[tet[k + 1]], part);
        column->g[tet[0]] = snwVec3_Sub(column->g[tet[0]], part);
    }
}

// The lower side stays; the upper one has one freedom for all, whose part each of its vertices holds.
static void Constrain(const Column* column)
{
    double sum = column->load;
    int upper = 0;
    for (int i = 0; i < column->count; ++i)
    {
        if (IsLower(column, i))
            column->g[i] = (snwVec3){0, 0, 0};
        if (!IsUpper(column, i))
            continue;
        sum += column->g[i].y;
        upper++;
    }
    for (int i = 0; i < column->count; ++i)
        if (IsUpper(column, i))
            column->g[i] = (snwVec3){0, sum / upper, 0};
}

static void FindGradient(const Column* column)
{
    for (int i = 0; i < column->count; ++i)
        column->g[i] = (snwVec3){0, column->masses[i] * column->gravity, 0};
    for (int t = 0; t < column->def->tetCount; ++t)
        AddTet(column, t);
    Constrain(column);
}

static double Product(const Column* column, const snwVec3* a, const snwVec3* b)
{
    double sum = 0;
    for (int i = 0; i < column->count; ++i)
        sum += snwVec3_Dot(a[i], b[i]);
    return sum;
}

static void Move(const Column* column, double by)
{
    for (int i = 0; i < column->count; ++i)
        column->x[i] = snwVec3_MulAdd(column->x[i], by, column->d[i]);
}

// Along d until the slope is small against where it began.
static void SearchLine(const Column* column, double* length)
{
    double slope = Product(column, column->g, column->d), first = fabs(slope), step = *length, at = 0;
    for (int i = 0; i < 12 && fabs(slope) > 0.05 * first; ++i)
    {
        Move(column, step);
        at += step;
        FindGradient(column);
        double now = Product(column, column->g, column->d), change = now - slope;
        double next = fabs(change) > 0 ? -now * step / change : step;
        slope = now;
        step = fmax(-4 * fabs(step), fmin(4 * fabs(step), next));
    }
    *length = fabs(at) > 0 ? fabs(at) : *length;
}

static bool Minimise(Column* column)
{
    double enough = 1e-6 * column->load, length = 1e-7;
    FindGradient(column);
    for (int i = 0; i < column->count; ++i)
        column->d[i] = snwVec3_Negate(column->g[i]);
    for (int n = 0; n < 20000; ++n)
    {
        double before = Product(column, column->g, column->g);
        if (sqrt(before) < enough)
            return true;
        memcpy(column->old, column->g, (size_t)column->count * sizeof *column->old);
        SearchLine(column, &length);
        double turn = (Product(column, column->g, column->g) - Product(column, column->g, column->old)) / before;
        turn = turn > 0 && isfinite(turn) ? turn : 0;
        for (int i = 0; i < column->count; ++i)
            column->d[i] = snwVec3_MulAdd(snwVec3_Negate(column->g[i]), turn, column->d[i]);
    }
    return false;
}

double snwFindColumnHeight(
    snwColumnLaw law, const snwCharacterDef* def, const double* masses, double load, double gravity)
{
    size_t count = (size_t)def->vertexCount;
    snwVec3* memory = malloc(4 * count * sizeof *memory);
    Column column = {law, def, masses, load, gravity, INFINITY, -INFINITY, def->vertexCount, memory, memory + count,
        memory + 2 * count, memory + 3 * count};
    if (memory == NULL)
        return NAN;
    memcpy(column.x, def->vertices, count * sizeof *column.x);
    for (int i = 0; i < column.count; ++i)
    {
        column.lower = fmin(column.lower, def->vertices[i].y);
        column.upper = fmax(column.upper, def->vertices[i].y);
    }
    double height = Minimise(&column) ? 0 : NAN;
    for (int i = 0; i < column.count && isfinite(height); ++i)
        if (IsUpper(&column, i))
            height = column.x[i].y - column.lower;
    free(memory);
    return height;
}
