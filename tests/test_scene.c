// Scene files: every class of mistake with its message, round trips, the schema, memory that runs out.

#include "fixture.h"
#include "sim/character.h"
#include "test.h"

#include "scene/file.h"
#include "scene/text.h"
#include "scene/words.h"
#include "sim/method.h"
#include "sim/scene.h"
#include "sinew/tools.h"

#include <dirent.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

static snwContext* NewContext(void)
{
    snwContextDef def = snwDefaultContextDef();
    snwContext* context = NULL;
    def.threadCount = 1;
    snwCreateContext(&def, &context, NULL);
    return context;
}

typedef struct Outcome
{
    snwResult result;
    char words[1024];
    uint64_t hash; // 0 if there is no scene
} Outcome;

static Outcome Parse(const char* text, const snwSceneOptions* options)
{
    Outcome outcome = {0};
    snwMessage message = {0};
    snwSceneFile file;
    snwContext* context = NewContext();
    outcome.result = snwSceneFile_Parse(context, text, strlen(text), "scene.json", options, &file, &message);
    if (outcome.result != snw_ok)
        snwMessage_Format(&message, outcome.words, sizeof outcome.words);
    outcome.hash = file.scene != NULL ? snwScene_Hash(file.scene) : 0;
    if ((outcome.result < 0) != (file.scene == NULL))
        snwTest_Fail(__FILE__, __LINE__, "result %d and scene do not agree", (int)outcome.result);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
    return outcome;
}

#define BALL  "{\"shape\": \"ball\", \"cells\": [4, 4, 4]}"
#define BODY  "{\"name\": \"b\", \"character\": " BALL "}"
#define SCENE "{\"sinew\": 1, \"bodies\": [" BODY "]"

// The text fails as bad input, and its message has this part.
#define CHECK_FAILS(text, part)                                                                                        \
    do                                                                                                                 \
    {                                                                                                                  \
        Outcome failed = Parse(text, NULL);                                                                            \
        CHECK_INT(failed.result, snw_errorInput);                                                                      \
        CHECK_CONTAINS(failed.words, part);                                                                            \
    } while (0)

static const char s_rich[] =
    "{\"sinew\": 1, \"name\": \"rich\", \"method\": \"pbd\", \"gravity\": [0, -1.1, 0.3], \"rate\": 50, \"duration\": "
    "2,"
    " \"seed\": 9223372036854775807, \"settings\": {\"sim.substeps\": 2, \"pbd.stretch\": 0.1},"
    " \"characters\": {\"soft\": {\"shape\": \"block\", \"size\": [0.1, 0.2, 0.3], \"cells\": [2, 2, 2],"
    "   \"material\": {\"young\": 12345.678}, \"color\": \"#ff8000\"}},"
    " \"bodies\": ["
    "   {\"name\": \"one\", \"character\": \"soft\", \"position\": [0.1, 1, 0], \"angles\": [10, 20, 30]},"
    "   {\"name\": \"two\", \"character\": \"soft\", \"velocity\": [1e-300, 0.1, -0.0], \"rotation\": [0, 0.6, 0, "
    "0.8]},"
    "   {\"name\": \"three\", \"character\": {\"shape\": \"spring\", \"mass\": 2}},"
    "   {\"name\": \"soft\", \"character\": " BALL "}],"
    " \"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\"}, {\"name\": \"s\", \"kind\": \"sphere\", \"radius\": "
    "0.3},"
    "   {\"name\": \"x\", \"kind\": \"box\", \"half_size\": [0.1, 0.2, 0.3], \"angles\": [0, 45, 0]},"
    "   {\"name\": \"c\", \"kind\": \"capsule\", \"radius\": 0.1, \"half_length\": 0.4, \"friction\": 0}],"
    " \"props\": [{\"name\": \"p\", \"kind\": \"box\", \"half_size\": [1, 1, 1], \"density\": 10}],"
    " \"pins\": [{\"name\": \"pin\", \"body\": \"one\", \"lower\": [-1, -1, -1], \"upper\": [1, 1, 1], \"held\": "
    "false}],"
    " \"clips\": [{\"pin\": \"pin\", \"loop\": true, \"interpolation\": \"smooth\","
    "   \"keys\": [{\"time\": 0}, {\"time\": 0.5, \"position\": [0, 1, 0], \"angles\": [0, 0, 90]}]},"
    "   {\"collider\": \"s\", \"keys\": [{\"time\": 1}]}],"
    " \"commands\": [{\"step\": 7, \"kind\": \"push\", \"body\": \"two\", \"force\": [0, 0.1, 0], \"duration\": 0.3},"
    "   {\"step\": 3, \"kind\": \"pin\", \"pin\": \"pin\"}, {\"step\": 3, \"kind\": \"gravity\", \"vector\": [0, 0, "
    "0]},"
    "   {\"step\": 4, \"kind\": \"param\", \"name\": \"pbd.iterations\", \"value\": 3}],"
    " \"camera\": {\"position\": [0, 1, 5], \"target\": [0, 0.5, 0]}}";

// ---------------------------------------------------------------------------------------------------------------------
// Words

TEST(scene, wordDistance)
{
    CHECK_INT(snwWordDistance("gravity", "gravity"), 0);
    CHECK_INT(snwWordDistance("gravitiy", "gravity"), 1);
    CHECK_INT(snwWordDistance("grvaity", "gravity"), 1); // one swap
    CHECK_INT(snwWordDistance("", "abc"), 3);
    CHECK_INT(snwWordDistance("kitten", "sitting"), 3);
}

TEST(scene, quoteIsShortAndWhole)
{
    char text[200] = "";
    for (int i = 0; i < 60; ++i)
        strcat(text, "\xc3\xa4"); // two bytes each
    snwQuote quote = snwQuoteWord(text);
    CHECK(strlen(quote.text) <= snw_maxQuote + 3);
    CHECK_INT(strlen(quote.text) % 2, 1); // whole characters and three dots
    CHECK(strcmp(snwQuoteWord("a\nb").text, "a?b") == 0);
}

// A browser drops the whole connection over a text that is none.
TEST(scene, writtenTextIsAlwaysUtf8)
{
    char buffer[64];
    snwText text = snwFixedText(buffer, sizeof buffer);
    snwText_String(&text, "\xc3\xa4\"\\\t\xde'\xff\xe2\x82\xac\xe2\x82");
    CHECK(strcmp(buffer, "\"\xc3\xa4\\\"\\\\\\u0009?'?\xe2\x82\xac??\"") == 0);
    json_t* back = json_loadb(buffer, strlen(buffer), JSON_DECODE_ANY, NULL);
    CHECK(back != NULL);
    json_decref(back);
}

// ---------------------------------------------------------------------------------------------------------------------
// Mistakes

TEST(scene, smallest)
{
    Outcome outcome = Parse("{\"sinew\": 1}", NULL);
    CHECK_INT(outcome.result, snw_ok);
    CHECK(outcome.hash != 0);
}

TEST(scene, syntax)
{
    CHECK_FAILS("", "scene.json: ");
    CHECK_FAILS("[1, 2", "scene.json: ");
    CHECK_FAILS("[]", "must be an object, is a list");
    CHECK_FAILS("{\"sinew\": 1,\n  \"rate\": }", "line 2, column");
    CHECK_FAILS("{\"sinew\": 1, \"rate\": NaN}", "line 1, column");
    CHECK_FAILS("{\"sinew\": 1, \"rate\": 1e999}", "overflow");
    CHECK_FAILS("{\"sinew\": 1, \"seed\": 99999999999999999999}", "big");
    CHECK_FAILS("{\"sinew\": 1, \"rate\": 60, \"rate\": 61}", "each key may occur once");
    CHECK_FAILS("{\"sinew\": 1} x", "scene.json: line 1");
    CHECK_FAILS("{\"sinew\": 1, \"name\": \"\xff\"}", "scene.json: line 1");
}

