// The studio's session, driven by requests.

#include "studio.h"
#include "test.h"

#include "studio/encode.h"

#include <stdlib.h>
#include <time.h>

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

TEST(studio_session, opens_and_shows)
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
