// Motion of handles as clips and as GLB. A puppet moves the handles by formula and shows what linear blending makes of
// them, so that both files can be held against the truth.

#include "fixture.h"
#include "rigged.h"
#include "test.h"
#include "validator.h"

#include "asset/export.h"
#include "asset/export_take.h"
#include "asset/poser.h"
#include "rig/clip.h"
#include "scene/blueprint_file.h"
#include "scene/scene_file.h"
#include "sim/method.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// The puppet

enum
{
    snw_puppetStretch,
    snw_puppetParamCount
};

static const snwParamInfo s_params[snw_puppetParamCount] = {[snw_puppetStretch] = {.name = "puppet.stretch",
                                                                .type = snw_paramBool,
                                                                .unit = "",
                                                                .upper = 1,
                                                                .live = true,
                                                                .help = "handles stretch and shear"}};
static const char* const s_stages[] = {"pull"};

typedef struct Puppet
{
    const snwCharacter* character;
    const snwWeights* weights;
    snwWeights* own;
    int handles, vertices;
} Puppet;

static snwResult CreateModel(const snwModelDef* def, void** model, snwMessage* message)
{
    const snwCharacterDef* character = &def->character->def;
    snwWeightsDef wanted = snwDefaultWeightsDef();
    Puppet* puppet = snwAlloc(def->context, sizeof *puppet);
    if (puppet == NULL)
        return snwFailMemory(message);
    wanted.handles = character->handleCount > 0;
    *puppet = (Puppet){def->character, wanted.handles ? &character->handleWeights : &character->boneWeights, NULL,
        snwCharacter_HandleCount(def->character), character->vertexCount};
    snwResult result = snw_ok;
    if (puppet->weights->vertexCount == 0)
    {
        result = snwComputeWeights(def->character, &wanted, &puppet->own, message);
        puppet->weights = puppet->own;
    }
    *model = puppet;
    return result;
}

static void DestroyModel(snwContext* context, void* model)
{
    snwFree(context, ((Puppet*)model)->own);
    snwFree(context, model);
}

static size_t StateSize(const void* model)
{
    const Puppet* puppet = model;
    return (size_t)puppet->handles * (12 * sizeof(double) + sizeof(snwTransform)) +
           (size_t)puppet->vertices * 6 * sizeof(float);
}

static double (*Matrices(const snwSim* sim))[12]
{
    return sim->bodies[0].state;
}

static snwTransform* Transforms(const snwSim* sim)
{
    return (snwTransform*)(Matrices(sim) + ((const Puppet*)sim->bodies[0].model)->handles);
}

static float* Rows(const snwSim* sim)
{
    return (float*)(Transforms(sim) + ((const Puppet*)sim->bodies[0].model)->handles);
}

static snwVec3 RestOf(const snwCharacter* character, int handle)
{
    return character->def.handleCount > 0 ? character->def.handles[handle].position
                                          : character->skeleton.pivots[handle];
}

// Turns about its own point, which swings to and fro; in space about a slanted axis.
static snwAffine MapAt(const snwSim* sim, int handle, double time)
{
    const snwCharacter* character = sim->bodies[0].character;
    bool flat = character->def.triangleCount > 0;
    double angle = 0.9 * sin(5 * time + handle);
    snwVec3 rest = RestOf(character, handle);
    snwVec3 shift = {0.1 * sin(4 * time), 0.2 * sin(3 * time + handle), flat ? 0 : 0.1 * time};
    snwAffine map = {snwQuat_ToMat3(snwQuat_FromRotationVector((snwVec3){0, flat ? 0 : angle, angle})), {0, 0, 0}};
    if (snwSim_Param(sim, snw_puppetStretch) > 0)
    {
        snwMat3 s = snwMat3_Identity();
        s.m[0][0] = 1 + 0.3 * sin(7 * time);
        s.m[0][1] = 0.2 * handle * sin(time);
        map.linear = snwMat3_Mul(map.linear, s);
    }
    map.translation = snwVec3_Sub(snwVec3_Add(rest, shift), snwMat3_MulVec(map.linear, rest));
    return map;
}

