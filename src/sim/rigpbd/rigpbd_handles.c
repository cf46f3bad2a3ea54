// What is given of the handles, over the substeps of a step.
//
// A command or clip names a place at the end of the step. The handle goes there from where it is: a degree of freedom
// that was given before on a straight line, as pins do; one that is newly given starts with the velocity that it has,
// on a cubic that ends at the target with the mean velocity of the way. So locking a handle does not stop it dead, and
// the flesh around it is braked over the whole step. Letting go takes a step, too: a degree of freedom that is let go
// of is still drawn to where it would go on to, by less and less. Right sides of linear constraints go from what is
// there to their value within the step.
//
// A handle that a command sends off by more than half a size in one step, beside what all given ones have in common,
// goes there at two sizes per second, in as many steps as that takes, and not farther from another given one than twice
// as far as at rest: what lies between would be drawn out beyond what flesh can bear. All else is met in its step.
//
// Nor is a handle led into a collider: contact would hold its flesh outside with as much force as the handle draws it
// in with, and both are as strong as it takes. It goes along the surface, to where the flesh around it may be, and on
// to its target as soon as that is outside.

#include "math/eigen.h"
#include "rig/clip.h"
#include "sim/rigpbd/rigpbd.h"
#include "sim/scene.h"

#include <math.h>
#include <string.h>

#define SNW_STILL 1e-6 // sizes: a handle that is told to stay

enum
{
    snw_gentleStop = 2, // sizes per second, at most
    snw_mostApart = 2,  // times as far as at rest: handles of which one was sent off
};

static uint32_t Allowed(const snwRigpbdModel* model, int handle, uint32_t given)
{
    const snwCharacterDef* def = &model->character->def;
    if (model->flat)
        given &= snw_dofX | snw_dofY | snw_dofRotationZ;
    if (def->handleCount > 0 && def->handles[handle].kind == snw_handleCage)
        given &= snw_dofX | snw_dofY | snw_dofZ;
    return given;
}

// Flat characters turn about z and stay in their plane.
static snwTransform KeepInPlane(const snwRigpbdModel* model, snwTransform t)
{
    if (!model->flat)
        return t;
    double length = hypot(t.rotation.z, t.rotation.w);
    t.position.z = 0.0;
    t.rotation = length > 1e-9 ? (snwQuat){0, 0, t.rotation.z / length, t.rotation.w / length} : (snwQuat){0, 0, 0, 1};
    return t;
}

static snwTransform HandleNow(const snwRigpbdWork* work, int handle)
{
    const snwRigPose* pose = &work->state.pose[handle];
    return (snwTransform){pose->place, snwQuat_FromMat3(snwPolar3_Compute(pose->linear).rotation)};
}

// What is left of its map without the turn, less the identity.
static void FindHandleStrain(const snwRigpbdWork* work, int handle, double strain[6])
{
    snwMat3 a = work->state.pose[handle].linear;
    snwMat3 s = snwMat3_TransposeMul(snwPolar3_Compute(a).rotation, a);
    strain[0] = s.m[0][0] - 1.0, strain[1] = s.m[1][1] - 1.0, strain[2] = s.m[2][2] - 1.0;
    strain[3] = 0.5 * (s.m[1][2] + s.m[2][1]);
    strain[4] = 0.5 * (s.m[0][2] + s.m[2][0]);
    strain[5] = 0.5 * (s.m[0][1] + s.m[1][0]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Start and commands

static snwRigpbdRule NewRule(const snwRigpbdWork* work, int index, double value, bool on)
{
    double error = snwRigFit_RuleError(work->model->fits[snw_rigpbdJoined], index, value, work->state.pose);
    return (snwRigpbdRule){value + error, value, on};
}

void snwRigpbd_StartHandles(snwSim* sim, int body)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        const snwClipDef* clip = snwSim_FindClip(sim, snw_clipHandle, body, i);
        snwRigpbdHandle* handle = &work->state.handles[i];
        *handle = (snwRigpbdHandle){.start = HandleNow(work, i), .target = HandleNow(work, i)};
        FindHandleStrain(work, i, handle->startStrain);
        memcpy(handle->targetStrain, handle->startStrain, sizeof handle->targetStrain);
        handle->given = handle->fresh = Allowed(work->model, i, clip != NULL ? clip->given : work->model->given[i]);
        handle->clip = clip != NULL ? snw_rigpbdClipComes : snw_rigpbdClipNone;
    }
    for (int i = 0; i < work->model->character->def.constraintCount; ++i)
        work->state.rules[i] = NewRule(work, i, work->model->character->def.constraints[i].value, true);
}

