// Commands: checked when they are pushed, applied just before their step. What they do to the common state is here;
// the method hears of it through `applied`.

#include "sim/command.h"
#include "sim/limits.h"
#include "sim/methods.h"
#include "sim/scene.h"

#include <math.h>

#define SNW_HAND_SIZE (1.0 / 12.0) // of the character's: radius of a hand that says none

// Feature a method needs for each kind; 0: none.
static const uint32_t s_needs[snw_commandKindCount] = {
    [snw_commandPin] = snw_featurePins,
    [snw_commandDrag] = snw_featureDrag,
    [snw_commandPush] = snw_featurePush,
    [snw_commandHandle] = snw_featureHandles,
    [snw_commandJoint] = snw_featureJoints,
    [snw_commandCollider] = snw_featureColliders,
    [snw_commandConstraint] = snw_featureHandles,
};

snwCommand snwDefaultCommand(snwCommandKind kind)
{
    return (snwCommand){.kind = kind,
        .body = kind == snw_commandPin ? -1 : 0,
        .index = kind == snw_commandPush || kind == snw_commandMaterial ? -1 : 0,
        .on = true,
        .mask = snw_dofAll,
        .value = kind == snw_commandDrag   ? 0.5
                 : kind == snw_commandPush ? 0.1
                                           : 0.0,
        .radius = kind == snw_commandDrag ? -1.0 : 0.0,
        .transform = snwIdentityTransform(),
        .material = snwDefaultMaterial()};
}

static snwResult CheckFinite(const snwCommand* command, snwMessage* message)
{
    bool finite = isfinite(command->value) && snwVec3_IsFinite(command->vector) &&
                  snwTransform_IsFinite(command->transform);
    if (!finite || !snwVec3_IsWithin(command->transform.position, SNW_MAX_POSITION))
        return snwFail(message, snw_errorArgument, NULL,
            "command has a number that is not finite, or a position beyond %g m", SNW_MAX_POSITION);
    if (command->step > INT64_MAX)
        return snwFail(message, snw_errorArgument, NULL, "step is beyond 2^63");
    if (fabs(snwQuat_Dot(command->transform.rotation, command->transform.rotation) - 1.0) > 1e-6)
        return snwFail(
            message, snw_errorArgument, "start from snwDefaultCommand()", "rotation is not a unit quaternion");
    return snw_ok;
}

static snwResult CheckIndex(int index, int least, int count, const char* what, snwMessage* message)
{
    if (index < least || index >= count)
        return snwFail(message, snw_errorArgument, NULL, "%s must be %d..%d, is %d", what, least, count - 1, index);
    return snw_ok;
}

static snwResult CheckPush(const snwCommand* command, snwMessage* message)
{
    if (!(command->value >= 0.0 && command->value <= SNW_MAX_SECONDS))
        return snwFail(
            message, snw_errorArgument, NULL, "duration must be 0..%g s, is %g", SNW_MAX_SECONDS, command->value);
    if (!snwVec3_IsWithin(command->vector, SNW_MAX_FORCE))
        return snwFail(message, snw_errorArgument, NULL, "force must be at most %g N", SNW_MAX_FORCE);
    return snw_ok;
}

static snwResult CheckDrag(const snwCommand* command, snwMessage* message)
{
    if (!(command->value >= 0.0 && command->value <= 1.0))
        return snwFail(message, snw_errorArgument, NULL, "strength must be 0..1, is %g", command->value);
    if (!isfinite(command->radius) || command->radius > SNW_MAX_POSITION)
        return snwFail(message, snw_errorArgument, "0 holds one vertex, a negative one the default",
            "radius must be at most %g m, is %g", SNW_MAX_POSITION, command->radius);
    return snw_ok;
}

// A drag or push of a vertex, of a whole body, or of a prop.
static snwResult CheckHand(const snwSceneDef* scene, const snwCommand* command, snwMessage* message)
{
    bool push = command->kind == snw_commandPush;
    if ((push ? CheckPush(command, message) : CheckDrag(command, message)) < 0)
        return snw_errorArgument;
    if (command->body == -1 && scene->propCount > 0)
        return CheckIndex(command->index, 0, scene->propCount, "prop", message);
    if (CheckIndex(command->body, 0, scene->bodyCount, "body", message) < 0)
        return snw_errorArgument;
    int count = scene->bodies[command->body].character->def.vertexCount;
    return CheckIndex(command->index, push ? -1 : 0, count, "vertex", message);
}

