// Boxes with soft skins, figures of links and worlds that hold them, for the bench and the tests of softcontact.

#pragma once

#include "sim/softcontact/soft_world.h"

// ---------------------------------------------------------------------------------------------------------------------
// Figures

enum
{
    snw_ragdollLinks = 13
};

// A link of a box of uniform density, its point at `point`, the box's centre at `centre`.
snwLinkDef snwRagdoll_Box(snwJointType type, int parent, snwVec3 point, snwVec3 centre, snwVec3 half, double mass);

// 70 kg in thirteen links, a free pelvis first. Joints have no springs, limits only if asked for.
void snwRagdoll_Links(bool limits, snwLinkDef links[snw_ragdollLinks]);

// ---------------------------------------------------------------------------------------------------------------------
// Boxes

enum
{
    snw_mostBoxPoints = 400,
    snw_mostBoxEdges = 6 * snw_mostBoxPoints
};

// Points on a grid over the surface, tied along the edges and diagonals of its squares.
typedef struct snwSkinBox
{
    snwLinkDef link;
    snwVec3 half;
    snwVec3 points[snw_mostBoxPoints];
    snwPointAnchor anchors[snw_mostBoxPoints];
    double masses[snw_mostBoxPoints], stiffness[snw_mostBoxPoints], damping[snw_mostBoxPoints];
    int edges[snw_mostBoxEdges][2];
    double edgeStiffness[snw_mostBoxEdges];
    int triangles[2 * snw_mostBoxPoints][3];
    snwPointSkinDef skin;
} snwSkinBox;

typedef struct snwSkinBoxDef
{
    snwVec3 centre, half; // m
    double mass;          // kg, a tenth of it the skin's
    double stiffness;     // k_m, N/m: 0.4 of it to the bone
    double edges;         // part of it between neighbours
    int cells[3];         // 0: four along each side, 98 points
} snwSkinBoxDef;

void snwSkinBox_Make(snwSkinBox* box, const snwSkinBoxDef* def);

// ---------------------------------------------------------------------------------------------------------------------
// Worlds

enum
{
    snw_mostStageBodies = 10,
    snw_mostStageSolids = 40
};

typedef struct snwSoftStage
{
    snwContext* context; // the caller's
    snwSoftBody bodies[snw_mostStageBodies];
    snwSoftSolid solids[snw_mostStageSolids];
    snwSoftProbe probes[8 * snw_mostStageBodies];
    int bodyCount, solidCount, probeCount;
    snwSoftWorld world;
    snwSoftSettings settings;
} snwSoftStage;

// Empty but for a ground of this friction, tilted about an axis. Bodies, solids and probes come next, then Open.
void snwSoftStage_Begin(snwSoftStage* stage, snwContext* context, double friction, snwVec3 axis, double tilt);
void snwSoftStage_AddSolid(
    snwSoftStage* stage, int body, snwColliderKind kind, snwVec3 size, double friction, snwTransform place);
snwResult snwSoftStage_AddBody(snwSoftStage* stage, const snwSoftBodyDef* def, snwMessage* message);
snwResult snwSoftStage_AddBox(snwSoftStage* stage, const snwSkinBox* box, snwMessage* message);
// A figure with limits and a ball at each end of its links.
snwResult snwSoftStage_AddFigure(snwSoftStage* stage, snwMessage* message);
// Rigid boxes on each other with eight points each near their corners, which are solids for each other. (At the corners
// themselves two boxes that are not quite in line would touch with edges across each other, which points do not see.)
snwResult snwSoftStage_AddTower(snwSoftStage* stage, int count, const double* masses, snwMessage* message);
snwResult snwSoftStage_Open(snwSoftStage* stage, int contactCapacity, snwMessage* message);
void snwSoftStage_Close(snwSoftStage* stage);

// Bodies are looked at before each step, as sims do it: then what is left from the step before does not matter. others:
// as snwSoftWorld_Step has it.
snwResult snwSoftStage_StepWith(snwSoftStage* stage, const snwSoftStep* others, snwMessage* message);
snwResult snwSoftStage_Step(snwSoftStage* stage, int steps, snwMessage* message);

double snwSoftStage_Lowest(const snwSoftBody* body);                          // m: of its skin's points
double snwSoftStage_ForceAlong(const snwSoftStage* stage, snwVec3 direction); // N, of all contacts in the last step
