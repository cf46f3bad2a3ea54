// The studio's session, driven by requests.
// Labels: threads

#include "studio.h"
#include "test.h"
#include "validator.h"

#include "bake/settings.h"
#include "studio/encode.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// Sections of blobs

typedef struct Section
{
    uint32_t count, bytes;
    const unsigned char* data;
} Section;

static Section FindSection(const snwBlob* blob, uint32_t kind, uint32_t index)
{
    snwBlobHead head;
    memcpy(&head, blob->data, sizeof head);
    size_t at = snw_blobHead;
    for (uint32_t i = 0; i < head.sections && at + 16 <= blob->size; ++i)
    {
        uint32_t words[4];
        memcpy(words, blob->data + at, sizeof words);
        if (words[0] == kind && words[1] == index)
            return (Section){words[2], words[3], blob->data + at + 16};
        at += 16 + (words[3] + 7) / 8 * 8;
    }
    return (Section){0};
}

// Sections fill the blob to its end.
static bool IsWhole(const snwBlob* blob)
{
    snwBlobHead head;
    memcpy(&head, blob->data, sizeof head);
    size_t at = snw_blobHead;
    for (uint32_t i = 0; i < head.sections; ++i)
    {
        uint32_t words[4];
        if (at + 16 > blob->size)
            return false;
        memcpy(words, blob->data + at, sizeof words);
        at += 16 + (words[3] + 7) / 8 * 8;
    }
    return head.magic == SNW_BLOB_MAGIC && at == blob->size;
}

// ---------------------------------------------------------------------------------------------------------------------

// A small cube above the ground: whatever is done with it costs next to nothing.
static const char s_cube[] = "{\"sinew\": 1, \"name\": \"cube\", \"method\": \"pbd\", \"rate\": 60,"
                             "\"bodies\": [{\"name\": \"<b>cube</b>\", \"position\": [0, 0.2, 0],"
                             "\"character\": {\"shape\": \"block\", \"size\": [0.2, 0.2, 0.2], \"cells\": [2, 2, 2]}}],"
                             "\"props\": [{\"name\": \"ball\", \"kind\": \"sphere\", \"radius\": 0.05,"
                             "\"position\": [1, 0.5, 0]}],"
                             "\"pins\": [{\"name\": \"top\", \"body\": \"<b>cube</b>\", \"held\": false,"
                             "\"lower\": [-1, 0.09, -1], \"upper\": [1, 1, 1]}],"
                             "\"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\"}]}";

// Two bones in a bar, with a hinge between them that has a spring.
static const char s_stick[] =
    "{\"sinew\": 1, \"name\": \"stick\", \"method\": \"apd\", \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": "
    "\"stick\","
    "\"character\": {\"blueprint\": {\"sinew\": 1, \"name\": \"stick\","
    "\"box\": {\"size\": [1, 0.2, 0.2], \"cells\": [10, 2, 2]},"
    "\"bones\": [{\"name\": \"left\", \"head\": [-0.5, 0, 0], \"tail\": [-0.1, 0, 0], \"radius\": 0.06},"
    "{\"name\": \"right\", \"parent\": \"left\", \"head\": [0.1, 0, 0], \"tail\": [0.5, 0, 0], \"radius\": 0.06}],"
    "\"joints\": [{\"name\": \"elbow\", \"type\": \"hinge\", \"bone\": \"right\", \"at\": [0, 0, 0],"
    "\"axis\": [0, 0, 1]}]}}}]}";

static void WriteText(const char* path, const char* text)
{
    FILE* file = fopen(path, "wb");
    CHECK(file != NULL);
    if (file == NULL)
        return;
    fwrite(text, 1, strlen(text), file);
    fclose(file);
}

static snwStudio* OpenText(const char* name, const char* text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", snwTest_TempDir(), name);
    WriteText(path, text);
    return snwStudio_Open(path, NULL);
}

static snwStudio* OpenCube(void)
{
    return OpenText("cube.json", s_cube);
}

TEST(session, opensAndShows)
{
    snwStudio* studio = snwStudio_Open("bar", NULL);
    REQUIRE(studio != NULL);
    snwSession* session = snwStudio_Session(studio);
    snwBlob *model = snwSession_TakeModel(session), *frame = snwSession_TakeFrame(session);
    REQUIRE(model != NULL && frame != NULL);
    CHECK(IsWhole(model));
    CHECK(IsWhole(frame));
    Section json = FindSection(model, snw_sectionModel, 0);
    json_error_t error;
    json_t* words = json_loadb((const char*)json.data, json.bytes, 0, &error);
    json_t* part = json_array_get(json_object_get(words, "parts"), 0);
    Section positions = FindSection(frame, snw_sectionPositions, 0);
    CHECK_INT(positions.count, json_integer_value(json_object_get(part, "vertices")));
    CHECK(positions.count > 8);
    CHECK_INT(FindSection(frame, snw_sectionNormals, 0).count, positions.count);
    Section triangles = FindSection(model, (uint32_t)json_integer_value(json_object_get(part, "triangles")), 0);
    CHECK(triangles.count > 8);
    for (uint32_t i = 0; i < 3 * triangles.count; ++i)
        if (((const uint32_t*)(const void*)triangles.data)[i] >= positions.count)
            snwTest_Fail(__FILE__, __LINE__, "corner %u", i);
    json_decref(words);
    snwBlob_Release(snwSession_GetContext(session), model);
    snwBlob_Release(snwSession_GetContext(session), frame);
    snwStudio_Close(studio);
}

// ---------------------------------------------------------------------------------------------------------------------
// Each request changes a value that is read back

static double ParamOf(snwStudio* studio, const char* name)
{
    json_t* state = snwStudio_State(studio);
    double value = (double)NAN;
    size_t i;
    json_t* param;
    json_array_foreach(json_object_get(state, "params"), i,
        param) if (strcmp(json_string_value(json_object_get(param, "name")), name) == 0)
        value = json_number_value(json_object_get(param, "value"));
    json_decref(state);
    return value;
}

static bool TextIs(snwStudio* studio, const char* key, const char* text)
{
    json_t* state = snwStudio_State(studio);
    const char* value = json_string_value(json_object_get(state, key));
    bool same = value != NULL && strcmp(value, text) == 0;
    json_decref(state);
    return same;
}

