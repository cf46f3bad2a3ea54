// Vectors and 3x3 matrices in double, by value.
//
// Everything that is computed once or per bone is double; the float kernels of the solvers have their own
// block layouts (rotation.h, simd.h) and meet this file only at load and store.

#pragma once

#include "math/types.h"

#include <math.h>
#include <stdbool.h>

// Row major: m[row][column]. Vectors are columns.
typedef struct snwMat3
{
    double m[3][3];
} snwMat3;

// As a float has it. (double)(float)x alone is not enough: gcc 12 leaves out the rounding where it vectorises
// neighbouring statements, so the float has to be seen in a register.
static inline double snwRounded(double x)
{
    float rounded = (float)x;
#if defined(__x86_64__)
    __asm__("" : "+x"(rounded));
#else
    __asm__("" : "+m"(rounded));
#endif
    return (double)rounded;
}

static inline snwVec3 snwVec3_Rounded(snwVec3 a)
{
    return (snwVec3){snwRounded(a.x), snwRounded(a.y), snwRounded(a.z)};
}

static inline snwVec3 snwVec3_Add(snwVec3 a, snwVec3 b)
{
    return (snwVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline snwVec3 snwVec3_Sub(snwVec3 a, snwVec3 b)
{
    return (snwVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline snwVec3 snwVec3_Negate(snwVec3 a)
{
    return (snwVec3){-a.x, -a.y, -a.z};
}

static inline snwVec3 snwVec3_Scale(snwVec3 a, double s)
{
    return (snwVec3){a.x * s, a.y * s, a.z * s};
}

// a + s b
static inline snwVec3 snwVec3_MulAdd(snwVec3 a, double s, snwVec3 b)
{
    return (snwVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline snwVec3 snwVec3_Lerp(snwVec3 a, snwVec3 b, double t)
{
    return (snwVec3){(1 - t) * a.x + t * b.x, (1 - t) * a.y + t * b.y, (1 - t) * a.z + t * b.z};
}

static inline double snwVec3_Dot(snwVec3 a, snwVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline snwVec3 snwVec3_Cross(snwVec3 a, snwVec3 b)
{
    return (snwVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double snwVec3_LengthSquared(snwVec3 a)
{
    return snwVec3_Dot(a, a);
}

static inline double snwVec3_Length(snwVec3 a)
{
    return sqrt(snwVec3_Dot(a, a));
}

static inline double snwVec3_Distance(snwVec3 a, snwVec3 b)
{
    return snwVec3_Length(snwVec3_Sub(a, b));
}

static inline snwVec3 snwVec3_Min(snwVec3 a, snwVec3 b)
{
    return (snwVec3){a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}

static inline snwVec3 snwVec3_Max(snwVec3 a, snwVec3 b)
{
    return (snwVec3){a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}

// Every number finite and at most `limit` in size.
static inline bool snwVec3_IsWithin(snwVec3 a, double limit)
{
    return fabs(a.x) <= limit && fabs(a.y) <= limit && fabs(a.z) <= limit;
}

static inline bool snwVec3_IsFinite(snwVec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

// Unit vector along a at any scale; the zero vector and vectors that are not finite give zero.
static inline snwVec3 snwVec3_Normalize(snwVec3 a)
{
    double largest = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    if (!(largest > 0) || !snwVec3_IsFinite(a))
        return (snwVec3){0, 0, 0};
    // The largest entry first, so that squares neither overflow nor vanish. Twice: 1 / 1e-310 would overflow.
    snwVec3 b = {a.x / largest, a.y / largest, a.z / largest};
    return snwVec3_Scale(b, 1 / snwVec3_Length(b));
}

// Some unit vector at a right angle to the unit vector a.
static inline snwVec3 snwVec3_Perpendicular(snwVec3 a)
{
    double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
    snwVec3 axis = {x <= y && x <= z, !(x <= y && x <= z) && y <= z, !(x <= y && x <= z) && !(y <= z)};
    return snwVec3_Normalize(snwVec3_Cross(a, axis));
}

static inline snwMat3 snwMat3_Identity(void)
{
    return (snwMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

static inline snwMat3 snwMat3_Diagonal(double a, double b, double c)
{
    return (snwMat3){{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
}

static inline snwMat3 snwMat3_FromColumns(snwVec3 a, snwVec3 b, snwVec3 c)
{
    return (snwMat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

static inline snwVec3 snwMat3_Column(snwMat3 a, int j)
{
    return (snwVec3){a.m[0][j], a.m[1][j], a.m[2][j]};
}

static inline snwVec3 snwMat3_Row(snwMat3 a, int i)
{
    return (snwVec3){a.m[i][0], a.m[i][1], a.m[i][2]};
}

// a b^T
static inline snwMat3 snwMat3_Outer(snwVec3 a, snwVec3 b)
{
    return snwMat3_FromColumns(snwVec3_Scale(a, b.x), snwVec3_Scale(a, b.y), snwVec3_Scale(a, b.z));
}

// The matrix of b -> a x b.
static inline snwMat3 snwMat3_Skew(snwVec3 a)
{
    return (snwMat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}

static inline snwMat3 snwMat3_Add(snwMat3 a, snwMat3 b)
{
    snwMat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][j] + b.m[i][j];
    return c;
}

static inline snwMat3 snwMat3_Sub(snwMat3 a, snwMat3 b)
{
    snwMat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][j] - b.m[i][j];
    return c;
}

static inline snwMat3 snwMat3_Scale(snwMat3 a, double s)
{
    snwMat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][j] * s;
    return c;
}

static inline snwMat3 snwMat3_Transpose(snwMat3 a)
{
    snwMat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[j][i];
    return c;
}

static inline snwMat3 snwMat3_Mul(snwMat3 a, snwMat3 b)
{
    snwMat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return c;
}

// a^T b
static inline snwMat3 snwMat3_TransposeMul(snwMat3 a, snwMat3 b)
{
    return snwMat3_Mul(snwMat3_Transpose(a), b);
}

// a b^T
static inline snwMat3 snwMat3_MulTranspose(snwMat3 a, snwMat3 b)
{
    return snwMat3_Mul(a, snwMat3_Transpose(b));
}

static inline snwVec3 snwMat3_MulVec(snwMat3 a, snwVec3 v)
{
    return (snwVec3){a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
        a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z, a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z};
}

static inline double snwMat3_Trace(snwMat3 a)
{
    return a.m[0][0] + a.m[1][1] + a.m[2][2];
}

static inline double snwMat3_Determinant(snwMat3 a)
{
    return snwVec3_Dot(snwMat3_Row(a, 0), snwVec3_Cross(snwMat3_Row(a, 1), snwMat3_Row(a, 2)));
}

// The matrix of cofactors: det(a) a^-T, and the derivative of the determinant.
static inline snwMat3 snwMat3_Cofactor(snwMat3 a)
{
    snwVec3 x = snwMat3_Column(a, 0), y = snwMat3_Column(a, 1), z = snwMat3_Column(a, 2);
    return snwMat3_FromColumns(snwVec3_Cross(y, z), snwVec3_Cross(z, x), snwVec3_Cross(x, y));
}

// Frobenius norm.
static inline double snwMat3_Norm(snwMat3 a)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum += a.m[i][j] * a.m[i][j];
    return sqrt(sum);
}

static inline double snwMat3_LargestEntry(snwMat3 a)
{
    double largest = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            largest = fmax(largest, fabs(a.m[i][j]));
    return largest;
}

static inline bool snwMat3_IsFinite(snwMat3 a)
{
    return snwVec3_IsFinite(snwMat3_Row(a, 0)) && snwVec3_IsFinite(snwMat3_Row(a, 1)) &&
           snwVec3_IsFinite(snwMat3_Row(a, 2));
}

// False, and out untouched, when the determinant is zero or the result would not be finite.
static inline bool snwMat3_Inverse(snwMat3 a, snwMat3* out)
{
    double det = snwMat3_Determinant(a);
    snwMat3 inverse = snwMat3_Scale(snwMat3_Transpose(snwMat3_Cofactor(a)), 1 / det);
    if (det == 0 || !snwMat3_IsFinite(inverse))
        return false;
    *out = inverse;
    return true;
}
