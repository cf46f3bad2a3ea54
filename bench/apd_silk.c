// The acrobat on silk: do bones leave the skin (Fig. 4), and how iterations and time steps damp the swing (Fig. 7, 8).

#include "apd_bench.h"

#include "base/result.h"
#include "geom/winding.h"

#include <math.h>
#include <string.h>

enum
{
    snw_lookEvery = 5, // frames between two looks at the bones
};

static const double s_seconds = 4; // the top of the silk has gone round once

typedef struct Silk
{
    snwApdRows* rows;
    snwApdStage stage;
    bool* inside; // per vertex: of a bone, and well inside the skin at rest
    double depth; // m: what counts as well inside
} Silk;

// ---------------------------------------------------------------------------------------------------------------------
// Bones through the skin

// The skin of body 0 around these vertices.
static snwResult MakeSoup(const Silk* silk, const snwCharacter* character, const snwVec3* x, snwSoup** soup)
{
    snwContext* context = silk->stage.context;
    snwVec3* vertices = snwAllocArray(context, (size_t)character->skinVertexCount, sizeof *vertices);
    if (vertices == NULL)
        return snwFailMemory(silk->rows->message);
    for (int i = 0; i < character->skinVertexCount; ++i)
        vertices[i] = x[character->skinVertices[i]];
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = vertices;
    def.vertexCount = character->skinVertexCount;
    def.triangles = (const int(*)[3])character->skinTriangles;
    def.triangleCount = character->skinTriangleCount;
    snwResult result = snwCreateSoup(context, &def, soup, silk->rows->message);
    snwFree(context, vertices);
    return result;
}

static snwResult FindInside(Silk* silk)
{
    const snwCharacter* character = silk->stage.def->bodies[0].character;
    snwSoup* soup = NULL;
    silk->inside = snwAllocArray(silk->stage.context, (size_t)character->def.vertexCount, sizeof *silk->inside);
    silk->depth = 1e-6 * snwVec3_Distance(character->lower, character->upper);
    if (silk->inside == NULL)
        return snwFailMemory(silk->rows->message);
    snwResult result = MakeSoup(silk, character, character->def.vertices, &soup);
    for (int v = 0; v < character->def.vertexCount && result >= 0; ++v)
        silk->inside[v] = character->vertexBones[v] >= 0 &&
                          snwSoup_Distance(soup, character->def.vertices[v]) < -silk->depth;
    if (soup != NULL)
        snwDestroySoup(soup);
    return result;
}