void snwRigpbd_TakeRule(snwSim* sim, const snwCommand* command)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, command->body);
    work->state.rules[command->index] = NewRule(work, command->index, command->value, command->on);
}

// What the command says, and where the handle is in what stays. Parts of a turn stay as parts of its rotation vector.
static snwTransform Meant(const snwRigpbdModel* model, const snwCommand* command, snwTransform now)
{
    const uint32_t turns = model->flat ? snw_dofRotationZ : snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
    snwTransform meant = KeepInPlane(model, command->transform);
    uint32_t stay = command->stay;
    meant.position.x = stay & snw_dofX ? now.position.x : meant.position.x;
    meant.position.y = stay & snw_dofY ? now.position.y : meant.position.y;
    meant.position.z = stay & snw_dofZ ? now.position.z : meant.position.z;
    if ((stay & turns) == 0)
        return meant;
    if ((stay & turns) == turns)
        return (snwTransform){meant.position, now.rotation};
    snwVec3 is = snwQuat_ToRotationVector(now.rotation), turn = snwQuat_ToRotationVector(meant.rotation);
    turn.x = stay & snw_dofRotationX ? is.x : turn.x;
    turn.y = stay & snw_dofRotationY ? is.y : turn.y;
    turn.z = stay & snw_dofRotationZ ? is.z : turn.z;
    return (snwTransform){meant.position, snwQuat_FromRotationVector(turn)};
}

// Whether it shall go farther than it goes by itself: what is locked where it is, or goes on to, is held as firmly as
// it takes.
static bool Leads(const snwRigpbdWork* work, const snwRigpbdHandle* handle, double dt)
{
    snwVec3 way = snwVec3_Sub(handle->target.position, handle->start.position);
    way.x = handle->given & snw_dofX ? way.x : 0.0;
    way.y = handle->given & snw_dofY ? way.y : 0.0;
    way.z = handle->given & snw_dofZ ? way.z : 0.0;
    return snwVec3_Length(way) > 2.0 * dt * snwVec3_Length(handle->velocity) + SNW_STILL * work->model->size;
}

void snwRigpbd_TakeHandle(snwSim* sim, const snwCommand* command)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, command->body);
    snwRigpbdHandle* handle = &work->state.handles[command->index];
    uint32_t given = Allowed(work->model, command->index, command->mask);
    bool held = handle->given != 0;

    // Degrees of freedom that are given now begin anew; those that are not any more are let go of.
    handle->fresh = given & (handle->fresh | ~handle->given);
    handle->leaving = (handle->leaving | handle->given) & ~given;
    handle->given = given;

    handle->clip = snw_rigpbdClipNone;
    handle->moves = 1;
    handle->stops = 0;

    // It goes from where it is to where it is meant to be.
    handle->start = HandleNow(work, command->index);
    handle->target = Meant(work->model, command, handle->start);

    // A hand leads if it wants the handle farther than that goes by itself; flat rigs have no such hands.
    if (given == 0 || !held)
        handle->hand = snw_rigpbdHandNone;
    if (handle->hand == snw_rigpbdHandNone && !work->model->flat && Leads(work, handle, held ? 0.0 : sim->dt))
        handle->hand = snw_rigpbdHandLeads;

    FindHandleStrain(work, command->index, handle->startStrain);
    memset(handle->targetStrain, 0, sizeof handle->targetStrain);
    if ((command->stay & (snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ)) != 0)
        memcpy(handle->targetStrain, handle->startStrain, sizeof handle->targetStrain);
}

