// Takes the grain out of the two visibilities (see look.h): means over neighbours that lie on the same surface.

#pragma once

#include "base/context.h"
#include "view/vec.h"

enum
{
    snw_filterRadius = 4, // pixels
    snw_segment = 16,     // pixels of a row that are done at once
    snw_seesNothing = -1, // instead of a mesh
    snw_seesSeveral = -2,
};

typedef struct snwGuide
{
    snwFloat3 position, normal; // m, of what the pixel sees
    float key, sky;             // visibilities, 0..1
    float hits;                 // share of samples that hit something
    float softness;             // pixels per metre, there
    int mesh;
} snwGuide;

typedef struct snwGuides
{
    int width, rows;
    int segments;  // of a row
    size_t stride; // floats between rows
    float* data;   // one plane for each number
    bool* grainy;  // of each segment of each row
    size_t planeSize;
} snwGuides;

bool snwGuides_Alloc(snwGuides* guides, snwContext* context, int width, int rows);
void snwGuides_Free(snwGuides* guides, snwContext* context);

// All pixels of a row, with `stride` bytes between them. Rows may be set by several threads.
void snwGuides_SetRow(snwGuides* guides, int row, const snwGuide* pixels, size_t stride);

// Smooth visibilities of a whole segment, of which the last of a row may go over its end. Rows count from 0 to
// rowCount, of which all are set.
void snwGuides_Smooth(
    const snwGuides* guides, int row, int segment, int rowCount, float key[snw_segment], float sky[snw_segment]);
