// Films drawn when the whole motion is known: one camera in which all of it fits, one scale for all values, and then,
// frame by frame, meshes moved and marks added.

#include "view/surfaces.h"
#include "view/film_flat.h"
#include "view/gizmo.h"
#include "view/wall.h"
#include "view/weights_look.h"

#include <float.h>
#include <string.h>

enum
{
    snw_beadCount = 11, // between the two balls of a spring
    snw_turnSteps = 16,
};

static const snwFloat3 s_groundColor = {0.80f, 0.79f, 0.77f};
static const snwFloat3 s_colliderColor = {0.42f, 0.43f, 0.45f};
// Props wear colours of their own, in turn: they are not flesh, and not scenery.
static const snwFloat3 s_propColors[] = {
    {0.055f, 0.11f, 0.22f}, {0.50f, 0.06f, 0.05f}, {0.62f, 0.42f, 0.08f}, {0.06f, 0.24f, 0.20f}};

// ---------------------------------------------------------------------------------------------------------------------
// How large it all is

typedef struct Bounds
{
    snwFloat3 lower, upper;
} Bounds;

static void GrowBounds(Bounds* bounds, snwFloat3 p)
{
    if (!snwFloat3_IsFinite(p))
        return;
    bounds->lower = (snwFloat3){
        snwFloat_Min(bounds->lower.x, p.x), snwFloat_Min(bounds->lower.y, p.y), snwFloat_Min(bounds->lower.z, p.z)};
    bounds->upper = (snwFloat3){
        snwFloat_Max(bounds->upper.x, p.x), snwFloat_Max(bounds->upper.y, p.y), snwFloat_Max(bounds->upper.z, p.z)};
}

static void GrowByProps(const snwFilm* film, int frame, Bounds* bounds)
{
    for (int i = 0; i < film->propCount; ++i)
    {
        const snwPropDef* prop = &snwScene_GetDef(film->scene)->props[i];
        double far = prop->kind == snw_colliderBox ? snwVec3_Length(prop->size) : prop->size.x;
        far += prop->kind == snw_colliderCapsule ? prop->size.y : 0.0;
        float reach = (float)far;
        snwFloat3 centre = snwFloat3_FromVec3(film->frames.data[frame].props[i].position);
        GrowBounds(bounds, snwFloat3_Add(centre, (snwFloat3){reach, reach, reach}));
        GrowBounds(bounds, snwFloat3_Sub(centre, (snwFloat3){reach, reach, reach}));
    }
}

static Bounds BodyBounds(const snwFilm* film)
{
    Bounds bounds = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
    for (int f = 0; f < film->frames.count; ++f)
    {
        GrowByProps(film, f, &bounds);
        for (size_t i = 0; i + 2 < film->floatCount; i += 3)
            GrowBounds(&bounds, snwFloat3_Load(film->frames.data[f].positions + i));
    }
    if (bounds.lower.x > bounds.upper.x)
        bounds = (Bounds){{-0.5f, 0, -0.5f}, {0.5f, 1, 0.5f}};
    return bounds;
}

static snwFloat3 CornerOfBox(snwVec3 lower, snwVec3 upper, int corner)
{
    return (snwFloat3){(float)(corner & 1 ? upper.x : lower.x), (float)(corner & 2 ? upper.y : lower.y),
        (float)(corner & 4 ? upper.z : lower.z)};
}

// Solids near the bodies' own size belong into the picture; a huge one is scenery.
static void FrameCollider(const snwFilm* film, int index, snwFraming* framing)
{
    const snwColliderDef* collider = &snwScene_GetDef(film->scene)->colliders[index];
    snwVec3 lower, upper;
    snwCollider_Bounds(collider, &lower, &upper);
    float extent = 0.5f * (float)snwVec3_Distance(lower, upper);
    if (collider->kind == snw_colliderPlane || extent > 1.2f * film->picture.radius)
        return;
    for (int f = 0; f < film->frames.count; ++f)
    {
        const snwTransform* transform = &film->frames.data[f].colliders[index];
        snwFloat3 centre = snwFloat3_FromVec3(transform->position);
        if (snwFloat3_Length(snwFloat3_Sub(centre, film->picture.centre)) > 2.5f * film->picture.radius)
            continue;
        for (int c = 0; c < 8; ++c)
            snwFraming_Add(
                framing, snwFloat3_Add(centre, snwFloat3_Rotate(transform->rotation, CornerOfBox(lower, upper, c))));
    }
}

