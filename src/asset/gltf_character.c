// A character of ours as glTF. A bone's node stands at its joint with the axes of the world; in a motion it does what
// the track says, in the same axes, on top of its parent: so keys go over as they are, and since our splines are none
// of glTF's, they are sampled.

#include "asset/gltf_write_parts.h"
#include "asset/texture.h"
#include "rig/skeleton.h"

#include <math.h>
#include <string.h>

snwGltfCharacterDef snwDefaultGltfCharacterDef(const snwCharacter* character)
{
    return (snwGltfCharacterDef){.character = character, .influences = 4, .rate = 60};
}

typedef struct Export
{
    snwGltfWriter* writer;
    const snwGltfCharacterDef* def;
    const snwCharacterDef* character;
    snwSkin skin;
    snwSkeleton skeleton;
    snwArena arena; // of what is made on the way
    const snwGltfJoint* joints;
    int jointCount;
    int* nodes; // one per joint
} Export;

// NULL is a failure of the writer.
static void* AllocExport(Export* e, size_t count, size_t size)
{
    void* room = snwArena_Alloc(&e->arena, count, size);
    if (room == NULL)
        snwGltfWriter_FailMemory(e->writer);
    return room;
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights, where nobody gives better ones: the fourth power of the closeness to the bones

static double DistanceToBone(const snwBoneDef* bone, snwVec3 point)
{
    snwVec3 along = snwVec3_Sub(bone->tail, bone->head), from = snwVec3_Sub(point, bone->head);
    double square = snwVec3_Dot(along, along), t = square > 0.0 ? snwVec3_Dot(from, along) / square : 0.0;
    return snwVec3_Length(snwVec3_Sub(from, snwVec3_Scale(along, fmin(fmax(t, 0.0), 1.0))));
}

static void ByDistance(Export* e, int vertex, double* row)
{
    const snwCharacterDef* def = e->character;
    double least = INFINITY;
    for (int b = 0; b < def->boneCount; ++b)
    {
        row[b] = DistanceToBone(&def->bones[b], def->vertices[e->skin.vertices[vertex]]);
        least = fmin(least, row[b]);
    }
    for (int b = 0; b < def->boneCount; ++b)
        row[b] = least > 0.0 ? pow(least / row[b], 4.0) : row[b] <= least;
}

static bool MakeJointWeights(Export* e, snwAssetWeights* weights)
{
    size_t bones = (size_t)e->character->boneCount, vertices = (size_t)e->skin.vertexCount;
    if (vertices * bones > INT32_MAX)
        return snwGltfWriter_Fail(e->writer, "give the weights", "too many bones to weigh them all"), false;

    int* starts = AllocExport(e, vertices + 1, sizeof *starts);
    int* numbers = AllocExport(e, vertices * bones, sizeof *numbers);
    double* values = AllocExport(e, vertices * bones, sizeof *values);
    if (starts == NULL || numbers == NULL || values == NULL)
        return false;

    // By distance from the bones: all of them, the writer keeps the largest.
    for (size_t i = 0; i < vertices; ++i)
    {
        ByDistance(e, (int)i, values + i * bones);
        for (size_t b = 0; b < bones; ++b)
            numbers[i * bones + b] = (int)b;
        starts[i + 1] = (int)((i + 1) * bones);
    }

    *weights = (snwAssetWeights){starts, numbers, values, (int)bones};
    return true;
}

// Rows of the character's vertices as rows of its skin's.
static bool TakeSkinWeights(Export* e, snwAssetWeights* weights)
{
    const snwAssetWeights* given = e->def->weights;
    size_t vertices = (size_t)e->skin.vertexCount;
    int* starts = AllocExport(e, vertices + 1, sizeof *starts);
    for (size_t i = 0; i < vertices && starts != NULL; ++i)
        starts[i + 1] = starts[i] + given->starts[e->skin.vertices[i] + 1] - given->starts[e->skin.vertices[i]];

    size_t count = starts == NULL ? 0 : (size_t)starts[vertices];
    int* numbers = AllocExport(e, count, sizeof *numbers);
    double* values = AllocExport(e, count, sizeof *values);
    if (starts == NULL || numbers == NULL || values == NULL)
        return false;

    // Vertices of the skin by their numbers in the character.
    for (size_t i = 0; i < vertices; ++i)
        for (int k = 0; k < starts[i + 1] - starts[i]; ++k)
        {
            numbers[starts[i] + k] = given->bones[given->starts[e->skin.vertices[i]] + k];
            values[starts[i] + k] = given->values[given->starts[e->skin.vertices[i]] + k];
        }

    *weights = (snwAssetWeights){starts, numbers, values, given->boneCount};
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The surface

int snwGltfWriter_AddTexture(snwGltfWriter* writer, const char* name, const snwTexture* texture)
{
    size_t size = 0;
    void* bytes = snwTexture_EncodePng(writer->context, texture, &size);
    int image = bytes != NULL ? snwGltfWriter_AddImage(writer, name, bytes, size) : -1;
    snwFree(writer->context, bytes);
    return image >= 0 ? image : snwGltfWriter_FailMemory(writer);
}

static int AddLook(Export* e)
{
    const snwCharacterDef* def = e->character;
    snwGltfMaterialDef material = snwDefaultGltfMaterialDef();
    material.name = def->name;
    material.doubleSided = def->triangleCount > 0;
    bool textured = def->texture.width > 0 && def->texcoords != NULL;
    for (int k = 0; k < 3 && def->colors == NULL && !textured; ++k)
        material.color[k] = def->color[k];
    if (textured)
        material.image = snwGltfWriter_AddTexture(e->writer, def->name, &def->texture);
    return snwGltfWriter_AddMaterial(e->writer, &material);
}

static bool CopySkinVertices(Export* e, snwAssetMesh* mesh)
{
    size_t count = (size_t)e->skin.vertexCount;
    snwVec3* positions = AllocExport(e, count, sizeof *positions);
    float(*normals)[3] = AllocExport(e, count, sizeof *normals);
    for (size_t i = 0; i < count && positions != NULL && normals != NULL; ++i)
    {
        const float* p = (const float*)((const char*)e->skin.positions + i * (size_t)e->skin.stride);
        const float* n = (const float*)((const char*)e->skin.normals + i * (size_t)e->skin.stride);
        positions[i] = (snwVec3){(double)p[0], (double)p[1], (double)p[2]};
        memcpy(normals[i], n, sizeof normals[i]);
    }
    mesh->positions = positions;
    mesh->normals = (const float(*)[3])normals;
    mesh->vertexCount = e->skin.vertexCount;
    return positions != NULL && normals != NULL;
}

static bool CopySkinColors(Export* e, snwAssetMesh* mesh)
{
    const snwCharacterDef* def = e->character;
    size_t count = (size_t)e->skin.vertexCount;
    float(*colors)[4] = def->colors == NULL ? NULL : AllocExport(e, count, sizeof *colors);
    float(*texcoords)[2] = def->texcoords == NULL ? NULL : AllocExport(e, count, sizeof *texcoords);
    for (size_t i = 0; i < count && colors != NULL; ++i)
    {
        memcpy(colors[i], def->colors[e->skin.vertices[i]], 3 * sizeof(float));
        colors[i][3] = 1.0f;
    }
    for (size_t i = 0; i < count && texcoords != NULL; ++i)
        memcpy(texcoords[i], def->texcoords[e->skin.vertices[i]], sizeof texcoords[i]);
    mesh->colors = (const float(*)[4])colors;
    mesh->texcoords = (const float(*)[2])texcoords;
    return !snwGltfWriter_Failed(e->writer);
}

static int AddSkinSurface(Export* e)
{
    snwAssetPart part = {.name = e->character->name,
        .material = "",
        .vertexCount = e->skin.vertexCount,
        .triangleCount = e->skin.triangleCount};
    snwAssetMesh mesh = {.name = e->character->name,
        .triangles = (const int(*)[3])e->skin.triangles,
        .triangleCount = e->skin.triangleCount,
        .parts = &part,
        .partCount = 1};

    // An artist's surface goes out as it came in.
    if (e->def->surface != NULL)
    {
        int look = AddLook(e);
        snwGltfMeshDef own = {
            .mesh = e->def->surface, .materials = &look, .influences = e->def->influences, .smooth = true};
        return snwGltfWriter_AddMesh(e->writer, &own);
    }

    if (!CopySkinVertices(e, &mesh) || !CopySkinColors(e, &mesh))
        return -1;
    if (e->jointCount > 0 &&
        !(e->def->weights != NULL ? TakeSkinWeights(e, &mesh.weights) : MakeJointWeights(e, &mesh.weights)))
        return -1;
    int material = AddLook(e);
    snwGltfMeshDef def = {.mesh = &mesh, .materials = &material, .influences = e->def->influences};

    // Our own skin, with the numbers of its vertices as an attribute: so motions find their way back.
    int index = snwGltfWriter_AddMesh(e->writer, &def);
    snwGltfWriter_SetVertexIds(e->writer, index, 0, e->skin.vertices, e->skin.vertexCount);

    return index;
}

// ---------------------------------------------------------------------------------------------------------------------
// Joints

// Those that are given, or one per bone, where it hangs on its parent.
static bool ListJoints(Export* e)
{
    const snwCharacterDef* def = e->character;
    e->joints = e->def->joints;
    e->jointCount = e->def->joints != NULL ? e->def->jointCount : def->boneCount;
    if (e->joints != NULL || def->boneCount == 0)
        return true;
    snwGltfJoint* joints = AllocExport(e, (size_t)def->boneCount, sizeof *joints);
    for (int i = 0; i < def->boneCount && joints != NULL; ++i)
        joints[i] = (snwGltfJoint){def->bones[i].name, def->bones[i].parent, e->skeleton.pivots[i]};
    e->joints = joints;
    return joints != NULL;
}

static snwVec3 RestTranslation(const Export* e, int joint)
{
    int parent = e->joints[joint].parent;
    snwVec3 rest = e->joints[joint].rest;
    return parent < 0 ? rest : snwVec3_Sub(rest, e->joints[parent].rest);
}

// After its parents.
static void AddJointNode(Export* e, int joint, int top)
{
    int parent = e->joints[joint].parent;
    if (e->nodes[joint] >= 0 || snwGltfWriter_Failed(e->writer))
        return;
    if (parent >= 0)
        AddJointNode(e, parent, top);
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.name = e->joints[joint].name;
    node.parent = parent < 0 ? top : e->nodes[parent];
    node.pose.translation = RestTranslation(e, joint);
    e->nodes[joint] = snwGltfWriter_AddNode(e->writer, &node);
}

static int AddSkinJoints(Export* e)
{
    snwAffine* inverseBinds = AllocExport(e, (size_t)e->jointCount, sizeof *inverseBinds);
    e->nodes = e->def->nodes != NULL ? e->def->nodes : AllocExport(e, (size_t)e->jointCount, sizeof *e->nodes);
    if (inverseBinds == NULL || e->nodes == NULL)
        return -1;

    // All joints hang below a node of the character's name.
    snwGltfNodeDef root = snwDefaultGltfNodeDef();
    root.name = e->character->name;
    int top = snwGltfWriter_AddNode(e->writer, &root);
    for (int i = 0; i < e->jointCount; ++i)
        e->nodes[i] = -1;

    // In an order in which parents come first.
    for (int i = 0; i < e->jointCount; ++i)
    {
        AddJointNode(e, e->def->joints == NULL ? e->skeleton.order[i] : i, top);
        inverseBinds[i] = (snwAffine){snwMat3_Identity(), snwVec3_Negate(e->joints[i].rest)};
    }

    snwAssetSkin skin = {.name = e->character->name,
        .joints = e->nodes,
        .inverseBinds = inverseBinds,
        .jointCount = e->jointCount,
        .root = top};

    return snwGltfWriter_AddSkin(e->writer, &skin);
}

// ---------------------------------------------------------------------------------------------------------------------
// Motions

static void SampleTrack(const Export* e, const snwMotionDef* motion, int track, snwAssetChannel channels[2])
{
    const snwTrackDef* from = &motion->tracks[track];
    snwVec3 rest = RestTranslation(e, from->bone);
    double* rotations = (double*)(uintptr_t)channels[0].values;
    double* translations = (double*)(uintptr_t)channels[1].values;
    for (int i = 0; i < channels[0].keyCount; ++i)
    {
        snwTransform now = snwTrack_Evaluate(motion, from, channels[0].times[i]);
        snwVec3 p = snwVec3_Add(rest, now.position);
        memcpy(rotations + 4 * (size_t)i, (double[]){now.rotation.x, now.rotation.y, now.rotation.z, now.rotation.w},
            4 * sizeof *rotations);
        memcpy(translations + 3 * (size_t)i, (double[]){p.x, p.y, p.z}, 3 * sizeof *translations);
    }
}

// Channels for a track: rotation, and translation if there is any. Returns how many.
static int AddTrack(
    Export* e, const snwMotionDef* motion, int track, const snwAssetChannel* times, snwAssetChannel channels[2])
{
    const snwTrackDef* from = &motion->tracks[track];
    size_t keys = (size_t)times->keyCount;
    int node = e->nodes[from->bone];
    channels[0] = (snwAssetChannel){node, snw_pathRotation, snw_assetLinear, times->times, times->keyCount, 4,
        AllocExport(e, keys, 4 * sizeof(double))};
    channels[1] = (snwAssetChannel){node, snw_pathTranslation, snw_assetLinear, times->times, times->keyCount, 3,
        AllocExport(e, keys, 3 * sizeof(double))};
    if (channels[0].values == NULL || channels[1].values == NULL)
        return 0;
    SampleTrack(e, motion, track, channels);
    for (int i = 0; i < from->keyCount; ++i)
        if (snwVec3_Length(from->keys[i].transform.position) > 0.0)
            return 2;
    return 1;
}

static void AddExportMotion(Export* e, const snwMotionDef* motion)
{
    snwAssetChannel times = {.keyCount = (int)ceil(motion->duration * e->def->rate - 1e-9) + 1};
    double* seconds = AllocExport(e, (size_t)times.keyCount, sizeof *seconds);
    snwAssetChannel* channels = AllocExport(e, 2 * (size_t)motion->trackCount, sizeof *channels);
    if (seconds == NULL || channels == NULL || motion->trackCount == 0)
        return;
    for (int i = 0; i < times.keyCount; ++i)
        seconds[i] = fmin(i / e->def->rate, motion->duration);
    times.times = seconds;
    int count = 0;
    for (int i = 0; i < motion->trackCount; ++i)
        count += AddTrack(e, motion, i, &times, channels + count);
    snwAssetAnimation animation = {.name = motion->name, .channels = channels, .channelCount = count};
    if (!snwGltfWriter_Failed(e->writer))
        snwGltfWriter_AddAnimation(e->writer, &animation);
}

// ---------------------------------------------------------------------------------------------------------------------

static bool BuildSkeleton(Export* e)
{
    const snwCharacterDef* def = e->character;
    snwResult built = snwSkeleton_Build(
        &e->arena, def->bones, def->boneCount, def->joints, def->jointCount, &e->skeleton, &e->writer->message);
    if (built < 0)
        e->writer->result = built;
    return built >= 0;
}

static int AddCharacter(Export* e)
{
    const snwCharacterDef* def = e->character;
    if (!BuildSkeleton(e) || !ListJoints(e))
        return -1;
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.name = def->name;
    node.mesh = AddSkinSurface(e);
    node.skin = e->jointCount > 0 && node.mesh >= 0 ? AddSkinJoints(e) : -1;
    int index = snwGltfWriter_AddNode(e->writer, &node);
    for (int i = 0; i < def->motionCount && index >= 0 && e->def->joints == NULL && def->boneCount > 0; ++i)
        AddExportMotion(e, &def->motions[i]);
    return snwGltfWriter_Failed(e->writer) ? -1 : index;
}

int snwGltfWriter_AddBones(snwGltfWriter* writer, const snwCharacter* character, int* nodes)
{
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    snwGltfCharacterDef all = snwDefaultGltfCharacterDef(character);
    all.nodes = nodes;
    Export e = {.writer = writer, .def = &all, .character = def, .arena = {.context = writer->context}};
    if (snwGltfWriter_Failed(writer))
        return -1;
    int skin = BuildSkeleton(&e) && ListJoints(&e) ? AddSkinJoints(&e) : -1;
    snwArena_Free(&e.arena);
    return skin;
}

int snwGltfWriter_AddCharacter(snwGltfWriter* writer, const snwGltfCharacterDef* def)
{
    Export e = {.writer = writer, .def = def, .character = snwCharacter_GetDef(def->character)};
    e.arena.context = writer->context;
    if (snwGltfWriter_Failed(writer))
        return -1;
    if (!(def->rate >= 1.0 && def->rate <= 1000.0))
        return snwGltfWriter_Fail(writer, NULL, "the rate of keys must be 1 to 1000 per second");
    if (def->joints != NULL && def->weights == NULL)
        return snwGltfWriter_Fail(writer, "give the weights", "joints of '%s' without weights", e.character->name);
    if (snwCharacter_GetRestSkin(def->character, &e.skin) < 0 || e.skin.triangleCount == 0)
        return snwGltfWriter_Fail(writer, NULL, "'%s' has no skin to write", e.character->name);
    int node = AddCharacter(&e);
    snwArena_Free(&e.arena);
    return node;
}
