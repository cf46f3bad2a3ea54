// Accessors: checked once, then read as numbers.

#include "asset/gltf_parts.h"
#include "scene/words.h"

#include <math.h>
#include <string.h>

static const struct
{
    const char* name;
    int columns, rows;
} s_types[snw_gltfTypeCount] = {
    {"SCALAR", 1, 1}, {"VEC2", 1, 2}, {"VEC3", 1, 3}, {"VEC4", 1, 4}, {"MAT2", 2, 2}, {"MAT3", 3, 3}, {"MAT4", 4, 4}};

static const int64_t s_offsetRange[2] = {0, (int64_t)snw_maxAssetBytes};

int snwGltfType_Width(snwGltfType type)
{
    return s_types[type].columns * s_types[type].rows;
}

const char* snwGltfType_Name(snwGltfType type)
{
    return s_types[type].name;
}

int snwGltfComponent_Size(snwGltfComponent component)
{
    switch (component)
    {
        case snw_gltfByte:
        case snw_gltfUbyte:
            return 1;
        case snw_gltfShort:
        case snw_gltfUshort:
            return 2;
        case snw_gltfUint:
        case snw_gltfFloat:
            return 4;
    }
    return 0;
}

// Columns of matrices begin at multiples of 4 bytes.
static int ColumnSize(const snwGltfAccessor* accessor)
{
    int size = s_types[accessor->type].rows * snwGltfComponent_Size(accessor->component);
    return s_types[accessor->type].columns == 1 ? size : (size + 3) / 4 * 4;
}

int snwGltfAccessor_PackedSize(const snwGltfAccessor* accessor)
{
    return s_types[accessor->type].columns * ColumnSize(accessor);
}

int snwGltfAccessor_ElementSize(const snwGltfAccessor* accessor)
{
    int last = s_types[accessor->type].rows * snwGltfComponent_Size(accessor->component);
    return (s_types[accessor->type].columns - 1) * ColumnSize(accessor) + last;
}

// ---------------------------------------------------------------------------------------------------------------------
// Checks

typedef struct Run
{
    int view;
    size_t offset;
    int stride, element, component; // bytes
    int count;
} Run;

// All elements lie inside of the view.
static void CheckRun(snwGltfReading* reading, const Run* run)
{
    if (snwGltfReading_Failed(reading))
        return;
    size_t size = reading->gltf->views[run->view].size;
    size_t end = run->offset + (size_t)run->stride * (size_t)(run->count - 1) + (size_t)run->element;
    if (end > size)
        snwGltf_Fail(reading, "the file is cut or edited by hand: export it again",
            "its %d elements end at byte %zu of buffer view %d, which has %zu", run->count, end, run->view, size);
    else if (run->offset % (size_t)run->component != 0)
        snwGltf_Note(reading, snw_noteOdd, 1, "numbers do not begin at a multiple of their size; read all the same");
}

static snwGltfComponent ReadComponent(snwGltfReading* reading, const json_t* item)
{
    static const int64_t s_range[2] = {snw_gltfByte, snw_gltfFloat};
    snwGltfComponent component = (snwGltfComponent)snwGltf_Int(
        reading, item, "componentType", s_range, snw_gltfByte - 1);
    if (snwGltfComponent_Size(component) == 0)
        snwGltf_Fail(reading, NULL, "%d is no componentType", (int)component);
    return component;
}

static snwGltfType ReadType(snwGltfReading* reading, const json_t* item)
{
    const char* name = snwGltf_Text(reading, item, "type");
    for (int i = 0; name != NULL && i < snw_gltfTypeCount; ++i)
        if (strcmp(name, s_types[i].name) == 0)
            return (snwGltfType)i;
    snwGltf_Fail(reading, NULL, "'%s' is no type of an accessor", name == NULL ? "" : snwQuoteWord(name).text);
    return snw_gltfScalar;
}

static const double* ReadBounds(snwGltfReading* reading, const json_t* item, const char* key, int width)
{
    double values[16];
    if (!snwGltf_Reals(reading, item, key, width, values))
        return NULL;
    double* copy = snwGltf_Room(reading, width, sizeof *copy);
    if (copy != NULL)
        memcpy(copy, values, (size_t)width * sizeof *copy);
    return copy;
}

