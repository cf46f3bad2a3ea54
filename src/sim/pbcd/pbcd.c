// The method pbcd (pbcd.h): its parameters, the memory that a body's step works in, and the step as a list of stages.
// The stages are in pbcd_rig.c, pbcd_inertia.c, pbcd_motion.c, pbcd_solve.c and pbcd_newton.c.

#include "sim/pbcd/pbcd.h"
#include "sim/laws.h"
#include "sim/methods.h"
#include "sim/origin.h"
#include "sim/pbcd/pbcd_stages.h"

#include <math.h>
#include <string.h>

static const char* const s_stages[snw_stageCount] = {
    "rig", "predict", "detect", "distance", "volume", "contact", "complement", "velocity"};

static const char* const s_modes[] = {"flesh", "thesis", NULL};
static const char* const s_laws[] = {"neo", "edges", "strain", NULL};
static const char* const s_solvers[] = {"smpbd", "pbd", "implicit", NULL};
static const char* const s_commits[] = {"seidel", "jacobi", NULL};
static const char* const s_integrators[] = {"euler", "bdf2", "trapezoid", NULL};
static const char* const s_skinnings[] = {"linear", "dual_quaternion", NULL};
static const char* const s_binds[] = {"anchor", "distance", NULL};
static const char* const s_rests[] = {"auto", "moving", "fixed", NULL};
static const char* const s_complements[] = {"none", "rig", "affine", NULL};

#define REAL(id, low, high, start, of, isLive, words)                                                                  \
    {                                                                                                                  \
        .name = id, .type = snw_paramReal, .unit = of, .lower = low, .upper = high, .initial = start, .live = isLive,  \
        .help = words                                                                                                  \
    }
#define CHOICE(id, list, last, words)                                                                                  \
    {                                                                                                                  \
        .name = id, .type = snw_paramChoice, .unit = "", .lower = 0, .upper = last, .initial = 0, .choices = list,     \
        .help = words                                                                                                  \
    }
#define BOOL(id, start, words)                                                                                         \
    {                                                                                                                  \
        .name = id, .type = snw_paramBool, .unit = "", .lower = 0, .upper = 1, .initial = start, .help = words         \
    }

