// Table 4.3 and Fig. 4.9: what a frame of a character costs, by method and by layer.
//
// The thesis' protocol: 24 frames per second, 5 iterations, one step per frame; in its own methods every particle has
// 1 kg. Its characters are not ours to use; the cast's have their sizes and materials (Table 4.2): blub is the fish,
// suzanne the monkey's head, trex the reptile, spot a herd of four cows. Layers:
//   artist    where the motion puts bones and flesh: stage "rig". Bones of apd are unknowns: it has no such layer
//   physics   inertia and constraints
//   overhead  all else: what joins the two. The complementary projection; the bones' problem of apd; looking for
//   contacts
// Nothing falls and nothing touches.

#include "pbcd_characters.h"

#include "base/clock.h"
#include "base/result.h"
#include "sinew/tools.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// What is measured

typedef enum Way
{
    snw_wayApd,
    snw_wayCd,
    snw_wayPbd,
    snw_wayThesis,
    snw_wayFlesh,
    snw_wayComplement,
    snw_wayCount,
} Way;

enum
{
    snw_maxWaySettings = 8,
    snw_frames = 24,
    snw_barStems = 50, // a bar of a figure is made of
};

typedef struct WayDef
{
    const char* name; // in rows
    const char* method;
    snwSetting settings[snw_maxWaySettings]; // choices by number; a name NULL ends them
    const char* physics;                     // stages
} WayDef;

static const char s_stages[] = " predict distance volume velocity ";

static const WayDef s_ways[snw_wayCount] = {
    [snw_wayApd] = {"apd", "apd", {{"apd.iterations", 5}}, " factor predict local residual sweeps finish "},
    [snw_wayCd] = {"cd", "pbcd",
        {{"pbcd.iterations", 5}, {"pbcd.solver", 2}, {"pbcd.complement", 1}, {"pbcd.anchor", 0}, {"pbcd.law", 1}},
        s_stages},
    [snw_wayPbd] = {"lbs+pbd", "pbcd",
        {{"pbcd.iterations", 5}, {"pbcd.solver", 1}, {"pbcd.mode", 1}, {"pbcd.equal_masses", 1}}, s_stages},
    [snw_wayThesis] = {"pbcd-thesis", "pbcd",
        {{"pbcd.iterations", 5}, {"pbcd.mode", 1}, {"pbcd.law", 1}, {"pbcd.bind", 1}, {"pbcd.equal_masses", 1}},
        s_stages},
    [snw_wayFlesh] = {"pbcd-flesh", "pbcd", {{"pbcd.iterations", 5}, {"pbcd.law", 1}}, s_stages},
    [snw_wayComplement] = {"pbcd-complement", "pbcd",
        {{"pbcd.iterations", 5}, {"pbcd.law", 1}, {"pbcd.complement", 1}, {"pbcd.anchor", 0}}, s_stages},
};

typedef struct Case
{
    const char* name;
    const char* json;
    double paper[snw_wayCount]; // ms
    double apdOverhead;         // share of the frame, as Fig. 4.9 is told; NAN: not told
    bool slowCd;                // seconds per frame
} Case;

#define BODY(name, character, motion, place)                                                                           \
    "{\"name\": \"" name "\", \"character\": " character ", \"motion\": \"" motion "\", \"position\": " place "}"
#define SCENE(bodies)   "{\"sinew\": 1, \"rate\": 24, \"gravity\": [0, 0, 0], \"bodies\": [" bodies "]}"
#define BLUEPRINT(name) "{\"blueprint\": \"" name "\"}"
#define COW             "{\"blueprint\": \"cow\", \"size\": {\"vertices\": 2925}}"

// Paper: APD, CD, LBS+PBD, PBCD (Alg. 2); what the thesis has not is NAN.
static const Case s_cases[] = {
    {"blub", SCENE(BODY("blub", BLUEPRINT("fish"), "swim", "[0, 0, 0]")), {17.3, 53.4, 20.3, 22.4, NAN, NAN}, 0.09,
        false},
    {"suzanne", SCENE(BODY("suzanne", BLUEPRINT("head"), "nod", "[0, 0, 0]")), {46.8, 78.6, 22.4, 27.3, NAN, NAN}, NAN,
        false},
    {"trex", SCENE(BODY("trex", BLUEPRINT("reptile"), "stomp", "[0, 0, 0]")), {659.1, 4092.1, 99.4, 101.5, NAN, NAN},
        0.78, true},
    {"spot",
        SCENE(BODY("a", COW, "walk", "[0, 0, 0]") ", " BODY("b", COW, "walk", "[3, 0, 0]") ", " BODY(
            "c", COW, "walk", "[0, 0, 4]") ", " BODY("d", COW, "walk", "[3, 0, 4]")),
        {1414.7, 3417.4, 159.9, 180.0, NAN, NAN}, NAN, true},
};

