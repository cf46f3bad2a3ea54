// What `sinew bench flesh` promises, in short: the rows of the tables below. Those that do not hold yet have `false`
// and are not run; whoever mends one makes it `true`. All of it is in `make test-long`.

#include "test.h"

#include "flesh_bench.h"

#include <dirent.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Hands

// Small characters, one seed each; those of one character follow each other.
static const struct
{
    const char* character;
    int elements;
    snwStormDef def;
    bool holds; // it neither diverges nor ends inside out
    bool keeps; // nor is an edge ever four times as long as at rest
} s_storms[] = {
    {"upper-body", 800, {.method = "apd", .hand = snw_stormDefault, .firstSeed = 0, .seedCount = 1}, true, true},
    {"manikin", 1000, {.method = "apd", .hand = snw_stormDefault, .firstSeed = 0, .seedCount = 1}, true, true},
    {"manikin", 1000, {.method = "pbcd", .hand = snw_stormDefault, .firstSeed = 0, .seedCount = 1}, true, true},
    {"manikin", 1000, {.method = "pbcd", .hand = snw_stormVertex, .firstSeed = 1, .seedCount = 1}, true, true},
    {"manikin", 1000, {.method = "pbcd", .hand = snw_stormDefault, .substeps = 1, .seedCount = 20}, true, true},
    {"manikin", 1000, {.method = "rigpbd", .hand = snw_stormDefault, .firstSeed = 1, .seedCount = 1}, true, true},
    {"manikin", 1000, {.method = "rigpbd", .hand = snw_stormHandle, .firstSeed = 1, .seedCount = 1}, true, true},
    {"octopus", 4000, {.method = "rigpbd", .hand = snw_stormHandle, .firstSeed = 0, .seedCount = 1}, true, true},
    {"octopus", 4000, {.method = "rigpbd", .hand = snw_stormHandle, .substeps = 1, .seedCount = 1}, true, true},
    {"octopus", 4000, {.method = "pbcd", .hand = snw_stormDefault, .substeps = 1, .firstSeed = 3, .seedCount = 1}, true,
        true},
    {"horse", 1500, {.method = "rigpbd", .hand = snw_stormDefault, .substeps = 1, .seedCount = 1}, true, true},
    {"hand", 1500, {.method = "pbcd", .hand = snw_stormDefault, .substeps = 1, .seedCount = 20}, true, true},
    {"manikin", 4000, {.method = "rigpbd", .hand = snw_stormVertex, .firstSeed = 8, .seedCount = 1}, true, true},
    {"manikin", 4000, {.method = "rigpbd", .hand = snw_stormDefault, .substeps = 1, .seedCount = 1}, true, true},
    {"ghost", 750, {.method = "rigpbd", .hand = snw_stormDefault, .firstSeed = 1, .seedCount = 1}, true, true},
    {"ghost", 750, {.method = "rigpbd", .hand = snw_stormHandle, .firstSeed = 1, .seedCount = 1}, true, false},
    {"horse", 1500, {.method = "skelfem", .hand = snw_stormVertex, .substeps = 1, .seedCount = 1}, true, true},
};

TEST_HEAVY(fleshbench, stormsNeitherDivergeNorLeaveFleshInsideOut)
{
    snwFleshStage stage = {0};
    const char* open = "";
    for (size_t i = 0; i < sizeof s_storms / sizeof *s_storms; ++i)
    {
        const char* character = s_storms[i].character;
        const snwStormDef* def = &s_storms[i].def;
        snwStormResult storm;
        if (!s_storms[i].holds)
            continue;
        if (strcmp(open, character) != 0)
        {
            snwFleshStage_Close(&stage);
            REQUIRE(snwFleshStage_Open(&stage, snwMakeFleshScene(character, s_storms[i].elements), NULL) >= 0);
            open = character;
        }
        REQUIRE(snwFleshStage_Storm(&stage, def, &storm, NULL) >= 0);
        CHECK_INT(storm.runs, def->seedCount);
        CHECK(storm.stretchMost > 0.05); // it was pulled
        if (storm.diverged > 0 || storm.inverted > 0)
            snwTest_Fail(__FILE__, __LINE__, "%s by a %s in %s: %d diverged (%s), %d inside out at rest, %g", character,
                snwStormHandNames[def->hand], def->method, storm.diverged, storm.note, storm.inverted,
                storm.leastAtRest);
        if (s_storms[i].keeps && storm.stretchMost > 3)
            snwTest_Fail(__FILE__, __LINE__, "%s by a %s in %s is stretched by %g", character,
                snwStormHandNames[def->hand], def->method, storm.stretchMost);
    }
    snwFleshStage_Close(&stage);
}

