// Variants of one scene side by side, through the program.

#include "app/compare.h"
#include "process.h"
#include "test.h"

#include <jansson.h>
#include <png.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define SINEW    SNW_BINARY_DIR "/sinew"
#define RUN(...) snwProcess_Run((const char* const[]){SINEW, __VA_ARGS__, NULL})

static const char* Scene(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/tiny.json", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    if (file == NULL)
        return path;
    fputs("{\"sinew\": 1, \"name\": \"tiny\", \"rate\": 60, \"duration\": 0.1,\n"
          " \"bodies\": [{\"name\": \"ball\", \"position\": [0, 0.25, 0],\n"
          "   \"character\": {\"shape\": \"ball\", \"size\": [0.5, 0.5, 0.5], \"cells\": [2, 2, 2]}}],\n"
          " \"colliders\": [{\"name\": \"floor\", \"kind\": \"plane\"}]}\n",
        file);
    fclose(file);
    return path;
}

static void Folder(const char* name, char folder[128])
{
    snprintf(folder, 128, "%s/compare-%s", snwTest_TempDir(), name);
}

static bool Exists(const char* folder, const char* name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0 && info.st_size > 0;
}

static json_t* Variant(json_t* report, size_t index)
{
    return json_array_get(json_object_get(report, "variants"), index);
}

static const char* Word(json_t* object, const char* key)
{
    const char* word = json_string_value(json_object_get(object, key));
    return word != NULL ? word : "";
}

// A variant is the same run as sim makes with that one change.
TEST(compare, variantsAreTheRunsOfSim)
{
    snwProcess compare = RUN("compare", Scene(), "--set", "sim.substeps=1,3", "--set", "sim.jitter=0.1", "--json");
    REQUIRE(compare.code == 0);
    json_t* report = json_loads(compare.text, 0, NULL);
    CHECK_INT(json_array_size(json_object_get(report, "variants")), 2);
    CHECK(json_is_true(json_object_get(report, "complete")));
    static const char* const sets[] = {"sim.substeps=1", "sim.substeps=3"};
    for (size_t i = 0; i < 2; ++i)
    {
        snwProcess sim = RUN("sim", Scene(), "--set", sets[i], "--set", "sim.jitter=0.1", "--json");
        json_t* own = json_loads(sim.text, 0, NULL);
        json_t* variant = Variant(report, i);
        CHECK(strcmp(Word(variant, "name"), sets[i]) == 0);
        CHECK(strlen(Word(variant, "hash")) == 16 && strcmp(Word(variant, "hash"), Word(own, "hash")) == 0);
        CHECK_INT(json_integer_value(json_object_get(variant, "frames")), 6);
        json_t* centre = json_array_get(json_object_get(variant, "centre"), 1);
        CHECK_NEAR(json_number_value(centre),
            json_number_value(json_object_get(json_object_get(own, "last"), "centre.y")), 1e-9);
        json_decref(own);
        snwProcess_Free(&sim);
    }
    CHECK(strcmp(Word(Variant(report, 0), "hash"), Word(Variant(report, 1), "hash")) != 0);
    json_decref(report);
    snwProcess_Free(&compare);
}

TEST(compare, tableHasARowPerVariant)
{
    snwProcess process = RUN("compare", Scene(), "--seeds", "3,1", "--set", "pbd.iterations=2,4");
    CHECK_INT(process.code, 0);
    static const char* const words[] = {"variant", "drift", "least element", "hash", "\nseed=3 ", "\nseed=1 ",
        "\npbd.iterations=2 ", "\npbd.iterations=4 "};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        CHECK_CONTAINS(process.text, words[i]);
    snwProcess same = RUN("compare", Scene(), "--seeds", "3,1");
    CHECK_CONTAINS(same.errors, "same motion, for nothing is random here");
    snwProcess_Free(&process);
    snwProcess_Free(&same);
}

