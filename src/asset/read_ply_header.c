// The header of a PLY: format, elements and their properties, each with its type; names may not come twice.

#include "asset/read_ply.h"

#include <string.h>

static const struct
{
    const char *name, *other;
    int size;
} s_types[snw_plyTypeCount] = {
    [snw_plyInt8] = {"char", "int8", 1},
    [snw_plyUint8] = {"uchar", "uint8", 1},
    [snw_plyInt16] = {"short", "int16", 2},
    [snw_plyUint16] = {"ushort", "uint16", 2},
    [snw_plyInt32] = {"int", "int32", 4},
    [snw_plyUint32] = {"uint", "uint32", 4},
    [snw_plyInt64] = {"int64", "long", 8},
    [snw_plyUint64] = {"uint64", "ulong", 8},
    [snw_plyFloat] = {"float", "float32", 4},
    [snw_plyDouble] = {"double", "float64", 8},
};

int snwPlyType_Size(snwPlyType type)
{
    return s_types[type].size;
}

static snwPlyType TakePlyType(snwScan* scan)
{
    snwWord word = snwScan_WordInLine(scan);
    for (snwPlyType type = 0; type < snw_plyTypeCount; ++type)
        if (snwWord_Is(word, s_types[type].name) || snwWord_Is(word, s_types[type].other))
            return type;
    snwScan_Miss(scan, "the type of a property", word, "is none of PLY's");
    return snw_plyInt8;
}

static snwWord TakePlyName(snwScan* scan, const char* what)
{
    snwWord word = snwScan_WordInLine(scan);
    if (word.size == 0)
        snwScan_MissEnd(scan, what, "the line ends before it");
    return word;
}

static void ReadFormat(snwScan* scan, snwPlyHeader* header)
{
    snwWord word = snwScan_WordInLine(scan);
    header->ascii = snwWord_Is(word, "ascii");
    header->big = snwWord_Is(word, "binary_big_endian");
    if (!header->ascii && !header->big && !snwWord_Is(word, "binary_little_endian"))
        snwScan_Miss(scan, "the format", word, "is none of PLY's three");
}

static void DeclareElement(snwScan* scan, snwPlyHeader* header)
{
    snwPlyElement element = {.name = TakePlyName(scan, "the name of an element")};
    if (scan->failed)
        return;
    element.count = snwScan_Int(scan, "the count of an element", 0, INT64_MAX);
    element.properties = header->properties + header->propertyCount;
    if (header->elementCount == snw_maxPlyElements)
        snwScan_Miss(scan, "the header", element.name, "is one element too many");
    else
        header->elements[header->elementCount++] = element;
}

static void ReadProperty(snwScan* scan, snwPlyHeader* header)
{
    snwPlyProperty property = {0};
    snwWord first = snwScan_PeekInLine(scan);
    property.list = snwWord_Is(first, "list");
    if (property.list)
    {
        snwScan_WordInLine(scan);
        property.countType = TakePlyType(scan);
    }

    // A property belongs to the element before it.
    property.type = TakePlyType(scan);
    property.name = TakePlyName(scan, "the name of a property");
    if (header->elementCount == 0)
        snwScan_Miss(scan, "the header", property.name, "is a property before any element");
    else if (header->propertyCount == snw_maxPlyProperties)
        snwScan_Miss(scan, "the header", property.name, "is one property too many");

    if (scan->failed)
        return;

    // The same name twice would leave it open which one counts.
    for (int i = header->elements[header->elementCount - 1].propertyCount; i > 0; --i)
    {
        snwWord other = header->properties[header->propertyCount - i].name;
        if (other.size == property.name.size && memcmp(other.text, property.name.text, other.size) == 0)
            snwScan_Miss(scan, "the header", property.name, "is the name of two properties of one element");
    }

    header->properties[header->propertyCount++] = property;
    header->elements[header->elementCount - 1].propertyCount += 1;
}

// One line; true at the last one.
static bool ReadPlyLine(snwScan* scan, snwPlyHeader* header, bool* format)
{
    snwWord word = snwScan_WordInLine(scan);
    if (snwWord_Is(word, "end_header"))
        return true;
    if (snwWord_Is(word, "format"))
    {
        *format = true;
        ReadFormat(scan, header);
    }
    else if (snwWord_Is(word, "element"))
        DeclareElement(scan, header);
    else if (snwWord_Is(word, "property"))
        ReadProperty(scan, header);
    else if (word.size > 0 && !snwWord_Is(word, "comment") && !snwWord_Is(word, "obj_info"))
        snwScan_Miss(scan, "the header", word, "is no word of a PLY header");
    return false;
}

snwResult snwPlyHeader_Read(snwScan* scan, snwPlyHeader* header, snwMessage* message)
{
    bool format = false;
    memset(header, 0, sizeof *header);
    if (snwScan_Left(scan) < 4 || memcmp(scan->next, "ply", 3) != 0)
        return snwFail(message, snw_errorInput, "choose Stanford PLY in the exporter", "this is no PLY file");
    // What ends a line is told by the first one: the body may hold any byte.
    scan->feed = (char)(scan->next[3] == '\r' && (snwScan_Left(scan) < 5 || scan->next[4] != '\n') ? '\r' : '\n');
    snwScan_SkipLine(scan);
    while (!scan->failed && !ReadPlyLine(scan, header, &format))
        if (!scan->failed && !snwScan_SkipLine(scan))
            snwScan_MissEnd(scan, "the end of the header", "the file ends before it");
    if (!scan->failed && !format)
        snwScan_Miss(scan, "the format", (snwWord){scan->next, 0}, "the header does not tell it");
    if (scan->failed)
        return snwScan_Fail(scan, message);
    snwScan_SkipLine(scan);
    return snw_ok;
}
