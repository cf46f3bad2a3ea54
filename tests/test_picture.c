// Pictures with transparency as characters: contours, and the way from a PNG to a sheet of triangles.

#include "fixture.h"
#include "test.h"

#include "asset/texture.h"
#include "geom/contour.h"
#include "prepare/flat.h"
#include "scene/blueprint_file.h"
#include "sim/limits.h"
#include "view/image.h"
#include "view/portrait.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Pictures drawn by the tests themselves

enum
{
    snw_side = 96
};

// Share of a pixel within r of (x, y), from 8 x 8 points of it.
static double Covered(int i, int j, double x, double y, double r)
{
    int inside = 0;
    for (int k = 0; k < 64; ++k)
        inside += hypot(i + (k % 8 + 0.5) / 8 - x, j + (k / 8 + 0.5) / 8 - y) <= r;
    return inside / 64.0;
}

static void AddDisc(uint8_t* mask, double x, double y, double r)
{
    for (int j = 0; j < snw_side; ++j)
        for (int i = 0; i < snw_side; ++i)
        {
            double value = mask[j * snw_side + i] + 255 * Covered(i, j, x, y, r);
            mask[j * snw_side + i] = (uint8_t)lround(fmin(value, 255));
        }
}

static void CutDisc(uint8_t* mask, double x, double y, double r)
{
    for (int j = 0; j < snw_side; ++j)
        for (int i = 0; i < snw_side; ++i)
            mask[j * snw_side + i] = (uint8_t)lround(mask[j * snw_side + i] * (1 - Covered(i, j, x, y, r)));
}

static snwOutline Contours(snwContext* context, const uint8_t* mask, snwArena* arena)
{
    snwContourDef def = {mask, snw_side, snw_side, 128, 4};
    snwOutline outline;
    CHECK_INT(snwFindContours(context, &def, arena, &outline, NULL, NULL), snw_ok);
    return outline;
}

// Red to the left, green to the right; what is clear is black.
static const char* WriteMask(snwContext* context, const char* name, const uint8_t* mask)
{
    static char s_path[512];
    snwImage image;
    CHECK_INT(snwCreateImage(context, snw_side, snw_side, &image, NULL), snw_ok);
    CHECK_INT(snwImage_AddAlpha(context, &image, NULL), snw_ok);
    for (int i = 0; i < snw_side * snw_side; ++i)
    {
        image.alpha[i] = mask[i];
        if (mask[i] > 0)
            image.pixels[3 * i + (i % snw_side < snw_side / 2 ? 0 : 1)] = 200;
    }
    snprintf(s_path, sizeof s_path, "%s/%s.png", snwTest_TempDir(), name);
    CHECK_INT(snwImage_WritePng(context, &image, s_path, 6, true, NULL), snw_ok);
    snwDestroyImage(context, &image);
    return s_path;
}

static void WriteSidecar(const char* name, const char* text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.sinew.json", snwTest_TempDir(), name);
    FILE* file = fopen(path, "w");
    CHECK(file != NULL);
    for (const char* c = text; file != NULL && *c != 0; ++c)
        fputc(*c == '\'' ? '"' : *c, file);
    if (file != NULL)
        fclose(file);
}

