// apd.solver split: the method's forerunner (Li, Liu, Kavan: Fast Simulation of Deformable Characters with Articulated
// Skeletons in Projective Dynamics, SCA 2019), after what the later paper says of it. The same problem (Eq. 6) and the
// same constant factor, but the joints are solved for "in a separate step where the deformable body is ignored
// temporarily". An iteration is
//     global   flesh and bones together, each bone an affine body without joints: dt = G^-1 q
//     project  each bone to the nearest rigid place
//     join     min 1/(2 h^2) |t - t_projected|_M^2 with joints and pins: masses of the bones, no flesh
// Flesh stays where the global step put it and learns of the joined bones in the next iteration. That is cheap, and it
// is where the method's trouble comes from: joints move bones as if no flesh were around them.

#include "math/eigen.h"
#include "sim/apd/apd.h"

#include <string.h>

void snwApd_FreeBones(snwApdBody* body)
{
    int n = 4 * body->model->boneCount;
    for (int c = 0; c < 3; ++c)
    {
        for (int i = 0; i < n; ++i)
            body->affineRight[i] = (double)body->last[4 * (size_t)i + (size_t)c];
        snwDense_Solve(&body->affine, body->affineRight);
        for (int i = 0; i < n; ++i)
            body->last[4 * (size_t)i + (size_t)c] = (float)body->affineRight[i];
    }
}

static void ProjectBone(const snwApdBody* body, int bone, snwApdBone* pose)
{
    snwVec3 t[4];
    snwApdBone_Rows(body->model, bone, pose, t);
    for (int a = 0; a < 4; ++a)
    {
        const float* d = body->last + 4 * (size_t)(4 * bone + a);
        t[a] = snwVec3_Add(t[a], (snwVec3){(double)d[0], (double)d[1], (double)d[2]});
    }
    pose->rotation = snwQuat_FromMat3(snwPolar3_Compute(snwMat3_FromColumns(t[0], t[1], t[2])).rotation);
    pose->centre = t[3];
}

// The metric of the second problem: U^T M U / h^2.
static void FillMasses(snwApdBody* body, double h)
{
    size_t n = 4 * (size_t)body->model->boneCount;
    for (size_t k = 0; k < (size_t)body->model->boneCount; ++k)
        for (size_t p = 0; p < 4; ++p)
            for (size_t q = 0; q < 4; ++q)
                body->boneMetric[(4 * k + p) * n + 4 * k + q] = body->boneMasses[k][p][q] / (h * h);
}

void snwApd_JoinBones(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdState state = snwApd_GetState(sim, index);
    for (int k = 0; k < body->model->boneCount; ++k)
        ProjectBone(body, k, &state.bones[k]);
    FillMasses(body, h);
    body->small.schur = body->boneMetric;
    memset(body->last, 0, 16 * (size_t)body->model->boneCount * sizeof *body->last);
    snwApd_SolveBones(sim, index, h);
}
