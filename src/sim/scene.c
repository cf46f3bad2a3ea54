// Scenes: a definition is checked, copied whole and hashed; nothing of it changes afterwards. Sims share it.

#include "sim/scene.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/sort.h"
#include "contact/friction.h"
#include "sim/check.h"
#include "sim/limits.h"
#include "sim/methods.h"
#include "sim/scene_colliders.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_maxSceneParts = 65536,
    snw_maxFrictions = 1024,
};

snwBodyDef snwDefaultBodyDef(void)
{
    return (snwBodyDef){.name = "body",
        .transform = snwTransform_Identity(),
        .friction = SNW_DEFAULT_FRICTION,
        .kineticFriction = -1.0,
        .surface = "",
        .motion = ""};
}

snwColliderDef snwDefaultColliderDef(snwColliderKind kind)
{
    snwColliderDef def = {.name = "ground",
        .kind = kind,
        .transform = snwTransform_Identity(),
        .size = {0.5, 0.5, 0.5},
        .friction = SNW_DEFAULT_FRICTION,
        .kineticFriction = -1.0,
        .surface = ""};
    if (kind == snw_colliderRoom)
        def.size = (snwVec3){2, 2, 2};
    else if (kind == snw_colliderStairs)
        def.size = (snwVec3){0.29, 0.17, 1}; // what feet are used to
    else if (kind == snw_colliderHeightfield)
        def.size = (snwVec3){0.1, 0, 0};
    def.stepCount = kind == snw_colliderStairs ? 10 : 0;
    return def;
}

snwPropDef snwDefaultPropDef(snwColliderKind kind)
{
    return (snwPropDef){.name = "prop",
        .kind = kind,
        .transform = snwTransform_Identity(),
        .size = {0.1, 0.1, 0.1},
        .density = 1000.0,
        .friction = SNW_DEFAULT_FRICTION,
        .kineticFriction = -1.0,
        .surface = ""};
}

snwFrictionDef snwDefaultFrictionDef(void)
{
    return (snwFrictionDef){.first = "", .second = "", .friction = SNW_DEFAULT_FRICTION, .kineticFriction = -1.0};
}

snwPinDef snwDefaultPinDef(void)
{
    return (snwPinDef){.name = "pin", .held = true};
}

snwClipDef snwDefaultClipDef(void)
{
    return (snwClipDef){.body = -1, .given = snw_dofAll, .interpolation = snw_interpolateLinear};
}

snwSceneDef snwDefaultSceneDef(void)
{
    return (snwSceneDef){
        .name = "scene", .method = "pbd", .gravity = {0.0, -9.81, 0.0}, .rate = 60.0, .duration = 4.0, .seed = 1};
}

snwTransform snwIdentityTransform(void)
{
    return snwTransform_Identity();
}

// ---------------------------------------------------------------------------------------------------------------------
// Checks

static snwResult CheckVelocities(snwVec3 velocity, snwVec3 angularVelocity, snwMessage* message)
{
    if (!snwVec3_IsWithin(velocity, SNW_MAX_SPEED) || !snwVec3_IsWithin(angularVelocity, SNW_MAX_SPEED))
        return snwFail(message, snw_errorArgument, NULL, "velocity is not finite or beyond %g", SNW_MAX_SPEED);
    return snw_ok;
}

static snwResult CheckFriction(double friction, double kinetic, snwMessage* message)
{
    if (!(friction >= 0.0 && friction <= SNW_MAX_FRICTION))
        return snwFail(message, snw_errorArgument, NULL, "friction must be 0..%g, is %g", SNW_MAX_FRICTION, friction);
    if (!(kinetic <= friction) || !isfinite(kinetic))
        return snwFail(message, snw_errorArgument, "negative: the same as friction",
            "kinetic friction must be at most friction (%g), is %g", friction, kinetic);
    return snw_ok;
}

static snwResult CheckSurfaceName(const char* surface, snwMessage* message)
{
    if (surface != NULL && strlen(surface) > SNW_MAX_NAME)
        return snwFail(message, snw_errorArgument, NULL, "the name of a surface has more than %d bytes", SNW_MAX_NAME);
    return snw_ok;
}

const snwMotionDef* snwBodyDef_Motion(const snwBodyDef* body)
{
    const snwCharacterDef* character = &body->character->def;
    for (int i = 0; body->motion != NULL && body->motion[0] != 0 && i < character->motionCount; ++i)
        if (strcmp(character->motions[i].name, body->motion) == 0)
            return &character->motions[i];
    return NULL;
}

