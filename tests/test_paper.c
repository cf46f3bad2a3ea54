// Flat characters in scenes: gestures, films before a wall, handles that are drawn, finer skins, and the scenes of
// Table 1 of Wu and Umetani.

#include "fixture.h"
#include "test.h"

#include "asset/export.h"
#include "asset/fine_skin.h"
#include "scene/blueprint_file.h"
#include "scene/gestures.h"
#include "math/transform.h"
#include "sim/character.h"
#include "view/film_flat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ' for "
static snwResult Parse(snwContext* context, const char* text, bool painted, snwSceneFile* file, snwMessage* message)
{
    char* copy = malloc(strlen(text) + 1);
    for (size_t i = 0; i <= strlen(text); ++i)
        copy[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    if (!painted)
    {
        char* plain = snwFixture_Unpainted(copy);
        free(copy);
        copy = plain;
    }
    snwResult result = snwSceneFile_Parse(context, copy, strlen(copy), "paper.json", NULL, file, message);
    free(copy);
    return result;
}

#define SHEET                                                                                                          \
    "'sinew': 1, 'method': 'rigpbd', 'rate': 60, 'gravity': [0, -10, 0], 'duration': 1,"                               \
    "'bodies': [{'name': 'star', 'character': {'blueprint': 'starfish'}, 'position': [1, 2, 0]}]"

static const snwSceneDef* OpenAs(snwContext* context, const char* text, bool painted, snwSceneFile* file)
{
    snwMessage message = {0};
    if (Parse(context, text, painted, file, &message) < 0)
    {
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
        exit(1);
    }
    return snwScene_GetDef(file->scene);
}

static const snwSceneDef* Open(snwContext* context, const char* text, snwSceneFile* file)
{
    return OpenAs(context, text, false, file);
}

// ---------------------------------------------------------------------------------------------------------------------
// Gestures

TEST(paper, pathsBecomeACommandPerStep)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneFile file;
    const snwSceneDef* def = Open(context,
        "{" SHEET ", 'gestures': [{'kind': 'path', 'body': 'star', 'handle': 'arm_1', 'start': 0.5, 'duration': 0.5,"
        "'points': [[0, 0], [0.4, 0.1], [0.2, 0.3, 0.1]], 'turns': [0, 30, 90], 'release': true}]}",
        &file);
    const snwVec3 home = {1, 2.46, 0};
    CHECK_INT(def->commandCount, 31);
    for (int i = 0; i < 30; ++i)
    {
        const snwCommand* command = &def->commands[i];
        CHECK_INT(command->kind, snw_commandHandle);
        CHECK_INT((int)command->step, 30 + i);
        CHECK_INT((int)command->mask, snw_dofX | snw_dofY | snw_dofZ | snw_dofRotationZ);
    }
    // half of the time leads to the second point, all of it to the third
    const snwTransform *half = &def->commands[14].transform, *end = &def->commands[29].transform;
    CHECK_NEAR(half->position.x, home.x + 0.4, 1e-12);
    CHECK_NEAR(half->position.y, home.y + 0.1, 1e-12);
    CHECK_NEAR(2 * asin(half->rotation.z), 30 * SNW_PI / 180, 1e-12);
    CHECK_NEAR(end->position.x, home.x + 0.2, 1e-12);
    CHECK_NEAR(end->position.z, 0.1, 1e-12);
    CHECK_NEAR(2 * asin(end->rotation.z), SNW_PI / 2, 1e-12);
    // no jumps on the way
    for (int i = 1; i < 30; ++i)
        CHECK(snwVec3_Distance(def->commands[i].transform.position, def->commands[i - 1].transform.position) < 0.05);
    CHECK_INT((int)def->commands[30].step, 60);
    CHECK_INT((int)def->commands[30].mask, 0);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

// Scenes sort their script by step: those of one kind and handle, in their order.
static int Pick(const snwSceneDef* def, snwCommandKind kind, int index, const snwCommand** picked)
{
    int count = 0;
    for (int i = 0; i < def->commandCount; ++i)
        if (def->commands[i].kind == kind && (kind == snw_commandGravity || def->commands[i].index == index))
            picked[count++] = &def->commands[i];
    return count;
}

TEST(paper, locksShakesAndGravityBecomeCommands)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneFile file;
    const snwCommand* picked[128];
    const snwSceneDef* def = Open(context,
        "{" SHEET ", 'gestures': [{'kind': 'lock', 'body': 'star', 'handle': 'middle', 'given': ['y'], 'offset': [0, "
        "0.2, 0]}, {'kind': 'unlock', 'body': 'star', 'handle': 'middle', 'start': 0.5},"
        "{'kind': 'gravity', 'start': 0.1, 'duration': 0.8, 'period': 0.4},"
        "{'kind': 'shake', 'body': 'star', 'handle': 1, 'duration': 1, 'amplitude': [0.1, 0, 0], 'frequency': 2.5}]}",
        &file);
    CHECK_INT(def->commandCount, 2 + 5 + 60);
    CHECK_INT(Pick(def, snw_commandHandle, 0, picked), 2);
    CHECK_INT((int)picked[0]->mask, snw_dofY);
    CHECK_NEAR(picked[0]->transform.position.y, 2.2, 1e-12);
    CHECK(picked[1]->mask == 0 && picked[1]->step == 30);
    CHECK_INT(Pick(def, snw_commandGravity, 0, picked), 5);
    for (int i = 0; i < 4; ++i)
    {
        CHECK_INT((int)picked[i]->step, 6 + 12 * i);
        CHECK_NEAR(picked[i]->vector.y, i % 2 == 0 ? -10 : 10, 1e-12);
    }
    CHECK(picked[4]->vector.y == -10 && picked[4]->step == 54);
    CHECK_INT(Pick(def, snw_commandHandle, 1, picked), 60);
    double most = 0, least = 0;
    for (int i = 0; i < 60; ++i)
    {
        most = fmax(most, picked[i]->transform.position.x - 1);
        least = fmin(least, picked[i]->transform.position.x - 1);
        CHECK_INT((int)picked[i]->mask, snw_dofX | snw_dofY | snw_dofZ);
    }
    CHECK(most > 0.095 && most < 0.1 + 1e-9 && least < -0.095 && least > -0.1 - 1e-9);
    CHECK_NEAR(picked[59]->transform.position.x, 1, 1e-9); // and back
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

// An unsteady hand is the same one each time, and another with another seed.
TEST(paper, roughHandsAreRepeatable)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    double x[3][30];
    for (int run = 0; run < 3; ++run)
    {
        snwSceneFile file;
        char text[600];
        snprintf(text, sizeof text,
            "{" SHEET ", 'seed': %d, 'gestures': [{'kind': 'path', 'body': 'star', 'handle': 'arm_1', 'duration': 0.5,"
            "'points': [[0, 0]], 'rough': 0.03}]}",
            run == 2 ? 5 : 4);
        const snwSceneDef* def = Open(context, text, &file);
        for (int i = 0; i < 30; ++i)
        {
            x[run][i] = def->commands[i].transform.position.x - 1;
            CHECK(fabs(x[run][i]) <= 0.03);
        }
        snwSceneFile_Close(&file);
    }
    CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0 && memcmp(x[0], x[2], sizeof x[0]) != 0);
    snwDestroyContext(context);
}

