// A glTF document for a body that has none of its own (a prepared file, a built-in character): its surfaces,
// materials, skeleton and motion, written and read back, so that everything behind it works on a document.

#include "bake/document.h"

#include "asset/gltf_write.h"
#include "base/context.h"
#include "rig/skeleton.h"

#include <math.h>
#include <string.h>

typedef struct Maker
{
    snwContext* context;
    snwBakeFrames* frames;
    snwBakeInfo info;
    const snwCharacterDef* character;
    snwArena arena;
    snwGltfWriter* writer;
    const snwWeights* weights; // of the body; NULL: no bones
    int* nodes;                // per bone
    int skin;
    int* images; // per texture, -1: not yet
    int surfaceCount;
    snwReelSurface* surfaces;
    snwMessage* message;
} Maker;

// ---------------------------------------------------------------------------------------------------------------------
// Weights: a vertex of a surface has those of the body's vertices that carry it

static void AddVertexWeights(const Maker* m, int vertex, double share, double* row)
{
    for (int k = m->weights->starts[vertex]; k < m->weights->starts[vertex + 1]; ++k)
        row[m->weights->handles[k]] += share * m->weights->values[k];
}

static void WeighVertex(const Maker* m, int surface, int vertex, double* row)
{
    const snwPrepared* prepared = m->info.prepared;
    const snwEmbedding* embedding = &prepared->embedding;
    int point = prepared->points[surface][vertex];
    memset(row, 0, (size_t)m->character->boneCount * sizeof *row);
    if (point < 0)
        AddVertexWeights(m, prepared->anchors[~point].vertices[0], 1, row);
    for (int k = 0; k < 4 && point >= 0; ++k)
        AddVertexWeights(
            m, embedding->vertices[embedding->corners[point][k]], (double)embedding->weights[point][k], row);
}

// vertices: of the surface, one per vertex of the mesh.
static bool WeighDocumentSurface(Maker* m, int index, const int* vertices, snwAssetMesh* mesh)
{
    size_t bones = (size_t)m->character->boneCount, count = (size_t)mesh->vertexCount;
    int* starts = snwArena_Alloc(&m->arena, count + 1, sizeof *starts);
    double* row = snwArena_Alloc(&m->arena, bones + 1, sizeof *row);
    int* numbers = count * bones <= INT32_MAX ? snwArena_Alloc(&m->arena, count * bones + 1, sizeof *numbers) : NULL;
    double* values = numbers != NULL ? snwArena_Alloc(&m->arena, count * bones + 1, sizeof *values) : NULL;

    m->arena.failed = m->arena.failed || values == NULL;

    // All bones that the vertex follows at all; the writer keeps the largest.
    for (int i = 0; i < mesh->vertexCount && !m->arena.failed; ++i)
    {
        starts[i + 1] = starts[i];
        WeighVertex(m, index, vertices[i], row);
        for (int b = 0; b < m->character->boneCount; ++b)
            if (row[b] > 1e-6)
            {
                numbers[starts[i + 1]] = b;
                values[starts[i + 1]++] = row[b];
            }
    }

    mesh->weights = (snwAssetWeights){starts, numbers, values, m->character->boneCount};
    return !m->arena.failed;
}

// ---------------------------------------------------------------------------------------------------------------------
// Surfaces

static int AddPartMaterial(Maker* m, const snwSurfacePart* part)
{
    snwGltfMaterialDef material = snwDefaultGltfMaterialDef();
    material.name = part->material[0] != 0 ? part->material : m->character->name;
    for (int k = 0; k < 3; ++k)
        material.color[k] = part->color[k];
    if (part->texture >= 0 && m->images[part->texture] < 0)
    {
        snwTexture texture = snwPrepared_GetTexture(m->info.prepared, part->texture);
        m->images[part->texture] = snwGltfWriter_AddTexture(m->writer, material.name, &texture);
    }
    material.image = part->texture >= 0 ? m->images[part->texture] : -1;
    return snwGltfWriter_AddMaterial(m->writer, &material);
}

