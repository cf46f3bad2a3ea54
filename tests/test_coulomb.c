// LU against products, and contact problems against their own conditions.

#include "linalg/coulomb.h"
#include "linalg/lu.h"
#include "test.h"

static double Uniform(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

// band: entries farther from the diagonal are 0.
static void CheckLu(int n, int stride, int band, uint64_t seed)
{
    double *a = calloc((size_t)(n * stride) + 1, sizeof *a), *x = calloc((size_t)n + 1, sizeof *x);
    double* b = calloc((size_t)n + 1, sizeof *b);
    int* pivots = calloc((size_t)n + 1, sizeof *pivots);
    for (int i = 0; i < n * stride; ++i)
        a[i] = Uniform(&seed);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (i == j || abs(i - j) > band) // nothing without pivots
                a[i * stride + j] = 0;
    for (int i = 0; i < n; ++i)
        x[i] = Uniform(&seed);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            b[i] += a[i * stride + j] * x[j];
    if (n > 1)
        CHECK(snwLu_Factor(n, a, stride, pivots));
    else
        CHECK(snwLu_Factor(n, a, stride, pivots) == (n == 0));
    if (n > 1)
        snwLu_Solve(n, a, stride, pivots, b);
    for (int i = 0; i < n && n > 1; ++i)
        CHECK_NEAR(b[i], x[i], 1e-10);
    free(a), free(x), free(b), free(pivots);
}

TEST(lu, solvesWhatNeedsPivots)
{
    static const int sizes[] = {0, 1, 2, 3, 7, 8, 9, 16, 17, 31, 64, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    {
        CheckLu(sizes[i], sizes[i] + (int)(i % 3), sizes[i], 41 + i);
        CheckLu(sizes[i], sizes[i], 6, 41 + i);
    }
}

TEST(lu, singularAndBrokenMatricesAreRefused)
{
    double a[9] = {1, 2, 3, 2, 4, 6, 1, 0, 1}, b[4] = {1, NAN, 0, 1}, c[4] = {0, 0, 0, 0};
    int pivots[3];
    CHECK(!snwLu_Factor(3, a, 3, pivots));
    CHECK(!snwLu_Factor(2, b, 2, pivots));
    CHECK(!snwLu_Factor(2, c, 2, pivots));
}

// ---------------------------------------------------------------------------------------------------------------------
// Problems

enum
{
    snw_mostContacts = 100,
    snw_mostRows = 3 * snw_mostContacts + 8
};

typedef struct Problem
{
    int rows, blockCount;
    snwCoulombBlock blocks[snw_mostRows];
    double w[snw_mostRows * snw_mostRows], compliance[snw_mostRows], q[snw_mostRows], lambda[snw_mostRows];
} Problem;

// Points under a box of 1 kg and about 0.2 m, which moves and turns as it likes: W is of rank six. bounce: of the skin,
// 1/kg, of each point by itself and half as much between neighbours; 0: rigid.
static void BoxProblem(Problem* p, int contacts, double friction, double bounce, double compliance, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->rows = 3 * contacts, p->blockCount = contacts;
    double jacobian[3 * snw_mostContacts][6], free[6];
    const double weights[6] = {1, 1, 1, 150, 150, 75}; // 1 / kg, 1 / (kg m^2)
    for (int k = 0; k < 6; ++k)
        free[k] = (k < 3 ? 0.5 : 2) * Uniform(&seed);
    free[2] = -0.3 * snwTest_Random(&seed);
    for (int i = 0; i < contacts; ++i)
    {
        double x = 0.1 * Uniform(&seed), y = 0.1 * Uniform(&seed), z = -0.1 + 0.002 * Uniform(&seed);
        const double rows[3][6] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
        p->blocks[i] = (snwCoulombBlock){.kind = snw_coulombFriction, .row = 3 * i, .friction = friction};
        for (int c = 0; c < 3; ++c)
            for (int k = 0; k < 6; ++k)
                jacobian[3 * i + c][k] = rows[c][k], p->q[3 * i + c] += rows[c][k] * free[k];
        p->q[3 * i] += 0.1 * snwTest_Random(&seed); // gaps
    }
    for (int i = 0; i < p->rows; ++i)
        for (int j = 0; j < p->rows; ++j)
        {
            for (int k = 0; k < 6; ++k)
                p->w[i * p->rows + j] += jacobian[i][k] * weights[k] * jacobian[j][k];
            if (i % 3 == j % 3)
                p->w[i * p->rows + j] += bounce * pow(0.5, abs(i - j) / 3);
        }
    for (int i = 0; i < p->rows; ++i)
        p->compliance[i] = compliance * p->w[i * p->rows + i];
}

static snwCoulombDef DefOf(Problem* p, double* scratch)
{
    snwCoulombDef def = snwCoulomb_DefaultDef();
    def.rows = p->rows, def.blockCount = p->blockCount, def.blocks = p->blocks;
    def.w = p->w, def.stride = p->rows, def.compliance = p->compliance, def.q = p->q;
    def.lambda = p->lambda, def.scratch = scratch, def.seed = 7;
    def.kernels = snwCholesky_Kernels(snw_simdScalar);
    return def;
}

static snwCoulombReport Solve(Problem* p, snwCoulombShape shape, snwCoulombStart start)
{
    double* scratch = calloc(snwCoulomb_ScratchCount(p->rows), sizeof *scratch);
    snwCoulombDef def = DefOf(p, scratch);
    def.shape = shape, def.start = start;
    snwCoulombReport report = snwCoulomb_Solve(&def);
    if (report.solved) // hostile ones may overflow when they are looked at again
        CHECK_NEAR(snwCoulomb_Residual(&def), report.residual, 1e-6 * report.residual + 1e-13);
    CHECK(report.newtons <= def.newtons && report.sweeps <= def.sweeps);
    CHECK(report.solved == (report.residual <= def.tolerance));
    free(scratch);
    return report;
}

// The conditions themselves, in impulses and velocities: the most that any is missed by, relative to the largest
// impulse. Friction against any direction of the shape.
static double Missed(const Problem* p, snwCoulombShape shape)
{
    double missed = 0, largest = 1e-30;
    for (int i = 0; i < p->rows; ++i)
        largest = fmax(largest, fabs(p->lambda[i]));
    for (int b = 0; b < p->blockCount; ++b)
    {
        int n = p->blocks[b].row, rows = p->blocks[b].kind == snw_coulombFriction ? 3 : 1;
        double w[3], diagonal = p->w[n * p->rows + n] + p->compliance[n];
        const double* l = &p->lambda[n];
        for (int c = 0; c < rows; ++c)
        {
            w[c] = p->q[n + c] + p->compliance[n + c] * l[c];
            for (int j = 0; j < p->rows; ++j)
                w[c] += p->w[(n + c) * p->rows + j] * p->lambda[j];
        }
        if (p->blocks[b].kind == snw_coulombEqual)
        {
            missed = fmax(missed, fabs(w[0]) / diagonal);
            continue;
        }
        missed = fmax(missed, -l[0]), missed = fmax(missed, -w[0] / diagonal);
        missed = fmax(missed, fmin(l[0], w[0] / diagonal));
        if (rows == 1)
            continue;

        // No impulse in mu l_n S works more against w_t.
        double radius = p->blocks[b].friction * l[0], most = 0, speed = hypot(w[1], w[2]);
        int directions = shape == snw_coulombPyramid4 ? 4 : shape == snw_coulombPyramid8 ? 8 : 0;
        most = directions == 0 ? radius * speed : 0;
        for (int k = 0; k < directions; ++k)
        {
            double angle = 2 * 3.14159265358979 * k / directions;
            most = fmax(most, -radius * (cos(angle) * w[1] + sin(angle) * w[2]));
        }
        double done = -(l[1] * w[1] + l[2] * w[2]);
        if (speed > 0)
            missed = fmax(missed, (most - done) / fmax(speed, diagonal * largest));
        if (directions == 0)
            missed = fmax(missed, hypot(l[1], l[2]) - radius);
        for (int k = 0; k < directions; ++k)
        {
            double angle = 2 * 3.14159265358979 * (k + 0.5) / directions, half = 3.14159265358979 / directions;
            missed = fmax(missed, cos(angle) * l[1] + sin(angle) * l[2] - radius * cos(half));
        }
    }
    return missed / largest;
}

static const snwCoulombShape s_shapes[] = {snw_coulombCone, snw_coulombPyramid4, snw_coulombPyramid8};

TEST(coulomb, softContactsAreSolvedFromAnyStart)
{
    static Problem p;
    static const int counts[] = {1, 3, 8, 20, 40};
    static const snwCoulombStart starts[] = {snw_coulombZero, snw_coulombOnes, snw_coulombRandom};
    for (int i = 0; i < 5 * 20 * 9; ++i)
    {
        int count = counts[i % 5];
        snwCoulombShape shape = s_shapes[i / 5 % 3];
        BoxProblem(&p, count, 0.5, 20, 0, (uint64_t)(i / 45 + 1) * 1000);
        snwCoulombReport report = Solve(&p, shape, starts[i / 15 % 3]);
        CHECK(report.solved);
        CHECK(report.newtons <= 40);
        CHECK_NEAR(Missed(&p, shape), 0, 1e-8);
    }
}

// Soft contacts have one solution, whatever the start.
TEST(coulomb, theStartDoesNotMatter)
{
    static Problem p;
    static double first[snw_mostRows];
    for (uint64_t seed = 1; seed <= 30; ++seed)
    {
        BoxProblem(&p, 20, 0.5, 20, 0, seed);
        Solve(&p, snw_coulombCone, snw_coulombZero);
        memcpy(first, p.lambda, sizeof first);
        double largest = 0;
        for (int i = 0; i < p.rows; ++i)
            largest = fmax(largest, fabs(first[i]));
        for (int start = snw_coulombWarm; start <= snw_coulombRandom; ++start)
        {
            snwCoulombReport report = Solve(&p, snw_coulombCone, (snwCoulombStart)start);
            for (int i = 0; i < p.rows; ++i)
                CHECK_NEAR(p.lambda[i], first[i], 1e-7 * largest);
            if (start == snw_coulombWarm)
                CHECK_INT(report.newtons + report.sweeps, 0);
        }
    }
}

// Newton's steps are the same, whoever solves for them.
TEST(coulomb, theFactorTakesTheStepsOfLu)
{
    static Problem p;
    int sliding = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed)
    {
        snwCoulombReport reports[2];
        BoxProblem(&p, 20, 0.2, 20, 0, seed);
        double* scratch = calloc(snwCoulomb_ScratchCount(p.rows), sizeof *scratch);
        snwCoulombDef def = DefOf(&p, scratch);
        def.shape = s_shapes[seed % 3], def.start = snw_coulombZero;
        for (int i = 0; i < 2; ++i)
        {
            def.kernels = i == 0 ? NULL : snwCholesky_Kernels(snw_simdScalar);
            reports[i] = snwCoulomb_Solve(&def);
        }
        CHECK_INT(reports[1].newtons, reports[0].newtons);
        CHECK_INT(reports[1].sweeps, reports[0].sweeps);
        sliding += reports[0].newtons > 1;
        free(scratch);
    }
    CHECK(sliding > 20);
}

// Twenty points and fifty under one rigid box, with the compliance that redundant points are to have.
TEST(coulomb, redundantRigidContactsAreSolved)
{
    static Problem p;
    static const int counts[] = {4, 8, 20, 50};
    static const double frictions[] = {0.2, 0.5, 0.9};
    int failed = 0, all = 0;
    for (int i = 0; i < 4 * 3 * 3 * 20; ++i, ++all)
    {
        snwCoulombShape shape = s_shapes[i / 12 % 3];
        BoxProblem(&p, counts[i % 4], frictions[i / 4 % 3], 0, 1e-3, (uint64_t)(i / 36 + 1) * 7919);
        snwCoulombReport report = Solve(&p, shape, snw_coulombZero);
        failed += !report.solved;
        CHECK_NEAR(report.residual, 0, 1e-5);
        if (report.solved)
            CHECK_NEAR(Missed(&p, shape), 0, 1e-8);
    }
    CHECK(failed * 100 <= all);
}

// Without any compliance impulses are not unique, but their effect on the box is.
TEST(coulomb, redundantRigidContactsWithoutComplianceHaveOneEffect)
{
    static Problem p;
    static double w[2][snw_mostRows];
    int failed = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed)
    {
        BoxProblem(&p, 20, 0.5, 0, 0, seed * 31);
        double largest = 0;
        bool solved = true;
        for (int side = 0; side < 2; ++side)
        {
            snwCoulombReport report = Solve(&p, snw_coulombCone, side == 0 ? snw_coulombZero : snw_coulombOnes);
            CHECK_NEAR(report.residual, 0, 1e-2); // the best that was seen is never far
            solved = solved && report.solved;
            for (int i = 0; i < p.rows; ++i)
            {
                w[side][i] = p.q[i];
                for (int j = 0; j < p.rows; ++j)
                    w[side][i] += p.w[i * p.rows + j] * p.lambda[j];
                largest = fmax(largest, fabs(p.q[i]));
            }
        }
        failed += !solved;
        for (int i = 0; i < p.rows && solved; i += 3)
            CHECK_NEAR(w[0][i], w[1][i], 1e-6 * largest);
    }
    CHECK(failed <= 1);
}