// The ground below is part of the picture if the motion comes near it.
static void FrameGround(const snwFilm* film, int index, const Bounds* bounds, snwFraming* framing)
{
    const snwTransform* transform = &film->frames.data[0].colliders[index];
    snwFloat3 up = snwFloat3_Rotate(transform->rotation, (snwFloat3){0, 1, 0});
    float height = (float)transform->position.y;
    bool near = height <= bounds->upper.y && bounds->lower.y - height < 0.5f * film->picture.radius;
    if (snwScene_GetDef(film->scene)->colliders[index].kind != snw_colliderPlane || up.y < 0.95f || !near)
        return;
    snwFloat3 centre = film->picture.centre;
    snwFraming_Add(framing, (snwFloat3){centre.x, height, centre.z});
}

static snwFloat3 TurnAboutY(snwFloat3 v, float angle)
{
    float c = cosf(angle), s = sinf(angle);
    return (snwFloat3){c * v.x + s * v.z, v.y, c * v.z - s * v.x};
}

// On a turntable a point has to be inside from wherever the camera will look.
static void FrameBodyPoint(const snwFilm* film, snwFraming* framing, snwFloat3 point)
{
    if (!film->def.turntable)
    {
        snwFraming_Add(framing, point);
        return;
    }
    snwFloat3 arm = snwFloat3_Sub(point, film->turnPoint);
    for (int i = 0; i < snw_turnSteps; ++i)
        snwFraming_Add(
            framing, snwFloat3_Add(film->turnPoint, TurnAboutY(arm, 2 * SNW_PIF * (float)i / snw_turnSteps)));
}

static void PlaceCamera(snwFilm* film, const Bounds* bounds)
{
    const snwFilmDef* def = &film->def;
    film->turnPoint = film->picture.centre;

    // A camera that was given is taken as it is, relative to the film's origin.
    if (!def->camera.automatic)
    {
        snwCameraDef seen = def->camera;
        seen.position = snwVec3_Sub(seen.position, film->origin);
        seen.target = snwVec3_Sub(seen.target, film->origin);
        film->camera = snwCamera_FromDef(&seen, def->width, def->height);
        film->turnPoint = snwFloat3_FromVec3(seen.target);
        return;
    }

    // Paper is seen from the front, without perspective.
    if (film->flat)
    {
        film->camera = snwFilm_FlatCamera(film);
        return;
    }

    // Every point of every frame has to be inside.
    snwFraming framing = snwFraming_Begin(&def->camera, def->width, def->height, bounds->lower, bounds->upper);
    for (int f = 0; f < film->frames.count; ++f)
    {
        for (size_t i = 0; i + 2 < film->floatCount; i += 3)
            FrameBodyPoint(film, &framing, snwFloat3_Load(film->frames.data[f].positions + i));
        snwFilm_FrameHandles(film, f, &framing);
    }

    for (int c = 0; c < film->colliderCount; ++c)
    {
        FrameCollider(film, c, &framing);
        FrameGround(film, c, bounds, &framing);
    }

    film->camera = snwFraming_End(&framing);
}

static snwCamera CameraAt(const snwFilm* film, int frame)
{
    snwCamera camera = film->camera;
    if (!film->def.turntable || film->frames.count < 2)
        return camera;
    float angle = 2 * SNW_PIF * (float)(frame % (film->frames.count - 1)) / (float)(film->frames.count - 1);
    snwFloat3 arm = snwFloat3_Sub(camera.position, film->turnPoint);
    camera.position = snwFloat3_Add(film->turnPoint, TurnAboutY(arm, angle));
    camera.right = TurnAboutY(camera.right, angle);
    camera.up = TurnAboutY(camera.up, angle);
    camera.forward = TurnAboutY(camera.forward, angle);
    return camera;
}

// ---------------------------------------------------------------------------------------------------------------------
// Values as colours

enum
{
    snw_bins = 4096
};

// All but the highest few of the values above zero are below this: one spike must not make everything else dark.
static double HighValue(const snwFilm* film, double most)
{
    long bins[snw_bins] = {0}, count = 0, above = 0;
    for (int f = 0; f < film->frames.count; ++f)
        for (size_t i = 0; i < film->floatCount / 3; ++i)
        {
            double value = (double)film->frames.data[f].values[i];
            if (!(value > 0) || !isfinite(value))
                continue;
            bins[(int)fmin(snw_bins * (value / most), snw_bins - 1)]++;
            count++;
        }
    int bin = snw_bins - 1;
    for (; bin > 0 && above + bins[bin] < count / 200; --bin)
        above += bins[bin];
    return most * (bin + 1) / snw_bins;
}

