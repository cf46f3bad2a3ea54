// A baked file held against its source, frame by frame: how far surfaces are off, whether edges are torn or folded
// that the source does not tear or fold, and whether without its flesh it is the source still. Poses are computed
// here as the specification says, not by the code that wrote them.

#include "bake/against.h"

#include "bake/folds.h"
#include "base/result.h"
#include "base/tasks.h"
#include "geom/weld.h"

#include <math.h>
#include <string.h>

#define SNW_TORN_RATIO 2.0    // of the longest that the source makes an edge
#define SNW_TORN_GAP   0.0025 // of the size, beyond that

enum
{
    against_otherFrames = 12, // of a clip that flesh was not added to
    against_mostFrames = 240, // of a clip that may have flesh
    against_grain = 2048
};

// ---------------------------------------------------------------------------------------------------------------------
// A file at a time of a clip, as the glTF specification says it

typedef struct Stage
{
    const snwAsset* asset;
    snwAffine* locals; // by node
    snwAffine* worlds;
    uint8_t* known;
    double* weights; // of the morphs of a mesh
    snwVec3* now;    // of a surface, in the world
    // The surface that is being posed
    const snwAssetMesh* mesh;
    const snwAssetSkin* skin;
    int node, morphCount;
} Stage;

static bool MakeAgainstStage(snwArena* arena, const snwAsset* asset, Stage* stage)
{
    size_t nodes = (size_t)asset->nodeCount + 1, vertices = 1, morphs = 1;
    for (int i = 0; i < asset->meshCount; ++i)
    {
        vertices += (size_t)asset->meshes[i].vertexCount;
        morphs += (size_t)asset->meshes[i].morphCount;
    }
    *stage = (Stage){.asset = asset};
    stage->locals = snwArena_Alloc(arena, nodes, sizeof *stage->locals);
    stage->worlds = snwArena_Alloc(arena, nodes, sizeof *stage->worlds);
    stage->known = snwArena_Alloc(arena, nodes, 1);
    stage->weights = snwArena_Alloc(arena, morphs, sizeof(double));
    stage->now = snwArena_Alloc(arena, vertices, sizeof(snwVec3));
    return !arena->failed;
}

// One number of a channel: between two keys with weights from one to the other, h00 h10 h01 h11 where tangents are.
static double BetweenKeys(const snwAssetChannel* channel, int key, double s, int component)
{
    size_t width = (size_t)channel->width, at = (size_t)component;
    const double* values = channel->values;
    if (channel->interpolation != snw_assetCubic)
    {
        double from = values[(size_t)key * width + at];
        return s > 0 ? from + s * (values[(size_t)(key + 1) * width + at] - from) : from;
    }
    double from = values[(3 * (size_t)key + 1) * width + at];
    if (!(s > 0))
        return from;
    double span = channel->times[key + 1] - channel->times[key], s2 = s * s, s3 = s2 * s;
    double leaving = values[(3 * (size_t)key + 2) * width + at] * span;
    double arriving = values[3 * (size_t)(key + 1) * width + at] * span;
    double to = values[(3 * (size_t)(key + 1) + 1) * width + at];
    return (2 * s3 - 3 * s2 + 1) * from + (s3 - 2 * s2 + s) * leaving + (3 * s2 - 2 * s3) * to + (s3 - s2) * arriving;
}

static void SampleChannel(const snwAssetChannel* channel, double time, double* out)
{
    int key = 0, last = channel->keyCount - 1;
    while (key < last && channel->times[key + 1] <= time)
        ++key;
    double s = key < last && time > channel->times[key] && channel->interpolation != snw_assetStep
                   ? (time - channel->times[key]) / (channel->times[key + 1] - channel->times[key])
                   : 0;

    for (int i = 0; i < channel->width; ++i)
        out[i] = BetweenKeys(channel, key, s, i);
    if (channel->path != snw_pathRotation || channel->interpolation != snw_assetLinear || s == 0)
        return;

    // Along the shorter great circle.
    const double *a = channel->values + 4 * (size_t)key, *b = a + 4;
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], sign = dot < 0 ? -1 : 1;
    double angle = acos(fmin(fabs(dot), 1)), whole = sin(angle);
    for (int i = 0; i < 4 && whole > 1e-6; ++i)
        out[i] = (sin((1 - s) * angle) * a[i] + sign * sin(s * angle) * b[i]) / whole;
    for (int i = 0; i < 4 && !(whole > 1e-6); ++i)
        out[i] = a[i] + s * (sign * b[i] - a[i]);
}

