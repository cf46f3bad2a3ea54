// Rows of joints against finite differences, energies and the limits that motions are measured with.

#include "test.h"

#include "linalg/active.h"
#include "rig/joint_angle.h"
#include "rig/joint_rows.h"
#include "rig/skeleton.h"

#include <stdlib.h>

static const snwJointType s_types[] = {snw_jointBall, snw_jointHinge, snw_jointUniversal, snw_jointPrismatic,
    snw_jointCylindrical, snw_jointFixed, snw_jointFree};

enum
{
    snw_typeCount = 7
};

static double Uniform(uint64_t* seed, double from, double to)
{
    return from + (to - from) * snwTest_Random(seed);
}

static snwVec3 RandomVector(uint64_t* seed, double size)
{
    return (snwVec3){Uniform(seed, -size, size), Uniform(seed, -size, size), Uniform(seed, -size, size)};
}

static snwQuat RandomRotation(uint64_t* seed)
{
    return snwQuat_Normalize(
        (snwQuat){Uniform(seed, -1, 1), Uniform(seed, -1, 1), Uniform(seed, -1, 1), Uniform(seed, -1, 1)});
}

// A joint between two bones (or a bone and the world) in any pose, with everything that a joint can have.
static void RandomCase(uint64_t* seed, snwJointType type, bool world, snwJointDef* joint, snwJointRowsDef* def)
{
    *joint = (snwJointDef){.type = type, .parentBone = world ? -1 : 0, .bone = 1, .position = RandomVector(seed, 1)};
    joint->axis = snwVec3_Normalize(RandomVector(seed, 1));
    joint->axis2 = snwVec3_Normalize(snwVec3_Cross(joint->axis, RandomVector(seed, 1)));
    joint->axis2 = snwVec3_Normalize(snwVec3_MulAdd(joint->axis2, 0.3, joint->axis)); // not quite a right angle
    joint->lower = -0.4, joint->upper = 0.9, joint->cone = 0.7;
    joint->stiffness = 3, joint->damping = 0.2, joint->target = 0.5;
    *def = (snwJointRowsDef){.joint = joint, .h = 0.01};
    for (int b = 0; b < 2; ++b)
    {
        def->restCentres[b] = RandomVector(seed, 1);
        def->poses[b] = (snwBonePose){RandomRotation(seed), RandomVector(seed, 1)};
        def->starts[b] = def->poses[b];
        snwQuat back = snwQuat_FromRotationVector(RandomVector(seed, 0.2));
        def->starts[b].rotation = snwQuat_Mul(back, def->poses[b].rotation);
        def->starts[b].centre = snwVec3_Add(def->poses[b].centre, RandomVector(seed, 0.1));
    }
}

static snwBonePose Moved(snwBonePose pose, const double s[6], double step)
{
    snwVec3 w = {step * s[0], step * s[1], step * s[2]}, l = {s[3], s[4], s[5]};
    pose.rotation = snwQuat_Normalize(snwQuat_Mul(snwQuat_FromRotationVector(w), pose.rotation));
    pose.centre = snwVec3_MulAdd(pose.centre, step, l);
    return pose;
}

static snwQuat TurnOf(const snwJointRowsDef* def, const snwBonePose poses[2])
{
    bool world = def->joint->parentBone < 0;
    return world ? poses[0].rotation : snwQuat_Mul(snwQuat_Conjugate(poses[1].rotation), poses[0].rotation);
}

// Angles have no derivative half a turn away, and limits none where they change from one turn to the next.
static bool IsSmooth(const snwJointRowsDef* def)
{
    const double margin = 0.05;
    snwQuat turn = TurnOf(def, def->poses);
    const snwJointDef* joint = def->joint;
    double swing = snwJointAngle_Swing(turn, joint->axis).value, twist = snwJointAngle_Twist(turn, joint->axis).value;
    double angle = snwQuat_Angle(snwQuat_Identity(), turn), middle = 0.5 * (joint->lower + joint->upper);
    snwUniversalAngles u = snwJointAngle_Universal(turn, joint->axis, joint->axis2);
    double between = u.rest.value + acos(snwVec3_Dot(joint->axis, joint->axis2));
    double ends[] = {swing, angle, fabs(remainder(twist - middle, 2 * SNW_PI)),
        fabs(remainder(u.first.value - middle, 2 * SNW_PI)), fabs(remainder(u.second.value - middle, 2 * SNW_PI))};
    for (int i = 0; i < 5; ++i)
        if (ends[i] > SNW_PI - margin)
            return false;
    return swing > margin && between > margin && between < SNW_PI - margin;
}

