// What a bake is written as, on frames that are known exactly.

#include "blender.h"
#include "fixture.h"
#include "gltf_written.h"
#include "prepare_world.h"
#include "process.h"
#include "reel_world.h"
#include "test.h"
#include "validator.h"

#include "bake/bake.h"
#include "bake/key_fit.h"
#include "bake/morph_fit.h"
#include "base/context.h"
#include "linalg/symmetric.h"
#include "scene/file.h"

#include <stdlib.h>
#include <sys/stat.h>

static const char* TempPath(const char* name)
{
    static char paths[8][256];
    static int next;
    char* path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", snwTest_TempDir(), name);
    return path;
}

// ---------------------------------------------------------------------------------------------------------------------
// Fits

TEST(linalg, eigenvectorsOfSymmetricMatricesRebuildThem)
{
    enum
    {
        snw_n = 24
    };
    static double s_a[snw_n * snw_n], s_copy[snw_n * snw_n], s_values[snw_n], s_vectors[snw_n * snw_n];
    uint64_t seed = 5;
    for (int i = 0; i < snw_n; ++i)
        for (int j = 0; j <= i; ++j)
            s_a[i * snw_n + j] = s_a[j * snw_n + i] = snwTest_Random(&seed) - 0.5;
    memcpy(s_copy, s_a, sizeof s_a);
    snwSymmetric_Eigen(snw_n, s_a, s_values, s_vectors);
    double worst = 0, order = 0;
    for (int i = 0; i < snw_n; ++i)
        for (int j = 0; j < snw_n; ++j)
        {
            double sum = 0, dot = 0;
            for (int k = 0; k < snw_n; ++k)
            {
                sum += s_values[k] * s_vectors[k * snw_n + i] * s_vectors[k * snw_n + j];
                dot += s_vectors[i * snw_n + k] * s_vectors[j * snw_n + k];
            }
            worst = fmax(worst, fabs(sum - s_copy[i * snw_n + j]));
            worst = fmax(worst, fabs(dot - (i == j)));
        }
    for (int i = 1; i < snw_n; ++i)
        order = fmax(order, s_values[i] - s_values[i - 1]);
    CHECK(worst < 1e-13);
    CHECK(order <= 0);
}

enum
{
    snw_fitFrames = 30,
    snw_fitVertices = 70,
    snw_fitWidth = 3 * snw_fitVertices
};

// Offsets of `modes` shapes that swing, in mm, each half as strong as the one before.
static void MakeOffsets(int modes, double rate, float* offsets, float* stretch)
{
    uint64_t seed = 11;
    memset(offsets, 0, sizeof(float) * snw_fitFrames * snw_fitWidth);
    for (int m = 0; m < modes; ++m)
    {
        double phase = 6 * snwTest_Random(&seed), speed = rate * (0.1 + snwTest_Random(&seed));
        float shape[snw_fitWidth];
        for (int i = 0; i < snw_fitWidth; ++i)
            shape[i] = (float)(20 * pow(0.5, m) * (snwTest_Random(&seed) - 0.5));
        for (int f = 0; f < snw_fitFrames; ++f)
            for (int i = 0; i < snw_fitWidth; ++i)
                offsets[f * snw_fitWidth + i] += shape[i] * (float)sin(phase + speed * f);
    }
    for (int i = 0; i < snw_fitFrames * snw_fitVertices; ++i)
        stretch[i] = (float)(0.5 + snwTest_Random(&seed));
}

// The largest error, by the plainest sums.
static double ErrorOf(const snwMorphFitDef* def, const snwMorphFit* fit)
{
    double worst = 0;
    for (int f = 0; f < def->frameCount; ++f)
        for (int v = 0; v < def->vertexCount; ++v)
        {
            double square = 0, stretch = (double)def->stretch[f * def->vertexCount + v];
            for (int k = 3 * v; k < 3 * v + 3; ++k)
            {
                double left = (double)def->offsets[f * 3 * def->vertexCount + k];
                for (int t = 0; t < fit->targetCount; ++t)
                    left -= (double)fit->weights[f * fit->targetCount + t] * (double)fit->targets[t].offsets[k];
                square += left * left;
            }
            worst = fmax(worst, stretch * sqrt(square));
        }
    return worst;
}

static void CheckWeights(const snwMorphFit* fit, int frames)
{
    for (int t = 0; t < fit->targetCount; ++t)
    {
        float most = 0, least = 1;
        for (int f = 0; f < frames; ++f)
        {
            most = fmaxf(most, fit->weights[f * fit->targetCount + t]);
            least = fminf(least, fit->weights[f * fit->targetCount + t]);
        }
        CHECK(most == 1 && least >= 0);
    }
}

static float s_offsets[snw_fitFrames * snw_fitWidth], s_stretch[snw_fitFrames * snw_fitVertices];

static snwMorphFitDef FitDef(double tolerance)
{
    return (snwMorphFitDef){.offsets = s_offsets,
        .stretch = s_stretch,
        .frameCount = snw_fitFrames,
        .vertexCount = snw_fitVertices,
        .tolerance = tolerance,
        .maxTargets = 100};
}

TEST(outputs, fewTargetsKeepEveryVertexWithinTheTolerance)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    MakeOffsets(8, 1, s_offsets, s_stretch);
    int before = 1000;
    for (double tolerance = 0.05; tolerance < 20; tolerance *= 4)
    {
        snwArena arena = {.context = context};
        snwMorphFitDef def = FitDef(tolerance);
        snwMorphFit fit;
        REQUIRE(snwFitMorphs(context, &arena, &def, &fit, NULL) >= 0);
        CHECK(ErrorOf(&def, &fit) <= tolerance);
        CHECK_NEAR(ErrorOf(&def, &fit), fit.error, 1e-4);
        CheckWeights(&fit, snw_fitFrames);
        CHECK(fit.targetCount <= 9 && fit.targetCount <= before); // the modes and a constant; fewer if less is asked
        before = fit.targetCount;
        snwArena_Free(&arena);
    }
    CHECK(before >= 2 && before <= 4);
    snwDestroyContext(context);
}

TEST(outputs, tooFewTargetsSayWhatTheyReach)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    MakeOffsets(8, 1, s_offsets, s_stretch);
    snwMorphFitDef def = FitDef(0.05);
    def.maxTargets = 5;
    snwMorphFit fit;
    REQUIRE(snwFitMorphs(context, &arena, &def, &fit, NULL) >= 0);
    CHECK_INT(fit.targetCount, 5);
    CHECK(fit.error > def.tolerance);
    CHECK_NEAR(ErrorOf(&def, &fit), fit.error, 1e-4);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// Two halves that move by curves of their own: each target leaves one of them alone.
