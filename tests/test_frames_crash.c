// Runs that are cut short: by the user, by kill -9 at any moment, at every call of the system, by a disk that is full,
// by a second run. What was finished stays, and a resumed run leaves the very bytes of one that was not cut.

#include "frames_world.h"
#include "io_shim.h"
#include "process.h"
#include "test.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A straight run, with which the others are compared.
static snwFramesWorld RunStraight(const char* name, int threads, int lastFrame, double tolerance)
{
    snwFramesWorld world = snwFramesWorld_Open(name, threads, lastFrame);
    world.def.framesTolerance = tolerance;
    if (snwFramesWorld_Run(&world) != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s", world.message.text);
    return world;
}

static void Resume(snwFramesWorld* world, const snwFramesWorld* straight, const char* what)
{
    world->def.resume = true;
    world->def.overwrite = false;
    snwResult result = snwFramesWorld_Run(world);
    if (result != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s: %s", what, world->message.file, world->message.text);
    else
        snwFramesWorld_CheckSame(straight, world, what);
    world->def.resume = false;
}

// ---------------------------------------------------------------------------------------------------------------------
// The user

typedef struct Stopper
{
    volatile bool stop;
    int at;
    snwRunFrameFn* push;
} Stopper;

static snwResult StopAt(const snwRunFrame* frame, void* user, snwMessage* message)
{
    Stopper* stopper = user;
    stopper->stop = frame->frame >= stopper->at;
    return stopper->push != NULL ? stopper->push(frame, NULL, message) : snw_ok;
}

static void InterruptEverywhere(double tolerance)
{
    snwFramesWorld straight = RunStraight("straight", 1, 0, tolerance);
    for (int first = 0; first < snw_worldLastFrame; ++first)
    {
        snwFramesWorld world = snwFramesWorld_Open("interrupted", 2, 0);
        Stopper stopper = {.at = first, .push = world.def.onFrame};
        world.def.framesTolerance = tolerance;
        world.def.onFrame = StopAt;
        world.def.user = &stopper;
        world.def.interrupt = &stopper.stop;
        CHECK_INT(snwFramesWorld_Run(&world), snw_errorInterrupted);
        snwFrames* frames = NULL;
        REQUIRE(snwFrames_Open(world.context, world.frames, &frames, NULL) == snw_ok);
        CHECK_INT(snwFrames_GetInfo(frames).frameCount, first + 1); // every finished frame
        snwFrames_Close(frames);
        world.def.resume = true;
        stopper.at = first + 2; // and once more, soon after, perhaps in the same chunk
        if (stopper.at < snw_worldLastFrame)
            CHECK_INT(snwFramesWorld_Run(&world), snw_errorInterrupted);
        stopper.at = 1000;
        stopper.stop = false;
        Resume(&world, &straight, "interrupted");
        CHECK_INT(world.report.frames, snw_worldLastFrame);
        CHECK(world.report.hash == straight.report.hash);
        CHECK(world.report.energyMax == straight.report.energyMax);
        CHECK(world.report.first.energy == straight.report.first.energy);
        snwFramesWorld_Clear(&world);
        snwFramesWorld_Close(&world);
    }
    snwFramesWorld_Clear(&straight);
    snwFramesWorld_Close(&straight);
}

TEST(frames, interruptedAnywhereIsResumed)
{
    InterruptEverywhere(0);
    InterruptEverywhere(1e-4);
}

TEST(frames, completeRunIsResumedToItself)
{
    snwFramesWorld straight = RunStraight("whole", 1, 0, 0), world = RunStraight("again", 2, 0, 0);
    Resume(&world, &straight, "complete");
    unlink(world.log); // as if it had died before this got its name
    Resume(&world, &straight, "complete, without its log");
    snwFramesWorld_Close(&straight);
    snwFramesWorld_Close(&world);
}

// A replayed log goes on with the commands that are left.
TEST(frames, replayIsResumed)
{
    snwFramesWorld straight = RunStraight("played", 1, 0, 0);
    snwLog log;
    REQUIRE(snwLog_Open(straight.context, straight.log, NULL, &log, &straight.message) == snw_ok);
    CHECK_INT(log.commandCount, 3);
    for (int at = 0; at < snw_worldLastFrame; ++at)
    {
        snwFramesWorld world = snwFramesWorld_Open("replayed", 1, 0);
        Stopper stopper = {.at = at};
        world.def.onFrame = StopAt;
        world.def.user = &stopper;
        world.def.replay = &log;
        world.def.interrupt = &stopper.stop;
        CHECK_INT(snwFramesWorld_Run(&world), snw_errorInterrupted);
        stopper.at = 1000;
        stopper.stop = false;
        Resume(&world, &straight, "replayed");
        CHECK_INT(world.report.firstDifference, -1);
        snwFramesWorld_Clear(&world);
        snwFramesWorld_Close(&world);
    }
    snwLog_Close(straight.context, &log);
    snwFramesWorld_Close(&straight);
}

// ---------------------------------------------------------------------------------------------------------------------
// kill -9. A process that forks must have no other threads, or a lock may stay closed in the child for ever: worlds
// with several threads are opened after that.

static pid_t StartRun(const char* name, int threads, int lastFrame, double tolerance, bool resume)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    snwFramesWorld world = snwFramesWorld_Open(name, threads, lastFrame);
    world.def.framesTolerance = tolerance;
    world.def.resume = resume;
    snwResult result = snwFramesWorld_Run(&world);
    _exit(result == snw_ok ? 0 : 1);
}

static void Sleep(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&time, NULL);
}

