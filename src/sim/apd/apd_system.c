// The matrix A = M / h^2 + L with bones as its last unknowns, and its factor.

#include "base/hash.h"
#include "sim/laws.h"
#include "sim/apd/apd.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// What the matrix is made of

// Vertices that pins and pinning hands hold now.
static void MarkPinned(const snwSim* sim, int index, unsigned char* pinned)
{
    memset(pinned, 0, (size_t)snwApd_Body(sim, index)->model->vertexCount);
    for (int p = 0; p < sim->def->pinCount; ++p)
        for (int i = 0; i < sim->pinSets[p].count && sim->pins[p].held && sim->pinSets[p].body == index; ++i)
            pinned[sim->pinSets[p].vertices[i]] = 1;
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == index)
            pinned[sim->grabs[i].vertex] = 1;
}

static uint64_t Signature(const snwSim* sim, int index, double h)
{
    const snwBody* body = &sim->bodies[index];
    const snwApdBody* scratch = snwApd_Body(sim, index);
    uint64_t hash = snwHash(&h, sizeof h, 1);
    hash = snwHash(body->materials, (size_t)body->character->def.materialCount * sizeof *body->materials, hash);
    hash = snwHash(scratch->pinned, (size_t)scratch->model->vertexCount, hash);
    return hash != 0 ? hash : 1;
}

// A bone without a vertex of its own still links its joints: it weighs a ten-thousandth of the body, spread over a
// ball of its scale.
static void WeighBone(snwApdBody* body, int bone)
{
    const snwApdModel* model = body->model;
    double(*m)[4] = body->boneMasses[bone];
    memset(m, 0, sizeof *body->boneMasses);
    for (int i = model->boneStarts[bone]; i < model->boneStarts[bone + 1]; ++i)
        for (int p = 0; p < 4; ++p)
            for (int q = 0; q < 4; ++q)
                m[p][q] += body->masses[model->boneVertices[i]] * model->boneCoords[i][p] * model->boneCoords[i][q];
    for (int p = 0; p < 4 && model->boneStarts[bone] == model->boneStarts[bone + 1]; ++p)
        m[p][p] = 1e-4 * model->character->mass * (p < 3 ? 0.2 : 1.0);
}

static void SetElasticWeights(snwSim* sim, int index, double h)
{
    const snwBody* body = &sim->bodies[index];
    snwApdBody* scratch = snwApd_Body(sim, index);
    const snwApdModel* model = scratch->model;
    const snwCharacterDef* def = &body->character->def;
    double size = snwVec3_Distance(body->character->lower, body->character->upper);

    scratch->damped = false;
    scratch->shearSum = 0.0;
    for (int s = 0; s < model->blockCount * snw_apdLanes; ++s)
    {
        int tet = model->tetOf[s];
        snwElasticWeight weight = {0};
        if (tet >= 0)
        {
            // Bones that are flesh of another stiffness: rivals of the paper.
            snwMaterial material = body->materials[def->regions[tet]];
            if (def->elementBones != NULL && def->elementBones[tet] >= 0)
                material.young *= model->ratio;
            weight = snwElastic_Weigh(
                model->law, &material, body->character->restVolumes[tet], snwMaterial_DampingTime(&material, size), h);
        }

        snwElasticWeights* block = &scratch->weights[s / snw_apdLanes];
        block->shear[s % snw_apdLanes] = (float)weight.shear;
        block->bulk[s % snw_apdLanes] = (float)weight.bulk;
        block->damping[s % snw_apdLanes] = (float)weight.damping;

        scratch->damped |= weight.damping > 0.0;
        scratch->shearSum += weight.shear;
        scratch->metric[s] = snwElastic_Metric(model->law, &weight);
    }
}

