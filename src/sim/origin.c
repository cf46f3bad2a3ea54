// The origin of each body: when it follows, how positions are told to others who count from elsewhere, and gravity
// that adds up to g t although velocities are floats.

#include "sim/origin.h"
#include "math/rows.h"

#include <math.h>
#include <string.h>

static const double s_leastCell = 2.0; // sizes of the body

// m, a power of two.
static double CellOfCharacter(const snwCharacter* character)
{
    int exponent;
    frexp(s_leastCell * snwVec3_Distance(character->lower, character->upper), &exponent);
    return ldexp(1.0, exponent);
}

static double StepOf(double way, double cell)
{
    return fabs(way) > cell && isfinite(way) ? cell * round(way / cell) : 0.0;
}

snwVec3 snwBody_Follow(snwBody* body, snwVec3 place)
{
    double cell = CellOfCharacter(body->character);
    snwVec3 way = snwVec3_Sub(place, *body->origin);
    snwVec3 step = {StepOf(way.x, cell), StepOf(way.y, cell), StepOf(way.z, cell)};
    *body->origin = snwVec3_Add(*body->origin, step);
    return step;
}

void snwBody_FollowRows(snwBody* body, float* const* arrays, int count)
{
    snwVec3 step = snwBody_Follow(body, snwRow_Place(arrays[0], 0, *body->origin));
    if (step.x == 0.0 && step.y == 0.0 && step.z == 0.0)
        return;
    for (int a = 0; a < count; ++a)
        for (int i = 0; arrays[a] != NULL && i < body->character->def.vertexCount; ++i)
            snwRow_SetPlace(arrays[a], i, step, snwRow_Get(arrays[a], i));
}

static double GravityAlong(double g, double velocity, double begin, double end)
{
    const double least = 0x1p-12; // of what is added: less is not worth while
    double whole = g * (end - begin);
    int exponent;
    frexp(fmax(fabs(velocity), fabs(whole)), &exponent);
    double spacing = ldexp(1.0, exponent - 24); // of floats there
    if (!(spacing > least * fabs(whole)) || !isfinite(velocity))
        return g;
    return spacing * (round(g * end / spacing) - round(g * begin / spacing)) / (end - begin);
}

snwVec3 snwSim_Gravity(const snwSim* sim, const float* velocities)
{
    snwVec3 g = sim->state->gravity, v = snwRow_Get(velocities, 0);
    double start = snwSim_SceneTime(sim), begin = start + sim->part[0] * sim->dt, end = start + sim->part[1] * sim->dt;
    return (snwVec3){
        GravityAlong(g.x, v.x, begin, end), GravityAlong(g.y, v.y, begin, end), GravityAlong(g.z, v.z, begin, end)};
}

// ---------------------------------------------------------------------------------------------------------------------
// What others see

static bool AreSamePlaces(snwVec3 a, snwVec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

void snwSim_SeeVertices(const snwSim* sim, int index, int which, snwVec3 from, snwVertices* vertices)
{
    snwBody* body = &sim->bodies[index];
    if (which == 1 && sim->method->getShown != NULL)
        sim->method->getShown(sim, index, vertices);
    else
        sim->method->getVertices(sim, index, vertices);

    // Methods keep vertices relative to their body's origin: from there nothing is to be added.
    if (AreSamePlaces(*body->origin, from))
        return;

    // Kept until something changes: several ask for the same places in a step.
    float* rows = body->placeRows[which];
    if (body->placeChanges[which] != sim->changes || !AreSamePlaces(body->placesFrom[which], from))
    {
        snwVec3 way = snwVec3_Sub(*body->origin, from);
        for (int i = 0; i < vertices->count; ++i)
        {
            const float* x = (const float*)((const char*)vertices->positions + (size_t)i * (size_t)vertices->stride);
            snwRow_Set(rows, i, snwVec3_Add(way, (snwVec3){(double)x[0], (double)x[1], (double)x[2]}));
        }

        body->placeChanges[which] = sim->changes;
        body->placesFrom[which] = from;
    }

    vertices->positions = rows;
}
