// Error of the rotation kernels against the reference in double, over classes of matrices and of guesses.

#include "kernels_measure.h"

#include "math/eigen.h"
#include "math/rotation.h"

#include <string.h>

enum
{
    SNW_BATCH_BLOCKS = 64
};

const char* snwPolarClass_Name(snwPolarClass kind)
{
    static const char* const names[] = {
        "random", "nearly-singular", "inverted", "rank-2", "rank-1", "rank-0", "scaled-1e15", "scaled-1e-15"};
    return names[kind];
}

const char* snwPolarGuess_Name(snwPolarGuess guess)
{
    static const char* const names[] = {"right", "stale", "wrong"};
    return names[guess];
}

// ---------------------------------------------------------------------------------------------------------------------
// Random numbers

static double Uniform(uint64_t* seed)
{
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53;
}

static double Between(uint64_t* seed, double low, double high)
{
    return low + (high - low) * Uniform(seed);
}

static int Pick(uint64_t* seed, int count)
{
    return (int)(Uniform(seed) * count);
}

// Standard normal (Marsaglia's polar method).
static double Normal(uint64_t* seed)
{
    for (;;)
    {
        double x = Between(seed, -1, 1), y = Between(seed, -1, 1), r = x * x + y * y;
        if (r > 0 && r < 1)
            return x * sqrt(-2 * log(r) / r);
    }
}

static snwQuat RandomQuat(uint64_t* seed)
{
    snwQuat q;
    q.x = Normal(seed), q.y = Normal(seed), q.z = Normal(seed), q.w = Normal(seed);
    return snwQuat_Normalize(q);
}

static snwVec3 RandomVector(uint64_t* seed)
{
    snwVec3 v;
    v.x = Normal(seed), v.y = Normal(seed), v.z = Normal(seed);
    return v;
}

// Small integers: sums of a few products of them are exact in float.
static snwVec3 RandomIntegers(uint64_t* seed)
{
    snwVec3 v;
    v.x = Pick(seed, 33) - 16, v.y = Pick(seed, 33) - 16, v.z = Pick(seed, 33) - 16;
    return v;
}

// ---------------------------------------------------------------------------------------------------------------------
// Matrices

static snwMat3 WithSigma(uint64_t* seed, double s0, double s1, double s2)
{
    snwMat3 U = snwQuat_ToMat3(RandomQuat(seed)), V = snwQuat_ToMat3(RandomQuat(seed));
    return snwMat3_MulTranspose(snwMat3_Mul(U, snwMat3_Diagonal(s0, s1, s2)), V);
}

static snwMat3 Gaussian(uint64_t* seed)
{
    snwVec3 a = RandomVector(seed), b = RandomVector(seed), c = RandomVector(seed);
    return snwMat3_FromColumns(a, b, c);
}

static snwMat3 NearlySingular(uint64_t* seed)
{
    double small = pow(10, Between(seed, -8, -2)) * (Pick(seed, 2) ? 1 : -1);
    double middle = Pick(seed, 2) ? Between(seed, 0.1, 1) : pow(10, Between(seed, -5, 0));
    return WithSigma(seed, 1, fmax(middle, fabs(small)), small);
}

static snwMat3 Inverted(uint64_t* seed)
{
    double largest = Between(seed, 0.5, 2), middle = Between(seed, 0.1, 1) * largest;
    double ratio = Pick(seed, 2) ? Uniform(seed) : 1 - pow(10, Between(seed, -4, 0));
    return WithSigma(seed, largest, middle, -ratio * middle);
}

// Each random number in a statement of its own: the order of arguments is the compiler's.
static snwMat3 RankTwo(uint64_t* seed)
{
    snwVec3 zero = {0, 0, 0}, a = RandomVector(seed), b = RandomVector(seed);
    snwVec3 i = RandomIntegers(seed), j = RandomIntegers(seed), k = RandomIntegers(seed), l = RandomIntegers(seed);
    switch (Pick(seed, 5))
    {
        case 0:
            return snwMat3_FromColumns(a, b, zero);
        case 1:
            return snwMat3_FromColumns(a, b, a);
        case 2:
            return snwMat3_Transpose(snwMat3_FromColumns(b, zero, a));
        case 3:
            return snwMat3_Add(snwMat3_Outer(i, j), snwMat3_Outer(k, l));
        default:
            return WithSigma(seed, 1, Uniform(seed), 0);
    }
}

static snwMat3 RankOne(uint64_t* seed)
{
    snwVec3 zero = {0, 0, 0}, a = RandomVector(seed), b = RandomVector(seed);
    snwVec3 i = RandomIntegers(seed), j = RandomIntegers(seed);
    switch (Pick(seed, 4))
    {
        case 0:
            return snwMat3_FromColumns(zero, a, zero);
        case 1:
            return snwMat3_FromColumns(a, a, a);
        case 2:
            return snwMat3_Outer(i, j);
        default:
            return snwMat3_Outer(a, b);
    }
}

