// Laws of the converged implicit step: derivatives against finite differences, true moduli.

#include "fixture.h"
#include "implicit_body.h"
#include "test.h"

#include "geom/lattice.h"
#include "geom/mesh.h"
#include "sim/pbcd/implicit_energy.h"

static double Uniform(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

static const snwVec3 s_corners[4] = {{0.1, 0, 0}, {1, 0.2, 0}, {0, 1.1, 0.1}, {0.2, 0.1, 0.9}};

enum
{
    LAW_COUNT = 4 // volume, Neo-Hookean, strain, strain with another rest
};

static snwImplicitTet MakeTet(int law, const double c[6][6])
{
    snwMat3 inverse = snwInverseOf(s_corners);
    double volume = snwTet_Volume(s_corners[0], s_corners[1], s_corners[2], s_corners[3]);
    if (law == 0)
        return snwImplicitTet_Volume(6 * volume, 2.5);
    static const double rest[6] = {0.1, -0.05, 0.02, 0.03, 0, -0.1};
    snwImplicitTet tet = snwImplicitTet_Strain(inverse, volume, c);
    if (law == 3)
        tet.strainRest = rest;
    return law == 1 ? snwImplicitTet_Neo(inverse, volume, 1.5, 4.0) : tet;
}

// 0: near rest, 1: anything, also inside out, 2: flat, 3: a line, 4: turned inside out, 5: a point
static void MakeState(int kind, uint64_t* seed, snwVec3 x[4])
{
    snwVec3 a = snwRandomVector(seed), b = snwRandomVector(seed);
    for (int i = 0; i < 4; ++i)
    {
        snwVec3 r = snwRandomVector(seed);
        x[i] = kind == 0 ? snwVec3_MulAdd(s_corners[i], 0.1, r) : r;
        if (kind == 2)
            x[i] = snwVec3_MulAdd(snwVec3_Scale(a, r.x), r.y, b);
        if (kind == 3)
            x[i] = snwVec3_Scale(a, r.x);
        if (kind == 4)
            x[i] = (snwVec3){-s_corners[i].x, s_corners[i].y, s_corners[i].z};
        if (kind == 5)
            x[i] = a;
    }
}

enum
{
    STATE_KINDS = 6
};

static void CompareTet(const snwImplicitTet* tet, const snwVec3 x[4])
{
    const double step = 1e-5;
    snwVec3 g[4], moved[4], up[4], down[4];
    double lower[snw_tetHessianCount];
    snwImplicitTet_Gradient(tet, x, g);
    snwImplicitTet_Hessian(tet, x, false, lower);
    for (int j = 0; j < 12; ++j)
    {
        memcpy(moved, x, sizeof moved);
        ((double*)moved)[j] += step;
        double above = snwImplicitTet_Gradient(tet, moved, up);
        CHECK(above == snwImplicitTet_Energy(tet, moved));
        ((double*)moved)[j] -= 2 * step;
        double below = snwImplicitTet_Gradient(tet, moved, down);
        CHECK_NEAR(((double*)g)[j], (above - below) / (2 * step), 1e-7);
        for (int i = j; i < 12; ++i)
            CHECK_NEAR(lower[i * (i + 1) / 2 + j], (((double*)up)[i] - ((double*)down)[i]) / (2 * step), 1e-6);
    }
}

TEST(implicit, tetsHaveTheirDerivativesInAnyState)
{
    uint64_t seed = 1;
    double c[6][6];
    snwRandomStiffness(&seed, c);
    for (int law = 0; law < LAW_COUNT; ++law)
        for (int round = 0; round < 5 * STATE_KINDS; ++round)
        {
            snwVec3 x[4];
            snwImplicitTet tet = MakeTet(law, c);
            MakeState(round % STATE_KINDS, &seed, x);
            CompareTet(&tet, x);
        }
}

TEST(implicit, edgesHaveTheirDerivatives)
{
    uint64_t seed = 2;
    const double step = 1e-5;
    for (int round = 0; round < 20; ++round)
    {
        snwVec3 x[2] = {snwRandomVector(&seed), snwRandomVector(&seed)};
        snwImplicitEdge edge = {0.1 + snwTest_Random(&seed), 3.0};
        snwVec3 g = snwImplicitEdge_Gradient(&edge, x);
        snwMat3 h = snwImplicitEdge_Hessian(&edge, x, false);
        for (int j = 0; j < 3; ++j)
        {
            snwVec3 up[2] = {x[0], x[1]}, down[2] = {x[0], x[1]};
            ((double*)up)[j] += step, ((double*)down)[j] -= step;
            double slope = (snwImplicitEdge_Energy(&edge, up) - snwImplicitEdge_Energy(&edge, down)) / (2 * step);
            CHECK_NEAR(((double*)&g)[j], slope, 1e-8);
            snwVec3 gUp = snwImplicitEdge_Gradient(&edge, up), gDown = snwImplicitEdge_Gradient(&edge, down);
            for (int i = 0; i < 3; ++i)
                CHECK_NEAR(h.m[i][j], (((double*)&gUp)[i] - ((double*)&gDown)[i]) / (2 * step), 1e-7);
        }
    }
}

static double Curvature(const double* lower, const double v[12])
{
    double sum = 0;
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j <= i; ++j)
            sum += (i == j ? 1 : 2) * lower[i * (i + 1) / 2 + j] * v[i] * v[j];
    return sum;
}