// The body exists, and has the handle, constraint, joint, region or vertex that the command names.
static snwResult CheckBodyTarget(const snwSceneDef* scene, const snwCommand* command, snwMessage* message)
{
    if (CheckIndex(command->body, 0, scene->bodyCount, "body", message) < 0)
        return snw_errorArgument;
    const snwCharacterDef* character = &scene->bodies[command->body].character->def;
    switch (command->kind)
    {
        case snw_commandHandle:
            if (command->mask > snw_dofAll || command->stay > snw_dofAll)
                return snwFail(message, snw_errorArgument, NULL, "mask is %u and stay %u: one is beyond snw_dofAll",
                    command->mask, command->stay);
            return CheckIndex(command->index, 0, snwCharacterDef_HandleCount(character), "handle", message);
        case snw_commandConstraint:
            if (!(fabs(command->value) <= SNW_MAX_POSITION))
                return snwFail(message, snw_errorArgument, NULL, "value must be within %g, is %g", SNW_MAX_POSITION,
                    command->value);
            return CheckIndex(command->index, 0, character->constraintCount, "constraint", message);
        case snw_commandJoint:
            return CheckIndex(command->index, 0, character->jointCount, "joint", message);
        case snw_commandMaterial:
            if (snwMaterial_Check(&command->material, message) < 0)
                return snw_errorArgument;
            return CheckIndex(command->index, -1, character->materialCount, "region", message);
        default:
            return CheckIndex(command->index, 0, character->vertexCount, "vertex", message);
    }
}

static snwResult CheckParam(
    const snwSceneDef* scene, const snwMethod* method, const snwCommand* command, snwMessage* message)
{
    const snwParamInfo* param = snwMethod_Param(method, command->index);
    if (param == NULL)
        return snwFail(
            message, snw_errorArgument, "`sinew info --params` lists them", "no parameter number %d", command->index);
    if (!param->live)
        return snwFail(message, snw_errorArgument, "set it in the scene or with --set",
            "%s cannot change while running", param->name);
    snwResult result = snwParam_Check(param, command->value, message);
    if (result >= 0 && method->checkParam != NULL)
        result = method->checkParam(scene, command->index - snw_sharedParamCount, command->value, message);
    return result;
}

snwResult snwCommand_CheckFor(
    const snwSceneDef* scene, const snwMethod* method, const snwCommand* command, snwMessage* message)
{
    if (command->kind < 0 || command->kind >= snw_commandKindCount)
        return snwFail(message, snw_errorArgument, NULL, "command kind is %d", (int)command->kind);
    if ((s_needs[command->kind] & ~method->features) != 0)
        return snwFail(message, snw_errorUnsupported, "choose another method",
            "method %s does not answer to %s commands", method->name, snwCommandKind_Name(command->kind));
    if (CheckFinite(command, message) < 0)
        return snw_errorArgument;

    // What the method has to say about it.
    if (command->kind == snw_commandMaterial && method->checkMaterial != NULL)
    {
        snwResult result = method->checkMaterial(&command->material, message);
        if (result < 0)
            return result;
    }

    // Then its numbers, by kind.
    switch (command->kind)
    {
        case snw_commandReset:
            return snw_ok;
        case snw_commandGravity:
            if (!snwVec3_IsWithin(command->vector, SNW_MAX_ACCELERATION))
                return snwFail(
                    message, snw_errorArgument, NULL, "gravity must be at most %g m/s^2", SNW_MAX_ACCELERATION);
            return snw_ok;
        case snw_commandParam:
            return CheckParam(scene, method, command, message);
        case snw_commandCollider:
            return CheckIndex(command->index, 0, scene->colliderCount, "collider", message);
        case snw_commandPin:
            if (command->body < 0)
                return CheckIndex(command->index, 0, scene->pinCount, "pin", message);
            return CheckBodyTarget(scene, command, message);
        case snw_commandDrag:
        case snw_commandPush:
            return CheckHand(scene, command, message);
        default:
            return CheckBodyTarget(scene, command, message);
    }
}

