// Preparing a character: which vertex is flesh, which elements bend, and what they add to the matrix.

#include "sim/apd/apd.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Vertices and bones

static bool HasBones(snwApdSolver solver)
{
    return solver == snw_apdArticulated || solver == snw_apdSplit || solver == snw_apdLiteral;
}

static bool AssignVertices(snwApdModel* model)
{
    const snwCharacter* character = model->character;
    int n = model->vertexCount;

    // A solver without bones takes all of the body for flesh.
    model->boneCount = HasBones(model->solver) ? character->def.boneCount : 0;
    model->boneOf = snwArena_Alloc(&model->arena, (size_t)n, sizeof *model->boneOf);
    model->rowOf = snwArena_Alloc(&model->arena, (size_t)n, sizeof *model->rowOf);
    model->fleshVertices = snwArena_Alloc(&model->arena, (size_t)n, sizeof *model->fleshVertices);
    model->boneVertices = snwArena_Alloc(&model->arena, (size_t)n, sizeof *model->boneVertices);
    model->boneStarts = snwArena_Alloc(&model->arena, (size_t)model->boneCount + 1, sizeof *model->boneStarts);
    if (model->arena.failed)
        return false;

    // Rows of the matrix: flesh in the order of the mesh, then four per bone.
    for (int i = 0; i < n; ++i)
    {
        model->boneOf[i] = model->boneCount > 0 ? character->vertexBones[i] : -1;
        model->rowOf[i] = model->boneOf[i] < 0 ? model->fleshCount : -1;
        if (model->boneOf[i] < 0)
            model->fleshVertices[model->fleshCount++] = i;
    }

    model->rowCount = model->fleshCount + 4 * model->boneCount;
    int at = 0;
    for (int k = 0; k < model->boneCount; ++k)
    {
        model->boneStarts[k] = at;
        for (int i = 0; i < n; ++i)
            if (model->boneOf[i] == k)
                model->boneVertices[at++] = i;
    }

    if (model->boneCount > 0)
        model->boneStarts[model->boneCount] = at;
    return true;
}

// The centre of mass is where a turn moves the bone least, and the scale brings all four rows of t to one size: both
// keep the small matrix well conditioned. (Eq. 8 as printed turns bones about the world's origin.)
static void MeasureBone(snwApdModel* model, int bone)
{
    const snwCharacter* character = model->character;
    int first = model->boneStarts[bone], end = model->boneStarts[bone + 1];
    const snwBoneDef* def = &character->def.bones[bone];
    double mass = 0.0, spread = 0.0;
    snwVec3 centre = {0, 0, 0};

    for (int i = first; i < end; ++i)
        mass += character->masses[model->boneVertices[i]];
    for (int i = first; i < end; ++i)
    {
        int v = model->boneVertices[i];
        centre = snwVec3_MulAdd(centre, character->masses[v] / mass, character->def.vertices[v]);
    }

    // A bone that owns no vertices, by its ends.
    if (end == first)
        centre = snwVec3_Lerp(def->head, def->tail, 0.5);

    // The spread is the bone's radius of gyration.
    for (int i = first; i < end; ++i)
    {
        snwVec3 d = snwVec3_Sub(character->def.vertices[model->boneVertices[i]], centre);
        spread += character->masses[model->boneVertices[i]] / mass * snwVec3_LengthSquared(d);
    }

    double length = 0.5 * snwVec3_Distance(def->head, def->tail) + def->radius;
    model->centres[bone] = centre;
    model->scales[bone] = spread > 0.0 ? sqrt(spread) : length > 0.0 ? length : 1.0;

    // U: coordinates about the centre, and a 1 for the shift.
    for (int i = first; i < end; ++i)
    {
        snwVec3 d = snwVec3_Sub(character->def.vertices[model->boneVertices[i]], centre);
        double* u = model->boneCoords[i];
        u[0] = d.x / model->scales[bone];
        u[1] = d.y / model->scales[bone];
        u[2] = d.z / model->scales[bone];
        u[3] = 1.0;
    }
}