TEST(outputs, partsThatMoveApartHaveTargetsOfTheirOwn)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    MakeOffsets(0, 1, s_offsets, s_stretch);
    for (int f = 0; f < snw_fitFrames; ++f)
        for (int i = 0; i < snw_fitWidth; ++i)
        {
            int cycles = i / 3 < snw_fitVertices / 2 ? 3 : 5;
            double phase = 2 * 3.14159265358979 * cycles * f / snw_fitFrames;
            s_offsets[f * snw_fitWidth + i] = (float)((i % 7 - 3) * sin(phase));
        }
    snwMorphFitDef def = FitDef(0.05);
    snwMorphFit fit;
    REQUIRE(snwFitMorphs(context, &arena, &def, &fit, NULL) >= 0);
    int used = 0;
    for (int t = 1; t < fit.targetCount; ++t)
        for (int v = 0; v < snw_fitVertices; ++v)
        {
            const float* x = fit.targets[t].offsets + 3 * v;
            used += x[0] != 0 || x[1] != 0 || x[2] != 0;
        }
    CHECK(ErrorOf(&def, &fit) <= def.tolerance);
    CHECK_INT(fit.targetCount, 3);
    CHECK(used < 1.3 * snw_fitVertices);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// Vertices that move less need fewer targets to be as near.
TEST(outputs, verticesTakeNoMoreTargetsThanTheyNeed)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    MakeOffsets(8, 1, s_offsets, s_stretch);
    for (int i = 0; i < snw_fitFrames * snw_fitWidth; ++i)
        s_offsets[i] *= i % snw_fitWidth < snw_fitWidth / 2 ? 1 : 0.05f;
    snwMorphFitDef def = FitDef(0.1);
    snwMorphFit fit;
    REQUIRE(snwFitMorphs(context, &arena, &def, &fit, NULL) >= 0);
    int used[2] = {0};
    for (int t = 0; t < fit.targetCount; ++t)
        for (int v = 0; v < snw_fitVertices; ++v)
        {
            const float* x = fit.targets[t].offsets + 3 * v;
            used[v >= snw_fitVertices / 2] += x[0] != 0 || x[1] != 0 || x[2] != 0;
        }
    CHECK(ErrorOf(&def, &fit) <= def.tolerance);
    CHECK(used[0] > 0.6 * fit.targetCount * snw_fitVertices / 2);
    CHECK(used[1] < 0.6 * used[0]);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// Vertices of one place that a file splits, and that differ by less than anyone sees, get the very same targets.
TEST(outputs, seamsStayClosed)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    int twins[snw_fitVertices];
    MakeOffsets(8, 1, s_offsets, s_stretch);
    for (int v = 0; v < snw_fitVertices; ++v)
        twins[v] = v - v % 2;
    for (int i = 0; i < snw_fitFrames * snw_fitWidth; ++i)
        if (i / 3 % 2 == 1)
            s_offsets[i] = s_offsets[i - 3] + 1e-4f * (float)(i % 5);
    for (int i = 1; i < snw_fitFrames * snw_fitVertices; i += 2)
        s_stretch[i] = s_stretch[i - 1];
    snwMorphFitDef def = FitDef(0.2);
    def.twins = twins;
    snwMorphFit fit;
    REQUIRE(snwFitMorphs(context, &arena, &def, &fit, NULL) >= 0);
    REQUIRE(snwRoundMorphs(context, &arena, &def, &fit, NULL) >= 0);
    CHECK(ErrorOf(&def, &fit) <= 1.01 * def.tolerance);
    for (int t = 0; t < fit.targetCount; ++t)
        for (int v = 0; v < snw_fitVertices; v += 2)
            CHECK(memcmp(fit.targets[t].offsets + 3 * v, fit.targets[t].offsets + 3 * v + 3, 3 * sizeof(float)) == 0);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

TEST(outputs, shortNumbersKeepTheTolerance)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    for (int unit = 0; unit < 3; ++unit) // up to 1; beyond, without and with normals
    {
        snwArena arena = {.context = context};
        static float s_changes[snw_fitWidth];
        double size = unit == 0 ? 0.01 : 1;
        MakeOffsets(8, 1, s_offsets, s_stretch);
        for (int i = 0; i < snw_fitFrames * snw_fitWidth; ++i)
            s_offsets[i] *= (float)size;
        snwMorphFitDef def = FitDef(0.02 * size);
        snwMorphFit fit;
        REQUIRE(snwFitMorphs(context, &arena, &def, &fit, NULL) >= 0);
        REQUIRE(unit == 1 || snwMorphFit_BeginNormals(&fit, &arena, snw_fitVertices));
        for (int f = 0; f < snw_fitFrames && unit != 1; ++f)
        {
            for (int i = 0; i < snw_fitWidth; ++i)
                s_changes[i] = 0.02f * s_offsets[f * snw_fitWidth + i] / (float)size;
            snwMorphFit_AddNormals(&fit, f, s_changes, snw_fitVertices);
        }
        if (unit != 1)
            snwMorphFit_EndNormals(&fit, snw_fitVertices);
        REQUIRE(snwRoundMorphs(context, &arena, &def, &fit, NULL) >= 0);
        CHECK_INT(fit.numbers, unit == 0 ? snw_gltfShorts : unit == 1 ? snw_gltfWhole : snw_gltfSparse);
        CHECK(ErrorOf(&def, &fit) <= def.tolerance);
        CHECK_NEAR(ErrorOf(&def, &fit), fit.error, 1e-6 * size);
        double steps = unit == 0 ? 32767 : 1, off = 0, worst = 0;
        for (int t = 0; t < fit.targetCount; ++t)
            for (int i = 0; i < snw_fitWidth && unit != 2; ++i)
            {
                double x = steps * (double)fit.targets[t].offsets[i];
                off = fmax(off, fabs(x - round(x)));
            }
        for (int f = 0; f < snw_fitFrames; ++f)
            for (int i = 0; i < snw_fitWidth && unit != 1; ++i) // normals go with the same weights
            {
                double left = 0.02 * (double)s_offsets[f * snw_fitWidth + i] / size;
                for (int t = 0; t < fit.targetCount; ++t)
                    left -= (double)fit.weights[f * fit.targetCount + t] * (double)fit.targets[t].normals[i];
                worst = fmax(worst, fabs(left));
            }
        CHECK(off < 0.01);
        CHECK(worst < 0.02);
        for (int i = 0; i < snw_fitFrames * fit.targetCount; ++i)
            CHECK(fit.weights[i] >= 0 && fit.weights[i] <= 1);
        snwArena_Free(&arena);
    }
    snwDestroyContext(context);
}

static snwResult CountDown(double share, void* user)
{
    int* left = user;
    CHECK(share >= 0 && share <= 1);
    return --*left < 0 ? snw_errorInterrupted : snw_ok;
}

// Every round and every few vertices.
TEST(outputs, fitsStopWhenTheyAreTold)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    MakeOffsets(8, 1, s_offsets, s_stretch);
    int calls = 0;
    for (snwResult result = snw_errorInterrupted; result < 0; ++calls)
    {
        int left = calls;
        snwArena arena = {.context = context};
        snwMorphFitDef def = FitDef(0.05);
        def.progress = CountDown;
        def.user = &left;
        snwMorphFit fit;
        result = snwFitMorphs(context, &arena, &def, &fit, NULL);
        CHECK(result == snw_errorInterrupted || (result == snw_ok && left == 0));
        snwArena_Free(&arena);
    }
    CHECK(calls > 20);
    snwDestroyContext(context);
}

