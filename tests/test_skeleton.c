#include "fixture.h"
#include "rig/skeleton.h"
#include "test.h"

#include <stdlib.h>

static const snwVec3 s_x = {1, 0, 0}, s_y = {0, 1, 0}, s_z = {0, 0, 1};

// Two bones along x with a joint between them, the child named first; flesh is one tet that nobody looks at.
typedef struct Chain
{
    snwVec3 vertices[4];
    int tets[1][4];
    snwBoneDef bones[2];
    snwJointDef joints[1];
    snwKey keys[2][8];
    snwTrackDef tracks[2];
    snwMotionDef motion;
    snwCharacterDef def;
} Chain;

enum
{
    snw_child,
    snw_root
};

static void MakeChain(Chain* c, bool loop)
{
    *c = (Chain){.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .tets = {{0, 1, 2, 3}}};
    c->bones[snw_root] = (snwBoneDef){
        .name = "root", .head = {0, 0, 0}, .tail = {1, 0, 0}, .radius = 0.1, .parent = -1};
    c->bones[snw_child] = (snwBoneDef){.name = "child",
        .head = {9, 9, 9},
        .tail = {2, 0, 0},
        .radius = 0.1,
        .parent = snw_root}; // its head is not its joint
    c->joints[0] = snwDefaultJointDef();
    c->joints[0].type = snw_jointHinge, c->joints[0].position = s_x, c->joints[0].axis = s_z;
    c->joints[0].parentBone = snw_root, c->joints[0].bone = snw_child;
    for (int b = 0; b < 2; ++b)
    {
        c->tracks[b] = (snwTrackDef){b, c->keys[b], 1};
        for (int i = 0; i < 8; ++i)
            c->keys[b][i].transform = snwTransform_Identity();
    }
    c->motion = (snwMotionDef){.name = "bend", .duration = 1.0, .loop = loop, .tracks = c->tracks, .trackCount = 2};
    c->def = snwDefaultCharacterDef();
    c->def.vertices = c->vertices, c->def.vertexCount = 4;
    c->def.tets = (const int(*)[4])c->tets, c->def.tetCount = 1;
    c->def.bones = c->bones, c->def.boneCount = 2;
    c->def.joints = c->joints, c->def.jointCount = 1;
    c->def.motions = &c->motion, c->def.motionCount = 1;
}

// Keys at uneven times, with turns and shifts in all directions.
static void AddWildKeys(Chain* c, int count, double latest)
{
    uint64_t seed = 3;
    for (int b = 0; b < 2; ++b)
    {
        c->tracks[b].keyCount = count;
        for (int i = 0; i < count; ++i)
        {
            double r[6];
            for (int k = 0; k < 6; ++k)
                r[k] = 2.0 * snwTest_Random(&seed) - 1.0;
            double late = i == 0 || i == count - 1 ? 0.0 : 0.3 * r[0] / (count - 1);
            c->keys[b][i] = (snwKey){latest * ((double)i / (count - 1) + late),
                {{r[1], r[2], r[3]}, snwQuat_FromRotationVector((snwVec3){r[3], r[4], r[5]})}};
        }
    }
}

static snwCharacter* Make(snwContext* context, const Chain* chain)
{
    snwCharacter* character = NULL;
    snwMessage message;
    if (snwCreateCharacter(context, &chain->def, &character, &message) < 0)
    {
        fprintf(stderr, "chain: %s: %s\n", message.place, message.text);
        exit(1);
    }
    return character;
}

static double Apart(snwTransform a, snwTransform b)
{
    return snwVec3_Distance(a.position, b.position) + snwQuat_Angle(a.rotation, b.rotation);
}

