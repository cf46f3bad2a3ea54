// Which vertices of soft bodies are inside, or about to enter, another body or another part of their own - and where
// they shall leave.
//
// Skin vertices are asked, in three ways: does an element contain it now; did it cross a triangle of the skin from the
// outside since `previous`; is it nearer than `margin` to the skin. Each pair of a vertex and a body gives at most one
// overlap. What is left out: elements and triangles that share the vertex, and those so near in the rest pose that they
// overlap or touch there already; flat bodies against solid ones.

#pragma once

#include "sinew/sinew.h"

typedef struct snwOverlap
{
    int body, vertex;  // the vertex: a mesh vertex of the body's character
    int otherBody;     // may be the same body
    int triangle[3];   // mesh vertices of the other body's skin triangle through which it leaves; of a flat body the
                       // two ends of an edge, then -1
    double weights[3]; // of the point where it leaves: >= 0, they add up to 1; the third is 0 for an edge
    snwVec3 normal;    // unit, out of the other body; neighbours inside the same body agree on it
    double depth;      // m, > 0 inside: normal . (leaving point - vertex); < 0: a gap within the margin
} snwOverlap;

typedef struct snwDetectorBody
{
    const snwCharacter* character; // outlives the detector
    bool self;                     // look for contact of the body with itself
} snwDetectorBody;

typedef struct snwDetectorDef
{
    const snwDetectorBody* bodies;
    int bodyCount;
    int capacity; // overlaps that one call can find, 1..100 million; 0: two per skin vertex
} snwDetectorDef;

typedef struct snwDetectorInput
{
    const float* const* positions; // per body: x y z of mesh vertex i at [i * stride], now or predicted
    const float* const* previous;  // as positions, a step before; NULL: nothing moves
    const snwVec3* origins;        // m, per body: what its positions are relative to; NULL: all to the same
    int stride;                    // floats, >= 3
    double margin;                 // m, >= 0: gaps up to this are reported too
} snwDetectorInput;

typedef struct snwDetector snwDetector;

snwDetectorDef snwDefaultDetectorDef(void);

// All memory is taken here. Everything is copied but the characters.
snwResult snwCreateDetector(
    snwContext* context, const snwDetectorDef* def, snwDetector** detector, snwMessage* message);
void snwDestroyDetector(snwDetector* detector);

// The most that Find can return.
int snwDetector_Capacity(const snwDetector* detector);

// Fills overlaps, sorted by body, vertex, otherBody, and returns how many there are: at most `capacity`, the first ones
// in that order. Takes no memory; the same bits for any number of threads and any instruction set. Vertices that are
// not finite touch nothing and are touched by nothing.
int snwDetector_Find(snwDetector* detector, const snwDetectorInput* input, snwOverlap* overlaps, int capacity);