static snwResult CheckMotionStart(const snwBodyDef* body, snwMessage* message)
{
    if (!(body->motionStart >= 0.0 && body->motionStart <= SNW_MAX_MOTION && body->motionWait >= 0.0 &&
            body->motionWait <= SNW_MAX_MOTION))
        return snwFail(message, snw_errorArgument, NULL, "start and wait of a motion must be 0..%g s, are %g and %g",
            SNW_MAX_MOTION, body->motionStart, body->motionWait);
    if (body->motion == NULL || body->motion[0] == 0 || snwBodyDef_Motion(body) != NULL)
        return snw_ok;
    const snwCharacterDef* character = &body->character->def;
    char remedy[240] = "it has none; leave `motion` out";
    size_t used = 0;
    for (int i = 0; i < character->motionCount && used < sizeof remedy; ++i)
        used += (size_t)snprintf(
            remedy + used, sizeof remedy - used, "%s%s", i == 0 ? "it has: " : ", ", character->motions[i].name);
    return snwFail(message, snw_errorArgument, remedy, "character '%s' has no motion '%.*s'", character->name,
        SNW_MAX_NAME, body->motion);
}

static snwResult CheckBodyDef(const snwBodyDef* body, snwMessage* message)
{
    if (body->character == NULL)
        return snwFail(message, snw_errorArgument, NULL, "has no character");
    snwResult result = CheckVelocities(body->velocity, body->angularVelocity, message);
    result = result < 0 ? result : CheckFriction(body->friction, body->kineticFriction, message);
    result = result < 0 ? result : CheckSurfaceName(body->surface, message);
    result = result < 0 ? result : CheckMotionStart(body, message);
    return result < 0 ? result : snwCheckTransform(body->transform, message);
}

static snwResult CheckCollider(const snwColliderDef* collider, snwMessage* message)
{
    snwResult result = snwColliderDef_Check(collider, message);
    result = result < 0 ? result : CheckFriction(collider->friction, collider->kineticFriction, message);
    return result < 0 ? result : CheckSurfaceName(collider->surface, message);
}

static snwResult CheckProp(const snwPropDef* prop, snwMessage* message)
{
    if (prop->kind <= snw_colliderPlane || prop->kind > snw_colliderCapsule)
        return snwFail(message, snw_errorArgument, "use a sphere, box or capsule", "kind is %d", (int)prop->kind);
    snwColliderDef shape = {.kind = prop->kind,
        .transform = prop->transform,
        .size = prop->size,
        .friction = prop->friction,
        .kineticFriction = prop->kineticFriction,
        .surface = prop->surface};
    if (!(prop->density >= SNW_MIN_DENSITY && prop->density <= SNW_MAX_DENSITY))
        return snwFail(message, snw_errorArgument, NULL, "density must be %g..%g kg/m^3, is %g", SNW_MIN_DENSITY,
            SNW_MAX_DENSITY, prop->density);
    snwResult result = CheckVelocities(prop->velocity, prop->angularVelocity, message);
    return result < 0 ? result : CheckCollider(&shape, message);
}

static snwResult CheckFrictionPair(const snwSceneDef* def, int index, snwMessage* message)
{
    const snwFrictionDef* pair = &def->frictions[index];
    if (pair->first == NULL || pair->first[0] == 0 || pair->second == NULL || pair->second[0] == 0)
        return snwFail(message, snw_errorArgument, NULL, "needs the names of two surfaces");
    for (int i = 0; i < index; ++i)
        if (snwFriction_Joins(&def->frictions[i], pair->first, pair->second))
            return snwFail(message, snw_errorArgument, "remove one of them", "has the surfaces of frictions[%d]", i);
    snwResult result = CheckSurfaceName(pair->first, message);
    result = result < 0 ? result : CheckSurfaceName(pair->second, message);
    return result < 0 ? result : CheckFriction(pair->friction, pair->kineticFriction, message);
}

