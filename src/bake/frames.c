// Output frames from the cache of the run: body, blended with the artist's where that is asked for, and the surfaces:
// those of the file with what flesh adds to them (flesh.h), or, where no clip of the file moves them, those that ride
// in the body.
//
// A loop ends in its beginning: its last frames fade from this cycle into the one before, whose end is where this cycle
// began, so the seam is closed to the last bit, and smoothly.

#include "bake/parts.h"

#include "bake/flesh.h"
#include "rig/skinning.h"
#include "sim/character.h"

#include <math.h>
#include <string.h>

#define SNW_REACH      0.2 // of its thickness: flesh as usual moves no farther
#define SNW_MOST_REACH 1.0

struct snwBakeFrames
{
    snwContext* context;
    snwArena arena;
    const snwBake* bake;
    snwFrames* cache;
    snwSkinModel* skin; // ours alone: motions may move its vertices; NULL: without bones
    snwSkinPalette palette;
    snwDisplay *display, *artistDisplay;
    snwTransform* bones;  // the artist's
    float *body, *artist; // x y z, tight
    int vertexCount, boneCount;
    int frame; // that the body is of, -1: none
    double clipTime;
    bool artistShown; // the artist's display is of this frame
    snwAssetPoser poser;
    snwBakeFlesh* flesh; // by surface; NULL: the motion is no clip of the file
    snwBakeInfo info;
};

static snwBakeInfo MakeBakeInfo(const snwBake* bake)
{
    const snwBakePlan* plan = &bake->plan;
    return (snwBakeInfo){.prepared = bake->prepared,
        .asset = bake->asset,
        .path = bake->builtIn ? "" : bake->path,
        .name = bake->name,
        .clip = snwCharacter_GetDef(snwPrepared_GetCharacter(bake->prepared))->motions[plan->motion].name,
        .animation = plan->animation,
        .frameCount = plan->frameCount,
        .rate = plan->rate,
        .start = plan->start,
        .loop = plan->cycleFrames > 0,
        .surfaces = bake->surfaces,
        .surfaceCount = bake->surfaceCount};
}

static snwResult MakeSkinning(snwBakeFrames* f, snwMessage* message)
{
    const snwCharacter* character = snwPrepared_GetCharacter(f->bake->prepared);
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    snwSkinningDef skinning = snwDefaultSkinningDef();
    snwCharacter_PoseVertices(character, -1, 0, f->artist, f->vertexCount, 3 * (int)sizeof(float));
    if (def->boneCount == 0 || def->boneWeights.vertexCount == 0)
        return snw_ok;
    skinning.positions = f->artist;
    skinning.stride = 3 * (int)sizeof(float);
    skinning.vertexCount = f->vertexCount;
    skinning.weights = &def->boneWeights;
    snwResult result = snwSkinModel_Create(f->context, &skinning, &f->skin, message);
    return result < 0 ? result : snwSkinPalette_Create(f->context, def->boneCount, &f->palette, message);
}

// Soft flesh may go farther than usual flesh, in proportion to how much it gives way.
static double ReachOfFlesh(const snwCharacterDef* def)
{
    double usual = snwPreset_GetInfo(snwPreset_Find("flesh"))->material.frequency, softest = usual;
    for (int i = 0; i < def->materialCount; ++i)
        if (def->materials[i].frequency > 0)
            softest = fmin(softest, def->materials[i].frequency);
    return fmin(SNW_REACH * (usual / softest) * (usual / softest), SNW_MOST_REACH);
}

static snwResult MakeFlesh(snwBakeFrames* f, snwMessage* message)
{
    const snwBake* bake = f->bake;
    const snwCharacter* character = snwPrepared_GetCharacter(bake->prepared);
    int count = snwPrepared_GetInfo(bake->prepared).surfaceCount;
    snwThickness thickness;

    if (bake->asset == NULL || bake->plan.animation < 0)
        return snw_ok;

    // For each surface that the clip moves; others ride in the body.
    f->flesh = snwArena_Alloc(&f->arena, (size_t)count + 1, sizeof *f->flesh);
    if (f->arena.failed)
        return snwFailMemory(message);
    snwResult result = snwAssetPoser_Make(bake->asset, &f->arena, &f->poser, message);
    if (result >= 0)
        result = snwThickness_Make(&f->arena, bake->prepared, &thickness, message);
    if (bake->settings.falloff == 0)
        thickness = (snwThickness){0}; // nothing holds flesh back
    double reach = ReachOfFlesh(snwCharacter_GetDef(character));
    for (int i = 0; i < count && result >= 0; ++i)
        if (snwPrepared_GetSurface(bake->prepared, i)->node >= 0)
            result = snwBakeFlesh_Make(
                &f->arena, bake->prepared, bake->asset, i, &thickness, reach, &f->flesh[i], message);

    return result;
}

