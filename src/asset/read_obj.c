// Wavefront OBJ.
//
// An OBJ counts positions, texture coordinates and normals apart, and each corner of a face picks one of each. Most
// readers make a vertex of every combination, which tears the mesh apart along its seams and loses the artist's order,
// so that no point cache and no weights fit any more. Here the positions are the vertices, in the order of the file,
// and each takes the normal and the texture coordinates of the first corner that names some; a note tells how many
// others there were.

#include "asset/draft.h"
#include "asset/read_obj.h"
#include "asset/scan.h"
#include "math/display.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef enum Oddity
{
    snw_oddCurve,
    snw_oddPoint,
    snw_oddUnknown,
    snw_oddWeight,
    snw_oddExtra,
    snw_oddNotFinite,
    snw_oddPart,
    snw_oddCommand,
    snw_oddCount,
} Oddity;

static const snwWord s_nothing = {"", 0};

typedef struct Reader
{
    snwAsset* asset;
    snwContext* context;
    snwScan scan;
    snwDraft draft;
    snwArray(float) normals;                      // 3 each
    snwArray(float) texcoords;                    // 2 each
    snwArray(float) colors;                       // 4 each, as many as positions or none
    snwArray(int) cornerTexcoords, cornerNormals; // as many as corners; -1: none
    snwWord object, group, material;
    snwWord partName, partMaterial; // of the part that was begun
    const char *partNameText, *partMaterialText;
    bool partChanged, known;
    snwObjLibrary library;
    int64_t odd[snw_oddCount], oddLine[snw_oddCount];
    char unknown[48]; // the first unknown word
} Reader;

static void NoteOddity(Reader* reader, Oddity oddity)
{
    if (reader->odd[oddity]++ == 0)
        reader->oddLine[oddity] = reader->scan.line;
}