// Nowhere below zero or below the true curvature.
TEST(implicit, semidefiniteHessiansNeverCurveDown)
{
    uint64_t seed = 3;
    double c[6][6], negative = 0;
    snwRandomStiffness(&seed, c);
    for (int law = 0; law < LAW_COUNT; ++law)
        for (int round = 0; round < 20 * STATE_KINDS; ++round)
        {
            snwVec3 x[4];
            double lower[snw_tetHessianCount], exact[snw_tetHessianCount], v[12];
            snwImplicitTet tet = MakeTet(law, c);
            MakeState(round % STATE_KINDS, &seed, x);
            snwImplicitTet_Hessian(&tet, x, true, lower);
            snwImplicitTet_Hessian(&tet, x, false, exact);
            for (int k = 0; k < 50; ++k)
            {
                for (int i = 0; i < 12; ++i)
                    v[i] = Uniform(&seed);
                double is = Curvature(lower, v), was = Curvature(exact, v);
                CHECK(is >= fmax(was, 0) - 1e-10 * (1 + fabs(was)));
                negative = fmin(negative, was);
            }
        }
    CHECK(negative < -1); // there was something to do
}

TEST(implicit, semidefiniteHessiansKeepWhatCurvesUp)
{
    double c[6][6], lower[snw_tetHessianCount], exact[snw_tetHessianCount];
    snwVec3 x[4];
    for (int i = 0; i < 4; ++i)
        x[i] = (snwVec3){1.05 * s_corners[i].x, 1.02 * s_corners[i].y, 1.04 * s_corners[i].z};
    for (int i = 0; i < 36; ++i)
        c[i / 6][i % 6] = (i / 6 == i % 6) + (i / 6 < 3 && i % 6 < 3); // stretched: all principal stresses pull
    for (int law = 1; law < 3; ++law)
    {
        snwImplicitTet tet = MakeTet(law, c);
        snwImplicitTet_Hessian(&tet, x, true, lower);
        snwImplicitTet_Hessian(&tet, x, false, exact);
        for (int i = 0; i < snw_tetHessianCount; ++i)
            CHECK_NEAR(lower[i], exact[i], 1e-12);
    }
    // An edge that is pressed resists along, and gives way across.
    snwVec3 pressed[2] = {{0, 0, 0}, {0.5, 0, 0}};
    snwImplicitEdge edge = {1.0, 2.0};
    snwMat3 block = snwImplicitEdge_Hessian(&edge, pressed, true);
    CHECK(block.m[0][0] == 2.0 && block.m[1][1] == 0.0);
    block = snwImplicitEdge_Hessian(&edge, pressed, false);
    CHECK(block.m[0][0] == 2.0 && block.m[1][1] == -2.0);
}