static snwMat3 SampleMatrix(snwPolarClass kind, uint64_t* seed)
{
    switch (kind)
    {
        case snw_polarNearlySingular:
            return NearlySingular(seed);
        case snw_polarInverted:
            return Inverted(seed);
        case snw_polarRankTwo:
            return RankTwo(seed);
        case snw_polarRankOne:
            return RankOne(seed);
        case snw_polarRankZero:
            return snwMat3_Scale(Gaussian(seed), 0); // zeros of both signs
        case snw_polarLarge:
            return snwMat3_Scale(Gaussian(seed), 1e15);
        case snw_polarSmall:
            return snwMat3_Scale(Gaussian(seed), 1e-15);
        default:
            return Gaussian(seed);
    }
}

void snwPolarClass_Sample(snwPolarClass kind, uint64_t* seed, float F[9])
{
    snwMat3 m = SampleMatrix(kind, seed);
    for (int i = 0; i < 9; i++)
        F[i] = (float)m.m[i / 3][i % 3];
}

// ---------------------------------------------------------------------------------------------------------------------
// Guesses

static snwQuat WrongGuess(uint64_t* seed, snwQuat truth)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double* axis = axes[Pick(seed, 3)];
    switch (Pick(seed, 6))
    {
        case 0:
            return (snwQuat){0, 0, 0, 0};
        case 1:
            return (snwQuat){NAN, 0, 0, 1};
        case 2:
            return snwQuat_Mul(truth, (snwQuat){axis[0], axis[1], axis[2], 0}); // half a turn about an axis
        case 3:
            return snwQuat_Scale(RandomQuat(seed), pow(10, Between(seed, -20, 20)));
        default:
            return RandomQuat(seed);
    }
}

