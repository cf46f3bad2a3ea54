#include "reel_world.h"

#include "gltf_written.h"
#include "test.h"

#include "base/context.h"

#include <stdlib.h>

#define SNW_TURN 6.283185307179586

// ---------------------------------------------------------------------------------------------------------------------
// The document

typedef struct Tube
{
    snwVec3 positions[snw_tubeVertices];
    float normals[snw_tubeVertices][3], smile[snw_tubeVertices][3];
    int triangles[2 * (snw_tubeRings - 1) * snw_tubeSides][3];
    int starts[snw_tubeVertices + 1], bones[2 * snw_tubeVertices];
    double weights[2 * snw_tubeVertices];
} Tube;

static void MakeRings(Tube* tube, double unit)
{
    for (int i = 0; i < snw_tubeVertices; ++i)
    {
        int ring = i / snw_tubeSides;
        double angle = SNW_TURN * (i % snw_tubeSides) / snw_tubeSides, y = 0.1 * ring;
        tube->positions[i] = (snwVec3){0.15 * cos(angle) / unit, y / unit, 0.15 * sin(angle) / unit};
        tube->normals[i][0] = (float)cos(angle);
        tube->normals[i][2] = (float)sin(angle);
        tube->smile[i][2] = (float)(ring > 9 && sin(angle) > 0.5 ? 0.03 / unit : 0);
        double along = fmin(y / 0.4, 2), share = along - floor(along);
        int bone = (int)along;
        tube->bones[2 * i] = bone;
        tube->weights[2 * i] = bone < 2 ? 1 - share : 1;
        tube->bones[2 * i + 1] = bone < 2 ? bone + 1 : 0;
        tube->weights[2 * i + 1] = bone < 2 ? share : 0;
        tube->starts[i + 1] = 2 * (i + 1);
    }
}

static void MakeSides(Tube* tube)
{
    int count = 0;
    for (int ring = 0; ring + 1 < snw_tubeRings; ++ring)
        for (int side = 0; side < snw_tubeSides; ++side)
        {
            int a = ring * snw_tubeSides + side, b = ring * snw_tubeSides + (side + 1) % snw_tubeSides;
            int corners[2][3] = {{a, a + snw_tubeSides, b}, {b, a + snw_tubeSides, b + snw_tubeSides}};
            memcpy(tube->triangles[count], corners, sizeof corners);
            count += 2;
        }
}

static int AddTube(snwGltfWriter* writer, double unit, int skin)
{
    static Tube tube;
    MakeRings(&tube, unit);
    MakeSides(&tube);
    snwAssetMorph smile = {"smile", (const float(*)[3])tube.smile, NULL, 0.25};
    snwAssetPart part = {"tube", "", 0, snw_tubeVertices, 0, 2 * (snw_tubeRings - 1) * snw_tubeSides};
    snwAssetMesh mesh = {.name = "tube",
        .positions = tube.positions,
        .vertexCount = snw_tubeVertices,
        .normals = (const float(*)[3])tube.normals,
        .triangles = (const int(*)[3])tube.triangles,
        .triangleCount = part.triangleCount,
        .parts = &part,
        .partCount = 1,
        .weights = {tube.starts, tube.bones, tube.weights, 3},
        .morphs = &smile,
        .morphCount = 1};
    snwGltfMeshDef def = {.mesh = &mesh, .influences = 4};
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.name = "body";
    node.mesh = snwGltfWriter_AddMesh(writer, &def);
    node.skin = skin;
    return snwGltfWriter_AddNode(writer, &node);
}

static int AddHat(snwGltfWriter* writer, double unit, int parent)
{
    static const int s_triangles[6][3] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}, {0, 2, 1}, {0, 3, 2}};
    snwVec3 positions[snw_hatVertices] = {{-1, 0, -1}, {-1, 0, 1}, {1, 0, 1}, {1, 0, -1}, {0, 1, 0}};
    float normals[snw_hatVertices][3];
    for (int i = 0; i < snw_hatVertices; ++i)
    {
        snwVec3 n = snwVec3_Normalize(snwVec3_Sub(positions[i], (snwVec3){0, 0.4, 0}));
        normals[i][0] = (float)n.x, normals[i][1] = (float)n.y, normals[i][2] = (float)n.z;
        positions[i] = snwVec3_Scale(positions[i], 0.1 / unit);
    }
    snwAssetPart part = {"hat", "", 0, snw_hatVertices, 0, 6};
    snwAssetMesh mesh = {.name = "hat",
        .positions = positions,
        .vertexCount = snw_hatVertices,
        .normals = (const float(*)[3])normals,
        .triangles = s_triangles,
        .triangleCount = 6,
        .parts = &part,
        .partCount = 1};
    snwGltfMeshDef def = {.mesh = &mesh, .influences = 4};
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.name = "hat";
    node.parent = parent;
    node.pose.translation = (snwVec3){0, 0.4 / unit, 0};
    node.pose.scale = (snwVec3){1, 1.5, 1};
    node.mesh = snwGltfWriter_AddMesh(writer, &def);
    return snwGltfWriter_AddNode(writer, &node);
}