TEST(outputs, stillFleshNeedsNoTargets)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    MakeOffsets(0, 1, s_offsets, s_stretch);
    snwMorphFitDef def = FitDef(0.05);
    snwMorphFit fit;
    REQUIRE(snwFitMorphs(context, &arena, &def, &fit, NULL) >= 0);
    CHECK(fit.targetCount == 0 && fit.error == 0);
    REQUIRE(snwFitKeys(context, &arena, &def, &fit, NULL) >= 0);
    CHECK(fit.targetCount == 0 && fit.error == 0);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

TEST(outputs, keyFramesKeepTheToleranceOnTheLinesBetweenThem)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    MakeOffsets(3, 0.2, s_offsets, s_stretch);
    int before = 1000;
    for (double tolerance = 0.2; tolerance < 20; tolerance *= 5)
    {
        snwArena arena = {.context = context};
        snwMorphFitDef def = FitDef(tolerance);
        snwMorphFit fit;
        REQUIRE(snwFitKeys(context, &arena, &def, &fit, NULL) >= 0);
        CHECK(ErrorOf(&def, &fit) <= tolerance + 1e-4);
        CHECK_NEAR(ErrorOf(&def, &fit), fit.error, 1e-4);
        CheckWeights(&fit, snw_fitFrames);
        CHECK(fit.targetCount <= before);
        before = fit.targetCount;
        snwArena_Free(&arena);
    }
    CHECK(before >= 2 && before < snw_fitFrames / 2);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Documents

typedef struct Written
{
    snwReelWorld world;
    snwBakeOutputDef def;
    snwBakeOutputReport report;
    snwMessage message;
    snwResult result;
} Written;

