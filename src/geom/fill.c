// A mesh is made, judged and made again until it is good: the wanted count, no part of the surface far from it, the
// volume, the angles. What is tried follows from what is wrong:
//
//   a part of the surface lies far outside of the mesh   smaller cells where it is thin; at last it is thickened
//   the volume is off                                    smaller cells where it is thin, then everywhere
//   angles are bad                                       a shifted lattice
//   the count is off                                     another spacing
//
// The best mesh seen is kept. Measured on the mesh itself, this needs no guess about which thickness a lattice still
// holds: a fin that lies along its planes holds where one across them breaks.

#include "geom/fill.h"

#include "base/pieces.h"
#include "geom/inside.h"
#include "geom/label.h"
#include "geom/measure.h"
#include "geom/mesh.h"
#include "geom/stuffing.h"

#include <math.h>

enum
{
    snw_fillMeshings = 12,
    snw_fillSamples = 4,     // on a triangle
    snw_fillThickenings = 3, // more of the surface may be lost once the rest is balanced
    snw_fillBalances = 3,    // of a thickness
    snw_fillLarge = 3        // times the wanted count: from there on cells do not get smaller
};

#define SNW_FILL_COUNT  0.05 // near enough to the wanted count
#define SNW_FILL_FAR    0.75 // of the cells that were asked for: what is so far outside of the mesh is lost
#define SNW_FILL_THICK  0.5  // of the smallest cells: half the thickness that a lattice holds in every direction
#define SNW_FILL_LOST   1e-3 // share of the area that may be lost
#define SNW_FILL_COARSE 2.0  // of the cells that were asked for: where the body is thick, so that thin parts get more
#define SNW_FILL_REFINE 0.02 // more than this is worth smaller cells; less is thickened at once

typedef struct Attempt
{
    snwArena arena;
    snwTetMesh mesh;
    snwMeshQuality quality;
    double spacing, detail;
    float* outside;  // m, by triangle: how far its farthest sample is out of the mesh
    double lostArea; // share of the area that is lost
    double miss;     // |log(count / wanted)|
    double volumeError;
    bool torn;         // in more pieces than the surface: a neck was stepped over
    bool sharp, thick; // angles out of range; made of the thickened solid
} Attempt;

typedef struct Filler
{
    snwContext* context;
    const snwFillDef* def;
    snwArena work;
    snwMend mend;
    snwMend* bones;
    snwInside inside;
    snwMessage* message;
    double volume; // m^3, of the closed surface
    double area;
    double asked; // m, the spacing that the count or the caller asks for
    double spacing, ratio;
    snwVec3 shift;
    double smaller;  // everywhere, for the volume's sake
    uint8_t* chosen; // by triangle: thickened
    bool sheet;      // most of it is: the volume is what the thickness makes it
    int meshings, balances, thickenings;
    int specks, speckTriangles; // left out from the start
    int partCount;              // of the surface, those left out not counted
} Filler;