// What holds an arm's tip pushes along the rig and not along the flesh: without a limit on the energy of that the arm
// turned about its tip, faster and faster, until it went at 22 m/s.
TEST_HEAVY(fleshbench, anArmThatIsLiftedByItsTipDoesNotSpin)
{
    enum
    {
        snw_tip = 6,
        snw_frames = 30
    };
    snwFleshStage stage = {0};
    REQUIRE(snwFleshStage_Open(&stage, snwMakeFleshScene("octopus", 4000), NULL) >= 0);
    REQUIRE(snwFleshStage_Start(&stage, &(snwFleshRun){.method = "rigpbd"}, NULL) >= 0);
    snwFleshWatch watch = snwFleshStage_StartWatch(&stage);
    snwCommand command = snwDefaultCommand(snw_commandHandle);
    command.index = snw_tip;
    command.mask = snw_dofX | snw_dofY | snw_dofZ;
    command.transform.position = snwCharacterDef_HandlePoint(&stage.character->def, snw_tip);
    command.transform.position.y += stage.def->bodies[0].transform.position.y;
    for (int i = 0; i < snw_frames; ++i)
    {
        command.transform.position.y += 0.008;
        CHECK_INT(snwSim_Push(stage.sim, &command, NULL), snw_ok);
        CHECK(snwFleshStage_Step(&stage, &watch));
    }
    CHECK(watch.speedMost < 12);
    snwFleshStage_Close(&stage);
}

// What a method does not do is told, not left out.
TEST(fleshbench, methodsWithoutHandlesSaySo)
{
    snwFleshStage stage;
    snwStormResult storm;
    snwMessage message = {0};
    snwStormDef def = {.method = "apd", .hand = snw_stormHandle, .seedCount = 1};
    REQUIRE(snwFleshStage_Open(&stage, snwMakeStressScene(true), NULL) >= 0);
    CHECK_INT(snwFleshStage_Storm(&stage, &def, &storm, &message), snw_errorUnsupported);
    CHECK(message.text[0] != 0);
    snwFleshStage_Close(&stage);
}

// ---------------------------------------------------------------------------------------------------------------------
// Stress states

static const struct
{
    int law; // apd.law, or that of skelfem, to which bones are flesh
    int substeps;
    unsigned kinds[2]; // bits of the states, without bones and with, that recover
} s_stresses[] = {
    {2, 1, {0x3F, 0x3F}},
    {2, 4, {0x3F, 0x3F}},
    {snw_stressSkelfem, 4, {0x3F, 0}},
};