// Parts have vertices of their own in a document: those that their triangles use.
static int SplitPart(
    const snwSurfaceInfo* from, const snwSurfacePart* part, int next, int* numbers, int (*triangles)[3], int* vertices)
{
    int first = next;
    for (int i = 0; i < from->vertexCount; ++i)
        numbers[i] = -1;

    // Vertices that the part's triangles use are numbered in rising order.
    for (int i = part->firstTriangle; i < part->firstTriangle + part->triangleCount; ++i)
        for (int k = 0; k < 3; ++k)
            numbers[from->triangles[i][k]] = 0;
    for (int i = 0; i < from->vertexCount; ++i)
        if (numbers[i] == 0)
        {
            vertices[next] = i;
            numbers[i] = next++;
        }

    // And triangles in those numbers.
    for (int i = part->firstTriangle; i < part->firstTriangle + part->triangleCount; ++i)
        for (int k = 0; k < 3; ++k)
            triangles[i][k] = numbers[from->triangles[i][k]];
    return next - first;
}

static bool MakeDocumentParts(Maker* m, const snwSurfaceInfo* from, snwAssetMesh* mesh, int** materials, int** vertices)
{
    size_t count = (size_t)from->partCount + 1, triangleCount = (size_t)from->triangleCount + 1;
    snwAssetPart* parts = snwArena_Alloc(&m->arena, count, sizeof *parts);
    int* numbers = snwArena_Alloc(&m->arena, (size_t)from->vertexCount + 1, sizeof *numbers);
    int(*triangles)[3] = snwArena_Alloc(&m->arena, triangleCount, sizeof *triangles);
    *vertices = snwAllocArray(m->context, 3 * triangleCount, sizeof **vertices);
    *materials = snwArena_Alloc(&m->arena, count, sizeof **materials);
    m->arena.failed = m->arena.failed || *vertices == NULL;

    // Part by part, each with vertices and a material.
    for (int i = 0; i < from->partCount && !m->arena.failed; ++i)
    {
        const snwSurfacePart* part = &from->parts[i];
        int used = SplitPart(from, part, mesh->vertexCount, numbers, triangles, *vertices);
        parts[i] = (snwAssetPart){
            from->name, part->material, mesh->vertexCount, used, part->firstTriangle, part->triangleCount};
        (*materials)[i] = AddPartMaterial(m, part);
        mesh->vertexCount += used;
    }

    mesh->parts = parts;
    mesh->partCount = from->partCount;
    mesh->triangles = (const int(*)[3])triangles;
    return !m->arena.failed;
}

static bool CopySurfaceVertices(Maker* m, const snwSurfaceInfo* from, const int* vertices, snwAssetMesh* mesh)
{
    size_t count = (size_t)mesh->vertexCount + 1;
    snwVec3* positions = snwArena_Alloc(&m->arena, count, sizeof *positions);
    float(*normals)[3] = snwArena_Alloc(&m->arena, count, sizeof *normals);
    float(*texcoords)[2] = from->texcoords != NULL ? snwArena_Alloc(&m->arena, count, sizeof *texcoords) : NULL;
    float(*colors)[4] = from->colors != NULL ? snwArena_Alloc(&m->arena, count, sizeof *colors) : NULL;

    // Values of the surface's vertices, copied for each part that uses them.
    for (int i = 0; i < mesh->vertexCount && !m->arena.failed; ++i)
    {
        const float* x = from->positions[vertices[i]];
        positions[i] = (snwVec3){(double)x[0], (double)x[1], (double)x[2]};
        memcpy(normals[i], from->normals[vertices[i]], sizeof normals[i]);
        if (texcoords != NULL)
            memcpy(texcoords[i], from->texcoords[vertices[i]], sizeof texcoords[i]);
        if (colors == NULL)
            continue;
        memcpy(colors[i], from->colors[vertices[i]], sizeof from->colors[0]);
        colors[i][3] = 1;
    }

    mesh->positions = positions;
    mesh->normals = (const float(*)[3])normals;
    mesh->texcoords = (const float(*)[2])texcoords;
    mesh->colors = (const float(*)[4])colors;

    return !m->arena.failed;
}

