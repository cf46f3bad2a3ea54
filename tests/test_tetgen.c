// TetGen's files: points, elements and faces beside each other, domains with holes and regions, and what is refused.

#include "readers.h"

#include "math/vec.h"

static void Close(snwContext* context, snwAsset* asset)
{
    snwAsset_Close(asset);
    snwDestroyContext(context);
}

static const char s_node[] =
    "# points\n5 3 1 1\n"
    "0  0 0 0  0.5 1\n1  1 0 0  0.5 2\n2  0 1 0 # no marker\n\n3  0 0 0.10000000000000001 7 -4\n4 1 1 1 0 0\n";
static const char s_ele[] = "2  4  1\n0  0 1 2 3  7.0\n1  1 2 3 4  -1\n# Generated\n";
static const char s_face[] = "2 1\n0 0 1 2 5\n1 0 1 3 6 -1 0\n";

static const snwTestFile s_eleFiles[] = {
    {"a/bar.1.ele", s_ele, 0}, {"bar.1.node", s_node, 0}, {"bar.1.face", s_face, 0}, {NULL, NULL, 0}};
static const snwTestFile s_faceFiles[] = {{"bar.1.face", s_face, 0}, {"bar.1.node", s_node, 0}, {NULL, NULL, 0}};

TEST(tetgen, elementsFindTheirPointsAndFaces)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = snwReaders_MustRead(context, s_eleFiles);
    const snwAssetMesh* mesh = &asset->meshes[0];
    CHECK(asset->format == snw_assetTetgen && strcmp(asset->name, "bar.1") == 0);
    REQUIRE(mesh->vertexCount == 5 && mesh->tetCount == 2 && mesh->triangleCount == 2);
    CHECK(mesh->positions[3].z == 0.1 && mesh->vertexLabels[1] == 2 && mesh->vertexLabels[2] == 0 &&
          mesh->vertexLabels[3] == -4);
    CHECK(mesh->tets[1][3] == 4 && mesh->tetLabels[0] == 7 && mesh->tetLabels[1] == -1);
    CHECK(mesh->triangles[1][2] == 3 && mesh->triangleLabels[0] == 5 && mesh->triangleLabels[1] == 6);
    snwReaders_CheckNote(asset, snw_noteLeftOut, 5, "", "points have attributes");
    snwAsset_Close(asset);
    asset = snwReaders_MustRead(context, s_faceFiles);
    CHECK(asset->meshes[0].triangleCount == 2 && asset->meshes[0].tetCount == 0);
    snwAsset_Close(asset);
    const snwTestFile lonely[] = {s_eleFiles[0], s_eleFiles[1], {NULL, NULL, 0}};
    asset = snwReaders_MustRead(context, lonely);
    CHECK(asset->meshes[0].triangleCount == 0 && asset->meshes[0].tetCount == 2);
    snwAsset_Close(asset);
    asset = snwReaders_MustReadText(context, "only.node", s_node);
    CHECK(asset->meshes[0].vertexCount == 5 && asset->meshes[0].tetCount == 0);
    CHECK(snwReaders_FindNote(asset, "belong to nothing") == NULL);
    Close(context, asset);
}

TEST(tetgen, curvedAndFlatElements)
{
    const snwTestFile curved[] = {{"c.ele", "1 10\n1 1 2 3 4 1 1 1 1 1 1\n", 0},
        {"c.node", "4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", 0}, {"c.face", "1 1\n1 1 2 3 4 4 4 9\n", 0},
        {NULL, NULL, 0}};
    const snwTestFile flat[] = {
        {"f.ele", "1 3 1\n1 1 2 3 2.6\n", 0}, {"f.node", "3 2 0 0\n1 0 0\n2 1 0\n3 0 1.5\n", 0}, {NULL, NULL, 0}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = snwReaders_MustRead(context, curved);
    CHECK(asset->meshes[0].tets[0][3] == 3 && asset->meshes[0].triangleLabels[0] == 9);
    CHECK(asset->meshes[0].vertexLabels == NULL);
    snwReaders_CheckNote(asset, snw_noteLeftOut, 2, "", "are curved");
    snwAsset_Close(asset);
    asset = snwReaders_MustRead(context, flat); // of Triangle
    CHECK(asset->meshes[0].triangleCount == 1 && asset->meshes[0].positions[2].y == 1.5);
    CHECK_INT(asset->meshes[0].triangleLabels[0], 3);
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "", "were rounded");
    Close(context, asset);
}

static const char s_poly[] =
    "# Part 1\n8 3 0 0\n1 0 0 0\n2 2 0 0\n3 2 2 0\n4 0 2 0\n5 0 0 2\n6 2 0 2\n7 2 2 2\n8 0 2 2\n"
    "# Part 2\n6 1\n1 0 1\n4 1 4 \n 3 2\n2 0 2\n4 5 6 7 8\n2 5 7\n1\n4 1 2 6 5\n"
    "1\n4 2 3 7 6\n1\n4 3 4 8 7\n1 0 3\n1 4\n"
    "# Part 3\n1\n1 1 1 1.5\n# Part 4\n2\n1 1 1 0.5 10 0.1\n2 1 1 0.25 20\n";

