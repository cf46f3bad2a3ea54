// Motions are interpolated smoothly (C1) and pass through their keys exactly:
//   positions   cubic Hermite pieces; the velocity at a key is the mean one from its neighbour before to its neighbour
//               after (Catmull-Rom). The parabola through the three would fit evenly moving things better, but swings
//               far out where a short gap between keys meets a long one
//   rotations   the same in the group of rotations: cumulative cubic Bezier pieces (Kim, Kim and Shin 1995, "A general
//               construction scheme for unit quaternion curves with simple high order derivatives"), eq. 7 with the
//               end velocities found likewise
// Turning about one fixed axis is then the same cubic in the angle, so a hinge stays a hinge between keys. Squad was
// not taken: with uneven keys its pieces meet with unlike speeds. Motions that do not loop start and end at rest, so
// that holding the ends is smooth too.

#include "rig/skeleton.h"

#include "rig/joint_angle.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------------------------------
// Order and pivots

// Walks up from a bone to one that is placed; path holds those on the way. Returns their number; -1: a circle.
static int WalkUp(const snwBoneDef* bones, int bone, int* state, int* path)
{
    int length = 0;
    while (bone >= 0 && state[bone] == 0)
    {
        state[bone] = 1;
        path[length++] = bone;
        bone = bones[bone].parent;
    }
    return bone >= 0 && state[bone] == 1 ? -1 : length;
}

static snwResult OrderSkeletonBones(snwArena* arena, snwSkeleton* skeleton, snwMessage* message)
{
    int count = skeleton->boneCount, placed = 0;
    skeleton->order = snwArena_Alloc(arena, (size_t)count, sizeof(int));
    int* state = snwAllocArray(arena->context, (size_t)count, 2 * sizeof(int)); // 0: new, 1: on the way, 2: placed
    bool enough = skeleton->order != NULL && state != NULL;
    snwResult result = enough ? snw_ok : snwFailMemory(message);

    for (int i = 0; enough && result == snw_ok && i < count; ++i)
    {
        // Up to a bone that is placed; then the path is placed from there down, parents first.
        int* path = state + count;
        int length = WalkUp(skeleton->bones, i, state, path);
        if (length < 0)
            result = snwFail(message, snw_errorArgument, "let one of them follow none (-1)",
                "bones[%d] '%s' follows itself through its parents", i, skeleton->bones[i].name);
        while (length > 0)
        {
            skeleton->order[placed++] = path[--length];
            state[path[length]] = 2;
        }
    }

    snwFree(arena->context, state);
    return result;
}

