// Pictures of a blueprint: its flesh meshed for display, posed by a motion if that is wanted, with bones and joints,
// cut open, or in the colours of its weights.

#include "view/likeness.h"
#include "geom/mesh.h"
#include "rig/skeleton.h"
#include "view/cutaway.h"
#include "view/gizmo.h"
#include "view/weights_look.h"

#include <math.h>
#include <string.h>

const char* const snw_likenessLookNames[] = {"flesh", "bones", "elements", "silhouette", "weights", NULL};

snwLikenessDef snwDefaultLikenessDef(void)
{
    return (snwLikenessDef){.motion = -1, .detail = 150};
}

// ---------------------------------------------------------------------------------------------------------------------
// The display surface

// Copies to float; colour NULL: none of its own.
static snwResult FillLikenessMesh(snwLikeness* likeness, snwLikenessMesh* mesh, const snwVec3* vertices,
    int vertexCount, const int (*triangles)[3], int triangleCount, const float* color, snwMessage* message)
{
    size_t v = (size_t)vertexCount;
    mesh->positions = snwArena_Alloc(&likeness->arena, 3 * v, sizeof(float));
    mesh->colors = color != NULL ? snwArena_Alloc(&likeness->arena, 3 * v, sizeof(float)) : NULL;
    mesh->triangles = snwArena_Copy(&likeness->arena, triangles, (size_t)triangleCount, sizeof *triangles);
    if (likeness->arena.failed)
        return snwFailMemory(message);

    // Doubles to the floats that pictures take, with one colour for all.
    for (size_t i = 0; i < v; ++i)
    {
        const double p[3] = {vertices[i].x, vertices[i].y, vertices[i].z};
        for (size_t k = 0; k < 3; ++k)
        {
            mesh->positions[3 * i + k] = (float)p[k];
            if (color != NULL)
                mesh->colors[3 * i + k] = color[k];
        }
    }

    mesh->vertexCount = vertexCount;
    mesh->triangleCount = triangleCount;
    return snw_ok;
}

static snwResult MeshLikenessFlesh(
    snwLikeness* likeness, const snwFlesh* flesh, snwLikenessMesh* out, snwMessage* message)
{
    snwTriangleMesh mesh = {0};
    snwSolid solid = snwFlesh_Solid(flesh);
    snwResult result = snwMeshSurface(
        likeness->context, &solid, likeness->size / likeness->def.detail, &likeness->arena, &mesh, message);
    if (result < 0)
        return result;
    return FillLikenessMesh(likeness, out, mesh.vertices, mesh.vertexCount, (const int(*)[3])mesh.triangles,
        mesh.triangleCount, NULL, message);
}

static snwResult AddLikenessFlesh(snwLikeness* likeness, snwMessage* message)
{
    if (!snwFlesh_Pose(&likeness->def.blueprint->flesh, likeness->pose, &likeness->arena, &likeness->flesh))
        return snwFailMemory(message);
    likeness->size = snwVec3_Distance(likeness->flesh.lower, likeness->flesh.upper);
    return MeshLikenessFlesh(likeness, &likeness->flesh, &likeness->meshes[likeness->meshCount++], message);
}

// Horns, teeth and shells as they are, down to their roots in the flesh; made when they are first drawn.
static snwResult MeshRigidParts(snwLikeness* likeness, snwMessage* message)
{
    const snwFlesh* flesh = &likeness->flesh;
    int count = 0;
    if (likeness->rigidMesh.vertexCount > 0 || !flesh->hasFlesh)
        return snw_ok;
    likeness->rigid = *flesh;
    likeness->rigid.parts = snwArena_Alloc(&likeness->arena, (size_t)flesh->partCount + 1, sizeof *flesh->parts);
    if (likeness->rigid.parts == NULL)
        return snwFailMemory(message);

    // Rigid parts, and the paint on them, as flesh of their own.
    for (int i = 0; i < flesh->partCount; ++i)
        if (flesh->parts[i].rigid || flesh->parts[i].op == snw_partPaint)
            likeness->rigid.parts[count++] = flesh->parts[i];

    likeness->rigid.partCount = count;
    likeness->rigid.hasFlesh = false;
    if (!snwFlesh_Prepare(&likeness->rigid, &likeness->arena) || !snwFlesh_MakeGrid(&likeness->rigid, &likeness->arena))
        return snwFailMemory(message);

    // Where nothing is rigid its box has stayed inside out.
    bool some = likeness->rigid.lower.x < likeness->rigid.upper.x;

    return some ? MeshLikenessFlesh(likeness, &likeness->rigid, &likeness->rigidMesh, message) : snw_ok;
}

