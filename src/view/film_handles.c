// Handles over the picture, in front of all that is in it: where they are, how they are turned, and what of them is
// given.

#include "view/film.h"

#include "math/transform.h"
#include "sim/character.h"
#include "sim/method.h"
#include "view/ink.h"

#include <string.h>

static const snwFloat3 s_dark = {0.02f, 0.025f, 0.035f};
static const snwFloat3 s_light = {0.95f, 0.95f, 0.93f};
static const snwFloat3 s_accent = {0.93f, 0.33f, 0.02f}; // some of its place is given, or its turn
static const snwFloat3 s_bone = {0.80f, 0.74f, 0.58f};

// ---------------------------------------------------------------------------------------------------------------------
// What is given

// What the first step will do is seen in the first frame, or marks would flash.
static void HearFirstStep(const snwCommand* command, int body, uint64_t step, uint32_t* given)
{
    uint64_t end = step > 0 ? step : 1;
    if (command->kind == snw_commandHandle && command->body == body && command->step < end)
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
        HearFirstStep(&def->commands[i], body, snwSim_GetStepCount(sim), given);
    for (int i = 0; i < logged; ++i)
        HearFirstStep(&log[i], body, snwSim_GetStepCount(sim), given);
}

snwResult snwFilm_CopyHandles(snwFilm* film, const snwSim* sim, snwFilmFrame* frame, snwMessage* message)
{
    frame->handles = snwAllocArray(film->context, (size_t)film->handleCount + 1, sizeof *frame->handles);
    frame->given = snwAllocArray(film->context, (size_t)film->handleCount + 1, sizeof *frame->given);
    if (frame->handles == NULL || frame->given == NULL)
        return snwFailMemory(message);

    // Every handle as it is in this frame, and which of its degrees of freedom are given.
    for (int i = 0; i < film->bodyCount; ++i)
    {
        const snwFilmBody* body = &film->bodies[i];
        snwTransforms now = {0};
        int count = snwCharacterDef_HandleCount(body->character);
        if (snwSim_GetHandles(sim, i, &now) < 0 || now.count != count)
            return snwFail(message, snw_errorArgument, "make one film per sim", "body %d of the sim has changed", i);
        for (int h = 0; h < count; ++h)
            frame->handles[body->firstHandle + h] = snwFilm_See(
                film, *(const snwTransform*)((const char*)now.data + (size_t)h * (size_t)now.stride));
        FindGiven(sim, i, count, frame->given + body->firstHandle);
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Marks

// A place in the image, pixels.
typedef struct Spot
{
    float x, y;
    float pixels; // per metre, at this depth; 0: it is not before the camera
} Spot;

typedef struct Easel
{
    const snwCamera* camera;
    snwImage* image;
    float radius; // of a mark, pixels
} Easel;

static Spot ProjectSpot(const Easel* easel, snwFloat3 p)
{
    const snwCamera* camera = easel->camera;
    snwFloat3 to = snwFloat3_Sub(p, camera->position);
    float depth = snwFloat3_Dot(to, camera->forward);
    if (!snwFloat3_IsFinite(p) || !(depth > 0))
        return (Spot){0};
    float pixels = 0.5f * (float)easel->image->height / (camera->tanY * depth);
    return (Spot){
        .x = 0.5f * (float)easel->image->width + pixels * snwFloat3_Dot(to, camera->right),
        .y = 0.5f * (float)easel->image->height - pixels * snwFloat3_Dot(to, camera->up),
        .pixels = pixels,
    };
}

static snwFloat3 PlaceOfMark(const snwFilmBody* body, const snwTransform* handles, int handle)
{
    return snwFloat3_FromVec3(
        snwTransform_Apply(handles[handle], snwCharacterDef_HandlePoint(body->character, handle)));
}

// Light with dark sides.
static void DrawRod(const Easel* easel, Spot a, Spot b, float width, snwFloat3 color)
{
    if (a.pixels <= 0 || b.pixels <= 0)
        return;
    snwImage_DrawStroke(easel->image, a.x, a.y, b.x, b.y, width + 0.3f * easel->radius, s_dark);
    snwImage_DrawStroke(easel->image, a.x, a.y, b.x, b.y, width, color);
}

// The hand of a clock; one that points at the camera hides behind its disc.
static void DrawHand(const Easel* easel, snwFloat3 at, const snwTransform* handle, uint32_t given)
{
    const uint32_t turn = snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
    Spot from = ProjectSpot(easel, at);
    float length = from.pixels > 0 ? 2.1f * easel->radius / from.pixels : 0;
    Spot to = ProjectSpot(easel, snwFloat3_Add(at, snwFloat3_Rotate(handle->rotation, (snwFloat3){length, 0, 0})));
    DrawRod(easel, from, to, 0.35f * easel->radius, (given & turn) != 0 ? s_accent : s_light);
}

// Filled if all of its place is given, hollow if nothing is, by half if some is.
static void DrawDisc(const Easel* easel, snwFloat3 at, uint32_t given, uint32_t place)
{
    Spot spot = ProjectSpot(easel, at);
    float radius = easel->radius;
    if (spot.pixels <= 0)
        return;
    bool all = (given & place) == place, none = (given & place) == 0;
    snwImage_DrawDisc(easel->image, spot.x, spot.y, 1.2f * radius, all ? s_light : s_dark);
    snwImage_DrawDisc(easel->image, spot.x, spot.y, (all ? 1.0f : 0.85f) * radius, all ? s_dark : s_light);
    if (!all && !none)
        snwImage_DrawHalfDisc(easel->image, spot.x, spot.y, 0.85f * radius, s_accent);
}

static void DrawEdge(const Easel* easel, const snwFilmBody* body, const snwTransform* handles, int a, int b)
{
    DrawRod(easel, ProjectSpot(easel, PlaceOfMark(body, handles, a)), ProjectSpot(easel, PlaceOfMark(body, handles, b)),
        0.3f * easel->radius, s_light);
}

// The cage of a flat character: its corners in their order, and round. Nobody knows the edges of a solid one's cage.
static void DrawCage(const Easel* easel, const snwFilmBody* body, const snwTransform* handles)
{
    const snwCharacterDef* def = body->character;
    int first = -1, last = -1;
    for (int i = 0; def->triangleCount > 0 && i < def->handleCount; ++i)
    {
        if (def->handles[i].kind != snw_handleCage)
            continue;
        if (last >= 0)
            DrawEdge(easel, body, handles, last, i);
        first = first < 0 ? i : first;
        last = i;
    }
    if (last != first)
        DrawEdge(easel, body, handles, last, first);
}

static void DrawBody(const Easel* easel, const snwFilmBody* body, const snwTransform* handles, const uint32_t* given)
{
    const snwCharacterDef* def = body->character;
    const uint32_t place = snw_dofX | snw_dofY | (def->triangleCount > 0 ? 0 : snw_dofZ);
    int count = snwCharacterDef_HandleCount(def);

    // Cages below bones below points: what can be taken hold of is on top.
    DrawCage(easel, body, handles);
    for (int i = 0; i < count; ++i)
    {
        int bone = snwCharacterDef_BoneOfHandle(def, i);
        if (bone >= 0)
            DrawRod(easel, ProjectSpot(easel, PlaceOfMark(body, handles, i)),
                ProjectSpot(easel, snwFloat3_FromVec3(snwTransform_Apply(handles[i], def->bones[bone].tail))),
                0.8f * easel->radius, s_bone);
    }

    for (int i = 0; i < count; ++i)
    {
        snwFloat3 at = PlaceOfMark(body, handles, i);
        if (def->handleCount == 0 || def->handles[i].kind != snw_handleCage)
            DrawHand(easel, at, &handles[i], given[i]);
        DrawDisc(easel, at, given[i], place);
    }
}

void snwFilm_FrameHandles(const snwFilm* film, int index, snwFraming* framing)
{
    const snwFilmFrame* frame = &film->frames.data[index];
    for (int b = 0; frame->handles != NULL && b < film->bodyCount; ++b)
        for (int i = 0; i < snwCharacterDef_HandleCount(film->bodies[b].character); ++i)
            snwFraming_Add(framing, PlaceOfMark(&film->bodies[b], frame->handles + film->bodies[b].firstHandle, i));
}

void snwFilm_DrawHandles(snwFilm* film, int index, const snwCamera* camera)
{
    const snwFilmFrame* frame = &film->frames.data[index];
    Easel easel = {camera, &film->image, snwFloat_Max(0.014f * (float)film->image.height, 2.5f)};
    for (int b = 0; frame->handles != NULL && b < film->bodyCount; ++b)
    {
        const snwFilmBody* body = &film->bodies[b];
        DrawBody(&easel, body, frame->handles + body->firstHandle, frame->given + body->firstHandle);
    }
}
