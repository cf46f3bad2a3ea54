// Built-in characters as files of their own, as an artist would have made them: the surface of the blueprint, finer
// than that of its elements, with the colours it has there, and with smooth weights, which are those of the elements
// that its vertices lie in.

#include "bake/parts.h"

#include "asset/gltf_write.h"
#include "base/result.h"
#include "geom/embedding.h"
#include "geom/surface.h"
#include "rig/weights.h"
#include "scene/blueprint_file.h"

#include <stdio.h>

#define SNW_DETAIL 110.0 // edges from one end of the character to the other

typedef struct Maker
{
    snwBake* bake;
    snwArena arena;
    const snwCharacter* character;
    snwWeights* weights; // of the elements; NULL: no bones
    snwWeights* rows;    // of the surface
    snwAssetMesh mesh;   // without vertices: that of the elements is shown
    snwAssetPart part;
    snwMessage* message;
} Maker;

// ---------------------------------------------------------------------------------------------------------------------
// The surface

static snwResult MeshBuiltInFlesh(Maker* m, const snwFlesh* flesh)
{
    snwTriangleMesh mesh = {0};
    snwSolid solid = snwFlesh_Solid(flesh);

    // Finer than the elements, but as even: a share of the body's diagonal.
    double spacing = snwVec3_Distance(flesh->lower, flesh->upper) / SNW_DETAIL;
    snwResult result = snwMeshSurface(m->bake->context, &solid, spacing, &m->arena, &mesh, m->message);

    float(*normals)[3] = snwArena_Alloc(&m->arena, (size_t)mesh.vertexCount + 1, sizeof *normals);
    float(*colors)[4] = snwArena_Alloc(&m->arena, (size_t)mesh.vertexCount + 1, sizeof *colors);
    if (result < 0 || normals == NULL || colors == NULL)
        return result < 0 ? result : snwFailMemory(m->message);

    // Smooth normals.
    for (int t = 0; t < mesh.triangleCount; ++t)
    {
        const int* corners = mesh.triangles[t];
        snwVec3 a = mesh.vertices[corners[0]];
        snwVec3 n = snwVec3_Cross(snwVec3_Sub(mesh.vertices[corners[1]], a), snwVec3_Sub(mesh.vertices[corners[2]], a));
        for (int k = 0; k < 3; ++k)
        {
            float* sum = normals[corners[k]];
            sum[0] += (float)n.x, sum[1] += (float)n.y, sum[2] += (float)n.z; // by area; the writer makes them unit
        }
    }

    // Colours of the flesh at each vertex.
    for (int i = 0; i < mesh.vertexCount; ++i)
    {
        snwFlesh_Color(flesh, mesh.vertices[i], colors[i]);
        colors[i][3] = 1;
    }

    const char* name = snwCharacter_GetDef(m->character)->name;
    m->part = (snwAssetPart){name, "", 0, mesh.vertexCount, 0, mesh.triangleCount};
    m->mesh = (snwAssetMesh){.name = name,
        .positions = mesh.vertices,
        .vertexCount = mesh.vertexCount,
        .normals = (const float(*)[3])normals,
        .colors = (const float(*)[4])colors,
        .triangles = (const int(*)[3])mesh.triangles,
        .triangleCount = mesh.triangleCount,
        .parts = &m->part,
        .partCount = 1};

    return snw_ok;
}

static snwResult WeighBuiltInSurface(Maker* m)
{
    const snwCharacterDef* def = snwCharacter_GetDef(m->character);
    size_t bones = (size_t)def->boneCount, count = (size_t)m->mesh.vertexCount;
    snwEmbedding embedding;
    snwEmbeddingDef places = {.vertices = def->vertices,
        .vertexCount = def->vertexCount,
        .elements = {(const int*)def->tets, 4, def->tetCount},
        .points = m->mesh.positions,
        .pointCount = m->mesh.vertexCount};
    double* values = snwArena_Alloc(&m->arena, count * bones + 1, sizeof(double));

    if (values == NULL)
        return snwFailMemory(m->message);
    snwResult result = snwEmbedPoints(&m->arena, &places, &embedding, m->message);

    // Each vertex has the weights of the element's corners that it lies between.
    for (size_t i = 0; i < 4 * count && result >= 0; ++i)
    {
        int corner = embedding.vertices[embedding.corners[i / 4][i % 4]];
        for (int k = m->weights->starts[corner]; k < m->weights->starts[corner + 1]; ++k)
            values[i / 4 * bones + (size_t)m->weights->handles[k]] += (double)embedding.weights[i / 4][i % 4] *
                                                                      m->weights->values[k];
    }

    // By lists, which also drops what is next to nothing.
    snwWeightLists lists = {.vertexCount = m->mesh.vertexCount,
        .handleCount = def->boneCount,
        .perVertex = def->boneCount,
        .values = values};
    if (result >= 0)
        result = snwWeights_FromLists(m->bake->context, &lists, &m->rows, NULL, m->message);
    if (result >= 0)
        m->mesh.weights = (snwAssetWeights){m->rows->starts, m->rows->handles, m->rows->values, m->rows->handleCount};

    return result;
}