// A bake of the dancing tube, in a file that counts centimetres.
static Written WriteDef(snwContext* context, const char* name, const snwBakeOutputDef* def)
{
    Written w = {.def = *def};
    snwReelWorld_Make(context, snwReelWorld_Document(context, 0.01), 0.01, 0.02, &w.world);
    w.def.path = TempPath(name);
    w.def.overwrite = true;
    w.world.reel.user = &w.world;
    w.world.reel.surfaces = w.world.surfaces;
    w.world.reel.path = TempPath("blend-source.glb");
    snwBakeWriting writing = {context, &w.world.reel, &w.def, &w.report, &w.message};
    w.result = snwBakeWriting_Write(&writing);
    if (w.result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", name, w.message.text);
    return w;
}

static Written Write(snwContext* context, const char* name, snwBakeFormat format)
{
    snwBakeOutputDef def = snwDefaultBakeOutputDef();
    def.format = format;
    return WriteDef(context, name, &def);
}

static snwAsset* Reopen(const Written* w)
{
    snwAsset* asset = NULL;
    snwMessage message = {0};
    if (snwAsset_Open(w->world.context, w->def.path, &asset, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    return asset;
}

// The largest error of what another reader sees, m.
static double PlayedError(Written* w, const snwAsset* asset)
{
    double worst = 0;
    for (int frame = 0; frame < snw_reelFrames; ++frame)
        for (int s = 0; s < 2; ++s)
        {
            const snwReelSurface* surface = &w->world.surfaces[s];
            snwVec3* truth = snwReelWorld_Truth(&w->world, s, frame);
            snwVec3* played = snwReelWorld_Evaluate(asset, 1, surface->node, frame / 24.0);
            for (int i = 0; i < asset->meshes[surface->mesh].vertexCount; ++i)
                worst = fmax(worst, 0.01 * snwVec3_Distance(truth[i], played[i]));
            free(truth);
            free(played);
        }
    return worst;
}

TEST(outputs, aGlbKeepsItsSkinAndPlaysTheFrames)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    Written w = Write(context, "soft.glb", snw_bakeAuto);
    snwAsset* asset = Reopen(&w);
    REQUIRE(asset != NULL);
    double error = PlayedError(&w, asset);
    CHECK(error <= 1.0001e-3 && error > 0);
    CHECK_NEAR(error, w.report.maxError, 2e-6);
    CHECK(w.report.rmsError > 0 && w.report.rmsError < w.report.maxError);
    int body = w.world.surfaces[0].node, mesh = w.world.surfaces[0].mesh;
    CHECK(asset->nodes[body].skin >= 0);
    CHECK_INT(
        w.report.targets, asset->meshes[mesh].morphCount - 1 + asset->meshes[w.world.surfaces[1].mesh].morphCount);
    CHECK(w.report.targets >= 4 && w.report.targets <= 30);
    CHECK(strcmp(asset->meshes[mesh].morphs[0].name, "smile") == 0);
    for (int i = 0; i < asset->meshes[mesh].morphCount; ++i)
        CHECK(i == 0 || asset->meshes[mesh].morphs[i].normals != NULL);
    CHECK_INT(w.report.fileCount, 1);
    CHECK_INT(asset->animationCount, 2);
    snwAsset_Close(asset);
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

// 1 mm on a person; a giant gets fewer targets, and a file is told against its source.
TEST(outputs, theToleranceGoesWithTheSize)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    int targets[2];
    for (int giant = 0; giant < 2; ++giant)
    {
        snwBakeOutputReport report;
        snwMessage message = {0};
        snwReelWorld world;
        snwReelWorld_Make(context, snwReelWorld_Document(context, 0.01), 0.01, 0.02, &world);
        world.reel.user = &world;
        world.reel.surfaces = world.surfaces;
        world.reel.size = giant ? 7.5 : 1.5;
        world.reel.madeBytes = 1000;
        snwBakeOutputDef def = snwDefaultBakeOutputDef();
        def.path = TempPath("giant.glb");
        def.overwrite = true;
        snwBakeWriting writing = {context, &world.reel, &def, &report, &message};
        REQUIRE(snwBakeWriting_Write(&writing) >= 0);
        CHECK_NEAR(report.tolerance, giant ? 5e-3 : 1e-3, 1e-12);
        CHECK(report.maxError <= report.tolerance && report.maxError > 0.2 * report.tolerance);
        CHECK_CONTAINS(report.notes[0], "morph targets carry 25 frames, within");
        CHECK_CONTAINS(report.notes[0], "times the source's bytes");
        targets[giant] = report.targets;
        snwReelWorld_Free(&world);
    }
    CHECK(targets[1] < targets[0]);
    snwDestroyContext(context);
}

// Weights that go below 0 or beyond 1 are cut off by what people use.
TEST(outputs, weightsOfTargetsStayFromZeroToOne)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Written w = Write(context, "weights.glb", snw_bakeGlb);
    snwAsset* asset = Reopen(&w);
    REQUIRE(asset != NULL);
    int found = 0;
    for (int c = 0; c < asset->animations[1].channelCount; ++c)
    {
        const snwAssetChannel* channel = &asset->animations[1].channels[c];
        if (channel->path != snw_pathMorphs)
            continue;
        ++found;
        for (int i = 0; i < channel->keyCount * channel->width; ++i)
            CHECK(channel->values[i] >= 0 && channel->values[i] <= 1);
    }
    CHECK_INT(found, 2);
    snwAsset_Close(asset);
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

static const char* ViewBytes(const snwGltf* gltf, size_t view, size_t* size)
{
    const json_t* item = json_array_get(json_object_get(gltf->root, "bufferViews"), view);
    *size = (size_t)json_integer_value(json_object_get(item, "byteLength"));
    return (const char*)gltf->buffers[json_integer_value(json_object_get(item, "buffer"))].data +
           json_integer_value(json_object_get(item, "byteOffset"));
}

// Views of the source that are empty now; the others have their bytes.
static int CountDropped(const snwGltf* before, const snwGltf* after)
{
    int dropped = 0;
    for (size_t i = 0; i < json_array_size(json_object_get(before->root, "bufferViews")); ++i)
    {
        size_t one = 0, two = 0;
        const char *a = ViewBytes(before, i, &one), *b = ViewBytes(after, i, &two);
        bool gone = two == 4 && one > 4;
        dropped += gone;
        CHECK(gone || (one == two && memcmp(a, b, one) == 0));
    }
    return dropped;
}

// Numbers of animations, nothing else, that no sampler reads although they have bytes.
static int CountUseless(const snwGltf* gltf)
{
    const json_t* accessors = json_object_get(gltf->root, "accessors");
    int useless = 0;
    for (size_t i = 0; i < json_array_size(accessors); ++i)
    {
        const json_t* item = json_array_get(accessors, i);
        bool used = json_object_get(item, "bufferView") == NULL ||
                    strcmp(json_string_value(json_object_get(item, "type")), "SCALAR") != 0 ||
                    json_integer_value(json_object_get(item, "componentType")) != snw_gltfFloat;
        const json_t* animations = json_object_get(gltf->root, "animations");
        for (size_t a = 0; a < json_array_size(animations) && !used; ++a)
        {
            const json_t* samplers = json_object_get(json_array_get(animations, a), "samplers");
            for (size_t s = 0; s < json_array_size(samplers) && !used; ++s)
            {
                const json_t* sampler = json_array_get(samplers, s);
                used = (size_t)json_integer_value(json_object_get(sampler, "input")) == i ||
                       (size_t)json_integer_value(json_object_get(sampler, "output")) == i;
            }
        }
        useless += !used;
    }
    return useless;
}

TEST(outputs, whatWasNotBakedComesOutUnchanged)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Written w = Write(context, "others.glb", snw_bakeGlb);
    snwAsset* asset = Reopen(&w);
    REQUIRE(asset != NULL);
    for (int s = 0; s < 2; ++s)
        for (int i = 0; i <= 20; ++i) // the other clip shows no flesh
        {
            int node = w.world.surfaces[s].node;
            snwVec3* before = snwReelWorld_Evaluate(w.world.asset, 0, node, i / 20.0);
            snwVec3* after = snwReelWorld_Evaluate(asset, 0, node, i / 20.0);
            CHECK(memcmp(before, after, (s == 0 ? snw_tubeVertices : snw_hatVertices) * sizeof *before) == 0);
            free(before);
            free(after);
        }
    // Players that keep the weights of the clip before must find some in this one.
    for (int s = 0; s < 2; ++s)
    {
        int held = 0;
        for (int c = 0; c < asset->animations[0].channelCount; ++c)
        {
            const snwAssetChannel* channel = &asset->animations[0].channels[c];
            held += channel->node == w.world.surfaces[s].node && channel->path == snw_pathMorphs;
        }
        CHECK_INT(held, 1);
    }
    static const char* const s_lists[] = {"nodes", "skins", "scenes"};
    for (int i = 0; i < 3; ++i)
        CHECK(json_equal(
            json_object_get(asset->gltf->root, s_lists[i]), json_object_get(w.world.asset->gltf->root, s_lists[i])));
    CHECK_INT(CountDropped(w.world.asset->gltf, asset->gltf), 2); // times and weights of smiles: the new ones have them
    CHECK_INT(CountUseless(asset->gltf), 0);
    snwAsset_Close(asset);
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

TEST(outputs, morphsAreKeyFramesWithoutSkin)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Written w = Write(context, "morphs.glb", snw_bakeMorphs);
    snwAsset* asset = Reopen(&w);
    REQUIRE(asset != NULL);
    double error = PlayedError(&w, asset);
    CHECK(error <= 1.0001e-3);
    CHECK_NEAR(error, w.report.maxError, 2e-6);
    CHECK_INT(asset->nodes[w.world.surfaces[0].node].skin, -1);
    CHECK(w.report.targets <= 2 * snw_reelFrames);
    snwAsset_Close(asset);
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

static int MostInfluences(const Written* w, const snwAsset* asset)
{
    int most = 0;
    const snwAssetWeights* weights = &asset->meshes[w->world.surfaces[0].mesh].weights;
    for (int i = 0; i < snw_tubeVertices; ++i)
        most = weights->starts[i + 1] - weights->starts[i] > most ? weights->starts[i + 1] - weights->starts[i] : most;
    return most;
}

TEST(outputs, helperJointsFollowTheFlesh)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    Written w = Write(context, "joints.glb", snw_bakeJoints);
    snwAsset* asset = Reopen(&w);
    REQUIRE(asset != NULL);
    double error = PlayedError(&w, asset);
    CHECK_NEAR(error, w.report.maxError, 2e-5);
    CHECK(error <= 1.001e-3 && w.report.rmsError < 0.5e-3); // of flesh that swings by 20 mm
    const snwAssetSkin* skin = &asset->skins[asset->nodes[w.world.surfaces[0].node].skin];
    CHECK(skin->jointCount > 3 && skin->jointCount < 3 + 40);
    CHECK(MostInfluences(&w, asset) > 4 && MostInfluences(&w, asset) <= 8);
    CHECK(w.report.noteCount >= 2);
    CHECK_CONTAINS(w.report.notes[1], "--influences 4");
    snwAsset_Close(asset);
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

// Helpers rest in clips that were not baked, and the source is what is seen there: also where the fit gives a vertex a
// helper of its own.
TEST(outputs, helperJointsLeaveOtherClipsAlone)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int few = 0; few < 2; ++few)
    {
        snwBakeOutputDef def = snwDefaultBakeOutputDef();
        def.format = snw_bakeJoints;
        def.most = few ? 24 : 0;
        Written w = WriteDef(context, "still.glb", &def);
        snwAsset* asset = Reopen(&w);
        REQUIRE(asset != NULL);
        snwAgainstDef against = {.source = w.world.asset, .written = asset, .clip = -1};
        snwAgainst result;
        CHECK(snwCompareAgainst(context, &against, &result, NULL) >= 0);
        double tolerance = fmax(w.report.maxError, w.report.tolerance) / 0.01 / result.size;
        CHECK(result.bare > 0 && result.bare < 1.2 * tolerance);
        CHECK_INT(result.torn, 0);
        snwAsset_Close(asset);
        snwReelWorld_Free(&w.world);
    }
    snwDestroyContext(context);
}

