// The shipped scenes, with every method that they have settings for: no element is inside out at the end, and in how
// many frames one is.
//
// `today`: such frames before flesh was mended, measured by this very part; the target is a tenth of it. The
// numbers of elements are those of the golden net (tests/golden/states.txt).

#include "flesh_bench.h"

#include "scene/shipped.h"
#include "base/context.h"
#include "base/result.h"
#include "smaller.h"

#include <string.h>

const snwFleshScene snwFleshScenes[] = {
    {"anvil", 0.3, 0, "pbd", 0},
    {"anvil", 0.3, 0, "apd", 0},
    {"anvil", 0.3, 0, "pbcd", 0},
    {"anvil", 0.3, 0, "rigpbd", 0},
    {"anvil", 0.3, 0, "skelfem", 0},
    {"bar", 1, 0, "pbd", 0},
    {"bend", 1, 0, "skelfem", 0},
    {"beam", 1, 0, "pbcd", 0},
    {"beam", 1, 0, "pbd", 0},
    {"blub", 1, 0, "pbcd", 0},
    {"bracelet", 1, 0, "apd", 0},
    {"cantilever", 1, 0, "apd", 107},
    {"dragon", 0.03, 0, "skelfem", 0},
    {"drop", 0.1, 0, "pbd", 0},
    {"fold", 1, 0, "pbd", 0},
    {"fold", 1, 0, "apd", 0},
    {"fold", 1, 0, "pbcd", 0},
    {"fold", 1, 0, "rigpbd", 0},
    {"fold", 1, 0, "skelfem", 0},
    {"fourbar", 0.1, 0, "apd", 0},
    {"frog", 0.03, 0, "apd", 105},
    {"herd", 0.2, 0, "pbd", 0},
    {"incline", 1, 0, "pbd", 0},
    {"incline", 1, 0, "pbcd", 0},
    {"jello", 0.1, 0, "pbcd", 0},
    {"jello", 0.1, 0, "pbd", 0},
    {"limits", 0.1, 0, "apd", 0},
    {"locking", 1, 0, "apd", 0},
    {"monster-hanging", 0.04, 0.15, "apd", 16},
    {"monster-stairs", 0.04, 0, "apd", 43},
    {"motor", 0.1, 0, "apd", 90},
    {"nunchuck", 0.1, 0.03, "apd", 0},
    {"oscillator", 1, 0, "pbcd", 0},
    {"oscillator", 1, 0, "pbd", 0},
    {"paddle", 1, 0, "pbd", 0},
    {"powered", 0.4, 0, "apd", 0},
    {"press", 1, 0, "pbd", 0},
    {"press", 1, 0, "apd", 0},
    {"press", 1, 0, "pbcd", 0},
    {"press", 1, 0, "rigpbd", 0},
    {"push", 1, 0, "pbd", 0},
    {"rig-bunny", 0.1, 0, "rigpbd", 0},
    {"rig-cow", 0.2, 0, "rigpbd", 0},
    {"rig-dragon", 0.07, 0, "rigpbd", 0},
    {"rig-ellipse", 0.1, 0, "rigpbd", 0},
    {"rig-fine", 1, 0, "rigpbd", 0},
    {"rig-fish-2d", 1, 0, "rigpbd", 0},
    {"rig-ghost-point", 1, 0, "rigpbd", 0},
    {"rig-ghost", 1, 0, "rigpbd", 0},
    {"rig-manikin", 0.1, 0, "rigpbd", 0},
    {"rig-mushroom", 0.1, 0, "rigpbd", 0},
    {"rig-octopus-2d", 1, 0, "rigpbd", 0},
    {"rig-octopus", 0.1, 0, "rigpbd", 0},
    {"rig-starfish", 1, 0, "rigpbd", 0},
    {"rig-worm", 1, 0, "rigpbd", 0},
    {"silk", 0.5, 0, "apd", 108},
    {"sink", 1, 0, "pbd", 0},
    {"sink", 1, 0, "apd", 0},
    {"sink", 1, 0, "pbcd", 0},
    {"sink", 1, 0, "rigpbd", 0},
    {"sink", 1, 0, "skelfem", 0},
    {"snail", 0.05, 0, "apd", 9},
    {"spot", 0.2, 0, "pbcd", 152},
    {"stack", 1, 0, "pbd", 0},
    {"stack", 1, 0, "apd", 0},
    {"stack", 1, 0, "pbcd", 0},
    {"stack", 1, 0, "rigpbd", 0},
    {"stack", 1, 0, "skelfem", 0},
    {"stairs", 1, 0, "pbd", 3},
    {"stairs", 1, 0, "apd", 0},
    {"stairs", 1, 0, "rigpbd", 0},
    {"suzanne", 1, 0, "pbcd", 0},
    {"trex", 0.25, 0, "pbcd", 241},
    {"twist", 1, 0, "pbd", 0},
    {"wall", 1, 0, "pbd", 3},
    {"wall", 1, 0, "pbcd", 3},
    {0},
};

