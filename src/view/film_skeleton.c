// Elements follow the lattice they were cut from, so the surface of a bone's elements is a staircase. It is smoothed by
// Taubin's pair of steps (1995), which takes the steps away and keeps the volume. What lies in the skin of the
// character itself (a horn, a shell) is drawn in a little, so that the translucent skin is always in front of it.
//
// A thin bone inside a limb owns a handful of elements, which say less about its form than the capsule that it is in
// the definition. Such bones stay capsules; those that reach well beyond their radius, or have none, are drawn here.

#include "view/film_skeleton.h"

#include "geom/mesh.h"
#include "math/transform.h"

#include <string.h>

enum
{
    snw_smoothPairs = 6,
    snw_fewElements = 60,
};

static const double s_shrink = 0.5, s_swell = -0.53;
static const double s_sink = 0.25; // of the mean edge

typedef struct Maker
{
    snwContext* context;
    const snwCharacter* character;
    const snwCharacterDef* def;
    snwFilmSkeleton* skeleton;
    int* numbers;    // of each vertex of the character in the surface, or -1
    double* points;  // x y z of the surface's vertices, double for smoothing
    double* moves;   // x y z likewise
    int* neighbours; // how many
} Maker;

static snwElements CharacterElements(const snwCharacterDef* def)
{
    if (def->tetCount > 0)
        return (snwElements){def->tets[0], 4, def->tetCount};
    return (snwElements){def->hexCount > 0 ? def->hexes[0] : NULL, 8, def->hexCount};
}

static double BoneSpanDistance(const snwBoneDef* bone, snwVec3 p)
{
    snwVec3 span = snwVec3_Sub(bone->tail, bone->head), to = snwVec3_Sub(p, bone->head);
    double length = snwVec3_Dot(span, span);
    double t = length > 0 ? fmin(fmax(snwVec3_Dot(to, span) / length, 0), 1) : 0;
    return snwVec3_Length(snwVec3_Sub(to, snwVec3_Scale(span, t)));
}

static bool IsMoreThanACapsule(const snwCharacterDef* def, int bone)
{
    snwElements all = CharacterElements(def);
    double reach = 0;
    int count = 0;
    for (int i = 0; i < all.count; ++i)
    {
        if (def->elementBones[i] != bone)
            continue;
        count++;
        for (int k = 0; k < all.arity; ++k)
            reach = fmax(reach, BoneSpanDistance(&def->bones[bone], def->vertices[snwElements_Corners(all, i)[k]]));
    }
    bool shaped = count >= snw_fewElements && reach > 2 * def->bones[bone].radius;
    return count > 0 && (shaped || def->bones[bone].radius <= 0);
}

// The skin of the bones' elements, with the numbers of the character's vertices.
static snwResult FindElementSkin(Maker* maker, int (**triangles)[3], int* count)
{
    snwElements all = CharacterElements(maker->def);
    size_t bytes = (size_t)all.arity * sizeof(int);
    int* corners = snwAllocArray(maker->context, (size_t)all.count + 1, bytes);
    snwElements rigid = {corners, all.arity, 0};
    snwResult result = corners != NULL ? snw_ok : snw_errorMemory;

    // Bones with a shape of their own; what a capsule shows as well is drawn as one.
    for (int i = 0; i < maker->def->boneCount; ++i)
        maker->skeleton->solid[i] = IsMoreThanACapsule(maker->def, i);

    // Only elements of such bones.
    for (int i = 0; result >= 0 && i < all.count; ++i)
    {
        int bone = maker->def->elementBones[i];
        if (bone >= 0 && maker->skeleton->solid[bone])
            memcpy(corners + (size_t)all.arity * (size_t)rigid.count++, snwElements_Corners(all, i), bytes);
    }

    if (result >= 0)
        result = snwMesh_FindSkin(maker->context, rigid, triangles, count);
    snwFree(maker->context, corners);
    return result;
}

