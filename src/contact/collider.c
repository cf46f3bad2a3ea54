#include "contact/collider.h"

static snwTouch TouchSphere(snwVec3 p, double radius)
{
    double length = snwVec3_Length(p);
    // At the very centre every way out is as good; up is one.
    snwVec3 normal = length > 0.0 ? snwVec3_Scale(p, 1.0 / length) : (snwVec3){0, 1, 0};
    return (snwTouch){radius - length, normal};
}

static snwTouch TouchBox(snwVec3 p, snwVec3 half)
{
    double position[3] = {p.x, p.y, p.z}, extent[3] = {half.x, half.y, half.z};
    double outside[3], normal[3] = {0, 0, 0};
    int nearest = 0;
    bool inside = true;
    for (int i = 0; i < 3; ++i)
    {
        double beyond = fabs(position[i]) - extent[i];
        outside[i] = beyond > 0.0 ? copysign(beyond, position[i]) : 0.0;
        inside = inside && beyond <= 0.0;
        if (beyond > fabs(position[nearest]) - extent[nearest])
            nearest = i;
    }
    if (!inside)
    {
        snwVec3 away = {outside[0], outside[1], outside[2]};
        double distance = snwVec3_Length(away);
        return (snwTouch){-distance, snwVec3_Scale(away, 1.0 / distance)};
    }
    normal[nearest] = position[nearest] < 0.0 ? -1.0 : 1.0;
    return (snwTouch){extent[nearest] - fabs(position[nearest]), {normal[0], normal[1], normal[2]}};
}

static snwTouch TouchCapsule(snwVec3 p, double radius, double half)
{
    double onAxis = p.y < -half ? -half : p.y > half ? half : p.y;
    snwVec3 fromAxis = {p.x, p.y - onAxis, p.z};
    if (fromAxis.x == 0.0 && fromAxis.y == 0.0 && fromAxis.z == 0.0)
        return (snwTouch){radius, {1, 0, 0}};
    return TouchSphere(fromAxis, radius);
}

snwTouch snwCollider_Touch(const snwColliderDef* collider, snwTransform transform, snwVec3 point)
{
    snwVec3 local = snwTransform_ApplyInverse(transform, point);
    snwTouch touch = {-local.y, {0, 1, 0}}; // plane
    if (collider->kind == snw_colliderSphere)
        touch = TouchSphere(local, collider->size.x);
    else if (collider->kind == snw_colliderBox)
        touch = TouchBox(local, collider->size);
    else if (collider->kind == snw_colliderCapsule)
        touch = TouchCapsule(local, collider->size.x, collider->size.y);
    touch.normal = snwQuat_Rotate(transform.rotation, touch.normal);
    return touch;
}

snwVec3 snwCollider_Motion(snwTransform previous, snwTransform transform, snwVec3 point)
{
    snwVec3 before = snwTransform_Apply(previous, snwTransform_ApplyInverse(transform, point));
    return snwVec3_Sub(point, before);
}