// Limits and loops among the contacts: the whole problem at once.
TEST(coulomb, rowsOfAllKindsGoTogether)
{
    static Problem p;
    for (uint64_t seed = 1; seed <= 40; ++seed)
    {
        BoxProblem(&p, 10, 0.6, 5, 0, seed * 17);
        // Every other contact becomes three rows of their own: one equal, two at least.
        snwCoulombBlock blocks[snw_mostRows];
        int count = 0;
        for (int i = 0; i < 10; ++i)
        {
            if (i % 2 == 0)
                blocks[count++] = p.blocks[i];
            for (int c = 0; c < 3 && i % 2 == 1; ++c)
                blocks[count++] = (snwCoulombBlock){
                    .kind = c == 0 ? snw_coulombEqual : snw_coulombAtLeast, .row = p.blocks[i].row + c};
        }
        memcpy(p.blocks, blocks, sizeof blocks), p.blockCount = count;
        CHECK(Solve(&p, snw_coulombCone, snw_coulombZero).solved);
        CHECK_NEAR(Missed(&p, snw_coulombCone), 0, 1e-8);
    }
}

// Hands among the contacts: what each asks for, or the most that it may, against what is left.
TEST(coulomb, ballsPullAsAskedOrAtTheirMost)
{
    static Problem p;
    int full = 0, slack = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed)
    {
        BoxProblem(&p, 10, 0.6, 5, 0, seed * 17);
        for (int i = 1; i < 10; i += 3)
            p.blocks[i] = (snwCoulombBlock){.kind = snw_coulombBall,
                .row = 3 * i,
                .most = seed % 4 == 0 ? INFINITY : 0.02 * (double)(seed % 4 * i)};
        // By Newton with sweeps in between, and by sweeps alone.
        for (int sweeps = 0; sweeps < 2; ++sweeps)
        {
            double* scratch = calloc(snwCoulomb_ScratchCount(p.rows), sizeof *scratch);
            snwCoulombDef def = DefOf(&p, scratch);
            def.start = snw_coulombZero;
            def.newtons = sweeps ? 0 : def.newtons, def.sweeps = sweeps ? 20000 : def.sweeps;
            CHECK(snwCoulomb_Solve(&def).solved);
            free(scratch);
            for (int i = 1; i < 10; i += 3)
            {
                double w[3], l = 0, against = 0, speed = 0, most = p.blocks[i].most;
                for (int c = 0; c < 3; ++c)
                {
                    int r = 3 * i + c;
                    w[c] = p.q[r];
                    for (int j = 0; j < p.rows; ++j)
                        w[c] += p.w[r * p.rows + j] * p.lambda[j];
                    l += p.lambda[r] * p.lambda[r], against -= p.lambda[r] * w[c], speed += w[c] * w[c];
                }
                l = sqrt(l), speed = sqrt(speed);
                CHECK(l <= most * (1 + 1e-12));
                CHECK_NEAR(against, l * speed, 1e-7);
                full += speed > 1e-5, slack += speed < 1e-7;
                CHECK(speed < 1e-6 || l > most * (1 - 1e-9));
            }
        }
    }
    CHECK(full > 20 && slack > 20);
}

