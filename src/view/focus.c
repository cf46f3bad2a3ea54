// How much of a place on a body is in sight from a direction: patches of skin around it, asked by rays whether flesh
// is in the way. Films of details choose their side by it.

#include "view/focus.h"

enum
{
    snw_looks = 200 // rays
};

typedef struct Sight
{
    const snwFilm* film;
    const float* positions;
    snwFloat3 from, to; // a ray, from the surface to the camera
    snwFloat3 centre;   // triangles farther from there than `reach` hide nothing
    float reach;
} Sight;

static bool Crosses(const Sight* sight, const float* p, const int* triangle)
{
    snwFloat3 a = snwFloat3_Load(p + 3 * (size_t)triangle[0]);
    snwFloat3 u = snwFloat3_Sub(snwFloat3_Load(p + 3 * (size_t)triangle[1]), a);
    snwFloat3 v = snwFloat3_Sub(snwFloat3_Load(p + 3 * (size_t)triangle[2]), a);
    snwFloat3 way = snwFloat3_Sub(sight->to, sight->from), across = snwFloat3_Cross(way, v);
    float det = snwFloat3_Dot(u, across);
    if (det == 0)
        return false;
    snwFloat3 to = snwFloat3_Sub(sight->from, a), other = snwFloat3_Cross(to, u);
    float s = snwFloat3_Dot(to, across) / det, t = snwFloat3_Dot(way, other) / det;
    float along = snwFloat3_Dot(v, other) / det;
    return s >= 0 && t >= 0 && s + t <= 1 && along > 0 && along < 1;
}

static bool IsSightHidden(const Sight* sight)
{
    for (int b = 0; b < sight->film->bodyCount; ++b)
    {
        const snwFilmBody* body = &sight->film->bodies[b];
        const float* p = sight->positions + body->first;
        for (int t = 0; t < body->triangleCount; ++t)
        {
            const int* triangle = body->triangles + 3 * (size_t)t;
            snwFloat3 gap = snwFloat3_Sub(snwFloat3_Load(p + 3 * (size_t)triangle[0]), sight->centre);
            if (snwFloat3_Dot(gap, gap) < sight->reach * sight->reach && Crosses(sight, p, triangle))
                return true;
        }
    }
    return false;
}

typedef struct Patch
{
    snwFloat3 at, normal; // the normal has twice the area of the triangle
    float worth;
} Patch;

// False if nobody misses it.
static bool TakePatch(const Sight* sight, const snwFilmFrame* now, const snwFilmBody* body, int index, Patch* patch)
{
    const int* corners = body->triangles + 3 * (size_t)index;
    const float* values = now->values != NULL ? now->values + body->first / 3 : NULL;
    snwFloat3 x[3];
    for (int k = 0; k < 3; ++k)
        x[k] = snwFloat3_Load(sight->positions + body->first + 3 * (size_t)corners[k]);
    patch->at = snwFloat3_Scale(snwFloat3_Add(x[0], snwFloat3_Add(x[1], x[2])), 1.0f / 3);
    patch->normal = snwFloat3_Cross(snwFloat3_Sub(x[1], x[0]), snwFloat3_Sub(x[2], x[0]));
    patch->worth = values != NULL ? values[corners[0]] + values[corners[1]] + values[corners[2]] : 1;
    patch->worth *= snwFloat3_Length(patch->normal);
    return patch->worth > 0;
}

float snwFocus_Seen(const snwFilm* film, int frame, const snwFocus* focus, snwFloat3 forward, float away)
{
    const snwFilmFrame* now = &film->frames.data[frame];
    Sight sight = {.film = film,
        .positions = now->positions,
        .to = snwFloat3_MulAdd(focus->at, -away, forward),
        .centre = focus->at,
        .reach = away + focus->radius};
    double seen = 0, all = 0;
    int near = 0, stride = 1;

    // Two passes: how many patches there are, then every so-many-th of them.
    for (int pass = 0; pass < 2; ++pass, stride = near / snw_looks + 1, near = 0)
        for (int b = 0; b < film->bodyCount; ++b)
            for (int t = 0; t < film->bodies[b].triangleCount; ++t)
            {
                Patch patch;
                bool wanted = TakePatch(&sight, now, &film->bodies[b], t, &patch) &&
                              snwFloat3_Length(snwFloat3_Sub(patch.at, focus->at)) < focus->radius;
                if (!wanted || near++ % stride != 0 || pass == 0)
                    continue;

                // From a little in front of the skin, so that it does not hide itself.
                snwFloat3 way = snwFloat3_Normalize(snwFloat3_Sub(sight.to, patch.at));
                sight.from = snwFloat3_MulAdd(patch.at, 0.02f * focus->radius, way);
                all += (double)patch.worth;
                if (snwFloat3_Dot(way, patch.normal) > 0 && !IsSightHidden(&sight))
                    seen += (double)(patch.worth * snwFloat3_Dot(way, snwFloat3_Normalize(patch.normal)));
            }

    return all > 0 ? (float)(seen / all) : 1;
}