static const snwAffine* WorldOf(Stage* stage, int node)
{
    int parent = stage->asset->nodes[node].parent;
    if (!stage->known[node])
        stage->worlds[node] = parent < 0 ? stage->locals[node]
                                         : snwAffine_Compose(*WorldOf(stage, parent), stage->locals[node]);
    stage->known[node] = 1;
    return &stage->worlds[node];
}

// movingCount: that the clip moves, of the first ones.
static void PoseNodes(Stage* stage, int clip, double time, int movingCount)
{
    const snwAsset* asset = stage->asset;
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        snwAssetPose pose = asset->nodes[i].pose;
        bool moves = false;

        // What the clip gives of translation, rotation and scale; the rest is the node's own.
        for (int k = 0; k < asset->animations[clip].channelCount && i < movingCount; ++k)
        {
            const snwAssetChannel* channel = &asset->animations[clip].channels[k];
            double v[4];
            if (channel->node != i || channel->path == snw_pathMorphs || channel->keyCount == 0)
                continue;
            SampleChannel(channel, time, v);
            moves = true;

            if (channel->path == snw_pathTranslation)
                pose.translation = (snwVec3){v[0], v[1], v[2]};
            else if (channel->path == snw_pathScale)
                pose.scale = (snwVec3){v[0], v[1], v[2]};
            else
                pose.rotation = snwQuat_Normalize((snwQuat){v[0], v[1], v[2], v[3]});
        }

        // A sheared matrix has no such parts: it is kept where nothing moves it.
        stage->locals[i] = asset->nodes[i].sheared && !moves
                               ? asset->nodes[i].local
                               : snwAffine_FromTrs(pose.translation, pose.rotation, pose.scale);
    }

    memset(stage->known, 0, (size_t)asset->nodeCount);
    for (int i = 0; i < asset->nodeCount; ++i)
        WorldOf(stage, i);
}

static void PoseRange(int begin, int end, void* data)
{
    const Stage* stage = data;
    const snwAssetMesh* mesh = stage->mesh;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 x = mesh->positions[i], sum = {0, 0, 0};
        double total = 0;

        // Morphs, then the skin; without one, the node.
        for (int m = 0; m < stage->morphCount; ++m)
        {
            const float(*offsets)[3] = mesh->morphs[m].positions;
            if (stage->weights[m] != 0 && offsets != NULL)
                x = snwVec3_MulAdd(x, stage->weights[m],
                    (snwVec3){(double)offsets[i][0], (double)offsets[i][1], (double)offsets[i][2]});
        }

        for (int k = stage->skin != NULL ? mesh->weights.starts[i] : 0;
             stage->skin != NULL && k < mesh->weights.starts[i + 1]; ++k)
        {
            int joint = mesh->weights.bones[k];
            if (joint >= stage->skin->jointCount)
                continue;
            snwVec3 local = snwAffine_Apply(stage->skin->inverseBinds[joint], x);
            sum = snwVec3_MulAdd(
                sum, mesh->weights.values[k], snwAffine_Apply(stage->worlds[stage->skin->joints[joint]], local));
            total += mesh->weights.values[k];
        }

        // Weights need not add up to 1.
        stage->now[i] = total > 0 ? snwVec3_Scale(sum, 1 / total) : snwAffine_Apply(stage->worlds[stage->node], x);
    }
}

// morphCount: that are shown, of the first ones.
static void PoseSurface(Stage* stage, int clip, double time, int node, int morphCount)
{
    const snwAsset* asset = stage->asset;
    const snwAssetNode* from = &asset->nodes[node];
    stage->mesh = &asset->meshes[from->mesh];
    stage->skin = from->skin >= 0 && stage->mesh->weights.starts != NULL ? &asset->skins[from->skin] : NULL;
    stage->node = node;
    stage->morphCount = morphCount;

    // Weights of morphs: the node's or the mesh's, unless the clip has some.
    for (int i = 0; i < stage->mesh->morphCount; ++i)
        stage->weights[i] = from->morphWeights != NULL && i < from->morphCount ? (double)from->morphWeights[i]
                                                                               : stage->mesh->morphs[i].weight;

    for (int k = 0; k < asset->animations[clip].channelCount; ++k)
    {
        const snwAssetChannel* channel = &asset->animations[clip].channels[k];
        if (channel->node == node && channel->path == snw_pathMorphs && channel->keyCount > 0 &&
            channel->width == stage->mesh->morphCount)
            SampleChannel(channel, time, stage->weights);
    }

    snwParallelFor(asset->context, stage->mesh->vertexCount, against_grain, PoseRange, stage);
}

