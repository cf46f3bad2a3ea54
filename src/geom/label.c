// Bone labels: each vertex to the nearest bone that holds it, tets to the bone of all their corners. Bones too small
// for the mesh grow by a few tets, and where two meet without flesh between, one of them gives way.

#include "geom/label.h"
#include "base/sort.h"
#include "geom/lattice.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Distances

typedef struct FieldLoop
{
    const snwSolid* solid;
    const snwTetMesh* mesh;
    snwBoneField* field;
} FieldLoop;

static void MeasureRange(int begin, int end, void* data)
{
    const FieldLoop* loop = data;
    const snwSolid* solid = loop->solid;

    // Every bone is asked for every vertex; NaN ends it, and becomes an error outside of the loop.
    for (int i = begin; i < end; ++i)
    {
        int nearest = -1;
        double distance = INFINITY;
        for (int b = 0; b < solid->boneCount; ++b)
        {
            double d = solid->boneDistance(b, loop->mesh->vertices[i], solid->data);
            if (d < distance)
                distance = d, nearest = b;
            if (isnan(d))
            {
                distance = d, nearest = b;
                break;
            }
        }

        loop->field->bones[i] = nearest;
        loop->field->distances[i] = distance;
    }
}

snwResult snwMeasureBones(snwContext* context, const snwSolid* solid, const snwTetMesh* mesh, snwArena* arena,
    snwBoneField* field, snwMessage* message)
{
    size_t count = (size_t)mesh->vertexCount;
    *field = (snwBoneField){.bones = snwArena_Alloc(arena, count, sizeof *field->bones),
        .distances = snwArena_Alloc(arena, count, sizeof *field->distances),
        .vertexCount = mesh->vertexCount};
    if (field->bones == NULL || field->distances == NULL)
        return snwFailMemory(message);

    // A distance that is no number is told here, where messages may be written.
    FieldLoop loop = {solid, mesh, field};
    snwParallelFor(context, mesh->vertexCount, 64, MeasureRange, &loop);

    for (int i = 0; i < mesh->vertexCount; ++i)
        if (isnan(field->distances[i]))
        {
            snwResult result = snwFailDistance(message, mesh->vertices[i]);
            snwMessage_AddPlace(message, "bone %d", field->bones[i]);
            return result;
        }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Labels

static void LabelTets(const snwTetMesh* mesh, snwBoneLabels* labels)
{
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        const int *t = mesh->tets[i], *bones = labels->vertexBones;
        int bone = bones[t[0]];
        bool same = bones[t[1]] == bone && bones[t[2]] == bone && bones[t[3]] == bone;
        labels->tetBones[i] = same ? bone : -1;
    }
}

static int CountBoneTets(const snwTetMesh* mesh, const snwBoneLabels* labels, int bone)
{
    int count = 0;
    for (int i = 0; i < mesh->tetCount; ++i)
        count += labels->tetBones[i] == bone;
    return count;
}

typedef struct GrowLoop
{
    const snwSolid* solid;
    const snwTetMesh* mesh;
    double* distances; // of each vertex to the bone that grows
    int bone;
} GrowLoop;

static void GrowRange(int begin, int end, void* data)
{
    const GrowLoop* loop = data;
    for (int i = begin; i < end; ++i)
        loop->distances[i] = loop->solid->boneDistance(loop->bone, loop->mesh->vertices[i], loop->solid->data);
}

// The tet nearest to the bone, by its farthest vertex, that is not the bone's yet and of which no vertex is another
// bone's; -1: none.
static int FindTetToClaim(const GrowLoop* loop, const snwBoneLabels* labels)
{
    int found = -1;
    double nearest = INFINITY;
    for (int i = 0; i < loop->mesh->tetCount; ++i)
    {
        double farthest = labels->tetBones[i] == loop->bone ? INFINITY : -INFINITY;
        for (int k = 0; k < 4; ++k)
        {
            int vertex = loop->mesh->tets[i][k], owner = labels->vertexBones[vertex];
            farthest = fmax(farthest, owner < 0 || owner == loop->bone ? loop->distances[vertex] : INFINITY);
        }
        if (farthest < nearest)
            nearest = farthest, found = i;
    }
    return found;
}

