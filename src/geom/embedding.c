// Points bound to the mesh they ride in: found in its tets or at the nearest place of its skin, and moved by half
// linear, half gradient interpolation (embedding.h has the formula). Flat characters have triangles and the linear
// half alone.

#include "geom/embedding.h"

#include "geom/boxes.h"
#include "geom/winding.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Finding where the points are

typedef struct Embedder
{
    snwContext* context;
    snwArena* arena; // of the result
    snwArena work;
    const snwEmbeddingDef* def;
    snwEmbedding* embedding;
    int (*tets)[4]; // a flat character's triangles have -1 as the fourth
    int tetCount;
    snwBoxTree tree;
    int* order;    // tet of each leaf
    snwSoup* skin; // NULL: flat
    int (*skinTriangles)[3];
    double* outside; // m, of each point
    snwMessage* message;
} Embedder;

// Six tets around the diagonal 0 6.
static const int s_hexTets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};

static bool SplitIntoTets(Embedder* e, snwElements elements)
{
    int each = elements.arity == 8 ? 6 : 1;
    e->tetCount = elements.count * each;
    e->tets = snwArena_Alloc(&e->work, (size_t)e->tetCount + 1, sizeof *e->tets);
    for (int i = 0; i < e->tetCount && e->tets != NULL; ++i)
    {
        const int* corners = snwElements_Corners(elements, i / each);
        for (int k = 0; k < 4; ++k)
            e->tets[i][k] = elements.arity == 8 ? corners[s_hexTets[i % 6][k]] : k < elements.arity ? corners[k] : -1;
    }
    return e->tets != NULL;
}

static void AddToBox(snwBox* box, snwVec3 p)
{
    snwBox_Add(box, (const float[]){(float)p.x, (float)p.y, (float)p.z});
}

static snwResult BuildTetTree(Embedder* e)
{
    snwBox* boxes = snwArena_Alloc(&e->work, (size_t)e->tetCount + 1, sizeof *boxes);
    if (boxes == NULL)
        return snwFailMemory(e->message);
    for (int i = 0; i < e->tetCount; ++i)
    {
        boxes[i] = snwBox_Empty();
        for (int k = 0; k < 4 && e->tets[i][k] >= 0; ++k)
            AddToBox(&boxes[i], e->def->vertices[e->tets[i][k]]);
        boxes[i] = snwBox_Grow(boxes[i], 0.0); // floats round
    }
    return snwBuildBoxTree(&e->work, boxes, e->tetCount, &e->tree, &e->order, e->message);
}

static snwResult BuildSkin(Embedder* e)
{
    int count = 0;
    snwElements elements = e->def->choose != NULL ? e->def->whole : e->def->elements;
    if (elements.arity == 3)
        return snw_ok;
    if (snwMesh_FindSkin(e->context, elements, &e->skinTriangles, &count) < 0)
        return snwFailMemory(e->message);
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = e->def->vertices;
    def.vertexCount = e->def->vertexCount;
    def.triangles = (const int(*)[3])e->skinTriangles;
    def.triangleCount = count;
    return snwCreateSoup(e->context, &def, &e->skin, e->message);
}

// Barycentric coordinates; false if the tet (or triangle, seen along z) has no volume.
static bool BarycentricOf(const Embedder* e, const int tet[4], snwVec3 p, double w[4])
{
    const snwVec3* x = e->def->vertices;
    if (tet[3] < 0)
    {
        snwVec3 a = x[tet[0]], b = x[tet[1]], c = x[tet[2]];
        double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        w[1] = ((p.x - a.x) * (c.y - a.y) - (p.y - a.y) * (c.x - a.x)) / area;
        w[2] = ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)) / area;
        w[0] = 1.0 - w[1] - w[2], w[3] = 0.0;
        return area != 0;
    }
    double volume = snwTet_Volume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]);
    w[0] = snwTet_Volume(p, x[tet[1]], x[tet[2]], x[tet[3]]) / volume;
    w[1] = snwTet_Volume(x[tet[0]], p, x[tet[2]], x[tet[3]]) / volume;
    w[2] = snwTet_Volume(x[tet[0]], x[tet[1]], p, x[tet[3]]) / volume;
    w[3] = 1.0 - w[0] - w[1] - w[2];
    return volume != 0;
}