// 1/kg: what a push at a vertex of a bone moves it by, were the bone affine and free: c M^-1 c by M = L D L^T.
// Directions that bones without thickness lack do not move.
static double BoneAnswer(const double mass[4][4], const double coords[4])
{
    double l[4][4], inverse[4], y[4], sum = 0.0;
    for (int p = 0; p < 4; ++p)
    {
        y[p] = coords[p];
        for (int q = 0; q <= p; ++q)
        {
            l[p][q] = mass[p][q];
            for (int r = 0; r < q; ++r)
                l[p][q] -= l[p][r] * inverse[r] * l[q][r];
            if (q < p)
                y[p] -= l[p][q] * inverse[q] * y[q];
        }
        inverse[p] = l[p][p] > 1e-9 * mass[p][p] ? 1.0 / l[p][p] : 0.0;
        sum += y[p] * y[p] * inverse[p];
    }
    return sum;
}

static void SetTerms(snwApdBody* body, double h)
{
    const snwApdModel* model = body->model;

    for (int i = 0; i < model->vertexCount; ++i)
        body->diagonal[i] = body->masses[i] / (h * h);

    // Pinned vertices leave the matrix: their rows act by the right side.
    for (int i = 0; i < model->termCount; ++i)
    {
        const snwApdTerm* term = &model->terms[i];
        int a = term->vertices[0], b = term->vertices[1];
        bool held = a != b && ((a >= 0 && body->pinned[a]) || (b >= 0 && body->pinned[b]));
        body->terms[i] = held ? 0.0 : term->coefficient * body->metric[term->tet];
        if (a == b && a >= 0)
            body->diagonal[a] += body->terms[i];
    }

    for (int k = 0; k < model->boneCount; ++k)
        for (int i = model->boneStarts[k]; i < model->boneStarts[k + 1]; ++i)
        {
            double answer = BoneAnswer((const double(*)[4])body->boneMasses[k], model->boneCoords[i]);
            body->diagonal[model->boneVertices[i]] = 1.0 / (h * h * answer);
        }

    // Masses last, as the pattern has them.
    double* out = body->terms + model->termCount;
    for (int i = 0; i < model->fleshCount; ++i)
        *out++ = body->masses[model->fleshVertices[i]] / (h * h);
    for (int k = 0; k < model->boneCount; ++k)
        for (int p = 0; p < 4; ++p)
            for (int q = 0; q <= p; ++q)
                *out++ = body->boneMasses[k][p][q] / (h * h);
}

static void AssembleFlesh(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwCharacter_ComputeMasses(sim->bodies[index].character, sim->bodies[index].materials, body->masses);
    for (int k = 0; k < body->model->boneCount; ++k)
        WeighBone(body, k);
    SetElasticWeights(sim, index, h);
    SetTerms(body, h);
    snwPattern_Assemble(body->pattern, body->terms);
}

// ---------------------------------------------------------------------------------------------------------------------
// The answer to pushes

// x = A^-1 r for `count` right sides with bones as affine bodies: at least as far as rigid ones would go.
static void SolveAffine(snwApdBody* body, int count)
{
    int last = 4 * body->model->boneCount;
    snwRightSides right = snwRows_Float(body->right, count, 4), lasts = snwRows_Float(body->last, count, 4);
    snwCholesky_Forward(body->factor, body->solve, right, lasts);
    for (int k = 0; k < count && last > 0; ++k)
    {
        for (int i = 0; i < last; ++i)
            body->affineRight[i] = (double)body->last[4 * (size_t)i + (size_t)k];
        snwDense_Solve(&body->affine, body->affineRight);
        for (int i = 0; i < last; ++i)
            body->last[4 * (size_t)i + (size_t)k] = (float)body->affineRight[i];
    }
    snwCholesky_Backward(body->factor, body->solve, lasts, right);
}

static void AddUnit(const snwApdBody* body, int column, int vertex, double value)
{
    const snwApdModel* model = body->model;
    float* right = body->right + column;
    int row = model->rowOf[vertex], bone = model->boneOf[vertex];
    if (row >= 0)
        right[4 * (size_t)row] += (float)value;
    for (int p = 0; p < 4 && bone >= 0; ++p)
        right[4 * (size_t)(model->fleshCount + 4 * bone + p)] += (float)(value *
                                                                         model->boneCoords[body->coordsOf[vertex]][p]);
}

