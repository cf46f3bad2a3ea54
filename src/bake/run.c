// The run of a bake: the run loop of all scenes with a frames cache, from which an interrupted one goes on. A loop is
// run cycle after cycle until one begins as the one before did.

#include "bake/parts.h"
#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SNW_REPEATS 0.1 // of the median change from frame to frame: the fade closes what is left

// Where a cycle begins: positions of its first two frames.
typedef struct Start
{
    float *first, *second;
} Start;

typedef struct Runner
{
    snwBake* bake;
    snwFrames* found; // from an earlier run; NULL: none
    int vertexCount;
    float *now, *last; // positions of this frame and of the one before
    Start starts[2];   // of this cycle and of the one before
    double* changes;   // of the frames of a cycle, to the next
    double* sorted;
    int repeatedCycle; // the first that repeats the one before, counted from 0; -1: none yet
} Runner;

// ---------------------------------------------------------------------------------------------------------------------
// Does it repeat?

// Root mean square over the vertices: one that flickers does not keep a loop from closing.
static double FrameDistance(const float* a, const float* b, int count)
{
    double sum = 0;
    for (int i = 0; i < 3 * count; ++i)
    {
        double d = (double)(a[i] - b[i]);
        sum += d * d;
    }
    return sqrt(sum / count);
}

// How differently two cycles begin: the difference of their velocities, per frame.
static double VelocityGap(const Start* a, const Start* b, int count)
{
    double sum = 0;
    for (int i = 0; i < 3 * count; ++i)
    {
        double d = (double)((a->second[i] - a->first[i]) - (b->second[i] - b->first[i]));
        sum += d * d;
    }
    return sqrt(sum / count);
}

static double MedianChange(Runner* runner, int count)
{
    memcpy(runner->sorted, runner->changes, (size_t)count * sizeof(double));
    snwSortReals(runner->sorted, count);
    return runner->sorted[count / 2];
}

// positions: of frame `frame` of the run.
static void WatchLoop(Runner* runner, int frame, const float* positions)
{
    const snwBakePlan* plan = &runner->bake->plan;
    int count = runner->vertexCount, at = frame - plan->prerollFrames;
    size_t bytes = 3 * (size_t)count * sizeof(float);

    // Changes from frame to frame, for the median.
    if (at >= 1)
        runner->changes[(at - 1) % plan->cycleFrames] = FrameDistance(positions, runner->last, count);
    memcpy(runner->last, positions, bytes);
    if (at < 0 || runner->repeatedCycle >= 0)
        return;

    // Starts of this cycle and the one before: two frames each, for places and velocities.
    int cycle = at / plan->cycleFrames;
    Start *now = &runner->starts[cycle % 2], *before = &runner->starts[(cycle + 1) % 2];
    if (at % plan->cycleFrames == 0)
        memcpy(now->first, positions, bytes);
    if (at % plan->cycleFrames != 1)
        return;
    memcpy(now->second, positions, bytes);

    // It repeats when both agree as well as neighbouring frames do.
    double median = cycle > 0 ? MedianChange(runner, plan->cycleFrames) : 0;
    if (cycle > 1 && FrameDistance(now->first, before->first, count) <= SNW_REPEATS * median &&
        VelocityGap(now, before, count) <= SNW_REPEATS * median)
        runner->repeatedCycle = cycle;
}

