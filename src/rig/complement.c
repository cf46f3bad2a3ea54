// A projection is two passes over the vertices (handle_sums.h) and a small solve between them. Both kinds of rig use
// the same passes: sums of m w u [y; 1]^T hold all that either needs, and what either answers is an affine map per
// handle.
//
// Rounding. The sums, the solve and the subtraction are double; storing u as float changes it by at most 2^-24 of its
// own length, which the scales of the residual bound to 2^-24 = 6e-8. The solve's own error is about n eps / sqrt(p) of
// the u that came in, p being the smallest pivot. It matters only when almost all of u is taken away: what is left is
// then projected once more. What is no larger than that error is nothing but it, and becomes zero.

#include "rig/complement.h"

#include "linalg/semidefinite.h"
#include "rig/handle_sums.h"
#include "rig/moments.h"
#include "rig/weights.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double s_farthest = 1e9;    // m, kg
static const double s_wanted = 1e-7;     // of the residual, what the solve may add to rounding
static const double s_leastScale = 1e-6; // of an evenly spread u

enum
{
    snw_mostPasses = 3
};

struct snwComplement
{
    snwComplementKind kind;
    int handleCount, unknowns; // affine: of one coordinate
    snwHandleSums sums;
    snwMoments moments;
    snwVec3* origins;           // m
    snwSemidefiniteOrder order; // of the rest pose
};

struct snwComplementScratch
{
    snwMat3* rotations; // one per handle
    snwSemidefinite factor;
    double* chunks; // of the sums
    double* sums;   // 12 per handle, then the maps
    double* right;  // 12 per handle: J^T M u
    double* answer; // 12 per handle
};

// ---------------------------------------------------------------------------------------------------------------------
// The model

static snwResult CheckComplementDef(const snwComplementDef* def, snwMessage* message)
{
    if (def->rest == NULL || def->masses == NULL || def->weights == NULL || def->vertexCount < 1)
        return snwFail(message, snw_errorArgument, NULL, "a projection needs vertices, masses and weights");
    int handles = def->weights->handleCount;
    if (handles < 1 || handles > snw_maxComplementHandles)
        return snwFail(message, snw_errorArgument, NULL, "a projection needs 1..%d handles, not %d",
            (int)snw_maxComplementHandles, handles);
    for (int i = 0; i < def->vertexCount; ++i)
        if (!snwVec3_IsWithin(def->rest[i], s_farthest) || !(def->masses[i] >= 0 && def->masses[i] <= s_farthest))
            return snwFail(message, snw_errorArgument, NULL,
                "vertex %d has a position that is not finite, or a mass that is not finite or negative", i);
    for (int k = 0; k < handles && def->origins != NULL; ++k)
        if (!snwVec3_IsWithin(def->origins[k], s_farthest))
            return snwFail(message, snw_errorArgument, NULL, "handle %d has a place that is not finite", k);
    return snwWeights_Check(def->weights, def->vertexCount, handles, message);
}

// The middle of the mass m w^2, where a handle's turns and moves are at right angles: P1_kk = 0.
static snwResult FindOrigins(snwContext* context, const snwComplementDef* def, snwVec3* origins)
{
    const snwWeights* w = def->weights;
    double* totals = snwAllocArray(context, (size_t)w->handleCount, sizeof *totals);
    if (totals == NULL)
        return snw_errorMemory;

    // Held vertices do not count: nothing moves them.
    for (int i = 0; i < def->vertexCount; ++i)
    {
        bool counts = def->held == NULL || def->held[i] == 0;
        for (int e = w->starts[i]; e < w->starts[i + 1] && counts; ++e)
        {
            double mass = def->masses[i] * w->values[e] * w->values[e];
            totals[w->handles[e]] += mass;
            origins[w->handles[e]] = snwVec3_MulAdd(origins[w->handles[e]], mass, def->rest[i]);
        }
    }

    // A handle that moves nothing may be anywhere.
    for (int k = 0; k < w->handleCount; ++k)
        origins[k] = totals[k] > DBL_MIN ? snwVec3_Scale(origins[k], 1 / totals[k]) : def->rest[0];
    snwFree(context, totals);
    return snw_ok;
}

static void PutMomentsMatrix(const snwComplement* model, const snwMat3* rotations, double* matrix)
{
    if (model->kind == snw_complementRig)
        snwMoments_RigMatrix(&model->moments, rotations, matrix);
    else
        snwMoments_AffineMatrix(&model->moments, matrix);
}

