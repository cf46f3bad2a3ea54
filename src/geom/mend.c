// Surfaces as artists make them become surfaces of which the inside can be asked for: welded, without flat and double
// triangles, and with patches that face the wrong way turned. What was done is counted for the report.

#include "geom/mend.h"

#include "base/pieces.h"
#include "base/sort.h"
#include "geom/weld.h"
#include "geom/winding.h"
#include "math/vec.h"

#include <math.h>

enum
{
    snw_maxCavityTests = 256 // pieces that face inwards and may be cavities; further ones are turned
};

// Triangles that hang together over edges of exactly two: they agree about outward once the turned ones are turned.
typedef struct Piece
{
    double volume;       // m^3, as the triangles face, with its rims closed by fans
    double area;         // m^2
    snwVec3 rim;         // the middle of its open edges
    int rimCount, first; // first: its lowest triangle
    bool turn;
} Piece;

typedef struct Mender
{
    snwContext* context;
    snwArena work;
    const snwMendDef* def;
    snwMend* mend;
    snwMessage* message;
    Piece* pieces;
    int pieceCount;
    int* pieceOf;          // of triangles
    int *firsts, *members; // triangles of each piece
} Mender;

snwMendDef snwDefaultMendDef(void)
{
    return (snwMendDef){.weldTolerance = 0};
}