TEST(paper, mistakesInGesturesAreNamed)
{
    static const struct
    {
        const char *gesture, *place, *words;
    } s_cases[] = {
        {"{'kind': 'path', 'body': 'star', 'handle': 'arm_9', 'duration': 1, 'points': [[0, 0]]}", "gestures[0].handle",
            "arm_9"},
        {"{'kind': 'path', 'body': 'stork', 'handle': 'arm_1', 'duration': 1, 'points': [[0, 0]]}", "gestures[0].body",
            "stork"},
        {"{'kind': 'path', 'body': 'star', 'handle': 'arm_1', 'duration': 1, 'points': [[0, 0], [1]]}",
            "gestures[0].points[1]", "two or three"},
        {"{'kind': 'path', 'body': 'star', 'handle': 'arm_1', 'duration': 1, 'points': [[0, 0]], 'turns': [1, 2]}",
            "gestures[0].turns", "one per point"},
        {"{'kind': 'shake', 'body': 'star', 'handle': 'arm_1'}", "gestures[0]", "duration"},
        {"{'kind': 'path', 'body': 'star', 'handle': 'arm_1', 'duration': 5000, 'points': [[0, 0]]}", "gestures[0]",
            "commands"},
        {"{'kind': 'wave'}", "gestures[0].kind", "wave"},
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneFile file;
    const snwSceneDef* def = Open(context, "{" SHEET "}", &file);
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases; ++i)
    {
        snwSceneDef copy = *def;
        snwArena arena = {.context = context};
        snwMessage message = {0};
        snwJson json = {.context = context, .message = &message, .file = "paper.json"};
        char text[400];
        snprintf(text, sizeof text, "[%s]", s_cases[i].gesture);
        for (char* c = text; *c != 0; ++c)
            *c = (char)(*c == '\'' ? '"' : *c);
        json_t* list = json_loads(text, 0, NULL);
        CHECK_INT(snwGestures_Read(&json, list, &arena, &copy), snw_errorInput);
        CHECK_CONTAINS(message.place, s_cases[i].place);
        CHECK_CONTAINS(message.text, s_cases[i].words);
        json_decref(list);
        snwArena_Free(&arena);
    }
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Films

typedef struct Stage
{
    snwSceneFile file;
    snwSim* sim;
    snwFilm* film;
} Stage;

static Stage Show(snwContext* context, const char* text, bool painted, const snwFilmDef* def, int steps)
{
    Stage stage = {0};
    snwSimDef simDef = snwDefaultSimDef();
    OpenAs(context, text, painted, &stage.file);
    simDef.scene = stage.file.scene;
    CHECK_INT(snwCreateSim(context, &simDef, &stage.sim, NULL), snw_ok);
    CHECK_INT(snwCreateFilm(context, def, stage.file.scene, &stage.film, NULL), snw_ok);
    for (int i = 0; i < steps; ++i)
        CHECK_INT(snwSim_Step(stage.sim, 1.0 / 60, NULL), snw_ok);
    CHECK_INT(snwFilm_AddFrame(stage.film, stage.sim, NULL), snw_ok);
    CHECK_INT(snwFilm_SetUp(stage.film, NULL), snw_ok);
    CHECK_INT(snwFilm_Draw(stage.film, 0, 1, NULL), snw_ok);
    return stage;
}

static void EndShow(Stage* stage)
{
    snwDestroyFilm(stage->film);
    snwDestroySim(stage->sim);
    snwSceneFile_Close(&stage->file);
}

// The pixel where a place in the plane of the figures is seen.
static const uint8_t* PixelAt(const snwFilm* film, double x, double y)
{
    const snwCamera* camera = &film->camera;
    double depth = (double)camera->position.z;
    int i = (int)(film->image.width * (0.5 + (x - (double)camera->position.x) / depth / (double)camera->tanX / 2));
    int j = (int)(film->image.height * (0.5 - (y - (double)camera->position.y) / depth / (double)camera->tanY / 2));
    return film->image.pixels + 3 * ((size_t)j * (size_t)film->image.width + (size_t)i);
}

static int Brightness(const uint8_t* pixel)
{
    return (pixel[0] + pixel[1] + pixel[2]) / 3;
}

static snwFilmDef SmallFilm(void)
{
    snwFilmDef def = snwDefaultFilmDef();
    def.width = 160;
    def.height = 90;
    return def;
}

TEST(paper, figuresStandBeforeAWallAsTheyArePainted)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFilmDef def = SmallFilm();
    Stage stage = Show(context,
        "{" SHEET ", 'colliders': [{'name': 'ground', 'kind': 'plane', 'position': [0, 1.2, 0]},"
        "{'name': 'ball', 'kind': 'sphere', 'radius': 0.2, 'position': [1.9, 2, 0]}]}",
        true, &def, 0);
    const snwFilm* film = stage.film;
    const snwCharacterDef* star = film->bodies[0].character;
    CHECK(film->flat);
    // straight from the front
    CHECK_NEAR((double)film->camera.forward.z, -1, 1e-6);
    // the middle of the star in the colour of its picture there, unlit
    const uint8_t *own = PixelAt(film, 1, 2.3), *wall = PixelAt(film, 0.35, 2.45);
    int u = star->texture.width / 2, v = 0;
    double least = 1e9;
    for (int i = 0; i < star->vertexCount; ++i)
        if (hypot(star->vertices[i].x, star->vertices[i].y - 0.3) < least)
        {
            least = hypot(star->vertices[i].x, star->vertices[i].y - 0.3);
            u = (int)(star->texcoords[i][0] * (float)star->texture.width);
            v = (int)(star->texcoords[i][1] * (float)star->texture.height);
        }
    const uint8_t* painted = star->texture.pixels + 4 * ((size_t)v * (size_t)star->texture.width + (size_t)u);
    for (int k = 0; k < 3; ++k)
        CHECK(abs(own[k] - painted[k]) < 40);
    CHECK(Brightness(wall) > 190);
    // colliders are cut out of paper, too
    CHECK(Brightness(PixelAt(film, 1, 1.15)) < Brightness(wall) - 25);
    CHECK(Brightness(PixelAt(film, 1.9, 2)) < Brightness(wall) - 60);
    EndShow(&stage);
    snwDestroyContext(context);
}