static double Now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Frames that are whole in the cache; 0: there is none.
static int CountFrames(const snwFramesWorld* world)
{
    snwFrames* frames = NULL;
    if (snwFrames_Open(world->context, world->frames, &frames, NULL) < 0)
        return 0;
    int count = snwFrames_GetInfo(frames).frameCount;
    snwFrames_Close(frames);
    return count;
}

// Killed up to four times on its way, with another number of threads each time, after *wait s at most. A run that was
// quicker makes that shorter: the machine may have been slower when the time of a run was taken.
static int KillAndResume(double* wait, uint64_t* seed, int lastFrame, double tolerance, const snwFramesWorld* straight)
{
    snwFramesWorld world = snwFramesWorld_Open("killed", 1, lastFrame);
    int known = 0, killed = 0;
    for (int i = 0; i < 4; ++i)
    {
        int status = 0;
        pid_t child = StartRun("killed", 1 + i % 2, lastFrame, tolerance, i > 0);
        if (child <= 0)
            break;
        Sleep(*wait * snwTest_Random(seed));
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        killed += WIFSIGNALED(status);
        *wait *= i == 0 && !WIFSIGNALED(status) ? 0.5 : 1;
        CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        int count = CountFrames(&world);
        CHECK(count >= known - snw_worldChunk); // a kill costs at most a chunk
        known = count;
    }
    snwFramesWorld_Close(&world);
    world = snwFramesWorld_Open("killed", 1 + (int)(3 * snwTest_Random(seed)), lastFrame);
    world.def.framesTolerance = tolerance;
    Resume(&world, straight, "killed");
    snwFramesWorld_Clear(&world);
    snwFramesWorld_Close(&world);
    return killed;
}

static void KillOften(int rounds, int lastFrame)
{
    uint64_t seed = (uint64_t)getpid() * 7919 + 1;
    int killed = 0;
    for (int kind = 0; kind < 2; ++kind)
    {
        double tolerance = kind == 0 ? 0 : 1e-4, start = Now();
        snwFramesWorld straight = RunStraight("unkilled", 1, lastFrame, tolerance);
        double wait = 0.7 * (Now() - start);
        for (int i = 0; i < rounds; ++i)
            killed += KillAndResume(&wait, &seed, lastFrame, tolerance, &straight);
        snwFramesWorld_Clear(&straight);
        snwFramesWorld_Close(&straight);
    }
    CHECK(killed > rounds); // of eight tries in each round
}

