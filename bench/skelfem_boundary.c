// Two ways to hold vertices (Section 3.2 and Fig. 6 of the paper): equations that are adapted (rows and columns of held
// vertices zero, alpha on the diagonal, coarse levels none the wiser), and elimination that goes on to coarse vertices
// by the published rule. V(1, 1) cycles with three unknowns a coarse vertex, and how much of the error each leaves, in
// the norm of its energy.

#include "skelfem_bench.h"

#include "skelfem_stage.h"

#include "math/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_mostCycles = 500,
    snw_firstCycles = 4 // are quicker than those that follow
};

static const double s_alphas[] = {0.01, 1, 100}; // of the mean diagonal

// Bones along the middle of the bar, so many cells thick to each side, with joints every fifth.
static void HoldBones(snwFemBody* body, const int cells[3], int thick)
{
    int slice = (cells[1] + 1) * (cells[2] + 1);
    for (int v = 0; v < body->vertexCount; ++v)
    {
        int x = v / slice, y = v / (cells[2] + 1) % (cells[1] + 1), z = v % (cells[2] + 1);
        bool inside = abs(y - cells[1] / 2) <= thick && abs(z - cells[2] / 2) <= thick;
        body->held[v] = inside && x % (cells[0] / 5) > 1;
    }
}

static void Adapt(snwFemStage* stage, double alpha)
{
    snwBlockMatrix matrix = snwMultigrid_Matrix(stage->grid);
    const snwBlockGraph* graph = snwGridLevels_Graph(stage->levels);
    const int* rowOf = snwGridLevels_RowOf(stage->levels);
    double mean = 0;
    unsigned char* held = calloc((size_t)graph->rows, 1);
    for (int v = 0; held != NULL && v < graph->rows; ++v)
        held[rowOf[v]] = stage->body->held[v];
    for (int i = 0; i < graph->rows; ++i)
        mean += (matrix.diagonal[9 * (size_t)i] + matrix.diagonal[9 * (size_t)i + 4] +
                    matrix.diagonal[9 * (size_t)i + 8]) /
                (3.0 * graph->rows);
    for (int i = 0; held != NULL && i < graph->rows; ++i)
    {
        for (int k = 0; k < 9 && held[i]; ++k)
            matrix.diagonal[9 * (size_t)i + (size_t)k] = k % 4 == 0 ? alpha * mean : 0;
        for (int k = graph->upStarts[i]; k < graph->upStarts[i + 1]; ++k)
            if (held[i] || held[graph->upColumns[k]])
            {
                memset(matrix.up + 9 * (size_t)k, 0, 9 * sizeof(float));
                memset(matrix.low + 9 * (size_t)graph->mirrors[k], 0, 9 * sizeof(float));
            }
    }
    free(held);
}

// What a cycle leaves of the error, in the mean from the fifth to the one that reaches 1e-8, or to the last one
// (*cycles is then 0).
static double Factor(snwFemStage* stage, double alpha, int* cycles)
{
    size_t count = (size_t)stage->body->vertexCount;
    snwVec3 *exact = calloc(count, sizeof *exact), *scratch = calloc(2 * count, sizeof *scratch);
    double factor = 1, early = 0;
    *cycles = 0;
    if (exact != NULL && scratch != NULL)
    {
        snwFemStage_Assemble(stage, 0);
        if (alpha > 0)
            Adapt(stage, alpha);
        for (size_t v = 0; v < count; ++v) // nothing pulls at what is held
            stage->f[v] = stage->body->held[v] ? (snwVec3){0, 0, 0} : (snwVec3){0, -9.81 * stage->body->masses[v], 0};
        snwMultigrid_Hold(stage->grid, alpha > 0 ? NULL : stage->body->held, snw_holdGreedy);
        snwFemStage_Refresh(stage);
        snwMultigrid_Solve(stage->grid, &(snwGridSolveDef){snw_gridGradients, 1e-12, 1000}, stage->f, exact);
        double all = snwFemStage_EnergyNorm(stage, exact, NULL, scratch);
        for (int n = snw_firstCycles; n <= snw_mostCycles && *cycles == 0; n += 4)
        {
            snwMultigrid_Solve(stage->grid, &(snwGridSolveDef){snw_gridCycles, 0, n}, stage->f, stage->u);
            double left = snwFemStage_EnergyNorm(stage, stage->u, exact, scratch) / all;
            if (n == snw_firstCycles)
                early = left;
            else
                factor = pow(left / early, 1.0 / (n - snw_firstCycles));
            *cycles = left <= 1e-8 ? n : 0;
        }
    }
    free(exact), free(scratch);
    return factor;
}

static void AddChain(snwBenchRows* rows, snwFemStage* stage, const char* chain, bool thick)
{
    char name[48];
    int cycles;
    double eliminated = Factor(stage, 0, &cycles);
    snprintf(name, sizeof name, "%s, eliminated", chain);
    snwBenchRow row = snwMakeBenchRow(name, "skelfem", "grid_factor");
    row.value = eliminated;
    row.n = 1;
    snprintf(row.note, sizeof row.note, cycles > 0 ? "%d cycles to 1e-8" : "%d cycles did not reach 1e-8",
        cycles > 0 ? cycles : (int)snw_mostCycles);
    snwBenchRows_Add(rows, &row);
    for (int k = 0; k < 3; ++k)
    {
        double adapted = Factor(stage, s_alphas[k], &cycles);
        snprintf(name, sizeof name, "%s, adapted, alpha %g", chain, s_alphas[k]);
        row = snwMakeBenchRow(name, "skelfem", "grid_factor");
        row.value = adapted;
        row.n = 1;
        snprintf(row.note, sizeof row.note, cycles > 0 ? "%d cycles to 1e-8" : "%d cycles did not reach 1e-8",
            cycles > 0 ? cycles : (int)snw_mostCycles);
        snwBenchRows_Add(rows, &row);
        row = snwMakeBenchRow(name, "skelfem", "elimination_loss");
        row.value = eliminated - adapted;
        row.n = 1;
        snwBenchRow_SetTarget(&row, "<=", thick && s_alphas[k] >= 1 ? 0 : 0.01);
        snprintf(row.note, sizeof row.note, "of the factor of a cycle, eliminated less adapted");
        snwBenchRows_Add(rows, &row);
    }
}

void snwAddSkelfemBoundary(snwBenchRows* rows)
{
    static const int cells[3] = {64, 8, 8};
    for (int thick = 0; thick < 2 && rows->result >= 0; ++thick)
    {
        const char* chain = thick ? "thick chain of bones" : "thin chain of bones";
        snwContextDef def = snwDefaultContextDef();
        snwMultigridDef grid = snwDefaultMultigridDef();
        snwContext* context = NULL;
        snwFemBody body = {0};
        snwFemStage stage = {0};
        grid.visits[1] = 1; // V, as published
        if (!snwBenchRows_Wants(rows, chain, "skelfem"))
            continue;
        rows->result = snwCreateContext(&def, &context, rows->message);
        if (rows->result >= 0)
            rows->result = snwFemBody_MakeBar(&body, cells, 0, rows->message);
        if (rows->result >= 0)
        {
            HoldBones(&body, cells, thick);
            rows->result = snwFemStage_Open(&stage, context, &body, 3, &grid, rows->message);
        }
        if (rows->result >= 0)
            AddChain(rows, &stage, chain, thick != 0);
        snwFemStage_Close(&stage);
        snwFemBody_Free(&body);
        if (context != NULL)
            snwDestroyContext(context);
    }
}
