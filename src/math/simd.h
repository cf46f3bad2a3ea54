// Wide floats: one set of operations over AVX2 (8 lanes), SSE2 and NEON (4 lanes) and plain floats (1 lane).
//
// The promise: a lane computes the same bits on every instruction set. State hashes then agree between a laptop, a
// server and the scalar build, and the scalar build is a test of the wide ones rather than a rough cousin. To keep it
//   - only correctly rounded operations appear: + - * / and square root. No reciprocal or reciprocal square root
//     estimates: their bits differ even between two makers of the same instruction set. Real division and square
//     root cost a few nanoseconds per eight values, less than the test that an estimate would need;
//   - nothing is fused: all of it is compiled with -ffp-contract=off, and no fused multiply-add is called;
//   - minimum and maximum are defined by a comparison (see below), also where an instruction would do otherwise;
//   - denormals are kept. A host that sets flush-to-zero breaks the promise, and nothing else.
// NaN is a NaN everywhere, but its sign and payload are not promised: x86 and Arm choose differently.
//
// Rejected: intrinsics behind one function per operation (unreadable formulas), and leaving it to the vectoriser
// (it gives up on the transposing loads). The vector extension of gcc and clang gives operators on all of them, also
// on a vector of one lane, so that a comparison is a mask of 0 or -1 everywhere and scalar code cannot mean
// something else.
//
// How kernels use it: x_kernel.h holds the code, x_avx2.c, x_sse.c and x_scalar.c include it once each.
//   SNW_SIMD_FORCE_SCALAR before this header: one lane. SNW_SIMD_FORCE_BASE: no AVX2 even where the flags allow it.
//   SNW_SCALAR for the whole build: one lane everywhere, and the wide files hold nothing.

#pragma once

#if defined(SNW_SCALAR) || defined(SNW_SIMD_FORCE_SCALAR)
#define SNW_WIDE_LANES 1
#elif defined(__AVX2__) && !defined(SNW_SIMD_FORCE_BASE)
#define SNW_WIDE_LANES 8
#define SNW_WIDE_AVX2  1
#elif defined(__SSE2__)
#define SNW_WIDE_LANES 4
#define SNW_WIDE_SSE2  1
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define SNW_WIDE_LANES 4
#define SNW_WIDE_NEON  1
#else
#define SNW_WIDE_LANES 1
#endif

#if defined(SNW_WIDE_AVX2) || defined(SNW_WIDE_SSE2)
#include <immintrin.h>
#elif defined(SNW_WIDE_NEON)
#include <arm_neon.h>
#endif
#include <math.h>

// Operators: + - * / on snwWide, + - * & | ^ ~ << >> on snwWideInt, < <= > >= == != give a snwWideInt mask of 0 or
// -1 per lane. A float constant on one side is spread over the lanes. A cast between the two keeps the bits.
typedef float snwWide __attribute__((vector_size(4 * SNW_WIDE_LANES), may_alias));
typedef int snwWideInt __attribute__((vector_size(4 * SNW_WIDE_LANES), may_alias));

// Half as many doubles (one in the scalar form), with the same operators.
#define SNW_WIDE_DOUBLE_LANES (SNW_WIDE_LANES == 1 ? 1 : SNW_WIDE_LANES / 2)
typedef double snwWideDouble __attribute__((vector_size(8 * SNW_WIDE_DOUBLE_LANES), may_alias));

// As many neighbouring floats, exactly. (What the compiler makes of __builtin_convertvector goes through memory.)
static inline snwWideDouble snwWideDouble_FromFloats(const float* p)
{
#if defined(SNW_WIDE_AVX2)
    return (snwWideDouble)_mm256_cvtps_pd(_mm_loadu_ps(p));
#elif defined(SNW_WIDE_SSE2)
    return (snwWideDouble)_mm_cvtps_pd(_mm_castpd_ps(_mm_load_sd((const double*)(const void*)p)));
#elif defined(SNW_WIDE_NEON)
    return (snwWideDouble)vcvt_f64_f32(vld1_f32(p));
#else
    return (snwWideDouble){p[0]};
#endif
}

static inline snwWide snwWide_Splat(float a)
{
    return a - (snwWide){0}; // not 0 + a, which would turn -0 into +0
}

