// Meshes, their attributes, materials and pictures of the glTF writer.

#include "asset/gltf_write_parts.h"
#include "base/array.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Attributes

static snwValue* Attributes(const snwGltfWriter* writer, int mesh, int primitive)
{
    const snwValue* value = snwValue_GetAt(writer->root, "meshes", mesh);
    return snwValue_Get(snwValue_GetAt(value, "primitives", primitive), "attributes");
}

int snwGltfWriter_VertexCount(const snwGltfWriter* writer, int mesh, int primitive)
{
    const snwValue* attributes = Attributes(writer, mesh, primitive);
    int count = snwGltfWriter_Shape(writer, (int)snwValue_GetInt(attributes, "POSITION", -1)).count;
    return count < 0 ? 0 : count;
}

static bool IsPacked(const snwValue* primitive)
{
    return snwValue_Get(snwValue_Get(primitive, "extensions"), "KHR_draco_mesh_compression") != NULL;
}

static void RemoveWord(snwValue* list, const char* word)
{
    int left = 0;
    for (int i = 0; i < snwValue_Count(list); ++i)
        if (strcmp(snwValue_Text(list->items[i], ""), word) != 0)
            list->items[left++] = list->items[i];
    if (list != NULL)
        list->count = left;
}

void snwGltfWriter_LoosenDraco(snwGltfWriter* writer, snwValue* primitive, const char* semantic)
{
    static const char s_name[] = "KHR_draco_mesh_compression";
    if (!IsPacked(primitive))
        return;
    snwValue* extensions = snwValue_Get(primitive, "extensions");

    // The packed copy of an attribute that is replaced goes; if positions are replaced, too, all of it does.
    if (semantic != NULL)
        snwTree_Remove(snwValue_Get(snwValue_Get(extensions, s_name), "attributes"), semantic);
    int64_t position = snwValue_GetInt(snwValue_Get(primitive, "attributes"), "POSITION", -1);
    if (snwValue_Get(snwValue_GetAt(writer->root, "accessors", (int)position), "bufferView") == NULL)
        return;
    snwTree_Remove(extensions, s_name);
    if (extensions->count == 0)
        snwTree_Remove(primitive, "extensions");

    // Nobody needs to know the extension when no part has it any more.
    bool left = false;
    const snwValue* meshes = snwValue_Get(writer->root, "meshes");
    for (int m = 0; m < snwValue_Count(meshes); ++m)
    {
        const snwValue* primitives = snwValue_Get(meshes->items[m], "primitives");
        for (int i = 0; i < snwValue_Count(primitives); ++i)
            left = left || IsPacked(primitives->items[i]);
    }

    static const char* const s_lists[] = {"extensionsRequired", "extensionsUsed"};
    for (int i = 0; i < 2 && !left; ++i)
    {
        RemoveWord(snwValue_Get(writer->root, s_lists[i]), s_name);
        if (snwValue_Count(snwValue_Get(writer->root, s_lists[i])) == 0)
            snwTree_Remove(writer->root, s_lists[i]);
    }
}

void snwGltfWriter_SetAttribute(snwGltfWriter* writer, int mesh, int primitive, const char* semantic, int accessor)
{
    if (snwGltfWriter_Failed(writer))
        return;
    int count = snwGltfWriter_VertexCount(writer, mesh, primitive);
    snwValue* attributes = Attributes(writer, mesh, primitive);
    const char* key = snwArena_Text(&writer->tree.arena, semantic);
    snwGltfWriter_Replace(writer, snwValue_GetInt(attributes, semantic, -1));
    snwGltfWriter_LoosenDraco(
        writer, snwValue_GetAt(snwValue_GetAt(writer->root, "meshes", mesh), "primitives", primitive), semantic);
    if (accessor < 0)
        snwTree_Remove(attributes, semantic);
    else if (count == 0 || snwGltfWriter_Shape(writer, accessor).count != count)
        snwGltfWriter_Fail(writer, NULL, "%s of meshes[%d].primitives[%d] needs one element per vertex (%d)", semantic,
            mesh, primitive, count);
    else if (key != NULL)
        snwTree_SetInt(&writer->tree, attributes, key, accessor);
}

