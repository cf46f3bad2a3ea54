// The surfaces of a prepared character on a body that moves.
//
// Normals are carried by the gradient of the body around them: n = cof(F) N, with F the mean that the embedding uses
// for positions, so that the creases an artist modelled stay creases.
//
// What a motion does to a surface that is finer than the body (a smile) comes on top, in the axes of the flesh around:
// x = embedded + R d(t), with R the rotation of that F, or that of the rigid piece. Preparation found d so that x is
// exactly what the artist made where flesh is exactly where the artist puts it.

#include "math/eigen.h"
#include "math/transform.h"
#include "sim/character.h"
#include "sim/prepared.h"
#include "sim/vertex_track.h"

#include <math.h>
#include <string.h>

struct snwDisplay
{
    snwPrepared* prepared;
    snwArena arena;
    float* scratch;        // of the embedding
    float* points;         // x y z of each point
    float* gradients;      // cofactors at each point, 9 each
    snwTransform* motions; // of the anchors
    snwTransform* bones;   // where they are, if that is told
    bool bonesKnown;
    float** positions;
    float** normals; // per surface
    int motion;      // that surfaces show, -1: none
    double time;     // s, in it
};

snwResult snwCreateDisplay(snwPrepared* prepared, snwDisplay** out, snwMessage* message)
{
    *out = NULL;
    snwDisplay* display = snwAlloc(prepared->context, sizeof *display);
    if (display == NULL)
        return snwFailMemory(message);

    // It keeps the prepared character for as long as it lives.
    const snwEmbedding* embedding = &prepared->embedding;
    snwArena* arena = &display->arena;
    size_t count = (size_t)prepared->info.surfaceCount, points = (size_t)embedding->pointCount;
    arena->context = prepared->context;
    display->prepared = prepared;
    display->motion = -1;
    snwPrepared_Retain(prepared);

    // Scratch of the embedding, what it moves, and a pose of the rigid anchors; one more, for no array is empty.
    display->scratch = snwArena_Alloc(arena, snwEmbedding_ScratchSize(embedding) + 1, sizeof(float));
    display->points = snwArena_Alloc(arena, 3 * points + 1, sizeof(float));
    display->gradients = snwArena_Alloc(arena, 9 * points + 1, sizeof(float));
    display->motions = snwArena_Alloc(arena, (size_t)prepared->anchorCount + 1, sizeof *display->motions);
    display->bones = snwArena_Alloc(arena, (size_t)prepared->character->def.boneCount + 1, sizeof *display->bones);
    display->positions = snwArena_Alloc(arena, count + 1, sizeof *display->positions);
    display->normals = snwArena_Alloc(arena, count + 1, sizeof *display->normals);

    // Surfaces begin as they rest.
    for (size_t i = 0; i < count && !arena->failed; ++i)
    {
        const snwSurfaceInfo* surface = &prepared->surfaces[i];
        display->positions[i] = snwArena_Copy(arena, surface->positions, (size_t)surface->vertexCount, 12);
        display->normals[i] = snwArena_Copy(arena, surface->normals, (size_t)surface->vertexCount, 12);
    }

    if (arena->failed)
    {
        snwDestroyDisplay(display);
        return snwFailMemory(message);
    }

    *out = display;
    return snw_ok;
}

void snwDestroyDisplay(snwDisplay* display)
{
    if (display == NULL)
        return;
    snwPrepared* prepared = display->prepared;
    snwContext* context = prepared->context;
    snwArena_Free(&display->arena);
    snwFree(context, display);
    snwPrepared_Release(prepared);
}

// ---------------------------------------------------------------------------------------------------------------------
// What rides in the flesh

static void Cofactor(const float F[9], float C[9])
{
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
        {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
            C[3 * i + k] = F[3 * a + c] * F[3 * b + d] - F[3 * a + d] * F[3 * b + c];
        }
}

static void FindGradients(int begin, int end, void* data)
{
    snwDisplay* display = data;
    const snwEmbedding* embedding = &display->prepared->embedding;
    for (int i = begin; i < end; ++i)
    {
        float F[9] = {0};
        for (int k = 0; k < 4; ++k)
        {
            const float* at = display->scratch + 12 * (size_t)embedding->corners[i][k] + 3;
            for (int e = 0; e < 9; ++e)
                F[e] += embedding->weights[i][k] * at[e];
        }
        Cofactor(F, display->gradients + 9 * (size_t)i);
    }
}

