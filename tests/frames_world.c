#include "frames_world.h"
#include "fixture.h"
#include "test.h"

#include "base/hash.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char s_scene[] =
    "{\"sinew\": 1, \"name\": \"small\", \"rate\": 60, \"duration\": 1, \"settings\": {\"pbd.iterations\": 3},"
    " \"bodies\": [{\"name\": \"block\", \"character\": {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3],"
    "   \"cells\": [1, 1, 1]}, \"position\": [0, 0.2, 0], \"velocity\": [0, -1, 0]},"
    "  {\"name\": \"spring\", \"character\": {\"shape\": \"spring\"}, \"position\": [2, 3, 0]},"
    "  {\"name\": \"block2\", \"character\": {\"shape\": \"block\", \"cells\": [1, 1, 1]}, \"position\": [9, 3, 0]}],"
    " \"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\"},"
    "  {\"name\": \"ball\", \"kind\": \"sphere\", \"position\": [5, 5, 5]}],"
    " \"props\": [{\"name\": \"pen\", \"kind\": \"capsule\", \"radius\": 0.02, \"half_length\": 0.1,"
    "   \"position\": [0, 0.4, 0], \"angles\": [0, 0, 60], \"velocity\": [0, -1, 0]}],"
    " \"commands\": [{\"step\": 4, \"kind\": \"push\", \"body\": \"block\", \"force\": [20, 0, 0], \"duration\": "
    "0.1}]}";

// Someone at the mouse: the same things at the same frames, also when a run is resumed just there.
static snwResult PushOnFrame(const snwRunFrame* frame, void* user, snwMessage* message)
{
    (void)user;
    snwCommand command = snwDefaultCommand(snw_commandPush);
    command.vector = (snwVec3){0.1, 60, 1.0 / 3};
    command.value = 0.05;
    if (frame->sim == NULL)
        return snw_ok;
    if (frame->frame == 3 || frame->frame == 6)
        return snwSim_Push(frame->sim, &command, message);
    command = snwDefaultCommand(snw_commandReset);
    if (frame->frame == 9)
        return snwSim_Push(frame->sim, &command, message);
    return snw_ok;
}

snwFramesWorld snwFramesWorld_Open(const char* name, int threads, int lastFrame)
{
    snwFramesWorld world = {.context = snwFixture_Context(threads, snw_simdAuto, NULL)};
    snwSceneOptions options = snwDefaultSceneOptions();
    options.duration = (lastFrame > 0 ? lastFrame : snw_worldLastFrame) / 60.0;
    if (snwSceneFile_Parse(world.context, s_scene, strlen(s_scene), "small", &options, &world.file, &world.message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", world.message.place, world.message.text);
    snprintf(world.folder, sizeof world.folder, "%s/%s", snwTest_TempDir(), name);
    mkdir(world.folder, 0777);
    snprintf(world.frames, sizeof world.frames, "%s/frames.snwf", world.folder);
    snprintf(world.log, sizeof world.log, "%s/log.jsonl", world.folder);
    snprintf(world.measures, sizeof world.measures, "%s/measures.csv", world.folder);
    world.def = snwDefaultRunDef();
    world.def.framesPerChunk = snw_worldChunk;
    world.def.onFrame = PushOnFrame;
    return world;
}

void snwFramesWorld_Close(snwFramesWorld* world)
{
    snwSceneFile_Close(&world->file);
    snwDestroyContext(world->context);
}

snwResult snwFramesWorld_Run(snwFramesWorld* world)
{
    snwRunDef def = world->def;
    def.file = def.replay == NULL ? &world->file : NULL;
    def.framesPath = world->frames;
    def.logPath = world->log;
    def.measuresPath = world->measures;
    return snwRun(world->context, &def, &world->report, &world->message);
}

void snwFramesWorld_Clear(const snwFramesWorld* world)
{
    static const char* const endings[] = {"", ".new", ".part"};
    const char* const paths[] = {world->frames, world->log, world->measures};
    for (int i = 0; i < 9; ++i)
    {
        char path[240];
        snprintf(path, sizeof path, "%s%s", paths[i / 3], endings[i % 3]);
        unlink(path);
    }
}

unsigned char* snwReadBytesOf(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    *size = 0;
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char* data = malloc(*size + 1);
    if (data != NULL && fread(data, 1, *size, file) != *size)
        *size = 0;
    fclose(file);
    return data;
}

static void CheckSameFile(const char* a, const char* b, const char* what)
{
    size_t sizeA = 0, sizeB = 0, place = 0;
    unsigned char *dataA = snwReadBytesOf(a, &sizeA), *dataB = snwReadBytesOf(b, &sizeB);
    if (dataA == NULL || dataB == NULL)
        snwTest_Fail(__FILE__, __LINE__, "%s: there is no %s", what, dataA == NULL ? a : b);
    else if (sizeA != sizeB || memcmp(dataA, dataB, sizeA) != 0)
    {
        while (place < sizeA && place < sizeB && dataA[place] == dataB[place])
            place++;
        snwTest_Fail(
            __FILE__, __LINE__, "%s: %s (%zu bytes) and %s (%zu) differ at %zu", what, a, sizeA, b, sizeB, place);
    }
    free(dataA);
    free(dataB);
}

static int CountFiles(const char* folder)
{
    int count = 0;
    DIR* listing = opendir(folder);
    for (struct dirent* entry = listing != NULL ? readdir(listing) : NULL; entry != NULL; entry = readdir(listing))
        count += entry->d_name[0] != '.';
    if (listing != NULL)
        closedir(listing);
    return count;
}

void snwFramesWorld_CheckSame(const snwFramesWorld* a, const snwFramesWorld* b, const char* what)
{
    CheckSameFile(a->frames, b->frames, what);
    CheckSameFile(a->log, b->log, what);
    CheckSameFile(a->measures, b->measures, what);
    if (CountFiles(a->folder) != 3 || CountFiles(b->folder) != 3)
        snwTest_Fail(__FILE__, __LINE__, "%s: something else is left in the folder", what);
}

uint64_t snwFrame_Digest(const snwFrame* frame)
{
    uint64_t digest = snwHash(&frame->measures, sizeof frame->measures, frame->hash ^ (uint64_t)frame->frame);
    digest = snwHash(&frame->time, sizeof frame->time, digest ^ frame->step);
    digest = snwHash(frame->commands, frame->commandsSize, digest);
    digest = snwHash(frame->contacts.data, (size_t)frame->contacts.count * sizeof(snwContact), digest);
    digest = snwHash(frame->colliders.data, (size_t)frame->colliders.count * sizeof(snwTransform), digest);
    digest = snwHash(frame->props.data, (size_t)frame->props.count * sizeof(snwTransform), digest);
    for (int i = 0; i < frame->bodyCount; ++i)
    {
        const snwFrameBody* body = &frame->bodies[i];
        digest = snwHash(body->skin, (size_t)body->skinVertexCount * 12, digest);
        digest = snwHash(body->bones.data, (size_t)body->bones.count * sizeof(snwTransform), digest);
        if (body->vertices != NULL)
            digest = snwHash(body->vertices, (size_t)body->vertexCount * 12, digest);
    }
    return digest;
}
