// JSON that is changed: what comes in goes out again.

#include "fixture.h"
#include "test.h"

#include "scene/tree.h"

#include <stdlib.h>

static const char s_document[] =
    "{\"z\": 1, \"a\": [1.0, -0.0, 1e300, 5e-324, 0.1, 9007199254740993, -9223372036854775808, 100.0, 1e22],\n"
    " \"deep\": {\"x\": [[], {}, [{}]], \"null\": null, \"yes\": true, \"no\": false},\n"
    " \"\": \"\", \"text\": \"quo\\\"te \\\\ \\n \\u0001 \\u00e4 \\ud83d\\ude00 /\"}";

static char* RoundTrip(snwContext* context, const char* text)
{
    json_t* source = json_loads(text, 0, NULL);
    snwTree tree = snwCreateTree(context);
    snwValue* root = snwTree_Import(&tree, source);
    snwText out = snwCreateText(context, 0);
    if (root != NULL)
        snwValue_Write(root, &out);
    char* copy = root != NULL && !out.failed ? strdup(out.data) : NULL;
    snwText_Free(&out);
    snwTree_Free(&tree);
    json_decref(source);
    return copy;
}

TEST(tree, keepsKindsValuesAndOrder)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char* text = RoundTrip(context, s_document);
    REQUIRE(text != NULL);
    json_t *before = json_loads(s_document, 0, NULL), *after = json_loads(text, 0, NULL);
    CHECK(json_equal(before, after)); // also tells integers from reals
    json_t* list = json_object_get(after, "a");
    CHECK(signbit(json_real_value(json_array_get(list, 1))));
    CHECK(json_integer_value(json_array_get(list, 5)) == 9007199254740993);
    void *a = json_object_iter(before), *b = json_object_iter(after);
    for (; a != NULL && b != NULL; a = json_object_iter_next(before, a), b = json_object_iter_next(after, b))
        CHECK(strcmp(json_object_iter_key(a), json_object_iter_key(b)) == 0);
    char* again = RoundTrip(context, text);
    CHECK(again != NULL && strcmp(text, again) == 0);
    free(again);
    free(text);
    json_decref(before);
    json_decref(after);
    snwDestroyContext(context);
}

TEST(tree, changesKeepTheRestInPlace)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    json_t* source = json_loads("{\"a\": 1, \"b\": [1, 2], \"c\": 3}", 0, NULL);
    snwTree tree = snwCreateTree(context);
    snwValue* root = snwTree_Import(&tree, source);
    snwTree_SetText(&tree, root, "a", "one");
    for (int i = 3; i < 40; ++i)
        snwTree_AppendReal(&tree, snwTree_List(&tree, root, "b"), i == 3 ? 2.5 : i);
    snwTree_Remove(root, "c");
    snwTree_Remove(root, "never");
    snwTree_SetInt(&tree, snwTree_Object(&tree, root, "d"), "e", 5);
    CHECK(snwTree_List(&tree, root, "a") == NULL); // of another kind
    CHECK_INT(snwValue_Count(snwValue_Get(root, "b")), 39);
    CHECK_INT(snwValue_Int(snwValue_GetAt(root, "b", 38), -1), 39);
    CHECK_INT(snwValue_Int(snwValue_GetAt(root, "b", 39), -1), -1);
    snwText out = snwCreateText(context, 0);
    snwValue_Write(root, &out);
    CHECK(strncmp(out.data, "{\"a\": \"one\", \"b\": [1, 2, 2.5, 4, ", 31) == 0);
    CHECK_CONTAINS(out.data, "39], \"d\": {\"e\": 5}}");
    snwText_Free(&out);
    snwTree_Free(&tree);
    json_decref(source);
    snwDestroyContext(context);
}

TEST(tree, refusesDepthAndSurvivesFailedAllocations)
{
    char deep[2 * snw_maxTreeDepth + 8];
    memset(deep, '[', snw_maxTreeDepth + 2);
    memset(deep + snw_maxTreeDepth + 2, ']', snw_maxTreeDepth + 2);
    deep[2 * snw_maxTreeDepth + 4] = 0;
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    CHECK(RoundTrip(context, deep) == NULL);
    char* text = NULL;
    long live = counter.live;
    for (int n = 1; n < 100 && text == NULL; ++n)
    {
        counter.failAt = counter.allocations + n;
        text = RoundTrip(context, s_document);
        CHECK_INT(counter.live, live);
    }
    CHECK(text != NULL);
    free(text);
    snwDestroyContext(context);
}
