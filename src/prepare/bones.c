// Which bones there are in the end, how long and thick they are, and which elements they own. The rules, where nobody
// says otherwise:
//
//   - a bone that no vertex follows is dropped (helpers, targets, ends); what it does is in the motion of those below;
//   - a bone ends where the bone below it begins; with several below it, at the middle of their heads; with none,
//     as far as the flesh reaches that follows it, towards the middle of that flesh;
//   - its radius is a third of the way to the surface, in the middle of a few places along it;
//   - it owns the elements whose corners are all nearer to it than its radius and to no other bone, and the
//     nearest free ones until it has eight; it stops short of its joints, and a corner of flesh at least is between two
//     bones, so that something can bend there;
//   - a bone that finds no eight owns none: flesh follows it by weights alone.

#include "prepare/parts.h"
#include "base/sort.h"

#include "geom/label.h"
#include "geom/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SNW_RADIUS_SHARE 0.35 // of the distance to the surface
#define SNW_JOINT_GAP    0.2  // of the length, at most, that is left free at a joint

enum
{
    snw_boneSamples = 48 // places along a bone where its elements are looked for
};

// ---------------------------------------------------------------------------------------------------------------------
// Kept or not

static int KeptAbove(const snwPreparer* p, int rig)
{
    int above = p->rig[rig].parent;
    while (above >= 0 && !p->rig[above].kept)
        above = p->rig[above].parent;
    return above;
}

static void ChooseKept(snwPreparer* p)
{
    bool weighted = false;
    int dropped = 0, first = -1;
    for (int i = 0; i < p->rigCount; ++i)
        weighted = weighted || p->rig[i].weight > 0;
    for (int i = 0; i < p->rigCount; ++i)
    {
        snwRigBone* bone = &p->rig[i];
        bone->kept = bone->setting.use == snw_boneKeep ||
                     (bone->setting.use == snw_boneAuto && (bone->weight > 1e-9 || !weighted));
        dropped += !bone->kept;
        first = !bone->kept && first < 0 ? i : first;
    }
    p->report->bonesDropped = dropped;
    if (dropped > 0)
        snwPreparer_Note(p, "%d bone%s follow%s no flesh and %s dropped: '%s'%s", dropped, dropped == 1 ? "" : "s",
            dropped == 1 ? "s" : "", dropped == 1 ? "was" : "were", p->rig[first].name, dropped > 1 ? " ..." : "");
}

// ---------------------------------------------------------------------------------------------------------------------
// Segments

typedef struct Followers
{
    snwVec3 centre; // of the flesh that follows a bone, by weight
    double weight;
    double reach; // m, along the bone
} Followers;

static void FindCentres(const snwPreparer* p, Followers* followers)
{
    for (int s = 0; s < p->surfaceCount; ++s)
    {
        const snwRigWeights* weights = &p->weights[s];
        for (int i = 0; weights->starts != NULL && i < p->surfaces[s].vertexCount; ++i)
            for (int k = weights->starts[i]; k < weights->starts[i + 1]; ++k)
            {
                Followers* f = &followers[weights->bones[k]];
                f->centre = snwVec3_MulAdd(f->centre, weights->values[k], p->surfaces[s].positions[i]);
                f->weight += weights->values[k];
            }
    }
    for (int i = 0; i < p->rigCount; ++i)
        if (followers[i].weight > 0)
            followers[i].centre = snwVec3_Scale(followers[i].centre, 1 / followers[i].weight);
}

// How far the flesh reaches that mostly follows a bone, towards its centre.
static void FindReaches(const snwPreparer* p, Followers* followers)
{
    for (int s = 0; s < p->surfaceCount; ++s)
    {
        const snwRigWeights* weights = &p->weights[s];
        for (int i = 0; weights->starts != NULL && i < p->surfaces[s].vertexCount; ++i)
            for (int k = weights->starts[i]; k < weights->starts[i + 1]; ++k)
            {
                const snwRigBone* bone = &p->rig[weights->bones[k]];
                Followers* f = &followers[weights->bones[k]];
                snwVec3 along = snwVec3_Normalize(snwVec3_Sub(f->centre, bone->head));
                if (weights->values[k] > 0.5)
                    f->reach = fmax(f->reach, snwVec3_Dot(along, snwVec3_Sub(p->surfaces[s].positions[i], bone->head)));
            }
    }
}

