// The studio as a viewer meets it: frames that arrive while a handle is dragged, how old they are, how long a hand
// waits for its effect, what a client that never reads costs the simulation, and the size of page and process.

#define _GNU_SOURCE // wait4, nftw, environ

#include "parts.h"
#include "studio_drag.h"

#include "base/clock.h"
#include "base/result.h"
#include "studio/pages.h"
#include "studio/studio.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char s_case[] = "egg-30k";
static const char s_method[] = "rigpbd";

// A flat egg of 1934 vertices, shown by a skin with 16 times as many triangles: some 30,000 vertices.
static const char s_scene[] =
    "{\"sinew\": 1, \"name\": \"studio-bench\", \"method\": \"rigpbd\", \"gravity\": [0, 0, 0], \"duration\": 60, "
    "\"settings\": {\"sim.substeps\": 15, \"rigpbd.damping\": 2}, \"bodies\": [{\"name\": \"egg\", "
    "\"character\": {\"blueprint\": \"ellipse\", \"fine\": 16, \"material\": {\"young\": 6000}}}]}\n";

typedef struct Place
{
    char folder[64], scene[96], work[96];
} Place;

static snwResult MakePlace(Place* place, snwMessage* message)
{
    snprintf(place->folder, sizeof place->folder, "/tmp/sinew-bench-XXXXXX");
    if (mkdtemp(place->folder) == NULL)
        return snwFail(message, snw_errorIo, "is /tmp full?", "cannot make a folder: %s", strerror(errno));
    snprintf(place->scene, sizeof place->scene, "%s/scene.json", place->folder);
    snprintf(place->work, sizeof place->work, "%s/work", place->folder);
    FILE* file = fopen(place->scene, "w");
    bool written = file != NULL && fputs(s_scene, file) >= 0;
    written = file != NULL && fclose(file) == 0 && written;
    return written ? snw_ok : snwFail(message, snw_errorIo, "is /tmp full?", "cannot write %s", place->scene);
}

