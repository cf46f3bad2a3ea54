// From a file to a character: rest pose, bones, joints, weights, motions, materials, surfaces.

#include "fixture.h"
#include "math/transform.h"
#include "prepare_world.h"
#include "sim/character.h"
#include "test.h"
#include "view/image.h"

#include <stdlib.h>

static snwPrepared* Make(
    snwContext* context, const snwPrepareWorld* world, const char* sidecar, snwPrepareReport* report)
{
    return snwPrepareWorld_Prepare(context, snwPrepareWorld_Write(world, "world", sidecar), report);
}

static const snwCharacterDef* Body(const snwPrepared* prepared)
{
    return snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
}

// The words of the error; "" if there is none.
static const char* Refusal(const snwPrepareWorld* world, const char* sidecar)
{
    static char s_text[1024];
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    snwMessage message = {0};
    def.elements = 300;
    s_text[0] = 0;
    if (snwPrepareFile(context, snwPrepareWorld_Write(world, "bad", sidecar), &def, &prepared, NULL, &message) < 0)
        snwMessage_Format(&message, s_text, sizeof s_text);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
    return s_text;
}

static int FindSurface(const snwPrepared* prepared, const char* name)
{
    for (int i = 0; i < snwPrepared_GetInfo(prepared).surfaceCount; ++i)
        if (strcmp(snwPrepared_GetSurface(prepared, i)->name, name) == 0)
            return i;
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rest pose

TEST(prepare, restIsTheBindPoseInMetres)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareWorld world = {.scale = 100, .posed = true};
    snwPrepareReport report;
    snwPrepared* prepared = Make(context, &world, NULL, &report);
    REQUIRE(prepared != NULL);
    CHECK_NEAR(snwPrepared_GetInfo(prepared).scale, 0.01, 0);
    CHECK_CONTAINS(report.notes[0], "100 m long");
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, 0);
    snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared));
    float far = 0, side = 0;
    for (int i = 0; i < surface->vertexCount; ++i)
        far = fmaxf(far, surface->positions[i][0]), side = fmaxf(side, fabsf(surface->positions[i][2]));
    CHECK_NEAR(far, 1, 1e-6); // straight, although the nodes stand bent
    CHECK_NEAR(side, 0.12, 1e-6);
    CHECK_NEAR(info.upper.x - info.lower.x, 1, 0.03);
    CHECK_NEAR(surface->place[0], 0.01, 1e-12);
    snwPrepared_Release(prepared);
    world.scale = 1;
    prepared = Make(context, &world, "{'sinew': 1, 'size': 2}", NULL);
    REQUIRE(prepared != NULL);
    CHECK_NEAR(snwPrepared_GetInfo(prepared).scale, 2, 1e-6);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

// The root joint is 50 times as large and lies on its side; nothing follows it.
TEST(prepare, restIsThatOfTheJointsThatCarryWeights)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepared* prepared = Make(context, &(snwPrepareWorld){.oddRoot = true}, NULL, NULL);
    REQUIRE(prepared != NULL);
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, 0);
    CHECK_NEAR(snwPrepared_GetInfo(prepared).scale, 1, 0);
    for (int i = 0; i < 12; ++i)
        CHECK_NEAR(surface->place[i], i % 5 == 0 ? 1 : 0, 1e-9);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

