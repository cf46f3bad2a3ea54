// Films: colours, looks, overlays, the turntable, and the inspector that looks at the frames.

#include "test.h"

#include "fixture.h"
#include "geom/mesh.h"
#include "math/transform.h"
#include "process.h"
#include "scene/blueprint_file.h"
#include "view/film.h"
#include "view/focus.h"
#include "view/ramp.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SINEW    SNW_BINARY_DIR "/sinew"
#define RUN(...) snwProcess_Run((const char* const[]){SINEW, __VA_ARGS__, NULL})

enum
{
    width = 128,
    height = 72
};

// ---------------------------------------------------------------------------------------------------------------------
// A set: a block that is red on its left and blue on its right, with a bone along it, over the ground

typedef struct Set
{
    snwContext* context;
    snwScene* scene;
    snwSim* sim;
    snwFilm* film;
    snwMessage message;
} Set;

typedef struct SetDef
{
    bool colored, textured, bone, pinned, falls;
    double height; // m, of its lower side
    snwVec3 place; // m, of all that
} SetDef;

static const uint8_t s_texture[16] = {10, 200, 20, 255, 10, 200, 20, 255, 10, 200, 20, 255, 10, 200, 20, 255};

// Two materials: the right half is ten times as stiff.
static snwResult MakeCharacter(Set* set, const SetDef* setDef, snwCharacter** character)
{
    snwCharacter* block = snwFixture_Shape(set->context, snw_shapeBlock, 4);
    snwCharacterDef def = *snwCharacter_GetDef(block);
    float(*colors)[3] = calloc((size_t)def.vertexCount, sizeof *colors);
    float(*texcoords)[2] = calloc((size_t)def.vertexCount, sizeof *texcoords);
    int* regions = calloc((size_t)def.tetCount, sizeof *regions);
    for (int v = 0; v < def.vertexCount; ++v)
        colors[v][def.vertices[v].x < 0 ? 0 : 2] = 0.8f;
    for (int t = 0; t < def.tetCount; ++t)
        for (int i = 0; i < 4; ++i)
            regions[t] |= def.vertices[def.tets[t][i]].x > 1e-6;
    snwMaterial materials[2] = {snwDefaultMaterial(), snwDefaultMaterial()};
    materials[1].young *= 10;
    snwBoneDef bone = snwDefaultBoneDef();
    bone.name = "bone";
    bone.head = (snwVec3){-0.4, 0, 0};
    bone.tail = (snwVec3){0.4, 0, 0};
    bone.radius = 0.08;
    snwJointDef joint = snwDefaultJointDef();
    joint.parentBone = -1;
    joint.bone = 0;
    def.colors = setDef->colored ? (const float(*)[3])colors : NULL;
    def.texcoords = setDef->textured ? (const float(*)[2])texcoords : NULL;
    if (setDef->textured)
        def.texture = (snwTexture){2, 2, s_texture};
    def.regions = regions;
    def.materials = materials;
    def.materialCount = 2;
    def.bones = &bone;
    def.boneCount = setDef->bone;
    def.joints = &joint;
    def.jointCount = setDef->bone;
    snwResult result = snwCreateCharacter(set->context, &def, character, &set->message);
    free(colors);
    free(texcoords);
    free(regions);
    snwCharacter_Release(block);
    return result;
}

static snwResult MakeScene(Set* set, const SetDef* setDef, snwCharacter* character)
{
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    snwBodyDef body = snwDefaultBodyDef();
    body.character = character;
    body.transform.position.y = setDef->height - info.lower.y;
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderPlane);
    body.transform.position = snwVec3_Add(body.transform.position, setDef->place);
    ground.transform.position = setDef->place;
    snwPinDef pin = snwDefaultPinDef();
    pin.lower = (snwVec3){info.lower.x - 1e-6, -1e3, -1e3};
    pin.upper = (snwVec3){info.lower.x + 1e-6, 1e3, 1e3};
    snwSceneDef def = snwDefaultSceneDef();
    def.method = "pbd";
    def.rate = 60;
    def.gravity.y = setDef->falls ? -9.81 : 0;
    def.bodies = &body, def.bodyCount = 1;
    def.colliders = &ground, def.colliderCount = 1;
    def.pins = &pin, def.pinCount = setDef->pinned;
    return snwCreateScene(set->context, &def, &set->scene, &set->message);
}