TEST(paper, handlesAreFilledWhereGivenAndHollowWhereFree)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFilmDef def = SmallFilm();
    def.show = snw_showHandles;
    def.width = 400;
    def.height = 225;
    Stage stage = Show(context,
        "{" SHEET ", 'gestures': [{'kind': 'lock', 'body': 'star', 'handle': 'arm_2'},"
        "{'kind': 'lock', 'body': 'star', 'handle': 'arm_5'}, {'kind': 'unlock', 'body': 'star', 'handle': 'arm_5', "
        "'start': 0.05},"
        "{'kind': 'lock', 'body': 'star', 'handle': 'middle', 'given': ['y']}]}",
        false, &def, 5);
    const snwFilm* film = stage.film;
    const snwFilmFrame* frame = &film->frames.data[0];
    const snwCharacterDef* star = film->bodies[0].character;
    int shade[6];
    for (int i = 0; i < 6; ++i)
    {
        snwVec3 at = snwTransform_Apply(frame->handles[i], star->handles[i].position);
        shade[i] = Brightness(PixelAt(film, at.x, at.y));
    }
    CHECK_INT((int)frame->given[0], snw_dofY);
    CHECK_INT((int)frame->given[2], snw_dofAll);
    CHECK_INT((int)frame->given[5], 0);
    CHECK(shade[2] < 80);                                        // given
    CHECK(shade[1] > 180 && shade[3] > 180 && shade[5] > 180);   // free, and let go
    CHECK(shade[0] > shade[2] + 40 && shade[0] < shade[1] - 20); // by half
    EndShow(&stage);
    snwDestroyContext(context);
}

