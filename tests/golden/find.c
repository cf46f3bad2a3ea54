// What a case gives today: states of sims, prepared characters, the studio's messages, the maths library.

#include "golden.h"
#include "../fixture.h"
#include "../process.h"
#include "../studio.h"
#include "../test.h"

#include "app/settings.h"
#include "base/hash.h"
#include "sinew/tools.h"
#include "smaller.h"
#include "studio/encode.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const int s_frames[] = {1, 30, 120};

void snwGolden_AddHash(snwGoldenValues* found, const char* key, const void* data, size_t size)
{
    char text[64];
    snprintf(text, sizeof text, "%016" PRIx64 "/%zu", snwHash(data, size, 0), size);
    snwGoldenValues_Add(found, key, text);
}

static void FailWith(const snwMessage* message)
{
    char text[800];
    snwMessage_Format(message, text, sizeof text);
    snwGolden_Fail("%s", text);
}

// ---------------------------------------------------------------------------------------------------------------------
// Scenes and characters at a part of their size

static double OptionOf(const snwGoldenLine* line, const char* key, double otherwise)
{
    const char* text = snwGoldenLine_Option(line, key);
    return text != NULL ? atof(text) : otherwise;
}

// scale=X on the line: with so many times the elements. pins=X: with the boxes of pins so much larger (m) each way.
static void OpenScene(
    snwContext* context, const snwGoldenLine* line, json_t* scene, const snwSceneOptions* options, snwSceneFile* file)
{
    snwMakeSceneSmaller(scene, OptionOf(line, "scale", 1), OptionOf(line, "pins", 0));

    snwMessage message;
    char* text = json_dumps(scene, 0);
    if (snwSceneFile_Parse(context, text, strlen(text), "scene", options, file, &message) < 0)
        FailWith(&message);
    free(text);
}

// Where all that is shown is. Unlike the state's hash it has no parameters in it: two cases that differ only in an
// option that does nothing there have the same.
static void AddShown(const snwSim* sim, snwGoldenValues* found)
{
    uint64_t hash = 0;
    for (int body = 0; body < snwSim_GetBodyCount(sim); ++body)
    {
        snwVertices shown;
        if (snwSim_GetShown(sim, body, &shown) < 0)
            snwGolden_Fail("body %d is not shown", body);
        for (int i = 0; i < shown.count; ++i)
            hash = snwHash((const char*)shown.positions + (size_t)i * (size_t)shown.stride, 3 * sizeof(float), hash);
    }
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    snwGoldenValues_Add(found, "shown", text);
}