static snwResult CheckPin(const snwSceneDef* def, const snwPinDef* pin, snwMessage* message)
{
    if (pin->body < 0 || pin->body >= def->bodyCount)
        return snwFail(message, snw_errorArgument, NULL, "body is %d of %d", pin->body, def->bodyCount);
    bool ordered = pin->lower.x <= pin->upper.x && pin->lower.y <= pin->upper.y && pin->lower.z <= pin->upper.z;
    if (!snwVec3_IsWithin(pin->lower, SNW_MAX_POSITION) || !snwVec3_IsWithin(pin->upper, SNW_MAX_POSITION) || !ordered)
        return snwFail(
            message, snw_errorArgument, NULL, "lower must not be above upper, and both within %g m", SNW_MAX_POSITION);
    const snwCharacterDef* character = &def->bodies[pin->body].character->def;
    for (int i = 0; i < character->vertexCount; ++i)
    {
        snwVec3 v = character->vertices[i];
        if (v.x >= pin->lower.x && v.y >= pin->lower.y && v.z >= pin->lower.z && v.x <= pin->upper.x &&
            v.y <= pin->upper.y && v.z <= pin->upper.z)
            return snw_ok;
    }
    return snwFail(message, snw_errorArgument, "`sinew info` prints the bounds of each character",
        "no vertex of body '%s' lies in its box", def->bodies[pin->body].name);
}

static snwResult CheckClipTarget(const snwSceneDef* def, const snwClipDef* clip, snwMessage* message)
{
    int count = clip->target == snw_clipPin ? def->pinCount : def->colliderCount;
    if (clip->target == snw_clipHandle || clip->target == snw_clipJoint)
    {
        if (clip->body < 0 || clip->body >= def->bodyCount)
            return snwFail(message, snw_errorArgument, NULL, "body is %d of %d", clip->body, def->bodyCount);
        const snwCharacterDef* character = &def->bodies[clip->body].character->def;
        count = clip->target == snw_clipHandle ? snwCharacterDef_HandleCount(character) : character->jointCount;
    }
    if (clip->target < snw_clipPin || clip->target > snw_clipJoint || clip->index < 0 || clip->index >= count)
        return snwFail(message, snw_errorArgument, NULL, "moves number %d of %d", clip->index, count);
    return snw_ok;
}

static snwResult CheckStretches(const snwClipDef* clip, snwMessage* message)
{
    if (clip->stretches != NULL && clip->target != snw_clipHandle)
        return snwFail(message, snw_errorArgument, "remove them", "only clips of handles have stretches");
    for (int i = 0; clip->stretches != NULL && i < clip->keyCount; ++i)
        for (int k = 0; k < 6; ++k)
            if (!(fabs(clip->stretches[i][k]) <= SNW_MAX_STRETCH))
                return snwFail(message, snw_errorArgument, NULL, "keys[%d]: a stretch must be within %g, is %g", i,
                    SNW_MAX_STRETCH, clip->stretches[i][k]);
    return snw_ok;
}

static snwResult CheckClip(const snwSceneDef* def, const snwClipDef* clip, snwMessage* message)
{
    snwResult result = CheckClipTarget(def, clip, message);
    if (result < 0)
        return result;
    if (clip->given > snw_dofAll)
        return snwFail(message, snw_errorArgument, NULL, "given is %u, beyond snw_dofAll", clip->given);
    if (clip->interpolation < snw_interpolateStep || clip->interpolation > snw_interpolateSmooth)
        return snwFail(message, snw_errorArgument, NULL, "interpolation is %d", (int)clip->interpolation);
    result = snwCheckKeys(clip->keys, clip->keyCount, SNW_MAX_SECONDS, message);
    return result < 0 ? result : CheckStretches(clip, message);
}

// A parameter of any method will do: a scene may hold settings for when its method is changed.
static snwResult CheckSetting(const snwSetting* setting, snwMessage* message)
{
    for (int i = 0; i < snwMethodCount() && setting->name != NULL; ++i)
    {
        const snwMethod* method = snwMethod_Get(i);
        int param = snwMethod_FindParam(method, setting->name);
        if (param >= 0)
            return snwParam_Check(snwMethod_Param(method, param), setting->value, message);
    }
    return snwFail(message, snw_errorArgument, "`sinew info --params` lists them", "no method has a parameter '%s'",
        setting->name != NULL ? setting->name : "");
}

