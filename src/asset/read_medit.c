// MEDIT's meshes (.mesh): words that open sections, a count, rows of numbers with a label at their end. Layout does not
// matter, so that nearly everything reads word by word; what is not known is read over up to the next word.

#include "asset/read_medit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_maxMeditUnknown = 64 // sections; more of them and it is no mesh
};

static const snwMeditSection s_sections[] = {
    {"Vertices", 4, 0, 0, "a coordinate of a vertex"},
    {"Edges", 5, 2, 2, "an end of an edge"},
    {"Triangles", 6, 3, 3, "a corner of a triangle"},
    {"Quadrilaterals", 7, 4, 4, "a corner of a quadrilateral"},
    {"Tetrahedra", 8, 4, 4, "a corner of a tetrahedron"},
    {"Hexahedra", 10, 8, 8, "a corner of a hexahedron"},
    {"TrianglesP2", 24, 6, 3, "a corner of a triangle"},
    {"EdgesP2", 25, 3, 2, "an end of an edge"},
    {"TetrahedraP2", 30, 10, 4, "a corner of a tetrahedron"},
};

const snwMeditSection* snwMedit_FindSection(snwWord word, int code)
{
    for (size_t i = 0; i < sizeof s_sections / sizeof *s_sections; ++i)
        if (word.size > 0 ? snwWord_IsNoCase(word, s_sections[i].word) : s_sections[i].code == code)
            return &s_sections[i];
    return NULL;
}

void snwMedit_AddVertex(snwDraft* draft, const double* row, int dimension, int label)
{
    snwDraft_AddPoint(draft, (snwVec3){row[0], row[1], dimension == 3 ? row[2] : 0});
    if (!snwArray_Push(draft->asset->context, &draft->vertexLabels, label))
        draft->failed = true;
}

void snwMedit_AddElement(snwDraft* draft, const snwMeditSection* section, const int* corners, int label, int place)
{
    bool tet = section->code == 8 || section->code == 30;
    if (section->taken == 2)
        snwDraft_AddElement(draft, &draft->edges, corners, 2, label);
    else if (tet)
        snwDraft_AddElement(draft, &draft->tets, corners, 4, label);
    else if (section->taken == 8)
        snwDraft_AddElement(draft, &draft->hexes, corners, 8, label);
    else
        snwDraft_AddFace(draft, corners, section->taken, place, label);
}

void snwMedit_NoteSection(snwDraft* draft, const snwMeditSection* section, int64_t count)
{
    if (section->taken < section->corners)
        snwAsset_NoteMany(draft->asset, snw_noteLeftOut, count, section->word,
            "elements are curved; only their corners were taken, and they are straight now");
}

// ---------------------------------------------------------------------------------------------------------------------
// Text

typedef struct Reader
{
    snwAsset* asset;
    snwScan scan;
    snwDraft draft;
    int dimension;
    int unknown;
    int64_t stray, strayLine; // numbers where a word should be
    bool known;
} Reader;

static int CountInLine(snwScan scan)
{
    int count = 0;
    while (count < 64 && snwScan_WordInLine(&scan).size > 0)
        count += 1;
    return count;
}

// Some programs write no labels. Lines tell: those of the first two rows then hold `count` numbers.
static bool HasLabels(snwScan scan, int count)
{
    if (snwScan_IsAtEnd(&scan) || CountInLine(scan) != count)
        return true;
    snwScan_SkipLine(&scan);
    return CountInLine(scan) == 1 && snwScan_PeekInLine(&scan).text[0] >= '0' &&
           snwScan_PeekInLine(&scan).text[0] <= '9';
}

// A whole number, also as 1.0.
static int TakeMeditLabel(snwScan* scan)
{
    double value = snwScan_Real(scan, "a label");
    if (scan->failed || (value >= INT_MIN && value <= INT_MAX && value == floor(value)))
        return (int)value;
    snwScan_Miss(scan, "a label", (snwWord){scan->next, 0}, "it is no whole number");
    return 0;
}

static void ReadMeditRow(Reader* reader, const snwMeditSection* section, bool labels)
{
    snwScan* scan = &reader->scan;
    double row[3] = {0};
    int corners[10];
    int place = (int)scan->line + 1;

    // A point is numbers, an element corners from 1 on.
    for (int k = 0; section->corners == 0 && k < reader->dimension; ++k)
        row[k] = snwScan_Real(scan, section->corner);
    for (int k = 0; k < section->corners; ++k)
    {
        corners[k] = (int)snwScan_Int(scan, section->corner, 1, INT_MAX) - 1;
        place = k == 0 ? (int)scan->line : place;
    }

    int label = labels ? TakeMeditLabel(scan) : 0;
    if (scan->failed)
        return;
    if (section->corners == 0)
        snwMedit_AddVertex(&reader->draft, row, reader->dimension, label);
    else
        snwMedit_AddElement(&reader->draft, section, corners, label, place);
}

