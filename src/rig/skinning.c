// Skinning by linear blending and by dual quaternions (Kavan et al. 2008): vertices sorted by their handles in blocks
// of eight, about a centre so that floats keep their precision far from the origin. The model may be shared; palettes
// are each character's own.

#include "rig/skinning.h"
#include "base/result.h"
#include "base/sort.h"
#include "base/tasks.h"
#include "math/cpu.h"
#include "rig/weights.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static const double s_farthest = 1e9; // m; beyond it floats could overflow in products
static const double s_largest = 1e6;  // entries of a linear map

enum
{
    snw_skinGrain = 64, // blocks of a parallel chunk
    snw_maxSkinInfluences = 1 << 28,
    snw_maxSkinHandles = 1 << 24 // offsets of their numbers fit into an int
};

// ---------------------------------------------------------------------------------------------------------------------
// The model

static const float* RowOfVertex(const float* base, int stride, int vertex)
{
    return (const float*)((const char*)base + (size_t)vertex * (size_t)stride);
}

// Which row of the weights is the vertex'.
static int WeightRow(const snwSkinningDef* def, int vertex)
{
    return def->vertices != NULL ? def->vertices[vertex] : vertex;
}

static snwVec3 FindSkinCentre(const snwSkinningDef* def)
{
    snwVec3 lower = {0, 0, 0}, upper = {0, 0, 0};
    for (int i = 0; i < def->vertexCount; ++i)
    {
        const float* p = RowOfVertex(def->positions, def->stride, i);
        snwVec3 at = {p[0], p[1], p[2]};
        lower = i > 0 ? snwVec3_Min(lower, at) : at;
        upper = i > 0 ? snwVec3_Max(upper, at) : at;
    }
    return snwVec3_Scale(snwVec3_Add(lower, upper), 0.5);
}

static int* SortSkinVertices(snwContext* context, const snwSkinningDef* def)
{
    int* order = snwAllocArray(context, (size_t)def->vertexCount, sizeof *order);
    uint64_t* keys = snwAllocArray(context, (size_t)def->vertexCount, sizeof *keys);
    bool sorted = order != NULL && keys != NULL;
    for (int i = 0; i < def->vertexCount && sorted; ++i)
        order[i] = i, keys[i] = snwWeights_HandlesKey(def->weights, WeightRow(def, i));
    sorted = sorted && snwSortKeys(context, keys, order, def->vertexCount);
    snwFree(context, keys);
    if (!sorted)
        snwFree(context, order);
    return sorted ? order : NULL;
}

static void FillSkinLane(const snwSkinningDef* def, snwSkinModel* model, snwSkinBlock* block, int lane)
{
    int vertex = block->vertex[lane];
    const float* p = RowOfVertex(def->positions, def->stride, vertex);
    block->position[0][lane] = (float)(p[0] - model->centre.x);
    block->position[1][lane] = (float)(p[1] - model->centre.y);
    block->position[2][lane] = (float)(p[2] - model->centre.z);
    for (int k = 0; k < 3 && model->hasNormals; ++k)
        block->normal[k][lane] = RowOfVertex(def->normals, def->stride, vertex)[k];
    const snwWeights* w = def->weights;
    int row = WeightRow(def, vertex), heaviest = w->starts[row];
    for (int k = heaviest; k < w->starts[row + 1]; ++k)
        heaviest = w->values[k] > w->values[heaviest] ? k : heaviest;
    block->pivot[lane] = 4 * w->handles[heaviest];
}

// The handles of all lanes in rising order. out NULL: only counts.
static int FillSkinInfluences(const snwSkinningDef* def, const snwSkinBlock* block, snwSkinInfluence* out)
{
    int rows[SNW_SKIN_LANES], count = 0, handle;
    double values[SNW_SKIN_LANES];
    for (int lane = 0; lane < SNW_SKIN_LANES; ++lane)
        rows[lane] = WeightRow(def, block->vertex[lane]);
    snwWeightsMerge merge = snwWeightsMerge_Start(def->weights, rows);
    for (; (handle = snwWeightsMerge_Next(&merge, values)) >= 0; ++count)
    {
        for (int lane = 0; lane < SNW_SKIN_LANES && out != NULL; ++lane)
            out[count].weight[lane] = (float)values[lane];
        if (out != NULL)
            out[count].handle = handle;
    }
    return count;
}

static bool IsStride(int stride)
{
    return stride >= 3 * (int)sizeof(float) && stride % (int)sizeof(float) == 0;
}

