// TetGen's files, and those of Triangle, which look alike: points (.node), tets or triangles (.ele), faces (.face), and
// the input of both (.poly, .smesh). A record is a line; what is missing at its end has its default. All but .node name
// points by number, and the points may be in a file of the same name beside it.

#include "asset/read_tetgen.h"
#include "asset/scan.h"
#include "base/ending.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct Reader
{
    const snwAssetInput* input;
    snwAsset* asset;
    snwContext* context;
    snwScan scan;
    bool inLine; // the scan stands in a line of which something was read
    int dimension;
    snwDraft draft;
    snwArray(snwAssetSeed) seeds;
    snwArray(snwVec3) facetHoles; // of the facet that is read
    int64_t attributes, oddFacets, lonePoints, curved, roundedLabels;
    int oddFacet; // the first one
} Reader;

// ---------------------------------------------------------------------------------------------------------------------
// Records

// To the next line with something in it; fails if there is none.
static bool BeginRecord(Reader* reader, const char* what)
{
    snwScan* scan = &reader->scan;
    if (scan->failed || reader->draft.failed)
        return false;
    if (reader->inLine)
        snwScan_SkipLine(scan);
    reader->inLine = true;
    if (snwScan_IsAtEnd(scan))
        snwScan_MissEnd(scan, what, "the file ends before it");
    return !scan->failed;
}

static bool HasMore(Reader* reader)
{
    return !reader->scan.failed && snwScan_PeekInLine(&reader->scan).size > 0;
}

static int64_t TakeTetgenInt(Reader* reader, const char* what, int64_t lower, int64_t upper)
{
    if (!HasMore(reader))
        snwScan_MissEnd(&reader->scan, what, "the line ends before it");
    return snwScan_Int(&reader->scan, what, lower, upper);
}

static int64_t TakeIntOr(Reader* reader, const char* what, int64_t lower, int64_t upper, int64_t missing)
{
    return HasMore(reader) ? snwScan_Int(&reader->scan, what, lower, upper) : missing;
}

static double TakeRealOr(Reader* reader, const char* what, double missing)
{
    return HasMore(reader) ? snwScan_Real(&reader->scan, what) : missing;
}

// A count of records with at least `words` words each, so that a lying count costs no memory.
static int TakeCount(Reader* reader, const char* what, int words)
{
    int64_t count = TakeTetgenInt(reader, what, 0, snw_maxAssetVertices);
    if (!reader->scan.failed && count * 2 * words > snwScan_Left(&reader->scan) + 1)
        snwScan_MissEnd(&reader->scan, what, "the file is too short for so many");
    return reader->scan.failed ? 0 : (int)count;
}

// Markers and attributes are labels; TetGen writes attributes as reals.
static int TakeTetgenLabel(Reader* reader, const char* what)
{
    double value = TakeRealOr(reader, what, 0), whole = floor(value + 0.5);
    if (whole < INT_MIN || whole > INT_MAX)
        snwScan_Miss(&reader->scan, what, (snwWord){reader->scan.next, 0}, "it is out of range");
    reader->roundedLabels += whole != value;
    return reader->scan.failed ? 0 : (int)whole;
}

static int TakeTetgenVertex(Reader* reader, const char* what)
{
    return (int)TakeTetgenInt(reader, what, reader->draft.base, INT_MAX) - reader->draft.base;
}

static snwVec3 TakePoint(Reader* reader, const char* what)
{
    snwVec3 point = {0};
    point.x = snwScan_RealInLine(&reader->scan, what);
    point.y = snwScan_RealInLine(&reader->scan, what);
    point.z = reader->dimension == 3 ? snwScan_RealInLine(&reader->scan, what) : 0;
    return point;
}

// ---------------------------------------------------------------------------------------------------------------------
// Points

// The first number tells whether the file counts from 0 or from 1.
static void CheckPointNumber(Reader* reader, int64_t number, int index)
{
    snwScan* scan = &reader->scan;
    if (index == 0 && !scan->failed)
        reader->draft.base = number == 0 ? 0 : 1;
    if (number != (int64_t)index + reader->draft.base)
        snwScan_Miss(scan, "the number of a point", (snwWord){scan->next, 0},
            "points must be numbered one by one, from 0 or from 1");
}

