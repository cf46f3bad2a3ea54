// sinew-golden check NAME...      is what these cases give what was recorded?
// sinew-golden record [NAME...]   writes down what they give now (all of them, if none is named)
// sinew-golden complete           has everything a case that must have one?
//
// Each case runs in a process and an empty folder of its own, with one thread.

#define _GNU_SOURCE // nftw, wait4

#include "golden.h"
#include "../test.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* s_name = ""; // of the case that this process runs

enum
{
    snw_cellTolerance = 3, // of 255: other processors round a ray's way differently; what is seen differs by more
};

static void Say(const char* format, va_list args)
{
    fprintf(stderr, "golden.%s: ", s_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void snwGolden_Fail(const char* format, ...)
{
    va_list args;
    va_start(args, format);
    Say(format, args);
    va_end(args);
    exit(1);
}

void snwGolden_Skip(const char* format, ...)
{
    va_list args;
    va_start(args, format);
    Say(format, args);
    va_end(args);
    exit(snw_goldenExitSkipped);
}

// ---------------------------------------------------------------------------------------------------------------------
// For the helpers that we share with the tests

void snwTest_Fail(const char* file, int line, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", file, line);
    Say(format, args);
    va_end(args);
    exit(1);
}

double snwTest_Random(uint64_t* seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53;
}

const char* snwTest_TempDir(void)
{
    return ".";
}

// ---------------------------------------------------------------------------------------------------------------------
// Running a case

typedef struct Run
{
    pid_t process; // 0: none
    char folder[64];
    FILE* results;
    double seconds; // of a core
    int exit;       // 0, 1 or 77
    snwGoldenValues found;
} Run;

static void SkipWhatCannotBe(const snwGoldenLine* line)
{
    for (int i = 0; i < line->wordCount; ++i)
        if (strncmp(line->words[i], "data/", 5) == 0 && access(line->words[i], R_OK) != 0)
            snwGolden_Skip("skipped, for there is no %s in SINEW_DATA or ../shared/data", line->words[i] + 5);
}

static void RunHere(const snwGoldenLine* line, const Run* run)
{
    s_name = line->name;
    const char* data = getenv("SINEW_DATA");
    if (chdir(run->folder) != 0 || symlink(SNW_SOURCE_DIR "/scenes", "scenes") != 0 ||
        symlink(SNW_SOURCE_DIR "/tests", "tests") != 0 ||
        symlink(data != NULL ? data : SNW_SOURCE_DIR "/../shared/data", "data") != 0)
        snwGolden_Fail("%s: %s", run->folder, strerror(errno));
    SkipWhatCannotBe(line);
    snwGoldenValues found = {0};
    snwGolden_Find(line, &found);
    for (int i = 0; i < found.count; ++i)
        fprintf(run->results, "%s %s\n", found.list[i].key, found.list[i].text);
    fflush(run->results);
    snwGoldenValues_Free(&found);
}

static void Start(Run* run, const snwGoldenLine* line)
{
    *run = (Run){.results = tmpfile(), .folder = "/tmp/sinew-golden-XXXXXX"};
    if (run->results == NULL || mkdtemp(run->folder) == NULL)
        snwGolden_Fail("/tmp: %s", strerror(errno));
    fflush(NULL);
    run->process = fork();
    if (run->process == 0)
    {
        RunHere(line, run);
        exit(0);
    }
}

static int RemoveOne(const char* path, const struct stat* info, int flag, struct FTW* walk)
{
    (void)info, (void)flag, (void)walk;
    return remove(path);
}

static void Finish(Run* run)
{
    int status = 0;
    struct rusage usage = {0};
    run->exit = 1;
    if (run->process > 0 && wait4(run->process, &status, 0, &usage) == run->process && WIFEXITED(status))
        run->exit = WEXITSTATUS(status);
    else
        fprintf(stderr, "its process ended with signal %d\n", WTERMSIG(status));
    run->seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);

    char key[96], text[112];
    rewind(run->results);
    while (fscanf(run->results, "%95s %111s", key, text) == 2)
        snwGoldenValues_Add(&run->found, key, text);
    fclose(run->results);
    nftw(run->folder, RemoveOne, 16, FTW_DEPTH | FTW_PHYS);
    run->process = 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Comparing

static int HexPair(const char* text)
{
    unsigned value = 0;
    sscanf(text, "%2x", &value);
    return (int)value;
}

static bool IsSame(snwGoldenKind kind, const char* was, const char* is)
{
    if (was == NULL || is == NULL || kind != snw_goldenPicture || strlen(was) != strlen(is))
        return was != NULL && is != NULL && strcmp(was, is) == 0;
    for (size_t i = 0; was[i] != 0; i += 2)
        if (abs(HexPair(was + i) - HexPair(is + i)) > snw_cellTolerance)
            return false;
    return true;
}

static void Describe(const snwGoldenLine* line)
{
    fprintf(stderr, "    made by:");
    for (int i = 0; i < line->wordCount; ++i)
        fprintf(stderr, " %s", line->words[i]);
    fprintf(stderr, "\n");
}

// Says what differs; 0 if nothing does.
static int Compare(const snwGoldenLine* line, const snwGoldenValues* found)
{
    static const char* const s_nouns[] = {"frame", "file", "picture"};
    const snwGoldenValues* recorded = &line->recorded;
    int differences = 0, same = 0;
    for (int i = 0; i < recorded->count; ++i)
    {
        const char *key = recorded->list[i].key, *was = recorded->list[i].text;
        const char* is = snwGoldenValues_Find(found, key);
        bool alike = IsSame(line->kind, was, is);
        same += alike, differences += !alike;
        if (!alike)
            fprintf(stderr, "golden.%s: %s %s is %s, it was %s\n", line->name, s_nouns[line->kind], key,
                is != NULL ? is : "not there", was);
    }
    for (int i = 0; i < found->count; ++i)
        if (snwGoldenValues_Find(recorded, found->list[i].key) == NULL)
            differences++, fprintf(stderr, "golden.%s: %s %s is %s, it was not recorded\n", line->name,
                               s_nouns[line->kind], found->list[i].key, found->list[i].text);
    if (differences == 0)
        return 0;

    fprintf(stderr, "    %d of %d values are as they were; values are hash/bytes, of pictures 16 cells of rrggbb\n",
        same, same + differences);
    Describe(line);
    fprintf(stderr, "    if it was meant to change: make golden, and a commit of its own that says why\n");
    return 1;
}

// Without the same maths library nothing below it can have the same bits.
static bool MachineIsTheSame(const snwGoldenNet* net)
{
    const snwGoldenLine* machine = snwGoldenNet_Find(net, "machine");
    if (machine == NULL || machine->recorded.count == 0)
        return true;
    snwGoldenValues found = {0};
    snwGolden_Maths(&found);
    bool same = true;
    for (int i = 0; i < found.count; ++i)
        same = same &&
               IsSame(snw_goldenFile, snwGoldenValues_Find(&machine->recorded, found.list[i].key), found.list[i].text);
    snwGoldenValues_Free(&found);
    return same;
}

static int CheckOne(const snwGoldenNet* net, const char* name)
{
    const snwGoldenLine* line = snwGoldenNet_Find(net, name);
    s_name = name;
    if (line == NULL)
        snwGolden_Fail("there is no such case");
    if (line->recorded.count == 0)
        snwGolden_Fail("nothing is recorded yet: make golden");
    bool known = MachineIsTheSame(net), isMachine = strcmp(name, "machine") == 0;
    if (!known && !isMachine)
        snwGolden_Skip("skipped, for this machine's maths library has other bits: see golden.machine");

    Run run;
    Start(&run, line);
    Finish(&run);
    int result = run.exit == 0 ? Compare(line, &run.found) : run.exit;
    if (!known)
        fprintf(stderr, "    this machine's maths library gives other bits than the one on which the net was recorded; "
                        "record anew with make golden\n");
    snwGoldenValues_Free(&run.found);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Recording

static bool IsNamed(const snwGoldenLine* line, int count, char** names)
{
    for (int i = 0; i < count; ++i)
        if (strcmp(line->name, names[i]) == 0)
            return true;
    return count == 0;
}

// Keeps what a case that could not be run had before.
static int Take(Run* run, snwGoldenLine* line, int* changed)
{
    Finish(run);
    bool same = run->found.count == line->recorded.count;
    for (int i = 0; i < run->found.count && same; ++i)
        same = IsSame(
            line->kind, snwGoldenValues_Find(&line->recorded, run->found.list[i].key), run->found.list[i].text);
    const char* verdict = run->exit != 0 ? (run->exit == snw_goldenExitSkipped ? "kept" : "FAILED")
                          : same         ? "same"
                                         : "new";
    printf("%-7s %6.2f s  golden.%s\n", verdict, run->seconds, line->name);
    fflush(stdout);
    if (run->exit == 0 && !same)
    {
        snwGoldenValues_Free(&line->recorded);
        line->recorded = run->found;
        *changed += 1;
    }
    else
        snwGoldenValues_Free(&run->found);
    return run->exit == 0 || run->exit == snw_goldenExitSkipped ? 0 : 1;
}

static int Record(snwGoldenNet* net, int count, char** names)
{
    enum
    {
        atOnce = 2
    };
    Run runs[atOnce] = {0};
    snwGoldenLine* lines[atOnce] = {0};
    int failed = 0, changed = 0, next = 0, started = 0;
    for (int i = 0; i < net->count + atOnce; ++i) // the last rounds only wait
    {
        bool starts = i < net->count && IsNamed(&net->lines[i], count, names);
        if (!starts && i < net->count)
            continue;
        if (runs[next].process > 0)
            failed += Take(&runs[next], lines[next], &changed);
        if (starts)
            Start(&runs[next], lines[next] = &net->lines[i]), started++;
        next = (next + 1) % atOnce;
    }
    if (!snwGoldenNet_Write(net))
        return 1;
    printf("%d cases, %d recorded anew, %d failed\n", started, changed, failed);
    return failed > 0 || started == 0;
}

int main(int argc, char** argv)
{
    snwGoldenNet net;
    if (!snwGoldenNet_Read(&net))
        return 1;
    int result = 2;
    if (argc == 2 && strcmp(argv[1], "complete") == 0)
        result = snwGoldenNet_IsComplete(&net) ? 0 : 1;
    else if (argc >= 3 && strcmp(argv[1], "check") == 0)
    {
        result = 0;
        for (int i = 2; i < argc; ++i)
        {
            int one = CheckOne(&net, argv[i]);
            result = one > result ? one : result;
        }
    }
    else if (argc >= 2 && strcmp(argv[1], "record") == 0)
        result = Record(&net, argc - 2, argv + 2);
    else
        fprintf(stderr, "sinew-golden check NAME... | record [NAME...] | complete\n");
    snwGoldenNet_Free(&net);
    return result;
}