TEST(skeleton, twoBonesByHand)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Chain c;
    MakeChain(&c, true);
    c.keys[snw_root][0].transform.rotation = snwQuat_FromAxisAngle(s_z, 0.5 * SNW_PI);
    c.keys[snw_child][0].transform = (snwTransform){{0.5, 0, 0}, snwQuat_FromAxisAngle(s_z, 0.5 * SNW_PI)};
    snwCharacter* character = Make(context, &c);
    snwTransform bones[2];
    REQUIRE(snwCharacter_Pose(character, 0, 0.3, bones, 2) == snw_ok);
    // (2 0 0) is one metre past the joint at (1 0 0): turned about it (1 1 0), shifted (1.5 1 0), turned with the root.
    snwVec3 tip = snwTransform_Apply(bones[snw_child], (snwVec3){2, 0, 0});
    CHECK_NEAR(snwVec3_Distance(tip, (snwVec3){-1, 1.5, 0}), 0.0, 1e-12);
    tip = snwTransform_Apply(bones[snw_root], (snwVec3){2, 0, 0});
    CHECK_NEAR(snwVec3_Distance(tip, (snwVec3){0, 2, 0}), 0.0, 1e-12);
    snwCharacter_Release(character);
    c.def.jointCount = 0; // now about its head
    character = Make(context, &c);
    REQUIRE(snwCharacter_Pose(character, 0, 0.3, bones, 2) == snw_ok);
    tip = snwTransform_Apply(bones[snw_child], (snwVec3){9, 9, 9});
    CHECK_NEAR(snwVec3_Distance(tip, (snwVec3){-9, 9.5, 9}), 0.0, 1e-12);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

