// libigl's DMAT: "columns rows", then the values by columns, as text; or an empty matrix as text and behind it a second
// header with raw little-endian doubles. Sizes are held against the bytes that are there before memory is asked for.

#include "asset/rig_parts.h"
#include "asset/scan.h"

#include <math.h>
#include <string.h>

typedef struct Shape
{
    int64_t columns, rows;
} Shape;

static Shape ReadMatrixShape(snwScan* scan)
{
    Shape shape;
    shape.columns = snwScan_Int(scan, "the number of columns", 0, snw_maxAssetVertices);
    shape.rows = snwScan_Int(scan, "the number of rows", 0, snw_maxAssetVertices);
    return shape;
}

// At least a digit per value and a blank between two, or eight bytes.
static snwResult MakeMatrixRoom(
    snwAsset* asset, Shape shape, const snwScan* scan, bool binary, double** values, snwMessage* message)
{
    int64_t count = shape.columns * shape.rows;
    int64_t bytes = scan->end - scan->next;
    int64_t most = binary ? bytes / 8 : (bytes + 1) / 2;
    if (count > most)
        return snwScan_FailWith(scan, message, "the file was cut short, or its first line is wrong",
            "%lld columns of %lld rows, but there is room for at most %lld values", (long long)shape.columns,
            (long long)shape.rows, (long long)most);
    *values = snwAsset_Alloc(asset, count + 1, sizeof **values); // an empty matrix has an address, too
    if (*values == NULL)
        return snwFailMemory(message);
    asset->matrix = (snwAssetMatrix){(int)shape.rows, (int)shape.columns, *values};
    return snw_ok;
}

static snwResult ReadMatrixText(snwScan* scan, Shape shape, double* values, snwMessage* message)
{
    for (int64_t i = 0; i < shape.columns * shape.rows; ++i)
    {
        snwWord word = snwScan_Word(scan);
        if (!snwWord_ToReal(word, &values[i]))
            return snwScan_FailWith(scan, message, NULL,
                word.size == 0 ? "the file ends before row %lld of column %lld"
                               : "row %lld of column %lld is not a finite number",
                (long long)(i % shape.rows), (long long)(i / shape.rows));
    }
    return snw_ok;
}

static double TakeMatrixReal(const char* bytes)
{
    uint64_t bits = 0;
    double value;
    for (int i = 7; i >= 0; --i)
        bits = bits << 8 | (unsigned char)bytes[i];
    memcpy(&value, &bits, sizeof value);
    return value;
}

static snwResult ReadBinary(snwScan* scan, Shape shape, double* values, snwMessage* message)
{
    for (int64_t i = 0; i < shape.columns * shape.rows; ++i, scan->next += 8)
    {
        values[i] = TakeMatrixReal(scan->next);
        if (!isfinite(values[i]))
            return snwFail(message, snw_errorInput, NULL, "row %lld of column %lld is not a finite number",
                (long long)(i % shape.rows), (long long)(i / shape.rows));
    }
    return snw_ok;
}

// The raw values begin right behind the end of the second header's line.
static bool EndHeader(snwScan* scan)
{
    if (scan->next < scan->end && *scan->next == '\r')
        scan->next += 1;
    if (scan->failed || scan->next == scan->end || *scan->next != '\n')
        return false;
    scan->next += 1;
    return true;
}

static snwResult ReadSecond(snwScan* scan, snwAsset* asset, snwMessage* message)
{
    double* values = NULL;
    Shape shape = ReadMatrixShape(scan);
    if (scan->failed)
        return snwScan_Fail(scan, message);
    if (!EndHeader(scan))
        return snwScan_FailWith(scan, message, "raw values follow the end of that line at once",
            "the second header is not a line of two numbers");
    snwResult result = MakeMatrixRoom(asset, shape, scan, true, &values, message);
    if (values == NULL)
        return result;
    result = ReadBinary(scan, shape, values, message);
    if (result >= 0 && scan->next < scan->end)
        snwAsset_Note(asset, snw_noteLeftOut, "", "bytes behind the last value");
    return result;
}

snwResult snwDmat_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    snwScan scan = snwMakeScan(input->data, input->size, 0);
    double* values = NULL;
    Shape shape = ReadMatrixShape(&scan);
    if (scan.failed)
        return snwScan_Fail(&scan, message);
    bool empty = shape.columns * shape.rows == 0;
    if (empty && !snwScan_IsAtEnd(&scan))
        return ReadSecond(&scan, asset, message);
    snwResult result = MakeMatrixRoom(asset, shape, &scan, false, &values, message);
    if (values == NULL)
        return result;
    result = ReadMatrixText(&scan, shape, values, message);
    if (result >= 0 && !snwScan_IsAtEnd(&scan))
        snwAsset_Note(asset, snw_noteLeftOut, "", "bytes behind the last value");
    return result;
}

const snwAssetReader snw_dmatReader = {snw_assetDmat, "libigl matrix", ".dmat", snwDmat_Read};