// The literal matrix of the method is unsymmetric by a percent.
TEST(coulomb, unsymmetricMatricesAreSolvedToo)
{
    static Problem p;
    uint64_t random = 3;
    for (uint64_t seed = 1; seed <= 40; ++seed)
    {
        BoxProblem(&p, 15, 0.5, 20, 0, seed * 13);
        for (int i = 0; i < p.rows * p.rows; ++i)
            p.w[i] *= 1 + 0.01 * Uniform(&random);
        CHECK(Solve(&p, snw_coulombCone, snw_coulombZero).solved);
        CHECK_NEAR(Missed(&p, snw_coulombCone), 0, 1e-8);
    }
}

// A block of 1 kg at rest on a slope, pulled along it in any direction: with the cone it slides where it is pulled,
// from mu on and not before.
TEST(coulomb, theConeKnowsNoDirection)
{
    static Problem p;
    const double h = 0.004, mu = 0.4;
    for (int k = 0; k < 32; ++k)
    {
        double angle = 0.196 * k;
        for (int over = 0; over < 2; ++over)
        {
            double pull = mu * (over ? 1.001 : 0.999);
            memset(&p, 0, sizeof p);
            p.rows = 3, p.blockCount = 1;
            p.blocks[0] = (snwCoulombBlock){.kind = snw_coulombFriction, .row = 0, .friction = mu};
            p.w[0] = p.w[4] = p.w[8] = 1;
            p.q[0] = -9.81 * h, p.q[1] = 9.81 * h * pull * cos(angle), p.q[2] = 9.81 * h * pull * sin(angle);
            CHECK(Solve(&p, snw_coulombCone, snw_coulombZero).solved);
            double speed = hypot(p.lambda[1] + p.q[1], p.lambda[2] + p.q[2]);
            CHECK_NEAR(speed, over ? 9.81 * h * 0.001 * mu : 0, 1e-12);
            CHECK_NEAR(p.lambda[1] * sin(angle) - p.lambda[2] * cos(angle), 0, 1e-12);
        }
    }
}

