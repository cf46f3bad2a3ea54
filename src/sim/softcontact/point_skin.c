// Skins of points (point_skin.h): anchors on links, who is awake, G of the awake points, what they give to and take
// from the matrix of the links, and the way along arcs at the end of a step.

#include "sim/softcontact/point_skin.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Making

static snwResult CheckPointSkinDef(const snwBodyTree* tree, const snwPointSkinDef* def, snwMessage* message)
{
    for (int i = 0; i < def->pointCount; ++i)
    {
        const snwPointAnchor* anchor = &def->anchors[i];
        if (!(def->masses[i] > 0) || !(def->stiffness[i] >= 0) || !(def->damping[i] >= 0))
            return snwFail(message, snw_errorArgument, "give it a mass, and a stiffness and damping >= 0",
                "point %d of the skin has %g kg, %g N/m and %g N s/m", i, def->masses[i], def->stiffness[i],
                def->damping[i]);

        // Shares must add up, or forces would get lost.
        bool sound = anchor->count >= 1 && anchor->count <= snw_maxAnchorLinks;
        double sum = 0;
        for (int b = 0; sound && b < anchor->count; ++b)
        {
            sound = anchor->links[b] >= 0 && anchor->links[b] < tree->linkCount;
            sum += anchor->weights[b];
        }

        if (!sound || !(fabs(sum - 1) < 1e-9))
            return snwFail(message, snw_errorArgument, "give it one to four links and weights that add up to 1",
                "point %d of the skin has no sound anchor", i);
    }

    // Edges join two points, and triangles have corners that exist.
    for (int e = 0; e < def->edgeCount; ++e)
    {
        int a = def->edges[e][0], b = def->edges[e][1];
        if (a < 0 || b < 0 || a >= def->pointCount || b >= def->pointCount || a == b || !(def->edgeStiffness[e] >= 0))
            return snwFail(message, snw_errorArgument, NULL,
                "edge %d of the skin is between points %d and %d with %g N/m", e, a, b, def->edgeStiffness[e]);
    }

    for (int t = 0; t < def->triangleCount; ++t)
        for (int c = 0; c < 3; ++c)
            if (def->triangles[t][c] < 0 || def->triangles[t][c] >= def->pointCount)
                return snwFail(message, snw_errorArgument, NULL, "triangle %d of the skin has no point %d", t,
                    def->triangles[t][c]);

    return snw_ok;
}

static bool AllocatePointSkin(snwPointSkin* s, const snwBodyTree* tree, int edgeCount)
{
    snwContext* context = s->context;
    size_t n = (size_t)s->count, links = (size_t)tree->linkCount, edges = 2 * (size_t)edgeCount;
    size_t square = (size_t)s->capacity * (size_t)s->capacity;

    // All arrays and their sizes, by points, edges, links, and places of awake points.
    struct
    {
        void** at;
        size_t count, size;
    } wanted[] = {
        {(void**)&s->links, links, sizeof *s->links},
        {(void**)&s->rest, n, sizeof *s->rest},
        {(void**)&s->single, n, sizeof *s->single},
        {(void**)&s->masses, n, sizeof *s->masses},
        {(void**)&s->stiffness, n, sizeof *s->stiffness},
        {(void**)&s->damping, n, sizeof *s->damping},
        {(void**)&s->neighbours, edges, sizeof *s->neighbours},
        {(void**)&s->neighbourFirst, n + 2, sizeof *s->neighbourFirst},
        {(void**)&s->neighbourStiffness, edges, sizeof *s->neighbourStiffness},
        {(void**)&s->x, n, sizeof *s->x},
        {(void**)&s->v, n, sizeof *s->v},
        {(void**)&s->frozen, n, sizeof *s->frozen},
        {(void**)&s->awake, n, sizeof *s->awake},
        {(void**)&s->wake, n, sizeof *s->wake},
        {(void**)&s->sleep, n, sizeof *s->sleep},
        {(void**)&s->kicks, n, sizeof *s->kicks},
        {(void**)&s->active, n, sizeof *s->active},
        {(void**)&s->placeOf, n, sizeof *s->placeOf},
        {(void**)&s->moved, n, sizeof *s->moved},
        {(void**)&s->inverse, square, sizeof *s->inverse},
        {(void**)&s->matrix, square, sizeof *s->matrix},
        {(void**)&s->factor, snwDense_Count(s->capacity), sizeof *s->factor},
        {(void**)&s->panels, snwDense_PanelCount(s->capacity, s->capacity), sizeof *s->panels},
        {(void**)&s->offsets, n, sizeof *s->offsets},
        {(void**)&s->c, n, sizeof *s->c},
        {(void**)&s->still, n, sizeof *s->still},
        {(void**)&s->given, n, sizeof *s->given},
        {(void**)&s->before, links, sizeof *s->before},
        {(void**)&s->axesBefore, links, sizeof *s->axesBefore},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i)
        if ((*wanted[i].at = snwAllocArray(context, wanted[i].count, wanted[i].size)) == NULL)
            return false;

    return true;
}

