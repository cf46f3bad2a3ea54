// Rigs and caches of other programs: what is read, by hand and by oracles; what is refused; and that no file does harm.

#include "asset/export_parts.h"
#include "asset/rig_parts.h"
#include "fixture.h"
#include "process.h"
#include "scene/file.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>

#define SINEW    SNW_BINARY_DIR "/sinew"
#define RUN(...) snwProcess_Run((const char* const[]){SINEW, __VA_ARGS__, NULL})

// ---------------------------------------------------------------------------------------------------------------------
// Files in memory

typedef struct File
{
    const char* name;
    const char* data;
    size_t size;
} File;

typedef struct Shelf
{
    File files[8];
    int count;
} Shelf;

static snwResult TakeFile(
    void* user, snwContext* context, const char* name, char** data, size_t* size, snwMessage* message)
{
    const Shelf* shelf = user;
    for (int i = 0; i < shelf->count; ++i)
    {
        const File* file = &shelf->files[i];
        if (strcmp(file->name, name) != 0)
            continue;
        *data = snwAllocRaw(context, file->size + 1);
        if (*data == NULL)
            return snwFailMemory(message);
        memcpy(*data, file->data, file->size);
        (*data)[file->size] = 0;
        *size = file->size;
        return snw_ok;
    }
    return snwFail(message, snw_errorIo, NULL, "there is no file '%s'", name);
}

typedef struct Read
{
    snwContext* context;
    snwAsset* asset;
    snwMessage message;
    snwResult result;
} Read;

static Read ReadBytes(const char* name, const char* data, size_t size, Shelf* shelf)
{
    Read read = {.context = snwFixture_Context(1, snw_simdAuto, NULL)};
    snwAssetFolder folder = {TakeFile, shelf};
    // A copy of the very size, so that a sanitizer sees whoever reads behind it.
    char* copy = malloc(size + 1);
    memcpy(copy, data, size);
    copy[size] = 0;
    snwAssetInput input = {name, copy, size, shelf == NULL ? NULL : &folder};
    read.result = snwAsset_Read(read.context, &input, &read.asset, &read.message);
    free(copy);
    return read;
}

static Read ReadText(const char* name, const char* text)
{
    return ReadBytes(name, text, strlen(text), NULL);
}

static void Free(Read* read)
{
    snwAsset_Close(read->asset);
    snwDestroyContext(read->context);
}

static bool HasNote(const snwAsset* asset, const char* part)
{
    for (int i = 0; i < asset->noteCount; ++i)
        if (strstr(asset->notes[i].text, part) != NULL)
            return true;
    return false;
}

typedef struct Mistake
{
    const char* text;
    const char* place; // NULL: any
    const char* words;
} Mistake;

static void CheckMistakes(const char* name, const Mistake* mistakes, int count)
{
    for (int i = 0; i < count; ++i)
    {
        Read read = ReadText(name, mistakes[i].text);
        if (read.result != snw_errorInput || read.asset != NULL)
            snwTest_Fail(__FILE__, __LINE__, "mistake %d was read: %s", i, mistakes[i].text);
        CHECK_CONTAINS(read.message.text, mistakes[i].words);
        CHECK_CONTAINS(read.message.file, name);
        if (mistakes[i].place != NULL)
            CHECK_CONTAINS(read.message.place, mistakes[i].place);
        Free(&read);
    }
}

#define CHECK_MISTAKES(name, mistakes) CheckMistakes(name, mistakes, (int)(sizeof(mistakes) / sizeof *(mistakes)))

// ---------------------------------------------------------------------------------------------------------------------
// TGF and DMAT

TEST(rigfile, handlesComeInTheOrderOfWeights)
{
    Read read = ReadText("a.tgf", "1 0 0 0\n2 1 0 0\n3 0 1 0\n4\t0 0 1\r\n5 5 5\n#\n1 2 1 0 0 0\n3 4 0 1 0\n4 3 0 0 1\n"
                                  "2 3\n# faces\n1 2 3\n");
    REQUIRE(read.result == snw_ok);
    const snwAsset* asset = read.asset;
    static const snwAssetHandle s_wanted[] = {{snw_assetPointHandle, 3, -1}, {snw_assetPointHandle, 4, -1},
        {snw_assetBoneHandle, 0, 1}, {snw_assetBoneHandle, 1, 2}, {snw_assetPseudoEdge, 2, 3},
        {snw_assetCageEdge, 3, 2}};
    CHECK_INT(asset->pointCount, 5);
    CHECK_INT(asset->movedHandleCount, 4);
    CHECK_INT(asset->handleCount, 6);
    for (int i = 0; i < 6 && i < asset->handleCount; ++i)
        CHECK(asset->handles[i].kind == s_wanted[i].kind && asset->handles[i].a == s_wanted[i].a &&
              asset->handles[i].b == s_wanted[i].b);
    CHECK(asset->points[4].x == 5 && asset->points[4].y == 5 && asset->points[4].z == 0);
    CHECK(HasNote(asset, "without z"));
    CHECK(HasNote(asset, "taken as bones"));
    CHECK(HasNote(asset, "1 lines behind the edges"));
    Free(&read);
}

TEST(rigfile, tgfMistakesAreNamedWithTheirLine)
{
    static const Mistake s_mistakes[] = {
        {"", NULL, "no points"},
        {"#\n#\n", NULL, "no points"},
        {"1 0 0 0\nx 0 0 0\n", "line 2", "number of point 2"},
        {"1 0 nan 0\n", "line 1", "y of point 1"},
        {"1 0\n", "line 1", "y of point 1"},
        {"1 0 0 1e999\n", "line 1", "z of point 1"},
        {"1 0 0 0\n#\n1 2 1\n", "line 3", "goes to point 2, and there are 1"},
        {"1 0 0 0\n#\n0 1 1\n", "line 3", "goes to point 0"},
        {"1 0 0 0\n#\n1 1 1\n", "line 3", "to itself"},
        {"1 0 0 0\n2 0 0 0\n#\n\n1\n", "line 5", "no two points"},
        {"1 0 0 0\n2 0 0 0\n#\n1 2 yes\n", "line 4", "flag"},
    };
    CHECK_MISTAKES("a.tgf", s_mistakes);
}

