#include "softcontact_shake.h"

#include "base/result.h"
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_pushSteps = 15,   // that a push lasts
    snw_roundSteps = 300, // until it starts again from its place
    snw_shakeContacts = 200
};

static const double s_friction = 0.6;

snwShakeDef snwShake_DefaultDef(int contacts)
{
    snwShakeDef def = {.cells = {4, 2, 3}, .mass = 35, .stiffness = 1e4, .compliance = 1e-3, .h = 0.004, .seed = 1};
    if (contacts == 40)
        def.cells[0] = 7, def.cells[2] = 4;
    if (contacts == 100)
        def.cells[0] = 9, def.cells[2] = 9;
    return def;
}

snwResult snwShake_Open(snwShake* shake, snwContext* context, const snwShakeDef* def, snwMessage* message)
{
    *shake = (snwShake){.def = *def, .seed = def->seed};
    snwSkinBoxDef box = {{0, 0.03, 0}, {0.05, 0.03, 0.12}, def->mass, def->stiffness, 0.6, {0}};
    memcpy(box.cells, def->cells, sizeof box.cells);
    snwSkinBox_Make(&shake->box, &box);
    // The weight of what stands on the foot.
    shake->box.link.mass.moment = (snwVec3){0, 0.1 * def->mass, 0};
    double high = 0.02 * def->mass;
    for (int i = 0; i < 3; ++i)
        shake->box.link.mass.inertia.m[i][i] += high;
    snwSoftStage_Begin(&shake->stage, context, s_friction, (snwVec3){0, 0, 1}, 0);
    snwResult result = snwSoftStage_AddBox(&shake->stage, &shake->box, message);
    if (result == snw_ok)
        result = snwSoftStage_Open(&shake->stage, snw_shakeContacts, message);
    snwSoftSettings* settings = &shake->stage.settings;
    settings->h = def->h, settings->rigid = def->rigid, settings->start = def->start;
    settings->compliance = def->compliance;
    if (def->compliance == 0)
        settings->compliance = 1e-4, settings->stiffness = 2e6, settings->damping = 4e3;
    return result;
}

void snwShake_Close(snwShake* shake)
{
    snwSoftStage_Close(&shake->stage);
}

static double Signed(uint64_t* seed)
{
    return 2 * snwBenchRandom(seed) - 1;
}

static void PushAnew(snwShake* shake)
{
    double weight = 9.81 * shake->def.mass, force[3], torque[3];
    for (int c = 0; c < 3; ++c)
        force[c] = Signed(&shake->seed), torque[c] = Signed(&shake->seed);
    shake->load.shift = (snwVec3){0.6 * weight * force[0], 0.5 * weight * force[1], 0.6 * weight * force[2]};
    shake->load.turn = (snwVec3){0.1 * weight * torque[0], 0.03 * weight * torque[1], 0.045 * weight * torque[2]};
}

