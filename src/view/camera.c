// Cameras: given ones, and those that choose their own place so that everything added to a frame fits into the
// picture.

#include "view/camera.h"

#include <float.h>

static snwCamera Aim(snwFloat3 position, snwFloat3 forward, double fieldOfView, int width, int height)
{
    snwFloat3 right = snwFloat3_Cross(forward, (snwFloat3){0, 1, 0});
    if (snwFloat3_Length(right) < 1e-4f)
        right = (snwFloat3){1, 0, 0}; // straight up or down
    right = snwFloat3_Normalize(right);
    float tanY = (float)tan(0.5 * fieldOfView * (double)SNW_PIF / 180);
    return (snwCamera){
        .position = position,
        .right = right,
        .up = snwFloat3_Cross(right, forward),
        .forward = forward,
        .tanX = tanY * (float)width / (float)height,
        .tanY = tanY,
    };
}

snwCamera snwCamera_FromDef(const snwCameraDef* def, int width, int height)
{
    snwFloat3 position = snwFloat3_FromVec3(def->position), target = snwFloat3_FromVec3(def->target);
    return Aim(position, snwFloat3_Normalize(snwFloat3_Sub(target, position)), def->fieldOfView, width, height);
}

// A three-quarter view from slightly above. What is long is seen from its side rather than from its end.
static snwFloat3 ChooseForward(snwFloat3 size)
{
    const float azimuth = 28 * SNW_PIF / 180, elevation = 17 * SNW_PIF / 180;
    snwFloat3 back = {sinf(azimuth) * cosf(elevation), sinf(elevation), cosf(azimuth) * cosf(elevation)};
    if (size.z > 1.4f * size.x)
        back = (snwFloat3){back.z, back.y, -back.x};
    return snwFloat3_Scale(back, -1);
}

// The share of the picture that a motion may fill.
static const float s_fill = 0.74f;

snwFraming snwFraming_BeginAlong(snwFloat3 forward, double fieldOfView, float fill, int width, int height)
{
    return (snwFraming){
        .camera = Aim((snwFloat3){0, 0, 0}, forward, fieldOfView, width, height),
        .left = -FLT_MAX,
        .right = -FLT_MAX,
        .bottom = -FLT_MAX,
        .top = -FLT_MAX,
        .lower = {FLT_MAX, FLT_MAX, FLT_MAX},
        .upper = {-FLT_MAX, -FLT_MAX, -FLT_MAX},
        .fill = fill,
    };
}

snwFraming snwFraming_Begin(const snwCameraDef* def, int width, int height, snwFloat3 lower, snwFloat3 upper)
{
    snwFloat3 forward = ChooseForward(snwFloat3_Sub(upper, lower));
    return snwFraming_BeginAlong(forward, def->fieldOfView, s_fill, width, height);
}

void snwFraming_Add(snwFraming* framing, snwFloat3 p)
{
    if (!snwFloat3_IsFinite(p))
        return;
    const snwCamera* camera = &framing->camera;
    float x = snwFloat3_Dot(p, camera->right), y = snwFloat3_Dot(p, camera->up), z = snwFloat3_Dot(p, camera->forward);
    float tanX = framing->fill * camera->tanX, tanY = framing->fill * camera->tanY;
    // A point is inside if |x - cx| <= tanX (z - cz); each side keeps the point that asks most.
    framing->left = snwFloat_Max(framing->left, -x - tanX * z);
    framing->right = snwFloat_Max(framing->right, x - tanX * z);
    framing->bottom = snwFloat_Max(framing->bottom, -y - tanY * z);
    framing->top = snwFloat_Max(framing->top, y - tanY * z);
    framing->lower = (snwFloat3){
        snwFloat_Min(framing->lower.x, p.x), snwFloat_Min(framing->lower.y, p.y), snwFloat_Min(framing->lower.z, p.z)};
    framing->upper = (snwFloat3){
        snwFloat_Max(framing->upper.x, p.x), snwFloat_Max(framing->upper.y, p.y), snwFloat_Max(framing->upper.z, p.z)};
    framing->pointCount++;
}

snwCamera snwFraming_End(const snwFraming* framing)
{
    snwCamera camera = framing->camera;
    if (framing->pointCount == 0)
    {
        camera.position = snwFloat3_Scale(camera.forward, -5);
        return camera;
    }
    float cx = 0.5f * (framing->right - framing->left), cy = 0.5f * (framing->top - framing->bottom);
    float backX = 0.5f * (framing->right + framing->left) / (framing->fill * camera.tanX);
    float backY = 0.5f * (framing->top + framing->bottom) / (framing->fill * camera.tanY);
    float cz = -snwFloat_Max(backX, backY);
    // A single point would have the camera inside it.
    float extent = snwFloat3_Length(snwFloat3_Sub(framing->upper, framing->lower));
    cz -= extent < 1e-6f ? 1 : 0;
    camera.position = snwFloat3_MulAdd(snwFloat3_Scale(camera.right, cx), cy, camera.up);
    camera.position = snwFloat3_MulAdd(camera.position, cz, camera.forward);
    return camera;
}