// What a file says of its unit is not taken where nothing alive is as long: glTF says metres.
TEST(prepare, unitsThatMakeGiantsAreGuessed)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const double s_lengths[] = {23, 322, 1700, 0.017}, s_scales[] = {0.1, 0.01, 0.001, 100};
    for (int i = 0; i < 4; ++i)
    {
        snwPrepareReport report;
        snwPrepared* prepared = Make(context, &(snwPrepareWorld){.scale = s_lengths[i]}, NULL, &report);
        REQUIRE(prepared != NULL);
        CHECK_NEAR(snwPrepared_GetInfo(prepared).scale, s_scales[i], 1e-9 * s_scales[i]);
        CHECK_CONTAINS(report.notes[0], "one unit is taken as");
        snwPrepared_Release(prepared);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bones

TEST(prepare, bonesOwnTheFleshAroundThem)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareReport report;
    snwPrepared* prepared = Make(context, &(snwPrepareWorld){0}, NULL, &report);
    REQUIRE(prepared != NULL);
    const snwCharacterDef* def = Body(prepared);
    REQUIRE(def->boneCount == 2); // 'end' holds nothing
    CHECK_INT(report.bonesDropped, 1);
    CHECK(strcmp(def->bones[0].name, "upper") == 0 && strcmp(def->bones[1].name, "lower") == 0);
    CHECK_INT(def->bones[1].parent, 0);
    CHECK_INT(snwPrepared_GetInfo(prepared).boneNodes[1], 2);
    CHECK_NEAR(def->bones[0].tail.x, 0.5, 1e-9);
    CHECK(def->bones[1].tail.x > 0.8 && def->bones[1].tail.x < 1);
    CHECK(def->bones[0].radius > 0.02 && def->bones[0].radius < 0.06); // a third of 0.11
    int owned[2] = {0, 0};
    for (int i = 0; i < def->tetCount; ++i)
    {
        int bone = def->elementBones[i];
        if (bone < 0)
            continue;
        owned[bone] += 1;
        for (int k = 0; k < 4; ++k)
            CHECK(bone == 0 ? def->vertices[def->tets[i][k]].x < 0.5 : def->vertices[def->tets[i][k]].x > 0.5);
    }
    CHECK(owned[0] >= 8 && owned[1] >= 8 && owned[0] + owned[1] < def->tetCount / 2);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

TEST(prepare, fleshIsBetweenAnyTwoBones)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepared* prepared = Make(context, &(snwPrepareWorld){0},
        "{'sinew': 1, 'bones': {'upper': {'radius': 0.1}, "
        "'lower': {'radius': 0.1}}}",
        NULL);
    REQUIRE(prepared != NULL);
    const snwCharacterDef* def = Body(prepared);
    const int* owners = snwPrepared_GetCharacter(prepared)->vertexBones;
    CHECK_NEAR(def->bones[0].radius, 0.1, 0);
    for (int i = 0; i < def->tetCount; ++i)
    {
        bool seen[2] = {false, false};
        for (int k = 0; k < 4; ++k)
            if (owners[def->tets[i][k]] >= 0)
                seen[owners[def->tets[i][k]]] = true;
        CHECK(!seen[0] || !seen[1]);
    }
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

TEST(prepare, jointsFollowTheRulesOrTheSidecar)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepared* prepared = Make(context, &(snwPrepareWorld){0}, NULL, NULL);
    REQUIRE(prepared != NULL && Body(prepared)->jointCount == 1);
    const snwJointDef* joint = &Body(prepared)->joints[0]; // the motion turns about z, from 0 to 60 degrees
    CHECK_INT(joint->type, snw_jointHinge);
    CHECK_NEAR(fabs(joint->axis.z), 1, 1e-9);
    CHECK_NEAR(joint->upper - joint->lower, 90 * SNW_PI / 180, 1e-6);
    CHECK_NEAR(joint->position.x, 0.5, 1e-9);
    CHECK_NEAR(snwCharacter_MotionExcess(snwPrepared_GetCharacter(prepared), 0, NULL, NULL), 0, 1e-9);
    snwPrepared_Release(prepared);
    prepared = Make(context, &(snwPrepareWorld){0},
        "{'sinew': 1, 'bones': {'lower': {'joint': {'type': 'universal', 'axis': [0, 0.5, 0], 'axis2': [0, 0, 1], "
        "'damping': 3}}}, 'motions': {'bend': {'use': false}}}",
        NULL);
    REQUIRE(prepared != NULL && Body(prepared)->jointCount == 1);
    joint = &Body(prepared)->joints[0];
    CHECK_INT(joint->type, snw_jointUniversal);
    CHECK_NEAR(joint->axis.y, 1, 1e-12);
    CHECK_NEAR(joint->damping, 3, 0);
    CHECK_INT(Body(prepared)->motionCount, 0);
    snwPrepared_Release(prepared);
    prepared = Make(context, &(snwPrepareWorld){0}, "{'sinew': 1, 'motions': {'bend': {'use': false}}}", NULL);
    REQUIRE(prepared != NULL && Body(prepared)->jointCount == 1);
    joint = &Body(prepared)->joints[0]; // nothing known: a ball
    CHECK_INT(joint->type, snw_jointBall);
    CHECK_NEAR(joint->cone, SNW_PI / 2, 1e-12);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

TEST(prepare, extrasOfTheFileSayWhatASidecarSays)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareWorld world = {0};
    snwGltfWorld file = snwPrepareWorld_Make(&world);
    snwGltfWorld_Set(&file, "nodes/2/extras", "{'sinew': {'radius': 0.03, 'joint': {'type': 'fixed'}}}");
    snwGltfBytes bytes = snwGltfWorld_Glb(&file);
    char path[512];
    snprintf(path, sizeof path, "%s/extras.glb", snwTest_TempDir());
    FILE* stream = fopen(path, "wb");
    REQUIRE(stream != NULL && fwrite(bytes.data, 1, bytes.size, stream) == bytes.size && fclose(stream) == 0);
    free(bytes.data);
    snwGltfWorld_Free(&file);
    snwPrepared* prepared = snwPrepareWorld_Prepare(context, path, NULL);
    REQUIRE(prepared != NULL && Body(prepared)->jointCount == 1);
    CHECK_INT(Body(prepared)->joints[0].type, snw_jointFixed);
    CHECK_NEAR(Body(prepared)->bones[1].radius, 0.03, 0);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Body

// Two drums on a thin stick that lies across the lattice.
static const char* WriteDumbbell(void)
{
    static char s_path[512];
    static const double s_rings[8][2] = {
        {0, 0.02}, {0.02, 0.2}, {0.3, 0.2}, {0.34, 0.008}, {0.66, 0.008}, {0.7, 0.2}, {0.98, 0.2}, {1, 0.02}};
    snprintf(s_path, sizeof s_path, "%s/dumbbell.obj", snwTest_TempDir());
    FILE* file = fopen(s_path, "w");
    snwQuat turn = snwQuat_Mul(
        snwQuat_FromRotationVector((snwVec3){0, -0.9, 0}), snwQuat_FromRotationVector((snwVec3){0, 0, 0.3}));
    for (int i = 0; i < 82 && file != NULL; ++i)
    {
        double x = i < 80 ? s_rings[i / 10][0] : i - 80, r = i < 80 ? s_rings[i / 10][1] : 0;
        snwVec3 p = {x - 0.5, r * sin(0.2 * SNW_PI * (i % 10)), r * cos(0.2 * SNW_PI * (i % 10))};
        p = snwQuat_Rotate(turn, p);
        fprintf(file, "v %.9g %.9g %.9g\n", p.x, p.y, p.z);
    }
    for (int i = 0; i < 70 && file != NULL; ++i)
    {
        int a = i + 1, b = i / 10 * 10 + (i + 1) % 10 + 1;
        fprintf(file, "f %d %d %d\nf %d %d %d\n", a, a + 10, b, b, a + 10, b + 10);
    }
    for (int i = 0; i < 10 && file != NULL; ++i)
        fprintf(file, "f 81 %d %d\nf 82 %d %d\n", i + 1, (i + 1) % 10 + 1, 70 + (i + 1) % 10 + 1, 70 + i + 1);
    CHECK(file != NULL && fclose(file) == 0);
    return s_path;
}

static int CountPieces(const snwCharacterDef* def)
{
    int* piece = calloc((size_t)def->vertexCount, sizeof *piece);
    int pieces = def->vertexCount;
    for (int i = 0; i < def->vertexCount; ++i)
        piece[i] = i;
    for (int i = 0; i < 3 * def->tetCount; ++i)
    {
        int a = def->tets[i / 3][0], b = def->tets[i / 3][i % 3 + 1];
        while (piece[a] != a)
            a = piece[a];
        while (piece[b] != b)
            b = piece[b];
        pieces -= a != b;
        piece[a > b ? a : b] = a < b ? a : b;
    }
    free(piece);
    return pieces;
}

TEST(prepare, tornBodiesAreMendedOrTold)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepareReport report;
    const char* path = WriteDumbbell();
    for (int asked = 0; asked < 2; ++asked)
    {
        snwPrepared* prepared = NULL;
        bool told = false;
        def.elements = asked ? 1500 : 0; // too few, and nothing else is tried then
        def.mesher = asked ? snw_mesherLattice : snw_mesherAuto;
        REQUIRE(snwPrepareFile(context, path, &def, &prepared, &report, NULL) == snw_ok);
        for (int i = 0; i < report.noteCount; ++i)
            told = told || strstr(report.notes[i], "torn into") != NULL;
        CHECK_INT(told, CountPieces(Body(prepared)) > 1);
        CHECK(asked || !told);
        snwPrepared_Release(prepared);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights and motions

TEST(prepare, weightsOfTheBodyAreThoseOfTheSurface)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepared* prepared = Make(context, &(snwPrepareWorld){0}, NULL, NULL);
    REQUIRE(prepared != NULL);
    const snwCharacterDef* def = Body(prepared);
    snwSkin skin;
    REQUIRE(def->boneWeights.vertexCount == def->vertexCount);
    snwCharacter_GetRestSkin(snwPrepared_GetCharacter(prepared), &skin);
    for (int i = 0; i < skin.vertexCount; ++i)
    {
        int v = skin.vertices[i];
        double expected = fmin(fmax(def->vertices[v].x / 0.2 - 2, 0), 1), value = 0;
        for (int k = def->boneWeights.starts[v]; k < def->boneWeights.starts[v + 1]; ++k)
            value += def->boneWeights.handles[k] == 1 ? def->boneWeights.values[k] : 0;
        CHECK_NEAR(value, expected, 0.12); // rings of the surface are 0.083 apart: weights are linear between them
    }
    // Inside they are harmonic: no interior vertex is above all its neighbours.
    double* lower = calloc((size_t)def->vertexCount, sizeof *lower);
    double* most = calloc((size_t)def->vertexCount, sizeof *most);
    for (int v = 0; v < def->vertexCount; ++v)
        for (int k = def->boneWeights.starts[v]; k < def->boneWeights.starts[v + 1]; ++k)
            lower[v] += def->boneWeights.handles[k] == 1 ? def->boneWeights.values[k] : 0;
    for (int i = 0; i < 16 * def->tetCount; ++i)
    {
        int a = def->tets[i / 16][i / 4 % 4], b = def->tets[i / 16][i % 4];
        most[a] = a != b ? fmax(most[a], lower[b]) : most[a];
    }
    for (int i = 0; i < skin.vertexCount; ++i)
        most[skin.vertices[i]] = 1;
    for (int v = 0; v < def->vertexCount; ++v)
        CHECK(lower[v] <= most[v] + 2e-3);
    free(lower);
    free(most);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

TEST(prepare, motionsAreThoseOfTheFile)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareWorld world = {.scale = 100, .posed = true, .swing = true};
    snwPrepared* prepared = Make(context, &world, NULL, NULL);
    REQUIRE(prepared != NULL);
    const snwCharacterDef* def = Body(prepared);
    REQUIRE(def->motionCount == 2);
    CHECK(strcmp(def->motions[0].name, "bend") == 0);
    CHECK_NEAR(def->motions[0].duration, 1, 1e-7);
    CHECK(def->motions[0].loop);
    for (int i = 0; i <= 20; ++i)
    {
        snwTransform bones[2];
        double time = 0.05 * i, angle = (time < 0.5 ? 2 * time : 2 - 2 * time) * SNW_PI / 3;
        snwCharacter_Pose(snwPrepared_GetCharacter(prepared), 0, time, bones, 2);
        snwVec3 tip = snwTransform_Apply(bones[1], (snwVec3){1, 0, 0});
        // The spline through the keys of a corner rounds it: at 0.5 s and at the wrap, not elsewhere.
        double tolerance = fabs(time - 0.5) < 0.04 || time < 0.04 || time > 0.96 ? 0.02 : 2e-4;
        CHECK_NEAR(tip.x, 0.5 + 0.5 * cos(angle), tolerance);
        CHECK_NEAR(tip.y, 0.5 * sin(angle), tolerance);
        CHECK_NEAR(snwQuat_Angle(bones[0].rotation, snwIdentityTransform().rotation), 0, 1e-6);
    }
    CHECK(!def->motions[1].loop); // it ends elsewhere
    for (int i = 1; i < 10; ++i)
    {
        snwTransform bones[2];
        double time = 0.1 * i, turn = time * SNW_PI / 2, angle = time * SNW_PI / 3;
        snwCharacter_Pose(snwPrepared_GetCharacter(prepared), 1, time, bones, 2);
        snwVec3 tip = snwTransform_Apply(bones[1], (snwVec3){1, 0, 0});
        double along = 0.5 + 0.5 * cos(angle);
        CHECK_NEAR(tip.x, along * cos(turn), 2e-4);
        CHECK_NEAR(tip.y, 0.3 * time + 0.5 * sin(angle), 2e-4);
        CHECK_NEAR(tip.z, -along * sin(turn), 2e-4);
    }
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Surfaces

// Positions of the body's vertices after a map; freed by the caller.
typedef snwVec3 MapFn(snwVec3 x);

static float* MapBody(const snwCharacterDef* def, MapFn* map)
{
    float* out = calloc(3 * (size_t)def->vertexCount, sizeof *out);
    for (int i = 0; i < def->vertexCount; ++i)
    {
        snwVec3 x = map(def->vertices[i]);
        out[3 * i] = (float)x.x, out[3 * i + 1] = (float)x.y, out[3 * i + 2] = (float)x.z;
    }
    return out;
}

static snwVec3 Shear(snwVec3 x)
{
    return (snwVec3){3 + x.x - 0.5 * x.y, 1.2 * x.y, -x.z};
}

static snwVec3 Wave(snwVec3 x)
{
    return (snwVec3){x.x + 0.1 * x.y, x.y + 0.15 * sin(5 * x.x), x.z * (1 + 0.3 * x.x)};
}

TEST(prepare, surfacesFollowTheBody)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwPrepareWorld world = {.shirt = true};
    snwPrepared* prepared = Make(context, &world, NULL, NULL);
    snwDisplay* display = NULL;
    REQUIRE(prepared != NULL && snwCreateDisplay(prepared, &display, NULL) == snw_ok);
    CHECK(snwPrepared_GetInfo(prepared).embeddingError < 1e-5);
    const snwCharacterDef* def = Body(prepared);
    float* moved = MapBody(def, Shear);
    CHECK(snwDisplay_Update(display, moved, def->vertexCount, 12, NULL) == snw_ok);
    for (int s = 0; s < 2; ++s)
    {
        const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, s);
        snwSkin skin;
        CHECK(snwDisplay_GetSurface(display, s, &skin) == snw_ok);
        for (int i = 0; i < skin.vertexCount; ++i)
        {
            const float* rest = surface->positions[i];
            bool eye = rest[1] > 0.121f && s == 0;
            snwVec3 at = Shear((snwVec3){(double)rest[0], (double)rest[1], (double)rest[2]});
            if (eye || (s == 0 && rest[0] < 0.25f && rest[1] > 0.105f))
                continue;                                  // the eye is rigid, and some of it dips into the bar
            CHECK_NEAR(skin.positions[3 * i], at.x, 2e-5); // affine motion is exact, inside and outside
            CHECK_NEAR(skin.positions[3 * i + 1], at.y, 2e-5);
            CHECK_NEAR(skin.positions[3 * i + 2], at.z, 2e-5);
        }
    }
    free(moved);
    snwDestroyDisplay(display);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

TEST(prepare, seamsStayShutToTheLastBit)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwPrepared* prepared = Make(context, &(snwPrepareWorld){0}, NULL, NULL);
    snwDisplay* display = NULL;
    REQUIRE(prepared != NULL && snwCreateDisplay(prepared, &display, NULL) == snw_ok);
    const snwCharacterDef* def = Body(prepared);
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, 0);
    float* moved = MapBody(def, Wave);
    snwSkin skin;
    CHECK(snwDisplay_Update(display, moved, def->vertexCount, 12, NULL) == snw_ok);
    REQUIRE(snwDisplay_GetSurface(display, 0, &skin) == snw_ok);
    int seams = 0;
    for (int i = 0; i < skin.vertexCount; ++i)
        for (int k = 0; k < i; ++k)
            if (memcmp(surface->positions[i], surface->positions[k], 12) == 0)
            {
                ++seams;
                CHECK(memcmp(skin.positions + 3 * i, skin.positions + 3 * k, 12) == 0);
            }
    CHECK(seams > 1000);
    moved[4] = NAN;
    float before[3];
    memcpy(before, skin.positions, sizeof before);
    CHECK(snwDisplay_Update(display, moved, def->vertexCount, 12, NULL) == snw_errorArgument);
    CHECK(memcmp(before, skin.positions, sizeof before) == 0);
    free(moved);
    snwDestroyDisplay(display);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

