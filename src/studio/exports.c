// Files of the recording.

#include "studio/jobs.h"
#include "studio/requests.h"

#include <stdio.h>
#include <string.h>

static const char* const s_exports[] = {"glb", "joints", "pc2", "mdd", "obj", "mp4", "scene", "log", "sidecar"};

bool snwExportWord_IsKnown(const char* word)
{
    for (size_t i = 0; i < sizeof s_exports / sizeof s_exports[0]; ++i)
        if (strcmp(word, s_exports[i]) == 0)
            return true;
    return false;
}

snwResult snwJob_Export(snwJob* job)
{
    return snwFail(&job->message, snw_errorUnsupported, NULL, "not yet");
}

void snwJob_WriteFiles(const snwJob* job, snwText* text)
{
    (void)job;
    (void)text;
}

snwResult snwAct_Words(snwAnswer* answer)
{
    return snwFail(answer->json.message, snw_errorUnsupported, NULL, "not yet");
}
