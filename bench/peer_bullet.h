// Bullet's soft body beside our own sweeps, through the program sinew-peer-bullet (peer_bullet.cpp), which is built
// where Bullet's headers are.

#pragma once

#include "sim/character.h"

typedef struct snwBulletDef
{
    const snwCharacter* character; // its edges become links
    const double* masses;          // kg per vertex; 0: held
    int iterations;                // of the position solver
    int steps;                     // behind each median
} snwBulletDef;

typedef struct snwBulletTimes
{
    int version;        // 324: 3.24
    int scalarBytes;    // of its numbers
    int linkCount;      // projected in an iteration
    double linkNs;      // a projection of one link, in the better order of the two
    double plainNs;     // in the order of our mesh
    double reorderedNs; // in that of btSoftBodyHelpers::ReoptimizeLinkOrder
    double stepMs;      // a whole step without collisions
} snwBulletTimes;

// False when this machine does not have it or it fails; *why then says so.
bool snwMeasureBullet(const snwBulletDef* def, snwBulletTimes* times, const char** why);