// Characters that are no flesh - boxes, sheets - are shown as their elements are.
static snwResult MakeBuiltInSurface(Maker* m, const snwBlueprint* blueprint)
{
    snwFlesh flesh;
    snwTransform* still = snwArena_Alloc(&m->arena, (size_t)blueprint->boneCount + 1, sizeof *still);
    if (blueprint->flesh.partCount == 0 || !blueprint->flesh.hasFlesh || m->weights == NULL ||
        snwCharacter_GetDef(m->character)->tetCount == 0)
        return snw_ok;
    for (int i = 0; i < blueprint->boneCount && still != NULL; ++i)
        still[i] = snwIdentityTransform();
    if (still == NULL || !snwFlesh_Pose(&blueprint->flesh, still, &m->arena, &flesh))
        return snwFailMemory(m->message);
    snwResult result = MeshBuiltInFlesh(m, &flesh);
    return result >= 0 ? WeighBuiltInSurface(m) : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The file

static snwResult WriteBuiltIn(const Maker* m)
{
    snwBake* bake = m->bake;
    snwGltfWriter* writer = NULL;
    snwResult result = snwGltfWriter_Open(bake->context, NULL, &writer, m->message);
    if (result < 0)
        return result;

    snwGltfCharacterDef def = snwDefaultGltfCharacterDef(m->character);
    snwGltfSave save = snwDefaultGltfSave(bake->path);

    // Weights of the body as the writer takes them.
    snwAssetWeights rows = {0};
    if (m->weights != NULL)
        rows = (snwAssetWeights){m->weights->starts, m->weights->handles, m->weights->values, m->weights->handleCount};
    def.weights = m->weights != NULL ? &rows : NULL;
    def.surface = m->mesh.vertexCount > 0 ? &m->mesh : NULL;
    def.rate = 30;
    save.overwrite = true;
    snwGltfWriter_AddCharacter(writer, &def);
    result = snwGltfWriter_Save(writer, &save, m->message);
    snwGltfWriter_Close(writer);

    return result;
}

static snwResult WriteBlueprint(snwBake* bake, const snwBlueprint* blueprint, snwMessage* message)
{
    Maker m = {.bake = bake, .arena = {.context = bake->context}, .message = message};
    snwCharacter* character = NULL;
    snwWeightsDef def = snwDefaultWeightsDef();
    snwResult result = snwBlueprint_Create(bake->context, blueprint, NULL, NULL, NULL, &character, message);
    m.character = character;
    // Elements, weights, and the surface over them.
    if (result >= 0 && blueprint->boneCount > 0)
        result = snwComputeWeights(character, &def, &m.weights, message);
    if (result >= 0)
        result = MakeBuiltInSurface(&m, blueprint);
    if (result >= 0)
        result = WriteBuiltIn(&m);

    snwFree(bake->context, m.weights);
    snwFree(bake->context, m.rows);
    snwArena_Free(&m.arena);
    if (character != NULL)
        snwCharacter_Release(character);

    return result;
}

snwResult snwBake_WriteBuiltIn(snwBake* bake, const snwBuiltIn* builtIn, snwMessage* message)
{
    char name[128];
    snwBlueprintFile file;
    snprintf(name, sizeof name, "%s.glb", builtIn->name);
    snwResult result = snwBake_Path(bake, name, bake->path, message);
    if (result < 0)
        return result;
    result = snwBlueprintFile_Read(bake->context, builtIn->name, builtIn->text, builtIn->size, &file, message);
    if (result >= 0)
        result = WriteBlueprint(bake, &file.blueprint, message);
    snwBlueprintFile_Free(&file);
    bake->builtIn = true;
    return result < 0 ? result : snw_ok;
}