snwResult snwFleshStage_OpenShipped(snwFleshStage* stage, const snwFleshScene* scene, snwMessage* message)
{
    char folder[snw_maxPath], path[snw_maxPath + 100];
    snprintf(path, sizeof path, "%s/%s.json", snwScenesFolder(folder, sizeof folder), scene->name);
    json_error_t error;
    json_t* json = json_load_file(path, 0, &error);
    if (json == NULL)
        return snwFail(message, snw_errorInput, NULL, "%s: %s", path, error.text);
    snwMakeSceneSmaller(json, scene->scale, scene->wider);
    return snwFleshStage_Open(stage, json, message);
}

static void AddScene(snwBenchRows* rows, snwFleshStage* stage, const snwFleshScene* scene)
{
    snwMessage message = {0};
    snwResult result = snwFleshStage_Start(stage, &(snwFleshRun){.method = scene->method}, &message);
    bool takes = result >= 0, isWhole = scene->today < 0;
    snwFleshWatch watch = {0};
    if (takes)
    {
        watch = snwFleshStage_StartWatch(stage);
        snwFleshStage_Play(stage, &watch, stage->def->duration);
    }

    char name[48];
    snprintf(name, sizeof name, "%s%s", scene->name, isWhole ? ", whole size" : "");
    snwBenchRow row = snwMakeBenchRow(name, scene->method, "inverted_at_rest");
    row.n = takes;
    row.value = takes ? watch.failed || watch.leastNow < 0 : NAN;
    snwBenchRow_SetTarget(&row, "==", 0);
    if (!takes)
        snprintf(row.note, sizeof row.note, "%.150s", message.text);
    else if (watch.failed)
        snprintf(row.note, sizeof row.note, "diverged: %s", watch.why);
    else
        snprintf(row.note, sizeof row.note, "least volume %.2g, in the last frame %.2g", watch.least, watch.leastNow);
    snwBenchRows_Add(rows, &row);

    row.metric = "inverted_frames";
    row.value = takes ? watch.invertedFrames : NAN;
    row.op = NULL;
    row.target = NAN;
    if (!isWhole)
        snwBenchRow_SetTarget(&row, "<=", floor(0.1 * scene->today));
    if (takes && isWhole)
        snprintf(row.note, sizeof row.note, "of %d with the start", watch.frames + 1);
    else if (takes)
        snprintf(row.note, sizeof row.note, "of %d with the start; it was %d", watch.frames + 1, scene->today);
    snwBenchRows_Add(rows, &row);
}

// A scene with as many elements as it asks for.
static void AddWhole(snwBenchRows* rows, const snwFleshScene* scene)
{
    snwFleshStage stage = {0};
    const snwFleshScene whole = {scene->name, 1, 0, scene->method, -1};
    rows->result = snwFleshStage_OpenShipped(&stage, &whole, rows->message);
    if (rows->result >= 0)
        AddScene(rows, &stage, &whole);
    snwFleshStage_Close(&stage);
}

// A scene is read once for all its methods, which follow each other in the table; the first one is its own.
void snwAddFleshScenes(snwBenchRows* rows)
{
    snwFleshStage stage = {0};
    const snwFleshScene* open = NULL;
    bool all = rows->options->full || rows->options->method != NULL;
    for (const snwFleshScene* scene = snwFleshScenes; scene->name != NULL && rows->result >= 0; ++scene)
    {
        bool first = scene == snwFleshScenes || strcmp(scene->name, scene[-1].name) != 0;
        if (!snwBenchRows_Wants(rows, scene->name, scene->method) || (!first && !all))
            continue;
        if (open == NULL || strcmp(open->name, scene->name) != 0)
        {
            snwFleshStage_Close(&stage);
            open = scene;
            rows->result = snwFleshStage_OpenShipped(&stage, scene, rows->message);
        }
        if (rows->result >= 0)
            AddScene(rows, &stage, scene);
        if (rows->result >= 0 && first && rows->options->full && scene->scale < 1)
            AddWhole(rows, scene);
    }
    snwFleshStage_Close(&stage);
}
