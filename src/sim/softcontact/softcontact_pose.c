// What joints are led by: poses to track, and places for bones to reach.
//
// Poses are tracked by springs and dampers of the end of the step (Jain and Liu, Eq. 17 and 18; body_tree.h makes them
// implicit). A joint follows, the first of these that there is:
//     the pose that makes a bone beyond it reach its place,
//     its clip, or the motion of the body,
//     the target of its motor, if the joint has no spring of its own,
//     the pose that it is to hold (softcontact.hold).
// Joints follow with their own stiffness and damping where they have any, else with the frequency softcontact.drive
// against the inertia of all that hangs on them, critically damped.
//
// Places: the pose that joints between a bone and its root aim at moves, in each substep, by part of the dr for which
//     J dr = target - p     (Eq. 19 has the difference the other way round)
// by damped least squares, all bones that reach for something at once: (J^T J + lambda^2) dr = J^T e. What aims sum up
// also bears weight, so nothing sags in the end; an aim goes no farther than s_farthest from where its joint is.

#include "rig/clip.h"
#include "rig/skeleton.h"
#include "sim/softcontact/softcontact.h"

#include <math.h>
#include <string.h>

static const double s_turning = 0.25; // of the size of the body: what turns by 1 rad is as far off as that
static const double s_longest = 0.25; // of the size: what is farther off counts as that far
static const double s_damping = 0.03; // lambda, of the size
static const double s_haste = 0.5;    // of the drive's frequency: how fast aims follow
static const double s_farthest = 0.5; // rad or m, that an aim is off its joint

// ---------------------------------------------------------------------------------------------------------------------
// Commands and clips of places

static snwTransform PoseOf(const snwSim* sim, int index, int handle)
{
    const snwSoftModel* model = sim->bodies[index].model;
    const snwCharacterDef* def = &model->character->def;
    snwTransform bone = snwSoft_State(sim, index).outBones[snwCharacterDef_BoneOfHandle(def, handle)];
    return (snwTransform){snwTransform_Apply(bone, snwCharacterDef_HandlePoint(def, handle)), bone.rotation};
}

// The command says nothing of the parts that stay.
void snwSoft_TakeReach(snwSim* sim, const snwCommand* command)
{
    const snwSoftModel* model = sim->bodies[command->body].model;
    snwSoftReach* reach = &snwSoft_State(sim, command->body).reaches[command->index];
    if (snwCharacterDef_BoneOfHandle(&model->character->def, command->index) < 0)
    {
        snwSim_Warn(sim, snw_warnCommand, command->kind, "name a handle that is a bone",
            "method softcontact moves bones, and handle %d of '%s' is none", command->index,
            sim->def->bodies[command->body].name);
        return;
    }

    // What stays is given where it is now.
    snwTransform now = PoseOf(sim, command->body, command->index), to = command->transform;
    uint32_t stay = command->stay, turns = snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
    to.position.x = stay & snw_dofX ? now.position.x : to.position.x;
    to.position.y = stay & snw_dofY ? now.position.y : to.position.y;
    to.position.z = stay & snw_dofZ ? now.position.z : to.position.z;
    to.rotation = stay & turns ? now.rotation : to.rotation;
    *reach = (snwSoftReach){.target = to, .given = command->mask | stay};
}

