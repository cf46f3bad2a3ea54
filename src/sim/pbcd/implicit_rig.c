// Rows of a rig for the orthogonality constraint: what each handle does to each vertex, times the vertex's mass.
//
//     rig      e_d and e_d x R (p - c) for the axes d:    moving and turning
//     affine   e_d and e_d (p - c)_a for the axes d, a:   any affine map
// with p at rest. Any point c spans the same; the middle of the body keeps the numbers even.

#include "sim/pbcd/implicit.h"

#include <string.h>

static int RowsPerHandle(const snwImplicitRig* rig)
{
    return rig->kind == snw_complementRig ? 6 : 12;
}

int snwImplicitRig_RowCount(const snwImplicitRig* rig)
{
    return RowsPerHandle(rig) * rig->weights->handleCount;
}

static snwVec3 MiddleOfRest(const snwImplicitRig* rig)
{
    snwVec3 sum = {0, 0, 0};
    for (int v = 0; v < rig->vertexCount; ++v)
        sum = snwVec3_Add(sum, rig->rest[v]);
    return snwVec3_Scale(sum, 1.0 / (rig->vertexCount > 0 ? rig->vertexCount : 1));
}

// How vertex v moves by each of the handle's rows, for a weight of `share`.
static void PutVertexRows(const snwImplicitRig* rig, snwVec3 arm, double share, snwVec3 out[12])
{
    double along[3] = {arm.x, arm.y, arm.z};
    for (int d = 0; d < 3; ++d)
    {
        snwVec3 axis = {d == 0 ? share : 0, d == 1 ? share : 0, d == 2 ? share : 0};
        out[d] = axis;
        if (rig->kind == snw_complementRig)
            out[3 + d] = snwVec3_Cross(axis, arm);
        else
            for (int a = 0; a < 3; ++a)
                out[3 + 3 * d + a] = snwVec3_Scale(axis, along[a]);
    }
}

void snwImplicitRig_MakeRows(const snwImplicitRig* rig, snwVec3* rows)
{
    const snwWeights* weights = rig->weights;
    size_t n = (size_t)rig->vertexCount, count = (size_t)RowsPerHandle(rig);
    snwVec3 middle = MiddleOfRest(rig);
    memset(rows, 0, n * (size_t)snwImplicitRig_RowCount(rig) * sizeof *rows);
    for (int v = 0; v < rig->vertexCount; ++v)
        for (int at = weights->starts[v]; at < weights->starts[v + 1]; ++at)
        {
            int handle = weights->handles[at];
            snwVec3 out[12], arm = snwVec3_Sub(rig->rest[v], middle);
            if (rig->kind == snw_complementRig)
                arm = snwQuat_Rotate(rig->handles[handle].rotation, arm);
            PutVertexRows(rig, arm, rig->masses[v] * weights->values[at], out);
            for (size_t k = 0; k < count; ++k)
                rows[((size_t)handle * count + k) * n + (size_t)v] = out[k];
        }
}
