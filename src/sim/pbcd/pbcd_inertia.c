// How stiffly each vertex is tied to its place, and how fast its motion against the artist's dies.
//
// A material may say what is to be seen: f swings per second, gone (a twentieth left) after T seconds. Between the
// equations and what is seen stands the integrator, which slows and damps oscillations by itself; at 2 Hz and 60 steps
// per second implicit Euler alone ends a swing in 2.3 s. So the two numbers of a vertex, D = m'/m = 1 + (e w)^2 and k,
// the part of v - v_r that a substep keeps, are found from the substep's own map of (u, v) for u = x - x_r: its
// eigenvalues shall be r e^(+-i t) with t = 2 pi f h and r = 20^(-h/T).
//     euler       det k/D,  trace (1 + k)/D                 ->  D = 1 / (2 r cos t - r^2),         k = r^2 D
//     trapezoid   det k,    trace (1 + k)(2/D - 1)          ->  D = 2 / (1 + z), z = 2 r cos t / (1 + r^2),  k = r^2
//     bdf2        taken as exact: w^2 = (2 pi f)^2 + (ln 20 / T)^2,  k = 1 / (1 + e c) for damping c = 2 ln 20 / T,
//                 because its v^n+1 is 3/2 of what one step adds, and so is what k takes
// Euler cannot swing for longer than it does undamped: r is at most cos t. Nothing can be seen that is faster than a
// fifth of the rate of the substeps. Without a frequency w is that of `pbcd.anchor`, the natural one of the equations.
//
// Elements tell: around a vertex (2 pi f)^2 and ln 20 / T are the means by mass, which is the energy of springs that
// are spread over the flesh.

#include "sim/pbcd/pbcd.h"

#include <math.h>
#include <string.h>

static const double s_mostTurn = 1.3;                // rad per substep
static const double s_logTwenty = 2.995732273553991; // ln 20

typedef snwPbcdWish Wish;

typedef struct Numbers
{
    double anchor; // D - 1
    double loss;   // 1 - k
} Numbers;

// The part of v - v_r that damping at this rate (1/s) takes.
static double Lose(double rate, const snwPbcdTime* time, snwPbcdIntegrator integrator)
{
    bool bdf2 = integrator == snw_pbcdBdf2 && time->e != time->h;
    return bdf2 ? time->e * rate / (1.0 + time->e * rate) : -expm1(-rate * time->h);
}

static Numbers TuneEuler(const Wish* wish, double h)
{
    double t = fmin(sqrt(wish->square) * h, s_mostTurn), k = exp(-2.0 * wish->rate * h);
    if (!wish->settled) // damping is a law of its own: only the frequency is to be seen
        return (Numbers){(1.0 + k) * (1.0 + k) / (4.0 * k * cos(t) * cos(t)) - 1.0, 1.0 - k};
    double r = fmin(exp(-wish->rate * h), cos(t)), D = 1.0 / (2.0 * r * cos(t) - r * r);
    return (Numbers){D - 1.0, fmax(1.0 - r * r * D, 0.0)};
}

static Numbers TuneTrapezoid(const Wish* wish, double h)
{
    double t = fmin(sqrt(wish->square) * h, s_mostTurn), r = exp(-wish->rate * h), z = 2.0 * r * cos(t) / (1.0 + r * r);
    return (Numbers){2.0 / (1.0 + z) - 1.0, 1.0 - r * r};
}

// With the natural frequency of the equations; more than critical damping would only slow it down.
static Numbers TuneNatural(const Wish* wish, const snwPbcdTime* time, snwPbcdIntegrator integrator)
{
    double anchor = time->e * time->e * wish->square;
    if (!wish->settled)
        return (Numbers){anchor, Lose(2.0 * wish->rate, time, integrator)};
    double rate = wish->square > 0.0 ? fmin(wish->rate, sqrt(wish->square)) : wish->rate;
    double loss = Lose(2.0 * rate, time, integrator);
    return (Numbers){anchor, integrator == snw_pbcdEuler ? fmax(1.0 - (1.0 - loss) * (1.0 + anchor), 0.0) : loss};
}

static Numbers Tune(const Wish* wish, const snwPbcdTime* time, snwPbcdIntegrator integrator)
{
    if (!wish->stated)
        return TuneNatural(wish, time, integrator);
    if (integrator == snw_pbcdTrapezoid)
        return TuneTrapezoid(wish, time->h);
    if (integrator == snw_pbcdEuler)
        return TuneEuler(wish, time->h);
    double square = wish->square + wish->rate * wish->rate;
    return (Numbers){time->e * time->e * square, Lose(2.0 * wish->rate, time, integrator)};
}