// What the new weights and bind matrices replace takes no bytes, and what is left reads as before.
TEST(outputs, helperJointsDropWhatTheyReplace)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Written w = Write(context, "dropped.glb", snw_bakeJoints);
    snwAsset* asset = Reopen(&w);
    REQUIRE(asset != NULL);
    const json_t *before = w.world.asset->gltf->root, *after = json_object_get(asset->gltf->root, "accessors");
    const json_t* skin = json_array_get(json_object_get(before, "skins"), 0);
    const json_t* mesh = json_array_get(json_object_get(before, "meshes"), (size_t)w.world.surfaces[0].mesh);
    const json_t* part = json_object_get(json_array_get(json_object_get(mesh, "primitives"), 0), "attributes");
    const json_t* gone[] = {json_object_get(part, "JOINTS_0"), json_object_get(part, "WEIGHTS_0"),
        json_object_get(skin, "inverseBindMatrices")};
    for (int i = 0; i < 3; ++i)
    {
        REQUIRE(json_is_integer(gone[i]));
        CHECK(json_object_get(json_array_get(after, (size_t)json_integer_value(gone[i])), "bufferView") == NULL);
    }
    const json_t* kept = json_array_get(after, (size_t)json_integer_value(json_object_get(part, "POSITION")));
    CHECK(json_object_get(kept, "bufferView") != NULL);
    for (int i = 0; i <= 10; ++i) // the other clip
    {
        snwVec3* one = snwReelWorld_Evaluate(w.world.asset, 0, w.world.surfaces[1].node, i / 10.0);
        snwVec3* two = snwReelWorld_Evaluate(asset, 0, w.world.surfaces[1].node, i / 10.0);
        CHECK(memcmp(one, two, snw_hatVertices * sizeof *one) == 0);
        free(one);
        free(two);
    }
    snwAsset_Close(asset);
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

TEST(outputs, compressedFilesPlayTheFrames)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 2; ++i)
    {
        snwBakeOutputDef def = snwDefaultBakeOutputDef();
        def.format = i == 0 ? snw_bakeGlb : snw_bakeJoints;
        Written plain = WriteDef(context, "plain.glb", &def);
        def.compress = true;
        Written w = WriteDef(context, i == 0 ? "packed.glb" : "packed-joints.glb", &def);
        snwAsset* asset = Reopen(&w);
        REQUIRE(asset != NULL);
        double error = PlayedError(&w, asset);
        CHECK(error <= 1.001e-3 && error > 0);
        CHECK_NEAR(error, w.report.maxError, 2e-5);
        CHECK(w.report.bytes[0] < 0.9 * plain.report.bytes[0]);
        CHECK_INT(w.report.targets, plain.report.targets);
        for (int s = 0; s < 2; ++s)
        {
            const snwAssetMesh* one = &plain.world.asset->meshes[w.world.surfaces[s].mesh];
            const snwAssetMesh* two = &asset->meshes[w.world.surfaces[s].mesh];
            CHECK(memcmp(one->positions, two->positions, (size_t)one->vertexCount * sizeof *one->positions) == 0);
        }
        snwAsset_Close(asset);
        snwReelWorld_Free(&w.world);
        snwReelWorld_Free(&plain.world);
    }
    snwDestroyContext(context);
}

TEST(outputs, autoSaysWhyItTakesMorphTargets)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBakeOutputDef def = snwDefaultBakeOutputDef();
    def.choose = true;
    Written w = WriteDef(context, "auto.glb", &def);
    CHECK_CONTAINS(w.report.notes[w.report.noteCount - 1], "auto: morph targets");
    CHECK_CONTAINS(w.report.notes[w.report.noteCount - 1], "helper joints would take more");
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

// A fine sheet of one bone, of which one half swings stiffly about two axes.
enum
{
    snw_sheetSide = 50,
    snw_sheetVertices = snw_sheetSide * snw_sheetSide,
    snw_sheetFrames = 24
};

typedef struct Sheet
{
    int frame;
    float rows[snw_sheetVertices][6];
} Sheet;

static snwVec3 SheetAt(int vertex)
{
    return (snwVec3){0.02 * (vertex % snw_sheetSide), 0, 0.02 * (vertex / snw_sheetSide - snw_sheetSide / 2)};
}

static snwResult ReadSheet(void* user, int frame, double* clipTime, snwMessage* message)
{
    (void)message;
    ((Sheet*)user)->frame = frame;
    *clipTime = frame / 24.0;
    return snw_ok;
}

static snwResult GetSheet(void* user, int index, snwSkin* skin, snwMessage* message)
{
    Sheet* sheet = user;
    (void)index, (void)message;
    snwQuat turn = snwQuat_Mul(snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, 0.5 * sin(0.5 * sheet->frame)),
        snwQuat_FromAxisAngle((snwVec3){0, 1, 0}, 0.4 * sin(0.8 * sheet->frame)));
    for (int i = 0; i < snw_sheetVertices; ++i)
    {
        snwVec3 x = SheetAt(i), n = {0, 1, 0};
        x = i < snw_sheetVertices / 2 ? snwQuat_Rotate(turn, x) : x;
        n = i < snw_sheetVertices / 2 ? snwQuat_Rotate(turn, n) : n;
        for (int k = 0; k < 3; ++k)
            sheet->rows[i][k] = (float)(&x.x)[k], sheet->rows[i][3 + k] = (float)(&n.x)[k];
    }
    *skin = (snwSkin){.positions = sheet->rows[0],
        .normals = sheet->rows[0] + 3,
        .vertexCount = snw_sheetVertices,
        .stride = (int)sizeof sheet->rows[0]};
    return snw_ok;
}

static snwAsset* MakeSheet(snwContext* context)
{
    static snwVec3 s_positions[snw_sheetVertices];
    static float s_normals[snw_sheetVertices][3];
    static int s_triangles[2 * snw_sheetVertices][3], s_starts[snw_sheetVertices + 1], s_bones[snw_sheetVertices];
    static double s_weights[snw_sheetVertices];
    int count = 0;
    for (int i = 0; i < snw_sheetVertices; ++i)
    {
        s_positions[i] = SheetAt(i);
        s_normals[i][1] = 1;
        s_weights[i] = 1;
        s_starts[i + 1] = i + 1;
        int below = i + snw_sheetSide;
        if (below >= snw_sheetVertices || (i + 1) % snw_sheetSide == 0)
            continue;
        memcpy(s_triangles[count++], (int[]){i, below, i + 1}, sizeof s_triangles[0]);
        memcpy(s_triangles[count++], (int[]){i + 1, below, below + 1}, sizeof s_triangles[0]);
    }
    snwGltfWriter* writer = snwWritten_Open(context, NULL);
    snwGltfNodeDef bone = snwDefaultGltfNodeDef(), body = snwDefaultGltfNodeDef();
    bone.name = "bone";
    int joint = snwGltfWriter_AddNode(writer, &bone);
    snwAffine bind = {snwMat3_Identity(), {0, 0, 0}};
    snwAssetSkin skin = {.name = "rig", .joints = &joint, .inverseBinds = &bind, .jointCount = 1, .root = joint};
    snwAssetPart part = {"sheet", "", 0, snw_sheetVertices, 0, count};
    snwAssetMesh mesh = {.name = "sheet",
        .positions = s_positions,
        .vertexCount = snw_sheetVertices,
        .normals = (const float(*)[3])s_normals,
        .triangles = (const int(*)[3])s_triangles,
        .triangleCount = count,
        .parts = &part,
        .partCount = 1,
        .weights = {s_starts, s_bones, s_weights, 1}};
    snwGltfMeshDef def = {.mesh = &mesh, .influences = 4};
    body.name = "body";
    body.mesh = snwGltfWriter_AddMesh(writer, &def);
    body.skin = snwGltfWriter_AddSkin(writer, &skin);
    snwGltfWriter_AddNode(writer, &body);
    double times[2] = {0, 1}, still[6] = {0};
    snwAssetChannel channel = {joint, snw_pathTranslation, snw_assetLinear, times, 2, 3, still};
    snwAssetAnimation animation = {.name = "still", .channels = &channel, .channelCount = 1};
    snwGltfWriter_AddAnimation(writer, &animation);
    return snwWritten_Reopen(context, writer, snw_gltfGlb);
}