// What would change nothing is refused, with the method that it is for: at once, and without a file.
TEST(compare, settingsOfAnotherMethodAreRefused)
{
    snwProcess refused[] = {RUN("sim", Scene(), "--set", "apd.iterations=3"),
        RUN("sim", Scene(), "--sweep", "apd.iterations=3,4"), RUN("demo", Scene(), "--no-film", "-m", "apd"),
        RUN("compare", Scene(), "--set", "apd.iterations=3,4"),
        RUN("compare", Scene(), "--set", "apd.iterations=3", "--seeds", "1,2")};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
    {
        CHECK_INT(refused[i].code, 2);
        if (i != 2) // demo has no such option
            CHECK_CONTAINS(refused[i].errors, "apd.iterations does nothing here: the method that runs is pbd");
        CHECK(refused[i].text[0] == 0);
        snwProcess_Free(&refused[i]);
    }
    // With several methods it is for those that have it.
    snwProcess taken[] = {RUN("compare", Scene(), "--methods", "pbd,pbcd", "--set", "pbcd.iterations=3"),
        RUN("sim", Scene(), "--method", "pbcd", "--set", "pbcd.iterations=3")};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i)
    {
        CHECK_INT(taken[i].code, 0);
        snwProcess_Free(&taken[i]);
    }
}

// A study of stiffness: what flesh is made of, refused where the law that runs makes nothing of it.
TEST(compare, materialsAreVariants)
{
    snwProcess soft = RUN("compare", Scene(), "--set", "material.ball.young=2000,50000", "--set", "pbd.law=compliant");
    CHECK_INT(soft.code, 0);
    CHECK_CONTAINS(soft.text, "\nmaterial.ball.young=2000 ");
    CHECK(strstr(soft.errors, "same motion") == NULL);
    snwProcess swept = RUN("sim", Scene(), "--sweep", "material.density=500:1500:3", "--set", "pbd.law=compliant");
    CHECK_INT(swept.code, 0);
    CHECK_CONTAINS(swept.text, "            1500 ");
    snwProcess refused[] = {RUN("compare", Scene(), "--set", "material.young=2000,50000"),
        RUN("sim", Scene(), "--sweep", "material.poisson=0.1,0.4"),
        RUN("sim", Scene(), "--set", "material.settling=1")};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
    {
        CHECK_INT(refused[i].code, 2);
        CHECK_CONTAINS(refused[i].errors, "does nothing here");
        snwProcess_Free(&refused[i]);
    }
    snwProcess_Free(&soft);
    snwProcess_Free(&swept);
}

// A number is not to be trusted alone.
TEST(compare, cautionsAreTold)
{
    snwCompareDef def = snwDefaultCompareDef();
    snwComparison comparison = {.count = 3};
    char text[160];
    snprintf(def.variants[0].name, sizeof def.variants[0].name, "first");
    for (int i = 0; i < 3; ++i)
    {
        comparison.runs[i].report.hash = (uint64_t)i;
        comparison.runs[i].report.firstInverted = -1;
        comparison.runs[i].report.minVolumeRatio = 0.9;
        snwComparison_Caution(&def, &comparison, i, text);
        CHECK_INT((int)strlen(text), 0);
    }
    comparison.runs[2].report.hash = 0;
    snwComparison_Caution(&def, &comparison, 2, text);
    CHECK_CONTAINS(text, "the same motion as first");
    comparison.runs[0].bonesMove = true;
    snwComparison_Caution(&def, &comparison, 0, text);
    CHECK_INT((int)strlen(text), 0);
    snwComparison_Caution(&def, &comparison, 1, text);
    CHECK_CONTAINS(text, "bones stay");
    comparison.runs[1].report.firstInverted = 7;
    comparison.runs[1].report.minVolumeRatio = -0.39;
    snwComparison_Caution(&def, &comparison, 1, text);
    CHECK_CONTAINS(text, "inside out from frame 7");

    // And a run tells whether its bones move.
    snwProcess process = RUN("compare", "blub", "--methods", "pbd,apd", "--frames", "4", "--json");
    json_t* report = json_loads(process.text, 0, NULL);
    CHECK_CONTAINS(Word(Variant(report, 0), "caution"), "bones stay");
    CHECK(strstr(Word(Variant(report, 1), "caution"), "bones stay") == NULL);
    json_decref(report);
    snwProcess_Free(&process);
}

