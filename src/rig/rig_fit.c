// The model, its scratch, and the two passes. The small solves are in rig_fit_solve.c.

#include "rig/rig_fit.h"

#include "linalg/active.h"
#include "math/eigen.h"
#include "rig/joint_rows.h"
#include "rig/moments.h"
#include "rig/rig_fit_parts.h"
#include "rig/weights.h"

#include <string.h>

static const double s_farthest = 1e9;    // m, kg
static const double s_leastMass = 1e-9;  // of the whole
static const double s_leastTurn = 1e-12; // of a handle's mass and the size

// ---------------------------------------------------------------------------------------------------------------------
// Checks

static snwResult CheckRigMesh(const snwRigFitDef* def, snwMessage* message)
{
    if (def->dimension != 2 && def->dimension != 3)
        return snwFail(message, snw_errorArgument, NULL, "a rig has 2 or 3 dimensions, not %d", def->dimension);
    if (def->rest == NULL || def->masses == NULL || def->weights == NULL || def->vertexCount < 1)
        return snwFail(message, snw_errorArgument, NULL, "a rig needs vertices, masses and weights");
    int handles = def->weights->handleCount;
    if (def->handles == NULL || handles < 1 || handles > snw_maxRigHandles)
        return snwFail(
            message, snw_errorArgument, NULL, "a rig needs 1..%d handles, not %d", (int)snw_maxRigHandles, handles);
    for (int i = 0; i < def->vertexCount; ++i)
        if (!snwVec3_IsWithin(def->rest[i], s_farthest) || !(def->masses[i] >= 0 && def->masses[i] <= s_farthest))
            return snwFail(message, snw_errorArgument, NULL,
                "vertex %d has a position that is not finite, or a mass that is not finite or negative", i);
    for (int k = 0; k < handles; ++k)
        if (!snwVec3_IsWithin(def->handles[k].origin, s_farthest))
            return snwFail(message, snw_errorArgument, NULL, "handle %d has a place that is not finite", k);
    return snwWeights_Check(def->weights, def->vertexCount, handles, message);
}

static bool IsRigid(const snwRigFitDef* def, int handle)
{
    return handle < 0 || def->handles[handle].freedom != snw_rigAffine;
}

static snwResult CheckLimits(const snwRigFitDef* def, int index, snwMessage* message)
{
    const snwRigLinkDef* link = &def->links[index];
    const snwJointDef* limits = link->limits;
    if (limits == NULL)
        return snw_ok;
    if (!IsRigid(def, link->child) || !IsRigid(def, link->parent))
        return snwFail(message, snw_errorArgument, NULL,
            "link %d has limits, but a handle that is affine: what it is turned by is not known", index);
    bool flat = limits->type == snw_jointHinge || limits->type == snw_jointBall || limits->type == snw_jointFixed;
    if (def->dimension == 2 && !flat)
        return snwFail(message, snw_errorArgument, NULL,
            "link %d is of a kind that has no meaning in 2D: only hinge, ball and fixed do", index);
    bool finite = snwVec3_IsWithin(limits->axis, 2) && snwVec3_IsWithin(limits->axis2, 2) &&
                  fabs(limits->lower) <= s_farthest && fabs(limits->upper) <= s_farthest && limits->cone >= 0;
    return finite ? snw_ok : snwFail(message, snw_errorArgument, NULL, "link %d has limits that are not finite", index);
}

// The link that a handle is the child of; -1: none.
static int LinkOf(const snwRigFitDef* def, int handle)
{
    for (int i = 0; i < def->linkCount; ++i)
        if (def->links[i].child == handle)
            return i;
    return -1;
}

static snwResult CheckRigLinks(const snwRigFitDef* def, snwMessage* message)
{
    int handles = def->weights->handleCount;
    for (int i = 0; i < def->linkCount; ++i)
    {
        const snwRigLinkDef* link = &def->links[i];
        bool known = link->child >= 0 && link->child < handles && link->parent >= -1 && link->parent < handles;
        if (!known || !snwVec3_IsWithin(link->joint, s_farthest))
            return snwFail(
                message, snw_errorArgument, NULL, "link %d names a handle or a place that does not exist", i);
        if (LinkOf(def, link->child) != i)
            return snwFail(message, snw_errorArgument, NULL, "handle %d is the child of two links", link->child);
        snwResult result = CheckLimits(def, i, message);
        if (result < 0)
            return result;
    }

    // Up along parents from every child; more steps than handles are a circle.
    for (int i = 0; i < def->linkCount; ++i)
    {
        int handle = def->links[i].child, steps = 0;

        for (int at; handle >= 0 && (at = LinkOf(def, handle)) >= 0 && steps <= handles; ++steps)
            handle = def->links[at].parent;
        if (steps > handles)
            return snwFail(message, snw_errorArgument, NULL, "link %d is part of a circle", i);
    }

    return snw_ok;
}