static Set MakeSet(snwContext* context, const SetDef* setDef)
{
    Set set = {.context = context};
    snwCharacter* character = NULL;
    snwResult result = MakeCharacter(&set, setDef, &character);
    if (result >= 0)
        result = MakeScene(&set, setDef, character);
    snwSimDef def = snwDefaultSimDef();
    def.scene = set.scene;
    if (result >= 0)
        result = snwCreateSim(context, &def, &set.sim, &set.message);
    if (character != NULL)
        snwCharacter_Release(character);
    if (result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", set.message.text);
    return set;
}

static void FreeSet(Set* set)
{
    snwDestroyFilm(set->film);
    snwDestroySim(set->sim);
    snwScene_Release(set->scene);
}

static snwFilmDef SmallFilm(void)
{
    snwFilmDef def = snwDefaultFilmDef();
    def.width = width;
    def.height = height;
    def.samples = 4;
    def.overwrite = true;
    return def;
}

// Films a number of frames, ready to be drawn.
static snwResult Shoot(Set* set, const snwFilmDef* def, int frames)
{
    snwResult result = snwCreateFilm(set->context, def, set->scene, &set->film, &set->message);
    for (int i = 0; i < frames && result >= 0; ++i)
    {
        result = snwFilm_AddFrame(set->film, set->sim, &set->message);
        for (int k = 0; k < 2 && result >= 0; ++k) // the film has half the frames of the run
            result = snwSim_Step(set->sim, 1.0 / 60, &set->message);
    }
    return result;
}

// A frame as pixels that the film owns; NULL if it cannot be drawn.
static const uint8_t* DrawFrame(Set* set, int frame)
{
    snwResult result = set->film->renderer == NULL ? snwFilm_SetUp(set->film, &set->message) : snw_ok;
    if (result >= 0)
        result = snwFilm_Draw(set->film, frame, set->film->def.samples, &set->message);
    if (result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", set->message.text);
    return result >= 0 ? set->film->image.pixels : NULL;
}

static const uint8_t* PixelAt(const uint8_t* pixels, int x, int y)
{
    return pixels + 3 * (y * width + x);
}

// Pixels in which one channel is this much above both others.
static int CountColored(const uint8_t* pixels, int channel, int above, int left, int right)
{
    int count = 0;
    for (int y = 0; y < height; ++y)
        for (int x = left; x < right; ++x)
        {
            const uint8_t* p = PixelAt(pixels, x, y);
            count += p[channel] > p[(channel + 1) % 3] + above && p[channel] > p[(channel + 2) % 3] + above;
        }
    return count;
}

// ---------------------------------------------------------------------------------------------------------------------
// The character's own colours

TEST(film, vertexColorsAppear)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int colored = 0; colored < 2; ++colored)
    {
        Set set = MakeSet(context, &(SetDef){.colored = colored, .height = 0.1});
        snwFilmDef def = SmallFilm();
        REQUIRE(Shoot(&set, &def, 1) >= 0);
        const uint8_t* pixels = DrawFrame(&set, 0);
        REQUIRE(pixels != NULL);
        int blue = CountColored(pixels, 2, 60, 0, width);
        CHECK(colored ? blue > 150 : blue == 0);
        if (colored)
        {
            // The camera looks from the front and the right: red is to the left of blue.
            CHECK(CountColored(pixels, 0, 60, 0, width / 2) > 150);
            CHECK(CountColored(pixels, 0, 60, width * 2 / 3, width) == 0);
            CHECK(CountColored(pixels, 2, 60, 0, width / 3) == 0);
        }
        FreeSet(&set);
    }
    snwDestroyContext(context);
}

TEST(film, texturesAppear)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Set set = MakeSet(context, &(SetDef){.colored = true, .textured = true, .height = 0.1});
    snwFilmDef def = SmallFilm();
    REQUIRE(Shoot(&set, &def, 1) >= 0);
    const uint8_t* pixels = DrawFrame(&set, 0);
    REQUIRE(pixels != NULL);
    CHECK(CountColored(pixels, 1, 100, 0, width) > 400);
    CHECK(CountColored(pixels, 0, 60, 0, width) == 0);
    FreeSet(&set);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers as colours

// Lightness and the two axes of OKLab, the other way round than the ramp goes.
static void ToOklab(snwFloat3 c, double lab[3])
{
    double l = cbrt(0.4122214708 * c.x + 0.5363325363 * c.y + 0.0514459929 * c.z);
    double m = cbrt(0.2119034982 * c.x + 0.6806995451 * c.y + 0.1073969566 * c.z);
    double s = cbrt(0.0883024619 * c.x + 0.2817188376 * c.y + 0.6299787005 * c.z);
    lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
    lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
    lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

TEST(film, rampTakesEvenSteps)
{
    double least = 1e9, most = 0, before[3], now[3];
    ToOklab(snwRamp_Color(0), before);
    for (int i = 1; i <= 64; ++i)
    {
        snwFloat3 color = snwRamp_Color((float)i / 64);
        CHECK(color.x >= 0 && color.y >= 0 && color.z >= 0 && color.x <= 1 && color.y <= 1 && color.z <= 1);
        ToOklab(color, now);
        double step = sqrt(pow(now[0] - before[0], 2) + pow(now[1] - before[1], 2) + pow(now[2] - before[2], 2));
        CHECK(now[0] > before[0] + 0.005);
        least = fmin(least, step);
        most = fmax(most, step);
        memcpy(before, now, sizeof before);
    }
    CHECK(most < 1.35 * least);
    snwFloat3 first = snwRamp_Color(0), last = snwRamp_Color(1), low = snwRamp_Color(-3), high = snwRamp_Color(7);
    snwFloat3 odd = snwRamp_Color(NAN);
    CHECK(memcmp(&first, &low, sizeof low) == 0 && memcmp(&last, &high, sizeof high) == 0);
    CHECK(memcmp(&first, &odd, sizeof odd) == 0);
}

TEST(film, scalesRoundAndPlace)
{
    CHECK_NEAR(snwScale_RoundUp(0.013), 0.02, 1e-12);
    CHECK_NEAR(snwScale_RoundUp(5), 5, 1e-12);
    CHECK_NEAR(snwScale_RoundUp(51), 100, 1e-12);
    CHECK_NEAR(snwScale_RoundUp(NAN), 1, 0);
    snwScale linear = {"a", "m", 0, 4, false, false}, decades = {"b", "Pa", 1e3, 1e7, true, false};
    CHECK_NEAR(snwScale_Place(&linear, 1), 0.25, 1e-6);
    CHECK_NEAR(snwScale_Place(&linear, NAN), 0, 0);
    CHECK_NEAR(snwScale_Place(&linear, 9), 1, 0);
    CHECK_NEAR(snwScale_Place(&decades, 1e5), 0.5, 1e-6);
    CHECK_NEAR(snwScale_Place(&decades, 0), 0, 0);
}

// The ends of the legend's bar have the colours of the ramp's ends, and there is ink around it.
static void CheckLegend(const uint8_t* pixels)
{
    int first = 0, last = 0, ink = 0;
    snwImage patch = {.width = 2, .height = 1, .pixels = (uint8_t[6]){0}};
    snwImage_SetPixel(&patch, 0, 0, snwRamp_Color(0.02f));
    snwImage_SetPixel(&patch, 1, 0, snwRamp_Color(0.98f));
    for (int y = height * 2 / 3; y < height; ++y)
        for (int x = 0; x < width / 3; ++x)
        {
            const uint8_t* p = PixelAt(pixels, x, y);
            bool low = true, high = true;
            for (int k = 0; k < 3; ++k)
            {
                low = low && abs(p[k] - patch.pixels[k]) < 12;
                high = high && abs(p[k] - patch.pixels[3 + k]) < 12;
            }
            first += low;
            last += high;
            ink += p[0] < 110 && p[1] < 110 && p[2] < 110 && abs(p[0] - p[2]) < 30;
        }
    CHECK(first >= 3 && last >= 3);
    CHECK(ink > 10);
}

TEST(film, looksHaveALegend)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (snwFilmLook look = snw_filmStrain; look <= snw_filmStiffness; ++look)
    {
        Set set = MakeSet(context, &(SetDef){.height = 0, .falls = true});
        snwFilmDef def = SmallFilm();
        def.look = look;
        REQUIRE(Shoot(&set, &def, 6) >= 0);
        const uint8_t* pixels = DrawFrame(&set, 5);
        REQUIRE(pixels != NULL);
        CheckLegend(pixels);
        CHECK(set.film->scale.upper > set.film->scale.lower);
        FreeSet(&set);
    }
    snwDestroyContext(context);
}

