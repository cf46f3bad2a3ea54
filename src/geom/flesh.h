// Implicit flesh: simple parts melted together. A blueprint's body as a signed distance, with colours.
//
// Parts are joined in their order. Within a group each part melts into what is there over its `blend` radius; a
// finished group melts into the groups before it over the blend of its first part. So the fingers of a hand blend with
// the palm, but not with each other. A part may also cut, or only paint what the others made.
//
// A rigid part belongs to a bone whole: shells, horns, teeth, nails, eyes.

#pragma once

#include "base/arena.h"
#include "geom/solid.h"
#include "math/transform.h"

typedef enum snwPartKind
{
    snw_partEllipsoid, // size: radii
    snw_partBox,       // size: half extents, edges rounded by `round`
    snw_partTorus,     // size.x: radius of the ring, in the plane of x and z; size.y: of the tube
    snw_partCapsule,   // two points with one radius
    snw_partCone,      // two points with a radius each
    snw_partSweep,     // a round profile along a curve through points, each with its radius; may be flattened
    snw_partFin,       // a flat outline with a thickness of 2 size.z: fins, ears, webs
    snw_partKindCount,
} snwPartKind;

typedef enum snwPartOp
{
    snw_partAdd,
    snw_partCut,
    snw_partPaint, // colours what is inside of it and changes no shape; blend is the width of its edge
} snwPartOp;

typedef struct snwFleshPoint
{
    snwVec3 at;    // m
    double radius; // m
    int bone;      // that carries it in a pose; -1: none
} snwFleshPoint;

// The point at t in 0..1 between points[span] and the next, on the smooth curve through all of them.
snwFleshPoint snwCurve_Point(const snwFleshPoint* points, int count, int span, double t);

// A cone with round ends.
typedef struct snwRoundCone
{
    snwVec3 a, axis;       // from the first ball's centre to the second's
    double radius, shrink; // of the first ball; how much smaller the second is
    double perLength2;     // 1 / |axis|^2; 0: one ball holds the other, and is all there is
    double tilt;           // how far along the axis the foot of a point moves per distance from it
    snwVec3 middle;        // of a ball around all of it
    double reach;
} snwRoundCone;

typedef struct snwFleshPart
{
    const char* name;
    snwPartKind kind;
    snwPartOp op;
    int group; // parts of one group follow each other
    int bone;  // that carries it; -1: none
    bool rigid;
    double blend;       // m
    float color[3];     // linear
    snwTransform frame; // of ellipsoid, box, torus and fin
    snwVec3 size;
    double round;
    snwFleshPoint* points; // of capsule, cone and sweep in the world; of a fin its outline, in x and y of the frame
    int pointCount;
    double flatness; // of a sweep: its profile is this much thinner along flatAxis; 1: round
    snwVec3 flatAxis;

    // What snwFlesh_Prepare makes of the above:
    snwRoundCone* cones; // in the space that is stretched along flatAxis
    int coneCount;
    double groupBlend; // of the first part of its group
    snwVec3 centre;    // of a ball around the part
    double radius;
} snwFleshPart;

// What a bone owns by itself: the inside of a round cone. radius <= 0: nothing.
typedef struct snwFleshBone
{
    snwVec3 head, tail;
    double radius;
} snwFleshBone;

typedef struct snwFlesh
{
    snwFleshPart* parts;
    int partCount;
    const snwFleshBone* bones;
    int boneCount;
    bool hasFlesh;        // some part is not rigid
    snwVec3 lower, upper; // bounds
    int* rigidStart;      // by bone, and one more: its rigid parts in rigidParts
    int* rigidParts;
    // Parts that can be felt in each cell of a coarse grid over the bounds.
    int* cellStart; // by cell, and one more; NULL: no grid
    int* cellParts;
    double cellSize; // m
    int cells[3];
} snwFlesh;

// Completes the parts: curves, bounds, and the nearest bone for points without one. False: no memory.
bool snwFlesh_Prepare(snwFlesh* flesh, snwArena* arena);
// Adds the grid, without which everything is the same but slower. Worth it before thousands of distances are asked for.
bool snwFlesh_MakeGrid(snwFlesh* flesh, snwArena* arena);

// A copy with every part where the bones carry it; prepared, with a grid. bones: rest pose -> now.
bool snwFlesh_Pose(const snwFlesh* flesh, const snwTransform* bones, snwArena* arena, snwFlesh* posed);

double snwFlesh_Distance(const snwFlesh* flesh, snwVec3 point);
void snwFlesh_Color(const snwFlesh* flesh, snwVec3 point, float color[3]);

// Distance to what bone number `bone` owns: its own round cone, and its rigid parts with all of the surface on them.
double snwFlesh_BoneDistance(const snwFlesh* flesh, int bone, snwVec3 point);

snwSolid snwFlesh_Solid(const snwFlesh* flesh); // points to flesh
