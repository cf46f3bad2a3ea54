// The engine of bakes: which frames, how they settle, repeat and go on, what is touched, and what is told.

#include "app/bake_film.h"
#include "asset/gltf.h"
#include "asset/poser.h"
#include "bake/bake.h"
#include "bake/flesh.h"
#include "bake/output.h"
#include "base/hash.h"
#include "fixture.h"
#include "math/transform.h"
#include "prepare_world.h"
#include "process.h"
#include "test.h"
#include "view/film.h"
#include "view/film_surface.h"

#include <png.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SINEW    SNW_BINARY_DIR "/sinew"
#define RUN(...) snwProcess_Run((const char* const[]){SINEW, __VA_ARGS__, NULL})

enum
{
    snw_testElements = 150
};

typedef struct Take
{
    snwContext* context;
    snwBake* bake; // NULL: it failed
    snwMessage message;
    snwResult result;
    json_t* words;
    char folder[160];
    int stopAfter; // frames; 0: none
    int calls;
} Take;

static snwResult Stop(const snwBakeProgress* progress, void* user)
{
    Take* take = user;
    take->calls += progress->stage == snw_bakeSimulating;
    return take->stopAfter > 0 && take->calls > take->stopAfter ? snw_errorInterrupted : snw_ok;
}

// words: settings with ' for ".
static Take Open(const char* source, const char* folder, const char* words)
{
    Take take = {.context = snwFixture_Context(1, snw_simdAuto, NULL)};
    snwBakeDef def = snwDefaultBakeDef();
    char text[512];
    snprintf(text, sizeof text, "%s", words);
    for (char* c = text; *c != 0; ++c)
        *c = *c == '\'' ? '"' : *c;
    snprintf(take.folder, sizeof take.folder, "%s/%s", snwTest_TempDir(), folder);
    take.words = json_loads(text, 0, NULL);
    def.source = source;
    def.folder = take.folder;
    def.words = take.words;
    def.prepare.elements = snw_testElements;
    take.result = snwBake_Open(take.context, &def, &take.bake, &take.message);
    return take;
}

static Take Run(const char* source, const char* folder, const char* words)
{
    Take take = Open(source, folder, words);
    if (take.result >= 0)
        take.result = snwBake_Run(take.bake, &take.message);
    if (take.result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s (%s)", take.message.text, take.message.remedy);
    return take;
}

static void Close(Take* take)
{
    snwBake_Close(take->bake);
    json_decref(take->words);
    snwDestroyContext(take->context);
}

static const char* BendFile(const char* name)
{
    return snwPrepareWorld_Write(&(snwPrepareWorld){.hat = true}, name, NULL);
}

static uint64_t HashFrames(snwBakeFrames* frames)
{
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);
    int count = snwCharacter_GetInfo(snwPrepared_GetCharacter(info.prepared)).vertexCount;
    uint64_t hash = 0;
    for (int i = 0; i < info.frameCount; ++i)
    {
        if (snwBakeFrames_Read(frames, i, NULL, NULL) < 0)
            return 0;
        hash = snwHash(snwBakeFrames_GetBody(frames), 3 * (size_t)count * sizeof(float), hash);
    }
    return hash;
}

// m: the largest distance of the flesh of a vertex from the artist's, over all frames and those vertices x (at rest)
// between lower and upper.
static double LagBetween(snwBakeFrames* frames, double lower, double upper)
{
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(info.prepared));
    double most = 0;
    for (int f = 0; f < info.frameCount; ++f)
    {
        if (snwBakeFrames_Read(frames, f, NULL, NULL) < 0)
            return NAN;
        const float *body = snwBakeFrames_GetBody(frames), *artist = snwBakeFrames_GetArtistBody(frames);
        for (int i = 0; i < def->vertexCount; ++i)
            for (int k = 0; k < 3 && def->vertices[i].x >= lower && def->vertices[i].x <= upper; ++k)
                most = fmax(most, fabs((double)(body[3 * i + k] - artist[3 * i + k])));
    }
    return most;
}

// ---------------------------------------------------------------------------------------------------------------------
// Which frames

TEST(bake, clipAndRangeDecideTheFrames)
{
    const char* path = snwPrepareWorld_Write(&(snwPrepareWorld){.swing = true}, "range", NULL);
    Take take = Run(path, "range", "{'clip': 'bend', 'start': 0.25, 'end': 0.75, 'fps': 20}");
    REQUIRE(take.result >= 0);
    snwBakeInfo info = snwBakeFrames_GetInfo(snwBake_GetFrames(take.bake));
    CHECK_INT(info.frameCount, 11);
    CHECK_NEAR(info.rate, 20, 0);
    snwBakeFrame frame;
    REQUIRE(snwBakeFrames_Read(snwBake_GetFrames(take.bake), 5, &frame, NULL) >= 0);
    CHECK_NEAR(frame.clipTime, 0.5, 1e-12);
    CHECK_NEAR(frame.time, 0.25, 1e-12);
    // 'lower' is turned by 60 degrees about z in the middle of the clip.
    snwVec3 tip = snwTransform_Apply(frame.bones.data[1], (snwVec3){1, 0, 0});
    CHECK_NEAR(tip.x, 0.75, 1e-3);
    CHECK_NEAR(tip.y, 0.5 * sin(SNW_PI / 3), 1e-3);
    Close(&take);
    take = Open(path, "range", "{'clip': 2}");
    CHECK(take.result < 0); // a number of JSON is no word
    Close(&take);
    take = Open(path, "range", "{'clip': '2'}");
    REQUIRE(take.result >= 0);
    CHECK(strcmp(snwBake_GetReport(take.bake)->clip, "swing") == 0 ||
          strcmp(snwBake_GetReport(take.bake)->clip, "bend") == 0);
    Close(&take);
    take = Open(path, "range", "{'clip': 'walk'}");
    CHECK(take.result < 0);
    CHECK_CONTAINS(take.message.remedy, "bend");
    CHECK_CONTAINS(take.message.remedy, "swing");
    Close(&take);
    take = Open(path, "range", "{'start': 5}");
    CHECK(take.result < 0);
    CHECK_CONTAINS(take.message.text, "ends at 1 s");
    Close(&take);
}

TEST(bake, prerollSettlesTheFirstFrame)
{
    const char* path = BendFile("settle");
    Take none = Run(path, "settle", "{'gravity': 9.81, 'preroll': 0, 'end': 0.2}");
    Take some = Run(path, "settle2", "{'gravity': 9.81, 'end': 0.2, 'material': {'settling': 0.3}}");
    REQUIRE(none.result >= 0 && some.result >= 0);
    // Without it flesh begins where skinning has it; with it flesh hangs, and is still.
    REQUIRE(snwBakeFrames_Read(snwBake_GetFrames(none.bake), 0, NULL, NULL) >= 0);
    REQUIRE(snwBakeFrames_Read(snwBake_GetFrames(some.bake), 0, NULL, NULL) >= 0);
    int count = snwCharacter_GetInfo(snwPrepared_GetCharacter(snwBake_GetPrepared(some.bake))).vertexCount;
    double fresh = 0, hung = 0;
    for (int i = 0; i < count; ++i)
    {
        const float *a = snwBakeFrames_GetBody(snwBake_GetFrames(none.bake)),
                    *b = snwBakeFrames_GetBody(snwBake_GetFrames(some.bake)),
                    *c = snwBakeFrames_GetArtistBody(snwBake_GetFrames(some.bake));
        fresh = fmax(fresh, fabs((double)(a[3 * i + 1] - c[3 * i + 1])));
        hung = fmax(hung, (double)(c[3 * i + 1] - b[3 * i + 1]));
    }
    CHECK(fresh < 1e-5);
    CHECK(hung > 1e-3);
    CHECK(snwBake_GetReport(some.bake)->settled < 5e-3);
    CHECK_NEAR(snwBake_GetReport(some.bake)->preroll, 2, 1e-9);
    Close(&none);
    Close(&some);
}

// m: how far flesh is from the artist's in a frame, at most; of vertices beyond the bend, for in it flesh heals what
// skinning squeezes.
static double LagOf(snwBakeFrames* frames, int frame)
{
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(info.prepared));
    double most = snwBakeFrames_Read(frames, frame, NULL, NULL) < 0 ? NAN : 0;
    const float *body = snwBakeFrames_GetBody(frames), *artist = snwBakeFrames_GetArtistBody(frames);
    for (int i = 0; i < 3 * def->vertexCount; ++i)
        if (def->vertices[i / 3].x > 0.7)
            most = fmax(most, fabs((double)(body[i] - artist[i])));
    return most;
}

// 'bend' turns at 120 degrees per second then. Flesh that stood still until then would lag by centimetres at once.
TEST(bake, clipsThatBeginInFullSwingBeginWithoutAWhip)
{
    Take take = Run(BendFile("whip"), "whip", "{'start': 0.15, 'end': 0.45, 'fps': 60}");
    REQUIRE(take.result >= 0);
    double early = 0;
    for (int i = 0; i < 6; ++i)
        early = fmax(early, LagOf(snwBake_GetFrames(take.bake), i));
    CHECK(early > 0);
    CHECK_NEAR(early, 0, 0.005);
    Close(&take);
}