TEST(session, time)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    CHECK_NEAR(snwStudio_Number(studio, "frame"), 0, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 5"));
    CHECK_NEAR(snwStudio_Number(studio, "frame"), 5, 0);
    CHECK_NEAR(snwStudio_Number(studio, "recording.last"), 5, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"speed\", \"value\": 4"));
    CHECK_NEAR(snwStudio_Number(studio, "speed"), 4, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"play\""));
    CHECK_NEAR(snwStudio_Number(studio, "playing"), 1, 0);
    struct timespec pause = {0, 2000000};
    for (int i = 0; i < 500 * snwTest_Patience() && snwStudio_Number(studio, "frame") < 8; ++i)
        nanosleep(&pause, NULL);
    CHECK(snwStudio_Do(studio, "\"do\": \"pause\""));
    CHECK(snwStudio_Number(studio, "frame") >= 8);
    CHECK(snwStudio_Do(studio, "\"do\": \"reset\""));
    CHECK_NEAR(snwStudio_Number(studio, "frame"), 0, 0);
    CHECK_NEAR(snwStudio_Number(studio, "recording.last"), 0, 0);
    snwStudio_Close(studio);
}

TEST(session, values)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    CHECK(snwStudio_Do(studio, "\"do\": \"set\", \"name\": \"sim.substeps\", \"value\": 3"));
    CHECK_NEAR(ParamOf(studio, "sim.substeps"), 3, 0); // before a step was made
    CHECK(snwStudio_Do(studio, "\"do\": \"gravity\", \"vector\": [0, 1.5, 0]"));
    CHECK_NEAR(snwStudio_Number(studio, "gravity.1"), 1.5, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"material\", \"body\": 0, \"young\": 4321"));
    CHECK_NEAR(snwStudio_Number(studio, "bodies.0.regions.0.young"), 4321, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\""));
    CHECK_NEAR(ParamOf(studio, "sim.substeps"), 3, 0); // and after it
    CHECK_NEAR(snwStudio_Number(studio, "gravity.1"), 1.5, 0);
    CHECK_NEAR(snwStudio_Number(studio, "bodies.0.regions.0.young"), 4321, 0);
    CHECK_NEAR(snwStudio_Number(studio, "recording.commands"), 3, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"material\", \"body\": 0, \"preset\": \"jelly\", \"softness\": 2"));
    CHECK_NEAR(snwStudio_Number(studio, "bodies.0.regions.0.young"),
        snwPreset_GetInfo(snwPreset_Find("jelly"))->material.young / 2, 1e-9);
    // What was tuned outlives a reset, and its recording tells it.
    CHECK(snwStudio_Do(studio, "\"do\": \"reset\""));
    CHECK_NEAR(ParamOf(studio, "sim.substeps"), 3, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\""));
    CHECK_NEAR(ParamOf(studio, "sim.substeps"), 3, 0);
    CHECK(snwStudio_Number(studio, "recording.commands") >= 3);
    CHECK(snwStudio_Do(studio, "\"do\": \"set\", \"name\": \"sim.substeps\", \"value\": null"));
    CHECK(ParamOf(studio, "sim.substeps") != 3);
    snwStudio_Close(studio);
}

TEST(session, methods)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    char first[17], again[17];
    CHECK(TextIs(studio, "method", "pbd"));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 3"));
    snwStudio_Hash(studio, first);
    CHECK(snwStudio_Do(studio, "\"do\": \"method\", \"name\": \"apd\""));
    CHECK(snwStudio_Settle(studio));
    CHECK(TextIs(studio, "method", "apd"));
    CHECK_NEAR(snwStudio_Number(studio, "frame"), 0, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 2"));
    CHECK(snwStudio_Do(studio, "\"do\": \"undo\""));
    CHECK(TextIs(studio, "method", "pbd"));
    snwStudio_Hash(studio, again);
    CHECK(strcmp(first, again) == 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"redo\""));
    CHECK(TextIs(studio, "method", "apd"));
    CHECK_NEAR(snwStudio_Number(studio, "frame"), 2, 0);
    // A parameter that is not live starts the scene again.
    CHECK(snwStudio_Do(studio, "\"do\": \"set\", \"name\": \"sim.jitter\", \"value\": 0.001"));
    CHECK(snwStudio_Settle(studio));
    CHECK_NEAR(ParamOf(studio, "sim.jitter"), 0.001, 0);
    CHECK_NEAR(snwStudio_Number(studio, "frame"), 0, 0);
    snwStudio_Close(studio);
}

// ---------------------------------------------------------------------------------------------------------------------
// Hands

static snwVec3 FramePoint(snwStudio* studio, int point)
{
    snwSession* session = snwStudio_Session(studio);
    snwBlob* frame = snwSession_TakeFrame(session);
    float p[3] = {0};
    Section positions = FindSection(frame, snw_sectionPositions, 0);
    if ((uint32_t)point < positions.count)
        memcpy(p, positions.data + 12 * (size_t)point, sizeof p);
    snwBlob_Release(snwSession_GetContext(session), frame);
    return (snwVec3){(double)p[0], (double)p[1], (double)p[2]};
}

static uint32_t GivenOf(snwStudio* studio, int handle)
{
    char path[64];
    snprintf(path, sizeof path, "bodies.0.given.%d", handle);
    return (uint32_t)snwStudio_Number(studio, path);
}

static snwVec3 HandlePlace(snwStudio* studio, int handle)
{
    json_t* answer = snwStudio_Ask(studio, "\"do\": \"grab\", \"body\": 0, \"handle\": %d", handle);
    json_t* list = json_object_get(answer, "position");
    snwVec3 p = {json_number_value(json_array_get(list, 0)), json_number_value(json_array_get(list, 1)),
        json_number_value(json_array_get(list, 2))};
    snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d", (int)json_integer_value(json_object_get(answer, "grab")));
    json_decref(answer);
    return p;
}

TEST(session, dragsAHandle)
{
    snwStudio* studio = snwStudio_Open("worm", NULL);
    REQUIRE(studio != NULL);
    char before[17], after[17], now[17];
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 2"));
    snwStudio_Hash(studio, before);
    snwVec3 from = HandlePlace(studio, 0);
    json_t* answer = snwStudio_Ask(studio, "\"do\": \"grab\", \"body\": 0, \"handle\": 0");
    int grab = (int)json_integer_value(json_object_get(answer, "grab"));
    CHECK(strcmp(json_string_value(json_object_get(answer, "kind")), "handle") == 0);
    json_decref(answer);
    CHECK_NEAR(snwStudio_Number(studio, "grabs.0.grab"), grab, 0);
    for (int i = 1; i <= 10; ++i)
        CHECK(snwStudio_Do(studio, "\"do\": \"move\", \"grab\": %d, \"position\": [%.9g, %.9g, 0]", grab, from.x,
                  from.y + 0.02 * i) &&
              snwStudio_Do(studio, "\"do\": \"step\""));
    CHECK((GivenOf(studio, 0) & 3) == 3);
    snwVec3 held = HandlePlace(studio, 0);
    CHECK_NEAR(held.y, from.y + 0.2, 0.02);
    CHECK(snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d", grab));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\""));
    CHECK_INT(GivenOf(studio, 0), 0);
    CHECK(TextIs(studio, "undo", "drag of handle tail"));
    snwStudio_Hash(studio, after);
    // Undo goes back to before the hand; redo to after it; and the hashes are those of then.
    CHECK(snwStudio_Do(studio, "\"do\": \"undo\""));
    snwStudio_Hash(studio, now);
    CHECK(strcmp(now, before) == 0);
    CHECK_NEAR(snwStudio_Number(studio, "recording.last"), 2, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"redo\""));
    snwStudio_Hash(studio, now);
    CHECK(strcmp(now, after) == 0);
    snwStudio_Close(studio);
}

