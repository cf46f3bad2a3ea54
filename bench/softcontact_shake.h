// A box on a soft or hard sole that is pushed about at random: it rocks, slides, sticks, turns on an edge and falls
// back. The problems that it meets are what the solver is measured with. The same pushes from the same seed.

#pragma once

#include "softcontact_stage.h"

typedef struct snwShakeDef
{
    int cells[3];      // of the box: its sole has (cells[0] + 1) (cells[2] + 1) points
    double mass;       // kg
    double stiffness;  // k_m, N/m
    bool rigid;        // its skin stays asleep
    double compliance; // of hard contacts, of their row's W; 0: in N/m, as published for the feet of SIMBICON's figure
    double h;          // s
    snwCoulombStart start;
    uint64_t seed; // not 0
} snwShakeDef;

snwShakeDef snwShake_DefaultDef(int contacts); // 20, 40 or 100

typedef struct snwShake
{
    snwShakeDef def;
    snwSoftStage stage;
    snwSkinBox box;
    snwSpatial load;
    uint64_t seed;
    long step;
} snwShake;

snwResult snwShake_Open(snwShake* shake, snwContext* context, const snwShakeDef* def, snwMessage* message);
void snwShake_Close(snwShake* shake);
snwResult snwShake_Step(snwShake* shake, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Problems that are kept

typedef struct snwKeptProblem
{
    snwCoulombBlock* blocks;
    double* numbers; // what the others point into
    snwCoulombDef def;
    double *start, *lambda; // as it was met; room for an answer
} snwKeptProblem;

typedef struct snwKeptProblems
{
    int contacts; // only those that have so many; 0: any
    int count, capacity;
    snwKeptProblem* problems;
    int mostRows;
    double* scratch;
    bool failed; // memory ran out
} snwKeptProblems;

void snwKeptProblems_Init(snwKeptProblems* kept, int capacity, int contacts);
void snwKeptProblems_Free(snwKeptProblems* kept);

// As many as it takes, or as it meets in twenty times as many steps.
snwResult snwKeptProblems_Fill(snwKeptProblems* kept, snwContext* context, const snwShakeDef* def, snwMessage* message);

// From the impulses that it was met with, or others; the answer is in problem->lambda.
snwCoulombReport snwKeptProblems_Solve(snwKeptProblems* kept, int problem, snwCoulombStart start, uint64_t seed);

// N s: of the sum of all impulses, in the axes of contacts on a level ground.
double snwKeptProblem_Force(const snwKeptProblem* problem);
