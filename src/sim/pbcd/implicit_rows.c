// The orthogonality constraint. Rows come from a rig, and rigs repeat themselves: bones that move the same flesh, bones
// that move none. They are made orthonormal in the metric of the inverse weights (Gram and Schmidt, modified, a second
// time where much was lost), and those that nothing is left of are dropped. After that both projections are plain sums,
// and the Schur complement of the factor is as well-conditioned as the flesh is.

#include "sim/pbcd/implicit_parts.h"

#include <assert.h>
#include <string.h>

// What is left of a row after it was made orthogonal, relative to what it was, below which it says nothing new.
static const double s_nothingNew = 1e-10;

// Eight sums side by side, so that the processor need not wait for one.
static double DotWide(const double* a, const double* b, int count)
{
    double sums[8] = {0};
    int i = 0;
    for (; i + 8 <= count; i += 8)
        for (int k = 0; k < 8; ++k)
            sums[k] += a[i + k] * b[i + k];
    for (; i < count; ++i)
        sums[i % 8] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static void AddScaledVector(double* a, double factor, const double* b, int count)
{
    for (int i = 0; i < count; ++i)
        a[i] += factor * b[i];
}

static double* RowOfUnknowns(const snwImplicit* implicit, int k)
{
    return implicit->rows + (size_t)k * (size_t)snwImplicit_UnknownCount(implicit);
}

// Row k times A^-1/2: in these numbers the metric is the plain one.
static void ReadRigRow(const snwImplicit* implicit, const snwImplicitStep* step, int k)
{
    double* row = RowOfUnknowns(implicit, k);
    const snwVec3* from = step->rows + (size_t)k * (size_t)implicit->vertexCount;
    for (int v = 0; v < implicit->vertexCount; ++v)
    {
        double scale = sqrt(implicit->inverseWeights[v]);
        row[3 * v] = scale * from[v].x, row[3 * v + 1] = scale * from[v].y, row[3 * v + 2] = scale * from[v].z;
    }
}

static void MakeOrthogonal(const snwImplicit* implicit, int k)
{
    int n = snwImplicit_UnknownCount(implicit);
    double *row = RowOfUnknowns(implicit, k), start = sqrt(DotWide(row, row, n)), length = start, before;
    do
    {
        before = length;
        for (int l = 0; l < k; ++l)
            AddScaledVector(row, -DotWide(row, RowOfUnknowns(implicit, l), n), RowOfUnknowns(implicit, l), n);
        length = sqrt(DotWide(row, row, n));
    } while (length < 0.5 * before && length > s_nothingNew * start);
    double scale = length > s_nothingNew * start ? 1 / length : 0;
    for (int i = 0; i < n; ++i)
        row[i] *= scale;
}

// Back to the rows' own metric.
static void FinishRigRow(const snwImplicit* implicit, int k)
{
    double* row = RowOfUnknowns(implicit, k);
    for (int v = 0; v < implicit->vertexCount; ++v)
    {
        double scale = implicit->inverseWeights[v] > 0 ? 1 / sqrt(implicit->inverseWeights[v]) : 0;
        row[3 * v] *= scale, row[3 * v + 1] *= scale, row[3 * v + 2] *= scale;
    }
}

static snwResult CheckRigRows(const snwImplicit* implicit, const snwImplicitStep* step, snwMessage* message)
{
    for (int k = 0; k < step->rowCount; ++k)
        for (int v = 0; v < implicit->vertexCount; ++v)
            if (!snwVec3_IsFinite(step->rows[(size_t)k * (size_t)implicit->vertexCount + (size_t)v]))
            {
                snwFail(message, snw_errorDiverged, NULL, "a row of the orthogonality constraint is not finite");
                snwMessage_AddPlace(message, "row %d, vertex %d", k, v);
                return snw_errorDiverged;
            }
    return snw_ok;
}

snwResult snwImplicit_PrepareRows(snwImplicit* implicit, const snwImplicitStep* step, snwMessage* message)
{
    int count = step->rowCount;
    assert(count >= 0 && count <= implicit->rowCapacity);

    // The same rows as in the step before are orthonormal already.
    if (step->sameRows && count == implicit->rowCount)
        return snw_ok;

    implicit->rowCount = 0;
    snwResult result = CheckRigRows(implicit, step, message);
    if (result < 0)
        return result;

    // Held vertices do not yield.
    for (int v = 0; v < implicit->vertexCount; ++v)
        implicit->inverseWeights[v] = step->held != NULL && step->held[v] ? 0 : 1 / step->weights[v];
    size_t unknowns = (size_t)snwImplicit_UnknownCount(implicit);
    memset(implicit->rows, 0, (size_t)implicit->rowCapacity * unknowns * sizeof *implicit->rows);

    // One after the other, each orthogonal to those before it.
    for (int k = 0; k < count; ++k)
    {
        ReadRigRow(implicit, step, k);
        MakeOrthogonal(implicit, k);
    }

    for (int k = 0; k < count; ++k)
        FinishRigRow(implicit, k);
    implicit->rowCount = count;
    return snw_ok;
}

double snwImplicit_MeetRows(snwImplicit* implicit, const snwImplicitStep* step, snwVec3* x)
{
    double sum = 0;

    // How far this row is from being met, and back along it.
    for (int k = 0; k < implicit->rowCount; ++k)
    {
        const double* row = RowOfUnknowns(implicit, k);
        double gap = 0;
        for (int v = 0; v < implicit->vertexCount; ++v)
        {
            snwVec3 u = snwVec3_Sub(x[v], step->reference[v]);
            gap += row[3 * v] * u.x + row[3 * v + 1] * u.y + row[3 * v + 2] * u.z;
        }

        for (int v = 0; v < implicit->vertexCount; ++v)
        {
            snwVec3 r = {row[3 * v], row[3 * v + 1], row[3 * v + 2]};
            x[v] = snwVec3_MulAdd(x[v], -gap * implicit->inverseWeights[v], r);
        }

        sum += gap * gap;
    }

    return sqrt(sum);
}

void snwImplicit_ProjectGradient(snwImplicit* implicit, const snwImplicitStep* step, snwVec3* gradient)
{
    int n = implicit->vertexCount;
    for (int v = 0; v < n; ++v)
        if (step->held != NULL && step->held[v])
            gradient[v] = (snwVec3){0, 0, 0};
    for (int k = 0; k < implicit->rowCount; ++k)
    {
        const double* row = RowOfUnknowns(implicit, k);
        double share = 0;
        for (int v = 0; v < n; ++v)
        {
            snwVec3 g = gradient[v];
            share += implicit->inverseWeights[v] * (row[3 * v] * g.x + row[3 * v + 1] * g.y + row[3 * v + 2] * g.z);
        }
        for (int v = 0; v < n; ++v)
            gradient[v] = snwVec3_MulAdd(gradient[v], -share, (snwVec3){row[3 * v], row[3 * v + 1], row[3 * v + 2]});
    }
}