TEST(skeleton, restIsIdentityAndNonsenseIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Chain c;
    MakeChain(&c, true);
    AddWildKeys(&c, 5, 0.9);
    snwCharacter* character = Make(context, &c);
    snwTransform bones[2];
    CHECK_INT(snwCharacter_Pose(character, -1, 0.4, bones, 2), snw_ok);
    CHECK_NEAR(Apart(bones[0], snwTransform_Identity()) + Apart(bones[1], snwTransform_Identity()), 0.0, 0);
    CHECK_INT(snwCharacter_Pose(character, 0, 0.4, bones, 1), snw_errorArgument);
    CHECK_INT(snwCharacter_Pose(character, 1, 0.4, bones, 2), snw_errorArgument);
    CHECK_INT(snwCharacter_Pose(character, -2, 0.4, bones, 2), snw_errorArgument);
    CHECK_INT(snwCharacter_Pose(character, 0, NAN, bones, 2), snw_errorArgument);
    CHECK(snwCharacter_MotionExcess(character, 1, NULL, NULL) < 0.0);
    CHECK_INT(snwCharacter_Pose(character, 0, 1e300, bones, 2), snw_ok); // a loop has no end
    CHECK(snwTransform_IsFinite(bones[0]));
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

TEST(skeleton, motionsPassThroughTheirKeys)
{
    for (int loop = 0; loop < 2; ++loop)
    {
        Chain c;
        MakeChain(&c, loop);
        AddWildKeys(&c, 6, 0.8);
        for (int i = 0; i < 6; ++i)
        {
            const snwKey* key = &c.keys[0][i];
            CHECK_NEAR(Apart(snwTrack_Evaluate(&c.motion, &c.tracks[0], key->time), key->transform), 0.0, 1e-12);
            CHECK_NEAR(Apart(snwTrack_Evaluate(&c.motion, &c.tracks[0], key->time - 1e-9), key->transform), 0.0, 1e-7);
        }
    }
}

TEST(skeleton, loopsRepeat)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Chain c;
    MakeChain(&c, true);
    c.motion.duration = 1.25;
    AddWildKeys(&c, 6, 1.0);
    snwCharacter* character = Make(context, &c);
    for (int i = 0; i < 200; ++i)
    {
        double time = 0.01 * i;
        snwTransform now[2], then[2], before[2];
        CHECK(snwCharacter_Pose(character, 0, time, now, 2) == snw_ok);
        CHECK(snwCharacter_Pose(character, 0, time + 5 * 1.25, then, 2) == snw_ok);
        CHECK(snwCharacter_Pose(character, 0, time - 3 * 1.25, before, 2) == snw_ok);
        CHECK_NEAR(Apart(now[snw_child], then[snw_child]), 0.0, 1e-11);
        CHECK_NEAR(Apart(now[snw_child], before[snw_child]), 0.0, 1e-11);
    }
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

// A last key at the end that repeats the first one says nothing new.
TEST(skeleton, loopMayNameItsEndTwice)
{
    Chain c, d;
    MakeChain(&c, true);
    AddWildKeys(&c, 5, 0.8);
    d = c;
    d.tracks[0].keys = d.keys[0], d.tracks[0].keyCount = 6;
    d.keys[0][5] = (snwKey){1.0, c.keys[0][0].transform};
    for (int i = 0; i <= 100; ++i)
    {
        snwTransform a = snwTrack_Evaluate(&c.motion, &c.tracks[0], 0.01 * i);
        snwTransform b = snwTrack_Evaluate(&c.motion, &d.tracks[0], 0.01 * i);
        CHECK_NEAR(Apart(a, b), 0.0, 1e-12);
    }
}

// Velocity of a track by a one-sided difference of second order; side is -1 or 1.
static void Velocity(const Chain* c, double time, double side, snwVec3* linear, snwVec3* angular)
{
    const double h = 1e-5 * side;
    snwTransform x[3];
    for (int i = 0; i < 3; ++i)
        x[i] = snwTrack_Evaluate(&c->motion, &c->tracks[0], time + i * h);
    snwVec3 d[2], w[2];
    for (int i = 0; i < 2; ++i)
    {
        snwQuat turn = snwQuat_Mul(snwQuat_Conjugate(x[i].rotation), x[i + 1].rotation);
        d[i] = snwVec3_Scale(snwVec3_Sub(x[i + 1].position, x[i].position), 1.0 / h);
        w[i] = snwVec3_Scale(snwQuat_ToRotationVector(turn), 1.0 / h);
    }
    *linear = snwVec3_MulAdd(d[0], -0.5, snwVec3_Sub(d[1], d[0]));
    *angular = snwVec3_MulAdd(w[0], -0.5, snwVec3_Sub(w[1], w[0]));
}

// At the keys, at the wrap of a loop, and where a motion that does not loop begins and ends.
TEST(skeleton, velocityIsContinuous)
{
    for (int loop = 0; loop < 2; ++loop)
    {
        Chain c;
        MakeChain(&c, loop);
        AddWildKeys(&c, 7, 0.85);
        for (int i = 0; i < 8; ++i)
        {
            double time = i < 7 ? c.keys[0][i].time : 1.0;
            snwVec3 v[2], w[2];
            for (int side = 0; side < 2; ++side)
                Velocity(&c, time, side ? 1.0 : -1.0, &v[side], &w[side]);
            CHECK_NEAR(snwVec3_Distance(v[0], v[1]), 0.0, 1e-4);
            CHECK_NEAR(snwVec3_Distance(w[0], w[1]), 0.0, 1e-4);
            CHECK(loop == 0 || i == 7 || snwVec3_Length(w[0]) > 0.1); // nothing stands still only to be smooth
        }
    }
}

TEST(skeleton, otherMotionsHoldTheirEnds)
{
    Chain c;
    MakeChain(&c, false);
    AddWildKeys(&c, 4, 0.7);
    for (int i = 0; i < 4; ++i)
        c.keys[0][i].time += 0.2;
    CHECK_NEAR(Apart(snwTrack_Evaluate(&c.motion, &c.tracks[0], -3.0), c.keys[0][0].transform), 0.0, 1e-12);
    CHECK_NEAR(Apart(snwTrack_Evaluate(&c.motion, &c.tracks[0], 0.1), c.keys[0][0].transform), 0.0, 1e-12);
    CHECK_NEAR(Apart(snwTrack_Evaluate(&c.motion, &c.tracks[0], 7.0), c.keys[0][3].transform), 0.0, 1e-12);
}

// Between keys about one axis the motion turns about that axis alone, whatever signs the quaternions have.
TEST(skeleton, hingeStaysAHinge)
{
    Chain c;
    MakeChain(&c, true);
    c.tracks[0].keyCount = 4;
    for (int i = 0; i < 4; ++i)
    {
        snwQuat q = snwQuat_FromAxisAngle(s_z, sin(0.5 * SNW_PI * i));
        c.keys[0][i] = (snwKey){0.25 * i, {{0, 0, 0}, i % 2 ? snwQuat_Scale(q, -1.0) : q}};
    }
    for (int i = 0; i < 100; ++i)
    {
        snwQuat q = snwTrack_Evaluate(&c.motion, &c.tracks[0], 0.01 * i).rotation;
        snwVec3 v = snwQuat_ToRotationVector(q);
        CHECK_NEAR(fabs(v.x) + fabs(v.y), 0.0, 1e-12);
        const double angles[] = {0, 1, 0, -1, 0, 1, 0}; // of the keys; Catmull-Rom makes this of them
        const double* p = &angles[i / 25 + 1];
        double u = 0.04 * (i % 25), before = i < 25 ? -1.0 : p[-2], from = 0.5 * (p[0] - before);
        double to = 0.5 * (p[1] - p[-1]), expected = p[-1] + u * u * (3 - 2 * u) * (p[0] - p[-1]) +
                                                     u * (1 - u) * (1 - u) * from - u * u * (1 - u) * to;
        CHECK_NEAR(v.z, expected, 1e-9);
    }
}

// Every bone follows the next one: parents come last, fifty thousand deep.
TEST(skeleton, longChainsInAnyOrder)
{
    enum
    {
        count = 50000
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBoneDef* bones = calloc(count, sizeof *bones);
    snwTransform* poses = calloc(count, sizeof *poses);
    for (int i = 0; i < count; ++i)
        bones[i] = snwDefaultBoneDef(), bones[i].parent = i + 1 < count ? i + 1 : -1;
    snwKey key = {0.0, {{1, 0, 0}, {0, 0, 0, 1}}};
    snwTrackDef track = {count - 1, &key, 1};
    Chain c;
    MakeChain(&c, true);
    c.motion.tracks = &track, c.motion.trackCount = 1;
    c.def.bones = bones, c.def.boneCount = count, c.def.jointCount = 0;
    snwCharacter* character = Make(context, &c);
    CHECK(snwCharacter_Pose(character, 0, 0.0, poses, count) == snw_ok);
    CHECK_NEAR(poses[0].position.x, 1.0, 1e-12);
    snwCharacter_Release(character);
    bones[count - 1].parent = 3; // a circle, with a tail of three
    snwMessage message;
    CHECK_INT(snwCreateCharacter(context, &c.def, &character, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "follows itself");
    free(bones);
    free(poses);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Limits

static double ExcessOf(Chain* c, snwJointType type, snwVec3 axis, double angle)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    c->joints[0].type = type;
    c->keys[snw_child][0].transform.rotation = snwQuat_FromAxisAngle(axis, angle);
    snwCharacter* character = Make(context, c);
    int joint = -2;
    double excess = snwCharacter_MotionExcess(character, 0, &joint, NULL);
    CHECK_INT(joint, excess > 0.0 ? 0 : -1);
    snwCharacter_Release(character);
    snwDestroyContext(context);
    return excess;
}

TEST(skeleton, excessOfEveryJointType)
{
    Chain c;
    MakeChain(&c, true);
    c.keys[snw_root][0].transform.rotation = snwQuat_FromAxisAngle(s_y, 1.0);  // the parent's own turn does not count
    c.joints[0].lower = -0.2, c.joints[0].upper = 0.5, c.joints[0].cone = 0.3; // axis: z
    CHECK_NEAR(ExcessOf(&c, snw_jointHinge, s_z, 0.4), 0.0, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointHinge, s_z, 0.8), 0.3, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointHinge, s_z, -0.3), 0.1, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointHinge, s_x, 0.15), 0.15, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointBall, s_x, 0.25), 0.0, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointBall, s_y, 0.35), 0.05, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointBall, s_z, 0.6), 0.1, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointFixed, s_y, -0.35), 0.35, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointPrismatic, s_z, 0.2), 0.2, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointCylindrical, s_z, 2.0), 0.0, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointCylindrical, s_x, 0.2), 0.2, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointFree, s_x, 3.0), 0.0, 0);
    c.joints[0].axis2 = s_x;
    CHECK_NEAR(ExcessOf(&c, snw_jointUniversal, s_z, 0.4), 0.0, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointUniversal, s_x, 0.6), 0.1, 1e-9);
    CHECK_NEAR(ExcessOf(&c, snw_jointUniversal, s_y, 0.15), 0.15, 1e-9); // it cannot turn about y
    c.joints[0].lower = 1.0, c.joints[0].upper = -1.0;                   // no limit
    CHECK_NEAR(ExcessOf(&c, snw_jointHinge, s_z, 3.0), 0.0, 1e-9);
    c.joints[0].lower = 0.0, c.joints[0].upper = 4.0; // more than half a turn
    CHECK_NEAR(ExcessOf(&c, snw_jointHinge, s_z, 3.9), 0.0, 1e-9);
}