static const char s_smesh[] = "0 3 0 0\n3 1\n3 1 2 3 7\n4 1 2 4\n 3 8\n2 1 4 9\n";
static const char s_smeshNode[] = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n";

static const snwTestFile s_polyFiles[] = {{"d.poly", s_poly, 0}, {NULL, NULL, 0}};
static const snwTestFile s_smeshFiles[] = {{"s.smesh", s_smesh, 0}, {"s.node", s_smeshNode, 0}, {NULL, NULL, 0}};

TEST(tetgen, domainsHaveFacetsHolesAndRegions)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = snwReaders_MustRead(context, s_polyFiles);
    const snwAssetMesh* mesh = &asset->meshes[0];
    CHECK(mesh->vertexCount == 8 && mesh->triangleCount == 10 && mesh->edgeCount == 1);
    CHECK(mesh->triangleLabels[0] == 1 && mesh->triangleLabels[2] == 2 && mesh->triangleLabels[4] == 0);
    CHECK(mesh->triangles[1][0] == 0 && mesh->triangles[1][1] == 2 && mesh->triangles[1][2] == 1);
    REQUIRE(asset->seedCount == 3);
    CHECK(asset->seeds[0].hole && asset->seeds[0].point.z == 1.5);
    CHECK(!asset->seeds[1].hole && asset->seeds[1].attribute == 10 && asset->seeds[1].maxVolume == 0.1);
    CHECK(asset->seeds[2].attribute == 20 && asset->seeds[2].maxVolume == -1);
    snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "", "single points");
    snwAsset_Close(asset);
    asset = snwReaders_MustRead(context, s_smeshFiles);
    mesh = &asset->meshes[0];
    CHECK(mesh->triangleCount == 3 && mesh->triangleLabels[0] == 7 && mesh->triangleLabels[2] == 8 &&
          mesh->edgeCount == 1);
    snwAsset_Close(asset);
    asset = snwReaders_MustReadText(
        context, "t.poly", "3 2 0 1\n0 0 0 1\n1 1 0 1\n2 0 1 1\n2 0\n0 0 1\n1 1 2\n1\n0 0.2 0.2\n");
    CHECK(asset->meshes[0].edgeCount == 2 && asset->meshes[0].edges[1][1] == 2); // of Triangle
    CHECK(asset->seedCount == 1 && asset->seeds[0].point.x == 0.2 && asset->seeds[0].point.z == 0);
    Close(context, asset);
}

// Two squares and a third one in a wall, x from 0 to 4, seen from -y or +y; what follows says which holes there are.
#define WALL                                                                                                           \
    "12 3 0 0\n1 0 2 0\n2 4 2 0\n3 4 2 4\n4 0 2 4\n5 1 2 1\n6 1 2 3\n7 3 2 3\n8 3 2 1\n9 1.5 2 1.5\n10 2 2 1.5\n11 2 " \
    "2 2\n"                                                                                                            \
    "12 1.5 2 2\n1 1\n"

static double AreaAlongY(const snwAssetMesh* mesh, bool* even)
{
    double sum = 0;
    *even = true;
    for (int i = 0; i < mesh->triangleCount; ++i)
    {
        const int* t = mesh->triangles[i];
        snwVec3 u = snwVec3_Sub(mesh->positions[t[1]], mesh->positions[t[0]]);
        snwVec3 v = snwVec3_Sub(mesh->positions[t[2]], mesh->positions[t[0]]);
        double area = snwVec3_Cross(u, v).y / 2;
        *even = *even && area * (i == 0 ? area : sum) > 0; // all seen from one side, none flat
        sum += area;
    }
    return sum;
}

