// Counts fall with a power of the spacing, so the search is a secant one in their logarithms. They also jitter by a
// percent or so, as vertices move on to the surface or not: the best mesh seen is kept, not the last one.

#include "geom/fit.h"
#include "geom/measure.h"
#include "geom/mesh.h"
#include "geom/stuffing.h"

enum
{
    snw_fitMeshings = 8,
    snw_fitMeshingsSmall = 16, // for meshes so small that they cost nothing
    snw_fitSmall = 10000,      // tets
    snw_fitLarge = 40000,
    snw_fitSymmetric = 5 // meshings with a symmetric lattice
};

#define SNW_FIT_AIM        0.006
#define SNW_FIT_SIZE       0.05
#define SNW_FIT_ELASTIC    0.10
#define SNW_FIT_MAX_OFFSET 1.2 // spacings

typedef struct Try
{
    snwArena arena;
    snwFit fit;
    double miss; // |log(count / wanted)|
    snwResult result;
    snwMessage message;
} Try;

typedef struct Fitter
{
    snwContext* context;
    const snwFitDef* def;
    snwMessage* message;
    double volume;
    int meshings;
} Fitter;

snwFitDef snwDefaultFitDef(const snwSolid* solid)
{
    return (snwFitDef){.solid = solid, .detailRatio = 1};
}

// ---------------------------------------------------------------------------------------------------------------------
// Counts

static bool CountSkin(snwContext* context, const snwTetMesh* mesh, int* count)
{
    int(*triangles)[3] = NULL, triangleCount = 0;
    bool* skin = snwAllocArray(context, (size_t)mesh->vertexCount, sizeof *skin);
    bool enough = skin != NULL && snwMesh_FindBoundary(context, (const int(*)[4])mesh->tets, mesh->tetCount, &triangles,
                                      &triangleCount) >= 0;
    *count = 0;
    for (int i = 0; enough && i < 3 * triangleCount; ++i)
    {
        bool* seen = &skin[triangles[i / 3][i % 3]];
        *count += !*seen;
        *seen = true;
    }
    snwFree(context, skin);
    snwFree(context, triangles);
    return enough;
}

// What decides on the spacing: how much there is and how much is wanted.
static double SizeRatio(const snwFitDef* def, const snwFit* fit)
{
    if (def->tets > 0)
        return (double)(fit->mesh.tetCount + def->extraTets) / def->tets;
    if (def->vertices > 0)
        return (double)(fit->mesh.vertexCount + def->extraVertices) / def->vertices;
    if (def->skinVertices > 0)
        return (double)(fit->skinVertexCount + def->extraSkinVertices) / def->skinVertices;
    return (double)(fit->labels.elasticCount + def->extraElasticVertices) / def->elasticVertices;
}

static double ElasticRatio(const snwFitDef* def, const snwFit* fit)
{
    return (double)(fit->labels.elasticCount + def->extraElasticVertices) / def->elasticVertices;
}

