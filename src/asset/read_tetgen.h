// Inside the reader of TetGen's files: facets of several polygons.

#pragma once

#include "asset/draft.h"

typedef struct snwTetgenFacet
{
    int firstFace; // its polygons are the faces of the draft from here on
    const snwVec3* holes;
    int holeCount;
    int place, label;
} snwTetgenFacet;

typedef enum snwFacetCut
{
    snw_facetNoMemory = -1,
    snw_facetCut,
    snw_facetOdd, // its polygons touch or cross each other, or are too many: they stay as they are, its holes filled
} snwFacetCut;

// Cuts the facet along all of its polygons and leaves out what holes lie in, as TetGen does. The points must be there.
snwFacetCut snwTetgenFacet_Cut(snwDraft* draft, const snwTetgenFacet* facet);