typedef struct Place
{
    int corners[4];
    double weights[4];
    snwVec3 base;    // Xc
    double distance; // m, > 0 outside
} Place;

static double LeastWeight(const double w[4])
{
    return fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
}

// The element that holds the point, of several the one in which it lies deepest; false if there is none.
static bool FindInside(const Embedder* e, snwVec3 point, Place* place)
{
    snwBox box = snwBox_Empty();
    snwBoxWalk walk;
    double best = -1e-12;
    bool found = false;

    // A box without extent: all elements whose box holds the point are tried.
    AddToBox(&box, point);
    box = snwBox_Grow(box, 0.0);
    snwBoxWalk_Start(&walk, &e->tree, &box);
    for (int leaf; (leaf = snwBoxWalk_Next(&walk)) >= 0;)
    {
        double w[4];
        int tet = e->order[leaf];
        if (!BarycentricOf(e, e->tets[tet], point, w) || !(LeastWeight(w) > best))
            continue;
        best = LeastWeight(w);
        found = true;
        memcpy(place->corners, e->tets[tet], sizeof place->corners);
        memcpy(place->weights, w, sizeof place->weights);
    }

    place->base = point;
    place->distance = 0.0;
    return found;
}

static void FindOnSkin(const Embedder* e, snwVec3 point, Place* place)
{
    snwClosest closest = snwSoup_Closest(e->skin, point);
    memcpy(place->corners, e->skinTriangles[closest.triangle], 3 * sizeof(int));
    memcpy(place->weights, closest.weights, sizeof closest.weights);
    place->corners[3] = place->corners[0];
    place->weights[3] = 0.0;
    place->base = closest.point;
    place->distance = closest.distance;
}

// Flat characters: the triangle in which the point is least far out, and its coordinates, beyond it too.
static void FindNearTriangle(const Embedder* e, snwVec3 point, Place* place)
{
    double best = INFINITY;
    snwNearWalk walk;
    snwNearWalk_Start(&walk, &e->tree, point, &best);

    // Coordinates cut off at 0 and made to sum to one again are a place in the triangle; the nearest place wins.
    for (int leaf; (leaf = snwNearWalk_Next(&walk)) >= 0;)
    {
        double w[4], sum = 0;
        int tet = e->order[leaf];
        if (!BarycentricOf(e, e->tets[tet], point, w))
            continue;
        snwVec3 at = {0, 0, 0};
        for (int k = 0; k < 3; ++k)
            sum += fmax(w[k], 0.0);
        for (int k = 0; k < 3; ++k)
            at = snwVec3_MulAdd(at, fmax(w[k], 0.0) / sum, e->def->vertices[e->tets[tet][k]]);

        double distance = snwVec3_LengthSquared(snwVec3_Sub(at, point));
        if (distance >= best)
            continue;
        best = distance;
        memcpy(place->corners, e->tets[tet], sizeof place->corners);
        memcpy(place->weights, w, sizeof place->weights);
    }

    place->distance = sqrt(best);
    place->base = point;
}

static void PlacePoint(const Embedder* e, int index)
{
    snwEmbedding* out = e->embedding;
    snwVec3 point = e->def->points[index];
    Place place = {{0}, {0}, point, 0};

    // Out of the mesh: on its skin or, in the plane, in the nearest triangle.
    if (!FindInside(e, point, &place))
    {
        if (e->skin != NULL)
            FindOnSkin(e, point, &place);
        else
            FindNearTriangle(e, point, &place);
    }

    // Meshes that lie in themselves in places: the caller says which element is meant.
    if (e->def->choose != NULL)
        e->def->choose(e->def->user, index, place.weights, place.corners);
    e->outside[index] = place.distance;

    // Unused corners repeat the first with a weight of zero. The arms are w ((X - Xc) + (Xc - X_k) / 2).
    for (int k = 0; k < 4; ++k)
    {
        int corner = place.corners[k] < 0 ? place.corners[0] : place.corners[k];
        out->corners[index][k] = corner;
        out->weights[index][k] = (float)place.weights[k];
        if (out->arms == NULL)
            continue;
        snwVec3 arm = snwVec3_Sub(point, place.base);
        arm = snwVec3_MulAdd(arm, 0.5, snwVec3_Sub(place.base, e->def->vertices[corner]));
        arm = snwVec3_Scale(arm, place.weights[k]);
        out->arms[index][k][0] = (float)arm.x, out->arms[index][k][1] = (float)arm.y,
        out->arms[index][k][2] = (float)arm.z;
    }
}

