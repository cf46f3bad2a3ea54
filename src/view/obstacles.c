// A few boxes around all that is not ground: a cheap test for which pixels see nothing else.

#include "view/obstacles.h"

#include <float.h>

// Triangles with a corner that is not finite are never hit, so such corners do not count.
static void GrowObstacle(snwObstacles* obstacles, int box, const snwPictureMesh* mesh)
{
    snwFloat3 lower = obstacles->lower[box], upper = obstacles->upper[box];
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        snwFloat3 p = snwFloat3_Load(mesh->positions + 3 * (size_t)i);
        if (!snwFloat3_IsFinite(p))
            continue;
        lower = (snwFloat3){snwFloat_Min(lower.x, p.x), snwFloat_Min(lower.y, p.y), snwFloat_Min(lower.z, p.z)};
        upper = (snwFloat3){snwFloat_Max(upper.x, p.x), snwFloat_Max(upper.y, p.y), snwFloat_Max(upper.z, p.z)};
    }
    obstacles->lower[box] = lower;
    obstacles->upper[box] = upper;
}

snwObstacles snwMakeObstacles(const snwPicture* picture)
{
    snwObstacles result = {.count = picture->meshCount < snw_maxObstacles ? picture->meshCount : snw_maxObstacles};
    for (int i = 0; i < result.count; ++i)
    {
        result.lower[i] = (snwFloat3){FLT_MAX, FLT_MAX, FLT_MAX};
        result.upper[i] = (snwFloat3){-FLT_MAX, -FLT_MAX, -FLT_MAX};
    }

    // Several meshes share a box if there are more of them than boxes.
    for (int i = 0; i < picture->meshCount; ++i)
    {
        if (picture->meshes[i].kind == snw_pictureGround || picture->meshes[i].kind == snw_pictureWall)
            result.groundCount++;
        else
            GrowObstacle(&result, (int)((long)i * result.count / picture->meshCount), &picture->meshes[i]);
    }

    // Boxes that nothing is in are left out; the others get a ball around them.
    int kept = 0;
    for (int i = 0; i < result.count; ++i)
        if (result.lower[i].x <= result.upper[i].x)
        {
            snwFloat3 half = snwFloat3_Scale(snwFloat3_Sub(result.upper[i], result.lower[i]), 0.5f);
            result.lower[kept] = result.lower[i];
            result.upper[kept] = result.upper[i];
            result.centre[kept] = snwFloat3_Add(result.lower[i], half);
            result.radius[kept++] = 1.001f * snwFloat3_Length(half);
        }

    result.count = kept;
    return result;
}

// Cuts the part of the ray between two planes out of near .. far.
static void CutSlab(float lower, float upper, float origin, float direction, float* near, float* far)
{
    float inverse = 1 / (fabsf(direction) > 1e-12f ? direction : 1e-12f);
    float a = (lower - origin) * inverse, b = (upper - origin) * inverse;
    *near = snwFloat_Max(*near, snwFloat_Min(a, b));
    *far = snwFloat_Min(*far, snwFloat_Max(a, b));
}

static bool MeetsBox(const snwObstacles* obstacles, int i, snwFloat3 origin, snwFloat3 direction, float pad)
{
    snwFloat3 lower = obstacles->lower[i], upper = obstacles->upper[i];
    float near = 0, far = FLT_MAX;
    CutSlab(lower.x - pad, upper.x + pad, origin.x, direction.x, &near, &far);
    CutSlab(lower.y - pad, upper.y + pad, origin.y, direction.y, &near, &far);
    CutSlab(lower.z - pad, upper.z + pad, origin.z, direction.z, &near, &far);
    return near <= far;
}

bool snwObstacles_Meet(const snwObstacles* obstacles, snwFloat3 origin, snwFloat3 direction, float spread)
{
    for (int i = 0; i < obstacles->count; ++i)
    {
        snwFloat3 to = snwFloat3_Sub(obstacles->centre[i], origin);
        float radius = obstacles->radius[i], along = snwFloat3_Dot(to, direction), square = snwFloat3_Dot(to, to);
        // The cone is nowhere wider than at the far end of the box. The ball around the box is the quicker test.
        float pad = spread * (sqrtf(square) + radius), wide = radius + pad;
        bool near = square <= wide * wide || (along > 0 && square - along * along <= wide * wide);
        if (near && MeetsBox(obstacles, i, origin, direction, pad))
            return true;
    }
    return false;
}

bool snwObstacles_Near(const snwObstacles* obstacles, snwFloat3 p, float reach)
{
    for (int i = 0; i < obstacles->count; ++i)
    {
        snwFloat3 lower = obstacles->lower[i], upper = obstacles->upper[i];
        snwFloat3 gap = {p.x - snwFloat_Clamp(p.x, lower.x, upper.x), p.y - snwFloat_Clamp(p.y, lower.y, upper.y),
            p.z - snwFloat_Clamp(p.z, lower.z, upper.z)};
        if (snwFloat3_Dot(gap, gap) <= reach * reach)
            return true;
    }
    return false;
}
