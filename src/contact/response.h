// What happens where things touch, for every method.
//
// Once per substep all contacts are gathered, between what moves and what is about to be where it was predicted:
//     vertex of a body  against  collider, prop, triangle of another body or of its own
//     point of a prop   against  collider, other prop, triangle of a body
// Each has a plane on the other side: a gap C = n . (a - b) that shall not be negative, and a home: the point of the
// other side that static friction holds on to. A vertex that was swept into something gets the plane through which it
// came, so that neither speed nor a thin wall lets it through.
//
// Three forms are made of them:
//   positions   (solve.c) unilateral position constraints for the PBD family. Each contact keeps the sums of what it
//               pushed so far in this substep, l_n along the normal and l_t across it, in kg m (impulse times h):
//                   l_n <- max(0, l_n - C / w),   l_t <- l_t - slip / w  if |.| <= mu_s l_n, else cut to mu_k l_n
//               with w the inverse mass that both sides show at the point, and moves both sides by the change.
//   forces      (force.h) for methods whose matrix is constant
//   points      (snwContactPoint) gap, normal, tangents and friction, for complementarity solvers
//
// Rest. Friction that only stops the slip of the substep leaves the error of an unfinished solve behind, every substep
// in the same direction: things creep. Therefore a vertex that sticks remembers its home between substeps (snwAnchor,
// part of the state) and is pulled back to it as far as Coulomb's law grants; while it slides, home follows.
//
// Order. Vertices against colliders touch nothing else, so they run in parallel; all other contacts run one after the
// other in the order in which they were found. Bodies and props that touch each other form islands, which a solver
// iterates together; the others keep to themselves and to the cache.

#pragma once

#include "base/arena.h"
#include "contact/collider.h"
#include "contact/detect.h"
#include "contact/friction.h"
#include "contact/prop.h"
#include "math/rows.h"

typedef enum snwTouchKind
{
    snw_touchNothing,
    snw_touchCollider,
    snw_touchProp,
    snw_touchFlesh,
} snwTouchKind;

// Where a vertex sticks, between substeps. No padding: it is part of the state.
typedef struct snwAnchor
{
    int32_t kind, other; // snwTouchKind; collider, prop or body
    int32_t triangle[3]; // of a body: mesh vertices
    float home[3];       // in the frame of the collider or prop; weights of the triangle's corners
} snwAnchor;

enum
{
    snw_anchorSolid, // of a collider or prop
    snw_anchorFlesh,
    snw_anchorsPerVertex
};

// How a body answers when a vertex is pushed, for methods that solve their flesh as one: a push p (kg m) at vertex a
// moves every active vertex b by matrix[slot of a][slot of b] p. A vertex that is not active is moved by its own
// inverse mass, and moves nothing else.
typedef struct snwPushAnswer
{
    const int* slotOf; // per vertex of the mesh, -1: not active
    const int* active; // vertices of the mesh by slot
    int activeCount;
    const float* matrix; // 1/kg, symmetric
    size_t stride;       // from row to row
} snwPushAnswer;

// A body as the response sees it. Rows are float4: x y z, relative to the origin, and the inverse mass in use.
typedef struct snwContactFlesh
{
    float* positions;            // predicted, then solved in place
    const float* before;         // when the substep began
    int rowCount;                // vertices of the mesh
    const int* vertices;         // that touch: NULL means all
    int vertexCount;             // of those
    snwAnchor* anchors;          // snw_anchorsPerVertex per touching vertex
    double margin;               // m: what comes this near in a substep is looked after
    double size;                 // m, of the body; 0: of no account
    const snwPushAnswer* answer; // NULL: a push moves its own vertex only
    bool wild;      // moves so much in a substep that its inside may come out: all its vertices are looked at
    snwVec3 origin; // m, in the world
} snwContactFlesh;

// A vertex against a collider, whose place is fixed during the substep: all in the world.
typedef struct snwSolidRow
{
    int vertex; // of the mesh
    int collider;
    int anchor; // of the body, -1: none
    bool anchored, sliding, swept;
    snwVec3 point, normal; // of the plane
    snwVec3 home;
    snwAnchor kept; // if anchored: as it was
    snwFriction friction;
    double allowed; // m: depth that is left to later substeps
    double depth;   // m: the deepest so far
    double push;    // l_n
    snwVec3 drag;   // l_t
} snwSolidRow;

