// Labels: kernels

#include "base/arena.h"
#include "fixture.h"
#include "geom/shapes.h"
#include "rig/biharmonic.h"
#include "rig/weights.h"
#include "test.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

typedef struct Body
{
    snwContext* context;
    snwArena arena;
    snwTetMesh tets;
    snwVec3 vertices[1200];
    int triangles[2400][3];
    snwHandleShape handles[8];
    snwHandleMesh mesh;
} Body;

static void AddHandle(Body* body, snwHandleKind kind, snwVec3 head, snwVec3 tail)
{
    body->handles[body->mesh.handleCount++] = (snwHandleShape){kind, head, tail};
    body->mesh.handles = body->handles;
}

static void AddPoint(Body* body, double x, double y, double z)
{
    AddHandle(body, snw_handlePoint, (snwVec3){x, y, z}, (snwVec3){0, 0, 0});
}

// A box of tets with its lowest corner at the origin.
static Body* NewBox(snwContext* context, double x, double y, double z, int nx, int ny, int nz)
{
    Body* body = calloc(1, sizeof *body);
    const int cells[3] = {nx, ny, nz};
    body->context = context;
    body->arena.context = context;
    if (!snwMakeBoxMesh(&body->arena, (snwVec3){x, y, z}, cells, &body->tets))
        abort();
    snwVec3 lower = body->tets.vertices[0];
    for (int i = 0; i < body->tets.vertexCount; ++i)
        lower = snwVec3_Min(lower, body->tets.vertices[i]);
    for (int i = 0; i < body->tets.vertexCount; ++i)
        body->tets.vertices[i] = snwVec3_Sub(body->tets.vertices[i], lower);
    body->mesh.vertices = body->tets.vertices;
    body->mesh.vertexCount = body->tets.vertexCount;
    body->mesh.elements = (snwElements){(const int*)body->tets.tets, 4, body->tets.tetCount};
    return body;
}

// A flat sheet [0, x] x [0, y]; every cell is cut so that the sheet is its own mirror image in x = x / 2 (even nx).
static Body* NewSheet(snwContext* context, double x, double y, int nx, int ny)
{
    Body* body = calloc(1, sizeof *body);
    int count = 0;
    body->context = context;
    body->arena.context = context;
    for (int j = 0; j <= ny; ++j)
        for (int i = 0; i <= nx; ++i)
            body->vertices[i + (nx + 1) * j] = (snwVec3){x * i / nx, y * j / ny, 0};
    for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i)
        {
            int a = i + (nx + 1) * j, b = a + 1, c = a + nx + 2, d = a + nx + 1;
            const int left[2][3] = {{a, b, c}, {a, c, d}}, right[2][3] = {{a, b, d}, {b, c, d}};
            memcpy(body->triangles[count], i < nx / 2 ? left : right, sizeof left);
            count += 2;
        }
    body->mesh.vertices = body->vertices;
    body->mesh.vertexCount = (nx + 1) * (ny + 1);
    body->mesh.elements = (snwElements){body->triangles[0], 3, count};
    return body;
}

static void FreeBody(Body* body)
{
    snwArena_Free(&body->arena);
    free(body);
}

