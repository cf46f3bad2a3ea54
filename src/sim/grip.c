// Hands on flesh: which vertices one holds, how stiff its spring is and how hard it may pull at most. The law is in
// grip.h.

#include "sim/grip.h"

#include <math.h>
#include <string.h>

enum
{
    snw_gripsPerVertex = 4, // parts that all hands together may have, per vertex of all bodies
};

#define SNW_MOST_STRENGTH 0.999
#define SNW_BEARABLE      0.3          // of E V^(2/3)
#define SNW_FLAT          0.733        // of a disc's section: what its rim bears is what the border of a ball does
#define SNW_THROW         (1.0 / 60.0) // s: what is held is sped up by its own length per this squared, at most
#define SNW_LIFT          3.0          // weights of the body
#define SNW_LONG          2.0          // times its length: flesh that is drawn out beyond that is pulled less ...
#define SNW_TORN          3.0          // ... and no more here

// ---------------------------------------------------------------------------------------------------------------------
// What is held

void snwSim_CreateGrips(snwSim* sim)
{
    size_t vertices = 0, materials = 1, slots = (size_t)sim->grabCount;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        size_t own = (size_t)sim->bodies[i].character->def.materialCount;
        vertices += (size_t)sim->bodies[i].character->def.vertexCount;
        materials = own > materials ? own : materials;
    }
    bool drags = (sim->method->features & snw_featureDrag) != 0;
    sim->gripRoom = drags ? snw_gripsPerVertex * vertices : 0;
    sim->grips = snwArena_Alloc(&sim->arena, slots, sizeof *sim->grips);
    sim->gripParts = snwArena_Alloc(&sim->arena, sim->gripRoom + slots, sizeof *sim->gripParts);
    double* volumes = snwArena_Alloc(&sim->arena, slots * materials, sizeof *volumes);
    for (int i = 0; i < sim->grabCount && !sim->arena.failed; ++i)
        sim->grips[i] = (snwGrip){.body = -1, .volumes = volumes + (size_t)i * materials};
}

static bool IsHand(const snwGrab* grab)
{
    return grab->kind == snw_grabDrag && grab->body >= 0;
}

static float Bump(const snwCharacter* character, const snwGrip* grip, int vertex)
{
    if (vertex == grip->vertex)
        return 1.0f;
    if (!(grip->radius > 0.0f))
        return 0.0f;
    double d = snwVec3_Distance(character->def.vertices[vertex], character->def.vertices[grip->vertex]) /
               (double)grip->radius;
    return d < 1.0 ? (float)((1.0 - d * d) * (1.0 - d * d)) : 0.0f;
}

// An element counts as far as its corners are held; with the vertex alone, those around it count as a whole.
static void FindGripVolumes(const snwCharacter* character, snwGrip* grip)
{
    snwElements elements = character->elements;
    memset(grip->volumes, 0, (size_t)character->def.materialCount * sizeof *grip->volumes);
    for (int i = 0; i < elements.count; ++i)
    {
        int held = 0;
        for (int k = 0; k < elements.arity; ++k)
            held += Bump(character, grip, snwElements_Corners(elements, i)[k]) > 0.0f;
        double share = grip->radius > 0.0f ? (double)held / elements.arity : held > 0 ? 1.0 : 0.0;
        grip->volumes[character->def.regions[i]] += share * character->restVolumes[i];
    }
}

// Returns how many parts it takes. Where there is no room for them, the hand holds its vertex alone.
static size_t FindGrip(const snwCharacter* character, snwGrip* grip, size_t room)
{
    grip->count = 0;
    for (int i = 0; i < character->def.vertexCount; ++i)
    {
        float bump = Bump(character, grip, i);
        if (!(bump > 0.0f))
            continue;
        if ((size_t)grip->count == room)
        {
            grip->radius = 0.0f;
            grip->parts[0] = (snwGripPart){.vertex = grip->vertex, .bump = 1.0f};
            grip->count = 1;
            break;
        }

        grip->parts[grip->count++] = (snwGripPart){.vertex = i, .bump = bump};
    }

    FindGripVolumes(character, grip);
    return (size_t)grip->count;
}

// All of them in the order of their slots, so that it does not matter which was there first.
void snwSim_FindGrips(snwSim* sim)
{
    // Hands as they were keep their grips.
    bool same = true;
    for (int i = 0; i < sim->grabCount && same; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        const snwGrip* grip = &sim->grips[i];
        same = IsHand(grab) ? grip->body == grab->body && grip->vertex == grab->vertex && grip->asked == grab->radius
                            : grip->body == -1;
    }

    if (same)
        return;

    sim->gripsMade++;
    size_t used = 0;
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        snwGrip* grip = &sim->grips[i];
        grip->body = -1;
        if (!IsHand(grab))
            continue;
        grip->body = grab->body;
        grip->vertex = grab->vertex;
        grip->asked = grip->radius = grab->radius;
        grip->made = sim->gripsMade;
        grip->parts = sim->gripParts + used;

        // One part is kept for each slot to come.
        used += FindGrip(sim->bodies[grab->body].character, grip, sim->gripRoom + (size_t)i + 1 - used);
    }
}