// Which links there are, and what each of them has of every point.
static bool PutAnchors(snwPointSkin* s, const snwBodyTree* tree, const snwPointSkinDef* def)
{
    for (int link = 0; link < tree->linkCount; ++link)
    {
        bool used = false;
        for (int i = 0; i < s->count && !used; ++i)
            for (int b = 0; b < def->anchors[i].count; ++b)
                used = used || (def->anchors[i].links[b] == link && def->anchors[i].weights[b] != 0);
        if (used)
            s->links[s->linkCount++] = link;
    }

    // Shares in full: a number for each point and link.
    size_t pairs = (size_t)s->count * (size_t)s->linkCount;
    s->shares = snwAllocArray(s->context, pairs, sizeof *s->shares);
    s->alpha = snwAllocArray(s->context, pairs, sizeof *s->alpha);
    s->beta = snwAllocArray(s->context, pairs, sizeof *s->beta);
    if (s->shares == NULL || s->alpha == NULL || s->beta == NULL)
        return false;

    // A point that hangs on one link alone can fall asleep as a part of it.
    for (int i = 0; i < s->count; ++i)
    {
        int carriers = 0, place = -1;
        for (int k = 0; k < s->linkCount; ++k)
        {
            double* share = &s->shares[i * s->linkCount + k];
            for (int b = 0; b < def->anchors[i].count; ++b)
                *share += def->anchors[i].links[b] == s->links[k] ? def->anchors[i].weights[b] : 0;
            if (*share != 0)
                ++carriers, place = k;
        }
        s->single[i] = carriers == 1 ? place : -1;
    }

    return true;
}

static void PutNeighbours(snwPointSkin* s, const snwPointSkinDef* def)
{
    int* first = s->neighbourFirst + 1; // one further while it is filled
    for (int e = 0; e < def->edgeCount; ++e)
        for (int side = 0; side < 2; ++side)
            ++first[def->edges[e][side] + 1 < s->count ? def->edges[e][side] + 1 : s->count];
    for (int i = 0; i < s->count; ++i)
        first[i + 1] += i > 0 ? first[i] : 0;
    for (int e = 0; e < def->edgeCount; ++e)
        for (int side = 0; side < 2; ++side)
        {
            int at = first[def->edges[e][side]]++;
            s->neighbours[at] = def->edges[e][1 - side];
            s->neighbourStiffness[at] = def->edgeStiffness[e];
        }
}

snwResult snwPointSkin_Create(
    snwContext* context, const snwBodyTree* tree, const snwPointSkinDef* def, snwPointSkin* skin, snwMessage* message)
{
    *skin = (snwPointSkin){.context = context, .count = def->pointCount, .firmness = 1};
    skin->capacity = def->capacity > 0 && def->capacity < def->pointCount ? def->capacity : def->pointCount;
    snwResult result = CheckPointSkinDef(tree, def, message);
    if (result != snw_ok)
        return result;

    // Triangles are only for whoever looks for touches; forces go by edges.
    skin->triangleCount = def->triangleCount;
    skin->triangles = snwCopyArray(context, def->triangles, (size_t)def->triangleCount, sizeof *def->triangles);
    if (skin->triangles == NULL || !AllocatePointSkin(skin, tree, def->edgeCount) || !PutAnchors(skin, tree, def))
    {
        snwPointSkin_Free(skin);
        return snwFailMemory(message);
    }

    PutNeighbours(skin, def);

    for (int i = 0; i < skin->count; ++i)
    {
        skin->rest[i] = def->points[i];
        skin->masses[i] = def->masses[i], skin->stiffness[i] = def->stiffness[i], skin->damping[i] = def->damping[i];
    }

    snwPointSkin_List(skin);
    return snw_ok;
}

