// Which vertices a handle holds with a weight of one: points the nearest ones, bones those along them, edges of a
// cage those beside them; where two handles are equally near, neither does. Computed weights are held there.

#include "rig/handles.h"
#include "base/result.h"

#include <math.h>

static const double s_boneReach = 0.75, s_cageReach = 0.5; // of an edge
static const double s_same = 1e-9;                         // relative: distances that count as equal

enum
{
    snw_maxBonePieces = 4096
};

typedef struct Holder
{
    snwContext* context;
    const snwHandleMesh* mesh;
    snwHeldVertices* held;
    double edge;     // m, mean length
    int* heldCount;  // vertices of each handle
    snwVec3* places; // middle of what each handle holds
    double* best;    // least distance per vertex (cages, bones) or per piece of a bone
    int* bestHandle; // whose it is, -1: nobody's, because two are equally near
} Holder;

// ---------------------------------------------------------------------------------------------------------------------
// Distances

// The share of the way from a to b at which the segment is nearest to a point; 0 for a segment without length.
static double SegmentParameter(snwVec3 a, snwVec3 b, snwVec3 point)
{
    snwVec3 along = snwVec3_Sub(b, a);
    double square = snwVec3_LengthSquared(along);
    double t = square > 0 ? snwVec3_Dot(snwVec3_Sub(point, a), along) / square : 0;
    return fmin(fmax(t, 0), 1);
}

static double SegmentDistance(snwVec3 a, snwVec3 b, snwVec3 point, double* t)
{
    *t = SegmentParameter(a, b, point);
    return snwVec3_Distance(point, snwVec3_MulAdd(a, *t, snwVec3_Sub(b, a)));
}

double snwHandleShape_Distance(const snwHandleShape* shape, snwVec3 point)
{
    double t;
    return SegmentDistance(shape->head, shape->kind == snw_handleBone ? shape->tail : shape->head, point, &t);
}

double snwHandleMesh_MeanEdge(const snwHandleMesh* mesh)
{
    double sum = 0;
    long count = 0;
    for (int i = 0; i < mesh->elements.count; ++i)
    {
        const int* v = snwElements_Corners(mesh->elements, i);
        // Neighbours in the list of corners are joined in triangles, tets and hexes alike.
        for (int k = 0; k + 1 < mesh->elements.arity; ++k, ++count)
            if (mesh->elements.arity != 8 || k != 3)
                sum += snwVec3_Distance(mesh->vertices[v[k]], mesh->vertices[v[k + 1]]);
            else
                sum += snwVec3_Distance(mesh->vertices[v[0]], mesh->vertices[v[4]]);
    }
    return count > 0 ? sum / (double)count : 0;
}

static bool IsAsNear(double distance, double least, double edge)
{
    return distance <= least + s_same * (least + edge);
}

// ---------------------------------------------------------------------------------------------------------------------
// Points

static bool IsPoint(const snwHandleShape* shape)
{
    return shape->kind != snw_handleBone || snwVec3_Distance(shape->head, shape->tail) == 0;
}

static void HoldByHandle(Holder* holder, int vertex, int handle, double weight)
{
    holder->held->fixed[vertex] = true;
    holder->held->values[(size_t)vertex * (size_t)holder->mesh->handleCount + (size_t)handle] = weight;
    if (weight == 1)
    {
        int count = ++holder->heldCount[handle];
        snwVec3 step = snwVec3_Sub(holder->mesh->vertices[vertex], holder->places[handle]);
        holder->places[handle] = snwVec3_MulAdd(holder->places[handle], 1.0 / count, step);
    }
}

static void HoldOwned(Holder* holder)
{
    const snwHandleMesh* mesh = holder->mesh;
    for (int i = 0; mesh->owners != NULL && i < mesh->vertexCount; ++i)
        if (mesh->owners[i] >= 0)
            HoldByHandle(holder, i, mesh->owners[i], 1);
}

static int CountHoldable(const snwHandleMesh* mesh, int handle)
{
    bool corner = mesh->handles[handle].kind == snw_handleCage;
    return corner || mesh->fleshCount == 0 ? mesh->vertexCount : mesh->fleshCount;
}

