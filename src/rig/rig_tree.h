// Chains in as few unknowns as they have.
//
// A handle c that hangs on a handle p at a joint (j in the rest pose) has its place from it:
//     u_c = u_p + A_p (j - ub_p) - A_c (j - ub_c)
// From a root on, all places of a tree follow from the root's and from the linear parts A, which stay as they are.
// Blending is then linear in these:
//     xr_i = sum over trees W_ir u_r + sum over handles A_k c_ik,
//     W_ir = sum of w_il over the tree,
//     c_ik = w_ik (xb_i - j_k) + sum over what hangs on k, w_il (j_c - j_k), c being the child of k towards l
// with j_k the joint by which k hangs on its parent; for a root, its origin. So M keeps the form that rig_fit.h has for
// handles that hang on nothing: moments of c in place of those of the arms, which are as constant, and moves of roots
// alone. A fit with joints costs what one without any costs, and joints are shut by construction, to the last bits.
//
// A place can be given only of a root: so a tree is rooted at the handle that most is given of. Moments are made anew
// when that changes. Places that are given of other handles, or that rules name, are rows, with a term for each handle
// between there and the root.
//
// Forces and motions go from one description to the other in one walk over the tree (S: motions of roots and linear
// parts to motions of all handles; S^T: forces back).
//
// Joints that are open. Where what is given contradicts itself, joints have to open: then they are rows of single
// handles, and springs (rig_fit_rows.c). When somebody has let go, an open joint is a joint with a gap,
//     u_c = u_p + A_p (j - ub_p) - A_c (j - ub_c) + g_c,
// as firm as others: nothing else changes. So letting go changes nothing at once. A fit begins with the gaps that it
// finds in the pose, goes on to open them as they opened, ever slower, then closes them: at a speed that changes as
// slowly as that of what is thrown. (Springs that close throw the flesh. Gaps in place of springs while the
// contradiction lasts were tried, too: a chain that is stretched straight has no way to go along itself, rows that ask
// for it are all but singular, and the rig flutters.)

#pragma once

#include "base/arena.h"
#include "rig/rig_fit.h"

#include <math.h>
#include <stdbool.h>

enum
{
    snw_mostTreeRows = 24 // of places that are given of others than roots; with more of them, handles are cheaper
};

#define snw_rigGathering 1e-5 // of the size, or rad: how much more than in the fit before what is open closes by

// What of a gap, both of the size or in rad, closes in a fit; less than 0: it opens. What is thrown comes to its
// highest place as slowly as it leaves it: the last of the way is as slow as the first.
static inline double snwRigTree_Closes(double gap, double most)
{
    return gap > 2 * snw_rigGathering ? fmin(most, sqrt(2 * snw_rigGathering * gap)) : gap;
}

typedef struct snwRigPlanes snwRigPlanes; // rig_fit_parts.h

// Constant moments of all pairs (l, k), [l * stride + k]
typedef struct snwRigMoments
{
    double* p0;
    double* p1[3];     // b: arms of l
    double* p1Back[3]; // b: arms of k
    double* p2[3][3];  // b of l, b of k
} snwRigMoments;

typedef struct snwRigTree
{
    int* chain;                          // by handle: the first one of those that hang together
    int* roots;                          // by handle that is the first one: the root
    int* wanted;                         // likewise: what it shall be
    int* order;                          // all handles, parents first
    int* parent;                         // by handle; -1: a root
    snwVec3* pivot;                      // by handle: j, m, in the rest pose
    bool made;                           // all of this, and
    snwRigMoments moments;               // of c and W
    snwVec3* gap;                        // by handle: g, m, in the axes of the world
    double *sums0, *sums1[3], *below[3]; // for making them; and forces of all that hangs on a handle
} snwRigTree;

void snwRigMoments_Create(snwArena* arena, const snwRigFit* model, snwRigMoments* moments);

void snwRigTree_Create(snwArena* arena, const snwRigFit* model, snwRigTree* tree);

// Chooses roots for what is given. True: not those that there are, so that Plant has to follow.
bool snwRigTree_Choose(const snwRigFit* model, snwRigTree* tree, const snwRigTarget* targets);

// Roots the trees where Choose wants it, and makes their moments.
void snwRigTree_Plant(const snwRigFit* model, snwRigTree* tree);

// reduced = S^T forces.
void snwRigTree_Reduce(
    const snwRigFit* model, const snwRigTree* tree, const snwRigPlanes* forces, const snwRigPlanes* reduced);

// Moves of all handles, from those of roots and from the linear parts of a motion.
void snwRigTree_Expand(
    const snwRigFit* model, const snwRigTree* tree, double* const (*linear)[3], double* const moves[3]);

// The gaps of a pose; and gaps a fit later, the widest closed by at most `most` of the size.
void snwRigTree_TakeGaps(const snwRigFit* model, snwRigTree* tree, const snwRigPose* pose);
void snwRigTree_CloseGaps(const snwRigFit* model, snwRigTree* tree, double most);

// Places of all handles, from those of roots, with the gaps that there are.
void snwRigTree_Place(const snwRigFit* model, const snwRigTree* tree, snwRigPose* pose);

// What the linear part of a handle adds to a place: A arm. below: the child towards that place; -1: the place is its
// own.
snwVec3 snwRigTree_Arm(const snwRigFit* model, const snwRigTree* tree, int handle, int below);
