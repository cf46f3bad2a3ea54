#include "contact_brute.h"

#include "contact/detect_parts.h"

#include <float.h>

typedef struct Expected
{
    snwHitKind kind;
    double depth; // m, of gaps and crossings
} Expected;

typedef struct Asker
{
    const snwDetectorInput* input;
    const snwPart *part, *other;
    int body, otherBody, vertex;
    snwVec3 from, to;
} Asker;

static snwVec3 At(const float* positions, int stride, int vertex)
{
    const float* p = positions + (size_t)vertex * (size_t)stride;
    return (snwVec3){p[0], p[1], p[2]};
}

static snwFacet FacetAt(const Asker* asker, const float* positions, int facet)
{
    const int* c = asker->other->shell->facets[facet];
    snwFacet at = {.edge = c[2] < 0};
    for (int k = 0; k < (at.edge ? 2 : 3); ++k)
        at.p[k] = At(positions, asker->input->stride, c[k]);
    return at;
}

// Weights from Cramer's rule, another way than the detector's.
static bool Contains(const snwVec3 c[4], bool flat, snwVec3 p)
{
    snwVec3 last = flat ? (snwVec3){0, 0, 1} : snwVec3_Sub(c[3], c[0]);
    snwMat3 columns = snwMat3_FromColumns(snwVec3_Sub(c[1], c[0]), snwVec3_Sub(c[2], c[0]), last), inverse;
    if (!snwMat3_Inverse(columns, &inverse))
        return false;
    snwVec3 w = snwMat3_MulVec(inverse, snwVec3_Sub(p, c[0]));
    double third = flat ? 0.0 : w.z;
    return w.x >= 0.0 && w.y >= 0.0 && third >= 0.0 && w.x + w.y + third <= 1.0;
}

static bool IsInside(const Asker* asker)
{
    const snwShell* shell = asker->other->shell;
    for (int i = 0; i < shell->elementCount; ++i)
    {
        const int* e = shell->elements[i];
        snwVec3 c[4], rest[4];
        bool corner = false;
        for (int k = 0; k < 4; ++k)
        {
            int vertex = e[k] < 0 ? e[0] : e[k];
            c[k] = At(asker->input->positions[asker->otherBody], asker->input->stride, vertex);
            rest[k] = shell->rest[vertex];
            corner = corner || vertex == asker->vertex;
        }
        if (!Contains(c, shell->flat, asker->to))
            continue;
        bool self = asker->body == asker->otherBody;
        double reach = self ? shell->reach[asker->vertex] : 0.0;
        bool near = self && (corner || (reach > 0.0 && snwElement_Distance(
                                                           rest, shell->flat, shell->rest[asker->vertex]) <= reach));
        if (!near)
            return true;
    }
    return false;
}

static bool FindCrossing(const Asker* asker, double* depth)
{
    const snwShell* shell = asker->other->shell;
    double first = DBL_MAX;
    for (int i = 0; i < shell->facetCount && asker->input->previous != NULL; ++i)
    {
        bool self = asker->body == asker->otherBody;
        if (self && snwShell_RestDistance(shell, asker->vertex, i) <= shell->reach[asker->vertex])
            continue;
        snwFacet before = FacetAt(asker, asker->input->previous[asker->otherBody], i);
        snwFacet now = FacetAt(asker, asker->input->positions[asker->otherBody], i);
        double time;
        if (!snwFacet_Crossed(&before, &now, asker->from, asker->to, &time) || time >= first)
            continue;
        first = time;
        *depth = -snwVec3_Dot(snwFacet_Normal(&now), snwVec3_Sub(asker->to, now.p[0]));
    }
    return first < DBL_MAX;
}

