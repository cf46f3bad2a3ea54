// The program as a person or a script meets it: exit codes, what goes to stdout and what to stderr, files.

#include "process.h"
#include "test.h"

#include "app/console.h"
#include "app/nearest.h"
#include "app/settings.h"
#include "sinew/tools.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SINEW    SNW_BINARY_DIR "/sinew"
#define RUN(...) snwProcess_Run((const char* const[]){SINEW, __VA_ARGS__, NULL})

// A ball of a few dozen tets that falls for ten frames.
static const char s_scene[] =
    "{\"sinew\": 1, \"name\": \"small\", \"method\": \"pbd\", \"rate\": 60,\n"
    " \"duration\": 0.16666666666666666,\n"
    " \"bodies\": [{\"name\": \"ball\", \"position\": [0, 1, 0],\n"
    "   \"character\": {\"shape\": \"ball\", \"size\": [0.5, 0.5, 0.5], \"cells\": [3, 3, 3]}}],\n"
    " \"colliders\": [{\"name\": \"floor\", \"kind\": \"plane\"}]}\n";

static const char* WriteText(const char* name, const char* text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", snwTest_TempDir(), name);
    FILE* file = fopen(path, "w");
    if (file != NULL)
    {
        fputs(text, file);
        fclose(file);
    }
    return path;
}

static const char* SmallScene(void)
{
    return WriteText("small.json", s_scene);
}

static const char* TempPath(const char* name, char* buffer, size_t capacity)
{
    snprintf(buffer, capacity, "%s/%s", snwTest_TempDir(), name);
    return buffer;
}