static void ReadTetgenPoint(Reader* reader, int index, int64_t attributes, bool markers)
{
    if (!BeginRecord(reader, "a point"))
        return;
    CheckPointNumber(reader, TakeTetgenInt(reader, "the number of a point", 0, INT_MAX), index);
    snwVec3 point = TakePoint(reader, "a coordinate of a point");
    for (int64_t i = 0; i < attributes && HasMore(reader); ++i)
        TakeRealOr(reader, "an attribute of a point", 0);
    int label = markers ? TakeTetgenLabel(reader, "the marker of a point") : 0;
    if (reader->scan.failed)
        return;
    snwDraft_AddPoint(&reader->draft, point);
    if (!snwArray_Push(reader->context, &reader->draft.vertexLabels, label))
        reader->draft.failed = true;
}

static void ReadTetgenPoints(Reader* reader)
{
    if (!BeginRecord(reader, "the count of points"))
        return;
    int count = TakeCount(reader, "the count of points", 3);
    reader->dimension = (int)TakeIntOr(reader, "the dimension", 2, 3, 3);
    int64_t attributes = TakeIntOr(reader, "the count of attributes", 0, 1000, 0);
    bool markers = TakeIntOr(reader, "whether there are markers", 0, INT_MAX, 0) > 0;
    for (int i = 0; i < count && !reader->scan.failed && !reader->draft.failed; ++i)
        ReadTetgenPoint(reader, i, attributes, markers);
    if (!markers)
        reader->draft.vertexLabels.count = 0;
    reader->attributes += attributes > 0 ? count : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Tets and faces

static void ReadTetgenElement(Reader* reader, int nodes, bool labels, int place)
{
    int corners[10];
    if (!BeginRecord(reader, "an element"))
        return;
    TakeTetgenInt(reader, "the number of an element", INT_MIN, INT_MAX);
    for (int k = 0; k < nodes; ++k)
        corners[k] = TakeTetgenVertex(reader, "a corner of an element");
    int label = labels ? TakeTetgenLabel(reader, "the attribute of an element") : 0;
    if (reader->scan.failed)
        return;
    if (nodes == 4 || nodes == 10)
        snwDraft_AddElement(&reader->draft, &reader->draft.tets, corners, 4, label);
    else
        snwDraft_AddFace(&reader->draft, corners, 3, place, label);
}

static void ReadElements(Reader* reader)
{
    if (!BeginRecord(reader, "the count of elements"))
        return;
    int count = TakeCount(reader, "the count of elements", 4);
    int nodes = (int)TakeIntOr(reader, "the nodes of an element", 3, 10, 4);
    bool labels = TakeIntOr(reader, "the count of attributes", 0, INT_MAX, 0) > 0;
    if (nodes != 3 && nodes != 4 && nodes != 6 && nodes != 10)
        snwScan_Miss(
            &reader->scan, "the nodes of an element", (snwWord){reader->scan.next, 0}, "it is none of 3, 4, 6, 10");
    for (int i = 0; i < count && !reader->scan.failed && !reader->draft.failed; ++i)
        ReadTetgenElement(reader, nodes, labels, i + reader->draft.base);
    reader->curved += nodes == 6 || nodes == 10 ? count : 0;
}

// Number, three corners, three more if the tets are curved, a marker, two tets beside it: only the length of the line
// tells which of them there are.
static void ReadTetgenFace(Reader* reader, bool markers, int place)
{
    int corners[3];
    if (!BeginRecord(reader, "a face"))
        return;

    // Looked at in a copy: the length of the line decides what the numbers are.
    snwScan copy = reader->scan;
    int words = 0;
    while (words < 12 && snwScan_WordInLine(&copy).size > 0)
        words += 1;
    TakeTetgenInt(reader, "the number of a face", INT_MIN, INT_MAX);
    for (int k = 0; k < 3; ++k)
        corners[k] = TakeTetgenVertex(reader, "a corner of a face");
    bool curved = words == 8 || words == 10;
    for (int k = 0; curved && k < 3; ++k)
        TakeTetgenVertex(reader, "a corner of a face");
    int label = markers ? TakeTetgenLabel(reader, "the marker of a face") : 0;
    reader->curved += curved;
    if (!reader->scan.failed)
        snwDraft_AddFace(&reader->draft, corners, 3, place, label);
}

static void ReadTetgenFaces(Reader* reader)
{
    if (!BeginRecord(reader, "the count of faces"))
        return;
    int count = TakeCount(reader, "the count of faces", 4);
    bool markers = TakeIntOr(reader, "whether there are markers", 0, INT_MAX, 0) > 0;
    for (int i = 0; i < count && !reader->scan.failed && !reader->draft.failed; ++i)
        ReadTetgenFace(reader, markers, i + reader->draft.base);
}

// ---------------------------------------------------------------------------------------------------------------------
// Facets, holes, regions

// Corners may go on in the next lines.
static void ReadPolygon(Reader* reader, int facet, int label)
{
    int64_t count = TakeTetgenInt(reader, "the corners of a polygon", 1, snw_maxAssetVertices);
    if (reader->scan.failed)
        return;
    if (count > snwScan_Left(&reader->scan))
        snwScan_MissEnd(&reader->scan, "the corners of a polygon", "the file is too short for them");
    reader->lonePoints += count == 1;
    int ends[2] = {0};
    if (count > 2)
        snwDraft_BeginFace(&reader->draft, facet, label);

    // Two corners are an edge, one is a point, three and more a face.
    for (int64_t i = 0; i < count && !reader->scan.failed && !reader->draft.failed; ++i)
    {
        int base = reader->draft.base;
        int corner = (int)snwScan_Int(&reader->scan, "a corner of a polygon", base, INT_MAX) - base;
        if (count > 2)
            snwDraft_AddCorner(&reader->draft, corner);
        else
            ends[i] = corner;
    }

    if (count == 2 && !reader->scan.failed)
        snwDraft_AddElement(&reader->draft, &reader->draft.edges, ends, 2, label);
}

// One polygon without holes is cut later, as all polygons are.
static void CutFacet(Reader* reader, int firstFace, int place, int label)
{
    int polygons = reader->draft.faces.count - firstFace;
    if (polygons == 0 || (polygons == 1 && reader->facetHoles.count == 0))
        return;
    snwTetgenFacet facet = {firstFace, reader->facetHoles.data, reader->facetHoles.count, place, label};
    snwFacetCut outcome = snwTetgenFacet_Cut(&reader->draft, &facet);
    if (outcome == snw_facetNoMemory)
        reader->draft.failed = true;
    if (outcome == snw_facetOdd && reader->oddFacets++ == 0)
        reader->oddFacet = place;
}

// .poly: polygons that lie in one plane, and points in its holes.
static void ReadFacet(Reader* reader, int facet, bool markers)
{
    if (!BeginRecord(reader, "a facet"))
        return;
    int first = reader->draft.faces.count, polygons = TakeCount(reader, "the polygons of a facet", 1);
    int64_t holes = TakeIntOr(reader, "the holes of a facet", 0, snw_maxAssetVertices, 0);
    int label = markers ? TakeTetgenLabel(reader, "the marker of a facet") : 0;
    for (int i = 0; i < polygons && BeginRecord(reader, "a polygon of a facet"); ++i)
        ReadPolygon(reader, facet, label);
    reader->facetHoles.count = 0;
    for (int64_t i = 0; i < holes && BeginRecord(reader, "a hole of a facet"); ++i)
    {
        TakeTetgenInt(reader, "the number of a hole", INT_MIN, INT_MAX);
        if (!snwArray_Push(reader->context, &reader->facetHoles, TakePoint(reader, "a coordinate of a hole")))
            reader->draft.failed = true;
    }
    if (!reader->scan.failed && !reader->draft.failed)
        CutFacet(reader, first, facet, label);
}

// .smesh: one polygon with its marker at the end.
static void ReadSimpleFacet(Reader* reader, int facet, bool markers)
{
    if (!BeginRecord(reader, "a facet"))
        return;
    int face = reader->draft.faces.count;
    ReadPolygon(reader, facet, 0);
    int label = markers ? TakeTetgenLabel(reader, "the marker of a facet") : 0;
    if (!reader->scan.failed && !reader->draft.failed && reader->draft.faces.count > face)
        reader->draft.faces.data[face].label = label;
}

// The .poly of Triangle, whose plane has no facets.
static void ReadSegment(Reader* reader)
{
    if (!BeginRecord(reader, "a segment"))
        return;
    int ends[2];
    TakeTetgenInt(reader, "the number of a segment", INT_MIN, INT_MAX);
    ends[0] = TakeTetgenVertex(reader, "an end of a segment");
    ends[1] = TakeTetgenVertex(reader, "an end of a segment");
    if (!reader->scan.failed)
        snwDraft_AddElement(&reader->draft, &reader->draft.edges, ends, 2, 0);
}

static bool IsAtEnd(Reader* reader)
{
    snwScan copy = reader->scan;
    if (reader->inLine)
        snwScan_SkipLine(&copy);
    return snwScan_IsAtEnd(&copy);
}

// Holes and regions are lists of points; both may be missing at the end of the file.
static void ReadRegionSeeds(Reader* reader, bool holes)
{
    const char* what = holes ? "the count of holes" : "the count of regions";
    if (reader->scan.failed || reader->draft.failed || IsAtEnd(reader) || !BeginRecord(reader, what))
        return;
    int count = TakeCount(reader, what, 3);
    for (int i = 0; i < count && BeginRecord(reader, holes ? "a hole" : "a region"); ++i)
    {
        TakeTetgenInt(reader, "its number", INT_MIN, INT_MAX);
        snwAssetSeed seed = {
            .point = TakePoint(reader, "a coordinate of a hole or region"), .hole = holes, .maxVolume = -1};
        if (!holes)
            seed.attribute = TakeRealOr(reader, "the attribute of a region", 0);
        if (!holes)
            seed.maxVolume = TakeRealOr(reader, "the largest volume of a region", -1);
        if (!reader->scan.failed && !snwArray_Push(reader->context, &reader->seeds, seed))
            reader->draft.failed = true;
    }
}

static void ReadFacets(Reader* reader, bool simple)
{
    if (!BeginRecord(reader, "the count of facets"))
        return;
    int count = TakeCount(reader, "the count of facets", 2);
    bool markers = TakeIntOr(reader, "whether there are markers", 0, INT_MAX, 0) > 0;
    for (int i = 0; i < count && !reader->scan.failed && !reader->draft.failed; ++i)
    {
        if (simple)
            ReadSimpleFacet(reader, i + 1, markers);
        else if (reader->dimension == 2)
            ReadSegment(reader);
        else
            ReadFacet(reader, i + 1, markers);
    }
    ReadRegionSeeds(reader, true);
    ReadRegionSeeds(reader, false);
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static void StartFile(Reader* reader, const char* data, size_t size)
{
    reader->scan = snwMakeScan(data, size, '#');
    reader->inLine = false;
}

static snwResult CheckReading(const Reader* reader, snwMessage* message)
{
    if (reader->draft.failed)
        return snwFailMemory(message);
    return reader->scan.failed ? snwScan_Fail(&reader->scan, message) : snw_ok;
}

// Reads the file of the same name with another ending.
static snwResult ReadOtherEnding(Reader* reader, const char* ending, void (*read)(Reader* reader), snwMessage* message)
{
    const char* slash = strrchr(reader->input->name, '/');
    const char* name = slash == NULL ? reader->input->name : slash + 1;
    char beside[512];
    char* data = NULL;
    size_t size = 0;

    snprintf(beside, sizeof beside, "%.*s%s", (int)(strrchr(name, '.') - name), name, ending);
    const snwAssetFolder* folder = reader->input->folder;
    if (folder == NULL)
        return snwFail(message, snw_errorInput, "put it into the same folder", "its points are in '%.100s'", beside);

    // Its points are in a file of the same name.
    snwResult result = folder->read(folder->user, reader->context, beside, &data, &size, message);
    if (result < 0)
        return result;
    StartFile(reader, data, size);
    read(reader);
    result = CheckReading(reader, message);
    if (result == snw_errorInput)
        snwMessage_SetFile(message, beside);
    snwFree(reader->context, data);

    return result;
}

// A .poly or .smesh without points of its own has them in the .node beside it.
static snwResult ReadDomain(Reader* reader, bool simple, snwMessage* message)
{
    ReadTetgenPoints(reader);
    snwResult result = CheckReading(reader, message);
    if (result >= 0 && reader->draft.positions.count == 0)
    {
        snwScan scan = reader->scan;
        result = ReadOtherEnding(reader, ".node", ReadTetgenPoints, message);
        reader->scan = scan;
        reader->inLine = true;
    }
    if (result < 0)
        return result;
    ReadFacets(reader, simple);
    return CheckReading(reader, message);
}

// Tets come with their boundary where there is one beside them.
static snwResult ReadTetgenMesh(Reader* reader, bool elements, snwMessage* message)
{
    snwResult result = ReadOtherEnding(reader, ".node", ReadTetgenPoints, message);
    if (result < 0)
        return result;
    StartFile(reader, reader->input->data, reader->input->size);
    if (elements)
        ReadElements(reader);
    else
        ReadTetgenFaces(reader);

    result = CheckReading(reader, message);
    if (result < 0 || !elements || reader->draft.tets.count == 0)
        return result;

    // No boundary beside it is no mistake; a broken one is.
    snwMessage ignored = {0};
    result = ReadOtherEnding(reader, ".face", ReadTetgenFaces, &ignored);

    if (result == snw_errorMemory || result == snw_errorInput)
    {
        if (message != NULL)
            *message = ignored;
        return result;
    }

    return snw_ok;
}

static snwResult ReadFiles(Reader* reader, snwMessage* message)
{
    const char* name = reader->input->name;
    if (snwHasEnding(name, ".ele") || snwHasEnding(name, ".face"))
        return ReadTetgenMesh(reader, snwHasEnding(name, ".ele"), message);
    StartFile(reader, reader->input->data, reader->input->size);
    if (!snwHasEnding(name, ".node"))
        return ReadDomain(reader, snwHasEnding(name, ".smesh"), message);
    ReadTetgenPoints(reader);
    return CheckReading(reader, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole

static void NoteAll(const Reader* reader)
{
    const struct
    {
        snwAssetNoteKind kind;
        int64_t count;
        const char* text;
    } notes[] = {
        {snw_noteLeftOut, reader->attributes, "points have attributes, which nothing here uses"},
        {snw_noteLeftOut, reader->curved,
            "elements are curved; only their corners were taken, and they are straight now"},
        {snw_noteLeftOut, reader->lonePoints, "single points in facets; they are vertices all the same"},
        {snw_noteRepaired, reader->roundedLabels, "attributes and markers that are not whole were rounded"},
    };

    char place[48];
    snprintf(place, sizeof place, "facet %d", reader->oddFacet);
    snwAsset_NoteMany(reader->asset, snw_noteOdd, reader->oddFacets, place,
        "facets have polygons that touch or cross each other; their triangles overlap, their holes are filled");

    for (size_t i = 0; i < sizeof notes / sizeof *notes; ++i)
        snwAsset_NoteMany(reader->asset, notes[i].kind, notes[i].count, "", "%s", notes[i].text);
}

static snwResult FinishTetgen(Reader* reader, snwMessage* message)
{
    snwAssetMesh* mesh;
    snwAsset* asset = reader->asset;
    for (int i = 0; i < reader->seeds.count; ++i)
    {
        snwVec3 p = reader->seeds.data[i].point;
        if (fmax(fmax(fabs(p.x), fabs(p.y)), fabs(p.z)) > SNW_MAX_COORDINATE)
            return snwFail(message, snw_errorInput, NULL, "a hole or region is beyond 1e30");
    }
    asset->seeds = snwArena_Copy(&asset->arena, reader->seeds.data, (size_t)reader->seeds.count, sizeof *asset->seeds);
    asset->seedCount = asset->seeds == NULL ? 0 : reader->seeds.count;
    NoteAll(reader);
    return snwDraft_Finish(&reader->draft, &mesh, message);
}

static snwResult ReadTetgen(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    bool domain = snwHasEnding(input->name, ".poly") || snwHasEnding(input->name, ".smesh");
    Reader reader = {.input = input,
        .asset = asset,
        .context = asset->context,
        .dimension = 3,
        .draft = snwMakeDraft(asset, domain ? "facet" : "face", 1)};
    reader.draft.faceLabels = true;
    snwResult result = ReadFiles(&reader, message);
    if (result >= 0)
        result = FinishTetgen(&reader, message);
    snwDraft_Free(&reader.draft);
    snwArray_Free(reader.context, &reader.seeds);
    snwArray_Free(reader.context, &reader.facetHoles);
    return result;
}

const snwAssetReader snw_tetgenReader = {snw_assetTetgen, "TetGen", ".node .ele .face .smesh .poly", ReadTetgen};