static bool SizeIsElastic(const snwFitDef* def)
{
    return def->tets <= 0 && def->vertices <= 0 && def->skinVertices <= 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Bones

// The offset, unless the spacing has to give the elastic vertices.
static snwResult LabelTry(Fitter* fitter, Try* attempt)
{
    const snwFitDef* def = fitter->def;
    snwFit* fit = &attempt->fit;
    snwBoneField field;
    snwResult result = snwMeasureBones(
        fitter->context, def->solid, &fit->mesh, &attempt->arena, &field, fitter->message);
    if (result >= 0 && def->elasticVertices > 0 && def->solid->boneCount > 0 && !SizeIsElastic(def))
        result = snwFitBoneOffset(fitter->context, &field, def->elasticVertices - def->extraElasticVertices,
            SNW_FIT_MAX_OFFSET * fit->spacing, &fit->offset, fitter->message);
    if (result >= 0)
        result = snwLabelBonesFrom(fitter->context, def->solid, &fit->mesh, &field, fit->offset, &attempt->arena,
            &fit->labels, fitter->message);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Search

static snwResult MakeTry(Fitter* fitter, double spacing, snwVec3 shift, bool coarseInside, Try* attempt)
{
    const snwFitDef* def = fitter->def;
    *attempt = (Try){.arena = {.context = fitter->context}, .fit = {.spacing = spacing, .coarseInside = coarseInside}};
    snwStuffDef stuff = {.solid = def->solid,
        .spacing = spacing,
        .detail = spacing * def->detailRatio,
        .shift = shift,
        .coarseInside = coarseInside,
        .volume = fitter->volume};
    fitter->meshings++;
    snwResult result = snwStuffSolid(fitter->context, &stuff, &attempt->arena, &attempt->fit.mesh, &attempt->message);
    attempt->result = result;

    // The last failure is the one to tell.
    if (result < 0)
    {
        if (fitter->message != NULL)
            *fitter->message = attempt->message;
        return result;
    }

    // What the wanted numbers count: vertices of the skin and, with bones, elastic ones.
    if (!CountSkin(fitter->context, &attempt->fit.mesh, &attempt->fit.skinVertexCount))
        return snwFailMemory(fitter->message);
    if (SizeIsElastic(def))
        result = LabelTry(fitter, attempt);
    return result < 0 ? result : snw_ok;
}

// Keeps the better one in best and frees the other.
static void KeepBetterTry(Try* best, Try* other)
{
    bool better = best->arena.context == NULL || other->miss < best->miss;
    if (better)
    {
        Try swap = *best;
        *best = *other;
        *other = swap;
    }
    snwArena_Free(&other->arena);
}

typedef struct Search
{
    double logSpacing[2], logRatio[2]; // the nearest seen with too much and with too little
    bool known[2];
} Search;

// The next spacing: between the two if both sides are known, else along the power law.
static double NextSpacing(const Search* search, double power, double logSpacing, double logRatio, int turn)
{
    if (!search->known[0] || !search->known[1])
        return exp(logSpacing + logRatio / power * (turn > 2 ? 1.5 : 1.02));
    double a = search->logRatio[0], b = search->logRatio[1], t = a / (a - b);
    // A jittering count may put an end very near to the target but on the wrong side of it; stay off the ends.
    t = turn > 2 ? 0.5 : fmin(fmax(t, 0.08), 0.92);
    return exp(search->logSpacing[0] + t * (search->logSpacing[1] - search->logSpacing[0]));
}

static double FirstSpacing(const Fitter* fitter)
{
    // About twelve tets for a cell, and two vertices; the surface adds some.
    const snwFitDef* def = fitter->def;
    if (def->tets > 0)
        return cbrt(13.5 * fitter->volume / def->tets);
    if (def->vertices > 0 || def->skinVertices <= 0)
        return cbrt(2.8 * fitter->volume / (def->vertices > 0 ? def->vertices : def->elasticVertices));
    return sqrt(20 * pow(fitter->volume, 2.0 / 3.0) / def->skinVertices);
}

static snwResult FindSpacing(Fitter* fitter, double spacing, bool coarseInside, Try* best)
{
    Search search = {.known = {false, false}};

    // How counts go with the spacing: vertices of a surface by its square, all others by its cube.
    double power = fitter->def->tets <= 0 && fitter->def->vertices <= 0 && fitter->def->skinVertices > 0 ? 2 : 3;
    int turns = snw_fitMeshings;
    for (int turn = 0; turn < turns; ++turn)
    {
        if (turn == snw_fitSymmetric)
            search = (Search){.known = {false, false}}; // of another lattice
        // A symmetric solid on a symmetric lattice gains and loses tets by dozens at once; a shifted one does not.
        snwVec3 shift = turn < snw_fitSymmetric ? (snwVec3){0, 0, 0} : (snwVec3){0.17, 0.31, 0.23};
        Try attempt;
        snwResult result = MakeTry(fitter, snwRoundSpacing(spacing), shift, coarseInside, &attempt);
        if (result < 0)
        {
            snwArena_Free(&attempt.arena);
            return result;
        }

        // The nearest try on either side brackets the spacing; the secant through them says the next one.
        double logRatio = log(fmax(SizeRatio(fitter->def, &attempt.fit), 1e-9));
        int side = logRatio > 0 ? 0 : 1;
        if (!search.known[side] || fabs(logRatio) < fabs(search.logRatio[side]))
        {
            search.known[side] = true;
            search.logSpacing[side] = log(spacing), search.logRatio[side] = logRatio;
        }

        attempt.miss = fabs(logRatio);
        turns = attempt.fit.mesh.tetCount < snw_fitSmall ? snw_fitMeshingsSmall : snw_fitMeshings;

        // A large mesh costs a second and jitters more where it is graded: what is near enough gets wider every time.
        double aim = attempt.fit.mesh.tetCount < snw_fitLarge ? SNW_FIT_AIM : SNW_FIT_AIM * (1 + turn);
        KeepBetterTry(best, &attempt);
        if (best->miss < aim)
            break;
        spacing = NextSpacing(&search, power, log(spacing), logRatio, turn % snw_fitSymmetric);
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------

static double ElasticMiss(const Fitter* fitter, const Try* attempt)
{
    const snwFitDef* def = fitter->def;
    if (def->elasticVertices <= 0 || SizeIsElastic(def))
        return 0;
    return fabs(log(fmax(ElasticRatio(def, &attempt->fit), 1e-9)));
}

// With the other setting of coarseInside; taken if it brings the elastic vertices nearer and keeps the size.
static snwResult TryOtherInside(Fitter* fitter, Try* best)
{
    Try other = {0};
    snwResult result = FindSpacing(fitter, best->fit.spacing, !best->fit.coarseInside, &other);
    if (result >= 0)
        result = LabelTry(fitter, &other);
    bool better = result >= 0 && other.miss < SNW_FIT_SIZE && ElasticMiss(fitter, &other) < ElasticMiss(fitter, best);
    if (better)
    {
        Try swap = *best;
        *best = other;
        other = swap;
    }
    snwArena_Free(&other.arena);
    return result;
}

static snwResult CheckFitDef(const snwFitDef* def, snwMessage* message)
{
    if (def->tets <= 0 && def->vertices <= 0 && def->skinVertices <= 0 && def->elasticVertices <= 0)
        return snwFail(message, snw_errorArgument, "set tets, vertices, skinVertices or elasticVertices",
            "no size of the mesh is given");
    if (def->tets > 0 && def->tets <= def->extraTets)
        return snwFail(message, snw_errorArgument, "ask for more", "%d tets are wanted, but %d are there already",
            def->tets, def->extraTets);
    return snw_ok;
}

static snwResult FinishFit(Fitter* fitter, Try* best, snwArena* arena, snwFit* fit)
{
    // Into the caller's memory.
    *fit = best->fit;
    size_t vertices = (size_t)fit->mesh.vertexCount, tets = (size_t)fit->mesh.tetCount;
    fit->mesh.vertices = snwArena_Copy(arena, fit->mesh.vertices, vertices, sizeof *fit->mesh.vertices);
    fit->mesh.tets = snwArena_Copy(arena, fit->mesh.tets, tets, sizeof *fit->mesh.tets);
    fit->labels.vertexBones = snwArena_Copy(arena, fit->labels.vertexBones, vertices, sizeof(int));
    fit->labels.tetBones = snwArena_Copy(arena, fit->labels.tetBones, tets, sizeof(int));
    fit->meshings = fitter->meshings;
    if (arena->failed)
    {
        *fit = (snwFit){0};
        return snwFailMemory(fitter->message);
    }

    // Still too far off after all tries: the mesh is given with a warning that says by how much.
    double elastic = ElasticMiss(fitter, best);
    if (best->miss > SNW_FIT_SIZE || elastic > SNW_FIT_ELASTIC)
        return snwFail(fitter->message, snw_warning, "ask for another size, or change the bones",
            "the mesh has %.1f %% of the wanted size and %.1f %% of the wanted elastic vertices: %d tets, %d vertices, "
            "%d of them elastic",
            100 * SizeRatio(fitter->def, fit),
            fitter->def->elasticVertices > 0 ? 100 * ElasticRatio(fitter->def, fit) : 100.0, fit->mesh.tetCount,
            fit->mesh.vertexCount, fit->labels.elasticCount);

    if (best->result > 0 && fitter->message != NULL)
        *fitter->message = best->message;
    return best->result;
}

snwResult snwFitMesh(snwContext* context, const snwFitDef* def, snwArena* arena, snwFit* fit, snwMessage* message)
{
    *fit = (snwFit){0};
    Fitter fitter = {.context = context, .def = def, .message = message};
    Try best = {0};
    snwResult result = CheckFitDef(def, message);
    result = result < 0 ? result : snwSolid_Volume(context, def->solid, &fitter.volume, message);
    if (result >= 0 && !(fitter.volume > 0))
        result = snwFail(message, snw_errorInput, "give it some shape", "the solid is empty");
    result = result < 0 ? result : FindSpacing(&fitter, FirstSpacing(&fitter), def->coarseInside, &best);
    if (result >= 0 && !SizeIsElastic(def))
        result = LabelTry(&fitter, &best);
    if (result >= 0 && def->solid->boneCount > 0 && ElasticMiss(&fitter, &best) > SNW_FIT_ELASTIC)
        result = TryOtherInside(&fitter, &best);
    if (result >= 0)
        result = FinishFit(&fitter, &best, arena, fit);
    snwArena_Free(&best.arena);
    return result;
}
