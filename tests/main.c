// Runs test cases: `sinew-tests` runs all, `sinew-tests MODULE`, `sinew-tests MODULE.NAME`, `sinew-tests --list`.

#include "test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

enum
{
    snw_exitSkipped = 77 // ctest's SKIP_RETURN_CODE
};

static snwTestCase* s_first;
static int s_failures;
static const char* s_skipped;
static char s_tempDir[64];

void snwTest_Register(snwTestCase* testCase)
{
    testCase->next = s_first;
    s_first = testCase;
}

void snwTest_Fail(const char* file, int line, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    s_failures++;
}

void snwTest_Skip(const char* why)
{
    s_skipped = why;
}

double snwTest_Random(uint64_t* seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53;
}

static void RemoveTempDir(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", s_tempDir);
    if (system(command) != 0) // NOLINT: our own path from mkdtemp
        fprintf(stderr, "could not remove %s\n", s_tempDir);
}

const char* snwTest_TempDir(void)
{
    if (s_tempDir[0] == 0)
    {
        snprintf(s_tempDir, sizeof s_tempDir, "/tmp/sinew-test-XXXXXX");
        if (mkdtemp(s_tempDir) == NULL)
        {
            perror("mkdtemp");
            exit(2);
        }
        atexit(RemoveTempDir);
    }
    return s_tempDir;
}

static void FullName(const snwTestCase* testCase, char name[256])
{
    snprintf(name, 256, "%s.%s", testCase->module, testCase->name);
}

bool snwTest_Exists(const char* name)
{
    for (const snwTestCase* testCase = s_first; testCase != NULL; testCase = testCase->next)
    {
        char full[256];
        FullName(testCase, full);
        if (strcmp(full, name) == 0)
            return true;
    }
    return false;
}

static bool Wanted(const snwTestCase* testCase, int argc, char** argv)
{
    if (argc < 2)
        return true;
    char full[256];
    FullName(testCase, full);
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], testCase->module) == 0 || strcmp(argv[i], full) == 0)
            return true;
    return false;
}

int main(int argc, char** argv)
{
    bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
    int passed = 0, failed = 0, skipped = 0;
    for (snwTestCase* testCase = s_first; testCase != NULL; testCase = testCase->next)
    {
        if (list)
            printf("%s.%s\n", testCase->module, testCase->name);
        if (list || !Wanted(testCase, argc, argv))
            continue;
        s_failures = 0;
        s_skipped = NULL;
        testCase->run();
        const char* verdict = s_failures > 0 ? "FAILED" : s_skipped != NULL ? "skipped" : "ok";
        printf("%-8s%s.%s%s%s\n", verdict, testCase->module, testCase->name, s_skipped ? ": " : "",
            s_skipped ? s_skipped : "");
        failed += s_failures > 0;
        skipped += s_failures == 0 && s_skipped != NULL;
        passed += s_failures == 0 && s_skipped == NULL;
    }
    if (list)
        return 0;
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    if (failed > 0 || passed + skipped == 0)
        return 1;
    return passed == 0 ? snw_exitSkipped : 0;
}
