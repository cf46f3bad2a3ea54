// What came of a bake, in numbers that an artist can act on.
//
// Lag, stretch and drift are those of the surfaces that are written against the artist's: of bodies nobody sees
// anything. Drift: where the surface over each bone is on average (by weight), against the artist's. In pbcd bones are
// exactly the artist's; whether the flesh around them stays with the artist's motion on average is another matter, and
// the reason for --keep-trajectory.
//
// Seam of a loop: what changes from its last frame but one to its end, which is its beginning, against the median
// change from frame to frame; and how much the velocity changes there, against the median change of the velocity.

#include "bake/parts.h"
#include "base/sort.h"

#include "sim/character.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SNW_FAR  0.05 // of the size: from the surface to its body
#define SNW_HELD 0.4  // of the vertices

typedef struct Meter
{
    snwBake* bake;
    snwBakeFrames* frames;
    const snwCharacter* character;
    int vertexCount, boneCount, frameCount;
    snwBakeDrift* drifts;
    double* sums;            // 4 per bone: offset by weight, and that weight
    float* now[4];           // of this frame and some before
    double *changes, *turns; // per frame: the most that a vertex moves, that its velocity changes
    int turnCount;
} Meter;

static double Length(const float* d)
{
    return sqrt((double)d[0] * (double)d[0] + (double)d[1] * (double)d[1] + (double)d[2] * (double)d[2]);
}

static int MainBone(const snwCharacter* character, int vertex)
{
    const snwWeights* weights = &character->def.boneWeights;
    int bone = -1;
    double most = 0;
    for (int i = weights->vertexCount > 0 ? weights->starts[vertex] : 0;
         weights->vertexCount > 0 && i < weights->starts[vertex + 1]; ++i)
        if (weights->values[i] > most)
        {
            most = weights->values[i];
            bone = weights->handles[i];
        }
    return bone;
}

const char* snwBake_MainBone(const snwCharacter* character, int vertex)
{
    int bone = MainBone(character, vertex);
    return bone >= 0 ? character->def.bones[bone].name : "";
}

// ---------------------------------------------------------------------------------------------------------------------
// Measures of each frame

// The vertex of the body whose weights stand for those of a vertex of a surface.
static int CarrierOfVertex(const Meter* meter, int surface, int vertex)
{
    const snwPrepared* prepared = meter->bake->prepared;
    const snwEmbedding* embedding = &prepared->embedding;
    int point = prepared->points[surface][vertex], best = 0;
    if (point < 0)
        return prepared->anchors[~point].vertices[0];
    for (int k = 1; k < 4; ++k)
        if (embedding->weights[point][k] > embedding->weights[point][best])
            best = k;
    return embedding->vertices[embedding->corners[point][best]];
}

static double EdgeOf(const float* positions, int a, int b)
{
    const float *x = positions + 3 * (size_t)a, *y = positions + 3 * (size_t)b;
    return Length((float[]){x[0] - y[0], x[1] - y[1], x[2] - y[2]});
}

static void MeasureStretch(Meter* meter, int frame, int index, const float* flesh, const float* artist)
{
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(meter->bake->prepared, index);
    snwBakeReport* report = &meter->bake->report;
    for (int e = 0; e < 3 * surface->triangleCount; ++e)
    {
        int a = surface->triangles[e / 3][e % 3], b = surface->triangles[e / 3][(e + 1) % 3];
        double rest = EdgeOf((const float*)surface->positions, a, b);
        if (!(rest > 1e-4 * report->size)) // slivers stretch by any amount
            continue;
        double stretch = fabs(EdgeOf(flesh, a, b) / rest - 1);
        report->artistStretch = fmax(report->artistStretch, fabs(EdgeOf(artist, a, b) / rest - 1));
        if (stretch <= report->stretch)
            continue;
        report->stretch = stretch;
        report->stretchFrame = frame;
        report->stretchBone = snwBake_MainBone(meter->character, CarrierOfVertex(meter, index, a));
    }
}