// The pixel where a place in the world is seen.
static const uint8_t* PixelOf(const snwFilm* film, snwVec3 p)
{
    const snwCamera* camera = &film->camera;
    snwFloat3 to = snwFloat3_Sub(snwFloat3_FromVec3(p), camera->position);
    float depth = snwFloat3_Dot(to, camera->forward);
    float u = snwFloat3_Dot(to, camera->right) / (depth * camera->tanX);
    float v = snwFloat3_Dot(to, camera->up) / (depth * camera->tanY);
    int i = (int)((float)film->image.width * (0.5f + 0.5f * u));
    int j = (int)((float)film->image.height * (0.5f - 0.5f * v));
    return film->image.pixels + 3 * ((size_t)j * (size_t)film->image.width + (size_t)i);
}

// Inside of flesh, and with a third coordinate: x and y alone are not all of a place in space.
TEST_HEAVY(paper, handlesAreSeenThroughFlesh)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFilmDef def = SmallFilm();
    def.show = snw_showHandles;
    def.width = 400;
    def.height = 225;
    Stage stage = Show(context,
        "{'sinew': 1, 'method': 'rigpbd', 'rate': 60, 'gravity': [0, 0, 0], 'duration': 1, 'bodies': [{'name': 'block',"
        "'character': {'blueprint': {'sinew': 1, 'name': 'block', 'size': {'tets': 500}, 'color': '#d02020', 'parts':"
        "[{'name': 'ball', 'kind': 'ellipsoid', 'at': [0, 0, 0], 'radii': [0.5, 0.5, 0.5]}], 'handles': ["
        "{'name': 'free', 'kind': 'point', 'at': [0.3, 0, 0]}, {'name': 'given', 'kind': 'point', 'at': [-0.3, 0, 0]},"
        "{'name': 'partly', 'kind': 'point', 'at': [0, 0.3, 0]}, {'name': 'corner', 'kind': 'cage', 'at': [0, -0.8, "
        "0]},"
        "{'name': 'far', 'kind': 'cage', 'at': [0.5, -0.8, 0]}]}}}],"
        "'gestures': [{'kind': 'lock', 'body': 'block', 'handle': 'given'},"
        "{'kind': 'lock', 'body': 'block', 'handle': 'partly', 'given': ['x', 'y']}]}",
        false, &def, 2);
    const snwFilm* film = stage.film;
    const snwCharacterDef* block = film->bodies[0].character;
    int shade[5];
    for (int i = 0; i < 5; ++i)
        shade[i] = Brightness(
            PixelOf(film, snwTransform_Apply(film->frames.data[0].handles[i], block->handles[i].position)));
    CHECK(!film->flat);
    CHECK(shade[0] > 220 && shade[3] > 220);                     // free
    CHECK(shade[1] < 60);                                        // given
    CHECK(shade[2] > shade[1] + 40 && shade[2] < shade[0] - 20); // without z
    // nobody knows which corners of a cage in space belong together, so there is no line between them
    snwVec3 between = snwVec3_Lerp(block->handles[3].position, block->handles[4].position, 0.5);
    CHECK(abs(Brightness(PixelOf(film, between)) - Brightness(PixelOf(film, (snwVec3){-0.25, -0.8, 0}))) < 25);
    EndShow(&stage);
    snwDestroyContext(context);
}

