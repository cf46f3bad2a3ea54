// Sums over the vertices of every pair of handles that meet, made once per rig (see moments.h).

#include "rig/moments.h"

#include "base/tasks.h"

#include <string.h>

// Vertices of each handle, rising, and the pair of every two handles that meet (-1: none). A pair is summed by one task
// alone, in the order of the vertices: that makes the bits the same for any number of threads.
typedef struct Builder
{
    const snwMomentsDef* def;
    snwMoments* moments;
    int* starts;    // handleCount + 1
    int* vertices;  // of the handles
    double* shares; // their weights
    int* pairs;     // handleCount square, lower triangle
} Builder;

static bool CountsInMoments(const snwMomentsDef* def, int vertex)
{
    return def->masses[vertex] > 0 && (def->held == NULL || def->held[vertex] == 0);
}

static bool AllocateBuilder(snwContext* context, Builder* b)
{
    const snwWeights* weights = b->def->weights;
    size_t handles = (size_t)weights->handleCount, entries = (size_t)weights->starts[weights->vertexCount];
    b->starts = snwAllocArray(context, handles + 2, sizeof *b->starts);
    b->vertices = snwAllocArray(context, entries, sizeof *b->vertices);
    b->shares = snwAllocArray(context, entries, sizeof *b->shares);
    b->pairs = snwAllocArray(context, handles * handles, sizeof *b->pairs);
    return b->starts != NULL && b->vertices != NULL && b->shares != NULL && b->pairs != NULL;
}

static void FreeBuilder(snwContext* context, Builder* b)
{
    snwFree(context, b->starts);
    snwFree(context, b->vertices);
    snwFree(context, b->shares);
    snwFree(context, b->pairs);
}

// Counted one place late, so that filling moves starts[k] to where it belongs.
static void ListVertices(Builder* b)
{
    const snwWeights* w = b->def->weights;
    for (int i = 0; i < w->vertexCount; ++i)
        for (int e = w->starts[i]; e < w->starts[i + 1] && CountsInMoments(b->def, i); ++e)
            b->starts[w->handles[e] + 2]++;
    for (int k = 0; k < w->handleCount; ++k)
        b->starts[k + 2] += b->starts[k + 1];
    for (int i = 0; i < w->vertexCount; ++i)
    {
        for (int e = w->starts[i]; e < w->starts[i + 1] && CountsInMoments(b->def, i); ++e)
        {
            int at = b->starts[w->handles[e] + 1]++;
            b->vertices[at] = i, b->shares[at] = w->values[e];
        }
    }
}

// Marks pairs that meet with 1, then numbers them. Returns their number.
static int NumberMeetingPairs(Builder* b, int* starts)
{
    const snwWeights* w = b->def->weights;
    int handles = w->handleCount, count = 0;
    for (int i = 0; i < w->vertexCount; ++i)
        for (int e = w->starts[i]; e < w->starts[i + 1] && CountsInMoments(b->def, i); ++e)
            for (int f = w->starts[i]; f <= e; ++f)
                b->pairs[(size_t)w->handles[e] * (size_t)handles + (size_t)w->handles[f]] = 1;

    // Rows of pairs, the partner's number rising.
    for (int k = 0; k < handles; ++k)
    {
        starts[k] = count;
        for (int l = 0; l <= k; ++l)
        {
            int* pair = &b->pairs[(size_t)k * (size_t)handles + (size_t)l];
            *pair = *pair != 0 ? count++ : -1;
        }
    }

    starts[handles] = count;
    return count;
}

static void AddToPair(snwMomentPair* pair, double mass, snwVec3 own, snwVec3 other)
{
    pair->p0 += mass;
    pair->p1 = snwVec3_MulAdd(pair->p1, mass, own);
    pair->p1Back = snwVec3_MulAdd(pair->p1Back, mass, other);
    pair->p2 = snwMat3_Add(pair->p2, snwMat3_Outer(snwVec3_Scale(own, mass), other));
}

static void FillMoments(int begin, int end, void* data)
{
    const Builder* b = data;
    const snwMomentsDef* def = b->def;
    const snwWeights* w = def->weights;
    for (int k = begin; k < end; ++k)
    {
        const int* pairs = b->pairs + (size_t)k * (size_t)w->handleCount;

        // Pairs name their partner; then every vertex of k adds its share to all pairs with it.
        for (int l = 0; l <= k; ++l)
            if (pairs[l] >= 0)
                b->moments->pairs[pairs[l]].other = l;
        for (int at = b->starts[k]; at < b->starts[k + 1]; ++at)
        {
            int i = b->vertices[at];
            double mass = def->masses[i] * b->shares[at];
            snwVec3 own = snwVec3_Sub(def->rest[i], def->origins[k]);
            for (int e = w->starts[i]; e < w->starts[i + 1] && w->handles[e] <= k; ++e)
                AddToPair(&b->moments->pairs[pairs[w->handles[e]]], mass * w->values[e], own,
                    snwVec3_Sub(def->rest[i], def->origins[w->handles[e]]));
        }
    }
}

