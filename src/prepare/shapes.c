// Vertices that move by themselves: morph targets of an animation, and caches. The surface says where they go; the body
// of tets around it takes part in that, and what it is too coarse for is kept for the surface.
//
// Into the body: its outer vertices go with the nearest point of the flesh's surface, and inwards each vertex is the
// mean of its neighbours (harmonic: Gauss-Seidel, from sample to sample warm). Under morphs what bones own stays with
// them: a smile does not move the jaw. A cache says where everything is, bones too. Rejected: the nearest point for all
// vertices, which tears along the middle of a limb; radial bases, which cost a dense solve per sample.
//
// For the surface: the body goes through the samples, and what is missing to the artist's own places is the track of
// the surface, in the axes of the flesh around (sim/display.c).

#include "prepare/parts.h"

#include "asset/poser.h"
#include "geom/mesh.h"
#include "sim/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SNW_STILL  1e-6 // of the size: nothing moves
#define SNW_DETAIL 1e-5 // of the size: the body follows well enough

enum
{
    shapes_firstSweeps = 200,
    shapes_moreSweeps = 40, // from one sample to the next
};

typedef enum VertexKind
{
    snw_vertexInner,
    snw_vertexOuter, // goes with a point of the surface
    snw_vertexHeld,
    snw_vertexOwn, // is a vertex of the file
} VertexKind;

typedef struct Shaper
{
    snwPreparer* preparer;
    int animation;        // of the asset; -1: the cache
    float (**offsets)[3]; // by surface: of its vertices, m, in the rest pose; NULL: it does not move by itself
    double* weights;
    uint8_t* kinds; // by vertex of the body
    snwClosest* closest;
    int* starts; // neighbours
    int* neighbours;
} Shaper;

// ---------------------------------------------------------------------------------------------------------------------
// What surfaces do

static bool HasSurfaceMorphs(const snwPreparer* p, int animation, const snwRestSurface* surface)
{
    const snwAsset* asset = p->asset;
    if (surface->left || surface->node < 0 || asset->meshes[surface->mesh].morphCount == 0 || animation < 0)
        return false;
    const snwAssetAnimation* a = &asset->animations[animation];
    const snwAssetMesh* mesh = &asset->meshes[surface->mesh];
    const snwAssetNode* node = &asset->nodes[surface->node];
    for (int i = 0; i < mesh->morphCount; ++i) // a face that is modelled with a smile keeps it
        if (node->morphWeights != NULL ? node->morphWeights[i] != 0.0f : mesh->morphs[i].weight != 0.0)
            return true;
    for (int i = 0; i < a->channelCount; ++i)
        if (a->channels[i].path == snw_pathMorphs && a->channels[i].node == surface->node)
            return true;
    return false;
}

// The points of a cache are the vertices of the file, or its places in the order of the artist's mesh, of which
// exporters split vertices.
static bool FitsCache(const snwPreparer* p, const snwRestSurface* surface)
{
    int points = p->cache != NULL ? p->cache->cache.pointCount : -1;
    return !surface->left && surface->kind == snw_surfaceSoft &&
           (points == surface->vertexCount || points == surface->weld.count);
}

static void MorphSurface(const Shaper* s, int index, double time)
{
    const snwPreparer* p = s->preparer;
    const snwRestSurface* surface = &p->surfaces[index];
    const snwAssetMesh* mesh = &p->asset->meshes[surface->mesh];

    // Weights at that time, then the sum of the targets' offsets, turned into the rest pose.
    snwAsset_SampleMorphs(p->asset, &p->asset->animations[s->animation], surface->node, time, s->weights);
    for (int i = 0; i < surface->vertexCount; ++i)
    {
        snwVec3 sum = {0, 0, 0};
        for (int k = 0; k < mesh->morphCount; ++k)
        {
            const float* d = mesh->morphs[k].positions != NULL ? mesh->morphs[k].positions[i] : NULL;
            if (d != NULL)
                sum = snwVec3_MulAdd(sum, s->weights[k], (snwVec3){(double)d[0], (double)d[1], (double)d[2]});
        }

        sum = snwMat3_MulVec(surface->place.linear, sum);
        float* out = s->offsets[index][i];
        out[0] = (float)sum.x, out[1] = (float)sum.y, out[2] = (float)sum.z;
    }
}

