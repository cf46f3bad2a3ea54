// A rig and flesh that move each other (rigpbd, sections 3.1, 3.2 and 4): the part that concerns the rig alone.
//
// Handles k move the vertices i by linear blending, xr_i = sum_k w_ik (A_k (xb_i - ub_k) + u_k), A_k a rotation R_k or,
// for affine handles, any matrix. Some degrees of freedom are given, chains keep their joints together, linear
// equations may hold. From flesh x come
//   fit         the pose Theta that minimises 1/2 |x - xr|^2 in the metric of mass, of all that are allowed: one step
//               of Gauss and Newton from the pose before (Eq. 11);
//   complement  what the flesh must move by because of what is given: dx = J dl, (M + a diag M) dl = -C, all at once.
// Here J = d xr / d Theta, M = J^T mass J, C = J^T mass (x - xr). Both need x only through the sums s_k = sum m w x and
// T_k = sum m w (xb - ub_k) x^T: one pass over the weights; and M needs only constant moments (moments.h).
//
// Two passes over the vertices and two small solves between them:
//   snwRigFit_Gather       sums of x                                          pass
//   snwRigFit_Solve        the new pose                                       small
//   snwRigFit_Complement   how the flesh answers                              small
//   snwRigFit_Apply        x += dx, and xr at the new pose                    pass
//
// Why it is cheap. M's block of the translations, P0 (times I), does not depend on the pose. It is eliminated once for
// all: what is left of the turns has the form of the moments themselves,
//   S_kl = sum over coordinates a of  D_ka^T P2'_kl D_la,      P2' = P2 - P1 P0^-1 P1^T,
// D_ka being row a of dA_k / dq_k. So a substep factors K unknowns in 2D and 3 K in 3D (affine handles: 4 and 9 each),
// not 3 K and 6 K. P2' depends on which translations are given, coordinate by coordinate; it is kept until that
// changes.
//
// What counts as given in the complement. Only what holds the rig may push the flesh, not the lag of a fit that did one
// step. So the fit is finished in thought: h is one more step with the same things given and joints as they are, and
// C' = C - M h is what is left of C after it. On free degrees of freedom that is -G^T lambda, the forces of joints and
// rules, or 0 without any; on given ones it is C (the paper's constraint) less M h. (M + a diag M) dl = -C'.
//   - Where the fit has come to its end, h = 0, and C' is C itself on given degrees of freedom.
//   - C' belongs to what the rig cannot follow of x - xr, so |dx| is never larger than that, in the metric of mass,
//     however badly the rig is built. C with its free entries set to 0 has no such bound: where handles are nearly
//     alike (M nearly singular) it pushes the flesh by many times the lag.
//   - With nothing held C' = 0 and dx is exactly 0. Rows of a chain do not notice when all moves or turns as one, so
//     their answer alone has no momentum and, about the rigged shape, no angular momentum. Compliance would spoil
//     that, as diag M is not blind to such motions: a counts only while something outside the rig holds it (a given
//     degree of freedom, a rule, a joint with the world). a is without unit: a diag M does not mix kg and kg m^2.
//   - Compliance alone is a spring without damping: what shakes the rig at its frequency comes out larger. With C less
//     a part of what it was a substep before (snwRigHold's kept) the complement is spring and damper.
//
// Letting go. Stiff flesh that is held under tension has spent its strain in a substep or two when it is let go of, and
// jerks. So a degree of freedom may be let go of by and by: it is a row towards where it would go on to, with a
// compliance, of what the row itself yields by, that grows from nothing to all.
//
// Singular cases. Handles without weight, turns that mean nothing, proportional weights, handles at one place: 1e-8 of
// M's diagonal is added in the fit (where it only slows a step) and 1e-12 in the complement (where it is an error), and
// a handle without mass gets 1e-9 of the whole. A Cholesky factor then always exists; pivots were not needed. A step
// turns no handle by more than 0.5 rad.
//
// Chains. Where they hang together in trees, places follow from those of roots, and the unknowns are those of the tree
// (rig_tree.h): joints are shut by construction. Rows remain for what joints do not let turn, for limits, for rules and
// for places that are given of others than roots. The step is taken with them, and what it leaves open is closed: what
// is slight, from root to tail; else by Newton's method, with the matrices of the step as long as those help (at most
// snw_rigMostRepairs times, the way of least mass). Other chains (joints with the world, or that slide) have rows for
// their points, too.
//
// Contradictions (given handles farther apart than their chain is long). What is given is met, and all that hangs on it
// gives: every joint is rows of its two handles, joints, limits and rules become springs, and the pose is the least of
// what those and the flesh cost. So it changes as little as what is given does, and joints close by at most 0.002 of
// the size in a fit: all at once, they would throw the flesh. (To shut them anew in every fit from root to tail was
// tried: no two fits agreed, and the flesh was thrown about at 30 sizes per second.) When the contradiction has ended,
// trees take over with the gaps that there are.
//
// Careful steps. A step of Gauss and Newton overshoots where flesh is far from the rig, or joints are under strain: the
// second derivative has the curvature of turns times those distances, which M has not. A rig that turns to and fro by
// half a radian in every fit is never where the flesh is, and throws it by its joints. So a step with a turn beyond
// 0.2 rad is not taken; up to six careful ones are, with that curvature, where it resists, on M's diagonal. Under
// strain they go on until one turns by less than 0.002 rad: a careful step is short, and what many fits have left to do
// would be done at once when the strain ends.
//
// 2D: x, y and the angle, about z; z of all vectors is neither read nor written, and z of the flesh stays.
// Models are immutable and shared; a scratch belongs to one body. All double but x and xr; same bits for any number of
// threads and any instruction set.

