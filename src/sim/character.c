// Characters: the definition is checked, copied whole, and measured (masses, edges, skin, which vertex moves with
// which bone), once; after that nothing changes.

#include "sim/character.h"
#include "base/hash.h"
#include "math/eigen.h"
#include "sim/limits.h"
#include "sim/method.h"
#include "sim/shapes.h"
#include "sim/vertex_track.h"

#include <math.h>
#include <string.h>

snwMaterial snwDefaultMaterial(void)
{
    return (snwMaterial){.density = 1000.0, .young = 1e5, .poisson = 0.45, .damping = 0.0};
}

snwJointDef snwDefaultJointDef(void)
{
    return (snwJointDef){.name = "",
        .parentBone = -1,
        .axis = {1, 0, 0},
        .axis2 = {0, 1, 0},
        .lower = 1.0,
        .upper = -1.0,
        .cone = SNW_PI};
}

snwBoneDef snwDefaultBoneDef(void)
{
    return (snwBoneDef){
        .name = "", .tail = {0, 1, 0}, .radius = 0.05, .parent = -1, .shape.place = snwTransform_Identity()};
}

snwHandleDef snwDefaultHandleDef(void)
{
    return (snwHandleDef){.name = ""};
}

snwLinearConstraintDef snwDefaultLinearConstraintDef(void)
{
    return (snwLinearConstraintDef){0};
}

snwTrackDef snwDefaultTrackDef(void)
{
    return (snwTrackDef){0};
}

snwMotionDef snwDefaultMotionDef(void)
{
    return (snwMotionDef){.name = "motion", .duration = 1.0, .loop = true};
}

snwCharacterDef snwDefaultCharacterDef(void)
{
    return (snwCharacterDef){.name = "character", .thickness = 0.01, .color = {0.75f, 0.35f, 0.25f}};
}