static const snwParamInfo s_params[snw_pbcdParamCount] = {
    [snw_pbcdIterations_] = {.name = "pbcd.iterations",
        .type = snw_paramInt,
        .unit = "",
        .lower = 1,
        .upper = 100000,
        .initial = 10,
        .live = true,
        .help = "sweeps over all constraints in each substep, at most; in pairs with pbcd.integrator trapezoid"},
    [snw_pbcdTolerance] = REAL("pbcd.tolerance", 0, 1, 0, "", true,
        "sweeps end when no vertex moves by more than this part of the body's size; 0: all are made"),
    [snw_pbcdMode_] = CHOICE("pbcd.mode", s_modes, 1,
        "flesh: flesh keeps its state and is led by the artist's motion; thesis: Algorithm 2, which starts anew from "
        "the artist's motion in each substep"),
    [snw_pbcdLaw_] = CHOICE("pbcd.law", s_laws, 2,
        "neo: Neo-Hookean tets; edges: lengths and volumes; strain: Green strains, softer along some axis if asked"),
    [snw_pbcdSolver_] = CHOICE("pbcd.solver", s_solvers, 2,
        "smpbd: soft constraints; pbd: as published in 2007, lengths and volumes with pbcd.stiffness; implicit: "
        "Newton's method to the end, slow, with pbcd.complement complementary dynamics"),
    [snw_pbcdCommit_] = CHOICE("pbcd.commit", s_commits, 1,
        "seidel: each constraint moves its vertices at once; jacobi: all together at the end of a sweep"),
    [snw_pbcdRelaxation] = REAL("pbcd.relaxation", 0.001, 1, 1, "", true,
        "with pbcd.commit jacobi: the part of each move that is made; below about 0.15 most bodies converge"),
    [snw_pbcdIntegrator_] = CHOICE("pbcd.integrator", s_integrators, 2,
        "euler: damps; bdf2: second order, damps less; trapezoid: second order, damps nothing by itself"),
    [snw_pbcdCorrected] = BOOL("pbcd.corrected", 0,
        "take back what constraints pushed along directions that have turned since: sweeps end in the exact implicit "
        "step (law neo always does)"),
    [snw_pbcdStiffness] = REAL(
        "pbcd.stiffness", 0, 1, 0.5, "", true, "with pbcd.solver pbd: the part of an error that a visit takes away"),
    [snw_pbcdFollow] = BOOL("pbcd.follow", 1, "bones lead the flesh; without it they are flesh like all else"),
    [snw_pbcdSkinning] = CHOICE("pbcd.skinning", s_skinnings, 1, "how bones say where flesh belongs"),
    [snw_pbcdBlend] = REAL("pbcd.blend", 0, 1, 0, "", true,
        "how much of the artist's motion flesh takes part in without inertia: 0 sways with everything, 1 only falls "
        "and bounces"),
    [snw_pbcdAnchor_] = REAL("pbcd.anchor", 0, 1000, 2, "Hz", true,
        "how fast flesh swings about the place where the artist puts it, its own stiffness aside, unless its material "
        "has a frequency; 0: not tied to it, and never with pbcd.complement"),
    [snw_pbcdHold] = BOOL("pbcd.hold", 0,
        "anchors without any give: every vertex is exactly where the artist puts it, whatever its material, touch or "
        "fold; to check a rig or a bake with"),
    [snw_pbcdBind_] = CHOICE("pbcd.bind", s_binds, 1,
        "anchor: flesh is tied to its place; distance: to its distance from the nearest bone, as in the thesis"),
    [snw_pbcdRest] = CHOICE("pbcd.rest", s_rests, 2,
        "the shape in which flesh has no stress; moving: what the artist makes of it; fixed: the character's rest "
        "pose; "
        "auto: fixed with pbcd.complement, else moving"),
    [snw_pbcdComplement_] = CHOICE("pbcd.complement", s_complements, 2,
        "take out of the flesh's motion what the rig could do itself (or any affine motion of its bones)"),
    [snw_pbcdCut] = REAL("pbcd.cut", 0, 1000, 0.5, "", true,
        "a jump of the artist's motion in one step, as a part of the body's size, that is a cut: flesh goes along; "
        "0: there are none"),
    [snw_pbcdAlongX] = REAL("pbcd.along_x", 1e-3, 1e3, 1, "", true,
        "Young's modulus along x at rest as a part of the material's; law strain only"),
    [snw_pbcdAlongY] = REAL("pbcd.along_y", 1e-3, 1e3, 1, "", true, "the same along y"),
    [snw_pbcdAlongZ] = REAL("pbcd.along_z", 1e-3, 1e3, 1, "", true, "the same along z"),
    [snw_pbcdViscosity] = REAL("pbcd.viscosity", 0, 10, 0, "s", true,
        "damping inside the flesh, in proportion to its stiffness: fast wobbles die first"),
    [snw_pbcdDamping] = REAL("pbcd.damping", 0, 1000, 1, "1/s", true,
        "how fast motion against the artist's (of a free body: that is not rigid) dies, unless its material has a "
        "settling time; added to the material's damping"),
    [snw_pbcdDrag] = REAL(
        "pbcd.drag", 0, 1000, 0, "1/s", true, "how fast all motion dies, of bodies and props, as in thick air"),
    [snw_pbcdEqualMasses] = BOOL("pbcd.equal_masses", 0, "every vertex has 1 kg, as in the thesis"),
    [snw_pbcdSelf] = BOOL("pbcd.self", 0, "contact of each body with itself; bodies always touch each other"),
};

// ---------------------------------------------------------------------------------------------------------------------
// Memory

