// Frames caches as files: what is written comes back, damage is found, a growing file is read safely.

#include "fixture.h"
#include "frames_world.h"
#include "process.h"
#include "test.h"

#include "base/hash.h"
#include "scene/frames.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// What is written comes back

typedef struct Seen
{
    uint64_t hash;
    double time, energy;
    int contactCount;
    snwContact contacts[64];
    snwTransform colliders[2], prop;
    float skins[3][8 * 3], vertices[3][8 * 3];
} Seen;

static Seen s_seen[snw_worldLastFrame + 1];

static void CopyPoints(float* out, const float* points, int stride, int count)
{
    for (int i = 0; i < count; ++i)
        memcpy(out + 3 * (size_t)i, (const char*)points + (size_t)i * (size_t)stride, 12);
}

static void See(snwSim* sim, Seen* seen, const snwRunFrame* frame)
{
    snwContacts contacts;
    snwTransforms colliders;
    *seen = (Seen){.hash = frame->hash, .time = snwSim_GetTime(sim), .energy = frame->measures->energy};
    snwSim_GetContacts(sim, &contacts);
    snwSim_GetColliders(sim, &colliders);
    seen->contactCount = contacts.count;
    for (int i = 0; i < contacts.count && i < 64; ++i)
        seen->contacts[i] = contacts.data[i];
    snwProps props;
    snwSim_GetProps(sim, &props);
    seen->prop = props.data[0].transform;
    for (int i = 0; i < colliders.count; ++i)
        seen->colliders[i] = *(const snwTransform*)((const char*)colliders.data + i * colliders.stride);
    for (int i = 0; i < 3; ++i)
    {
        snwSkin skin;
        snwVertices vertices;
        snwSim_GetSkin(sim, i, &skin);
        snwSim_GetVertices(sim, i, &vertices);
        CopyPoints(seen->vertices[i], vertices.positions, vertices.stride, vertices.count);
        if (skin.vertexCount > 0)
            CopyPoints(seen->skins[i], skin.positions, skin.stride, skin.vertexCount);
        else
            CopyPoints(seen->skins[i], vertices.positions, vertices.stride, vertices.count);
    }
}

static snwResult Witness(const snwRunFrame* frame, void* user, snwMessage* message)
{
    snwRunFrameFn* push = (snwRunFrameFn*)(size_t)user;
    if (frame->sim != NULL)
        See(frame->sim, &s_seen[frame->frame], frame);
    return push(frame, NULL, message);
}

