// Save, restore, hash. A saved block is a header and the state block as it is; restoring trusts nothing in it.

#include "base/hash.h"
#include "sim/methods.h"
#include "sim/scene.h"

#include <math.h>
#include <string.h>

#define SNW_STATE_MAGIC 0x32534E53u // "SNS2"

typedef struct SavedHeader
{
    uint32_t magic;
    int32_t grabCount;
    uint64_t sceneHash;
    uint64_t methodHash;
    uint64_t blockSize;
    uint64_t blockHash;
} SavedHeader;

uint64_t snwSim_Hash(const snwSim* sim)
{
    return snwHash(sim->block, sim->blockSize, 0);
}

size_t snwSim_GetStateSize(const snwSim* sim)
{
    return sizeof(SavedHeader) + sim->blockSize;
}

static SavedHeader MakeHeader(const snwSim* sim)
{
    return (SavedHeader){SNW_STATE_MAGIC, sim->grabCount, sim->scene->hash, snwHashText(sim->method->name, 0),
        sim->blockSize, snwSim_Hash(sim)};
}

snwResult snwSim_Save(const snwSim* sim, void* buffer, size_t capacity, size_t* size, snwMessage* message)
{
    size_t needed = snwSim_GetStateSize(sim);
    if (size != NULL)
        *size = needed;
    if (capacity < needed)
        return snwFail(message, snw_errorArgument, "ask snwSim_GetStateSize",
            "%zu bytes are too few for a state of %zu", capacity, needed);
    SavedHeader header = MakeHeader(sim);
    memcpy(buffer, &header, sizeof header);
    memcpy((unsigned char*)buffer + sizeof header, sim->block, sim->blockSize);
    return snw_ok;
}

static snwResult CheckSavedHeader(const snwSim* sim, const void* data, size_t size, snwMessage* message)
{
    SavedHeader header;
    uint64_t methodHash = snwHashText(sim->method->name, 0);
    if (size < sizeof header)
        return snwFail(message, snw_errorInput, NULL, "%zu bytes are no saved state", size);
    memcpy(&header, data, sizeof header);
    if (header.magic != SNW_STATE_MAGIC)
        return snwFail(message, snw_errorInput, NULL, "not a saved state, or of another version");
    if (header.sceneHash != sim->scene->hash || header.methodHash != methodHash || header.grabCount != sim->grabCount)
        return snwFail(message, snw_errorInput, "restore it into a sim of the same scene and method",
            "the state was saved from another scene, method or maxGrabs");
    if (header.blockSize != sim->blockSize || size != snwSim_GetStateSize(sim) ||
        header.blockHash != snwHash((const unsigned char*)data + sizeof header, sim->blockSize, 0))
        return snwFail(message, snw_errorInput, "save it again", "the saved state is damaged");
    return snw_ok;
}

static bool GrabHasTarget(const snwSim* sim, const snwGrab* grab)
{
    if (grab->body == -1)
        return grab->kind != snw_grabPin && grab->vertex >= 0 && grab->vertex < sim->def->propCount;
    return grab->body >= 0 && grab->body < sim->bodyCount && grab->vertex >= (grab->kind == snw_grabPush ? -1 : 0) &&
           grab->vertex < sim->bodies[grab->body].character->def.vertexCount;
}

static bool GrabIsSound(const snwSim* sim, const snwGrab* grab)
{
    if (grab->kind == snw_grabNone)
        return true;
    bool known = grab->kind >= 0 && grab->kind <= snw_grabPush && (grab->fresh == 0 || grab->fresh == 1);
    bool held = grab->kind != snw_grabDrag ||
                (grab->radius >= 0.0f && isfinite(grab->radius) && grab->value >= 0.0 && grab->value <= 1.0);
    return known && held && GrabHasTarget(sim, grab) && isfinite(grab->value) && snwVec3_IsFinite(grab->vector) &&
           snwVec3_IsFinite(grab->target) && snwVec3_IsFinite(grab->previous);
}

