// Stanford PLY: text and both orders of bytes. The header declares elements and their properties in any order; what has
// a known name is taken, the rest is read over.

#include "asset/read_ply.h"
#include "asset/draft.h"
#include "math/display.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef enum Slot
{
    snw_slotX,
    snw_slotY,
    snw_slotZ,
    snw_slotNormalX,
    snw_slotNormalY,
    snw_slotNormalZ,
    snw_slotRed,
    snw_slotGreen,
    snw_slotBlue,
    snw_slotAlpha,
    snw_slotU,
    snw_slotV,
    snw_slotCount,
} Slot;

typedef snwArray(double) Numbers;

typedef struct Reader
{
    snwAsset* asset;
    snwContext* context;
    snwPlyHeader header;
    snwScan scan; // of the body: words if it is text, else bytes
    snwDraft draft;
    float (*normals)[3];
    float (*texcoords)[2];
    float (*colors)[4];
    bool hasVertices;
    int64_t notFinite;
    Numbers list;                    // of the row: corners
    Numbers listTexcoords;           // of the row: two per corner
    snwArray(float) cornerTexcoords; // two per corner of the draft; empty: none
    const snwPlyElement* element;    // that is read
    int64_t row;
    const char* problem; // NULL: none
} Reader;

// ---------------------------------------------------------------------------------------------------------------------
// Numbers

static double FromBytes(const unsigned char* from, snwPlyType type, bool big)
{
    union
    {
        unsigned char bytes[8];
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
    } value = {{0}};

    // Byte by byte into whichever number it is.
    int size = snwPlyType_Size(type);
    for (int i = 0; i < size; ++i)
        value.bytes[i] = from[big ? size - 1 - i : i]; // this machine is little-endian: base/bytes.c asserts it

    switch (type)
    {
        case snw_plyInt8:
            return value.i8;
        case snw_plyUint8:
            return value.u8;
        case snw_plyInt16:
            return value.i16;
        case snw_plyUint16:
            return value.u16;
        case snw_plyInt32:
            return value.i32;
        case snw_plyUint32:
            return value.u32;
        case snw_plyInt64:
            return (double)value.i64;
        case snw_plyUint64:
            return (double)value.u64;
        case snw_plyFloat:
            return value.f32;
        default:
            return value.f64;
    }
}

static double TakeWord(Reader* reader)
{
    double value = 0;
    snwWord word = snwScan_Word(&reader->scan);
    if (word.size == 0)
        reader->problem = "the file ends in it";
    else if (snwWord_IsNotFinite(word))
        value = NAN;
    else if (!snwWord_ToReal(word, &value))
        reader->problem = "it holds something that is no number";
    return value;
}

// May be not finite. 0 after a problem.
static double TakeNumber(Reader* reader, snwPlyType type)
{
    if (reader->problem != NULL)
        return 0;
    if (reader->header.ascii)
        return TakeWord(reader);
    int size = snwPlyType_Size(type);
    if (snwScan_Left(&reader->scan) < size)
    {
        reader->problem = "the file ends in it";
        return 0;
    }
    double value = FromBytes((const unsigned char*)reader->scan.next, type, reader->header.big);
    reader->scan.next += size;
    return value;
}

static int64_t TakeLength(Reader* reader, const snwPlyProperty* property)
{
    double length = TakeNumber(reader, property->countType);
    if (reader->problem == NULL && !(length >= 0 && length == floor(length)))
        reader->problem = "the length of a list makes no sense";
    else if (reader->problem == NULL && length > (double)snwScan_Left(&reader->scan))
        reader->problem = "a list is longer than the rest of the file";
    return reader->problem == NULL ? (int64_t)length : 0;
}

static void SkipProperty(Reader* reader, const snwPlyProperty* property)
{
    int64_t count = property->list ? TakeLength(reader, property) : 1;
    for (int64_t i = 0; i < count && reader->problem == NULL; ++i)
        TakeNumber(reader, property->type);
}

