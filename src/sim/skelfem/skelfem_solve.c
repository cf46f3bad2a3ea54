// The linear systems of Newton's steps: flesh on its grids, props, and touches between them.
//
// Where nothing couples vertices beyond the grid, each body is solved by itself. Else with
//     M    all bodies and props side by side; what a touch does to each of its sides counts twice, and a hand
//          pulls each vertex by itself
//     A    the same with touches and hands as they are: J^T B J with J = [side, -other side], K a a^T
// conjugate gradients solve A, and a cycle on each grid is their guess. Since |a - b|^2 <= 2 |a|^2 + 2 |b|^2 and a a^T
// <= diag(a), M - A is positive semidefinite: M is a sound guess, and where it takes A's place (cycles, jacobi) it
// still leads downhill.
//
// Rejected: bodies and props that take turns. What lies on each other then goes to and fro: a stack of ten boxes never
// came to rest in twelve rounds.

#include "sim/skelfem/skelfem.h"

#include "math/quat.h"

#include <math.h>
#include <string.h>

static const snwSkelfemTwist s_none = {{0, 0, 0}, {0, 0, 0}};

// ---------------------------------------------------------------------------------------------------------------------
// Vectors of a prop

static double DotTwist(snwSkelfemTwist a, snwSkelfemTwist b)
{
    return snwVec3_Dot(a.move, b.move) + snwVec3_Dot(a.turn, b.turn);
}

static snwSkelfemTwist MulAddTwist(snwSkelfemTwist a, double s, snwSkelfemTwist b)
{
    return (snwSkelfemTwist){snwVec3_MulAdd(a.move, s, b.move), snwVec3_MulAdd(a.turn, s, b.turn)};
}

static void AddForceToTwist(snwSkelfemTwist* sum, snwVec3 arm, snwVec3 force)
{
    sum->move = snwVec3_Add(sum->move, force);
    sum->turn = snwVec3_Add(sum->turn, snwVec3_Cross(arm, force));
}

static snwVec3 WayOf(snwSkelfemTwist twist, snwVec3 arm)
{
    return snwVec3_Add(twist.move, snwVec3_Cross(twist.turn, arm));
}

static snwSkelfemTwist MulTwist(double matrix[6][6], snwSkelfemTwist x)
{
    const double in[6] = {x.move.x, x.move.y, x.move.z, x.turn.x, x.turn.y, x.turn.z};
    double out[6] = {0};
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c)
            out[r] += matrix[r][c] * in[c];
    return (snwSkelfemTwist){{out[0], out[1], out[2]}, {out[3], out[4], out[5]}};
}

// Without pivots: its masses see to it that the matrix is positive definite.
static void FactorSix(snwSkelfemProp* prop)
{
    double(*l)[6] = prop->factor;
    memcpy(prop->factor, prop->matrix, sizeof prop->factor);
    for (int k = 0; k < 6; ++k)
        for (int r = k + 1; r < 6; ++r)
        {
            double factor = l[r][k] / l[k][k];
            for (int c = k + 1; c <= r; ++c)
                l[r][c] -= factor * l[c][k];
        }
    for (int k = 0; k < 6; ++k)
        for (int r = k + 1; r < 6; ++r)
            l[r][k] /= l[k][k];
}

