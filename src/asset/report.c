// What a survey found, in the words of someone who has to repair it.

#include "asset/surfaces.h"

#include "math/vec.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct Lines
{
    snwReportLine* lines;
    int count;
} Lines;

__attribute__((format(printf, 4, 5))) static void Add(
    Lines* lines, snwVerdict verdict, const char* remedy, const char* format, ...)
{
    if (lines->count == snw_maxReportLines)
        return;
    snwReportLine* line = &lines->lines[lines->count++];
    va_list list;
    va_start(list, format);
    vsnprintf(line->text, sizeof line->text, format, list);
    va_end(list);
    snprintf(line->remedy, sizeof line->remedy, "%s", remedy);
    line->verdict = verdict;
}

static const char* Plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static void DescribeHoles(Lines* lines, const snwSurvey* survey, const char* unit)
{
    if (survey->openEdges == 0)
        return;
    const snwHole* hole = &survey->holes[0];
    Add(lines, snw_verdictLook, "close large holes in the modeller; the lattice mesher closes small ones",
        "%d hole%s with %d open edge%s; the longest rim is %.3g%s%s round, near (%.3g, %.3g, %.3g)", survey->holeCount,
        Plural(survey->holeCount), survey->openEdges, Plural(survey->openEdges), hole->length, unit[0] != 0 ? " " : "",
        unit, hole->centre.x, hole->centre.y, hole->centre.z);
}

static void DescribeOrientation(Lines* lines, const snwSurvey* survey)
{
    int insideOut = 0;
    for (int i = 0; i < survey->shellCount; ++i)
        insideOut += survey->shells[i].insideOut;
    if (insideOut > 0)
        Add(lines, snw_verdictLook, "flip the normals of what is blue in the picture", "%d of %d shell%s inside out",
            insideOut, survey->shellCount, survey->shellCount == 1 ? " is" : "s are");
    if (survey->turnedTriangles > 0)
        Add(lines, snw_verdictLook, "recalculate the normals to face outwards",
            "%d triangle%s the other way than the neighbours", survey->turnedTriangles,
            survey->turnedTriangles == 1 ? " faces" : "s face");
    if (survey->twistedShells > 0)
        Add(lines, snw_verdictTrouble, "cut it open along the twist",
            "%d piece%s without an outside, like a Moebius strip", survey->twistedShells,
            survey->twistedShells == 1 ? " is" : "s are");
}

static void DescribeManifold(Lines* lines, const snwSurvey* survey)
{
    if (survey->crowdedEdges > 0)
        Add(lines, snw_verdictTrouble, "remove inner faces, or let the lattice mesher take the outline",
            "%d edge%s more than two triangles (not manifold)", survey->crowdedEdges,
            survey->crowdedEdges == 1 ? " has" : "s have");
    if (survey->pinchedVertices > 0)
        Add(lines, snw_verdictLook, "split the vertex, or join the parts with faces",
            "%d place%s where parts touch in a single point", survey->pinchedVertices, Plural(survey->pinchedVertices));
    if (survey->doubleTriangles > 0)
        Add(lines, snw_verdictLook, "remove doubled faces", "%d triangle%s twice", survey->doubleTriangles,
            survey->doubleTriangles == 1 ? " is there" : "s are there");
    if (survey->flatTriangles > 0)
        Add(lines, snw_verdictLook, "merge vertices by distance", "%d triangle%s no area", survey->flatTriangles,
            survey->flatTriangles == 1 ? " has" : "s have");
    if (survey->looseVertices > 0)
        Add(lines, snw_verdictLook, "delete loose geometry", "%d %s to no triangle", survey->looseVertices,
            survey->looseVertices == 1 ? "vertex belongs" : "vertices belong");
}

static void DescribeCrossings(Lines* lines, const snwSurvey* survey)
{
    if (survey->crossingTriangles > 0)
        Add(lines, snw_verdictTrouble, "separate or unite the parts; the lattice mesher takes what is inside of any",
            "%d triangle%s cross or touch others (%lld pair%s)", survey->crossingTriangles,
            Plural(survey->crossingTriangles), (long long)survey->crossingPairs, Plural(survey->crossingPairs));
    if (survey->uncheckedTriangles > 0)
        Add(lines, snw_verdictLook, "", "%d triangle%s too crowded to look for crossings", survey->uncheckedTriangles,
            survey->uncheckedTriangles == 1 ? " is" : "s are");
}

static void DescribeWhole(Lines* lines, const snwSurvey* survey, const char* unit)
{
    char volume[48] = "";
    if (survey->openEdges == 0)
        snprintf(volume, sizeof volume, ", volume %.4g%s%s", survey->volume, unit[0] != 0 ? " " : "",
            unit[0] != 0 ? "m^3" : "");
    Add(lines, snw_verdictGood, "", "%s surface of %d shell%s, %d vertices, %d triangles%s",
        survey->openEdges == 0 ? "closed" : "open", survey->shellCount, Plural(survey->shellCount), survey->vertexCount,
        survey->triangleCount, volume);
}

int snwSurvey_Describe(const snwSurvey* survey, const char* unit, snwReportLine lines[snw_maxReportLines])
{
    Lines all = {lines, 0};
    if (survey->triangleCount == 0)
    {
        Add(&all, snw_verdictLook, "", "no triangles");
        return all.count;
    }
    DescribeWhole(&all, survey, unit);
    DescribeCrossings(&all, survey);
    DescribeManifold(&all, survey);
    DescribeOrientation(&all, survey);
    DescribeHoles(&all, survey, unit);
    return all.count;
}

const char* snwVerdict_Name(snwVerdict verdict)
{
    static const char* const names[] = {"good", "look", "trouble"};
    return names[verdict];
}
