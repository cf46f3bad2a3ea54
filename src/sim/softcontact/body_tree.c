// Composite bodies and recursive Newton-Euler (Featherstone 2008, chapters 5 and 6) with everything about one point of
// the world in place of a frame per link: no transforms, and skin and contacts, which are in the world anyway, read the
// same columns. Velocity products are explicit. The symmetric form of the Coriolis matrix, which an implicit treatment
// needs, would make the matrix of every step unsymmetric for a gain that the correction of momentum has already.

#include "sim/softcontact/body_tree.h"

#include "rig/joint_angle.h"
#include "rig/skeleton.h"

#include <assert.h>
#include <string.h>

static snwSpatial CrossMotion(snwSpatial a, snwSpatial b)
{
    return (snwSpatial){
        snwVec3_Cross(a.turn, b.turn), snwVec3_Add(snwVec3_Cross(a.turn, b.shift), snwVec3_Cross(a.shift, b.turn))};
}

static snwSpatial CrossLoad(snwSpatial motion, snwSpatial load)
{
    return (snwSpatial){snwVec3_Add(snwVec3_Cross(motion.turn, load.turn), snwVec3_Cross(motion.shift, load.shift)),
        snwVec3_Cross(motion.turn, load.shift)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Masses

// scale (|a + b|^2 - (a + b)(a + b)^T) less what a alone and b alone would give: the mixed terms.
static snwMat3 MixedInertia(snwVec3 a, snwVec3 b)
{
    double along = 2 * snwVec3_Dot(a, b);
    snwMat3 outer = snwMat3_Add(snwMat3_Outer(a, b), snwMat3_Outer(b, a));
    return snwMat3_Sub(snwMat3_Diagonal(along, along, along), outer);
}

static snwMat3 PointInertia(double m, snwVec3 x)
{
    return snwMat3_Scale(MixedInertia(x, x), 0.5 * m);
}

void snwLinkMass_AddPoint(snwLinkMass* mass, double m, snwVec3 x)
{
    mass->mass += m;
    mass->moment = snwVec3_MulAdd(mass->moment, m, x);
    mass->inertia = snwMat3_Add(mass->inertia, PointInertia(m, x));
}

snwLinkMass snwLinkMass_Make(double mass, snwVec3 centre, snwMat3 inertia)
{
    snwLinkMass made = {.inertia = inertia};
    snwLinkMass_AddPoint(&made, mass, centre);
    return made;
}

static snwLinkMass AddMasses(snwLinkMass a, snwLinkMass b)
{
    return (snwLinkMass){a.mass + b.mass, snwVec3_Add(a.moment, b.moment), snwMat3_Add(a.inertia, b.inertia)};
}

// Turned by R and shifted by r.
static snwLinkMass PlaceMass(const snwLinkMass* mass, snwMat3 R, snwVec3 r)
{
    snwVec3 moment = snwMat3_MulVec(R, mass->moment);
    snwMat3 inertia = snwMat3_MulTranspose(snwMat3_Mul(R, mass->inertia), R);
    inertia = snwMat3_Add(inertia, snwMat3_Add(MixedInertia(r, moment), PointInertia(mass->mass, r)));
    return (snwLinkMass){mass->mass, snwVec3_MulAdd(moment, mass->mass, r), inertia};
}

static snwSpatial MomentumOf(const snwLinkMass* mass, snwSpatial motion)
{
    return (snwSpatial){
        snwVec3_Add(snwMat3_MulVec(mass->inertia, motion.turn), snwVec3_Cross(mass->moment, motion.shift)),
        snwVec3_MulAdd(snwVec3_Cross(motion.turn, mass->moment), mass->mass, motion.shift)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Making

static snwResult CheckTreeLinks(int linkCount, const snwLinkDef* links, snwMessage* message)
{
    for (int i = 0; i < linkCount; ++i)
    {
        const snwLinkDef* link = &links[i];
        if (link->joint.parentBone >= i || link->joint.parentBone < -1)
            return snwFail(message, snw_errorArgument, "list links parents first", "link %d hangs on link %d", i,
                link->joint.parentBone);
        if (!(link->mass.mass >= 0) || !isfinite(link->mass.mass) || !snwMat3_IsFinite(link->mass.inertia))
            return snwFail(message, snw_errorArgument, "give it a mass and an inertia", "link %d has a mass of %g kg",
                i, link->mass.mass);
    }
    return snw_ok;
}

snwResult snwBodyTree_Create(
    snwContext* context, int linkCount, const snwLinkDef* links, snwBodyTree* tree, snwMessage* message)
{
    *tree = (snwBodyTree){.context = context, .linkCount = linkCount, .floats = linkCount > 0};
    snwResult result = CheckTreeLinks(linkCount, links, message);
    if (result != snw_ok)
        return result;

    // Velocities of all joints; a tree whose roots are all free is tied to nothing.
    for (int i = 0; i < linkCount; ++i)
    {
        tree->freedom += snwJointType_Freedom(links[i].joint.type);
        tree->floats = tree->floats && (links[i].joint.parentBone >= 0 || links[i].joint.type == snw_jointFree);
    }

    size_t n = (size_t)linkCount;
    tree->links = snwCopyArray(context, links, n, sizeof *links);
    tree->first = snwAllocArray(context, n + 1, sizeof *tree->first);
    tree->rotations = snwAllocArray(context, n, sizeof *tree->rotations);
    tree->axes = snwAllocArray(context, n, sizeof *tree->axes);
    tree->points = snwAllocArray(context, n, sizeof *tree->points);
    tree->columns = snwAllocArray(context, (size_t)tree->freedom, sizeof *tree->columns);
    tree->inertias = snwAllocArray(context, 2 * n, sizeof *tree->inertias);
    tree->twists = snwAllocArray(context, 3 * n, sizeof *tree->twists);

    if (tree->links == NULL || tree->first == NULL || tree->rotations == NULL || tree->axes == NULL ||
        tree->points == NULL || tree->columns == NULL || tree->inertias == NULL || tree->twists == NULL)
    {
        snwBodyTree_Free(tree);
        return snwFailMemory(message);
    }

    // Halves and thirds of two arrays.
    tree->carried = tree->inertias + n;
    tree->drifts = tree->twists + n, tree->loads = tree->drifts + n;
    for (int i = 0; i < linkCount; ++i)
        tree->first[i + 1] = tree->first[i] + snwJointType_Freedom(links[i].joint.type);
    return snw_ok;
}

void snwBodyTree_Free(snwBodyTree* tree)
{
    void* all[] = {tree->links, tree->first, tree->rotations, tree->axes, tree->points, tree->columns, tree->inertias,
        tree->twists};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        snwFree(tree->context, all[i]);
    *tree = (snwBodyTree){.context = tree->context};
}

void snwBodyTree_Rest(const snwBodyTree* tree, snwLinkPose* poses)
{
    for (int i = 0; i < tree->linkCount; ++i)
        poses[i] = (snwLinkPose){.turn = snwQuat_Identity()};
}

// ---------------------------------------------------------------------------------------------------------------------
// Places and motions

static snwVec3 Unit(int axis)
{
    return (snwVec3){axis == 0, axis == 1, axis == 2};
}

// A joint's motion about an axis through a point, or along the axis.
static snwSpatial TurnAbout(snwVec3 axis, snwVec3 arm)
{
    return (snwSpatial){axis, snwVec3_Cross(arm, axis)};
}

static snwSpatial SlideAlong(snwVec3 axis)
{
    return (snwSpatial){{0, 0, 0}, axis};
}

// Motions of a link against its parent, whose axes are given. arm: of the link's point.
static void PutColumns(
    const snwJointDef* joint, const snwLinkPose* pose, snwMat3 axes, snwVec3 arm, snwSpatial* columns)
{
    snwVec3 axis = snwMat3_MulVec(axes, joint->axis);
    switch (joint->type)
    {
        case snw_jointFree:
            for (int k = 0; k < 3; ++k)
            {
                columns[k] = SlideAlong(snwMat3_MulVec(axes, Unit(k)));
                columns[3 + k] = TurnAbout(snwMat3_MulVec(axes, Unit(k)), arm);
            }
            break;
        case snw_jointBall:
            for (int k = 0; k < 3; ++k)
                columns[k] = TurnAbout(snwMat3_MulVec(axes, Unit(k)), arm);
            break;
        case snw_jointHinge:
            columns[0] = TurnAbout(axis, arm);
            break;
        case snw_jointUniversal:
        {
            snwVec3 second = snwQuat_Rotate(snwQuat_FromAxisAngle(joint->axis, pose->angles[0]), joint->axis2);
            columns[0] = TurnAbout(axis, arm);
            columns[1] = TurnAbout(snwMat3_MulVec(axes, second), arm);
            break;
        }
        case snw_jointPrismatic:
            columns[0] = SlideAlong(axis);
            break;
        case snw_jointCylindrical:
            columns[0] = TurnAbout(axis, arm);
            columns[1] = SlideAlong(axis);
            break;
        case snw_jointFixed:
            break;
    }
}

void snwBodyTree_Place(snwBodyTree* tree, const snwLinkPose* poses, const snwLinkMass* masses, snwVec3 origin)
{
    tree->origin = origin;
    for (int i = 0; i < tree->linkCount; ++i)
    {
        const snwJointDef* joint = &tree->links[i].joint;
        int parent = joint->parentBone;

        // From the parent's point, by the joint's place in the rest pose and how far it has slid.
        snwQuat rotation = parent < 0 ? snwQuat_Identity() : tree->rotations[parent];
        snwVec3 at = parent < 0 ? (snwVec3){0, 0, 0} : tree->points[parent];
        snwVec3 rest = parent < 0 ? (snwVec3){0, 0, 0} : tree->links[parent].joint.position;
        snwVec3 from = snwVec3_Add(snwVec3_Sub(joint->position, rest), poses[i].shift);

        tree->points[i] = snwVec3_Add(at, snwQuat_Rotate(rotation, from));
        tree->rotations[i] = snwQuat_Mul(rotation, poses[i].turn);
        tree->axes[i] = snwQuat_ToMat3(tree->rotations[i]);

        // The motions of its joint, and its mass as the world sees it.
        snwVec3 arm = snwVec3_Sub(tree->points[i], origin);
        PutColumns(joint, &poses[i], snwQuat_ToMat3(rotation), arm, tree->columns + tree->first[i]);
        tree->inertias[i] = PlaceMass(masses != NULL ? &masses[i] : &tree->links[i].mass, tree->axes[i], arm);
        tree->carried[i] = tree->inertias[i];
    }

    // Parents come before children, so masses are carried backwards.
    for (int i = tree->linkCount; i-- > 0;)
    {
        int parent = tree->links[i].joint.parentBone;
        if (parent >= 0)
            tree->carried[parent] = AddMasses(tree->carried[parent], tree->carried[i]);
    }
}

// Columns are fixed to the parent, but for those that the joint itself moves: of a free link, whose point goes along;
// of a universal joint, whose second axis follows the first.
void snwBodyTree_Twist(snwBodyTree* tree, const double* u)
{
    const snwSpatial still = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < tree->linkCount; ++i)
    {
        const snwJointDef* joint = &tree->links[i].joint;
        snwSpatial parent = joint->parentBone < 0 ? still : tree->twists[joint->parentBone];
        snwSpatial drift = joint->parentBone < 0 ? still : tree->drifts[joint->parentBone];
        snwSpatial own = still, carrier = parent;

        for (int k = tree->first[i]; k < tree->first[i + 1]; ++k)
        {
            drift = snwSpatial_MulAdd(drift, u[k], CrossMotion(carrier, tree->columns[k]));
            own = snwSpatial_MulAdd(own, u[k], tree->columns[k]);
            if (joint->type == snw_jointUniversal)
                carrier = snwSpatial_MulAdd(parent, 1, own);
        }

        // A free link's columns go along with its point.
        if (joint->type == snw_jointFree)
        {
            snwVec3 along = snwSpatial_At(own, snwVec3_Sub(tree->points[i], tree->origin));
            drift.shift = snwVec3_Add(drift.shift, snwVec3_Cross(along, own.turn));
        }

        tree->twists[i] = snwSpatial_MulAdd(parent, 1, own);
        tree->drifts[i] = drift;
    }
}

void snwBodyTree_Move(const snwBodyTree* tree, const double* u, double h, snwLinkPose* poses)
{
    for (int i = 0; i < tree->linkCount; ++i, ++poses)
    {
        const snwJointDef* joint = &tree->links[i].joint;
        const double* v = u + tree->first[i];

        // The slide of a free link; its turn is that of a ball.
        if (joint->type == snw_jointFree)
        {
            poses->shift = snwVec3_MulAdd(poses->shift, h, (snwVec3){v[0], v[1], v[2]});
            v += 3;
        }

        switch (joint->type)
        {
            case snw_jointFree:
            case snw_jointBall:
            {
                snwVec3 turned = {h * v[0], h * v[1], h * v[2]};
                poses->turn = snwQuat_Normalize(snwQuat_Mul(snwQuat_FromRotationVector(turned), poses->turn));
                break;
            }
            case snw_jointHinge:
                poses->angles[0] += h * v[0];
                poses->turn = snwQuat_FromAxisAngle(joint->axis, poses->angles[0]);
                break;
            case snw_jointUniversal:
                poses->angles[0] += h * v[0], poses->angles[1] += h * v[1];
                poses->turn = snwQuat_Mul(snwQuat_FromAxisAngle(joint->axis, poses->angles[0]),
                    snwQuat_FromAxisAngle(joint->axis2, poses->angles[1]));
                break;
            case snw_jointPrismatic:
                poses->angles[0] += h * v[0];
                poses->shift = snwVec3_Scale(joint->axis, poses->angles[0]);
                break;
            case snw_jointCylindrical:
                poses->angles[0] += h * v[0], poses->angles[1] += h * v[1];
                poses->turn = snwQuat_FromAxisAngle(joint->axis, poses->angles[0]);
                poses->shift = snwVec3_Scale(joint->axis, poses->angles[1]);
                break;
            case snw_jointFixed:
                break;
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Equations of motion

void snwBodyTree_MassMatrix(const snwBodyTree* tree, double* matrix)
{
    int n = tree->freedom;
    memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);
    for (int i = 0; i < tree->linkCount; ++i)
    {
        for (int k = tree->first[i]; k < tree->first[i + 1]; ++k)
        {
            snwSpatial momentum = MomentumOf(&tree->carried[i], tree->columns[k]);
            for (int j = i; j >= 0; j = tree->links[j].joint.parentBone)
                for (int l = tree->first[j]; l < tree->first[j + 1]; ++l)
                    matrix[k * n + l] = matrix[l * n + k] = snwSpatial_Dot(tree->columns[l], momentum);
        }
    }
}

void snwBodyTree_Bias(snwBodyTree* tree, snwVec3 gravity, double* bias)
{
    for (int i = 0; i < tree->linkCount; ++i)
    {
        const snwLinkMass* mass = &tree->inertias[i];
        snwSpatial products = CrossLoad(tree->twists[i], MomentumOf(mass, tree->twists[i]));
        tree->loads[i] = snwSpatial_MulAdd(MomentumOf(mass, tree->drifts[i]), 1, products);
        snwSpatial weight = {snwVec3_Cross(mass->moment, gravity), snwVec3_Scale(gravity, mass->mass)};
        tree->loads[i] = snwSpatial_MulAdd(tree->loads[i], -1, weight);
    }
    for (int i = tree->linkCount; i-- > 0;)
    {
        int parent = tree->links[i].joint.parentBone;
        for (int k = tree->first[i]; k < tree->first[i + 1]; ++k)
            bias[k] = snwSpatial_Dot(tree->columns[k], tree->loads[i]);
        if (parent >= 0)
            tree->loads[parent] = snwSpatial_MulAdd(tree->loads[parent], 1, tree->loads[i]);
    }
}

void snwBodyTree_AddLoad(const snwBodyTree* tree, int link, snwSpatial load, double* impulse)
{
    for (int i = link; i >= 0; i = tree->links[i].joint.parentBone)
        for (int k = tree->first[i]; k < tree->first[i + 1]; ++k)
            impulse[k] += snwSpatial_Dot(tree->columns[k], load);
}

// ---------------------------------------------------------------------------------------------------------------------
// Joints

// A spring of one velocity: how far it is from where it should be.
static void PullOne(const snwJointPull* pull, int n, int k, double away, double stiffness, double damping,
    double* matrix, double* impulse)
{
    double h = pull->h, give = h * (damping + (pull->implicit ? h * stiffness : 0));
    if (pull->implicit)
    {
        // At the end of the step: stiffness (away + h u+) + damping u+.
        matrix[k * n + k] += give;
        impulse[k] -= h * stiffness * away;
    }
    else
        impulse[k] -= h * stiffness * away + give * pull->u[k];
}

// The turn that the joint's spring pulls to.
static snwQuat TargetTurn(const snwJointDef* joint, const snwJointDrive* drive)
{
    return drive != NULL ? drive->rotation : snwQuat_FromAxisAngle(joint->axis, joint->target);
}

static void PullJoint(const snwBodyTree* tree, const snwJointPull* pull, int link, double* matrix, double* impulse)
{
    const snwJointDef* joint = &tree->links[link].joint;
    const snwJointDrive* drive = pull->drives != NULL ? &pull->drives[link] : NULL;
    if (drive != NULL && drive->stiffness == 0 && drive->damping == 0)
        drive = NULL;
    double stiffness = drive != NULL ? drive->stiffness : joint->stiffness;
    double damping = drive != NULL ? drive->damping : joint->damping;
    if (stiffness == 0 && damping == 0)
        return;

    // How far it is from its target, in the joint's own coordinates.
    const snwLinkPose* pose = &pull->poses[link];
    double target = drive == NULL ? joint->target : drive->length, away[3] = {0};
    int first = tree->first[link], count = tree->first[link + 1] - first;
    switch (joint->type)
    {
        case snw_jointBall:
        {
            snwQuat target3 = TargetTurn(joint, drive);
            snwVec3 e = snwQuat_ToRotationVector(snwQuat_Mul(pose->turn, snwQuat_Conjugate(target3)));
            away[0] = e.x, away[1] = e.y, away[2] = e.z;
            break;
        }
        case snw_jointHinge:
            target = drive == NULL ? target : snwJointAngle_Twist(drive->rotation, joint->axis).value;
            away[0] = pose->angles[0] - target;
            break;
        case snw_jointUniversal:
        {
            snwUniversalAngles to = {.first.value = target};
            if (drive != NULL)
                to = snwJointAngle_Universal(drive->rotation, joint->axis, joint->axis2);
            away[0] = pose->angles[0] - to.first.value, away[1] = pose->angles[1] - to.second.value;
            break;
        }
        case snw_jointPrismatic:
            away[0] = pose->angles[0] - target;
            break;
        case snw_jointCylindrical: // its spring is that of the slide
            first += 1, count = 1;
            away[0] = pose->angles[1] - target;
            break;
        case snw_jointFixed:
        case snw_jointFree:
            return;
    }

    for (int k = 0; k < count; ++k)
        PullOne(pull, tree->freedom, first + k, away[k], stiffness, damping, matrix, impulse);
}

void snwBodyTree_PullJoints(const snwBodyTree* tree, const snwJointPull* pull, double* matrix, double* impulse)
{
    for (int i = 0; i < tree->linkCount; ++i)
        PullJoint(tree, pull, i, matrix, impulse);
}

static snwLinkLimit LimitOf(int first, double gap, double slope)
{
    return (snwLinkLimit){.first = first, .count = 1, .gradient = {slope}, .gap = gap};
}

// Hinges, universal joints and slides keep angles and ways as numbers, whole turns and all.
int snwBodyTree_Limits(
    const snwBodyTree* tree, int link, const snwLinkPose* pose, snwLinkLimit limits[snw_maxLinkLimits])
{
    const snwJointDef* joint = &tree->links[link].joint;
    int first = tree->first[link];
    if (joint->type == snw_jointBall)
    {
        snwAngleLimit angles[snw_maxAngleLimits];
        int count = snwJointAngle_Limits(joint, pose->turn, angles);
        for (int i = 0; i < count; ++i)
            limits[i] = (snwLinkLimit){.first = first,
                .count = 3,
                .gradient = {angles[i].gradient.x, angles[i].gradient.y, angles[i].gradient.z},
                .gap = angles[i].gap};

        return count;
    }

    if (joint->type == snw_jointFree || joint->type == snw_jointFixed)
        return 0;

    // The range of a cylindrical joint is that of its slide.
    int from = joint->type == snw_jointCylindrical, to = joint->type == snw_jointUniversal ? 2 : from + 1, count = 0;
    for (int k = from; k < to; ++k)
    {
        bool second = joint->type == snw_jointUniversal && k == 1 && joint->lower2 < joint->upper2;
        double lower = second ? joint->lower2 : joint->lower, upper = second ? joint->upper2 : joint->upper;
        if (lower > upper)
            continue;
        limits[count++] = LimitOf(first + k, pose->angles[k] - lower, 1);
        limits[count++] = LimitOf(first + k, upper - pose->angles[k], -1);
    }

    return count;
}

int snwBodyTree_LoopRows(const snwBodyTree* tree, const snwJointDef* joint, double* error, double* jacobian)
{
    // Both links as joint_rows.h wants them: where they are is also where they start.
    snwJointRowsDef def = {.joint = joint, .h = 1};
    const int links[2] = {joint->bone, joint->parentBone};
    for (int side = 0; side < 2; ++side)
    {
        if (links[side] < 0)
            continue;
        def.restCentres[side] = tree->links[links[side]].joint.position;
        def.poses[side] = def.starts[side] = (snwBonePose){tree->rotations[links[side]], tree->points[links[side]]};
    }

    // Equal rows alone, as loads on both links spread over all joints above them.
    snwJointRow rows[snw_maxJointRows];
    int count = snwJointRows_Make(&def, rows), kept = 0;
    for (int r = 0; r < count && rows[r].kind == snw_rowEqual; ++r, ++kept)
    {
        double* row = jacobian + (size_t)kept * (size_t)tree->freedom;
        memset(row, 0, (size_t)tree->freedom * sizeof *row);
        error[kept] = rows[r].error;
        for (int side = 0; side < 2; ++side)
        {
            if (links[side] < 0)
                continue;
            const double* j = rows[r].jacobian[side];
            snwVec3 turn = {j[0], j[1], j[2]}, shift = {j[3], j[4], j[5]};
            snwSpatial load = snwSpatial_OfForce(snwVec3_Sub(tree->points[links[side]], tree->origin), shift);
            load.turn = snwVec3_Add(load.turn, turn);
            snwBodyTree_AddLoad(tree, links[side], load, row);
        }
    }

    return kept;
}

// ---------------------------------------------------------------------------------------------------------------------
// Conservation

snwSpatial snwBodyTree_Momentum(const snwBodyTree* tree)
{
    snwSpatial sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < tree->linkCount; ++i)
        sum = snwSpatial_MulAdd(sum, 1, MomentumOf(&tree->inertias[i], tree->twists[i]));
    return sum;
}

double snwBodyTree_KineticEnergy(const snwBodyTree* tree)
{
    double sum = 0;
    for (int i = 0; i < tree->linkCount; ++i)
        sum += 0.5 * snwSpatial_Dot(tree->twists[i], MomentumOf(&tree->inertias[i], tree->twists[i]));
    return sum;
}

snwLinkMass snwBodyTree_Whole(const snwBodyTree* tree)
{
    snwLinkMass whole = {0};
    for (int i = 0; i < tree->linkCount; ++i)
        if (tree->links[i].joint.parentBone < 0)
            whole = AddMasses(whole, tree->carried[i]);
    return whole;
}

void snwBodyTree_AddMomentum(const snwBodyTree* tree, const snwLinkMass* whole, snwSpatial momentum, double* u)
{
    assert(tree->floats);
    if (!(whole->mass > 0))
        return;

    // The rigid motion that has this momentum.
    snwVec3 centre = snwVec3_Scale(whole->moment, 1 / whole->mass);
    snwMat3 inertia = snwMat3_Sub(whole->inertia, PointInertia(whole->mass, centre)), inverse;
    if (!snwMat3_Inverse(inertia, &inverse))
        inverse = snwMat3_Diagonal(0, 0, 0);

    snwVec3 spin = snwVec3_Sub(momentum.turn, snwVec3_Cross(centre, momentum.shift));
    snwVec3 turn = snwMat3_MulVec(inverse, spin), along = snwVec3_Scale(momentum.shift, 1 / whole->mass);
    snwSpatial motion = {turn, snwVec3_Sub(along, snwVec3_Cross(turn, centre))};

    // Only roots move: all others follow them.
    for (int i = 0; i < tree->linkCount; ++i)
    {
        if (tree->links[i].joint.parentBone >= 0)
            continue;
        snwVec3 v = snwSpatial_At(motion, snwVec3_Sub(tree->points[i], tree->origin));
        const double added[6] = {v.x, v.y, v.z, turn.x, turn.y, turn.z};
        for (int k = 0; k < 6; ++k)
            u[tree->first[i] + k] += added[k];
    }
}
