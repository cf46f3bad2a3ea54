// The problem is a quadratic program in all weights at once. The usual way bounds each handle's weights alone and
// scales rows to sum one afterwards, which moves weights by up to 0.1. Here rows are kept on the simplex throughout, by
// the alternating direction method of multipliers (Boyd et al. 2011, section 3.1): a smooth copy x that knows no
// bounds, a bounded copy z that knows no smoothness, and a running sum u of their differences that makes them agree:
//
//     x = (Q + rho D)^-1 (b + rho D (z - u))      one factor for all handles
//     z = projection of x + u on the simplex      vertex by vertex; exact bounds, exact zeros, sum one
//     u = u + x - z
//
// with Q the free block of L M^-1 L, b what the held vertices add, and D = M over its mean, which makes the penalty an
// integral and the number of iterations nearly independent of the mesh. x is over-relaxed by 1.6. rho changes where one
// of the two residuals lags behind, which costs a new factor. What comes out is z, so bounds and unity do not depend on
// convergence. Q is divided by the mean of its diagonal: nothing depends on the unit of length.

#include "base/pieces.h"
#include "rig/biharmonic.h"
#include "base/result.h"
#include "base/tasks.h"
#include "linalg/cholesky.h"
#include "rig/weights.h"

#include <math.h>
#include <string.h>

static const double s_relaxation = 1.6;
static const double s_dropped = 1e-5; // weights below this are left out of the result: nobody sees them, all pay
static const double s_sliver = 1e-10; // volume over the cube (area: the square) of the longest edge

enum
{
    biharmonic_rowGrain = 256,
    biharmonic_adaptEvery = 20, // iterations
    biharmonic_memory = 6
};

snwBiharmonicDef snwDefaultBiharmonicDef(void)
{
    return (snwBiharmonicDef){.tolerance = 1e-4, .iterations = 1000, .rho = 3};
}

typedef struct Solver
{
    snwContext* context;
    const snwBiharmonicDef* def;
    const snwHandleMesh* mesh;
    snwHeldVertices held;
    size_t handles;
    int* simplices; // the elements cut into tets or triangles
    int simplexCount, simplexArity;
    snwSparse laplacian; // both halves
    double* mass;
    int* freeOf; // number of a vertex among the free ones, -1: held
    int* vertexOf;
    int freeCount;
    snwSparse Q, A;        // lower halves; A = Q + rho D shares the pattern
    double* D;             // diagonal
    double *b, *x, *z, *v; // freeCount rows of handleCount
    double *lastStep, *lastResult, *steps[biharmonic_memory], *results[biharmonic_memory]; // likewise
    double gram[biharmonic_memory][biharmonic_memory], shares[biharmonic_memory], lastLength;
    int remembered, columns, slot;
    const double *dotA, *dotB;
    double *primal, *dual; // worst of each chunk of rows
    snwCholesky* factor;
    snwCholeskyScratch* scratch;
    double rho, ratios; // penalty; sum of the logarithms of primal over dual residuals
    snwBiharmonicReport report;
    snwMessage* message;
} Solver;

// ---------------------------------------------------------------------------------------------------------------------
// Laplacian

// Six tets around the diagonal from corner 0 to corner 6.
static const int s_hexTets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};

static snwResult CutElements(Solver* s)
{
    snwElements elements = s->mesh->elements;
    int pieces = elements.arity == 8 ? 6 : 1;
    s->simplexArity = elements.arity == 3 ? 3 : 4;
    s->simplices = snwAllocArray(s->context, (size_t)elements.count * (size_t)pieces, 4 * sizeof(int));
    if (s->simplices == NULL)
        return snwFailMemory(s->message);
    int* out = s->simplices;
    for (int i = 0; i < elements.count; ++i)
        for (int p = 0; p < pieces; ++p)
            for (int k = 0; k < s->simplexArity; ++k)
                *out++ = snwElements_Corners(elements, i)[pieces > 1 ? s_hexTets[p][k] : k];
    s->simplexCount = elements.count * pieces;
    return snw_ok;
}