// Pyramids of four sides are weaker between their corners, those of eight less so.
TEST(coulomb, pyramidsAreWeakerBetweenTheirCorners)
{
    static Problem p;
    for (int sides = 4; sides <= 8; sides += 4)
        for (int corner = 0; corner < 2; ++corner)
        {
            double angle = corner ? 0 : 3.14159265358979 / sides;
            memset(&p, 0, sizeof p);
            p.rows = 3, p.blockCount = 1;
            p.blocks[0] = (snwCoulombBlock){.kind = snw_coulombFriction, .row = 0, .friction = 0.5};
            p.w[0] = p.w[4] = p.w[8] = 1;
            p.q[0] = -1, p.q[1] = 2 * cos(angle), p.q[2] = 2 * sin(angle);
            CHECK(Solve(&p, sides == 4 ? snw_coulombPyramid4 : snw_coulombPyramid8, snw_coulombZero).solved);
            double against = -(p.lambda[1] * cos(angle) + p.lambda[2] * sin(angle));
            CHECK_NEAR(against, corner ? 0.5 : 0.5 * cos(angle), 1e-9);
        }
}

// Painleve: a slender rod that slides on its tip at 60 degrees; the harder it is pressed, the harder it is pressed.
TEST(coulomb, painlevesRodIsBounded)
{
    static Problem p;
    for (int k = 0; k < 40; ++k)
    {
        double angle = 1.0 + 0.01 * k, mu = 0.5 + 0.05 * (k % 10), slide = k % 2 == 0 ? 1 : -1;
        double x = -cos(angle), z = -sin(angle); // the tip, from the centre of a rod of 2 m and 1 kg
        const double rows[3][3] = {{0, 1, -x}, {1, 0, z}, {0, 0, 0}}, weights[3] = {1, 1, 3};
        memset(&p, 0, sizeof p);
        p.rows = 3, p.blockCount = 1;
        p.blocks[0] = (snwCoulombBlock){.kind = snw_coulombFriction, .row = 0, .friction = mu};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                for (int c = 0; c < 3; ++c)
                    p.w[3 * i + j] += rows[i][c] * weights[c] * rows[j][c];
        p.w[8] = 1;
        p.q[0] = -9.81 * 0.004, p.q[1] = slide;
        snwCoulombReport report = Solve(&p, snw_coulombCone, snw_coulombZero);
        CHECK(report.solved);
        CHECK_NEAR(Missed(&p, snw_coulombCone), 0, 1e-8);
        CHECK(fabs(p.lambda[0]) < 10);
    }
}

