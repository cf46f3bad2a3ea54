// The kernels of skinning.h, for the lanes of math/simd.h. Included once per instruction set.

#include "rig/skinning.h"

#include "math/simd.h"

typedef struct Vec3
{
    snwWide x, y, z;
} Vec3;

static inline Vec3 Cross(Vec3 a, Vec3 b)
{
    return (Vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline snwWide Dot(Vec3 a, Vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Vec3 LoadVec3(const float (*rows)[SNW_SKIN_LANES], int lane)
{
    return (Vec3){snwWide_Load(&rows[0][lane]), snwWide_Load(&rows[1][lane]), snwWide_Load(&rows[2][lane])};
}

// Unit, or the fallback where the length is lost. The limit is below what the smallest allowed scale makes of a normal.
static inline Vec3 Normalize(Vec3 a, Vec3 fallback)
{
    snwWide square = Dot(a, a);
    snwWideInt sound = square > 1e-36f;
    snwWide s = 1.0f / snwWide_Sqrt(snwWide_Select(sound, square, snwWide_Splat(1)));
    return (Vec3){snwWide_Select(sound, a.x * s, fallback.x), snwWide_Select(sound, a.y * s, fallback.y),
        snwWide_Select(sound, a.z * s, fallback.z)};
}

static inline Vec3 Scale(snwWide s, Vec3 a)
{
    return (Vec3){s * a.x, s * a.y, s * a.z};
}

static inline Vec3 AddScaled(Vec3 a, snwWide s, Vec3 b)
{
    return (Vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline void StoreVec3(float* base, int stride, const int* vertices, Vec3 a)
{
    snwWide_Store3(base, stride / (int)sizeof(float), vertices, a.x, a.y, a.z);
}

// ---------------------------------------------------------------------------------------------------------------------
// Linear

// Columns of the linear part and the translation, one lane per vertex.
typedef struct Map
{
    Vec3 a, b, c, t;
} Map;

static inline Vec3 SplatColumn(const snwSkinHandle* handle, int column)
{
    return (Vec3){snwWide_Splat(handle->rows[0][column]), snwWide_Splat(handle->rows[1][column]),
        snwWide_Splat(handle->rows[2][column])};
}

static inline Map BlendMaps(const snwSkinInfluence* influences, int count, const snwSkinHandle* handles, int lane)
{
    const snwSkinHandle* handle = &handles[influences[0].handle];
    snwWide weight = snwWide_Load(&influences[0].weight[lane]);
    Map sum = {Scale(weight, SplatColumn(handle, 0)), Scale(weight, SplatColumn(handle, 1)),
        Scale(weight, SplatColumn(handle, 2)), Scale(weight, SplatColumn(handle, 3))};
    for (int k = 1; k < count; ++k)
    {
        handle = &handles[influences[k].handle];
        weight = snwWide_Load(&influences[k].weight[lane]);
        sum.a = AddScaled(sum.a, weight, SplatColumn(handle, 0));
        sum.b = AddScaled(sum.b, weight, SplatColumn(handle, 1));
        sum.c = AddScaled(sum.c, weight, SplatColumn(handle, 2));
        sum.t = AddScaled(sum.t, weight, SplatColumn(handle, 3));
    }
    return sum;
}

static inline Vec3 Apply(const Map* m, Vec3 p)
{
    return (Vec3){m->a.x * p.x + m->b.x * p.y + m->c.x * p.z + m->t.x,
        m->a.y * p.x + m->b.y * p.y + m->c.y * p.z + m->t.y, m->a.z * p.x + m->b.z * p.y + m->c.z * p.z + m->t.z};
}

// The direction of the inverse transpose: the cofactors, with the determinant's sign, so that a mirrored shape's
// normals still point outward.
static inline Vec3 ApplyToNormal(const Map* m, Vec3 n)
{
    Vec3 u = Cross(m->b, m->c), v = Cross(m->c, m->a), w = Cross(m->a, m->b);
    snwWide det = Dot(m->a, u);
    return (Vec3){snwWide_MulSign(u.x * n.x + v.x * n.y + w.x * n.z, det),
        snwWide_MulSign(u.y * n.x + v.y * n.y + w.y * n.z, det),
        snwWide_MulSign(u.z * n.x + v.z * n.y + w.z * n.z, det)};
}

static void SkinLinear(
    const snwSkinModel* model, const snwSkinPalette* palette, const snwSkinningTarget* target, int begin, int end)
{
    const float* origin = palette->origin;

    // A block's lanes blend one map each; normals go by its cofactors.
    for (int i = begin; i < end; ++i)
    {
        const snwSkinBlock* block = &model->blocks[i];
        const snwSkinInfluence* influences = &model->influences[block->firstInfluence];
        for (int lane = 0; lane < SNW_SKIN_LANES; lane += SNW_WIDE_LANES)
        {
            Map map = BlendMaps(influences, block->influenceCount, palette->handles, lane);
            Vec3 p = Apply(&map, LoadVec3(block->position, lane));
            p = (Vec3){p.x + origin[0], p.y + origin[1], p.z + origin[2]};
            StoreVec3(target->positions, target->positionStride, &block->vertex[lane], p);
            if (target->normals == NULL)
                continue;
            Vec3 rest = LoadVec3(block->normal, lane);
            Vec3 n = Normalize(ApplyToNormal(&map, rest), rest);
            StoreVec3(target->normals, target->normalStride, &block->vertex[lane], n);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Dual quaternions

typedef struct DualQuat
{
    Vec3 r; // real part r + w
    snwWide w;
    Vec3 d; // dual part d + e
    snwWide e;
} DualQuat;

// q and -q are the same rotation: each is taken on the side of the heaviest one. Then the sum is at least as long as
// the heaviest weight, so it is never lost.
static inline DualQuat BlendQuats(
    const snwSkinInfluence* influences, int count, const snwSkinHandle* handles, const int* pivots, int lane)
{
    snwWide x, y, z, w;
    snwWide_Load4(handles[0].rows[0], &pivots[lane], &x, &y, &z, &w);
    DualQuat sum = {0};
    for (int k = 0; k < count; ++k)
    {
        const float *q = handles[influences[k].handle].rows[0], *d = q + 4;
        snwWide weight = snwWide_Load(&influences[k].weight[lane]);
        weight = snwWide_MulSign(weight, x * q[0] + y * q[1] + z * q[2] + w * q[3]);
        sum.r = (Vec3){sum.r.x + weight * q[0], sum.r.y + weight * q[1], sum.r.z + weight * q[2]};
        sum.w = sum.w + weight * q[3];
        sum.d = (Vec3){sum.d.x + weight * d[0], sum.d.y + weight * d[1], sum.d.z + weight * d[2]};
        sum.e = sum.e + weight * d[3];
    }
    return sum;
}

static inline DualQuat NormalizeQuat(DualQuat q)
{
    snwWide s = 1.0f / snwWide_Sqrt(Dot(q.r, q.r) + q.w * q.w);
    return (DualQuat){{q.r.x * s, q.r.y * s, q.r.z * s}, q.w * s, {q.d.x * s, q.d.y * s, q.d.z * s}, q.e * s};
}

static inline Vec3 Rotate(const DualQuat* q, Vec3 v)
{
    Vec3 inner = AddScaled(Cross(q->r, v), q->w, v);
    return AddScaled(v, snwWide_Splat(2), Cross(q->r, inner));
}

// 2 (w d - e r + r x d)
static inline Vec3 Translation(const DualQuat* q)
{
    Vec3 c = Cross(q->r, q->d);
    return (Vec3){2.0f * (q->w * q->d.x - q->e * q->r.x + c.x), 2.0f * (q->w * q->d.y - q->e * q->r.y + c.y),
        2.0f * (q->w * q->d.z - q->e * q->r.z + c.z)};
}

static void SkinDualQuaternion(
    const snwSkinModel* model, const snwSkinPalette* palette, const snwSkinningTarget* target, int begin, int end)
{
    const float* origin = palette->origin;

    // A block's lanes blend one dual quaternion each, each with the sign that is nearer to the lane's pivot.
    for (int i = begin; i < end; ++i)
    {
        const snwSkinBlock* block = &model->blocks[i];
        const snwSkinInfluence* influences = &model->influences[block->firstInfluence];
        for (int lane = 0; lane < SNW_SKIN_LANES; lane += SNW_WIDE_LANES)
        {
            DualQuat q = NormalizeQuat(
                BlendQuats(influences, block->influenceCount, palette->handles, block->pivot, lane));
            Vec3 p = Rotate(&q, LoadVec3(block->position, lane)), t = Translation(&q);
            p = (Vec3){p.x + t.x + origin[0], p.y + t.y + origin[1], p.z + t.z + origin[2]};
            StoreVec3(target->positions, target->positionStride, &block->vertex[lane], p);
            if (target->normals == NULL)
                continue;
            Vec3 rest = LoadVec3(block->normal, lane);
            Vec3 n = Normalize(Rotate(&q, rest), rest);
            StoreVec3(target->normals, target->normalStride, &block->vertex[lane], n);
        }
    }
}

static const snwSkinKernels s_kernels = {SkinLinear, SkinDualQuaternion};
