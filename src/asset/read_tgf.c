// libigl's TGF: points, then edges between them, parted by lines that begin with '#'. What follows a second such line
// (faces) nobody uses.
//
// The order of the handles is that of libigl's weights: points that no bone holds, then bones; only these move and have
// a column. Edges without flags are bones, for libigl's own programs take all edges for them (readTGF with two
// results).

#include "asset/rig_parts.h"
#include "asset/scan.h"

#include <stdio.h>
#include <string.h>

typedef struct Tgf
{
    snwScan scan;
    snwAsset* asset;
    int64_t pointLines, edgeLines, otherLines;
} Tgf;

typedef enum Section
{
    snw_tgfPoints,
    snw_tgfEdges,
    snw_tgfFaces,
} Section;

// To the first word of the next line that has one; lines with '#' begin the next section. False at the end.
static bool NextLine(snwScan* scan, Section* section)
{
    while (!snwScan_IsAtEnd(scan))
    {
        if (*scan->next != '#')
            return true;
        *section += *section < snw_tgfFaces;
        snwScan_SkipLine(scan);
    }
    return false;
}

static void CountTgfLines(Tgf* tgf)
{
    snwScan scan = tgf->scan;
    Section section = snw_tgfPoints;
    int64_t counts[3] = {0};
    for (; NextLine(&scan, &section); snwScan_SkipLine(&scan))
        counts[section] += 1;
    tgf->pointLines = counts[snw_tgfPoints];
    tgf->edgeLines = counts[snw_tgfEdges];
    tgf->otherLines = counts[snw_tgfFaces];
}

// ---------------------------------------------------------------------------------------------------------------------
// Lines

static snwResult ReadTgfPoint(Tgf* tgf, int index, snwMessage* message)
{
    snwScan* scan = &tgf->scan;
    int64_t number;
    double values[3] = {0};
    if (!snwWord_ToInt(snwScan_WordInLine(scan), &number))
        return snwScan_FailWith(
            scan, message, "points are lines of a number and x y z", "the number of point %d is missing", index + 1);

    // Flat points leave z out.
    for (int i = 0; i < 3; ++i)
    {
        snwWord word = snwScan_WordInLine(scan);
        if (i == 2 && word.size == 0)
            snwAsset_Note(tgf->asset, snw_noteOdd, "", "points without z lie in the plane z = 0");
        else if (!snwWord_ToReal(word, &values[i]))
            return snwScan_FailWith(scan, message, "points are lines of a number and x y z",
                "%c of point %d is not a finite number", "xyz"[i], index + 1);
    }

    if (number != index + 1)
        snwAsset_Note(tgf->asset, snw_noteOdd, "",
            "the numbers of points do not run 1, 2, 3: edges mean their place in the file");
    tgf->asset->points[index] = (snwVec3){values[0], values[1], values[2]};
    return snw_ok;
}

typedef struct Edge
{
    int a, b;
    bool bone, pseudo, cage;
} Edge;

static snwResult ReadEdgeEnd(Tgf* tgf, int* end, snwMessage* message)
{
    int64_t number;
    if (!snwWord_ToInt(snwScan_WordInLine(&tgf->scan), &number))
        return snwScan_FailWith(
            &tgf->scan, message, "edges are lines of two numbers of points and flags", "an edge has no two points");
    if (number < 1 || number > tgf->asset->pointCount)
        return snwScan_FailWith(&tgf->scan, message, "edges count points from 1",
            "an edge goes to point %lld, and there are %d", (long long)number, tgf->asset->pointCount);
    *end = (int)number - 1;
    return snw_ok;
}