TEST(film, valuesAreThoseOfTheSim)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (snwFilmLook look = snw_filmStrain; look <= snw_filmStiffness; ++look)
    {
        Set set = MakeSet(context, &(SetDef){.height = 0.5, .falls = true});
        snwFilmDef def = SmallFilm();
        def.look = look;
        REQUIRE(Shoot(&set, &def, 4) >= 0);
        float least = 1e30f, most = 0;
        for (size_t i = 0; i < set.film->floatCount / 3; ++i)
        {
            least = fminf(least, set.film->frames.data[3].values[i]);
            most = fmaxf(most, set.film->frames.data[3].values[i]);
        }
        // Six steps of free fall: every vertex has the same speed, nothing is stretched or touched.
        double speed = look == snw_filmSpeed ? 9.81 * 6 / 60 : 0;
        double young = look == snw_filmStiffness ? snwDefaultMaterial().young : 0;
        CHECK_NEAR(least, speed + young, 0.02 * (speed + young) + 1e-2);
        CHECK_NEAR(most, speed + 10 * young, 0.02 * (speed + 10 * young) + 1e-2);
        FreeSet(&set);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Overlays and bones

static void Project(const Set* set, snwFloat3 point, int at[2])
{
    const snwCamera* camera = &set->film->camera;
    snwFloat3 d = snwFloat3_Sub(point, camera->position);
    float depth = snwFloat3_Dot(d, camera->forward);
    at[0] = (int)((0.5f + 0.5f * snwFloat3_Dot(d, camera->right) / (depth * camera->tanX)) * width);
    at[1] = (int)((0.5f - 0.5f * snwFloat3_Dot(d, camera->up) / (depth * camera->tanY)) * height);
}

// Whether the film's picture differs from another one within reach of a point of the world.
static bool IsMarked(const Set* set, const uint8_t* other, snwFloat3 point, int reach)
{
    int at[2];
    Project(set, point, at);
    for (int y = at[1] - reach; y <= at[1] + reach; ++y)
        for (int x = at[0] - reach; x <= at[0] + reach; ++x)
        {
            bool inside = x >= 0 && y >= 0 && x < width && y < height;
            for (int k = 0; inside && k < 3; ++k)
                if (abs(PixelAt(set->film->image.pixels, x, y)[k] - PixelAt(other, x, y)[k]) > 10)
                    return true;
        }
    return false;
}

// The frame without its marks, which free() ends; then the frame is drawn whole again.
static uint8_t* DrawUnmarked(Set* set, int index)
{
    snwFilmFrame* frame = &set->film->frames.data[index];
    snwFilmFrame kept = *frame;
    frame->contactCount = frame->pinCount = 0;
    frame->load = 0;
    const uint8_t* pixels = DrawFrame(set, index);
    uint8_t* copy = calloc(1, 3 * width * height);
    if (pixels != NULL && copy != NULL)
        memcpy(copy, pixels, 3 * width * height);
    *frame = kept;
    DrawFrame(set, index);
    return copy;
}

TEST(film, contactsAreDrawnWhereTheyAre)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Set set = MakeSet(context, &(SetDef){.height = 0, .falls = true});
    snwFilmDef def = SmallFilm();
    def.show = snw_showContacts | snw_showPressure;
    REQUIRE(Shoot(&set, &def, 8) >= 0);
    uint8_t* plain = DrawUnmarked(&set, 7);
    REQUIRE(plain != NULL);
    const snwFilmFrame* frame = &set.film->frames.data[7];
    REQUIRE(frame->contactCount >= 9);
    int marked = 0;
    for (int i = 0; i < frame->contactCount; ++i)
    {
        marked += IsMarked(&set, plain, frame->contacts[i].position, 2);
        CHECK_NEAR(frame->contacts[i].position.y, 0, 0.02);
    }
    CHECK(marked >= frame->contactCount - 2);                       // one may be hidden behind another
    snwFloat3 far[] = {{0, 1.02f, 0}, {0.9f, 0, 0}, {-0.9f, 0, 0}}; // the top, and the ground beside it
    for (int i = 0; i < 3; ++i)
        CHECK(!IsMarked(&set, plain, far[i], 2));
    CHECK(IsMarked(&set, plain, frame->pressure, 1));
    free(plain);
    CHECK_NEAR(frame->pressure.x, 0, 0.05);
    CHECK_NEAR(frame->pressure.z, 0, 0.05);
    CHECK(frame->load > 0);
    FreeSet(&set);
    snwDestroyContext(context);
}

