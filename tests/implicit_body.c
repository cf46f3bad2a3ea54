#include "implicit_body.h"

#include "test.h"

#include "geom/mesh.h"

#include <stdlib.h>

static double Uniform(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

snwVec3 snwRandomVector(uint64_t* seed)
{
    double x = Uniform(seed), y = Uniform(seed), z = Uniform(seed);
    return (snwVec3){x, y, z};
}

// Symmetric, positive definite, nothing alike.
void snwRandomStiffness(uint64_t* seed, double c[6][6])
{
    double b[6][6];
    for (int i = 0; i < 36; ++i)
        b[i / 6][i % 6] = Uniform(seed);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
        {
            c[i][j] = i == j;
            for (int k = 0; k < 6; ++k)
                c[i][j] += b[i][k] * b[j][k];
        }
}

snwMat3 snwInverseOf(const snwVec3 x[4])
{
    snwMat3 inverse = {0};
    bool ok = snwMat3_Inverse(
        snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0])), &inverse);
    CHECK(ok);
    return inverse;
}

static const double s_density = 1000; // kg/m^3

static void Take(snwImplicitBody* body, double** numbers, size_t count)
{
    *numbers = snwArena_Alloc(&body->arena, count + 1, sizeof **numbers);
}

static void Allocate(snwImplicitBody* body)
{
    size_t n = (size_t)body->mesh.vertexCount, tets = (size_t)body->mesh.tetCount, edges = (size_t)body->edgeCount;
    body->x = snwArena_Copy(&body->arena, body->mesh.vertices, n, sizeof(snwVec3));
    body->targets = snwArena_Copy(&body->arena, body->mesh.vertices, n, sizeof(snwVec3));
    body->reference = snwArena_Copy(&body->arena, body->mesh.vertices, n, sizeof(snwVec3));
    body->rows = snwArena_Alloc(&body->arena, n * snw_bodyRows, sizeof(snwVec3));
    body->held = snwArena_Alloc(&body->arena, n, sizeof(bool));
    body->kinds = snwArena_Alloc(&body->arena, tets, sizeof(int));
    body->inverses = snwArena_Alloc(&body->arena, tets, sizeof(snwMat3));
    Take(body, &body->weights, n);
    Take(body, &body->masses, n);
    Take(body, &body->lengths, edges);
    Take(body, &body->edgeStiffness, edges);
    Take(body, &body->volumes, tets);
    Take(body, &body->volumeStiffness, tets);
    Take(body, &body->tetVolumes, tets);
    Take(body, &body->mu, tets);
    Take(body, &body->lambda, tets);
}

// k_e = 15 mu V_e / l^2 and k_v = (lambda - mu) / (36 V): an even network of springs has lambda = mu.
static void SetNetwork(snwImplicitBody* body)
{
    const snwVec3* p = body->mesh.vertices;
    for (int e = 0; e < body->edgeCount; ++e)
    {
        int i = body->edges[e][0], j = body->edges[e][1];
        double share = 0;
        for (int t = 0; t < body->mesh.tetCount; ++t)
        {
            const int* c = body->mesh.tets[t];
            bool hasI = c[0] == i || c[1] == i || c[2] == i || c[3] == i;
            bool hasJ = c[0] == j || c[1] == j || c[2] == j || c[3] == j;
            share += hasI && hasJ ? body->tetVolumes[t] / 6 : 0;
        }
        body->lengths[e] = snwVec3_Distance(p[i], p[j]);
        body->edgeStiffness[e] = 15 * SNW_BODY_MU * share / (body->lengths[e] * body->lengths[e]);
    }
    for (int t = 0; t < body->mesh.tetCount; ++t)
    {
        body->volumes[t] = 6 * body->tetVolumes[t];
        body->volumeStiffness[t] = (SNW_BODY_LAMBDA - SNW_BODY_MU) / (36 * body->tetVolumes[t]);
    }
}

static void SetRest(snwImplicitBody* body)
{
    for (int t = 0; t < body->mesh.tetCount; ++t)
    {
        snwVec3 p[4];
        for (int a = 0; a < 4; ++a)
            p[a] = body->mesh.vertices[body->mesh.tets[t][a]];
        body->inverses[t] = snwInverseOf(p);
        body->tetVolumes[t] = snwTet_Volume(p[0], p[1], p[2], p[3]);
        body->mu[t] = SNW_BODY_MU, body->lambda[t] = SNW_BODY_LAMBDA;
        for (int a = 0; a < 4; ++a)
            body->masses[body->mesh.tets[t][a]] += s_density * body->tetVolumes[t] / 4;
    }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
            body->stiffness[0][i][j] = (i < 3 && j < 3 ? SNW_BODY_LAMBDA : 0) +
                                       (i == j ? (i < 3 ? 2 : 1) * SNW_BODY_MU : 0);
}

