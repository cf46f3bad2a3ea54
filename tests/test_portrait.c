// Portraits, cut-aways, bones, captions and sheets: what should be seen is seen where it should be.

#include "test.h"

#include "fixture.h"
#include "view/caption.h"
#include "view/cutaway.h"
#include "view/gizmo.h"
#include "view/portrait.h"
#include "view/sheet.h"

#include <stdlib.h>

enum
{
    rings = 16,
    around = 24,
    ballVertices = (rings + 1) * around,
    ballTriangles = 2 * rings * around,
    side = 96 // pixels of a test picture
};

typedef struct Ball
{
    float positions[3 * ballVertices];
    float colors[3 * ballVertices];
    int triangles[3 * ballTriangles];
} Ball;

// Red for x < 0, blue for x > 0.
static void MakeBall(Ball* ball, snwFloat3 centre, float radius)
{
    for (int i = 0; i < ballVertices; ++i)
    {
        float polar = SNW_PIF * (float)(i / around) / rings, turn = 2 * SNW_PIF * (float)(i % around) / around;
        snwFloat3 n = {sinf(polar) * sinf(turn), cosf(polar), sinf(polar) * cosf(turn)};
        snwFloat3 color = n.x < 0 ? (snwFloat3){0.7f, 0.02f, 0.02f} : (snwFloat3){0.02f, 0.02f, 0.7f};
        snwFloat3_Store(snwFloat3_MulAdd(centre, radius, n), ball->positions + 3 * i);
        snwFloat3_Store(color, ball->colors + 3 * i);
    }
    for (int i = 0; i < rings * around; ++i)
    {
        int right = i % around == around - 1 ? i + 1 - around : i + 1;
        int corners[6] = {i, i + around, right, right, i + around, right + around};
        memcpy(ball->triangles + 6 * i, corners, sizeof corners);
    }
}

static snwMeshLook BallLook(const Ball* ball)
{
    return (snwMeshLook){.positions = ball->positions,
        .colors = ball->colors,
        .vertexCount = ballVertices,
        .triangles = ball->triangles,
        .triangleCount = ballTriangles,
        .opacity = 1};
}

static snwPortraitDef SmallPortrait(const snwMeshLook* meshes, int count)
{
    snwPortraitDef def = snwDefaultPortraitDef();
    def.meshes = meshes;
    def.meshCount = count;
    def.width = def.height = side;
    def.azimuth = def.elevation = 0;
    def.samples = 4;
    def.ground = false;
    return def;
}

// An image to be destroyed by the caller; a failure is a failed test.
static snwImage Draw(snwContext* context, const snwPortraitDef* def)
{
    snwImage image = {0};
    snwMessage message = {0};
    snwResult result = snwDrawPortrait(context, def, &image, &message);
    if (result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    return image;
}

static const uint8_t* PixelAt(const snwImage* image, int x, int y)
{
    return image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
}

static int Difference(const uint8_t* a, const uint8_t* b)
{
    int sum = 0;
    for (int i = 0; i < 3; ++i)
        sum += abs(a[i] - b[i]);
    return sum;
}

// ---------------------------------------------------------------------------------------------------------------------
// Portraits

TEST(portrait, vertexColorsAppearWhereTheyAre)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Ball ball;
    MakeBall(&ball, (snwFloat3){0, 0, 0}, 1);
    snwMeshLook look = BallLook(&ball);
    snwPortraitDef def = SmallPortrait(&look, 1);
    snwImage front = Draw(context, &def);
    def.azimuth = 180;
    snwImage back = Draw(context, &def);
    REQUIRE(front.pixels != NULL && back.pixels != NULL);
    const uint8_t *left = PixelAt(&front, side / 3, side / 2), *right = PixelAt(&front, 2 * side / 3, side / 2);
    CHECK(left[0] > 2 * left[2] && right[2] > 2 * right[0]);
    left = PixelAt(&back, side / 3, side / 2), right = PixelAt(&back, 2 * side / 3, side / 2);
    CHECK(left[2] > 2 * left[0] && right[0] > 2 * right[2]);
    snwDestroyImage(context, &front);
    snwDestroyImage(context, &back);
    snwDestroyContext(context);
}

// From +X, where the camera stands for azimuth 90, only the blue half is seen.
TEST(portrait, azimuthTurnsTowardsX)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Ball ball;
    MakeBall(&ball, (snwFloat3){0, 0, 0}, 1);
    snwMeshLook look = BallLook(&ball);
    snwPortraitDef def = SmallPortrait(&look, 1);
    def.azimuth = 90;
    snwImage image = Draw(context, &def);
    REQUIRE(image.pixels != NULL);
    for (int x = side / 3; x <= 2 * side / 3; ++x)
        CHECK(PixelAt(&image, x, side / 2)[2] > 2 * PixelAt(&image, x, side / 2)[0]);
    snwDestroyImage(context, &image);
    snwDestroyContext(context);
}

