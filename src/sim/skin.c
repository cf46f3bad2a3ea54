// What is seen and touched: the skin of a body, filled when somebody asks, and the ray that picks it.

#include "sim/origin.h"

#include <float.h>
#include <string.h>

typedef struct SkinFill
{
    snwBody* body;
    snwVertices vertices;
} SkinFill;

static void FillSkinPositions(int begin, int end, void* data)
{
    SkinFill* fill = data;
    for (int i = begin; i < end; ++i)
    {
        size_t vertex = (size_t)fill->body->character->skinVertices[i];
        const char* row = (const char*)fill->vertices.positions + vertex * (size_t)fill->vertices.stride;
        memcpy(fill->body->skinPositions + 3 * (size_t)i, row, 3 * sizeof(float));
    }
}

static snwVec3 SkinPoint(const float* positions, int index)
{
    const float* p = positions + 3 * (size_t)index;
    return (snwVec3){p[0], p[1], p[2]};
}

// Weighted by area: the cross product of two edges is twice that.
void snwCharacter_SkinNormals(const snwCharacter* character, const float* positions, float* normals)
{
    memset(normals, 0, (size_t)character->skinVertexCount * 3 * sizeof(float));
    for (int i = 0; i < character->skinTriangleCount; ++i)
    {
        const int* t = character->skinTriangles[i];
        snwVec3 a = SkinPoint(positions, t[0]), b = SkinPoint(positions, t[1]), c = SkinPoint(positions, t[2]);
        snwVec3 normal = snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(c, a));
        for (int k = 0; k < 3; ++k)
        {
            float* sum = normals + 3 * (size_t)t[k];
            sum[0] += (float)normal.x;
            sum[1] += (float)normal.y;
            sum[2] += (float)normal.z;
        }
    }

    // A vertex without area has no normal: 0, not NaN.
    for (int i = 0; i < character->skinVertexCount; ++i)
    {
        float* n = normals + 3 * (size_t)i;
        snwVec3 unit = snwVec3_Normalize((snwVec3){n[0], n[1], n[2]});
        n[0] = (float)unit.x, n[1] = (float)unit.y, n[2] = (float)unit.z;
    }
}

// Normals are those of the body seen from its own origin, where triangles are not rounded.
static void UpdateSkin(snwSim* sim, int index, snwVec3 from)
{
    snwBody* body = &sim->bodies[index];
    if (body->skinChanges == sim->changes && snwVec3_Distance(body->skinFrom, from) == 0.0)
        return;
    SkinFill fill = {.body = body};
    snwSim_SeeVertices(sim, index, 1, *body->origin, &fill.vertices);
    snwParallelFor(sim->context, body->character->skinVertexCount, 4096, FillSkinPositions, &fill);
    snwCharacter_SkinNormals(body->character, body->skinPositions, body->skinNormals);
    if (snwVec3_Distance(*body->origin, from) > 0.0)
    {
        snwSim_SeeVertices(sim, index, 1, from, &fill.vertices);
        snwParallelFor(sim->context, body->character->skinVertexCount, 4096, FillSkinPositions, &fill);
    }
    body->skinChanges = sim->changes;
    body->skinFrom = from;
}

snwResult snwSim_GetSkin(snwSim* sim, int index, snwSkin* skin)
{
    return snwSim_SeeSkin(sim, index, (snwVec3){0, 0, 0}, skin);
}

snwResult snwSim_SeeSkin(snwSim* sim, int index, snwVec3 from, snwSkin* skin)
{
    memset(skin, 0, sizeof *skin);
    if (index < 0 || index >= sim->bodyCount)
        return snw_errorArgument;
    UpdateSkin(sim, index, from);
    const snwBody* body = &sim->bodies[index];
    *skin = (snwSkin){
        .positions = body->skinPositions,
        .normals = body->skinNormals,
        .vertexCount = body->character->skinVertexCount,
        .stride = 3 * (int)sizeof(float),
        .triangles = &body->character->skinTriangles[0][0],
        .triangleCount = body->character->skinTriangleCount,
        .vertices = body->character->skinVertices,
    };
    return snw_ok;
}

// Moeller and Trumbore 1997. Both sides count: inside out flesh can be picked too.
static bool HitTriangle(
    const snwVec3 corners[3], snwVec3 origin, snwVec3 direction, double* distance, double weights[3])
{
    snwVec3 e1 = snwVec3_Sub(corners[1], corners[0]), e2 = snwVec3_Sub(corners[2], corners[0]);
    snwVec3 p = snwVec3_Cross(direction, e2);
    double determinant = snwVec3_Dot(e1, p);
    if (determinant == 0.0)
        return false;
    snwVec3 s = snwVec3_Sub(origin, corners[0]), q = snwVec3_Cross(s, e1);
    double u = snwVec3_Dot(s, p) / determinant, v = snwVec3_Dot(direction, q) / determinant;
    double t = snwVec3_Dot(e2, q) / determinant;
    if (!(u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= 0.0))
        return false;
    *distance = t;
    weights[0] = 1.0 - u - v, weights[1] = u, weights[2] = v;
    return true;
}

static void PickBody(const snwSim* sim, int index, snwVec3 origin, snwVec3 direction, snwPick* pick)
{
    const snwBody* body = &sim->bodies[index];
    const snwCharacter* character = body->character;
    for (int i = 0; i < character->skinTriangleCount; ++i)
    {
        const int* t = character->skinTriangles[i];
        const float* x = body->skinPositions;
        const snwVec3 corners[3] = {SkinPoint(x, t[0]), SkinPoint(x, t[1]), SkinPoint(x, t[2])};
        double distance, weights[3];

        if (!HitTriangle(corners, origin, direction, &distance, weights) || distance >= pick->distance)
            continue;

        // The corner that is nearest to the hit stands for it.
        int nearest = weights[1] > weights[0] ? 1 : 0;
        nearest = weights[2] > weights[nearest] ? 2 : nearest;
        *pick = (snwPick){.body = index,
            .triangle = i,
            .vertex = character->skinVertices[t[nearest]],
            .distance = distance,
            .position = snwVec3_Add(*body->origin, snwVec3_MulAdd(origin, distance, direction)),
            .weights = {weights[0], weights[1], weights[2]}};
    }
}

snwResult snwSim_Pick(snwSim* sim, snwVec3 origin, snwVec3 direction, snwPick* pick)
{
    *pick = (snwPick){.body = -1, .triangle = -1, .vertex = -1, .distance = DBL_MAX};
    double length = snwVec3_Length(direction);
    if (!snwVec3_IsFinite(origin) || !(length > 0.0) || !snwVec3_IsFinite(direction))
        return snw_errorArgument;
    direction = snwVec3_Scale(direction, 1.0 / length);
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwVec3 from = *sim->bodies[i].origin;
        UpdateSkin(sim, i, from);
        PickBody(sim, i, snwVec3_Sub(origin, from), direction, pick);
    }
    return snw_ok;
}