TEST(session, locksDegreesOfFreedom)
{
    snwStudio* studio = snwStudio_Open("worm", NULL);
    REQUIRE(studio != NULL);
    CHECK(snwStudio_Do(studio, "\"do\": \"lock\", \"body\": 0, \"handles\": [0, 2], \"given\": [\"y\"]"));
    CHECK_INT(GivenOf(studio, 0), snw_dofY);
    CHECK_INT(GivenOf(studio, 1), 0);
    CHECK_INT(GivenOf(studio, 2), snw_dofY);
    snwVec3 from = HandlePlace(studio, 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"gravity\", \"vector\": [0, -3, 0]"));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 10"));
    CHECK_INT(GivenOf(studio, 0), snw_dofY);
    CHECK_NEAR(HandlePlace(studio, 0).y, from.y, 1e-4);
    CHECK(snwStudio_Do(studio, "\"do\": \"unlock\", \"body\": 0, \"handles\": [\"tail\"]"));
    CHECK_INT(GivenOf(studio, 0), 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"undo\""));
    CHECK_INT(GivenOf(studio, 0), snw_dofY);
    CHECK(snwStudio_Do(studio, "\"do\": \"redo\""));
    CHECK_INT(GivenOf(studio, 0), 0);
    snwStudio_Close(studio);
}

TEST(session, dragsFleshAndLeaves)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    snwVec3 p = FramePoint(studio, 0);
    json_t* answer = snwStudio_Ask(
        studio, "\"do\": \"grab\", \"origin\": [%.9g, %.9g, %.9g], \"direction\": [0, 0, -1]", p.x, p.y, p.z + 5);
    CHECK(json_is_true(json_object_get(answer, "ok")));
    json_decref(answer);
    answer = snwStudio_Ask(studio, "\"do\": \"grab\", \"origin\": [50, 50, 50], \"direction\": [0, 1, 0]");
    CHECK(strcmp(json_string_value(json_object_get(answer, "kind")), "none") == 0);
    json_decref(answer);
    // A ray through the middle of what is shown meets it.
    snwBlob* model = snwSession_TakeModel(snwStudio_Session(studio));
    json_error_t error;
    Section json = FindSection(model, snw_sectionModel, 0);
    json_t* words = json_loadb((const char*)json.data, json.bytes, 0, &error);
    json_t* bounds = json_object_get(words, "bounds");
    double middle[3];
    for (size_t k = 0; k < 3; ++k)
        middle[k] = 0.5 * (json_number_value(json_array_get(json_object_get(bounds, "lower"), k)) +
                              json_number_value(json_array_get(json_object_get(bounds, "upper"), k)));
    json_decref(words);
    snwBlob_Release(snwSession_GetContext(snwStudio_Session(studio)), model);
    char keys[256];
    snprintf(keys, sizeof keys, "\"do\": \"grab\", \"origin\": [%.9g, %.9g, %.9g], \"direction\": [0, 0, -1]",
        middle[0], middle[1], middle[2] + 5);
    answer = snwStudio_AskAs(studio, 7, keys);
    CHECK(strcmp(json_string_value(json_object_get(answer, "kind")), "flesh") == 0);
    int grab = (int)json_integer_value(json_object_get(answer, "grab"));
    json_decref(answer);
    // Another's hand is not mine.
    answer = snwStudio_Ask(studio, "\"do\": \"drop\", \"grab\": %d", grab);
    CHECK(json_is_false(json_object_get(answer, "ok")));
    json_decref(answer);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\""));
    double hands = 0;
    json_t* state = snwStudio_State(studio);
    hands = (double)json_array_size(json_object_get(state, "grabs"));
    json_decref(state);
    snwSession_Leave(snwStudio_Session(studio), 7);
    state = snwStudio_State(studio);
    CHECK_NEAR((double)json_array_size(json_object_get(state, "grabs")), hands - 1, 0);
    json_decref(state);
    snwStudio_Close(studio);
}

// Takes hold of something, moves it by (dx, dy, dz) and makes so many steps; its number.
static int Drag(snwStudio* studio, const char* what, snwVec3 by, int frames)
{
    json_t* answer = snwStudio_Ask(studio, "\"do\": \"grab\", %s", what);
    json_t* from = json_object_get(answer, "position");
    int grab = (int)json_integer_value(json_object_get(answer, "grab"));
    CHECK(grab > 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"move\", \"grab\": %d, \"position\": [%.9g, %.9g, %.9g]", grab,
        json_number_value(json_array_get(from, 0)) + by.x, json_number_value(json_array_get(from, 1)) + by.y,
        json_number_value(json_array_get(from, 2)) + by.z));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": %d", frames));
    json_decref(answer);
    return grab;
}

// Three floats of a section of the newest frame; its count.
static uint32_t FrameFloats(snwStudio* studio, snwSection kind, uint32_t first, float out[3])
{
    snwSession* session = snwStudio_Session(studio);
    snwBlob* frame = snwSession_TakeFrame(session);
    Section section = FindSection(frame, kind, 0);
    memset(out, 0, 3 * sizeof(float));
    if (section.bytes >= 4 * (first + 3))
        memcpy(out, section.data + 4 * (size_t)first, 3 * sizeof(float));
    snwBlob_Release(snwSession_GetContext(session), frame);
    return section.count;
}