// ---------------------------------------------------------------------------------------------------------------------
// Over the step

// A cubic from 0 with velocity a to `way` with velocity way, in unit time.
static double Ease(double way, double a, double t)
{
    return way * t + (a - way) * t * (1.0 - t) * (1.0 - t);
}

static snwVec3 EaseVector(snwVec3 way, snwVec3 velocity, double t)
{
    return (snwVec3){Ease(way.x, velocity.x, t), Ease(way.y, velocity.y, t), Ease(way.z, velocity.z, t)};
}

static snwTransform BetweenTargets(const snwRigpbdHandle* handle, double dt, double t)
{
    snwVec3 way = snwVec3_Sub(handle->target.position, handle->start.position);
    snwVec3 velocity = snwVec3_Scale(handle->velocity, dt);
    velocity.x = handle->fresh & snw_dofX ? velocity.x : way.x;
    velocity.y = handle->fresh & snw_dofY ? velocity.y : way.y;
    velocity.z = handle->fresh & snw_dofZ ? velocity.z : way.z;
    snwQuat turn = snwQuat_Mul(handle->target.rotation, snwQuat_Conjugate(handle->start.rotation));
    snwVec3 angle = snwQuat_ToRotationVector(turn);
    bool fresh = (handle->fresh & (snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ)) != 0;
    snwVec3 spin = fresh ? snwVec3_Scale(handle->spin, dt) : angle;
    snwQuat part = snwQuat_FromRotationVector(EaseVector(angle, spin, t));
    return (snwTransform){snwVec3_Add(handle->start.position, EaseVector(way, velocity, t)),
        snwQuat_Normalize(snwQuat_Mul(part, handle->start.rotation))};
}

// With the velocity that the handle had when the step began.
static void ExtrapolateHandle(const snwRigpbdHandle* handle, double dt, double t, snwRigTarget* target)
{
    snwVec3 on = snwVec3_MulAdd(handle->start.position, dt * t, handle->velocity);
    uint32_t turns = snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
    target->leaving = handle->leaving;
    target->place.x = handle->leaving & snw_dofX ? on.x : target->place.x;
    target->place.y = handle->leaving & snw_dofY ? on.y : target->place.y;
    target->place.z = handle->leaving & snw_dofZ ? on.z : target->place.z;
    if (!(handle->given & turns))
        target->rotation = snwQuat_Normalize(
            snwQuat_Mul(snwQuat_FromRotationVector(snwVec3_Scale(handle->spin, dt * t)), handle->start.rotation));
}

bool snwRigpbd_LetsGo(const snwRigpbdWork* work)
{
    bool any = false;
    for (int i = 0; i < work->model->handleCount; ++i)
        any = any || work->targets[i].leaving != 0;
    return any;
}

static snwTransform TargetOfHandle(snwSim* sim, int body, int index, double fraction)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    snwRigpbdHandle* handle = &work->state.handles[index];
    if (handle->clip != snw_rigpbdClipNone)
    {
        const snwClipDef* clip = snwSim_FindClip(sim, snw_clipHandle, body, index);
        bool leads = handle->clip == snw_rigpbdClipLeads;
        double time = leads ? sim->substepTime : snwSim_SceneTime(sim) + sim->dt;
        handle->target = KeepInPlane(work->model, snwClip_Evaluate(clip, time));
        snwClip_Strain(clip, time, handle->targetStrain);
        handle->moves = !leads;
    }
    return handle->moves && fraction < 1.0 ? BetweenTargets(handle, sim->dt, fraction) : handle->target;
}

