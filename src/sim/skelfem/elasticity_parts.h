// What the files of elasticity share: elasticity_kernel.h has the loops over elements, elasticity.c runs them.

#pragma once

#include "sim/laws.h"
#include "sim/skelfem/elasticity.h"

enum
{
    elasticity_lanes = SNW_ROTATION_LANES
};

// Lanes behind the last tet repeat it without volume.
typedef struct snwElasticBlock
{
    _Alignas(64) double inverseRest[9][elasticity_lanes]; // row a: gradient of corner a + 1
    double volume[elasticity_lanes];
    double mu[elasticity_lanes], lambda[elasticity_lanes], beta[elasticity_lanes], stop[elasticity_lanes];
    double start[6][elasticity_lanes];     // E_0: xx, yy, zz, xy, xz, yz
    double startStretch[elasticity_lanes]; // max(1, tr C_0 / 3)
    double pull[9][elasticity_lanes];      // dW/dx of corners 1, 2, 3
    int corners[4][elasticity_lanes];
} snwElasticBlock;

typedef struct snwElasticityKernels snwElasticityKernels;

struct snwElasticity
{
    snwContext* context;
    const snwElasticityKernels* kernels;
    int vertexCount, tetCount, blockCount;
    snwElasticBlock* blocks;
    int* cornerStarts; // [vertex + 1]
    int* corners;      // tet * 4 + corner, rising
    double rate;
    double* dampings;       // [blockCount] J, of the last Evaluate
    bool anyLoose;          // of `loose`
    unsigned char* loose;   // [lanes * blockCount] whether a tet has no stop, for a knot is near
    unsigned char* tangled; // [vertexCount] of a knotted tet: scratch
    unsigned char* stopped; // [blockCount] whether a stop held any of these tets
    snwTetStop* stops;      // [tetCount] of FindStops
};

// How deep a tet is in its stop, and where that leads.
typedef struct snwSqueeze
{
    double depth;     // J_0 - J; 0 or less: it is not
    snwVec3 rise[3];  // 1/m: dJ/dx of corners 1, 2, 3
    double energy;    // J
    double pressure;  // J: d energy / d depth
    double steepness; // J: of the quadratic that leads there with that pressure
} snwSqueeze;

static inline snwSqueeze snwElasticBlock_Squeeze(const snwElasticBlock* block, int lane, const snwVec3* positions)
{
    const double all = SNW_SQUEEZED;
    snwVec3 origin = positions[block->corners[0][lane]];
    snwVec3 a = snwVec3_Sub(positions[block->corners[1][lane]], origin),
            b = snwVec3_Sub(positions[block->corners[2][lane]], origin),
            c = snwVec3_Sub(positions[block->corners[3][lane]], origin);
    double perRest = 1 / (6 * block->volume[lane]), k = block->volume[lane] * block->stop[lane];
    snwSqueeze squeeze = {
        .rise = {snwVec3_Scale(snwVec3_Cross(b, c), perRest), snwVec3_Scale(snwVec3_Cross(c, a), perRest),
            snwVec3_Scale(snwVec3_Cross(a, b), perRest)}};
    squeeze.depth = all - snwVec3_Dot(a, squeeze.rise[0]);

    bool inverted = squeeze.depth > all;
    squeeze.energy = inverted ? k * all * (squeeze.depth - 0.5 * all) : 0.5 * k * squeeze.depth * squeeze.depth;
    squeeze.pressure = k * (inverted ? all : squeeze.depth);
    squeeze.steepness = squeeze.pressure / squeeze.depth;
    return squeeze;
}

// What a loop is given.
typedef struct snwEvaluation
{
    snwElasticity* elasticity;
    const snwVec3* positions;
    snwQuatBlock* rotations;
    snwVec3* gradient;
} snwEvaluation;

// Blocks of tets, or vertices, begin .. end.
struct snwElasticityKernels
{
    void (*begin)(const snwEvaluation* evaluation, int begin, int end);
    double (*evaluate)(const snwEvaluation* evaluation, int begin, int end); // J; leaves pulls and damping's energies
    void (*gather)(const snwEvaluation* evaluation, int begin, int end);
};

const snwElasticityKernels* snwElasticity_Kernels(snwSimd simd);
const snwElasticityKernels* snwElasticity_KernelsAvx2(void); // NULL where the build does not have them
const snwElasticityKernels* snwElasticity_KernelsBase(void);