TEST(session, dragsThings)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    float p[3];
    CHECK(snwStudio_Do(studio, "\"do\": \"gravity\", \"vector\": [0, 0, 0]"));
    int grab = Drag(studio, "\"prop\": 0", (snwVec3){0, 0.3, 0}, 30);
    FrameFloats(studio, snw_sectionProps, 0, p);
    CHECK_NEAR(p[1], 0.8, 0.02);
    FrameFloats(studio, snw_sectionGrabs, 3, p); // where the hand is
    CHECK_NEAR(p[1], 0.8, 1e-6);
    CHECK(snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d", grab));
    CHECK(TextIs(studio, "undo", "drag of prop ball"));
    grab = Drag(studio, "\"collider\": 0", (snwVec3){0, -0.25, 0}, 2);
    FrameFloats(studio, snw_sectionColliders, 0, p);
    CHECK_NEAR(p[1], -0.25, 1e-6);
    CHECK(snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d", grab));
    CHECK(snwStudio_Do(studio, "\"do\": \"undo\""));
    FrameFloats(studio, snw_sectionColliders, 0, p);
    CHECK_NEAR(p[1], 0, 0);
    // A pin takes its vertices along, and flesh that is kept is pinned.
    CHECK_INT(FrameFloats(studio, snw_sectionPins, 0, p), 0);
    double before = snwStudio_Number(studio, "pins.0.position.1");
    grab = Drag(studio, "\"pin\": 0", (snwVec3){0, 0.2, 0}, 2);
    CHECK_NEAR(snwStudio_Number(studio, "pins.0.position.1"), before + 0.2, 1e-6);
    CHECK_INT(FrameFloats(studio, snw_sectionPins, 0, p), 9);
    CHECK(snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d", grab));
    grab = Drag(studio, "\"origin\": [0, 0.35, 5], \"direction\": [0, 0, -1]", (snwVec3){0, 0, 0.1}, 3);
    CHECK(snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d, \"keep\": true", grab));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 3"));
    CHECK_INT(FrameFloats(studio, snw_sectionPins, 0, p), 10);
    CHECK_INT(FrameFloats(studio, snw_sectionGrabs, 0, p), 0);
    snwStudio_Close(studio);
}

TEST(session, dragsBonesAndJoints)
{
    snwStudio* studio = OpenText("stick.json", s_stick);
    REQUIRE(studio != NULL);
    float head[3], now[3];
    FrameFloats(studio, snw_sectionBones, 7, head); // what takes the second bone from its rest pose to now
    int grab = Drag(studio, "\"body\": 0, \"bone\": 1", (snwVec3){0, 0.2, 0}, 20);
    FrameFloats(studio, snw_sectionBones, 7, now);
    CHECK(fabsf(now[1] - head[1]) > 0.02f);
    CHECK(snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d", grab));
    CHECK(TextIs(studio, "undo", "drag of bone right"));
    CHECK(snwStudio_Do(studio, "\"do\": \"undo\""));
    FrameFloats(studio, snw_sectionBones, 7, now);
    CHECK_NEAR(now[1], head[1], 0);
    grab = Drag(studio, "\"body\": 0, \"joint\": 0", (snwVec3){0, -0.2, 0}, 20);
    FrameFloats(studio, snw_sectionBones, 7, now);
    CHECK(fabsf(now[1] - head[1]) > 0.02f);
    CHECK(snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d", grab));
    CHECK(TextIs(studio, "undo", "drag of joint elbow"));
    // In another method the same bones are handles.
    CHECK(snwStudio_Do(studio, "\"do\": \"method\", \"name\": \"rigpbd\""));
    CHECK(snwStudio_Settle(studio));
    grab = Drag(studio, "\"body\": 0, \"bone\": 1", (snwVec3){0, 0.1, 0}, 5);
    CHECK_INT(GivenOf(studio, 1), 7);
    CHECK(snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d, \"keep\": true", grab));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\""));
    CHECK_INT(GivenOf(studio, 1), 7);
    snwStudio_Close(studio);
}

TEST(session, showsWhatIsWanted)
{
    snwStudio* studio = OpenText("stick.json", s_stick);
    REQUIRE(studio != NULL);
    float p[3];
    CHECK_INT(FrameFloats(studio, snw_sectionValues, 0, p), 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"view\", \"want\": [\"strain\", \"elements\", \"contacts\", \"pressure\"]"));
    uint32_t points = FrameFloats(studio, snw_sectionPositions, 0, p);
    CHECK_INT(FrameFloats(studio, snw_sectionValues, 0, p), points);
    CHECK(p[0] <= p[1]);
    CHECK_INT(FrameFloats(studio, snw_sectionElements, 0, p), 11 * 3 * 3);
    CHECK_INT(FrameFloats(studio, snw_sectionPressure, 0, p), 1);
    // Another viewer wants the weights: the model comes again with them.
    json_t* answer = snwStudio_AskAs(studio, 2, "\"do\": \"view\", \"want\": [\"weights\"]");
    json_decref(answer);
    struct timespec pause = {0, 5000000};
    bool painted = false;
    for (int i = 0; i < 200 * snwTest_Patience() && !painted; ++i)
    {
        nanosleep(&pause, NULL);
        snwBlob* model = snwSession_TakeModel(snwStudio_Session(studio));
        Section json = FindSection(model, snw_sectionModel, 0);
        json_error_t error;
        json_t* words = json_loadb((const char*)json.data, json.bytes, 0, &error);
        painted = json_is_integer(json_object_get(json_array_get(json_object_get(words, "parts"), 0), "weights"));
        json_decref(words);
        snwBlob_Release(snwSession_GetContext(snwStudio_Session(studio)), model);
    }
    CHECK(painted);
    snwBlob* frame = snwSession_TakeFrame(snwStudio_Session(studio));
    snwBlob* model = snwSession_TakeModel(snwStudio_Session(studio));
    snwBlobHead ofFrame, ofModel;
    memcpy(&ofFrame, frame->data, sizeof ofFrame);
    memcpy(&ofModel, model->data, sizeof ofModel);
    CHECK_INT(ofModel.serial, 2);
    CHECK_INT(ofFrame.model, ofModel.serial);
    snwBlob_Release(snwSession_GetContext(snwStudio_Session(studio)), frame);
    snwBlob_Release(snwSession_GetContext(snwStudio_Session(studio)), model);
    snwSession_Leave(snwStudio_Session(studio), 1);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\""));
    CHECK_INT(FrameFloats(studio, snw_sectionValues, 0, p), 0);
    snwStudio_Close(studio);
}

// ---------------------------------------------------------------------------------------------------------------------
// Trouble