TEST(compare, writesTablePlotsAndLogsOnce)
{
    char folder[128], log[200], path[200];
    Folder("files", folder);
    snwProcess first = RUN("compare", Scene(), "--set", "pbd.iterations=2,4", "-o", folder, "--no-film");
    CHECK_INT(first.code, 0);
    static const char* const names[] = {"compare.csv", "compare.json", "energy.svg", "energy.png", "height.svg",
        "height.png", "step.svg", "step.png", "pbd.iterations=2/measures.csv", "pbd.iterations=4/log.jsonl"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        CHECK(Exists(folder, names[i]));
    CHECK(!Exists(folder, "picture.png"));
    snprintf(path, sizeof path, "%s/energy.svg", folder);
    char* svg = snwReadWhole(path);
    REQUIRE(svg != NULL);
    CHECK_CONTAINS(svg, ">pbd.iterations=2<");
    CHECK_CONTAINS(svg, ">pbd.iterations=4<");
    free(svg);
    snprintf(log, sizeof log, "%s/pbd.iterations=4/log.jsonl", folder);
    snwProcess replay = RUN("replay", log);
    CHECK_INT(replay.code, 0);
    snwProcess second = RUN("compare", Scene(), "--set", "pbd.iterations=2,4", "-o", folder, "--no-film");
    CHECK_INT(second.code, 1);
    CHECK_CONTAINS(second.errors, "--force");
    snwProcess third = RUN("compare", Scene(), "--set", "pbd.iterations=2,4", "-o", folder, "--no-film", "--force");
    CHECK_INT(third.code, 0);
    snwProcess_Free(&first);
    snwProcess_Free(&replay);
    snwProcess_Free(&second);
    snwProcess_Free(&third);
}

// Red, green and blue of the middle of the tile with this number, from a picture of two tiles of 48 x 32 pixels.
static bool TileColor(const unsigned char* pixels, int width, int height, int tile, int color[3])
{
    const int margin = 22, gap = 6; // of a sheet with letters of 10 pixels
    int x = margin + tile * (48 + gap) + 24, y = height - margin - 15 - 16;
    if (x >= width || y < 0)
        return false;
    for (int k = 0; k < 3; ++k)
        color[k] = pixels[3 * ((size_t)y * (size_t)width + (size_t)x) + (size_t)k];
    return true;
}

TEST(compare, filmHasATilePerVariant)
{
    if (system("ffmpeg -version >/dev/null 2>&1") != 0) // NOLINT: a fixed text
        SKIP("there is no ffmpeg");
    char folder[128], path[200];
    Folder("film", folder);
    snwProcess process = RUN("compare", Scene(), "--set", "pbd.iterations=2,4", "-o", folder, "--width", "48",
        "--height", "32", "--samples", "1");
    CHECK_INT(process.code, 0);
    CHECK(Exists(folder, "film.mp4") && Exists(folder, "picture.png") && !Exists(folder, "frames"));
    snprintf(path, sizeof path, "%s/picture.png", folder);
    png_image image = {.version = PNG_IMAGE_VERSION};
    REQUIRE(png_image_begin_read_from_file(&image, path) != 0);
    image.format = PNG_FORMAT_RGB;
    unsigned char* pixels = malloc(PNG_IMAGE_SIZE(image));
    REQUIRE(png_image_finish_read(&image, NULL, pixels, 0, NULL) != 0);
    int width = (int)image.width, height = (int)image.height, left[3], right[3];
    CHECK(width == 2 * 22 + 2 * 48 + 6);
    REQUIRE(TileColor(pixels, width, height, 0, left) && TileColor(pixels, width, height, 1, right));
    // The ball is in the middle of both, of one colour, and not the paper.
    for (int k = 0; k < 3; ++k)
        CHECK(abs(left[k] - right[k]) < 24);
    CHECK(abs(left[0] - pixels[0]) + abs(left[1] - pixels[1]) + abs(left[2] - pixels[2]) > 60);
    free(pixels);
    snwProcess_Free(&process);
}

TEST(compare, mistakesAreTold)
{
    static const struct
    {
        const char *option, *value, *words;
    } cases[] = {
        {"--set", "pbd.iterations=4", "not two variants"},
        {"--set", "pbd.iterations=1,2,3,4,5,6,7,8,9", "more than 8 variants"},
        {"--set", "pbd.iterations=4,4", "there twice"},
        {"--set", "pbd.iterations", "--set pbd.iterations has no '='"},
        {"--methods", "pbd,pbx", "try: pbd"},
        {"--seeds", "1,-2", "--seeds cannot be '-2'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        snwProcess process = RUN("compare", Scene(), cases[i].option, cases[i].value);
        CHECK_INT(process.code, 2);
        CHECK_CONTAINS(process.errors, cases[i].words);
        snwProcess_Free(&process);
    }
    snwProcess missing = RUN("compare", "/no/such.json", "--seeds", "1,2");
    CHECK_INT(missing.code, 3);
    snwProcess_Free(&missing);
}

// An absurd force: the run diverges in frame 3 or later, whatever the iterations.
static const char* WildScene(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/compare-wild.json", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    if (file == NULL)
        return path;
    fputs("{\"sinew\": 1, \"rate\": 1, \"duration\": 60, \"bodies\": [{\"name\": \"b\", \"character\":"
          " {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [2, 2, 2], \"material\":"
          " {\"density\": 0.001}}}], \"commands\": [{\"step\": 3, \"kind\": \"push\", \"body\": \"b\", \"vertex\": 0,"
          " \"force\": [1e12, 1e11, 1e10], \"duration\": 1e9}]}",
        file);
    fclose(file);
    return path;
}

TEST(compare, divergedVariantsAreRowsToo)
{
    char folder[128];
    Folder("wild", folder);
    const char* scene = WildScene();
    snwProcess process = RUN(
        "compare", scene, "--set", "pbd.iterations=5,10", "-o", folder, "--width", "32", "--height", "32");
    CHECK_INT(process.code, 4);
    CHECK_CONTAINS(process.text, "\npbd.iterations=5 ");
    CHECK_CONTAINS(process.text, "\npbd.iterations=10 ");
    CHECK_CONTAINS(process.text, "diverged");
    CHECK(Exists(folder, "compare.json") && Exists(folder, "height.png") && Exists(folder, "picture.png"));
    snwProcess_Free(&process);
}

TEST(compare, failingFfmpegCostsTheFilmOnly)
{
    char folder[128], bin[160], program[200], variable[300];
    Folder("bad-ffmpeg", folder);
    snprintf(bin, sizeof bin, "%s/compare-bin", snwTest_TempDir());
    snprintf(program, sizeof program, "%s/ffmpeg", bin);
    REQUIRE(mkdir(bin, 0755) == 0);
    FILE* file = fopen(program, "w");
    REQUIRE(file != NULL);
    fputs("#!/bin/sh\necho broken >&2\nexit 3\n", file);
    fclose(file);
    REQUIRE(chmod(program, 0755) == 0);
    snprintf(variable, sizeof variable, "PATH=%s:/usr/bin:/bin", bin);
    const char* const words[] = {SINEW, "compare", Scene(), "--set", "pbd.iterations=2,4", "-o", folder, "--width",
        "32", "--height", "32", "--samples", "1", NULL};
    snwProcess process = snwProcess_Start(words, variable);
    snwProcess_Wait(&process);
    CHECK_INT(process.code, 0);
    CHECK_CONTAINS(process.errors, "ffmpeg failed");
    CHECK(Exists(folder, "picture.png") && Exists(folder, "compare.csv") && !Exists(folder, "film.mp4"));
    CHECK(Exists(folder, "frames/frame-00000.png")); // for another try by hand
    snwProcess_Free(&process);
}

static void Sleep(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

// The first variant would go on for hours.
TEST(compare, interruptKeepsWhatIsFinished)
{
    char folder[128];
    Folder("interrupt", folder);
    const char* const words[] = {
        SINEW, "compare", Scene(), "--seeds", "1,2", "--frames", "5000000", "-o", folder, NULL};
    snwProcess process = snwProcess_Start(words, NULL);
    REQUIRE(process.id > 0);
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/seed=1/log.jsonl.part", folder);
    for (int i = 0; i < 100 * snwTest_Patience() && (stat(path, &info) != 0 || info.st_size < 20000); ++i)
        Sleep(10); // until frames are in it
    kill(process.id, SIGINT);
    snwProcess_Wait(&process);
    CHECK_INT(process.code, 130);
    CHECK_CONTAINS(process.errors, "kept: 1 of 2 variants");
    CHECK_CONTAINS(process.text, "seed=1 ");
    CHECK(Exists(folder, "compare.csv") && Exists(folder, "seed=1/log.jsonl") && Exists(folder, "energy.png"));
    CHECK(!Exists(folder, "film.mp4") && !Exists(folder, "seed=2/log.jsonl"));
    snwProcess_Free(&process);
}