TEST(portrait, colorAloneAndGivenNormals)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Ball ball;
    MakeBall(&ball, (snwFloat3){0, 0, 0}, 1);
    snwMeshLook look = BallLook(&ball);
    look.colors = NULL;
    look.color = (snwFloat3){0.02f, 0.6f, 0.02f};
    snwPortraitDef def = SmallPortrait(&look, 1);
    snwImage own = Draw(context, &def);
    look.normals = ball.positions; // of a unit ball
    snwImage given = Draw(context, &def);
    REQUIRE(own.pixels != NULL && given.pixels != NULL);
    const uint8_t* p = PixelAt(&own, side / 2, side / 2);
    CHECK(p[1] > 2 * p[0] && p[1] > 2 * p[2]);
    int far = 0;
    for (int i = 0; i < side * side; ++i)
        far += Difference(own.pixels + 3 * i, given.pixels + 3 * i) > 24;
    CHECK(far < side * side / 100);
    snwDestroyImage(context, &own);
    snwDestroyImage(context, &given);
    snwDestroyContext(context);
}

static int CountDistinctColors(const snwImage* image)
{
    static uint8_t seen[1 << 18]; // six bits of each channel
    memset(seen, 0, sizeof seen);
    int count = 0;
    for (int i = 0; i < image->width * image->height; ++i)
    {
        const uint8_t* p = image->pixels + 3 * i;
        uint8_t* bin = &seen[p[0] >> 2 | (p[1] >> 2) << 6 | (p[2] >> 2) << 12];
        count += *bin == 0;
        *bin = 1;
    }
    return count;
}

// Flat shading gives few colours, and lines along the edges darken.
TEST(portrait, flatFacesAndEdges)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const float positions[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    const int triangles[] = {0, 1, 2, 0, 2, 3};
    const uint8_t noDiagonal[] = {3, 6};
    snwMeshLook look = {.kind = snw_pictureSolid, .positions = positions, .vertexCount = 4, .triangles = triangles};
    look.triangleCount = 2;
    look.color = (snwFloat3){0.6f, 0.6f, 0.6f};
    look.flat = true;
    snwPortraitDef def = SmallPortrait(&look, 1);
    snwImage plain = Draw(context, &def);
    look.edges = true;
    snwImage lines = Draw(context, &def);
    look.edgeMask = noDiagonal;
    snwImage quad = Draw(context, &def);
    REQUIRE(plain.pixels != NULL && lines.pixels != NULL && quad.pixels != NULL);
    int m = side / 2;
    CHECK(PixelAt(&lines, m, m - 1)[1] < PixelAt(&plain, m, m - 1)[1] - 20); // the diagonal
    CHECK(Difference(PixelAt(&quad, m, m - 1), PixelAt(&plain, m, m - 1)) < 6);
    CHECK(Difference(PixelAt(&lines, m + 15, m), PixelAt(&plain, m + 15, m)) < 6);
    int border = (int)(0.5f * side * (1 - def.fill)) + 1, darker = 0;
    for (int x = border - 2; x <= border + 1; ++x)
        darker |= PixelAt(&quad, x, m)[1] < PixelAt(&plain, x, m)[1] - 8;
    CHECK(darker);
    snwDestroyImage(context, &plain);
    snwDestroyImage(context, &lines);
    snwDestroyImage(context, &quad);
    snwDestroyContext(context);
}

static snwImage DrawBallInBall(snwContext* context, float opacity, bool inner)
{
    Ball balls[2];
    MakeBall(&balls[0], (snwFloat3){0, 0, 0}, 1);
    MakeBall(&balls[1], (snwFloat3){0, 0, 0}, 0.4f);
    snwMeshLook looks[2] = {BallLook(&balls[0]), BallLook(&balls[1])};
    looks[0].colors = looks[1].colors = NULL;
    looks[0].color = (snwFloat3){0.05f, 0.5f, 0.05f};
    looks[1].color = (snwFloat3){0.7f, 0.02f, 0.02f};
    looks[0].opacity = opacity;
    looks[1].kind = snw_pictureSolid;
    snwPortraitDef def = SmallPortrait(looks, inner ? 2 : 1);
    def.ground = true;
    return Draw(context, &def);
}

// Red of the bone inside comes through green flesh; beside the bone the flesh is green but clearer in the middle than
// at its outline.
TEST(portrait, translucentFleshShowsTheBoneInside)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImage opaque = DrawBallInBall(context, 1, true);
    snwImage clear = DrawBallInBall(context, 0.25f, true);
    snwImage empty = DrawBallInBall(context, 0.25f, false);
    REQUIRE(opaque.pixels != NULL && clear.pixels != NULL && empty.pixels != NULL);
    int m = side / 2;
    const uint8_t *solid = PixelAt(&opaque, m, m), *bone = PixelAt(&clear, m, m), *none = PixelAt(&empty, m, m);
    CHECK(solid[1] > 1.5 * solid[0]);
    CHECK(bone[0] > 1.3 * bone[1]);
    CHECK(none[1] > none[0]);
    int inner = m + (int)(0.25f * side), outer = m + (int)(0.375f * side);
    const uint8_t *through = PixelAt(&empty, inner, m), *rim = PixelAt(&empty, outer, m);
    CHECK(rim[1] - rim[0] > through[1] - through[0]);
    CHECK(Difference(PixelAt(&clear, inner + 3, m), PixelAt(&empty, inner + 3, m)) < 24);
    snwDestroyImage(context, &opaque);
    snwDestroyImage(context, &clear);
    snwDestroyImage(context, &empty);
    snwDestroyContext(context);
}

