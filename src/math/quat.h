// Rotations as unit quaternions, in double. Components in glTF's order: x, y, z, then the scalar part w.
//
// Multiply(a, b) rotates by b first, then by a, as matrices do. Slerp and the axis-angle conversions call libm, whose
// last bit may differ between machines; the solvers' kernels use none of them.

#pragma once

#include "math/vec.h"

static inline snwQuat snwQuat_Identity(void)
{
    return (snwQuat){0, 0, 0, 1};
}

static inline double snwQuat_Dot(snwQuat a, snwQuat b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

static inline snwQuat snwQuat_Scale(snwQuat a, double s)
{
    return (snwQuat){a.x * s, a.y * s, a.z * s, a.w * s};
}

static inline bool snwQuat_IsFinite(snwQuat a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z) && isfinite(a.w);
}

// Unit length at any scale; zero and anything not finite become the identity.
static inline snwQuat snwQuat_Normalize(snwQuat a)
{
    double largest = fmax(fmax(fabs(a.x), fabs(a.y)), fmax(fabs(a.z), fabs(a.w)));
    if (!(largest > 0) || !snwQuat_IsFinite(a))
        return snwQuat_Identity();
    snwQuat b = {a.x / largest, a.y / largest, a.z / largest, a.w / largest};
    return snwQuat_Scale(b, 1 / sqrt(snwQuat_Dot(b, b)));
}

// The inverse of a unit quaternion.
static inline snwQuat snwQuat_Conjugate(snwQuat a)
{
    return (snwQuat){-a.x, -a.y, -a.z, a.w};
}

static inline snwQuat snwQuat_Mul(snwQuat a, snwQuat b)
{
    return (snwQuat){
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    };
}

static inline snwVec3 snwQuat_Rotate(snwQuat q, snwVec3 v)
{
    // v + 2 w (u x v) + 2 u x (u x v): cheaper than two quaternion products.
    snwVec3 u = {q.x, q.y, q.z};
    snwVec3 t = snwVec3_Scale(snwVec3_Cross(u, v), 2);
    return snwVec3_Add(snwVec3_MulAdd(v, q.w, t), snwVec3_Cross(u, t));
}

static inline snwVec3 snwQuat_InverseRotate(snwQuat q, snwVec3 v)
{
    return snwQuat_Rotate(snwQuat_Conjugate(q), v);
}

// The axis need not be unit; a zero axis gives the identity. Angle in radians.
static inline snwQuat snwQuat_FromAxisAngle(snwVec3 axis, double angle)
{
    snwVec3 n = snwVec3_Normalize(axis);
    if (snwVec3_LengthSquared(n) == 0)
        return snwQuat_Identity();
    double s = sin(0.5 * angle);
    return (snwQuat){s * n.x, s * n.y, s * n.z, cos(0.5 * angle)};
}

// Exponential map: rotation about v by |v| radians, exact to rounding also for tiny v.
static inline snwQuat snwQuat_FromRotationVector(snwVec3 v)
{
    double angle = snwVec3_Length(v);
    double s = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5;
    return (snwQuat){s * v.x, s * v.y, s * v.z, cos(0.5 * angle)};
}

// Logarithm of a unit quaternion, the short way round: length at most pi.
static inline snwVec3 snwQuat_ToRotationVector(snwQuat q)
{
    double sign = q.w < 0 ? -1 : 1;
    snwVec3 u = {sign * q.x, sign * q.y, sign * q.z};
    double s = snwVec3_Length(u);
    return snwVec3_Scale(u, s > 1e-12 ? 2 * atan2(s, sign * q.w) / s : 2);
}

// Angle of the rotation that takes a to b, in [0, pi]; exact to rounding for small angles, where acos is not.
static inline double snwQuat_Angle(snwQuat a, snwQuat b)
{
    snwQuat d = snwQuat_Mul(snwQuat_Conjugate(a), b);
    return 2 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

static inline snwMat3 snwQuat_ToMat3(snwQuat q)
{
    double x = q.x, y = q.y, z = q.z, w = q.w;
    return (snwMat3){{
        {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
        {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
        {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)},
    }};
}

// From a rotation matrix. Of the four ways to divide, the one with the largest divisor (Shepperd 1978).
static inline snwQuat snwQuat_FromMat3(snwMat3 a)
{
    const double(*m)[3] = (const double(*)[3])a.m;
    double trace = m[0][0] + m[1][1] + m[2][2];
    snwQuat q;
    if (trace >= m[0][0] && trace >= m[1][1] && trace >= m[2][2])
        q = (snwQuat){m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], 1 + trace};
    else if (m[0][0] >= m[1][1] && m[0][0] >= m[2][2])
        q = (snwQuat){1 + 2 * m[0][0] - trace, m[0][1] + m[1][0], m[0][2] + m[2][0], m[2][1] - m[1][2]};
    else if (m[1][1] >= m[2][2])
        q = (snwQuat){m[0][1] + m[1][0], 1 + 2 * m[1][1] - trace, m[1][2] + m[2][1], m[0][2] - m[2][0]};
    else
        q = (snwQuat){m[0][2] + m[2][0], m[1][2] + m[2][1], 1 + 2 * m[2][2] - trace, m[1][0] - m[0][1]};
    return snwQuat_Normalize(q);
}

// The shortest rotation that takes direction a to direction b (unit vectors); opposite ones turn about some
// perpendicular axis.
static inline snwQuat snwQuat_Between(snwVec3 a, snwVec3 b)
{
    double d = snwVec3_Dot(a, b);
    snwVec3 c = snwVec3_Cross(a, b);
    if (d < -1 + 1e-12)
    {
        snwVec3 p = snwVec3_Perpendicular(a);
        return (snwQuat){p.x, p.y, p.z, 0};
    }
    return snwQuat_Normalize((snwQuat){c.x, c.y, c.z, 1 + d});
}

// Straight blend the short way round, then normalised.
static inline snwQuat snwQuat_Nlerp(snwQuat a, snwQuat b, double t)
{
    double s = snwQuat_Dot(a, b) < 0 ? -t : t;
    double r = 1 - t;
    return snwQuat_Normalize((snwQuat){r * a.x + s * b.x, r * a.y + s * b.y, r * a.z + s * b.z, r * a.w + s * b.w});
}

// Constant angular speed the short way round.
static inline snwQuat snwQuat_Slerp(snwQuat a, snwQuat b, double t)
{
    double d = fabs(snwQuat_Dot(a, b));
    // Below a milliradian the two blends agree to rounding, and the division by sin would not.
    if (d > 1 - 1e-7)
        return snwQuat_Nlerp(a, b, t);
    double angle = acos(d), sine = sin(angle);
    double r = sin((1 - t) * angle) / sine, s = sin(t * angle) / sine;
    if (snwQuat_Dot(a, b) < 0)
        s = -s;
    return snwQuat_Normalize((snwQuat){r * a.x + s * b.x, r * a.y + s * b.y, r * a.z + s * b.z, r * a.w + s * b.w});
}