static snwResult CheckVertex(const snwSkinningDef* def, int vertex, snwMessage* message)
{
    int row = WeightRow(def, vertex);
    if (row < 0 || row >= def->weights->vertexCount)
        return snwFail(message, snw_errorArgument, NULL, "vertex %d has row %d of %d weights", vertex, row,
            def->weights->vertexCount);
    for (int k = 0; k < 3; ++k)
        if (!(fabs((double)RowOfVertex(def->positions, def->stride, vertex)[k]) <= s_farthest) ||
            (def->normals != NULL && !(fabsf(RowOfVertex(def->normals, def->stride, vertex)[k]) <= 1.001f)))
            return snwFail(message, snw_errorArgument, NULL,
                "vertex %d has a position that is not finite, or a normal that is not unit", vertex);
    return snw_ok;
}

static snwResult CheckSkinningDef(const snwSkinningDef* def, snwMessage* message)
{
    if (def->weights == NULL || def->positions == NULL || def->vertexCount < 1 || !IsStride(def->stride))
        return snwFail(message, snw_errorArgument, "start from snwDefaultSkinningDef()",
            "skinning needs positions, weights and a stride of whole floats, at least three");
    int handles = def->weights->handleCount;
    if (handles < 1 || handles > snw_maxSkinHandles)
        return snwFail(
            message, snw_errorArgument, NULL, "skinning needs 1..%d handles, not %d", snw_maxSkinHandles, handles);
    snwResult result = snwWeights_Check(def->weights, def->weights->vertexCount, handles, message);
    for (int i = 0; i < def->vertexCount && result == snw_ok; ++i)
        result = CheckVertex(def, i, message);
    return result;
}

static snwResult FillSkinModel(snwContext* context, const snwSkinningDef* def, snwSkinModel* model, snwMessage* message)
{
    model->vertexCount = def->vertexCount;
    model->handleCount = def->weights->handleCount;
    model->blockCount = model->vertexCount / SNW_SKIN_LANES + (model->vertexCount % SNW_SKIN_LANES > 0);
    model->hasNormals = def->normals != NULL;
    model->centre = FindSkinCentre(def);
    model->blocks = snwAllocArray(context, (size_t)model->blockCount, sizeof *model->blocks);
    if (model->blocks == NULL)
        return snwFailMemory(message);
    int* order = SortSkinVertices(context, def);
    if (order == NULL)
        return snwFailMemory(message);
    int64_t total = 0;

    // Blocks of the same handles; lanes beyond the last vertex repeat it. Influences are counted first.
    for (int i = 0; i < model->blockCount; ++i)
    {
        snwSkinBlock* block = &model->blocks[i];
        for (int lane = 0; lane < SNW_SKIN_LANES; ++lane)
        {
            int at = i * SNW_SKIN_LANES + lane;
            block->vertex[lane] = order[at < model->vertexCount ? at : model->vertexCount - 1];
            FillSkinLane(def, model, block, lane);
        }

        block->firstInfluence = (int)total;
        block->influenceCount = FillSkinInfluences(def, block, NULL);
        total += block->influenceCount;
        if (total > snw_maxSkinInfluences)
            break;
    }

    snwFree(context, order);
    if (total > snw_maxSkinInfluences)
        return snwFail(message, snw_errorArgument, "ask for fewer influences", "too many weights for skinning");
    model->influences = snwAllocArray(context, (size_t)total, sizeof *model->influences);
    if (model->influences == NULL)
        return snwFailMemory(message);

    // With memory in place, the same walk again fills them.
    for (int i = 0; i < model->blockCount; ++i)
        FillSkinInfluences(def, &model->blocks[i], &model->influences[model->blocks[i].firstInfluence]);

    return snw_ok;
}

snwResult snwSkinModel_Create(snwContext* context, const snwSkinningDef* def, snwSkinModel** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckSkinningDef(def, message);
    if (result < 0)
        return result;
    snwSkinModel* model = snwAlloc(context, sizeof *model);
    if (model == NULL)
        return snwFailMemory(message);
    result = FillSkinModel(context, def, model, message);
    if (result < 0)
        snwSkinModel_Destroy(context, model);
    else
        *out = model;
    return result;
}

void snwSkinModel_Destroy(snwContext* context, snwSkinModel* model)
{
    if (model == NULL)
        return;
    snwFree(context, model->blocks);
    snwFree(context, model->influences);
    snwFree(context, model);
}

// ---------------------------------------------------------------------------------------------------------------------
// The palette

snwResult snwSkinPalette_Create(snwContext* context, int handleCount, snwSkinPalette* palette, snwMessage* message)
{
    *palette = (snwSkinPalette){.handleCount = handleCount};
    palette->handles = snwAllocArray(context, (size_t)handleCount, sizeof *palette->handles);
    return palette->handles != NULL ? snw_ok : snwFailMemory(message);
}