// Stiffness of linear elements, volume times the dot products of the gradients of the corners' hat functions, lower
// triangle by rows; returns the volume, 0 for slivers, which say more about rounding than about the shape.
static double TetStiffness(const snwVec3 p[4], double out[10])
{
    snwVec3 gradients[4], e[3] = {snwVec3_Sub(p[1], p[0]), snwVec3_Sub(p[2], p[0]), snwVec3_Sub(p[3], p[0])};
    double six = snwVec3_Dot(e[0], snwVec3_Cross(e[1], e[2])), longest = 0;
    for (int k = 0; k < 3; ++k)
        longest = fmax(longest, snwVec3_Length(e[k]));
    if (!(six > 6 * s_sliver * longest * longest * longest))
        return 0;
    gradients[0] = (snwVec3){0, 0, 0};
    for (int k = 0; k < 3; ++k)
    {
        gradients[k + 1] = snwVec3_Scale(snwVec3_Cross(e[(k + 1) % 3], e[(k + 2) % 3]), 1 / six);
        gradients[0] = snwVec3_Sub(gradients[0], gradients[k + 1]);
    }
    for (int a = 0, at = 0; a < 4; ++a)
        for (int b = 0; b <= a; ++b, ++at)
            out[at] = six / 6 * snwVec3_Dot(gradients[a], gradients[b]);
    return six / 6;
}

// The stiffness matrix of a triangle with edges e opposite to its corners: e_a . e_b / (4 area). Returns the area.
static double TriangleStiffness(const snwVec3 p[3], double out[6])
{
    snwVec3 e[3] = {snwVec3_Sub(p[2], p[1]), snwVec3_Sub(p[0], p[2]), snwVec3_Sub(p[1], p[0])};
    double twice = snwVec3_Length(snwVec3_Cross(e[0], e[1])), longest = 0;
    for (int k = 0; k < 3; ++k)
        longest = fmax(longest, snwVec3_LengthSquared(e[k]));
    if (!(twice > 2 * s_sliver * longest))
        return 0;
    for (int a = 0, at = 0; a < 3; ++a)
        for (int b = 0; b <= a; ++b, ++at)
            out[at] = snwVec3_Dot(e[a], e[b]) / (2 * twice);
    return twice / 2;
}

static void MeasureSimplices(Solver* s, double* stiffness)
{
    int arity = s->simplexArity, entries = arity * (arity + 1) / 2;
    for (int i = 0; i < s->simplexCount; ++i)
    {
        const int* v = &s->simplices[(size_t)i * (size_t)arity];
        double* out = &stiffness[(size_t)i * (size_t)entries];
        snwVec3 p[4];
        for (int k = 0; k < arity; ++k)
            p[k] = s->mesh->vertices[v[k]];
        double volume = arity == 4 ? TetStiffness(p, out) : TriangleStiffness(p, out);
        for (int k = 0; k < arity; ++k)
            s->mass[v[k]] += volume / arity;
    }
}

