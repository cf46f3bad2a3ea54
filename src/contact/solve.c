// Contacts as unilateral position constraints, one after the other.

#include "contact/response.h"

#include <math.h>
#include <string.h>

// The largest l_t that Coulomb's law grants along `wanted`. Says whether it slides.
static snwVec3 CutFriction(snwVec3 wanted, double push, snwFriction friction, bool* sliding)
{
    double length = snwVec3_Length(wanted);
    *sliding = length > friction.fixed * push;
    return *sliding ? snwVec3_Scale(wanted, friction.kinetic * push / length) : wanted;
}

static snwVec3 Across(snwVec3 v, snwVec3 normal)
{
    return snwVec3_MulAdd(v, -snwVec3_Dot(v, normal), normal);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pushes move flesh

static const float* AnswerOfVertex(const snwContactFlesh* flesh, int vertex)
{
    const snwPushAnswer* answer = flesh->answer;
    if (answer == NULL || answer->slotOf[vertex] < 0)
        return NULL;
    return answer->matrix + (size_t)answer->slotOf[vertex] * answer->stride;
}

static double AnswerAt(const snwContactFlesh* flesh, int a, int b)
{
    const float* row = AnswerOfVertex(flesh, a);
    if (row != NULL && flesh->answer->slotOf[b] >= 0)
        return (double)row[flesh->answer->slotOf[b]];
    return a == b ? (double)flesh->positions[4 * (size_t)a + 3] : 0.0;
}

static void MoveVertex(const snwContactFlesh* flesh, int vertex, snwVec3 push)
{
    float* rows = flesh->positions;
    const float* weights = AnswerOfVertex(flesh, vertex);
    if (weights == NULL)
    {
        double w = (double)rows[4 * (size_t)vertex + 3];
        snwRow_Set(rows, vertex, snwVec3_MulAdd(snwRow_Get(rows, vertex), w, push));
        return;
    }

    // A method with an answer of its own: every active vertex moves by its share of the push.
    const int *active = flesh->answer->active, *end = active + flesh->answer->activeCount;
    const float x = (float)push.x, y = (float)push.y, z = (float)push.z;
    for (; active < end; ++active, ++weights)
    {
        float* restrict row = rows + 4 * (size_t)*active;
        float w = *weights;
        row[0] += w * x;
        row[1] += w * y;
        row[2] += w * z;
        row[3] += w * 0.0f; // stays; so all four are one instruction
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices against colliders

typedef struct SolidLoop
{
    const snwResponse* response;
    const snwContactFlesh* flesh;
    snwSolidRow* rows;
    const int* counts;
    int room;
    bool fresh;
    double* moved; // m: the longest way; NULL: not asked for
} SolidLoop;

void snwResponse_LookAgain(const snwResponse* response, snwSolidRow* row, snwVec3 x)
{
    const snwCollider* collider = &response->colliders[row->collider];
    if (row->swept || collider->def.kind == snw_colliderPlane)
        return;
    snwTouch touch = snwCollider_Touch(collider, response->colliderNow[row->collider], x);
    if (snwVec3_Dot(touch.normal, row->normal) < 0.5)
        return;
    row->point = snwVec3_MulAdd(x, touch.depth, touch.normal);
    row->normal = touch.normal;
}

// Returns how far the vertex was moved, m.
static double SolveSolid(const SolidLoop* loop, snwSolidRow* row)
{
    const snwContactFlesh* flesh = loop->flesh;
    double w = AnswerAt(flesh, row->vertex, row->vertex);
    snwVec3 x = snwContactFlesh_Now(flesh, row->vertex);
    if (loop->fresh)
        snwResponse_LookAgain(loop->response, row, x);

    // The push that closes the gap; the sum of pushes never pulls.
    double gap = snwVec3_Dot(row->normal, snwVec3_Sub(x, row->point));
    if (!(w > 0.0) || (gap + row->allowed >= 0.0 && row->push == 0.0))
        return 0.0;
    row->depth = fmax(row->depth, -gap);
    double push = fmax(0.0, row->push - (gap + row->allowed) / w);
    snwVec3 change = snwVec3_Scale(row->normal, push - row->push);
    x = snwVec3_MulAdd(x, (push - row->push) * w, row->normal);
    row->push = push;

    // Friction on what slipped since home, cut to Coulomb's cone with this push.
    snwVec3 slip = Across(snwVec3_Sub(x, row->home), row->normal);
    snwVec3 drag = CutFriction(snwVec3_MulAdd(row->drag, -1.0 / w, slip), push, row->friction, &row->sliding);
    snwVec3 pull = snwVec3_Sub(drag, row->drag);
    row->drag = drag;
    // Only the change since the last visit moves anything.
    if (AnswerOfVertex(flesh, row->vertex) != NULL)
        MoveVertex(flesh, row->vertex, snwVec3_Add(change, pull));
    else
        snwRow_SetPlace(flesh->positions, row->vertex, flesh->origin, snwVec3_MulAdd(x, w, pull));

    return w * snwVec3_Length(snwVec3_Add(change, pull));
}

static void SolveChunks(int begin, int end, void* data)
{
    const SolidLoop* loop = data;
    for (int chunk = begin; chunk < end; ++chunk)
    {
        snwSolidRow* rows = loop->rows + (size_t)chunk * snw_solidGrain * (size_t)loop->room;
        for (int i = 0; i < loop->counts[chunk]; ++i)
        {
            double way = SolveSolid(loop, &rows[i]);
            if (loop->moved != NULL)
                *loop->moved = fmax(*loop->moved, way);
        }
    }
}

static int FleshChunkCount(const snwContactFlesh* flesh)
{
    return ((flesh->wild ? flesh->rowCount : flesh->vertexCount) + snw_solidGrain - 1) / snw_solidGrain;
}

static double SolveSolids(const snwResponse* response, int body, bool fresh)
{
    double moved = 0.0;
    const snwContactFlesh* flesh = &response->flesh[body];
    SolidLoop loop = {response, flesh, response->solids + response->firstSolids[body], response->chunkCounts[body],
        response->touches, fresh, flesh->answer != NULL ? &moved : NULL};
    if (response->scene->colliderCount == 0)
        return 0.0;
    if (flesh->answer != NULL) // one push moves many vertices
        SolveChunks(0, FleshChunkCount(flesh), &loop);
    else
        snwParallelFor(response->context, FleshChunkCount(flesh), 1, SolveChunks, &loop);
    return moved;
}

// ---------------------------------------------------------------------------------------------------------------------
// All others

static snwTransform FrameOfRow(const snwResponse* response, const snwPairRow* row)
{
    return row->kind == snw_touchProp ? response->props[row->other].transform : response->colliderNow[row->other];
}

static snwVec3 FirstPoint(const snwResponse* response, const snwPairRow* row)
{
    if (row->body >= 0)
        return snwContactFlesh_Now(&response->flesh[row->body], row->vertex);
    snwVec3 at = snwTransform_Apply(response->props[row->vertex].transform, row->at);
    return snwVec3_MulAdd(at, -row->radius, row->normal);
}

static snwVec3 OtherPoint(const snwResponse* response, const snwPairRow* row)
{
    if (row->kind != snw_touchFlesh)
        return snwTransform_Apply(FrameOfRow(response, row), row->point);
    const snwContactFlesh* other = &response->flesh[row->other];
    return snwFlesh_Mix(other, other->positions, row->triangle, row->weights);
}

// How far the first side is from where friction wants it.
static snwVec3 Slip(const snwResponse* response, const snwPairRow* row)
{
    snwVec3 x = row->body >= 0 ? snwContactFlesh_Now(&response->flesh[row->body], row->vertex)
                               : snwTransform_Apply(response->props[row->vertex].transform, row->grip);
    if (row->kind != snw_touchFlesh)
        return Across(snwVec3_Sub(x, snwTransform_Apply(FrameOfRow(response, row), row->home)), row->normal);
    const snwContactFlesh* other = &response->flesh[row->other];
    snwVec3 home = snwFlesh_Mix(other, other->positions, row->homeTriangle, row->homeWeights);
    return Across(snwVec3_Sub(x, snwVec3_Add(row->home, home)), row->normal);
}

static snwVec3 Arm(const snwResponse* response, int prop, snwVec3 at)
{
    return snwVec3_Sub(at, response->props[prop].transform.position);
}

// Inverse mass of both sides for a push at `at`.
static double Yield(const snwResponse* response, const snwPairRow* row, snwVec3 at, snwVec3 direction)
{
    double yield = row->body >= 0
                       ? AnswerAt(&response->flesh[row->body], row->vertex, row->vertex)
                       : snwProp_Yield(&response->props[row->vertex], Arm(response, row->vertex, at), direction);
    if (row->kind == snw_touchProp)
        yield += snwProp_Yield(&response->props[row->other], Arm(response, row->other, at), direction);
    if (row->kind != snw_touchFlesh)
        return yield;
    const snwContactFlesh* other = &response->flesh[row->other];

    // A point of a triangle yields by its corners' masses, weights squared; a vertex on its own body less what both
    // share.
    for (int k = 0; k < 3; ++k)
    {
        for (int l = 0; l < 3; ++l)
            if (row->weights[k] != 0.0 && row->weights[l] != 0.0)
                yield += row->weights[k] * row->weights[l] * AnswerAt(other, row->triangle[k], row->triangle[l]);
        if (row->body == row->other && row->weights[k] != 0.0)
            yield -= 2.0 * row->weights[k] * AnswerAt(other, row->vertex, row->triangle[k]);
    }

    return yield;
}

static void ApplyPush(const snwResponse* response, const snwPairRow* row, snwVec3 at, snwVec3 push)
{
    if (row->body >= 0)
        MoveVertex(&response->flesh[row->body], row->vertex, push);
    else
        snwProp_Push(&response->props[row->vertex], Arm(response, row->vertex, at), push);
    if (row->kind == snw_touchProp)
        snwProp_Push(&response->props[row->other], Arm(response, row->other, at), snwVec3_Negate(push));
    for (int k = 0; k < 3 && row->kind == snw_touchFlesh; ++k)
        if (row->weights[k] != 0.0)
            MoveVertex(&response->flesh[row->other], row->triangle[k], snwVec3_Scale(push, -row->weights[k]));
}

// Below what a float position can hold the one side would round it away and the other not: momentum would leak, always
// in the same direction.
static bool IsLost(const snwResponse* response, const snwPairRow* row, snwVec3 at, double distance)
{
    if (row->body < 0 && row->kind != snw_touchFlesh)
        return false;
    snwVec3 x = snwVec3_Sub(at, response->flesh[row->body >= 0 ? row->body : row->other].origin);
    return distance < 1e-7 * (fabs(x.x) + fabs(x.y) + fabs(x.z));
}

static double SolveFriction(const snwResponse* response, snwPairRow* row, snwVec3 at)
{
    snwVec3 slip = Slip(response, row);
    double length = snwVec3_Length(slip);
    snwVec3 wanted = row->drag;
    double yield = Yield(response, row, at, length > 0.0 ? snwVec3_Scale(slip, 1.0 / length) : row->normal);
    wanted = snwVec3_MulAdd(wanted, -1.0 / yield, slip);
    snwVec3 drag = CutFriction(wanted, row->push, row->friction, &row->sliding);
    snwVec3 change = snwVec3_Sub(drag, row->drag);
    double way = snwVec3_Length(change) * yield;
    if (IsLost(response, row, at, way))
        return 0.0;
    ApplyPush(response, row, at, change);
    row->drag = drag;
    return way;
}

static double SolvePairRow(const snwResponse* response, snwPairRow* row)
{
    if (row->kind != snw_touchFlesh)
        row->normal = snwQuat_Rotate(FrameOfRow(response, row).rotation, row->localNormal);
    snwVec3 at = FirstPoint(response, row);
    double gap = snwVec3_Dot(row->normal, snwVec3_Sub(at, OtherPoint(response, row)));
    double yield = Yield(response, row, at, row->normal);
    if (!(yield > 0.0) || (gap + row->allowed >= 0.0 && row->push == 0.0))
        return 0.0;
    row->depth = fmax(row->depth, -gap);
    double push = fmax(0.0, row->push - (gap + row->allowed) / yield), way = fabs(push - row->push) * yield;
    if (!IsLost(response, row, at, way))
    {
        ApplyPush(response, row, at, snwVec3_Scale(row->normal, push - row->push));
        row->push = push;
    }
    return fmax(way, SolveFriction(response, row, at));
}

static double SolvePairs(snwResponse* response, int island, bool self)
{
    double moved = 0.0;
    for (int i = response->pairStarts[island]; i < response->pairStarts[island + 1]; ++i)
    {
        snwPairRow* row = &response->pairs[response->pairOrder[i]];
        if (self || row->kind != snw_touchFlesh || row->other != row->body)
            moved = fmax(moved, SolvePairRow(response, row));
    }
    return moved;
}

static double SolveContactIsland(snwResponse* response, int island, bool fresh, bool self)
{
    double moved = SolvePairs(response, island, self);
    for (int i = response->islandStarts[island]; i < response->islandStarts[island + 1]; ++i)
        if (response->islandMembers[i] < response->scene->bodyCount)
            moved = fmax(moved, SolveSolids(response, response->islandMembers[i], fresh));
    return moved;
}

double snwResponse_Solve(snwResponse* response, int island, bool fresh)
{
    return SolveContactIsland(response, island, fresh, true);
}

double snwResponse_SolveWithoutSelf(snwResponse* response, int island)
{
    return SolveContactIsland(response, island, false, false);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pushes as forces, for methods that solve with them

snwSolidRow* snwResponse_GetSolid(const snwResponse* response, int body, int index)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    for (int chunk = 0; chunk < FleshChunkCount(flesh) && response->scene->colliderCount > 0; ++chunk)
    {
        if (index < response->chunkCounts[body][chunk])
            return response->solids + response->firstSolids[body] +
                   (size_t)chunk * snw_solidGrain * (size_t)response->touches + index;
        index -= response->chunkCounts[body][chunk];
    }
    return NULL;
}

typedef void SolidFn(const snwResponse* response, snwSolidRow* row, const snwContactFlesh* flesh, void* data);

static void ForSolids(const snwResponse* response, int body, SolidFn* fn, void* data)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    int room = response->touches;
    for (int chunk = 0; chunk < FleshChunkCount(flesh) && response->scene->colliderCount > 0; ++chunk)
    {
        snwSolidRow* rows = response->solids + response->firstSolids[body] +
                            (size_t)chunk * snw_solidGrain * (size_t)room;
        for (int i = 0; i < response->chunkCounts[body][chunk]; ++i)
            fn(response, &rows[i], flesh, data);
    }
}

static void MarkSolid(const snwResponse* response, snwSolidRow* row, const snwContactFlesh* flesh, void* data)
{
    (void)response;
    unsigned char* marks = data;
    double gap = snwVec3_Dot(row->normal, snwVec3_Sub(snwContactFlesh_Now(flesh, row->vertex), row->point));
    if (row->push > 0.0 || gap + row->allowed < 0.0)
        marks[row->vertex] = 1;
}

static bool PairTouches(const snwResponse* response, const snwPairRow* row)
{
    snwVec3 normal = row->kind != snw_touchFlesh ? snwQuat_Rotate(FrameOfRow(response, row).rotation, row->localNormal)
                                                 : row->normal;
    snwVec3 gap = snwVec3_Sub(FirstPoint(response, row), OtherPoint(response, row));
    return row->push > 0.0 || snwVec3_Dot(normal, gap) + row->allowed < 0.0;
}

void snwResponse_MarkTouching(const snwResponse* response, int body, unsigned char* marks)
{
    ForSolids(response, body, MarkSolid, marks);
    for (int i = 0; i < response->pairCount; ++i)
    {
        const snwPairRow* row = &response->pairs[i];
        bool other = row->kind == snw_touchFlesh && row->other == body;
        if ((row->body != body && !other) || !PairTouches(response, row))
            continue;
        if (row->body == body)
            marks[row->vertex] = 1;
        for (int k = 0; k < 3 && other; ++k)
            if (row->weights[k] != 0.0)
                marks[row->triangle[k]] = 1;
    }
}

bool snwResponse_IsNear(const snwResponse* response, int body)
{
    bool near = false;
    for (int chunk = 0; chunk < FleshChunkCount(&response->flesh[body]) && response->scene->colliderCount > 0; ++chunk)
        near = near || response->chunkCounts[body][chunk] > 0;
    for (int i = 0; i < response->pairCount; ++i)
    {
        const snwPairRow* row = &response->pairs[i];
        near = near || row->body == body || (row->kind == snw_touchFlesh && row->other == body);
    }
    return near;
}

typedef struct ForceSum
{
    snwVec3* forces;
    double perPush; // N per kg m
} ForceSum;

static void AddSolidForce(const snwResponse* response, snwSolidRow* row, const snwContactFlesh* flesh, void* data)
{
    (void)response, (void)flesh;
    const ForceSum* sum = data;
    snwVec3 push = snwVec3_MulAdd(row->drag, row->push, row->normal);
    sum->forces[row->vertex] = snwVec3_MulAdd(sum->forces[row->vertex], sum->perPush, push);
}

void snwResponse_AddForces(const snwResponse* response, int body, double h, snwVec3* forces)
{
    ForceSum sum = {forces, 1.0 / (h * h)};
    ForSolids(response, body, AddSolidForce, &sum);
    for (int i = 0; i < response->pairCount; ++i)
    {
        const snwPairRow* row = &response->pairs[i];
        snwVec3 push = snwVec3_Scale(snwVec3_MulAdd(row->drag, row->push, row->normal), 1.0 / (h * h));
        if (row->body == body)
            forces[row->vertex] = snwVec3_Add(forces[row->vertex], push);
        for (int k = 0; k < 3 && row->kind == snw_touchFlesh && row->other == body; ++k)
            if (row->weights[k] != 0.0)
                forces[row->triangle[k]] = snwVec3_MulAdd(forces[row->triangle[k]], -row->weights[k], push);
    }
}

static void FindAllowed(const snwResponse* response, snwSolidRow* row, const snwContactFlesh* flesh, void* data)
{
    (void)response, (void)flesh;
    double* most = data;
    *most = fmax(*most, row->allowed);
}

double snwResponse_DepthLeft(const snwResponse* response, int body)
{
    double most = 0.0;
    ForSolids(response, body, FindAllowed, &most);
    return most;
}

// ---------------------------------------------------------------------------------------------------------------------
// The end of a substep

static snwAnchor MakeAnchor(int kind, int other, snwVec3 home)
{
    return (snwAnchor){kind, other, {0, 0, 0}, {(float)home.x, (float)home.y, (float)home.z}};
}

static void KeepSolids(const snwResponse* response, int body)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    int room = response->touches;
    for (int chunk = 0; chunk < FleshChunkCount(flesh) && response->scene->colliderCount > 0; ++chunk)
    {
        const snwSolidRow* rows = response->solids + response->firstSolids[body] +
                                  (size_t)chunk * snw_solidGrain * (size_t)room;

        // What pushed and found no place yet keeps its home; what slides starts from where it is now.
        for (int i = 0; i < response->chunkCounts[body][chunk]; ++i)
        {
            const snwSolidRow* row = &rows[i];
            if (!(row->push > 0.0) || row->anchor < 0 || flesh->anchors[row->anchor].kind != snw_touchNothing)
                continue;

            snwVec3 home = snwTransform_ApplyInverse(
                response->colliderNow[row->collider], snwContactFlesh_Now(flesh, row->vertex));
            flesh->anchors[row->anchor] = row->anchored && !row->sliding
                                              ? row->kept
                                              : MakeAnchor(snw_touchCollider, row->collider, home);
        }
    }
}

// Weights of the point of the triangle's plane below x.
static void WeighCorners(const snwContactFlesh* flesh, const int triangle[3], snwVec3 x, float weights[3])
{
    snwVec3 a = snwContactFlesh_Now(flesh, triangle[0]);
    snwVec3 u = snwVec3_Sub(snwContactFlesh_Now(flesh, triangle[1]), a),
            v = snwVec3_Sub(snwContactFlesh_Now(flesh, triangle[2]), a);
    snwVec3 d = snwVec3_Sub(x, a);
    double uu = snwVec3_Dot(u, u), uv = snwVec3_Dot(u, v), vv = snwVec3_Dot(v, v);
    double du = snwVec3_Dot(d, u), dv = snwVec3_Dot(d, v), determinant = uu * vv - uv * uv;
    if (!(determinant > 1e-12 * uu * vv)) // a sliver: the nearest along its first side
    {
        weights[1] = uu > 0.0 ? (float)(du / uu) : 0.0f;
        weights[2] = 0.0f;
    }
    else
    {
        weights[1] = (float)((vv * du - uv * dv) / determinant);
        weights[2] = (float)((uu * dv - uv * du) / determinant);
    }
    weights[0] = 1.0f - weights[1] - weights[2];
}

static void KeepPair(const snwResponse* response, const snwPairRow* row)
{
    const snwContactFlesh* flesh = &response->flesh[row->body];
    snwAnchor* anchor = &flesh->anchors[row->anchor];
    if (anchor->kind != snw_touchNothing)
        return;
    if (row->anchored && !row->sliding)
    {
        *anchor = row->kept;
        return;
    }

    // A new home, in the other side's frame or triangle.
    snwVec3 x = snwContactFlesh_Now(flesh, row->vertex);
    if (row->kind == snw_touchProp)
    {
        *anchor = MakeAnchor(
            row->kind, row->other, snwTransform_ApplyInverse(response->props[row->other].transform, x));
        return;
    }

    // On flesh: three vertices, and where among them.
    *anchor = MakeAnchor(row->kind, row->other, (snwVec3){0, 0, 0});
    memcpy(anchor->triangle, row->triangle, sizeof row->triangle);
    WeighCorners(&response->flesh[row->other], row->triangle, x, anchor->home);
}

void snwResponse_Finish(snwResponse* response, snwProp* props, double h)
{
    for (int b = 0; b < response->scene->bodyCount; ++b)
    {
        const snwContactFlesh* flesh = &response->flesh[b];
        memset(flesh->anchors, 0, (size_t)flesh->vertexCount * snw_anchorsPerVertex * sizeof *flesh->anchors);
    }
    for (int i = 0; i < response->pairCount; ++i)
        if (response->pairs[i].push > 0.0 && response->pairs[i].anchor >= 0)
            KeepPair(response, &response->pairs[i]);
    for (int b = 0; b < response->scene->bodyCount; ++b)
        KeepSolids(response, b);
    for (int p = 0; p < response->scene->propCount; ++p)
        props[p] = snwProp_Finish(&response->props[p], h);
}

// ---------------------------------------------------------------------------------------------------------------------
// Telling

static void StoreVec(float out[3], snwVec3 v)
{
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
}

typedef struct Teller
{
    snwContact* contacts;
    int count, capacity;
    double perPush; // N per kg m
} Teller;

static void TellContact(Teller* teller, snwContact contact, snwVec3 position, snwVec3 normal, snwVec3 push)
{
    if (teller->count == teller->capacity)
        return;
    StoreVec(contact.position, position);
    StoreVec(contact.normal, normal);
    StoreVec(contact.force, snwVec3_Scale(push, teller->perPush));
    teller->contacts[teller->count++] = contact;
}

static void TellSolids(const snwResponse* response, int body, Teller* teller)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    int room = response->touches;
    for (int chunk = 0; chunk < FleshChunkCount(flesh) && response->scene->colliderCount > 0; ++chunk)
    {
        const snwSolidRow* rows = response->solids + response->firstSolids[body] +
                                  (size_t)chunk * snw_solidGrain * (size_t)room;

        // Force: the sums of the substep over h^2.
        for (int i = 0; i < response->chunkCounts[body][chunk]; ++i)
        {
            const snwSolidRow* row = &rows[i];
            snwContact contact = {.body = body,
                .vertex = row->vertex,
                .collider = row->collider,
                .prop = -1,
                .otherBody = -1,
                .depth = (float)row->depth};

            if (row->push > 0.0)
                TellContact(teller, contact, snwContactFlesh_Now(flesh, row->vertex), row->normal,
                    snwVec3_MulAdd(row->drag, row->push, row->normal));
        }
    }
}

