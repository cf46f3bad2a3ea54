// Stanford PLY: text and both orders of bytes, what exporters write, and what is refused.

#include "readers.h"

#include "asset/export.h"

static void Close(snwContext* context, snwAsset* asset)
{
    snwAsset_Close(asset);
    snwDestroyContext(context);
}

static const char s_square[] = "ply\nformat ascii 1.0\ncomment by hand\nobj_info none\n"
                               "element face 2\nproperty list uchar int vertex_indices\nproperty uchar red\n"
                               "element camera 1\nproperty list int float lens\nproperty double focus\n"
                               "element vertex 5\nproperty float64 x\nproperty float y\nproperty float z\n"
                               "property float nx\nproperty float ny\nproperty float nz\nproperty float quality\n"
                               "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n"
                               "property float s\nproperty float t\n"
                               "element tristrips 1\nproperty list int int vertex_index\n"
                               "element edge 1\nproperty int vertex1\nproperty int vertex2\nproperty uchar kind\n"
                               "end_header\n"
                               "4 0 1 2 3 255\n3 0 1 4 0\n"
                               "3 1 2 3.5 0.25\n"
                               "0.1 0 0 0 0 1 9 255 0 0 255 0 0\n1 0 0 0 0 1 9 0 255 0 128 1 0\n"
                               "1 1 0 0 0 2 9 0 0 255 0 1 0.75\n0 1 0 nan 0 1 9 0 0 0 255 0 1\n"
                               "0 0 1e-3 0 0 0 9 0 0 0 255 0 1\n"
                               "9 0 1 2 3 3 -1 2 3 4\n"
                               "1 4 7\nmore\n";

static const snwTestFile s_squareFiles[] = {{"square.ply", s_square, 0}, {NULL, NULL, 0}};

TEST(ply, elementsAndPropertiesInAnyOrder)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = snwReaders_MustRead(context, s_squareFiles);
    const snwAssetMesh* mesh = &asset->meshes[0];
    CHECK_INT(asset->format, snw_assetPly);
    CHECK_INT(mesh->vertexCount, 5);
    static const int wanted[6][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 4}, {0, 1, 2}, {2, 1, 3}, {2, 3, 4}};
    REQUIRE(mesh->triangleCount == 6);
    CHECK(memcmp(mesh->triangles, wanted, sizeof wanted) == 0);
    CHECK(mesh->edgeCount == 1 && mesh->edges[0][0] == 1 && mesh->edges[0][1] == 4);
    CHECK(mesh->positions[0].x == 0.1 && mesh->positions[4].z == 1e-3); // text is taken to the last bit
    CHECK(mesh->normals[2][2] == 1 && mesh->normals[3][0] == 0);
    CHECK(mesh->colors[0][0] == 1 && mesh->colors[2][2] == 1);
    CHECK_NEAR(mesh->colors[1][3], 128 / 255.0, 1e-7);
    CHECK(mesh->texcoords[0][1] == 1 && mesh->texcoords[2][1] == 0.25f);
    snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "camera", "nothing is known");
    snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "", "colours of faces");
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "", "not finite are zero");
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "normal 2", "not of length 1");
    snwReaders_CheckNote(asset, snw_noteOdd, 1, "", "more behind the last element");
    Close(context, asset);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bytes

typedef struct Bytes
{
    char data[4096];
    size_t size;
    bool big;
} Bytes;

static void Put(Bytes* bytes, const void* value, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        bytes->data[bytes->size++] = ((const char*)value)[bytes->big ? size - 1 - i : i];
}

static Bytes MakeBinary(bool big)
{
    Bytes bytes = {.big = big};
    bytes.size = (size_t)snprintf(bytes.data, sizeof bytes.data,
        "ply\r\nformat binary_%s_endian 1.0\r\nelement vertex 4\r\nproperty double x\r\nproperty float y\r\n"
        "property short z\r\nproperty list uint8 uint16 marks\r\nproperty ushort red\r\nproperty ushort green\r\n"
        "property ushort blue\r\nelement face 3\r\nproperty int8 flags\r\nproperty list float uint64 vertex_index\r\n"
        "property list char double texcoord\r\nend_header\r\n",
        big ? "big" : "little");
    for (int i = 0; i < 4; ++i)
    {
        double x = 0.1 * i;
        float y = i == 2;
        int16_t z = (int16_t)(-300 * (i == 3));
        uint8_t count = (uint8_t)i;
        uint16_t mark = 77, red = 65535, dark = 0;
        Put(&bytes, &x, sizeof x), Put(&bytes, &y, sizeof y), Put(&bytes, &z, sizeof z), Put(&bytes, &count, 1);
        for (int k = 0; k < i; ++k)
            Put(&bytes, &mark, sizeof mark);
        Put(&bytes, &red, 2), Put(&bytes, &dark, 2), Put(&bytes, &red, 2);
    }
    for (int i = 0; i < 3; ++i)
    {
        int8_t flags = -1, texcoords = 6;
        float length = 3;
        Put(&bytes, &flags, 1), Put(&bytes, &length, sizeof length);
        for (int k = 0; k < 3; ++k)
        {
            uint64_t corner = (uint64_t)((i + k) % 4);
            Put(&bytes, &corner, sizeof corner);
        }
        Put(&bytes, &texcoords, 1);
        for (int k = 0; k < 6; ++k)
        {
            double value = 0.125 * (i == 2 ? 5 : (i + k / 2) % 4);
            Put(&bytes, &value, sizeof value);
        }
    }
    return bytes;
}

