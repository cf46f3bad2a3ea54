#include "asset/surfaces.h"
#include "fixture.h"
#include "test.h"
#include "view/defects.h"

#include <stdlib.h>

// A box with a wall thickness of nothing: 8 corners, each split in three as exporters do for its normals.
typedef struct World
{
    snwContext* context;
    snwArena arena;
    snwAsset asset;
    snwAssetMesh mesh;
    snwAssetNode nodes[3];
    snwAssetSkin skin;
    int joints[1];
    snwAffine inverseBinds[1];
    snwVec3 positions[24];
    int triangles[12][3];
    int starts[25], bones[24];
    double values[24];
    snwAssetSurfaces surfaces;
} World;

static const snwAffine s_identity = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};

static void MakeBox(World* w)
{
    static const int faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4}, {2, 6, 7},
        {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    for (int i = 0; i < 24; ++i)
        w->positions[i] = (snwVec3){i % 8 & 1, (i % 8 & 2) / 2, (i % 8 & 4) / 4};
    for (int i = 0; i < 36; ++i)
        w->triangles[i / 3][i % 3] = faces[i / 3][i % 3] + 8 * (i / 12);
    w->mesh = (snwAssetMesh){.name = "box",
        .positions = w->positions,
        .vertexCount = 24,
        .triangles = (const int(*)[3])w->triangles,
        .triangleCount = 12};
    w->asset.meshes = &w->mesh;
    w->asset.meshCount = 1;
}

static World* MakeWorld(void)
{
    World* w = calloc(1, sizeof *w);
    w->context = snwFixture_Context(2, snw_simdAuto, NULL);
    w->arena.context = w->context;
    w->asset.context = w->context;
    w->asset.arena.context = w->context;
    w->asset.name = "world";
    MakeBox(w);
    for (int i = 0; i < 3; ++i)
        w->nodes[i] = (snwAssetNode){.name = "", .parent = -1, .local = s_identity, .mesh = -1, .skin = -1};
    w->asset.nodes = w->nodes;
    return w;
}

static void FreeWorld(World* w)
{
    snwArena_Free(&w->arena);
    snwArena_Free(&w->asset.arena);
    snwDestroyContext(w->context);
    free(w);
}

static const snwAssetSurface* Look(World* w)
{
    CHECK_INT(snwAsset_FindSurfaces(&w->asset, &w->arena, true, &w->surfaces, NULL), snw_ok);
    return &w->surfaces.items[0];
}

static bool Says(const snwSurvey* survey, const char* part)
{
    snwReportLine lines[snw_maxReportLines];
    int count = snwSurvey_Describe(survey, "m", lines);
    for (int i = 0; i < count; ++i)
        if (strstr(lines[i].text, part) != NULL)
            return true;
    return false;
}

TEST(asset, splitVerticesAreWeldedAndTheMapIsKept)
{
    World* w = MakeWorld();
    const snwAssetSurface* surface = Look(w);
    CHECK_INT(w->surfaces.count, 1);
    CHECK_INT(surface->weld.count, 8);
    for (int i = 0; i < 24; ++i)
        CHECK_INT(surface->weld.map[i], i % 8);
    CHECK(snwSurvey_IsSound(&surface->survey));
    CHECK(Says(&surface->survey, "closed surface of 1 shell, 8 vertices, 12 triangles, volume 1 m^3"));
    FreeWorld(w);
}

TEST(asset, verticesWithOtherWeightsStayApart)
{
    World* w = MakeWorld();
    for (int i = 0; i < 24; ++i)
        w->starts[i + 1] = i + 1, w->values[i] = 1, w->bones[i] = i == 8;
    w->mesh.weights = (snwAssetWeights){w->starts, w->bones, w->values, 2};
    const snwAssetSurface* surface = Look(w);
    CHECK_INT(surface->weld.count, 9);
    CHECK_INT(surface->survey.shellCount, 1);
    CHECK(surface->survey.holeCount > 0);
    FreeWorld(w);
}

TEST(asset, nodesAndSkinsPlaceTheirMeshes)
{
    World* w = MakeWorld();
    snwAffine move = s_identity, twice = s_identity;
    move.translation.x = 10;
    twice.linear = snwMat3_Diagonal(2, 2, 2);
    w->asset.nodeCount = 3;
    w->nodes[0].parent = 2, w->nodes[0].local = move, w->nodes[0].mesh = 0; // the child comes first
    w->nodes[2].local = twice;
    const snwAssetSurface* surface = Look(w);
    CHECK_INT(w->surfaces.count, 1);
    CHECK_NEAR(surface->survey.lower.x, 20, 1e-14);
    CHECK_NEAR(surface->survey.upper.x, 22, 1e-14);

    // Bound to node 1 where that stands; the place of its own node does not count.
    for (int i = 0; i < 24; ++i)
        w->starts[i + 1] = i + 1, w->values[i] = 1;
    w->mesh.weights = (snwAssetWeights){w->starts, w->bones, w->values, 1};
    w->joints[0] = 1;
    w->nodes[1].local.translation.y = 5;
    w->inverseBinds[0] = s_identity;
    w->inverseBinds[0].translation.y = -1;
    w->skin = (snwAssetSkin){"", w->joints, w->inverseBinds, 1, -1};
    w->asset.skins = &w->skin;
    w->asset.skinCount = 1;
    w->nodes[0].skin = 0;
    surface = Look(w);
    CHECK_NEAR(surface->survey.lower.x, 0, 1e-14);
    CHECK_NEAR(surface->survey.lower.y, 4, 1e-14);
    FreeWorld(w);
}

