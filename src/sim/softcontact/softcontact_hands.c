// What holds bodies from outside, as ties of the contact problem: hands on flesh (grip.h), hands on props, and pins.
//
// A hand's spring at the end of a substep is S (G - h v), G being what snwGrip_Gap says before it and S the grip's
// stiffness: with lambda = h times that, v + lambda / (h^2 S) = G / h, and no more than h times the grip's limit. A
// hand on one vertex, or on a prop, takes it its strength s of the way that is left after free motion:
// v + (1 - s) / s W lambda = way / h.
//
// Pins hold bones: whatever is pinned of what a link carries most is held by three of its vertices, and no skin wakes
// there.

#include "sim/grip.h"
#include "sim/softcontact/softcontact.h"

#include <math.h>

enum
{
    snw_softHands = 64 // and pinned vertices, that are felt at once
};

static const double s_pinGive = 1e-4;  // of W: pins that say the same thing many times share it
static const double s_handGive = 1e-4; // likewise, of a hand of full strength

// ---------------------------------------------------------------------------------------------------------------------
// What is held

static const snwSoftBody* BodyOf(const snwSim* sim, int index)
{
    return &((const snwSoftScratch*)sim->scratch)->bodies[index];
}

static int LinkCount(const snwSim* sim, int index)
{
    return ((const snwSoftModel*)sim->bodies[index].model)->linkCount;
}

// A vertex of the mesh as a link has it, m.
static snwVec3 PlaceOnLink(const snwSim* sim, int index, int vertex, int link)
{
    const snwBodyTree* tree = &BodyOf(sim, index)->tree;
    const snwCharacter* character = sim->bodies[index].character;
    snwVec3 rest = snwTransform_Apply(sim->starts[index].transform, character->def.vertices[vertex]);
    snwVec3 arm = snwMat3_MulVec(tree->axes[link], snwVec3_Sub(rest, tree->links[link].joint.position));
    return snwVec3_Add(tree->points[link], arm);
}

snwVec3 snwSoft_VertexPlace(const snwSim* sim, int index, int vertex)
{
    const snwSoftModel* model = sim->bodies[index].model;
    const snwSoftBody* body = BodyOf(sim, index);
    if (model->pointOfVertex[vertex] >= 0)
        return body->skins->x[model->pointOfVertex[vertex]];

    // Inside: where its links carry it, moved with the skin around it where it follows that.
    const snwPointAnchor* anchor = &model->anchors[vertex];
    snwVec3 x = {0, 0, 0};
    for (int k = 0; k < anchor->count; ++k)
        x = snwVec3_MulAdd(x, anchor->weights[k], PlaceOnLink(sim, index, vertex, anchor->links[k]));
    if (model->follows != NULL)
        x = snwVec3_Add(x, snwSoft_Followed(&model->follows[vertex], &body->tree, body->skins));
    return x;
}

// A new tie without parts, or NULL.
static snwSoftTie* AddTie(snwSim* sim, int body)
{
    snwSoftWorld* world = &((snwSoftScratch*)sim->scratch)->world;
    if (world->tieCount == world->def.tieCapacity)
    {
        snwSim_Warn(sim, snw_warnMethod, -1, "let go of some",
            "more than %d hands hold bodies: the others are not felt", snw_softHands);
        return NULL;
    }
    snwSoftTie* tie = &world->ties[world->tieCount++];
    *tie = (snwSoftTie){.body = body, .first = world->tiePartCount, .most = INFINITY};
    return tie;
}

static void AddHeldPart(snwSoftWorld* world, snwSoftTie* tie, snwSoftTouch touch, double share)
{
    world->tieParts[world->tiePartCount++] = (snwSoftTiePart){touch, share};
    ++tie->count;
}

// What is at x on a link; all of one link is one part, at its middle.
static void AddLinkPart(snwSoftWorld* world, snwSoftTie* tie, int link, snwVec3 x, double share)
{
    for (int p = tie->first; p < tie->first + tie->count; ++p)
    {
        snwSoftTiePart* part = &world->tieParts[p];
        if (part->touch.skin >= 0 || part->touch.link != link)
            continue;
        part->share += share;
        part->touch.at = snwVec3_MulAdd(part->touch.at, share / part->share, snwVec3_Sub(x, part->touch.at));
        return;
    }
    AddHeldPart(world, tie, (snwSoftTouch){.skin = -1, .link = link, .at = x}, share);
}