static void SetStrain(const snwRigpbdModel* model, const snwRigpbdHandle* handle, double fraction, double strain[6])
{
    double part = handle->moves && fraction < 1.0 ? fraction : 1.0;
    for (int k = 0; k < 6; ++k)
        strain[k] = part * handle->targetStrain[k] + (1.0 - part) * handle->startStrain[k];
    if (model->flat)
        strain[2] = strain[3] = strain[4] = 0.0;
}

void snwRigpbd_MoveHandles(snwSim* sim, int body, double fraction)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        // Where it shall be at the end of this substep.
        const snwRigpbdHandle* handle = &work->state.handles[i];
        work->targets[i] = (snwRigTarget){.given = handle->given, .rotation = {0, 0, 0, 1}};
        if (handle->given != 0)
        {
            snwTransform target = TargetOfHandle(sim, body, i, fraction);
            work->targets[i].place = target.position;
            work->targets[i].rotation = target.rotation;
            SetStrain(work->model, handle, fraction, work->targets[i].strain);
        }

        if (handle->leaving != 0)
            ExtrapolateHandle(handle, sim->dt, fraction, &work->targets[i]);
    }

    // Values of rules go to theirs evenly over the step.
    for (int i = 0; i < work->model->character->def.constraintCount; ++i)
    {
        const snwRigpbdRule* rule = &work->state.rules[i];
        double value = fraction < 1.0 ? rule->start + fraction * (rule->value - rule->start) : rule->value;
        work->rules[i] = (snwRigRule){value, rule->on != 0};
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Hands that jump

static double PartOnAxis(snwVec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static double CommonWay(const snwRigpbdWork* work, int axis, double most)
{
    double least = 0.0;
    bool any = false;
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        if (!(work->targets[i].given & ((uint32_t)snw_dofX << axis)))
            continue;
        double way = PartOnAxis(work->targets[i].place, axis) - PartOnAxis(work->state.pose[i].place, axis);
        if (any && way * least <= 0.0)
            return 0.0;
        least = !any || fabs(way) < fabs(least) ? way : least;
        any = true;
    }
    return fabs(least) > most ? least - copysign(most, least) : 0.0;
}

// What is let go of in this step goes on from where it is carried to.
static void CarryLeaving(snwRigpbdHandle* handle, snwRigTarget* target, snwVec3 way)
{
    snwVec3 part = {handle->leaving & snw_dofX ? way.x : 0.0, handle->leaving & snw_dofY ? way.y : 0.0,
        handle->leaving & snw_dofZ ? way.z : 0.0};
    handle->start.position = snwVec3_Add(handle->start.position, part);
    target->place = snwVec3_Add(target->place, part);
}

// A given handle, unless a clip leads it: where a command wants its place to be. Between steps `start` has that.
static bool IsLed(const snwRigpbdHandle* handle)
{
    const uint32_t places = snw_dofX | snw_dofY | snw_dofZ;
    return handle->clip == snw_rigpbdClipNone && (handle->given & places) != 0;
}

// Not farther from any other given handle than twice as far as at rest, or than it is now.
static snwVec3 KeepNear(const snwRigpbdWork* work, int index, snwVec3 place)
{
    const uint32_t places = snw_dofX | snw_dofY | snw_dofZ;
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        snwVec3 other = work->state.pose[i].place;
        double rest = snwVec3_Distance(work->model->origins[i], work->model->origins[index]);
        double far = snwVec3_Distance(place, other), now = snwVec3_Distance(work->state.pose[index].place, other);
        double most = fmax(snw_mostApart * rest, now);
        if (i != index && (work->state.handles[i].given & places) != 0 && far > most)
            place = snwVec3_Lerp(other, place, most / far);
    }
    return place;
}

