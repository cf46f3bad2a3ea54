// Requests of a studio's viewers: any bytes get one answer at most, and that is sound JSON. Nothing is open, so what
// acts on a scene is refused after it was read; opening stops at the job that would do it.

#include "fuzz.h"
#include "studio/jobs.h"

#include <string.h>

static void Tell(int client, const char* text, size_t size, void* user)
{
    int* answers = user;
    json_t* answer = json_loadb(text, size, 0, NULL);
    bool event = json_object_get(answer, "event") != NULL;
    if (answer == NULL || (!event && json_object_get(answer, "ok") == NULL) || (client != 0) == event)
        abort();
    *answers += !event;
    json_decref(answer);
}

static void DropJobs(snwSession* session)
{
    while (session->waiting != NULL)
    {
        snwJob* job = session->waiting;
        session->waiting = job->next;
        snwDestroyJob(job);
    }
    session->loading = false;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static snwSession s_session;
    snwFuzzMemory memory;
    int answers = 0;
    snwContext* context = snwFuzz_NewContext(&memory, 16 << 20);
    if (size > snw_maxRequestBytes)
        size = snw_maxRequestBytes;
    s_session = (snwSession){.context = context, .folder = (char*)"/nonexistent", .speed = 1};
    s_session.def = snwDefaultSessionDef();
    s_session.def.tell = Tell;
    s_session.def.user = &answers;
    pthread_mutex_init(&s_session.mutex, NULL);
    pthread_cond_init(&s_session.wake, NULL);
    pthread_cond_init(&s_session.workerWake, NULL);
    snwSession_Handle(&s_session, &(snwRequest){.text = (char*)data, .size = size, .client = 1});
    if (answers > 1)
        abort();
    DropJobs(&s_session);
    snwArray_Free(context, &s_session.clients);
    pthread_cond_destroy(&s_session.workerWake);
    pthread_cond_destroy(&s_session.wake);
    pthread_mutex_destroy(&s_session.mutex);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
