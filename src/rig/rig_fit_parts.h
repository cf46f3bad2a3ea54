// What the files of rig_fit.h share.
//
// Numbers of all handles stand side by side in planes of `stride` numbers, so that loops over handles are loops over
// neighbours. Coordinates: a of the world, b of the rest pose. Letters are those of rig_fit.h.

#pragma once

#include "base/arena.h"
#include "linalg/dense.h"
#include "rig/rig_fit.h"
#include "rig/rig_pass.h"
#include "rig/rig_tree.h"
#include "rig/skeleton.h"

enum
{
    snw_mostTurns = 9,       // numbers of a linear part
    snw_mostLeavingRows = 48 // degrees of freedom that are let go of by and by
};

#define snw_rigSpring 1e3 // of all mass: rows that cannot be met
#define snw_rigLeash                                                                                                   \
    10.0 // likewise: rows that are leaving, at most. Where a chain is stretched straight, they ask for too much

typedef struct snwRigLink
{
    int parent, child;
    snwVec3 joint;
    bool limited;
    snwJointDef limits; // if limited; bone and parentBone are the handles; no springs
} snwRigLink;

typedef struct snwRigEquation
{
    int firstTerm, termCount;
    double value;
    double period; // what the sum is known up to, because angles are; 0: no angles
} snwRigEquation;

struct snwRigFit
{
    snwArena arena;
    int dimension, handleCount, stride;
    snwRigHandleDef* handles;
    snwRigLink* links; // parents first
    int linkCount;
    snwRigEquation* equations;
    int equationCount;
    snwLinearTerm* terms;
    snwRigMoments moments;
    snwPairProduct pairs; // 3D: M, of those handles that share flesh
    double* leastMass;    // [handleCount] kg and
    double* leastTurn;    // kg m^2: what M's diagonal gets where it is as good as nothing
    double (*wholes)[4];  // what a coordinate of 1 m of all flesh adds to a handle's sums: about its origin, and to the
                          // sum itself
    double* flat;         // H of rig_flat.h; NULL: not such a rig
    double size;          // m
    double mass;          // kg, of everything
    snwRigPass pass;
    int mostRows, mostTerms;
    int turnCount; // of all linear parts
    bool trees;    // rig_tree.h may serve
};

// A small motion of the handles, or forces on them.
typedef struct snwRigMotion
{
    double* moves[3]; // planes
    double* turns;    // by a system's turnStart
} snwRigMotion;

// Likewise, with linear parts, or forces on them, in place of turns.
typedef struct snwRigPlanes
{
    double* moves[3];
    double* linear[3][3]; // a, b
} snwRigPlanes;

// M of what is free, with the translations eliminated.
typedef struct snwRigSystem
{
    const snwPassKernels* kernels;
    const snwRigMoments* moments; // that M is of
    double share;                 // of M's diagonal, added to it
    unsigned char* freeMoves;     // by handle, a bit per coordinate
    unsigned char* freeTurns;     // by handle, 0 or 1
    int* movers;                  // handles that have a free move
    int moverCount;
    int* turnStart;  // [handleCount + 1]
    int n;           // turns that are free
    bool allTurn;    // every handle does, freely and as a whole
    bool eliminated; // all of this and what follows is there
    int elimination; // how often that was done
    // Coordinates with the same free handles share a group.
    int groupOf[3], groupCount;
    double* inverse[3];   // P0^-1; rows and columns of given ones are 0
    double* forth[3][3];  // b: sum_q (P0^-1)_pq P1_lq, [l * stride + p]
    double* back[3][3];   // the same, [p * stride + l]
    double* p2[3][3][3];  // P2 - P1 P0^-1 P1^T, b of k, b of l: [k * stride + l], l <= k
    double* flat[2];      // 2D, one group: P00 + P11 and P01 - P10 of it, [k * stride + l]; 0 of turns that are given
    double* flatDiagonal; // what comes on top of the turns' diagonal
    double* row;          // of the matrix, one number per handle
    double* turned[3][3]; // 3D: linear parts, and
    double* blocks[3][3]; // of the matrix, one row of blocks: planes
    double* stiffness;    // kg m^2, by handle: on top of the diagonal of its turns
    snwMat3* factored;    // linear parts that the factor is of
    bool sound;           // there is a factor
    int version;          // how many there were
    double* matrix;
    double* column;
    snwDense factor;
} snwRigSystem;

typedef struct snwRigTerm
{
    int handle;
    double move[3];
    double turn[snw_mostTurns];
    double arm; // m, of a joint's point
} snwRigTerm;

// J motion = -error, or at least that.
typedef struct snwRigRow
{
    int id; // the same at every pose, and growing from row to row
    bool atLeast;
    bool length;     // m, else rad
    bool given;      // of a place that is given, but follows from others
    bool firm;       // of a joint whose point is shut: no spring while the fit is a compromise
    bool chosen;     // takes part in the step
    bool leaving;    // of a degree of freedom that is let go of
    double softness; // of its own mobility, while it is leaving; else 0
    double error;
    int firstTerm, termCount;
} snwRigRow;

