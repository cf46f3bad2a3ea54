// Fig. 9: a rough hand carries the starfish by its middle and keeps it upright; how smoothly do its arms follow? The
// paths of the handles at their tips, for several compliances of the complementary step. Smoothness is the mean square
// of the paths' second differences, over all free handles, over that without compliance: less is smoother. The handle
// in hand is met exactly whatever the compliance, and free handles are fitted around it: that part of a hand's
// roughness stays, the more of it the nearer a handle is.

#include "rigpbd_bench.h"

#include <math.h>
#include <stdint.h>

enum
{
    snw_roughFrames = 240,
    snw_alphaCount = 5,
    snw_handleCount = 6, // the starfish's: the middle, which is in hand, and five tips
    snw_drawnHandle = 4
};

static const double s_alphas[snw_alphaCount] = {0, 1, 10, 100, 1000};
static const char* const s_metrics[snw_alphaCount] = {
    NULL, "smoothness@1", "smoothness@10", "smoothness@100", "smoothness@1000"};

typedef struct Paths
{
    snwVec3 places[snw_handleCount][snw_roughFrames];
} Paths;

// -1 .. 1, the same for every compliance.
static double Rough(int frame, int axis)
{
    uint64_t x = (uint64_t)(frame * 2 + axis + 1) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29, x *= 0xbf58476d1ce4e5b9u, x ^= x >> 32;
    return 2 * (double)(x >> 11) * 0x1p-53 - 1;
}

static snwResult Shake(snwRigStage* stage, Paths* paths, snwMessage* message)
{
    snwVec3 rest = snwRigStage_HandleRest(stage, 0);
    double reach = 0.25 * stage->size, rough = 0.03 * stage->size;
    for (int i = 0; i < snw_roughFrames; ++i)
    {
        double t = i / 60.0;
        snwVec3 place = {rest.x + reach * sin(3 * t) + rough * Rough(i, 0), rest.y + rough * Rough(i, 1), rest.z};
        snwRigStage_Give(stage, 0, snw_dofX | snw_dofY | snw_dofRotationZ, place);
        snwResult result = snwRigStage_Step(stage, message);
        if (result < 0)
            return result;
        for (int k = 0; k < snw_handleCount; ++k)
            paths->places[k][i] = snwRigStage_HandlePlace(stage, k);
    }
    return snw_ok;
}

static double SecondDifferences(const Paths* paths)
{
    double sum = 0;
    for (int k = 1; k < snw_handleCount; ++k)
        for (int i = 1; i + 1 < snw_roughFrames; ++i)
        {
            const snwVec3* p = &paths->places[k][i];
            snwVec3 d = snwVec3_Sub(snwVec3_Add(p[-1], p[1]), snwVec3_Scale(p[0], 2));
            sum += snwVec3_Dot(d, d);
        }
    return sum / ((snw_handleCount - 1) * (snw_roughFrames - 2));
}

static void AddCurve(snwBenchFigure* figure, double alpha, const Paths* paths)
{
    char label[64];
    snprintf(label, sizeof label, "compliance %g", alpha);
    snwBenchCurve* curve = snwBenchFigure_AddCurve(figure, snw_curveOurs, label);
    for (int i = 0; i < snw_roughFrames; ++i)
        snwBenchCurve_Add(curve, i / 60.0, paths->places[snw_drawnHandle][i].x);
}

void snwAddRigpbdSmoothness(snwBenchRows* rows)
{
    Paths paths;
    double strict = NAN;
    snwRigStage stage = {0};
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig9", "Fig. 9: tip of an arm of the starfish while a rough hand carries it by its middle");
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
            rows->result = Shake(&stage, &paths, rows->message);
        if (rows->result < 0)
            break;
        AddCurve(figure, s_alphas[i], &paths);
        if (i == 0)
            strict = SecondDifferences(&paths);
        else
            snwBenchRows_AddValue(rows, "starfish", "rigpbd", s_metrics[i], SecondDifferences(&paths) / strict);
    }
    snwRigStage_Close(&stage);
}