// Up to two digits: all of the colours are used.
static double RoundFinely(double value)
{
    double step = pow(10, floor(log10(value)) - 1);
    return step * ceil(value / step - 1e-9);
}

static snwScale MakeScale(const snwFilm* film)
{
    static const char* const titles[][2] = {[snw_filmStrain] = {"largest stretch", "%"},
        [snw_filmSpeed] = {"speed", "m/s"},
        [snw_filmContact] = {"contact force", "N"},
        [snw_filmStiffness] = {"stiffness", "Pa"}};
    double least = DBL_MAX, most = 0;

    // The range over all frames and vertices.
    for (int f = 0; f < film->frames.count; ++f)
        for (size_t i = 0; i < film->floatCount / 3; ++i)
        {
            double value = (double)film->frames.data[f].values[i];
            bool sound = value > 0 && isfinite(value);
            least = sound ? fmin(least, value) : least;
            most = sound ? fmax(most, value) : most;
        }

    snwScale scale = {.title = film->differs ? "flesh" : titles[film->def.look][0],
        .unit = film->differs ? "mm" : titles[film->def.look][1],
        .panel = film->differs};
    scale.upper = most <= 0       ? 1
                  : film->differs ? RoundFinely(HighValue(film, most))
                                  : snwScale_RoundUp(HighValue(film, most));

    // Stiffness spans decades.
    scale.logarithmic = film->def.look == snw_filmStiffness && most > 0;
    if (scale.logarithmic)
    {
        scale.lower = most / least > 1.5 ? least : 0.5 * least;
        scale.upper = most / least > 1.5 ? most : 2 * most;
    }

    return scale;
}

