// Clips of one file on the skeleton of another.

#include "asset/poser.h"
#include "bake/retarget.h"
#include "fixture.h"
#include "gltf_fixture.h"
#include "math/transform.h"
#include "prepare_world.h"
#include "process.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SINEW    SNW_BINARY_DIR "/sinew"
#define RUN(...) snwProcess_Run((const char* const[]){SINEW, __VA_ARGS__, NULL})

// ---------------------------------------------------------------------------------------------------------------------
// The same rig: the same motion

static snwAsset* ReadWorld(snwContext* context, snwGltfWorld world)
{
    snwGltfBytes file = snwGltfWorld_Glb(&world);
    snwAssetInput input = {.name = "world.glb", .data = file.data, .size = file.size};
    snwAsset* asset = NULL;
    snwMessage message = {0};
    if (snwAsset_Read(context, &input, &asset, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    free(file.data);
    snwGltfWorld_Free(&world);
    return asset;
}

// Of the size: how far nodes are from where `scale` times those of the source are, at keys and between them.
static double Difference(const snwAsset* target, const snwAsset* source, int clip, double scale, snwRetargeted* put)
{
    snwArena arena = {.context = target->context};
    snwRetargetDef def = {.target = target, .source = source, .animation = clip};
    snwAssetPoser mine, theirs;
    snwMessage message = {0};
    double most = INFINITY, size = 0;
    if (snwRetarget(&arena, &def, put, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s (%s)", message.text, message.remedy);
    else if (snwAssetPoser_Make(target, &arena, &mine, NULL) >= 0 &&
             snwAssetPoser_Make(source, &arena, &theirs, NULL) >= 0)
    {
        most = 0;
        for (int k = 0; k <= 40; ++k)
        {
            double time = source->animations[clip].end * k / 40;
            snwAssetPoser_Pose(&mine, &put->animation, time);
            snwAssetPoser_Pose(&theirs, &source->animations[clip], time);
            for (int i = 0; i < target->skins[0].jointCount; ++i)
                for (int axis = -1; axis < 3; ++axis) // where it is, and where its axes point
                {
                    snwVec3 point = {axis == 0, axis == 1, axis == 2};
                    snwVec3 a = snwAffine_Apply(mine.places[target->skins[0].joints[i]], snwVec3_Scale(point, scale));
                    snwVec3 b = snwVec3_Scale(snwAffine_Apply(theirs.places[source->skins[0].joints[i]], point), scale);
                    most = fmax(most, snwVec3_Distance(a, b));
                    size = fmax(size, snwVec3_Length(b));
                }
        }
        most /= size;
    }
    put->animation = (snwAssetAnimation){.channelCount = put->animation.channelCount};
    snwArena_Free(&arena);
    return most;
}

TEST(retarget, theSameRigWithOtherNamesAndSizeMovesTheSame)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int posed = 0; posed < 2; ++posed) // the nodes of the target stand elsewhere than it was bound
    {
        snwAsset* source = ReadWorld(context, snwPrepareWorld_Make(&(snwPrepareWorld){.swing = true}));
        snwGltfWorld other = snwPrepareWorld_Make(&(snwPrepareWorld){.scale = 3, .posed = posed});
        snwGltfWorld_Set(&other, "nodes/1/name", "'mixamorig:Upper'");
        snwGltfWorld_Set(&other, "nodes/2/name", "'Armature|low_er'");
        snwGltfWorld_Set(&other, "nodes/3/name", "'END'");
        snwAsset* target = ReadWorld(context, other);
        REQUIRE(source != NULL && target != NULL);
        for (int clip = 0; clip < 2; ++clip)
        {
            snwRetargeted put;
            CHECK(Difference(target, source, clip, 3, &put) < 1e-7);
            CHECK(put.matched == 3 && put.jointCount == 3 && put.alone[0] == 0 && !put.turned);
            CHECK_NEAR(put.scale, 3, 1e-7);
        }
        snwAsset_Close(source);
        snwAsset_Close(target);
    }
    snwDestroyContext(context);
}

// Real rigs, renamed and made larger by their nodes: a node above all joints would be no test of lengths.
TEST(retarget, realRigsMoveTheSameUnderOtherNames)
{
    static const struct
    {
        const char* path;
        int clip;
    } s_files[] = {{"gltf/Fox.glb", 2}, {"real/Xbot.glb", 6}, {"real/CesiumMan.glb", 0}};
    const char* folder = getenv("SINEW_DATA");
    if (folder == NULL)
        SKIP("SINEW_DATA names no folder with real files");
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t f = 0; f < sizeof s_files / sizeof *s_files; ++f)
    {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, s_files[f].path);
        snwAsset *source = NULL, *target = NULL;
        snwAsset_Open(context, path, &source, NULL);
        snwAsset_Open(context, path, &target, NULL);
        REQUIRE(source != NULL && target != NULL);
        snwArena names = {.context = context};
        for (int i = 0; i < target->nodeCount; ++i)
        {
            char name[300];
            snprintf(name, sizeof name, "other:%s", target->nodes[i].name);
            target->nodes[i].name = snwArena_Text(&names, name);
            target->nodes[i].pose.translation = snwVec3_Scale(target->nodes[i].pose.translation, 1.7);
            target->nodes[i].local.translation = snwVec3_Scale(target->nodes[i].local.translation, 1.7);
        }
        for (int i = 0; i < target->skins[0].jointCount; ++i)
        {
            snwAffine* bind = (snwAffine*)(uintptr_t)&target->skins[0].inverseBinds[i];
            bind->translation = snwVec3_Scale(bind->translation, 1.7);
        }
        snwRetargeted put;
        CHECK(Difference(target, source, s_files[f].clip, 1.7, &put) < 2e-6);
        CHECK_INT(put.matched, target->skins[0].jointCount);
        snwArena_Free(&names);
        snwAsset_Close(source);
        snwAsset_Close(target);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Other rigs

typedef struct Joint
{
    const char* name;
    int parent;
    double place[3]; // in the world; nodes have its axes
} Joint;

// Half a person: pelvis, spine, an arm and a leg. upright: else z is up, and it looks along -y.
static snwAsset* MakePerson(snwContext* context, const Joint* joints, int count, bool upright)
{
    snwGltfWorld world = snwGltfWorld_Empty();
    for (int i = 0; i < count; ++i)
    {
        char children[64] = "";
        const Joint* joint = &joints[i];
        double to[3];
        for (int k = 0; k < 3; ++k)
            to[k] = joint->place[k] - (joint->parent >= 0 ? joints[joint->parent].place[k] : 0);
        for (int k = 0; k < count; ++k)
            if (joints[k].parent == i)
                snprintf(children + strlen(children), sizeof children - strlen(children), "%s%d",
                    children[0] != 0 ? ", " : ", 'children': [", k);
        snwGltfWorld_Add(&world, "nodes", "{'name': '%s', 'translation': [%g, %g, %g]%s%s}", joint->name, to[0],
            upright ? to[1] : -to[2], upright ? to[2] : to[1], children, children[0] != 0 ? "]" : "");
    }
    snwGltfWorld_Add(&world, "scenes", "{'nodes': [0]}");
    return ReadWorld(context, world);
}

// The source lifts its arm by 90 degrees about its own forward axis (a T pose becomes straight up), and walks 1 m.
static void AddMotion(snwContext* context, snwAsset* asset, int arm)
{
    static const double s_times[2] = {0, 1};
    static double s_turn[8] = {0, 0, 0, 1, 0, 0, 0.70710678118654757, 0.70710678118654757};
    static double s_way[6];
    static snwAssetChannel s_channels[2];
    static snwAssetAnimation s_animation;
    (void)context;
    snwVec3 root = asset->nodes[0].pose.translation;
    memcpy(s_way, (double[6]){root.x, root.y, root.z, root.x, root.y, root.z + 1}, sizeof s_way);
    s_channels[0] = (snwAssetChannel){arm, snw_pathRotation, snw_assetLinear, s_times, 2, 4, s_turn};
    s_channels[1] = (snwAssetChannel){0, snw_pathTranslation, snw_assetLinear, s_times, 2, 3, s_way};
    s_animation = (snwAssetAnimation){"lift", s_channels, 2, 0, 1};
    asset->animations = &s_animation;
    asset->animationCount = 1;
}

static const Joint s_tPose[] = {{"mixamorig:Hips", -1, {0, 1, 0}}, {"mixamorig:Spine", 0, {0, 1.2, 0}},
    {"mixamorig:LeftArm", 1, {0.2, 1.4, 0}}, {"mixamorig:LeftForeArm", 2, {0.5, 1.4, 0}},
    {"mixamorig:LeftHand", 3, {0.8, 1.4, 0}}, {"mixamorig:LeftUpLeg", 0, {0.1, 0.9, 0}},
    {"mixamorig:LeftLeg", 5, {0.1, 0.5, 0}}, {"mixamorig:LeftFoot", 6, {0.1, 0, 0}}};
// Twice as tall, with its arm 45 degrees down, a bone that the other has not, and other words.
static const Joint s_aPose[] = {{"pelvis", -1, {0, 2, 0}}, {"spine_01", 0, {0, 2.4, 0}},
    {"upper_arm.L", 1, {0.4, 2.8, 0}}, {"forearm.L", 2, {0.8, 2.4, 0}}, {"hand.L", 3, {1.2, 2.0, 0}},
    {"thigh.L", 0, {0.2, 1.8, 0}}, {"shin.L", 5, {0.2, 1, 0}}, {"foot.L", 6, {0.2, 0, 0}}, {"tail", 0, {0, 2, -0.5}}};

TEST(retarget, partsFindEachOtherAndRestPosesMayDiffer)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int way = 0; way < 2; ++way) // the second time z is up in the source
    {
        snwAsset* source = MakePerson(context, s_tPose, 8, way == 0);
        snwAsset* target = MakePerson(context, s_aPose, 9, true);
        REQUIRE(source != NULL && target != NULL);
        AddMotion(context, source, 2);
        if (way == 1) // forward is -y there
        {
            double* way0 = (double*)(uintptr_t)source->animations[0].channels[1].values;
            double* turn = (double*)(uintptr_t)source->animations[0].channels[0].values;
            way0[4] -= 1, way0[5] -= 1;
            turn[5] = -turn[6], turn[6] = 0;
        }
        snwArena arena = {.context = context};
        snwRetargetDef def = {.target = target, .source = source};
        snwRetargeted put;
        snwMessage message = {0};
        CHECK_INT(snwRetarget(&arena, &def, &put, &message), snw_ok);
        CHECK(put.matched == 8 && put.jointCount == 9 && put.turned == (way == 1));
        CHECK(strcmp(put.alone, "tail") == 0);
        CHECK_NEAR(put.scale, 2, 1e-12);
        snwAssetPoser poser;
        REQUIRE(snwAssetPoser_Make(target, &arena, &poser, NULL) >= 0);
        for (int end = 0; end < 2; ++end)
        {
            snwAssetPoser_Pose(&poser, &put.animation, end);
            snwVec3 arm = snwVec3_Sub(poser.places[4].translation, poser.places[2].translation);
            double length = 0.8 * sqrt(2);
            CHECK_NEAR(arm.x, end == 0 ? length : 0, 1e-6); // stretched out as the source's; then up
            CHECK_NEAR(arm.y, end == 0 ? 0 : length, 1e-6);
            CHECK_NEAR(poser.places[0].translation.z, 2.0 * end, 1e-6); // legs are twice as long
            CHECK_NEAR(poser.places[7].translation.y, 0, 1e-6);
            CHECK_NEAR(poser.places[8].translation.z, 2.0 * end - 0.5, 1e-6); // goes with its parent
        }
        snwArena_Free(&arena);
        source->animations = NULL, source->animationCount = 0;
        snwAsset_Close(source);
        snwAsset_Close(target);
    }
    snwDestroyContext(context);
}

