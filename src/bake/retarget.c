// A motion of one skeleton put on another: joints matched by name, axes and size found from both rest poses,
// directions of bones taken over where rests differ, and channels for every joint that moves.

#include "bake/retarget.h"

#include "asset/poser.h"
#include "base/result.h"
#include "math/eigen.h"
#include "scene/words.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SNW_OTHER_REST 0.35 // rad, 20 degrees: rest poses differ, it is not just another body
#define SNW_SAME_PLACE 1e-7 // of the size
#define SNW_SAME_TURN  1e-7 // rad
#define SNW_LEAST_HIPS 0.1  // of the spread of the joints: below, heights say nothing

enum
{
    snw_mostRetargetKeys = 20000
};

// A skeleton: where its nodes rest, and which of them are joints.
typedef struct Rig
{
    const snwAsset* asset;
    snwAssetPoser poser;
    snwTransform* rest; // by node, in the world
    bool* joints;
} Rig;

typedef struct Work
{
    const snwRetargetDef* def;
    snwArena* arena;
    snwMessage* message;
    Rig target, source;
    int* partners; // by node of the target
    int* above;    // by node of the target: the nearest one above with a partner, -1: none
    snwQuat world; // C
    snwQuat* pose; // Q, by node of the target
    double scale;
    snwTransform* now;    // of the source's nodes
    snwTransform* wanted; // of the target's nodes with a partner
    snwAffine* places;    // of the target's nodes
} Work;