TEST_HEAVY(fleshbench, stressStatesRecover)
{
    for (int bones = 0; bones < 2; ++bones)
    {
        snwFleshStage stage;
        REQUIRE(snwFleshStage_Open(&stage, snwMakeStressScene(bones), NULL) >= 0);
        for (size_t i = 0; i < sizeof s_stresses / sizeof *s_stresses; ++i)
            for (int kind = 0; kind < snw_stressKindCount; ++kind)
            {
                snwStressDef def = {s_stresses[i].law, (snwStressKind)kind, bones, s_stresses[i].substeps};
                snwStressResult result;
                if ((s_stresses[i].kinds[bones] >> kind & 1) == 0)
                    continue;
                REQUIRE(snwFleshStage_Stress(&stage, &def, &result, NULL) >= 0);
                CHECK(result.frames > 1);
                if (result.diverged || !(result.left <= snwStressRecovered))
                    snwTest_Fail(__FILE__, __LINE__, "%s%s, %d substeps: %s, %g is left", snwStressNames[kind],
                        bones ? " with bones" : "", def.substeps, result.diverged ? "diverged" : "slow", result.left);
            }
        snwFleshStage_Close(&stage);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// All else as rows

// Every row with a target passes. Returns how many there are.
static int CheckRows(const char* only, const char* method, bool full)
{
    snwBenchReport report = {.bench = "flesh"};
    snwBenchOptions options = snwDefaultBenchOptions();
    snwMessage message = {0};
    int judged = 0;
    options.only = only;
    options.method = method;
    options.full = full;
    options.runs = 1;
    if (snwFleshBench.run(&options, &report, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", only, message.text);
    for (int i = 0; i < report.count; ++i)
    {
        const snwBenchRow* row = &report.rows[i];
        judged += snwBenchRow_Passes(row) >= 0;
        if (snwBenchRow_Passes(row) == 0)
            snwTest_Fail(__FILE__, __LINE__, "%s, %s: %s is %g, not %s %g (%s)", row->caseName, row->method,
                row->metric, row->value, row->op, row->target, row->note);
    }
    snwBenchReport_Free(&report);
    return judged;
}

typedef struct Row
{
    const char *only, *method; // of `sinew bench flesh --case ONLY --method METHOD`
    bool holds;
} Row;

static void CheckHolding(const Row* rows, int count)
{
    for (int i = 0; i < count; ++i)
        if (rows[i].holds)
            CHECK(CheckRows(rows[i].only, rows[i].method, false) > 0);
}

TEST_HEAVY(fleshbench, dropsGainNoEnergy)
{
    static const Row s_rows[] = {
        {"energy/jello", "pbcd", true},
        {"energy/jello", "apd", true},
    };
    CheckHolding(s_rows, sizeof s_rows / sizeof *s_rows);
}

// Between two bones there is no flesh that could hold an element open: when a dropped monster folds its joints,
// elements there had -1.7 of their volume, in 15 of these frames.
TEST_HEAVY(fleshbench, bonesAreHeldApartWhereJointsFold)
{
    snwFleshStage stage = {0};
    json_t* scene = snwMakeFleshScene("monster", 4000);
    json_t* body = json_array_get(json_object_get(scene, "bodies"), 0);
    json_object_set_new(body, "position", json_pack("[fff]", 0.0, 0.8, 0.0));
    REQUIRE(snwFleshStage_Open(&stage, scene, NULL) >= 0);
    REQUIRE(snwFleshStage_Start(&stage, &(snwFleshRun){.method = "apd"}, NULL) >= 0);
    snwFleshWatch watch = snwFleshStage_StartWatch(&stage);
    CHECK(snwFleshStage_Play(&stage, &watch, 0.75));
    CHECK(watch.stretchMost > 0.1); // it fell
    CHECK(watch.least > -0.4 && watch.invertedFrames <= 6);
    snwFleshStage_Close(&stage);
}

TEST_HEAVY(fleshbench, motionsLeaveFleshWhole)
{
    static const Row s_rows[] = {
        {"clips/arm twisted 170, motion 3x", "pbcd", true},
        {"clips/elbow bent 160, motion 1x", "pbcd", true},
        {"clips/elbow bent 160, motion 3x", "apd", true},
    };
    CheckHolding(s_rows, sizeof s_rows / sizeof *s_rows);
}

TEST_HEAVY(fleshbench, barsSagByTheirModulus)
{
    static const Row s_rows[] = {
        {"sag/1e+05", "pbcd", true},
        {"sag/1e+07", "apd", true},
        {"sag/1e+07", "pbcd", false},
        {"sag/1e+07", "rigpbd", false},
    };
    CheckHolding(s_rows, sizeof s_rows / sizeof *s_rows);
}

TEST_HEAVY(fleshbench, fallsAndFlightsAreExactAnywhere)
{
    static const Row s_rows[] = {
        {"fall/fall, a sphere, 4 km", "apd", true},
        {"fall/fall, a sphere, 4 km", "pbcd", true},
        {"fall/fall, a sphere, 4 km", "rigpbd", true},
        {"fall/flight", "apd", true},
        {"fall/flight", "pbcd", true},
        {"fall/flight", "pbd", true},
        {"fall/flight", "rigpbd", true},
    };
    CheckHolding(s_rows, sizeof s_rows / sizeof *s_rows);
}

TEST_HEAVY(fleshbench, sizesMoveAlike)
{
    static const Row s_rows[] = {
        {"scale/scale", "pbd", true},
        {"scale/scale", "apd", true},
        {"scale/scale", "pbcd", true},
        {"scale/scale", "rigpbd", true},
        {"scale/block", "pbd", true},
        {"scale/block", "apd", true},
        {"scale/block", "pbcd", true},
        {"scale/block", "rigpbd", true},
    };
    CheckHolding(s_rows, sizeof s_rows / sizeof *s_rows);
}

TEST_HEAVY(fleshbench, absurdScenesEndCalmOrInWords)
{
    static const Row s_rows[] = {
        {"absurd", "pbd", true},
        {"absurd", "apd", true},
        {"absurd", "pbcd", true},
        {"absurd", "rigpbd", true},
        {"absurd/a pin jumps", "pbcd", true},
    };
    CheckHolding(s_rows, sizeof s_rows / sizeof *s_rows);
}

// Small ones: the whole list takes minutes.
TEST_HEAVY(fleshbench, shippedScenesEndRightSideOut)
{
    static const Row s_rows[] = {
        {"scenes/bar", "pbd", true},
        {"scenes/rig-worm", "rigpbd", true},
        {"scenes/cantilever", "apd", true},
        {"scenes/motor", "apd", true},
        {"scenes/snail", "apd", true},
        {"scenes/wall", "pbcd", true},
    };
    CheckHolding(s_rows, sizeof s_rows / sizeof *s_rows);
}

// A new scene needs a row for each method that it has settings for.
TEST(fleshbench, everyShippedSceneIsWatched)
{
    DIR* folder = opendir(SNW_SOURCE_DIR "/scenes");
    REQUIRE(folder != NULL);
    for (struct dirent* entry; (entry = readdir(folder)) != NULL;)
    {
        char path[512], prefix[24];
        char* dot = strstr(entry->d_name, ".json");
        if (dot == NULL)
            continue;
        snprintf(path, sizeof path, SNW_SOURCE_DIR "/scenes/%s", entry->d_name);
        *dot = 0;
        json_t* scene = json_load_file(path, 0, NULL);
        for (int m = 0; m < snwMethodCount(); ++m)
        {
            const char *method = snwMethod_GetInfo(m).name, *key;
            json_t* value;
            snprintf(prefix, sizeof prefix, "%s.", method);
            if (strcmp(method, "softcontact") == 0) // what is inside only goes along with its bones
                continue;
            bool named = strcmp(json_string_value(json_object_get(scene, "method")), method) == 0, watched = false;
            json_object_foreach(json_object_get(scene, "settings"), key, value)
                named = named || strstr(key, prefix) == key;
            for (const snwFleshScene* row = snwFleshScenes; row->name != NULL; ++row)
                watched = watched || (strcmp(row->name, entry->d_name) == 0 && strcmp(row->method, method) == 0);
            if (named != watched)
                snwTest_Fail(__FILE__, __LINE__, "%s with %s is %s, but %s", entry->d_name, method,
                    named ? "named" : "not named", watched ? "watched" : "not watched");
        }
        json_decref(scene);
    }
    closedir(folder);
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

typedef struct Part
{
    const char *name, *method;
    bool holds;
} Part;

static void CheckWhole(const Part* part)
{
    if (!part->holds)
        SKIP("it does not hold yet");
    CHECK(CheckRows(part->name, part->method, true) > 0);
}

TEST_LONG(fleshbench, everyStormOfApd)
{
    CheckWhole(&(Part){"storm", "apd", false});
}

TEST_LONG(fleshbench, everyStormOfPbcd)
{
    CheckWhole(&(Part){"storm", "pbcd", false});
}

TEST_LONG(fleshbench, everyStormOfRigpbd)
{
    CheckWhole(&(Part){"storm", "rigpbd", false});
}

TEST_LONG(fleshbench, everyStormOfSkelfem)
{
    CheckWhole(&(Part){"storm", "skelfem", false});
}

TEST_LONG(fleshbench, everyMotion)
{
    CheckWhole(&(Part){"clips", NULL, false});
}

TEST_LONG(fleshbench, everyDrop)
{
    CheckWhole(&(Part){"energy", NULL, false});
}

TEST_LONG(fleshbench, everyShippedScene)
{
    CheckWhole(&(Part){"scenes", NULL, false});
}

TEST_LONG(fleshbench, everyStressState)
{
    CheckWhole(&(Part){"stress", NULL, false});
}

TEST_LONG(fleshbench, everyBar)
{
    CheckWhole(&(Part){"sag", NULL, false});
    CheckWhole(&(Part){"fall", NULL, false});
    CheckWhole(&(Part){"scale", NULL, false});
    CheckWhole(&(Part){"absurd", NULL, false});
}
