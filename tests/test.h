// A small test harness. TEST(module, name) { ... } registers itself; CMake finds the names by the same pattern and
// gives each case its own ctest entry, so one crash never hides the others.
//
// A failed CHECK is reported and the test goes on; REQUIRE leaves the test. SKIP says why and is counted by ctest.

#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

typedef struct snwTestCase
{
    const char* module;
    const char* name;
    void (*run)(void);
    struct snwTestCase* next;
} snwTestCase;

void snwTest_Register(snwTestCase* testCase);
void snwTest_Fail(const char* file, int line, const char* format, ...) __attribute__((format(printf, 3, 4)));
void snwTest_Skip(const char* why);

// Is there a case of this name ("module.name")?
bool snwTest_Exists(const char* name);

// Where the test may write files; made on first use, removed at exit.
const char* snwTest_TempDir(void);

// s: how long a test waits for what must come. It only guards against a hang: no verdict may depend on how fast a
// machine is, or on what else it does. $SINEW_PATIENCE, for faults that make things hang; 120.
static inline int snwTest_Patience(void)
{
    const char* text = getenv("SINEW_PATIENCE");
    return text != NULL && atoi(text) > 0 ? atoi(text) : 120;
}

// Deterministic random numbers in [0, 1).
double snwTest_Random(uint64_t* seed);

#define TEST(module, name)                                                                                             \
    static void module##_##name(void);                                                                                 \
    __attribute__((constructor)) static void module##_##name##_register(void)                                          \
    {                                                                                                                  \
        static snwTestCase testCase = {#module, #name, module##_##name, NULL};                                         \
        snwTest_Register(&testCase);                                                                                   \
    }                                                                                                                  \
    static void module##_##name(void)

// Minutes rather than seconds: only in `make test-long`.
#define TEST_LONG(module, name) TEST(module, name)
// Seconds of physics or pictures: only in the plain build. tests/CMakeLists.txt has all labels.
#define TEST_HEAVY(module, name) TEST(module, name)

#define CHECK(condition)                                                                                               \
    do                                                                                                                 \
    {                                                                                                                  \
        if (!(condition))                                                                                              \
            snwTest_Fail(__FILE__, __LINE__, "%s", #condition);                                                        \
    } while (0)

#define REQUIRE(condition)                                                                                             \
    do                                                                                                                 \
    {                                                                                                                  \
        if (!(condition))                                                                                              \
        {                                                                                                              \
            snwTest_Fail(__FILE__, __LINE__, "%s", #condition);                                                        \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

#define CHECK_NEAR(a, b, tolerance)                                                                                    \
    do                                                                                                                 \
    {                                                                                                                  \
        double checkA = (double)(a), checkB = (double)(b), checkT = (double)(tolerance);                               \
        if (!(fabs(checkA - checkB) <= checkT))                                                                        \
            snwTest_Fail(__FILE__, __LINE__, "%s = %.9g, expected %.9g within %.3g", #a, checkA, checkB, checkT);      \
    } while (0)

#define CHECK_INT(a, b)                                                                                                \
    do                                                                                                                 \
    {                                                                                                                  \
        long long checkA = (long long)(a), checkB = (long long)(b);                                                    \
        if (checkA != checkB)                                                                                          \
            snwTest_Fail(__FILE__, __LINE__, "%s = %lld, expected %lld", #a, checkA, checkB);                          \
    } while (0)

#define CHECK_CONTAINS(text, part)                                                                                     \
    do                                                                                                                 \
    {                                                                                                                  \
        if (strstr((text), (part)) == NULL)                                                                            \
            snwTest_Fail(__FILE__, __LINE__, "\"%s\" does not contain \"%s\"", (text), (part));                        \
    } while (0)

#define SKIP(why)                                                                                                      \
    do                                                                                                                 \
    {                                                                                                                  \
        snwTest_Skip(why);                                                                                             \
        return;                                                                                                        \
    } while (0)