// Any other contact.
typedef struct snwPairRow
{
    int body, vertex; // body -1: prop number `vertex`
    int kind, other;
    int anchor;
    bool anchored, sliding;
    int triangle[3], homeTriangle[3];
    double weights[3], homeWeights[3]; // of a body on the other side
    snwVec3 at;                        // of a prop on the first side: the point, in its frame
    snwVec3 grip;                      // and the material there
    double radius;                     // m, around `at`
    snwVec3 point, localNormal;        // of a collider or prop on the other side: the plane, in its frame
    snwVec3 normal;                    // in the world
    snwVec3 home;                      // in the frame of the collider or prop; of a body: the distance from its home
    snwAnchor kept;                    // if anchored: as it was
    snwFriction friction;
    double allowed, depth, push;
    snwVec3 drag;
} snwPairRow;

// The plane through which a body that is swallowed by a collider leaves it.
typedef struct snwWayOut
{
    bool there;
    snwVec3 point, normal;
} snwWayOut;

typedef struct snwResponseDef
{
    snwContext* context;
    snwArena* arena; // everything but the detector lives there
    const snwSceneDef* scene;
    const snwCollider* colliders; // as many as the scene has
    const int* vertexCounts;      // per body: touching vertices
    const int* rowCounts;         // per body: vertices of the mesh
    bool self;                    // contact of each body with itself
} snwResponseDef;

typedef struct snwResponse
{
    snwContext* context;
    const snwSceneDef* scene;
    const snwCollider* colliders;
    snwDetector* detector;  // NULL: one body, without itself
    snwContactFlesh* flesh; // per body, filled by the caller before each Gather
    snwTransform* colliderNow;
    snwTransform* colliderBefore;
    snwWayOut* exits;  // per collider, of the body that is gathered
    double h, gravity; // s and m/s^2, of this substep

    snwPropMotion* props;
    snwPropMass* masses;
    snwCollider* propShapes;
    snwPropPoints* propPoints;
    int* nearTriangles; // of a skin to a prop

    snwSolidRow* solids; // of each chunk of vertices
    int** chunkCounts;   // [body][chunk]
    size_t* firstSolids; // per body: place of its first chunk
    int touches;         // room per vertex

    snwOverlap* overlaps;
    int overlapCapacity;
    snwPairRow* pairs;
    int pairCount, pairCapacity;
    const float** detectNow;
    const float** detectBefore;
    snwVec3* detectOrigins;

    int* parents;      // of the union of bodies (first) and props
    int* islandOf;     // per body and prop
    int* islandStarts; // into islandMembers: bodies and props (number + bodyCount)
    int* islandMembers;
    int* pairStarts; // per island, into pairOrder
    int* pairOrder;
    int islandCount;
    int lost; // contacts for which there was no room in the last substep
} snwResponse;

snwResult snwCreateResponse(const snwResponseDef* def, snwResponse** response, snwMessage* message);
void snwDestroyResponse(snwResponse* response); // the detector; NULL allowed

// Free motion of the props over h seconds. Colliders go from colliderBefore to colliderNow.
void snwResponse_Predict(snwResponse* response, const snwProp* props, snwVec3 gravity, double h);

// All contacts of this substep and the islands, from flesh, props and colliders as they are.
void snwResponse_Gather(snwResponse* response);

// Marks the vertices of a body that are pushed, or overlap something now: their pushes may change in the next sweep.
void snwResponse_MarkTouching(const snwResponse* response, int body, unsigned char* marks);

// Contact number `index` of a body with colliders; NULL: there are no more.
snwSolidRow* snwResponse_GetSolid(const snwResponse* response, int body, int index);

// A curved or edged surface seen from x, where the vertex is now. Not if that shows another side: then it would be let
// through a thin part.
void snwResponse_LookAgain(const snwResponse* response, snwSolidRow* row, snwVec3 x);

// Whether anything came so near to a body in this substep that it may have been pushed.
bool snwResponse_IsNear(const snwResponse* response, int body);

// Adds what the contacts push a body with so far to forces (N, per vertex of the mesh).
void snwResponse_AddForces(const snwResponse* response, int body, double h, snwVec3* forces);

