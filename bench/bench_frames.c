// The frames cache: how fast it is written and read, how large it is, and whether a resumed run is a straight one.

#include "bench.h"
#include "world.h"

#include "base/clock.h"
#include "base/result.h"
#include "scene/file.h"
#include "scene/frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
    snw_benchCells = 21, // 10k vertices
    snw_benchFrames = 96
};

typedef struct Case
{
    const char* name;
    double tolerance;
    bool vertices;
    snwSamples write, read;
    double bytesPerVertex;
} Case;

typedef struct Bench
{
    snwContext* context;
    snwSceneFile file;
    snwSim* sim;
    unsigned char* states; // of every frame: the sim's own work is done once
    size_t stateSize;
    char folder[64], path[96];
    snwBenchReport* report;
    snwMessage* message;
} Bench;

static snwResult Simulate(Bench* bench)
{
    snwResult result = snw_ok;
    for (int i = 0; i < snw_benchFrames && result >= 0; ++i)
    {
        result = snwSim_Save(
            bench->sim, bench->states + (size_t)i * bench->stateSize, bench->stateSize, NULL, bench->message);
        if (result >= 0)
            result = snwSim_Step(bench->sim, 1.0 / 60, bench->message);
    }
    return result;
}

static snwResult Open(Bench* bench)
{
    snwContextDef def = snwDefaultContextDef();
    snwSimDef simDef = snwDefaultSimDef();
    snprintf(bench->folder, sizeof bench->folder, "/tmp/sinew-bench-XXXXXX");
    if (mkdtemp(bench->folder) == NULL)
        return snwFail(bench->message, snw_errorIo, "make room in /tmp", "cannot make a folder in /tmp");
    snprintf(bench->path, sizeof bench->path, "%s/frames.snwf", bench->folder);
    bench->file.camera = snwDefaultCameraDef();
    snwResult result = snwCreateContext(&def, &bench->context, bench->message);
    if (result >= 0)
        result = snwMakeBlockScene(bench->context, snw_benchCells, &bench->file.scene, bench->message);
    simDef.scene = bench->file.scene;
    if (result >= 0)
        result = snwCreateSim(bench->context, &simDef, &bench->sim, bench->message);
    if (result < 0)
        return result;
    bench->stateSize = snwSim_GetStateSize(bench->sim);
    bench->states = malloc(bench->stateSize * snw_benchFrames);
    return bench->states != NULL ? Simulate(bench) : snwFailMemory(bench->message);
}

static void Close(Bench* bench)
{
    static const char* const names[] = {"frames.snwf", "frames.snwf.new", "straight.snwf", "picture.png"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", bench->folder, names[i]);
        unlink(path);
    }
    rmdir(bench->folder);
    if (bench->sim != NULL)
        snwDestroySim(bench->sim);
    if (bench->file.scene != NULL)
        snwSceneFile_Close(&bench->file);
    if (bench->context != NULL)
        snwDestroyContext(bench->context);
    free(bench->states);
}

// Only the cache's own work counts, not that of the sim.
static snwResult WriteOnce(Bench* bench, const Case* c, double* seconds)
{
    snwFramesDef def = {.path = bench->path,
        .file = &bench->file,
        .lastFrame = snw_benchFrames - 1,
        .tolerance = c->tolerance,
        .vertices = c->vertices,
        .overwrite = true};
    snwFramesWriter writer;
    snwMeasures measures = {0}; // to measure is not the cache's work
    snwResult result = snwFramesWriter_Open(&writer, bench->context, &def, bench->message);
    if (result < 0)
        return result;
    *seconds = -snwClock_Seconds();
    result = snwFramesWriter_Begin(&writer, bench->sim, bench->message);
    *seconds += snwClock_Seconds();
    for (int i = 0; i < snw_benchFrames && result >= 0; ++i)
    {
        result = snwSim_Restore(
            bench->sim, bench->states + (size_t)i * bench->stateSize, bench->stateSize, bench->message);
        uint64_t hash = snwSim_Hash(bench->sim);
        *seconds -= snwClock_Seconds();
        if (result >= 0)
            result = snwFramesWriter_AddFrame(&writer, bench->sim, i, hash, &measures, bench->message);
        *seconds += snwClock_Seconds();
    }
    *seconds -= snwClock_Seconds();
    snwResult finished = snwFramesWriter_Finish(&writer, bench->sim, result < 0 ? NULL : bench->message);
    *seconds += snwClock_Seconds();
    return result < 0 ? result : finished;
}

