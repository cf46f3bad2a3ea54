// What a film shows besides its bodies: bones, joints, pins, contacts and the centre of pressure.

#include "view/film.h"

#include "view/gizmo.h"
#include "math/transform.h"

static const snwFloat3 s_contactColor = {0.75f, 0.16f, 0.02f};
static const snwFloat3 s_pinColor = {0.05f, 0.16f, 0.55f};
static const snwFloat3 s_pressureColor = {0.03f, 0.42f, 0.16f};

static float BodySize(const snwFilmBody* body)
{
    snwFloat3 lower = {1e30f, 1e30f, 1e30f}, upper = {-1e30f, -1e30f, -1e30f};
    for (int v = 0; v < body->character->vertexCount; ++v)
    {
        snwFloat3 p = snwFloat3_FromVec3(body->character->vertices[v]);
        lower = (snwFloat3){snwFloat_Min(lower.x, p.x), snwFloat_Min(lower.y, p.y), snwFloat_Min(lower.z, p.z)};
        upper = (snwFloat3){snwFloat_Max(upper.x, p.x), snwFloat_Max(upper.y, p.y), snwFloat_Max(upper.z, p.z)};
    }
    return snwFloat3_Length(snwFloat3_Sub(upper, lower));
}

static void MarkBones(const snwFilmBody* body, const snwTransform* bones, snwGizmos* gizmos)
{
    float least = 0.008f * BodySize(body);
    for (int i = 0; i < body->character->boneCount; ++i)
    {
        const snwBoneDef* bone = &body->character->bones[i];
        if (body->skeleton.solid != NULL && body->skeleton.solid[i])
            continue;
        snwFloat3 head = snwFloat3_FromVec3(snwTransform_Apply(bones[i], bone->head));
        snwFloat3 tail = snwFloat3_FromVec3(snwTransform_Apply(bones[i], bone->tail));
        if (snwFloat3_IsFinite(head) && snwFloat3_IsFinite(tail))
            snwGizmos_AddCapsule(
                gizmos, head, tail, bone->radius > 0 ? (float)bone->radius : least, snwGizmo_boneColor);
    }
}

// A joint goes with the bone that it moves.
static void MarkJoints(const snwFilmBody* body, const snwTransform* bones, snwGizmos* gizmos)
{
    float most = 0.014f * BodySize(body);
    for (int i = 0; i < body->character->jointCount; ++i)
    {
        const snwJointDef* joint = &body->character->joints[i];
        float thick = 1.3f * (float)body->character->bones[joint->bone].radius;
        float radius = thick > 0 ? snwFloat_Min(thick, most) : most;
        snwTransform bone = bones[joint->bone];
        snwFloat3 at = snwFloat3_FromVec3(snwTransform_Apply(bone, joint->position));
        snwFloat3 axis = snwFloat3_FromVec3(snwQuat_Rotate(bone.rotation, joint->axis));
        if (!snwFloat3_IsFinite(at))
            continue;
        if (joint->type == snw_jointHinge || joint->type == snw_jointUniversal)
            snwGizmos_AddHinge(gizmos, at, axis, radius, snwGizmo_jointColor);
        else
            snwGizmos_AddBall(gizmos, at, radius, snwGizmo_jointColor);
    }
}

// The strongest force of the film is as long as this share of what is seen; weak ones keep their point.
static void MarkContacts(const snwFilm* film, const snwFilmFrame* frame, snwGizmos* gizmos)
{
    float size = film->picture.radius, radius = 0.006f * size;
    for (int i = 0; i < frame->contactCount; ++i)
    {
        const snwFilmContact* contact = &frame->contacts[i];
        if (!snwFloat3_IsFinite(contact->position) || !snwFloat3_IsFinite(contact->force))
            continue;
        float reach = film->strongest > 0 ? 0.35f * size / film->strongest : 0;
        snwFloat3 tip = snwFloat3_MulAdd(contact->position, reach, contact->force);
        snwGizmos_AddBall(gizmos, contact->position, 1.6f * radius, s_contactColor);
        if (snwFloat3_Length(contact->force) * reach > 5 * radius)
            snwGizmos_AddArrow(gizmos, contact->position, tip, radius, s_contactColor);
    }
}

static void MarkPins(const snwFilm* film, const snwFilmFrame* frame, snwGizmos* gizmos)
{
    for (int i = 0; i < frame->pinCount; ++i)
    {
        snwFloat3 at = snwFloat3_Load(frame->pins + 3 * (size_t)i);
        if (snwFloat3_IsFinite(at))
            snwGizmos_AddBall(gizmos, at, 0.012f * film->picture.radius, s_pinColor);
    }
}

static void MarkPressure(const snwFilm* film, const snwFilmFrame* frame, snwGizmos* gizmos)
{
    float size = film->picture.radius;
    if (!(frame->load > 0) || !snwFloat3_IsFinite(frame->pressure))
        return;
    snwGizmos_AddDisc(gizmos, frame->pressure, (snwFloat3){0, 1, 0}, 0.07f * size, 0.008f * size, s_pressureColor);
}

static void MarkFrame(const snwFilm* film, const snwFilmFrame* frame, snwGizmos* gizmos)
{
    for (int i = 0; frame->bones != NULL && i < film->bodyCount; ++i)
    {
        const snwFilmBody* body = &film->bodies[i];
        if (film->def.look == snw_filmBones)
            MarkBones(body, frame->bones + body->firstBone, gizmos);
        if (film->def.look == snw_filmBones || (film->def.show & snw_showJoints) != 0)
            MarkJoints(body, frame->bones + body->firstBone, gizmos);
    }
    MarkContacts(film, frame, gizmos);
    MarkPins(film, frame, gizmos);
    if ((film->def.show & snw_showPressure) != 0)
        MarkPressure(film, frame, gizmos);
}

snwResult snwFilm_AddMarks(snwFilm* film, int frame, snwMessage* message)
{
    snwGizmos gizmos = {.context = film->context};
    snwMeshLook look;
    int mesh;
    MarkFrame(film, &film->frames.data[frame], &gizmos);
    snwResult result = snwGizmos_GetLook(&gizmos, &look, message);
    if (result >= 0 && look.triangleCount > 0)
        result = snwPicture_AddMesh(&film->picture, &look, &mesh, message);
    snwGizmos_Free(&gizmos);
    return result;
}
