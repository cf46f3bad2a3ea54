// What the files of elasticity share: elasticity_kernel.h has the loops over elements, elasticity.c runs them.

#pragma once

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
    double mu[elasticity_lanes], lambda[elasticity_lanes], beta[elasticity_lanes];
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
    double* dampings; // [blockCount] J, of the last Evaluate
};

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