TEST(prepare, smallClosedPiecesAndWhatHangsOnJointsAreRigid)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareWorld world = {.shirt = true, .hat = true};
    snwPrepareReport report;
    snwPrepared* prepared = Make(context, &world, NULL, &report);
    snwDisplay* display = NULL;
    REQUIRE(prepared != NULL && snwCreateDisplay(prepared, &display, NULL) == snw_ok);
    CHECK_INT(report.softCount, 1);
    CHECK_INT(report.carriedCount, 1);
    CHECK_INT(report.rigidCount, 1);
    int hat = FindSurface(prepared, "hat"), body = FindSurface(prepared, "body");
    CHECK_INT(snwPrepared_GetSurface(prepared, FindSurface(prepared, "shirt"))->kind, snw_surfaceCarried);
    CHECK_INT(snwPrepared_GetSurface(prepared, hat)->bone, 1);
    CHECK_NEAR(snwPrepared_GetSurface(prepared, hat)->positions[0][0], 0.5, 1e-6); // with its joint, in the rest pose
    float* moved = MapBody(Body(prepared), Wave);
    snwDisplay_Update(display, moved, Body(prepared)->vertexCount, 12, NULL);
    for (int s = 0; s < 2; ++s)
    {
        const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, s == 0 ? hat : body);
        snwSkin skin;
        snwDisplay_GetSurface(display, s == 0 ? hat : body, &skin);
        int first = s == 0 ? 0 : skin.vertexCount - 24; // the eye comes last
        for (int i = first; i < skin.vertexCount; ++i)
            for (int k = first; k < i; ++k)
            {
                double was = 0, is = 0;
                for (int c = 0; c < 3; ++c)
                {
                    was += pow((double)(surface->positions[i][c] - surface->positions[k][c]), 2);
                    is += pow((double)(skin.positions[3 * i + c] - skin.positions[3 * k + c]), 2);
                }
                CHECK_NEAR(sqrt(is), sqrt(was), 1e-6);
            }
    }
    free(moved);
    snwDestroyDisplay(display);
    snwPrepared_Release(prepared);
    prepared = Make(
        context, &world, "{'sinew': 1, 'surfaces': {'shirt': {'kind': 'none'}, 'hat': {'kind': 'carried'}}}", &report);
    REQUIRE(prepared != NULL);
    CHECK_INT(FindSurface(prepared, "shirt"), -1);
    CHECK_INT(report.carriedCount, 1);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

