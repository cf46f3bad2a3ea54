// The implicit step's object: lists, pattern, factor, memory. See implicit_newton.c for the solve.

#include "sim/pbcd/implicit_parts.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Pattern

typedef struct Places
{
    int *rows, *columns;
} Places;

static void AddElementPlaces(Places* places, const int* vertices, int size)
{
    for (int i = 0; i < 3 * size; ++i)
        for (int j = 0; j <= i; ++j)
        {
            *places->rows++ = 3 * vertices[i / 3] + i % 3;
            *places->columns++ = 3 * vertices[j / 3] + j % 3;
        }
}

static void AddPlaces(const snwImplicit* implicit, Places places)
{
    int unknowns = snwImplicit_UnknownCount(implicit);
    for (int i = 0; i < implicit->tetCount; ++i)
        AddElementPlaces(&places, implicit->tets[i], 4);
    for (int i = 0; i < implicit->edgeCount; ++i)
        AddElementPlaces(&places, implicit->edges[i], 2);
    for (int k = 0; k < implicit->rowCapacity; ++k)
        for (int i = 0; i < unknowns; ++i)
        {
            *places.rows++ = unknowns + k;
            *places.columns++ = i;
        }
}

static snwResult CreateImplicitPattern(snwImplicit* implicit, int count, snwMessage* message)
{
    int* places = snwAllocArray(implicit->context, 2 * (size_t)count, sizeof *places);
    if (places == NULL)
        return snwFailMemory(message);
    int size = snwImplicit_UnknownCount(implicit) + implicit->rowCapacity;
    AddPlaces(implicit, (Places){places, places + count});
    snwPatternDef def = {.rows = size,
        .columns = size,
        .symmetric = true,
        .diagonal = true,
        .count = count,
        .rowOf = places,
        .columnOf = places + count};
    snwResult result = snwPattern_Create(implicit->context, &def, &implicit->pattern, message);
    snwFree(implicit->context, places);
    return result;
}

