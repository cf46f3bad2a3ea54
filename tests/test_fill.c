// Broken surfaces: mended, their inside known, filled with tets.

#include "base/hash.h"
#include "broken.h"
#include "fixture.h"
#include "geom/fill.h"
#include "geom/inside.h"
#include "geom/mesh.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

typedef struct World
{
    snwContext* context;
    snwArena arena;
    snwBroken broken;
} World;

static const snwBrokenKind* KindOf(const char* name)
{
    const snwBrokenKind* kind = snw_brokenKinds;
    while (kind->name != NULL && strcmp(kind->name, name) != 0)
        kind++;
    return kind;
}

static World Open(const char* kind, int triangles)
{
    World world = {.context = snwFixture_Context(2, snw_simdAuto, NULL)};
    world.arena.context = world.context;
    CHECK(snwBroken_Make(KindOf(kind), triangles, &world.broken));
    return world;
}

static void Close(World* world)
{
    snwBroken_Free(&world->broken);
    snwArena_Free(&world->arena);
    snwDestroyContext(world->context);
}

static snwFaces FacesOf(const snwBroken* b)
{
    return (snwFaces){b->vertices, b->vertexCount, (const int(*)[3])b->triangles, b->triangleCount};
}

static snwMend Mend(World* world)
{
    snwMend mend;
    snwMendDef def = snwDefaultMendDef();
    snwMessage message = {0};
    def.faces = FacesOf(&world->broken);
    snwResult result = snwMendSurface(&world->arena, &def, &mend, &message);
    if (result != snw_ok)
        fprintf(stderr, "%s\n", message.text);
    CHECK_INT(result, snw_ok);
    return mend;
}

// m^3, exactly.
static double VolumeOf(const snwBroken* b)
{
    double sum = 0;
    for (int i = 0; i < b->triangleCount; ++i)
    {
        const int* t = b->triangles[i];
        sum += snwVec3_Dot(b->vertices[t[0]], snwVec3_Cross(b->vertices[t[1]], b->vertices[t[2]])) / 6;
    }
    return sum;
}

static double BallVolume(int triangles)
{
    snwBroken ball;
    CHECK(snwBroken_Make(KindOf("closed"), triangles, &ball));
    double volume = VolumeOf(&ball);
    snwBroken_Free(&ball);
    return volume;
}

// ---------------------------------------------------------------------------------------------------------------------
// Mending

TEST(mend, bandsAndShellsThatFaceInwardsAreTurned)
{
    World world = Open("flipped", 1200);
    snwMend mend = Mend(&world);
    CHECK(mend.sound);
    CHECK(mend.turnedCount > mend.triangleCount / 2); // all of the second body and some bands
    CHECK(mend.turnedCount < mend.triangleCount);
    CHECK_NEAR(mend.after.volume, BallVolume(600) + 4.0 / 3 * SNW_PI * 0.512, 0.1); // a ball of facets is a bit less
    CHECK_INT(mend.after.turnedTriangles, 0);
    Close(&world);
}

TEST(mend, doublesAndFlatTrianglesGo)
{
    World world = Open("doubled", 1200);
    snwMend mend = Mend(&world);
    CHECK(mend.sound);
    CHECK_INT(mend.doubleCount, world.broken.triangleCount / 2);
    CHECK_NEAR(mend.after.volume, BallVolume(600), 1e-12);
    Close(&world);
    world = Open("slivers", 1200);
    mend = Mend(&world);
    CHECK(mend.flatCount > 50);
    CHECK_INT(mend.after.flatTriangles, 0);
    Close(&world);
}

TEST(mend, aCavityIsNotTurned)
{
    World world = Open("hollow", 1200);
    double volume = VolumeOf(&world.broken);
    snwMend mend = Mend(&world);
    CHECK(mend.sound);
    CHECK_INT(mend.turnedCount, 0);
    CHECK_NEAR(mend.after.volume, volume, 1e-9);
    Close(&world);
}

TEST(mend, anOpenBowlThatFacesInwardsIsTurned)
{
    World world = Open("open", 1200);
    int triangles = world.broken.triangleCount;
    for (int i = 0; i < triangles; ++i)
    {
        int* t = world.broken.triangles[i];
        int swap = t[0];
        t[0] = t[1], t[1] = swap;
    }
    snwMend mend = Mend(&world);
    CHECK_INT(mend.turnedCount, triangles);
    CHECK(mend.after.volume > 0);
    Close(&world);
}

