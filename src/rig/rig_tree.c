// Chains as trees: roots, the order from root to tail, moments with a root's weight in place of its tree's, and the
// walks there and back between all handles and those unknowns. The idea is in rig_tree.h.

#include "rig/rig_tree.h"

#include "rig/rig_fit_parts.h"

#include <string.h>

static void Parts(snwVec3 v, double parts[3])
{
    parts[0] = v.x, parts[1] = v.y, parts[2] = v.z;
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

static double* Square(snwArena* arena, const snwRigFit* model)
{
    return snwArena_Alloc(arena, (size_t)model->handleCount * (size_t)model->stride, sizeof(double));
}

void snwRigMoments_Create(snwArena* arena, const snwRigFit* model, snwRigMoments* moments)
{
    moments->p0 = Square(arena, model);
    for (int b = 0; b < snwRigFit_Dimension(model); ++b)
    {
        moments->p1[b] = Square(arena, model);
        moments->p1Back[b] = Square(arena, model);
        for (int c = 0; c < snwRigFit_Dimension(model); ++c)
            moments->p2[b][c] = Square(arena, model);
    }
}

// Links come parents first, so each finds its chain's first handle known.
static void FindChains(const snwRigFit* model, int* chain)
{
    for (int k = 0; k < model->handleCount; ++k)
        chain[k] = k;
    for (int i = 0; i < model->linkCount; ++i)
        chain[model->links[i].child] = chain[model->links[i].parent];
}

void snwRigTree_Create(snwArena* arena, const snwRigFit* model, snwRigTree* tree)
{
    // Shape of the trees, then moments and the sums that they are made from.
    size_t handles = (size_t)model->handleCount;
    tree->chain = snwArena_Alloc(arena, handles, sizeof(int));
    tree->roots = snwArena_Alloc(arena, handles, sizeof(int));
    tree->wanted = snwArena_Alloc(arena, handles, sizeof(int));
    tree->order = snwArena_Alloc(arena, handles, sizeof(int));
    tree->parent = snwArena_Alloc(arena, handles, sizeof(int));
    tree->pivot = snwArena_Alloc(arena, handles, sizeof *tree->pivot);
    tree->gap = snwArena_Alloc(arena, handles, sizeof *tree->gap);

    snwRigMoments_Create(arena, model, &tree->moments);
    tree->sums0 = Square(arena, model);
    for (int b = 0; b < snwRigFit_Dimension(model); ++b)
    {
        tree->sums1[b] = Square(arena, model);
        tree->below[b] = snwArena_Alloc(arena, handles, sizeof(double));
    }

    if (!arena->failed)
        FindChains(model, tree->chain);
}

// ---------------------------------------------------------------------------------------------------------------------
// Roots

static int CountPlaces(uint32_t given)
{
    return ((given & snw_dofX) != 0) + ((given & snw_dofY) != 0) + ((given & snw_dofZ) != 0);
}

bool snwRigTree_Choose(const snwRigFit* model, snwRigTree* tree, const snwRigTarget* targets)
{
    bool changes = !tree->made;
    for (int k = 0; k < model->handleCount; ++k)
        tree->wanted[k] = k;
    for (int k = 0; k < model->handleCount; ++k)
    {
        int* wanted = &tree->wanted[tree->chain[k]];
        if (CountPlaces(targets[k].given) > CountPlaces(targets[*wanted].given))
            *wanted = k;
    }
    for (int k = 0; k < model->handleCount; ++k)
        changes = changes || (tree->chain[k] == k && tree->roots[k] != tree->wanted[k]);
    return changes;
}

// The other end of a link, -1: it does not hang on it.
static int OtherEnd(const snwRigLink* link, int handle)
{
    return link->parent == handle ? link->child : link->child == handle ? link->parent : -1;
}

static void PutOrder(const snwRigFit* model, snwRigTree* tree)
{
    int count = 0;

    // Each chain begins with the root that was chosen for it.
    for (int k = 0; k < model->handleCount; ++k)
    {
        tree->parent[k] = -1;
        if (tree->wanted[tree->chain[k]] != k)
            continue;
        tree->order[count++] = k;
        tree->pivot[k] = model->handles[k].origin;
    }

    // Breadth first over links: every handle hangs on the one that found it, at their joint.
    for (int at = 0; at < count; ++at)
        for (int i = 0; i < model->linkCount; ++i)
        {
            int k = tree->order[at], other = OtherEnd(&model->links[i], k);
            if (other < 0 || other == tree->parent[k])
                continue;
            tree->order[count++] = other;
            tree->parent[other] = k;
            tree->pivot[other] = model->links[i].joint;
        }
}

// ---------------------------------------------------------------------------------------------------------------------
// Moments

// From a handle's origin to its joint.
static snwVec3 OwnArm(const snwRigFit* model, const snwRigTree* tree, int handle)
{
    return snwVec3_Sub(tree->pivot[handle], model->handles[handle].origin);
}

// From the joint of the parent to that of the handle.
static void Offset(const snwRigTree* tree, int handle, double offset[3])
{
    Parts(snwVec3_Sub(tree->pivot[handle], tree->pivot[tree->parent[handle]]), offset);
}

// p2 about the pivots, and in `sums` p0, and p1 about the pivot of the first.
static void PutLocal(const snwRigFit* model, snwRigTree* tree, int k, int l)
{
    const snwRigMoments* from = &model->moments;
    int d = snwRigFit_Dimension(model), at = k * model->stride + l;
    double own[3], other[3];
    Parts(OwnArm(model, tree, k), own);
    Parts(OwnArm(model, tree, l), other);
    tree->sums0[at] = from->p0[at];
    for (int b = 0; b < d; ++b)
    {
        tree->sums1[b][at] = from->p1[b][at] - own[b] * from->p0[at];
        for (int c = 0; c < d; ++c)
            tree->moments.p2[b][c][at] = from->p2[b][c][at] - own[b] * from->p1Back[c][at] -
                                         tree->sums1[b][at] * other[c];
    }
}

static void AddColumn(const snwRigFit* model, double* square, int from, int to)
{
    for (int k = 0; k < model->handleCount; ++k)
        square[k * model->stride + to] += square[k * model->stride + from];
}

static void AddSquareRow(const snwRigFit* model, double* square, int from, int to)
{
    for (int k = 0; k < model->handleCount; ++k)
        square[to * model->stride + k] += square[from * model->stride + k];
}

// Over all that hangs on the second handle; p0 on both.
static void SumBelow(const snwRigFit* model, const snwRigTree* tree)
{
    for (int i = model->handleCount - 1; i >= 0; --i)
    {
        int k = tree->order[i], parent = tree->parent[k];
        if (parent < 0)
            continue;
        AddColumn(model, tree->sums0, k, parent);
        for (int b = 0; b < snwRigFit_Dimension(model); ++b)
            AddColumn(model, tree->sums1[b], k, parent);
    }
    for (int i = model->handleCount - 1; i >= 0; --i)
        if (tree->parent[tree->order[i]] >= 0)
            AddSquareRow(model, tree->sums0, tree->order[i], tree->parent[tree->order[i]]);
}

// What hangs on the parent of l by way of l, against what k has of its own; and the other way round.
static void AddOwn(const snwRigFit* model, const snwRigTree* tree, int k, int l)
{
    int d = snwRigFit_Dimension(model), stride = model->stride, parent = tree->parent[l];
    double offset[3];
    Offset(tree, l, offset);
    for (int b = 0; b < d; ++b)
        for (int c = 0; c < d; ++c)
        {
            double moment = tree->sums1[b][k * stride + l] * offset[c];
            tree->moments.p2[b][c][k * stride + parent] += moment;
            tree->moments.p2[c][b][parent * stride + k] += moment;
        }
}

// What hangs on the parents of k and l by way of these.
static void AddHanging(const snwRigFit* model, const snwRigTree* tree, int k, int l)
{
    int d = snwRigFit_Dimension(model), at = tree->parent[k] * model->stride + tree->parent[l];
    double mass = tree->sums0[k * model->stride + l], own[3], other[3];
    Offset(tree, k, own);
    Offset(tree, l, other);
    for (int b = 0; b < d; ++b)
        for (int c = 0; c < d; ++c)
            tree->moments.p2[b][c][at] += own[b] * mass * other[c];
}

// Moments with the weights of roots.
static void PutRootMoments(const snwRigFit* model, const snwRigTree* tree, int root)
{
    const snwRigMoments* to = &tree->moments;
    int stride = model->stride;

    // A root moves all that hangs on it: sums over the tree take the place of the handle's own.
    for (int k = 0; k < model->handleCount; ++k)
    {
        if (tree->parent[k] < 0)
            to->p0[k * stride + root] = tree->sums0[k * stride + root];
        for (int b = 0; b < snwRigFit_Dimension(model); ++b)
            to->p1[b][k * stride + root] += tree->sums1[b][k * stride + root];
        if (tree->parent[k] < 0)
            continue;
        double offset[3];
        Offset(tree, k, offset);
        for (int b = 0; b < snwRigFit_Dimension(model); ++b)
            to->p1[b][tree->parent[k] * stride + root] += offset[b] * tree->sums0[k * stride + root];
    }

    // The same moments with rows and columns exchanged.
    for (int k = 0; k < model->handleCount; ++k)
        for (int b = 0; b < snwRigFit_Dimension(model); ++b)
            to->p1Back[b][root * stride + k] = to->p1[b][k * stride + root];
}

static void ClearMoments(const snwRigFit* model, const snwRigMoments* moments)
{
    size_t bytes = (size_t)model->handleCount * (size_t)model->stride * sizeof(double);
    memset(moments->p0, 0, bytes);
    for (int b = 0; b < snwRigFit_Dimension(model); ++b)
    {
        memset(moments->p1[b], 0, bytes);
        memset(moments->p1Back[b], 0, bytes);
    }
}

void snwRigTree_Plant(const snwRigFit* model, snwRigTree* tree)
{
    memcpy(tree->roots, tree->wanted, (size_t)model->handleCount * sizeof *tree->roots);
    PutOrder(model, tree);
    ClearMoments(model, &tree->moments);

    // Each handle by itself, sums from tail to root, then what hangs on it by way of its joints.
    for (int k = 0; k < model->handleCount; ++k)
        for (int l = 0; l < model->handleCount; ++l)
            PutLocal(model, tree, k, l);
    SumBelow(model, tree);

    for (int l = 0; l < model->handleCount; ++l)
    {
        for (int k = 0; k < model->handleCount && tree->parent[l] >= 0; ++k)
        {
            AddOwn(model, tree, k, l);
            if (tree->parent[k] >= 0)
                AddHanging(model, tree, k, l);
        }

        if (tree->parent[l] < 0)
            PutRootMoments(model, tree, l);
    }

    tree->made = true;
}

// ---------------------------------------------------------------------------------------------------------------------
// There and back

void snwRigTree_Reduce(
    const snwRigFit* model, const snwRigTree* tree, const snwRigPlanes* forces, const snwRigPlanes* reduced)
{
    int d = snwRigFit_Dimension(model);

    // Forces on roots and linear parts begin as the handles' own.
    for (int a = 0; a < d; ++a)
    {
        memcpy(tree->below[a], forces->moves[a], (size_t)model->handleCount * sizeof(double));
        memset(reduced->moves[a], 0, (size_t)model->stride * sizeof(double));
        for (int b = 0; b < d; ++b)
            memcpy(reduced->linear[a][b], forces->linear[a][b], (size_t)model->stride * sizeof(double));
    }

    // From tail to root: a handle's force acts on its own linear part by its arm, and on its parent's by the offset
    // of joints.
    for (int i = model->handleCount - 1; i >= 0; --i)
    {
        int k = tree->order[i], parent = tree->parent[k];
        double arm[3], offset[3];
        Parts(OwnArm(model, tree, k), arm);
        if (parent >= 0)
            Offset(tree, k, offset);

        for (int a = 0; a < d; ++a)
        {
            for (int b = 0; b < d; ++b)
                reduced->linear[a][b][k] -= arm[b] * forces->moves[a][k];
            if (parent < 0)
                reduced->moves[a][k] = tree->below[a][k];
            for (int b = 0; b < d && parent >= 0; ++b)
                reduced->linear[a][b][parent] += offset[b] * tree->below[a][k];
            if (parent >= 0)
                tree->below[a][parent] += tree->below[a][k];
        }
    }
}

snwVec3 snwRigTree_Arm(const snwRigFit* model, const snwRigTree* tree, int handle, int below)
{
    return snwVec3_Sub(below < 0 ? model->handles[handle].origin : tree->pivot[below], tree->pivot[handle]);
}

void snwRigTree_Expand(
    const snwRigFit* model, const snwRigTree* tree, double* const (*linear)[3], double* const moves[3])
{
    int d = snwRigFit_Dimension(model);

    // From root to tail: the joint is where the parent takes it.
    for (int i = 0; i < model->handleCount; ++i)
    {
        int k = tree->order[i], parent = tree->parent[k];
        if (parent < 0)
            continue;
        double there[3], own[3];
        Parts(snwVec3_Sub(tree->pivot[k], model->handles[parent].origin), there);
        Parts(OwnArm(model, tree, k), own);

        for (int a = 0; a < d; ++a)
        {
            double move = moves[a][parent];
            for (int b = 0; b < d; ++b)
                move += linear[a][b][parent] * there[b] - linear[a][b][k] * own[b];
            moves[a][k] = move;
        }
    }
}

// Where the parent has the joint.
static snwVec3 PlaceOfParentJoint(const snwRigFit* model, const snwRigTree* tree, int handle, const snwRigPose* pose)
{
    int parent = tree->parent[handle];
    snwVec3 arm = snwVec3_Sub(tree->pivot[handle], model->handles[parent].origin);
    return snwVec3_Add(pose[parent].place, snwMat3_MulVec(pose[parent].linear, arm));
}

void snwRigTree_Place(const snwRigFit* model, const snwRigTree* tree, snwRigPose* pose)
{
    for (int i = 0; i < model->handleCount; ++i)
    {
        int k = tree->order[i], parent = tree->parent[k];
        if (parent < 0)
            continue;
        snwVec3 own = OwnArm(model, tree, k);
        snwVec3 joint = snwVec3_Add(PlaceOfParentJoint(model, tree, k, pose), tree->gap[k]);
        double z = pose[k].place.z;
        pose[k].place = snwVec3_Sub(joint, snwMat3_MulVec(pose[k].linear, own));
        pose[k].place.z = snwRigFit_Dimension(model) == 3 ? pose[k].place.z : z;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Gaps

void snwRigTree_TakeGaps(const snwRigFit* model, snwRigTree* tree, const snwRigPose* pose)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        tree->gap[k] = (snwVec3){0, 0, 0};
        if (tree->parent[k] < 0)
            continue;
        snwVec3 own = OwnArm(model, tree, k);
        snwVec3 point = snwVec3_Add(pose[k].place, snwMat3_MulVec(pose[k].linear, own));
        tree->gap[k] = snwVec3_Sub(point, PlaceOfParentJoint(model, tree, k, pose));
        tree->gap[k].z = snwRigFit_Dimension(model) == 3 ? tree->gap[k].z : 0;
    }
}

// All in the same proportion: they have opened together.
void snwRigTree_CloseGaps(const snwRigFit* model, snwRigTree* tree, double most)
{
    double widest = 0;
    for (int k = 0; k < model->handleCount; ++k)
        widest = fmax(widest, snwVec3_Length(tree->gap[k]) / model->size);
    double left = widest > 0 ? 1 - snwRigTree_Closes(widest, most) / widest : 0;
    for (int k = 0; k < model->handleCount; ++k)
        tree->gap[k] = snwVec3_Scale(tree->gap[k], left);
}