static void PlaceRange(int begin, int end, void* data)
{
    for (int i = begin; i < end; ++i)
        PlacePoint(data, i);
}

static void CountOutside(Embedder* e)
{
    for (int i = 0; i < e->def->pointCount; ++i)
    {
        e->embedding->outsideCount += e->outside[i] > 0;
        e->embedding->maxOutside = fmax(e->embedding->maxOutside, e->outside[i]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Gradients at the vertices

// Numbers the mesh vertices that carry points, and writes those numbers into the corners.
static bool NumberCarriers(Embedder* e, int** numbers)
{
    snwEmbedding* out = e->embedding;
    int* number = snwArena_Alloc(&e->work, (size_t)e->def->vertexCount + 1, sizeof *number);
    if (number == NULL)
        return false;
    memset(number, -1, ((size_t)e->def->vertexCount + 1) * sizeof *number);

    // Marked, then numbered in rising order.
    for (int i = 0; i < 4 * out->pointCount; ++i)
        number[out->corners[i / 4][i % 4]] = 0;
    for (int i = 0; i < e->def->vertexCount; ++i)
        if (number[i] == 0)
            number[i] = out->vertexCount++;

    out->vertices = snwArena_Alloc(e->arena, (size_t)out->vertexCount + 1, sizeof *out->vertices);
    if (out->vertices == NULL)
        return false;
    for (int i = 0; i < e->def->vertexCount; ++i)
        if (number[i] >= 0)
            out->vertices[number[i]] = i;
    for (int i = 0; i < 4 * out->pointCount; ++i)
        out->corners[i / 4][i % 4] = number[out->corners[i / 4][i % 4]];
    *numbers = number;

    return true;
}

// Gradients of the four barycentric coordinates times the volume: outward area vectors, over three.
static void TetGradients(const Embedder* e, const int tet[4], snwVec3 gradients[4])
{
    static const int faces[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
    for (int k = 0; k < 4; ++k)
    {
        snwVec3 a = e->def->vertices[tet[faces[k][0]]], b = e->def->vertices[tet[faces[k][1]]],
                c = e->def->vertices[tet[faces[k][2]]];
        gradients[k] = snwVec3_Scale(snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(c, a)), 1.0 / 6.0);
    }
}

typedef struct Around
{
    int* starts; // tets around each carrying vertex
    int* tets;
} Around;

static bool FindTetsAround(Embedder* e, const int* number, Around* around)
{
    int count = e->embedding->vertexCount;
    around->starts = snwArena_Alloc(&e->work, (size_t)count + 2, sizeof(int));
    if (around->starts == NULL)
        return false;

    // Counted two places late, so that filling moves the starts to where they belong.
    for (int i = 0; i < 4 * e->tetCount; ++i)
        if (number[e->tets[i / 4][i % 4]] >= 0)
            around->starts[number[e->tets[i / 4][i % 4]] + 2] += 1;
    for (int i = 1; i <= count + 1; ++i)
        around->starts[i] += around->starts[i - 1];
    around->tets = snwArena_Alloc(&e->work, (size_t)around->starts[count + 1] + 1, sizeof(int));
    if (around->tets == NULL)
        return false;

    for (int i = 0; i < 4 * e->tetCount; ++i)
    {
        int vertex = number[e->tets[i / 4][i % 4]];
        if (vertex >= 0)
            around->tets[around->starts[vertex + 1]++] = i / 4;
    }

    return true;
}

// g_kj of one vertex: sums over its tets of volume times gradient, divided by the sum of volumes. `slots` holds the
// place of each mesh vertex in this row, or -1.
static int GatherGradientRow(Embedder* e, const Around* around, int vertex, int* slots, int first)
{
    snwEmbedding* out = e->embedding;
    double volume = 0.0;
    int count = 0;

    // Volume times gradient, summed over the tets; each neighbour gets a slot when it is first met.
    for (int i = around->starts[vertex]; i < around->starts[vertex + 1]; ++i)
    {
        const int* tet = e->tets[around->tets[i]];
        const snwVec3* x = e->def->vertices;
        snwVec3 gradients[4];

        TetGradients(e, tet, gradients);
        volume += fabs(snwTet_Volume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]));
        for (int k = 0; k < 4; ++k)
        {
            if (slots[tet[k]] < 0)
            {
                slots[tet[k]] = first + count;
                out->neighbours[first + count++] = tet[k];
            }
            float* g = out->gradients[slots[tet[k]]];
            g[0] += (float)gradients[k].x, g[1] += (float)gradients[k].y, g[2] += (float)gradients[k].z;
        }
    }

    // Divided by the volume, and the slots free for the next row.
    for (int i = first; i < first + count; ++i)
    {
        slots[out->neighbours[i]] = -1;
        for (int k = 0; k < 3; ++k)
            out->gradients[i][k] = volume > 0 ? (float)(out->gradients[i][k] / volume) : 0.0f;
    }

    return count;
}

static bool MakeGradients(Embedder* e, const int* number)
{
    snwEmbedding* out = e->embedding;
    Around around;
    if (!FindTetsAround(e, number, &around))
        return false;
    size_t room = 3 * (size_t)around.starts[out->vertexCount] + (size_t)out->vertexCount +
                  1; // t tets: <= 3 t + 1 vertices
    int* slots = snwArena_Alloc(&e->work, (size_t)e->def->vertexCount + 1, sizeof *slots);
    out->starts = snwArena_Alloc(e->arena, (size_t)out->vertexCount + 1, sizeof(int));
    out->neighbours = snwArena_Alloc(e->arena, room, sizeof(int));
    out->gradients = snwArena_Alloc(e->arena, room, sizeof *out->gradients);
    if (e->work.failed || e->arena->failed)
        return false;
    memset(slots, -1, ((size_t)e->def->vertexCount + 1) * sizeof *slots);
    for (int i = 0; i < out->vertexCount; ++i)
        out->starts[i + 1] = out->starts[i] + GatherGradientRow(e, &around, i, slots, out->starts[i]);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult EmbedAll(Embedder* e)
{
    snwEmbedding* out = e->embedding;
    size_t count = (size_t)e->def->pointCount + 1;
    bool flat = e->def->elements.arity == 3;

    // Arrays that stay, and distances for the report.
    out->pointCount = e->def->pointCount;
    out->corners = snwArena_Alloc(e->arena, count, sizeof *out->corners);
    out->weights = snwArena_Alloc(e->arena, count, sizeof *out->weights);
    out->arms = flat ? NULL : snwArena_Alloc(e->arena, count, sizeof *out->arms);
    e->outside = snwArena_Alloc(&e->work, count, sizeof *e->outside);
    int* number = NULL;
    bool whole = e->def->choose != NULL;

    // With `choose` points are looked for in the whole mesh; gradients come from the elements that are simulated.
    if (e->arena->failed || e->outside == NULL || !SplitIntoTets(e, whole ? e->def->whole : e->def->elements))
        return snwFailMemory(e->message);
    snwResult result = BuildTetTree(e);
    if (result >= 0)
        result = BuildSkin(e);
    if (result < 0)
        return result;
    snwParallelFor(e->context, e->def->pointCount, 64, PlaceRange, e);
    CountOutside(e);
    if (whole && !SplitIntoTets(e, e->def->elements))
        return snwFailMemory(e->message);
    if (!NumberCarriers(e, &number) || (!flat && !MakeGradients(e, number)))
        return snwFailMemory(e->message);

    return snw_ok;
}

snwResult snwEmbedPoints(snwArena* arena, const snwEmbeddingDef* def, snwEmbedding* embedding, snwMessage* message)
{
    Embedder e = {.context = arena->context,
        .arena = arena,
        .work = {.context = arena->context},
        .def = def,
        .embedding = embedding,
        .message = message};
    *embedding = (snwEmbedding){0};
    if (def->elements.count < 1)
        return snwFail(message, snw_errorArgument, "give it tets, hexes or triangles", "no elements to carry points");
    snwResult result = EmbedAll(&e);
    if (e.skin != NULL)
        snwDestroySoup(e.skin);
    snwFree(e.context, e.skinTriangles);
    snwArena_Free(&e.work);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Moving

size_t snwEmbedding_ScratchSize(const snwEmbedding* embedding)
{
    return 12 * (size_t)embedding->vertexCount;
}

typedef struct Move
{
    const snwEmbedding* embedding;
    const snwEmbeddingMove* move;
} Move;

static const float* PositionOfMoved(const snwEmbeddingMove* move, int vertex)
{
    return (const float*)((const char*)move->positions + (size_t)vertex * (size_t)move->stride);
}

// Position and gradient of each carrying vertex: 3 + 9 floats.
static void MoveCarriers(int begin, int end, void* data)
{
    const Move* m = data;
    const snwEmbedding* embedding = m->embedding;

    // Its own position, then F_k = sum_j x_j g_kj^T.
    for (int i = begin; i < end; ++i)
    {
        float* out = m->move->scratch + 12 * (size_t)i;
        const float* own = PositionOfMoved(m->move, embedding->vertices[i]);
        memcpy(out, own, 3 * sizeof(float));
        memset(out + 3, 0, 9 * sizeof(float));

        for (int k = embedding->starts != NULL ? embedding->starts[i] : 0;
             embedding->starts != NULL && k < embedding->starts[i + 1]; ++k)
        {
            // The gradients of a row sum to nothing, so positions count from the vertex: fewer digits are lost far
            // away.
            const float* x = PositionOfMoved(m->move, embedding->neighbours[k]);
            const float* g = embedding->gradients[k];
            for (int row = 0; row < 3; ++row)
                for (int column = 0; column < 3; ++column)
                    out[3 + 3 * row + column] += (x[row] - own[row]) * g[column];
        }
    }
}

static void MovePoints(int begin, int end, void* data)
{
    const Move* m = data;
    const snwEmbedding* embedding = m->embedding;
    for (int i = begin; i < end; ++i)
    {
        // Relative to the first corner, again for the digits.
        const float* first = m->move->scratch + 12 * (size_t)embedding->corners[i][0];
        float sum[3] = {0, 0, 0};
        for (int k = 0; k < 4; ++k)
        {
            const float* at = m->move->scratch + 12 * (size_t)embedding->corners[i][k];
            float w = embedding->weights[i][k];
            for (int row = 0; row < 3; ++row)
                sum[row] += w * (at[row] - first[row]);
            const float* arm = embedding->arms != NULL ? embedding->arms[i][k] : NULL;
            for (int row = 0; row < 3 && arm != NULL; ++row)
                sum[row] += at[3 + 3 * row] * arm[0] + at[4 + 3 * row] * arm[1] + at[5 + 3 * row] * arm[2];
        }

        for (int row = 0; row < 3; ++row)
            m->move->points[3 * (size_t)i + (size_t)row] = first[row] + sum[row];
    }
}

void snwEmbedding_Evaluate(snwContext* context, const snwEmbedding* embedding, const snwEmbeddingMove* move)
{
    Move m = {embedding, move};
    snwParallelFor(context, embedding->vertexCount, 1024, MoveCarriers, &m);
    snwParallelFor(context, embedding->pointCount, 1024, MovePoints, &m);
}