// Share of the elements that are turned inside out.
static double InvertedShare(const snwCharacterDef* def, const float* x)
{
    int count = 0;
    for (int t = 0; t < def->tetCount; ++t)
    {
        snwVec3 corner[4];
        for (int k = 0; k < 4; ++k)
        {
            const float* p = x + 3 * (size_t)def->tets[t][k];
            corner[k] = (snwVec3){(double)p[0], (double)p[1], (double)p[2]};
        }
        snwVec3 a = snwVec3_Sub(corner[1], corner[0]), b = snwVec3_Sub(corner[2], corner[0]);
        count += snwVec3_Dot(snwVec3_Cross(a, b), snwVec3_Sub(corner[3], corner[0])) < 0;
    }
    return def->tetCount > 0 ? (double)count / def->tetCount : 0;
}

static void MeasureLag(Meter* meter, int frame, int touched, const snwSkin* flesh, const float* artist)
{
    int index = meter->bake->surfaces[touched];
    snwBakeLag* own = &meter->bake->report.lags[touched];
    const snwWeights* weights = &meter->character->def.boneWeights;
    snwBakeReport* report = &meter->bake->report;
    for (int v = 0; v < snwPrepared_GetSurface(meter->bake->prepared, index)->vertexCount; ++v)
    {
        // How far flesh is from where the artist has it, and where it is most.
        const float *x = flesh->positions + 3 * (size_t)v, *normal = flesh->normals + 3 * (size_t)v;
        float d[3];
        for (int k = 0; k < 3; ++k)
            d[k] = x[k] - artist[3 * (size_t)v + (size_t)k];
        double lag = Length(d);
        int carrier = CarrierOfVertex(meter, index, v);

        if (lag > own->most)
        {
            own->most = lag;
            own->frame = frame;
            own->bone = snwBake_MainBone(meter->character, carrier);
        }
        if (lag > report->lag)
        {
            report->lag = lag;
            report->lagFrame = frame;
            report->lagBone = snwBake_MainBone(meter->character, carrier);
            report->lagPlace = (snwVec3){(double)x[0], (double)x[1], (double)x[2]};
            report->lagNormal = (snwVec3){(double)normal[0], (double)normal[1], (double)normal[2]};
        }

        // Summed over the bones that hold the vertex: what stays in the mean is drift, not jiggle.
        for (int i = weights->vertexCount > 0 ? weights->starts[carrier] : 0;
             weights->vertexCount > 0 && i < weights->starts[carrier + 1]; ++i)
        {
            double* sum = meter->sums + 4 * (size_t)weights->handles[i];
            for (int k = 0; k < 3; ++k)
                sum[k] += weights->values[i] * (double)d[k];
            sum[3] += weights->values[i];
        }
    }
}

static snwResult MeasureSurfaces(Meter* meter, int frame, snwMessage* message)
{
    const snwBake* bake = meter->bake;
    snwResult result = snw_ok;
    memset(meter->sums, 0, 4 * (size_t)meter->boneCount * sizeof(double));

    // Each surface that is written.
    for (int i = 0; i < bake->surfaceCount && result >= 0; ++i)
    {
        snwSkin flesh, artist;
        result = snwBakeFrames_GetSurface(meter->frames, bake->surfaces[i], &flesh, message);
        if (result >= 0)
            result = snwBakeFrames_GetArtist(meter->frames, bake->surfaces[i], &artist, message);
        if (result < 0)
            return result;

        // How far what is shown is from the body that is simulated.
        double ride = snwBakeFrames_GetRide(meter->frames, bake->surfaces[i]);

        if (ride > bake->report.ride)
        {
            meter->bake->report.ride = ride;
            meter->bake->report.rideMesh = snwPrepared_GetSurface(bake->prepared, bake->surfaces[i])->name;
            meter->bake->report.rideFrame = frame;
        }

        MeasureStretch(meter, frame, bake->surfaces[i], flesh.positions, artist.positions);
        MeasureLag(meter, frame, i, &flesh, artist.positions);
    }

    // The mean over all flesh of a bone, in this frame.
    for (int b = 0; b < meter->boneCount; ++b)
    {
        const double* sum = meter->sums + 4 * (size_t)b;
        double drift = sum[3] > 0 ? sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / sum[3] : 0;
        meter->drifts[b].mean += drift / meter->frameCount;
        meter->drifts[b].most = fmax(meter->drifts[b].most, drift);
    }

    return result;
}