static bool Notes(const snwPrepareReport* report, const char* words)
{
    for (int i = 0; i < report->noteCount; ++i)
        if (strstr(report->notes[i], words) != NULL)
            return true;
    return false;
}

TEST(prepare, namesOfSurfacesAndMaterialsTellWhatTheyAre)
{
    static const struct
    {
        const char *name, *material, *sidecar;
        snwSurfaceKind kind;
        const char* words; // of a note; NULL: none
    } s_cases[] = {
        {"shirt", NULL, NULL, snw_surfaceCarried, "carried for it lies on the flesh: 'shirt'"},
        {"hair_front", NULL, NULL, snw_surfaceCarried, "carried by name: 'hair_front'"},
        {"L_Sword01", NULL, NULL, snw_surfaceRigid, "rigid by name: 'L_Sword01'"},
        {"leftEye", NULL, NULL, snw_surfaceRigid, "rigid by name"},
        {"upperEyelid", NULL, NULL, snw_surfaceCarried, "carried for it lies on the flesh"}, // no eye
        {"snail", NULL, NULL, snw_surfaceCarried, "carried for it lies on the flesh"},       // no nail
        {"gunther", NULL, NULL, snw_surfaceCarried, "carried for it lies on the flesh"},     // no gun
        {"x", "MAT_Teeth", NULL, snw_surfaceRigid, "rigid by name: 'x'"},
        {"shirt", NULL, "{'sinew': 1, 'surfaces': {'*SHI*': {'kind': 'rigid'}}}", snw_surfaceRigid, "rigid as asked"},
        {"x", "steel", "{'sinew': 1, 'surfaces': {'st?el': {'kind': 'rigid'}}}", snw_surfaceRigid, "rigid as asked"},
        {"shirt", NULL,
            "{'sinew': 1, 'surfaces': {'*': {'kind': 'rigid'}, '*i*': {'kind': 'soft'}, 'body': {'kind': "
            "'soft'}}}",
            snw_surfaceSoft, "soft as asked: 'body', 'shirt'"}, // what stands later wins
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases; ++i)
    {
        snwPrepareWorld world = {.shirt = true, .shirtName = s_cases[i].name, .shirtMaterial = s_cases[i].material};
        snwPrepareReport report;
        snwPrepared* prepared = Make(context, &world, s_cases[i].sidecar, &report);
        REQUIRE(prepared != NULL);
        const snwSurfaceInfo* shirt = snwPrepared_GetSurface(prepared, FindSurface(prepared, s_cases[i].name));
        if (shirt->kind != s_cases[i].kind || !Notes(&report, s_cases[i].words))
            snwTest_Fail(__FILE__, __LINE__, "'%s' became kind %d, not %d; %s", s_cases[i].name, shirt->kind,
                s_cases[i].kind, report.noteCount > 0 ? report.notes[0] : "");
        snwPrepared_Release(prepared);
    }
    const char* path = snwPrepareWorld_Write(
        &(snwPrepareWorld){.shirt = true}, "nobody", "{'sinew': 1, 'surfaces': {'*boots*': {'kind': 'rigid'}}}");
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    snwMessage message = {0};
    CHECK_INT(snwPrepareFile(context, path, &def, &prepared, NULL, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "*boots*");
    snwDestroyContext(context);
}

// What somebody holds is not filled with flesh, however large, if the rest is one body.
TEST(prepare, closedPiecesOfOneBoneBesideTheBodyAreRigid)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareReport report;
    snwPrepared* prepared = Make(context, &(snwPrepareWorld){.shell = true, .axe = true}, NULL, &report);
    REQUIRE(prepared != NULL);
    CHECK(Notes(&report, "rigid for it is closed and of one bone beside the body: 1 of the 3 pieces of 'body'"));
    CHECK(snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared)).upper.x < 1.2); // the piece ends at 1.6
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

