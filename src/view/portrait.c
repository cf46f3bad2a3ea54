// One picture of a subject that lights and frames itself: meshes, ground or wall, camera, renderer, all in one call.

#include "view/portrait.h"

#include "view/render.h"
#include "view/wall.h"

static const snwFloat3 s_groundColor = {0.80f, 0.79f, 0.77f};

snwPortraitDef snwDefaultPortraitDef(void)
{
    return (snwPortraitDef){
        .width = 480,
        .height = 480,
        .azimuth = 30,
        .elevation = 12,
        .fieldOfView = 24,
        .fill = 0.78f,
        .samples = 16,
        .ground = true,
    };
}

static snwResult CheckPortraitDef(const snwPortraitDef* def, snwMessage* message)
{
    if (def->width < 1 || def->height < 1 || def->width > 16384 || def->height > 16384)
        return snwFail(message, snw_errorArgument, "choose 1..16384 pixels", "a portrait of %d x %d pixels", def->width,
            def->height);
    if (def->samples < 1 || def->samples > 256)
        return snwFail(message, snw_errorArgument, "choose 1..256", "%d samples for a portrait", def->samples);
    bool angles = isfinite(def->azimuth) && fabsf(def->elevation) <= 90;
    if (!angles || !(def->fieldOfView > 1 && def->fieldOfView < 120) || !(def->fill >= 0.1f && def->fill <= 1))
        return snwFail(message, snw_errorArgument, "start from snwDefaultPortraitDef",
            "a portrait from azimuth %g, elevation %g with field of view %g and fill %g", (double)def->azimuth,
            (double)def->elevation, (double)def->fieldOfView, (double)def->fill);
    return snw_ok;
}

static snwFloat3 ForwardOf(const snwPortraitDef* def)
{
    float a = def->azimuth * SNW_PIF / 180, e = def->elevation * SNW_PIF / 180;
    return snwFloat3_Normalize((snwFloat3){-sinf(a) * cosf(e), -sinf(e), -cosf(a) * cosf(e)});
}

static void FramePoint(snwFraming* framing, const float* p)
{
    float farthest = snwFloat_Max(fabsf(p[0]), snwFloat_Max(fabsf(p[1]), fabsf(p[2])));
    if (farthest <= SNW_FARTHEST)
        snwFraming_Add(framing, snwFloat3_Load(p));
}

// Vertices of triangles only: a mesh may carry others that nobody sees.
static void FrameMesh(snwFraming* framing, const snwMeshLook* mesh)
{
    for (int i = 0; i < 3 * mesh->triangleCount; ++i)
    {
        int v = mesh->triangles[i];
        if (v >= 0 && v < mesh->vertexCount)
            FramePoint(framing, mesh->positions + 3 * (size_t)v);
    }
}

static snwFraming FramePortrait(const snwPortraitDef* def)
{
    snwFraming framing = snwFraming_BeginAlong(
        ForwardOf(def), (double)def->fieldOfView, def->fill, def->width, def->height);
    for (int i = 0; i < def->framePointCount; ++i)
        FramePoint(&framing, def->framePoints + 3 * (size_t)i);
    for (int i = 0; def->framePointCount == 0 && i < def->meshCount; ++i)
        FrameMesh(&framing, &def->meshes[i]);
    if (framing.pointCount == 0)
        framing.lower = framing.upper = (snwFloat3){0, 0, 0};
    return framing;
}

static snwResult AddGround(snwPicture* picture, const snwFraming* framing, snwMessage* message)
{
    int mesh;
    snwResult result = snwPicture_AddSolid(
        picture, snw_colliderPlane, (snwVec3){0, 0, 0}, s_groundColor, &mesh, message);
    if (result < 0)
        return result;
    snwTransform place = snwIdentityTransform();
    place.position.y = (double)(framing->lower.y - 1e-3f * picture->radius);
    snwPicture_MoveSolid(picture, mesh, &place);
    return snw_ok;
}

static snwResult AddWall(snwPicture* picture, const snwFraming* framing, snwMessage* message)
{
    const snwCamera* camera = &framing->camera;
    snwFloat3 extent = snwFloat3_Scale(snwFloat3_Sub(framing->upper, framing->lower), 0.5f);
    float depth = fabsf(extent.x * camera->forward.x) + fabsf(extent.y * camera->forward.y) +
                  fabsf(extent.z * camera->forward.z);
    return snwPicture_AddWall(picture, camera, depth + 0.1f * picture->radius, message);
}

static snwResult FillPicture(
    snwPicture* picture, const snwPortraitDef* def, const snwFraming* framing, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0, mesh; result >= 0 && i < def->meshCount; ++i)
    {
        result = snwPicture_AddMesh(picture, &def->meshes[i], &mesh, message);
        if (result < 0)
            snwMessage_AddPlace(message, "meshes[%d]", i);
    }
    bool bare = def->style == snw_styleSilhouette || def->style == snw_styleClear;
    if (result >= 0 && def->ground && def->elevation >= 0 && !bare)
        result = AddGround(picture, framing, message);
    if (result >= 0 && def->wall && !bare)
        result = AddWall(picture, framing, message);
    return result;
}

snwResult snwDrawPortrait(snwContext* context, const snwPortraitDef* def, snwImage* image, snwMessage* message)
{
    *image = (snwImage){0};
    snwResult result = CheckPortraitDef(def, message);
    if (result < 0)
        return result;
    snwFraming framing = FramePortrait(def);

    // The frame's size is the measure of light, ground and wall.
    snwPicture picture = {
        .context = context,
        .centre = snwFloat3_Mix(framing.lower, framing.upper, 0.5f),
        .radius = snwFloat_Max(0.5f * snwFloat3_Length(snwFloat3_Sub(framing.upper, framing.lower)), 1e-6f),
        .style = def->style,
        .frontLight = def->wall,
    };
    snwRenderer* renderer = NULL;
    snwCamera camera = snwFraming_End(&framing);

    result = FillPicture(&picture, def, &framing, message);
    if (result >= 0)
        result = snwCreateRenderer(context, &renderer, message);
    if (result >= 0)
        result = snwCreateImage(context, def->width, def->height, image, message);
    if (result >= 0 && def->style == snw_styleClear)
        result = snwImage_AddAlpha(context, image, message);
    if (result >= 0)
        result = snwRenderer_Draw(renderer, &picture, &camera, def->samples, image, message);

    if (result < 0)
        snwDestroyImage(context, image);
    snwDestroyRenderer(renderer);
    snwPicture_Free(&picture);

    return result;
}