TEST(skeleton, universalTurnsAboutBothAxesAtOnce)
{
    Chain c;
    MakeChain(&c, true);
    c.joints[0].axis2 = s_x;
    snwQuat both = snwQuat_Mul(snwQuat_FromAxisAngle(s_z, 0.7), snwQuat_FromAxisAngle(s_x, -0.9));
    snwVec3 v = snwQuat_ToRotationVector(both);
    CHECK_NEAR(ExcessOf(&c, snw_jointUniversal, v, snwVec3_Length(v)), 0.0, 1e-9);
    snwQuat wrong = snwQuat_Mul(snwQuat_FromAxisAngle(s_x, -0.9), snwQuat_FromAxisAngle(s_z, 0.7));
    v = snwQuat_ToRotationVector(wrong);
    CHECK(ExcessOf(&c, snw_jointUniversal, v, snwVec3_Length(v)) > 0.1);
}

// The worst is found where it is, also between keys.
TEST(skeleton, worstTimeIsFound)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Chain c;
    MakeChain(&c, true);
    c.tracks[snw_child].keyCount = 2;
    c.keys[snw_child][1] = (snwKey){0.5, {{0, 0, 0}, snwQuat_FromAxisAngle(s_z, 0.8)}};
    c.joints[0].lower = -0.1, c.joints[0].upper = 0.6;
    snwCharacter* character = Make(context, &c);
    int joint;
    double time, excess = snwCharacter_MotionExcess(character, 0, &joint, &time);
    CHECK_NEAR(excess, 0.2, 1e-4);
    CHECK_NEAR(time, 0.5, 1e-9);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

