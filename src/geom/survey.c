// Is a surface closed, does it face one way, does it cross itself, and where not? Sides sorted by edge give open and
// crowded edges, shells, holes and turned triangles; crossings and winding numbers give the rest.

#include "geom/survey.h"

#include "base/pieces.h"
#include "base/sort.h"
#include "geom/crossing.h"
#include "math/vec.h"

#include <stdlib.h>
#include <string.h>

// The sides of all triangles, sorted so that those of one edge stand together.
typedef struct Side
{
    int triangle, corner; // from corner to corner + 1
} Side;

typedef struct Surveyor
{
    snwContext* context;
    snwArena* arena; // of the result
    snwArena work;
    const snwSurveyDef* def;
    snwSurvey* survey;
    Side* sides;
    int sideCount;
    int* parents;       // of triangles: shells
    int* cornerParents; // of corners: fans
    int* shellOf;       // of triangles, by root
    uint8_t* turned;    // relative to the first triangle of its shell
} Surveyor;

static bool CountsAsTriangle(const Surveyor* s, int triangle)
{
    return (s->survey->marks[triangle] & (snw_markFlat | snw_markDouble)) == 0;
}

static int From(const Surveyor* s, Side side)
{
    return s->def->triangles[side.triangle][side.corner];
}

static int To(const Surveyor* s, Side side)
{
    return s->def->triangles[side.triangle][(side.corner + 1) % 3];
}

static uint64_t EdgeKeyOfSide(const Surveyor* s, Side side)
{
    uint64_t a = (uint64_t)From(s, side), b = (uint64_t)To(s, side);
    return a < b ? a << 32 | b : b << 32 | a;
}

// ---------------------------------------------------------------------------------------------------------------------
// Triangles

static snwVec3 SurveyAreaVector(const Surveyor* s, int triangle)
{
    const int* t = s->def->triangles[triangle];
    snwVec3 a = s->def->vertices[t[0]];
    snwVec3 u = snwVec3_Sub(s->def->vertices[t[1]], a), v = snwVec3_Sub(s->def->vertices[t[2]], a);
    return snwVec3_Scale(snwVec3_Cross(u, v), 0.5);
}

// No area to speak of: a height below a billionth of the surface's size.
static bool IsFlat(const Surveyor* s, int triangle)
{
    const int* t = s->def->triangles[triangle];
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
        return true;
    double longest = 0;
    for (int k = 0; k < 3; ++k)
        longest = fmax(longest, snwVec3_Distance(s->def->vertices[t[k]], s->def->vertices[t[(k + 1) % 3]]));
    return 2.0 * snwVec3_Length(SurveyAreaVector(s, triangle)) <= 1e-9 * s->survey->size * longest;
}

static void MarkFlat(Surveyor* s)
{
    for (int i = 0; i < s->def->triangleCount; ++i)
        if (IsFlat(s, i))
        {
            s->survey->marks[i] |= snw_markFlat;
            s->survey->flatTriangles += 1;
        }
}

static void SortedCorners(const int triangle[3], int corners[3])
{
    int a = triangle[0], b = triangle[1], c = triangle[2];
    corners[0] = a < b ? (a < c ? a : c) : (b < c ? b : c);
    corners[2] = a > b ? (a > c ? a : c) : (b > c ? b : c);
    corners[1] = (int)((int64_t)a + b + c - corners[0] - corners[2]);
}

