#include "sim/character.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "geom/mesh.h"
#include "sim/limits.h"
#include "sim/method.h"

#include <math.h>
#include <string.h>

enum
{
    snw_maxVertices = 100000000,
    snw_maxTets = 100000000,
    snw_maxParts = 100000 // bones, joints, handles, materials, constraints
};

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
    return (snwBoneDef){.name = "", .tail = {0, 1, 0}, .radius = 0.05};
}

snwHandleDef snwDefaultHandleDef(void)
{
    return (snwHandleDef){.name = "", .given = snw_dofAll};
}

snwLinearConstraintDef snwDefaultLinearConstraintDef(void)
{
    return (snwLinearConstraintDef){0};
}

snwCharacterDef snwDefaultCharacterDef(void)
{
    return (snwCharacterDef){.name = "character", .color = {0.75f, 0.35f, 0.25f}};
}

snwResult snwMaterial_Check(const snwMaterial* material, snwMessage* message)
{
    const char* remedy = "start from snwDefaultMaterial()";
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
    return snw_ok;
}

static snwResult CheckCount(int count, int most, const void* data, const char* what, snwMessage* message)
{
    if (count < 0 || count > most)
        return snwFail(message, snw_errorArgument, NULL, "%s count must be 0..%d, is %d", what, most, count);
    if (count > 0 && data == NULL)
        return snwFail(message, snw_errorArgument, NULL, "%d %s but no array", count, what);
    return snw_ok;
}

