// Wavefront OBJ: what exporters write, what they get wrong, and what is refused.

#include "readers.h"

#include "asset/export.h"
#include "asset/polygon.h"

static snwContext* NewContext(void)
{
    return snwFixture_Context(1, snw_simdAuto, NULL);
}

static void Close(snwContext* context, snwAsset* asset)
{
    snwAsset_Close(asset);
    snwDestroyContext(context);
}

static const char s_cube[] = "# This file uses centimeters as units for non-parametric coordinates.\r\n"
                             "mtllib colours of it.mtl\r\n"
                             "o Box of mine\r\n"
                             "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
                             "v 0 0 1 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                             "vt 0 0\nvt 1 0 0\nvt 1 0.25\nvn 0 0 -1\nvn 0 0 1\n"
                             "g default\ns 1\nusemtl red\n"
                             "f 4//1 3//1 2//1 1//1\n"
                             "usemtl blue # 2\n"
                             "f -4/1/2 -3/2/2 -2/3/2 \\\r\n -1/3/2 # a comment\n"
                             "g sides\n"
                             "f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
                             "l 1 2 3\np 1\n";

static const char s_materials[] = "newmtl red\nKd 1 0 0\nnewmtl blue # 2\nNs 3\n  Kd 0 0.25 1\nmap_Kd x.png\n";

static const snwTestFile s_cubeFiles[] = {
    {"box.obj", s_cube, 0}, {"colours of it.mtl", s_materials, 0}, {NULL, NULL, 0}};

TEST(obj, partsNormalsAndMaterials)
{
    snwContext* context = NewContext();
    snwAsset* asset = snwReaders_MustRead(context, s_cubeFiles);
    REQUIRE(asset->meshCount == 1);
    const snwAssetMesh* mesh = &asset->meshes[0];
    CHECK_INT(asset->format, snw_assetObj);
    CHECK(asset->scale == 0.01);
    CHECK_INT(mesh->vertexCount, 8);
    CHECK_INT(mesh->triangleCount, 12);
    CHECK_INT(mesh->edgeCount, 2);
    CHECK(mesh->edges[1][0] == 1 && mesh->edges[1][1] == 2);
    static const int first[4][3] = {{3, 2, 1}, {3, 1, 0}, {4, 5, 6}, {4, 6, 7}};
    CHECK(memcmp(mesh->triangles, first, sizeof first) == 0);
    REQUIRE(mesh->partCount == 3);
    CHECK(strcmp(mesh->parts[0].name, "Box of mine") == 0 && strcmp(mesh->parts[0].material, "red") == 0);
    CHECK(strcmp(mesh->parts[1].name, "Box of mine") == 0 && strcmp(mesh->parts[1].material, "blue # 2") == 0);
    CHECK(strcmp(mesh->parts[2].name, "sides") == 0 && mesh->parts[2].firstTriangle == 4);
    CHECK(mesh->parts[0].firstVertex == 0 && mesh->parts[0].vertexCount == 4 && mesh->parts[1].firstVertex == 4);
    CHECK(mesh->normals[0][2] == -1 && mesh->normals[7][2] == 1);
    CHECK(mesh->texcoords[4][0] == 0 && mesh->texcoords[4][1] == 1 && mesh->texcoords[7][1] == 0.75f);
    CHECK(mesh->colors[0][0] == 1 && mesh->colors[0][2] == 0 && mesh->colors[5][1] == 0.25f);
    snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "line 30", "points (p)");
    Close(context, asset);
}

TEST(obj, missingMaterialsAreANote)
{
    snwContext* context = NewContext();
    snwAsset* asset = snwReaders_MustReadText(context, "box.obj", s_cube);
    CHECK(asset->meshes[0].colors == NULL);
    snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "colours of it.mtl", "there is no file");
    Close(context, asset);
}