TEST(outputs, autoTakesHelperJointsWhereTheyAreSmaller)
{
    static Sheet s_sheet;
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwAsset* asset = MakeSheet(context);
    snwReelSurface surface = {"body", 0, 1, 0, NULL};
    snwReel reel = {.asset = asset,
        .animation = 0,
        .clip = "still",
        .frameCount = snw_sheetFrames,
        .rate = 24,
        .scale = 1,
        .size = 1,
        .surfaces = &surface,
        .surfaceCount = 1,
        .read = ReadSheet,
        .get = GetSheet,
        .user = &s_sheet};
    static snwBakeOutputReport s_report;
    double bytes[2] = {0};
    for (int any = 0; any < 2; ++any)
    {
        snwBakeOutputDef def = snwDefaultBakeOutputDef();
        snwMessage message = {0};
        def.path = TempPath("sheet.glb");
        def.choose = any;
        def.overwrite = true;
        snwBakeWriting writing = {context, &reel, &def, &s_report, &message};
        REQUIRE(snwBakeWriting_Write(&writing) >= 0);
        bytes[any] = s_report.bytes[0];
    }
    CHECK_CONTAINS(s_report.notes[s_report.noteCount - 1], "auto: helper joints");
    CHECK(bytes[1] < 0.8 * bytes[0] && s_report.maxError <= s_report.tolerance);
    snwAsset* written = NULL;
    REQUIRE(snwAsset_Open(context, TempPath("sheet.glb"), &written, NULL) >= 0);
    CHECK(written->skins[0].jointCount > 1 && written->meshes[0].morphCount == 0);
    snwAsset_Close(written);
    snwAsset_Close(asset);
    snwDestroyContext(context);
}

TEST(outputs, helperJointsAndInfluencesAreNoMoreThanAsked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBakeOutputDef def = snwDefaultBakeOutputDef();
    def.format = snw_bakeJoints;
    def.most = 5;
    def.influences = 4;
    Written w = WriteDef(context, "fewjoints.glb", &def);
    snwAsset* asset = Reopen(&w);
    REQUIRE(asset != NULL);
    CHECK_INT(asset->skins[asset->nodes[w.world.surfaces[0].node].skin].jointCount, 3 + 5);
    CHECK_INT(MostInfluences(&w, asset), 4);
    CHECK_NEAR(PlayedError(&w, asset), w.report.maxError, 2e-5);
    CHECK(w.report.maxError > 1e-3 && w.report.maxError < 10e-3);
    CHECK_CONTAINS(w.report.notes[1], "5 helper joints come within");
    snwAsset_Close(asset);
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

TEST(outputs, theValidatorFindsNoErrors)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const snwBakeFormat s_formats[] = {snw_bakeGlb, snw_bakeMorphs, snw_bakeJoints, snw_bakeGlb, snw_bakeJoints};
    static const char* const s_names[] = {"valid0.glb", "valid1.glb", "valid2.glb", "valid3.glb", "valid4.glb"};
    const char* paths[5];
    snwVerdict verdicts[5];
    for (int i = 0; i < 5; ++i)
    {
        snwBakeOutputDef def = snwDefaultBakeOutputDef();
        def.format = s_formats[i];
        def.compress = i >= 3;
        Written w = WriteDef(context, s_names[i], &def);
        paths[i] = w.def.path;
        snwReelWorld_Free(&w.world);
    }
    snwDestroyContext(context);
    if (!snwValidate(paths, 5, verdicts))
        SKIP("the glTF validator is not here");
    for (int i = 0; i < 5; ++i)
        CHECK_INT(verdicts[i].errors, 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Caches

// The document with its vertices numbered as an artist may have had them: backwards, and each ring's last vertex on top
// of its first.
static snwAsset* Numbered(snwContext* context)
{
    snwAsset* plain = snwReelWorld_Document(context, 0.01);
    snwGltfWriter* writer = snwWritten_Open(context, plain);
    int numbers[snw_tubeVertices], mesh = 0;
    while (plain->meshes[mesh].vertexCount != snw_tubeVertices)
        ++mesh;
    for (int i = 0; i < snw_tubeVertices; ++i)
        numbers[i] = i < 2 ? snw_tubeVertices - 2 : snw_tubeVertices - 1 - i;
    snwGltfWriter_SetVertexIds(writer, mesh, 0, numbers, snw_tubeVertices);
    snwAsset* asset = snwWritten_Reopen(context, writer, snw_gltfGlb);
    snwAsset_Close(plain);
    return asset;
}

static snwAssetCache OpenCache(snwContext* context, const char* path, snwAsset** asset)
{
    snwMessage message = {0};
    *asset = NULL;
    if (snwAsset_Open(context, path, asset, &message) < 0)
    {
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", path, message.text);
        return (snwAssetCache){0};
    }
    return (*asset)->cache;
}

// The largest difference to the truth, in the file's unit. map: vertex of each point, NULL: the same.
static double CacheError(Written* w, int surface, const snwAssetCache* cache, const int* map, const snwAffine* places)
{
    double worst = 0;
    for (int frame = 0; frame < cache->frameCount; ++frame)
    {
        snwVec3* truth = snwReelWorld_Truth(&w->world, surface, frame);
        for (int i = 0; i < cache->pointCount; ++i)
        {
            const float* p = cache->positions + 3 * ((size_t)frame * (size_t)cache->pointCount + (size_t)i);
            snwVec3 x = {(double)p[0], (double)p[2], -(double)p[1]}; // Z up -> Y up
            if (places != NULL)
                x = snwAffine_Apply(places[frame], x);
            worst = fmax(worst, snwVec3_Distance(x, truth[map != NULL ? map[i] : i]));
        }
        free(truth);
    }
    return worst;
}

TEST(outputs, cachesHoldTheFramesInTheSpaceOfTheirObject)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const char* const s_names[] = {"cache.pc2", "cache.mdd"};
    for (int format = 0; format < 2; ++format)
    {
        Written w = Write(context, s_names[format], snw_bakeAuto);
        CHECK_INT(w.report.fileCount, 3); // two surfaces and the script
        snwAffine places[snw_reelFrames];
        for (int frame = 0; frame < snw_reelFrames; ++frame)
        {
            snwAssetPoser_Pose(&w.world.poser, &w.world.asset->animations[1], frame / 24.0);
            places[frame] = w.world.poser.places[w.world.surfaces[1].node];
        }
        for (int s = 0; s < 2; ++s)
        {
            snwAsset* asset;
            snwAssetCache cache = OpenCache(context, w.report.files[s], &asset);
            CHECK_INT(cache.frameCount, snw_reelFrames);
            CHECK_INT(cache.pointCount, s == 0 ? snw_tubeVertices : snw_hatVertices);
            CHECK(CacheError(&w, s, &cache, NULL, s == 1 ? places : NULL) < 1e-5 * 120); // of the size: 120 cm
            snwAsset_Close(asset);
        }
        snwReelWorld_Free(&w.world);
    }
    snwDestroyContext(context);
}

TEST(outputs, cachesAreInTheArtistsOrderWhereTheFileTellsIt)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Written w = {.def = snwDefaultBakeOutputDef()};
    snwReelWorld_Make(context, Numbered(context), 0.01, 0.02, &w.world);
    w.def.path = TempPath("own.pc2");
    w.def.overwrite = true;
    w.world.reel.surfaceCount = 1;
    snwBakeWriting writing = {context, &w.world.reel, &w.def, &w.report, &w.message};
    REQUIRE(snwBakeWriting_Write(&writing) >= 0);
    CHECK(strcmp(w.report.files[0], w.def.path) == 0);
    snwAsset* asset;
    snwAssetCache cache = OpenCache(context, w.report.files[0], &asset);
    REQUIRE(asset != NULL);
    int map[snw_tubeVertices];
    for (int i = 0; i < snw_tubeVertices; ++i)
        map[i] = i == snw_tubeVertices - 2 ? 0 : snw_tubeVertices - 1 - i;
    CHECK_INT(cache.pointCount, snw_tubeVertices - 1);
    CHECK(CacheError(&w, 0, &cache, map, NULL) < 1e-5 * 120);
    snwAsset_Close(asset);
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

TEST(outputs, objFilesStandInTheWorldOneByOne)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Written w = Write(context, "frames.obj", snw_bakeAuto);
    CHECK_INT(w.report.fileCount, 2 * snw_reelFrames);
    for (int frame = 0; frame < snw_reelFrames; frame += 8)
        for (int s = 0; s < 2; ++s)
        {
            snwAsset* asset = NULL;
            REQUIRE(snwAsset_Open(context, w.report.files[2 * frame + s], &asset, NULL) >= 0);
            snwVec3* truth = snwReelWorld_Truth(&w.world, s, frame);
            double worst = 0;
            CHECK_INT(asset->meshes[0].vertexCount, s == 0 ? snw_tubeVertices : snw_hatVertices);
            for (int i = 0; i < asset->meshes[0].vertexCount; ++i)
                worst = fmax(worst, snwVec3_Distance(truth[i], asset->meshes[0].positions[i]));
            CHECK(worst < 1e-5 * 120);
            free(truth);
            snwAsset_Close(asset);
        }
    snwReelWorld_Free(&w.world);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sources without a document

// A prepared character alone, without the file it was made of.
static snwResult Prepare(snwContext* context, const char* path, snwMessage* message)
{
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    void* data = NULL;
    size_t size = 0;
    def.elements = 150;
    snwResult result = snwPrepareFile(
        context, snwPrepareWorld_Write(&(snwPrepareWorld){.hat = true}, "made", NULL), &def, &prepared, NULL, message);
    if (result >= 0)
        result = snwPrepared_Save(prepared, &data, &size, message);
    if (result >= 0)
        result = snwFile_Write(context, path, data, size, true, message);
    remove(TempPath("made.glb"));
    snwContext_Free(context, data);
    if (prepared != NULL)
        snwPrepared_Release(prepared);
    return result;
}

// m: how far the first surface of the file is from the bake's, over all frames.
static double MadeError(snwBakeFrames* frames, const snwAsset* asset)
{
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);
    int node = 0;
    while (asset->nodes[node].mesh < 0)
        ++node;
    double worst = 0;
    for (int f = 0; f < info.frameCount; ++f)
    {
        snwSkin skin;
        if (snwBakeFrames_Read(frames, f, NULL, NULL) < 0 ||
            snwBakeFrames_GetSurface(frames, info.surfaces[0], &skin, NULL) < 0 ||
            skin.vertexCount != asset->meshes[asset->nodes[node].mesh].vertexCount)
            return INFINITY;
        snwVec3* played = snwReelWorld_Evaluate(asset, 0, node, f / info.rate);
        for (int i = 0; i < skin.vertexCount; ++i)
        {
            const float* x = (const float*)((const char*)skin.positions + (size_t)i * (size_t)skin.stride);
            snwVec3 asked = {(double)x[0], (double)x[1], (double)x[2]};
            worst = fmax(worst, snwVec3_Distance(asked, played[i]));
        }
        free(played);
    }
    return worst;
}