// The energy of sim/constraints/neo_hookean.h, written out.
TEST(implicit, neoHookeanIsThatOfTheCompliantLaw)
{
    uint64_t seed = 5;
    double mu = 1.5, lambda = 4.0, more = lambda + mu, gamma = 1 + mu / more;
    double volume = snwTet_Volume(s_corners[0], s_corners[1], s_corners[2], s_corners[3]);
    snwMat3 inverse = snwInverseOf(s_corners);
    snwImplicitTet tet = snwImplicitTet_Neo(inverse, volume, mu, lambda);
    double constant = volume * (1.5 * mu + 0.5 * more * (1 - gamma) * (1 - gamma));
    CHECK_NEAR(snwImplicitTet_Energy(&tet, s_corners), 0, 1e-15);
    for (int round = 0; round < 20; ++round)
    {
        snwVec3 x[4];
        MakeState(round % STATE_KINDS, &seed, x);
        snwMat3 f = snwMat3_Mul(
            snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0])), inverse);
        double norm = snwMat3_Norm(f), swelling = snwMat3_Determinant(f) - gamma;
        double other = volume * 0.5 * (mu * norm * norm + more * swelling * swelling) - constant;
        CHECK_NEAR(snwImplicitTet_Energy(&tet, x), other, 1e-12 * (1 + fabs(other)));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Moduli

static double Young(void)
{
    return SNW_BODY_MU * (3 * SNW_BODY_LAMBDA + 2 * SNW_BODY_MU) / (SNW_BODY_LAMBDA + SNW_BODY_MU);
}

// Dead loads that are in balance with an even stress: sigma n A / 3 at each corner of the skin. They enter as weak and
// far springs.
static void Load(snwImplicitBody* body, snwMat3 stress)
{
    int(*triangles)[3], count;
    const snwVec3* p = body->mesh.vertices;
    const double weak = 1e-7 * SNW_BODY_MU * 0.1; // N/m
    REQUIRE(snwMesh_FindBoundary(
                body->context, (const int(*)[4])body->mesh.tets, body->mesh.tetCount, &triangles, &count) == snw_ok);
    for (int v = 0; v < body->mesh.vertexCount; ++v)
        body->targets[v] = p[v], body->weights[v] = weak;
    for (int t = 0; t < count; ++t)
    {
        const int* c = triangles[t];
        snwVec3 area = snwVec3_Scale(snwVec3_Cross(snwVec3_Sub(p[c[1]], p[c[0]]), snwVec3_Sub(p[c[2]], p[c[0]])), 0.5);
        snwVec3 force = snwMat3_MulVec(stress, area);
        for (int a = 0; a < 3; ++a)
            body->targets[c[a]] = snwVec3_MulAdd(body->targets[c[a]], 1 / (3 * weak), force);
    }
    snwFree(body->context, triangles);
}

// The mean of the displacement's gradient: sum of B^-1 (sum u p^T), p about the middle, made symmetric.
static snwMat3 MeanStrain(const snwImplicitBody* body)
{
    snwMat3 up = {0}, pp = {0}, inverse = {0};
    for (int v = 0; v < body->mesh.vertexCount; ++v)
    {
        snwVec3 p = body->mesh.vertices[v];
        up = snwMat3_Add(up, snwMat3_Outer(snwVec3_Sub(body->x[v], p), p));
        pp = snwMat3_Add(pp, snwMat3_Outer(p, p));
    }
    CHECK(snwMat3_Inverse(pp, &inverse));
    snwMat3 h = snwMat3_Mul(up, inverse);
    return snwMat3_Scale(snwMat3_Add(h, snwMat3_Transpose(h)), 0.5);
}