static snwPrepared* Prepare(snwContext* context, const char* path, int elements, snwPrepareReport* report)
{
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    snwMessage message = {0};
    def.elements = elements;
    if (snwPrepareFile(context, path, &def, &prepared, report, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s: %s", message.file, message.place, message.text);
    return prepared;
}

static snwPrepareReport* NewReport(void)
{
    return calloc(1, sizeof(snwPrepareReport));
}

static bool Noted(const snwPrepareReport* report, const char* part)
{
    for (int i = 0; i < report->noteCount; ++i)
        if (strstr(report->notes[i], part) != NULL)
            return true;
    return false;
}

// ---------------------------------------------------------------------------------------------------------------------
// Contours

TEST(picture, contoursAreFinerThanPixels)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    uint8_t mask[snw_side * snw_side] = {0};
    AddDisc(mask, 50.3, 47.8, 30);
    CutDisc(mask, 58, 44, 9);
    snwOutline outline = Contours(context, mask, &arena);
    CHECK_INT(outline.ringCount, 2);
    for (int r = 0; r < outline.ringCount; ++r)
        for (int i = 0; i < outline.rings[r].count; ++i)
        {
            const double* at = outline.rings[r].points[i];
            bool hole = outline.rings[r].hole;
            CHECK_NEAR(hypot(at[0] - (hole ? 58 : 50.3), at[1] - (hole ? 44 : 47.8)), hole ? 9 : 30, 0.15);
        }
    CHECK(outline.rings[0].hole != outline.rings[1].hole);
    CHECK_NEAR(snwRing_Area(&outline.rings[outline.rings[0].hole]), 900 * 3.14159265, 10);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// Pixels that meet at corners, specks and full borders: rings must neither touch nor cross, or nobody could fill them.
TEST(picture, contoursOfNoiseCanBeTriangulated)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 7;
    for (int round = 0; round < 20; ++round)
    {
        snwArena arena = {.context = context};
        uint8_t values[16 * 16];
        for (int i = 0; i < 256; ++i)
            values[i] = (uint8_t)(round % 2 == 0 ? 255 * (snwTest_Random(&seed) > 0.4) : 255 * snwTest_Random(&seed));
        snwContourDef def = {values, 16, 16, 128, 0};
        snwOutline outline;
        snwMessage message = {0};
        CHECK_INT(snwFindContours(context, &def, &arena, &outline, NULL, &message), snw_ok);
        snwTriangulateDef fill = snwDefaultTriangulateDef();
        snwFlatMesh mesh = {0};
        double area = 0;
        fill.minAngle = 0;
        fill.smoothing = 0;
        for (int r = 0; r < outline.ringCount; ++r)
            area += (outline.rings[r].hole ? -1 : 1) * snwRing_Area(&outline.rings[r]);
        if (snwTriangulate(context, &outline, &fill, &arena, &mesh, &message) < 0)
            snwTest_Fail(__FILE__, __LINE__, "round %d: %s", round, message.text);
        CHECK_NEAR(snwFlatMesh_Measure(&mesh).area, area, 1e-6 * area);
        snwArena_Free(&arena);
    }
    snwDestroyContext(context);
}

TEST(picture, smoothRingsStayWithinTheTolerance)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    uint8_t mask[snw_side * snw_side] = {0};
    for (int j = 20; j < 70; ++j) // stairs below, sharp corners above
        for (int i = 10; i < 80 && i < 10 + 2 * (j - 15); ++i)
            mask[j * snw_side + i] = 255;
    snwOutline outline = Contours(context, mask, &arena);
    snwRing smooth;
    CHECK_INT(outline.ringCount, 1);
    CHECK(snwRing_Smooth(&outline.rings[0], &(snwSmoothDef){1, 0.87}, &arena, &smooth));
    CHECK(smooth.count >= 4 && smooth.count < outline.rings[0].count / 4);
    int corners = 0;
    for (int i = 0; i < smooth.count; ++i)
        corners += smooth.corners[i];
    CHECK(corners >= 3 && corners <= 5);
    for (int i = 0; i < outline.rings[0].count; ++i)
    {
        const double* p = outline.rings[0].points[i];
        double nearest = 1e9;
        for (int k = 0; k < smooth.count; ++k)
        {
            const double *a = smooth.points[k], *b = smooth.points[(k + 1) % smooth.count];
            double ux = b[0] - a[0], uy = b[1] - a[1];
            double t = ((p[0] - a[0]) * ux + (p[1] - a[1]) * uy) / (ux * ux + uy * uy);
            t = fmin(fmax(t, 0), 1);
            nearest = fmin(nearest, hypot(p[0] - a[0] - t * ux, p[1] - a[1] - t * uy));
        }
        CHECK(nearest <= 1.0001);
    }
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// From a picture to a character

typedef struct Drawn
{
    snwBlueprintFile file;
    snwArena arena;
    snwOutline outline;
    snwFlatPicture picture;
    const char* path;
} Drawn;

// A built-in character, painted as itself and written to a file.
static Drawn Draw(snwContext* context, const char* name, int side)
{
    static char s_path[512];
    Drawn drawn = {.arena = {.context = context}, .path = s_path};
    snwImage image;
    CHECK_INT(snwBlueprintFile_Open(context, name, &drawn.file, NULL), snw_ok);
    const snwFlatBlueprint* flat = &drawn.file.blueprint.flat;
    CHECK_INT(snwFlat_MakeOutline(flat, &drawn.arena, &drawn.outline, NULL), snw_ok);
    CHECK_INT(snwFlat_Paint(context, flat, side, &drawn.arena, &drawn.picture, NULL), snw_ok);
    CHECK_INT(snwCreateImage(context, drawn.picture.width, drawn.picture.height, &image, NULL), snw_ok);
    CHECK_INT(snwImage_AddAlpha(context, &image, NULL), snw_ok);
    for (int i = 0; i < image.width * image.height; ++i)
    {
        const uint8_t* pixel = drawn.picture.pixels + 4 * (size_t)i;
        image.alpha[i] = pixel[3];
        for (int k = 0; k < 3; ++k)
            image.pixels[3 * i + k] = pixel[3] > 0 ? pixel[k] : 0;
    }
    snprintf(s_path, sizeof s_path, "%s/%s.png", snwTest_TempDir(), name);
    CHECK_INT(snwImage_WritePng(context, &image, s_path, 6, true, NULL), snw_ok);
    snwDestroyImage(context, &image);
    return drawn;
}

static void FreeDrawn(Drawn* drawn)
{
    snwArena_Free(&drawn->arena);
    snwBlueprintFile_Free(&drawn->file);
}

static double DistanceToOutline(const snwOutline* outline, const double p[2])
{
    double nearest = 1e9;
    for (int r = 0; r < outline->ringCount; ++r)
        for (int i = 0; i < outline->rings[r].count; ++i)
        {
            const double *a = outline->rings[r].points[i],
                         *b = outline->rings[r].points[(i + 1) % outline->rings[r].count];
            double ux = b[0] - a[0], uy = b[1] - a[1];
            double t = ((p[0] - a[0]) * ux + (p[1] - a[1]) * uy) / (ux * ux + uy * uy);
            t = fmin(fmax(t, 0), 1);
            nearest = fmin(nearest, hypot(p[0] - a[0] - t * ux, p[1] - a[1] - t * uy));
        }
    return nearest;
}

// Where the drawn picture has a point of the sheet: both have the middle of the outline in their middle.
static void FindPlace(const Drawn* drawn, double scale, const snwVec3* at, double place[2])
{
    place[0] = (drawn->picture.lower[0] + drawn->picture.upper[0]) / 2 + at->x * scale;
    place[1] = (drawn->picture.lower[1] + drawn->picture.upper[1]) / 2 + at->y * scale;
}

static int RimEdges(const snwCharacterDef* def, int* rim)
{
    int count = 0;
    for (int t = 0; t < 3 * def->triangleCount; ++t)
    {
        int a = def->triangles[t / 3][t % 3], b = def->triangles[t / 3][(t + 1) % 3];
        bool shared = false;
        for (int u = 0; u < 3 * def->triangleCount && !shared; ++u)
            shared = def->triangles[u / 3][u % 3] == b && def->triangles[u / 3][(u + 1) % 3] == a;
        if (!shared)
            rim[count++] = a;
    }
    return count;
}

TEST(picture, aDrawnCharacterComesBackFromItsPicture)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Drawn drawn = Draw(context, "starfish", 400);
    WriteSidecar("starfish", "{'sinew': 1, 'margin': 0, 'elements': 900}");
    snwPrepared* prepared = Prepare(context, drawn.path, 0, NULL);
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    double pixel = (drawn.picture.upper[0] - drawn.picture.lower[0]) / drawn.picture.width;
    double scale = pixel / snwPrepared_GetInfo(prepared).scale;
    CHECK(abs(def->triangleCount - 900) < 90);
    int* rim = calloc(3 * (size_t)def->triangleCount, sizeof *rim);
    int count = RimEdges(def, rim);
    double worst = 0, off = 0;
    for (int i = 0; i < count; ++i)
    {
        double place[2];
        FindPlace(&drawn, scale, &def->vertices[rim[i]], place);
        worst = fmax(worst, DistanceToOutline(&drawn.outline, place) / pixel);
    }
    CHECK(worst <= 1.0); // pixels
    // the texture shows at every vertex inside what the painter painted there
    for (int i = 0; i < def->vertexCount; ++i)
    {
        double place[2], uv[2];
        float own[4], painted[4];
        FindPlace(&drawn, scale, &def->vertices[i], place);
        snwFlatPicture_Place(&drawn.picture, place, uv);
        snwTexture picture = {drawn.picture.width, drawn.picture.height, drawn.picture.pixels};
        snwTexture_Sample(&picture, (float[2]){(float)uv[0], (float)uv[1]}, false, painted);
        snwTexture_Sample(&def->texture, def->texcoords[i], false, own);
        for (int k = 0; k < 3 && painted[3] >= 1; ++k)
            off = fmax(off, fabs((double)own[k] - (double)painted[k]));
    }
    CHECK(off < 0.02);
    free(rim);
    snwPrepared_Release(prepared);
    FreeDrawn(&drawn);
    snwDestroyContext(context);
}

