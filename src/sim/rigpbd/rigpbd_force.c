// What hands that hold handles may do to flesh.
//
// Force. What is given of a handle's place is met with as much force as flesh bears, 0.3 E V^(2/3) of the V that the
// handle holds (a vertex counts by its weight), or what carries the body, if that is more. The complement's push p =
// sum m w dx, with what joints carry on, is the force times h^2. Where it is too large by 1 / s, the place is taken
// back by what is left out of the answer's move u of the handle, (1 - s) u, and the fit is made again: the rig still is
// where the flesh goes. Where a few tries are not enough, the hand slips for this substep. (The answer made smaller,
// joints and all, left rig and flesh apart, and threw them.) A handle that is late goes on from the speed that it has,
// and comes after as fast as its force can stop it, sqrt(a d) for d to go and a = force / mass: without that brake, the
// force that pulls it to the target throws it past, to and fro.
//
// Energy. A constraint takes from the motion, but for the work of what moves it: with force f at a place that moves by
// du, the answer changes kinetic energy by f . du - |dx|^2 m / 2 h^2. The complement is no constraint in this sense
// where flesh is not where the rig is. It pushes along J M^-1, where the gradient of "the place that fits the flesh" is
// J H^-1, H = M + K, K per handle tr(N) I - sym(N), N = sum m w (x - xr) rho^T. So about the held place it conserves
// the angular momentum of the rigged shape and not that of the flesh, and an arm that is held by its tip was turned
// faster and faster: by a tenth per substep, until the bound of 15 sizes per second held it. With J H^-1 the spin does
// not begin (tried; from 20 m/s to 2), but H becomes singular where flesh folds back on its handle, and what K has as a
// whole then decides: worse than the spin. So what the answer brings in beyond the work of the hands is taken out of
// the motion again that the flesh has within itself, as damping: momentum and angular momentum stay.

#include "sim/grip.h"
#include "sim/rigpbd/rigpbd.h"

#include <math.h>
#include <string.h>

#define SNW_CARRY  1.05 // weights of the body: a handle can carry it
#define SNW_PACE   4.0  // sizes per s^2: and bring it along where nothing weighs
#define SNW_MUCH   0.1  // weight of a handle, from which on an edge counts as its flesh
#define SNW_SPIN   0.01 // rad per substep: held handles that turn slower do not spin
#define SNW_SPRINT 10.0 // times the acceleration of the body: what a handle may have by itself
#define SNW_TRUST  2.0  // times the way back that the answer says
#define SNW_TAKE   0.9  // of a velocity, at most, in a substep

static const uint32_t s_places = snw_dofX | snw_dofY | snw_dofZ;
static const uint32_t s_turns = snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;

// ---------------------------------------------------------------------------------------------------------------------
// Force

static double WeightOf(const snwWeights* w, int vertex, int handle)
{
    for (int e = w->starts[vertex]; e < w->starts[vertex + 1]; ++e)
        if (w->handles[e] == handle)
            return w->values[e];
    return 0.0;
}

// 1: the flesh of this handle may carry the body; 0: it is drawn out as far as a hand may draw it.
static double CarryOf(const snwRigpbdWork* work, int handle)
{
    const snwCharacter* character = work->model->character;
    const snwWeights* w = work->model->rigWeights;
    double longest = 0.0;
    for (int i = 0; i < character->edgeCount; ++i)
    {
        const int* e = character->edges[i];
        double times = snwCharacter_EdgeTimes(character, i, work->state.positions);
        if (times > longest && WeightOf(w, e[0], handle) + WeightOf(w, e[1], handle) > 2 * SNW_MUCH)
            longest = times;
    }
    return snwGrip_Fade(longest);
}

