// glTF files on disk, characters in them, and what the validator says.

#include "fixture.h"
#include "gltf_written.h"
#include "io_shim.h"
#include "process.h"
#include "test.h"
#include "validator.h"

#include "scene/blueprint_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// Files

static const char* TempPath(const char* name)
{
    static char paths[8][256];
    static int next;
    char* path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", snwTest_TempDir(), name);
    return path;
}

static void PutFile(const char* path, const void* data, size_t size)
{
    FILE* file = fopen(path, "wb");
    REQUIRE(file != NULL);
    CHECK(fwrite(data, 1, size, file) == size);
    fclose(file);
}

static bool Exists(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

// Two buffers and a picture beside the source: all of it stands alone afterwards.
TEST(gltf_write, whatLayBesideTheSourceComesInside)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGltfWorld world = snwWritten_Rich();
    snwGltfWorld_Set(&world, "images/1", "{'uri': 'my%20skin.png', 'name': 'beside'}");
    snwGltfWorld_Set(&world, "images/2", "{'uri': 'missing.png'}");
    snwGltfWorld_Set(&world, "buffers/1/uri", "'second.bin'");
    snwGltfBytes file = snwGltfWorld_Text(&world, "first.bin");
    PutFile(TempPath("rich.gltf"), file.data, file.size);
    PutFile(TempPath("first.bin"), world.bytes, world.size);
    PutFile(TempPath("second.bin"), "\1\2\3", 3);
    PutFile(TempPath("my skin.png"), "\x89PNG\r\n\x1A\n....", 12);
    snwAsset* source = NULL;
    REQUIRE(snwAsset_Open(context, TempPath("rich.gltf"), &source, NULL) >= 0);
    snwAssetFolder folder = snwAssetFolder_Of(TempPath("rich.gltf"));
    for (snwGltfForm form = snw_gltfGlb; form <= snw_gltfFiles; ++form)
    {
        static const char* const s_names[] = {"out.glb", "out.gltf", "out files.gltf"};
        snwGltfWriter* writer = snwWritten_Open(context, source);
        CHECK_INT(snwGltfWriter_EmbedImages(writer, &folder), 12);
        snwGltfSave save = snwDefaultGltfSave(TempPath(s_names[form]));
        CHECK_INT(save.form, form == snw_gltfGlb ? snw_gltfGlb : snw_gltfEmbedded);
        save.form = form;
        CHECK(snwGltfWriter_Save(writer, &save, NULL) == snw_ok);
        snwGltfWriter_Close(writer);
        snwAsset* result = NULL;
        REQUIRE(snwAsset_Open(context, save.path, &result, NULL) >= 0);
        CHECK_INT(result->gltf->bufferCount, 2);
        CHECK(result->gltf->buffers[1].size == 3 && memcmp(result->gltf->buffers[1].data, "\1\2\3", 3) == 0);
        CHECK(memcmp(result->gltf->buffers[0].data, world.bytes, world.size) == 0);
        int view = snwWritten_Int(result, "images/1/bufferView");
        REQUIRE(view >= 0 && result->gltf->views[view].size == 12);
        CHECK(memcmp(result->gltf->views[view].data, "\x89PNG\r\n\x1A\n....", 12) == 0);
        CHECK(strcmp(snwWritten_Text(result, "images/1/mimeType"), "image/png") == 0 &&
              snwWritten_At(result, "images/1/uri") == NULL);
        CHECK(strcmp(snwWritten_Text(result, "images/2/uri"), "missing.png") == 0);
        snwAsset_Close(result);
    }
    CHECK(Exists(TempPath("out files.bin")) && Exists(TempPath("out files-1.bin")));
    snwAsset_Close(source);
    free(file.data);
    snwGltfWorld_Free(&world);
    snwDestroyContext(context);
}

TEST(gltf_write, nothingIsOverwrittenUnasked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* source = snwWritten_OpenSource(context, &snw_writtenSources[snw_sourceBar]);
    REQUIRE(source != NULL);
    snwGltfWriter* writer = snwWritten_Open(context, source);
    PutFile(TempPath("there.bin"), "mine", 4);
    snwGltfSave save = {TempPath("there.gltf"), snw_gltfFiles, false};
    snwMessage message = {0};
    CHECK_INT(snwGltfWriter_Save(writer, &save, &message), snw_errorIo);
    CHECK_CONTAINS(message.text, "not overwritten");
    CHECK(!Exists(save.path));
    char* bytes = snwReadWhole(TempPath("there.bin"));
    CHECK(bytes != NULL && strcmp(bytes, "mine") == 0);
    free(bytes);
    save.overwrite = true;
    CHECK_INT(snwGltfWriter_Save(writer, &save, NULL), snw_ok);
    save.overwrite = false;
    CHECK_INT(snwGltfWriter_Save(writer, &save, NULL), snw_errorIo);
    snwGltfWriter_Close(writer);
    snwAsset_Close(source);
    snwDestroyContext(context);
}