static void ReadSparseIndices(snwGltfReading* reading, snwGltfSparse* sparse, const json_t* item)
{
    size_t mark = snwJson_Enter(&reading->json, "indices");
    sparse->indexView = snwGltf_NeedIndex(reading, item, "bufferView", reading->gltf->viewCount, "buffer views");
    sparse->indexOffset = (size_t)snwGltf_Int(reading, item, "byteOffset", s_offsetRange, 0);
    sparse->indexComponent = ReadComponent(reading, item);
    if (sparse->indexComponent != snw_gltfUbyte && sparse->indexComponent != snw_gltfUshort &&
        sparse->indexComponent != snw_gltfUint)
        snwGltf_Fail(reading, NULL, "indices must be unsigned integers");
    int size = snwGltfComponent_Size(sparse->indexComponent);
    CheckRun(reading, &(Run){sparse->indexView, sparse->indexOffset, size, size, size, sparse->count});
    snwJson_Leave(&reading->json, mark);
}

static void ReadSparse(snwGltfReading* reading, snwGltfAccessor* accessor, const json_t* item)
{
    const int64_t range[2] = {1, accessor->count};
    size_t mark = snwJson_Enter(&reading->json, "sparse");
    snwGltfSparse* sparse = &accessor->sparse;
    sparse->count = (int)snwGltf_Int(reading, item, "count", range, 0);
    ReadSparseIndices(reading, sparse, snwGltf_Object(reading, item, "indices"));
    const json_t* values = snwGltf_Object(reading, item, "values");
    size_t inner = snwJson_Enter(&reading->json, "values");
    sparse->valueView = snwGltf_NeedIndex(reading, values, "bufferView", reading->gltf->viewCount, "buffer views");
    sparse->valueOffset = (size_t)snwGltf_Int(reading, values, "byteOffset", s_offsetRange, 0);
    CheckRun(
        reading, &(Run){sparse->valueView, sparse->valueOffset, snwGltfAccessor_PackedSize(accessor),
                     snwGltfAccessor_ElementSize(accessor), snwGltfComponent_Size(accessor->component), sparse->count});
    snwJson_Leave(&reading->json, inner);
    snwJson_Leave(&reading->json, mark);
}

static void ReadAccessor(snwGltfReading* reading, snwGltfAccessor* accessor, const json_t* item)
{
    static const int64_t s_countRange[2] = {1, (int64_t)snw_maxAssetVertices * 16};
    const snwGltf* gltf = reading->gltf;
    accessor->view = snwGltf_Index(reading, item, "bufferView", gltf->viewCount, "buffer views");
    accessor->offset = (size_t)snwGltf_Int(reading, item, "byteOffset", s_offsetRange, 0);
    accessor->count = (int)snwGltf_Int(reading, item, "count", s_countRange, 0);
    accessor->normalized = snwGltf_Bool(reading, item, "normalized");
    accessor->component = ReadComponent(reading, item);
    accessor->type = ReadType(reading, item);
    if (snwGltfReading_Failed(reading))
        return;
    accessor->stride = snwGltfAccessor_PackedSize(accessor);

    // In a view: elements may be interleaved, and all of them must lie within it.
    if (accessor->view >= 0)
    {
        int element = snwGltfAccessor_ElementSize(accessor), stride = gltf->views[accessor->view].stride;
        if (stride > 0 && stride < element)
            snwGltf_Fail(
                reading, "export the file again", "the stride of its view, %d bytes, is less than an element", stride);
        accessor->stride = stride > 0 ? stride : accessor->stride;
        CheckRun(reading, &(Run){accessor->view, accessor->offset, accessor->stride, element,
                              snwGltfComponent_Size(accessor->component), accessor->count});
    }

    // Bounds are only kept; sparse values are checked like those of a view.
    accessor->min = ReadBounds(reading, item, "min", snwGltfType_Width(accessor->type));
    accessor->max = ReadBounds(reading, item, "max", snwGltfType_Width(accessor->type));
    const json_t* sparse = snwGltf_Object(reading, item, "sparse");
    if (sparse != NULL)
        ReadSparse(reading, accessor, sparse);
}

