// The layout of frames and models, as docs/studio.md has it. Little-endian machines only, as the engine's own blocks.

#pragma once

#include "studio/stage.h"

#define SNW_BLOB_MAGIC 0x56574E53u // "SNWV"

enum
{
    snw_blobHead = 48 // bytes
};

typedef struct snwBlobHead
{
    uint32_t magic;
    uint16_t layout, kind; // kind 1: frame, 2: model
    uint32_t serial, model;
    uint64_t frame;
    double time, ms;
    uint32_t flags, sections;
} snwBlobHead;

typedef enum snwSection
{
    snw_sectionPositions = 1,
    snw_sectionNormals,
    snw_sectionBones,
    snw_sectionJoints,
    snw_sectionHandles,
    snw_sectionGiven,
    snw_sectionColliders,
    snw_sectionProps,
    snw_sectionContacts,
    snw_sectionValues,
    snw_sectionMeasures,
    snw_sectionStages,
    snw_sectionPins,
    snw_sectionGrabs,
    snw_sectionElements,
    snw_sectionPressure,
    snw_sectionAcks,
    snw_sectionModel = 100, // JSON; data from 101 on
} snwSection;

// Writes sections into data, or only counts them if that is NULL. Begin with size at snw_blobHead.
typedef struct snwEncoder
{
    unsigned char* data;
    size_t size;
    uint32_t sections;
} snwEncoder;

// Room for the data of a section; NULL if it is only counted.
void* snwEncoder_Add(snwEncoder* encoder, uint32_t kind, uint32_t index, size_t count, size_t bytes);
void snwBlob_SetHead(snwBlob* blob, const snwBlobHead* head);

// All that does not change of a scene that is shown. Its serial is 0. weights: per body sRGB and 255 for each vertex of
// its character, or NULL; NULL: of none.
typedef unsigned char snwPaintedVertex[4];
snwResult snwEncodeModel(const snwStage* stage, snwPaintedVertex* const* weights, snwBlob** blob, snwMessage* message);
