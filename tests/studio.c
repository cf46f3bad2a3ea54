#include "studio.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

enum
{
    mostMessages = 4096,
};

typedef struct Caught
{
    int client;
    json_t* message;
} Caught;

struct snwStudio
{
    snwSession* session;
    char folder[512];
    pthread_mutex_t mutex;
    pthread_cond_t came;
    Caught caught[mostMessages];
    int count;
    int nextId;
};

static void Tell(int client, const char* text, size_t size, void* user)
{
    snwStudio* studio = user;
    json_error_t error;
    json_t* message = json_loadb(text, size, 0, &error);
    if (message == NULL)
        snwTest_Fail(__FILE__, __LINE__, "no JSON: %.*s", (int)(size < 200 ? size : 200), text);
    pthread_mutex_lock(&studio->mutex);
    bool repeated = strcmp(json_string_value(json_object_get(message, "event")) != NULL
                               ? json_string_value(json_object_get(message, "event"))
                               : "",
                        "state") == 0 &&
                    studio->count > mostMessages / 2;
    if (message != NULL && studio->count < mostMessages && !repeated)
        studio->caught[studio->count++] = (Caught){client, message};
    else
        json_decref(message);
    pthread_cond_broadcast(&studio->came);
    pthread_mutex_unlock(&studio->mutex);
}

typedef bool MatchFn(const Caught* caught, const void* data);

// The first that matches from `first` on, waiting for it.
static json_t* WaitFor(snwStudio* studio, int first, MatchFn* match, const void* data)
{
    struct timespec until;
    json_t* found = NULL;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += snwTest_Patience();
    pthread_mutex_lock(&studio->mutex);
    for (int i = first; found == NULL;)
    {
        for (; i < studio->count && found == NULL; ++i)
            if (match(&studio->caught[i], data))
                found = json_incref(studio->caught[i].message);
        if (found == NULL && pthread_cond_timedwait(&studio->came, &studio->mutex, &until) == ETIMEDOUT)
            break;
    }
    pthread_mutex_unlock(&studio->mutex);
    if (found == NULL)
        snwTest_Fail(__FILE__, __LINE__, "no answer within %d s", snwTest_Patience());
    return found;
}

static int Count(snwStudio* studio)
{
    pthread_mutex_lock(&studio->mutex);
    int count = studio->count;
    pthread_mutex_unlock(&studio->mutex);
    return count;
}

static bool HasId(const Caught* caught, const void* data)
{
    return json_integer_value(json_object_get(caught->message, "id")) == *(const int*)data;
}

static bool IsAnswer(const Caught* caught, const void* data)
{
    (void)data;
    return caught->client == 1 && json_object_get(caught->message, "event") == NULL;
}

static bool EndsJob(const Caught* caught, const void* data)
{
    return json_integer_value(json_object_get(caught->message, "job")) == *(const int*)data &&
           json_object_get(caught->message, "event") != NULL && json_is_true(json_object_get(caught->message, "done"));
}

json_t* snwStudio_AskAs(snwStudio* studio, int client, const char* keys)
{
    char text[8192];
    int id = ++studio->nextId, first = Count(studio);
    int size = snprintf(text, sizeof text, "{\"v\": 1, \"id\": %d, %s}", id, keys);
    if (!snwSession_Post(studio->session, client, text, (size_t)size))
        return NULL;
    return WaitFor(studio, first, HasId, &id);
}

json_t* snwStudio_Ask(snwStudio* studio, const char* format, ...)
{
    char keys[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(keys, sizeof keys, format, list);
    va_end(list);
    return snwStudio_AskAs(studio, 1, keys);
}

bool snwStudio_Do(snwStudio* studio, const char* format, ...)
{
    char keys[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(keys, sizeof keys, format, list);
    va_end(list);
    json_t* answer = snwStudio_AskAs(studio, 1, keys);
    bool ok = json_is_true(json_object_get(answer, "ok"));
    if (!ok)
    {
        char* text = json_dumps(answer, 0);
        printf("%s -> %s\n", keys, text);
        free(text);
    }
    json_decref(answer);
    return ok;
}

json_t* snwStudio_Raw(snwStudio* studio, const char* text, size_t size)
{
    int first = Count(studio);
    return snwSession_Post(studio->session, 1, text, size) ? WaitFor(studio, first, IsAnswer, NULL) : NULL;
}

json_t* snwStudio_State(snwStudio* studio)
{
    return snwStudio_Ask(studio, "\"do\": \"hello\"");
}

bool snwStudio_Settle(snwStudio* studio)
{
    struct timespec pause = {0, 2000000};
    for (int i = 0; i < snwTest_Patience() * 500; ++i)
    {
        json_t* state = snwStudio_State(studio);
        bool there = json_is_null(json_object_get(state, "loading"));
        json_decref(state);
        if (there)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

json_t* snwStudio_Job(snwStudio* studio, int job)
{
    return WaitFor(studio, 0, EndsJob, &job);
}

double snwStudio_Number(snwStudio* studio, const char* path)
{
    json_t *state = snwStudio_State(studio), *value = state;
    char words[128], *rest = words;
    snprintf(words, sizeof words, "%s", path);
    for (char* word; value != NULL && (word = strtok_r(rest, ".", &rest)) != NULL;)
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(word)) : json_object_get(value, word);
    double number = json_is_number(value)    ? json_number_value(value)
                    : json_is_boolean(value) ? json_is_true(value)
                                             : (double)NAN;
    json_decref(state);
    return number;
}

void snwStudio_Hash(snwStudio* studio, char hash[17])
{
    json_t* state = snwStudio_State(studio);
    const char* text = json_string_value(json_object_get(state, "hash"));
    snprintf(hash, 17, "%s", text != NULL ? text : "?");
    json_decref(state);
}

int snwStudio_Events(snwStudio* studio, const char* name)
{
    int events = 0;
    pthread_mutex_lock(&studio->mutex);
    for (int i = 0; i < studio->count; ++i)
    {
        const char* event = json_string_value(json_object_get(studio->caught[i].message, "event"));
        events += event != NULL && strcmp(event, name) == 0;
    }
    pthread_mutex_unlock(&studio->mutex);
    return events;
}

snwSession* snwStudio_Session(const snwStudio* studio)
{
    return studio->session;
}

const char* snwStudio_Folder(const snwStudio* studio)
{
    return studio->folder;
}

snwStudio* snwStudio_Open(const char* source, const char* folder)
{
    static int number;
    snwStudio* studio = calloc(1, sizeof *studio);
    snwSessionDef def = snwDefaultSessionDef();
    snwMessage message = {0};
    if (folder != NULL)
        snprintf(studio->folder, sizeof studio->folder, "%s", folder);
    else
        snprintf(studio->folder, sizeof studio->folder, "%s/studio-%d", snwTest_TempDir(), ++number);
    pthread_mutex_init(&studio->mutex, NULL);
    pthread_cond_init(&studio->came, NULL);
    def.source = source;
    def.folder = studio->folder;
    def.threads = 1;
    def.paused = true;
    def.tell = Tell;
    def.user = studio;
    if (snwCreateSession(&def, &studio->session, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    else if (snwStudio_Settle(studio) && snwStudio_Number(studio, "frame") >= 0)
        return studio;
    snwStudio_Close(studio);
    return NULL;
}

void snwStudio_Close(snwStudio* studio)
{
    if (studio == NULL)
        return;
    snwDestroySession(studio->session);
    for (int i = 0; i < studio->count; ++i)
        json_decref(studio->caught[i].message);
    pthread_mutex_destroy(&studio->mutex);
    pthread_cond_destroy(&studio->came);
    free(studio);
}
