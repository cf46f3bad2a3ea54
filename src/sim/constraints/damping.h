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

// 1/s: mean of the regions' damping, by volume.
double snwBody_MaterialDamping(const snwBody* body);