static snwWeights* Solve(const Body* body, double tolerance, double rho, snwBiharmonicReport* report)
{
    snwBiharmonicDef def = snwDefaultBiharmonicDef();
    snwWeights* weights = NULL;
    snwMessage message = {0};
    def.mesh = &body->mesh;
    def.tolerance = tolerance;
    def.rho = rho;
    def.iterations = 5000;
    if (snwSolveBiharmonic(body->context, &def, &weights, report, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    return weights;
}

static double Largest(const snwWeights* a, const snwWeights* b)
{
    double worst = 0;
    for (int i = 0; i < a->vertexCount; ++i)
        for (int k = 0; k < a->handleCount; ++k)
            worst = fmax(worst, fabs(snwWeights_Get(a, i, k) - snwWeights_Get(b, i, k)));
    return worst;
}

// Bounds and sums without any tolerance but that of one addition; one where it is held, zero there for the others.
static void CheckSound(const Body* body, const snwWeights* weights)
{
    snwHeldVertices held;
    REQUIRE(snwHoldVertices(body->context, &body->mesh, &held, NULL) == snw_ok);
    CHECK_INT(snwWeights_Check(weights, body->mesh.vertexCount, body->mesh.handleCount, NULL), snw_ok);
    double worst = 0;
    int heldCount = 0;
    for (int i = 0; i < weights->vertexCount; ++i)
    {
        double sum = 0;
        for (int k = 0; k < weights->handleCount; ++k)
        {
            double weight = snwWeights_Get(weights, i, k);
            CHECK(weight >= 0 && weight <= 1);
            sum += weight;
            if (held.fixed[i])
                CHECK_NEAR(weight, held.values[i * weights->handleCount + k], 1e-15);
        }
        worst = fmax(worst, fabs(sum - 1));
        heldCount += held.fixed[i];
    }
    CHECK_NEAR(worst, 0, 1e-15);
    CHECK(heldCount > 0 && heldCount < weights->vertexCount);
    snwHeldVertices_Free(body->context, &held);
}

// ---------------------------------------------------------------------------------------------------------------------
// The oracle: dense matrices, and projected gradients until nothing moves any more

enum
{
    s_most = 64 // vertices
};

typedef struct Oracle
{
    double L[s_most][s_most], Q[s_most][s_most], mass[s_most];
    double w[s_most][8];
} Oracle;

// Cotangents, one angle at a time: not the way of the library.
static void AddCotangent(Oracle* o, const Body* body, int a, int b, int apex)
{
    snwVec3 u = snwVec3_Sub(body->mesh.vertices[a], body->mesh.vertices[apex]);
    snwVec3 v = snwVec3_Sub(body->mesh.vertices[b], body->mesh.vertices[apex]);
    double half = 0.5 * snwVec3_Dot(u, v) / snwVec3_Length(snwVec3_Cross(u, v));
    o->L[a][b] -= half, o->L[b][a] -= half;
    o->L[a][a] += half, o->L[b][b] += half;
}

static void MakeOracle(Oracle* o, const Body* body)
{
    memset(o, 0, sizeof *o);
    int n = body->mesh.vertexCount;
    for (int i = 0; i < body->mesh.elements.count; ++i)
    {
        const int* t = body->triangles[i];
        double area = 0.5 * snwVec3_Cross(snwVec3_Sub(body->vertices[t[1]], body->vertices[t[0]]),
                                snwVec3_Sub(body->vertices[t[2]], body->vertices[t[0]]))
                                .z;
        for (int k = 0; k < 3; ++k)
        {
            AddCotangent(o, body, t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
            o->mass[t[k]] += area / 3;
        }
    }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            for (int m = 0; m < n; ++m)
                o->Q[i][k] += o->L[i][m] * o->L[m][k] / o->mass[m];
}

// Duchi et al. 2008: by sorting, which the library does not do.
static void OracleProject(double* row, int count)
{
    double sorted[8], sum = 0, theta = 0;
    memcpy(sorted, row, (size_t)count * sizeof *row);
    for (int i = 0; i < count; ++i)
        for (int k = i + 1; k < count; ++k)
            if (sorted[k] > sorted[i])
            {
                double swap = sorted[i];
                sorted[i] = sorted[k], sorted[k] = swap;
            }
    for (int i = 0; i < count; ++i)
    {
        sum += sorted[i];
        if (sorted[i] > (sum - 1) / (i + 1))
            theta = (sum - 1) / (i + 1);
    }
    for (int i = 0; i < count; ++i)
        row[i] = row[i] > theta ? row[i] - theta : 0;
}

// Accelerated projected gradients with restarts (Beck and Teboulle 2009).
static void OracleSolve(Oracle* o, const Body* body, const snwHeldVertices* held)
{
    static double y[s_most][8], next[s_most][8];
    int n = body->mesh.vertexCount, H = body->mesh.handleCount;
    double bound = 0, momentum = 1;
    for (int i = 0; i < n; ++i)
    {
        double sum = 0;
        for (int k = 0; k < n; ++k)
            sum += fabs(o->Q[i][k]);
        bound = fmax(bound, sum);
        for (int k = 0; k < H; ++k)
            y[i][k] = o->w[i][k] = held->fixed[i] ? held->values[i * H + k] : 1.0 / H;
    }
    for (int iteration = 0; iteration < 60000; ++iteration)
    {
        double along = 0, moved = 0, grown = 0.5 * (1 + sqrt(1 + 4 * momentum * momentum));
        for (int i = 0; i < n; ++i)
        {
            memcpy(next[i], o->w[i], sizeof next[i]);
            for (int k = 0; k < H && !held->fixed[i]; ++k)
            {
                double gradient = 0;
                for (int m = 0; m < n; ++m)
                    gradient += o->Q[i][m] * y[m][k];
                next[i][k] = y[i][k] - gradient / bound;
            }
            if (!held->fixed[i])
                OracleProject(next[i], H);
            for (int k = 0; k < H; ++k)
                along += (y[i][k] - next[i][k]) * (next[i][k] - o->w[i][k]);
        }
        if (along > 0)
            momentum = grown = 1; // it goes uphill
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < H; ++k)
            {
                double step = next[i][k] - o->w[i][k];
                moved = fmax(moved, fabs(step));
                y[i][k] = next[i][k] + (momentum - 1) / grown * step;
                o->w[i][k] = next[i][k];
            }
        momentum = grown;
        if (moved < 1e-13 && iteration > 100)
            break;
    }
}

TEST(biharmonic, smallProblemsAreThoseOfTheOracle)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Oracle oracle;
    for (int run = 0; run < 3; ++run)
    {
        Body* body = NewSheet(context, 1.0, 0.8, 6, 5);
        uint64_t seed = (uint64_t)run + 1;
        for (int i = 0; i < body->mesh.vertexCount; ++i) // no two triangles alike
            body->vertices[i].x += 0.04 * (snwTest_Random(&seed) - 0.5),
                body->vertices[i].y += 0.04 * (snwTest_Random(&seed) - 0.5);
        AddPoint(body, 0.1, 0.1, 0);
        AddPoint(body, 0.8, 0.3, 0);
        if (run > 0)
            AddPoint(body, 0.4, 0.7, 0);
        if (run > 1)
            AddHandle(body, snw_handleBone, (snwVec3){0.3, 0.3, 0}, (snwVec3){0.6, 0.4, 0});
        snwBiharmonicReport report;
        snwWeights* weights = Solve(body, 1e-9, 1.5, &report);
        snwHeldVertices held;
        REQUIRE(weights != NULL && snwHoldVertices(context, &body->mesh, &held, NULL) == snw_ok);
        CHECK(report.converged);
        MakeOracle(&oracle, body);
        OracleSolve(&oracle, body, &held);
        double worst = 0;
        int bound = 0;
        for (int i = 0; i < body->mesh.vertexCount; ++i)
            for (int k = 0; k < body->mesh.handleCount; ++k)
            {
                worst = fmax(worst, fabs(snwWeights_Get(weights, i, k) - oracle.w[i][k]));
                bound += !held.fixed[i] && oracle.w[i][k] == 0;
            }
        CHECK_NEAR(worst, 0, 2e-5); // weights below 1e-5 are dropped
        CHECK(bound > 0);           // the bounds matter: it is not a linear problem
        snwHeldVertices_Free(context, &held);
        snwContext_Free(context, weights);
        FreeBody(body);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Known properties

TEST(biharmonic, boundsUnityAndHandlesAreExact)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    Body* box = NewBox(context, 1, 0.4, 0.4, 12, 5, 5);
    AddHandle(box, snw_handleBone, (snwVec3){0.05, 0.2, 0.2}, (snwVec3){0.4, 0.2, 0.2});
    AddHandle(box, snw_handleBone, (snwVec3){0.4, 0.2, 0.2}, (snwVec3){0.95, 0.2, 0.2});
    AddPoint(box, 0.5, 0.4, 0.4);
    snwBiharmonicReport report;
    snwWeights* weights = Solve(box, 1e-4, 1.5, &report);
    REQUIRE(weights != NULL);
    CHECK(report.converged && report.unreachedVertexCount == 0);
    CheckSound(box, weights);
    snwContext_Free(context, weights);
    snwBiharmonicDef def = snwDefaultBiharmonicDef(); // also when it is stopped at once
    def.mesh = &box->mesh, def.iterations = 1;
    REQUIRE(snwSolveBiharmonic(context, &def, &weights, &report, NULL) == snw_ok);
    CHECK(!report.converged);
    CheckSound(box, weights);
    snwContext_Free(context, weights);
    FreeBody(box);
    snwDestroyContext(context);
}

// A long bar, held at both ends: the cubic 3 t^2 - 2 t^3 of a clamped... no: free ends of a held vertex are natural
// boundaries, and between two held cross-sections the smoothest curve is the straight line.
TEST(biharmonic, barBetweenTwoPointsIsMonotonic)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body* bar = NewBox(context, 3, 0.2, 0.2, 30, 2, 2);
    AddPoint(bar, 0, 0.1, 0.1);
    AddPoint(bar, 1.5, 0.1, 0.1);
    AddPoint(bar, 3, 0.1, 0.1);
    snwBiharmonicReport report;
    snwWeights* weights = Solve(bar, 1e-7, 1.5, &report);
    REQUIRE(weights != NULL && report.converged);
    double last = 2;
    for (int i = 0; i <= 30; ++i)
        for (int v = 0; v < bar->mesh.vertexCount; ++v)
        {
            snwVec3 p = bar->mesh.vertices[v];
            if (fabs(p.x - 0.1 * i) > 1e-9 || fabs(p.y - 0.1) > 1e-9 || fabs(p.z - 0.1) > 1e-9)
                continue;
            double first = snwWeights_Get(weights, v, 0);
            CHECK(i > 15 || first < last || i == 0); // falls all the way to the next handle
            if (i > 16)
                CHECK_NEAR(first, 0, 5e-3); // and stays near nothing behind it
            last = first;
        }
    snwContext_Free(context, weights);
    FreeBody(bar);
    snwDestroyContext(context);
}

TEST(biharmonic, mirroredCharactersGetMirroredWeights)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body* sheet = NewSheet(context, 1.0, 0.6, 16, 9);
    AddPoint(sheet, 0.2, 0.1, 0);
    AddPoint(sheet, 0.8, 0.1, 0);
    AddHandle(sheet, snw_handleBone, (snwVec3){0.5, 0.25, 0}, (snwVec3){0.5, 0.55, 0});
    snwBiharmonicReport report;
    snwWeights* weights = Solve(sheet, 1e-8, 1.5, &report);
    REQUIRE(weights != NULL && report.converged);
    double worst = 0;
    for (int j = 0; j <= 9; ++j)
        for (int i = 0; i <= 16; ++i)
            for (int k = 0; k < 3; ++k)
            {
                double here = snwWeights_Get(weights, i + 17 * j, k);
                worst = fmax(worst, fabs(here - snwWeights_Get(weights, 16 - i + 17 * j, k < 2 ? 1 - k : 2)));
            }
    CHECK_NEAR(worst, 0, 1e-6);
    CheckSound(sheet, weights);
    snwContext_Free(context, weights);
    FreeBody(sheet);
    snwDestroyContext(context);
}