#pragma once

#include "base/context.h"
#include "math/transform.h"
#include "rig/rig_pass.h"

typedef enum snwRigFreedom
{
    snw_rigRigid,  // moves and turns
    snw_rigMoving, // only moves: corners of cages. Its A stays as it is
    snw_rigAffine, // moves and follows any linear map: squash and stretch
} snwRigFreedom;

typedef struct snwRigHandleDef
{
    snwVec3 origin; // ub, m, in the rest pose: what it turns about, and what a given position is the position of
    snwRigFreedom freedom;
} snwRigHandleDef;

// Two handles that hold together at a point.
typedef struct snwRigLinkDef
{
    int parent;                // -1: the world
    int child;                 // parents need not come first, but there must be no circle
    snwVec3 joint;             // m, in the rest pose
    const snwJointDef* limits; // NULL: free to turn. Its position, bones, stiffness and target are not read. 2D: hinge
                               // and ball: lower .. upper is the child's angle, about z or, if the axis points
                               // backwards, about -z; fixed: no turning; others are refused. Affine handles: NULL only
} snwRigLinkDef;

typedef enum snwRigChains
{
    snw_rigChainsJoined,  // by constraint
    snw_rigChainsRepaired // the paper's way: not part of the fit; afterwards, from root to tail, each child is clamped
                          // to its limits and shifted to its parent. Nothing of it reaches the flesh
} snwRigChains;

typedef struct snwRigFitDef
{
    int dimension; // 2 or 3
    int vertexCount;
    const snwVec3* rest;            // xb, m
    const double* masses;           // kg, >= 0
    const snwWeights* weights;      // w: a row per vertex that sums to one
    const snwRigHandleDef* handles; // one per handle of the weights, 1..snw_maxRigHandles
    const snwRigLinkDef* links;
    int linkCount;
    const snwLinearConstraintDef* constraints; // see snwRigRule; their values are where a rule starts
    int constraintCount;
} snwRigFitDef;

typedef struct snwRigFit snwRigFit;
typedef struct snwRigFitScratch snwRigFitScratch;

// State: plain bytes, one per handle.
typedef struct snwRigPose
{
    snwMat3 linear; // A: a rotation, or any matrix for affine handles. 2D: z is left alone
    snwVec3 place;  // u, m: where the origin is now
} snwRigPose;

// What is given of a handle, one per handle. A degree of freedom means
//   x, y, z             the coordinate of the place, m
//   rotation x, y, z    the part of the rotation vector from rest to now, rad; 2D has only z, the angle
// Any subset may be given. An affine handle with any given rotation has A given: the rotation, after its stretch. A
// moving handle's rotation is always given: as the target says with any bit of the rotation, else as it is.
typedef struct snwRigTarget
{
    uint32_t given;   // mask of snw_dof...
    uint32_t leaving; // likewise, of others: just let go of. The target is where they would go on to
    snwVec3 place;    // m
    snwQuat rotation; // from the rest pose, unit
    double strain[6]; // of an affine handle: A = rotation (1 + strain), xx yy zz yz xz xy
} snwRigTarget;

// A linear equation while running, one per constraint: sum of coefficient * degree of freedom = value, if on. Terms
// with rotations of affine and moving handles, and in 2D of z, rotation_x and rotation_y, are refused by Create.
typedef struct snwRigRule
{
    double value; // m and rad
    bool on;
} snwRigRule;

enum
{
    snw_rigMostRepairs = 12,
    snw_maxRigHandles = SNW_FLAT_HANDLES
};