// The rows that a step is taken with, their terms one after the other, and what was made of them.
typedef struct snwRigKept
{
    snwRigRow* rows;
    snwRigTerm* terms;
    int count;
    int version;     // of the factor that the panels are swept with, if that and the rows are of one pose; else -1
    double softness; // that the factor in `active` is made with; -1: there is none
    double *matrix, *panels, *gram, *lambda, *right, *compliance, *active;
    bool *atLeast, *pushes;
} snwRigKept;

struct snwRigFitScratch
{
    snwArena arena;
    double* passes;       // of the sums
    double* gathered;     // as the pass gives them
    snwRigPlanes sums;    // s, and sum m w x (xb - ub)^T
    snwRigPlanes pose;    // of the pose
    snwRigPlanes forces;  // C, with linear parts
    snwRigPlanes reduced; // S^T C
    snwRigPlanes before;  // C as it was at the last Remember
    snwRigSystem* fit;    // what is free: one of these two
    snwRigSystem loose;   // every handle by itself
    snwRigSystem joined;  // chains in reduced coordinates, see rig_tree.h
    snwRigSystem all;     // everything: for the complement
    unsigned char* moves; // what is free now
    unsigned char* turns; // likewise
    unsigned char* roots; // what is free of the places that `joined` knows
    snwRigTree tree;      // of `joined`
    snwRigMotion right;   // C
    snwRigMotion step;    // how the handles move
    snwRigMotion force;   // of one row, or of what is given
    double* linear[3][3]; // planes: linear parts of a motion, or forces on them
    snwRigRow* rows;
    snwRigTerm* terms;
    int rowCount, termCount, rowId;
    bool rowsAlone;  // they are those of joints whose points are shut alone
    snwMat3* rowsOf; // the linear parts that such rows are of
    snwRigKept kept;
    snwRigPose *now, *tried; // of repairs; a motion of the handles
    snwRigPose* start;       // of the fit, with what is given
    snwRigPose* last;        // of the fit, without
    double* goals;           // by row: how far it may be open while the fit is a compromise
    bool strained;           // it is
    bool repairing;          // the step is done, and what it left open is closed: nothing is leaving then
    snwRigPose* answer;      // of the handles, as if poses were linear: how the flesh moves
    bool answers;            // it does
    float *changes, *maps;   // of the pass
    snwFlatScratch* flat;    // NULL: the model has no `flat`
};

// So that whoever reads the code, also a tool, sees that there is no third case.
static inline int snwRigFit_Dimension(const snwRigFit* model)
{
    return model->dimension == 2 ? 2 : 3;
}

static inline int snwRigFit_Turns(const snwRigFit* model, int handle)
{
    static const int turns[2][3] = {{1, 0, 4}, {3, 0, 9}};
    return turns[snwRigFit_Dimension(model) - 2][model->handles[handle].freedom];
}

static inline bool snwRigFit_IsSameLinear(const snwMat3* a, const snwMat3* b)
{
    bool same = true;
    for (int i = 0; i < 9; ++i)
        same = same && a->m[i / 3][i % 3] == b->m[i / 3][i % 3];
    return same;
}

static inline uint32_t snwRigFit_TurnBits(const snwRigFit* model)
{
    return snwRigFit_Dimension(model) == 2 ? snw_dofRotationZ : snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
}

static inline bool snwRigHold_Leaves(const snwRigHold* hold)
{
    return hold->leaving > 0 && hold->leaving < 1;
}

// It holds its handles together at a point.
static inline bool snwRigLink_IsMeeting(const snwRigLink* link)
{
    return !link->limited || (link->limits.type != snw_jointFree && !snwJointType_Slides(link->limits.type));
}

static inline bool snwRigFit_IsJoined(const snwRigFitScratch* scratch)
{
    return scratch->fit == &scratch->joined;
}

// Row a of dA / dq_c: dA = [e_c]x A for what turns, a single entry for affine handles.
static inline void snwRigFit_TurnRow(const snwRigFit* model, int handle, const snwMat3* A, int a, int c, double row[3])
{
    int d = snwRigFit_Dimension(model);
    row[0] = row[1] = row[2] = 0;
    if (model->handles[handle].freedom == snw_rigAffine)
    {
        row[c % d] = c / d == a ? 1 : 0;
        return;
    }
    int axis = d == 2 ? 2 : c, other = 3 - a - axis;
    if (a == axis)
        return;
    double sign = other == (a + 1) % 3 ? -1 : 1;
    for (int b = 0; b < d; ++b)
        row[b] = sign * A->m[other][b];
}

// ---------------------------------------------------------------------------------------------------------------------
// rig_fit_system.c