TEST(rigfile, matricesAreTextOrRaw)
{
    static const double s_values[] = {1, 0.5, -6.1e-9, 1e300, 0, 3};
    char raw[8 + 8 + 48] = "0 0\n2 3\n";
    memcpy(raw + 8, s_values, sizeof s_values);
    Read text = ReadText("a.dmat", "2 3\n1\n0.5\n-6.1e-09\n1e300 0\n3\n");
    Read binary = ReadBytes("a.dmat", raw, 8 + sizeof s_values, NULL);
    REQUIRE(text.result == snw_ok && binary.result == snw_ok);
    CHECK_INT(text.asset->matrix.rows, 3);
    CHECK_INT(text.asset->matrix.columns, 2);
    CHECK(memcmp(text.asset->matrix.values, s_values, sizeof s_values) == 0);
    CHECK_INT(binary.asset->matrix.rows, 3);
    CHECK(memcmp(binary.asset->matrix.values, s_values, sizeof s_values) == 0);
    CHECK_INT(text.asset->noteCount + binary.asset->noteCount, 0);
    Free(&text);
    Free(&binary);
    Read more = ReadText("a.dmat", "1 1\n4\n5\n");
    REQUIRE(more.result == snw_ok);
    CHECK(HasNote(more.asset, "behind the last value"));
    Free(&more);
}

TEST(rigfile, dmatMistakesAreNamed)
{
    static const Mistake s_mistakes[] = {
        {"", "line 1", "number of columns"},
        {"2 x\n", "line 1", "number of rows"},
        {"-1 2\n", "line 1", "number of columns"},
        {"2 3\n1 2 3 4 5\n", "line", "ends before row 2 of column 1"},
        {"50000000 50000000\n1\n", "line 1", "room for at most"},
        {"2 2\n1 2 inf 4\n", "line 2", "row 0 of column 1"},
        {"2 2\n1.00 2 3\n", NULL, "ends before row 1 of column 1"},
        {"0 0\n2 3\nshort", NULL, "room for at most"},
        {"0 0\n1 1 12345678", NULL, "second header"},
        {"0 0\n1 1\n\xff\xff\xff\xff\xff\xff\xff\x7f", NULL, "row 0 of column 0"},
    };
    CHECK_MISTAKES("a.dmat", s_mistakes);
}

// ---------------------------------------------------------------------------------------------------------------------
// Motions of handles

static double Distance(snwVec3 a, snwVec3 b)
{
    return snwVec3_Length(snwVec3_Sub(a, b));
}

TEST(rigfile, pointHandlesTurnAboutThemselves)
{
    // At rest turned by 90 degrees about y; in the frame by 180, and moved up by 2: a quarter turn about itself.
    Read read = ReadText("a_anim.txt", "1 1\n1 1 0\n0 90 0\n1 3 0\n0 180 0\n");
    REQUIRE(read.result == snw_ok);
    CHECK_INT(read.asset->handleMotion.frameCount, 1);
    snwTransform t = read.asset->handleMotion.transforms[0];
    CHECK_NEAR(Distance(snwTransform_Apply(t, (snwVec3){1, 1, 0}), (snwVec3){1, 3, 0}), 0, 1e-14);
    CHECK_NEAR(Distance(snwTransform_Apply(t, (snwVec3){2, 1, 0}), (snwVec3){1, 3, -1}), 0, 1e-14);
    Free(&read);
}

// Angles turn about x first, then y, then z of the world.
TEST(rigfile, anglesTurnAboutXFirst)
{
    Read read = ReadText("a_anim.txt", "1 1\n0 0 0\n0 0 0\n0 0 0\n90 0 90\n");
    REQUIRE(read.result == snw_ok);
    snwTransform t = read.asset->handleMotion.transforms[0];
    CHECK_NEAR(Distance(snwTransform_Apply(t, (snwVec3){0, 1, 0}), (snwVec3){0, 0, 1}), 0, 1e-14);
    CHECK_NEAR(Distance(snwTransform_Apply(t, (snwVec3){1, 0, 0}), (snwVec3){0, 1, 0}), 0, 1e-14);
    Free(&read);
}

// Two handles: twelve numbers per block in both layouts. The skeleton decides.
TEST(rigfile, theSkeletonTellsBonesFromPoints)
{
    const char* motion = "2 1\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 90\n";
    const char* bones = "1 0 0 0\n2 1 0 0\n3 2 0 0\n#\n1 2 1 0 0\n2 3 1 0 0\n";
    const char* points = "1 0 0 0\n2 1 0 0\n#\n#\n";
    Shelf shelf = {{{"a.tgf", bones, strlen(bones)}}, 1};
    Read read = ReadBytes("a_anim.txt", motion, strlen(motion), &shelf);
    REQUIRE(read.result == snw_ok);
    snwTransform t = read.asset->handleMotion.transforms[1];
    CHECK_NEAR(Distance(snwTransform_Apply(t, (snwVec3){2, 0, 0}), (snwVec3){1, 1, 0}), 0, 1e-14);
    Free(&read);
    shelf.files[0] = (File){"a.tgf", points, strlen(points)};
    read = ReadBytes("a_anim.txt", motion, strlen(motion), &shelf);
    REQUIRE(read.result == snw_ok);
    CHECK_NEAR(
        Distance(snwTransform_Apply(read.asset->handleMotion.transforms[1], (snwVec3){1, 0, 0}), (snwVec3){1, 0, 0}), 0,
        1e-14);
    Free(&read);
    read = ReadText("a_anim.txt", motion);
    REQUIRE(read.result == snw_ok);
    CHECK(HasNote(read.asset, "taken as points"));
    Free(&read);
}

// The published formulas, plainly: matrices, and parents by recursion.
typedef struct Oracle
{
    const double* numbers;
    const int (*edges)[2];
    const snwVec3* points;
    int bones;
} Oracle;