// m: how deep a body may stay inside of colliders for now, because it began there.
double snwResponse_DepthLeft(const snwResponse* response, int body);

// One sweep over the contacts of an island. `fresh`: looks again where curved surfaces are. Returns the longest way (m)
// that a contact moved its own point; of vertices against colliders only where bodies have answers.
double snwResponse_Solve(snwResponse* response, int island, bool fresh);

// The same without contacts of bodies with themselves, at surfaces as they were last seen.
double snwResponse_SolveWithoutSelf(snwResponse* response, int island);

// Puts vertices back that ended inside or beyond a collider that they had been too far from to be held by. Their push
// is not in the report.
void snwResponse_Catch(snwResponse* response, int body);

// Remembers where things stick; gives the props their state.
void snwResponse_Finish(snwResponse* response, snwProp* props, double h);

// The contacts that pushed, at most `capacity`; forces are means over the substep of h seconds.
int snwResponse_Report(const snwResponse* response, double h, snwContact* contacts, int capacity);

bool snwAnchor_IsSound(const snwAnchor* anchor, const snwSceneDef* scene);

// ---------------------------------------------------------------------------------------------------------------------
// For complementarity solvers

typedef struct snwContactPoint
{
    int body, vertex; // as in snwContact
    int collider, prop, otherBody;
    int triangle[3]; // of otherBody
    double weights[3];
    snwVec3 position;           // m, of the first side
    snwVec3 normal, tangent[2]; // unit and across each other, away from the other side
    double gap;                 // m, < 0: overlap
    snwVec3 surfaceMotion;      // m, of a collider's surface there in this substep
    snwFriction friction;
} snwContactPoint;

// All contacts of the last Gather; returns how many there are, of which at most `capacity` were stored.
int snwResponse_Points(const snwResponse* response, snwContactPoint* points, int capacity);

// Inside the module.
enum
{
    snw_solidGrain = 256
};

// Where a vertex is, and was when the substep began, in the world.
static inline snwVec3 snwContactFlesh_Now(const snwContactFlesh* flesh, int vertex)
{
    return snwRow_Place(flesh->positions, vertex, flesh->origin);
}

static inline snwVec3 snwContactFlesh_Before(const snwContactFlesh* flesh, int vertex)
{
    return snwRow_Place(flesh->before, vertex, flesh->origin);
}

// The point of a triangle with these weights of its corners; rows: the body's, now or before.
static inline snwVec3 snwFlesh_Mix(
    const snwContactFlesh* flesh, const float* rows, const int triangle[3], const double weights[3])
{
    snwVec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; ++k)
        sum = snwVec3_MulAdd(sum, weights[k], snwRow_Get(rows, triangle[k]));
    return snwVec3_Add(flesh->origin, sum);
}

// The plane of a solid that stops a point on its way, in the world where the solid is now.
typedef struct snwStop
{
    snwVec3 point, normal;
    snwVec3 carried; // where the point would be, had it moved with the solid
    double depth;    // m, > 0: it was inside already when the substep began
    bool swept;      // came from further away than the margin
} snwStop;

typedef struct snwStopQuery
{
    const snwCollider* solid;
    snwTransform before, now; // of the solid
    snwVec3 from, to;         // of the point
    double radius, margin;    // m, around the point
} snwStopQuery;

bool snwFindStop(const snwStopQuery* query, snwStop* stop);

// Depth that a contact of a thing of this size (m) leaves for later. Overlap from before is taken away over some
// substeps, or it would fly apart: a quarter in each, but not faster than sqrt(g size). What starts deep inside of
// something comes out slowly then, and leaves with a hop of half its size; with the quarter alone a body 1 m under the
// ground is shot 80 m up. Without gravity the speed is one size per second.
double snwResponse_AllowedDepth(const snwResponse* response, double depthBefore, double size);

snwPairRow* snwResponse_NewPair(snwResponse* response); // NULL: no room
void snwResponse_GatherPropOnSkin(snwResponse* response, int prop, int body);
void snwResponse_GatherSolids(snwResponse* response);
void snwResponse_GatherPairs(snwResponse* response);
void snwResponse_FindIslands(snwResponse* response);