// Neither normals nor texture coordinates split a vertex.
TEST(obj, verticesAreThoseOfTheArtist)
{
    snwContext* context = NewContext();
    snwAsset* asset = snwReaders_MustReadText(context, "fan.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nvn 1 0 0\nvn 0 0 1\nvt 0 0\nvt 1 1\n"
        "f 1/1/1 2/1/1 3/1/1\nf 1/2/2 4/2/2 2/1/3\nf 1/7/9 3 4\n");
    const snwAssetMesh* mesh = &asset->meshes[0];
    CHECK_INT(mesh->vertexCount, 4);
    CHECK(mesh->normals[0][2] == 1 && mesh->normals[3][0] == 1);
    CHECK(mesh->texcoords[0][1] == 1 && mesh->texcoords[3][1] == 0);
    snwReaders_CheckNote(asset, snw_noteOdd, 1, "vertex 1", "another normal");
    snwReaders_CheckNote(asset, snw_noteOdd, 1, "vertex 1", "there is a seam");
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "", "a normal that is not there");
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "", "texture coordinates that are not there");
    Close(context, asset);
}

TEST(obj, whatExportersGetWrongIsRepairedAndTold)
{
    snwContext* context = NewContext();
    snwAsset* asset = snwReaders_MustReadText(context, "odd.obj",
        "\xef\xbb\xbfv 0 0 0 255 0 0\nv 1 0 0 0 255 51\nv 0 1 0\nv 0 1 0 2\nv 5 5 5 1 2\n"
        "vn nan 0 0\nvn 0 3 0\nvt -1.#IND 0\nvp 1 2\ncurv 0 1 1 2\n"
        "hello there\nhello again\ncall x.obj\n"
        "f 1//1 2//2 2//2 3//2\nf 1 2 1\nf 1 2\nf 4 4 4\nl 1 1\nusemtl \xff\x01x\nf 1 2 3");
    const snwAssetMesh* mesh = &asset->meshes[0];
    CHECK_INT(mesh->vertexCount, 5);
    CHECK_INT(mesh->triangleCount, 2);
    CHECK_INT(mesh->edgeCount, 0);
    CHECK(mesh->colors[0][0] == 1 && mesh->colors[0][1] == 0 && mesh->colors[2][1] == 1);
    CHECK_NEAR(mesh->colors[1][2], 0.0331048, 1e-6); // 0.2 in sRGB
    CHECK(mesh->normals[0][0] == 0 && mesh->normals[1][1] == 1);
    CHECK(strcmp(mesh->parts[1].material, "??x") == 0);
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "", "from 0 to 255");
    snwReaders_CheckNote(asset, snw_noteRepaired, 2, "line 6", "not finite are zero");
    snwReaders_CheckNote(asset, snw_noteRepaired, 2, "normal 1", "not of length 1");
    snwReaders_CheckNote(asset, snw_noteLeftOut, 2, "line 9", "free-form");
    snwReaders_CheckNote(asset, snw_noteLeftOut, 2, "line 11", "the first begins with 'hello'");
    snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "line 13", "not followed");
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "line 14", "a corner twice in a row");
    snwReaders_CheckNote(asset, snw_noteRepaired, 3, "line 15", "fewer than three corners");
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "edge 1", "from a vertex to itself");
    snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "line 4", "weights of vertices");
    snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "line 5", "unknown meaning");
    snwReaders_CheckNote(asset, snw_noteOdd, 1, "vertex 4", "exactly on another one");
    snwReaders_CheckNote(asset, snw_noteOdd, 2, "vertex 4", "belong to nothing");
    Close(context, asset);
}