// ---------------------------------------------------------------------------------------------------------------------
// Surfaces of both

typedef struct Pair
{
    int node;
    const snwAssetMesh* mesh; // of the source
    int (*edges)[2];          // of triangles, and of vertices at one place
    int edgeCount;
    double* longest; // per edge, of the source in the clip
    snwFolds folds;
    bool scenery; // sizes and shares are those of the others
    bool alike;   // both have a skin or none: the written one has its flesh beside that, and all clips are as before
} Pair;

typedef struct Job
{
    const snwAgainstDef* def;
    snwArena arena;
    snwMessage* message;
    Stage source, written, bare;
    Pair* pairs;
    int pairCount;
    double sum, count;
    int looks; // at frames, for progress
    snwAgainst* out;
} Job;

static bool MakePairEdges(Job* job, Pair* pair)
{
    const snwAssetMesh* mesh = pair->mesh;
    snwWeldDef def = {.positions = mesh->positions, .count = mesh->vertexCount};
    snwWeld weld;
    size_t most = 3 * (size_t)mesh->triangleCount + (size_t)mesh->vertexCount + 1;

    pair->edges = snwArena_Alloc(&job->arena, most, sizeof *pair->edges);
    pair->longest = snwArena_Alloc(&job->arena, most, sizeof *pair->longest);
    if (job->arena.failed || snwWeldVertices(&job->arena, &def, &weld, job->message) < 0)
        return false;
    for (int i = 0; i < 3 * mesh->triangleCount; ++i) // each once where the triangles on both sides turn alike
    {
        int a = mesh->triangles[i / 3][i % 3], b = mesh->triangles[i / 3][(i + 1) % 3];
        pair->edges[pair->edgeCount][0] = a, pair->edges[pair->edgeCount++][1] = b;
    }

    // And an edge across each seam, so that splits are seen.
    for (int i = 0; i < mesh->vertexCount; ++i)
        if (weld.sources[weld.map[i]] != i)
            pair->edges[pair->edgeCount][0] = weld.sources[weld.map[i]], pair->edges[pair->edgeCount++][1] = i;
    return snwFolds_Find(&job->arena, mesh, &weld, &pair->folds, job->message) >= 0;
}

static const char* const s_remedy = "is it a bake of this source?";

static snwResult MakeMeshPairs(Job* job)
{
    const snwAsset *source = job->def->source, *written = job->def->written;
    job->pairs = snwArena_Alloc(&job->arena, (size_t)source->nodeCount + 1, sizeof *job->pairs);
    if (job->pairs == NULL)
        return snwFailMemory(job->message);
    for (int i = 0; i < source->nodeCount; ++i)
    {
        int mesh = source->nodes[i].mesh;
        if (mesh < 0 || source->meshes[mesh].triangleCount == 0)
            continue;

        Pair* pair = &job->pairs[job->pairCount++];
        *pair = (Pair){.node = i, .mesh = &source->meshes[mesh], .scenery = snwAsset_IsScenery(source, i)};

        // Vertices are compared by number, so the written surface must have as many.
        int other = written != NULL ? written->nodes[i].mesh : -1;
        if (written != NULL && (other < 0 || written->meshes[other].vertexCount != pair->mesh->vertexCount))
            return snwFail(job->message, snw_errorInput, s_remedy, "the surface '%s' is not that of the source",
                source->nodes[i].name);
        pair->alike = written != NULL && (source->nodes[i].skin < 0) == (written->nodes[i].skin < 0);
        if (!MakePairEdges(job, pair))
            return snwFailMemory(job->message);
        job->out->edges += pair->scenery ? 0 : pair->folds.count;
    }

    job->out->surfaces = job->pairCount;
    return snw_ok;
}

