// Which frames: the clip, its range, how many per second, what comes before the first one. And which surfaces and
// bones.

#include "bake/parts.h"

#include "scene/words.h"
#include "sim/character.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNW_SETTLE 2.0   // s, for flesh that hangs or touches
#define SNW_STAND  0.5   // s, for flesh that is where it belongs anyway
#define SNW_CLOSED 0.005 // of the size: a cycle ends where it begins

// ---------------------------------------------------------------------------------------------------------------------
// The clip

static snwResult FailClip(const snwCharacterDef* character, const char* clip, snwMessage* message)
{
    char remedy[240] = "";
    size_t used = 0;
    for (int i = 0; i < character->motionCount && used < sizeof remedy; ++i)
        used += (size_t)snprintf(remedy + used, sizeof remedy - used, "%s%d %s", i == 0 ? "it has " : ", ", i + 1,
            character->motions[i].name);
    return snwFail(message, snw_errorInput, remedy, "there is no clip '%s'", snwQuoteWord(clip).text);
}

// The motion of a cache has the name of its file.
static bool IsOfCache(const snwBake* bake, const char* motion)
{
    const char *cache = bake->settings.cache, *slash = strrchr(cache, '/'), *dot = strrchr(cache, '.');
    const char* name = slash != NULL ? slash + 1 : cache;
    size_t length = dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name);
    return length > 0 && strlen(motion) == length && strncmp(motion, name, length) == 0;
}

// What there is to say about a file without any motion.
static snwResult FailStill(const snwBake* bake, snwMessage* message)
{
    static const char* const s_remedy = "sinew prep FILE --report says what it holds; --cache FILE.pc2 brings a motion";
    const snwAsset* asset = bake->asset;
    int weights = 0;
    for (int i = 0; asset != NULL && i < asset->meshCount; ++i)
        weights += asset->meshes[i].weights.starts != NULL
                       ? asset->meshes[i].weights.starts[asset->meshes[i].vertexCount]
                       : 0;

    // Whatever is most likely wrong, in words that an exporter's user understands.
    if (asset != NULL && asset->skinCount > 0 && asset->animationCount > 0 && weights == 0)
        return snwFail(message, snw_errorInput, "bind the mesh to its bones, then export again",
            "nothing in it moves: no vertex follows a bone, for all weights are zero");
    for (int i = 0; asset != NULL && i < asset->nodeCount && asset->skinCount > 0; ++i)
    {
        snwVec3 scale = asset->nodes[i].pose.scale;
        if (scale.x * scale.y * scale.z == 0)
            return snwFail(message, snw_errorInput, "give it a scale, then export again",
                "nothing in it moves: node '%s' stands with a scale of zero", asset->nodes[i].name);
    }

    return snwFail(message, snw_errorInput, s_remedy, "nothing in it moves: it has no clip that moves a bone");
}