int snwResponse_Report(const snwResponse* response, double h, snwContact* contacts, int capacity)
{
    Teller teller = {contacts, 0, capacity, 1.0 / (h * h)};
    for (int b = 0; b < response->scene->bodyCount; ++b)
        TellSolids(response, b, &teller);

    // The same of pairs; which side is what follows from the row's kind.
    for (int i = 0; i < response->pairCount; ++i)
    {
        const snwPairRow* row = &response->pairs[i];
        snwContact contact = {.body = row->body,
            .vertex = row->vertex,
            .collider = row->kind == snw_touchCollider ? row->other : -1,
            .prop = row->kind == snw_touchProp ? row->other : -1,
            .otherBody = row->kind == snw_touchFlesh ? row->other : -1,
            .depth = (float)row->depth};
        if (row->push > 0.0)
            TellContact(&teller, contact, FirstPoint(response, row), row->normal,
                snwVec3_MulAdd(row->drag, row->push, row->normal));
    }

    return teller.count;
}

static snwContactPoint MakePoint(snwVec3 position, snwVec3 normal, double gap, snwFriction friction)
{
    snwContactPoint point = {.collider = -1,
        .prop = -1,
        .otherBody = -1,
        .position = position,
        .normal = normal,
        .gap = gap,
        .friction = friction};
    point.tangent[0] = snwVec3_Normalize(snwVec3_Perpendicular(normal));
    point.tangent[1] = snwVec3_Cross(normal, point.tangent[0]);
    return point;
}