static double RowTimes(const snwJointRow* row, double s[2][6])
{
    double sum = 0;
    for (int b = 0; b < 2; ++b)
        for (int i = 0; i < 6; ++i)
            sum += row->jacobian[b][i] * s[b][i];
    return sum;
}

static void RandomMotion(uint64_t* seed, double s[2][6])
{
    for (int i = 0; i < 12; ++i)
        s[i / 6][i % 6] = Uniform(seed, -1, 1);
}

static snwJointRowsDef MovedDef(const snwJointRowsDef* def, double s[2][6], double step)
{
    snwJointRowsDef moved = *def;
    for (int b = 0; b < 2; ++b)
        moved.poses[b] = Moved(def->poses[b], s[b], step);
    return moved;
}

// Equal rows and limits at a pose, along a motion, by central differences.
static void CheckRows(const snwJointRowsDef* def, double s[2][6])
{
    const double step = 1e-5;
    snwJointRow rows[3][snw_maxJointRows];
    snwJointRowsDef before = MovedDef(def, s, -step), after = MovedDef(def, s, step);
    int count = snwJointRows_Make(def, rows[0]);
    CHECK_INT(snwJointRows_Make(&before, rows[1]), count);
    CHECK_INT(snwJointRows_Make(&after, rows[2]), count);
    for (int i = 0; i < count; ++i)
    {
        double found = (rows[2][i].error - rows[1][i].error) / (2 * step), expected = RowTimes(&rows[0][i], s);
        if (rows[0][i].kind != snw_rowSoft)
            CHECK_NEAR(found, expected, 1e-6 * fmax(1, fabs(expected)));
        CHECK_NEAR(rows[0][i].target, -rows[0][i].error, 0);
        CHECK_INT(rows[0][i].bones[0], def->joint->bone);
        CHECK_INT(rows[0][i].bones[1], def->joint->parentBone);
        for (int k = 0; k < 6 && def->joint->parentBone < 0; ++k)
            CHECK_NEAR(rows[0][i].jacobian[1][k], 0, 0);
    }
}

TEST(joints, rowsAreDerivativesInAnyPose)
{
    uint64_t seed = 11;
    int smooth = 0;
    for (int trial = 0; trial < 2800; ++trial)
    {
        snwJointDef joint;
        snwJointRowsDef def;
        double s[2][6];
        RandomCase(&seed, s_types[trial % snw_typeCount], trial / snw_typeCount % 2 == 0, &joint, &def);
        RandomMotion(&seed, s);
        if (!IsSmooth(&def))
            continue;
        ++smooth;
        CheckRows(&def, s);
    }
    CHECK(smooth > 1500);
}

// Close to its place a joint's rows are those of small angles: the formulas' other branches.
TEST(joints, rowsAreDerivativesNearTheirPlace)
{
    uint64_t seed = 12;
    for (int trial = 0; trial < 700; ++trial)
    {
        snwJointDef joint;
        snwJointRowsDef def;
        double s[2][6];
        RandomCase(&seed, s_types[trial % snw_typeCount], trial / snw_typeCount % 2 == 0, &joint, &def);
        RandomMotion(&seed, s);
        joint.cone = SNW_PI; // a swing of 0 is where its limit has no derivative
        double size = pow(10, -6.0 * snwTest_Random(&seed));
        def.poses[1].rotation = joint.parentBone < 0 ? snwQuat_Identity() : def.poses[1].rotation;
        def.poses[0].rotation = snwQuat_Mul(
            def.poses[1].rotation, snwQuat_FromRotationVector(RandomVector(&seed, trial % 5 == 0 ? 0 : size)));
        CheckRows(&def, s);
    }
}

