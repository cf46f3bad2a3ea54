// Triangle soups: surfaces as artists make them - open, crossing themselves, with faces twice, turned or without area -
// and what is inside of them all the same.
//
// Inside is where the generalised winding number (Jacobson et al. 2013) is above one half. It is exact for closed
// surfaces, degrades gently at holes, and is summed over a tree: far groups of triangles act as a dipole and its first
// two moments (Barill et al. 2018, "Fast winding numbers for soups and clouds").

#pragma once

#include "base/context.h"
#include "geom/solid.h"

typedef struct snwSoupDef
{
    const snwVec3* vertices;
    int vertexCount;
    const int (*triangles)[3]; // outward is counter-clockwise
    int triangleCount;
    double beta; // accuracy, 1..1000: groups farther than this many times their radius are taken as one
} snwSoupDef;

typedef struct snwSoup snwSoup;

typedef struct snwClosest
{
    snwVec3 point;
    double distance; // m
    double weights[3];
    int triangle;
} snwClosest;

snwSoupDef snwDefaultSoupDef(void); // beta 2.3
// Everything is copied. The same soup gives the same bits, whatever the number of threads.
snwResult snwCreateSoup(snwContext* context, const snwSoupDef* def, snwSoup** soup, snwMessage* message);
void snwDestroySoup(snwSoup* soup);

// Queries change nothing: any number of threads may ask at once.

// The nearest point of the soup; of equally near triangles the one with the lowest number.
snwClosest snwSoup_Closest(const snwSoup* soup, snwVec3 point);

double snwSoup_Winding(const snwSoup* soup, snwVec3 point);
double snwSoup_WindingExact(const snwSoup* soup, snwVec3 point); // one by one: the oracle

// m, negative inside. Points out of the soup's bounds are outside, even near a hole that would let the winding number
// leak out.
double snwSoup_Distance(const snwSoup* soup, snwVec3 point);

// The inside as a solid; lives as long as the soup. Across a hole its sign changes without a surface to be near to.
snwSolid snwSoup_Solid(const snwSoup* soup);