snwResult snwMaterial_Check(const snwMaterial* material, snwMessage* message)
{
    const char* remedy = "start from snwDefaultMaterial()";

    // Tests are turned over, so that what is not a number fails them too.
    if (!(material->density >= SNW_MIN_DENSITY && material->density <= SNW_MAX_DENSITY))
        return snwFail(message, snw_errorArgument, remedy, "density must be %g..%g kg/m^3, is %g", SNW_MIN_DENSITY,
            SNW_MAX_DENSITY, material->density);
    if (!(material->young >= SNW_MIN_YOUNG && material->young <= SNW_MAX_YOUNG))
        return snwFail(message, snw_errorArgument, remedy, "young must be %g..%g Pa, is %g", SNW_MIN_YOUNG,
            SNW_MAX_YOUNG, material->young);
    if (!(material->poisson >= -0.9 && material->poisson <= 0.5))
        return snwFail(message, snw_errorArgument, remedy, "poisson must be -0.9..0.5, is %g", material->poisson);
    if (!(material->damping >= 0.0 && material->damping <= SNW_MAX_DAMPING))
        return snwFail(
            message, snw_errorArgument, remedy, "damping must be 0..%g 1/s, is %g", SNW_MAX_DAMPING, material->damping);
    if (!(material->frequency >= 0.0 && material->frequency <= SNW_MAX_FREQUENCY))
        return snwFail(message, snw_errorArgument, remedy, "frequency must be 0..%g Hz, is %g", SNW_MAX_FREQUENCY,
            material->frequency);
    if (!(material->settling >= 0.0 && material->settling <= SNW_MAX_SETTLING))
        return snwFail(message, snw_errorArgument, remedy, "settling must be 0..%g s, is %g", SNW_MAX_SETTLING,
            material->settling);

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Copies and what follows from them

static const snwJointDef* CopyJoints(snwArena* arena, const snwCharacterDef* def)
{
    snwJointDef* joints = snwArena_Copy(arena, def->joints, (size_t)def->jointCount, sizeof *joints);
    for (int i = 0; joints != NULL && i < def->jointCount; ++i)
        joints[i].name = snwArena_Text(arena, joints[i].name);
    return joints;
}

static const snwBoneDef* CopyBoneDefs(snwArena* arena, const snwCharacterDef* def)
{
    snwBoneDef* bones = snwArena_Copy(arena, def->bones, (size_t)def->boneCount, sizeof *bones);
    for (int i = 0; bones != NULL && i < def->boneCount; ++i)
        bones[i].name = snwArena_Text(arena, bones[i].name);
    return bones;
}

static const snwHandleDef* CopyHandles(snwArena* arena, const snwCharacterDef* def)
{
    snwHandleDef* handles = snwArena_Copy(arena, def->handles, (size_t)def->handleCount, sizeof *handles);
    for (int i = 0; handles != NULL && i < def->handleCount; ++i)
        handles[i].name = snwArena_Text(arena, handles[i].name);
    return handles;
}

static const snwLinearConstraintDef* CopyConstraints(snwArena* arena, const snwCharacterDef* def)
{
    snwLinearConstraintDef* all = snwArena_Copy(arena, def->constraints, (size_t)def->constraintCount, sizeof *all);
    for (int i = 0; all != NULL && i < def->constraintCount; ++i)
        all[i].terms = snwArena_Copy(arena, all[i].terms, (size_t)all[i].termCount, sizeof *all[i].terms);
    return all;
}

static const snwMotionDef* CopyMotions(snwArena* arena, const snwCharacterDef* def)
{
    snwMotionDef* motions = snwArena_Copy(arena, def->motions, (size_t)def->motionCount, sizeof *motions);
    for (int i = 0; motions != NULL && i < def->motionCount; ++i)
    {
        snwMotionDef* motion = &motions[i];
        motion->name = snwArena_Text(arena, motion->name);
        snwTrackDef* tracks = snwArena_Copy(arena, motion->tracks, (size_t)motion->trackCount, sizeof *tracks);
        for (int k = 0; tracks != NULL && k < motion->trackCount; ++k)
            tracks[k].keys = snwArena_Copy(arena, tracks[k].keys, (size_t)tracks[k].keyCount, sizeof(snwKey));
        motion->tracks = tracks;
        motion->vertices = snwVertexTrack_Copy(arena, &motion->vertices, def->vertexCount);
    }
    return motions;
}

static snwWeights CopyWeights(snwArena* arena, const snwWeights* weights)
{
    if (weights->vertexCount == 0)
        return (snwWeights){0};
    snwWeights copy = *weights;
    size_t rows = (size_t)weights->vertexCount, entries = (size_t)weights->starts[weights->vertexCount];
    copy.starts = snwArena_Copy(arena, weights->starts, rows + 1, sizeof *copy.starts);
    copy.handles = snwArena_Copy(arena, weights->handles, entries, sizeof *copy.handles);
    copy.values = snwArena_Copy(arena, weights->values, entries, sizeof *copy.values);
    return copy;
}

static void CopyCharacterLook(snwArena* arena, const snwCharacterDef* def, snwCharacterDef* copy)
{
    size_t count = (size_t)def->vertexCount, pixels = (size_t)def->texture.width * (size_t)def->texture.height;
    copy->colors = def->colors != NULL ? snwArena_Copy(arena, def->colors, count, sizeof *def->colors) : NULL;
    copy->texcoords = def->texcoords != NULL ? snwArena_Copy(arena, def->texcoords, count, sizeof *def->texcoords)
                                             : NULL;
    copy->texture = (snwTexture){0};
    if (def->texture.width > 0)
        copy->texture = (snwTexture){
            def->texture.width, def->texture.height, snwArena_Copy(arena, def->texture.pixels, pixels, 4)};
}

static void CopyMesh(snwArena* arena, const snwCharacterDef* def, snwCharacterDef* copy)
{
    size_t count = (size_t)snwCharacterDef_Elements(def).count;
    copy->vertices = snwArena_Copy(arena, def->vertices, (size_t)def->vertexCount, sizeof *def->vertices);
    copy->tets = snwArena_Copy(arena, def->tets, (size_t)def->tetCount, sizeof *def->tets);
    copy->hexes = snwArena_Copy(arena, def->hexes, (size_t)def->hexCount, sizeof *def->hexes);
    copy->triangles = snwArena_Copy(arena, def->triangles, (size_t)def->triangleCount, sizeof *def->triangles);
    copy->edges = snwArena_Copy(arena, def->edges, (size_t)def->edgeCount, sizeof *def->edges);
    copy->regions = def->regions != NULL ? snwArena_Copy(arena, def->regions, count, sizeof(int))
                                         : snwArena_Alloc(arena, count, sizeof(int));
    if (def->elementBones != NULL)
        copy->elementBones = snwArena_Copy(arena, def->elementBones, count, sizeof(int));
    if (def->masses != NULL)
        copy->masses = snwArena_Copy(arena, def->masses, (size_t)def->vertexCount, sizeof(double));
}

static void CopyCharacterDef(snwCharacter* character, const snwCharacterDef* def)
{
    static const snwMaterial none = {0};
    snwArena* arena = &character->arena;
    snwMaterial fallback = snwDefaultMaterial();
    snwCharacterDef* copy = &character->def;

    // Numbers at once; everything that points somewhere is copied after that.
    *copy = *def;
    copy->name = snwArena_Text(arena, def->name);
    copy->source = snwArena_Text(arena, def->source);
    CopyMesh(arena, def, copy);
    CopyCharacterLook(arena, def, copy);

    // Without a material it is made of the default one.
    copy->materialCount = def->materialCount > 0 ? def->materialCount : 1;
    const snwMaterial* materials = def->materialCount > 0 ? def->materials : &fallback;
    copy->materials = snwArena_Copy(arena, materials, (size_t)copy->materialCount, sizeof none);

    // Deep copies: names, terms, keys and samples as well.
    copy->bones = CopyBoneDefs(arena, def);
    copy->joints = CopyJoints(arena, def);
    copy->handles = CopyHandles(arena, def);
    copy->constraints = CopyConstraints(arena, def);
    copy->motions = CopyMotions(arena, def);
    copy->boneWeights = CopyWeights(arena, &def->boneWeights);
    copy->handleWeights = CopyWeights(arena, &def->handleWeights);
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

snwElements snwCharacterDef_Elements(const snwCharacterDef* def)
{
    if (def->hexCount > 0)
        return (snwElements){(const int*)def->hexes, 8, def->hexCount};
    if (def->triangleCount > 0)
        return (snwElements){(const int*)def->triangles, 3, def->triangleCount};
    return (snwElements){(const int*)def->tets, 4, def->tetCount};
}

const char* snwCharacterDef_ElementsName(const snwCharacterDef* def)
{
    return def->hexCount > 0 ? "hexes" : def->triangleCount > 0 ? "triangles" : "tets";
}

double snwCharacterDef_ElementVolume(const snwCharacterDef* def, int element)
{
    snwElements elements = snwCharacterDef_Elements(def);
    const int* v = snwElements_Corners(elements, element);
    snwVec3 x[8];
    for (int k = 0; k < elements.arity; ++k)
        x[k] = def->vertices[v[k]];
    if (elements.arity == 8)
        return snwHex_Volume(x);
    if (elements.arity == 4)
        return snwTet_Volume(x[0], x[1], x[2], x[3]);
    return 0.5 * snwVec3_Cross(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0])).z * def->thickness;
}

