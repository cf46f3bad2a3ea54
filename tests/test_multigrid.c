// The multigrid, and the corotated matrices that it solves.

#include "base/hash.h"
#include "fixture.h"
#include "linalg/multigrid_parts.h"
#include "math/vec.h"
#include "skelfem_stage.h"
#include "test.h"

typedef struct Bench
{
    snwContext* context;
    snwFemBody body;
    snwFemStage stage;
} Bench;

static bool Open(Bench* bench, const int cells[3], double jitter, int unknowns, int threads, snwSimd simd)
{
    snwMultigridDef def = snwDefaultMultigridDef();
    snwMessage message = {0};
    *bench = (Bench){.context = snwFixture_Context(threads, simd, NULL)};
    return snwFemBody_MakeBar(&bench->body, cells, jitter, &message) >= 0 &&
           snwFemStage_Open(&bench->stage, bench->context, &bench->body, unknowns, &def, &message) >= 0;
}

static void Close(Bench* bench)
{
    snwFemStage_Close(&bench->stage);
    snwFemBody_Free(&bench->body);
    snwDestroyContext(bench->context);
}

static snwGridReport SolveStep(Bench* bench, double h)
{
    snwMultigrid_Hold(bench->stage.grid, bench->body.held, snw_holdMask);
    snwFemStage_Assemble(&bench->stage, h);
    snwFemStage_Refresh(&bench->stage);
    return snwFemStage_Solve(&bench->stage, snw_gridGradients, 1e-6, 300);
}

static const int s_bar[3] = {16, 4, 4}, s_paperBar[3] = {64, 8, 8};

TEST(grid, solvesThePapersBarInTwelveIterations)
{
    Bench bench;
    REQUIRE(Open(&bench, s_paperBar, 0, 6, 1, snw_simdAuto));
    CHECK(bench.body.tetCount == 24576);
    CHECK(snwMultigrid_Stats(bench.stage.grid).levels == 4);
    snwGridReport still = SolveStep(&bench, 0), step = SolveStep(&bench, 0.02);
    CHECK(still.residual <= 1e-6 && still.iterations <= 12);
    CHECK(step.residual <= 1e-6 && step.iterations <= 10);
    Close(&bench);
}

// The published space cannot bend, and takes more; but it gets there.
TEST(grid, threeUnknownsTakeLonger)
{
    Bench bench;
    REQUIRE(Open(&bench, s_paperBar, 0, 3, 1, snw_simdAuto));
    snwGridReport still = SolveStep(&bench, 0);
    CHECK(still.residual <= 1e-6 && still.iterations > 15 && still.iterations <= 32);
    Close(&bench);
}

// Cycles alone, as the paper has them: V(2, 1).
TEST(grid, cyclesAloneConverge)
{
    Bench bench = {.context = snwFixture_Context(1, snw_simdAuto, NULL)};
    snwMultigridDef def = snwDefaultMultigridDef();
    def.before = 2;
    def.visits[1] = 1;
    REQUIRE(snwFemBody_MakeBar(&bench.body, s_bar, 0, NULL) >= 0);
    REQUIRE(snwFemStage_Open(&bench.stage, bench.context, &bench.body, 6, &def, NULL) >= 0);
    snwFemStage_Assemble(&bench.stage, 0.02);
    snwFemStage_Refresh(&bench.stage);
    snwGridReport report = snwFemStage_Solve(&bench.stage, snw_gridCycles, 1e-6, 40);
    CHECK(report.residual <= 1e-6 && report.iterations <= 16);
    Close(&bench);
}

static uint64_t HashOfSolution(int threads, snwSimd simd)
{
    static const int cells[3] = {40, 10, 10};
    Bench bench;
    if (!Open(&bench, cells, 0.3, 6, threads, simd))
        return 0;
    SolveStep(&bench, 0);
    uint64_t hash = snwHash(bench.stage.u, (size_t)bench.body.vertexCount * sizeof(snwVec3), 0);
    Close(&bench);
    return hash;
}

