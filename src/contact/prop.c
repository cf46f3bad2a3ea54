// Free rigid bodies: mass and inertia of their shapes, motion that keeps momentum (prop.h says why), answers to
// pushes, and the points by which shapes touch.

#include "contact/prop.h"

#include <math.h>

enum
{
    snw_spinRounds = 5 // of the midpoint's fixed point; each gains as many digits as the turn of a step is small
};

static snwPropMass BoxMass(snwVec3 half, double density)
{
    double m = 8.0 * half.x * half.y * half.z * density;
    double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
    return (snwPropMass){m, {m * (y + z) / 3.0, m * (x + z) / 3.0, m * (x + y) / 3.0}};
}

// A cylinder of length 2 a and two half balls.
static snwPropMass CapsuleMass(double r, double a, double density)
{
    double cylinder = 2.0 * SNW_PI * r * r * a * density, ball = 4.0 / 3.0 * SNW_PI * r * r * r * density;
    double along = 0.5 * cylinder * r * r + 0.4 * ball * r * r;
    // A half ball's centre of mass lies 3r/8 from its flat side.
    double across = cylinder * (r * r / 4.0 + a * a / 3.0) + ball * (0.4 * r * r + 0.75 * r * a + a * a);
    return (snwPropMass){cylinder + ball, {across, along, across}};
}

snwPropMass snwPropDef_Mass(const snwPropDef* def)
{
    if (def->kind == snw_colliderBox)
        return BoxMass(def->size, def->density);
    return CapsuleMass(def->size.x, def->kind == snw_colliderCapsule ? def->size.y : 0.0, def->density);
}

// ---------------------------------------------------------------------------------------------------------------------
// Motion

static snwVec3 MulParts(snwVec3 a, snwVec3 b)
{
    return (snwVec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static snwVec3 DivideParts(snwVec3 a, snwVec3 b)
{
    return (snwVec3){a.x / b.x, a.y / b.y, a.z / b.z};
}

// R I^-1 R^T L
static snwVec3 Spin(const snwPropMotion* motion, snwQuat rotation, snwVec3 momentum)
{
    snwVec3 local = DivideParts(snwQuat_InverseRotate(rotation, momentum), motion->mass.inertia);
    return snwQuat_Rotate(rotation, local);
}

static snwQuat TurnedBy(snwQuat rotation, snwVec3 by)
{
    return snwQuat_Normalize(snwQuat_Mul(snwQuat_FromRotationVector(by), rotation));
}

snwPropMotion snwProp_Predict(const snwProp* prop, snwPropMass mass, snwVec3 gravity, double h)
{
    snwPropMotion motion = {.mass = mass, .before = prop->transform, .transform = prop->transform};
    snwQuat q = prop->transform.rotation;
    snwVec3 local = MulParts(snwQuat_InverseRotate(q, prop->angularVelocity), mass.inertia);
    motion.angularMomentum = snwQuat_Rotate(q, local);
    motion.velocity = snwVec3_MulAdd(prop->velocity, h, gravity);
    snwVec3 spin = prop->angularVelocity;
    for (int i = 0; i < snw_spinRounds; ++i)
        spin = Spin(&motion, TurnedBy(q, snwVec3_Scale(spin, 0.5 * h)), motion.angularMomentum);
    motion.transform.rotation = TurnedBy(q, snwVec3_Scale(spin, h));
    motion.transform.position = snwVec3_MulAdd(prop->transform.position, h, motion.velocity);
    return motion;
}

snwProp snwProp_Finish(const snwPropMotion* motion, double h)
{
    snwVec3 momentum = snwVec3_MulAdd(motion->angularMomentum, 1.0 / h, motion->twist);
    return (snwProp){motion->transform, snwVec3_MulAdd(motion->velocity, 1.0 / (h * motion->mass.mass), motion->push),
        Spin(motion, motion->transform.rotation, momentum)};
}

double snwProp_Yield(const snwPropMotion* motion, snwVec3 arm, snwVec3 direction)
{
    snwVec3 lever = snwVec3_Cross(arm, direction);
    return 1.0 / motion->mass.mass + snwVec3_Dot(lever, Spin(motion, motion->transform.rotation, lever));
}

void snwProp_Push(snwPropMotion* motion, snwVec3 arm, snwVec3 push)
{
    snwProp_Move(motion, push, snwVec3_Cross(arm, push));
}

void snwProp_Move(snwPropMotion* motion, snwVec3 push, snwVec3 twist)
{
    motion->push = snwVec3_Add(motion->push, push);
    motion->twist = snwVec3_Add(motion->twist, twist);
    motion->transform.position = snwVec3_MulAdd(motion->transform.position, 1.0 / motion->mass.mass, push);
    motion->transform.rotation = TurnedBy(motion->transform.rotation, Spin(motion, motion->transform.rotation, twist));
}

// ---------------------------------------------------------------------------------------------------------------------
// Shape

static void AddBoxPoints(snwPropPoints* points, snwVec3 half)
{
    for (int x = -1; x <= 1; ++x)
        for (int y = -1; y <= 1; ++y)
            for (int z = -1; z <= 1; ++z)
                if (x != 0 || y != 0 || z != 0)
                    points->at[points->count++] = (snwVec3){x * half.x, y * half.y, z * half.z};
}

snwPropPoints snwPropPoints_Make(snwColliderKind kind, snwVec3 size)
{
    snwPropPoints points = {.radius = kind == snw_colliderBox ? 0.0 : size.x};
    if (kind == snw_colliderBox)
        AddBoxPoints(&points, size);
    else if (kind == snw_colliderCapsule)
        for (int i = -2; i <= 2; ++i)
            points.at[points.count++] = (snwVec3){0, 0.5 * i * size.y, 0};
    else
        points.count = 1;
    return points;
}

double snwPropDef_Radius(const snwPropDef* def)
{
    if (def->kind == snw_colliderBox)
        return snwVec3_Length(def->size);
    return def->size.x + (def->kind == snw_colliderCapsule ? def->size.y : 0.0);
}
