// The local step of articulated projective dynamics: kernels against plain formulas in double, those against finite
// differences of their energy, and bit for bit between instruction sets.

#include "test.h"

#include "math/cpu.h"
#include "math/eigen.h"
#include "sim/laws.h"
#include "sim/apd/elastic.h"

#include <stdlib.h>

static const char* const s_lawNames[] = {"strain", "volume", "corotated", "neo"};

// ---------------------------------------------------------------------------------------------------------------------
// The oracle

typedef struct Stretch
{
    double s[3], distance2;
} Stretch;

static double Miss(const double sigma[3], double a, double b, double s[3])
{
    s[0] = exp(a), s[1] = exp(b), s[2] = exp(-a - b);
    double sum = 0;
    for (int i = 0; i < 3; ++i)
        sum += (s[i] - sigma[i]) * (s[i] - sigma[i]);
    return sum;
}

// Descent from one start in the logarithms of two stretches: Newton where that goes down, else along the gradient.
static Stretch Descend(const double sigma[3], double a, double b)
{
    Stretch out;
    out.distance2 = Miss(sigma, a, b, out.s);
    for (int step = 0; step < 200; ++step)
    {
        const double* s = out.s;
        double g[3], h[3], next[3];
        for (int i = 0; i < 3; ++i)
        {
            g[i] = 2 * s[i] * (s[i] - sigma[i]);
            h[i] = 2 * s[i] * (2 * s[i] - sigma[i]);
        }
        double ga = g[0] - g[2], gb = g[1] - g[2], haa = h[0] + h[2], hbb = h[1] + h[2], hab = h[2];
        double det = haa * hbb - hab * hab, da = -(ga * hbb - gb * hab) / det, db = -(haa * gb - hab * ga) / det;
        if (!(det > 0 && haa > 0))
            da = -ga / (fabs(haa) + fabs(hab)), db = -gb / (fabs(hbb) + fabs(hab));
        double scale = fmin(1, 1 / fmax(fabs(da), fabs(db))), value = INFINITY;
        for (int half = 0; half < 60; ++half, scale *= 0.5)
        {
            value = Miss(sigma, a + scale * da, b + scale * db, next);
            if (value <= out.distance2)
                break;
        }
        if (!(value < out.distance2) && step > 3)
            break;
        a += scale * da, b += scale * db;
        out.distance2 = Miss(sigma, a, b, out.s);
    }
    return out;
}

// The closest stretches of product 1, by descent from many starts.
static Stretch ClosestStretches(const double sigma[3])
{
    double l0 = log(fmax(sigma[0], 1e-3)), l1 = log(fmax(sigma[1], 1e-3)), l2 = log(fmax(sigma[2], 1e-3));
    double mean = (l0 + l1 + l2) / 3, starts[][2] = {{l0 - mean, l1 - mean}, {l0, l1}, {0, 0}, {l0, -l0 / 2},
                                          {l0, -l0 - l2}, {l0, l0}, {1, 0.5}, {l0, l1 - 1}, {l0 - 0.3, l1 - 0.3}};
    Stretch best = {.distance2 = INFINITY};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; ++i)
    {
        Stretch one = Descend(sigma, starts[i][0], starts[i][1]);
        if (one.distance2 < best.distance2)
            best = one;
    }
    return best;
}

typedef struct Oracle
{
    double energy, sensitivity; // sensitivity: how much a change of F turns its rotation
    snwMat3 stress, rotation;
} Oracle;

static double Square(snwMat3 a)
{
    return snwMat3_Norm(a) * snwMat3_Norm(a);
}

static Oracle EvaluateNeo(snwMat3 F, double shear, double bulk)
{
    double mu = shear / 2, j = snwMat3_Determinant(F), most = bulk + mu;
    snwVec3 a = snwMat3_Column(F, 0), b = snwMat3_Column(F, 1), c = snwMat3_Column(F, 2);
    snwMat3 cof = snwMat3_FromColumns(snwVec3_Cross(b, c), snwVec3_Cross(c, a), snwVec3_Cross(a, b));
    return (Oracle){.energy = mu / 2 * (Square(F) - 3) - mu * (j - 1) + most / 2 * (j - 1) * (j - 1),
        .stress = snwMat3_Add(snwMat3_Scale(F, mu), snwMat3_Scale(cof, most * (j - 1) - mu)),
        .rotation = snwMat3_Identity(),
        .sensitivity = 1};
}

