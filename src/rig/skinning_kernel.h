// The kernels of skinning.h, for the lanes of math/simd.h. Included once per instruction set.
//
// Linear blending sums matrices vertex by vertex, twelve numbers at a time, and turns eight finished sums into lanes.
// Rejected: gathering matrices into lanes for every influence, which moves four times as much through the shuffles.
// A dual quaternion is two rows only, and its signs need lanes anyway: there the gathering is the cheaper way.

#include "rig/skinning.h"

#include "math/simd.h"

#include <string.h>

enum
{
    SNW_MATRIX_WIDES = (SNW_WIDE_LANES == 8 ? 16 : 12) / SNW_WIDE_LANES // of the 16 floats of a handle
};

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
    snwWide length = snwWide_Sqrt(snwWide_Select(sound, square, snwWide_Splat(1)));
    return (Vec3){snwWide_Select(sound, a.x / length, fallback.x), snwWide_Select(sound, a.y / length, fallback.y),
        snwWide_Select(sound, a.z / length, fallback.z)};
}

static const int s_rows[8] = {0, 1, 2, 3, 4, 5, 6, 7};

// Three floats per vertex; the lanes of the last block may be too many.
static inline void StoreVec3(float* base, int stride, int vertex, int vertexCount, Vec3 a)
{
    _Alignas(32) float rows[SNW_WIDE_LANES][4];
    int count = vertexCount - vertex < SNW_WIDE_LANES ? vertexCount - vertex : SNW_WIDE_LANES;
    snwWide_Store4(rows[0], s_rows, a.x, a.y, a.z, snwWide_Splat(0));
    char* out = (char*)base + (size_t)vertex * (size_t)stride;
    for (int i = 0; i < count; ++i)
        memcpy(out + (size_t)i * (size_t)stride, rows[i], 3 * sizeof(float));
}

// ---------------------------------------------------------------------------------------------------------------------
// Linear

static inline void BlendMatrix(
    const snwSkinInfluence* influences, int count, const snwSkinHandle* handles, int lane, float out[16])
{
    const float* m = handles[influences[0].handle[lane]].rows[0];
    snwWide sum[SNW_MATRIX_WIDES], weight = snwWide_Splat(influences[0].weight[lane]);
    for (int i = 0; i < SNW_MATRIX_WIDES; ++i)
        sum[i] = weight * snwWide_Load(m + i * SNW_WIDE_LANES);
    for (int k = 1; k < count; ++k)
    {
        m = handles[influences[k].handle[lane]].rows[0];
        weight = snwWide_Splat(influences[k].weight[lane]);
        for (int i = 0; i < SNW_MATRIX_WIDES; ++i)
            sum[i] = sum[i] + weight * snwWide_Load(m + i * SNW_WIDE_LANES);
    }
    for (int i = 0; i < SNW_MATRIX_WIDES; ++i)
        snwWide_Store(out + i * SNW_WIDE_LANES, sum[i]);
}

// Columns of the linear part and the translation, one lane per vertex.
typedef struct Map
{
    Vec3 a, b, c, t;
} Map;

