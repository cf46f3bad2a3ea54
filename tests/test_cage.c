// Weights of flat bodies in cages, and the room that they are made in.

#include "fixture.h"
#include "geom/cage_space.h"
#include "rig/cage.h"
#include "rig/weights.h"
#include "scene/blueprint_file.h"
#include "sim/blueprint.h"
#include "sim/character.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// A sheet in a square cage

enum
{
    snw_sheetCells = 8,
    snw_sheetSide = snw_sheetCells + 1,
    snw_sheetVertices = snw_sheetSide * snw_sheetSide,
    snw_sheetTriangles = 2 * snw_sheetCells * snw_sheetCells,
};

typedef struct Sheet
{
    snwVec3 vertices[snw_sheetVertices];
    int triangles[snw_sheetTriangles][3];
    snwHandleShape handles[8];
    snwHandleMesh mesh;
} Sheet;

static const int s_ring[4][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};

static snwHandleShape Handle(snwHandleKind kind, double x, double y)
{
    return (snwHandleShape){kind, {x, y, 0}, {x, y, 0}};
}

// From 0 to 1; the cage from `lower` to `upper`.
static void MakeSheet(Sheet* sheet, double lower, double upper)
{
    for (int i = 0; i < snw_sheetVertices; ++i)
        sheet->vertices[i] = (snwVec3){
            i % snw_sheetSide / (double)snw_sheetCells, (double)(i / snw_sheetSide) / snw_sheetCells, 0};
    for (int i = 0; i < snw_sheetTriangles; ++i)
    {
        int a = i / 2 / snw_sheetCells * snw_sheetSide + i / 2 % snw_sheetCells;
        int b = a + 1, c = a + snw_sheetSide + 1, d = a + snw_sheetSide;
        int *t = sheet->triangles[i], odd = i % 2;
        t[0] = a, t[1] = odd ? c : b, t[2] = odd ? d : c;
    }
    const double corners[4][2] = {{lower, lower}, {upper, lower}, {upper, upper}, {lower, upper}};
    for (int i = 0; i < 4; ++i)
        sheet->handles[i] = Handle(snw_handleCage, corners[i][0], corners[i][1]);
    sheet->mesh = (snwHandleMesh){.vertices = sheet->vertices,
        .vertexCount = snw_sheetVertices,
        .elements = {sheet->triangles[0], 3, snw_sheetTriangles},
        .handles = sheet->handles,
        .handleCount = 4,
        .cageEdges = s_ring,
        .cageEdgeCount = 4};
}

static snwWeights* SolveSheet(snwContext* context, const Sheet* sheet, snwBiharmonicReport* report)
{
    snwBiharmonicDef def = snwDefaultBiharmonicDef();
    snwWeights* weights = NULL;
    def.mesh = &sheet->mesh;
    CHECK(snwHasClosedCage(&sheet->mesh));
    CHECK_INT(snwSolveCage(context, &def, &weights, report, NULL), snw_ok);
    if (weights != NULL)
        CHECK_INT(snwWeights_Check(weights, snw_sheetVertices, sheet->mesh.handleCount, NULL), snw_ok);
    return weights;
}

TEST(cage, theRoomIsTheCageAndWhatReachesOutside)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const snwVec3 wanted[1] = {{0.8, 0.3, 0}};
    for (int i = 0; i < 2; ++i) // around the sheet, and half within it
    {
        Sheet sheet;
        double lower = i == 0 ? -0.1 : 0.25, upper = i == 0 ? 1.1 : 1.25, area = 0, least = INFINITY;
        MakeSheet(&sheet, lower, upper);
        snwVec3 edges[4][2];
        for (int k = 0; k < 4; ++k)
            edges[k][0] = sheet.handles[s_ring[k][0]].head, edges[k][1] = sheet.handles[s_ring[k][1]].head;
        snwCageSpaceDef def = {.vertices = sheet.vertices,
            .vertexCount = snw_sheetVertices,
            .triangles = sheet.mesh.elements,
            .cageEdges = (const snwVec3(*)[2])edges,
            .cageEdgeCount = 4,
            .points = wanted,
            .pointCount = 1,
            .step = 0.1};
        snwArena arena = {.context = context};
        snwCageSpace space;
        REQUIRE(snwFillCage(context, &def, &arena, &space, NULL) == snw_ok);
        for (int t = 0; t < space.triangleCount; ++t)
        {
            const int* v = &space.triangles[3 * t];
            snwVec3 p = snwVec3_Sub(space.vertices[v[1]], space.vertices[v[0]]);
            snwVec3 q = snwVec3_Sub(space.vertices[v[2]], space.vertices[v[0]]);
            area += (p.x * q.y - p.y * q.x) / 2;
            least = fmin(least, (p.x * q.y - p.y * q.x) / 2);
        }
        CHECK(least >= 0);
        CHECK_NEAR(area, i == 0 ? 1.44 : 1 + 28.0 / 64, 1e-6); // 28 of the 64 cells are outside
        CHECK_INT(space.bodyCount, snw_sheetVertices);
        for (int k = 0; k < snw_sheetVertices; ++k)
            CHECK_NEAR(snwVec3_Distance(space.vertices[space.bodyVertices[k]], sheet.vertices[k]), 0, 1e-7);
        CHECK_NEAR(snwVec3_Distance(space.vertices[space.pointVertices[0]], wanted[0]), 0, 1e-7);
        snwArena_Free(&arena);
    }
    snwDestroyContext(context);
}

