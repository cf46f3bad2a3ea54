#include "broken.h"

#include "math/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Adding

static int AddVertex(snwBroken* b, double x, double y, double z)
{
    if (b->vertexCount == b->vertexCapacity)
    {
        int capacity = b->vertexCapacity > 0 ? 2 * b->vertexCapacity : 1024;
        snwVec3* more = realloc(b->vertices, (size_t)capacity * sizeof *more);
        b->failed = b->failed || more == NULL;
        if (more == NULL)
            return 0;
        b->vertices = more;
        b->vertexCapacity = capacity;
    }
    b->vertices[b->vertexCount] = (snwVec3){x, y, z};
    return b->vertexCount++;
}

static void AddTriangle(snwBroken* b, int x, int y, int z)
{
    if (b->triangleCount == b->triangleCapacity)
    {
        int capacity = b->triangleCapacity > 0 ? 2 * b->triangleCapacity : 1024;
        int(*more)[3] = realloc(b->triangles, (size_t)capacity * sizeof *more);
        b->failed = b->failed || more == NULL;
        if (more == NULL)
            return;
        b->triangles = more;
        b->triangleCapacity = capacity;
    }
    int* t = b->triangles[b->triangleCount++];
    t[0] = x, t[1] = y, t[2] = z;
}

typedef struct Ball
{
    snwVec3 centre;
    double radius;
    double bumps; // of the radius
    bool inward;
} Ball;

static void AddFace(snwBroken* b, const Ball* ball, int x, int y, int z)
{
    AddTriangle(b, x, ball->inward ? z : y, ball->inward ? y : z);
}

// A lumpy ball of about so many triangles: rows of latitude, poles at both ends of z.
static void AddBall(snwBroken* b, const Ball* ball, int triangles)
{
    int rows = (int)sqrt(triangles / 4.0), columns;
    rows = rows < 4 ? 4 : rows;
    columns = 2 * rows;
    int first = b->vertexCount;
    for (int i = 1; i < rows; ++i)
        for (int k = 0; k < columns; ++k)
        {
            double u = SNW_PI * i / rows, v = 2 * SNW_PI * k / columns;
            double r = ball->radius * (1 + ball->bumps * sin(3 * u) * sin(u) * cos(4 * v));
            AddVertex(b, ball->centre.x + r * sin(u) * cos(v), ball->centre.y + r * sin(u) * sin(v),
                ball->centre.z + r * cos(u));
        }
    int top = AddVertex(b, ball->centre.x, ball->centre.y, ball->centre.z + ball->radius);
    int bottom = AddVertex(b, ball->centre.x, ball->centre.y, ball->centre.z - ball->radius);
    for (int k = 0; k < columns; ++k)
    {
        int next = (k + 1) % columns, last = first + (rows - 2) * columns;
        AddFace(b, ball, top, first + k, first + next);
        AddFace(b, ball, bottom, last + next, last + k);
        for (int i = 0; i < rows - 2; ++i)
        {
            int p = first + i * columns, q = p + columns;
            AddFace(b, ball, p + k, q + k, q + next);
            AddFace(b, ball, p + k, q + next, p + next);
        }
    }
}

static const Ball s_ball = {{0, 0, 0}, 1, 0.15, false};

static void AddBox(snwBroken* b, snwVec3 lower, snwVec3 upper)
{
    static const int s_faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4}, {2, 6, 7},
        {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    int first = b->vertexCount;
    for (int i = 0; i < 8; ++i)
        AddVertex(b, i & 1 ? upper.x : lower.x, i & 2 ? upper.y : lower.y, i & 4 ? upper.z : lower.z);
    for (int i = 0; i < 12; ++i)
        AddTriangle(b, first + s_faces[i][0], first + s_faces[i][1], first + s_faces[i][2]);
}

static void Turn(int triangle[3])
{
    int swap = triangle[1];
    triangle[1] = triangle[2];
    triangle[2] = swap;
}

static double Height(const snwBroken* b, int triangle)
{
    const int* t = b->triangles[triangle];
    return (b->vertices[t[0]].z + b->vertices[t[1]].z + b->vertices[t[2]].z) / 3;
}