// Refuses what is not finite or beyond 1e9, weights that do not fit, links in a circle, terms that make no sense.
// Everything is copied.
snwResult snwRigFit_Create(snwContext* context, const snwRigFitDef* def, snwRigFit** model, snwMessage* message);
void snwRigFit_Destroy(snwContext* context, snwRigFit* model);

int snwRigFit_HandleCount(const snwRigFit* model);
int snwRigFit_RuleCount(const snwRigFit* model);

// The rest pose, nothing given (targets where the handles rest), rules on with the values of the def. Any may be NULL.
void snwRigFit_Rest(const snwRigFit* model, snwRigPose* pose, snwRigTarget* targets, snwRigRule* rules);

// All memory that the functions below need.
snwResult snwRigFitScratch_Create(
    snwContext* context, const snwRigFit* model, snwRigFitScratch** scratch, snwMessage* message);
void snwRigFitScratch_Destroy(snwContext* context, snwRigFitScratch* scratch);

// x: rows of four floats, 16-byte aligned, one per vertex, m. Must be finite.
void snwRigFit_Gather(snwContext* context, const snwRigFit* model, snwRigFitScratch* scratch, const float* x);
void snwRigFit_GatherFlesh(
    snwContext* context, const snwRigFit* model, snwRigFitScratch* scratch, const snwRigFlesh* flesh);

// What holds the pose in this substep.
typedef struct snwRigHold
{
    const snwRigTarget* targets; // [handleCount]
    const snwRigRule* rules;     // [ruleCount]; NULL without any
    snwRigChains chains;
    double compliance; // a, >= 0, of the complement; without unit. 0: hard
    double kept;       // 0 .. 1: the part of C at the last Remember that the complement lets be; 0: none
    double closing;    // of the size, or rad: what was open closed by in the fit before, as it reported
    double leaving;    // 0 .. 1: how far what is leaving has left; 1: it is gone. 0: nothing leaves
} snwRigHold;

// Keeps C of the flesh gathered last, at this pose, for `kept`.
void snwRigFit_Remember(const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose);

typedef struct snwRigFitReport
{
    int repairs;    // how often joints and rules had to be closed after the step
    double gap;     // of the size, or rad: what is open after all of rows that something free can move
    double largest; // rad: the largest turn of a rigid handle before it was held to 0.5; 0: none
    double closing; // of the size, or rad: what was open closed by; < 0: it opened
} snwRigFitReport;

// pose: in, before; out, the best one for the flesh gathered last. Given degrees of freedom are exactly their targets
// (a single given part of a 3D rotation: to 1e-12 rad). Numbers must be finite.
snwRigFitReport snwRigFit_Solve(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigHold* hold, snwRigPose* pose);

// How the flesh gathered last answers to the pose that Solve found, with the same hold. False: not at all, dx = 0.
bool snwRigFit_Complement(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigHold* hold, const snwRigPose* pose);

// How the handles move with the flesh in that, [handleCount], as if poses were linear in it; 0 if it does not answer.
// Whoever wants another answer may write it there.
snwRigPose* snwRigFit_Answer(const snwRigFit* model, snwRigFitScratch* scratch);

// kg m: what the last Complement pushes the flesh by where the place of this handle is given, sum m w dx, with what
// joints carry on to those that are free.
snwVec3 snwRigFit_Push(const snwRigFit* model, const snwRigFitScratch* scratch, int handle);

// x += dx of the last Complement (rows as above; fourth numbers stay, and all of it does if Complement said false), and
// rigged = xr at this pose (rows of four, the fourth number is 0), relative to the flesh's origin. Either may be NULL.
void snwRigFit_Apply(snwContext* context, const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose,
    float* x, float* rigged);
void snwRigFit_ApplyFlesh(snwContext* context, const snwRigFit* model, snwRigFitScratch* scratch,
    const snwRigPose* pose, const snwRigFlesh* flesh, float* rigged);

// How far a rule with this right side is from being met at a pose: the sum less the value. Where turns by whole circles
// make no difference, the smallest of all.
double snwRigFit_RuleError(const snwRigFit* model, int rule, double value, const snwRigPose* pose);

// 3 x 4 maps from the rest pose to now, row by row, one per handle: the `matrices` of a snwSkinningPose.
void snwRigFit_Matrices(const snwRigFit* model, const snwRigPose* pose, double (*matrices)[12]);

// As rigid motions from the rest pose to now, as bones have them; affine handles: their nearest rotation.
void snwRigFit_Transforms(const snwRigFit* model, const snwRigPose* pose, snwTransform* transforms);