static bool HasFreedom(const snwRigFitDef* def, const snwLinearTerm* term)
{
    uint32_t moves = snw_dofX | snw_dofY, turns = snw_dofRotationZ;
    if (def->dimension == 3)
        moves |= snw_dofZ, turns |= snw_dofRotationX | snw_dofRotationY;
    bool one = term->dof != 0 && (term->dof & (term->dof - 1)) == 0;
    bool rigid = def->handles[term->handle].freedom == snw_rigRigid;
    return one && (term->dof & (rigid ? moves | turns : moves)) != 0;
}

static snwResult CheckEquations(const snwRigFitDef* def, snwMessage* message)
{
    for (int i = 0; i < def->constraintCount; ++i)
    {
        const snwLinearConstraintDef* constraint = &def->constraints[i];
        bool sound = constraint->termCount >= 1 && fabs(constraint->value) <= s_farthest;
        for (int t = 0; t < constraint->termCount && sound; ++t)
        {
            const snwLinearTerm* term = &constraint->terms[t];
            sound = term->handle >= 0 && term->handle < def->weights->handleCount &&
                    fabs(term->coefficient) <= s_farthest && HasFreedom(def, term);
        }
        if (!sound)
            return snwFail(message, snw_errorArgument, NULL,
                "constraint %d has a term without handle, degree of freedom or finite coefficient", i);
    }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The model

static void CopyEquations(snwRigFit* model, const snwRigFitDef* def)
{
    size_t terms = 0;
    for (int i = 0; i < def->constraintCount; ++i)
        terms += (size_t)def->constraints[i].termCount;
    model->equationCount = def->constraintCount;
    model->equations = snwArena_Alloc(&model->arena, (size_t)def->constraintCount, sizeof *model->equations);
    model->terms = snwArena_Alloc(&model->arena, terms, sizeof *model->terms);
    int at = 0;

    // What an equation names of angles has a period: the shortest of its terms' 2 pi times the coefficient.
    for (int i = 0; i < def->constraintCount && !model->arena.failed; ++i)
    {
        const snwLinearConstraintDef* from = &def->constraints[i];
        snwRigEquation* to = &model->equations[i];
        *to = (snwRigEquation){at, from->termCount, from->value, 0};
        for (int t = 0; t < from->termCount; ++t)
        {
            // Degrees of freedom beyond Z are angles.
            double period = from->terms[t].dof > snw_dofZ ? 2 * SNW_PI * fabs(from->terms[t].coefficient) : 0;
            if (period > 0 && (to->period == 0 || period < to->period))
                to->period = period;
            model->terms[at++] = from->terms[t];
        }
    }

    model->mostTerms = at;
}

static snwRigLink MakeLink(const snwRigLinkDef* def)
{
    snwRigLink link = {def->parent, def->child, def->joint, def->limits != NULL, {0}};
    if (!link.limited)
        return link;
    link.limits = *def->limits;
    link.limits.name = NULL;
    link.limits.bone = def->child, link.limits.parentBone = def->parent;
    link.limits.position = def->joint;
    link.limits.stiffness = link.limits.damping = 0;
    return link;
}

// Parents first: a link comes once its parent has come, or has no link.
static void CopyLinks(snwRigFit* model, const snwRigFitDef* def)
{
    unsigned char* waits = snwArena_Alloc(&model->arena, (size_t)model->handleCount, 1);
    model->links = snwArena_Alloc(&model->arena, (size_t)def->linkCount, sizeof *model->links);
    if (model->arena.failed)
        return;
    for (int i = 0; i < def->linkCount; ++i)
        waits[def->links[i].child] = 1;
    while (model->linkCount < def->linkCount)
    {
        for (int i = 0; i < def->linkCount; ++i)
        {
            const snwRigLinkDef* link = &def->links[i];
            bool ready = waits[link->child] != 0 && (link->parent < 0 || waits[link->parent] == 0);
            if (ready)
                model->links[model->linkCount++] = MakeLink(link), waits[link->child] = 0;
        }
    }
}

static void AllocatePlanes(snwRigFit* model)
{
    size_t plane = (size_t)model->handleCount * (size_t)model->stride;
    snwRigMoments_Create(&model->arena, model, &model->moments);
    model->leastMass = snwArena_Alloc(&model->arena, (size_t)model->handleCount, sizeof(double));
    model->leastTurn = snwArena_Alloc(&model->arena, (size_t)model->handleCount, sizeof(double));
    model->wholes = snwArena_Alloc(&model->arena, (size_t)model->handleCount, sizeof *model->wholes);
    if (model->pass.kind == snw_passFlat && model->handleCount <= snw_mostFlatHandles)
        model->flat = snwArena_Alloc(&model->arena, snw_flatMatrixPlanes * plane, sizeof(double));
}

static void PutPair(snwRigFit* model, int k, const snwMomentPair* pair)
{
    int l = pair->other, there = k * model->stride + l, back = l * model->stride + k;
    double own[3] = {pair->p1.x, pair->p1.y, pair->p1.z};
    double other[3] = {pair->p1Back.x, pair->p1Back.y, pair->p1Back.z};
    model->moments.p0[there] = model->moments.p0[back] = pair->p0;
    for (int b = 0; b < snwRigFit_Dimension(model); ++b)
    {
        model->moments.p1[b][there] = model->moments.p1Back[b][back] = own[b];
        model->moments.p1[b][back] = model->moments.p1Back[b][there] = other[b];
        for (int c = 0; c < snwRigFit_Dimension(model); ++c)
            model->moments.p2[b][c][there] = model->moments.p2[c][b][back] = pair->p2.m[b][c];
    }
}

// Those that share flesh, [k][l]: what the motion of l does to k.
static void PutMomentsBlock(const snwRigMoments* moments, int at, snwPairBlock block)
{
    block[0][0] = moments->p0[at];
    for (int b = 0; b < 3; ++b)
    {
        block[0][1 + b] = moments->p1[b][at];
        block[1 + b][0] = moments->p1Back[b][at];
        for (int c = 0; c < 3; ++c)
            block[1 + b][1 + c] = moments->p2[c][b][at];
    }
}

static snwResult PutPairs(snwRigFit* model, snwMessage* message)
{
    int handles = model->handleCount, count = 0;
    const double* p0 = model->moments.p0;

    // Most pairs of a large rig share no vertex; only the others are listed.
    for (int at = 0; at < handles * model->stride; ++at)
        count += p0[at] != 0;
    int* starts = snwArena_Alloc(&model->arena, (size_t)handles + 1, sizeof *starts);
    int* others = snwArena_Alloc(&model->arena, (size_t)count, sizeof *others);
    snwPairBlock* blocks = snwArena_Alloc(&model->arena, (size_t)count, sizeof *blocks);
    if (model->arena.failed)
        return snwFailMemory(message);

    // Block k l is what a motion of l asks of k.
    for (int k = 0, next = 0; k < handles; ++k)
    {
        for (int l = 0; l < handles; ++l)
        {
            int at = l * model->stride + k;
            if (p0[at] == 0)
                continue;
            others[next] = l;
            PutMomentsBlock(&model->moments, at, blocks[next++]);
        }
        starts[k + 1] = next;
    }

    model->pairs = (snwPairProduct){handles, starts, others, (const snwPairBlock*)blocks};
    return snw_ok;
}

static void FindLeast(snwRigFit* model, const snwRigFitDef* def)
{
    double total = 0;
    snwVec3 lower = def->rest[0], upper = def->rest[0];
    for (int i = 0; i < def->vertexCount; ++i)
    {
        total += def->masses[i];
        lower = snwVec3_Min(lower, def->rest[i]), upper = snwVec3_Max(upper, def->rest[i]);
    }
    model->size = fmax(snwVec3_Distance(lower, upper), 1e-9);
    model->mass = total > 0 ? total : 1;
    for (int k = 0; k < model->handleCount; ++k)
    {
        double mass = model->moments.p0[k * model->stride + k], least = total > 0 ? s_leastMass * total : 1;
        model->leastMass[k] = mass < least ? least : 0;
        model->leastTurn[k] = s_leastTurn * (mass + model->leastMass[k]) * model->size * model->size;
    }
}

// Not from masses and weights: weights need not add up to 1 to the last bit, and a pose that is moved by 4 km moves the
// flesh by what they do add up to.
static void FindWholes(snwRigFit* model)
{
    for (int k = 0; k < model->handleCount; ++k)
        for (int l = 0; l < model->handleCount; ++l)
        {
            model->wholes[k][3] += model->moments.p0[k * model->stride + l];
            for (int b = 0; b < snwRigFit_Dimension(model); ++b)
                model->wholes[k][b] += model->moments.p1[b][k * model->stride + l];
        }
}

static snwResult PutMoments(snwContext* context, snwRigFit* model, const snwRigFitDef* def, snwMessage* message)
{
    snwVec3* origins = snwAllocArray(context, (size_t)model->handleCount, sizeof *origins);
    if (origins == NULL)
        return snwFailMemory(message);
    // Handles' own origins, where P1_kk need not be 0.
    for (int k = 0; k < model->handleCount; ++k)
        origins[k] = def->handles[k].origin;
    snwMoments moments;
    snwMomentsDef momentsDef = {def->vertexCount, def->rest, def->masses, def->weights, origins, NULL};
    snwResult result = snwMoments_Create(context, &momentsDef, &moments, message);
    snwFree(context, origins);
    if (result < 0)
        return result;

    // Into planes, one number of all pairs after the other, as the solves read them.
    for (int k = 0; k < model->handleCount; ++k)
        for (int at = moments.starts[k]; at < moments.starts[k + 1]; ++at)
            PutPair(model, k, &moments.pairs[at]);
    snwMoments_Free(context, &moments);
    FindLeast(model, def);
    FindWholes(model);
    if (model->flat != NULL)
        snwRigFlat_Fill(model);

    return model->dimension == 3 ? PutPairs(model, message) : snw_ok;
}

static snwRigPassKind PassKind(const snwRigFitDef* def)
{
    if (def->dimension == 3)
        return snw_passSolid;
    for (int k = 0; k < def->weights->handleCount; ++k)
        if (def->handles[k].freedom == snw_rigAffine)
            return snw_passFlatAffine;
    return snw_passFlat;
}

static snwResult MakeFitPass(snwContext* context, const snwRigFitDef* def, snwRigFit* model, snwMessage* message)
{
    snwRigPassDef pass = {PassKind(def), def->vertexCount, def->rest, def->masses, def->weights, NULL};
    unsigned char moving[snw_maxRigHandles];
    for (int k = 0; k < model->handleCount; ++k)
        moving[k] = def->handles[k].freedom == snw_rigMoving;
    pass.moving = pass.kind == snw_passFlat ? moving : NULL;
    return snwRigPass_Create(context, &pass, &model->pass, message);
}

// Rows of places have a term for each handle on the way to the root.
static void CountRigRows(snwRigFit* model)
{
    int rows = snw_maxJointRows * model->linkCount + 2 * model->handleCount;
    model->trees = model->linkCount > 0;
    for (int i = 0; i < model->linkCount; ++i)
        model->trees = model->trees && model->links[i].parent >= 0 && snwRigLink_IsMeeting(&model->links[i]);
    int places = snw_mostLeavingRows + (model->trees ? snw_mostTreeRows : 0);
    model->mostRows = rows + model->equationCount + places;
    model->mostTerms = 2 * rows + (model->mostTerms + places) * (model->trees ? model->handleCount : 1);
}

static snwResult FillRigFit(snwContext* context, const snwRigFitDef* def, snwRigFit* model, snwMessage* message)
{
    model->dimension = def->dimension;
    model->handleCount = def->weights->handleCount;
    model->stride = (model->handleCount + 3) / 4 * 4;
    model->handles = snwArena_Copy(&model->arena, def->handles, (size_t)model->handleCount, sizeof *model->handles);
    model->pass.kind = PassKind(def);
    AllocatePlanes(model);
    CopyEquations(model, def);
    CopyLinks(model, def);
    if (model->arena.failed)
        return snwFailMemory(message);
    for (int k = 0; k < model->handleCount; ++k)
        model->turnCount += snwRigFit_Turns(model, k);
    CountRigRows(model);
    snwResult result = MakeFitPass(context, def, model, message);
    return result == snw_ok ? PutMoments(context, model, def, message) : result;
}

snwResult snwRigFit_Create(snwContext* context, const snwRigFitDef* def, snwRigFit** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckRigMesh(def, message);
    result = result == snw_ok ? CheckRigLinks(def, message) : result;
    result = result == snw_ok ? CheckEquations(def, message) : result;
    if (result < 0)
        return result;
    snwRigFit* model = snwAlloc(context, sizeof *model);
    if (model == NULL)
        return snwFailMemory(message);
    model->arena.context = context;
    result = FillRigFit(context, def, model, message);
    if (result < 0)
        snwRigFit_Destroy(context, model);
    else
        *out = model;
    return result;
}

void snwRigFit_Destroy(snwContext* context, snwRigFit* model)
{
    if (model == NULL)
        return;
    snwRigPass_Free(context, &model->pass);
    snwArena_Free(&model->arena);
    snwFree(context, model);
}

int snwRigFit_HandleCount(const snwRigFit* model)
{
    return model->handleCount;
}

int snwRigFit_RuleCount(const snwRigFit* model)
{
    return model->equationCount;
}

void snwRigFit_Rest(const snwRigFit* model, snwRigPose* pose, snwRigTarget* targets, snwRigRule* rules)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        snwVec3 origin = model->handles[k].origin;
        if (pose != NULL)
            pose[k] = (snwRigPose){snwMat3_Identity(), origin};
        if (targets != NULL)
            targets[k] = (snwRigTarget){.place = origin, .rotation = snwQuat_Identity()};
    }
    for (int i = 0; i < model->equationCount && rules != NULL; ++i)
        rules[i] = (snwRigRule){model->equations[i].value, true};
}