// Cards of hair that are part of the body's mesh are not filled with flesh: they ride on it.
TEST(prepare, openPiecesThatAreSeeThroughAreCarried)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareReport report;
    snwPrepared* prepared = Make(context, &(snwPrepareWorld){.card = true}, NULL, &report);
    REQUIRE(prepared != NULL);
    CHECK(Notes(&report, "carried for it is see-through and open: 1 of the 3 pieces of 'body'"));
    CHECK_INT(report.softCount, 1);
    CHECK(snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared)).upper.x < 1.2); // the square ends at 1.4
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Materials

TEST(prepare, paintedRegionsKeepTheirNumbers)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwPrepareWorld world = {.young = true};
    snwPrepared* prepared = Make(context, &world, NULL, NULL);
    REQUIRE(prepared != NULL);
    const snwCharacterDef* def = Body(prepared);
    CHECK(def->materialCount >= 2 && def->materialCount <= 8);
    for (int i = 0; i < def->tetCount; ++i)
    {
        double x = 0, young = def->materials[def->regions[i]].young;
        for (int k = 0; k < 4; ++k)
            x += 0.25 * def->vertices[def->tets[i][k]].x;
        if (x < 0.4)
            CHECK_NEAR(young, 1000, 1e-6 * young);
        else if (x > 0.52)
            CHECK_NEAR(young, 50000, 1e-6 * young);
    }
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