void snwPointSkin_Free(snwPointSkin* s)
{
    void* all[] = {s->links, s->rest, s->shares, s->single, s->masses, s->stiffness, s->damping, s->neighbours,
        s->neighbourFirst, s->neighbourStiffness, s->triangles, s->x, s->v, s->frozen, s->awake, s->wake, s->sleep,
        s->kicks, s->active, s->placeOf, s->moved, s->inverse, s->matrix, s->factor, s->panels, s->alpha, s->beta,
        s->offsets, s->c, s->still, s->given, s->before, s->axesBefore};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        snwFree(s->context, all[i]);
    *s = (snwPointSkin){.context = s->context};
}

// ---------------------------------------------------------------------------------------------------------------------
// Places

// Where a point of the rest pose is if this link carries it.
static snwVec3 Carried(const snwBodyTree* tree, int link, snwVec3 rest)
{
    snwVec3 arm = snwVec3_Sub(rest, tree->links[link].joint.position);
    return snwVec3_Add(tree->points[link], snwMat3_MulVec(tree->axes[link], arm));
}

static snwVec3 Anchor(const snwPointSkin* s, const snwBodyTree* tree, int i)
{
    snwVec3 anchor = {0, 0, 0};
    for (int k = 0; k < s->linkCount; ++k)
    {
        double w = s->shares[i * s->linkCount + k];
        if (w != 0)
            anchor = snwVec3_MulAdd(anchor, w, Carried(tree, s->links[k], s->rest[i]));
    }
    return anchor;
}

void snwPointSkin_Place(snwPointSkin* s, const snwBodyTree* tree)
{
    for (int i = 0; i < s->count; ++i)
    {
        // Asleep on one link, it is where that has it.
        snwVec3 anchor = Anchor(s, tree, i);
        if (!s->awake[i] && s->single[i] >= 0)
            s->x[i] = snwVec3_Add(anchor, snwMat3_MulVec(tree->axes[s->links[s->single[i]]], s->frozen[i]));
        s->offsets[i] = snwVec3_Sub(s->x[i], anchor);

        // alpha: its share of a link's motion, and the arm times that.
        for (int k = 0; k < s->linkCount; ++k)
        {
            double w = s->shares[i * s->linkCount + k];
            snwPointShare* alpha = &s->alpha[i * s->linkCount + k];
            *alpha = (snwPointShare){0, {0, 0, 0}};
            if (w == 0)
                continue;
            snwVec3 y = snwVec3_Add(Carried(tree, s->links[k], s->rest[i]), s->offsets[i]);
            *alpha = (snwPointShare){w, snwVec3_Scale(snwVec3_Sub(y, tree->origin), w)};
        }
    }
}

int snwPointSkin_MainLink(const snwPointSkin* s, int point)
{
    const double* shares = &s->shares[point * s->linkCount];
    int main = 0;
    for (int k = 1; k < s->linkCount; ++k)
        main = shares[k] > shares[main] ? k : main;
    return s->links[main];
}

// What links that are twisted give by such coefficients.
static snwVec3 VelocityBy(const snwPointSkin* s, const snwBodyTree* tree, const snwPointShare* shares)
{
    snwVec3 v = {0, 0, 0};
    for (int k = 0; k < s->linkCount; ++k)
    {
        snwSpatial twist = tree->twists[s->links[k]];
        v = snwVec3_MulAdd(v, shares[k].share, twist.shift);
        v = snwVec3_Add(v, snwVec3_Cross(twist.turn, shares[k].arm));
    }
    return v;
}

static const snwPointShare* AlphaOf(const snwPointSkin* s, int point)
{
    return &s->alpha[point * s->linkCount];
}

snwVec3 snwPointSkin_Carried(const snwPointSkin* s, const snwBodyTree* tree, int point)
{
    return VelocityBy(s, tree, AlphaOf(s, point));
}