// The most that a vertex moves from a to b, and that its velocity there differs from the velocity before (NULL: none).
static double MeasureMove(const Meter* meter, const float* a, const float* b, const float* before, double* turn)
{
    double most = 0;
    *turn = 0;
    for (int i = 0; i < meter->vertexCount; ++i)
    {
        float step[3], bend[3] = {0, 0, 0};
        for (int k = 0; k < 3; ++k)
        {
            step[k] = b[3 * i + k] - a[3 * i + k];
            if (before != NULL)
                bend[k] = step[k] - (a[3 * i + k] - before[3 * i + k]);
        }
        most = fmax(most, Length(step));
        *turn = fmax(*turn, Length(bend));
    }
    return most;
}

// Jumps of the artist's own motion: half of the size, on average, within a frame.
static bool Jumps(const Meter* meter, const float* before, const float* now)
{
    double sum = 0, far = 0.5 * meter->bake->report.size;
    for (int i = 0; i < meter->vertexCount; ++i)
    {
        float d[3] = {
            now[3 * i] - before[3 * i], now[3 * i + 1] - before[3 * i + 1], now[3 * i + 2] - before[3 * i + 2]};
        double length = Length(d);
        sum += length * length;
    }
    return sum > far * far * meter->vertexCount;
}

static void MeasureSteps(Meter* meter, int frame, const float* body)
{
    size_t bytes = 3 * (size_t)meter->vertexCount * sizeof(float);
    double turn;
    if (frame >= 1)
        meter->changes[frame - 1] = MeasureMove(meter, meter->now[0], body, frame >= 2 ? meter->now[1] : NULL, &turn);
    if (frame >= 2)
        meter->turns[meter->turnCount++] = turn;
    memcpy(meter->now[1], meter->now[0], bytes);
    memcpy(meter->now[0], body, bytes);
}

static snwResult TellMeasuring(const Meter* meter, int done, int total, snwMessage* message)
{
    return snwBake_Tell(meter->bake, snw_bakeMeasuring, "measuring", done, total) < 0
               ? snwFail(message, snw_errorInterrupted, NULL, "stopped while measuring; the frames are kept")
               : snw_ok;
}