static inline snwWideInt snwWideInt_Splat(int a)
{
    return (snwWideInt){0} + a;
}

// Loads and stores of neighbours; the address is a multiple of the vector's size.
static inline snwWide snwWide_Load(const float* p)
{
    return *(const snwWide*)p;
}

static inline void snwWide_Store(float* p, snwWide a)
{
    *(snwWide*)p = a;
}

// mask ? a : b, for masks that are 0 or -1 in every lane.
static inline snwWide snwWide_Select(snwWideInt mask, snwWide a, snwWide b)
{
#if defined(SNW_WIDE_AVX2)
    return (snwWide)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (snwWide)((mask & (snwWideInt)a) | (~mask & (snwWideInt)b));
#endif
}

static inline snwWideInt snwWideInt_Select(snwWideInt mask, snwWideInt a, snwWideInt b)
{
    return (snwWideInt)snwWide_Select(mask, (snwWide)a, (snwWide)b);
}

// a < b ? a : b. So the second operand wins when either is NaN, and between +0 and -0.
static inline snwWide snwWide_Min(snwWide a, snwWide b)
{
#if defined(SNW_WIDE_AVX2)
    return (snwWide)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(SNW_WIDE_SSE2)
    return (snwWide)_mm_min_ps((__m128)a, (__m128)b);
#else
    return snwWide_Select(a < b, a, b);
#endif
}

// a > b ? a : b, with the same rule.
static inline snwWide snwWide_Max(snwWide a, snwWide b)
{
#if defined(SNW_WIDE_AVX2)
    return (snwWide)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(SNW_WIDE_SSE2)
    return (snwWide)_mm_max_ps((__m128)a, (__m128)b);
#else
    return snwWide_Select(a > b, a, b);
#endif
}

static inline snwWideInt snwWideInt_Max(snwWideInt a, snwWideInt b)
{
#if defined(SNW_WIDE_AVX2)
    return (snwWideInt)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    return snwWideInt_Select(a > b, a, b);
#endif
}

// Clears the sign bit, also of NaN.
static inline snwWide snwWide_Abs(snwWide a)
{
    return (snwWide)((snwWideInt)a & 0x7fffffff);
}

// a with the sign bit of b flipped into it: a * sign(b).
static inline snwWide snwWide_MulSign(snwWide a, snwWide b)
{
    return (snwWide)((snwWideInt)a ^ ((snwWideInt)b & (int)0x80000000));
}

static inline snwWide snwWide_Sqrt(snwWide a)
{
#if defined(SNW_WIDE_AVX2)
    return (snwWide)_mm256_sqrt_ps((__m256)a);
#elif defined(SNW_WIDE_SSE2)
    return (snwWide)_mm_sqrt_ps((__m128)a);
#elif defined(SNW_WIDE_NEON)
    return (snwWide)vsqrtq_f32((float32x4_t)a);
#else
    return (snwWide){sqrtf(a[0])};
#endif
}

static inline snwWide snwWide_FromInt(snwWideInt a)
{
    return __builtin_convertvector(a, snwWide);
}

// Towards zero. Only for values that an int can hold: beyond, the processors disagree.
static inline snwWideInt snwWide_ToInt(snwWide a)
{
    return __builtin_convertvector(a, snwWideInt);
}

// Bit i is set when lane i of the mask is.
static inline int snwWideInt_Bits(snwWideInt mask)
{
#if defined(SNW_WIDE_AVX2)
    return _mm256_movemask_ps((__m256)mask);
#elif defined(SNW_WIDE_SSE2)
    return _mm_movemask_ps((__m128)mask);
#elif defined(SNW_WIDE_NEON)
    const snwWideInt weights = {1, 2, 4, 8};
    return (int)vaddvq_s32((int32x4_t)(mask & weights));
#else
    return mask[0] & 1;
#endif
}

static inline int snwWideInt_Any(snwWideInt mask)
{
    return snwWideInt_Bits(mask) != 0;
}

static inline int snwWideInt_All(snwWideInt mask)
{
    return snwWideInt_Bits(mask) == (1 << SNW_WIDE_LANES) - 1;
}