// ---------------------------------------------------------------------------------------------------------------------
// The scratch

static double* Plane(snwArena* arena, const snwRigFit* model)
{
    return snwArena_Alloc(arena, (size_t)model->stride, sizeof(double));
}

static snwRigMotion NewMotion(snwArena* arena, const snwRigFit* model)
{
    snwRigMotion motion = {{Plane(arena, model), Plane(arena, model), Plane(arena, model)}, NULL};
    motion.turns = snwArena_Alloc(arena, (size_t)model->turnCount + 8, sizeof(double));
    return motion;
}

static snwRigPlanes NewPlanes(snwArena* arena, const snwRigFit* model)
{
    snwRigPlanes planes = {{0}, {{0}}};
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
    {
        planes.moves[a] = Plane(arena, model);
        for (int b = 0; b < snwRigFit_Dimension(model); ++b)
            planes.linear[a][b] = Plane(arena, model);
    }
    return planes;
}

static void AllocateRows(const snwRigFit* model, snwRigFitScratch* s)
{
    snwArena* arena = &s->arena;
    size_t rows = (size_t)model->mostRows, n = (size_t)model->turnCount;
    s->rows = snwArena_Alloc(arena, rows, sizeof *s->rows);
    s->terms = snwArena_Alloc(arena, (size_t)model->mostTerms, sizeof *s->terms);
    s->rowsOf = snwArena_Alloc(arena, (size_t)model->handleCount, sizeof *s->rowsOf);

    // What is kept from fit to fit as long as the same rows are chosen.
    snwRigKept* kept = &s->kept;
    kept->version = -1, kept->softness = -1;
    kept->rows = snwArena_Alloc(arena, rows, sizeof *kept->rows);
    kept->terms = snwArena_Alloc(arena, (size_t)model->mostTerms, sizeof *kept->terms);
    kept->matrix = snwArena_Alloc(arena, rows * n, sizeof(double));
    kept->panels = snwArena_Alloc(arena, snwDense_PanelCount((int)rows, (int)n), sizeof(double));
    kept->gram = snwArena_Alloc(arena, rows * rows, sizeof(double));
    kept->lambda = snwArena_Alloc(arena, rows, sizeof(double));
    kept->right = snwArena_Alloc(arena, rows, sizeof(double));
    kept->compliance = snwArena_Alloc(arena, rows, sizeof(double));
    kept->active = snwArena_Alloc(arena, snwActive_ScratchCount((int)rows), sizeof(double));
    kept->atLeast = snwArena_Alloc(arena, rows, sizeof(bool));
    kept->pushes = snwArena_Alloc(arena, rows, sizeof(bool));
}