static int ToIndex(Reader* reader, double value)
{
    if (reader->problem == NULL && !(value >= 0 && value <= INT_MAX && value == floor(value)))
        reader->problem = "it holds an index that is no vertex";
    return reader->problem == NULL ? (int)value : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices

static int SlotOfProperty(const snwPlyProperty* property)
{
    // The names that exporters use.
    static const struct
    {
        const char* name;
        Slot slot;
    } s_names[] = {
        {"x", snw_slotX},
        {"y", snw_slotY},
        {"z", snw_slotZ},
        {"nx", snw_slotNormalX},
        {"ny", snw_slotNormalY},
        {"nz", snw_slotNormalZ},
        {"red", snw_slotRed},
        {"green", snw_slotGreen},
        {"blue", snw_slotBlue},
        {"alpha", snw_slotAlpha},
        {"r", snw_slotRed},
        {"g", snw_slotGreen},
        {"b", snw_slotBlue},
        {"a", snw_slotAlpha},
        {"diffuse_red", snw_slotRed},
        {"diffuse_green", snw_slotGreen},
        {"diffuse_blue", snw_slotBlue},
        {"s", snw_slotU},
        {"t", snw_slotV},
        {"u", snw_slotU},
        {"v", snw_slotV},
        {"texture_u", snw_slotU},
        {"texture_v", snw_slotV},
    };
    for (size_t i = 0; !property->list && i < sizeof s_names / sizeof *s_names; ++i)
        if (snwWord_Is(property->name, s_names[i].name))
            return s_names[i].slot;

    return -1;
}

// What a whole number stands for as a colour; 0: it is no colour or a real, which goes up to 1 already.
static double ColorUnit(int slot, snwPlyType type)
{
    if (slot < snw_slotRed || slot > snw_slotAlpha || type == snw_plyFloat || type == snw_plyDouble)
        return 0;
    return type == snw_plyUint16 || type == snw_plyInt16 ? 65535 : 255;
}

typedef struct VertexLayout
{
    int slots[snw_maxPlyProperties]; // -1: read over
    double units[snw_maxPlyProperties];
    bool has[snw_slotCount];
} VertexLayout;

static VertexLayout MakeLayout(const snwPlyElement* element)
{
    VertexLayout layout = {.has = {false}};
    for (int i = 0; i < element->propertyCount; ++i)
    {
        int slot = SlotOfProperty(&element->properties[i]);
        if (slot >= 0 && layout.has[slot])
            slot = -1; // twice: the first one counts
        layout.slots[i] = slot;
        layout.units[i] = ColorUnit(slot, element->properties[i].type);
        if (slot >= 0)
            layout.has[slot] = true;
    }
    return layout;
}

static float Tame(Reader* reader, double value)
{
    float result;
    if (!snwToFloat(value, &result))
        reader->notFinite += 1;
    return result;
}

static void KeepVertex(Reader* reader, const double* values)
{
    size_t row = (size_t)reader->row;
    snwDraft_AddPoint(&reader->draft, (snwVec3){values[snw_slotX], values[snw_slotY], values[snw_slotZ]});
    for (int k = 0; reader->normals != NULL && k < 3; ++k)
        reader->normals[row][k] = Tame(reader, values[snw_slotNormalX + k]);
    for (int k = 0; reader->colors != NULL && k < 4; ++k)
        reader->colors[row][k] = Tame(reader, values[snw_slotRed + k]);
    if (reader->texcoords != NULL)
    {
        reader->texcoords[row][0] = Tame(reader, values[snw_slotU]);
        reader->texcoords[row][1] = Tame(reader, 1 - values[snw_slotV]); // from the bottom there, from the top here
    }
}

static void ReadPlyVertex(Reader* reader, const VertexLayout* layout)
{
    double values[snw_slotCount] = {[snw_slotAlpha] = 1};
    for (int i = 0; i < reader->element->propertyCount; ++i)
    {
        const snwPlyProperty* property = &reader->element->properties[i];
        int slot = layout->slots[i];
        if (slot < 0)
            SkipProperty(reader, property);
        else
            values[slot] = TakeNumber(reader, property->type);
        if (slot >= 0 && layout->units[i] > 0)
            values[slot] /= layout->units[i];
    }
    if (reader->problem == NULL)
        KeepVertex(reader, values);
}

static void ReadPlyVertices(Reader* reader)
{
    const snwPlyElement* element = reader->element;
    VertexLayout layout = MakeLayout(element);
    if (!layout.has[snw_slotX] || !layout.has[snw_slotY])
    {
        reader->problem = "it has no positions";
        return;
    }

    // Whatever is there whole is taken: normals of three, colours of three or four.
    if (!layout.has[snw_slotZ])
        snwAsset_Note(reader->asset, snw_noteRepaired, "", "vertices have no height (z); it is 0 now");
    reader->hasVertices = true;
    if (layout.has[snw_slotNormalX] && layout.has[snw_slotNormalY] && layout.has[snw_slotNormalZ])
        reader->normals = snwAsset_Alloc(reader->asset, element->count, sizeof *reader->normals);
    if (layout.has[snw_slotRed] && layout.has[snw_slotGreen] && layout.has[snw_slotBlue])
        reader->colors = snwAsset_Alloc(reader->asset, element->count, sizeof *reader->colors);
    if (layout.has[snw_slotU] && layout.has[snw_slotV])
        reader->texcoords = snwAsset_Alloc(reader->asset, element->count, sizeof *reader->texcoords);
    for (; reader->row < element->count && reader->problem == NULL && !reader->draft.failed;
         reader->row += reader->problem == NULL)
        ReadPlyVertex(reader, &layout);
}

// ---------------------------------------------------------------------------------------------------------------------
// Faces, strips, edges

typedef struct FaceLayout
{
    int corners, texcoords; // properties; -1: there is none
    bool colored;
} FaceLayout;

static FaceLayout MakeFaceLayout(const snwPlyElement* element)
{
    FaceLayout layout = {-1, -1, false};
    for (int i = 0; i < element->propertyCount; ++i)
    {
        const snwPlyProperty* property = &element->properties[i];
        bool corners = snwWord_Is(property->name, "vertex_indices") || snwWord_Is(property->name, "vertex_index");
        if (corners && property->list && layout.corners < 0)
            layout.corners = i;
        if (snwWord_Is(property->name, "texcoord") && property->list)
            layout.texcoords = i;
        layout.colored = layout.colored || SlotOfProperty(property) == snw_slotRed;
    }
    return layout;
}

static void TakeList(Reader* reader, const snwPlyProperty* property, Numbers* list)
{
    int64_t count = TakeLength(reader, property);
    list->count = 0;
    for (int64_t i = 0; i < count && reader->problem == NULL && !reader->draft.failed; ++i)
        if (!snwArray_Push(reader->context, list, TakeNumber(reader, property->type)))
            reader->draft.failed = true;
}

static void ReadFaceRow(Reader* reader, FaceLayout layout)
{
    reader->list.count = reader->listTexcoords.count = 0;
    for (int i = 0; i < reader->element->propertyCount; ++i)
    {
        const snwPlyProperty* property = &reader->element->properties[i];
        if (i == layout.corners)
            TakeList(reader, property, &reader->list);
        else if (i == layout.texcoords)
            TakeList(reader, property, &reader->listTexcoords);
        else
            SkipProperty(reader, property);
    }
}

static void KeepFace(Reader* reader, bool texcoords)
{
    bool fits = reader->listTexcoords.count == 2 * reader->list.count;
    snwDraft_BeginFace(&reader->draft, (int)reader->row, 0);
    for (int i = 0; i < reader->list.count; ++i)
    {
        snwDraft_AddCorner(&reader->draft, ToIndex(reader, reader->list.data[i]));
        for (int k = 0; texcoords && k < 2; ++k)
        {
            double value = fits ? reader->listTexcoords.data[2 * i + k] : 0;
            float kept = Tame(reader, k == 0 ? value : 1 - value);
            reader->draft.failed |= !snwArray_Push(reader->context, &reader->cornerTexcoords, kept);
        }
    }
}

// Strips end at -1; every second triangle of one goes the other way round.
static void KeepStrip(Reader* reader)
{
    int length = 0, last[3] = {0};
    for (int i = 0; i < reader->list.count && reader->problem == NULL && !reader->draft.failed; ++i)
    {
        if (reader->list.data[i] == -1)
        {
            length = 0;
            continue;
        }
        last[0] = last[1], last[1] = last[2], last[2] = ToIndex(reader, reader->list.data[i]);
        length += 1;
        bool odd = length % 2 == 0;
        const int corners[3] = {last[odd ? 1 : 0], last[odd ? 0 : 1], last[2]};
        bool turning = last[0] == last[1] || last[1] == last[2] || last[0] == last[2]; // how strips turn corners
        if (length >= 3 && !turning)
            snwDraft_AddFace(&reader->draft, corners, 3, (int)reader->row, 0);
    }
}

static void SkipElement(Reader* reader);

static void ReadPlyFaces(Reader* reader, bool strips)
{
    FaceLayout layout = MakeFaceLayout(reader->element);
    bool texcoords = layout.texcoords >= 0 && !strips && reader->draft.corners.count == 0;
    if (layout.corners < 0)
    {
        SkipElement(reader);
        return;
    }

    if (layout.colored)
        snwAsset_Note(reader->asset, snw_noteLeftOut, "", "colours of faces; colours of vertices are read");

    // Row by row; strips are cut into triangles, corners may have texture coordinates of their own.
    for (; reader->row < reader->element->count && reader->problem == NULL && !reader->draft.failed;
         reader->row += reader->problem == NULL)
    {
        ReadFaceRow(reader, layout);
        if (reader->problem == NULL && strips)
            KeepStrip(reader);
        else if (reader->problem == NULL)
            KeepFace(reader, texcoords);
    }
}

static int FindScalar(const snwPlyElement* element, const char* name)
{
    for (int i = 0; i < element->propertyCount; ++i)
        if (!element->properties[i].list && snwWord_Is(element->properties[i].name, name))
            return i;
    return -1;
}

static void ReadEdges(Reader* reader)
{
    const snwPlyElement* element = reader->element;
    int first = FindScalar(element, "vertex1"), second = FindScalar(element, "vertex2");
    if (first < 0 || second < 0)
    {
        SkipElement(reader);
        return;
    }

    for (; reader->row < element->count && reader->problem == NULL && !reader->draft.failed;
         reader->row += reader->problem == NULL)
    {
        // Two ends, wherever they stand among the properties.
        int ends[2] = {0};
        for (int i = 0; i < element->propertyCount; ++i)
            if (i == first || i == second)
                ends[i == second] = ToIndex(reader, TakeNumber(reader, element->properties[i].type));
            else
                SkipProperty(reader, &element->properties[i]);

        if (reader->problem == NULL)
            snwDraft_AddElement(&reader->draft, &reader->draft.edges, ends, 2, 0);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

// Bytes that a row needs at least.
static int64_t LeastRow(const Reader* reader, const snwPlyElement* element)
{
    int64_t size = 0;
    for (int i = 0; i < element->propertyCount; ++i)
    {
        const snwPlyProperty* property = &element->properties[i];
        size += reader->header.ascii ? 2 : snwPlyType_Size(property->list ? property->countType : property->type);
    }
    return size;
}

static void SkipElement(Reader* reader)
{
    const snwPlyElement* element = reader->element;
    if (element->count > 0)
        snwAsset_Note(reader->asset, snw_noteLeftOut,
            snwAsset_Text(reader->asset, element->name.text, element->name.size),
            "an element of which nothing is known");
    for (; element->propertyCount > 0 && reader->row < element->count && reader->problem == NULL;
         reader->row += reader->problem == NULL)
        for (int i = 0; i < element->propertyCount; ++i)
            SkipProperty(reader, &element->properties[i]);
}

static void ReadPlyElement(Reader* reader, const snwPlyElement* element)
{
    int64_t least = LeastRow(reader, element);
    reader->element = element;
    reader->row = 0;

    // A count that the file cannot hold is refused at once; elements of unknown names are skipped.
    if (least > 0 && element->count > (snwScan_Left(&reader->scan) + 1) / least)
        reader->problem = "the file is too short for it";
    else if (least > 0 && element->count > snw_maxAssetVertices)
        reader->problem = "there are more than 50 million of them";
    else if (snwWord_Is(element->name, "vertex") && !reader->hasVertices)
        ReadPlyVertices(reader);
    else if (snwWord_Is(element->name, "face"))
        ReadPlyFaces(reader, false);
    else if (snwWord_Is(element->name, "tristrips"))
        ReadPlyFaces(reader, true);
    else if (snwWord_Is(element->name, "edge"))
        ReadEdges(reader);
    else
        SkipElement(reader);
}

static snwResult FailBody(const Reader* reader, snwMessage* message)
{
    const snwPlyElement* element = reader->element;
    snwResult result = snwFail(
        message, snw_errorInput, "the file is damaged or not complete: export it again", "%s", reader->problem);
    const char* name = snwAsset_Text(reader->asset, element->name.text, element->name.size);
    snwMessage_AddPlace(message, "%s %lld", name, (long long)reader->row);
    if (reader->header.ascii)
        snwMessage_AddPlace(message, "line %lld", (long long)reader->scan.line);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole

static void FinishColors(Reader* reader, int count)
{
    float largest = 0;
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k)
            largest = reader->colors[i][k] > largest ? reader->colors[i][k] : largest;
    double unit = largest > 1 ? 1.0 / 255 : 1;
    if (largest > 1)
        snwAsset_Note(reader->asset, snw_noteRepaired, "", "colours go from 0 to 255 instead of 1");
    for (int i = 0; i < count; ++i)
    {
        for (int k = 0; k < 3; ++k)
            reader->colors[i][k] = snwDisplay_ToLight(reader->colors[i][k] * unit);
        reader->colors[i][3] = fminf(fmaxf(reader->colors[i][3], 0), 1);
    }
}

// Texture coordinates of corners, where vertices have none of their own.
static bool ChooseTexcoords(Reader* reader, snwDraftValues* values)
{
    const snwDraft* draft = &reader->draft;
    *values = (snwDraftValues){
        .from = reader->cornerTexcoords.data, .width = 2, .count = reader->cornerTexcoords.count / 2};
    if (values->count == 0 || reader->texcoords != NULL)
        return true;
    if (!snwDraftValues_Begin(reader->context, values, draft->positions.count))
        return false;
    for (int i = 0; i < values->count && i < draft->corners.count; ++i)
        if (draft->corners.data[i] < draft->positions.count)
            snwDraftValues_Choose(values, draft->corners.data[i], i);
    return true;
}

static snwResult FinishPly(Reader* reader, snwMessage* message)
{
    snwAssetMesh* mesh = NULL;
    snwDraftValues values;
    char place[48];
    int count = reader->draft.positions.count;

    // Values of corners become values of vertices before the draft is turned into a mesh.
    if (!ChooseTexcoords(reader, &values))
        return snwFailMemory(message);
    snwResult result = snwDraft_Finish(&reader->draft, &mesh, message);
    if (values.chosen != NULL)
        reader->texcoords = (float(*)[2])snwDraftValues_End(reader->asset, &values, count);
    if (result < 0)
        return result;
    snprintf(place, sizeof place, "vertex %d", values.differingVertex);
    snwAsset_NoteMany(reader->asset, snw_noteOdd, values.differing, place,
        "corners have other texture coordinates than their vertex, which has the first ones: there is a seam");
    snwAsset_NoteMany(reader->asset, snw_noteRepaired, reader->notFinite, "",
        "normals, colours or texture coordinates that were not finite are zero now");
    if (reader->colors != NULL)
        FinishColors(reader, count);
    snwAsset_RepairNormals(reader->asset, reader->normals, count);
    mesh->normals = (const float(*)[3])reader->normals;
    mesh->colors = (const float(*)[4])reader->colors;
    mesh->texcoords = (const float(*)[2])reader->texcoords;
    if (reader->header.ascii ? !snwScan_IsAtEnd(&reader->scan) : snwScan_Left(&reader->scan) > 0)
        snwAsset_Note(reader->asset, snw_noteOdd, "", "there is more behind the last element; it was not read");

    return snw_ok;
}

static snwResult ReadPlyElements(Reader* reader, snwMessage* message)
{
    snwResult result = snwPlyHeader_Read(&reader->scan, &reader->header, message);
    if (result < 0)
        return result;
    for (int i = 0; i < reader->header.elementCount && reader->problem == NULL && !reader->draft.failed; ++i)
        ReadPlyElement(reader, &reader->header.elements[i]);
    if (reader->draft.failed || reader->asset->arena.failed)
        return snwFailMemory(message);
    return reader->problem != NULL ? FailBody(reader, message) : FinishPly(reader, message);
}

static snwResult ReadPly(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    Reader* reader = snwAlloc(asset->context, sizeof *reader); // too large for a stack
    if (reader == NULL)
        return snwFailMemory(message);
    reader->asset = asset;
    reader->context = asset->context;
    reader->scan = snwMakeScan(input->data, input->size, 0);
    reader->draft = snwMakeDraft(asset, "face", 0);
    snwResult result = ReadPlyElements(reader, message);
    snwDraft_Free(&reader->draft);
    snwArray_Free(reader->context, &reader->list);
    snwArray_Free(reader->context, &reader->listTexcoords);
    snwArray_Free(reader->context, &reader->cornerTexcoords);
    snwFree(reader->context, reader);
    return result;
}

const snwAssetReader snw_plyReader = {snw_assetPly, "Stanford PLY", ".ply", ReadPly};