TEST(asset, longChainsOfNodesNeedNoStack)
{
    World* w = MakeWorld();
    enum
    {
        count = 100000
    };
    snwAssetNode* nodes = calloc(count, sizeof *nodes);
    for (int i = 0; i < count; ++i)
    {
        nodes[i] = (snwAssetNode){.name = "", .parent = i + 1 < count ? i + 1 : -1, .local = s_identity, .mesh = -1};
        nodes[i].local.translation.z = 1;
    }
    w->asset.nodes = nodes;
    w->asset.nodeCount = count;
    snwAffine* places = snwAsset_PlaceNodes(&w->asset, &w->arena);
    REQUIRE(places != NULL);
    CHECK_NEAR(places[0].translation.z, count, 0);
    free(nodes);
    FreeWorld(w);
}

TEST(asset, tetsHaveASurfaceToo)
{
    World* w = MakeWorld();
    static const snwVec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int tets[1][4] = {{0, 2, 1, 3}};
    w->mesh = (snwAssetMesh){.name = "tet", .positions = corners, .vertexCount = 4, .tets = tets, .tetCount = 1};
    const snwAssetSurface* surface = Look(w);
    CHECK_INT(surface->triangleCount, 4);
    CHECK_INT(surface->invertedElements, 1);
    FreeWorld(w);
}

TEST(asset, defectsAreToldInWords)
{
    World* w = MakeWorld();
    w->mesh.triangleCount = 11;
    CHECK(Says(&Look(w)->survey, "1 hole with 3 open edges"));
    for (int i = 0; i < 12; ++i)
    {
        int t = w->triangles[i][1];
        w->triangles[i][1] = w->triangles[i][2], w->triangles[i][2] = t;
    }
    w->mesh.triangleCount = 12;
    CHECK(Says(&Look(w)->survey, "1 of 1 shell is inside out"));
    FreeWorld(w);
}

// Notes of one kind and text are one; there is an end to them.
TEST(asset, notesAreCountedNotRepeated)
{
    World* w = MakeWorld();
    for (int i = 0; i < 5; ++i)
        snwAsset_Note(&w->asset, snw_noteRepaired, i == 0 ? "line 1" : "line 2", "weights were normalised");
    CHECK_INT(w->asset.noteCount, 1);
    CHECK_INT(w->asset.notes[0].count, 5);
    CHECK(strcmp(w->asset.notes[0].place, "line 1") == 0);
    for (int i = 0; i < 300; ++i)
        snwAsset_Note(&w->asset, snw_noteOdd, "", "number %d", i);
    CHECK_INT(w->asset.noteCount, snw_maxAssetNotes);
    CHECK_INT(w->asset.notesLost, 300 + 1 - snw_maxAssetNotes);
    FreeWorld(w);
}

static int CountPixels(const snwImage* image, bool (*is)(const uint8_t* pixel))
{
    int count = 0;
    for (int i = 0; i < image->width * image->height; ++i)
        count += is(image->pixels + 3 * i);
    return count;
}

static bool IsOrange(const uint8_t* p)
{
    return p[0] > 150 && p[0] > 1.4 * p[1] && p[1] > 1.3 * p[2];
}

static bool IsBlue(const uint8_t* p)
{
    return p[2] > 60 && p[2] > 1.6 * p[0] && p[2] > 1.2 * p[1];
}

static snwImage Draw(World* w)
{
    const snwAssetSurface* surface = Look(w);
    snwDefectSurface seen = {surface->vertices, (const int(*)[3])surface->triangles, &surface->survey};
    snwDefectsDef def = snwDefaultDefectsDef();
    def.surfaces = &seen;
    def.surfaceCount = 1;
    def.title = "box";
    def.size = 160;
    def.samples = 2;
    snwImage image = {0};
    CHECK_INT(snwDrawDefects(w->context, &def, &image, NULL), snw_ok);
    return image;
}

TEST(asset, thePictureShowsWhatIsWrong)
{
    World* w = MakeWorld();
    snwImage sound = Draw(w);
    w->mesh.triangleCount = 10;
    snwImage open = Draw(w);
    w->mesh.triangleCount = 12;
    int t = w->triangles[6][1]; // the top
    w->triangles[6][1] = w->triangles[6][2], w->triangles[6][2] = t;
    snwImage turned = Draw(w);
    CHECK(CountPixels(&sound, IsOrange) < 20 && CountPixels(&sound, IsBlue) < 20);
    CHECK(CountPixels(&open, IsOrange) > 200);
    CHECK(CountPixels(&turned, IsBlue) > 200);
    snwDestroyImage(w->context, &sound);
    snwDestroyImage(w->context, &open);
    snwDestroyImage(w->context, &turned);
    FreeWorld(w);
}

TEST(asset, everyFailedAllocationIsAnErrorWithoutLeak)
{
    bool reached = true;
    for (long n = 1; reached; ++n)
    {
        World* w = MakeWorld();
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        counter.failAt = counter.allocations + n;
        snwArena arena = {.context = context};
        snwAssetSurfaces surfaces;
        snwResult result = snwAsset_FindSurfaces(&w->asset, &arena, true, &surfaces, NULL);
        reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        snwArena_Free(&arena);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        FreeWorld(w);
    }
}
