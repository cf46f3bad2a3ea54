// The implicit step of a body solved to the end (implicit.h), in place of sweeps: with the energies of the same law,
// and with the complement as a constraint: complementary dynamics.

#include "sim/pbcd/pbcd.h"

#include <math.h>
#include <string.h>

typedef struct snwPbcdNewton
{
    snwContext* context;
    snwArena arena;
    snwImplicit* implicit;
    double* weights;
    snwVec3* targets;
    snwVec3* x;
    snwVec3* reference;
    bool* held;
    double *lengths, *edgeStiffness;
    double *volumes, *volumeStiffness;
    snwMat3* inverses;
    double *mu, *lambda;
    double (*stiffness)[6][6]; // one per region
    snwVec3* rows;
    double* masses;
    snwImplicitReport report;
} snwPbcdNewton;

// Newton's method needs finite stiffnesses; this much of Poisson's ratio is as good as 0.5.
static snwMaterial Compressible(const snwMaterial* material)
{
    snwMaterial copy = *material;
    copy.poisson = fmin(copy.poisson, 0.4999);
    return copy;
}

static snwImplicitRig MakeImplicitRig(const snwPbcdWork* work)
{
    const snwPbcdModel* model = work->model;
    return (snwImplicitRig){.kind = model->complementKind == snw_pbcdRig ? snw_complementRig : snw_complementAffine,
        .vertexCount = model->vertexCount,
        .rest = model->character->def.vertices,
        .masses = work->newton->masses,
        .weights = model->weights,
        .handles = work->pose};
}

static int NewtonRowCount(const snwPbcdWork* work)
{
    snwImplicitRig rig = MakeImplicitRig(work);
    return work->model->complement == NULL ? 0 : snwImplicitRig_RowCount(&rig);
}

static void AllocateNewton(const snwPbcdWork* work)
{
    snwPbcdNewton* newton = work->newton;
    const snwPbcdModel* model = work->model;
    const snwCharacter* character = model->character;
    size_t n = (size_t)model->vertexCount, tets = (size_t)character->def.tetCount + 1;
    size_t edges = (size_t)character->edgeCount + 1;

    snwArena* arena = &newton->arena;

    // Vectors of the step.
    newton->weights = snwArena_Alloc(arena, n, sizeof *newton->weights);
    newton->targets = snwArena_Alloc(arena, n, sizeof *newton->targets);
    newton->x = snwArena_Alloc(arena, n, sizeof *newton->x);
    newton->reference = snwArena_Alloc(arena, n, sizeof *newton->reference);
    newton->held = snwArena_Alloc(arena, n, sizeof *newton->held);
    newton->masses = snwArena_Alloc(arena, n, sizeof *newton->masses);

    // What elements rest at and how stiff they are.
    newton->lengths = snwArena_Alloc(arena, edges, sizeof *newton->lengths);
    newton->edgeStiffness = snwArena_Alloc(arena, edges, sizeof *newton->edgeStiffness);
    newton->volumes = snwArena_Alloc(arena, tets, sizeof *newton->volumes);
    newton->volumeStiffness = snwArena_Alloc(arena, tets, sizeof *newton->volumeStiffness);
    newton->inverses = snwArena_Alloc(arena, tets, sizeof *newton->inverses);
    newton->mu = snwArena_Alloc(arena, tets, sizeof *newton->mu);
    newton->lambda = snwArena_Alloc(arena, tets, sizeof *newton->lambda);
    newton->stiffness = snwArena_Alloc(arena, (size_t)character->def.materialCount, sizeof *newton->stiffness);

    // Rows of the complement.
    newton->rows = snwArena_Alloc(arena, (size_t)NewtonRowCount(work) * n + 1, sizeof *newton->rows);
}

static void MeasureNewtonRest(snwPbcdNewton* newton, const snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    for (int i = 0; i < character->edgeCount; ++i)
        newton->lengths[i] = snwVec3_Distance(
            def->vertices[character->edges[i][0]], def->vertices[character->edges[i][1]]);
    for (int i = 0; i < def->tetCount; ++i)
    {
        const snwVec3* x = def->vertices;
        const int* tet = def->tets[i];
        snwMat3 edges = snwMat3_FromColumns(
            snwVec3_Sub(x[tet[1]], x[tet[0]]), snwVec3_Sub(x[tet[2]], x[tet[0]]), snwVec3_Sub(x[tet[3]], x[tet[0]]));
        snwMat3_Inverse(edges, &newton->inverses[i]);
        newton->volumes[i] = 6.0 * character->restVolumes[i];
    }
}

snwResult snwPbcd_CreateNewton(snwPbcdWork* work, snwContext* context, snwMessage* message)
{
    const snwPbcdModel* model = work->model;
    const snwCharacter* character = model->character;
    snwPbcdNewton* newton = snwAlloc(context, sizeof *newton);

    work->newton = newton;
    if (newton == NULL)
        return snwFailMemory(message);

    newton->context = newton->arena.context = context;
    AllocateNewton(work);
    if (newton->arena.failed)
        return snwFailMemory(message);

    MeasureNewtonRest(newton, character);
    snwImplicitDef def = {.vertexCount = model->vertexCount, .rowCount = NewtonRowCount(work)};

    // Elements of the law in use; those of others are none.
    if (model->law == snw_pbcdEdges)
    {
        def.edgeCount = character->edgeCount;
        def.edges = (const int(*)[2])character->edges;
        def.volumeCount = character->def.tetCount;
        def.volumes = character->def.tets;
    }

    if (model->law == snw_pbcdStrain)
        def.strainCount = character->def.tetCount, def.strains = character->def.tets;
    if (model->law == snw_pbcdNeo)
        def.neoCount = character->def.tetCount, def.neos = character->def.tets;

    return snwImplicit_Create(context, &def, &newton->implicit, message);
}