void snwRigSystem_Create(
    snwArena* arena, const snwRigFit* model, const snwRigMoments* moments, snwSimd simd, snwRigSystem* out);

// What is free, by handle, and the share of M's diagonal to add. Costs only where something changed.
void snwRigSystem_Set(
    const snwRigFit* model, snwRigSystem* system, const unsigned char* moves, const unsigned char* turns, double share);
void snwRigSystem_Factor(const snwRigFit* model, snwRigSystem* system, const snwRigPose* pose);

// Whether the factor is of this pose, as far as what is free goes.
bool snwRigSystem_IsOf(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose);

// forces -= M motion: both with linear parts in place of turns.
void snwRigFit_Subtract(
    const snwRigFit* model, const snwPassKernels* kernels, const snwRigPlanes* motion, const snwRigPlanes* forces);

// Forces on linear parts to forces on turns, those of the system.
void snwRigSystem_Contract(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose,
    double* const (*linear)[3], double* turns);

// motion.turns -= what elimination of its moves takes along. planes: for it to work in.
void snwRigSystem_Reduce(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose,
    const snwRigMotion* motion, double* const (*planes)[3]);

// Likewise for the terms of a row alone: turns -= what their moves take along.
void snwRigSystem_ReduceRow(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose,
    const snwRigTerm* terms, int termCount, double* const (*planes)[3], double* turns);

// moves = P0^-1 forces
void snwRigSystem_Moves(
    const snwRigFit* model, const snwRigSystem* system, double* const forces[3], double* const moves[3]);

// step's moves, from its turns and the forces on the moves.
void snwRigSystem_Return(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose,
    double* const forces[3], const snwRigMotion* step, double* const (*planes)[3]);

// ---------------------------------------------------------------------------------------------------------------------
// rig_fit_rows.c

// Rows of rules, parts of rotations and, if joined, links at this pose: of their points only where these are not shut
// by construction, and then, in place of those, of places that are given of others than roots. Limits that are far away
// are left out.
void snwRigFit_MakeRows(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigHold* hold, const snwRigPose* pose);

// What is open of them, of the size or in rad. Rows that nothing free can move do not count, nor do those of what is
// leaving. Bent: firm ones alone do.
double snwRigFit_Gap(const snwRigFit* model, const snwRigFitScratch* scratch);
double snwRigFit_Bent(const snwRigFit* model, const snwRigFitScratch* scratch);

// m, of the joints that are points.
double snwRigFit_WidestJoint(const snwRigFit* model, const snwRigPose* pose);

// Adds to the stiffness of turns (kg m^2, at least the second derivative) while rows pull as springs (kg).
void snwRigFit_Stiffen(const snwRigFit* model, snwRigFitScratch* scratch, double spring);

// Sets goals: what rows, made at another pose, are open by there, times share, or, of firm ones, less at most `most`;
// and counts the errors of rows from them.
typedef struct snwRigClosing
{
    double share, most;
} snwRigClosing;

void snwRigFit_SetGoals(snwRigFitScratch* scratch, snwRigClosing closing);
void snwRigFit_TakeGoals(snwRigFitScratch* scratch);

// From root to tail: limits, then joints, moving children that are free or, if `all`, any.
void snwRigFit_Shut(const snwRigFit* model, const snwRigHold* hold, bool all, snwRigPose* pose);

// ---------------------------------------------------------------------------------------------------------------------
// rig_fit_push.c

typedef struct snwRigPush
{
    double reach;    // how much of the rows' errors to close, 0..1; 0: limits keep the distance that they have to go
    double softness; // of a row's own mobility
    double spring;   // kg: joints and rules are springs; 0: firm
} snwRigPush;

// Puts a row's terms, times factor, on top of a motion: given turns have no place in it.
void snwRigSystem_AddRow(const snwRigFit* model, const snwRigSystem* system, const snwRigTerm* terms,
    const snwRigRow* row, double factor, const snwRigMotion* to);

// M step = right + G^T lambda, G step = targets: the turns of the step, from `right`, whose turns are reduced on the
// way and whose moves get the rows' forces.
void snwRigFit_SolveTurns(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose, const snwRigPush* push);

// A step that closes the rows of `scratch` with all matrices as they were in the step before. False: those do not fit
// to the rows, or to the softness.
bool snwRigFit_CloseAgain(const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose, double softness);

// ---------------------------------------------------------------------------------------------------------------------
// rig_flat.c

void snwRigFlat_Fill(snwRigFit* model);

// Whether rig and hold are such that these may be used, with what is free now.
bool snwRigFlat_Serves(const snwRigFit* model, const snwRigFitScratch* scratch, const snwRigHold* hold);

// The fit's step, no turn larger than `most`. Returns the largest before that.
double snwRigFlat_Step(const snwRigFit* model, snwRigFitScratch* scratch, double most, snwRigPose* pose);

// How the flesh answers: `answer`.
void snwRigFlat_Answer(const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose);