void snwPointSkin_Reset(snwPointSkin* s, const snwBodyTree* tree)
{
    for (int i = 0; i < s->count; ++i)
    {
        s->x[i] = Anchor(s, tree, i);
        s->v[i] = s->frozen[i] = s->kicks[i] = (snwVec3){0, 0, 0};
        s->awake[i] = 0;
    }
    snwPointSkin_List(s);
    snwPointSkin_Place(s, tree);
}

// ---------------------------------------------------------------------------------------------------------------------
// Awake and asleep

// G stays while the same points are awake.
void snwPointSkin_List(snwPointSkin* s)
{
    bool same = s->listed;
    for (int i = 0; i < s->count && same; ++i)
        same = (s->placeOf[i] >= 0) == (s->awake[i] != 0);
    if (same)
        return;
    s->listed = true;
    s->activeCount = s->movedCount = 0;
    s->inverseH = 0;
    for (int i = 0; i < s->count; ++i)
    {
        s->placeOf[i] = s->awake[i] ? s->activeCount : -1;
        if (s->awake[i])
            s->active[s->activeCount++] = i;
        else if (s->single[i] < 0)
            s->moved[s->movedCount++] = i;
    }
}

void snwPointSkin_AddSleeping(const snwPointSkin* s, const snwBodyTree* tree, snwLinkMass* masses)
{
    for (int i = 0; i < s->count; ++i)
    {
        if (s->awake[i] || s->single[i] < 0)
            continue;
        int link = s->links[s->single[i]];
        snwVec3 arm = snwVec3_Sub(s->rest[i], tree->links[link].joint.position);
        snwLinkMass_AddPoint(&masses[link], s->masses[i], snwVec3_Add(arm, s->frozen[i]));
    }
}

bool snwPointSkin_Wake(snwPointSkin* s, const snwBodyTree* tree, const unsigned char* marks)
{
    bool any = false;
    int room = s->capacity - s->activeCount;
    for (int i = 0; i < s->count; ++i)
    {
        if (!marks[i] || s->awake[i] || room-- <= 0)
            continue;
        s->v[i] = VelocityBy(s, tree, AlphaOf(s, i));
        s->awake[i] = 1;
        any = true;
    }
    if (any)
        snwPointSkin_List(s);
    return any;
}

void snwPointSkin_PassMomentum(
    const snwPointSkin* s, const snwBodyTree* tree, const unsigned char* marks, double* momentum)
{
    for (int i = 0; i < s->count; ++i)
        if (marks[i] && s->awake[i])
            snwPointSkin_AddRow(s, tree, AlphaOf(s, i), snwVec3_Scale(s->v[i], s->masses[i]), momentum);
}

bool snwPointSkin_Sleep(snwPointSkin* s, const snwBodyTree* tree, const unsigned char* marks)
{
    bool any = false;
    for (int i = 0; i < s->count; ++i)
    {
        if (!marks[i] || !s->awake[i])
            continue;
        s->awake[i] = 0;
        s->v[i] = (snwVec3){0, 0, 0};

        // Where it is when it falls asleep is where it stays, in its link's axes.
        if (s->single[i] >= 0)
        {
            snwMat3 axes = tree->axes[s->links[s->single[i]]];
            s->frozen[i] = snwMat3_MulVec(snwMat3_Transpose(axes), s->offsets[i]);
        }

        any = true;
    }

    if (any)
        snwPointSkin_List(s);
    return any;
}