TEST(tetgen, facetsAreCutAlongTheirPolygons)
{
    static const struct
    {
        const char* text;
        double area;
        int triangles;
    } s_walls[] = {
        {WALL "2 1 7\n4 1 2 3 4\n4 5 6 7 8\n1 2 2 2\n", -12, 8},                         // a window
        {WALL "2 1 7\n4 4 3 2 1\n4 5 6 7 8\n1 2 2 2\n", 12, 8},                          // from the other side
        {WALL "3 1 7\n4 1 2 3 4\n4 9 10 11 12\n4 5 6 7 8\n1 2.5 2 2.5\n", -12.25, 10},   // with something in it
        {WALL "3 1 7\n4 9 10 11 12\n4 5 6 7 8\n4 1 2 3 4\n1 1.75 2 1.75\n", -15.75, 16}, // a small one
        {WALL "1 1 7\n4 1 2 3 4\n1 9 2 9\n", -16, 2},                                    // beside it: no hole
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof s_walls / sizeof *s_walls; ++i)
    {
        bool even;
        snwAsset* asset = snwReaders_MustReadText(context, "wall.poly", s_walls[i].text);
        const snwAssetMesh* mesh = &asset->meshes[0];
        double area = AreaAlongY(mesh, &even);
        if (mesh->triangleCount != s_walls[i].triangles || fabs(area - s_walls[i].area) > 1e-12)
            snwTest_Fail(__FILE__, __LINE__, "wall %d has %d triangles of area %g, expected %d of %g", (int)i,
                mesh->triangleCount, area, s_walls[i].triangles, s_walls[i].area);
        CHECK(even && mesh->triangleLabels[mesh->triangleCount - 1] == 7);
        snwAsset_Close(asset);
    }
    // Polygons that touch stay as they are.
    snwAsset* asset = snwReaders_MustReadText(context, "wall.poly", WALL "2 1 7\n4 1 2 3 4\n4 1 6 7 8\n1 2 2 2\n");
    CHECK_INT(asset->meshes[0].triangleCount, 4);
    snwReaders_CheckNote(asset, snw_noteOdd, 1, "facet 1", "touch or cross each other");
    snwAsset_Close(asset);
    snwReaders_Refuses("a.poly", WALL "2 0 7\n4 1 2 3 4\n4 5 6 7 99\n", "facet 1", "uses vertex 99", "");
    const snwTestFile files[] = {{"wall.poly", s_walls[2].text, 0}, {NULL, NULL, 0}};
    snwReaders_CheckTruncated(files);
    snwReaders_CheckMemory(files);
    snwDestroyContext(context);
}

TEST(tetgen, whatMakesNoSenseIsRefused)
{
    snwReaders_Refuses("a.node", "", "line 1", "the count of points: the file ends before it", "not complete");
    snwReaders_Refuses("a.node", "0 3 0 0\n", "", "no vertices", "");
    snwReaders_Refuses("a.node", "x\n", "line 1", "'x' is not a whole number", "");
    snwReaders_Refuses("a.node", "1 4 0 0\n1 0 0 0 0\n", "line 1", "the dimension: '4' is out of range", "");
    snwReaders_Refuses("a.node", "1000000 3 0 0\n1 0 0 0\n", "line 1", "too short for so many", "not complete");
    snwReaders_Refuses("a.node", "1 3 0 0\n1 0 0\n", "line 2", "the line ends before it", "");
    snwReaders_Refuses("a.node", "2 3 0 0\n1 0 0 0\n3 0 0 0\n", "line 3", "numbered one by one", "");
    snwReaders_Refuses("a.node", "1 3 0 0\n7 0 0 0\n", "line 2", "numbered one by one", "");
    snwReaders_Refuses("a.node", "1 3 0 0\n1 0 0 1e31\n", "vertex 1", "beyond 1e30", "");
    snwReaders_Refuses(
        "a.poly", "1 3 0 0\n0 0 0 0\n1 0\n1\n3 0 0 1\n", "facet 1", "uses vertex 1, but vertices go from 0 to 0", "");
    snwReaders_Refuses("a.poly", "1 3 0 0\n1 0 0 0\n1 0\n1\n3 0 1 1\n", "line 5", "'0' is out of range", "");
    snwReaders_Refuses("a.poly", "1 3 0 0\n1 0 0 0\n1 0\n1\n999999 1 1 1\n", "line 5", "too short for them", "");
    snwReaders_Refuses("a.poly", "1 3 0 0\n1 0 0 0\n0 0\n1\n1 0 0 1e40\n", "", "beyond 1e30", "");
    snwReaders_Refuses("a.smesh", "1 3 0 0\n1 0 0 0\n2 0\n", "line 3", "too short for so many", "");
}

TEST(tetgen, missingPointsAreTold)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const snwTestFile lonely[] = {s_eleFiles[0], {NULL, NULL, 0}};
    const snwTestFile broken[] = {s_eleFiles[0], {"bar.1.node", "1 3 0 0\n1 0 0 x\n", 0}, {NULL, NULL, 0}};
    snwAsset* asset = NULL;
    snwMessage message = {0};
    CHECK_INT(snwReaders_Read(context, lonely, strlen(s_ele), &asset, &message), snw_errorIo);
    CHECK_CONTAINS(message.text, "bar.1.node");
    CHECK_INT(snwReaders_Read(context, broken, strlen(s_ele), &asset, &message), snw_errorInput);
    CHECK(strcmp(message.file, "bar.1.node") == 0 && strcmp(message.place, "line 2") == 0);
    snwAssetInput input = {"x.ele", s_ele, strlen(s_ele), NULL};
    CHECK_INT(snwAsset_Read(context, &input, &asset, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "its points are in 'x.node'");
    snwDestroyContext(context);
}

TEST(tetgen, truncatedAnywhere)
{
    snwReaders_CheckTruncated(s_eleFiles);
    snwReaders_CheckTruncated(s_faceFiles);
    snwReaders_CheckTruncated(s_polyFiles);
    snwReaders_CheckTruncated(s_smeshFiles);
}

TEST(tetgen, memoryRunsOut)
{
    snwReaders_CheckMemory(s_eleFiles);
    snwReaders_CheckMemory(s_polyFiles);
    snwReaders_CheckMemory(s_smeshFiles);
}