TEST(biharmonic, penaltyAndUnitsDoNotMatter)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body *one = NewBox(context, 1, 0.5, 0.5, 8, 4, 4), *tiny = NewBox(context, 1e-4, 5e-5, 5e-5, 8, 4, 4);
    const double places[3][3] = {{0, 0.25, 0.25}, {0.5, 0.5, 0.5}, {1, 0.25, 0}};
    for (int k = 0; k < 3; ++k)
    {
        AddPoint(one, places[k][0], places[k][1], places[k][2]);
        AddPoint(tiny, 1e-4 * places[k][0], 1e-4 * places[k][1], 1e-4 * places[k][2]);
    }
    snwBiharmonicReport report;
    snwWeights* weights = Solve(one, 1e-7, 1.5, &report);
    CHECK(report.converged);
    for (int run = 0; run < 4; ++run)
    {
        static const double rhos[4] = {0.02, 0.3, 8, 1.5};
        snwWeights* other = Solve(run == 3 ? tiny : one, 1e-7, rhos[run], &report);
        REQUIRE(weights != NULL && other != NULL);
        CHECK(report.converged);
        CHECK_NEAR(Largest(weights, other), 0, 2e-5);
        snwContext_Free(context, other);
    }
    snwContext_Free(context, weights);
    FreeBody(one);
    FreeBody(tiny);
    snwDestroyContext(context);
}