TEST(skeleton, freedomOfTheJoints)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const int freedom[] = {3, 1, 2, 1, 2, 0, 6};
    Chain c;
    MakeChain(&c, true);
    snwJointDef joints[7];
    int sum = 0;
    for (int i = 0; i < 7; ++i)
    {
        joints[i] = c.joints[0], joints[i].type = (snwJointType)i;
        c.def.joints = joints, c.def.jointCount = i + 1;
        sum += freedom[i];
        snwCharacter* character = Make(context, &c);
        CHECK_INT(snwCharacter_JointFreedom(character), sum);
        snwCharacter_Release(character);
    }
    snwDestroyContext(context);
}

TEST(skeleton, noMemoryIsNoExcess)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    Chain c;
    MakeChain(&c, true);
    snwCharacter* character = Make(context, &c);
    long live = counter.live;
    counter.failAt = counter.allocations + 1;
    int joint = 5;
    CHECK(snwCharacter_MotionExcess(character, 0, &joint, NULL) < 0.0);
    CHECK_INT(joint, -1);
    CHECK_NEAR(snwCharacter_MotionExcess(character, 0, &joint, NULL), 0.0, 0);
    CHECK_INT(counter.live, live);
    snwTransform bones[2];
    long before = counter.allocations;
    CHECK(snwCharacter_Pose(character, 0, 0.1, bones, 2) == snw_ok && counter.allocations == before);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}