// A tower of two, the upper a thousand times as heavy: four points each.
TEST(coulomb, aHeavyBlockOnALightOne)
{
    static Problem p;
    for (int swapped = 0; swapped < 2; ++swapped)
    {
        const double masses[2] = {swapped ? 1000 : 1, swapped ? 1 : 1000}, h = 0.004;
        memset(&p, 0, sizeof p);
        p.rows = 24, p.blockCount = 8;
        static double jacobian[24][12];
        memset(jacobian, 0, sizeof jacobian);
        for (int i = 0; i < 8; ++i)
        {
            double x = i % 2 ? 0.1 : -0.1, y = i % 4 < 2 ? 0.1 : -0.1;
            p.blocks[i] = (snwCoulombBlock){.kind = snw_coulombFriction, .row = 3 * i, .friction = 0.5};
            for (int body = 0; body < 2; ++body)
            {
                if (i < 4 && body == 1)
                    continue; // on the ground
                double sign = i >= 4 && body == 0 ? -1 : 1, z = sign < 0 ? 0.1 : -0.1;
                const double rows[3][6] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
                for (int c = 0; c < 3; ++c)
                    for (int k = 0; k < 6; ++k)
                        jacobian[3 * i + c][6 * body + k] = sign * rows[c][k];
            }
        }
        for (int i = 0; i < 24; ++i)
        {
            for (int j = 0; j < 24; ++j)
                for (int k = 0; k < 12; ++k)
                    p.w[24 * i + j] += jacobian[i][k] * jacobian[j][k] / (masses[k / 6] * (k % 6 < 3 ? 1 : 0.04 / 6));
            p.q[i] = -9.81 * h * (jacobian[i][2] + jacobian[i][8]);
        }
        for (int i = 0; i < 24; ++i)
            p.compliance[i] = 1e-6 * p.w[24 * i + i]; // little against the heavy block, too
        snwCoulombReport report = Solve(&p, snw_coulombCone, snw_coulombZero);
        CHECK(report.solved);
        double weight = 0;
        for (int i = 0; i < 4; ++i)
            weight += p.lambda[3 * i];
        CHECK_NEAR(weight, 1001 * 9.81 * h, 0.01 * 1001 * 9.81 * h);
    }
}

