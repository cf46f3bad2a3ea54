// Where points of one skin are near the surface of another, or of the same one on other links.
//
// A point meets triangles that look towards it: whose normal is against its own. So the corners of a box that lies on
// one of the same size meet its lid and not its sides, and the far side of a thin limb is never met. Points go to a
// grid, triangles look for points, so there is room for every case from the start. What is deeper than the reach is not
// seen.

#pragma once

#include "sim/softcontact/point_skin.h"

typedef struct snwSkinTouch
{
    int triangle;      // < 0: none
    double weights[3]; // of its corners
    snwVec3 normal;    // out of the surface
    double gap;        // m, negative inside
    double squared;    // m^2, to the nearest point of it
} snwSkinTouch;

typedef struct snwSkinSearch
{
    snwContext* context;
    int capacity;          // points
    int *first, *order;    // points by cell: CSR
    int* cellOf;           // by point; -1: too far from the other skin
    snwVec3* normals;      // of points, not of unit length
    snwSkinTouch* touches; // by point
} snwSkinSearch;

snwResult snwSkinSearch_Create(snwContext* context, int capacity, snwSkinSearch* search, snwMessage* message);
void snwSkinSearch_Free(snwSkinSearch* search);

// Fills `touches` of all points of `from`: the nearest place of `onto` within reach. Both skins may be one of a body
// with this tree: then points meet what no link of theirs carries, nor one that is joined to it, and what was farther
// away in the rest pose than its edges are long. True: there are any.
bool snwSkinSearch_Find(
    snwSkinSearch* search, const snwPointSkin* from, const snwPointSkin* onto, const snwBodyTree* tree, double reach);