static double GroundLight(const snwImage* image)
{
    double sum = 0;
    for (int y = side - side / 8; y < side; ++y)
        for (int x = 0; x < side; ++x)
            sum += PixelAt(image, x, y)[1];
    return sum / (side * (side / 8));
}

TEST(portrait, translucentFleshThrowsAFaintShadow)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImage opaque = DrawBallInBall(context, 1, false), clear = DrawBallInBall(context, 0.2f, false);
    snwImage clearest = DrawBallInBall(context, 0.01f, false);
    REQUIRE(opaque.pixels != NULL && clear.pixels != NULL && clearest.pixels != NULL);
    CHECK(GroundLight(&opaque) + 1 < GroundLight(&clear));
    CHECK(GroundLight(&clear) < GroundLight(&clearest));
    snwDestroyImage(context, &opaque);
    snwDestroyImage(context, &clear);
    snwDestroyImage(context, &clearest);
    snwDestroyContext(context);
}

TEST(portrait, silhouetteHasTwoTones)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Ball ball;
    MakeBall(&ball, (snwFloat3){0, 0, 0}, 1);
    snwMeshLook look = BallLook(&ball);
    look.opacity = 0.3f; // does not matter here
    snwPortraitDef def = SmallPortrait(&look, 1);
    def.style = snw_styleSilhouette;
    def.ground = true;
    snwImage image = Draw(context, &def);
    REQUIRE(image.pixels != NULL);
    uint8_t dark[3];
    memcpy(dark, PixelAt(&image, side / 2, side / 2), 3);
    int darkCount = 0, whiteCount = 0;
    for (int i = 0; i < side * side; ++i)
    {
        const uint8_t* p = image.pixels + 3 * i;
        darkCount += memcmp(p, dark, 3) == 0;
        whiteCount += p[0] == 255 && p[1] == 255 && p[2] == 255;
    }
    double disc = 3.14159 * 0.25 * def.fill * def.fill * side * side;
    CHECK(dark[0] < 48 && dark[1] < 48 && dark[2] < 48);
    CHECK_NEAR(darkCount, disc, 0.08 * disc);
    CHECK(darkCount + whiteCount > 0.94 * side * side); // the rest is the outline
    snwDestroyImage(context, &image);
    snwDestroyContext(context);
}

// The larger of the two extents of what is not white, as a share of the picture.
static double FilledShare(const snwImage* image)
{
    int left = image->width, right = -1, top = image->height, bottom = -1;
    for (int y = 0; y < image->height; ++y)
        for (int x = 0; x < image->width; ++x)
            if (PixelAt(image, x, y)[1] < 200)
            {
                left = x < left ? x : left;
                right = x > right ? x : right;
                top = y < top ? y : top;
                bottom = y > bottom ? y : bottom;
            }
    double width = (right - left + 1.0) / image->width, height = (bottom - top + 1.0) / image->height;
    return width > height ? width : height;
}

TEST(portrait, framingFillsTheTile)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Ball ball;
    MakeBall(&ball, (snwFloat3){7, 3, -5}, 1);
    for (int i = 0; i < ballVertices; ++i) // a long one, far from the origin
        ball.positions[3 * i + 2] = -5 + 3 * (ball.positions[3 * i + 2] + 5);
    snwMeshLook look = BallLook(&ball);
    snwPortraitDef def = SmallPortrait(&look, 1);
    def.style = snw_styleSilhouette;
    for (int i = 0; i < 6; ++i)
    {
        def.azimuth = (float)(60 * i);
        def.elevation = (float)(-30 + 24 * i);
        def.width = i % 2 == 0 ? side : 2 * side;
        snwImage image = Draw(context, &def);
        REQUIRE(image.pixels != NULL);
        double share = FilledShare(&image);
        CHECK(share > 0.60 && share < 0.85);
        snwDestroyImage(context, &image);
    }
    snwDestroyContext(context);
}

TEST(portrait, framePointsKeepPicturesAlike)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Ball large, small;
    MakeBall(&large, (snwFloat3){0, 0, 0}, 1);
    MakeBall(&small, (snwFloat3){0, 0, 0}, 0.5f);
    snwMeshLook look = BallLook(&small);
    snwPortraitDef def = SmallPortrait(&look, 1);
    def.style = snw_styleSilhouette;
    def.framePoints = large.positions;
    def.framePointCount = ballVertices;
    snwImage image = Draw(context, &def);
    REQUIRE(image.pixels != NULL);
    CHECK_NEAR(FilledShare(&image), 0.5 * def.fill, 0.05);
    snwDestroyImage(context, &image);
    snwDestroyContext(context);
}

