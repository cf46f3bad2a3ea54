#include "skelfem_stage.h"

#include "base/clock.h"
#include "base/result.h"
#include "bench.h"
#include "flesh_bench.h"
#include "math/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double s_young = 1e6, s_poisson = 0.3, s_density = 1000, s_gravity = 9.81;

// ---------------------------------------------------------------------------------------------------------------------
// Bodies

static snwResult Reserve(snwFemBody* body, int vertexCount, int tetCount, snwMessage* message)
{
    size_t vertices = (size_t)vertexCount, tets = (size_t)tetCount;
    *body = (snwFemBody){.vertexCount = vertexCount,
        .tetCount = tetCount,
        .rest = calloc(vertices, sizeof(snwVec3)),
        .now = calloc(vertices, sizeof(snwVec3)),
        .tets = calloc(4 * tets, sizeof(int)),
        .mu = calloc(tets, sizeof(double)),
        .lambda = calloc(tets, sizeof(double)),
        .masses = calloc(vertices, sizeof(double)),
        .held = calloc(vertices, 1)};
    if (body->rest && body->now && body->tets && body->mu && body->lambda && body->masses && body->held)
        return snw_ok;
    snwFemBody_Free(body);
    (void)snwFailMemory(message);
    return snw_errorMemory;
}

void snwFemBody_Free(snwFemBody* body)
{
    free(body->rest), free(body->now), free(body->tets), free(body->mu), free(body->lambda), free(body->masses);
    free(body->held);
    *body = (snwFemBody){0};
}

void snwFemBody_SetPoisson(snwFemBody* body, double poisson)
{
    for (int e = 0; e < body->tetCount; ++e)
    {
        body->mu[e] = s_young / (2 * (1 + poisson));
        body->lambda[e] = s_young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    }
}

static void SetMasses(snwFemBody* body)
{
    for (int e = 0; e < body->tetCount; ++e)
    {
        const int* v = body->tets + 4 * e;
        snwVec3 a = snwVec3_Sub(body->rest[v[1]], body->rest[v[0]]),
                b = snwVec3_Sub(body->rest[v[2]], body->rest[v[0]]),
                c = snwVec3_Sub(body->rest[v[3]], body->rest[v[0]]);
        double volume = snwVec3_Dot(a, snwVec3_Cross(b, c)) / 6;
        for (int k = 0; k < 4; ++k)
            body->masses[v[k]] += volume * s_density / 4;
    }
}

// On an arc, turned about it.
static snwVec3 BendBar(snwVec3 x, double width)
{
    const double bend = 1.5, twist = 1;
    double y = x.y - width / 2, z = x.z - width / 2, c = cos(twist * x.x), s = sin(twist * x.x);
    double up = c * y - s * z, side = s * y + c * z, radius = 1 / bend;
    return (snwVec3){(radius - up) * sin(bend * x.x), radius - (radius - up) * cos(bend * x.x), side};
}

snwResult snwFemBody_MakeBar(snwFemBody* body, const int cells[3], double jitter, snwMessage* message)
{
    // Every cube has six tetrahedra along its diagonal, one for each order of the axes; of odd orders two corners
    // change places, so that all have a positive volume.
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const bool odd[6] = {false, true, true, false, false, true};
    int points[3] = {cells[0] + 1, cells[1] + 1, cells[2] + 1};
    int steps[3] = {points[1] * points[2], points[2], 1}, cubes = cells[0] * cells[1] * cells[2];
    snwResult result = Reserve(body, points[0] * points[1] * points[2], 6 * cubes, message);
    if (result < 0)
        return result;

    double cell = 1.0 / cells[0];
    uint64_t seed = 88172645463325252ull;
    for (int v = 0; v < body->vertexCount; ++v)
    {
        const int at[3] = {v / steps[0], v / steps[1] % points[1], v % points[2]};
        body->held[v] = at[0] == 0;
        for (int k = 0; k < 3; ++k)
            (&body->rest[v].x)[k] = cell * (at[k] + jitter * (snwBenchRandom(&seed) - 0.5));
        body->now[v] = BendBar(body->rest[v], cell * cells[1]);
    }
    for (int cube = 0, e = 0; cube < cubes; ++cube)
    {
        int corner = cube / (cells[1] * cells[2]) * steps[0] + cube / cells[2] % cells[1] * steps[1] + cube % cells[2];
        for (int k = 0; k < 6; ++k, ++e)
        {
            int* v = body->tets + 4 * e;
            v[0] = corner;
            for (int a = 0; a < 3; ++a)
                v[a + 1] = v[a] + steps[orders[k][a]];
            if (odd[k])
            {
                int other = v[1];
                v[1] = v[2], v[2] = other;
            }
        }
    }
    snwFemBody_SetPoisson(body, s_poisson);
    SetMasses(body);
    return snw_ok;
}