TEST(grid, sameBitsForThreadsAndInstructionSets) // Labels: kernels threads
{
    uint64_t hash = HashOfSolution(1, snw_simdAuto);
    CHECK(hash != 0);
    CHECK(HashOfSolution(2, snw_simdAuto) == hash);
    CHECK(HashOfSolution(3, snw_simdAuto) == hash);
    CHECK(HashOfSolution(8, snw_simdAuto) == hash);
    CHECK(HashOfSolution(1, snw_simdBase) == hash);
    CHECK(HashOfSolution(2, snw_simdScalar) == hash);
}

TEST(grid, solvingTakesNoMemory)
{
    snwCountingAllocator counter = {0};
    snwFemBody body;
    snwFemStage stage;
    snwMultigridDef def = snwDefaultMultigridDef();
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    REQUIRE(snwFemBody_MakeBar(&body, s_bar, 0, NULL) >= 0);
    REQUIRE(snwFemStage_Open(&stage, context, &body, 6, &def, NULL) >= 0);
    long before = counter.allocations;
    snwFemStage_Assemble(&stage, 0.02);
    snwFemStage_Refresh(&stage);
    snwFemStage_Solve(&stage, snw_gridGradients, 1e-6, 20);
    CHECK(counter.allocations == before);
    snwFemStage_Close(&stage);
    snwFemBody_Free(&body);
    snwDestroyContext(context);
    CHECK(counter.live == 0);
}

TEST(grid, noMemoryIsAnError)
{
    static const int cells[3] = {12, 3, 3};
    snwFemBody body;
    snwMultigridDef def = snwDefaultMultigridDef();
    REQUIRE(snwFemBody_MakeBar(&body, cells, 0, NULL) >= 0);
    bool done = false;
    for (long n = 2; !done && n < 1000; n += 7)
    {
        snwCountingAllocator counter = {.failAt = n};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwFemStage stage;
        snwMessage message = {0};
        snwResult result = context != NULL ? snwFemStage_Open(&stage, context, &body, 6, &def, &message)
                                           : snw_errorMemory;
        done = result >= 0;
        CHECK(done || result == snw_errorMemory);
        if (done)
            snwFemStage_Close(&stage);
        if (context != NULL)
            snwDestroyContext(context);
        CHECK(counter.live == 0);
    }
    CHECK(done);
    snwFemBody_Free(&body);
}

// ---------------------------------------------------------------------------------------------------------------------
// Held vertices

TEST(grid, anyVerticesMayBeHeldAtAnyTime)
{
    static const double shares[] = {0.1, 0.5, 0.8, 0.95};
    static const int most[] = {14, 11, 8, 8};
    uint64_t seed = 7;
    Bench bench;
    REQUIRE(Open(&bench, s_bar, 0.2, 6, 1, snw_simdAuto));
    for (int s = 0; s < 4; ++s)
    {
        for (int v = 0; v < bench.body.vertexCount; ++v)
            bench.body.held[v] = snwTest_Random(&seed) < shares[s];
        snwGridReport report = SolveStep(&bench, 0);
        CHECK(report.finite && report.residual <= 1e-6 && report.iterations <= most[s]);
        for (int v = 0; v < bench.body.vertexCount; ++v)
            CHECK(!bench.body.held[v] || snwVec3_Length(bench.stage.u[v]) == 0);
    }

    // All but one, all, and none (with mass, or it would have nowhere to rest).
    memset(bench.body.held, 1, (size_t)bench.body.vertexCount);
    bench.body.held[100] = 0;
    snwGridReport one = SolveStep(&bench, 0);
    CHECK(one.finite && one.residual <= 1e-6 && one.iterations <= 2 && bench.stage.u[100].y < 0);
    bench.body.held[100] = 1;
    snwGridReport none = SolveStep(&bench, 0);
    CHECK(none.finite && none.iterations == 0 && bench.stage.u[100].y == 0);
    memset(bench.body.held, 0, (size_t)bench.body.vertexCount);
    snwGridReport free = SolveStep(&bench, 0.02);
    CHECK(free.residual <= 1e-6 && free.iterations <= 11);
    Close(&bench);
}