// A vertex as its links carry it; asleep: as it is.
static void AddCarried(const snwSim* sim, int index, int vertex, double share, snwSoftTie* tie)
{
    snwSoftWorld* world = &((snwSoftScratch*)sim->scratch)->world;
    const snwSoftModel* model = sim->bodies[index].model;
    const snwPointAnchor* anchor = &model->anchors[vertex];
    const snwPointSkin* skin = BodyOf(sim, index)->skins;
    int point = model->pointOfVertex[vertex];
    bool frozen = point >= 0 && !skin->awake[point] && anchor->count == 1;
    for (int k = 0; k < anchor->count; ++k)
    {
        snwVec3 x = frozen ? skin->x[point] : PlaceOnLink(sim, index, vertex, anchor->links[k]);
        AddLinkPart(world, tie, anchor->links[k], x, share * anchor->weights[k]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pins

static void HoldVertex(snwSim* sim, int index, int vertex, snwVec3 target, double h)
{
    snwSoftWorld* world = &((snwSoftScratch*)sim->scratch)->world;
    snwSoftTie* tie = AddTie(sim, index);
    if (tie == NULL)
        return;

    // As fast as takes it to its target in this substep.
    AddCarried(sim, index, vertex, 1, tie);
    snwVec3 x = {0, 0, 0};
    for (int p = tie->first; p < tie->first + tie->count; ++p)
        x = snwVec3_MulAdd(x, world->tieParts[p].share, world->tieParts[p].touch.at);
    tie->velocity = snwVec3_Scale(snwVec3_Sub(target, x), 1 / h);
    tie->give = s_pinGive;
}

// How far a vertex is from the one, or the line of the two, that are chosen already.
static double Apart(const snwVec3* rest, const int chosen[3], int count, int vertex)
{
    if (count == 0)
        return 1;
    snwVec3 d = snwVec3_Sub(rest[vertex], rest[chosen[0]]);
    if (count == 2)
    {
        snwVec3 line = snwVec3_Normalize(snwVec3_Sub(rest[chosen[1]], rest[chosen[0]]));
        d = snwVec3_MulAdd(d, -snwVec3_Dot(d, line), line);
    }
    return snwVec3_Length(d);
}

// The vertex of a list that is farthest from those chosen, of those that this link carries most; -1: none.
static int Farthest(
    const snwSim* sim, int index, int link, const int* vertices, int count, const int chosen[3], int known)
{
    const snwSoftModel* model = sim->bodies[index].model;
    const snwCharacter* character = sim->bodies[index].character;
    double most = 1e-3 * character->meanEdge;
    int best = -1;
    for (int i = 0; i < count; ++i)
    {
        double apart = model->anchors[vertices[i]].links[0] == link
                           ? Apart(character->def.vertices, chosen, known, vertices[i])
                           : 0;
        if (apart > most)
            most = apart, best = i;
    }
    return best;
}

static bool Holds(const snwSim* sim, int set, int link)
{
    const snwSoftModel* model = sim->bodies[sim->pinSets[set].body].model;
    for (int i = 0; i < sim->pinSets[set].count; ++i)
        if (model->anchors[sim->pinSets[set].vertices[i]].links[0] == link)
            return true;
    return false;
}

// Two pins on one bone of which a clip moves one would tear it.
snwResult snwSoft_CheckPins(const snwSim* sim, snwMessage* message)
{
    for (int a = 0; a < sim->def->pinCount; ++a)
        for (int b = 0; b < sim->def->pinCount; ++b)
        {
            int body = sim->pinSets[a].body;
            bool part = a != b && body == sim->pinSets[b].body && sim->pinClips[a] != NULL &&
                        sim->pinClips[a] != sim->pinClips[b];
            for (int link = 0; part && link < LinkCount(sim, body); ++link)
                if (Holds(sim, a, link) && Holds(sim, b, link))
                    return snwFail(message, snw_errorUnsupported, "give it bones and joints, or choose another method",
                        "pins '%s' and '%s' would part what is one rigid piece of body '%s' in method softcontact",
                        sim->def->pins[a].name, sim->def->pins[b].name, sim->def->bodies[body].name);
        }
    return snw_ok;
}

static void HoldPins(snwSim* sim, double h)
{
    for (int s = 0; s < sim->def->pinCount; ++s)
    {
        const snwPinSet* set = &sim->pinSets[s];
        const snwSoftModel* model = sim->bodies[set->body].model;
        for (int link = 0; link < model->linkCount && sim->pins[s].held; ++link)
        {
            // Three vertices far apart hold a rigid link as all of them would.
            int chosen[3];
            for (int known = 0; known < 3; ++known)
            {
                int i = Farthest(sim, set->body, link, set->vertices, set->count, chosen, known);
                if (i < 0)
                    break;
                chosen[known] = set->vertices[i];
                HoldVertex(sim, set->body, chosen[known], snwPinSet_Target(set, &sim->pins[s], i), h);
            }
        }
    }

    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin)
            HoldVertex(sim, sim->grabs[i].body, sim->grabs[i].vertex, sim->grabs[i].vector, h);
}

// ---------------------------------------------------------------------------------------------------------------------
// Hands

static void DragProp(snwSim* sim, const snwGrab* grab, double h)
{
    snwSoftScratch* scratch = sim->scratch;
    int index = sim->bodyCount + grab->vertex;
    snwSoftTie* tie = AddTie(sim, index);
    if (tie == NULL || !(grab->value > 0))
        return;
    snwVec3 x = scratch->bodies[index].poses[0].shift;
    AddLinkPart(&scratch->world, tie, 0, x, 1);
    tie->velocity = snwVec3_Scale(snwVec3_Sub(snwSim_DragPlace(sim, grab, 1), x), 1 / h);
    tie->give = fmax((1 - grab->value) / grab->value, s_handGive);
}

// Points that all hands together hold one by one; what is beyond goes with its links.
static int PointRoom(const snwSim* sim)
{
    int points = 0;
    for (int i = 0; i < sim->bodyCount; ++i)
        points += ((const snwSoftModel*)sim->bodies[i].model)->pointCount;
    return points;
}

static void DragFlesh(snwSim* sim, int slot, double h)
{
    snwSoftScratch* scratch = sim->scratch;
    snwSoftWorld* world = &scratch->world;
    int index = sim->grabs[slot].body;
    snwGrip* grip = snwSim_GetGrip(sim, slot, index);

    if (grip == NULL)
        return;

    // By mass, so that what the hand holds moves as one.
    for (int i = 0; i < grip->count; ++i)
        grip->parts[i].share = (double)grip->parts[i].bump *
                               sim->bodies[index].character->masses[grip->parts[i].vertex];
    snwSoftTie* tie = snwGrip_Weigh(sim, slot, h) ? AddTie(sim, index) : NULL;
    if (tie == NULL)
        return;

    // Points of the skin one by one, what is inside by links.
    const snwSoftModel* model = sim->bodies[index].model;
    snwVec3 middle = {0, 0, 0};
    for (int i = 0; i < grip->count; ++i)
    {
        int vertex = grip->parts[i].vertex, point = model->pointOfVertex[vertex];
        middle = snwVec3_MulAdd(middle, grip->parts[i].share, snwSoft_VertexPlace(sim, index, vertex));
        if (point >= 0 && scratch->handPoints++ < PointRoom(sim))
            AddHeldPart(world, tie, (snwSoftTouch){.skin = 0, .point = point}, grip->parts[i].share);
        else
            AddCarried(sim, index, vertex, grip->parts[i].share, tie);
    }

    // A spring, or on a single vertex its strength: see above.
    snwGrip_Begin(sim, slot, middle, snwSoft_VertexPlace(sim, index, grip->vertex));
    snwVec3 gap = snwGrip_Gap(sim, slot, middle);
    double strength = sim->grabs[slot].value;
    tie->velocity = snwVec3_Scale(gap, 1 / h);
    tie->most = h * grip->most;
    if (grip->radius > 0.0f)
        tie->yield = 1 / (h * h * grip->stiffness);
    else
        tie->give = fmax((1 - strength) / strength, s_handGive);
}

static int HandRoom(const snwSim* sim)
{
    return sim->grabCount < snw_softHands ? sim->grabCount : snw_softHands;
}

int snwSoft_TieRoom(const snwSim* sim)
{
    int room = HandRoom(sim);
    for (int s = 0; s < sim->def->pinCount; ++s)
    {
        int most = 3 * LinkCount(sim, sim->pinSets[s].body);
        room += most < sim->pinSets[s].count ? most : sim->pinSets[s].count;
    }
    return room;
}

// A pin has the links of its vertex, a hand at most all of its body's, and points while there is room.
int snwSoft_TiePartRoom(const snwSim* sim)
{
    int links = snw_maxAnchorLinks;
    for (int i = 0; i < sim->bodyCount; ++i)
        links = LinkCount(sim, i) > links ? LinkCount(sim, i) : links;
    return snw_maxAnchorLinks * snwSoft_TieRoom(sim) + links * HandRoom(sim) + PointRoom(sim);
}

void snwSoft_TakeHold(snwSim* sim, double h)
{
    snwSoftWorld* world = &((snwSoftScratch*)sim->scratch)->world;
    world->tieCount = world->tiePartCount = ((snwSoftScratch*)sim->scratch)->handPoints = 0;
    HoldPins(sim, h);
    for (int slot = 0; slot < sim->grabCount; ++slot)
        if (sim->grabs[slot].kind == snw_grabDrag && sim->grabs[slot].body < 0)
            DragProp(sim, &sim->grabs[slot], h);
        else if (sim->grabs[slot].kind == snw_grabDrag)
            DragFlesh(sim, slot, h);
}
