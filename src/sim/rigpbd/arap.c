// As-rigid-as-possible deformation (arap.h): local and global steps, one Laplacian pattern whose fixed rows are
// masked, and a factor for each coordinate whose set of fixed vertices is another.

#include "sim/rigpbd/arap.h"
#include "base/pieces.h"

#include "linalg/cholesky.h"

#include <math.h>
#include <string.h>

enum
{
    snw_arapGrain = 512 // vertices or elements of a chunk
};

struct snwArap
{
    snwContext* context;
    snwArena arena;
    snwRims rims;
    snwTurns search;
    snwPattern* laplacian;
    snwSparse masked;        // the Laplacian with rows and columns of fixed vertices taken out; its own values
    snwCholesky* factors[3]; // one per coordinate
    snwCholeskyScratch* scratch;
    int shares[3];        // the coordinate whose factor is used
    unsigned char* fixed; // that the factors were made for, with the vertices that are held for want of others
    unsigned char* asked; // as the caller gave them
    int* parts;           // the connected part of each vertex: its least vertex
    double scale;         // of a fixed vertex's diagonal
    snwMat3* deformations;
    snwMat3* means; // V_t Rm_t
    snwMat3* sums;
    snwMat3* turns;
    double* residual; // three per vertex
    bool solved;
};

// ---------------------------------------------------------------------------------------------------------------------
// Making

static double Coupling(const snwRims* rims, int element, int a, int b)
{
    const double* ga = snwRims_Gradient(rims, element, a);
    const double* gb = snwRims_Gradient(rims, element, b);
    double dot = 0;
    for (int j = 0; j < rims->dimension; ++j)
        dot += ga[j] * gb[j];
    return rims->volumes[element] * dot;
}

static snwResult MakeArapLaplacian(snwArap* arap, snwMessage* message)
{
    const snwRims* rims = &arap->rims;
    int arity = rims->elements.arity, perElement = arity * (arity + 1) / 2;
    snwElementPatternDef def = {rims->vertexCount, rims->elements.count, arity, rims->elements.corners};
    snwResult result = snwPattern_CreateFromElements(arap->context, &def, &arap->laplacian, message);
    if (result < 0)
        return result;
    double* numbers = snwAllocArray(arap->context, (size_t)def.elementCount * (size_t)perElement, sizeof *numbers);
    if (numbers == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < def.elementCount; ++i)
        for (int a = 0; a < arity; ++a)
            for (int b = 0; b <= a; ++b)
                numbers[(size_t)i * (size_t)perElement + (size_t)(a * (a + 1) / 2 + b)] = Coupling(rims, i, a, b);
    snwPattern_Assemble(arap->laplacian, numbers);
    snwFree(arap->context, numbers);
    return snw_ok;
}

static void FindArapParts(snwArap* arap)
{
    const snwElements elements = arap->rims.elements;
    for (int i = 0; i < arap->rims.vertexCount; ++i)
        arap->parts[i] = i;
    for (int i = 0; i < elements.count; ++i)
        for (int corner = 1; corner < elements.arity; ++corner)
            snwPieces_Join(arap->parts, snwElements_Corners(elements, i)[0], snwElements_Corners(elements, i)[corner]);
    for (int i = 0; i < arap->rims.vertexCount; ++i)
        arap->parts[i] = snwPieces_Root(arap->parts, i);
}

static void AllocateArap(snwArap* arap, const snwRimsDef* def)
{
    size_t n = (size_t)def->vertexCount, elements = (size_t)def->elements.count;
    snwArena* arena = &arap->arena;
    snwRims_Create(arena, def, &arap->rims);
    snwTurns_Create(arena, arap->rims.dimension, def->vertexCount, &arap->search);
    arap->fixed = snwArena_Alloc(arena, n, sizeof *arap->fixed);
    arap->asked = snwArena_Alloc(arena, n, sizeof *arap->asked);
    arap->parts = snwArena_Alloc(arena, n, sizeof *arap->parts);
    arap->deformations = snwArena_Alloc(arena, elements, sizeof *arap->deformations);
    arap->means = snwArena_Alloc(arena, elements, sizeof *arap->means);
    arap->sums = snwArena_Alloc(arena, n, sizeof *arap->sums);
    arap->turns = snwArena_Alloc(arena, n, sizeof *arap->turns);
    arap->residual = snwArena_Alloc(arena, n * 3, sizeof *arap->residual);
}

// The Laplacian's values but for fixed vertices, whose rows and columns are those of a multiple of the identity.
static void Mask(snwArap* arap, int axis)
{
    const snwSparse* whole = snwPattern_Matrix(arap->laplacian);
    for (int row = 0; row < whole->rows; ++row)
        for (int i = whole->starts[row]; i < whole->starts[row + 1]; ++i)
        {
            int column = whole->indices[i];
            bool cut = ((arap->fixed[row] | arap->fixed[column]) >> axis & 1) != 0;
            arap->masked.values[i] = !cut ? whole->values[i] : row == column ? arap->scale : 0;
        }
}

