// Damping that leaves rigid motion alone (Mueller et al. 2007, Section 3.5).

#pragma once

#include "base/context.h"
#include "sim/method.h"

typedef struct snwRigidDamping
{
    const float* positions; // rows of float4; the fourth number is the inverse mass in use: what has 0 is not damped
    float* velocities;      // rows of float4; the fourth number is the inverse mass when free
    int count;
    double* sums;       // snwDamping_SumCount(count), work space
    double rate;        // 1/s
    const float* drift; // rows of float4, m/s; NULL: none
    double driftRate;   // 1/s, with a drift
    bool flat;          // z is 0 everywhere
} snwRigidDamping;

size_t snwDamping_SumCount(int vertexCount);

// v <- v + k (rigid motion - v), k = 1 - exp(-rate h); then the same for v - drift, with its own rate.
void snwRigidDamping_Apply(snwContext* context, const snwRigidDamping* damping, double h);

// What rounding did to a body whose elements moved it from `before` to the positions: the rigid part of that, for
// elements do nothing of the kind. Into the velocities, m, whose fourth numbers are as above. With small substeps this
// is no small thing: elements of 1 m push by 1e-8 m in 1/15360 s, where floats are 6e-8 apart.
void snwRigidDamping_FindRounding(snwContext* context, const snwRigidDamping* damping, const float* before);

// 1/s: mean of the regions' damping, by volume.
double snwBody_MaterialDamping(const snwBody* body);
