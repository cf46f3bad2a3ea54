// The animation text beside a TGF, as the programs of "Complementary Dynamics" (Zhang, Bang, Levin, Jacobson 2020) read
// it. The first line has the numbers of handles and of frames; then comes the rest pose, then the frames. Angles are
// degrees; E(a) = Rz Ry Rx turns about x first. Two layouts, which only the count of numbers tells apart:
//
//   points  every block, rest too: per handle its position and its angles in the world. With A = E(rest), a handle at c
//           moves x to q (x - c) + c + (position - rest position), q = E(angles) A^T.
//   bones   rest: position and angles of the root, then angles of every bone in the world; frames: angles of the root,
//           its position (the other way round!), then angles of every bone about its own axes at rest, so q = A E A^T,
//           relative to the parent. Forward kinematics as igl::forward_kinematics: a bone turns about its tip a, and
//           its parent is the bone that ends there. Bones without a parent move with the root, and if there are
//           several, turn with it, too.
//
// For two handles both layouts have twelve numbers per block: then the skeleton decides, and without one it is points.
// How we know: the published sources say so; and the elephant's first frame is its rest to 1e-13 of 127, and moves 21
// at most from frame to frame, where the other order of angles gives jumps of 183.

#include "asset/rig_parts.h"
#include "asset/scan.h"
#include "math/transform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct HandleText
{
    snwAsset* asset;
    const double* numbers; // rest block, then frames
    int handles, frames;
    int block; // numbers in a block
    bool bones;
    int* parents; // of bones; -1: a root
    int* order;   // of bones, parents first
    int roots;
    snwQuat* rests; // A of every handle
} HandleText;

static snwQuat FromAngles(const double* degrees)
{
    const double toRadians = SNW_PI / 180;
    snwQuat x = snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, degrees[0] * toRadians);
    snwQuat y = snwQuat_FromAxisAngle((snwVec3){0, 1, 0}, degrees[1] * toRadians);
    snwQuat z = snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, degrees[2] * toRadians);
    return snwQuat_Mul(z, snwQuat_Mul(y, x));
}

static snwVec3 Vec(const double* numbers)
{
    return (snwVec3){numbers[0], numbers[1], numbers[2]};
}

// ---------------------------------------------------------------------------------------------------------------------
// Points

static snwVec3 PointOfHandle(const HandleText* text, int handle)
{
    const snwAsset* asset = text->asset;
    return asset->handleCount > 0 ? asset->points[asset->handles[handle].a] : Vec(text->numbers + 6 * (size_t)handle);
}