void snwSkinPalette_Free(snwContext* context, snwSkinPalette* palette)
{
    snwFree(context, palette->handles);
    *palette = (snwSkinPalette){0};
}

static snwAffine PoseMap(const snwSkinningPose* pose, int handle)
{
    if (pose->matrices == NULL)
    {
        snwTransform t = pose->transforms[handle];
        return (snwAffine){snwQuat_ToMat3(snwQuat_Normalize(t.rotation)), t.position};
    }
    const double* m = pose->matrices[handle];
    return (snwAffine){{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}}, {m[3], m[7], m[11]}};
}

static bool IsSoundHandlePose(const snwSkinningPose* pose, int handle)
{
    if (pose->matrices == NULL)
    {
        snwTransform t = pose->transforms[handle];
        double length = snwQuat_Dot(t.rotation, t.rotation);
        return snwVec3_IsWithin(t.position, s_farthest) && length >= 1e-12 && length <= 1e12;
    }
    snwAffine map = PoseMap(pose, handle);
    return snwVec3_IsWithin(map.translation, s_farthest) && snwMat3_IsFinite(map.linear) &&
           snwMat3_LargestEntry(map.linear) <= s_largest;
}

static snwResult CheckPose(const snwSkinPalette* palette, const snwSkinningPose* pose, snwMessage* message)
{
    if (pose->count != palette->handleCount || (pose->transforms == NULL && pose->matrices == NULL))
        return snwFail(message, snw_errorArgument, NULL, "the pose has %d handles, the skinning %d", pose->count,
            palette->handleCount);
    if (pose->kind != snw_skinningLinear && (pose->kind != snw_skinningDualQuaternion || pose->matrices != NULL))
        return snwFail(message, snw_errorArgument, "use snw_skinningLinear",
            "dual quaternions skin by rigid transforms only, not by matrices");
    for (int i = 0; i < pose->count; ++i)
        if (!IsSoundHandlePose(pose, i))
            return snwFail(message, snw_errorArgument, NULL,
                "handle %d of the pose has a number that is not finite or too large, or a rotation of length 0", i);
    return snw_ok;
}

static void SetPaletteRow(float row[4], double a, double b, double c, double d)
{
    row[0] = (float)a, row[1] = (float)b, row[2] = (float)c, row[3] = (float)d;
}

// Real part q, dual part t q / 2 (Kavan et al. 2008).
static void SetDualQuaternion(snwSkinHandle* out, snwQuat q, snwVec3 t)
{
    snwQuat dual = snwQuat_Mul((snwQuat){0.5 * t.x, 0.5 * t.y, 0.5 * t.z, 0.0}, q);
    SetPaletteRow(out->rows[0], q.x, q.y, q.z, q.w);
    SetPaletteRow(out->rows[1], dual.x, dual.y, dual.z, dual.w);
}

static void SetMatrix(snwSkinHandle* out, const snwMat3* m, snwVec3 t)
{
    SetPaletteRow(out->rows[0], m->m[0][0], m->m[0][1], m->m[0][2], t.x);
    SetPaletteRow(out->rows[1], m->m[1][0], m->m[1][1], m->m[1][2], t.y);
    SetPaletteRow(out->rows[2], m->m[2][0], m->m[2][1], m->m[2][2], t.z);
    SetPaletteRow(out->rows[3], 0, 0, 0, 0);
}