static void PaintValues(snwFilm* film, const snwFilmBody* body, int frame)
{
    const float* values = film->frames.data[frame].values + body->first / 3;
    float* colors = film->picture.meshes[body->mesh].colors;
    for (int v = 0; v < body->vertexCount; ++v)
        snwFloat3_Store(snwRamp_Color(snwScale_Place(&film->scale, (double)values[v])), colors + 3 * (size_t)v);
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

static const float* BodyPositions(const snwFilm* film, const snwFilmBody* body, int frame)
{
    return film->frames.data[frame].positions + body->first;
}

static snwResult AddBalls(snwFilm* film, snwFilmBody* body, snwMessage* message)
{
    int beads = body->vertexCount == 2 ? snw_beadCount : 0;
    const float* p = BodyPositions(film, body, 0);
    float rest = film->picture.radius;
    if (beads > 0)
        rest = snwFloat3_Length(snwFloat3_Sub(snwFloat3_Load(p + 3), snwFloat3_Load(p)));

    // Large enough to be seen, small enough to tell them apart.
    body->ballRadius = snwFloat_Max(0.11f * rest, 0.02f * film->picture.radius);
    snwResult result = snw_ok;

    // The vertices, then smaller beads between them.
    for (int i = 0; result >= 0 && i < body->vertexCount + beads; ++i)
    {
        int mesh = 0;
        double radius = (i < body->vertexCount ? 1 : 0.3) * (double)body->ballRadius;
        result = snwPicture_AddSolid(
            &film->picture, snw_colliderSphere, (snwVec3){radius, 0, 0}, body->color, &mesh, message);
        body->mesh = i == 0 ? mesh : body->mesh;
        body->ballCount += result >= 0;
    }

    return result;
}

// The character's own colours and texture, by way of the vertex that each skin vertex is. A picture would hide lines.
static bool PaintSkin(const snwFilm* film, const snwFilmBody* body, snwPictureMesh* mesh)
{
    // Colours per vertex, or a texture, or the body's own colour.
    snwContext* context = film->context;
    const snwCharacterDef* def = body->character;
    bool textured = film->def.look != snw_filmElements && def->texcoords != NULL && def->texture.width > 0;
    if (def->colors != NULL)
        mesh->colors = snwAllocArray(context, 3 * (size_t)body->vertexCount + 1, sizeof(float));
    if (textured)
        mesh->texcoords = snwAllocArray(context, 2 * (size_t)body->vertexCount + 1, sizeof(float));
    if ((def->colors != NULL && mesh->colors == NULL) || (textured && mesh->texcoords == NULL))
        return false;
    mesh->texture = def->texture;

    // Skins have numbers of their own; the body's vertices say which is which.
    for (int v = 0; v < body->vertexCount; ++v)
    {
        if (def->colors != NULL)
            memcpy(mesh->colors + 3 * (size_t)v, def->colors[body->vertices[v]], 3 * sizeof(float));
        if (textured)
            memcpy(mesh->texcoords + 2 * (size_t)v, def->texcoords[body->vertices[v]], 2 * sizeof(float));
    }

    return true;
}

// Sides of triangles that are sides of elements: the cuts through the faces of hexes are not.
static bool MarkEdges(snwContext* context, const snwFilmBody* body, snwPictureMesh* mesh)
{
    const snwCharacterDef* def = body->character;
    mesh->edges = snwAllocArray(context, (size_t)body->triangleCount + 1, 1);
    for (int t = 0; mesh->edges != NULL && t < body->triangleCount; ++t)
        mesh->edges[t] = 7;
    // The two triangles of a quad follow each other and share the cut.
    for (int t = 0; mesh->edges != NULL && def->hexCount > 0 && t + 1 < body->triangleCount; t += 2)
        for (int i = 0; i < 9; ++i)
        {
            const int *a = body->triangles + 3 * (size_t)t, *b = a + 3;
            bool shared = a[i / 3] == b[(i % 3 + 1) % 3] && a[(i / 3 + 1) % 3] == b[i % 3];
            if (!shared)
                continue;
            mesh->edges[t] &= (uint8_t) ~(1 << i / 3);
            mesh->edges[t + 1] &= (uint8_t) ~(1 << i % 3);
        }
    return mesh->edges != NULL;
}

// A body without bones and handles keeps its own colours: nothing but itself moves it.
static snwResult PaintWeights(const snwFilm* film, const snwFilmBody* body, snwPictureMesh* mesh, snwMessage* message)
{
    const snwBodyDef* def = &snwScene_GetDef(film->scene)->bodies[body - film->bodies];
    if (body->character->boneCount + body->character->handleCount == 0)
        return PaintSkin(film, body, mesh) ? snw_ok : snwFailMemory(message);
    snwArena arena = {.context = film->context};
    snwWeightsLookDef ask = {.character = def->character};
    snwMeshLook look;
    snwResult result = snwMakeWeightsLook(film->context, &arena, &ask, &look, message);
    if (result >= 0)
    {
        mesh->colors = snwCopyArray(film->context, look.colors, 3 * (size_t)body->vertexCount, sizeof(float));
        result = mesh->colors != NULL ? snw_ok : snwFailMemory(message);
    }
    snwArena_Free(&arena);
    return result;
}

// Whether there is something to see inside: the skin of a character that is nothing but bones tells all.
static bool HasInside(const snwFilm* film, const snwFilmBody* body)
{
    const snwBodyDef* def = &snwScene_GetDef(film->scene)->bodies[body - film->bodies];
    return body->character->boneCount > 0 && snwCharacter_GetInfo(def->character).elasticVertexCount > 0;
}

static snwResult DressBody(snwFilm* film, snwFilmBody* body, snwMessage* message)
{
    snwPictureMesh* mesh = &film->picture.meshes[body->mesh];
    const uint32_t inside = snw_showContacts | snw_showJoints | snw_showPressure;
    bool made = true;

    // What the look asks for.
    if (snwFilm_HasValues(film))
        made = (mesh->colors = snwAllocArray(film->context, 3 * (size_t)body->vertexCount + 1, sizeof(float))) != NULL;
    else if (film->def.look == snw_filmWeights)
        return PaintWeights(film, body, mesh, message);
    else if (body->surface != NULL && film->def.look != snw_filmElements)
        made = snwFilmSurface_Dress(film->context, body->surface, mesh);
    else if (body->surface != NULL)
        made = true; // triangles of a finer skin
    else
        made = PaintSkin(film, body, mesh);

    if (made && film->def.look == snw_filmElements)
        made = MarkEdges(film->context, body, mesh);

    // Translucent where something inside is to be seen.
    if (film->def.look == snw_filmBones && HasInside(film, body))
        mesh->transparency = 0.65f;
    else if ((film->def.show & inside) != 0 || film->def.look == snw_filmContact)
        mesh->transparency = 0.5f; // arrows point into the flesh, and it touches mostly where nobody looks

    return made ? snw_ok : snwFailMemory(message);
}

static snwResult AddSkeleton(snwFilm* film, snwFilmBody* body, snwMessage* message)
{
    snwFilmSkeleton* skeleton = &body->skeleton;
    if (skeleton->triangleCount == 0)
        return snw_ok;
    snwFilmSkeleton_Move(skeleton, film->frames.data[0].bones + body->firstBone);
    snwSkin skin = {
        .positions = skeleton->positions,
        .vertexCount = skeleton->vertexCount,
        .stride = 3 * sizeof(float),
        .triangles = skeleton->triangles,
        .triangleCount = skeleton->triangleCount,
    };
    return snwPicture_AddSkin(&film->picture, &skin, snwGizmo_boneColor, &body->skeletonMesh, message);
}

static snwResult AddFilmBody(snwFilm* film, snwFilmBody* body, snwMessage* message)
{
    if (body->triangleCount == 0)
        return AddBalls(film, body, message);
    snwSkin skin = {
        .positions = BodyPositions(film, body, 0),
        .vertexCount = body->vertexCount,
        .stride = 3 * sizeof(float),
        .triangles = body->triangles,
        .triangleCount = body->triangleCount,
    };
    const int* places = body->surface != NULL ? body->surface->places : NULL;
    snwResult result = snwPicture_AddSeamedSkin(&film->picture, &skin, places, body->color, &body->mesh, message);
    if (result >= 0)
        result = DressBody(film, body, message);
    return result >= 0 ? AddSkeleton(film, body, message) : result;
}

static float StrongestContact(const snwFilm* film)
{
    float strongest = 0;
    for (int f = 0; f < film->frames.count; ++f)
        for (int i = 0; i < film->frames.data[f].contactCount; ++i)
        {
            float force = snwFloat3_Length(film->frames.data[f].contacts[i].force);
            strongest = isfinite(force) ? snwFloat_Max(strongest, force) : strongest;
        }
    return strongest;
}

snwResult snwFilm_SetUp(snwFilm* film, snwMessage* message)
{
    Bounds bounds = BodyBounds(film);

    // How large it all is decides the camera, the light and the grid of the ground.
    snwFloat3 size = snwFloat3_Sub(bounds.upper, bounds.lower);
    film->picture.centre = snwFloat3_Mix(bounds.lower, bounds.upper, 0.5f);
    film->picture.radius = snwFloat_Max(0.5f * snwFloat3_Length(size), 1e-6f);
    PlaceCamera(film, &bounds);
    film->picture.style = film->def.transparent ? snw_styleClear : snw_styleStudio;
    film->picture.frontLight = film->flat;
    film->strongest = StrongestContact(film);
    film->layers = film->flat ? snwAllocArray(film->context, film->floatCount + 1, sizeof(float)) : NULL;
    if (film->flat && film->layers == NULL)
        return snwFailMemory(message);
    if (snwFilm_HasValues(film))
        film->scale = MakeScale(film);
    snwResult result = snw_ok;
    for (int i = 0; result >= 0 && i < film->bodyCount; ++i)
        result = AddFilmBody(film, &film->bodies[i], message);
    const snwColliderDef* colliders = snwScene_GetDef(film->scene)->colliders;

    // The ground, then other colliders, then props in colours of their own.
    for (int i = 0; result >= 0 && i < film->colliderCount; ++i)
    {
        snwFloat3 color = colliders[i].kind == snw_colliderPlane ? s_groundColor : s_colliderColor;
        result = film->flat
                     ? snwFilm_AddFlatCollider(film, i, message)
                     : snwPicture_AddCollider(&film->picture, &colliders[i], color, &film->colliderMeshes[i], message);
        if (result >= 0)
            film->picture.meshes[film->colliderMeshes[i]].scenery = true;
    }

    const snwPropDef* props = snwScene_GetDef(film->scene)->props;
    const int colors = (int)(sizeof s_propColors / sizeof s_propColors[0]);
    for (int i = 0; result >= 0 && i < film->propCount; ++i)
        result = snwPicture_AddSolid(
            &film->picture, props[i].kind, props[i].size, s_propColors[i % colors], &film->propMeshes[i], message);

    // Paper figures stand before a wall.
    if (result >= 0 && film->flat && !film->def.transparent)
        result = snwPicture_AddWall(&film->picture, &film->camera, 0.1f * film->picture.radius, message);
    if (result >= 0)
        result = snwCreateRenderer(film->context, &film->renderer, message);
    if (result >= 0)
        result = snwCreateImage(film->context, film->def.width, film->def.height, &film->image, message);

    return result >= 0 && film->def.transparent ? snwImage_AddAlpha(film->context, &film->image, message) : result;
}

static void MoveBalls(snwFilm* film, const snwFilmBody* body, int frame)
{
    const float* p = BodyPositions(film, body, frame);
    for (int i = 0; i < body->ballCount; ++i)
    {
        snwFloat3 at = i < body->vertexCount ? snwFloat3_Load(p + 3 * (size_t)i)
                                             : snwFloat3_Mix(snwFloat3_Load(p), snwFloat3_Load(p + 3),
                                                   (float)(i - 1) / (snw_beadCount + 1));
        snwTransform transform = {.position = {at.x, at.y, at.z}, .rotation = {0, 0, 0, 1}};
        snwPicture_MoveSolid(&film->picture, body->mesh + i, &transform);
    }
}

snwResult snwFilm_Draw(snwFilm* film, int frame, int samples, snwMessage* message)
{
    // All meshes where this frame has them.
    for (int i = 0; i < film->bodyCount; ++i)
    {
        snwFilmBody* body = &film->bodies[i];
        if (body->triangleCount > 0)
            snwPicture_MoveSkin(&film->picture, body->mesh,
                film->flat ? snwFilm_LayFlat(film, i, frame) : BodyPositions(film, body, frame));
        else
            MoveBalls(film, body, frame);

        if (body->triangleCount > 0 && snwFilm_HasValues(film))
            PaintValues(film, body, frame);
        if (body->skeleton.triangleCount > 0)
        {
            snwFilmSkeleton_Move(&body->skeleton, film->frames.data[frame].bones + body->firstBone);
            snwPicture_MoveSkin(&film->picture, body->skeletonMesh, body->skeleton.positions);
        }
    }

    for (int i = 0; i < film->colliderCount; ++i)
        snwPicture_MoveSolid(&film->picture, film->colliderMeshes[i], &film->frames.data[frame].colliders[i]);
    for (int i = 0; i < film->propCount; ++i)
        snwPicture_MoveSolid(&film->picture, film->propMeshes[i], &film->frames.data[frame].props[i]);
    int meshCount = film->picture.meshCount; // marks come and go with each frame

    // Marks are meshes of this frame alone; handles and scales are drawn over the picture.
    snwCamera camera = CameraAt(film, frame);
    snwResult result = snwFilm_AddMarks(film, frame, message);
    if (result >= 0)
        result = snwRenderer_Draw(film->renderer, &film->picture, &camera, samples, &film->image, message);
    snwPicture_Truncate(&film->picture, meshCount);
    if (result >= 0)
        snwFilm_DrawHandles(film, frame, &camera);
    if (result >= 0 && snwFilm_HasValues(film))
        snwImage_DrawScale(&film->image, &film->scale);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The frame to show

static float LengthOfEdge(const float* positions, int a, int b)
{
    return snwFloat3_Length(
        snwFloat3_Sub(snwFloat3_Load(positions + 3 * (size_t)a), snwFloat3_Load(positions + 3 * (size_t)b)));
}

// Mean square of the relative change of edges since the first frame: rigid motion does not count.
static double Strain(const snwFilm* film, const snwFilmBody* body, int frame)
{
    const float* rest = BodyPositions(film, body, 0);
    const float* now = BodyPositions(film, body, frame);
    double sum = 0;
    for (int t = 0; t < body->triangleCount; ++t)
    {
        const int* v = body->triangles + 3 * (size_t)t;
        for (int i = 0; i < 3; ++i)
        {
            double before = LengthOfEdge(rest, v[i], v[(i + 1) % 3]), after = LengthOfEdge(now, v[i], v[(i + 1) % 3]);
            double change = before > 0 ? after / before - 1 : 0;
            sum += change * change;
        }
    }
    return body->triangleCount > 0 ? sum / (3.0 * body->triangleCount) : 0;
}

int snwFilm_TellingFrame(const snwFilm* film)
{
    const double noticeable = 1e-4; // one percent of stretch
    int best = 2 * film->frames.count / 5;
    double most = noticeable;
    for (int f = 0; f < film->frames.count; ++f)
    {
        double strain = 0;
        for (int i = 0; i < film->bodyCount; ++i)
            strain += Strain(film, &film->bodies[i], f);
        if (isfinite(strain) && strain > most)
        {
            most = strain;
            best = f;
        }
    }
    return best;
}