static snwResult MeasureFrame(Meter* meter, int frame, snwMessage* message)
{
    snwResult result = snwBakeFrames_Read(meter->frames, frame, NULL, message);
    if (result < 0)
        return result;
    const float *body = snwBakeFrames_GetBody(meter->frames), *artist = snwBakeFrames_GetArtistBody(meter->frames);
    result = MeasureSurfaces(meter, frame, message);
    if (result < 0)
        return result;
    snwBakeReport* report = &meter->bake->report;
    report->inverted = fmax(report->inverted, InvertedShare(&meter->character->def, body));
    report->artistInverted = fmax(report->artistInverted, InvertedShare(&meter->character->def, artist));
    report->limited = fmax(report->limited, snwBakeFrames_GetLimited(meter->frames));
    MeasureSteps(meter, frame, body);
    if (frame > 0)
        meter->bake->report.cuts += Jumps(meter, meter->now[2], artist);
    memcpy(meter->now[2], artist, 3 * (size_t)meter->vertexCount * sizeof(float));
    return TellMeasuring(meter, frame + 1, meter->frameCount, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Measures of the whole

static double Median(double* values, int count)
{
    snwSortReals(values, count);
    return count > 0 ? values[count / 2] : 0;
}

// How much more a vertex turns at the seam than the artist's motion does there by itself, at most.
static double SeamTurn(const Meter* meter, const float* after, const float* artistAfter)
{
    double most = 0;
    for (int i = 0; i < meter->vertexCount; ++i)
    {
        float bend[3], artist[3];
        for (int k = 0; k < 3; ++k)
        {
            int at = 3 * i + k;
            bend[k] = (after[at] - meter->now[2][at]) - (meter->now[2][at] - meter->now[0][at]);
            artist[k] = (artistAfter[at] - meter->now[3][at]) - (meter->now[3][at] - meter->now[1][at]);
        }
        most = fmax(most, Length(bend) - Length(artist));
    }
    return most;
}

// The last frame but one, the end, which is the beginning, and the frame after that.
static snwResult MeasureSeam(Meter* meter, snwMessage* message)
{
    snwBakeReport* report = &meter->bake->report;
    size_t bytes = 3 * (size_t)meter->vertexCount * sizeof(float);
    int steps = meter->frameCount - 1;
    snwResult result = snw_ok;

    if (meter->bake->plan.cycleFrames == 0 || steps < 3)
        return snw_ok;

    // Frames on both sides of the seam.
    for (int i = 0; i < 2 && result >= 0; ++i)
    {
        result = snwBakeFrames_Read(meter->frames, i == 0 ? steps - 1 : steps, NULL, message);
        memcpy(meter->now[2 * i], snwBakeFrames_GetBody(meter->frames), bytes);
        memcpy(meter->now[2 * i + 1], snwBakeFrames_GetArtistBody(meter->frames), bytes);
    }

    // Changes across it, against the median of those within: one is a seam that nobody sees.
    if (result >= 0)
        result = snwBakeFrames_Read(meter->frames, 1, NULL, message);
    double across = meter->changes[steps - 1], change = Median(meter->changes, steps);
    double turn = SeamTurn(meter, snwBakeFrames_GetBody(meter->frames), snwBakeFrames_GetArtistBody(meter->frames));
    double bend = Median(meter->turns, meter->turnCount);
    report->seamPosition = change > 0 ? across / change : 0;
    report->seamVelocity = bend > 0 ? turn / bend : 0;

    return result;
}

// How fast flesh still is at the end of the preroll, root mean square, where the artist's motion stands still.
static snwResult MeasureStart(Meter* meter, snwMessage* message)
{
    const snwBakePlan* plan = &meter->bake->plan;
    snwFrames* cache = NULL;
    snwFrame frame;
    if (plan->cycleFrames > 0 || plan->prerollFrames < 2)
        return snw_ok;
    snwResult result = snwFrames_Open(meter->bake->context, meter->bake->framesPath, &cache, message);

    // The last two frames before the first one that is seen.
    for (int i = 0; i < 2 && result >= 0; ++i)
    {
        result = snwFrames_Read(cache, plan->firstFrame - 1 + i, &frame, message);
        for (int v = 0; v < meter->vertexCount && result >= 0; ++v)
            memcpy(meter->now[i] + 3 * v,
                (const char*)frame.bodies[0].vertices + (size_t)v * (size_t)frame.bodies[0].stride, 3 * sizeof(float));
    }

    // Speed: one frame's way times the rate.
    double sum = 0;
    for (int i = 0; i < 3 * meter->vertexCount && result >= 0; ++i)
    {
        double step = (double)(meter->now[1][i] - meter->now[0][i]);
        sum += step * step / meter->vertexCount;
    }

    meter->bake->report.settled = sqrt(sum) * plan->rate / meter->bake->report.size;
    if (cache != NULL)
        snwFrames_Close(cache);
    return result;
}

// Where the bones were, against where the artist has them: of methods that move bones themselves.
static snwResult MeasureBakedBones(Meter* meter, snwMessage* message)
{
    const snwBakePlan* plan = &meter->bake->plan;
    int frameCount = meter->frameCount - (plan->cycleFrames > 0);
    snwFrames* cache = NULL;
    snwFrame frame;
    snwTransform* artist = snwArena_Alloc(&meter->bake->arena, (size_t)meter->boneCount + 1, sizeof *artist);
    snwResult result = artist == NULL ? snwFailMemory(message)
                                      : snwFrames_Open(meter->bake->context, meter->bake->framesPath, &cache, message);

    // Both ends of each bone, where the cache has them and where the clip would.
    for (int f = 0; f < frameCount && result >= 0; ++f)
    {
        result = snwFrames_Read(cache, plan->firstFrame + f, &frame, message);
        snwCharacter_Pose(meter->character, plan->motion, plan->start + f / plan->rate, artist, meter->boneCount);
        for (int b = 0; result >= 0 && b < meter->boneCount && b < frame.bodies[0].bones.count; ++b)
        {
            const snwBoneDef* bone = &meter->character->def.bones[b];
            const snwTransform* now = (const snwTransform*)((const char*)frame.bodies[0].bones.data +
                                                            (size_t)b * (size_t)frame.bodies[0].bones.stride);
            double head = snwVec3_Distance(
                snwTransform_Apply(*now, bone->head), snwTransform_Apply(artist[b], bone->head));
            double tail = snwVec3_Distance(
                snwTransform_Apply(*now, bone->tail), snwTransform_Apply(artist[b], bone->tail));

            meter->drifts[b].skeleton = fmax(meter->drifts[b].skeleton, fmax(head, tail));
        }

        if (result >= 0)
            result = TellMeasuring(meter, frameCount, frameCount, message);
    }

    if (cache != NULL)
        snwFrames_Close(cache);
    return result;
}

static int CompareLags(const void* a, const void* b)
{
    const snwBakeLag *x = a, *y = b;
    return x->most != y->most ? (x->most < y->most) - (x->most > y->most) : strcmp(x->mesh, y->mesh);
}

static void JudgeBake(Meter* meter)
{
    snwBake* bake = meter->bake;
    const snwBakeReport* report = &bake->report;
    double worst = 0;

    for (int b = 0; b < meter->boneCount; ++b)
        worst = fmax(worst, meter->drifts[b].skeleton);

    // In the order of what an artist should look at first; each with what would help.
    if (report->inverted > report->artistInverted + 0.002)
        snwBake_Warn(bake,
            "up to %.1f %% of the flesh is turned inside out (by the artist's motion alone: %.1f %%): more --substeps, "
            "or "
            "a stiffer material",
            100 * report->inverted, 100 * report->artistInverted);

    if (report->stretch > 1 && report->stretch > 1.5 * report->artistStretch)
        snwBake_Warn(bake,
            "flesh of '%s' is stretched by %.0f %% in frame %d (the artist's motion alone: %.0f %%): a "
            "lower --softness helps",
            report->stretchBone, 100 * report->stretch, report->stretchFrame, 100 * report->artistStretch);

    if (report->lag > 0.25 * report->size)
        snwBake_Warn(bake,
            "flesh of '%s' gets %.3g m away from where the artist has it in frame %d, a quarter of the "
            "size and more: a lower --softness, or --keep-trajectory",
            report->lagBone, report->lag, report->lagFrame);

    if (report->ride > SNW_FAR * report->size)
        snwBake_Warn(bake,
            "'%s' is %.0f %% of the size away from the body that is simulated in frame %d, on average: its flesh may "
            "move oddly (sinew info tells what is odd about the rig)",
            report->rideMesh, 100 * report->ride / report->size, report->rideFrame);

    if (report->limited > SNW_HELD)
        snwBake_Warn(bake,
            "flesh of %.0f %% of the surface would go farther than it reaches and is held back: a lower --softness, or "
            "--falloff 0 to let it go",
            100 * report->limited);

    if (report->settled > 0.02)
        snwBake_Warn(bake, "flesh was still moving at the first frame: a longer --preroll");
    if (worst > 0.02 * report->size)
        snwBake_Warn(bake, "bones get up to %.3g m away from where the artist has them: method pbcd keeps them", worst);
    if (report->cuts > 0)
        snwBake_Note(bake, "%d cut%s or teleport%s in the clip: flesh goes along without a whip", report->cuts,
            report->cuts == 1 ? "" : "s", report->cuts == 1 ? "" : "s");
    if (bake->plan.cycleFrames > 0 && fmax(report->seamPosition, report->seamVelocity) > 2)
        snwBake_Warn(bake, "the seam of the loop may show: it changes %.1f times as much as from frame to frame",
            fmax(report->seamPosition, report->seamVelocity));
}

static bool AllocateMeter(Meter* meter)
{
    snwArena* arena = &meter->bake->arena;
    size_t floats = 3 * (size_t)meter->vertexCount + 1, frames = (size_t)meter->frameCount + 1;
    for (int i = 0; i < 4; ++i)
        meter->now[i] = snwArena_Alloc(arena, floats, sizeof(float));
    meter->changes = snwArena_Alloc(arena, frames, sizeof(double));
    meter->turns = snwArena_Alloc(arena, frames, sizeof(double));
    meter->sums = snwArena_Alloc(arena, 4 * (size_t)meter->boneCount + 1, sizeof(double));
    meter->drifts = snwArena_Alloc(arena, (size_t)meter->boneCount + 1, sizeof *meter->drifts);
    for (int b = 0; b < meter->boneCount && !arena->failed; ++b)
        meter->drifts[b].bone = meter->character->def.bones[b].name;

    snwBakeReport* report = &meter->bake->report;
    report->lagCount = meter->bake->surfaceCount;
    report->lags = snwArena_Alloc(arena, (size_t)report->lagCount + 1, sizeof *report->lags);
    for (int i = 0; i < report->lagCount && !arena->failed; ++i)
        report->lags[i] = (snwBakeLag){
            .mesh = snwPrepared_GetSurface(meter->bake->prepared, meter->bake->surfaces[i])->name, .bone = ""};
    return !arena->failed;
}

snwResult snwBake_Measure(snwBake* bake, snwMessage* message)
{
    const snwCharacter* character = snwPrepared_GetCharacter(bake->prepared);
    snwBakeReport* report = &bake->report;

    // The report's plain figures, then arrays for a frame.
    Meter meter = {.bake = bake,
        .frames = bake->frames,
        .character = character,
        .vertexCount = character->def.vertexCount,
        .boneCount = character->def.boneCount,
        .frameCount = bake->plan.frameCount};
    report->stretchBone = report->lagBone = report->rideMesh = "";
    report->frames = meter.frameCount;
    report->rate = bake->plan.rate;
    report->start = bake->plan.start;
    report->end = bake->plan.start + (meter.frameCount - 1) / bake->plan.rate;
    report->preroll = bake->plan.prerollFrames / bake->plan.rate;
    report->fadeFrames = bake->plan.fadeFrames;
    if (!AllocateMeter(&meter))
        return snwFailMemory(message);
    report->drifts = meter.drifts;
    report->driftCount = meter.boneCount;
    // Frames, then what needs several of them.
    snwResult result = snw_ok;
    for (int f = 0; f < meter.frameCount && result >= 0; ++f)
        result = MeasureFrame(&meter, f, message);
    if (result >= 0)
        result = MeasureSeam(&meter, message);
    if (result >= 0)
        result = MeasureBakedBones(&meter, message);
    if (result >= 0)
        result = MeasureStart(&meter, message);
    qsort(report->lags, (size_t)report->lagCount, sizeof *report->lags, CompareLags);
    if (result >= 0)
        JudgeBake(&meter);

    return result;
}