TEST(frames, killedAtRandomMomentsIsResumed)
{
    KillOften(3, 200);
}

TEST_LONG(frames, killedForALongTimeIsResumed)
{
    KillOften(1000, 300);
}

// ---------------------------------------------------------------------------------------------------------------------
// Every call of the system

// False: it ended before that call.
static bool DieAt(snwFault fault, int at, int threads, bool resume)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
    {
        snwFramesWorld world = snwFramesWorld_Open("died", threads, 0);
        world.def.resume = resume;
        snwIo_Arm(fault, at, 0);
        _exit(snwFramesWorld_Run(&world) == snw_ok ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == snw_exitByFault));
    return WIFEXITED(status) && WEXITSTATUS(status) == snw_exitByFault;
}

static void DieEverywhere(snwFault fault)
{
    snwFramesWorld straight = RunStraight("alive", 1, 0, 0);
    int at = 1;
    for (bool died = true; died; ++at)
    {
        char what[64];
        snprintf(what, sizeof what, "dies at call %d", at);
        died = DieAt(fault, at, 1, false);
        if (died && at % 3 == 0) // the run that resumes may die as well
            DieAt(fault, at / 3, 1, true);
        snwFramesWorld world = snwFramesWorld_Open("died", 1 + at % 2, 0);
        Resume(&world, &straight, what);
        snwFramesWorld_Clear(&world);
        snwFramesWorld_Close(&world);
    }
    CHECK(at > 60);
    snwFramesWorld_Close(&straight);
}

TEST(frames, dyingBeforeAnyCallIsResumed)
{
    DieEverywhere(snw_faultDie);
}

TEST(frames, dyingInAnyCallIsResumed)
{
    DieEverywhere(snw_faultHalf);
}

// ---------------------------------------------------------------------------------------------------------------------
// Errors

// The finished chunks must be those of the straight run.
static void CheckPrefix(const snwFramesWorld* world, const snwFramesWorld* straight, int at)
{
    snwFrames *frames = NULL, *whole = NULL;
    snwFrame a, b;
    if (snwFrames_Open(world->context, world->frames, &frames, NULL) == snw_ok &&
        snwFrames_Open(world->context, straight->frames, &whole, NULL) == snw_ok)
        for (int i = 0; i < snwFrames_GetInfo(frames).frameCount; ++i)
        {
            bool read = snwFrames_Read(frames, i, &a, NULL) == snw_ok && snwFrames_Read(whole, i, &b, NULL) == snw_ok;
            if (!read || snwFrame_Digest(&a) != snwFrame_Digest(&b))
                snwTest_Fail(__FILE__, __LINE__, "failing call %d damages frame %d", at, i);
        }
    snwFrames_Close(frames);
    snwFrames_Close(whole);
}

static void InterruptAt(snwFramesWorld* world, int at)
{
    Stopper stopper = {.at = at, .push = world->def.onFrame};
    snwRunDef kept = world->def;
    world->def.onFrame = StopAt;
    world->def.user = &stopper;
    world->def.interrupt = &stopper.stop;
    CHECK_INT(snwFramesWorld_Run(world), snw_errorInterrupted);
    world->def = kept;
}

// resumed: the run that fails is one that goes on with a short chunk, which has frame 5.
static void FailEverywhere(snwFault fault, int error, const char* words, bool resumed)
{
    snwFramesWorld straight = RunStraight("lucky", 1, 0, 0);
    int calls = 1, failures = 0;
    for (int at = 1; calls >= at - 1; ++at) // until a run has fewer calls than that
    {
        char what[64];
        snwFramesWorld world = snwFramesWorld_Open("failed", 1, 0);
        if (resumed)
            InterruptAt(&world, 5);
        world.def.resume = resumed;
        snwIo_Arm(fault, at, error);
        snwResult result = snwFramesWorld_Run(&world);
        calls = snwIo_Disarm();
        snprintf(what, sizeof what, "call %d fails", at);
        if (result < 0)
        {
            failures++;
            CHECK_INT(result, snw_errorIo);
            CHECK_CONTAINS(world.message.text, words);
            CHECK_CONTAINS(world.message.file, world.folder);
            CheckPrefix(&world, &straight, at);
            CHECK(!resumed || CountFrames(&world) >= (fault == snw_faultFull ? 6 : 4));
        }
        Resume(&world, &straight, what); // a call whose failure does not matter has left the right files already
        snwFramesWorld_Clear(&world);
        snwFramesWorld_Close(&world);
    }
    CHECK(failures > 40);
    snwFramesWorld_Clear(&straight);
    snwFramesWorld_Close(&straight);
}

