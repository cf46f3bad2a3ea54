// One layout, two pens: what the SVG says is where the PNG has its ink.

#include "fixture.h"
#include "process.h"
#include "test.h"

#include "sinew/tools.h"

#include <jansson.h>
#include <png.h>
#include <stdlib.h>
#include <sys/stat.h>

#define RUN(...) snwProcess_Run((const char* const[]){SNW_BINARY_DIR "/sinew", __VA_ARGS__, NULL})

enum
{
    snw_points = 40
};

typedef struct World
{
    snwContext* context;
    snwMessage message;
    char stem[200];
    double x[snw_points], y[snw_points];
    snwPlotCurve curve;
    snwPlotReference references[2];
    snwPlotDef def;
} World;

// A wave, a published curve and two published points.
static void MakeWorld(World* world, const char* name, snwCountingAllocator* counter)
{
    static const double x[2] = {0, 4}, y[2] = {-1, 1};
    *world = (World){.context = snwFixture_Context(1, snw_simdAuto, counter), .def = snwDefaultPlotDef()};
    snprintf(world->stem, sizeof world->stem, "%s/%s", snwTest_TempDir(), name);
    for (int i = 0; i < snw_points; ++i)
    {
        world->x[i] = 0.1 * i;
        world->y[i] = sin(world->x[i]);
    }
    world->curve = (snwPlotCurve){"ours", world->x, world->y, snw_points};
    world->references[0] = (snwPlotReference){"Smith & Jones 2015", x, y, 2, false};
    world->references[1] = (snwPlotReference){"measured", x, y, 2, true};
    world->def.title = "A wave";
    world->def.xLabel = "time (s)";
    world->def.yLabel = "height (m)";
    world->def.curves = &world->curve;
    world->def.curveCount = 1;
    world->def.references = world->references;
    world->def.referenceCount = 2;
}

static char* ReadSvg(const World* world)
{
    char path[220];
    snprintf(path, sizeof path, "%s.svg", world->stem);
    return snwReadWhole(path);
}

// Red green blue; free() it.
static unsigned char* ReadPng(const World* world, int* width, int* height)
{
    char path[220];
    snprintf(path, sizeof path, "%s.png", world->stem);
    png_image read = {.version = PNG_IMAGE_VERSION};
    if (png_image_begin_read_from_file(&read, path) == 0)
        return NULL;
    read.format = PNG_FORMAT_RGB;
    *width = (int)read.width;
    *height = (int)read.height;
    unsigned char* pixels = malloc(PNG_IMAGE_SIZE(read));
    if (png_image_finish_read(&read, NULL, pixels, 0, NULL) == 0)
        return free(pixels), NULL;
    return pixels;
}

static bool IsNear(const unsigned char* pixel, int red, int green, int blue, int most)
{
    return abs(pixel[0] - red) <= most && abs(pixel[1] - green) <= most && abs(pixel[2] - blue) <= most;
}

TEST(plot, pngHasItsInkWhereTheSvgSays)
{
    World world;
    int width = 0, height = 0, checked = 0;
    MakeWorld(&world, "wave", NULL);
    REQUIRE(snwPlot_Write(world.context, &world.def, world.stem, &world.message) == snw_ok);
    char* svg = ReadSvg(&world);
    unsigned char* pixels = ReadPng(&world, &width, &height);
    REQUIRE(svg != NULL && pixels != NULL);
    CHECK_INT(width, 2 * world.def.width);
    CHECK_INT(height, 2 * world.def.height);
    // The curve is the last path; the references are drawn before it.
    char* path = NULL;
    for (char* c = strstr(svg, "<path"); c != NULL; c = strstr(c + 1, "<path"))
        path = c;
    REQUIRE(path != NULL);
    for (char* c = strchr(path, 'M'); c != NULL && *c != '"'; c += strcspn(c + 1, "L\"") + 1)
    {
        char* rest;
        double x = strtod(c + 1, &rest), y = strtod(rest, NULL);
        const unsigned char* pixel = pixels + 3 * ((size_t)(2 * y) * (size_t)width + (size_t)(2 * x));
        CHECK(IsNear(pixel, 0x00, 0x72, 0xb2, 60));
        const unsigned char* above = pixel - 3 * (size_t)(16 * width); // eight units higher is something else
        CHECK(!IsNear(above, 0x00, 0x72, 0xb2, 60) || checked == 0);
        checked++;
    }
    CHECK_INT(checked, snw_points);
    CHECK(IsNear(pixels, 255, 255, 255, 0));
    free(svg);
    free(pixels);
    snwDestroyContext(world.context);
}