TEST(mend, nonsenseIsRefused)
{
    World world = Open("closed", 100);
    snwMend mend;
    snwMessage message = {0};
    snwMendDef def = {FacesOf(&world.broken), 0};
    world.broken.triangles[3][1] = world.broken.vertexCount;
    CHECK_INT(snwMendSurface(&world.arena, &def, &mend, &message), snw_errorInput);
    world.broken.triangles[3][1] = 0;
    world.broken.vertices[7].y = NAN;
    CHECK_INT(snwMendSurface(&world.arena, &def, &mend, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "vertex 7");
    def.faces.triangleCount = 0;
    CHECK_INT(snwMendSurface(&world.arena, &def, &mend, &message), snw_errorInput);
    Close(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Inside

// Along the axis through the missing cap the sign changes where no triangle is near. The distance must reach zero there
// and never promise more room than there is.
TEST(inside, overAHoleTheDistanceFallsToZero)
{
    World world = Open("open", 1200);
    snwMend mend = Mend(&world);
    snwInside inside;
    REQUIRE(snwInside_Create(world.context, &mend, NULL, 0, &inside, NULL) == snw_ok);
    snwSolid solid = snwInside_Solid(&inside);
    double film = 0, values[400];
    for (int i = 0; i < 400; ++i)
    {
        values[i] = solid.distance((snwVec3){0.01, 0.02, 0.005 * i}, solid.data);
        film = values[i] < 0 ? 0.005 * i : film;
    }
    CHECK(film > 0.5 && film < 1.0); // the cap begins at 0.8
    for (int i = 0; i < 400; ++i)
        CHECK(fabs(values[i]) <= 1.1 * fabs(0.005 * i - film) + 0.01);
    CHECK(values[0] < -0.5); // deep inside it is hardly less than it could be
    snwInside_Free(&inside);
    Close(&world);
}

TEST(inside, trianglesWithinTheBodyAreNoSurface)
{
    World world = Open("crossing", 1200);
    snwMend mend = Mend(&world);
    snwInside inside;
    REQUIRE(snwInside_Create(world.context, &mend, NULL, 0, &inside, NULL) == snw_ok);
    int wrong = 0, within = 0;
    for (int i = 0; i < mend.triangleCount; ++i)
    {
        // the other ball's number at a corner that is well inside of it
        const int* t = mend.triangles[i];
        double most = -INFINITY;
        for (int k = 0; k < 3; ++k)
        {
            snwVec3 p = mend.vertices[t[k]];
            bool first = i < mend.triangleCount / 2;
            double d = first ? snwVec3_Distance(p, (snwVec3){0.9, 0.3, 0.2}) - 0.8 : snwVec3_Length(p) - 1;
            most = fmax(most, d);
        }
        within += most < -0.2;
        wrong += most < -0.2 && !inside.hidden[i];
        wrong += most > 0.2 && inside.hidden[i];
    }
    CHECK(within > 50);
    CHECK_INT(wrong, 0);
    snwInside_Free(&inside);
    Close(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Filling

static bool IsClosedManifold(World* world, const snwTetMesh* mesh)
{
    int(*triangles)[3] = NULL, count = 0;
    snwSurvey survey;
    CHECK_INT(snwMesh_FindBoundary(world->context, (const int(*)[4])mesh->tets, mesh->tetCount, &triangles, &count), 0);
    snwSurveyDef def = {mesh->vertices, mesh->vertexCount, (const int(*)[3])triangles, count, false};
    CHECK_INT(snwSurveySurface(&world->arena, &def, &survey, NULL), snw_ok);
    snwFree(world->context, triangles);
    return survey.openEdges == 0 && survey.crowdedEdges == 0 && survey.turnedTriangles == 0;
}

static snwFilling Fill(World* world, int tets)
{
    snwFilling filling;
    snwMessage message = {0};
    snwFillDef def = snwDefaultFillDef();
    def.faces = FacesOf(&world->broken);
    def.tets = tets;
    snwResult result = snwFillSurface(world->context, &def, &world->arena, &filling, &message);
    if (result < 0)
        fprintf(stderr, "%s\n", message.text);
    CHECK(result >= 0);
    return filling;
}

// What is promised of every surface.
static void CheckPromises(World* world, const snwFilling* filling)
{
    CHECK(filling->mesh.tetCount > 50);
    CHECK_INT(filling->report.quality.inverted, 0);
    CHECK(filling->report.quality.minDihedral >= 8);
    CHECK(filling->report.quality.maxDihedral <= 165);
    CHECK(filling->report.volumeError <= 0.02 || !filling->report.closed);
    CHECK(IsClosedManifold(world, &filling->mesh));
}

static void FillKind(const char* name)
{
    World world = Open(name, 300);
    snwFilling filling = Fill(&world, 500);
    CheckPromises(&world, &filling);
    Close(&world);
}

TEST_HEAVY(fill, brokenSurfacesBecomeBodies)
{
    static const char* const s_kinds[] = {"crossing", "flipped", "shells", "hollow", "moebius"};
    for (int i = 0; i < 5; ++i)
        FillKind(s_kinds[i]);
}

TEST_LONG(fill, everyBrokenSurfaceBecomesABody)
{
    for (const snwBrokenKind* kind = snw_brokenKinds; kind->name != NULL; ++kind)
        FillKind(kind->name);
}

typedef struct SameBall
{
    const char* name;
    int triangles, ball; // so many in all, so that the ball in it has `ball`
    double tolerance;
} SameBall;

static void FillSameBall(const SameBall* same)
{
    World world = Open(same->name, same->triangles);
    snwFilling filling = Fill(&world, 600);
    CheckPromises(&world, &filling);
    CHECK_NEAR(filling.mesh.tetCount, 600, 60);
    CHECK_NEAR(filling.report.volume / BallVolume(same->ball), 1, same->tolerance);
    Close(&world);
}

// The same ball, broken in ways that leave its volume alone, or nearly.
TEST_HEAVY(fill, brokenInAnyWayTheVolumeIsThatOfTheShape)
{
    static const SameBall s_cases[] = {{"doubled", 1200, 600, 0.02}, {"soup", 600, 600, 0.02}};
    for (int i = 0; i < 2; ++i)
        FillSameBall(&s_cases[i]);
}

TEST_LONG(fill, junctionsSliversAndHolesLeaveTheVolume)
{
    static const SameBall s_cases[] = {
        {"t-junctions", 720, 600, 0.02}, {"slivers", 840, 600, 0.02}, {"open", 600, 600, 0.06}};
    for (int i = 0; i < 3; ++i)
        FillSameBall(&s_cases[i]);
}

TEST_HEAVY(fill, aFinAsThinAsPaperStays)
{
    World world = Open("fin", 300);
    snwFilling filling = Fill(&world, 800);
    double farthest = 0;
    for (int i = 0; i < filling.mesh.vertexCount; ++i)
        farthest = fmax(farthest, filling.mesh.vertices[i].x);
    CHECK(farthest > 1.8); // it ends at 2
    CHECK(filling.report.volumeError <= 0.02);
    Close(&world);
}

// Two balls and a neck of a twentieth of them, turned about z.
static void MakeDumbbell(snwBroken* b)
{
    enum
    {
        snw_rows = 60,
        snw_columns = 16
    };
    *b = (snwBroken){.vertices = calloc(snw_rows * snw_columns + 2, sizeof *b->vertices),
        .triangles = calloc(2 * snw_rows * snw_columns, sizeof *b->triangles),
        .vertexCount = snw_rows * snw_columns + 2};
    for (int i = 0; i < snw_rows * snw_columns; ++i)
    {
        double z = -2.2 + 4.4 * (i / snw_columns + 0.5) / snw_rows,
               angle = 2 * SNW_PI * (i % snw_columns) / snw_columns;
        double r = fmax(sqrt(fmax(1 - (fabs(z) - 1.2) * (fabs(z) - 1.2), 0)), 0.05);
        double aside = 0.11 * exp(-z * z / 0.1); // of the lattice's axis
        b->vertices[i] = (snwVec3){aside + r * cos(angle), 0.6 * aside + r * sin(angle), z};
    }
    b->vertices[snw_rows * snw_columns] = (snwVec3){0, 0, -2.2};
    b->vertices[snw_rows * snw_columns + 1] = (snwVec3){0, 0, 2.2};
    for (int i = 0; i < (snw_rows + 1) * snw_columns; ++i)
    {
        int row = i / snw_columns - 1, k = i % snw_columns, next = (k + 1) % snw_columns,
            *t = b->triangles[b->triangleCount++];
        int low = row * snw_columns, high = low + snw_columns;
        if (row < 0 || row == snw_rows - 1)
        {
            t[0] = row < 0 ? next : low + k, t[1] = row < 0 ? k : low + next;
            t[2] = snw_rows * snw_columns + (row < 0 ? 0 : 1);
            continue;
        }
        t[0] = low + k, t[1] = low + next, t[2] = high + next;
        t = b->triangles[b->triangleCount++];
        t[0] = low + k, t[1] = high + next, t[2] = high + k;
    }
}

static int CountPieces(const snwTetMesh* mesh)
{
    int* piece = calloc((size_t)mesh->vertexCount, sizeof *piece);
    int count = mesh->vertexCount;
    for (int i = 0; i < mesh->vertexCount; ++i)
        piece[i] = i;
    for (bool again = true; again;) // plainly, until nothing changes
    {
        again = false;
        for (int i = 0; i < 16 * mesh->tetCount; ++i)
        {
            int a = mesh->tets[i / 16][i % 4], b = mesh->tets[i / 16][i / 4 % 4];
            if (piece[a] > piece[b])
                piece[a] = piece[b], again = true;
        }
    }
    for (int i = 0; i < mesh->vertexCount; ++i)
        count -= piece[i] != i;
    free(piece);
    return count;
}

TEST(fill, aThinNeckDoesNotTear)
{
    World world = {.context = snwFixture_Context(2, snw_simdAuto, NULL)};
    world.arena.context = world.context;
    MakeDumbbell(&world.broken);
    snwFilling filling = Fill(&world, 1500); // cells of a third: the neck is a third of one
    CHECK(filling.report.closed);
    CHECK_INT(CountPieces(&filling.mesh), 1);
    CheckPromises(&world, &filling);
    Close(&world);
}

TEST_HEAVY(fill, theReportSaysWhatWasClosedDroppedAndThickened)
{
    World world = Open("shells", 4000);
    snwFilling filling = Fill(&world, 500);
    CHECK_INT(filling.report.shellCount, 101);
    CHECK_INT(filling.report.droppedShells, 100);
    CHECK_INT(filling.report.holeCount, 0);
    CHECK(filling.report.closed);
    Close(&world);
    world = Open("open", 600);
    filling = Fill(&world, 500);
    REQUIRE(filling.report.holeCount >= 2);
    CHECK(filling.report.holes[0].length > 2 && filling.report.holes[0].area > 0.5); // the cap
    CHECK(!filling.report.closed);
    Close(&world);
    world = Open("sheet", 300);
    filling = Fill(&world, 500);
    CHECK_INT(filling.report.thickTriangles, world.broken.triangleCount);
    CHECK(filling.report.thickened > 0);
    Close(&world);
}

static uint64_t HashFill(const char* kind, int threads)
{
    World world = {.context = snwFixture_Context(threads, snw_simdAuto, NULL)};
    world.arena.context = world.context;
    CHECK(snwBroken_Make(KindOf(kind), 300, &world.broken));
    snwFilling filling = Fill(&world, 500);
    uint64_t hash = snwHash(filling.mesh.vertices, (size_t)filling.mesh.vertexCount * sizeof(snwVec3), 0);
    hash = snwHash(filling.mesh.tets, (size_t)filling.mesh.tetCount * sizeof(int[4]), hash);
    Close(&world);
    return hash;
}

TEST_HEAVY(fill, sameBitsForAnyNumberOfThreads) // Labels: threads
{
    CHECK(HashFill("open", 1) == HashFill("open", 3));
    CHECK(HashFill("shells", 1) == HashFill("shells", 4));
}

TEST(fill, bonesAreLabelsOnWholeTets)
{
    World world = Open("closed", 600);
    snwBroken bone;
    CHECK(snwBroken_Make(KindOf("closed"), 200, &bone));
    for (int i = 0; i < bone.vertexCount; ++i)
        bone.vertices[i] = snwVec3_MulAdd((snwVec3){0.2, 0, 0}, 0.4, bone.vertices[i]);
    snwFaces inner = FacesOf(&bone);
    snwFillDef def = snwDefaultFillDef();
    snwFilling filling;
    def.faces = FacesOf(&world.broken);
    def.inner = &inner, def.innerCount = 1;
    def.tets = 3000;
    REQUIRE(snwFillSurface(world.context, &def, &world.arena, &filling, NULL) >= 0);
    int bones = 0;
    for (int i = 0; i < filling.mesh.tetCount; ++i)
    {
        bones += filling.regions[i] == 1;
        for (int k = 0; k < 4 && filling.regions[i] == 1; ++k)
            CHECK(snwVec3_Distance(filling.mesh.vertices[filling.mesh.tets[i][k]], (snwVec3){0.2, 0, 0}) < 0.4 * 1.2);
    }
    CHECK(bones > 20 && bones < filling.mesh.tetCount / 4);
    snwBroken_Free(&bone);
    Close(&world);
}

TEST(fill, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwBroken broken;
    CHECK(snwBroken_Make(KindOf("hollow"), 128, &broken));
    bool reached = true;
    for (long n = 1; reached; n += n < 60 ? 1 : 13)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwArena arena = {.context = context};
        snwFilling filling;
        snwFillDef def = snwDefaultFillDef();
        def.faces = FacesOf(&broken);
        def.spacing = 0.8;
        def.finest = 1;
        counter.failAt = counter.allocations + n;
        snwResult result = snwFillSurface(context, &def, &arena, &filling, NULL);
        reached = counter.allocations >= counter.failAt;
        CHECK(reached ? result == snw_errorMemory : result >= 0);
        snwArena_Free(&arena);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
    snwBroken_Free(&broken);
}