static snwMat3 AngleMatrix(const double* degrees)
{
    double a[3];
    for (int i = 0; i < 3; ++i)
        a[i] = degrees[i] * SNW_PI / 180;
    snwMat3 x = {{{1, 0, 0}, {0, cos(a[0]), -sin(a[0])}, {0, sin(a[0]), cos(a[0])}}};
    snwMat3 y = {{{cos(a[1]), 0, sin(a[1])}, {0, 1, 0}, {-sin(a[1]), 0, cos(a[1])}}};
    snwMat3 z = {{{cos(a[2]), -sin(a[2]), 0}, {sin(a[2]), cos(a[2]), 0}, {0, 0, 1}}};
    return snwMat3_Mul(z, snwMat3_Mul(y, x));
}

static snwMat3 AboutRest(const double* rest, const double* degrees)
{
    snwMat3 a = AngleMatrix(rest);
    return snwMat3_Mul(a, snwMat3_Mul(AngleMatrix(degrees), snwMat3_Transpose(a)));
}

static int ParentOf(const Oracle* oracle, int bone)
{
    for (int i = oracle->bones - 1; i >= 0; --i)
        if (oracle->edges[i][1] == oracle->edges[bone][0])
            return i;
    return -1;
}

static snwAffine PoseOf(const Oracle* oracle, int frame, int bone)
{
    const double* rest = oracle->numbers;
    const double* now = rest + (size_t)(frame + 1) * (size_t)(6 + 3 * oracle->bones);
    snwMat3 turn = AboutRest(rest + 6 + 3 * bone, now + 6 + 3 * bone);
    snwVec3 r = oracle->points[oracle->edges[bone][0]];
    int parent = ParentOf(oracle, bone), roots = 0;
    for (int i = 0; i < oracle->bones; ++i)
        roots += ParentOf(oracle, i) < 0;
    if (parent < 0)
    {
        if (roots > 1)
            turn = snwMat3_Mul(turn, AboutRest(rest + 3, now));
        snwVec3 shift = {now[3] - rest[0], now[4] - rest[1], now[5] - rest[2]};
        return (snwAffine){turn, snwVec3_Add(snwVec3_Sub(r, snwMat3_MulVec(turn, r)), shift)};
    }
    snwAffine up = PoseOf(oracle, frame, parent);
    snwMat3 whole = snwMat3_Mul(up.linear, turn);
    snwVec3 moved = snwAffine_Apply(up, r);
    return (snwAffine){whole, snwVec3_Sub(moved, snwMat3_MulVec(whole, r))};
}

enum
{
    snw_testBones = 7,
    snw_testFrames = 3,
    snw_testNumbers = (snw_testFrames + 1) * (6 + 3 * snw_testBones),
};

TEST(rigfile, bonesFollowTheirParents)
{
    // Children before parents, and two roots at point 0.
    static const int s_edges[snw_testBones][2] = {{3, 4}, {2, 3}, {0, 2}, {0, 1}, {1, 5}, {5, 6}, {4, 7}};
    uint64_t seed = 7;
    double numbers[snw_testNumbers];
    snwVec3 points[8];
    char tgf[2000], motion[8000];
    int size = 0;
    for (int i = 0; i < 8; ++i)
    {
        points[i] = (snwVec3){snwTest_Random(&seed), snwTest_Random(&seed), snwTest_Random(&seed)};
        size += sprintf(tgf + size, "%d %.17g %.17g %.17g\n", i + 1, points[i].x, points[i].y, points[i].z);
    }
    size += sprintf(tgf + size, "#\n");
    for (int i = 0; i < snw_testBones; ++i)
        size += sprintf(tgf + size, "%d %d 1 0 0\n", s_edges[i][0] + 1, s_edges[i][1] + 1);
    size = sprintf(motion, "%d %d\n", snw_testBones, snw_testFrames);
    for (int i = 0; i < snw_testNumbers; ++i)
    {
        numbers[i] = 400 * snwTest_Random(&seed) - 200;
        size += sprintf(motion + size, "%.17g%c", numbers[i], i % 3 == 2 ? '\n' : '\t');
    }
    Shelf shelf = {{{"a.tgf", tgf, strlen(tgf)}}, 1};
    Read read = ReadBytes("a_anim.txt", motion, strlen(motion), &shelf);
    REQUIRE(read.result == snw_ok);
    Oracle oracle = {numbers, s_edges, points, snw_testBones};
    double worst = 0;
    for (int k = 0; k < snw_testFrames; ++k)
        for (int i = 0; i < snw_testBones; ++i)
            for (int p = 0; p < 8; ++p)
                worst = fmax(worst,
                    Distance(snwAffine_Apply(PoseOf(&oracle, k, i), points[p]),
                        snwTransform_Apply(read.asset->handleMotion.transforms[k * snw_testBones + i], points[p])));
    CHECK_NEAR(worst, 0, 1e-11);
    Free(&read);
}

TEST(rigfile, motionMistakesAreNamed)
{
    static const Mistake s_mistakes[] = {
        {"", "line 1", "number of handles"},
        {"0 1\n", "line 1", "number of handles"},
        {"1 0\n", "line 1", "number of frames"},
        {"100000 50000000\n0 0 0\n", "line 1", "there are 3"},
        {"1 1\n0 0 0\n0 0 0\n0 0 0\n0 0\n", "line 1", "12 numbers (points) or 18 (bones); there are 11"},
        {"1 1\n0 0 0\n0 0 0\n0 nan 0\n0 0 0\n", "line 4", "frame 0"},
        {"1 1\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n", NULL, "a skeleton that is not there"},
        {"1 1\n1e308 0 0\n0 0 0\n-1e308 0 0\n0 0 0\n", NULL, "frame 0: handle 0 goes beyond"},
    };
    CHECK_MISTAKES("a_anim.txt", s_mistakes);
}