TEST(portrait, plainWhiteIsWhiteAndKeepsTheShadow)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Ball ball;
    MakeBall(&ball, (snwFloat3){0, 0, 0}, 1);
    snwMeshLook look = BallLook(&ball);
    snwPortraitDef def = SmallPortrait(&look, 1);
    def.style = snw_styleWhite;
    snwImage bare = Draw(context, &def);
    def.ground = true;
    snwImage standing = Draw(context, &def);
    REQUIRE(bare.pixels != NULL && standing.pixels != NULL);
    int white = 0;
    for (int x = 0; x < side; ++x)
        white += PixelAt(&bare, x, 1)[0] == 255 && PixelAt(&bare, x, side - 2)[2] == 255;
    CHECK_INT(white, side);
    CHECK_INT(PixelAt(&standing, 1, 1)[1], 255);
    int darkest = 255;
    for (int y = 3 * side / 4; y < side; ++y)
        for (int x = 0; x < side; ++x)
            if (PixelAt(&bare, x, y)[1] == 255 && PixelAt(&standing, x, y)[1] < darkest)
                darkest = PixelAt(&standing, x, y)[1];
    CHECK(darkest < 225);
    snwDestroyImage(context, &bare);
    snwDestroyImage(context, &standing);
    snwDestroyContext(context);
}

// Everything at once: flesh, a veil, edges, a texture, ground, wall.
static snwResult DrawMix(snwContext* context, snwImage* image)
{
    Ball balls[3];
    snwMeshLook looks[4];
    for (int i = 0; i < 3; ++i)
    {
        MakeBall(&balls[i], (snwFloat3){1.2f * (float)i, 0, 0}, 1);
        looks[i] = BallLook(&balls[i]);
    }
    looks[1].opacity = 0.4f;
    looks[2].edges = looks[2].flat = true;
    static const uint8_t rgba[] = {255, 0, 0, 255, 0, 255, 0, 128, 0, 0, 255, 255, 255, 255, 255, 0};
    const snwTexture texture = {2, 2, rgba};
    const float positions[] = {-1, -1, 1.2f, 1, -1, 1.2f, 1, 1, 1.2f, -1, 1, 1.2f}, uv[] = {0, 1, 1, 1, 1, 0, 0, 0};
    const int triangles[] = {0, 1, 2, 0, 2, 3};
    looks[3] = (snwMeshLook){.positions = positions, .vertexCount = 4, .triangles = triangles, .triangleCount = 2};
    looks[3].texcoords = uv;
    looks[3].texture = &texture;
    snwPortraitDef def = SmallPortrait(looks, 4);
    def.azimuth = 20;
    def.elevation = 10;
    def.ground = def.wall = true;
    snwMessage message;
    return snwDrawPortrait(context, &def, image, &message);
}

TEST(portrait, sameBytesForAnyThreads) // Labels: threads
{
    snwContext *one = snwFixture_Context(1, snw_simdAuto, NULL), *three = snwFixture_Context(3, snw_simdAuto, NULL);
    snwImage a = {0}, b = {0};
    REQUIRE(DrawMix(one, &a) == snw_ok && DrawMix(three, &b) == snw_ok);
    CHECK(memcmp(a.pixels, b.pixels, (size_t)side * side * 3) == 0);
    CHECK(CountDistinctColors(&a) > 100);
    snwDestroyImage(one, &a);
    snwDestroyImage(three, &b);
    snwDestroyContext(one);
    snwDestroyContext(three);
}

TEST(portrait, nothingAndNaNDoNoHarm)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwMeshLook look = {0};
    snwPortraitDef def = SmallPortrait(&look, 0);
    def.ground = true;
    for (int i = 0; i < 7; ++i)
    {
        Ball ball;
        MakeBall(&ball, (snwFloat3){0, 0, 0}, 1);
        for (int k = 0; k < 3 * ballVertices; k += i == 2 ? 1 : 7)
        {
            ball.positions[k] = i < 2 ? ball.positions[k] : i == 4 ? INFINITY : i == 6 ? 1e30f : NAN;
            ball.colors[k] = NAN;
        }
        look = i == 0 ? (snwMeshLook){0} : BallLook(&ball);
        look.opacity = i == 3 ? 0.5f : 1;
        look.edges = look.flat = i == 5;
        def.meshCount = i == 0 ? 0 : 1;
        def.style = i % 2 == 0 ? snw_styleStudio : snw_styleWhite;
        snwImage image = Draw(context, &def);
        CHECK(image.pixels != NULL);
        snwDestroyImage(context, &image);
    }
    snwDestroyContext(context);
}

TEST(portrait, refusesNonsense)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Ball ball;
    MakeBall(&ball, (snwFloat3){0, 0, 0}, 1);
    snwMeshLook looks[2] = {BallLook(&ball), BallLook(&ball)};
    snwImage image;
    snwMessage message;
    snwPortraitDef def = SmallPortrait(looks, 2);
    def.samples = 0;
    CHECK(snwDrawPortrait(context, &def, &image, &message) == snw_errorArgument);
    def = SmallPortrait(looks, 2);
    def.azimuth = NAN;
    CHECK(snwDrawPortrait(context, &def, &image, &message) == snw_errorArgument);
    def = SmallPortrait(looks, 2);
    def.width = 0;
    CHECK(snwDrawPortrait(context, &def, &image, &message) == snw_errorArgument);
    ball.triangles[4] = ballVertices;
    def = SmallPortrait(looks, 2);
    CHECK(snwDrawPortrait(context, &def, &image, &message) == snw_errorArgument);
    CHECK_CONTAINS(message.text, "triangle 1");
    CHECK_CONTAINS(message.place, "meshes[0]");
    CHECK(image.pixels == NULL);
    snwDestroyContext(context);
}