void snwGolden_RunState(const snwGoldenLine* line, snwGoldenValues* found)
{
    snwSetting settings[snw_goldenMaxWords];
    snwSceneOptions options = snwDefaultSceneOptions();
    options.method = snwGoldenLine_Option(line, "method");
    options.settings = settings;
    for (int i = 1; i < line->wordCount; ++i)
        if (strchr(line->words[i], '.') < strchr(line->words[i], '=') && strchr(line->words[i], '.') != NULL &&
            snwSetting_Parse(line->words[i], &settings[options.settingCount++]) != snw_exitOk)
            snwGolden_Fail("'%s' sets nothing", line->words[i]);

    json_error_t error;
    json_t* scene = json_load_file(line->words[0], 0, &error);
    if (scene == NULL)
        snwGolden_Fail("%s: %s", line->words[0], error.text);
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneFile file;
    OpenScene(context, line, scene, &options, &file);
    json_decref(scene);

    snwSimDef def = snwDefaultSimDef();
    def.scene = file.scene;
    snwSim* sim = NULL;
    snwMessage message;
    if (snwCreateSim(context, &def, &sim, &message) < 0)
        FailWith(&message);
    double dt = 1 / snwScene_GetDef(file.scene)->rate;
    for (int frame = 1, next = 0; next < 3; ++frame)
    {
        if (snwSim_Step(sim, dt, &message) < 0)
            FailWith(&message);
        if (frame != s_frames[next])
            continue;
        char key[16], text[24];
        snprintf(key, sizeof key, "%d", s_frames[next++]);
        snprintf(text, sizeof text, "%016" PRIx64, snwSim_Hash(sim));
        snwGoldenValues_Add(found, key, text);
    }
    AddShown(sim, found);
    snwDestroySim(sim);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

// The bytes of a character of the cast as a file would have them, and the weights of its handles or bones.
static void RunCharacter(const snwGoldenLine* line, snwGoldenValues* found)
{
    const char* name = line->wordCount > 1 ? line->words[1] : "";
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneOptions options = snwDefaultSceneOptions();
    snwSceneFile file;
    json_t* scene = json_pack(
        "{s:i, s:[{s:s, s:{s:s}}]}", "sinew", 1, "bodies", "name", "body", "character", "blueprint", name);
    OpenScene(context, line, scene, &options, &file);
    json_decref(scene);

    void* data = NULL;
    size_t size = 0;
    snwMessage message;
    const snwCharacter* character = snwScene_GetDef(file.scene)->bodies[0].character;
    if (snwCharacter_Save(character, &data, &size, &message) < 0)
        FailWith(&message);
    snwGolden_AddHash(found, "snw", data, size);
    snwContext_Free(context, data);

    snwWeightsDef def = snwDefaultWeightsDef();
    snwWeights* weights = NULL;
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    def.handles = info.handleCount > 0;
    if (info.handleCount + info.boneCount > 0 && OptionOf(line, "weights", 1) != 0)
    {
        if (snwComputeWeights(character, &def, &weights, &message) < 0)
            FailWith(&message);
        size_t count = (size_t)weights->starts[weights->vertexCount];
        snwGolden_AddHash(found, "handles", weights->handles, count * sizeof *weights->handles);
        snwGolden_AddHash(found, "weights", weights->values, count * sizeof *weights->values);
        snwContext_Free(context, weights);
    }
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The studio

// A value per section. Those of the clock are left out: the measures are made anew twenty times a second, the stages
// are durations; and of the head only what does not tell when it was made.
static void AddBlob(snwStudio* studio, const char* name, snwBlob* blob, snwGoldenValues* found)
{
    snwBlobHead head;
    if (blob == NULL || blob->size < sizeof head)
        snwGolden_Fail("the studio has no %s", name);
    memcpy(&head, blob->data, sizeof head);
    head.serial = head.model = 0;
    head.ms = 0;
    char key[96];
    snprintf(key, sizeof key, "%s.head", name);
    snwGolden_AddHash(found, key, &head, sizeof head);

    for (size_t at = sizeof head; at + 16 <= blob->size;)
    {
        uint32_t section[4]; // kind, index, count, bytes
        memcpy(section, blob->data + at, sizeof section);
        snprintf(key, sizeof key, "%s.%u.%u", name, section[0], section[1]);
        if (section[0] != snw_sectionMeasures && section[0] != snw_sectionStages)
            snwGolden_AddHash(found, key, blob->data + at, sizeof section + section[3]);
        at += sizeof section + (section[3] + 7) / 8 * 8;
    }
    snwBlob_Release(snwSession_GetContext(snwStudio_Session(studio)), blob);
}

// What a page hears and draws after a few deeds: the state, the model and the frame.
static void RunStudio(const snwGoldenLine* line, snwGoldenValues* found)
{
    snwStudio* studio = snwStudio_Open(line->wordCount > 1 ? line->words[1] : NULL, "out");
    if (studio == NULL)
        snwGolden_Fail("the studio does not open");
    bool done = snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 5") &&
                snwStudio_Do(studio, "\"do\": \"set\", \"name\": \"sim.substeps\", \"value\": 3") &&
                snwStudio_Do(studio, "\"do\": \"gravity\", \"vector\": [0, 1.5, 0]") &&
                snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 5");
    if (!done)
        snwGolden_Fail("the studio does not do as it is told");

    // One value per key, so that a red line says which; those of the clock are left out.
    json_t* state = snwStudio_State(studio);
    const char* key;
    json_t* value;
    json_object_foreach(state, key, value)
    {
        if (strcmp(key, "revision") == 0 || strcmp(key, "realtime") == 0 || strcmp(key, "id") == 0)
            continue;
        char* text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
        char name[96];
        snprintf(name, sizeof name, "state.%s", key);
        snwGolden_AddHash(found, name, text, strlen(text));
        free(text);
    }
    json_decref(state);
    AddBlob(studio, "model", snwSession_TakeModel(snwStudio_Session(studio)), found);
    AddBlob(studio, "frame", snwSession_TakeFrame(snwStudio_Session(studio)), found);
    snwStudio_Close(studio);
}

// ---------------------------------------------------------------------------------------------------------------------
// The machine

#define ONE(f)                                                                                                         \
    {                                                                                                                  \
#f, f, NULL                                                                                                    \
    }
#define TWO(f)                                                                                                         \
    {                                                                                                                  \
#f, NULL, f                                                                                                    \
    }

void snwGolden_Maths(snwGoldenValues* found)
{
    static const struct
    {
        const char* name;
        double (*one)(double);
        double (*two)(double, double);
    } s_functions[] = {ONE(sin), ONE(cos), ONE(tan), ONE(asin), ONE(acos), ONE(atan), ONE(sinh), ONE(cosh), ONE(tanh),
        ONE(exp), ONE(exp2), ONE(expm1), ONE(log), ONE(log2), ONE(log10), ONE(log1p), ONE(cbrt), ONE(sqrt), TWO(atan2),
        TWO(pow), TWO(hypot), TWO(fmod)};
    enum
    {
        count = 4000
    };
    static double results[count];
    for (size_t f = 0; f < sizeof s_functions / sizeof *s_functions; ++f)
    {
        uint64_t seed = 88172645463325252ull;
        for (int i = 0; i < count; ++i)
        {
            double x = 2 * snwTest_Random(&seed) - 1, y = 8 * snwTest_Random(&seed);
            x = i % 2 == 0 ? x : 20 * x;
            volatile double value = s_functions[f].one != NULL ? s_functions[f].one(x) : s_functions[f].two(y, x);
            results[i] = isnan(value) ? 0 : value; // a NaN's sign is nobody's promise
        }
        snwGolden_AddHash(found, s_functions[f].name, results, sizeof results);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

void snwGolden_Find(const snwGoldenLine* line, snwGoldenValues* found)
{
    const char* command = line->words[0];
    if (line->kind == snw_goldenState)
        snwGolden_RunState(line, found);
    else if (line->kind == snw_goldenPicture)
        snwGolden_RunCommand(line, (char**)line->words + 1, line->wordCount - 1, found);
    else if (strcmp(command, "character") == 0)
        RunCharacter(line, found);
    else if (strcmp(command, "studio") == 0)
        RunStudio(line, found);
    else if (strcmp(command, "maths") == 0)
        snwGolden_Maths(found);
    else if (strncmp(command, "only=", 5) == 0)
        snwGolden_RunCommand(line, (char**)line->words + 1, line->wordCount - 1, found);
    else
        snwGolden_RunCommand(line, (char**)line->words, line->wordCount, found);
}