static snwResult ReadOnce(Bench* bench, double* seconds, snwFramesInfo* info)
{
    snwFrames* frames = NULL;
    snwFrame frame;
    *seconds = -snwClock_Seconds();
    snwResult result = snwFrames_Open(bench->context, bench->path, &frames, bench->message);
    for (int i = 0; i < snw_benchFrames && result >= 0; ++i)
        result = snwFrames_Read(frames, i, &frame, bench->message);
    *seconds += snwClock_Seconds();
    if (result >= 0)
        *info = snwFrames_GetInfo(frames);
    snwFrames_Close(frames);
    return result;
}

static snwResult RunOnce(Bench* bench, Case* c)
{
    double writing = 0, reading = 0;
    snwFramesInfo info = {0};
    snwResult result = WriteOnce(bench, c, &writing);
    if (result >= 0)
        result = ReadOnce(bench, &reading, &info);
    if (result < 0)
        return result;
    snwCharacterInfo character = snwCharacter_GetInfo(snwScene_GetDef(bench->file.scene)->bodies[0].character);
    double vertices = character.skinVertexCount + (c->vertices ? character.vertexCount : 0);
    snwSamples_Add(&c->write, 1e-6 * (double)info.bytes / writing);
    snwSamples_Add(&c->read, 1e-6 * (double)info.bytes / reading);
    c->bytesPerVertex = (double)info.bytes / snw_benchFrames / vertices;
    return snw_ok;
}