static snwSkelfemTwist SolveProp(snwSkelfemProp* prop, snwSkelfemTwist right)
{
    double(*l)[6] = prop->factor;
    double x[6] = {right.move.x, right.move.y, right.move.z, right.turn.x, right.turn.y, right.turn.z};
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < r; ++c)
            x[r] -= l[r][c] * x[c];
    for (int r = 5; r >= 0; --r)
    {
        x[r] /= l[r][r];
        for (int c = r + 1; c < 6; ++c)
            x[r] -= l[c][r] * x[c];
    }
    return (snwSkelfemTwist){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

// ---------------------------------------------------------------------------------------------------------------------
// Props in a Newton step

static snwMat3 InertiaOf(const snwPropMotion* motion)
{
    snwMat3 turn = snwQuat_ToMat3(motion->transform.rotation);
    snwVec3 i = motion->mass.inertia;
    return snwMat3_MulTranspose(snwMat3_Mul(turn, snwMat3_Diagonal(i.x, i.y, i.z)), turn);
}

static void AddSide(snwSkelfemProp* prop, snwVec3 arm, snwMat3 block)
{
    snwMat3 lever = snwMat3_Skew(arm); // lever v = arm x v
    snwMat3 turned = snwMat3_Mul(lever, block), full = snwMat3_MulTranspose(turned, lever);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
        {
            prop->matrix[r][c] += block.m[r][c];
            prop->matrix[3 + r][c] += turned.m[r][c];
            prop->matrix[c][3 + r] += turned.m[r][c];
            prop->matrix[3 + r][3 + c] += full.m[r][c];
        }
}

// The prop on either side of a touch; NULL: none is there.
static snwSkelfemProp* PropOn(snwSkelfemScratch* scratch, const snwSkelfemTouch* touch, int side)
{
    const snwPairRow* row = touch->pair;
    if (row == NULL)
        return NULL;
    if (side == 0)
        return row->body < 0 ? &scratch->props[row->vertex] : NULL;
    return row->kind == snw_touchProp ? &scratch->props[row->other] : NULL;
}

void snwSkelfem_AssembleProps(snwSim* sim)
{
    snwSkelfemScratch* scratch = sim->scratch;
    double perStep = 1 / (scratch->h * scratch->h);
    for (int p = 0; p < sim->def->propCount; ++p)
    {
        snwSkelfemProp* prop = &scratch->props[p];
        const snwPropMotion* motion = &scratch->response->props[p];
        snwMat3 inertia = InertiaOf(motion);

        // Mass and inertia over h^2, as rows of twists: shift, then turn.
        memset(prop->matrix, 0, sizeof prop->matrix);
        for (int r = 0; r < 3; ++r)
        {
            prop->matrix[r][r] = motion->mass.mass * perStep;
            for (int c = 0; c < 3; ++c)
                prop->matrix[3 + r][3 + c] = inertia.m[r][c] * perStep;
        }

        prop->force = MulAddTwist(s_none, -perStep, prop->pushed);
        prop->direction = s_none;
    }

    for (int i = 0; i < scratch->touchCount; ++i)
    {
        const snwSkelfemTouch* touch = &scratch->touches[i];
        snwVec3 force = snwSkelfem_TouchForce(sim, touch);
        for (int side = 0; side < 2; ++side)
        {
            snwSkelfemProp* prop = PropOn(scratch, touch, side);
            if (prop == NULL)
                continue;

            // Touches that couple count twice: M must not be less than A (see above).
            AddForceToTwist(&prop->force, touch->arm[side], side == 0 ? force : snwVec3_Negate(force));
            AddSide(prop, touch->arm[side], snwMat3_Scale(touch->block, snwSkelfem_Couples(touch) ? 2 : 1));
        }
    }

    for (int p = 0; p < sim->def->propCount; ++p)
        FactorSix(&scratch->props[p]);
}

void snwSkelfem_KeepProps(snwSim* sim)
{
    snwSkelfemScratch* scratch = sim->scratch;
    for (int p = 0; p < sim->def->propCount; ++p)
    {
        scratch->props[p].aside = scratch->response->props[p];
        scratch->props[p].pushedAside = scratch->props[p].pushed;
    }
}

void snwSkelfem_MoveProps(snwSim* sim, double share)
{
    snwSkelfemScratch* scratch = sim->scratch;
    for (int p = 0; p < sim->def->propCount; ++p)
    {
        snwSkelfemProp* prop = &scratch->props[p];
        snwPropMotion* motion = &scratch->response->props[p];
        *motion = prop->aside;
        snwSkelfemTwist pushed = {snwVec3_Scale(prop->direction.move, share * motion->mass.mass),
            snwVec3_Scale(snwMat3_MulVec(InertiaOf(motion), prop->direction.turn), share)};
        if (prop->touches > 0)
            snwProp_Move(motion, pushed.move, pushed.turn);
        prop->pushed = MulAddTwist(prop->pushedAside, prop->touches > 0 ? 1 : 0, pushed);
    }
}

double snwSkelfem_PropEnergy(const snwSim* sim)
{
    const snwSkelfemScratch* scratch = sim->scratch;
    double sum = 0;
    for (int p = 0; p < sim->def->propCount; ++p)
    {
        const snwPropMotion* motion = &scratch->response->props[p];
        const snwSkelfemTwist* pushed = &scratch->props[p].pushed;
        snwVec3 i = motion->mass.inertia, t = snwQuat_InverseRotate(motion->transform.rotation, pushed->turn);
        sum += snwVec3_LengthSquared(pushed->move) / motion->mass.mass + t.x * t.x / i.x + t.y * t.y / i.y +
               t.z * t.z / i.z;
    }
    return 0.5 * sum / (scratch->h * scratch->h);
}

// ---------------------------------------------------------------------------------------------------------------------
// A times a vector, and dot products over a group

// Which vectors of bodies and props are meant.
typedef enum VectorName
{
    solve_force,
    solve_direction,
    solve_residual,
    solve_guess,
    solve_conjugate,
    solve_product
} VectorName;

static snwVec3* OfBody(snwSkelfemBody* body, VectorName name)
{
    snwVec3* const vectors[] = {
        body->gradient, body->direction, body->residual, body->guess, body->conjugate, body->product};
    return vectors[name];
}

static snwSkelfemTwist* OfProp(snwSkelfemProp* prop, VectorName name)
{
    snwSkelfemTwist* const vectors[] = {
        &prop->force, &prop->direction, &prop->residual, &prop->guess, &prop->conjugate, &prop->product};
    return vectors[name];
}

typedef struct SolveLoop
{
    snwVec3* to;
    const snwVec3 *a, *b;
    double factor;
} SolveLoop;

static double DotVectorRange(int begin, int end, void* data)
{
    const SolveLoop* loop = data;
    double sum = 0;
    for (int i = begin; i < end; ++i)
        sum += snwVec3_Dot(loop->a[i], loop->b[i]);
    return sum;
}

static double DotGroup(snwSim* sim, const snwSkelfemGroup* group, VectorName a, VectorName b)
{
    snwSkelfemScratch* scratch = sim->scratch;
    double sum = 0;
    for (int i = group->first; i < group->end; ++i)
    {
        snwSkelfemBody* body = &scratch->bodies[i];
        SolveLoop loop = {.a = OfBody(body, a), .b = OfBody(body, b)};
        sum += snwParallelSum(sim->context, body->model->vertexCount, snw_skelfemGrain, DotVectorRange, &loop);
    }
    for (int p = 0; p < sim->def->propCount && group->props; ++p)
        sum += DotTwist(*OfProp(&scratch->props[p], a), *OfProp(&scratch->props[p], b));
    return sum;
}

static void MulAddRange(int begin, int end, void* data)
{
    const SolveLoop* loop = data;
    for (int i = begin; i < end; ++i)
        loop->to[i] = snwVec3_MulAdd(loop->a[i], loop->factor, loop->b[i]);
}

// to = a + factor b
static void MulAdd(snwSim* sim, const snwSkelfemGroup* group, VectorName to, VectorName a, double factor, VectorName b)
{
    snwSkelfemScratch* scratch = sim->scratch;
    for (int i = group->first; i < group->end; ++i)
    {
        snwSkelfemBody* body = &scratch->bodies[i];
        SolveLoop loop = {.to = OfBody(body, to), .a = OfBody(body, a), .b = OfBody(body, b), .factor = factor};
        snwParallelFor(sim->context, body->model->vertexCount, snw_skelfemGrain, MulAddRange, &loop);
    }
    for (int p = 0; p < sim->def->propCount && group->props; ++p)
    {
        snwSkelfemProp* prop = &scratch->props[p];
        *OfProp(prop, to) = MulAddTwist(*OfProp(prop, a), factor, *OfProp(prop, b));
    }
}

// What of a way one side of a touch makes.
static snwVec3 WayOn(snwSkelfemScratch* scratch, const snwSkelfemTouch* touch, int side)
{
    const snwPairRow* row = touch->pair;
    const snwSkelfemProp* prop = PropOn(scratch, touch, side);
    if (prop != NULL)
        return WayOf(prop->conjugate, touch->arm[side]);
    if (side == 0)
        return scratch->bodies[row->body].conjugate[row->vertex];
    snwVec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; ++k)
        sum = snwVec3_MulAdd(sum, row->weights[k], scratch->bodies[row->other].conjugate[row->triangle[k]]);
    return sum;
}

