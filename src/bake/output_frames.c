// A bake's frames as a reel, which is what writers read: of the artist's own document, or of one made for the body.

#include "bake/document.h"
#include "base/context.h"

#include <math.h>

static snwResult ReadOutputFrame(void* user, int frame, double* clipTime, snwMessage* message)
{
    const snwBakeReel* source = user;
    snwBakeFrame read;
    snwResult result = snwBakeFrames_Read(source->frames, frame, &read, message);
    if (result >= 0)
        *clipTime = source->made.asset != NULL ? read.time : read.clipTime;
    return result;
}

static snwResult GetReelSurface(void* user, int index, snwSkin* skin, snwMessage* message)
{
    return snwBakeFrames_GetSurface(((const snwBakeReel*)user)->frames, index, skin, message);
}

// Those that a node of the document shows.
static snwResult ListReelSurfaces(snwBakeReel* source, snwMessage* message)
{
    const snwBakeInfo* info = &source->info;
    snwReel* reel = &source->reel;
    snwReelSurface* list = snwArena_Alloc(&source->arena, (size_t)info->surfaceCount + 1, sizeof *list);
    if (list == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < info->surfaceCount; ++i)
    {
        const snwSurfaceInfo* surface = snwPrepared_GetSurface(info->prepared, info->surfaces[i]);
        if (surface->mesh >= 0 && surface->mesh < reel->asset->meshCount && surface->node >= 0)
            list[reel->surfaceCount++] = (snwReelSurface){
                surface->name, surface->mesh, surface->node, info->surfaces[i], NULL};
    }
    reel->surfaces = list;
    return snw_ok;
}

snwResult snwBakeReel_Open(snwContext* context, snwBakeFrames* frames, snwBakeReel* source, snwMessage* message)
{
    *source = (snwBakeReel){.frames = frames, .info = snwBakeFrames_GetInfo(frames), .arena = {.context = context}};
    const snwBakeInfo* info = &source->info;
    snwCharacterInfo body = snwCharacter_GetInfo(snwPrepared_GetCharacter(info->prepared));

    // What the artist's document says, as far as the bake found one.
    snwVec3 sides = snwVec3_Sub(body.upper, body.lower);
    snwReel* reel = &source->reel;
    *reel = (snwReel){.asset = info->asset,
        .animation = info->animation,
        .clip = info->clip[0] != 0 ? info->clip : info->name,
        .path = info->path,
        .frameCount = info->frameCount,
        .rate = info->rate,
        .start = info->start,
        .scale = snwPrepared_GetInfo(info->prepared).scale,
        .size = fmax(sides.x, fmax(sides.y, sides.z)),
        .read = ReadOutputFrame,
        .get = GetReelSurface,
        .user = source};
    if (info->asset != NULL && info->asset->gltf != NULL)
        return ListReelSurfaces(source, message);

    // Otherwise a document is made, which begins at 0 and is in metres.
    snwResult result = snwMakeBakeDocument(context, source->frames, &source->made, message);
    reel->asset = source->made.asset;
    reel->animation = source->made.animation;
    reel->surfaces = source->made.surfaces;
    reel->surfaceCount = source->made.surfaceCount;
    reel->path = NULL;
    reel->start = 0;
    reel->scale = 1;
    reel->madeBytes = source->made.bytes;

    return result;
}

void snwBakeReel_Close(snwContext* context, snwBakeReel* source)
{
    snwBakeDocument_Free(context, &source->made);
    snwArena_Free(&source->arena);
}

snwResult snwBakeOutput_Write(snwContext* context, snwBakeFrames* frames, const snwBakeOutputDef* def,
    snwBakeOutputReport* report, snwMessage* message)
{
    snwBakeReel source;
    snwResult result = snwBakeReel_Open(context, frames, &source, message);
    snwBakeWriting w = {context, &source.reel, def, report, message};
    if (result >= 0 && source.reel.surfaceCount == 0)
        result = snwFail(message, snw_errorInput, NULL, "there is no surface to write");
    if (result >= 0)
        result = snwBakeWriting_Write(&w);
    snwBakeReel_Close(context, &source);
    return result;
}
