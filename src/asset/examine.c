// What may surprise whoever uses an asset: nodes and skins that do not fit their rest pose, animations that scale,
// split vertices, a size that looks like another unit. All of it becomes notes; nothing is changed but a guessed scale.

#include "asset/examine.h"

#include "asset/surfaces.h"
#include "base/hash.h"
#include "base/sort.h"
#include "scene/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_largestCharacter = 20, // m; above it someone meant centimetres ...
    snw_largestInCm = 2000,    // ... and above this millimetres
    snw_mostEffort = 500000000 // influences and joints: a file that wants more is not looked at so closely
};

typedef struct Box
{
    snwVec3 lower, upper;
} Box;

typedef struct Look
{
    snwAsset* asset;
    snwArena scratch;
    snwAffine* worlds;   // per node
    unsigned char* bone; // per node: is a joint of some skin
    double size;         // of the whole at rest, units of the file
    int64_t effort;      // influences and joints looked at
} Look;

static Box InvertedBox(void)
{
    return (Box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static void IncludePoint(Box* box, snwVec3 p)
{
    box->lower = snwVec3_Min(box->lower, p);
    box->upper = snwVec3_Max(box->upper, p);
}

static double Longest(const Box* box)
{
    snwVec3 d = snwVec3_Sub(box->upper, box->lower);
    double longest = fmax(fmax(d.x, d.y), d.z);
    return isfinite(longest) && longest > 0 ? longest : 0;
}

static const char* NamePlace(char* buffer, size_t size, const char* kind, int index, const char* name)
{
    if (name[0] != 0)
        snprintf(buffer, size, "%s '%s'", kind, snwQuoteWord(name).text);
    else
        snprintf(buffer, size, "%s %d", kind, index);
    return buffer;
}

// ---------------------------------------------------------------------------------------------------------------------
// The rest pose

static snwAffine JointMatrix(const Look* look, const snwAssetSkin* skin, int joint)
{
    return snwAffine_Compose(look->worlds[skin->joints[joint]], skin->inverseBinds[joint]);
}

// Where the skin puts a vertex at rest.
static snwVec3 SkinVertex(const snwAssetMesh* mesh, const snwAffine* matrices, int vertex)
{
    const snwAssetWeights* weights = &mesh->weights;
    snwVec3 sum = {0, 0, 0};
    for (int e = weights->starts[vertex]; e < weights->starts[vertex + 1]; ++e)
        sum = snwVec3_MulAdd(
            sum, weights->values[e], snwAffine_Apply(matrices[weights->bones[e]], mesh->positions[vertex]));
    return weights->starts[vertex] == weights->starts[vertex + 1] ? mesh->positions[vertex] : sum;
}

static bool Affords(Look* look, int64_t effort)
{
    look->effort += effort;
    return look->effort <= snw_mostEffort;
}

static void IncludeSkinned(Look* look, Box* box, const snwAssetMesh* mesh, const snwAssetSkin* skin)
{
    if (!Affords(look, (int64_t)skin->jointCount + mesh->weights.starts[mesh->vertexCount]))
        return;
    snwContext* context = look->asset->context;
    snwAffine* matrices = snwAllocArray(context, (size_t)skin->jointCount, sizeof *matrices);
    look->scratch.failed |= matrices == NULL;
    for (int i = 0; i < skin->jointCount && matrices != NULL; ++i)
        matrices[i] = JointMatrix(look, skin, i);
    for (int i = 0; i < mesh->vertexCount && matrices != NULL; ++i)
        IncludePoint(box, SkinVertex(mesh, matrices, i));
    snwFree(context, matrices);
}

// Each mesh once, with the first node that wears it.
static void FindAssetSize(Look* look)
{
    const snwAsset* asset = look->asset;
    Box box = InvertedBox();
    unsigned char* seen = snwArena_Alloc(&look->scratch, (size_t)asset->meshCount, 1);
    for (int i = 0; i < asset->nodeCount && seen != NULL; ++i)
    {
        const snwAssetNode* node = &asset->nodes[i];
        if (node->mesh < 0 || node->skin < 0 || seen[node->mesh])
            continue;
        const snwAssetMesh* mesh = &asset->meshes[node->mesh];
        seen[node->mesh] = 1;
        if (mesh->weights.starts != NULL)
            IncludeSkinned(look, &box, mesh, &asset->skins[node->skin]);
    }
    look->size = Longest(&box);
}

static void GuessScale(Look* look)
{
    if (look->size <= snw_largestCharacter)
        return;
    bool huge = look->size > snw_largestInCm;
    look->asset->scale = huge ? 0.001 : 0.01;
    snwAsset_Note(look->asset, snw_noteOdd, "",
        "the character is %.3g m large; it may be in %s: try a scale of %g (%.3g m)", look->size,
        huge ? "millimetres" : "centimetres", look->asset->scale, look->size * look->asset->scale);
}

// ---------------------------------------------------------------------------------------------------------------------
// Nodes

static bool IsIdentity(snwAffine a)
{
    snwMat3 rest = snwMat3_Sub(a.linear, snwMat3_Identity());
    return snwMat3_LargestEntry(rest) < 1e-6 && snwVec3_IsWithin(a.translation, 1e-6);
}

static bool IsUniform(snwVec3 scale)
{
    double largest = fmax(fmax(fabs(scale.x), fabs(scale.y)), fabs(scale.z));
    return fabs(scale.x - scale.y) <= 1e-4 * largest && fabs(scale.y - scale.z) <= 1e-4 * largest;
}

static void LookAtNodes(Look* look)
{
    snwAsset* asset = look->asset;
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        const snwAssetNode* node = &asset->nodes[i];
        char place[96];
        NamePlace(place, sizeof place, "node", i, node->name);
        bool skinned = node->mesh >= 0 && node->skin >= 0;
        snwAsset_NoteMany(asset, snw_noteOdd, skinned && !IsIdentity(look->worlds[i]), place,
            "a skinned mesh has a transform of its own, which does not count: its bones place it");
        snwAsset_NoteMany(asset, snw_noteOdd, skinned && asset->meshes[node->mesh].weights.starts == NULL, place,
            "a mesh on a skeleton has no weights");
        snwAsset_NoteMany(
            asset, snw_noteOdd, !IsUniform(node->pose.scale), place, "a scale that is not the same along x, y and z");
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Skins

// At rest all bones move the mesh in the same way, or its bind pose was another one.
static int64_t CountUnbound(const Look* look, const snwAssetSkin* skin)
{
    snwAffine first = JointMatrix(look, skin, 0);
    double least = 1e-3 * fmax(snwMat3_LargestEntry(first.linear), 1e-30);
    int64_t count = 0;
    for (int i = 1; i < skin->jointCount; ++i)
    {
        snwAffine other = JointMatrix(look, skin, i);
        double turned = snwMat3_LargestEntry(snwMat3_Sub(other.linear, first.linear));
        snwVec3 moved = snwVec3_Sub(other.translation, first.translation);
        count += !(turned < least) || !snwVec3_IsWithin(moved, 1e-3 * fmax(look->size, 1e-30));
    }
    return count;
}

static int64_t CountShort(const Look* look, const snwAssetSkin* skin)
{
    int64_t count = 0;
    for (int i = 0; i < skin->jointCount; ++i)
    {
        const snwAssetNode* node = &look->asset->nodes[skin->joints[i]];
        bool child = node->parent >= 0 && look->bone[node->parent];
        count += child && snwVec3_IsWithin(node->local.translation, 1e-6 * look->size);
    }
    return count;
}

// Which bones hold a vertex, for every skin: marks[starts of the skin + joint].
static bool MarkHeldVertices(Look* look, unsigned char* marks, const int64_t* starts)
{
    const snwAsset* asset = look->asset;
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        const snwAssetNode* node = &asset->nodes[i];
        if (node->mesh < 0 || node->skin < 0 || asset->meshes[node->mesh].weights.starts == NULL)
            continue;
        const snwAssetMesh* mesh = &asset->meshes[node->mesh];
        int entries = mesh->weights.starts[mesh->vertexCount];
        if (!Affords(look, entries))
            return false;
        for (int e = 0; e < entries; ++e)
            marks[starts[node->skin] + mesh->weights.bones[e]] = 1;
    }
    return true;
}

static void LookForWeightless(Look* look)
{
    snwAsset* asset = look->asset;
    int64_t* starts = snwArena_Alloc(&look->scratch, (size_t)asset->skinCount + 1, sizeof *starts);
    for (int s = 0; s < asset->skinCount && starts != NULL; ++s)
        starts[s + 1] = starts[s] + asset->skins[s].jointCount;
    unsigned char* marks = starts == NULL ? NULL : snwArena_Alloc(&look->scratch, (size_t)starts[asset->skinCount], 1);
    if (marks == NULL || !MarkHeldVertices(look, marks, starts))
        return;
    for (int s = 0; s < asset->skinCount; ++s)
    {
        int64_t count = 0;
        char place[96];
        for (int64_t k = starts[s]; k < starts[s + 1]; ++k)
            count += marks[k] == 0;
        snwAsset_NoteMany(asset, snw_noteOdd, count, NamePlace(place, sizeof place, "skin", s, asset->skins[s].name),
            "bones that hold no vertex");
    }
}

static void LookAtSkins(Look* look)
{
    snwAsset* asset = look->asset;
    for (int s = 0; s < asset->skinCount; ++s)
    {
        const snwAssetSkin* skin = &asset->skins[s];
        char place[96];
        NamePlace(place, sizeof place, "skin", s, skin->name);
        snwAsset_NoteMany(asset, snw_noteOdd, CountUnbound(look, skin), place,
            "bones are not where they were when the mesh was bound: the mesh is deformed at rest");
        snwAsset_NoteMany(asset, snw_noteOdd, CountShort(look, skin), place,
            "bones of length zero: they sit on the joint of their parent");
    }
    LookForWeightless(look);
}

// ---------------------------------------------------------------------------------------------------------------------
// Animations

// The value of key i, between the tangents of a cubic one.
static const double* Key(const snwAssetChannel* channel, int i)
{
    bool cubic = channel->interpolation == snw_assetCubic;
    return channel->values + ((size_t)i * (cubic ? 3 : 1) + cubic) * (size_t)channel->width;
}

static bool StartsAtRest(const Look* look, const snwAssetChannel* channel)
{
    const snwAssetPose* pose = &look->asset->nodes[channel->node].pose;
    const double* v = Key(channel, 0);
    if (channel->path == snw_pathRotation)
        return snwQuat_Angle(snwQuat_Normalize((snwQuat){v[0], v[1], v[2], v[3]}), pose->rotation) < 0.02;
    snwVec3 rest = channel->path == snw_pathScale ? pose->scale : pose->translation;
    double tolerance = channel->path == snw_pathScale ? 1e-3 : 1e-3 * fmax(look->size, 1e-30);
    return snwVec3_IsWithin(snwVec3_Sub((snwVec3){v[0], v[1], v[2]}, rest), tolerance);
}

static bool ChangesScale(const snwAssetChannel* channel, bool* uniform)
{
    const double* first = Key(channel, 0);
    bool changes = false;
    for (int i = 0; i < channel->keyCount; ++i)
    {
        const double* v = Key(channel, i);
        for (int k = 0; k < 3; ++k)
            changes |= fabs(v[k] - first[k]) > 1e-4 * fabs(first[k]);
        *uniform &= IsUniform((snwVec3){v[0], v[1], v[2]});
    }
    return changes;
}

static void LookAtChannel(Look* look, const snwAssetChannel* channel, const char* place)
{
    snwAsset* asset = look->asset;
    if (channel->path == snw_pathMorphs)
        return;
    snwAsset_NoteMany(asset, snw_noteOdd, look->bone[channel->node] && !StartsAtRest(look, channel), place,
        "bones whose first key is not their rest pose: blend into it, or the flesh starts with a jolt");
    snwAsset_NoteMany(asset, snw_noteOdd, asset->nodes[channel->node].sheared, place,
        "an animation of a node whose matrix shears: the shear is lost");
    bool uniform = true;
    if (channel->path != snw_pathScale)
        return;
    snwAsset_NoteMany(asset, snw_noteOdd, ChangesScale(channel, &uniform), place, "the scale of a node is animated");
    snwAsset_NoteMany(asset, snw_noteOdd, !uniform, place, "an animated scale that is not the same along x, y and z");
}

static void LookAtAnimations(Look* look)
{
    snwAsset* asset = look->asset;
    for (int i = 0; i < asset->animationCount; ++i)
    {
        const snwAssetAnimation* animation = &asset->animations[i];
        char place[96];
        NamePlace(place, sizeof place, "animation", i, animation->name);
        snwAsset_NoteMany(asset, snw_noteOdd, animation->start > 1e-6, place,
            "the first key comes after 0 s: until then its value holds");
        snwAsset_NoteMany(asset, snw_noteOdd, animation->start < -1e-6, place, "the first key comes before 0 s");
        for (int c = 0; c < animation->channelCount; ++c)
            LookAtChannel(look, &animation->channels[c], place);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices

static double Unsigned(double x)
{
    return x == 0 ? 0 : x; // -0 is the same place
}

// Exporters split vertices where normals or textures have a seam.
static bool CountSeamDoubles(Look* look, const snwAssetMesh* mesh, int64_t* count)
{
    snwContext* context = look->asset->context;
    uint64_t* keys = snwAllocArray(context, (size_t)mesh->vertexCount, sizeof *keys);
    int* values = snwAllocArray(context, (size_t)mesh->vertexCount, sizeof *values);
    bool fine = keys != NULL && values != NULL;

    // Sorted by the hash of their places, copies are neighbours; 0 and -0 are one place.
    for (int i = 0; i < mesh->vertexCount && fine; ++i)
    {
        snwVec3 p = mesh->positions[i];
        const double place[3] = {Unsigned(p.x), Unsigned(p.y), Unsigned(p.z)};
        keys[i] = snwHash(place, sizeof place, 0);
    }

    fine = fine && snwSortKeys(context, keys, values, mesh->vertexCount);
    *count = 0;
    for (int i = 1; i < mesh->vertexCount && fine; ++i)
        *count += keys[i] == keys[i - 1];
    snwFree(context, keys);
    snwFree(context, values);

    return fine;
}

static bool LookAtMeshes(Look* look)
{
    snwAsset* asset = look->asset;
    for (int i = 0; i < asset->meshCount; ++i)
    {
        int64_t count;
        char place[96];
        if (!CountSeamDoubles(look, &asset->meshes[i], &count))
            return false;
        snwAsset_NoteMany(asset, snw_noteOdd, count, NamePlace(place, sizeof place, "mesh", i, asset->meshes[i].name),
            "vertices at the place of another one (seams of normals or textures): the simulation welds them");
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------

static bool LookAtAll(Look* look)
{
    const snwAsset* asset = look->asset;
    look->bone = snwArena_Alloc(&look->scratch, (size_t)asset->nodeCount, 1);
    look->worlds = snwAsset_PlaceNodes(asset, &look->scratch);
    if (look->bone == NULL || look->worlds == NULL)
        return false;
    for (int s = 0; s < asset->skinCount; ++s)
        for (int i = 0; i < asset->skins[s].jointCount; ++i)
            look->bone[asset->skins[s].joints[i]] = 1;
    FindAssetSize(look);
    GuessScale(look);
    LookAtNodes(look);
    LookAtSkins(look);
    LookAtAnimations(look);
    return LookAtMeshes(look) && !look->scratch.failed;
}

snwResult snwAsset_Examine(snwAsset* asset, snwMessage* message)
{
    Look look = {.asset = asset, .scratch.context = asset->context};
    bool fine = LookAtAll(&look);
    snwArena_Free(&look.scratch);
    return fine ? snw_ok : snwFailMemory(message);
}