TEST(retarget, strangersAreRefusedUnlessAMapTellsWhoIsWho)
{
    static const Joint s_strange[] = {{"a", -1, {0, 1, 0}}, {"b1", 0, {0, 1.2, 0}}, {"c", 1, {0.2, 1.4, 0}},
        {"d", 2, {0.5, 1.4, 0}}, {"e", 3, {0.8, 1.4, 0}}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source = MakePerson(context, s_tPose, 8, true), *target = MakePerson(context, s_strange, 5, true);
    REQUIRE(source != NULL && target != NULL);
    AddMotion(context, source, 2);
    snwArena arena = {.context = context};
    snwRetargetDef def = {.target = target, .source = source};
    snwRetargeted put;
    snwMessage message = {0};
    CHECK_INT(snwRetarget(&arena, &def, &put, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "only 0 of 5 joints");
    CHECK_CONTAINS(message.remedy, "--joint-map");
    CHECK_CONTAINS(message.remedy, "mixamorig:Hips");
    json_t* map = json_pack(
        "{s:s, s:s, s:s}", "a", "mixamorig:Hips", "c", "mixamorig:LeftArm", "e", "mixamorig:LeftHand");
    def.map = map;
    CHECK_INT(snwRetarget(&arena, &def, &put, &message), snw_ok);
    CHECK_INT(put.matched, 3);
    json_object_set_new(map, "c", json_string("mixamorig:LeftArn"));
    CHECK_INT(snwRetarget(&arena, &def, &put, &message), snw_errorInput);
    CHECK_CONTAINS(message.remedy, "mixamorig:LeftArm");
    json_decref(map);
    snwArena_Free(&arena);
    source->animations = NULL, source->animationCount = 0;
    snwAsset_Close(source);
    snwAsset_Close(target);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// In a bake

TEST(retarget, aClipOfAnotherFileIsBakedIntoTheFile)
{
    char path[512], motion[512], out[192];
    snprintf(motion, sizeof motion, "%s", snwPrepareWorld_Write(&(snwPrepareWorld){.swing = true}, "motion", NULL));
    snprintf(path, sizeof path, "%s", snwPrepareWorld_Write(&(snwPrepareWorld){.scale = 2, .hat = true}, "hero", NULL));
    snprintf(out, sizeof out, "%s/hero_swing.glb", snwTest_TempDir());
    snwProcess run = RUN(
        "bake", path, "--motion-from", motion, "--clip", "swing", "-o", out, "--end", "0.5", "--elements", "150");
    CHECK_INT(run.code, 0);
    CHECK_CONTAINS(run.errors, "3 of 3 joints follow it");
    CHECK_CONTAINS(run.text, "no edge torn");
    snwProcess_Free(&run);
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* written = NULL;
    REQUIRE(snwAsset_Open(context, out, &written, NULL) >= 0);
    CHECK_INT(written->animationCount, 2); // its own, and the new one with flesh
    CHECK(strcmp(written->animations[0].name, "bend") == 0 && strcmp(written->animations[1].name, "swing") == 0);
    int shapes = 0;
    for (int i = 0; i < written->animations[1].channelCount; ++i)
        shapes += written->animations[1].channels[i].path == snw_pathMorphs &&
                  written->animations[1].channels[i].keyCount > 1;
    CHECK(shapes > 0);
    snwAsset_Close(written);
    snwDestroyContext(context);
    char folder[192];
    snprintf(folder, sizeof folder, "%s/hero_swing.bake/motion.glb", snwTest_TempDir());
    CHECK(fopen(folder, "rb") == NULL); // nothing is left behind
    run = RUN("bake", path, "--motion-from", motion, "--clip", "nod", "-o", out, "--force");
    CHECK_INT(run.code, 3);
    CHECK_CONTAINS(run.errors, "2 swing");
    snwProcess_Free(&run);
    run = RUN("bake", path, "--motion-from", motion, "--joint-map", "upper", "-o", out, "--force");
    CHECK_INT(run.code, 2);
    snwProcess_Free(&run);
}