#if defined(SNW_WIDE_AVX2)

// Row pairs (lane, lane + 4) share a register, so that a transpose stays within halves.
static inline __m256 snwWide_LoadRows(const float* base, long stride, const int* index, int lane)
{
    __m128 low = _mm_load_ps(base + stride * index[lane]), high = _mm_load_ps(base + stride * index[lane + 4]);
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

#endif

// Rows of four floats, 16-byte aligned: lane l gets base[stride * index[l] ..], strides in floats, transposed so that x
// holds all first entries. (No processor multiplies an index by sixteen bytes on its way: indices that hold the product
// already, with a stride of 1, save an instruction per row.) Four loads and a transpose in registers; a gather
// instruction per component is three times slower.
static inline void snwWide_LoadStride4(
    const float* base, long stride, const int* index, snwWide* x, snwWide* y, snwWide* z, snwWide* w)
{
#if defined(SNW_WIDE_AVX2)
    __m256 a = snwWide_LoadRows(base, stride, index, 0), b = snwWide_LoadRows(base, stride, index, 1);
    __m256 c = snwWide_LoadRows(base, stride, index, 2), d = snwWide_LoadRows(base, stride, index, 3);
    __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    __m256 AB = _mm256_unpackhi_ps(a, b), CD = _mm256_unpackhi_ps(c, d);
    *x = (snwWide)_mm256_shuffle_ps(ab, cd, _MM_SHUFFLE(1, 0, 1, 0));
    *y = (snwWide)_mm256_shuffle_ps(ab, cd, _MM_SHUFFLE(3, 2, 3, 2));
    *z = (snwWide)_mm256_shuffle_ps(AB, CD, _MM_SHUFFLE(1, 0, 1, 0));
    *w = (snwWide)_mm256_shuffle_ps(AB, CD, _MM_SHUFFLE(3, 2, 3, 2));
#elif defined(SNW_WIDE_SSE2)
    __m128 a = _mm_load_ps(base + stride * index[0]), b = _mm_load_ps(base + stride * index[1]);
    __m128 c = _mm_load_ps(base + stride * index[2]), d = _mm_load_ps(base + stride * index[3]);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    *x = (snwWide)a, *y = (snwWide)b, *z = (snwWide)c, *w = (snwWide)d;
#elif defined(SNW_WIDE_NEON)
    float32x4_t a = vld1q_f32(base + stride * index[0]), b = vld1q_f32(base + stride * index[1]);
    float32x4_t c = vld1q_f32(base + stride * index[2]), d = vld1q_f32(base + stride * index[3]);
    float32x4_t ac = vzip1q_f32(a, c), bd = vzip1q_f32(b, d), AC = vzip2q_f32(a, c), BD = vzip2q_f32(b, d);
    *x = (snwWide)vzip1q_f32(ac, bd), *y = (snwWide)vzip2q_f32(ac, bd);
    *z = (snwWide)vzip1q_f32(AC, BD), *w = (snwWide)vzip2q_f32(AC, BD);
#else
    const float* row = base + stride * index[0];
    *x = (snwWide){row[0]}, *y = (snwWide){row[1]}, *z = (snwWide){row[2]}, *w = (snwWide){row[3]};
#endif
}

// The same for rows that follow each other.
static inline void snwWide_Load4(const float* base, const int* index, snwWide* x, snwWide* y, snwWide* z, snwWide* w)
{
    snwWide_LoadStride4(base, 4, index, x, y, z, w);
}

// The inverse of Load4. Lanes are written in order, so of two lanes with one index the later stays.
static inline void snwWide_Store4(float* base, const int* index, snwWide x, snwWide y, snwWide z, snwWide w)
{
#if defined(SNW_WIDE_AVX2)
    __m256 xy = _mm256_unpacklo_ps((__m256)x, (__m256)y), zw = _mm256_unpacklo_ps((__m256)z, (__m256)w);
    __m256 XY = _mm256_unpackhi_ps((__m256)x, (__m256)y), ZW = _mm256_unpackhi_ps((__m256)z, (__m256)w);
    __m256 rows[4] = {
        _mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(1, 0, 1, 0)),
        _mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(3, 2, 3, 2)),
        _mm256_shuffle_ps(XY, ZW, _MM_SHUFFLE(1, 0, 1, 0)),
        _mm256_shuffle_ps(XY, ZW, _MM_SHUFFLE(3, 2, 3, 2)),
    };
    for (int i = 0; i < 4; i++)
        _mm_store_ps(base + 4 * (long)index[i], _mm256_castps256_ps128(rows[i]));
    for (int i = 0; i < 4; i++)
        _mm_store_ps(base + 4 * (long)index[i + 4], _mm256_extractf128_ps(rows[i], 1));