TEST(picture, handlesSitInTheMiddleAndInTheLimbs)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Drawn drawn = Draw(context, "octopus-2d", 300);
    snwPrepared* prepared = Prepare(context, drawn.path, 800, NULL);
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    double scale = (drawn.picture.upper[0] - drawn.picture.lower[0]) / drawn.picture.width /
                   snwPrepared_GetInfo(prepared).scale;
    CHECK(def->handleCount >= 9); // eight arms
    CHECK(strcmp(def->handles[0].name, "middle") == 0);
    // each arm of the blueprint ends near a handle, and every handle is inside, not on the rim
    for (int i = 0; i < drawn.file.blueprint.handleCount; ++i)
    {
        const snwHandleDef* own = &drawn.file.blueprint.handles[i];
        double nearest = 1e9;
        for (int k = 0; k < def->handleCount; ++k)
        {
            double place[2];
            FindPlace(&drawn, scale, &def->handles[k].position, place);
            nearest = fmin(nearest, hypot(place[0] - own->position.x, place[1] - own->position.y));
        }
        CHECK(nearest < 0.25);
    }
    for (int k = 0; k < def->handleCount; ++k)
    {
        double place[2];
        FindPlace(&drawn, scale, &def->handles[k].position, place);
        CHECK(DistanceToOutline(&drawn.outline, place) > 0.01);
    }
    CHECK_INT(def->handleWeights.vertexCount, def->vertexCount);
    CHECK_INT(def->handleWeights.handleCount, def->handleCount);
    snwPrepared_Release(prepared);
    FreeDrawn(&drawn);
    snwDestroyContext(context);
}