// A red and a clear half: the cut-out shows its colour exactly, and its shadow falls on the wall beside it.
TEST(portrait, textureIsACutOut)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static uint8_t rgba[4 * 64];
    for (int i = 0; i < 32; ++i)
        memcpy(rgba + 4 * i, (const uint8_t[4]){200, 60, 30, 255}, 4);
    const snwTexture texture = {64, 1, rgba};
    const float positions[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0}, uv[] = {0, 1, 1, 1, 1, 0, 0, 0};
    const int triangles[] = {0, 1, 2, 0, 2, 3};
    snwMeshLook look = {.positions = positions, .vertexCount = 4, .triangles = triangles, .triangleCount = 2};
    look.texcoords = uv;
    look.texture = &texture;
    snwPortraitDef def = SmallPortrait(&look, 1);
    def.style = snw_styleWhite;
    def.wall = true;
    snwImage image = Draw(context, &def);
    REQUIRE(image.pixels != NULL);
    const uint8_t* red = PixelAt(&image, side / 4, side / 2);
    CHECK(abs(red[0] - 200) <= 2 && abs(red[1] - 60) <= 2 && abs(red[2] - 30) <= 2);
    const uint8_t *shaded = PixelAt(&image, side / 2 + 3, side / 2), *far = PixelAt(&image, side - 6, 6);
    CHECK(abs(shaded[0] - shaded[1]) <= 2 && shaded[0] < 250);
    CHECK(far[0] > shaded[0] + 3);
    snwDestroyImage(context, &image);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Cut-aways

enum
{
    cells = 4,
    points = (cells + 1) * (cells + 1) * (cells + 1)
};

typedef struct Grid
{
    snwVec3 vertices[points];
    float colors[3 * points];
    int tets[6 * cells * cells * cells][4];
    int hexes[cells * cells * cells][8];
    int bones[7 * cells * cells * cells];
} Grid;

static int GridPoint(int x, int y, int z)
{
    return (z * (cells + 1) + y) * (cells + 1) + x;
}

// A cube 0..cells with a bone along its middle; six tets or one hex in each cell.
static void MakeGrid(Grid* grid)
{
    static const int paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < points; ++i)
    {
        int n = cells + 1;
        grid->vertices[i] = (snwVec3){i % n, i / n % n, i / n / n};
        snwFloat3_Store((snwFloat3){0.1f, 0.8f, 0.1f}, grid->colors + 3 * i);
    }
    for (int i = 0; i < 6 * cells * cells * cells; ++i)
    {
        int at[3] = {i / 6 % cells, i / 6 / cells % cells, i / 6 / cells / cells};
        bool bone = at[1] > 0 && at[1] < cells - 1 && at[2] > 0 && at[2] < cells - 1;
        int x = at[0], y = at[1], z = at[2];
        const int hex[8] = {GridPoint(x, y, z), GridPoint(x + 1, y, z), GridPoint(x + 1, y + 1, z),
            GridPoint(x, y + 1, z), GridPoint(x, y, z + 1), GridPoint(x + 1, y, z + 1), GridPoint(x + 1, y + 1, z + 1),
            GridPoint(x, y + 1, z + 1)};
        memcpy(grid->hexes[i / 6], hex, sizeof hex);
        grid->tets[i][0] = GridPoint(at[0], at[1], at[2]);
        for (int k = 0; k < 3; ++k)
        {
            at[paths[i % 6][k]]++;
            grid->tets[i][k + 1] = GridPoint(at[0], at[1], at[2]);
        }
        grid->bones[i] = bone ? 0 : -1;
    }
}

// Every directed side of a triangle has its opposite: no holes, and all faces look outward.
static bool IsClosed(const snwCutaway* cut)
{
    int count = 3 * cut->look.triangleCount;
    for (int i = 0; i < count; ++i)
    {
        int balance = 0;
        int a = cut->sources[cut->look.triangles[i]], b = cut->sources[cut->look.triangles[i / 3 * 3 + (i + 1) % 3]];
        for (int j = 0; j < count; ++j)
        {
            int c = cut->sources[cut->look.triangles[j]];
            int d = cut->sources[cut->look.triangles[j / 3 * 3 + (j + 1) % 3]];
            balance += (a == c && b == d) - (a == d && b == c);
        }
        if (balance != 0)
            return false;
    }
    return count > 0;
}

static double CutVolume(const snwCutaway* cut)
{
    double volume = 0;
    for (int t = 0; t < cut->look.triangleCount; ++t)
    {
        const int* v = cut->look.triangles + 3 * t;
        snwFloat3 a = snwFloat3_Load(cut->look.positions + 3 * v[0]),
                  b = snwFloat3_Load(cut->look.positions + 3 * v[1]);
        snwFloat3 c = snwFloat3_Load(cut->look.positions + 3 * v[2]);
        volume += (double)snwFloat3_Dot(a, snwFloat3_Cross(b, c)) / 6;
    }
    return volume;
}

static snwCutawayDef GridCut(const Grid* grid, bool hexes)
{
    snwCutawayDef def = snwDefaultCutawayDef();
    def.vertices = grid->vertices;
    def.vertexCount = points;
    def.tets = grid->tets;
    def.tetCount = hexes ? 0 : 6 * cells * cells * cells;
    def.hexes = grid->hexes;
    def.hexCount = hexes ? cells * cells * cells : 0;
    def.colors = grid->colors;
    return def;
}

