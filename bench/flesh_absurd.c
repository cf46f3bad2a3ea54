// Launches, teleports, swallows: nobody means them, and everybody does them by mistake. They end calm, or in an error
// or a warning in words; "ok" with absurd numbers is what must not be.

#include "flesh_bench.h"

#include <math.h>

#define GROUND "\"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\", \"friction\": 0.6}]"
#define BALL(radius)                                                                                                   \
    "\"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\", \"friction\": 0.6}, {\"name\": \"ball\", \"kind\": "  \
    "\"sphere\", \"radius\": " radius ", \"position\": [-4, 0.2, 0]}]"

static const struct
{
    const char* name;
    double height;     // m, of the block's middle at the start
    const char* world; // members of the scene
} s_cases[] = {
    {"1 m below the ground", -1, GROUND},
    {"a push of 1e12 N", 0.16,
        GROUND ", \"commands\": [{\"step\": 30, \"kind\": \"push\", \"body\": \"block\", \"force\": [0, 1e12, 0], "
               "\"duration\": 0.1}]"},
    {"a ball teleports through", 0.16,
        BALL("0.2") ", \"commands\": [{\"step\": 30, \"kind\": \"collider\", \"collider\": \"ball\", \"position\": "
                    "[4, 0.2, 0]}]"},
    {"a ball swallows it", 0.16,
        BALL("1.5") ", \"commands\": [{\"step\": 30, \"kind\": \"collider\", \"collider\": \"ball\", \"position\": "
                    "[0.1, 0.2, 0]}]"},
    {"a pin jumps 1 km", 1,
        "\"pins\": [{\"name\": \"top\", \"body\": \"block\", \"lower\": [-1, 0.14, -1], \"upper\": [1, 1, 1]}], "
        "\"clips\": [{\"pin\": \"top\", \"interpolation\": \"step\", \"keys\": [{\"time\": 0}, {\"time\": 0.5, "
        "\"position\": [1000, 0, 0]}]}]"},
};

static json_t* MakeScene(double height, const char* world)
{
    json_t* scene = json_object();
    char body[400];
    snwJson_Add(scene, "\"sinew\": 1, \"name\": \"absurd\", \"rate\": 60");
    snwJson_Add(scene, world);
    snprintf(body, sizeof body,
        "\"bodies\": [{\"name\": \"block\", \"position\": [0, %g, 0], \"character\": {\"shape\": \"block\", \"size\": "
        "[0.3, 0.3, 0.3], \"cells\": [4, 4, 4], \"material\": {\"density\": 1000, \"young\": 1e5, \"poisson\": 0.45, "
        "\"damping\": 1}}}]",
        height);
    snwJson_Add(scene, body);
    return scene;
}

// What a person would not call all right, at any time or when two and a half seconds have gone by since.
typedef struct Verdict
{
    double highest;        // m, of the centre
    double speed;          // m/s, in the last half second
    double stretch, least; // at the end
} Verdict;

static bool IsAbsurd(const Verdict* verdict)
{
    return !(verdict->highest < 10 && verdict->speed < 10 && verdict->stretch < 1 && verdict->least > 0);
}

static void AddCase(snwBenchRows* rows, snwFleshStage* stage, const char* name, const char* method)
{
    rows->result = snwFleshStage_Start(stage, &(snwFleshRun){.method = method}, rows->message);
    if (rows->result < 0)
        return;
    snwFleshWatch watch = snwFleshStage_StartWatch(stage);
    watch.longest = INFINITY; // a pin that jumps leaves the rest of the body behind, for a moment
    Verdict verdict = {.highest = -INFINITY};
    bool going = true;
    for (int i = 0; i < 180 && going; ++i)
    {
        snwMeasures now = {0};
        going = snwFleshStage_Step(stage, &watch);
        snwSim_GetMeasures(stage->sim, 0, &now);
        verdict.highest = fmax(verdict.highest, now.centre.y);
        if (i >= 150)
            verdict.speed = fmax(verdict.speed, now.maxSpeed);
    }
    verdict.stretch = watch.stretchNow;
    verdict.least = watch.leastNow;

    bool told = watch.told || snwFleshStage_WasWarned(stage);
    snwBenchRow row = snwMakeBenchRow(name, method, "absurd");
    row.n = 1;
    row.value = !told && (watch.failed || IsAbsurd(&verdict));
    snwBenchRow_SetTarget(&row, "==", 0);
    if (watch.failed)
        snprintf(row.note, sizeof row.note, "%s", watch.why);
    else
        snprintf(row.note, sizeof row.note, "centre up to %.2g m, at the end %.2g m/s, stretch %.2g, least volume %.2g",
            verdict.highest, verdict.speed, verdict.stretch, verdict.least);
    snwBenchRows_Add(rows, &row);
}

void snwAddFleshAbsurd(snwBenchRows* rows)
{
    static const char* const s_methods[] = {"pbd", "apd", "pbcd", "rigpbd", "skelfem"};
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases && rows->result >= 0; ++i)
    {
        snwFleshStage stage = {0};
        rows->result = snwFleshStage_Open(&stage, MakeScene(s_cases[i].height, s_cases[i].world), rows->message);
        for (size_t m = 0; m < sizeof s_methods / sizeof *s_methods; ++m)
            if (snwBenchRows_Wants(rows, s_cases[i].name, s_methods[m]))
                AddCase(rows, &stage, s_cases[i].name, s_methods[m]);
        snwFleshStage_Close(&stage);
    }
}