// Caches have Z up, as their readers want it.
static void CacheSurface(const Shaper* s, int index, int frame)
{
    const snwPreparer* p = s->preparer;
    const snwRestSurface* surface = &p->surfaces[index];
    const snwAssetCache* cache = &p->cache->cache;
    const float* points = cache->positions + 3 * (size_t)frame * (size_t)cache->pointCount;
    for (int i = 0; i < surface->vertexCount; ++i)
    {
        const float* x = points + 3 * (size_t)(cache->pointCount == surface->vertexCount ? i : surface->weld.map[i]);
        snwVec3 at = snwAffine_Apply(surface->place, (snwVec3){(double)x[0], (double)x[2], -(double)x[1]});
        snwVec3 offset = snwVec3_Sub(at, surface->positions[i]);
        float* out = s->offsets[index][i];
        out[0] = (float)offset.x, out[1] = (float)offset.y, out[2] = (float)offset.z;
    }
}

static void MoveSurfaces(const Shaper* s, double time, int sample)
{
    for (int i = 0; i < s->preparer->surfaceCount; ++i)
    {
        if (s->offsets[i] == NULL)
            continue;
        if (s->animation >= 0)
            MorphSurface(s, i, time);
        else
            CacheSurface(s, i, sample);
    }
}

// False: nothing moves by itself, or there is no memory.
static bool FindMoving(Shaper* s)
{
    snwPreparer* p = s->preparer;
    int morphs = 1, moving = 0;
    s->offsets = snwPreparer_Alloc(p, p->surfaceCount, sizeof(void*));
    for (int i = 0; i < p->surfaceCount && s->offsets != NULL; ++i)
    {
        const snwRestSurface* surface = &p->surfaces[i];
        bool moves = s->animation >= 0 ? HasSurfaceMorphs(p, s->animation, surface) : FitsCache(p, surface);
        if (!moves)
            continue;
        s->offsets[i] = snwPreparer_Alloc(p, surface->vertexCount, sizeof *s->offsets[i]);
        int count = p->asset->meshes[surface->mesh].morphCount;
        morphs = count > morphs ? count : morphs;
        ++moving;
    }
    s->weights = snwPreparer_Alloc(p, morphs, sizeof *s->weights);
    return moving > 0 && !p->arena.failed;
}

// ---------------------------------------------------------------------------------------------------------------------
// Into the body

static bool FindShapeNeighbours(Shaper* s)
{
    snwPreparer* p = s->preparer;
    int(*edges)[2] = NULL;
    int count = 0, n = p->body.vertexCount;
    snwElements elements = {(const int*)p->body.tets, 4, p->body.tetCount};
    if (snwMesh_FindEdges(p->context, elements, NULL, 0, &edges, &count) < 0)
        return false;
    s->starts = snwPreparer_Alloc(p, n + 2, sizeof *s->starts);
    s->neighbours = snwPreparer_Alloc(p, 2 * (int64_t)count, sizeof *s->neighbours);

    // Counted two places late, so that filling moves the starts to where they belong.
    if (!p->arena.failed)
    {
        for (int i = 0; i < 2 * count; ++i)
            s->starts[edges[i / 2][i % 2] + 2]++;
        for (int i = 2; i <= n; ++i)
            s->starts[i] += s->starts[i - 1];
        for (int i = 0; i < 2 * count; ++i)
            s->neighbours[s->starts[edges[i / 2][i % 2] + 1]++] = edges[i / 2][1 - i % 2];
    }

    snwFree(p->context, edges);
    return !p->arena.failed;
}

static bool SortShapeVertices(Shaper* s)
{
    snwPreparer* p = s->preparer;
    int(*skin)[3] = NULL;
    int count = 0;
    snwElements elements = {(const int*)p->body.tets, 4, p->body.tetCount};
    s->kinds = snwPreparer_Alloc(p, p->body.vertexCount, sizeof *s->kinds);
    s->closest = snwPreparer_Alloc(p, p->body.vertexCount, sizeof *s->closest);
    if (p->arena.failed || snwMesh_FindSkin(p->context, elements, &skin, &count) < 0)
        return false;

    // What lies on the skin of the body.
    for (int i = 0; i < 3 * count; ++i)
        s->kinds[skin[i / 3][i % 3]] = snw_vertexOuter;
    snwFree(p->context, skin);

    // Elements of the file move exactly; bones of an animation hold their vertices; skin vertices follow the surface
    // next to them, and all others what is around them.
    for (int i = 0; i < p->body.vertexCount; ++i)
    {
        if (p->ownSurface >= 0 && s->offsets[p->ownSurface] != NULL)
            s->kinds[i] = snw_vertexOwn;
        else if (s->animation >= 0 && p->vertexBones[i] >= 0)
            s->kinds[i] = snw_vertexHeld;
        else if (s->kinds[i] == snw_vertexOuter)
            s->closest[i] = snwSoup_Closest(p->flesh, p->body.vertices[i]);
    }

    return FindShapeNeighbours(s);
}

