// Contact as part of the objective: augmented Lagrangians, whose blocks go to the diagonal of Newton's matrix.
//
// A touch with gap C, slip t, stiffness k and the forces l, u that were learned so far pushes with
//     N = max(0, l - k C),   T = u - k t, cut to Coulomb's cone
// along the normal and across it; after each round of Newton's steps l = N, u = T. Where it converges gaps are closed
// and what sticks is at home, whatever k is; k only says how fast. It is some times the stiffness of the vertex in A.
// Loads are kept from substep to substep, so what rests begins with what carries it.
//
// Rejected: forces that are fixed within a step (contact/force.h): no stiffer than a quarter of m / h^2, so a stack of
// soft boxes sinks for seconds; columns of A^-1 as apd has them: A changes with every rotation, and each column is a
// solve.
//
// The corners of a triangle share the block of its side by their weights; where both sides can move, blocks count twice
// (skelfem_solve.c says why).

#include "sim/skelfem/skelfem.h"

#include "sim/origin.h"

#include <math.h>
#include <string.h>

static const double s_stiffer = 10; // than the vertex, or than the inertia of a prop

static const double s_smallLack = 0.01; // of the grip

// Is there nothing in the scene that could touch or be touched?
bool snwSkelfem_TouchesNothing(const snwSim* sim)
{
    return sim->def->colliderCount + sim->def->propCount == 0 && sim->bodyCount == 1 &&
           snwSkelfem_Setting(sim, snw_skelfemSelf) == 0;
}