// The lines of its triangles, in the place of its picture; and those of a finer skin that was asked for.
TEST(paper, filmsOfElementsHaveTheirLines)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    int dark[2];
    for (int i = 0; i < 2; ++i)
    {
        snwFilmDef def = SmallFilm();
        def.width = 400;
        def.height = 225;
        def.look = i == 0 ? snw_filmSkin : snw_filmElements;
        Stage stage = Show(context, "{" SHEET "}", false, &def, 0);
        const snwImage* image = &stage.film->image;
        const snwPictureMesh* mesh = &stage.film->picture.meshes[stage.film->bodies[0].mesh];
        CHECK((mesh->edges != NULL) == (i == 1) && (i == 0 || mesh->texcoords == NULL));
        dark[i] = 0;
        for (int p = 0; p < image->width * image->height; ++p)
            dark[i] += Brightness(image->pixels + 3 * (size_t)p) < 125;
        EndShow(&stage);
    }
    CHECK(dark[1] > dark[0] + 300);
    snwDestroyContext(context);
}

TEST(paper, transparentFramesHaveNothingButTheFigure)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFilmDef def = SmallFilm();
    snwFilm* refused = NULL;
    char folder[512];
    snprintf(folder, sizeof folder, "%s/clear", snwTest_TempDir());
    def.transparent = true;
    snwSceneFile file;
    Open(context, "{" SHEET "}", &file);
    CHECK_INT(snwCreateFilm(context, &def, file.scene, &refused, NULL), snw_errorArgument); // frames must be kept
    snwSceneFile_Close(&file);
    def.keepFrames = true;
    def.directory = folder;
    def.overwrite = true;
    Stage stage = Show(context, "{" SHEET "}", false, &def, 0);
    const snwImage* image = &stage.film->image;
    CHECK(image->alpha != NULL);
    int clear = 0, full = 0, count = image->width * image->height;
    for (int i = 0; i < count && image->alpha != NULL; ++i)
    {
        clear += image->alpha[i] == 0;
        full += image->alpha[i] == 255;
    }
    CHECK(clear > count / 2 && full > count / 20);
    EndShow(&stage);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Finer skins

