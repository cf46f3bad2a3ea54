// A take as GLB. Handle k is a joint that rests at its point ub_k; a map x -> A x + t is then the joint's pose
//     translation A ub_k + t,   rotation and scale A
// If A stretches it is no pose of one node. With A = U S V^T, S along the axes, it is two: a parent with the rotation U
// and the scale S, and the joint within it with the rotation V^T. U and V are not unique; they are chosen near those of
// the frame before, so that players that blend between frames blend little.

#include "asset/export_take.h"

#include "asset/gltf_write.h"
#include "math/eigen.h"
#include "sim/character.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double s_rigid = 1e-6; // of a map's entries: this near to a rotation it is one

typedef struct Film
{
    const snwTake* take;
    const snwCharacterDef* character;
    snwGltfWriter* writer;
    snwArena arena;
    int handles, frames;
    bool hierarchy;       // joints hang on each other as the bones do
    int* stretchers;      // per handle: the joint above it; -1: none
    snwGltfJoint* joints; // the handles, then the stretchers
    int jointCount;
    int* nodes;
    snwWeights* ownWeights;
} Film;

static void* AllocGlb(Film* film, size_t count, size_t size)
{
    return snwArena_Alloc(&film->arena, count, size);
}

// ---------------------------------------------------------------------------------------------------------------------
// Joints

static bool Stretches(const Film* film, int handle)
{
    for (int i = 0; i < film->frames; ++i)
    {
        snwMat3 a = snwTake_Map(film->take, i, handle).linear;
        if (snwMat3_LargestEntry(snwMat3_Sub(snwPolar3_Compute(a).rotation, a)) > s_rigid)
            return true;
    }
    return false;
}

// The handle that is the nearest bone above the handle's own bone; -1: none.
static int ParentOf(const snwCharacterDef* def, int handle)
{
    int count = snwCharacterDef_HandleCount(def), bone = snwCharacterDef_BoneOfHandle(def, handle);
    while (bone >= 0 && (bone = def->bones[bone].parent) >= 0)
        for (int k = 0; k < count; ++k)
            if (snwCharacterDef_BoneOfHandle(def, k) == bone)
                return k;
    return -1;
}

static void MakeJoints(Film* film)
{
    film->joints = AllocGlb(film, 2 * (size_t)film->handles, sizeof *film->joints);
    film->nodes = AllocGlb(film, 2 * (size_t)film->handles, sizeof *film->nodes);
    film->stretchers = AllocGlb(film, (size_t)film->handles, sizeof *film->stretchers);
    film->jointCount = film->handles;
    film->hierarchy = true;
    if (film->arena.failed)
        return;

    // A handle that stretches gets a second joint above it; with any of those the hierarchy of bones is given up.
    for (int k = 0; k < film->handles; ++k)
    {
        film->stretchers[k] = Stretches(film, k) ? film->jointCount++ : -1;
        film->hierarchy = film->hierarchy && film->stretchers[k] < 0;
    }

    // Each rests at its own point; parents are known by number, also those that come later.
    for (int k = 0; k < film->handles; ++k)
    {
        int above = film->stretchers[k];
        snwVec3 rest = snwTake_HandleRest(film->take, k);
        int parent = film->hierarchy ? ParentOf(film->character, k) : above;
        film->joints[k] = (snwGltfJoint){snwTake_HandleName(film->take, k), parent, rest};
        if (above >= 0)
            film->joints[above] = (snwGltfJoint){"", -1, rest};
    }
}