TEST(obj, whatMakesNoSenseIsRefused)
{
    snwReaders_Refuses("a.obj", "", "", "no OBJ", "Wavefront OBJ");
    snwReaders_Refuses("a.obj", "<html>", "", "no OBJ", "Wavefront OBJ");
    snwReaders_Refuses("a.obj", "# nothing\no empty\n", "", "no vertices", "export it again");
    snwReaders_Refuses(
        "a.obj", "v 0 0 0\nv 1,5 0 0\n", "line 2", "'1,5' is not a finite number", "a point, not a comma");
    snwReaders_Refuses("a.obj", "v 0 0\nv 1 0 0\n", "line 1", "the line ends", "not complete");
    snwReaders_Refuses("a.obj", "v 0 0 nan\n", "line 1", "'nan' is not a finite number", "");
    snwReaders_Refuses("a.obj", "v 0 0 1e31\n", "vertex 1", "beyond 1e30", "look at this vertex");
    snwReaders_Refuses("a.obj", "v 0 0 0 1 1 x\n", "line 1", "'x' is not a finite number", "");
    snwReaders_Refuses("a.obj", "v 0 0 0\nvn 0 0 z\n", "line 2", "'z' is not a number", "");
    snwReaders_Refuses(
        "a.obj", "v 0 0 0\nf 1 1 2\n", "line 2", "uses vertex 2, but vertices go from 1 to 1", "damaged");
    snwReaders_Refuses("a.obj", "v 0 0 0\nf 0 1 1\n", "line 2", "'0' has index 0", "");
    snwReaders_Refuses("a.obj", "v 0 0 0\nf -2 1 1\n", "line 2", "'-2' goes back before", "");
    snwReaders_Refuses("a.obj", "v 0 0 0\nf 1/ 1// 1/1/1/1\n", "line 2", "'1/1/1/1' is no index", "");
    snwReaders_Refuses("a.obj", "v 0 0 0\nf 1 99999999999 1\n", "line 2", "uses vertex 2147483648", "");
    snwReaders_Refuses("a.obj", "v 0 0 0\nl 1 2\n", "edge 1", "uses vertex 2", "");
}

TEST(obj, truncatedAnywhere)
{
    snwReaders_CheckTruncated(s_cubeFiles);
}

TEST(obj, memoryRunsOut)
{
    snwReaders_CheckMemory(s_cubeFiles);
}

// ---------------------------------------------------------------------------------------------------------------------
// Polygons

static double Area(const snwVec3* p, const int* t)
{
    return ((p[t[1]].x - p[t[0]].x) * (p[t[2]].y - p[t[0]].y) - (p[t[1]].y - p[t[0]].y) * (p[t[2]].x - p[t[0]].x)) / 2;
}

enum
{
    snw_mostCorners = 20000
};

// Cuts the polygon of all points in their order; expects triangles that turn left and fill it.
static snwPolygonCut CheckCut(const snwVec3* points, int count, bool positive)
{
    static int corners[snw_mostCorners], triangles[snw_mostCorners][3];
    snwContext* context = NewContext();
    snwPolygonCutter cutter = {.context = context, .positions = points, .budget = 30000000};
    double wanted = 0, sum = 0;
    for (int i = 0; i < count; ++i)
    {
        corners[i] = i;
        wanted += (points[i].x * points[(i + 1) % count].y - points[(i + 1) % count].x * points[i].y) / 2;
    }
    snwPolygonCut outcome = snwPolygonCutter_Cut(&cutter, corners, count, triangles);
    for (int i = 0; i < count - 2; ++i)
    {
        double area = Area(points, triangles[i]);
        if (positive && !(area > 0))
            snwTest_Fail(__FILE__, __LINE__, "triangle %d of %d has area %g", i, count - 2, area);
        sum += area;
    }
    CHECK_NEAR(sum, wanted, 1e-9 * fabs(wanted));
    snwPolygonCutter_Free(&cutter);
    snwDestroyContext(context);
    return outcome;
}

