// Whom a vertex follows: weights of candidates, none negative, that sum to one.
//
// A candidate alone would miss the way of the vertex by a vector over all frames. With G the products of these vectors,
// the blend misses it by w^T G w. The least of it over w >= 0 that sum to one is the least of v^T G v / 2 - sum(v) over
// v >= 0, scaled afterwards: a non-negative least squares problem of some dozen unknowns, solved to the end by an
// active set (Lawson and Hanson 1974, chapter 23).

#pragma once

enum
{
    snw_setSize = 4,        // influences of a vertex in one set of a glTF file
    snw_mostInfluences = 8, // two sets
    snw_mostCandidates = 28
};

typedef struct snwJointChoice
{
    int bones[snw_mostCandidates];
    int count;
    double gram[snw_mostCandidates][snw_mostCandidates]; // symmetric
    double weights[snw_mostCandidates];                  // 0: not followed
} snwJointChoice;

// Nothing happens if it is there, or if there is no room left.
void snwJointChoice_Add(snwJointChoice* choice, int bone);
double snwJointChoice_Cost(const snwJointChoice* choice); // w^T G w
// The best weights among those that have one.
void snwJointChoice_Balance(snwJointChoice* choice);
// The best weights for few. First those of all; then one by one they go, each time the one that the others make up for
// best: a small weight of a joint that is far off may matter more than a large one.
void snwJointChoice_Thin(snwJointChoice* choice, int most);
// Those that are followed, largest weight first, at most as many as a vertex may have; their number.
int snwJointChoice_Sort(const snwJointChoice* choice, int order[snw_mostInfluences]);