TEST(bake, loopsCloseWithoutASeam)
{
    Take take = Run(BendFile("loop"), "loop", "{'loop': true, 'fps': 24}");
    REQUIRE(take.result >= 0);
    snwBakeFrames* frames = snwBake_GetFrames(take.bake);
    const snwBakeReport* report = snwBake_GetReport(take.bake);
    int count = snwCharacter_GetInfo(snwPrepared_GetCharacter(snwBake_GetPrepared(take.bake))).vertexCount;
    CHECK_INT(report->frames, 25);
    CHECK(report->fadeFrames <= 2);
    CHECK(report->cycles >= 2);
    CHECK(report->seamPosition <= 2);
    CHECK(report->seamVelocity <= 2);
    CHECK(report->lag > 0.005);
    REQUIRE(snwBakeFrames_Read(frames, 0, NULL, NULL) >= 0);
    uint64_t first = snwHash(snwBakeFrames_GetBody(frames), 12 * (size_t)count, 0);
    REQUIRE(snwBakeFrames_Read(frames, 24, NULL, NULL) >= 0);
    CHECK(first == snwHash(snwBakeFrames_GetBody(frames), 12 * (size_t)count, 0));
    Close(&take);
    take = Open(snwPrepareWorld_Write(&(snwPrepareWorld){.swing = true}, "noloop", NULL), "noloop",
        "{'clip': 'swing', 'loop': true}");
    CHECK(take.result < 0);
    CHECK_CONTAINS(take.message.text, "does not end");
    Close(&take);
}

// ---------------------------------------------------------------------------------------------------------------------
// Flesh on top of the file

// Where the file itself has a vertex of the body of the world in the middle of 'bend': beyond the joint it is turned by
// 60 degrees about z, and the shell by 90 more about the end.
static snwVec3 Bent(const float rest[3])
{
    double x = (double)rest[0] - 0.5, y = (double)rest[1], share = fmin(fmax(5 * ((double)rest[0] - 0.4), 0), 1);
    if (rest[0] > 1.2f)
    {
        double swap = x - 0.5;
        x = 0.5 - y, y = swap, share = 1;
    }
    snwVec3 turned = {0.5 + 0.5 * x - sin(SNW_PI / 3) * y, sin(SNW_PI / 3) * x + 0.5 * y, (double)rest[2]};
    snwVec3 still = {(double)rest[0], (double)rest[1], (double)rest[2]};
    return rest[0] < 0.3f ? still : snwVec3_Add(snwVec3_Scale(still, 1 - share), snwVec3_Scale(turned, share));
}

// The largest distance of the body from there, of vertices whose x at rest is at least `from`.
static double GapToFile(const Take* take, const snwSkin* skin, float from)
{
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(snwBake_GetPrepared(take->bake), 0);
    double most = 0;
    for (int i = 0; i < skin->vertexCount; ++i)
    {
        const float* x = skin->positions + 3 * (size_t)i;
        snwVec3 now = {(double)x[0], (double)x[1], (double)x[2]};
        if (surface->positions[i][0] >= from)
            most = fmax(most, snwVec3_Distance(now, Bent(surface->positions[i])));
    }
    return most;
}

TEST(bake, fleshIsAddedToWhatTheFileMakesOfItsSurfaces)
{
    const char* path = snwPrepareWorld_Write(&(snwPrepareWorld){.shell = true}, "added", NULL);
    Take take = Run(path, "added", "{'start': 0.2, 'end': 0.5, 'fps': 20}");
    REQUIRE(take.result >= 0);
    snwBakeFrames* frames = snwBake_GetFrames(take.bake);
    const float* offsets = NULL;
    snwSkin artist, flesh;
    REQUIRE(snwBakeFrames_Read(frames, 6, NULL, NULL) >= 0);
    REQUIRE(snwBakeFrames_GetArtist(frames, 0, &artist, NULL) >= 0);
    REQUIRE(snwBakeFrames_GetSurface(frames, 0, &flesh, NULL) >= 0);
    REQUIRE(snwBakeFrames_GetFlesh(frames, 0, &offsets, NULL) >= 0 && offsets != NULL);
    CHECK(GapToFile(&take, &artist, -1) < 1e-6);
    CHECK(GapToFile(&take, &flesh, -1) > 2e-3);   // it lives
    CHECK(GapToFile(&take, &flesh, -1) < 0.03);   // 0.2 of 0.12 m, and what the bend adds
    CHECK(GapToFile(&take, &flesh, 1.2f) < 1e-6); // the shell has no flesh: exactly its bone
    for (int i = 0; i < 3 * flesh.vertexCount; ++i)
        CHECK_NEAR(flesh.positions[i], artist.positions[i] + offsets[i], 1e-6);
    const snwBakeReport* report = snwBake_GetReport(take.bake);
    CHECK(report->ride > 0 && report->ride < 0.02); // the body is where the surface is
    CHECK(report->limited < 0.4);
    Close(&take);
}

// One half of the bar is shifted by three edges: the difference is spread over many.
TEST(bake, fleshStretchesNoEdgeByMoreThanAPart)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = NULL;
    snwPrepared* prepared = NULL;
    snwMessage message = {0};
    const char* path = snwPrepareWorld_Write(&(snwPrepareWorld){0}, "strip", NULL);
    REQUIRE(snwAsset_Open(context, path, &asset, &message) >= 0);
    prepared = snwPrepareWorld_Prepare(context, path, NULL);
    REQUIRE(prepared != NULL);
    snwArena arena = {.context = context};
    snwThickness none = {0};
    snwBakeFlesh flesh;
    snwAssetPoser poser;
    REQUIRE(snwBakeFlesh_Make(&arena, prepared, asset, 0, &none, 1, &flesh, &message) >= 0);
    REQUIRE(snwAssetPoser_Make(asset, &arena, &poser, &message) >= 0);
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, 0);
    float* parted = snwArena_Copy(&arena, surface->positions, (size_t)surface->vertexCount, 12);
    for (int i = 0; i < surface->vertexCount; ++i)
        parted[3 * i + 1] += surface->positions[i][0] > 0.55f ? 0.25f : 0; // rings are 1/12 m apart
    snwSkin skinned = {.positions = (const float*)surface->positions, .normals = (const float*)surface->normals};
    snwSkin simulated = {.positions = parted, .normals = (const float*)surface->normals};
    snwBakeFlesh_Add(&flesh, &poser, NULL, 0, &simulated, &skinned);
    double worst = 0;
    for (int e = 0; e < 3 * surface->triangleCount; ++e)
    {
        const int* t = surface->triangles[e / 3];
        int a = t[e % 3], b = t[(e + 1) % 3];
        double length = 0, gap = 0;
        for (int c = 0; c < 3; ++c)
        {
            double x = (double)(surface->positions[a][c] - surface->positions[b][c]);
            double d = (double)(flesh.offsets[3 * a + c] - flesh.offsets[3 * b + c]);
            length += x * x, gap += d * d;
        }
        worst = fmax(worst, length > 0 ? sqrt(gap / length) : 0);
    }
    CHECK(worst > 0.2 && worst < 0.8); // 3 without a hold
    snwArena_Free(&arena);
    snwPrepared_Release(prepared);
    snwAsset_Close(asset);
    snwDestroyContext(context);
}

// A ring of the bar is pushed over its neighbours. Nothing smooths and holds it here but what keeps surfaces from
// doubling back.
TEST(bake, fleshDoublesNoSurfaceBack)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = NULL;
    snwMessage message = {0};
    const char* path = snwPrepareWorld_Write(&(snwPrepareWorld){0}, "doubling", NULL);
    REQUIRE(snwAsset_Open(context, path, &asset, &message) >= 0);
    snwPrepared* prepared = snwPrepareWorld_Prepare(context, path, NULL);
    REQUIRE(prepared != NULL);
    snwArena arena = {.context = context};
    snwThickness none = {0};
    snwBakeFlesh flesh;
    snwAssetPoser poser;
    REQUIRE(snwBakeFlesh_Make(&arena, prepared, asset, 0, &none, 1, &flesh, &message) >= 0);
    REQUIRE(snwAssetPoser_Make(asset, &arena, &poser, &message) >= 0);
    for (int k = 0; k < flesh.starts[flesh.placeCount]; ++k)
        flesh.draws[k] = 0, flesh.slack[k] = INFINITY;
    const snwSurfaceInfo* surface = snwPrepared_GetSurface(prepared, 0);
    float* pushed = snwArena_Copy(&arena, surface->positions, (size_t)surface->vertexCount, 12);
    snwVec3 *wanted = snwArena_Alloc(&arena, (size_t)surface->vertexCount, sizeof *wanted),
            *shown = snwArena_Alloc(&arena, (size_t)surface->vertexCount, sizeof *shown);
    for (int i = 0; i < surface->vertexCount; ++i)
        pushed[3 * i] += fabsf(surface->positions[i][0] - 0.5f) < 0.04f ? 0.15f : 0; // rings are 1/12 m apart
    snwSkin skinned = {.positions = (const float*)surface->positions, .normals = (const float*)surface->normals};
    snwSkin simulated = {.positions = pushed, .normals = (const float*)surface->normals};
    snwBakeFlesh_Add(&flesh, &poser, NULL, 0, &simulated, &skinned);
    for (int i = 0; i < surface->vertexCount; ++i)
    {
        const float *a = pushed + 3 * (size_t)i, *b = flesh.positions + 3 * (size_t)i;
        wanted[i] = (snwVec3){(double)a[0], (double)a[1], (double)a[2]};
        shown[i] = (snwVec3){(double)b[0], (double)b[1], (double)b[2]};
    }
    int worst;
    snwFolds_Begin(&flesh.folds, wanted);
    CHECK(snwFolds_Count(&flesh.folds, wanted, flesh.least, &worst) > 8);
    CHECK_INT(snwFolds_Count(&flesh.folds, shown, flesh.least, &worst), 0);
    snwArena_Free(&arena);
    snwPrepared_Release(prepared);
    snwAsset_Close(asset);
    snwDestroyContext(context);
}

