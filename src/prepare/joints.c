// Joints between the bones. A file says where they are and nothing about what they allow, so without a word from the
// sidecar or the file's extras these rules hold, for any creature:
//
//   - a bone has a joint to the bone above it, at its head; bones without one above are free;
//   - if the motions of the file turn it by ten degrees or more about one axis, and by no more than two off it, it
//     is a hinge about that axis, with the range that the motions use and fifteen degrees more on either side;
//   - else it is a ball joint: ninety degrees of swing, forty-five of twist about the bone, or fifteen more than what
//     the motions use;
//   - no stiffness, no damping.

#include "prepare/parts.h"

#include "math/eigen.h"
#include "rig/skeleton.h"

#include <math.h>

static const double s_degree = SNW_PI / 180;

typedef struct Use
{
    snwMat3 spread; // sum of rotation vectors' outer products
    int keyCount;
} Use;

static void AddKeys(const snwPreparer* p, int bone, Use* use)
{
    for (int m = 0; m < p->motionCount; ++m)
        for (int t = 0; t < p->motions[m].trackCount; ++t)
        {
            const snwTrackDef* track = &p->motions[m].tracks[t];
            for (int k = 0; track->bone == bone && k < track->keyCount; ++k, ++use->keyCount)
            {
                snwVec3 v = snwQuat_ToRotationVector(track->keys[k].transform.rotation);
                use->spread = snwMat3_Add(use->spread, snwMat3_Outer(v, v));
            }
        }
}

typedef struct Extent
{
    double lower, upper; // rad, about the axis
    double off;          // rad, of it
    double swing;        // rad, of the axis itself
} Extent;

static Extent MeasureExtent(const snwPreparer* p, int bone, snwVec3 axis)
{
    Extent extent = {0, 0, 0, 0};
    for (int m = 0; m < p->motionCount; ++m)
        for (int t = 0; t < p->motions[m].trackCount; ++t)
        {
            const snwTrackDef* track = &p->motions[m].tracks[t];
            for (int k = 0; track->bone == bone && k < track->keyCount; ++k)
            {
                snwQuat q = track->keys[k].transform.rotation;
                double twist = 2 * atan2(axis.x * q.x + axis.y * q.y + axis.z * q.z, q.w);
                // Three quarters of a turn are a quarter back: the shorter way counts.
                twist = twist > SNW_PI ? twist - 2 * SNW_PI : twist < -SNW_PI ? twist + 2 * SNW_PI : twist;

                // How far the axis itself leans over.
                double turned = fmin(fmax(snwVec3_Dot(axis, snwQuat_Rotate(q, axis)), -1), 1);
                snwQuat about = snwQuat_FromRotationVector(snwVec3_Scale(axis, twist));
                extent.lower = fmin(extent.lower, twist);
                extent.upper = fmax(extent.upper, twist);
                extent.off = fmax(extent.off, snwQuat_Angle(about, q));
                extent.swing = fmax(extent.swing, acos(turned));
            }
        }

    return extent;
}

static void MakeBall(const snwPreparer* p, int bone, snwJointDef* joint)
{
    snwVec3 along = snwVec3_Sub(p->bones[bone].tail, p->bones[bone].head);
    joint->type = snw_jointBall;
    joint->axis = snwVec3_Length(along) > 1e-9 * p->size ? snwVec3_Normalize(along) : (snwVec3){0, 1, 0};
    Extent extent = MeasureExtent(p, bone, joint->axis);
    joint->cone = fmin(fmax(90 * s_degree, extent.swing + 15 * s_degree), SNW_PI);
    joint->lower = fmin(-45 * s_degree, extent.lower - 15 * s_degree);
    joint->upper = fmax(45 * s_degree, extent.upper + 15 * s_degree);
    if (joint->upper - joint->lower > 340 * s_degree) // as good as none
        joint->lower = 1, joint->upper = -1;
}

static bool MakeHinge(const snwPreparer* p, int bone, const Use* use, snwJointDef* joint)
{
    if (use->keyCount == 0)
        return false;
    snwVec3 axis = snwMat3_Column(snwEigen3_Symmetric(use->spread).vectors, 0);
    Extent extent = MeasureExtent(p, bone, axis);
    double range = extent.upper - extent.lower;
    if (range < 10 * s_degree || range > 180 * s_degree || extent.off > 2 * s_degree)
        return false;
    joint->type = snw_jointHinge;
    joint->axis = axis;
    joint->lower = extent.lower - 15 * s_degree;
    joint->upper = extent.upper + 15 * s_degree;
    return true;
}

static snwResult MakeJoint(snwPreparer* p, int bone)
{
    Use use = {snwMat3_Diagonal(0, 0, 0), 0};
    snwJointDef* joint = &p->joints[p->jointCount++];

    // Where it is, from the bones; what it allows, from the motions, else like a ball; then what somebody says.
    *joint = snwDefaultJointDef();
    joint->name = p->bones[bone].name;
    joint->parentBone = p->bones[bone].parent;
    joint->bone = bone;
    joint->position = p->bones[bone].head;
    AddKeys(p, bone, &use);
    if (!MakeHinge(p, bone, &use, joint))
        MakeBall(p, bone, joint);
    snwResult result = snwPrepareSettings_MixJoint(
        &p->settings, p->rig[p->boneRig[bone]].setting.joint, joint, p->message);
    if (result < 0)
        snwMessage_AddPlace(p->message, "bones.%s", p->bones[bone].name);
    joint->axis2 = fabs(snwVec3_Dot(joint->axis, joint->axis2)) < 0.9 ? joint->axis2
                                                                      : snwVec3_Perpendicular(joint->axis);

    return result;
}

// The file's own joints, of bones that are still there.
static void TakeJoints(snwPreparer* p)
{
    for (int i = 0; i < p->asset->jointCount; ++i)
    {
        snwJointDef joint = p->asset->joints[i];
        int parent = joint.parentBone >= 0 ? snwPreparer_BoneOf(p, joint.parentBone) : -1;
        int bone = p->rig[joint.bone].bone;
        if (bone < 0 || bone == parent)
            continue;
        joint.bone = bone;
        joint.parentBone = parent;
        joint.position = snwVec3_Scale(joint.position, p->scale);
        if (snwJointType_Slides(joint.type))
            joint.lower *= p->scale, joint.upper *= p->scale;
        p->joints[p->jointCount++] = joint;
    }
}

snwResult snwPreparer_MakeJoints(snwPreparer* p)
{
    snwResult result = snw_ok;
    p->joints = snwPreparer_Alloc(p, (int64_t)p->boneCount + p->asset->jointCount + 1, sizeof *p->joints);
    if (p->joints == NULL)
        return snwFailMemory(p->message);
    if (p->asset->boneCount > 0)
        TakeJoints(p);
    for (int i = 0; i < p->boneCount && result >= 0 && p->asset->boneCount == 0; ++i)
        if (p->bones[i].parent >= 0 && !p->rig[p->boneRig[i]].point)
            result = MakeJoint(p, i);
    return result;
}