// In the rest pose: which unknowns are superfluous there.
static snwResult FindOrder(snwContext* context, snwComplement* model, snwMessage* message)
{
    snwComplementScratch* scratch = NULL;
    snwResult result = snwComplementScratch_Create(context, model, &scratch, message);
    if (scratch == NULL)
        return result;
    const snwSemidefiniteOrder* order = &scratch->factor.order;
    model->order = (snwSemidefiniteOrder){
        order->kept, snwCopyArray(context, order->rows, (size_t)model->unknowns, sizeof *order->rows)};
    snwComplementScratch_Destroy(context, scratch);
    return model->order.rows != NULL ? snw_ok : snwFailMemory(message);
}

static snwResult FillComplement(
    snwContext* context, const snwComplementDef* def, snwComplement* model, snwMessage* message)
{
    model->kind = def->kind;
    model->handleCount = def->weights->handleCount;
    model->unknowns = (def->kind == snw_complementRig ? 6 : 4) * model->handleCount;
    model->origins = snwAllocArray(context, (size_t)model->handleCount, sizeof *model->origins);
    if (model->origins == NULL)
        return snwFailMemory(message);
    if (def->origins != NULL)
        memcpy(model->origins, def->origins, (size_t)model->handleCount * sizeof *model->origins);
    else if (FindOrigins(context, def, model->origins) < 0)
        return snwFailMemory(message);
    snwMomentsDef moments = {def->vertexCount, def->rest, def->masses, def->weights, model->origins, def->held};
    snwHandleSumsDef sums = {def->vertexCount, def->rest, def->masses, def->weights, def->held};
    snwResult result = snwMoments_Create(context, &moments, &model->moments, message);
    if (result == snw_ok)
        result = snwHandleSums_Create(context, &sums, &model->sums, message);
    return result == snw_ok ? FindOrder(context, model, message) : result;
}

snwResult snwComplement_Create(
    snwContext* context, const snwComplementDef* def, snwComplement** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckComplementDef(def, message);
    if (result < 0)
        return result;
    snwComplement* model = snwAlloc(context, sizeof *model);
    if (model == NULL)
        return snwFailMemory(message);
    result = FillComplement(context, def, model, message);
    if (result < 0)
        snwComplement_Destroy(context, model);
    else
        *out = model;
    return result;
}

void snwComplement_Destroy(snwContext* context, snwComplement* model)
{
    if (model == NULL)
        return;
    snwHandleSums_Free(context, &model->sums);
    snwMoments_Free(context, &model->moments);
    snwFree(context, model->origins);
    snwFree(context, model->order.rows);
    snwFree(context, model);
}

int snwComplement_Unknowns(const snwComplement* model)
{
    return (model->kind == snw_complementRig ? 1 : 3) * model->unknowns;
}

// ---------------------------------------------------------------------------------------------------------------------
// The scratch and its pose

// The model's order is still empty while the model is made.
static void FactorMoments(const snwComplement* model, snwComplementScratch* scratch)
{
    PutMomentsMatrix(model, scratch->rotations, scratch->factor.matrix);
    snwSemidefinite_Factor(&scratch->factor, model->order.rows != NULL ? &model->order : NULL);
}

snwResult snwComplementScratch_Create(
    snwContext* context, const snwComplement* model, snwComplementScratch** out, snwMessage* message)
{
    *out = NULL;
    snwComplementScratch* scratch = snwAlloc(context, sizeof *scratch);
    if (scratch == NULL)
        return snwFailMemory(message);
    size_t handles = (size_t)model->handleCount, numbers = snw_sumNumbers * handles;
    scratch->rotations = snwAllocArray(context, handles, sizeof *scratch->rotations);
    scratch->chunks = snwAllocArray(context, snwHandleSums_ScratchCount(&model->sums), sizeof *scratch->chunks);
    scratch->sums = snwAllocArray(context, numbers, sizeof *scratch->sums);
    scratch->right = snwAllocArray(context, numbers, sizeof *scratch->right);
    scratch->answer = snwAllocArray(context, numbers, sizeof *scratch->answer);
    bool made = scratch->rotations != NULL && scratch->chunks != NULL && scratch->sums != NULL &&
                scratch->right != NULL && scratch->answer != NULL &&
                snwSemidefinite_Create(context, model->unknowns, &scratch->factor, message) == snw_ok;
    if (!made)
    {
        snwComplementScratch_Destroy(context, scratch);
        return snwFailMemory(message);
    }

    // Factored for the rest pose; later poses start from this order of pivots.
    for (int k = 0; k < model->handleCount; ++k)
        scratch->rotations[k] = snwMat3_Identity();
    FactorMoments(model, scratch);
    *out = scratch;
    return snw_ok;
}