static void AddToVertex(snwSkelfemBody* body, int vertex, snwVec3 force)
{
    if (!body->held[vertex])
        body->product[vertex] = snwVec3_Add(body->product[vertex], force);
}

// A - M.
static void Couple(snwSkelfemScratch* scratch, const snwSkelfemTouch* touch)
{
    const snwPairRow* row = touch->pair;
    snwVec3 ways[2] = {WayOn(scratch, touch, 0), WayOn(scratch, touch, 1)};

    // A has J^T B J; what M has counted twice on each side comes off.
    snwVec3 force = snwMat3_MulVec(touch->block, snwVec3_Sub(ways[0], ways[1]));
    for (int side = 0; side < 2; ++side, force = snwVec3_Negate(force))
    {
        snwSkelfemProp* prop = PropOn(scratch, touch, side);
        snwSkelfemBody* body = prop == NULL ? &scratch->bodies[side == 0 ? row->body : row->other] : NULL;

        if (prop != NULL)
            AddForceToTwist(
                &prop->product, touch->arm[side], snwVec3_MulAdd(force, -2, snwMat3_MulVec(touch->block, ways[side])));
        else if (side == 0)
            AddToVertex(body, row->vertex, snwVec3_MulAdd(force, -2, snwMat3_MulVec(touch->block, ways[0])));

        for (int k = 0; k < 3 && prop == NULL && side == 1; ++k)
        {
            snwVec3 own = snwMat3_MulVec(touch->block, body->conjugate[row->triangle[k]]);
            AddToVertex(body, row->triangle[k], snwVec3_Scale(snwVec3_MulAdd(force, -2, own), row->weights[k]));
        }
    }
}