static Oracle Evaluate(snwElasticLaw law, snwMat3 F, double shear, double bulk)
{
    snwPolar3 polar = snwPolar3_Compute(F);
    snwMat3 R = polar.rotation, off = snwMat3_Sub(F, R);
    Oracle out = {.rotation = R, .sensitivity = 1 / polar.uniqueness};
    if (law == snw_elasticNeo)
        return EvaluateNeo(F, shear, bulk);
    out.energy = 0.5 * shear * Square(off);
    out.stress = snwMat3_Scale(off, shear);
    if (law == snw_elasticCorotated)
    {
        double t = snwMat3_Trace(snwMat3_TransposeMul(R, F)) - 3;
        out.energy += 0.5 * bulk * t * t;
        out.stress = snwMat3_Add(out.stress, snwMat3_Scale(R, bulk * t));
    }
    if (law == snw_elasticVolume)
    {
        snwSvd3 svd = snwSvd3_Signed(F);
        Stretch p = ClosestStretches(svd.sigma);
        snwMat3 P = snwMat3_Mul(svd.U, snwMat3_MulTranspose(snwMat3_Diagonal(p.s[0], p.s[1], p.s[2]), svd.V));
        out.energy += 0.5 * bulk * p.distance2;
        out.stress = snwMat3_Add(out.stress, snwMat3_Scale(snwMat3_Sub(F, P), bulk));
    }
    return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// Deformations

static double Signed(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

static snwMat3 RandomMatrix(uint64_t* seed, double size)
{
    snwMat3 m;
    for (int i = 0; i < 9; ++i)
        m.m[i / 3][i % 3] = size * Signed(seed);
    return m;
}

static snwMat3 RandomRotation(uint64_t* seed)
{
    double x = Signed(seed), y = Signed(seed), z = Signed(seed), w = Signed(seed);
    return snwQuat_ToMat3(snwQuat_Normalize((snwQuat){x, y, z, w}));
}

typedef enum Kind
{
    snw_deformSmall,    // a per cent
    snw_deformLarge,    // a third
    snw_deformInverted, // one direction turned inside out
    snw_deformWild,     // anything
    snw_deformCount
} Kind;

static snwMat3 Deformation(Kind kind, uint64_t* seed)
{
    snwMat3 Q = RandomRotation(seed), I = snwMat3_Identity();
    switch (kind)
    {
        case snw_deformSmall:
            return snwMat3_Mul(Q, snwMat3_Add(I, RandomMatrix(seed, 0.01)));
        case snw_deformLarge:
            return snwMat3_Mul(Q, snwMat3_Add(I, RandomMatrix(seed, 0.35)));
        case snw_deformInverted:
        {
            double s = -0.05 - 0.5 * snwTest_Random(seed);
            snwMat3 V = RandomRotation(seed), S = snwMat3_Diagonal(1.3 + 0.4 * Signed(seed), 0.8, s);
            return snwMat3_Mul(Q, snwMat3_MulTranspose(S, V));
        }
        default:
            return RandomMatrix(seed, 2);
    }
}

// Energy and stress are not smooth where the rotation or the closest stretches jump.
static bool IsSmooth(snwElasticLaw law, snwMat3 F)
{
    snwSvd3 svd = snwSvd3_Signed(F);
    bool turns = svd.sigma[1] + svd.sigma[2] > 0.2;
    if (law == snw_elasticNeo)
        return true;
    return law != snw_elasticVolume ? turns : turns && svd.sigma[0] * svd.sigma[1] * svd.sigma[2] < 2;
}

TEST(elastic, oracleStressIsTheGradientOfItsEnergy)
{
    uint64_t seed = 7;
    int compared = 0;
    for (int i = 0; i < snw_elasticLawCount * snw_deformCount * 40; ++i)
    {
        snwElasticLaw law = (snwElasticLaw)(i % snw_elasticLawCount);
        snwMat3 F = Deformation((Kind)(i / snw_elasticLawCount % snw_deformCount), &seed),
                direction = RandomMatrix(&seed, 1);
        if (!IsSmooth(law, F))
            continue;
        const double step = 1e-5, shear = 3, bulk = 5;
        double up = Evaluate(law, snwMat3_Add(F, snwMat3_Scale(direction, step)), shear, bulk).energy;
        double down = Evaluate(law, snwMat3_Add(F, snwMat3_Scale(direction, -step)), shear, bulk).energy;
        double along = snwMat3_Trace(snwMat3_TransposeMul(Evaluate(law, F, shear, bulk).stress, direction));
        CHECK_NEAR((up - down) / (2 * step), along, 2e-7 * (1 + fabs(along)));
        ++compared;
    }
    CHECK(compared > 400);
}

// ---------------------------------------------------------------------------------------------------------------------
// Tetrahedra for the kernels

typedef struct Soup
{
    int tetCount, blockCount, vertexCount;
    snwRestTetBlock* tets;
    snwElasticWeights* weights;
    snwQuatBlock* rotations;
    snwStretchBlock* start;
    float *positions, *before, *forces, *unused;
} Soup;

static void* Zeros(size_t bytes)
{
    void* p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(p, 0, bytes);
    return p;
}

static Soup MakeSoup(int tetCount, int vertexCount)
{
    Soup s = {.tetCount = tetCount, .blockCount = (tetCount + 7) / 8, .vertexCount = vertexCount};
    s.tets = Zeros((size_t)s.blockCount * sizeof *s.tets);
    s.weights = Zeros((size_t)s.blockCount * sizeof *s.weights);
    s.rotations = Zeros((size_t)s.blockCount * sizeof *s.rotations);
    s.positions = Zeros((size_t)vertexCount * 16);
    s.before = Zeros((size_t)vertexCount * 16);
    s.forces = Zeros((size_t)vertexCount * 16);
    s.unused = Zeros((size_t)vertexCount * 16);
    s.start = Zeros((size_t)s.blockCount * sizeof *s.start);
    return s;
}

static void FreeSoup(Soup* s)
{
    void* all[] = {s->tets, s->weights, s->rotations, s->start, s->positions, s->before, s->forces, s->unused};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
        free(all[i]);
}

// A corner tetrahedron of random shape at vertices first .. first + 3, deformed by F.
static void SetTet(Soup* s, int t, int first, snwMat3 F, uint64_t* seed)
{
    snwMat3 edges = snwMat3_Add(snwMat3_Diagonal(1, 1, 1), RandomMatrix(seed, 0.2)), inverse, now;
    REQUIRE(snwMat3_Inverse(edges, &inverse));
    now = snwMat3_Mul(F, edges);
    snwVec3 origin = {Signed(seed), Signed(seed), Signed(seed)};
    for (int c = 0; c < 4; ++c)
    {
        snwVec3 x = c == 0 ? origin : snwVec3_Add(origin, snwMat3_Column(now, c - 1));
        float* row = s->positions + 4 * (first + c);
        row[0] = (float)x.x, row[1] = (float)x.y, row[2] = (float)x.z;
        s->tets[t / 8].index[c][t % 8] = first + c;
    }
    for (int i = 0; i < 9; ++i)
        s->tets[t / 8].inverseRest[i][t % 8] = (float)inverse.m[i / 3][i % 3];
    s->weights[t / 8].shear[t % 8] = (float)(1 + snwTest_Random(seed));
    s->weights[t / 8].bulk[t % 8] = (float)(1 + 5 * snwTest_Random(seed));
    s->weights[t / 8].damping[t % 8] = (float)(0.5 * snwTest_Random(seed));
}

static snwMat3 Gradient(const Soup* s, const float* positions, int t)
{
    snwMat3 edges, inverse;
    const float* x0 = positions + 4 * s->tets[t / 8].index[0][t % 8];
    for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
            edges.m[r][c] = (double)positions[4 * s->tets[t / 8].index[c + 1][t % 8] + r] - (double)x0[r];
    for (int i = 0; i < 9; ++i)
        inverse.m[i / 3][i % 3] = s->tets[t / 8].inverseRest[i][t % 8];
    return snwMat3_Mul(edges, inverse);
}

// damped: against the strains at `before`.
static snwElasticEnergy RunBoth(snwSimd simd, snwElasticLaw law, Soup* s, bool damped)
{
    snwElasticTask task = {.law = law,
        .tets = s->tets,
        .weights = s->weights,
        .positions = s->before,
        .start = damped ? s->start : NULL,
        .isStart = true,
        .rotations = s->rotations,
        .forces = s->unused};
    if (damped)
        snwElastic_Kernels(simd)->addForces(&task, 0, s->blockCount);
    task.isStart = false;
    task.positions = s->positions;
    task.forces = s->forces;
    return snwElastic_Kernels(simd)->addForces(&task, 0, s->blockCount);
}

static double Run(snwSimd simd, snwElasticLaw law, Soup* s, bool damped)
{
    snwElasticEnergy energy = RunBoth(simd, law, s, damped);
    return energy.elastic + energy.damping;
}

static snwVec3 Force(const Soup* s, int vertex)
{
    const float* f = s->forces + 4 * vertex;
    return (snwVec3){f[0], f[1], f[2]};
}

// What the stress of tetrahedron t puts on its corner.
static snwVec3 CornerForce(const Soup* s, snwMat3 stress, int t, int corner)
{
    snwMat3 inverse;
    for (int i = 0; i < 9; ++i)
        inverse.m[i / 3][i % 3] = s->tets[t / 8].inverseRest[i][t % 8];
    snwMat3 H = snwMat3_MulTranspose(stress, inverse);
    snwVec3 sum = {0, 0, 0};
    for (int c = 0; c < 3; ++c)
        sum = snwVec3_Add(sum, snwMat3_Column(H, c));
    return corner == 0 ? sum : snwVec3_Negate(snwMat3_Column(H, corner - 1));
}

// Largest error of a corner's force, over weight, stretch and what the rotation's sensitivity grants.
static double ForceError(const Soup* s, int t, snwMat3 F, const Oracle* exact, double weight)
{
    double worst = 0, scale = weight * fmax(1, snwMat3_Norm(F)) * fmax(1, 0.03 * exact->sensitivity);
    for (int c = 0; c < 4; ++c)
        worst = fmax(worst, snwVec3_Distance(Force(s, 4 * t + c), CornerForce(s, exact->stress, t, c)) / scale);
    return worst;
}

static void CompareWithOracle(snwElasticLaw law, Kind kind)
{
    uint64_t seed = 11 + (uint64_t)kind;
    Soup s = MakeSoup(800, 3200);
    for (int t = 0; t < s.tetCount; ++t)
        SetTet(&s, t, 4 * t, Deformation(kind, &seed), &seed);
    double energy = Run(snw_simdAuto, law, &s, false), expected = 0, worst = 0;
    int compared = 0;
    for (int t = 0; t < s.tetCount; ++t)
    {
        double shear = s.weights[t / 8].shear[t % 8], bulk = s.weights[t / 8].bulk[t % 8];
        snwMat3 F = Gradient(&s, s.positions, t);
        Oracle exact = Evaluate(law, F, shear, bulk);
        expected += exact.energy;
        if (!IsSmooth(law, F))
            continue;
        worst = fmax(worst, ForceError(&s, t, F, &exact, shear + bulk));
        ++compared;
    }
    if (!(worst <= 1e-5) || !(fabs(energy - expected) <= 1e-5 * expected))
        snwTest_Fail(__FILE__, __LINE__, "%s, kind %d: force %.3g, energy %.9g for %.9g", s_lawNames[law], kind, worst,
            energy, expected);
    CHECK(compared > s.tetCount / 3);
    FreeSoup(&s);
}

TEST(elastic, forcesAndEnergyAreThoseOfTheOracle)
{
    for (int law = 0; law < snw_elasticLawCount; ++law)
        for (int kind = 0; kind < snw_deformCount; ++kind)
            CompareWithOracle((snwElasticLaw)law, (Kind)kind);
}

// ---------------------------------------------------------------------------------------------------------------------
// The closest matrix of determinant 1

// sigma1 >= sigma2 >= |sigma3|
static void SampleSigma(int i, uint64_t* seed, double sigma[3])
{
    static const double extremes[] = {0, 1e-6, 0.01, 0.5, 1, 1.5, 1.8, 1.88, 1.8903, 1.895, 1.91, 2, 2.5, 10, 1000};
    const int count = (int)(sizeof extremes / sizeof extremes[0]);
    for (int k = 0; k < 3; ++k)
    {
        bool extreme = i % 2 == 0;
        sigma[k] = extreme ? extremes[(int)(snwTest_Random(seed) * count)] : exp(1.5 * Signed(seed));
    }
    if (i % 5 == 0)
        sigma[1] = sigma[2] = sigma[0];
    for (int pass = 0; pass < 3; ++pass)
    {
        int k = pass % 2;
        if (sigma[k] < sigma[k + 1])
        {
            double swap = sigma[k];
            sigma[k] = sigma[k + 1], sigma[k + 1] = swap;
        }
    }
    if (i % 3 == 0)
        sigma[2] = -sigma[2];
}

// The gap's size is the distance; S minus gap has determinant 1. Where several matrices are equally close any will do,
// so it is the distance that is compared.
TEST(elastic, closestVolumeIsThatOfTheOracle)
{
    uint64_t seed = 3;
    double worst = 0, sum = 0, worstDet = 0;
    const int count = 3000;
    for (int i = 0; i < count; ++i)
    {
        double sigma[3];
        SampleSigma(i, &seed, sigma);
        snwMat3 V = RandomRotation(&seed);
        snwMat3 S = snwMat3_Mul(V, snwMat3_MulTranspose(snwMat3_Diagonal(sigma[0], sigma[1], sigma[2]), V));
        float in[6] = {(float)S.m[0][0], (float)S.m[1][1], (float)S.m[2][2], (float)S.m[0][1], (float)S.m[0][2],
            (float)S.m[1][2]},
              gap[6];
        snwElastic_VolumeGap(in, gap);
        snwMat3 G = {{{gap[0], gap[3], gap[4]}, {gap[3], gap[1], gap[5]}, {gap[4], gap[5], gap[2]}}};
        double distance = sqrt(ClosestStretches(sigma).distance2), error = fabs(snwMat3_Norm(G) - distance);
        double relative = error / fmax(distance, 1e-2 * fmax(1, sigma[0]));
        snwMat3 rounded = {{{in[0], in[3], in[4]}, {in[3], in[1], in[5]}, {in[4], in[5], in[2]}}};
        double det = snwMat3_Determinant(snwMat3_Sub(rounded, G));
        worstDet = fmax(worstDet, fabs(det - 1) / fmax(1, sigma[0] * sigma[0] * fmax(sigma[0], 1)));
        worst = fmax(worst, relative);
        sum += relative;
    }
    CHECK(worst <= 1e-4);
    CHECK(sum / count <= 1e-6);
    CHECK(worstDet <= 1e-6);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bits

static Soup SharedSoup(void)
{
    uint64_t seed = 23;
    Soup s = MakeSoup(1003, 900);
    for (int t = 0; t < s.tetCount; ++t)
        SetTet(&s, t, 4 * (int)(snwTest_Random(&seed) * 200), Deformation((Kind)(t % 4), &seed), &seed);
    // Corners in any order, so that lanes of one block meet at different corners.
    for (int t = 0; t < s.tetCount; ++t)
        for (int c = 0; c < 4; ++c)
            s.tets[t / 8].index[c][t % 8] = (s.tets[t / 8].index[c][t % 8] + 17 * (t % 5) * c) % 100 + 100 * c;
    for (int i = 0; i < 4 * s.vertexCount; ++i)
        s.before[i] = s.positions[i] + (float)(0.05 * Signed(&seed));
    return s;
}

TEST(elastic, everyInstructionSetGivesTheSameBits)
{
    for (int variant = 0; variant < 2 * snw_elasticLawCount; ++variant)
    {
        snwElasticLaw law = (snwElasticLaw)(variant / 2);
        Soup base = SharedSoup();
        double expected = Run(snw_simdScalar, law, &base, variant % 2 == 1);
        for (int simd = snw_simdScalar + 1; simd <= (int)snwSimd_Best(); ++simd)
        {
            Soup s = SharedSoup();
            double energy = Run((snwSimd)simd, law, &s, variant % 2 == 1);
            CHECK(memcmp(&energy, &expected, sizeof energy) == 0);
            CHECK(memcmp(s.forces, base.forces, (size_t)s.vertexCount * 16) == 0);
            CHECK(memcmp(s.rotations, base.rotations, (size_t)s.blockCount * sizeof *s.rotations) == 0);
            FreeSoup(&s);
        }
        CHECK(isfinite(expected) && expected > 0);
        FreeSoup(&base);
    }
}

// Lanes without a tetrahedron: not even a zero is added at vertex 0, and what it holds does not matter.
TEST(elastic, emptyLanesAddNothing)
{
    uint64_t seed = 5;
    for (int variant = 0; variant < 2 * snw_elasticLawCount; ++variant)
    {
        Soup s = MakeSoup(11, 48);
        for (int t = 0; t < s.tetCount; ++t)
            SetTet(&s, t, 4 + 4 * t, Deformation(snw_deformLarge, &seed), &seed);
        memcpy(s.before, s.positions, (size_t)s.vertexCount * 16);
        for (int i = 0; i < 4; ++i)
            s.positions[i] = i == 1 ? INFINITY : NAN, s.before[i] = NAN, s.forces[i] = -0.0f;
        s.forces[4 * 7 + 3] = -0.0f;
        s.weights[1].shear[5] = 3, s.weights[1].bulk[6] = NAN;
        float minus[4] = {-0.0f, -0.0f, -0.0f, -0.0f};
        double energy = Run(snw_simdAuto, (snwElasticLaw)(variant / 2), &s, variant % 2 == 1);
        CHECK(isfinite(energy) && energy > 0);
        CHECK(memcmp(s.forces, minus, sizeof minus) == 0);
        CHECK(memcmp(&s.forces[4 * 7 + 3], minus, sizeof(float)) == 0);
        for (int v = 4; v < s.vertexCount; ++v)
            CHECK(snwVec3_IsFinite(Force(&s, v)));
        FreeSoup(&s);
    }
}

// All corners in one point, on a line, and far too large: finite forces that add up to nothing; NaN stays where it is.
TEST(elastic, degenerateTetsBehave)
{
    uint64_t seed = 9;
    for (int law = 0; law < snw_elasticLawCount; ++law)
    {
        Soup s = MakeSoup(8, 32);
        snwMat3 shapes[8] = {{{{0}}}, snwMat3_Diagonal(1, 0, 0), snwMat3_Diagonal(-1, -1, -1),
            snwMat3_Diagonal(1, 1, -1), snwMat3_Diagonal(3, 3, 3), snwMat3_Diagonal(1e4, 1e-4, 1),
            snwMat3_Diagonal(1e-4, 1e-4, -1e-4), snwMat3_Identity()};
        for (int t = 0; t < 8; ++t)
            SetTet(&s, t, 4 * t, shapes[t], &seed);
        s.positions[4 * 29] = NAN;
        Run(snw_simdAuto, (snwElasticLaw)law, &s, false);
        for (int t = 0; t < 7; ++t)
        {
            snwVec3 sum = {0, 0, 0};
            double largest = 0;
            for (int c = 0; c < 4; ++c)
            {
                sum = snwVec3_Add(sum, Force(&s, 4 * t + c));
                largest = fmax(largest, snwVec3_Length(Force(&s, 4 * t + c)));
            }
            // A point is a stationary point of law neo.
            CHECK((largest > 0.1 || (law == snw_elasticNeo && t % 6 == 0)) && isfinite(largest));
            CHECK_NEAR(snwVec3_Length(sum), 0, 1e-6 * largest);
        }
        for (int v = 28; v < 32; ++v)
            CHECK(isnan(s.forces[4 * v]));
        FreeSoup(&s);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Damping

static void SetBefore(Soup* s, int t, snwMat3 motion, snwVec3 shift)
{
    for (int c = 0; c < 4; ++c)
    {
        const float* now = s->positions + 4 * (4 * t + c);
        snwVec3 x = snwVec3_Add(snwMat3_MulVec(motion, (snwVec3){now[0], now[1], now[2]}), shift);
        float* row = s->before + 4 * (4 * t + c);
        row[0] = (float)x.x, row[1] = (float)x.y, row[2] = (float)x.z;
    }
}

// Forces of the damping alone, and the work they do on the way from before.
static double DampingOf(Soup* s, snwElasticLaw law, snwVec3* forces)
{
    double work = 0;
    Run(snw_simdAuto, law, s, false);
    for (int v = 0; v < s->vertexCount; ++v)
        forces[v] = snwVec3_Negate(Force(s, v));
    memset(s->forces, 0, (size_t)s->vertexCount * 16);
    Run(snw_simdAuto, law, s, true);
    for (int v = 0; v < s->vertexCount; ++v)
    {
        const float *a = s->before + 4 * v, *b = s->positions + 4 * v;
        snwVec3 moved = {(double)b[0] - (double)a[0], (double)b[1] - (double)a[1], (double)b[2] - (double)a[2]};
        forces[v] = snwVec3_Add(forces[v], Force(s, v));
        work += snwVec3_Dot(forces[v], moved);
    }
    memset(s->forces, 0, (size_t)s->vertexCount * 16);
    return work;
}

// However far it goes.
TEST(elastic, rigidMotionIsNotDamped)
{
    uint64_t seed = 13;
    Soup s = MakeSoup(64, 256);
    snwVec3 forces[256];
    for (int t = 0; t < s.tetCount; ++t)
    {
        snwMat3 strain = snwMat3_Add(snwMat3_Identity(), RandomMatrix(&seed, 0.3));
        SetTet(&s, t, 4 * t, snwMat3_Mul(RandomRotation(&seed), strain), &seed);
        SetBefore(&s, t, RandomRotation(&seed), (snwVec3){0.3, -0.2, 0.1});
        s.weights[t / 8].damping[t % 8] = 1;
    }
    DampingOf(&s, snw_elasticStrain, forces);
    for (int v = 0; v < s.vertexCount; ++v)
        CHECK_NEAR(snwVec3_Length(forces[v]), 0, 2e-5);
    FreeSoup(&s);
}

// (d / 8) |C - C0|^2 and its gradient, with d over max(1, tr C0 / 3), for strains of any size; always taking energy
// out.
TEST(elastic, dampingIsThatOfGreenStrains)
{
    for (int variant = 0; variant < 2 * snw_elasticLawCount; ++variant)
    {
        uint64_t seed = 17;
        Soup s = MakeSoup(64, 256);
        snwVec3 forces[256];
        double size = variant % 2 == 0 ? 0.02 : 0.5, expected = 0;
        snwElasticLaw law = (snwElasticLaw)(variant / 2);
        for (int t = 0; t < s.tetCount; ++t)
        {
            snwMat3 I = snwMat3_Identity(), strain = snwMat3_Add(I, RandomMatrix(&seed, size));
            SetTet(&s, t, 4 * t, snwMat3_Mul(RandomRotation(&seed), strain), &seed);
            SetBefore(&s, t, snwMat3_Add(I, RandomMatrix(&seed, size)), (snwVec3){1, 0, 0});
        }
        CHECK(DampingOf(&s, law, forces) < 0);
        for (int t = 0; t < s.tetCount; ++t)
        {
            snwMat3 F = Gradient(&s, s.positions, t), Fn = Gradient(&s, s.before, t);
            snwMat3 C0 = snwMat3_TransposeMul(Fn, Fn), D = snwMat3_Sub(snwMat3_TransposeMul(F, F), C0);
            double damping = s.weights[t / 8].damping[t % 8] / fmax(1, snwMat3_Trace(C0) / 3);
            snwMat3 stress = snwMat3_Scale(snwMat3_Mul(F, D), damping / 2);
            expected += damping / 8 * Square(D);
            for (int c = 0; c < 4; ++c)
                CHECK_NEAR(
                    snwVec3_Distance(forces[4 * t + c], CornerForce(&s, stress, t, c)), 0, 2e-5 * (1 + Square(F)));
        }
        CHECK_NEAR(RunBoth(snw_simdAuto, law, &s, true).damping, expected, 1e-4 * expected);
        FreeSoup(&s);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights

// Energy density of a uniform small strain by the kernels, from the weights of a material.
static double Density(snwElasticLaw law, const snwMaterial* material, snwMat3 strain)
{
    uint64_t seed = 1;
    double sum = 0, volume = 0.25;
    for (int sign = -1; sign <= 1; sign += 2)
    {
        Soup s = MakeSoup(1, 4);
        SetTet(&s, 0, 0, snwMat3_Add(snwMat3_Identity(), snwMat3_Scale(strain, sign)), &seed);
        snwElasticWeight weight = snwElastic_Weigh(law, material, volume, 0, 1);
        s.weights[0].shear[0] = (float)weight.shear;
        s.weights[0].bulk[0] = (float)weight.bulk;
        sum += Run(snw_simdAuto, law, &s, false) / (2 * volume);
        FreeSoup(&s);
    }
    return sum;
}

TEST(elastic, smallStrainHasTheModuliOfTheMaterial)
{
    const double e = 4e-3;
    for (int i = 0; i < 4; ++i)
    {
        snwMaterial m = snwDefaultMaterial();
        m.poisson = (double[]){0.0, 0.3, 0.45, 0.49}[i];
        double nu = m.poisson, mu = m.young / (2 * (1 + nu)), K = m.young / (3 * (1 - 2 * nu));
        snwMat3 pull = snwMat3_Diagonal(e, -nu * e, -nu * e), swell = snwMat3_Diagonal(e, e, e);
        snwMat3 shear = {{{0, e, 0}, {e, 0, 0}, {0, 0, 0}}};
        for (int law = snw_elasticVolume; law <= snw_elasticCorotated; ++law)
        {
            CHECK_NEAR(Density((snwElasticLaw)law, &m, pull) / (0.5 * m.young * e * e), 1, 4e-3);
            CHECK_NEAR(Density((snwElasticLaw)law, &m, swell) / (4.5 * K * e * e), 1, 2e-3);
            CHECK_NEAR(Density((snwElasticLaw)law, &m, shear) / (2 * mu * e * e), 1, 2e-3);
        }
        CHECK_NEAR(Density(snw_elasticStrain, &m, shear) / (2 * mu * e * e), 1, 2e-3);
        CHECK_NEAR(Density(snw_elasticStrain, &m, swell) / (3 * mu * e * e), 1, 2e-3);
    }
}

TEST(elastic, weightsAtTheEndsOfTheRange)
{
    snwMaterial m = snwDefaultMaterial();
    m.poisson = 0.5;
    snwElasticWeight w = snwElastic_Weigh(snw_elasticCorotated, &m, 2, 0, 1);
    CHECK_NEAR(w.bulk / (0.5 * w.shear), 100, 1e-9);
    m.poisson = -0.4;
    w = snwElastic_Weigh(snw_elasticCorotated, &m, 2, 0, 1);
    CHECK(w.bulk < 0 && w.shear + 3 * w.bulk > 0);
    CHECK_NEAR(snwElastic_Metric(snw_elasticCorotated, &w), w.shear, 1e-12 * w.shear);
    w = snwElastic_Weigh(snw_elasticVolume, &m, 2, 0, 1);
    CHECK(w.bulk == 0);
    w = snwElastic_Weigh(snw_elasticStrain, &m, 2, 0.25, 0.5);
    CHECK(w.bulk == 0);
    CHECK_NEAR(w.damping, 0.5 * w.shear, 1e-12 * w.shear);
    CHECK_NEAR(snwElastic_Metric(snw_elasticStrain, &w), 1.5 * w.shear, 1e-12 * w.shear);
}

// The metric bounds the curvature: energy along any line never bends more than 1.5 times the metric (1 for the laws
// that are sums of distances).
TEST(elastic, metricBoundsTheCurvature)
{
    uint64_t seed = 29;
    snwMaterial m = snwDefaultMaterial();
    for (int i = 0; i < 600; ++i)
    {
        snwElasticLaw law = (snwElasticLaw)(i % 3);
        m.poisson = 0.49 * snwTest_Random(&seed);
        m.young = 1;
        snwElasticWeight w = snwElastic_Weigh(law, &m, 1, 0, 1);
        snwMat3 F = Deformation(snw_deformSmall, &seed);
        snwMat3 direction = i % 2 == 0 ? snwPolar3_Compute(F).rotation : RandomMatrix(&seed, 1);
        const double step = 1e-3;
        double up = Evaluate(law, snwMat3_Add(F, snwMat3_Scale(direction, step)), w.shear, w.bulk).energy;
        double down = Evaluate(law, snwMat3_Add(F, snwMat3_Scale(direction, -step)), w.shear, w.bulk).energy;
        double curvature = (up + down - 2 * Evaluate(law, F, w.shear, w.bulk).energy) / (step * step);
        double bound = law == snw_elasticCorotated ? 1.5 : 1.0;
        double metric = snwElastic_Metric(law, &w) * Square(direction);
        CHECK(curvature <= 1.002 * bound * metric);
        CHECK(i % 2 == 1 || law == snw_elasticStrain || curvature >= 0.9 * metric);
    }
}

// A bar of the body's size, held at one end of a spring of its slowest wave: x'' + w^2 beta x' + w^2 x = 0 decays as
// exp(-d t).
TEST(elastic, dampingTimeGivesTheRate)
{
    snwMaterial m = snwDefaultMaterial();
    m.damping = 3;
    double size = 0.7, w = SNW_PI * sqrt(m.young / m.density) / size, beta = snwMaterial_DampingTime(&m, size);
    CHECK_NEAR(0.5 * beta * w * w, m.damping, 1e-12);
    m.damping = 0;
    CHECK(snwMaterial_DampingTime(&m, size) == 0);
}
