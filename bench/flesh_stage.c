#include "flesh_bench.h"

#include "base/result.h"
#include "scene/builtin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Making

snwResult snwFleshStage_Open(snwFleshStage* stage, json_t* scene, snwMessage* message)
{
    *stage = (snwFleshStage){0};
    char* text = scene != NULL ? json_dumps(scene, 0) : NULL;
    json_decref(scene);
    if (text == NULL)
        return snwFailMemory(message);

    snwContextDef def = snwDefaultContextDef();
    def.threadCount = 1;
    snwResult result = snwCreateContext(&def, &stage->context, message);
    if (result >= 0)
        result = snwSceneFile_Parse(stage->context, text, strlen(text), "bench", NULL, &stage->file, message);
    free(text);
    if (result < 0)
    {
        snwFleshStage_Close(stage);
        return result;
    }
    stage->def = snwScene_GetDef(stage->file.scene);
    stage->character = stage->def->bodies[0].character;
    stage->size = snwVec3_Distance(stage->character->lower, stage->character->upper);
    return snw_ok;
}

void snwFleshStage_Close(snwFleshStage* stage)
{
    if (stage->sim != NULL)
        snwDestroySim(stage->sim);
    if (stage->file.scene != NULL)
        snwSceneFile_Close(&stage->file);
    if (stage->context != NULL)
        snwDestroyContext(stage->context);
    *stage = (snwFleshStage){0};
}

static bool IsSet(const snwFleshRun* run, const char* name)
{
    for (int i = 0; i < snw_maxFleshSettings && run->settings[i].name != NULL; ++i)
        if (strcmp(run->settings[i].name, name) == 0)
            return true;
    return false;
}

snwResult snwFleshStage_Start(snwFleshStage* stage, const snwFleshRun* run, snwMessage* message)
{
    if (stage->sim != NULL)
        snwDestroySim(stage->sim);
    stage->sim = NULL;

    // The scene's settings but for those of the run, and these.
    const snwSceneDef* def = stage->def;
    snwSetting* settings = snwAllocArray(
        stage->context, (size_t)def->settingCount + snw_maxFleshSettings, sizeof *settings);
    if (settings == NULL)
        return snwFailMemory(message);
    int count = 0;
    for (int i = 0; i < def->settingCount; ++i)
        if (!IsSet(run, def->settings[i].name))
            settings[count++] = def->settings[i];
    for (int i = 0; i < snw_maxFleshSettings && run->settings[i].name != NULL; ++i)
        settings[count++] = run->settings[i];

    snwSceneDef changed = *def;
    changed.method = run->method != NULL ? run->method : def->method;
    changed.settings = settings;
    changed.settingCount = count;
    if (run->noGravity)
        changed.gravity = (snwVec3){0, 0, 0};
    snwScene* scene = NULL;
    snwResult result = snwCreateScene(stage->context, &changed, &scene, message);
    snwFree(stage->context, settings);
    if (result < 0)
        return result;
    snwSimDef made = snwDefaultSimDef();
    made.scene = scene;
    result = snwCreateSim(stage->context, &made, &stage->sim, message);
    snwScene_Release(scene);
    return result < 0 ? result : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Running and watching

static void Look(snwFleshStage* stage, snwFleshWatch* watch)
{
    snwMeasures now = {0};
    snwSim_GetMeasures(stage->sim, -1, &now);
    watch->leastNow = now.minVolumeRatio;
    watch->stretchNow = now.maxStretch;
    watch->speedNow = now.maxSpeed;
    watch->least = fmin(watch->least, now.minVolumeRatio);
    watch->stretchMost = fmax(watch->stretchMost, now.maxStretch);
    watch->speedMost = fmax(watch->speedMost, now.maxSpeed);
    watch->energyMost = fmax(watch->energyMost, now.energy);
    watch->invertedFrames += now.minVolumeRatio < 0;
    if (watch->frames == 0)
        watch->energyStart = now.energy;
    if (!(now.maxStretch < watch->longest && isfinite(now.energy))) // extremes leave out what is no number, sums do not
    {
        watch->failed = true;
        snprintf(watch->why, sizeof watch->why, "stretch %.2g, energy %.2g J in frame %d", now.maxStretch, now.energy,
            watch->frames);
    }
}

snwFleshWatch snwFleshStage_StartWatch(snwFleshStage* stage)
{
    snwFleshWatch watch = {.least = 1, .energyMost = -INFINITY, .longest = 1000};
    Look(stage, &watch);
    return watch;
}

bool snwFleshStage_Step(snwFleshStage* stage, snwFleshWatch* watch)
{
    snwMessage message = {0};
    if (watch->failed)
        return false;
    watch->frames++;
    if (snwSim_Step(stage->sim, 1 / stage->def->rate, &message) < 0)
    {
        watch->failed = watch->told = true;
        snprintf(watch->why, sizeof watch->why, "frame %d: %.80s", watch->frames, message.text);
        return false;
    }
    Look(stage, watch);
    return !watch->failed;
}

bool snwFleshStage_Play(snwFleshStage* stage, snwFleshWatch* watch, double seconds)
{
    for (int i = (int)lround(seconds * stage->def->rate); i > 0; --i)
        if (!snwFleshStage_Step(stage, watch))
            return false;
    return true;
}

bool snwFleshStage_WasWarned(const snwFleshStage* stage)
{
    snwWarnings warnings;
    return snwSim_GetWarnings(stage->sim, &warnings) >= 0 && warnings.count > 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Scenes

void snwJson_Add(json_t* object, const char* members)
{
    char text[4096];
    snprintf(text, sizeof text, "{%s}", members);
    json_t* more = json_loads(text, 0, NULL);
    json_object_update(object, more);
    json_decref(more);
}

// m: solid characters stand on y = 0, flat ones are drawn anywhere.
static double Lowest(const json_t* blueprint)
{
    double lowest = INFINITY;
    json_t *ring, *point;
    size_t i, k;
    json_array_foreach(json_object_get(blueprint, "outline"), i, ring) json_array_foreach(
        json_object_get(ring, "points"), k, point) lowest = fmin(lowest, json_number_value(json_array_get(point, 1)));
    return isfinite(lowest) ? lowest : 0;
}

json_t* snwMakeFleshScene(const char* character, int elements)
{
    const snwBuiltIn* builtIn = snwBuiltIn_Find(character);
    json_t* blueprint = builtIn != NULL ? json_loadb(builtIn->text, builtIn->size, 0, NULL) : NULL;
    if (blueprint == NULL)
        return NULL;
    bool flat = json_object_get(blueprint, "outline") != NULL;
    json_object_del(blueprint, "paint");
    json_object_set_new(blueprint, "size", json_pack("{s:i}", flat ? "triangles" : "tets", elements));
    return json_pack("{s:i, s:s, s:i, s:[{s:s, s:[fff], s:{s:o}}], s:[{s:s, s:s, s:f}]}", "sinew", 1, "name", character,
        "rate", 60, "bodies", "name", character, "position", 0.0, 0.02 - Lowest(blueprint), 0.0, "character",
        "blueprint", blueprint, "colliders", "name", "ground", "kind", "plane", "friction", 0.6);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

void snwFleshRows_AddMissing(
    snwBenchRows* rows, const char* caseName, const char* method, const char* metric, const char* why)
{
    snwBenchRow row = snwMakeBenchRow(caseName, method, metric);
    snprintf(row.note, sizeof row.note, "%.150s", why);
    snwBenchRows_Add(rows, &row);
}