static void ReadTextSection(Reader* reader, const snwMeditSection* section)
{
    snwScan* scan = &reader->scan;
    int numbers = section->corners == 0 ? reader->dimension : section->corners;
    int64_t count = snwScan_Int(scan, section->word, 0, snw_maxAssetVertices);
    if (scan->failed)
        return;

    // A count that the file cannot hold is refused before memory is asked for.
    if (count > (snwScan_Left(scan) + 1) / (2 * (int64_t)numbers))
    {
        snwScan_MissEnd(scan, section->word, "the file is too short for so many");
        return;
    }

    if (section->corners == 0 && reader->draft.positions.count > 0)
        snwScan_Miss(scan, section->word, (snwWord){section->word, 8}, "comes twice");
    // Some programs leave labels out; only the first row tells.
    bool labels = count == 0 || HasLabels(*scan, numbers);
    if (!labels)
        snwAsset_Note(reader->asset, snw_noteRepaired, section->word, "a section has no labels; they are 0 now");
    for (int64_t i = 0; i < count && !scan->failed && !reader->draft.failed; ++i)
        ReadMeditRow(reader, section, labels);
    snwMedit_NoteSection(&reader->draft, section, count);
}

// Up to the next word that begins with a letter. Texts stand between quotes.
static void SkipSection(Reader* reader, snwWord word)
{
    snwScan* scan = &reader->scan;
    if (reader->unknown++ >= snw_maxMeditUnknown)
        snwScan_Miss(scan, "a section", word, "is one too many that is not known");
    else
        snwAsset_Note(reader->asset, snw_noteLeftOut, snwAsset_Text(reader->asset, word.text, word.size),
            "a section of no use here");

    // Texts may contain anything, so they are skipped whole.
    while (!scan->failed && !snwScan_IsAtEnd(scan))
    {
        char c = *scan->next;
        if (c == '"')
        {
            const char* last = memchr(scan->next + 1, '"', (size_t)(scan->end - scan->next - 1));
            scan->next = last == NULL ? scan->end : last + 1;
        }
        else if (((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) && !snwWord_IsNotFinite(snwScan_PeekInLine(scan)))
            return;
        else
            snwScan_Word(scan);
    }
}

// false: the file is at its end.
static bool ReadMeditWord(Reader* reader)
{
    snwWord word = snwScan_Word(&reader->scan);
    const snwMeditSection* section = snwMedit_FindSection(word, -1);
    double number;
    if (word.size == 0 || snwWord_IsNoCase(word, "End"))
        return false;

    // What the words mean; numbers on their own are strays.
    if (snwWord_IsNoCase(word, "MeshVersionFormatted"))
        snwScan_Int(&reader->scan, "the version", 1, 4);
    else if (snwWord_IsNoCase(word, "Dimension"))
        reader->dimension = (int)snwScan_Int(&reader->scan, "the dimension", 2, 3);
    else if (section != NULL)
        ReadTextSection(reader, section);
    else if (snwWord_ToReal(word, &number) && reader->known)
    {
        if (reader->stray++ == 0)
            reader->strayLine = reader->scan.line;
    }
    else if (reader->known)
        SkipSection(reader, word);
    else
        snwScan_Miss(&reader->scan, "the first word", word, "is not MeshVersionFormatted: this is no MEDIT mesh");

    reader->known = true;
    return !reader->scan.failed && !reader->draft.failed;
}

static snwResult FinishMedit(Reader* reader, snwMessage* message)
{
    snwAssetMesh* mesh;
    char place[48];
    if (reader->draft.failed)
        return snwFailMemory(message);
    if (reader->scan.failed)
        return snwScan_Fail(&reader->scan, message);
    snprintf(place, sizeof place, "line %lld", (long long)reader->strayLine);
    snwAsset_NoteMany(reader->asset, snw_noteOdd, reader->stray, place,
        "numbers stand where a word should be; they were left out: is a count too small?");
    return snwDraft_Finish(&reader->draft, &mesh, message);
}

static snwResult ReadMedit(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    snwResult result;
    bool binary = snwMedit_IsBinary(input->data, input->size);
    Reader reader = {.asset = asset,
        .scan = snwMakeScan(input->data, input->size, '#'),
        .draft = snwMakeDraft(asset, binary ? "face" : "line", 1),
        .dimension = 3};
    reader.draft.faceLabels = true;

    // By its first bytes: both forms have the same ending.
    if (binary)
        result = snwMedit_ReadBinary(input->data, input->size, &reader.draft, message);
    else
    {
        while (ReadMeditWord(&reader))
        {
        }
        result = FinishMedit(&reader, message);
    }

    snwDraft_Free(&reader.draft);
    return result;
}

const snwAssetReader snw_meditReader = {snw_assetMedit, "MEDIT mesh", ".mesh .meshb", ReadMedit};