// ---------------------------------------------------------------------------------------------------------------------
// A run

typedef struct Split
{
    snwSamples frame, artist, physics, overhead; // ms
} Split;

static snwResult OpenSim(
    snwContext* context, const snwSceneDef* def, const WayDef* way, snwSim** sim, snwMessage* message)
{
    snwSetting settings[snw_maxWaySettings + 1] = {{"sim.substeps", 1}};
    snwSceneDef changed = *def;
    snwScene* scene = NULL;
    changed.method = way->method;
    changed.settings = settings;
    changed.settingCount = 1;
    for (int i = 0; i < snw_maxWaySettings && way->settings[i].name != NULL; ++i)
        settings[changed.settingCount++] = way->settings[i];
    snwResult result = snwCreateScene(context, &changed, &scene, message);
    if (result < 0)
        return result;
    snwSimDef made = snwDefaultSimDef();
    made.scene = scene;
    result = snwCreateSim(context, &made, sim, message);
    snwScene_Release(scene);
    return result;
}

static bool Names(const char* list, const char* stage)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", stage);
    return strstr(list, word) != NULL;
}

static void AddFrame(Split* split, const snwSim* sim, const WayDef* way, double ms)
{
    double artist = 0, physics = 0;
    snwTimings timings;
    if (snwSim_GetTimings(sim, &timings) < 0)
        return;
    for (int i = 0; i < timings.count; ++i)
    {
        if (strcmp(timings.data[i].stage, "rig") == 0)
            artist += timings.data[i].ms;
        if (Names(way->physics, timings.data[i].stage))
            physics += timings.data[i].ms;
    }
    snwSamples_Add(&split->frame, ms);
    snwSamples_Add(&split->artist, artist);
    snwSamples_Add(&split->physics, physics);
    snwSamples_Add(&split->overhead, fmax(ms - artist - physics, 0));
}