// Floats of the world are 0.25 mm apart there: the film has an origin of its own.
TEST(film, farFromHomeLooksTheSame)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const snwVec3 far = {3072, -2048, 1024};
    Set home = MakeSet(context, &(SetDef){.height = 0.05, .falls = true, .bone = true});
    Set away = MakeSet(context, &(SetDef){.height = 0.05, .falls = true, .bone = true, .place = far});
    snwFilmDef def = SmallFilm();
    def.show = snw_showContacts | snw_showJoints;
    REQUIRE(Shoot(&home, &def, 12) >= 0 && Shoot(&away, &def, 12) >= 0);
    CHECK_INT(home.film->frames.count, away.film->frames.count);
    int last = home.film->frames.count - 1;
    const snwFilmFrame *a = &home.film->frames.data[last], *b = &away.film->frames.data[last];
    for (size_t i = 0; i < home.film->floatCount; ++i)
        CHECK_NEAR(a->positions[i], b->positions[i], 1e-5);
    CHECK(snwVec3_Length(b->colliders[0].position) == 0);
    CHECK_NEAR(snwVec3_Distance(a->bones[0].position, b->bones[0].position), 0, 1e-5);
    CHECK(a->contactCount > 0);
    CHECK_NEAR(a->contacts[0].position.y, b->contacts[0].position.y, 1e-3);
    const uint8_t *one = DrawFrame(&home, last), *two = DrawFrame(&away, last);
    double apart = 0;
    for (int i = 0; i < 3 * width * height; ++i)
        apart += abs(one[i] - two[i]) / (3.0 * width * height);
    CHECK_NEAR(apart, 0, 0.3); // of 255
    FreeSet(&home);
    FreeSet(&away);
    snwDestroyContext(context);
}

TEST(film, pinsAreDrawnWhileTheyHold)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Set set = MakeSet(context, &(SetDef){.height = 0.5, .falls = true, .pinned = true});
    snwFilmDef def = SmallFilm();
    def.show = snw_showPins;
    REQUIRE(snwCreateFilm(context, &def, set.scene, &set.film, &set.message) >= 0);
    CHECK(snwFilm_AddFrame(set.film, set.sim, &set.message) >= 0);
    snwCommand release = snwDefaultCommand(snw_commandPin);
    release.body = -1;
    release.index = 0;
    release.on = false;
    CHECK(snwSim_Push(set.sim, &release, &set.message) >= 0);
    snwFixture_Run(set.sim, 2, 1.0 / 60);
    CHECK(snwFilm_AddFrame(set.film, set.sim, &set.message) >= 0);
    REQUIRE(set.film->frames.count == 2);
    CHECK_INT(set.film->frames.data[0].pinCount, 25);
    CHECK_INT(set.film->frames.data[1].pinCount, 0);
    uint8_t* plain = DrawUnmarked(&set, 0);
    REQUIRE(plain != NULL);
    int marked = 0;
    for (int i = 0; i < 25; ++i)
        marked += IsMarked(&set, plain, snwFloat3_Load(set.film->frames.data[0].pins + 3 * i), 1);
    CHECK(marked >= 5); // those along the edges that are seen
    CHECK(!IsMarked(&set, plain, (snwFloat3){0.5f, 1, 0}, 4));
    free(plain);
    FreeSet(&set);
    snwDestroyContext(context);
}

TEST(film, bonesFollowTheFlesh)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Set set = MakeSet(context, &(SetDef){.bone = true, .height = 0.1});
    const snwCharacterDef* def = snwCharacter_GetDef(snwScene_GetDef(set.scene)->bodies[0].character);
    snwTransform motion = {.position = {0.3, -0.2, 0.7}, .rotation = {0.5, 0.5, -0.5, 0.5}}, found;
    float* moved = calloc((size_t)def->vertexCount, 3 * sizeof *moved);
    for (int v = 0; v < def->vertexCount; ++v)
        snwFloat3_Store(snwFloat3_FromVec3(snwTransform_Apply(motion, def->vertices[v])), moved + 3 * v);
    snwVertices now = {.positions = moved, .count = def->vertexCount, .stride = 12};
    REQUIRE(snwFitBones(context, def, &now, &found, &set.message) == snw_ok);
    for (int i = 0; i < 2; ++i)
    {
        snwVec3 at = i == 0 ? def->bones[0].head : def->bones[0].tail;
        snwVec3 gap = snwVec3_Sub(snwTransform_Apply(motion, at), snwTransform_Apply(found, at));
        CHECK_NEAR(snwVec3_Length(gap), 0, 1e-5);
    }
    free(moved);

    snwFilmDef film = SmallFilm();
    film.look = snw_filmBones;
    REQUIRE(Shoot(&set, &film, 1) >= 0);
    snwSkin skin;
    REQUIRE(snwSim_GetSkin(set.sim, 0, &skin) >= 0);
    const uint8_t* pixels = DrawFrame(&set, 0);
    REQUIRE(pixels != NULL);
    uint8_t* bones = malloc(3 * width * height);
    memcpy(bones, pixels, 3 * width * height);
    set.film->frames.data[0].bones[0].position.y += 100; // out of sight
    pixels = DrawFrame(&set, 0);
    REQUIRE(pixels != NULL);
    int changed = 0;
    for (int i = 0; i < width * height; ++i)
        changed += abs(bones[3 * i] - pixels[3 * i]) > 10;
    CHECK(changed > 40);
    free(bones);
    FreeSet(&set);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The camera