snwResult snwBakeFrames_Open(snwBake* bake, snwBakeFrames** frames, snwMessage* message)
{
    snwBakeFrames* f = snwAlloc(bake->context, sizeof *f);
    *frames = NULL;
    if (f == NULL)
        return snwFailMemory(message);
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(bake->prepared));

    // What a frame needs, allocated once.
    *f = (snwBakeFrames){.context = bake->context, .arena = {.context = bake->context}, .bake = bake, .frame = -1};
    f->vertexCount = def->vertexCount;
    f->boneCount = def->boneCount;
    f->info = MakeBakeInfo(bake);
    f->bones = snwArena_Alloc(&f->arena, (size_t)def->boneCount + 1, sizeof *f->bones);
    f->body = snwArena_Alloc(&f->arena, 3 * (size_t)def->vertexCount + 1, sizeof(float));
    f->artist = snwArena_Alloc(&f->arena, 3 * (size_t)def->vertexCount + 1, sizeof(float));
    snwResult result = f->arena.failed ? snwFailMemory(message) : MakeSkinning(f, message);
    if (result >= 0)
        result = MakeFlesh(f, message);
    if (result >= 0)
        result = snwFrames_Open(bake->context, bake->framesPath, &f->cache, message);
    if (result >= 0)
        result = snwCreateDisplay(bake->prepared, &f->display, message);
    if (result >= 0)
        result = snwCreateDisplay(bake->prepared, &f->artistDisplay, message);
    if (result < 0)
        snwBakeFrames_Close(f);
    else
        *frames = f;

    return result;
}

void snwBakeFrames_Close(snwBakeFrames* frames)
{
    if (frames == NULL)
        return;
    if (frames->cache != NULL)
        snwFrames_Close(frames->cache);
    snwSkinPalette_Free(frames->context, &frames->palette);
    if (frames->skin != NULL)
        snwSkinModel_Destroy(frames->context, frames->skin);
    if (frames->display != NULL)
        snwDestroyDisplay(frames->display);
    if (frames->artistDisplay != NULL)
        snwDestroyDisplay(frames->artistDisplay);
    snwArena_Free(&frames->arena);
    snwFree(frames->context, frames);
}