static bool Exists(const char* folder, const char* name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0 && info.st_size > 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Words

TEST(cli, helpExplains)
{
    snwProcess help = RUN("--help");
    CHECK_INT(help.code, 0);
    CHECK_CONTAINS(help.text, "Usage: sinew VERB");
    CHECK_CONTAINS(help.text, "Examples:");
    CHECK(help.errors[0] == 0);
    snwProcess_Free(&help);
    static const char* const verbs[] = {"demo", "sim", "replay", "info", "check", "bench", "help", "completions"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; ++i)
    {
        snwProcess verb = RUN(verbs[i], "--help");
        snwProcess again = RUN("help", verbs[i]);
        CHECK_INT(verb.code, 0);
        CHECK_CONTAINS(verb.text, "Examples:");
        CHECK(strcmp(verb.text, again.text) == 0);
        snwProcess_Free(&verb);
        snwProcess_Free(&again);
    }
}

TEST(cli, helpFitsTheTerminal)
{
    snwProcess help = RUN("sim", "--help");
    for (const char* line = help.text; *line != 0; line += strcspn(line, "\n"), line += *line == '\n')
        CHECK((int)strcspn(line, "\n") <= 110);
    snwProcess_Free(&help);
}

TEST(cli, versionIsTheLibrarys)
{
    char expected[64];
    snwVersion version = snwGetVersion();
    snprintf(expected, sizeof expected, "sinew %d.%d.%d\n", version.major, version.minor, version.patch);
    snwProcess process = RUN("--version");
    CHECK_INT(process.code, 0);
    CHECK(strcmp(process.text, expected) == 0);
    snwProcess_Free(&process);
}

TEST(cli, unknownWordsNameTheNearest)
{
    snwProcess verb = RUN("smi", "x.json");
    CHECK_INT(verb.code, 2);
    CHECK(verb.text[0] == 0);
    CHECK_CONTAINS(verb.errors, "sinew: error: there is no verb 'smi'\n  try: sinew sim\n");
    snwProcess_Free(&verb);
    snwProcess option = RUN("sim", "x.json", "--widht", "3");
    CHECK_INT(option.code, 2);
    CHECK_CONTAINS(option.errors, "try: --width");
    snwProcess_Free(&option);
    snwProcess setting = RUN("sim", "x.json", "--set", "sim.substep=3");
    CHECK_INT(setting.code, 2);
    CHECK_CONTAINS(setting.errors, "try: sim.substeps");
    snwProcess_Free(&setting);
    snwProcess method = RUN("sim", "x.json", "--method", "pdb");
    CHECK_INT(method.code, 2);
    CHECK_CONTAINS(method.errors, "try: pbd");
    snwProcess_Free(&method);
}

TEST(cli, farWordsHaveNoNearest)
{
    snwNearest nearest = snwNearest_Start("studio");
    snwNearest_Try(&nearest, "sim");
    snwNearest_Try(&nearest, "demo");
    CHECK(nearest.best == NULL);
    nearest = snwNearest_Start("comp");
    snwNearest_Try(&nearest, "completions");
    CHECK(nearest.best != NULL);
}

TEST(cli, usageErrorsGiveTwo)
{
    static const char* const lines[][6] = {
        {SINEW, NULL},
        {SINEW, "sim", NULL},
        {SINEW, "sim", "a.json", "b.json", NULL},
        {SINEW, "sim", "a.json", "--frames", NULL},
        {SINEW, "sim", "a.json", "--frames", "ten", NULL},
        {SINEW, "sim", "a.json", "--threads", "65", NULL},
        {SINEW, "sim", "a.json", "--simd", "avx3", NULL},
        {SINEW, "sim", "a.json", "--set", "sim.substeps", NULL},
        {SINEW, "sim", "a.json", "--set", "sim.substeps=0", NULL},
        {SINEW, "sim", "a.json", "--set", "sim.substeps=1.5", NULL},
        {SINEW, "sim", "a.json", "--sweep", "sim.substeps=1:2", NULL},
        {SINEW, "sim", "a.json", "--json=yes", NULL},
        {SINEW, "sim", "a.json", "--film", NULL},
        {SINEW, "sim", "a.json", "--sweep=sim.substeps=1,2", "--set=sim.substeps=3", NULL},
        {SINEW, "sim", "a.json", "--sweep=sim.substeps=1,2", "--sweep=sim.substeps=3,4", NULL},
        {SINEW, "sim", "a.json", "-z", NULL},
        {SINEW, "info", "--params", "nothing", NULL},
        {SINEW, "bench", "nothing", NULL},
        {SINEW, "completions", "cmd", NULL},
        {SINEW, "--nothing", NULL},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
    {
        snwProcess process = snwProcess_Run(lines[i]);
        if (process.code != 2 || process.text[0] != 0 || process.errors[0] == 0)
            snwTest_Fail(__FILE__, __LINE__, "line %d: code %d, '%s'", (int)i, process.code, process.errors);
        snwProcess_Free(&process);
    }
}

TEST(cli, badInputGivesThree)
{
    snwProcess missing = RUN("sim", "/nowhere/scene.json");
    CHECK_INT(missing.code, 3);
    CHECK_CONTAINS(missing.errors, "sinew: error: ");
    CHECK_CONTAINS(missing.errors, "/nowhere/scene.json");
    CHECK_CONTAINS(missing.errors, "try: check the spelling of the path\n"); // nothing about writing
    snwProcess_Free(&missing);
    const char* path = WriteText("bad.json", "{\"sinew\": 1, \"gravty\": [0, 0, 0]}");
    snwProcess bad = RUN("check", path);
    CHECK_INT(bad.code, 3);
    CHECK_CONTAINS(bad.errors, "gravity");
    snwProcess_Free(&bad);
    snwProcess info = RUN("info", path);
    CHECK_INT(info.code, 3);
    snwProcess_Free(&info);
    snwProcess replay = RUN("replay", path);
    CHECK_INT(replay.code, 3);
    CHECK_CONTAINS(replay.errors, "this is a scene, not a log");
    snwProcess_Free(&replay);
}

TEST(cli, completionsAreThere)
{
    static const char* const shells[] = {"bash", "zsh", "fish"};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; ++i)
    {
        snwProcess process = RUN("completions", shells[i]);
        CHECK_INT(process.code, 0);
        CHECK_CONTAINS(process.text, "replay");
        CHECK_CONTAINS(process.text, "sweep");
        snwProcess_Free(&process);
    }
}

TEST(cli, bashCompletesVerbsAndOptions)
{
    static const char script[] = "source <(" SINEW " completions bash)\n"
                                 "COMP_WORDS=(sinew rep); COMP_CWORD=1; _sinew; echo \"${COMPREPLY[@]}\"\n"
                                 "COMP_WORDS=(sinew sim --sim); COMP_CWORD=2; _sinew; echo \"${COMPREPLY[@]}\"\n"
                                 "COMP_WORDS=(sinew sim --simd sc); COMP_CWORD=3; _sinew; echo \"${COMPREPLY[@]}\"\n"
                                 "COMP_WORDS=(sinew sim --method p); COMP_CWORD=3; _sinew; echo \"${COMPREPLY[0]}\"\n"
                                 "COMP_WORDS=(sinew sim -s sim.sub); COMP_CWORD=3; _sinew; echo \"${COMPREPLY[@]}\"\n"
                                 "COMP_WORDS=(sinew sim --sweep pbd.it); COMP_CWORD=3; _sinew; echo "
                                 "\"${COMPREPLY[@]}\"\n";
    snwProcess process = snwProcess_Run((const char* const[]){"bash", "-c", script, NULL});
    if (process.code == -1)
        SKIP("there is no bash");
    CHECK(strcmp(process.text, "replay\n--simd\nscalar\npbd\nsim.substeps=\npbd.iterations=\n") == 0);
    snwProcess_Free(&process);
}

TEST(cli, progressFitsTheTerminal)
{
    snwProgress progress = {.label = "simulating", .total = 100000};
    for (int columns = 0; columns < 120; ++columns)
    {
        char line[192];
        snwProgress_Format(&progress, 12345, 7000, columns, line, sizeof line);
        CHECK((int)strlen(line) <= columns);
        CHECK((strchr(line, '[') != NULL) == (columns >= 14 + 5 + (int)strlen("12345/100000  13:48:23 left")));
    }
}

// page: docs/..., made by the program itself; else: make docs
static void CheckPage(const char* page, snwProcess process)
{
    char path[512];
    snprintf(path, sizeof path, "%s/docs/%s", SNW_SOURCE_DIR, page);
    char* stored = snwReadWhole(path);
    CHECK_INT(process.code, 0);
    CHECK(stored != NULL && strcmp(stored, process.text) == 0);
    free(stored);
    snwProcess_Free(&process);
}

TEST(cli, manPageIsUpToDate)
{
    CheckPage("sinew.1", RUN("help", "--man"));
}

TEST(cli, parameterPageIsUpToDate)
{
    CheckPage("parameters.md", RUN("info", "--params-doc"));
}

// ---------------------------------------------------------------------------------------------------------------------
// Settings

TEST(cli, sweepsAreExpanded)
{
    static snwSweep sweep;
    REQUIRE(snwSweep_Parse("sim.substeps=1:9:5", &sweep) == snw_exitOk);
    CHECK_INT(sweep.count, 5);
    CHECK_NEAR(sweep.values[0], 1, 0);
    CHECK_NEAR(sweep.values[1], 3, 0);
    CHECK_NEAR(sweep.values[4], 9, 0);
    REQUIRE(snwSweep_Parse("sim.substeps=4,2", &sweep) == snw_exitOk);
    CHECK_INT(sweep.count, 2);
    CHECK_NEAR(sweep.values[0], 4, 0);
    CHECK(snwSweep_Parse("sim.substeps=4,,2", &sweep) == snw_exitUsage);
    CHECK(snwSweep_Parse("sim.substeps=1:2:0", &sweep) == snw_exitUsage);
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs

TEST(cli, simPrintsNumbers)
{
    snwProcess process = RUN("sim", SmallScene());
    CHECK_INT(process.code, 0);
    CHECK_CONTAINS(process.text, "small");
    CHECK_CONTAINS(process.text, "hash");
    CHECK(strchr(process.errors, '\r') == NULL && strchr(process.errors, '\033') == NULL); // no bar, no colour
    snwProcess_Free(&process);
}

TEST(cli, simJsonParses)
{
    snwProcess process = RUN("sim", SmallScene(), "--json", "--set", "sim.substeps=2", "--quiet");
    CHECK_INT(process.code, 0);
    CHECK(process.errors[0] == 0);
    json_t* report = json_loads(process.text, 0, NULL);
    REQUIRE(report != NULL);
    CHECK_INT(json_integer_value(json_object_get(report, "frames")), 10);
    CHECK_INT(json_integer_value(json_object_get(json_object_get(report, "settings"), "sim.substeps")), 2);
    CHECK(json_is_object(json_object_get(report, "last")));
    CHECK(json_is_number(json_object_get(json_object_get(report, "settings"), "pbd.iterations"))); // not set by anyone
    CHECK(json_integer_value(json_object_get(report, "threads")) > 0);
    CHECK(json_is_string(json_object_get(report, "version")) && json_is_string(json_object_get(report, "simd")));
    CHECK(json_number_value(json_object_get(report, "max_stretch_max")) > 0);
    CHECK(json_number_value(json_object_get(report, "min_volume_ratio_min")) > 0);
    CHECK(json_is_null(json_object_get(report, "first_inverted_frame")));
    json_decref(report);
    snwProcess_Free(&process);
}

TEST(cli, simWritesFilesOnce)
{
    char folder[128];
    TempPath("deep/er", folder, sizeof folder);
    const char* scene = SmallScene();
    snwProcess first = RUN("sim", scene, "-o", folder, "--no-film");
    CHECK_INT(first.code, 0);
    static const char* const names[] = {"log.jsonl", "measures.csv", "report.json", "energy.svg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        CHECK(Exists(folder, names[i]));
    snwProcess second = RUN("sim", scene, "-o", folder, "--no-film");
    CHECK_INT(second.code, 1);
    CHECK_CONTAINS(second.errors, "--force");
    snwProcess third = RUN("sim", scene, "-o", folder, "--no-film", "--force");
    CHECK_INT(third.code, 0);
    snwProcess_Free(&first);
    snwProcess_Free(&second);
    snwProcess_Free(&third);
}

TEST(cli, invertedTetsAreTold)
{
    // Pushed through its own middle in frame 3, long before the end, by a law that lets it.
    const char* scene = WriteText("wild.json",
        "{\"sinew\": 1, \"rate\": 60, \"duration\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\","
        " \"character\": {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [2, 2, 2]}}],"
        " \"commands\": [{\"step\": 2, \"kind\": \"push\", \"body\": \"b\", \"vertex\": 0, \"force\": [8e4, 8e4, 8e4],"
        " \"duration\": 0.03}]}");
    snwProcess process = RUN("sim", scene, "--json", "--method", "apd", "--set", "apd.law=corotated");
    CHECK_INT(process.code, 0);
    CHECK_CONTAINS(process.errors, "elements were inverted from frame 3 on");
    json_t* report = json_loads(process.text, 0, NULL);
    CHECK_INT(json_integer_value(json_object_get(report, "first_inverted_frame")), 3);
    CHECK(json_number_value(json_object_get(report, "min_volume_ratio_min")) < 0);
    CHECK(json_number_value(json_object_get(report, "max_stretch_max")) >
          json_number_value(json_object_get(json_object_get(report, "last"), "max_stretch")));
    json_decref(report);
    snwProcess_Free(&process);
}

// A metre under the ground, and a pin that tears: once each, with frame and count; and that is not "ok".
TEST(cli, warningsAreToldOnceWithTheirCount)
{
    const char* scene = WriteText("doubtful.json",
        "{\"sinew\": 1, \"rate\": 60, \"duration\": 0.5, \"settings\": {\"sim.substeps\": 1}, \"bodies\": [{\"name\": "
        "\"b\", \"position\": [0, -0.3, 0], \"character\": {\"shape\": \"block\", \"size\": [0.3, 0.1, 0.1], "
        "\"cells\": [9, 3, 3]}}], \"colliders\": [{\"name\": \"floor\", \"kind\": \"plane\"}], \"pins\": [{\"name\": "
        "\"end\", \"body\": \"b\", \"lower\": [0.14, -1, -1], \"upper\": [1, 1, 1]}], \"commands\": [{\"step\": 5, "
        "\"kind\": \"pin\", \"pin\": \"end\", \"position\": [8, 0, 0]}]}");
    snwProcess process = RUN("sim", scene, "--json");
    CHECK_INT(process.code, 0);
    CHECK_CONTAINS(process.errors, "body 'b' starts 0.35 m inside of collider 'floor' (frame 1)");
    CHECK_CONTAINS(process.errors, "step 5 diverged, and went well with 8 times its substeps (frame 6");
    json_t* report = json_loads(process.text, 0, NULL);
    CHECK_CONTAINS(json_string_value(json_object_get(report, "result")), "warning");
    CHECK(json_integer_value(json_object_get(report, "retries")) > 0);
    json_t *list = json_object_get(report, "warnings"), *warning;
    size_t i;
    int starts = 0, drawn = 0, repeated = 0;
    json_array_foreach(list, i, warning)
    {
        const char* text = json_string_value(json_object_get(warning, "text"));
        json_int_t frame = json_integer_value(json_object_get(warning, "frame"));
        json_int_t count = json_integer_value(json_object_get(warning, "count"));
        starts += strstr(text, "starts 0.35 m inside") != NULL && frame == 1 && count == 1;
        drawn += strstr(text, "flesh was drawn out") != NULL && frame == 6;
        repeated += strstr(text, "is not converged") != NULL && count > 1;
    }
    CHECK(starts == 1 && drawn == 1 && repeated == 1);
    json_decref(report);
    snwProcess_Free(&process);
}

// Without ffmpeg there is everything but the film.
TEST(cli, missingFfmpegIsAWarning)
{
    char folder[128], path[160];
    TempPath("no-ffmpeg", folder, sizeof folder);
    const char* const words[] = {
        SINEW, "sim", SmallScene(), "-o", folder, "--width", "32", "--height", "32", "--samples", "1", NULL};
    snwProcess process = snwProcess_Start(words, "PATH=/nowhere");
    snwProcess_Wait(&process);
    CHECK_INT(process.code, 0);
    CHECK_CONTAINS(process.errors, "ffmpeg");
    CHECK_CONTAINS(process.text, "hash");
    CHECK(Exists(folder, "picture.png") && Exists(folder, "report.json") && !Exists(folder, "film.mp4"));
    snprintf(path, sizeof path, "%s/report.json", folder);
    char* text = snwReadWhole(path);
    REQUIRE(text != NULL);
    CHECK(strlen(text) > 2 && strcmp(text + strlen(text) - 2, "}\n") == 0);
    json_t* report = json_loads(text, 0, NULL);
    json_t* files = json_object_get(report, "files");
    CHECK(json_is_string(json_object_get(files, "picture")) && json_object_get(files, "film") == NULL);
    json_decref(report);
    free(text);
    snwProcess_Free(&process);
}

// An ffmpeg that fails after the drawing costs the film only.
TEST(cli, failingFfmpegIsAWarning)
{
    char folder[128], variable[200];
    TempPath("bad-ffmpeg", folder, sizeof folder);
    const char* program = WriteText("ffmpeg", "#!/bin/sh\necho broken >&2\nexit 3\n");
    REQUIRE(chmod(program, 0755) == 0);
    snprintf(variable, sizeof variable, "PATH=%s:/usr/bin:/bin", snwTest_TempDir());
    const char* const words[] = {
        SINEW, "sim", SmallScene(), "-o", folder, "--width", "32", "--height", "32", "--samples", "1", NULL};
    snwProcess process = snwProcess_Start(words, variable);
    snwProcess_Wait(&process);
    CHECK_INT(process.code, 0);
    CHECK_CONTAINS(process.errors, "warning");
    CHECK_CONTAINS(process.errors, "ffmpeg failed");
    CHECK_CONTAINS(process.errors, "--no-film skips this");
    CHECK_CONTAINS(process.text, "hash");
    CHECK(Exists(folder, "report.json") && Exists(folder, "picture.png") && !Exists(folder, "film.mp4"));
    snwProcess_Free(&process);
}

TEST(cli, sweepWritesItsTable)
{
    char folder[128], path[160];
    TempPath("sweep", folder, sizeof folder);
    snwProcess process = RUN("sim", SmallScene(), "-o", folder, "--sweep", "sim.substeps=1,2", "--quiet");
    CHECK_INT(process.code, 0);
    CHECK(process.errors[0] == 0);
    snprintf(path, sizeof path, "%s/sweep.csv", folder);
    char* text = snwReadWhole(path);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "run,sim.substeps,seed,frames,");
    CHECK_CONTAINS(text, "\nrun-0002,2,");
    free(text);
    snwProcess again = RUN("sim", SmallScene(), "-o", folder, "--sweep", "sim.substeps=1,2");
    CHECK_INT(again.code, 1);
    CHECK_CONTAINS(again.errors, "sweep.csv");
    snwProcess_Free(&process);
    snwProcess_Free(&again);
}

static json_int_t FirstSeed(const char* output)
{
    json_t* report = json_loads(output, 0, NULL);
    json_int_t seed = json_integer_value(json_object_get(json_array_get(json_object_get(report, "rows"), 0), "seed"));
    json_decref(report);
    return seed;
}

TEST(cli, seedsStartAtTheScenes)
{
    const char* scene = WriteText("seeded.json",
        "{\"sinew\": 1, \"seed\": 40, \"duration\": 0.05, \"bodies\": [{\"name\": \"b\", \"character\": "
        "{\"shape\": \"block\", \"cells\": [1, 1, 1]}}]}");
    snwProcess own = RUN("sim", scene, "--json", "--seeds", "2");
    CHECK_INT(FirstSeed(own.text), 40);
    CHECK_CONTAINS(own.errors, "every seed gives the same run");
    snwProcess given = RUN("sim", scene, "--json", "--seeds", "2", "--seed", "7", "--set", "sim.jitter=0.1");
    CHECK_INT(FirstSeed(given.text), 7);
    CHECK(strstr(given.errors, "same run") == NULL);
    snwProcess_Free(&own);
    snwProcess_Free(&given);
}

TEST(cli, framesAndDurationAgree)
{
    const char* scene = SmallScene();
    snwProcess frames = RUN("sim", scene, "--json", "--frames", "3");
    snwProcess seconds = RUN("sim", scene, "--json", "--duration", "0.05");
    json_t *a = json_loads(frames.text, 0, NULL), *b = json_loads(seconds.text, 0, NULL);
    CHECK_INT(json_integer_value(json_object_get(a, "frames")), 3);
    CHECK(json_is_string(json_object_get(a, "hash")));
    CHECK(json_equal(json_object_get(a, "hash"), json_object_get(b, "hash")));
    json_decref(a);
    json_decref(b);
    snwProcess_Free(&frames);
    snwProcess_Free(&seconds);
}

TEST(cli, sweepGivesARowPerCombination)
{
    const char* scene = SmallScene();
    snwProcess json = RUN("sim", scene, "--json", "--sweep", "sim.substeps=1,2,3", "--seeds", "2");
    CHECK_INT(json.code, 0);
    json_t* report = json_loads(json.text, 0, NULL);
    CHECK_INT(json_array_size(json_object_get(report, "rows")), 6);
    json_decref(report);
    snwProcess table = RUN("sim", scene, "--sweep", "sim.substeps=1:3:3");
    int lines = 0;
    for (const char* c = table.text; *c != 0; ++c)
        lines += *c == '\n';
    CHECK_INT(lines, 4);
    snwProcess_Free(&json);
    snwProcess_Free(&table);
}

TEST(cli, threadsAndSimdDoNotChangeTheHash)
{
    const char* scene = SmallScene();
    snwProcess one = RUN("sim", scene, "--json", "--threads", "1", "--simd", "scalar");
    snwProcess two = RUN("sim", scene, "--json", "--threads", "2");
    json_t *a = json_loads(one.text, 0, NULL), *b = json_loads(two.text, 0, NULL);
    CHECK(json_is_string(json_object_get(a, "hash")));
    CHECK(json_equal(json_object_get(a, "hash"), json_object_get(b, "hash")));
    json_decref(a);
    json_decref(b);
    snwProcess_Free(&one);
    snwProcess_Free(&two);
}

// Changes one digit of the last hash in a log; with `cut` also removes the last line, which holds a checksum.
static bool Tamper(const char* path, bool cut)
{
    char* text = snwReadWhole(path);
    char* place = NULL;
    for (char* next = text; next != NULL && (next = strstr(next, "\"hash\"")) != NULL; ++next)
        place = next;
    FILE* file = place != NULL ? fopen(path, "w") : NULL;
    if (file != NULL)
    {
        char* digit = place + strlen("\"hash\"");
        digit += strcspn(digit, "0123456789abcdef");
        *digit = *digit == '0' ? '1' : *digit == '1' ? '2' : '0'; // twice is not the first again
        if (cut)
            strchr(digit, '\n')[1] = 0;
        fputs(text, file);
        fclose(file);
    }
    free(text);
    return file != NULL;
}

TEST(cli, replayComparesEveryFrame)
{
    char folder[128], log[160];
    TempPath("replay", folder, sizeof folder);
    snprintf(log, sizeof log, "%s/log.jsonl", folder);
    snwProcess sim = RUN("sim", SmallScene(), "-o", folder, "--no-film");
    REQUIRE(sim.code == 0);
    snwProcess same = RUN("replay", log);
    CHECK_INT(same.code, 0);
    CHECK_CONTAINS(same.text, "same");
    snwProcess check = RUN("check", log);
    CHECK_INT(check.code, 0);
    CHECK_CONTAINS(check.text, ": ok: log of 10 frames, 0 commands, complete");
    CHECK_CONTAINS(same.text, "all 10 frames");
    snwProcess info = RUN("info", log);
    CHECK_CONTAINS(info.text, "log       10 frames, 0 commands, complete, written by sinew ");
    snwProcess_Free(&info);
    REQUIRE(Tamper(log, false));
    snwProcess damaged = RUN("replay", log); // the checksum finds it before anything is simulated
    CHECK_INT(damaged.code, 3);
    REQUIRE(Tamper(log, true));
    snwProcess other = RUN("replay", log, "--json");
    CHECK_INT(other.code, 1);
    json_t* report = json_loads(other.text, 0, NULL);
    CHECK(json_is_false(json_object_get(report, "same")));
    CHECK_INT(json_integer_value(json_object_get(report, "first_difference")), 10);
    json_decref(report);
    snwProcess_Free(&sim);
    snwProcess_Free(&same);
    snwProcess_Free(&check);
    snwProcess_Free(&damaged);
    snwProcess_Free(&other);
}

static void Sleep(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

// Waits until the log, under its provisional name, has more bytes than its head: frames are in it.
static bool WaitForFrames(const char* folder)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/log.jsonl.part", folder);
    for (int i = 0; i < 100 * snwTest_Patience(); ++i)
    {
        if (stat(path, &info) == 0 && info.st_size > 20000)
            return true;
        Sleep(10);
    }
    return false;
}

// By Ctrl-C, or by a terminal that closes.
static void CheckInterrupt(int signal, const char* name)
{
    char folder[128], path[160];
    TempPath(name, folder, sizeof folder);
    const char* const words[] = {SINEW, "sim", SmallScene(), "--frames", "10000000", "-o", folder, "--no-film", NULL};
    snwProcess process = snwProcess_Start(words, NULL);
    REQUIRE(process.id > 0);
    bool begun = WaitForFrames(folder);
    kill(process.id, signal);
    snwProcess_Wait(&process);
    CHECK(begun);
    CHECK_INT(process.code, 130);
    CHECK(Exists(folder, "report.json"));
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    snwProcess replay = RUN("info", path, "--json");
    CHECK_INT(replay.code, 0);
    json_t* info = json_loads(replay.text, 0, NULL);
    json_int_t frames = json_integer_value(json_object_get(info, "frames"));
    CHECK(frames > 0 && frames < 10000000);
    json_decref(info);
    snwProcess_Free(&process);
    snwProcess_Free(&replay);
}

TEST(cli, interruptKeepsFinishedFrames)
{
    CheckInterrupt(SIGINT, "interrupt");
}

TEST(cli, aClosedTerminalKeepsFinishedFrames)
{
    CheckInterrupt(SIGHUP, "hangup");
}

TEST(cli, demosAreListed)
{
    snwProcess names = RUN("demo", "--list", "--quiet");
    CHECK_INT(names.code, 0);
    CHECK_CONTAINS(names.text, "drop\n");
    snwProcess table = RUN("demo", "--list");
    CHECK_INT(table.code, 0);
    CHECK(strstr(table.text, "not sound") == NULL);
    CHECK_CONTAINS(table.text, "a bar is wrung at both ends");
    snwProcess other = RUN("demo", "drpo");
    CHECK_INT(other.code, 3);
    CHECK_CONTAINS(other.errors, "'drop'");
    snwProcess_Free(&names);
    snwProcess_Free(&table);
    snwProcess_Free(&other);
}

// A scene or a character, by its name or its file, wherever a scene is wanted; what none is gets the nearest word.
TEST(cli, verbsTakeNames)
{
    static const char* const words[] = {
        "drop", "block", SNW_SOURCE_DIR "/scenes/drop.json", SNW_SOURCE_DIR "/characters/block.json"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
    {
        snwProcess runs[] = {RUN("sim", words[i], "--frames", "1", "--json"), RUN("check", words[i]),
            RUN("info", words[i]), RUN("compare", words[i], "--seeds", "1,2", "--frames", "1")};
        for (size_t k = 0; k < sizeof runs / sizeof runs[0]; ++k)
        {
            if (runs[k].code != 0)
                snwTest_Fail(__FILE__, __LINE__, "%s, verb %zu: %s", words[i], k, runs[k].errors);
            snwProcess_Free(&runs[k]);
        }
    }
    static const char* const verbs[] = {"sim", "check", "info", "compare", "demo"};
    for (size_t k = 0; k < sizeof verbs / sizeof verbs[0]; ++k)
    {
        snwProcess process = k == 3 ? RUN("compare", "drpo", "--seeds", "1,2") : RUN(verbs[k], "drpo");
        CHECK_INT(process.code, 3);
        CHECK_CONTAINS(process.errors, "'drop'");
        snwProcess_Free(&process);
    }
}

TEST(cli, demoMakesAFilm)
{
    char folder[128], variable[160];
    TempPath("film", folder, sizeof folder);
    SmallScene();
    snprintf(variable, sizeof variable, "SINEW_SCENES=%s", snwTest_TempDir());
    snwProcess process = snwProcess_Start(
        (const char* const[]){SINEW, "demo", "small", "-o", folder, "--width", "64", "--height", "48", NULL}, variable);
    snwProcess_Wait(&process);
    CHECK_INT(process.code, 0);
    static const char* const names[] = {"film.mp4", "picture.png", "energy.svg", "measures.csv", "report.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    {
        CHECK(Exists(folder, names[i]));
        CHECK_CONTAINS(process.errors, names[i]); // it says where each is
    }
    snwProcess_Free(&process);
}

TEST(cli, infoPrintsJson)
{
    snwProcess params = RUN("info", "--params", "pbd", "--json");
    json_t* method = json_loads(params.text, 0, NULL);
    CHECK(json_array_size(json_object_get(method, "params")) > 1);
    json_decref(method);
    snwProcess schema = RUN("info", "--schema");
    json_t* json = json_loads(schema.text, 0, NULL);
    CHECK(json_is_object(json));
    json_decref(json);
    snwProcess scene = RUN("info", SmallScene(), "--json");
    json = json_loads(scene.text, 0, NULL);
    CHECK_INT(json_array_size(json_object_get(json, "bodies")), 1);
    json_decref(json);
    snwProcess_Free(&params);
    snwProcess_Free(&schema);
    snwProcess_Free(&scene);
}

// ---------------------------------------------------------------------------------------------------------------------
// Characters

// Width and height in the header of a PNG file; 0 if it is none.
static int PngWidth(const char* path)
{
    unsigned char head[24] = {0};
    FILE* file = fopen(path, "rb");
    size_t got = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL)
        fclose(file);
    if (got < sizeof head || memcmp(head, "\x89PNG", 4) != 0)
        return 0;
    return head[16] << 24 | head[17] << 16 | head[18] << 8 | head[19];
}

TEST_HEAVY(cli, renderDrawsCharacters)
{
    char path[512];
    snprintf(path, sizeof path, "%s/nunchuck.png", snwTest_TempDir());
    static const char* const looks[] = {"flesh", "bones", "silhouette"};
    for (int i = 0; i < 3; ++i)
    {
        snwProcess process = RUN("render", "nunchuck", "-o", path, "--size", "64", "--detail", "40", "--samples", "1",
            "--force", "--look", looks[i]);
        CHECK_INT(process.code, 0);
        CHECK_INT(PngWidth(path), 64);
        snwProcess_Free(&process);
    }
    snwProcess again = RUN("render", "nunchuck", "-o", path, "--size", "64", "--detail", "40");
    CHECK_INT(again.code, 1); // it exists
    CHECK_CONTAINS(again.errors, "exists already");
    snwProcess sheet = RUN("render", "--sheet", "cantilever", "starfish", "-o", path, "--size", "40", "--detail", "40",
        "--samples", "1", "--force");
    CHECK_INT(sheet.code, 0);
    CHECK(PngWidth(path) > 9 * 40);
    snwProcess wrong = RUN("render", "forg", "-o", path, "--force");
    CHECK_INT(wrong.code, 3);
    CHECK_CONTAINS(wrong.errors, "frog");
    snwProcess motion = RUN("render", "cow", "--motion", "wlak", "-o", path, "--force");
    CHECK_INT(motion.code, 3);
    CHECK_CONTAINS(motion.errors, "walk");
    snwProcess nowhere = RUN("render", "cow");
    CHECK_INT(nowhere.code, 2);
    snwProcess_Free(&again);
    snwProcess_Free(&sheet);
    snwProcess_Free(&wrong);
    snwProcess_Free(&motion);
    snwProcess_Free(&nowhere);
}

TEST_HEAVY(cli, renderShowsWeights)
{
    char path[512];
    snprintf(path, sizeof path, "%s/weights.png", snwTest_TempDir());
    snwProcess all = RUN("render", "starfish", "-o", path, "--size", "64", "--samples", "1", "--look", "weights");
    CHECK_INT(all.code, 0);
    CHECK_INT(PngWidth(path), 64);
    snwProcess one = RUN("render", "fish", "-o", path, "--size", "48", "--detail", "30", "--samples", "1", "--force",
        "--look", "weights", "--motion", "swim", "--time", "0.2", "--skinning", "dual-quaternion");
    CHECK_INT(one.code, 0);
    CHECK_INT(PngWidth(path), 48);
    snwProcess wrong = RUN("render", "starfish", "-o", path, "--force", "--look", "weights", "--handle", "arm_9");
    CHECK_INT(wrong.code, 3);
    CHECK_CONTAINS(wrong.errors, "no bone or handle 'arm_9'");
    snwProcess_Free(&all);
    snwProcess_Free(&one);
    snwProcess_Free(&wrong);
}

TEST_HEAVY(cli, infoDescribesCharacters)
{
    snwProcess words = RUN("info", "cantilever");
    CHECK_INT(words.code, 0);
    CHECK_CONTAINS(words.text, "2 bones, 1 joints with 3 degrees of freedom");
    snwProcess process = RUN("info", "starfish", "--json");
    json_t* json = json_loads(process.text, 0, NULL);
    CHECK_NEAR(json_integer_value(json_object_get(json, "triangles")), 445, 22);
    CHECK_INT(json_array_size(json_object_get(json, "handles")), 6);
    json_decref(json);
    snwProcess_Free(&words);
    snwProcess_Free(&process);
}

TEST(cli, demoListNamesTheCast)
{
    snwProcess process = RUN("demo", "--list");
    CHECK_INT(process.code, 0);
    CHECK_CONTAINS(process.text, "herd");
    CHECK_CONTAINS(process.text, "acrobat");
    CHECK_CONTAINS(process.text, "stomp");
    snwProcess_Free(&process);
}

TEST(cli, checkRefusesFilesThatItDoesNotKnow)
{
    char path[256];
    snprintf(path, sizeof path, "%s/notes.xyz", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("1 2 3\n", file);
    fclose(file);
    snwProcess run = RUN("check", path);
    CHECK_INT(run.code, 3);
    CHECK_CONTAINS(run.errors, "no reader for files of this kind");
    snwProcess_Free(&run);
}

// What prep refuses, check does not call sound; and what is odd stands in its notes.
TEST(cli, checkAgreesWithPrep)
{
    static const char solid[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    static const char tets[] =
        "MeshVersionFormatted 1\nDimension 3\nVertices 5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 %s 0\n1 1 1 0\n"
        "Tetrahedra 2\n1 2 3 4 0\n%s 0\nEnd\n";
    static const char gltf[] =
        "{\"asset\": {\"version\": \"2.0\"}, %s, \"nodes\": [{\"mesh\": 0 %s}, {\"children\": [2]}, {}], \"meshes\": "
        "[{\"primitives\":"
        "[{\"attributes\": {\"POSITION\": 0}, \"indices\": 1}]}], \"accessors\": [{\"bufferView\": 0, "
        "\"componentType\": 5126,"
        "\"count\": 4, \"type\": \"VEC3\", \"min\": [0, 0, 0], \"max\": [1, 1, %s]}, {\"bufferView\": 1, "
        "\"componentType\": 5123,"
        "\"count\": 12, \"type\": \"SCALAR\"}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 48}, {\"buffer\": 0,"
        "\"byteOffset\": 48, \"byteLength\": 24}], \"buffers\": [{\"byteLength\": 72, \"uri\": "
        "\"data:application/octet-stream;base64,"
        "%s\"}]}";
    static const char data[] =
        "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAACAAEAAAABAAMAAQACAAMAAAADAAIA";
    static const char ply[] =
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float %s\n"
        "%send_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n";
    const char* unit = "\"scenes\": [{\"nodes\": [0, 1]}]";
    char text[16][2048];
    int count = 0;
    struct
    {
        const char* name;
        bool sound;
        const char* words; // in its output
    } cases[16];
#define FILE_OF(file, good, part, ...)                                                                                 \
    cases[count].name = file, cases[count].sound = good, cases[count].words = part,                                    \
    snprintf(text[count], sizeof text[count], __VA_ARGS__), ++count
    FILE_OF("solid.obj", true, "4 triangles", "%s", solid);
    FILE_OF("points.obj", false, "no surface", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    FILE_OF("tiny.obj", true, "no area", "v 0 0 0\nv 1e-200 0 0\nv 0 1e-200 0\nf 1 2 3\n");
    FILE_OF("twice.obj", true, "there twice", "%sf 1 3 2\n", solid);
    FILE_OF("tets.mesh", true, "2 tets", tets, "1", "2 3 4 5");
    FILE_OF("double.mesh", false, "tets are there twice", tets, "1", "2 1 4 3");
    FILE_OF("flat.mesh", false, "", tets, "0", "1 2 3 4");
    FILE_OF("cloud.ply", false, "no surface", ply, "z", "");
    FILE_OF("property.ply", false, "two properties", ply, "y", "property float z\n");
    FILE_OF("solid.gltf", true, "4 triangles", gltf, unit, "", "1", data);
    FILE_OF("bounds.gltf", true, "min and max", gltf, unit, "", "7", data);
    FILE_OF("matrix.gltf", true, "has a matrix, too", gltf, unit,
        ", \"matrix\": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], \"scale\": [1, 1, 1]", "1", data);
    FILE_OF("child.gltf", true, "no root", gltf, "\"scenes\": [{\"nodes\": [0, 2]}]", "", "1", data);
    FILE_OF("node.gltf", false, "scenes[0].nodes[1]", gltf, "\"scenes\": [{\"nodes\": [0, 3]}]", "", "1", data);
    FILE_OF(
        "scene.gltf", false, "points to number 1", gltf, "\"scene\": 1, \"scenes\": [{\"nodes\": [0]}]", "", "1", data);
#undef FILE_OF
    for (int i = 0; i < count; ++i)
    {
        char path[256], output[280];
        snprintf(path, sizeof path, "%s/%s", snwTest_TempDir(), cases[i].name);
        snprintf(output, sizeof output, "%s.snw", path);
        FILE* file = fopen(path, "w");
        REQUIRE(file != NULL);
        fputs(text[i], file);
        fclose(file);
        snwProcess check = RUN("check", path), prep = RUN("prep", path, "-o", output, "--force");
        bool told = strstr(check.text, cases[i].words) != NULL || strstr(check.errors, cases[i].words) != NULL;
        if (check.code != (cases[i].sound ? 0 : 3) || (check.code == 0) != (prep.code == 0) || !told)
            snwTest_Fail(__FILE__, __LINE__, "%s: check %d, prep %d\n%s%s%s", cases[i].name, check.code, prep.code,
                check.text, check.errors, prep.errors);
        snwProcess_Free(&check);
        snwProcess_Free(&prep);
    }
}

TEST(cli, checkKnowsBlueprints)
{
    char path[512];
    snprintf(path, sizeof path, "%s/blueprint.json", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("{\"sinew\": 1, \"name\": \"a\", \"parts\": [{\"kind\": \"ellipsoid\", \"radii\": [1, 1, 1]}]}", file);
    fclose(file);
    snwProcess process = RUN("check", path);
    CHECK_INT(process.code, 0);
    CHECK_CONTAINS(process.text, "blueprint of 1 parts");
    file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("{\"sinew\": 1, \"name\": \"a\", \"parts\": [{\"kind\": \"ellipsoid\", \"radii\": [1, -1, 1]}]}", file);
    fclose(file);
    snwProcess wrong = RUN("check", path);
    CHECK_INT(wrong.code, 3);
    CHECK_CONTAINS(wrong.errors, "parts[0].radii");
    snwProcess_Free(&process);
    snwProcess_Free(&wrong);
}
