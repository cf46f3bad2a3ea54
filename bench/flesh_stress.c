// Stress states of a bar: every law of apd, with bones in its core and without, and skelfem's, at several steps.

#include "flesh_bench.h"

#include "sim/apd/apd.h"
#include "sim/skelfem/skelfem.h"

#include <math.h>
#include <string.h>

const double snwStressRecovered = 1e-3;

enum
{
    snw_stressFrames = 400,
    snw_stressCells = 13,
};

#define BAR                                                                                                            \
    "\"sinew\": 1, \"name\": \"bar\", \"material\": {\"density\": 1000, \"young\": 1e5, \"poisson\": 0.45, "           \
    "\"damping\": 5}, \"box\": {\"size\": [1, 0.25, 0.25], \"cells\": [13, 3, 3]}"
#define BONES                                                                                                          \
    "\"bones\": [{\"name\": \"left\", \"head\": [-0.4, 0, 0], \"tail\": [-0.05, 0, 0], \"radius\": 0.06}, "            \
    "{\"name\": \"right\", \"head\": [0.05, 0, 0], \"tail\": [0.4, 0, 0], \"radius\": 0.06, \"parent\": \"left\"}], "  \
    "\"joints\": [{\"name\": \"middle\", \"type\": \"ball\", \"bone\": \"right\", \"at\": [0, 0, 0]}]"

json_t* snwMakeStressScene(bool bones)
{
    json_t* blueprint = json_object();
    snwJson_Add(blueprint, BAR);
    if (bones)
        snwJson_Add(blueprint, BONES);
    return json_pack("{s:i, s:s, s:i, s:[iii], s:[{s:s, s:{s:o}}]}", "sinew", 1, "method", "apd", "rate", 60, "gravity",
        0, 0, 0, "bodies", "name", "bar", "character", "blueprint", blueprint);
}