void snwCharacter_ComputeMasses(const snwCharacter* character, const snwMaterial* materials, double* masses)
{
    const snwCharacterDef* def = &character->def;
    if (def->masses != NULL)
    {
        memcpy(masses, def->masses, (size_t)def->vertexCount * sizeof *masses);
        return;
    }
    memset(masses, 0, (size_t)def->vertexCount * sizeof *masses);
    snwElements elements = character->elements;
    double share = 1.0 / elements.arity;
    for (int i = 0; i < elements.count; ++i)
        for (int k = 0; k < elements.arity; ++k)
            masses[snwElements_Corners(elements, i)[k]] += share * materials[def->regions[i]].density *
                                                           character->restVolumes[i];
}

static void MeasureRest(snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    character->lower = character->upper = def->vertices[0];

    // Bounds.
    for (int i = 0; i < def->vertexCount; ++i)
    {
        character->lower = snwVec3_Min(character->lower, def->vertices[i]);
        character->upper = snwVec3_Max(character->upper, def->vertices[i]);
    }

    // Volumes, of elements and of all.
    for (int i = 0; i < character->elements.count; ++i)
    {
        character->restVolumes[i] = snwCharacterDef_ElementVolume(def, i);
        character->volume += character->restVolumes[i];
    }

    // Masses, and from them the middle.
    snwCharacter_ComputeMasses(character, def->materials, character->masses);
    for (int i = 0; i < def->vertexCount; ++i)
        character->mass += character->masses[i];
    for (int i = 0; i < def->vertexCount; ++i)
        character->centre = snwVec3_MulAdd(character->centre, character->masses[i] / character->mass, def->vertices[i]);
}

