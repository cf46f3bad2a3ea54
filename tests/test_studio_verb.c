// sinew studio as a program.

#include "base/clock.h"
#include "process.h"
#include "test.h"
#include "wire.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define SINEW SNW_BINARY_DIR "/sinew"

static const char s_scene[] =
    "{\"sinew\": 1, \"name\": \"small\", \"method\": \"pbd\", \"bodies\": [{\"name\": \"ball\", \"position\": [0, 1, "
    "0],"
    " \"character\": {\"shape\": \"ball\", \"size\": [0.5, 0.5, 0.5], \"cells\": [3, 3, 3]}}],"
    " \"colliders\": [{\"name\": \"floor\", \"kind\": \"plane\"}]}\n";

static void MakePaths(char scene[128], char folder[128])
{
    snprintf(scene, 128, "%s/small.json", snwTest_TempDir());
    snprintf(folder, 128, "%s/work/deep", snwTest_TempDir());
    FILE* file = fopen(scene, "w");
    fputs(s_scene, file);
    fclose(file);
}

// What it printed; NULL: nothing within its patience.
static json_t* WaitForAddress(const snwProcess* process)
{
    double until = snwClock_Seconds() + snwTest_Patience();
    json_t* address = NULL;
    while (address == NULL && snwClock_Seconds() < until)
    {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        address = json_load_file(process->outPath, 0, NULL);
    }
    return address;
}

// The next text message that has this key; NULL: none comes.
static json_t* WaitForAnswer(snwWire* wire, int number)
{
    for (;;)
    {
        snwWireKind kind = snwWire_Next(wire, snwTest_Patience());
        if (kind == snw_wireBinary)
            continue;
        json_t* answer = kind == snw_wireText ? json_loadb((char*)wire->message, wire->messageSize, 0, NULL) : NULL;
        if (answer == NULL || json_integer_value(json_object_get(answer, "id")) == number)
            return answer;
        json_decref(answer);
    }
}

// Waits until the scene is there: its frames come.
static bool WaitForFrame(snwWire* wire)
{
    snwWireKind kind = snw_wireText;
    while (kind == snw_wireText || (kind == snw_wireBinary && wire->message[6] != 1))
        kind = snwWire_Next(wire, snwTest_Patience());
    return kind == snw_wireBinary;
}

TEST(studioVerb, showsASceneUntilItIsInterrupted)
{
    char scene[128], folder[128];
    struct stat info;
    MakePaths(scene, folder);
    snwProcess process = snwProcess_Start((const char* const[]){SINEW, "studio", scene, "--json", "--no-open", "--port",
                                              "0", "--threads", "1", "--folder", folder, NULL},
        "SINEW_WEB=/no/such/folder");
    json_t* address = WaitForAddress(&process);
    REQUIRE(address != NULL);
    const char* token = json_string_value(json_object_get(address, "token"));
    const char* link = json_string_value(json_object_get(address, "address"));
    int port = (int)json_integer_value(json_object_get(address, "port"));
    CHECK(strstr(link, token) != NULL && strncmp(link, "http://127.0.0.1:", 17) == 0);
    CHECK(stat(folder, &info) == 0 && S_ISDIR(info.st_mode));
    snwWire wire;
    CHECK(snwWire_Upgrade(&wire, port, token));
    CHECK(WaitForFrame(&wire));
    snwWire_SendText(&wire, "{\"v\": 1, \"id\": 5, \"do\": \"hello\"}");
    json_t* state = WaitForAnswer(&wire, 5);
    CHECK(json_is_true(json_object_get(state, "ok")));
    CHECK(strcmp(json_string_value(json_object_get(json_object_get(state, "scene"), "name")), "small") == 0);
    json_decref(state);
    kill(process.id, SIGINT);
    CHECK_INT(snwWire_WaitForClose(&wire, snwTest_Patience()), 1001);
    snwWire_Close(&wire);
    snwProcess_Wait(&process);
    CHECK_INT(process.code, 0);
    snwProcess_Free(&process);
    json_decref(address);
}

TEST(studioVerb, saysWhatIsWrong)
{
    const char* const wrong[][5] = {{"--port", "70000"}, {"--port", "x"}, {"--listen", "box.local"},
        {"--allow-host", "a b"}, {"--threads", "-1"}, {"one", "two"}};
    const char* const words[] = {"65535", "65535", "numeric", "host", "64", "two"};
    char folder[128], scene[128];
    MakePaths(scene, folder);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
    {
        snwProcess process = snwProcess_Run(
            (const char* const[]){SINEW, "studio", "--no-open", "--folder", folder, wrong[i][0], wrong[i][1], NULL});
        CHECK_INT(process.code, 2);
        CHECK(strstr(process.errors, words[i]) != NULL);
        CHECK(process.text[0] == 0);
        snwProcess_Free(&process);
    }
    snwProcess process = snwProcess_Run(
        (const char* const[]){SINEW, "studio", "--no-open", "--folder", "/dev/null/x", NULL});
    CHECK_INT(process.code, 1);
    snwProcess_Free(&process);
    process = snwProcess_Run((const char* const[]){SINEW, "studio", "cwo", "--no-open", "--folder", folder, NULL});
    CHECK_INT(process.code, 3);
    CHECK(strstr(process.errors, "'cow'") != NULL);
    snwProcess_Free(&process);
}

// The words of a command are no secret on a machine; a file of one's own is.
TEST(studioVerb, theBrowserGetsNoTokenOnItsCommandLine)
{
    char scene[128], folder[128], program[160], path[160], seen[160], door[192];
    struct stat info;
    MakePaths(scene, folder);
    snprintf(program, sizeof program, "%s/xdg-open", snwTest_TempDir());
    snprintf(seen, sizeof seen, "%s/seen", snwTest_TempDir());
    snprintf(path, sizeof path, "PATH=%s:/usr/bin:/bin", snwTest_TempDir());
    FILE* file = fopen(program, "w");
    REQUIRE(file != NULL);
    fprintf(file,
        "#!/bin/sh\necho \"$@\" > '%s.part'; stat -c %%a \"$1\" >> '%s.part'; cat \"$1\" >> '%s.part'\n"
        "mv '%s.part' '%s'\n",
        seen, seen, seen, seen, seen);
    fclose(file);
    CHECK(chmod(program, 0700) == 0);
    snwProcess process = snwProcess_Start(
        (const char* const[]){"/usr/bin/env", path, "DISPLAY=:0", SINEW, "studio", scene, "--json", "--port", "0",
            "--threads", "1", "--folder", folder, NULL},
        "SINEW_WEB=/no/such/folder");
    json_t* address = WaitForAddress(&process);
    REQUIRE(address != NULL);
    const char *token = json_string_value(json_object_get(address, "token")), *words = NULL;
    char* text = NULL;
    for (double until = snwClock_Seconds() + snwTest_Patience(); text == NULL && snwClock_Seconds() < until;)
    {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        text = snwReadWhole(seen);
    }
    REQUIRE(text != NULL);
    words = strchr(text, '\n'); // the command line ends here
    CHECK(words != NULL && strstr(text, token) > words);
    CHECK(words != NULL && strncmp(words + 1, "600\n", 4) == 0);
    free(text);
    snprintf(door, sizeof door, "%s/.open-studio.html", folder);
    CHECK(stat(door, &info) == 0);
    kill(process.id, SIGINT);
    snwProcess_Wait(&process);
    CHECK_INT(process.code, 0);
    CHECK(stat(door, &info) != 0);
    snwProcess_Free(&process);
    json_decref(address);
}