static snwResult GetPositions(Runner* runner, const snwRunFrame* frame, float* out, snwMessage* message)
{
    snwVertices vertices = {0};
    snwFrame cached;
    if (frame->sim != NULL)
        snwSim_GetVertices(frame->sim, 0, &vertices);
    else
    {
        snwResult result = snwFrames_Read(runner->found, frame->frame, &cached, message);
        if (result < 0)
            return result;
        vertices = (snwVertices){.positions = cached.bodies[0].vertices,
            .count = cached.bodies[0].vertexCount,
            .stride = cached.bodies[0].stride};
    }
    for (int i = 0; i < vertices.count && i < runner->vertexCount; ++i)
        memcpy(out + 3 * i, (const char*)vertices.positions + (size_t)i * (size_t)vertices.stride, 3 * sizeof(float));
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult OnBakeFrame(const snwRunFrame* frame, void* user, snwMessage* message)
{
    Runner* runner = user;
    snwBake* bake = runner->bake;
    const snwBakePlan* plan = &bake->plan;
    const char* word = frame->frame < plan->prerollFrames ? "settling" : "simulating";
    snwResult result = snwBake_Tell(bake, snw_bakeSimulating, word, frame->frame, frame->frameCount);
    if (result < 0)
        return snwFail(message, result, NULL, "stopped");
    bake->report.cachedFrames += frame->sim == NULL;
    if (plan->cycleFrames == 0)
        return snw_ok;
    float* positions = runner->now;
    result = GetPositions(runner, frame, positions, message);
    if (result >= 0)
        WatchLoop(runner, frame->frame, positions);
    // The run ends here, as if somebody had interrupted it: the frames are kept.
    return runner->repeatedCycle >= 0 ? snw_errorInterrupted : result;
}

static bool AllocateRunner(Runner* runner)
{
    snwArena* arena = &runner->bake->arena;
    size_t floats = 3 * (size_t)runner->vertexCount, frames = (size_t)runner->bake->plan.cycleFrames;
    if (frames == 0)
        return true;
    float* all = snwArena_Alloc(arena, 6 * floats, sizeof(float));
    runner->changes = snwArena_Alloc(arena, frames, sizeof(double));
    runner->sorted = snwArena_Alloc(arena, frames, sizeof(double));
    if (arena->failed)
        return false;
    runner->starts[0] = (Start){all, all + floats};
    runner->starts[1] = (Start){all + 2 * floats, all + 3 * floats};
    runner->now = all + 4 * floats;
    runner->last = all + 5 * floats;
    return true;
}

// Frames of other settings or another source are of no use.
static void MeetCache(Runner* runner)
{
    snwBake* bake = runner->bake;
    if (access(bake->framesPath, F_OK) != 0)
        return;
    bool same = !bake->def.restart && snwFrames_Open(bake->context, bake->framesPath, &runner->found, NULL) >= 0 &&
                snwFrames_GetInfo(runner->found).sceneHash == snwScene_Hash(bake->scene.scene);
    if (same)
        return;
    if (runner->found != NULL)
        snwFrames_Close(runner->found);
    runner->found = NULL;
    unlink(bake->framesPath);
    if (!bake->def.restart)
        snwBake_Note(bake, "the frames of an earlier bake were of other settings or another source: it starts again");
}

static snwResult EndLoop(Runner* runner, snwResult result, snwMessage* message)
{
    snwBake* bake = runner->bake;
    snwBakePlan* plan = &bake->plan;
    if (plan->cycleFrames == 0 || (result < 0 && runner->repeatedCycle < 0))
        return result;
    int cycle = runner->repeatedCycle;
    if (cycle < 0)
    {
        cycle = snw_maxCycles - 1;
        snwBake_Warn(bake, "the loop did not repeat within %d cycles: the seam is faded over", snw_maxCycles);
    }
    else
        snwMessage_Clear(message);
    // The cycle that ended with the repetition, and the one before it for the fade.
    plan->firstFrame = plan->prerollFrames + (cycle - 1) * plan->cycleFrames;
    bake->report.cycles = cycle;
    return snw_ok;
}

static snwResult RunBakeScene(Runner* runner, snwMessage* message)
{
    snwBake* bake = runner->bake;

    // As any other run, with a cache that goes on.
    snwRunDef run = snwDefaultRunDef();
    run.file = &bake->scene;
    run.framesPath = bake->framesPath;
    run.framesVertices = true;
    run.resume = true;
    run.interrupt = bake->def.interrupt;
    run.onFrame = OnBakeFrame;
    run.user = runner;
    snwResult result = snwRun(bake->context, &run, &bake->run, message);
    result = EndLoop(runner, result, message);

    bake->report.seconds = bake->run.wallSeconds;
    bake->report.stepMs = bake->run.stepMsMedian;
    bake->report.hash = bake->run.hash;
    for (int i = 0; i < bake->run.warningCount; ++i)
        snwBake_Warn(bake, "%s: %s", bake->run.warnings[i].text, bake->run.warnings[i].remedy);

    return result;
}

snwResult snwBake_Run(snwBake* bake, snwMessage* message)
{
    snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(bake->prepared));
    Runner runner = {.bake = bake, .vertexCount = info.vertexCount, .repeatedCycle = -1};
    if (!AllocateRunner(&runner))
        return snwFailMemory(message);
    MeetCache(&runner);
    snwResult result = RunBakeScene(&runner, message);
    if (runner.found != NULL)
        snwFrames_Close(runner.found);
    if (result >= 0)
        result = snwBakeFrames_Open(bake, &bake->frames, message);
    return result < 0 ? result : snwBake_Measure(bake, message);
}