// A vertex that is let go again leaves no trace in the hierarchy.
TEST(grid, holdingAndLettingGoGivesTheSameBits)
{
    Bench bench;
    REQUIRE(Open(&bench, s_bar, 0, 6, 1, snw_simdAuto));
    size_t bytes = (size_t)bench.body.vertexCount * sizeof(snwVec3);
    snwFemStage_Assemble(&bench.stage, 0.02);
    uint64_t hashes[3];
    for (int turn = 0; turn < 3; ++turn)
    {
        for (int v = 50; v < 150 && turn > 0; ++v)
            bench.body.held[v] ^= 1;
        snwMultigrid_Hold(bench.stage.grid, bench.body.held, snw_holdMask);
        snwFemStage_Refresh(&bench.stage);
        snwFemStage_Solve(&bench.stage, snw_gridGradients, 1e-6, 50);
        hashes[turn] = snwHash(bench.stage.u, bytes, 0);
    }
    CHECK(hashes[1] != hashes[0]);
    CHECK(hashes[2] == hashes[0]);
    Close(&bench);
}

// Only the midpoints of one face's edges are free: three unknowns on each of the face's four corners are then more than
// the midpoints can feel, and the published rule keeps them all.
TEST(grid, lostRankIsHarmless)
{
    for (int unknowns = 3; unknowns <= 6; unknowns += 3)
    {
        static const int cells[3] = {16, 8, 8};
        Bench bench;
        REQUIRE(Open(&bench, cells, 0, unknowns, 1, snw_simdAuto));
        for (int v = 0; v < bench.body.vertexCount; ++v)
        {
            int x = v / 81, y = v / 9 % 9, z = v % 9;
            bench.body.held[v] = !(x == 16 && y <= 2 && z <= 2 && (y + z) % 2 == 1);
        }
        snwGridReport report = SolveStep(&bench, 0);
        CHECK(report.finite && report.residual <= 1e-6 && report.iterations <= 10);
        CHECK(snwMultigrid_Stats(bench.stage.grid).dropped > 0);
        Close(&bench);
    }
}

// Rank of the interpolation to a coarse level, over its coarse vertices that are free; -1: no memory.
static int RankOfTransfer(const snwLevel* fine, const snwLevel* coarse, int* free_)
{
    const snwTransfer* t = fine->transfer;
    int n = coarse->rows, rank = 0;
    double* m = calloc((size_t)fine->rows * (size_t)n, sizeof *m);
    *free_ = 0;
    for (int c = 0; c < n; ++c)
        *free_ += !coarse->held[c];
    for (int i = 0; i < fine->rows; ++i)
        for (int k = t->parentStarts[i]; k < t->parentStarts[i + 1]; ++k)
            m[i * n + t->parents[k]] = (double)fine->links[4 * k + 3];
    for (int c = 0; c < n; ++c) // columns one after the other, the largest entry of the rows that are left
    {
        int best = -1;
        for (int i = rank; i < fine->rows; ++i)
            if (best < 0 || fabs(m[i * n + c]) > fabs(m[best * n + c]))
                best = i;
        if (best < 0 || fabs(m[best * n + c]) < 1e-6)
            continue;
        for (int k = 0; k < n; ++k)
        {
            double swap = m[best * n + k];
            m[best * n + k] = m[rank * n + k], m[rank * n + k] = swap;
        }
        for (int i = rank + 1; i < fine->rows; ++i)
        {
            double factor = m[i * n + c] / m[rank * n + c];
            for (int k = c; k < n && factor != 0; ++k)
                m[i * n + k] -= factor * m[rank * n + k];
        }
        rank++;
    }
    free(m);
    return rank;
}