static int AddSolidPoints(const snwResponse* response, int body, int count, snwContactPoint* points, int capacity)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    int room = response->touches;
    for (int chunk = 0; chunk < FleshChunkCount(flesh) && response->scene->colliderCount > 0; ++chunk)
    {
        const snwSolidRow* rows = response->solids + response->firstSolids[body] +
                                  (size_t)chunk * snw_solidGrain * (size_t)room;

        // Counted in any case, so that a caller learns how much room it lacks.
        for (int i = 0; i < response->chunkCounts[body][chunk]; ++i, ++count)
        {
            if (count >= capacity)
                continue;
            const snwSolidRow* row = &rows[i];
            snwVec3 x = snwContactFlesh_Now(flesh, row->vertex);
            points[count] = MakePoint(
                x, row->normal, snwVec3_Dot(row->normal, snwVec3_Sub(x, row->point)), row->friction);
            points[count].body = body;
            points[count].vertex = row->vertex;
            points[count].collider = row->collider;
            points[count].surfaceMotion = snwCollider_Motion(
                response->colliderBefore[row->collider], response->colliderNow[row->collider], x);
        }
    }

    return count;
}

static snwContactPoint PairPoint(const snwResponse* response, const snwPairRow* row)
{
    snwVec3 at = FirstPoint(response, row);
    double gap = snwVec3_Dot(row->normal, snwVec3_Sub(at, OtherPoint(response, row)));
    snwContactPoint point = MakePoint(at, row->normal, gap, row->friction);
    point.body = row->body;
    point.vertex = row->vertex;
    point.collider = row->kind == snw_touchCollider ? row->other : -1;
    point.prop = row->kind == snw_touchProp ? row->other : -1;
    point.otherBody = row->kind == snw_touchFlesh ? row->other : -1;
    memcpy(point.triangle, row->triangle, sizeof point.triangle);
    memcpy(point.weights, row->weights, sizeof point.weights);
    if (row->kind == snw_touchCollider)
        point.surfaceMotion = snwCollider_Motion(
            response->colliderBefore[row->other], response->colliderNow[row->other], at);
    return point;
}

int snwResponse_Points(const snwResponse* response, snwContactPoint* points, int capacity)
{
    int count = 0;
    for (int b = 0; b < response->scene->bodyCount; ++b)
        count = AddSolidPoints(response, b, count, points, capacity);
    for (int i = 0; i < response->pairCount; ++i, ++count)
        if (count < capacity)
            points[count] = PairPoint(response, &response->pairs[i]);
    return count;
}