TEST(portrait, wholeMeshIsAllSkin)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Grid grid;
    MakeGrid(&grid);
    for (int hexes = 0; hexes < 2; ++hexes)
    {
        snwArena arena = {.context = context};
        snwCutawayDef def = GridCut(&grid, hexes);
        snwCutaway cut;
        REQUIRE(snwMakeCutaway(context, &arena, &def, &cut, NULL) == snw_ok);
        CHECK_INT(cut.skinCount, 12 * cells * cells);
        CHECK_INT(cut.bareCount, 0);
        CHECK(IsClosed(&cut));
        CHECK_NEAR(CutVolume(&cut), cells * cells * cells, 1e-4);
        CHECK_NEAR(cut.look.colors[1], 0.8f, 1e-6);
        snwArena_Free(&arena);
    }
    snwDestroyContext(context);
}

// Half of the cube: the bare faces are flesh around and bone in the middle, and the surface is closed.
TEST(portrait, cutLaysFleshAndBoneBare)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Grid grid;
    MakeGrid(&grid);
    snwArena arena = {.context = context};
    snwCutawayDef def = GridCut(&grid, false);
    def.bones = grid.bones;
    def.planePoint = (snwVec3){0.5 * cells, 0, 0};
    def.planeNormal = (snwVec3){1, 0, 0};
    snwCutaway cut;
    REQUIRE(snwMakeCutaway(context, &arena, &def, &cut, NULL) == snw_ok);
    CHECK_INT(cut.keptCount, 3 * cells * cells * cells);
    CHECK_INT(cut.skinCount, 6 * cells * cells);
    CHECK_INT(cut.bareCount, 2 * cells * cells);
    CHECK(IsClosed(&cut));
    CHECK_NEAR(CutVolume(&cut), 0.5 * cells * cells * cells, 1e-4);
    int bone = 0, flesh = 0;
    for (int t = cut.skinCount; t < cut.skinCount + cut.bareCount; ++t)
    {
        const float* color = cut.look.colors + 3 * cut.look.triangles[3 * t];
        const float* p = cut.look.positions + 3 * cut.look.triangles[3 * t];
        CHECK_NEAR(p[0], 0.5 * cells, 1e-6);
        bone += color[1] > 0.5f * color[0];
        flesh += color[1] < 0.5f * color[0];
    }
    CHECK_INT(bone, 2 * (cells - 2) * (cells - 2));
    CHECK_INT(flesh, cut.bareCount - bone);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// A plane that cuts through cells: whole ones stay, so the surface is rough but closed.
TEST(portrait, slantedCutIsClosed)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Grid grid;
    MakeGrid(&grid);
    for (int hexes = 0; hexes < 2; ++hexes)
    {
        snwArena arena = {.context = context};
        snwCutawayDef def = GridCut(&grid, hexes);
        def.planePoint = (snwVec3){0.45 * cells, 0.5 * cells, 0.52 * cells};
        def.planeNormal = (snwVec3){0.5, 0.3, -0.9};
        snwCutaway cut;
        REQUIRE(snwMakeCutaway(context, &arena, &def, &cut, NULL) == snw_ok);
        CHECK(cut.bareCount > 0 && cut.keptCount > 0);
        CHECK(IsClosed(&cut));
        CHECK_NEAR(CutVolume(&cut), cut.keptCount / (hexes ? 1.0 : 6.0), 1e-3);
        snwArena_Free(&arena);
    }
    snwDestroyContext(context);
}