// Ranges per axis: what they are of, their derivatives, and the excess that motions are measured with.
TEST(joints, rangesPerAxisAreOfTheirAxes)
{
    uint64_t seed = 19;
    int smooth = 0;
    for (int trial = 0; trial < 800; ++trial)
    {
        bool ball = trial % 2 == 0;
        snwJointDef joint;
        snwJointRowsDef def;
        double s[2][6];
        RandomCase(&seed, ball ? snw_jointBall : snw_jointUniversal, trial % 4 < 2, &joint, &def);
        RandomMotion(&seed, s);
        snwVec3 across = snwVec3_Perpendicular(joint.axis);
        joint.axis2 = ball ? across : joint.axis2;
        joint.lower2 = -0.5, joint.upper2 = 0.52;
        if (ball)
            joint.lower3 = -0.3, joint.upper3 = 0.31;
        if (!IsSmooth(&def))
            continue;
        ++smooth;
        CheckRows(&def, s);

        snwJointRow rows[snw_maxJointRows];
        snwBoneDef bones[2] = {{.parent = -1}, {.parent = -1}};
        snwSkeleton skeleton = {.bones = bones, .boneCount = 2, .joints = &joint, .jointCount = 1};
        snwTransform poses[2] = {{.rotation = def.poses[1].rotation}, {.rotation = def.poses[0].rotation}};
        double found = snwJointRows_Gap(&def).angle;
        for (int i = snwJointRows_Make(&def, rows); i-- > 0;)
            found = rows[i].kind == snw_rowAtLeast ? fmax(found, -rows[i].error) : found;
        CHECK_NEAR(snwSkeleton_JointExcess(&skeleton, 0, poses), found, 1e-12);

        // Turned about one axis alone.
        snwAngleLimit limits[snw_maxAngleLimits];
        const double a = 0.2, b = -0.1;
        if (ball)
        {
            snwVec3 third = snwVec3_Cross(joint.axis, across);
            CHECK_INT(snwJointAngle_Limits(&joint, snwQuat_FromAxisAngle(across, a), limits), 7);
            CHECK_NEAR(limits[2].gap, a + 0.5, 1e-12);
            CHECK_NEAR(limits[5].gap, 0.31, 1e-12);
            snwJointAngle_Limits(&joint, snwQuat_FromAxisAngle(third, b), limits);
            CHECK_NEAR(limits[3].gap, 0.52, 1e-12);
            CHECK_NEAR(limits[4].gap, b + 0.3, 1e-12);
            CHECK_NEAR(limits[6].gap, joint.cone + b, 1e-12);
            continue;
        }
        snwQuat turn = snwQuat_Mul(snwQuat_FromAxisAngle(joint.axis, b), snwQuat_FromAxisAngle(joint.axis2, a));
        CHECK_INT(snwJointAngle_Limits(&joint, turn, limits), 4);
        CHECK_NEAR(limits[0].gap, b - joint.lower, 1e-12);
        CHECK_NEAR(limits[3].gap, 0.52 - a, 1e-12);
    }
    CHECK(smooth > 400);
}

