// All of it is precomputed to small dense matrices. With T the unknowns, one column per coordinate and rows (k, q): the
// columns q of A_k, then u_k,
//     transposed F_t = D_t T,      L = sum_t V_t D_t^T D_t,      B_c = sum over vertices of cluster c, elements around
//     E = <T, L T> - 2 sum_c <R_c^T, B_c T> + d V,      L T = sum_c B_c^T R_c^T      where E is least.
// An iteration is then r small rotations and two products with matrices of n = K (d + 1) columns.

#include "sim/rigpbd/fast.h"

#include "linalg/semidefinite.h"

#include <string.h>

enum
{
    fast_meansIterations = 20,
    fast_mostClusters = 4096
};

struct snwFast
{
    snwContext* context;
    snwArena arena;
    snwRims rims;
    snwTurns search;
    snwWeights weights;
    const snwVec3* rest;
    const snwVec3* origins;
    int handleCount, unknowns; // n, of each coordinate
    int clusterCount;
    int* clusters;     // of the vertices
    double* matrix;    // L: n x n
    double* couplings; // B: clusterCount d x n
    snwSemidefinite factors[3];
    int shares[3]; // the coordinate whose factor is used
    unsigned char* asked;
    snwMat3 *sums, *turns; // of the clusters
    double* values;        // T: three columns of n
    double* products;      // L T
    double* right;
    bool solved;
};

// ---------------------------------------------------------------------------------------------------------------------
// Clusters: k-means in the space of weights

typedef struct Means
{
    const snwWeights* weights;
    int count;
    double* centres; // count x handles
    double* lengths; // squares
    int* sizes;
    int* clusters;
    double* distances; // per vertex: to its cluster, squared
} Means;

static double RowSquare(const snwWeights* w, int vertex)
{
    double sum = 0;
    for (int i = w->starts[vertex]; i < w->starts[vertex + 1]; ++i)
        sum += w->values[i] * w->values[i];
    return sum;
}

static double DistanceTo(const Means* means, int vertex, int cluster)
{
    const snwWeights* w = means->weights;
    const double* centre = means->centres + (size_t)cluster * (size_t)w->handleCount;
    double dot = 0;
    for (int i = w->starts[vertex]; i < w->starts[vertex + 1]; ++i)
        dot += w->values[i] * centre[w->handles[i]];
    return RowSquare(w, vertex) + means->lengths[cluster] - 2 * dot;
}

static void AddToCentre(const Means* means, int vertex, int cluster, double scale)
{
    const snwWeights* w = means->weights;
    for (int i = w->starts[vertex]; i < w->starts[vertex + 1]; ++i)
        means->centres[(size_t)cluster * (size_t)w->handleCount + (size_t)w->handles[i]] += scale * w->values[i];
}

static void MeasureCentre(const Means* means, int cluster)
{
    int handles = means->weights->handleCount;
    const double* centre = means->centres + (size_t)cluster * (size_t)handles;
    means->lengths[cluster] = 0;
    for (int k = 0; k < handles; ++k)
        means->lengths[cluster] += centre[k] * centre[k];
}

// Begins a cluster at the vertex that is farthest from all others; false where none is left that differs.
static bool BeginCluster(Means* means)
{
    int farthest = 0, next = means->count;
    for (int i = 1; i < means->weights->vertexCount && next > 0; ++i)
        if (means->distances[i] > means->distances[farthest])
            farthest = i;

    if (next > 0 && means->distances[farthest] < 1e-12)
        return false;

    // The vertex itself is the first centre.
    AddToCentre(means, farthest, next, 1);
    MeasureCentre(means, next);
    means->count = next + 1;

    // Vertices that are nearer to the new centre come over.
    for (int i = 0; i < means->weights->vertexCount; ++i)
    {
        double distance = DistanceTo(means, i, next);
        if (next > 0 && !(distance < means->distances[i]))
            continue;
        means->clusters[i] = next;
        means->distances[i] = distance;
    }

    return true;
}