snwResult snwCommand_Check(const snwSceneDef* scene, int method, const snwCommand* command, snwMessage* message)
{
    return snwCommand_CheckFor(scene, snwMethod_Get(method), command, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Applying

static snwGrab* FindGrab(snwSim* sim, snwGrabKind kind, int body, int vertex)
{
    for (int i = 0; i < sim->grabCount; ++i)
    {
        snwGrab* grab = &sim->grabs[i];
        if (grab->kind == (int32_t)kind && (kind == snw_grabNone || (grab->body == body && grab->vertex == vertex)))
            return grab;
    }
    return NULL;
}

static snwVec3 VertexPosition(const snwSim* sim, int body, int vertex)
{
    snwVertices vertices;
    sim->method->getVertices(sim, body, &vertices);
    const float* p = (const float*)((const char*)vertices.positions + (size_t)vertex * (size_t)vertices.stride);
    return snwVec3_Add(*sim->bodies[body].origin, (snwVec3){p[0], p[1], p[2]});
}

// m: a body of edges alone has no flesh to hold, and a prop is held by its centre.
static float GripRadius(const snwSim* sim, const snwCommand* command)
{
    const snwCharacter* character = command->body >= 0 ? sim->bodies[command->body].character : NULL;
    if (character == NULL || character->elements.count == 0)
        return 0.0f;
    double size = snwVec3_Distance(character->lower, character->upper);
    return (float)(command->radius < 0.0 ? SNW_HAND_SIZE * size : command->radius);
}

static snwResult ApplyGrab(snwSim* sim, snwGrabKind kind, const snwCommand* command, snwMessage* message)
{
    // A push adds to those under way; a pin or drag of the same vertex replaces the old one.
    snwGrab* grab = kind == snw_grabPush ? NULL : FindGrab(sim, kind, command->body, command->index);
    if (kind != snw_grabPush && !command->on)
    {
        if (grab != NULL)
            *grab = (snwGrab){0};
        return snw_ok;
    }

    bool fresh = grab == NULL;
    float radius = kind == snw_grabDrag ? GripRadius(sim, command) : 0.0f;
    if (fresh && (grab = FindGrab(sim, snw_grabNone, 0, 0)) == NULL)
        return snwFail(message, snw_errorArgument, "release some, or raise maxGrabs in snwSimDef",
            "all %d grabs are in use", sim->grabCount);
    grab->kind = (int16_t)kind;
    grab->body = command->body;
    grab->vertex = command->index;
    grab->value = command->value;
    grab->target = command->transform.position;

    if (kind == snw_grabDrag)
    {
        // It is at once where it shall be, and the flesh comes after it.
        grab->fresh = fresh || grab->fresh || grab->radius != radius;
        grab->radius = radius;
        grab->previous = fresh ? grab->target : grab->previous;
        return snw_ok;
    }

    // A pin takes its vertex along from where it is.
    if (kind == snw_grabPush)
        grab->vector = command->vector;
    else if (fresh)
        grab->vector = VertexPosition(sim, command->body, command->index);

    grab->previous = grab->vector;
    return snw_ok;
}

// A released pin stays where it is, for when it is held again.
static void ApplyMover(snwMover* mover, bool held, snwTransform target)
{
    mover->byClip = 0;
    mover->held = held;
    mover->start = mover->transform;
    mover->target = held ? target : mover->transform;
}

static void ApplyMaterial(snwSim* sim, const snwCommand* command)
{
    snwBody* body = &sim->bodies[command->body];
    for (int i = 0; i < body->character->def.materialCount; ++i)
        if (command->index < 0 || command->index == i)
            body->materials[i] = command->material;
}

snwResult snwSim_Apply(snwSim* sim, const snwCommand* command, snwMessage* message)
{
    snwResult result = snw_ok;

    // What all methods share; the rest is theirs.
    switch (command->kind)
    {
        case snw_commandPin:
            if (command->body < 0)
                ApplyMover(&sim->pins[command->index], command->on, command->transform);
            else
                result = ApplyGrab(sim, snw_grabPin, command, message);
            break;
        case snw_commandDrag:
            result = ApplyGrab(sim, snw_grabDrag, command, message);
            break;
        case snw_commandPush:
            result = ApplyGrab(sim, snw_grabPush, command, message);
            break;
        case snw_commandCollider:
            ApplyMover(&sim->colliders[command->index], true, command->transform);
            break;
        case snw_commandMaterial:
            ApplyMaterial(sim, command);
            break;
        case snw_commandGravity:
            sim->state->gravity = command->vector;
            break;
        case snw_commandParam:
            sim->state->params[command->index] = command->value;
            break;
        case snw_commandReset:
            snwSim_Reset(sim);
            break;
        default: // handles and joints live in the methods that have them
            break;
    }

    // The method hears of what has been done.
    if (result >= 0 && sim->method->applied != NULL)
        sim->method->applied(sim, command);
    return result;
}