void snwSoft_StartReaches(snwSim* sim, int index)
{
    const snwCharacterDef* def = &sim->bodies[index].character->def;
    snwSoftState state = snwSoft_State(sim, index);
    for (int i = 0; i < snwCharacterDef_HandleCount(def); ++i)
    {
        const snwClipDef* clip = snwSim_FindClip(sim, snw_clipHandle, index, i);
        bool led = clip != NULL && snwCharacterDef_BoneOfHandle(def, i) >= 0;
        state.reaches[i] = (snwSoftReach){
            .target = snwTransform_Identity(), .given = led ? clip->given : 0, .byClip = led};
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Reaching

// Marks the joints between a bone and its root.
static void MarkChain(const snwBodyTree* tree, int link, bool* marks)
{
    for (; link >= 0; link = tree->links[link].joint.parentBone)
        marks[link] = tree->links[link].joint.type != snw_jointFree;
}

static snwVec3 Masked(snwVec3 v, uint32_t given, uint32_t x)
{
    return (snwVec3){given & x ? v.x : 0, given & (2 * x) ? v.y : 0, given & (4 * x) ? v.z : 0};
}

static snwVec3 Shortened(snwVec3 v, double most)
{
    double length = snwVec3_Length(v);
    return length > most ? snwVec3_Scale(v, most / length) : v;
}

// matrix += J^T J, right += J^T e of one bone; both [freedom ..].
static void AddReach(const snwSoftBody* body, int link, snwVec3 at, const snwSpatial error, uint32_t given,
    double turning, double* matrix, double* right)
{
    const snwBodyTree* tree = &body->tree;
    snwVec3 arm = snwVec3_Sub(at, tree->origin);
    for (int i = link; i >= 0; i = tree->links[i].joint.parentBone)
        for (int k = tree->first[i]; k < tree->first[i + 1] && tree->links[i].joint.type != snw_jointFree; ++k)
        {
            snwVec3 shift = Masked(snwSpatial_At(tree->columns[k], arm), given, snw_dofX);
            snwVec3 turn = Masked(snwVec3_Scale(tree->columns[k].turn, turning), given, snw_dofRotationX);
            right[k] += snwVec3_Dot(shift, error.shift) + snwVec3_Dot(turn, error.turn);
            for (int j = link; j >= 0; j = tree->links[j].joint.parentBone)
                for (int l = tree->first[j]; l < tree->first[j + 1] && tree->links[j].joint.type != snw_jointFree; ++l)
                    matrix[k * tree->freedom + l] += snwVec3_Dot(shift, snwSpatial_At(tree->columns[l], arm)) +
                                                     snwVec3_Dot(turn, snwVec3_Scale(tree->columns[l].turn, turning));
        }
}

// An aim stays near its joint: nothing winds up behind what is in the way.
static void KeepAimNear(const snwJointDef* joint, const snwLinkPose* now, snwLinkPose* aim)
{
    for (int k = 0; k < 2; ++k)
        aim->angles[k] = fmin(fmax(aim->angles[k], now->angles[k] - s_farthest), now->angles[k] + s_farthest);
    if (joint->type != snw_jointBall)
        return;
    double off = snwQuat_Angle(now->turn, aim->turn);
    if (off > s_farthest)
        aim->turn = snwQuat_Slerp(now->turn, aim->turn, s_farthest / off);
}

// Moves the aims of all joints that reach. The body's matrix and factor are free between steps.
static void Reach(const snwSim* sim, int index, double h, bool* marks)
{
    const snwSoftModel* model = sim->bodies[index].model;
    const snwCharacterDef* def = &model->character->def;
    snwSoftBody* body = &((snwSoftScratch*)sim->scratch)->bodies[index];
    const snwBodyTree* tree = &body->tree;
    snwSoftState state = snwSoft_State(sim, index);
    int n = tree->freedom;
    double size = snwVec3_Distance(model->character->lower, model->character->upper), turning = s_turning * size;
    bool any = false;

    // J^T J and J^T e, summed over all bones that reach.
    memset(body->matrix, 0, (size_t)n * (size_t)n * sizeof *body->matrix);
    memset(body->next, 0, (size_t)n * sizeof *body->next);

    for (int i = 0; i < snwCharacterDef_HandleCount(def); ++i)
    {
        const snwSoftReach* reach = &state.reaches[i];
        if (reach->given == 0)
            continue;
        any = true;
        snwTransform target = reach->target, now = PoseOf(sim, index, i);
        if (reach->byClip)
            target = snwClip_Evaluate(snwSim_FindClip(sim, snw_clipHandle, index, i), sim->substepTime);

        // Turns are measured as ways at a part of the body's size, and far goals count as nearer ones.
        int link = model->linkOfBone[snwCharacterDef_BoneOfHandle(def, i)];
        snwVec3 turned = snwQuat_ToRotationVector(snwQuat_Mul(target.rotation, snwQuat_Conjugate(now.rotation)));
        snwSpatial error = {Shortened(snwVec3_Scale(turned, turning), s_longest * size),
            Shortened(snwVec3_Sub(target.position, now.position), s_longest * size)};
        MarkChain(tree, link, marks);
        AddReach(body, link, now.position, error, reach->given, turning, body->matrix, body->next);
    }

    // (J^T J + lambda^2) dr = J^T e; of dr, the part that the drive's frequency allows in a substep.
    double least = s_damping * size, gain = 1 - exp(-h * s_haste * 2 * SNW_PI * snwSim_Param(sim, snw_softDrive));
    for (int k = 0; k < n; ++k)
        body->matrix[k * n + k] += least * least;
    if (!any || snwDense_Factor(&body->factor, body->matrix, n) >= 0)
        return;
    snwDense_Solve(&body->factor, body->next);
    for (int k = 0; k < n; ++k)
        body->next[k] *= gain;

    snwBodyTree_Move(tree, body->next, 1, state.aims);
    for (int i = 0; i < model->linkCount; ++i)
        if (marks[i])
            KeepAimNear(&tree->links[i].joint, &state.poses[i], &state.aims[i]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Drives

static snwJointDrive DriveTo(const snwSoftModel* model, int link, double frequency, snwTransform pose)
{
    const snwJointDef* joint = &model->links[link].joint;
    double w = 2 * SNW_PI * frequency, inertia = model->inertias[link];
    snwJointDrive drive = {.rotation = pose.rotation,
        .length = snwVec3_Dot(joint->axis, pose.position),
        .stiffness = inertia * w * w,
        .damping = 2 * inertia * w};
    if (joint->stiffness > 0)
        drive.stiffness = joint->stiffness, drive.damping = joint->damping;
    return drive;
}

// Turn and slide of a joint's child as seen from its parent, in the axes that the body started with.
static snwTransform Relative(const snwSim* sim, int index, int link, const snwTransform* bones)
{
    const snwSoftModel* model = sim->bodies[index].model;
    const snwCharacterDef* def = &model->character->def;
    snwQuat turn = sim->starts[index].transform.rotation;
    snwTransform pose = snwTransform_Identity();
    for (int j = 0; j < def->jointCount; ++j)
    {
        const snwJointDef* joint = &def->joints[j];
        if (model->linkOfJoint[j] != link)
            continue;

        // Both bones' turn and shift since rest: nothing at rest.
        snwTransform parent = joint->parentBone >= 0 ? bones[joint->parentBone] : snwTransform_Identity();
        snwQuat own = snwQuat_Mul(snwQuat_Conjugate(parent.rotation), bones[joint->bone].rotation);
        snwVec3 at = snwTransform_ApplyInverse(parent, snwTransform_Apply(bones[joint->bone], joint->position));
        pose.rotation = snwQuat_Mul(snwQuat_Mul(turn, own), snwQuat_Conjugate(turn));
        pose.position = snwQuat_Rotate(turn, snwVec3_Sub(at, joint->position));
    }
    return pose;
}

static snwTransform InAxes(snwQuat turn, snwTransform pose)
{
    pose.rotation = snwQuat_Mul(snwQuat_Mul(turn, pose.rotation), snwQuat_Conjugate(turn));
    pose.position = snwQuat_Rotate(turn, pose.position);
    return pose;
}

static snwTransform AimOf(const snwJointDef* joint, const snwLinkPose* aim)
{
    return (snwTransform){
        joint->type == snw_jointPrismatic || joint->type == snw_jointCylindrical ? aim->shift : (snwVec3){0, 0, 0},
        aim->turn};
}

void snwSoft_Lead(snwSim* sim, int index, double h)
{
    const snwSoftModel* model = sim->bodies[index].model;
    const snwCharacterDef* def = &model->character->def;
    snwSoftScratch* scratch = sim->scratch;
    const snwBodyTree* tree = &scratch->bodies[index].tree;
    snwSoftState state = snwSoft_State(sim, index);
    snwJointDrive* drives = scratch->drives[index];
    bool* marks = scratch->marks;

    memset(drives, 0, (size_t)model->linkCount * sizeof *drives);
    memset(marks, 0, (size_t)model->linkCount * sizeof *marks);
    if (model->linkCount == 1 && def->jointCount == 0)
        return;
    Reach(sim, index, h, marks);

    // Damping holds against all motion; looking ahead by damping over stiffness makes that the motion wanted.
    double frequency = snwSim_Param(sim, snw_softDrive), ahead = frequency > 0 ? 1 / (SNW_PI * frequency) : 0;
    double time = sim->substepTime + ahead;
    const snwMotionDef* motion = snwSim_BodyMotion(sim, index);
    if (motion != NULL)
        snwSkeleton_Pose(&model->character->skeleton, motion, snwSim_MotionTime(sim, index, time), scratch->bones);
    snwQuat turn = sim->starts[index].transform.rotation;
    bool hold = snwSim_Param(sim, snw_softHold) != 0;

    for (int j = 0; j < def->jointCount; ++j)
    {
        int link = model->linkOfJoint[j];
        if (link < 0)
            continue;
        const snwJointDef* joint = &tree->links[link].joint;
        const snwClipDef* clip = snwSim_FindClip(sim, snw_clipJoint, index, j);
        bool sprung = joint->stiffness > 0 || joint->damping > 0;

        // What neither reaches nor holds aims at where it is, so that it starts from there.
        if (!marks[link] && !hold)
            state.aims[link] = state.poses[link];

        // Places to reach come first, then what leads, then the pose that is held.
        bool motor = state.joints[j].motor && !sprung, led = clip != NULL || motion != NULL || motor;
        if (marks[link] || (hold && !led && !sprung))
            drives[link] = DriveTo(model, link, frequency, AimOf(joint, &state.aims[link]));
        else if (clip != NULL)
            drives[link] = DriveTo(model, link, frequency, InAxes(turn, snwClip_Evaluate(clip, time)));
        else if (motion != NULL)
            drives[link] = DriveTo(model, link, frequency, Relative(sim, index, link, scratch->bones));
        else if (motor)
            drives[link] = DriveTo(model, link, frequency,
                (snwTransform){
                    snwVec3_Scale(joint->axis, joint->target), snwQuat_FromAxisAngle(joint->axis, joint->target)});
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Inertias

// m about a point that is r from where it was seen from.
static snwLinkMass Seen(snwLinkMass m, snwVec3 r)
{
    snwVec3 s = m.moment;
    double add = 2 * snwVec3_Dot(r, s) + m.mass * snwVec3_LengthSquared(r);
    snwMat3 cross = snwMat3_Add(snwMat3_Outer(r, s), snwMat3_Outer(s, r));
    snwMat3 own = snwMat3_Scale(snwMat3_Outer(r, r), m.mass);
    snwMat3 sum = snwMat3_Add(snwMat3_Add(cross, own), snwMat3_Diagonal(-add, -add, -add));
    m.inertia = snwMat3_Add(m.inertia, snwMat3_Scale(sum, -1));
    m.moment = snwVec3_MulAdd(s, m.mass, r);
    return m;
}

// The inertia of all that hangs on each link, about its joint: the moment that turns its axis, or the mean of those
// across; a slide has the mass.
void snwSoft_FindInertias(snwSoftModel* model)
{
    for (int i = 0; i < model->linkCount; ++i)
    {
        const snwJointDef* joint = &model->links[i].joint;
        snwLinkMass sum = {.mass = 0};
        for (int l = i; l < model->linkCount; ++l)
        {
            int up = l;
            while (up > i)
                up = model->links[up].joint.parentBone;
            if (up != i)
                continue;
            snwVec3 r = snwVec3_Sub(model->links[l].joint.position, joint->position);
            snwLinkMass part = Seen(model->links[l].mass, r);
            sum.mass += part.mass, sum.inertia = snwMat3_Add(sum.inertia, part.inertia);
            for (int p = 0; p < model->pointCount; ++p)
                if (model->skin.anchors[p].links[0] == l)
                    snwLinkMass_AddPoint(
                        &sum, model->skin.masses[p], snwVec3_Sub(model->skin.points[p], joint->position));
        }

        double across = 0.5 * (sum.inertia.m[0][0] + sum.inertia.m[1][1] + sum.inertia.m[2][2]);
        double about = snwVec3_Dot(joint->axis, snwMat3_MulVec(sum.inertia, joint->axis));
        bool slides = joint->type == snw_jointPrismatic || joint->type == snw_jointCylindrical;
        model->inertias[i] = slides ? sum.mass : joint->type == snw_jointHinge ? about : across;
    }
}