TEST(session, survivesDivergence)
{
    static const char wild[] = "{\"sinew\": 1, \"rate\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\":"
                               "\"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [2, 2, 2],"
                               "\"material\": {\"density\": 0.001}}}]}";
    snwStudio* studio = OpenText("wild.json", wild);
    REQUIRE(studio != NULL);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 2"));
    CHECK(snwStudio_Do(
        studio, "\"do\": \"push\", \"body\": 0, \"vertex\": 0, \"force\": [1e12, 1e11, 1e10], \"duration\": 1e6"));
    json_t* answer = snwStudio_Ask(studio, "\"do\": \"step\", \"frames\": 60");
    CHECK(json_is_false(json_object_get(answer, "ok")));
    json_decref(answer);
    CHECK_NEAR(snwStudio_Number(studio, "diverged"), 1, 0);
    CHECK(snwStudio_Events(studio, "note") >= 1);
    snwBlob* frame = snwSession_TakeFrame(snwStudio_Session(studio));
    Section positions = FindSection(frame, snw_sectionPositions, 0);
    bool finite = true;
    for (uint32_t i = 0; i < 3 * positions.count; ++i)
        finite = finite && isfinite(((const float*)(const void*)positions.data)[i]);
    CHECK(finite);
    snwBlob_Release(snwSession_GetContext(snwStudio_Session(studio)), frame);
    CHECK(snwStudio_Do(studio, "\"do\": \"reset\""));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 3"));
    CHECK_NEAR(snwStudio_Number(studio, "diverged"), 0, 0);
    CHECK_NEAR(snwStudio_Number(studio, "frame"), 3, 0);
    snwStudio_Close(studio);
}

TEST(session, cancels)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 200"));
    snwSession* session = snwStudio_Session(studio);
    static const char export[] = "{\"v\": 1, \"do\": \"export\", \"kind\": \"glb\"}";
    char cancel[64];
    json_t* answer = snwStudio_Ask(studio, "\"do\": \"export\", \"kind\": \"log\"");
    int job = (int)json_integer_value(json_object_get(answer, "job"));
    json_decref(answer);
    json_decref(snwStudio_Job(studio, job));
    snprintf(cancel, sizeof cancel, "{\"v\": 1, \"do\": \"cancel\", \"job\": %d}", job + 2);
    snwSession_Post(session, 1, export, sizeof export - 1);
    snwSession_Post(session, 1, export, sizeof export - 1); // waits for the first
    snwSession_Post(session, 1, cancel, strlen(cancel));
    json_t *first = snwStudio_Job(studio, job + 1), *second = snwStudio_Job(studio, job + 2);
    CHECK(json_object_get(first, "file") != NULL);
    CHECK_CONTAINS(json_string_value(json_object_get(json_object_get(second, "error"), "text")), "stopped");
    json_decref(first);
    json_decref(second);
    snwStudio_Close(studio);
}

// ---------------------------------------------------------------------------------------------------------------------
// Timeline

TEST(session, seeksAndGoesOn)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    char hashes[71][17], now[17];
    snwStudio_Hash(studio, hashes[0]);
    for (int i = 1; i <= 70; ++i)
    {
        if (i == 35)
            CHECK(snwStudio_Do(
                studio, "\"do\": \"push\", \"body\": 0, \"vertex\": -1, \"force\": [3, 0, 0], \"duration\": 0.2"));
        CHECK(snwStudio_Do(studio, "\"do\": \"step\""));
        snwStudio_Hash(studio, hashes[i]);
    }
    CHECK(snwStudio_Do(studio, "\"do\": \"seek\", \"frame\": 41"));
    CHECK_NEAR(snwStudio_Number(studio, "recording.shown"), 41, 0);
    snwBlob* frame = snwSession_TakeFrame(snwStudio_Session(studio));
    snwBlobHead head;
    memcpy(&head, frame->data, sizeof head);
    CHECK_INT(head.frame, 41);
    CHECK_INT(head.flags & 2, 2);
    snwBlob_Release(snwSession_GetContext(snwStudio_Session(studio)), frame);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\""));
    snwStudio_Hash(studio, now);
    CHECK(strcmp(now, hashes[42]) == 0);
    CHECK_NEAR(snwStudio_Number(studio, "recording.last"), 42, 0);
    // What came after is not lost.
    CHECK(snwStudio_Do(studio, "\"do\": \"undo\""));
    CHECK_NEAR(snwStudio_Number(studio, "recording.last"), 70, 0);
    snwStudio_Hash(studio, now);
    CHECK(strcmp(now, hashes[70]) == 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"seek\", \"frame\": 3"));
    CHECK(snwStudio_Do(studio, "\"do\": \"seek\", \"frame\": 70"));
    CHECK_NEAR(snwStudio_Number(studio, "recording.shown"), -1, 0);
    snwStudio_Hash(studio, now);
    CHECK(strcmp(now, hashes[70]) == 0);
    json_t* answer = snwStudio_Ask(studio, "\"do\": \"seek\", \"frame\": 71");
    CHECK(json_is_false(json_object_get(answer, "ok")));
    json_decref(answer);
    snwStudio_Close(studio);
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static json_t* Export(snwStudio* studio, const char* kind, const char* name)
{
    json_t* answer = snwStudio_Ask(studio, "\"do\": \"export\", \"kind\": \"%s\", \"name\": \"%s\"", kind, name);
    int job = (int)json_integer_value(json_object_get(answer, "job"));
    json_decref(answer);
    return snwStudio_Job(studio, job);
}

static bool PathOf(snwStudio* studio, const json_t* done, char* path, size_t capacity)
{
    const char* file = json_string_value(json_object_get(done, "file"));
    if (file == NULL)
    {
        char* text = json_dumps(done, 0);
        snwTest_Fail(__FILE__, __LINE__, "%s", text);
        free(text);
        return false;
    }
    snprintf(path, capacity, "%s/%s", snwStudio_Folder(studio), file);
    return true;
}

TEST(session, exportsWhatWasShown)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 10"));
    CHECK(snwStudio_Do(
        studio, "\"do\": \"push\", \"body\": 0, \"vertex\": -1, \"force\": [0, 30, 0], \"duration\": 0.2"));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 20"));
    char path[1024];
    static const char* const kinds[] = {"glb", "pc2", "mdd", "obj", "joints", "scene", "log", "sidecar"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
    {
        json_t* done = Export(studio, kinds[i], "take");
        if (PathOf(studio, done, path, sizeof path))
        {
            FILE* file = fopen(path, "rb");
            CHECK(file != NULL);
            if (file != NULL)
                fclose(file);
            CHECK(json_number_value(json_object_get(done, "bytes")) > 0);
        }
        if (i < 5)
            CHECK_CONTAINS(
                json_string_value(json_array_get(json_object_get(done, "notes"), 0)), "all 31 frames are those");
        json_decref(done);
    }
    // A name that is taken stays with its file.
    json_t* done = Export(studio, "log", "take");
    CHECK(strcmp(json_string_value(json_object_get(done, "file")), "take-2.jsonl") == 0);
    json_decref(done);
    snwStudio_Close(studio);
}