static bool MoverIsSound(const snwMover* mover)
{
    return snwTransform_IsFinite(mover->transform) && snwTransform_IsFinite(mover->previous) &&
           snwTransform_IsFinite(mover->start) && snwTransform_IsFinite(mover->target);
}

static bool PropIsSound(const snwProp* prop)
{
    return snwTransform_IsFinite(prop->transform) && snwVec3_IsFinite(prop->velocity) &&
           snwVec3_IsFinite(prop->angularVelocity) &&
           fabs(snwQuat_Dot(prop->transform.rotation, prop->transform.rotation) - 1.0) < 1e-6;
}

static bool FloatsAreFinite(const float* data, int stride, int count)
{
    for (int i = 0; i < count; ++i)
    {
        const float* row = (const float*)((const char*)data + (size_t)i * (size_t)stride);
        if (!isfinite(row[0]) || !isfinite(row[1]) || !isfinite(row[2]))
            return false;
    }
    return true;
}

static bool BodiesAreSound(const snwSim* sim)
{
    for (int b = 0; b < sim->bodyCount; ++b)
    {
        snwVertices v;
        sim->method->getVertices(sim, b, &v);
        if (!FloatsAreFinite(v.positions, v.stride, v.count) || !FloatsAreFinite(v.velocities, v.stride, v.count))
            return false;
        if (!snwVec3_IsFinite(*sim->bodies[b].origin))
            return false;
        if (sim->method->isSound != NULL && !sim->method->isSound(sim, b))
            return false;
        for (int i = 0; i < sim->bodies[b].character->def.materialCount; ++i)
            if (snwMaterial_Check(&sim->bodies[b].materials[i], NULL) < 0)
                return false;
    }
    return true;
}

// A block with a right hash may still be made by hand: everything used as an index or a divisor is looked at.
static bool StateIsSound(const snwSim* sim)
{
    const snwStateHeader* state = sim->state;
    bool sound = isfinite(state->time) && isfinite(state->startTime) && snwVec3_IsFinite(state->gravity) &&
                 state->scriptStart <= state->step && state->scriptNext <= (uint64_t)sim->def->commandCount;
    for (int i = 0; sound && i < snwMethod_ParamCount(sim->method); ++i)
        sound = snwParam_Check(snwMethod_Param(sim->method, i), state->params[i], NULL) >= 0;
    for (int i = 0; sound && i < sim->grabCount; ++i)
        sound = GrabIsSound(sim, &sim->grabs[i]);
    for (int i = 0; sound && i < sim->def->pinCount; ++i)
        sound = MoverIsSound(&sim->pins[i]);
    for (int i = 0; sound && i < sim->def->colliderCount; ++i)
        sound = MoverIsSound(&sim->colliders[i]);
    for (int i = 0; sound && i < sim->def->propCount; ++i)
        sound = PropIsSound(&sim->props[i]);
    return sound && BodiesAreSound(sim);
}

snwResult snwSim_Restore(snwSim* sim, const void* data, size_t size, snwMessage* message)
{
    snwResult result = CheckSavedHeader(sim, data, size, message);
    if (result < 0)
        return result;

    // In, and out again if it is not sound.
    memcpy(sim->backup, sim->block, sim->blockSize);
    memcpy(sim->block, (const unsigned char*)data + sizeof(SavedHeader), sim->blockSize);
    sim->changes++;
    if (!StateIsSound(sim))
    {
        memcpy(sim->block, sim->backup, sim->blockSize);
        return snwFail(message, snw_errorInput, "save it again", "the saved state holds numbers that cannot be");
    }

    // What belongs to the time before: pushed commands, contacts, records of later steps.
    sim->pending.count = sim->pendingFirst = 0;
    sim->contactCount = 0;
    sim->retries = 0;

    for (int i = 0; i < sim->bodyCount; ++i)
        sim->bodies[i].residual = sim->bodies[i].elasticLack = 0.0;
    while (sim->log.count > 0 && sim->log.data[sim->log.count - 1].step >= sim->state->step)
        sim->log.count--;

    return snw_ok;
}
