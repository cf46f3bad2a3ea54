// Bones of a method that has none: each is put where its own flesh went, by the rigid motion that fits best in the
// sense of least squares (Kabsch 1976).

#include "view/film.h"

#include "math/eigen.h"
#include "math/transform.h"

typedef struct Fit
{
    double weight;
    snwVec3 rest, now; // sums, then means
    snwMat3 spread;    // sum of (now - mean) (rest - mean)^T
} Fit;

static snwVec3 VertexNow(const snwVertices* now, int vertex)
{
    const float* p = (const float*)((const char*)now->positions + (size_t)vertex * (size_t)now->stride);
    return (snwVec3){(double)p[0], (double)p[1], (double)p[2]};
}

static double SquaredDistance(snwVec3 p, snwVec3 a, snwVec3 b)
{
    snwVec3 span = snwVec3_Sub(b, a), to = snwVec3_Sub(p, a);
    double length = snwVec3_Dot(span, span);
    double t = length > 0 ? fmin(fmax(snwVec3_Dot(to, span) / length, 0), 1) : 0;
    snwVec3 gap = snwVec3_Sub(to, snwVec3_Scale(span, t));
    return snwVec3_Dot(gap, gap);
}

// Vertices of elements that the bone owns count alike; of a bone without any, all vertices do, the nearest most.
static double Weight(const snwCharacterDef* character, const int* owners, bool owns, int bone, int vertex)
{
    if (owns)
        return owners[vertex] == bone ? 1 : 0;
    const snwBoneDef* def = &character->bones[bone];
    snwVec3 span = snwVec3_Sub(def->tail, def->head);
    double soft = def->radius * def->radius + 1e-3 * snwVec3_Dot(span, span) + 1e-12;
    double near = soft / (SquaredDistance(character->vertices[vertex], def->head, def->tail) + soft);
    return near * near * near;
}

static snwTransform FitBone(const snwCharacterDef* character, const snwVertices* now, const int* owners, int bone)
{
    Fit fit = {0};
    bool owns = false;
    for (int v = 0; v < character->vertexCount && !owns; ++v)
        owns = owners[v] == bone;

    // Middles at rest and now, weighted by how much each vertex follows the bone.
    for (int v = 0; v < character->vertexCount; ++v)
    {
        double weight = Weight(character, owners, owns, bone, v);
        fit.weight += weight;
        fit.rest = snwVec3_Add(fit.rest, snwVec3_Scale(character->vertices[v], weight));
        fit.now = snwVec3_Add(fit.now, snwVec3_Scale(VertexNow(now, v), weight));
    }

    if (!(fit.weight > 0))
        return snwIdentityTransform();
    fit.rest = snwVec3_Scale(fit.rest, 1 / fit.weight);
    fit.now = snwVec3_Scale(fit.now, 1 / fit.weight);

    // The covariance of both; its polar factor is the rotation.
    for (int v = 0; v < character->vertexCount; ++v)
    {
        double weight = Weight(character, owners, owns, bone, v);
        if (weight > 0)
            fit.spread = snwMat3_Add(
                fit.spread, snwMat3_Outer(snwVec3_Scale(snwVec3_Sub(VertexNow(now, v), fit.now), weight),
                                snwVec3_Sub(character->vertices[v], fit.rest)));
    }

    snwTransform result = {.rotation = snwQuat_FromMat3(snwPolar3_Compute(fit.spread).rotation)};
    result.position = snwVec3_Sub(fit.now, snwQuat_Rotate(result.rotation, fit.rest));
    return result;
}

static void MarkOwners(const snwCharacterDef* character, int* owners)
{
    const int* vertices = character->tetCount > 0        ? character->tets[0]
                          : character->hexCount > 0      ? character->hexes[0]
                          : character->triangles != NULL ? character->triangles[0]
                                                         : NULL;
    int size = character->tetCount > 0 ? 4 : character->hexCount > 0 ? 8 : 3;
    int count = character->tetCount + character->hexCount + character->triangleCount;
    for (int v = 0; v < character->vertexCount; ++v)
        owners[v] = -1;
    for (int i = 0; character->elementBones != NULL && vertices != NULL && i < size * count; ++i)
        if (character->elementBones[i / size] >= 0)
            owners[vertices[i]] = character->elementBones[i / size];
}

snwResult snwFitBones(snwContext* context, const snwCharacterDef* character, const snwVertices* now,
    snwTransform* bones, snwMessage* message)
{
    int* owners = snwAllocArray(context, (size_t)character->vertexCount + 1, sizeof *owners);
    if (owners == NULL)
        return snwFailMemory(message);
    MarkOwners(character, owners);
    for (int b = 0; b < character->boneCount; ++b)
        bones[b] = FitBone(character, now, owners, b);
    snwFree(context, owners);
    return snw_ok;
}