TEST(paper, finerSkinsFollowTheHandlesSmoothly)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneFile file;
    const snwSceneDef* def = Open(context,
        "{'sinew': 1, 'method': 'rigpbd', 'bodies': [{'name': 'worm', 'character': {'blueprint': 'worm',"
        "'size': {'triangles': 120}, 'fine': 6}}]}",
        &file);
    const snwCharacterDef* coarse = snwCharacter_GetDef(def->bodies[0].character);
    snwFineSkin* skin = NULL;
    CHECK_INT(snwFineSkin_Wanted(coarse->source), 6);
    CHECK_INT(snwCreateFineSkin(context, coarse, 6, &skin, NULL), snw_ok);
    CHECK(abs(skin->triangleCount - 6 * coarse->triangleCount) < coarse->triangleCount);
    float* points = calloc(3 * (size_t)skin->pointCount, sizeof *points);
    // a rigid motion of all handles moves all points rigidly: weights sum to one
    double poses[5][12];
    for (int i = 0; i < 5; ++i)
    {
        const double turn[12] = {0, -1, 0, 0.5, 1, 0, 0, -0.25, 0, 0, 1, 0};
        memcpy(poses[i], turn, sizeof turn);
    }
    snwMatrices handles = {(const double(*)[12])poses, 5, sizeof poses[0]};
    snwFineSkin_Move(skin, &handles, points);
    for (int i = 0; i < skin->pointCount; ++i)
    {
        CHECK_NEAR(points[3 * i], 0.5 - (double)skin->points[3 * i + 1], 1e-5);
        CHECK_NEAR(points[3 * i + 1], (double)skin->points[3 * i] - 0.25, 1e-5);
    }
    // one handle alone moves what is next to it, and nothing at the other end
    for (int i = 0; i < 5; ++i)
    {
        const double still[12] = {1, 0, 0, i == 4 ? 0.3 : 0, 0, 1, 0, 0, 0, 0, 1, 0};
        memcpy(poses[i], still, sizeof still);
    }
    snwFineSkin_Move(skin, &handles, points);
    double head = 0, tail = 0;
    for (int i = 0; i < skin->pointCount; ++i)
    {
        double moved = (double)points[3 * i] - (double)skin->points[3 * i];
        head = fmax(head, moved);
        if (skin->points[3 * i] < -0.4f)
            tail = fmax(tail, fabs(moved));
    }
    CHECK(head > 0.295 && tail < 0.01);
    // the picture lies on it as on the coarse one
    for (int i = 0; i < skin->pointCount; ++i)
        CHECK(skin->texcoords[2 * i] >= 0 && skin->texcoords[2 * i + 1] <= 1);
    double slope = ((double)coarse->texcoords[0][0] - (double)coarse->texcoords[1][0]) /
                   (coarse->vertices[0].x - coarse->vertices[1].x);
    CHECK_NEAR((double)skin->texcoords[0] - (double)coarse->texcoords[0][0],
        slope * ((double)skin->points[0] - coarse->vertices[0].x), 1e-3);
    free(points);
    snwDestroyFineSkin(context, skin);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

// A film shows the finer one, and its outline is rounder than that of the mesh under it.
TEST(paper, filmsShowTheFinerSkin)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFilmDef def = SmallFilm();
    Stage stage = Show(context,
        "{'sinew': 1, 'method': 'rigpbd', 'gravity': [0, 0, 0], 'bodies': [{'name': 'a', 'character': {'blueprint': "
        "'worm',"
        "'size': {'triangles': 90}}}, {'name': 'b', 'position': [0, 1, 0], 'character': {'blueprint': 'worm',"
        "'size': {'triangles': 90}, 'fine': 4}}], 'gestures': [{'kind': 'path', 'body': 'b', 'handle': 'head',"
        "'duration': 0.1, 'points': [[0, 0], [0.1, 0]]}]}",
        false, &def, 6);
    const snwFilm* film = stage.film;
    CHECK(film->bodies[0].surface == NULL && film->bodies[1].surface != NULL);
    CHECK(film->bodies[1].triangleCount > 3 * film->bodies[0].triangleCount);
    // it is where its body is, moved by the hand
    double most = -1;
    for (int i = 0; i < film->bodies[1].vertexCount; ++i)
    {
        const float* p = film->frames.data[0].positions + film->bodies[1].first + 3 * (size_t)i;
        most = fmax(most, (double)p[0]);
        CHECK(p[1] > 0.5f && p[1] < 1.6f);
    }
    CHECK(most > 0.62 && most < 0.72);
    EndShow(&stage);
    snwDestroyContext(context);
}

// Reads the points of an OBJ file; returns how many there are, and of triangles and texture coordinates.
static int ReadObj(const char* path, float (*points)[3], int capacity, int* triangles, int* texcoords)
{
    FILE* file = fopen(path, "r");
    char line[256];
    int count = 0;
    *triangles = *texcoords = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
    {
        float* p = points[count < capacity ? count : 0];
        count += sscanf(line, "v %f %f %f", &p[0], &p[1], &p[2]) == 3;
        *triangles += strncmp(line, "f ", 2) == 0;
        *texcoords += strncmp(line, "vt ", 3) == 0;
    }
    if (file != NULL)
        fclose(file);
    return count;
}