// The lengths of a GLB have 32 bits. The bytes are not looked at before that is found.
TEST(gltf_write, moreThanFourGigabytesAreNoGlb)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* source = snwWritten_OpenSource(context, &snw_writtenSources[snw_sourceBar]);
    REQUIRE(source != NULL);
    snwGltfBuffer huge = source->gltf->buffers[0];
    huge.size = (size_t)5 << 30;
    snwGltf document = *source->gltf;
    document.buffers = &huge;
    snwGltfWriter* writer = NULL;
    REQUIRE(snwGltfWriter_Open(context, &document, &writer, NULL) == snw_ok);
    snwGltfSave save = snwDefaultGltfSave(TempPath("huge.glb"));
    snwMessage message = {0};
    CHECK_INT(snwGltfWriter_Save(writer, &save, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "at most 4 GiB");
    CHECK(!Exists(save.path) && !Exists(TempPath("huge.glb.part")));
    snwGltfWriter_Close(writer);
    snwAsset_Close(source);
    snwDestroyContext(context);
}

// Each call that writes may be the one for which there is no room.
TEST(gltf_write, aFullDiskLeavesNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* source = snwWritten_OpenSource(context, &snw_writtenSources[snw_sourceBar]);
    REQUIRE(source != NULL);
    for (snwGltfForm form = snw_gltfGlb; form <= snw_gltfFiles; ++form)
    {
        snwResult result = snw_errorIo;
        int n = 1;
        for (; n < 60 && result < 0; ++n)
        {
            snwGltfWriter* writer = snwWritten_Open(context, source);
            snwWritten_AddMorphs(writer);
            snwGltfSave save = {TempPath("full.gltf"), form, false};
            snwMessage message = {0};
            snwIo_Arm(snw_faultFull, n, ENOSPC);
            result = snwGltfWriter_Save(writer, &save, &message);
            snwIo_Disarm();
            CHECK(result == snw_ok || result == snw_errorIo);
            CHECK(result == snw_ok || message.text[0] != 0);
            CHECK(Exists(save.path) == (result == snw_ok));
            CHECK(!Exists(TempPath("full.gltf.part")) && !Exists(TempPath("full.bin.part")));
            // A .bin that was whole before the text failed may stay; it is in nobody's way but ours.
            unlink(TempPath("full.bin"));
            unlink(TempPath("full.gltf"));
            snwGltfWriter_Close(writer);
        }
        CHECK(result == snw_ok && n > 3);
    }
    snwAsset_Close(source);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Characters

static snwCharacter* MakeCharacter(snwContext* context, const char* name)
{
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    snwMessage message = {0};
    snwResult result = snwBlueprintFile_Open(context, name, &file, &message);
    if (result >= 0)
        result = snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, &message);
    if (result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", name, message.text);
    snwBlueprintFile_Free(&file);
    return character;
}

static snwAsset* ExportCharacter(snwContext* context, const snwCharacter* character)
{
    snwGltfWriter* writer = snwWritten_Open(context, NULL);
    snwGltfCharacterDef def = snwDefaultGltfCharacterDef(character);
    snwGltfWriter_AddCharacter(writer, &def);
    return snwWritten_Reopen(context, writer, snw_gltfGlb);
}

// Skins a vertex as a player of the file would and as the character's own pose has it.
static void CheckPose(const snwAsset* asset, const snwCharacter* character, int motion, int key)
{
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    const snwAssetSkin* skin = &asset->skins[0];
    const snwAssetAnimation* animation = &asset->animations[motion];
    REQUIRE(skin->jointCount == def->boneCount);
    snwAffine* world = calloc((size_t)asset->nodeCount, sizeof *world);
    snwTransform* bones = calloc((size_t)def->boneCount, sizeof *bones);
    snwAssetPose* poses = calloc((size_t)asset->nodeCount, sizeof *poses);
    for (int i = 0; i < asset->nodeCount; ++i)
        poses[i] = asset->nodes[i].pose;
    double time = animation->channels[0].times[key];
    for (int i = 0; i < animation->channelCount; ++i)
    {
        const snwAssetChannel* channel = &animation->channels[i];
        const double* v = channel->values + key * channel->width;
        if (channel->path == snw_pathRotation)
            poses[channel->node].rotation = (snwQuat){v[0], v[1], v[2], v[3]};
        else
            poses[channel->node].translation = (snwVec3){v[0], v[1], v[2]};
    }
    for (int i = 0; i < asset->nodeCount; ++i) // parents were written first
    {
        world[i] = snwAffine_FromTrs(poses[i].translation, poses[i].rotation, poses[i].scale);
        if (asset->nodes[i].parent >= 0)
            world[i] = snwAffine_Compose(world[asset->nodes[i].parent], world[i]);
    }
    CHECK(snwCharacter_Pose(character, motion, time, bones, def->boneCount) >= 0);
    for (int b = 0; b < def->boneCount; ++b)
    {
        snwVec3 tip = def->bones[b].tail;
        snwVec3 here = snwAffine_Apply(snwAffine_Compose(world[skin->joints[b]], skin->inverseBinds[b]), tip);
        CHECK_NEAR(snwVec3_Distance(here, snwTransform_Apply(bones[b], tip)), 0, 2e-6);
    }
    free(poses);
    free(bones);
    free(world);
}

TEST(gltf_write, charactersKeepSkinBonesAndMotions)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character = MakeCharacter(context, "biped");
    REQUIRE(character != NULL);
    snwAsset* asset = ExportCharacter(context, character);
    REQUIRE(asset != NULL && asset->meshCount == 1 && asset->skinCount == 1 && asset->animationCount == 1);
    snwSkin skin;
    CHECK(snwCharacter_GetRestSkin(character, &skin) >= 0);
    snwWritten_CheckFloats(asset, "meshes/0/primitives/0/attributes/POSITION", skin.positions, 3 * skin.vertexCount);
    CHECK_INT(asset->meshes[0].triangleCount, skin.triangleCount);
    CHECK(memcmp(asset->meshes[0].triangles, skin.triangles, 12 * (size_t)skin.triangleCount) == 0);
    const snwAssetWeights* weights = &asset->meshes[0].weights;
    REQUIRE(weights->starts != NULL);
    for (int i = 0; i < skin.vertexCount; ++i)
    {
        double sum = 0;
        for (int e = weights->starts[i]; e < weights->starts[i + 1]; ++e)
            sum += weights->values[e];
        CHECK_NEAR(sum, 1, 1e-6);
    }
    int last = asset->animations[0].channels[0].keyCount - 1;
    CHECK_NEAR(asset->animations[0].end, snwCharacter_GetDef(character)->motions[0].duration, 1e-6);
    for (int key = 0; key <= last; key += 7)
        CheckPose(asset, character, 0, key);
    int ids;
    float* numbers = snwWritten_Floats(
        asset, snwWritten_Int(asset, "meshes/0/primitives/0/attributes/_SNW_VERTEX"), &ids);
    REQUIRE(ids == skin.vertexCount);
    for (int i = 0; i < ids; ++i)
        CHECK_INT(numbers[i], skin.vertices[i]);
    free(numbers);
    snwAsset_Close(asset);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The validator

// Files for one start of the validator.
typedef struct Files
{
    char paths[64][512];
    int count;
} Files;

static bool Validate(const Files* files, snwVerdict* verdicts)
{
    const char* list[64];
    for (int i = 0; i < files->count; ++i)
        list[i] = files->paths[i];
    return snwValidate(list, files->count, verdicts);
}

// Saves what the writer has and closes it.
static void Collect(Files* files, snwGltfWriter* writer, const char* name, snwGltfForm form)
{
    static const char* const s_endings[] = {".glb", ".gltf", "-files.gltf"};
    char* path = files->paths[files->count++];
    snprintf(path, sizeof files->paths[0], "%s/valid-%s%s", snwTest_TempDir(), name, s_endings[form]);
    snwGltfSave save = {path, form, true};
    snwMessage message = {0};
    if (snwGltfWriter_Save(writer, &save, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", name, message.text);
    snwGltfWriter_Close(writer);
}

static void CollectCharacters(Files* files, snwContext* context)
{
    static const char* const s_names[] = {"biped", "starfish", "fish"}; // one is flat and painted
    for (size_t i = 0; i < sizeof s_names / sizeof s_names[0]; ++i)
    {
        snwCharacter* character = MakeCharacter(context, s_names[i]);
        REQUIRE(character != NULL);
        snwGltfWriter* writer = snwWritten_Open(context, NULL);
        snwGltfCharacterDef def = snwDefaultGltfCharacterDef(character);
        def.influences = i == 0 ? 8 : 4;
        snwGltfWriter_AddCharacter(writer, &def);
        Collect(files, writer, s_names[i], snw_gltfGlb);
        snwCharacter_Release(character);
    }
}

TEST_HEAVY(gltf_write, validatorFindsNoErrors)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Files files = {0};
    snwVerdict verdicts[64];
    for (int i = 0; i < snw_sourceCount; ++i)
    {
        snwAsset* source = snwWritten_OpenSource(context, &snw_writtenSources[i]);
        Collect(&files, snwWritten_Open(context, source), snw_writtenSources[i].name, snw_gltfGlb);
        snwAsset_Close(source);
    }
    for (int i = 0; i < snw_additionCount; ++i)
        for (snwGltfForm form = snw_gltfGlb; form <= snw_gltfFiles; ++form)
        {
            snwAsset* source = snwWritten_OpenAddition(context, &snw_additions[i]);
            snwGltfWriter* writer = snwWritten_Open(context, source);
            snw_additions[i].add(writer);
            Collect(&files, writer, snw_additions[i].name, form);
            snwAsset_Close(source);
        }
    CollectCharacters(&files, context);
    snwDestroyContext(context);
    if (!Validate(&files, verdicts))
        SKIP("there is no gltf-validator here: tools/setup.sh validate");
    for (int i = 0; i < files.count; ++i)
        if (verdicts[i].errors != 0)
            snwTest_Fail(__FILE__, __LINE__, "%s: %d errors", files.paths[i], verdicts[i].errors);
}

// The first mesh that a node has breathes in and out.
static void AddRealMorphs(snwGltfWriter* writer, const snwAsset* source)
{
    int node = 0;
    while (json_object_get(json_array_get(snwWritten_At(source, "nodes"), (size_t)node), "mesh") == NULL)
        node++;
    int mesh = (int)json_integer_value(
        json_object_get(json_array_get(snwWritten_At(source, "nodes"), (size_t)node), "mesh"));
    int count = 0;
    for (int k = 0, more = 1; more > 0; count += more, ++k)
        more = snwGltfWriter_VertexCount(writer, mesh, k);
    float(*offsets)[3] = calloc((size_t)count, sizeof *offsets);
    REQUIRE(offsets != NULL);
    for (int i = 0; i < count; ++i)
        offsets[i][1] = 0.001f * (float)(i % 100);
    snwAssetMorph morph = {"breath", (const float(*)[3])offsets, (const float(*)[3])offsets, 0};
    snwGltfMorphDef def = {.mesh = mesh, .morphs = &morph, .morphCount = 1};
    int first = snwGltfWriter_AddMorphs(writer, &def);
    REQUIRE(first >= 0);
    double times[3] = {0, 1, 2}, *values = calloc(3 * (size_t)(first + 1), sizeof *values);
    REQUIRE(values != NULL);
    values[2 * first + 1] = 1;
    snwAssetChannel channel = {node, snw_pathMorphs, snw_assetLinear, times, 3, first + 1, values};
    snwAssetAnimation animation = {.name = "breathing", .channels = &channel, .channelCount = 1};
    CHECK(snwGltfWriter_AddAnimation(writer, &animation) >= 0);
    free(values);
    free(offsets);
}

// Files of others, passed through with a morph and its animation: no error that the source has not.
TEST(gltf_write, validatorFindsNoErrorsInRealFiles)
{
    static const char* const s_files[] = {
        "gltf/Fox.glb", "gltf/RiggedSimple.glb", "gltf/MorphStressTest.glb", "blender-rig/rig.glb"};
    enum
    {
        snw_fileCount = sizeof s_files / sizeof s_files[0]
    };
    const char* data = getenv("SINEW_DATA");
    if (data == NULL)
        SKIP("SINEW_DATA is not set: real files are not tried");
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Files files = {0};
    for (int i = 0; i < snw_fileCount; ++i)
    {
        char* from = files.paths[files.count++];
        snprintf(from, sizeof files.paths[0], "%s/%s", data, s_files[i]);
        snwAsset* source = NULL;
        REQUIRE(snwAsset_Open(context, from, &source, NULL) >= 0);
        snwAsset* again = snwWritten_Reopen(context, snwWritten_Open(context, source), snw_gltfGlb);
        REQUIRE(again != NULL);
        snwWritten_CheckSurvived(source, again, false);
        snwAsset_Close(again);
        snwGltfWriter* writer = snwWritten_Open(context, source);
        AddRealMorphs(writer, source);
        char name[32];
        snprintf(name, sizeof name, "real-%d", i);
        Collect(&files, writer, name, snw_gltfGlb);
        CHECK(snwAsset_Open(context, files.paths[files.count - 1], &again, NULL) >= 0);
        snwAsset_Close(again);
        snwAsset_Close(source);
    }
    snwDestroyContext(context);
    snwVerdict verdicts[64];
    if (!Validate(&files, verdicts))
        SKIP("there is no gltf-validator here: tools/setup.sh validate");
    for (int i = 0; i < files.count; i += 2)
    {
        printf("%s: the source has %d errors and %d warnings, ours %d and %d\n", s_files[i / 2], verdicts[i].errors,
            verdicts[i].warnings, verdicts[i + 1].errors, verdicts[i + 1].warnings);
        CHECK(verdicts[i].errors >= 0 && verdicts[i + 1].errors >= 0);
        CHECK(verdicts[i + 1].errors <= verdicts[i].errors);
    }
}