static snwResult MakeLaplacian(Solver* s)
{
    int arity = s->simplexArity;
    snwPattern* pattern = NULL;
    snwElementPatternDef def = {
        .nodeCount = s->mesh->vertexCount, .elementCount = s->simplexCount, .size = arity, .nodes = s->simplices};
    double* stiffness = snwAllocArray(
        s->context, (size_t)s->simplexCount * (size_t)(arity * (arity + 1) / 2), sizeof *stiffness);
    s->mass = snwAllocArray(s->context, (size_t)s->mesh->vertexCount, sizeof *s->mass);
    snwResult result = stiffness != NULL && s->mass != NULL ? snw_ok : snwFailMemory(s->message);

    // Element by element the cotangent stiffness and a share of the mass, then one row per vertex, both halves.
    if (result == snw_ok)
    {
        MeasureSimplices(s, stiffness);
        result = snwPattern_CreateFromElements(s->context, &def, &pattern, s->message);
    }

    if (result == snw_ok)
    {
        snwPattern_Assemble(pattern, stiffness);
        result = snwSparse_Full(s->context, snwPattern_Matrix(pattern), &s->laplacian, s->message);
    }

    snwPattern_Destroy(pattern);
    snwFree(s->context, stiffness);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts of the mesh without a handle

// The lowest vertex of each part; joined by what the Laplacian joins, so that a sliver joins nothing.
static void FindLaplacianParts(const Solver* s, int* parent)
{
    for (int i = 0; i < s->mesh->vertexCount; ++i)
        parent[i] = i;
    for (int i = 0; i < s->laplacian.rows; ++i)
        for (int k = s->laplacian.starts[i]; k < s->laplacian.starts[i + 1]; ++k)
        {
            if (s->laplacian.values[k] != 0 && s->mass[i] > 0)
                snwPieces_Join(parent, i, s->laplacian.indices[k]);
        }
    for (int i = 0; i < s->mesh->vertexCount; ++i)
        parent[i] = snwPieces_Root(parent, i);
}

// Each such part follows the handle closest to it as a whole: torn between several it would come apart.
static snwResult HoldUnreached(Solver* s)
{
    int count = s->mesh->vertexCount;
    int* part = snwAllocArray(s->context, (size_t)count, sizeof *part);
    int* closest = snwAllocArray(s->context, (size_t)count, sizeof *closest); // of a part; -2: it has a handle
    double* distance = snwAllocArray(s->context, (size_t)count, sizeof *distance);
    bool sound = part != NULL && closest != NULL && distance != NULL;

    // Parts in which no vertex is held; the others are marked -2.
    for (int i = 0; sound && i < count; ++i)
        distance[i] = INFINITY;
    if (sound)
        FindLaplacianParts(s, part);
    for (int i = 0; sound && i < count; ++i)
        if (s->held.fixed[i])
            closest[part[i]] = -2;

    // To the handle that comes nearest to any vertex of the part.
    for (int i = 0; sound && i < count; ++i)
        for (int k = 0; k < s->mesh->handleCount && closest[part[i]] != -2; ++k)
        {
            double far = snwHandleShape_Distance(&s->mesh->handles[k], s->mesh->vertices[i]);
            if (far < distance[part[i]])
                distance[part[i]] = far, closest[part[i]] = k;
        }

    // All of the part is held, with the whole weight of that one handle.
    for (int i = 0; sound && i < count; ++i)
        if (closest[part[i]] != -2)
        {
            s->held.fixed[i] = true;
            s->held.values[(size_t)i * s->handles + (size_t)closest[part[i]]] = 1;
            ++s->report.unreachedVertexCount;
        }

    snwFree(s->context, part);
    snwFree(s->context, closest);
    snwFree(s->context, distance);
    return sound ? snw_ok : snwFailMemory(s->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The quadratic form

static snwResult NumberFree(Solver* s)
{
    int count = s->mesh->vertexCount;
    s->freeOf = snwAllocArray(s->context, (size_t)count, sizeof *s->freeOf);
    s->vertexOf = snwAllocArray(s->context, (size_t)count, sizeof *s->vertexOf);
    if (s->freeOf == NULL || s->vertexOf == NULL)
        return snwFailMemory(s->message);
    for (int i = 0; i < count; ++i)
    {
        s->freeOf[i] = s->held.fixed[i] ? -1 : s->freeCount;
        if (!s->held.fixed[i])
            s->vertexOf[s->freeCount++] = i;
    }
    return snw_ok;
}

// One row of L M^-1 L over all vertices, in `sums`; `touched` lists its columns (two rings of neighbours), unsorted.
typedef struct Row
{
    double* sums;
    int *touched, *mark; // mark[v] == vertex + 1: in the list
    int count;
} Row;

static void MakeRow(const Solver* s, int vertex, Row* row)
{
    // Row `vertex` of L M^-1 L: over the neighbours of its neighbours. Vertices without mass would divide by zero.
    const snwSparse* L = &s->laplacian;
    row->count = 0;
    for (int a = L->starts[vertex]; a < L->starts[vertex + 1]; ++a)
    {
        int middle = L->indices[a];
        double scale = L->values[a] / s->mass[middle];
        for (int b = L->starts[middle]; b < L->starts[middle + 1] && s->mass[middle] > 0; ++b)
        {
            int far = L->indices[b];
            if (row->mark[far] != vertex + 1)
            {
                row->mark[far] = vertex + 1;
                row->sums[far] = 0;
                row->touched[row->count++] = far;
            }
            row->sums[far] += scale * L->values[b];
        }
    }
}

// A heap sort: rows have a hundred entries, and qsort may use memory of its own.
static void SiftDownRow(int* data, int at, int count)
{
    for (int child = 2 * at + 1; child < count; child = 2 * at + 1)
    {
        child += child + 1 < count && data[child + 1] > data[child];
        if (data[at] >= data[child])
            return;
        int swap = data[at];
        data[at] = data[child], data[child] = swap;
        at = child;
    }
}

static void SortInts(int* data, int count)
{
    for (int i = count / 2; i-- > 0;)
        SiftDownRow(data, i, count);
    for (int i = count; i-- > 1;)
    {
        int swap = data[0];
        data[0] = data[i], data[i] = swap;
        SiftDownRow(data, 0, i);
    }
}

// Free columns up to the diagonal.
static int CountLower(const Solver* s, const Row* row, int index)
{
    int count = 0;
    for (int k = 0; k < row->count; ++k)
        count += s->freeOf[row->touched[k]] >= 0 && s->freeOf[row->touched[k]] <= index;
    return count;
}

static void FillLower(Solver* s, Row* row, int index)
{
    int at = s->Q.starts[index];
    SortInts(row->touched, row->count);
    for (int k = 0; k < row->count; ++k)
    {
        int column = s->freeOf[row->touched[k]];
        if (column < 0 || column > index)
            continue;
        s->Q.indices[at] = column;
        s->Q.values[at++] = row->sums[row->touched[k]];
    }
}

// b -= Q_fc w_c
static void AddHeld(Solver* s, const Row* row, int index)
{
    double* b = &s->b[(size_t)index * s->handles];
    for (int k = 0; k < row->count; ++k)
    {
        int vertex = row->touched[k];
        const double* w = &s->held.values[(size_t)vertex * s->handles];
        for (size_t h = 0; h < s->handles && s->held.fixed[vertex]; ++h)
            b[h] -= row->sums[vertex] * w[h];
    }
}

// Twice over the rows: to count, and to fill.
static snwResult FillForm(Solver* s, Row* row)
{
    size_t entries = 0;
    for (int i = 0; i < s->freeCount; ++i)
    {
        MakeRow(s, s->vertexOf[i], row);
        entries += (size_t)CountLower(s, row, i);
        if (entries > INT32_MAX)
            return snwFail(s->message, snw_errorArgument, "take a coarser mesh", "the mesh is too large for weights");
        s->Q.starts[i + 1] = (int)entries;
    }

    s->Q.indices = snwAllocArray(s->context, entries, sizeof(int));
    s->Q.values = snwAllocArray(s->context, entries, sizeof(double));
    s->A.values = snwAllocArray(s->context, entries, sizeof(double));
    if (s->Q.indices == NULL || s->Q.values == NULL || s->A.values == NULL)
        return snwFailMemory(s->message);
    memset(row->mark, 0, (size_t)s->mesh->vertexCount * sizeof *row->mark);

    // What couples to held vertices goes to the right side.
    for (int i = 0; i < s->freeCount; ++i)
    {
        MakeRow(s, s->vertexOf[i], row);
        FillLower(s, row, i);
        AddHeld(s, row, i);
    }

    return snw_ok;
}

// Q, b and D over the mean mass, and the penalty of a wave that is as long as the mean distance of the handles:
// (2 pi / l)^4 is what L M^-1 L makes of it, relative to M. Finer meshes then need no more iterations than coarse ones.
static void ScaleSystem(Solver* s)
{
    double mass = 0;
    for (int i = 0; i < s->freeCount; ++i)
        mass += s->mass[s->vertexOf[i]];
    double scale = s->freeCount / mass, spacing = pow(mass / (double)s->handles, 1.0 / (s->simplexArity - 1));
    double wave = 2 * SNW_PI / spacing;
    for (int i = 0; i < s->freeCount; ++i)
        s->D[i] = s->mass[s->vertexOf[i]] * scale;
    scale /= wave * wave * wave * wave;
    for (int k = 0; k < s->Q.starts[s->freeCount]; ++k)
        s->Q.values[k] *= scale;
    for (size_t k = 0; k < (size_t)s->freeCount * s->handles; ++k)
        s->b[k] *= scale;
}

static snwResult MakeForm(Solver* s)
{
    size_t vertices = (size_t)s->mesh->vertexCount, rows = (size_t)s->freeCount;
    Row row = {snwAllocArray(s->context, vertices, sizeof *row.sums),
        snwAllocArray(s->context, vertices, sizeof *row.touched), snwAllocArray(s->context, vertices, sizeof *row.mark),
        0};
    double** arrays[6 + 2 * biharmonic_memory] = {&s->b, &s->x, &s->z, &s->v, &s->lastStep, &s->lastResult};
    for (int i = 0; i < biharmonic_memory; ++i)
        arrays[6 + 2 * i] = &s->steps[i], arrays[7 + 2 * i] = &s->results[i];
    // Memory for the alternating steps, all of the same size: rows by handles.
    bool sound = row.sums != NULL && row.touched != NULL && row.mark != NULL;
    for (int i = 0; i < 6 + 2 * biharmonic_memory; ++i)
        sound = (*arrays[i] = snwAllocArray(s->context, rows, s->handles * sizeof(double))) != NULL && sound;

    // The form's own arrays.
    s->Q = (snwSparse){.rows = s->freeCount, .columns = s->freeCount, .symmetric = true};
    s->Q.starts = snwAllocArray(s->context, rows + 1, sizeof(int));
    s->D = snwAllocArray(s->context, rows, sizeof *s->D);
    s->primal = snwAllocArray(s->context, rows / biharmonic_rowGrain + 1, sizeof *s->primal);
    s->dual = snwAllocArray(s->context, rows / biharmonic_rowGrain + 1, sizeof *s->dual);
    sound = sound && s->Q.starts != NULL && s->D != NULL && s->primal != NULL && s->dual != NULL;
    snwResult result = sound ? FillForm(s, &row) : snwFailMemory(s->message);
    if (result == snw_ok)
        ScaleSystem(s);
    snwFree(s->context, row.sums);
    snwFree(s->context, row.touched);
    snwFree(s->context, row.mark);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Iterations

static snwResult FactorSystem(Solver* s)
{
    double* values = s->A.values;
    s->A = s->Q;
    s->A.values = values;
    memcpy(values, s->Q.values, (size_t)s->Q.starts[s->freeCount] * sizeof *values);
    for (int i = 0; i < s->freeCount; ++i)
        values[s->Q.starts[i + 1] - 1] += s->rho * s->D[i];
    ++s->report.factors;
    if (s->factor != NULL)
        return snwCholesky_Refactor(s->factor, &s->A, s->message);
    snwCholeskyDef def = snwDefaultCholeskyDef();
    def.matrix = &s->A;
    snwResult result = snwCholesky_Create(s->context, &def, &s->factor, s->message);
    return result < 0 ? result : snwCholeskyScratch_Create(s->factor, &s->scratch, s->message);
}

// The nearest point of {v >= 0, sum v = 1} is v - theta, cut at 0. theta grows as entries that it makes negative leave
// the sum (Michelot 1986); it ends after as many rounds as entries at most, mostly two or three.
static double SimplexShift(const double* v, size_t count)
{
    double theta = -INFINITY;
    size_t left = count + 1;
    for (;;)
    {
        double sum = 0;
        size_t now = 0;
        for (size_t i = 0; i < count; ++i)
            if (v[i] > theta)
                sum += v[i], ++now;
        if (now >= left || now == 0) // rounding may bring one back: what counts is that no more leave
            return theta;
        left = now;
        theta = (sum - 1) / (double)now;
    }
}

// z becomes the bounded copy of v, and x the right side of the smooth one.
static void ProjectRows(int begin, int end, void* data)
{
    Solver* s = data;
    double moved = 0;
    for (int i = begin; i < end; ++i)
    {
        size_t first = (size_t)i * s->handles;

        // theta: what all weights of a row go down by so that, cut off at 0, they sum to one.
        const double *v = &s->v[first], *b = &s->b[first];
        double *x = &s->x[first], *z = &s->z[first], penalty = s->rho * s->D[i];
        double theta = SimplexShift(v, s->handles);

        for (size_t k = 0; k < s->handles; ++k)
        {
            double bounded = v[k] > theta ? v[k] - theta : 0;
            moved = fmax(moved, fabs(bounded - z[k]));
            z[k] = bounded;
            // Right side of the smooth copy: b + rho D (z - (v - z)).
            x[k] = b[k] + penalty * (2 * bounded - v[k]);
        }
    }

    s->dual[begin / biharmonic_rowGrain] = moved;
}

// x becomes the step of v.
static void StepRows(int begin, int end, void* data)
{
    Solver* s = data;
    double primal = 0;
    for (size_t k = (size_t)begin * s->handles; k < (size_t)end * s->handles; ++k)
    {
        double gap = s->x[k] - s->z[k];
        primal = fmax(primal, fabs(gap));
        s->x[k] = s_relaxation * gap;
    }
    s->primal[begin / biharmonic_rowGrain] = primal;
}

static double Worst(const double* chunks, int rows)
{
    double worst = 0;
    for (int i = 0; i * biharmonic_rowGrain < rows; ++i)
        worst = fmax(worst, chunks[i]);
    return worst;
}

static void IterateSolver(Solver* s)
{
    int width = (int)s->handles;
    snwParallelFor(s->context, s->freeCount, biharmonic_rowGrain, ProjectRows, s);
    snwCholesky_Solve(s->factor, s->scratch, snwRows_Double(s->x, width, width));
    snwParallelFor(s->context, s->freeCount, biharmonic_rowGrain, StepRows, s);
    s->report.primal = Worst(s->primal, s->freeCount);
    s->report.dual = Worst(s->dual, s->freeCount);
    ++s->report.iterations;
}

// ---------------------------------------------------------------------------------------------------------------------
// Anderson's acceleration: the next v is the combination of the last few whose steps, combined alike, are shortest

// Difference of the steps and of the results v + step, of the newest iteration to the one before, into column `slot`.
static void PushSteps(int begin, int end, void* data)
{
    Solver* s = data;
    for (size_t k = (size_t)begin * s->handles; k < (size_t)end * s->handles; ++k)
    {
        double result = s->v[k] + s->x[k];
        s->steps[s->slot][k] = s->x[k] - s->lastStep[k];
        s->results[s->slot][k] = result - s->lastResult[k];
        s->lastStep[k] = s->x[k];
        s->lastResult[k] = result;
    }
}

static double DotRows(int begin, int end, void* data)
{
    const Solver* s = data;
    double sum = 0;
    for (size_t k = (size_t)begin * s->handles; k < (size_t)end * s->handles; ++k)
        sum += s->dotA[k] * s->dotB[k];
    return sum;
}

static double DotFree(Solver* s, const double* a, const double* b)
{
    s->dotA = a, s->dotB = b;
    return snwParallelSum(s->context, s->freeCount, biharmonic_rowGrain, DotRows, s);
}

static void CombineRows(int begin, int end, void* data)
{
    Solver* s = data;
    for (size_t k = (size_t)begin * s->handles; k < (size_t)end * s->handles; ++k)
    {
        double sum = s->v[k] + s->x[k];
        for (int i = 0; i < s->columns; ++i)
            sum -= s->shares[i] * s->results[i][k];
        s->v[k] = sum;
    }
}

// (G + tiny) shares = right, by elimination; false if a pivot is lost.
static bool SolveShares(Solver* s)
{
    double G[biharmonic_memory][biharmonic_memory + 1], trace = 0;
    int n = s->columns;

    // Regularised by a trace that rounding cannot reach; the last column is the right side.
    for (int i = 0; i < n; ++i)
        trace += s->gram[i][i];
    for (int i = 0; i < n; ++i)
    {
        for (int k = 0; k < n; ++k)
            G[i][k] = s->gram[i][k] + (i == k ? 1e-12 * trace : 0);
        G[i][n] = DotFree(s, s->steps[i], s->x);
    }

    for (int i = 0; i < n; ++i)
    {
        if (!(G[i][i] > 1e-14 * trace))
            return false;
        for (int r = i + 1; r < n; ++r)
            for (int k = n; k >= i; --k)
                G[r][k] -= G[r][i] / G[i][i] * G[i][k];
    }

    // Back from the last one.
    for (int i = n; i-- > 0;)
    {
        s->shares[i] = G[i][n];
        for (int k = i + 1; k < n; ++k)
            s->shares[i] -= G[i][k] * s->shares[k];
        s->shares[i] /= G[i][i];
    }

    return true;
}

static void RememberStep(Solver* s)
{
    if (s->remembered++ == 0)
    {
        snwParallelFor(s->context, s->freeCount, biharmonic_rowGrain, PushSteps, s); // only the newest counts
        s->columns = 0;
        return;
    }
    s->slot = (s->remembered - 2) % biharmonic_memory;
    snwParallelFor(s->context, s->freeCount, biharmonic_rowGrain, PushSteps, s);
    s->columns = s->remembered - 1 < biharmonic_memory ? s->remembered - 1 : biharmonic_memory;
    for (int i = 0; i < s->columns; ++i)
        s->gram[i][s->slot] = s->gram[s->slot][i] = DotFree(s, s->steps[i], s->steps[s->slot]);
}

// A step that is much longer than the last says that the memory is of another place: it is dropped.
static void AdvanceSolver(Solver* s)
{
    double length = sqrt(DotFree(s, s->x, s->x));
    if (length > 2 * s->lastLength)
        s->remembered = 0;
    s->lastLength = length;
    RememberStep(s);
    if (!SolveShares(s))
        s->columns = 0;
    snwParallelFor(s->context, s->freeCount, biharmonic_rowGrain, CombineRows, s);
}

// Boyd et al. 2011, section 3.4.1, with the mean of the ratios since the last time: single ones jump about. v is z and
// the running sum, which is in units of the penalty.
static snwResult AdaptPenalty(Solver* s)
{
    s->ratios += log((s->report.primal + 1e-30) / (s->report.dual + 1e-30));
    if (s->report.iterations % biharmonic_adaptEvery != 0)
        return snw_ok;
    double ratio = exp(s->ratios / biharmonic_adaptEvery), factor = fmin(fmax(sqrt(ratio), 0.1), 10);
    s->ratios = 0;
    if (factor > 0.5 && factor < 2)
        return snw_ok;
    s->rho *= factor;
    s->remembered = 0;
    for (size_t k = 0; k < (size_t)s->freeCount * s->handles; ++k)
        s->v[k] = s->z[k] + (s->v[k] - s->z[k]) / factor;
    return FactorSystem(s);
}

// Starts from the closest handles: rows on the simplex from the first iteration on.
static snwResult StartSolver(Solver* s)
{
    snwWeights* guess = NULL;
    snwResult result = snwSolveClosest(s->context, s->mesh, 0, &guess, s->message);
    for (int i = 0; i < s->freeCount && result == snw_ok; ++i)
        for (int k = guess->starts[s->vertexOf[i]]; k < guess->starts[s->vertexOf[i] + 1]; ++k)
            s->v[(size_t)i * s->handles + (size_t)guess->handles[k]] = guess->values[k];
    snwFree(s->context, guess);
    return result;
}

static snwResult Minimise(Solver* s)
{
    s->rho = s->def->rho;
    snwResult result = StartSolver(s);
    if (result == snw_ok)
        result = FactorSystem(s);
    while (result == snw_ok && s->report.iterations < s->def->iterations && !s->report.converged)
    {
        IterateSolver(s);
        s->report.converged = s->report.primal <= s->def->tolerance && s->report.dual <= s->def->tolerance;
        if (!s->report.converged)
            AdvanceSolver(s);
        if (!isfinite(s->lastLength))
            return snwFail(s->message, snw_errorInput, "look for very flat elements", "weights did not stay finite");
        if (!s->report.converged)
            result = AdaptPenalty(s);
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// All

static snwResult WriteRowWeights(Solver* s, snwWeights** weights)
{
    for (int i = 0; i < s->freeCount; ++i)
        memcpy(&s->held.values[(size_t)s->vertexOf[i] * s->handles], &s->z[(size_t)i * s->handles],
            s->handles * sizeof(double));
    snwWeightLists lists = {.vertexCount = s->mesh->vertexCount,
        .handleCount = s->mesh->handleCount,
        .perVertex = s->mesh->handleCount,
        .values = s->held.values,
        .least = s_dropped,
        .influences = s->def->influences};
    return snwWeights_FromLists(s->context, &lists, weights, NULL, s->message);
}

static snwResult SolveBiharmonic(Solver* s, snwWeights** weights)
{
    snwResult result = snwHoldVertices(s->context, s->mesh, &s->held, s->message);
    result = result < 0 ? result : CutElements(s);
    result = result < 0 ? result : MakeLaplacian(s);
    result = result < 0 ? result : HoldUnreached(s);
    result = result < 0 ? result : NumberFree(s);
    s->report.converged = s->freeCount == 0;
    if (result == snw_ok && s->freeCount > 0)
        result = MakeForm(s);
    if (result == snw_ok && s->freeCount > 0)
        result = Minimise(s);
    return result < 0 ? result : WriteRowWeights(s, weights);
}

static void FreeSolver(Solver* s)
{
    void* memory[] = {s->simplices, s->mass, s->freeOf, s->vertexOf, s->Q.starts, s->Q.indices, s->Q.values,
        s->A.values, s->D, s->b, s->x, s->z, s->v, s->lastStep, s->lastResult, s->primal, s->dual};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i)
        snwFree(s->context, memory[i]);
    for (int i = 0; i < biharmonic_memory; ++i)
    {
        snwFree(s->context, s->steps[i]);
        snwFree(s->context, s->results[i]);
    }
    snwHeldVertices_Free(s->context, &s->held);
    snwSparse_Free(s->context, &s->laplacian);
    snwCholeskyScratch_Destroy(s->scratch);
    snwCholesky_Destroy(s->factor);
}

snwResult snwSolveBiharmonic(snwContext* context, const snwBiharmonicDef* def, snwWeights** weights,
    snwBiharmonicReport* report, snwMessage* message)
{
    *weights = NULL;
    const snwHandleMesh* mesh = def->mesh;
    if (mesh->handleCount < 1 || mesh->elements.count < 1)
        return snwFail(message, snw_errorArgument, "weights by distance need no elements", "smooth weights need %s",
            mesh->handleCount < 1 ? "bones or handles" : "elements");
    Solver solver = {
        .context = context, .def = def, .mesh = mesh, .handles = (size_t)mesh->handleCount, .message = message};
    snwResult result = SolveBiharmonic(&solver, weights);
    if (report != NULL)
        *report = solver.report;
    FreeSolver(&solver);
    return result;
}