// NULL: the test failed.
static snwFrames* MakeCache(snwFramesWorld* world)
{
    snwFrames* frames = NULL;
    world->def.user = (void*)(size_t)world->def.onFrame;
    world->def.onFrame = Witness;
    if (snwFramesWorld_Run(world) != snw_ok ||
        snwFrames_Open(world->context, world->frames, &frames, &world->message) != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", world->message.place, world->message.text);
    return frames;
}

static void CheckFrame(const snwFrame* frame, const Seen* seen)
{
    CHECK(frame->hash == seen->hash);
    CHECK(frame->time == seen->time && frame->measures.energy == seen->energy);
    CHECK(frame->measures.stepMs == 0);
    CHECK_INT(frame->contacts.count, seen->contactCount);
    CHECK(frame->contacts.count == 0 ||
          memcmp(frame->contacts.data, seen->contacts, (size_t)seen->contactCount * sizeof(snwContact)) == 0);
    CHECK_INT(frame->colliders.count, 2);
    CHECK(memcmp(frame->colliders.data, seen->colliders, sizeof seen->colliders) == 0);
    CHECK_INT(frame->props.count, 1);
    CHECK(memcmp(frame->props.data, &seen->prop, sizeof seen->prop) == 0);
    CHECK_INT(frame->bodyCount, 3);
    for (int i = 0; i < 3; ++i)
    {
        const snwFrameBody* body = &frame->bodies[i];
        CHECK_INT(body->skinVertexCount, i == 1 ? 2 : 8);
        CHECK(memcmp(body->skin, seen->skins[i], (size_t)body->skinVertexCount * 12) == 0);
        REQUIRE(body->vertices != NULL);
        CHECK(memcmp(body->vertices, seen->vertices[i], (size_t)body->vertexCount * 12) == 0);
    }
}

TEST(frames, roundTripIsExact)
{
    snwFramesWorld world = snwFramesWorld_Open("exact", 1, 0);
    world.def.framesVertices = true;
    snwFrames* frames = MakeCache(&world);
    REQUIRE(frames != NULL);
    snwFramesInfo info = snwFrames_GetInfo(frames);
    CHECK_INT(info.frameCount, snw_worldLastFrame + 1);
    CHECK_INT(info.chunkCount, 4);
    CHECK(info.complete && info.tailBytes == 0 && info.hasVertices);
    CHECK(info.sceneHash == snwScene_Hash(world.file.scene));
    int touched = 0;
    uint64_t seed = 12345;
    for (int i = 0; i < 60; ++i) // in order, backwards, and anyhow
    {
        int number = i < 15 ? i : i < 30 ? 29 - i : (int)(15 * snwTest_Random(&seed));
        snwFrame frame;
        REQUIRE(snwFrames_Read(frames, number, &frame, &world.message) == snw_ok);
        CHECK_INT(frame.frame, number);
        CheckFrame(&frame, &s_seen[number]);
        touched += frame.contacts.count;
    }
    CHECK(touched > 0);
    snwFrame none;
    CHECK_INT(snwFrames_Read(frames, snw_worldLastFrame + 1, &none, &world.message), snw_errorArgument);
    CHECK_INT(snwFrames_Read(frames, -1, &none, &world.message), snw_errorArgument);
    snwFrames_Close(frames);
    snwFramesWorld_Close(&world);
}

// The header alone is enough to draw: names, triangles, colours, colliders; and the scene is in it.
TEST(frames, headerHasWhatAViewerNeeds)
{
    snwFramesWorld world = snwFramesWorld_Open("viewer", 1, 0);
    snwFrames* frames = MakeCache(&world);
    REQUIRE(frames != NULL);
    snwFramesInfo info = snwFrames_GetInfo(frames);
    REQUIRE(info.bodyCount == 3 && info.colliderCount == 2);
    for (int i = 0; i < 3; ++i)
    {
        const snwSceneDef* scene = snwScene_GetDef(world.file.scene);
        snwSkin skin;
        snwCharacter_GetRestSkin(scene->bodies[i].character, &skin);
        CHECK(strcmp(info.bodies[i].name, scene->bodies[i].name) == 0);
        CHECK_INT(info.bodies[i].triangleCount, skin.triangleCount);
        CHECK(memcmp(info.bodies[i].triangles, skin.triangles, (size_t)skin.triangleCount * 12) == 0);
        CHECK(memcmp(info.bodies[i].color, snwCharacter_GetDef(scene->bodies[i].character)->color, 12) == 0);
    }
    CHECK(strcmp(info.colliders[1].name, "ball") == 0 && info.colliders[1].kind == snw_colliderSphere);
    CHECK_INT(info.propCount, 1);
    CHECK(strcmp(info.props[0].name, "pen") == 0 && info.props[0].kind == snw_colliderCapsule);
    CHECK_NEAR(info.props[0].size.y, 0.1, 0);
    snwSceneFile again;
    REQUIRE(
        snwSceneFile_Parse(world.context, info.scene, info.sceneSize, "cache", NULL, &again, &world.message) == snw_ok);
    CHECK(snwScene_Hash(again.scene) == info.sceneHash);
    snwSceneFile_Close(&again);
    snwFrames_Close(frames);
    snwFramesWorld_Close(&world);
}

// Bones, colours, texture coordinates and a texture: a character that has them all.
TEST(frames, headerKeepsColoursBonesAndTextures)
{
    static const snwVec3 vertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int tets[][4] = {{0, 1, 2, 3}};
    static const float colors[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.5f, 0.5f, 0.5f}};
    static const float texcoords[][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    static const uint8_t pixels[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwMaterial material = snwDefaultMaterial();
    snwBoneDef bone = snwDefaultBoneDef();
    bone.name = "spine";
    bone.tail = (snwVec3){0, 0.5, 0};
    snwCharacterDef def = snwDefaultCharacterDef();
    def.name = "painted";
    def.vertices = vertices, def.vertexCount = 4;
    def.tets = tets, def.tetCount = 1;
    def.materials = &material, def.materialCount = 1;
    def.bones = &bone, def.boneCount = 1;
    def.colors = colors;
    def.texcoords = texcoords;
    def.texture = (snwTexture){3, 1, pixels};
    snwBodyDef body = snwDefaultBodyDef();
    snwMessage message;
    REQUIRE(snwCreateCharacter(context, &def, &body.character, &message) >= 0);
    snwSceneDef scene = snwDefaultSceneDef();
    scene.bodies = &body, scene.bodyCount = 1;
    snwSceneFile file = {.camera = snwDefaultCameraDef()};
    REQUIRE(snwCreateScene(context, &scene, &file.scene, &message) >= 0);
    snwSimDef simDef = snwDefaultSimDef();
    simDef.scene = file.scene;
    snwSim* sim = NULL;
    REQUIRE(snwCreateSim(context, &simDef, &sim, &message) >= 0);
    snwWriter writer = {.context = context};
    snwFramesHeader header;
    snwFramesDef frames = {.path = "x", .file = &file, .lastFrame = 3};
    snwResult result = snwFramesHeader_Write(&writer, &frames, sim, &message);
    if (result == snw_ok)
        result = snwFramesHeader_Parse(&header, context, writer.data, writer.size, &message);
    CHECK_INT(result, snw_ok);
    if (result == snw_ok)
    {
        CHECK_INT(header.sceneSize, 0); // no file tells this character
        const snwFramesBody* read = &header.bodies[0];
        for (int i = 0; i < 4; ++i)
        {
            CHECK(memcmp(read->colors[i], colors[read->skinVertices[i]], sizeof *colors) == 0);
            CHECK(memcmp(read->texcoords[i], texcoords[read->skinVertices[i]], sizeof *texcoords) == 0);
        }
        CHECK_INT(read->texture.width, 3);
        CHECK(memcmp(read->texture.pixels, pixels, sizeof pixels) == 0);
        CHECK_INT(read->boneCount, 1);
        CHECK(strcmp(read->bones[0].name, "spine") == 0 && read->bones[0].tail.y == 0.5);
        snwFramesHeader_Free(&header);
    }
    snwFree(context, writer.data);
    snwDestroySim(sim);
    snwSceneFile_Close(&file);
    snwCharacter_Release(body.character);
    snwDestroyContext(context);
}

static void CheckTolerance(double tolerance)
{
    snwFramesWorld world = snwFramesWorld_Open("tolerance", 1, 0);
    world.def.framesVertices = true;
    world.def.framesTolerance = tolerance;
    world.def.overwrite = true;
    snwFrames* frames = MakeCache(&world);
    REQUIRE(frames != NULL);
    double worst = 0;
    uint64_t seed = 99;
    for (int i = 0; i < 60; ++i)
    {
        int number = i < 15 ? i : (int)(15 * snwTest_Random(&seed));
        snwFrame frame;
        REQUIRE(snwFrames_Read(frames, number, &frame, &world.message) == snw_ok);
        for (int b = 0; b < 3; ++b)
            for (int k = 0; k < 3 * frame.bodies[b].skinVertexCount; ++k)
            {
                worst = fmax(worst, fabs((double)frame.bodies[b].skin[k] - (double)s_seen[number].skins[b][k]));
                worst = fmax(worst, fabs((double)frame.bodies[b].vertices[k] - (double)s_seen[number].vertices[b][k]));
            }
        CHECK(frame.hash == s_seen[number].hash && frame.measures.energy == s_seen[number].energy);
    }
    CHECK(worst <= tolerance);
    CHECK(worst > 0.2 * tolerance || tolerance < 1e-6); // it does round
    snwFrames_Close(frames);
    snwFramesWorld_Close(&world);
}

TEST(frames, toleranceIsKept)
{
    CheckTolerance(1e-2);
    CheckTolerance(1e-4);
    CheckTolerance(1e-9);
}

// Points anywhere, also far outside of what a lattice can hold, and moving in any way.
TEST(frames, codecKeepsItsToleranceAnywhere)
{
    enum
    {
        points = 200,
        frames = 12
    };
    static float given[frames][3 * points], back[3 * points];
    static int64_t values[2][3 * points];
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 7;
    static const double tolerances[] = {1, 1e-3, 3.7e-5, 1e-9};
    for (int t = 0; t < 4; ++t)
    {
        snwWriter writer = {.context = context};
        snwFrameLattice out = {.values = values[0]}, in = {.values = values[1]};
        for (int f = 0; f < frames; ++f)
        {
            for (int i = 0; i < 3 * points; ++i)
                given[f][i] = (float)((snwTest_Random(&seed) - 0.5) * pow(10, 12 * snwTest_Random(&seed) - 6));
            if (f == 5)
                given[f][17] = 3e38f;
            snwPoints_Write(&writer, given[f], 12, points, tolerances[t], &out);
            CHECK(out.filled == (f != 5));
        }
        snwReader reader = {.data = writer.data, .size = writer.size};
        for (int f = 0; f < frames; ++f)
        {
            REQUIRE(snwPoints_Read(&reader, back, points, tolerances[t], &in));
            for (int i = 0; i < 3 * points; ++i)
                if (!(fabs((double)back[i] - (double)given[f][i]) <= tolerances[t]))
                    snwTest_Fail(__FILE__, __LINE__, "%.9g comes back as %.9g with %g", (double)given[f][i],
                        (double)back[i], tolerances[t]);
        }
        CHECK(reader.position == reader.size);
        snwFree(context, writer.data);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Damage

typedef struct Sample
{
    snwFramesWorld world;
    unsigned char* data;
    size_t size;
    uint64_t digests[snw_worldLastFrame + 1];
    size_t ends[8]; // of the header and of each chunk
} Sample;

static Sample MakeSample(const char* name, double tolerance)
{
    Sample sample = {.world = snwFramesWorld_Open(name, 1, 0)};
    snwFrames* frames = NULL;
    sample.world.def.framesTolerance = tolerance;
    if (snwFramesWorld_Run(&sample.world) == snw_ok)
        snwFrames_Open(sample.world.context, sample.world.frames, &frames, NULL);
    sample.data = snwReadBytesOf(sample.world.frames, &sample.size);
    for (int i = 0; frames != NULL && i <= snw_worldLastFrame; ++i)
    {
        snwFrame frame = {0};
        CHECK_INT(snwFrames_Read(frames, i, &frame, NULL), snw_ok);
        sample.digests[i] = snwFrame_Digest(&frame);
    }
    CHECK(frames != NULL && sample.data != NULL);
    uint64_t place = frames != NULL ? snwFrames_GetHeader(frames)->size : 0;
    for (int i = 0; place > 0 && i < 5; ++i)
    {
        snwChunkHeader header;
        sample.ends[i] = (size_t)place;
        if (i == 4)
            break;
        memcpy(&header, sample.data + place, sizeof header);
        place += snw_chunkHeaderSize + snwChunkHeader_PayloadSize(&header) + snw_commitSize;
    }
    CHECK(sample.ends[4] == sample.size);
    snwFrames_Close(frames);
    return sample;
}

static void EndSample(Sample* sample)
{
    free(sample->data);
    snwFramesWorld_Close(&sample->world);
}

// Whatever is read must be right. Returns how many frames were; -1: it does not open.
static int ReadAllOf(const Sample* sample, const unsigned char* data, size_t size, bool* noticed)
{
    snwFrames* frames = NULL;
    snwFrame frame;
    int good = 0;
    snwMessage message = {0};
    snwResult result = snwFrames_OpenMemory(sample->world.context, data, size, "sample", &frames, &message);
    *noticed = result != snw_ok;
    if (result < 0)
    {
        CHECK(message.text[0] != 0 && strcmp(message.file, "sample") == 0);
        return -1;
    }
    snwFramesInfo info = snwFrames_GetInfo(frames);
    *noticed = *noticed || !info.complete || info.tailBytes > 0;
    for (int i = 0; i < info.frameCount; ++i)
    {
        if (snwFrames_Read(frames, i, &frame, &message) != snw_ok)
        {
            CHECK(message.place[0] != 0);
            *noticed = true;
            continue;
        }
        good++;
        if (snwFrame_Digest(&frame) != sample->digests[i])
            snwTest_Fail(__FILE__, __LINE__, "frame %d is read and wrong", i);
    }
    snwFrames_Close(frames);
    return good;
}

// Every byte of the header and the first chunk, and one in `step` of the others, which are written alike.
static void FlipEveryByte(double tolerance, size_t step)
{
    Sample sample = MakeSample("flip", tolerance);
    REQUIRE(sample.data != NULL);
    bool noticed = false;
    CHECK_INT(ReadAllOf(&sample, sample.data, sample.size, &noticed), snw_worldLastFrame + 1);
    CHECK(!noticed);
    for (size_t i = 0; i < sample.size; i += i < sample.ends[1] ? 1 : step)
    {
        unsigned char kept = sample.data[i];
        sample.data[i] ^= (unsigned char)(1u << i % 8);
        int good = ReadAllOf(&sample, sample.data, sample.size, &noticed);
        if (!noticed)
            snwTest_Fail(__FILE__, __LINE__, "byte %zu of %zu can change unseen", i, sample.size);
        // Only the chunk of that byte is lost.
        if ((good < 0) != (i < sample.ends[0]) || (good >= 0 && good < snw_worldLastFrame + 1 - snw_worldChunk))
            snwTest_Fail(__FILE__, __LINE__, "byte %zu of %zu costs all but %d frames", i, sample.size, good);
        sample.data[i] = kept;
    }
    EndSample(&sample);
}

TEST(frames, everyFlippedByteIsDetected)
{
    FlipEveryByte(0, 5);
}

TEST(frames, everyFlippedByteIsDetectedWithTolerance)
{
    FlipEveryByte(1e-4, 29);
}

// Cut anywhere, the whole chunks before the cut are read, and nothing else.
TEST(frames, truncatedAnywhere)
{
    Sample sample = MakeSample("cut", 1e-4);
    REQUIRE(sample.data != NULL);
    for (size_t length = 0; length < sample.size; ++length)
    {
        int chunks = -1;
        bool noticed = false;
        while (chunks < 3 && sample.ends[chunks + 1] <= length)
            chunks++;
        unsigned char* copy = malloc(length + 1); // of just that size, so that reading on is seen
        REQUIRE(copy != NULL);
        memcpy(copy, sample.data, length);
        int good = ReadAllOf(&sample, copy, length, &noticed);
        if (good != chunks * (chunks < 0 ? 1 : snw_worldChunk) || !noticed)
            snwTest_Fail(__FILE__, __LINE__, "cut at %zu gives %d frames of %d chunks", length, good, chunks);
        free(copy);
    }
    EndSample(&sample);
}

TEST(frames, damagedChunkLeavesTheOthers)
{
    Sample sample = MakeSample("middle", 0);
    REQUIRE(sample.data != NULL);
    snwFrames* frames = NULL;
    snwFrame frame;
    memset(sample.data + sample.ends[1] + 8, 0xEE, 100); // the head of chunk 1
    REQUIRE(snwFrames_OpenMemory(sample.world.context, sample.data, sample.size, "sample", &frames,
                &sample.world.message) == snw_warning);
    CHECK_CONTAINS(sample.world.message.text, "1 of 4 chunks are damaged");
    snwFramesInfo info = snwFrames_GetInfo(frames);
    CHECK(info.damagedChunks == 1 && info.frameCount == snw_worldLastFrame + 1 && !info.complete);
    CHECK_INT(snwFrames_Read(frames, 3, &frame, NULL), snw_ok);
    CHECK_INT(snwFrames_Read(frames, 4, &frame, &sample.world.message), snw_errorInput);
    CHECK(strcmp(sample.world.message.place, "chunk 1") == 0);
    CHECK_INT(snwFrames_Read(frames, 8, &frame, NULL), snw_ok);
    CHECK(snwFrame_Digest(&frame) == sample.digests[8]);
    snwFrames_Close(frames);
    EndSample(&sample);
}

// A chunk of one file does not pass in another, even at its place.
TEST(frames, chunkOfAnotherFileIsRefused)
{
    Sample sample = MakeSample("mine", 0);
    snwFramesWorld other = snwFramesWorld_Open("other", 1, 15);
    size_t size = 0;
    bool noticed = false;
    REQUIRE(snwFramesWorld_Run(&other) == snw_ok);
    unsigned char* data = snwReadBytesOf(other.frames, &size);
    REQUIRE(data != NULL && sample.data != NULL && size > sample.size);
    memcpy(sample.data + sample.ends[1], data + (sample.ends[1] + 0), sample.ends[2] - sample.ends[1]);
    CHECK_INT(ReadAllOf(&sample, sample.data, sample.size, &noticed), snw_worldLastFrame + 1 - snw_worldChunk);
    CHECK(noticed);
    free(data);
    snwFramesWorld_Close(&other);
    EndSample(&sample);
}

// Right checksums over wrong content: made by hand.
static void Reseal(Sample* sample)
{
    uint64_t seed = snwHash(sample->data, sample->ends[0] - 8, 0);
    memcpy(sample->data + sample->ends[0] - 8, &seed, 8);
    for (int i = 0; i < 4; ++i)
    {
        snwChunkHeader header;
        memcpy(&header, sample->data + sample->ends[i], sizeof header);
        header.checksum = snwChunkHeader_Checksum(&header, seed);
        memcpy(sample->data + sample->ends[i], &header, sizeof header);
        snwCommit commit = snwMakeCommit(&header, sample->data + sample->ends[i] + sizeof header);
        memcpy(sample->data + sample->ends[i + 1] - sizeof commit, &commit, sizeof commit);
    }
}

static snwResult TryForged(Sample* sample, size_t place, int32_t value)
{
    int32_t kept;
    snwFrames* frames = NULL;
    snwFrame frame;
    memcpy(&kept, sample->data + place, sizeof kept);
    memcpy(sample->data + place, &value, sizeof value);
    Reseal(sample);
    snwResult result = snwFrames_OpenMemory(
        sample->world.context, sample->data, sample->size, "sample", &frames, &sample->world.message);
    if (result >= 0)
        result = snwFrames_Read(frames, 0, &frame, &sample->world.message);
    snwFrames_Close(frames);
    memcpy(sample->data + place, &kept, sizeof kept);
    Reseal(sample);
    return result;
}

TEST(frames, forgedNumbersAreRefused)
{
    Sample sample = MakeSample("forged", 1e-4);
    REQUIRE(sample.data != NULL);
    size_t record = sample.ends[0] + snw_chunkHeaderSize;
    CHECK_INT(TryForged(&sample, record + 8, 0), snw_ok);                  // its own number
    CHECK_INT(TryForged(&sample, record + 8, 1), snw_errorInput);          // of the frame
    CHECK_INT(TryForged(&sample, record, 24), snw_errorInput);             // size of the record
    CHECK_INT(TryForged(&sample, record + 12, INT32_MAX), snw_errorInput); // contacts
    CHECK_INT(TryForged(&sample, record + 12, -1), snw_errorInput);        //
    CHECK_INT(TryForged(&sample, 8, 1), snw_errorInput);                   // version: an old one
    CHECK_INT(TryForged(&sample, 8, 3), snw_errorInput);                   // and one to come
    CHECK_CONTAINS(sample.world.message.text, "version");
    CHECK_INT(TryForged(&sample, 12, 0x04030201), snw_errorInput); // order of bytes
    CHECK_INT(TryForged(&sample, 60, 0), snw_errorInput);          // frames per chunk
    CHECK_INT(TryForged(&sample, 72, INT32_MAX), snw_errorInput);  // characters
    CHECK_INT(TryForged(&sample, 76, INT32_MAX), snw_errorInput);  // bodies
    CHECK_INT(TryForged(&sample, 80, -5), snw_errorInput);         // colliders
    CHECK_INT(TryForged(&sample, 84, -5), snw_errorInput);         // props
    CHECK_INT(TryForged(&sample, 84, INT32_MAX), snw_errorInput);  //
    EndSample(&sample);
}

// ---------------------------------------------------------------------------------------------------------------------
// A growing cache

typedef struct Watcher
{
    snwFramesWorld* world;
    snwFrames* frames;
    uint64_t digests[snw_worldLastFrame + 1];
    int seen;
} Watcher;

static snwResult Watch(const snwRunFrame* run, void* user, snwMessage* message)
{
    Watcher* watcher = user;
    if (watcher->frames == NULL)
        CHECK_INT(snwFrames_Open(watcher->world->context, watcher->world->frames, &watcher->frames, message), snw_ok);
    if (watcher->frames == NULL)
        return snw_errorIo;
    CHECK_INT(snwFrames_Refresh(watcher->frames, message), snw_ok);
    int count = snwFrames_GetInfo(watcher->frames).frameCount;
    CHECK_INT(count, (run->frame + 1) / snw_worldChunk * snw_worldChunk);
    for (int i = 0; i < count; ++i)
    {
        snwFrame frame;
        CHECK_INT(snwFrames_Read(watcher->frames, i, &frame, message), snw_ok);
        uint64_t digest = snwFrame_Digest(&frame);
        CHECK(i >= watcher->seen || watcher->digests[i] == digest);
        watcher->digests[i] = digest;
    }
    watcher->seen = count;
    return snw_ok;
}

TEST(frames, readerOfAGrowingCacheSeesWholeChunks)
{
    snwFramesWorld world = snwFramesWorld_Open("growing", 1, 0);
    Watcher watcher = {.world = &world};
    world.def.onFrame = Watch;
    world.def.user = &watcher;
    CHECK_INT(snwFramesWorld_Run(&world), snw_ok);
    CHECK_INT(snwFrames_Refresh(watcher.frames, &world.message), snw_ok);
    CHECK(snwFrames_GetInfo(watcher.frames).complete);
    snwFrames_Close(watcher.frames);
    snwFramesWorld_Close(&world);
}

// The file grows by some bytes at a time, as a reader in another process may see it.
TEST(frames, readerSeesNoPieceOfAChunk)
{
    Sample sample = MakeSample("pieces", 0);
    char path[256];
    snwFrames* frames = NULL;
    snwFrame frame;
    REQUIRE(sample.data != NULL);
    snprintf(path, sizeof path, "%s/piece.snwf", sample.world.folder);
    FILE* file = fopen(path, "wb");
    REQUIRE(file != NULL);
    fwrite(sample.data, 1, sample.ends[0], file);
    fflush(file);
    REQUIRE(snwFrames_Open(sample.world.context, path, &frames, NULL) == snw_ok);
    for (size_t at = sample.ends[0]; at < sample.size;)
    {
        size_t next = at + 37 < sample.size ? at + 37 : sample.size;
        int chunks = 0;
        fwrite(sample.data + at, 1, next - at, file);
        fflush(file);
        at = next;
        while (chunks < 4 && sample.ends[chunks + 1] <= at)
            chunks++;
        int expected = chunks < 4 ? chunks * snw_worldChunk : snw_worldLastFrame + 1;
        CHECK_INT(snwFrames_Refresh(frames, NULL), snw_ok);
        CHECK_INT(snwFrames_GetInfo(frames).frameCount, expected);
        if (expected > 0)
        {
            CHECK_INT(snwFrames_Read(frames, expected - 1, &frame, NULL), snw_ok);
            CHECK(snwFrame_Digest(&frame) == sample.digests[expected - 1]);
        }
    }
    fclose(file);
    snwFrames_Close(frames);
    EndSample(&sample);
}

// ---------------------------------------------------------------------------------------------------------------------
// What is no cache

TEST(frames, othersAreNoCaches)
{
    snwFramesWorld world = snwFramesWorld_Open("none", 1, 0);
    snwFrames* frames = NULL;
    char pipe[256];
    CHECK_INT(snwFrames_Open(world.context, "/nowhere/x.snwf", &frames, &world.message), snw_errorIo);
    CHECK_CONTAINS(world.message.text, "cannot open");
    CHECK_INT(snwFrames_Open(world.context, world.folder, &frames, &world.message), snw_errorIo);
    CHECK_INT(snwFrames_Open(world.context, "/dev/null", &frames, &world.message), snw_errorIo);
    snprintf(pipe, sizeof pipe, "%s/pipe.snwf", world.folder);
    REQUIRE(mkfifo(pipe, 0666) == 0);
    CHECK_INT(snwFrames_Open(world.context, pipe, &frames, &world.message), snw_errorIo); // and does not hang
    CHECK_INT(snwFrames_OpenMemory(world.context, "", 0, "empty", &frames, &world.message), snw_errorInput);
    CHECK_CONTAINS(world.message.text, "is no frames cache");
    CHECK(frames == NULL);
    world.def.framesTolerance = -1;
    CHECK_INT(snwFramesWorld_Run(&world), snw_errorArgument);
    world.def.framesTolerance = 0;
    world.def.framesPerChunk = 5000;
    CHECK_INT(snwFramesWorld_Run(&world), snw_errorArgument);
    snwFramesWorld_Close(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

// Runs, stops, resumes, reads: all with one allocator.
static snwResult TryAll(snwContext* context, const snwFramesWorld* world)
{
    snwRunDef def = snwDefaultRunDef();
    snwSceneFile file = {0};
    snwFrames* frames = NULL;
    snwFrame frame;
    volatile bool stop = true;
    char* text = NULL;
    size_t size = 0;
    if (snwSceneFile_Format(world->context, &world->file, &text, &size, NULL) < 0)
        return snw_errorIo;
    snwResult result = snwSceneFile_Parse(context, text, size, "small", NULL, &file, NULL);
    snwContext_Free(world->context, text);
    def.file = &file;
    def.framesPath = world->frames;
    def.logPath = world->log;
    def.measuresPath = world->measures;
    def.framesPerChunk = 2;
    def.framesTolerance = 1e-4;
    def.framesVertices = true;
    def.overwrite = true;
    def.interrupt = &stop;
    if (result == snw_ok)
        result = snwRun(context, &def, NULL, NULL);
    def.interrupt = NULL;
    def.overwrite = false;
    def.resume = true;
    if (result == snw_errorInterrupted)
        result = snwRun(context, &def, NULL, NULL);
    if (result == snw_ok)
        result = snwFrames_Open(context, world->frames, &frames, NULL);
    for (int i = 3; result == snw_ok && i >= 0; --i)
        result = snwFrames_Read(frames, i, &frame, NULL);
    if (result == snw_ok)
        result = snwFrames_Refresh(frames, NULL);
    snwFrames_Close(frames);
    snwSceneFile_Close(&file);
    return result;
}

TEST(frames, memoryRunsOut)
{
    snwResult result = snw_errorMemory;
    snwFramesWorld world = snwFramesWorld_Open("memory", 1, 4);
    for (long n = 1; result != snw_ok && n < 10000; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        REQUIRE(context != NULL);
        long own = counter.live;
        counter.failAt = counter.allocations + n;
        result = TryAll(context, &world);
        if (result != snw_ok && result != snw_errorMemory)
            snwTest_Fail(__FILE__, __LINE__, "failing allocation %ld gives %s", n, snwResult_Name(result));
        if (counter.live != own)
            snwTest_Fail(__FILE__, __LINE__, "failing allocation %ld leaks %ld blocks", n, counter.live - own);
        snwDestroyContext(context);
    }
    CHECK_INT(result, snw_ok);
    snwFramesWorld_Close(&world);
}
