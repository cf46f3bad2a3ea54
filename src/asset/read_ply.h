// Inside the reader of PLY: what the header declares.

#pragma once

#include "asset/scan.h"

enum
{
    snw_maxPlyElements = 64,
    snw_maxPlyProperties = 512, // of all elements together
};

typedef enum snwPlyType
{
    snw_plyInt8,
    snw_plyUint8,
    snw_plyInt16,
    snw_plyUint16,
    snw_plyInt32,
    snw_plyUint32,
    snw_plyInt64,
    snw_plyUint64,
    snw_plyFloat,
    snw_plyDouble,
    snw_plyTypeCount,
} snwPlyType;

typedef struct snwPlyProperty
{
    snwWord name;
    snwPlyType type;
    bool list;
    snwPlyType countType; // of a list's length
} snwPlyProperty;

typedef struct snwPlyElement
{
    snwWord name;
    int64_t count;
    const snwPlyProperty* properties;
    int propertyCount;
} snwPlyElement;

typedef struct snwPlyHeader
{
    bool ascii, big;
    snwPlyElement elements[snw_maxPlyElements];
    int elementCount;
    snwPlyProperty properties[snw_maxPlyProperties];
    int propertyCount;
} snwPlyHeader;

// Leaves the scan at the first byte of the body.
snwResult snwPlyHeader_Read(snwScan* scan, snwPlyHeader* header, snwMessage* message);
int snwPlyType_Size(snwPlyType type);