TEST(polygon, concaveOnesAreFilledExactly)
{
    static const snwVec3 arrow[] = {{0, 0, 0}, {2, 1, 0}, {0, 2, 0}, {1, 1, 0}};
    static const snwVec3 arrow2[] = {{2, 1, 0}, {0, 2, 0}, {1, 1, 0}, {0, 0, 0}};
    static const snwVec3 midpoints[] = {
        {0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {2, 2, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}};
    static const snwVec3 keyhole[] = {
        {0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}, {0, 0, 0}, {1, 1, 0}, {1, 3, 0}, {3, 3, 0}, {3, 1, 0}, {1, 1, 0}};
    CHECK_INT(CheckCut(arrow, 4, true), snw_polygonCut);
    CHECK_INT(CheckCut(arrow2, 4, true), snw_polygonCut);
    CHECK_INT(CheckCut(midpoints, 8, true), snw_polygonCut);
    CHECK_INT(CheckCut(keyhole, 10, true), snw_polygonCut);
    snwVec3 comb[402];
    for (int i = 0; i < 400; ++i)
        comb[i] = (snwVec3){400 - i, i % 2 == 0 ? 1 : 50, 0};
    comb[400] = (snwVec3){0, 0, 0}, comb[401] = (snwVec3){401, 0, 0};
    CHECK_INT(CheckCut(comb, 402, true), snw_polygonCut);
    uint64_t seed = 3;
    for (int trial = 0; trial < 200; ++trial) // stars: any radius at rising angles
    {
        snwVec3 star[64];
        int count = 5 + trial % 60;
        for (int i = 0; i < count; ++i)
        {
            double angle = 2 * 3.14159265358979 * i / count, radius = 0.1 + snwTest_Random(&seed);
            star[i] = (snwVec3){radius * cos(angle), radius * sin(angle), 0};
        }
        CHECK_INT(CheckCut(star, count, true), snw_polygonCut);
    }
}

TEST(polygon, largeAndCrossingOnesStayBounded)
{
    static snwVec3 circle[snw_mostCorners];
    for (int i = 0; i < snw_mostCorners; ++i)
        circle[i] = (snwVec3){
            cos(2 * 3.14159265358979 * i / snw_mostCorners), sin(2 * 3.14159265358979 * i / snw_mostCorners), 0};
    CHECK_INT(CheckCut(circle, snw_mostCorners, true), snw_polygonCut);
    static const snwVec3 bow[] = {{0, 0, 0}, {2, 2, 0}, {2, 0, 0}, {0, 3, 0}, {-1, 2, 0}};
    CheckCut(bow, 5, false);
    uint64_t seed = 5;
    for (int i = 0; i < snw_mostCorners; ++i)
        circle[i] = (snwVec3){snwTest_Random(&seed), snwTest_Random(&seed), 0};
    CHECK_INT(CheckCut(circle, snw_mostCorners, false), snw_polygonTooLarge);
    CHECK(CheckCut(circle, 300, false) != snw_polygonCut);
}

// Any direction in space gives the same triangles.
TEST(polygon, theirDirectionDoesNotMatter)
{
    static const double flat[7][2] = {{0, 0}, {3, 0}, {3, 3}, {2, 1}, {1.5, 2.5}, {1, 1}, {0, 3}};
    static const int corners[7] = {0, 1, 2, 3, 4, 5, 6};
    int wanted[5][3], found[5][3];
    snwContext* context = NewContext();
    for (int turn = 0; turn < 6; ++turn)
    {
        snwVec3 points[7];
        for (int i = 0; i < 7; ++i)
        {
            double x = flat[i][0], y = flat[i][1], s = turn % 2 == 0 ? 1 : -1;
            points[i] = turn / 2 == 0   ? (snwVec3){s * x, y, 0.1 * x}
                        : turn / 2 == 1 ? (snwVec3){0.2 * y, s * x, y}
                                        : (snwVec3){y, -0.3 * y, s * x};
        }
        snwPolygonCutter cutter = {.context = context, .positions = points, .budget = 1000};
        CHECK_INT(snwPolygonCutter_Cut(&cutter, corners, 7, turn == 0 ? wanted : found), snw_polygonCut);
        CHECK(turn == 0 || memcmp(wanted, found, sizeof wanted) == 0);
        snwPolygonCutter_Free(&cutter);
    }
    snwDestroyContext(context);
}