static void AddBones(snwGltfWriter* writer, double unit, int nodes[3])
{
    for (int i = 0; i < 3; ++i)
    {
        static const char* const s_names[] = {"root", "spine", "head"};
        snwGltfNodeDef node = snwDefaultGltfNodeDef();
        node.name = s_names[i];
        node.parent = i > 0 ? nodes[i - 1] : -1;
        node.pose.translation.y = i > 0 ? 0.4 / unit : 0;
        nodes[i] = snwGltfWriter_AddNode(writer, &node);
    }
}

static void AddClip(snwGltfWriter* writer, const char* name, double reach, double unit, const int nodes[5])
{
    static double s_times[snw_reelFrames], s_turns[2][snw_reelFrames][4], s_moves[snw_reelFrames][3];
    static double s_smiles[snw_reelFrames], s_spins[snw_reelFrames][4];
    for (int i = 0; i < snw_reelFrames; ++i)
    {
        double t = i / 24.0;
        s_times[i] = t;
        for (int b = 0; b < 2; ++b)
        {
            double angle = reach * sin(SNW_TURN * t + b);
            s_turns[b][i][b == 0 ? 2 : 0] = sin(angle / 2);
            s_turns[b][i][3] = cos(angle / 2);
        }
        s_moves[i][0] = reach * t / unit;
        s_smiles[i] = 0.5 - 0.5 * cos(SNW_TURN * t);
        s_spins[i][1] = sin(reach * t);
        s_spins[i][3] = cos(reach * t);
    }
    snwAssetChannel channels[] = {
        {nodes[1], snw_pathRotation, snw_assetLinear, s_times, snw_reelFrames, 4, &s_turns[0][0][0]},
        {nodes[2], snw_pathRotation, snw_assetLinear, s_times, snw_reelFrames, 4, &s_turns[1][0][0]},
        {nodes[0], snw_pathTranslation, snw_assetLinear, s_times, snw_reelFrames, 3, &s_moves[0][0]},
        {nodes[3], snw_pathMorphs, snw_assetLinear, s_times, snw_reelFrames, 1, s_smiles},
        {nodes[4], snw_pathRotation, snw_assetLinear, s_times, snw_reelFrames, 4, &s_spins[0][0]},
    };
    snwAssetAnimation animation = {.name = name, .channels = channels, .channelCount = 5};
    snwGltfWriter_AddAnimation(writer, &animation);
}

snwAsset* snwReelWorld_Document(snwContext* context, double unit)
{
    snwGltfWriter* writer = snwWritten_Open(context, NULL);
    int nodes[5];
    AddBones(writer, unit, nodes);
    snwAffine binds[3];
    for (int i = 0; i < 3; ++i)
        binds[i] = (snwAffine){snwMat3_Identity(), {0, -0.4 * i / unit, 0}};
    snwAssetSkin skin = {.name = "rig", .joints = nodes, .inverseBinds = binds, .jointCount = 3, .root = nodes[0]};
    nodes[3] = AddTube(writer, unit, snwGltfWriter_AddSkin(writer, &skin));
    nodes[4] = AddHat(writer, unit, nodes[2]);
    AddClip(writer, "idle", 0.1, unit, nodes);
    AddClip(writer, "dance", 0.7, unit, nodes);
    return snwWritten_Reopen(context, writer, snw_gltfGlb);
}

// ---------------------------------------------------------------------------------------------------------------------
// Plain skinning

static snwVec3 Bend(const snwAsset* asset, const snwAssetPoser* poser, int node, int vertex, snwVec3 x)
{
    const snwAssetMesh* mesh = &asset->meshes[asset->nodes[node].mesh];
    if (asset->nodes[node].skin < 0)
        return snwAffine_Apply(poser->places[node], x);
    const snwAssetSkin* skin = &asset->skins[asset->nodes[node].skin];
    snwVec3 sum = {0, 0, 0};
    for (int k = mesh->weights.starts[vertex]; k < mesh->weights.starts[vertex + 1]; ++k)
    {
        int joint = mesh->weights.bones[k];
        snwVec3 bound = snwAffine_Apply(skin->inverseBinds[joint], x);
        sum = snwVec3_MulAdd(sum, mesh->weights.values[k], snwAffine_Apply(poser->places[skin->joints[joint]], bound));
    }
    return sum;
}

static snwVec3 Morphed(const snwAssetMesh* mesh, const double* weights, int vertex)
{
    snwVec3 x = mesh->positions[vertex];
    for (int i = 0; i < mesh->morphCount; ++i)
    {
        const float* o = mesh->morphs[i].positions[vertex];
        x = snwVec3_MulAdd(x, weights[i], (snwVec3){(double)o[0], (double)o[1], (double)o[2]});
    }
    return x;
}