static void MeasureMeanEdge(snwCharacter* character)
{
    const snwVec3* x = character->def.vertices;
    double sum = 0.0;
    for (int i = 0; i < character->edgeCount; ++i)
        sum += snwVec3_Distance(x[character->edges[i][0]], x[character->edges[i][1]]);
    character->meanEdge = character->edgeCount > 0 ? sum / character->edgeCount : 0.0;
}

// Skin vertices in the order of the mesh, so that neighbours stay neighbours.
static snwResult MakeCharacterSkin(snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    snwContext* context = character->context;
    int(*triangles)[3] = NULL;
    int* skinOf = snwAllocArray(context, (size_t)def->vertexCount, sizeof *skinOf);
    if (skinOf == NULL || snwMesh_FindSkin(context, character->elements, &triangles, &character->skinTriangleCount) < 0)
    {
        snwFree(context, skinOf);
        return snw_errorMemory;
    }

    // A vertex is of the skin if a skin triangle uses it. skinOf: first a mark, then its number in the skin + 1.
    for (int i = 0; i < 3 * character->skinTriangleCount; ++i)
        skinOf[triangles[i / 3][i % 3]] = 1;
    for (int i = 0; i < def->vertexCount; ++i)
        skinOf[i] = skinOf[i] ? ++character->skinVertexCount : 0;

    // Triangles name skin vertices, not vertices of the mesh.
    character->skinVertices = snwArena_Alloc(&character->arena, (size_t)character->skinVertexCount, sizeof(int));
    character->skinTriangles = snwArena_Copy(
        &character->arena, triangles, (size_t)character->skinTriangleCount, sizeof *triangles);
    for (int i = 0; character->skinVertices != NULL && i < def->vertexCount; ++i)
        if (skinOf[i] > 0)
            character->skinVertices[skinOf[i] - 1] = i;
    for (int i = 0; character->skinTriangles != NULL && i < 3 * character->skinTriangleCount; ++i)
        character->skinTriangles[i / 3][i % 3] = skinOf[triangles[i / 3][i % 3]] - 1;

    snwFree(context, triangles);
    snwFree(context, skinOf);

    return character->arena.failed ? snw_errorMemory : snw_ok;
}

static snwResult MakeRestSkin(snwCharacter* character)
{
    size_t count = (size_t)character->skinVertexCount;
    float* positions = character->restPositions = snwArena_Alloc(&character->arena, count, 3 * sizeof(float));
    character->restNormals = snwArena_Alloc(&character->arena, count, 3 * sizeof(float));
    if (character->arena.failed)
        return snw_errorMemory;
    for (size_t i = 0; i < count; ++i)
    {
        snwVec3 v = character->def.vertices[character->skinVertices[i]];
        positions[3 * i] = (float)v.x, positions[3 * i + 1] = (float)v.y, positions[3 * i + 2] = (float)v.z;
    }
    snwCharacter_SkinNormals(character, positions, character->restNormals);
    return snw_ok;
}

static snwResult FindEdges(snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    int(*edges)[2] = NULL;
    snwResult result = snwMesh_FindEdges(
        character->context, character->elements, def->edges, def->edgeCount, &edges, &character->edgeCount);
    if (result == snw_ok)
        character->edges = snwArena_Copy(&character->arena, edges, (size_t)character->edgeCount, sizeof *edges);
    snwFree(character->context, edges);
    return character->arena.failed ? snw_errorMemory : result;
}

static snwResult CheckMassless(const snwCharacter* character, snwMessage* message)
{
    const char* what = character->elements.arity == 8 ? "hex" : character->elements.arity == 3 ? "triangle" : "tet";
    for (int i = 0; i < character->def.vertexCount; ++i)
        if (!(character->masses[i] >= SNW_MIN_MASS))
            return snwFail(message, snw_errorArgument, "give masses, or remove vertices that nothing uses",
                "vertex %d belongs to no %s, or its mass is below %g kg", i, what, SNW_MIN_MASS);
    return snw_ok;
}

