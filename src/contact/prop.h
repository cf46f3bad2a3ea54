// Props: free rigid bodies, as the position solvers move them.
//
// Free motion keeps the momentum, not the velocity: with L = R I R^T w fixed in the world the turning of an uneven body
// follows, and no step size makes it gain speed, because |w| <= |L| / least I. The step is the implicit midpoint rule,
// which is the same forwards and backwards in time: energy does not drift either.
//
// During a substep contacts push at points. Each push moves and turns the body at once, and its impulse is summed up:
// the velocities of the end are those of the free motion plus all impulses, so momentum is exact whatever the order.

#pragma once

#include "math/transform.h"

typedef struct snwPropMass
{
    double mass;     // kg
    snwVec3 inertia; // kg m^2, about the centre, in the axes of its frame
} snwPropMass;

snwPropMass snwPropDef_Mass(const snwPropDef* def);

// A prop in a substep.
typedef struct snwPropMotion
{
    snwPropMass mass;
    snwTransform before;     // where the substep began
    snwTransform transform;  // now
    snwVec3 velocity;        // m/s, of the free motion
    snwVec3 angularMomentum; // kg m^2/s, about the centre
    snwVec3 push, twist;     // kg m and kg m^2 so far: impulses times the substep
} snwPropMotion;

// Free motion over h seconds from the prop's state.
snwPropMotion snwProp_Predict(const snwProp* prop, snwPropMass mass, snwVec3 gravity, double h);

// The state after h seconds.
snwProp snwProp_Finish(const snwPropMotion* motion, double h);

// How much a push along the unit vector `direction` at `arm` from the centre moves that point along it: 1/kg.
double snwProp_Yield(const snwPropMotion* motion, snwVec3 arm, snwVec3 direction);

// Applies a push (kg m) at `arm` from the centre.
void snwProp_Push(snwPropMotion* motion, snwVec3 arm, snwVec3 push);
// The same by a push of its centre and a twist (kg m^2) about it.
void snwProp_Move(snwPropMotion* motion, snwVec3 push, snwVec3 twist);

// What shall be asked of a prop's surface: balls of `radius` around points of its frame.
enum
{
    snw_maxPropPoints = 26
};

typedef struct snwPropPoints
{
    snwVec3 at[snw_maxPropPoints];
    int count;
    double radius;
} snwPropPoints;

// Sphere: its centre; capsule: points of its axis; box: corners, middles of edges and faces.
snwPropPoints snwPropPoints_Make(snwColliderKind kind, snwVec3 size);

// The radius of a ball around the centre that holds all of it, m.
double snwPropDef_Radius(const snwPropDef* def);
