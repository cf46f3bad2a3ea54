// The step that all methods share, and access to what it leaves behind. Making a sim is in sim_create.c.

#include "sim/command.h"
#include "sim/grip.h"
#include "sim/guard.h"
#include "sim/methods.h"
#include "sim/origin.h"
#include "sim/scene.h"
#include "rig/clip.h"

#include <math.h>
#include <string.h>

enum
{
    snw_mostRetries = 3 // of a step, each with twice the substeps
};

// ---------------------------------------------------------------------------------------------------------------------
// Commands

snwResult snwSim_Push(snwSim* sim, const snwCommand* command, snwMessage* message)
{
    snwResult result = snwCommand_CheckFor(sim->def, sim->method, command, message);
    if (result < 0)
        return result;
    if (!snwArray_Reserve(sim->context, &sim->pending, 1))
        return snwFailMemory(message);
    snwCommand due = *command; // the past is now, or a late command would overtake those of this step
    due.step = due.step > sim->state->step ? due.step : sim->state->step;
    int at = sim->pending.count++;
    for (; at > sim->pendingFirst && sim->pending.data[at - 1].step > due.step; --at)
        sim->pending.data[at] = sim->pending.data[at - 1];
    sim->pending.data[at] = due;
    return snw_ok;
}

// A command that cannot be carried out now is dropped with a warning; the rest of the step goes on.
static snwResult ApplyOne(snwSim* sim, const snwCommand* command, snwMessage* message)
{
    if (snwSim_Apply(sim, command, message) >= 0)
        return snw_ok;
    const char* name = snwCommandKind_Name(command->kind);
    snwLogText(
        sim->context, snw_logWarning, "step %llu: %s command dropped", (unsigned long long)sim->state->step, name);
    snwSim_Warn(
        sim, snw_warnCommand, (int)command->kind, message->remedy, "a %s command was dropped: %s", name, message->text);
    message->result = snw_warning;
    return snw_warning;
}

static snwResult ApplyScript(snwSim* sim, snwMessage* message)
{
    snwResult result = snw_ok;
    const snwSceneDef* def = sim->def;
    for (;;)
    {
        snwStateHeader* state = sim->state;
        if (state->scriptNext >= (uint64_t)def->commandCount)
            return result;
        const snwCommand* command = &def->commands[state->scriptNext];

        // The script counts its steps from the last reset.
        if (command->step > state->step - state->scriptStart)
            return result;
        state->scriptNext++;

        // A reset in the script would start the script over for ever at the same step; the rest of it goes on instead.
        uint64_t next = state->scriptNext, start = state->scriptStart;
        result = ApplyOne(sim, command, message) > 0 ? snw_warning : result;
        if (command->kind == snw_commandReset)
            state->scriptNext = next, state->scriptStart = start;
    }
}

// Returns how many of the pending commands were due.
static int ApplyPending(snwSim* sim, snwResult* result, snwMessage* message)
{
    int due = 0;
    for (int at = sim->pendingFirst; at < sim->pending.count && sim->pending.data[at].step <= sim->state->step;
         ++at, ++due)
    {
        snwCommand command = sim->pending.data[at];
        command.step = sim->state->step;
        if (ApplyOne(sim, &command, message) > 0)
            *result = snw_warning;
        else
            sim->log.data[sim->log.count++] = command; // room was made before the step
    }
    return due;
}