void snwComplementScratch_Destroy(snwContext* context, snwComplementScratch* scratch)
{
    if (scratch == NULL)
        return;
    snwFree(context, scratch->rotations);
    snwFree(context, scratch->chunks);
    snwFree(context, scratch->sums);
    snwFree(context, scratch->right);
    snwFree(context, scratch->answer);
    snwSemidefinite_Free(context, &scratch->factor);
    snwFree(context, scratch);
}

int snwComplement_Dropped(const snwComplement* model, const snwComplementScratch* scratch)
{
    int dropped = model->unknowns - scratch->factor.order.kept;
    return (model->kind == snw_complementRig ? 1 : 3) * dropped;
}

snwResult snwComplement_SetPose(
    const snwComplement* model, snwComplementScratch* scratch, const snwTransform* handles, snwMessage* message)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        double square = snwQuat_Dot(handles[k].rotation, handles[k].rotation);
        if (!(square >= 1e-12 && square <= 1e12))
            return snwFail(message, snw_errorArgument, NULL, "handle %d has a rotation that is not finite", k);
    }
    if (model->kind == snw_complementAffine)
        return snw_ok;
    for (int k = 0; k < model->handleCount; ++k)
        scratch->rotations[k] = snwQuat_ToMat3(snwQuat_Normalize(handles[k].rotation));
    FactorMoments(model, scratch);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Projection

// Sums of a handle about its origin, in the axes of the rest pose: force = sum m w u, arms = sum m w u a^T.
typedef struct HandleSum
{
    snwVec3 force;
    snwMat3 arms;
} HandleSum;

static HandleSum AboutOrigin(const snwComplement* model, const snwComplementScratch* scratch, int handle)
{
    const double* s = scratch->sums + (size_t)snw_sumNumbers * (size_t)handle;
    snwVec3 force = {s[3], s[7], s[11]}, origin = snwVec3_Sub(model->origins[handle], model->sums.centre);
    snwMat3 arms = {{{s[0], s[1], s[2]}, {s[4], s[5], s[6]}, {s[8], s[9], s[10]}}};
    return (HandleSum){force, snwMat3_Sub(arms, snwMat3_Outer(force, origin))};
}

// sum m w (R a) x u
static snwVec3 Torque(const HandleSum* sum, snwMat3 rotation)
{
    snwMat3 c = snwMat3_MulTranspose(rotation, sum->arms);
    return (snwVec3){c.m[1][2] - c.m[2][1], c.m[2][0] - c.m[0][2], c.m[0][1] - c.m[1][0]};
}

static void PutComplementRight(const snwComplement* model, snwComplementScratch* scratch)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        HandleSum sum = AboutOrigin(model, scratch, k);

        // Rigid handles: a force and a torque. Affine ones: rows x, y, z of the sums, arms and force, each a right
        // side.
        if (model->kind == snw_complementRig)
        {
            snwVec3 torque = Torque(&sum, scratch->rotations[k]);
            double six[6] = {sum.force.x, sum.force.y, sum.force.z, torque.x, torque.y, torque.z};
            memcpy(scratch->right + 6 * (size_t)k, six, sizeof six);
            continue;
        }

        double last[3] = {sum.force.x, sum.force.y, sum.force.z};
        for (int d = 0; d < 3; ++d)
        {
            double* four = scratch->right + (size_t)d * (size_t)model->unknowns + 4 * (size_t)k;
            memcpy(four, sum.arms.m[d], sizeof sum.arms.m[d]);
            four[3] = last[d];
        }
    }
}

// x -> -(linear (x - origin) + shift), from the centre.
static void PutMap(const snwComplement* model, snwComplementScratch* scratch, int handle, snwAffine map)
{
    snwVec3 origin = snwVec3_Sub(model->origins[handle], model->sums.centre);
    snwVec3 shift = snwVec3_Sub(map.translation, snwMat3_MulVec(map.linear, origin));
    double last[3] = {shift.x, shift.y, shift.z}, *out = scratch->sums + (size_t)snw_sumNumbers * (size_t)handle;
    for (int d = 0; d < 3; ++d, out += 4)
    {
        for (int c = 0; c < 3; ++c)
            out[c] = -map.linear.m[d][c];
        out[3] = -last[d];
    }
}

