// Pictures of a prepared character in a pose: its surfaces, bones and joints through them, the elements of its body,
// or its weights in colours.

#include "view/prepared_portrait.h"

#include "math/transform.h"
#include "sim/character.h"
#include "view/film_prepared.h"
#include "view/gizmo.h"
#include "view/weights_look.h"

#include <math.h>

typedef struct Drawing
{
    snwContext* context;
    const snwPreparedPortrait* portrait;
    const snwCharacterDef* character;
    snwArena arena;
    snwTransform* pose; // of the bones
    float* body;        // x y z of the body's vertices
    snwFilmSurface* surface;
    float* points; // of the surface
    snwGizmos gizmos;
    snwMeshLook looks[2];
    int lookCount;
    snwMessage* message;
} Drawing;

// ---------------------------------------------------------------------------------------------------------------------
// Pose

static snwResult SkinBody(Drawing* d)
{
    const snwCharacterDef* def = d->character;
    snwSkinningDef skin = snwDefaultSkinningDef();
    snwSkinning* skinning = NULL;
    float* rest = snwArena_Copy(&d->arena, d->body, 3 * (size_t)def->vertexCount, sizeof *rest);

    if (rest == NULL)
        return snwFailMemory(d->message);

    // The body is skinned from its rest shape; what rides in it follows.
    skin.positions = rest;
    skin.stride = 3 * (int)sizeof(float);
    skin.vertexCount = def->vertexCount;
    skin.weights = &def->boneWeights;
    snwResult result = snwCreateSkinning(d->context, &skin, &skinning, d->message);

    snwSkinningPose pose = {.kind = d->portrait->skinning, .transforms = d->pose, .count = def->boneCount};
    snwSkinningTarget target = {.positions = d->body, .positionStride = 3 * (int)sizeof(float)};
    if (result >= 0)
        result = snwSkinning_Apply(skinning, &pose, &target, d->message);
    snwDestroySkinning(skinning);

    return result;
}

