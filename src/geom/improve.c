// A climb in small steps: each vertex of a bad tet tries some places around it and takes the one where the worst of its
// tets is best. Few tets are bad (none in a lattice of one size), so the climb need not be clever.

#include "geom/improve.h"
#include "base/array.h"
#include "geom/lattice.h"
#include "geom/mesh.h"
#include "geom/quality.h"

// Cosines of 9 and 164.9 degrees.
#define SNW_COS_SMALL 0.98769
#define SNW_COS_LARGE (-0.96547)

enum
{
    snw_improveRounds = 16,
    snw_strictRounds = 6, // in which the boundary stays on the surface; then it may leave it a little
    snw_wayCount = 26,
    snw_stepHalvings = 5
};

typedef struct Improver
{
    const snwImproveDef* def;
    int *firstTet, *vertexTets;
    double* scores; // by tet
} Improver;

// Above 0: good. The measure follows the angles' cosines, which needs no library function.
static double ScoreTet(const snwVec3 p[4])
{
    double smallest, largest, volume = snwTet_Volume(p[0], p[1], p[2], p[3]);
    if (!(volume > 0))
    {
        double size = snwVec3_Distance(p[0], p[1]) + snwVec3_Distance(p[2], p[3]);
        return -1 + fmax(volume / (size * size * size + 1e-300), -1);
    }
    snwTet_DihedralCosines(p, &smallest, &largest);
    return fmin(SNW_COS_SMALL - largest, smallest - SNW_COS_LARGE);
}

static double TetScore(const Improver* improver, int tet, int vertex, snwVec3 place)
{
    const int* t = improver->def->tets[tet];
    snwVec3 p[4];
    for (int k = 0; k < 4; ++k)
        p[k] = t[k] == vertex ? place : improver->def->positions[t[k]];
    return ScoreTet(p);
}

// The score of the worst of the vertex' tets; stops when it is below `enough`.
static double StarScore(const Improver* improver, int vertex, snwVec3 place, double enough)
{
    double worst = 1;
    for (int i = improver->firstTet[vertex]; i < improver->firstTet[vertex + 1] && worst > enough; ++i)
        worst = fmin(worst, TetScore(improver, improver->vertexTets[i], vertex, place));
    return worst;
}

static double LevelDistance(const Improver* improver, snwVec3 p)
{
    return improver->def->solid->distance(p, improver->def->solid->data) - improver->def->level;
}

static snwVec3 DistanceGradient(const Improver* improver, snwVec3 p, double step)
{
    double here = LevelDistance(improver, p);
    return (snwVec3){(LevelDistance(improver, (snwVec3){p.x + step, p.y, p.z}) - here) / step,
        (LevelDistance(improver, (snwVec3){p.x, p.y + step, p.z}) - here) / step,
        (LevelDistance(improver, (snwVec3){p.x, p.y, p.z + step}) - here) / step};
}

static double StarSize(const Improver* improver, int vertex)
{
    double sum = 0;
    int count = 0;
    for (int i = improver->firstTet[vertex]; i < improver->firstTet[vertex + 1]; ++i)
        for (int k = 0; k < 4; ++k, ++count)
            sum += snwVec3_Distance(improver->def->positions[vertex],
                improver->def->positions[improver->def->tets[improver->vertexTets[i]][k]]);
    return count > 0 ? sum / (0.75 * count) : 0;
}

// To a neighbour in a grid of 3 x 3 x 3.
static snwVec3 WayToNeighbour(int index)
{
    int i = index < 13 ? index : index + 1; // 13 is nowhere
    int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;
    return snwVec3_Normalize((snwVec3){x, y, z});
}

// Back on to the surface along the normal, or, when `loose`, within reach of it. False if that is too far.
static bool Land(const Improver* improver, snwVec3 normal, double reach, bool loose, snwVec3* place)
{
    double value = LevelDistance(improver, *place);
    if (!(fabs(value) < 4 * reach))
        return false;
    double step = loose ? value - fmin(fmax(value, -reach), reach) : value;
    *place = snwVec3_MulAdd(*place, -step, normal);
    return true;
}