// Vertices of bones that have come out; -1: memory.
static int CountOutside(const Silk* silk, const snwSim* sim)
{
    const snwCharacter* character = sim->bodies[0].character;
    const snwVec3* x = snwApd_GetState(sim, 0).positions;
    snwSoup* soup = NULL;
    int count = 0;
    if (MakeSoup(silk, character, x, &soup) < 0)
        return -1;
    for (int v = 0; v < character->def.vertexCount; ++v)
        count += silk->inside[v] && snwSoup_Winding(soup, x[v]) < 0.5;
    snwDestroySoup(soup);
    return count;
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs

typedef struct Swing
{
    int steps, outside;
    bool failed;
    double reach; // m, farthest way of the centre of mass from the axis
    snwMessage message;
} Swing;

static Swing RunSwing(const Silk* silk, const snwApdVariant* variant, double rate, snwBenchCurve* curve)
{
    Swing swing = {0};
    snwSim* sim = NULL;
    int steps = (int)lround(s_seconds * rate), every = (int)lround(snw_lookEvery * rate / silk->stage.def->rate);
    swing.failed = snwApdStage_CreateSim(&silk->stage, variant, &sim, &swing.message) < 0;
    for (; swing.steps < steps && !swing.failed; ++swing.steps)
    {
        snwMeasures measures;
        swing.failed = snwSim_Step(sim, 1 / rate, &swing.message) < 0;
        if (swing.failed || snwSim_GetMeasures(sim, 0, &measures) < 0)
            break;
        snwBenchCurve_Add(curve, measures.centre.x, measures.centre.z);
        swing.reach = fmax(swing.reach, hypot(measures.centre.x, measures.centre.z));
        if (every == 0 || swing.steps % every == 0)
        {
            int count = CountOutside(silk, sim);
            swing.outside = count > swing.outside ? count : swing.outside;
        }
    }
    if (sim != NULL)
        snwDestroySim(sim);
    return swing;
}

static void AddOutside(const Silk* silk, snwApdSolver solver, int iterations, snwBenchFigure* figure)
{
    char label[64], name[48];
    snwApdVariant variant = snwMakeApdVariant(solver);
    variant.iterations = iterations;
    snprintf(label, sizeof label, "%d iteration%s", iterations, iterations > 1 ? "s" : "");
    snprintf(name, sizeof name, "silk-%d-iterations", iterations);
    snwBenchCurve* curve = solver == snw_apdArticulated ? snwBenchFigure_AddCurve(figure, snw_curveOurs, label) : NULL;
    Swing swing = RunSwing(silk, &variant, silk->stage.def->rate, curve);
    silk->rows->caseName = name;
    snwBenchRow row = snwApdRows_Start(silk->rows, snwApdSolver_Name(solver), "bones_outside");
    row.value = swing.steps > 0 ? swing.outside : NAN;
    if (solver == snw_apdArticulated)
        snwBenchRow_SetTarget(&row, "==", 0);
    snprintf(row.note, sizeof row.note, "vertices, worst frame of %g s; swings %.2f m far%s%.60s", s_seconds,
        swing.reach, swing.failed ? "; ended: " : "", swing.failed ? swing.message.text : "");
    snwApdRows_Add(silk->rows, &row);
}

static snwBenchFigure* StartFigure(const Silk* silk, const char* name, const char* title)
{
    snwBenchFigure* figure = snwBenchReport_AddFigure(silk->rows->report, name, title);
    if (figure != NULL)
    {
        snprintf(figure->xLabel, sizeof figure->xLabel, "x of the centre of mass (m), seen from above");
        snprintf(figure->yLabel, sizeof figure->yLabel, "z (m)");
    }
    return figure;
}

static void AddIterations(const Silk* silk)
{
    static const int counts[] = {1, 5, 10, 20};
    snwBenchFigure* figure = StartFigure(silk, "fig7", "Fig. 7: the silk's swing over iterations");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
    {
        AddOutside(silk, snw_apdArticulated, counts[i], figure);
        AddOutside(silk, snw_apdSplit, counts[i], NULL);
    }
}

static void AddTimeSteps(const Silk* silk)
{
    static const double rates[] = {60, 30, 15};
    snwBenchFigure* figure = StartFigure(silk, "fig8", "Fig. 8: the silk's swing over time steps, 10 iterations");
    for (size_t i = 0; i < sizeof rates / sizeof *rates; ++i)
    {
        char label[64], name[48];
        snwApdVariant variant = snwMakeApdVariant(snw_apdArticulated);
        variant.iterations = 10;
        snprintf(label, sizeof label, "h = 1/%g s", rates[i]);
        snprintf(name, sizeof name, "silk-%g-steps-per-s", rates[i]);
        Swing swing = RunSwing(silk, &variant, rates[i], snwBenchFigure_AddCurve(figure, snw_curveOurs, label));
        silk->rows->caseName = name;
        snwBenchRow row = snwApdRows_Start(silk->rows, "articulated", "swing_reach");
        row.value = swing.failed ? NAN : swing.reach;
        snprintf(row.note, sizeof row.note, "%s", swing.failed ? swing.message.text : "larger steps damp more");
        snwApdRows_Add(silk->rows, &row);
    }
}

void snwAddApdSilk(snwApdRows* rows)
{
    Silk silk = {.rows = rows};
    rows->result = snwApdStage_Open(&silk.stage, "silk", rows->message);
    if (rows->result >= 0)
        rows->result = FindInside(&silk);
    if (rows->result >= 0)
        AddIterations(&silk);
    if (rows->result >= 0)
        AddTimeSteps(&silk);
    if (silk.inside != NULL)
        snwFree(silk.stage.context, silk.inside);
    snwApdStage_Close(&silk.stage);
}