TEST(prepare, smoothMapsAreCutIntoRegions)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwPrepareWorld world = {.colors = true};
    snwPrepared* prepared = Make(context, &world,
        "{'sinew': 1, 'regions': 5, 'material': {'young': 2000}, 'maps': [{'property': 'stiffness', 'from': 'color', "
        "'channel': 'red', 'lower': 1, 'upper': 10}]}",
        NULL);
    REQUIRE(prepared != NULL);
    const snwCharacterDef* def = Body(prepared);
    CHECK_INT(def->materialCount, 5);
    for (int i = 0; i < def->tetCount; ++i)
    {
        double x = 0, young = def->materials[def->regions[i]].young;
        for (int k = 0; k < 4; ++k)
            x += 0.25 * def->vertices[def->tets[i][k]].x;
        double expected = 2000 * (1 + 9 * fmin(fmax(x, 0), 1));
        CHECK_NEAR(log(young / expected), 0, 0.5 * log(10) / 5 + 0.15); // half a level, and where the caps are nearest
        CHECK_NEAR(def->materials[def->regions[i]].density, 1000, 0);
    }
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

// Red on the left, blue on the right.
static const char* WritePicture(snwContext* context)
{
    static char s_path[512];
    uint8_t pixels[64 * 2 * 3] = {0};
    for (int i = 0; i < 128; ++i)
        pixels[3 * i + (i % 64 < 32 ? 0 : 2)] = 255;
    snwImage image = {.width = 64, .height = 2, .pixels = pixels};
    snprintf(s_path, sizeof s_path, "%s/map.png", snwTest_TempDir());
    CHECK(snwImage_WritePng(context, &image, s_path, 9, true, NULL) == snw_ok);
    return s_path;
}