TEST(scene, syntaxHints)
{
    CHECK_FAILS("{\"sinew\": 1,}", "remove the comma");
    CHECK_FAILS("{\"sinew\": 1, \"bodies\": [1,]}", "remove the comma");
    CHECK_FAILS("{\"sinew\": 1 \"name\": \"a\"}", "comma missing");
    CHECK_FAILS("{\"sinew\": 1, \"gravity\": [0 1]}", "comma missing");
    CHECK_FAILS("{\"sinew\": 1, // one\n}", "no comments");
    CHECK_FAILS("{'sinew': 1}", "double quotes");
    CHECK_FAILS("{sinew: 1}", "double quotes");
    CHECK_FAILS("{\"sinew\": 1", "close every {");
    CHECK_FAILS("{\"name\": \"a\"}", "begin with \"sinew\": 1");
    CHECK_FAILS("{\"sinew\": 1, \"rate\": \"60 Hz\"}", "a plain number in SI units, without quotes");
    CHECK_INT(Parse("\xEF\xBB\xBF{\"sinew\": 1}", NULL).result, snw_ok);
}

TEST(scene, schemaKeyIsIgnored)
{
    static const char s_long[] =
        "{\"sinew\": 1, \"$schema\": \"https://example.org/a/path/that/is/longer/than/any/name/"
        "may/be/in/a/scene/because/it/is/an/address/and/not/a/name/scene.schema.json\"}";
    Outcome outcome = Parse(s_long, NULL);
    CHECK_INT(outcome.result, snw_ok);
    CHECK(outcome.hash == Parse("{\"sinew\": 1}", NULL).hash);
    CHECK_FAILS("{\"sinew\": 1, \"$schema\": 3}", "$schema: must be a text");
}

TEST(scene, descriptionIsKept)
{
    static const char s_text[] = "{\"sinew\": 1, \"description\": \"what \\\"it\\\" shows\"}";
    snwContext* context = NewContext();
    snwSceneFile file, again;
    char* text = NULL;
    size_t size = 0;
    REQUIRE(snwSceneFile_Parse(context, s_text, strlen(s_text), "a", NULL, &file, NULL) == snw_ok);
    CHECK(strcmp(file.description, "what \"it\" shows") == 0);
    REQUIRE(snwSceneFile_Format(context, &file, &text, &size, NULL) == snw_ok);
    REQUIRE(snwSceneFile_Parse(context, text, size, "b", NULL, &again, NULL) == snw_ok);
    CHECK(strcmp(again.description, file.description) == 0);
    snwContext_Free(context, text);
    snwSceneFile_Close(&file);
    snwSceneFile_Close(&again);
    snwDestroyContext(context);
}

TEST(scene, deepNesting)
{
    static char text[200001];
    memset(text, '[', 100000);
    memset(text + 100000, ']', 100000);
    CHECK_FAILS(text, "nested deeper than 32");
}

TEST(scene, unknownKeys)
{
    CHECK_FAILS("{\"sinew\": 1, \"gravitiy\": [0, 0, 0]}", "unknown key 'gravitiy' (did you mean 'gravity'?)");
    CHECK_FAILS("{\"sinew\": 1, \"quux\": 1}", "known: sinew, name, method");
    CHECK_FAILS(SCENE ", \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\", \"frction\": 1}]}",
        "scene.json: colliders[0]: unknown key 'frction' (did you mean 'friction'?)");
    CHECK_FAILS(SCENE ", \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\", \"radius\": 1}]}",
        "key 'radius' does not belong to collider 'plane'");
    CHECK_FAILS(SCENE ", \"colliders\": [{\"name\": \"g\", \"kind\": \"plan\"}]}", "did you mean 'plane'?");
}

TEST(scene, missingKeys)
{
    CHECK_FAILS("{}", "key 'sinew' is missing");
    CHECK_FAILS("{\"sinew\": 2}", "sinew: must be 1..1, is 2");
    CHECK_FAILS("{\"sinew\": 1, \"bodies\": [{\"name\": \"b\"}]}", "bodies[0]: key 'character' is missing");
    CHECK_FAILS("{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {}}]}", "does not say what it is");
    CHECK_FAILS("{\"sinew\": 1, \"colliders\": [{\"name\": \"g\"}]}", "key 'kind' is missing");
}

TEST(scene, rangesAndTypes)
{
    CHECK_FAILS("{\"sinew\": 1, \"bodies\": [" BODY
                ", {\"name\": \"c\", \"character\": {\"shape\": \"bar\", \"cells\": "
                "[-3, 1, 1]}}]}",
        "scene.json: bodies[1].character.cells[0]: must be 1..512, is -3");
    CHECK_FAILS("{\"sinew\": 1, \"rate\": 0}", "rate: must be 1..100000, is 0");
    CHECK_FAILS("{\"sinew\": 1, \"rate\": \"fast\"}", "rate: must be a number, is a text");
    CHECK_FAILS("{\"sinew\": 1, \"gravity\": [0, 0]}", "gravity: must have 3 numbers, has 2");
    CHECK_FAILS("{\"sinew\": 1, \"gravity\": 9.81}", "gravity: must be a list of 3 numbers, is a number");
    CHECK_FAILS("{\"sinew\": 1, \"gravity\": [0, null, 0]}", "gravity[1]: must be a number, is null");
    CHECK_FAILS("{\"sinew\": 1, \"seed\": -1}", "seed: must be 0 or more");
    CHECK_FAILS("{\"sinew\": 1, \"seed\": 1.5}", "seed: must be a whole number");
    CHECK_FAILS("{\"sinew\": 1, \"name\": \"\"}", "name: must have 1..127 bytes, has 0");
    CHECK_FAILS("{\"sinew\": 1, \"bodies\": {}}", "bodies: must be a list, is an object");
    CHECK_FAILS("{\"sinew\": 1, \"rate\": 100000, \"duration\": 1000000}", "more than 100 million frames");
    CHECK_FAILS("{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": \"block\", \"cells\": [512, "
                "512, 512]}}]}",
        "805.3 million tetrahedra would take 187.5 GiB");
}

// A short text may ask for more than there is: it is told before any memory is taken, whatever it asks by.
TEST(scene, sizesAreEstimatedBeforeMemoryIsTaken)
{
    static const char* const s_sizes[] = {"\"vertices\": 3000000", "\"elastic_vertices\": 3000000",
        "\"skin_vertices\": 3000000", "\"tets\": 18000000", "\"hexes\": 18000000"};
    char text[512];
    snwSceneOptions options = snwDefaultSceneOptions();
    for (size_t i = 0; i < sizeof s_sizes / sizeof *s_sizes; ++i)
    {
        snprintf(text, sizeof text,
            "{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"blueprint\": \"cow\", "
            "\"size\": {%s}}}]}",
            s_sizes[i]);
        CHECK_CONTAINS(Parse(text, &options).words, "GiB, more than is left for bodies");
    }
    options.memory = 1e-4; // 429 tets
    CHECK_INT(Parse(SCENE "}", &options).result, snw_ok);
    snprintf(text, sizeof text,
        "{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": "
        "\"block\", \"cells\": [8, 8, 8]}}]}");
    CHECK_CONTAINS(Parse(text, &options).words, "--memory");
    options.memory = 1e-3;
    CHECK_INT(Parse(text, &options).result, snw_ok);
}

