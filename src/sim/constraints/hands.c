// Hands and pins on rows of float4. A hand is the spring of sim/grip.h, solved with the other constraints in each
// sweep.

#include "sim/constraints/hands.h"
#include "math/rows.h"

#include <math.h>

void snwHands_MovePinned(const snwSim* sim, int body, float* positions)
{
    snwVec3 origin = *sim->bodies[body].origin;
    for (int p = 0; p < sim->def->pinCount; ++p)
    {
        const snwPinSet* set = &sim->pinSets[p];
        for (int i = 0; i < set->count && sim->pins[p].held && set->body == body; ++i)
            snwRow_SetPlace(positions, set->vertices[i], origin, snwPinSet_Target(set, &sim->pins[p], i));
    }
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == body)
            snwRow_SetPlace(positions, sim->grabs[i].vertex, origin, sim->grabs[i].vector);
}

// The middle of what is held, in the world.
static snwVec3 MiddleOfHeld(const snwGrip* grip, const float* rows, snwVec3 origin)
{
    snwVec3 sum = origin;
    for (int i = 0; i < grip->count; ++i)
        sum = snwVec3_MulAdd(sum, grip->parts[i].share, snwRow_Get(rows, grip->parts[i].vertex));
    return sum;
}

// Sweeps end early, so flesh is softer than its E says: the limit of a hand is what they can spread, and fades where an
// edge is drawn out.
static void LimitPull(const snwSim* sim, snwGrip* grip, const snwHands* hands)
{
    const snwCharacter* character = sim->bodies[grip->body].character;
    double longest = 0.0;
    if (!(grip->radius > 0.0f && isfinite(grip->most)))
        return;
    for (int i = 0; i < character->edgeCount; ++i)
        longest = fmax(longest, snwCharacter_EdgeTimes(character, i, hands->before));
    grip->most = fmin(grip->most, grip->spread) * snwGrip_Fade(longest);
}

void snwHands_Begin(snwSim* sim, int body, const snwHands* hands)
{
    snwVec3 origin = *sim->bodies[body].origin;
    for (int slot = 0; slot < sim->grabCount; ++slot)
    {
        snwGrip* grip = snwSim_GetGrip(sim, slot, body);
        for (int i = 0; grip != NULL && i < grip->count; ++i)
        {
            snwGripPart* part = &grip->parts[i];
            size_t at = 4 * (size_t)part->vertex + 3;
            part->share = hands->positions[at] > 0.0f ? (double)part->bump / (double)hands->velocities[at] : 0.0;
        }
        if (grip == NULL || !snwGrip_Weigh(sim, slot, hands->h))
            continue;
        LimitPull(sim, grip, hands);
        snwGrip_Begin(
            sim, slot, MiddleOfHeld(grip, hands->before, origin), snwRow_Place(hands->before, grip->vertex, origin));
    }
}

// The spring of grip.h as an XPBD constraint on c: with w = sum a_i^2 / m_i and the compliance 1 / (k h^2) the change
// of its force is (k g - F) / (1 + k w h^2), and vertex i moves by a_i / m_i h^2 times that. A hand on one vertex goes
// the same part of its way in each visit, so that after all of them it has gone s of it.
bool snwHands_Drag(snwSim* sim, int body, const snwHands* hands, int iterations)
{
    double square = hands->h * hands->h;
    bool any = false;
    for (int slot = 0; slot < sim->grabCount; ++slot)
    {
        snwGrip* grip = snwSim_GetGrip(sim, slot, body);
        double w = 0.0;
        if (grip == NULL)
            continue;

        // w = sum a_i^2 / m_i.
        for (int i = 0; i < grip->count; ++i)
        {
            double share = grip->parts[i].share;
            w += share * share * (double)hands->positions[4 * (size_t)grip->parts[i].vertex + 3];
        }

        // Nothing of it can move.
        if (!(w > 0.0))
            continue;
        any = true;

        snwVec3 change = snwGrip_Gap(sim, slot, MiddleOfHeld(grip, hands->positions, *sim->bodies[body].origin));
        if (grip->radius > 0.0f)
            change = snwVec3_Scale(snwVec3_Sub(snwVec3_Scale(change, grip->stiffness), grip->pull),
                1.0 / (1.0 + grip->stiffness * w * square));
        else
            change = snwVec3_Scale(change, (1.0 - pow(1.0 - sim->grabs[slot].value, 1.0 / iterations)) / (w * square));

        // Within the hand's limit, and as a move.
        change = snwVec3_Scale(snwGrip_Pull(grip, change), square);

        for (int i = 0; i < grip->count; ++i)
        {
            const snwGripPart* part = &grip->parts[i];
            double move = part->share * (double)hands->positions[4 * (size_t)part->vertex + 3];
            snwRow_Set(hands->positions, part->vertex,
                snwVec3_MulAdd(snwRow_Get(hands->positions, part->vertex), move, change));
        }
    }

    return any;
}