static inline Map LoadMap(const float (*matrices)[16])
{
    static const int every[8] = {0, 4, 8, 12, 16, 20, 24, 28};
    Map m;
    snwWide_Load4(matrices[0], every, &m.a.x, &m.b.x, &m.c.x, &m.t.x);
    snwWide_Load4(matrices[0] + 4, every, &m.a.y, &m.b.y, &m.c.y, &m.t.y);
    snwWide_Load4(matrices[0] + 8, every, &m.a.z, &m.b.z, &m.c.z, &m.t.z);
    return m;
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
    for (int i = begin; i < end; ++i)
    {
        const snwSkinBlock* block = &model->blocks[i];
        const snwSkinInfluence* influences = &model->influences[block->firstInfluence];
        _Alignas(64) float matrices[SNW_SKIN_LANES][16];
        for (int lane = 0; lane < SNW_SKIN_LANES; ++lane)
            BlendMatrix(influences, block->influenceCount, palette->handles, lane, matrices[lane]);
        for (int lane = 0; lane < SNW_SKIN_LANES && i * SNW_SKIN_LANES + lane < model->vertexCount;
             lane += SNW_WIDE_LANES)
        {
            Map map = LoadMap((const float(*)[16])matrices + lane);
            int vertex = i * SNW_SKIN_LANES + lane;
            Vec3 p = Apply(&map, LoadVec3(block->position, lane));
            p = (Vec3){p.x + origin[0], p.y + origin[1], p.z + origin[2]};
            StoreVec3(target->positions, target->positionStride, vertex, model->vertexCount, p);
            if (target->normals == NULL)
                continue;
            Vec3 rest = LoadVec3(block->normal, lane);
            Vec3 n = Normalize(ApplyToNormal(&map, rest), rest);
            StoreVec3(target->normals, target->normalStride, vertex, model->vertexCount, n);
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

static inline DualQuat LoadHandle(const snwSkinHandle* handles, const int* index)
{
    int rows[SNW_WIDE_LANES];
    for (int i = 0; i < SNW_WIDE_LANES; ++i)
        rows[i] = 4 * index[i]; // rows of a handle
    DualQuat q;
    snwWide_Load4(handles[0].rows[0], rows, &q.r.x, &q.r.y, &q.r.z, &q.w);
    snwWide_Load4(handles[0].rows[1], rows, &q.d.x, &q.d.y, &q.d.z, &q.e);
    return q;
}

static inline Vec3 AddScaled(Vec3 a, snwWide s, Vec3 b)
{
    return (Vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

// q and -q are the same rotation: each is taken on the side of the heaviest one. Then the sum is at least as long as
// the heaviest weight, so it is never lost.
static inline DualQuat BlendQuats(const snwSkinInfluence* influences, int count, const snwSkinHandle* handles, int lane)
{
    DualQuat first = LoadHandle(handles, &influences[0].handle[lane]);
    snwWide weight = snwWide_Load(&influences[0].weight[lane]);
    Vec3 zero = {snwWide_Splat(0), snwWide_Splat(0), snwWide_Splat(0)};
    DualQuat sum = {
        AddScaled(zero, weight, first.r), weight * first.w, AddScaled(zero, weight, first.d), weight * first.e};
    for (int k = 1; k < count; ++k)
    {
        DualQuat q = LoadHandle(handles, &influences[k].handle[lane]);
        weight = snwWide_Load(&influences[k].weight[lane]);
        weight = snwWide_MulSign(weight, Dot(first.r, q.r) + first.w * q.w);
        sum.r = AddScaled(sum.r, weight, q.r);
        sum.w = sum.w + weight * q.w;
        sum.d = AddScaled(sum.d, weight, q.d);
        sum.e = sum.e + weight * q.e;
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
    for (int i = begin; i < end; ++i)
    {
        const snwSkinBlock* block = &model->blocks[i];
        const snwSkinInfluence* influences = &model->influences[block->firstInfluence];
        for (int lane = 0; lane < SNW_SKIN_LANES && i * SNW_SKIN_LANES + lane < model->vertexCount;
             lane += SNW_WIDE_LANES)
        {
            DualQuat q = NormalizeQuat(BlendQuats(influences, block->influenceCount, palette->handles, lane));
            int vertex = i * SNW_SKIN_LANES + lane;
            Vec3 p = Rotate(&q, LoadVec3(block->position, lane)), t = Translation(&q);
            p = (Vec3){p.x + t.x + origin[0], p.y + t.y + origin[1], p.z + t.z + origin[2]};
            StoreVec3(target->positions, target->positionStride, vertex, model->vertexCount, p);
            if (target->normals == NULL)
                continue;
            Vec3 rest = LoadVec3(block->normal, lane);
            Vec3 n = Normalize(Rotate(&q, rest), rest);
            StoreVec3(target->normals, target->normalStride, vertex, model->vertexCount, n);
        }
    }
}

static const snwSkinKernels s_kernels = {SkinLinear, SkinDualQuaternion};