static bool MeasureApdBones(snwApdModel* model)
{
    size_t bones = (size_t)model->boneCount;
    model->centres = snwArena_Alloc(&model->arena, bones, sizeof *model->centres);
    model->scales = snwArena_Alloc(&model->arena, bones, sizeof *model->scales);
    model->boneCoords = snwArena_Alloc(&model->arena, (size_t)model->vertexCount, sizeof *model->boneCoords);
    for (int k = 0; k < model->boneCount && !model->arena.failed; ++k)
        MeasureBone(model, k);
    return !model->arena.failed;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

// A tet whose corners all lie in one bone cannot deform. In the matrix it would resist every turn of its bone: the
// locking of Fig. 1, inside the method. Its mass stays.
static bool IsElastic(const snwApdModel* model, int tet)
{
    const int* corners = model->character->def.tets[tet];
    int bone = model->boneOf[corners[0]];
    return bone < 0 || model->boneOf[corners[1]] != bone || model->boneOf[corners[2]] != bone ||
           model->boneOf[corners[3]] != bone;
}

// Inverse of the matrix of rest edges, whose rows are the gradients of the shape functions of corners 1, 2 and 3.
static snwMat3 InverseRest(const snwCharacterDef* def, int tet)
{
    const int* c = def->tets[tet];
    snwVec3 o = def->vertices[c[0]];
    snwMat3 edges = snwMat3_FromColumns(
        snwVec3_Sub(def->vertices[c[1]], o), snwVec3_Sub(def->vertices[c[2]], o), snwVec3_Sub(def->vertices[c[3]], o));
    snwMat3 inverse = {{{0}}};
    snwMat3_Inverse(edges, &inverse);
    return inverse;
}

static void FillBlocks(snwApdModel* model)
{
    const snwCharacterDef* def = &model->character->def;
    int slot = 0;
    for (int t = 0; t < def->tetCount; ++t)
    {
        if (!IsElastic(model, t))
            continue;
        snwRestTetBlock* block = &model->tets[slot / snw_apdLanes];
        int lane = slot % snw_apdLanes;
        snwMat3 inverse = InverseRest(def, t);

        for (int k = 0; k < 4; ++k)
            block->index[k][lane] = def->tets[t][k];
        for (int k = 0; k < 9; ++k)
            block->inverseRest[k][lane] = (float)inverse.m[k / 3][k % 3];
        model->tetOf[slot++] = t;
    }

    // The last block may not be full.
    for (; slot < model->blockCount * snw_apdLanes; ++slot)
        model->tetOf[slot] = -1;
}

// Neighbours in the list are mostly neighbours in space, so a run of blocks touches a range of vertices.
static void CutBlockRuns(snwApdModel* model)
{
    model->partCount = model->blockCount >= 64 * snw_apdMaxParts ? snw_apdMaxParts : 1;
    for (int p = 0; p < model->partCount; ++p)
    {
        snwApdPart* part = &model->parts[p];
        part->first = (int)((int64_t)model->blockCount * p / model->partCount);
        part->end = (int)((int64_t)model->blockCount * (p + 1) / model->partCount);
        part->low = model->vertexCount;
        for (int s = part->first * snw_apdLanes; s < part->end * snw_apdLanes; ++s)
            for (int k = 0; k < 4 && model->tetOf[s] >= 0; ++k)
            {
                int v = model->character->def.tets[model->tetOf[s]][k];
                part->low = v < part->low ? v : part->low;
                part->high = v >= part->high ? v + 1 : part->high;
            }
        part->low = part->low < part->high ? part->low : part->high;
    }
}

static bool MakeElements(snwApdModel* model)
{
    for (int t = 0; t < model->character->def.tetCount; ++t)
        model->tetCount += IsElastic(model, t);
    model->blockCount = (model->tetCount + snw_apdLanes - 1) / snw_apdLanes;
    model->tets = snwArena_Alloc(&model->arena, (size_t)model->blockCount, sizeof *model->tets);
    model->tetOf = snwArena_Alloc(&model->arena, (size_t)model->blockCount * snw_apdLanes, sizeof *model->tetOf);
    if (model->arena.failed)
        return false;
    FillBlocks(model);
    CutBlockRuns(model);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Terms of the matrix

// A corner as unknowns: one of flesh, or four of a bone with these coordinates.
typedef struct Corner
{
    int vertex;
    int first, count; // unknowns
    double u[4];
} Corner;

// Without arrays it only counts.
typedef struct Emitter
{
    snwApdModel* model;
    int count;
} Emitter;

static void EmitTerm(Emitter* emitter, snwApdTerm term, int row, int column)
{
    snwApdModel* model = emitter->model;
    if (model->terms != NULL)
    {
        model->terms[emitter->count] = term;
        model->termRows[emitter->count] = row;
        model->termColumns[emitter->count] = column;
    }
    emitter->count++;
}

static Corner MakeCorner(const snwApdModel* model, const int* coordsOf, int vertex)
{
    int bone = model->boneOf[vertex];
    if (bone < 0)
        return (Corner){vertex, model->rowOf[vertex], 1, {1.0}};
    Corner corner = {-1, model->fleshCount + 4 * bone, 4, {0}};
    memcpy(corner.u, model->boneCoords[coordsOf[vertex]], sizeof corner.u);
    return corner;
}

// What a pair of corners adds: u_a u_b^T, and its mirror image where both lie in one bone.
static void EmitPair(Emitter* emitter, int slot, double value, const Corner* a, const Corner* b)
{
    bool same = a->first == b->first, twice = a != b;
    for (int p = 0; p < a->count; ++p)
        for (int q = 0; q < (same ? p + 1 : b->count); ++q)
        {
            double c = same && twice ? a->u[p] * b->u[q] + b->u[p] * a->u[q] : a->u[p] * b->u[q];
            EmitTerm(emitter, (snwApdTerm){value * c, slot, {a->vertex, b->vertex}}, a->first + p, b->first + q);
        }
}

static void EmitTet(Emitter* emitter, int slot, const int* coordsOf)
{
    const snwApdModel* model = emitter->model;
    const snwCharacterDef* def = &model->character->def;
    snwMat3 inverse = InverseRest(def, model->tetOf[slot]);
    Corner corners[4];
    snwVec3 g[4] = {{0, 0, 0}, snwMat3_Row(inverse, 0), snwMat3_Row(inverse, 1), snwMat3_Row(inverse, 2)};
    g[0] = snwVec3_Negate(snwVec3_Add(g[1], snwVec3_Add(g[2], g[3])));
    for (int k = 0; k < 4; ++k)
        corners[k] = MakeCorner(model, coordsOf, def->tets[model->tetOf[slot]][k]);
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b <= a; ++b)
            EmitPair(emitter, slot, snwVec3_Dot(g[a], g[b]), &corners[a], &corners[b]);
}

static int EmitAll(snwApdModel* model, const int* coordsOf)
{
    Emitter emitter = {model, 0};
    for (int s = 0; s < model->tetCount; ++s)
        EmitTet(&emitter, s, coordsOf);
    return emitter.count;
}

// Places of the masses, behind those of the elements.
static void PlaceMasses(snwApdModel* model)
{
    int at = model->termCount;
    for (int i = 0; i < model->fleshCount; ++i, ++at)
        model->termRows[at] = model->termColumns[at] = i;
    for (int k = 0; k < model->boneCount; ++k)
        for (int p = 0; p < 4; ++p)
            for (int q = 0; q <= p; ++q, ++at)
            {
                model->termRows[at] = model->fleshCount + 4 * k + p;
                model->termColumns[at] = model->fleshCount + 4 * k + q;
            }
}

static bool MakeTerms(snwApdModel* model)
{
    snwContext* context = model->arena.context;
    int* coordsOf = snwAllocArray(context, (size_t)model->vertexCount, sizeof *coordsOf);
    if (coordsOf == NULL)
        return false;

    // Where each vertex of a bone has its coordinates.
    for (int i = 0; model->boneCount > 0 && i < model->boneStarts[model->boneCount]; ++i)
        coordsOf[model->boneVertices[i]] = i;

    // Counted first, then written. The masses come on top: one of each flesh vertex, ten of a bone's 4 x 4.
    model->termCount = EmitAll(model, coordsOf);
    size_t all = (size_t)model->termCount + (size_t)model->fleshCount + 10 * (size_t)model->boneCount;
    model->termRows = snwArena_Alloc(&model->arena, all, sizeof *model->termRows);
    model->termColumns = snwArena_Alloc(&model->arena, all, sizeof *model->termColumns);
    model->terms = snwArena_Alloc(&model->arena, (size_t)model->termCount + 1, sizeof *model->terms);

    if (!model->arena.failed)
    {
        EmitAll(model, coordsOf);
        PlaceMasses(model);
    }

    snwFree(context, coordsOf);
    return !model->arena.failed;
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

static snwResult CheckSolver(const snwCharacter* character, const double* params, snwMessage* message)
{
    if ((snwApdSolver)params[snw_apdSolver_] != snw_apdConstrained)
        return snw_ok;
    if (character->def.vertexCount > snw_apdMaxConstrained)
        return snwFail(message, snw_errorUnsupported, "use another apd.solver, or a coarser character",
            "apd.solver constrained factors three unknowns per vertex in every substep: %d vertices are more than %d",
            character->def.vertexCount, snw_apdMaxConstrained);
    snwElasticLaw law = (snwElasticLaw)params[snw_apdLaw];
    if (law != snw_elasticCorotated && law != snw_elasticStrain)
        return snwFail(message, snw_errorUnsupported, "set apd.law to corotated or strain",
            "apd.solver constrained does not know the stiffness of apd.law %s",
            law == snw_elasticVolume ? "volume" : "neo");
    return snw_ok;
}

snwResult snwApd_CreateModel(const snwModelDef* def, void** out, snwMessage* message)
{
    const snwCharacter* character = def->character;
    const double* params = def->params + snw_sharedParamCount;
    snwResult result = CheckSolver(character, params, message);

    *out = NULL;
    if (result < 0)
        return result;
    snwApdModel* model = snwAlloc(def->context, sizeof *model);
    *out = model;
    if (model == NULL)
        return snwFailMemory(message);

    model->arena.context = def->context;
    model->character = character;
    model->solver = (snwApdSolver)params[snw_apdSolver_];
    model->law = (snwElasticLaw)params[snw_apdLaw];
    model->ratio = model->solver == snw_apdStiff || model->solver == snw_apdConstrained ? params[snw_apdRatio] : 1.0;
    model->vertexCount = character->def.vertexCount;

    // Flesh and bones, then elements, then what they add to the matrix.
    if (!AssignVertices(model) || !MeasureApdBones(model) || !MakeElements(model) || !MakeTerms(model))
    {
        snwApd_DestroyModel(def->context, model);
        *out = NULL;
        return snwFailMemory(message);
    }

    return snw_ok;
}

void snwApd_DestroyModel(snwContext* context, void* data)
{
    snwApdModel* model = data;
    snwArena_Free(&model->arena);
    snwFree(context, model);
}