// Moves what is left to the front only when that is at most half of it, so that each command is moved once on average.
static void DropPending(snwSim* sim, int count)
{
    sim->pendingFirst += count;
    int left = sim->pending.count - sim->pendingFirst;
    if (left > sim->pendingFirst)
        return;
    if (left > 0)
        memmove(sim->pending.data, sim->pending.data + sim->pendingFirst, (size_t)left * sizeof *sim->pending.data);
    sim->pending.count = left;
    sim->pendingFirst = 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pins, colliders and grabs over the step

static bool SameTransform(snwTransform a, snwTransform b)
{
    return a.position.x == b.position.x && a.position.y == b.position.y && a.position.z == b.position.z &&
           a.rotation.x == b.rotation.x && a.rotation.y == b.rotation.y && a.rotation.z == b.rotation.z &&
           a.rotation.w == b.rotation.w;
}

bool snwMover_Moves(const snwMover* mover)
{
    return !SameTransform(mover->transform, mover->previous);
}

// A collider that a command moves by more than this many sizes of the largest body in one step does not go there, it is
// set down there: it pushes nothing on its way, which would be a blow at hundreds of m/s, and what it lands on comes
// out slowly. Clips go every way at any speed: somebody has made it.
static const double s_farthestMove = 5.0;

static void SetDownColliders(snwSim* sim)
{
    double size = 0.0;
    for (int i = 0; i < sim->bodyCount; ++i)
        size = fmax(size, snwVec3_Distance(sim->bodies[i].character->lower, sim->bodies[i].character->upper));
    for (int i = 0; i < sim->def->colliderCount; ++i)
    {
        snwMover* mover = &sim->colliders[i];
        double way = snwVec3_Distance(mover->transform.position, mover->target.position);
        if ((mover->byClip && sim->colliderClips[i] != NULL) || way <= s_farthestMove * size)
            continue;
        snwSim_Warn(sim, snw_warnJump, i, "move it over several steps, or with a clip",
            "collider '%s' jumps by %.3g m: it is set down there and pushes nothing on its way",
            sim->def->colliders[i].name, way);
        mover->transform = mover->start = mover->target;
    }
}

// time: since the scene's start, at the end of the substep; fraction: of the step done by then.
static void StepMover(snwMover* mover, const snwClipDef* clip, double time, double fraction)
{
    mover->previous = mover->transform;
    if (mover->byClip && clip != NULL)
        mover->transform = snwClip_Evaluate(clip, time);
    else if (!SameTransform(mover->start, mover->target))
        mover->transform = fraction < 1.0 ? snwTransform_Interpolate(mover->start, mover->target, fraction)
                                          : mover->target;
}

static void MoveAll(snwSim* sim, double time, double fraction)
{
    for (int i = 0; i < sim->def->pinCount; ++i)
        StepMover(&sim->pins[i], sim->pinClips[i], time, fraction);
    for (int i = 0; i < sim->def->colliderCount; ++i)
        StepMover(&sim->colliders[i], sim->colliderClips[i], time, fraction);
    for (int i = 0; i < sim->grabCount; ++i)
    {
        snwGrab* grab = &sim->grabs[i];
        if (grab->kind == snw_grabPin)
            grab->vector = snwVec3_Lerp(grab->previous, grab->target, fraction);
    }
}

static void EndMoves(snwSim* sim, double dt)
{
    for (int i = 0; i < sim->def->pinCount; ++i)
        sim->pins[i].start = sim->pins[i].target = sim->pins[i].transform;
    for (int i = 0; i < sim->def->colliderCount; ++i)
        sim->colliders[i].start = sim->colliders[i].target = sim->colliders[i].transform;
    for (int i = 0; i < sim->grabCount; ++i)
    {
        snwGrab* grab = &sim->grabs[i];
        grab->previous = grab->target;
        if (grab->kind == snw_grabPush && (grab->value -= dt) <= 0.0)
            *grab = (snwGrab){0};
    }
}

snwVec3 snwSim_DragPlace(const snwSim* sim, const snwGrab* grab, int end)
{
    return snwVec3_Lerp(grab->previous, grab->target, sim->part[end]);
}

// The last step of a push has only what is left of it, so that its impulse is force times duration.
snwVec3 snwSim_PushForce(const snwSim* sim, const snwGrab* grab)
{
    return snwVec3_Scale(grab->vector, grab->value < sim->dt ? grab->value / sim->dt : 1.0);
}

snwVec3 snwPinSet_Target(const snwPinSet* set, const snwMover* pin, int index)
{
    snwVec3 turned = snwQuat_Rotate(pin->transform.rotation, set->offsets[index]);
    return snwVec3_Add(snwVec3_Add(set->pivot, pin->transform.position), turned);
}

// ---------------------------------------------------------------------------------------------------------------------
// The step

const snwClipDef* snwSim_FindClip(const snwSim* sim, snwClipTarget target, int body, int index)
{
    for (int i = 0; i < sim->def->clipCount; ++i)
    {
        const snwClipDef* clip = &sim->def->clips[i];
        if (clip->target == target && clip->index == index && clip->body == body)
            return clip;
    }
    return NULL;
}

const snwMotionDef* snwSim_BodyMotion(const snwSim* sim, int body)
{
    return snwBodyDef_Motion(&sim->def->bodies[body]);
}

double snwSim_MotionTime(const snwSim* sim, int body, double time)
{
    const snwBodyDef* def = &sim->def->bodies[body];
    return def->motionStart + fmax(time - def->motionWait, 0.0);
}

double snwSim_SceneTime(const snwSim* sim)
{
    return sim->state->time - sim->state->startTime;
}

void snwSim_EndStage(snwSim* sim, int stage)
{
    double now = snwClock_Seconds();
    sim->timings[stage].ms += 1e3 * (now - sim->stageStart);
    sim->stageStart = now;
}

// Is there anything that could bear the weight of a body? What only falls is not pressed, nor what a motion leads.
static bool IsBorne(const snwSim* sim, int body)
{
    bool borne = sim->def->colliderCount + sim->def->propCount + sim->def->pinCount > 0 || sim->bodyCount > 1;
    borne = borne || ((sim->method->features & snw_featureHandles) != 0 &&
                         snwCharacterDef_HandleCount(&sim->bodies[body].character->def) > 0);
    for (int i = 0; i < sim->grabCount; ++i)
        borne = borne || (sim->grabs[i].kind != snw_grabNone && sim->grabs[i].body == body);
    return borne && snwSim_BodyMotion(sim, body) == NULL;
}

// m/s, of the middle of its vertices: single ones may be thrown about.
static double SpeedOf(const snwSim* sim, int body)
{
    snwVertices vertices;
    snwVec3 sum = {0, 0, 0};
    sim->method->getVertices(sim, body, &vertices);
    for (int i = 0; i < vertices.count; ++i)
    {
        const float* v = (const float*)((const char*)vertices.velocities + (size_t)i * (size_t)vertices.stride);
        sum = snwVec3_Add(sum, (snwVec3){(double)v[0], (double)v[1], (double)v[2]});
    }
    return snwVec3_Length(sum) / vertices.count;
}

// Into how many parts a substep of h seconds is cut.
//
// Weight, for bodies of less than a decimetre, in rigpbd for all. In those gravity moves elements by a good part of
// their own size while a substep lasts, and sweeps or iterations cannot hold up all of the others above them: a body of
// millimetres would lie flat on the ground, and so does a horse in rigpbd with one sweep per frame. Its weight as such
// a part, times the number of elements on top of each other, is g h^2 size / edge^2; methods say how much of it they
// bear.
//
// Speed. What goes most of its own size within a substep and hits something is pressed into a plane there, and no
// sweeps tell which way round its elements were. It may go a quarter of what the method names, then.
static int CutSubstep(const snwSim* sim, double h)
{
    enum
    {
        snw_mostCuts = 64
    };
    double g = snwVec3_Length(sim->state->gravity), most = 1.0;

    // The body that asks for most decides.
    for (int i = 0; i < sim->bodyCount && sim->method->mostWeight > 0.0; ++i)
    {
        const snwCharacter* character = sim->bodies[i].character;
        double edge = character->meanEdge, size = snwVec3_Distance(character->lower, character->upper);
        if (!(edge > 0.0) || !IsBorne(sim, i))
            continue;
        if (size < sim->method->smallBody)
            most = fmax(most, ceil(h * sqrt(g * size / sim->method->mostWeight) / edge));

        // Speed.
        double longest = sim->method->mostWay * size, way = longest > 0.0 ? h * SpeedOf(sim, i) : 0.0;
        if (way > longest)
            most = fmax(most, ceil(4.0 * way / longest));
    }

    return (int)fmin(most, snw_mostCuts);
}

static snwResult RunSubsteps(snwSim* sim, double dt, int count, snwMessage* message)
{
    double h = dt / count, begin = sim->state->time - sim->state->startTime;
    for (int i = 0; i < count; ++i)
    {
        double fraction = (double)(i + 1) / count;

        // Where pins, colliders and motions are at the end of this part of the step.
        sim->substepTime = begin + fraction * dt;
        sim->lastSubstep = i + 1 == count;
        sim->part[0] = (double)i / count;
        sim->part[1] = fraction;

        // Contacts are those of the last substep.
        MoveAll(sim, sim->substepTime, fraction);
        sim->contactCount = 0;

        snwResult result = sim->method->step(sim, h, message);
        if (result < 0)
            return result;
        if (result > 0)
            snwSim_Warn(sim, snw_warnMethod, 0, message->remedy, "%s", message->text);
    }

    EndMoves(sim, dt);
    return snwSim_CheckReason(sim, message);
}

// A step that diverges or makes flesh wild is begun again from where its commands left it, with twice the substeps,
// then four and eight times as many: what moves fast moves less between two looks at it. Every try starts from the same
// bytes, so the result depends on nothing else than they do. Flesh that was wild before is let alone. Warns of all
// that.
static snwResult RunStep(snwSim* sim, double dt, snwMessage* message)
{
    int count = (int)sim->state->params[snw_paramSubsteps], warned = sim->warningCount;
    snwMessage before; // of no account: what counts is how the step ends
    bool wild = snwSim_CheckReason(sim, &before) > 0;

    // What every try begins from.
    count *= CutSubstep(sim, dt / count);
    memcpy(sim->begun, sim->block, sim->blockSize);
    sim->retries = 0;
    snwResult result = RunSubsteps(sim, dt, count, message);
    snwMessage first = *message;

    while (sim->retries < snw_mostRetries && (result == snw_errorDiverged || (result > 0 && !wild)))
    {
        memcpy(sim->block, sim->begun, sim->blockSize);
        sim->changes++; // methods look again at what depends on the substep
        sim->retries++;
        sim->warningCount = warned; // what the attempt that failed had to say is of no account
        snwMessage_Clear(message);
        result = RunSubsteps(sim, dt, count << sim->retries, message);
    }

    // If no try went well, the first says why.
    if (result < 0)
    {
        sim->warningCount = warned;
        *message = first.result < 0 ? first : *message;
    }

    if (result < 0 || sim->retries == 0)
        return result < 0 ? result : snw_ok;

    // It took more substeps: a warning, also where nobody reads messages.
    static const char remedy[] = "a softer hand, slower motions or more iterations";
    const char* outcome = result > 0 ? "draws flesh out too far, even" : "diverged, and went well";
    unsigned long long step = sim->state->step;
    int factor = 1 << sim->retries;
    snwSim_Warn(
        sim, snw_warnRetry, result > 0, remedy, "step %llu %s with %d times its substeps", step, outcome, factor);

    return snwFail(message, snw_warning, remedy, "step %llu %s with %d times its substeps", step, outcome, factor);
}

snwResult snwSim_Step(snwSim* sim, double dt, snwMessage* message)
{
    snwMessage own; // warnings are kept in words also where nobody asks for them
    message = message != NULL ? message : &own;
    snwMessage_Clear(message);
    if (!(dt > 0.0) || !isfinite(dt))
        return snwFail(message, snw_errorArgument, NULL, "dt must be > 0 s, is %g", dt);

    // Room in the log first: commands that are applied must be written down.
    if (!snwArray_Reserve(sim->context, &sim->log, sim->pending.count))
        return snwFailMemory(message);
    double start = sim->stageStart = snwClock_Seconds();
    sim->dt = dt;

    for (int i = 0; i < sim->method->stageCount; ++i)
        sim->timings[i].ms = 0.0;

    // Kept to go back to if the step fails.
    memcpy(sim->backup, sim->block, sim->blockSize);

    // What the script and the caller ask for at this step.
    int logged = sim->log.count;
    snwResult warning = ApplyScript(sim, message);
    int due = ApplyPending(sim, &warning, message);
    warning = ApplyScript(sim, message) > 0 ? snw_warning : warning; // again: a reset starts the script at this step
    SetDownColliders(sim);
    if (sim->state->step == sim->state->scriptStart)
        snwSim_WarnOfOverlaps(sim);
    snwSim_FindGrips(sim);

    snwResult result = RunStep(sim, dt, message);
    sim->changes++;

    // Back to before the step, with the log: it never happened.
    if (result < 0)
    {
        snwSim_NameRemedy(sim, message);
        memcpy(sim->block, sim->backup, sim->blockSize);
        sim->log.count = logged;
        sim->contactCount = 0;
        DropPending(sim, due); // kept, they would poison every further step
        return result;
    }

    DropPending(sim, due);
    sim->state->step++;
    sim->state->time += dt;
    sim->stepMs = 1e3 * (snwClock_Seconds() - start);

    return result > 0 ? result : warning;
}

// ---------------------------------------------------------------------------------------------------------------------
// Access

uint64_t snwSim_GetStepCount(const snwSim* sim)
{
    return sim->state->step;
}

double snwSim_GetTime(const snwSim* sim)
{
    return sim->state->time;
}

snwScene* snwSim_GetScene(const snwSim* sim)
{
    return sim->scene;
}

int snwSim_GetMethod(const snwSim* sim)
{
    return snwMethod_Find(sim->method->name);
}

int snwSim_GetBodyCount(const snwSim* sim)
{
    return sim->bodyCount;
}

static bool HasBody(const snwSim* sim, int body)
{
    return body >= 0 && body < sim->bodyCount;
}

snwResult snwSim_GetVertices(const snwSim* sim, int body, snwVertices* vertices)
{
    if (!HasBody(sim, body))
        return snw_errorArgument;
    snwSim_SeeVertices(sim, body, 0, (snwVec3){0, 0, 0}, vertices);
    return snw_ok;
}

snwResult snwSim_GetShown(const snwSim* sim, int body, snwVertices* vertices)
{
    if (!HasBody(sim, body))
        return snw_errorArgument;
    snwSim_SeeVertices(sim, body, 1, (snwVec3){0, 0, 0}, vertices);
    return snw_ok;
}

snwResult snwSim_GetBones(const snwSim* sim, int body, snwTransforms* bones)
{
    *bones = (snwTransforms){.stride = (int)sizeof(snwTransform)};
    if (!HasBody(sim, body))
        return snw_errorArgument;
    bones->data = sim->bodies[body].restPoses;
    bones->count = sim->bodies[body].character->def.boneCount;
    if (sim->method->getBones != NULL)
        sim->method->getBones(sim, body, bones);
    return snw_ok;
}

snwResult snwSim_GetJoints(const snwSim* sim, int body, snwTransforms* joints)
{
    *joints = (snwTransforms){.stride = (int)sizeof(snwTransform)};
    if (!HasBody(sim, body))
        return snw_errorArgument;
    joints->data = sim->bodies[body].restPoses;
    joints->count = sim->bodies[body].character->def.jointCount;
    if (sim->method->getJoints != NULL)
        sim->method->getJoints(sim, body, joints);
    return snw_ok;
}

snwResult snwSim_GetHandles(const snwSim* sim, int body, snwTransforms* handles)
{
    *handles = (snwTransforms){.stride = (int)sizeof(snwTransform)};
    if (!HasBody(sim, body))
        return snw_errorArgument;
    handles->data = sim->bodies[body].restPoses;
    handles->count = snwCharacterDef_HandleCount(&sim->bodies[body].character->def);
    if (sim->method->getHandles != NULL)
        sim->method->getHandles(sim, body, handles);
    return snw_ok;
}

snwResult snwSim_GetHandleMatrices(const snwSim* sim, int body, snwMatrices* handles)
{
    *handles = (snwMatrices){.stride = (int)sizeof(double[12])};
    if (!HasBody(sim, body))
        return snw_errorArgument;
    handles->data = (const double(*)[12])sim->bodies[body].restMatrices;
    handles->count = snwCharacterDef_HandleCount(&sim->bodies[body].character->def);
    if (sim->method->getHandleMatrices != NULL)
        sim->method->getHandleMatrices(sim, body, handles);
    return snw_ok;
}

snwResult snwSim_GetColliders(const snwSim* sim, snwTransforms* colliders)
{
    const snwTransform* first = sim->def->colliderCount > 0 ? &sim->colliders[0].transform : NULL;
    *colliders = (snwTransforms){first, sim->def->colliderCount, (int)sizeof(snwMover)};
    return snw_ok;
}

snwResult snwSim_GetProps(const snwSim* sim, snwProps* props)
{
    *props = (snwProps){sim->props, sim->def->propCount, (int)sizeof(snwProp)};
    return snw_ok;
}

snwResult snwSim_GetContacts(const snwSim* sim, snwContacts* contacts)
{
    *contacts = (snwContacts){sim->contacts, sim->contactCount, (int)sizeof(snwContact)};
    return snw_ok;
}

snwResult snwSim_GetTimings(const snwSim* sim, snwTimings* timings)
{
    *timings = (snwTimings){sim->timings, sim->method->stageCount, (int)sizeof(snwTiming)};
    return snw_ok;
}

snwResult snwSim_GetWarnings(const snwSim* sim, snwWarnings* warnings)
{
    *warnings = (snwWarnings){sim->warnings, sim->warningCount, (int)sizeof(snwWarning)};
    return snw_ok;
}

const snwCommand* snwSim_GetLog(const snwSim* sim, int* count)
{
    *count = sim->log.count;
    return sim->log.data;
}

int snwSim_GetParamCount(const snwSim* sim)
{
    return snwMethod_ParamCount(sim->method);
}

const snwParamInfo* snwSim_GetParamInfo(const snwSim* sim, int param)
{
    return snwMethod_Param(sim->method, param);
}

snwResult snwSim_GetParam(const snwSim* sim, const char* name, double* value)
{
    int param = snwMethod_FindParam(sim->method, name);
    if (param < 0)
        return snw_errorArgument;
    *value = sim->state->params[param];
    return snw_ok;
}

snwResult snwSim_SetParam(snwSim* sim, const char* name, double value, snwMessage* message)
{
    snwCommand command = snwDefaultCommand(snw_commandParam);
    command.index = snwMethod_FindParam(sim->method, name);
    command.value = value;
    if (command.index < 0)
        return snwFail(
            message, snw_errorArgument, "`sinew info --params` lists them", "there is no parameter '%s'", name);
    return snwSim_Push(sim, &command, message);
}

void snwSim_AddContact(snwSim* sim, const snwContact* contact)
{
    if (sim->contactCount < sim->contactCapacity)
        sim->contacts[sim->contactCount++] = *contact;
}