TEST(film, turntableGoesRoundAndReturns)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Set set = MakeSet(context, &(SetDef){.colored = true, .height = 0.1});
    snwFilmDef def = SmallFilm();
    def.turntable = true;
    REQUIRE(Shoot(&set, &def, 9) >= 0);
    const uint8_t* pixels = DrawFrame(&set, 0);
    REQUIRE(pixels != NULL);
    uint8_t* first = malloc(3 * width * height);
    memcpy(first, pixels, 3 * width * height);
    int red = CountColored(first, 0, 60, 0, width / 2);
    CHECK(red > 80);
    for (int i = 1; i < 9; ++i) // always inside the picture
    {
        pixels = DrawFrame(&set, i);
        REQUIRE(pixels != NULL);
        snwSubject subject = snwRenderer_Subject(set.film->renderer);
        CHECK(subject.left > 4 && subject.right < width - 4 && subject.top > 2 && subject.bottom < height - 2);
        if (i == 4)
            CHECK(CountColored(pixels, 2, 60, 0, width / 2) > CountColored(pixels, 0, 60, 0, width / 2));
    }
    int changed = 0;
    for (int i = 0; i < 3 * width * height; ++i)
        changed += abs(first[i] - set.film->image.pixels[i]) > 8;
    CHECK(changed < 30);
    free(first);
    FreeSet(&set);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The inspector

typedef enum Scene
{
    sceneGood,
    sceneEmpty,
    sceneWhite,
    sceneFrozen,
    sceneTiny,
    sceneHuge,
} Scene;

// A dark square on light grey.
static void Paint(snwImage* image, Scene scene, int frame)
{
    memset(image->pixels, scene == sceneWhite ? 255 : 200, 3 * width * height);
    int size = scene == sceneTiny ? 12 : scene == sceneHuge ? 70 : scene == sceneEmpty ? 0 : 40;
    int wide = scene == sceneHuge ? 110 : size, left = 8 + (scene == sceneFrozen || scene == sceneTiny ? 0 : frame);
    for (int y = 1; y < 1 + size; ++y)
        memset(image->pixels + 3 * (y * width + left), 40, 3 * (size_t)wide);
}

static snwFilmCheck Inspect(snwContext* context, Scene scene)
{
    snwInspector inspector = {.context = context};
    snwImage image;
    snwMessage message;
    snwCreateImage(context, width, height, &image, &message);
    for (int i = 0; i < 5; ++i)
    {
        Paint(&image, scene, scene == sceneFrozen ? 0 : i);
        snwSubject subject = snwSubject_Guess(&image);
        CHECK(snwInspector_Add(&inspector, &image, &subject, &message) == snw_ok);
    }
    snwFilmCheck check = snwInspector_End(&inspector);
    snwInspector_Free(&inspector);
    snwDestroyImage(context, &image);
    return check;
}

TEST(film, inspectorFlagsBadFilms)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFilmCheck good = Inspect(context, sceneGood);
    char text[128];
    CHECK_INT(good.faults, 0);
    CHECK_INT(good.frames, 5);
    CHECK_NEAR(good.meanSubject, 40.0 * 40 / (width * height), 1e-9);
    CHECK_NEAR(good.fill, 44.0 * 40 / (width * height), 1e-9);
    CHECK_INT(snwFilmCheck_Format(&good, text, sizeof text), 0);
    CHECK((Inspect(context, sceneEmpty).faults & snw_faultEmpty) != 0);
    CHECK((Inspect(context, sceneWhite).faults & snw_faultBright) != 0);
    CHECK((Inspect(context, sceneHuge).faults & snw_faultLarge) != 0);
    CHECK((Inspect(context, sceneTiny).faults & snw_faultSmall) != 0);
    snwFilmCheck frozen = Inspect(context, sceneFrozen);
    CHECK_INT(frozen.faults, snw_faultStill);
    CHECK_INT(frozen.stillFrames, 4);
    CHECK(snwFilmCheck_Format(&frozen, text, sizeof text) > 0);
    CHECK_CONTAINS(text, "4 of 5 frames");
    snwDestroyContext(context);
}

// What the renderer knows is about what the picture alone tells; scenery is no subject.
TEST(film, subjectIsTheBody)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Set set = MakeSet(context, &(SetDef){.colored = true, .height = 0.1});
    snwFilmDef def = SmallFilm();
    REQUIRE(Shoot(&set, &def, 1) >= 0);
    REQUIRE(DrawFrame(&set, 0) != NULL);
    snwSubject known = snwRenderer_Subject(set.film->renderer), guess = snwSubject_Guess(&set.film->image);
    CHECK(known.share > 0.05 && known.share < 0.5);
    CHECK_NEAR(guess.share, known.share, 0.15); // of which the shadow is some
    CHECK(abs(guess.top - known.top) <= 2);
    set.film->picture.meshes[set.film->bodies[0].mesh].scenery = true;
    REQUIRE(DrawFrame(&set, 0) != NULL);
    known = snwRenderer_Subject(set.film->renderer);
    CHECK(known.share < 1e-6 && known.right == 0);
    FreeSet(&set);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static bool Exists(const char* folder, const char* name)
{
    char path[400];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &status) == 0;
}