TEST_HEAVY(session, exportsAFilm)
{
    if (system("ffmpeg -version >/dev/null 2>&1") != 0) // NOLINT: a fixed text
        SKIP("no ffmpeg here");
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 1"));
    char path[1024];
    json_t* done = Export(studio, "mp4", "take");
    CHECK(PathOf(studio, done, path, sizeof path) && access(path, R_OK) == 0);
    CHECK(json_number_value(json_object_get(done, "bytes")) > 1000);
    CHECK_CONTAINS(json_string_value(json_array_get(json_object_get(done, "notes"), 0)), "all 2 frames are those");
    json_decref(done);
    snwStudio_Close(studio);
}

// What is tuned here is what `sinew bake` takes from the file beside its source.
TEST(session, sidecarsAreWhatBakeReads)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    CHECK(snwStudio_Do(studio, "\"do\": \"material\", \"body\": 0, \"young\": 4321"));
    CHECK(snwStudio_Do(studio, "\"do\": \"set\", \"name\": \"sim.substeps\", \"value\": 7"));
    CHECK(snwStudio_Do(studio, "\"do\": \"gravity\", \"vector\": [0, -1.5, 0]"));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\""));
    char path[1024];
    json_t* done = Export(studio, "sidecar", "walk");
    CHECK(PathOf(studio, done, path, sizeof path) && strstr(path, "/walk.sinew.json") != NULL);
    json_decref(done);
    snwBakeSettings settings = {0};
    json_t* sidecar = json_load_file(path, 0, NULL);
    snwContext* context = snwSession_GetContext(snwStudio_Session(studio));
    REQUIRE(snwBakeSettings_Read(context, sidecar, path, NULL, &settings, NULL) == snw_ok);
    CHECK_NEAR(settings.gravity, 1.5, 0);
    CHECK_NEAR(json_number_value(json_object_get(settings.material, "young")), 4321, 0);
    CHECK_INT(json_integer_value(json_object_get(settings.settings, "sim.substeps")), 7);
    CHECK(strcmp(settings.method, "pbd") == 0);
    snwBakeSettings_Free(&settings);
    json_decref(sidecar);
    snwStudio_Close(studio);
}

TEST(session, exportedDocumentsAreValid)
{
    snwStudio* studio = snwStudio_Open("worm", NULL); // with a texture
    REQUIRE(studio != NULL);
    char paths[3][1024];
    int grab = Drag(studio, "\"body\": 0, \"handle\": 4", (snwVec3){0, 0.2, 0}, 10);
    CHECK(snwStudio_Do(studio, "\"do\": \"drop\", \"grab\": %d", grab));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 5"));
    json_t* done = Export(studio, "glb", "worm");
    CHECK(PathOf(studio, done, paths[0], sizeof paths[0]));
    json_decref(done);
    snwStudio_Close(studio);
    studio = OpenText("stick.json", s_stick);
    REQUIRE(studio != NULL);
    grab = Drag(studio, "\"body\": 0, \"bone\": 1", (snwVec3){0, 0.2, 0}, 15);
    static const char* const kinds[] = {"glb", "joints"};
    for (int i = 0; i < 2; ++i)
    {
        done = Export(studio, kinds[i], "stick");
        CHECK(PathOf(studio, done, paths[i + 1], sizeof paths[0]));
        json_decref(done);
    }
    snwStudio_Close(studio);
    const char* list[3] = {paths[0], paths[1], paths[2]};
    snwVerdict verdicts[3];
    if (!snwValidate(list, 3, verdicts))
        SKIP("no glTF validator here (tools/setup.sh validate)");
    for (int i = 0; i < 3; ++i)
    {
        CHECK_INT(verdicts[i].errors, 0);
        CHECK_INT(verdicts[i].warnings, 0);
    }
}

// The performance that was exported as a log, performed by the run loop, has the hashes of the preview; so has the
// scene that was saved with what was done as its script, but for its script's own count.
TEST(session, logReplays)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    char hash[17], expected[17], path[1024];
    CHECK(snwStudio_Do(studio, "\"do\": \"set\", \"name\": \"sim.substeps\", \"value\": 4"));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 12"));
    CHECK(snwStudio_Do(studio, "\"do\": \"push\", \"body\": 0, \"vertex\": 3, \"force\": [5, 1, 0]"));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 12"));
    snwStudio_Hash(studio, hash);
    json_t* done = Export(studio, "log", "performance");
    REQUIRE(PathOf(studio, done, path, sizeof path));
    json_decref(done);
    snwContext* context = snwSession_GetContext(snwStudio_Session(studio));
    snwLog log;
    snwMessage message;
    REQUIRE(snwLog_Open(context, path, NULL, &log, &message) >= 0);
    snwRunDef run = snwDefaultRunDef();
    snwRunReport report;
    run.replay = &log;
    CHECK_INT(snwRun(context, &run, &report, &message), snw_ok);
    CHECK_INT(report.firstDifference, -1);
    CHECK_INT(report.frames, 24);
    snprintf(expected, sizeof expected, "%016llx", (unsigned long long)report.hash);
    CHECK(strcmp(hash, expected) == 0);
    snwLog_Close(context, &log);
    // It opens as a recording to go on with.
    CHECK(snwStudio_Do(studio, "\"do\": \"reset\""));
    CHECK(snwStudio_Do(studio, "\"do\": \"open\", \"name\": \"performance.jsonl\""));
    CHECK(snwStudio_Settle(studio));
    CHECK_NEAR(snwStudio_Number(studio, "recording.last"), 24, 0);
    snwStudio_Hash(studio, expected);
    CHECK(strcmp(hash, expected) == 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"seek\", \"frame\": 7"));
    CHECK(snwStudio_Do(studio, "\"do\": \"seek\", \"frame\": 24"));
    snwStudio_Hash(studio, expected);
    CHECK(strcmp(hash, expected) == 0);
    snwStudio_Close(studio);
}

TEST(session, autosaves)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    char folder[512], hash[17], again[17];
    snprintf(folder, sizeof folder, "%s", snwStudio_Folder(studio));
    CHECK(snwStudio_Number(studio, "restorable") == 0);
    CHECK(snwStudio_Do(studio, "\"do\": \"gravity\", \"vector\": [1, 0, 0]"));
    CHECK(snwStudio_Do(studio, "\"do\": \"step\", \"frames\": 9"));
    snwStudio_Hash(studio, hash);
    snwStudio_Close(studio);
    studio = snwStudio_Open("bar", folder);
    REQUIRE(studio != NULL);
    CHECK_NEAR(snwStudio_Number(studio, "restorable"), 1, 0);
    CHECK_INT(snwStudio_Events(studio, "note"), 1);
    CHECK(snwStudio_Do(studio, "\"do\": \"open\", \"name\": \".autosave\""));
    CHECK(snwStudio_Settle(studio));
    snwStudio_Hash(studio, again);
    CHECK(strcmp(hash, again) == 0);
    CHECK_NEAR(snwStudio_Number(studio, "gravity.0"), 1, 0);
    snwStudio_Close(studio);
}

