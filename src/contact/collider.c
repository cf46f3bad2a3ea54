// Colliders of every kind: how deep a point is and which way leads out, and when a moving point first meets one, by
// conservative advancement. Height fields and stairs have files of their own.

#include "contact/collider_kinds.h"

// ---------------------------------------------------------------------------------------------------------------------
// Making

static snwResult MakeColliderSoup(
    snwContext* context, const snwSoupDef* shape, snwCollider* collider, snwMessage* message)
{
    snwSoupDef def = *shape;
    def.beta = snwDefaultSoupDef().beta;
    return snwCreateSoup(context, &def, &collider->soup, message);
}

static snwResult MakeTop(snwContext* context, const snwColliderDef* def, snwCollider* collider, snwMessage* message)
{
    snwSurface top = {0};
    snwResult result = snwHeightfield_Triangulate(context, def, &top, message);
    if (result >= 0)
    {
        snwSoupDef shape = {.vertices = top.vertices,
            .vertexCount = top.vertexCount,
            .triangles = (const int(*)[3])top.triangles,
            .triangleCount = top.triangleCount};
        result = MakeColliderSoup(context, &shape, collider, message);
    }
    snwFree(context, top.vertices);
    snwFree(context, top.triangles);
    return result;
}

snwResult snwCreateCollider(snwContext* context, const snwColliderDef* def, snwCollider* collider, snwMessage* message)
{
    *collider = (snwCollider){.def = *def};
    snwSoupDef shape = {.vertices = def->vertices,
        .vertexCount = def->vertexCount,
        .triangles = def->triangles,
        .triangleCount = def->triangleCount};
    if (def->kind == snw_colliderHeightfield)
        return MakeTop(context, def, collider, message);
    return def->kind == snw_colliderMesh ? MakeColliderSoup(context, &shape, collider, message) : snw_ok;
}

void snwDestroyCollider(snwCollider* collider)
{
    if (collider->soup != NULL)
        snwDestroySoup(collider->soup);
    collider->soup = NULL;
}

snwCollider snwMakeCollider(snwColliderKind kind, snwVec3 size, double friction)
{
    snwCollider collider = {.def = snwDefaultColliderDef(kind)};
    collider.def.size = size;
    collider.def.friction = friction;
    return collider;
}

// ---------------------------------------------------------------------------------------------------------------------
// Touching, in the collider's own frame

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

    // How far out along each axis, and which face is nearest.
    for (int i = 0; i < 3; ++i)
    {
        double beyond = fabs(position[i]) - extent[i];
        outside[i] = beyond > 0.0 ? copysign(beyond, position[i]) : 0.0;
        inside = inside && beyond <= 0.0;
        if (beyond > fabs(position[nearest]) - extent[nearest])
            nearest = i;
    }

    // From outside the nearest point is clamped; inside the nearest face is the way out.
    if (!inside)
    {
        snwVec3 away = {outside[0], outside[1], outside[2]};
        double distance = snwVec3_Length(away);
        return (snwTouch){-distance, snwVec3_Scale(away, 1.0 / distance)};
    }

    normal[nearest] = position[nearest] < 0.0 ? -1.0 : 1.0;
    return (snwTouch){extent[nearest] - fabs(position[nearest]), {normal[0], normal[1], normal[2]}};
}

// Solid where a box is not.
static snwTouch TouchRoom(snwVec3 p, snwVec3 half)
{
    snwTouch box = TouchBox(p, half);
    return (snwTouch){-box.depth, snwVec3_Negate(box.normal)};
}

static snwTouch TouchCapsule(snwVec3 p, double radius, double half)
{
    double onAxis = p.y < -half ? -half : p.y > half ? half : p.y;
    snwVec3 fromAxis = {p.x, p.y - onAxis, p.z};
    if (fromAxis.x == 0.0 && fromAxis.y == 0.0 && fromAxis.z == 0.0)
        return (snwTouch){radius, {1, 0, 0}};
    return TouchSphere(fromAxis, radius);
}

static snwVec3 MeshTriangleNormal(const snwColliderDef* mesh, int triangle)
{
    const int* corners = mesh->triangles[triangle];
    snwVec3 a = mesh->vertices[corners[0]];
    snwVec3 u = snwVec3_Sub(mesh->vertices[corners[1]], a), v = snwVec3_Sub(mesh->vertices[corners[2]], a);
    return snwVec3_Normalize(snwVec3_Cross(u, v));
}

