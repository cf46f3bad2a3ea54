// What the files of the detector share.

#pragma once

#include "contact/detect.h"
#include "contact/facet.h"
#include "contact/shell.h"

#include <stdatomic.h>

typedef enum snwHitKind
{
    snw_hitGap,     // outside, within the margin
    snw_hitCrossed, // came in through a facet since the step before
    snw_hitInside,  // in an element; the way out is found later
} snwHitKind;

// A vertex and a body that have to do with each other.
typedef struct snwHit
{
    snwOverlap overlap;
    snwHitKind kind;
    int begin, end; // hits of the same two bodies, sorted by vertex
    int round;      // when its direction was found; -1: not yet
} snwHit;

// One body of the detector.
typedef struct snwPart
{
    const snwShell* shell;
    bool self;
    const float *now, *before;
    snwBoxTree facets;   // over the way since `before`
    snwBoxTree elements; // as they are now
    snwBox bounds;
} snwPart;

struct snwDetector
{
    snwContext* context;
    snwArena arena;
    snwShell* shells; // one per different character
    int shellCount;
    snwPart* parts;
    int partCount;
    int* starts[3]; // first leaf of each part among all leaves, and their sum: of points, facets, elements
    snwBoxTree bodies;
    int* bodyOrder; // part of each leaf of `bodies`

    snwHit* hits;
    int capacity;
    atomic_int hitCount; // may pass the capacity
    uint64_t *keys, *otherKeys;
    int *order, *otherOrder;
    snwHit* sorted;
    int* queue;

    int stride; // of this call, floats
    double margin;
    bool moving;
};

static inline snwVec3 snwPart_Point(const float* positions, int stride, int vertex)
{
    const float* p = positions + (size_t)vertex * (size_t)stride;
    return (snwVec3){p[0], p[1], p[2]};
}

static inline snwFacet snwPart_Facet(const snwPart* part, const float* positions, int stride, int facet)
{
    const int* c = part->shell->facets[facet];
    snwVec3 a = snwPart_Point(positions, stride, c[0]), b = snwPart_Point(positions, stride, c[1]);
    return (snwFacet){{a, b, c[2] >= 0 ? snwPart_Point(positions, stride, c[2]) : a}, c[2] < 0};
}

// Distance at rest between a vertex and a facet of the same body, 0 if it is one of its corners.
double snwShell_RestDistance(const snwShell* shell, int vertex, int facet);

// Fills in the overlap from the point of the facet where it leaves.
void snwHit_SetExit(snwHit* hit, const snwPart* other, int facet, const double weights[3]);

// Directions, then exits of all hits that are inside; `sorted` holds them by body, otherBody, vertex.
void snwDetector_ResolveInside(snwDetector* detector, int count);

// Contact of one part with itself at these positions (x y z), without motion or margin; leaves it in `hits` and
// returns how many.
int snwDetector_FindAtRest(snwDetector* detector, int part, const float* positions);