// Without memory the arena says so.
static void AddDocumentSurface(Maker* m, int index)
{
    const snwSurfaceInfo* from = snwPrepared_GetSurface(m->info.prepared, index);
    snwAssetMesh mesh = {.name = from->name, .triangleCount = from->triangleCount};
    int *materials = NULL, *vertices = NULL;
    if (from->triangleCount == 0)
        return;

    // First the geometry, then weights if there are bones, then the node that shows it.
    bool made = MakeDocumentParts(m, from, &mesh, &materials, &vertices);
    snwReelSurface* surface = &m->surfaces[m->surfaceCount++];
    *surface = (snwReelSurface){.name = from->name, .index = index, .vertices = vertices};
    made = made && CopySurfaceVertices(m, from, vertices, &mesh);
    if (!made || (m->weights != NULL && !WeighDocumentSurface(m, index, vertices, &mesh)))
        return;
    snwGltfMeshDef def = {.mesh = &mesh, .materials = materials, .influences = 4};
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.name = from->name;
    node.mesh = surface->mesh = snwGltfWriter_AddMesh(m->writer, &def);
    node.skin = m->skin;
    surface->node = snwGltfWriter_AddNode(m->writer, &node);
}

// ---------------------------------------------------------------------------------------------------------------------
// Motion

static snwQuat NearerQuat(snwQuat q, const double* before)
{
    double dot = q.x * before[0] + q.y * before[1] + q.z * before[2] + q.w * before[3];
    return dot < 0 ? snwQuat_Scale(q, -1) : q;
}

// Where the node of a bone is; it stands at the bone's pivot.
static snwTransform PlaceBoneNode(const snwSkeleton* skeleton, const snwTransforms* bones, int bone)
{
    snwTransform now = *(const snwTransform*)((const char*)bones->data + (size_t)bone * (size_t)bones->stride);
    return (snwTransform){snwTransform_Apply(now, skeleton->pivots[bone]), now.rotation};
}

static void SetKey(Maker* m, const snwSkeleton* skeleton, const snwTransforms* bones, int frame, double** values)
{
    for (int b = 0; b < m->character->boneCount; ++b)
    {
        int parent = m->character->bones[b].parent;
        snwTransform local = PlaceBoneNode(skeleton, bones, b);
        if (parent >= 0)
            local = snwTransform_Between(PlaceBoneNode(skeleton, bones, parent), local);
        size_t previous = frame > 0 ? (size_t)frame - 1 : 0;
        snwQuat q = NearerQuat(local.rotation, values[2 * b] + 4 * previous);
        memcpy(values[2 * b] + 4 * (size_t)frame, (double[]){q.x, q.y, q.z, q.w}, 4 * sizeof(double));
        memcpy(values[2 * b + 1] + 3 * (size_t)frame, (double[]){local.position.x, local.position.y, local.position.z},
            3 * sizeof(double));
    }
}