snwGrip* snwSim_GetGrip(const snwSim* sim, int slot, int body)
{
    snwGrip* grip = &sim->grips[slot];
    return grip->body == body && sim->grabs[slot].value > 0.0 ? grip : NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// How hard

// How much of the flesh that is held nothing else holds, as a part of 1.
static double FreePart(const snwCharacter* character, const snwGrip* grip)
{
    double all = 0.0, free = 0.0;
    for (int i = 0; i < grip->count; ++i)
    {
        double mass = character->masses[grip->parts[i].vertex];
        all += mass;
        free += grip->parts[i].share > 0.0 ? mass : 0.0;
    }
    return free / all;
}

double snwCharacter_BearableForce(const snwCharacter* character, double young, double volume)
{
    bool flat = character->elements.arity == 3;
    double section = flat ? SNW_FLAT * sqrt(volume * character->def.thickness) : cbrt(volume * volume);
    return SNW_BEARABLE * young * section;
}

double snwCharacter_EdgeTimes(const snwCharacter* character, int edge, const float* rows)
{
    const int* e = character->edges[edge];
    const float *a = rows + 4 * (size_t)e[0], *b = rows + 4 * (size_t)e[1];
    double x = (double)b[0] - (double)a[0], y = (double)b[1] - (double)a[1], z = (double)b[2] - (double)a[2];
    double rest = snwVec3_Distance(character->def.vertices[e[0]], character->def.vertices[e[1]]);
    return sqrt(x * x + y * y + z * z) / rest;
}

double snwGrip_Fade(double times)
{
    return fmin(1.0, fmax(0.0, (SNW_TORN - times) / (SNW_TORN - SNW_LONG)));
}

// Spring and limit of the flesh as its materials are now. A body of edges alone has none, and full strength on one
// vertex holds it there as a pin does: such hands are as strong as it takes.
static void SetStrength(const snwSim* sim, int slot, double h)
{
    snwGrip* grip = &sim->grips[slot];
    double asked = sim->grabs[slot].value, strength = fmin(asked, SNW_MOST_STRENGTH);
    const snwBody* body = &sim->bodies[grip->body];
    const snwCharacterDef* def = &body->character->def;
    double volume = 0.0, mass = 0.0, young = 0.0, whole = 0.0, free = FreePart(body->character, grip);

    // What is held: its volume, its mass, and its mean modulus by mass.
    for (int i = 0; i < def->materialCount; ++i)
    {
        double own = free * grip->volumes[i], kg = own * body->materials[i].density;
        volume += own;
        mass += kg;
        young += kg * body->materials[i].young;
    }

    young = mass > 0.0 ? young / mass : 0.0;
    whole = mass > 0.0 ? mass / volume * body->character->volume : 0.0;

    // See grip.h for spring, damper and limit.
    bool flat = body->character->elements.arity == 3;
    double length = flat ? def->thickness : (double)grip->radius;
    double spring = 2.0 * young * length * strength / (1.0 - strength), damper = 2.0 * sqrt(spring * whole) / h;

    grip->stiffness = spring + damper;
    grip->before = grip->stiffness > 0.0 ? damper / grip->stiffness : 0.0;

    double thrown = mass * cbrt(volume) / (SNW_THROW * SNW_THROW);
    double lifted = SNW_LIFT * whole * snwVec3_Length(sim->state->gravity);
    grip->spread = mass * cbrt(volume) / (h * h);
    grip->most = INFINITY;
    if (body->character->elements.count > 0 && (grip->radius > 0.0f || asked < 1.0))
        grip->most = fmin(snwCharacter_BearableForce(body->character, young, volume), fmax(thrown, lifted));
}

bool snwGrip_Weigh(const snwSim* sim, int slot, double h)
{
    snwGrip* grip = &sim->grips[slot];
    double sum = 0.0;
    for (int i = 0; i < grip->count; ++i)
        sum += grip->parts[i].share;
    for (int i = 0; i < grip->count; ++i)
        grip->parts[i].share = sum > 0.0 ? grip->parts[i].share / sum : 0.0;
    grip->pull = (snwVec3){0, 0, 0};
    SetStrength(sim, slot, h);
    return sum > 0.0;
}

// Flat characters stay in their plane, wherever the hand is.
static snwVec3 WayToHand(const snwSim* sim, int slot, snwVec3 middle, int end)
{
    const snwGrab* grab = &sim->grabs[slot];
    snwVec3 way = snwVec3_Sub(snwSim_DragPlace(sim, grab, end), snwVec3_Add(middle, grab->vector));
    if (sim->bodies[grab->body].character->elements.arity == 3)
        way.z = 0.0;
    return way;
}

void snwGrip_Begin(snwSim* sim, int slot, snwVec3 middle, snwVec3 vertex)
{
    snwGrab* grab = &sim->grabs[slot];
    if (grab->fresh)
        grab->vector = snwVec3_Sub(vertex, middle);
    grab->fresh = 0;
    sim->grips[slot].gap = WayToHand(sim, slot, middle, 0);
}

snwVec3 snwGrip_Gap(const snwSim* sim, int slot, snwVec3 middle)
{
    const snwGrip* grip = &sim->grips[slot];
    snwVec3 way = WayToHand(sim, slot, middle, 1);
    return grip->radius > 0.0f ? snwVec3_MulAdd(way, -grip->before, grip->gap) : way;
}

snwVec3 snwGrip_Pull(snwGrip* grip, snwVec3 change)
{
    snwVec3 before = grip->pull, pull = snwVec3_Add(before, change);
    double length = snwVec3_Length(pull);
    grip->pull = length > grip->most ? snwVec3_Scale(pull, grip->most / length) : pull;
    return snwVec3_Sub(grip->pull, before);
}