// m: how far the joints of the file take a point from where the artist's bones do, in the last frame.
static double BonesError(snwBakeFrames* frames, const snwAsset* asset)
{
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);
    snwBakeFrame last;
    snwArena arena = {.context = asset->context};
    snwAssetPoser poser;
    double worst = 0;
    if (snwBakeFrames_Read(frames, info.frameCount - 1, &last, NULL) < 0 ||
        snwAssetPoser_Make(asset, &arena, &poser, NULL) < 0)
        return INFINITY;
    snwAssetPoser_Pose(&poser, &asset->animations[0], (info.frameCount - 1) / info.rate);
    for (int i = 0; i < asset->skins[0].jointCount; ++i)
    {
        snwVec3 point = {0.7, 0.1, -0.2};
        snwAffine bend = snwAffine_Compose(poser.places[asset->skins[0].joints[i]], asset->skins[0].inverseBinds[i]);
        snwTransform bone = *(const snwTransform*)((const char*)last.bones.data + i * last.bones.stride);
        worst = fmax(worst, snwVec3_Distance(snwAffine_Apply(bend, point), snwTransform_Apply(bone, point)));
    }
    snwArena_Free(&arena);
    return worst;
}

TEST(outputs, sourcesWithoutADocumentGetOne)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBakeDef def = snwDefaultBakeDef();
    snwMessage message = {0};
    snwBake* bake = NULL;
    json_t* words = json_pack("{s:f, s:f}", "end", 0.3, "preroll", 0.1);
    char source[256], folder[256];
    snprintf(source, sizeof source, "%s", TempPath("alone.snw"));
    snprintf(folder, sizeof folder, "%s", TempPath("alone.bake"));
    def.source = source;
    def.folder = folder;
    def.words = words;
    snwResult result = Prepare(context, source, &message);
    if (result >= 0)
        result = snwBake_Open(context, &def, &bake, &message);
    if (result >= 0)
        result = snwBake_Run(bake, &message);
    snwBakeOutputDef out = snwDefaultBakeOutputDef();
    static snwBakeOutputReport s_report;
    out.path = TempPath("alone.glb");
    snwAsset* asset = NULL;
    if (result >= 0)
        result = snwBakeOutput_Write(context, snwBake_GetFrames(bake), &out, &s_report, &message);
    if (result >= 0)
        result = snwAsset_Open(context, out.path, &asset, &message);
    if (result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s (%s)", message.text, message.remedy);
    else
    {
        CHECK(snwBakeFrames_GetInfo(snwBake_GetFrames(bake)).asset == NULL);
        CHECK(asset->skinCount == 1 && asset->animationCount == 1);
        CHECK(s_report.maxError > 0 && s_report.maxError <= 1e-3);
        CHECK(MadeError(snwBake_GetFrames(bake), asset) <= s_report.maxError + 1e-6);
        CHECK(BonesError(snwBake_GetFrames(bake), asset) < 1e-6);
    }
    snwAsset_Close(asset);
    snwBake_Close(bake);
    json_decref(words);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Failures

TEST(outputs, nothingIsOverwrittenUnasked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwMessage message = {0};
    snwBakeOutputDef def = snwDefaultBakeOutputDef();
    def.path = TempPath("there.glb");
    FILE* file = fopen(def.path, "wb");
    REQUIRE(file != NULL);
    fclose(file);
    CHECK(snwBakeOutput_Check(context, &def, NULL, &message) < 0);
    CHECK_CONTAINS(message.file, "there.glb");
    def.overwrite = true;
    CHECK(snwBakeOutput_Check(context, &def, NULL, &message) >= 0);
    def.format = snw_bakePc2;
    CHECK(snwBakeOutput_Check(context, &def, NULL, &message) < 0);
    CHECK_CONTAINS(message.text, "no name for the format pc2");
    def.path = TempPath("there");
    def.format = snw_bakeAuto;
    CHECK(snwBakeOutput_Check(context, &def, NULL, &message) < 0);
    snwDestroyContext(context);
}

TEST(outputs, everyFailedAllocationOfAWriterIsAnErrorWithoutLeak)
{
    static const char* const s_names[] = {"lean.glb", "lean.glb", "lean.pc2", "lean.obj", "lean.glb"};
    static const snwBakeFormat s_formats[] = {snw_bakeGlb, snw_bakeJoints, snw_bakePc2, snw_bakeObj, snw_bakeGlb};
    for (int i = 0; i < 5; ++i)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        Written w = {.def = snwDefaultBakeOutputDef(), .result = snw_errorMemory};
        snwReelWorld_Make(context, snwReelWorld_Document(context, 0.01), 0.01, 0.02, &w.world);
        w.world.reel.frameCount = 3;
        w.def.path = TempPath(s_names[i]);
        w.def.format = s_formats[i];
        w.def.overwrite = true;
        w.def.most = 4;
        w.def.compress = i == 4;
        snwBakeWriting writing = {context, &w.world.reel, &w.def, &w.report, &w.message};
        long live = counter.live, failures = 0;
        for (int n = 1; n < 3000 && w.result < 0; n += 1 + n / 16)
        {
            counter.failAt = counter.allocations + n;
            w.result = snwBakeWriting_Write(&writing);
            failures += w.result == snw_errorMemory;
            CHECK(w.result >= 0 || w.result == snw_errorMemory);
            CHECK_INT(counter.live, live);
        }
        CHECK(w.result >= 0 && failures > 10);
        counter.failAt = 0;
        snwReelWorld_Free(&w.world);
        snwDestroyContext(context);
    }
}

