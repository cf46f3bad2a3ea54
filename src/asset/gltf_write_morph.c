// Morph targets for a mesh of the document. The targets themselves are the smaller half of the work: whoever counts
// them - weights of the mesh, of nodes, and the keys of every animation that drives the mesh - has to learn of the new
// ones, or the document becomes invalid.

#include "asset/gltf_write_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Morphing
{
    snwGltfWriter* writer;
    const snwGltfMorphDef* def;
    snwValue* mesh;
    int before; // targets that the mesh had
    // of sparse targets
    snwWriter indices, positions, normals; // a view each, for all targets
    int firstView;                         // of the three
    snwGltfComponent index;
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

// ---------------------------------------------------------------------------------------------------------------------
// Sparse targets

static bool IsStillRow(const float (*values)[3], int row)
{
    return values == NULL || (values[row][0] == 0 && values[row][1] == 0 && values[row][2] == 0);
}

static void PutIndex(Morphing* m, int row)
{
    uint16_t narrow = (uint16_t)row;
    uint32_t wide = (uint32_t)row;
    snwWrite(&m->indices, m->index == snw_gltfUint ? (const void*)&wide : (const void*)&narrow,
        (size_t)snwGltfComponent_Size(m->index));
}

// As whole steps of the number 1, or as a float.
static double PutMorphNumber(snwWriter* out, snwGltfComponent component, double steps, float value)
{
    if (component == snw_gltfFloat)
        return snwWrite(out, &value, sizeof value), (double)value;
    double whole = round((double)value * steps);
    if (component == snw_gltfShort)
        snwWrite(out, &(int16_t){(int16_t)whole}, sizeof(int16_t));
    else
        snwWrite(out, &(int8_t){(int8_t)whole}, sizeof(int8_t));
    return whole;
}

// The rows that are listed from `start` of the indices on.
static int AddSparse(Morphing* m, const float (*values)[3], size_t start, int count, bool positions)
{
    // Floats, shorts of a common scale, or bytes for normals, which count in 127ths.
    snwTree* tree = &m->writer->tree;
    snwGltfNumbers numbers = m->def->numbers;
    snwGltfComponent component = !positions ? snw_gltfByte : numbers == snw_gltfSparse ? snw_gltfFloat : snw_gltfShort;
    double steps = !positions ? 127 : numbers == snw_gltfShorts ? 32767 : 1, least[3], most[3];
    snwWriter* out = positions ? &m->positions : &m->normals;
    size_t size = (size_t)snwGltfComponent_Size(m->index), offset = out->size;
    size_t rows = m->indices.failed ? 0 : (m->indices.size - start) / size;

    for (int k = 0; k < 3; ++k) // rows that are left out are zero
    {
        least[k] = rows < (size_t)count ? 0 : INFINITY;
        most[k] = rows < (size_t)count ? 0 : -INFINITY;
    }

    // Only rows that move are written; bounds are those of what is read back.
    for (size_t i = 0; i < rows; ++i)
    {
        uint32_t row = 0;
        memcpy(&row, m->indices.data + start + i * size, size);
        for (int k = 0; k < 3; ++k)
        {
            double number = PutMorphNumber(out, component, steps, values[row][k]);
            least[k] = fmin(least[k], number);
            most[k] = fmax(most[k], number);
        }
    }

    // The accessor has no view: its elements are zero where nothing sparse says otherwise.
    snwValue* accessor = snwTree_NewObject(tree);
    snwTree_SetInt(tree, accessor, "componentType", component);
    snwTree_SetInt(tree, accessor, "count", count);
    snwTree_SetText(tree, accessor, "type", "VEC3");
    if (steps > 1)
        snwTree_Set(tree, accessor, "normalized", snwTree_NewBool(tree, true));
    for (int k = 0; k < 3 && positions; ++k)
    {
        snwTree_AppendReal(tree, snwTree_List(tree, accessor, "min"), least[k]);
        snwTree_AppendReal(tree, snwTree_List(tree, accessor, "max"), most[k]);
    }

    // Where the numbers of rows and their values are in the shared views.
    snwValue* sparse = snwTree_Object(tree, accessor, "sparse");
    snwTree_SetInt(tree, sparse, "count", (int64_t)rows);
    snwValue* indices = snwTree_Object(tree, sparse, "indices");
    snwTree_SetInt(tree, indices, "bufferView", m->firstView);
    snwTree_SetInt(tree, indices, "byteOffset", (int64_t)start);
    snwTree_SetInt(tree, indices, "componentType", m->index);
    snwValue* places = snwTree_Object(tree, sparse, "values");
    snwTree_SetInt(tree, places, "bufferView", m->firstView + (positions ? 1 : 2));
    snwTree_SetInt(tree, places, "byteOffset", (int64_t)offset);

    return snwGltfWriter_AddItem(m->writer, "accessors", accessor);
}

// All rows, each padded to four numbers.
static int AddDense(Morphing* m, const float (*values)[3], int count, bool positions)
{
    snwGltfComponent component = positions ? snw_gltfShort : snw_gltfByte;
    snwTree* tree = &m->writer->tree;
    snwWriter* out = positions ? &m->positions : &m->normals;
    size_t offset = out->size;
    double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};

    // Four numbers a row, since rows have to start at multiples of four bytes.
    for (int i = 0; i < count; ++i)
    {
        for (int k = 0; k < 3; ++k)
        {
            double number = PutMorphNumber(out, component, positions ? 32767 : 127, values[i][k]);
            least[k] = fmin(least[k], number);
            most[k] = fmax(most[k], number);
        }
        PutMorphNumber(out, component, 1, 0);
    }

    snwValue* accessor = snwTree_NewObject(tree);
    snwTree_SetInt(tree, accessor, "bufferView", m->firstView + (positions ? 0 : 1));
    snwTree_SetInt(tree, accessor, "byteOffset", (int64_t)offset);
    snwTree_SetInt(tree, accessor, "componentType", component);
    snwTree_SetInt(tree, accessor, "count", count);
    snwTree_SetText(tree, accessor, "type", "VEC3");
    snwTree_Set(tree, accessor, "normalized", snwTree_NewBool(tree, true));
    for (int k = 0; k < 3 && positions; ++k)
    {
        snwTree_AppendReal(tree, snwTree_List(tree, accessor, "min"), least[k]);
        snwTree_AppendReal(tree, snwTree_List(tree, accessor, "max"), most[k]);
    }

    return snwGltfWriter_AddItem(m->writer, "accessors", accessor);
}