static snwImplicitStep MakeStep(const snwImplicitBody* body)
{
    snwImplicitStep step = snwDefaultImplicitStep();
    step.weights = body->weights, step.targets = body->targets, step.held = body->held;
    step.lengths = body->lengths, step.edgeStiffness = body->edgeStiffness;
    step.volumes = body->volumes, step.volumeStiffness = body->volumeStiffness;
    step.strainInverses = step.neoInverses = body->inverses;
    step.strainVolumes = step.neoVolumes = body->tetVolumes;
    step.strainStiffness = (const double(*)[6][6])body->stiffness, step.strainKinds = body->kinds;
    step.neoMu = body->mu, step.neoLambda = body->lambda;
    step.rows = body->rows, step.reference = body->reference;
    return step;
}

static snwImplicitDef MakeDef(const snwImplicitBody* body, snwBodyLaw law, int rowCount)
{
    snwImplicitDef def = {.vertexCount = body->mesh.vertexCount, .rowCount = rowCount};
    const int(*tets)[4] = (const int(*)[4])body->mesh.tets;
    def.edges = (const int(*)[2])body->edges, def.volumes = def.strains = def.neos = tets;
    if (law == snw_bodyNetwork)
        def.edgeCount = body->edgeCount, def.volumeCount = body->mesh.tetCount;
    else if (law == snw_bodyNeo)
        def.neoCount = body->mesh.tetCount;
    else
        def.strainCount = body->mesh.tetCount;
    return def;
}

bool snwImplicitBody_OpenMesh(snwContext* context, snwTetMesh mesh, snwImplicitBody* body)
{
    body->context = context;
    body->mesh = mesh;
    snwElements elements = {(const int*)mesh.tets, 4, mesh.tetCount};
    bool ok = snwMesh_FindEdges(context, elements, NULL, 0, &body->edges, &body->edgeCount) == snw_ok;
    Allocate(body);
    SetRest(body);
    SetNetwork(body);
    body->step = MakeStep(body);
    return ok && !body->arena.failed;
}

bool snwImplicitBody_Finish(snwImplicitBody* body, snwBodyLaw law, int rowCount)
{
    snwImplicitDef def = MakeDef(body, law, rowCount);
    bool ok = snwImplicit_Create(body->context, &def, &body->implicit, &body->message) == snw_ok;
    CHECK(ok);
    return ok;
}

// A bar along x.
bool snwImplicitBody_OpenBar(snwContext* context, snwBodyLaw law, int rowCount, snwImplicitBody* body)
{
    *body = (snwImplicitBody){.arena = {.context = context}};
    snwTetMesh mesh;
    bool ok = snwMakeBoxMesh(&body->arena, (snwVec3){0.4, 0.2, 0.2}, (int[3]){4, 2, 2}, &mesh);
    return ok && snwImplicitBody_OpenMesh(context, mesh, body) && snwImplicitBody_Finish(body, law, rowCount);
}

void snwImplicitBody_Close(snwImplicitBody* body)
{
    snwImplicit_Destroy(body->implicit);
    snwFree(body->context, body->edges);
    snwArena_Free(&body->arena);
}

snwResult snwImplicitBody_Solve(snwImplicitBody* body)
{
    return snwImplicit_Solve(body->implicit, &body->step, body->x, &body->report, &body->message);
}

void snwImplicitBody_SetWeights(snwImplicitBody* body, double h)
{
    for (int v = 0; v < body->mesh.vertexCount; ++v)
        body->weights[v] = body->masses[v] / (h * h);
}

// Held at its left end, falling from rest.
void snwImplicitBody_LetFall(snwImplicitBody* body, double h)
{
    snwImplicitBody_SetWeights(body, h);
    for (int v = 0; v < body->mesh.vertexCount; ++v)
    {
        body->held[v] = body->mesh.vertices[v].x < -0.19;
        if (!body->held[v])
            body->targets[v].y -= 9.81 * h * h;
    }
}

double snwLargestGap(const snwVec3* a, const snwVec3* b, int count)
{
    double gap = 0;
    for (int v = 0; v < count; ++v)
        gap = fmax(gap, snwVec3_Distance(a[v], b[v]));
    return gap;
}
