// Flat characters from their files: meshes, pictures, and what is refused.

#include "fixture.h"
#include "scene/file.h"
#include "scene/flat_file.h"
#include "test.h"

#include <stdlib.h>

typedef struct Drawn
{
    snwContext* context;
    snwArena arena;
    json_t* document;
    snwFlatBlueprint blueprint;
    snwMessage message;
    snwResult result;
} Drawn;

static Drawn ReadText(snwContext* context, const char* text, size_t size)
{
    Drawn drawn = {.context = context, .arena = {.context = context}};
    snwJson json = {.context = context, .message = &drawn.message, .file = "test.json"};
    drawn.document = snwJson_Parse(&json, text, size, &drawn.result);
    if (drawn.document == NULL)
        return drawn;
    drawn.blueprint.color[0] = drawn.blueprint.color[1] = drawn.blueprint.color[2] = 1;
    drawn.result = snwFlat_ReadJson(&json, json_object_get(drawn.document, "outline"),
        json_object_get(drawn.document, "paint"), &drawn.arena, &drawn.blueprint);
    return drawn;
}

static void FreeDrawn(Drawn* drawn)
{
    json_decref(drawn->document);
    snwArena_Free(&drawn->arena);
}

typedef struct Wanted
{
    const char* name;
    int vertices, triangles, handles;
    const char* kind; // of its handles
} Wanted;

static const Wanted s_wanted[] = {
    {"ghost", 430, 748, 10, "cage"},
    {"starfish", 273, 445, 6, "point"},
    {"worm", 839, 1536, 5, "point"},
    {"ellipse", 1934, 3727, 12, "cage"},
    {"mushroom", 1905, 3653, 5, "point"},
    {"octopus-2d", 392, 640, 12, "point"},
    {"fish-2d", 1040, 1932, 4, "bone"},
    {"bunny", 2241, 4269, 8, "point"},
};

static Drawn ReadCharacter(snwContext* context, const char* name)
{
    char path[512], *text = NULL;
    size_t size = 0;
    snwMessage message = {0};
    snprintf(path, sizeof path, "%s/characters/%s.json", SNW_SOURCE_DIR, name);
    snwResult result = snwFile_Read(context, path, 1 << 20, &text, &size, &message);
    Drawn drawn = {.result = result};
    if (result == snw_ok)
        drawn = ReadText(context, text, size);
    if (drawn.result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s%s: %s", name, message.text, drawn.message.place, drawn.message.text);
    snwFree(context, text);
    return drawn;
}

// Crossing number in the triangles' union: how many triangles hold the point.
static int TrianglesAt(const snwFlatMesh* mesh, double x, double y)
{
    int count = 0;
    for (int t = 0; t < mesh->triangleCount; ++t)
    {
        bool inside = true;
        for (int k = 0; k < 3; ++k)
        {
            const double *a = mesh->vertices[mesh->triangles[t][k]],
                         *b = mesh->vertices[mesh->triangles[t][(k + 1) % 3]];
            inside &= (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) > 0;
        }
        count += inside;
    }
    return count;
}

static void CheckHandles(const json_t* document, const Wanted* wanted)
{
    const json_t* handles = json_object_get(document, "handles");
    CHECK_INT(json_array_size(handles), wanted->handles);
    double tail[3] = {0};
    for (size_t i = 0; i < json_array_size(handles); ++i)
    {
        const json_t *handle = json_array_get(handles, i), *at = json_object_get(handle, "at");
        CHECK(strcmp(json_string_value(json_object_get(handle, "kind")), wanted->kind) == 0);
        CHECK_INT(json_array_size(at), 3);
        for (size_t k = 0; k < 3 && json_object_get(handle, "tail") != NULL; ++k)
        {
            if (i > 0) // a chain: each bone begins where the one before it ends
                CHECK_NEAR(json_number_value(json_array_get(at, k)), tail[k], 1e-12);
            tail[k] = json_number_value(json_array_get(json_object_get(handle, "tail"), k));
        }
        CHECK((json_object_get(handle, "tail") != NULL) == (strcmp(wanted->kind, "bone") == 0));
    }
}

TEST_HEAVY(flat, charactersHaveTheirSizes)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof s_wanted / sizeof *s_wanted; ++i)
    {
        const Wanted* wanted = &s_wanted[i];
        Drawn drawn = ReadCharacter(context, wanted->name);
        REQUIRE(drawn.result == snw_ok);
        const json_t* size = json_object_get(drawn.document, "size");
        CHECK_INT(json_integer_value(json_object_get(size, "vertices")), wanted->vertices);
        CHECK_INT(json_integer_value(json_object_get(size, "triangles")), wanted->triangles);
        CheckHandles(drawn.document, wanted);
        snwFlatFitDef def = {wanted->vertices, wanted->triangles, 25};
        snwFlatMesh mesh;
        CHECK_INT(snwFlat_MakeMesh(context, &drawn.blueprint, &def, &drawn.arena, &mesh, &drawn.message), snw_ok);
        snwFlatQuality quality = snwFlatMesh_Measure(&mesh);
        CHECK(abs(mesh.vertexCount - wanted->vertices) <= wanted->vertices / 50);
        CHECK(abs(mesh.triangleCount - wanted->triangles) <= wanted->triangles / 100);
        CHECK(quality.minAngle >= 25 - 1e-6);
        CHECK_INT(quality.inverted, 0);
        CHECK_INT(mesh.sharpCount, 0);
        CHECK(quality.longEdge < 5 * quality.shortEdge);
        CHECK_INT(mesh.triangleCount, 2 * mesh.vertexCount - mesh.edgeCount - 2); // one piece without holes
        FreeDrawn(&drawn);
    }
    snwDestroyContext(context);
}

