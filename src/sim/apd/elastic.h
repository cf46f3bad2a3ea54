// The local step of articulated projective dynamics: elastic forces and energy of many tetrahedra at once, in float.
//
// With F the deformation gradient, R its closest rotation, P the closest matrix of determinant 1, V the rest volume:
//
//     strain      mu |F - R|^2                                        resists change of shape; volume as 2 mu / 3
//     volume      mu |F - R|^2 + (3 lambda / 2) |F - P|^2             the two projections of the paper
//     corotated   mu |F - R|^2 + (lambda / 2) (tr(R^T F) - 3)^2       true linear corotation
//     neo         mu ((|F|^2 - 3) / 2 - (J - 1)) + (lambda + mu) / 2 (J - 1)^2, J = det F   stable Neo-Hookean, no R
//
// times V. The squared distance to determinant 1 is (tr e)^2 / 3 at small strain, hence the 3 lambda. All but
// `strain` then have the bulk modulus lambda + 2 mu / 3 of linear elasticity. The energy of `neo` is written so that
// floats lose nothing near rest; its stress is mu F + ((lambda + mu) (J - 1) - mu) cof F.
//
// A solver needs forces, not projections: with the constant matrix L of snwElastic_Metric the right side of the
// classical method is L x + force, and the increment it solves for has the force alone on its right side. For strain
// and volume that is projective dynamics to the letter (its energy's gradient is weight * (F - projection)). For
// corotated and neo the matrix is the metric of a quasi-Newton method (Liu, Bouaziz, Kavan 2017).
//
// Damping is that of Kelvin and Voigt in Green strains: with C = F^T F and C_0 that of the start of the step the term
// (d / 8) |C - C_0|^2, its gradient (d / 2) F (C - C_0). It is smooth, needs no rotation, leaves rigid motion alone
// however far it goes, and has a potential, so the objective of a step knows it. Near rest it is (d / 2) |e - e_0|^2 of
// the linear strain. d = damping / max(1, tr C_0 / 3): C grows as the square of a stretch, and without that the term
// would outgrow the metric where flesh is stretched far. Rejected: the difference of stretches S = sym(R^T F), which
// jumps where R does, and whose gradient needs the derivative of R; a first-order S_0, which grows without bounds.

#pragma once

#include "math/rotation.h"
#include "sim/laws.h"
#include "sinew/sinew.h"

typedef enum snwElasticLaw
{
    snw_elasticStrain,
    snw_elasticVolume,
    snw_elasticCorotated,
    snw_elasticNeo,
    snw_elasticLawCount
} snwElasticLaw;

// Weights of one tetrahedron, J (N m).
typedef struct snwElasticWeight
{
    double shear;   // 2 mu V
    double bulk;    // strain 0, volume 3 lambda V, corotated and neo lambda V
    double damping; // 2 mu V beta / h
} snwElasticWeight;

// Weights of eight tetrahedra, beside their snwRestTetBlock.
typedef struct snwElasticWeights
{
    _Alignas(32) float shear[SNW_ROTATION_LANES];
    float bulk[SNW_ROTATION_LANES];
    float damping[SNW_ROTATION_LANES];
} snwElasticWeights;

// C = F^T F of eight tetrahedra: xx, yy, zz, xy, xz, yz.
typedef struct snwStretchBlock
{
    _Alignas(32) float C[6][SNW_ROTATION_LANES];
} snwStretchBlock;

typedef struct snwElasticTask
{
    snwElasticLaw law;
    const snwRestTetBlock* tets; // a lane whose first two corners are one vertex holds no tetrahedron and adds nothing
    const snwElasticWeights* weights; // same order
    const float* positions;           // m; rows of four floats, 16-byte aligned, the fourth unused; any origin
    snwStretchBlock* start;           // same order: C_0 for the damping; NULL: none
    bool isStart;                     // these are the positions of C_0: `start` is filled, and nothing damped
    snwQuatBlock* rotations;          // in: guess, any numbers; out: the rotations. Keep them from call to call
    unsigned char* squeezed; // same order: of the law neo, whether the block has such elements; NULL: not asked
    float* forces;           // N; rows of four floats, 16-byte aligned: added to; the fourth is left alone
} snwElasticTask;

typedef struct snwElasticEnergy
{
    double elastic, damping; // J: the damping's is (d / 8) |C - C_0|^2
    int squeezed;            // elements; of the law neo, which knows their volumes. Others: 0
} snwElasticEnergy;

typedef struct snwElasticKernels
{
    // Adds the forces of blocks begin .. end - 1 and returns their energies. Same bits on every instruction set; the
    // sums' last bits depend on begin and end. Two calls at once may share everything but start, rotations and forces.
    // A position that is not finite makes the forces of its tetrahedra NaN. Law neo leaves the rotations alone.
    snwElasticEnergy (*addForces)(const snwElasticTask* task, int begin, int end);
} snwElasticKernels;

// Never NULL: resolved as by snwSimd_Resolve.
const snwElasticKernels* snwElastic_Kernels(snwSimd simd);

// The weight of one tetrahedron in the constant matrix: its part of L is this number times B^T B, F = B x.
//
// strain and volume: the sum of the weights, which bounds the energy's Hessian from above. corotated and neo: shear
// plus twice bulk. There the Hessian over the metric is at most (2 mu + 3 lambda) / (2 mu + 2 lambda) < 1.5 near the
// rest shape, below the 2 at which the plain iteration stops contracting; three times bulk would be slower on
// everything but a change of volume, once would reach 3. Far from rest (a tetrahedron stretched in one direction and
// flat in another) no constant bounds it: watch the energy. Negative bulk counts as 0. damping is added as it is.
double snwElastic_Metric(snwElasticLaw law, const snwElasticWeight* weight);

// Weights for a rest volume (m^3, > 0), from mu = E / (2 (1 + nu)) and lambda = E nu / ((1 + nu) (1 - 2 nu)).
//
// lambda is at most 100 mu (nu about 0.495): the iterations needed grow with lambda / mu, and beyond that a frame's
// dozen does not show a difference but the loss of everything else. Negative lambda (nu < 0) is kept, but 0
// for volume, whose distance term cannot be negative. dampingTime: snwMaterial_DampingTime, s; h: the step, s, > 0.
snwElasticWeight snwElastic_Weigh(
    snwElasticLaw law, const snwMaterial* material, double volume, double dampingTime, double h);

// The closest matrix of determinant 1, slowly, in double and from any F: for lanes that the kernels decline.
// S: R^T F, symmetric (xx, yy, zz, xy, xz, yz); gap: S - R^T P.
void snwElastic_VolumeGap(const float S[6], float gap[6]);

// One table per instruction set; NULL where the build does not have it.
const snwElasticKernels* snwElastic_KernelsAvx2(void);
const snwElasticKernels* snwElastic_KernelsBase(void);
const snwElasticKernels* snwElastic_KernelsScalar(void);
