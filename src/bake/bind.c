// Between bind space and where the skin puts a vertex: the blended map of its joints, how much it stretches, and a
// way back, as far as there is one.

#include "bake/bind.h"

#include "base/result.h"

#include <math.h>

#define SNW_FLAT 1e-3 // of the stretch: a direction that shrinks to less has no inverse worth having

snwResult snwBind_Make(const snwAsset* asset, int node, bool bent, snwArena* arena, snwBind* bind, snwMessage* message)
{
    const snwAssetNode* from = &asset->nodes[node];
    const snwAssetMesh* mesh = &asset->meshes[from->mesh];
    *bind = (snwBind){.asset = asset, .mesh = mesh, .node = node};
    if (bent && from->skin >= 0 && mesh->weights.starts != NULL)
        bind->skin = &asset->skins[from->skin];
    if (bind->skin != NULL)
        bind->joints = snwArena_Alloc(arena, (size_t)bind->skin->jointCount + 1, sizeof *bind->joints);
    bind->weights = snwArena_Alloc(arena, (size_t)mesh->morphCount + 1, sizeof *bind->weights);
    bind->base = snwArena_Alloc(arena, (size_t)mesh->vertexCount + 1, sizeof *bind->base);
    return arena->failed ? snwFailMemory(message) : snw_ok;
}

static void AddMorph(const snwAssetMorph* morph, double weight, int count, snwVec3* base)
{
    for (int i = 0; i < count; ++i)
    {
        const float* offset = morph->positions[i];
        base[i] = snwVec3_MulAdd(base[i], weight, (snwVec3){(double)offset[0], (double)offset[1], (double)offset[2]});
    }
}

void snwBind_Pose(snwBind* bind, const snwAssetPoser* poser, const snwAssetAnimation* animation, double time)
{
    const snwAssetMesh* mesh = bind->mesh;
    bind->place = poser->places[bind->node];
    for (int i = 0; bind->skin != NULL && i < bind->skin->jointCount; ++i)
        bind->joints[i] = snwAffine_Compose(poser->places[bind->skin->joints[i]], bind->skin->inverseBinds[i]);
    for (int i = 0; i < mesh->vertexCount; ++i)
        bind->base[i] = mesh->positions[i];
    snwAsset_SampleMorphs(bind->asset, animation, bind->node, time, bind->weights);
    for (int i = 0; i < mesh->morphCount; ++i)
        if (mesh->morphs[i].positions != NULL && bind->weights[i] != 0)
            AddMorph(&mesh->morphs[i], bind->weights[i], mesh->vertexCount, bind->base);
}

snwAffine snwBind_Blend(const snwBind* bind, int vertex)
{
    if (bind->skin == NULL)
        return bind->place;
    const snwAssetWeights* weights = &bind->mesh->weights;
    snwAffine sum = {0};
    double total = 0;

    // Joints blended by the vertex' weights, as every viewer does.
    for (int k = weights->starts[vertex]; k < weights->starts[vertex + 1]; ++k)
    {
        if (weights->bones[k] >= bind->skin->jointCount)
            continue;
        const snwAffine* joint = &bind->joints[weights->bones[k]];
        sum.linear = snwMat3_Add(sum.linear, snwMat3_Scale(joint->linear, weights->values[k]));
        sum.translation = snwVec3_MulAdd(sum.translation, weights->values[k], joint->translation);
        total += weights->values[k];
    }

    // Without any weight the node alone takes it along.
    if (!(total > 0))
        return bind->place;
    return (snwAffine){snwMat3_Scale(sum.linear, 1 / total), snwVec3_Scale(sum.translation, 1 / total)};
}

double snwBind_Stretch(snwMat3 a)
{
    snwMat3 square = snwMat3_TransposeMul(a, a);
    double most = 0;
    for (int i = 0; i < 3; ++i)
        most = fmax(most, fabs(square.m[i][0]) + fabs(square.m[i][1]) + fabs(square.m[i][2]));
    return sqrt(most);
}

bool snwBind_Undo(snwMat3 a, snwVec3 moved, snwVec3* offset)
{
    double stretch = snwBind_Stretch(a), volume = fabs(snwMat3_Determinant(a));
    snwMat3 inverse;
    // With two directions as long as the longest, this is how short the third one is.
    if (volume > SNW_FLAT * stretch * stretch * stretch && snwMat3_Inverse(a, &inverse))
    {
        *offset = snwMat3_MulVec(inverse, moved);
        return true;
    }
    double ridge = SNW_FLAT * stretch * stretch;
    snwMat3 square = snwMat3_Add(snwMat3_TransposeMul(a, a), snwMat3_Diagonal(ridge, ridge, ridge));
    snwVec3 right = snwMat3_MulVec(snwMat3_Transpose(a), moved);
    *offset = snwMat3_Inverse(square, &inverse) ? snwMat3_MulVec(inverse, right) : (snwVec3){0, 0, 0};
    return false;
}