void snwGltfWriter_SetVertexIds(snwGltfWriter* writer, int mesh, int primitive, const int* ids, int count)
{
    if (snwGltfWriter_Failed(writer))
        return;
    float* numbers = snwAllocArray(writer->context, (size_t)count, sizeof *numbers);
    if (numbers == NULL)
    {
        snwGltfWriter_FailMemory(writer);
        return;
    }

    // As floats: attributes of integers have no such range.
    for (int i = 0; i < count; ++i)
    {
        numbers[i] = (float)ids[i];
        if (ids[i] < 0 || ids[i] > 1 << 24)
            snwGltfWriter_Fail(writer, NULL, "vertex number %d does not fit: floats count to 2^24", ids[i]);
    }

    snwGltfData data = {
        .values = numbers, .count = count, .type = snw_gltfScalar, .component = snw_gltfFloat, .use = snw_gltfVertices};
    snwGltfWriter_SetAttribute(writer, mesh, primitive, "_SNW_VERTEX", snwGltfWriter_AddAccessor(writer, &data));
    snwFree(writer->context, numbers);
}

// ---------------------------------------------------------------------------------------------------------------------
// Materials and pictures

snwGltfMaterialDef snwDefaultGltfMaterialDef(void)
{
    return (snwGltfMaterialDef){.name = "", .color = {1, 1, 1, 1}, .image = -1, .roughness = 0.7};
}

static int AddTexture(snwGltfWriter* writer, int image)
{
    if (snwGltfWriter_Item(writer, "images", image) == NULL)
        return -1;
    snwValue* texture = snwTree_NewObject(&writer->tree);
    snwTree_SetInt(&writer->tree, texture, "source", image);
    return snwGltfWriter_AddItem(writer, "textures", texture);
}

int snwGltfWriter_AddMaterial(snwGltfWriter* writer, const snwGltfMaterialDef* def)
{
    snwTree* tree = &writer->tree;
    if (snwGltfWriter_Failed(writer))
        return -1;
    snwValue* material = snwTree_NewObject(tree);
    if (def->name[0] != 0)
        snwTree_SetText(tree, material, "name", def->name);

    // Base colour, as a factor and perhaps a picture; no metal.
    snwValue* surface = snwTree_Object(tree, material, "pbrMetallicRoughness");
    snwValue* color = snwTree_List(tree, surface, "baseColorFactor");
    for (int i = 0; i < 4; ++i)
        snwTree_AppendReal(tree, color, fmin(fmax((double)def->color[i], 0.0), 1.0));
    if (def->image >= 0)
        snwTree_SetInt(
            tree, snwTree_Object(tree, surface, "baseColorTexture"), "index", AddTexture(writer, def->image));
    snwTree_SetInt(tree, surface, "metallicFactor", 0);
    snwTree_SetReal(tree, surface, "roughnessFactor", fmin(fmax(def->roughness, 0.0), 1.0));

    if (def->doubleSided)
        snwTree_Set(tree, material, "doubleSided", snwTree_NewBool(tree, true));

    return snwGltfWriter_AddItem(writer, "materials", material);
}

int snwGltfWriter_AddImage(snwGltfWriter* writer, const char* name, const void* png, size_t size)
{
    int view = snwGltfWriter_AddView(writer, png, size);
    if (view < 0)
        return -1;
    snwValue* image = snwTree_NewObject(&writer->tree);
    if (name[0] != 0)
        snwTree_SetText(&writer->tree, image, "name", name);
    snwTree_SetText(&writer->tree, image, "mimeType", "image/png");
    snwTree_SetInt(&writer->tree, image, "bufferView", view);
    return snwGltfWriter_AddItem(writer, "images", image);
}