static snwResult ReadEdge(Tgf* tgf, Edge* edge, snwMessage* message)
{
    int64_t flags[3] = {0};
    snwResult result = ReadEdgeEnd(tgf, &edge->a, message);
    if (result >= 0)
        result = ReadEdgeEnd(tgf, &edge->b, message);
    if (result < 0)
        return result;
    if (edge->a == edge->b)
        return snwScan_FailWith(
            &tgf->scan, message, "take the line out", "an edge goes from point %d to itself", edge->a + 1);

    // Flags that are not there are 0; an edge without any is a bone.
    for (int i = 0; i < 3; ++i)
    {
        snwWord word = snwScan_WordInLine(&tgf->scan);
        if (word.size > 0 && !snwWord_ToInt(word, &flags[i]))
            return snwScan_FailWith(&tgf->scan, message, "flags are 0 or 1: bone, pseudo edge, cage edge",
                "a flag of an edge is not a whole number");
    }

    edge->pseudo = flags[1] != 0;
    edge->cage = flags[2] != 0;
    edge->bone = flags[0] != 0 || (!edge->pseudo && !edge->cage);
    if (flags[0] == 0 && edge->bone)
        snwAsset_Note(tgf->asset, snw_noteRepaired, "", "edges that do not say what they are were taken as bones");

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The file

static snwResult CheckLineCounts(const Tgf* tgf, snwMessage* message)
{
    if (tgf->pointLines == 0)
        return snwFail(message, snw_errorInput, "the first lines are points: number x y z", "there are no points");
    if (tgf->pointLines > snw_maxAssetNodes || tgf->edgeLines > snw_maxAssetNodes)
        return snwFail(message, snw_errorInput, NULL, "%lld points and %lld edges are too many: at most %d each",
            (long long)tgf->pointLines, (long long)tgf->edgeLines, snw_maxAssetNodes);
    return snw_ok;
}

static snwResult ReadTgfLines(Tgf* tgf, Edge* edges, snwMessage* message)
{
    Section section = snw_tgfPoints;
    int points = 0, count = 0;
    for (; NextLine(&tgf->scan, &section) && section < snw_tgfFaces; snwScan_SkipLine(&tgf->scan))
    {
        snwResult result = section == snw_tgfPoints ? ReadTgfPoint(tgf, points++, message)
                                                    : ReadEdge(tgf, &edges[count++], message);
        if (result < 0)
            return result;
    }
    if (tgf->otherLines > 0)
        snwAsset_Note(tgf->asset, snw_noteLeftOut, "", "%lld lines behind the edges", (long long)tgf->otherLines);
    return snw_ok;
}

static void PutHandle(snwAsset* asset, snwAssetHandleKind kind, int a, int b)
{
    asset->handles[asset->handleCount++] = (snwAssetHandle){kind, a, b};
}

static void PutHandles(snwAsset* asset, const Edge* edges, int edgeCount, const bool* held)
{
    for (int i = 0; i < asset->pointCount; ++i)
        if (!held[i])
            PutHandle(asset, snw_assetPointHandle, i, -1);
    for (int i = 0; i < edgeCount; ++i)
        if (edges[i].bone)
            PutHandle(asset, snw_assetBoneHandle, edges[i].a, edges[i].b);
    asset->movedHandleCount = asset->handleCount;
    for (int i = 0; i < edgeCount; ++i)
    {
        if (edges[i].pseudo)
            PutHandle(asset, snw_assetPseudoEdge, edges[i].a, edges[i].b);
        if (edges[i].cage)
            PutHandle(asset, snw_assetCageEdge, edges[i].a, edges[i].b);
    }
}

static snwResult MakeHandles(snwAsset* asset, const Edge* edges, int edgeCount, snwMessage* message)
{
    bool* held = snwAsset_Alloc(asset, asset->pointCount, sizeof *held);
    asset->handles = snwAsset_Alloc(asset, asset->pointCount + 3LL * edgeCount, sizeof *asset->handles);
    if (held == NULL || asset->handles == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < edgeCount; ++i)
        if (edges[i].bone)
            held[edges[i].a] = held[edges[i].b] = true;
    PutHandles(asset, edges, edgeCount, held);
    return snw_ok;
}

snwResult snwTgf_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    Tgf tgf = {.scan = snwMakeScan(input->data, input->size, 0), .asset = asset};
    CountTgfLines(&tgf);
    snwResult result = CheckLineCounts(&tgf, message);
    if (result < 0)
        return result;
    asset->points = snwAsset_Alloc(asset, tgf.pointLines, sizeof *asset->points);
    Edge* edges = snwAsset_Alloc(asset, tgf.edgeLines + 1, sizeof *edges);
    if (asset->points == NULL || edges == NULL)
        return snwFailMemory(message);
    asset->pointCount = (int)tgf.pointLines;
    result = ReadTgfLines(&tgf, edges, message);
    return result < 0 ? result : MakeHandles(asset, edges, (int)tgf.edgeLines, message);
}

const snwAssetReader snw_tgfReader = {snw_assetTgf, "libigl handles", ".tgf", snwTgf_Read};