static void PosePoints(const HandleText* text, const double* frame, snwTransform* transforms)
{
    for (int i = 0; i < text->handles; ++i)
    {
        const double* rest = text->numbers + 6 * (size_t)i;
        const double* now = frame + 6 * (size_t)i;
        snwQuat q = snwQuat_Normalize(snwQuat_Mul(FromAngles(now + 3), snwQuat_Conjugate(text->rests[i])));
        snwVec3 c = PointOfHandle(text, i);
        snwVec3 moved = snwVec3_Add(c, snwVec3_Sub(Vec(now), Vec(rest)));
        transforms[i] = (snwTransform){snwVec3_Sub(moved, snwQuat_Rotate(q, c)), q};
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Bones

static snwQuat AboutRest(snwQuat rest, const double* degrees)
{
    return snwQuat_Mul(rest, snwQuat_Mul(FromAngles(degrees), snwQuat_Conjugate(rest)));
}

static void PoseHandleBones(const HandleText* text, const double* frame, snwTransform* transforms)
{
    snwQuat root = AboutRest(FromAngles(text->numbers + 3), frame);
    snwVec3 shift = snwVec3_Sub(Vec(frame + 3), Vec(text->numbers));

    // Parents first: each bone turns about its tip, relative to its rest.
    for (int k = 0; k < text->handles; ++k)
    {
        int bone = text->order[k], parent = text->parents[bone];
        snwQuat q = AboutRest(text->rests[bone], frame + 6 + 3 * (size_t)bone);
        snwVec3 tip = text->asset->points[text->asset->handles[bone].a];
        snwVec3 moved = snwVec3_Add(tip, shift);

        if (parent >= 0)
        {
            moved = snwTransform_Apply(transforms[parent], tip);
            q = snwQuat_Mul(transforms[parent].rotation, q);
        }
        else if (text->roots > 1)
            q = snwQuat_Mul(q, root);

        q = snwQuat_Normalize(q);
        transforms[bone] = (snwTransform){snwVec3_Sub(moved, snwQuat_Rotate(q, tip)), q};
    }
}

static snwResult FindHandleParents(HandleText* text, snwMessage* message)
{
    const snwAsset* asset = text->asset;
    int* ending = snwAsset_Alloc(text->asset, asset->pointCount, sizeof *ending);
    if (ending == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < asset->pointCount; ++i)
        ending[i] = -1;
    for (int i = 0; i < text->handles; ++i)
        ending[asset->handles[i].b] = i;
    for (int i = 0; i < text->handles; ++i)
    {
        text->parents[i] = ending[asset->handles[i].a];
        text->roots += text->parents[i] < 0;
    }
    return snw_ok;
}

// From every bone up to one that is in order already; then down again. A bone met twice on the way up is a circle.
static snwResult OrderHandleBones(HandleText* text, snwMessage* message)
{
    int* path = snwAsset_Alloc(text->asset, text->handles, sizeof *path);
    char* state = snwAsset_Alloc(text->asset, text->handles, 1); // 1: on the way, 2: in order
    int count = 0;
    if (path == NULL || state == NULL)
        return snwFailMemory(message);

    for (int i = 0; i < text->handles; ++i)
    {
        int length = 0, at = i;
        for (; at >= 0 && state[at] == 0; at = text->parents[at])
        {
            state[at] = 1;
            path[length++] = at;
        }

        if (at >= 0 && state[at] == 1)
            return snwFail(message, snw_errorInput, "take one of its bones out of the .tgf",
                "bones of the skeleton form a circle");

        // The last one met is the highest: it comes first.
        while (length > 0)
        {
            state[path[--length]] = 2;
            text->order[count++] = path[length];
        }
    }

    return snw_ok;
}

static snwResult PrepareBones(HandleText* text, snwMessage* message)
{
    text->parents = snwAsset_Alloc(text->asset, text->handles, sizeof *text->parents);
    text->order = snwAsset_Alloc(text->asset, text->handles, sizeof *text->order);
    if (text->parents == NULL || text->order == NULL)
        return snwFailMemory(message);
    snwResult result = FindHandleParents(text, message);
    return result < 0 ? result : OrderHandleBones(text, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The skeleton that it moves

// NAME.tgf beside NAME_anim.txt. That there is none is no error.
static snwResult OpenSkeleton(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    char name[512];
    const char* slash = strrchr(input->name, '/');
    const char* base = slash == NULL ? input->name : slash + 1;
    size_t length = strlen(base);

    if (asset->handleCount > 0 || input->folder == NULL || length < 10 || length > sizeof name ||
        strcasecmp(base + length - 9, "_anim.txt") != 0)
        return snw_ok;

    snprintf(name, sizeof name, "%.*s.tgf", (int)(length - 9), base);

    // The folder decides what may be read.
    char* data = NULL;
    size_t size = 0;
    snwResult result = input->folder->read(input->folder->user, asset->context, name, &data, &size, NULL);
    if (result < 0)
        return result == snw_errorMemory ? snwFailMemory(message) : snw_ok;

    snwAssetInput skeleton = {name, data, size, NULL};
    result = snwTgf_Read(&skeleton, asset, message);
    if (result < 0)
        snwMessage_SetFile(message, name);
    snwFree(asset->context, data);

    return result;
}

static snwResult CheckSkeleton(const HandleText* text, snwMessage* message)
{
    const snwAsset* asset = text->asset;
    if (asset->handleCount == 0)
        return !text->bones ? snw_ok
                            : snwFail(message, snw_errorInput, "put NAME.tgf beside NAME_anim.txt",
                                  "it moves the bones of a skeleton that is not there");
    if (asset->movedHandleCount != text->handles)
        return snwFail(message, snw_errorInput, "both files must be of one skeleton",
            "it moves %d handles, the skeleton has %d", text->handles, asset->movedHandleCount);
    snwAssetHandleKind kind = text->bones ? snw_assetBoneHandle : snw_assetPointHandle;
    for (int i = 0; i < text->handles; ++i)
        if (asset->handles[i].kind != kind)
            return snwFail(message, snw_errorInput, "a skeleton that moves so has only points or only bones",
                "it moves %s, and handle %d of the skeleton is none", text->bones ? "bones" : "points", i);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The file

static int64_t CountWords(snwScan scan)
{
    int64_t count = 0;
    while (snwScan_Word(&scan).size > 0)
        count += 1;
    return count;
}

// By the count of numbers, and where that fits both, by the skeleton.
static snwResult FindLayout(HandleText* text, int64_t count, const snwScan* scan, snwMessage* message)
{
    long long blocks = text->frames + 1LL, points = 6LL * text->handles, bones = 6 + 3LL * text->handles;
    bool hasBones = text->asset->handleCount > 0 && text->asset->handles[0].kind == snw_assetBoneHandle;
    bool isBones = count == blocks * bones, isPoints = count == blocks * points;
    if (!isBones && !isPoints)
        return snwScan_FailWith(scan, message, "the file was cut short, or its first line is wrong",
            "%d frames and a rest pose of %d handles are %lld numbers (points) or %lld (bones); there are %lld",
            text->frames, text->handles, blocks * points, blocks * bones, (long long)count);
    if ((int64_t)text->frames * text->handles > snw_maxAssetVertices)
        return snwScan_FailWith(
            scan, message, NULL, "%d frames of %d handles are too many", text->frames, text->handles);
    text->bones = isBones && (!isPoints || hasBones);
    text->block = (int)(text->bones ? bones : points);
    if (isBones && isPoints && text->asset->handleCount == 0)
        snwAsset_Note(text->asset, snw_noteOdd, "", "two handles without their skeleton were taken as points");
    return snw_ok;
}

static snwResult ReadHandleNumbers(HandleText* text, int64_t count, snwScan* scan, snwMessage* message)
{
    double* numbers = snwAsset_Alloc(text->asset, count, sizeof *numbers);
    text->rests = snwAsset_Alloc(text->asset, text->handles, sizeof *text->rests);
    if (numbers == NULL || text->rests == NULL)
        return snwFailMemory(message);
    for (int64_t i = 0; i < count; ++i)
        if (!snwWord_ToReal(snwScan_Word(scan), &numbers[i]))
            return snwScan_FailWith(scan, message, NULL, "frame %d: not a finite number", (int)(i / text->block) - 1);
    text->numbers = numbers;
    for (int i = 0; i < text->handles; ++i)
        text->rests[i] = FromAngles(text->bones ? numbers + 6 + 3 * (size_t)i : numbers + 6 * (size_t)i + 3);
    return snw_ok;
}

static snwResult PoseTextFrames(const HandleText* text, snwTransform* transforms, double* times, snwMessage* message)
{
    for (int k = 0; k < text->frames; ++k)
    {
        const double* frame = text->numbers + (size_t)(k + 1) * (size_t)text->block;
        snwTransform* posed = transforms + (size_t)k * (size_t)text->handles;
        (text->bones ? PoseHandleBones : PosePoints)(text, frame, posed);
        for (int i = 0; i < text->handles; ++i)
            if (!snwTransform_IsFinite(posed[i]))
                return snwFail(message, snw_errorInput, "its numbers must be smaller",
                    "frame %d: handle %d goes beyond all numbers", k, i);
        times[k] = k;
    }
    return snw_ok;
}

static snwResult MakeMotion(HandleText* text, snwMessage* message)
{
    snwAsset* asset = text->asset;
    snwResult result = CheckSkeleton(text, message);
    if (result >= 0 && text->bones)
        result = PrepareBones(text, message);
    if (result < 0)
        return result;
    snwTransform* transforms = snwAsset_Alloc(asset, (int64_t)text->frames * text->handles, sizeof *transforms);
    double* times = snwAsset_Alloc(asset, text->frames, sizeof *times);
    if (transforms == NULL || times == NULL)
        return snwFailMemory(message);
    asset->handleMotion = (snwAssetHandleMotion){text->handles, text->frames, transforms, times};
    return PoseTextFrames(text, transforms, times, message);
}

snwResult snwHandleText_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    snwScan scan = snwMakeScan(input->data, input->size, 0);
    HandleText text = {.asset = asset};
    text.handles = (int)snwScan_Int(&scan, "the number of handles", 1, snw_maxAssetNodes);
    text.frames = (int)snwScan_Int(&scan, "the number of frames", 1, snw_maxAssetVertices);
    if (scan.failed)
        return snwScan_Fail(&scan, message);
    int64_t count = CountWords(scan);
    snwResult result = OpenSkeleton(input, asset, message);
    if (result >= 0)
        result = FindLayout(&text, count, &scan, message);
    if (result >= 0)
        result = ReadHandleNumbers(&text, count, &scan, message);
    return result < 0 ? result : MakeMotion(&text, message);
}

const snwAssetReader snw_handleTextReader = {
    snw_assetHandleText, "libigl skeleton animation", "_anim.txt", snwHandleText_Read};