static void AllocSweep(snwArena* arena, snwPbcdWork* work)
{
    const snwPbcdModel* model = work->model;
    size_t edges = (size_t)model->blocks.edgeBlocks + 1, tets = (size_t)model->blocks.tetBlocks + 1;
    snwSoftSweep* sweep = &work->sweep;

    *sweep = (snwSoftSweep){.positions = work->state.positions,
        .target = model->commit == snw_pbcdJacobi ? work->target : NULL,
        .corrected = model->corrected,
        .tets = model->blocks.tets};

    // Each law has states of its own.
    if (model->law == snw_pbcdEdges)
    {
        sweep->edgeStates = snwArena_Alloc(arena, edges, sizeof *sweep->edgeStates);
        sweep->tetStates = snwArena_Alloc(arena, tets, sizeof *sweep->tetStates);
        work->stiffnesses = snwArena_Alloc(arena, (size_t)model->character->edgeCount + 1, sizeof *work->stiffnesses);
    }

    // What each constraint has pushed, for the correction.
    if (model->law == snw_pbcdEdges && model->corrected)
    {
        sweep->edgePushes = snwArena_Alloc(arena, edges, sizeof *sweep->edgePushes);
        sweep->tetPushes = snwArena_Alloc(arena, tets, sizeof *sweep->tetPushes);
    }

    if (model->law != snw_pbcdEdges)
        sweep->strainStates = snwArena_Alloc(arena, tets, sizeof *sweep->strainStates);

    // Multipliers, and the moves of short substeps.
    if (model->law == snw_pbcdNeo)
    {
        size_t rows = (size_t)model->vertexCount + snw_blockLanes;
        sweep->neoStates = snwArena_Alloc(arena, tets, sizeof *sweep->neoStates);
        work->moves.rows = snwArena_Alloc(arena, rows, 4 * sizeof(float));
        work->moves.elsewhere = snwArena_Alloc(arena, rows, 4 * sizeof(float));
    }

    if (model->law != snw_pbcdEdges)
        sweep->folded = snwArena_Alloc(arena, tets, sizeof *sweep->folded);

    // Rests that move along with the rig are remade in every substep; else the model's serve.
    work->rests = model->rests;
    if (model->law == snw_pbcdNeo && model->movingRests)
    {
        work->rests = snwArena_Alloc(arena, tets, sizeof *work->rests);
        if (work->rests != NULL)
            memcpy(work->rests, model->rests, (tets - 1) * sizeof *work->rests);
    }

    sweep->rests = work->rests;
}

static snwResult CreateWork(snwSim* sim, int body, snwMessage* message)
{
    snwArena* arena = &sim->arena;
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdModel* model = sim->bodies[body].model;
    const snwCharacterDef* def = &model->character->def;
    size_t rows = (size_t)model->vertexCount + snw_blockLanes, bones = (size_t)def->boneCount;

    work->model = model;
    work->state = snwPbcd_PlaceState(model, sim->bodies[body].state);

    // Rows of all vertices, and the spare ones that empty lanes point to.
    float** arrays[] = {&work->before, &work->predicted, &work->reference, &work->target, &work->last};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i)
        *arrays[i] = snwArena_Alloc(arena, rows, 4 * sizeof(float));

    work->touching = snwArena_Alloc(arena, rows, sizeof *work->touching);
    work->materials = snwArena_Alloc(arena, (size_t)def->materialCount, sizeof *work->materials);
    work->tunedMaterials = snwArena_Alloc(arena, (size_t)def->materialCount, sizeof *work->tunedMaterials);

    // How each vertex is tied to its place, see pbcd_inertia.c.
    work->shares = snwArena_Alloc(arena, rows, sizeof *work->shares);
    work->stiffer = snwArena_Alloc(arena, rows, sizeof *work->stiffer);
    work->losses = snwArena_Alloc(arena, rows, sizeof *work->losses);
    work->wishes = snwArena_Alloc(arena, def->materialCount > 1 ? rows : 1, sizeof *work->wishes);
    work->pose = snwArena_Alloc(arena, bones + 1, sizeof *work->pose);
    if (model->bonds != NULL)
    {
        work->segments = snwArena_Alloc(arena, 2 * bones, sizeof *work->segments);
        work->bondSums = snwArena_Alloc(arena, rows, sizeof *work->bondSums);
    }

    AllocSweep(arena, work);
    work->shaped = work->reference;

    // Morphs and caches move the rest shape, so its skinning has blocks of its own.
    if (model->skin != NULL && model->moving)
    {
        work->shaped = snwArena_Alloc(arena, rows, 4 * sizeof(float));
        work->shape = *model->skin;
        work->shape.blocks = snwArena_Copy(
            arena, model->skin->blocks, (size_t)model->skin->blockCount, sizeof *model->skin->blocks);
    }

    // What has memory of its own.
    if (arena->failed)
        return snwFailMemory(message);
    snwResult result = snw_ok;

    if (model->skin != NULL)
        result = snwSkinPalette_Create(sim->context, def->boneCount, &work->palette, message);
    if (result >= 0 && model->complement != NULL)
        result = snwComplementScratch_Create(sim->context, model->complement, &work->complement, message);
    if (result >= 0 && model->solver == snw_pbcdImplicit)
        result = snwPbcd_CreateNewton(work, sim->context, message);
    return result;
}