static bool NumberSkinVertices(Maker* maker, const int (*triangles)[3], int count)
{
    snwFilmSkeleton* skeleton = maker->skeleton;
    size_t most = (size_t)maker->def->vertexCount;
    skeleton->triangles = snwAllocArray(maker->context, 3 * (size_t)count + 1, sizeof(int));
    maker->numbers = snwAllocArray(maker->context, most + 1, sizeof(int));
    if (skeleton->triangles == NULL || maker->numbers == NULL)
        return false;

    // -1: no triangle of the skeleton has it.
    for (size_t v = 0; v < most; ++v)
        maker->numbers[v] = -1;

    // In the order in which triangles use them.
    for (int i = 0; i < 3 * count; ++i)
    {
        int* number = &maker->numbers[triangles[i / 3][i % 3]];
        if (*number < 0)
            *number = skeleton->vertexCount++;
        skeleton->triangles[i] = *number;
    }

    skeleton->triangleCount = count;
    return true;
}

static bool PlaceBoneVertices(Maker* maker)
{
    snwFilmSkeleton* skeleton = maker->skeleton;
    size_t count = (size_t)skeleton->vertexCount + 1;

    // Room for both shapes, and for smoothing.
    skeleton->rest = snwAllocArray(maker->context, 3 * count, sizeof(float));
    skeleton->positions = snwAllocArray(maker->context, 3 * count, sizeof(float));
    skeleton->owners = snwAllocArray(maker->context, count, sizeof(int));
    maker->points = snwAllocArray(maker->context, 3 * count, sizeof(double));
    maker->moves = snwAllocArray(maker->context, 3 * count, sizeof(double));
    maker->neighbours = snwAllocArray(maker->context, count, sizeof(int));
    if (skeleton->rest == NULL || skeleton->positions == NULL || skeleton->owners == NULL || maker->points == NULL ||
        maker->moves == NULL || maker->neighbours == NULL)
        return false;

    // At rest, as the character has them.
    for (int v = 0; v < maker->def->vertexCount; ++v)
        if (maker->numbers[v] >= 0)
            memcpy(&maker->points[3 * (size_t)maker->numbers[v]], &maker->def->vertices[v], 3 * sizeof(double));
    snwElements all = CharacterElements(maker->def);

    // A vertex between two bones goes with the last of them.
    for (int i = 0; all.corners != NULL && i < all.count * all.arity; ++i)
    {
        int bone = maker->def->elementBones[i / all.arity], number = maker->numbers[all.corners[i]];
        if (bone >= 0 && number >= 0)
            skeleton->owners[number] = bone;
    }

    return true;
}

// One step: every vertex goes towards the mean of its neighbours (which count once per triangle), or away from it.
static void SmoothSkeleton(Maker* maker, double share)
{
    const snwFilmSkeleton* skeleton = maker->skeleton;
    memset(maker->moves, 0, 3 * (size_t)skeleton->vertexCount * sizeof(double));
    memset(maker->neighbours, 0, (size_t)skeleton->vertexCount * sizeof(int));
    for (int i = 0; i < 3 * skeleton->triangleCount; ++i)
    {
        int a = skeleton->triangles[i], b = skeleton->triangles[i - i % 3 + (i + 1) % 3];
        for (int k = 0; k < 3; ++k)
            maker->moves[3 * a + k] += maker->points[3 * b + k];
        maker->neighbours[a]++;
    }
    for (int v = 0; v < skeleton->vertexCount; ++v)
        for (int i = 3 * v; i < 3 * v + 3; ++i)
            maker->points[i] += share * (maker->moves[i] / maker->neighbours[v] - maker->points[i]);
}

static snwVec3 SkeletonPoint(const Maker* maker, int vertex)
{
    const double* p = &maker->points[3 * vertex];
    return (snwVec3){p[0], p[1], p[2]};
}