// N: what the flesh that a handle holds bears, or what carries the body or brings it along.
static double StrengthOf(const snwSim* sim, int body, int handle)
{
    const snwBody* common = &sim->bodies[body];
    const snwRigpbdModel* model = snwRigpbd_Work(sim, body)->model;
    int count = common->character->def.materialCount;
    const double* volumes = &model->volumes[handle * count];
    double volume = 0.0, stiff = 0.0;
    for (int i = 0; i < count; ++i)
    {
        volume += volumes[i];
        stiff += volumes[i] * common->materials[i].young;
    }
    double pull = fmax(SNW_CARRY * snwVec3_Length(sim->state->gravity), SNW_PACE * model->size);
    double bears = volume > 0.0 ? snwCharacter_BearableForce(common->character, stiff / volume, volume) : INFINITY;
    return fmax(bears, common->character->mass * pull * snwRigpbd_Work(sim, body)->carries[handle]);
}

static snwVec3 Given(uint32_t given, snwVec3 v)
{
    return (snwVec3){given & snw_dofX ? v.x : 0.0, given & snw_dofY ? v.y : 0.0, given & snw_dofZ ? v.z : 0.0};
}

// Whether a hand leads it, and no faster than flesh bears.
static bool IsLimited(const snwSim* sim, const snwRigpbdWork* work, int handle)
{
    bool firm = (int)snwSim_Param(sim, snw_rigpbdHands) == snw_rigpbdHandsFirm;
    bool given = (work->targets[handle].given & s_places) != 0;
    return given && !firm && work->state.handles[handle].hand != snw_rigpbdHandNone;
}

void snwRigpbd_Brake(const snwSim* sim, int body, double h)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);

    // Once per step: how much of the body each hand carries.
    for (int i = 0; i < work->model->handleCount && sim->part[0] == 0.0; ++i)
        work->carries[i] = IsLimited(sim, work, i) ? CarryOf(work, i) : 1.0;

    for (int i = 0; i < work->model->handleCount; ++i)
    {
        snwRigTarget* target = &work->targets[i];
        snwRigpbdHandle* handle = &work->state.handles[i];
        if (handle->hand != snw_rigpbdHandLate || !IsLimited(sim, work, i))
            continue;
        snwVec3 place = work->state.pose[i].place, way = Given(target->given, snwVec3_Sub(target->place, place));

        // The speed from which it can still be stopped at its target; when it would arrive in this substep, it leads
        // again.
        double acceleration = StrengthOf(sim, body, i) / sim->bodies[body].character->mass;
        double far = snwVec3_Length(way), speed = sqrt(acceleration * far);
        if (h * speed >= far)
        {
            handle->hand = snw_rigpbdHandLeads;
            continue;
        }

        // It speeds up and slows down by no more than the hand's strength allows.
        snwVec3 change = Given(target->given, snwVec3_Sub(snwVec3_Scale(way, speed / far), handle->velocity));
        double most = SNW_SPRINT * acceleration * h, length = snwVec3_Length(change);
        change = snwVec3_Scale(change, length > most ? most / length : 1.0);

        snwVec3 velocity = Given(target->given, snwVec3_Add(handle->velocity, change));
        target->place = snwVec3_Add(snwVec3_Sub(target->place, way), snwVec3_Scale(velocity, h));
    }
}

// m: how far the place goes back along the answer. Chains make a handle follow its flesh by more than the answer says,
// so a second try learns from the first.
static double WayBack(const snwRigpbdYield* before, double push, double most, double answer)
{
    double way = answer * (1.0 - most / push);
    if (before->way > 0.0 && before->push > push)
        way = fmin(SNW_TRUST * way, before->way * (push - most) / (before->push - push));
    return way;
}

static double PushOnHandle(const snwRigpbdWork* work, int handle, const snwRigFit* fit, const snwRigFitScratch* scratch)
{
    return snwVec3_Length(Given(work->targets[handle].given, snwRigFit_Push(fit, scratch, handle)));
}