// For the analysis any values do.
static snwResult CreateImplicitFactor(snwImplicit* implicit, snwMessage* message)
{
    snwSparse* matrix = snwPattern_Matrix(implicit->pattern);
    for (int i = 0; i < matrix->rows; ++i)
        matrix->values[matrix->starts[i + 1] - 1] = 1;
    snwCholeskyDef def = snwDefaultCholeskyDef();
    def.matrix = matrix;
    def.lastCount = implicit->rowCapacity;
    snwResult result = snwCholesky_Create(implicit->context, &def, &implicit->factor, message);
    return result < 0 ? result : snwCholeskyScratch_Create(implicit->factor, &implicit->scratch, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

static snwResult CheckVertexList(const snwImplicitDef* def, const int* vertices, int count, snwMessage* message)
{
    for (int i = 0; i < count; ++i)
        if (vertices[i] < 0 || vertices[i] >= def->vertexCount)
            return snwFail(
                message, snw_errorArgument, NULL, "an element names vertex %d of %d", vertices[i], def->vertexCount);
    return snw_ok;
}

static snwResult CheckImplicitDef(const snwImplicitDef* def, snwMessage* message)
{
    assert(def->vertexCount >= 0 && def->edgeCount >= 0 && def->volumeCount >= 0);
    assert(def->strainCount >= 0 && def->neoCount >= 0 && def->rowCount >= 0);
    snwResult result = CheckVertexList(def, (const int*)def->edges, 2 * def->edgeCount, message);
    if (result == snw_ok)
        result = CheckVertexList(def, (const int*)def->volumes, 4 * def->volumeCount, message);
    if (result == snw_ok)
        result = CheckVertexList(def, (const int*)def->strains, 4 * def->strainCount, message);
    return result == snw_ok ? CheckVertexList(def, (const int*)def->neos, 4 * def->neoCount, message) : result;
}

static void CopyImplicitLists(snwImplicit* implicit, const snwImplicitDef* def)
{
    int tets = def->volumeCount + def->strainCount + def->neoCount;

    implicit->vertexCount = def->vertexCount;
    implicit->edgeCount = def->edgeCount;
    implicit->tetCount = tets;
    implicit->volumeCount = def->volumeCount;
    implicit->strainCount = def->strainCount;
    implicit->rowCapacity = def->rowCount;

    implicit->edges = snwArena_Copy(&implicit->arena, def->edges, (size_t)def->edgeCount, sizeof *def->edges);
    implicit->tets = snwArena_Alloc(&implicit->arena, (size_t)tets, sizeof *implicit->tets);
    if (implicit->arena.failed)
        return;

    // Volumes first, then strains, then Neo-Hookean tets: the order of the forces, too.
    int(*out)[4] = implicit->tets;
    for (int i = 0; i < tets; ++i, ++out)
    {
        int strain = i - def->volumeCount, neo = strain - def->strainCount;
        const int* from = neo >= 0 ? def->neos[neo] : strain >= 0 ? def->strains[strain] : def->volumes[i];
        memcpy(out, from, sizeof *out);
    }
}

static void AllocScratch(snwImplicit* implicit, size_t terms)
{
    snwArena* arena = &implicit->arena;
    size_t n = (size_t)implicit->vertexCount, m = (size_t)implicit->rowCapacity;

    // Rows lie behind the terms of the elements.
    implicit->terms = snwArena_Alloc(arena, terms, sizeof *implicit->terms);
    implicit->rows = implicit->terms != NULL ? implicit->terms + (terms - 3 * n * m) : NULL;
    implicit->right = snwArena_Alloc(arena, 3 * n + m, sizeof *implicit->right);
    implicit->edgeForces = snwArena_Alloc(arena, (size_t)implicit->edgeCount, sizeof *implicit->edgeForces);
    implicit->tetForces = snwArena_Alloc(arena, (size_t)implicit->tetCount, sizeof *implicit->tetForces);

    implicit->gradient = snwArena_Alloc(arena, n, sizeof(snwVec3));
    implicit->trialGradient = snwArena_Alloc(arena, n, sizeof(snwVec3));
    implicit->direction = snwArena_Alloc(arena, n, sizeof(snwVec3));
    implicit->trial = snwArena_Alloc(arena, n, sizeof(snwVec3));

    implicit->sizes = snwArena_Alloc(arena, n, sizeof *implicit->sizes);
    implicit->inverseWeights = snwArena_Alloc(arena, n, sizeof *implicit->inverseWeights);

    implicit->multipliers = snwArena_Alloc(arena, m, sizeof(double));
    implicit->schur = snwArena_Alloc(arena, m * m, sizeof(double));

    implicit->dense.kernels = snwCholesky_Kernels(implicit->context->simd);
    implicit->dense.n = implicit->rowCapacity;
    implicit->dense.numbers = snwArena_Alloc(arena, snwDense_Count(implicit->rowCapacity), sizeof(double));
}

static snwResult FillImplicit(snwImplicit* implicit, const snwImplicitDef* def, snwMessage* message)
{
    snwResult result = CheckImplicitDef(def, message);
    if (result < 0)
        return result;
    CopyImplicitLists(implicit, def);
    size_t terms = (size_t)implicit->tetCount * snw_tetHessianCount + (size_t)def->edgeCount * snw_edgeHessianCount +
                   3 * (size_t)def->vertexCount * (size_t)def->rowCount;
    if (terms > INT_MAX)
        return snwFail(message, snw_errorUnsupported, "simulate fewer elements, or fewer bones",
            "%zu numbers are too many for one system", terms);
    AllocScratch(implicit, terms);
    if (implicit->arena.failed)
        return snwFailMemory(message);
    result = CreateImplicitPattern(implicit, (int)terms, message);
    return result < 0 ? result : CreateImplicitFactor(implicit, message);
}

snwResult snwImplicit_Create(snwContext* context, const snwImplicitDef* def, snwImplicit** out, snwMessage* message)
{
    *out = NULL;
    snwImplicit* implicit = snwAlloc(context, sizeof *implicit);
    if (implicit == NULL)
        return snwFailMemory(message);
    implicit->context = context;
    implicit->arena.context = context;
    snwResult result = FillImplicit(implicit, def, message);
    if (result < 0)
        snwImplicit_Destroy(implicit);
    else
        *out = implicit;
    return result;
}

void snwImplicit_Destroy(snwImplicit* implicit)
{
    if (implicit == NULL)
        return;
    snwCholeskyScratch_Destroy(implicit->scratch);
    snwCholesky_Destroy(implicit->factor);
    snwPattern_Destroy(implicit->pattern);
    snwArena_Free(&implicit->arena);
    snwFree(implicit->context, implicit);
}