TEST(ply, bothOrdersOfBytes)
{
    for (int big = 0; big < 2; ++big)
    {
        Bytes bytes = MakeBinary(big);
        const snwTestFile files[] = {{"a.ply", bytes.data, bytes.size}, {NULL, NULL, 0}};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        snwAsset* asset = snwReaders_MustRead(context, files);
        const snwAssetMesh* mesh = &asset->meshes[0];
        CHECK(mesh->vertexCount == 4 && mesh->triangleCount == 3);
        CHECK(mesh->positions[3].x == 0.1 * 3 && mesh->positions[3].z == -300 && mesh->positions[2].y == 1);
        CHECK(mesh->triangles[2][0] == 2 && mesh->triangles[2][1] == 3 && mesh->triangles[2][2] == 0);
        CHECK(mesh->colors[3][0] == 1 && mesh->colors[3][1] == 0 && mesh->colors[3][3] == 1);
        CHECK(mesh->texcoords[1][0] == 0.125f && mesh->texcoords[3][1] == 1 - 0.375f);
        snwReaders_CheckNote(asset, snw_noteOdd, 3, "vertex 2", "there is a seam");
        CHECK_INT(asset->noteCount, 1);
        Close(context, asset);
        snwReaders_CheckTruncated(files);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Trouble

#define HEAD "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
#define FACE "element face 1\nproperty list int int vertex_indices\n"

TEST(ply, whatMakesNoSenseIsRefused)
{
    snwReaders_Refuses("a.ply", "", "", "no PLY", "Stanford PLY");
    snwReaders_Refuses("a.ply", "plx\n", "", "no PLY", "Stanford PLY");
    snwReaders_Refuses("a.ply", "ply\nformat ascii 1.0\n", "line 3", "the file ends before it", "not complete");
    snwReaders_Refuses("a.ply", "ply\nformat latin 1.0\n", "line 2", "'latin' is none of PLY's three", "");
    snwReaders_Refuses("a.ply", "ply\nend_header\n", "line 2", "the format: the header does not tell it", "");
    snwReaders_Refuses("a.ply", "ply\nformat ascii 1.0\nend_header\n", "", "no vertices", "");
    snwReaders_Refuses(
        "a.ply", "ply\nformat ascii 1.0\nproperty int x\nend_header\n", "line 3", "before any element", "");
    snwReaders_Refuses(
        "a.ply", "ply\nformat ascii 1.0\nelement vertex -1\nend_header\n", "line 3", "'-1' is out of range", "");
    snwReaders_Refuses("a.ply", "ply\nelement vertex 1\nproperty complex x\n", "line 3", "'complex' is none", "");
    snwReaders_Refuses("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty int a\nend_header\n1\n",
        "line 6.vertex 0", "no positions", "");
    snwReaders_Refuses("a.ply", HEAD "end_header\n1 2\n", "line 8.vertex 0", "too short", "not complete");
    snwReaders_Refuses("a.ply", HEAD "end_header\n1 2    x\n", "line 8.vertex 0", "no number", "");
    snwReaders_Refuses("a.ply", HEAD "end_header\n1 2 inf\n", "vertex 0", "not finite", "");
    snwReaders_Refuses(
        "a.ply", HEAD FACE "end_header\n0 0 0\n3 0 0 1\n", "face 0", "uses vertex 1, but vertices go from 0 to 0", "");
    snwReaders_Refuses("a.ply", HEAD FACE "end_header\n0 0 0\n3 0 0 -1\n", "line 11.face 0", "no vertex", "");
    snwReaders_Refuses("a.ply", HEAD FACE "end_header\n0 0 0\n3 0 0 0.5\n", "line 11.face 0", "no vertex", "");
    snwReaders_Refuses("a.ply", HEAD FACE "end_header\n0 0 0\n-3 0 0 0\n", "line 11.face 0", "makes no sense", "");
    snwReaders_Refuses(
        "a.ply", HEAD FACE "end_header\n0 0 0\n3e9 0 0 0\n", "line 11.face 0", "longer than the rest", "");
    snwReaders_Refuses("a.ply", HEAD "element face 4000000000000000000\nproperty char a\nend_header\n0 0 0\n",
        "line 10.face 0", "too short", "");
}

// Rows without properties need no bytes, so their number tells nothing.
TEST(ply, rowsWithoutBytesCostNoTime)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = snwReaders_MustReadText(context, "a.ply",
        HEAD "element edge 4000000000000000000\nelement face 4000000000000000000\nelement else 4000000000000000000\n"
             "end_header\n1 2 3\n");
    CHECK(asset->meshes[0].vertexCount == 1 && asset->meshes[0].edgeCount == 0 && asset->meshes[0].triangleCount == 0);
    snwReaders_CheckNote(asset, snw_noteLeftOut, 3, "edge", "nothing is known");
    Close(context, asset);
}

TEST(ply, truncatedAnywhere)
{
    snwReaders_CheckTruncated(s_squareFiles);
}

TEST(ply, memoryRunsOut)
{
    Bytes bytes = MakeBinary(true);
    const snwTestFile files[] = {{"a.ply", bytes.data, bytes.size}, {NULL, NULL, 0}};
    snwReaders_CheckMemory(files);
    snwReaders_CheckMemory(s_squareFiles);
}