TEST(frames, anyCallMayFail)
{
    FailEverywhere(snw_faultError, EIO, "Input/output error", false);
    FailEverywhere(snw_faultError, EIO, "Input/output error", true);
}

TEST(frames, fullDiskKeepsWhatIsFinished)
{
    FailEverywhere(snw_faultFull, ENOSPC, "No space left", false);
    FailEverywhere(snw_faultFull, ENOSPC, "No space left", true);
}

TEST(frames, shortWritesAreGoneOnWith)
{
    snwFramesWorld straight = RunStraight("long", 1, 0, 0), world = snwFramesWorld_Open("short", 1, 0);
    snwIo_Arm(snw_faultShort, 1, 0);
    CHECK_INT(snwFramesWorld_Run(&world), snw_ok);
    CHECK(snwIo_Disarm() > 100);
    snwFramesWorld_CheckSame(&straight, &world, "short writes");
    snwFramesWorld_Close(&straight);
    snwFramesWorld_Close(&world);
}

// The system itself refuses: a limit on the size of files gives a short write and then an error.
TEST(frames, limitOfTheSystemKeepsWhatIsFinished)
{
    snwFramesWorld straight = RunStraight("unlimited", 1, 0, 0), world = snwFramesWorld_Open("limited", 1, 0);
    struct stat info;
    int status = 0;
    REQUIRE(stat(straight.frames, &info) == 0);
    pid_t child = fork();
    if (child == 0)
    {
        struct rlimit limit = {(rlim_t)info.st_size * 2 / 3, (rlim_t)info.st_size * 2 / 3};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        snwFramesWorld own = snwFramesWorld_Open("limited", 1, 0);
        snwResult result = snwFramesWorld_Run(&own);
        bool told = strstr(own.message.text, "File too large") != NULL && own.message.remedy[0] != 0;
        _exit(result == snw_errorIo && told ? 0 : 1);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK_INT(CountFrames(&world), 2 * snw_worldChunk);
    Resume(&world, &straight, "limited");
    snwFramesWorld_Close(&straight);
    snwFramesWorld_Close(&world);
}

TEST(frames, readOnlyFolderIsAClearError)
{
    snwFramesWorld world = snwFramesWorld_Open("readonly", 1, 0);
    snwIo_Arm(snw_faultError, 2, EROFS); // the first looks whether there is a cache
    CHECK_INT(snwFramesWorld_Run(&world), snw_errorIo);
    snwIo_Disarm();
    CHECK_CONTAINS(world.message.text, "Read-only file system");
    CHECK_CONTAINS(world.message.remedy, "choose a folder in which you may write");
    CHECK_CONTAINS(world.message.file, world.frames);
    if (getuid() != 0)
    {
        chmod(world.folder, 0555);
        CHECK_INT(snwFramesWorld_Run(&world), snw_errorIo);
        CHECK_CONTAINS(world.message.text, "Permission denied");
        chmod(world.folder, 0777);
    }
    CHECK(access(world.frames, F_OK) != 0);
    snwFramesWorld_Close(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Two runs

static snwResult StartSecond(const snwRunFrame* frame, void* user, snwMessage* message)
{
    snwFramesWorld* second = user;
    (void)message;
    if (frame->frame != 6)
        return snw_ok;
    for (int i = 0; i < 3; ++i)
    {
        second->def.overwrite = i == 1;
        second->def.resume = i == 2;
        CHECK_INT(snwFramesWorld_Run(second), snw_errorIo);
        CHECK_CONTAINS(second->message.text, "another run is writing this file");
        CHECK(second->message.remedy[0] != 0);
    }
    return snw_ok;
}

TEST(frames, secondWriterIsRefused)
{
    snwFramesWorld second = snwFramesWorld_Open("shared", 1, 0), world = snwFramesWorld_Open("shared", 1, 0);
    world.def.onFrame = StartSecond;
    world.def.user = &second;
    CHECK_INT(snwFramesWorld_Run(&world), snw_ok);
    CHECK_INT(CountFrames(&world), snw_worldLastFrame + 1);
    // Nobody writes any more: it is only in the way.
    second.def.resume = second.def.overwrite = false;
    CHECK_INT(snwFramesWorld_Run(&second), snw_errorIo);
    CHECK_CONTAINS(second.message.text, "exists already");
    CHECK_CONTAINS(second.message.remedy, "resume");
    second.def.overwrite = true;
    CHECK_INT(snwFramesWorld_Run(&second), snw_ok);
    snwFramesWorld_Close(&second);
    snwFramesWorld_Close(&world);
}

// Many start at once; one writes, the others are told, and the file is whole.
TEST(frames, ofManyWritersOneWins)
{
    enum
    {
        runs = 6
    };
    snwFramesWorld straight = RunStraight("alone", 1, 60, 0), world = snwFramesWorld_Open("crowd", 1, 60);
    pid_t children[runs];
    int won = 0;
    for (int i = 0; i < runs; ++i)
        children[i] = StartRun("crowd", 1, 60, 0, false);
    for (int i = 0; i < runs; ++i)
    {
        int status = 0;
        waitpid(children[i], &status, 0);
        CHECK(WIFEXITED(status));
        won += WEXITSTATUS(status) == 0;
    }
    CHECK_INT(won, 1);
    snwFramesWorld_CheckSame(&straight, &world, "many writers");
    snwFramesWorld_Close(&straight);
    snwFramesWorld_Close(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// What cannot be resumed

TEST(frames, otherRunsAreNotResumed)
{
    snwFramesWorld world = RunStraight("theirs", 1, 0, 0), longer = snwFramesWorld_Open("theirs", 1, 20);
    size_t size = 0, again = 0;
    unsigned char* data = snwReadBytesOf(world.frames, &size);
    longer.def.resume = true;
    CHECK_INT(snwFramesWorld_Run(&longer), snw_errorInput);
    CHECK_CONTAINS(longer.message.text, "cannot be resumed");
    world.def.resume = true;
    world.def.framesTolerance = 1e-3;
    CHECK_INT(snwFramesWorld_Run(&world), snw_errorInput);
    CHECK_CONTAINS(world.message.text, "another tolerance");
    world.def.framesTolerance = 0;
    unsigned char* after = snwReadBytesOf(world.frames, &again);
    CHECK(size == again && memcmp(data, after, size) == 0);
    FILE* file = fopen(world.frames, "r+b"); // in the first chunk
    REQUIRE(file != NULL);
    fseek(file, (long)size / 3, SEEK_SET);
    fputs("damage", file);
    fclose(file);
    CHECK_INT(snwFramesWorld_Run(&world), snw_errorInput);
    CHECK_CONTAINS(world.message.text, "damaged");
    CHECK(access(world.log, F_OK) == 0 && access(world.measures, F_OK) == 0); // and the rest is as it was
    snwRunDef def = snwDefaultRunDef();
    def.file = &world.file;
    def.resume = true;
    CHECK_INT(snwRun(world.context, &def, NULL, &world.message), snw_errorArgument);
    free(data);
    free(after);
    snwFramesWorld_Close(&world);
    snwFramesWorld_Close(&longer);
}

// ---------------------------------------------------------------------------------------------------------------------
// The program

#define SINEW    SNW_BINARY_DIR "/sinew"
#define RUN(...) snwProcess_Run((const char* const[]){SINEW, __VA_ARGS__, NULL})

static void CheckSameOutputs(const char* a, const char* b)
{
    static const char* const names[] = {"frames.snwf", "log.jsonl", "measures.csv", "energy.svg"};
    for (int i = 0; i < 4; ++i)
    {
        char pathA[256], pathB[256];
        size_t sizeA = 0, sizeB = 0;
        snprintf(pathA, sizeof pathA, "%s/%s", a, names[i]);
        snprintf(pathB, sizeof pathB, "%s/%s", b, names[i]);
        unsigned char *dataA = snwReadBytesOf(pathA, &sizeA), *dataB = snwReadBytesOf(pathB, &sizeB);
        if (dataA == NULL || dataB == NULL || sizeA != sizeB || memcmp(dataA, dataB, sizeA) != 0)
            snwTest_Fail(__FILE__, __LINE__, "%s differs", names[i]);
        free(dataA);
        free(dataB);
    }
}

// Words that must be there; "" for none.
static void CheckRun(snwProcess process, int code, const char* text, const char* errors)
{
    CHECK_INT(process.code, code);
    if (text[0] != 0)
        CHECK_CONTAINS(process.text, text);
    if (errors[0] != 0)
        CHECK_CONTAINS(process.errors, errors);
    snwProcess_Free(&process);
}

TEST(frames, programCachesResumesChecksAndTells)
{
    static const char scene[] = SNW_SOURCE_DIR "/scenes/paddle.json";
    char a[160], b[160], path[200];
    snprintf(a, sizeof a, "%s/a", snwTest_TempDir());
    snprintf(b, sizeof b, "%s/b", snwTest_TempDir());
    CheckRun(
        RUN("sim", scene, "--frames", "40", "-o", a, "--cache", "--no-film", "-t", "1"), 0, "frames", "frames.snwf");
    snwProcess killed = snwProcess_Start(
        (const char* const[]){SINEW, "sim", scene, "--frames", "40", "-o", b, "--cache", "--no-film", NULL}, NULL);
    snprintf(path, sizeof path, "%s/frames.snwf", b);
    for (int i = 0; i < 200 * snwTest_Patience() && access(path, F_OK) != 0; ++i)
        Sleep(0.005);
    Sleep(0.05); // whether it is over by then is all the same
    kill(killed.id, SIGKILL);
    snwProcess_Wait(&killed);
    CheckRun(RUN("sim", scene, "--frames", "40", "-o", b, "--cache", "--no-film"), 1, "", "exists already");
    CheckRun(RUN("sim", scene, "--frames", "40", "-o", b, "--resume", "-t", "2"), 0, "frames", "has no film");
    CheckSameOutputs(a, b);
    CheckRun(RUN("check", path), 0, "cache of 41 frames, ", "");
    CheckRun(RUN("info", path), 0, "41 of 41 frames, complete", "");
    snwProcess info = RUN("info", path, "--json");
    json_t* json = json_loads(info.text, 0, NULL);
    CHECK_INT(json_integer_value(json_object_get(json, "frames")), 41);
    CHECK(json_is_true(json_object_get(json, "complete")));
    json_decref(json);
    snwProcess_Free(&info);
    struct stat size;
    REQUIRE(stat(path, &size) == 0 && truncate(path, size.st_size - 10) == 0);
    CheckRun(RUN("check", path), 0, "cut short", "not whole");
    FILE* file = fopen(path, "r+b");
    REQUIRE(file != NULL);
    fseek(file, 100, SEEK_SET);
    fputs("damage", file);
    fclose(file);
    CheckRun(RUN("check", path), 3, "", "checksum is wrong");
    CheckRun(RUN("info", path), 3, "", "header");
    snwProcess_Free(&killed);
}

TEST(frames, programRefusesContradictions)
{
    CheckRun(RUN("sim", "x.json", "--cache"), 2, "", "needs a folder");
    CheckRun(RUN("sim", "x.json", "--resume", "--force", "-o", "x"), 2, "", "contradict");
    CheckRun(RUN("sim", "x.json", "--cache-tolerance", "7", "-o", "x"), 2, "", "cache-tolerance");
}
