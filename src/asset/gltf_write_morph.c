// Morph targets for a mesh of the document. The targets themselves are the smaller half of the work: whoever counts
// them - weights of the mesh, of nodes, and the keys of every animation that drives the mesh - has to learn of the new
// ones, or the document becomes invalid.

#include "asset/gltf_write_parts.h"

#include <math.h>
#include <stdio.h>

typedef struct Morphing
{
    snwGltfWriter* writer;
    const snwGltfMorphDef* def;
    snwValue* mesh;
    int before; // targets that the mesh had
} Morphing;

// ---------------------------------------------------------------------------------------------------------------------
// Targets

static int AddOffsets(snwGltfWriter* writer, const float (*values)[3], int count, bool bounds)
{
    snwGltfData data = {.values = values,
        .count = count,
        .type = snw_gltfVec3,
        .component = snw_gltfFloat,
        .bounds = bounds,
        .use = snw_gltfVertices};
    return snwGltfWriter_AddAccessor(writer, &data);
}

// An accessor without a view has zeros everywhere.
static int AddStillness(snwGltfWriter* writer, int count)
{
    snwTree* tree = &writer->tree;
    snwValue* accessor = snwTree_NewObject(tree);
    snwTree_SetInt(tree, accessor, "componentType", snw_gltfFloat);
    snwTree_SetInt(tree, accessor, "count", count);
    snwTree_SetText(tree, accessor, "type", "VEC3");
    snwValue* least = snwTree_List(tree, accessor, "min");
    snwValue* most = snwTree_List(tree, accessor, "max");
    for (int k = 0; k < 3; ++k)
    {
        snwTree_AppendInt(tree, least, 0);
        snwTree_AppendInt(tree, most, 0);
    }
    return snwGltfWriter_AddItem(writer, "accessors", accessor);
}

// first: of the primitive's vertices in the morphs' arrays; -1: it keeps still.
static void AddTargets(Morphing* m, int primitive, int first, int count)
{
    snwTree* tree = &m->writer->tree;
    snwValue* value = snwValue_GetAt(m->mesh, "primitives", primitive);
    snwValue* targets = snwTree_List(tree, value, "targets");
    bool normals = snwValue_Get(snwValue_Get(value, "attributes"), "NORMAL") != NULL;
    for (int i = 0; i < m->def->morphCount && !snwGltfWriter_Failed(m->writer); ++i)
    {
        const snwAssetMorph* morph = &m->def->morphs[i];
        snwValue* target = snwTree_NewObject(tree);
        snwTree_SetInt(tree, target, "POSITION",
            first < 0 ? AddStillness(m->writer, count) : AddOffsets(m->writer, morph->positions + first, count, true));
        if (first >= 0 && normals && morph->normals != NULL)
            snwTree_SetInt(tree, target, "NORMAL", AddOffsets(m->writer, morph->normals + first, count, false));
        snwTree_Append(tree, targets, target);
    }
}