TEST(film, sequenceIsComplete)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char folder[256], frames[300], name[32];
    snprintf(folder, sizeof folder, "%s/sequence", snwTest_TempDir());
    snprintf(frames, sizeof frames, "%s/frames", folder);
    for (int count = 8; count >= 5; count -= 3) // a shorter film does not keep the end of a longer one
    {
        Set set = MakeSet(context, &(SetDef){.colored = true, .height = 0.4, .falls = true});
        snwFilmDef def = SmallFilm();
        def.directory = folder;
        def.keepFrames = true;
        REQUIRE(Shoot(&set, &def, count) >= 0);
        REQUIRE(snwFilm_Finish(set.film, NULL, NULL, &set.message) == snw_ok);
        for (int i = 0; i < 10; ++i)
        {
            snprintf(name, sizeof name, "frame-%05d.png", i);
            CHECK(Exists(frames, name) == (i < count));
        }
        snwFilmCheck drawn = snwFilm_GetCheck(set.film), read;
        CHECK_INT(drawn.frames, count);
        CHECK_INT(drawn.faults, 0);
        CHECK(snwInspectFiles(context, frames, &read, &set.message) == snw_ok);
        CHECK_INT(read.frames, count);
        CHECK_INT(read.faults, 0);
        CHECK_INT(read.stillFrames, drawn.stillFrames);
        FreeSet(&set);
    }
    Set set = MakeSet(context, &(SetDef){.height = 0.4});
    snwFilmDef def = SmallFilm();
    def.directory = folder;
    def.keepFrames = true;
    def.overwrite = false;
    CHECK(Shoot(&set, &def, 1) == snw_errorIo); // before the run, not after it
    FreeSet(&set);
    snwFilmCheck check;
    snwMessage message = {0};
    CHECK(snwInspectFiles(context, folder, &check, &message) == snw_errorIo);
    CHECK_CONTAINS(message.text, "no pictures");
    CHECK(snwInspectFiles(context, "/no/such/thing.png", &check, &message) < 0);
    CHECK(snwInspectFiles(context, SNW_SOURCE_DIR "/tests/test_film.c", &check, &message) == snw_errorInput);
    snwDestroyContext(context);
}

TEST(film, defsAreChecked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Set set = MakeSet(context, &(SetDef){.height = 0.1});
    snwFilmDef def = SmallFilm();
    def.look = snw_filmLookCount;
    CHECK(Shoot(&set, &def, 1) == snw_errorArgument);
    def.look = snw_filmSkin;
    def.show = 1u << 20;
    CHECK(Shoot(&set, &def, 1) == snw_errorArgument);
    FreeSet(&set);
    snwDestroyContext(context);
}

static const char s_scene[] =
    "{\"sinew\": 1, \"name\": \"small\", \"method\": \"pbd\", \"rate\": 60, \"duration\": 0.2,\n"
    " \"bodies\": [{\"name\": \"ball\", \"character\": {\"shape\": \"ball\", \"cells\": [4, 4, 4]},\n"
    "   \"position\": [0, 1, 0]}], \"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\"}]}";

TEST_HEAVY(film, programDrawsChecksAndRefuses)
{
    char scene[256], folder[256], frames[300], report[300];
    snprintf(scene, sizeof scene, "%s/film.json", snwTest_TempDir());
    snprintf(folder, sizeof folder, "%s/looks", snwTest_TempDir());
    snprintf(frames, sizeof frames, "%s/frames", folder);
    snprintf(report, sizeof report, "%s/report.json", folder);
    FILE* file = fopen(scene, "w");
    REQUIRE(file != NULL);
    fputs(s_scene, file);
    fclose(file);
    snwProcess sim = RUN("sim", scene, "-o", folder, "--width", "96", "--height", "54", "--look", "strain", "--show",
        "contacts,pressure", "--turntable", "--png-sequence");
    CHECK_INT(sim.code, 0);
    CHECK_CONTAINS(sim.errors, "frames");
    CHECK(Exists(frames, "frame-00006.png"));
    char* text = snwReadWhole(report);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "\"film_check\"");
    CHECK_CONTAINS(text, "\"empty_frames\": 0");
    free(text);
    snwProcess check = RUN("render", "--check", frames);
    CHECK_CONTAINS(check.text, "7 frames");
    char head[7] = "";
    snwProcess gif = RUN("sim", scene, "-o", folder, "--width", "96", "--height", "54", "--gif", "--force");
    CHECK_INT(gif.code, 0);
    snprintf(report, sizeof report, "%s/film.gif", folder);
    file = fopen(report, "rb");
    REQUIRE(file != NULL);
    CHECK(fread(head, 1, 6, file) == 6 && strcmp(head, "GIF89a") == 0);
    fclose(file);
    snwProcess_Free(&gif);
    snwProcess word = RUN("sim", scene, "-o", folder, "--show", "contacts,feelings");
    CHECK_INT(word.code, 2);
    CHECK_CONTAINS(word.errors, "feelings");
    snwProcess look = RUN("sim", scene, "-o", folder, "--look", "sad");
    CHECK_INT(look.code, 2);
    snwProcess missing = RUN("render", "--check", "/no/such/folder");
    CHECK_INT(missing.code, 3);
    snwProcess_Free(&sim);
    snwProcess_Free(&check);
    snwProcess_Free(&word);
    snwProcess_Free(&look);
    snwProcess_Free(&missing);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sameness

