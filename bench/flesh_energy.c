// Drops. With backward Euler and nothing that does work from outside, the sum of all energies never exceeds its start.
// Its zero is the body at the ground, so that the ratio means something; friction and damping only lower it.

#include "flesh_bench.h"

#include <string.h>

static const double s_height = 0.8; // m
static const double s_seconds = 2.5;
static const double s_most = 1.001;

static const struct
{
    const char* name;
    int elements;
} s_dropped[] = {{"jello", 4000}, {"frog", 5000}, {"cow", 4000}, {"octopus", 4000}};

static json_t* MakeDrop(const char* character, int elements)
{
    json_t* scene = snwMakeFleshScene(character, elements);
    json_t* body = json_array_get(json_object_get(scene, "bodies"), 0);
    json_object_set_new(body, "position", json_pack("[fff]", 0.0, s_height, 0.0));
    return scene;
}

static void AddDrop(snwBenchRows* rows, snwFleshStage* stage, const char* name, const char* method)
{
    // Bones that are led do not fall.
    snwFleshRun run = {.method = method};
    if (strcmp(method, "pbcd") == 0)
        run.settings[0] = (snwSetting){"pbcd.follow", 0};
    rows->result = snwFleshStage_Start(stage, &run, rows->message);
    if (rows->result < 0)
        return;

    snwFleshWatch watch = snwFleshStage_StartWatch(stage);
    snwFleshStage_Play(stage, &watch, s_seconds);
    snwBenchRow row = snwMakeBenchRow(name, method, "energy_max_over_start");
    row.n = 1;
    row.value = watch.energyMost / watch.energyStart;
    snwBenchRow_SetTarget(&row, "<=", s_most);
    snprintf(row.note, sizeof row.note,
        "%d tets from %.1f m; inverted in %d of %d frames, least volume %.2g, at rest %.2g%s",
        stage->character->def.tetCount, s_height, watch.invertedFrames, watch.frames, watch.least, watch.leastNow,
        watch.failed ? "; diverged" : "");
    snwBenchRows_Add(rows, &row);
}

void snwAddFleshEnergy(snwBenchRows* rows)
{
    static const char* const s_methods[] = {"pbcd", "apd", "skelfem"};
    for (size_t i = 0; i < sizeof s_dropped / sizeof *s_dropped; ++i)
    {
        snwFleshStage stage = {0};
        char name[48];
        snprintf(name, sizeof name, "%s, dropped", s_dropped[i].name);
        if (!snwBenchRows_Wants(rows, name, s_methods[0]) && !snwBenchRows_Wants(rows, name, s_methods[1]) &&
            !snwBenchRows_Wants(rows, name, s_methods[2]))
            continue;
        rows->result = snwFleshStage_Open(&stage, MakeDrop(s_dropped[i].name, s_dropped[i].elements), rows->message);
        for (int m = 0; m < 3; ++m)
            if (snwBenchRows_Wants(rows, name, s_methods[m]))
                AddDrop(rows, &stage, name, s_methods[m]);
        snwFleshStage_Close(&stage);
    }
}