static snwResult MakeFactors(snwArap* arap, snwMessage* message)
{
    const snwSparse* whole = snwPattern_Matrix(arap->laplacian);
    arap->masked = *whole;
    arap->masked.values = snwArena_Alloc(&arap->arena, (size_t)snwSparse_Count(whole), sizeof *arap->masked.values);
    if (arap->arena.failed)
        return snwFailMemory(message);

    // Fixed rows get a diagonal like the others', so that the factor stays well conditioned.
    for (int row = 0; row < whole->rows; ++row)
        arap->scale = fmax(arap->scale, snwSparse_At(whole, row, row));
    memset(arap->fixed, snw_fixedX | snw_fixedY | snw_fixedZ, (size_t)arap->rims.vertexCount);

    // Analysed with all vertices fixed: another set only changes values.
    snwCholeskyDef def = snwDefaultCholeskyDef();
    def.matrix = &arap->masked;
    for (int axis = 0; axis < arap->rims.dimension; ++axis)
    {
        Mask(arap, axis);
        snwResult result = snwCholesky_Create(arap->context, &def, &arap->factors[axis], message);
        if (result < 0)
            return result;
    }

    return snwCholeskyScratch_Create(arap->factors[0], &arap->scratch, message);
}

snwResult snwArap_Create(snwContext* context, const snwRimsDef* def, snwArap** out, snwMessage* message)
{
    snwArap* arap = snwAlloc(context, sizeof *arap);
    if (arap == NULL)
        return snwFailMemory(message);
    arap->context = arap->arena.context = context;
    AllocateArap(arap, def);
    snwResult result = arap->arena.failed ? snwFailMemory(message) : MakeArapLaplacian(arap, message);
    if (result >= 0)
        result = MakeFactors(arap, message);
    if (result < 0)
    {
        snwArap_Destroy(arap);
        return result;
    }
    FindArapParts(arap);
    *out = arap;
    return snw_ok;
}

void snwArap_Destroy(snwArap* arap)
{
    if (arap == NULL)
        return;
    for (int axis = 0; axis < 3; ++axis)
        snwCholesky_Destroy(arap->factors[axis]);
    snwCholeskyScratch_Destroy(arap->scratch);
    snwPattern_Destroy(arap->laplacian);
    snwArena_Free(&arap->arena);
    snwFree(arap->context, arap);
}

// ---------------------------------------------------------------------------------------------------------------------
// What is fixed

// A part of which nothing is fixed along an axis could be anywhere: its least vertex stays.
static void HoldLooseParts(snwArap* arap)
{
    int n = arap->rims.vertexCount;
    unsigned char* holds = (unsigned char*)arap->residual; // per part: the axes along which it is held
    memset(holds, 0, (size_t)n);
    for (int i = 0; i < n; ++i)
        holds[arap->parts[i]] |= arap->fixed[i];
    for (int i = 0; i < n; ++i)
        if (arap->parts[i] == i)
            arap->fixed[i] |= (unsigned char)(~holds[i] & (snw_fixedX | snw_fixedY | snw_fixedZ));
}

static bool IsSameVertexSet(const snwArap* arap, int a, int b)
{
    for (int i = 0; i < arap->rims.vertexCount; ++i)
        if (((arap->fixed[i] >> a ^ arap->fixed[i] >> b) & 1) != 0)
            return false;
    return true;
}