#elif defined(SNW_WIDE_SSE2)
    __m128 a = (__m128)x, b = (__m128)y, c = (__m128)z, d = (__m128)w;
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_store_ps(base + 4 * (long)index[0], a);
    _mm_store_ps(base + 4 * (long)index[1], b);
    _mm_store_ps(base + 4 * (long)index[2], c);
    _mm_store_ps(base + 4 * (long)index[3], d);
#elif defined(SNW_WIDE_NEON)
    float32x4_t xz = vzip1q_f32((float32x4_t)x, (float32x4_t)z), yw = vzip1q_f32((float32x4_t)y, (float32x4_t)w);
    float32x4_t XZ = vzip2q_f32((float32x4_t)x, (float32x4_t)z), YW = vzip2q_f32((float32x4_t)y, (float32x4_t)w);
    vst1q_f32(base + 4 * (long)index[0], vzip1q_f32(xz, yw));
    vst1q_f32(base + 4 * (long)index[1], vzip2q_f32(xz, yw));
    vst1q_f32(base + 4 * (long)index[2], vzip1q_f32(XZ, YW));
    vst1q_f32(base + 4 * (long)index[3], vzip2q_f32(XZ, YW));
#else
    float* row = base + 4 * (long)index[0];
    row[0] = x[0], row[1] = y[0], row[2] = z[0], row[3] = w[0];
#endif
}

// The last two entries of each row: the first two stay. Lanes are written in order.
static inline void snwWide_StoreLast2(float* base, long stride, const int* index, snwWide z, snwWide w)
{
#if defined(SNW_WIDE_AVX2)
    __m256 low = _mm256_unpacklo_ps((__m256)z, (__m256)w), high = _mm256_unpackhi_ps((__m256)z, (__m256)w);
    __m128 pairs[4] = {_mm256_castps256_ps128(low), _mm256_castps256_ps128(high), _mm256_extractf128_ps(low, 1),
        _mm256_extractf128_ps(high, 1)};
    for (int i = 0; i < 4; i++)
    {
        _mm_storel_pi((__m64*)(base + stride * index[2 * i] + 2), pairs[i]);
        _mm_storeh_pi((__m64*)(base + stride * index[2 * i + 1] + 2), pairs[i]);
    }
#elif defined(SNW_WIDE_SSE2)
    __m128 low = _mm_unpacklo_ps((__m128)z, (__m128)w), high = _mm_unpackhi_ps((__m128)z, (__m128)w);
    _mm_storel_pi((__m64*)(base + stride * index[0] + 2), low);
    _mm_storeh_pi((__m64*)(base + stride * index[1] + 2), low);
    _mm_storel_pi((__m64*)(base + stride * index[2] + 2), high);
    _mm_storeh_pi((__m64*)(base + stride * index[3] + 2), high);
#else
    for (int i = 0; i < SNW_WIDE_LANES; i++)
    {
        float* row = base + stride * index[i];
        row[2] = z[i], row[3] = w[i];
    }
#endif
}

// Four floats of one lane, for sums in which lanes may meet at one place.
typedef float snwRow __attribute__((vector_size(16), may_alias));

