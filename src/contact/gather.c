// Finding the contacts of a substep.

#include "contact/response.h"
#include "rig/clip.h"

#include <math.h>
#include <string.h>

double snwResponse_AllowedDepth(const snwResponse* response, double depthBefore, double size)
{
    if (!(depthBefore > 0.0))
        return 0.0;
    double most = sqrt(fmax(response->gravity, size) * size) * response->h;
    return size > 0.0 ? fmax(0.75 * depthBefore, depthBefore - most) : 0.75 * depthBefore;
}

// ---------------------------------------------------------------------------------------------------------------------
// Planes

static void StopAtSurface(snwVec3 at, snwTouch touch, snwStop* stop)
{
    stop->point = snwVec3_MulAdd(at, touch.depth, touch.normal);
    stop->normal = touch.normal;
}

// The plane where the point came in, carried along to where the solid is now.
static void StopAtHit(const snwStopQuery* query, const snwSweepHit* hit, snwStop* stop)
{
    snwTransform then = hit->time < 1.0 ? snwTransform_Interpolate(query->before, query->now, hit->time) : query->now;
    snwVec3 surface = snwVec3_MulAdd(hit->point, hit->depth, hit->normal);
    stop->point = snwTransform_Apply(query->now, snwTransform_ApplyInverse(then, surface));
    stop->normal = snwQuat_Rotate(query->now.rotation, snwQuat_InverseRotate(then.rotation, hit->normal));
    stop->depth = hit->time > 0.0 ? 0.0 : hit->depth;
}

