// Ribbons: a curve with stations at even distances, a width carried along it without turning and then twisted evenly,
// and rows of cells cut into tets.

#include "geom/ribbon.h"

#include <math.h>

typedef struct Station
{
    snwVec3 at, across, through;
} Station;

enum
{
    snw_pieces = 32 // straight pieces per span that stand for the curve when its length is measured
};

int64_t snwRibbon_TetCount(const snwRibbon* ribbon)
{
    return 6 * (int64_t)ribbon->cells[0] * ribbon->cells[1] * ribbon->cells[2];
}

// Stations at even distances along the curve.
static bool PlaceStations(const snwRibbon* ribbon, snwArena* arena, Station* stations)
{
    int pieces = (ribbon->pointCount - 1) * snw_pieces;
    double* lengths = snwArena_Alloc(arena, (size_t)pieces + 1, sizeof *lengths);
    snwVec3* line = snwArena_Alloc(arena, (size_t)pieces + 1, sizeof *line);
    if (lengths == NULL || line == NULL)
        return false;

    // The curve as a fine polyline, with its length so far.
    for (int i = 0; i <= pieces; ++i)
    {
        int span = i < pieces ? i / snw_pieces : ribbon->pointCount - 2;
        line[i] = snwCurve_Point(ribbon->points, ribbon->pointCount, span, (double)(i - span * snw_pieces) / snw_pieces)
                      .at;
        lengths[i] = i > 0 ? lengths[i - 1] + snwVec3_Distance(line[i - 1], line[i]) : 0;
    }

    // Then stations along it by linear interpolation.
    int piece = 0, count = ribbon->cells[0];
    for (int i = 0; i <= count; ++i)
    {
        double wanted = lengths[pieces] * i / count;
        while (piece + 1 < pieces && lengths[piece + 1] < wanted)
            ++piece;
        double length = lengths[piece + 1] - lengths[piece];
        stations[i].at = snwVec3_Lerp(
            line[piece], line[piece + 1], length > 0 ? (wanted - lengths[piece]) / length : 0);
    }

    return true;
}

// Carries the width along the curve without turning about it, then twists it evenly.
static void TurnStations(const snwRibbon* ribbon, Station* stations)
{
    int last = ribbon->cells[0];
    snwVec3 across = ribbon->across;
    for (int i = 0; i <= last; ++i)
    {
        snwVec3 along = snwVec3_Normalize(
            snwVec3_Sub(stations[i < last ? i + 1 : i].at, stations[i > 0 ? i - 1 : i].at));
        across = snwVec3_MulAdd(across, -snwVec3_Dot(across, along), along);
        if (snwVec3_LengthSquared(across) < 1e-12)
            across = snwVec3_Perpendicular(along);
        across = snwVec3_Normalize(across);
        snwQuat turn = snwQuat_FromAxisAngle(along, ribbon->twist * i / last);
        stations[i].across = snwQuat_Rotate(turn, across);
        stations[i].through = snwVec3_Cross(along, stations[i].across);
    }
}

bool snwRibbon_Mesh(const snwRibbon* ribbon, snwArena* arena, snwTetMesh* mesh)
{
    const int* cells = ribbon->cells;
    Station* stations = snwArena_Alloc(arena, (size_t)cells[0] + 1, sizeof *stations);
    snwVec3 size = {1, ribbon->width, ribbon->thickness};
    if (stations == NULL || !PlaceStations(ribbon, arena, stations) || !snwMakeBoxMesh(arena, size, cells, mesh))
        return false;
    TurnStations(ribbon, stations);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        snwVec3 p = mesh->vertices[i];
        const Station* station = &stations[(int)lround((p.x + 0.5) * cells[0])];
        snwVec3 q = snwVec3_MulAdd(station->at, p.y, station->across);
        mesh->vertices[i] = snwVec3_MulAdd(q, p.z, station->through);
    }
    return true;
}