static snwResult CheckGeneral(const snwSceneDef* def, snwMessage* message)
{
    if (def->method == NULL || snwMethod_Find(def->method) < 0)
        return snwFail(message, snw_errorArgument, "`sinew info --methods` lists them", "there is no method '%s'",
            def->method != NULL ? def->method : "");
    if (!snwVec3_IsWithin(def->gravity, SNW_MAX_ACCELERATION))
        return snwFail(
            message, snw_errorArgument, NULL, "gravity is not finite or beyond %g m/s^2", SNW_MAX_ACCELERATION);

    if (!(def->rate >= 1.0 && def->rate <= 100000.0))
        return snwFail(message, snw_errorArgument, NULL, "rate must be 1..100000 frames per second, is %g", def->rate);
    if (!(def->duration >= 0.0 && def->duration <= 1e6))
        return snwFail(message, snw_errorArgument, NULL, "duration must be 0..1e6 s, is %g", def->duration);

    // Every list has a sound length, and an array if it is not empty.
    const int counts[] = {def->bodyCount, def->colliderCount, def->propCount, def->frictionCount, def->pinCount,
        def->clipCount, def->settingCount, def->commandCount};
    const void* arrays[] = {
        def->bodies, def->colliders, def->props, def->frictions, def->pins, def->clips, def->settings, def->commands};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i)
        if (counts[i] < 0 || counts[i] > snw_maxSceneParts || (counts[i] > 0 && arrays[i] == NULL))
            return snwFail(message, snw_errorArgument, NULL, "a count is out of range or its array is missing");

    if (def->frictionCount > snw_maxFrictions)
        return snwFail(message, snw_errorArgument, NULL, "more than %d pairs of surfaces", snw_maxFrictions);

    return snw_ok;
}

// Checks each element of one array of the scene; on an error adds which one.
#define CHECK_ALL(array, count, call)                                                                                  \
    for (int i = 0; i < def->count; ++i)                                                                               \
        if ((result = (call)) < 0)                                                                                     \
        {                                                                                                              \
            snwMessage_AddPlace(message, array "[%d]", i);                                                             \
            return result;                                                                                             \
        }

static snwResult CheckScene(const snwSceneDef* def, snwMessage* message)
{
    snwResult result = CheckGeneral(def, message);
    if (result < 0)
        return result;
    int method = snwMethod_Find(def->method);
    CHECK_ALL("bodies", bodyCount, CheckBodyDef(&def->bodies[i], message))
    CHECK_ALL("colliders", colliderCount, CheckCollider(&def->colliders[i], message))
    CHECK_ALL("props", propCount, CheckProp(&def->props[i], message))
    CHECK_ALL("frictions", frictionCount, CheckFrictionPair(def, i, message))
    CHECK_ALL("pins", pinCount, CheckPin(def, &def->pins[i], message))
    CHECK_ALL("clips", clipCount, CheckClip(def, &def->clips[i], message))
    CHECK_ALL("settings", settingCount, CheckSetting(&def->settings[i], message))
    CHECK_ALL("commands", commandCount, snwCommand_Check(def, method, &def->commands[i], message))
    return snw_ok;
}

_Static_assert(offsetof(snwBodyDef, name) == 0 && offsetof(snwColliderDef, name) == 0 &&
                   offsetof(snwPropDef, name) == 0 && offsetof(snwPinDef, name) == 0,
    "snwCheckNames reads the first member");

static snwResult CheckAllNames(snwContext* context, const snwSceneDef* def, snwMessage* message)
{
    snwResult result = snwCheckNames(
        context, def->bodies, sizeof *def->bodies, def->bodyCount, "bodies", false, message);
    if (result == snw_ok)
        result = snwCheckNames(
            context, def->colliders, sizeof *def->colliders, def->colliderCount, "colliders", false, message);
    if (result == snw_ok)
        result = snwCheckNames(context, def->props, sizeof *def->props, def->propCount, "props", false, message);
    if (result == snw_ok)
        result = snwCheckNames(context, def->pins, sizeof *def->pins, def->pinCount, "pins", false, message);
    return result;
}

