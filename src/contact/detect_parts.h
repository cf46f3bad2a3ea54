// What the files of the detector share.

#pragma once

#include "contact/detect.h"
#include "contact/facet.h"
#include "contact/shell.h"

#include <stdatomic.h>

typedef struct snwDetectKernels snwDetectKernels;

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
    float *now, *before; // x y z 0 of all mesh vertices; what is not finite is NaN altogether
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

    const snwDetectorInput* input; // of this call
    double margin;
    bool moving;
    const snwDetectKernels* kernels;
};

// Vertices of one body that are neighbours on its skin, for kernels.
typedef struct snwPointLeaf
{
    _Alignas(32) float now[3][snw_leafPoints];   // NaN beyond the last
    _Alignas(32) float lower[3][snw_leafPoints]; // boxes of the ways since `before`, and the margin
    _Alignas(32) float upper[3][snw_leafPoints];
    int vertices[snw_leafPoints];
    int count;
    int part;
    snwBox box;   // as they are now
    snwBox swept; // of the ways and the margin
} snwPointLeaf;

// A point of the leaf and an element or facet of a block whose boxes meet.
typedef struct snwPair
{
    uint16_t point, thing;
} snwPair;

enum
{
    snw_maxPairs = snw_leafPoints * snw_leafElements
};

// The first look at everything: same pairs in the same order for every instruction set. Positions as in snwPart;
// `before` is `now` where nothing moves.
struct snwDetectKernels
{
    int (*elements)(const snwPointLeaf* leaf, const float* now, const int (*block)[snw_leafElements], snwPair* pairs);
    int (*facets)(const snwPointLeaf* leaf, const float* now, const float* before, const int (*block)[snw_leafFacets],
        snwPair* pairs);
};

const snwDetectKernels* snwDetect_KernelsScalar(void);
const snwDetectKernels* snwDetect_KernelsBase(void); // NULL if not in this build
const snwDetectKernels* snwDetect_KernelsAvx2(void); // NULL if not in this build

static inline snwVec3 snwPart_Point(const float* positions, int vertex)
{
    const float* p = positions + 4 * (size_t)vertex;
    return (snwVec3){p[0], p[1], p[2]};
}

static inline snwFacet snwPart_Facet(const snwPart* part, const float* positions, int facet)
{
    const int* c = part->shell->facets[facet];
    snwVec3 a = snwPart_Point(positions, c[0]), b = snwPart_Point(positions, c[1]);
    return (snwFacet){{a, b, c[2] >= 0 ? snwPart_Point(positions, c[2]) : a}, c[2] < 0};
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
