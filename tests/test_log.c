// Command logs and the run loop: write, read, replay; tampering, truncation, damage; interruption, divergence,
// measures.
// Labels: threads

#include "fixture.h"
#include "test.h"

#include "scene/file.h"
#include "sinew/tools.h"

#include <math.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char s_scene[] =
    "{\"sinew\": 1, \"name\": \"small\", \"rate\": 60, \"duration\": 0.5, \"settings\": {\"pbd.iterations\": 5},"
    " \"bodies\": [{\"name\": \"block\", \"character\": {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3],"
    "   \"cells\": [3, 3, 3]}, \"position\": [0, 0.3, 0], \"angles\": [20, 30, 0]}],"
    " \"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\"}],"
    " \"commands\": [{\"step\": 4, \"kind\": \"push\", \"body\": \"block\", \"force\": [20, 0, 0], \"duration\": "
    "0.1}]}";

enum
{
    snw_testFrames = 30,
    snw_testPushStep = 10
};

typedef struct World
{
    snwContext* context;
    snwSceneFile file;
    snwMessage message;
    snwRunReport report;
    char logPath[256];
    char measuresPath[256];
} World;

static World NewWorld(const char* text, const char* name)
{
    World world = {0};
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = 1;
    snwCreateContext(&def, &world.context, NULL);
    if (snwSceneFile_Parse(world.context, text, strlen(text), "small", NULL, &world.file, &world.message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", world.message.place, world.message.text);
    snprintf(world.logPath, sizeof world.logPath, "%s/%s.log", snwTest_TempDir(), name);
    snprintf(world.measuresPath, sizeof world.measuresPath, "%s/%s.csv", snwTest_TempDir(), name);
    return world;
}

static void EndWorld(World* world)
{
    snwSceneFile_Close(&world->file);
    snwDestroyContext(world->context);
}

// Someone at the mouse: pushes and resets while the scene's own script runs too.
static snwResult PushOnFrame(const snwRunFrame* frame, void* user, snwMessage* message)
{
    (void)user;
    snwCommand command = snwDefaultCommand(snw_commandPush);
    command.vector = (snwVec3){0.1, 60, 1.0 / 3};
    command.value = 0.05;
    if (frame->frame == snw_testPushStep)
        return snwSim_Push(frame->sim, &command, message);
    command = snwDefaultCommand(snw_commandReset);
    if (frame->frame == 15)
        return snwSim_Push(frame->sim, &command, message);
    return snw_ok;
}

static snwResult RunLogged(World* world)
{
    snwRunDef def = snwDefaultRunDef();
    def.file = &world->file;
    def.logPath = world->logPath;
    def.onFrame = PushOnFrame;
    def.overwrite = true;
    return snwRun(world->context, &def, &world->report, &world->message);
}

static char* ReadLog(World* world, size_t* size)
{
    char* text = NULL;
    if (snwFile_Read(world->context, world->logPath, 1 << 20, &text, size, &world->message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", world->message.text);
    return text;
}

TEST(log, replayGivesTheSameHashes)
{
    World world = NewWorld(s_scene, "replay");
    snwLog log;
    snwRunReport replayed;
    REQUIRE(RunLogged(&world) == snw_ok);
    CHECK_INT(world.report.frames, snw_testFrames);
    CHECK_INT(world.report.firstDifference, -1);
    REQUIRE(snwLog_Open(world.context, world.logPath, NULL, &log, &world.message) == snw_ok);
    CHECK(log.complete);
    CHECK_INT(log.frameCount, snw_testFrames + 1);
    CHECK_INT(log.commandCount, 2); // the script's push is the scene's, not the log's
    CHECK_INT(log.commands[0].step, snw_testPushStep);
    CHECK(snwScene_Hash(log.file.scene) == snwScene_Hash(world.file.scene));
    snwRunDef def = snwDefaultRunDef();
    def.replay = &log;
    CHECK_INT(snwRun(world.context, &def, &replayed, &world.message), snw_ok);
    CHECK_INT(replayed.firstDifference, -1);
    CHECK_INT(replayed.frames, snw_testFrames);
    CHECK(replayed.hash == world.report.hash);
    snwLog_Close(world.context, &log);
    EndWorld(&world);
}

TEST(log, tamperedCommandIsFound)
{
    World world = NewWorld(s_scene, "tampered");
    snwLog log;
    snwRunReport replayed;
    REQUIRE(RunLogged(&world) == snw_ok);
    REQUIRE(snwLog_Open(world.context, world.logPath, NULL, &log, &world.message) == snw_ok);
    log.commands[0].vector.y += 1;
    snwRunDef def = snwDefaultRunDef();
    def.replay = &log;
    CHECK_INT(snwRun(world.context, &def, &replayed, &world.message), snw_warning);
    CHECK_INT(replayed.firstDifference, snw_testPushStep + 1);
    CHECK_INT(replayed.frames, snw_testFrames); // all frames are compared
    CHECK_CONTAINS(world.message.text, "from frame 11 on");
    snwLog_Close(world.context, &log);
    EndWorld(&world);
}

// Every length of a cut-off log: nothing before the first line ends, then ever more frames; never a crash or a lie.
TEST(log, truncatedAnywhere)
{
    World world = NewWorld(s_scene, "truncated");
    REQUIRE(RunLogged(&world) == snw_ok);
    size_t size = 0;
    char* text = ReadLog(&world, &size);
    REQUIRE(text != NULL);
    size_t header = strcspn(text, "\n");
    int frames = 0;
    for (size_t length = header - 3; length < size - 1; ++length)
    {
        snwLog log;
        snwResult result = snwLog_Parse(world.context, text, length, "cut", NULL, &log, &world.message);
        if ((result == snw_ok) != (length >= header))
            snwTest_Fail(__FILE__, __LINE__, "cut at %zu gives %s", length, world.message.text);
        CHECK(!log.complete || length == size - 1);
        CHECK(result < 0 || log.frameCount >= frames);
        frames = log.frameCount;
        snwLog_Close(world.context, &log);
    }
    CHECK_INT(frames, snw_testFrames + 1);
    snwFree(world.context, text);
    EndWorld(&world);
}

static void CheckDamage(World* world, const char* text, size_t size, const char* part)
{
    snwLog log;
    char words[1024];
    CHECK_INT(snwLog_Parse(world->context, text, size, "log", NULL, &log, &world->message), snw_errorInput);
    snwMessage_Format(&world->message, words, sizeof words);
    CHECK_CONTAINS(words, part);
    CHECK(log.commands == NULL && log.hashes == NULL && log.file.scene == NULL);
}

// Copies the log with one part replaced by another of any length.
static void CheckReplaced(World* world, const char* text, const char* from, const char* to, const char* part)
{
    const char* at = strstr(text, from);
    REQUIRE(at != NULL);
    size_t capacity = strlen(text) + strlen(to) + 1;
    char* copy = malloc(capacity);
    REQUIRE(copy != NULL);
    snprintf(copy, capacity, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    CheckDamage(world, copy, strlen(copy), part);
    free(copy);
}

TEST(log, damageIsAnErrorWithItsLine)
{
    World world = NewWorld(s_scene, "damaged");
    REQUIRE(RunLogged(&world) == snw_ok);
    size_t size = 0;
    char* text = ReadLog(&world, &size);
    REQUIRE(text != NULL);
    CheckDamage(&world, "", 0, "log: is empty");
    CheckReplaced(&world, text, "\"frame\": 3,", "\"frame\": 4,", "log: line 5: frame 4 is out of order; 3 comes next");
    CheckReplaced(&world, text, "{\"frame\": 7", "{\"frame 7", "log: line 9");
    CheckReplaced(&world, text, "\"hash\"", "\"hush\"", "line 2: unknown key 'hush' (did you mean 'hash'?)");
    CheckReplaced(&world, text, "\"hash\": \"", "\"hash\": \"x", "line 2: a hash must have 16 hexadecimal digits");
    CheckReplaced(&world, text, "\"step\": 10", "\"step\": 11", "line 13.command: step 11 is out of order");
    CheckReplaced(&world, text, "[0.1, 60,", "[0.1, 61,", "the checksum is wrong");
    CheckReplaced(&world, text, "\"end\": 30", "\"end\": 29", "the log says it has 29 frames");
    CheckReplaced(&world, text, "\"sinew_log\": 1", "\"sinew_log\": 2", "line 1.sinew_log: must be 1..1, is 2");
    CheckReplaced(&world, text, "\"rate\": 60", "\"rate\": -60", "log: line 1.scene.rate: must be 1..100000");
    CheckReplaced(&world, text, "{\"end\"", "{}\n{\"end\"", "must be one of");
    snwFree(world.context, text);
    EndWorld(&world);
}

TEST(log, existingFilesAreKept)
{
    World world = NewWorld(s_scene, "kept");
    snwRunDef def = snwDefaultRunDef();
    def.file = &world.file;
    def.logPath = world.logPath;
    CHECK_INT(snwRun(world.context, &def, &world.report, &world.message), snw_ok);
    CHECK_INT(snwRun(world.context, &def, &world.report, &world.message), snw_errorIo);
    CHECK_CONTAINS(world.message.text, "exists already");
    def.overwrite = true;
    CHECK_INT(snwRun(world.context, &def, &world.report, &world.message), snw_ok);
    // A failing second file takes the first one's part away again.
    char other[300];
    snprintf(other, sizeof other, "%s2", world.logPath);
    def.logPath = other;
    def.measuresPath = "measures.txt";
    CHECK_INT(snwRun(world.context, &def, &world.report, &world.message), snw_errorArgument);
    snprintf(other, sizeof other, "%s2.part", world.logPath);
    CHECK(access(other, F_OK) != 0);
    EndWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs that end early

static snwResult StopAtFive(const snwRunFrame* frame, void* user, snwMessage* message)
{
    (void)message;
    if (frame->frame == 5)
        *(volatile bool*)user = true;
    return snw_ok;
}

TEST(run, interruptedKeepsWhatIsFinished)
{
    World world = NewWorld(s_scene, "interrupted");
    volatile bool interrupt = false;
    snwLog log;
    snwRunDef def = snwDefaultRunDef();
    def.file = &world.file;
    def.logPath = world.logPath;
    def.measuresPath = world.measuresPath;
    def.interrupt = &interrupt;
    def.onFrame = StopAtFive;
    def.user = (void*)&interrupt;
    CHECK_INT(snwRun(world.context, &def, &world.report, &world.message), snw_errorInterrupted);
    CHECK_INT(world.report.frames, 5);
    REQUIRE(snwLog_Open(world.context, world.logPath, NULL, &log, &world.message) == snw_ok);
    CHECK(!log.complete); // it was meant to have more
    CHECK_INT(log.frameCount, 6);
    CHECK(log.hashes[5] == world.report.hash);
    CHECK(access(world.measuresPath, F_OK) == 0);
    snwLog_Close(world.context, &log);
    EndWorld(&world);
}

// What a crash right after frame 3 would leave behind.
static snwResult ReadPartAtThree(const snwRunFrame* frame, void* user, snwMessage* message)
{
    World* world = user;
    char part[300];
    snwLog log;
    if (frame->frame != 3)
        return snw_ok;
    snprintf(part, sizeof part, "%s.part", world->logPath);
    CHECK_INT(snwLog_Open(world->context, part, NULL, &log, message), snw_ok);
    CHECK(!log.complete);
    CHECK_INT(log.frameCount, 4);
    CHECK(access(world->logPath, F_OK) != 0);
    snwLog_Close(world->context, &log);
    return snw_ok;
}

TEST(run, crashLeavesALog)
{
    World world = NewWorld(s_scene, "crash");
    snwRunDef def = snwDefaultRunDef();
    def.file = &world.file;
    def.logPath = world.logPath;
    def.onFrame = ReadPartAtThree;
    def.user = &world;
    CHECK_INT(snwRun(world.context, &def, &world.report, &world.message), snw_ok);
    CHECK(access(world.logPath, F_OK) == 0);
    EndWorld(&world);
}

static snwResult FailAtThree(const snwRunFrame* frame, void* user, snwMessage* message)
{
    (void)user;
    (void)message;
    return frame->frame == 3 ? snw_errorUnsupported : snw_ok;
}

TEST(run, callbackEndsTheRun)
{
    World world = NewWorld(s_scene, "callback");
    snwRunDef def = snwDefaultRunDef();
    def.file = &world.file;
    def.onFrame = FailAtThree;
    CHECK_INT(snwRun(world.context, &def, &world.report, &world.message), snw_errorUnsupported);
    CHECK_INT(world.report.frames, 3);
    EndWorld(&world);
}

typedef struct Extremes
{
    double minVolumeRatio, maxStretch;
} Extremes;

static snwResult KeepExtremes(const snwRunFrame* frame, void* user, snwMessage* message)
{
    Extremes* extremes = user;
    snwMeasures measures;
    (void)message;
    snwSim_GetMeasures(frame->sim, -1, &measures);
    CHECK_NEAR(frame->measures->energy, measures.energy, 0); // what is handed over is what a caller would measure
    extremes->minVolumeRatio = fmin(extremes->minVolumeRatio, measures.minVolumeRatio);
    extremes->maxStretch = fmax(extremes->maxStretch, measures.maxStretch);
    return snw_ok;
}

TEST(run, reportsTheWorstFrame)
{
    World world = NewWorld(s_scene, "worst");
    Extremes extremes = {1e9, 0};
    snwRunDef def = snwDefaultRunDef();
    def.file = &world.file;
    def.onFrame = KeepExtremes;
    def.user = &extremes;
    CHECK_INT(snwRun(world.context, &def, &world.report, &world.message), snw_ok);
    CHECK_NEAR(world.report.minVolumeRatio, extremes.minVolumeRatio, 0);
    CHECK_NEAR(world.report.maxStretch, extremes.maxStretch, 0);
    CHECK((world.report.firstInverted >= 0) == (extremes.minVolumeRatio < 0));
    EndWorld(&world);
}

// An absurd force: numbers stop being finite, and what came before is kept.
TEST(run, divergenceKeepsWhatIsFinished)
{
    static const char s_wild[] =
        "{\"sinew\": 1, \"rate\": 1, \"duration\": 60, \"bodies\": [{\"name\": \"b\", \"character\":"
        " {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [2, 2, 2], \"material\": {\"density\": "
        "0.001}}}],"
        " \"commands\": [{\"step\": 3, \"kind\": \"push\", \"body\": \"b\", \"vertex\": 0, \"force\": [1e12, 1e11, "
        "1e10],"
        " \"duration\": 1e9}]}";
    World world = NewWorld(s_wild, "diverged");
    snwLog log;
    snwRunDef def = snwDefaultRunDef();
    def.file = &world.file;
    def.logPath = world.logPath;
    CHECK_INT(snwRun(world.context, &def, &world.report, &world.message), snw_errorDiverged);
    CHECK_CONTAINS(world.message.text, "diverged");
    CHECK(world.report.frames >= 3 && world.report.frames < 60);
    size_t size = 0;
    char* text = ReadLog(&world, &size);
    REQUIRE(text != NULL);
    CHECK_INT(snwLog_Parse(world.context, text, size, "log", NULL, &log, &world.message), snw_ok);
    CHECK_INT(log.frameCount, world.report.frames + 1);
    CHECK(!log.complete);
    snwLog_Close(world.context, &log);
    snwFree(world.context, text);
    EndWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Measures

TEST(run, measuresCsv)
{
    World world = NewWorld(s_scene, "measures");
    snwRunDef def = snwDefaultRunDef();
    def.file = &world.file;
    def.measuresPath = world.measuresPath;
    REQUIRE(snwRun(world.context, &def, &world.report, &world.message) == snw_ok);
    char* text = NULL;
    size_t size = 0;
    REQUIRE(snwFile_Read(world.context, world.measuresPath, 1 << 20, &text, &size, NULL) == snw_ok);
    CHECK(strncmp(text, "frame,time[s],kinetic[J],", 25) == 0);
    int lines = 0, columns = 1;
    for (size_t i = 0; i < size; ++i)
        lines += text[i] == '\n';
    for (const char* c = text; *c != '\n'; ++c)
        columns += *c == ',';
    CHECK_INT(lines, snw_testFrames + 2);
    CHECK_INT(columns, snwMeasureCount() + 1 + world.report.stageCount);
    CHECK_CONTAINS(text, ",stage.distance[ms],");
    CHECK(world.report.stageCount > 1);
    double sum = 0.0;
    for (int i = 0; i < world.report.stageCount; ++i)
        sum += world.report.stages[i].ms;
    CHECK(sum > 0.0 && sum <= world.report.stepMsMax);
    char last[64];
    snprintf(last, sizeof last, "\n%d,", snw_testFrames);
    CHECK_CONTAINS(text, last);
    CHECK_NEAR(world.report.last.time, 0.5, 1e-9);
    snwFree(world.context, text);
    EndWorld(&world);
}

TEST(run, measuresJson)
{
    World world = NewWorld(s_scene, "measures");
    snwRunDef def = snwDefaultRunDef();
    char path[256];
    snprintf(path, sizeof path, "%s/measures.json", snwTest_TempDir());
    def.file = &world.file;
    def.measuresPath = path;
    REQUIRE(snwRun(world.context, &def, &world.report, &world.message) == snw_ok);
    json_t* root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    REQUIRE(root != NULL);
    const json_t *rows = json_object_get(root, "rows"), *columns = json_object_get(root, "columns");
    CHECK_INT(json_array_size(columns), snwMeasureCount() + 1 + world.report.stageCount);
    CHECK_INT(json_array_size(rows), snw_testFrames + 1);
    const json_t* energy = json_array_get(json_array_get(rows, snw_testFrames), 5);
    CHECK(json_number_value(energy) == world.report.last.energy); // every bit
    json_decref(root);
    EndWorld(&world);
}

TEST(run, needsAScene)
{
    World world = NewWorld(s_scene, "none");
    snwRunDef def = snwDefaultRunDef();
    CHECK_INT(snwRun(world.context, &def, NULL, &world.message), snw_errorArgument);
    EndWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

// A short run with a log and measures, then the replay of its log.
static snwResult TryAll(snwContext* context, const char* logPath, const char* measuresPath)
{
    snwSceneOptions options = snwDefaultSceneOptions();
    snwSceneFile file;
    snwLog log = {0};
    options.duration = 3.0 / 60;
    snwResult result = snwSceneFile_Parse(context, s_scene, strlen(s_scene), "small", &options, &file, NULL);
    snwRunDef def = snwDefaultRunDef();
    def.file = &file;
    def.logPath = logPath;
    def.measuresPath = measuresPath;
    def.overwrite = true;
    if (result == snw_ok)
        result = snwRun(context, &def, NULL, NULL);
    if (result == snw_ok)
        result = snwLog_Open(context, logPath, NULL, &log, NULL);
    snwRunDef replay = snwDefaultRunDef();
    replay.replay = &log;
    if (result == snw_ok)
        result = snwRun(context, &replay, NULL, NULL);
    snwLog_Close(context, &log);
    snwSceneFile_Close(&file);
    return result;
}

TEST(log, memoryRunsOut)
{
    char logPath[256], measuresPath[256];
    snprintf(logPath, sizeof logPath, "%s/memory.log", snwTest_TempDir());
    snprintf(measuresPath, sizeof measuresPath, "%s/memory.json", snwTest_TempDir());
    snwResult result = snw_errorMemory;
    for (long n = 1; result != snw_ok && n < 10000; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        REQUIRE(context != NULL);
        long own = counter.live;
        counter.failAt = counter.allocations + n;
        result = TryAll(context, logPath, measuresPath);
        if (result != snw_ok && result != snw_errorMemory)
            snwTest_Fail(__FILE__, __LINE__, "failing allocation %ld gives %s", n, snwResult_Name(result));
        if (counter.live != own)
            snwTest_Fail(__FILE__, __LINE__, "failing allocation %ld leaks %ld blocks", n, counter.live - own);
        snwDestroyContext(context);
    }
    CHECK_INT(result, snw_ok);
}