// Sorted by their corners, equal ones are neighbours; the sort is stable, so the first one stays.
static bool MarkDouble(Surveyor* s)
{
    int count = s->def->triangleCount;
    uint64_t* keys = snwArena_Alloc(&s->work, (size_t)count, sizeof *keys);
    int* order = snwArena_Alloc(&s->work, (size_t)count, sizeof *order);
    int corners[3], last[3] = {-1, -1, -1};

    if (s->work.failed)
        return false;
    for (int i = 0; i < count; ++i)
        order[i] = i;

    // Two stable passes sort by three numbers: first the highest, then the two others.
    for (int pass = 0; pass < 2; ++pass)
    {
        for (int i = 0; i < count; ++i)
        {
            SortedCorners(s->def->triangles[order[i]], corners);
            keys[i] = pass == 0 ? (uint64_t)corners[2] : (uint64_t)corners[0] << 32 | (uint64_t)corners[1];
        }
        if (!snwSortKeys(s->context, keys, order, count))
            return false;
    }

    // Where several are equal, all but the first are doubles.
    for (int i = 0; i < count; ++i)
    {
        SortedCorners(s->def->triangles[order[i]], corners);
        if (memcmp(corners, last, sizeof corners) == 0 && (s->survey->marks[order[i]] & snw_markFlat) == 0)
        {
            s->survey->marks[order[i]] |= snw_markDouble;
            s->survey->doubleTriangles += 1;
        }
        memcpy(last, corners, sizeof corners);
    }

    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Edges

static bool SortSurveySides(Surveyor* s)
{
    size_t room = (size_t)s->def->triangleCount * 3;
    Side* sides = snwArena_Alloc(&s->work, room, sizeof *sides);
    s->sides = snwArena_Alloc(&s->work, room, sizeof *s->sides);
    uint64_t* keys = snwArena_Alloc(&s->work, room, sizeof *keys);
    int* order = snwArena_Alloc(&s->work, room, sizeof *order);
    if (s->work.failed)
        return false;

    // A side per corner of all triangles that count.
    for (int i = 0; i < s->def->triangleCount; ++i)
        for (int k = 0; k < 3 && CountsAsTriangle(s, i); ++k)
        {
            Side side = {i, k};
            sides[s->sideCount] = side;
            keys[s->sideCount] = EdgeKeyOfSide(s, side);
            order[s->sideCount] = s->sideCount;
            s->sideCount += 1;
        }

    if (!snwSortKeys(s->context, keys, order, s->sideCount))
        return false;
    for (int i = 0; i < s->sideCount; ++i)
        s->sides[i] = sides[order[i]];
    return true;
}

// The first side behind those of the edge of side `first`.
static int EndOfEdge(const Surveyor* s, int first)
{
    int end = first + 1;
    while (end < s->sideCount && EdgeKeyOfSide(s, s->sides[end]) == EdgeKeyOfSide(s, s->sides[first]))
        end += 1;
    return end;
}

static int CornerAt(const Surveyor* s, int triangle, int vertex)
{
    for (int k = 0; k < 3; ++k)
        if (s->def->triangles[triangle][k] == vertex)
            return 3 * triangle + k;
    return 3 * triangle;
}

static void JoinOverEdge(Surveyor* s, int first, int end)
{
    int a = From(s, s->sides[first]), b = To(s, s->sides[first]), t = s->sides[first].triangle;
    for (int i = first + 1; i < end; ++i)
    {
        int other = s->sides[i].triangle;
        snwPieces_Join(s->parents, t, other);
        snwPieces_Join(s->cornerParents, CornerAt(s, t, a), CornerAt(s, other, a));
        snwPieces_Join(s->cornerParents, CornerAt(s, t, b), CornerAt(s, other, b));
    }
}

static void WalkEdges(Surveyor* s)
{
    snwSurvey* survey = s->survey;
    for (int first = 0, end; first < s->sideCount; first = end)
    {
        end = EndOfEdge(s, first);
        survey->edgeCount += 1;
        JoinOverEdge(s, first, end);
        if (end - first == 2)
            continue;
        bool open = end - first == 1;
        *(open ? &survey->openEdges : &survey->crowdedEdges) += 1;
        survey->edges[survey->markedEdgeCount++] = (snwMarkedEdge){
            From(s, s->sides[first]), To(s, s->sides[first]), open ? snw_edgeOpen : snw_edgeCrowded};
    }
}

// A vertex is pinched if its corners belong to more than one fan.
static bool CountVertices(Surveyor* s)
{
    int* fans = snwArena_Alloc(&s->work, (size_t)s->def->vertexCount, sizeof *fans);
    uint8_t* used = snwArena_Alloc(&s->work, (size_t)s->def->vertexCount, 1);
    if (s->work.failed)
        return false;
    for (int i = 0; i < 3 * s->def->triangleCount; ++i)
    {
        int vertex = s->def->triangles[i / 3][i % 3];
        used[vertex] = 1;
        fans[vertex] += CountsAsTriangle(s, i / 3) && snwPieces_Root(s->cornerParents, i) == i;
    }
    for (int i = 0; i < s->def->vertexCount; ++i)
    {
        s->survey->pinchedVertices += fans[i] > 1;
        s->survey->looseVertices += !used[i];
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Shells

static int CompareShells(const void* a, const void* b)
{
    const snwSurveyShell *x = a, *y = b;
    if (x->triangleCount != y->triangleCount)
        return x->triangleCount < y->triangleCount ? 1 : -1;
    return x->firstTriangle < y->firstTriangle ? -1 : 1;
}

static double SignedVolume(const Surveyor* s, int triangle)
{
    // About the middle of the bounds, so that a small body far away keeps its digits.
    snwVec3 centre = snwVec3_Lerp(s->survey->lower, s->survey->upper, 0.5);
    snwVec3 arm = snwVec3_Sub(s->def->vertices[s->def->triangles[triangle][0]], centre);
    return snwVec3_Dot(arm, SurveyAreaVector(s, triangle)) / 3.0;
}

static bool GatherShells(Surveyor* s)
{
    snwSurvey* survey = s->survey;
    int count = s->def->triangleCount;

    // A shell per root; roots are the lowest triangles, so shells come in the triangles' order.
    for (int i = 0; i < count; ++i)
        survey->shellCount += CountsAsTriangle(s, i) && snwPieces_Root(s->parents, i) == i;
    survey->shells = snwArena_Alloc(s->arena, (size_t)survey->shellCount + 1, sizeof *survey->shells);
    if (survey->shells == NULL)
        return false;
    int next = 0;

    for (int i = 0; i < count; ++i)
    {
        if (!CountsAsTriangle(s, i))
            continue;
        int root = snwPieces_Root(s->parents, i); // the lowest of its shell, so met first
        if (root == i)
        {
            survey->shells[next] = (snwSurveyShell){.firstTriangle = i, .consistent = true};
            s->shellOf[i] = next++;
        }

        snwSurveyShell* shell = &survey->shells[s->shellOf[root]];
        shell->triangleCount += 1;
        shell->area += snwVec3_Length(SurveyAreaVector(s, i));
        shell->volume += SignedVolume(s, i);
    }

    return true;
}

static snwSurveyShell* ShellOf(const Surveyor* s, int triangle)
{
    return &s->survey->shells[s->shellOf[snwPieces_Root(s->parents, triangle)]];
}

// Two triangles of an edge agree if they go along it in opposite directions.
static bool Disagree(const Surveyor* s, Side a, Side b)
{
    return From(s, a) == From(s, b);
}

// For every side the other one of its edge; -1 where there is none or more than one.
static int* PairSides(Surveyor* s)
{
    int* pairs = snwArena_Alloc(&s->work, (size_t)s->def->triangleCount * 3, sizeof *pairs);
    if (pairs == NULL)
        return NULL;
    memset(pairs, -1, (size_t)s->def->triangleCount * 3 * sizeof *pairs);

    // Two sides of an edge are a pair; a side alone is an open edge.
    for (int first = 0, end; first < s->sideCount; first = end)
    {
        end = EndOfEdge(s, first);
        Side a = s->sides[first], b = s->sides[end - 1];
        if (end - first == 2)
        {
            pairs[3 * a.triangle + a.corner] = 3 * b.triangle + b.corner;
            pairs[3 * b.triangle + b.corner] = 3 * a.triangle + a.corner;
        }
        else if (end - first == 1)
            ShellOf(s, a.triangle)->openEdges += 1;
    }

    return pairs;
}

// Spreads "turned or not" from the first triangle of each piece over the paired sides; a piece ends at crowded edges.
// Then the fewer of both kinds are the turned ones. A side whose ends disagree in the end is a twist.
typedef struct Piece
{
    int first, count, turned; // triangles in the queue
    bool twisted;
} Piece;

static Piece SpreadPiece(Surveyor* s, const int* pairs, uint8_t* seen, int* queue, int start)
{
    Piece piece = {start, 1, 0, false};
    queue[0] = start;
    seen[start] = 1;

    // Breadth first. Turned if the neighbour is not, and the two disagree.
    for (int at = 0; at < piece.count; ++at)
        for (int k = 0, t = queue[at]; k < 3; ++k)
        {
            int pair = pairs[3 * t + k];
            if (pair < 0)
                continue;
            Side a = {t, k}, b = {pair / 3, pair % 3};
            uint8_t turned = s->turned[t] ^ (uint8_t)Disagree(s, a, b);
            if (!seen[b.triangle])
            {
                seen[b.triangle] = 1;
                s->turned[b.triangle] = turned;
                piece.turned += turned;
                queue[piece.count++] = b.triangle;
            }
            else
                piece.twisted = piece.twisted || s->turned[b.triangle] != turned;
        }

    return piece;
}

static bool FindTurned(Surveyor* s)
{
    int count = s->def->triangleCount;
    int* pairs = PairSides(s);
    int* queue = snwArena_Alloc(&s->work, (size_t)count, sizeof *queue);
    uint8_t* seen = snwArena_Alloc(&s->work, (size_t)count, 1);

    if (s->work.failed)
        return false;

    // Piece by piece: the fewer of both kinds are the turned ones.
    for (int i = 0; i < count; ++i)
    {
        if (seen[i] || !CountsAsTriangle(s, i))
            continue;
        Piece piece = SpreadPiece(s, pairs, seen, queue, i);
        bool most = 2 * piece.turned > piece.count;
        s->survey->twistedShells += piece.twisted;
        if (piece.turned > 0)
            ShellOf(s, i)->consistent = false;

        for (int k = 0; k < piece.count; ++k)
            if ((s->turned[queue[k]] != 0) != most)
            {
                s->survey->marks[queue[k]] |= snw_markTurned;
                s->survey->turnedTriangles += 1;
            }
    }

    return true;
}

// How often the other shells go round a point, exactly: 1 inside of one, 0 outside.
static double WindingOfOthers(const Surveyor* s, int root, snwVec3 point)
{
    double sum = 0.0;
    for (int i = 0; i < s->def->triangleCount; ++i)
    {
        if (!CountsAsTriangle(s, i) || snwPieces_Root(s->parents, i) == root)
            continue;
        const int* t = s->def->triangles[i];
        snwVec3 a = snwVec3_Sub(s->def->vertices[t[0]], point), b = snwVec3_Sub(s->def->vertices[t[1]], point),
                c = snwVec3_Sub(s->def->vertices[t[2]], point);
        double x = snwVec3_Length(a), y = snwVec3_Length(b), z = snwVec3_Length(c);
        double below = x * y * z + snwVec3_Dot(a, b) * z + snwVec3_Dot(b, c) * x + snwVec3_Dot(c, a) * y;
        sum += 2.0 * atan2(snwVec3_Dot(a, snwVec3_Cross(b, c)), below); // van Oosterom and Strackee 1983
    }
    return sum / (4.0 * SNW_PI);
}

// Closed shells that face inwards: cavities if another shell is around them, else inside out. Only the largest few are
// looked at so closely; each costs a walk over all triangles.
static void FindInsideOut(Surveyor* s)
{
    snwSurvey* survey = s->survey;
    for (int i = 0, looked = 0; i < survey->shellCount; ++i)
    {
        snwSurveyShell* shell = &survey->shells[i];
        if (shell->openEdges > 0 || !shell->consistent || shell->volume >= 0)
            continue;
        int corner = s->def->triangles[shell->firstTriangle][0];
        shell->insideOut = looked++ >= 64 || WindingOfOthers(s, snwPieces_Root(s->parents, shell->firstTriangle),
                                                 s->def->vertices[corner]) < 0.5;
    }
    for (int i = 0; i < s->def->triangleCount; ++i)
        if (CountsAsTriangle(s, i) && ShellOf(s, i)->insideOut)
            survey->marks[i] |= snw_markInsideOut;
}

// ---------------------------------------------------------------------------------------------------------------------
// Holes

static int CompareHoles(const void* a, const void* b)
{
    const snwHole *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? 1 : -1;
    return (x->centre.x > y->centre.x) - (x->centre.x < y->centre.x);
}

static bool GatherHoles(Surveyor* s)
{
    snwSurvey* survey = s->survey;
    int* parents = snwArena_Alloc(&s->work, (size_t)s->def->vertexCount, sizeof *parents);
    int* holeOf = snwArena_Alloc(&s->work, (size_t)s->def->vertexCount, sizeof *holeOf);
    snwVec3* areas = snwArena_Alloc(&s->work, (size_t)survey->openEdges + 1, sizeof *areas);
    snwVec3 middle = snwVec3_Lerp(survey->lower, survey->upper, 0.5);

    survey->holes = snwArena_Alloc(s->arena, (size_t)survey->openEdges + 1, sizeof *survey->holes);
    if (s->work.failed || survey->holes == NULL)
        return false;

    // Open edges that meet belong to one hole.
    for (int i = 0; i < s->def->vertexCount; ++i)
        parents[i] = i, holeOf[i] = -1;
    for (int i = 0; i < survey->markedEdgeCount; ++i)
        if (survey->edges[i].mark == snw_edgeOpen)
            snwPieces_Join(parents, survey->edges[i].a, survey->edges[i].b);

    // Length, middle and area of each; the area by the cross products of its edges.
    for (int i = 0; i < survey->markedEdgeCount; ++i)
    {
        if (survey->edges[i].mark != snw_edgeOpen)
            continue;
        int root = snwPieces_Root(parents, survey->edges[i].a);
        if (holeOf[root] < 0)
            holeOf[root] = survey->holeCount++;
        snwHole* hole = &survey->holes[holeOf[root]];
        snwVec3 a = s->def->vertices[survey->edges[i].a], b = s->def->vertices[survey->edges[i].b];
        hole->edgeCount += 1;
        hole->length += snwVec3_Distance(a, b);
        hole->centre = snwVec3_Add(hole->centre, snwVec3_Lerp(a, b, 0.5));

        // about the middle of the bounds: the rim is closed, so any point would do, but a near one keeps the digits
        areas[holeOf[root]] = snwVec3_MulAdd(
            areas[holeOf[root]], 0.5, snwVec3_Cross(snwVec3_Sub(a, middle), snwVec3_Sub(b, middle)));
    }

    for (int i = 0; i < survey->holeCount; ++i)
    {
        survey->holes[i].centre = snwVec3_Scale(survey->holes[i].centre, 1.0 / survey->holes[i].edgeCount);
        survey->holes[i].area = snwVec3_Length(areas[i]);
    }

    qsort(survey->holes, (size_t)survey->holeCount, sizeof *survey->holes, CompareHoles);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------

static bool PrepareSurvey(Surveyor* s)
{
    const snwSurveyDef* def = s->def;
    size_t triangles = (size_t)def->triangleCount;
    s->survey->marks = snwArena_Alloc(s->arena, triangles + 1, 1);
    s->survey->edges = snwArena_Alloc(s->arena, triangles * 3 + 1, sizeof *s->survey->edges);
    s->parents = snwArena_Alloc(&s->work, triangles + 1, sizeof(int));
    s->shellOf = snwArena_Alloc(&s->work, triangles + 1, sizeof(int));
    s->turned = snwArena_Alloc(&s->work, triangles + 1, 1);
    s->cornerParents = snwArena_Alloc(&s->work, triangles * 3 + 1, sizeof(int));
    if (s->work.failed || s->arena->failed)
        return false;
    for (int i = 0; i < def->triangleCount; ++i)
        s->parents[i] = i;
    for (int i = 0; i < 3 * def->triangleCount; ++i)
        s->cornerParents[i] = i;
    return true;
}

static void MeasureSurvey(Surveyor* s)
{
    snwSurvey* survey = s->survey;
    const snwSurveyDef* def = s->def;
    survey->vertexCount = def->vertexCount;
    survey->triangleCount = def->triangleCount;
    survey->lower = survey->upper = def->vertexCount > 0 ? def->vertices[0] : (snwVec3){0, 0, 0};
    for (int i = 1; i < def->vertexCount; ++i)
    {
        survey->lower = snwVec3_Min(survey->lower, def->vertices[i]);
        survey->upper = snwVec3_Max(survey->upper, def->vertices[i]);
    }
    survey->size = snwVec3_Distance(survey->lower, survey->upper);
}

static snwResult FindCrossings(Surveyor* s, snwMessage* message)
{
    snwCrossingDef def = {s->def->vertices, s->def->vertexCount, s->def->triangles, s->def->triangleCount};
    snwCrossings crossings;
    uint8_t* marks = snwArena_Alloc(&s->work, (size_t)def.triangleCount + 1, 1);
    if (marks == NULL)
        return snwFailMemory(message);
    snwResult result = snwFindCrossings(s->context, &def, marks, &crossings, message);
    if (result < 0)
        return result;
    for (int i = 0; i < def.triangleCount; ++i)
        s->survey->marks[i] |= marks[i] ? snw_markCrossing : 0;
    s->survey->crossingTriangles = crossings.triangleCount;
    s->survey->crossingPairs = crossings.pairCount;
    s->survey->uncheckedTriangles = crossings.uncheckedCount;
    s->survey->crossingsKnown = true;
    return result;
}

static bool LookAtTopology(Surveyor* s)
{
    MarkFlat(s);
    if (!MarkDouble(s) || !SortSurveySides(s))
        return false;
    WalkEdges(s);
    if (!CountVertices(s) || !GatherShells(s) || !FindTurned(s) || !GatherHoles(s))
        return false;
    FindInsideOut(s);
    for (int i = 0; i < s->survey->shellCount; ++i)
    {
        s->survey->area += s->survey->shells[i].area;
        s->survey->volume += s->survey->shells[i].volume;
    }
    qsort(s->survey->shells, (size_t)s->survey->shellCount, sizeof *s->survey->shells, CompareShells);
    return true;
}

snwResult snwSurveySurface(snwArena* arena, const snwSurveyDef* def, snwSurvey* survey, snwMessage* message)
{
    Surveyor s = {
        .context = arena->context, .arena = arena, .work = {.context = arena->context}, .def = def, .survey = survey};
    *survey = (snwSurvey){0};
    MeasureSurvey(&s);
    snwResult result = PrepareSurvey(&s) && LookAtTopology(&s) ? snw_ok : snwFailMemory(message);
    if (result >= 0 && def->crossings)
        result = FindCrossings(&s, message);
    snwArena_Free(&s.work);
    return result;
}

bool snwSurvey_IsSound(const snwSurvey* survey)
{
    for (int i = 0; i < survey->shellCount; ++i)
        if (survey->shells[i].insideOut)
            return false;
    return survey->shellCount > 0 && survey->openEdges == 0 && survey->crowdedEdges == 0 &&
           survey->pinchedVertices == 0 && survey->turnedTriangles == 0 && survey->flatTriangles == 0 &&
           survey->doubleTriangles == 0 && survey->crossingTriangles == 0 && survey->uncheckedTriangles == 0;
}