static void Show(snwSim* sim, double time)
{
    const Puppet* puppet = sim->bodies[0].model;
    float* row = Rows(sim);
    for (int k = 0; k < puppet->handles; ++k)
    {
        snwAffine map = MapAt(sim, k, time);
        snwAffine_ToMatrix(map, Matrices(sim)[k]);
        Transforms(sim)[k] = snwAffine_ToTransform(map);
    }
    for (int i = 0; i < puppet->vertices; ++i, row += 6)
    {
        snwVec3 x = {0, 0, 0};
        for (int e = puppet->weights->starts[i]; e < puppet->weights->starts[i + 1]; ++e)
            x = snwVec3_MulAdd(x, puppet->weights->values[e],
                snwAffine_Apply(MapAt(sim, puppet->weights->handles[e], time), puppet->character->def.vertices[i]));
        row[0] = (float)x.x, row[1] = (float)x.y, row[2] = (float)x.z;
        row[3] = row[4] = row[5] = 0;
    }
}

static void InitBody(snwSim* sim, int body)
{
    (void)body;
    Show(sim, 0);
}

static snwResult Step(snwSim* sim, double h, snwMessage* message)
{
    (void)h;
    (void)message;
    Show(sim, sim->substepTime);
    snwSim_EndStage(sim, 0);
    return snw_ok;
}

static void GetVertices(const snwSim* sim, int body, snwVertices* vertices)
{
    *vertices = (snwVertices){
        Rows(sim), Rows(sim) + 3, ((const Puppet*)sim->bodies[body].model)->vertices, 6 * (int)sizeof(float)};
}

static void GetHandles(const snwSim* sim, int body, snwTransforms* handles)
{
    *handles = (snwTransforms){
        Transforms(sim), ((const Puppet*)sim->bodies[body].model)->handles, (int)sizeof(snwTransform)};
}

static void GetMatrices(const snwSim* sim, int body, snwMatrices* handles)
{
    *handles = (snwMatrices){(const double(*)[12])Matrices(sim), ((const Puppet*)sim->bodies[body].model)->handles,
        12 * (int)sizeof(double)};
}

static const snwMethod s_puppet = {.name = "puppet",
    .title = "handles by formula",
    .source = "this test",
    .features = snw_featureTets | snw_featureTriangles | snw_featureHandles | snw_featureBones,
    .params = s_params,
    .paramCount = snw_puppetParamCount,
    .stages = s_stages,
    .stageCount = 1,
    .createModel = CreateModel,
    .destroyModel = DestroyModel,
    .bodyStateSize = StateSize,
    .initBody = InitBody,
    .step = Step,
    .getVertices = GetVertices,
    .getHandles = GetHandles,
    .getHandleMatrices = GetMatrices};

// ---------------------------------------------------------------------------------------------------------------------
// A run

enum
{
    s_frames = 12
};

typedef struct Run
{
    snwContext* context;
    snwCharacter* character;
    snwSim* sim;
    float* shown; // of all frames
    char path[256];
    snwMessage message;
} Run;

// With its weights, so that they are computed once; a picture takes its time to be written.
static snwCharacter* Remake(snwContext* context, snwCharacter* plain, bool textured)
{
    snwCharacterDef def = *snwCharacter_GetDef(plain);
    snwWeightsDef wanted = snwDefaultWeightsDef();
    snwWeights* weights = NULL;
    snwCharacter* character = NULL;
    wanted.handles = def.handleCount > 0;
    if (!textured)
        def.texture = (snwTexture){0};
    CHECK(snwComputeWeights(plain, &wanted, &weights, NULL) >= 0);
    if (wanted.handles)
        def.handleWeights = *weights;
    else
        def.boneWeights = *weights;
    CHECK_INT(snwCreateCharacter(context, &def, &character, NULL), snw_ok);
    snwContext_Free(context, weights);
    snwCharacter_Release(plain);
    return character;
}

static snwCharacter* MakeCharacter(snwContext* context, bool flat, bool textured)
{
    snwRiggedBar bar = snwRigged_DefaultBar();
    bar.bones = true;
    snwCharacter* character = NULL;
    if (!flat)
        return Remake(context, snwRigged_MakeBar(context, &bar), textured);
    snwBlueprintFile file;
    CHECK_INT(snwBlueprintFile_Open(context, "starfish", &file, NULL), snw_ok);
    CHECK_INT(snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL), snw_ok);
    snwBlueprintFile_Free(&file);
    return Remake(context, character, textured);
}

static snwScene* MakeScene(snwContext* context, snwCharacter* character)
{
    snwSceneDef def = snwDefaultSceneDef();
    snwBodyDef body = snwDefaultBodyDef();
    snwScene* scene = NULL;
    body.name = "star";
    body.character = character;
    def.bodies = &body;
    def.bodyCount = 1;
    CHECK_INT(snwCreateScene(context, &def, &scene, NULL), snw_ok);
    return scene;
}