static void MoveCentres(Means* means)
{
    int handles = means->weights->handleCount, n = means->weights->vertexCount;
    memset(means->centres, 0, (size_t)means->count * (size_t)handles * sizeof *means->centres);
    memset(means->sizes, 0, (size_t)means->count * sizeof *means->sizes);
    for (int i = 0; i < n; ++i)
        means->sizes[means->clusters[i]] += 1;
    for (int i = 0; i < n; ++i)
        AddToCentre(means, i, means->clusters[i], 1.0 / means->sizes[means->clusters[i]]);
    for (int c = 0; c < means->count; ++c)
        MeasureCentre(means, c);
}

static bool AssignClusters(Means* means)
{
    bool changed = false;
    for (int i = 0; i < means->weights->vertexCount; ++i)
    {
        int best = means->clusters[i];
        double least = DistanceTo(means, i, best);
        for (int c = 0; c < means->count; ++c)
        {
            double distance = means->sizes[c] == 0 ? least : DistanceTo(means, i, c);
            if (distance < least)
                least = distance, best = c;
        }
        changed |= best != means->clusters[i];
        means->clusters[i] = best;
    }
    return changed;
}

static snwResult FindClusters(snwFast* fast, int wanted, snwMessage* message)
{
    snwArena arena = {.context = fast->context};
    size_t count = (size_t)wanted, handles = (size_t)fast->handleCount;
    Means means = {.weights = &fast->weights, .clusters = fast->clusters};

    means.centres = snwArena_Alloc(&arena, count * handles, sizeof *means.centres);
    means.lengths = snwArena_Alloc(&arena, count, sizeof *means.lengths);
    means.sizes = snwArena_Alloc(&arena, count, sizeof *means.sizes);
    means.distances = snwArena_Alloc(&arena, (size_t)fast->rims.vertexCount, sizeof *means.distances);

    // As many as are wanted, or as there are different rows of weights; then k-means.
    bool failed = arena.failed;
    while (!failed && means.count < wanted && BeginCluster(&means))
        continue;

    bool changed = true;
    for (int i = 0; !failed && changed && i < fast_meansIterations; ++i)
    {
        MoveCentres(&means);
        changed = AssignClusters(&means);
    }

    fast->clusterCount = means.count;
    snwArena_Free(&arena);
    return failed ? snwFailMemory(message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Matrices

// D_t of one element: d rows of n, zero but for the handles listed.
typedef struct ElementRows
{
    double* rows;
    int* handles;
    bool* listed;
    int handleCount;
} ElementRows;

static double ComponentOfVec(snwVec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static void AddCorner(const snwFast* fast, ElementRows* out, int vertex, const double* gradient)
{
    const snwWeights* w = &fast->weights;
    int d = fast->rims.dimension;
    for (int i = w->starts[vertex]; i < w->starts[vertex + 1]; ++i)
    {
        int k = w->handles[i];
        snwVec3 a = snwVec3_Sub(fast->rest[vertex], fast->origins[k]);
        if (!out->listed[k])
            out->handles[out->handleCount++] = k;
        out->listed[k] = true;
        for (int j = 0; j < d; ++j)
            for (int q = 0; q <= d; ++q)
                out->rows[j * fast->unknowns + k * (d + 1) + q] += gradient[j] * w->values[i] *
                                                                   (q == d ? 1.0 : ComponentOfVec(a, q));
    }
}

static void AddElementRow(const snwFast* fast, const ElementRows* from, const double* row, double scale, double* to)
{
    int per = fast->rims.dimension + 1;
    for (int i = 0; i < from->handleCount; ++i)
        for (int q = 0; q < per; ++q)
            to[from->handles[i] * per + q] += scale * row[from->handles[i] * per + q];
}

static void AddElementSums(snwFast* fast, const ElementRows* from, int element)
{
    int d = fast->rims.dimension, n = fast->unknowns, arity = fast->rims.elements.arity;
    const int* corners = snwElements_Corners(fast->rims.elements, element);
    double volume = fast->rims.volumes[element];
    for (int j = 0; j < d; ++j)
    {
        const double* row = from->rows + j * n;
        for (int i = 0; i < from->handleCount; ++i)
            for (int q = 0; q <= d; ++q)
            {
                int at = from->handles[i] * (d + 1) + q;
                AddElementRow(fast, from, row, volume * row[at], fast->matrix + (size_t)at * (size_t)n);
            }
        for (int corner = 0; corner < arity; ++corner)
            AddElementRow(fast, from, row, volume / arity,
                fast->couplings + (size_t)(fast->clusters[corners[corner]] * d + j) * (size_t)n);
    }
}

static void ClearRows(const snwFast* fast, ElementRows* out)
{
    for (int i = 0; i < out->handleCount; ++i)
        out->listed[out->handles[i]] = false;
    out->handleCount = 0;
    memset(out->rows, 0, (size_t)fast->rims.dimension * (size_t)fast->unknowns * sizeof *out->rows);
}

static snwResult MakeMatrices(snwFast* fast, snwMessage* message)
{
    snwArena arena = {.context = fast->context};
    size_t d = (size_t)fast->rims.dimension, n = (size_t)fast->unknowns, handles = (size_t)fast->handleCount;

    ElementRows rows = {.rows = snwArena_Alloc(&arena, d * n, sizeof *rows.rows),
        .handles = snwArena_Alloc(&arena, handles, sizeof *rows.handles),
        .listed = snwArena_Alloc(&arena, handles, sizeof *rows.listed)};
    fast->matrix = snwArena_Alloc(&fast->arena, n * n, sizeof *fast->matrix);
    fast->couplings = snwArena_Alloc(&fast->arena, (size_t)fast->clusterCount * d * n, sizeof *fast->couplings);

    bool failed = arena.failed || fast->arena.failed;
    for (int i = 0; !failed && i < fast->rims.elements.count; ++i)
    {
        // D_t from the corners' weights and gradients, then its products; only rows of its own handles are touched.
        const int* corners = snwElements_Corners(fast->rims.elements, i);
        for (int corner = 0; corner < fast->rims.elements.arity; ++corner)
            AddCorner(fast, &rows, corners[corner], snwRims_Gradient(&fast->rims, i, corner));
        AddElementSums(fast, &rows, i);
        ClearRows(fast, &rows);
    }

    snwArena_Free(&arena);
    return failed ? snwFailMemory(message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Making

static void CopyFastDef(snwFast* fast, const snwFastDef* def)
{
    snwArena* arena = &fast->arena;
    size_t n = (size_t)def->mesh.vertexCount, handles = (size_t)def->weights->handleCount;
    size_t entries = (size_t)def->weights->starts[n];

    snwRims_Create(arena, &def->mesh, &fast->rims);
    fast->handleCount = def->weights->handleCount;
    fast->unknowns = fast->handleCount * (fast->rims.dimension + 1);

    fast->weights = *def->weights;
    fast->weights.starts = snwArena_Copy(arena, def->weights->starts, n + 1, sizeof *def->weights->starts);
    fast->weights.handles = snwArena_Copy(arena, def->weights->handles, entries, sizeof *def->weights->handles);
    fast->weights.values = snwArena_Copy(arena, def->weights->values, entries, sizeof *def->weights->values);
    fast->rest = snwArena_Copy(arena, def->mesh.rest, n, sizeof *def->mesh.rest);
    fast->origins = snwArena_Copy(arena, def->origins, handles, sizeof *def->origins);

    // Room for what is found later.
    fast->clusters = snwArena_Alloc(arena, n, sizeof *fast->clusters);

    fast->asked = snwArena_Alloc(arena, handles, sizeof *fast->asked);
    fast->values = snwArena_Alloc(arena, 3 * (size_t)fast->unknowns, sizeof *fast->values);
    fast->products = snwArena_Alloc(arena, 3 * (size_t)fast->unknowns, sizeof *fast->products);
    fast->right = snwArena_Alloc(arena, 3 * (size_t)fast->unknowns, sizeof *fast->right);
}

static snwResult PrepareFast(snwFast* fast, const snwFastDef* def, snwMessage* message)
{
    int wanted = def->clusters > 0 ? def->clusters : 2 * def->weights->handleCount;
    wanted = wanted < fast_mostClusters ? wanted : fast_mostClusters;
    CopyFastDef(fast, def);
    if (fast->arena.failed)
        return snwFailMemory(message);
    snwResult result = FindClusters(fast, wanted, message);
    if (result < 0)
        return result;
    fast->sums = snwArena_Alloc(&fast->arena, (size_t)fast->clusterCount, sizeof *fast->sums);
    fast->turns = snwArena_Alloc(&fast->arena, (size_t)fast->clusterCount, sizeof *fast->turns);
    snwTurns_Create(&fast->arena, fast->rims.dimension, fast->clusterCount, &fast->search);
    result = MakeMatrices(fast, message);
    for (int axis = 0; axis < fast->rims.dimension && result >= 0; ++axis)
        result = snwSemidefinite_Create(fast->context, fast->unknowns, &fast->factors[axis], message);
    return result;
}

snwResult snwFast_Create(snwContext* context, const snwFastDef* def, snwFast** out, snwMessage* message)
{
    snwFast* fast = snwAlloc(context, sizeof *fast);
    if (fast == NULL)
        return snwFailMemory(message);
    fast->context = fast->arena.context = context;
    snwResult result = PrepareFast(fast, def, message);
    if (result < 0)
    {
        snwFast_Destroy(fast);
        return result;
    }
    *out = fast;
    return snw_ok;
}

void snwFast_Destroy(snwFast* fast)
{
    if (fast == NULL)
        return;
    for (int axis = 0; axis < 3; ++axis)
        snwSemidefinite_Free(fast->context, &fast->factors[axis]);
    snwArena_Free(&fast->arena);
    snwFree(fast->context, fast);
}

// ---------------------------------------------------------------------------------------------------------------------
// Solving

// Is unknown number `row` of this coordinate fixed?
static bool IsFixed(const snwFast* fast, int row, int axis)
{
    int per = fast->rims.dimension + 1;
    int bit = row % per < per - 1 ? snw_fixedTurn : 1 << axis;
    return (fast->asked[row / per] & bit) != 0;
}

static void FactorAxis(snwFast* fast, int axis)
{
    snwSemidefinite* factor = &fast->factors[axis];
    size_t n = (size_t)fast->unknowns;
    for (size_t row = 0; row < n; ++row)
        for (size_t column = 0; column <= row; ++column)
        {
            bool cut = IsFixed(fast, (int)row, axis) || IsFixed(fast, (int)column, axis);
            factor->matrix[row * n + column] = cut ? 0 : fast->matrix[row * n + column];
        }
    snwSemidefinite_Factor(factor, NULL);
}

static bool IsSameHandleSet(const snwFast* fast, int a, int b)
{
    for (int k = 0; k < fast->handleCount; ++k)
        if (((fast->asked[k] >> a ^ fast->asked[k] >> b) & 1) != 0)
            return false;
    return true;
}

static void RefactorFast(snwFast* fast, const unsigned char* fixed)
{
    memcpy(fast->asked, fixed, (size_t)fast->handleCount);
    for (int axis = 0; axis < fast->rims.dimension; ++axis)
    {
        fast->shares[axis] = axis;
        for (int before = axis - 1; before >= 0; --before)
            if (IsSameHandleSet(fast, axis, before))
                fast->shares[axis] = before;
        if (fast->shares[axis] == axis)
            FactorAxis(fast, axis);
    }
}

static void ReadFastPose(snwFast* fast, const snwRigPose* pose)
{
    int d = fast->rims.dimension;
    for (int k = 0; k < fast->handleCount; ++k)
        for (int axis = 0; axis < d; ++axis)
            for (int q = 0; q <= d; ++q)
                fast->values[axis * fast->unknowns + k * (d + 1) + q] = q == d ? ComponentOfVec(pose[k].place, axis)
                                                                               : pose[k].linear.m[axis][q];
}

static void WritePose(const snwFast* fast, snwRigPose* pose)
{
    int d = fast->rims.dimension;
    for (int k = 0; k < fast->handleCount; ++k)
    {
        double* place[3] = {&pose[k].place.x, &pose[k].place.y, &pose[k].place.z};
        for (int axis = 0; axis < d; ++axis)
        {
            const double* row = fast->values + axis * fast->unknowns + k * (d + 1);
            for (int q = 0; q < d; ++q)
                pose[k].linear.m[axis][q] = row[q];
            *place[axis] = row[d];
        }
    }
}

static double DotUnknowns(const double* a, const double* b, int count)
{
    double sum = 0;
    for (int i = 0; i < count; ++i)
        sum += a[i] * b[i];
    return sum;
}

static void LocalFastStep(snwFast* fast)
{
    int d = fast->rims.dimension, n = fast->unknowns;
    for (int c = 0; c < fast->clusterCount; ++c)
    {
        fast->sums[c] = (snwMat3){{{0}}};
        for (int axis = 0; axis < d; ++axis)
            for (int j = 0; j < d; ++j)
                fast->sums[c].m[axis][j] = DotUnknowns(
                    fast->couplings + (size_t)(c * d + j) * (size_t)n, fast->values + axis * n, n);
    }
    snwTurns_Find(&fast->search, fast->context, fast->sums, fast->turns);
}

// L T, and half the negative gradient of the rows that are not fixed.
static void FindResidual(snwFast* fast)
{
    int d = fast->rims.dimension, n = fast->unknowns;
    for (int axis = 0; axis < d; ++axis)
        for (int row = 0; row < n; ++row)
        {
            double product = DotUnknowns(fast->matrix + (size_t)row * (size_t)n, fast->values + axis * n, n);
            fast->products[axis * n + row] = product;
            fast->right[axis * n + row] = -product;
        }

    // Couplings of the clusters times their rotations.
    for (int c = 0; c < fast->clusterCount; ++c)
        for (int axis = 0; axis < d; ++axis)
            for (int j = 0; j < d; ++j)
            {
                const double* coupling = fast->couplings + (size_t)(c * d + j) * (size_t)n;
                double turn = fast->turns[c].m[axis][j];
                for (int row = 0; row < n; ++row)
                    fast->right[axis * n + row] += coupling[row] * turn;
            }
}

static void GlobalFastStep(snwFast* fast)
{
    int n = fast->unknowns;
    for (int axis = 0; axis < fast->rims.dimension; ++axis)
    {
        double* right = fast->right + axis * n;
        for (int row = 0; row < n; ++row)
            if (IsFixed(fast, row, axis))
                right[row] = 0;
        snwSemidefinite_Solve(&fast->factors[fast->shares[axis]], right);
        for (int row = 0; row < n; ++row)
            if (!IsFixed(fast, row, axis))
                fast->values[axis * n + row] += right[row];
    }
}

// <T, L T> - 2 <R, B T> + d V, once the residual and the sums are those of T.
static double FastEnergy(const snwFast* fast)
{
    int d = fast->rims.dimension;
    double energy = d * fast->rims.volume + DotUnknowns(fast->values, fast->products, d * fast->unknowns);
    for (int c = 0; c < fast->clusterCount; ++c)
        for (int i = 0; i < d * d; ++i)
            energy -= 2 * fast->turns[c].m[i / d][i % d] * fast->sums[c].m[i / d][i % d];
    return energy;
}

void snwFast_Solve(snwFast* fast, const unsigned char* fixed, int iterations, snwRigPose* pose, snwRimsReport* report)
{
    *report = (snwRimsReport){0};
    if (!fast->solved || memcmp(fast->asked, fixed, (size_t)fast->handleCount) != 0)
    {
        RefactorFast(fast, fixed);
        fast->solved = report->factored = true;
    }

    // In unknowns; the rotations are those that fit the pose.
    ReadFastPose(fast, pose);
    snwTurns_Forget(&fast->search);
    LocalFastStep(fast);
    FindResidual(fast);

    report->start = FastEnergy(fast);
    for (int i = 0; i < iterations; ++i)
    {
        GlobalFastStep(fast);
        LocalFastStep(fast);
        FindResidual(fast);
    }

    report->energy = FastEnergy(fast);
    WritePose(fast, pose);
}

void snwFast_Skin(const snwFast* fast, const snwRigPose* pose, snwVec3* x)
{
    const snwWeights* w = &fast->weights;
    for (int i = 0; i < fast->rims.vertexCount; ++i)
    {
        snwVec3 sum = {0, 0, 0};
        for (int entry = w->starts[i]; entry < w->starts[i + 1]; ++entry)
        {
            int k = w->handles[entry];
            snwVec3 turned = snwMat3_MulVec(pose[k].linear, snwVec3_Sub(fast->rest[i], fast->origins[k]));
            sum = snwVec3_MulAdd(sum, w->values[entry], snwVec3_Add(turned, pose[k].place));
        }
        x[i] = sum;
    }
}