static void PlaceTail(const snwPreparer* p, int rig, const Followers* followers)
{
    snwRigBone* bone = &p->rig[rig];
    snwVec3 sum = {0, 0, 0};
    int count = 0;

    // Bones that follow this one, elsewhere than at its own head.
    for (int i = 0; i < p->rigCount; ++i)
        if (p->rig[i].kept && KeptAbove(p, i) == rig && snwVec3_Distance(p->rig[i].head, bone->head) > 1e-4 * p->size)
        {
            sum = snwVec3_Add(sum, p->rig[i].head);
            ++count;
        }

    // Said by the sidecar, else at the middle of the children's heads, else as far as the flesh that follows it
    // reaches, else anything but nothing.
    snwVec3 towards = snwVec3_Sub(followers->centre, bone->head);
    if (bone->setting.hasTail)
        bone->tail = bone->setting.tail;
    else if (count > 0)
        bone->tail = snwVec3_Scale(sum, 1.0 / count);
    else if (followers->weight > 0 && snwVec3_Length(towards) > 1e-6 * p->size)
        bone->tail = snwVec3_MulAdd(
            bone->head, fmax(0.85 * followers->reach, snwVec3_Length(towards)), snwVec3_Normalize(towards));
    else
        bone->tail = snwVec3_MulAdd(bone->head, 0.02 * p->size, (snwVec3){0, 1, 0});
}

static double EstimateRadius(const snwPreparer* p, const snwRigBone* bone)
{
    double depths[5];
    for (int i = 0; i < 5; ++i)
        depths[i] = fmax(-snwSoup_Distance(p->flesh, snwVec3_Lerp(bone->head, bone->tail, 0.1 + 0.2 * i)), 0);
    snwSortReals(depths, 5);
    return SNW_RADIUS_SHARE * depths[2];
}