// Positions and normals have one list of vertices.
static void AddSmallTarget(Morphing* m, snwValue* target, const snwAssetMorph* morph, int first, int count)
{
    snwTree* tree = &m->writer->tree;
    const float(*positions)[3] = morph->positions + first;
    const float(*normals)[3] = morph->normals == NULL ? NULL : morph->normals + first;
    size_t start = m->indices.size;

    if (m->def->numbers == snw_gltfDense)
    {
        snwTree_SetInt(tree, target, "POSITION", AddDense(m, positions, count, true));
        if (normals != NULL)
            snwTree_SetInt(tree, target, "NORMAL", AddDense(m, normals, count, false));
        return;
    }

    // Rows that move in either of the two.
    for (int i = 0; i < count; ++i)
        if (!IsStillRow(positions, i) || !IsStillRow(normals, i))
            PutIndex(m, i);
    if (m->indices.size == start)
        PutIndex(m, 0); // there has to be one
    snwTree_SetInt(tree, target, "POSITION", AddSparse(m, positions, start, count, true));
    if (normals != NULL)
        snwTree_SetInt(tree, target, "NORMAL", AddSparse(m, normals, start, count, false));
}

static void BeginSparse(Morphing* m)
{
    int most = 0, primitives = snwValue_Count(snwValue_Get(m->mesh, "primitives"));
    for (int i = 0; i < primitives; ++i)
    {
        int count = snwGltfWriter_VertexCount(m->writer, m->def->mesh, i);
        most = count > most ? count : most;
    }
    m->index = most > UINT16_MAX ? snw_gltfUint : snw_gltfUshort;
    m->firstView = snwGltfWriter_Count(m->writer, "bufferViews");
    m->indices.context = m->positions.context = m->normals.context = m->writer->context;
    snwGltfWriter_NeedExtension(m->writer, "KHR_mesh_quantization");
}