static snwResult AddDocumentMotion(Maker* m)
{
    size_t keys = (size_t)m->info.frameCount, bones = (size_t)m->character->boneCount;
    snwSkeleton skeleton;
    snwResult result = snwSkeleton_Build(&m->arena, m->character->bones, m->character->boneCount, m->character->joints,
        m->character->jointCount, &skeleton, m->message);
    double* times = snwArena_Alloc(&m->arena, keys, sizeof *times);
    double** values = snwArena_Alloc(&m->arena, 2 * bones, sizeof *values);
    snwAssetChannel* channels = snwArena_Alloc(&m->arena, 2 * bones, sizeof *channels);

    // A turn and a shift for every bone, keys at every frame.
    for (size_t i = 0; i < 2 * bones && !m->arena.failed; ++i)
    {
        bool turn = i % 2 == 0;
        values[i] = snwArena_Alloc(&m->arena, keys, 4 * sizeof **values);
        channels[i] = (snwAssetChannel){m->nodes[i / 2], turn ? snw_pathRotation : snw_pathTranslation, snw_assetLinear,
            times, m->info.frameCount, turn ? 4 : 3, values[i]};
    }

    if (m->arena.failed)
        return snwFailMemory(m->message);

    // Frames as the run has them.
    for (int frame = 0; frame < m->info.frameCount && result >= 0; ++frame)
    {
        snwBakeFrame read;
        result = snwBakeFrames_Read(m->frames, frame, &read, m->message);
        times[frame] = frame / m->info.rate;
        if (result >= 0)
            SetKey(m, &skeleton, &read.bones, frame, values);
    }

    // Under the name of the clip.
    snwAssetAnimation animation = {.name = m->info.clip[0] != 0 ? m->info.clip : m->info.name,
        .channels = channels,
        .channelCount = 2 * m->character->boneCount};
    if (result >= 0)
        snwGltfWriter_AddAnimation(m->writer, &animation);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult AddDocumentNodes(Maker* m, const snwCharacter* character)
{
    size_t textures = (size_t)snwPrepared_GetInfo(m->info.prepared).textureCount;
    m->nodes = snwArena_Alloc(&m->arena, (size_t)m->character->boneCount + 1, sizeof *m->nodes);
    m->images = snwArena_Alloc(&m->arena, textures + 1, sizeof *m->images);
    m->surfaces = snwAllocArray(m->context, (size_t)m->info.surfaceCount + 1, sizeof *m->surfaces);
    if (m->arena.failed || m->surfaces == NULL)
        return snwFailMemory(m->message);
    memset(m->images, -1, textures * sizeof *m->images);
    m->skin = m->weights != NULL ? snwGltfWriter_AddBones(m->writer, character, m->nodes) : -1;
    for (int i = 0; i < m->info.surfaceCount && !m->arena.failed; ++i)
        AddDocumentSurface(m, m->info.surfaces[i]);
    if (m->arena.failed)
        return snwFailMemory(m->message);
    snwResult result = snwGltfWriter_GetResult(m->writer, m->message);
    return result >= 0 && m->weights != NULL ? AddDocumentMotion(m) : result;
}

static snwResult ReadBackDocument(Maker* m, snwBakeDocument* document)
{
    unsigned char* data = NULL;
    size_t size = 0;
    snwResult result = snwGltfWriter_Write(m->writer, snw_gltfGlb, &data, &size, m->message);
    char* text = result >= 0 ? snwAllocRaw(m->context, size + 1) : NULL;

    if (result >= 0 && text == NULL)
        result = snwFailMemory(m->message);

    // A document like any other from here on.
    if (result >= 0 && text != NULL)
    {
        memcpy(text, data, size);
        text[size] = 0;
        document->bytes = (double)size;
        snwAssetInput input = {"made.glb", text, size, NULL};
        result = snwAsset_Read(m->context, &input, &document->asset, m->message);
    }

    snwFree(m->context, text);
    snwFree(m->context, data);
    return result;
}

// The character's own weights, or computed ones, which go back through snwContext_Free.
static snwResult FindDocumentWeights(Maker* m, snwCharacter* character, snwWeights** computed)
{
    m->weights = NULL;
    if (m->character->boneCount == 0)
        return snw_ok;
    m->weights = &m->character->boneWeights;
    if (m->weights->vertexCount > 0)
        return snw_ok;
    snwWeightsDef def = snwDefaultWeightsDef();
    def.kind = snw_weightsClosest;
    snwResult result = snwComputeWeights(character, &def, computed, m->message);
    m->weights = *computed;
    return result;
}

snwResult snwMakeBakeDocument(
    snwContext* context, snwBakeFrames* frames, snwBakeDocument* document, snwMessage* message)
{
    Maker m = {.context = context,
        .frames = frames,
        .info = snwBakeFrames_GetInfo(frames),
        .arena = {.context = context},
        .message = message};

    // Without bones there are no weights, and so no animation.
    snwCharacter* character = snwPrepared_GetCharacter(m.info.prepared);
    m.character = snwCharacter_GetDef(character);
    snwWeights* computed = NULL;
    *document = (snwBakeDocument){.animation = -1};

    // Written as a file and read again, so that exporters find a document as of any other character.
    snwResult result = snwGltfWriter_Open(context, NULL, &m.writer, message);
    if (result >= 0)
        result = FindDocumentWeights(&m, character, &computed);
    if (result >= 0)
        result = AddDocumentNodes(&m, character);
    if (result >= 0)
        result = ReadBackDocument(&m, document);
    document->surfaces = m.surfaces;
    document->surfaceCount = m.surfaceCount;
    document->animation = result >= 0 && m.weights != NULL ? 0 : -1;
    snwContext_Free(context, computed);
    snwGltfWriter_Close(m.writer);
    snwArena_Free(&m.arena);

    return result;
}

void snwBakeDocument_Free(snwContext* context, snwBakeDocument* document)
{
    for (int i = 0; i < document->surfaceCount; ++i)
        snwFree(context, (int*)(uintptr_t)document->surfaces[i].vertices);
    snwFree(context, document->surfaces);
    snwAsset_Close(document->asset);
}