TEST(picture, theSidecarNamesHandlesInPixels)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint8_t mask[snw_side * snw_side] = {0};
    snwMessage message = {0};
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    AddDisc(mask, 48, 48, 40);
    const char* path = WriteMask(context, "coin", mask);
    WriteSidecar("coin", "{'sinew': 1, 'size': 2, 'elements': 200, 'margin': 0, 'handles': ["
                         "{'name': 'rim', 'at': [48, 16], 'given': ['x', 'rotation_z']},"
                         "{'name': 'spoke', 'kind': 'bone', 'at': [48, 48], 'tail': [68, 48]}]}");
    prepared = Prepare(context, path, 0, NULL);
    const snwCharacterDef* made = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    CHECK_INT(made->handleCount, 2);
    CHECK_INT(made->boneCount, 1);
    CHECK_NEAR(made->handles[0].position.y, 32 * 2 / 80.0, 0.02); // 32 pixels above the centre, up
    CHECK_NEAR(made->handles[0].position.x, 0, 0.02);
    CHECK_INT((int)made->handles[0].given, snw_dofX | snw_dofRotationZ);
    CHECK_NEAR(made->bones[0].tail.x, 20 * 2 / 80.0, 0.02);
    snwPrepared_Release(prepared);
    WriteSidecar("coin", "{'sinew': 1, 'handles': [{'name': 'a', 'at': [1, 2]}, {'name': 'b', 'att': [3, 4]}]}");
    CHECK_INT(snwPrepareFile(context, path, &def, &prepared, NULL, &message), snw_errorInput);
    CHECK_CONTAINS(message.place, "handles[1]");
    CHECK_CONTAINS(message.remedy, "at");
    snwDestroyContext(context);
}