static snwResult CreatePbcdScratch(snwSim* sim, snwMessage* message)
{
    int most = 1;
    snwPbcdScratch* scratch = snwArena_Alloc(&sim->arena, 1, sizeof *scratch);
    sim->scratch = scratch;
    if (scratch == NULL)
        return snwFailMemory(message);

    scratch->works = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->works);
    scratch->times = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->times);
    if (sim->arena.failed)
        return snwFailMemory(message);

    // Work of each body; sums are made in room for the largest.
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwResult result = CreateWork(sim, i, message);
        if (result < 0)
            return result;
        int count = scratch->works[i].model->vertexCount;
        most = count > most ? count : most;
    }

    scratch->unfolds = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->unfolds);
    for (int i = 0; i < sim->bodyCount && !sim->arena.failed; ++i)
        if (scratch->works[i].model->unfolds)
            scratch->unfolds[i] = snwPbcd_Unfold(&scratch->works[i], scratch->works[i].state.positions);

    scratch->sums = snwArena_Alloc(&sim->arena, snwDamping_SumCount(most), sizeof *scratch->sums);
    scratch->masses = snwArena_Alloc(&sim->arena, (size_t)most, sizeof *scratch->masses);
    if (sim->arena.failed)
        return snwFailMemory(message);
    return snwSim_CreateResponse(sim, snwSim_Param(sim, snw_pbcdSelf) != 0.0, &scratch->response, message);
}

static void DestroyPbcdScratch(snwSim* sim)
{
    snwPbcdScratch* scratch = sim->scratch;
    for (int i = 0; scratch->works != NULL && i < sim->bodyCount; ++i)
    {
        snwPbcdWork* work = &scratch->works[i];
        snwSkinPalette_Free(sim->context, &work->palette);
        snwComplementScratch_Destroy(sim->context, work->complement);
        snwPbcd_DestroyNewton(work->newton);
    }
    snwDestroyResponse(scratch->response);
}

// ---------------------------------------------------------------------------------------------------------------------
// Step

static snwResult BeginBody(snwSim* sim, int body, double h, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    snwPbcdTime* time = &((snwPbcdScratch*)sim->scratch)->times[body];
    const snwPbcdModel* model = work->model;

    float* const rows[3] = {work->state.positions, model->driven ? work->state.reference : NULL,
        model->integrator == snw_pbcdBdf2 ? work->state.beforePositions : NULL};

    if (!model->driven || sim->part[0] == 0.0) // a jump is found once per step
        snwBody_FollowRows(&sim->bodies[body], rows, 3);

    snwResult result = snwPbcd_BeginReference(sim, body, h, message);
    if (result < 0)
        return result;
    snwSim_EndStage(sim, snw_stageRig);

    *time = snwPbcd_MakeTime(sim, body, h);

    // The rule of time first: inertia, prediction and rests depend on it.
    snwPbcd_SetInertia(sim, body, time);
    snwPbcd_Predict(sim, body, time);
    memset(work->touching, 0, (size_t)work->model->vertexCount);

    if (work->model->solver == snw_pbcdSmpbd)
        snwPbcd_SetRests(sim, body, time);
    snwSim_EndStage(sim, snw_stagePredict);

    // Told before contacts are looked for.
    snwSim_DescribeBody(sim, ((snwPbcdScratch*)sim->scratch)->response, body,
        &(snwTouchDef){.positions = work->state.positions, .before = work->before, .anchors = work->state.anchors});
    return snw_ok;
}