double snwApd_ReadColumn(const snwApdBody* body, int column, int vertex)
{
    const snwApdModel* model = body->model;
    const float* right = body->right + column;
    int row = model->rowOf[vertex], bone = model->boneOf[vertex];
    double sum = 0.0;
    for (int p = 0; p < 4 && bone >= 0; ++p)
        sum += model->boneCoords[body->coordsOf[vertex]][p] *
               (double)right[4 * (size_t)(model->fleshCount + 4 * bone + p)];
    return row >= 0 ? (double)right[4 * (size_t)row] : sum;
}

void snwApd_Columns(snwApdBody* body, const int* vertices, int count)
{
    memset(body->right, 0, 4 * (size_t)body->model->rowCount * sizeof *body->right);
    for (int k = 0; k < count; ++k)
        AddUnit(body, k, vertices[k], 1.0);
    SolveAffine(body, count);
}

double snwApd_Compliance(snwApdBody* body, const snwGrip* grip)
{
    memset(body->right, 0, 4 * (size_t)body->model->rowCount * sizeof *body->right);
    for (int i = 0; i < grip->count; ++i)
        AddUnit(body, 0, grip->parts[i].vertex, grip->parts[i].share);
    SolveAffine(body, 1);
    double sum = 0.0;
    for (int i = 0; i < grip->count; ++i)
        sum += grip->parts[i].share * snwApd_ReadColumn(body, 0, grip->parts[i].vertex);
    return sum;
}