// A vertex moves with one bone at most.
static snwResult FindVertexBones(snwCharacter* character, snwMessage* message)
{
    const snwCharacterDef* def = &character->def;
    snwElements elements = character->elements;
    for (int i = 0; i < def->vertexCount; ++i)
        character->vertexBones[i] = -1;

    // Elements of two bones may not share a vertex: it could not follow both.
    for (int i = 0; def->elementBones != NULL && i < elements.count * elements.arity; ++i)
    {
        int vertex = elements.corners[i], bone = def->elementBones[i / elements.arity];
        int* owner = &character->vertexBones[vertex];
        if (bone >= 0 && *owner >= 0 && *owner != bone)
            return snwFail(message, snw_errorArgument,
                "leave a layer of flesh (-1) between them, or make them one bone",
                "elementBones gives vertex %d to bone '%s' and to bone '%s'", vertex, def->bones[*owner].name,
                def->bones[bone].name);

        *owner = bone >= 0 ? bone : *owner;
    }

    // All others are flesh.
    for (int i = 0; i < def->vertexCount; ++i)
        character->elasticVertexCount += character->vertexBones[i] < 0;
    return snw_ok;
}

static snwResult Hash(snwCharacter* character, snwMessage* message)
{
    void* block = NULL;
    size_t size = 0;
    snwResult result = snwCharacter_Save(character, &block, &size, message);
    if (result < 0)
        return result;
    character->hash = snwHash(block, size, 0);
    snwFree(character->context, block);
    return snw_ok;
}

static snwResult BuildCharacter(snwCharacter* character, const snwCharacterDef* def, snwMessage* message)
{
    CopyCharacterDef(character, def);
    character->elements = snwCharacterDef_Elements(&character->def);

    // Room for what is measured.
    character->restVolumes = snwArena_Alloc(&character->arena, (size_t)character->elements.count, sizeof(double));
    character->masses = snwArena_Alloc(&character->arena, (size_t)def->vertexCount, sizeof(double));
    character->vertexBones = snwArena_Alloc(&character->arena, (size_t)def->vertexCount, sizeof(int));
    if (character->arena.failed)
        return snwFailMemory(message);

    // Masses first: what follows is weighed or checked by them.
    MeasureRest(character);
    if (CheckMassless(character, message) < 0 || FindVertexBones(character, message) < 0)
        return snw_errorArgument;
    if (FindEdges(character) < 0 || MakeCharacterSkin(character) < 0 || MakeRestSkin(character) < 0)
        return snwFailMemory(message);
    MeasureMeanEdge(character);

    // What touches is the skin; a net of edges has none, so all of its vertices do.
    character->touchCount = character->skinVertexCount > 0 ? character->skinVertexCount : def->vertexCount;

    // The skeleton's order, and the hash over everything.
    const snwCharacterDef* own = &character->def;
    snwResult result = snwSkeleton_Build(
        &character->arena, own->bones, own->boneCount, own->joints, own->jointCount, &character->skeleton, message);

    return result < 0 ? result : Hash(character, message);
}

snwResult snwCreateCharacter(snwContext* context, const snwCharacterDef* def, snwCharacter** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = snwCharacterDef_Check(context, def, message);
    if (result < 0)
        return result;

    snwCharacter* character = snwAlloc(context, sizeof *character);
    if (character == NULL)
        return snwFailMemory(message);

    // Shared by scenes and sims, so it counts them; models are added under a lock.
    character->context = context;
    character->arena.context = context;
    atomic_init(&character->references, 1);
    pthread_mutex_init(&character->modelMutex, NULL);
    result = BuildCharacter(character, def, message);
    if (result < 0)
    {
        snwCharacter_Release(character);
        return result;
    }

    *out = character;
    return snw_ok;
}

void snwCharacter_Retain(snwCharacter* character)
{
    atomic_fetch_add(&character->references, 1);
}

void snwCharacter_Release(snwCharacter* character)
{
    if (character == NULL || atomic_fetch_sub(&character->references, 1) > 1)
        return;
    snwContext* context = character->context;
    while (character->models != NULL)
    {
        snwModel* next = character->models->next;
        character->models->method->destroyModel(context, character->models->data);
        snwShape_Release(context, character->models->shape);
        snwFree(context, character->models);
        character->models = next;
    }
    pthread_mutex_destroy(&character->modelMutex);
    snwArena_Free(&character->arena);
    snwFree(context, character);
}