static snwTouch TouchMesh(const snwCollider* collider, snwVec3 p)
{
    snwClosest closest = snwSoup_Closest(collider->soup, p);
    bool inside = snwSoup_Winding(collider->soup, p) > 0.5;
    snwVec3 way = inside ? snwVec3_Sub(closest.point, p) : snwVec3_Sub(p, closest.point);
    // On the surface itself the way is rounding.
    double size = fabs(p.x) + fabs(p.y) + fabs(p.z);
    snwVec3 normal = closest.distance > 1e-12 * size
                         ? snwVec3_Normalize(way)
                         : MeshTriangleNormal(&collider->def, closest.triangle < 0 ? 0 : closest.triangle);
    return (snwTouch){inside ? closest.distance : -closest.distance, normal};
}

// Point and touch are in the collider's own frame; depth counts positive inside.
static snwTouch TouchLocal(const snwCollider* collider, snwVec3 p)
{
    const snwColliderDef* def = &collider->def;
    switch (def->kind)
    {
        case snw_colliderSphere:
            return TouchSphere(p, def->size.x);
        case snw_colliderBox:
            return TouchBox(p, def->size);
        case snw_colliderCapsule:
            return TouchCapsule(p, def->size.x, def->size.y);
        case snw_colliderRoom:
            return TouchRoom(p, def->size);
        case snw_colliderStairs:
            return snwStairs_Touch(def, p);
        case snw_colliderHeightfield:
            return snwHeightfield_Touch(collider, p);
        case snw_colliderMesh:
            return TouchMesh(collider, p);
        case snw_colliderPlane:
        case snw_colliderKindCount:
        default:
            return (snwTouch){-p.y, {0, 1, 0}};
    }
}

snwTouch snwCollider_Touch(const snwCollider* collider, snwTransform transform, snwVec3 point)
{
    snwTouch touch = TouchLocal(collider, snwTransform_ApplyInverse(transform, point));
    touch.normal = snwQuat_Rotate(transform.rotation, touch.normal);
    return touch;
}

snwVec3 snwCollider_Motion(snwTransform previous, snwTransform transform, snwVec3 point)
{
    snwVec3 before = snwTransform_Apply(previous, snwTransform_ApplyInverse(transform, point));
    return snwVec3_Sub(point, before);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sweeping: conservative advancement (Mirtich 1996). In the collider's frame the point is nowhere faster than some
// speed, so from distance d it cannot arrive before d / speed. A point that slides along a surface makes little way
// with every step; after `snw_maxAdvances` of them it is as good as there.

enum
{
    snw_maxAdvances = 1024
};

// No functions of libm whose last bits differ between machines.
static snwTransform PlaceOnPath(const snwColliderPath* sweep, double t)
{
    return (snwTransform){snwVec3_Lerp(sweep->fromTransform.position, sweep->toTransform.position, t),
        snwQuat_Nlerp(sweep->fromTransform.rotation, sweep->toTransform.rotation, t)};
}

// How fast Nlerp turns at most, rad per unit of time: half way, where the chord is nearest to the centre.
static double TurningSpeed(snwQuat a, snwQuat b)
{
    double sign = snwQuat_Dot(a, b) < 0.0 ? -1.0 : 1.0;
    snwQuat chord = {sign * b.x - a.x, sign * b.y - a.y, sign * b.z - a.z, sign * b.w - a.w};
    snwQuat sum = {sign * b.x + a.x, sign * b.y + a.y, sign * b.z + a.z, sign * b.w + a.w};
    return 4.0 * sqrt(snwQuat_Dot(chord, chord) / snwQuat_Dot(sum, sum));
}

// Upper bound of the point's speed as the collider sees it, m per unit of time. The arm from its origin to the point
// moves straight, so it is longest at one of the ends.
static double RelativeSpeed(const snwColliderPath* sweep)
{
    snwVec3 arm0 = snwVec3_Sub(sweep->from, sweep->fromTransform.position);
    snwVec3 arm1 = snwVec3_Sub(sweep->to, sweep->toTransform.position);
    double longest = fmax(snwVec3_Length(arm0), snwVec3_Length(arm1));
    double turning = TurningSpeed(sweep->fromTransform.rotation, sweep->toTransform.rotation);
    return snwVec3_Distance(arm0, arm1) + turning * longest;
}

bool snwCollider_Sweep(const snwCollider* collider, const snwColliderPath* sweep, snwSweepHit* hit)
{
    double speed = RelativeSpeed(sweep), near = 1e-9 + 1e-6 * speed, t = 0.0;
    for (int i = 0; i < snw_maxAdvances; ++i)
    {
        snwTransform transform = PlaceOnPath(sweep, t);
        snwVec3 point = snwVec3_Lerp(sweep->from, sweep->to, t);
        snwTouch touch = snwCollider_Touch(collider, transform, point);
        *hit = (snwSweepHit){t, point, touch.normal, touch.depth};
        if (!(touch.depth < -near)) // also where a number is not finite
            return isfinite(touch.depth);
        if (t >= 1.0 || !(speed > 0.0))
            return false;
        t = fmin(1.0, t - touch.depth / speed);
    }
    return true;
}