TEST(plot, referencesAreGreyAndNamed)
{
    World world;
    MakeWorld(&world, "reference", NULL);
    REQUIRE(snwPlot_WriteSvg(world.context, &world.def, strcat(world.stem, ".svg"), &world.message) == snw_ok);
    char* svg = snwReadWhole(world.stem);
    REQUIRE(svg != NULL);
    static const char* const words[] = {">ours<", ">Smith &amp; Jones 2015<", ">measured<", ">time (s)<",
        ">height (m)<", ">A wave<", "stroke=\"#7c828b\" stroke-width=\"1.60\" stroke-dasharray", "<circle"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        CHECK_CONTAINS(svg, words[i]);
    free(svg);
    snwDestroyContext(world.context);
}

// Ink of one colour in a rectangle of the image.
static int CountInk(const unsigned char* pixels, int width, const int box[4], int red, int green, int blue)
{
    int count = 0;
    for (int y = box[1]; y < box[3]; ++y)
        for (int x = box[0]; x < box[2]; ++x)
            count += IsNear(pixels + 3 * ((size_t)y * (size_t)width + (size_t)x), red, green, blue, 40);
    return count;
}

TEST(plot, pngHasWordsOnEverySide)
{
    World world;
    int width = 0, height = 0;
    MakeWorld(&world, "words", NULL);
    world.def.overwrite = true;
    for (int i = 0; i < snw_points; ++i)
        world.y[i] *= 1e6; // with a power in the label
    REQUIRE(snwPlot_Write(world.context, &world.def, world.stem, &world.message) == snw_ok);
    unsigned char* pixels = ReadPng(&world, &width, &height);
    REQUIRE(pixels != NULL);
    const int title[4] = {0, 20, width, 64}, left[4] = {0, height / 3, 52, height - 100};
    const int below[4] = {0, height - 52, width, height}, legend[4] = {0, 84, width, 116};
    CHECK(CountInk(pixels, width, title, 0x24, 0x29, 0x2f) > 200);
    CHECK(CountInk(pixels, width, left, 0x24, 0x29, 0x2f) > 200);
    CHECK(CountInk(pixels, width, below, 0x24, 0x29, 0x2f) > 200);
    CHECK(CountInk(pixels, width, legend, 0x00, 0x72, 0xb2) > 100);
    CHECK(CountInk(pixels, width, legend, 0x7c, 0x82, 0x8b) > 60);
    free(pixels);
    snwDestroyContext(world.context);
}

TEST(plot, emptyDataIsAnErrorWithWords)
{
    World world;
    MakeWorld(&world, "empty", NULL);
    for (int i = 0; i < snw_points; ++i)
        world.y[i] = NAN;
    CHECK_INT(snwPlot_Write(world.context, &world.def, world.stem, &world.message), snw_errorArgument);
    CHECK_CONTAINS(world.message.text, "nothing to plot in 'A wave'");
    world.def.curveCount = 0;
    CHECK_INT(snwPlot_Write(world.context, &world.def, world.stem, &world.message), snw_errorArgument);
    CHECK(ReadSvg(&world) == NULL);
    snwDestroyContext(world.context);
}

TEST(plot, everyFailedAllocationIsAnErrorWithoutLeak)
{
    World world;
    snwCountingAllocator counter = {0};
    MakeWorld(&world, "memory", &counter);
    world.def.overwrite = true;
    long live = counter.live;
    snwResult result = snw_errorMemory;
    for (int n = 1; n < 400 && result < 0; ++n)
    {
        counter.failAt = counter.allocations + n;
        result = snwPlot_Write(world.context, &world.def, world.stem, &world.message);
        CHECK_INT(counter.live, live);
    }
    CHECK_INT(result, snw_ok);
    snwDestroyContext(world.context);
}

static bool Exists(const char* folder, const char* name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0 && info.st_size > 0;
}

// A cube; from 10 m it does not reach the ground in so few frames.
static void RunScene(const char* folder, double height)
{
    char scene[200], number[16];
    snprintf(scene, sizeof scene, "%s/plots-%g.json", snwTest_TempDir(), height);
    snprintf(number, sizeof number, "%g", height);
    FILE* file = fopen(scene, "w");
    REQUIRE(file != NULL);
    fprintf(file,
        "{\"sinew\": 1, \"rate\": 60, \"duration\": 0.1, \"bodies\": [{\"name\": \"b\", \"position\": [0, %s, 0],"
        "\"character\": {\"shape\": \"block\", \"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}],"
        "\"colliders\": [{\"name\": \"floor\", \"kind\": \"plane\"}]}",
        number);
    fclose(file);
    snwProcess process = RUN("sim", scene, "-o", folder, "--no-film", "--json");
    CHECK_INT(process.code, 0);
    json_t* report = json_loads(process.text, 0, NULL);
    CHECK((json_object_get(json_object_get(report, "files"), "pressure_png") != NULL) == (height < 1));
    json_decref(report);
    snwProcess_Free(&process);
}

TEST(plot, aRunLeavesItsPlots)
{
    char folder[128];
    snprintf(folder, sizeof folder, "%s/stands", snwTest_TempDir());
    RunScene(folder, 0.502);
    static const char* const names[] = {"energy.svg", "energy.png", "timings.svg", "timings.png", "residual.svg",
        "residual.png", "deviation.svg", "deviation.png", "centre.svg", "centre.png", "pressure.svg", "pressure.png"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        CHECK(Exists(folder, names[i]));
    snprintf(folder, sizeof folder, "%s/falls", snwTest_TempDir());
    RunScene(folder, 10);
    CHECK(Exists(folder, "centre.png") && !Exists(folder, "pressure.svg"));
}