snwCharacterInfo snwCharacter_GetInfo(const snwCharacter* character)
{
    // Counts and sizes were measured once; models are counted as sims make them.
    const snwCharacterDef* def = &character->def;
    return (snwCharacterInfo){
        .name = def->name,
        .source = def->source,
        .vertexCount = def->vertexCount,
        .tetCount = def->tetCount,
        .hexCount = def->hexCount,
        .triangleCount = def->triangleCount,
        .edgeCount = character->edgeCount,
        .elasticVertexCount = character->elasticVertexCount,
        .skinVertexCount = character->skinVertexCount,
        .skinTriangleCount = character->skinTriangleCount,
        .materialCount = def->materialCount,
        .boneCount = def->boneCount,
        .jointCount = def->jointCount,
        .handleCount = def->handleCount,
        .motionCount = def->motionCount,
        .mass = character->mass,
        .volume = character->volume,
        .lower = character->lower,
        .upper = character->upper,
        .modelCount = atomic_load(&character->modelCount),
        .color = {def->color[0], def->color[1], def->color[2]},
        .textured = def->texture.width > 0 && def->texcoords != NULL,
    };
}

const snwCharacterDef* snwCharacter_GetDef(const snwCharacter* character)
{
    return &character->def;
}

snwResult snwCharacter_GetRestSkin(const snwCharacter* character, snwSkin* skin)
{
    *skin = (snwSkin){
        .positions = character->restPositions,
        .normals = character->restNormals,
        .vertexCount = character->skinVertexCount,
        .stride = 3 * (int)sizeof(float),
        .triangles = &character->skinTriangles[0][0],
        .triangleCount = character->skinTriangleCount,
        .vertices = character->skinVertices,
    };
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Motions

snwResult snwCharacter_Pose(const snwCharacter* character, int motion, double time, snwTransform* bones, int capacity)
{
    const snwCharacterDef* def = &character->def;
    if (motion < -1 || motion >= def->motionCount || capacity < def->boneCount || !isfinite(time))
        return snw_errorArgument;
    snwSkeleton_Pose(&character->skeleton, motion >= 0 ? &def->motions[motion] : NULL, time, bones);
    return snw_ok;
}

snwResult snwCharacter_PoseVertices(
    const snwCharacter* character, int index, double time, float* positions, int count, int stride)
{
    const snwCharacterDef* def = &character->def;
    if (index < -1 || index >= def->motionCount || count != def->vertexCount || stride < 12 || !isfinite(time))
        return snw_errorArgument;

    // A motion without samples of vertices leaves them at rest.
    const snwMotionDef* motion = index >= 0 ? &def->motions[index] : NULL;
    bool moves = motion != NULL && motion->vertices.sampleCount > 0;
    snwVertexBlend blend = moves ? snwVertexTrack_At(motion, &motion->vertices, time) : (snwVertexBlend){0};

    // The rest shape, and what the motion adds to it.
    for (int i = 0; i < count; ++i)
    {
        float* x = (float*)((char*)positions + (size_t)i * (size_t)stride);
        float offset[3] = {0.0f, 0.0f, 0.0f};
        if (moves)
            snwVertexTrack_Offset(&motion->vertices, &blend, count, i, offset);
        x[0] = (float)(def->vertices[i].x + (double)offset[0]);
        x[1] = (float)(def->vertices[i].y + (double)offset[1]);
        x[2] = (float)(def->vertices[i].z + (double)offset[2]);
    }

    return snw_ok;
}

double snwCharacter_MotionExcess(const snwCharacter* character, int index, int* joint, double* time)
{
    const snwCharacterDef* def = &character->def;
    const double rate = 240.0;
    int worstJoint = -1;
    double worst = 0.0, worstTime = 0.0;
    bool known = index >= 0 && index < def->motionCount;

    snwTransform* bones = known ? snwAllocArray(character->context, (size_t)def->boneCount, sizeof *bones) : NULL;
    const snwMotionDef* motion = known ? &def->motions[index] : NULL;
    int samples = bones != NULL ? (int)ceil(motion->duration * rate) : -1;

    // Motions are looked at 240 times per second.
    for (int i = 0; i <= samples; ++i)
    {
        double now = fmin(i / rate, motion->duration);
        snwSkeleton_Pose(&character->skeleton, motion, now, bones);
        for (int k = 0; k < def->jointCount; ++k)
        {
            double excess = snwSkeleton_JointExcess(&character->skeleton, k, bones);
            if (excess > worst)
                worst = excess, worstJoint = k, worstTime = now;
        }
    }

    // Where and when it is, for those who ask.
    snwFree(character->context, bones);
    if (joint != NULL)
        *joint = worstJoint;
    if (time != NULL)
        *time = worstTime;
    return bones != NULL ? worst : -1.0;
}

int snwCharacterDef_HandleCount(const snwCharacterDef* def)
{
    return def->handleCount > 0 ? def->handleCount : def->boneCount;
}

snwVec3 snwCharacterDef_BonePoint(const snwCharacterDef* def, int bone)
{
    for (int i = 0; i < def->jointCount; ++i)
        if (def->joints[i].bone == bone)
            return def->joints[i].position;
    return def->bones[bone].head;
}

snwVec3 snwCharacterDef_HandlePoint(const snwCharacterDef* def, int handle)
{
    return def->handleCount > 0 ? def->handles[handle].position : snwCharacterDef_BonePoint(def, handle);
}

int snwCharacterDef_FindBone(const snwCharacterDef* def, const char* name)
{
    for (int i = 0; i < def->boneCount && name != NULL && name[0] != 0; ++i)
        if (strcmp(def->bones[i].name, name) == 0)
            return i;
    return -1;
}

int snwCharacterDef_BoneOfHandle(const snwCharacterDef* def, int handle)
{
    if (def->handleCount == 0)
        return handle;
    const snwHandleDef* own = &def->handles[handle];
    return own->kind == snw_handleBone ? snwCharacterDef_FindBone(def, own->name) : -1;
}

int snwCharacter_HandleCount(const snwCharacter* character)
{
    return snwCharacterDef_HandleCount(&character->def);
}

int snwCharacter_JointFreedom(const snwCharacter* character)
{
    int sum = 0;
    for (int i = 0; i < character->def.jointCount; ++i)
        sum += snwJointType_Freedom(character->def.joints[i].type);
    return sum;
}

void snwCharacter_FitBones(
    const snwCharacter* character, const snwVec3* positions, snwBoneFit* fits, snwTransform* motions)
{
    // Seen from the first vertex: far from the origin of the world nothing else keeps its digits.
    snwVec3 near = positions[0];
    memset(fits, 0, (size_t)character->def.boneCount * sizeof *fits);
    for (int i = 0; i < character->def.vertexCount; ++i)
    {
        if (character->vertexBones[i] < 0)
            continue;
        snwBoneFit* fit = &fits[character->vertexBones[i]];
        snwVec3 from = character->def.vertices[i];
        snwVec3 to = snwVec3_Scale(snwVec3_Sub(positions[i], near), character->masses[i]);
        fit->mass += character->masses[i];
        fit->from = snwVec3_MulAdd(fit->from, character->masses[i], from);
        fit->to = snwVec3_Add(fit->to, to);
        fit->moment = snwMat3_Add(fit->moment, snwMat3_Outer(to, from));
    }

    for (int k = 0; k < character->def.boneCount; ++k)
    {
        const snwBoneFit* fit = &fits[k];
        motions[k] = snwTransform_Identity();
        if (!(fit->mass > 0.0))
            continue;

        // The turn that fits best is the polar factor of sum m (x - c)(X - C)^T, which is sum m x X^T less (sum m x)
        // C^T.
        snwVec3 from = snwVec3_Scale(fit->from, 1.0 / fit->mass), to = snwVec3_Scale(fit->to, 1.0 / fit->mass);
        snwMat3 moment = snwMat3_Sub(fit->moment, snwMat3_Outer(fit->to, from));
        motions[k].rotation = snwQuat_FromMat3(snwPolar3_Compute(moment).rotation);
        motions[k].position = snwVec3_Sub(snwVec3_Add(near, to), snwQuat_Rotate(motions[k].rotation, from));
    }
}