TEST(scene, tooMany)
{
    static char s_text[32768] = "{\"sinew\": 1, \"colliders\": [1";
    size_t used = strlen(s_text);
    for (int i = 0; i < 4096; ++i)
        used += (size_t)sprintf(s_text + used, ",1");
    sprintf(s_text + used, "]}");
    CHECK_FAILS(s_text, "colliders: has 4097 items; at most 4096 are read");
}

TEST(scene, rotations)
{
    CHECK_FAILS("{\"sinew\": 1, \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\", \"rotation\": [0, 0, 0, 0]}]}",
        "has no direction");
    CHECK_FAILS("{\"sinew\": 1, \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\", \"rotation\": [0, 0, 0, 1], "
                "\"angles\": [0, 0, 0]}]}",
        "'rotation' and 'angles' say the same thing");
    Outcome off = Parse(
        "{\"sinew\": 1, \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\", \"rotation\": [0, 0, 0, 2]}]}", NULL);
    Outcome unit = Parse(
        "{\"sinew\": 1, \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\", \"rotation\": [0, 0, 0, 1]}]}", NULL);
    CHECK_INT(off.result, snw_warning);
    CHECK_CONTAINS(off.words, "colliders[0].rotation: rotation has length 2");
    CHECK(off.hash == unit.hash);
}

TEST(scene, anglesTurnTheRightWay)
{
    snwContext* context = NewContext();
    snwSceneFile file;
    const char* text =
        "{\"sinew\": 1, \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\", \"angles\": [90, 90, 0]}]}";
    REQUIRE(snwSceneFile_Parse(context, text, strlen(text), "", NULL, &file, NULL) == snw_ok);
    snwQuat q = snwScene_GetDef(file.scene)->colliders[0].transform.rotation;
    // About x first, then about y: y goes to z, and then to x.
    CHECK_NEAR(2 * (q.x * q.y - q.w * q.z), 1, 1e-12);
    CHECK_NEAR(q.x, 0.5, 1e-12);
    CHECK_NEAR(q.y, 0.5, 1e-12);
    CHECK_NEAR(q.z, -0.5, 1e-12);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

TEST(scene, names)
{
    CHECK_FAILS("{\"sinew\": 1, \"bodies\": [" BODY ", " BODY "]}", "bodies[1]: the name 'b' is taken by number 0");
    CHECK_FAILS("{\"sinew\": 1, \"characters\": {\"soft\": " BALL
                "}, \"bodies\": [{\"name\": \"b\", \"character\": \"sofd\"}]}",
        "bodies[0].character: there is no character 'sofd' (did you mean 'soft'?)");
    CHECK_FAILS(SCENE ", \"pins\": [{\"name\": \"p\", \"body\": \"c\", \"lower\": [0, 0, 0], \"upper\": [1, 1, 1]}]}",
        "pins[0].body: there is no body 'c'");
    CHECK_FAILS(SCENE ", \"pins\": [{\"name\": \"p\", \"body\": \"b\", \"lower\": [5, 5, 5], \"upper\": [6, 6, 6]}]}",
        "scene.json: pins[0]: no vertex");
    CHECK_FAILS(SCENE ", \"clips\": [{\"pin\": \"tip\", \"keys\": [{\"time\": 0}]}]}", "clips[0].pin: there is no pin");
    CHECK_FAILS(SCENE ", \"clips\": [{\"body\": \"x\", \"joint\": 0, \"keys\": [{\"time\": 0}]}]}",
        "clips[0].body: there is no body 'x'");
    CHECK_FAILS(SCENE ", \"clips\": [{\"body\": \"b\", \"joint\": 0, \"keys\": [{\"time\": 0}]}]}",
        "clips[0].joint: the body has no joint");
    CHECK_FAILS(SCENE ", \"clips\": [{\"keys\": [{\"time\": 0}]}]}", "must move one of");
    CHECK_FAILS(SCENE ", \"method\": \"pdb\"}", "there is no method 'pdb' (did you mean 'pbd'?)");
}

TEST(scene, clips)
{
    const char* ground = SCENE ", \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\"}], \"clips\": [{\"collider\": "
                               "\"g\", \"keys\": [%s]}]}";
    char text[1024];
    snprintf(text, sizeof text, ground, "");
    CHECK_FAILS(text, "clips[0]: must have at least one key");
    snprintf(text, sizeof text, ground, "{\"time\": 1}, {\"time\": 1}");
    CHECK_FAILS(text, "clips[0].keys[1]: time must be later than 1");
    snprintf(text, sizeof text, ground, "{\"tim\": 1}");
    CHECK_FAILS(text, "clips[0].keys[0]: unknown key 'tim' (did you mean 'time'?)");
}

TEST(scene, settings)
{
    CHECK_FAILS("{\"sinew\": 1, \"settings\": {\"pbd.iteration\": 3}}",
        "settings: there is no parameter 'pbd.iteration' (did you mean 'pbd.iterations'?)");
    CHECK_FAILS("{\"sinew\": 1, \"settings\": {\"pbd.iterations\": 0}}", "settings.pbd.iterations: must be 1..");
    CHECK_FAILS("{\"sinew\": 1, \"settings\": {\"pbd.iterations\": 2.5}}", "must be a whole number");
    Outcome file = Parse("{\"sinew\": 1, \"settings\": {\"pbd.iterations\": 7}}", NULL);
    snwSceneOptions options = snwDefaultSceneOptions();
    snwSetting setting = {"pbd.iterations", 7};
    options.settings = &setting;
    options.settingCount = 1;
    Outcome both = Parse("{\"sinew\": 1, \"settings\": {\"pbd.iterations\": 9}}", &options);
    CHECK(file.hash != 0 && file.hash == both.hash);
    setting.name = "pbd.iteratoins";
    Outcome wrong = Parse("{\"sinew\": 1}", &options);
    CHECK_INT(wrong.result, snw_errorInput);
    CHECK_CONTAINS(wrong.words, "did you mean 'pbd.iterations'?");
}

// What a setting changes is what the scene would have said: the same scene to the last bit, and when it is written.
TEST(scene, materialsAreSettingsToo)
{
    static const char s_soft[] = "{\"sinew\": 1, \"characters\": {\"soft\": " BALL "}, \"bodies\": ["
                                 "{\"name\": \"left\", \"character\": \"soft\"}, "
                                 "{\"name\": \"right.2\", \"character\": \"soft\", \"position\": [3, 0, 0]}]}";
    snwSetting settings[] = {{"material.young", 7000}, {"material.right.2.density", 300}};
    snwSceneOptions options = snwDefaultSceneOptions();
    options.settings = settings;
    options.settingCount = 2;
    snwContext* context = NewContext();
    snwSceneFile file, again;
    snwMessage message = {0};
    char* text = NULL;
    size_t size = 0;
    REQUIRE(snwSceneFile_Parse(context, s_soft, sizeof s_soft - 1, "scene.json", &options, &file, &message) == snw_ok);
    const snwSceneDef* def = snwScene_GetDef(file.scene);
    const snwMaterial* left = snwCharacter_GetDef(def->bodies[0].character)->materials;
    const snwMaterial* right = snwCharacter_GetDef(def->bodies[1].character)->materials;
    CHECK_NEAR(left->young, 7000, 0);
    CHECK_NEAR(left->density, 1000, 0);
    CHECK_NEAR(right->young, 7000, 0);
    CHECK_NEAR(right->density, 300, 0);

    REQUIRE(snwSceneFile_Format(context, &file, &text, &size, &message) == snw_ok);
    REQUIRE(snwSceneFile_Parse(context, text, size, "again.json", NULL, &again, &message) == snw_ok);
    CHECK(snwScene_Hash(file.scene) == snwScene_Hash(again.scene));
    snwFree(context, text);
    snwSceneFile_Close(&file);
    snwSceneFile_Close(&again);
    snwDestroyContext(context);

    settings[0] = (snwSetting){"material.rihgt.2.young", 1000};
    CHECK_CONTAINS(Parse(s_soft, &options).words, "material.rihgt.2.young: there is no body 'rihgt'");
    settings[0] = (snwSetting){"material.1.young", 1000};
    CHECK_CONTAINS(Parse(s_soft, &options).words, "there is no region 1");
    settings[0] = (snwSetting){"material.young", -1000};
    CHECK_CONTAINS(Parse(s_soft, &options).words, "material.young: must be");
    settings[0] = (snwSetting){"material.yuong", 1000};
    CHECK_CONTAINS(Parse(s_soft, &options).words, "a material has no such key");
}

TEST(scene, regionsOfACharacterGetMaterials)
{
#define USE "{\"blueprint\": \"bracelet\", \"size\": {\"tets\": 600}"
    Outcome plain = Parse("{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": " USE "}}]}", NULL);
    Outcome said = Parse("{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": " USE
                         ", \"materials\": [{\"region\": 0, \"young\": 4321.0}]}}]}",
        NULL);
    snwSetting setting = {"material.b.0.young", 4321};
    snwSceneOptions options = snwDefaultSceneOptions();
    options.settings = &setting;
    options.settingCount = 1;
    Outcome set = Parse("{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": " USE "}}]}", &options);
    CHECK(plain.hash != 0 && said.hash != 0 && plain.hash != said.hash);

    // The hash sees the words, too: here are the numbers.
    snwContext* context = NewContext();
    snwSceneFile file;
    static const char s_text[] = "{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": " USE "}}]}";
    REQUIRE(snwSceneFile_Parse(context, s_text, sizeof s_text - 1, "scene.json", &options, &file, NULL) >= snw_ok);
    const snwMaterial* material = snwCharacter_GetDef(snwScene_GetDef(file.scene)->bodies[0].character)->materials;
    CHECK_NEAR(material->young, 4321, 0);
    CHECK(material->density > 0 && material->poisson > 0);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
    CHECK(said.hash == set.hash);
    CHECK_FAILS("{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": " USE
                ", \"materials\": [{\"region\": 9, \"young\": 4321.0}]}}]}",
        "materials[0]: there is no region 9");
