// Bones and joints as one mesh to add to a picture.

#pragma once

#include "base/array.h"
#include "view/picture.h"

typedef snwArray(float) snwFloats;
typedef snwArray(int) snwInts;

typedef struct snwGizmos
{
    snwContext* context;
    snwFloats positions, normals, colors;
    snwInts triangles;
    bool failed; // no memory; what is added then is dropped
} snwGizmos;

// Begin with {.context = context}; free at the end.
void snwGizmos_Free(snwGizmos* gizmos);

// From head to tail: swelling to its radius, m, behind the head and tapering to the tail.
void snwGizmos_AddBone(snwGizmos* gizmos, snwFloat3 head, snwFloat3 tail, float radius, snwFloat3 color);
// The same radius all along, with round ends.
void snwGizmos_AddCapsule(snwGizmos* gizmos, snwFloat3 a, snwFloat3 b, float radius, snwFloat3 color);
// A ball joint, or any point worth a mark.
void snwGizmos_AddBall(snwGizmos* gizmos, snwFloat3 centre, float radius, snwFloat3 color);
// A ball with a thin axle through it, which sticks out to both sides.
void snwGizmos_AddHinge(snwGizmos* gizmos, snwFloat3 centre, snwFloat3 axis, float radius, snwFloat3 color);

// From one point to another, with a head of three times the radius.
void snwGizmos_AddArrow(snwGizmos* gizmos, snwFloat3 from, snwFloat3 to, float radius, snwFloat3 color);
// Flat, across a unit axis.
void snwGizmos_AddDisc(
    snwGizmos* gizmos, snwFloat3 centre, snwFloat3 axis, float radius, float thickness, snwFloat3 color);

// Points into the gizmos, which must outlive it. Fails if any of them found no memory.
snwResult snwGizmos_GetLook(const snwGizmos* gizmos, snwMeshLook* look, snwMessage* message);

extern const snwFloat3 snwGizmo_boneColor;  // ivory
extern const snwFloat3 snwGizmo_jointColor; // red