static snwResult PosePortrait(Drawing* d)
{
    const snwCharacterDef* def = d->character;
    d->pose = snwArena_Alloc(&d->arena, (size_t)def->boneCount + 1, sizeof *d->pose);
    d->body = snwArena_Alloc(&d->arena, 3 * (size_t)def->vertexCount + 1, sizeof(float));
    if (d->arena.failed)
        return snwFailMemory(d->message);
    for (int i = 0; i < def->vertexCount; ++i)
        snwFloat3_Store(snwFloat3_FromVec3(def->vertices[i]), d->body + 3 * (size_t)i);
    const snwPreparedPortrait* portrait = d->portrait;
    snwResult result = snwCharacter_Pose(
        portrait->prepared->character, portrait->motion, portrait->time, d->pose, def->boneCount);
    if (result < 0)
        return snwFail(d->message, result, NULL, "there is no such pose");
    return portrait->motion >= 0 && def->boneWeights.vertexCount > 0 ? SkinBody(d) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Looks

static snwResult AddPortraitSurface(Drawing* d, float opacity)
{
    snwFilmSurface* s = d->surface = snwAlloc(d->context, sizeof *d->surface);
    if (s == NULL)
        return snwFailMemory(d->message);
    s->arena.context = d->context;
    snwResult result = snwFilmSurface_TakePrepared(d->portrait->prepared, s, d->message);
    if (result < 0)
        return result;

    d->points = snwArena_Alloc(&d->arena, 3 * (size_t)s->pointCount + 1, sizeof(float));
    if (d->points == NULL)
        return snwFailMemory(d->message);

    // Surfaces where the posed body takes them.
    snwVertices now = {.positions = d->body, .count = d->character->vertexCount, .stride = 3 * (int)sizeof(float)};
    snwFilmSurface_MovePrepared(s, &now, d->points);
    d->looks[d->lookCount++] = (snwMeshLook){.kind = snw_pictureSkin,
        .positions = d->points,
        .colors = s->colors,
        .paint = s->colors == NULL ? snwFilmPart_Paint : NULL,
        .paintData = s->parts,
        .paintPoints = s->colors == NULL ? s->paint : NULL,
        .places = s->places,
        .vertexCount = s->pointCount,
        .triangles = s->triangles,
        .triangleCount = s->triangleCount,
        .color = {0.8f, 0.8f, 0.8f},
        .opacity = opacity,
        .gloss = 0.15f};

    return snw_ok;
}

// A flat character shows itself.
static snwResult AddSheet(Drawing* d)
{
    const snwCharacterDef* def = d->character;
    snwLikenessLook look = d->portrait->look;
    bool painted = look != snw_lookElements && look != snw_lookSilhouette && def->texcoords != NULL;
    d->looks[d->lookCount++] = (snwMeshLook){.kind = snw_pictureSkin,
        .positions = d->body,
        .vertexCount = def->vertexCount,
        .triangles = def->triangles[0],
        .triangleCount = def->triangleCount,
        .color = {def->color[0], def->color[1], def->color[2]},
        .texcoords = painted ? def->texcoords[0] : NULL,
        .texture = painted ? &def->texture : NULL,
        .flat = true,
        .edges = look == snw_lookElements};
    return snw_ok;
}

// The boundary of the body, with the sides of its elements.
static snwResult AddPortraitElements(Drawing* d)
{
    snwSkin skin;
    snwResult result = snwCharacter_GetRestSkin(d->portrait->prepared->character, &skin);
    float* positions = snwArena_Alloc(&d->arena, 3 * (size_t)skin.vertexCount + 1, sizeof *positions);
    if (result < 0 || positions == NULL)
        return snwFailMemory(d->message);
    for (int i = 0; i < 3 * skin.vertexCount; ++i)
        positions[i] = d->body[3 * (size_t)skin.vertices[i / 3] + (size_t)(i % 3)];
    d->looks[d->lookCount++] = (snwMeshLook){.kind = snw_pictureSkin,
        .positions = positions,
        .vertexCount = skin.vertexCount,
        .triangles = skin.triangles,
        .triangleCount = skin.triangleCount,
        .color = {d->character->color[0], d->character->color[1], d->character->color[2]},
        .flat = true,
        .edges = true};
    return snw_ok;
}

static snwResult AddPortraitBones(Drawing* d)
{
    const snwCharacterDef* def = d->character;
    double size = snwVec3_Distance(d->portrait->prepared->character->lower, d->portrait->prepared->character->upper);

    // Thin bones are drawn thick enough to be seen.
    for (int i = 0; i < def->boneCount; ++i)
    {
        const snwBoneDef* bone = &def->bones[i];
        snwFloat3 head = snwFloat3_FromVec3(snwTransform_Apply(d->pose[i], bone->head));
        snwFloat3 tail = snwFloat3_FromVec3(snwTransform_Apply(d->pose[i], bone->tail));
        snwGizmos_AddCapsule(&d->gizmos, head, tail, (float)fmax(bone->radius, 0.003 * size), snwGizmo_boneColor);
    }

    // A hinge shows its axis, every other joint is a ball.
    for (int i = 0; i < def->jointCount; ++i)
    {
        const snwJointDef* joint = &def->joints[i];
        const snwTransform* pose = &d->pose[joint->bone];
        snwFloat3 at = snwFloat3_FromVec3(snwTransform_Apply(*pose, joint->position));
        snwFloat3 axis = snwFloat3_FromVec3(snwQuat_Rotate(pose->rotation, joint->axis));
        float radius = (float)fmax(1.3 * def->bones[joint->bone].radius, 0.006 * size);

        if (joint->type == snw_jointHinge)
            snwGizmos_AddHinge(&d->gizmos, at, axis, radius, snwGizmo_jointColor);
        else
            snwGizmos_AddBall(&d->gizmos, at, radius, snwGizmo_jointColor);
    }

    return snwGizmos_GetLook(&d->gizmos, &d->looks[d->lookCount++], d->message);
}

static snwResult AddLooks(Drawing* d)
{
    snwWeightsLookDef weights = {d->portrait->prepared->character, d->portrait->handle, d->pose, d->portrait->skinning};
    snwResult result = snw_ok;
    bool flat = d->character->triangleCount > 0;
    if (flat && d->portrait->look != snw_lookWeights)
        return AddSheet(d);

    // Bones are seen through the surface.
    switch (d->portrait->look)
    {
        case snw_lookWeights:
            return snwMakeWeightsLook(d->context, &d->arena, &weights, &d->looks[d->lookCount++], d->message);
        case snw_lookElements:
            return AddPortraitElements(d);
        case snw_lookBones:
            result = AddPortraitSurface(d, 0.35f);
            return result < 0 || d->character->boneCount == 0 ? result : AddPortraitBones(d);
        default:
            return AddPortraitSurface(d, 1);
    }
}

snwResult snwPreparedPortrait_Draw(snwContext* context, const snwPreparedPortrait* portrait, const snwPortraitDef* view,
    snwImage* image, snwMessage* message)
{
    Drawing d = {.context = context,
        .portrait = portrait,
        .character = snwCharacter_GetDef(portrait->prepared->character),
        .arena = {.context = context},
        .gizmos = {.context = context},
        .message = message};
    snwPortraitDef def = *view;
    snwResult result = PosePortrait(&d);

    // What is looked at, then the view of the caller, with a wall behind paper.
    if (result >= 0)
        result = AddLooks(&d);
    def.meshes = d.looks;
    def.meshCount = d.lookCount;
    def.style = portrait->look == snw_lookSilhouette ? snw_styleSilhouette : def.style;
    if (d.character->triangleCount > 0) // before a wall, not on the ground
    {
        def.wall = true;
        def.ground = false;
    }

    if (result >= 0)
        result = snwDrawPortrait(context, &def, image, message);
    snwDestroyFilmSurface(context, d.surface);
    snwGizmos_Free(&d.gizmos);
    snwArena_Free(&d.arena);

    return result;
}