TEST(joints, countsAndOrderOfRows)
{
    static const int limits[snw_typeCount] = {3, 2, 4, 2, 2, 0, 0}, own[snw_typeCount] = {3, 1, 2, 1, 1, 0, 0};
    static const int driven[snw_typeCount] = {3, 1, 2, 1, 2, 0, 0};
    uint64_t seed = 13;
    for (int t = 0; t < snw_typeCount; ++t)
    {
        snwJointDef joint;
        snwJointRowsDef def;
        snwJointRow rows[snw_maxJointRows];
        snwJointDrive drive = {.rotation = RandomRotation(&seed), .stiffness = 1};
        RandomCase(&seed, s_types[t], false, &joint, &def);
        int equal = snwJointType_EqualRows(s_types[t]), count = snwJointRows_Make(&def, rows);
        CHECK_INT(equal, 6 - snwJointType_Freedom(s_types[t]));
        CHECK_INT(count, equal + limits[t] + own[t]);
        for (int i = 0; i < count; ++i)
        {
            CHECK_INT(rows[i].kind, i < equal ? snw_rowEqual : i < equal + limits[t] ? snw_rowAtLeast : snw_rowSoft);
            CHECK((rows[i].compliance > 0) == (rows[i].kind == snw_rowSoft));
        }
        def.drive = &drive;
        CHECK_INT(snwJointRows_Make(&def, rows), equal + limits[t] + driven[t]);
        drive.stiffness = 0;
        joint.lower = 1, joint.upper = -1, joint.cone = SNW_PI;
        CHECK_INT(snwJointRows_Make(&def, rows), equal);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Springs and dampers

static double SlideOf(const snwJointRowsDef* def, const snwBonePose poses[2])
{
    snwVec3 points[2], axis = def->joint->axis;
    for (int b = 0; b < 2; ++b)
    {
        snwVec3 arm = snwVec3_Sub(def->joint->position, def->restCentres[b]);
        points[b] = snwVec3_Add(snwQuat_Rotate(poses[b].rotation, arm), poses[b].centre);
    }
    if (def->joint->parentBone < 0)
        return snwVec3_Dot(axis, snwVec3_Sub(points[0], def->joint->position));
    return snwVec3_Dot(snwQuat_Rotate(poses[1].rotation, axis), snwVec3_Sub(points[0], points[1]));
}

static double Square(double a)
{
    return a * a;
}

// k / 2 (distance to the target)^2 + d / 2h (distance from the start)^2.
static double Energy(const snwJointRowsDef* def)
{
    const snwJointDef* joint = def->joint;
    double k = joint->stiffness, d = joint->damping / def->h, full = 2 * SNW_PI;
    snwQuat now = TurnOf(def, def->poses), start = TurnOf(def, def->starts);
    double slides[2] = {SlideOf(def, def->poses), SlideOf(def, def->starts)};
    double twists[2] = {snwJointAngle_Twist(now, joint->axis).value, snwJointAngle_Twist(start, joint->axis).value};
    snwUniversalAngles u = snwJointAngle_Universal(now, joint->axis, joint->axis2);
    snwUniversalAngles v = snwJointAngle_Universal(start, joint->axis, joint->axis2);
    switch (joint->type)
    {
        case snw_jointBall:
            return 0.5 * (k * Square(snwQuat_Angle(now, snwQuat_FromAxisAngle(joint->axis, joint->target))) +
                             d * Square(snwQuat_Angle(now, start)));
        case snw_jointHinge:
            return 0.5 * (k * Square(snwJointAngle_InRange(joint, twists[0]) - joint->target) +
                             d * Square(remainder(twists[0] - twists[1], full)));
        case snw_jointUniversal:
            return 0.5 * (k * Square(snwJointAngle_InRange(joint, u.first.value) - joint->target) +
                             k * Square(snwJointAngle_InRange(joint, u.second.value)) +
                             d * Square(remainder(u.first.value - v.first.value, full)) +
                             d * Square(remainder(u.second.value - v.second.value, full)));
        case snw_jointPrismatic:
        case snw_jointCylindrical:
            return 0.5 * (k * Square(slides[0] - joint->target) + d * Square(slides[0] - slides[1]));
        default:
            return 0;
    }
}

TEST(joints, motorsPushAsTheirEnergySays)
{
    uint64_t seed = 14;
    const double step = 1e-5;
    for (int trial = 0; trial < 1400; ++trial)
    {
        snwJointDef joint;
        snwJointRowsDef def;
        snwJointRow rows[snw_maxJointRows];
        double s[2][6], pushed = 0;
        RandomCase(&seed, s_types[trial % snw_typeCount], trial / snw_typeCount % 2 == 0, &joint, &def);
        RandomMotion(&seed, s);
        snwQuat turn = TurnOf(&def, def.poses), goal = snwQuat_FromAxisAngle(joint.axis, joint.target);
        if (!IsSmooth(&def) || snwQuat_Angle(turn, goal) > 3.0)
            continue;
        snwJointRowsDef before = MovedDef(&def, s, -step), after = MovedDef(&def, s, step);
        int count = snwJointRows_Make(&def, rows);
        for (int i = 0; i < count; ++i)
            if (rows[i].kind == snw_rowSoft)
                pushed += rows[i].target / rows[i].compliance * RowTimes(&rows[i], s);
        double expected = -(Energy(&after) - Energy(&before)) / (2 * step);
        CHECK_NEAR(pushed, expected, 1e-6 * fmax(10, fabs(expected)));
    }
}

// A drive to the pose that the bones are in asks for nothing; one that is a little off asks for the way there.
TEST(joints, drivesFollowAPose)
{
    uint64_t seed = 15;
    for (int trial = 0; trial < 200; ++trial)
    {
        snwJointDef joint;
        snwJointRowsDef def;
        snwJointRow rows[snw_maxJointRows];
        RandomCase(&seed, s_types[trial % snw_typeCount], false, &joint, &def);
        if (!IsSmooth(&def))
            continue;
        snwJointDrive drive = {TurnOf(&def, def.poses), SlideOf(&def, def.poses), 5, 0};
        def.drive = &drive;
        int count = snwJointRows_Make(&def, rows);
        for (int i = 0; i < count; ++i)
            if (rows[i].kind == snw_rowSoft)
                CHECK_NEAR(rows[i].target, 0, 1e-12);
        double off = 0.1, asked = 0;
        drive.rotation = snwQuat_Mul(snwQuat_FromRotationVector((snwVec3){off, 0, 0}), drive.rotation);
        count = snwJointRows_Make(&def, rows);
        for (int i = 0; i < count; ++i)
            asked += rows[i].kind == snw_rowSoft ? Square(rows[i].target) : 0;
        if (joint.type == snw_jointBall)
            CHECK_NEAR(sqrt(asked), off, 1e-12);
        for (int i = 0; i < count; ++i)
            CHECK_NEAR(rows[i].compliance, rows[i].kind == snw_rowSoft ? 0.2 : 0, 1e-15);
    }
}

// With a range beyond half a turn a motor goes through the range, not the shorter way through the forbidden part.
TEST(joints, motorsGoThroughTheRange)
{
    snwJointDef joint = {.type = snw_jointHinge, .parentBone = -1, .axis = {0, 0, 1}, .axis2 = {1, 0, 0}};
    joint.lower = 0, joint.upper = 1.5 * SNW_PI, joint.stiffness = 1, joint.target = 1.4 * SNW_PI;
    snwJointRowsDef def = {.joint = &joint, .h = 0.01};
    snwJointRow rows[snw_maxJointRows];
    def.poses[0].rotation = def.starts[0].rotation = snwQuat_FromAxisAngle(joint.axis, 0.1);
    int count = snwJointRows_Make(&def, rows);
    CHECK_NEAR(rows[count - 1].target, 1.4 * SNW_PI - 0.1, 1e-12);
    CHECK_NEAR(rows[5].error, 0.1, 1e-12);
    CHECK_NEAR(rows[6].error, 1.5 * SNW_PI - 0.1, 1e-12);
    def.poses[0].rotation = snwQuat_FromAxisAngle(joint.axis, 1.45 * SNW_PI);
    count = snwJointRows_Make(&def, rows);
    CHECK_NEAR(rows[6].error, 0.05 * SNW_PI, 1e-12);
    joint.lower = 1, joint.upper = -1;
    def.poses[0].rotation = snwQuat_FromAxisAngle(joint.axis, 0.1);
    count = snwJointRows_Make(&def, rows);
    CHECK_NEAR(rows[count - 1].target, -0.6 * SNW_PI - 0.1, 1e-12);
}

// ---------------------------------------------------------------------------------------------------------------------
// Agreement with what motions are measured with

TEST(joints, limitsAgreeWithTheExcessOfMotions)
{
    uint64_t seed = 16;
    snwBoneDef bones[2] = {{.parent = -1}, {.parent = -1}};
    for (int trial = 0; trial < 700; ++trial)
    {
        snwJointDef joint;
        snwJointRowsDef def;
        snwJointRow rows[snw_maxJointRows];
        RandomCase(&seed, s_types[trial % snw_typeCount], trial / snw_typeCount % 2 == 0, &joint, &def);
        joint.lower += trial % 3 == 2 ? 2 * SNW_PI : 0, joint.upper += trial % 3 >= 1 ? 2 * SNW_PI - 1 : 0;
        snwSkeleton skeleton = {.bones = bones, .boneCount = 2, .joints = &joint, .jointCount = 1};
        snwTransform poses[2] = {{.rotation = def.poses[1].rotation}, {.rotation = def.poses[0].rotation}};
        snwJointGap gap = snwJointRows_Gap(&def);
        double expected = snwSkeleton_JointExcess(&skeleton, 0, poses), found = gap.angle;
        int count = snwJointRows_Make(&def, rows);
        for (int i = 0; i < count; ++i)
            if (rows[i].kind == snw_rowAtLeast && !snwJointType_Slides(joint.type))
                found = fmax(found, -rows[i].error);
        CHECK_NEAR(found, expected, 1e-12);
    }
}

// The gap is the length of the equal rows' errors.
TEST(joints, gapIsWhatTheRowsWouldClose)
{
    uint64_t seed = 17;
    for (int trial = 0; trial < 700; ++trial)
    {
        snwJointDef joint;
        snwJointRowsDef def;
        snwJointRow rows[snw_maxJointRows];
        RandomCase(&seed, s_types[trial % snw_typeCount], trial / snw_typeCount % 2 == 0, &joint, &def);
        snwJointRows_Make(&def, rows);
        int equal = snwJointType_EqualRows(joint.type), lengths = snwJointType_Slides(joint.type) ? 2 : 3;
        double length = 0, angle = 0;
        for (int i = 0; i < equal; ++i)
            *(i < lengths ? &length : &angle) += Square(rows[i].error);
        snwJointGap gap = snwJointRows_Gap(&def);
        CHECK_NEAR(gap.length, sqrt(length), 1e-12);
        CHECK_NEAR(gap.angle, sqrt(angle), 1e-9);
    }
}

// Bones that are where a joint lets them be have no gap and rows without error.
TEST(joints, allowedPosesHaveNoGap)
{
    uint64_t seed = 18;
    for (int trial = 0; trial < 350; ++trial)
    {
        snwJointDef joint;
        snwJointRowsDef def;
        RandomCase(&seed, s_types[trial % snw_typeCount], false, &joint, &def);
        double a = Uniform(&seed, -3, 3), b = Uniform(&seed, -3, 3);
        bool turns = joint.type == snw_jointHinge || joint.type == snw_jointCylindrical;
        snwQuat turn = turns ? snwQuat_FromAxisAngle(joint.axis, a) : snwQuat_Identity();
        if (joint.type == snw_jointBall || joint.type == snw_jointFree)
            turn = RandomRotation(&seed);
        if (joint.type == snw_jointUniversal)
            turn = snwQuat_Mul(snwQuat_FromAxisAngle(joint.axis, a), snwQuat_FromAxisAngle(joint.axis2, b));
        snwVec3 slide = snwVec3_Scale(joint.axis, snwJointType_Slides(joint.type) ? b : 0);
        snwQuat parent = def.poses[1].rotation, child = snwQuat_Mul(parent, turn);
        snwVec3 arms[2] = {snwQuat_Rotate(child, snwVec3_Sub(joint.position, def.restCentres[0])),
            snwQuat_Rotate(parent, snwVec3_Sub(joint.position, def.restCentres[1]))};
        def.poses[0].rotation = child;
        snwVec3 point = snwVec3_Add(snwVec3_Add(def.poses[1].centre, arms[1]), snwQuat_Rotate(parent, slide));
        def.poses[0].centre = snwVec3_Sub(point, arms[0]);
        snwJointGap gap = snwJointRows_Gap(&def);
        CHECK_NEAR(gap.length, 0, 1e-14);
        CHECK_NEAR(gap.angle, 0, 1e-7);
        if (joint.type == snw_jointUniversal)
        {
            snwUniversalAngles angles = snwJointAngle_Universal(turn, joint.axis, joint.axis2);
            CHECK_NEAR(remainder(angles.first.value - a, 2 * SNW_PI), 0, 1e-9);
            CHECK_NEAR(remainder(angles.second.value - b, 2 * SNW_PI), 0, 1e-7);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows and forces together

enum
{
    snw_maxBones = 4,
    snw_maxJoints = 5,
    snw_maxRows = snw_maxJoints * snw_maxJointRows
};

// Bones with a little mass at their centres, and joints between them.
typedef struct Linkage
{
    int boneCount, jointCount;
    snwVec3 centres[snw_maxBones];
    snwBonePose poses[snw_maxBones];
    snwJointDef joints[snw_maxJoints];
    snwJointRow rows[snw_maxRows];
    int rowCount;
    double lambda[snw_maxRows];
    bool exact;
} Linkage;

static snwJointRowsDef DefOf(const Linkage* link, int joint)
{
    const snwJointDef* j = &link->joints[joint];
    snwJointRowsDef def = {.joint = j, .h = 0.01};
    int bones[2] = {j->bone, j->parentBone};
    for (int b = 0; b < 2 && bones[b] >= 0; ++b)
    {
        def.restCentres[b] = link->centres[bones[b]];
        def.poses[b] = def.starts[b] = link->poses[bones[b]];
    }
    return def;
}

static double WorstGap(const Linkage* link)
{
    double worst = 0;
    for (int i = 0; i < link->jointCount; ++i)
    {
        snwJointRowsDef def = DefOf(link, i);
        snwJointGap gap = snwJointRows_Gap(&def);
        worst = fmax(worst, fmax(gap.length, gap.angle));
    }
    return worst;
}

static double* Numbers(size_t count)
{
    return aligned_alloc(64, (count * sizeof(double) + 127) / 64 * 64);
}

// The smallest motion (by mass) that all rows ask for: lambda from A S^-1 A^T, then S^-1 A^T lambda.
static void SolveStep(Linkage* link, double s[snw_maxBones][6])
{
    int n = 6 * link->boneCount, count = link->rowCount;
    double mass[36 * snw_maxBones * snw_maxBones] = {0}, a[6 * snw_maxBones * snw_maxRows] = {0};
    double k[snw_maxRows * snw_maxRows], b[snw_maxRows], compliance[snw_maxRows];
    bool atLeast[snw_maxRows], active[snw_maxRows] = {0};
    for (int i = 0; i < n; ++i)
        mass[i * n + i] = i % 6 < 3 ? 0.1 : 1 + i / 6;
    for (int r = 0; r < count; ++r)
    {
        const snwJointRow* row = &link->rows[r];
        b[r] = row->target, compliance[r] = row->compliance, atLeast[r] = row->kind == snw_rowAtLeast;
        for (int e = 0; e < 2 && row->bones[e] >= 0; ++e)
            memcpy(a + r * n + 6 * row->bones[e], row->jacobian[e], 6 * sizeof *a);
    }
    snwDense dense = {snwCholesky_Kernels(snw_simdAuto), n, Numbers(snwDense_Count(n))};
    double *panels = Numbers(snwDense_PanelCount(count, n)), *scratch = Numbers(snwActive_ScratchCount(count));
    CHECK_INT(snwDense_Factor(&dense, mass, n), -1);
    snwDense_ForwardRows(&dense, count, a, n, panels);
    snwDense_Gram(&dense, count, panels, k, count);
    link->exact = snwActive_Solve(
        &(snwActiveDef){dense.kernels, count, k, count, compliance, b, atLeast, active, link->lambda, scratch, false})
                      .exact;
    double* x = Numbers((size_t)n);
    memset(x, 0, (size_t)n * sizeof *x);
    snwDense_AddRows(&dense, count, panels, link->lambda, x);
    snwDense_Backward(&dense, x);
    memcpy(s, x, (size_t)n * sizeof *x);
    free(x), free(scratch), free(panels), free(dense.numbers);
}

static void StepLinkage(Linkage* link)
{
    double s[snw_maxBones][6];
    link->rowCount = 0;
    for (int i = 0; i < link->jointCount; ++i)
    {
        snwJointRowsDef def = DefOf(link, i);
        link->rowCount += snwJointRows_Make(&def, link->rows + link->rowCount);
    }
    SolveStep(link, s);
    CHECK(link->exact);
    for (int i = 0; i < link->boneCount; ++i)
        link->poses[i] = Moved(link->poses[i], s[i], 1);
}

static void AddJoint(Linkage* link, snwJointType type, int parent, int bone, snwVec3 position)
{
    link->joints[link->jointCount++] = (snwJointDef){.type = type,
        .parentBone = parent,
        .bone = bone,
        .position = position,
        .axis = {0, 0, 1},
        .axis2 = {1, 0, 0},
        .lower = 1,
        .upper = -1,
        .cone = SNW_PI};
}

static void Shake(Linkage* link, uint64_t* seed, double size)
{
    for (int i = 0; i < link->boneCount; ++i)
    {
        snwVec3 w = RandomVector(seed, size), l = RandomVector(seed, size);
        link->poses[i] = (snwBonePose){snwQuat_Identity(), link->centres[i]};
        link->poses[i] = Moved(link->poses[i], (double[6]){w.x, w.y, w.z, l.x, l.y, l.z}, 1);
    }
}

// Four hinges in a loop: 20 rows, 18 numbers, one way to move, so three rows say what the others do.
TEST(joints, closedLoopsClose)
{
    uint64_t seed = 19;
    for (int trial = 0; trial < 20; ++trial)
    {
        Linkage link = {.boneCount = 3, .centres = {{0, 0.5, 0}, {1.5, 1.25, 0}, {3, 0.75, 0}}};
        AddJoint(&link, snw_jointHinge, -1, 0, (snwVec3){0, 0, 0});
        AddJoint(&link, snw_jointHinge, 0, 1, (snwVec3){0, 1, 0});
        AddJoint(&link, snw_jointHinge, 1, 2, (snwVec3){3, 1.5, 0});
        AddJoint(&link, snw_jointHinge, -1, 2, (snwVec3){3, 0, 0});
        Shake(&link, &seed, 0.3);
        CHECK(WorstGap(&link) > 0.01);
        for (int i = 0; i < 8; ++i)
            StepLinkage(&link);
        CHECK_NEAR(WorstGap(&link), 0, 1e-12);
        for (int i = 0; i < link.rowCount; ++i)
            CHECK(fabs(link.lambda[i]) < 1);
    }
}

// The same pin three times, twice as a fixed joint.
TEST(joints, pinsThatSayTheSameThriceHold)
{
    uint64_t seed = 20;
    for (int trial = 0; trial < 20; ++trial)
    {
        Linkage link = {.boneCount = 1, .centres = {{0.3, -0.2, 0.1}}};
        AddJoint(&link, snw_jointBall, -1, 0, (snwVec3){0.5, 0.5, 0.5});
        AddJoint(&link, snw_jointFixed, -1, 0, (snwVec3){0.5, 0.5, 0.5});
        AddJoint(&link, snw_jointFixed, -1, 0, (snwVec3){-0.5, 0.1, 0.2});
        Shake(&link, &seed, 1.5);
        for (int i = 0; i < 8; ++i)
            StepLinkage(&link);
        CHECK_NEAR(WorstGap(&link), 0, 1e-12);
    }
}

// Every type finds its place from far away: rows that fade or point the wrong way would not.
TEST(joints, everyTypeFindsItsPlaceFromAfar)
{
    uint64_t seed = 21;
    for (int trial = 0; trial < 20 * snw_typeCount; ++trial)
    {
        Linkage link = {.boneCount = 2, .centres = {{0.3, -0.2, 0.1}, {1, 0, 0}}};
        AddJoint(&link, s_types[trial % snw_typeCount], trial % 2 - 1, 1, (snwVec3){0.5, 0.5, 0.5});
        Shake(&link, &seed, 1);
        link.poses[1].rotation = RandomRotation(&seed);
        for (int i = 0; i < 20; ++i)
            StepLinkage(&link);
        CHECK_NEAR(WorstGap(&link), 0, 1e-12);
    }
}

// A hinge beyond its range comes back to the nearer end, and no farther.
TEST(joints, limitsBringBack)
{
    for (int sign = -1; sign <= 1; sign += 2)
    {
        Linkage link = {.boneCount = 1, .centres = {{1, 0, 0}}};
        AddJoint(&link, snw_jointHinge, -1, 0, (snwVec3){0, 0, 0});
        link.joints[0].lower = -0.5, link.joints[0].upper = 0.7;
        snwQuat turn = snwQuat_FromAxisAngle(link.joints[0].axis, 1.5 * sign);
        link.poses[0] = (snwBonePose){turn, snwQuat_Rotate(turn, link.centres[0])};
        for (int i = 0; i < 10; ++i)
            StepLinkage(&link);
        double twist = snwJointAngle_Twist(link.poses[0].rotation, link.joints[0].axis).value;
        CHECK_NEAR(twist, sign > 0 ? 0.7 : -0.5, 1e-12);
        CHECK_NEAR(WorstGap(&link), 0, 1e-12);
    }
}