static void Need(Reader* reader, bool enough)
{
    reader->draft.failed = reader->draft.failed || !enough;
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices

// A number that may be left out or be no finite one, as exporters write normals of faces without area.
static float TakeObjFloat(Reader* reader, const char* what)
{
    snwWord word = snwScan_WordInLine(&reader->scan);
    double value = 0;
    float result = 0;
    if (word.size == 0)
        return 0;
    bool number = snwWord_ToReal(word, &value);
    if (!number && !snwWord_IsNotFinite(word))
        snwScan_Miss(&reader->scan, what, word, "is not a number");
    if (!number || !snwToFloat(value, &result))
        NoteOddity(reader, snw_oddNotFinite);
    return result;
}

static void AddColor(Reader* reader, const double* color)
{
    int missing = 4 * (reader->draft.positions.count - 1) - reader->colors.count;
    for (int i = 0; i < missing; ++i)
        Need(reader, snwArray_Push(reader->context, &reader->colors, 1.0f));
    for (int k = 0; k < 4; ++k)
    {
        float value;
        snwToFloat(color[k], &value);
        Need(reader, snwArray_Push(reader->context, &reader->colors, value));
    }
}

// x y z, x y z w, x y z r g b or x y z r g b a
static void ReadObjVertex(Reader* reader)
{
    double row[7] = {0, 0, 0, 1, 1, 1, 1};
    int count = 0;
    for (; count < 3; ++count)
        row[count] = snwScan_RealInLine(&reader->scan, "a coordinate");
    for (; count < 7 && snwScan_PeekInLine(&reader->scan).size > 0 && !reader->scan.failed; ++count)
        row[count] = snwScan_Real(&reader->scan, "the weight or colour of a vertex");
    if (reader->scan.failed)
        return;
    snwDraft_AddPoint(&reader->draft, (snwVec3){row[0], row[1], row[2]});
    if (count == 4 && row[3] != 1)
        NoteOddity(reader, snw_oddWeight);
    if (count == 5 || (count == 7 && snwScan_PeekInLine(&reader->scan).size > 0))
        NoteOddity(reader, snw_oddExtra);
    if (count >= 6)
        AddColor(reader, row + 3);
}

static void ReadNormal(Reader* reader)
{
    for (int k = 0; k < 3; ++k)
        Need(reader, snwArray_Push(reader->context, &reader->normals, TakeObjFloat(reader, "a normal")));
}

// v counts from the bottom there and from the top here.
static void ReadTexcoord(Reader* reader)
{
    double v = 0;
    float u = TakeObjFloat(reader, "a texture coordinate"), top = 0;
    snwWord word = snwScan_WordInLine(&reader->scan);
    bool number = word.size == 0 || snwWord_ToReal(word, &v);
    if (!number && !snwWord_IsNotFinite(word))
        snwScan_Miss(&reader->scan, "a texture coordinate", word, "is not a number");
    if (!number || !snwToFloat(1 - v, &top))
        NoteOddity(reader, snw_oddNotFinite);
    Need(reader, snwArray_Push(reader->context, &reader->texcoords, u));
    Need(reader, snwArray_Push(reader->context, &reader->texcoords, top));
}

// ---------------------------------------------------------------------------------------------------------------------
// Faces and lines

// "7", "7/2", "7//3", "7/2/3" as the file counts; 0: not given.
static bool ParseCorner(snwWord word, int64_t indices[3])
{
    int slot = 0;
    const char *at = word.text, *end = word.text + word.size;
    indices[0] = indices[1] = indices[2] = 0;

    // Up to three numbers between slashes, the first of which must be there.
    while (slot < 3)
    {
        const char* slash = at;
        while (slash < end && *slash != '/')
            slash += 1;
        snwWord part = {at, (int)(slash - at)};
        if (part.size > 0 && !snwWord_ToInt(part, &indices[slot]))
            return false;
        if (part.size == 0 && slot == 0)
            return false;
        slot += 1;
        if (slash == end)
            return true;
        at = slash + 1;
    }

    return false; // a third slash
}

// From 0, or -1: not given. Negative ones count back from the last one so far.
static int ResolveIndex(int64_t index, int count)
{
    if (index < 0)
        index += (int64_t)count + 1;
    return index < 1 ? -1 : index > INT_MAX ? INT_MAX : (int)(index - 1);
}

static int TakeObjVertex(Reader* reader, snwWord word, int64_t indices[3])
{
    if (!ParseCorner(word, indices))
        snwScan_Miss(&reader->scan, "a corner", word, "is no index of a vertex");
    int vertex = ResolveIndex(indices[0], reader->draft.positions.count);
    if (vertex < 0 && indices[0] == 0)
        snwScan_Miss(&reader->scan, "a corner", word, "has index 0, but vertices count from 1");
    else if (vertex < 0)
        snwScan_Miss(&reader->scan, "a corner", word, "goes back before the first vertex");
    return vertex;
}

static const char* NameText(Reader* reader, snwWord name, snwWord* last, const char** text)
{
    bool same = *text != NULL && name.size == last->size && memcmp(name.text, last->text, (size_t)name.size) == 0;
    *last = name;
    if (!same)
        *text = snwAsset_Text(reader->asset, name.text, name.size);
    return *text;
}

static void BeginPart(Reader* reader)
{
    reader->partChanged = false;
    if (reader->draft.parts.count >= snw_maxAssetNodes)
    {
        NoteOddity(reader, snw_oddPart);
        return;
    }
    snwWord name = reader->group.size > 0 ? reader->group : reader->object;
    if (name.size == 0)
        name = (snwWord){reader->asset->name, (int)strlen(reader->asset->name)};
    const char* text = NameText(reader, name, &reader->partName, &reader->partNameText);
    const char* material = NameText(reader, reader->material, &reader->partMaterial, &reader->partMaterialText);
    snwDraft_BeginPart(&reader->draft, text, material);
}

static void ReadObjFace(Reader* reader)
{
    if (reader->partChanged)
        BeginPart(reader);
    snwDraft_BeginFace(&reader->draft, (int)reader->scan.line, 0);
    for (;;)
    {
        int64_t indices[3];
        snwWord word = snwScan_WordInLine(&reader->scan);
        if (word.size == 0 || reader->scan.failed || reader->draft.failed)
            return;
        snwDraft_AddCorner(&reader->draft, TakeObjVertex(reader, word, indices));
        int texcoord = ResolveIndex(indices[1], reader->texcoords.count / 2);
        int normal = ResolveIndex(indices[2], reader->normals.count / 3);
        Need(reader, snwArray_Push(reader->context, &reader->cornerTexcoords, texcoord));
        Need(reader, snwArray_Push(reader->context, &reader->cornerNormals, normal));
    }
}

static void ReadPolyline(Reader* reader)
{
    int ends[2] = {0};
    int64_t indices[3];
    for (int count = 0;; ++count)
    {
        snwWord word = snwScan_WordInLine(&reader->scan);
        if (word.size == 0 || reader->scan.failed)
            return;
        ends[0] = ends[1];
        ends[1] = TakeObjVertex(reader, word, indices);
        if (count > 0)
            snwDraft_AddElement(&reader->draft, &reader->draft.edges, ends, 2, 0);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Names

static void ReadObjObject(Reader* reader)
{
    reader->object = snwScan_RestOfLine(&reader->scan);
    reader->group = s_nothing;
    reader->partChanged = true;
}

static void ReadGroup(Reader* reader)
{
    snwWord name = snwScan_RestOfLine(&reader->scan);
    reader->group = snwWord_Is(name, "default") || snwWord_Is(name, "off") ? s_nothing : name;
    reader->partChanged = true;
}

static void ReadObjMaterial(Reader* reader)
{
    reader->material = snwScan_RestOfLine(&reader->scan);
    reader->partChanged = true;
}

static void ReadLibrary(Reader* reader)
{
    snwWord name = snwScan_RestOfLine(&reader->scan);
    if (name.size > 0 && reader->library.count < (int)(sizeof reader->library.names / sizeof name))
        reader->library.names[reader->library.count++] = name;
}

static void ReadCurve(Reader* reader)
{
    NoteOddity(reader, snw_oddCurve);
}

static void NotePoint(Reader* reader)
{
    NoteOddity(reader, snw_oddPoint);
}

static void NoteCommand(Reader* reader)
{
    NoteOddity(reader, snw_oddCommand);
}

static void ReadNothing(Reader* reader)
{
    (void)reader;
}

typedef struct Statement
{
    const char* word;
    void (*read)(Reader* reader);
} Statement;

static const Statement s_statements[] = {
    {"v", ReadObjVertex},
    {"f", ReadObjFace},
    {"vn", ReadNormal},
    {"vt", ReadTexcoord},
    {"fo", ReadObjFace}, // its name until 1990
    {"l", ReadPolyline},
    {"p", NotePoint},
    {"o", ReadObjObject},
    {"g", ReadGroup},
    {"usemtl", ReadObjMaterial},
    {"mtllib", ReadLibrary},
    {"vp", ReadCurve},
    {"cstype", ReadCurve},
    {"deg", ReadCurve},
    {"bmat", ReadCurve},
    {"step", ReadCurve},
    {"curv", ReadCurve},
    {"curv2", ReadCurve},
    {"surf", ReadCurve},
    {"parm", ReadCurve},
    {"trim", ReadCurve},
    {"hole", ReadCurve},
    {"scrv", ReadCurve},
    {"sp", ReadCurve},
    {"end", ReadCurve},
    {"con", ReadCurve},
    {"bsp", ReadCurve},
    {"bzp", ReadCurve},
    {"cdc", ReadCurve},
    {"cdp", ReadCurve},
    {"res", ReadCurve},
    {"call", NoteCommand},
    {"csh", NoteCommand},
    {"s", ReadNothing}, // how it looks, which nothing here depends on
    {"mg", ReadNothing},
    {"bevel", ReadNothing},
    {"c_interp", ReadNothing},
    {"d_interp", ReadNothing},
    {"lod", ReadNothing},
    {"maplib", ReadNothing},
    {"usemap", ReadNothing},
    {"shadow_obj", ReadNothing},
    {"trace_obj", ReadNothing},
    {"ctech", ReadNothing},
    {"stech", ReadNothing},
};

static void ReadStatement(Reader* reader, snwWord word)
{
    for (size_t i = 0; i < sizeof s_statements / sizeof *s_statements; ++i)
        if (snwWord_Is(word, s_statements[i].word))
        {
            reader->known = true;
            s_statements[i].read(reader);
            return;
        }
    if (reader->odd[snw_oddUnknown] == 0)
        snprintf(reader->unknown, sizeof reader->unknown, "%s", snwAsset_Text(reader->asset, word.text, word.size));
    NoteOddity(reader, snw_oddUnknown);
}

// ---------------------------------------------------------------------------------------------------------------------
// Units, which exporters write into comments

static bool FindInWord(snwWord text, const char* part, snwWord* rest)
{
    int size = (int)strlen(part);
    for (int i = 0; i + size <= text.size; ++i)
        if (strncasecmp(text.text + i, part, (size_t)size) == 0)
        {
            *rest = (snwWord){text.text + i + size, text.size - i - size};
            return true;
        }
    return false;
}

static double UnitScale(snwWord text)
{
    // Beginnings of words, as exporters write them: "millimeters", "Millimetres".
    static const struct
    {
        const char* name;
        double metres;
    } s_units[] = {
        {"millimet", 0.001},
        {"centimet", 0.01},
        {"kilomet", 1000},
        {"met", 1},
        {"inch", 0.0254},
        {"feet", 0.3048},
        {"foot", 0.3048},
        {"yard", 0.9144},
    };

    for (size_t i = 0; i < sizeof s_units / sizeof *s_units; ++i)
        if ((size_t)text.size >= strlen(s_units[i].name) &&
            strncasecmp(text.text, s_units[i].name, strlen(s_units[i].name)) == 0)
            return s_units[i].metres;

    return 0;
}

// "# This file uses centimeters as units ..." of Maya, "# File units = inches" of 3ds Max
static void ReadComment(Reader* reader)
{
    snwWord text = snwScan_RestOfLine(&reader->scan), rest;
    if (reader->asset->scale != 0 || text.size > 200)
        return;
    if (FindInWord(text, "file uses ", &rest) || FindInWord(text, "file units = ", &rest))
        reader->asset->scale = UnitScale(rest);
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole

static void ReadObjLines(Reader* reader)
{
    snwScan* scan = &reader->scan;
    do
    {
        if (scan->next < scan->end && *scan->next == '#')
            ReadComment(reader);
        snwWord word = snwScan_WordInLine(scan);
        if (word.size > 0)
            ReadStatement(reader, word);
    } while (!scan->failed && !reader->draft.failed && snwScan_SkipLine(scan));
}

static void NoteOddities(Reader* reader)
{
    static const struct
    {
        snwAssetNoteKind kind;
        const char* text;
    } s_notes[snw_oddCount] = {
        [snw_oddCurve] = {snw_noteLeftOut, "curves and free-form surfaces were left out"},
        [snw_oddPoint] = {snw_noteLeftOut, "points (p) were left out; their vertices are kept"},
        [snw_oddUnknown] = {snw_noteLeftOut, NULL},
        [snw_oddWeight] = {snw_noteLeftOut, "weights of vertices were left out; they belong to curves"},
        [snw_oddExtra] = {snw_noteLeftOut, "vertices have numbers of unknown meaning behind their position"},
        [snw_oddNotFinite] = {snw_noteRepaired, "normals or texture coordinates that were not finite are zero now"},
        [snw_oddPart] = {snw_noteLeftOut, "there are too many groups; the rest belongs to the last one"},
        [snw_oddCommand] = {snw_noteLeftOut, "calls of other files and programs are not followed"},
    };
    char place[48], text[128];

    // What was odd, with the line where it first was.
    for (int i = 0; i < snw_oddCount; ++i)
    {
        snprintf(place, sizeof place, "line %lld", (long long)reader->oddLine[i]);
        snprintf(text, sizeof text, "lines are no OBJ; the first begins with '%s'", reader->unknown);
        snwAsset_NoteMany(reader->asset, s_notes[i].kind, reader->odd[i], place, "%s",
            s_notes[i].text == NULL ? text : s_notes[i].text);
    }
}

static void NoteValues(Reader* reader, const snwDraftValues* values, const char* differing, const char* outside)
{
    char place[48];
    snprintf(place, sizeof place, "vertex %d", values->differingVertex + 1);
    snwAsset_NoteMany(reader->asset, snw_noteOdd, values->differing, place, "%s", differing);
    snwAsset_NoteMany(reader->asset, snw_noteRepaired, values->outside, "", "%s", outside);
}

// Vertices that are none are an error later.
static void ChooseValues(const Reader* reader, snwDraftValues* values, const int* picks)
{
    for (int i = 0; values->chosen != NULL && i < reader->draft.corners.count; ++i)
        if (picks[i] >= 0 && reader->draft.corners.data[i] >= 0 &&
            reader->draft.corners.data[i] < reader->draft.positions.count)
            snwDraftValues_Choose(values, reader->draft.corners.data[i], picks[i]);
}

static void MakeColors(Reader* reader, snwAssetMesh* mesh)
{
    if (reader->colors.count == 0)
        return;
    float(*colors)[4] = snwAsset_Alloc(reader->asset, mesh->vertexCount, sizeof *colors);
    float largest = 0;
    for (int i = 0; i < reader->colors.count; ++i)
        largest = reader->colors.data[i] > largest ? reader->colors.data[i] : largest;
    double unit = largest > 1 ? 1.0 / 255 : 1;
    if (largest > 1)
        snwAsset_Note(reader->asset, snw_noteRepaired, "", "colours go from 0 to 255 instead of 1");
    for (int i = 0; colors != NULL && i < 4 * mesh->vertexCount; ++i)
    {
        double value = i < reader->colors.count ? reader->colors.data[i] * unit : 1;
        colors[i / 4][i % 4] = i % 4 < 3 ? snwDisplay_ToLight(value) : (float)fmin(fmax(value, 0), 1);
    }
    mesh->colors = (const float(*)[4])colors;
}

static snwResult FinishObj(Reader* reader, const snwAssetInput* input, snwMessage* message)
{
    snwDraft* draft = &reader->draft;
    snwAssetMesh* mesh = NULL;
    int vertexCount = draft->positions.count;
    snwDraftValues texcoords = {reader->texcoords.data, 2, reader->texcoords.count / 2, NULL, 0, 0, 0};
    snwDraftValues normals = {reader->normals.data, 3, reader->normals.count / 3, NULL, 0, 0, 0};

    // Values per corner become values per vertex: the first one counts.
    draft->failed |= !snwDraftValues_Begin(reader->context, &texcoords, vertexCount);
    draft->failed |= !snwDraftValues_Begin(reader->context, &normals, vertexCount);
    if (!draft->failed)
    {
        ChooseValues(reader, &texcoords, reader->cornerTexcoords.data);
        ChooseValues(reader, &normals, reader->cornerNormals.data);
    }

    // The mesh, then what belongs to its vertices.
    snwResult result = snwDraft_Finish(draft, &mesh, message);
    float(*meshNormals)[3] = (float(*)[3])snwDraftValues_End(reader->asset, &normals, vertexCount);
    float* meshTexcoords = snwDraftValues_End(reader->asset, &texcoords, vertexCount);
    if (result < 0)
        return result;
    snwAsset_RepairNormals(reader->asset, meshNormals, vertexCount);
    mesh->normals = (const float(*)[3])meshNormals;
    mesh->texcoords = (const float(*)[2])meshTexcoords;
    NoteValues(reader, &normals, "corners have another normal than their vertex, which has the first one",
        "corners name a normal that is not there");
    NoteValues(reader, &texcoords,
        "corners have other texture coordinates than their vertex, which has the first ones: there is a seam",
        "corners name texture coordinates that are not there");
    NoteOddities(reader);
    MakeColors(reader, mesh);

    return mesh->colors != NULL ? snw_ok
                                : snwObj_ColorFromMaterials(input, reader->asset, mesh, &reader->library, message);
}

static snwResult ReadObj(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    Reader reader = {.asset = asset,
        .context = asset->context,
        .scan = snwMakeScan(input->data, input->size, '#'),
        .draft = snwMakeDraft(asset, "line", 1),
        .object = s_nothing,
        .group = s_nothing,
        .material = s_nothing};
    reader.scan.joiner = '\\';
    snwResult result;

    ReadObjLines(&reader);

    // Running out of memory comes first: what was read after that means nothing.
    if (reader.draft.failed)
        result = snwFailMemory(message);
    else if (reader.scan.failed)
        result = snwScan_Fail(&reader.scan, message);
    else if (!reader.known)
        result = snwFail(message, snw_errorInput, "choose Wavefront OBJ in the exporter", "this is no OBJ file");
    else
        result = FinishObj(&reader, input, message);

    snwDraft_Free(&reader.draft);
    snwArray_Free(reader.context, &reader.normals);
    snwArray_Free(reader.context, &reader.texcoords);
    snwArray_Free(reader.context, &reader.colors);
    snwArray_Free(reader.context, &reader.cornerTexcoords);
    snwArray_Free(reader.context, &reader.cornerNormals);

    return result;
}

const snwAssetReader snw_objReader = {snw_assetObj, "Wavefront OBJ", ".obj", ReadObj};