bool snwRigpbd_Yield(const snwSim* sim, int body, snwRigFitScratch* scratch, double h, snwRigpbdYield* before)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwRigFit* fit = work->rigs[snwRigpbd_WhichFit(sim, body)];
    const snwRigPose* answer = snwRigFit_Answer(fit, scratch);
    bool any = false;

    for (int i = 0; i < work->model->handleCount; ++i)
    {
        if (!IsLimited(sim, work, i))
            continue;

        double push = PushOnHandle(work, i, fit, scratch), most = StrengthOf(sim, body, i) * h * h;
        if (!(push > most))
            continue;

        // Back along the way that the fit has found, by as much as makes the push bearable.
        snwRigTarget* target = &work->targets[i];
        snwVec3 along = Given(target->given, answer[i].place);
        double length = snwVec3_Length(along), way = WayBack(&before[i], push, most, length);
        if (length > 0.0)
            target->place = snwVec3_MulAdd(target->place, -way / length, along);

        before[i] = (snwRigpbdYield){push, way};
        work->state.handles[i].hand = snw_rigpbdHandLate;
        any = true;
    }

    return any;
}

void snwRigpbd_LetSlip(const snwSim* sim, int body)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    for (int i = 0; i < work->model->handleCount; ++i)
        if (IsLimited(sim, work, i))
            work->targets[i].given &= ~s_places;
}

// ---------------------------------------------------------------------------------------------------------------------
// Energy

// rad/s, from A'.
static double SpeedOfTurn(const snwMat3* rate)
{
    double square = 0.0;
    for (int i = 0; i < 9; ++i)
        square += rate->m[i / 3][i % 3] * rate->m[i / 3][i % 3];
    return sqrt(0.5 * square);
}

bool snwRigpbd_MaySpin(const snwSim* sim, int body, double h)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    bool spins = false, places = true;
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        const snwRigTarget* target = &work->targets[i];
        bool held = (target->given & s_places) != 0;
        spins = spins || (held && h * SpeedOfTurn(&work->poses[i].linear) > SNW_SPIN);
        places = places && (target->given & s_turns) == 0;
    }
    for (int i = 0; i < work->model->character->def.constraintCount; ++i)
        places = places && !work->rules[i].on;
    return spins && places && !(snwSim_Param(sim, snw_rigpbdCompliance) > 0.0);
}

// Flat flesh has its moves in the plane's rows.
static snwVec3 VelocityOfFlesh(const snwRigpbdWork* work, int vertex, double rate)
{
    const float* v = work->state.velocities + 4 * (size_t)vertex;
    const float* row = (work->model->flat ? work->plane : work->moves) + 4 * (size_t)vertex;
    snwVec3 move = {(double)row[0], (double)row[1], (double)row[2]};
    if (work->model->flat)
        move = (snwVec3){(double)row[2], (double)row[3], 0.0};
    return snwVec3_MulAdd((snwVec3){(double)v[0], (double)v[1], (double)v[2]}, rate, move);
}

snwRigpbdEnergy snwRigpbd_Energy(const snwRigpbdWork* work, double h)
{
    double all = 0.0, mass = 0.0, rate = 1.0 / h;
    snwVec3 momentum = {0, 0, 0};
    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        double own = 1.0 / (double)work->state.velocities[4 * (size_t)i + 3];
        snwVec3 v = VelocityOfFlesh(work, i, rate);
        all += 0.5 * own * snwVec3_Dot(v, v);
        mass += own;
        momentum = snwVec3_MulAdd(momentum, own, v);
    }
    return (snwRigpbdEnergy){all, all - 0.5 * snwVec3_Dot(momentum, momentum) / mass};
}

double snwRigpbd_Calming(const snwRigpbdWork* work, const snwRigFit* fit, const snwRigFitScratch* scratch,
    const snwRigpbdEnergy energies[2], double h)
{
    double done = 0.0, rate = 1.0 / h;
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        snwVec3 way = snwVec3_Scale(work->poses[i].place, h);
        done += rate * rate * snwVec3_Dot(Given(work->targets[i].given, snwRigFit_Push(fit, scratch, i)), way);
    }
    double excess = energies[1].all - energies[0].all - done, own = energies[1].own;
    if (!(excess > 0.0 && own > 0.0))
        return 0.0;
    return -log1p(-fmin(SNW_TAKE, 0.5 * excess / own)) * rate;
}