static void AllocateSystems(snwContext* context, const snwRigFit* model, snwRigFitScratch* s)
{
    snwArena* arena = &s->arena;
    snwRigSystem_Create(arena, model, &model->moments, context->simd, &s->loose);
    snwRigSystem_Create(arena, model, &model->moments, context->simd, &s->all);
    s->fit = &s->loose;
    s->roots = snwArena_Alloc(arena, (size_t)model->handleCount, 1);
    if (!model->trees)
        return;
    snwRigTree_Create(arena, model, &s->tree);
    snwRigSystem_Create(arena, model, &s->tree.moments, context->simd, &s->joined);
}

static void AllocateScratch(snwContext* context, const snwRigFit* model, snwRigFitScratch* s)
{
    snwArena* arena = &s->arena;
    size_t handles = (size_t)model->handleCount, numbers = handles * (size_t)model->pass.numbers;

    // What the two passes leave: sums, and planes of poses and forces.
    s->passes = snwArena_Alloc(arena, snwRigPass_ScratchCount(&model->pass), sizeof(double));
    s->gathered = snwArena_Alloc(arena, numbers, sizeof(double));
    s->sums = NewPlanes(arena, model);
    s->pose = NewPlanes(arena, model);
    s->forces = NewPlanes(arena, model);
    s->reduced = NewPlanes(arena, model);
    s->before = NewPlanes(arena, model);
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        for (int b = 0; b < snwRigFit_Dimension(model); ++b)
            s->linear[a][b] = Plane(arena, model);

    // Systems, and unknowns in their order.
    AllocateSystems(context, model, s);
    s->moves = snwArena_Alloc(arena, handles, 1);
    s->turns = snwArena_Alloc(arena, handles, 1);
    s->right = NewMotion(arena, model);
    s->step = NewMotion(arena, model);
    s->force = NewMotion(arena, model);
    AllocateRows(model, s);

    // Poses tried and kept on the way.
    s->now = snwArena_Alloc(arena, handles, sizeof *s->now);
    s->tried = snwArena_Alloc(arena, handles, sizeof *s->tried);
    s->start = snwArena_Alloc(arena, handles, sizeof *s->start);
    s->last = snwArena_Alloc(arena, handles, sizeof *s->last);
    s->goals = snwArena_Alloc(arena, (size_t)model->mostRows, sizeof *s->goals);
    s->answer = snwArena_Alloc(arena, handles, sizeof *s->answer);
    if (model->flat != NULL)
        s->flat = snwArena_Alloc(arena, 1, sizeof *s->flat);

    // What the passes read: maps and changes, a number in all lanes.
    s->changes = snwArena_Alloc(arena, numbers, SNW_PASS_LANES * sizeof(float));
    s->maps = snwArena_Alloc(arena, numbers, SNW_PASS_LANES * sizeof(float));
}