static snwResult ChooseClip(snwBake* bake, const snwCharacterDef* character, snwMessage* message)
{
    const char* clip = bake->addedClip < 0 ? bake->settings.clip : "";
    const int* clips = snwPrepared_GetInfo(bake->prepared).clips; // by number: files have clips without names
    char* end = NULL;
    long number = strtol(clip, &end, 10);

    // A cache wins, then a motion that was put on, then the clip by name, by number, or the first.
    bake->plan.motion = -1;
    for (int i = 0; i < character->motionCount && clip[0] == 0; ++i)
        if (IsOfCache(bake, character->motions[i].name))
            bake->plan.motion = i;
    for (int i = 0; i < character->motionCount && clips != NULL && bake->addedClip >= 0; ++i)
        if (clips[i] == bake->addedClip)
            bake->plan.motion = i;
    if (character->motionCount == 0)
        return FailStill(bake, message);
    for (int i = 0; i < character->motionCount && bake->plan.motion < 0; ++i)
        if (clip[0] == 0 || strcmp(character->motions[i].name, clip) == 0)
            bake->plan.motion = i;
    if (bake->plan.motion < 0 && *end == 0 && number >= 1 && number <= character->motionCount)
        bake->plan.motion = (int)number - 1;
    if (bake->plan.motion < 0)
        return FailClip(character, clip, message);
    // Chosen by nobody: worth a note.
    if (clip[0] == 0 && bake->settings.cache[0] == 0 && bake->addedClip < 0 && character->motionCount > 1)
        snwBake_Note(bake, "clip '%s', the first of %d", character->motions[0].name, character->motionCount);
    int animation = clips != NULL ? clips[bake->plan.motion] : -1;
    bake->plan.animation = bake->asset != NULL && animation < bake->asset->animationCount ? animation : -1;

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames per second

// Do all keys lie on frames that begin at `start`?
static bool Fits(const snwAssetAnimation* animation, double fps, double start)
{
    for (int i = 0; i < animation->channelCount; ++i)
        for (int k = 0; k < animation->channels[i].keyCount; ++k)
        {
            double frame = (animation->channels[i].times[k] - start) * fps;
            if (fabs(frame - round(frame)) > 0.02)
                return false;
        }
    return true;
}

// Where frames begin that the keys of the clip lie on; 0: at its beginning.
static double FindStart(const snwBake* bake, double rate)
{
    const snwAssetAnimation* animation = bake->asset != NULL && bake->plan.animation >= 0
                                             ? &bake->asset->animations[bake->plan.animation]
                                             : NULL;
    if (animation == NULL || bake->settings.loop || animation->channelCount == 0 || Fits(animation, rate, 0))
        return 0;
    double start = fmod(animation->channels[0].times[0], 1 / rate);
    return Fits(animation, rate, start) ? start : 0;
}

static double FindRate(const snwBake* bake)
{
    static const double s_rates[] = {24, 25, 30, 60};
    const snwCharacterDef* character = snwCharacter_GetDef(snwPrepared_GetCharacter(bake->prepared));
    const snwVertexTrackDef* samples = &character->motions[bake->plan.motion].vertices;
    if (bake->settings.fps > 0)
        return bake->settings.fps;
    if (bake->asset != NULL && bake->asset->flesh.timeStep > 0)
        return fmin(fmax(1 / bake->asset->flesh.timeStep, 24), 120);
    if (samples->sampleCount > 1 && bake->plan.animation < 0) // a cache: its own frames
        return fmin(fmax((samples->sampleCount - 1) / samples->times[samples->sampleCount - 1], 1), 1000);
    for (size_t i = 0; bake->asset != NULL && bake->plan.animation >= 0 && i < sizeof s_rates / sizeof *s_rates; ++i)
        if (Fits(&bake->asset->animations[bake->plan.animation], s_rates[i], 0))
            return s_rates[i];
    return 30;
}

// ---------------------------------------------------------------------------------------------------------------------
// The range

// m: how far apart two poses are at the ends of the bones.
static double PoseGap(const snwBake* bake, double a, double b, snwVec3* way)
{
    const snwCharacter* character = snwPrepared_GetCharacter(bake->prepared);
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    snwTransform* poses = snwAllocArray(bake->context, 2 * (size_t)def->boneCount + 1, sizeof *poses);
    double most = 0;

    if (poses == NULL)
        return INFINITY;

    // Both poses at both ends of each bone.
    snwCharacter_Pose(character, bake->plan.motion, a, poses, def->boneCount);
    snwCharacter_Pose(character, bake->plan.motion, b, poses + def->boneCount, def->boneCount);
    for (int i = 0; i < 2 * def->boneCount; ++i)
    {
        snwVec3 point = i % 2 == 0 ? def->bones[i / 2].head : def->bones[i / 2].tail;
        snwVec3 gap = snwVec3_Sub(
            snwTransform_Apply(poses[def->boneCount + i / 2], point), snwTransform_Apply(poses[i / 2], point));
        most = fmax(most, snwVec3_Length(gap));

        // The first bone is the root's: its way is that of the whole figure.
        if (i == 0)
            *way = gap;
    }

    snwFree(bake->context, poses);
    return most;
}

static snwResult PlanLoop(snwBake* bake, const snwMotionDef* motion, snwMessage* message)
{
    snwBakePlan* plan = &bake->plan;
    snwVec3 way = {0, 0, 0};
    double size = bake->report.size, gap = PoseGap(bake, 0, motion->duration * (1 - 1e-9), &way);

    // A loop must close by itself: in place and in pose.
    if (plan->start > 0 || plan->end < motion->duration)
        return snwFail(message, snw_errorInput, "leave --start and --end out", "a loop is the whole of its clip");
    if (snwVec3_Length(way) > SNW_CLOSED * size)
        return snwFail(message, snw_errorInput, "an in-place version of the clip, or no --loop",
            "'%s' does not end where it begins: it moves on by %.3g m", motion->name, snwVec3_Length(way));
    if (gap > SNW_CLOSED * size || !motion->loop)
        return snwFail(message, snw_errorInput, "no --loop, or a clip whose last pose is its first",
            "'%s' does not end as it begins: bones are off by up to %.3g m", motion->name, gap);

    // A whole number of frames makes a cycle.
    int frames = (int)fmax(round(motion->duration * plan->rate), 2);
    double rate = frames / motion->duration;
    if (fabs(rate / plan->rate - 1) > 1e-3)
        snwBake_Note(bake, "%d frames of %.4g per second, so that the loop is whole frames", frames, rate);

    // Run until it repeats, faded over a tenth of it.
    plan->rate = rate;
    plan->cycleFrames = frames;
    plan->frameCount = frames + 1;
    plan->fadeFrames = frames / 10;
    plan->lastFrame = plan->prerollFrames + snw_maxCycles * frames + 1;

    return snw_ok;
}

static double FindPreroll(const snwBake* bake)
{
    const snwBakeSettings* settings = &bake->settings;
    bool hangs = settings->gravity != 0 || json_array_size(settings->collide) > 0 || settings->selfCollision ||
                 settings->keepTrajectory || settings->settings != NULL || strcmp(settings->method, "pbcd") != 0;
    if (settings->preroll >= 0)
        return settings->preroll;
    return hangs ? SNW_SETTLE : SNW_STAND;
}

static snwResult PlanRange(snwBake* bake, const snwMotionDef* motion, snwMessage* message)
{
    snwBakePlan* plan = &bake->plan;
    const snwBakeSettings* settings = &bake->settings;

    // The range, cut to the clip.
    plan->rate = FindRate(bake);
    plan->start = settings->start > 0 ? settings->start : FindStart(bake, plan->rate);
    plan->end = settings->end > 0 ? fmin(settings->end, motion->duration) : motion->duration;
    if (plan->start >= plan->end)
        return snwFail(message, snw_errorInput, NULL, "the clip '%s' ends at %g s, before --start %g", motion->name,
            motion->duration, plan->start);
    if (settings->end > motion->duration * (1 + 1e-9))
        snwBake_Note(bake, "the clip '%s' ends at %g s already", motion->name, motion->duration);

    // Frames of the range, and of the preroll before it.
    double frames = floor((plan->end - plan->start) * plan->rate + 1e-3) + 1;
    if (frames > 1e6)
        return snwFail(message, snw_errorInput, "lower --fps, or --start and --end", "more than a million frames");
    plan->prerollFrames = (int)ceil(FindPreroll(bake) * plan->rate);
    plan->frameCount = (int)frames;
    plan->firstFrame = plan->prerollFrames;
    plan->lastFrame = plan->firstFrame + plan->frameCount - 1;

    return settings->loop ? PlanLoop(bake, motion, message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is touched

static const char* PlanSurfaceName(int index, const void* user)
{
    return snwPrepared_GetSurface(user, index)->name;
}

static snwResult ChooseSurfaces(snwBake* bake, snwMessage* message)
{
    const json_t* only = bake->settings.only;
    int count = snwPrepared_GetInfo(bake->prepared).surfaceCount;
    bake->surfaces = snwArena_Alloc(&bake->arena, (size_t)count + 1, sizeof *bake->surfaces);
    bool* chosen = snwArena_Alloc(&bake->arena, (size_t)count + 1, sizeof *chosen);
    if (bake->arena.failed)
        return snwFailMemory(message);

    // Names of surfaces that were asked for.
    for (size_t k = 0; k < json_array_size(only); ++k)
    {
        const char* name = json_string_value(json_array_get(only, k));
        bool found = false;
        for (int i = 0; i < count; ++i)
            if (strcmp(PlanSurfaceName(i, bake->prepared), name) == 0)
                chosen[i] = found = true;
        if (found)
            continue;
        char remedy[240];
        snwSuggestWord(remedy, sizeof remedy, name, count, PlanSurfaceName, bake->prepared);

        return snwFail(message, snw_errorInput, remedy, "there is no mesh '%s'", snwQuoteWord(name).text);
    }

    // All of them, if nobody asked.
    for (int i = 0; i < count; ++i)
        if (chosen[i] || json_array_size(only) == 0)
            bake->surfaces[bake->surfaceCount++] = i;
    return snw_ok;
}

static const char* PlanBoneName(int index, const void* user)
{
    return ((const snwCharacterDef*)user)->bones[index].name;
}

// How much each vertex follows the chosen bones.
static snwResult ChooseBones(snwBake* bake, const snwCharacterDef* character, snwMessage* message)
{
    const json_t* bones = bake->settings.bones;
    const snwWeights* weights = &character->boneWeights;
    if (json_array_size(bones) == 0 || weights->vertexCount == 0)
        return snw_ok;
    bake->mask = snwArena_Alloc(&bake->arena, (size_t)character->vertexCount + 1, sizeof *bake->mask);
    if (bake->arena.failed)
        return snwFailMemory(message);

    // Each bone adds its weight; several together never count more than once.
    for (size_t k = 0; k < json_array_size(bones); ++k)
    {
        const char* name = json_string_value(json_array_get(bones, k));
        int bone = snwCharacterDef_FindBone(character, name);
        if (bone < 0)
        {
            char remedy[240];
            snwSuggestWord(remedy, sizeof remedy, name, character->boneCount, PlanBoneName, character);
            return snwFail(
                message, snw_errorInput, remedy, "there is no bone '%s' that flesh follows", snwQuoteWord(name).text);
        }

        for (int v = 0; v < character->vertexCount; ++v)
            for (int i = weights->starts[v]; i < weights->starts[v + 1]; ++i)
                if (weights->handles[i] == bone)
                    bake->mask[v] = fminf(bake->mask[v] + (float)weights->values[i], 1.0f);
    }

    return snw_ok;
}

snwResult snwBake_MakePlan(snwBake* bake, snwMessage* message)
{
    const snwCharacter* body = snwPrepared_GetCharacter(bake->prepared);
    const snwCharacterDef* character = snwCharacter_GetDef(body);
    snwCharacterInfo info = snwCharacter_GetInfo(body);
    bake->report.size = snwVec3_Distance(info.lower, info.upper);
    snwResult result = ChooseClip(bake, character, message);
    if (result >= 0)
        result = PlanRange(bake, &character->motions[bake->plan.motion], message);
    if (result >= 0)
        result = ChooseSurfaces(bake, message);
    return result < 0 ? result : ChooseBones(bake, character, message);
}