// Finer than their elements, with the blueprint's colours: a biped of a coarse mesh has jagged legs.
TEST(bake, builtInCharactersHaveTheSurfaceOfTheirBlueprint)
{
    Take take = Open("biped", "built_in", "{'clip': '1'}");
    REQUIRE(take.result >= 0);
    const snwAsset* asset = snwBake_GetAsset(take.bake);
    const snwAssetMesh* mesh = &asset->meshes[0];
    double edges = 0, longest = 0, most = 0;
    for (int e = 0; e < 3 * mesh->triangleCount; ++e)
    {
        int a = mesh->triangles[e / 3][e % 3], b = mesh->triangles[e / 3][(e + 1) % 3];
        double length = snwVec3_Distance(mesh->positions[a], mesh->positions[b]);
        edges += length, longest = fmax(longest, length);
    }
    for (int i = 0; i < mesh->vertexCount; ++i)
        most = fmax(most, mesh->weights.starts[i + 1] - mesh->weights.starts[i]);
    double height = snwBake_GetReport(take.bake)->size;
    CHECK(edges / (3 * mesh->triangleCount) < 0.02 * height && longest < 0.05 * height);
    CHECK(most >= 3 && most <= 4);
    CHECK(mesh->colors != NULL && mesh->vertexCount > 3000);
    Close(&take);
}

TEST(bake, clipsWithoutANameAreFoundByNumber)
{
    const char* path = snwPrepareWorld_Write(&(snwPrepareWorld){.swing = true, .unnamed = true}, "unnamed", NULL);
    Take take = Open(path, "unnamed", "{'clip': '2'}");
    REQUIRE(take.result >= 0);
    snwPrepared *prepared = (snwPrepared*)snwBake_GetPrepared(take.bake), *loaded = NULL;
    void* data = NULL;
    size_t size = 0;
    REQUIRE(snwPrepared_Save(prepared, &data, &size, NULL) >= 0);
    REQUIRE(snwPrepared_Load(take.context, data, size, &loaded, NULL) >= 0);
    const int* clips = snwPrepared_GetInfo(loaded).clips;
    CHECK(clips != NULL && clips[0] == 0 && clips[1] == 1);
    snwPrepared_Release(loaded);
    snwContext_Free(take.context, data);
    Close(&take);
    char out[192];
    snprintf(out, sizeof out, "%s/unnamed_soft.glb", snwTest_TempDir());
    snwProcess run = RUN("bake", path, "-o", out, "--clip", "2", "--end", "0.3", "--elements", "150");
    CHECK_INT(run.code, 0);
    snwProcess_Free(&run);
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* written = NULL;
    REQUIRE(snwAsset_Open(context, out, &written, NULL) >= 0);
    CHECK_INT(written->animationCount, 2); // no new one beside them
    CHECK_INT(written->animations[0].channelCount, 2);
    CHECK_INT(written->animations[1].channelCount, 4);
    for (int clip = 0; clip < 2; ++clip) // flesh moves in the second; in the first, a single key holds it at 0
        for (int i = 0; i < written->animations[clip].channelCount; ++i)
        {
            const snwAssetChannel* channel = &written->animations[clip].channels[i];
            CHECK(channel->path != snw_pathMorphs || (channel->keyCount > 1) == (clip == 1));
        }
    snwAsset_Close(written);
    snwDestroyContext(context);
}

// The last key of 'bend' is two degrees off the first.
TEST(bake, loopsThatAreAjarAreClosedAndTold)
{
    static const float s_turns[3][4] = {{0, 0, 0, 1}, {0, 0, 0.5f, 0.8660254f}, {0, 0, 0.0348995f, 0.9993908f}};
    snwGltfWorld world = snwPrepareWorld_Make(&(snwPrepareWorld){0});
    char number[16], path[192], out[192];
    snprintf(number, sizeof number, "%d", snwGltfWorld_Floats(&world, s_turns[0], 3, "VEC4"));
    snwGltfWorld_Set(&world, "animations/0/samplers/0/output", number);
    snwGltfBytes bytes = snwGltfWorld_Glb(&world);
    snwGltfWorld_Free(&world);
    snprintf(path, sizeof path, "%s/ajar.glb", snwTest_TempDir());
    snprintf(out, sizeof out, "%s/ajar_soft.glb", snwTest_TempDir());
    FILE* file = fopen(path, "wb");
    REQUIRE(file != NULL && fwrite(bytes.data, 1, bytes.size, file) == bytes.size);
    fclose(file);
    free(bytes.data);
    snwProcess run = RUN("bake", path, "-o", out, "--loop", "--elements", "150");
    CHECK_INT(run.code, 0);
    CHECK_CONTAINS(run.errors, "blended into the first pose");
    snwProcess_Free(&run);
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source = NULL, *written = NULL;
    REQUIRE(snwAsset_Open(context, path, &source, NULL) >= 0 && snwAsset_Open(context, out, &written, NULL) >= 0);
    double first[4], last[4], before[4], now[4];
    const snwAssetChannel *from = &source->animations[0].channels[0], *to = NULL;
    for (int i = 0; i < written->animations[0].channelCount; ++i)
        if (written->animations[0].channels[i].path == snw_pathRotation)
            to = &written->animations[0].channels[i];
    REQUIRE(to != NULL);
    snwAssetChannel_Sample(to, 0, first);
    snwAssetChannel_Sample(to, 1, last);
    snwAssetChannel_Sample(from, 0.6, before);
    snwAssetChannel_Sample(to, 0.6, now);
    for (int k = 0; k < 4; ++k)
    {
        CHECK_NEAR(first[k], last[k], 1e-6);
        CHECK_NEAR(before[k], now[k], 1e-6); // and only the last quarter is another
    }
    snwAsset_Close(source);
    snwAsset_Close(written);
    snwDestroyContext(context);
}

// A VRM file is a GLB with more in it, which is nobody's business here.
TEST(bake, whatNobodyKnowsComesBackInVrmFiles)
{
    snwGltfWorld world = snwPrepareWorld_Make(&(snwPrepareWorld){0});
    char path[192], out[192];
    snwGltfWorld_Set(&world, "extensionsUsed", "['VRMC_vrm', 'VRMC_springBone']");
    snwGltfWorld_Set(&world, "extensions",
        "{'VRMC_vrm': {'specVersion': '1.0', 'humanoid': {'humanBones': {'hips': {'node': 1}}}, 'meta': {'name': "
        "'x'}}, "
        "'VRMC_springBone': {'specVersion': '1.0', 'springs': [{'joints': [{'node': 2, 'stiffness': 0.5}]}]}}");
    snwGltfWorld_Set(&world, "extras", "{'studio': [1, 2.5, 'three']}");
    snwGltfWorld_Set(&world, "nodes/1/extras", "{'ik': true}");
    snwGltfWorld_Set(&world, "meshes/0/extras", "{'paint': 'red'}");
    snwGltfWorld_Set(&world, "animations/0/extras", "{'speed': 2}");
    snwGltfBytes bytes = snwGltfWorld_Glb(&world);
    snprintf(path, sizeof path, "%s/person.vrm", snwTest_TempDir());
    snprintf(out, sizeof out, "%s/person_soft.vrm", snwTest_TempDir());
    FILE* file = fopen(path, "wb");
    REQUIRE(file != NULL && fwrite(bytes.data, 1, bytes.size, file) == bytes.size);
    fclose(file);
    free(bytes.data);
    snwProcess run = RUN("bake", path, "-o", out, "--end", "0.3", "--elements", "150");
    CHECK_INT(run.code, 0);
    snwProcess_Free(&run);
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* written = NULL;
    REQUIRE(snwAsset_Open(context, out, &written, NULL) >= 0);
    const json_t* root = written->gltf->root;
    CHECK(json_equal(json_object_get(root, "extensions"), snwGltfWorld_Get(&world, "extensions")));
    CHECK(json_equal(json_object_get(root, "extras"), snwGltfWorld_Get(&world, "extras")));
    const json_t* node = json_array_get(json_object_get(root, "nodes"), 1);
    const json_t* mesh = json_array_get(json_object_get(root, "meshes"), 0);
    const json_t* clip = json_array_get(json_object_get(root, "animations"), 0);
    CHECK(json_equal(json_object_get(node, "extras"), snwGltfWorld_Get(&world, "nodes/1/extras")));
    CHECK(json_equal(json_object_get(clip, "extras"), snwGltfWorld_Get(&world, "animations/0/extras")));
    CHECK_CONTAINS(json_string_value(json_object_get(json_object_get(mesh, "extras"), "paint")), "red");
    CHECK(json_array_size(json_object_get(root, "extensionsUsed")) >= 2);
    snwAsset_Close(written);
    snwGltfWorld_Free(&world);
    snwDestroyContext(context);
}

static snwResult CountPhases(const char* phase, int done, int total, void* user)
{
    CHECK(phase[0] != 0 && done >= 0 && done <= total);
    ++*(int*)user;
    return snw_ok;
}

TEST(bake, programsBakeInOneCall)
{
    char path[512], out[192], folder[192];
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBakeFileDef def = snwDefaultBakeFileDef();
    snwBakeFileReport* report = calloc(1, sizeof *report);
    snwMessage message = {0};
    int calls = 0;
    snprintf(path, sizeof path, "%s", snwPrepareWorld_Write(&(snwPrepareWorld){.swing = true}, "call", NULL));
    snprintf(out, sizeof out, "%s/call_soft.glb", snwTest_TempDir());
    snprintf(folder, sizeof folder, "%s/call_soft.bake", snwTest_TempDir());
    def.source = path;
    def.output = out;
    def.settings = "{\"clip\": \"swing\", \"end\": 0.3, \"softness\": 2}";
    def.elements = snw_testElements;
    def.progress = CountPhases;
    def.user = &calls;
    CHECK_INT(snwBakeFile(context, &def, report, &message), snw_ok);
    CHECK(strcmp(report->clip, "swing") == 0 && report->flesh > 1e-3 && report->targets > 0 && calls > 10);
    CHECK(report->difference < 1e-3 && report->torn == 0 && report->bytes > 1000);
    struct stat info;
    CHECK(stat(out, &info) == 0 && stat(folder, &info) != 0);
    CHECK(snwBakeFile(context, &def, NULL, &message) < 0); // not twice
    def.overwrite = true;
    def.settings = "{\"clip\": \"nod\"}";
    CHECK_INT(snwBakeFile(context, &def, NULL, &message), snw_errorInput);
    CHECK_CONTAINS(message.remedy, "swing");
    def.settings = "clip = swing";
    CHECK_INT(snwBakeFile(context, &def, NULL, &message), snw_errorArgument);
    free(report);
    snwDestroyContext(context);
}