void snwGltf_ReadAccessors(snwGltfReading* reading)
{
    snwGltf* gltf = reading->gltf;
    const json_t* list = snwGltf_List(reading, gltf->root, "accessors", snw_maxGltfItems, &gltf->accessorCount);
    gltf->accessors = snwGltf_Room(reading, gltf->accessorCount, sizeof *gltf->accessors);
    size_t mark = snwJson_Enter(&reading->json, "accessors");
    for (int i = 0; i < gltf->accessorCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        ReadAccessor(reading, &gltf->accessors[i], snwGltf_Item(reading, list, i));
        snwJson_Leave(&reading->json, place);
    }
    snwJson_Leave(&reading->json, mark);
}

void snwGltf_CheckAccessor(snwGltfReading* reading, int index, unsigned types, unsigned components)
{
    if (snwGltfReading_Failed(reading))
        return;
    const snwGltfAccessor* accessor = &reading->gltf->accessors[index];
    if ((types >> accessor->type & 1) == 0 || (components >> (accessor->component - snw_gltfByte) & 1) == 0)
        snwGltf_Fail(reading, "export the file again, or look at it with a glTF validator",
            "accessor %d is %s of component type %d, which makes no sense here", index, s_types[accessor->type].name,
            accessor->component);
}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers

static uint32_t LoadUint(const unsigned char* p, snwGltfComponent component)
{
    uint32_t value = p[0];
    if (component == snw_gltfUshort || component == snw_gltfUint)
        value |= (uint32_t)p[1] << 8;
    if (component == snw_gltfUint)
        value |= (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return value;
}

static double LoadFloat(const unsigned char* p)
{
    uint32_t bits = LoadUint(p, snw_gltfUint);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double LoadReal(const unsigned char* p, snwGltfComponent component, bool normalized)
{
    // Normalised integers are -1 .. 1 or 0 .. 1, as glTF defines it.
    switch (component)
    {
        case snw_gltfByte:
            return normalized ? fmax((int8_t)p[0] / 127.0, -1) : (int8_t)p[0];
        case snw_gltfUbyte:
            return normalized ? p[0] / 255.0 : p[0];
        case snw_gltfShort:
        {
            int16_t value = (int16_t)LoadUint(p, snw_gltfUshort);
            return normalized ? fmax(value / 32767.0, -1) : value;
        }
        case snw_gltfUshort:
            return normalized ? LoadUint(p, component) / 65535.0 : LoadUint(p, component);
        case snw_gltfUint:
            return normalized ? LoadUint(p, component) / 4294967295.0 : LoadUint(p, component);
        case snw_gltfFloat:
            break;
    }

    return LoadFloat(p);
}

// Where numbers go: one of them is not NULL.
typedef struct Target
{
    double* reals;
    float* floats;
    uint32_t* ints;
} Target;

static void LoadElement(const snwGltfAccessor* accessor, const unsigned char* p, Target target, size_t element)
{
    int rows = s_types[accessor->type].rows, columns = s_types[accessor->type].columns;
    int size = snwGltfComponent_Size(accessor->component), column = ColumnSize(accessor);
    size_t next = element * (size_t)(rows * columns);
    for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r, ++next)
        {
            const unsigned char* at = p + c * column + r * size;
            if (target.ints != NULL)
                target.ints[next] = LoadUint(at, accessor->component);
            else if (target.reals != NULL)
                target.reals[next] = LoadReal(at, accessor->component, accessor->normalized);
            else if (target.floats != NULL)
                target.floats[next] = (float)LoadReal(at, accessor->component, accessor->normalized);
        }
}

static snwResult FailAtAccessor(int accessor, snwMessage* message, snwResult result)
{
    snwMessage_AddPlace(message, "accessors[%d]", accessor);
    return result;
}

static snwResult LoadSparse(const snwGltf* gltf, int index, Target target, snwMessage* message)
{
    const snwGltfAccessor* accessor = &gltf->accessors[index];
    const snwGltfSparse* sparse = &accessor->sparse;
    const unsigned char* indices = gltf->views[sparse->indexView].data;
    const unsigned char* values = gltf->views[sparse->valueView].data;
    int size = snwGltfComponent_Size(sparse->indexComponent), packed = snwGltfAccessor_PackedSize(accessor);
    int64_t last = -1;

    if (indices == NULL || values == NULL)
        return FailAtAccessor(index, message,
            snwFail(message, snw_errorInput, "export the file again", "the buffer of its sparse part has no data"));

    // Indices must rise: so each element is set at most once.
    for (int i = 0; i < sparse->count; ++i)
    {
        uint32_t element = LoadUint(indices + sparse->indexOffset + (size_t)i * (size_t)size, sparse->indexComponent);
        if (element >= (uint32_t)accessor->count || element <= last)
            return FailAtAccessor(index, message,
                snwFail(message, snw_errorInput, "export the file again",
                    "sparse index %d is %u; they must rise and be below %d", i, element, accessor->count));

        last = element;
        LoadElement(accessor, values + sparse->valueOffset + (size_t)i * (size_t)packed, target, element);
    }

    return snw_ok;
}

static snwResult LoadAccessor(const snwGltf* gltf, int index, Target target, snwMessage* message)
{
    const snwGltfAccessor* accessor = &gltf->accessors[index];
    size_t numbers = (size_t)accessor->count * (size_t)snwGltfType_Width(accessor->type);
    if (accessor->view >= 0 && gltf->views[accessor->view].data == NULL)
        return FailAtAccessor(
            index, message, snwFail(message, snw_errorInput, "export the file again", "its buffer has no data"));

    // Without a view all elements are zero, until sparse ones change some.
    if (accessor->view >= 0)
        for (int i = 0; i < accessor->count; ++i)
            LoadElement(accessor,
                gltf->views[accessor->view].data + accessor->offset + (size_t)i * (size_t)accessor->stride, target,
                (size_t)i);
    else if (target.ints != NULL)
        memset(target.ints, 0, numbers * sizeof *target.ints);
    else if (target.reals != NULL)
        memset(target.reals, 0, numbers * sizeof *target.reals);
    else if (target.floats != NULL)
        memset(target.floats, 0, numbers * sizeof *target.floats);

    // Sparse elements come on top.
    return accessor->sparse.count > 0 ? LoadSparse(gltf, index, target, message) : snw_ok;
}

static snwResult FailNotFinite(const snwGltf* gltf, int index, size_t number, snwMessage* message)
{
    int width = snwGltfType_Width(gltf->accessors[index].type);
    return FailAtAccessor(index, message,
        snwFail(message, snw_errorInput, "look for vertices at infinity or a broken modifier, then export again",
            "element %zu is not a finite number", number / (size_t)width));
}

snwResult snwGltf_ReadReals(const snwGltf* gltf, int accessor, double* values, int64_t* repaired, snwMessage* message)
{
    snwResult result = LoadAccessor(gltf, accessor, (Target){.reals = values}, message);
    size_t numbers = (size_t)gltf->accessors[accessor].count *
                     (size_t)snwGltfType_Width(gltf->accessors[accessor].type);
    for (size_t i = 0; result >= 0 && i < numbers; ++i)
    {
        if (isfinite(values[i]))
            continue;
        if (repaired == NULL)
            return FailNotFinite(gltf, accessor, i, message);
        values[i] = 0;
        *repaired += 1;
    }
    return result;
}

snwResult snwGltf_ReadFloats(const snwGltf* gltf, int accessor, float* values, int64_t* repaired, snwMessage* message)
{
    snwResult result = LoadAccessor(gltf, accessor, (Target){.floats = values}, message);
    size_t numbers = (size_t)gltf->accessors[accessor].count *
                     (size_t)snwGltfType_Width(gltf->accessors[accessor].type);
    for (size_t i = 0; result >= 0 && i < numbers; ++i)
    {
        if (isfinite(values[i]))
            continue;
        if (repaired == NULL)
            return FailNotFinite(gltf, accessor, i, message);
        values[i] = 0;
        *repaired += 1;
    }
    return result;
}

snwResult snwGltf_ReadInts(const snwGltf* gltf, int accessor, uint32_t* values, snwMessage* message)
{
    snwGltfComponent component = gltf->accessors[accessor].component;
    if (component != snw_gltfUbyte && component != snw_gltfUshort && component != snw_gltfUint)
        return FailAtAccessor(accessor, message,
            snwFail(message, snw_errorInput, "export the file again", "must hold unsigned integers"));
    return LoadAccessor(gltf, accessor, (Target){.ints = values}, message);
}
