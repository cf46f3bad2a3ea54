// MEDIT's binary meshes (.meshb): 1 as an int, which tells the order of bytes, a version, then sections: a code, where
// the next one begins, a count, rows. Versions 1 to 4 have wider and wider numbers.

#include "asset/read_medit.h"

#include <limits.h>
#include <string.h>

typedef struct Binary
{
    const unsigned char* data;
    size_t size, position;
    bool swapped;
    int version, dimension;
    const char* problem; // NULL: none
} Binary;

static void TakeBytes(Binary* binary, void* value, size_t size)
{
    unsigned char* to = value;
    memset(to, 0, size);
    if (binary->size - binary->position < size)
    {
        binary->problem = binary->problem == NULL ? "the file ends in a section" : binary->problem;
        return;
    }
    const unsigned char* from = binary->data + binary->position;
    for (size_t i = 0; i < size; ++i)
        to[i] = from[binary->swapped ? size - 1 - i : i];
    binary->position += size;
}

static int64_t TakeBinaryInt(Binary* binary, bool wide)
{
    int32_t narrow;
    int64_t value;
    if (wide)
        TakeBytes(binary, &value, sizeof value);
    else
    {
        TakeBytes(binary, &narrow, sizeof narrow);
        value = narrow;
    }
    return value;
}

static double TakeBinaryReal(Binary* binary)
{
    float narrow;
    double value;
    if (binary->version > 1)
        TakeBytes(binary, &value, sizeof value);
    else
    {
        TakeBytes(binary, &narrow, sizeof narrow);
        value = narrow;
    }
    return value;
}

static int TakeBinaryLabel(Binary* binary)
{
    int64_t label = TakeBinaryInt(binary, binary->version == 4);
    if (label < INT_MIN || label > INT_MAX)
        binary->problem = "a label is out of range";
    return binary->problem == NULL ? (int)label : 0;
}

static void ReadBinaryRow(Binary* binary, const snwMeditSection* section, snwDraft* draft)
{
    double row[3] = {0};
    int corners[10];
    for (int k = 0; section->corners == 0 && k < binary->dimension; ++k)
        row[k] = TakeBinaryReal(binary);
    for (int k = 0; k < section->corners; ++k)
    {
        int64_t corner = TakeBinaryInt(binary, binary->version == 4);
        corners[k] = corner < 1 ? -1 : corner > INT_MAX ? INT_MAX : (int)corner - 1;
    }
    int label = TakeBinaryLabel(binary);
    if (binary->problem != NULL)
        return;
    if (section->corners == 0)
        snwMedit_AddVertex(draft, row, binary->dimension, label);
    else
        snwMedit_AddElement(draft, section, corners, label, draft->faces.count + 1);
}

static void ReadBinarySection(Binary* binary, const snwMeditSection* section, snwDraft* draft)
{
    int64_t whole = binary->version == 4 ? 8 : 4, real = binary->version == 1 ? 4 : 8;
    int64_t row = whole + (section->corners == 0 ? binary->dimension * real : section->corners * whole);
    int64_t count = TakeBinaryInt(binary, binary->version == 4);
    if (binary->problem == NULL && (count < 0 || count > (int64_t)(binary->size - binary->position) / row))
        binary->problem = "the file is too short for a section";
    if (section->corners == 0 && draft->positions.count > 0)
        binary->problem = "there are vertices twice";
    for (int64_t i = 0; i < count && binary->problem == NULL && !draft->failed; ++i)
        ReadBinaryRow(binary, section, draft);
    if (binary->problem == NULL)
        snwMedit_NoteSection(draft, section, count);
}

// false: it was the last one.
static bool ReadKeyword(Binary* binary, snwDraft* draft)
{
    int64_t code = TakeBinaryInt(binary, false), next = TakeBinaryInt(binary, binary->version >= 3);
    if (binary->problem != NULL || code == snw_meditEnd)
        return false;
    const snwMeditSection* section = code > INT_MAX || code < 1 ? NULL
                                                                : snwMedit_FindSection((snwWord){"", 0}, (int)code);

    // What is known by its code; what is not is skipped by its length.
    if (code == snw_meditDimension)
    {
        binary->dimension = (int)TakeBinaryInt(binary, false);
        if (binary->problem == NULL && binary->dimension != 2 && binary->dimension != 3)
            binary->problem = "the dimension is neither 2 nor 3";
    }
    else if (section != NULL)
        ReadBinarySection(binary, section, draft);
    else
        snwAsset_Note(draft->asset, snw_noteLeftOut, "", "a section of no use here");

    if (binary->problem != NULL || draft->failed || next == 0)
        return false;
    if (next < (int64_t)binary->position || next > (int64_t)binary->size) // never back: no byte is read twice
        binary->problem = "a section leads nowhere";
    else
        binary->position = (size_t)next;

    return binary->problem == NULL && binary->position < binary->size;
}

bool snwMedit_IsBinary(const char* data, size_t size)
{
    return size >= 8 && (memcmp(data, "\1\0\0\0", 4) == 0 || memcmp(data, "\0\0\0\1", 4) == 0);
}

snwResult snwMedit_ReadBinary(const char* data, size_t size, snwDraft* draft, snwMessage* message)
{
    Binary binary = {
        .data = (const unsigned char*)data, .size = size, .position = 4, .swapped = data[0] == 0, .dimension = 3};
    snwAssetMesh* mesh;

    // The version says how wide numbers are.
    binary.version = (int)TakeBinaryInt(&binary, false);
    if (binary.version < 1 || binary.version > 4)
        binary.problem = "its version is none of 1 to 4";
    while (binary.problem == NULL && ReadKeyword(&binary, draft))
    {
    }
    if (draft->failed)
        return snwFailMemory(message);
    if (binary.problem == NULL)
        return snwDraft_Finish(draft, &mesh, message);

    snwResult result = snwFail(
        message, snw_errorInput, "the file is damaged or not complete: export it again", "%s", binary.problem);
    snwMessage_AddPlace(message, "byte %zu", binary.position);

    return result;
}