static snwResult AddCase(Bench* bench, const Case* c)
{
    const char* note = c->tolerance > 0 ? "positions within 0.1 mm" : "every bit";
    snwBenchRow rows[] = {snwMakeBenchRow(c->name, "pbd", "write_mb_s"), snwMakeBenchRow(c->name, "pbd", "read_mb_s"),
        snwMakeBenchRow(c->name, "pbd", "bytes_per_vertex")};
    snwBenchRow_SetSamples(&rows[0], &c->write);
    snwBenchRow_SetSamples(&rows[1], &c->read);
    rows[2].value = c->bytesPerVertex;
    rows[2].n = 1;
    snwResult result = snw_ok;
    for (int i = 0; i < 3 && result >= 0; ++i)
    {
        snprintf(rows[i].note, sizeof rows[i].note, "%s", note);
        result = snwBenchReport_Add(bench->report, &rows[i], bench->message);
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

// The film is drawn from the sim; the cache is not its source yet.
static snwResult AddRender(Bench* bench, int runs)
{
    snwSamples samples = {0};
    char picture[96];
    snwResult result = snw_ok;
    snprintf(picture, sizeof picture, "%s/picture.png", bench->folder);
    for (int i = 0; i < runs && result >= 0; ++i)
    {
        snwFilm* film = NULL;
        snwFilmDef def = snwDefaultFilmDef();
        def.directory = bench->folder;
        def.picturePath = picture;
        def.width = 768, def.height = 432, def.samples = 4;
        def.overwrite = true;
        result = snwCreateFilm(bench->context, &def, bench->file.scene, &film, bench->message);
        if (result >= 0)
            result = snwFilm_AddFrame(film, bench->sim, bench->message);
        double start = snwClock_Seconds();
        if (result >= 0)
            result = snwFilm_Finish(film, NULL, NULL, bench->message);
        snwSamples_Add(&samples, 1e3 * (snwClock_Seconds() - start));
        if (film != NULL)
            snwDestroyFilm(film);
    }
    snwBenchRow row = snwMakeBenchRow("block-10k", "pbd", "render_ms");
    snwBenchRow_SetSamples(&row, &samples);
    snprintf(row.note, sizeof row.note, "drawn from the sim, with its picture; one frame");
    return result < 0 ? result : snwBenchReport_Add(bench->report, &row, bench->message);
}

// ---------------------------------------------------------------------------------------------------------------------

typedef struct Stop
{
    volatile bool now;
    int at;
} Stop;

static snwResult StopAt(const snwRunFrame* frame, void* user, snwMessage* message)
{
    Stop* stop = user;
    (void)message;
    stop->now = frame->frame == stop->at;
    return snw_ok;
}

static snwResult RunTo(Bench* bench, int threads, const char* path, int stopAt, bool resume)
{
    Stop stop = {.at = stopAt};
    snwContextDef contextDef = snwDefaultContextDef();
    snwContext* context = NULL;
    snwSceneFile file = {.camera = snwDefaultCameraDef()};
    snwRunDef def = snwDefaultRunDef();
    contextDef.threadCount = threads;
    snwResult result = snwCreateContext(&contextDef, &context, bench->message);
    if (result >= 0)
        result = snwMakeBlockScene(context, 4, &file.scene, bench->message);
    def.file = &file;
    def.framesPath = path;
    def.framesPerChunk = 16;
    def.overwrite = !resume;
    def.resume = resume;
    def.interrupt = &stop.now;
    def.onFrame = StopAt;
    def.user = &stop;
    if (result >= 0)
        result = snwRun(context, &def, NULL, bench->message);
    if (file.scene != NULL)
        snwSceneFile_Close(&file);
    if (context != NULL)
        snwDestroyContext(context);
    return result == snw_errorInterrupted ? snw_ok : result;
}

static bool SameFile(snwContext* context, const char* a, const char* b)
{
    char *dataA = NULL, *dataB = NULL;
    size_t sizeA = 0, sizeB = 0;
    bool same = snwFile_Read(context, a, 1 << 30, &dataA, &sizeA, NULL) == snw_ok &&
                snwFile_Read(context, b, 1 << 30, &dataB, &sizeB, NULL) == snw_ok && sizeA == sizeB &&
                memcmp(dataA, dataB, sizeA) == 0;
    snwFree(context, dataA);
    snwFree(context, dataB);
    return same;
}

static snwResult AddResume(Bench* bench)
{
    char straight[96];
    snprintf(straight, sizeof straight, "%s/straight.snwf", bench->folder);
    snwBenchRow row = snwMakeBenchRow("block-125", "pbd", "resume_identical");
    snwResult result = RunTo(bench, 1, straight, -1, false);
    row.value = 1;
    for (int at = 1; at < 50 && result >= 0; at += 12, row.n++)
    {
        result = RunTo(bench, 1, bench->path, at, false);
        if (result >= 0)
            result = RunTo(bench, 2, bench->path, at + 5, true);
        if (result >= 0)
            result = RunTo(bench, 3, bench->path, -1, true);
        if (!SameFile(bench->context, straight, bench->path))
            row.value = 0;
    }
    row.target = 1;
    row.op = "==";
    snprintf(row.note, sizeof row.note, "stopped twice, resumed with 2 and 3 threads");
    return result < 0 ? result : snwBenchReport_Add(bench->report, &row, bench->message);
}

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    Case cases[] = {{.name = "block-10k-skin"}, {.name = "block-10k-skin-100um", .tolerance = 1e-4},
        {.name = "block-10k-mesh", .vertices = true},
        {.name = "block-10k-mesh-100um", .tolerance = 1e-4, .vertices = true}};
    enum
    {
        caseCount = sizeof cases / sizeof *cases
    };
    Bench bench = {.report = report, .message = message};
    snwResult result = Open(&bench);
    for (int i = 0; i < options->runs * caseCount && result >= 0; ++i)
        result = RunOnce(&bench, &cases[i % caseCount]);
    for (int i = 0; i < caseCount && result >= 0; ++i)
        result = AddCase(&bench, &cases[i]);
    if (result >= 0)
        result = AddRender(&bench, options->runs < 3 ? options->runs : 3);
    if (result >= 0)
        result = AddResume(&bench);
    Close(&bench);
    return result;
}

const snwBench snwFramesBench = {
    "frames", "the frames cache: speed and size, and whether a resumed run is a straight one", Run};