static double LeastDistance(const Holder* holder, int handle, snwVec3 point)
{
    double least = INFINITY;
    for (int i = 0; i < CountHoldable(holder->mesh, handle); ++i)
        if (!holder->held->fixed[i])
            least = fmin(least, snwVec3_Distance(holder->mesh->vertices[i], point));
    return least;
}

static void HoldNearest(Holder* holder, int handle, snwVec3 point)
{
    double least = LeastDistance(holder, handle, point);
    for (int i = 0; i < CountHoldable(holder->mesh, handle) && least < INFINITY; ++i)
        if (!holder->held->fixed[i] &&
            IsAsNear(snwVec3_Distance(holder->mesh->vertices[i], point), least, holder->edge))
            HoldByHandle(holder, i, handle, 1);
}

// The nearest handle first, so that one far outside does not take a vertex from another that stands on it.
static void HoldPoints(Holder* holder, double* distances)
{
    const snwHandleMesh* mesh = holder->mesh;
    for (int i = 0; i < mesh->handleCount; ++i)
        distances[i] = IsPoint(&mesh->handles[i]) && holder->heldCount[i] == 0
                           ? LeastDistance(holder, i, mesh->handles[i].head)
                           : INFINITY;
    for (;;)
    {
        int next = -1;
        for (int i = 0; i < mesh->handleCount; ++i)
            if (distances[i] < INFINITY && (next < 0 || distances[i] < distances[next]))
                next = i;
        if (next < 0)
            return;
        HoldNearest(holder, next, mesh->handles[next].head);
        distances[next] = INFINITY;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Bones

typedef struct Piece
{
    int index;       // along the bone, -1: the vertex is beside its ends or too far
    double distance; // m
} Piece;

static Piece FindHandlePiece(const Holder* holder, const snwHandleShape* bone, int pieces, int vertex)
{
    double t, distance = SegmentDistance(bone->head, bone->tail, holder->mesh->vertices[vertex], &t);
    bool inside = t > 0 && t < 1 && distance <= s_boneReach * holder->edge && !holder->held->fixed[vertex];
    return (Piece){inside ? (int)(t * pieces) : -1, distance};
}

// Vertices that this bone would hold get its distance; a bone as near, or nearer, keeps or spoils it.
static void ClaimForBone(Holder* holder, int handle, double* best)
{
    const snwHandleShape* bone = &holder->mesh->handles[handle];

    // A bone is cut into pieces as long as a mean edge; each holds what is nearest to it, so that it holds something
    // all along.
    double count = ceil(snwVec3_Distance(bone->head, bone->tail) / fmax(holder->edge, 1e-300));
    int pieces = count < snw_maxBonePieces ? (int)count : snw_maxBonePieces;
    for (int i = 0; i < pieces; ++i)
        best[i] = INFINITY;

    for (int i = 0; i < CountHoldable(holder->mesh, handle); ++i)
    {
        Piece piece = FindHandlePiece(holder, bone, pieces, i);
        if (piece.index >= 0)
            best[piece.index] = fmin(best[piece.index], piece.distance);
    }

    // As near as another bone that has claimed the vertex, within rounding of an edge: nobody holds it.
    for (int i = 0; i < CountHoldable(holder->mesh, handle); ++i)
    {
        Piece piece = FindHandlePiece(holder, bone, pieces, i);
        if (piece.index < 0 || !IsAsNear(piece.distance, best[piece.index], holder->edge))
            continue;
        bool tie = IsAsNear(piece.distance, holder->best[i], holder->edge) &&
                   IsAsNear(holder->best[i], piece.distance, holder->edge);
        if (tie)
            holder->bestHandle[i] = -1;
        else if (piece.distance < holder->best[i])
            holder->bestHandle[i] = handle;

        holder->best[i] = fmin(holder->best[i], piece.distance);
    }
}

static void ClearClaims(Holder* holder)
{
    for (int i = 0; i < holder->mesh->vertexCount; ++i)
        holder->best[i] = INFINITY, holder->bestHandle[i] = -1;
}

static void HoldBones(Holder* holder, double* pieces)
{
    const snwHandleMesh* mesh = holder->mesh;
    ClearClaims(holder);
    for (int i = 0; i < mesh->handleCount; ++i)
        if (!IsPoint(&mesh->handles[i]) && holder->heldCount[i] == 0)
            ClaimForBone(holder, i, pieces);
    for (int i = 0; i < mesh->vertexCount; ++i)
        if (holder->bestHandle[i] >= 0)
            HoldByHandle(holder, i, holder->bestHandle[i], 1);
    for (int i = 0; i < mesh->handleCount; ++i)
        if (holder->heldCount[i] == 0 && !IsPoint(&mesh->handles[i]))
            HoldNearest(holder, i, snwVec3_Scale(snwVec3_Add(mesh->handles[i].head, mesh->handles[i].tail), 0.5));
}

// ---------------------------------------------------------------------------------------------------------------------
// Cages

static void ClaimForEdge(Holder* holder, int edge)
{
    const int* ends = holder->mesh->cageEdges[edge];
    if (holder->heldCount[ends[0]] == 0 || holder->heldCount[ends[1]] == 0)
        return;
    snwVec3 a = holder->places[ends[0]], b = holder->places[ends[1]];
    for (int i = 0; i < holder->mesh->vertexCount; ++i)
    {
        double t, distance = SegmentDistance(a, b, holder->mesh->vertices[i], &t);
        if (holder->held->fixed[i] || !(t > 0 && t < 1) || distance > s_cageReach * holder->edge)
            continue;
        if (IsAsNear(distance, holder->best[i], holder->edge) && IsAsNear(holder->best[i], distance, holder->edge))
            holder->bestHandle[i] = -1;
        else if (distance < holder->best[i])
            holder->bestHandle[i] = edge;
        holder->best[i] = fmin(holder->best[i], distance);
    }
}

static void HoldCage(Holder* holder)
{
    ClearClaims(holder);
    for (int i = 0; i < holder->mesh->cageEdgeCount; ++i)
        ClaimForEdge(holder, i);
    for (int i = 0; i < holder->mesh->vertexCount; ++i)
    {
        if (holder->bestHandle[i] < 0)
            continue;
        const int* ends = holder->mesh->cageEdges[holder->bestHandle[i]];
        double t = SegmentParameter(holder->places[ends[0]], holder->places[ends[1]], holder->mesh->vertices[i]);
        size_t row = (size_t)i * (size_t)holder->mesh->handleCount;
        holder->held->fixed[i] = true;
        holder->held->values[row + (size_t)ends[0]] = 1 - t;
        holder->held->values[row + (size_t)ends[1]] = t;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// All

void snwHeldVertices_Free(snwContext* context, snwHeldVertices* held)
{
    snwFree(context, held->fixed);
    snwFree(context, held->values);
    *held = (snwHeldVertices){0};
}

snwResult snwHoldVertices(snwContext* context, const snwHandleMesh* mesh, snwHeldVertices* held, snwMessage* message)
{
    size_t vertices = (size_t)mesh->vertexCount, handles = (size_t)mesh->handleCount;
    Holder holder = {.context = context, .mesh = mesh, .held = held, .edge = snwHandleMesh_MeanEdge(mesh)};
    double* pieces = snwAllocArray(context, snw_maxBonePieces > handles ? snw_maxBonePieces : handles, sizeof *pieces);
    *held = (snwHeldVertices){snwAllocArray(context, vertices, sizeof *held->fixed),
        snwAllocArray(context, vertices, handles * sizeof(double))};
    holder.heldCount = snwAllocArray(context, handles, sizeof *holder.heldCount);
    holder.places = snwAllocArray(context, handles, sizeof *holder.places);
    holder.best = snwAllocArray(context, vertices, sizeof *holder.best);
    holder.bestHandle = snwAllocArray(context, vertices, sizeof *holder.bestHandle);
    bool sound = pieces != NULL && held->fixed != NULL && held->values != NULL && holder.heldCount != NULL &&
                 holder.places != NULL && holder.best != NULL && holder.bestHandle != NULL;

    // Owners first, then points, bones and cages: each leaves alone what those before it hold.
    if (sound)
    {
        HoldOwned(&holder);
        HoldPoints(&holder, pieces);
        HoldBones(&holder, pieces);
        HoldCage(&holder);
    }

    snwFree(context, pieces);
    snwFree(context, holder.heldCount);
    snwFree(context, holder.places);
    snwFree(context, holder.best);
    snwFree(context, holder.bestHandle);
    if (sound)
        return snw_ok;
    snwHeldVertices_Free(context, held);

    return snwFailMemory(message);
}