static snwResult GrowBone(snwContext* context, GrowLoop* loop, snwBoneLabels* labels, snwMessage* message)
{
    const snwTetMesh* mesh = loop->mesh;
    loop->distances = snwAllocArray(context, (size_t)mesh->vertexCount, sizeof *loop->distances);
    if (loop->distances == NULL)
        return snwFailMemory(message);
    snwParallelFor(context, mesh->vertexCount, 64, GrowRange, loop);
    int owned = CountBoneTets(mesh, labels, loop->bone), before = owned;

    // A tet at a time, the nearest first, as long as it takes none from another bone.
    while (owned < snw_minBoneTets)
    {
        int tet = FindTetToClaim(loop, labels);
        if (tet < 0)
            break;
        for (int k = 0; k < 4; ++k)
            labels->vertexBones[mesh->tets[tet][k]] = loop->bone;
        LabelTets(mesh, labels);
        owned = CountBoneTets(mesh, labels, loop->bone);
    }

    snwFree(context, loop->distances);
    if (owned >= snw_minBoneTets)
        return snw_ok;
    return snwFail(message, snw_errorInput, "use a smaller spacing, or make the bone larger",
        "bone %d has %d tets and can get only %d, not %d", loop->bone, before, owned, snw_minBoneTets);
}

// ---------------------------------------------------------------------------------------------------------------------
// Gaps

typedef struct Gaps
{
    int* held;   // bone tets at each vertex
    int* shared; // tets between bones at each vertex
    int* owned;  // tets of each bone
    int count;   // tets between bones
} Gaps;

static void CountGaps(const snwTetMesh* mesh, const snwBoneLabels* labels, int boneCount, Gaps* gaps)
{
    memset(gaps->held, 0, (size_t)mesh->vertexCount * sizeof *gaps->held);
    memset(gaps->shared, 0, (size_t)mesh->vertexCount * sizeof *gaps->shared);
    memset(gaps->owned, 0, (size_t)boneCount * sizeof *gaps->owned);

    // How many bone tets hold each vertex, and how many each bone owns.
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        int bone = labels->tetBones[i];
        for (int k = 0; k < 4 && bone >= 0; ++k)
            gaps->held[mesh->tets[i][k]]++;
        if (bone >= 0)
            gaps->owned[bone]++;
    }

    // Gaps: tets of which every corner is held by bone, but the tet is no bone's.
    gaps->count = 0;
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        const int *t = mesh->tets[i], *held = gaps->held;
        bool between = labels->tetBones[i] < 0 && held[t[0]] > 0 && held[t[1]] > 0 && held[t[2]] > 0 && held[t[3]] > 0;
        for (int k = 0; k < 4 && between; ++k)
            gaps->shared[t[k]]++;
        gaps->count += between;
    }
}

// The vertex that most of them share, of the larger bone among equals, whose bone can spare it; -1: none.
static int FindVertexToFree(const snwTetMesh* mesh, const snwBoneLabels* labels, const Gaps* gaps)
{
    int found = -1;
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        int bone = labels->vertexBones[i];
        if (gaps->shared[i] == 0 || gaps->owned[bone] - gaps->held[i] < snw_minBoneTets)
            continue;
        int more = found < 0 ? 1 : gaps->shared[i] - gaps->shared[found];
        if (more > 0 || (more == 0 && gaps->owned[bone] > gaps->owned[labels->vertexBones[found]]))
            found = i;
    }
    return found;
}

// Where a mesh is too coarse for a layer of flesh between two bones, tets have all their corners on bones, but not on
// one: nothing in them can yield, and they turn inside out as soon as the joint bends. The bones give way there, as far
// as they have tets to spare.
static bool PartCoarseBones(snwContext* context, const snwTetMesh* mesh, int boneCount, snwBoneLabels* labels)
{
    Gaps gaps = {.held = snwAllocArray(context, (size_t)mesh->vertexCount, sizeof *gaps.held),
        .shared = snwAllocArray(context, (size_t)mesh->vertexCount, sizeof *gaps.shared),
        .owned = snwAllocArray(context, (size_t)boneCount, sizeof *gaps.owned)};
    bool enough = gaps.held != NULL && gaps.shared != NULL && gaps.owned != NULL;

    // One vertex after the other becomes flesh, counted anew after each.
    for (int vertex = 0; enough && vertex >= 0;)
    {
        CountGaps(mesh, labels, boneCount, &gaps);
        vertex = gaps.count > 0 ? FindVertexToFree(mesh, labels, &gaps) : -1;
        if (vertex < 0)
            break;
        labels->vertexBones[vertex] = -1;
        LabelTets(mesh, labels);
    }

    snwFree(context, gaps.held);
    snwFree(context, gaps.shared);
    snwFree(context, gaps.owned);
    return enough;
}

