// Animations. Keys must rise in time: equal times keep the later key, falling ones are an error. Channels of what is
// not there are left out.

#include "asset/gltf_parts.h"
#include "scene/words.h"

#include <math.h>
#include <string.h>

const char* const snw_gltfPathWords[] = {
    [snw_pathTranslation] = "translation",
    [snw_pathRotation] = "rotation",
    [snw_pathScale] = "scale",
    [snw_pathMorphs] = "weights",
};
const char* const snw_gltfInterpolationWords[] = {"STEP", "LINEAR", "CUBICSPLINE"};

typedef struct Work
{
    snwGltfReading* reading;
    snwAssetAnimation* animation;
    snwAssetChannel* channels;
    const json_t* samplers;
    int samplerCount;
    int* marks; // per node and path: 1 + the last animation that has it
    int stamp;
    int64_t equalTimes, notUnit;
} Work;

static int FindGltfWord(const char* word, const char* const* words, int count)
{
    for (int i = 0; word != NULL && i < count; ++i)
        if (strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Targets

static int MorphsOf(const snwAsset* asset, int node)
{
    return asset->nodes[node].mesh < 0 ? 0 : asset->meshes[asset->nodes[node].mesh].morphCount;
}

// What the channel moves; false, with a note, if nothing can.
static bool FindTarget(Work* work, const json_t* item, snwAssetChannel* channel)
{
    snwGltfReading* reading = work->reading;
    const json_t* target = snwGltf_Object(reading, item, "target");
    const json_t* node = json_object_get(target, "node");
    int path = FindGltfWord(snwGltf_Text(reading, target, "path"), snw_gltfPathWords, 4);
    bool there = json_is_integer(node) && json_integer_value(node) >= 0 &&
                 json_integer_value(node) < reading->asset->nodeCount;

    snwGltf_Note(reading, snw_noteLeftOut, path < 0, "a channel that moves something unknown");
    snwGltf_Note(reading, snw_noteLeftOut, path >= 0 && !there, "a channel of a node that is not there");
    if (path < 0 || !there || snwGltfReading_Failed(reading))
        return false;

    // Three numbers, four for rotations, one per morph.
    channel->node = (int)json_integer_value(node);
    channel->path = (snwAssetPath)path;
    channel->width = path == snw_pathRotation ? 4
                     : path == snw_pathMorphs ? MorphsOf(reading->asset, channel->node)
                                              : 3;
    snwGltf_Note(reading, snw_noteLeftOut, channel->width == 0, "a channel of morphs for a node that has none");
    // A mark per node and path: the first channel counts.
    int* mark = &work->marks[channel->node * 4 + path];
    bool again = *mark == work->stamp;
    snwGltf_Note(reading, snw_noteLeftOut, again, "a second channel for the same property of a node");
    *mark = work->stamp;

    return channel->width > 0 && !again;
}

// ---------------------------------------------------------------------------------------------------------------------
// Keys

static double* ReadTimes(Work* work, int accessor, int* count)
{
    snwGltfReading* reading = work->reading;
    size_t mark = snwJson_Enter(&reading->json, "input");
    snwGltf_CheckAccessor(reading, accessor, 1 << snw_gltfScalar, snw_gltfReal);
    *count = reading->gltf->accessors[accessor].count;
    double* times = snwGltf_Room(reading, *count, sizeof *times);
    if (times != NULL)
        snwGltf_Check(reading, snwGltf_ReadReals(reading->gltf, accessor, times, NULL, reading->json.message));
    for (int i = 1; i < *count && times != NULL && !snwGltfReading_Failed(reading); ++i)
        if (times[i] < times[i - 1])
            snwGltf_Fail(reading, "sort the keys in the program that made them, or bake the animation",
                "key %d is at %g s, before key %d at %g s", i, times[i], i - 1, times[i - 1]);
    snwJson_Leave(&reading->json, mark);
    return times;
}

static double* ReadValues(Work* work, int accessor, const snwAssetChannel* channel)
{
    static const unsigned s_types[] = {1 << snw_gltfVec3, 1 << snw_gltfVec4, 1 << snw_gltfVec3, 1 << snw_gltfScalar};
    snwGltfReading* reading = work->reading;
    size_t mark = snwJson_Enter(&reading->json, "output");

    snwGltf_CheckAccessor(reading, accessor, s_types[channel->path], snw_gltfSmallInts | snw_gltfReal);

    // Cubic keys have a value and two tangents.
    int64_t wanted = (int64_t)channel->keyCount * (channel->interpolation == snw_assetCubic ? 3 : 1);
    wanted *= channel->path == snw_pathMorphs ? channel->width : 1;
    int found = reading->gltf->accessors[accessor].count;
    if (found < wanted)
        snwGltf_Fail(reading, "export the file again", "has %d values; %lld are needed for %d keys", found,
            (long long)wanted, channel->keyCount);
    snwGltf_Note(reading, snw_noteLeftOut, found > wanted, "values of an animation without keys");

    // All values are read; those without keys stay behind the last.
    int64_t numbers = (int64_t)found * snwGltfType_Width(reading->gltf->accessors[accessor].type);
    double* values = snwGltf_Room(reading, numbers, sizeof *values);
    if (values != NULL)
        snwGltf_Check(reading, snwGltf_ReadReals(reading->gltf, accessor, values, NULL, reading->json.message));
    snwJson_Leave(&reading->json, mark);

    return values;
}

// Where several keys have one time only the last stays: it is what plays from there on.
static void DropEqualTimes(Work* work, snwAssetChannel* channel, double* times, double* values)
{
    size_t row = (size_t)channel->width * (channel->interpolation == snw_assetCubic ? 3 : 1);
    int kept = 0;
    for (int i = 0; i < channel->keyCount; ++i)
    {
        if (i + 1 < channel->keyCount && times[i + 1] == times[i])
        {
            work->equalTimes++;
            continue;
        }
        times[kept] = times[i];
        memmove(values + (size_t)kept * row, values + (size_t)i * row, row * sizeof *values);
        kept++;
    }
    channel->keyCount = kept;
}

// Tangents of a quaternion are scaled with it.
static void NormaliseTurns(Work* work, const snwAssetChannel* channel, double* values)
{
    bool cubic = channel->interpolation == snw_assetCubic;
    size_t row = cubic ? 12 : 4;
    for (int i = 0; i < channel->keyCount; ++i)
    {
        double* all = values + (size_t)i * row;
        double* q = all + (cubic ? 4 : 0);
        double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        work->notUnit += fabs(length - 1) > 1e-2;
        for (size_t k = 0; k < row && length > 0; ++k)
            all[k] /= length;
        if (length == 0)
            q[3] = 1;
    }
}

static int ReadInterpolation(snwGltfReading* reading, const json_t* sampler)
{
    const char* word = snwGltf_Text(reading, sampler, "interpolation");
    int interpolation = word == NULL ? snw_assetLinear : FindGltfWord(word, snw_gltfInterpolationWords, 3);
    if (interpolation < 0)
        snwGltf_Fail(reading, NULL, "interpolation '%s' is not known", snwQuoteWord(word).text);
    return interpolation;
}

static void ReadSampler(Work* work, const json_t* sampler, snwAssetChannel* channel)
{
    snwGltfReading* reading = work->reading;
    int accessors = reading->gltf->accessorCount;
    int input = snwGltf_NeedIndex(reading, sampler, "input", accessors, "accessors");
    int output = snwGltf_NeedIndex(reading, sampler, "output", accessors, "accessors");
    channel->interpolation = (snwAssetInterpolation)ReadInterpolation(reading, sampler);
    if (snwGltfReading_Failed(reading))
        return;
    double* times = ReadTimes(work, input, &channel->keyCount);
    double* values = ReadValues(work, output, channel);
    if (snwGltfReading_Failed(reading))
        return;
    DropEqualTimes(work, channel, times, values);
    if (channel->path == snw_pathRotation)
        NormaliseTurns(work, channel, values);
    channel->times = times;
    channel->values = values;
}

// ---------------------------------------------------------------------------------------------------------------------
// Animations

static void ReadChannel(Work* work, const json_t* item)
{
    snwGltfReading* reading = work->reading;
    snwAssetAnimation* animation = work->animation;
    snwAssetChannel channel = {0};
    int sampler = snwGltf_NeedIndex(reading, item, "sampler", work->samplerCount, "samplers");
    if (snwGltfReading_Failed(reading) || !FindTarget(work, item, &channel))
        return;
    const json_t* source = json_array_get(work->samplers, (size_t)sampler);
    if (!json_is_object(source))
        snwGltf_Fail(reading, NULL, "sampler %d must be an object", sampler);
    ReadSampler(work, source, &channel);
    if (snwGltfReading_Failed(reading))
        return;
    double first = channel.times[0], last = channel.times[channel.keyCount - 1];
    animation->start = animation->channelCount == 0 ? first : fmin(animation->start, first);
    animation->end = animation->channelCount == 0 ? last : fmax(animation->end, last);
    work->channels[animation->channelCount++] = channel;
}

static void ReadGltfAnimation(Work* work, const json_t* item)
{
    snwGltfReading* reading = work->reading;
    int count;
    const json_t* list = snwGltf_List(reading, item, "channels", snw_maxGltfItems, &count);

    // Channels name samplers by number, so these are looked up as they are needed.
    work->samplers = snwGltf_List(reading, item, "samplers", snw_maxGltfItems, &work->samplerCount);
    work->channels = snwGltf_Room(reading, count, sizeof *work->channels);
    work->animation->channels = work->channels;

    size_t mark = snwJson_Enter(&reading->json, "channels");

    // Channels one by one; what was odd in all of them is told together.
    for (int i = 0; i < count && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        ReadChannel(work, snwGltf_Item(reading, list, i));
        snwJson_Leave(&reading->json, place);
    }

    snwJson_Leave(&reading->json, mark);
    snwGltf_Note(reading, snw_noteRepaired, work->equalTimes, "of several keys at one time only the last was kept");
    snwGltf_Note(reading, snw_noteRepaired, work->notUnit,
        "rotations of an animation that were not unit quaternions were normalised");
}

void snwGltf_ReadAnimations(snwGltfReading* reading)
{
    snwAsset* asset = reading->asset;
    const json_t* list = snwGltf_List(
        reading, reading->gltf->root, "animations", snw_maxAssetNodes, &asset->animationCount);
    asset->animations = snwGltf_Room(reading, asset->animationCount, sizeof *asset->animations);

    int* marks = snwGltf_Room(reading, (int64_t)asset->nodeCount * 4, sizeof *marks);
    size_t mark = snwJson_Enter(&reading->json, "animations");

    // Each animation has a name and marks of its own.
    for (int i = 0; i < asset->animationCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        const json_t* item = snwGltf_Item(reading, list, i);
        Work work = {.reading = reading, .animation = &asset->animations[i], .marks = marks, .stamp = i + 1};
        work.animation->name = snwArena_Text(&asset->arena, snwGltf_Text(reading, item, "name"));
        snwGltf_SetWhere(reading, "animation", i, work.animation->name);
        ReadGltfAnimation(&work, item);
        snwJson_Leave(&reading->json, place);
    }

    snwJson_Leave(&reading->json, mark);
    reading->where[0] = 0;
}
