// Bodies of skelfem_stage.h in scenes of the method, for the parts of its bench that look at whole steps.

#pragma once

#include "skelfem_stage.h"

#include "sim/skelfem/skelfem.h"

enum
{
    snw_maxPlaySettings = 8
};

typedef struct snwSkelfemPlayDef
{
    const snwFemBody* body;
    double young;                    // Pa
    snwVec3 gravity, velocity, spin; // m/s^2, m/s, rad/s about the centre
    double held;  // m: vertices up to so far from the lowest `heldAxis` do not move; < 0: none are held
    int heldAxis; // 0: x
    int threads;
    snwSimd simd;
    snwSetting settings[snw_maxPlaySettings]; // a name NULL ends them; one substep is set beside them
} snwSkelfemPlayDef;

// One thread, E = 1 MPa, gravity, the end at x = 0 held.
snwSkelfemPlayDef snwDefaultSkelfemPlayDef(const snwFemBody* body);

typedef struct snwSkelfemPlay
{
    snwContext* context;
    snwSim* sim;
    const snwFemBody* body;
} snwSkelfemPlay;

snwResult snwSkelfemPlay_Open(snwSkelfemPlay* play, const snwSkelfemPlayDef* def, snwMessage* message);
void snwSkelfemPlay_Close(snwSkelfemPlay* play);

snwResult snwSkelfemPlay_Step(snwSkelfemPlay* play, int count, double h, snwMessage* message);
const snwSkelfemBody* snwSkelfemPlay_Body(const snwSkelfemPlay* play);

// J: of motion and of strain.
double snwSkelfemPlay_Energy(const snwSkelfemPlay* play);
snwVec3 snwSkelfemPlay_Momentum(const snwSkelfemPlay* play); // kg m/s

// Settings under which a step is what its rule says, not what was left of an iteration.
extern const snwSetting snwSkelfemConverged[3];