TEST(prepare, texturesPaintMaterialsAndSurfaces)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareWorld world = {.png = WritePicture(context)};
    snwPrepared* prepared = Make(context, &world,
        "{'sinew': 1, 'maps': [{'property': 'density', 'from': 'texture', 'texture': 'map.png', 'channel': 'red', "
        "'lower': 500, 'upper': 2000}], 'materials': {'hide': {'damping': 2}}}",
        NULL);
    REQUIRE(prepared != NULL);
    CHECK_INT(snwPrepared_GetInfo(prepared).textureCount, 1);
    CHECK_INT(snwPrepared_GetTexture(prepared, 0).width, 64);
    const snwSurfacePart* part = snwPrepared_GetSurface(prepared, 0)->parts;
    CHECK(part->texture == 0 && strcmp(part->material, "hide") == 0);
    const snwCharacterDef* def = Body(prepared);
    for (int i = 0; i < def->tetCount; ++i)
    {
        double x = 0;
        for (int k = 0; k < 4; ++k)
            x += 0.25 * def->vertices[def->tets[i][k]].x;
        CHECK_NEAR(def->materials[def->regions[i]].damping, 2, 0);
        if (x < 0.4 || x > 0.6)
            CHECK_NEAR(def->materials[def->regions[i]].density, x < 0.4 ? 2000 : 500, 1);
    }
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Mistakes, memory, threads