snwBakeInfo snwBakeFrames_GetInfo(const snwBakeFrames* frames)
{
    return frames->info;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

// body = (1 - share) body + share * the frame of the cache.
static snwResult AddCached(snwBakeFrames* f, int cached, float share, snwMessage* message)
{
    snwFrame frame;
    snwResult result = snwFrames_Read(f->cache, cached, &frame, message);
    if (result < 0)
        return result;
    const snwFrameBody* body = &frame.bodies[0];
    if (body->vertices == NULL || body->vertexCount != f->vertexCount)
        return snwFail(message, snw_errorInput, "--force to bake again", "the frames are of another body");

    // A share of one is a copy, so that rounding does not touch it.
    for (int i = 0; i < f->vertexCount; ++i)
    {
        const float* x = (const float*)((const char*)body->vertices + (size_t)i * (size_t)body->stride);
        for (int k = 0; k < 3; ++k)
        {
            float* out = &f->body[3 * i + k];
            *out = share >= 1 ? x[k] : *out + share * (x[k] - *out);
        }
    }

    return snw_ok;
}

// How much of the cycle before is in a frame of a loop.
static float FadeOf(const snwBakePlan* plan, int frame)
{
    int first = plan->cycleFrames - plan->fadeFrames;
    if (plan->cycleFrames == 0 || frame <= first)
        return 0;
    float s = frame >= plan->cycleFrames ? 1 : (float)(frame - first) / (float)plan->fadeFrames;
    return s * s * (3 - 2 * s);
}

// What the motion does to the vertices before bones move them: caches, morphs.
static void MoveBakeShape(snwBakeFrames* f)
{
    snwCharacter_PoseVertices(snwPrepared_GetCharacter(f->bake->prepared), f->bake->plan.motion, f->clipTime, f->artist,
        f->vertexCount, 3 * (int)sizeof(float));
    for (int b = 0; f->skin != NULL && b < f->skin->blockCount; ++b)
        for (int lane = 0; lane < SNW_SKIN_LANES; ++lane)
        {
            snwSkinBlock* block = &f->skin->blocks[b];
            const float* x = f->artist + 3 * (size_t)block->vertex[lane];
            block->position[0][lane] = (float)((double)x[0] - f->skin->centre.x);
            block->position[1][lane] = (float)((double)x[1] - f->skin->centre.y);
            block->position[2][lane] = (float)((double)x[2] - f->skin->centre.z);
        }
}

static snwResult PoseArtist(snwBakeFrames* f, snwMessage* message)
{
    const snwCharacter* character = snwPrepared_GetCharacter(f->bake->prepared);
    int motion = f->bake->plan.motion;
    snwCharacter_Pose(character, motion, f->clipTime, f->bones, f->boneCount);
    if (f->skin == NULL || snwCharacter_GetDef(character)->motions[motion].vertices.sampleCount > 0)
        MoveBakeShape(f);
    if (f->skin == NULL)
        return snw_ok;
    snwSkinningPose pose = {.kind = snw_skinningLinear, .transforms = f->bones, .count = f->boneCount};
    snwSkinningTarget target = {.positions = f->artist, .positionStride = 3 * (int)sizeof(float)};
    snwResult result = snwSkinPalette_Set(&f->palette, f->skin, &pose, message);
    if (result >= 0)
        snwSkinModel_Apply(f->context, f->skin, &f->palette, &target);
    return result;
}

static void BlendFrame(snwBakeFrames* f)
{
    const float* mask = f->bake->mask;
    float blend = (float)f->bake->settings.blend;
    if (mask == NULL && blend >= 1)
        return;
    for (int i = 0; i < f->vertexCount; ++i)
    {
        float share = blend * (mask != NULL ? mask[i] : 1);
        for (int k = 0; k < 3; ++k)
        {
            float artist = f->artist[3 * i + k];
            f->body[3 * i + k] = share >= 1 ? f->body[3 * i + k] : artist + share * (f->body[3 * i + k] - artist);
        }
    }
}

static snwResult ShowArtist(snwBakeFrames* f, snwMessage* message)
{
    snwResult result = f->artistShown ? snw_ok
                                      : snwDisplay_Update(f->artistDisplay, f->artist, f->vertexCount,
                                            3 * (int)sizeof(float), message);
    f->artistShown = result >= 0;
    return result;
}

static snwResult AddBakeFlesh(snwBakeFrames* f, snwMessage* message)
{
    const snwAssetAnimation* animation = &f->bake->asset->animations[f->bake->plan.animation];
    snwResult result = ShowArtist(f, message);
    snwAssetPoser_Pose(&f->poser, animation, f->clipTime);
    for (int i = 0; i < snwPrepared_GetInfo(f->bake->prepared).surfaceCount && result >= 0; ++i)
    {
        snwSkin simulated, skinned;
        snwDisplay_GetSurface(f->display, i, &simulated);
        snwDisplay_GetSurface(f->artistDisplay, i, &skinned);
        if (f->flesh[i].vertexCount > 0)
            snwBakeFlesh_Add(&f->flesh[i], &f->poser, animation, f->clipTime, &simulated, &skinned);
    }
    return result;
}

static void SetTime(snwBakeFrames* f, int frame)
{
    const snwBakePlan* plan = &f->bake->plan;
    f->frame = -1;
    f->clipTime = plan->start + (plan->cycleFrames > 0 ? frame % plan->cycleFrames : frame) / plan->rate;
}

// The surfaces of the body and of the artist.
static snwResult Show(snwBakeFrames* f, snwMessage* message)
{
    const snwBakePlan* plan = &f->bake->plan;
    f->artistShown = false;
    snwDisplay_SetMotion(f->display, plan->motion, f->clipTime);
    snwDisplay_SetMotion(f->artistDisplay, plan->motion, f->clipTime);
    snwDisplay_SetBones(f->display, f->bones, f->boneCount, (int)sizeof *f->bones);
    snwDisplay_SetBones(f->artistDisplay, f->bones, f->boneCount, (int)sizeof *f->bones);
    snwResult result = snwDisplay_Update(f->display, f->body, f->vertexCount, 3 * (int)sizeof(float), message);
    return result < 0 || f->flesh == NULL ? result : AddBakeFlesh(f, message);
}

static snwResult ReadBakeFrame(snwBakeFrames* f, int frame, snwMessage* message)
{
    const snwBakePlan* plan = &f->bake->plan;
    float fade = FadeOf(plan, frame);
    snwResult result = snw_ok;
    SetTime(f, frame);
    if (fade < 1)
        result = AddCached(f, plan->firstFrame + frame, 1, message);
    if (result >= 0 && fade > 0)
        result = AddCached(f, plan->firstFrame + frame - plan->cycleFrames, fade, message);
    if (result >= 0)
        result = PoseArtist(f, message);
    if (result < 0)
        return result;
    BlendFrame(f);
    return Show(f, message);
}

snwResult snwBakeFrames_ShowBody(snwBakeFrames* f, int frame, const snwVertices* body, snwMessage* message)
{
    SetTime(f, frame);
    for (int i = 0; i < f->vertexCount; ++i)
        memcpy(f->body + 3 * (size_t)i, (const char*)body->positions + (size_t)i * (size_t)body->stride,
            3 * sizeof(float));
    snwResult result = PoseArtist(f, message);
    return result < 0 ? result : Show(f, message);
}

snwResult snwBakeFrames_Read(snwBakeFrames* frames, int frame, snwBakeFrame* result, snwMessage* message)
{
    if (frame < 0 || frame >= frames->info.frameCount)
        return snwFail(message, snw_errorArgument, NULL, "there is no frame %d", frame);
    snwResult read = frames->frame == frame ? snw_ok : ReadBakeFrame(frames, frame, message);
    if (read < 0)
        return read;
    frames->frame = frame;
    if (result != NULL)
        *result = (snwBakeFrame){.frame = frame,
            .time = frame / frames->info.rate,
            .clipTime = frames->clipTime,
            .bones = {frames->bones, frames->boneCount, (int)sizeof(snwTransform)}};
    return snw_ok;
}

static snwResult GetDisplaySurface(const snwDisplay* display, int surface, snwSkin* skin, snwMessage* message)
{
    return snwDisplay_GetSurface(display, surface, skin) >= 0
               ? snw_ok
               : snwFail(message, snw_errorArgument, NULL, "there is no surface %d", surface);
}

snwResult snwBakeFrames_GetSurface(const snwBakeFrames* frames, int surface, snwSkin* skin, snwMessage* message)
{
    snwResult result = GetDisplaySurface(frames->display, surface, skin, message);
    if (result >= 0 && frames->flesh != NULL && frames->flesh[surface].vertexCount > 0)
    {
        skin->positions = frames->flesh[surface].positions;
        skin->normals = frames->flesh[surface].shown;
    }
    return result;
}

snwResult snwBakeFrames_GetArtist(snwBakeFrames* frames, int surface, snwSkin* skin, snwMessage* message)
{
    snwResult result = ShowArtist(frames, message);
    if (result >= 0)
        result = GetDisplaySurface(frames->artistDisplay, surface, skin, message);
    if (result >= 0 && frames->flesh != NULL && frames->flesh[surface].vertexCount > 0)
    {
        skin->positions = frames->flesh[surface].artist;
        skin->normals = frames->flesh[surface].artistNormals;
    }
    return result;
}

snwResult snwBakeFrames_GetFlesh(snwBakeFrames* frames, int surface, const float** offsets, snwMessage* message)
{
    snwSkin skin;
    snwResult result = GetDisplaySurface(frames->display, surface, &skin, message);
    bool known = result >= 0 && frames->flesh != NULL && frames->flesh[surface].vertexCount > 0;
    *offsets = known ? frames->flesh[surface].offsets : NULL;
    return result;
}

double snwBakeFrames_GetRide(const snwBakeFrames* frames, int surface)
{
    return frames->flesh != NULL ? frames->flesh[surface].ride : 0;
}

double snwBakeFrames_GetLimited(const snwBakeFrames* frames)
{
    double limited = 0, count = 0;
    for (int i = 0; frames->flesh != NULL && i < snwPrepared_GetInfo(frames->bake->prepared).surfaceCount; ++i)
    {
        limited += frames->flesh[i].limited;
        count += frames->flesh[i].vertexCount;
    }
    return count > 0 ? limited / count : 0;
}

const float* snwBakeFrames_GetBody(const snwBakeFrames* frames)
{
    return frames->body;
}

const float* snwBakeFrames_GetArtistBody(snwBakeFrames* frames)
{
    return frames->artist;
}