// Two clips that move the same thing would be a quarrel that nobody sees.
static snwResult CheckClipsDiffer(snwContext* context, const snwSceneDef* def, snwMessage* message)
{
    uint64_t* keys = snwAllocArray(context, (size_t)def->clipCount, sizeof *keys);
    int* order = snwAllocArray(context, (size_t)def->clipCount, sizeof *order);
    bool enough = keys != NULL && order != NULL;
    for (int i = 0; enough && i < def->clipCount; ++i)
    {
        const snwClipDef* clip = &def->clips[i];
        uint64_t body = clip->target == snw_clipHandle || clip->target == snw_clipJoint ? (uint64_t)clip->body + 1 : 0;
        // What is moved: kind of target, body if there are several, index.
        keys[i] = (uint64_t)clip->target << 60 | body << 32 | (uint64_t)clip->index;
        order[i] = i;
    }

    // Equal keys come to stand side by side.
    enough = enough && snwSortKeys(context, keys, order, def->clipCount);
    snwResult result = enough ? snw_ok : snwFailMemory(message);
    for (int i = 1; enough && result == snw_ok && i < def->clipCount; ++i)
        if (keys[i] == keys[i - 1])
            result = snwFail(message, snw_errorArgument, "put their keys into one clip",
                "clips[%d] and clips[%d] move the same thing", order[i - 1], order[i]);

    snwFree(context, keys);
    snwFree(context, order);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Copies

// Sorted by step; stable, so that commands of one step keep their order.
static const snwCommand* CopyCommands(snwArena* arena, const snwSceneDef* def)
{
    int count = def->commandCount;
    snwCommand* commands = snwArena_Alloc(arena, (size_t)count, sizeof *commands);
    uint64_t* steps = snwAllocArray(arena->context, (size_t)count, sizeof *steps);
    int* order = snwAllocArray(arena->context, (size_t)count, sizeof *order);
    bool enough = commands != NULL && steps != NULL && order != NULL;

    for (int i = 0; enough && i < count; ++i)
    {
        steps[i] = def->commands[i].step;
        order[i] = i;
    }

    enough = enough && snwSortKeys(arena->context, steps, order, count);
    for (int i = 0; enough && i < count; ++i)
        commands[i] = def->commands[order[i]];
    snwFree(arena->context, steps);
    snwFree(arena->context, order);
    arena->failed = arena->failed || !enough;

    return commands;
}

#define COPY_NAMED(type, array, count)                                                                                 \
    {                                                                                                                  \
        type* all = snwArena_Copy(arena, def->array, (size_t)def->count, sizeof *all);                                 \
        for (int i = 0; all != NULL && i < def->count; ++i)                                                            \
            all[i].name = snwArena_Text(arena, all[i].name);                                                           \
        copy->array = all;                                                                                             \
    }

#define COPY_SURFACES(type, array, count)                                                                              \
    for (int i = 0; copy->array != NULL && i < def->count; ++i)                                                        \
        ((type*)copy->array)[i].surface = snwArena_Text(arena, copy->array[i].surface);

static void CopyScene(snwScene* scene, const snwSceneDef* def)
{
    snwArena* arena = &scene->arena;
    snwSceneDef* copy = &scene->def;
    *copy = *def;
    copy->name = snwArena_Text(arena, def->name);
    copy->method = snwArena_Text(arena, def->method);

    // What has a name only, then what has more to copy.
    COPY_NAMED(snwBodyDef, bodies, bodyCount)
    COPY_NAMED(snwColliderDef, colliders, colliderCount)
    for (int i = 0; !arena->failed && i < def->colliderCount; ++i)
        snwColliderDef_Copy((snwColliderDef*)&copy->colliders[i], arena);
    COPY_NAMED(snwPropDef, props, propCount)
    COPY_SURFACES(snwBodyDef, bodies, bodyCount)

    for (int i = 0; copy->bodies != NULL && i < def->bodyCount; ++i)
        ((snwBodyDef*)copy->bodies)[i].motion = snwArena_Text(arena, copy->bodies[i].motion);
    COPY_SURFACES(snwColliderDef, colliders, colliderCount)
    COPY_SURFACES(snwPropDef, props, propCount)

    snwFrictionDef* frictions = snwArena_Copy(arena, def->frictions, (size_t)def->frictionCount, sizeof *frictions);
    for (int i = 0; frictions != NULL && i < def->frictionCount; ++i)
    {
        frictions[i].first = snwArena_Text(arena, frictions[i].first);
        frictions[i].second = snwArena_Text(arena, frictions[i].second);
    }

    copy->frictions = frictions;
    COPY_NAMED(snwPinDef, pins, pinCount)
    COPY_NAMED(snwSetting, settings, settingCount)

    // Keys, and stretches where the clip has any.
    snwClipDef* clips = snwArena_Copy(arena, def->clips, (size_t)def->clipCount, sizeof *clips);
    for (int i = 0; clips != NULL && i < def->clipCount; ++i)
    {
        size_t count = (size_t)clips[i].keyCount;
        clips[i].keys = snwArena_Copy(arena, clips[i].keys, count, sizeof(snwKey));
        if (clips[i].stretches != NULL)
            clips[i].stretches = snwArena_Copy(arena, clips[i].stretches, count, sizeof *clips[i].stretches);
    }

    copy->clips = clips;
    copy->commands = CopyCommands(arena, def);
}

// ---------------------------------------------------------------------------------------------------------------------
// Hash: over the numbers and names, not over memory (which has pointers and padding)

static void WriteSceneVec3(snwWriter* writer, snwVec3 v)
{
    snwWrite(writer, &v, sizeof v);
}

static void WriteTransform(snwWriter* writer, snwTransform t)
{
    snwWrite(writer, &t, sizeof t);
}

static void WriteShape(snwWriter* writer, const char* name, int kind, snwTransform transform, snwVec3 size)
{
    snwWriteText(writer, name);
    snwWriteInt(writer, kind);
    WriteTransform(writer, transform);
    WriteSceneVec3(writer, size);
}

static void WriteFriction(snwWriter* writer, double friction, double kinetic, const char* surface)
{
    snwWriteReal(writer, friction);
    snwWriteReal(writer, kinetic < 0.0 ? friction : kinetic);
    snwWriteText(writer, surface);
}

static void WriteSceneCommand(snwWriter* writer, const snwCommand* command)
{
    snwWriteU64(writer, command->step);
    const int32_t whole[] = {(int32_t)command->kind, command->body, command->index, command->on,
        (int32_t)(command->mask ^ command->stay << 8)};
    snwWrite(writer, whole, sizeof whole);
    snwWriteReal(writer, command->value);
    if (command->kind == snw_commandDrag)
        snwWriteReal(writer, command->radius);
    WriteSceneVec3(writer, command->vector);
    WriteTransform(writer, command->transform);
    snwWrite(writer, &command->material, sizeof command->material);
}

static void WriteParts(snwWriter* writer, const snwSceneDef* def)
{
    // Names and numbers only: a scene has the same hash in every run of every machine.
    for (int i = 0; i < def->bodyCount; ++i)
    {
        snwWriteText(writer, def->bodies[i].name);
        snwWriteU64(writer, def->bodies[i].character->hash);
        WriteTransform(writer, def->bodies[i].transform);
        WriteSceneVec3(writer, def->bodies[i].velocity);
        WriteSceneVec3(writer, def->bodies[i].angularVelocity);
        WriteFriction(writer, def->bodies[i].friction, def->bodies[i].kineticFriction, def->bodies[i].surface);
        snwWriteText(writer, def->bodies[i].motion);
        if (def->bodies[i].motionStart > 0.0 || def->bodies[i].motionWait > 0.0) // else as it was before there were any
        {
            snwWriteReal(writer, def->bodies[i].motionStart);
            snwWriteReal(writer, def->bodies[i].motionWait);
        }
    }

    // What moves nothing by itself, and what does.
    for (int i = 0; i < def->colliderCount; ++i)
    {
        const snwColliderDef* c = &def->colliders[i];
        WriteShape(writer, c->name, (int)c->kind, c->transform, c->size);
        WriteFriction(writer, c->friction, c->kineticFriction, c->surface);
        snwColliderDef_Write(c, writer);
    }

    for (int i = 0; i < def->propCount; ++i)
    {
        const snwPropDef* p = &def->props[i];
        WriteShape(writer, p->name, (int)p->kind, p->transform, p->size);
        WriteFriction(writer, p->friction, p->kineticFriction, p->surface);
        snwWriteReal(writer, p->density);
        WriteSceneVec3(writer, p->velocity);
        WriteSceneVec3(writer, p->angularVelocity);
    }

    for (int i = 0; i < def->frictionCount; ++i)
    {
        const snwFrictionDef* pair = &def->frictions[i];
        snwWriteText(writer, pair->first);
        WriteFriction(writer, pair->friction, pair->kineticFriction, pair->second);
    }

    // Body and whether it is held at the start, in one number.
    for (int i = 0; i < def->pinCount; ++i)
    {
        snwWriteText(writer, def->pins[i].name);
        snwWriteInt(writer, 2 * def->pins[i].body + def->pins[i].held);
        WriteSceneVec3(writer, def->pins[i].lower);
        WriteSceneVec3(writer, def->pins[i].upper);
    }
}

static void WriteMotion(snwWriter* writer, const snwSceneDef* def)
{
    for (int i = 0; i < def->clipCount; ++i)
    {
        const snwClipDef* clip = &def->clips[i];
        const int32_t whole[] = {
            (int32_t)clip->target, clip->index, clip->body, (int32_t)clip->interpolation, clip->loop, clip->keyCount};
        snwWrite(writer, whole, sizeof whole);
        if (clip->target == snw_clipHandle)
            snwWriteInt(writer, (int32_t)clip->given);
        snwWrite(writer, clip->keys, (size_t)clip->keyCount * sizeof *clip->keys);
        if (clip->stretches != NULL)
            snwWrite(writer, clip->stretches, (size_t)clip->keyCount * sizeof *clip->stretches);
    }

    // Settings and commands: they make another motion of the same things.
    for (int i = 0; i < def->settingCount; ++i)
    {
        snwWriteText(writer, def->settings[i].name);
        snwWriteReal(writer, def->settings[i].value);
    }

    for (int i = 0; i < def->commandCount; ++i)
        WriteSceneCommand(writer, &def->commands[i]);
}

static snwResult HashScene(snwScene* scene)
{
    const snwSceneDef* def = &scene->def;
    snwWriter writer = {.context = scene->context};
    snwWriteText(&writer, def->name);
    snwWriteText(&writer, def->method);
    WriteSceneVec3(&writer, def->gravity);
    snwWriteReal(&writer, def->rate);
    snwWriteReal(&writer, def->duration);
    snwWriteU64(&writer, def->seed);
    const int32_t counts[] = {def->bodyCount, def->colliderCount, def->propCount, def->frictionCount, def->pinCount,
        def->clipCount, def->settingCount, def->commandCount};
    snwWrite(&writer, counts, sizeof counts);
    WriteParts(&writer, def);
    WriteMotion(&writer, def);
    scene->hash = snwHash(writer.data, writer.size, 0);
    snwFree(scene->context, writer.data);
    return writer.failed ? snw_errorMemory : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult PrepareColliders(snwScene* scene, snwMessage* message)
{
    snwResult result = snwColliders_CheckClosed(scene->context, &scene->def, message);
    if (result < 0)
        return result;
    scene->colliders = snwArena_Alloc(&scene->arena, (size_t)scene->def.colliderCount, sizeof *scene->colliders);
    if (scene->arena.failed)
        return snwFailMemory(message);
    for (int i = 0; i < scene->def.colliderCount && result >= 0; ++i)
        result = snwCreateCollider(scene->context, &scene->def.colliders[i], &scene->colliders[i], message);
    return result;
}

snwResult snwCreateScene(snwContext* context, const snwSceneDef* def, snwScene** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckScene(def, message);
    result = result < 0 ? result : CheckAllNames(context, def, message);
    result = result < 0 ? result : CheckClipsDiffer(context, def, message);
    if (result < 0)
        return result;
    snwScene* scene = snwAlloc(context, sizeof *scene);
    if (scene == NULL)
        return snwFailMemory(message);

    scene->context = context;
    scene->arena.context = context;
    atomic_init(&scene->references, 1);

    // Colliders are prepared last: search trees of meshes, say, made from the copy.
    CopyScene(scene, def);
    result = scene->arena.failed || HashScene(scene) < 0 ? snwFailMemory(message) : PrepareColliders(scene, message);

    if (result < 0)
    {
        scene->def.bodyCount = 0; // nothing retained yet
        snwScene_Release(scene);
        return result;
    }

    for (int i = 0; i < def->bodyCount; ++i)
        snwCharacter_Retain(def->bodies[i].character);
    *out = scene;
    return snw_ok;
}

void snwScene_Retain(snwScene* scene)
{
    atomic_fetch_add(&scene->references, 1);
}

void snwScene_Release(snwScene* scene)
{
    if (scene == NULL || atomic_fetch_sub(&scene->references, 1) > 1)
        return;
    for (int i = 0; i < scene->def.bodyCount; ++i)
        snwCharacter_Release(scene->def.bodies[i].character);
    for (int i = 0; scene->colliders != NULL && i < scene->def.colliderCount; ++i)
        snwDestroyCollider(&scene->colliders[i]);
    snwArena_Free(&scene->arena);
    snwFree(scene->context, scene);
}

const snwSceneDef* snwScene_GetDef(const snwScene* scene)
{
    return &scene->def;
}

uint64_t snwScene_Hash(const snwScene* scene)
{
    return scene->hash;
}