TEST(biharmonic, sameBitsForAnyThreads) // Labels: threads
{
    snwWeights* first = NULL;
    snwContext* firstContext = NULL;
    for (int threads = 1; threads <= 5; threads += 2)
    {
        snwContext* context = snwFixture_Context(threads, snw_simdAuto, NULL);
        Body* box = NewBox(context, 1, 0.5, 0.5, 12, 6, 6);
        AddPoint(box, 0, 0.25, 0.25);
        AddPoint(box, 1, 0.5, 0.5);
        AddHandle(box, snw_handleBone, (snwVec3){0.3, 0.25, 0.25}, (snwVec3){0.7, 0.25, 0.25});
        snwBiharmonicReport report;
        snwWeights* weights = Solve(box, 1e-4, 1.5, &report);
        REQUIRE(weights != NULL);
        if (first == NULL)
            first = weights, firstContext = context;
        size_t entries = (size_t)first->starts[first->vertexCount];
        CHECK(memcmp(first->starts, weights->starts, ((size_t)first->vertexCount + 1) * sizeof(int)) == 0);
        CHECK(memcmp(first->values, weights->values, entries * sizeof(double)) == 0);
        FreeBody(box);
        if (weights == first)
            continue;
        snwContext_Free(context, weights);
        snwDestroyContext(context);
    }
    snwContext_Free(firstContext, first);
    snwDestroyContext(firstContext);
}