snwResult snwRigFitScratch_Create(
    snwContext* context, const snwRigFit* model, snwRigFitScratch** out, snwMessage* message)
{
    *out = NULL;
    snwRigFitScratch* s = snwAlloc(context, sizeof *s);
    if (s == NULL)
        return snwFailMemory(message);
    s->arena.context = context;
    AllocateScratch(context, model, s);
    if (s->arena.failed)
    {
        snwRigFitScratch_Destroy(context, s);
        return snwFailMemory(message);
    }

    // `all` has every degree of freedom free: the complement solves for what is given, too.
    for (int k = 0; k < model->handleCount; ++k)
    {
        s->all.freeMoves[k] = snwRigFit_Dimension(model) == 2 ? 3 : 7;
        s->all.freeTurns[k] = model->handles[k].freedom != snw_rigMoving;
    }

    *out = s;
    return snw_ok;
}

void snwRigFitScratch_Destroy(snwContext* context, snwRigFitScratch* scratch)
{
    if (scratch == NULL)
        return;
    snwArena_Free(&scratch->arena);
    snwFree(context, scratch);
}

// ---------------------------------------------------------------------------------------------------------------------
// Passes

// About the handle's origin. Similarities of the plane know only p x x and p . x of the arms: any arms with these do.
static void TakeFlat(const double* sums, const double* origin, snwRigFitScratch* s, int k)
{
    double cross = sums[2] - (origin[0] * sums[1] - origin[1] * sums[0]);
    double dot = sums[3] - (origin[0] * sums[0] + origin[1] * sums[1]);
    s->sums.moves[0][k] = sums[0], s->sums.moves[1][k] = sums[1];
    s->sums.linear[0][0][k] = s->sums.linear[1][1][k] = 0.5 * dot;
    s->sums.linear[1][0][k] = 0.5 * cross, s->sums.linear[0][1][k] = -0.5 * cross;
}