TEST(portrait, cutRefusesNonsense)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    const snwVec3 vertices[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int tets[1][4] = {{0, 1, 2, 4}};
    snwCutawayDef def = snwDefaultCutawayDef();
    snwCutaway cut;
    snwMessage message;
    CHECK(snwMakeCutaway(context, &arena, &def, &cut, &message) == snw_ok); // of nothing
    CHECK_INT(cut.look.triangleCount, 0);
    def.vertices = vertices;
    def.vertexCount = 4;
    def.tets = tets;
    def.tetCount = 1;
    CHECK(snwMakeCutaway(context, &arena, &def, &cut, &message) == snw_errorArgument);
    CHECK_CONTAINS(message.text, "vertex 4");
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bones

TEST(portrait, bonesAreClosedAndWhereTheyShouldBe)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGizmos gizmos = {.context = context};
    snwFloat3 head = {1, 2, 3}, tail = {1, 4, 3};
    snwGizmos_AddBone(&gizmos, head, tail, 0.2f, snwGizmo_boneColor);
    snwMeshLook look;
    REQUIRE(snwGizmos_GetLook(&gizmos, &look, NULL) == snw_ok);
    float lowest = 1e9f, highest = -1e9f, widest = 0;
    for (int i = 0; i < look.vertexCount; ++i)
    {
        const float *p = look.positions + 3 * i, *n = look.normals + 3 * i;
        lowest = fminf(lowest, p[1]);
        highest = fmaxf(highest, p[1]);
        widest = fmaxf(widest, hypotf(p[0] - 1, p[2] - 3));
        CHECK_NEAR(snwFloat3_Length(snwFloat3_Load(n)), 1, 1e-5);
        CHECK((p[0] - 1) * n[0] + (p[2] - 3) * n[2] >= -1e-6f);
    }
    CHECK_NEAR(lowest, 2, 1e-5);
    CHECK_NEAR(highest, 4, 1e-5);
    CHECK(widest > 0.18f && widest <= 0.2001f);
    snwGizmos_AddBall(&gizmos, head, 0.1f, snwGizmo_jointColor);
    snwGizmos_AddHinge(&gizmos, tail, (snwFloat3){0, 0, 2}, 0.1f, snwGizmo_jointColor);
    snwGizmos_AddBone(&gizmos, head, head, 0.1f, snwGizmo_boneColor); // of no length
    REQUIRE(snwGizmos_GetLook(&gizmos, &look, NULL) == snw_ok);
    double volume = 0;
    for (int t = 0; t < look.triangleCount; ++t)
    {
        const int* v = look.triangles + 3 * t;
        snwFloat3 a = snwFloat3_Load(look.positions + 3 * v[0]), b = snwFloat3_Load(look.positions + 3 * v[1]);
        volume += (double)snwFloat3_Dot(a, snwFloat3_Cross(b, snwFloat3_Load(look.positions + 3 * v[2]))) / 6;
    }
    CHECK(volume > 0.05 && volume < 0.25); // wound outward
    snwGizmos_Free(&gizmos);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Text and sheets

static const snwFloat3 s_white = {1, 1, 1}, s_black = {0, 0, 0};

static double InkIn(const snwImage* image, int left, int top, int right, int bottom)
{
    double sum = 0;
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x)
            sum += (255 - PixelAt(image, x, y)[1]) / 255.0;
    return sum;
}

static snwImage WriteText(snwContext* context, const char* text, float size)
{
    snwImage image = {0};
    if (snwCreateImage(context, 160, 64, &image, NULL) < 0)
        return image;
    snwImage_Fill(&image, 0, 0, 160, 64, s_white);
    snwImage_DrawText(&image, 10, 48, size, s_black, text);
    return image;
}

TEST(portrait, textHasItsInkInTheRightPlace)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImage image = WriteText(context, "H", 40);
    REQUIRE(image.pixels != NULL);
    int width = (int)snwText_Width(40, "H"), middle = 10 + width / 2;
    CHECK(InkIn(&image, 7, 20, 14, 48) > 28);                   // the left stem
    CHECK(InkIn(&image, 7 + width, 20, 14 + width, 48) > 28);   // the right one
    CHECK(InkIn(&image, middle - 1, 18, middle + 1, 28) < 0.1); // nothing between them above the bar
    CHECK(InkIn(&image, middle - 1, 30, middle + 1, 38) > 3);   // the bar
    CHECK_NEAR(InkIn(&image, 0, 0, 160, 17) + InkIn(&image, 0, 51, 160, 64), 0, 0); // only cap height
    CHECK_NEAR(InkIn(&image, 0, 0, 7, 64) + InkIn(&image, 14 + width, 0, 160, 64), 0, 0);
    snwDestroyImage(context, &image);
    snwDestroyContext(context);
}

TEST_HEAVY(portrait, everyGlyphIsItself)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImage glyphs[95] = {0};
    for (int i = 0; i < 95; ++i)
    {
        char text[2] = {(char)(32 + i), 0};
        glyphs[i] = WriteText(context, text, 24);
        REQUIRE(glyphs[i].pixels != NULL);
        double ink = InkIn(&glyphs[i], 0, 0, 160, 64);
        CHECK(i == 0 ? ink == 0 : ink > 4);
        for (int k = 0; k < i; ++k)
        {
            double difference = 0;
            for (int p = 0; p < 160 * 64; ++p)
                difference += abs(glyphs[i].pixels[3 * p] - glyphs[k].pixels[3 * p]) / 255.0;
            if (difference < 4)
                snwTest_Fail(__FILE__, __LINE__, "'%c' looks like '%c'", 32 + i, 32 + k);
        }
    }
    for (int i = 0; i < 95; ++i)
        snwDestroyImage(context, &glyphs[i]);
    snwDestroyContext(context);
}

TEST(portrait, textWidthGrows)
{
    char text[64] = "";
    float before = -1;
    for (int i = 0; i < 60; ++i)
    {
        text[i] = (char)('!' + i);
        text[i + 1] = 0;
        float width = snwText_Width(20, text);
        CHECK(width > before);
        CHECK_NEAR(snwText_Width(40, text), 2 * width, 1e-3);
        before = width;
    }
    CHECK_NEAR(snwText_Width(20, ""), 0, 0);
    CHECK_NEAR(snwText_Width(20, "\xc3\xa9"), snwText_Width(20, "?"), 1e-6);
}

TEST(portrait, textOutsideTheImageDoesNoHarm)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImage image;
    REQUIRE(snwCreateImage(context, 8, 8, &image, NULL) == snw_ok);
    snwImage_Fill(&image, -5, -5, 100, 100, s_white);
    const float places[] = {-1000, -3, 4, 9, 1e9f};
    for (int i = 0; i < 25; ++i)
        snwImage_DrawText(&image, places[i % 5], places[i / 5], 200, s_black, "Wide \xff\xc3");
    snwImage_Fill(&image, 0, 0, 8, 8, s_white);
    snwImage_DrawText(&image, 4, 6, 20, s_black, ".");
    CHECK(InkIn(&image, 0, 0, 8, 8) > 2);
    snwDestroyImage(context, &image);
    snwDestroyContext(context);
}