// The transpose of Store4 without the store: rows[l] holds lane l of x, y, z and w.
static inline void snwWide_ToRows(snwWide x, snwWide y, snwWide z, snwWide w, snwRow rows[SNW_WIDE_LANES])
{
#if defined(SNW_WIDE_AVX2)
    __m256 xy = _mm256_unpacklo_ps((__m256)x, (__m256)y), zw = _mm256_unpacklo_ps((__m256)z, (__m256)w);
    __m256 XY = _mm256_unpackhi_ps((__m256)x, (__m256)y), ZW = _mm256_unpackhi_ps((__m256)z, (__m256)w);
    __m256 pairs[4] = {
        _mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(1, 0, 1, 0)),
        _mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(3, 2, 3, 2)),
        _mm256_shuffle_ps(XY, ZW, _MM_SHUFFLE(1, 0, 1, 0)),
        _mm256_shuffle_ps(XY, ZW, _MM_SHUFFLE(3, 2, 3, 2)),
    };
    for (int i = 0; i < 4; i++)
    {
        rows[i] = (snwRow)_mm256_castps256_ps128(pairs[i]);
        rows[i + 4] = (snwRow)_mm256_extractf128_ps(pairs[i], 1);
    }
#elif defined(SNW_WIDE_SSE2)
    __m128 a = (__m128)x, b = (__m128)y, c = (__m128)z, d = (__m128)w;
    _MM_TRANSPOSE4_PS(a, b, c, d);
    rows[0] = (snwRow)a, rows[1] = (snwRow)b, rows[2] = (snwRow)c, rows[3] = (snwRow)d;
#else
    for (int i = 0; i < SNW_WIDE_LANES; i++)
        rows[i] = (snwRow){x[i], y[i], z[i], w[i]};
#endif
}

#if defined(SNW_WIDE_AVX2) || defined(SNW_WIDE_SSE2)

static inline void snwWide_StoreRow3(float* p, __m128 row)
{
    _mm_storel_pi((__m64*)p, row);
    _mm_store_ss(p + 2, _mm_movehl_ps(row, row));
}

#endif

// Three floats per lane, at any address: lane l writes base[stride * index[l] ..], strides in floats. Lanes are written
// in order.
static inline void snwWide_Store3(float* base, long stride, const int* index, snwWide x, snwWide y, snwWide z)
{
#if defined(SNW_WIDE_AVX2)
    __m256 zero = _mm256_setzero_ps();
    __m256 xy = _mm256_unpacklo_ps((__m256)x, (__m256)y), zw = _mm256_unpacklo_ps((__m256)z, zero);
    __m256 XY = _mm256_unpackhi_ps((__m256)x, (__m256)y), ZW = _mm256_unpackhi_ps((__m256)z, zero);
    __m256 rows[4] = {
        _mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(1, 0, 1, 0)),
        _mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(3, 2, 3, 2)),
        _mm256_shuffle_ps(XY, ZW, _MM_SHUFFLE(1, 0, 1, 0)),
        _mm256_shuffle_ps(XY, ZW, _MM_SHUFFLE(3, 2, 3, 2)),
    };
    for (int i = 0; i < 4; i++)
        snwWide_StoreRow3(base + stride * index[i], _mm256_castps256_ps128(rows[i]));
    for (int i = 0; i < 4; i++)
        snwWide_StoreRow3(base + stride * index[i + 4], _mm256_extractf128_ps(rows[i], 1));
#elif defined(SNW_WIDE_SSE2)
    __m128 a = (__m128)x, b = (__m128)y, c = (__m128)z, d = _mm_setzero_ps();
    _MM_TRANSPOSE4_PS(a, b, c, d);
    snwWide_StoreRow3(base + stride * index[0], a);
    snwWide_StoreRow3(base + stride * index[1], b);
    snwWide_StoreRow3(base + stride * index[2], c);
    snwWide_StoreRow3(base + stride * index[3], d);
#else
    for (int i = 0; i < SNW_WIDE_LANES; i++)
    {
        float* row = base + stride * index[i];
        row[0] = x[i], row[1] = y[i], row[2] = z[i];
    }
#endif
}

// ---------------------------------------------------------------------------------------------------------------------
// Eight rows of four floats that follow each other, 16-byte aligned. Lanes are the even rows, then the odd ones, from
// lane `first` on: so rows come in pairs, and a transpose needs no step across the halves of a register.

static inline int snwWide_NextRow(int lane)
{
    return lane < 4 ? 2 * lane : 2 * lane - 7;
}