// What one material says.
static Wish WishOf(const snwMaterial* material, double anchor, double damping)
{
    double f = 2.0 * SNW_PI * (material->frequency > 0.0 ? material->frequency : anchor);
    double rate = material->settling > 0.0 ? s_logTwenty / material->settling : 0.5 * (damping + material->damping);
    return (Wish){
        .square = f * f, .rate = rate, .stated = material->frequency > 0.0, .settled = material->settling > 0.0};
}

static bool AreAlike(const snwMaterial* materials, int count)
{
    bool alike = true;
    for (int i = 1; i < count; ++i)
        alike = alike && materials[i].frequency == materials[0].frequency &&
                materials[i].settling == materials[0].settling && materials[i].damping == materials[0].damping;
    return alike;
}

// Sums over the elements around each vertex.
static void SumWishes(const snwPbcdWork* work, const snwMaterial* materials, double anchor, double damping)
{
    const snwCharacter* character = work->model->character;
    snwElements elements = character->elements;
    memset(work->wishes, 0, (size_t)work->model->vertexCount * sizeof *work->wishes);

    for (int i = 0; i < elements.count; ++i)
    {
        const snwMaterial* material = &materials[character->def.regions[i]];
        Wish wish = WishOf(material, anchor, damping);
        double mass = material->density * character->restVolumes[i];

        // By mass: the energy of springs that are spread over the flesh.
        for (int k = 0; k < elements.arity; ++k)
        {
            Wish* sum = &work->wishes[snwElements_Corners(elements, i)[k]];
            sum->square += mass * wish.square;
            sum->rate += mass * wish.rate;
            sum->mass += mass;
            sum->stated = sum->stated || wish.stated;
            sum->settled = sum->settled || wish.settled;
        }
    }
}

static void SetInertiaRow(snwPbcdWork* work, int i, Numbers numbers, bool anchored)
{
    double anchor = anchored ? numbers.anchor : 0.0;
    work->shares[i] = (float)(anchor / (1.0 + anchor));
    work->stiffer[i] = (float)(1.0 / (1.0 + anchor));
    work->losses[i] = (float)numbers.loss;
}

// Are the arrays those of these numbers?
static bool AreInertiasKnown(snwPbcdWork* work, const snwMaterial* materials, const double now[4])
{
    size_t bytes = (size_t)work->model->character->def.materialCount * sizeof *materials;
    bool same = memcmp(materials, work->tunedMaterials, bytes) == 0;
    for (int i = 0; i < 4; ++i)
        same = same && now[i] == work->tuned[i];
    memcpy(work->tunedMaterials, materials, bytes);
    memcpy(work->tuned, now, sizeof work->tuned);
    return same;
}

void snwPbcd_SetInertia(snwSim* sim, int body, const snwPbcdTime* time)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdModel* model = work->model;
    const snwMaterial* materials = sim->bodies[body].materials;
    bool tied = model->driven && model->bonds == NULL;

    // The method's own anchor is no part of complementary dynamics; what a material states is asked for.
    double anchor = tied && model->complement == NULL ? snwSim_Param(sim, snw_pbcdAnchor_) : 0.0;
    double damping = snwSim_Param(sim, snw_pbcdDamping);

    // Nothing has changed that they depend on.
    if (AreInertiasKnown(work, materials, (const double[4]){time->h, time->e, anchor, damping}))
        return;

    // One material: what holds for one vertex holds for all.
    if (AreAlike(materials, model->character->def.materialCount) || model->character->elements.count == 0)
    {
        Wish wish = WishOf(&materials[0], anchor, damping);
        Numbers numbers = Tune(&wish, time, model->integrator);
        for (int i = 0; i < model->vertexCount; ++i)
            SetInertiaRow(work, i, numbers, tied);
        return;
    }

    // Several: at each vertex the mean by mass of the elements around it.
    SumWishes(work, materials, anchor, damping);
    for (int i = 0; i < model->vertexCount; ++i)
    {
        Wish wish = work->wishes[i];
        double mass = wish.mass > 0.0 ? wish.mass : 1.0;
        wish.square /= mass;
        wish.rate /= mass;
        SetInertiaRow(work, i, Tune(&wish, time, model->integrator), tied);
    }
}