void snwPbcd_DestroyNewton(snwPbcdNewton* newton)
{
    if (newton == NULL)
        return;
    snwImplicit_Destroy(newton->implicit);
    snwArena_Free(&newton->arena);
    snwFree(newton->context, newton);
}

// ---------------------------------------------------------------------------------------------------------------------
// A step

// C = S^-1, region by region.
static void InvertCompliance(const double compliance[9], double out[6][6])
{
    const double* s = compliance;
    snwMat3 inverse = {{{0}}}, normal = {{{s[0], s[1], s[2]}, {s[1], s[3], s[4]}, {s[2], s[4], s[5]}}};
    memset(out, 0, 36 * sizeof(double));
    snwMat3_Inverse(normal, &inverse);
    for (int i = 0; i < 3; ++i)
    {
        for (int j = 0; j < 3; ++j)
            out[i][j] = inverse.m[i][j];
        out[3 + i][3 + i] = 1.0 / s[6 + i];
    }
}

static void SetPbcdMaterials(snwSim* sim, int body)
{
    const snwPbcdModel* model = snwPbcd_Work(sim, body)->model;
    snwPbcdNewton* newton = snwPbcd_Work(sim, body)->newton;
    const snwCharacter* character = model->character;
    const snwMaterial* materials = sim->bodies[body].materials;

    const double axes[3] = {
        snwSim_Param(sim, snw_pbcdAlongX), snwSim_Param(sim, snw_pbcdAlongY), snwSim_Param(sim, snw_pbcdAlongZ)};

    snwSoftDef soft = {.character = character, .tetEdges = (const snwTetEdges*)model->tetEdges, .materials = materials};

    snwPbcd_Masses(model, materials, newton->masses);
    if (model->law == snw_pbcdEdges)
        snwSoft_EdgeStiffnesses(&soft, newton->edgeStiffness);

    // Stiffness matrices of Green's strains, one per material.
    for (int i = 0; i < character->def.materialCount; ++i)
    {
        double compliance[9];
        snwMaterial material = Compressible(&materials[i]);
        snwSoft_StrainCompliance(&material, axes, compliance);
        InvertCompliance(compliance, newton->stiffness[i]);
    }

    // Moduli of each tet.
    for (int i = 0; i < character->def.tetCount; ++i)
    {
        snwMaterial material = Compressible(&materials[character->def.regions[i]]);
        double nu = material.poisson;
        newton->volumeStiffness[i] = snwSoft_VolumeStiffness(&material, character->restVolumes[i]);
        newton->mu[i] = material.young / (2.0 * (1.0 + nu));
        newton->lambda[i] = material.young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
    }
}

static snwImplicitStep MakeImplicitStep(snwSim* sim, int body, const snwPbcdTime* time)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, body);
    snwPbcdNewton* newton = work->newton;
    const snwPbcdModel* model = work->model;
    snwImplicitStep step = snwDefaultImplicitStep();

    // The inertia of each vertex with its anchor, where it goes by itself, and where the artist has it.
    for (int i = 0; i < model->vertexCount; ++i)
    {
        newton->held[i] = work->state.held[i] != 0;
        newton->weights[i] = newton->masses[i] / (double)work->stiffer[i] / (time->e * time->e);
        newton->targets[i] = snwRow_Get(work->state.positions, i);
        newton->reference[i] = snwRow_Get(work->reference, i);
        newton->x[i] = newton->held[i] ? newton->targets[i] : snwRow_Get(work->before, i);
    }

    step.weights = newton->weights;
    step.targets = newton->targets;
    step.held = newton->held;

    step.lengths = newton->lengths;
    step.edgeStiffness = newton->edgeStiffness;
    step.volumes = newton->volumes;
    step.volumeStiffness = newton->volumeStiffness;

    // Elements, by the law that is in use.
    step.strainInverses = step.neoInverses = newton->inverses;
    step.strainVolumes = step.neoVolumes = model->character->restVolumes;
    step.strainStiffness = (const double(*)[6][6])newton->stiffness;
    step.strainKinds = model->character->def.regions;
    step.neoMu = newton->mu;
    step.neoLambda = newton->lambda;

    step.rows = newton->rows;
    step.reference = newton->reference;

    step.maxIterations = (int)snwSim_Param(sim, snw_pbcdIterations_);
    step.tolerance = fmax(snwSim_Param(sim, snw_pbcdTolerance), 1e-10);
    return step;
}

snwResult snwPbcd_SolveNewton(snwSim* sim, int body, const snwPbcdTime* time, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    snwPbcdNewton* newton = work->newton;
    SetPbcdMaterials(sim, body);
    snwImplicitStep step = MakeImplicitStep(sim, body, time);
    step.rowCount = NewtonRowCount(work);
    if (step.rowCount > 0)
    {
        snwImplicitRig rig = MakeImplicitRig(work);
        snwImplicitRig_MakeRows(&rig, newton->rows);
    }
    snwResult result = snwImplicit_Solve(newton->implicit, &step, newton->x, &newton->report, message);
    ((snwPbcdScratch*)sim->scratch)->sweeps += newton->report.iterations;
    for (int i = 0; i < work->model->vertexCount; ++i)
        snwRow_Set(work->state.positions, i, newton->x[i]);
    return result < 0 ? result : snw_ok;
}
