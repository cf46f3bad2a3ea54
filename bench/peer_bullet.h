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

// Its deformable finite elements: linear elasticity, implicit steps of one linearisation each, no collisions.
typedef struct snwBulletFlesh
{
    int vertexCount;
    const snwVec3* vertices;
    double* masses; // kg per vertex; 0: held
    int tetCount;
    const int* tets;   // [4 tetCount]
    double mu, lambda; // Pa
    double step;       // s
    int steps;         // behind the median
} snwBulletFlesh;

typedef struct snwBulletFleshTimes
{
    int version;
    double stepMs; // processor time
    double lowest; // m: how far a vertex has sunk at most
} snwBulletFleshTimes;

bool snwMeasureBulletFlesh(const snwBulletFlesh* flesh, snwBulletFleshTimes* times, const char** why);