// How much of a push at a vertex its neighbours share. With every touching vertex i pushed by m_i / h^2 the answer u
// bounds the row sums of the compliance between contacts, scaled by masses, for whichever of them are active; a step of
// 1 / max u in the pushes is then never too long (all entries of A^-1 are positive, or nearly so).
static void MeasureYield(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    const snwApdModel* model = body->model;
    memset(body->right, 0, 4 * (size_t)model->rowCount * sizeof *body->right);
    for (int i = 0; i < model->character->touchCount; ++i)
    {
        int v = snwBody_ContactVertex(&sim->bodies[index], i);
        AddUnit(body, 0, v, body->pinned[v] ? 0.0 : body->masses[v] / (h * h));
    }
    SolveAffine(body, 1);
    double most = 0.0;
    for (int i = 0; i < model->character->touchCount; ++i)
        most = fmax(most, snwApd_ReadColumn(body, 0, snwBody_ContactVertex(&sim->bodies[index], i)));
    double share = most > 1e-6 && most < 1.0 ? most : 1.0;
    for (int i = 0; i < model->vertexCount; ++i)
        body->shownInverse[i] = body->pinned[i] ? 0.0f : (float)(share / body->masses[i]);
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult FactorFlesh(snwApdBody* body, snwMessage* message)
{
    const snwSparse* matrix = snwPattern_Matrix(body->pattern);
    if (body->model->rowCount == 0)
        return snw_ok;
    snwResult result = snwCholesky_Refactor(body->factor, matrix, message);
    int last = 4 * body->model->boneCount;
    if (result < 0 || last == 0)
        return result;
    if (snwDense_Factor(&body->affine, snwCholesky_Schur(body->factor), last) >= 0)
        return snwFail(message, snw_errorDiverged, NULL, "the bones' matrix is not positive definite");
    return snw_ok;
}

snwResult snwApd_Prepare(snwSim* sim, int index, double h, snwMessage* message)
{
    snwApdBody* body = snwApd_Body(sim, index);

    // Nothing has changed that the factor knows: the step goes on with it.
    MarkPinned(sim, index, body->pinned);
    uint64_t signature = Signature(sim, index, h);
    if (signature == body->signature)
        return snw_ok;

    // Half made it must not be taken for good.
    body->signature = 0;
    AssembleFlesh(sim, index, h);
    snwResult result = FactorFlesh(body, message);

    if (result >= 0 && body->literal != NULL)
        result = snwApd_PrepareLiteral(body, message);
    if (result < 0)
    {
        snwMessage_AddPlace(message, "body '%s'", sim->def->bodies[index].name);
        return result;
    }

    MeasureYield(sim, index, h);
    body->signature = signature;
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

static snwResult CreateFleshFactor(snwSim* sim, snwApdBody* body, snwMessage* message)
{
    const snwApdModel* model = body->model;
    int masses = model->fleshCount + 10 * model->boneCount;
    snwPatternDef pattern = {.rows = model->rowCount,
        .columns = model->rowCount,
        .symmetric = true,
        .count = model->termCount + masses,
        .rowOf = model->termRows,
        .columnOf = model->termColumns};
    snwResult result = snwPattern_Create(sim->context, &pattern, &body->pattern, message);

    if (result < 0)
        return result;

    // A first factor with a matrix that is surely definite: the analysis does not look at values.
    snwSparse* matrix = snwPattern_Matrix(body->pattern);
    for (int i = 0; i < model->rowCount; ++i)
        for (int k = matrix->starts[i]; k < matrix->starts[i + 1]; ++k)
            matrix->values[k] = matrix->indices[k] == i ? 1.0 : 0.0;

    // Rows of the bones are not eliminated.
    snwCholeskyDef def = snwDefaultCholeskyDef();
    def.matrix = matrix;
    def.lastCount = 4 * model->boneCount;
    def.precision = snw_precisionFloat;
    result = snwCholesky_Create(sim->context, &def, &body->factor, message);
    return result < 0 ? result : snwCholeskyScratch_Create(body->factor, &body->solve, message);
}

snwResult snwApd_CreateSystem(snwSim* sim, int index, snwMessage* message)
{
    snwApdBody* body = snwApd_Body(sim, index);
    const snwApdModel* model = body->model;
    snwArena* arena = &sim->arena;
    size_t n = (size_t)model->vertexCount, last = 4 * (size_t)model->boneCount;

    body->terms = snwArena_Alloc(arena, (size_t)model->termCount + n + 10 * (size_t)model->boneCount, sizeof(double));
    body->masses = snwArena_Alloc(arena, n, sizeof *body->masses);
    body->boneMasses = snwArena_Alloc(arena, (size_t)model->boneCount, sizeof *body->boneMasses);
    body->weights = snwArena_Alloc(arena, (size_t)model->blockCount, sizeof *body->weights);
    body->metric = snwArena_Alloc(arena, (size_t)model->blockCount * snw_apdLanes, sizeof *body->metric);
    body->diagonal = snwArena_Alloc(arena, n, sizeof *body->diagonal);
    body->pinned = snwArena_Alloc(arena, n, 1);
    body->shownInverse = snwArena_Alloc(arena, n, sizeof *body->shownInverse);

    // What bones would do were they affine: contacts ask for it.
    body->affine = (snwDense){snwCholesky_Kernels(sim->context->simd), (int)last,
        snwArena_Alloc(arena, snwDense_Count((int)last), sizeof(double))};
    body->affineRight = snwArena_Alloc(arena, last + 8, sizeof *body->affineRight);
    body->right = snwArena_Alloc(arena, (size_t)model->rowCount, 4 * sizeof(float));
    body->last = snwArena_Alloc(arena, last, 4 * sizeof(float));

    body->coordsOf = snwArena_Alloc(arena, n, sizeof *body->coordsOf);
    if (arena->failed)
        return snwFailMemory(message);

    for (int i = 0; model->boneCount > 0 && i < model->boneStarts[model->boneCount]; ++i)
        body->coordsOf[model->boneVertices[i]] = i;
    return model->rowCount > 0 ? CreateFleshFactor(sim, body, message) : snw_ok;
}