TEST(portrait, sheetPlacesItsTiles)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const char *rows[] = {"frog", "a longer name"}, *columns[] = {"front", "side", "back", "top"};
    snwSheetDef def = snwDefaultSheetDef();
    def.title = "Cast";
    def.subtitle = "of a test";
    def.rows = rows;
    def.rowCount = 2;
    def.columns = columns;
    def.columnCount = 4;
    def.groupSize = 2;
    def.tileWidth = 60;
    def.tileHeight = 50;
    def.captions = true;
    def.textSize = 12;
    snwSheet sheet;
    snwImage tile;
    REQUIRE(snwCreateSheet(context, &def, &sheet, NULL) == snw_ok);
    REQUIRE(snwCreateImage(context, 60, 50, &tile, NULL) == snw_ok);
    int lastRight = 0;
    for (int i = 0; i < 8; ++i)
    {
        int row = i / 4, column = i % 4, x, y;
        snwFloat3 color = {(float)(row + 1) / 3, (float)column / 4, 0.1f};
        snwImage_Fill(&tile, 0, 0, 60, 50, color);
        snwSheet_PutTile(&sheet, row, column, &tile, "caption");
        snwSheet_Place(&sheet, row, column, &x, &y);
        CHECK(x >= 0 && y >= 0 && x + 60 < sheet.image.width && y + 50 < sheet.image.height);
        CHECK(memcmp(PixelAt(&sheet.image, x + 30, y + 25), PixelAt(&tile, 30, 25), 3) == 0);
        CHECK(memcmp(PixelAt(&sheet.image, x + 30, y), PixelAt(&tile, 30, 0), 3) == 0);
        CHECK(Difference(PixelAt(&sheet.image, x, y), PixelAt(&tile, 0, 0)) > 20); // round corners
        CHECK(InkIn(&sheet.image, x, y + 51, x + 60, y + 66) > InkIn(&sheet.image, 0, 0, 60, 15) + 20);
        CHECK(column == 0 || x > lastRight);
        lastRight = x + 60;
    }
    double paper = InkIn(&sheet.image, 0, 0, 100, 20);
    CHECK(InkIn(&sheet.image, 0, 20, 100, 40) > paper + 10); // the title
    int x, y, x1, x2;
    snwSheet_Place(&sheet, 1, 0, &x, &y);
    CHECK(
        InkIn(&sheet.image, x - 60, y + 10, x - 2, y + 40) > InkIn(&sheet.image, 0, 0, 58, 20) + 20); // the row's name
    snwSheet_Place(&sheet, 0, 1, &x1, &y);
    snwSheet_Place(&sheet, 0, 2, &x2, &y);
    CHECK(x2 - x1 > x1 - x); // groups stand apart
    snwDestroyImage(context, &tile);
    snwDestroySheet(context, &sheet);
    def.tileWidth = 0;
    CHECK(snwCreateSheet(context, &def, &sheet, NULL) == snw_errorArgument);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

static snwResult DrawAll(snwContext* context, const Grid* grid)
{
    snwImage image = {0};
    snwArena arena = {.context = context};
    snwGizmos gizmos = {.context = context};
    snwCutawayDef cutDef = GridCut(grid, false);
    snwSheetDef sheetDef = snwDefaultSheetDef();
    sheetDef.rowCount = sheetDef.columnCount = 1;
    snwSheet sheet = {0};
    snwCutaway cut;
    snwMeshLook looks[2];
    snwResult result = snwMakeCutaway(context, &arena, &cutDef, &cut, NULL);
    snwGizmos_AddBone(&gizmos, (snwFloat3){0, 0, 0}, (snwFloat3){4, 4, 4}, 0.5f, snwGizmo_boneColor);
    looks[0] = cut.look;
    looks[0].opacity = 0.5f;
    result = result < 0 ? result : snwGizmos_GetLook(&gizmos, &looks[1], NULL);
    snwPortraitDef def = SmallPortrait(looks, 2);
    def.width = def.height = 8;
    def.ground = def.wall = true;
    result = result < 0 ? result : snwDrawPortrait(context, &def, &image, NULL);
    result = result < 0 ? result : snwCreateSheet(context, &sheetDef, &sheet, NULL);
    snwDestroySheet(context, &sheet);
    snwDestroyImage(context, &image);
    snwGizmos_Free(&gizmos);
    snwArena_Free(&arena);
    return result;
}

TEST(portrait, everyFailedAllocationIsAnErrorWithoutLeak)
{
    static Grid grid;
    MakeGrid(&grid);
    for (long n = 1;; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        counter.failAt = counter.allocations + n;
        snwResult result = DrawAll(context, &grid);
        bool reached = counter.allocations >= counter.failAt;
        if (reached)
            CHECK_INT(result, snw_errorMemory);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        if (!reached)
        {
            CHECK_INT(result, snw_ok);
            CHECK(n > 30);
            return;
        }
    }
}