// Once more after the projection, which knows nothing of what is in the way.
static snwResult ComplementIsland(snwSim* sim, int island, snwMessage* message)
{
    snwResponse* response = ((snwPbcdScratch*)sim->scratch)->response;
    bool any = false;

    for (int k = response->islandStarts[island]; k < response->islandStarts[island + 1]; ++k)
    {
        int body = response->islandMembers[k];
        if (body >= sim->bodyCount || snwPbcd_Work(sim, body)->model->complement == NULL)
            continue;

        snwResult result = snwPbcd_Complement(sim, body, message);
        if (result < 0)
            return result;
        any = true;
    }

    snwSim_EndStage(sim, snw_stageComplement);

    if (any)
        snwResponse_Solve(response, island, true);
    snwSim_EndStage(sim, snw_stageContact);
    return snw_ok;
}

static snwResult SolveNewton(snwSim* sim, snwMessage* message)
{
    const snwPbcdScratch* scratch = sim->scratch;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        if (scratch->works[i].model->solver != snw_pbcdImplicit)
            continue;
        snwResult result = snwPbcd_SolveNewton(sim, i, &scratch->times[i], message);
        if (result < 0)
            return result;
    }
    snwSim_EndStage(sim, snw_stageVolume);
    return snw_ok;
}

// Sweeps of Neo-Hookean tets that ended too early leave flesh that is too soft.
static void TellPbcdStiffness(snwSim* sim)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwPbcdWork* work = snwPbcd_Work(sim, i);
        const snwPbcdModel* model = work->model;
        if (model->law != snw_pbcdNeo || model->solver != snw_pbcdSmpbd || model->mode != snw_pbcdFlesh)
            continue;
        snwNeoEffect effect = snwNeoState_Effect(
            work->sweep.neoStates, work->sweep.rests, &model->blocks, work->state.positions);
        sim->bodies[i].elasticLack = 1.0 - effect.energy;
        if (effect.stiffness > 0.0)
            snwSim_TellStiffness(
                sim, i, effect.stiffness, "more pbcd.iterations or substeps, or method apd for stiff flesh");
    }
}

// J/m^3: of lengths and volumes as soft.h makes springs of them, per tet a sixth of the volume around each edge.
static double EdgesDensity(const snwCharacterDef* def, int tet, snwLame lame, snwMat3 f)
{
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    double sum = 0.0, more = snwMat3_Determinant(f) - 1.0;
    for (int e = 0; e < 6; ++e)
    {
        snwVec3 rest = snwVec3_Sub(
            def->vertices[def->tets[tet][ends[e][1]]], def->vertices[def->tets[tet][ends[e][0]]]);
        double stretch = snwVec3_Length(snwMat3_MulVec(f, rest)) / snwVec3_Length(rest) - 1.0;
        sum += stretch * stretch;
    }
    return 15.0 / 12.0 * lame.mu * sum + 0.5 * fmax(lame.lambda - lame.mu, 0.0) * more * more;
}

// J/m^3: e C e / 2 with the Green strains e and the inverse C of soft.h's compliance.
static double StrainDensity(const snwSim* sim, const snwMaterial* material, snwMat3 f)
{
    double axes[3] = {
        snwSim_Param(sim, snw_pbcdAlongX), snwSim_Param(sim, snw_pbcdAlongY), snwSim_Param(sim, snw_pbcdAlongZ)};
    double s[9];
    snwMaterial softer = *material;
    softer.poisson = fmin(softer.poisson, 0.4999); // at 0.5 a change of volume would cost infinitely much
    snwSoft_StrainCompliance(&softer, axes, s);
    snwMat3 yield = {{{s[0], s[1], s[2]}, {s[1], s[3], s[4]}, {s[2], s[4], s[5]}}}, stiff,
            c = snwMat3_TransposeMul(f, f);
    if (!snwMat3_Inverse(yield, &stiff))
        return 0.0;
    snwVec3 direct = {0.5 * (c.m[0][0] - 1.0), 0.5 * (c.m[1][1] - 1.0), 0.5 * (c.m[2][2] - 1.0)};
    double shear = c.m[1][2] * c.m[1][2] / s[6] + c.m[0][2] * c.m[0][2] / s[7] + c.m[0][1] * c.m[0][1] / s[8];
    return 0.5 * (snwVec3_Dot(direct, snwMat3_MulVec(stiff, direct)) + shear);
}