static void TakeMap(const double* sums, const double* origin, int d, snwRigFitScratch* s, int k)
{
    for (int a = 0; a < d; ++a, sums += d + 1)
    {
        s->sums.moves[a][k] = sums[d];
        for (int b = 0; b < d; ++b)
            s->sums.linear[a][b][k] = sums[b] - sums[d] * origin[b];
    }
}

// What the origin of the flesh adds to the sums of its places.
static void AddOrigin(const snwRigFit* model, snwVec3 origin, snwRigFitScratch* s, int k)
{
    int d = snwRigFit_Dimension(model);
    const double o[3] = {origin.x, origin.y, origin.z}, *arm = model->wholes[k];
    for (int a = 0; a < d; ++a)
        s->sums.moves[a][k] += arm[3] * o[a];
    if (model->pass.kind == snw_passFlat)
    {
        double dot = arm[0] * o[0] + arm[1] * o[1], cross = arm[0] * o[1] - arm[1] * o[0];
        s->sums.linear[0][0][k] += 0.5 * dot, s->sums.linear[1][1][k] += 0.5 * dot;
        s->sums.linear[1][0][k] += 0.5 * cross, s->sums.linear[0][1][k] -= 0.5 * cross;
        return;
    }
    for (int a = 0; a < d; ++a)
        for (int b = 0; b < d; ++b)
            s->sums.linear[a][b][k] += arm[b] * o[a];
}