static snwResult MeasureFollowers(snwPreparer* p)
{
    Followers* followers = snwPreparer_Alloc(p, p->rigCount + 1, sizeof *followers);
    if (followers == NULL)
        return snwFailMemory(p->message);
    FindCentres(p, followers);
    FindReaches(p, followers);
    bool given = p->asset->boneCount > 0;

    // Bones of the file's own regions have their ends already.
    for (int i = 0; i < p->rigCount; ++i)
    {
        snwRigBone* bone = &p->rig[i];
        if (bone->kept && bone->node >= 0)
            PlaceTail(p, i, &followers[i]);
        else if (bone->setting.hasTail)
            bone->tail = bone->setting.tail;

        // How thick: said, or estimated from the flesh around it.
        if (bone->setting.radius >= 0)
            bone->radius = bone->setting.radius;
        else if (bone->kept && !given)
            bone->radius = EstimateRadius(p, bone);
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

typedef struct Segment
{
    snwVec3 a, span;
    double perLength2, radius;
} Segment;

// What a bone owns stops short of its joints.
static Segment OwnSegment(const snwRigBone* bone)
{
    snwVec3 span = snwVec3_Sub(bone->tail, bone->head);
    double length = snwVec3_Length(span);
    double gap = length > 0 ? fmin(bone->radius / length, SNW_JOINT_GAP) : 0;
    Segment segment = {snwVec3_MulAdd(bone->head, gap, span), snwVec3_Scale(span, 1 - 2 * gap), 0, bone->radius};
    double square = snwVec3_LengthSquared(segment.span);
    segment.perLength2 = square > 0 ? 1 / square : 0;
    return segment;
}

static double DistanceToSegment(const Segment* segment, snwVec3 x)
{
    snwVec3 to = snwVec3_Sub(x, segment->a);
    double t = fmin(fmax(snwVec3_Dot(to, segment->span) * segment->perLength2, 0), 1);
    return snwVec3_Length(snwVec3_Sub(to, snwVec3_Scale(segment->span, t))) - segment->radius;
}

typedef struct Labels
{
    const snwTetMesh* mesh;
    const Segment* segments; // by bone of the rig
    int* owners;             // of vertices: bone of the rig, -1: flesh
    double* distances;       // of vertices, to one bone
    uint8_t* blocked;        // vertices beside those of another bone
    const bool* copies;      // of vertices, for another limb: no bone's; NULL: there are none
} Labels;

static bool IsCopy(const Labels* labels, int vertex)
{
    return labels->copies != NULL && labels->copies[vertex];
}

static int BoneOfTet(const Labels* labels, int tet)
{
    const int* t = labels->mesh->tets[tet];
    int bone = labels->owners[t[0]];
    for (int k = 1; k < 4; ++k)
        bone = labels->owners[t[k]] == bone ? bone : -1;
    return bone;
}

static void FindOwners(const snwPreparer* p, const Labels* labels)
{
    for (int i = 0; i < labels->mesh->vertexCount; ++i)
    {
        double nearest = 0;
        labels->owners[i] = -1;
        for (int b = 0; b < p->rigCount && !IsCopy(labels, i); ++b)
        {
            double distance = p->rig[b].kept ? DistanceToSegment(&labels->segments[b], labels->mesh->vertices[i])
                                             : INFINITY;
            if (distance < nearest)
                nearest = distance, labels->owners[i] = b;
        }
    }
}

static bool HoldsPoint(const snwTetMesh* mesh, int tet, snwVec3 x)
{
    const int* t = mesh->tets[tet];
    snwVec3 p[4] = {mesh->vertices[t[0]], mesh->vertices[t[1]], mesh->vertices[t[2]], mesh->vertices[t[3]]};
    for (int k = 0; k < 4; ++k)
    {
        snwVec3 corner = p[k];
        p[k] = x;
        if (snwTet_Volume(p[0], p[1], p[2], p[3]) < 0)
            return false;
        p[k] = corner;
    }
    return true;
}

// Elements that a bone passes through are its own, however thin it is: else a coarse mesh would leave it a lump in its
// middle. Of a corner in two such elements the nearer bone is the owner.
static void ClaimAlong(const Labels* labels, int bone)
{
    const Segment* segment = &labels->segments[bone];
    const snwTetMesh* mesh = labels->mesh;
    snwVec3 end = snwVec3_Add(segment->a, segment->span);
    snwVec3 lower = snwVec3_Min(segment->a, end), upper = snwVec3_Max(segment->a, end);

    // Boxes apart tell most elements from the segment; in the others samples along it do.
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        const int* t = mesh->tets[i];
        snwVec3 low = mesh->vertices[t[0]], high = low;
        bool passes = false;
        for (int k = 1; k < 4; ++k)
            low = snwVec3_Min(low, mesh->vertices[t[k]]), high = snwVec3_Max(high, mesh->vertices[t[k]]);
        bool apart = low.x > upper.x || low.y > upper.y || low.z > upper.z || high.x < lower.x || high.y < lower.y ||
                     high.z < lower.z;
        for (int k = 0; k <= snw_boneSamples && !apart && !passes; ++k)
            passes = HoldsPoint(mesh, i, snwVec3_MulAdd(segment->a, (double)k / snw_boneSamples, segment->span));

        // Copies of parted limbs belong to somebody else's side.
        for (int k = 0; k < 4; ++k)
            passes = passes && !IsCopy(labels, t[k]);

        // Each corner to the nearer of two bones.
        for (int k = 0; k < 4 && passes; ++k)
        {
            int owner = labels->owners[t[k]];
            double own = DistanceToSegment(segment, mesh->vertices[t[k]]);
            if (owner < 0 || own < DistanceToSegment(&labels->segments[owner], mesh->vertices[t[k]]))
                labels->owners[t[k]] = bone;
        }
    }
}

static int CountTets(const Labels* labels, int bone)
{
    int count = 0;
    for (int i = 0; i < labels->mesh->tetCount; ++i)
        count += BoneOfTet(labels, i) == bone;
    return count;
}

// A tet with corners of two bones has nothing soft to bend: the corner that is deeper in its bone keeps it.
static void PartSharedBones(const Labels* labels)
{
    for (int i = 0; i < labels->mesh->tetCount; ++i)
        for (int k = 0; k < 16; ++k)
        {
            int a = labels->mesh->tets[i][k / 4], b = labels->mesh->tets[i][k % 4];
            int boneA = labels->owners[a], boneB = labels->owners[b];
            if (boneA < 0 || boneB < 0 || boneA == boneB)
                continue;
            double depthA = DistanceToSegment(&labels->segments[boneA], labels->mesh->vertices[a]);
            double depthB = DistanceToSegment(&labels->segments[boneB], labels->mesh->vertices[b]);
            labels->owners[depthA < depthB ? b : a] = -1;
        }
}

static void BlockNeighbours(const Labels* labels, int bone)
{
    memset(labels->blocked, 0, (size_t)labels->mesh->vertexCount);
    for (int i = 0; i < labels->mesh->tetCount; ++i)
    {
        const int* t = labels->mesh->tets[i];
        bool other = false;
        for (int k = 0; k < 4; ++k)
            other = other || (labels->owners[t[k]] >= 0 && labels->owners[t[k]] != bone);
        for (int k = 0; k < 4 && other; ++k)
            labels->blocked[t[k]] = 1;
    }
}

// The free tet nearest to the bone, by its farthest corner; -1: none.
static int NextTet(const Labels* labels, int bone)
{
    int found = -1;
    double nearest = INFINITY;
    for (int i = 0; i < labels->mesh->tetCount; ++i)
    {
        const int* t = labels->mesh->tets[i];
        double farthest = BoneOfTet(labels, i) == bone ? INFINITY : -INFINITY;
        for (int k = 0; k < 4; ++k)
        {
            int owner = labels->owners[t[k]];
            bool free = owner == bone || (owner < 0 && !labels->blocked[t[k]] && !IsCopy(labels, t[k]));
            farthest = fmax(farthest, free ? labels->distances[t[k]] : INFINITY);
        }
        if (farthest < nearest)
            nearest = farthest, found = i;
    }
    return found;
}

// False if there are not enough; what it took is then free again. It takes none that is farther away than `limit`.
static bool GrowOwnedBone(const Labels* labels, int bone, double limit)
{
    int owned = CountTets(labels, bone);
    if (owned >= snw_minBoneTets)
        return true;

    // The nearest elements first, none of a neighbour's.
    for (int i = 0; i < labels->mesh->vertexCount; ++i)
        labels->distances[i] = DistanceToSegment(&labels->segments[bone], labels->mesh->vertices[i]);
    BlockNeighbours(labels, bone);

    for (; owned < snw_minBoneTets; owned = CountTets(labels, bone))
    {
        int tet = NextTet(labels, bone);
        bool near = tet >= 0;
        for (int k = 0; k < 4 && near; ++k)
            near = labels->distances[labels->mesh->tets[tet][k]] < limit;
        if (!near)
            break;
        for (int k = 0; k < 4; ++k)
            labels->owners[labels->mesh->tets[tet][k]] = bone;
    }

    // Not enough: what it took is free again.
    for (int i = 0; owned < snw_minBoneTets && i < labels->mesh->vertexCount; ++i)
        labels->owners[i] = labels->owners[i] == bone ? -1 : labels->owners[i];
    return owned >= snw_minBoneTets;
}

static snwResult LabelByDistance(snwPreparer* p)
{
    Segment* segments = snwPreparer_Alloc(p, p->rigCount + 1, sizeof *segments);
    Labels labels = {&p->body, segments, p->vertexBones,
        snwPreparer_Alloc(p, p->body.vertexCount + 1, sizeof *labels.distances),
        snwPreparer_Alloc(p, p->body.vertexCount + 1, 1), p->copies};

    // A segment and a distance field per bone, and a note which vertices are copies.
    if (p->arena.failed)
        return snwFailMemory(p->message);
    for (int i = 0; i < p->rigCount; ++i)
        segments[i] = OwnSegment(&p->rig[i]);

    // By distance, then along thin bones, then apart where two bones meet without flesh between.
    FindOwners(p, &labels);
    for (int i = 0; i < p->rigCount; ++i)
        if (p->rig[i].kept && !p->rig[i].point)
            ClaimAlong(&labels, i);
    PartSharedBones(&labels);

    // Too few elements: a bone may grow, but not farther than half its own length.
    for (int i = 0; i < p->rigCount; ++i)
    {
        const snwRigBone* bone = &p->rig[i];
        double limit = fmax(0.5 * snwVec3_Distance(bone->head, bone->tail), 0.1 * p->size);
        if (bone->kept && !GrowOwnedBone(&labels, i, limit) && p->report->bonesBare++ == 0)
            snwPreparer_Note(p,
                "bone '%s' is too thin for elements of this size: the flesh around it follows it, but it is "
                "nothing solid to touch (more elements, or a larger radius, would help)",
                bone->name);
    }

    for (int i = 0; i < p->body.tetCount; ++i)
        p->elementBones[i] = BoneOfTet(&labels, i);
    return snw_ok;
}

static void LabelByFile(snwPreparer* p)
{
    for (int i = 0; i < p->body.tetCount; ++i)
    {
        p->elementBones[i] = -1;
        for (int b = 0; b < p->asset->boneCount; ++b)
            if (p->asset->bones[b].label == p->labels[i] && p->rig[b].kept)
                p->elementBones[i] = b;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Into the character

static snwResult MakeBones(snwPreparer* p)
{
    p->bones = snwPreparer_Alloc(p, p->rigCount + 1, sizeof *p->bones);
    p->boneRig = snwPreparer_Alloc(p, p->rigCount + 1, sizeof *p->boneRig);
    if (p->arena.failed)
        return snwFailMemory(p->message);

    // Bones that are kept, in the rig's order.
    for (int i = 0; i < p->rigCount; ++i)
        if (p->rig[i].kept)
        {
            p->boneRig[p->boneCount] = i;
            p->rig[i].bone = p->boneCount++;
        }

    // Parents skip those that were dropped.
    for (int i = 0; i < p->boneCount; ++i)
    {
        const snwRigBone* bone = &p->rig[p->boneRig[i]];
        int above = KeptAbove(p, p->boneRig[i]);
        p->bones[i] = snwDefaultBoneDef();
        p->bones[i].name = bone->name, p->bones[i].radius = bone->radius;
        p->bones[i].head = bone->head, p->bones[i].tail = bone->tail;
        p->bones[i].parent = above >= 0 ? p->rig[above].bone : -1;
    }

    // From rig numbers to bone numbers; a vertex of any element of a bone is the bone's.
    for (int i = 0; i < p->body.vertexCount; ++i)
        p->vertexBones[i] = -1;
    for (int i = 0; i < p->body.tetCount; ++i)
    {
        int bone = p->elementBones[i];
        p->elementBones[i] = bone = bone >= 0 ? p->rig[bone].bone : -1;
        for (int k = 0; k < 4 && bone >= 0; ++k)
            p->vertexBones[p->body.tets[i][k]] = bone;
    }

    return snw_ok;
}

int snwPreparer_BoneOf(const snwPreparer* p, int rig)
{
    if (rig < 0)
        return -1;
    int kept = p->rig[rig].kept ? rig : KeptAbove(p, rig);
    if (kept < 0 && p->boneCount > 0)
        return 0; // what followed a root that is gone
    return kept >= 0 ? p->rig[kept].bone : -1;
}

snwResult snwPreparer_ChooseBones(snwPreparer* p)
{
    p->elementBones = snwPreparer_Alloc(p, p->body.tetCount + 1, sizeof(int));
    p->vertexBones = snwPreparer_Alloc(p, p->body.vertexCount + 1, sizeof(int));
    if (p->arena.failed)
        return snwFailMemory(p->message);
    if (p->rigCount > 0)
        ChooseKept(p);
    snwResult result = MeasureFollowers(p);
    if (result < 0)
        return result;
    if (p->labels != NULL && p->asset->boneCount > 0)
        LabelByFile(p);
    else
        result = LabelByDistance(p);
    return result < 0 ? result : MakeBones(p);
}