snwResult snwSkelfem_CreateTouches(snwSim* sim, snwMessage* message)
{
    snwSkelfemScratch* scratch = sim->scratch;
    size_t props = (size_t)sim->def->propCount;
    snwResult result = snwSim_CreateResponse(
        sim, snwSkelfem_Setting(sim, snw_skelfemSelf) != 0, &scratch->response, message);
    if (result < 0)
        return result;
    int solids = 0;
    for (int i = 0; i < sim->bodyCount; ++i)
        solids += sim->bodies[i].character->def.vertexCount;
    scratch->touchCapacity = snwSkelfem_TouchesNothing(sim)
                                 ? 0
                                 : solids * scratch->response->touches + scratch->response->pairCapacity;
    scratch->touches = snwArena_Alloc(&sim->arena, (size_t)scratch->touchCapacity, sizeof *scratch->touches);
    scratch->order = snwArena_Alloc(&sim->arena, 2 * (size_t)scratch->touchCapacity, sizeof *scratch->order);
    scratch->props = snwArena_Alloc(&sim->arena, props, sizeof *scratch->props);
    return sim->arena.failed ? snwFailMemory(message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Where a touch is

// What a touch pushes with, N.
typedef struct TouchForce
{
    double push;
    snwVec3 drag;
    snwVec3 normal;
    double slide; // what of the stiffness is left across the normal: 1 while it sticks
    double energy;
} TouchForce;

static const snwVec3* PlacesOf(const snwSim* sim, int body)
{
    return snwSkelfem_Body(sim, body)->state.positions;
}

static snwVec3 MixPlaces(const snwVec3* places, const int triangle[3], const double weights[3])
{
    snwVec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; ++k)
        sum = snwVec3_MulAdd(sum, weights[k], places[triangle[k]]);
    return sum;
}

static snwTransform FrameOf(const snwResponse* response, const snwPairRow* row)
{
    return row->kind == snw_touchProp ? response->props[row->other].transform : response->colliderNow[row->other];
}

static snwVec3 NormalOf(const snwResponse* response, const snwSkelfemTouch* touch)
{
    if (touch->solid != NULL)
        return touch->solid->normal;
    const snwPairRow* row = touch->pair;
    return row->kind == snw_touchFlesh ? row->normal
                                       : snwQuat_Rotate(FrameOf(response, row).rotation, row->localNormal);
}

// Where the first side is touched, in the world.
static snwVec3 PointOfTouch(const snwSim* sim, const snwSkelfemTouch* touch, snwVec3 normal)
{
    const snwResponse* response = ((const snwSkelfemScratch*)sim->scratch)->response;
    if (touch->solid != NULL)
        return PlacesOf(sim, touch->body)[touch->solid->vertex];
    const snwPairRow* row = touch->pair;
    if (row->body >= 0)
        return PlacesOf(sim, row->body)[row->vertex];
    return snwVec3_MulAdd(snwTransform_Apply(response->props[row->vertex].transform, row->at), -row->radius, normal);
}

static double GapOf(const snwSim* sim, const snwSkelfemTouch* touch, snwVec3 normal)
{
    const snwResponse* response = ((const snwSkelfemScratch*)sim->scratch)->response;
    snwVec3 at = PointOfTouch(sim, touch, normal), other;
    if (touch->solid != NULL)
        other = touch->solid->point;
    else if (touch->pair->kind == snw_touchFlesh)
        other = MixPlaces(PlacesOf(sim, touch->pair->other), touch->pair->triangle, touch->pair->weights);
    else
        other = snwTransform_Apply(FrameOf(response, touch->pair), touch->pair->point);
    return snwVec3_Dot(normal, snwVec3_Sub(at, other));
}

static double AllowedOf(const snwSkelfemTouch* touch)
{
    return touch->solid != NULL ? touch->solid->allowed : touch->pair->allowed;
}

// How far the first side is from where friction wants it, across the normal.
static snwVec3 SlipOf(const snwSim* sim, const snwSkelfemTouch* touch, snwVec3 normal)
{
    const snwResponse* response = ((const snwSkelfemScratch*)sim->scratch)->response;
    snwVec3 slip;
    if (touch->solid != NULL)
        slip = snwVec3_Sub(PlacesOf(sim, touch->body)[touch->solid->vertex], touch->solid->home);
    else
    {
        const snwPairRow* row = touch->pair;
        snwVec3 x = row->body >= 0 ? PlacesOf(sim, row->body)[row->vertex]
                                   : snwTransform_Apply(response->props[row->vertex].transform, row->grip);
        snwVec3 home = row->kind != snw_touchFlesh ? snwTransform_Apply(FrameOf(response, row), row->home)
                                                   : snwVec3_Add(row->home, MixPlaces(PlacesOf(sim, row->other),
                                                                                row->homeTriangle, row->homeWeights));
        slip = snwVec3_Sub(x, home);
    }
    return snwVec3_MulAdd(slip, -snwVec3_Dot(slip, normal), normal);
}

static snwFriction FrictionOfTouch(const snwSkelfemTouch* touch)
{
    return touch->solid != NULL ? touch->solid->friction : touch->pair->friction;
}

static TouchForce ForceOf(const snwSim* sim, const snwSkelfemTouch* touch)
{
    const snwResponse* response = ((const snwSkelfemScratch*)sim->scratch)->response;
    double k = touch->stiffness;
    TouchForce force = {.normal = NormalOf(response, touch), .slide = 1};
    if (!(k > 0))
        return force;

    // The normal push, with its energy.
    double gap = GapOf(sim, touch, force.normal) + AllowedOf(touch);
    force.push = fmax(0, touch->push - k * gap);
    force.energy = 0.5 * force.push * force.push / k;

    if (!(touch->grip > 0) || ((const snwSkelfemScratch*)sim->scratch)->guessing)
        return force;

    // Sticks with stiffness k about what it has learned, and slides where that is more than friction bears.
    snwVec3 wanted = snwVec3_MulAdd(touch->drag, -k, SlipOf(sim, touch, force.normal));

    double length = snwVec3_Length(wanted);
    bool slides = length > touch->grip;
    force.slide = slides ? touch->grip / length : 1;
    force.drag = snwVec3_Scale(wanted, force.slide);
    force.energy += slides ? touch->grip * (length - 0.5 * touch->grip) / k : 0.5 * length * length / k;

    return force;
}

// ---------------------------------------------------------------------------------------------------------------------
// Gathering

static void AddTouch(snwSkelfemScratch* scratch, const snwSkelfemTouch* touch)
{
    if (scratch->touchCount < scratch->touchCapacity)
        scratch->touches[scratch->touchCount++] = *touch;
}

static int AnchorOfTouch(const snwSkelfemTouch* touch)
{
    return touch->solid != NULL ? touch->solid->anchor : touch->pair->anchor;
}

static int FirstBodyOf(const snwSkelfemTouch* touch)
{
    return touch->pair != NULL ? touch->pair->body : touch->body;
}

// What a touch knows from the last substep: the load that its anchor bore.
static void RecallTouch(const snwSim* sim, snwSkelfemTouch* touch)
{
    int body = FirstBodyOf(touch), anchor = AnchorOfTouch(touch);
    const snwPairRow* row = touch->pair;
    if (body < 0 && row->kind == snw_touchFlesh) // a point of a prop: what it pushed its triangle with
    {
        const double* pressed = snwSkelfem_Body(sim, row->other)->state.pressed;
        double sum = 0, squares = 0;
        for (int k = 0; k < 3; ++k)
        {
            sum += row->weights[k] * pressed[row->triangle[k]];
            squares += row->weights[k] * row->weights[k];
        }

        touch->push = squares > 0 ? sum / squares : 0;
        touch->grip = FrictionOfTouch(touch).fixed * touch->push;
    }

    if (body < 0 || anchor < 0)
        return;

    // A vertex: the load that its anchor bore, along the normal and across it.
    const snwResponse* response = ((const snwSkelfemScratch*)sim->scratch)->response;

    snwVec3 load = snwSkelfem_Body(sim, body)->state.loads[anchor], normal = NormalOf(response, touch);
    bool anchored = touch->solid != NULL ? touch->solid->anchored : touch->pair->anchored;

    touch->push = fmax(0, snwVec3_Dot(load, normal));
    if (anchored)
        touch->drag = snwVec3_MulAdd(load, -snwVec3_Dot(load, normal), normal);
    touch->grip = FrictionOfTouch(touch).fixed * touch->push;
}

static void ShowSkelfemBody(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    for (int i = 0; i < body->model->vertexCount; ++i)
    {
        snwRow_SetPlace(body->touchRows, i, *sim->bodies[index].origin, body->state.positions[i]);
        body->touchRows[4 * (size_t)i + 3] = body->held[i] || !(body->masses[i] > 0) ? 0.0f
                                                                                     : (float)(1 / body->masses[i]);
    }
}

// Touches of each body one after the other in `order`.
static void SortTouches(snwSim* sim)
{
    snwSkelfemScratch* scratch = sim->scratch;
    int at = 0;
    for (int b = 0; b < sim->bodyCount; ++b)
    {
        snwSkelfemBody* body = snwSkelfem_Body(sim, b);
        body->touchFirst = at;
        for (int i = 0; i < scratch->touchCount; ++i)
        {
            const snwSkelfemTouch* touch = &scratch->touches[i];
            bool other = touch->pair != NULL && touch->pair->kind == snw_touchFlesh && touch->pair->other == b;
            if (FirstBodyOf(touch) == b || other)
                scratch->order[at++] = i;
        }
        body->touchEnd = at;
        body->near = snwResponse_IsNear(scratch->response, b);
    }
}

void snwSkelfem_GatherTouches(snwSim* sim, double h)
{
    snwSkelfemScratch* scratch = sim->scratch;
    scratch->touchCount = 0;
    if (snwSkelfem_TouchesNothing(sim))
        return;

    // Bodies as contacts see them: rows of floats, now and before.
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwSkelfemBody* body = snwSkelfem_Body(sim, i);
        ShowSkelfemBody(sim, i);
        for (int v = 0; v < body->model->vertexCount; ++v)
            snwRow_SetPlace(body->touchBefore, v, *sim->bodies[i].origin, body->before[v]);
        snwTouchDef touch = {.positions = body->touchRows, .before = body->touchBefore, .anchors = body->state.anchors};
        snwSim_DescribeBody(sim, scratch->response, i, &touch);
    }

    snwSim_GatherContacts(sim, scratch->response, h);

    // Vertices on solids, then pairs of whatever else touches.
    for (int b = 0; b < sim->bodyCount; ++b)
        for (int i = 0;; ++i)
        {
            snwSkelfemTouch touch = {.body = b, .solid = snwResponse_GetSolid(scratch->response, b, i)};
            if (touch.solid == NULL)
                break;
            RecallTouch(sim, &touch);
            AddTouch(scratch, &touch);
        }

    for (int i = 0; i < scratch->response->pairCount; ++i)
    {
        snwSkelfemTouch touch = {.body = -1, .pair = &scratch->response->pairs[i]};
        RecallTouch(sim, &touch);
        AddTouch(scratch, &touch);
    }

    SortTouches(sim);

    // Which props are touched how often, and whether bodies and props are one system.
    scratch->coupled = false;
    for (int p = 0; p < sim->def->propCount; ++p)
        scratch->props[p] = (snwSkelfemProp){0};
    for (int i = 0; i < scratch->response->pairCount; ++i)
    {
        const snwPairRow* row = &scratch->response->pairs[i];
        scratch->coupled = scratch->coupled || row->kind != snw_touchCollider;
        if (row->body < 0)
            scratch->props[row->vertex].touches++;
        if (row->kind == snw_touchProp)
            scratch->props[row->other].touches++;
    }
}

