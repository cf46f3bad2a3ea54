// apd.solver split: the method's forerunner (Li, Liu, Kavan: Fast Simulation of Deformable Characters with Articulated
// Skeletons in Projective Dynamics, SCA 2019), after what the later paper says of it. The same problem (Eq. 6) and the
// same constant factor, but the joints are solved for "in a separate step where the deformable body is ignored
// temporarily". An iteration is
//     global   flesh and bones together, each bone an affine body without joints: dt = G^-1 q
//     join     min over rigid t  1/(2 h^2) |t - t_affine|_M^2  with joints and pins: masses of the bones, no flesh
//     flesh    follows the joined bones: the backward sweep
// That is where its trouble comes from: joints move bones as if no flesh were around them, and flesh is dragged along
// without pulling back before the next iteration. Its fixed point is not the minimum of Eq. 6.
//
// Where the words leave a choice we took what behaves better. Flesh that stays where free bones put it until the next
// iteration blows up the cantilever at every stiffness (energy a thousand times that of the fall); so it gains about
// twice the energy of the fall. The projection weighs by masses: the plain closest rotation knows no gyroscopic torque,
// and their method is said to move rigid bodies as they should. Without flesh it is ours.

#include "math/eigen.h"
#include "sim/apd/apd.h"

// last: q, then dt of bones that are affine and free.
static void FreeBones(snwApdBody* body)
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

// To the nearest rigid place, where the second problem starts. Leaves its pull M (t_affine - t) / h^2 in `last`.
static void ProjectBone(const snwApdBody* body, int bone, double h, snwApdBone* pose)
{
    snwVec3 affine[4], t[4];
    float* rows = body->last + 16 * (size_t)bone;

    snwApdBone_Rows(body->model, bone, pose, affine);
    for (int a = 0; a < 4; ++a)
        affine[a] = snwVec3_Add(
            affine[a], (snwVec3){(double)rows[4 * a], (double)rows[4 * a + 1], (double)rows[4 * a + 2]});

    snwMat3 turn = snwMat3_FromColumns(affine[0], affine[1], affine[2]);
    pose->rotation = snwQuat_FromMat3(snwPolar3_Compute(turn).rotation);
    pose->centre = affine[3];
    snwApdBone_Rows(body->model, bone, pose, t);

    // M / h^2 times what the way to the rigid place was.
    for (int a = 0; a < 4; ++a, rows += 4)
    {
        snwVec3 pull = {0, 0, 0};
        for (int b = 0; b < 4; ++b)
            pull = snwVec3_MulAdd(pull, body->boneMasses[bone][a][b] / (h * h), snwVec3_Sub(affine[b], t[b]));
        rows[0] = (float)pull.x, rows[1] = (float)pull.y, rows[2] = (float)pull.z;
    }
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

void snwApd_SolveSplit(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdState state = snwApd_GetState(sim, index);
    int bones = body->model->boneCount;

    FreeBones(body);

    for (int k = 0; k < bones; ++k)
    {
        snwApdBone_Rows(body->model, k, &state.bones[k], body->boneStart + 4 * k);
        ProjectBone(body, k, h, &state.bones[k]);
    }

    // Joints with the bones' masses alone: flesh is ignored here.
    FillMasses(body, h);
    body->small.schur = body->boneMetric;
    snwApd_SolveBones(sim, index, h);

    for (int i = 0; i < 4 * bones; ++i)
    {
        snwVec3 d = snwVec3_Sub(body->small.now[i], body->boneStart[i]);
        float* out = body->last + 4 * (size_t)i;
        out[0] = (float)d.x, out[1] = (float)d.y, out[2] = (float)d.z;
    }
}
