// What a film keeps of each frame: positions, and of what else there is only what its look and overlays need.

#include "view/film.h"

#include "asset/fine_skin.h"
#include "base/sort.h"
#include "sim/character.h"
#include "sim/origin.h"
#include "view/film_prepared.h"
#include "view/look_values.h"

#include <string.h>

enum
{
    snw_maxBalls = 256,
    snw_maxArrows = 256, // of the strongest contacts
};

void snwFilmFrame_Free(snwContext* context, snwFilmFrame* frame)
{
    snwFree(context, frame->positions);
    snwFree(context, frame->values);
    snwFree(context, frame->colliders);
    snwFree(context, frame->props);
    snwFree(context, frame->bones);
    snwFree(context, frame->contacts);
    snwFree(context, frame->pins);
    snwFree(context, frame->handles);
    snwFree(context, frame->given);
}

// What is drawn of a body: its skin, or its vertices if it has no skin.
static snwResult GetPoints(const snwFilm* film, snwSim* sim, int body, snwVertices* points, snwSkin* skin)
{
    snwResult result = snwSim_SeeSkin(sim, body, film->origin, skin);
    if (result < 0)
        return result;
    *points = (snwVertices){.positions = skin->positions, .count = skin->vertexCount, .stride = skin->stride};
    if (skin->triangleCount > 0)
        return snw_ok;
    snwSim_SeeVertices(sim, body, 1, film->origin, points);
    points->count = points->count < snw_maxBalls ? points->count : snw_maxBalls;
    return snw_ok;
}

static bool CopySkinTriangles(snwContext* context, const snwSkin* skin, snwFilmBody* body)
{
    body->triangleCount = skin->triangleCount;
    if (skin->triangleCount == 0)
        return true;
    body->triangles = snwCopyArray(context, skin->triangles, 3 * (size_t)skin->triangleCount, sizeof(int));
    body->vertices = snwCopyArray(context, skin->vertices, (size_t)skin->vertexCount, sizeof(int));
    return body->triangles != NULL && body->vertices != NULL;
}

// Numbers are told in colours where the mesh has them, so those looks show the mesh itself. Elements are those of what
// is shown: a finer skin that was asked for has its own.
static bool ShowsFlesh(const snwFilm* film, const snwFilmBody* body)
{
    bool finer = body->character->triangleCount > 0 && body->character->source != NULL &&
                 snwFineSkin_Wanted(body->character->source) > 0;
    return film->def.look == snw_filmSkin || film->def.look == snw_filmBones ||
           (film->def.look == snw_filmElements && finer);
}

static snwFilmSurface* FindSameSurface(const snwFilm* film, int body)
{
    for (int i = 0; i < body; ++i)
        if (film->bodies[i].character == film->bodies[body].character)
            return film->bodies[i].surface;
    return NULL;
}

// Every frame keeps all points of all bodies, so many bodies get coarser surfaces.
static snwResult MakeFilmSurface(snwFilm* film, int index, snwMessage* message)
{
    snwFilmBody* body = &film->bodies[index];
    if (!ShowsFlesh(film, body) || body->triangleCount == 0)
        return snw_ok;
    double detail = fmax(50, 120 / sqrt(film->bodyCount));
    body->surface = FindSameSurface(film, index);

    if (body->surface == NULL)
    {
        snwResult result = snwCreateFilmSurface(film->context, body->character, detail, &body->surface, message);
        if (result < 0)
            return result;
        body->ownsSurface = body->surface != NULL;
    }

    // Nothing finer than the skin.
    if (body->surface == NULL)
        return snw_ok;
    // The finer surface's points take the place of the skin's.
    snwFree(film->context, body->triangles);
    snwFree(film->context, body->vertices);
    body->vertices = NULL;
    body->vertexCount = body->surface->pointCount;
    body->triangleCount = body->surface->triangleCount;
    body->triangles = snwCopyArray(
        film->context, body->surface->triangles, 3 * (size_t)body->triangleCount, sizeof(int));

    return body->triangles != NULL ? snw_ok : snwFailMemory(message);
}

