// MEDIT's meshes: text and bytes, what programs write, and what is refused.

#include "readers.h"

static void Close(snwContext* context, snwAsset* asset)
{
    snwAsset_Close(asset);
    snwDestroyContext(context);
}

static const char s_mixed[] =
    "\n# made by hand\nMeshVersionFormatted\n2\nDimension 3\nIdentifier \"a mesh: Triangles 3\"\n"
    "CORNERS\n2\n1 2\nVertices 9\n"
    "0 0 0 1\n1 0 0 1\n1 1 0 2\n0 1 0 2\n0 0 1 3\n1 0 1 3\n1 1 1 4\n0 1 1 4\n"
    "0.10000000000000001 -2e-3 5 -7\n"
    "Ridges 1 1\nNormals 2\n0 0 1\nnan 0 inf\nNormalAtVertices 1\n1 1\n"
    "tetrahedra 2\n1 2 3 5 11 2 3 4 6 12\n"
    "Edges\n1\n1 9 5\n4 4\n"
    "Hexahedra\n1\n1 2 3 4 5 6 7 8 21\n"
    "Triangles\n1\n1 2 3 31\n"
    "Quadrilaterals\n1\n5 6 7 8 32\n"
    "TetrahedraP2\n1\n1 2 3 9 1 1 1 1 1 1 13\n"
    "RequiredTriangles 1 1\nEnd\nnonsense";

static const snwTestFile s_mixedFiles[] = {{"mixed.mesh", s_mixed, 0}, {NULL, NULL, 0}};

TEST(medit, sectionsInAnyOrderAndCase)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = snwReaders_MustRead(context, s_mixedFiles);
    const snwAssetMesh* mesh = &asset->meshes[0];
    CHECK_INT(asset->format, snw_assetMedit);
    CHECK_INT(mesh->vertexCount, 9);
    CHECK(mesh->positions[8].x == 0.1 && mesh->positions[8].y == -2e-3 && mesh->vertexLabels[8] == -7);
    REQUIRE(mesh->tetCount == 3 && mesh->hexCount == 1 && mesh->edgeCount == 1 && mesh->triangleCount == 3);
    static const int tets[3][4] = {{0, 1, 2, 4}, {1, 2, 3, 5}, {0, 1, 2, 8}};
    static const int triangles[3][3] = {{0, 1, 2}, {4, 5, 6}, {4, 6, 7}};
    static const int tetLabels[3] = {11, 12, 13}, triangleLabels[3] = {31, 32, 32};
    CHECK(memcmp(mesh->tets, tets, sizeof tets) == 0 && memcmp(mesh->tetLabels, tetLabels, sizeof tetLabels) == 0);
    CHECK(memcmp(mesh->triangles, triangles, sizeof triangles) == 0);
    CHECK(memcmp(mesh->triangleLabels, triangleLabels, sizeof triangleLabels) == 0);
    for (int k = 0; k < 8; ++k)
        CHECK_INT(mesh->hexes[0][k], k);
    CHECK(mesh->hexLabels[0] == 21 && mesh->edges[0][1] == 8);
    CHECK(mesh->partCount == 1 && strcmp(mesh->parts[0].name, "mixed") == 0);
    snwReaders_CheckNote(asset, snw_noteLeftOut, 6, "Identifier", "of no use here");
    snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "TetrahedraP2", "are curved");
    snwReaders_CheckNote(asset, snw_noteOdd, 2, "line 31", "is a count too small?");
    CHECK_INT(asset->noteCount, 3);
    Close(context, asset);
}