// Mistakes on the command line are told of the option, with 2; a bad file with 3, whoever is asked.
TEST(bake, mistakesAreTheOptionsOrTheFiles)
{
    static const char* const s_words[][3] = {{"--softness", "abc", "--softness: must be a number"},
        {"--film", "x.avi", "--film cannot write 'x.avi'"}, {"--tolerance", "5", "--tolerance: must be"},
        {"--material", "frequency=abc", "--material frequency"},
        {"--material", "belly:frequency=x", "--material belly.frequency"}, {"--material", "foo=1", "unknown key 'foo'"},
        {"--method", "foo", "no method 'foo'"}, {"--joint-map", "a=b", "--motion-from"}};
    char path[512], out[192];
    snprintf(path, sizeof path, "%s", BendFile("mistakes"));
    snprintf(out, sizeof out, "%s/mistakes_soft.glb", snwTest_TempDir());
    for (size_t i = 0; i < sizeof s_words / sizeof *s_words; ++i)
    {
        snwProcess run = RUN("bake", path, "-o", out, s_words[i][0], s_words[i][1]);
        CHECK_INT(run.code, 2);
        CHECK_CONTAINS(run.errors, s_words[i][2]);
        CHECK(strstr(run.errors, "mistakes.glb") == NULL);
        snwProcess_Free(&run);
    }
    FILE* file = fopen(path, "w");
    fputs("{\"asset\": {\"version\": \"2.0\"}, \"extensionsRequired\": [\"ACME_folded\"]}", file);
    fclose(file);
    static const char* const s_verbs[] = {"info", "check", "prep", "bake"};
    for (int i = 0; i < 4; ++i)
    {
        snwProcess run = i < 2 ? RUN(s_verbs[i], path) : RUN(s_verbs[i], path, "-o", out);
        CHECK_INT(run.code, 3);
        CHECK_CONTAINS(run.errors, "ACME_folded");
        snwProcess_Free(&run);
    }
}

// Meshes without a skin on nodes that move: the body is soft, follows the node above it as a bone and is where the
// artist has it, on average; the hat has a node of its own.
TEST(bake, nodesThatMoveCarryASoftBody)
{
    char path[512], out[192];
    snprintf(path, sizeof path, "%s",
        snwPrepareWorld_Write(&(snwPrepareWorld){.swing = true, .hat = true, .carried = true}, "carried", NULL));
    Take take = Run(path, "carried", "{'clip': 'swing'}");
    REQUIRE(take.result >= 0);
    snwBakeFrames* frames = snwBake_GetFrames(take.bake);
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(info.prepared));
    CHECK_INT(def->boneCount, 2);
    CHECK(strcmp(def->bones[0].name, "upper") == 0);
    CHECK(snwBake_GetSettings(take.bake)->keepTrajectory);
    CHECK(LagBetween(frames, 0.02, 1.1) > 1e-3);
    for (int f = 0; f < info.frameCount; f += 6) // 'upper' turns by 90 degrees about y and rises by 0.3 m
    {
        double turn = 0.5 * 3.14159265358979 * f / (info.frameCount - 1), rise = 0.3 * f / (info.frameCount - 1);
        snwVec3 middle = {0, 0, 0}, wanted = {0, 0, 0};
        REQUIRE(snwBakeFrames_Read(frames, f, NULL, NULL) >= 0);
        const float* body = snwBakeFrames_GetBody(frames);
        for (int i = 0; i < def->vertexCount; ++i)
        {
            snwVec3 x = def->vertices[i],
                    now = {cos(turn) * x.x + sin(turn) * x.z, x.y + rise, -sin(turn) * x.x + cos(turn) * x.z};
            middle = snwVec3_Add(middle, (snwVec3){body[3 * i], body[3 * i + 1], body[3 * i + 2]});
            wanted = snwVec3_Add(wanted, now);
        }
        CHECK(snwVec3_Distance(middle, wanted) < 0.02 * def->vertexCount);
    }
    Close(&take);

    // A part that touches the bar turns with its own node, rigidly.
    snwGltfWorld world = snwPrepareWorld_Make(&(snwPrepareWorld){.swing = true, .hat = true, .carried = true});
    snwGltfWorld_Set(&world, "nodes/5/translation", "[0, 0.1, 0]");
    snwGltfWorld_Set(&world, "nodes/5/name", "'wheel'");
    snwGltfWorld_Set(&world, "meshes/1/name", "'wheel'");
    snwGltfBytes bytes = snwGltfWorld_Glb(&world);
    snwGltfWorld_Free(&world);
    snprintf(out, sizeof out, "%s/wheel.glb", snwTest_TempDir());
    FILE* file = fopen(out, "wb");
    REQUIRE(file != NULL && fwrite(bytes.data, 1, bytes.size, file) == bytes.size);
    fclose(file);
    free(bytes.data);
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepareReport report;
    snwPrepared* prepared = snwPrepareWorld_Prepare(context, out, &report);
    REQUIRE(prepared != NULL);
    CHECK(strcmp(snwPrepared_GetSurface(prepared, 1)->name, "wheel") == 0);
    CHECK_INT(snwPrepared_GetSurface(prepared, 0)->kind, snw_surfaceSoft);
    CHECK_INT(snwPrepared_GetSurface(prepared, 1)->kind, snw_surfaceRigid);
    int bone = snwPrepared_GetSurface(prepared, 1)->bone;
    const snwCharacterDef* made = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    CHECK(bone >= 0 && strcmp(made->bones[bone].name, "lower") == 0);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);

    snprintf(out, sizeof out, "%s/carried_soft.glb", snwTest_TempDir());
    snwProcess run = RUN("bake", path, "-o", out, "--clip", "swing", "--end", "0.5", "--elements", "150");
    CHECK_INT(run.code, 0);
    CHECK_CONTAINS(run.errors, "nodes move it");
    CHECK_CONTAINS(run.text, "no edge torn");
    snwProcess_Free(&run);
}

// 'hand' is thin by its name: it swings faster and moves less.
TEST(bake, handsAreFirmerThanTheRest)
{
    Take soft = Run(BendFile("firm"), "firm", "{'start': 0.3, 'end': 0.6, 'falloff': 0}");
    const char* path = snwPrepareWorld_Write(&(snwPrepareWorld){.hand = true}, "firmer", NULL);
    Take firm = Run(path, "firmer", "{'start': 0.3, 'end': 0.6}");
    Take asked = Open(path, "asked", "{'materials': {'hand': {'frequency': 3}}}");
    REQUIRE(soft.result >= 0 && firm.result >= 0 && asked.result >= 0);
    double fastest[3] = {0}, slowest[3] = {1e9, 1e9, 1e9};
    for (int t = 0; t < 3; ++t)
    {
        const Take* takes[] = {&soft, &firm, &asked};
        const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(snwBake_GetPrepared(takes[t]->bake)));
        for (int i = 0; i < def->tetCount; ++i)
        {
            double x = def->vertices[def->tets[i][0]].x, f = def->materials[def->regions[i]].frequency;
            if (x > 0.75)
                fastest[t] = fmax(fastest[t], f);
            if (x > 0.75)
                slowest[t] = fmin(slowest[t], f);
        }
    }
    CHECK_NEAR(fastest[0], 4, 0);
    CHECK(fastest[1] > 8);
    CHECK_NEAR(slowest[2], 3, 0); // what was said is said
    CHECK(LagBetween(snwBake_GetFrames(firm.bake), 0.7, 1) < 0.5 * LagBetween(snwBake_GetFrames(soft.bake), 0.7, 1));
    Close(&soft);
    Close(&firm);
    Close(&asked);
}

// ---------------------------------------------------------------------------------------------------------------------
// The gate

static snwResult Against(const snwPrepareWorld* world, snwAgainst* against, snwMessage* message)
{
    char path[512];
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source = NULL, *written = NULL;
    snprintf(path, sizeof path, "%s", snwPrepareWorld_Write(&(snwPrepareWorld){.swing = true}, "source", NULL));
    snwResult result = snwAsset_Open(context, path, &source, message);
    if (result >= 0)
        result = snwAsset_Open(context, snwPrepareWorld_Write(world, "written", NULL), &written, message);
    snwAgainstDef def = {.source = source, .written = written, .clip = -1};
    if (result >= 0)
        result = snwCompareAgainst(context, &def, against, message);
    if (result >= 0)
        result = snwAgainst_Judge(against, message);
    snwAsset_Close(source);
    snwAsset_Close(written);
    snwDestroyContext(context);
    return result;
}

TEST(bake, whatIsWrittenIsHeldAgainstItsSource)
{
    snwAgainst against;
    snwMessage message = {0};
    CHECK_INT(Against(&(snwPrepareWorld){.swing = true}, &against, &message), snw_ok);
    CHECK(against.most == 0 && against.bare == 0 && against.frames > 60);
    CHECK(Against(&(snwPrepareWorld){.swing = true, .scale = 1.1}, &against, &message) < 0); // another skin
    CHECK(against.bare > 0.05);
    CHECK_CONTAINS(message.text, "'body'");
    CHECK_CONTAINS(message.text, "'lower'");
    CHECK(Against(&(snwPrepareWorld){.swing = true, .torn = 0.5}, &against, &message) < 0); // a corner of flesh
    CHECK(against.bare < 1e-6 && against.torn >= 2);
    CHECK_CONTAINS(message.text, "torn");
    CHECK(Against(&(snwPrepareWorld){0}, &against, &message) < 0); // a clip is missing
}

