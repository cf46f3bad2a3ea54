// What every method must do where things touch. The cases are the built-in scenes of the same names; `sinew bench
// contact --method NAME` runs them with any method, and a method that lacks something says so in the row's note.

#pragma once

#include "bench.h"

typedef enum snwSuiteCase
{
    snw_suiteIncline, // slip of the block that must hold, error of the other's acceleration
    snw_suiteStack,   // drift
    snw_suiteStairs,  // depth at worst, and at the end
    snw_suitePress,   // share of the left ball, gap at the end
    snw_suiteFold,    // vertices inside
    snw_suiteWall,    // vertices beyond
    snw_suiteSink,    // error of the depth, speed at the end
    snw_suiteAnvil,   // speed at the end
    snw_suiteCaseCount,
} snwSuiteCase;

enum
{
    snw_suiteValues = 2
};

typedef struct snwSuiteResult
{
    bool applies;
    double values[snw_suiteValues];
    char note[160]; // why it does not apply
} snwSuiteResult;

typedef struct snwSuiteDef
{
    const char* method;
    double stackSeconds; // how long the stack must stand, after the 4 s in which it settles (brief: 2 s)
    int threadCount;
    bool brief; // for tests: half the cells along each side, and over as soon as the verdict is clear
} snwSuiteDef;

snwResult snwSuite_Run(const snwSuiteDef* def, snwSuiteCase which, snwSuiteResult* result, snwMessage* message);

// Whether a case's scene ends in the same state with 1, 2 and 8 threads after some frames.
snwResult snwSuite_SameHash(
    const snwSuiteDef* def, snwSuiteCase which, int frames, snwSuiteResult* result, snwMessage* message);

// All rows of a method.
snwResult snwSuite_AddRows(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message);