void snwRigFit_GatherFlesh(
    snwContext* context, const snwRigFit* model, snwRigFitScratch* scratch, const snwRigFlesh* flesh)
{
    const snwRigPass* pass = &model->pass;
    snwRigPass_Gather(context, pass, flesh, scratch->passes, scratch->gathered);
    for (int k = 0; k < model->handleCount; ++k)
    {
        snwVec3 arm = snwVec3_Sub(model->handles[k].origin, pass->centre);
        const double *sums = scratch->gathered + (size_t)pass->numbers * (size_t)k, origin[3] = {arm.x, arm.y, arm.z};
        if (pass->kind == snw_passFlat)
            TakeFlat(sums, origin, scratch, k);
        else
            TakeMap(sums, origin, snwRigFit_Dimension(model), scratch, k);
        if (flesh->origin.x != 0 || flesh->origin.y != 0 || flesh->origin.z != 0)
            AddOrigin(model, flesh->origin, scratch, k);
    }
}

void snwRigFit_Gather(snwContext* context, const snwRigFit* model, snwRigFitScratch* scratch, const float* x)
{
    snwRigFit_GatherFlesh(context, model, scratch, &(snwRigFlesh){.rows = (float*)x});
}

// Where the map takes the pass' centre.
static snwVec3 CentreOfHandle(const snwRigFit* model, int handle, const snwRigPose* pose)
{
    snwVec3 arm = snwVec3_Sub(model->pass.centre, model->handles[handle].origin);
    return snwVec3_Add(pose[handle].place, snwMat3_MulVec(pose[handle].linear, arm));
}

// (c, s, tx, ty) of each handle: see flat_pass.h. Its own function, because every substep has it.
static void PutFlatMaps(const snwRigFit* model, const snwRigPose* pose, snwVec3 origin, float* map)
{
    for (int k = 0; k < model->handleCount; ++k, map += SNW_FLAT_NUMBERS)
    {
        double c = pose[k].linear.m[0][0], s = pose[k].linear.m[1][0];
        double x = model->pass.centre.x - model->handles[k].origin.x;
        double y = model->pass.centre.y - model->handles[k].origin.y;
        map[0] = (float)c, map[1] = (float)s;
        map[2] = (float)(pose[k].place.x + (c * x - s * y) - origin.x);
        map[3] = (float)(pose[k].place.y + (s * x + c * y) - origin.y);
    }
}