// ---------------------------------------------------------------------------------------------------------------------
// Breaking

static void MakeClosed(snwBroken* b, int triangles)
{
    AddBall(b, &s_ball, triangles);
}

// A cap is missing, and small holes all over.
static void MakeOpen(snwBroken* b, int triangles)
{
    AddBall(b, &s_ball, triangles);
    int kept = 0;
    for (int i = 0; i < b->triangleCount; ++i)
        if (Height(b, i) < 0.8 && i % 97 != 5)
            memmove(b->triangles[kept++], b->triangles[i], sizeof *b->triangles);
    b->triangleCount = kept;
}

static void MakeCrossing(snwBroken* b, int triangles)
{
    Ball other = {{0.9, 0.3, 0.2}, 0.8, 0.1, false};
    AddBall(b, &s_ball, triangles / 2);
    AddBall(b, &other, triangles / 2);
}

// Bands that face inwards, and a second body all of which does.
static void MakeFlipped(snwBroken* b, int triangles)
{
    Ball other = {{3, 0, 0}, 0.8, 0, true};
    AddBall(b, &s_ball, triangles / 2);
    for (int i = 0; i < b->triangleCount; ++i)
        if (sin(20 * Height(b, i)) > 0.6)
            Turn(b->triangles[i]);
    AddBall(b, &other, triangles / 2);
}

// Every fifth triangle is cut in two at an edge of which the neighbour knows nothing.
static void MakeJunctions(snwBroken* b, int triangles)
{
    AddBall(b, &s_ball, triangles * 5 / 6);
    int count = b->triangleCount;
    for (int i = 0; i < count && !b->failed; i += 5)
    {
        int t[3];
        memcpy(t, b->triangles[i], sizeof t);
        snwVec3 middle = snwVec3_Lerp(b->vertices[t[0]], b->vertices[t[1]], 0.5);
        int m = AddVertex(b, middle.x, middle.y, middle.z);
        b->triangles[i][1] = m;
        AddTriangle(b, m, t[1], t[2]);
    }
}

// Every fifth triangle is fanned from a point so near to an edge that one of the three has no area to speak of; and
// triangles of two or one corner.
static void MakeSlivers(snwBroken* b, int triangles)
{
    AddBall(b, &s_ball, triangles * 5 / 7);
    int count = b->triangleCount;
    for (int i = 0; i < count && !b->failed; i += 5)
    {
        int t[3];
        memcpy(t, b->triangles[i], sizeof t);
        snwVec3 p = snwVec3_Lerp(b->vertices[t[0]], b->vertices[t[1]], 0.3);
        p = snwVec3_Lerp(p, b->vertices[t[2]], i % 10 == 0 ? 1e-5 : 1e-12);
        int m = AddVertex(b, p.x, p.y, p.z);
        b->triangles[i][2] = m;
        AddTriangle(b, m, t[1], t[2]);
        AddTriangle(b, m, t[2], t[0]);
    }
    AddTriangle(b, 0, 1, 1);
    AddTriangle(b, 3, 3, 3);
}

// Every triangle has corners of its own, a little off.
static void MakeSoup(snwBroken* b, int triangles)
{
    AddBall(b, &s_ball, triangles);
    unsigned state = 1;
    for (int i = 0; i < 3 * b->triangleCount && !b->failed; ++i)
    {
        snwVec3 p = b->vertices[b->triangles[i / 3][i % 3]];
        double off[3];
        for (int k = 0; k < 3; ++k)
        {
            state = state * 1664525u + 1013904223u;
            off[k] = 1e-6 * ((double)(state >> 8) / (1 << 24) - 0.5);
        }
        b->triangles[i / 3][i % 3] = AddVertex(b, p.x + off[0], p.y + off[1], p.z + off[2]);
    }
}

// Every triangle is there twice, every third pair back to back.
static void MakeDoubled(snwBroken* b, int triangles)
{
    AddBall(b, &s_ball, triangles / 2);
    int count = b->triangleCount;
    for (int i = 0; i < count && !b->failed; ++i)
    {
        AddTriangle(b, b->triangles[i][0], b->triangles[i][1], b->triangles[i][2]);
        if (i % 3 == 0)
            Turn(b->triangles[b->triangleCount - 1]);
    }
}

