// The gate behind every bake: what was written is read again and held against the source, without the code that wrote
// it (against.h).

#include "bake/against.h"
#include "bake/output.h"
#include "bake/parts.h"

typedef struct Gate
{
    snwBake* bake;
    float* offsets; // of a surface, in the unit of the source
} Gate;

// Surfaces that were not asked for have no flesh.
static snwResult FleshOf(void* user, int frame, int node, const float** offsets, snwMessage* message)
{
    Gate* gate = user;
    const snwBake* bake = gate->bake;
    double scale = snwPrepared_GetInfo(bake->prepared).scale;
    *offsets = NULL;
    for (int i = 0; i < bake->surfaceCount; ++i)
    {
        const snwSurfaceInfo* surface = snwPrepared_GetSurface(bake->prepared, bake->surfaces[i]);
        const float* flesh = NULL;
        if (surface->node != node)
            continue;
        snwResult result = snwBakeFrames_Read(bake->frames, frame, NULL, message);
        if (result >= 0)
            result = snwBakeFrames_GetFlesh(bake->frames, bake->surfaces[i], &flesh, message);
        for (int k = 0; k < 3 * surface->vertexCount && result >= 0 && flesh != NULL; ++k)
            gate->offsets[k] = (float)((double)flesh[k] / scale);
        *offsets = flesh != NULL ? gate->offsets : NULL;
        return result;
    }
    return snw_ok;
}

snwResult snwBake_CheckWritten(snwBake* bake, const char* path, snwMessage* message)
{
    const snwBakePlan* plan = &bake->plan;
    if (bake->asset == NULL || bake->asset->gltf == NULL || plan->animation < 0 ||
        snwBakeFormat_OfPath(path) != snw_bakeGlb)
        return snw_ok; // there is no file to hold it against, or it is a cache
    snwAsset* written = NULL;
    size_t most = 1;
    for (int i = 0; i < bake->asset->meshCount; ++i)
        most += (size_t)bake->asset->meshes[i].vertexCount;
    Gate gate = {bake, snwAllocArray(bake->context, 3 * most, sizeof(float))};
    snwResult result = gate.offsets != NULL ? snwAsset_Open(bake->context, path, &written, message)
                                            : snwFailMemory(message);
    snwAgainstDef def = {.source = bake->asset,
        .written = written,
        .clip = plan->animation,
        .start = plan->start,
        .rate = plan->rate,
        .frameCount = plan->frameCount,
        .flesh = FleshOf,
        .user = &gate,
        .interrupt = bake->def.interrupt};
    if (result >= 0)
        result = snwCompareAgainst(bake->context, &def, &bake->report.against, message);
    if (result >= 0)
        result = snwAgainst_Judge(&bake->report.against, message);
    bake->report.checked = result >= 0;
    snwAsset_Close(written);
    snwFree(bake->context, gate.offsets);
    return result;
}