void snwPointSkin_SpreadMarks(const snwPointSkin* s, int rings, unsigned char* marks)
{
    for (int ring = 1; ring <= rings; ++ring)
    {
        for (int i = 0; i < s->count; ++i)
            for (int k = s->neighbourFirst[i]; marks[i] == 0 && k < s->neighbourFirst[i + 1]; ++k)
                if (marks[s->neighbours[k]] == 1)
                    marks[i] = 2; // counts from the next ring on
        for (int i = 0; i < s->count; ++i)
            marks[i] = marks[i] != 0;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The system

// row[freedom] += J^T of an impulse.
void snwPointSkin_AddRow(
    const snwPointSkin* s, const snwBodyTree* tree, const snwPointShare* shares, snwVec3 impulse, double* row)
{
    for (int k = 0; k < s->linkCount; ++k)
    {
        if (shares[k].share == 0 && snwVec3_LengthSquared(shares[k].arm) == 0)
            continue;
        snwSpatial load = {snwVec3_Cross(shares[k].arm, impulse), snwVec3_Scale(impulse, shares[k].share)};
        snwBodyTree_AddLoad(tree, s->links[k], load, row);
    }
}

// Sums of m times products of the coefficients of two links.
typedef struct Moments
{
    double whole;
    snwVec3 left, right; // of the first link's arms, of the second's
    snwMat3 both;
} Moments;

static void AddMoments(Moments* sum, double m, snwPointShare a, snwPointShare b)
{
    sum->whole += m * a.share * b.share;
    sum->left = snwVec3_MulAdd(sum->left, m * b.share, a.arm);
    sum->right = snwVec3_MulAdd(sum->right, m * a.share, b.arm);
    sum->both = snwMat3_Add(sum->both, snwMat3_Outer(snwVec3_Scale(a.arm, m), b.arm));
}

// What the first link feels when the second moves.
static snwSpatial LoadBy(const Moments* sum, snwSpatial motion)
{
    snwVec3 across = snwMat3_MulVec(snwMat3_Transpose(sum->both), motion.turn);
    snwVec3 torque = snwVec3_Sub(snwVec3_Scale(motion.turn, snwMat3_Trace(sum->both)), across);
    return (snwSpatial){snwVec3_Add(torque, snwVec3_Cross(sum->left, motion.shift)),
        snwVec3_MulAdd(snwVec3_Cross(motion.turn, sum->right), sum->whole, motion.shift)};
}

// matrix += T_a^T (moments) T_b, T being how velocities move a link.
static void AddMomentsBlock(const snwBodyTree* tree, int a, int b, const Moments* sum, double* matrix)
{
    int n = tree->freedom;
    for (int j = b; j >= 0; j = tree->links[j].joint.parentBone)
        for (int k = tree->first[j]; k < tree->first[j + 1]; ++k)
        {
            snwSpatial load = LoadBy(sum, tree->columns[k]);
            for (int i = a; i >= 0; i = tree->links[i].joint.parentBone)
                for (int l = tree->first[i]; l < tree->first[i + 1]; ++l)
                    matrix[l * n + k] += snwSpatial_Dot(tree->columns[l], load);
        }
}

void snwPointSkin_AddMoved(const snwPointSkin* s, const snwBodyTree* tree, double* matrix)
{
    for (int a = 0; a < s->linkCount && s->movedCount > 0; ++a)
        for (int b = 0; b < s->linkCount; ++b)
        {
            Moments sum = {0};
            for (int p = 0; p < s->movedCount; ++p)
            {
                int i = s->moved[p];
                AddMoments(&sum, s->masses[i], AlphaOf(s, i)[a], AlphaOf(s, i)[b]);
            }
            AddMomentsBlock(tree, s->links[a], s->links[b], &sum, matrix);
        }
}

static void AddAwake(const snwPointSkin* s, const snwBodyTree* tree, double* matrix)
{
    for (int a = 0; a < s->linkCount && s->activeCount > 0; ++a)
        for (int b = 0; b < s->linkCount; ++b)
        {
            Moments sum = {0};
            for (int p = 0; p < s->activeCount; ++p)
            {
                int i = s->active[p];
                AddMoments(&sum, s->masses[i], AlphaOf(s, i)[a], s->beta[p * s->linkCount + b]);
            }
            AddMomentsBlock(tree, s->links[a], s->links[b], &sum, matrix);
        }
}

// K d of a point.
static snwVec3 Pull(const snwPointSkin* s, int i)
{
    snwVec3 pull = snwVec3_Scale(s->offsets[i], s->firmness * s->stiffness[i]);
    for (int k = s->neighbourFirst[i]; k < s->neighbourFirst[i + 1]; ++k)
    {
        snwVec3 stretch = snwVec3_Sub(s->offsets[i], s->offsets[s->neighbours[k]]);
        pull = snwVec3_MulAdd(pull, s->firmness * s->neighbourStiffness[k], stretch);
    }
    return pull;
}

// G of the points that are awake.
static snwResult InvertAwakePoints(snwPointSkin* s, const snwSkinStep* step, snwMessage* message)
{
    int n = s->activeCount;
    double h = step->h, hh = h * h * s->firmness;

    // m + D, of which what is awake is kept.
    memset(s->matrix, 0, (size_t)n * (size_t)n * sizeof *s->matrix);
    for (int p = 0; p < n; ++p)
    {
        int i = s->active[p];

        double diagonal = s->masses[i];

        // Springs to neighbours, also to those asleep: these only add to the diagonal.
        for (int k = s->neighbourFirst[i]; step->implicit && k < s->neighbourFirst[i + 1]; ++k)
        {
            int q = s->placeOf[s->neighbours[k]];
            diagonal += hh * s->neighbourStiffness[k];
            if (q >= 0)
                s->matrix[p * n + q] -= hh * s->neighbourStiffness[k];
        }

        s->matrix[p * n + p] += diagonal +
                                (step->implicit ? hh * s->stiffness[i] + h * s->firmness * s->damping[i] : 0);
    }

    snwDense dense = {.kernels = snwCholesky_Kernels(s->context->simd), .n = n, .numbers = s->factor};
    if (snwDense_Factor(&dense, s->matrix, n) >= 0)
        return snwFail(message, snw_errorDiverged, "give the skin's points masses and stiffnesses of one order",
            "the skin's matrix has lost its digits");

    // Rows of the identity through L^-T, and their products.
    memset(s->matrix, 0, (size_t)n * (size_t)n * sizeof *s->matrix);
    for (int p = 0; p < n; ++p)
        s->matrix[p * n + p] = 1;
    snwDense_ForwardRows(&dense, n, s->matrix, n, s->panels);
    snwDense_Gram(&dense, n, s->panels, s->inverse, n);
    s->inverseH = h, s->inverseImplicit = step->implicit, s->inverseFirmness = s->firmness;

    return snw_ok;
}

static void PutRightSides(snwPointSkin* s, const snwBodyTree* tree, const snwSkinStep* step)
{
    double h = step->h;
    for (int p = 0; p < s->activeCount; ++p)
    {
        int i = s->active[p];
        snwVec3 c = snwVec3_Scale(snwVec3_MulAdd(s->v[i], h, step->gravity), s->masses[i]);
        c = snwVec3_Add(snwVec3_MulAdd(c, -h, Pull(s, i)), s->kicks[i]);
        if (!step->implicit)
        {
            snwVec3 slip = snwVec3_Sub(s->v[i], VelocityBy(s, tree, AlphaOf(s, i)));
            c = snwVec3_MulAdd(c, -h * s->firmness * s->damping[i], slip);
        }
        s->c[p] = c;
        s->given[p] = (snwVec3){0, 0, 0};
    }
}

// beta = alpha - G m alpha, or 0 without D; still = G c.
static void MultiplyAwake(snwPointSkin* s)
{
    int n = s->activeCount, links = s->linkCount;
    for (int p = 0; p < n; ++p)
    {
        snwPointShare* beta = &s->beta[p * links];
        snwVec3 still = {0, 0, 0};
        memcpy(beta, AlphaOf(s, s->active[p]), (size_t)links * sizeof *beta);
        for (int q = 0; q < n; ++q)
        {
            int j = s->active[q];
            double g = s->inverse[p * n + q], gm = g * s->masses[j];
            const snwPointShare* alpha = AlphaOf(s, j);

            still = snwVec3_MulAdd(still, g, s->c[q]);
            for (int k = 0; k < links; ++k)
            {
                beta[k].share -= gm * alpha[k].share;
                beta[k].arm = snwVec3_MulAdd(beta[k].arm, -gm, alpha[k].arm);
            }
        }

        s->still[p] = still;
        if (!s->inverseImplicit)
            memset(beta, 0, (size_t)links * sizeof *beta);
    }
}

snwResult snwPointSkin_Begin(snwPointSkin* s, const snwBodyTree* tree, const snwSkinStep* step, double* matrix,
    double* impulse, snwMessage* message)
{
    if (s->inverseH != step->h || s->inverseImplicit != step->implicit || s->inverseFirmness != s->firmness)
    {
        snwResult result = InvertAwakePoints(s, step, message);
        if (result != snw_ok)
            return result;
    }

    PutRightSides(s, tree, step);
    MultiplyAwake(s);
    AddAwake(s, tree, matrix);
    snwPointSkin_AddMoved(s, tree, matrix);

    for (int p = 0; p < s->activeCount; ++p)
    {
        // h K d + D G c
        int i = s->active[p];
        snwVec3 late = snwVec3_Sub(snwVec3_MulAdd(s->v[i], step->h, step->gravity), s->still[p]);
        snwVec3 passed = snwVec3_MulAdd(s->kicks[i], s->masses[i], late);
        snwPointSkin_AddRow(s, tree, AlphaOf(s, i), passed, impulse);
    }

    // Points asleep pass kicks on to their link; those on several links also their momentum, for no link has their
    // mass.
    for (int i = 0; i < s->count; ++i)
    {
        if (s->awake[i])
            continue;
        snwVec3 given = s->kicks[i];
        if (s->single[i] < 0)
        {
            snwVec3 v = VelocityBy(s, tree, AlphaOf(s, i));
            given = snwVec3_MulAdd(given, s->masses[i], snwVec3_MulAdd(v, step->h, step->gravity));
        }
        else if (snwVec3_LengthSquared(given) == 0)
            continue;

        snwPointSkin_AddRow(s, tree, AlphaOf(s, i), given, impulse);
    }

    // Links as they are now: the end of the step wants to know how they turned.
    for (int k = 0; k < s->linkCount; ++k)
    {
        s->before[k] = tree->points[s->links[k]];
        s->axesBefore[k] = tree->axes[s->links[k]];
    }

    return snw_ok;
}

void snwPointSkin_AddBias(const snwPointSkin* s, const snwBodyTree* tree, double* bias)
{
    for (int p = 0; p < s->movedCount; ++p)
    {
        int i = s->moved[p];
        snwVec3 drift = {0, 0, 0};
        for (int k = 0; k < s->linkCount; ++k)
        {
            snwPointShare alpha = AlphaOf(s, i)[k];
            snwSpatial twist = tree->twists[s->links[k]], link = tree->drifts[s->links[k]];
            snwVec3 v = snwVec3_Add(snwVec3_Scale(twist.shift, alpha.share), snwVec3_Cross(twist.turn, alpha.arm));
            snwVec3 a = snwVec3_Add(snwVec3_Scale(link.shift, alpha.share), snwVec3_Cross(link.turn, alpha.arm));
            drift = snwVec3_Add(drift, snwVec3_Add(a, snwVec3_Cross(twist.turn, v)));
        }
        snwPointSkin_AddRow(s, tree, AlphaOf(s, i), snwVec3_Scale(drift, s->masses[i]), bias);
    }
}

const snwPointShare* snwPointSkin_Shares(const snwPointSkin* s, int point)
{
    return s->awake[point] ? &s->beta[s->placeOf[point] * s->linkCount] : AlphaOf(s, point);
}

snwVec3 snwPointSkin_Velocity(const snwPointSkin* s, const snwBodyTree* tree, int point)
{
    snwVec3 v = VelocityBy(s, tree, snwPointSkin_Shares(s, point));
    if (!s->awake[point])
        return v;
    int p = s->placeOf[point];
    v = snwVec3_Add(v, s->still[p]);
    for (int q = 0; q < s->activeCount; ++q)
        v = snwVec3_MulAdd(v, s->inverse[p * s->activeCount + q], s->given[q]);
    return v;
}

double snwPointSkin_Compliance(const snwPointSkin* s, int i, int k)
{
    int p = s->placeOf[i], q = s->placeOf[k];
    return p >= 0 && q >= 0 ? s->inverse[p * s->activeCount + q] : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// The end of a step

void snwPointSkin_TakeVelocities(snwPointSkin* s, const snwBodyTree* tree)
{
    for (int p = 0; p < s->activeCount; ++p)
        s->v[s->active[p]] = snwPointSkin_Velocity(s, tree, s->active[p]);
    memset(s->kicks, 0, (size_t)s->count * sizeof *s->kicks);
}

// How far links carry a point along their arcs; and along the tangent, at their speed over h.
static snwVec3 CarriedOn(const snwPointSkin* s, const snwBodyTree* tree, int i, double h, snwVec3* straight)
{
    snwVec3 way = {0, 0, 0};
    for (int k = 0; k < s->linkCount; ++k)
    {
        snwPointShare alpha = AlphaOf(s, i)[k];
        if (alpha.share == 0)
            continue;
        int link = s->links[k];
        snwVec3 arm = snwVec3_MulAdd(alpha.arm, -alpha.share, snwVec3_Sub(s->before[k], tree->origin));
        snwVec3 turned = snwMat3_MulVec(snwMat3_MulTranspose(tree->axes[link], s->axesBefore[k]), arm);
        snwVec3 shift = snwVec3_Scale(snwVec3_Sub(tree->points[link], s->before[k]), alpha.share);
        way = snwVec3_Add(way, snwVec3_Add(shift, snwVec3_Sub(turned, arm)));
    }
    *straight = snwVec3_Scale(VelocityBy(s, tree, AlphaOf(s, i)), h);
    return way;
}

void snwPointSkin_Move(snwPointSkin* s, const snwBodyTree* tree, double h)
{
    for (int i = 0; i < s->count; ++i)
    {
        if (!s->awake[i] && s->single[i] >= 0)
            continue; // Place knows where
        snwVec3 straight, carried = CarriedOn(s, tree, i, h, &straight);
        s->x[i] = snwVec3_Add(s->x[i], carried);
        if (s->awake[i])
            s->x[i] = snwVec3_Add(s->x[i], snwVec3_Sub(snwVec3_Scale(s->v[i], h), straight));
    }
    snwPointSkin_Place(s, tree);
}

// ---------------------------------------------------------------------------------------------------------------------
// Conservation

// The velocity of a point that is not part of a link.
static snwVec3 VelocityOfPoint(const snwPointSkin* s, const snwBodyTree* tree, int i)
{
    return s->awake[i] ? s->v[i] : VelocityBy(s, tree, AlphaOf(s, i));
}

static bool IsLoose(const snwPointSkin* s, int i)
{
    return s->awake[i] || s->single[i] < 0;
}

// This holds for points on several links, too: their arms, each times its share, add up to that of the point.
snwSpatial snwPointSkin_Momentum(const snwPointSkin* s, const snwBodyTree* tree)
{
    snwSpatial sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < s->count; ++i)
    {
        if (!IsLoose(s, i))
            continue;
        snwVec3 momentum = snwVec3_Scale(VelocityOfPoint(s, tree, i), s->masses[i]);
        sum = snwSpatial_MulAdd(sum, 1, snwSpatial_OfForce(snwVec3_Sub(s->x[i], tree->origin), momentum));
    }
    return sum;
}

double snwPointSkin_KineticEnergy(const snwPointSkin* s, const snwBodyTree* tree)
{
    double sum = 0;
    for (int i = 0; i < s->count; ++i)
        if (IsLoose(s, i))
            sum += 0.5 * s->masses[i] * snwVec3_LengthSquared(VelocityOfPoint(s, tree, i));
    return sum;
}

double snwPointSkin_ElasticEnergy(const snwPointSkin* s)
{
    double sum = 0;
    for (int i = 0; i < s->count; ++i)
    {
        sum += 0.5 * s->firmness * s->stiffness[i] * snwVec3_LengthSquared(s->offsets[i]);
        for (int k = s->neighbourFirst[i]; k < s->neighbourFirst[i + 1]; ++k)
        {
            snwVec3 stretch = snwVec3_Sub(s->offsets[i], s->offsets[s->neighbours[k]]);
            sum += 0.25 * s->firmness * s->neighbourStiffness[k] * snwVec3_LengthSquared(stretch);
        }
    }
    return sum;
}

void snwPointSkin_AddMass(const snwPointSkin* s, const snwBodyTree* tree, bool awake, snwLinkMass* mass)
{
    for (int i = 0; i < s->count; ++i)
        if (s->awake[i] ? awake : s->single[i] < 0)
            snwLinkMass_AddPoint(mass, s->masses[i], snwVec3_Sub(s->x[i], tree->origin));
}