TEST(picture, islandsAreJoinedOrLeftOutAndHolesKept)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint8_t mask[snw_side * snw_side] = {0};
    snwPrepareReport* report = NewReport();
    AddDisc(mask, 34, 48, 26);
    CutDisc(mask, 34, 48, 9);
    AddDisc(mask, 80, 48, 12);
    const char* path = WriteMask(context, "islands", mask);
    snwPrepared* joined = Prepare(context, path, 400, report);
    CHECK(Noted(report, "1 pieces that hang on nothing were joined"));
    snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(joined));
    CHECK_NEAR(info.upper.x - info.lower.x, 1, 0.02); // both of them: 84 pixels wide, 52 high
    CHECK_NEAR(info.upper.y - info.lower.y, 52 / 84.0, 0.03);
    // one sheet with one hole: vertices - edges + triangles = 0
    CHECK_INT(info.vertexCount - info.edgeCount + info.triangleCount, 0);
    snwPrepared_Release(joined);
    WriteSidecar("islands", "{'sinew': 1, 'islands': 'largest'}");
    snwPrepared* largest = Prepare(context, path, 400, report);
    CHECK(Noted(report, "left out"));
    info = snwCharacter_GetInfo(snwPrepared_GetCharacter(largest));
    CHECK_NEAR(info.upper.x - info.lower.x, info.upper.y - info.lower.y, 0.03);
    snwPrepared_Release(largest);
    free(report);
    snwDestroyContext(context);
}

// Nothing of it is clear.
static void CheckSize(snwContext* context, int width, int height, const char* says)
{
    char path[512];
    snwImage image;
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    snwMessage message = {0};
    CHECK_INT(snwCreateImage(context, width, height, &image, NULL), snw_ok);
    snprintf(path, sizeof path, "%s/sized.png", snwTest_TempDir());
    CHECK_INT(snwImage_WritePng(context, &image, path, 6, true, NULL), snw_ok);
    snwDestroyImage(context, &image);
    CHECK_INT(snwPrepareFile(context, path, &def, &prepared, NULL, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, says);
}

TEST(picture, clearOpaqueAndDamagedPicturesAreTold)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint8_t mask[snw_side * snw_side] = {0};
    snwPrepareReport* report = NewReport();
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    snwMessage message = {0};
    const char* path = WriteMask(context, "clear", mask);
    CHECK_INT(snwPrepareFile(context, path, &def, &prepared, NULL, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "opacity");
    CheckSize(context, 1, 1, "too small");
    CheckSize(context, 2, 2, "too small");
    CheckSize(context, SNW_MAX_TEXTURE + 1, 1, "at most 8192 each way");
    memset(mask, 255, sizeof mask);
    path = WriteMask(context, "full", mask);
    prepared = Prepare(context, path, 200, report);
    CHECK(Noted(report, "whole rectangle"));
    // the outline may be smoothed by a pixel: half of one all around is 2 % of the area
    CHECK_NEAR(snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared)).volume, 0.01, 2e-4);
    snwPrepared_Release(prepared);
    FILE* file = fopen(path, "r+");
    CHECK(file != NULL && fseek(file, 60, SEEK_SET) == 0 && fputs("garbage in the middle", file) >= 0);
    if (file != NULL)
        fclose(file);
    CHECK_INT(snwPrepareFile(context, path, &def, &prepared, NULL, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "PNG");
    free(report);
    snwDestroyContext(context);
}