snwResult snwFleshStage_Stress(
    snwFleshStage* stage, const snwStressDef* def, snwStressResult* result, snwMessage* message)
{
    bool isSkelfem = def->law == snw_stressSkelfem;
    snwFleshRun run = {.method = isSkelfem ? "skelfem" : NULL, .settings = {{"sim.substeps", def->substeps}}};
    if (!isSkelfem)
        run.settings[1] = (snwSetting){"apd.law", def->law};
    snwResult code = snwFleshStage_Start(stage, &run, message);
    if (code < 0)
        return code;
    snwFleshWatch watch = snwFleshStage_StartWatch(stage);

    // Flesh goes into the state; bones stay where they are.
    const snwApdModel* model = isSkelfem ? NULL : snwApd_Body(stage->sim, 0)->model;
    snwVec3* positions = isSkelfem ? snwSkelfem_Body(stage->sim, 0)->state.positions
                                   : snwApd_GetState(stage->sim, 0).positions;
    for (int i = 0; i < stage->sim->bodies[0].character->def.vertexCount; ++i)
        if (isSkelfem || model->boneOf[i] < 0)
            positions[i] = snwStress_Move(def->kind, positions[i], i);

    // The length of an edge of a cell, of the length of the bar, makes it a part of the size.
    *result = (snwStressResult){.left = INFINITY};
    while (watch.frames < snw_stressFrames && result->left > snwStressRecovered && snwFleshStage_Step(stage, &watch))
        result->left = watch.stretchNow / snw_stressCells;
    result->diverged = watch.failed;
    result->frames = watch.frames;
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

// All 12 of a law at one step.
typedef struct Tally
{
    int recovered, diverged, runs;
    char which[100]; // have not recovered
} Tally;

static void Note(Tally* tally, const snwStressDef* def, const snwStressResult* result)
{
    size_t used = strlen(tally->which);
    bool good = !result->diverged && result->left <= snwStressRecovered;
    tally->runs++;
    tally->diverged += result->diverged;
    tally->recovered += good;
    if (good)
        return;
    char left[24] = "diverged";
    if (!result->diverged)
        snprintf(left, sizeof left, "%.2g", result->left);
    snprintf(tally->which + used, sizeof tally->which - used, "%s%s%s: %s", used > 0 ? ", " : "",
        snwStressNames[def->kind], def->bones ? " with bones" : "", left);
}

// law: NULL for skelfem, which has one.
static void AddTally(snwBenchRows* rows, const char* law, int substeps, const Tally* tally)
{
    const char* method = law != NULL ? "apd" : "skelfem";
    char name[48];
    snprintf(name, sizeof name, "stress, %s, %d substeps", law != NULL ? law : "its law", substeps);
    snwBenchRow row = snwMakeBenchRow(name, method, "stress_recovered");
    row.n = tally->runs;
    row.value = tally->recovered;
    if (law == NULL)
        snwBenchRow_SetTarget(&row, ">=", substeps > 1 ? 6 : 4); // with one substep the last millimetre takes longer
    else if (strcmp(law, "corotated") == 0)
        snwBenchRow_SetTarget(&row, ">=", 12);
    else if (strcmp(law, "neo") == 0)
        snwBenchRow_SetTarget(&row, ">=", 9);
    snprintf(row.note, sizeof row.note, "of %d%s%s", tally->runs, tally->which[0] != 0 ? "; left: " : "", tally->which);
    snwBenchRows_Add(rows, &row);

    row = snwMakeBenchRow(name, method, "stress_diverged");
    row.n = tally->runs;
    row.value = tally->diverged;
    snwBenchRow_SetTarget(&row, "==", 0);
    snwBenchRows_Add(rows, &row);
}

void snwAddFleshStress(snwBenchRows* rows)
{
    static const int s_substeps[] = {1, 4, 16};
    snwFleshStage stages[2] = {0};
    for (int bones = 0; bones < 2 && rows->result >= 0; ++bones)
        rows->result = snwFleshStage_Open(&stages[bones], snwMakeStressScene(bones), rows->message);

    // The laws are those that the parameter has.
    int method = snwMethod_Find("apd");
    const snwParamInfo* param = NULL;
    for (int i = 0; (param = snwMethod_GetParam(method, i)) != NULL && strcmp(param->name, "apd.law") != 0;)
        ++i;
    for (int law = 0; param != NULL && param->choices[law] != NULL; ++law)
        for (int s = 0; s < (rows->options->full ? 3 : 2); ++s)
        {
            Tally tally = {0};
            if (!snwBenchRows_Wants(rows, param->choices[law], "apd"))
                continue;
            for (int i = 0; i < 2 * snw_stressKindCount && rows->result >= 0; ++i)
            {
                snwStressDef def = {law, (snwStressKind)(i / 2), i % 2 != 0, s_substeps[s]};
                snwStressResult result;
                rows->result = snwFleshStage_Stress(&stages[i % 2], &def, &result, rows->message);
                if (rows->result >= 0)
                    Note(&tally, &def, &result);
            }
            AddTally(rows, param->choices[law], s_substeps[s], &tally);
        }

    // To skelfem bones are flesh: the bar without them.
    for (int s = 0; s < (rows->options->full ? 3 : 2) && snwBenchRows_Wants(rows, "its law", "skelfem"); ++s)
    {
        Tally tally = {0};
        for (int i = 0; i < snw_stressKindCount && rows->result >= 0; ++i)
        {
            snwStressDef def = {snw_stressSkelfem, (snwStressKind)i, false, s_substeps[s]};
            snwStressResult result;
            rows->result = snwFleshStage_Stress(&stages[0], &def, &result, rows->message);
            if (rows->result >= 0)
                Note(&tally, &def, &result);
        }
        AddTally(rows, NULL, s_substeps[s], &tally);
    }
    snwFleshStage_Close(&stages[0]);
    snwFleshStage_Close(&stages[1]);
}