static snwResult FindGlbWeights(Film* film, const snwCharacter* character, snwAssetWeights* out, snwMessage* message)
{
    const snwCharacterDef* def = film->character;
    const snwWeights* weights = def->handleCount > 0 ? &def->handleWeights : &def->boneWeights;
    if (weights->vertexCount == 0)
    {
        snwWeightsDef wanted = snwDefaultWeightsDef();
        wanted.handles = def->handleCount > 0;
        snwResult result = snwComputeWeights(character, &wanted, &film->ownWeights, message);
        if (result < 0)
            return result;
        weights = film->ownWeights;
    }
    *out = (snwAssetWeights){weights->starts, weights->handles, weights->values, weights->handleCount};
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Keys

// Translation, rotation and scale of the joints in one frame after the other.
typedef struct Keys
{
    double *translations, *rotations, *scales; // scales NULL: none
    snwQuat last;
} Keys;

static void SetVector(double* values, int frame, snwVec3 v)
{
    values[3 * frame] = v.x;
    values[3 * frame + 1] = v.y;
    values[3 * frame + 2] = v.z;
}

static void SetRotation(Keys* keys, int frame, snwQuat q)
{
    double* to = keys->rotations + 4 * (size_t)frame;
    if (snwQuat_Dot(q, keys->last) < 0)
        q = snwQuat_Scale(q, -1);
    keys->last = q;
    to[0] = q.x, to[1] = q.y, to[2] = q.z, to[3] = q.w;
}

static Keys NewKeys(Film* film, bool scaled)
{
    size_t frames = (size_t)film->frames;
    return (Keys){.translations = AllocGlb(film, frames, 3 * sizeof(double)),
        .rotations = AllocGlb(film, frames, 4 * sizeof(double)),
        .scales = scaled ? AllocGlb(film, frames, 3 * sizeof(double)) : NULL,
        .last = snwQuat_Identity()};
}

static snwTransform PlaceOfHandle(const Film* film, int frame, int handle)
{
    snwAffine map = snwTake_Map(film->take, frame, handle);
    return (snwTransform){
        snwAffine_Apply(map, film->joints[handle].rest), snwQuat_FromMat3(snwPolar3_Compute(map.linear).rotation)};
}

// The pose of a rigid handle; relative to its parent where the file has a hierarchy.
static snwTransform RigidPose(const Film* film, int frame, int handle)
{
    snwTransform pose = PlaceOfHandle(film, frame, handle);
    int parent = film->joints[handle].parent;
    return film->hierarchy && parent >= 0 ? snwTransform_Between(PlaceOfHandle(film, frame, parent), pose) : pose;
}

static void FillRigid(const Film* film, int handle, Keys* keys)
{
    for (int i = 0; i < film->frames; ++i)
    {
        snwTransform pose = RigidPose(film, i, handle);
        SetVector(keys->translations, i, pose.position);
        SetRotation(keys, i, pose.rotation);
    }
}

// The axes of S in another order and with other signs are as good, as long as they are a rotation: the nearest to the
// last ones of the 24.
static void Align(snwSvd3* svd, snwMat3 last)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    snwSvd3 best = *svd;
    double most = -INFINITY;
    for (int i = 0; i < 48; ++i)
    {
        // The 24 ways of turning a box onto itself, in 48 orders and signs of which half are mirrored.
        snwSvd3 other;
        double trace = 0;
        for (int column = 0; column < 3; ++column)
        {
            int from = orders[i / 8][column];
            double sign = (i >> column & 1) != 0 ? -1 : 1;
            for (int row = 0; row < 3; ++row)
            {
                other.U.m[row][column] = sign * svd->U.m[row][from];
                other.V.m[row][column] = sign * svd->V.m[row][from];
                trace += other.V.m[row][column] * last.m[row][column];
            }

            other.sigma[column] = svd->sigma[from];
        }

        // Mirrored ones are no rotations.
        if (snwMat3_Determinant(other.V) < 0 || !(trace > most))
            continue;
        most = trace;
        best = other;
    }

    *svd = best;
}

static void FillStretched(const Film* film, int handle, Keys* above, Keys* joint)
{
    snwMat3 last = snwMat3_Identity();
    for (int i = 0; i < film->frames; ++i)
    {
        snwAffine map = snwTake_Map(film->take, i, handle);
        snwSvd3 svd = snwSvd3_Signed(map.linear);
        Align(&svd, last);
        last = svd.V;
        SetVector(above->translations, i, snwAffine_Apply(map, film->joints[handle].rest));
        SetRotation(above, i, snwQuat_FromMat3(svd.U));
        SetVector(above->scales, i, (snwVec3){svd.sigma[0], svd.sigma[1], svd.sigma[2]});
        SetRotation(joint, i, snwQuat_FromMat3(snwMat3_Transpose(svd.V)));
        SetVector(joint->translations, i, (snwVec3){0, 0, 0});
    }
}

