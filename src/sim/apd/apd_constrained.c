// apd.solver constrained: stable constrained dynamics (Tournier, Nesme, Gilles, Faure 2015) with bones imitated by
// stiffness, as the paper compares with in Fig. 9c. Its compliant constraints, eliminated, are one linearised implicit
// step at the state in which the substep begins, with all of the geometric stiffness:
//     (M / h^2 + K) dx = M / h^2 (y - x_n) + f(x_n) + external forces,   K = d^2 E / dx^2 at x_n
// "It only uses a first order operator": there are no iterations towards the minimum, and joints between imitated bones
// do not exist. 3 n unknowns, and a new factor in every substep: for small scenes.
//
// K of an element. With F = R S, W = R^T dF and a the axial vector of W - W^T (W = sum u g^T over the corners, a = sum
// g x u), the corotated energy's second variation is
//     2 mu |W|^2 + lambda tr(W)^2 + a . C a,   C = (lambda (tr S - 3) - 2 mu) (tr S I - S)^-1
// (from R^T dR S + S R^T dR = W - W^T). C has the axes of S, and only through it can the whole turn negative: in the
// skew direction about axis i it is worth 2 mu + 2 c_i. c_i >= -mu therefore makes K semidefinite, and changes nothing
// where it was so before. Kelvin-Voigt damping adds damping |sym W|^2 and no force, as the strain rate is the unknown.

#include "math/eigen.h"
#include "sim/apd/apd.h"

#include <math.h>
#include <string.h>

enum
{
    snw_tangentNumbers = 78, // lower triangle of 12 x 12
    snw_tangentGrain = 64,   // tets per chunk
};

typedef struct snwApdConstrained
{
    snwPattern* pattern;
    snwCholesky* factor;
    snwCholeskyScratch* solve;
    double* terms;        // of the pattern: 78 per tet, then masses, three per vertex
    snwVec3 (*forces)[4]; // N, per tet
    snwVec3* constant;    // N, per vertex: the right side but for contacts
    snwVec3* contact;     // N: contacts and drags of the last solution
    double* right;        // 3 per vertex
    bool solved;
} snwApdConstrained;

// ---------------------------------------------------------------------------------------------------------------------
// One tetrahedron

// C without what would make K negative.
static snwMat3 MakeTurning(const snwSvd3* svd, const snwElasticWeight* weight)
{
    double trace = svd->sigma[0] + svd->sigma[1] + svd->sigma[2], c[3];
    double slope = weight->bulk * (trace - 3.0) - weight->shear;
    for (int i = 0; i < 3; ++i)
        c[i] = fmax(slope / fmax(trace - svd->sigma[i], 1e-6), -0.5 * weight->shear);
    return snwMat3_MulTranspose(snwMat3_Mul(svd->V, snwMat3_Diagonal(c[0], c[1], c[2])), svd->V);
}

// d force of corner a over d position of corner b, in the frame that turns along.
static snwMat3 PairBlock(const snwElasticWeight* weight, snwMat3 turning, snwVec3 a, snwVec3 b)
{
    double both = snwVec3_Dot(a, b), same = (weight->shear + 0.5 * weight->damping) * both;
    snwMat3 block = snwMat3_TransposeMul(snwMat3_Skew(a), snwMat3_Mul(turning, snwMat3_Skew(b)));
    block = snwMat3_Add(block, snwMat3_Scale(snwMat3_Outer(a, b), weight->bulk));
    block = snwMat3_Add(block, snwMat3_Scale(snwMat3_Outer(b, a), 0.5 * weight->damping));
    return snwMat3_Add(block, snwMat3_Diagonal(same, same, same));
}