// The bone that moves a vertex most.
static void NameBone(const snwAsset* asset, const Pair* pair, int vertex, snwAgainstPlace* place)
{
    const snwAssetWeights* weights = &pair->mesh->weights;
    int skin = asset->nodes[pair->node].skin, best = -1;
    for (int k = skin >= 0 && weights->starts != NULL ? weights->starts[vertex] : 0;
         skin >= 0 && weights->starts != NULL && k < weights->starts[vertex + 1]; ++k)
        if (weights->bones[k] < asset->skins[skin].jointCount &&
            (best < 0 || weights->values[k] > weights->values[best]))
            best = k;
    snwAffine inverse;
    place->vertex = vertex;
    place->bone = best >= 0 ? asset->nodes[asset->skins[skin].joints[weights->bones[best]]].name : "";
    place->flat = best >= 0 && !snwAffine_Inverse(asset->skins[skin].inverseBinds[weights->bones[best]], &inverse);
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

// The times of a clip at which the two are held against each other.
static int CountClipFrames(const Job* job, int clip)
{
    double frames = ceil(30 * job->def->source->animations[clip].end) + 1;
    if (clip == job->def->clip)
        return job->def->frameCount;
    return job->def->clip >= 0 ? against_otherFrames : (int)fmin(fmax(frames, 2), against_mostFrames);
}

static double TimeOf(const Job* job, int clip, int frame)
{
    const snwAssetAnimation* animation = &job->def->source->animations[clip];
    return clip == job->def->clip ? job->def->start + frame / job->def->rate
                                  : animation->end * frame / (CountClipFrames(job, clip) - 1);
}

// The diagonal of all that the source shows at the beginning, but for scenery.
static void FindSourceSize(Job* job)
{
    snwVec3 lower = {INFINITY, INFINITY, INFINITY}, upper = {-INFINITY, -INFINITY, -INFINITY};
    PoseNodes(&job->source, 0, job->def->source->animations[0].start, job->def->source->nodeCount);
    for (int i = 0; i < job->pairCount; ++i)
    {
        if (job->pairs[i].scenery)
            continue;
        PoseSurface(
            &job->source, 0, job->def->source->animations[0].start, job->pairs[i].node, job->pairs[i].mesh->morphCount);
        for (int v = 0; v < job->pairs[i].mesh->vertexCount; ++v)
            lower = snwVec3_Min(lower, job->source.now[v]), upper = snwVec3_Max(upper, job->source.now[v]);
    }
    job->out->size = job->pairCount > 0 ? snwVec3_Distance(lower, upper) : 1;
}

// After a frame of one of the two passes over each clip.
static snwResult TellAgainst(Job* job)
{
    int total = 0;
    for (int clip = 0; clip < job->def->source->animationCount; ++clip)
        if (job->def->written != NULL || clip == job->def->clip)
            total += 2 * CountClipFrames(job, clip);
    job->looks = job->looks < total ? job->looks + 1 : total;
    if (job->def->progress == NULL || job->def->progress(job->looks, total, job->def->user) >= 0)
        return snw_ok;
    return snwFail(job->message, snw_errorInterrupted, NULL, "stopped while checking what was written");
}

typedef struct Worst
{
    double* most;
    snwAgainstPlace* place;
} Worst;

static void Meet(const Job* job, const Pair* pair, Worst worst, double off, int vertex, snwAgainstPlace place)
{
    if (off <= *worst.most)
        return;
    *worst.most = off;
    *worst.place = place;
    NameBone(job->def->source, pair, vertex, worst.place);
}

typedef struct Count
{
    int* most;
    snwAgainstPlace* place;
} Count;

static void MeetCount(const Job* job, const Pair* pair, Count worst, int count, int vertex, snwAgainstPlace place)
{
    double most = *worst.most;
    Meet(job, pair, (Worst){&most, worst.place}, count, vertex, place);
    *worst.most = (int)most;
}

static const char* NameOfPair(const Job* job, const Pair* pair)
{
    const snwAsset* source = job->def->source;
    return snwAsset_NameSurface(source, source->nodes[pair->node].mesh, pair->node);
}

// The longest that the source makes each edge in the clip, and how sharply it bends them.
static snwResult MeasureClipEdges(Job* job, int clip)
{
    snwResult result = snw_ok;
    snwAgainst* out = job->out;
    for (int i = 0; i < job->pairCount; ++i)
    {
        memset(job->pairs[i].longest, 0, (size_t)job->pairs[i].edgeCount * sizeof(double));
        snwFolds_Begin(&job->pairs[i].folds, job->pairs[i].mesh->positions);
    }

    double end = job->def->source->animations[clip].end;
    int frames = CountClipFrames(job, clip),
        count = frames > 1 ? frames : against_otherFrames; // a file of one is of any
    for (int f = 0; f < count && result >= 0; ++f)
    {
        double time = frames > 1 ? TimeOf(job, clip, f) : end * f / (count - 1);
        snwAgainstPlace place = {.clip = job->def->source->animations[clip].name, .frame = f, .time = time};
        PoseNodes(&job->source, clip, time, job->def->source->nodeCount);
        for (int i = 0; i < job->pairCount; ++i)
        {
            Pair* pair = &job->pairs[i];
            PoseSurface(&job->source, clip, time, pair->node, pair->mesh->morphCount);
            for (int e = 0; e < pair->edgeCount; ++e)
                pair->longest[e] = fmax(pair->longest[e],
                    snwVec3_Distance(job->source.now[pair->edges[e][0]], job->source.now[pair->edges[e][1]]));

            // What the artist folds is no mistake of the bake.
            int worst = 0, folded = snwFolds_Meet(&pair->folds, job->source.now, SNW_FOLD_SEEN * out->size, &worst);
            place.mesh = NameOfPair(job, pair);
            MeetCount(job, pair, (Count){&out->sourceFolded, &out->sourceFoldedPlace}, folded, worst, place);
        }

        result = TellAgainst(job);
    }

    return result;
}

// Edges that are torn in this frame; *worst is a vertex of the worst.
static int CountTorn(const Job* job, const Pair* pair, int* worst)
{
    int count = 0;
    double most = 0;
    for (int e = 0; e < pair->edgeCount; ++e)
    {
        int a = pair->edges[e][0], b = pair->edges[e][1];
        double over = snwVec3_Distance(job->written.now[a], job->written.now[b]) - SNW_TORN_RATIO * pair->longest[e];
        if (!(over > SNW_TORN_GAP * job->out->size))
            continue;
        ++count;
        if (over > most)
            most = over, *worst = a;
    }
    return count;
}

// Where the written one has the surface, in job->written.now; false: it does not tell.
static bool ShowWritten(Job* job, const Pair* pair, int clip, int frame, double time, snwResult* result)
{
    const snwAgainstDef* def = job->def;
    if (def->written != NULL)
    {
        PoseSurface(&job->written, clip, time, pair->node,
            def->written->meshes[def->written->nodes[pair->node].mesh].morphCount);
        return true;
    }
    snwAgainstShown shown = {0};
    *result = def->shown(def->user, frame, pair->node, &shown, job->message);
    for (int i = 0; i < pair->mesh->vertexCount && *result >= 0 && shown.positions != NULL; ++i)
    {
        const float* x = shown.positions + 3 * (size_t)i;
        snwVec3 now = {(double)x[0], (double)x[1], (double)x[2]};
        job->written.now[i] = shown.local ? snwAffine_Apply(job->source.worlds[pair->node], now) : now;
    }
    return *result >= 0 && shown.positions != NULL;
}

static bool IsTold(const Job* job, int vertex)
{
    return job->def->written != NULL || !isnan(job->written.now[vertex].x);
}

// What is left when the flesh that is known is taken off.
static snwResult MeasureMissed(Job* job, const Pair* pair, int frame, snwAgainstPlace place)
{
    snwAgainstFlesh flesh = {0};
    snwResult result = job->def->flesh(job->def->user, frame, pair->node, &flesh, job->message);
    for (int i = 0; i < pair->mesh->vertexCount && result >= 0; ++i)
    {
        const float* d = flesh.values != NULL ? flesh.values + 3 * (size_t)i : (const float[3]){0, 0, 0};
        snwVec3 wanted = {(double)d[0], (double)d[1], (double)d[2]};
        if (flesh.values == NULL || !flesh.whole)
            wanted = snwVec3_Add(job->source.now[i], wanted);
        if (IsTold(job, i))
            Meet(job, pair, (Worst){&job->out->missed, &job->out->missedPlace},
                snwVec3_Distance(job->written.now[i], wanted) / job->out->size, i, place);
    }
    return result;
}

static snwResult CompareFrame(Job* job, int clip, int frame)
{
    const snwAgainstDef* def = job->def;
    const snwAsset* source = def->source;
    snwAgainst* out = job->out;
    snwAgainstPlace place = {.clip = source->animations[clip].name, .frame = frame, .time = TimeOf(job, clip, frame)};
    int torn = 0, folded = 0; // in this frame
    snwResult result = snw_ok;

    PoseNodes(&job->source, clip, place.time, source->nodeCount);
    if (def->written != NULL)
    {
        PoseNodes(&job->written, clip, place.time, def->written->nodeCount);
        PoseNodes(&job->bare, clip, place.time, source->nodeCount);
    }

    for (int p = 0; p < job->pairCount && result >= 0; ++p)
    {
        Pair* pair = &job->pairs[p];
        if (!pair->alike && def->clip >= 0 && clip != def->clip)
            continue; // key frames are made for one clip
        place.mesh = NameOfPair(job, pair);
        PoseSurface(&job->source, clip, place.time, pair->node, pair->mesh->morphCount);
        if (!ShowWritten(job, pair, clip, frame, place.time, &result))
            continue;

        // How far off, as it plays.
        for (int i = 0; i < pair->mesh->vertexCount; ++i)
        {
            double off = snwVec3_Distance(job->source.now[i], job->written.now[i]) / out->size;
            if (!IsTold(job, i))
                continue;
            job->sum += pair->scenery ? 0 : off;
            job->count += pair->scenery ? 0 : 1;
            Meet(job, pair, (Worst){&out->most, &out->mostPlace}, off, i, place);
        }

        // Does it hold together?
        int worst = 0;
        torn += CountTorn(job, pair, &worst);
        MeetCount(job, pair, (Count){&out->torn, &out->tornPlace}, torn, worst, place);
        folded += snwFolds_Count(&pair->folds, job->written.now, SNW_FOLD_SEEN * out->size, &worst);
        MeetCount(job, pair, (Count){&out->folded, &out->foldedPlace}, folded, worst, place);

        // Is it the source but for its flesh?
        if (def->flesh != NULL && clip == def->clip)
            result = MeasureMissed(job, pair, frame, place);
        if (pair->alike)
            PoseSurface(&job->bare, clip, place.time, pair->node, pair->mesh->morphCount);
        for (int i = 0; i < pair->mesh->vertexCount && pair->alike; ++i)
            Meet(job, pair, (Worst){&out->bare, &out->barePlace},
                snwVec3_Distance(job->source.now[i], job->bare.now[i]) / out->size, i, place);
    }

    ++out->frames;
    return result < 0 ? result : TellAgainst(job);
}

// Stages of the source and of the written document. Where none is written the source stands for it.
static bool MakeStages(Job* job)
{
    const snwAsset *source = job->def->source, *written = job->def->written != NULL ? job->def->written : source;
    return MakeAgainstStage(&job->arena, source, &job->source) &&
           MakeAgainstStage(&job->arena, written, &job->written) && MakeAgainstStage(&job->arena, written, &job->bare);
}

snwResult snwAgainst_Probe(snwContext* context, const snwAgainstDef* def, int node, double* mean, snwMessage* message)
{
    snwAgainst out = {0};
    Job job = {.def = def, .arena = {.context = context}, .message = message, .out = &out};
    Pair pair = {.node = node, .mesh = &def->source->meshes[def->source->nodes[node].mesh]};
    job.pairs = &pair;
    job.pairCount = 1;
    snwResult result = MakeStages(&job) ? snw_ok : snwFailMemory(message);

    if (result >= 0)
        FindSourceSize(&job);

    // The mean distance over the frames that the caller has.
    for (int f = 0; f < def->frameCount && result >= 0; ++f)
    {
        double time = TimeOf(&job, def->clip, f);
        PoseNodes(&job.source, def->clip, time, def->source->nodeCount);
        PoseSurface(&job.source, def->clip, time, node, pair.mesh->morphCount);
        bool shown = ShowWritten(&job, &pair, def->clip, f, time, &result);
        for (int i = 0; shown && i < pair.mesh->vertexCount; ++i)
            if (IsTold(&job, i))
                job.sum += snwVec3_Distance(job.source.now[i], job.written.now[i]) / out.size, job.count += 1;
    }

    *mean = job.count > 0 ? job.sum / job.count : INFINITY;
    snwArena_Free(&job.arena);
    return result;
}

snwResult snwCompareAgainst(snwContext* context, const snwAgainstDef* def, snwAgainst* out, snwMessage* message)
{
    Job job = {.def = def, .arena = {.context = context}, .message = message, .out = out};
    snwAgainstPlace nowhere = {.mesh = "", .bone = "", .clip = ""};
    *out = (snwAgainst){.mostPlace = nowhere,
        .missedPlace = nowhere,
        .barePlace = nowhere,
        .held = -1,
        .heldPlace = nowhere,
        .tornPlace = nowhere,
        .foldedPlace = nowhere,
        .sourceFoldedPlace = nowhere};

    if (def->source->animationCount == 0)
        return snwFail(message, snw_errorInput, NULL, "the source has no clip");
    if (def->written != NULL && (def->written->nodeCount < def->source->nodeCount ||
                                    def->written->animationCount < def->source->animationCount))
        return snwFail(message, snw_errorInput, s_remedy, "it has fewer nodes or clips than the source");

    snwResult result = MakeStages(&job) ? MakeMeshPairs(&job) : snwFailMemory(message);
    if (result >= 0)
        FindSourceSize(&job);
    if (result >= 0 && !(out->size > 0 && isfinite(out->size)))
        result = snwFail(message, snw_errorInput, "look for a node with a scale of zero",
            "the source shows nothing: its surfaces have no size at the beginning of '%s'",
            def->source->animations[0].name);

    // Every clip of a written file; of a source alone, the one that is baked.
    for (int clip = 0; clip < def->source->animationCount && result >= 0; ++clip)
    {
        if (def->written == NULL && clip != def->clip)
            continue;
        result = MeasureClipEdges(&job, clip);
        job.sum = job.count = 0;
        for (int f = 0; f < CountClipFrames(&job, clip) && result >= 0; ++f)
            result = CompareFrame(&job, clip, f);
        out->mean = fmax(out->mean, job.count > 0 ? job.sum / job.count : 0);
    }

    snwArena_Free(&job.arena);
    return result;
}

snwResult snwAgainst_Judge(const snwAgainst* against, snwMessage* message)
{
    // The worst of each kind of error; what is off by more than the limit is named.
    const struct
    {
        double off;
        const snwAgainstPlace* place;
        const char *words, *remedy;
    } parts[] = {
        {against->bare, &against->barePlace, "off without its flesh",
            "sinew info FILE tells what is odd about its rig; --only MESH leaves this surface out"},
        {against->held, &against->heldPlace, "off with its flesh held to its skin",
            "sinew info FILE tells what is odd about its rig; --only MESH leaves this surface out"},
        {against->missed, &against->missedPlace, "from where its flesh was simulated",
            "a smaller --tolerance or a larger --most; --only MESH leaves this surface out"},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        if (!(parts[i].off <= SNW_AGAINST_OFF))
            return snwFail(message, snw_errorInput, parts[i].remedy,
                "surface '%s' is %.2g %% of the size %s: bone '%s'%s, frame %d of '%s'", parts[i].place->mesh,
                100 * parts[i].off, parts[i].words, parts[i].place->bone,
                parts[i].place->flat ? ", whose bind matrix is flat" : "", parts[i].place->frame, parts[i].place->clip);

    // Torn edges are never right; folds may be a few.
    const snwAgainstPlace* torn = &against->tornPlace;
    if (against->torn > 0)
        return snwFail(message, snw_errorInput, "a lower --softness, or --only MESH to leave this surface out",
            "%d edges of '%s' are torn that the source does not tear: bone '%s', frame %d of '%s'", against->torn,
            torn->mesh, torn->bone, torn->frame, torn->clip);

    const snwAgainstPlace* folded = &against->foldedPlace;
    if (against->folded > SNW_AGAINST_FOLDED * against->edges)
        return snwFail(message, snw_errorInput, "a lower --softness, or --only MESH to leave this surface out",
            "'%s' doubles back on itself at %d edges where the source does not: bone '%s', frame %d of '%s'",
            folded->mesh, against->folded, folded->bone, folded->frame, folded->clip);
    return snw_ok;
}