static snwTransform RigidPart(snwAffine a)
{
    return (snwTransform){a.translation, snwQuat_FromMat3(snwPolar3_Compute(a.linear).rotation)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Skeletons

// Does one map differ from the other by axes or scale, and not by a pose?
static bool HasOtherAxes(snwMat3 a, snwMat3 b)
{
    snwMat3 inverse;
    if (!snwMat3_Inverse(a, &inverse))
        return true;
    snwMat3 to = snwMat3_Mul(inverse, b);
    double scale = cbrt(fabs(snwMat3_Determinant(to)));
    bool quarter = snwMat3_Trace(to) < 2.9 * scale;
    for (int i = 0; i < 3; ++i)
    {
        snwVec3 row = snwMat3_Row(to, i);
        quarter = quarter && fmax(fabs(row.x), fmax(fabs(row.y), fabs(row.z))) > 0.996 * scale;
    }
    return quarter || fabs(scale - 1) > 0.01;
}

// What takes the bind pose to the world. Nodes need not stand as they were bound, so joints give different answers.
// The uppermost one's is taken, for poses bend the limbs below it; but where its scale or axes are not those of most
// others, as in files of some pipelines, that of the joint which agrees with them best.
static snwAffine PlaceRigSkin(const Rig* rig, const snwAssetSkin* skin)
{
    snwAffine best = {snwMat3_Identity(), {0, 0, 0}}, first = best;
    double least = INFINITY;
    int top = INT_MAX;
    for (int i = 0; i < skin->jointCount; ++i)
    {
        // How well this joint's map agrees with those of all others, at the distance where they are.
        snwAffine mine = snwAffine_Compose(rig->poser.places[skin->joints[i]], skin->inverseBinds[i]);
        double sum = 0;
        for (int k = 0; k < skin->jointCount; ++k)
        {
            snwAffine other = snwAffine_Compose(rig->poser.places[skin->joints[k]], skin->inverseBinds[k]), bind;
            double reach = snwAffine_Inverse(skin->inverseBinds[k], &bind) ? snwVec3_Length(bind.translation) : 0;
            sum += snwMat3_Norm(snwMat3_Sub(mine.linear, other.linear)) * reach +
                   snwVec3_Distance(mine.translation, other.translation);
        }

        // How deep the joint is.
        int depth = 0;
        for (int node = skin->joints[i]; node >= 0; node = rig->asset->nodes[node].parent)
            depth++;
        if (depth < top)
            top = depth, first = mine;
        if (sum < least)
            least = sum, best = mine;
    }

    return HasOtherAxes(first.linear, best.linear) ? best : first;
}

static bool MakeRetargetRig(Work* w, const snwAsset* asset, Rig* rig)
{
    size_t room = (size_t)asset->nodeCount + 1;
    rig->asset = asset;
    rig->rest = snwArena_Alloc(w->arena, room, sizeof *rig->rest);
    rig->joints = snwArena_Alloc(w->arena, room, sizeof *rig->joints);
    if (w->arena->failed || snwAssetPoser_Make(asset, w->arena, &rig->poser, w->message) < 0)
        return false;

    // Where nodes stand, if nothing binds them; joints as they were bound.
    for (int i = 0; i < asset->nodeCount; ++i)
        rig->rest[i] = RigidPart(rig->poser.places[i]);

    for (int s = 0; s < asset->skinCount; ++s)
    {
        const snwAssetSkin* skin = &asset->skins[s];
        snwAffine place = PlaceRigSkin(rig, skin), bind;
        for (int i = 0; i < skin->jointCount; ++i)
        {
            int node = skin->joints[i];
            if (!rig->joints[node] && snwAffine_Inverse(skin->inverseBinds[i], &bind))
                rig->rest[node] = RigidPart(snwAffine_Compose(place, bind));
            rig->joints[node] = true;
        }
    }

    return true;
}

static bool IsAbove(const snwAsset* asset, int above, int node)
{
    while (node >= 0 && node != above)
        node = asset->nodes[node].parent;
    return node >= 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// How the two fit

// Among the quarter turns the one that lays the source's joints over the target's; none unless it is clearly better.
static snwQuat FindWorld(const Work* w)
{
    const snwAsset* asset = w->target.asset;
    snwVec3 mine = {0, 0, 0}, theirs = {0, 0, 0};
    int count = 0;

    // Middles of the joints that have partners.
    for (int i = 0; i < asset->nodeCount; ++i)
        if (w->partners[i] >= 0)
        {
            mine = snwVec3_Add(mine, w->target.rest[i].position);
            theirs = snwVec3_Add(theirs, w->source.rest[w->partners[i]].position);
            count++;
        }

    // The covariance of both sets.
    snwMat3 fit = {0};
    for (int i = 0; i < asset->nodeCount; ++i)
        if (w->partners[i] >= 0)
            fit = snwMat3_Add(fit, snwMat3_Outer(snwVec3_MulAdd(w->target.rest[i].position, -1.0 / count, mine),
                                       snwVec3_MulAdd(w->source.rest[w->partners[i]].position, -1.0 / count, theirs)));

    // A turn must beat the identity clearly: axes are nearly always the same.
    double best = snwMat3_Trace(fit) + 0.1 * snwMat3_Norm(fit);
    snwQuat found = snwQuat_Identity();
    for (int turn = 0; turn < 48; ++turn)
    {
        static const int s_orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
        snwMat3 m = {0};
        for (int k = 0; k < 3; ++k)
            m.m[k][s_orders[turn / 8][k]] = turn >> k & 1 ? -1 : 1;
        double score = snwMat3_Trace(snwMat3_MulTranspose(fit, m));
        if (snwMat3_Determinant(m) > 0 && score > best)
            best = score, found = snwQuat_FromMat3(m);
    }

    return found;
}

// The uppermost joint over the lowest one, or where that says nothing - a snake - how far apart the joints are.
static double FindScale(const Work* w)
{
    const snwAsset* asset = w->target.asset;
    double low[2] = {INFINITY, INFINITY}, top[2] = {0, 0}, spread[2] = {0, 0};
    int root = -1, count = 0;

    // Heights and spreads of both, over joints with partners.
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        int node = w->target.poser.order[i];
        if (w->partners[node] < 0)
            continue;
        root = root < 0 ? node : root; // parents come first
        count++;
        snwVec3 places[2] = {
            w->target.rest[node].position, snwQuat_Rotate(w->world, w->source.rest[w->partners[node]].position)};

        for (int k = 0; k < 2; ++k)
        {
            snwVec3 first = k == 0 ? w->target.rest[root].position
                                   : snwQuat_Rotate(w->world, w->source.rest[w->partners[root]].position);
            low[k] = fmin(low[k], places[k].y);
            top[k] = first.y;
            spread[k] += snwVec3_Distance(places[k], first);
        }
    }

    // Heights, unless the body lies.
    double heights[2] = {top[0] - low[0], top[1] - low[1]};
    if (heights[0] * count > SNW_LEAST_HIPS * spread[0] && heights[1] * count > SNW_LEAST_HIPS * spread[1])
        return heights[0] / heights[1];
    return spread[0] > 0 && spread[1] > 0 ? spread[0] / spread[1] : 1;
}

// The only joint with a partner right below; -1: there are none, or several.
static int OnlyBelow(const Work* w, int node)
{
    int found = -1;
    for (int i = 0; i < w->target.asset->nodeCount; ++i)
        if (w->partners[i] >= 0 && w->above[i] == node)
        {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

static void AlignRests(Work* w)
{
    // Parents first. A bone that points elsewhere at rest is turned to where the source's points.
    for (int i = 0; i < w->target.asset->nodeCount; ++i)
    {
        int node = w->target.poser.order[i], below = OnlyBelow(w, node);
        if (w->partners[node] < 0)
            continue;

        // As what is above it was turned.
        snwQuat q = w->above[node] >= 0 ? w->pose[w->above[node]] : snwQuat_Identity();
        if (below >= 0)
        {
            const snwTransform *a = &w->source.rest[w->partners[node]], *b = &w->source.rest[w->partners[below]];
            snwVec3 theirs = snwQuat_Rotate(w->world, snwVec3_Sub(b->position, a->position));
            snwVec3 mine = snwVec3_Sub(w->target.rest[below].position, w->target.rest[node].position);
            mine = snwQuat_Rotate(q, mine);
            double lengths = snwVec3_Length(mine) * snwVec3_Length(theirs);
            if (lengths > 0 && snwVec3_Dot(mine, theirs) < cos(SNW_OTHER_REST) * lengths)
                q = snwQuat_Mul(snwQuat_Between(snwVec3_Normalize(mine), snwVec3_Normalize(theirs)), q);
        }

        w->pose[node] = q;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Poses

// Where a joint with a partner belongs, after those above it.
static snwTransform Want(const Work* w, int node)
{
    int source = w->partners[node], above = w->above[node];
    const snwTransform *mine = &w->target.rest[node], *rest = &w->source.rest[source], *now = &w->now[source];
    snwQuat back = snwQuat_Conjugate(w->world);
    snwQuat turn = snwQuat_Mul(
        snwQuat_Mul(w->world, snwQuat_Mul(now->rotation, snwQuat_Conjugate(rest->rotation))), back);
    snwTransform want = {.rotation = snwQuat_Normalize(snwQuat_Mul(turn, snwQuat_Mul(w->pose[node], mine->rotation)))};

    // Without a joint above, it goes the source's way, in our size.
    if (above < 0)
    {
        snwVec3 way = snwQuat_Rotate(w->world, snwVec3_Sub(now->position, rest->position));
        want.position = snwVec3_MulAdd(mine->position, w->scale, way);
        return want;
    }

    // As far from the joint above as at rest, and what the source's bone has grown or shifted.
    int other = w->partners[above];
    const snwTransform *aboveRest = &w->source.rest[other], *aboveNow = &w->now[other];
    snwQuat aboveTurn = snwQuat_Mul(aboveNow->rotation, snwQuat_Conjugate(aboveRest->rotation));
    snwVec3 bone = snwQuat_Rotate(w->pose[above], snwVec3_Sub(mine->position, w->target.rest[above].position));

    if (IsAbove(w->source.asset, other, source))
    {
        snwVec3 grown = snwVec3_Sub(snwQuat_InverseRotate(aboveTurn, snwVec3_Sub(now->position, aboveNow->position)),
            snwVec3_Sub(rest->position, aboveRest->position));
        bone = snwVec3_MulAdd(bone, w->scale, snwQuat_Rotate(w->world, grown));
    }

    // Carried by the joint above.
    snwQuat carried = snwQuat_Mul(snwQuat_Mul(w->world, aboveTurn), back);
    want.position = snwVec3_Add(w->wanted[above].position, snwQuat_Rotate(carried, bone));
    return want;
}

// The pose of every node with a partner, relative to its parent, at the time.
static void PoseNodesAt(Work* w, double time, snwAssetPose* poses)
{
    const snwAsset* asset = w->target.asset;
    snwAssetPoser_Pose(&w->source.poser, &w->def->source->animations[w->def->animation], time);

    // Where the source's joints are at the time.
    for (int i = 0; i < asset->nodeCount; ++i)
        if (w->partners[i] >= 0)
            w->now[w->partners[i]] = RigidPart(w->source.poser.places[w->partners[i]]);

    // Parents first: each joint to where it is wanted, relative to its parent.
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        int node = w->target.poser.order[i], parent = asset->nodes[node].parent;
        snwAffine to = parent >= 0 ? w->places[parent] : (snwAffine){snwMat3_Identity(), {0, 0, 0}}, inverse;
        snwAffine local = asset->nodes[node].local;
        if (w->partners[node] >= 0)
        {
            w->wanted[node] = Want(w, node);
            snwAssetPose* pose = &poses[node];
            *pose = asset->nodes[node].pose;
            pose->rotation = snwQuat_Mul(snwQuat_Conjugate(RigidPart(to).rotation), w->wanted[node].rotation);
            if (snwAffine_Inverse(to, &inverse))
                pose->translation = snwAffine_Apply(inverse, w->wanted[node].position);
            local = snwAffine_FromTrs(pose->translation, pose->rotation, pose->scale);
        }

        w->places[node] = snwAffine_Compose(to, local);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Channels

static bool MakeChannels(Work* w, const double* times, int count, snwAssetAnimation* out)
{
    const snwAsset* asset = w->target.asset;
    size_t nodes = (size_t)asset->nodeCount;
    snwAssetPose* poses = snwArena_Alloc(w->arena, nodes + 1, sizeof *poses);
    snwAssetChannel* channels = snwArena_Alloc(w->arena, 2 * nodes + 1, sizeof *channels);
    double** values = snwArena_Alloc(w->arena, 2 * nodes + 1, sizeof *values);

    // Turns and shifts for every joint with a partner.
    for (size_t i = 0; i < nodes && !w->arena->failed; ++i)
        if (w->partners[i] >= 0)
        {
            values[2 * i] = snwArena_Alloc(w->arena, 4 * (size_t)count, sizeof(double));
            values[2 * i + 1] = snwArena_Alloc(w->arena, 3 * (size_t)count, sizeof(double));
        }

    if (w->arena->failed)
        return false;

    // Frame by frame; turns with the sign that is nearer to the last.
    for (int t = 0; t < count; ++t)
    {
        PoseNodesAt(w, times[t], poses);
        for (size_t i = 0; i < nodes; ++i)
        {
            if (w->partners[i] < 0)
                continue;
            snwQuat q = poses[i].rotation;
            double *turn = values[2 * i] + 4 * (size_t)t, *place = values[2 * i + 1] + 3 * (size_t)t;
            if (t > 0 && q.x * turn[-4] + q.y * turn[-3] + q.z * turn[-2] + q.w * turn[-1] < 0)
                q = snwQuat_Scale(q, -1);
            memcpy(turn, (double[4]){q.x, q.y, q.z, q.w}, 4 * sizeof *turn);
            memcpy(place, &poses[i].translation, 3 * sizeof *place);
        }
    }

    // What is as the node stands anyway is left out.
    double size = 0;
    for (size_t i = 0; i < nodes; ++i)
        size = fmax(size, snwVec3_Length(asset->nodes[i].pose.translation));
    for (size_t i = 0; i < 2 * nodes; ++i)
    {
        const snwAssetPose* pose = &asset->nodes[i / 2].pose;
        bool differs = false, shift = i % 2 == 1;
        int width = shift ? 3 : 4;
        for (int t = 0; t < count && values[i] != NULL && !differs; ++t)
        {
            const double* v = values[i] + (size_t)width * (size_t)t;
            differs = shift ? snwVec3_Distance((snwVec3){v[0], v[1], v[2]}, pose->translation) > SNW_SAME_PLACE * size
                            : snwQuat_Angle((snwQuat){v[0], v[1], v[2], v[3]}, pose->rotation) > SNW_SAME_TURN;
        }

        if (differs)
            channels[out->channelCount++] = (snwAssetChannel){(int)(i / 2),
                shift ? snw_pathTranslation : snw_pathRotation, snw_assetLinear, times, count, width, values[i]};
    }

    out->channels = channels;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------

// Which nodes count: joints of skins, or where there are none whatever has a name.
static bool ChooseNodes(Work* w, const Rig* rig, bool** which)
{
    const snwAsset* asset = rig->asset;
    *which = snwArena_Alloc(w->arena, (size_t)asset->nodeCount + 1, sizeof **which);
    for (int i = 0; i < asset->nodeCount && *which != NULL; ++i)
        (*which)[i] = asset->skinCount > 0 ? rig->joints[i] : asset->nodes[i].name[0] != 0;
    return *which != NULL;
}

// "a, b ..."
static void ListName(char* list, size_t size, const char* name)
{
    size_t used = strlen(list);
    snwQuote word = snwQuoteWord(name);
    if (used + strlen(word.text) + 7 < size)
        snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", word.text);
    else if (used >= 4 && strcmp(list + used - 4, " ...") != 0)
        snprintf(list + used, size - used, " ...");
}

static snwResult Match(Work* w, snwRetargeted* out)
{
    const snwAsset *target = w->target.asset, *source = w->source.asset;
    const snwAssetAnimation* animation = &source->animations[w->def->animation];
    bool *targets = NULL, *sources = NULL;
    if (!ChooseNodes(w, &w->target, &targets) || !ChooseNodes(w, &w->source, &sources))
        return snwFailMemory(w->message);

    // What the animation moves is a joint, whatever it is called.
    for (int i = 0; i < animation->channelCount; ++i)
        sources[animation->channels[i].node] = true;
    snwResult result = snwMatchJoints(w->arena, w->def, targets, sources, w->partners, w->message);
    if (result < 0)
        return result;

    int theirs = 0;
    for (int i = 0; i < source->nodeCount; ++i)
        theirs += sources[i];

    // Who has a partner, who has none, and which joint above has one.
    for (int i = 0; i < target->nodeCount; ++i)
    {
        out->jointCount += targets[i] || w->partners[i] >= 0;
        out->matched += w->partners[i] >= 0;
        if (targets[i] && w->partners[i] < 0)
            ListName(out->alone, sizeof out->alone, target->nodes[i].name);
        int above = target->nodes[i].parent;
        while (above >= 0 && w->partners[above] < 0)
            above = target->nodes[above].parent;
        w->above[i] = above;
    }

    // Fewer than a quarter of the joints: better to say so than to twitch.
    int fewer = out->jointCount < theirs ? out->jointCount : theirs;
    if (out->matched > 0 && 4 * out->matched >= fewer)
        return snw_ok;
    char names[120] = "", remedy[240];
    for (int i = 0; i < source->nodeCount; ++i)
        if (sources[i])
            ListName(names, sizeof names, source->nodes[i].name);
    snprintf(remedy, sizeof remedy, "--joint-map JOINT=ITS (several times) names them; the motion has %s", names);

    return snwFail(w->message, snw_errorInput, remedy,
        "only %d of %d joints find one of the same name in the motion, which has %d; without: %s", out->matched,
        out->jointCount, theirs, out->alone);
}

snwResult snwRetarget(snwArena* arena, const snwRetargetDef* def, snwRetargeted* out, snwMessage* message)
{
    size_t nodes = (size_t)def->target->nodeCount + 1;
    const snwAssetAnimation* animation = &def->source->animations[def->animation];
    Work w = {.def = def,
        .arena = arena,
        .message = message,
        .partners = snwArena_Alloc(arena, nodes, sizeof(int)),
        .above = snwArena_Alloc(arena, nodes, sizeof(int)),
        .pose = snwArena_Alloc(arena, nodes, sizeof(snwQuat)),
        .now = snwArena_Alloc(arena, (size_t)def->source->nodeCount + 1, sizeof(snwTransform)),
        .wanted = snwArena_Alloc(arena, nodes, sizeof(snwTransform)),
        .places = snwArena_Alloc(arena, nodes, sizeof(snwAffine))};
    *out = (snwRetargeted){.animation.name = animation->name};
    // Both skeletons at rest.
    if (arena->failed || !MakeRetargetRig(&w, def->target, &w.target) || !MakeRetargetRig(&w, def->source, &w.source))
        return snwFailMemory(message);
    snwResult result = Match(&w, out);
    if (result < 0)
        return result;

    // How they stand to each other.
    w.world = FindWorld(&w);
    out->turned = snwQuat_Angle(w.world, snwQuat_Identity()) > 0.1;
    out->scale = w.scale = FindScale(&w);
    AlignRests(&w);

    // The motion's own keys, and more between them where they are far apart.
    snwTimes times = {0};
    bool made = snwAssetAnimation_FindTimes(arena->context, animation, &times);
    if (made && (times.count < 2 || times.count > snw_mostRetargetKeys))
        result = snwFail(message, snw_errorInput, "cut it", "the motion '%s' has no keys, or more than %d",
            snwQuoteWord(animation->name).text, snw_mostRetargetKeys);
    else if (!made || !MakeChannels(&w, snwArena_Copy(arena, times.data, (size_t)times.count, sizeof *times.data),
                          times.count, &out->animation))
        result = snwFailMemory(message);

    out->animation.end = result >= 0 ? times.data[times.count - 1] : 0;
    snwArray_Free(arena->context, &times);
    return result;
}