static double DistanceToRim(const snwFlatMesh* mesh, const double p[2])
{
    double least = INFINITY;
    for (int i = 0; i < mesh->edgeCount; ++i)
    {
        const double *a = mesh->vertices[mesh->edges[i][0]], *b = mesh->vertices[mesh->edges[i][1]];
        double ux = b[0] - a[0], uy = b[1] - a[1], vx = p[0] - a[0], vy = p[1] - a[1];
        double t = fmin(fmax((ux * vx + uy * vy) / (ux * ux + uy * uy), 0), 1);
        least = fmin(least, hypot(vx - t * ux, vy - t * uy));
    }
    return least;
}

// Arms as narrow as two edges keep their tips.
TEST(flat, tipsAreNotCutOff)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Drawn drawn = ReadCharacter(context, "octopus-2d");
    snwFlatFitDef def = {392, 640, 25};
    snwFlatMesh mesh;
    snwOutline outline;
    REQUIRE(snwFlat_MakeMesh(context, &drawn.blueprint, &def, &drawn.arena, &mesh, NULL) == snw_ok);
    REQUIRE(snwFlat_MakeOutline(&drawn.blueprint, &drawn.arena, &outline, NULL) == snw_ok);
    double most = 0;
    for (int i = 0; i < outline.rings[0].count; ++i)
        most = fmax(most, DistanceToRim(&mesh, outline.rings[0].points[i]));
    CHECK(most < 0.009);
    FreeDrawn(&drawn);
    snwDestroyContext(context);
}

