// Flesh that is inside out comes back.
//
// The energy of the law neo is finite where a tetrahedron is flat or inside out, and has wells there: in the crease of
// an elbow, over the face of a bone (three corners ride with it and only the height of the fourth is left to yield),
// under what lands hard. Iterations do not leave them. So at the end of a step tetrahedra of next to no volume are
// given a little by moving their corners along the gradients of the volume, the light ones more (Gauss and Seidel,
// few rounds, contacts in between and at last). It is a stop and not a spring: what was not folded when the substep
// began keeps the velocity with which it came to the stop, what was folded already moves without one, so a fold that
// opens shoots nothing away. Rejected: a step that no tetrahedron may pass zero in locks the whole body.
//
// Bones and pins stay where they are; what the moves then give to a free body as a whole is taken back from all of it.
//
// Where more than a hundredth of the tetrahedra are folded, the body is tangled as a whole. Single volumes are no guide
// out of that and the law neo keeps such states; corotated flesh untangles. It takes over for that substep. In all but
// the last substep of a step it does so where anything is folded: opened in each of many substeps, flesh gets into
// knots in which no tetrahedron is folded any more.

#include "sim/apd/apd.h"

#include <math.h>

enum
{
    snw_unfoldRounds = 4, // with contacts in between
    snw_unfoldSweeps = 16,
    snw_tangled = 100, // one folded tetrahedron in so many
};

static const double s_opened = 0.05; // of the rest volume: what a folded tetrahedron gets

bool snwApd_IsTangled(const snwApdBody* body)
{
    return body->energy.folded * snw_tangled > body->model->tetCount;
}

// Six times the volume, and its gradients by the corners.
static double Volume(const snwVec3* x, const int corners[4], snwVec3 g[4])
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

// What one tetrahedron gives to x and to x_n, kg m.
typedef struct Moment
{
    snwVec3 now, before;
} Moment;

// Returns whether it was folded and could move.
static bool Open(snwApdBody* body, int tet, Moment* moment)
{
    const snwApdModel* model = body->model;
    const int* corners = model->character->def.tets[tet];
    snwVec3 *x = body->state.positions, g[4], unused[4];
    double rest = 6.0 * model->character->restVolumes[tet], volume = Volume(x, corners, g), sum = 0.0, mobility[4];
    if (volume >= SNW_FOLDED * rest)
        return false;
    for (int k = 0; k < 4; ++k)
    {
        int v = corners[k];
        mobility[k] = model->boneOf[v] >= 0 || body->pinned[v] ? 0.0 : 1.0 / body->masses[v];
        sum += mobility[k] * snwVec3_LengthSquared(g[k]);
    }
    if (!(sum > 0.0))
        return false;

    // x_n goes along with what was missing when the substep began.
    double lacks = s_opened * rest - volume, step = lacks / sum;
    double share = fmin(1.0, fmax(0.0, (s_opened * rest - Volume(body->before, corners, unused)) / lacks));
    for (int k = 0; k < 4; ++k)
    {
        int v = corners[k];
        x[v] = snwVec3_MulAdd(x[v], step * mobility[k], g[k]);
        body->before[v] = snwVec3_MulAdd(body->before[v], share * step * mobility[k], g[k]);
        if (mobility[k] > 0.0)
        {
            moment->now = snwVec3_MulAdd(moment->now, step, g[k]);
            moment->before = snwVec3_MulAdd(moment->before, share * step, g[k]);
        }
    }
    return true;
}

// A body that nothing holds stays where it was as a whole.
static void TakeBack(snwApdBody* body, const Moment* moment)
{
    const snwApdModel* model = body->model;
    double mass = 0.0;
    bool held = body->small.holdCount > 0;
    for (int i = 0; i < model->vertexCount; ++i)
    {
        mass += body->masses[i];
        held |= body->pinned[i] != 0;
    }
    if (held)
        return;
    for (int i = 0; i < model->vertexCount; ++i)
    {
        body->state.positions[i] = snwVec3_MulAdd(body->state.positions[i], -1.0 / mass, moment->now);
        body->before[i] = snwVec3_MulAdd(body->before[i], -1.0 / mass, moment->before);
    }
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwApdBone *bone = &body->state.bones[k], *before = &body->bonesBefore[k];
        bone->centre = snwVec3_MulAdd(bone->centre, -1.0 / mass, moment->now);
        before->centre = snwVec3_MulAdd(before->centre, -1.0 / mass, moment->before);
    }
}

// Returns whether anything moved.
static bool UnfoldBody(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    Moment moment = {{0, 0, 0}, {0, 0, 0}};
    if (body->model->law != snw_elasticNeo || body->law != snw_elasticNeo || body->model->tetCount == 0)
        return false;
    if (!body->evaluated)
        snwApd_LocalStep(sim, index, false);
    if (body->energy.folded == 0 || snwApd_IsTangled(body))
        return false;

    bool any = true, ever = false;
    for (int sweep = 0; sweep < snw_unfoldSweeps && any; ++sweep)
    {
        any = false;
        for (int s = 0; s < body->model->tetCount; ++s)
            any = Open(body, body->model->tetOf[s], &moment) || any;
        ever |= any;
    }
    if (ever)
        TakeBack(body, &moment);
    body->evaluated = body->evaluated && !ever;
    return ever;
}

void snwApd_Unfold(snwSim* sim)
{
    bool any = true;
    for (int round = 0; round < snw_unfoldRounds && any; ++round)
    {
        any = false;
        for (int i = 0; i < sim->bodyCount; ++i)
            any = UnfoldBody(sim, i) || any;
        if (any)
            snwApd_MoveOut(sim);
    }
}