// ---------------------------------------------------------------------------------------------------------------------
// A mesh of an asset

typedef struct Making
{
    snwGltfWriter* writer;
    const snwAssetMesh* mesh;
    const snwAssetPart* part;
    snwValue* attributes;
    int influences;
    bool smooth;
    void* room; // of one attribute; enough for 4 floats per vertex, or the indices of the part
} Making;

static void AddAttribute(Making* m, const char* key, const void* values, snwGltfType type, bool bounds)
{
    snwGltfData data = {.values = values,
        .count = m->part->vertexCount,
        .type = type,
        .component = snw_gltfFloat,
        .bounds = bounds,
        .use = snw_gltfVertices};
    int accessor = snwGltfWriter_AddAccessor(m->writer, &data);
    snwTree_SetInt(&m->writer->tree, m->attributes, key, accessor);
}

static void AddPositions(Making* m)
{
    float* p = m->room;
    for (int i = 0; i < m->part->vertexCount; ++i)
    {
        snwVec3 x = m->mesh->positions[m->part->firstVertex + i];
        p[3 * i] = (float)x.x;
        p[3 * i + 1] = (float)x.y;
        p[3 * i + 2] = (float)x.z;
    }
    AddAttribute(m, "POSITION", p, snw_gltfVec3, true);
}

// Unit, as the specification wants them; one that has no direction points up.
static void AddNormals(Making* m)
{
    float* n = m->room;
    for (int i = 0; i < m->part->vertexCount; ++i)
    {
        const float* from = m->mesh->normals[m->part->firstVertex + i];
        double x = from[0], y = from[1], z = from[2], length = sqrt(x * x + y * y + z * z);
        bool sound = length > 0.0 && isfinite(length);
        n[3 * i] = sound ? (float)(x / length) : 0.0f;
        n[3 * i + 1] = sound ? (float)(y / length) : 1.0f;
        n[3 * i + 2] = sound ? (float)(z / length) : 0.0f;
    }
    AddAttribute(m, "NORMAL", n, snw_gltfVec3, false);
}

static void AddMaskColors(Making* m)
{
    float* c = m->room;
    for (int i = 0; i < 4 * m->part->vertexCount; ++i)
        c[i] = fminf(fmaxf(m->mesh->colors[m->part->firstVertex + i / 4][i % 4], 0.0f), 1.0f);
    AddAttribute(m, "COLOR_0", c, snw_gltfVec4, false);
}

