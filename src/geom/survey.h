// A survey of a triangle surface: is it closed, does it bound a body, and if not, where and why not?

#pragma once

#include "base/arena.h"

typedef struct snwSurveyDef
{
    const snwVec3* vertices; // finite, welded
    int vertexCount;
    const int (*triangles)[3];
    int triangleCount;
    bool crossings; // look for triangles that cross others, too: the slowest part
} snwSurveyDef;

// Triangles that hang together over their sides.
typedef struct snwSurveyShell
{
    int triangleCount;
    int firstTriangle;
    int openEdges;
    bool consistent; // neighbours agree about outward
    bool insideOut;  // closed and consistent, but facing inwards, and no cavity of another shell
    double area;     // m^2
    double volume;   // m^3, signed, as the triangles face
} snwSurveyShell;

// Open edges that hang together.
typedef struct snwHole
{
    int edgeCount;
    double length;  // m, of the rim
    double area;    // m^2, that the rim goes round; about 0 for a seam whose sides do not share their vertices
    snwVec3 centre; // of its corners
} snwHole;

enum
{
    snw_markFlat = 1,      // no area, or a corner twice
    snw_markDouble = 2,    // the same corners as an earlier one
    snw_markTurned = 4,    // faces the other way than most of its shell
    snw_markCrossing = 8,  // meets another that is no neighbour
    snw_markInsideOut = 16 // of a shell that is
};

typedef enum snwEdgeMark
{
    snw_edgeOpen,    // one triangle
    snw_edgeCrowded, // more than two
} snwEdgeMark;

typedef struct snwMarkedEdge
{
    int a, b;
    snwEdgeMark mark;
} snwMarkedEdge;

typedef struct snwSurvey
{
    int vertexCount, triangleCount;
    int edgeCount;
    int looseVertices; // of no triangle
    int flatTriangles, doubleTriangles, turnedTriangles;
    int openEdges, crowdedEdges;
    int pinchedVertices; // where two or more fans of triangles meet in a point
    int twistedShells;   // that no turning of triangles makes consistent (a Moebius strip)
    int crossingTriangles;
    int64_t crossingPairs;
    int uncheckedTriangles; // for crossings: too crowded to tell
    bool crossingsKnown;
    snwSurveyShell* shells; // the largest first
    int shellCount;
    snwHole* holes; // the longest first
    int holeCount;
    uint8_t* marks; // snw_mark... of each triangle
    snwMarkedEdge* edges;
    int markedEdgeCount;
    snwVec3 lower, upper; // m
    double size;          // m, the diagonal
    double area;          // m^2
    double volume;        // m^3, of all shells, signed
} snwSurvey;

// Lists come from the arena.
snwResult snwSurveySurface(snwArena* arena, const snwSurveyDef* def, snwSurvey* survey, snwMessage* message);

// It bounds a body: closed, manifold, consistent, outward, crossing nothing.
bool snwSurvey_IsSound(const snwSurvey* survey);