// A body and a hundred small balls around it, some of them specks.
static void MakeShells(snwBroken* b, int triangles)
{
    AddBall(b, &s_ball, triangles / 2);
    for (int i = 0; i < 100; ++i)
    {
        double u = acos(1 - 2 * (i + 0.5) / 100), v = 2.399963 * i, r = i % 10 == 0 ? 0.004 : 0.06;
        Ball ball = {{1.5 * sin(u) * cos(v), 1.5 * sin(u) * sin(v), 1.5 * cos(u)}, r, 0, false};
        AddBall(b, &ball, triangles / 200);
    }
}

// Waves without a thickness.
static void MakeSheet(snwBroken* b, int triangles)
{
    int n = (int)sqrt(triangles / 2.0);
    n = n < 4 ? 4 : n;
    for (int i = 0; i <= n; ++i)
        for (int k = 0; k <= n; ++k)
            AddVertex(b, 2.0 * i / n, 2.0 * k / n, 0.1 * sin(6.0 * i / n) * cos(5.0 * k / n));
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
        {
            int p = i * (n + 1) + k, q = p + n + 1;
            AddTriangle(b, p, q, q + 1);
            AddTriangle(b, p, q + 1, p + 1);
        }
}

// A body with a fin of a five-hundredth of its size stuck into it.
static void MakeFin(snwBroken* b, int triangles)
{
    AddBall(b, &s_ball, triangles);
    AddBox(b, (snwVec3){0.3, 0.048, -0.4}, (snwVec3){2, 0.052, 0.4});
}

static void MakeHollow(snwBroken* b, int triangles)
{
    Ball cavity = {{0.1, 0, 0}, 0.5, 0, true};
    AddBall(b, &s_ball, triangles / 2);
    AddBall(b, &cavity, triangles / 2);
}

// One side only: no turning of triangles makes it consistent.
static void MakeMoebius(snwBroken* b, int triangles)
{
    int n = triangles / 2 < 12 ? 12 : triangles / 2;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 2; ++k)
        {
            double v = 2 * SNW_PI * i / n, w = (k - 0.5) * 0.6, r = 1 + w * cos(v / 2);
            AddVertex(b, r * cos(v), r * sin(v), w * sin(v / 2));
        }
    for (int i = 0; i < n; ++i)
    {
        bool last = i == n - 1; // the ends meet upside down
        int p = 2 * i, q = last ? 1 : p + 2, r = last ? 0 : p + 3;
        AddTriangle(b, p, p + 1, r);
        AddTriangle(b, p, r, q);
    }
}

const snwBrokenKind snw_brokenKinds[] = {
    {"closed", "nothing", MakeClosed, true},
    {"open", "a cap is missing, and small holes all over", MakeOpen, false},
    {"crossing", "two bodies cross each other", MakeCrossing, false},
    {"flipped", "bands face inwards, and a second body all of which does", MakeFlipped, true},
    {"t-junctions", "edges cut on one side only", MakeJunctions, false},
    {"slivers", "triangles without area, or nearly", MakeSlivers, false},
    {"soup", "no two triangles share a vertex, and corners are a little off", MakeSoup, false},
    {"doubled", "every triangle twice, some back to back", MakeDoubled, true},
    {"shells", "a hundred small bodies around one, some of them specks", MakeShells, true},
    {"sheet", "no inside at all", MakeSheet, false},
    {"fin", "a fin as thin as paper crosses the body", MakeFin, false},
    {"hollow", "a cavity", MakeHollow, true},
    {"moebius", "one side only", MakeMoebius, false},
    {0},
};

bool snwBroken_Make(const snwBrokenKind* kind, int triangles, snwBroken* broken)
{
    *broken = (snwBroken){0};
    kind->make(broken, triangles);
    if (broken->failed)
        snwBroken_Free(broken);
    return !broken->failed;
}

void snwBroken_Free(snwBroken* broken)
{
    free(broken->vertices);
    free(broken->triangles);
    bool failed = broken->failed;
    *broken = (snwBroken){.failed = failed};
}