static int AddJointChannels(const Film* film, int joint, const Keys* keys, snwAssetChannel* channels)
{
    snwAssetChannel channel = {.node = film->nodes[joint],
        .interpolation = snw_assetLinear,
        .times = film->take->times.data,
        .keyCount = film->frames,
        .width = 3};
    int count = 0;
    channel.path = snw_pathTranslation, channel.values = keys->translations, channels[count++] = channel;
    channel.path = snw_pathScale, channel.values = keys->scales;
    if (keys->scales != NULL)
        channels[count++] = channel;
    channel.path = snw_pathRotation, channel.values = keys->rotations, channel.width = 4, channels[count++] = channel;
    return count;
}

static snwResult AddAnimation(Film* film, snwMessage* message)
{
    snwAssetChannel* channels = AllocGlb(film, 5 * (size_t)film->handles, sizeof *channels);
    int count = 0;

    // Handles that stretch have keys for both of their joints.
    for (int k = 0; k < film->handles && !film->arena.failed; ++k)
    {
        bool stretched = film->stretchers[k] >= 0;
        Keys joint = NewKeys(film, false), above = {0};
        if (stretched)
            above = NewKeys(film, true);
        if (film->arena.failed)
            break;
        if (stretched)
            FillStretched(film, k, &above, &joint);
        else
            FillRigid(film, k, &joint);

        count += AddJointChannels(film, k, &joint, channels + count);
        if (stretched)
            count += AddJointChannels(film, film->stretchers[k], &above, channels + count);
    }

    if (film->arena.failed)
        return snwFailMemory(message);
    snwAssetAnimation animation = {.name = "take", .channels = channels, .channelCount = count};
    snwGltfWriter_AddAnimation(film->writer, &animation);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------

// As many as a vertex has: cut to the largest ones weights jump from one vertex to the next, and the skin is torn.
static int CountMostInfluences(const Film* film, const snwAssetWeights* weights)
{
    int most = 8;
    for (int i = 0; i < film->character->vertexCount; ++i)
        most = weights->starts[i + 1] - weights->starts[i] > most ? weights->starts[i + 1] - weights->starts[i] : most;
    return most < snw_mostGltfInfluences ? most : snw_mostGltfInfluences;
}

static snwResult BuildGlb(Film* film, const snwCharacter* character, snwMessage* message)
{
    snwAssetWeights weights = {0};
    MakeJoints(film);
    if (film->arena.failed)
        return snwFailMemory(message);
    snwResult result = FindGlbWeights(film, character, &weights, message);
    if (result < 0)
        return result;
    snwGltfCharacterDef def = snwDefaultGltfCharacterDef(character);
    def.weights = &weights;
    def.influences = CountMostInfluences(film, &weights);
    def.joints = film->joints;
    def.jointCount = film->jointCount;
    def.nodes = film->nodes;
    return snwGltfWriter_AddCharacter(film->writer, &def) < 0 ? snw_ok : AddAnimation(film, message);
}

snwResult snwTake_WriteGlb(const snwTake* take, unsigned char** data, size_t* size, snwMessage* message)
{
    const snwCharacter* character = snwScene_GetDef(take->scene)->bodies[take->body].character;
    Film film = {.take = take,
        .character = snwCharacter_GetDef(character),
        .arena = {.context = take->context},
        .handles = snwTake_HandleCount(take),
        .frames = take->times.count};
    snwResult result = snwGltfWriter_Open(take->context, NULL, &film.writer, message);
    if (result >= 0)
        result = BuildGlb(&film, character, message);
    if (result >= 0)
        result = snwGltfWriter_Write(film.writer, snw_gltfGlb, data, size, message);
    snwGltfWriter_Close(film.writer);
    snwFree(take->context, film.ownWeights);
    snwArena_Free(&film.arena);
    return result;
}
