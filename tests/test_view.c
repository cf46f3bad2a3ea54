// Pictures, films and plots: written whole, readable by others, and the same for any number of threads.

#include "test.h"

#include "sinew/tools.h"
#include "fixture.h"
#include "view/surfaces.h"
#include "view/image.h"
#include "view/render.h"

#include <dirent.h>
#include <png.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct World
{
    snwContext* context;
    snwMessage message;
    char path[256];
} World;

static World MakeWorld(int threads, const char* name)
{
    World world = {0};
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = threads;
    snwCreateContext(&def, &world.context, &world.message);
    snprintf(world.path, sizeof world.path, "%s/%s", snwTest_TempDir(), name);
    return world;
}

static bool Exists(const char* path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

// The whole file with a zero at its end; the caller frees it.
static char* ReadWhole(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char* text = calloc(1, 1 << 22);
    *size = fread(text, 1, (1 << 22) - 1, file);
    fclose(file);
    return text;
}

// ---------------------------------------------------------------------------------------------------------------------
// Images

TEST(view, pngRoundTrip)
{
    World world = MakeWorld(1, "round.png");
    snwImage image;
    REQUIRE(snwCreateImage(world.context, 37, 21, &image, &world.message) == snw_ok);
    uint64_t seed = 7;
    for (int i = 0; i < 37 * 21 * 3; ++i)
        image.pixels[i] = (uint8_t)(256 * snwTest_Random(&seed));
    REQUIRE(snwImage_WritePng(world.context, &image, world.path, 6, false, &world.message) == snw_ok);

    png_image read = {.version = PNG_IMAGE_VERSION};
    REQUIRE(png_image_begin_read_from_file(&read, world.path) != 0);
    CHECK_INT(read.width, 37);
    CHECK_INT(read.height, 21);
    read.format = PNG_FORMAT_RGB;
    uint8_t* pixels = malloc(PNG_IMAGE_SIZE(read));
    REQUIRE(png_image_finish_read(&read, NULL, pixels, 0, NULL) != 0);
    CHECK(memcmp(pixels, image.pixels, 37 * 21 * 3) == 0);
    free(pixels);
    snwDestroyImage(world.context, &image);
    snwDestroyContext(world.context);
}

TEST(view, pngErrors)
{
    World world = MakeWorld(1, "kept.png");
    snwImage image;
    REQUIRE(snwCreateImage(world.context, 16, 16, &image, &world.message) == snw_ok);
    CHECK(snwImage_WritePng(world.context, &image, world.path, 1, false, &world.message) == snw_ok);
    CHECK(snwImage_WritePng(world.context, &image, world.path, 1, false, &world.message) == snw_errorIo);
    CHECK_CONTAINS(world.message.text, "not overwritten");
    CHECK_CONTAINS(world.message.file, "kept.png");
    CHECK(snwImage_WritePng(world.context, &image, world.path, 1, true, &world.message) == snw_ok);

    char missing[300];
    snprintf(missing, sizeof missing, "%s/no/such/folder.png", snwTest_TempDir());
    CHECK(snwImage_WritePng(world.context, &image, missing, 1, false, &world.message) == snw_errorIo);
    CHECK_CONTAINS(world.message.remedy, "create the folder");
    CHECK(snwImage_WritePng(world.context, &image, snwTest_TempDir(), 1, true, &world.message) == snw_errorIo);
    CHECK_CONTAINS(world.message.remedy, "folder");
    CHECK(snwImage_WritePng(world.context, &image, "", 1, true, &world.message) == snw_errorArgument);
    snwDestroyImage(world.context, &image);
    snwDestroyContext(world.context);
}

// The mean over an area keeps what a byte cannot hold, and pure black and white stay pure.
TEST(view, ditherKeepsTheMean)
{
    World world = MakeWorld(1, "unused");
    snwImage image;
    REQUIRE(snwCreateImage(world.context, 64, 64, &image, &world.message) == snw_ok);
    double means[3] = {0, 0, 0};
    for (int i = 0; i < 64 * 64; ++i)
        snwImage_SetPixel(&image, i % 64, i / 64, (snwFloat3){0, 0.2f, 1e9f});
    for (int i = 0; i < 3 * 64 * 64; ++i)
        means[i % 3] += image.pixels[i] / (64.0 * 64.0);
    CHECK_NEAR(means[0], 0, 0);
    CHECK_NEAR(means[1], 255 * (1.055 * pow(0.2, 1 / 2.4) - 0.055), 0.05);
    CHECK_NEAR(means[2], 255, 0);
    snwDestroyImage(world.context, &image);
    snwDestroyContext(world.context);
}

static int CountFiles(const char* directory)
{
    DIR* folder = opendir(directory);
    int count = 0;
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

// A limit on the size of files stands for a full disk.
TEST(view, diskFullLeavesNothing)
{
    World world = MakeWorld(1, "full.svg");
    snwImage image;
    REQUIRE(snwCreateImage(world.context, 64, 64, &image, &world.message) == snw_ok);
    uint64_t seed = 1;
    for (int i = 0; i < 64 * 64 * 3; ++i)
        image.pixels[i] = (uint8_t)(256 * snwTest_Random(&seed));
    int before = CountFiles(snwTest_TempDir());
    struct rlimit old, tight;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
    tight = old;
    tight.rlim_cur = 500;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tight);
    snwPlotDef def = snwDefaultPlotDef();
    snwResult plot = snwPlot_WriteSvg(world.context, &def, world.path, &world.message);
    snwResult picture = snwImage_WritePng(world.context, &image, world.path, 1, false, &world.message);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(plot == snw_errorIo && picture == snw_errorIo);
    CHECK_CONTAINS(world.message.text, "cannot write");
    CHECK_INT(CountFiles(snwTest_TempDir()), before);
    snwDestroyImage(world.context, &image);
    snwDestroyContext(world.context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pictures

enum
{
    rings = 24,
    around = 36
};

// A ball of radius 0.5 that touches the ground.
static snwResult AddBall(snwPicture* picture, snwMessage* message)
{
    static float positions[(rings + 1) * around * 3];
    static int triangles[rings * around * 6];
    for (int r = 0; r <= rings; ++r)
        for (int a = 0; a < around; ++a)
        {
            float polar = SNW_PIF * (float)r / rings, turn = 2 * SNW_PIF * (float)a / around;
            snwFloat3 n = {sinf(polar) * sinf(turn), cosf(polar), sinf(polar) * cosf(turn)};
            snwFloat3_Store(snwFloat3_MulAdd((snwFloat3){0, 0.5f, 0}, 0.5f, n), positions + 3 * (r * around + a));
        }
    for (int i = 0; i < rings * around; ++i)
    {
        int right = i % around == around - 1 ? i + 1 - around : i + 1;
        int corners[6] = {i, i + around, right, right, i + around, right + around};
        memcpy(triangles + 6 * i, corners, sizeof corners);
    }
    snwSkin skin = {.positions = positions,
        .vertexCount = (rings + 1) * around,
        .stride = 12,
        .triangles = triangles,
        .triangleCount = rings * around * 2};
    int mesh;
    return snwPicture_AddSkin(picture, &skin, (snwFloat3){0.75f, 0.10f, 0.05f}, &mesh, message);
}

// The ball on a ground beside a box, a capsule and a sphere, as an image that the caller destroys.
static snwResult DrawBall(World* world, snwImage* image)
{
    snwPicture picture = {.context = world->context, .centre = {0, 0.5f, 0}, .radius = 0.87f};
    snwRenderer* renderer = NULL;
    int mesh;
    snwResult result = AddBall(&picture, &world->message);
    const snwVec3 size = {0.1, 0.1, 0.1};
    for (int kind = snw_colliderPlane; result >= 0 && kind <= snw_colliderCapsule; ++kind)
    {
        snwFloat3 grey = {0.7f, 0.7f, 0.7f};
        snwTransform transform = snwIdentityTransform();
        transform.position = (snwVec3){0.55 * (kind - 2), kind > 0 ? 0.1 : 0, -0.6};
        result = snwPicture_AddSolid(&picture, (snwColliderKind)kind, size, grey, &mesh, &world->message);
        if (result >= 0)
            snwPicture_MoveSolid(&picture, mesh, &transform);
    }
    if (result >= 0)
        result = snwCreateRenderer(world->context, &renderer, &world->message);
    if (result >= 0)
        result = snwCreateImage(world->context, 160, 120, image, &world->message);
    snwFraming framing = snwFraming_Begin(
        &(snwCameraDef){.fieldOfView = 32}, 160, 120, (snwFloat3){-0.5f, 0, -0.5f}, (snwFloat3){0.5f, 1, 0.5f});
    for (int i = 0; i < picture.meshes[0].vertexCount; ++i)
        snwFraming_Add(&framing, snwFloat3_Load(picture.meshes[0].positions + 3 * i));
    snwCamera camera = snwFraming_End(&framing);
    if (result >= 0)
        result = snwRenderer_Draw(renderer, &picture, &camera, 4, image, &world->message);
    snwDestroyRenderer(renderer);
    snwPicture_Free(&picture);
    return result;
}

// Every kind gives a mesh within its bounds whose flat triangles face outward.
TEST(view, collidersOfAllKinds)
{
    static const double heights[6] = {0, 0.1, 0, 0.2, 0.3, 0};
    static const snwVec3 vertices[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPicture picture = {.context = context, .radius = 1};
    for (int kind = snw_colliderSphere; kind < snw_colliderKindCount; ++kind)
    {
        snwColliderDef def = snwDefaultColliderDef((snwColliderKind)kind);
        snwVec3 lower, upper;
        snwMessage message = {0};
        int mesh = -1;
        def.columns = 3, def.rows = 2, def.heights = heights;
        def.vertices = vertices, def.vertexCount = 4, def.triangles = triangles, def.triangleCount = 4;
        REQUIRE(snwPicture_AddCollider(&picture, &def, (snwFloat3){1, 1, 1}, &mesh, &message) == snw_ok);
        snwCollider_Bounds(&def, &lower, &upper);
        const snwPictureMesh* m = &picture.meshes[mesh];
        float slack = kind == snw_colliderRoom ? 0.03f : 0.11f; // rods of a room, skirts of a heightfield
        CHECK(m->triangleCount >= 4);
        for (int i = 0; i < m->vertexCount; ++i)
        {
            const float* p = m->positions + 3 * i;
            CHECK(p[0] > (float)lower.x - slack && p[1] > (float)lower.y - slack && p[2] > (float)lower.z - slack);
            CHECK(p[0] < (float)upper.x + slack && p[1] < (float)upper.y + slack && p[2] < (float)upper.z + slack);
        }
        double six = 0; // volume under the triangles: positive if they face outward
        for (int i = 0; i < m->triangleCount; ++i)
        {
            snwFloat3 a = snwFloat3_Load(m->positions + 3 * m->triangles[3 * i]);
            snwFloat3 b = snwFloat3_Load(m->positions + 3 * m->triangles[3 * i + 1]);
            snwFloat3 c = snwFloat3_Load(m->positions + 3 * m->triangles[3 * i + 2]);
            six += (double)snwFloat3_Dot(snwFloat3_Cross(a, b), c);
        }
        CHECK(six > 0);
    }
    snwPicture_Free(&picture);
    snwDestroyContext(context);
}

TEST(view, pictureOfABall)
{
    World world = MakeWorld(2, "unused");
    snwImage image = {0};
    REQUIRE(DrawBall(&world, &image) == snw_ok);
    int red = 0, white = 0, black = 0, pixels = 160 * 120;
    for (int i = 0; i < pixels; ++i)
    {
        const uint8_t* p = image.pixels + 3 * i;
        red += p[0] > 1.5 * p[1] && p[0] > 20;
        white += p[0] > 252 && p[1] > 252 && p[2] > 252;
        black += p[0] < 4 && p[1] < 4 && p[2] < 4;
    }
    CHECK(red > 0.15 * pixels && red < 0.70 * pixels);
    CHECK(white < 0.01 * pixels);
    CHECK(black < 0.01 * pixels);
    snwDestroyImage(world.context, &image);
    snwDestroyContext(world.context);
}

TEST(view, samePictureForAnyThreads) // Labels: threads
{
    World one = MakeWorld(1, "unused"), three = MakeWorld(3, "unused");
    snwImage a = {0}, b = {0};
    REQUIRE(DrawBall(&one, &a) == snw_ok && DrawBall(&three, &b) == snw_ok);
    CHECK(memcmp(a.pixels, b.pixels, 160 * 120 * 3) == 0);
    snwDestroyImage(one.context, &a);
    snwDestroyImage(three.context, &b);
    snwDestroyContext(one.context);
    snwDestroyContext(three.context);
}

TEST(view, framingHoldsEveryPoint)
{
    snwFraming framing = snwFraming_Begin(
        &(snwCameraDef){.fieldOfView = 40}, 320, 180, (snwFloat3){-2, 0, -1}, (snwFloat3){2, 1, 1});
    snwFloat3 points[200];
    uint64_t seed = 3;
    for (int i = 0; i < 200; ++i)
    {
        points[i] = (snwFloat3){(float)(4 * snwTest_Random(&seed) - 2), (float)snwTest_Random(&seed),
            (float)(2 * snwTest_Random(&seed) - 1)};
        snwFraming_Add(&framing, points[i]);
    }
    snwFraming_Add(&framing, (snwFloat3){NAN, 0, 0});
    snwCamera camera = snwFraming_End(&framing);
    float widest = 0;
    for (int i = 0; i < 200; ++i)
    {
        snwFloat3 d = snwFloat3_Sub(points[i], camera.position);
        float depth = snwFloat3_Dot(d, camera.forward);
        float x = fabsf(snwFloat3_Dot(d, camera.right)) / depth / camera.tanX;
        float y = fabsf(snwFloat3_Dot(d, camera.up)) / depth / camera.tanY;
        CHECK(depth > 0);
        widest = snwFloat_Max(widest, snwFloat_Max(x, y));
    }
    CHECK(widest > 0.6f && widest < 0.8f);
}

TEST(view, sharpEdgesStaySharp)
{
    World world = MakeWorld(1, "unused");
    // Two flat triangles and one at a right angle, sharing the edge 1-2.
    const float positions[] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0};
    const int triangles[] = {0, 2, 1, 0, 3, 2, 1, 2, 4};
    snwSkin skin = {.positions = positions, .vertexCount = 5, .stride = 12, .triangles = triangles, .triangleCount = 3};
    snwPicture picture = {.context = world.context, .radius = 1};
    int index;
    REQUIRE(snwPicture_AddSkin(&picture, &skin, (snwFloat3){1, 1, 1}, &index, &world.message) == snw_ok);
    const snwPictureMesh* mesh = &picture.meshes[index];
    CHECK_INT(mesh->normalCount, 7);
    CHECK_INT(mesh->corners[0], mesh->corners[3]); // vertex 0 in both flat triangles
    CHECK(mesh->corners[2] != mesh->corners[6]);   // vertex 1 across the sharp edge
    CHECK_NEAR(mesh->normals[3 * mesh->corners[2] + 1], 1, 1e-6);
    snwPicture_Free(&picture);
    snwDestroyContext(world.context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Plots

// Tags are closed in their order, attributes are quoted, and entities are the five of XML: good enough to catch what
// a plot could do wrong. Returns where it goes wrong, or NULL.
static const char* CheckEntity(const char* c)
{
    static const char* const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    for (int i = 0; i < 5; ++i)
        if (strncmp(c, known[i], strlen(known[i])) == 0)
            return NULL;
    return c;
}

static const char* TagEnd(const char* c)
{
    char quote = 0;
    for (; *c != 0 && (quote != 0 || *c != '>'); ++c)
    {
        if (quote == 0 && (*c == '"' || *c == '\''))
            quote = *c;
        else if (*c == quote)
            quote = 0;
        else if (*c == '<')
            return NULL;
    }
    return *c == '>' ? c : NULL;
}

static const char* FindXmlFault(const char* text)
{
    char stack[32][32];
    int depth = 0;
    for (const char* c = text; *c != 0; ++c)
    {
        if (*c == '&' && CheckEntity(c) != NULL)
            return c;
        if (*c != '<')
            continue;
        bool closes = c[1] == '/';
        const char* name = c + (closes ? 2 : 1);
        int length = (int)strcspn(name, " \n/>");
        const char* end = TagEnd(name);
        if (end == NULL || length == 0 || length > 31 || depth >= 32)
            return c;
        if (closes && (depth == 0 || strncmp(stack[--depth], name, (size_t)length) != 0))
            return c;
        if (!closes && end[-1] != '/')
            snprintf(stack[depth++], sizeof stack[0], "%.*s", length, name);
        c = end;
    }
    return depth == 0 ? NULL : text;
}

static char* WritePlot(World* world, const snwPlotDef* def)
{
    size_t size = 0;
    snwResult result = snwPlot_WriteSvg(world->context, def, world->path, &world->message);
    if (result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", world->message.text);
    return result < 0 ? NULL : ReadWhole(world->path, &size);
}

static int CountOf(const char* text, const char* part)
{
    int count = 0;
    for (const char* c = strstr(text, part); c != NULL; c = strstr(c + 1, part))
        count++;
    return count;
}

TEST(view, plotIsWellFormed)
{
    World world = MakeWorld(1, "plot.svg");
    double x[50], rising[50], gaps[50], constant[50];
    for (int i = 0; i < 50; ++i)
    {
        x[i] = 0.1 * i;
        rising[i] = 3.7e6 * i;
        gaps[i] = i == 20 ? NAN : i == 30 ? INFINITY : 1e6 * sin(0.3 * i);
        constant[i] = 1e7;
    }
    snwPlotCurve curves[] = {{"a < b & \"c\"", x, rising, 50}, {"gaps", x, gaps, 50}, {"constant", x, constant, 50},
        {"empty", NULL, NULL, 0}, {"broken \xff\x01 utf-8 \xc3\xa9", x, rising, 1}};
    snwPlotDef def = snwDefaultPlotDef();
    def.title = "Energy <of> R&D";
    def.xLabel = "time (s)";
    def.yLabel = "energy (J)";
    def.curves = curves;
    def.curveCount = 5;
    char* text = WritePlot(&world, &def);
    REQUIRE(text != NULL);
    CHECK(FindXmlFault(text) == NULL);
    CHECK_CONTAINS(text, "Energy &lt;of&gt; R&amp;D");
    CHECK_CONTAINS(text, "a &lt; b &amp; &quot;c&quot;");
    CHECK_CONTAINS(text, "broken ?  utf-8 \xc3\xa9");
    CHECK(strstr(text, "nan") == NULL && strstr(text, "inf") == NULL);
    const char* path = strstr(strstr(text, "<path") + 1, "<path");
    char* end = strchr(path, '>');
    *end = 0;
    CHECK_INT(CountOf(path, "M"), 3); // two gaps cut the second curve into three pieces
    free(text);
    CHECK(snwPlot_WriteSvg(world.context, &def, world.path, &world.message) == snw_errorIo);
    snwDestroyContext(world.context);
}

TEST(view, plotOfNothing)
{
    World world = MakeWorld(1, "nothing.svg");
    double nothing[3] = {NAN, NAN, NAN}, zero[3] = {0, 0, 0}, huge[3] = {-1e300, 0, 1e300};
    snwPlotCurve curves[] = {{"nan", nothing, nothing, 3}, {"zero", zero, zero, 3}, {"huge", huge, huge, 3}};
    snwPlotDef def = snwDefaultPlotDef();
    def.overwrite = true;
    def.curves = curves;
    for (int count = 0; count <= 3; ++count)
    {
        def.curveCount = count;
        char* text = WritePlot(&world, &def);
        REQUIRE(text != NULL);
        CHECK(FindXmlFault(text) == NULL);
        CHECK(strstr(text, "nan,") == NULL && strstr(text, "-0<") == NULL);
        free(text);
    }
    def.curveCount = 13;
    CHECK(snwPlot_WriteSvg(world.context, &def, world.path, &world.message) == snw_errorArgument);
    snwDestroyContext(world.context);
}

TEST(view, plotKeepsSpikesWhenThinned)
{
    World world = MakeWorld(1, "long.svg");
    enum
    {
        count = 100000
    };
    double* x = calloc(count, sizeof *x);
    double* y = calloc(count, sizeof *y);
    for (int i = 0; i < count; ++i)
        x[i] = i;
    y[77777] = 10; // one sample in a hundred thousand
    snwPlotCurve curve = {"spike", x, y, count};
    snwPlotDef def = snwDefaultPlotDef();
    def.curves = &curve;
    def.curveCount = 1;
    char* text = WritePlot(&world, &def);
    REQUIRE(text != NULL);
    const char* path = strstr(text, "<path");
    CHECK(CountOf(path, "L") < 2100);
    double highest = 1e9;
    for (const char* c = strchr(path, 'M'); c != NULL && *c != '"'; c += strcspn(c + 1, "L\"") + 1)
        highest = fmin(highest, strtod(strchr(c, ' '), NULL));
    CHECK(highest < 100); // of 440 pixels
    free(text);
    free(x);
    free(y);
    snwDestroyContext(world.context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Films

// A ball falling on a plane and a spring beside it.
static snwScene* MakeScene(World* world)
{
    snwCharacter* characters[2] = {0};
    snwShapeDef ball = snwDefaultShapeDef(snw_shapeBall), spring = snwDefaultShapeDef(snw_shapeSpring);
    ball.cells[0] = ball.cells[1] = ball.cells[2] = 4;
    snwBodyDef bodies[2] = {snwDefaultBodyDef(), snwDefaultBodyDef()};
    snwColliderDef collider = snwDefaultColliderDef(snw_colliderPlane);
    collider.name = "ground";
    snwScene* scene = NULL;
    if (snwCreateShape(world->context, &ball, &characters[0], &world->message) >= 0 &&
        snwCreateShape(world->context, &spring, &characters[1], &world->message) >= 0)
    {
        bodies[0].name = "ball";
        bodies[0].character = characters[0];
        bodies[0].transform.position.y = 1;
        bodies[1].name = "spring";
        bodies[1].character = characters[1];
        bodies[1].transform.position = (snwVec3){1, 1, 0};
        snwSceneDef def = snwDefaultSceneDef();
        def.bodies = bodies;
        def.bodyCount = 2;
        def.colliders = &collider;
        def.colliderCount = 1;
        def.rate = 60;
        snwCreateScene(world->context, &def, &scene, &world->message);
    }
    for (int i = 0; i < 2; ++i)
        if (characters[i] != NULL)
            snwCharacter_Release(characters[i]);
    return scene;
}

static snwResult MakeFilm(World* world, const snwFilmDef* def, int steps)
{
    snwScene* scene = MakeScene(world);
    if (scene == NULL)
        return world->message.result;
    snwSimDef simDef = snwDefaultSimDef();
    simDef.scene = scene;
    snwSim* sim = NULL;
    snwFilm* film = NULL;
    snwResult result = snwCreateSim(world->context, &simDef, &sim, &world->message);
    if (result >= 0)
        result = snwCreateFilm(world->context, def, scene, &film, &world->message);
    for (int i = 0; result >= 0 && i <= steps; ++i)
    {
        result = snwFilm_AddFrame(film, sim, &world->message);
        if (result >= 0)
            result = snwSim_Step(sim, 1.0 / 60, &world->message);
    }
    if (result >= 0)
        result = snwFilm_Finish(film, NULL, NULL, &world->message);
    snwDestroyFilm(film);
    if (sim != NULL)
        snwDestroySim(sim);
    snwScene_Release(scene);
    return result;
}

static bool HasProgram(const char* name)
{
    char paths[4096];
    snprintf(paths, sizeof paths, "%s", getenv("PATH") != NULL ? getenv("PATH") : "");
    for (char* part = strtok(paths, ":"); part != NULL; part = strtok(NULL, ":"))
    {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", part, name);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

// Odd sizes, a percent sign and a colon in the folder: all of which ffmpeg could stumble over.
static snwFilmDef SmallFilm(World* world, char film[300], const char* name)
{
    snwFilmDef def = snwDefaultFilmDef();
    snprintf(film, 300, "%s/%s", world->path, name);
    def.directory = world->path;
    def.filmPath = film;
    def.width = 65;
    def.height = 49;
    def.samples = 1;
    return def;
}

TEST(view, filmAsMp4)
{
    if (!HasProgram("ffmpeg"))
        SKIP("ffmpeg is not installed");
    World world = MakeWorld(2, "50%d:films/a");
    char film[300], picture[300], frames[300];
    snwFilmDef def = SmallFilm(&world, film, "ball.mp4");
    snprintf(picture, sizeof picture, "%s/ball.png", world.path);
    snprintf(frames, sizeof frames, "%s/frames", world.path);
    def.picturePath = picture;
    snwResult result = MakeFilm(&world, &def, 9);
    if (result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", world.message.file, world.message.text);
    size_t size = 0;
    char* bytes = ReadWhole(film, &size);
    REQUIRE(bytes != NULL && size > 100);
    CHECK(memcmp(bytes + 4, "ftyp", 4) == 0);
    free(bytes);
    CHECK(Exists(picture));
    CHECK(!Exists(frames));
    CHECK(MakeFilm(&world, &def, 1) == snw_errorIo); // not overwritten, and said before anything is drawn
    CHECK_CONTAINS(world.message.text, "not overwritten");
    snwDestroyContext(world.context);
}

TEST(view, filmAsGifKeepsFrames)
{
    if (!HasProgram("ffmpeg"))
        SKIP("ffmpeg is not installed");
    World world = MakeWorld(2, "gif");
    char film[300], frame[300];
    snwFilmDef def = SmallFilm(&world, film, "ball.gif");
    def.keepFrames = true;
    CHECK(MakeFilm(&world, &def, 8) == snw_ok);
    size_t size = 0;
    char* bytes = ReadWhole(film, &size);
    REQUIRE(bytes != NULL && size > 100);
    CHECK(memcmp(bytes, "GIF89a", 6) == 0);
    free(bytes);
    snprintf(frame, sizeof frame, "%s/frames/frame-00004.png", world.path); // 60 -> 30 per second: 0, 2, 4, 6, 8
    CHECK(Exists(frame));
    snprintf(frame, sizeof frame, "%s/frames/frame-00005.png", world.path);
    CHECK(!Exists(frame));
    snwDestroyContext(world.context);
}

TEST(view, filmWithoutFfmpeg)
{
    World world = MakeWorld(1, "bare");
    char film[300];
    snwFilmDef def = SmallFilm(&world, film, "ball.mp4");
    char* path = getenv("PATH") != NULL ? strdup(getenv("PATH")) : NULL;
    setenv("PATH", world.path, 1);
    CHECK(MakeFilm(&world, &def, 1) == snw_errorUnsupported);
    if (path != NULL)
        setenv("PATH", path, 1);
    free(path);
    CHECK_CONTAINS(world.message.text, "ffmpeg");
    CHECK_CONTAINS(world.message.remedy, "apt install ffmpeg");
    CHECK(!Exists(film));
    CHECK(!Exists(world.path)); // said before anything is drawn or made
    snwDestroyContext(world.context);
}

TEST(view, interruptedFilmLeavesNoEmptyFolder)
{
    World world = MakeWorld(1, "interrupted");
    char unused[300], frames[300];
    snwFilmDef def = SmallFilm(&world, unused, "unused");
    def.filmPath = NULL;
    def.keepFrames = true;
    snprintf(frames, sizeof frames, "%s/frames", world.path);
    snwScene* scene = MakeScene(&world);
    REQUIRE(scene != NULL);
    snwFilm* film = NULL;
    REQUIRE(snwCreateFilm(world.context, &def, scene, &film, &world.message) == snw_ok);
    CHECK(Exists(frames));
    snwDestroyFilm(film);
    CHECK(!Exists(frames));
    snwScene_Release(scene);
    snwDestroyContext(world.context);
}

TEST(view, colorsOfBodies)
{
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBall);
    const float own[3] = {0.1f, 0.2f, 0.3f};
    snwFloat3 first = snwPicture_BodyColor(0, shape.color), second = snwPicture_BodyColor(1, shape.color);
    CHECK(first.x == shape.color[0] && first.y == shape.color[1] && first.z == shape.color[2]);
    CHECK(second.x != first.x);
    CHECK(snwPicture_BodyColor(2, shape.color).x != second.x);
    CHECK(snwPicture_BodyColor(1, own).z == own[2]);
}

TEST(view, filmErrors)
{
    World world = MakeWorld(1, "errors");
    char film[300];
    snwFilmDef def = SmallFilm(&world, film, "ball.avi");
    CHECK(MakeFilm(&world, &def, 1) == snw_errorArgument);
    CHECK_CONTAINS(world.message.remedy, ".mp4");
    def = SmallFilm(&world, film, "ball.mp4");
    def.width = 8;
    CHECK(MakeFilm(&world, &def, 1) == snw_errorArgument);
    def = SmallFilm(&world, film, "ball.mp4");
    def.filmPath = NULL; // also without ffmpeg
    def.keepFrames = true;
    def.directory = "/proc/sinew"; // nobody may write here, not even root
    CHECK(MakeFilm(&world, &def, 1) == snw_errorIo);
    CHECK_CONTAINS(world.message.text, "make the folder");
    def = SmallFilm(&world, film, "ball.mp4");
    def.camera.automatic = false;
    def.camera.target = def.camera.position;
    CHECK(MakeFilm(&world, &def, 1) == snw_errorArgument);
    snwDestroyContext(world.context);
}