// m, of the flesh's surface where it is nearest.
static void OuterOffset(const Shaper* s, const snwClosest* closest, float out[3])
{
    const snwPreparer* p = s->preparer;
    out[0] = out[1] = out[2] = 0.0f;
    for (int k = 0; k < 3; ++k)
    {
        int vertex = p->fleshTriangles[closest->triangle][k];
        float(*offsets)[3] = s->offsets[p->fleshSource[vertex]];
        for (int c = 0; c < 3 && offsets != NULL; ++c)
            out[c] += (float)closest->weights[k] * offsets[p->fleshVertex[vertex]][c];
    }
}

static void RelaxOffsets(const Shaper* s, float (*out)[3], int sweeps)
{
    for (int n = 0; n < sweeps; ++n)
        for (int i = 0; i < s->preparer->body.vertexCount; ++i)
        {
            int count = s->starts[i + 1] - s->starts[i];
            float sum[3] = {0.0f, 0.0f, 0.0f};
            if (s->kinds[i] != snw_vertexInner || count == 0)
                continue;
            for (int k = s->starts[i]; k < s->starts[i + 1]; ++k)
                for (int c = 0; c < 3; ++c)
                    sum[c] += out[s->neighbours[k]][c];
            for (int c = 0; c < 3; ++c)
                out[i][c] = sum[c] / (float)count;
        }
}

// out: what it was for the sample before.
static void SpreadOffsets(const Shaper* s, bool first, float (*out)[3])
{
    const snwPreparer* p = s->preparer;
    float(*own)[3] = p->ownSurface >= 0 ? s->offsets[p->ownSurface] : NULL;
    for (int i = 0; i < p->body.vertexCount; ++i)
    {
        if (own != NULL && s->kinds[i] == snw_vertexOwn)
            memcpy(out[i], own[p->ownVertices[i]], sizeof out[i]);
        if (s->kinds[i] == snw_vertexOuter)
            OuterOffset(s, &s->closest[i], out[i]);
    }
    RelaxOffsets(s, out, first ? shapes_firstSweeps : shapes_moreSweeps);
}

static double LargestOffset(const float (*offsets)[3], size_t count)
{
    float most = 0.0f;
    for (size_t i = 0; i < 3 * count; ++i)
        most = fmaxf(most, fabsf(offsets[i / 3][i % 3]));
    return (double)most;
}