static bool ImproveVertex(Improver* improver, int vertex, bool loose)
{
    const snwImproveDef* def = improver->def;
    snwVec3 place = def->positions[vertex], normal = {0};
    double size = StarSize(improver, vertex), best = StarScore(improver, vertex, place, -10);
    bool boundary = def->boundary[vertex], moved = false;

    // Good enough as it is.
    if (best > 0)
        return false;
    if (boundary)
    {
        normal = DistanceGradient(improver, place, 1e-3 * size);
        double squared = fmax(snwVec3_LengthSquared(normal), 0.25);
        normal = snwVec3_Scale(normal, 1 / squared); // a step of value * normal is Newton's
    }

    // Smaller and smaller steps all around; the vertex moves on once all ways of a size are tried.
    for (int halving = 0; halving < snw_stepHalvings; ++halving)
        for (int i = 0; i < snw_wayCount; ++i)
        {
            snwVec3 trial = snwVec3_MulAdd(place, ldexp(0.3 * size, -halving), WayToNeighbour(i));
            if (boundary && !Land(improver, normal, 0.05 * size, loose, &trial))
                continue;
            double score = StarScore(improver, vertex, trial, best);
            if (score > best + 1e-6)
                best = score, def->positions[vertex] = trial, moved = true;
            if (moved && i == snw_wayCount - 1)
                place = def->positions[vertex];
        }

    return moved;
}

static void ScoreRange(int begin, int end, void* data)
{
    Improver* improver = data;
    for (int i = begin; i < end; ++i)
        improver->scores[i] = TetScore(improver, i, -1, (snwVec3){0});
}

static bool ListTetsOfVertices(snwContext* context, Improver* improver)
{
    const snwImproveDef* def = improver->def;
    int* first = snwAllocArray(context, (size_t)def->vertexCount + 2, sizeof *first);
    int* tets = snwAllocArray(context, 4 * (size_t)def->tetCount, sizeof *tets);
    improver->scores = snwAllocArray(context, (size_t)def->tetCount, sizeof *improver->scores);
    improver->firstTet = first, improver->vertexTets = tets;
    if (first == NULL || tets == NULL || improver->scores == NULL)
        return false;
    for (int i = 0; i < 4 * def->tetCount; ++i)
        first[def->tets[i / 4][i % 4] + 2]++;
    for (int i = 0; i < def->vertexCount; ++i)
        first[i + 2] += first[i + 1];
    for (int i = 0; i < 4 * def->tetCount; ++i)
        tets[first[def->tets[i / 4][i % 4] + 1]++] = i / 4;
    return true;
}

// True while it helps.
static bool ImproveRound(snwContext* context, Improver* improver, bool loose)
{
    const snwImproveDef* def = improver->def;
    bool moved = false;
    snwParallelFor(context, def->tetCount, 1024, ScoreRange, improver);
    for (int i = 0; i < def->tetCount; ++i)
        for (int k = 0; k < 4 && improver->scores[i] < 0; ++k)
            moved = ImproveVertex(improver, def->tets[i][k], loose) || moved;
    return moved;
}

snwResult snwImproveTets(snwContext* context, const snwImproveDef* def, snwMessage* message)
{
    Improver improver = {.def = def};
    bool enough = ListTetsOfVertices(context, &improver);
    bool loose = false;
    for (int i = 0; enough && i < snw_improveRounds; ++i)
    {
        bool moved = ImproveRound(context, &improver, loose);
        if (!moved && loose)
            break;
        loose = loose || !moved || i + 1 >= snw_strictRounds;
    }
    snwFree(context, improver.firstTet);
    snwFree(context, improver.vertexTets);
    snwFree(context, improver.scores);
    return enough ? snw_ok : snwFailMemory(message);
}