// ---------------------------------------------------------------------------------------------------------------------
// Abuse

typedef struct Wrong
{
    const char* text;
    const char* word; // of the error
} Wrong;

static const Wrong s_wrongs[] = {
    {"", "end"},
    {"{", "end"},
    {"null", "expected"},
    {"[]", "object"},
    {"{\"v\": 1}", "do"},
    {"{\"do\": \"play\"}", "v"},
    {"{\"v\": 2, \"do\": \"play\"}", "1..1"},
    {"{\"v\": 1, \"do\": \"plau\"}", "plau"},
    {"{\"v\": 1, \"do\": 7}", "text"},
    {"{\"v\": 1, \"id\": \"x\", \"do\": \"play\"}", "id"},
    {"{\"v\": 1, \"do\": \"play\", \"speeed\": 1}", "speeed"},
    {"{\"v\": 1, \"do\": \"play\", \"do\": \"pause\"}", "duplicate"},
    {"{\"v\": 1, \"do\": \"speed\", \"value\": 9}", "0.05..4"},
    {"{\"v\": 1, \"do\": \"speed\"}", "value"},
    {"{\"v\": 1, \"do\": \"step\", \"frames\": 100000}", "1..1000"},
    {"{\"v\": 1, \"do\": \"set\", \"name\": \"sim.substep\", \"value\": 2}", "sim.substep"},
    {"{\"v\": 1, \"do\": \"set\", \"name\": \"sim.substeps\", \"value\": \"many\"}", "number"},
    {"{\"v\": 1, \"do\": \"set\", \"name\": \"sim.substeps\", \"value\": 1e9}", "1..1000"},
    {"{\"v\": 1, \"do\": \"gravity\", \"vector\": [0, 1]}", "3 numbers"},
    {"{\"v\": 1, \"do\": \"gravity\", \"vector\": [0, 1, \"a\"]}", "number"},
    {"{\"v\": 1, \"do\": \"material\", \"body\": 0}", "material"},
    {"{\"v\": 1, \"do\": \"material\", \"body\": 9, \"young\": 1e4}", "body"},
    {"{\"v\": 1, \"do\": \"material\", \"body\": 0, \"young\": -1}", "must be"},
    {"{\"v\": 1, \"do\": \"material\", \"body\": 0, \"preset\": \"stone\"}", "stone"},
    {"{\"v\": 1, \"do\": \"method\", \"name\": \"fem\"}", "fem"},
    {"{\"v\": 1, \"do\": \"motion\", \"body\": 0, \"name\": \"walk\"}", "walk"},
    {"{\"v\": 1, \"do\": \"grab\"}", "what to take"},
    {"{\"v\": 1, \"do\": \"grab\", \"origin\": [0, 0, 0], \"direction\": [0, 0, 0]}", "direction"},
    {"{\"v\": 1, \"do\": \"grab\", \"body\": 0, \"handle\": 0}", "handle"},
    {"{\"v\": 1, \"do\": \"grab\", \"body\": 0, \"bone\": 3}", "bone"},
    {"{\"v\": 1, \"do\": \"grab\", \"body\": 5, \"bone\": 0}", "body"},
    {"{\"v\": 1, \"do\": \"grab\", \"prop\": 4}", "prop"},
    {"{\"v\": 1, \"do\": \"grab\", \"pin\": 4}", "pin"},
    {"{\"v\": 1, \"do\": \"grab\", \"collider\": 4}", "collider"},
    {"{\"v\": 1, \"do\": \"move\", \"grab\": 99, \"position\": [0, 0, 0]}", "99"},
    {"{\"v\": 1, \"do\": \"drop\", \"grab\": 99}", "99"},
    {"{\"v\": 1, \"do\": \"push\", \"body\": 0, \"vertex\": 100000, \"force\": [0, 0, 0]}", "vertex"},
    {"{\"v\": 1, \"do\": \"push\", \"origin\": [9, 9, 9], \"direction\": [0, 1, 0], \"force\": [0, 0, 1]}", "nothing"},
    {"{\"v\": 1, \"do\": \"lock\", \"body\": 0, \"handles\": [0]}", "handle"},
    {"{\"v\": 1, \"do\": \"lock\", \"body\": 0, \"handles\": []}", "list"},
    {"{\"v\": 1, \"do\": \"lock\", \"body\": 0, \"handles\": [0], \"given\": [\"w\"]}", "w"},
    {"{\"v\": 1, \"do\": \"rule\", \"body\": 0, \"constraint\": 0}", "rules"},
    {"{\"v\": 1, \"do\": \"command\", \"command\": {\"kind\": \"explode\"}}", "explode"},
    {"{\"v\": 1, \"do\": \"command\", \"command\": 7}", "object"},
    {"{\"v\": 1, \"do\": \"undo\"}", "nothing"},
    {"{\"v\": 1, \"do\": \"redo\"}", "nothing"},
    {"{\"v\": 1, \"do\": \"seek\", \"frame\": 5}", "0..0"},
    {"{\"v\": 1, \"do\": \"export\", \"kind\": \"fbx\"}", "fbx"},
    {"{\"v\": 1, \"do\": \"cancel\", \"job\": 77}", "77"},
    {"{\"v\": 1, \"do\": \"view\", \"want\": [\"bones\"]}", "bones"},
    {"{\"v\": 1, \"do\": \"view\", \"want\": 1}", "list"},
};

TEST(session, refusesNonsense)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    char before[17], after[17];
    snwStudio_Hash(studio, before);
    for (size_t i = 0; i < sizeof s_wrongs / sizeof s_wrongs[0]; ++i)
    {
        json_t* answer = snwStudio_Raw(studio, s_wrongs[i].text, strlen(s_wrongs[i].text));
        char* text = json_dumps(json_object_get(answer, "error"), 0);
        if (!json_is_false(json_object_get(answer, "ok")) || text == NULL || strstr(text, s_wrongs[i].word) == NULL)
            snwTest_Fail(__FILE__, __LINE__, "%s -> %s", s_wrongs[i].text, text != NULL ? text : "ok");
        free(text);
        json_decref(answer);
    }
    static const char bytes[] = "{\"v\": 1, \"do\": \"\xff\xfe\x00\"}";
    json_t* answer = snwStudio_Raw(studio, bytes, sizeof bytes - 1);
    CHECK(json_is_false(json_object_get(answer, "ok")));
    json_decref(answer);
    snwStudio_Hash(studio, after);
    CHECK(strcmp(before, after) == 0);
    CHECK_NEAR(snwStudio_Number(studio, "frame"), 0, 0);
    json_t* state = snwStudio_State(studio);
    CHECK(json_is_null(json_object_get(state, "undo")));
    CHECK_INT(json_array_size(json_object_get(state, "grabs")), 0);
    json_decref(state);
    snwStudio_Close(studio);
}