static snwAffine AnswerOfHandle(const snwComplement* model, const snwComplementScratch* scratch, int handle)
{
    if (model->kind == snw_complementRig)
    {
        const double* six = scratch->answer + 6 * (size_t)handle;
        snwMat3 turn = snwMat3_Mul(snwMat3_Skew((snwVec3){six[3], six[4], six[5]}), scratch->rotations[handle]);
        return (snwAffine){turn, {six[0], six[1], six[2]}};
    }
    snwAffine map;
    double last[3];
    for (int d = 0; d < 3; ++d)
    {
        const double* four = scratch->answer + (size_t)d * (size_t)model->unknowns + 4 * (size_t)handle;
        memcpy(map.linear.m[d], four, sizeof map.linear.m[d]);
        last[d] = four[3];
    }
    map.translation = (snwVec3){last[0], last[1], last[2]};
    return map;
}

// After the sums were gathered; square: sum m |u|^2. Returns the share of |u| that is left, by Pythagoras: what is
// taken away is at right angles to the rest.
static double TakeAway(
    snwContext* context, const snwComplement* model, snwComplementScratch* scratch, double square, float* u)
{
    int rights = model->kind == snw_complementRig ? 1 : 3, count = rights * model->unknowns;
    double taken = 0;
    PutComplementRight(model, scratch);
    memcpy(scratch->answer, scratch->right, (size_t)count * sizeof *scratch->answer);
    for (int d = 0; d < rights; ++d)
        snwSemidefinite_Solve(&scratch->factor, scratch->answer + (size_t)d * (size_t)model->unknowns);
    for (int i = 0; i < count; ++i)
        taken += scratch->right[i] * scratch->answer[i];
    for (int k = 0; k < model->handleCount; ++k)
        PutMap(model, scratch, k, AnswerOfHandle(model, scratch, k));
    snwHandleSums_Add(context, &model->sums, scratch->sums, u);
    return sqrt(fmax(0, 1 - taken / square));
}

static void ClearSummed(const snwHandleSums* sums, float* u)
{
    for (int i = 0; i < sums->blockCount; ++i)
        for (int lane = 0; lane < SNW_SUM_LANES; ++lane)
            memset(u + 4 * (size_t)sums->blocks[i].vertex[lane], 0, 3 * sizeof *u);
}

void snwComplement_Project(snwContext* context, const snwComplement* model, snwComplementScratch* scratch, float* u)
{
    double error = model->unknowns * DBL_EPSILON / sqrt(scratch->factor.smallestPivot), first = 0;
    for (int i = 0; i < snw_mostPasses; ++i)
    {
        double square = snwHandleSums_Gather(context, &model->sums, u, scratch->chunks, scratch->sums);
        first = i == 0 ? square : first;
        if (square <= error * error * first)
        {
            if (i > 0)
                ClearSummed(&model->sums, u);
            return;
        }
        if (TakeAway(context, model, scratch, square, u) * s_wanted >= error)
            return;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Residual

static double Ratio(double length, double scale, double least)
{
    scale = fmax(scale, s_leastScale * least);
    return scale > 0 ? length / scale : 0;
}

double snwComplement_Residual(
    snwContext* context, const snwComplement* model, snwComplementScratch* scratch, const float* u)
{
    double square = snwHandleSums_Gather(context, &model->sums, u, scratch->chunks, scratch->sums), worst = 0;
    double* lengths = scratch->right;
    snwHandleSums_Lengths(context, &model->sums, model->origins, u, scratch->chunks, lengths);
    for (int k = 0; k < model->handleCount; ++k)
    {
        if (model->moments.starts[k] == model->moments.starts[k + 1])
            continue;
        const snwMomentPair* own = &model->moments.pairs[model->moments.starts[k + 1] - 1];
        HandleSum sum = AboutOrigin(model, scratch, k);
        double turn = model->kind == snw_complementRig ? snwVec3_Length(Torque(&sum, scratch->rotations[k]))
                                                       : snwMat3_Norm(sum.arms);
        worst = fmax(worst, Ratio(snwVec3_Length(sum.force), lengths[2 * k], sqrt(own->p0 * square)));
        worst = fmax(worst, Ratio(turn, lengths[2 * k + 1], sqrt(snwMat3_Trace(own->p2) * square)));
    }
    return worst;
}