void snwRigpbd_LimitReach(snwRigpbdWork* work, double most, double step)
{
    // Where handles are sent, and how far all go together.
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        const snwRigpbdHandle* handle = &work->state.handles[i];
        work->goals[i] = IsLed(handle) && !handle->moves ? handle->start.position : handle->target.position;
        work->targets[i] = (snwRigTarget){.given = handle->given, .place = work->goals[i]};
    }

    snwVec3 common = {CommonWay(work, 0, 0.0), CommonWay(work, 1, 0.0), CommonWay(work, 2, 0.0)};
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        snwRigpbdHandle* handle = &work->state.handles[i];
        bool late = !handle->moves && snwVec3_Distance(work->goals[i], handle->target.position) > 0.0;
        if (!IsLed(handle) || !(handle->moves || late))
            continue;

        // Late in the step before: it begins again from where it is.
        if (late)
        {
            handle->moves = 1;
            handle->start = HandleNow(work, i);
            FindHandleStrain(work, i, handle->startStrain);
        }

        snwVec3 way = snwVec3_Sub(work->goals[i], handle->start.position), own = snwVec3_Sub(way, common);
        own.x = handle->given & snw_dofX ? own.x : 0.0;
        own.y = handle->given & snw_dofY ? own.y : 0.0;
        own.z = handle->given & snw_dofZ ? own.z : 0.0;

        double length = snwVec3_Length(own);

        // No farther beyond the common way than a limited step.
        if (!(length > most) && !late)
            continue;

        double part = fmin(1.0, step / length);
        snwVec3 place = part < 1.0 ? snwVec3_MulAdd(work->goals[i], part - 1.0, own) : work->goals[i];
        handle->target.position = KeepNear(work, i, place);
    }
}

// Seen from where the handle is, the collider is as its tangent plane there: so it does not jump to the other side.
static snwVec3 KeepOutOf(const snwCollider* collider, snwTransform at, snwVec3 now, snwVec3 place, double room)
{
    if (!(snwCollider_Touch(collider, at, place).depth > -room))
        return place;
    snwTouch touch = snwCollider_Touch(collider, at, now);
    double depth = touch.depth - snwVec3_Dot(touch.normal, snwVec3_Sub(place, now));
    return depth > -room ? snwVec3_MulAdd(place, depth + room, touch.normal) : place;
}

void snwRigpbd_KeepOut(const snwSim* sim, snwRigpbdWork* work, double step)
{
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        snwRigTarget* target = &work->targets[i];

        // Only given coordinates can be kept out of colliders; the others are where they are.
        snwVec3 now = work->state.pose[i].place, place = target->place;
        place.x = target->given & snw_dofX ? place.x : now.x;
        place.y = target->given & snw_dofY ? place.y : now.y;
        place.z = target->given & snw_dofZ ? place.z : now.z;

        for (int c = 0; target->given != 0 && c < sim->def->colliderCount; ++c)
        {
            const snwCollider* collider = &sim->scene->colliders[c];
            snwTransform at = sim->colliders[c].transform;
            double out = step - snwCollider_Touch(collider, at, now).depth;
            place = KeepOutOf(collider, at, now, place, fmin(work->model->rooms[i], out));
        }

        target->place.x = target->given & snw_dofX ? place.x : target->place.x;
        target->place.y = target->given & snw_dofY ? place.y : target->place.y;
        target->place.z = target->given & snw_dofZ ? place.z : target->place.z;
    }
}

snwVec3 snwRigpbd_CarryHandles(snwRigpbdWork* work, double most)
{
    snwVec3 way = {CommonWay(work, 0, most), CommonWay(work, 1, most), CommonWay(work, 2, most)};
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        work->state.pose[i].place = snwVec3_Add(work->state.pose[i].place, way);
        CarryLeaving(&work->state.handles[i], &work->targets[i], way);
    }
    return way;
}

snwVec3 snwRigpbd_MeanVelocity(const snwRigpbdWork* work)
{
    snwVec3 sum = {0, 0, 0};
    for (int i = 0; i < work->model->handleCount; ++i)
        sum = snwVec3_Add(sum, work->state.handles[i].velocity);
    return work->model->handleCount > 0 ? snwVec3_Scale(sum, 1.0 / work->model->handleCount) : sum;
}