// Transposed, so that x holds all first entries.
static inline void snwWide_LoadNext4(const float* rows, int first, snwWide* x, snwWide* y, snwWide* z, snwWide* w)
{
#if defined(SNW_WIDE_AVX2)
    (void)first;
    __m256 a = _mm256_loadu_ps(rows), b = _mm256_loadu_ps(rows + 8);
    __m256 c = _mm256_loadu_ps(rows + 16), d = _mm256_loadu_ps(rows + 24);
    __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    __m256 AB = _mm256_unpackhi_ps(a, b), CD = _mm256_unpackhi_ps(c, d);
    *x = (snwWide)_mm256_shuffle_ps(ab, cd, _MM_SHUFFLE(1, 0, 1, 0));
    *y = (snwWide)_mm256_shuffle_ps(ab, cd, _MM_SHUFFLE(3, 2, 3, 2));
    *z = (snwWide)_mm256_shuffle_ps(AB, CD, _MM_SHUFFLE(1, 0, 1, 0));
    *w = (snwWide)_mm256_shuffle_ps(AB, CD, _MM_SHUFFLE(3, 2, 3, 2));
#else
    const int index[4] = {0, 2, 4, 6};
    snwWide_Load4(rows + 4 * (long)snwWide_NextRow(first), index, x, y, z, w);
#endif
}

// Likewise, of rows of a place and a move: (first two entries - (x0, y0)) + last two.
static inline void snwWide_LoadNext2(const float* rows, int first, float x0, float y0, snwWide* x, snwWide* y)
{
#if defined(SNW_WIDE_AVX2)
    (void)first;
    const __m256 origin = _mm256_setr_ps(x0, y0, x0, y0, x0, y0, x0, y0);
    __m256d a = _mm256_castps_pd(_mm256_loadu_ps(rows)), b = _mm256_castps_pd(_mm256_loadu_ps(rows + 8));
    __m256d c = _mm256_castps_pd(_mm256_loadu_ps(rows + 16)), d = _mm256_castps_pd(_mm256_loadu_ps(rows + 24));
    __m256 ab = _mm256_sub_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), origin);
    __m256 cd = _mm256_sub_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(c, d)), origin);
    ab = _mm256_add_ps(ab, _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
    cd = _mm256_add_ps(cd, _mm256_castpd_ps(_mm256_unpackhi_pd(c, d)));
    *x = (snwWide)_mm256_shuffle_ps(ab, cd, _MM_SHUFFLE(2, 0, 2, 0));
    *y = (snwWide)_mm256_shuffle_ps(ab, cd, _MM_SHUFFLE(3, 1, 3, 1));
#else
    snwWide z, w;
    snwWide_LoadNext4(rows, first, x, y, &z, &w);
    *x = (*x - x0) + z, *y = (*y - y0) + w;
#endif
}

#if defined(SNW_WIDE_AVX2)

static inline void snwWide_AddPair(float* rows, __m256d pairs)
{
    _mm256_storeu_ps(rows, _mm256_add_ps(_mm256_loadu_ps(rows), _mm256_castpd_ps(pairs)));
}

#endif

// Adds to the first or, if `last`, to the last two entries of each row: the others stay.
static inline __attribute__((always_inline)) void snwWide_AddNext2(
    float* rows, int first, int last, snwWide x, snwWide y)
{
#if defined(SNW_WIDE_AVX2)
    (void)first;
    const __m256d none = _mm256_castps_pd(_mm256_set1_ps(-0.0f)); // +0 would turn -0 into +0
    __m256d low = _mm256_castps_pd(_mm256_unpacklo_ps((__m256)x, (__m256)y));
    __m256d high = _mm256_castps_pd(_mm256_unpackhi_ps((__m256)x, (__m256)y));
    snwWide_AddPair(rows, last ? _mm256_unpacklo_pd(none, low) : _mm256_unpacklo_pd(low, none));
    snwWide_AddPair(rows + 8, last ? _mm256_unpackhi_pd(none, low) : _mm256_unpackhi_pd(low, none));
    snwWide_AddPair(rows + 16, last ? _mm256_unpacklo_pd(none, high) : _mm256_unpacklo_pd(high, none));
    snwWide_AddPair(rows + 24, last ? _mm256_unpackhi_pd(none, high) : _mm256_unpackhi_pd(high, none));
#else
    for (int i = 0; i < SNW_WIDE_LANES; i++)
    {
        float* row = rows + 4 * (long)snwWide_NextRow(first + i) + (last ? 2 : 0);
        row[0] += x[i], row[1] += y[i];
    }
#endif
}