TEST(cage, onlyClosedPolygonsAre)
{
    Sheet sheet;
    static const int crossed[4][2] = {{0, 2}, {2, 1}, {1, 3}, {3, 0}};
    MakeSheet(&sheet, -0.1, 1.1);
    CHECK(snwHasClosedCage(&sheet.mesh));
    sheet.mesh.cageEdgeCount = 3;
    CHECK(!snwHasClosedCage(&sheet.mesh));
    sheet.mesh.cageEdges = crossed, sheet.mesh.cageEdgeCount = 4;
    CHECK(!snwHasClosedCage(&sheet.mesh));
    sheet.mesh.cageEdges = s_ring, sheet.mesh.elements.arity = 4;
    CHECK(!snwHasClosedCage(&sheet.mesh));
}

// A point in the cage has its vertex alone; corners have none, and all that is left.
TEST(cage, pointsInsideHoldTheirVertices)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Sheet sheet;
    MakeSheet(&sheet, -0.15, 1.15);
    sheet.handles[4] = Handle(snw_handlePoint, 0.26, 0.49);
    sheet.handles[5] = Handle(snw_handlePoint, 0.76, 1.03); // beside the sheet, where the room has vertices too
    sheet.mesh.handleCount = 6;
    snwWeights* weights = SolveSheet(context, &sheet, NULL);
    REQUIRE(weights != NULL);
    CHECK_NEAR(snwWeights_Get(weights, 2 + 4 * snw_sheetSide, 4), 1, 0);
    CHECK_NEAR(snwWeights_Get(weights, 6 + 8 * snw_sheetSide, 5), 1, 0);
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < snw_sheetVertices; ++i)
            CHECK(snwWeights_Get(weights, i, k) < 0.99);
    CHECK(snwWeights_Get(weights, 0, 0) > 0.8);
    snwContext_Free(context, weights);
    snwDestroyContext(context);
}

TEST(cage, bodiesMayReachOutside)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Sheet sheet;
    snwBiharmonicReport report;
    MakeSheet(&sheet, 0.3, 1.2);
    snwWeights* weights = SolveSheet(context, &sheet, &report);
    REQUIRE(weights != NULL);
    CHECK_INT(report.unreachedVertexCount, 0);
    CHECK(snwWeights_Get(weights, 0, 0) > 0.8); // beyond that corner
    snwContext_Free(context, weights);
    snwDestroyContext(context);
}

