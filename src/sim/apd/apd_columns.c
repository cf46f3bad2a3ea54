// Columns of A^-1 for the vertices that touch.
//
// A is constant and scalar, so A^-1 between two vertices is one number that never changes: how far a push at the one
// moves the other. Columns are found by sweeps with unit right sides when a vertex first touches, and kept; the numbers
// between those that touch in this substep stand in a small matrix (snwPushAnswer), against which contacts are relaxed
// at no cost that grows with the body. A column depends on the factor and the vertex alone, so what happens to be kept
// never changes a bit of the result. Vertices inside the body, which only a wild step pushes, have none.

#include "sim/apd/apd.h"

#include <string.h>

void snwApd_CreateColumns(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    const snwCharacter* character = body->model->character;
    snwApdColumns* columns = &body->columns;
    snwArena* arena = &sim->arena;
    size_t n = (size_t)body->model->vertexCount, touches = (size_t)character->touchCount;

    // As many columns as their memory allows, and of those that are active a square matrix beside.
    size_t fit = snw_apdColumnBytes / (touches * sizeof(float)), slots = fit < touches ? fit : touches;

    slots = slots < snw_apdMaxActive ? slots : snw_apdMaxActive;
    columns->slots = (int)slots;
    columns->capacity = (int)(fit < touches ? fit : touches);

    columns->placeOf = snwArena_Alloc(arena, n, sizeof *columns->placeOf);
    columns->cached = snwArena_Alloc(arena, n, sizeof *columns->cached);
    columns->marks = snwArena_Alloc(arena, n, 1);
    columns->slotOf = snwArena_Alloc(arena, n, sizeof *columns->slotOf);
    columns->active = snwArena_Alloc(arena, slots, sizeof *columns->active);
    columns->matrix = snwArena_Alloc(arena, slots * slots, sizeof *columns->matrix);
    columns->numbers = snwArena_Alloc(arena, (size_t)columns->capacity * touches, sizeof *columns->numbers);

    if (arena->failed)
        return;

    // -1: has none.
    for (size_t i = 0; i < n; ++i)
        columns->placeOf[i] = columns->cached[i] = columns->slotOf[i] = -1;
    for (int i = 0; i < character->touchCount; ++i)
        columns->placeOf[snwBody_ContactVertex(&sim->bodies[index], i)] = i;

    columns->answer = (snwPushAnswer){
        .slotOf = columns->slotOf, .active = columns->active, .matrix = columns->matrix, .stride = slots};
}

static void ForgetColumns(snwApdBody* body)
{
    body->columns.count = 0;
    for (int i = 0; i < body->model->vertexCount; ++i)
        body->columns.cached[i] = -1;
}

void snwApd_BeginColumns(snwApdBody* body)
{
    snwApdColumns* columns = &body->columns;
    for (int i = 0; i < columns->answer.activeCount; ++i)
        columns->slotOf[columns->active[i]] = -1;
    columns->answer.activeCount = 0;
    if (columns->signature != body->signature)
        ForgetColumns(body);
    columns->signature = body->signature;
}

// Up to four at a time.
static void FindColumns(snwSim* sim, int index, const int* vertices, int count, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdColumns* columns = &body->columns;
    size_t touches = (size_t)body->model->character->touchCount;
    snwApd_Columns(body, vertices, count);
    for (int k = 0; k < count; ++k)
    {
        float* out = columns->numbers + (size_t)columns->count * touches;
        for (size_t i = 0; i < touches; ++i)
            out[i] = (float)(snwApd_ReadColumn(body, k, snwBody_ContactVertex(&sim->bodies[index], (int)i)) / (h * h));
        columns->cached[vertices[k]] = columns->count++;
    }
}

// Columns of the slots from `first` on. When there is no room for them all old ones go, and are found again if needed;
// there are never more slots than columns.
static void FindMissingColumns(snwSim* sim, int index, int first, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdColumns* columns = &body->columns;
    int batch[4], waiting = 0, end = columns->answer.activeCount, missing = 0;
    for (int i = first; i < end; ++i)
        missing += columns->cached[columns->active[i]] < 0;
    if (columns->count + missing > columns->capacity)
        ForgetColumns(body);
    for (int i = first; i < end; ++i)
    {
        if (columns->cached[columns->active[i]] < 0)
            batch[waiting++] = columns->active[i];
        if (waiting < 4 && (waiting == 0 || i + 1 < end))
            continue;
        FindColumns(sim, index, batch, waiting, h);
        waiting = 0;
    }
}

static void FillMatrix(snwApdBody* body, int first)
{
    snwApdColumns* columns = &body->columns;
    size_t stride = columns->answer.stride, touches = (size_t)body->model->character->touchCount;
    for (int i = first; i < columns->answer.activeCount; ++i)
    {
        const float* column = columns->numbers + (size_t)columns->cached[columns->active[i]] * touches;
        for (int j = 0; j < columns->answer.activeCount; ++j)
            columns->matrix[(size_t)i * stride + (size_t)j] = columns->matrix[(size_t)j * stride + (size_t)i] =
                column[columns->placeOf[columns->active[j]]];
    }
}

void snwApd_Activate(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdColumns* columns = &body->columns;
    memset(columns->marks, 0, (size_t)body->model->vertexCount);
    snwResponse_MarkTouching(((snwApdScratch*)sim->scratch)->response, index, columns->marks);
    int first = columns->answer.activeCount;
    for (int i = 0; i < body->model->character->touchCount && columns->answer.activeCount < columns->slots; ++i)
    {
        int v = snwBody_ContactVertex(&sim->bodies[index], i);
        if (!columns->marks[v] || columns->slotOf[v] >= 0 || body->pinned[v])
            continue;
        columns->slotOf[v] = columns->answer.activeCount;
        columns->active[columns->answer.activeCount++] = v;
    }
    FindMissingColumns(sim, index, first, h);
    FillMatrix(body, first);
}