#undef USE
}

TEST(scene, options)
{
    snwSceneOptions options = snwDefaultSceneOptions();
    options.hasSeed = true;
    options.seed = 5;
    options.duration = 3;
    Outcome changed = Parse("{\"sinew\": 1, \"seed\": 1, \"duration\": 1}", &options);
    Outcome same = Parse("{\"sinew\": 1, \"seed\": 5, \"duration\": 3}", NULL);
    CHECK(changed.hash != 0 && changed.hash == same.hash);
    options.method = "nothing";
    CHECK(Parse("{\"sinew\": 1}", &options).result < 0);
}

TEST(scene, commandsInScenes)
{
    CHECK_FAILS(
        SCENE ", \"commands\": [{\"kind\": \"push\", \"body\": \"b\"}]}", "commands[0]: key 'force' is missing");
    CHECK_FAILS(SCENE
        ", \"commands\": [{\"kind\": \"reset\"}, {\"kind\": \"drag\", \"body\": \"b\", \"vertex\": 99999}]}",
        "commands[1]: vertex must be");
    CHECK_FAILS(SCENE ", \"commands\": [{\"kind\": \"pin\", \"body\": \"b\"}]}", "'body' and 'vertex' belong together");
    CHECK_FAILS(SCENE ", \"commands\": [{\"kind\": \"shove\"}]}", "commands[0].kind: unknown word 'shove'");
}

// A script in any order is sorted quickly, and equal steps keep their order.
TEST(scene, longScript)
{
    enum
    {
        snw_testCommands = 30000
    };
    char* text = malloc(100 * snw_testCommands);
    REQUIRE(text != NULL);
    size_t used = (size_t)sprintf(text, "{\"sinew\": 1, \"commands\": [");
    for (int i = 0; i < snw_testCommands; ++i)
        used += (size_t)sprintf(text + used, "%s{\"step\": %d, \"kind\": \"gravity\", \"vector\": [0, %d, 0]}",
            i > 0 ? "," : "", (snw_testCommands - i) / 2, -i % 1000);
    sprintf(text + used, "]}");
    snwContext* context = NewContext();
    snwSceneFile file;
    CHECK_INT(snwSceneFile_Parse(context, text, strlen(text), "", NULL, &file, NULL), snw_ok);
    const snwCommand* commands = snwScene_GetDef(file.scene)->commands;
    CHECK_INT(commands[1].step, 1);
    CHECK_INT(commands[2].step, 1);
    CHECK(commands[1].vector.y > commands[2].vector.y);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
    free(text);
}

