// A soft box of DART beside ours, through the program sinew-peer-dart (peer_dart.cpp), which is built where DART's
// headers are.

#pragma once

#include <stdbool.h>

typedef struct snwDartDef
{
    int points[3];                   // of the box along x, y and z
    double half, boneMass, skinMass; // m, kg
    double vertex, edge, damping;    // N/m, N/m, N s/m
    double friction, height, h;      // m that it falls, s
    int steps, firstAtRest;
    bool sweeps; // projected Gauss-Seidel in place of Dantzig's pivots
} snwDartDef;

typedef struct snwDartTimes
{
    char version[16];
    int points, contacts;         // contacts: of the last step with any
    double settlingMs, restingMs; // medians of steps, of the processor
    double lowest, speed, height; // m, m/s of the fastest point, m of the bone's centre; at the end
} snwDartTimes;

// False when this machine does not have it or it fails; *why then says so.
bool snwMeasureDart(const snwDartDef* def, snwDartTimes* times, const char** why);