// A second, and a frame before it to warm up; of the slow ones the first frame alone.
static snwResult RunFrames(snwSim* sim, const WayDef* way, bool slow, Split* split, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = slow ? 0 : -1; i < (slow ? 1 : snw_frames) && result >= 0; ++i)
    {
        double start = snwClock_Seconds();
        result = snwSim_Step(sim, 1.0 / 24, message);
        if (i >= 0 && result >= 0)
            AddFrame(split, sim, way, (snwClock_Seconds() - start) * 1e3);
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

typedef struct Measured
{
    const Case* which;
    snwSceneFile file;
    const snwSceneDef* def;
    Split splits[snw_wayCount];
} Measured;

static void AddRow(snwBenchRows* rows, const Measured* measured, int way, const char* metric, const snwSamples* samples)
{
    const Case* which = measured->which;
    snwBenchRow row = snwMakeBenchRow(which->name, s_ways[way].name, metric);
    snwBenchRow_SetSamples(&row, samples);
    if (strcmp(metric, "frame_ms") == 0)
    {
        int vertices = 0, bones = 0;
        for (int i = 0; i < measured->def->bodyCount; ++i)
        {
            snwCharacterInfo info = snwCharacter_GetInfo(measured->def->bodies[i].character);
            vertices += info.vertexCount;
            bones += info.boneCount;
        }
        row.paper = which->paper[way];
        snprintf(row.note, sizeof row.note, "1 thread, 5 iterations, 24 fps; %d vertices, %d bones%s", vertices, bones,
            samples->count < snw_frames ? "; so slow that it is the first frame alone" : "");
    }
    if (strcmp(metric, "overhead_ms") == 0 && way == snw_wayApd)
        row.paper = which->apdOverhead * which->paper[way];
    if (strcmp(metric, "artist_ms") == 0 && way == snw_wayApd)
        snprintf(row.note, sizeof row.note, "bones are unknowns of the solve: there is no artist's layer");
    snwBenchRows_Add(rows, &row);
}

static void MeasureWay(snwBenchRows* rows, snwContext* context, Measured* measured, int index)
{
    const WayDef* way = &s_ways[index];
    Split* split = &measured->splits[index];
    snwSim* sim = NULL;
    snwMessage why = {0};
    bool slow = index == snw_wayCd && measured->which->slowCd;
    snwResult result = OpenSim(context, measured->def, way, &sim, &why);
    if (result >= 0)
        result = RunFrames(sim, way, slow, split, &why);
    if (sim != NULL)
        snwDestroySim(sim);
    if (result < 0) // a method that cannot do a scene is told, and the others go on
    {
        snwBenchRow row = snwMakeBenchRow(measured->which->name, way->name, "frame_ms");
        row.paper = measured->which->paper[index];
        snprintf(row.note, sizeof row.note, "%.150s", why.text);
        snwBenchRows_Add(rows, &row);
        return;
    }
    AddRow(rows, measured, index, "frame_ms", &split->frame);
    AddRow(rows, measured, index, "artist_ms", &split->artist);
    AddRow(rows, measured, index, "physics_ms", &split->physics);
    AddRow(rows, measured, index, "overhead_ms", &split->overhead);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fig. 4.9: bars upon each other. The tallest is drawn first and the lower ones over it.

static void AddBar(snwBenchCurve* curve, double x, double height)
{
    for (int i = 0; i <= snw_barStems; ++i)
        snwBenchCurve_Add(curve, x + 0.5 * i / snw_barStems - 0.25, height);
}

static void AddBars(snwBenchRows* rows, const Measured* measured)
{
    static const int shown[] = {snw_wayApd, snw_wayPbd, snw_wayThesis, snw_wayFlesh, snw_wayComplement};
    char name[48], title[96];
    snprintf(name, sizeof name, "fig4.9-%s", measured->which->name);
    snprintf(title, sizeof title, "Fig. 4.9: a frame of %s (thesis: APD %g ms, PBCD %g ms)", measured->which->name,
        measured->which->paper[snw_wayApd], measured->which->paper[snw_wayThesis]);
    snwBenchFigure* figure = snwBenchReport_AddFigure(rows->report, name, title);
    if (figure == NULL)
        return;
    snprintf(figure->xLabel, sizeof figure->xLabel,
        "1 apd, 2 lbs+pbd, 3 pbcd of the thesis, 4 pbcd (flesh), 5 pbcd (complementary)");
    snprintf(figure->yLabel, sizeof figure->yLabel, "ms");
    snwBenchCurve* overhead = snwBenchFigure_AddCurve(figure, snw_curveOursStems, "overhead");
    snwBenchCurve* physics = snwBenchFigure_AddCurve(figure, snw_curveOursStems, "physics");
    snwBenchCurve* artist = snwBenchFigure_AddCurve(figure, snw_curveOursStems, "artist");
    for (int i = 0; i < (int)(sizeof shown / sizeof *shown); ++i)
    {
        const Split* split = &measured->splits[shown[i]];
        double a = snwSamples_Median(&split->artist), p = snwSamples_Median(&split->physics);
        AddBar(overhead, i + 1, a + p + snwSamples_Median(&split->overhead));
        AddBar(physics, i + 1, a + p);
        AddBar(artist, i + 1, a);
    }
}

static void AddCase(snwBenchRows* rows, snwContext* context, const Case* which)
{
    Measured measured = {.which = which};
    rows->result = snwSceneFile_Parse(
        context, which->json, strlen(which->json), which->name, NULL, &measured.file, rows->message);
    if (rows->result < 0)
        return;
    measured.def = snwScene_GetDef(measured.file.scene);
    for (int i = 0; i < snw_wayCount && rows->result >= 0; ++i)
        MeasureWay(rows, context, &measured, i);
    AddBars(rows, &measured);
    snwSceneFile_Close(&measured.file);
}

void snwAddPbcdCharacters(snwBenchRows* rows)
{
    snwContext* context = NULL;
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = 1;
    rows->result = snwCreateContext(&def, &context, rows->message);
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases && rows->result >= 0; ++i)
        AddCase(rows, context, &s_cases[i]);
    if (context != NULL)
        snwDestroyContext(context);
}