static snwResult RefactorArap(snwArap* arap, const unsigned char* fixed, snwMessage* message)
{
    memcpy(arap->asked, fixed, (size_t)arap->rims.vertexCount);
    memcpy(arap->fixed, fixed, (size_t)arap->rims.vertexCount);

    // What nobody asked for may have to be fixed as well.
    HoldLooseParts(arap);

    for (int axis = 0; axis < arap->rims.dimension; ++axis)
    {
        // Axes with the same fixed vertices have the same factor.
        arap->shares[axis] = axis;
        for (int before = axis - 1; before >= 0; --before)
            if (IsSameVertexSet(arap, axis, before))
                arap->shares[axis] = before;
        if (arap->shares[axis] < axis)
            continue;

        Mask(arap, axis);
        snwResult result = snwCholesky_Refactor(arap->factors[axis], &arap->masked, message);
        if (result < 0)
            return result;
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Iterations

typedef struct Pass
{
    snwArap* arap;
    const snwArapGiven* given;
    snwVec3* x;
} Pass;

static void DeformElements(int begin, int end, void* data)
{
    const Pass* pass = data;
    for (int i = begin; i < end; ++i)
        pass->arap->deformations[i] = snwRims_Deformation(&pass->arap->rims, i, pass->x);
}

static void SumAroundVertices(int begin, int end, void* data)
{
    const Pass* pass = data;
    for (int i = begin; i < end; ++i)
        pass->arap->sums[i] = snwRims_AroundVertex(&pass->arap->rims, pass->arap->deformations, i);
}

static void MeanTurns(int begin, int end, void* data)
{
    const snwArap* arap = ((const Pass*)data)->arap;
    const snwElements elements = arap->rims.elements;
    for (int i = begin; i < end; ++i)
    {
        const int* corners = snwElements_Corners(elements, i);
        snwMat3 sum = arap->turns[corners[0]];
        for (int corner = 1; corner < elements.arity; ++corner)
            sum = snwMat3_Add(sum, arap->turns[corners[corner]]);
        arap->means[i] = snwMat3_Scale(sum, arap->rims.volumes[i] / elements.arity);
    }
}

// Half the negative gradient, sum_t (V_t Rm_t - V_t F_t) g: zero where the answer is. F is that of the local step.
static void ResidualOfVertices(int begin, int end, void* data)
{
    const snwArap* arap = ((const Pass*)data)->arap;
    const snwRims* rims = &arap->rims;
    for (int vertex = begin; vertex < end; ++vertex)
    {
        double* r = arap->residual + 3 * (size_t)vertex;
        r[0] = r[1] = r[2] = 0;

        for (int i = rims->starts[vertex]; i < rims->starts[vertex + 1]; ++i)
        {
            int element = rims->slots[i] / rims->elements.arity, corner = rims->slots[i] % rims->elements.arity;
            const double* g = snwRims_Gradient(rims, element, corner);
            for (int axis = 0; axis < rims->dimension; ++axis)
                for (int j = 0; j < rims->dimension; ++j)
                    r[axis] += (arap->means[element].m[axis][j] -
                                   rims->volumes[element] * arap->deformations[element].m[axis][j]) *
                               g[j];
        }

        // Fixed coordinates have no residual.
        for (int axis = 0; axis < 3; ++axis)
            if ((arap->fixed[vertex] >> axis & 1) != 0)
                r[axis] = 0;
    }
}

static void LocalArapStep(Pass* pass)
{
    snwArap* arap = pass->arap;
    const snwArapGiven* given = pass->given;
    snwParallelFor(arap->context, arap->rims.elements.count, snw_arapGrain, DeformElements, pass);
    snwParallelFor(arap->context, arap->rims.vertexCount, snw_arapGrain, SumAroundVertices, pass);
    snwTurns_Find(&arap->search, arap->context, arap->sums, arap->turns);
    for (int i = 0; given->turns != NULL && i < arap->rims.vertexCount; ++i)
        if ((given->fixed[i] & snw_fixedTurn) != 0)
            arap->turns[i] = given->turns[i];
    snwParallelFor(arap->context, arap->rims.elements.count, snw_arapGrain, MeanTurns, pass);
}

static void GlobalArapStep(Pass* pass)
{
    snwArap* arap = pass->arap;
    int d = arap->rims.dimension;
    snwParallelFor(arap->context, arap->rims.vertexCount, snw_arapGrain, ResidualOfVertices, pass);
    for (int axis = 0, next; axis < d; axis = next)
    {
        for (next = axis + 1; next < d && arap->shares[next] == arap->shares[axis];)
            ++next;
        snwCholesky_Solve(
            arap->factors[arap->shares[axis]], arap->scratch, snwRows_Double(arap->residual + axis, next - axis, 3));
    }
    for (int i = 0; i < arap->rims.vertexCount; ++i)
    {
        const double* move = arap->residual + 3 * (size_t)i;
        pass->x[i] = snwVec3_Add(pass->x[i], (snwVec3){move[0], move[1], move[2]});
    }
}

static double SumEnergy(int begin, int end, void* data)
{
    const Pass* pass = data;
    const snwRims* rims = &pass->arap->rims;
    double sum = 0;
    for (int i = begin; i < end; ++i)
    {
        snwMat3 f = snwRims_Deformation(rims, i, pass->x);
        const snwMat3* mean = &pass->arap->means[i];

        // V (|F|^2 - 2 <F, R> + d), see rims.h; `means` have their volume in them.
        double squares = rims->dimension, product = 0;
        for (int row = 0; row < rims->dimension; ++row)
            for (int j = 0; j < rims->dimension; ++j)
            {
                squares += f.m[row][j] * f.m[row][j];
                product += f.m[row][j] * mean->m[row][j];
            }

        sum += rims->volumes[i] * squares - 2 * product;
    }

    return sum;
}

static double ArapEnergy(Pass* pass)
{
    return snwParallelSum(pass->arap->context, pass->arap->rims.elements.count, snw_arapGrain, SumEnergy, pass);
}

snwResult snwArap_Solve(
    snwArap* arap, const snwArapGiven* given, int iterations, snwVec3* x, snwRimsReport* report, snwMessage* message)
{
    *report = (snwRimsReport){0};

    // Another set of fixed vertices is another factor.
    if (!arap->solved || memcmp(arap->asked, given->fixed, (size_t)arap->rims.vertexCount) != 0)
    {
        snwResult result = RefactorArap(arap, given->fixed, message);
        arap->solved = result >= 0;
        report->factored = true;
        if (result < 0)
            return result;
    }

    Pass pass = {arap, given, x};
    snwTurns_Forget(&arap->search);

    for (int i = 0; i < iterations; ++i)
    {
        LocalArapStep(&pass);
        if (i == 0)
            report->start = ArapEnergy(&pass);
        GlobalArapStep(&pass);
    }

    report->energy = ArapEnergy(&pass);
    return snw_ok;
}

const snwMat3* snwArap_Turns(const snwArap* arap)
{
    return arap->turns;
}