// product = A conjugate
static void MultiplyGroup(snwSim* sim, const snwSkelfemGroup* group)
{
    snwSkelfemScratch* scratch = sim->scratch;
    for (int i = group->first; i < group->end; ++i)
    {
        snwSkelfemBody* body = &scratch->bodies[i];
        snwMultigrid_Multiply(body->grid, body->conjugate, body->product);
        snwSkelfem_MultiplyHands(sim, i, body->conjugate, body->product);
    }
    for (int p = 0; p < sim->def->propCount && group->props; ++p)
        scratch->props[p].product = MulTwist(scratch->props[p].matrix, scratch->props[p].conjugate);
    for (int i = 0; i < scratch->touchCount && scratch->coupled; ++i)
        if (snwSkelfem_Couples(&scratch->touches[i]))
            Couple(scratch, &scratch->touches[i]);
}

// guess = near M^-1 residual
static void Guess(snwSim* sim, const snwSkelfemGroup* group)
{
    snwSkelfemScratch* scratch = sim->scratch;
    for (int i = group->first; i < group->end; ++i)
    {
        snwSkelfemBody* body = &scratch->bodies[i];
        SolveLoop loop = {.a = body->residual, .b = body->residual};
        double size = snwParallelSum(sim->context, body->model->vertexCount, snw_skelfemGrain, DotVectorRange, &loop);
        if (size > 0)
            snwMultigrid_Guess(body->grid, sqrt(size), body->residual, body->guess);
        else
            memset(body->guess, 0, (size_t)body->model->vertexCount * sizeof *body->guess);
    }
    for (int p = 0; p < sim->def->propCount && group->props; ++p)
        scratch->props[p].guess = SolveProp(&scratch->props[p], scratch->props[p].residual);
}

// ---------------------------------------------------------------------------------------------------------------------
// Solving

static void ClearDirections(snwSim* sim, const snwSkelfemGroup* group)
{
    snwSkelfemScratch* scratch = sim->scratch;
    for (int i = group->first; i < group->end; ++i)
        memset(scratch->bodies[i].direction, 0,
            (size_t)scratch->bodies[i].model->vertexCount * sizeof *scratch->bodies[i].direction);
    for (int p = 0; p < sim->def->propCount && group->props; ++p)
        scratch->props[p].direction = s_none;
}