// At once, or by the job that it became; for a reason with this word in it.
static bool IsRefusedFor(snwStudio* studio, const char* word, json_t* answer)
{
    bool atOnce = json_is_false(json_object_get(answer, "ok"));
    json_t* done = atOnce ? NULL : snwStudio_Job(studio, (int)json_integer_value(json_object_get(answer, "job")));
    json_t* error = json_object_get(atOnce ? answer : done, "error");
    char* text = error != NULL ? json_dumps(error, JSON_ENCODE_ANY) : NULL;
    bool refused = text != NULL && strstr(text, word) != NULL;
    free(text);
    json_decref(done);
    json_decref(answer);
    return refused;
}

static bool IsRefused(snwStudio* studio, json_t* answer)
{
    return IsRefusedFor(studio, "", answer);
}

TEST(session, staysInItsFolder)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    char path[1024], outside[1024];
    snprintf(outside, sizeof outside, "%s/secret.json", snwTest_TempDir());
    WriteText(outside, s_cube);
    snprintf(path, sizeof path, "%s/link.json", snwStudio_Folder(studio));
    CHECK(symlink(outside, path) == 0);
    snprintf(path, sizeof path, "%s/names.json", snwStudio_Folder(studio));
    WriteText(path, "{\"sinew\": 1, \"bodies\": [{\"name\": \"a\", \"character\": {\"file\": \"../secret.snw\"}}]}");
    static const char* const names[] = {
        "../secret.json", "link.json", "names.json", "/etc/passwd", "..", ".", "", "a/b", "nothing", "secret.json"};
    char before[17], after[17];
    snwStudio_Hash(studio, before);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    {
        CHECK(IsRefused(studio, snwStudio_Ask(studio, "\"do\": \"open\", \"name\": \"%s\"", names[i])));
        CHECK(IsRefused(
            studio, snwStudio_Ask(studio, "\"do\": \"export\", \"kind\": \"log\", \"name\": \"../%s\"", names[i])));
    }
    CHECK(snwStudio_Settle(studio));
    snwStudio_Hash(studio, after);
    CHECK(strcmp(before, after) == 0);
    snwStudio_Close(studio);
}

// What names a file outside, in every place and shape that the readers know. Refused by whom opens the file, so that no
// second reading of the text can be deceived: a byte-order mark, a log's first line, a link on the way.
TEST(session, filesNameNothingOutsideOfTheFolder)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    const char* folder = snwStudio_Folder(studio);
    char outside[1024], path[1024], link[1024];
    snprintf(outside, sizeof outside, "%s/clips-outside.json", snwTest_TempDir());
    WriteText(outside, "{\"clips\": []}");
    snprintf(path, sizeof path, "%s/clips-inside.json", folder);
    WriteText(path, "{\"clips\": []}");
    snprintf(link, sizeof link, "%s/clips-link.json", folder);
    CHECK(symlink(outside, link) == 0);

    static const char scene[] =
        "{\"sinew\": 1, \"bodies\": [{\"name\": \"a\", \"character\": {\"shape\": \"block\"}}], "
        "\"clips\": [{\"file\": \"%s\"}]}";
    static const char body[] = "{\"sinew\": 1, \"bodies\": [{\"name\": \"a\", \"character\": {\"file\": \"%s\"}}]}";
    struct
    {
        const char *name, *before, *format, *file, *after;
        bool refused;
    } cases[] = {
        {"w1.json", "", scene, "clips-inside.json", "", false},
        {"w2.json", "", scene, outside, "", true},
        {"w3.json", "\xEF\xBB\xBF", scene, outside, "", true},
        {"w4.json", "", scene, "clips-link.json", "", true},
        {"w5.json", "\n\t ", scene, outside, "", true},
        {"w6.json", "\xEF\xBB\xBF", body, outside, "", true},
        {"w7.jsonl", "{\"sinew_log\": 1, \"scene\": ", scene, outside, "}\n", true},
        {"w8.jsonl", "\xEF\xBB\xBF{\"sinew_log\": 1, \"scene\": ", scene, outside, "}\n", true},
        {"w9.jsonl", "{\"sinew_log\": 1, \"scene\": ", scene, "clips-inside.json", "}\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    {
        char inner[2048], text[4096];
        snprintf(inner, sizeof inner, cases[i].format, cases[i].file);
        snprintf(text, sizeof text, "%s%s%s", cases[i].before, inner, cases[i].after);
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].name);
        WriteText(path, text);
        bool refused = IsRefusedFor(
            studio, "not in the folder", snwStudio_Ask(studio, "\"do\": \"open\", \"name\": \"%s\"", cases[i].name));
        if (refused != cases[i].refused)
            snwTest_Fail(__FILE__, __LINE__, "%s is %s", cases[i].name, refused ? "refused" : "opened");
    }
    snwStudio_Close(studio);
}

TEST(session, queueIsBounded)
{
    snwStudio* studio = OpenCube();
    REQUIRE(studio != NULL);
    static const char step[] = "{\"v\": 1, \"do\": \"step\", \"frames\": 1000}";
    static const char play[] = "{\"v\": 1, \"do\": \"speed\", \"value\": 2}";
    snwSession* session = snwStudio_Session(studio);
    snwSession_Post(session, 2, step, sizeof step - 1); // keeps it busy for a while
    int taken = 0;
    for (int i = 0; i < 3 * snw_maxRequests; ++i)
        taken += snwSession_Post(session, 2, play, sizeof play - 1);
    CHECK(taken >= snw_maxRequests - 1);
    CHECK(taken < 3 * snw_maxRequests);
    char* large = calloc(1, snw_maxRequestBytes + 1);
    CHECK(!snwSession_Post(session, 2, large, snw_maxRequestBytes + 1));
    free(large);
    snwSession_Leave(session, 2);
    struct timespec pause = {0, 5000000};
    json_t* state = NULL;
    for (int i = 0; i < 200 * snwTest_Patience() && state == NULL; ++i)
    {
        nanosleep(&pause, NULL);
        state = snwStudio_State(studio); // NULL while the queue is full
    }
    CHECK_NEAR(json_number_value(json_object_get(state, "speed")), 2, 0);
    json_decref(state);
    snwStudio_Close(studio);
}
