// Fig. 9: a rough hand shakes one handle of the starfish; how smoothly does the rest move? The path of a vertex of its
// middle, for several compliances of the complementary step. Smoothness is the mean square of the path's second
// differences over that without compliance: less is smoother.

#include "rigpbd_bench.h"

#include <math.h>
#include <stdint.h>

enum
{
    snw_roughFrames = 240,
    snw_alphaCount = 4,
    snw_shakenHandle = 1 // an arm
};

static const double s_alphas[snw_alphaCount] = {0, 0.1, 1, 10};
static const char* const s_metrics[snw_alphaCount] = {NULL, "smoothness@0.1", "smoothness@1", "smoothness@10"};

// -1 .. 1, the same for every compliance.
static double Rough(int frame, int axis)
{
    uint64_t x = (uint64_t)(frame * 2 + axis + 1) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29, x *= 0xbf58476d1ce4e5b9u, x ^= x >> 32;
    return 2 * (double)(x >> 11) * 0x1p-53 - 1;
}

static int MiddleVertex(const snwRigStage* stage)
{
    const snwCharacterDef* def = &stage->character->def;
    int nearest = 0;
    for (int i = 1; i < def->vertexCount; ++i)
        if (snwVec3_Distance(def->vertices[i], stage->character->centre) <
            snwVec3_Distance(def->vertices[nearest], stage->character->centre))
            nearest = i;
    return nearest;
}

static snwResult Shake(snwRigStage* stage, double* path, snwMessage* message)
{
    int vertex = MiddleVertex(stage);
    snwVec3 rest = snwRigStage_HandleRest(stage, snw_shakenHandle);
    double reach = 0.25 * stage->size, rough = 0.03 * stage->size;
    for (int i = 0; i < snw_roughFrames; ++i)
    {
        double t = i / 60.0;
        snwVec3 place = {rest.x + reach * sin(3 * t) + rough * Rough(i, 0), rest.y + rough * Rough(i, 1), rest.z};
        snwRigStage_Give(stage, snw_shakenHandle, snw_dofX | snw_dofY, place);
        snwResult result = snwRigStage_Step(stage, message);
        if (result < 0)
            return result;
        path[i] = snwRigStage_Shown(stage, vertex).x;
    }
    return snw_ok;
}

static double SecondDifferences(const double* path)
{
    double sum = 0;
    for (int i = 1; i + 1 < snw_roughFrames; ++i)
    {
        double d = path[i + 1] - 2 * path[i] + path[i - 1];
        sum += d * d;
    }
    return sum / (snw_roughFrames - 2);
}

static void AddCurve(snwBenchFigure* figure, double alpha, const double* path)
{
    char label[64];
    snprintf(label, sizeof label, "compliance %g", alpha);
    snwBenchCurve* curve = snwBenchFigure_AddCurve(figure, snw_curveOurs, label);
    for (int i = 0; i < snw_roughFrames; ++i)
        snwBenchCurve_Add(curve, i / 60.0, path[i]);
}

void snwAddRigpbdSmoothness(snwBenchRows* rows)
{
    double path[snw_roughFrames], strict = NAN;
    snwRigStage stage = {0};
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig9", "Fig. 9: a vertex of the starfish while a rough hand shakes one of its arms");
    if (figure != NULL)
    {
        snprintf(figure->xLabel, sizeof figure->xLabel, "time, s");
        snprintf(figure->yLabel, sizeof figure->yLabel, "x, m");
    }
    for (int i = 0; i < snw_alphaCount && rows->result >= 0; ++i)
    {
        snwRigStageDef def = {.character = "starfish", .settings = {{"rigpbd.compliance", s_alphas[i]}}};
        rows->result = i == 0 ? snwRigStage_Open(&stage, &def, rows->message)
                              : snwRigStage_Reopen(&stage, &def, rows->message);
        if (rows->result >= 0)
            rows->result = Shake(&stage, path, rows->message);
        if (rows->result < 0)
            break;
        AddCurve(figure, s_alphas[i], path);
        if (i == 0)
            strict = SecondDifferences(path);
        else
            snwBenchRows_AddValue(rows, "starfish", "rigpbd", s_metrics[i], SecondDifferences(path) / strict);
    }
    snwRigStage_Close(&stage);
}