static void TurnNormal(const float C[9], const float rest[3], float normal[3])
{
    float n[3], length = 0.0f;
    for (int i = 0; i < 3; ++i)
    {
        n[i] = C[3 * i] * rest[0] + C[3 * i + 1] * rest[1] + C[3 * i + 2] * rest[2];
        length += n[i] * n[i];
    }
    length = sqrtf(length);
    bool sound = length > 1e-12f && isfinite(length); // else flesh is flat here: as it was
    for (int i = 0; i < 3 && sound; ++i)
        normal[i] = n[i] / length;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rigid pieces

static snwVec3 PositionAt(const float* positions, int stride, int vertex)
{
    const float* p = (const float*)((const char*)positions + (size_t)vertex * (size_t)stride);
    return (snwVec3){(double)p[0], (double)p[1], (double)p[2]};
}

// Kabsch 1976: the rigid motion of least squares.
static snwTransform FitAnchor(const snwPrepared* prepared, const snwRigidAnchor* anchor, const float* now, int stride)
{
    const snwVec3* rest = prepared->character->def.vertices;
    snwVec3 restMean = {0, 0, 0}, nowMean = {0, 0, 0};
    snwMat3 spread = snwMat3_Diagonal(0, 0, 0);
    for (int i = 0; i < anchor->count; ++i)
    {
        restMean = snwVec3_MulAdd(restMean, 1.0 / anchor->count, rest[anchor->vertices[i]]);
        nowMean = snwVec3_MulAdd(nowMean, 1.0 / anchor->count, PositionAt(now, stride, anchor->vertices[i]));
    }
    for (int i = 0; i < anchor->count; ++i)
        spread = snwMat3_Add(spread, snwMat3_Outer(snwVec3_Sub(PositionAt(now, stride, anchor->vertices[i]), nowMean),
                                         snwVec3_Sub(rest[anchor->vertices[i]], restMean)));
    snwTransform fit = {.rotation = snwQuat_FromMat3(snwPolar3_Compute(spread).rotation)};
    fit.position = snwVec3_Sub(nowMean, snwQuat_Rotate(fit.rotation, restMean));
    return fit;
}

static void MoveRigid(snwTransform motion, const float rest[2][3], float* position, float* normal)
{
    snwVec3 x = snwTransform_Apply(motion, (snwVec3){(double)rest[0][0], (double)rest[0][1], (double)rest[0][2]});
    snwVec3 n = snwQuat_Rotate(motion.rotation, (snwVec3){(double)rest[1][0], (double)rest[1][1], (double)rest[1][2]});
    position[0] = (float)x.x, position[1] = (float)x.y, position[2] = (float)x.z;
    normal[0] = (float)n.x, normal[1] = (float)n.y, normal[2] = (float)n.z;
}

// ---------------------------------------------------------------------------------------------------------------------
// What motions do to surfaces

// The rotation of the flesh, or of the rigid piece, around a vertex. That of cof(F) is that of F.
static snwMat3 FindTurn(const snwDisplay* display, int point)
{
    if (point < 0)
        return snwQuat_ToMat3(display->motions[~point].rotation);
    if (display->prepared->embedding.arms == NULL)
        return snwMat3_Diagonal(1, 1, 1);
    snwMat3 C;
    for (int i = 0; i < 9; ++i)
        C.m[i / 3][i % 3] = (double)display->gradients[9 * (size_t)point + (size_t)i];
    return snwPolar3_Compute(C).rotation;
}

typedef struct Gather
{
    const snwDisplay* display;
    int surface;
    const snwVertexTrackDef* track; // NULL: none
    snwVertexBlend blend;
} Gather;

static Gather MakeGather(const snwDisplay* display, int surface)
{
    const snwSurfaceInfo* info = &display->prepared->surfaces[surface];
    Gather gather = {.display = display, .surface = surface};
    if (info->tracks == NULL || display->motion < 0 || info->tracks[display->motion].sampleCount == 0)
        return gather;
    const snwMotionDef* motion = &snwCharacter_GetDef(display->prepared->character)->motions[display->motion];
    gather.track = &info->tracks[display->motion];
    gather.blend = snwVertexTrack_At(motion, gather.track, display->time);
    return gather;
}

static void AddDetail(const Gather* gather, int vertex, float position[3])
{
    const snwPrepared* prepared = gather->display->prepared;
    float offset[3];
    snwVertexTrack_Offset(
        gather->track, &gather->blend, prepared->surfaces[gather->surface].vertexCount, vertex, offset);
    snwMat3 turn = FindTurn(gather->display, prepared->points[gather->surface][vertex]);
    snwVec3 d = snwMat3_MulVec(turn, (snwVec3){(double)offset[0], (double)offset[1], (double)offset[2]});
    position[0] += (float)d.x, position[1] += (float)d.y, position[2] += (float)d.z;
}

void snwDisplay_FindDetail(const snwDisplay* display, int surface, const float (*targets)[3], float (*detail)[3])
{
    const snwPrepared* prepared = display->prepared;
    for (int i = 0; i < prepared->surfaces[surface].vertexCount; ++i)
    {
        const float* now = display->positions[surface] + 3 * (size_t)i;
        snwMat3 turn = FindTurn(display, prepared->points[surface][i]);
        snwVec3 gap = {
            (double)(targets[i][0] - now[0]), (double)(targets[i][1] - now[1]), (double)(targets[i][2] - now[2])};
        snwVec3 d = snwMat3_MulVec(snwMat3_Transpose(turn), gap);
        detail[i][0] = (float)d.x, detail[i][1] = (float)d.y, detail[i][2] = (float)d.z;
    }
}

snwResult snwDisplay_SetMotion(snwDisplay* display, int motion, double time)
{
    if (motion < -1 || motion >= snwCharacter_GetInfo(display->prepared->character).motionCount || !isfinite(time))
        return snw_errorArgument;
    display->motion = motion;
    display->time = time;
    return snw_ok;
}

snwResult snwDisplay_SetBones(snwDisplay* display, const snwTransform* bones, int count, int stride)
{
    if (bones != NULL && (count != display->prepared->character->def.boneCount || stride < (int)sizeof *bones))
        return snw_errorArgument;
    display->bonesKnown = bones != NULL;
    for (int i = 0; bones != NULL && i < count; ++i)
        display->bones[i] = *(const snwTransform*)((const char*)bones + (size_t)i * (size_t)stride);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// All of them

static void GatherRange(int begin, int end, void* data)
{
    const Gather* gather = data;
    const snwDisplay* display = gather->display;
    const snwPrepared* prepared = display->prepared;
    const snwSurfaceInfo* surface = &prepared->surfaces[gather->surface];
    const int* points = prepared->points[gather->surface];
    float *positions = display->positions[gather->surface], *normals = display->normals[gather->surface];

    // Positions and normals of the surface's own vertices, from the points that they share.
    for (int i = begin; i < end; ++i)
    {
        float *position = positions + 3 * (size_t)i, *normal = normals + 3 * (size_t)i;

        // Below 0: the point belongs to a rigid anchor, whose motion it shares.
        if (points[i] < 0)
        {
            const float *p = surface->positions[i], *n = surface->normals[i];
            const float rest[2][3] = {{p[0], p[1], p[2]}, {n[0], n[1], n[2]}};
            MoveRigid(display->motions[~points[i]], rest, position, normal);
        }
        else
        {
            memcpy(position, display->points + 3 * (size_t)points[i], 3 * sizeof(float));
            if (prepared->embedding.arms != NULL)
                TurnNormal(display->gradients + 9 * (size_t)points[i], surface->normals[i], normal);
        }

        if (gather->track != NULL)
            AddDetail(gather, i, position);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

snwResult snwDisplay_Update(snwDisplay* display, const float* positions, int count, int stride, snwMessage* message)
{
    const snwPrepared* prepared = display->prepared;
    if (count != prepared->character->def.vertexCount || stride < 12)
        return snwFail(message, snw_errorArgument, "give the vertices of a body with this character",
            "%d positions for %d vertices", count, prepared->character->def.vertexCount);

    for (int i = 0; i < count; ++i)
        if (!snwVec3_IsFinite(PositionAt(positions, stride, i)))
            return snwFail(message, snw_errorArgument, NULL, "the position of vertex %d is not finite", i);

    // All points of all surfaces at once; surfaces then take theirs.
    snwEmbeddingMove move = {positions, stride, display->scratch, display->points};
    snwEmbedding_Evaluate(prepared->context, &prepared->embedding, &move);
    if (prepared->embedding.arms != NULL)
        snwParallelFor(prepared->context, prepared->embedding.pointCount, 1024, FindGradients, display);

    // Rigid pieces go with their bone where that is known, else with the vertices around them.
    for (int i = 0; i < prepared->anchorCount; ++i)
    {
        const snwRigidAnchor* anchor = &prepared->anchors[i];
        display->motions[i] = display->bonesKnown && anchor->bone >= 0 ? display->bones[anchor->bone]
                                                                       : FitAnchor(prepared, anchor, positions, stride);
    }

    for (int i = 0; i < prepared->info.surfaceCount; ++i)
    {
        Gather gather = MakeGather(display, i);
        snwParallelFor(prepared->context, prepared->surfaces[i].vertexCount, 1024, GatherRange, &gather);
    }

    return snw_ok;
}

snwResult snwDisplay_GetSurface(const snwDisplay* display, int index, snwSkin* skin)
{
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(display->prepared, index);
    if (surface == NULL)
        return snw_errorArgument;
    *skin = (snwSkin){.positions = display->positions[index],
        .normals = display->normals[index],
        .vertexCount = surface->vertexCount,
        .stride = 3 * (int)sizeof(float),
        .triangles = (const int*)surface->triangles,
        .triangleCount = surface->triangleCount};
    return snw_ok;
}