// A strip of four squares, cut in two each, that is rolled up by so many radians at each edge across.
static void RollStrip(double angle, snwVec3 x[10])
{
    snwVec3 at = {0, 0, 0};
    for (int i = 0; i < 5; ++i)
    {
        x[2 * i] = at, x[2 * i + 1] = snwVec3_Add(at, (snwVec3){0, 0, 1});
        at = snwVec3_Add(at, (snwVec3){cos(angle * i), sin(angle * i), 0});
    }
}

TEST(bake, surfacesThatDoubleBackAreCounted)
{
    static const int s_triangles[8][3] = {
        {0, 1, 2}, {2, 1, 3}, {2, 3, 4}, {4, 3, 5}, {4, 5, 6}, {6, 5, 7}, {7, 6, 8}, {7, 8, 9}}; // one square is turned
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwMessage message = {0};
    snwVec3 x[10], flat[10];
    snwWeld weld;
    snwFolds folds;
    int worst = -1;
    RollStrip(0, flat);
    snwAssetMesh mesh = {.positions = flat, .vertexCount = 10, .triangles = s_triangles, .triangleCount = 8};
    REQUIRE(snwWeldVertices(&arena, &(snwWeldDef){.positions = flat, .count = 10}, &weld, &message) >= 0);
    REQUIRE(snwFolds_Find(&arena, &mesh, &weld, &folds, &message) >= 0);
    CHECK_INT(folds.count, 7); // four diagonals, three edges across
    snwFolds_Begin(&folds, flat);
    RollStrip(1.5, x); // 86 degrees
    CHECK_INT(snwFolds_Meet(&folds, x, 0.01, &worst), 0);
    RollStrip(2.8, x); // 160
    CHECK_INT(snwFolds_Count(&folds, x, 0.01, &worst), 3);
    CHECK(worst >= 2 && worst <= 7);
    CHECK_INT(snwFolds_Count(&folds, x, 2, &worst), 0); // nobody sees it
    // What the source does is its own affair; where it is creased, the crease may close.
    CHECK_INT(snwFolds_Meet(&folds, x, 0.01, &worst), 3);
    CHECK_INT(snwFolds_Count(&folds, x, 0.01, &worst), 0);
    snwFolds_Begin(&folds, flat);
    RollStrip(2.2, x); // 126
    CHECK_INT(snwFolds_Meet(&folds, x, 0.01, &worst), 0);
    RollStrip(2.8, x);
    CHECK_INT(snwFolds_Count(&folds, x, 0.01, &worst), 0);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

TEST(bake, aBakeThatIsWrongFailsAndKeepsItsFrames)
{
    char path[512], out[192], frames[192];
    struct stat info;
    snprintf(path, sizeof path, "%s", BendFile("gate"));
    snprintf(out, sizeof out, "%s/gate_soft.glb", snwTest_TempDir());
    snprintf(frames, sizeof frames, "%s/gate_soft.bake/frames.snwf", snwTest_TempDir());
    snwProcess run = RUN("bake", path, "-o", out, "--end", "0.5", "--elements", "150", "--json");
    CHECK_INT(run.code, 0);
    json_t *report = json_loads(run.text, 0, NULL), *against = json_object_get(report, "against");
    CHECK(json_real_value(json_object_get(against, "missed")) < 1e-3); // the tolerance of the targets
    CHECK(json_number_value(json_object_get(against, "bare")) < 1e-6);
    CHECK(json_is_number(json_object_get(against, "held")));
    CHECK(json_number_value(json_object_get(against, "held")) < 1e-6);
    CHECK_INT(json_integer_value(json_object_get(against, "torn")), 0);
    CHECK_INT(json_integer_value(json_object_get(against, "folded")), 0);
    json_decref(report);
    snwProcess_Free(&run);
    run = RUN("check", "--against", path, out);
    CHECK_INT(run.code, 0);
    CHECK_CONTAINS(run.text, "0 edges torn");
    snwProcess_Free(&run);
    // A tolerance of twenty centimetres leaves flesh out: the file is not what was simulated.
    run = RUN("bake", path, "-o", out, "--force", "--softness", "20", "--tolerance", "0.2", "--elements", "150");
    CHECK_INT(run.code, 3);
    CHECK_CONTAINS(run.errors, "'body'");
    CHECK(stat(out, &info) != 0 && stat(frames, &info) == 0);
    snwProcess_Free(&run);
}

// Point caches and OBJ files are read again as documents are, and `check` finds out what they are of.
TEST(bake, cachesAndObjFilesAreHeldAgainstTheirSource)
{
    char path[512], other[512];
    snprintf(
        path, sizeof path, "%s", snwPrepareWorld_Write(&(snwPrepareWorld){.swing = true, .hat = true}, "many", NULL));
    snprintf(other, sizeof other, "%s", BendFile("other"));
    static const char* const s_endings[] = {"pc2", "mdd", "obj"};
    for (int i = 0; i < 3; ++i)
    {
        char out[192];
        snprintf(out, sizeof out, "%s/held.%s", snwTest_TempDir(), s_endings[i]);
        snwProcess run = RUN("bake", path, "-o", out, "--clip", "swing", "--start", "0.2", "--end", "0.5", "--elements",
            "150", "--json", "--force");
        CHECK_INT(run.code, 0);
        json_t *report = json_loads(run.text, 0, NULL), *against = json_object_get(report, "against");
        CHECK(json_number_value(json_object_get(against, "most")) > 1e-3);
        CHECK(json_is_number(json_object_get(against, "missed")));
        CHECK(json_number_value(json_object_get(against, "missed")) < 1e-6);
        CHECK(json_number_value(json_object_get(against, "held")) < 1e-6);
        json_decref(report);
        snwProcess_Free(&run);
        snprintf(out, sizeof out, "%s/held-body%s.%s", snwTest_TempDir(), i == 2 ? "-00003" : "", s_endings[i]);
        run = RUN("check", "--against", path, out);
        CHECK_INT(run.code, 0);
        CHECK_CONTAINS(run.text, "'swing'");
        CHECK_CONTAINS(run.text, "0 edges torn");
        snwProcess_Free(&run);
        if (i > 0)
            continue;

        // One point of the last frame somewhere else, and a source without this motion.
        FILE* file = fopen(out, "r+b");
        float far = 3;
        REQUIRE(file != NULL && fseek(file, -4, SEEK_END) == 0 && fwrite(&far, sizeof far, 1, file) == 1);
        fclose(file);
        run = RUN("check", "--against", path, out);
        CHECK_INT(run.code, 3);
        CHECK_CONTAINS(run.errors, "torn");
        snwProcess_Free(&run);
        run = RUN("check", "--against", other, out);
        CHECK_INT(run.code, 3);
        CHECK_CONTAINS(run.errors, "follows no clip");
        snwProcess_Free(&run);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The same bits

static uint64_t BakeHash(const char* path, const char* folder, int stopAfter, int* found)
{
    Take take = Open(path, folder, "{'end': 0.5}");
    snwBakeDef def = snwDefaultBakeDef();
    uint64_t hash = 0;
    if (stopAfter > 0) // again, with somebody who stops it
    {
        snwBake_Close(take.bake);
        take.stopAfter = stopAfter;
        def.source = path;
        def.folder = take.folder;
        def.words = take.words;
        def.prepare.elements = snw_testElements;
        def.progress = Stop;
        def.user = &take;
        take.result = snwBake_Open(take.context, &def, &take.bake, &take.message);
    }
    if (take.result >= 0)
        take.result = snwBake_Run(take.bake, &take.message);
    if (take.result >= 0)
        hash = HashFrames(snwBake_GetFrames(take.bake));
    CHECK(take.result == (stopAfter > 0 ? snw_errorInterrupted : snw_ok));
    *found = take.result >= 0 ? snwBake_GetReport(take.bake)->cachedFrames : 0;
    Close(&take);
    return hash;
}

TEST(bake, interruptedBakesGoOnWithTheSameBits)
{
    const char* path = BendFile("resume");
    int found = 0;
    uint64_t whole = BakeHash(path, "whole", 0, &found);
    CHECK_INT(found, 0);
    BakeHash(path, "parts", 20, &found);
    uint64_t parts = BakeHash(path, "parts", 0, &found);
    CHECK(found >= 15);
    CHECK(whole != 0 && whole == parts);
    // Frames of other settings are not used.
    Take other = Run(path, "parts", "{'end': 0.5, 'softness': 2}");
    REQUIRE(other.result >= 0);
    CHECK_INT(snwBake_GetReport(other.bake)->cachedFrames, 0);
    CHECK(HashFrames(snwBake_GetFrames(other.bake)) != whole);
    Close(&other);
}

static snwResult KeepHash(const snwRunFrame* frame, void* user, snwMessage* message)
{
    (void)message;
    *(uint64_t*)user = frame->hash;
    return snw_ok;
}

TEST(bake, theSceneThatIsSavedGivesTheSameFrames)
{
    Take take = Run(BendFile("preview"), "preview", "{'end': 0.4, 'collide': ['ground'], 'preset': 'fat'}");
    REQUIRE(take.result >= 0);
    char path[192];
    snwSceneFile file;
    snwSceneOptions options = snwDefaultSceneOptions();
    snwRunDef run = snwDefaultRunDef();
    uint64_t hash = 0;
    snprintf(path, sizeof path, "%s/saved.json", snwTest_TempDir());
    REQUIRE(snwBake_SaveScene(take.bake, path, false, &take.message) >= 0);
    CHECK(snwBake_SaveScene(take.bake, path, false, NULL) < 0);    // not twice
    snwContext* three = snwFixture_Context(3, snw_simdAuto, NULL); // threads
    REQUIRE(snwSceneFile_Open(three, path, &options, &file, &take.message) >= 0);
    run.file = &file;
    run.onFrame = KeepHash;
    run.user = &hash;
    CHECK(snwRun(three, &run, NULL, &take.message) >= 0);
    CHECK(hash != 0 && hash == snwBake_GetReport(take.bake)->hash);
    snwSceneFile_Close(&file);
    snwDestroyContext(three);
    Close(&take);
}

// ---------------------------------------------------------------------------------------------------------------------
// What is said, and what is touched

TEST(bake, wordsWinOverTheSidecar)
{
    const char* path = snwPrepareWorld_Write(&(snwPrepareWorld){0}, "words",
        "{'sinew': 1, 'material': {'young': 5000}, 'bake': {'fps': 12, 'softness': 3, 'settings': {'sim.substeps': "
        "7}}}");
    Take take = Open(path, "words", "{'fps': 15}");
    REQUIRE(take.result >= 0);
    const snwBakeSettings* settings = snwBake_GetSettings(take.bake);
    CHECK_NEAR(settings->fps, 15, 0);
    CHECK_NEAR(settings->softness, 3, 0);
    const snwSceneDef* scene = snwScene_GetDef(snwBake_GetScene(take.bake)->scene);
    CHECK_NEAR(scene->rate, 15, 0);
    REQUIRE(scene->settingCount == 1);
    CHECK_NEAR(scene->settings[0].value, 7, 0);
    const snwCharacterDef* body = snwCharacter_GetDef(scene->bodies[0].character);
    CHECK_NEAR(body->materials[0].young, 5000.0 / 3, 1e-6);
    CHECK(body->materials[0].frequency > 0); // of the preset, which the sidecar says nothing about
    char* text = NULL;
    size_t size = 0;
    REQUIRE(snwBakeSettings_Format(take.context, snwBake_GetSidecar(take.bake), settings, &text, &size, NULL) >= 0);
    json_t* saved = json_loadb(text, size, 0, NULL);
    CHECK_NEAR(json_number_value(json_object_get(json_object_get(saved, "bake"), "fps")), 15, 0);
    CHECK_NEAR(json_number_value(json_object_get(json_object_get(saved, "material"), "young")), 5000, 0);
    json_decref(saved);
    snwContext_Free(take.context, text);
    Close(&take);
    take = Open(path, "words", "{'sofness': 1}");
    CHECK(take.result < 0);
    CHECK_CONTAINS(take.message.remedy, "softness");
    Close(&take);
}

TEST(bake, commandLineWordsBecomeSettings)
{
    json_t* object = json_object();
    snwMessage message = {0};
    CHECK(snwBakeWord_Add(object, "material", "thigh:frequency=2,settling=0.8", &message) >= 0);
    CHECK(snwBakeWord_Add(object, "material", "young=2e4", &message) >= 0);
    CHECK(snwBakeWord_Add(object, "material", "arm.L:jelly", &message) >= 0);
    CHECK(snwBakeWord_Add(object, "settings", "pbcd.law=edges", &message) >= 0);
    CHECK(snwBakeWord_Add(object, "only", "shirt", &message) >= 0);
    CHECK(snwBakeWord_Add(object, "loop", "", &message) >= 0);
    CHECK(snwBakeWord_Add(object, "settings", "pbcd.law", &message) < 0);
    char* text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
    REQUIRE(text != NULL);
    CHECK(strcmp(text, "{\"loop\":true,\"material\":{\"young\":20000},\"materials\":{\"arm.L\":{\"preset\":\"jelly\"},"
                       "\"thigh\":{\"frequency\":2,\"settling\":0.8}},\"only\":[\"shirt\"],\"settings\":"
                       "{\"pbcd.law\":\"edges\"}}") == 0);
    free(text);
    json_decref(object);
}

TEST(bake, onlyWhatIsAskedForIsTouched)
{
    const char* path = BendFile("only");
    Take all = Run(path, "only", "{'end': 0.5}");
    Take some = Run(path, "only2", "{'end': 0.5, 'only': ['body'], 'bones': ['upper']}");
    Take none = Run(path, "only3", "{'end': 0.5, 'blend': 0}");
    REQUIRE(all.result >= 0 && some.result >= 0 && none.result >= 0);
    CHECK(snwBakeFrames_GetInfo(snwBake_GetFrames(all.bake)).surfaceCount == 2);
    snwBakeInfo info = snwBakeFrames_GetInfo(snwBake_GetFrames(some.bake));
    REQUIRE(info.surfaceCount == 1);
    CHECK(strcmp(snwPrepared_GetSurface(info.prepared, info.surfaces[0])->name, "body") == 0);
    CHECK(LagBetween(snwBake_GetFrames(all.bake), 0.7, 1) > 0.01);
    CHECK(LagBetween(snwBake_GetFrames(some.bake), 0.7, 1) <
          0.1 * LagBetween(snwBake_GetFrames(all.bake), 0.7, 1)); // 'lower' was not asked for
    CHECK(LagBetween(snwBake_GetFrames(some.bake), 0, 0.6) > 1e-4);
    CHECK(LagBetween(snwBake_GetFrames(none.bake), 0, 1) == 0);
    Close(&all);
    Close(&some);
    Close(&none);
    some = Open(path, "only2", "{'bones': ['uper']}");
    CHECK(some.result < 0);
    CHECK_CONTAINS(some.message.remedy, "upper");
    Close(&some);
    some = Open(path, "only2", "{'only': ['skirt']}");
    CHECK(some.result < 0);
    CHECK_CONTAINS(some.message.text, "no mesh 'skirt'");
    Close(&some);
}

TEST(bake, regionsOfBonesHaveMaterialsOfTheirOwn)
{
    const char* path = BendFile("regions");
    Take take = Open(
        path, "regions", "{'preset': 'muscle', 'materials': {'lower': {'preset': 'jelly', 'young': 700}}}");
    REQUIRE(take.result >= 0);
    const snwCharacterDef* body = snwCharacter_GetDef(snwPrepared_GetCharacter(snwBake_GetPrepared(take.bake)));
    double muscle = snwPreset_GetInfo(snwPreset_Find("muscle"))->material.young;
    for (int i = 0; i < body->tetCount; ++i)
    {
        double x = 0;
        for (int k = 0; k < 4; ++k)
            x += 0.25 * body->vertices[body->tets[i][k]].x;
        double young = body->materials[body->regions[i]].young;
        if (x < 0.4)
            CHECK_NEAR(young, muscle, 0);
        if (x > 0.6)
            CHECK_NEAR(young, 700, 0);
    }
    Close(&take);
    take = Open(path, "regions", "{'materials': {'lowr': {'preset': 'jelly'}}}");
    CHECK(take.result < 0);
    CHECK_CONTAINS(take.message.remedy, "lower");
    Close(&take);
    take = Open(path, "regions", "{'preset': 'jely'}");
    CHECK(take.result < 0);
    CHECK_CONTAINS(take.message.remedy, "jelly");
    Close(&take);
}

// m: the farthest that a surface that is written gets from the artist's in a frame (-1: in all), and where.
static double SurfaceLag(snwBakeFrames* frames, int only, snwVec3* place)
{
    snwBakeInfo info = snwBakeFrames_GetInfo(frames);
    double most = 0;
    for (int f = 0; f < info.frameCount; ++f)
        for (int s = 0; s < info.surfaceCount && (only < 0 || f == only); ++s)
        {
            snwSkin flesh, artist;
            if (snwBakeFrames_Read(frames, f, NULL, NULL) < 0 ||
                snwBakeFrames_GetSurface(frames, info.surfaces[s], &flesh, NULL) < 0 ||
                snwBakeFrames_GetArtist(frames, info.surfaces[s], &artist, NULL) < 0)
                return NAN;
            for (int i = 0; i < flesh.vertexCount; ++i)
            {
                const float *x = flesh.positions + 3 * i, *y = artist.positions + 3 * i;
                snwVec3 now = {(double)x[0], (double)x[1], (double)x[2]};
                double lag = snwVec3_Distance(now, (snwVec3){(double)y[0], (double)y[1], (double)y[2]});
                if (lag > most && place != NULL)
                    *place = now;
                most = fmax(most, lag);
            }
        }
    return most;
}

TEST(bake, reportsTellWhereFleshIsWorst)
{
    Take firm = Run(BendFile("report"), "report", "{'softness': 0.2}");
    Take soft = Run(BendFile("report"), "report2", "{'softness': 3}");
    REQUIRE(firm.result >= 0 && soft.result >= 0);
    const snwBakeReport *a = snwBake_GetReport(firm.bake), *b = snwBake_GetReport(soft.bake);
    CHECK(b->lag > 2 * a->lag);
    CHECK_NEAR(
        b->lag, LagBetween(snwBake_GetFrames(soft.bake), -1, 2), b->lag); // of the same size: a length, not a part
    CHECK(strcmp(b->lagBone, "lower") == 0);
    CHECK(b->lagFrame > 0 && b->lagFrame < b->frames);
    REQUIRE(b->lagCount == 2); // the body goes farther than the hat
    CHECK_NEAR(b->lags[0].most, b->lag, 0);
    CHECK(strcmp(b->lags[0].mesh, "body") == 0 && strcmp(b->lags[0].bone, "lower") == 0);
    CHECK(b->lags[0].frame == b->lagFrame && b->lags[1].most < b->lags[0].most);
    CHECK(strcmp(b->lags[1].mesh, "hat") == 0);
    CHECK_INT(b->driftCount, 2);
    for (int i = 0; i < b->driftCount; ++i)
    {
        CHECK(b->drifts[i].skeleton < 1e-6); // bones are the artist's
        CHECK(b->drifts[i].mean <= b->drifts[i].most && b->drifts[i].most <= b->lag);
    }
    CHECK(b->drifts[1].most > a->drifts[1].most);
    CHECK_INT(b->cuts, 0);
    CHECK_NEAR(b->lag, SurfaceLag(snwBake_GetFrames(soft.bake), -1, NULL), 1e-6);
    snwVec3 place;
    CHECK_NEAR(b->lag, SurfaceLag(snwBake_GetFrames(soft.bake), b->lagFrame, &place), 1e-6);
    CHECK_NEAR(snwVec3_Distance(place, b->lagPlace), 0, 1e-6);
    Close(&firm);
    Close(&soft);
}

// A film of surfaces that are given shows those, and its colours how far they are from the artist's.
TEST(bake, filmsShowWhatIsWritten)
{
    Take take = Run(BendFile("shown"), "shown", "{'end': 0.1}");
    REQUIRE(take.result >= 0);
    snwBakeFrames* frames = snwBake_GetFrames(take.bake);
    snwFilmDef def = snwDefaultFilmDef();
    snwSimDef simDef = snwDefaultSimDef();
    snwFilm* film = NULL;
    snwSim* sim = NULL;
    simDef.scene = snwBake_GetScene(take.bake)->scene;
    def.directory = take.folder;
    REQUIRE(snwCreateSim(take.context, &simDef, &sim, NULL) >= 0);
    REQUIRE(snwCreateFilm(take.context, &def, simDef.scene, &film, NULL) >= 0);
    film->differs = true;
    snwSkin artists[2], moved[2];
    float* positions[2];
    REQUIRE(snwBakeFrames_Read(frames, 0, NULL, NULL) >= 0);
    for (int s = 0; s < 2; ++s)
    {
        REQUIRE(snwBakeFrames_GetArtist(frames, s, &artists[s], NULL) >= 0);
        moved[s] = artists[s];
        moved[s].positions = positions[s] = malloc(12 * (size_t)artists[s].vertexCount);
        for (int i = 0; i < 3 * artists[s].vertexCount; ++i)
            positions[s][i] = artists[s].positions[i] + (i % 3 == 1 ? 0.25f * (float)(s + 1) : 0);
    }
    snwVertices body = {.positions = snwBakeFrames_GetBody(frames),
        .count = snwCharacter_GetInfo(snwPrepared_GetCharacter(snwBake_GetPrepared(take.bake))).vertexCount,
        .stride = 12};
    REQUIRE(snwFilm_AddShown(film, sim, &(snwFilmShown){&body, moved, artists, 0}, &take.message) >= 0);
    const snwFilmFrame* frame = &film->frames.data[0];
    const int* sources = film->bodies[0].surface->sources;
    int lifted[2] = {0, 0};
    for (int i = 0; i < film->bodies[0].vertexCount; ++i)
    {
        int s = sources[i] >= artists[0].vertexCount, vertex = sources[i] - (s ? artists[0].vertexCount : 0);
        CHECK_NEAR(frame->positions[3 * i + 1], positions[s][3 * vertex + 1], 0);
        CHECK_NEAR(frame->values[i], 250 * (s + 1), 1e-3);
        ++lifted[s];
    }
    CHECK(lifted[0] > 0 && lifted[1] > 0);
    for (int s = 0; s < 2; ++s)
        free(positions[s]);
    snwDestroyFilm(film);
    snwDestroySim(sim);
    Close(&take);
}

// An arm of 10 cm is twisted by 170 degrees: linear skinning wrings it like a towel.
static const char s_twist[] =
    "{'sinew': 1, 'name': 'twist', 'method': 'pbcd', 'gravity': [0, 0, 0], 'rate': 60, 'duration': 2, 'settings': "
    "{'sim.substeps': 4}, 'bodies': [{"
    "'name': 'arm', 'motion': 'twist', 'character': {'blueprint': {'sinew': 1, 'name': 'arm', 'material': {'density': "
    "1000, 'young': 20000, 'poisson': 0.45, 'damping': 1}, 'size': {'vertices': 1500}, 'bones': [{'name': 'upper', "
    "'head': [0, 0.5, -0.45], 'tail': [0, 0.5, -0.02], 'radius': 0.02}, {'name': 'lower', 'parent': 'upper', 'head': "
    "[0, 0.5, 0.02], 'tail': [0, 0.5, 0.45], 'radius': 0.02}], 'joints': [{'type': 'ball', 'bone': 'lower', 'at': [0, "
    "0.5, 0], 'axis': [0, 0, 1], 'cone': 170, 'range': [-179, 179]}], 'parts': [{'kind': 'capsule', 'from': [0, 0.5, "
    "-0.5], 'to': [0, 0.5, 0.5], 'radius': 0.1}], 'motions': [{'name': 'twist', 'duration': 2, 'loop': false, "
    "'tracks': [{'bone': 'lower', 'keys': [[0, 0, 0, 0], [0.5, 0, 0, 85], [1, 0, 0, 170], [2, 0, 0, 170]]}]}]}}}]}";

// Volume of all, and the mean radius of the skin within 4 cm of the middle.
static double ArmVolume(snwSim* sim, double* waist)
{
    const snwCharacterDef* def = snwCharacter_GetDef(snwScene_GetDef(snwSim_GetScene(sim))->bodies[0].character);
    snwVertices now;
    snwSkin skin;
    double volume = 0, sum = 0, count = 0;
    if (snwSim_GetVertices(sim, 0, &now) < 0 || snwSim_GetSkin(sim, 0, &skin) < 0)
        return NAN;
    for (int t = 0; t < def->tetCount; ++t)
    {
        snwVec3 x[4];
        for (int k = 0; k < 4; ++k)
        {
            const float* p = (const float*)((const char*)now.positions + (size_t)def->tets[t][k] * (size_t)now.stride);
            x[k] = (snwVec3){(double)p[0], (double)p[1], (double)p[2]};
        }
        volume += snwVec3_Dot(
                      snwVec3_Cross(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0])), snwVec3_Sub(x[3], x[0])) /
                  6;
    }
    for (int i = 0; i < 3 * skin.triangleCount; ++i)
    {
        int vertex = skin.vertices != NULL ? skin.vertices[skin.triangles[i]] : skin.triangles[i];
        const float* p = (const float*)((const char*)now.positions + (size_t)vertex * (size_t)now.stride);
        if (fabs(def->vertices[vertex].z) > 0.04)
            continue;
        sum += hypot((double)p[0], (double)p[1] - 0.5);
        count += 1;
    }
    *waist = sum / count;
    return volume;
}

TEST(bake, twistsKeepTheirVolumeAndWaist)
{
    char text[sizeof s_twist];
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneOptions options = snwDefaultSceneOptions();
    snwSceneFile file;
    snwSim* sim = NULL;
    snwMessage message = {0};
    memcpy(text, s_twist, sizeof text);
    for (char* c = text; *c != 0; ++c)
        *c = *c == '\'' ? '"' : *c;
    REQUIRE(snwSceneFile_Parse(context, text, strlen(text), "twist.json", &options, &file, &message) >= 0);
    snwSimDef def = snwDefaultSimDef();
    def.scene = file.scene;
    REQUIRE(snwCreateSim(context, &def, &sim, &message) >= 0);
    double waist[2], volume[2];
    volume[0] = ArmVolume(sim, &waist[0]);
    for (int i = 0; i < 90; ++i)
        REQUIRE(snwSim_Step(sim, 1.0 / 60, &message) >= 0);
    volume[1] = ArmVolume(sim, &waist[1]);
    CHECK(waist[1] >= 0.97 * waist[0]);
    CHECK_NEAR(volume[1] / volume[0], 1, 0.01);
    snwDestroySim(sim);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

TEST(bake, kindsAreChangedByPattern)
{
    const char* path = snwPrepareWorld_Write(&(snwPrepareWorld){.shirt = true, .shirtMaterial = "wool"}, "kinds",
        "{'sinew': 1, 'surfaces': {'shirt': {'kind': 'carried'}}}");
    Take take = Open(path, "kinds", "{'rigid': ['*'], 'soft': ['bo*']}"); // the command line wins
    REQUIRE(take.result >= 0);
    CHECK_INT(snwPrepared_GetSurface(snwBake_GetPrepared(take.bake), 0)->kind, snw_surfaceSoft);
    CHECK_INT(snwPrepared_GetSurface(snwBake_GetPrepared(take.bake), 1)->kind, snw_surfaceRigid);
    Close(&take);
    take = Open(path, "kinds", "{'rigid': ['bood*']}");
    CHECK_INT(take.result, snw_errorInput);
    CHECK_CONTAINS(take.message.text, "bood*");
    Close(&take);
    take = Open(path, "kinds", "{'rigid': 'body'}");
    CHECK_CONTAINS(take.message.text, "list of names");
    Close(&take);
}

// ---------------------------------------------------------------------------------------------------------------------
// The verb

TEST(bake, theVerbWritesOnceAndTells)
{
    char out[192], folder[192];
    const char* path = BendFile("verb");
    snprintf(out, sizeof out, "%s/verb_soft.glb", snwTest_TempDir());
    snprintf(folder, sizeof folder, "%s/verb_soft.bake", snwTest_TempDir());
    snwProcess run = RUN("bake", path, "-o", out, "--end", "0.3", "--elements", "300", "--json");
    CHECK_INT(run.code, 0);
    json_t* report = json_loads(run.text, 0, NULL);
    REQUIRE(report != NULL);
    CHECK_INT(json_integer_value(json_object_get(report, "frames")), 8);
    CHECK_INT(json_array_size(json_object_get(report, "drift")), 2);
    CHECK(json_integer_value(json_object_get(json_array_get(json_object_get(report, "files"), 0), "bytes")) > 1000);
    json_decref(report);
    struct stat info;
    CHECK(stat(out, &info) == 0);
    CHECK(stat(folder, &info) != 0); // nothing is left behind
    snwProcess_Free(&run);
    run = RUN("bake", path, "-o", out);
    CHECK_INT(run.code, 1);
    CHECK_CONTAINS(run.errors, "exists");
    snwProcess_Free(&run);
    run = RUN("bake", path, "-o", out, "--force", "--clip", "walk");
    CHECK_INT(run.code, 3);
    CHECK_CONTAINS(run.errors, "bend");
    snwProcess_Free(&run);
    run = RUN("bake", path);
    CHECK_INT(run.code, 2);
    snwProcess_Free(&run);
}

// A whole bake that is stopped at a call of its progress.
typedef struct Stopper
{
    int calls, stopAt; // stopAt 0: never
    int phases[snw_bakeDrawing + 1];
} Stopper;

static snwResult CountCall(const snwBakeProgress* progress, void* user)
{
    Stopper* stopper = user;
    ++stopper->phases[progress->stage];
    CHECK(progress->done >= 0 && progress->done <= progress->total);
    return ++stopper->calls == stopper->stopAt ? snw_errorInterrupted : snw_ok;
}

static snwResult CountWriting(int done, int total, void* user)
{
    return CountCall(&(snwBakeProgress){snw_bakeWriting, "writing", done, total}, user);
}

static snwResult CountDrawing(int done, int total, void* user)
{
    return CountCall(&(snwBakeProgress){snw_bakeDrawing, "drawing", done, total}, user);
}

static snwResult BakeAll(const char* path, const char* folder, Stopper* stopper)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBakeDef def = snwDefaultBakeDef();
    snwBakeOutputDef out = snwDefaultBakeOutputDef();
    snwBakeFilmDef film = snwDefaultBakeFilmDef();
    snwBakeOutputReport report;
    snwBake* bake = NULL;
    snwMessage message = {0};
    char written[192], picture[192];
    snprintf(written, sizeof written, "%s/stopped_anywhere.glb", snwTest_TempDir());
    snprintf(picture, sizeof picture, "%s/stopped_anywhere.png", snwTest_TempDir());
    def.source = path;
    def.folder = film.folder = folder;
    def.words = json_pack("{s:f, s:f, s:f}", "end", 0.3, "preroll", 0.0, "softness", 3.0);
    def.prepare.elements = snw_testElements;
    def.progress = CountCall;
    def.user = out.user = film.user = stopper;
    out.path = written;
    out.overwrite = film.overwrite = true;
    out.progress = CountWriting;
    film.picture = picture;
    film.width = film.height = 32;
    film.progress = CountDrawing;
    snwResult result = snwBake_Open(context, &def, &bake, &message);
    if (result >= 0)
        result = snwBake_Run(bake, &message);
    if (result >= 0)
        result = snwBakeOutput_Write(context, snwBake_GetFrames(bake), &out, &report, &message);
    if (result >= 0)
        result = snwBake_CheckWritten(bake, &report, &message);
    if (result >= 0)
        result = snwBakeFilm_Draw(context, bake, &film, &message);
    if (result >= 0)
        stopper->calls = snwBake_GetReport(bake)->frames;
    snwBake_Close(bake);
    json_decref((json_t*)def.words);
    snwDestroyContext(context);
    return result;
}

// Where flesh moves most, the artist's tile and the one with flesh are not the same to the eye.
TEST(bake, thePictureShowsWhatFleshDoes)
{
    char picture[192];
    Take take = Run(BendFile("shown"), "shown", "{'softness': 2, 'end': 0.6, 'preroll': 0}");
    REQUIRE(take.result >= 0);
    snprintf(picture, sizeof picture, "%s/shown.png", snwTest_TempDir());
    snwBakeFilmDef film = snwDefaultBakeFilmDef();
    film.folder = take.folder;
    film.picture = picture;
    film.width = film.height = 96;
    film.overwrite = true;
    REQUIRE(snwBakeFilm_Draw(take.context, take.bake, &film, &take.message) >= 0);
    png_image image = {.version = PNG_IMAGE_VERSION};
    REQUIRE(png_image_begin_read_from_file(&image, picture) != 0);
    image.format = PNG_FORMAT_GRAY;
    unsigned char* pixels = malloc(PNG_IMAGE_SIZE(image));
    REQUIRE(png_image_finish_read(&image, NULL, pixels, 0, NULL) != 0);

    // Tiles of 96 pixels, 6 apart, in a margin of 22.
    int width = (int)image.width, differ = 0;
    REQUIRE(width == 2 * 22 + 3 * 96 + 2 * 6);
    for (int y = 22; y < 22 + 96; ++y)
        for (int x = 22; x < 22 + 96; ++x)
            differ += abs(pixels[y * width + x] - pixels[y * width + x + 102]) > 24;
    CHECK(differ > 96 * 96 / 40);
    free(pixels);
    Close(&take);
}

TEST(bake, everyPhaseTellsAndCanBeStopped)
{
    char folder[160];
    snprintf(folder, sizeof folder, "%s/stopped_anywhere", snwTest_TempDir());
    const char* path = BendFile("anywhere");
    Stopper all = {0};
    REQUIRE(BakeAll(path, folder, &all) >= 0);
    CHECK_INT(all.phases[snw_bakePreparing], snw_prepareStepCount);
    for (int i = snw_bakeSimulating; i < snw_bakeDrawing; ++i)
        CHECK(all.phases[i] >= all.calls);   // of each frame, at least
    CHECK(all.phases[snw_bakeDrawing] >= 2); // a picture is one frame
    CHECK(all.phases[snw_bakeWriting] >= 3 * all.calls);
    CHECK(all.phases[snw_bakeChecking] >= 4 * all.calls); // surfaces and what they follow, with flesh and held

    // The first, a middle and the last call of each phase; the frames of the first run are found again.
    for (int i = 0, first = 1; i <= snw_bakeDrawing; first += all.phases[i++])
        for (int k = 0; k < 3; ++k)
        {
            Stopper stopper = {.stopAt = first + k * (all.phases[i] - 1) / 2};
            CHECK_INT(BakeAll(path, folder, &stopper), snw_errorInterrupted);
            CHECK_INT(stopper.calls, stopper.stopAt); // nothing goes on after it
        }
}

// Ctrl-C while it prepares: over at once, and nothing is left. Weights of so many elements would take minutes.
TEST(bake, interruptWhilePreparingLeavesNothing)
{
    char out[192], folder[192];
    snprintf(out, sizeof out, "%s/hasty.glb", snwTest_TempDir());
    snprintf(folder, sizeof folder, "%s/hasty.bake", snwTest_TempDir());
    const char* const words[] = {SINEW, "bake", BendFile("early"), "-o", out, "--elements", "2000000", "--quiet", NULL};
    snwProcess process = snwProcess_Start(words, NULL);
    REQUIRE(process.id > 0);
    struct stat info;
    bool begun = false;
    for (int i = 0; i < 1000 * snwTest_Patience() && !begun; ++i)
    {
        begun = stat(folder, &info) == 0;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(process.id, SIGINT);
    snwProcess_Wait(&process);
    CHECK(begun);
    CHECK_INT(process.code, 130);
    CHECK(stat(folder, &info) != 0 && stat(out, &info) != 0);
    snwProcess_Free(&process);
}

// Ctrl-C while it simulates: the exit code says so, and the frames stay.
TEST(bake, interruptKeepsFinishedFrames)
{
    char out[192], frames[192];
    snprintf(out, sizeof out, "%s/stopped.glb", snwTest_TempDir());
    snprintf(frames, sizeof frames, "%s/stopped.bake/frames.snwf", snwTest_TempDir());
    const char* const words[] = {SINEW, "bake", BendFile("stop"), "-o", out, "--fps", "1000", "--substeps", "100",
        "--elements", "300", "--quiet", NULL};
    snwProcess process = snwProcess_Start(words, NULL);
    REQUIRE(process.id > 0);
    struct stat info;
    bool begun = false;
    for (int i = 0; i < 100 * snwTest_Patience() && !begun; ++i)
    {
        begun = stat(frames, &info) == 0;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    kill(process.id, SIGINT);
    snwProcess_Wait(&process);
    CHECK(begun);
    CHECK_INT(process.code, 130);
    CHECK(stat(frames, &info) == 0);
    CHECK(stat(out, &info) != 0);
    snwProcess_Free(&process);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

static snwResult BakeWith(snwContext* context, const char* path)
{
    char folder[160];
    snwBakeDef def = snwDefaultBakeDef();
    snwBake* bake = NULL;
    snprintf(folder, sizeof folder, "%s/memory", snwTest_TempDir());
    def.source = path;
    def.folder = folder;
    def.words = json_pack("{s:f, s:f, s:f}", "end", 0.1, "preroll", 0.0, "softness", 2.0);
    def.prepare.elements = 60;
    def.restart = true;
    snwResult result = snwBake_Open(context, &def, &bake, NULL);
    if (result >= 0)
        result = snwBake_Run(bake, NULL);
    snwBake_Close(bake);
    json_decref((json_t*)def.words);
    return result;
}

TEST(bake, failedAllocationsAreErrorsWithoutLeak)
{
    const char* path = BendFile("memory");
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    CHECK(BakeWith(context, path) >= 0);
    long all = counter.allocations;
    snwDestroyContext(context);
    // From the end on, where the bake's own are, and the rest in growing steps.
    for (long back = 0; back < all; back += back < 6 ? 1 : back)
    {
        counter = (snwCountingAllocator){0};
        context = snwFixture_Context(1, snw_simdAuto, &counter);
        counter.failAt = all - back > counter.allocations ? all - back : counter.allocations + 1;
        CHECK_INT(BakeWith(context, path), snw_errorMemory);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
}