TEST(prepare, mistakesInASidecarAreNamed)
{
    snwPrepareWorld world = {0};
    CHECK_CONTAINS(Refusal(&world, "{'sinew': 1, 'bones': {'uper': {}}}"), "did you mean 'upper'");
    CHECK_CONTAINS(Refusal(&world, "{'sinew': 1, 'bones': {'upper': {'radios': 1}}}"), "bones.upper");
    CHECK_CONTAINS(Refusal(&world, "{'sinew': 1, 'surfaces': {'coat': {}}}"), "no 'coat'");
    CHECK_CONTAINS(Refusal(&world, "{'sinew': 1, 'motions': {'blend': {}}}"), "did you mean 'bend'");
    CHECK_CONTAINS(Refusal(&world, "{'sinew': 1, 'maps': [{'property': 'young', 'from': 'color'}]}"), "colours");
    CHECK_CONTAINS(
        Refusal(&world, "{'sinew': 1, 'maps': [{'property': 'young', 'from': 'texture'}]}"), "which texture");
    CHECK_CONTAINS(Refusal(&world, "{'sinew': 1, 'scale': 1, 'size': 1}"), "same thing");
    CHECK_CONTAINS(Refusal(&world, "{'sinew': 1, 'surfaces': {'body': {'kind': 'carried'}}}"), "no surface is flesh");
    CHECK_CONTAINS(Refusal(&world, "{'sinew': 2}"), "sinew");
}

static snwResult Prepare(snwContext* context, const char* path, void** data, size_t* size)
{
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    def.elements = 250;
    def.mesher = snw_mesherLattice;
    snwResult result = snwPrepareFile(context, path, &def, &prepared, NULL, NULL);
    if (result >= 0)
        result = snwPrepared_Save(prepared, data, size, NULL);
    snwPrepared_Release(prepared);
    return result;
}

TEST(prepare, theSameFileGivesTheSameBytesForAnyThreads) // Labels: threads
{
    snwPrepareWorld world = {.shirt = true, .hat = true, .colors = true};
    const char* path = snwPrepareWorld_Write(&world, "same", NULL);
    void* data[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    for (int i = 0; i < 2; ++i)
    {
        snwContext* context = snwFixture_Context(i == 0 ? 1 : 3, snw_simdAuto, NULL);
        void* block = NULL;
        CHECK(Prepare(context, path, &block, &size[i]) == snw_ok);
        data[i] = malloc(size[i] + 1);
        memcpy(data[i], block, size[i]);
        snwContext_Free(context, block);
        snwDestroyContext(context);
    }
    CHECK(size[0] == size[1] && memcmp(data[0], data[1], size[0]) == 0);
    free(data[0]);
    free(data[1]);
}

TEST(prepare, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwPrepareWorld world = {.shirt = true, .hat = true, .young = true};
    const char* path = snwPrepareWorld_Write(&world, "memory", NULL);
    for (long n = 1, step = 1;; n += step)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        void* data = NULL;
        size_t size = 0;
        counter.failAt = counter.allocations + n;
        snwResult result = Prepare(context, path, &data, &size);
        bool reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        step = 1 + counter.allocations / 7;
        snwContext_Free(context, data);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        if (!reached)
            break;
    }
}