snwResult snwFemBody_MakeCharacter(snwFemBody* body, const char* name, int tets, snwMessage* message)
{
    *body = (snwFemBody){0};
    snwFleshStage stage;
    snwResult result = snwFleshStage_Open(&stage, snwMakeFleshScene(name, tets), message);
    if (result < 0)
        return result;
    const snwCharacterDef* def = &stage.character->def;
    result = Reserve(body, def->vertexCount, def->tetCount, message);
    if (result >= 0)
    {
        snwVec3 low = stage.character->lower, high = stage.character->upper;
        memcpy(body->rest, def->vertices, (size_t)def->vertexCount * sizeof(snwVec3));
        memcpy(body->tets, def->tets, (size_t)def->tetCount * 4 * sizeof(int));
        for (int v = 0; v < body->vertexCount; ++v)
        {
            snwVec3 x = body->rest[v];
            double turn = 0.6 * (x.z - low.z) / (high.z - low.z), c = cos(turn), s = sin(turn);
            body->now[v] = (snwVec3){c * x.x - s * (x.y - low.y), low.y + s * x.x + c * (x.y - low.y), x.z};
        }
        for (int e = 0; e < body->tetCount && def->elementBones != NULL; ++e)
            for (int k = 0; k < 4 && def->elementBones[e] >= 0; ++k)
                body->held[body->tets[4 * e + k]] = 1;
        snwFemBody_SetPoisson(body, s_poisson);
        SetMasses(body);
    }
    snwFleshStage_Close(&stage);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Stages

snwResult snwFemStage_Open(snwFemStage* stage, snwContext* context, const snwFemBody* body, int unknowns,
    const snwMultigridDef* grid, snwMessage* message)
{
    *stage = (snwFemStage){.context = context, .body = body};
    size_t count = (size_t)body->vertexCount;
    snwGridLevelsDef levels = snwDefaultGridLevelsDef();
    levels.vertexCount = body->vertexCount;
    levels.rest = body->rest;
    levels.elementCount = body->tetCount;
    levels.elements = body->tets;
    levels.unknowns = unknowns;
    snwResult result = snwGridLevels_Create(context, &levels, &stage->levels, message);
    if (result >= 0)
        result = snwMultigrid_Create(context, stage->levels, grid, &stage->grid, message);
    if (result >= 0)
    {
        snwCorotatedDef flesh = {body->vertexCount, body->rest, body->tetCount, body->tets, body->mu, body->lambda,
            stage->levels, snwMultigrid_Matrix(stage->grid)};
        result = snwCorotated_Create(context, &flesh, &stage->flesh, message);
    }
    stage->added = calloc(count, sizeof(double));
    stage->f = calloc(count, sizeof(snwVec3));
    stage->u = calloc(count, sizeof(snwVec3));
    bool there = stage->added != NULL && stage->f != NULL && stage->u != NULL;
    if (result >= 0 && !there)
        result = snwFailMemory(message);
    if (result < 0 || !there)
    {
        snwFemStage_Close(stage);
        return result;
    }
    for (size_t v = 0; v < count; ++v)
        stage->f[v].y = -s_gravity * body->masses[v];
    snwMultigrid_Hold(stage->grid, body->held, snw_holdMask);
    return snw_ok;
}

void snwFemStage_Close(snwFemStage* stage)
{
    snwCorotated_Destroy(stage->flesh);
    snwMultigrid_Destroy(stage->grid);
    snwGridLevels_Destroy(stage->levels);
    free(stage->added), free(stage->f), free(stage->u);
    *stage = (snwFemStage){0};
}

void snwFemStage_Assemble(snwFemStage* stage, double h)
{
    for (int v = 0; v < stage->body->vertexCount; ++v)
        stage->added[v] = h > 0 ? 4 * stage->body->masses[v] / (h * h) : 0;
    snwCorotated_Rotate(stage->flesh, stage->body->now);
    snwCorotated_Assemble(stage->flesh, stage->added);
}

void snwFemStage_Refresh(snwFemStage* stage)
{
    snwMultigrid_Refresh(stage->grid, stage->body->now);
}

snwGridReport snwFemStage_Solve(snwFemStage* stage, snwGridSolver solver, double tolerance, int most)
{
    snwGridSolveDef def = {solver, tolerance, most};
    return snwCorotated_Solve(stage->flesh, stage->grid, stage->added, stage->body->held, &def, stage->f, stage->u);
}

double snwFemStage_EnergyNorm(snwFemStage* stage, const snwVec3* u, const snwVec3* v, snwVec3* scratch)
{
    int count = stage->body->vertexCount;
    double sum = 0;
    for (int i = 0; i < count; ++i)
        scratch[i] = stage->body->held[i] ? (snwVec3){0, 0, 0}
                                          : snwVec3_Sub(u[i], v != NULL ? v[i] : (snwVec3){0, 0, 0});
    snwCorotated_Multiply(stage->flesh, stage->added, scratch, scratch + count);
    for (int i = 0; i < count; ++i)
        sum += snwVec3_Dot(scratch[i], scratch[count + i]);
    return sqrt(fmax(0, sum));
}

double snwCpuMs(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

double snwThreadMs(void)
{
    return 1e3 * snwClock_ThreadSeconds();
}