// ---------------------------------------------------------------------------------------------------------------------

snwResult snwLabelBonesFrom(snwContext* context, const snwSolid* solid, const snwTetMesh* mesh,
    const snwBoneField* field, double offset, snwArena* arena, snwBoneLabels* labels, snwMessage* message)
{
    *labels = (snwBoneLabels){
        .vertexBones = snwArena_Alloc(arena, (size_t)mesh->vertexCount, sizeof *labels->vertexBones),
        .tetBones = snwArena_Alloc(arena, (size_t)mesh->tetCount, sizeof *labels->tetBones)};
    if (labels->vertexBones == NULL || labels->tetBones == NULL)
        return snwFailMemory(message);

    // What is less than the offset away from a bone belongs to it.
    for (int i = 0; i < mesh->vertexCount; ++i)
        labels->vertexBones[i] = field->distances[i] < offset ? field->bones[i] : -1;
    LabelTets(mesh, labels);

    // Bones that got too few tets grow.
    for (int b = 0; b < solid->boneCount; ++b)
    {
        if (CountBoneTets(mesh, labels, b) >= snw_minBoneTets)
            continue;
        GrowLoop loop = {.solid = solid, .mesh = mesh, .bone = b};
        snwResult result = GrowBone(context, &loop, labels, message);
        if (result < 0)
            return result;
    }

    if (solid->boneCount > 1 && !PartCoarseBones(context, mesh, solid->boneCount, labels))
        return snwFailMemory(message);
    for (int i = 0; i < mesh->vertexCount; ++i)
        labels->elasticCount += labels->vertexBones[i] < 0;
    return snw_ok;
}

snwResult snwLabelBones(snwContext* context, const snwSolid* solid, const snwTetMesh* mesh, double offset,
    snwArena* arena, snwBoneLabels* labels, snwMessage* message)
{
    *labels = (snwBoneLabels){0};
    snwArena scratch = {.context = context};
    snwBoneField field;
    snwResult result = snwMeasureBones(context, solid, mesh, &scratch, &field, message);
    if (result >= 0)
        result = snwLabelBonesFrom(context, solid, mesh, &field, offset, arena, labels, message);
    snwArena_Free(&scratch);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Offset

// Keeps the order of doubles among unsigned numbers.
static uint64_t OrderedBits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

snwResult snwFitBoneOffset(snwContext* context, const snwBoneField* field, int elasticCount, double maxOffset,
    double* offset, snwMessage* message)
{
    int count = field->vertexCount;
    uint64_t* keys = snwAllocArray(context, (size_t)count, sizeof *keys);
    int* order = snwAllocArray(context, (size_t)count, sizeof *order);
    bool enough = keys != NULL && order != NULL;

    for (int i = 0; enough && i < count; ++i)
        keys[i] = OrderedBits(field->distances[i]), order[i] = i;
    enough = enough && snwSortKeys(context, keys, order, count);
    *offset = 0;
    if (enough)
    {
        // The bones stay as they are if that is near enough; else they change as little as need be.
        int slack = elasticCount / 25, elastic = 0;
        for (int i = 0; i < count; ++i)
            elastic += field->distances[i] >= 0;
        if (abs(elastic - elasticCount) > slack)
            elastic = elastic < elasticCount ? elasticCount - slack : elasticCount + slack;

        // Those before `first` become bone: the offset is between it and the one before.
        int first = count - elastic;
        first = first < 0 ? 0 : first > count ? count : first;
        double low = first > 0 ? field->distances[order[first - 1]] : -maxOffset;
        double high = first < count ? field->distances[order[first]] : maxOffset;
        low = fmin(fmax(low, -maxOffset), maxOffset), high = fmin(fmax(high, -maxOffset), maxOffset);
        *offset = 0.5 * (low + high);
    }

    snwFree(context, keys);
    snwFree(context, order);
    return enough ? snw_ok : snwFailMemory(message);
}