static void EndSparse(Morphing* m)
{
    snwWriter* parts[] = {&m->indices, &m->positions, &m->normals};
    for (int i = 0; i < 3; ++i)
    {
        if (parts[i]->failed)
            snwGltfWriter_FailMemory(m->writer);
        if (parts[i]->size > 0 && m->def->numbers == snw_gltfDense)
            snwGltfWriter_AddRows(m->writer, parts[i]->data, parts[i]->size, i == 1 ? 8 : 4);
        else if (parts[i]->size > 0)
            snwGltfWriter_AddView(m->writer, parts[i]->data, parts[i]->size);
        snwFree(m->writer->context, parts[i]->data);
    }
}

// Primitives that share their vertices share their targets: the one before with the same vertices, -1: none.
static int FindTwin(const Morphing* m, int primitive, bool normals)
{
    const snwAssetPart* parts = m->def->parts;
    for (int i = 0; i < primitive && parts != NULL; ++i)
    {
        const snwValue* other = snwValue_Get(snwValue_GetAt(m->mesh, "primitives", i), "attributes");
        if (parts[i].firstVertex == parts[primitive].firstVertex && parts[i].vertexCount > 0 &&
            parts[i].vertexCount == parts[primitive].vertexCount && (snwValue_Get(other, "NORMAL") != NULL) == normals)
            return i;
    }
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// All of them

// first: of the primitive's vertices in the morphs' arrays; -1: it keeps still.
static void AddPrimitiveTargets(Morphing* m, int primitive, int first, int count)
{
    snwTree* tree = &m->writer->tree;
    snwValue* value = snwValue_GetAt(m->mesh, "primitives", primitive);
    snwGltfWriter_LoosenDraco(m->writer, value, NULL);
    snwValue* targets = snwTree_List(tree, value, "targets");
    bool normals = snwValue_Get(snwValue_Get(value, "attributes"), "NORMAL") != NULL;
    int twin = FindTwin(m, primitive, normals);

    // A primitive that shares vertices with an earlier one shares its targets as well.
    const snwValue* others = snwValue_Get(snwValue_GetAt(m->mesh, "primitives", twin), "targets");

    // Target by target: as the twin has it, still, small or in floats.
    for (int i = 0; i < m->def->morphCount && !snwGltfWriter_Failed(m->writer); ++i)
    {
        snwAssetMorph morph = m->def->morphs[i];
        snwValue* target = snwTree_NewObject(tree);
        if (!normals)
            morph.normals = NULL;
        if (twin >= 0)
            target = snwValue_At(others, m->before + i);
        else if (first < 0)
            snwTree_SetInt(tree, target, "POSITION", AddStillness(m->writer, count));
        else if (m->def->numbers != snw_gltfFloats)
            AddSmallTarget(m, target, &morph, first, count);
        else
        {
            snwTree_SetInt(tree, target, "POSITION", AddOffsets(m->writer, morph.positions + first, count, true));
            if (morph.normals != NULL)
                snwTree_SetInt(tree, target, "NORMAL", AddOffsets(m->writer, morph.normals + first, count, false));
        }

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
            AddPrimitiveTargets(m, i, first, count);
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

    // Rows of weights must come out even.
    if (shape.width != 1 || shape.count % m->before != 0 || shape.count > INT32_MAX / width)
        return snwGltfWriter_Fail(writer, NULL, "accessors[%d] has no weights for %d targets", output, m->before);
    int rows = shape.count / m->before;
    double* old = snwGltfWriter_Read(writer, output);
    double* wide = snwAllocArray(writer->context, (size_t)rows, (size_t)width * sizeof *wide);

    // Old numbers stay where they are; new ones have their rest weight, tangents nothing.
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
    snwGltfWriter_Replace(writer, output);
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

    // The others keep the old sampler.
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

    // Who uses each sampler, and who of them drives this mesh.
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

    // Targets before: all primitives must agree.
    const snwValue* primitives = snwValue_Get(m.mesh, "primitives");
    for (int i = 0; i < snwValue_Count(primitives); ++i)
        if (snwValue_Count(snwValue_Get(primitives->items[i], "targets")) != m.before)
            return snwGltfWriter_Fail(writer, NULL, "primitives of meshes[%d] differ in their targets", def->mesh);
    for (int i = 0; i < def->morphCount; ++i)
        if (!isfinite(def->morphs[i].weight) || def->morphs[i].positions == NULL)
            return snwGltfWriter_Fail(writer, NULL, "morph %d has no offsets, or a weight that is not finite", i);
    if (def->numbers != snw_gltfFloats)
        BeginSparse(&m);

    // Targets, then everything that counts them.
    AddAllTargets(&m);
    if (def->numbers != snw_gltfFloats)
        EndSparse(&m);
    ExtendWeights(&m);
    ExtendNames(&m);
    const snwValue* animations = snwValue_Get(writer->root, "animations");
    for (int i = 0; i < snwValue_Count(animations) && m.before > 0 && !snwGltfWriter_Failed(writer); ++i)
        WidenAnimation(&m, animations->items[i]);

    return snwGltfWriter_Failed(writer) ? -1 : m.before;
}

// ---------------------------------------------------------------------------------------------------------------------
// Animations that do not drive it

static bool DrivesNode(const snwValue* animation, int node)
{
    const snwValue* channels = snwValue_Get(animation, "channels");
    for (int i = 0; i < snwValue_Count(channels); ++i)
    {
        const snwValue* target = snwValue_Get(channels->items[i], "target");
        if (snwValue_GetInt(target, "node", -1) == node &&
            strcmp(snwValue_Text(snwValue_Get(target, "path"), ""), "weights") == 0)
            return true;
    }
    return false;
}

// Weights of the node at rest as an accessor; -1: its mesh has no morphs.
static int AddRest(snwGltfWriter* writer, int node)
{
    const snwValue* item = snwValue_GetAt(writer->root, "nodes", node);
    const snwValue* mesh = snwValue_GetAt(writer->root, "meshes", snwValue_GetInt(item, "mesh", -1));
    const snwValue* weights = snwValue_Get(item, "weights");
    int count = CountTargets(mesh);
    if (weights == NULL)
        weights = snwValue_Get(mesh, "weights");
    double* rest = count == 0 ? NULL : snwAllocArray(writer->context, (size_t)count, sizeof *rest);
    if (rest == NULL)
        return count == 0 ? -1 : snwGltfWriter_FailMemory(writer);
    for (int i = 0; i < count; ++i)
        rest[i] = snwValue_Real(snwValue_At(weights, i), 0);
    int accessor = snwGltfWriter_AddFloats(writer, rest, count, snw_gltfScalar, false);
    snwFree(writer->context, rest);
    return accessor;
}

// Where the animation begins: a key before that would make it longer.
static double FirstTime(const snwGltfWriter* writer, const snwValue* animation)
{
    double first = INFINITY;
    const snwValue* samplers = snwValue_Get(animation, "samplers");
    for (int i = 0; i < snwValue_Count(samplers); ++i)
    {
        int64_t input = snwValue_GetInt(samplers->items[i], "input", -1);
        const snwValue* least = snwValue_Get(snwValue_GetAt(writer->root, "accessors", input), "min");
        first = fmin(first, snwValue_Real(snwValue_At(least, 0), 0));
    }
    return isfinite(first) && first > 0 ? first : 0;
}

void snwGltfWriter_HoldMorphs(snwGltfWriter* writer, int node, int except)
{
    snwTree* tree = &writer->tree;
    const snwValue* animations = snwValue_Get(writer->root, "animations");
    int input = -1, output = -1;
    double last = -1;

    // Animations that leave the node alone would leave its new targets at their last weights: a channel holds them at
    // rest.
    for (int i = 0; i < snwValue_Count(animations) && !snwGltfWriter_Failed(writer); ++i)
    {
        snwValue* animation = animations->items[i];
        double time = FirstTime(writer, animation);
        if (i == except || DrivesNode(animation, node))
            continue;
        if (output < 0 && (output = AddRest(writer, node)) < 0)
            return;
        if (time != last)
            input = snwGltfWriter_AddFloats(writer, &time, 1, snw_gltfScalar, true);
        last = time;

        snwValue* sampler = snwTree_NewObject(tree);
        snwTree_SetInt(tree, sampler, "input", input);
        snwTree_SetInt(tree, sampler, "output", output);
        snwValue* samplers = snwTree_List(tree, animation, "samplers");
        snwTree_Append(tree, samplers, sampler);
        snwValue* channel = snwTree_NewObject(tree);
        snwTree_SetInt(tree, channel, "sampler", snwValue_Count(samplers) - 1);
        snwValue* target = snwTree_Object(tree, channel, "target");
        snwTree_SetInt(tree, target, "node", node);
        snwTree_SetText(tree, target, "path", "weights");
        snwTree_Append(tree, snwTree_List(tree, animation, "channels"), channel);
    }
}