static int RemoveEntry(const char* path, const struct stat* info, int kind, struct FTW* walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void RemovePlace(const Place* place)
{
    nftw(place->folder, RemoveEntry, 8, FTW_DEPTH | FTW_PHYS);
}

// ---------------------------------------------------------------------------------------------------------------------
// A studio in this process, so that the newest frame can be asked for

typedef struct Studio
{
    snwStudioDef def;
    snwContext* context;
    pthread_t thread;
    volatile bool stop;
    pthread_mutex_t mutex; // for what follows
    pthread_cond_t news;
    bool ready, ended;
    snwSession* session;
    int port;
    char token[64];
    snwResult result;
    snwMessage message;
} Studio;

static void Ready(const snwServer* server, snwSession* session, void* user)
{
    Studio* studio = user;
    pthread_mutex_lock(&studio->mutex);
    studio->session = session;
    studio->port = snwServer_Port(server);
    snprintf(studio->token, sizeof studio->token, "%s", snwServer_Token(server));
    studio->ready = true;
    pthread_cond_signal(&studio->news);
    pthread_mutex_unlock(&studio->mutex);
}

static void* RunStudio(void* user)
{
    Studio* studio = user;
    snwResult result = snwStudio_Run(studio->context, &studio->def, &studio->message);
    pthread_mutex_lock(&studio->mutex);
    studio->result = result;
    studio->ended = true;
    pthread_cond_signal(&studio->news);
    pthread_mutex_unlock(&studio->mutex);
    return NULL;
}

static bool OpenStudio(Studio* studio, const Place* place, snwMessage* message)
{
    snwContextDef contextDef = snwDefaultContextDef();
    contextDef.threadCount = 1;
    studio->def = snwDefaultStudioDef();
    studio->def.source = place->scene;
    studio->def.folder = place->work;
    studio->def.threads = 1;
    studio->def.server.port = 0;
    studio->def.server.interrupt = &studio->stop;
    studio->def.ready = Ready;
    studio->def.user = studio;
    pthread_mutex_init(&studio->mutex, NULL);
    pthread_cond_init(&studio->news, NULL);
    if (snwCreateContext(&contextDef, &studio->context, message) < 0)
        return false;
    if (pthread_create(&studio->thread, NULL, RunStudio, studio) != 0)
        return snwFailMemory(message) == snw_ok;
    pthread_mutex_lock(&studio->mutex);
    while (!studio->ready && !studio->ended)
        pthread_cond_wait(&studio->news, &studio->mutex);
    if (studio->ended)
        *message = studio->message;
    bool ready = studio->ready && !studio->ended;
    pthread_mutex_unlock(&studio->mutex);
    return ready;
}

static void CloseStudio(Studio* studio)
{
    studio->stop = true;
    pthread_join(studio->thread, NULL);
    snwDestroyContext(studio->context);
    pthread_cond_destroy(&studio->news);
    pthread_mutex_destroy(&studio->mutex);
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static void AddFigure(snwBenchRows* rows, const char* metric, double value, double target, const char* op)
{
    snwBenchRow row = snwMakeBenchRow(s_case, s_method, metric);
    row.value = value;
    row.n = 1;
    row.target = target;
    row.op = op;
    snprintf(row.note, sizeof row.note, "while a handle is dragged at 60 moves a second, one thread");
    snwBenchRows_Add(rows, &row);
}

static void AddFrameRows(snwBenchRows* rows, snwDragFigures* figures)
{
    snwBenchRows_AddValue(rows, s_case, s_method, "vertices", figures->vertices);
    AddFigure(rows, "frames_received_per_s", figures->frames / figures->seconds, 55, ">=");
    AddFigure(rows, "frame_age_max", figures->ageMax, 2, "<=");
    AddFigure(rows, "latency_ms_median", snwMedian(figures->latencies, figures->latencyCount), 35, "<=");
}

// A turn of a second without the client that never reads, and one with it.
static bool AddTurn(Studio* studio, snwDrag* drag, snwDragFigures* figures, snwSamples samples[2])
{
    bool sound = true;
    for (int slow = 0; slow < 2 && sound; ++slow)
    {
        snwWire deaf = {.socket = -1};
        sound = slow == 0 || snwWire_Upgrade(&deaf, studio->port, studio->token);
        sound = sound && snwDrag_Go(drag, 1, figures);
        snwSamples_Add(&samples[slow], snwMedian(figures->steps, figures->stepCount));
        snwWire_Close(&deaf);
    }
    return sound;
}

static void AddSlowRow(snwBenchRows* rows, const snwSamples samples[2])
{
    snwSamples ratios = snwSamples_Ratios(&samples[1], &samples[0]);
    snwBenchRow row = snwMakeBenchRow(s_case, s_method, "slow_client_step_ratio");
    snwBenchRow_SetSamples(&row, &ratios);
    row.target = 1.05;
    row.op = "<=";
    snprintf(row.note, sizeof row.note, "turns of a second, with and without a client that never reads");
    snwBenchRows_Add(rows, &row);
}

static snwResult MeasureFrames(snwBenchRows* rows, Studio* studio, snwDragFigures* figures)
{
    snwDrag drag;
    snwSamples samples[2] = {0};
    bool sound = snwDrag_Begin(&drag, studio->port, studio->token, studio->session) && snwDrag_Go(&drag, 1, figures) &&
                 snwDrag_Go(&drag, 6, figures); // the first warms up
    if (sound)
        AddFrameRows(rows, figures);
    for (int run = 0; run < rows->options->runs && sound; ++run)
        sound = AddTurn(studio, &drag, figures, samples);
    if (sound)
        AddSlowRow(rows, samples);
    snwDrag_End(&drag);
    return sound ? snw_ok : snwFail(rows->message, snw_errorIo, NULL, "the studio sent no frames");
}

static snwResult ShowAndMeasure(snwBenchRows* rows, const Place* place, snwDragFigures* figures)
{
    Studio studio = {0};
    if (!OpenStudio(&studio, place, rows->message))
        return snw_errorIo;
    snwResult result = MeasureFrames(rows, &studio, figures);
    CloseStudio(&studio);
    return result < 0 ? result : rows->result;
}

// What a part needs: a folder, and room for figures.
static void WithPlace(
    snwBenchRows* rows, snwResult (*measure)(snwBenchRows* rows, const Place* place, snwDragFigures* figures))
{
    Place place;
    snwDragFigures* figures = malloc(sizeof *figures);
    rows->result = figures != NULL ? MakePlace(&place, rows->message) : snwFailMemory(rows->message);
    if (figures != NULL && rows->result == snw_ok)
        rows->result = measure(rows, &place, figures);
    if (figures != NULL)
        RemovePlace(&place);
    free(figures);
}

static void AddFrames(snwBenchRows* rows)
{
    WithPlace(rows, ShowAndMeasure);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory: two processes, one that only simulates and one that is a studio

// Its path; false: this is another program, a test.
static bool FindProgram(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    const char* slash = strrchr(path, '/');
    return slash != NULL && strcmp(slash, "/sinew") == 0;
}

static pid_t Start(const char* path, char* const* words, const char* output)
{
    posix_spawn_file_actions_t actions;
    pid_t process = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    bool good = posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0666) == 0 &&
                posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawn(&process, path, &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return good ? process : -1;
}

// MB of 10^6 bytes.
static double ReadMemory(pid_t process)
{
    char path[64], line[256];
    double value = NAN;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE* file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            value = strtod(line + 6, NULL) * 1024 / 1e6; // kB
    if (file != NULL)
        fclose(file);
    return value;
}

static double SimMemory(const char* path, const Place* place)
{
    char output[96], frames[96];
    snprintf(output, sizeof output, "%s/sim.txt", place->folder);
    snprintf(frames, sizeof frames, "%s/sim", place->folder);
    char* const words[] = {(char*)"sinew", (char*)"sim", (char*)place->scene, (char*)"-o", frames, (char*)"--duration",
        (char*)"0.5", (char*)"--threads", (char*)"1", (char*)"--no-film", (char*)"-q", NULL};
    pid_t process = Start(path, words, output);
    struct rusage usage;
    int status = 0;
    if (process < 0 || wait4(process, &status, 0, &usage) != process || status != 0)
        return NAN;
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

static bool ReadAddress(const char* output, int* port, char token[64])
{
    for (int i = 0; i < 200; ++i)
    {
        json_t* json = json_load_file(output, 0, NULL);
        const char* said = json_string_value(json_object_get(json, "token"));
        *port = (int)json_integer_value(json_object_get(json, "port"));
        snprintf(token, 64, "%s", said != NULL ? said : "");
        json_decref(json);
        if (token[0] != 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return false;
}

static double StudioMemory(const char* path, const Place* place, snwDragFigures* figures)
{
    char output[96];
    snprintf(output, sizeof output, "%s/studio.txt", place->folder);
    char* const words[] = {(char*)"sinew", (char*)"studio", (char*)place->scene, (char*)"--folder", (char*)place->work,
        (char*)"--port", (char*)"0", (char*)"--threads", (char*)"1", (char*)"--no-open", (char*)"--json", NULL};
    pid_t process = Start(path, words, output);
    if (process < 0)
        return NAN;
    int port = 0;
    char token[64];
    snwDrag drag;
    double memory = NAN;
    if (ReadAddress(output, &port, token))
    {
        if (snwDrag_Begin(&drag, port, token, NULL) && snwDrag_Go(&drag, 8, figures)) // fills its cache of frames
            memory = ReadMemory(process);
        snwDrag_End(&drag);
    }
    kill(process, SIGTERM);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
    {
    }
    return memory;
}

static snwResult MeasureMemory(snwBenchRows* rows, const Place* place, snwDragFigures* figures)
{
    char path[PATH_MAX];
    snwBenchRow row = snwMakeBenchRow(s_case, s_method, "rss_over_character_mb");
    row.target = 100;
    row.op = "<=";
    snprintf(row.note, sizeof row.note, "not measured: this program is no sinew, or it could not be started");
    if (FindProgram(path))
        row.value = StudioMemory(path, place, figures) - SimMemory(path, place);
    if (isfinite(row.value))
        snprintf(row.note, sizeof row.note, "a studio after 8 s of dragging over `sinew sim` of the same scene");
    row.n = isfinite(row.value);
    snwBenchRows_Add(rows, &row);
    return rows->result;
}

static void AddMemory(snwBenchRows* rows)
{
    WithPlace(rows, MeasureMemory);
}

// ---------------------------------------------------------------------------------------------------------------------
// The page

// By gzip -9, each file for itself, as a server would send them.
static double PageBytes(const char* folder)
{
    char command[PATH_MAX + 128], answer[64] = "";
    if (strchr(folder, '\'') != NULL)
        return NAN;
    snprintf(command, sizeof command, "find '%s' -type f ! -name '*.map' -exec gzip -9 -n -c {} + | wc -c", folder);
    FILE* pipe = popen(command, "r"); // NOLINT(cert-env33-c): the folder is ours, and quoted
    if (pipe == NULL)
        return NAN;
    bool read = fgets(answer, sizeof answer, pipe) != NULL;
    return pclose(pipe) == 0 && read ? strtod(answer, NULL) : NAN;
}

static void AddPage(snwBenchRows* rows)
{
    char buffer[PATH_MAX];
    const char* folder = snwPages_Folder(buffer, sizeof buffer);
    snwBenchRow row = snwMakeBenchRow("page", "", "bundle_gzip_kb");
    row.target = 300;
    row.op = "<=";
    row.value = folder != NULL ? PageBytes(folder) / 1e3 : NAN;
    row.n = isfinite(row.value);
    if (row.n == 0)
        snprintf(row.note, sizeof row.note, folder == NULL ? "the page is not built: make web" : "gzip does not run");
    snwBenchRows_Add(rows, &row);
}

static const snwBenchPart s_parts[] = {{"memory", AddMemory}, {"frames", AddFrames}, {"page", AddPage}};

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    static const snwBenchParts s_all = {s_parts, sizeof s_parts / sizeof *s_parts};
    return snwBenchParts_Run(&s_all, options, report, message);
}

const snwBench snwStudioBench = {
    "studio", "the studio as a viewer meets it: frames, their age, a hand's latency, slow clients, memory, page", Run};