TEST(outputs, sameBytesForAnyNumberOfThreads) // Labels: threads
{
    static const snwBakeFormat s_formats[] = {snw_bakeGlb, snw_bakeJoints};
    for (int i = 0; i < 2; ++i)
    {
        char* bytes[2];
        double sizes[2];
        for (int k = 0; k < 2; ++k)
        {
            snwContext* context = snwFixture_Context(k == 0 ? 1 : 3, snw_simdAuto, NULL);
            Written w = Write(context, k == 0 ? "one.glb" : "three.glb", s_formats[i]);
            bytes[k] = snwReadWhole(w.def.path);
            sizes[k] = w.report.bytes[0];
            snwReelWorld_Free(&w.world);
            snwDestroyContext(context);
        }
        CHECK(sizes[0] > 0 && sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], (size_t)sizes[0]) == 0);
        free(bytes[0]);
        free(bytes[1]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Blender, if it is here. It takes seconds to start, so the fast test looks at one surface of three formats only

// The largest distance to the frames, m; -1: there is no Blender.
static double BlenderError(Written* w, int surface, const char* file, const char* clip)
{
    snwBlenderJob job = {file, clip, surface == 0 ? "body|tube" : "hat", 24, snw_reelFrames};
    int count = 0;
    bool missing;
    float* shown = snwBlender_Positions(&job, &count, &missing);
    if (missing)
        return -1;
    double worst = shown == NULL || count != (surface == 0 ? snw_tubeVertices : snw_hatVertices) ? INFINITY : 0;
    for (int frame = 0; frame < snw_reelFrames && worst < INFINITY; ++frame)
    {
        snwVec3* truth = snwReelWorld_Truth(&w->world, surface, frame);
        for (int i = 0; i < count; ++i)
        {
            const float* x = shown + 3 * ((size_t)frame * (size_t)count + (size_t)i);
            snwVec3 there = {(double)x[0], (double)x[1], (double)x[2]};
            worst = fmax(worst, 0.01 * snwVec3_Distance(truth[i], there));
        }
        free(truth);
    }
    free(shown);
    return worst;
}

typedef struct BlenderCase
{
    const char* name;
    snwBakeFormat format;
    bool cache;
} BlenderCase;

// What Blender opens: the file itself, or the script that sets a cache up on the source.
static const char* FileForBlender(snwContext* context, const Written* w, bool cache)
{
    if (!cache)
        return w->def.path;
    snwGltfWriter* writer = snwWritten_Open(context, w->world.asset);
    snwGltfSave save = snwDefaultGltfSave(TempPath("blend-source.glb"));
    save.overwrite = true;
    CHECK(snwGltfWriter_Save(writer, &save, NULL) >= 0);
    snwGltfWriter_Close(writer);
    return w->report.files[2];
}

// False: there is no Blender.
static bool CheckInBlender(snwContext* context, const BlenderCase* what, int surfaces)
{
    Written w = Write(context, what->name, what->format);
    const char* file = FileForBlender(context, &w, what->cache);
    bool here = true;
    for (int s = 0; s < surfaces && here; ++s)
    {
        double error = BlenderError(&w, s, file, "dance");
        here = error >= 0;
        // Of the size of 1.2 m for caches; what the report promised, and rounding, for the rest.
        CHECK(error <= (what->cache ? 1.2e-5 : w.report.maxError + 1.2e-5));
    }
    snwReelWorld_Free(&w.world);
    return here;
}

static const BlenderCase s_blenderCases[] = {
    {"blend.pc2", snw_bakePc2, true},
    {"blend.glb", snw_bakeGlb, false},
    {"blendj.glb", snw_bakeJoints, false},
    {"blend.mdd", snw_bakeMdd, true},
    {"blendm.glb", snw_bakeMorphs, false},
};

TEST(outputs, blenderShowsTheBody)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    bool here = true;
    for (int i = 0; i < 3 && here; ++i)
        here = CheckInBlender(context, &s_blenderCases[i], 1);
    snwDestroyContext(context);
    if (!here)
        SKIP("Blender is not here");
}

TEST_LONG(outputs, blenderShowsTheFrames)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    bool here = true;
    for (int i = 0; i < 5 && here; ++i)
        here = CheckInBlender(context, &s_blenderCases[i], 2);
    snwDestroyContext(context);
    if (!here)
        SKIP("Blender is not here");
}
