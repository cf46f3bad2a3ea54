// Flesh that is inside out comes back.
//
// The energy of the law neo is finite where a tetrahedron is flat or inside out, and has wells there: in the crease of
// an elbow, over the face of a bone (three corners ride with it and only the height of the fourth is left to yield),
// under what lands hard. Iterations do not leave them. So a tetrahedron with less than a fifth of its volume gets a
// stop: a pressure on its faces that grows from iteration to iteration until it has that much, and shrinks to nothing
// where it has more. Stops are forces among others, as those of contacts are, so flesh comes to rest on them; they
// are part of the state, for the next substep begins with what this one has found. Where all corners lie on bones,
// these are pushed apart: they fold on their joint no further. The goal moves by half of the volume in 1/120 s at most:
// what opens shoots nothing away.
//
// Rejected: a step that no tetrahedron may pass zero in locks the whole body. Moving the corners at the end of a step:
// the law takes it back in the next one, so that a crease never rests, and the energy guard, which sees a gain in every
// step, holds the whole body still.
//
// Where more than a hundredth of the tetrahedra are folded, the body is tangled as a whole. Single volumes are no guide
// out of that and the law neo keeps such states; corotated flesh untangles. It takes over until the last of those
// tetrahedra is open: stops that begin sooner leave knots.

#include "sim/apd/apd.h"

#include <math.h>
#include <string.h>

enum
{
    snw_tangled = 100, // one folded tetrahedron in so many
};

static const double s_folded = 0.02;    // of the rest volume
static const double s_openRate = 120.0; // 1/s, at most
static const double s_most = 10.0;      // (lambda + mu) of the element: a dozen times what its law has at a fifth
static const double s_share = 0.3;      // of what an iteration lacks: the matrix yields more than its diagonal tells

// Six times the volume, and its gradients by the corners.
static double VolumeOfTet(const snwVec3* x, const int corners[4], snwVec3 g[4])
{
    snwVec3 u[3];
    for (int k = 0; k < 3; ++k)
        u[k] = snwVec3_Sub(x[corners[k + 1]], x[corners[0]]);
    g[1] = snwVec3_Cross(u[1], u[2]);
    g[2] = snwVec3_Cross(u[2], u[0]);
    g[3] = snwVec3_Cross(u[0], u[1]);
    g[0] = snwVec3_Negate(snwVec3_Add(g[1], snwVec3_Add(g[2], g[3])));
    return snwVec3_Dot(u[0], g[1]);
}

// The volume of the tet now, as a part of its rest volume.
static double VolumeOf(const snwApdBody* body, int slot)
{
    const snwCharacter* character = body->model->character;
    int tet = body->model->tetOf[slot];
    snwVec3 unused[4];
    return VolumeOfTet(body->state.positions, character->def.tets[tet], unused) / (6.0 * character->restVolumes[tet]);
}

bool snwApd_IsTangled(snwApdBody* body)
{
    const snwApdModel* model = body->model;
    float* stops = body->state.stops;
    int folded = 0, slots = model->blockCount * snw_apdLanes;
    bool knotted = false;

    // Is a tetrahedron of the last tangle (-1) still folded, or more than one in a hundred of all?
    for (int s = 0; s < slots; ++s)
    {
        if (stops[s] >= 0.0f && body->squeezed[s / snw_apdLanes] == 0)
            continue;
        bool now = model->tetOf[s] >= 0 && VolumeOf(body, s) < s_folded;
        knotted = knotted || (now && stops[s] < 0.0f);
        stops[s] = now ? stops[s] : fmaxf(stops[s], 0.0f);
        folded += now;
    }

    bool tangled = knotted || folded * snw_tangled > model->tetCount;
    for (int s = 0; s < slots && tangled; ++s)
        if (body->squeezed[s / snw_apdLanes] != 0 && model->tetOf[s] >= 0 && VolumeOf(body, s) < s_folded)
            stops[s] = -1.0f;
    return tangled;
}

void snwApd_BeginStops(snwApdBody* body)
{
    body->stopCount = 0;
    for (int s = 0; s < body->model->blockCount * snw_apdLanes; ++s)
        body->stopCount += body->state.stops[s] > 0.0f;
}

// Changes the stop of a slot by what its tetrahedron lacks, and adds what it pushes.
static void Press(snwApdBody* body, int slot, double h)
{
    const snwApdModel* model = body->model;
    const int* corners = model->character->def.tets[model->tetOf[slot]];
    const snwElasticWeights* weights = &body->weights[slot / snw_apdLanes];
    int lane = slot % snw_apdLanes;
    float* stop = &body->state.stops[slot];
    snwVec3 g[4], unused[4];
    double rest = 6.0 * model->character->restVolumes[model->tetOf[slot]], flesh = 0.0, bones = 0.0;
    double volume = VolumeOfTet(body->state.positions, corners, g);

    if (*stop == 0.0f && volume >= SNW_SQUEEZED * rest)
        return;

    // How far the corners give way to a push, by the matrix' diagonal.
    for (int k = 0; k < 4; ++k)
    {
        double yield = body->pinned[corners[k]] ? 0.0 : snwVec3_LengthSquared(g[k]) / body->diagonal[corners[k]];
        *(model->boneOf[corners[k]] < 0 ? &flesh : &bones) += yield;
    }

    double yield = flesh > 0.0 ? flesh : bones; // bones wait for flesh that can yield

    // It opens by no more than its rate allows within a substep.
    double goal = fmin(SNW_SQUEEZED * rest, VolumeOfTet(body->before, corners, unused) + s_openRate * h * rest);
    double stiff = (0.5 * (double)weights->shear[lane] + (double)weights->bulk[lane]) / rest;
    bool open = volume > 2.0 * SNW_SQUEEZED * rest; // it needs no stop, whatever the last iterations needed

    double now = yield > 0.0 && !open ? (double)*stop + s_share * (goal - volume) / yield : 0.0;
    *stop = (float)fmax(0.0, fmin(now, s_most * stiff));
    body->stopCount += *stop > 0.0f;

    for (int k = 0; k < 4; ++k)
        body->opening[corners[k]] = snwVec3_MulAdd(body->opening[corners[k]], (double)*stop, g[k]);
}

void snwApd_PressStops(snwApdBody* body, double h)
{
    const snwApdModel* model = body->model;
    bool neo = body->law == snw_elasticNeo;
    if (body->stopCount == 0 && (!neo || body->energy.squeezed == 0))
        return;
    memset(body->opening, 0, (size_t)model->vertexCount * sizeof *body->opening);
    body->stopCount = 0;
    for (int s = 0; s < model->blockCount * snw_apdLanes; ++s)
    {
        if (!neo)
            body->state.stops[s] = fminf(body->state.stops[s], 0.0f);
        else if (body->state.stops[s] > 0.0f || (body->squeezed[s / snw_apdLanes] != 0 && model->tetOf[s] >= 0))
            Press(body, s, h);
    }
}