static snwMat3 StrainUnder(snwImplicitBody* body, snwMat3 stress)
{
    Load(body, stress);
    memcpy(body->x, body->mesh.vertices, (size_t)body->mesh.vertexCount * sizeof *body->x);
    CHECK(snwImplicitBody_Solve(body) == snw_ok && body->report.converged);
    return MeanStrain(body);
}

// How the strain grows with the stress at first: of a whole and half of it, so that what is quadratic falls away.
// Loads that press would turn the body round, as they are dead; `even` pulls from all sides, enough against that.
static snwMat3 LinearStrain(snwImplicitBody* body, snwMat3 stress, double even)
{
    snwMat3 pull = snwMat3_Diagonal(even, even, even);
    snwMat3 none = even > 0 ? StrainUnder(body, pull) : (snwMat3){0};
    snwMat3 whole = snwMat3_Sub(StrainUnder(body, snwMat3_Add(pull, stress)), none);
    snwMat3 half = snwMat3_Sub(StrainUnder(body, snwMat3_Add(pull, snwMat3_Scale(stress, 0.5))), none);
    return snwMat3_Sub(snwMat3_Scale(half, 4), whole);
}

TEST(implicit, neoHookeanHasYoungAndPoisson)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, snw_bodyNeo, 0, &body));
    double young = Young(), poisson = 0.5 * SNW_BODY_LAMBDA / (SNW_BODY_LAMBDA + SNW_BODY_MU), pull = 1e-4 * young;
    snwMat3 strain = LinearStrain(&body, snwMat3_Diagonal(pull, 0, 0), 0);
    CHECK_NEAR(pull / strain.m[0][0] / young, 1, 1e-4);
    CHECK_NEAR(-strain.m[1][1] / strain.m[0][0], poisson, 1e-4);
    CHECK_NEAR(-strain.m[2][2] / strain.m[0][0], poisson, 1e-4);
    snwImplicitBody_Close(&body);
    snwDestroyContext(context);
}

static const int s_pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};

// Unlike along every axis: 1/E on the diagonal, -nu/E beside it, 1/G below.
TEST(implicit, strainLawHasItsOwnModuliAlongEachAxis)
{
    static const double compliance[6][6] = {{1 / 3e4, -0.2 / 3e4, -0.1 / 3e4, 0, 0, 0},
        {-0.2 / 3e4, 1 / 8e4, -0.3 / 8e4, 0, 0, 0}, {-0.1 / 3e4, -0.3 / 8e4, 1 / 2e5, 0, 0, 0},
        {0, 0, 0, 1 / 2e4, 0, 0}, {0, 0, 0, 0, 1 / 5e4, 0}, {0, 0, 0, 0, 0, 1 / 1e4}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, snw_bodyStrain, 0, &body));
    snwMat3 block, inverse;
    for (int i = 0; i < 9; ++i)
        block.m[i / 3][i % 3] = compliance[i / 3][i % 3];
    REQUIRE(snwMat3_Inverse(block, &inverse));
    for (int i = 0; i < 36; ++i)
        body.stiffness[0][i / 6][i % 6] = i / 6 < 3 && i % 6 < 3 ? inverse.m[i / 6][i % 6] : 0;
    for (int i = 3; i < 6; ++i)
        body.stiffness[0][i][i] = 1 / compliance[i][i];
    for (int m = 0; m < 6; ++m)
    {
        snwMat3 stress = {0};
        double pull = 1e-6 / compliance[m][m];
        stress.m[s_pairs[m][0]][s_pairs[m][1]] = stress.m[s_pairs[m][1]][s_pairs[m][0]] = pull;
        snwMat3 strain = LinearStrain(&body, stress, m < 3 ? 0 : 2 * pull);
        for (int n = 0; n < 6; ++n)
        {
            double e = (n < 3 ? 1 : 2) * strain.m[s_pairs[n][0]][s_pairs[n][1]];
            CHECK_NEAR(e / (pull * compliance[m][m]), compliance[n][m] / compliance[m][m], 1e-4);
        }
    }
    snwImplicitBody_Close(&body);
    snwDestroyContext(context);
}