TEST(picture, thinAndRaggedPicturesStillBecomeASheet)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint8_t mask[snw_side * snw_side] = {0};
    for (int j = 2; j < 50; ++j) // a comb of teeth one pixel wide, one apart
        for (int i = 2; i < 50; ++i)
            mask[j * snw_side + i] = j < 8 || i % 2 == 0 ? 255 : 0;
    WriteSidecar("comb", "{'sinew': 1, 'margin': 0, 'tolerance': 2}");
    snwPrepared* prepared = Prepare(context, WriteMask(context, "comb", mask), 50, NULL);
    CHECK(snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared)).triangleCount > 46); // two for each tooth
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

TEST(picture, theSamePictureGivesTheSameBytesForAnyThreads) // Labels: threads
{
    uint8_t mask[snw_side * snw_side] = {0};
    void* blocks[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    snwContext* contexts[2];
    AddDisc(mask, 40, 40, 30);
    AddDisc(mask, 70, 70, 20);
    for (int i = 0; i < 2; ++i)
    {
        snwContextDef def = snwDefaultContextDef();
        def.threadCount = i == 0 ? 1 : 3;
        CHECK_INT(snwCreateContext(&def, &contexts[i], NULL), snw_ok);
        snwPrepared* prepared = Prepare(contexts[i], WriteMask(contexts[i], "twice", mask), 300, NULL);
        CHECK_INT(snwPrepared_Save(prepared, &blocks[i], &sizes[i], NULL), snw_ok);
        snwPrepared* back = NULL;
        CHECK_INT(snwPrepared_Load(contexts[i], blocks[i], sizes[i], &back, NULL), snw_ok);
        CHECK_INT(snwCharacter_GetInfo(snwPrepared_GetCharacter(back)).triangleCount,
            snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared)).triangleCount);
        snwPrepared_Release(back);
        snwPrepared_Release(prepared);
    }
    CHECK(sizes[0] == sizes[1] && memcmp(blocks[0], blocks[1], sizes[0]) == 0);
    for (int i = 0; i < 2; ++i)
    {
        snwContext_Free(contexts[i], blocks[i]);
        snwDestroyContext(contexts[i]);
    }
}

TEST(picture, everyFailedAllocationIsAnErrorWithoutLeak)
{
    uint8_t mask[snw_side * snw_side] = {0};
    AddDisc(mask, 34, 48, 26);
    AddDisc(mask, 80, 48, 12);
    snwContext* first = snwFixture_Context(1, snw_simdAuto, NULL);
    const char* path = WriteMask(first, "memory-2d", mask);
    snwDestroyContext(first);
    for (long n = 1, step = 1;; n += step)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwPrepareDef def = snwDefaultPrepareDef();
        snwPrepared* prepared = NULL;
        def.elements = 60;
        counter.failAt = counter.allocations + n;
        snwResult result = snwPrepareFile(context, path, &def, &prepared, NULL, NULL);
        bool reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        step = 1 + counter.allocations / 9;
        snwPrepared_Release(prepared);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        if (!reached)
            break;
    }
}

TEST(picture, aClearPortraitKeepsColoursAndOpacity)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const uint8_t s_pixel[4] = {10, 200, 30, 128};
    const snwTexture texture = {1, 1, s_pixel};
    const float corners[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0}, uv[8] = {0};
    const int triangles[6] = {0, 1, 2, 0, 2, 3};
    snwMeshLook look = {.kind = snw_pictureSkin,
        .positions = corners,
        .vertexCount = 4,
        .triangles = triangles,
        .triangleCount = 2,
        .texcoords = uv,
        .texture = &texture,
        .flat = true};
    snwPortraitDef def = snwDefaultPortraitDef();
    snwImage image;
    def.meshes = &look;
    def.meshCount = 1;
    def.width = def.height = 40;
    def.azimuth = def.elevation = 0;
    def.style = snw_styleClear;
    CHECK_INT(snwDrawPortrait(context, &def, &image, NULL), snw_ok);
    CHECK(image.alpha != NULL);
    for (int k = 0; k < 3 && image.alpha != NULL; ++k)
        CHECK(abs(image.pixels[3 * (20 * 40 + 20) + k] - s_pixel[k]) <= 2);
    CHECK(image.alpha != NULL && abs(image.alpha[20 * 40 + 20] - 128) <= 1 && image.alpha[0] == 0);
    snwDestroyImage(context, &image);
    snwDestroyContext(context);
}