// ---------------------------------------------------------------------------------------------------------------------
// Awkward handles

TEST(biharmonic, awkwardHandlesAreDefined)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body* sheet = NewSheet(context, 1, 1, 8, 8);
    AddPoint(sheet, 0.25, 0.25, 0);
    AddPoint(sheet, 0.25, 0.25, 0);                                                       // at the same place
    AddPoint(sheet, 7, 0.5, 3);                                                           // far outside
    AddHandle(sheet, snw_handleBone, (snwVec3){0.75, 0.75, 0}, (snwVec3){0.75, 0.75, 0}); // without length
    AddHandle(sheet, snw_handleBone, (snwVec3){-5, 0, 0}, (snwVec3){-5, 1, 0});           // outside
    snwHeldVertices held;
    REQUIRE(snwHoldVertices(context, &sheet->mesh, &held, NULL) == snw_ok);
    int counts[5] = {0};
    for (int i = 0; i < 81; ++i)
        for (int k = 0; k < 5; ++k)
            counts[k] += held.values[i * 5 + k] == 1;
    for (int k = 0; k < 5; ++k)
        CHECK(counts[k] >= 1);
    CHECK(held.values[(2 + 9 * 2) * 5] == 1); // the first one stands on its vertex
    CHECK(held.values[(8 + 9 * 4) * 5 + 2] == 1);
    CHECK(held.values[(6 + 9 * 6) * 5 + 3] == 1);
    snwHeldVertices_Free(context, &held);
    snwWeights* weights = Solve(sheet, 1e-4, 1.5, NULL);
    REQUIRE(weights != NULL);
    CheckSound(sheet, weights);
    snwContext_Free(context, weights);
    FreeBody(sheet);
    snwDestroyContext(context);
}

