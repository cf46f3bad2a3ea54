// A take: the maps of a body's handles (or bones) frame by frame, and clips made of it that move the same handles in
// a scene.

#include "asset/export_take.h"

#include "math/eigen.h"
#include "scene/scene_file.h"
#include "sim/method.h"

#include <math.h>

static const snwBodyDef* BodyOfTake(const snwTake* take)
{
    return &snwScene_GetDef(take->scene)->bodies[take->body];
}

void snwTake_Free(snwTake* take)
{
    snwArray_Free(take->context, &take->times);
    snwArray_Free(take->context, &take->maps);
}

// Methods that know no handles move bones, which are as good where the character has no handles.
static snwResult AddTakenBones(snwTake* take, const snwSim* sim, snwMessage* message)
{
    snwTransforms bones;
    if (BodyOfTake(take)->character->def.handleCount > 0 || snwSim_GetBones(sim, take->body, &bones) < 0)
        return snwFail(message, snw_errorUnsupported, "a method with handles: rigpbd",
            "method '%s' moves no handles to export", sim->method->name);
    if (!snwArray_Reserve(take->context, &take->maps, bones.count))
        return snwFailMemory(message);
    for (int k = 0; k < bones.count; ++k)
        take->maps.data[take->maps.count++] = snwAffine_FromTransform(bones.data[k]);
    return snw_ok;
}

static snwResult AddTakenHandles(snwTake* take, const snwSim* sim, snwMessage* message)
{
    snwMatrices handles;
    snwResult result = snwSim_GetHandleMatrices(sim, take->body, &handles);
    if (result < 0 || !snwArray_Reserve(take->context, &take->maps, handles.count))
        return result < 0 ? result : snwFailMemory(message);
    for (int k = 0; k < handles.count; ++k)
    {
        snwAffine* map = &take->maps.data[take->maps.count++];
        const double* m = handles.data[k];
        for (int i = 0; i < 9; ++i)
            map->linear.m[i / 3][i % 3] = m[4 * (i / 3) + i % 3];
        map->translation = (snwVec3){m[3], m[7], m[11]};
    }
    return snw_ok;
}

snwResult snwTake_AddFrame(snwTake* take, const snwSim* sim, snwMessage* message)
{
    bool knowsHandles = (sim->method->features & snw_featureHandles) != 0;
    if (!snwArray_Reserve(take->context, &take->times, 1))
        return snwFailMemory(message);
    snwResult result = knowsHandles ? AddTakenHandles(take, sim, message) : AddTakenBones(take, sim, message);
    if (result >= 0)
        take->times.data[take->times.count++] = snwSim_GetTime(sim);
    return result;
}

int snwTake_HandleCount(const snwTake* take)
{
    return snwCharacter_HandleCount(BodyOfTake(take)->character);
}

const char* snwTake_HandleName(const snwTake* take, int handle)
{
    const snwCharacterDef* def = &BodyOfTake(take)->character->def;
    const char* name = def->handleCount > 0 ? def->handles[handle].name : def->bones[handle].name;
    return name != NULL ? name : "";
}

snwVec3 snwTake_HandleRest(const snwTake* take, int handle)
{
    const snwCharacter* character = BodyOfTake(take)->character;
    return character->def.handleCount > 0 ? character->def.handles[handle].position
                                          : character->skeleton.pivots[handle];
}

snwAffine snwTake_Map(const snwTake* take, int frame, int handle)
{
    return take->maps.data[frame * snwTake_HandleCount(take) + handle];
}

snwQuat snwTake_Rotation(snwMat3 linear, snwQuat last)
{
    snwQuat q = snwQuat_FromMat3(snwPolar3_Compute(linear).rotation);
    return snwQuat_Dot(q, last) < 0 ? snwQuat_Scale(q, -1) : q;
}

// ---------------------------------------------------------------------------------------------------------------------
// Clips

// Below this it is rounding: handles that only move and turn.
static const double s_leastStretch = 1e-9;

// What is left of the map without its rotation. Returns by how much it stretches.
static double Stretch(snwMat3 linear, snwQuat rotation, double stretch[6])
{
    snwMat3 s = snwMat3_TransposeMul(snwQuat_ToMat3(rotation), linear);
    const double parts[6] = {s.m[0][0], s.m[1][1], s.m[2][2], 0.5 * (s.m[1][2] + s.m[2][1]),
        0.5 * (s.m[0][2] + s.m[2][0]), 0.5 * (s.m[0][1] + s.m[1][0])};
    double most = 0;
    for (int i = 0; i < 6; ++i)
    {
        stretch[i] = parts[i];
        most = fmax(most, fabs(parts[i] - (i < 3 ? 1 : 0)));
    }
    return most;
}

static void WriteClip(const snwTake* take, int handle, snwKey* keys, double (*stretches)[6], snwText* text)
{
    double most = 0;
    snwQuat last = snwQuat_Identity();
    snwVec3 rest = snwTake_HandleRest(take, handle);

    // Rotations are chosen next to the last ones, so that splines do not go round the long way.
    for (int i = 0; i < take->times.count; ++i)
    {
        snwAffine map = snwTake_Map(take, i, handle);
        last = snwTake_Rotation(map.linear, last);
        keys[i] = (snwKey){take->times.data[i], {snwAffine_Apply(map, rest), last}};
        most = fmax(most, Stretch(map.linear, last, stretches[i]));
    }

    // Linear between frames; strains only where the handle really stretches.
    snwClipDef clip = snwDefaultClipDef();
    clip.target = snw_clipHandle;
    clip.body = take->body;
    clip.index = handle;
    clip.given = snw_dofAll;
    clip.interpolation = snw_interpolateLinear;
    clip.keys = keys;
    clip.keyCount = take->times.count;
    clip.stretches = most > s_leastStretch ? (const double(*)[6])stretches : NULL;
    snwClip_WriteJson(text, snwScene_GetDef(take->scene), &clip);
}

snwResult snwTake_WriteClips(const snwTake* take, snwText* text, snwMessage* message)
{
    snwKey* keys = snwAllocArray(take->context, (size_t)take->times.count + 1, sizeof *keys);
    double(*stretches)[6] = snwAllocArray(take->context, (size_t)take->times.count + 1, sizeof *stretches);
    if (keys == NULL || stretches == NULL)
    {
        snwFree(take->context, keys);
        snwFree(take->context, stretches);
        return snwFailMemory(message);
    }

    // A clip per handle, as scenes read them.
    snwText_Open(text, '{');
    snwText_Key(text, "clips");
    snwText_Open(text, '[');
    for (int k = 0; k < snwTake_HandleCount(take); ++k)
        WriteClip(take, k, keys, stretches, text);
    snwText_Close(text, ']');
    snwText_Close(text, '}');
    snwFree(take->context, keys);
    snwFree(take->context, stretches);

    return text->failed ? snwFailMemory(message) : snw_ok;
}