bool snwSkelfem_Couples(const snwSkelfemTouch* touch)
{
    return touch->pair != NULL && touch->pair->kind != snw_touchCollider;
}

// ---------------------------------------------------------------------------------------------------------------------
// Stiffness

static double PropStiffness(const snwSkelfemScratch* scratch, int prop)
{
    double mass = scratch->response->props[prop].mass.mass;
    return s_stiffer * mass / (scratch->h * scratch->h * fmax(1, scratch->props[prop].touches));
}

// Vertices that are held, or weigh nothing, are as stiff as their other side.
static double VertexStiffness(const snwSim* sim, int body, int vertex)
{
    const snwSkelfemBody* own = snwSkelfem_Body(sim, body);
    return own->held[vertex] ? INFINITY : s_stiffer * fmax(own->state.stiffness[vertex], own->added[vertex]);
}

// Touches are as stiff as the flesh of their softer side; props alone, and what is held, by the inertia of the lighter
// prop.
void snwSkelfem_StiffenTouches(snwSim* sim, double h)
{
    snwSkelfemScratch* scratch = sim->scratch;
    scratch->h = h;
    for (int i = 0; i < scratch->touchCount; ++i)
    {
        snwSkelfemTouch* touch = &scratch->touches[i];
        const snwPairRow* row = touch->pair;
        double flesh = INFINITY, props = INFINITY;
        if (row == NULL)
            flesh = VertexStiffness(sim, touch->body, touch->solid->vertex);
        else if (row->body >= 0)
            flesh = VertexStiffness(sim, row->body, row->vertex);
        else
            props = PropStiffness(scratch, row->vertex);

        // The other side, if it is softer.
        if (row != NULL && row->kind == snw_touchProp)
            props = fmin(props, PropStiffness(scratch, row->other));
        for (int k = 0; k < 3 && row != NULL && row->kind == snw_touchFlesh; ++k)
            if (row->weights[k] > 0)
                flesh = fmin(flesh, VertexStiffness(sim, row->other, row->triangle[k]));

        touch->stiffness = isfinite(flesh) ? flesh : isfinite(props) ? props : 0; // 0: nothing of it can move
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What the objective of a body has of them

double snwSkelfem_TouchEnergy(const snwSim* sim, int index)
{
    const snwSkelfemScratch* scratch = sim->scratch;
    double sum = 0;
    for (int i = 0; i < scratch->touchCount && index < 0; ++i)
        sum += ForceOf(sim, &scratch->touches[i]).energy;
    for (int i = index < 0 ? 0 : scratch->bodies[index].touchFirst; index >= 0 && i < scratch->bodies[index].touchEnd;
         ++i)
        sum += ForceOf(sim, &scratch->touches[scratch->order[i]]).energy;
    return sum;
}

snwVec3 snwSkelfem_TouchForce(const snwSim* sim, const snwSkelfemTouch* touch)
{
    TouchForce force = ForceOf(sim, touch);
    if (touch->closes)
        force.push = touch->push - touch->stiffness * (GapOf(sim, touch, force.normal) + AllowedOf(touch));
    return snwVec3_MulAdd(force.drag, force.push, force.normal);
}

void snwSkelfem_AddTouchGradient(const snwSim* sim, int index, snwVec3* gradient)
{
    const snwSkelfemScratch* scratch = sim->scratch;
    const snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    for (int i = body->touchFirst; i < body->touchEnd; ++i)
    {
        const snwSkelfemTouch* touch = &scratch->touches[scratch->order[i]];
        snwVec3 push = snwSkelfem_TouchForce(sim, touch);
        if (FirstBodyOf(touch) == index)
        {
            int v = touch->solid != NULL ? touch->solid->vertex : touch->pair->vertex;
            gradient[v] = snwVec3_Sub(gradient[v], push);
        }

        // The other side's triangle takes the opposite, by its weights.
        const snwPairRow* row = touch->pair;
        for (int k = 0; k < 3 && row != NULL && row->kind == snw_touchFlesh && row->other == index; ++k)
        {
            int v = row->triangle[k];
            gradient[v] = snwVec3_MulAdd(gradient[v], row->weights[k], push);
        }
    }
}

// k n n^T where it pushes or is to close. Across it what is left of k: more than the Hessian of Huber's function, which
// has nothing along the way that it slides; but with that a step would go on until it slides the other way.
static snwMat3 BlockOf(const snwSkelfemTouch* touch, const TouchForce* force)
{
    double along = force->push > 0 || touch->closes ? touch->stiffness : 0;
    double across = touch->grip > 0 ? touch->stiffness * force->slide : 0;
    snwMat3 block = snwMat3_Scale(snwMat3_Outer(force->normal, force->normal), along - across);
    return snwMat3_Add(block, snwMat3_Diagonal(across, across, across));
}

void snwSkelfem_MeetTouches(snwSim* sim)
{
    snwSkelfemScratch* scratch = sim->scratch;
    for (int i = 0; i < scratch->touchCount; ++i)
        scratch->touches[i].met = ForceOf(sim, &scratch->touches[i]).push > 0;
}

void snwSkelfem_LookAtTouches(snwSim* sim)
{
    snwSkelfemScratch* scratch = sim->scratch;
    for (int i = 0; i < scratch->touchCount; ++i)
    {
        snwSkelfemTouch* touch = &scratch->touches[i];
        const snwPairRow* row = touch->pair;
        TouchForce force = ForceOf(sim, touch);
        touch->closes = touch->met && force.push == 0;
        touch->met = false;
        touch->block = BlockOf(touch, &force);
        snwVec3 at = PointOfTouch(sim, touch, force.normal);
        if (row != NULL && row->body < 0)
            touch->arm[0] = snwVec3_Sub(at, scratch->response->props[row->vertex].transform.position);
        if (row != NULL && row->kind == snw_touchProp)
            touch->arm[1] = snwVec3_Sub(at, scratch->response->props[row->other].transform.position);
    }
}

static void AddWeightedBlock(double* diagonal, int row, snwMat3 block, double weight)
{
    double* d = diagonal + 9 * (size_t)row;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            d[3 * r + c] += weight * block.m[r][c];
}

void snwSkelfem_AddTouchBlocks(const snwSim* sim, int index, double* diagonal, const int* rowOf)
{
    const snwSkelfemScratch* scratch = sim->scratch;
    const snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    for (int i = body->touchFirst; i < body->touchEnd; ++i)
    {
        const snwSkelfemTouch* touch = &scratch->touches[scratch->order[i]];
        const snwPairRow* row = touch->pair;
        double twice = snwSkelfem_Couples(touch) ? 2 : 1;
        if (FirstBodyOf(touch) == index)
            AddWeightedBlock(
                diagonal, rowOf[touch->solid != NULL ? touch->solid->vertex : row->vertex], touch->block, twice);
        for (int k = 0; k < 3 && row != NULL && row->kind == snw_touchFlesh && row->other == index; ++k)
            AddWeightedBlock(diagonal, rowOf[row->triangle[k]], touch->block, twice * row->weights[k]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Learning

static bool IsOfProp(const snwSkelfemTouch* touch)
{
    return touch->pair != NULL && (touch->pair->body < 0 || touch->pair->kind == snw_touchProp);
}

double snwSkelfem_LearnTouches(snwSim* sim, int round)
{
    enum
    {
        touch_lookAgain = 3, // rounds between two looks at curved colliders
        touch_hasty = 5      // rounds that learn all: what slides may then go to and fro with what presses it
    };
    bool fresh = round % touch_lookAgain == touch_lookAgain - 1;
    snwSkelfemScratch* scratch = sim->scratch;
    double deepest = 0;

    for (int i = 0; i < scratch->touchCount; ++i)
    {
        snwSkelfemTouch* touch = &scratch->touches[i];
        if (fresh && touch->solid != NULL)
            snwResponse_LookAgain(scratch->response, touch->solid, PlacesOf(sim, touch->body)[touch->solid->vertex]);

        snwVec3 normal = NormalOf(scratch->response, touch);
        double gap = GapOf(sim, touch, normal), k = touch->stiffness;
        double push = fmax(0, touch->push - k * (gap + AllowedOf(touch)));
        double* depth = touch->solid != NULL ? &touch->solid->depth : &touch->pair->depth;
        bool* sliding = touch->solid != NULL ? &touch->solid->sliding : &touch->pair->sliding;

        *depth = fmax(*depth, -gap);
        if (k > 0)
            deepest = fmax(deepest, fmin(fabs(push - touch->push) / k, fabs(gap + AllowedOf(touch))));

        // Coulomb's law with the push as it is now.
        snwFriction friction = FrictionOfTouch(touch);
        snwVec3 wanted = k > 0 ? snwVec3_MulAdd(touch->drag, -k, SlipOf(sim, touch, normal)) : (snwVec3){0, 0, 0};
        double length = snwVec3_Length(wanted);
        *sliding = length > friction.fixed * push;
        snwVec3 drag = *sliding ? snwVec3_Scale(wanted, friction.kinetic * push / length) : wanted;
        touch->lack = *sliding ? snwVec3_Sub(drag, ForceOf(sim, touch).drag) : (snwVec3){0, 0, 0};

        // Half of the change from some round on, against going to and fro.
        double share = round >= touch_hasty ? 0.5 : 1;
        push = touch->push + share * (push - touch->push);
        touch->push = push;
        touch->drag = snwVec3_Lerp(touch->drag, drag, share);
        touch->grip = (*sliding ? friction.kinetic : friction.fixed) * push;
    }

    return deepest;
}

// ---------------------------------------------------------------------------------------------------------------------
// The end of a substep

// The response moves floats; flesh takes over by how much.
static void TakeSkelfemMoves(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    for (int v = 0; v < body->model->vertexCount; ++v)
    {
        snwVec3* x = &body->state.positions[v];
        snwVec3 shown = snwVec3_Rounded(snwVec3_Sub(*x, *sim->bodies[index].origin));
        *x = snwVec3_Add(*x, snwVec3_Sub(snwRow_Get(body->touchRows, v), shown));
    }
}

// 1/kg: what flesh shows along the normal on both sides; props stand still.
static double YieldOfTouch(const snwSim* sim, const snwSkelfemTouch* touch)
{
    const snwPairRow* row = touch->pair;
    double sum = 0;
    if (FirstBodyOf(touch) >= 0)
    {
        const snwSkelfemBody* body = snwSkelfem_Body(sim, FirstBodyOf(touch));
        int v = touch->solid != NULL ? touch->solid->vertex : row->vertex;
        sum += body->held[v] ? 0 : 1 / body->masses[v];
    }
    for (int k = 0; k < 3 && row != NULL && row->kind == snw_touchFlesh; ++k)
    {
        const snwSkelfemBody* body = snwSkelfem_Body(sim, row->other);
        sum += body->held[row->triangle[k]] ? 0 : row->weights[k] * row->weights[k] / body->masses[row->triangle[k]];
    }
    return sum;
}

static void PushVertex(const snwSim* sim, int index, int vertex, snwVec3 push)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    if (!body->held[vertex])
        body->state.positions[vertex] = snwVec3_MulAdd(body->state.positions[vertex], 1 / body->masses[vertex], push);
}

// What rounds of learning left of an overlap, moved out along the normal: nothing ever ends inside of a solid. It
// changes no velocity: a tenth of a millimetre in a six-hundredth of a second would be a kick of 6 cm/s.
static void MoveOutOfOverlap(snwSim* sim, const snwSkelfemTouch* touch)
{
    const snwResponse* response = ((const snwSkelfemScratch*)sim->scratch)->response;
    const snwPairRow* row = touch->pair;
    snwVec3 normal = NormalOf(response, touch);
    double gap = GapOf(sim, touch, normal) + AllowedOf(touch), yield = gap < 0 ? YieldOfTouch(sim, touch) : 0;
    if (!(yield > 0))
        return;
    snwVec3 push = snwVec3_Scale(normal, -gap / yield);
    if (FirstBodyOf(touch) >= 0)
        PushVertex(sim, FirstBodyOf(touch), touch->solid != NULL ? touch->solid->vertex : row->vertex, push);
    for (int k = 0; k < 3 && row != NULL && row->kind == snw_touchFlesh; ++k)
        PushVertex(sim, row->other, row->triangle[k], snwVec3_Scale(push, -row->weights[k]));
}

// What slides was held by the push of the round before. Its velocity gets the difference, where that is small: on a
// slope that it slides down with a hundredth of its weight, a tenth of a per cent counts. A large one is of a substep
// that is not done, and would fling light vertices away.
static void MendFriction(snwSim* sim, const snwSkelfemTouch* touch, double h)
{
    int index = FirstBodyOf(touch);
    if (index < 0 || IsOfProp(touch) || snwVec3_Length(touch->lack) > s_smallLack * touch->grip)
        return;
    const snwPairRow* row = touch->pair;
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    int v = touch->solid != NULL ? touch->solid->vertex : row->vertex;
    if (!body->held[v])
        body->state.velocities[v] = snwVec3_MulAdd(body->state.velocities[v], h / body->masses[v], touch->lack);
    for (int k = 0; k < 3 && row != NULL && row->kind == snw_touchFlesh; ++k)
    {
        body = snwSkelfem_Body(sim, row->other);
        v = row->triangle[k];
        if (!body->held[v])
            body->state.velocities[v] = snwVec3_MulAdd(
                body->state.velocities[v], -row->weights[k] * h / body->masses[v], touch->lack);
    }
}

// Pushes are told, loads kept, and what is left of overlaps is moved out.
void snwSkelfem_FinishTouches(snwSim* sim, double h)
{
    enum
    {
        touch_rounds = 4 // a vertex may touch two solids
    };
    snwSkelfemScratch* scratch = sim->scratch;
    snwResponse* response = scratch->response;
    if (snwSkelfem_TouchesNothing(sim))
        return;

    // Loads are told anew from what touches now.
    for (int b = 0; b < sim->bodyCount; ++b)
    {
        snwSkelfemState state = snwSkelfem_Body(sim, b)->state;
        memset(
            state.loads, 0, (size_t)sim->bodies[b].character->touchCount * snw_anchorsPerVertex * sizeof *state.loads);
        memset(state.pressed, 0, (size_t)sim->bodies[b].character->def.vertexCount * sizeof *state.pressed);
        ShowSkelfemBody(sim, b);
    }

    for (int i = 0; i < scratch->touchCount; ++i)
    {
        const snwSkelfemTouch* touch = &scratch->touches[i];
        MendFriction(sim, touch, h);

        double push = h * h * touch->push;
        snwVec3 drag = snwVec3_Scale(touch->drag, h * h), normal = NormalOf(response, touch);
        if (touch->solid != NULL)
            touch->solid->push = push, touch->solid->drag = drag;
        else
            touch->pair->push = push, touch->pair->drag = drag, touch->pair->normal = normal;

        // Points of props on flesh leave their push with the triangle; all others with their anchor.
        const snwPairRow* row = touch->pair;
        for (int k = 0; k < 3 && row != NULL && row->body < 0 && row->kind == snw_touchFlesh; ++k)
            snwSkelfem_Body(sim, row->other)->state.pressed[row->triangle[k]] += row->weights[k] * touch->push;

        int body = FirstBodyOf(touch), anchor = AnchorOfTouch(touch);
        snwVec3* load = body >= 0 && anchor >= 0 ? &snwSkelfem_Body(sim, body)->state.loads[anchor] : NULL;
        if (load != NULL && snwVec3_LengthSquared(*load) == 0)
            *load = snwVec3_MulAdd(touch->drag, touch->push, normal);
    }

    for (int round = 0; round < touch_rounds; ++round)
        for (int i = 0; i < scratch->touchCount; ++i)
            MoveOutOfOverlap(sim, &scratch->touches[i]);

    for (int b = 0; b < sim->bodyCount; ++b)
    {
        ShowSkelfemBody(sim, b);
        snwResponse_Catch(response, b);
        TakeSkelfemMoves(sim, b);
    }

    snwSim_FinishContacts(sim, response, snwSkelfem_Setting(sim, snw_skelfemDamping), h);
}