static snwResult CheckCounts(const snwCharacterDef* def, snwMessage* message)
{
    const struct
    {
        int count, most;
        const void* data;
        const char* what;
    } parts[] = {
        {def->vertexCount, snw_maxVertices, def->vertices, "vertices"},
        {def->tetCount, snw_maxTets, def->tets, "tets"},
        {def->edgeCount, snw_maxTets, def->edges, "edges"},
        {def->materialCount, snw_maxParts, def->materials, "materials"},
        {def->boneCount, snw_maxParts, def->bones, "bones"},
        {def->jointCount, snw_maxParts, def->joints, "joints"},
        {def->handleCount, snw_maxParts, def->handles, "handles"},
        {def->constraintCount, snw_maxParts, def->constraints, "constraints"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
    {
        snwResult result = CheckCount(parts[i].count, parts[i].most, parts[i].data, parts[i].what, message);
        if (result < 0)
            return result;
    }
    if (def->vertexCount == 0)
        return snwFail(message, snw_errorArgument, NULL, "a character needs vertices");
    for (int i = 0; i < 3; ++i)
        if (!(def->color[i] >= 0.0f && def->color[i] <= 1.0f))
            return snwFail(message, snw_errorArgument, NULL, "color[%d] must be 0..1, is %g", i, (double)def->color[i]);
    return snw_ok;
}

static snwResult CheckTet(const snwCharacterDef* def, int tet, snwMessage* message)
{
    const int* v = def->tets[tet];
    for (int k = 0; k < 4; ++k)
        if (v[k] < 0 || v[k] >= def->vertexCount)
            return snwFail(
                message, snw_errorArgument, NULL, "tets[%d] names vertex %d of %d", tet, v[k], def->vertexCount);
    double volume = snwTet_Volume(def->vertices[v[0]], def->vertices[v[1]], def->vertices[v[2]], def->vertices[v[3]]);
    if (!(volume > 0.0))
        return snwFail(message, snw_errorArgument, "swap two of its vertices, or remove it if it is flat",
            "tets[%d] has volume %g m^3", tet, volume);
    int regions = def->materialCount > 0 ? def->materialCount : 1;
    if (def->regions != NULL && (def->regions[tet] < 0 || def->regions[tet] >= regions))
        return snwFail(message, snw_errorArgument, NULL, "regions[%d] is %d of %d", tet, def->regions[tet], regions);
    return snw_ok;
}

static snwResult CheckMesh(const snwCharacterDef* def, snwMessage* message)
{
    for (int i = 0; i < def->vertexCount; ++i)
        if (!snwVec3_IsWithin(def->vertices[i], SNW_MAX_POSITION))
            return snwFail(message, snw_errorArgument, "metres are meant", "vertices[%d] is not finite or beyond %g m",
                i, SNW_MAX_POSITION);
    for (int i = 0; i < def->tetCount; ++i)
        if (CheckTet(def, i, message) < 0)
            return snw_errorArgument;
    for (int i = 0; i < def->edgeCount; ++i)
    {
        const int* e = def->edges[i];
        if (e[0] < 0 || e[1] < 0 || e[0] >= def->vertexCount || e[1] >= def->vertexCount || e[0] == e[1])
            return snwFail(message, snw_errorArgument, NULL, "edges[%d] joins vertices %d and %d", i, e[0], e[1]);
    }
    for (int i = 0; def->masses != NULL && i < def->vertexCount; ++i)
        if (!(def->masses[i] >= SNW_MIN_MASS && def->masses[i] <= SNW_MAX_MASS))
            return snwFail(message, snw_errorArgument, NULL, "masses[%d] must be %g..%g kg, is %g", i, SNW_MIN_MASS,
                SNW_MAX_MASS, def->masses[i]);
    for (int i = 0; i < def->materialCount; ++i)
        if (snwMaterial_Check(&def->materials[i], message) < 0)
        {
            snwMessage_AddPlace(message, "materials[%d]", i);
            return snw_errorArgument;
        }
    return snw_ok;
}

static snwResult CheckJoint(const snwCharacterDef* def, int index, snwMessage* message)
{
    const snwJointDef* joint = &def->joints[index];
    if (joint->type < snw_jointBall || joint->type > snw_jointFree)
        return snwFail(message, snw_errorArgument, NULL, "joints[%d] has type %d", index, (int)joint->type);
    if (joint->bone < 0 || joint->bone >= def->boneCount || joint->parentBone < -1 ||
        joint->parentBone >= def->boneCount || joint->bone == joint->parentBone)
        return snwFail(message, snw_errorArgument, NULL, "joints[%d] joins bones %d and %d of %d", index,
            joint->parentBone, joint->bone, def->boneCount);
    double numbers[] = {joint->lower, joint->upper, joint->stiffness, joint->damping, joint->target};
    bool finite = snwVec3_IsFinite(joint->position);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        finite = finite && isfinite(numbers[i]);
    if (!finite || joint->stiffness < 0.0 || joint->damping < 0.0 || !(joint->cone >= 0.0 && joint->cone <= SNW_PI))
        return snwFail(message, snw_errorArgument, "start from snwDefaultJointDef()",
            "joints[%d] has a number out of range", index);
    if (fabs(snwVec3_Length(joint->axis) - 1.0) > 1e-6 || fabs(snwVec3_Length(joint->axis2) - 1.0) > 1e-6)
        return snwFail(
            message, snw_errorArgument, "normalise axis and axis2", "joints[%d] has an axis that is not unit", index);
    return snw_ok;
}

static snwResult CheckConstraint(const snwCharacterDef* def, int index, snwMessage* message)
{
    const snwLinearConstraintDef* constraint = &def->constraints[index];
    if (constraint->termCount < 1 || constraint->termCount > snw_maxParts || constraint->terms == NULL ||
        !isfinite(constraint->value))
        return snwFail(message, snw_errorArgument, NULL, "constraints[%d] has no terms or no finite value", index);
    for (int i = 0; i < constraint->termCount; ++i)
    {
        const snwLinearTerm* term = &constraint->terms[i];
        bool oneDof = term->dof != 0 && (term->dof & (term->dof - 1)) == 0 && term->dof <= snw_dofRotationZ;
        if (term->handle < 0 || term->handle >= def->handleCount || !oneDof || !isfinite(term->coefficient))
            return snwFail(message, snw_errorArgument, NULL, "constraints[%d].terms[%d] is out of range", index, i);
    }
    return snw_ok;
}

static snwResult CheckRig(const snwCharacterDef* def, snwMessage* message)
{
    for (int i = 0; i < def->boneCount; ++i)
    {
        const snwBoneDef* bone = &def->bones[i];
        if (!snwVec3_IsFinite(bone->head) || !snwVec3_IsFinite(bone->tail) || !(bone->radius >= 0.0) ||
            !isfinite(bone->radius))
            return snwFail(message, snw_errorArgument, NULL, "bones[%d] has a number out of range", i);
    }
    for (int i = 0; i < def->jointCount; ++i)
        if (CheckJoint(def, i, message) < 0)
            return snw_errorArgument;
    for (int i = 0; i < def->handleCount; ++i)
    {
        const snwHandleDef* handle = &def->handles[i];
        bool kind = handle->kind >= snw_handlePoint && handle->kind <= snw_handleBone;
        if (!kind || !snwVec3_IsFinite(handle->position) || handle->given > snw_dofAll)
            return snwFail(message, snw_errorArgument, NULL, "handles[%d] is out of range", i);
    }
    for (int i = 0; i < def->constraintCount; ++i)
        if (CheckConstraint(def, i, message) < 0)
            return snw_errorArgument;
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

static const snwBoneDef* CopyBones(snwArena* arena, const snwCharacterDef* def)
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

static void CopyDef(snwCharacter* character, const snwCharacterDef* def)
{
    static const snwMaterial none = {0};
    snwArena* arena = &character->arena;
    snwMaterial fallback = snwDefaultMaterial();
    snwCharacterDef* copy = &character->def;
    *copy = *def;
    copy->name = snwArena_Text(arena, def->name);
    copy->source = snwArena_Text(arena, def->source);
    copy->vertices = snwArena_Copy(arena, def->vertices, (size_t)def->vertexCount, sizeof *def->vertices);
    copy->tets = snwArena_Copy(arena, def->tets, (size_t)def->tetCount, sizeof *def->tets);
    copy->edges = snwArena_Copy(arena, def->edges, (size_t)def->edgeCount, sizeof *def->edges);
    copy->regions = def->regions != NULL ? snwArena_Copy(arena, def->regions, (size_t)def->tetCount, sizeof(int))
                                         : snwArena_Alloc(arena, (size_t)def->tetCount, sizeof(int));
    copy->materialCount = def->materialCount > 0 ? def->materialCount : 1;
    const snwMaterial* materials = def->materialCount > 0 ? def->materials : &fallback;
    copy->materials = snwArena_Copy(arena, materials, (size_t)copy->materialCount, sizeof none);
    if (def->masses != NULL)
        copy->masses = snwArena_Copy(arena, def->masses, (size_t)def->vertexCount, sizeof(double));
    copy->bones = CopyBones(arena, def);
    copy->joints = CopyJoints(arena, def);
    copy->handles = CopyHandles(arena, def);
    copy->constraints = CopyConstraints(arena, def);
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
    for (int i = 0; i < def->tetCount; ++i)
        for (int k = 0; k < 4; ++k)
            masses[def->tets[i][k]] += 0.25 * materials[def->regions[i]].density * character->restVolumes[i];
}

static void MeasureRest(snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    character->lower = character->upper = def->vertices[0];
    for (int i = 0; i < def->vertexCount; ++i)
    {
        character->lower = snwVec3_Min(character->lower, def->vertices[i]);
        character->upper = snwVec3_Max(character->upper, def->vertices[i]);
    }
    for (int i = 0; i < def->tetCount; ++i)
    {
        const int* v = def->tets[i];
        character->restVolumes[i] = snwTet_Volume(
            def->vertices[v[0]], def->vertices[v[1]], def->vertices[v[2]], def->vertices[v[3]]);
        character->volume += character->restVolumes[i];
    }
    snwCharacter_ComputeMasses(character, def->materials, character->masses);
    for (int i = 0; i < def->vertexCount; ++i)
        character->mass += character->masses[i];
}

// Skin vertices in the order of the mesh, so that neighbours stay neighbours.
static snwResult MakeSkin(snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    snwContext* context = character->context;
    int(*triangles)[3] = NULL;
    int* skinOf = snwAllocArray(context, (size_t)def->vertexCount, sizeof *skinOf);
    if (skinOf == NULL ||
        snwMesh_FindBoundary(context, def->tets, def->tetCount, &triangles, &character->skinTriangleCount) < 0)
    {
        snwFree(context, skinOf);
        return snw_errorMemory;
    }
    for (int i = 0; i < 3 * character->skinTriangleCount; ++i)
        skinOf[triangles[i / 3][i % 3]] = 1;
    for (int i = 0; i < def->vertexCount; ++i)
        skinOf[i] = skinOf[i] ? ++character->skinVertexCount : 0;
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

static snwResult FindEdges(snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    int(*edges)[2] = NULL;
    snwResult result = snwMesh_FindEdges(
        character->context, def->tets, def->tetCount, def->edges, def->edgeCount, &edges, &character->edgeCount);
    if (result == snw_ok)
        character->edges = snwArena_Copy(&character->arena, edges, (size_t)character->edgeCount, sizeof *edges);
    snwFree(character->context, edges);
    return character->arena.failed ? snw_errorMemory : result;
}

static snwResult CheckMassless(const snwCharacter* character, snwMessage* message)
{
    for (int i = 0; i < character->def.vertexCount; ++i)
        if (!(character->masses[i] >= SNW_MIN_MASS))
            return snwFail(message, snw_errorArgument, "give masses, or remove vertices that no tet uses",
                "vertex %d belongs to no tet, or its mass is below %g kg", i, SNW_MIN_MASS);
    return snw_ok;
}

static snwResult Build(snwCharacter* character, const snwCharacterDef* def, snwMessage* message)
{
    CopyDef(character, def);
    character->restVolumes = snwArena_Alloc(&character->arena, (size_t)def->tetCount, sizeof(double));
    character->masses = snwArena_Alloc(&character->arena, (size_t)def->vertexCount, sizeof(double));
    if (character->arena.failed)
        return snwFailMemory(message);
    MeasureRest(character);
    if (CheckMassless(character, message) < 0)
        return snw_errorArgument;
    if (FindEdges(character) < 0 || MakeSkin(character) < 0)
        return snwFailMemory(message);
    void* block = NULL;
    size_t size = 0;
    snwResult result = snwCharacter_Save(character, &block, &size, message);
    if (result < 0)
        return result;
    character->hash = snwHash(block, size, 0);
    snwFree(character->context, block);
    return snw_ok;
}

snwResult snwCreateCharacter(snwContext* context, const snwCharacterDef* def, snwCharacter** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckCounts(def, message);
    result = result < 0 ? result : CheckMesh(def, message);
    result = result < 0 ? result : CheckRig(def, message);
    if (result < 0)
        return result;
    snwCharacter* character = snwAlloc(context, sizeof *character);
    if (character == NULL)
        return snwFailMemory(message);
    character->context = context;
    character->arena.context = context;
    atomic_init(&character->references, 1);
    pthread_mutex_init(&character->modelMutex, NULL);
    result = Build(character, def, message);
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
        snwFree(context, character->models);
        character->models = next;
    }
    pthread_mutex_destroy(&character->modelMutex);
    snwArena_Free(&character->arena);
    snwFree(context, character);
}

snwCharacterInfo snwCharacter_GetInfo(const snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    return (snwCharacterInfo){
        .name = def->name,
        .source = def->source,
        .vertexCount = def->vertexCount,
        .tetCount = def->tetCount,
        .edgeCount = character->edgeCount,
        .skinVertexCount = character->skinVertexCount,
        .skinTriangleCount = character->skinTriangleCount,
        .materialCount = def->materialCount,
        .boneCount = def->boneCount,
        .jointCount = def->jointCount,
        .handleCount = def->handleCount,
        .mass = character->mass,
        .volume = character->volume,
        .lower = character->lower,
        .upper = character->upper,
        .modelCount = atomic_load(&character->modelCount),
        .color = {def->color[0], def->color[1], def->color[2]},
    };
}