// Takes the character.
static Run NewRun(snwContext* context, snwCharacter* character, bool stretch)
{
    Run run = {.context = context, .character = character};
    snwSimDef def = snwDefaultSimDef();
    def.scene = MakeScene(context, run.character);
    CHECK_INT(snwCreateSimWith(context, &def, &s_puppet, &run.sim, NULL), snw_ok);
    snwScene_Release(def.scene);
    CHECK_INT(snwSim_SetParam(run.sim, "puppet.stretch", stretch, NULL), snw_ok);
    snwFixture_Run(run.sim, 1, 1.0 / 60);
    snprintf(run.path, sizeof run.path, "%s/take", snwTest_TempDir());
    run.shown = calloc((size_t)s_frames * (size_t)run.character->def.vertexCount * 3, sizeof(float));
    return run;
}

static void FreeRun(Run* run)
{
    snwDestroySim(run->sim);
    snwCharacter_Release(run->character);
    free(run->shown);
}

static void KeepShown(Run* run, int frame)
{
    snwVertices vertices;
    snwSim_GetShown(run->sim, 0, &vertices);
    for (int i = 0; i < vertices.count; ++i)
        memcpy(run->shown + 3 * ((size_t)frame * (size_t)vertices.count + (size_t)i),
            (const char*)vertices.positions + (size_t)i * (size_t)vertices.stride, 3 * sizeof(float));
}

static snwResult Export(Run* run, snwExportKind kind, int frames)
{
    snwExportDef def = snwDefaultExportDef(kind);
    snwExporter* exporter = NULL;
    def.path = run->path;
    def.frameCount = frames;
    def.overwrite = true;
    snwResult result = snwExporter_Open(run->context, &def, snwSim_GetScene(run->sim), &exporter, &run->message);
    for (int i = 0; i < frames && result >= 0; ++i)
    {
        if (i > 0)
            snwFixture_Run(run->sim, 1, 1.0 / 60);
        KeepShown(run, i);
        result = snwExporter_AddFrame(exporter, run->sim, &run->message);
        if (result < 0)
            snwExporter_Drop(exporter);
    }
    return result < 0 ? result : snwExporter_Finish(exporter, &run->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// GLB

static const char* PathWith(const Run* run, const char* ending)
{
    static char path[300];
    snprintf(path, sizeof path, "%s%s", run->path, ending);
    return path;
}

static int FindMeshNode(const snwAsset* asset)
{
    int node = 0;
    while (asset->nodes[node].mesh < 0)
        node++;
    return node;
}

// What a player makes of the file at this time, largest distance to what was shown.
static double FarthestAt(const snwAsset* asset, snwAssetPoser* poser, const Run* run, int frame)
{
    const snwAssetNode* node = &asset->nodes[FindMeshNode(asset)];
    const snwAssetMesh* mesh = &asset->meshes[node->mesh];
    const snwAssetSkin* skin = &asset->skins[node->skin];
    snwSkin rest;
    double farthest = 0;
    snwCharacter_GetRestSkin(run->character, &rest);
    CHECK_INT(mesh->vertexCount, rest.vertexCount);
    snwAssetPoser_Pose(poser, &asset->animations[0], (1 + frame) / 60.0);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        snwVec3 x = {0, 0, 0};
        for (int e = mesh->weights.starts[i]; e < mesh->weights.starts[i + 1]; ++e)
        {
            int joint = mesh->weights.bones[e];
            snwAffine map = snwAffine_Compose(poser->places[skin->joints[joint]], skin->inverseBinds[joint]);
            x = snwVec3_MulAdd(x, mesh->weights.values[e], snwAffine_Apply(map, mesh->positions[i]));
        }
        const float* shown = run->shown +
                             3 * ((size_t)frame * (size_t)run->character->def.vertexCount + (size_t)rest.vertices[i]);
        farthest = fmax(farthest, snwVec3_Distance(x, (snwVec3){shown[0], shown[1], shown[2]}));
    }
    return farthest;
}

static void CheckGlb(snwContext* context, snwCharacter* character, bool stretch)
{
    snwCharacter_Retain(character);
    Run run = NewRun(context, character, stretch);
    snwAsset* asset = NULL;
    snwAssetPoser poser;
    snwArena arena = {.context = context};
    CHECK_INT(Export(&run, snw_exportGlb, s_frames), snw_ok);
    CHECK_INT(snwAsset_Open(context, PathWith(&run, ".glb"), &asset, &run.message), snw_ok);
    REQUIRE(asset != NULL);
    CHECK_INT(asset->animationCount, 1);
    CHECK_INT(asset->skinCount, 1);
    int handles = snwCharacter_HandleCount(run.character);
    CHECK_INT(asset->skins[0].jointCount, stretch ? 2 * handles : handles);
    CHECK_INT(snwAssetPoser_Make(asset, &arena, &poser, NULL), snw_ok);
    double size = snwVec3_Distance(run.character->lower, run.character->upper), worst = 0;
    for (int frame = 0; frame < s_frames; ++frame)
        worst = fmax(worst, FarthestAt(asset, &poser, &run, frame));
    CHECK(worst <= 1e-5 * size);
    // They move: another frame's pose is not this one's.
    memmove(run.shown, run.shown + 3 * (size_t)(s_frames - 1) * (size_t)run.character->def.vertexCount,
        3 * (size_t)run.character->def.vertexCount * sizeof(float));
    CHECK(FarthestAt(asset, &poser, &run, 0) > 0.01 * size);
    snwArena_Free(&arena);
    snwAsset_Close(asset);
    FreeRun(&run);
}

TEST(take, skinnedGlbIsWhatWasShown)
{
    for (int flat = 0; flat < 2; ++flat)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        snwCharacter* character = MakeCharacter(context, flat, false);
        CheckGlb(context, character, false);
        CheckGlb(context, character, true);
        snwCharacter_Release(character);
        snwDestroyContext(context);
    }
}

