#include "skelfem_matrix.h"

#include <stdlib.h>

void snwFemMatrix_Free(snwFemMatrix* m)
{
    free(m->starts), free(m->columns), free(m->values[0]), free(m->values[1]), free(m->b), free(m->places);
    *m = (snwFemMatrix){0};
}

bool snwFemMatrix_Make(snwFemMatrix* out, snwFemStage* stage, double h)
{
    *out = (snwFemMatrix){0};
    const snwFemBody* body = stage->body;
    const snwBlockGraph* graph = snwGridLevels_Graph(stage->levels);
    const int* rowOf = snwGridLevels_RowOf(stage->levels);
    int *vertexOf = calloc((size_t)graph->rows, sizeof(int)), *freeOf = calloc((size_t)graph->rows, sizeof(int)),
        count = 0;
    size_t upper = (size_t)graph->upStarts[graph->rows];
    double* blocks = malloc(9 * upper * sizeof(double));
    if (vertexOf == NULL || freeOf == NULL || blocks == NULL)
    {
        free(vertexOf), free(freeOf), free(blocks);
        return false;
    }
    for (int v = 0; v < body->vertexCount; ++v)
        vertexOf[rowOf[v]] = v;
    for (int v = 0; v < body->vertexCount; ++v)
        freeOf[rowOf[v]] = body->held[v] ? -1 : 0;
    for (int i = 0; i < graph->rows; ++i)
        freeOf[i] = freeOf[i] < 0 ? -1 : count++;
    size_t rows = 3 * (size_t)count, room = 9 * (2 * upper + (size_t)count);
    *out = (snwFemMatrix){.rows = (int)rows,
        .starts = calloc(rows + 1, sizeof(int)),
        .columns = malloc(room * sizeof(int)),
        .values = {malloc(room * sizeof(double)), malloc(room * sizeof(double))},
        .b = calloc(rows + 1, sizeof(double)),
        .places = calloc(rows + 1, sizeof(double))};
    bool good = out->starts && out->columns && out->values[0] && out->values[1] && out->b && out->places;
    for (int turn = 0; good && turn < 2; ++turn)
    {
        snwFemStage_Assemble(stage, h);
        for (size_t k = 0; k < upper; ++k)
            snwCorotated_GetUpper(stage->flesh, (int)k, blocks + 9 * k);
        int* upperOf = malloc(upper * sizeof(int)); // of a block below the diagonal
        good = upperOf != NULL;
        for (size_t k = 0; good && k < upper; ++k)
            upperOf[graph->mirrors[k]] = (int)k;
        size_t at = 0;
        for (int i = 0; good && i < graph->rows; ++i)
        {
            double diagonal[9] = {0};
            int low = graph->lowStarts[i + 1] - graph->lowStarts[i], up = graph->upStarts[i + 1] - graph->upStarts[i];
            for (int k = 0; k < 9; ++k)
                diagonal[k] = k % 4 == 0 ? stage->added[vertexOf[i]] : 0;
            for (int e = 0; e < low + up; ++e)
                for (int k = 0; k < 9; ++k)
                    diagonal[k] -=
                        e < low ? blocks[9 * (size_t)upperOf[graph->lowStarts[i] + e] + (size_t)(k % 3 * 3 + k / 3)]
                                : blocks[9 * (size_t)(graph->upStarts[i] + e - low) + (size_t)k];
            for (int r = 0; r < 3 && freeOf[i] >= 0; ++r)
            {
                size_t row = 3 * (size_t)freeOf[i] + (size_t)r;
                out->starts[row] = (int)at;
                out->b[row] = (&stage->f[vertexOf[i]].x)[r];
                out->places[row] = (&body->now[vertexOf[i]].x)[r];
                for (int e = 0; e <= low + up; ++e)
                {
                    int column = e < low    ? graph->lowColumns[graph->lowStarts[i] + e]
                                 : e == low ? i
                                            : graph->upColumns[graph->upStarts[i] + e - low - 1];
                    const double* block = e < low    ? blocks + 9 * (size_t)upperOf[graph->lowStarts[i] + e]
                                          : e == low ? diagonal
                                                     : blocks + 9 * (size_t)(graph->upStarts[i] + e - low - 1);
                    for (int c = 0; c < 3 && freeOf[column] >= 0; ++c, ++at)
                    {
                        out->columns[at] = 3 * freeOf[column] + c;
                        out->values[turn][at] = e < low ? block[3 * r + c] : block[3 * c + r];
                    }
                }
            }
        }
        if (good)
            out->starts[rows] = (int)at;
        free(upperOf);
        for (int v = 0; turn == 0 && v < body->vertexCount; ++v) // the second matrix is of another moment
            body->now[v] = (snwVec3){
                body->now[v].x, body->now[v].y + 0.02 * body->now[v].x * body->now[v].x, body->now[v].z};
    }
    free(vertexOf), free(freeOf), free(blocks);
    return good;
}

bool snwFemMatrix_MakeLower(const snwFemMatrix* m, snwSparse* lower)
{
    size_t entries = (size_t)m->starts[m->rows];
    *lower = (snwSparse){.rows = m->rows,
        .columns = m->rows,
        .symmetric = true,
        .starts = calloc((size_t)m->rows + 1, sizeof(int)),
        .indices = malloc((entries + 1) * sizeof(int)),
        .values = malloc((entries + 1) * sizeof(double))};
    if (lower->starts == NULL || lower->indices == NULL || lower->values == NULL)
        return false;
    int at = 0;
    for (int i = 0; i < m->rows; ++i)
    {
        for (int k = m->starts[i]; k < m->starts[i + 1]; ++k)
            if (m->columns[k] <= i)
            {
                lower->indices[at] = m->columns[k];
                lower->values[at++] = m->values[1][k];
            }
        lower->starts[i + 1] = at;
    }
    return true;
}