// Peeling gives full rank on every level, whatever is held; the published rule does not, on one face of the coarse
// lattice of which only the midpoints of the edges are free.
TEST(grid, peelingKeepsFullRank)
{
    static const int cells[3] = {8, 4, 4};
    uint64_t seed = 21;
    for (int kind = 0; kind < 6; ++kind) // the face; then more and more at random, on a lattice and beside it
    {
        Bench bench;
        REQUIRE(Open(&bench, cells, kind > 2 ? 0.2 : 0, 3, 1, snw_simdAuto));
        for (int v = 0; v < bench.body.vertexCount; ++v)
        {
            int x = v / 25, y = v / 5 % 5, z = v % 5;
            bool free_ = x == 8 && y <= 2 && z <= 2 && (y + z) % 2 == 1;
            bench.body.held[v] = kind == 0 ? !free_ : snwTest_Random(&seed) < 0.2 + 0.3 * (kind % 3);
        }
        const snwMultigrid* grid = bench.stage.grid;
        int freeCount;
        snwMultigrid_Hold(bench.stage.grid, bench.body.held, snw_holdPeel);
        for (int a = 0; a + 1 < grid->levelCount; ++a)
        {
            CHECK(RankOfTransfer(&grid->levels[a], &grid->levels[a + 1], &freeCount) == freeCount);
            CHECK(freeCount > 0);
        }
        snwMultigrid_Hold(bench.stage.grid, bench.body.held, snw_holdGreedy);
        int rank = RankOfTransfer(&grid->levels[0], &grid->levels[1], &freeCount);
        CHECK(kind > 0 || (freeCount == 4 && rank == 3));
        Close(&bench);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Levels

static const float* BlockAt(const snwLevel* level, int row, int column)
{
    const snwBlockGraph* graph = level->graph;
    size_t block = (size_t)(level->size * level->size);
    if (row == column)
        return level->diagonal + block * (size_t)row;
    for (int k = graph->lowStarts[row]; k < graph->lowStarts[row + 1]; ++k)
        if (graph->lowColumns[k] == column)
            return level->low + block * (size_t)k;
    for (int k = graph->upStarts[row]; k < graph->upStarts[row + 1]; ++k)
        if (graph->upColumns[k] == column)
            return level->up + block * (size_t)k;
    return NULL;
}

// P of one fine vertex and one of its parents: rows of the fine block, columns of the coarse one.
static void Interpolation(const snwLevel* fine, const snwLevel* coarse, int slot, double P[6][6])
{
    double w = (double)fine->links[4 * slot + 3];
    const float* d = fine->links + 4 * slot;
    memset(P, 0, sizeof(double[6][6]));
    for (int k = 0; k < 3; ++k)
        P[k][k] = w;
    if (coarse->size == 3)
        return;
    for (int k = 3; k < fine->size; ++k)
        P[k][k] = w;
    // r x d
    P[0][4] = w * (double)d[2], P[0][5] = -w * (double)d[1];
    P[1][5] = w * (double)d[0], P[1][3] = -w * (double)d[2];
    P[2][3] = w * (double)d[1], P[2][4] = -w * (double)d[0];
}

// Largest difference between the coarse matrix and P^T A P, computed plainly, over the largest entry.
static double GalerkinError(const snwLevel* fine, const snwLevel* coarse)
{
    const snwTransfer* t = fine->transfer;
    int n = coarse->rows * coarse->size;
    double *product = calloc((size_t)n * (size_t)n, sizeof(double)), most = 0, worst = 0;
    for (int i = 0; i < fine->rows; ++i)
        for (int j = 0; j < fine->rows; ++j)
        {
            const float* A = BlockAt(fine, i, j);
            for (int a = t->parentStarts[i]; A != NULL && a < t->parentStarts[i + 1]; ++a)
                for (int b = t->parentStarts[j]; b < t->parentStarts[j + 1]; ++b)
                {
                    double P[6][6], Q[6][6];
                    Interpolation(fine, coarse, a, P);
                    Interpolation(fine, coarse, b, Q);
                    for (int r = 0; r < coarse->size; ++r)
                        for (int c = 0; c < coarse->size; ++c)
                        {
                            double sum = 0;
                            for (int p = 0; p < fine->size; ++p)
                                for (int q = 0; q < fine->size; ++q)
                                    sum += P[p][r] * (double)A[fine->size * q + p] * Q[q][c];
                            product[(t->parents[a] * coarse->size + r) * n + t->parents[b] * coarse->size + c] += sum;
                        }
                }
        }
    for (int i = 0; i < coarse->rows; ++i)
        for (int j = 0; j < coarse->rows; ++j)
        {
            const float* A = BlockAt(coarse, i, j);
            for (int r = 0; r < coarse->size; ++r)
                for (int c = 0; c < coarse->size; ++c)
                {
                    double value = product[(i * coarse->size + r) * n + j * coarse->size + c];
                    most = fmax(most, fabs(value));
                    worst = fmax(worst, fabs(value - (A != NULL ? (double)A[coarse->size * c + r] : 0)));
                }
        }
    free(product);
    return worst / most;
}

TEST(grid, coarseMatricesAreProducts)
{
    for (int unknowns = 3; unknowns <= 6; unknowns += 3)
    {
        static const int cells[3] = {12, 3, 3};
        Bench bench;
        REQUIRE(Open(&bench, cells, 0.2, unknowns, 1, snw_simdAuto));
        SolveStep(&bench, 0.02);
        const snwMultigrid* grid = bench.stage.grid;
        REQUIRE(grid->levelCount >= 2);
        for (int a = 0; a + 1 < grid->levelCount; ++a)
            CHECK_NEAR(GalerkinError(&grid->levels[a], &grid->levels[a + 1]), 0, 2e-6);
        Close(&bench);
    }
}

// A body that turns as a whole moves exactly with what its coarse vertices say.
TEST(grid, coarseVerticesTurnBodiesExactly)
{
    Bench bench;
    REQUIRE(Open(&bench, s_bar, 0.2, 6, 1, snw_simdAuto));
    memset(bench.body.held, 0, (size_t)bench.body.vertexCount);
    SolveStep(&bench, 0.02);
    const snwLevel* level = bench.stage.grid->levels;
    const snwVec3 turn = {0.3, -0.5, 0.7};
    for (int a = 0; a + 1 < bench.stage.grid->levelCount; ++a, ++level)
        for (int i = 0; i < level->rows; ++i)
        {
            snwVec3 sum = {0, 0, 0};
            for (int k = level->transfer->parentStarts[i]; k < level->transfer->parentStarts[i + 1]; ++k)
            {
                const float* d = level->links + 4 * k;
                snwVec3 lever = {(double)d[0], (double)d[1], (double)d[2]};
                snwVec3 move = snwVec3_Cross(turn, level[1].now[level->transfer->parents[k]]);
                move = snwVec3_Add(move, snwVec3_Cross(turn, lever));
                sum = snwVec3_MulAdd(sum, (double)level->links[4 * k + 3], move);
            }
            CHECK_NEAR(snwVec3_Distance(sum, snwVec3_Cross(turn, level->now[i])), 0, 1e-6);
        }
    Close(&bench);
}

// Two bars, closer to each other than a lattice is wide: no coarse vertex has children in both.
TEST(grid, whatOnlyLiesNearIsNotGlued)
{
    static const int cells[3] = {16, 2, 2};
    snwFemBody one, two;
    REQUIRE(snwFemBody_MakeBar(&one, cells, 0.1, NULL) >= 0);
    REQUIRE(snwFemBody_MakeBar(&two, cells, 0.1, NULL) >= 0);
    int count = one.vertexCount, tets = one.tetCount;
    snwVec3* rest = malloc(2 * (size_t)count * sizeof *rest);
    int* elements = malloc(8 * (size_t)tets * sizeof *elements);
    for (int v = 0; v < 2 * count; ++v)
        rest[v] = v < count ? one.rest[v] : snwVec3_Add(two.rest[v - count], (snwVec3){0, 0.15, 0});
    for (int k = 0; k < 8 * tets; ++k)
        elements[k] = k < 4 * tets ? one.tets[k] : two.tets[k - 4 * tets] + count;

    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGridLevelsDef def = snwDefaultGridLevelsDef();
    snwGridLevels* grid;
    def.vertexCount = 2 * count, def.rest = rest, def.elementCount = 2 * tets, def.elements = elements;
    REQUIRE(snwGridLevels_Create(context, &def, &grid, NULL) >= 0);
    unsigned char* side = calloc(2 * (size_t)count, 1); // 1 or 2, of rows
    for (int v = 0; v < 2 * count; ++v)
        side[grid->rowOf[v]] = v < count ? 1 : 2;
    for (int a = 0; a + 1 < grid->count; ++a)
    {
        const snwTransfer* t = &grid->levels[a].transfer;
        unsigned char* next = calloc(2 * (size_t)count, 1);
        for (int i = 0; i < grid->levels[a].rows; ++i)
            for (int k = t->parentStarts[i]; k < t->parentStarts[i + 1]; ++k)
                next[t->parents[k]] |= side[i];
        for (int c = 0; c < grid->levels[a + 1].rows; ++c)
            CHECK(next[c] == 1 || next[c] == 2);
        free(side);
        side = next;
    }
    CHECK(grid->count >= 2);
    free(side), free(rest), free(elements);
    snwGridLevels_Destroy(grid);
    snwDestroyContext(context);
    snwFemBody_Free(&one);
    snwFemBody_Free(&two);
}

// Single tetrahedra here and there: islands that no lattice joins.
TEST(grid, islandsAreSolved)
{
    enum
    {
        snw_islands = 300
    };
    snwVec3 rest[4 * snw_islands];
    int tets[4 * snw_islands];
    double mu[snw_islands], lambda[snw_islands];
    uint64_t seed = 3;
    for (int k = 0; k < snw_islands; ++k)
    {
        snwVec3 at = {10 * snwTest_Random(&seed), 10 * snwTest_Random(&seed), 10 * snwTest_Random(&seed)};
        for (int a = 0; a < 4; ++a)
        {
            rest[4 * k + a] = snwVec3_Add(at, (snwVec3){a == 1, a == 2, a == 3});
            tets[4 * k + a] = 4 * k + a;
        }
        mu[k] = lambda[k] = 1e5;
    }
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwGridLevelsDef def = snwDefaultGridLevelsDef();
    snwMultigridDef gridDef = snwDefaultMultigridDef();
    snwGridLevels* levels;
    snwMultigrid* grid;
    snwCorotated* flesh;
    def.vertexCount = 4 * snw_islands, def.rest = rest, def.elementCount = snw_islands, def.elements = tets;
    REQUIRE(snwGridLevels_Create(context, &def, &levels, NULL) >= 0);
    REQUIRE(snwMultigrid_Create(context, levels, &gridDef, &grid, NULL) >= 0);
    snwCorotatedDef corotated = {
        4 * snw_islands, rest, snw_islands, tets, mu, lambda, levels, snwMultigrid_Matrix(grid)};
    REQUIRE(snwCorotated_Create(context, &corotated, &flesh, NULL) >= 0);
    static double added[4 * snw_islands];
    static snwVec3 f[4 * snw_islands], u[4 * snw_islands];
    for (int v = 0; v < 4 * snw_islands; ++v)
        added[v] = 1e4, f[v] = (snwVec3){1, v % 3, -1};
    snwCorotated_Assemble(flesh, added);
    snwMultigrid_Refresh(grid, rest);
    snwGridSolveDef solve = {snw_gridGradients, 1e-6, 60};
    snwGridReport report = snwCorotated_Solve(flesh, grid, added, NULL, &solve, f, u);
    CHECK(report.finite && report.residual <= 1e-6);
    snwCorotated_Destroy(flesh);
    snwMultigrid_Destroy(grid);
    snwGridLevels_Destroy(levels);
    snwDestroyContext(context);
}

TEST(grid, badElementsAreErrors)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 rest[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int tet[4] = {0, 1, 2, 4};
    snwGridLevelsDef def = snwDefaultGridLevelsDef();
    snwGridLevels* grid;
    snwMessage message = {0};
    def.vertexCount = 4, def.rest = rest, def.elementCount = 1, def.elements = tet;
    CHECK(snwGridLevels_Create(context, &def, &grid, &message) == snw_errorInput && grid == NULL);
    tet[3] = 3;
    rest[2].y = (double)NAN;
    CHECK(snwGridLevels_Create(context, &def, &grid, &message) == snw_errorInput);
    rest[2].y = 1e30; // longer than any lattice counts
    rest[3].z = 1e-30;
    snwResult result = snwGridLevels_Create(context, &def, &grid, &message);
    CHECK(result >= 0 || result == snw_errorInput);
    if (result >= 0)
        snwGridLevels_Destroy(grid);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

// The matrix in floats is that of the elements in double, but for rounding.
TEST(corotated, theMatrixIsWhatTheElementsSay)
{
    static const snwTetStop s_stops[] = {{0, {{4000, 0, 500}, {100, -2000, 900}, {-900, 500, 3000}}},
        {1, {{0, 3000, 0}, {2000, 200, -900}, {500, 500, 500}}}, {70, {{0, 0, 4000}, {1000, 1000, 0}, {-3000, 0, 0}}}};
    Bench bench;
    REQUIRE(Open(&bench, s_bar, 0.2, 6, 1, snw_simdAuto));
    snwCorotated_SetStops(bench.stage.flesh, s_stops, 3);
    snwFemStage_Assemble(&bench.stage, 0.02);
    snwMultigrid_Hold(bench.stage.grid, NULL, snw_holdMask);
    const int* rowOf = snwGridLevels_RowOf(bench.stage.levels);
    int count = bench.body.vertexCount;
    size_t numbers = 3 * (size_t)count;
    double *x = calloc(numbers, sizeof(double)), *y = calloc(numbers, sizeof(double));
    snwVec3 *in = calloc((size_t)count, sizeof *in), *out = calloc((size_t)count, sizeof *out);
    uint64_t seed = 5;
    for (int v = 0; v < count; ++v)
        for (int k = 0; k < 3; ++k)
            (&in[v].x)[k] = x[3 * rowOf[v] + k] = snwTest_Random(&seed) - 0.5;
    snwMultigrid_Kernels(snw_simdAuto)->multiply(bench.stage.grid, x, y, 0, count);
    snwCorotated_Multiply(bench.stage.flesh, bench.stage.added, in, out);
    double worst = 0, most = 0;
    for (int v = 0; v < count; ++v)
        for (int k = 0; k < 3; ++k)
        {
            worst = fmax(worst, fabs(y[3 * rowOf[v] + k] - (&out[v].x)[k]));
            most = fmax(most, fabs((&out[v].x)[k]));
        }
    CHECK_NEAR(worst / most, 0, 1e-6);

    // What stops add to d . K d is the square of what they know of d.
    double with = 0, without = 0, added = 0;
    for (int v = 0; v < count; ++v)
        with += snwVec3_Dot(in[v], out[v]);
    snwCorotated_SetStops(bench.stage.flesh, NULL, 0);
    snwCorotated_Multiply(bench.stage.flesh, bench.stage.added, in, out);
    for (int v = 0; v < count; ++v)
        without += snwVec3_Dot(in[v], out[v]);
    for (int n = 0; n < 3; ++n)
    {
        const int* v = bench.body.tets + 4 * s_stops[n].tet;
        double sum = 0;
        for (int a = 0; a < 3; ++a)
            for (int k = 0; k < 3; ++k)
                sum += (double)s_stops[n].g[a][k] * ((&in[v[a + 1]].x)[k] - (&in[v[0]].x)[k]);
        added += sum * sum;
    }
    CHECK(added > 1e-3 * with);
    CHECK_NEAR((with - without) / added, 1, 1e-6);
    snwCorotated_SetStops(bench.stage.flesh, s_stops, 3);

    // A body that moves as a whole feels nothing, but for rounding that does no work.
    snwFemStage_Assemble(&bench.stage, 0);
    for (int axis = 0; axis < 3; ++axis)
    {
        double work = 0;
        for (size_t k = 0; k < numbers; ++k)
            x[k] = (int)(k % 3) == axis;
        snwMultigrid_Kernels(snw_simdAuto)->multiply(bench.stage.grid, x, y, 0, count);
        for (size_t k = 0; k < numbers; ++k)
        {
            CHECK_NEAR(y[k] / most, 0, 1e-7);
            work += x[k] * y[k];
        }
        CHECK_NEAR(work / most, 0, 1e-12);
    }
    free(x), free(y), free(in), free(out);
    Close(&bench);
}

// Energy of one element, W = V (mu |F - R|^2 + lambda / 2 tr(R^T F - I)^2) with R held: its second derivative, by
// differences, is K.
TEST(corotated, stiffnessIsTheSecondDerivativeOfEnergy)
{
    static const int one[3] = {1, 1, 1};
    Bench bench;
    REQUIRE(Open(&bench, one, 0.3, 6, 1, snw_simdAuto));
    memset(bench.body.held, 0, (size_t)bench.body.vertexCount);
    int count = bench.body.vertexCount;
    snwVec3 direction[8], product[8];
    uint64_t seed = 9;
    REQUIRE(count == 8);
    for (int v = 0; v < count; ++v)
    {
        bench.body.now[v] = bench.body.rest[v]; // at rest R = I
        for (int k = 0; k < 3; ++k)
            (&direction[v].x)[k] = snwTest_Random(&seed) - 0.5;
    }
    snwFemStage_Assemble(&bench.stage, 0);
    snwCorotated_Multiply(bench.stage.flesh, NULL, direction, product);
    double quadratic = 0, energy = 0;
    for (int v = 0; v < count; ++v)
        quadratic += snwVec3_Dot(direction[v], product[v]);
    for (int e = 0; e < bench.body.tetCount; ++e)
    {
        const int* v = bench.body.tets + 4 * e;
        snwMat3 rest, moved;
        for (int a = 0; a < 3; ++a)
            for (int k = 0; k < 3; ++k)
            {
                rest.m[k][a] = (&bench.body.rest[v[a + 1]].x)[k] - (&bench.body.rest[v[0]].x)[k];
                moved.m[k][a] = (&direction[v[a + 1]].x)[k] - (&direction[v[0]].x)[k];
            }
        snwMat3 inverse;
        REQUIRE(snwMat3_Inverse(rest, &inverse));
        snwMat3 G = snwMat3_Mul(moved, inverse);
        double volume = snwMat3_Determinant(rest) / 6, trace = G.m[0][0] + G.m[1][1] + G.m[2][2], shear = 0;
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c)
                shear += 0.25 * (G.m[r][c] + G.m[c][r]) * (G.m[r][c] + G.m[c][r]);
        energy += volume * (bench.body.mu[e] * shear + bench.body.lambda[e] / 2 * trace * trace);
    }
    CHECK_NEAR(quadratic / 2 / energy, 1, 1e-6);
    Close(&bench);
}

// A turned body has the turned matrix: K(R x) R d = R K(x) d.
TEST(corotated, aTurnedBodyIsAsStiff)
{
    Bench bench;
    REQUIRE(Open(&bench, s_bar, 0.2, 6, 1, snw_simdAuto));
    int count = bench.body.vertexCount;
    snwVec3 *d = calloc((size_t)count, sizeof *d), *y = calloc((size_t)count, sizeof *y),
            *turned = calloc((size_t)count, sizeof *turned);
    uint64_t seed = 11;
    double c = cos(2.5), s = sin(2.5), most = 0;
    for (int v = 0; v < count; ++v)
    {
        bench.body.now[v] = bench.body.rest[v];
        d[v] = (snwVec3){snwTest_Random(&seed), snwTest_Random(&seed), snwTest_Random(&seed)};
    }
    snwFemStage_Assemble(&bench.stage, 0);
    snwCorotated_Multiply(bench.stage.flesh, NULL, d, y);
    for (int v = 0; v < count; ++v)
    {
        snwVec3 x = bench.body.rest[v], e = d[v];
        bench.body.now[v] = (snwVec3){c * x.x - s * x.y + 3, s * x.x + c * x.y, x.z};
        d[v] = (snwVec3){c * e.x - s * e.y, s * e.x + c * e.y, e.z};
        most = fmax(most, snwVec3_Length(y[v]));
    }
    snwFemStage_Assemble(&bench.stage, 0);
    snwCorotated_Multiply(bench.stage.flesh, NULL, d, turned);
    for (int v = 0; v < count; ++v)
        CHECK_NEAR(
            snwVec3_Distance(turned[v], (snwVec3){c * y[v].x - s * y[v].y, s * y[v].x + c * y[v].y, y[v].z}) / most, 0,
            3e-6);
    free(d), free(y), free(turned);
    Close(&bench);
}