static void ForgetBody(snwFilm* film, snwFilmBody* body)
{
    snwFilmSkeleton_Free(film->context, &body->skeleton);
    snwFree(film->context, body->triangles);
    snwFree(film->context, body->vertices);
    if (body->ownsSurface)
        snwDestroyFilmSurface(film->context, body->surface);
}

// Pictures are made of floats, which 4 km away would show every facet askew. Paper figures have none, and places that
// others bring are in the world.
static snwVec3 ChooseOrigin(const snwFilm* film, const snwSim* sim)
{
    const double grid = 256;
    if (film->flat || film->shown != NULL || film->bodyCount == 0)
        return (snwVec3){0, 0, 0};
    snwVec3 at = *sim->bodies[0].origin;
    return (snwVec3){grid * round(at.x / grid), grid * round(at.y / grid), grid * round(at.z / grid)};
}

snwTransform snwFilm_See(const snwFilm* film, snwTransform inWorld)
{
    return (snwTransform){snwVec3_Sub(inWorld.position, film->origin), inWorld.rotation};
}

snwResult snwFilm_MeetBodies(snwFilm* film, snwSim* sim, snwMessage* message)
{
    const snwSceneDef* def = snwScene_GetDef(film->scene);
    size_t largest = 0;
    film->origin = ChooseOrigin(film, sim);
    film->floatCount = 0;
    film->boneCount = film->handleCount = 0;

    // Where each body's floats, bones and handles begin in a frame.
    for (int i = 0; i < film->bodyCount; ++i)
    {
        snwFilmBody* body = &film->bodies[i];
        snwVertices points;
        snwSkin skin;
        if (GetPoints(film, sim, i, &points, &skin) < 0)
            return snwFail(message, snw_errorArgument, NULL, "body %d of the sim has no skin to draw", i);

        ForgetBody(film, body);
        snwCharacterInfo info = snwCharacter_GetInfo(def->bodies[i].character);
        *body = (snwFilmBody){.color = snwPicture_BodyColor(i, info.color), .first = film->floatCount};
        body->character = snwCharacter_GetDef(def->bodies[i].character);
        body->vertexCount = points.count;
        body->firstBone = film->boneCount;
        body->firstHandle = film->handleCount;
        if (!CopySkinTriangles(film->context, &skin, body))
            return snwFailMemory(message);
        snwResult result = MakeFilmSurface(film, i, message);
        if (result >= 0 && film->def.look == snw_filmBones)
            result = snwFilmSkeleton_Make(film->context, def->bodies[i].character, &body->skeleton, message);
        if (result < 0)
            return result;

        film->floatCount += 3 * (size_t)body->vertexCount;
        film->boneCount += info.boneCount;
        film->handleCount += snwCharacterDef_HandleCount(body->character);
        largest = (size_t)info.vertexCount > largest ? (size_t)info.vertexCount : largest;
    }

    // Strains and the like are computed per vertex, in one array for all bodies.
    film->firstTime = snwSim_GetTime(sim);
    snwFree(film->context, film->scratch);
    film->scratch = snwAllocArray(film->context, largest + 1, sizeof(float));
    return film->scratch != NULL ? snw_ok : snwFailMemory(message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Values at vertices

static const float* CapturedAt(const float* data, int stride, int index)
{
    return (const float*)((const char*)data + (size_t)index * (size_t)stride);
}

static const snwContact* FilmContactAt(const snwContacts* contacts, int index)
{
    return (const snwContact*)((const char*)contacts->data + (size_t)index * (size_t)contacts->stride);
}

static void CopyValues(snwFilm* film, const snwSim* sim, int index, snwFilmFrame* frame)
{
    const snwFilmBody* body = &film->bodies[index];
    if (body->triangleCount == 0 || !snwFindLookValues(sim, index, film->def.look, film->scratch))
        return;
    for (int v = 0; v < body->vertexCount; ++v)
        frame->values[body->first / 3 + (size_t)v] = film->scratch[body->vertices[v]];
}

// ---------------------------------------------------------------------------------------------------------------------
// Bones and overlays

static snwResult CaptureBones(snwFilm* film, const snwSim* sim, snwFilmFrame* frame, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; result >= 0 && i < film->bodyCount; ++i)
    {
        const snwFilmBody* body = &film->bodies[i];
        snwVertices now = {0};
        snwTransforms bones = {0};
        if (body->character->boneCount == 0)
            continue;
        snwSim_SeeVertices(sim, i, 1, film->origin, &now);

        // Bones that the method does not move are fitted to the flesh.
        if (sim->method->getBones == NULL)
            result = snwFitBones(film->context, body->character, &now, frame->bones + body->firstBone, message);
        else if (snwSim_GetBones(sim, i, &bones) >= 0)
            for (int b = 0; b < bones.count && b < body->character->boneCount; ++b)
                frame->bones[body->firstBone + b] = snwFilm_See(
                    film, *(const snwTransform*)((const char*)bones.data + (size_t)b * (size_t)bones.stride));
    }

    return result;
}

// Where the upward parts of all forces act together.
static void FindPressure(const snwFilm* film, const snwContacts* contacts, snwFilmFrame* frame)
{
    double sum[3] = {0, 0, 0}, load = 0;
    snwVec3 o = film->origin;
    for (int i = 0; i < contacts->count; ++i)
    {
        const snwContact* contact = FilmContactAt(contacts, i);
        double up = contact->normal[1] > 0.5f ? fmax((double)contact->force[1], 0) : 0;
        for (int k = 0; k < 3; ++k)
            sum[k] += up * (double)contact->position[k];
        load += up;
    }
    frame->load = (float)load;
    if (load > 0)
        frame->pressure = (snwFloat3){
            (float)(sum[0] / load - o.x), (float)(sum[1] / load - o.y), (float)(sum[2] / load - o.z)};
}

// Positive floats sort like their bits; the largest first.
static uint64_t ContactKey(const snwContact* contact)
{
    float force = snwFloat3_Length(snwFloat3_Load(contact->force));
    uint32_t bits = 0;
    if (isfinite(force))
        memcpy(&bits, &force, sizeof bits);
    return UINT32_MAX - bits;
}

static snwResult CopyContacts(snwFilm* film, const snwContacts* contacts, snwFilmFrame* frame, snwMessage* message)
{
    size_t count = (size_t)contacts->count;
    uint64_t* keys = snwAllocArray(film->context, count + 1, sizeof *keys);
    int* order = snwAllocArray(film->context, count + 1, sizeof *order);
    int kept = contacts->count < snw_maxArrows ? contacts->count : snw_maxArrows;

    frame->contacts = snwAllocArray(film->context, (size_t)kept + 1, sizeof *frame->contacts);
    bool made = keys != NULL && order != NULL && frame->contacts != NULL;

    // The strongest, if there are more than anybody could draw.
    for (int i = 0; made && i < contacts->count; ++i)
    {
        keys[i] = ContactKey(FilmContactAt(contacts, i));
        order[i] = i;
    }

    made = made && snwSortKeys(film->context, keys, order, contacts->count);

    // Seen from the film's origin, so that floats suffice far away.
    for (int i = 0; made && i < kept; ++i)
    {
        const snwContact* contact = FilmContactAt(contacts, order[i]);
        snwFloat3 place = snwFloat3_Sub(snwFloat3_Load(contact->position), snwFloat3_FromVec3(film->origin));
        frame->contacts[i] = (snwFilmContact){place, snwFloat3_Load(contact->force)};
    }

    frame->contactCount = made ? kept : 0;
    snwFree(film->context, keys);
    snwFree(film->context, order);
    return made ? snw_ok : snwFailMemory(message);
}

static void PutPin(const snwFilm* film, const snwSim* sim, int body, int vertex, snwFilmFrame* frame)
{
    snwVertices now = {0};
    snwSim_SeeVertices(sim, body, 1, film->origin, &now);
    if (vertex >= 0 && vertex < now.count)
        memcpy(frame->pins + 3 * (size_t)frame->pinCount++, CapturedAt(now.positions, now.stride, vertex),
            3 * sizeof(float));
}

// The scene's pins that hold now, and vertices that a command holds.
static snwResult CopyPins(snwFilm* film, const snwSim* sim, snwFilmFrame* frame, snwMessage* message)
{
    size_t most = (size_t)sim->grabCount;
    for (int p = 0; p < sim->def->pinCount; ++p)
        most += (size_t)sim->pinSets[p].count;
    frame->pins = snwAllocArray(film->context, most + 1, 3 * sizeof(float));
    if (frame->pins == NULL)
        return snwFailMemory(message);
    for (int p = 0; p < sim->def->pinCount; ++p)
        for (int i = 0; sim->pins[p].held && i < sim->pinSets[p].count; ++i)
            PutPin(film, sim, sim->pinSets[p].body, sim->pinSets[p].vertices[i], frame);
    for (int g = 0; g < sim->grabCount; ++g)
        if (sim->grabs[g].kind == snw_grabPin)
            PutPin(film, sim, sim->grabs[g].body, sim->grabs[g].vertex, frame);
    return snw_ok;
}

static snwResult CopyOverlays(snwFilm* film, const snwSim* sim, snwFilmFrame* frame, snwMessage* message)
{
    snwContacts contacts = {0};
    snwResult result = snw_ok;
    if ((film->def.show & (snw_showContacts | snw_showPressure)) != 0 && snwSim_GetContacts(sim, &contacts) >= 0)
        FindPressure(film, &contacts, frame);
    if ((film->def.show & snw_showContacts) != 0)
        result = CopyContacts(film, &contacts, frame, message);
    if (result >= 0 && (film->def.show & snw_showPins) != 0)
        result = CopyPins(film, sim, frame, message);
    if (result >= 0 && (film->def.show & snw_showHandles) != 0)
        result = snwFilm_CopyHandles(film, sim, frame, message);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

// What the body's motion does to surfaces that are finer than the body, a smile, and where its bones are.
static void CaptureMotion(const snwFilm* film, snwSim* sim, int index)
{
    const snwFilmBody* body = &film->bodies[index];
    const snwMotionDef* motion = snwSim_BodyMotion(sim, index);
    if (body->surface->display == NULL)
        return;
    int number = motion != NULL ? (int)(motion - body->character->motions) : -1;
    double time = film->shown != NULL ? sim->def->bodies[index].motionWait + film->shown->time : snwSim_SceneTime(sim);
    snwDisplay_SetMotion(body->surface->display, number, snwSim_MotionTime(sim, index, time));

    // Bones as the film sees them; without memory what is rigid follows the flesh that is nearest.
    snwTransforms bones = {0};
    bool told = film->shown == NULL && snwSim_GetBones(sim, index, &bones) >= 0 && bones.count > 0;
    snwTransform* seen = told ? snwAllocArray(film->context, (size_t)bones.count, sizeof *seen) : NULL;
    for (int i = 0; i < bones.count && seen != NULL; ++i)
        seen[i] = snwFilm_See(film, *(const snwTransform*)((const char*)bones.data + (size_t)i * (size_t)bones.stride));
    snwDisplay_SetBones(body->surface->display, seen, bones.count, (int)sizeof *seen);
    snwFree(film->context, seen);
}

static snwResult CopyBody(snwFilm* film, snwSim* sim, int index, snwFilmFrame* frame, snwMessage* message)
{
    const snwFilmBody* body = &film->bodies[index];
    snwVertices points;
    snwSkin skin;

    // Paper with a finer skin: its points follow the handles.
    if (body->surface != NULL && body->surface->fine != NULL)
    {
        snwMatrices handles = {0};
        if (snwSim_GetHandleMatrices(sim, index, &handles) < 0)
            return snwFail(message, snw_errorArgument, NULL, "body %d of the sim has no handles", index);
        snwFilmSurface_MoveFine(body->surface, &handles, frame->positions + body->first);
        return snw_ok;
    }

    // A surface that rides in the body: moved by the vertices, or given as it was shown.
    if (body->surface != NULL)
    {
        if (film->shown != NULL)
            points = film->shown->bodies[index];
        else
            snwSim_SeeVertices(sim, index, 1, film->origin, &points);

        if (points.count != body->character->vertexCount)
            return snwFail(
                message, snw_errorArgument, "make one film per sim", "body %d of the sim has changed", index);
        bool given = film->shown != NULL && film->shown->surfaces != NULL && index == 0 &&
                     body->surface->prepared != NULL;
        CaptureMotion(film, sim, index);
        if (given)
            snwFilmSurface_TakeSkins(body->surface, film->shown->surfaces, frame->positions + body->first);
        else
            snwFilmSurface_Move(film->context, body->surface, &points, frame->positions + body->first);

        if (given && frame->values != NULL)
            snwFilmSurface_Compare(
                body->surface, film->shown->surfaces, film->shown->artists, frame->values + body->first / 3);
        return snw_ok;
    }

    // The skin itself.
    if (GetPoints(film, sim, index, &points, &skin) < 0 || points.count != body->vertexCount)
        return snwFail(message, snw_errorArgument, "make one film per sim", "body %d of the sim has changed", index);
    for (int v = 0; v < points.count; ++v)
        memcpy(frame->positions + body->first + 3 * (size_t)v, CapturedAt(points.positions, points.stride, v),
            3 * sizeof(float));
    if (frame->values != NULL)
        CopyValues(film, sim, index, frame);
    return snw_ok;
}

static snwResult CopyColliders(snwFilm* film, const snwSim* sim, snwFilmFrame* frame, snwMessage* message)
{
    snwTransforms transforms = {0};
    if (film->colliderCount > 0 &&
        (snwSim_GetColliders(sim, &transforms) < 0 || transforms.count < film->colliderCount))
        return snwFail(message, snw_errorArgument, "make one film per sim", "the sim's colliders are missing");
    for (int i = 0; i < film->colliderCount; ++i)
        frame->colliders[i] = snwFilm_See(
            film, *(const snwTransform*)((const char*)transforms.data + (size_t)i * (size_t)transforms.stride));
    return snw_ok;
}

static void CopyProps(const snwFilm* film, const snwSim* sim, snwFilmFrame* frame)
{
    snwProps props;
    snwSim_GetProps(sim, &props);
    for (int i = 0; i < film->propCount && i < props.count; ++i)
        frame->props[i] = snwFilm_See(film, props.data[i].transform);
}

static bool AllocFrame(const snwFilm* film, snwFilmFrame* frame)
{
    bool values = snwFilm_HasValues(film), bones = snwFilm_NeedsBones(film);
    frame->positions = snwAllocArray(film->context, film->floatCount + 1, sizeof(float));
    frame->colliders = snwAllocArray(film->context, (size_t)film->colliderCount + 1, sizeof(snwTransform));
    frame->props = snwAllocArray(film->context, (size_t)film->propCount + 1, sizeof(snwTransform));
    if (values)
        frame->values = snwAllocArray(film->context, film->floatCount / 3 + 1, sizeof(float));
    if (bones)
        frame->bones = snwAllocArray(film->context, (size_t)film->boneCount + 1, sizeof(snwTransform));
    return frame->positions != NULL && frame->colliders != NULL && frame->props != NULL &&
           (!values || frame->values != NULL) && (!bones || frame->bones != NULL);
}

snwResult snwFilm_CopyFrame(snwFilm* film, snwSim* sim, snwFilmFrame* frame, snwMessage* message)
{
    snwResult result = AllocFrame(film, frame) ? snw_ok : snwFailMemory(message);
    for (int i = 0; result >= 0 && i < film->bodyCount; ++i)
        result = CopyBody(film, sim, i, frame, message);
    if (result >= 0)
        result = CopyColliders(film, sim, frame, message);
    if (result >= 0)
        CopyProps(film, sim, frame);
    if (result >= 0 && frame->bones != NULL)
        result = CaptureBones(film, sim, frame, message);
    return result >= 0 ? CopyOverlays(film, sim, frame, message) : result;
}