TEST(coulomb, nothingMakesItHangOrAnswerNonsense)
{
    static Problem p;
    uint64_t random = 5;
    for (int kind = 0; kind < 8; ++kind)
    {
        BoxProblem(&p, 12, 0.5, 0, 0, 99);
        for (int i = 0; i < p.rows * p.rows; ++i)
            p.w[i] = kind == 0 ? 0 : kind == 1 ? Uniform(&random) : kind == 2 ? 1e-300 * p.w[i] : p.w[i];
        if (kind == 3)
            p.q[4] = NAN;
        if (kind == 4)
            p.w[7] = INFINITY;
        for (int i = 0; i < p.rows; ++i)
        {
            p.q[i] *= kind == 5 ? 1e200 : 1;
            p.lambda[i] = kind == 6 ? NAN : kind == 7 ? 1e300 : 0;
        }
        Solve(&p, snw_coulombCone, snw_coulombWarm);
        for (int i = 0; i < p.rows; ++i)
            CHECK(isfinite(p.lambda[i]));
        for (int b = 0; b < p.blockCount; ++b)
        {
            const double* l = &p.lambda[3 * b];
            CHECK(l[0] >= 0);
            CHECK(hypot(l[1], l[2]) <= 0.5 * l[0] * (1 + 1e-9));
        }
    }
    // Nobody there.
    p.rows = p.blockCount = 0;
    CHECK(Solve(&p, snw_coulombCone, snw_coulombZero).solved);
}

// Real time: so many sweeps from the last impulses, and what there is then.
TEST(coulomb, sweepsAloneComeCloser)
{
    static Problem p;
    double before = INFINITY;
    double* scratch = calloc(snwCoulomb_ScratchCount(60), sizeof *scratch);
    for (int sweeps = 5; sweeps <= 320; sweeps *= 4)
    {
        BoxProblem(&p, 20, 0.5, 5, 0, 12);
        snwCoulombDef def = DefOf(&p, scratch);
        def.start = snw_coulombZero, def.newtons = 0, def.sweeps = sweeps;
        snwCoulombReport report = snwCoulomb_Solve(&def);
        CHECK_INT(report.newtons, 0);
        CHECK(report.sweeps <= sweeps);
        CHECK(report.residual < 0.5 * before || report.solved);
        before = report.residual;
    }
    CHECK(before < 1e-6);
    free(scratch);
}