snwResult snwSkeleton_Build(snwArena* arena, const snwBoneDef* bones, int boneCount, const snwJointDef* joints,
    int jointCount, snwSkeleton* skeleton, snwMessage* message)
{
    *skeleton = (snwSkeleton){.bones = bones, .boneCount = boneCount, .joints = joints, .jointCount = jointCount};
    skeleton->pivots = snwArena_Alloc(arena, (size_t)boneCount, sizeof *skeleton->pivots);
    if (skeleton->pivots == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < boneCount; ++i)
        skeleton->pivots[i] = bones[i].head;
    for (int i = jointCount - 1; i >= 0; --i) // backwards: the first one stays
        skeleton->pivots[joints[i].bone] = joints[i].position;
    return OrderSkeletonBones(arena, skeleton, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Between the keys

// The keys of a track as the spline sees them. In a loop the numbers go on in both directions.
typedef struct Spline
{
    const snwKey* keys;
    int count;
    double period; // s; 0: no loop
} Spline;

static snwKey KeyAt(const Spline* spline, int index)
{
    if (spline->period == 0.0)
        return spline->keys[index];
    int turn = index < 0 ? -1 : index / spline->count;
    snwKey key = spline->keys[index - turn * spline->count];
    key.time += turn * spline->period;
    return key;
}

typedef struct Velocity
{
    snwVec3 linear, angular; // angular in the axes of the key itself
} Velocity;

static Velocity Slope(const snwKey* a, const snwKey* b)
{
    double rate = 1.0 / (b->time - a->time);
    snwQuat turn = snwQuat_Mul(snwQuat_Conjugate(a->transform.rotation), b->transform.rotation);
    return (Velocity){snwVec3_Scale(snwVec3_Sub(b->transform.position, a->transform.position), rate),
        snwVec3_Scale(snwQuat_ToRotationVector(turn), rate)};
}

// Velocity at a key: the mean from neighbour to neighbour; zero where the motion stands still beyond it.
static Velocity VelocityAt(const Spline* spline, int index)
{
    if (spline->period == 0.0 && (index == 0 || index == spline->count - 1))
        return (Velocity){{0, 0, 0}, {0, 0, 0}};
    snwKey before = KeyAt(spline, index - 1), key = KeyAt(spline, index), after = KeyAt(spline, index + 1);
    Velocity left = Slope(&before, &key), right = Slope(&key, &after);
    double share = (after.time - key.time) / (after.time - before.time);
    return (Velocity){snwVec3_Lerp(left.linear, right.linear, share), snwVec3_Lerp(left.angular, right.angular, share)};
}

static snwQuat TurnByShare(snwVec3 v, double share)
{
    return snwQuat_FromRotationVector(snwVec3_Scale(v, share));
}

// One piece, u in 0..1, h seconds long. Control points of a Bezier curve lie a third of the end velocities away.
static snwTransform BlendKeys(const snwKey* a, const snwKey* b, Velocity va, Velocity vb, double u, double h)
{
    double third = h / 3.0, s = 1.0 - u;
    double c1 = 1.0 - s * s * s, c2 = u * u * (3.0 - 2.0 * u), c3 = u * u * u; // cumulative Bernstein polynomials
    snwVec3 p0 = a->transform.position, p3 = b->transform.position;
    snwVec3 w1 = snwVec3_Scale(va.linear, third), w3 = snwVec3_Scale(vb.linear, third);
    snwVec3 w2 = snwVec3_Sub(snwVec3_Sub(snwVec3_Sub(p3, p0), w1), w3);
    snwTransform result;
    result.position = snwVec3_MulAdd(snwVec3_MulAdd(snwVec3_MulAdd(p0, c1, w1), c2, w2), c3, w3);
    snwQuat q0 = a->transform.rotation, q3 = b->transform.rotation;
    w1 = snwVec3_Scale(va.angular, third), w3 = snwVec3_Scale(vb.angular, third);
    snwQuat rest = snwQuat_Mul(
        snwQuat_Mul(TurnByShare(w1, -1.0), snwQuat_Mul(snwQuat_Conjugate(q0), q3)), TurnByShare(w3, -1.0));
    w2 = snwQuat_ToRotationVector(rest);
    snwQuat turned = snwQuat_Mul(
        snwQuat_Mul(q0, TurnByShare(w1, c1)), snwQuat_Mul(TurnByShare(w2, c2), TurnByShare(w3, c3)));
    result.rotation = snwQuat_Normalize(turned);
    return result;
}

static Spline MakeSpline(const snwMotionDef* motion, const snwTrackDef* track)
{
    Spline spline = {track->keys, track->keyCount, motion->loop ? motion->duration : 0.0};
    // A loop's key at the end is its key at 0 once more.
    if (motion->loop && track->keyCount > 1 && track->keys[0].time <= 0.0 &&
        track->keys[track->keyCount - 1].time >= motion->duration)
        spline.count--;
    return spline;
}

static double Wrap(double time, double period)
{
    double wrapped = fmod(time, period);
    wrapped = wrapped < 0.0 ? wrapped + period : wrapped;
    return wrapped < period ? wrapped : 0.0;
}

snwTransform snwTrack_Evaluate(const snwMotionDef* motion, const snwTrackDef* track, double time)
{
    // Loops wrap the time; otherwise the first and the last key hold.
    Spline spline = MakeSpline(motion, track);
    const snwKey* keys = spline.keys;
    if (motion->loop)
        time = Wrap(time, motion->duration);
    int low = -1, high = spline.count; // the last key at or before time

    while (high - low > 1)
    {
        int middle = (low + high) / 2;
        if (keys[middle].time <= time)
            low = middle;
        else
            high = middle;
    }

    // Before the first key, behind the last, or only one.
    if (spline.count == 1 || (!motion->loop && (low < 0 || low == spline.count - 1)))
        return keys[low < 0 ? 0 : low].transform;
    snwKey a = KeyAt(&spline, low), b = KeyAt(&spline, low + 1);
    if (time <= a.time)
        return a.transform;
    double h = b.time - a.time;

    return BlendKeys(&a, &b, VelocityAt(&spline, low), VelocityAt(&spline, low + 1), (time - a.time) / h, h);
}

// ---------------------------------------------------------------------------------------------------------------------
// Poses

void snwSkeleton_Pose(const snwSkeleton* skeleton, const snwMotionDef* motion, double time, snwTransform* bones)
{
    for (int i = 0; i < skeleton->boneCount; ++i)
        bones[i] = snwTransform_Identity();
    if (motion == NULL)
        return;

    // Rotations about the bone's pivot.
    for (int i = 0; i < motion->trackCount; ++i)
    {
        const snwTrackDef* track = &motion->tracks[i];
        snwTransform local = snwTrack_Evaluate(motion, track, time);
        snwVec3 q = skeleton->pivots[track->bone];
        local.rotation = snwQuat_Normalize(local.rotation);
        local.position = snwVec3_Add(local.position, snwVec3_Sub(q, snwQuat_Rotate(local.rotation, q)));
        bones[track->bone] = local;
    }

    // Parents first, so one pass composes them all.
    for (int i = 0; i < skeleton->boneCount; ++i)
    {
        int bone = skeleton->order[i], parent = skeleton->bones[bone].parent;
        if (parent >= 0)
            bones[bone] = snwTransform_Compose(bones[parent], bones[bone]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Limits

double snwSkeleton_JointExcess(const snwSkeleton* skeleton, int index, const snwTransform* bones)
{
    const snwJointDef* joint = &skeleton->joints[index];
    snwQuat parent = joint->parentBone >= 0 ? bones[joint->parentBone].rotation : snwQuat_Identity();
    snwQuat turn = snwQuat_Mul(snwQuat_Conjugate(parent), bones[joint->bone].rotation);
    snwAngleLimit limits[snw_maxAngleLimits];
    double excess = 0.0;

    // What a limit is passed by.
    for (int i = snwJointAngle_Limits(joint, turn, limits); i-- > 0;)
        excess = fmax(excess, -limits[i].gap);
    // How far the joint turns where its type does not let it.
    switch (joint->type)
    {
        case snw_jointHinge:
        case snw_jointCylindrical:
            return fmax(excess, snwJointAngle_Swing(turn, joint->axis).value);
        case snw_jointUniversal:
            return fmax(excess, fabs(snwJointAngle_Universal(turn, joint->axis, joint->axis2).rest.value));
        case snw_jointPrismatic:
        case snw_jointFixed:
            return snwQuat_Angle(snwQuat_Identity(), turn);
        case snw_jointBall:
        case snw_jointFree:
            break;
    }

    return excess;
}

int snwJointType_Freedom(snwJointType type)
{
    static const int freedom[] = {
        [snw_jointBall] = 3,
        [snw_jointHinge] = 1,
        [snw_jointUniversal] = 2,
        [snw_jointPrismatic] = 1,
        [snw_jointCylindrical] = 2,
        [snw_jointFixed] = 0,
        [snw_jointFree] = 6,
    };
    return freedom[type];
}

bool snwJointType_Slides(snwJointType type)
{
    return type == snw_jointPrismatic || type == snw_jointCylindrical;
}