TEST(rigfile, motionsMustFitTheirSkeleton)
{
    const char* one = "1 1\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n";
    const char* bones = "3 1\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n";
    const char* two = "1 0 0 0\n2 1 0 0\n#\n#\n";
    const char* circle = "1 0 0 0\n2 1 0 0\n3 0 1 0\n#\n1 2 1\n2 3 1\n3 1 1\n";
    const char* mixed = "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n#\n1 2 1\n";
    const struct
    {
        const char *motion, *skeleton, *words;
    } cases[] = {{one, two, "moves 1 handles, the skeleton has 2"}, {bones, circle, "circle"},
        {bones, mixed, "handle 0 of the skeleton is none"}, {one, "broken", "number of point 1"}};
    for (int i = 0; i < 4; ++i)
    {
        Shelf shelf = {{{"a.tgf", cases[i].skeleton, strlen(cases[i].skeleton)}}, 1};
        Read read = ReadBytes("a_anim.txt", cases[i].motion, strlen(cases[i].motion), &shelf);
        CHECK_INT(read.result, snw_errorInput);
        CHECK_CONTAINS(read.message.text, cases[i].words);
        CHECK_CONTAINS(read.message.file, i == 3 ? "a.tgf" : "a_anim.txt");
        Free(&read);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Joints

static const char s_leg[] = "joint 1 # version\n"
                            "bone pelvis 2 head 0 1 0 tail 0 1.2 0 radius 0.1\n"
                            "bone thigh 3 head 0 1 0 tail 0 0.5 0 radius 0.1 parent pelvis\n"
                            "\n"
                            "bone shin -4 parent thigh head 0 0.5 0\n"
                            "joint root free world pelvis\n"
                            "joint hip ball pelvis thigh at 0 1 0 axis 0 -2 0 cone 60 range -30 30 damping 0.5\n"
                            "joint knee hinge thigh shin at 0 0.5 0 axis 1 0 0 range 0 140 stiffness 20 motor 15\n"
                            "joint slide prismatic thigh shin axis 0.6 0 0.8 range -0.25 0.5\n";

TEST(rigfile, jointsOfRegions)
{
    Read read = ReadText("leg.joint", s_leg);
    REQUIRE(read.result == snw_ok);
    const snwAsset* asset = read.asset;
    CHECK_INT(asset->boneCount, 3);
    REQUIRE(asset->jointCount == 4);
    CHECK(asset->bones[2].label == -4 && asset->bones[2].def.parent == 1 && asset->bones[0].def.parent == -1);
    CHECK(asset->bones[1].def.tail.y == 0.5 && asset->bones[1].def.radius == 0.1);
    const snwJointDef* hip = &asset->joints[1];
    CHECK(hip->type == snw_jointBall && hip->parentBone == 0 && hip->bone == 1 && hip->axis.y == -1);
    CHECK_NEAR(hip->cone, SNW_PI / 3, 1e-15);
    CHECK_NEAR(hip->lower, -SNW_PI / 6, 1e-15);
    const snwJointDef* knee = &asset->joints[2];
    CHECK(knee->motor && knee->stiffness == 20 && knee->damping == 0);
    CHECK_NEAR(knee->target, SNW_PI / 12, 1e-15);
    const snwJointDef* slide = &asset->joints[3];
    CHECK(slide->lower == -0.25 && slide->upper == 0.5 && slide->position.y == 0.5); // at the head of its bone
    CHECK(asset->joints[0].parentBone == -1 && asset->joints[0].lower > asset->joints[0].upper);
    Free(&read);
}

static bool SameJoint(const snwJointDef* a, const snwJointDef* b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->parentBone == b->parentBone &&
           a->bone == b->bone && memcmp(&a->position, &b->position, sizeof a->position) == 0 &&
           memcmp(&a->axis, &b->axis, sizeof a->axis) == 0 && memcmp(&a->axis2, &b->axis2, sizeof a->axis2) == 0 &&
           a->lower == b->lower && a->upper == b->upper && a->cone == b->cone && a->stiffness == b->stiffness &&
           a->damping == b->damping && a->motor == b->motor && a->target == b->target;
}

TEST(rigfile, jointsAreWrittenAndReadBackToTheSameBits)
{
    Read read = ReadText("leg.joint", s_leg);
    REQUIRE(read.result == snw_ok);
    snwWriter out = {.context = read.context};
    REQUIRE(snwJointText_Write(&out, read.asset, &read.message) == snw_ok);
    Read again = ReadBytes("leg.joint", (const char*)out.data, out.size, NULL);
    REQUIRE(again.result == snw_ok && again.asset->jointCount == 4 && again.asset->boneCount == 3);
    for (int i = 0; i < 4; ++i)
        CHECK(SameJoint(&read.asset->joints[i], &again.asset->joints[i]));
    for (int i = 0; i < 3; ++i)
        CHECK(read.asset->bones[i].label == again.asset->bones[i].label &&
              memcmp(&read.asset->bones[i].def.tail, &again.asset->bones[i].def.tail, sizeof(snwVec3)) == 0);
    snwFree(read.context, out.data);
    read.asset->joints[0].name = "two words";
    CHECK_INT(snwJointText_Write(&out, read.asset, &read.message), snw_errorArgument);
    Free(&again);
    Free(&read);
}

TEST(rigfile, jointMistakesAreNamedWithTheirLine)
{
    static const Mistake s_mistakes[] = {
        {"", NULL, "not a .joint file"},
        {"joint 2\n", "line 1", "version 2"},
        {"joint 1 1\n", "line 1", "behind the version"},
        {"joint 1\nbones a 1\n", "line 2", "begins with 'bones'"},
        {"joint 1\nbone\n", "line 2", "name of a bone is missing"},
        {"joint 1\nbone a x\n", "line 2", "label of bone 'a'"},
        {"joint 1\nbone a 1\nbone a 2\n", "line 3", "already"},
        {"joint 1\nbone a 1 parent b\nbone b 2\n", "line 2", "no bone 'b'"},
        {"joint 1\nbone a 1 colour red\n", "line 2", "no 'colour'"},
        {"joint 1\nbone a 1 head 0 0\n", "line 2", "head: number 3 of 3"},
        {"joint 1\nbone a 1 radius -1\n", "line 2", "radius"},
        {"joint 1\nbone a 1\njoint j ballet world a\n", "line 3", "type"},
        {"joint 1\nbone a 1\njoint j ball a a\n", "line 3", "to itself"},
        {"joint 1\nbone a 1\njoint j ball a world\n", "line 3", "child bone: there is no bone 'world'"},
        {"joint 1\nbone a 1\njoint j hinge world a axis 0 0 0\n", "line 3", "no length"},
        {"joint 1\nbone a 1\njoint j hinge world a range 5 -5\n", "line 3", "upside down"},
        {"joint 1\nbone a 1\njoint j ball world a cone 181\n", "line 3", "0 to 180"},
        {"joint 1\nbone a 1\njoint j universal world a axis2 1 0 0\n", "line 3", "the same"},
        {"joint 1\nbone a 1\njoint j ball world a damping -1\n", "line 3", "not below 0"},
    };
    CHECK_MISTAKES("a.joint", s_mistakes);
}

// ---------------------------------------------------------------------------------------------------------------------
// Point caches

enum
{
    snw_testPoints = 5,
    snw_testSamples = 4,
};

static void MakePositions(float* positions)
{
    uint64_t seed = 3;
    for (int i = 0; i < snw_testSamples * snw_testPoints * 3; ++i)
        positions[i] = (float)(100 * snwTest_Random(&seed) - 50);
}

// Written by our exporter, for a run that ends before its time.
static Read WriteAndReadCache(bool mdd, const float* positions, int frames)
{
    Read read = {.context = snwFixture_Context(1, snw_simdAuto, NULL)};
    char path[300];
    snwPointCache cache;
    snprintf(path, sizeof path, "%s/rigfile-cache.%s", snwTest_TempDir(), mdd ? "mdd" : "pc2");
    read.result = snwPointCache_Open(&cache, read.context, path, mdd, true, &read.message);
    cache.expected = snw_testSamples;
    cache.rate = 24;
    for (int i = 0; read.result >= 0 && i < frames; ++i)
        read.result = snwPointCache_AddFrame(&cache, positions + i * snw_testPoints * 3, snw_testPoints, &read.message);
    if (read.result >= 0)
        read.result = snwPointCache_Finish(&cache, &read.message);
    if (read.result >= 0)
        read.result = snwAsset_Open(read.context, path, &read.asset, &read.message);
    return read;
}

TEST(rigfile, exportedCachesReadBackExactly)
{
    float positions[snw_testSamples * snw_testPoints * 3];
    MakePositions(positions);
    for (int i = 0; i < 4; ++i)
    {
        bool mdd = i % 2 == 1;
        int frames = i < 2 ? snw_testSamples : 2;
        Read read = WriteAndReadCache(mdd, positions, frames);
        REQUIRE(read.result == snw_ok);
        const snwAssetCache* cache = &read.asset->cache;
        CHECK_INT(cache->frameCount, frames);
        CHECK_INT(cache->pointCount, snw_testPoints);
        CHECK(memcmp(cache->positions, positions, (size_t)frames * snw_testPoints * 3 * sizeof(float)) == 0);
        CHECK_NEAR(cache->times[1], mdd ? 1.0 / 24 : 1.0, 1e-8);
        CHECK_INT(read.asset->noteCount, 0);
        Free(&read);
    }
}

static void Put32(unsigned char* at, uint32_t value, bool big)
{
    for (int i = 0; i < 4; ++i)
        at[i] = (unsigned char)(value >> (big ? 24 - 8 * i : 8 * i));
}

// frames and points as the header tells them; the bytes are those of 2 frames of 3 points, all zero.
static size_t MakeCache(unsigned char* bytes, bool mdd, uint32_t frames, uint32_t points)
{
    size_t header = mdd ? 16 : 32;
    memset(bytes, 0, header + 72);
    Put32(bytes + (mdd ? 0 : 28), frames, mdd);
    Put32(bytes + (mdd ? 4 : 16), points, mdd);
    if (!mdd)
    {
        memcpy(bytes, "POINTCACHE2", 12);
        Put32(bytes + 12, 1, false);
        Put32(bytes + 24, 0x3f800000, false);
    }
    return header + 72;
}

TEST(rigfile, cacheHeadersThatLieAreRefused)
{
    static const uint32_t s_lies[][2] = {
        {3, 3}, {2, 4}, {0x7fffffff, 3}, {2, 0x7fffffff}, {0xffffffff, 0xffffffff}, {0x55555556, 1}, {0, 3}, {2, 0}};
    unsigned char bytes[128];
    for (int i = 0; i < 16; ++i)
    {
        bool mdd = i % 2 == 1;
        size_t size = MakeCache(bytes, mdd, s_lies[i / 2][0], s_lies[i / 2][1]);
        Read read = ReadBytes(mdd ? "a.mdd" : "a.pc2", (char*)bytes, size, NULL);
        CHECK_INT(read.result, snw_errorInput);
        CHECK(read.message.text[0] != 0);
        Free(&read);
    }
    Read read = ReadBytes("a.pc2", "POINTCACHE2", 12, NULL);
    CHECK_CONTAINS(read.message.text, "not a PC2");
    Free(&read);
    size_t size = MakeCache(bytes, false, 2, 3);
    Put32(bytes + 12, 2, false);
    read = ReadBytes("a.pc2", (char*)bytes, size, NULL);
    CHECK_CONTAINS(read.message.text, "version 2");
    Free(&read);
}

TEST(rigfile, cachesNameFrameAndPointOfWhatIsNotFinite)
{
    unsigned char bytes[128];
    for (int i = 0; i < 2; ++i)
    {
        bool mdd = i == 1;
        size_t size = MakeCache(bytes, mdd, 2, 3);
        Put32(bytes + (mdd ? 16 : 32) + 36 + 12 * 2 + 4, 0x7fc00000, mdd);
        Read read = ReadBytes(mdd ? "a.mdd" : "a.pc2", (char*)bytes, size, NULL);
        CHECK_INT(read.result, snw_errorInput);
        CHECK_CONTAINS(read.message.text, "frame 1, point 2: y");
        Free(&read);
        size = MakeCache(bytes, mdd, 1, 3); // an honest header with a frame too much behind it
        read = ReadBytes(mdd ? "a.mdd" : "a.pc2", (char*)bytes, size, NULL);
        REQUIRE(read.result == snw_ok);
        CHECK(HasNote(read.asset, mdd ? "40 bytes behind" : "36 bytes behind"));
        Free(&read);
    }
    size_t size = MakeCache(bytes, true, 2, 3);
    Put32(bytes + 12, 0x7f800000, true);
    Read read = ReadBytes("a.mdd", (char*)bytes, size, NULL);
    CHECK_CONTAINS(read.message.text, "frame 1: its time");
    Free(&read);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bundles

static const char s_bundle[] = "{\"mesh_file\": \"t.mesh\", \"handle_file\": \"t.tgf\", \"weight_file\": \"t.dmat\", "
                               "\"anim_file\": \"t.txt\", \"dt\": 0.5, \"YM\": 3e5, \"pr\": 0.4, \"scale\": 1, "
                               "\"model\": \"arap\", \"colour\": \"red\"}";
static const char s_tet[] = "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
                            "Tetrahedra\n1\n1 2 3 4 0\nEnd\n";
static const char s_twoPoints[] = "1 0 0 0\n2 1 0 0\n#\n#\n";
static const char s_weights[] = "2 4\n1\n0.5\n-0.25\n1e-9\n-1e-9\n0.5\n1\n0.5\n";
static const char s_motion[] = "2 2\n0 0 0\n0 0 0\n1 0 0\n0 0 0\n0 0 0\n0 0 0\n1 0 0\n0 0 0\n"
                               "0 1 0\n0 0 0\n1 0 0\n0 0 90\n";

#define FILE_OF(name, text)                                                                                            \
    {                                                                                                                  \
        name, text, sizeof(text) - 1                                                                                   \
    }

static const Shelf s_shelf = {
    {FILE_OF("t.mesh", s_tet), FILE_OF("t.tgf", s_twoPoints), FILE_OF("t.dmat", s_weights), FILE_OF("t.txt", s_motion)},
    4};

TEST(rigfile, bundlesBringTheirFilesTogether)
{
    Shelf shelf = s_shelf;
    Read read = ReadBytes("t.json", s_bundle, sizeof s_bundle - 1, &shelf);
    REQUIRE(read.result == snw_ok && read.asset->meshCount == 1);
    const snwAsset* asset = read.asset;
    const snwAssetWeights* weights = &asset->meshes[0].weights;
    CHECK_INT(asset->format, snw_assetBundle);
    CHECK_INT(asset->meshes[0].tetCount, 1);
    CHECK_INT(asset->movedHandleCount, 2);
    CHECK_INT(asset->handleMotion.frameCount, 2);
    CHECK_NEAR(asset->handleMotion.times[1], 0.5, 0);
    CHECK(asset->flesh.young == 3e5 && asset->flesh.poisson == 0.4 && strcmp(asset->flesh.model, "arap") == 0);
    static const int s_starts[] = {0, 1, 3, 4, 5};
    static const double s_values[] = {1, 0.5, 0.5, 1, 1}; // the last was 0.5 alone
    REQUIRE(weights->starts != NULL && weights->boneCount == 2);
    CHECK(memcmp(weights->starts, s_starts, sizeof s_starts) == 0);
    for (int i = 0; i < 5; ++i)
        CHECK_NEAR(weights->values[i], s_values[i], 1e-15);
    CHECK(weights->bones[0] == 0 && weights->bones[2] == 1 && weights->bones[4] == 1);
    CHECK(HasNote(asset, "below zero"));
    CHECK(HasNote(asset, "sum to one"));
    CHECK(HasNote(asset, "'colour'"));
    Free(&read);
}

TEST(rigfile, bundleMistakesAreNamedWithTheirFile)
{
    static const char s_threeRows[] = "2 3\n1 0 0 0 1 1\n", s_threeColumns[] = "3 4\n1 0 0 0 1 1 0 0 0 0 0 0\n";
    static const struct
    {
        const char* bundle;
        const char* weights; // NULL: the usual
        const char *file, *words;
    } s_cases[] = {
        {"[1]", NULL, "t.json", "a bundle is an object"},
        {"{", NULL, "t.json", ""},
        {"{\"handle_file\": \"t.tgf\"}", NULL, "t.json", "no mesh_file"},
        {"{\"mesh_file\": 3}", NULL, "t.json", "must be a text"},
        {"{\"mesh_file\": \"t.mesh\", \"dt\": 0}", NULL, "t.json", ""},
        {"{\"mesh_file\": \"u.mesh\"}", NULL, "t.json", "no file 'u.mesh'"},
        {"{\"mesh_file\": \"t.json\"}", NULL, "t.json", "no kind that is read here"},
        {"{\"mesh_file\": \"t.mesh\", \"handle_file\": \"t.dmat\"}", NULL, "t.dmat", "point 1"},
        {s_bundle, s_threeRows, "t.json", "weights have 3 rows, the mesh 4 vertices"},
        {s_bundle, s_threeColumns, "t.json", "weights have 3 columns, and there are 2 handles"},
    };
    for (int i = 0; i < 10; ++i)
    {
        Shelf shelf = s_shelf;
        if (s_cases[i].weights != NULL)
            shelf.files[2] = (File){"t.dmat", s_cases[i].weights, strlen(s_cases[i].weights)};
        Read read = ReadBytes("t.json", s_cases[i].bundle, strlen(s_cases[i].bundle), &shelf);
        if (read.result >= 0)
            snwTest_Fail(__FILE__, __LINE__, "bundle %d was read", i);
        CHECK_CONTAINS(read.message.file, s_cases[i].file);
        CHECK_CONTAINS(read.message.text, s_cases[i].words);
        Free(&read);
    }
}

TEST(rigfile, checkTellsBundlesFromScenesAndBlueprints)
{
    static const struct
    {
        const char *path, *words;
    } s_files[] = {{"scenes/jello.json", "scene of"}, {"characters/frog.json", "blueprint of"}};
    char path[600];
    for (int i = 0; i < 2; ++i)
    {
        snprintf(path, sizeof path, "%s/%s", SNW_SOURCE_DIR, s_files[i].path);
        snwProcess run = RUN("check", path);
        CHECK_INT(run.code, 0);
        CHECK_CONTAINS(run.text, s_files[i].words);
        snwProcess_Free(&run);
    }
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const char* const s_names[] = {"t.json", "t.mesh", "t.tgf", "t.dmat", "t.txt"};
    for (int i = 0; i < 5; ++i)
    {
        snprintf(path, sizeof path, "%s/%s", snwTest_TempDir(), s_names[i]);
        const char* text = i == 0 ? s_bundle : s_shelf.files[i - 1].data;
        CHECK(snwFile_Write(context, path, text, strlen(text), true, NULL) == snw_ok);
    }
    snwDestroyContext(context);
    snprintf(path, sizeof path, "%s/t.json", snwTest_TempDir());
    snwProcess run = RUN("check", path);
    CHECK_INT(run.code, 0);
    CHECK_CONTAINS(run.text, "4 vertices, 1 tet, 2 handles, 2 frames of a motion");
    snwProcess_Free(&run);
}

// ---------------------------------------------------------------------------------------------------------------------
// No file does harm: the fuzzers' seeds, cut off everywhere and with every allocation failing

typedef struct Seed
{
    char name[64]; // with the ending of its reader
    char* text;
    size_t size;
    Shelf shelf; // what stands beside it
} Seed;

// The parts of a seed are parted by '@'; see the fuzzers.
static void CutSeed(Seed* seed, const char* kind, char* text, size_t size)
{
    static const char* const s_beside[] = {"t.mesh", "t.tgf", "t.dmat", "t_anim.txt"};
    bool bundle = strcmp(kind, "bundle") == 0, motion = strcmp(kind, "handle_text") == 0;
    char* cut = bundle || motion ? memchr(text, '@', size) : NULL;
    size_t first = cut == NULL ? size : (size_t)(cut - text);
    *seed = (Seed){.text = text, .size = first};
    snprintf(seed->name, sizeof seed->name, "t%s%s", motion ? "_anim" : ".",
        bundle                       ? "json"
        : motion                     ? ".txt"
        : strcmp(kind, "cache") == 0 ? "pc2"
                                     : kind);
    if (motion && cut != NULL) // the skeleton comes first
    {
        seed->shelf = (Shelf){{{"t.tgf", text, first}}, 1};
        seed->text = cut + 1;
        seed->size = size - first - 1;
    }
    for (int i = 0; bundle && i < 4 && cut != NULL; ++i)
    {
        char* begin = cut + 1;
        cut = memchr(begin, '@', size - (size_t)(begin - text));
        size_t length = cut == NULL ? size - (size_t)(begin - text) : (size_t)(cut - begin);
        seed->shelf.files[seed->shelf.count++] = (File){s_beside[i], begin, length};
    }
}

static char* LoadSeed(const char* folder, const char* name, size_t* size)
{
    char path[600];
    char* data = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char* text = NULL;
    if (name[0] != '.' && snwFile_Read(context, path, 1 << 20, &text, size, NULL) >= 0)
    {
        data = malloc(*size + 1);
        memcpy(data, text, *size + 1);
    }
    snwFree(context, text);
    snwDestroyContext(context);
    return data;
}

static int ForEverySeed(const char* kind, void (*check)(Seed* seed))
{
    char folder[512];
    int count = 0;
    snprintf(folder, sizeof folder, "%s/fuzz/seeds/%s", SNW_SOURCE_DIR, kind);
    DIR* listing = opendir(folder);
    for (struct dirent* entry; listing != NULL && (entry = readdir(listing)) != NULL;)
    {
        size_t size = 0;
        char* text = LoadSeed(folder, entry->d_name, &size);
        if (text == NULL)
            continue;
        Seed seed;
        CutSeed(&seed, kind, text, size);
        check(&seed);
        if (strncmp(entry->d_name, "mdd", 3) == 0)
        {
            snprintf(seed.name, sizeof seed.name, "t.mdd");
            check(&seed);
        }
        free(text);
        count += 1;
    }
    if (listing != NULL)
        closedir(listing);
    return count;
}

static const char* const s_kinds[] = {"tgf", "dmat", "handle_text", "joint", "cache", "bundle"};

static void CheckTruncations(Seed* seed)
{
    for (size_t size = 0; size <= seed->size; ++size)
    {
        Read read = ReadBytes(seed->name, seed->text, size, &seed->shelf);
        if (read.result < 0)
            CHECK(read.message.text[0] != 0 && read.message.file[0] != 0);
        Free(&read);
    }
}

TEST(rigfile, everyTruncationIsReadOrRefusedWithWords)
{
    for (int i = 0; i < 6; ++i)
        CHECK(ForEverySeed(s_kinds[i], CheckTruncations) > 0);
}

// The result, and whether the allocation that should fail came at all.
static snwResult ReadWithout(Seed* seed, long failAt, bool* failed)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwAssetFolder folder = {TakeFile, &seed->shelf};
    snwAssetInput input = {seed->name, seed->text, seed->size, &folder};
    snwAsset* asset = NULL;
    snwMessage message = {0};
    counter.failAt = failAt == 0 ? 0 : counter.allocations + failAt;
    snwResult result = snwAsset_Read(context, &input, &asset, &message);
    *failed = failAt > 0 && counter.allocations >= counter.failAt;
    CHECK(result >= 0 || (asset == NULL && message.text[0] != 0));
    snwAsset_Close(asset);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
    return result;
}

static void CheckAllocations(Seed* seed)
{
    char end = seed->text[seed->size];
    bool failed = true, mesh = seed->shelf.count > 1; // readers of meshes do without a note
    seed->text[seed->size] = 0;
    snwResult whole = ReadWithout(seed, 0, &failed);
    failed = true;
    for (long failAt = 1; failed; ++failAt)
    {
        snwResult result = ReadWithout(seed, failAt, &failed);
        bool fits = failed ? result == snw_errorMemory || (result == whole && (whole < 0 || mesh)) : result == whole;
        if (!fits)
            snwTest_Fail(__FILE__, __LINE__, "%s: allocation %ld gives %d", seed->name, failAt, result);
    }
    seed->text[seed->size] = end;
}

TEST(rigfile, everyFailedAllocationIsAnErrorWithoutLeak)
{
    for (int i = 0; i < 6; ++i)
        CHECK(ForEverySeed(s_kinds[i], CheckAllocations) > 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Real files, where SINEW_DATA names their folder

static bool OpenData(const char* path, Read* read)
{
    const char* folder = getenv("SINEW_DATA");
    char whole[600];
    if (folder == NULL)
        return false;
    *read = (Read){.context = snwFixture_Context(1, snw_simdAuto, NULL)};
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    read->result = snwAsset_Open(read->context, whole, &read->asset, &read->message);
    if (read->result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s: %s", path, read->message.place, read->message.text);
    return true;
}

TEST(rigfile, realCachesAgreeWithEachOther)
{
    Read pc2, mdd;
    if (!OpenData("blender-rig/wob.pc2", &pc2))
        SKIP("SINEW_DATA is not set");
    OpenData("blender-rig/wob.mdd", &mdd);
    REQUIRE(pc2.result == snw_ok && mdd.result == snw_ok);
    const snwAssetCache *a = &pc2.asset->cache, *b = &mdd.asset->cache;
    CHECK_INT(a->pointCount, 504);
    CHECK_INT(b->pointCount, 504);
    REQUIRE(a->frameCount == b->frameCount && a->pointCount == b->pointCount);
    CHECK(memcmp(a->positions, b->positions, (size_t)a->frameCount * 504 * 3 * sizeof(float)) == 0);
    Free(&pc2);
    Free(&mdd);
}

TEST(rigfile, realMotionsStartAtRest)
{
    static const struct
    {
        const char* path;
        int handles, frames;
    } s_files[] = {
        {"elephant/elephant", 24, 457}, {"fish/fish", 2, 180}, {"frog/frog", 1, 40}, {"sphere/sphere", 2, 30}};
    for (int i = 0; i < 4; ++i)
    {
        char path[200];
        Read read;
        snprintf(path, sizeof path, "complementary-dynamics/%s_anim.txt", s_files[i].path);
        if (!OpenData(path, &read))
            SKIP("SINEW_DATA is not set");
        REQUIRE(read.result == snw_ok);
        const snwAssetHandleMotion* motion = &read.asset->handleMotion;
        CHECK_INT(motion->handleCount, s_files[i].handles);
        CHECK_INT(motion->frameCount, s_files[i].frames);
        CHECK_INT(read.asset->movedHandleCount, s_files[i].handles);
        for (int k = 0; k < motion->handleCount; ++k)
        {
            CHECK_NEAR(snwQuat_Angle(motion->transforms[k].rotation, snwQuat_Identity()), 0, 1e-12);
            CHECK_NEAR(snwVec3_Length(motion->transforms[k].position), 0, 1e-11);
        }
        Free(&read);
    }
}

// Linear blend skinning, plainly.
static snwVec3 Skin(const snwAsset* asset, int frame, int vertex)
{
    const snwAssetMesh* mesh = &asset->meshes[0];
    const snwTransform* transforms = asset->handleMotion.transforms +
                                     (size_t)frame * (size_t)asset->handleMotion.handleCount;
    snwVec3 sum = {0, 0, 0};
    for (int k = mesh->weights.starts[vertex]; k < mesh->weights.starts[vertex + 1]; ++k)
        sum = snwVec3_MulAdd(sum, mesh->weights.values[k],
            snwTransform_Apply(transforms[mesh->weights.bones[k]], mesh->positions[vertex]));
    return sum;
}

// The elephant by its bones: starts at rest and goes on without jumps. With the angles in the other order it jumps by
// 183.
TEST_HEAVY(rigfile, realBundlesMoveSmoothly)
{
    static const struct
    {
        const char* path;
        int vertices, tets, handles;
        double longest; // step between frames, in the file's units
    } s_files[] = {
        {"elephant/elephant", 494, 1502, 24, 21}, {"fish/fish", 6142, 21708, 2, 0}, {"frog/frog", 1749, 5389, 1, 0}};
    for (int i = 0; i < 3; ++i)
    {
        char path[200];
        Read read;
        snprintf(path, sizeof path, "complementary-dynamics/%s.json", s_files[i].path);
        if (!OpenData(path, &read))
            SKIP("SINEW_DATA is not set");
        REQUIRE(read.result == snw_ok && read.asset->meshCount == 1);
        const snwAsset* asset = read.asset;
        CHECK_INT(asset->meshes[0].vertexCount, s_files[i].vertices);
        CHECK_INT(asset->meshes[0].tetCount, s_files[i].tets);
        CHECK_INT(asset->meshes[0].weights.boneCount, s_files[i].handles);
        double rest = 0, step = 0;
        for (int v = 0; v < asset->meshes[0].vertexCount; ++v)
        {
            rest = fmax(rest, Distance(Skin(asset, 0, v), asset->meshes[0].positions[v]));
            for (int k = 1; s_files[i].longest > 0 && k < asset->handleMotion.frameCount; ++k)
                step = fmax(step, Distance(Skin(asset, k, v), Skin(asset, k - 1, v)));
        }
        CHECK_NEAR(rest, 0, 1e-11);
        if (s_files[i].longest > 0)
            CHECK(step > 1 && step < 1.5 * s_files[i].longest);
        Free(&read);
    }
}
