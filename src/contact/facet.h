// A facet of a skin - a triangle, or an edge of a flat outline in the plane z = 0 - and an element of the body behind
// it, against one point. In double: the places are floats, so differences are exact and products nearly so.

#pragma once

#include "math/vec.h"

typedef struct snwFacet
{
    snwVec3 p[3]; // seen from outside counter-clockwise; of an edge the outside is on the right of p[0] to p[1]
    bool edge;
} snwFacet;

typedef struct snwFacetPoint
{
    snwVec3 point;
    double weights[3]; // of the corners
    double squared;    // m^2, distance to the asker
} snwFacetPoint;

// Outward, as long as twice the area, or as the edge.
static inline snwVec3 snwFacet_AreaNormal(const snwFacet* facet)
{
    snwVec3 u = snwVec3_Sub(facet->p[1], facet->p[0]);
    return facet->edge ? (snwVec3){u.y, -u.x, 0} : snwVec3_Cross(u, snwVec3_Sub(facet->p[2], facet->p[0]));
}

snwVec3 snwFacet_Normal(const snwFacet* facet); // unit, outward; zero without area
snwFacetPoint snwFacet_Closest(const snwFacet* facet, snwVec3 point);

// A point goes from `from` to `to` while a facet goes from `before` to `now`, all straight: does it pass from the
// outside in? A start behind the facet by less than a thousandth of its size is still outside: a response may have
// left it there by rounding. The time is 0..1.
bool snwFacet_Crossed(const snwFacet* before, const snwFacet* now, snwVec3 from, snwVec3 to, double* time);

// Does origin + t direction, 0 <= t <= *time, leave the body through the facet? Then *time is that t.
bool snwFacet_Leaves(const snwFacet* facet, snwVec3 origin, snwVec3 direction, double* time, double weights[3]);

// Corners of a tet, or of a triangle (flat). The border counts; elements without volume contain nothing.
bool snwElement_Contains(const snwVec3 corners[4], bool flat, snwVec3 point);
double snwElement_Distance(const snwVec3 corners[4], bool flat, snwVec3 point); // m, 0 inside