snwResult snwPreparer_ShapeMotion(
    snwPreparer* p, int animation, const double* times, int count, snwVertexTrackDef* track)
{
    Shaper s = {.preparer = p, .animation = animation};
    size_t n = (size_t)p->body.vertexCount;
    *track = (snwVertexTrackDef){0};

    // Nothing moves, or there would be more samples than anyone needs.
    if (!FindMoving(&s) || (double)count * (double)n > SNW_MAX_SAMPLES)
        return p->arena.failed ? snwFailMemory(p->message) : snw_ok;
    float(*offsets)[3] = snwPreparer_Alloc(p, (int64_t)count * (int64_t)n, sizeof *offsets);
    double* kept = snwPreparer_Alloc(p, count, sizeof *kept);
    if (offsets == NULL || kept == NULL || !SortShapeVertices(&s))
        return snwFailMemory(p->message);
    memcpy(kept, times, (size_t)count * sizeof *kept);

    // Each sample starts from the one before, which it is close to.
    for (int i = 0; i < count; ++i)
    {
        float(*now)[3] = offsets + (size_t)i * n;
        MoveSurfaces(&s, times[i], i);
        if (i > 0)
            memcpy(now, now - n, n * sizeof *now);
        SpreadOffsets(&s, i == 0, now);
    }

    // If it is all less than anybody sees, there is no track.
    if (LargestOffset((const float(*)[3])offsets, (size_t)count * n) > SNW_STILL * p->size)
        *track = (snwVertexTrackDef){kept, count, (const float(*)[3])offsets};
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// For the surfaces

typedef struct Detail
{
    Shaper shaper;
    snwDisplay* display;
    const snwMotionDef* motion;
    snwVertexTrackDef* track; // of one surface
    int surface;              // of the preparer ...
    int shown;                // ... and of the display
} Detail;

// The body as the sample has it, without flesh or bones.
static snwResult ShowSample(const Detail* d, int sample, float* positions)
{
    const snwPreparer* p = d->shaper.preparer;
    int n = p->body.vertexCount;
    const float(*offsets)[3] = d->motion->vertices.offsets + (size_t)sample * (size_t)n;
    for (int i = 0; i < n; ++i)
    {
        snwVec3 x = p->body.vertices[i];
        positions[3 * i] = (float)(x.x + (double)offsets[i][0]);
        positions[3 * i + 1] = (float)(x.y + (double)offsets[i][1]);
        positions[3 * i + 2] = (float)(x.z + (double)offsets[i][2]);
    }
    return snwDisplay_Update(d->display, positions, n, 12, p->message);
}

static snwResult DetailSurface(const Detail* d, float* positions)
{
    snwPreparer* p = d->shaper.preparer;
    const snwRestSurface* surface = &p->surfaces[d->surface];
    int count = d->motion->vertices.sampleCount, n = surface->vertexCount;

    float(*details)[3] = snwPreparer_Alloc(p, (int64_t)count * n, sizeof *details);
    float(*targets)[3] = snwPreparer_Alloc(p, n, sizeof *targets);
    float(*offsets)[3] = d->shaper.offsets[d->surface];
    snwResult result = snw_ok;
    if (details == NULL || targets == NULL || offsets == NULL)
        return snwFailMemory(p->message);

    // The difference between what the surface should be and what riding in the body shows, sample by sample.
    for (int i = 0; i < count && result >= 0; ++i)
    {
        // The last sample of a loop is the first one once more.
        bool again = d->motion->loop && i == count - 1;
        MoveSurfaces(&d->shaper, d->motion->vertices.times[again ? 0 : i], again ? 0 : i);
        for (int k = 0; k < n; ++k)
        {
            const float* offset = offsets[k];
            targets[k][0] = (float)(surface->positions[k].x + (double)offset[0]);
            targets[k][1] = (float)(surface->positions[k].y + (double)offset[1]);
            targets[k][2] = (float)(surface->positions[k].z + (double)offset[2]);
        }

        result = ShowSample(d, i, positions);
        if (result >= 0)
            snwDisplay_FindDetail(d->display, d->shown, (const float(*)[3])targets, details + (size_t)i * (size_t)n);
    }

    // Only what can be seen is kept.
    if (result >= 0 && LargestOffset((const float(*)[3])details, (size_t)count * (size_t)n) > SNW_DETAIL * p->size)
        *d->track = (snwVertexTrackDef){d->motion->vertices.times, count, (const float(*)[3])details};
    return result;
}

static snwResult DetailMotion(Detail* d, snwSurfaceInfo* infos, int motion, float* positions)
{
    snwPreparer* p = d->shaper.preparer;
    snwResult result = snw_ok;
    d->shaper = (Shaper){.preparer = p, .animation = p->motionShapes[motion]};
    d->motion = &p->motions[motion];
    if (!FindMoving(&d->shaper))
        return p->arena.failed ? snwFailMemory(p->message) : snw_ok;
    d->shown = -1;

    // Surfaces that are left out have no number among those shown.
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
    {
        d->shown += !p->surfaces[i].left;
        if (d->shaper.offsets[i] == NULL)
            continue;
        snwSurfaceInfo* info = &infos[d->shown];
        if (info->tracks == NULL)
            info->tracks = snwPreparer_Alloc(p, p->motionCount, sizeof *info->tracks);
        if (info->tracks == NULL)
            return snwFailMemory(p->message);
        d->surface = i;
        d->track = (snwVertexTrackDef*)&info->tracks[motion]; // our own
        result = DetailSurface(d, positions);
    }

    return result;
}

snwResult snwPreparer_DetailSurfaces(snwPreparer* p, snwPrepared* prepared, snwSurfaceInfo* infos)
{
    Detail d = {.shaper = {.preparer = p}};
    float* positions = snwPreparer_Alloc(p, 3 * (int64_t)p->body.vertexCount, sizeof *positions);
    if (positions == NULL)
        return snwFailMemory(p->message);
    snwResult result = snwCreateDisplay(prepared, &d.display, p->message);
    for (int i = 0; i < p->motionCount && result >= 0; ++i)
        if (p->motions[i].vertices.sampleCount > 0)
            result = DetailMotion(&d, infos, i, positions);
    snwDestroyDisplay(d.display);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Caches

snwResult snwPreparer_OpenCache(snwPreparer* p)
{
    snwAsset* cache = NULL;
    bool fits = false;
    if (p->def->cache == NULL)
        return snw_ok;
    snwResult result = snwAsset_Open(p->context, p->def->cache, &cache, p->message);
    p->cache = cache;
    if (result < 0)
        return result;

    // One frame is no motion, and one of the surfaces must have the cache's points.
    if (cache->cache.frameCount < 2)
        return snwFail(
            p->message, snw_errorInput, "give a PC2 or MDD file", "'%s' is no cache of several frames", cache->name);
    for (int i = 0; i < p->surfaceCount; ++i)
        fits = fits || FitsCache(p, &p->surfaces[i]);

    return fits ? snw_ok
                : snwFail(p->message, snw_errorInput, "export both from the same mesh",
                      "the cache has %d points, but no soft surface has as many vertices or places",
                      cache->cache.pointCount);
}
