#include "validator.h"

#include "process.h"
#include "test.h"

#include <stdlib.h>

enum
{
    snw_mostFiles = 126,
    snw_exitWithout = 69 // of validate.js
};

bool snwValidate(const char* const* paths, int count, snwVerdict* verdicts)
{
    const char* words[snw_mostFiles + 3] = {"node", SNW_SOURCE_DIR "/tools/validate.js"};
    for (int i = 0; i < count; ++i)
    {
        words[i + 2] = paths[i];
        verdicts[i] = (snwVerdict){-1, -1, -1};
    }
    snwProcess process = snwProcess_Run(words);
    bool there = process.code != -1 && process.code != 127 && process.code != snw_exitWithout;
    char* line = process.text;
    for (int next = 0; there && line != NULL && *line != 0;)
    {
        char* end = strchr(line, '\n');
        snwVerdict v;
        if (line[0] == ' ')
            printf("validator: %.*s\n", end == NULL ? (int)strlen(line) : (int)(end - line), line);
        else if (next < count && sscanf(line, "%d %d %d", &v.errors, &v.warnings, &v.infos) == 3)
            verdicts[next++] = v;
        line = end == NULL ? NULL : end + 1;
    }
    if (there && process.code != 0)
        snwTest_Fail(__FILE__, __LINE__, "the validator ended with %d: %s", process.code, process.errors);
    snwProcess_Free(&process);
    return there;
}