// Each number once per lane.
static float* Splat(double number, float* lanes)
{
    for (int i = 0; i < SNW_PASS_LANES; ++i)
        lanes[i] = (float)number;
    return lanes + SNW_PASS_LANES;
}

static void PutMaps(const snwRigFit* model, const snwRigPose* pose, snwVec3 origin, float* map)
{
    int d = snwRigFit_Dimension(model);
    if (model->pass.kind == snw_passFlat)
    {
        PutFlatMaps(model, pose, origin, map);
        return;
    }

    // A number per lane, so that kernels load instead of broadcast.
    for (int k = 0; k < model->handleCount; ++k)
    {
        snwVec3 move = snwVec3_Sub(CentreOfHandle(model, k, pose), origin);
        double moves[3] = {move.x, move.y, move.z};
        for (int a = 0; a < d; ++a)
        {
            for (int b = 0; b < d; ++b)
                map = Splat(pose[k].linear.m[a][b], map);
            map = Splat(moves[a], map);
        }
    }
}

// The middle of where the handles take the centre, by mass, as floats relative to an origin have it.
static snwVec3 MiddleOfPose(const snwRigFit* model, const snwRigPose* pose, snwVec3 from, float origin[3])
{
    snwVec3 sum = {0};
    double total = 0;
    for (int k = 0; k < model->handleCount; ++k)
    {
        double mass = model->moments.p0[k * model->stride + k];
        sum = snwVec3_MulAdd(sum, mass, CentreOfHandle(model, k, pose)), total += mass;
    }
    sum = total > 0 ? snwVec3_Scale(sum, 1 / total) : CentreOfHandle(model, 0, pose);
    sum = snwVec3_Rounded(snwVec3_Sub(sum, from));
    origin[0] = (float)sum.x, origin[1] = (float)sum.y, origin[2] = (float)sum.z;
    return snwVec3_Add(from, sum);
}

snwRigPose* snwRigFit_Answer(const snwRigFit* model, snwRigFitScratch* scratch)
{
    if (!scratch->answers)
        memset(scratch->answer, 0, (size_t)model->handleCount * sizeof *scratch->answer);
    scratch->answers = true;
    return scratch->answer;
}

void snwRigFit_ApplyFlesh(snwContext* context, const snwRigFit* model, snwRigFitScratch* scratch,
    const snwRigPose* pose, const snwRigFlesh* flesh, float* rigged)
{
    snwRigBlend blend = {.changes = scratch->changes, .maps = scratch->maps};
    blend.rigged = rigged;
    if (flesh != NULL && scratch->answers)
        blend.flesh = *flesh;
    if (blend.flesh.rows != NULL)
        PutMaps(model, scratch->answer, (snwVec3){0}, scratch->changes);
    if (rigged != NULL)
        PutMaps(model, pose, MiddleOfPose(model, pose, flesh != NULL ? flesh->origin : (snwVec3){0}, blend.origin),
            scratch->maps);
    if (blend.flesh.rows != NULL || rigged != NULL)
        snwRigPass_Blend(context, &model->pass, &blend);
}

void snwRigFit_Apply(snwContext* context, const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose,
    float* x, float* rigged)
{
    snwRigFit_ApplyFlesh(context, model, scratch, pose, &(snwRigFlesh){.rows = x}, rigged);
}

void snwRigFit_Matrices(const snwRigFit* model, const snwRigPose* pose, double (*matrices)[12])
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        snwVec3 move = snwVec3_Sub(pose[k].place, snwMat3_MulVec(pose[k].linear, model->handles[k].origin));
        double moves[3] = {move.x, move.y, move.z};
        for (int a = 0; a < 3; ++a)
        {
            memcpy(matrices[k] + 4 * a, pose[k].linear.m[a], 3 * sizeof(double));
            matrices[k][4 * a + 3] = moves[a];
        }
    }
}

void snwRigFit_Transforms(const snwRigFit* model, const snwRigPose* pose, snwTransform* transforms)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        bool affine = model->handles[k].freedom == snw_rigAffine;
        snwMat3 turn = affine ? snwPolar3_Compute(pose[k].linear).rotation : pose[k].linear;
        snwVec3 move = snwVec3_Sub(pose[k].place, snwMat3_MulVec(turn, model->handles[k].origin));
        transforms[k] = (snwTransform){move, snwQuat_FromMat3(turn)};
    }
}
