// The complementary projection: takes out of a displacement all that the rig itself could do.
//
// Handles k move the vertices i by linear blending: x_i = sum_k w_ik (R_k (xb_i - ub_k) + u_k). J is the derivative of
// x by what the handles may do:
//   rig     du_k and the turn dv_k:   dx_i = sum_k w_ik (du_k + dv_k x rho_ik),  rho_ik = R_k (xb_i - ub_k)
//   affine  any affine map:           dx_i = sum_k w_ik (A_k xb_i + b_k), which does not depend on the pose
// and the projection is u <- u - J (J^T M J)^-1 J^T M u: of all displacements that the rig cannot do, the nearest one
// in the metric of mass. As the weights of a vertex sum to one, moving and turning the whole body is among what the rig
// can do: over the free vertices the result has no momentum, sum m u = 0, and with the skinned x no angular momentum
// either, sum m (x x u) = 0.
//
// Held vertices (inside bones) have u = 0 whatever happens, so they have no part in it: J and M are those of the free
// ones, and the projection is then the nearest u with J^T M u = 0 that leaves the held ones alone.
//
// The model is immutable and shared; a scratch belongs to one sim. Sums are double and have the same bits for any
// number of threads and any instruction set. u is float: rounding the result alone leaves |J^T M u| at up to
// 2^-24 = 6e-8 of what snwComplement_Residual measures it against.
//
// Directions that the rig has twice, or not at all (handles without weight or with held vertices only, proportional
// weights, vertices on a line), are left out: a row whose part at right angles to all rows before is less than 1e-6 of
// its length adds less than 1e-6 to the relative residual.

#pragma once

#include "base/context.h"
#include "math/transform.h"

typedef enum snwComplementKind
{
    snw_complementRig,    // six per handle; needs the pose
    snw_complementAffine, // twelve per handle; the same for all poses
} snwComplementKind;

enum
{
    snw_maxComplementHandles = 512
};

typedef struct snwComplementDef
{
    snwComplementKind kind;
    int vertexCount;
    const snwVec3* rest;       // xb, m
    const double* masses;      // kg, >= 0
    const snwWeights* weights; // w: a row per vertex, 1..512 handles
    const snwVec3* origins; // ub, m, a point per handle; NULL: the middle of each handle's own mass. The projection is
                            // the same for any points but for rounding, and rounding is least with the middles.
    const unsigned char* held; // per vertex, not 0: held; NULL: none
} snwComplementDef;

typedef struct snwComplement snwComplement;
typedef struct snwComplementScratch snwComplementScratch;

// Refuses weights that do not fit, numbers that are not finite or beyond 1e9 and negative masses. Everything is copied.
snwResult snwComplement_Create(
    snwContext* context, const snwComplementDef* def, snwComplement** model, snwMessage* message);
void snwComplement_Destroy(snwContext* context, snwComplement* model);

// In the rest pose.
snwResult snwComplementScratch_Create(
    snwContext* context, const snwComplement* model, snwComplementScratch** scratch, snwMessage* message);
void snwComplementScratch_Destroy(snwContext* context, snwComplementScratch* scratch);

// Where the handles are, one per handle, seen from the rest pose; only rotations are read. Costs a factor of 6 K
// unknowns for the rig, nothing for affine. No heap. Refuses rotations that are not finite or have no length.
snwResult snwComplement_SetPose(
    const snwComplement* model, snwComplementScratch* scratch, const snwTransform* handles, snwMessage* message);

// u: rows of four floats, 16-byte aligned, one per vertex, m (or m/s). The fourth numbers and the rows of held vertices
// stay as they are. No heap. u must be finite.
void snwComplement_Project(snwContext* context, const snwComplement* model, snwComplementScratch* scratch, float* u);

// How far u is from J^T M u = 0: the largest, over the handles, of
//   |sum m w u| / sum m w |u|   and   |sum m w rho x u| / sum m w |rho| |u|   (affine: the norm of sum m w rho u^T)
// where a scale counts as at least 1e-6 of what a u spread evenly would give, so that flesh at rest beside flesh that
// swings is not judged by its rounding. Below 1e-6 after every projection; 0 for u = 0. No heap.
double snwComplement_Residual(
    snwContext* context, const snwComplement* model, snwComplementScratch* scratch, const float* u);

// Unknowns, and how many of them are left out at the scratch's pose.
int snwComplement_Unknowns(const snwComplement* model);
int snwComplement_Dropped(const snwComplement* model, const snwComplementScratch* scratch);