// ---------------------------------------------------------------------------------------------------------------------

// What has changed in a substep, times its rate, and the spin that this is: the part of A' A^-1 that turns. In the
// plane the linear parts have four numbers.
static snwVec3 FindFlatRate(const snwMat3* before, const snwMat3* now, double rate, snwMat3* out)
{
    double spin = 0.0;
    *out = (snwMat3){{{0}}};
    for (int b = 0; b < 2; ++b)
    {
        double x = rate * (now->m[0][b] - before->m[0][b]), y = rate * (now->m[1][b] - before->m[1][b]);
        out->m[0][b] = x, out->m[1][b] = y;
        spin += y * before->m[0][b] - x * before->m[1][b];
    }
    return (snwVec3){0, 0, 0.5 * spin};
}

static snwVec3 FindSolidRate(const snwMat3* before, const snwMat3* now, double rate, snwMat3* out)
{
    *out = snwMat3_Scale(snwMat3_Sub(*now, *before), rate);
    snwMat3 turn = snwMat3_MulTranspose(*out, *before);
    return (snwVec3){
        0.5 * (turn.m[2][1] - turn.m[1][2]), 0.5 * (turn.m[0][2] - turn.m[2][0]), 0.5 * (turn.m[1][0] - turn.m[0][1])};
}

static void SetVelocity(bool flat, snwRigPose* before, const snwRigPose* now, double rate, snwRigpbdHandle* handle)
{
    snwRigPose change = {.place = snwVec3_Scale(snwVec3_Sub(now->place, before->place), rate)};
    handle->velocity = change.place;
    if (flat)
        handle->spin = FindFlatRate(&before->linear, &now->linear, rate, &change.linear);
    else
        handle->spin = FindSolidRate(&before->linear, &now->linear, rate, &change.linear);
    *before = change;
}

// Whether it may stop gently when this step ends. Flesh that is thrown passes by, and folds.
static bool Stops(const snwRigpbdWork* work, const snwRigpbdHandle* handle)
{
    bool locked = handle->moves && handle->fresh != 0 && handle->clip == snw_rigpbdClipNone;
    return locked && snwVec3_Length(handle->velocity) <= snw_gentleStop * work->model->size;
}

void snwRigpbd_FollowHandles(snwRigpbdWork* work, double h, bool last)
{
    double rate = 1.0 / h;
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        // What nobody moves has the velocity that the fit gave it.
        snwRigpbdHandle* handle = &work->state.handles[i];

        snwRigPose* before = &work->poses[i];
        if (!handle->moves || handle->hand == snw_rigpbdHandLate)
        {
            SetVelocity(work->model->flat, before, &work->state.pose[i], rate, handle);
            continue;
        }

        // Between goes by the velocity that the handle had when the step began.
        snwRigpbdHandle passing = *handle;
        SetVelocity(work->model->flat, before, &work->state.pose[i], rate, &passing);
        if (last)
            *handle = passing;
    }

    // At the end of a step each handle has arrived.
    for (int i = 0; last && i < work->model->handleCount; ++i)
    {
        snwRigpbdHandle* handle = &work->state.handles[i];
        handle->start = (snwTransform){
            IsLed(handle) ? work->goals[i] : handle->target.position, handle->target.rotation};
        handle->stops = Stops(work, handle);
        memcpy(handle->startStrain, handle->targetStrain, sizeof handle->startStrain);
        handle->fresh = 0;
        handle->leaving = 0;
        handle->moves = 0;
        handle->clip = handle->clip == snw_rigpbdClipComes ? snw_rigpbdClipLeads : handle->clip;
    }

    for (int i = 0; last && i < work->model->character->def.constraintCount; ++i)
        work->state.rules[i].start = work->state.rules[i].value;
}
