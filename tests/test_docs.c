#include "process.h"
#include "test.h"

#include <ctype.h>
#include <stdlib.h>

// Copies `module.name` out of the page; false if the quoted text has another form (a file, a fuzz target ...).
static bool TestName(const char* start, const char* end, char* name, size_t capacity)
{
    size_t length = (size_t)(end - start), dots = 0;
    if (length == 0 || length >= capacity)
        return false;
    for (size_t i = 0; i < length; ++i)
    {
        dots += start[i] == '.';
        if (start[i] != '.' && !isalnum((unsigned char)start[i]))
            return false;
        name[i] = start[i];
    }
    name[length] = 0;
    return dots == 1;
}

TEST(docs, featuresNameTestsThatExist)
{
    char* page = snwReadWhole(SNW_SOURCE_DIR "/docs/features.md");
    REQUIRE(page != NULL);
    int count = 0;
    for (const char* tick = strchr(page, '`'); tick != NULL; tick = strchr(tick, '`'))
    {
        const char* end = strchr(tick + 1, '`');
        REQUIRE(end != NULL);
        char name[128];
        if (TestName(tick + 1, end, name, sizeof name))
        {
            count++;
            if (!snwTest_Exists(name))
                snwTest_Fail(__FILE__, __LINE__, "there is no test %s", name);
        }
        tick = end + 1;
    }
    CHECK(count > 80);
    free(page);
}