// Opaque where the mesh is, clear where it is not; only the rim, where curve and polygon differ, is left open.
TEST_HEAVY(flat, picturesCoverTheirMeshes)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof s_wanted / sizeof *s_wanted; ++i)
    {
        Drawn drawn = ReadCharacter(context, s_wanted[i].name);
        REQUIRE(drawn.result == snw_ok);
        snwFlatMesh mesh;
        snwFlatPicture picture;
        snwFlatFitDef def = {s_wanted[i].vertices, s_wanted[i].triangles, 25};
        REQUIRE(snwFlat_MakeMesh(context, &drawn.blueprint, &def, &drawn.arena, &mesh, NULL) == snw_ok);
        REQUIRE(snwFlat_Paint(context, &drawn.blueprint, 256, &drawn.arena, &picture, NULL) == snw_ok);
        CHECK_INT(picture.width > picture.height ? picture.width : picture.height, 256);
        int wrong = 0, inside = 0, colors = 0;
        double covered = 0, pixel = (picture.upper[0] - picture.lower[0]) / picture.width;
        for (int y = 0; y < picture.height; y += 4)
            for (int x = 0; x < picture.width; x += 4)
            {
                const uint8_t* p = picture.pixels + 4 * (y * picture.width + x);
                int here = TrianglesAt(
                    &mesh, picture.lower[0] + (x + 0.5) * pixel, picture.upper[1] - (y + 0.5) * pixel);
                wrong += here == 0 ? p[3] > 127 : p[3] < 128;
                inside += here > 0;
                colors += p[0] != picture.pixels[0] || p[1] != picture.pixels[1] || p[2] != picture.pixels[2];
            }
        for (int k = 0; k < picture.width * picture.height; ++k)
            covered += picture.pixels[4 * k + 3] / 255.0 * pixel * pixel;
        CHECK(inside > 500);
        CHECK(wrong < inside / 20);
        CHECK(colors > inside / 2); // it is painted, not just filled
        CHECK_NEAR(covered, snwFlatMesh_Measure(&mesh).area, 0.05 * covered);
        for (int v = 0; v < mesh.vertexCount; ++v)
        {
            double uv[2];
            snwFlatPicture_Place(&picture, mesh.vertices[v], uv);
            CHECK(uv[0] > 0 && uv[0] < 1 && uv[1] > 0 && uv[1] < 1);
        }
        FreeDrawn(&drawn);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The painter

static const char s_square[] =
    "{\"outline\": [{\"points\": [[-1, -1, \"corner\"], [1, -1, \"corner\"], [1, 1, \"corner\"], [-1, 1, \"corner\"]]},"
    "{\"hole\": true, \"points\": [[-0.2, -0.2, \"corner\"], [0.2, -0.2, \"corner\"], [0.2, 0.2, \"corner\"], "
    "[-0.2, 0.2, \"corner\"]]}], \"paint\": [%s]}";

static const uint8_t* PixelAt(const snwFlatPicture* picture, double x, double y)
{
    double uv[2];
    snwFlatPicture_Place(picture, (const double[]){x, y}, uv);
    return picture->pixels + 4 * ((int)(uv[1] * picture->height) * picture->width + (int)(uv[0] * picture->width));
}

// Paints on a white square with a hole and gives the picture back.
static snwFlatPicture PaintSquare(Drawn* drawn, snwContext* context, const char* paint)
{
    char text[2048];
    snwFlatPicture picture = {0};
    snprintf(text, sizeof text, s_square, paint);
    *drawn = ReadText(context, text, strlen(text));
    if (drawn->result < 0 ||
        snwFlat_Paint(context, &drawn->blueprint, 208, &drawn->arena, &picture, &drawn->message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", drawn->message.place, drawn->message.text);
    return picture;
}

#define CHECK_PIXEL(picture, x, y, r, g, b)                                                                            \
    do                                                                                                                 \
    {                                                                                                                  \
        const uint8_t* pixelAt = PixelAt(picture, x, y);                                                               \
        CHECK_NEAR(pixelAt[0], r, 2);                                                                                  \
        CHECK_NEAR(pixelAt[1], g, 2);                                                                                  \
        CHECK_NEAR(pixelAt[2], b, 2);                                                                                  \
    } while (0)

TEST(flat, shapesArePaintedWhereTheyAre)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Drawn drawn;
    snwFlatPicture picture = PaintSquare(&drawn, context,
        "{\"shape\": \"polygon\", \"color\": \"#ff0000\", \"points\": [[0.3, 0.3], [0.9, 0.3], [0.9, 0.9], [0.3, "
        "0.9]]},"
        "{\"shape\": \"ellipse\", \"color\": \"#0000ff\", \"center\": [0.5, -0.5], \"radius\": [0.3, 0.1], \"angle\": "
        "90, "
        "\"mirror\": true},"
        "{\"shape\": \"stroke\", \"color\": \"#00ff00\", \"width\": 0.1, \"points\": [[-0.9, 0.6], [-0.3, 0.6]]}");
    REQUIRE(picture.pixels != NULL);
    CHECK_PIXEL(&picture, 0.6, 0.6, 255, 0, 0);
    CHECK_PIXEL(&picture, 0.6, 0.2, 255, 255, 255);
    for (int side = -1; side <= 1; side += 2)
    {
        CHECK_PIXEL(&picture, side * 0.5, -0.25, 0, 0, 255); // along its own x, turned upright
        CHECK_PIXEL(&picture, side * 0.75, -0.5, 255, 255, 255);
    }
    CHECK_PIXEL(&picture, -0.6, 0.63, 0, 255, 0);
    CHECK_PIXEL(&picture, -0.6, 0.67, 255, 255, 255);
    CHECK_PIXEL(&picture, -0.93, 0.6, 0, 255, 0); // the round end
    CHECK_PIXEL(&picture, -0.97, 0.6, 255, 255, 255);
    CHECK_INT(PixelAt(&picture, 0.9, 0.9)[3], 255);
    CHECK_INT(PixelAt(&picture, 0.1, -0.1)[3], 0); // the hole
    CHECK_INT(PixelAt(&picture, 1.03, 0)[3], 0);
    FreeDrawn(&drawn);
    snwDestroyContext(context);
}

TEST(flat, gradientsOpacityAndSoftness)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Drawn drawn;
    snwFlatPicture picture = PaintSquare(&drawn, context,
        "{\"shape\": \"polygon\", \"color\": \"#000000\", \"points\": [[-2, 0.3], [2, 0.3], [2, 2], [-2, 2]],"
        "\"gradient\": {\"kind\": \"linear\", \"from\": [-0.5, 0], \"to\": [0.5, 0], \"color\": \"#ff0000\"}},"
        "{\"shape\": \"ellipse\", \"color\": \"#0000ff\", \"center\": [0.5, -0.5], \"radius\": [0.4, 0.4],"
        "\"gradient\": {\"kind\": \"radial\", \"from\": [0.5, -0.5], \"to\": [0.9, -0.5], \"opacity\": 0}},"
        "{\"shape\": \"polygon\", \"color\": \"#000000\", \"opacity\": 0.5, \"points\": [[-1, -1], [-0.8, -1], [-0.8, "
        "0], "
        "[-1, 0]]},"
        "{\"shape\": \"polygon\", \"color\": \"#000000\", \"soft\": 0.2, \"points\": [[-0.5, -2], [-0.3, -2], [-0.3, "
        "-0.3], "
        "[-0.5, -0.3]]}");
    REQUIRE(picture.pixels != NULL);
    CHECK_PIXEL(&picture, -0.8, 0.6, 0, 0, 0);
    CHECK_PIXEL(&picture, 0.8, 0.6, 255, 0, 0);
    CHECK_NEAR(PixelAt(&picture, 0, 0.6)[0], 128, 6);
    CHECK_NEAR(PixelAt(&picture, 0.5, -0.5)[0], 0, 3);
    CHECK_NEAR(PixelAt(&picture, 0.7, -0.5)[0], 128, 8);
    CHECK(PixelAt(&picture, 0.87, -0.5)[0] > 245);
    CHECK_PIXEL(&picture, -0.9, -0.5, 128, 128, 128);
    int edge = PixelAt(&picture, -0.3, -0.6)[0], middle = PixelAt(&picture, -0.4, -0.6)[0];
    CHECK(middle < edge && edge < 200 && edge > 80 && PixelAt(&picture, -0.25, -0.6)[0] > edge);
    FreeDrawn(&drawn);
    snwDestroyContext(context);
}

// Half of a pixel's area is half of its alpha, whatever the slope of the edge.
TEST(flat, coverageIsExact)
{
    const char text[] =
        "{\"outline\": [{\"points\": [[0, 0, \"corner\"], [0.9, 0.05, \"corner\"], [1, 0.77, \"corner\"], "
        "[0.31, 1, \"corner\"]]}]}";
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Drawn drawn = ReadText(context, text, strlen(text));
    snwFlatPicture picture;
    REQUIRE(snwFlat_Paint(context, &drawn.blueprint, 64, &drawn.arena, &picture, NULL) == snw_ok);
    double sum = 0, pixel = (picture.upper[0] - picture.lower[0]) / picture.width;
    for (int i = 0; i < picture.width * picture.height; ++i)
        sum += picture.pixels[4 * i + 3] / 255.0;
    // shoelace
    CHECK_NEAR(sum * pixel * pixel, (0.9 * 0.77 - 1 * 0.05 + 1 * 1 - 0.31 * 0.77) / 2, 2e-4);
    FreeDrawn(&drawn);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Curves and files

TEST(flat, curvesPassThroughTheirPoints)
{
    const snwSplinePoint points[] = {
        {{0, 0}, true}, {{1, 0.2}, false}, {{1.3, 1}, false}, {{0.2, 1.4}, true}, {{-0.5, 0.6}, false}};
    double out[5 * snw_spanSamples + 1][2];
    int owners[5 * snw_spanSamples + 1];
    bool corners[5 * snw_spanSamples + 1];
    int count = snwSpline_Sample(points, 5, true, out, owners, corners);
    CHECK_INT(count, 5 * snw_spanSamples);
    for (int i = 0; i < 5; ++i)
    {
        CHECK_NEAR(out[i * snw_spanSamples][0], points[i].at[0], 1e-12);
        CHECK_NEAR(out[i * snw_spanSamples][1], points[i].at[1], 1e-12);
        CHECK_INT(corners[i * snw_spanSamples], points[i].corner);
    }
    // the direction jumps at corners only
    for (int i = 0; i < count; ++i)
    {
        const double *a = out[(i + count - 1) % count], *o = out[i], *b = out[(i + 1) % count];
        double turn = atan2((o[0] - a[0]) * (b[1] - o[1]) - (o[1] - a[1]) * (b[0] - o[0]),
            (o[0] - a[0]) * (b[0] - o[0]) + (o[1] - a[1]) * (b[1] - o[1]));
        CHECK((fabs(turn) > 0.5) == corners[i]);
    }
}

TEST(flat, mirroredOutlinesAreSymmetric)
{
    const char text[] = "{\"outline\": [{\"mirror\": true, \"points\": [[0, 1], [0.5, 0.6], [0.7, -0.2], [0.2, -1]]}]}";
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Drawn drawn = ReadText(context, text, strlen(text));
    snwOutline outline;
    REQUIRE(snwFlat_MakeOutline(&drawn.blueprint, &drawn.arena, &outline, NULL) == snw_ok);
    const snwRing* ring = &outline.rings[0];
    CHECK_INT(ring->count, 7 * snw_spanSamples); // the top is there once, the others twice
    for (int i = 0; i < ring->count; ++i)
    {
        double least = 1;
        for (int k = 0; k < ring->count; ++k)
            least = fmin(
                least, hypot(ring->points[i][0] + ring->points[k][0], ring->points[i][1] - ring->points[k][1]));
        CHECK(least < 1e-12);
    }
    CHECK_INT(snwRing_Name(ring, 3 * snw_spanSamples), 3);
    CHECK_INT(snwRing_Name(ring, 6 * snw_spanSamples), 1);
    FreeDrawn(&drawn);
    snwDestroyContext(context);
}

static void CheckFile(const char* text, const char* place, const char* words)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    Drawn drawn = ReadText(context, text, strlen(text));
    snwFlatFitDef def = {60, 90, 25};
    snwFlatMesh mesh;
    if (drawn.result == snw_ok)
        drawn.result = snwFlat_MakeMesh(context, &drawn.blueprint, &def, &drawn.arena, &mesh, &drawn.message);
    CHECK_INT(drawn.result, snw_errorInput);
    CHECK_CONTAINS(drawn.message.place, place);
    CHECK_CONTAINS(drawn.message.text, words);
    FreeDrawn(&drawn);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
}

TEST(flat, filesAreRefusedWithTheirPlace)
{
#define OK_RING "{\"points\": [[0, 0], [1, 0], [0, 1]]}"
    CheckFile("{}", "outline", "missing");
    CheckFile("{}", "outline", "missing");
    CheckFile("{\"outline\": []}", "outline", "1..256");
    CheckFile("{\"outline\": {}}", "outline", "must be a list");
    CheckFile("{\"outline\": [{\"points\": [[0, 0], [1, 0]]}]}", "outline[0].points", "3..");
    CheckFile("{\"outline\": [{\"points\": [[0, 0], [1, 0], 7]}]}", "outline[0].points[2]", "[x, y]");
    CheckFile("{\"outline\": [{\"points\": [[0, 0], [1, 0], [0, \"a\"]]}]}", "outline[0].points[2][1]", "number");
    CheckFile("{\"outline\": [{\"points\": [[0, 0], [1, 0], [0, 1, \"round\"]]}]}", "outline[0].points[2]", "corner");
    CheckFile("{\"outline\": [{\"points\": [[0, 0], [1, 0], [0, 1e9]]}]}", "outline[0].points[2][1]", "-1000..1000");
    CheckFile("{\"outline\": [{\"point\": []}]}", "outline[0]", "unknown key 'point'");
    CheckFile("{\"outline\": [" OK_RING "], \"paint\": 3}", "paint", "must be a list");
    CheckFile("{\"outline\": [" OK_RING "], \"paint\": [{\"shape\": \"circle\"}]}", "paint[0].shape", "circle");
    CheckFile(
        "{\"outline\": [" OK_RING "], \"paint\": [{\"shape\": \"rim\", \"color\": \"#112233\"}]}", "paint[0]", "width");
    CheckFile("{\"outline\": [" OK_RING
              "], \"paint\": [{\"shape\": \"ellipse\", \"color\": \"#112233\", \"center\": [0], "
              "\"radius\": [1, 1]}]}",
        "paint[0].center", "2 numbers");
    CheckFile("{\"outline\": [" OK_RING
              "], \"paint\": [{\"shape\": \"ellipse\", \"color\": \"#112233\", \"center\": [0, 0], "
              "\"radius\": [1, 0]}]}",
        "paint[0].radius[1]", "must be");
    CheckFile("{\"outline\": [" OK_RING "], \"paint\": [{\"shape\": \"rim\", \"width\": 1, \"color\": \"#112233\", "
              "\"gradient\": {\"kind\": \"linear\", \"from\": [0, 0]}}]}",
        "paint[0].gradient", "'to' is missing");
    // what only the geometry can tell, with the file's own numbers
    CheckFile("{\"outline\": [{\"points\": [[0, 0], [1, 0], [1, 0], [0, 1]]}]}", "outline[0].points[1]", "same place");
    CheckFile(
        "{\"outline\": [{\"mirror\": true, \"points\": [[0, 1], [-1, 0], [0, -1]]}]}", "outline[0].points[1]", "axis");
    CheckFile(
        "{\"outline\": [{\"points\": [[0, 0], [1, 1], [1, 0], [0, 1.5]]}]}", "outline[0].points", "crosses itself");
}

// Reading, meshing and painting, with each allocation failing once.
TEST(flat, everyFailedAllocationIsAnErrorWithoutLeak)
{
    char text[1024];
    snprintf(text, sizeof text, s_square,
        "{\"shape\": \"fill\", \"color\": \"#ff0000\", \"soft\": 0.1, \"points\": [[0, 0], [1, 0], [0, 1]]}");
    for (long n = 1; n < 5000; n += 1 + n / 40) // every one at first, then fewer: what comes later is alike
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwFlatMesh mesh;
        snwFlatPicture picture;
        snwFlatFitDef def = {120, 170, 25};
        counter.failAt = counter.allocations + n;
        Drawn drawn = ReadText(context, text, strlen(text));
        if (drawn.result == snw_ok)
            drawn.result = snwFlat_MakeMesh(context, &drawn.blueprint, &def, &drawn.arena, &mesh, &drawn.message);
        if (drawn.result == snw_ok)
            drawn.result = snwFlat_Paint(context, &drawn.blueprint, 32, &drawn.arena, &picture, &drawn.message);
        bool reached = counter.allocations >= counter.failAt;
        CHECK_INT(drawn.result, reached ? snw_errorMemory : snw_ok);
        FreeDrawn(&drawn);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        if (!reached)
        {
            CHECK(n > 40);
            return;
        }
    }
    CHECK(false); // never got through
}
