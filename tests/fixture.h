// What many tests need: contexts that count or fail allocations, and small scenes.

#pragma once

#include "sinew/tools.h"

typedef struct snwCountingAllocator
{
    long allocations; // so far
    long live;        // not yet freed
    long failAt;      // the allocation with this number (from 1) gives NULL; 0: none
} snwCountingAllocator;

// counter may be NULL. threads: as in snwContextDef.
snwContext* snwFixture_Context(int threads, snwSimd simd, snwCountingAllocator* counter);

// A scene's text with its built-in characters written out without their paint, which takes longer than the rest of flat
// ones, and with so many times their elements. Free it.
char* snwFixture_Smaller(const char* text, double scale);
char* snwFixture_Unpainted(const char* text); // with as many

// A scene's text, in which ' may stand for ", without paint. OpenSim: a sim of it, printf's way; a failure fails the
// test.
snwResult snwFixture_ParseScene(snwContext* context, const char* text, snwSceneFile* file, snwMessage* message);
snwSim* snwFixture_OpenSim(snwContext* context, const char* format, ...) __attribute__((format(printf, 2, 3)));

snwCharacter* snwFixture_Shape(snwContext* context, snwShapeKind kind, int cells);

typedef struct snwFixtureScene
{
    snwShapeKind kind;
    int cells;
    double height;    // m, of the body's centre
    bool ground;      // with a plane at y = 0
    bool gravity;     // else none
    bool pinned;      // the vertices of lowest x
    snwVec3 velocity; // m/s
    snwVec3 spin;     // rad/s
    double damping;   // pbd.damping, 1/s
    int iterations;   // pbd.iterations; 0: the default
    const snwCommand* script;
    int scriptCount;
    snwMessage* message; // NULL: a failure ends the test program with its message
} snwFixtureScene;

snwFixtureScene snwFixture_DefaultScene(void);
snwScene* snwFixture_MakeScene(snwContext* context, const snwFixtureScene* fixture); // NULL only with a message
snwSim* snwFixture_MakeSim(snwContext* context, const snwFixtureScene* fixture);     // owns its scene
void snwFixture_Run(snwSim* sim, int steps, double dt);                              // fails the test on an error