// All of them together, as long as the residual in the norm of the guess is above the tolerance.
static bool SolveTogether(snwSim* sim, const snwSkelfemGroup* group)
{
    double tolerance = snwSkelfem_Setting(sim, snw_skelfemLinear), start = 0, before = 1, rz = 0;
    int most = (int)snwSkelfem_Setting(sim, snw_skelfemCycles), cycles = 0;

    ClearDirections(sim, group);
    MulAdd(sim, group, solve_residual, solve_force, 0, solve_force);
    for (;; ++cycles)
    {
        Guess(sim, group);
        rz = DotGroup(sim, group, solve_residual, solve_guess);
        if (cycles == 0)
            start = rz;
        if (!(rz > tolerance * tolerance * start) || cycles == most)
            break;

        // p = z + beta p; its first value does not matter
        if (cycles == 0)
            MulAdd(sim, group, solve_conjugate, solve_guess, 0, solve_guess);
        else
            MulAdd(sim, group, solve_conjugate, solve_guess, rz / before, solve_conjugate);

        before = rz;

        // The step of conjugate gradients; where curvature is lost it ends.
        MultiplyGroup(sim, group);
        double curvature = DotGroup(sim, group, solve_conjugate, solve_product);
        if (!(curvature > 0))
            break;

        MulAdd(sim, group, solve_direction, solve_direction, rz / curvature, solve_conjugate);
        MulAdd(sim, group, solve_residual, solve_residual, -rz / curvature, solve_product);
    }

    // Each body of the group has taken part in all cycles.
    for (int i = group->first; i < group->end; ++i)
    {
        snwSkelfemTally* tally = &snwSkelfem_Body(sim, i)->tally;
        tally->cycles += cycles;
        tally->linear = start > 0 ? sqrt(fmax(rz, 0) / start) : 0;
    }

    return isfinite(rz);
}

static bool SolveApart(snwSim* sim, const snwSkelfemGroup* group, snwGridSolver solver)
{
    snwSkelfemScratch* scratch = sim->scratch;
    snwGridSolveDef def = {.solver = solver,
        .tolerance = snwSkelfem_Setting(sim, snw_skelfemLinear),
        .most = (int)snwSkelfem_Setting(sim, snw_skelfemCycles)};

    // Jacobi may take ten steps for each cycle of the others.
    if (solver == snw_gridCycles)
        def.tolerance = 0; // as many as are asked for
    if (solver == snw_gridJacobi)
        def.most *= 10;

    ClearDirections(sim, group);
    bool finite = true;
    for (int i = group->first; i < group->end; ++i)
    {
        snwSkelfemBody* body = &scratch->bodies[i];
        snwGridReport report = snwMultigrid_Solve(body->grid, &def, body->gradient, body->direction);
        body->tally.cycles += report.iterations;
        body->tally.linear = report.residual;
        finite = finite && report.finite;
    }

    // Props are six unknowns each: solved exactly.
    for (int p = 0; p < sim->def->propCount && group->props; ++p)
        scratch->props[p].direction = SolveProp(&scratch->props[p], scratch->props[p].force);
    return finite;
}

static void GoByDiagonal(snwSim* sim, const snwSkelfemGroup* group)
{
    snwSkelfemScratch* scratch = sim->scratch;
    ClearDirections(sim, group);
    for (int i = group->first; i < group->end; ++i)
    {
        snwSkelfemBody* body = &scratch->bodies[i];
        for (int v = 0; v < body->model->vertexCount; ++v)
        {
            double k = body->state.stiffness[v];
            body->direction[v] = snwVec3_Scale(body->gradient[v], k > 0 && isfinite(k) ? 1 / k : 0);
        }
    }
}

double snwSkelfem_Solve(snwSim* sim, const snwSkelfemGroup* group, snwSkelfemWay way)
{
    snwGridSolver solver = (snwGridSolver)snwSkelfem_Setting(sim, snw_skelfemSolver);
    bool finite = true, together = ((const snwSkelfemScratch*)sim->scratch)->coupled;
    for (int i = group->first; i < group->end; ++i)
        together = together || snwSkelfem_HasHand(sim, i);
    if (way == snw_wayDiagonal)
        GoByDiagonal(sim, group);
    else if (way == snw_wayJacobi)
        finite = SolveApart(sim, group, snw_gridJacobi);
    else if (together && solver == snw_gridGradients)
        finite = SolveTogether(sim, group);
    else
        finite = SolveApart(sim, group, solver);
    double slope = DotGroup(sim, group, solve_force, solve_direction);
    return finite && isfinite(slope) ? slope : -1;
}