// Sums of the triangles' normals into `moves`; returns the mean length of their sides.
static double FindSkeletonNormals(Maker* maker)
{
    const snwFilmSkeleton* skeleton = maker->skeleton;
    double length = 0;
    memset(maker->moves, 0, 3 * (size_t)skeleton->vertexCount * sizeof(double));

    // Area-weighted, and the mean side as the measure of a step.
    for (int t = 0; t < skeleton->triangleCount; ++t)
    {
        const int* v = skeleton->triangles + 3 * (size_t)t;
        snwVec3 a = SkeletonPoint(maker, v[0]), b = SkeletonPoint(maker, v[1]), c = SkeletonPoint(maker, v[2]);
        snwVec3 normal = snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(c, a));

        length += snwVec3_Distance(a, b) / skeleton->triangleCount;
        for (int i = 0; i < 3; ++i)
        {
            maker->moves[3 * v[i]] += normal.x;
            maker->moves[3 * v[i] + 1] += normal.y;
            maker->moves[3 * v[i] + 2] += normal.z;
        }
    }

    return length;
}

static void SinkBelowSkin(Maker* maker)
{
    snwSkin skin;
    double depth = s_sink * FindSkeletonNormals(maker);
    if (snwCharacter_GetRestSkin(maker->character, &skin) < 0)
        return;
    for (int i = 0; i < skin.vertexCount; ++i)
    {
        int number = maker->numbers[skin.vertices[i]];
        if (number < 0)
            continue;
        double* normal = &maker->moves[3 * number];
        double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        for (int k = 0; length > 0 && k < 3; ++k)
            maker->points[3 * number + k] -= depth * normal[k] / length;
    }
}

static snwResult MakeSkeletonSurface(Maker* maker, snwMessage* message)
{
    snwFilmSkeleton* skeleton = maker->skeleton;
    int(*triangles)[3] = NULL;
    int count = 0;
    skeleton->solid = snwAllocArray(maker->context, (size_t)maker->def->boneCount + 1, sizeof(bool));

    bool made = skeleton->solid != NULL && FindElementSkin(maker, &triangles, &count) >= 0 &&
                NumberSkinVertices(maker, (const int(*)[3])triangles, count) && PlaceBoneVertices(maker);
    snwFree(maker->context, triangles);
    if (!made)
        return snwFailMemory(message);

    // Pairs of steps: shrink, then swell a little more, so that the volume stays.
    for (int i = 0; i < snw_smoothPairs; ++i)
    {
        SmoothSkeleton(maker, s_shrink);
        SmoothSkeleton(maker, s_swell);
    }

    // What would look through the skin is drawn in below it.
    SinkBelowSkin(maker);
    for (int i = 0; i < 3 * skeleton->vertexCount; ++i)
        skeleton->rest[i] = (float)maker->points[i];
    return snw_ok;
}

snwResult snwFilmSkeleton_Make(
    snwContext* context, const snwCharacter* character, snwFilmSkeleton* skeleton, snwMessage* message)
{
    Maker maker = {context, character, snwCharacter_GetDef(character), skeleton, NULL, NULL, NULL, NULL};
    *skeleton = (snwFilmSkeleton){0};
    if (maker.def->elementBones == NULL || CharacterElements(maker.def).count == 0 ||
        snwCharacter_GetInfo(character).elasticVertexCount == 0)
        return snw_ok;
    snwResult result = MakeSkeletonSurface(&maker, message);
    snwFree(context, maker.numbers);
    snwFree(context, maker.points);
    snwFree(context, maker.moves);
    snwFree(context, maker.neighbours);
    if (result < 0)
        snwFilmSkeleton_Free(context, skeleton);
    return result;
}

void snwFilmSkeleton_Free(snwContext* context, snwFilmSkeleton* skeleton)
{
    snwFree(context, skeleton->rest);
    snwFree(context, skeleton->owners);
    snwFree(context, skeleton->triangles);
    snwFree(context, skeleton->positions);
    snwFree(context, skeleton->solid);
    *skeleton = (snwFilmSkeleton){0};
}

void snwFilmSkeleton_Move(snwFilmSkeleton* skeleton, const snwTransform* bones)
{
    for (int i = 0; i < skeleton->vertexCount; ++i)
    {
        const float* rest = skeleton->rest + 3 * (size_t)i;
        snwVec3 now = snwTransform_Apply(
            bones[skeleton->owners[i]], (snwVec3){(double)rest[0], (double)rest[1], (double)rest[2]});
        float* out = skeleton->positions + 3 * (size_t)i;
        out[0] = (float)now.x;
        out[1] = (float)now.y;
        out[2] = (float)now.z;
    }
}