void snwApd_LineariseTet(
    const snwVec3 gradients[4], const snwElasticWeight* weight, const snwVec3 x[4], snwApdTangent* out)
{
    snwMat3 F = {{{0}}};
    for (int a = 1; a < 4; ++a)
        F = snwMat3_Add(F, snwMat3_Outer(snwVec3_Sub(x[a], x[0]), gradients[a]));

    // R, the stress of the corotated law, and how it turns with F.
    snwSvd3 svd = snwSvd3_Signed(F);
    snwMat3 R = snwMat3_MulTranspose(svd.U, svd.V), turning = MakeTurning(&svd, weight);
    double open = svd.sigma[0] + svd.sigma[1] + svd.sigma[2] - 3.0;
    snwMat3 stress = snwMat3_Add(
        snwMat3_Scale(snwMat3_Sub(F, R), weight->shear), snwMat3_Scale(R, weight->bulk * open));

    // Forces, and blocks of the stiffness turned into the world.
    for (int a = 0; a < 4; ++a)
    {
        out->forces[a] = snwVec3_Negate(snwMat3_MulVec(stress, gradients[a]));
        for (int b = 0; b < 4; ++b)
        {
            snwMat3 block = PairBlock(weight, turning, gradients[a], gradients[b]);
            out->blocks[a][b] = snwMat3_MulTranspose(snwMat3_Mul(R, block), R);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The system of a substep

typedef struct TetLoop
{
    const snwApdBody* body;
    const snwVec3* now; // pinned vertices are where they shall be
} TetLoop;

static void ReadTet(const snwApdBody* body, int slot, snwVec3 gradients[4], snwElasticWeight* weight)
{
    int lane = slot % snw_apdLanes;
    const snwRestTetBlock* tets = &body->model->tets[slot / snw_apdLanes];
    const snwElasticWeights* weights = &body->weights[slot / snw_apdLanes];
    gradients[0] = (snwVec3){0, 0, 0};
    for (int a = 1; a < 4; ++a)
    {
        gradients[a] = (snwVec3){(double)tets->inverseRest[3 * a - 3][lane], (double)tets->inverseRest[3 * a - 2][lane],
            (double)tets->inverseRest[3 * a - 1][lane]};
        gradients[0] = snwVec3_Sub(gradients[0], gradients[a]);
    }
    *weight = (snwElasticWeight){
        (double)weights->shear[lane], (double)weights->bulk[lane], (double)weights->damping[lane]};
}

// Pinned corners go where they must: what that does to the others is a force, and they leave the matrix.
static void StoreTet(const TetLoop* loop, int slot, const int corners[4], const snwApdTangent* tangent)
{
    const snwApdBody* body = loop->body;
    double* out = body->constrained->terms + (size_t)slot * snw_tangentNumbers;
    snwVec3* forces = body->constrained->forces[slot];

    // The lower triangle of 12 x 12, as CreateTangentPattern lists it.
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j <= i; ++j)
        {
            bool held = body->pinned[corners[i / 3]] || body->pinned[corners[j / 3]];
            *out++ = held ? 0.0 : tangent->blocks[i / 3][j / 3].m[i % 3][j % 3];
        }

    for (int a = 0; a < 4; ++a)
    {
        forces[a] = tangent->forces[a];
        for (int b = 0; b < 4; ++b)
            if (body->pinned[corners[b]])
                forces[a] = snwVec3_Sub(forces[a], snwMat3_MulVec(tangent->blocks[a][b],
                                                       snwVec3_Sub(loop->now[corners[b]], body->before[corners[b]])));
    }
}

static void LineariseTets(int begin, int end, void* data)
{
    const TetLoop* loop = data;
    const snwApdModel* model = loop->body->model;
    for (int slot = begin; slot < end; ++slot)
    {
        snwVec3 gradients[4], x[4];
        snwElasticWeight weight;
        snwApdTangent tangent;
        const int* corners = model->character->def.tets[model->tetOf[slot]];
        ReadTet(loop->body, slot, gradients, &weight);
        for (int a = 0; a < 4; ++a)
            x[a] = loop->body->before[corners[a]];
        snwApd_LineariseTet(gradients, &weight, x, &tangent);
        StoreTet(loop, slot, corners, &tangent);
    }
}

static void SetConstant(const snwApdBody* body, double h)
{
    const snwApdModel* model = body->model;
    snwApdConstrained* own = body->constrained;
    double* masses = own->terms + (size_t)model->tetCount * snw_tangentNumbers;
    for (int v = 0; v < model->vertexCount; ++v)
    {
        double m = body->masses[v] / (h * h);
        masses[3 * v] = masses[3 * v + 1] = masses[3 * v + 2] = m;
        own->constant[v] = snwVec3_MulAdd(body->external[v], m, snwVec3_Sub(body->inertial[v], body->before[v]));
    }
    for (int slot = 0; slot < model->tetCount; ++slot)
        for (int a = 0; a < 4; ++a)
        {
            snwVec3* f = &own->constant[model->character->def.tets[model->tetOf[slot]][a]];
            *f = snwVec3_Add(*f, own->forces[slot][a]);
        }
}

snwResult snwApd_Linearise(snwSim* sim, int index, double h, snwMessage* message)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdConstrained* own = body->constrained;
    TetLoop loop = {body, snwApd_GetState(sim, index).positions};
    own->solved = false;
    if (body->model->rowCount == 0)
        return snw_ok;
    snwParallelFor(sim->context, body->model->tetCount, snw_tangentGrain, LineariseTets, &loop);
    SetConstant(body, h);
    snwPattern_Assemble(own->pattern, own->terms);
    snwResult result = snwCholesky_Refactor(own->factor, snwPattern_Matrix(own->pattern), message);
    if (result < 0)
        snwMessage_AddPlace(message, "body '%s'", sim->def->bodies[index].name);
    return result;
}

void snwApd_SolveLinearised(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdConstrained* own = body->constrained;
    int n = body->model->vertexCount;
    size_t bytes = (size_t)n * sizeof *own->contact;

    // Nothing has changed since it was solved.
    if (body->model->rowCount == 0 || (own->solved && memcmp(own->contact, body->contact, bytes) == 0))
        return;

    // What is constant in the substep, and contacts as they are now.
    memcpy(own->contact, body->contact, bytes);
    own->solved = true;
    for (int v = 0; v < n; ++v)
    {
        snwVec3 f = body->pinned[v] ? (snwVec3){0, 0, 0} : snwVec3_Add(own->constant[v], own->contact[v]);
        own->right[3 * v] = f.x, own->right[3 * v + 1] = f.y, own->right[3 * v + 2] = f.z;
    }

    // The solution is the way from where the substep began.
    snwCholesky_Solve(own->factor, own->solve, snwRows_Double(own->right, 1, 1));
    snwVec3* x = snwApd_GetState(sim, index).positions;
    for (int v = 0; v < n; ++v)
    {
        const double* d = own->right + 3 * v;
        if (!body->pinned[v])
            x[v] = snwVec3_Add(body->before[v], (snwVec3){d[0], d[1], d[2]});
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

static snwResult CreateTangentPattern(
    snwSim* sim, const snwApdModel* model, snwApdConstrained* own, snwMessage* message)
{
    size_t count = (size_t)model->tetCount * snw_tangentNumbers + 3 * (size_t)model->vertexCount;

    int* places = snwAllocArray(sim->context, 2 * count, sizeof *places);
    if (places == NULL)
        return snwFailMemory(message);
    int *rows = places, *columns = places + count;

    // The lower triangle of each tet, corner by corner, then the masses.
    for (int slot = 0; slot < model->tetCount; ++slot)
    {
        const int* corners = model->character->def.tets[model->tetOf[slot]];
        for (int i = 0; i < 12; ++i)
            for (int j = 0; j <= i; ++j)
            {
                *rows++ = 3 * corners[i / 3] + i % 3;
                *columns++ = 3 * corners[j / 3] + j % 3;
            }
    }

    for (int i = 0; i < 3 * model->vertexCount; ++i)
        *rows++ = *columns++ = i;

    snwPatternDef def = {.rows = 3 * model->vertexCount,
        .columns = 3 * model->vertexCount,
        .symmetric = true,
        .count = (int)count,
        .rowOf = places,
        .columnOf = places + count};

    snwResult result = snwPattern_Create(sim->context, &def, &own->pattern, message);
    snwFree(sim->context, places);
    return result;
}

static snwResult CreateConstrainedFactor(snwSim* sim, snwApdConstrained* own, snwMessage* message)
{
    snwSparse* matrix = snwPattern_Matrix(own->pattern);
    for (int i = 0; i < matrix->rows; ++i)
        for (int k = matrix->starts[i]; k < matrix->starts[i + 1]; ++k)
            matrix->values[k] = matrix->indices[k] == i ? 1.0 : 0.0;
    snwCholeskyDef def = snwDefaultCholeskyDef();
    def.matrix = matrix;
    snwResult result = snwCholesky_Create(sim->context, &def, &own->factor, message);
    return result < 0 ? result : snwCholeskyScratch_Create(own->factor, &own->solve, message);
}

snwResult snwApd_CreateConstrained(snwSim* sim, int index, snwMessage* message)
{
    snwApdBody* body = snwApd_Body(sim, index);
    const snwApdModel* model = body->model;
    snwArena* arena = &sim->arena;
    size_t n = (size_t)model->vertexCount, tets = (size_t)model->tetCount;
    snwApdConstrained* own = body->constrained = snwArena_Alloc(arena, 1, sizeof *own);

    if (own == NULL)
        return snwFailMemory(message);

    // Terms of the matrix, forces, and right sides.
    own->terms = snwArena_Alloc(arena, tets * snw_tangentNumbers + 3 * n, sizeof *own->terms);
    own->forces = snwArena_Alloc(arena, tets, sizeof *own->forces);
    own->constant = snwArena_Alloc(arena, n, sizeof *own->constant);
    own->contact = snwArena_Alloc(arena, n, sizeof *own->contact);
    own->right = snwArena_Alloc(arena, 3 * n, sizeof *own->right);
    if (arena->failed)
        return snwFailMemory(message);

    if (model->rowCount == 0)
        return snw_ok;
    snwResult result = CreateTangentPattern(sim, model, own, message);
    return result < 0 ? result : CreateConstrainedFactor(sim, own, message);
}

void snwApd_DestroyConstrained(snwApdBody* body)
{
    if (body->constrained == NULL)
        return;
    snwCholeskyScratch_Destroy(body->constrained->solve);
    snwCholesky_Destroy(body->constrained->factor);
    snwPattern_Destroy(body->constrained->pattern);
}