TEST(medit, flatMeshesAndMissingLabels)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = snwReaders_MustReadText(context, "flat.mesh",
        "MeshVersionFormatted 1\n\nDimension\n2\n\nVertices\n4\n0 0\n1 0\n1 1.5\n0 1\nTriangles 2\n1 2 3 5\n1 3 3 6\n");
    const snwAssetMesh* mesh = &asset->meshes[0];
    CHECK(mesh->vertexCount == 4 && mesh->positions[2].y == 1.5 && mesh->positions[2].z == 0);
    CHECK(mesh->triangleCount == 1 && mesh->triangleLabels[0] == 5);
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "Vertices", "no labels");
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "line 14", "fewer than three corners");
    snwAsset_Close(asset);
    asset = snwReaders_MustReadText(context, "flat.mesh",
        "MeshVersionFormatted 1 Dimension 3 Vertices 2\n0 0 0\n7\n1 0 0 8.0\nTetrahedra 1 1 1 2 2 1"); // labels on
                                                                                                       // their own
    CHECK(asset->meshes[0].vertexLabels[0] == 7 && asset->meshes[0].vertexLabels[1] == 8);
    snwReaders_CheckNote(asset, snw_noteRepaired, 1, "tet 1", "use a vertex twice");
    Close(context, asset);
}

#define HEAD "MeshVersionFormatted 1\nDimension 3\nVertices\n1\n"

TEST(medit, whatMakesNoSenseIsRefused)
{
    snwReaders_Refuses("a.mesh", "", "", "no vertices", "");
    snwReaders_Refuses("a.mesh", "solid cube\n", "line 1", "this is no MEDIT mesh", "");
    snwReaders_Refuses("a.mesh", "MeshVersionFormatted 5", "line 1", "the version: '5' is out of range", "");
    snwReaders_Refuses(
        "a.mesh", "MeshVersionFormatted 1\nDimension 4", "line 2", "the dimension: '4' is out of range", "");
    snwReaders_Refuses("a.mesh", HEAD "0 0\n", "line 6", "the file ends before it", "not complete");
    snwReaders_Refuses("a.mesh", HEAD "0 0 abc 1\n", "line 5", "'abc' is not a finite number", "");
    snwReaders_Refuses("a.mesh", HEAD "0 0 1,5 1\n", "line 5", "'1,5' is not a finite number", "a point, not a comma");
    snwReaders_Refuses("a.mesh", HEAD "0 0 0 1.5\n", "line 5", "a label: it is no whole number", "");
    snwReaders_Refuses("a.mesh", HEAD "0 0 0 1\nTriangles\n1\n1 1 2 1\n", "line 8", "uses vertex 2", "export it again");
    snwReaders_Refuses("a.mesh", HEAD "0 0 0 1\nTetrahedra\n1\n1 1 1 2 1\n", "tet 1", "uses vertex 2", "");
    snwReaders_Refuses("a.mesh", HEAD "0 0 0 1\nTetrahedra\n1\n0 1 1 1 1\n", "line 8", "'0' is out of range", "");
    snwReaders_Refuses(
        "a.mesh", HEAD "0 0 0 1\nTetrahedra\n9000000\n1 1 1 1 1\n", "line 7", "too short for so many", "");
    snwReaders_Refuses("a.mesh", HEAD "0 0 0 1\nVertices 1\n0 0 0 1\n", "line 6", "comes twice", "");
    char many[4096] = HEAD "0 0 0 1\n";
    for (int i = 0; i < 65; ++i)
        strcat(many, "word 1\n");
    snwReaders_Refuses("a.mesh", many, "line 70", "one too many", "");
}

TEST(medit, truncatedAnywhere)
{
    snwReaders_CheckTruncated(s_mixedFiles);
}