snwResult snwShake_Step(snwShake* shake, snwMessage* message)
{
    snwSoftBody* body = shake->stage.bodies;
    if (shake->step % snw_roundSteps == 0)
    {
        snwSoftBody_Reset(body);
        shake->stage.world.memoryCount = 0;
    }
    if (shake->step % snw_pushSteps == 0)
        PushAnew(shake);
    ++shake->step;
    // Held from above, softly, as a leg would: it does not fall over.
    snwSpatial load = shake->load;
    snwVec3 lean = snwQuat_ToRotationVector(body->poses[0].turn);
    snwVec3 turn = {body->u[3], body->u[4], body->u[5]};
    load.turn = snwVec3_MulAdd(load.turn, -6 * shake->def.mass, lean);
    load.turn = snwVec3_MulAdd(load.turn, -0.3 * shake->def.mass, turn);
    snwSoftStep step = {.loads = &load};
    return snwSoftStage_StepWith(&shake->stage, &step, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Problems that are kept

void snwKeptProblems_Init(snwKeptProblems* kept, int capacity, int contacts)
{
    *kept = (snwKeptProblems){.capacity = capacity, .contacts = contacts};
    kept->problems = calloc((size_t)capacity, sizeof *kept->problems);
    kept->failed = kept->problems == NULL;
}

void snwKeptProblems_Free(snwKeptProblems* kept)
{
    for (int i = 0; i < kept->count; ++i)
        free(kept->problems[i].blocks), free(kept->problems[i].numbers);
    free(kept->problems), free(kept->scratch);
    *kept = (snwKeptProblems){0};
}

static void Keep(void* watcher, const snwCoulombDef* problem)
{
    snwKeptProblems* kept = watcher;
    size_t n = (size_t)problem->rows, blocks = (size_t)problem->blockCount;
    if (kept->count == kept->capacity || n == 0 || kept->failed ||
        (kept->contacts > 0 && problem->rows != 3 * kept->contacts))
        return;
    snwKeptProblem* to = &kept->problems[kept->count];
    *to = (snwKeptProblem){.def = *problem};
    to->blocks = malloc(blocks * sizeof *to->blocks);
    to->numbers = malloc((n * n + 4 * n) * sizeof *to->numbers);
    if (problem->rows > kept->mostRows)
    {
        free(kept->scratch);
        kept->scratch = malloc(snwCoulomb_ScratchCount(problem->rows) * sizeof *kept->scratch);
        kept->mostRows = problem->rows;
    }
    if (to->blocks == NULL || to->numbers == NULL || kept->scratch == NULL)
    {
        free(to->blocks), free(to->numbers);
        kept->failed = true;
        return;
    }
    double *w = to->numbers, *compliance = w + n * n, *q = compliance + n;
    to->start = q + n, to->lambda = to->start + n;
    memcpy(to->blocks, problem->blocks, blocks * sizeof *to->blocks);
    for (size_t i = 0; i < n; ++i)
        memcpy(w + i * n, problem->w + i * (size_t)problem->stride, n * sizeof *w);
    memcpy(compliance, problem->compliance, n * sizeof *q), memcpy(q, problem->q, n * sizeof *q);
    memcpy(to->start, problem->lambda, n * sizeof *q);
    to->def.blocks = to->blocks, to->def.w = w, to->def.stride = problem->rows;
    to->def.compliance = compliance, to->def.q = q, to->def.lambda = to->lambda;
    ++kept->count;
}

snwResult snwKeptProblems_Fill(snwKeptProblems* kept, snwContext* context, const snwShakeDef* def, snwMessage* message)
{
    snwShake* shake = malloc(sizeof *shake);
    if (shake == NULL)
        return snwFailMemory(message);
    snwResult result = snwShake_Open(shake, context, def, message);
    shake->stage.world.watch = Keep, shake->stage.world.watcher = kept;
    while (result == snw_ok && kept->count < kept->capacity && shake->step < 20L * kept->capacity && !kept->failed)
        result = snwShake_Step(shake, message);
    snwShake_Close(shake);
    free(shake);
    return result == snw_ok && kept->failed ? snwFailMemory(message) : result;
}

snwCoulombReport snwKeptProblems_Solve(snwKeptProblems* kept, int problem, snwCoulombStart start, uint64_t seed)
{
    snwKeptProblem* p = &kept->problems[problem];
    memcpy(p->lambda, p->start, (size_t)p->def.rows * sizeof *p->lambda);
    p->def.scratch = kept->scratch, p->def.start = start, p->def.seed = seed;
    return snwCoulomb_Solve(&p->def);
}

double snwKeptProblem_Force(const snwKeptProblem* problem)
{
    double sum[3] = {0};
    for (int b = 0; b < problem->def.blockCount; ++b)
        for (int c = 0; c < 3 && problem->blocks[b].kind == snw_coulombFriction; ++c)
            sum[c] += problem->lambda[problem->blocks[b].row + c];
    return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
}