static snwResult AddLikenessTets(
    snwLikeness* likeness, const snwTetMesh* mesh, const float color[3], snwMessage* message)
{
    int(*boundary)[3] = NULL;
    int count = 0;
    snwResult result = snwMesh_FindBoundary(
        likeness->context, (const int(*)[4])mesh->tets, mesh->tetCount, &boundary, &count);
    if (result < 0)
        return snwFailMemory(message);
    result = FillLikenessMesh(likeness, &likeness->meshes[likeness->meshCount++], mesh->vertices, mesh->vertexCount,
        (const int(*)[3])boundary, count, color, message);
    snwFree(likeness->context, boundary);
    return result;
}

static snwResult AddRibbonsAndBox(snwLikeness* likeness, snwMessage* message)
{
    const snwBlueprint* blueprint = likeness->def.blueprint;
    snwResult result = snw_ok;
    snwTetMesh mesh;
    for (int i = 0; i < blueprint->ribbonCount && result == snw_ok; ++i)
    {
        if (!snwRibbon_Mesh(&blueprint->ribbons[i], &likeness->arena, &mesh))
            return snwFailMemory(message);
        result = AddLikenessTets(likeness, &mesh, blueprint->ribbons[i].color, message);
    }
    if (result < 0 || blueprint->boxSize.x <= 0)
        return result;
    const int cells[3] = {1, 1, 1};
    likeness->size = snwVec3_Length(blueprint->boxSize);
    if (!snwMakeBoxMesh(&likeness->arena, blueprint->boxSize, cells, &mesh))
        return snwFailMemory(message);
    return AddLikenessTets(likeness, &mesh, blueprint->color, message);
}

static snwResult AddFlat(snwLikeness* likeness, snwMessage* message)
{
    if (likeness->def.character == NULL)
        return snwFail(message, snw_errorArgument, NULL, "a flat character is drawn from its mesh");
    const snwCharacterDef* def = snwCharacter_GetDef(likeness->def.character);
    snwCharacterInfo info = snwCharacter_GetInfo(likeness->def.character);
    likeness->size = snwVec3_Distance(info.lower, info.upper);
    return FillLikenessMesh(likeness, &likeness->meshes[likeness->meshCount++], def->vertices, def->vertexCount,
        def->triangles, def->triangleCount, def->color, message);
}

static snwResult MakePose(snwLikeness* likeness, snwMessage* message)
{
    const snwLikenessDef* def = &likeness->def;
    const snwBlueprint* blueprint = def->blueprint;
    snwSkeleton skeleton;
    likeness->pose = snwArena_Alloc(&likeness->arena, (size_t)blueprint->boneCount + 1, sizeof *likeness->pose);
    if (likeness->pose == NULL)
        return snwFailMemory(message);
    snwResult result = snwSkeleton_Build(&likeness->arena, blueprint->bones, blueprint->boneCount, blueprint->joints,
        blueprint->jointCount, &skeleton, message);
    if (result == snw_ok)
        snwSkeleton_Pose(
            &skeleton, def->motion >= 0 ? &blueprint->motions[def->motion] : NULL, def->time, likeness->pose);
    return result;
}

snwResult snwCreateLikeness(snwContext* context, const snwLikenessDef* def, snwLikeness* likeness, snwMessage* message)
{
    *likeness = (snwLikeness){.context = context, .arena = {.context = context}, .def = *def};
    size_t most = (size_t)def->blueprint->ribbonCount + 2;
    likeness->meshes = snwArena_Alloc(&likeness->arena, most, sizeof *likeness->meshes);
    snwResult result = likeness->meshes == NULL ? snwFailMemory(message) : MakePose(likeness, message);
    if (result == snw_ok && def->blueprint->flesh.partCount > 0)
        result = AddLikenessFlesh(likeness, message);
    if (result == snw_ok && def->blueprint->flat.ringCount > 0)
        result = AddFlat(likeness, message);
    return result == snw_ok ? AddRibbonsAndBox(likeness, message) : result;
}