TEST(medit, memoryRunsOut)
{
    snwReaders_CheckMemory(s_mixedFiles);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bytes

typedef struct Bytes
{
    char data[2048];
    size_t size;
    bool big;
    int version;
} Bytes;

static void Put(Bytes* bytes, const void* value, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        bytes->data[bytes->size++] = ((const char*)value)[bytes->big ? size - 1 - i : i];
}

static void PutInt(Bytes* bytes, int64_t value, bool wide)
{
    int32_t narrow = (int32_t)value;
    Put(bytes, wide ? (const void*)&value : &narrow, wide ? 8 : 4);
}

static void PutReal(Bytes* bytes, double value)
{
    float narrow = (float)value;
    Put(bytes, bytes->version > 1 ? (const void*)&value : &narrow, bytes->version > 1 ? 8 : 4);
}

static void PutSection(Bytes* bytes, int code, int64_t payload)
{
    bool wide = bytes->version >= 3;
    PutInt(bytes, code, false);
    PutInt(bytes, (int64_t)bytes->size + (wide ? 8 : 4) + payload, wide);
}

static Bytes MakeBinary(int version, bool big)
{
    Bytes bytes = {.big = big, .version = version};
    int64_t whole = version == 4 ? 8 : 4, real = version == 1 ? 4 : 8;
    PutInt(&bytes, 1, false), PutInt(&bytes, version, false);
    PutSection(&bytes, 3, 4), PutInt(&bytes, 3, false);
    PutSection(&bytes, 13, whole + whole), PutInt(&bytes, 1, version == 4), PutInt(&bytes, 1, version == 4);
    PutSection(&bytes, 4, whole + 4 * (3 * real + whole)), PutInt(&bytes, 4, version == 4);
    for (int i = 0; i < 4; ++i)
    {
        for (int k = 0; k < 3; ++k)
            PutReal(&bytes, i == k + 1 ? 0.1 : 0);
        PutInt(&bytes, 40 + i, version == 4);
    }
    PutSection(&bytes, 8, whole + 5 * whole), PutInt(&bytes, 1, version == 4);
    for (int i = 0; i < 5; ++i)
        PutInt(&bytes, i < 4 ? i + 1 : 77, version == 4);
    PutSection(&bytes, 7, whole + 5 * whole), PutInt(&bytes, 1, version == 4);
    for (int i = 0; i < 5; ++i)
        PutInt(&bytes, i < 4 ? 4 - i : 78, version == 4);
    PutInt(&bytes, 54, false), PutInt(&bytes, 0, version >= 3);
    return bytes;
}

TEST(medit, binaryOfEveryVersionAndOrder)
{
    for (int i = 0; i < 8; ++i)
    {
        Bytes bytes = MakeBinary(i / 2 + 1, i % 2);
        const snwTestFile files[] = {{"a.meshb", bytes.data, bytes.size}, {NULL, NULL, 0}};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        snwAsset* asset = snwReaders_MustRead(context, files);
        const snwAssetMesh* mesh = &asset->meshes[0];
        CHECK(mesh->vertexCount == 4 && mesh->vertexLabels[3] == 43);
        CHECK(mesh->positions[3].z == (i < 2 ? (double)0.1f : 0.1));
        CHECK(mesh->tetCount == 1 && mesh->tets[0][3] == 3 && mesh->tetLabels[0] == 77);
        CHECK(mesh->triangleCount == 2 && mesh->triangles[0][0] == 2 && mesh->triangleLabels[1] == 78);
        snwReaders_CheckNote(asset, snw_noteLeftOut, 1, "", "of no use here");
        Close(context, asset);
        snwReaders_CheckTruncated(files);
        if (i == 0)
            snwReaders_CheckMemory(files);
    }
}

// A section that leads back would be read for ever.
TEST(medit, binaryThatLeadsBackIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int next = 0; next < 40; next += 4)
    {
        Bytes bytes = MakeBinary(1, false);
        memcpy(bytes.data + 24, &(int){next}, 4); // where Corners says that the next section is
        const snwTestFile files[] = {{"a.meshb", bytes.data, bytes.size}, {NULL, NULL, 0}};
        snwAsset* asset = NULL;
        snwMessage message = {0};
        snwResult result = snwReaders_Read(context, files, bytes.size, &asset, &message);
        CHECK_INT(result, next == 36 ? snw_ok : snw_errorInput);
        snwAsset_Close(asset);
    }
    snwDestroyContext(context);
}