// A flat chain of bones: the joints hang on each other as the bones do, and what follows them is where it was shown.
TEST(take, chainsOfHandlesAreChainsOfNodes)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    snwAsset* asset = NULL;
    CHECK_INT(snwBlueprintFile_Open(context, "fish-2d", &file, NULL), snw_ok);
    CHECK_INT(snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL), snw_ok);
    snwBlueprintFile_Free(&file);
    REQUIRE(character != NULL);
    character = Remake(context, character, false);
    CheckGlb(context, character, false);
    Run run = NewRun(context, character, false);
    CHECK_INT(Export(&run, snw_exportGlb, 2), snw_ok);
    CHECK_INT(snwAsset_Open(context, PathWith(&run, ".glb"), &asset, &run.message), snw_ok);
    REQUIRE(asset != NULL);
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    int hanging = 0;
    for (int i = 0; i < def->boneCount; ++i)
        for (int n = 0; n < asset->nodeCount; ++n)
        {
            int above = asset->nodes[n].parent, parent = def->bones[i].parent;
            if (strcmp(asset->nodes[n].name, def->bones[i].name) != 0 || parent < 0)
                continue;
            hanging++;
            CHECK(above >= 0 && strcmp(asset->nodes[above].name, def->bones[parent].name) == 0);
        }
    CHECK_INT(hanging, 3);
    snwAsset_Close(asset);
    FreeRun(&run);
    snwDestroyContext(context);
}