// 65535 means "restart" to 16-bit indices.
static int AddIndices(Making* m)
{
    const snwAssetPart* part = m->part;
    bool small = part->vertexCount <= 65535;
    uint32_t* wide = m->room;
    uint16_t* narrow = m->room;
    const int* corners = m->mesh->triangles[part->firstTriangle];

    // Indices count from the part's first vertex.
    for (int i = 0; i < 3 * part->triangleCount; ++i)
    {
        int vertex = corners[i] - part->firstVertex;
        if (vertex < 0 || vertex >= part->vertexCount)
            return snwGltfWriter_Fail(m->writer, NULL, "a triangle of part '%s' leaves its vertices", part->name);
        if (small)
            narrow[i] = (uint16_t)vertex;
        else
            wide[i] = (uint32_t)vertex;
    }

    // Sixteen bits where they are enough.
    snwGltfData data = {.values = m->room,
        .count = 3 * part->triangleCount,
        .type = snw_gltfScalar,
        .component = small ? snw_gltfUshort : snw_gltfUint,
        .use = snw_gltfIndices};

    return snwGltfWriter_AddAccessor(m->writer, &data);
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights

typedef struct Influences
{
    int bones[snw_mostGltfInfluences];
    double values[snw_mostGltfInfluences];
    int count;
} Influences;

// The largest ones, largest first; of equal ones the bone with the lower number. Smooth: all are less by the largest
// one that is left out; where two change places both are zero, and no crease is seen.
static Influences LargestInfluences(const snwAssetWeights* weights, int vertex, int limit, bool smooth)
{
    Influences best = {.count = 0};
    double left = 0;

    // Insertion into at most `limit` places; `left` is the largest that found none.
    for (int e = weights->starts[vertex]; e < weights->starts[vertex + 1]; ++e)
    {
        double value = weights->values[e];
        int at = best.count;
        while (at > 0 && value > best.values[at - 1])
            at--;
        if (!(value > 0.0))
            continue;
        if (best.count == limit)
            left = fmax(left, fmin(value, best.values[limit - 1]));
        if (at >= limit)
            continue;
        best.count = best.count < limit ? best.count + 1 : limit;
        for (int k = best.count - 1; k > at; --k)
        {
            best.values[k] = best.values[k - 1];
            best.bones[k] = best.bones[k - 1];
        }

        best.values[at] = value;
        best.bones[at] = weights->bones[e];
    }

    // Taking `left` off keeps weights continuous: who drops out has nothing left to lose.
    bool some = smooth && best.count > 0 && best.values[0] > left; // is left then
    for (int k = 0; k < best.count && some; ++k)
        best.values[k] -= left;
    return best;
}

// As floats that sum to one: the largest takes what rounding leaves.
static void RoundInfluences(Influences* best)
{
    double sum = 0.0, rest = 1.0;
    for (int k = 0; k < best->count; ++k)
        sum += best->values[k];
    for (int k = best->count - 1; k > 0; --k)
    {
        best->values[k] = snwRounded(best->values[k] / sum);
        rest -= best->values[k];
    }
    if (best->count == 0) // bound to the first bone: nothing else is valid
        *best = (Influences){.count = 1};
    best->values[0] = rest;
}

static const char* const s_jointSets[snw_mostGltfInfluences / 4] = {"JOINTS_0", "JOINTS_1", "JOINTS_2", "JOINTS_3"};
static const char* const s_weightSets[snw_mostGltfInfluences / 4] = {
    "WEIGHTS_0", "WEIGHTS_1", "WEIGHTS_2", "WEIGHTS_3"};

// Four influences of each vertex: set 0 has the largest ones.
static void AddWeightSet(Making* m, int set, uint16_t (*bones)[4])
{
    float(*values)[4] = m->room;

    // Influences are ordered, so each set of four follows the one before.
    for (int i = 0; i < m->part->vertexCount; ++i)
    {
        Influences best = LargestInfluences(&m->mesh->weights, m->part->firstVertex + i, m->influences, m->smooth);
        RoundInfluences(&best);
        for (int k = 0; k < 4; ++k)
        {
            bool used = 4 * set + k < best.count;
            bones[i][k] = (uint16_t)(used ? best.bones[4 * set + k] : 0);
            values[i][k] = used ? (float)best.values[4 * set + k] : 0.0f;
        }
    }

    snwGltfData joints = {.values = bones,
        .count = m->part->vertexCount,
        .type = snw_gltfVec4,
        .component = snw_gltfUshort,
        .use = snw_gltfVertices};
    snwTree_SetInt(&m->writer->tree, m->attributes, s_jointSets[set], snwGltfWriter_AddAccessor(m->writer, &joints));
    AddAttribute(m, s_weightSets[set], values, snw_gltfVec4, false);
}

static void AddInfluences(Making* m)
{
    uint16_t(*bones)[4] = snwAllocArray(m->writer->context, (size_t)m->part->vertexCount, sizeof *bones);
    if (bones == NULL)
    {
        snwGltfWriter_FailMemory(m->writer);
        return;
    }
    for (int set = 0; 4 * set < m->influences; ++set)
        AddWeightSet(m, set, bones);
    snwFree(m->writer->context, bones);
}

// ---------------------------------------------------------------------------------------------------------------------

static bool MakeMeshRoom(Making* m)
{
    size_t indices = 3 * (size_t)m->part->triangleCount * sizeof(uint32_t);
    size_t attribute = 4 * (size_t)m->part->vertexCount * sizeof(float);
    m->room = snwAlloc(m->writer->context, indices > attribute ? indices : attribute);
    if (m->room == NULL)
        snwGltfWriter_FailMemory(m->writer);
    return m->room != NULL;
}

static void FillPrimitive(Making* m, snwValue* primitive)
{
    const snwAssetMesh* mesh = m->mesh;
    m->attributes = snwTree_Object(&m->writer->tree, primitive, "attributes");
    AddPositions(m);
    if (mesh->normals != NULL)
        AddNormals(m);
    if (mesh->texcoords != NULL)
        AddAttribute(m, "TEXCOORD_0", mesh->texcoords[m->part->firstVertex], snw_gltfVec2, false);
    if (mesh->colors != NULL)
        AddMaskColors(m);
    if (mesh->weights.starts != NULL)
        AddInfluences(m);
    snwTree_SetInt(&m->writer->tree, primitive, "indices", AddIndices(m));
}

static snwValue* MakePrimitive(snwGltfWriter* writer, const snwGltfMeshDef* def, int part)
{
    Making m = {.writer = writer,
        .mesh = def->mesh,
        .part = &def->mesh->parts[part],
        .influences = def->influences,
        .smooth = def->smooth};
    snwValue* primitive = snwTree_NewObject(&writer->tree);
    if (primitive == NULL || !MakeMeshRoom(&m))
        return NULL;
    FillPrimitive(&m, primitive);
    if (def->materials != NULL && def->materials[part] >= 0)
        snwTree_SetInt(&writer->tree, primitive, "material", def->materials[part]);
    snwFree(writer->context, m.room);
    return primitive;
}

int snwGltfWriter_AddMesh(snwGltfWriter* writer, const snwGltfMeshDef* def)
{
    const snwAssetMesh* from = def->mesh;
    if (snwGltfWriter_Failed(writer))
        return -1;

    // Limits of the format and of ours.
    if (def->influences < 1 || def->influences > snw_mostGltfInfluences || from->weights.boneCount > 65536)
        return snwGltfWriter_Fail(
            writer, NULL, "1 to %d influences of at most 65536 bones can be written", (int)snw_mostGltfInfluences);
    snwValue* mesh = snwTree_NewObject(&writer->tree);
    if (from->name != NULL && from->name[0] != 0)
        snwTree_SetText(&writer->tree, mesh, "name", from->name);
    snwValue* primitives = snwTree_List(&writer->tree, mesh, "primitives");
    snwArray(snwAssetPart) parts = {0};

    // A primitive for every part that has triangles; morphs go the same way.
    for (int i = 0; i < from->partCount && !snwGltfWriter_Failed(writer); ++i)
    {
        if (from->parts[i].triangleCount == 0)
            continue;
        snwTree_Append(&writer->tree, primitives, MakePrimitive(writer, def, i));
        if (!snwArray_Push(writer->context, &parts, from->parts[i]))
            snwGltfWriter_FailMemory(writer);
    }

    if (snwValue_Count(primitives) == 0)
        snwGltfWriter_Fail(writer, NULL, "a mesh without triangles");
    int index = snwGltfWriter_Failed(writer) ? -1 : snwGltfWriter_AddItem(writer, "meshes", mesh);
    snwGltfMorphDef morphs = {index, from->morphs, from->morphCount, parts.data, snw_gltfFloats};
    if (index >= 0 && from->morphCount > 0)
        snwGltfWriter_AddMorphs(writer, &morphs);
    snwArray_Free(writer->context, &parts);

    return snwGltfWriter_Failed(writer) ? -1 : index;
}