// Against the character's rest, also where a motion moves the rests.
static double PbcdElasticDensity(const snwSim* sim, int body, int element, snwMat3 f)
{
    const snwPbcdModel* model = snwPbcd_Work(sim, body)->model;
    const snwCharacterDef* def = &model->character->def;
    const snwMaterial* material = &sim->bodies[body].materials[def->regions[element]];
    snwLame lame = snwMaterial_Lame(material);
    if (model->solver == snw_pbcdPbd)
        return snwDensity_Corotated(lame, f);
    switch (model->law)
    {
        case snw_pbcdNeo:
            return (1.0 - sim->bodies[body].elasticLack) * snwDensity_NeoHookean(lame, f);
        case snw_pbcdEdges:
            return EdgesDensity(def, element, lame, f);
        case snw_pbcdStrain:
            return StrainDensity(sim, material, f);
    }
    return 0.0;
}

static snwResult StepPbcd(snwSim* sim, double h, snwMessage* message)
{
    snwPbcdScratch* scratch = sim->scratch;
    snwResponse* response = scratch->response;
    snwResult result = snw_ok;

    scratch->sweeps = 0;

    for (int i = 0; i < sim->bodyCount && result >= 0; ++i)
        result = BeginBody(sim, i, h, message);
    if (result >= 0)
    {
        snwSim_GatherContacts(sim, response, h);
        snwSim_EndStage(sim, snw_stageDetect);
        result = SolveNewton(sim, message);
    }

    if (result < 0)
        return result;

    for (int i = 0; i < response->islandCount && result >= 0; ++i)
    {
        snwPbcd_SolveIsland(sim, i, scratch->times);
        result = ComplementIsland(sim, i, message);
    }

    if (result < 0)
        return result;

    // Sweeps may have thrown a vertex farther than contacts look ahead.
    for (int i = 0; i < sim->bodyCount; ++i)
        snwSim_CatchFlung(response, i, scratch->works[i].predicted);

    // Integrators of second order begin again where something touches: there, motion is not smooth.
    for (int i = 0; i < sim->bodyCount; ++i)
        if (scratch->works[i].model->integrator != snw_pbcdEuler)
            snwResponse_MarkTouching(response, i, scratch->works[i].touching);

    snwSim_FinishContacts(sim, response, snwSim_Param(sim, snw_pbcdDrag), h);
    snwSim_EndStage(sim, snw_stageContact);

    if (sim->lastSubstep)
        TellPbcdStiffness(sim);

    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwPbcd_Finish(sim, i, &scratch->times[i]);
        snwPbcd_EndReference(sim, i, h);
    }

    snwSim_EndStage(sim, snw_stageVelocity);
    return snw_ok;
}

const snwMethod snwPbcdMethod = {
    .name = "pbcd",
    .title = "position-based complementary dynamics: flesh on an artist's motion",
    .source = "Position-based complementary dynamics (thesis): secondary motion PBD on linear blend skinning",
    .features = snw_featurePins | snw_featureDrag | snw_featurePush | snw_featureColliders | snw_featureProps |
                snw_featureTets | snw_featureBones,
    .params = s_params,
    .paramCount = snw_pbcdParamCount,
    .smallBody = 0.1,
    .mostWeight = 0.2,
    .mostWay = 0.7,
    .stages = s_stages,
    .stageCount = snw_stageCount,
    .createModel = snwPbcd_CreateModel,
    .destroyModel = snwPbcd_DestroyModel,
    .bodyStateSize = snwPbcd_StateSize,
    .initBody = snwPbcd_InitBody,
    .isSound = snwPbcd_IsSound,
    .createScratch = CreatePbcdScratch,
    .destroyScratch = DestroyPbcdScratch,
    .applied = snwPbcd_Applied,
    .step = StepPbcd,
    .getVertices = snwPbcd_GetVertices,
    .getBones = snwPbcd_GetBones,
    .getJoints = snwPbcd_GetJoints,
    .elasticDensity = PbcdElasticDensity,
};