TEST(scene, files)
{
    snwContext* context = NewContext();
    snwSceneFile file;
    snwMessage message;
    CHECK_INT(snwSceneFile_Open(context, "/no/such/scene.json", NULL, &file, &message), snw_errorIo);
    CHECK_CONTAINS(message.text, "cannot open: No such file");
    CHECK(strcmp(message.file, "/no/such/scene.json") == 0);
    CHECK_INT(snwSceneFile_Open(context, snwTest_TempDir(), NULL, &file, &message), snw_errorIo);
    CHECK_CONTAINS(message.remedy, "folder");
    char* data = NULL;
    size_t size = 0;
    CHECK_INT(snwFile_Read(context, "/dev/zero", 1 << 20, &data, &size, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "too large");
    CHECK(data == NULL);
    snwDestroyContext(context);
}

TEST(scene, writeFiles)
{
    snwContext* context = NewContext();
    snwMessage message;
    char path[256], part[300], *data = NULL;
    size_t size = 0;
    struct stat info;
    snprintf(path, sizeof path, "%s/out.txt", snwTest_TempDir());
    snprintf(part, sizeof part, "%s.part", path);
    CHECK_INT(snwFile_Write(context, path, "one", 3, false, &message), snw_ok);
    CHECK_INT(snwFile_Write(context, path, "two", 3, false, &message), snw_errorIo);
    CHECK_CONTAINS(message.text, "exists already");
    CHECK_INT(snwFile_Write(context, path, "three", 5, true, &message), snw_ok);
    CHECK_INT(snwFile_Read(context, path, 100, &data, &size, &message), snw_ok);
    CHECK(size == 5 && strcmp(data, "three") == 0);
    CHECK(stat(part, &info) != 0);
    snwFree(context, data);
    CHECK_INT(snwFile_Write(context, "/no/such/folder/x", "", 0, true, &message), snw_errorIo);
    CHECK_INT(snwFile_Write(context, snwTest_TempDir(), "", 0, true, &message), snw_errorIo);
    CHECK_CONTAINS(message.remedy, "folder");
    CHECK_INT(snwFile_Write(context, "/dev/null", "", 0, true, &message), snw_errorIo); // not replaced, even by root
    CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    snwDestroyContext(context);
}

// A limit on the size of files stands in for a full disk.
TEST(scene, diskFull)
{
    struct rlimit limit, small;
    struct stat info;
    snwContext* context = NewContext();
    snwMessage message;
    static char s_data[65536];
    char path[256], part[300];
    snprintf(path, sizeof path, "%s/big", snwTest_TempDir());
    snprintf(part, sizeof part, "%s.part", path);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    small = limit;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_INT(snwFile_Write(context, path, s_data, sizeof s_data, false, &message), snw_errorIo);
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_CONTAINS(message.text, "cannot write");
    CHECK(stat(path, &info) != 0 && stat(part, &info) != 0);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Round trips

static void CheckRoundTrip(snwContext* context, const char* text, size_t size, const char* name)
{
    snwMessage message = {0};
    snwSceneFile file, again;
    char *written = NULL, *twice = NULL, words[1024] = "";
    size_t length = 0, twiceLength = 0;
    snwResult result = snwSceneFile_Parse(context, text, size, name, NULL, &file, &message);
    snwMessage_Format(&message, words, sizeof words);
    if (result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", words);
    REQUIRE(result >= 0);
    REQUIRE(snwSceneFile_Format(context, &file, &written, &length, &message) == snw_ok);
    result = snwSceneFile_Parse(context, written, length, "again", NULL, &again, &message);
    snwMessage_Format(&message, words, sizeof words);
    if (result != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s in\n%s", words, written);
    REQUIRE(result == snw_ok);
    CHECK(snwScene_Hash(file.scene) == snwScene_Hash(again.scene));
    CHECK(file.camera.automatic == again.camera.automatic && file.camera.fieldOfView == again.camera.fieldOfView);
    CHECK(memcmp(&file.camera.position, &again.camera.position, sizeof file.camera.position) == 0);
    CHECK(memcmp(&file.camera.target, &again.camera.target, sizeof file.camera.target) == 0);
    REQUIRE(snwSceneFile_Format(context, &again, &twice, &twiceLength, &message) == snw_ok);
    CHECK(length == twiceLength && strcmp(written, twice) == 0);
    snwContext_Free(context, written);
    snwContext_Free(context, twice);
    snwSceneFile_Close(&file);
    snwSceneFile_Close(&again);
}

// A round trip cannot see a value that goes to the wrong field both ways; this can. No two numbers are the same.
TEST(scene, valuesLandInTheirFields)
{
    static const char* text =
        "{\"sinew\": 1, \"name\": \"all\", \"gravity\": [1, 2, 3], \"rate\": 50, \"duration\": 6, \"seed\": 7,"
        "\"settings\": {\"pbd.stretch\": 0.25},"
        "\"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": \"block\", \"size\": [1.25, 1.5, 1.75], \"cells\": "
        "[2, 3, 4],"
        "\"material\": {\"density\": 901, \"young\": 902, \"poisson\": 0.125, \"damping\": 4.5}}, \"position\": [8, 9, "
        "10],"
        "\"rotation\": [0, 1, 0, 0], \"velocity\": [11, 12, 13], \"angular_velocity\": [14, 15, 16]}],"
        "\"colliders\": [{\"name\": \"c\", \"kind\": \"capsule\", \"radius\": 17, \"half_length\": 18, \"friction\": "
        "0.75,"
        "\"position\": [19, 20, 21]}, {\"name\": \"d\", \"kind\": \"box\", \"half_size\": [22, 23, 24]}],"
        "\"pins\": [{\"name\": \"p\", \"body\": \"b\", \"lower\": [-1, -2, -3], \"upper\": [4, 5, 6], \"held\": "
        "false}],"
        "\"clips\": [{\"collider\": \"d\", \"interpolation\": \"smooth\", \"loop\": true,"
        "\"keys\": [{\"time\": 0.5, \"position\": [25, 26, 27]}]}]}";
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneFile file;
    snwMessage message;
    REQUIRE(snwSceneFile_Parse(context, text, strlen(text), "all", NULL, &file, &message) == snw_ok);
    const snwSceneDef* def = snwScene_GetDef(file.scene);
    CHECK(def->gravity.x == 1 && def->gravity.y == 2 && def->gravity.z == 3 && def->rate == 50 && def->duration == 6);
    CHECK(def->seed == 7 && def->settingCount == 1 && def->settings[0].value == 0.25);
    const snwBodyDef* body = &def->bodies[0];
    CHECK(body->transform.position.x == 8 && body->transform.position.z == 10 && body->transform.rotation.y == 1);
    CHECK(body->velocity.y == 12 && body->angularVelocity.x == 14 && body->angularVelocity.z == 16);
    snwCharacterInfo info = snwCharacter_GetInfo(body->character);
    CHECK_INT(info.vertexCount, 3 * 4 * 5);
    CHECK_NEAR(info.upper.x - info.lower.x, 1.25, 1e-12);
    CHECK_NEAR(info.upper.z - info.lower.z, 1.75, 1e-12);
    CHECK_NEAR(info.mass, 901 * 1.25 * 1.5 * 1.75, 1e-6);
    const snwMaterial* material = &body->character->def.materials[0];
    CHECK(material->young == 902 && material->poisson == 0.125 && material->damping == 4.5);
    const snwColliderDef* colliders = def->colliders;
    CHECK(colliders[0].kind == snw_colliderCapsule && colliders[0].size.x == 17 && colliders[0].size.y == 18);
    CHECK(colliders[0].friction == 0.75 && colliders[0].transform.position.y == 20);
    CHECK(colliders[1].kind == snw_colliderBox && colliders[1].size.x == 22 && colliders[1].size.z == 24);
    CHECK(def->pins[0].lower.y == -2 && def->pins[0].upper.z == 6 && !def->pins[0].held);
    const snwClipDef* clip = &def->clips[0];
    CHECK(clip->target == snw_clipCollider && clip->index == 1 && clip->interpolation == snw_interpolateSmooth &&
          clip->loop);
    CHECK(clip->keys[0].time == 0.5 && clip->keys[0].transform.position.z == 27);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

static const char s_walker[] = "{\"sinew\": 1, \"name\": \"x\", \"bodies\": [{\"name\": \"b\", \"character\": "
                               "{\"blueprint\": \"biped\"}%s}]}";

static snwResult ParseWalker(snwContext* context, const char* motion, snwSceneFile* file, snwMessage* message)
{
    char text[256];
    snprintf(text, sizeof text, s_walker, motion);
    return snwSceneFile_Parse(context, text, strlen(text), "walker", NULL, file, message);
}

TEST_HEAVY(scene, bodiesNameTheirMotion)
{
    snwContext* context = NewContext();
    snwSceneFile walks, stands;
    snwMessage message = {0};
    REQUIRE(ParseWalker(context, ", \"motion\": \"walk\"", &walks, &message) == snw_ok);
    REQUIRE(ParseWalker(context, "", &stands, &message) == snw_ok);
    snwBodyDef body = snwScene_GetDef(walks.scene)->bodies[0];
    CHECK(strcmp(body.motion, "walk") == 0 && snwBodyDef_Motion(&body) == &body.character->def.motions[0]);
    CHECK(snwBodyDef_Motion(&snwScene_GetDef(stands.scene)->bodies[0]) == NULL);
    CHECK(snwScene_Hash(walks.scene) != snwScene_Hash(stands.scene));
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    simDef.scene = walks.scene;
    REQUIRE(snwCreateSim(context, &simDef, &sim, NULL) >= 0);
    CHECK(snwSim_BodyMotion(sim, 0) == snwBodyDef_Motion(&body));
    snwDestroySim(sim);
    snwSceneFile none;
    CHECK_INT(ParseWalker(context, ", \"motion\": \"wlak\"", &none, &message), snw_errorInput);
    CHECK_CONTAINS(message.place, "bodies[0].motion");
    CHECK_CONTAINS(message.remedy, "walk");

    snwSceneDef def = snwDefaultSceneDef();
    snwScene* scene = NULL;
    body.motion = "fly";
    def.bodies = &body;
    def.bodyCount = 1;
    CHECK_INT(snwCreateScene(context, &def, &scene, &message), snw_errorArgument);
    CHECK_CONTAINS(message.place, "bodies[0]");
    CHECK_CONTAINS(message.text, "fly");
    CHECK_CONTAINS(message.remedy, "walk");
    snwSceneFile_Close(&walks);
    snwSceneFile_Close(&stands);
    snwDestroyContext(context);
}

TEST_HEAVY(scene, bodiesKeepTheirMotionWhenWritten)
{
    snwContext* context = NewContext();
    char text[256];
    snprintf(text, sizeof text, s_walker, ", \"motion\": \"walk\"");
    CheckRoundTrip(context, text, strlen(text), "walker");
    snwDestroyContext(context);
}

// One of every kind, from the seed of the fuzzer; LoadScenes sends it through the round trip.
TEST(scene, everyKindOfColliderIsRead)
{
    snwContext* context = NewContext();
    char* text = NULL;
    size_t size = 0;
    snwSceneFile file;
    snwMessage message = {0};
    REQUIRE(snwFile_Read(context, SNW_SOURCE_DIR "/fuzz/seeds/scene/colliders.json", 1 << 20, &text, &size, NULL) ==
            snw_ok);
    CheckRoundTrip(context, text, size, "colliders");
    REQUIRE(snwSceneFile_Parse(context, text, size, "colliders", NULL, &file, &message) == snw_ok);
    const snwSceneDef* def = snwScene_GetDef(file.scene);
    CHECK_INT(def->colliderCount, snw_colliderKindCount);
    for (int i = 0; i < def->colliderCount; ++i)
        CHECK_INT(def->colliders[i].kind, i);
    const snwColliderDef *stairs = &def->colliders[snw_colliderStairs], *field = stairs + 1, *mesh = field + 1;
    CHECK(stairs->stepCount == 4 && stairs->size.x == 0.3 && stairs->size.y == 0.2 && stairs->size.z == 0.9);
    CHECK(field->columns == 5 && field->rows == 5 && field->size.x == 0.25 && field->heights[12] == 0.35);
    CHECK(mesh->vertexCount == 4 && mesh->triangleCount == 4 && mesh->vertices[2].y == 0.5);
    CHECK_INT(mesh->triangles[3][2], 3);
    snwSceneFile_Close(&file);
    snwFree(context, text);
    snwDestroyContext(context);
}

TEST(scene, collidersWithBadListsAreNamed)
{
    static const struct
    {
        const char *collider, *place, *words;
    } cases[] = {
        {"\"kind\": \"heightfield\"", "colliders[0]", "heights"},
        {"\"kind\": \"heightfield\", \"heights\": 3", "colliders[0].heights", "list"},
        {"\"kind\": \"heightfield\", \"heights\": [[1, 2], [1]]", "colliders[0].heights[1]", "2 numbers"},
        {"\"kind\": \"heightfield\", \"heights\": [[1, 2], [1, \"a\"]]", "colliders[0].heights[1][1]", "number"},
        {"\"kind\": \"heightfield\", \"heights\": [[], []]", "colliders[0].heights[0]", "0 numbers"},
        {"\"kind\": \"mesh\", \"vertices\": [[0, 0, 0]], \"triangles\": [[0, 0.5, 0]]", "colliders[0].triangles[0][1]",
            "whole"},
        {"\"kind\": \"mesh\", \"vertices\": [[0, 0]], \"triangles\": []", "colliders[0].vertices[0]", "3 numbers"},
        {"\"kind\": \"stairs\", \"radius\": 3", "colliders[0]", "radius"},
        {"\"kind\": \"stairs\", \"steps\": 0", "colliders[0].steps", "1"},
    };
    snwContext* context = NewContext();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        char text[512];
        snwSceneFile file;
        snwMessage message = {0};
        snprintf(text, sizeof text, "{\"sinew\": 1, \"name\": \"x\", \"colliders\": [{\"name\": \"c\", %s}]}",
            cases[i].collider);
        CHECK_INT(snwSceneFile_Parse(context, text, strlen(text), "x", NULL, &file, &message), snw_errorInput);
        CHECK_CONTAINS(message.place, cases[i].place);
        CHECK_CONTAINS(message.text, cases[i].words);
    }
    snwDestroyContext(context);
}

TEST(scene, roundTrip)
{
    snwContext* context = NewContext();
    CheckRoundTrip(context, s_rich, strlen(s_rich), "rich");
    snwDestroyContext(context);
}

TEST(scene, sharedCharacterIsMadeOnce)
{
    snwContext* context = NewContext();
    snwSceneFile file;
    REQUIRE(snwSceneFile_Parse(context, s_rich, strlen(s_rich), "rich", NULL, &file, NULL) == snw_ok);
    const snwSceneDef* def = snwScene_GetDef(file.scene);
    CHECK(def->bodies[0].character == def->bodies[1].character);
    CHECK(def->bodies[0].character != def->bodies[2].character);
    CHECK_NEAR(snwCharacter_GetInfo(def->bodies[0].character).color[0], 1, 1e-6);
    CHECK_NEAR(snwCharacter_GetInfo(def->bodies[0].character).color[1], 0.2158605, 1e-6); // sRGB 128
    CHECK(def->seed == INT64_MAX);
    CHECK(signbit(def->bodies[1].velocity.z));
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

// Scenes whose characters take long to mesh: the long test has them, the golden net with fewer elements.
static bool IsLarge(const char* text)
{
    static const char* const names[] = {"\"monster\"", "\"frog\"", "\"snail\"", "\"acrobat\"", "\"bunny\"",
        "\"mushroom\"", "\"ellipse\"", "\"fish-2d\"", "\"worm\"", "\"ghost-point\"", "\"octopus-2d\"", "\"rig-dragon\"",
        "\"rig-octopus\"", "\"rig-cow\"", "\"rig-manikin\"", "\"spot\"", "\"trex\"", "\"limits\"", "\"fourbar\"",
        "\"herd\"", "\"blub\"", "\"cantilever\"", "\"powered\"", "\"suzanne\""};
    bool large = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        large = large || strstr(text, names[i]) != NULL;
    return large;
}

static int LoadScenes(snwContext* context, const char* folder, bool large)
{
    DIR* list = opendir(folder);
    int count = 0;
    for (struct dirent* entry = NULL; list != NULL && (entry = readdir(list)) != NULL;)
    {
        char path[512], *text = NULL;
        size_t size = 0, length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        CHECK_INT(snwFile_Read(context, path, 1 << 20, &text, &size, NULL), snw_ok);
        if (IsLarge(text) == large)
            CheckRoundTrip(context, text, size, path);
        count += IsLarge(text) == large;
        snwFree(context, text);
    }
    if (list != NULL)
        closedir(list);
    return count;
}

TEST_LONG(scene, largeScenesLoad)
{
    snwContext* context = NewContext();
    CHECK(LoadScenes(context, SNW_SOURCE_DIR "/scenes", true) >= 5);
    snwDestroyContext(context);
}

TEST_HEAVY(scene, builtInScenesLoad)
{
    snwContext* context = NewContext();
    CHECK(LoadScenes(context, SNW_SOURCE_DIR "/scenes", false) >= 6);
    snwDestroyContext(context);
}

// The example of the documentation is a scene.
TEST(scene, documentedExample)
{
    snwContext* context = NewContext();
    char* text = NULL;
    size_t size = 0;
    REQUIRE(snwFile_Read(context, SNW_SOURCE_DIR "/docs/scene.md", 1 << 20, &text, &size, NULL) == snw_ok);
    const char* begin = strstr(text, "```json\n");
    const char* end = begin != NULL ? strstr(begin + 8, "```") : NULL;
    CHECK(end != NULL);
    if (end != NULL)
        CheckRoundTrip(context, begin + 8, (size_t)(end - begin - 8), "docs/scene.md");
    snwFree(context, text);
    snwDestroyContext(context);
}

TEST(scene, madeByAProgramCannotBeWritten)
{
    snwContext* context = NewContext();
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeSpring);
    snwBodyDef body = snwDefaultBodyDef();
    snwSceneDef def = snwDefaultSceneDef();
    snwSceneFile file = {.camera = snwDefaultCameraDef()};
    snwMessage message;
    char* text = NULL;
    size_t size = 0;
    REQUIRE(snwCreateShape(context, &shape, &body.character, NULL) == snw_ok);
    def.bodies = &body;
    def.bodyCount = 1;
    REQUIRE(snwCreateScene(context, &def, &file.scene, NULL) == snw_ok);
    CHECK_INT(snwSceneFile_Format(context, &file, &text, &size, &message), snw_errorUnsupported);
    CHECK_CONTAINS(message.text, "was made by a program");
    CHECK(text == NULL);
    snwSceneFile_Close(&file);
    snwCharacter_Release(body.character);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Schema

// The published file; with SNW_UPDATE set in the environment it is written anew.
TEST(scene, schemaIsUpToDate)
{
    static const char s_path[] = SNW_SOURCE_DIR "/docs/scene.schema.json";
    snwContext* context = NewContext();
    char *text = NULL, *published = NULL;
    size_t size = 0, publishedSize = 0;
    REQUIRE(snwSceneFile_Schema(context, &text, &size, NULL) == snw_ok);
    json_t* root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    CHECK(root != NULL);
    CHECK(json_object_get(json_object_get(root, "$defs"), "collider") != NULL);
    json_decref(root);
    if (getenv("SNW_UPDATE") != NULL)
        CHECK_INT(snwFile_Write(context, s_path, text, size, true, NULL), snw_ok);
    CHECK_INT(snwFile_Read(context, s_path, 1 << 20, &published, &publishedSize, NULL), snw_ok);
    if (published == NULL || publishedSize != size || strcmp(text, published) != 0)
        snwTest_Fail(
            __FILE__, __LINE__, "docs/scene.schema.json is old: SNW_UPDATE=1 sinew-tests scene.schemaIsUpToDate");
    snwContext_Free(context, text);
    snwFree(context, published);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Commands

static snwScene* RichScene(snwContext* context, snwSceneFile* file)
{
    return snwSceneFile_Parse(context, s_rich, strlen(s_rich), "rich", NULL, file, NULL) == snw_ok ? file->scene : NULL;
}

TEST(scene, commandsRoundTrip)
{
    static const char* const s_texts[] = {
        "{\"step\": 9007199254740993, \"kind\": \"pin\", \"pin\": \"pin\", \"position\": [0.1, 1e-17, -3]}",
        "{\"kind\": \"pin\", \"body\": \"two\", \"vertex\": 3, \"on\": false}",
        "{\"kind\": \"drag\", \"body\": \"one\", \"vertex\": 0, \"position\": [0.3, 0.1, 0.7], \"strength\": "
        "0.123456789}",
        "{\"kind\": \"drag\", \"body\": \"one\", \"vertex\": 0, \"position\": [0.3, 0.1, 0.7], \"radius\": 0.0123}",
        "{\"kind\": \"drag\", \"body\": \"one\", \"vertex\": 0, \"position\": [0.3, 0.1, 0.7], \"radius\": 0}",
        "{\"kind\": \"push\", \"body\": \"one\", \"vertex\": 2, \"force\": [1.1, 2.2, 3.3], \"duration\": 0.1}",
        "{\"kind\": \"push\", \"body\": \"one\", \"force\": [1.1, 2.2, 3.3]}",
        "{\"kind\": \"drag\", \"prop\": \"p\", \"position\": [0.3, 0.1, 0.7], \"strength\": 0.25}",
        "{\"kind\": \"push\", \"prop\": \"p\", \"force\": [1.1, 2.2, 3.3], \"duration\": 0.5}",
        "{\"kind\": \"material\", \"body\": \"two\", \"density\": 1100, \"young\": 3e4, \"poisson\": 0.3, \"damping\": "
        "0}",
        "{\"kind\": \"gravity\", \"vector\": [0, -1.62, 0]}",
        "{\"kind\": \"collider\", \"collider\": \"s\", \"position\": [1, 2, 3], \"rotation\": [0, 0.6, 0, 0.8]}",
        "{\"kind\": \"param\", \"name\": \"pbd.stretch\", \"value\": 0.7}",
        "{\"kind\": \"reset\"}",
    };
    snwContext* context = NewContext();
    snwSceneFile file;
    REQUIRE(RichScene(context, &file) != NULL);
    for (size_t i = 0; i < sizeof s_texts / sizeof *s_texts; ++i)
    {
        snwCommand command, again;
        snwMessage message;
        char text[1024];
        if (snwCommand_Parse(file.scene, s_texts[i], strlen(s_texts[i]), &command, &message) != snw_ok)
            snwTest_Fail(__FILE__, __LINE__, "%s: %s: %s", s_texts[i], message.place, message.text);
        int length = snwCommand_Format(file.scene, &command, text, sizeof text);
        CHECK(length > 0 && length < (int)sizeof text);
        CHECK_CONTAINS(text, snwCommandKind_Name(command.kind)); // files and engine use the same words
        CHECK_INT(snwCommand_Format(file.scene, &command, NULL, 0), length);
        CHECK_INT(snwCommand_Parse(file.scene, text, (size_t)length, &again, &message), snw_ok);
        CHECK_INT(command.step, again.step);
        CHECK(command.kind == again.kind && command.body == again.body && command.index == again.index);
        CHECK(command.on == again.on && command.mask == again.mask && command.value == again.value);
        CHECK(command.radius == again.radius);
        CHECK(memcmp(&command.vector, &again.vector, sizeof command.vector) == 0);
        CHECK(memcmp(&command.transform, &again.transform, sizeof command.transform) == 0);
        CHECK(memcmp(&command.material, &again.material, sizeof command.material) == 0);
    }
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

TEST(scene, commandMistakes)
{
    static const char* const s_cases[][2] = {
        {"{\"kind\": \"push\", \"body\": \"on\", \"force\": [0, 0, 0]}", "did you mean 'one'?"},
        {"{\"kind\": \"param\", \"name\": \"pbd.strech\", \"value\": 1}", "did you mean 'pbd.stretch'?"},
        {"{\"kind\": \"param\", \"name\": \"pbd.stretch\", \"value\": 7}", "must be 0..1, is 7"},
        {"{\"kind\": \"collider\", \"collider\": \"gruond\"}", "did you mean 'ground'?"},
        {"{\"kind\": \"handle\", \"body\": \"one\", \"handle\": \"hand\"}", "there is no handle 'hand'"},
        {"{\"kind\": \"pin\", \"pin\": \"pin\", \"body\": \"one\", \"vertex\": 0}", "give either 'pin'"},
        {"{\"kind\": \"drag\", \"prop\": \"p\", \"body\": \"one\", \"vertex\": 0}", "give either 'prop'"},
        {"{\"kind\": \"drag\", \"body\": \"one\"}", "belong together"},
        {"{\"kind\": \"drag\", \"body\": \"one\", \"vertex\": 0, \"radius\": -2}",
            "radius: must be -1..1000000, is -2"},
        {"{\"kind\": \"drag\", \"body\": \"one\", \"vertex\": 0, \"radius\": \"big\"}", "must be a number"},
        {"{\"kind\": \"push\", \"body\": \"one\", \"force\": [0, 0, 0], \"radius\": 1}",
            "key 'radius' does not belong"},
        {"{\"kind\": \"push\", \"force\": [0, 0, 0]}", "give either 'prop'"},
        {"{\"kind\": \"drag\", \"prop\": \"no such\"}", "there is no prop 'no such'"},
        {"{\"kind\": \"push\", \"body\": \"one\", \"force\": [1e999, 0, 0]}", "overflow"},
        {"{\"step\": -1, \"kind\": \"reset\"}", "must be 0 or more"},
        {"{\"kind\": \"reset\", \"body\": \"one\"}", "key 'body' does not belong to command 'reset'"},
        {"7", "line 1, column 1"},
        {"[]", "must be an object, is a list"},
    };
    snwContext* context = NewContext();
    snwSceneFile file;
    REQUIRE(RichScene(context, &file) != NULL);
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases; ++i)
    {
        snwCommand command;
        snwMessage message;
        char words[1024];
        CHECK(snwCommand_Parse(file.scene, s_cases[i][0], strlen(s_cases[i][0]), &command, &message) < 0);
        snwMessage_Format(&message, words, sizeof words);
        CHECK_CONTAINS(words, s_cases[i][1]);
    }
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

typedef struct Memory
{
    long left; // allocations until one fails; negative: none fails
    long live;
    bool failed;
} Memory;

static void* CountingAlloc(size_t size, size_t alignment, void* user)
{
    Memory* memory = user;
    void* block = NULL;
    if (memory->left == 0)
    {
        memory->failed = true;
        return NULL;
    }
    memory->left--;
    if (posix_memalign(&block, alignment, size) != 0)
        return NULL;
    memory->live++;
    return block;
}

static void CountingFree(void* block, void* user)
{
    ((Memory*)user)->live--;
    free(block);
}

typedef snwResult MemoryTrialFn(snwContext* context);

// Fails the first allocation after the context's own, then the second, ... until the trial gets through.
static void CheckMemory(MemoryTrialFn* trial)
{
    for (long n = 0; n < 100000; ++n)
    {
        Memory memory = {.left = -1};
        snwContextDef def = snwDefaultContextDef();
        snwContext* context = NULL;
        def.allocator = (snwAllocator){CountingAlloc, CountingFree, &memory};
        def.threadCount = 1;
        REQUIRE(snwCreateContext(&def, &context, NULL) == snw_ok);
        long own = memory.live;
        memory.left = n;
        snwResult result = trial(context);
        memory.left = -1;
        if (memory.live != own)
            snwTest_Fail(__FILE__, __LINE__, "failing allocation %ld leaks %ld blocks", n, memory.live - own);
        if (memory.failed && result != snw_errorMemory)
            snwTest_Fail(__FILE__, __LINE__, "failing allocation %ld gives %s", n, snwResult_Name(result));
        snwDestroyContext(context);
        CHECK_INT(memory.live, 0);
        if (!memory.failed)
        {
            CHECK_INT(result, snw_ok);
            CHECK(n > 3);
            return;
        }
    }
    snwTest_Fail(__FILE__, __LINE__, "never got through");
}

static snwResult TryParse(snwContext* context)
{
    snwSceneFile file;
    snwMessage message;
    snwResult result = snwSceneFile_Parse(context, s_rich, strlen(s_rich), "rich", NULL, &file, &message);
    snwSceneFile_Close(&file);
    return result;
}

static snwResult TryFormat(snwContext* context)
{
    snwSceneFile file;
    char* text = NULL;
    size_t size = 0;
    snwResult result = snwSceneFile_Open(context, SNW_SOURCE_DIR "/scenes/oscillator.json", NULL, &file, NULL);
    if (result == snw_ok)
        result = snwSceneFile_Format(context, &file, &text, &size, NULL);
    snwContext_Free(context, text);
    snwSceneFile_Close(&file);
    return result;
}

static snwResult TrySchema(snwContext* context)
{
    char* text = NULL;
    size_t size = 0;
    snwResult result = snwSceneFile_Schema(context, &text, &size, NULL);
    snwContext_Free(context, text);
    return result;
}

TEST(scene, memoryRunsOut)
{
    CheckMemory(TryParse);
    CheckMemory(TryFormat);
    CheckMemory(TrySchema);
}

// ---------------------------------------------------------------------------------------------------------------------
// Materials by name

static snwMaterial MaterialOf(const char* material)
{
    char text[512];
    snwSceneFile file;
    snwContext* context = NewContext();
    snwMaterial result = {0};
    snprintf(text, sizeof text,
        "{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": \"ball\", \"cells\": [4, 4, 4], "
        "\"material\": %s}}]}",
        material);
    CHECK_INT(snwSceneFile_Parse(context, text, strlen(text), "", NULL, &file, NULL), snw_ok);
    if (file.scene != NULL)
        result = snwCharacter_GetDef(snwScene_GetDef(file.scene)->bodies[0].character)->materials[0];
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
    return result;
}

TEST(scene, materialsHaveNames)
{
    const snwMaterial* jelly = &snwPreset_GetInfo(snwPreset_Find("jelly"))->material;
    snwMaterial named = MaterialOf("\"jelly\""), mixed = MaterialOf("{\"settling\": 0.7, \"preset\": \"jelly\"}");
    snwMaterial softer = MaterialOf("{\"preset\": \"jelly\", \"softness\": 4}");
    CHECK(memcmp(&named, jelly, sizeof named) == 0);
    CHECK(mixed.settling == 0.7 && mixed.young == jelly->young && mixed.frequency == jelly->frequency);
    CHECK_NEAR(softer.frequency, 0.5 * jelly->frequency, 1e-12);
    CHECK_FAILS(
        "{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": \"ball\", \"cells\": [4, 4, 4], "
        "\"material\": \"jely\"}}]}",
        "jelly");
    CHECK_FAILS(
        "{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": \"ball\", \"cells\": [4, 4, 4], "
        "\"material\": {\"softness\": 2}}}]}",
        "needs 'preset'");
    CHECK_FAILS(
        "{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": \"ball\", \"cells\": [4, 4, 4], "
        "\"material\": {\"frequency\": -1}}}]}",
        "frequency");
    Outcome command = Parse(SCENE ", \"commands\": [{\"step\": 3, \"kind\": \"material\", \"body\": \"b\", \"preset\": "
                                  "\"fat\"}]}",
        NULL);
    CHECK_INT(command.result, snw_ok);
}