// Tets of the body-centred cubic lattice in a block, as meshers use them inside.
static double BlockDistance(snwVec3 point, const void* data)
{
    const double* half = data;
    return fmax(fabs(point.x) - half[0], fmax(fabs(point.y) - half[1], fabs(point.z) - half[2]));
}

static bool OpenLattice(snwContext* context, snwImplicitBody* body)
{
    static const double half[3] = {0.2, 0.1, 0.1};
    snwSolid solid = {.distance = BlockDistance, .data = half, .lower = {-0.2, -0.1, -0.1}, .upper = {0.2, 0.1, 0.1}};
    snwLatticeDef def = {.solid = &solid, .spacing = 0.05, .detail = 0.05};
    snwLattice lattice;
    snwMessage message = {0};
    if (snwLattice_Create(context, &def, &lattice, &message) < 0)
        return false;
    *body = (snwImplicitBody){.arena = {.context = context}};
    snwVec3* vertices = snwArena_Alloc(&body->arena, (size_t)lattice.pointCount, sizeof *vertices);
    int(*tets)[4] = snwArena_Alloc(&body->arena, (size_t)lattice.tetCount, sizeof *tets);
    int* numbers = snwArena_Alloc(&body->arena, (size_t)lattice.pointCount, sizeof *numbers);
    snwTetMesh mesh = {.vertices = vertices, .tets = tets};
    for (int t = 0; t < lattice.tetCount; ++t)
    {
        for (int a = 0; a < 4; ++a)
        {
            int* number = &numbers[lattice.tets[t][a]];
            if (*number == 0)
            {
                vertices[mesh.vertexCount++] = snwLattice_Position(&lattice, lattice.tets[t][a]);
                *number = mesh.vertexCount;
            }
            tets[t][a] = *number - 1;
        }
    }
    mesh.tetCount = lattice.tetCount;
    snwLattice_Free(context, &lattice);
    return snwImplicitBody_OpenMesh(context, mesh, body) && snwImplicitBody_Finish(body, snw_bodyNetwork, 0);
}

// Young's modulus along n of a cubic material of which C_11, C_12 and C_44 are known.
static double CubicYoung(double c11, double c12, double c44, snwVec3 n)
{
    double s11 = (c11 + c12) / ((c11 - c12) * (c11 + 2 * c12)), s12 = -c12 / ((c11 - c12) * (c11 + 2 * c12));
    double mixed = n.x * n.x * n.y * n.y + n.y * n.y * n.z * n.z + n.z * n.z * n.x * n.x;
    return 1 / (s11 - 2 * (s11 - s12 - 0.5 / c44) * mixed);
}

// Springs of k = 15 mu V_e / l^2 are even in the mean over all directions only. In this lattice there are 3 long edges
// of weight 4 and 4 short ones of weight 6 to a vertex; the sums of n_i n_j n_k n_l say what a pull along n meets:
// along the axes 15 % less than E, along the diagonals 9 % more. The surface, which is rough here, does the rest.
TEST_HEAVY(implicit, networksComeNearTheirYoung)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImplicitBody body;
    REQUIRE(OpenLattice(context, &body));
    double pull = 1e-4 * Young(), four = 15 * SNW_BODY_MU / 36, bulk = SNW_BODY_LAMBDA - SNW_BODY_MU;
    double c11 = four * (4 + 24.0 / 9) + bulk, c44 = four * 24.0 / 9, c12 = c44 + bulk;
    const snwVec3 directions[3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 1}};
    for (int i = 0; i < 3; ++i)
    {
        snwVec3 n = snwVec3_Normalize(directions[i]);
        snwMat3 strain = LinearStrain(&body, snwMat3_Scale(snwMat3_Outer(n, n), pull), 0);
        double young = pull / snwVec3_Dot(n, snwMat3_MulVec(strain, n));
        CHECK_NEAR(young / CubicYoung(c11, c12, c44, n), 1, 0.03);
    }
    snwImplicitBody_Close(&body);
    snwDestroyContext(context);
}