snwFillDef snwDefaultFillDef(void)
{
    return (snwFillDef){.finest = 0.125, .volumeError = 0.02};
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts: triangles that hang together by corners

// By vertex: the lowest vertex of its part. NULL: no memory.
static int* NumberParts(Filler* filler)
{
    const snwMend* mend = &filler->mend;
    int* parents = snwArena_Alloc(&filler->work, (size_t)mend->vertexCount, sizeof *parents);
    for (int i = 0; i < mend->vertexCount && parents != NULL; ++i)
        parents[i] = i;
    for (int i = 0; i < 2 * mend->triangleCount && parents != NULL; ++i)
        snwPieces_Join(parents, mend->triangles[i / 2][0], mend->triangles[i / 2][1 + i % 2]);
    for (int i = 0; i < mend->vertexCount && parents != NULL; ++i)
        parents[i] = snwPieces_Root(parents, i);
    return parents;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is lost

typedef struct LossLoop
{
    const Filler* filler;
    const snwSoup* mesh;
    float* outside;
    double slight; // m
} LossLoop;

// How far out of the mesh; what is within `slight` of its surface is on it, whichever the side.
static double OutsideMesh(const snwSoup* mesh, snwVec3 point, double slight)
{
    double distance = snwSoup_Closest(mesh, point).distance;
    return distance < slight || snwSoup_Winding(mesh, point) < 0.5 ? distance : -distance;
}

static void MeasureLoss(int begin, int end, void* data)
{
    const LossLoop* loop = data;
    const snwMend* mend = &loop->filler->mend;
    for (int i = begin; i < end; ++i)
    {
        const int* t = mend->triangles[i];
        snwVec3 a = mend->vertices[t[0]], b = mend->vertices[t[1]], c = mend->vertices[t[2]];
        snwVec3 middle = snwVec3_Scale(snwVec3_Add(snwVec3_Add(a, b), c), 1.0 / 3);
        snwVec3 samples[snw_fillSamples] = {
            middle, snwVec3_Lerp(middle, a, 0.8), snwVec3_Lerp(middle, b, 0.8), snwVec3_Lerp(middle, c, 0.8)};
        // For a triangle that is small beside the cells, its middle tells all.
        double size = fmax(snwVec3_Distance(a, b), fmax(snwVec3_Distance(b, c), snwVec3_Distance(c, a)));
        int count = size < 2 * loop->slight ? 1 : snw_fillSamples;
        loop->outside[i] = -INFINITY;
        for (int k = 0; k < count && !loop->filler->inside.hidden[i]; ++k)
            loop->outside[i] = fmaxf(loop->outside[i], (float)OutsideMesh(loop->mesh, samples[k], loop->slight));
    }
}

static double TriangleArea(const snwMend* mend, int triangle)
{
    const int* t = mend->triangles[triangle];
    snwVec3 a = mend->vertices[t[0]];
    return 0.5 *
           snwVec3_Length(snwVec3_Cross(snwVec3_Sub(mend->vertices[t[1]], a), snwVec3_Sub(mend->vertices[t[2]], a)));
}

static snwResult FindLost(Filler* filler, Attempt* attempt)
{
    int(*triangles)[3] = NULL, count = 0, surface = filler->mend.triangleCount;
    snwSoup* soup = NULL;
    attempt->outside = snwArena_Alloc(&attempt->arena, (size_t)surface, sizeof *attempt->outside);
    if (attempt->outside == NULL || snwMesh_FindBoundary(filler->context, (const int(*)[4])attempt->mesh.tets,
                                        attempt->mesh.tetCount, &triangles, &count) < 0)
        return snwFailMemory(filler->message);

    // The mesh's boundary as a soup: how far is each surface triangle out of it?
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = attempt->mesh.vertices, def.vertexCount = attempt->mesh.vertexCount;
    def.triangles = (const int(*)[3])triangles, def.triangleCount = count;
    snwResult result = snwCreateSoup(filler->context, &def, &soup, filler->message);
    LossLoop loop = {filler, soup, attempt->outside, 0.1 * attempt->detail};
    if (result >= 0)
        snwParallelFor(filler->context, surface, 128, MeasureLoss, &loop);
    snwDestroySoup(soup);
    snwFree(filler->context, triangles);

    // As shares of the whole area.
    for (int i = 0; i < surface && result >= 0; ++i)
        if (attempt->outside[i] > SNW_FILL_FAR * filler->asked)
            attempt->lostArea += TriangleArea(&filler->mend, i) / filler->area;

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Attempts

static double WantedCount(const Filler* filler)
{
    return filler->def->tets > 0 ? filler->def->tets : filler->def->vertices;
}

static double CountOf(const Filler* filler, const snwTetMesh* mesh)
{
    return filler->def->tets > 0 ? mesh->tetCount : mesh->vertexCount;
}

static bool IsWellShaped(const snwMeshQuality* quality)
{
    return quality->inverted == 0 && quality->minDihedral >= 8 && quality->maxDihedral <= 165;
}

static bool FindTorn(Filler* filler, Attempt* attempt)
{
    const snwTetMesh* mesh = &attempt->mesh;
    int* parents = snwAllocArray(filler->context, (size_t)mesh->vertexCount, sizeof *parents);
    int pieces = 0;
    for (int i = 0; i < mesh->vertexCount && parents != NULL; ++i)
        parents[i] = i;
    for (int i = 0; i < 3 * mesh->tetCount && parents != NULL; ++i)
        snwPieces_Join(parents, mesh->tets[i / 3][0], mesh->tets[i / 3][1 + i % 3]);
    for (int i = 0; i < mesh->vertexCount && parents != NULL; ++i)
        pieces += parents[i] == i;
    attempt->torn = pieces > filler->partCount;
    snwFree(filler->context, parents);
    return parents != NULL;
}

static snwResult JudgeAttempt(Filler* filler, Attempt* attempt)
{
    attempt->quality = snwTetMesh_Quality(&attempt->mesh);
    attempt->sharp = !IsWellShaped(&attempt->quality);
    attempt->volumeError = filler->volume > 0 ? fabs(attempt->quality.volume / filler->volume - 1) : 0;
    if (WantedCount(filler) > 0)
        attempt->miss = fabs(log(CountOf(filler, &attempt->mesh) / WantedCount(filler)));
    if (!FindTorn(filler, attempt))
        return snwFailMemory(filler->message);
    return FindLost(filler, attempt);
}

static snwResult MakeAttempt(Filler* filler, Attempt* attempt)
{
    snwSolid solid = snwInside_Solid(&filler->inside);
    double spacing = snwRoundSpacing(filler->spacing * filler->smaller);
    *attempt = (Attempt){.arena = {.context = filler->context},
        .spacing = spacing,
        .detail = spacing * filler->ratio,
        .thick = filler->inside.thick != NULL};
    snwStuffDef stuff = {.solid = &solid,
        .spacing = spacing,
        .detail = attempt->detail,
        .shift = filler->shift,
        .volume = filler->volume,
        .asItIs = attempt->thick || filler->volume == 0}; // a level below 0 would make thin parts vanish again
    filler->meshings++;
    snwResult result = snwStuffSolid(filler->context, &stuff, &attempt->arena, &attempt->mesh, filler->message);
    return result < 0 ? result : JudgeAttempt(filler, attempt);
}

static bool IsLossy(const Attempt* attempt)
{
    return attempt->lostArea > SNW_FILL_LOST || attempt->torn;
}

static bool IsVolumeOff(const Filler* filler, const Attempt* attempt)
{
    return !filler->sheet && attempt->volumeError > filler->def->volumeError;
}

static bool IsSoundAttempt(const Filler* filler, const Attempt* attempt)
{
    return attempt->arena.context != NULL && !attempt->sharp && !IsLossy(attempt) && !IsVolumeOff(filler, attempt);
}

// Is a better than b? What is worst about a mesh comes first.
static bool IsBetterAttempt(const Filler* filler, const Attempt* a, const Attempt* b)
{
    if (b->arena.context == NULL)
        return true;
    if (a->sharp != b->sharp)
        return b->sharp;
    if (IsLossy(a) != IsLossy(b))
        return IsLossy(b);
    if (IsLossy(a) && a->lostArea != b->lostArea)
        return a->lostArea < b->lostArea;
    if (IsVolumeOff(filler, a) != IsVolumeOff(filler, b))
        return IsVolumeOff(filler, b);
    return IsVolumeOff(filler, a) ? a->volumeError < b->volumeError : a->miss < b->miss;
}

static void KeepBetterAttempt(const Filler* filler, Attempt* best, Attempt* other)
{
    if (IsBetterAttempt(filler, other, best))
    {
        Attempt swap = *best;
        *best = *other;
        *other = swap;
    }
    snwArena_Free(&other->arena);
}

// ---------------------------------------------------------------------------------------------------------------------
// Thickening

// Lost triangles, and around them, over shared corners, all that stick out of the mesh at all: so that what is
// thickened hangs on the rest.
static bool ChooseThick(Filler* filler, const Attempt* attempt)
{
    const snwMend* mend = &filler->mend;
    uint8_t* reached = snwArena_Alloc(&filler->work, (size_t)mend->vertexCount, 1);
    if (filler->chosen == NULL)
        filler->chosen = snwArena_Alloc(&filler->work, (size_t)mend->triangleCount, 1);
    if (filler->work.failed)
        return false;
    double out = attempt != NULL ? 0.15 * attempt->detail + fmax(filler->inside.inset, 0) : 0;

    // From lost triangles on over shared corners, round by round until nothing is added. Without an attempt to look
    // at, all are lost, in one round.
    for (bool again = true, first = true; again; first = false)
    {
        again = false;
        for (int i = 0; i < mend->triangleCount; ++i)
        {
            const int* t = mend->triangles[i];
            bool lost = attempt == NULL || attempt->outside[i] > SNW_FILL_FAR * filler->asked;
            bool near = !first && attempt->outside[i] > out && (reached[t[0]] || reached[t[1]] || reached[t[2]]);
            bool isNew = !(reached[t[0]] && reached[t[1]] && reached[t[2]] && filler->chosen[i]);

            if (filler->inside.hidden[i] || (!lost && !near) || !isNew)
                continue;
            filler->chosen[i] = 1;
            again = true;
            reached[t[0]] = reached[t[1]] = reached[t[2]] = 1;
        }
        again = again && attempt != NULL;
    }

    return true;
}

// attempt NULL: nothing is inside at all, so everything is thickened. What was chosen before stays chosen.
static snwResult Thicken(Filler* filler, const Attempt* attempt)
{
    double by = SNW_FILL_THICK * filler->spacing * filler->smaller * filler->ratio;
    if (!ChooseThick(filler, attempt))
        return snwFailMemory(filler->message);
    double chosen = 0;
    for (int i = 0; i < filler->mend.triangleCount; ++i)
        chosen += filler->chosen[i] ? TriangleArea(&filler->mend, i) : 0;
    filler->sheet = chosen > 0.5 * filler->area;
    return snwInside_Thicken(&filler->inside, filler->chosen, by, filler->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The search

// Counts fall with the cube of the spacing; where most cells are at the surface or refined, with less.
static void AimAtCount(Filler* filler, const Attempt* attempt)
{
    double ratio = CountOf(filler, &attempt->mesh) / WantedCount(filler);
    filler->spacing *= fmin(fmax(pow(ratio, 0.4), 0.5), 1.6);
    filler->spacing = fmin(filler->spacing, SNW_FILL_COARSE * filler->asked);
}

// Smaller cells where the body is thin; larger ones elsewhere pay for them if there is a count to keep.
static snwResult RefineAttempt(Filler* filler, const Attempt* attempt)
{
    filler->ratio /= 2;
    filler->balances = 0;
    if (WantedCount(filler) > 0)
        filler->spacing = fmin(filler->spacing * 1.4, SNW_FILL_COARSE * filler->asked);
    return attempt->thick ? Thicken(filler, attempt) : snw_ok;
}

// What thickening adds is taken from the rest of the surface, a little everywhere, and what chords lose comes back.
static bool BalanceVolume(Filler* filler, const Attempt* attempt)
{
    double extra = attempt->quality.volume - filler->volume, limit = 0.3 * attempt->detail;
    double inset = fmin(fmax(filler->inside.inset + extra / filler->area, -limit), limit);
    bool changed = inset != filler->inside.inset;
    filler->inside.inset = inset;
    return changed && ++filler->balances <= snw_fillBalances;
}

// What to try next; false: nothing is left, or nothing is wrong.
static bool ChangeAttempt(Filler* filler, const Attempt* attempt, snwResult* result)
{
    // From the likeliest remedy to the last resort (see the top of the file).
    bool off = IsVolumeOff(filler, attempt),
         large = CountOf(filler, &attempt->mesh) > snw_fillLarge * WantedCount(filler);
    bool finer = filler->ratio / 2 >= filler->def->finest && !(large && WantedCount(filler) > 0);
    double spacing = filler->spacing;
    if (attempt->thick && !IsLossy(attempt) && off && !attempt->sharp && BalanceVolume(filler, attempt))
        return true;

    if ((off || attempt->lostArea > SNW_FILL_REFINE || attempt->torn) && finer)
        *result = RefineAttempt(filler, attempt);
    else if (attempt->lostArea > SNW_FILL_LOST && filler->thickenings++ < snw_fillThickenings)
        *result = Thicken(filler, attempt);
    else if (off && !attempt->thick && filler->smaller > 0.5 && !(large && WantedCount(filler) > 0))
        filler->smaller *= 0.8;
    else if (attempt->sharp && filler->shift.x == 0)
        filler->shift = (snwVec3){0.17, 0.31, 0.23};
    else if (attempt->sharp && filler->shift.x < 0.4)
        filler->shift = (snwVec3){0.43, 0.11, 0.37};
    else
    {
        if (WantedCount(filler) > 0 && attempt->miss > SNW_FILL_COUNT)
            AimAtCount(filler, attempt);
        return fabs(filler->spacing / spacing - 1) > 0.015 && !attempt->thick;
    }

    return *result >= 0;
}

static snwResult SearchFilling(Filler* filler, Attempt* best)
{
    snwResult result = snw_ok;
    for (bool again = true; again && filler->meshings < snw_fillMeshings;)
    {
        // A try with the settings so far; if it can be made, it is judged, the next settings chosen, and the better
        // one kept.
        Attempt attempt;
        result = MakeAttempt(filler, &attempt);
        if (result == snw_errorInput && filler->inside.thick == NULL)
        {
            // no lattice point is inside: a sheet, or all of it is thinner than a cell
            snwArena_Free(&attempt.arena);
            result = Thicken(filler, NULL);
            again = result >= 0;
            continue;
        }

        if (result < 0)
        {
            snwArena_Free(&attempt.arena);
            break;
        }

        // Another count is not worth what it breaks.
        again = (!IsSoundAttempt(filler, best) || IsSoundAttempt(filler, &attempt)) &&
                ChangeAttempt(filler, &attempt, &result);
        KeepBetterAttempt(filler, best, &attempt);
    }

    // A later attempt that fails does not spoil an earlier one.
    if (result < 0 && (result == snw_errorMemory || best->outside == NULL))
        return result;
    return best->outside != NULL ? snw_ok : snwFailMemory(filler->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The report

// Shells of which all triangles are out of the mesh.
static bool CountDropped(Filler* filler, const Attempt* best, snwFillReport* report)
{
    const snwMend* mend = &filler->mend;
    const int* parents = NumberParts(filler);
    int* triangles = snwArena_Alloc(&filler->work, (size_t)mend->vertexCount, sizeof *triangles);
    int* out = snwArena_Alloc(&filler->work, (size_t)mend->vertexCount, sizeof *out);

    if (filler->work.failed)
        return false;

    // By parts of the surface that hang together by vertices.
    for (int i = 0; i < mend->triangleCount && best->outside != NULL; ++i)
    {
        int part = parents[mend->triangles[i][0]];
        triangles[part]++;
        out[part] += best->outside[i] > 0.25 * best->detail;
    }

    // Specks were left out from the beginning.
    report->droppedShells = filler->specks, report->droppedTriangles = filler->speckTriangles;
    for (int i = 0; i < mend->vertexCount; ++i)
        if (triangles[i] > 0 && out[i] == triangles[i])
            report->droppedShells++, report->droppedTriangles += triangles[i];
    return true;
}

static bool ListHoles(const snwSurvey* survey, snwArena* arena, snwFillReport* report)
{
    report->holes = snwArena_Alloc(arena, (size_t)survey->holeCount + 1, sizeof *report->holes);
    for (int i = 0; i < survey->holeCount && report->holes != NULL; ++i)
        if (survey->holes[i].area > 1e-6 * survey->holes[i].length * survey->holes[i].length)
            report->holes[report->holeCount++] = survey->holes[i];
    return report->holes != NULL;
}

static bool MakeReport(Filler* filler, const Attempt* best, snwArena* arena, snwFillReport* report)
{
    const snwMend* mend = &filler->mend;
    *report = (snwFillReport){.flatTriangles = mend->flatCount,
        .doubleTriangles = mend->doubleCount,
        .turnedTriangles = mend->turnedCount,
        .hiddenTriangles = filler->inside.hiddenCount,
        .crossingTriangles = mend->before.crossingTriangles,
        .shellCount = mend->after.shellCount + filler->specks,
        .closed = mend->sound,
        .surfaceVolume = filler->volume,
        .volume = best->quality.volume,
        .volumeError = best->volumeError,
        .lostArea = best->lostArea,
        .spacing = best->spacing,
        .detail = best->detail,
        .meshings = filler->meshings,
        .quality = best->quality};

    // Triangles that were thickened, and by how much.
    for (int i = 0; i < mend->triangleCount && best->thick; ++i)
        report->thickTriangles += filler->chosen[i];
    report->thickened = best->thick ? filler->inside.thickness : 0;

    return ListHoles(&mend->after, arena, report) && CountDropped(filler, best, report);
}

static snwResult Warn(const Filler* filler, const Attempt* best, const snwFillReport* report)
{
    // The worst first; one warning is enough.
    const snwMeshQuality* quality = &best->quality;
    if (best->sharp)
        return snwFail(filler->message, snw_warning, "use smaller cells or more tets",
            "%d inverted tets, dihedral angles from %.1f to %.1f degrees", quality->inverted, quality->minDihedral,
            quality->maxDihedral);
    if (best->torn)
        return snwFail(filler->message, snw_warning, "use smaller cells or more tets",
            "the mesh is in more pieces than the surface: a neck is too thin for its cells");
    if (IsLossy(best))
        return snwFail(filler->message, snw_warning, "use smaller cells or more tets",
            "%.1f %% of the surface lies outside of the mesh", 100 * best->lostArea);
    if (IsVolumeOff(filler, best))
        return snwFail(filler->message, snw_warning, "use smaller cells or more tets",
            "the mesh has %.1f %% of the volume%s", 100 * report->volume / report->surfaceVolume,
            best->thick ? ", for thin parts were thickened" : "");
    if (best->miss > SNW_FILL_COUNT)
        return snwFail(filler->message, snw_warning, NULL,
            "the mesh came out with %d tets and %d vertices, as near as it got to the number asked for",
            best->mesh.tetCount, best->mesh.vertexCount);

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult CheckFillDef(const snwFillDef* def, snwMessage* message)
{
    if (!(def->finest >= 0.125 && def->finest <= 1))
        return snwFail(
            message, snw_errorArgument, "start from snwDefaultFillDef()", "finest must be 1/8..1, is %g", def->finest);
    if (!(def->volumeError > 0) || !(def->spacing >= 0) || !isfinite(def->spacing) || def->tets < 0 ||
        def->vertices < 0 || def->innerCount < 0 || !(def->weldTolerance >= 0))
        return snwFail(message, snw_errorArgument, "start from snwDefaultFillDef()",
            "counts, spacing, tolerance and volume error are not below 0");
    return snw_ok;
}

static snwResult MendAll(Filler* filler)
{
    const snwFillDef* def = filler->def;
    snwMendDef mend = {def->faces, def->weldTolerance};
    snwResult result = snwMendSurface(&filler->work, &mend, &filler->mend, filler->message);
    filler->bones = snwArena_Alloc(&filler->work, (size_t)def->innerCount + 1, sizeof *filler->bones);
    if (result >= 0 && filler->bones == NULL)
        return snwFailMemory(filler->message);
    for (int i = 0; i < def->innerCount && result >= 0; ++i)
    {
        mend.faces = def->inner[i];
        result = snwMendSurface(&filler->work, &mend, &filler->bones[i], filler->message);
        if (result < 0)
            snwMessage_AddPlace(filler->message, "inner[%d]", i);
    }
    return result;
}

// m, for a body of this volume.
static double SpacingFor(const Filler* filler, double volume)
{
    const snwFillDef* def = filler->def;
    if (def->tets > 0)
        return cbrt(13.5 * volume / def->tets);
    if (def->vertices > 0)
        return cbrt(2.8 * volume / def->vertices);
    return def->spacing > 0 ? def->spacing : filler->mend.after.size / 40;
}

// A sheet has hardly any volume of its own: as if it were a hundredth of its size thick.
static double LeastVolume(const Filler* filler)
{
    return 0.01 * filler->mend.after.size * filler->mend.after.area / 4;
}

static snwResult FindFirstSpacing(Filler* filler)
{
    snwSolid solid = snwInside_Solid(&filler->inside);
    snwResult result = snw_ok;
    double size = filler->mend.after.size;
    filler->volume = filler->mend.after.volume;
    filler->area = filler->mend.after.area;
    if (!filler->mend.sound)
        result = snwSolid_Volume(filler->context, &solid, &filler->volume, filler->message);
    filler->asked = filler->spacing = SpacingFor(filler, fmax(filler->volume, LeastVolume(filler)));
    if (filler->volume < 1e-9 * size * size * size)
        filler->volume = 0;
    return result;
}

typedef struct Shell
{
    snwVec3 lower, upper;
    int triangles;
    bool open;
} Shell;

// Closed shells smaller than a cell - beads, buttons, specks - would each get cells of their own. What is open may be
// part of something larger.
static bool IsSpeck(const Shell* shell, double spacing)
{
    return !shell->open && shell->triangles > 0 && snwVec3_Distance(shell->lower, shell->upper) < spacing;
}

static void MeasureShells(Filler* filler, const int* parents, Shell* shells)
{
    const snwMend* mend = &filler->mend;
    for (int i = 0; i < mend->after.markedEdgeCount; ++i)
        shells[parents[mend->after.edges[i].a]].open = true;
    for (int i = 0; i < 3 * mend->triangleCount; ++i)
    {
        snwVec3 point = mend->vertices[mend->triangles[i / 3][i % 3]];
        Shell* shell = &shells[parents[mend->triangles[i / 3][0]]];
        shell->lower = shell->triangles > 0 ? snwVec3_Min(shell->lower, point) : point;
        shell->upper = shell->triangles > 0 ? snwVec3_Max(shell->upper, point) : point;
        shell->triangles++;
    }
}

static snwResult DropSpecks(Filler* filler)
{
    snwMend* mend = &filler->mend;
    double spacing = SpacingFor(filler, fmax(fabs(mend->after.volume), LeastVolume(filler)));
    int* parents = NumberParts(filler);

    // A part too small for a cell is a speck: it would only get tets by chance. If all are specks, none is.
    Shell* shells = snwArena_Alloc(&filler->work, (size_t)mend->vertexCount, sizeof *shells);
    uint8_t* keep = snwArena_Alloc(&filler->work, (size_t)mend->triangleCount, 1);
    if (filler->work.failed)
        return snwFailMemory(filler->message);
    MeasureShells(filler, parents, shells);

    int kept = 0;
    for (int i = 0; i < mend->triangleCount; ++i)
        kept += keep[i] = !IsSpeck(&shells[parents[mend->triangles[i][0]]], spacing);
    bool all = kept == 0 || kept == mend->triangleCount;

    for (int i = 0; i < mend->vertexCount; ++i)
    {
        bool speck = !all && IsSpeck(&shells[i], spacing);
        filler->specks += speck;
        filler->partCount += shells[i].triangles > 0 && !speck;
    }

    if (all)
        return snw_ok;
    filler->speckTriangles = mend->triangleCount - kept;
    return snwMend_Keep(&filler->work, mend, keep, filler->message);
}

static snwResult FinishFilling(Filler* filler, const Attempt* best, snwArena* arena, snwFilling* filling)
{
    snwBoneLabels labels = {0};
    snwSolid solid = snwInside_Solid(&filler->inside);

    // Out of the attempt's memory into the caller's.
    filling->mesh = best->mesh;
    filling->mesh.vertices = snwArena_Copy(
        arena, best->mesh.vertices, (size_t)best->mesh.vertexCount, sizeof *best->mesh.vertices);
    filling->mesh.tets = snwArena_Copy(arena, best->mesh.tets, (size_t)best->mesh.tetCount, sizeof *best->mesh.tets);
    filling->regions = snwArena_Alloc(arena, (size_t)best->mesh.tetCount, sizeof *filling->regions);
    if (arena->failed || !MakeReport(filler, best, arena, &filling->report))
        return snwFailMemory(filler->message);

    // Tets belong to the nearest bone's region; 0 is none.
    snwResult result = snw_ok;
    if (solid.boneCount > 0)
        result = snwLabelBones(filler->context, &solid, &best->mesh, 0, &filler->work, &labels, filler->message);
    for (int i = 0; i < best->mesh.tetCount && result >= 0 && solid.boneCount > 0; ++i)
        filling->regions[i] = 1 + labels.tetBones[i];
    if (result < 0)
        return result;
    snwMessage_Clear(filler->message); // of earlier attempts

    return Warn(filler, best, &filling->report);
}

static snwResult MakeFilling(Filler* filler, snwArena* arena, snwFilling* filling)
{
    Attempt best = {0};
    snwResult result = CheckFillDef(filler->def, filler->message);
    result = result < 0 ? result : MendAll(filler);
    result = result < 0 ? result : DropSpecks(filler);
    result = result < 0 ? result
                        : snwInside_Create(filler->context, &filler->mend, filler->bones, filler->def->innerCount,
                              &filler->inside, filler->message);
    result = result < 0 ? result : FindFirstSpacing(filler);
    result = result < 0 ? result : SearchFilling(filler, &best);
    if (result >= 0)
        result = FinishFilling(filler, &best, arena, filling);
    snwArena_Free(&best.arena);
    return result;
}

snwResult snwFillSurface(
    snwContext* context, const snwFillDef* def, snwArena* arena, snwFilling* filling, snwMessage* message)
{
    *filling = (snwFilling){0};
    Filler filler = {
        .context = context, .def = def, .work = {.context = context}, .message = message, .ratio = 1, .smaller = 1};
    snwResult result = MakeFilling(&filler, arena, filling);
    snwInside_Free(&filler.inside);
    snwArena_Free(&filler.work);
    if (result < 0)
        *filling = (snwFilling){0};
    return result;
}