bool snwFindStop(const snwStopQuery* query, snwStop* stop)
{
    // In the collider's frame the point came from where the collider would have carried it.
    snwTouch touch = snwCollider_Touch(query->solid, query->now, query->to);
    double reach = query->margin + query->radius;
    snwVec3 carried = snwTransform_Apply(query->now, snwTransform_ApplyInverse(query->before, query->from));
    double travel = snwVec3_Distance(carried, query->to);

    if (!(-touch.depth <= travel + reach)) // also where a number is not finite
        return false;
    *stop = (snwStop){.carried = carried, .swept = travel > query->margin};

    // Against a plane the surface itself says all, also about speed.
    if (query->solid->def.kind == snw_colliderPlane)
    {
        StopAtSurface(query->to, touch, stop);
        stop->depth = query->radius - snwVec3_Dot(snwVec3_Sub(carried, stop->point), touch.normal);
        return -touch.depth <= reach;
    }

    // Fast, or inside by now: the moment of the first contact tells the plane that it came through.
    snwColliderPath sweep = {query->before, query->now, query->from, query->to};
    snwSweepHit hit;
    bool near = touch.depth <= 0.0 && !stop->swept;
    if (!near && snwCollider_Sweep(query->solid, &sweep, &hit))
    {
        StopAtHit(query, &hit, stop);
        return true;
    }

    StopAtSurface(query->to, touch, stop);
    return -touch.depth <= reach;
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices against colliders

typedef struct SolidLoop
{
    snwResponse* response;
    snwContactFlesh* flesh;
    int body;
    snwSolidRow* rows; // of the body
    int* counts;
    int room; // rows per vertex
} SolidLoop;

// Which of the touching vertices is this mesh vertex? They are sorted where they are not all.
static int FindTouching(const snwContactFlesh* flesh, int vertex)
{
    if (flesh->vertices == NULL)
        return vertex;
    int low = 0, high = flesh->vertexCount;
    while (low < high)
    {
        int middle = low + (high - low) / 2;
        if (flesh->vertices[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < flesh->vertexCount && flesh->vertices[low] == vertex ? low : -1;
}

static void SetHome(const snwContactFlesh* flesh, snwTransform now, const snwStop* stop, snwSolidRow* row)
{
    row->home = stop->carried;
    const snwAnchor* anchor = row->anchor >= 0 ? &flesh->anchors[row->anchor] : NULL;
    if (anchor == NULL || anchor->kind != snw_touchCollider || anchor->other != row->collider)
        return;
    row->anchored = true;
    row->kept = *anchor;
    row->home = snwTransform_Apply(now, (snwVec3){anchor->home[0], anchor->home[1], anchor->home[2]});
}

// The anchor of a vertex. In a wild body, vertices inside have none.
static int SolidAnchor(const snwContactFlesh* flesh, int index)
{
    int touching = flesh->wild ? FindTouching(flesh, index) : index;
    return touching >= 0 ? snw_anchorsPerVertex * touching + snw_anchorSolid : -1;
}

// Vertices deep inside of a solid each have their own nearest way out, and would take the body apart. So if its centre
// is inside too, they leave as one: by the way of the centre.
static const double s_deep = 0.1; // sizes of the body

static void FindFleshExits(const snwResponse* response, const snwContactFlesh* flesh)
{
    snwVec3 centre = {0, 0, 0};
    for (int i = 0; i < flesh->vertexCount; ++i)
        centre = snwVec3_MulAdd(centre, 1.0 / flesh->vertexCount,
            snwContactFlesh_Before(flesh, flesh->vertices == NULL ? i : flesh->vertices[i]));
    for (int c = 0; c < response->scene->colliderCount; ++c)
    {
        const snwCollider* collider = &response->colliders[c];
        snwWayOut* way = &response->exits[c];
        *way = (snwWayOut){0};
        if (collider->def.kind == snw_colliderPlane || !(flesh->size > 0.0))
            continue;
        snwTouch touch = snwCollider_Touch(collider, response->colliderNow[c], centre);
        *way = (snwWayOut){touch.depth > 0.0, snwVec3_MulAdd(centre, touch.depth, touch.normal), touch.normal};
    }
}

static void TakeExit(const snwWayOut* way, const snwContactFlesh* flesh, snwStop* stop)
{
    if (!way->there || !(stop->depth > s_deep * flesh->size))
        return;
    stop->point = way->point;
    stop->normal = way->normal;
    stop->depth = snwVec3_Dot(way->normal, snwVec3_Sub(way->point, stop->carried));
    stop->swept = true; // nobody looks for a nearer side
}

static int GatherVertex(const SolidLoop* loop, int index, snwSolidRow* rows)
{
    const snwResponse* response = loop->response;
    const snwContactFlesh* flesh = loop->flesh;
    int vertex = flesh->wild || flesh->vertices == NULL ? index : flesh->vertices[index], count = 0;

    // Held vertices meet nothing.
    if (flesh->positions[4 * (size_t)vertex + 3] == 0.0f)
        return 0;

    // One row per collider in reach, up to the room that the chunk has.
    for (int c = 0; c < response->scene->colliderCount && count < loop->room; ++c)
    {
        snwStopQuery query = {&response->colliders[c], response->colliderBefore[c], response->colliderNow[c],
            snwContactFlesh_Before(flesh, vertex), snwContactFlesh_Now(flesh, vertex), 0.0, flesh->margin};
        snwStop stop;
        if (!snwFindStop(&query, &stop))
            continue;
        TakeExit(&response->exits[c], flesh, &stop);
        snwSolidRow* row = &rows[count++];
        *row = (snwSolidRow){.vertex = vertex,
            .collider = c,
            .anchor = SolidAnchor(flesh, index),
            .swept = stop.swept,
            .point = stop.point,
            .normal = stop.normal,
            .friction = snwFriction_Between(response->scene, snwBodyDef_Friction(&response->scene->bodies[loop->body]),
                snwColliderDef_Friction(&response->scene->colliders[c])),
            .allowed = snwResponse_AllowedDepth(response, stop.depth, flesh->size)};
        SetHome(flesh, query.now, &stop, row);
    }

    return count;
}

static void GatherChunk(int begin, int end, void* data)
{
    const SolidLoop* loop = data;
    int chunk = begin / snw_solidGrain, count = 0;
    snwSolidRow* rows = loop->rows + (size_t)chunk * snw_solidGrain * (size_t)loop->room;
    for (int i = begin; i < end; ++i)
        count += GatherVertex(loop, i, rows + count);
    loop->counts[chunk] = count;
}

void snwResponse_GatherSolids(snwResponse* response)
{
    for (int b = 0; b < response->scene->bodyCount; ++b)
    {
        snwContactFlesh* flesh = &response->flesh[b];
        SolidLoop loop = {response, flesh, b, response->solids + response->firstSolids[b], response->chunkCounts[b],
            response->touches};
        int count = flesh->wild ? flesh->rowCount : flesh->vertexCount;
        if (response->scene->colliderCount == 0)
            continue;
        FindFleshExits(response, flesh);
        snwParallelFor(response->context, count, snw_solidGrain, GatherChunk, &loop);
    }
}

static void CatchChunk(int begin, int end, void* data)
{
    const SolidLoop* loop = data;
    const snwResponse* response = loop->response;
    snwContactFlesh* flesh = loop->flesh;
    for (int i = begin; i < end; ++i)
    {
        int vertex = flesh->wild || flesh->vertices == NULL ? i : flesh->vertices[i];

        // After the solve: what is still deeper than it may be is put on the plane, one collider after the other.
        for (int c = 0; c < response->scene->colliderCount && flesh->positions[4 * (size_t)vertex + 3] > 0.0f; ++c)
        {
            snwVec3 x = snwContactFlesh_Now(flesh, vertex);
            snwStopQuery query = {&response->colliders[c], response->colliderBefore[c], response->colliderNow[c],
                snwContactFlesh_Before(flesh, vertex), x, 0.0, 0.0};
            snwStop stop;
            if (!snwFindStop(&query, &stop))
                continue;

            // Below 0: deeper than it may be.
            double gap = snwVec3_Dot(stop.normal, snwVec3_Sub(x, stop.point)) +
                         snwResponse_AllowedDepth(response, stop.depth, flesh->size);
            if (gap < 0.0)
                snwRow_SetPlace(flesh->positions, vertex, flesh->origin, snwVec3_MulAdd(x, -gap, stop.normal));
        }
    }
}

void snwResponse_Catch(snwResponse* response, int body)
{
    snwContactFlesh* flesh = &response->flesh[body];
    SolidLoop loop = {.response = response, .flesh = flesh, .body = body};
    int count = flesh->wild ? flesh->rowCount : flesh->vertexCount;
    if (response->scene->colliderCount > 0)
        snwParallelFor(response->context, count, snw_solidGrain, CatchChunk, &loop);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bodies against bodies and themselves

snwPairRow* snwResponse_NewPair(snwResponse* response)
{
    if (response->pairCount == response->pairCapacity)
    {
        response->lost++;
        return NULL;
    }
    snwPairRow* row = &response->pairs[response->pairCount++];
    *row = (snwPairRow){.anchor = -1};
    return row;
}

static void SetFleshHome(const snwResponse* response, snwPairRow* row)
{
    const snwContactFlesh *flesh = &response->flesh[row->body], *other = &response->flesh[row->other];
    int index = FindTouching(flesh, row->vertex);
    row->anchor = index >= 0 ? snw_anchorsPerVertex * index + snw_anchorFlesh : -1;
    const snwAnchor* anchor = index >= 0 ? &flesh->anchors[row->anchor] : NULL;

    // Home is where it is found, unless the vertex already sticks to this body.
    memcpy(row->homeTriangle, row->triangle, sizeof row->triangle);
    memcpy(row->homeWeights, row->weights, sizeof row->weights);

    if (anchor != NULL && anchor->kind == snw_touchFlesh && anchor->other == row->other)
    {
        row->anchored = true;
        row->kept = *anchor;
        for (int k = 0; k < 3; ++k)
        {
            row->homeTriangle[k] = anchor->triangle[k];
            row->homeWeights[k] = (double)anchor->home[k];
        }

        return;
    }

    // The way from the other body's point to the vertex as it was before.
    row->home = snwVec3_Sub(
        snwContactFlesh_Before(flesh, row->vertex), snwFlesh_Mix(other, other->before, row->triangle, row->weights));
}

static void AddOverlap(snwResponse* response, const snwOverlap* overlap)
{
    snwPairRow* row = snwResponse_NewPair(response);
    if (row == NULL)
        return;
    row->body = overlap->body;
    row->vertex = overlap->vertex;
    row->kind = snw_touchFlesh;
    row->other = overlap->otherBody;

    for (int k = 0; k < 3; ++k)
    {
        bool there = overlap->triangle[k] >= 0; // a flat body's edge has no third corner
        row->triangle[k] = there ? overlap->triangle[k] : overlap->triangle[0];
        row->weights[k] = there ? overlap->weights[k] : 0.0;
    }

    // What was deep before the substep need not leave at once (see snwResponse_AllowedDepth).
    row->normal = overlap->normal;
    const snwContactFlesh *flesh = &response->flesh[row->body], *other = &response->flesh[row->other];
    snwVec3 apart = snwVec3_Sub(
        snwContactFlesh_Before(flesh, row->vertex), snwFlesh_Mix(other, other->before, row->triangle, row->weights));
    row->allowed = snwResponse_AllowedDepth(response, -snwVec3_Dot(apart, row->normal), fmin(flesh->size, other->size));
    row->friction = snwFriction_Between(response->scene, snwBodyDef_Friction(&response->scene->bodies[row->body]),
        snwBodyDef_Friction(&response->scene->bodies[row->other]));
    SetFleshHome(response, row);
}

static void GatherFlesh(snwResponse* response)
{
    if (response->detector == NULL)
        return;
    double margin = INFINITY;
    for (int b = 0; b < response->scene->bodyCount; ++b)
    {
        response->detectNow[b] = response->flesh[b].positions;
        response->detectBefore[b] = response->flesh[b].before;
        response->detectOrigins[b] = response->flesh[b].origin;
        margin = fmin(margin, response->flesh[b].margin);
    }
    snwDetectorInput input = {response->detectNow, response->detectBefore, response->detectOrigins, 4, margin};
    int count = snwDetector_Find(response->detector, &input, response->overlaps, response->overlapCapacity);
    for (int i = 0; i < count; ++i)
        AddOverlap(response, &response->overlaps[i]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Props

static snwVec3 ToLocalNormal(snwTransform frame, snwVec3 normal)
{
    return snwQuat_InverseRotate(frame.rotation, normal);
}

static void AddVertexOnProp(snwResponse* response, int body, int index, int prop)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    const snwPropMotion* motion = &response->props[prop];
    int vertex = flesh->vertices == NULL ? index : flesh->vertices[index];
    snwStopQuery query = {&response->propShapes[prop], motion->before, motion->transform,
        snwContactFlesh_Before(flesh, vertex), snwContactFlesh_Now(flesh, vertex), 0.0, flesh->margin};
    snwStop stop;
    snwPairRow* row = snwFindStop(&query, &stop) ? snwResponse_NewPair(response) : NULL;

    if (row == NULL)
        return;

    // A vertex on a prop: places are kept in the prop's frame, which moves on.
    row->body = body;
    row->vertex = vertex;
    row->kind = snw_touchProp;
    row->other = prop;
    row->anchor = snw_anchorsPerVertex * index + snw_anchorSolid;
    row->point = snwTransform_ApplyInverse(query.now, stop.point);
    row->localNormal = ToLocalNormal(query.now, stop.normal);
    row->normal = stop.normal;
    row->allowed = snwResponse_AllowedDepth(response, stop.depth, flesh->size);
    row->friction = snwFriction_Between(response->scene, snwBodyDef_Friction(&response->scene->bodies[body]),
        snwPropDef_Friction(&response->scene->props[prop]));

    // What stuck to this prop before keeps its home.
    const snwAnchor* anchor = &flesh->anchors[row->anchor];
    row->anchored = anchor->kind == snw_touchProp && anchor->other == prop;
    row->kept = *anchor;
    row->home = row->anchored ? (snwVec3){anchor->home[0], anchor->home[1], anchor->home[2]}
                              : snwTransform_ApplyInverse(query.now, stop.carried);
}

static void GatherVerticesOnProp(snwResponse* response, int body, int prop)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    const snwPropMotion* motion = &response->props[prop];
    snwVec3 from = motion->before.position, to = motion->transform.position;
    double reach = snwPropDef_Radius(&response->scene->props[prop]) + snwVec3_Distance(from, to) + flesh->margin;
    for (int i = 0; i < flesh->vertexCount; ++i)
    {
        int vertex = flesh->vertices == NULL ? i : flesh->vertices[i];
        snwVec3 now = snwContactFlesh_Now(flesh, vertex);
        double far = reach + snwVec3_Distance(now, snwContactFlesh_Before(flesh, vertex));
        if (snwVec3_LengthSquared(snwVec3_Sub(now, to)) <= far * far)
            AddVertexOnProp(response, body, i, prop);
    }
}

// One point of a prop (a ball of `radius` around it) against a solid.
typedef struct PointQuery
{
    int prop, kind, other;
    const snwCollider* solid;
    snwTransform before, now; // of the solid
    snwVec3 at;
    double radius, margin;
    snwFriction friction;
} PointQuery;

static void FinishPropRow(const snwResponse* response, const PointQuery* query, snwPairRow* row)
{
    const snwPropMotion* motion = &response->props[query->prop];
    row->body = -1;
    row->vertex = query->prop;
    row->kind = query->kind;
    row->other = query->other;
    row->friction = query->friction;
    snwVec3 contact = snwVec3_MulAdd(snwTransform_Apply(motion->transform, row->at), -row->radius, row->normal);
    row->grip = snwTransform_ApplyInverse(motion->transform, contact);
    snwVec3 gripBefore = snwTransform_Apply(motion->before, row->grip);
    row->home = snwTransform_ApplyInverse(query->before, gripBefore);
    snwVec3 plane = snwTransform_Apply(query->before, row->point);
    snwVec3 normal = snwQuat_Rotate(query->before.rotation, row->localNormal);
    double depth = -snwVec3_Dot(snwVec3_Sub(gripBefore, plane), normal);
    double size = 2.0 * snwPropDef_Radius(&response->scene->props[query->prop]);
    row->allowed = snwResponse_AllowedDepth(response, depth, size);
}

static void AddPointOnSolid(snwResponse* response, const PointQuery* query)
{
    const snwPropMotion* motion = &response->props[query->prop];
    snwStopQuery stopQuery = {query->solid, query->before, query->now, snwTransform_Apply(motion->before, query->at),
        snwTransform_Apply(motion->transform, query->at), query->radius, query->margin};
    snwStop stop;
    snwPairRow* row = snwFindStop(&stopQuery, &stop) ? snwResponse_NewPair(response) : NULL;
    if (row == NULL)
        return;
    row->at = query->at;
    row->radius = query->radius;
    row->point = snwTransform_ApplyInverse(query->now, stop.point);
    row->localNormal = ToLocalNormal(query->now, stop.normal);
    row->normal = stop.normal;
    FinishPropRow(response, query, row);
}

// The other way round: a point of the solid, in its frame, against the prop.
static void AddSolidPoint(snwResponse* response, const PointQuery* query)
{
    const snwPropMotion* motion = &response->props[query->prop];
    snwStopQuery stopQuery = {&response->propShapes[query->prop], motion->before, motion->transform,
        snwTransform_Apply(query->before, query->at), snwTransform_Apply(query->now, query->at), query->radius,
        query->margin};
    snwStop stop;
    snwPairRow* row = snwFindStop(&stopQuery, &stop) ? snwResponse_NewPair(response) : NULL;
    if (row == NULL)
        return;
    row->at = snwTransform_ApplyInverse(motion->transform, stop.point);
    row->normal = snwVec3_Negate(stop.normal);
    row->point = snwVec3_MulAdd(query->at, query->radius, ToLocalNormal(query->now, row->normal));
    row->localNormal = ToLocalNormal(query->now, row->normal);
    FinishPropRow(response, query, row);
}

static bool IsRound(snwColliderKind kind)
{
    return kind == snw_colliderSphere || kind == snw_colliderCapsule;
}

// Round things are asked at their axis, where one distance tells all; two boxes ask each other.
static void GatherPropOnSolid(snwResponse* response, PointQuery query)
{
    const snwPropPoints* own = &response->propPoints[query.prop];
    snwColliderKind kind = response->scene->props[query.prop].kind, other = query.solid->def.kind;
    bool small = IsRound(other) || other == snw_colliderBox;

    // Points of the prop, with its radius, against the solid.
    if (IsRound(kind) || !IsRound(other))
    {
        query.radius = own->radius;
        for (int i = 0; i < own->count; ++i)
        {
            query.at = own->at[i];
            AddPointOnSolid(response, &query);
        }
    }

    // Then corners of the solid against the prop, where both have some.
    if (!small || IsRound(kind))
        return;
    snwPropPoints points = snwPropPoints_Make(other, query.solid->def.size);
    query.radius = points.radius;
    for (int i = 0; i < points.count; ++i)
    {
        query.at = points.at[i];
        AddSolidPoint(response, &query);
    }
}

static double PropMargin(const snwResponse* response, int prop)
{
    return 0.05 * snwPropDef_Radius(&response->scene->props[prop]);
}

static void GatherProp(snwResponse* response, int prop)
{
    const snwSceneDef* scene = response->scene;
    snwFrictionSide surface = snwPropDef_Friction(&scene->props[prop]);
    PointQuery query = {.prop = prop, .kind = snw_touchCollider, .margin = PropMargin(response, prop)};

    // The scene's colliders, then props behind this one, so that each pair is met once.
    for (int c = 0; c < scene->colliderCount; ++c)
    {
        query.other = c;
        query.solid = &response->colliders[c];
        query.before = response->colliderBefore[c];
        query.now = response->colliderNow[c];
        query.friction = snwFriction_Between(scene, surface, snwColliderDef_Friction(&scene->colliders[c]));
        GatherPropOnSolid(response, query);
    }

    query.kind = snw_touchProp;
    for (int p = prop + 1; p < scene->propCount; ++p)
    {
        const snwPropMotion *a = &response->props[prop], *b = &response->props[p];

        // Spheres around both, grown by how far they moved.
        double reach = snwPropDef_Radius(&scene->props[prop]) + snwPropDef_Radius(&scene->props[p]) +
                       snwVec3_Distance(a->before.position, a->transform.position) +
                       snwVec3_Distance(b->before.position, b->transform.position) + query.margin;
        if (snwVec3_Distance(a->transform.position, b->transform.position) > reach)
            continue;
        query.other = p;
        query.solid = &response->propShapes[p];
        query.before = b->before;
        query.now = b->transform;
        query.friction = snwFriction_Between(scene, surface, snwPropDef_Friction(&scene->props[p]));
        GatherPropOnSolid(response, query);
    }
}

void snwResponse_GatherPairs(snwResponse* response)
{
    response->pairCount = response->lost = 0;
    GatherFlesh(response);
    for (int b = 0; b < response->scene->bodyCount; ++b)
        for (int p = 0; p < response->scene->propCount; ++p)
        {
            GatherVerticesOnProp(response, b, p);
            snwResponse_GatherPropOnSkin(response, p, b);
        }
    for (int p = 0; p < response->scene->propCount; ++p)
        GatherProp(response, p);
}
