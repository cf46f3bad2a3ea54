// Handles over the figures: where they are, how they are turned, and what of them is given.

#include "view/film.h"

#include "math/transform.h"
#include "sim/character.h"
#include "sim/method.h"
#include "view/gizmo.h"

#include <string.h>

static const snwFloat3 s_dark = {0.02f, 0.025f, 0.035f};
static const snwFloat3 s_light = {0.95f, 0.95f, 0.93f};
static const snwFloat3 s_partly = {0.93f, 0.33f, 0.02f}; // some of its place is given

// ---------------------------------------------------------------------------------------------------------------------
// What is given

static void Hear(const snwCommand* command, int body, uint64_t step, uint32_t* given)
{
    if (command->kind == snw_commandHandle && command->body == body && command->step < step)
        given[command->index] = command->mask;
}

// From the character, then clips, then the script and what was pushed, up to now.
static void FindGiven(const snwSim* sim, int body, int count, uint32_t* given)
{
    const snwSceneDef* def = sim->def;
    const snwCharacterDef* character = snwCharacter_GetDef(def->bodies[body].character);
    int logged = 0;
    const snwCommand* log = snwSim_GetLog(sim, &logged);
    for (int i = 0; i < count; ++i)
        given[i] = character->handleCount > 0 ? character->handles[i].given : 0;
    for (int i = 0; i < def->clipCount; ++i)
        if (def->clips[i].target == snw_clipHandle && def->clips[i].body == body)
            given[def->clips[i].index] = def->clips[i].given;
    for (int i = 0; i < def->commandCount; ++i)
        Hear(&def->commands[i], body, snwSim_GetStepCount(sim), given);
    for (int i = 0; i < logged; ++i)
        Hear(&log[i], body, snwSim_GetStepCount(sim), given);
}

snwResult snwFilm_CopyHandles(snwFilm* film, const snwSim* sim, snwFilmFrame* frame, snwMessage* message)
{
    frame->handles = snwAllocArray(film->context, (size_t)film->handleCount + 1, sizeof *frame->handles);
    frame->given = snwAllocArray(film->context, (size_t)film->handleCount + 1, sizeof *frame->given);
    if (frame->handles == NULL || frame->given == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < film->bodyCount; ++i)
    {
        const snwFilmBody* body = &film->bodies[i];
        snwTransforms now = {0};
        int count = snwCharacterDef_HandleCount(body->character);
        if (snwSim_GetHandles(sim, i, &now) < 0 || now.count != count)
            return snwFail(message, snw_errorArgument, "make one film per sim", "body %d of the sim has changed", i);
        for (int h = 0; h < count; ++h)
            frame->handles[body->firstHandle + h] = *(
                const snwTransform*)((const char*)now.data + (size_t)h * (size_t)now.stride);
        FindGiven(sim, i, count, frame->given + body->firstHandle);
    }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Marks

static snwFloat3 PlaceOf(const snwFilmBody* body, const snwTransform* handles, int handle)
{
    const snwCharacterDef* def = body->character;
    snwVec3 rest = def->handleCount > 0 ? def->handles[handle].position : def->bones[handle].head;
    return snwFloat3_FromVec3(snwTransform_Apply(handles[handle], rest));
}

static snwFloat3 Lift(snwFloat3 p, float by)
{
    return (snwFloat3){p.x, p.y, p.z + by};
}

// A disc, filled if its place is given and hollow if it is free; the hand of a clock tells how it is turned.
static void AddDisc(snwGizmos* gizmos, snwFloat3 at, const snwTransform* handle, uint32_t given, float radius)
{
    const uint32_t place = snw_dofX | snw_dofY;
    const snwFloat3 toMe = {0, 0, 1};
    bool none = (given & place) == 0;
    snwFloat3 fill = none ? s_light : (given & place) == place ? s_dark : s_partly;
    snwFloat3 hand = snwFloat3_Rotate(handle->rotation, (snwFloat3){1.7f * radius, 0, 0});
    snwFloat3 color = (given & snw_dofRotationZ) != 0 ? s_partly : s_dark;
    snwGizmos_AddCapsule(gizmos, at, snwFloat3_Add(at, hand), 0.16f * radius, color);
    snwGizmos_AddDisc(gizmos, Lift(at, 0.3f * radius), toMe, radius, 0.05f * radius, none ? s_dark : s_light);
    snwGizmos_AddDisc(gizmos, Lift(at, 0.45f * radius), toMe, (none ? 0.72f : 0.78f) * radius, 0.05f * radius, fill);
}

// The corners of a cage in their order, and round.
static void AddCage(const snwFilmBody* body, const snwTransform* handles, float lift, float radius, snwGizmos* gizmos)
{
    const snwCharacterDef* def = body->character;
    int first = -1, last = -1;
    for (int i = 0; i < def->handleCount; ++i)
    {
        if (def->handles[i].kind != snw_handleCage)
            continue;
        if (last >= 0)
            snwGizmos_AddCapsule(gizmos, Lift(PlaceOf(body, handles, last), lift),
                Lift(PlaceOf(body, handles, i), lift), 0.16f * radius, s_dark);
        first = first < 0 ? i : first;
        last = i;
    }
    if (last != first)
        snwGizmos_AddCapsule(gizmos, Lift(PlaceOf(body, handles, last), lift),
            Lift(PlaceOf(body, handles, first), lift), 0.16f * radius, s_dark);
}

// The bone of a handle of its name, or of its number where bones are the handles.
static const snwBoneDef* BoneOf(const snwCharacterDef* def, int handle)
{
    if (def->handleCount == 0)
        return &def->bones[handle];
    for (int i = 0; i < def->boneCount && def->handles[handle].kind == snw_handleBone; ++i)
        if (strcmp(def->bones[i].name, def->handles[handle].name) == 0)
            return &def->bones[i];
    return NULL;
}

void snwFilm_AddHandleMarks(const snwFilm* film, const snwFilmFrame* frame, snwGizmos* gizmos)
{
    float radius = 0.02f * film->picture.radius, lift = 0.03f * film->picture.radius;
    for (int b = 0; frame->handles != NULL && b < film->bodyCount; ++b)
    {
        const snwFilmBody* body = &film->bodies[b];
        const snwTransform* handles = frame->handles + body->firstHandle;
        int count = snwCharacterDef_HandleCount(body->character);
        AddCage(body, handles, lift, radius, gizmos);
        for (int i = 0; i < count; ++i)
        {
            const snwBoneDef* bone = BoneOf(body->character, i);
            snwFloat3 at = Lift(PlaceOf(body, handles, i), lift);
            if (!snwFloat3_IsFinite(at))
                continue;
            if (bone != NULL)
                snwGizmos_AddBone(gizmos, at,
                    Lift(snwFloat3_FromVec3(snwTransform_Apply(handles[i], bone->tail)), lift), 0.6f * radius,
                    snwGizmo_boneColor);
            AddDisc(gizmos, at, &handles[i], frame->given[body->firstHandle + i], radius);
        }
    }
}
