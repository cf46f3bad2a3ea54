// Siconos' solvers on contact problems of ours, through the program sinew-peer-siconos (bench/siconos), which is built
// where Siconos' headers are.

#pragma once

#include "softcontact_shake.h"

typedef struct snwSiconosAnswer
{
    bool solved;
    double ms;         // processor time
    double difference; // largest of an impulse to ours, of the largest of ours
} snwSiconosAnswer;

typedef struct snwSiconosAnswers
{
    snwSiconosAnswer newton, sweeps; // NSN_AC and NSGS
} snwSiconosAnswers;

// Of problems that were solved by us (lambda), contacts alone, from the impulses that these were met with. answers:
// [count]. False when this machine does not have it or it fails; *why then says so.
bool snwSolveBySiconos(const snwKeptProblems* kept, snwSiconosAnswers* answers, const char** why);