// More handles than vertices: those that get none have no weight anywhere.
TEST(biharmonic, moreHandlesThanVertices)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body* sheet = NewSheet(context, 1, 1, 1, 1);
    for (int i = 0; i < 6; ++i)
        AddPoint(sheet, 0.1 * i, 0.2, 0);
    snwWeights* weights = Solve(sheet, 1e-4, 1.5, NULL);
    REQUIRE(weights != NULL);
    CHECK_INT(snwWeights_Check(weights, 4, 6, NULL), snw_ok);
    CHECK_INT(snwWeights_MostInfluences(weights), 1);
    snwContext_Free(context, weights);
    FreeBody(sheet);
    snwDestroyContext(context);
}

TEST(biharmonic, partsWithoutAHandleFollowTheClosestAsAWhole)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body* sheet = NewSheet(context, 1, 1, 8, 8);
    // The upper rows of cells come loose: their lower corners get vertices of their own.
    int extra = sheet->mesh.vertexCount;
    for (int i = 0; i <= 8; ++i)
        sheet->vertices[extra + i] = sheet->vertices[i + 9 * 6];
    for (int t = 2 * 8 * 6; t < 2 * 8 * 8; ++t)
        for (int k = 0; k < 3; ++k)
            if (sheet->triangles[t][k] / 9 == 6)
                sheet->triangles[t][k] += extra - 9 * 6;
    sheet->mesh.vertexCount += 9;
    AddPoint(sheet, 0, 0, 0);
    AddPoint(sheet, 1, 0.25, 0);
    snwBiharmonicReport report;
    snwWeights* weights = Solve(sheet, 1e-4, 1.5, &report);
    REQUIRE(weights != NULL);
    CHECK_INT(report.unreachedVertexCount, 27);
    for (int i = 0; i < 9; ++i)
    {
        CHECK_NEAR(snwWeights_Get(weights, extra + i, 1), 1, 0);
        CHECK_NEAR(snwWeights_Get(weights, i + 9 * 8, 1), 1, 0);
    }
    CheckSound(sheet, weights);
    snwContext_Free(context, weights);
    FreeBody(sheet);
    snwDestroyContext(context);
}

// Corners on the outline and outside it; along the edges between them weights are linear and of the two ends only.
TEST(biharmonic, cagesAreLinearAlongTheirEdges)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body* sheet = NewSheet(context, 1, 1, 8, 8);
    static const int edges[4][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
    const double corners[4][2] = {{-0.05, -0.05}, {1.05, -0.05}, {1.05, 1.05}, {-0.05, 1.05}};
    for (int i = 0; i < 4; ++i)
        AddHandle(sheet, snw_handleCage, (snwVec3){corners[i][0], corners[i][1], 0}, (snwVec3){0, 0, 0});
    sheet->mesh.cageEdges = edges, sheet->mesh.cageEdgeCount = 4;
    snwWeights* weights = Solve(sheet, 1e-6, 1.5, NULL);
    REQUIRE(weights != NULL);
    for (int i = 0; i <= 8; ++i)
    {
        CHECK_NEAR(snwWeights_Get(weights, i, 0), 1 - i / 8.0, 1e-12);
        CHECK_NEAR(snwWeights_Get(weights, i, 1), i / 8.0, 1e-12);
        CHECK_NEAR(snwWeights_Get(weights, 8 + 9 * i, 2), i / 8.0, 1e-12);
    }
    CHECK_NEAR(
        snwWeights_Get(weights, 40, 0), 0.25, 0.01); // the middle is as near to all, the cuts of its cells are not
    CheckSound(sheet, weights);
    snwContext_Free(context, weights);
    FreeBody(sheet);
    snwDestroyContext(context);
}