static snwResult CheckFaces(const snwFaces* faces, snwMessage* message)
{
    if (faces->triangleCount < 1 || faces->vertexCount < 1 || faces->triangles == NULL || faces->vertices == NULL)
        return snwFail(message, snw_errorInput, NULL, "there are no triangles");
    for (int i = 0; i < faces->vertexCount; ++i)
        if (!snwVec3_IsWithin(faces->vertices[i], 1e12))
            return snwFail(message, snw_errorInput, NULL, "vertex %d is not finite or too far away", i);
    for (int i = 0; i < faces->triangleCount; ++i)
        for (int k = 0; k < 3; ++k)
            if (faces->triangles[i][k] < 0 || faces->triangles[i][k] >= faces->vertexCount)
                return snwFail(message, snw_errorInput, NULL, "triangle %d names vertex %d of %d", i,
                    faces->triangles[i][k], faces->vertexCount);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Welding, and what is left out

static snwResult WeldFaces(Mender* m, snwArena* arena)
{
    const snwFaces* faces = &m->def->faces;
    snwWeldDef def = {faces->vertices, faces->vertexCount, NULL, m->def->weldTolerance};
    snwWeld weld;
    snwResult result = snwWeldVertices(arena, &def, &weld, m->message);

    if (result < 0)
        return result;
    m->mend->map = weld.map;
    m->mend->vertexCount = weld.count;

    // Vertices and triangles of the welded surface; `sources` leads back to the given ones.
    m->mend->vertices = snwArena_Alloc(arena, (size_t)weld.count, sizeof *m->mend->vertices);
    m->mend->triangles = snwArena_Alloc(arena, (size_t)faces->triangleCount, sizeof *m->mend->triangles);
    m->mend->sources = snwArena_Alloc(arena, (size_t)faces->triangleCount, sizeof *m->mend->sources);
    if (arena->failed)
        return snwFailMemory(m->message);
    for (int i = 0; i < weld.count; ++i)
        m->mend->vertices[i] = faces->vertices[weld.sources[i]];
    for (int i = 0; i < 3 * faces->triangleCount; ++i)
        m->mend->triangles[i / 3][i % 3] = weld.map[faces->triangles[i / 3][i % 3]];
    m->mend->triangleCount = faces->triangleCount;

    return result;
}

static snwResult SurveyMend(Mender* m, snwArena* arena, bool crossings, snwSurvey* survey)
{
    const snwMend* mend = m->mend;
    snwSurveyDef def = {
        mend->vertices, mend->vertexCount, (const int(*)[3])mend->triangles, mend->triangleCount, crossings};
    return snwSurveySurface(arena, &def, survey, m->message);
}

static void TurnTriangle(int triangle[3])
{
    int swap = triangle[1];
    triangle[1] = triangle[2];
    triangle[2] = swap;
}

static void LeaveOutTriangles(snwMend* mend)
{
    int kept = 0;

    // Flat triangles and doubles go; those turned against their neighbours are turned round.
    for (int i = 0; i < mend->triangleCount; ++i)
    {
        uint8_t marks = mend->before.marks[i];
        mend->flatCount += (marks & snw_markFlat) != 0;
        mend->doubleCount += (marks & (snw_markFlat | snw_markDouble)) == snw_markDouble;
        if (marks & (snw_markFlat | snw_markDouble))
            continue;
        int* t = mend->triangles[kept];
        for (int k = 0; k < 3; ++k)
            t[k] = mend->triangles[i][k];
        if (marks & snw_markTurned)
            TurnTriangle(t);
        mend->turnedCount += (marks & snw_markTurned) != 0;
        mend->sources[kept++] = i;
    }
    mend->triangleCount = kept;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pieces

typedef struct Sides
{
    uint64_t* keys;
    int* sides; // 3 triangle + corner, sorted by edge
    int count;
} Sides;

static bool SortMendSides(Mender* m, Sides* sides)
{
    const snwMend* mend = m->mend;
    sides->count = 3 * mend->triangleCount;
    sides->keys = snwArena_Alloc(&m->work, (size_t)sides->count, sizeof *sides->keys);
    sides->sides = snwArena_Alloc(&m->work, (size_t)sides->count, sizeof *sides->sides);
    if (m->work.failed)
        return false;
    for (int i = 0; i < sides->count; ++i)
    {
        uint64_t a = (uint64_t)mend->triangles[i / 3][i % 3], b = (uint64_t)mend->triangles[i / 3][(i % 3 + 1) % 3];
        sides->keys[i] = a < b ? a << 32 | b : b << 32 | a;
        sides->sides[i] = i;
    }
    return snwSortKeys(m->context, sides->keys, sides->sides, sides->count);
}

static int EndOfSides(const Sides* sides, int first)
{
    int end = first + 1;
    while (end < sides->count && sides->keys[end] == sides->keys[first])
        end++;
    return end;
}

// Numbers the pieces by their lowest triangles.
static bool NumberPieces(Mender* m, const Sides* sides)
{
    int count = m->mend->triangleCount;
    int* parents = snwArena_Alloc(&m->work, (size_t)count, sizeof *parents);
    m->pieceOf = snwArena_Alloc(&m->work, (size_t)count, sizeof *m->pieceOf);
    if (m->work.failed)
        return false;

    // Over edges of exactly two triangles.
    for (int i = 0; i < count; ++i)
        parents[i] = i;

    for (int first = 0, end; first < sides->count; first = end)
    {
        end = EndOfSides(sides, first);
        if (end - first == 2)
            snwPieces_Join(parents, sides->sides[first] / 3, sides->sides[first + 1] / 3);
    }

    for (int i = 0; i < count; ++i)
    {
        int root = snwPieces_Root(parents, i);
        m->pieceOf[i] = root == i ? m->pieceCount++ : m->pieceOf[root];
    }

    // Triangles listed by piece, counted first.
    m->pieces = snwArena_Alloc(&m->work, (size_t)m->pieceCount, sizeof *m->pieces);
    m->firsts = snwArena_Alloc(&m->work, (size_t)m->pieceCount + 2, sizeof *m->firsts);
    m->members = snwArena_Alloc(&m->work, (size_t)count, sizeof *m->members);
    if (m->work.failed)
        return false;
    for (int i = 0; i < count; ++i)
        m->firsts[m->pieceOf[i] + 2]++;
    for (int i = 0; i < m->pieceCount; ++i)
        m->firsts[i + 2] += m->firsts[i + 1];
    for (int i = 0; i < count; ++i)
        m->members[m->firsts[m->pieceOf[i] + 1]++] = i;

    return true;
}

static snwVec3 MendAreaVector(const snwMend* mend, int triangle)
{
    const int* t = mend->triangles[triangle];
    snwVec3 a = mend->vertices[t[0]];
    return snwVec3_Scale(
        snwVec3_Cross(snwVec3_Sub(mend->vertices[t[1]], a), snwVec3_Sub(mend->vertices[t[2]], a)), 0.5);
}

// The volume about the middle of the rim: as if a fan from there closed it.
static void MeasurePieces(Mender* m, const Sides* sides)
{
    const snwMend* mend = m->mend;

    // The middle of the open rim of each piece.
    for (int first = 0, end; first < sides->count; first = end)
    {
        end = EndOfSides(sides, first);
        for (int i = first; i < end && end - first != 2; ++i)
        {
            int side = sides->sides[i];
            Piece* piece = &m->pieces[m->pieceOf[side / 3]];
            piece->rim = snwVec3_Add(piece->rim, mend->vertices[mend->triangles[side / 3][side % 3]]);
            piece->rimCount++;
        }
    }

    // A closed piece may count from any point: its first one.
    for (int i = 0; i < m->pieceCount; ++i)
    {
        Piece* piece = &m->pieces[i];
        piece->first = m->members[m->firsts[i]];
        piece->rim = piece->rimCount > 0 ? snwVec3_Scale(piece->rim, 1.0 / piece->rimCount)
                                         : mend->vertices[mend->triangles[piece->first][0]];

        for (int k = m->firsts[i]; k < m->firsts[i + 1]; ++k)
        {
            snwVec3 area = MendAreaVector(mend, m->members[k]);
            snwVec3 arm = snwVec3_Sub(mend->vertices[mend->triangles[m->members[k]][0]], piece->rim);
            piece->volume += snwVec3_Dot(arm, area) / 3;
            piece->area += snwVec3_Length(area);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Which pieces face the wrong way

// How often the piece alone goes round the point (van Oosterom and Strackee 1983).
static double PieceWinding(const Mender* m, int piece, snwVec3 point)
{
    double sum = 0;
    for (int k = m->firsts[piece]; k < m->firsts[piece + 1]; ++k)
    {
        const int* t = m->mend->triangles[m->members[k]];
        snwVec3 a = snwVec3_Sub(m->mend->vertices[t[0]], point), b = snwVec3_Sub(m->mend->vertices[t[1]], point);
        snwVec3 c = snwVec3_Sub(m->mend->vertices[t[2]], point);
        double x = snwVec3_Length(a), y = snwVec3_Length(b), z = snwVec3_Length(c);
        double below = x * y * z + snwVec3_Dot(a, b) * z + snwVec3_Dot(b, c) * x + snwVec3_Dot(c, a) * y;
        double triple = snwVec3_Dot(a, snwVec3_Cross(b, c));
        sum += triple != 0 ? atan2(triple, below) : 0;
    }
    return sum / (2 * SNW_PI);
}

// Inside of others it may be a cavity and stays as it is. The others may face wrongly themselves: either sign counts.
static bool IsInsideOfOthers(const Mender* m, const snwSoup* soup, int piece)
{
    const int* t = m->mend->triangles[m->pieces[piece].first];
    const snwVec3* v = m->mend->vertices;
    snwVec3 point = snwVec3_Scale(snwVec3_Add(snwVec3_Add(v[t[0]], v[t[1]]), v[t[2]]), 1.0 / 3);
    return fabs(snwSoup_Winding(soup, point) - PieceWinding(m, piece, point)) > 0.5;
}

static bool FacesInwards(const Piece* piece)
{
    return piece->volume < -1e-6 * piece->area * sqrt(piece->area);
}

static snwResult FindWrongPieces(Mender* m)
{
    int inwards = 0, tests = 0;
    for (int i = 0; i < m->pieceCount; ++i)
        inwards += FacesInwards(&m->pieces[i]);
    if (inwards == 0)
        return snw_ok;
    snwSoup* soup = NULL;
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = m->mend->vertices, def.vertexCount = m->mend->vertexCount;
    def.triangles = (const int(*)[3])m->mend->triangles, def.triangleCount = m->mend->triangleCount;
    snwResult result = snwCreateSoup(m->context, &def, &soup, m->message);
    for (int i = 0; i < m->pieceCount && result >= 0; ++i)
        if (FacesInwards(&m->pieces[i]))
            m->pieces[i].turn = tests++ >= snw_maxCavityTests || !IsInsideOfOthers(m, soup, i);
    snwDestroySoup(soup);
    return result;
}

static snwResult TurnPieces(Mender* m)
{
    Sides sides;
    if (!SortMendSides(m, &sides) || !NumberPieces(m, &sides))
        return snwFailMemory(m->message);
    MeasurePieces(m, &sides);
    snwResult result = FindWrongPieces(m);
    for (int i = 0; i < m->mend->triangleCount && result >= 0; ++i)
        if (m->pieces[m->pieceOf[i]].turn)
        {
            bool again = (m->mend->before.marks[m->mend->sources[i]] & snw_markTurned) != 0;
            TurnTriangle(m->mend->triangles[i]);
            m->mend->turnedCount += again ? -1 : 1; // twice turned is as given
        }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult MendFaces(Mender* m, snwArena* arena)
{
    snwMend* mend = m->mend;
    snwResult result = CheckFaces(&m->def->faces, m->message);
    result = result < 0 ? result : WeldFaces(m, arena);
    result = result < 0 ? result : SurveyMend(m, arena, true, &mend->before);
    if (result < 0)
        return result;
    LeaveOutTriangles(mend);
    if (mend->triangleCount == 0)
        return snwFail(m->message, snw_errorInput, "look for a vertex that is very far from all others",
            "no triangle has an area, against the size of all");
    result = TurnPieces(m);
    result = result < 0 ? result : SurveyMend(m, arena, false, &mend->after);
    mend->sound = result >= 0 && snwSurvey_IsSound(&mend->after) && mend->before.crossingTriangles == 0 &&
                  mend->before.uncheckedTriangles == 0;
    return result < 0 ? result : snw_ok;
}

snwResult snwMend_Keep(snwArena* arena, snwMend* mend, const uint8_t* flags, snwMessage* message)
{
    int kept = 0;
    for (int i = 0; i < mend->triangleCount; ++i)
    {
        if (flags[i] == 0)
            continue;
        for (int k = 0; k < 3; ++k)
            mend->triangles[kept][k] = mend->triangles[i][k];
        mend->sources[kept++] = mend->sources[i];
    }
    mend->triangleCount = kept;
    Mender m = {.context = arena->context, .mend = mend, .message = message};
    return SurveyMend(&m, arena, false, &mend->after);
}

snwResult snwMendSurface(snwArena* arena, const snwMendDef* def, snwMend* mend, snwMessage* message)
{
    *mend = (snwMend){0};
    Mender m = {
        .context = arena->context, .work = {.context = arena->context}, .def = def, .mend = mend, .message = message};
    snwResult result = MendFaces(&m, arena);
    snwArena_Free(&m.work);
    return result;
}
