// The studio's page in a real browser against the real server: web/tests/page.mjs.

#include "process.h"
#include "test.h"

enum
{
    snw_exitSkip = 77
};

TEST_HEAVY(studio, page)
{
    snwProcess process = snwProcess_Run((const char* const[]){
        "node", SNW_SOURCE_DIR "/web/tests/page.mjs", SNW_BINARY_DIR "/sinew", SNW_SOURCE_DIR "/build", NULL});
    bool without = process.code == -1 || process.code == 127 || process.code == snw_exitSkip;
    printf("%s", process.text);
    if (!without && process.code != 0)
        snwTest_Fail(__FILE__, __LINE__, "code %d\n%s", process.code, process.errors);
    snwProcess_Free(&process);
    if (without)
        SKIP("no node, no chromium, or the page is not built");
}