TEST(cage, nonsenseIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Sheet sheet;
    snwBiharmonicDef def = snwDefaultBiharmonicDef();
    snwWeights* weights = NULL;
    snwMessage message;
    MakeSheet(&sheet, 0.3, 0.3); // all corners at one place
    def.mesh = &sheet.mesh;
    CHECK_INT(snwSolveCage(context, &def, &weights, NULL, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "no area");
    MakeSheet(&sheet, -0.1, 1.1);
    sheet.handles[2].head.x = NAN;
    CHECK_INT(snwSolveCage(context, &def, &weights, NULL, &message), snw_errorInput);
    snwDestroyContext(context);
}

TEST(cage, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    Sheet sheet;
    MakeSheet(&sheet, -0.1, 1.1);
    snwBiharmonicDef def = snwDefaultBiharmonicDef();
    def.mesh = &sheet.mesh;
    long live = counter.live;
    bool done = false;
    for (int i = 1; !done && i < 2000; ++i)
    {
        snwWeights* weights = NULL;
        counter.failAt = counter.allocations + i;
        snwResult result = snwSolveCage(context, &def, &weights, NULL, NULL);
        done = result == snw_ok;
        CHECK(done || result == snw_errorMemory);
        CHECK(done == (weights != NULL));
        snwContext_Free(context, weights);
        CHECK_INT(counter.live, live);
    }
    CHECK(done);
    counter.failAt = 0;
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Characters

typedef struct Puppet
{
    snwCharacter* character;
    const snwCharacterDef* def;
    snwWeights* weights;
    int* next; // per vertex: the next one along the rim, -1: it is inside
} Puppet;

static void FindRim(Puppet* puppet)
{
    const snwCharacterDef* def = puppet->def;
    for (int i = 0; i < def->vertexCount; ++i)
        puppet->next[i] = -1;
    for (int t = 0; t < 3 * def->triangleCount; ++t)
    {
        int a = def->triangles[t / 3][t % 3], b = def->triangles[t / 3][(t + 1) % 3];
        bool shared = false;
        for (int s = 0; s < 3 * def->triangleCount && !shared; ++s)
            shared = def->triangles[s / 3][s % 3] == b && def->triangles[s / 3][(s + 1) % 3] == a;
        if (!shared)
            puppet->next[a] = b;
    }
}

static Puppet OpenPuppet(snwContext* context, const char* name)
{
    Puppet puppet = {0};
    snwBlueprintFile file;
    snwWeightsDef def = snwDefaultWeightsDef();
    def.handles = true;
    if (snwBlueprintFile_Open(context, name, &file, NULL) < 0 ||
        snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &puppet.character, NULL) < 0 ||
        snwComputeWeights(puppet.character, &def, &puppet.weights, NULL) != snw_ok)
        abort();
    snwBlueprintFile_Free(&file);
    puppet.def = snwCharacter_GetDef(puppet.character);
    puppet.next = malloc((size_t)puppet.def->vertexCount * sizeof *puppet.next);
    FindRim(&puppet);
    return puppet;
}

static void ClosePuppet(snwContext* context, Puppet* puppet)
{
    free(puppet->next);
    snwContext_Free(context, puppet->weights);
    snwCharacter_Release(puppet->character);
}

// How far a weight inside is from the mean of its neighbours, at worst: more than the square of an edge where it jumps.
static double Roughest(const Puppet* puppet)
{
    const snwCharacterDef* def = puppet->def;
    double roughest = 0, *sums = malloc((size_t)def->vertexCount * sizeof *sums);
    int* counts = malloc((size_t)def->vertexCount * sizeof *counts);
    for (int k = 0; k < def->handleCount; ++k)
    {
        for (int i = 0; i < def->vertexCount; ++i)
            sums[i] = counts[i] = 0;
        for (int t = 0; t < 9 * def->triangleCount; ++t)
        {
            int a = def->triangles[t / 9][t % 3], b = def->triangles[t / 9][t / 3 % 3];
            sums[a] += a != b ? snwWeights_Get(puppet->weights, b, k) : 0;
            counts[a] += a != b;
        }
        for (int i = 0; i < def->vertexCount; ++i)
            if (puppet->next[i] < 0)
                roughest = fmax(roughest, fabs(snwWeights_Get(puppet->weights, i, k) - sums[i] / counts[i]));
    }
    free(sums);
    free(counts);
    return roughest;
}

static double Turn(snwVec3 a, snwVec3 b, snwVec3 c)
{
    snwVec3 p = snwVec3_Sub(b, a), q = snwVec3_Sub(c, b);
    return atan2(p.x * q.y - p.y * q.x, p.x * q.x + p.y * q.y) * (180 / SNW_PI);
}

// Degrees: how much more the rim bends at a vertex when a corner is dragged away from the middle.
static double SharpestBend(const Puppet* puppet, int handle, double distance)
{
    double sharpest = 0;
    snwVec3 corner = puppet->def->handles[handle].position;
    snwVec3 way = snwVec3_Scale(corner, distance / snwVec3_Length(corner));
    for (int a = 0; a < puppet->def->vertexCount; ++a)
    {
        int at[3] = {a, puppet->next[a], puppet->next[a] >= 0 ? puppet->next[puppet->next[a]] : -1};
        snwVec3 rest[3], now[3];
        for (int k = 0; k < 3 && at[2] >= 0; ++k)
        {
            rest[k] = puppet->def->vertices[at[k]];
            now[k] = snwVec3_MulAdd(rest[k], snwWeights_Get(puppet->weights, at[k], handle), way);
        }
        if (at[2] >= 0)
            sharpest = fmax(sharpest, fabs(Turn(now[0], now[1], now[2]) - Turn(rest[0], rest[1], rest[2])));
    }
    return sharpest;
}

TEST_HEAVY(cage, weightsDoNotJumpAndOutlinesStayRound)
{
    static const struct
    {
        const char* name;
        double roughest;
        double bend; // degrees; edges of the ghost's rim are twice as long
    } cases[] = {{"ellipse", 0.025, 35}, {"ghost", 0.045, 65}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 2; ++i)
    {
        Puppet puppet = OpenPuppet(context, cases[i].name);
        CHECK_INT(snwWeights_Check(puppet.weights, puppet.def->vertexCount, puppet.def->handleCount, NULL), snw_ok);
        CHECK_INT(snwWeights_MostInfluences(puppet.weights), puppet.def->handleCount); // none is cut off
        CHECK(Roughest(&puppet) <= cases[i].roughest);
        for (int k = 0; k < puppet.def->handleCount; ++k)
            CHECK(SharpestBend(&puppet, k, 0.2) <= cases[i].bend);
        ClosePuppet(context, &puppet);
    }
    snwDestroyContext(context);
}