static bool FindGap(const Asker* asker, double* depth)
{
    const snwShell* shell = asker->other->shell;
    double nearest = DBL_MAX;
    for (int i = 0; i < shell->facetCount; ++i)
    {
        snwFacet now = FacetAt(asker, asker->input->positions[asker->otherBody], i);
        bool self = asker->body == asker->otherBody;
        double rest = self ? snwShell_RestDistance(shell, asker->vertex, i) : DBL_MAX;
        double margin = fmin(asker->input->margin, 0.25 * rest);
        snwFacetPoint closest = snwFacet_Closest(&now, asker->to);
        bool outside = snwVec3_Dot(snwVec3_Sub(asker->to, closest.point), snwFacet_Normal(&now)) >= 0.0;
        if (margin > 0.0 && outside && sqrt(closest.squared) <= margin && sqrt(closest.squared) < nearest)
            nearest = sqrt(closest.squared);
    }
    *depth = -nearest;
    return nearest < DBL_MAX;
}

static bool Expect(const Asker* asker, Expected* expected)
{
    *expected = (Expected){.kind = snw_hitCrossed};
    if (FindCrossing(asker, &expected->depth))
        return true;
    expected->kind = snw_hitInside;
    if (IsInside(asker))
        return true;
    expected->kind = snw_hitGap;
    return FindGap(asker, &expected->depth);
}

// The way out ends on the other's skin, where the triangle and its weights say.
static bool LeadsOut(const Asker* asker, const snwOverlap* overlap)
{
    snwVec3 exit = {0, 0, 0};
    double sum = 0.0;
    for (int k = 0; k < 3 && overlap->triangle[k] >= 0; ++k)
    {
        snwVec3 corner = At(asker->input->positions[asker->otherBody], asker->input->stride, overlap->triangle[k]);
        exit = snwVec3_MulAdd(exit, overlap->weights[k], corner);
        sum += overlap->weights[k];
    }
    double slack = 1e-6 * asker->other->shell->edge;
    snwVec3 way = snwVec3_Sub(exit, asker->to);
    return fabs(sum - 1.0) < 1e-9 && fabs(snwVec3_Length(overlap->normal) - 1.0) < 1e-9 &&
           fabs(snwVec3_Dot(overlap->normal, way) - overlap->depth) < slack;
}

static bool Agrees(const Asker* asker, const Expected* expected, const snwOverlap* overlap)
{
    double slack = 1e-6 * asker->other->shell->edge;
    if (!LeadsOut(asker, overlap))
        return false;
    if (expected->kind == snw_hitInside)
        return overlap->depth >= -slack;
    return fabs(overlap->depth - expected->depth) <= slack;
}

static bool IsAsked(const snwPart* part, int vertex)
{
    for (int i = 0; i < part->shell->pointCount; ++i)
        if (part->shell->points[i] == vertex)
            return true;
    return false;
}

snwBruteResult snwCompareWithBrute(
    const snwDetector* detector, const snwDetectorInput* input, const snwOverlap* overlaps, int count)
{
    snwBruteResult result = {0};
    int at = 0;
    for (int body = 0; body < detector->partCount; ++body)
        for (int vertex = 0; vertex < detector->parts[body].shell->vertexCount; ++vertex)
        {
            if (!IsAsked(&detector->parts[body], vertex))
                continue;
            for (int other = 0; other < detector->partCount; ++other)
            {
                const snwPart *part = &detector->parts[body], *otherPart = &detector->parts[other];
                Asker asker = {input, part, otherPart, body, other, vertex, {0, 0, 0},
                    At(input->positions[body], input->stride, vertex)};
                asker.from = input->previous != NULL ? At(input->previous[body], input->stride, vertex) : asker.to;
                Expected expected;
                bool apart = (body == other && !part->self) || part->shell->flat != otherPart->shell->flat;
                bool there = at < count && overlaps[at].body == body && overlaps[at].vertex == vertex &&
                             overlaps[at].otherBody == other;
                bool wanted = !apart && Expect(&asker, &expected);
                result.expected += wanted;
                result.missed += wanted && !there;
                result.extra += !wanted && there;
                result.wrong += wanted && there && !Agrees(&asker, &expected, &overlaps[at]);
                at += there;
            }
        }
    result.extra += count - at; // out of order, or of vertices that nobody asked
    return result;
}