static void AddAllTargets(Morphing* m)
{
    int next = 0, primitives = snwValue_Count(snwValue_Get(m->mesh, "primitives"));
    for (int i = 0; i < primitives && !snwGltfWriter_Failed(m->writer); ++i)
    {
        int count = snwGltfWriter_VertexCount(m->writer, m->def->mesh, i), first = next;
        const snwAssetPart* part = m->def->parts == NULL ? NULL : &m->def->parts[i];
        if (part != NULL)
            first = part->vertexCount == 0 ? -1 : part->firstVertex;
        if (count == 0 || (part != NULL && part->vertexCount != 0 && part->vertexCount != count))
            snwGltfWriter_Fail(m->writer, NULL, "meshes[%d].primitives[%d] has %d vertices, not %d", m->def->mesh, i,
                count, part == NULL ? 0 : part->vertexCount);
        else
            AddTargets(m, i, first, count);
        next += count;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights and names

static void AppendWeights(Morphing* m, snwValue* weights)
{
    for (int i = 0; i < m->def->morphCount; ++i)
        snwTree_AppendReal(&m->writer->tree, weights, m->def->morphs[i].weight);
}

static void FillUp(snwTree* tree, snwValue* list, int count)
{
    while (list != NULL && list->count < count && !tree->arena.failed)
        snwTree_AppendInt(tree, list, 0);
}

static void ExtendWeights(Morphing* m)
{
    snwTree* tree = &m->writer->tree;
    snwValue* weights = snwTree_List(tree, m->mesh, "weights");
    FillUp(tree, weights, m->before);
    AppendWeights(m, weights);
    const snwValue* nodes = snwValue_Get(m->writer->root, "nodes");
    for (int i = 0; i < snwValue_Count(nodes); ++i)
    {
        snwValue* own = snwValue_Get(nodes->items[i], "weights");
        if (own == NULL || own->kind != snw_valueList || snwValue_GetInt(nodes->items[i], "mesh", -1) != m->def->mesh)
            continue;
        FillUp(tree, own, m->before);
        AppendWeights(m, own);
    }
}

// extras and targetNames are a custom, not the specification: where they are something else they stay it.
static void ExtendNames(Morphing* m)
{
    snwTree* tree = &m->writer->tree;
    snwValue* names = snwTree_List(tree, snwTree_Object(tree, m->mesh, "extras"), "targetNames");
    for (int i = snwValue_Count(names); i < m->before; ++i)
    {
        char name[32];
        snprintf(name, sizeof name, "target_%d", i);
        snwTree_Append(tree, names, snwTree_NewText(tree, name));
    }
    for (int i = 0; i < m->def->morphCount; ++i)
        snwTree_Append(tree, names, snwTree_NewText(tree, m->def->morphs[i].name));
}

// ---------------------------------------------------------------------------------------------------------------------
// Animations that drive the mesh

static bool Drives(const Morphing* m, const snwValue* channel)
{
    const snwValue* target = snwValue_Get(channel, "target");
    const snwValue* node = snwValue_GetAt(m->writer->root, "nodes", snwValue_GetInt(target, "node", -1));
    const char* path = snwValue_Text(snwValue_Get(target, "path"), "");
    return path[0] == 'w' && snwValue_GetInt(node, "mesh", -1) == m->def->mesh;
}

// Rows of `before` numbers get the new targets': rest weights, or 0 where the row is a tangent.
static int WidenOutput(Morphing* m, const snwValue* sampler)
{
    snwGltfWriter* writer = m->writer;
    int output = (int)snwValue_GetInt(sampler, "output", -1), added = m->def->morphCount, width = m->before + added;
    bool cubic = snwValue_Text(snwValue_Get(sampler, "interpolation"), "")[0] == 'C';
    snwGltfShape shape = snwGltfWriter_Shape(writer, output);
    if (shape.width != 1 || shape.count % m->before != 0 || shape.count > INT32_MAX / width)
        return snwGltfWriter_Fail(writer, NULL, "accessors[%d] has no weights for %d targets", output, m->before);
    int rows = shape.count / m->before;
    double* old = snwGltfWriter_Read(writer, output);
    double* wide = snwAllocArray(writer->context, (size_t)rows, (size_t)width * sizeof *wide);
    for (int row = 0; row < rows && old != NULL && wide != NULL; ++row)
        for (int k = 0; k < width; ++k)
        {
            bool tangent = cubic && row % 3 != 1;
            double fresh = k < m->before || tangent ? 0.0 : m->def->morphs[k - m->before].weight;
            wide[(size_t)row * (size_t)width + (size_t)k] = k < m->before
                                                                ? old[(size_t)row * (size_t)m->before + (size_t)k]
                                                                : fresh;
        }
    if (wide == NULL)
        snwGltfWriter_FailMemory(writer);
    int accessor = snwGltfWriter_Failed(writer)
                       ? -1
                       : snwGltfWriter_AddFloats(writer, wide, rows * width, snw_gltfScalar, false);
    snwFree(writer->context, wide);
    snwFree(writer->context, old);
    return accessor;
}

// The sampler gets a wider output; if a channel of another mesh uses it as well, ours get a copy of it.
static void WidenSampler(Morphing* m, snwValue* animation, int index, int users, int ours)
{
    snwTree* tree = &m->writer->tree;
    snwValue* samplers = snwValue_Get(animation, "samplers");
    snwValue* sampler = snwValue_At(samplers, index);
    int output = WidenOutput(m, sampler);
    if (users == ours)
    {
        snwTree_SetInt(tree, sampler, "output", output);
        return;
    }
    snwValue* copy = snwTree_NewObject(tree);
    snwTree_SetInt(tree, copy, "input", snwValue_GetInt(sampler, "input", -1));
    snwTree_SetText(tree, copy, "interpolation", snwValue_Text(snwValue_Get(sampler, "interpolation"), "LINEAR"));
    snwTree_SetInt(tree, copy, "output", output);
    snwTree_Append(tree, samplers, copy);
    const snwValue* channels = snwValue_Get(animation, "channels");
    for (int i = 0; i < snwValue_Count(channels); ++i)
        if (snwValue_GetInt(channels->items[i], "sampler", -1) == index && Drives(m, channels->items[i]))
            snwTree_SetInt(tree, channels->items[i], "sampler", snwValue_Count(samplers) - 1);
}

static void WidenAnimation(Morphing* m, snwValue* animation)
{
    const snwValue* channels = snwValue_Get(animation, "channels");
    int count = snwValue_Count(snwValue_Get(animation, "samplers"));
    int* users = count == 0 ? NULL : snwAllocArray(m->writer->context, (size_t)count, 2 * sizeof *users);
    if (users == NULL && count > 0)
        snwGltfWriter_FailMemory(m->writer);
    for (int i = 0; i < snwValue_Count(channels) && users != NULL; ++i)
    {
        int64_t sampler = snwValue_GetInt(channels->items[i], "sampler", -1);
        if (sampler < 0 || sampler >= count)
            continue;
        users[2 * sampler] += 1;
        users[2 * sampler + 1] += Drives(m, channels->items[i]);
    }
    for (int i = 0; i < count && users != NULL && !snwGltfWriter_Failed(m->writer); ++i)
        if (users[2 * i + 1] > 0)
            WidenSampler(m, animation, i, users[2 * i], users[2 * i + 1]);
    snwFree(m->writer->context, users);
}

// ---------------------------------------------------------------------------------------------------------------------

static int CountTargets(const snwValue* mesh)
{
    return snwValue_Count(snwValue_Get(snwValue_GetAt(mesh, "primitives", 0), "targets"));
}

int snwGltfWriter_AddMorphs(snwGltfWriter* writer, const snwGltfMorphDef* def)
{
    Morphing m = {.writer = writer, .def = def};
    m.mesh = snwGltfWriter_Failed(writer) ? NULL : snwGltfWriter_Item(writer, "meshes", def->mesh);
    if (m.mesh == NULL)
        return -1;
    m.before = CountTargets(m.mesh);
    const snwValue* primitives = snwValue_Get(m.mesh, "primitives");
    for (int i = 0; i < snwValue_Count(primitives); ++i)
        if (snwValue_Count(snwValue_Get(primitives->items[i], "targets")) != m.before)
            return snwGltfWriter_Fail(writer, NULL, "primitives of meshes[%d] differ in their targets", def->mesh);
    for (int i = 0; i < def->morphCount; ++i)
        if (!isfinite(def->morphs[i].weight) || def->morphs[i].positions == NULL)
            return snwGltfWriter_Fail(writer, NULL, "morph %d has no offsets, or a weight that is not finite", i);
    AddAllTargets(&m);
    ExtendWeights(&m);
    ExtendNames(&m);
    const snwValue* animations = snwValue_Get(writer->root, "animations");
    for (int i = 0; i < snwValue_Count(animations) && m.before > 0 && !snwGltfWriter_Failed(writer); ++i)
        WidenAnimation(&m, animations->items[i]);
    return snwGltfWriter_Failed(writer) ? -1 : m.before;
}
