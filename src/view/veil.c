// Rays through translucent and textured meshes, layer by layer: what each adds to the light seen and takes from the
// light behind, and how dark it makes a shadow.

#include "view/veil.h"

enum
{
    snw_maxLayers = 12
};

const snwVeilLight snw_veilClear = {{0, 0, 0}, {1, 1, 1}};

static struct RTCRayHit StartRay(snwFloat3 origin, snwFloat3 direction, float far)
{
    struct RTCRay ray = {
        .org_x = origin.x,
        .org_y = origin.y,
        .org_z = origin.z,
        .dir_x = direction.x,
        .dir_y = direction.y,
        .dir_z = direction.z,
        .tfar = far,
        .mask = (unsigned)-1,
    };
    return (struct RTCRayHit){.ray = ray};
}

static bool NextLayer(const snwVeil* veil, struct RTCRayHit* ray, snwMeeting* meeting)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    ray->hit.geomID = ray->hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(veil->scene, &context, ray);
    if (ray->hit.geomID == RTC_INVALID_GEOMETRY_ID)
        return false;
    *meeting = (snwMeeting){
        ray->hit.geomID, ray->hit.primID, ray->hit.u, ray->hit.v, {ray->hit.Ng_x, ray->hit.Ng_y, ray->hit.Ng_z}};
    return true;
}

// Goes on behind the layer that was just hit.
static void PassLayer(const snwVeil* veil, struct RTCRayHit* ray, float far)
{
    ray->ray.tnear = ray->ray.tfar + veil->shading->epsilon;
    ray->ray.tfar = far;
}

static float Most(snwFloat3 a)
{
    return snwFloat_Max(a.x, snwFloat_Max(a.y, a.z));
}

snwVeilLight snwVeil_See(const snwVeil* veil, snwFloat3 origin, snwFloat3 direction, float far)
{
    snwVeilLight seen = snw_veilClear;
    struct RTCRayHit ray = StartRay(origin, direction, far);
    snwMeeting meeting;
    for (int i = 0; i < snw_maxLayers && Most(seen.through) > 0.004f && NextLayer(veil, &ray, &meeting); ++i)
    {
        snwLayer layer = snwShading_Layer(veil->shading, veil->look, &meeting, direction);
        seen.light = snwFloat3_Add(seen.light, snwFloat3_Mul(seen.through, layer.light));
        seen.through = snwFloat3_Mul(seen.through, layer.clear);
        PassLayer(veil, &ray, far);
    }
    return seen;
}

float snwVeil_Shadow(const snwVeil* veil, snwFloat3 origin, snwFloat3 direction, float far)
{
    float through = 1;
    struct RTCRayHit ray = StartRay(origin, direction, far);
    snwMeeting meeting;
    for (int i = 0; i < snw_maxLayers && through > 0.01f && NextLayer(veil, &ray, &meeting); ++i)
    {
        through *= 1 - snwShading_ShadowAlpha(veil->shading, &meeting);
        PassLayer(veil, &ray, far);
    }
    return through;
}