TEST(paper, exportsHaveTheFinerSkin)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneFile file;
    const snwSceneDef* scene = Open(context,
        "{'sinew': 1, 'method': 'rigpbd', 'bodies': [{'name': 'worm', 'character': {'blueprint': 'worm',"
        "'size': {'triangles': 90}, 'fine': 4}}], 'gestures': [{'kind': 'path', 'body': 'worm', 'handle': 'head',"
        "'duration': 0.1, 'points': [[0, 0], [0.1, 0]]}]}",
        &file);
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    simDef.scene = file.scene;
    CHECK_INT(snwCreateSim(context, &simDef, &sim, NULL), snw_ok);
    snwFixture_Run(sim, 5, 1.0 / 60);
    char path[512], obj[600];
    snprintf(path, sizeof path, "%s/fine", snwTest_TempDir());
    snprintf(obj, sizeof obj, "%s-00000.obj", path);
    snwExportDef def = snwDefaultExportDef(snw_exportObj);
    def.path = path;
    snwExporter* exporter = NULL;
    CHECK_INT(snwExporter_Open(context, &def, file.scene, &exporter, NULL), snw_ok);
    CHECK_INT(snwExporter_AddFrame(exporter, sim, NULL), snw_ok);
    CHECK_INT(snwExporter_Finish(exporter, NULL), snw_ok);
    snwFineSkin* skin = NULL;
    snwMatrices handles;
    CHECK_INT(snwCreateFineSkin(context, snwCharacter_GetDef(scene->bodies[0].character), 4, &skin, NULL), snw_ok);
    CHECK_INT(snwSim_GetHandleMatrices(sim, 0, &handles), snw_ok);
    float* points = calloc(3 * (size_t)skin->pointCount, sizeof *points);
    float(*read)[3] = calloc((size_t)skin->pointCount, sizeof *read);
    int triangles, texcoords;
    snwFineSkin_Move(skin, &handles, points);
    CHECK_INT(ReadObj(obj, read, skin->pointCount, &triangles, &texcoords), skin->pointCount);
    CHECK_INT(triangles, skin->triangleCount);
    CHECK_INT(texcoords, skin->pointCount);
    CHECK(memcmp(read, points, 3 * (size_t)skin->pointCount * sizeof *points) == 0);
    free(read), free(points);
    snwDestroyFineSkin(context, skin);
    snwDestroySim(sim);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The scenes of Table 1

TEST(paper, scenesHaveTheSizesOfTableOne)
{
    static const struct
    {
        const char* name;
        int vertices, triangles, handles;
        bool open; // its scene, too: meshing all of them takes seconds
    } s_rows[] = {{"ghost", 430, 748, 10, true}, {"starfish", 273, 445, 6, false}, {"worm", 839, 1536, 5, true},
        {"ellipse", 1934, 3727, 12, false}, {"mushroom", 1905, 3653, 5, false}, {"octopus-2d", 392, 640, 12, true},
        {"fish-2d", 1040, 1932, 4, false}, {"bunny", 2241, 4269, 8, false}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof s_rows / sizeof *s_rows; ++i)
    {
        char path[512];
        snwBlueprintFile blueprint;
        snwSceneFile file;
        snwMessage message = {0};
        CHECK_INT(snwBlueprintFile_Open(context, s_rows[i].name, &blueprint, NULL), snw_ok);
        CHECK_INT(blueprint.blueprint.size.vertices, s_rows[i].vertices);
        CHECK_INT(blueprint.blueprint.size.triangles, s_rows[i].triangles);
        CHECK_INT(blueprint.blueprint.handleCount, s_rows[i].handles);
        snwBlueprintFile_Free(&blueprint);
        snprintf(path, sizeof path, "%s/scenes/rig-%s.json", SNW_SOURCE_DIR, s_rows[i].name);
        CHECK(access(path, R_OK) == 0);
        if (!s_rows[i].open)
            continue;
        if (snwSceneFile_Open(context, path, NULL, &file, &message) < 0)
        {
            snwTest_Fail(__FILE__, __LINE__, "%s: %s: %s", path, message.place, message.text);
            continue;
        }
        const snwSceneDef* def = snwScene_GetDef(file.scene);
        snwCharacterInfo info = snwCharacter_GetInfo(def->bodies[0].character);
        CHECK_NEAR(info.vertexCount, s_rows[i].vertices, 0.02 * s_rows[i].vertices);
        CHECK_NEAR(info.triangleCount, s_rows[i].triangles, 0.01 * s_rows[i].triangles);
        CHECK(strcmp(def->method, "rigpbd") == 0 && def->commandCount > 0);
        snwSceneFile_Close(&file);
    }
    snwDestroyContext(context);
}