TEST(biharmonic, nonsenseIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body* sheet = NewSheet(context, 1, 1, 2, 2);
    snwBiharmonicDef def = snwDefaultBiharmonicDef();
    snwWeights* weights = NULL;
    snwMessage message;
    def.mesh = &sheet->mesh;
    CHECK_INT(snwSolveBiharmonic(context, &def, &weights, NULL, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "need bones or handles");
    AddPoint(sheet, 0, 0, 0);
    sheet->mesh.elements.count = 0;
    CHECK_INT(snwSolveBiharmonic(context, &def, &weights, NULL, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "need elements");
    FreeBody(sheet);
    snwDestroyContext(context);
}

TEST(biharmonic, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    Body* box = NewBox(context, 1, 1, 1, 3, 3, 3);
    AddPoint(box, 0, 0, 0);
    AddPoint(box, 1, 1, 1);
    snwBiharmonicDef def = snwDefaultBiharmonicDef();
    def.mesh = &box->mesh;
    long live = counter.live;
    bool done = false;
    for (int i = 1; !done; ++i)
    {
        snwWeights* weights = NULL;
        counter.failAt = counter.allocations + i;
        snwResult result = snwSolveBiharmonic(context, &def, &weights, NULL, NULL);
        done = result == snw_ok;
        CHECK(done || result == snw_errorMemory);
        CHECK(done == (weights != NULL));
        snwContext_Free(context, weights);
        CHECK_INT(counter.live, live);
        CHECK(i < 1000);
        done = done || i >= 1000;
    }
    counter.failAt = 0;
    FreeBody(box);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// By distance

TEST(closest, sharesFallWithTheDistanceAndAreContinuous)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body* sheet = NewSheet(context, 1, 0.01, 500, 1);
    for (int i = 0; i < 5; ++i)
        AddPoint(sheet, 0.1 + 0.2 * i, 0, 0);
    snwWeights* weights = NULL;
    REQUIRE(snwSolveClosest(context, &sheet->mesh, 2, &weights, NULL) == snw_ok);
    CHECK_INT(snwWeights_Check(weights, 1002, 5, NULL), snw_ok);
    CHECK_INT(snwWeights_MostInfluences(weights), 2);
    CHECK_NEAR(snwWeights_Get(weights, 50, 0), 1, 0); // on its handle
    CHECK(snwWeights_Get(weights, 0, 0) > 0.9);
    double jump = 0;
    for (int i = 1; i < 501; ++i)
        for (int k = 0; k < 5; ++k)
            jump = fmax(jump, fabs(snwWeights_Get(weights, i, k) - snwWeights_Get(weights, i - 1, k)));
    CHECK_NEAR(jump, 0, 0.05);
    snwContext_Free(context, weights);
    FreeBody(sheet);
    snwDestroyContext(context);
}

TEST(closest, ownedVerticesFollowTheirOwnerAndTiesAreShared)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body* sheet = NewSheet(context, 1, 1, 2, 2);
    int owners[9] = {-1, -1, -1, -1, -1, -1, -1, -1, 0};
    const double corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    for (int i = 0; i < 4; ++i)
        AddPoint(sheet, corners[i][0], corners[i][1], 0);
    sheet->mesh.owners = owners;
    snwWeights* weights = NULL;
    REQUIRE(snwSolveClosest(context, &sheet->mesh, 0, &weights, NULL) == snw_ok);
    CHECK_NEAR(snwWeights_Get(weights, 8, 0), 1, 0);
    for (int k = 0; k < 4; ++k)
        CHECK_NEAR(snwWeights_Get(weights, 4, k), 0.25, 1e-12);
    snwContext_Free(context, weights);
    FreeBody(sheet);
    snwDestroyContext(context);
}