static snwQuat SampleGuess(snwPolarGuess guess, uint64_t* seed, snwQuat truth)
{
    switch (guess)
    {
        case snw_guessStale:
        {
            snwVec3 axis = RandomVector(seed);
            return snwQuat_Mul(truth, snwQuat_FromAxisAngle(axis, Between(seed, 0.1, 0.5)));
        }
        case snw_guessWrong:
            return WrongGuess(seed, truth);
        default:
            return truth;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Batches: matrices with their reference, through the kernels and back

typedef struct Batch
{
    int count;
    snwMat3Block F[SNW_BATCH_BLOCKS], R[SNW_BATCH_BLOCKS];
    snwQuatBlock guess[SNW_BATCH_BLOCKS], q[SNW_BATCH_BLOCKS];
    snwSvdBlock svd[SNW_BATCH_BLOCKS];
    snwPolar3 reference[SNW_BATCH_BLOCKS * 8];
    snwQuat truth[SNW_BATCH_BLOCKS * 8];
} Batch;

static snwMat3 LaneMatrix(const snwMat3Block* m, int i)
{
    snwMat3 out;
    for (int k = 0; k < 9; k++)
        out.m[k / 3][k % 3] = m[i / 8].m[k][i % 8];
    return out;
}

static snwQuat LaneQuat(const snwQuatBlock* q, int i)
{
    const float(*b)[8] = q[i / 8].q;
    return (snwQuat){b[0][i % 8], b[1][i % 8], b[2][i % 8], b[3][i % 8]};
}

static void FillBatch(Batch* batch, snwPolarClass kind, snwPolarGuess guess, int64_t count, uint64_t* seed)
{
    batch->count = count < SNW_BATCH_BLOCKS * 8 ? (int)count : SNW_BATCH_BLOCKS * 8;
    memset(batch->F, 0, sizeof batch->F);
    memset(batch->guess, 0, sizeof batch->guess);
    for (int i = 0; i < batch->count; i++)
    {
        float F[9];
        snwPolarClass_Sample(kind, seed, F);
        for (int k = 0; k < 9; k++)
            batch->F[i / 8].m[k][i % 8] = F[k];
        batch->reference[i] = snwPolar3_Compute(LaneMatrix(batch->F, i));
        batch->truth[i] = snwQuat_FromMat3(batch->reference[i].rotation);
        // Every rotation is right for zero: take any.
        snwQuat q = SampleGuess(guess, seed, kind == snw_polarRankZero ? RandomQuat(seed) : batch->truth[i]);
        batch->guess[i / 8].q[0][i % 8] = (float)q.x;
        batch->guess[i / 8].q[1][i % 8] = (float)q.y;
        batch->guess[i / 8].q[2][i % 8] = (float)q.z;
        batch->guess[i / 8].q[3][i % 8] = (float)q.w;
    }
    memcpy(batch->q, batch->guess, sizeof batch->q);
}

// What the kernels are to answer for F = 0.
static snwQuat KeptGuess(const Batch* batch, int i)
{
    snwQuat q = LaneQuat(batch->guess, i);
    double length = sqrt(snwQuat_Dot(q, q));
    return length > 1e-15 && length < 1e15 ? snwQuat_Normalize(q) : snwQuat_Identity();
}

static double OrthonormalError(snwMat3 R)
{
    return snwMat3_LargestEntry(snwMat3_Sub(snwMat3_TransposeMul(R, R), snwMat3_Identity()));
}

// fmax would drop a NaN; this keeps it, as the worst of all.
static double Worse(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static void AddRotation(const Batch* batch, int i, snwPolarError* out)
{
    snwQuat q = LaneQuat(batch->q, i);
    snwMat3 R = LaneMatrix(batch->R, i);
    double unit = fabs(sqrt(snwQuat_Dot(q, q)) - 1);
    out->orthonormal = Worse(out->orthonormal, Worse(unit, OrthonormalError(R)));
    bool zero = batch->reference[i].sigma[0] == 0;
    const double* sigma = batch->reference[i].sigma;
    double trace = snwMat3_Trace(snwMat3_TransposeMul(R, LaneMatrix(batch->F, i)));
    out->shortfall = Worse(out->shortfall, zero ? 0 : (sigma[0] + sigma[1] + sigma[2] - trace) / sigma[0]);
    double sensitivity = 1 / batch->reference[i].uniqueness;
    if (!zero && !(sensitivity <= SNW_POLAR_UNIQUE))
    {
        out->notUnique++;
        return;
    }
    snwMat3 truth = zero ? snwQuat_ToMat3(KeptGuess(batch, i)) : batch->reference[i].rotation;
    // |R - truth| is 2 sqrt(2) sin(angle / 2): so close to the truth the angle itself.
    double error = snwMat3_Norm(snwMat3_Sub(R, truth)) / sqrt(2);
    error = Worse(error, snwQuat_Angle(snwQuat_Normalize(q), snwQuat_FromMat3(truth)));
    double conditioned = zero ? error : error / fmax(1, SNW_POLAR_GRANTED * sensitivity);
    out->raw = Worse(out->raw, error);
    if (zero || sensitivity < 10)
        out->tame = Worse(out->tame, error);
    if (Worse(out->conditioned, conditioned) == out->conditioned)
        return;
    out->conditioned = conditioned;
    snwMat3 F = LaneMatrix(batch->F, i);
    memcpy(out->worstCase, F.m, sizeof out->worstCase);
}

snwPolarError snwMeasurePolarError(snwSimd simd, snwPolarClass kind, snwPolarGuess guess, int64_t count, uint64_t seed)
{
    const snwRotationKernels* kernels = snwRotation_Kernels(simd);
    snwPolarError out = {.count = count};
    seed = seed * 0x9e3779b97f4a7c15u + 0x1234567u;
    for (int64_t done = 0; done < count;)
    {
        Batch batch;
        FillBatch(&batch, kind, guess, count - done, &seed);
        snwRotationReport report = kernels->extract(SNW_BATCH_BLOCKS, batch.F, batch.q, batch.R);
        out.robust += report.robust;
        out.notFinite += report.notFinite;
        for (int i = 0; i < batch.count; i++)
            AddRotation(&batch, i, &out);
        done += batch.count;
    }
    return out;
}

static void AddSvd(const Batch* batch, int i, snwSvdError* out)
{
    const snwSvdBlock* block = &batch->svd[i / 8];
    double sigma[3];
    snwMat3 U, V, F = LaneMatrix(batch->F, i);
    for (int k = 0; k < 9; k++)
    {
        U.m[k / 3][k % 3] = block->U.m[k][i % 8];
        V.m[k / 3][k % 3] = block->V.m[k][i % 8];
    }
    for (int k = 0; k < 3; k++)
        sigma[k] = block->sigma.v[k][i % 8];
    double scale = batch->reference[i].sigma[0] > 0 ? 1 / batch->reference[i].sigma[0] : 1;
    snwMat3 rebuilt = snwMat3_MulTranspose(snwMat3_Mul(U, snwMat3_Diagonal(sigma[0], sigma[1], sigma[2])), V);
    out->reconstruction = Worse(out->reconstruction, scale * snwMat3_LargestEntry(snwMat3_Sub(rebuilt, F)));
    out->orthonormal = Worse(out->orthonormal, Worse(OrthonormalError(U), OrthonormalError(V)));
    for (int k = 0; k < 3; k++)
        out->sigma = Worse(out->sigma, scale * fabs(sigma[k] - batch->reference[i].sigma[k]));
    bool proper = snwMat3_Determinant(U) > 0.99 && snwMat3_Determinant(V) > 0.99;
    out->disorder += !(proper && sigma[0] >= sigma[1] && sigma[1] >= fabs(sigma[2]));
}

snwSvdError snwMeasureSvdError(snwSimd simd, snwPolarClass kind, snwPolarGuess guess, int64_t count, uint64_t seed)
{
    const snwRotationKernels* kernels = snwRotation_Kernels(simd);
    snwSvdError out = {.count = count};
    seed = seed * 0x9e3779b97f4a7c15u + 0x1234567u;
    for (int64_t done = 0; done < count;)
    {
        Batch batch;
        FillBatch(&batch, kind, guess, count - done, &seed);
        kernels->svd(SNW_BATCH_BLOCKS, batch.F, batch.q, batch.svd);
        for (int i = 0; i < batch.count; i++)
            AddSvd(&batch, i, &out);
        done += batch.count;
    }
    return out;
}