#if defined(SNW_WIDE_AVX2)

// Numbers of eight lanes as four pairs of rows.
static inline __attribute__((always_inline)) void snwWide_ToNextPairs(
    snwWide x, snwWide y, snwWide z, snwWide w, __m256 pairs[4])
{
    __m256 xy = _mm256_unpacklo_ps((__m256)x, (__m256)y), zw = _mm256_unpacklo_ps((__m256)z, (__m256)w);
    __m256 XY = _mm256_unpackhi_ps((__m256)x, (__m256)y), ZW = _mm256_unpackhi_ps((__m256)z, (__m256)w);
    pairs[0] = _mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(1, 0, 1, 0));
    pairs[1] = _mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(3, 2, 3, 2));
    pairs[2] = _mm256_shuffle_ps(XY, ZW, _MM_SHUFFLE(1, 0, 1, 0));
    pairs[3] = _mm256_shuffle_ps(XY, ZW, _MM_SHUFFLE(3, 2, 3, 2));
}

#endif

// Adds to all entries of each row.
static inline __attribute__((always_inline)) void snwWide_AddNext4(
    float* rows, int first, snwWide x, snwWide y, snwWide z, snwWide w)
{
#if defined(SNW_WIDE_AVX2)
    (void)first;
    __m256 pairs[4];
    snwWide_ToNextPairs(x, y, z, w, pairs);
    for (int i = 0; i < 4; i++)
        _mm256_storeu_ps(rows + 8 * i, _mm256_add_ps(_mm256_loadu_ps(rows + 8 * i), pairs[i]));
#else
    snwRow changes[SNW_WIDE_LANES];
    snwWide_ToRows(x, y, z, w, changes);
    for (int i = 0; i < SNW_WIDE_LANES; i++)
        *(snwRow*)(rows + 4 * (long)snwWide_NextRow(first + i)) += changes[i];
#endif
}

// Likewise, in place of what is there.
static inline __attribute__((always_inline)) void snwWide_StoreNext4(
    float* rows, int first, snwWide x, snwWide y, snwWide z, snwWide w)
{
#if defined(SNW_WIDE_AVX2)
    (void)first;
    __m256 pairs[4];
    snwWide_ToNextPairs(x, y, z, w, pairs);
    for (int i = 0; i < 4; i++)
        _mm256_storeu_ps(rows + 8 * i, pairs[i]);
#else
    snwRow all[SNW_WIDE_LANES];
    snwWide_ToRows(x, y, z, w, all);
    for (int i = 0; i < SNW_WIDE_LANES; i++)
        *(snwRow*)(rows + 4 * (long)snwWide_NextRow(first + i)) = all[i];
#endif
}

// Sums over eight lanes of four numbers, each in as many vectors as these take; always in the same order.
static inline snwRow snwWide_SumLanes(const snwWide (*numbers)[8 / SNW_WIDE_LANES])
{
#if defined(SNW_WIDE_AVX2)
    __m256 a = (__m256)numbers[0][0], b = (__m256)numbers[1][0], c = (__m256)numbers[2][0], d = (__m256)numbers[3][0];
    __m256 ab = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    __m256 cd = _mm256_add_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    __m256 halves = _mm256_add_ps(
        _mm256_shuffle_ps(ab, cd, _MM_SHUFFLE(1, 0, 1, 0)), _mm256_shuffle_ps(ab, cd, _MM_SHUFFLE(3, 2, 3, 2)));
    return (snwRow)_mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1));
#else
    snwRow sums;
    for (int i = 0; i < 4; i++)
    {
        float v[8];
        for (int l = 0; l < 8; l++)
            v[l] = numbers[i][l / SNW_WIDE_LANES][l % SNW_WIDE_LANES];
        sums[i] = ((v[0] + v[2]) + (v[1] + v[3])) + ((v[4] + v[6]) + (v[5] + v[7]));
    }
    return sums;
#endif
}