static void DrawEverything(Set* set, snwFilmLook look, uint8_t* pixels)
{
    snwFilmDef def = SmallFilm();
    def.look = look;
    def.show = snw_showAll;
    CHECK(Shoot(set, &def, 5) >= 0);
    const uint8_t* drawn = DrawFrame(set, 4);
    if (drawn != NULL)
        memcpy(pixels, drawn, 3 * width * height);
}

TEST_HEAVY(film, sameBytesForAnyThreads) // Labels: threads
{
    static uint8_t one[3 * width * height], many[3 * width * height];
    for (snwFilmLook look = 0; look < snw_filmLookCount; ++look)
        for (int threads = 1; threads <= 4; threads += 3)
        {
            snwContext* context = snwFixture_Context(threads, snw_simdAuto, NULL);
            Set set = MakeSet(
                context, &(SetDef){.colored = true, .bone = true, .pinned = true, .falls = true, .height = 0});
            DrawEverything(&set, look, threads == 1 ? one : many);
            CHECK(threads == 1 || memcmp(one, many, sizeof one) == 0);
            FreeSet(&set);
            snwDestroyContext(context);
        }
}

static snwResult DrawTiny(Set* set)
{
    snwFilmDef def = SmallFilm();
    def.width = 32;
    def.height = 18;
    def.samples = 1;
    def.look = snw_filmBones;
    def.show = snw_showAll;
    snwResult result = Shoot(set, &def, 2);
    if (result >= 0)
        result = snwFilm_SetUp(set->film, &set->message);
    return result >= 0 ? snwFilm_Draw(set->film, 1, 1, &set->message) : result;
}

TEST(film, everyFailedAllocationIsAnErrorWithoutLeak)
{
    for (int n = 1; n < 5000; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        Set set = MakeSet(
            context, &(SetDef){.colored = true, .bone = true, .pinned = true, .falls = true, .height = 0});
        counter.failAt = counter.allocations + n;
        snwResult result = DrawTiny(&set);
        bool reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        FreeSet(&set);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        if (!reached)
        {
            CHECK(n > 30);
            return;
        }
    }
    CHECK(false);
}

static int CountSide(const snwFilmSkeleton* skeleton, int a, int b)
{
    int count = 0;
    for (int i = 0; i < 3 * skeleton->triangleCount; ++i)
        count += skeleton->triangles[i] == a && skeleton->triangles[i - i % 3 + (i + 1) % 3] == b;
    return count;
}

static double EnclosedVolume(const snwFilmSkeleton* skeleton)
{
    double six = 0;
    for (int t = 0; t < skeleton->triangleCount; ++t)
    {
        snwVec3 p[3];
        for (int i = 0; i < 3; ++i)
        {
            const float* at = skeleton->positions + 3 * (size_t)skeleton->triangles[3 * t + i];
            p[i] = (snwVec3){(double)at[0], (double)at[1], (double)at[2]};
        }
        six += snwVec3_Dot(p[0], snwVec3_Cross(p[1], p[2]));
    }
    return six / 6;
}

static snwCharacter* MakeLimb(snwContext* context, const char* parts)
{
    char text[1024];
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    snprintf(text, sizeof text,
        "{\"sinew\": 1, \"name\": \"a\", \"size\": {\"tets\": 6000}, \"bones\": [{\"name\": \"block\", \"head\": "
        "[-0.3,0,0], \"tail\": [-0.2,0,0], \"radius\": 0}, {\"name\": \"rod\", \"head\": [0.1,0,0], \"tail\": "
        "[0.4,0,0], \"radius\": 0.08}], \"parts\": [%s {\"kind\": \"box\", \"group\": \"b\", \"bone\": \"block\", "
        "\"rigid\": true, \"at\": [-0.25,0,0], \"half\": [0.15,0.1,0.1]}]}",
        parts);
    if (snwBlueprintFile_Read(context, "limb.json", text, strlen(text), &file, NULL) >= 0)
        snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL);
    snwBlueprintFile_Free(&file);
    return character;
}

// A block of bone is seen as the closed surface of its elements, as large as they are; a rod stays the capsule it is.
TEST_HEAVY(film, bonesAreTheSurfaceOfTheirElements)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character = MakeLimb(context, "{\"kind\": \"box\", \"at\": [0,0,0], \"half\": [0.5,0.2,0.2]},");
    REQUIRE(character != NULL);
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    snwFilmSkeleton skeleton;
    REQUIRE(snwFilmSkeleton_Make(context, character, &skeleton, NULL) == snw_ok);
    CHECK(skeleton.triangleCount > 0 && skeleton.solid[0] && !skeleton.solid[1]);
    double volume = 0;
    for (int t = 0; t < def->tetCount; ++t)
        if (def->elementBones[t] == 0)
            volume += snwTet_Volume(def->vertices[def->tets[t][0]], def->vertices[def->tets[t][1]],
                def->vertices[def->tets[t][2]], def->vertices[def->tets[t][3]]);
    for (int i = 0; i < skeleton.vertexCount; ++i)
        CHECK_INT(skeleton.owners[i], 0);
    for (int i = 0; i < 3 * skeleton.triangleCount; ++i)
    {
        int a = skeleton.triangles[i], b = skeleton.triangles[i - i % 3 + (i + 1) % 3];
        CHECK(CountSide(&skeleton, a, b) == CountSide(&skeleton, b, a));
    }
    snwTransform bones[2] = {snwIdentityTransform(), snwIdentityTransform()};
    bones[0].position.y = 3;
    snwFilmSkeleton_Move(&skeleton, bones);
    CHECK_NEAR(EnclosedVolume(&skeleton), volume, 0.05 * volume);
    for (int i = 0; i < skeleton.vertexCount; ++i)
        CHECK_NEAR(skeleton.positions[3 * i + 1], skeleton.rest[3 * i + 1] + 3, 1e-6);
    snwFilmSkeleton_Free(context, &skeleton);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