TEST(take, validatorFindsNoErrors)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char paths[3][300];
    const char* list[3];
    snwVerdict verdicts[3];
    for (int i = 0; i < 3; ++i)
    {
        Run run = NewRun(context, MakeCharacter(context, i == 0, true), i == 2);
        snprintf(run.path, sizeof run.path, "%s/valid-%d", snwTest_TempDir(), i);
        CHECK_INT(Export(&run, snw_exportGlb, 4), snw_ok);
        snprintf(paths[i], sizeof paths[i], "%s.glb", run.path);
        list[i] = paths[i];
        FreeRun(&run);
    }
    snwDestroyContext(context);
    if (!snwValidate(list, 3, verdicts))
        SKIP("there is no gltf-validator here: tools/setup.sh validate");
    for (int i = 0; i < 3; ++i)
        CHECK_INT(verdicts[i].errors, 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Clips

// A scene of one body whose clips lie in a file.
static snwResult OpenScene(const Run* run, const char* body, const char* clips, snwSceneFile* file, snwMessage* message)
{
    bool flat = run->character->def.triangleCount > 0;
    char text[1024], path[300];
    snprintf(path, sizeof path, "%s/scene.json", snwTest_TempDir());
    snprintf(text, sizeof text,
        "{\"sinew\": 1, \"name\": \"again\", \"method\": \"pbd\", \"bodies\": [{\"name\": \"%s\", \"character\": "
        "%s}], \"clips\": %s}",
        body, flat ? "{\"blueprint\": \"starfish\"}" : "{\"shape\": \"block\"}", clips);
    return snwSceneFile_Parse(run->context, text, strlen(text), path, NULL, file, message);
}

TEST(take, clipsComeBackAsTheyWere)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Run run = NewRun(context, MakeCharacter(context, true, false), false);
    snwSceneFile file;
    CHECK_INT(Export(&run, snw_exportClips, s_frames), snw_ok);
    CHECK_INT(OpenScene(&run, "star", "[{\"file\": \"take.clips.json\"}]", &file, &run.message), snw_ok);
    REQUIRE(file.scene != NULL);
    const snwSceneDef* def = snwScene_GetDef(file.scene);
    CHECK_INT(def->clipCount, snwCharacter_HandleCount(run.character));
    for (int k = 0; k < def->clipCount; ++k)
    {
        const snwClipDef* clip = &def->clips[k];
        CHECK(clip->target == snw_clipHandle && clip->index == k && clip->body == 0 && clip->given == snw_dofAll);
        CHECK_INT(clip->keyCount, s_frames);
        for (int i = 0; i < s_frames; ++i)
        {
            double time = (1 + i) / 60.0;
            snwAffine map = MapAt(run.sim, k, time);
            snwTransform now = snwClip_Evaluate(clip, time);
            snwVec3 place = snwAffine_Apply(map, RestOf(run.character, k));
            CHECK_NEAR(snwVec3_Distance(now.position, place), 0, 1e-12);
            CHECK_NEAR(snwMat3_Norm(snwMat3_Sub(snwQuat_ToMat3(now.rotation), map.linear)), 0, 1e-12);
        }
    }
    snwSceneFile_Close(&file);
    FreeRun(&run);
    snwDestroyContext(context);
}

TEST(take, wrongFilesOfClipsAreTold)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Run run = NewRun(context, MakeCharacter(context, false, false), false);
    snwSceneFile file;
    snwMessage* message = &run.message;
    CHECK_INT(Export(&run, snw_exportClips, 2), snw_ok);
    CHECK(OpenScene(&run, "star", "[{\"file\": \"no.clips.json\"}]", &file, message) < 0);
    CHECK_CONTAINS(message->file, "no.clips.json");
    CHECK(OpenScene(&run, "fish", "[{\"file\": \"take.clips.json\"}]", &file, message) < 0);
    CHECK_CONTAINS(message->file, "take.clips.json");
    CHECK_CONTAINS(message->place, "clips[0].body");
    CHECK(OpenScene(&run, "star", "[{\"file\": \"take.clips.json\", \"loop\": true}]", &file, message) < 0);
    CHECK_CONTAINS(message->text, "no other keys");
    FILE* nested = fopen(PathWith(&run, "-nested.json"), "w");
    REQUIRE(nested != NULL);
    fputs("{\"clips\": [{\"file\": \"take.clips.json\"}]}", nested);
    fclose(nested);
    CHECK(OpenScene(&run, "star", "[{\"file\": \"take-nested.json\"}]", &file, message) < 0);
    CHECK_CONTAINS(message->text, "names no other");
    CHECK(OpenScene(&run, "star", "[{\"file\": \"scene.json\"}]", &file, message) < 0);
    CHECK(OpenScene(&run, "star", "[{\"pin\": \"hand\"}]", &file, message) < 0);
    FreeRun(&run);
    snwDestroyContext(context);
}

TEST(take, bodiesWithoutHandlesAreRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwExportDef def = snwDefaultExportDef(snw_exportGlb);
    snwExporter* exporter = NULL;
    snwMessage message;
    def.path = "nowhere";
    CHECK_INT(snwExporter_Open(context, &def, snwSim_GetScene(sim), &exporter, &message), snw_errorUnsupported);
    CHECK_CONTAINS(message.text, "no handles");
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(take, everyFailedAllocationIsAnErrorWithoutLeak)
{
    for (snwExportKind kind = snw_exportClips; kind <= snw_exportGlb; ++kind)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        Run run = NewRun(context, MakeCharacter(context, false, false), true);
        long live = counter.live, step = 1;
        snwResult result = snw_errorMemory;
        for (long n = 1; n < 3000 && result < 0; n += step)
        {
            counter.failAt = counter.allocations + n;
            result = Export(&run, kind, 2);
            CHECK(result == snw_ok || result == snw_errorMemory);
            CHECK_INT(counter.live, live);
            step = n / 20 + 1;
        }
        CHECK_INT(result, snw_ok);
        counter.failAt = 0;
        FreeRun(&run);
        snwDestroyContext(context);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The round trip: a performance with one handle dragged, exported, and played again by its clips alone

static snwSim* OpenSim(snwContext* context, snwCharacter* character, const snwClipDef* clips, int clipCount)
{
    snwSceneDef def = snwDefaultSceneDef();
    snwBodyDef body = snwDefaultBodyDef();
    snwSimDef made = snwDefaultSimDef();
    snwSim* sim = NULL;
    body.name = "star";
    body.character = character;
    def.method = "rigpbd";
    def.bodies = &body;
    def.bodyCount = 1;
    def.clips = clips;
    def.clipCount = clipCount;
    CHECK_INT(snwCreateScene(context, &def, &made.scene, NULL), snw_ok);
    CHECK_INT(snwCreateSim(context, &made, &sim, NULL), snw_ok);
    snwScene_Release(made.scene);
    return sim;
}

static snwResult Perform(Run* run, snwExporter* exporter)
{
    snwResult result = snw_ok;
    for (int i = 0; i < s_frames && result >= 0; ++i)
    {
        snwCommand drag = {.kind = snw_commandHandle,
            .step = snwSim_GetStepCount(run->sim),
            .index = 1,
            .mask = snw_dofX | snw_dofY,
            .transform = {{0.02 * i, 0.46 - 0.01 * i, 0}, {0, 0, 0, 1}}};
        if (i > 0 && exporter != NULL)
            CHECK_INT(snwSim_Push(run->sim, &drag, NULL), snw_ok);
        if (i > 0)
            snwFixture_Run(run->sim, 1, 1.0 / 60);
        if (exporter == NULL)
            continue;
        KeepShown(run, i);
        result = snwExporter_AddFrame(exporter, run->sim, &run->message);
    }
    return result;
}

TEST(take, performancesPlayAgainByTheirClips)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character = MakeCharacter(context, true, false);
    Run run = {.context = context, .character = character, .sim = OpenSim(context, character, NULL, 0)};
    snwExportDef def = snwDefaultExportDef(snw_exportClips);
    snwExporter* exporter = NULL;
    snwSceneFile file;
    snprintf(run.path, sizeof run.path, "%s/take", snwTest_TempDir());
    run.shown = calloc((size_t)s_frames * (size_t)character->def.vertexCount * 3, sizeof(float));
    def.path = run.path;
    CHECK_INT(snwExporter_Open(context, &def, snwSim_GetScene(run.sim), &exporter, NULL), snw_ok);
    CHECK_INT(Perform(&run, exporter), snw_ok);
    CHECK_INT(snwExporter_Finish(exporter, &run.message), snw_ok);
    CHECK_INT(OpenScene(&run, "star", "[{\"file\": \"take.clips.json\"}]", &file, &run.message), snw_ok);
    REQUIRE(file.scene != NULL);
    snwDestroySim(run.sim);
    const snwSceneDef* again = snwScene_GetDef(file.scene);
    run.sim = OpenSim(context, character, again->clips, again->clipCount);
    CHECK_INT(Perform(&run, NULL), snw_ok);
    const float* last = run.shown + 3 * (size_t)(s_frames - 1) * (size_t)character->def.vertexCount;
    snwVertices shown;
    double farthest = 0, size = snwVec3_Distance(character->lower, character->upper);
    CHECK_INT(snwSim_GetShown(run.sim, 0, &shown), snw_ok);
    for (int i = 0; i < shown.count; ++i)
    {
        const float* row = (const float*)((const char*)shown.positions + (size_t)i * (size_t)shown.stride);
        snwVec3 was = {last[3 * i], last[3 * i + 1], last[3 * i + 2]};
        farthest = fmax(farthest, snwVec3_Distance((snwVec3){row[0], row[1], row[2]}, was));
    }
    CHECK(farthest <= 1e-6 * size);
    CHECK(snwVec3_Distance((snwVec3){last[0], last[1], last[2]}, character->def.vertices[0]) > 1e-3 * size);
    snwSceneFile_Close(&file);
    FreeRun(&run);
    snwDestroyContext(context);
}