void snwLikeness_Free(snwLikeness* likeness)
{
    snwArena_Free(&likeness->arena);
    *likeness = (snwLikeness){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Pictures

static void PaintLikenessFlesh(const void* data, const float point[3], float color[3])
{
    snwFlesh_Color(data, (snwVec3){point[0], point[1], point[2]}, color);
}

static snwMeshLook SkinLook(const snwLikenessMesh* mesh, const snwFlesh* flesh, float opacity)
{
    return (snwMeshLook){.kind = snw_pictureSkin,
        .positions = mesh->positions,
        .colors = mesh->colors,
        .paint = mesh->colors == NULL ? PaintLikenessFlesh : NULL,
        .paintData = flesh,
        .vertexCount = mesh->vertexCount,
        .triangles = mesh->triangles,
        .triangleCount = mesh->triangleCount,
        .opacity = opacity,
        .gloss = 0.2f};
}

// A drawn picture, or the triangles under it.
static snwMeshLook FlatLook(const snwLikeness* likeness, snwLikenessLook look)
{
    const snwCharacterDef* def = snwCharacter_GetDef(likeness->def.character);
    snwMeshLook mesh = SkinLook(&likeness->meshes[0], NULL, 1);
    mesh.flat = true;
    if (look == snw_lookElements)
        mesh.edges = true;
    else if (look != snw_lookSilhouette && def->texcoords != NULL)
    {
        mesh.texcoords = def->texcoords[0];
        mesh.texture = &def->texture;
        mesh.opacity = look == snw_lookBones ? 0.5f : 1;
    }
    return mesh;
}

static snwFloat3 ToFloat(snwVec3 a)
{
    return (snwFloat3){(float)a.x, (float)a.y, (float)a.z};
}

static void AddLikenessBones(const snwLikeness* likeness, snwGizmos* gizmos)
{
    const snwBlueprint* blueprint = likeness->def.blueprint;
    bool flat = blueprint->flat.ringCount > 0;
    for (int i = 0; i < blueprint->boneCount; ++i)
    {
        const snwBoneDef* bone = &blueprint->bones[i];
        if (bone->radius <= 0 && !flat)
            continue; // its rigid parts are drawn
        snwFloat3 head = ToFloat(snwTransform_Apply(likeness->pose[i], bone->head));
        snwFloat3 tail = ToFloat(snwTransform_Apply(likeness->pose[i], bone->tail));
        float radius = (float)fmax(bone->radius, 0.008 * likeness->size);
        snwGizmos_AddCapsule(gizmos, head, tail, radius, snwGizmo_boneColor);
    }
    for (int i = 0; i < blueprint->handleCount; ++i)
        snwGizmos_AddBall(
            gizmos, ToFloat(blueprint->handles[i].position), (float)(0.016 * likeness->size), snwGizmo_jointColor);
}

static void AddLikenessJoints(const snwLikeness* likeness, snwGizmos* gizmos)
{
    const snwBlueprint* blueprint = likeness->def.blueprint;
    float radius = (float)(0.012 * likeness->size);
    for (int i = 0; i < blueprint->jointCount; ++i)
    {
        const snwJointDef* joint = &blueprint->joints[i];
        snwTransform pose = likeness->pose[joint->bone];
        snwFloat3 at = ToFloat(snwTransform_Apply(pose, joint->position));
        snwFloat3 axis = ToFloat(snwQuat_Rotate(pose.rotation, joint->axis));
        if (joint->type == snw_jointHinge || joint->type == snw_jointUniversal)
            snwGizmos_AddHinge(gizmos, at, axis, radius, snwGizmo_jointColor);
        else
            snwGizmos_AddBall(gizmos, at, radius, snwGizmo_jointColor);
    }
}

double snwLikeness_CutAzimuth(const snwLikeness* likeness)
{
    if (likeness->def.character == NULL)
        return 90;
    snwCharacterInfo info = snwCharacter_GetInfo(likeness->def.character);
    return info.upper.z - info.lower.z < 0.6 * (info.upper.x - info.lower.x) ? 0
                                                                             : 90; // animals have a left and a right
}

// Takes away the half towards the viewer.
static snwResult CutOpen(snwLikeness* likeness, const snwPortraitDef* view, snwMeshLook* look, snwMessage* message)
{
    const snwCharacterDef* mesh = snwCharacter_GetDef(likeness->def.character);

    // An animal, longer in z than in x, is cut along its length; anything else across z.
    snwCharacterInfo info = snwCharacter_GetInfo(likeness->def.character);
    double azimuth = view->azimuth * SNW_PI / 180;
    bool sideways = snwLikeness_CutAzimuth(likeness) > 0;
    snwVec3 normal = sideways ? (snwVec3){sin(azimuth) < 0 ? -1 : 1, 0, 0} : (snwVec3){0, 0, cos(azimuth) < 0 ? -1 : 1};
    snwCutawayDef def = snwDefaultCutawayDef();

    def.vertices = mesh->vertices;
    def.vertexCount = mesh->vertexCount;
    def.tets = mesh->tets;
    def.tetCount = mesh->tetCount;
    def.hexes = mesh->hexes;
    def.hexCount = mesh->hexCount;
    def.bones = mesh->elementBones;
    def.colors = mesh->colors != NULL ? mesh->colors[0] : NULL;
    def.planePoint = snwVec3_Scale(snwVec3_Add(info.lower, info.upper), 0.5);
    def.planeNormal = normal;
    snwCutaway cut;
    snwResult result = snwMakeCutaway(likeness->context, &likeness->arena, &def, &cut, message);
    *look = cut.look;

    return result;
}

static snwResult MakeWeightsLook(snwLikeness* likeness, snwMeshLook* look, snwMessage* message)
{
    const snwLikenessDef* own = &likeness->def;
    snwWeightsLookDef def = {own->character, own->handle, own->motion >= 0 ? likeness->pose : NULL, own->skinning};
    return snwMakeWeightsLook(likeness->context, &likeness->arena, &def, look, message);
}

// What the look consists of; gizmos must outlive it.
static snwResult ChooseMeshes(snwLikeness* likeness, snwLikenessLook look, const snwPortraitDef* view,
    snwMeshLook* looks, int* count, snwGizmos* gizmos, snwMessage* message)
{
    bool flat = likeness->def.blueprint->flat.ringCount > 0;
    snwResult result = snw_ok;
    *count = 0;

    // Looks that show the mesh need no display surface.
    if (look == snw_lookElements && likeness->def.character != NULL && !flat)
        return CutOpen(likeness, view, &looks[(*count)++], message);
    if (look == snw_lookWeights && likeness->def.character != NULL)
        return MakeWeightsLook(likeness, &looks[(*count)++], message);
    if (look == snw_lookBones)
        result = MeshRigidParts(likeness, message);

    // With bones in sight the flesh is translucent, but only where there is flesh.
    bool rigid = look == snw_lookBones && likeness->rigidMesh.vertexCount > 0;
    bool flesh = likeness->flesh.hasFlesh || likeness->def.blueprint->boxSize.x > 0;
    float opacity = look == snw_lookBones && flesh ? 0.35f : 1;
    for (int i = 0; i < likeness->meshCount; ++i)
        looks[(*count)++] = flat ? FlatLook(likeness, look) : SkinLook(&likeness->meshes[i], &likeness->flesh, opacity);
    if (rigid)
        looks[(*count)++] = SkinLook(&likeness->rigidMesh, &likeness->rigid, 1);
    if (result < 0 || look != snw_lookBones)
        return result;
    AddLikenessBones(likeness, gizmos);
    AddLikenessJoints(likeness, gizmos);
    if (gizmos->triangles.count > 0)
        result = snwGizmos_GetLook(gizmos, &looks[(*count)++], message);

    return result;
}

snwResult snwLikeness_Draw(
    snwLikeness* likeness, snwLikenessLook look, const snwPortraitDef* view, snwImage* image, snwMessage* message)
{
    snwMeshLook* looks = snwArena_Alloc(&likeness->arena, (size_t)likeness->meshCount + 3, sizeof *looks);
    snwGizmos gizmos = {.context = likeness->context};
    snwPortraitDef def = *view;
    if (looks == NULL)
        return snwFailMemory(message);
    def.meshes = looks;
    if (likeness->def.blueprint->flat.ringCount > 0) // on a wall, not on the ground
    {
        def.wall = look != snw_lookSilhouette && def.style != snw_styleClear;
        def.ground = false;
    }

    if (look == snw_lookSilhouette)
        def.style = snw_styleSilhouette;
    if (likeness->meshCount > 0) // all looks in one frame
    {
        def.framePoints = likeness->meshes[0].positions;
        def.framePointCount = likeness->meshes[0].vertexCount;
    }

    // Meshes live in the likeness; gizmos only for this picture.
    snwResult result = ChooseMeshes(likeness, look, view, looks, &def.meshCount, &gizmos, message);
    if (result >= 0)
        result = snwDrawPortrait(likeness->context, &def, image, message);
    snwGizmos_Free(&gizmos);
    return result;
}
