// Rigid transforms and affine maps. Compose(a, b) applies b first, then a.

#pragma once

#include "math/quat.h"

// x -> linear x + translation
typedef struct snwAffine
{
    snwMat3 linear;
    snwVec3 translation;
} snwAffine;

static inline snwTransform snwTransform_Identity(void)
{
    return (snwTransform){{0, 0, 0}, {0, 0, 0, 1}};
}

static inline snwVec3 snwTransform_Apply(snwTransform t, snwVec3 point)
{
    return snwVec3_Add(snwQuat_Rotate(t.rotation, point), t.position);
}

static inline snwVec3 snwTransform_ApplyInverse(snwTransform t, snwVec3 point)
{
    return snwQuat_InverseRotate(t.rotation, snwVec3_Sub(point, t.position));
}

static inline snwTransform snwTransform_Compose(snwTransform a, snwTransform b)
{
    return (snwTransform){snwTransform_Apply(a, b.position), snwQuat_Normalize(snwQuat_Mul(a.rotation, b.rotation))};
}

static inline snwTransform snwTransform_Inverse(snwTransform t)
{
    return (snwTransform){snwQuat_InverseRotate(t.rotation, snwVec3_Negate(t.position)), snwQuat_Conjugate(t.rotation)};
}

// What takes the frame a to the frame b, seen from a: a^-1 b.
static inline snwTransform snwTransform_Between(snwTransform a, snwTransform b)
{
    return snwTransform_Compose(snwTransform_Inverse(a), b);
}

static inline bool snwTransform_IsFinite(snwTransform t)
{
    return snwVec3_IsFinite(t.position) && snwQuat_IsFinite(t.rotation);
}

static inline snwAffine snwAffine_FromTransform(snwTransform t)
{
    return (snwAffine){snwQuat_ToMat3(t.rotation), t.position};
}

// 3 x 4, row by row.
static inline void snwAffine_ToMatrix(snwAffine a, double matrix[12])
{
    const double translation[3] = {a.translation.x, a.translation.y, a.translation.z};
    for (int i = 0; i < 3; ++i)
    {
        for (int k = 0; k < 3; ++k)
            matrix[4 * i + k] = a.linear.m[i][k];
        matrix[4 * i + 3] = translation[i];
    }
}

// Only for maps that are rigid; a scale or shear is lost without notice. Use snwPolar3 to take one apart.
static inline snwTransform snwAffine_ToTransform(snwAffine a)
{
    return (snwTransform){a.translation, snwQuat_FromMat3(a.linear)};
}

// Translation * rotation * scale, as a node of a glTF file.
static inline snwAffine snwAffine_FromTrs(snwVec3 translation, snwQuat rotation, snwVec3 scale)
{
    snwMat3 r = snwQuat_ToMat3(rotation);
    return (snwAffine){snwMat3_Mul(r, snwMat3_Diagonal(scale.x, scale.y, scale.z)), translation};
}

static inline snwVec3 snwAffine_Apply(snwAffine a, snwVec3 point)
{
    return snwVec3_Add(snwMat3_MulVec(a.linear, point), a.translation);
}

static inline snwAffine snwAffine_Compose(snwAffine a, snwAffine b)
{
    return (snwAffine){snwMat3_Mul(a.linear, b.linear), snwAffine_Apply(a, b.translation)};
}

// False, and out untouched, when the map is singular.
static inline bool snwAffine_Inverse(snwAffine a, snwAffine* out)
{
    snwMat3 inverse;
    if (!snwMat3_Inverse(a.linear, &inverse))
        return false;
    *out = (snwAffine){inverse, snwVec3_Negate(snwMat3_MulVec(inverse, a.translation))};
    return true;
}