TEST(film, skeletonsOfAllRigidCharactersAreTheirSkin)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    snwFilmSkeleton skeleton;
    REQUIRE(snwBlueprintFile_Open(context, "bracelet", &file, NULL) >= 0);
    REQUIRE(snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL) >= 0);
    REQUIRE(snwFilmSkeleton_Make(context, character, &skeleton, NULL) == snw_ok);
    CHECK_INT(skeleton.triangleCount, 0);
    snwFilmSkeleton_Free(context, &skeleton);
    snwCharacter_Release(character);
    snwBlueprintFile_Free(&file);
    snwDestroyContext(context);
}

TEST(film, everyFailedAllocationOfASkeletonIsAnErrorWithoutLeak)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwCharacter* character = MakeLimb(context, "{\"kind\": \"box\", \"at\": [0,0,0], \"half\": [0.5,0.2,0.2]},");
    REQUIRE(character != NULL);
    bool reached = true;
    for (int n = 1; reached && n < 100; ++n)
    {
        snwFilmSkeleton skeleton;
        long before = counter.live;
        counter.failAt = counter.allocations + n;
        snwResult result = snwFilmSkeleton_Make(context, character, &skeleton, NULL);
        reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        snwFilmSkeleton_Free(context, &skeleton);
        CHECK_INT(counter.live, before);
        CHECK(reached || n > 8);
    }
    CHECK(!reached);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

// A coarse mesh of a character: the film shows the blueprint's own surface, riding in it.
TEST_HEAVY(film, blueprintsAreSeenAsTheyWereModelled)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    REQUIRE(snwBlueprintFile_Open(context, "snail", &file, NULL) >= 0);
    file.blueprint.size = (snwBlueprintSize){.tets = 1500};
    REQUIRE(snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL) >= 0);
    snwFilmSurface* surface = NULL;
    REQUIRE(snwCreateFilmSurface(context, snwCharacter_GetDef(character), 60, &surface, NULL) == snw_ok);
    CHECK(surface == NULL); // nothing says which blueprint made it
    snwCharacterDef def = *snwCharacter_GetDef(character);
    def.source = "{\"blueprint\": \"snail\"}";
    REQUIRE(snwCreateFilmSurface(context, &def, 60, &surface, NULL) == snw_ok);
    REQUIRE(surface != NULL);
    CHECK(surface->pointCount > snwCharacter_GetInfo(character).skinVertexCount);
    snwSkin skin;
    REQUIRE(snwCharacter_GetRestSkin(character, &skin) == snw_ok);
    float* rest = calloc((size_t)def.vertexCount * 3, sizeof(float));
    float* moved = calloc((size_t)surface->pointCount * 3, sizeof(float));
    for (int i = 0; i < def.vertexCount; ++i)
        rest[3 * i] = (float)def.vertices[i].x + 2, rest[3 * i + 1] = (float)def.vertices[i].y,
                 rest[3 * i + 2] = (float)def.vertices[i].z;
    snwVertices vertices = {.positions = rest, .count = def.vertexCount, .stride = 3 * sizeof(float)};
    snwFilmSurface_Move(context, surface, &vertices, moved);
    for (int i = 0; i < surface->pointCount; ++i)
        CHECK_NEAR(moved[3 * i], surface->points[3 * i] + 2, 1e-5);
    free(rest);
    free(moved);
    snwDestroyFilmSurface(context, surface);
    snwCharacter_Release(character);
    snwBlueprintFile_Free(&file);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// From where a place is seen

// A square of flesh in front of the origin that faces +z, and a wall before it that nobody misses.
TEST(film, aPlaceIsSeenFromItsOwnSideUnlessSomethingHidesIt)
{
    float positions[24] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0, -2, -2, 1, 2, -2, 1, 2, 2, 1, -2, 2, 1};
    float values[8] = {1, 1, 1, 1, 0, 0, 0, 0};
    int triangles[6] = {0, 1, 2, 0, 2, 3};
    snwFilmBody bodies[2] = {{.triangles = triangles, .triangleCount = 2, .vertexCount = 4},
        {.triangles = triangles, .triangleCount = 2, .vertexCount = 4, .first = 12}};
    snwFilmFrame frame = {.positions = positions, .values = values};
    snwFilm film = {.bodies = bodies, .bodyCount = 1, .floatCount = 24, .frames = {&frame, 1, 1}};
    snwFocus focus = {{0, 0, 0}, 2};
    CHECK(snwFocus_Seen(&film, 0, &focus, (snwFloat3){0, 0, -1}, 4) > 0.95f);
    CHECK(snwFocus_Seen(&film, 0, &focus, (snwFloat3){-0.8f, 0, -0.6f}, 4) < 0.8f); // askance
    CHECK(snwFocus_Seen(&film, 0, &focus, (snwFloat3){0, 0, 1}, 4) == 0);           // its back
    film.bodyCount = 2;
    CHECK(snwFocus_Seen(&film, 0, &focus, (snwFloat3){0, 0, -1}, 4) == 0);
    CHECK(snwFocus_Seen(&film, 0, &focus, (snwFloat3){0, 0, -1}, 0.5f) > 0.5f); // the wall is behind the camera
    values[0] = values[1] = values[2] = values[3] = 0;
    CHECK(snwFocus_Seen(&film, 0, &focus, (snwFloat3){0, 0, -1}, 4) == 1);
}