snwResult snwMoments_Create(snwContext* context, const snwMomentsDef* def, snwMoments* moments, snwMessage* message)
{
    int handles = def->weights->handleCount;
    *moments = (snwMoments){.handleCount = handles};
    Builder builder = {.def = def, .moments = moments};
    moments->starts = snwAllocArray(context, (size_t)handles + 1, sizeof *moments->starts);
    bool made = moments->starts != NULL && AllocateBuilder(context, &builder);

    if (made)
    {
        ListVertices(&builder);
        moments->pairCount = NumberMeetingPairs(&builder, moments->starts);
        moments->pairs = snwAllocArray(context, (size_t)moments->pairCount, sizeof *moments->pairs);
        made = moments->pairs != NULL;
    }

    // A task per handle: pairs are summed in the order of vertices, whatever the number of threads.
    if (made)
        snwParallelFor(context, handles, 1, FillMoments, &builder);
    FreeBuilder(context, &builder);
    if (!made)
        snwMoments_Free(context, moments);
    return made ? snw_ok : snwFailMemory(message);
}

void snwMoments_Free(snwContext* context, snwMoments* moments)
{
    snwFree(context, moments->starts);
    snwFree(context, moments->pairs);
    *moments = (snwMoments){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Matrices

static void PutMatrixBlock(double* matrix, size_t stride, snwMat3 block)
{
    for (int i = 0; i < 3; ++i)
        memcpy(matrix + (size_t)i * stride, block.m[i], sizeof block.m[i]);
}

static void PutRigPair(const snwMomentPair* pair, snwMat3 own, snwMat3 other, double* matrix, size_t stride)
{
    snwMat3 y = snwMat3_MulTranspose(snwMat3_Mul(own, pair->p2), other);
    double trace = snwMat3_Trace(y);
    snwMat3 turn = snwMat3_Sub(snwMat3_Diagonal(trace, trace, trace), snwMat3_Transpose(y));
    PutMatrixBlock(matrix, stride, snwMat3_Diagonal(pair->p0, pair->p0, pair->p0));
    PutMatrixBlock(matrix + 3, stride, snwMat3_Skew(snwVec3_Negate(snwMat3_MulVec(other, pair->p1Back))));
    PutMatrixBlock(matrix + 3 * stride, stride, snwMat3_Skew(snwMat3_MulVec(own, pair->p1)));
    PutMatrixBlock(matrix + 3 * stride + 3, stride, turn);
}

void snwMoments_RigMatrix(const snwMoments* moments, const snwMat3* rotations, double* matrix)
{
    size_t n = 6 * (size_t)moments->handleCount;
    memset(matrix, 0, n * n * sizeof *matrix);
    for (int k = 0; k < moments->handleCount; ++k)
        for (int at = moments->starts[k]; at < moments->starts[k + 1]; ++at)
        {
            const snwMomentPair* pair = &moments->pairs[at];
            double* block = matrix + 6 * (size_t)k * n + 6 * (size_t)pair->other;
            PutRigPair(pair, rotations[k], rotations[pair->other], block, n);
        }
}

void snwMoments_AffineMatrix(const snwMoments* moments, double* matrix)
{
    size_t n = 4 * (size_t)moments->handleCount;
    memset(matrix, 0, n * n * sizeof *matrix);
    for (int k = 0; k < moments->handleCount; ++k)
        for (int at = moments->starts[k]; at < moments->starts[k + 1]; ++at)
        {
            const snwMomentPair* pair = &moments->pairs[at];
            double* block = matrix + 4 * (size_t)k * n + 4 * (size_t)pair->other;
            PutMatrixBlock(block, n, pair->p2);
            block[3] = pair->p1.x, block[n + 3] = pair->p1.y, block[2 * n + 3] = pair->p1.z;
            memcpy(
                block + 3 * n, (double[]){pair->p1Back.x, pair->p1Back.y, pair->p1Back.z, pair->p0}, 4 * sizeof *block);
        }
}