snwResult snwSkinPalette_Set(
    snwSkinPalette* palette, const snwSkinModel* model, const snwSkinningPose* pose, snwMessage* message)
{
    snwResult result = CheckPose(palette, pose, message);
    if (result < 0)
        return result;

    // Positions are relative to where the body's centre goes on the average: the origin, exact as floats.
    snwVec3 origin = {0, 0, 0};
    for (int i = 0; i < pose->count; ++i)
        origin = snwVec3_MulAdd(origin, 1.0 / pose->count, snwAffine_Apply(PoseMap(pose, i), model->centre));
    palette->kind = pose->kind;
    palette->origin[0] = (float)origin.x;
    palette->origin[1] = (float)origin.y;
    palette->origin[2] = (float)origin.z;
    snwVec3 rounded = {palette->origin[0], palette->origin[1], palette->origin[2]};

    // Each map from the rest pose's centre to that origin, so that all numbers stay small.
    for (int i = 0; i < pose->count; ++i)
    {
        snwAffine map = PoseMap(pose, i);
        snwVec3 t = snwVec3_Sub(snwAffine_Apply(map, model->centre), rounded);
        if (pose->kind == snw_skinningLinear)
            SetMatrix(&palette->handles[i], &map.linear, t);
        else
            SetDualQuaternion(&palette->handles[i], snwQuat_Normalize(pose->transforms[i].rotation), t);
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Running it

const snwSkinKernels* snwSkin_Kernels(snwSimd simd)
{
    const snwSkinKernels* kernels = NULL;
    switch (snwSimd_Resolve(simd))
    {
        case snw_simdAvx2:
            kernels = snwSkin_KernelsAvx2();
            break;
        case snw_simdBase:
            kernels = snwSkin_KernelsBase();
            break;
        default:
            break;
    }
    return kernels != NULL ? kernels : snwSkin_KernelsScalar();
}

typedef struct Work
{
    snwSkinKernelFn* kernel;
    const snwSkinModel* model;
    const snwSkinPalette* palette;
    const snwSkinningTarget* target;
} Work;

static void RunSkinBlocks(int begin, int end, void* data)
{
    const Work* work = data;
    work->kernel(work->model, work->palette, work->target, begin, end);
}

void snwSkinModel_Apply(
    snwContext* context, const snwSkinModel* model, const snwSkinPalette* palette, const snwSkinningTarget* target)
{
    const snwSkinKernels* kernels = snwSkin_Kernels(context->simd);
    bool linear = palette->kind == snw_skinningLinear;
    Work work = {linear ? kernels->linear : kernels->dualQuaternion, model, palette, target};
    snwParallelFor(context, model->blockCount, snw_skinGrain, RunSkinBlocks, &work);
}

// ---------------------------------------------------------------------------------------------------------------------
// The public object: a palette of its own and a model that may be shared

typedef struct Shared
{
    atomic_int references;
    snwSkinModel* model;
} Shared;

struct snwSkinning
{
    snwContext* context;
    Shared* shared;
    snwSkinPalette palette;
};

snwSkinningDef snwDefaultSkinningDef(void)
{
    return (snwSkinningDef){.stride = 3 * (int)sizeof(float)};
}

static void ReleaseShared(snwContext* context, Shared* shared)
{
    if (atomic_fetch_sub(&shared->references, 1) > 1)
        return;
    snwSkinModel_Destroy(context, shared->model);
    snwFree(context, shared);
}

// Takes one of the references of `shared`, also when it fails.
static snwResult NewSkinning(snwContext* context, Shared* shared, snwSkinning** out, snwMessage* message)
{
    snwSkinning* skinning = snwAlloc(context, sizeof *skinning);
    if (skinning == NULL)
    {
        ReleaseShared(context, shared);
        return snwFailMemory(message);
    }
    *skinning = (snwSkinning){.context = context, .shared = shared};
    snwResult result = snwSkinPalette_Create(context, shared->model->handleCount, &skinning->palette, message);
    if (result < 0)
        snwDestroySkinning(skinning);
    else
        *out = skinning;
    return result;
}

snwResult snwCreateSkinning(snwContext* context, const snwSkinningDef* def, snwSkinning** out, snwMessage* message)
{
    *out = NULL;
    snwSkinModel* model = NULL;
    snwResult result = snwSkinModel_Create(context, def, &model, message);
    if (model == NULL)
        return result;
    Shared* shared = snwAlloc(context, sizeof *shared);
    if (shared == NULL)
    {
        snwSkinModel_Destroy(context, model);
        return snwFailMemory(message);
    }
    atomic_init(&shared->references, 1);
    shared->model = model;
    return NewSkinning(context, shared, out, message);
}

snwResult snwSkinning_Share(snwSkinning* skinning, snwSkinning** other, snwMessage* message)
{
    *other = NULL;
    atomic_fetch_add(&skinning->shared->references, 1);
    return NewSkinning(skinning->context, skinning->shared, other, message);
}

void snwDestroySkinning(snwSkinning* skinning)
{
    if (skinning == NULL)
        return;
    snwContext* context = skinning->context;
    ReleaseShared(context, skinning->shared);
    snwSkinPalette_Free(context, &skinning->palette);
    snwFree(context, skinning);
}

snwResult snwSkinning_Apply(
    snwSkinning* skinning, const snwSkinningPose* pose, const snwSkinningTarget* target, snwMessage* message)
{
    const snwSkinModel* model = skinning->shared->model;
    bool normals = target->normals != NULL;
    if (target->positions == NULL || !IsStride(target->positionStride) || (normals && !IsStride(target->normalStride)))
        return snwFail(message, snw_errorArgument, NULL,
            "skinning needs positions to fill, and strides of whole floats, at least three");
    if (normals && !model->hasNormals)
        return snwFail(message, snw_errorArgument, NULL, "the skinning was made without normals");
    snwResult result = snwSkinPalette_Set(&skinning->palette, model, pose, message);
    if (result == snw_ok)
        snwSkinModel_Apply(skinning->context, model, &skinning->palette, target);
    return result;
}