snwVec3* snwReelWorld_Evaluate(const snwAsset* asset, int animation, int node, double time)
{
    const snwAssetAnimation* clip = animation >= 0 ? &asset->animations[animation] : NULL;
    const snwAssetMesh* mesh = &asset->meshes[asset->nodes[node].mesh];
    snwVec3* positions = calloc((size_t)mesh->vertexCount, sizeof *positions);
    double* weights = calloc((size_t)mesh->morphCount + 1, sizeof *weights);
    snwArena arena = {.context = asset->context};
    snwAssetPoser poser;
    if (snwAssetPoser_Make(asset, &arena, &poser, NULL) < 0 || positions == NULL || weights == NULL)
        abort();
    snwAssetPoser_Pose(&poser, clip, time);
    snwAsset_SampleMorphs(asset, clip, node, time, weights);
    for (int i = 0; i < mesh->vertexCount; ++i)
        positions[i] = Bend(asset, &poser, node, i, Morphed(mesh, weights, i));
    snwArena_Free(&arena);
    free(weights);
    return positions;
}

// ---------------------------------------------------------------------------------------------------------------------
// Flesh

// Two waves that run along the mesh and a bump that grows: five shapes, m.
static snwVec3 Wave(double t, snwVec3 x)
{
    double bump = exp(-40 * ((x.y - 0.6) * (x.y - 0.6) + (x.x - 0.15) * (x.x - 0.15)));
    return (snwVec3){
        sin(12 * t - 4 * x.y) + 0.6 * bump * t * t, 0.3 * cos(31 * t + 6 * x.x), 0.5 * cos(12 * t - 4 * x.y)};
}

snwVec3* snwReelWorld_Truth(snwReelWorld* world, int surface, int frame)
{
    const snwAsset* asset = world->asset;
    double unit = world->reel.scale, time = frame / world->reel.rate;
    int node = world->surfaces[surface].node;
    const snwAssetAnimation* clip = &asset->animations[world->reel.animation];
    const snwAssetMesh* mesh = &asset->meshes[world->surfaces[surface].mesh];
    snwVec3* positions = calloc((size_t)mesh->vertexCount, sizeof *positions);
    double weights[4];
    if (positions == NULL)
        abort();
    snwAssetPoser_Pose(&world->poser, clip, time);
    snwAsset_SampleMorphs(asset, clip, node, time, weights);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        snwVec3 wave = Wave(time, snwVec3_Scale(mesh->positions[i], unit));
        snwVec3 x = snwVec3_MulAdd(Morphed(mesh, weights, i), world->amplitude / unit, wave);
        positions[i] = Bend(asset, &world->poser, node, i, x);
    }
    return positions;
}

static snwResult ReadFrame(void* user, int frame, double* clipTime, snwMessage* message)
{
    snwReelWorld* world = user;
    (void)message;
    *clipTime = world->clipTime = frame / world->reel.rate;
    return snw_ok;
}

static snwResult GetSurface(void* user, int index, snwSkin* skin, snwMessage* message)
{
    snwReelWorld* world = user;
    (void)message;
    int count = world->asset->meshes[world->surfaces[index].mesh].vertexCount;
    snwVec3* truth = snwReelWorld_Truth(world, index, (int)lround(world->clipTime * world->reel.rate));
    for (int i = 0; i < count; ++i)
    {
        float* out = world->positions[i];
        snwVec3 x = snwVec3_Scale(truth[i], world->reel.scale);
        out[0] = (float)x.x, out[1] = (float)x.y, out[2] = (float)x.z;
        out[3] = out[5] = 0, out[4] = 1;
    }
    free(truth);
    *skin = (snwSkin){.positions = world->positions[0],
        .normals = world->positions[0] + 3,
        .vertexCount = count,
        .stride = sizeof world->positions[0]};
    return snw_ok;
}

void snwReelWorld_Make(snwContext* context, snwAsset* asset, double unit, double amplitude, snwReelWorld* world)
{
    static float s_positions[snw_tubeVertices][6];
    *world = (snwReelWorld){.context = context,
        .asset = asset,
        .arena = {.context = context},
        .positions = s_positions,
        .amplitude = amplitude};
    if (snwAssetPoser_Make(asset, &world->arena, &world->poser, NULL) < 0)
        abort();
    int count = 0;
    for (int i = 0; i < asset->nodeCount && count < 2; ++i)
        if (asset->nodes[i].mesh >= 0)
        {
            world->surfaces[count] = (snwReelSurface){asset->nodes[i].name, asset->nodes[i].mesh, i, count, NULL};
            ++count;
        }
    world->reel = (snwReel){.asset = asset,
        .animation = 1,
        .clip = "dance",
        .frameCount = snw_reelFrames,
        .rate = 24,
        .scale = unit,
        .size = 1.5,
        .surfaces = world->surfaces,
        .surfaceCount = count,
        .read = ReadFrame,
        .get = GetSurface,
        .user = world};
}

void snwReelWorld_Free(snwReelWorld* world)
{
    snwArena_Free(&world->arena);
    snwAsset_Close(world->asset);
}
