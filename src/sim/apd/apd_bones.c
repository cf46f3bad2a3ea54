// The small problem of the bones: min over rigid T of  1/2 |t - t0|_G^2 - q . (t - t0)  with joints, limits, motors and
// pins. t is linear in a small motion s = (w, l) of each bone about its own centre, d t_a = w x t_a for the three
// scaled columns and l for the centre, so with S = J^T (G x I_3) J
//     S s = J^T (q - G (t - t0)) + A^T lambda,    A s = b
// is a Gauss-Newton step; passes of it converge to the rigid, jointed minimum for no sparse work at all.
//
// Every pass has the gradient and the rows of the pose it is at. Only S, the metric, may be a little old: a turn of a
// bone by an angle a makes a pass leave about a of the error instead of a^2, and S and its factor are the only thing
// here that costs n^3. They are made anew when a bone has turned by apd.refresh since.
//
// Curvature. S leaves out how a force f at the arm r changes what a turn costs: |w|^2 f.r - (w.f)(w.r), summed over all
// forces on a bone, those of joints included. Without it a pass overshoots where a bone is pulled hard at both ends,
// and where that is more than S itself (a chain that swings by most of a radian in one step) passes never settle. So
// the part of it that is positive joins S where it is more than a fraction of it; the minimum is the same.
//
// Rows touch few bones (teeth and horns hang on flesh alone). With E the rows of the identity for the bones that are
// held, Y = E L^-T and H = Y Y^T = E S^-1 E^T: then A S^-1 A^T = A_h H A_h^T is a matter of 6 x 6 blocks.

#include "linalg/active.h"
#include "math/eigen.h"
#include "rig/clip.h"
#include "sim/apd/apd.h"

#include <math.h>
#include <string.h>

static const double s_weak = 0.5;   // of S: curvature below that is left to the next pass
static const double s_still = 1e-8; // rad, or of a bone's scale: a pass that moves no more than that is the last

// ---------------------------------------------------------------------------------------------------------------------
// Poses

void snwApdBone_Rows(const snwApdModel* model, int bone, const snwApdBone* pose, snwVec3 rows[4])
{
    snwMat3 r = snwMat3_Scale(snwQuat_ToMat3(pose->rotation), model->scales[bone]);
    for (int a = 0; a < 3; ++a)
        rows[a] = snwMat3_Column(r, a);
    rows[3] = pose->centre;
}

void snwApd_PlaceBoneVertices(const snwApdModel* model, const snwApdBone* bones, snwVec3* positions)
{
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwVec3 t[4];
        snwApdBone_Rows(model, k, &bones[k], t);
        for (int i = model->boneStarts[k]; i < model->boneStarts[k + 1]; ++i)
        {
            const double* u = model->boneCoords[i];
            snwVec3 x = t[3];
            for (int a = 0; a < 3; ++a)
                x = snwVec3_MulAdd(x, u[a], t[a]);
            positions[model->boneVertices[i]] = x;
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows: joints

static snwBonePose PoseOfBone(const snwApdBone* bone)
{
    return (snwBonePose){bone->rotation, bone->centre};
}

// Frequency and the least damping without overshoot; the rows' compliance is scaled to what the bones show there.
static snwJointDrive MakeDrive(double frequency, double h, snwQuat rotation)
{
    double w = 2.0 * SNW_PI * frequency * h;
    return (snwJointDrive){.rotation = rotation, .stiffness = w * w, .damping = 2.0 * w * h};
}

static void AddApdJoint(snwSim* sim, int index, int joint, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdSmall* small = &body->small;
    snwApdState state = snwApd_GetState(sim, index);
    snwJointDef def = sim->bodies[index].character->def.joints[joint];
    const snwApdModel* model = body->model;

    // The motor and its target are states, not definitions: commands change them.
    def.target = state.joints[joint].target;
    def.motor = state.joints[joint].motor != 0;

    // Rows see where both bones are, and where they were when the substep began.
    snwJointRowsDef rows = {.joint = &def, .h = h};
    const int ends[2] = {def.bone, def.parentBone};
    for (int e = 0; e < 2; ++e)
    {
        if (ends[e] < 0)
            continue;
        rows.restCentres[e] = model->centres[ends[e]];
        rows.poses[e] = PoseOfBone(&state.bones[ends[e]]);
        rows.starts[e] = PoseOfBone(&body->bonesBefore[ends[e]]);
    }

    // Where a motion leads the joint, a drive pulls it there.
    snwJointDrive drive = MakeDrive(snwSim_Param(sim, snw_apdDrive), h, small->driveTargets[joint]);
    bool driven = small->driven[joint] && drive.stiffness > 0.0;
    rows.drive = driven ? &drive : NULL;

    snwJointRow* out = small->rows + small->rowCount;
    int count = snwJointRows_Make(&rows, out), kept = 0;
    for (int i = 0; i < count; ++i)
    {
        if (out[i].kind == snw_rowAtLeast && snwSim_Param(sim, snw_apdLimits) == 0.0)
            continue;
        small->scaled[small->rowCount + kept] = driven && out[i].kind == snw_rowSoft;
        out[kept++] = out[i];
    }

    // From the bones' centres to the joint, turned with the bones.
    for (int i = 0; i < kept; ++i)
        for (int e = 0; e < 2; ++e)
            small->arms[small->rowCount + i][e] = snwQuat_Rotate(
                rows.poses[e].rotation, snwVec3_Sub(def.position, rows.restCentres[e]));

    small->rowCount += kept;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows: pins

static bool FindPinTarget(const snwSim* sim, int index, int vertex, snwVec3* target)
{
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == index && sim->grabs[i].vertex == vertex)
        {
            *target = sim->grabs[i].vector;
            return true;
        }
    for (int p = 0; p < sim->def->pinCount; ++p)
        for (int i = 0; i < sim->pinSets[p].count && sim->pins[p].held && sim->pinSets[p].body == index; ++i)
            if (sim->pinSets[p].vertices[i] == vertex)
            {
                *target = snwPinSet_Target(&sim->pinSets[p], &sim->pins[p], i);
                return true;
            }
    return false;
}

static void AddHold(snwSim* sim, int index, const snwApdHold* hold)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdSmall* small = &body->small;
    const snwApdBone* bone = &snwApd_GetState(sim, index).bones[hold->bone];
    snwVec3 rest = body->model->character->def.vertices[hold->vertex];

    // How far the pinned vertex of the rigid bone is from where it must be.
    snwVec3 arm = snwQuat_Rotate(bone->rotation, snwVec3_Sub(rest, body->model->centres[hold->bone]));
    snwVec3 gap = snwVec3_Sub(snwVec3_Add(bone->centre, arm), hold->target);
    const double error[3] = {gap.x, gap.y, gap.z};
    snwMat3 turn = snwMat3_Skew(snwVec3_Negate(arm)); // w x arm = -arm x w

    // One row per coordinate, about the bone's turn and its shift.
    for (int c = 0; c < 3; ++c)
    {
        snwJointRow* row = &small->rows[small->rowCount];
        *row = (snwJointRow){.kind = snw_rowEqual, .bones = {hold->bone, -1}, .error = error[c], .target = -error[c]};
        memcpy(row->jacobian[0], turn.m[c], sizeof turn.m[c]);
        row->jacobian[0][3 + c] = 1.0;
        small->arms[small->rowCount][0] = arm;
        small->scaled[small->rowCount++] = false;
    }
}

// Three points that lie well apart hold a bone as all its pinned vertices would.
static void ChooseHolds(snwApdBody* body, int bone)
{
    const snwApdModel* model = body->model;
    const snwVec3* rest = model->character->def.vertices;
    snwApdSmall* small = &body->small;
    int chosen[3] = {-1, -1, -1};

    for (int round = 0; round < 3; ++round)
    {
        // The first that is pinned, then the farthest from it, then the farthest from the line of both.
        double most = round == 0 ? -1.0 : 1e-12 * model->scales[bone] * model->scales[bone];
        for (int i = model->boneStarts[bone]; i < model->boneStarts[bone + 1]; ++i)
        {
            int v = model->boneVertices[i];
            if (!body->pinned[v])
                continue;
            snwVec3 d = round > 0 ? snwVec3_Sub(rest[v], rest[chosen[0]]) : (snwVec3){0, 0, 0};
            if (round == 2)
            {
                snwVec3 line = snwVec3_Normalize(snwVec3_Sub(rest[chosen[1]], rest[chosen[0]]));
                d = snwVec3_MulAdd(d, -snwVec3_Dot(d, line), line);
            }

            double far = snwVec3_LengthSquared(d);
            if (far > most)
            {
                most = far;
                chosen[round] = v;
            }
        }

        if (chosen[round] < 0)
            return;
        small->holds[small->holdCount++] = (snwApdHold){.bone = bone, .vertex = chosen[round]};
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The metric and its factor

// H = sum_ab G_ab t_a t_b^T and with it the 6 x 6 block of two bones: d t_a = -[t_a]x w.
static void MakeBlock(const double* g, int stride, const snwVec3 a[4], const snwVec3 b[4], double* out, int outStride)
{
    snwMat3 outer = {{{0}}};
    snwVec3 left = {0, 0, 0}, right = {0, 0, 0};

    for (int p = 0; p < 3; ++p)
    {
        snwVec3 sum = {0, 0, 0};
        for (int q = 0; q < 3; ++q)
            sum = snwVec3_MulAdd(sum, g[p * stride + q], b[q]);
        outer = snwMat3_Add(outer, snwMat3_Outer(a[p], sum));
        left = snwVec3_MulAdd(left, g[p * stride + 3], a[p]);
        right = snwVec3_MulAdd(right, g[3 * stride + p], b[p]);
    }

    // Turns before shifts, in both bones.
    double trace = outer.m[0][0] + outer.m[1][1] + outer.m[2][2];
    snwMat3 turnShift = snwMat3_Skew(left), shiftTurn = snwMat3_Skew(snwVec3_Negate(right));
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
        {
            out[i * outStride + j] = (i == j ? trace : 0.0) - outer.m[j][i];
            out[i * outStride + 3 + j] = turnShift.m[i][j];
            out[(3 + i) * outStride + j] = shiftTurn.m[i][j];
            out[(3 + i) * outStride + 3 + j] = i == j ? g[3 * stride + 3] : 0.0;
        }
}

void snwApd_MakeMetric(snwApdBody* body, const double* g)
{
    snwApdSmall* small = &body->small;
    int m = body->model->boneCount;
    for (int k = 0; k < m; ++k)
        for (int l = 0; l <= k; ++l)
            MakeBlock(g + (size_t)(4 * k) * (size_t)(4 * m) + 4 * (size_t)l, 4 * m, small->now + 4 * k,
                small->now + 4 * l, small->matrix + (size_t)(6 * k) * (size_t)small->size + 6 * (size_t)l, small->size);
}

static void MarkHeldBones(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdSmall* small = &body->small;
    const snwCharacterDef* def = &sim->bodies[index].character->def;
    small->heldCount = 0;
    memset(small->heldOf, -1, (size_t)body->model->boneCount * sizeof *small->heldOf);
    for (int i = 0; i < def->jointCount; ++i)
        for (int e = 0; e < 2 && def->joints[i].type != snw_jointFree; ++e)
        {
            int bone = e == 0 ? def->joints[i].bone : def->joints[i].parentBone;
            if (bone >= 0 && small->heldOf[bone] < 0)
                small->heldOf[bone] = small->heldCount++;
        }
    for (int i = 0; i < small->holdCount; ++i)
        if (small->heldOf[small->holds[i].bone] < 0)
            small->heldOf[small->holds[i].bone] = small->heldCount++;
}

static bool NeedsMetric(const snwSim* sim, int index)
{
    const snwApdBody* body = snwApd_Body(sim, index);
    snwApdState state = snwApd_GetState(sim, index);
    double most = snwSim_Param(sim, snw_apdRefresh);
    if (!body->small.made)
        return true;
    for (int k = 0; k < body->model->boneCount; ++k)
        if (!(snwQuat_Angle(body->small.madeAt[k], state.bones[k].rotation) <= most))
            return true;
    return false;
}

bool snwApd_FactorMetric(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdSmall* small = &body->small;
    snwApdState state = snwApd_GetState(sim, index);

    // S must be positive definite; then E S^-1 E^T, for the bones that rows hold.
    if (snwDense_Factor(&small->factor, small->matrix, small->size) >= 0)
        return false;
    int held = 6 * small->heldCount;

    memset(small->unit, 0, (size_t)held * (size_t)small->size * sizeof *small->unit);
    for (int k = 0; k < body->model->boneCount; ++k)
    {
        for (int c = 0; c < 6 && small->heldOf[k] >= 0; ++c)
            small->unit[(size_t)(6 * small->heldOf[k] + c) * (size_t)small->size + (size_t)(6 * k + c)] = 1.0;
        small->madeAt[k] = state.bones[k].rotation;
    }

    if (held > 0)
    {
        snwDense_ForwardRows(&small->factor, held, small->unit, small->size, small->panels);
        snwDense_Gram(&small->factor, held, small->panels, small->inverse, held);
    }

    small->made = true;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// A pass

// J^T (q - G (t - t0))
static void MakeGradient(const snwApdBody* body, snwApdSmall* small)
{
    int m = body->model->boneCount, n = 4 * m;
    for (int i = 0; i < n; ++i)
        small->change[i] = snwVec3_Sub(small->now[i], small->start[i]);

    // A bone's four rows at a time: their sums do not wait for each other.
    for (int i = 0; i < n; i += 4)
    {
        const double* g = small->schur + (size_t)i * (size_t)n;
        snwVec3* sums = small->force + i;
        snwVec3 s[4] = {small->pull[i], small->pull[i + 1], small->pull[i + 2], small->pull[i + 3]};
        for (int j = 0; j < n; ++j)
            for (int a = 0; a < 4; ++a)
                s[a] = snwVec3_MulAdd(s[a], -g[a * n + j], small->change[j]);
        memcpy(sums, s, sizeof s);
    }

    // J^T: moments of the three columns are the torque, the fourth row is the force.
    for (int k = 0; k < m; ++k)
    {
        const snwVec3 *t = small->now + 4 * k, *f = small->force + 4 * k;
        snwVec3 twist = snwVec3_Add(
            snwVec3_Cross(t[0], f[0]), snwVec3_Add(snwVec3_Cross(t[1], f[1]), snwVec3_Cross(t[2], f[2])));
        double* out = small->motion + 6 * k;
        out[0] = twist.x, out[1] = twist.y, out[2] = twist.z;
        out[3] = f[3].x, out[4] = f[3].y, out[5] = f[3].z;
    }
}

// out = H A^T of one row: what it moves, of the bones that are held.
static void MoveHeldByRow(const snwApdSmall* small, const snwJointRow* row, double* out)
{
    int held = 6 * small->heldCount;
    memset(out, 0, (size_t)held * sizeof *out);
    for (int e = 0; e < 2; ++e)
        for (int c = 0; c < 6 && row->bones[e] >= 0; ++c)
        {
            double push = row->jacobian[e][c];
            const double* line = small->inverse + (size_t)(6 * small->heldOf[row->bones[e]] + c) * (size_t)held;
            for (int i = 0; i < held && push != 0.0; ++i)
                out[i] += push * line[i];
        }
}

static double AlongRow(const snwApdSmall* small, const snwJointRow* row, const double* moved)
{
    double sum = 0.0;
    for (int e = 0; e < 2; ++e)
        for (int c = 0; c < 6 && row->bones[e] >= 0; ++c)
            sum += row->jacobian[e][c] * moved[6 * small->heldOf[row->bones[e]] + c];
    return sum;
}

static void MakeBoneRows(snwSim* sim, int index, double h)
{
    snwApdSmall* small = &snwApd_Body(sim, index)->small;
    const snwCharacterDef* def = &sim->bodies[index].character->def;

    // Rows, joint by joint, then what pins hold.
    small->rowCount = 0;
    for (int i = 0; i < def->jointCount; ++i)
        AddApdJoint(sim, index, i, h);
    for (int i = 0; i < small->holdCount; ++i)
        AddHold(sim, index, &small->holds[i]);

    // A S^-1 A^T, symmetric to the bit.
    int count = small->rowCount;
    for (int i = 0; i < count; ++i)
    {
        MoveHeldByRow(small, &small->rows[i], small->heldForce);
        for (int j = 0; j <= i; ++j)
            small->rowMatrix[i * count + j] = small->rowMatrix[j * count + i] = AlongRow(
                small, &small->rows[j], small->heldForce);
    }

    // A spring that is scaled is as stiff as its diagonal says.
    for (int i = 0; i < count; ++i)
    {
        double shown = small->scaled[i] ? small->rowMatrix[i * count + i] : 1.0;
        small->atLeast[i] = small->rows[i].kind == snw_rowAtLeast;
        small->compliance[i] = small->rows[i].compliance * shown;
    }
}

// motion holds L^-1 of the gradient; b = target - A S^-1 gradient.
static void SolveRows(snwSim* sim, snwApdSmall* small)
{
    // b = target - A S^-1 gradient.
    int count = small->rowCount, held = 6 * small->heldCount;
    snwDense_MulRows(&small->factor, held, small->panels, small->motion, small->heldForce);
    for (int i = 0; i < count; ++i)
    {
        const snwJointRow* row = &small->rows[i];
        small->rightSide[i] = row->target;
        for (int e = 0; e < 2; ++e)
            for (int c = 0; c < 6 && row->bones[e] >= 0; ++c)
                small->rightSide[i] -= row->jacobian[e][c] * small->heldForce[6 * small->heldOf[row->bones[e]] + c];
    }

    snwActiveDef def = {.kernels = snwCholesky_Kernels(sim->context->simd),
        .count = count,
        .k = small->rowMatrix,
        .stride = count,
        .compliance = small->compliance,
        .b = small->rightSide,
        .atLeast = small->atLeast,
        .active = small->active,
        .lambda = small->multipliers,
        .scratch = small->rowScratch};
    snwActive_Solve(&def);

    // The rows' pushes, back into the motion.
    memset(small->heldForce, 0, (size_t)held * sizeof *small->heldForce);
    for (int i = 0; i < count; ++i)
        for (int e = 0; e < 2; ++e)
            for (int c = 0; c < 6 && small->rows[i].bones[e] >= 0; ++c)
                small->heldForce[6 * small->heldOf[small->rows[i].bones[e]] + c] += small->rows[i].jacobian[e][c] *
                                                                                    small->multipliers[i];

    snwDense_AddRows(&small->factor, held, small->panels, small->heldForce, small->motion);
}

// The closest rotation to (I + [w]x) R turns by atan |w| (Alg. 1, line 5).
static void MoveBones(const snwApdModel* model, const double* motion, snwApdBone* bones)
{
    for (int k = 0; k < model->boneCount; ++k)
    {
        const double* s = motion + 6 * k;
        snwVec3 w = {s[0], s[1], s[2]};
        double length = snwVec3_Length(w);
        snwVec3 turn = length > 1e-8 ? snwVec3_Scale(w, atan(length) / length) : w;
        bones[k].rotation = snwQuat_Normalize(snwQuat_Mul(snwQuat_FromRotationVector(turn), bones[k].rotation));
        bones[k].centre = snwVec3_Add(bones[k].centre, (snwVec3){s[3], s[4], s[5]});
    }
}

void snwApd_ReadBones(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdState state = snwApd_GetState(sim, index);
    for (int k = 0; k < body->model->boneCount; ++k)
        snwApdBone_Rows(body->model, k, &state.bones[k], body->small.now + 4 * k);
}

void snwApd_SolveMotion(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdSmall* small = &body->small;
    snwDense_Forward(&small->factor, small->motion);
    MakeBoneRows(sim, index, h);
    if (small->rowCount > 0)
        SolveRows(sim, small);
    snwDense_Backward(&small->factor, small->motion);
    MoveBones(body->model, small->motion, snwApd_GetState(sim, index).bones);
}

// ---------------------------------------------------------------------------------------------------------------------
// Curvature

// Sum of f r^T over a bone: its own forces at this pose, those of rows as the pass before found them.
static void AddBoneMoments(const snwApdBody* body, snwMat3* moments)
{
    const snwApdSmall* small = &body->small;
    for (int k = 0; k < body->model->boneCount; ++k)
    {
        moments[k] = (snwMat3){{{0}}};
        for (int a = 0; a < 3; ++a)
            moments[k] = snwMat3_Add(moments[k], snwMat3_Outer(small->force[4 * k + a], small->now[4 * k + a]));
    }

    // Rows push at their arms: the last three numbers of a jacobian are the force.
    for (int i = 0; i < small->rowCount; ++i)
        for (int e = 0; e < 2; ++e)
        {
            const double* push = small->rows[i].jacobian[e] + 3;
            if (small->rows[i].bones[e] < 0)
                continue;
            snwVec3 force = snwVec3_Scale((snwVec3){push[0], push[1], push[2]}, small->multipliers[i]);
            snwMat3* moment = &moments[small->rows[i].bones[e]];
            *moment = snwMat3_Add(*moment, snwMat3_Outer(force, small->arms[i][e]));
        }
}

// The positive part of tr(P) I - sym(P).
static snwMat3 PositiveCurvature(snwMat3 moment)
{
    snwMat3 h = {{{0}}}, out = {{{0}}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            h.m[i][j] = (i == j ? snwMat3_Trace(moment) : 0.0) - 0.5 * (moment.m[i][j] + moment.m[j][i]);
    snwEigen3 eigen = snwEigen3_Symmetric(h);
    for (int i = 0; i < 3; ++i)
    {
        snwVec3 axis = snwMat3_Column(eigen.vectors, i);
        if (eigen.values[i] > 0.0)
            out = snwMat3_Add(out, snwMat3_Outer(snwVec3_Scale(axis, eigen.values[i]), axis));
    }
    return out;
}

// What the metric has is near enough to what it should have. The norm of tr(P) I - P is at most twice that of P.
static bool CurvatureHolds(snwApdBody* body)
{
    snwApdSmall* small = &body->small;
    bool holds = true;
    AddBoneMoments(body, small->curvatures);
    for (int k = 0; k < body->model->boneCount; ++k)
    {
        bool weak = small->made && 2.0 * snwMat3_Norm(small->curvatures[k]) <= s_weak * small->turning[k];
        small->curvatures[k] = weak ? (snwMat3){{{0}}} : PositiveCurvature(small->curvatures[k]);
        snwMat3 change = snwMat3_Sub(small->curvatures[k], small->madeWith[k]);
        // Too much of it only makes passes shorter.
        double most = snwMat3_Trace(change) > 0.0 ? s_weak : 4.0 * s_weak;
        holds = holds && snwMat3_Norm(change) <= most * small->turning[k];
    }
    return holds;
}

// Adds it to the metric's blocks where it is not weak.
static void AddCurvature(snwApdBody* body, bool curved)
{
    snwApdSmall* small = &body->small;
    for (int k = 0; k < body->model->boneCount; ++k)
    {
        double* block = small->matrix + (size_t)(6 * k) * (size_t)small->size + 6 * (size_t)k;
        small->turning[k] = 0.0;
        for (int i = 0; i < 3; ++i)
            small->turning[k] += block[(size_t)i * (size_t)small->size + (size_t)i] / 3.0;
        bool strong = curved && snwMat3_Norm(small->curvatures[k]) > s_weak * small->turning[k];
        small->madeWith[k] = strong ? small->curvatures[k] : (snwMat3){{{0}}};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j <= i; ++j)
                block[(size_t)i * (size_t)small->size + (size_t)j] += small->madeWith[k].m[i][j];
    }
}

// ---------------------------------------------------------------------------------------------------------------------

// Largest turn and largest shift over the bone's scale of the pass before.
static double LargestMotion(const snwApdBody* body)
{
    double most = 0.0;
    for (int k = 0; k < body->model->boneCount; ++k)
    {
        const double* s = body->small.motion + 6 * k;
        double shift = snwVec3_Length((snwVec3){s[3], s[4], s[5]}) / body->model->scales[k];
        most = fmax(most, fmax(snwVec3_Length((snwVec3){s[0], s[1], s[2]}), shift));
    }
    return most;
}

// Another pass is worth while: false where there is nothing left to move, or no metric to move by.
static bool Pass(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    bool curved = snwSim_Param(sim, snw_apdPasses) > 1.0; // a single pass is Eq. 17 to the letter
    MakeGradient(body, &body->small);
    bool holds = !curved || CurvatureHolds(body);
    if (!holds || NeedsMetric(sim, index))
    {
        snwApd_MakeMetric(body, body->small.schur);
        AddCurvature(body, curved);
        if (!snwApd_FactorMetric(sim, index))
            return false;
    }
    snwApd_SolveMotion(sim, index, h);
    snwApd_ReadBones(sim, index);
    return LargestMotion(body) > s_still;
}

void snwApd_SolveBones(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdSmall* small = &body->small;
    int n = 4 * body->model->boneCount, passes = (int)snwSim_Param(sim, snw_apdPasses);

    // As bones are, and what the sweep has found that pulls at them.
    snwApd_ReadBones(sim, index);
    memcpy(small->start, small->now, (size_t)n * sizeof *small->now);
    for (int i = 0; i < n; ++i)
    {
        const float* q = body->last + 4 * (size_t)i;
        small->pull[i] = (snwVec3){(double)q[0], (double)q[1], (double)q[2]};
    }

    // Linearised anew in each pass, until nothing moves.
    for (int i = 0; i < passes; ++i)
        if (!Pass(sim, index, h))
            break;

    // How they have moved, in rows, for the backward sweep.
    for (int i = 0; i < n; ++i)
    {
        snwVec3 d = snwVec3_Sub(small->now[i], small->start[i]);
        float* out = body->last + 4 * (size_t)i;
        out[0] = (float)d.x, out[1] = (float)d.y, out[2] = (float)d.z;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Once per substep, and memory

// Where the motion of the body or a joint's clip wants the joints at the end of the substep. The damping of a drive
// holds against all motion; looking ahead by damping over stiffness makes that the motion wanted, to first order.
static void SetDrives(snwSim* sim, int index)
{
    snwApdSmall* small = &snwApd_Body(sim, index)->small;
    const snwCharacter* character = sim->bodies[index].character;
    const snwMotionDef* motion = snwSim_BodyMotion(sim, index);
    double frequency = snwSim_Param(sim, snw_apdDrive);
    double ahead = frequency > 0.0 ? 1.0 / (SNW_PI * frequency) : 0.0, time = sim->substepTime + ahead;

    if (motion != NULL)
        snwSkeleton_Pose(&character->skeleton, motion, snwSim_MotionTime(sim, index, time), small->driveBones);

    // A clip of the joint comes before the motion of the body.
    for (int i = 0; i < character->def.jointCount; ++i)
    {
        const snwJointDef* joint = &character->def.joints[i];
        const snwClipDef* clip = small->jointClips[i];
        small->driven[i] = clip != NULL || motion != NULL;
        if (clip != NULL)
            small->driveTargets[i] = snwClip_Evaluate(clip, time).rotation;
        else if (motion != NULL)
            small->driveTargets[i] = joint->parentBone >= 0
                                         ? snwQuat_Mul(snwQuat_Conjugate(small->driveBones[joint->parentBone].rotation),
                                               small->driveBones[joint->bone].rotation)
                                         : small->driveBones[joint->bone].rotation;
    }
}

void snwApd_BeginBones(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdSmall* small = &body->small;
    if (body->model->boneCount == 0)
        return;

    // A metric from an earlier step would make the result depend on more than the state.
    small->made = false;

    // With another factor other vertices are held, and the bones' metric is another one.
    if (small->signature != body->signature)
    {
        small->signature = body->signature;
        small->holdCount = 0;
        for (int k = 0; k < body->model->boneCount; ++k)
            ChooseHolds(body, k);
        MarkHeldBones(sim, index);
        small->schur = snwCholesky_Schur(body->factor);
    }

    for (int i = 0; i < small->holdCount; ++i)
        FindPinTarget(sim, index, small->holds[i].vertex, &small->holds[i].target);

    // Nothing from the substep before: the result depends on the state alone.
    small->rowCount = 0; // no forces of joints yet
    memset(small->madeWith, 0, (size_t)body->model->boneCount * sizeof *small->madeWith);
    memset(small->active, 0, (size_t)small->rowCapacity * sizeof *small->active);
    SetDrives(sim, index);
}

snwResult snwApd_CreateBones(snwSim* sim, int index, snwMessage* message)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdSmall* small = &body->small;
    snwArena* arena = &sim->arena;
    const snwCharacterDef* def = &sim->bodies[index].character->def;
    size_t m = (size_t)body->model->boneCount, n = 6 * m, joints = (size_t)def->jointCount;

    if (m == 0)
        return snw_ok;

    // Limits, motors and springs of every joint, and nine rows for what pins hold of each bone.
    size_t rows = snw_maxJointRows * joints + 9 * m;
    small->size = (int)n;
    small->rowCapacity = (int)rows;

    // The metric S, its factor, and its inverse where rows are.
    small->matrix = snwArena_Alloc(arena, n * n, sizeof(double));
    small->factor = (snwDense){
        snwCholesky_Kernels(sim->context->simd), (int)n, snwArena_Alloc(arena, snwDense_Count((int)n), sizeof(double))};
    small->unit = snwArena_Alloc(arena, n * n, sizeof(double));
    small->panels = snwArena_Alloc(arena, snwDense_PanelCount((int)n, (int)n), sizeof(double));
    small->inverse = snwArena_Alloc(arena, n * n, sizeof(double));
    small->heldForce = snwArena_Alloc(arena, n, sizeof(double));
    small->heldOf = snwArena_Alloc(arena, m, sizeof *small->heldOf);
    small->madeAt = snwArena_Alloc(arena, m, sizeof *small->madeAt);

    // Rows, and the small problem of their multipliers.
    small->holds = snwArena_Alloc(arena, 3 * m, sizeof *small->holds);
    small->rows = snwArena_Alloc(arena, rows + snw_maxJointRows, sizeof *small->rows);
    small->arms = snwArena_Alloc(arena, rows, sizeof *small->arms);
    small->curvatures = snwArena_Alloc(arena, m, sizeof *small->curvatures);
    small->madeWith = snwArena_Alloc(arena, m, sizeof *small->madeWith);
    small->turning = snwArena_Alloc(arena, m, sizeof *small->turning);
    small->scaled = snwArena_Alloc(arena, rows, sizeof *small->scaled);
    small->atLeast = snwArena_Alloc(arena, rows, sizeof *small->atLeast);
    small->active = snwArena_Alloc(arena, rows, sizeof *small->active);
    small->compliance = snwArena_Alloc(arena, rows, sizeof(double));
    small->rightSide = snwArena_Alloc(arena, rows, sizeof(double));
    small->multipliers = snwArena_Alloc(arena, rows, sizeof(double));
    small->rowMatrix = snwArena_Alloc(arena, rows * rows, sizeof(double));
    small->rowScratch = snwArena_Alloc(arena, snwActive_ScratchCount((int)rows), sizeof(double));

    // Bones now, at the start, and what pulls at them.
    small->motion = snwArena_Alloc(arena, n + 8, sizeof(double));
    small->now = snwArena_Alloc(arena, 4 * m, sizeof *small->now);
    small->start = snwArena_Alloc(arena, 4 * m, sizeof *small->start);
    small->pull = snwArena_Alloc(arena, 4 * m, sizeof *small->pull);
    small->change = snwArena_Alloc(arena, 4 * m, sizeof *small->change);
    small->force = snwArena_Alloc(arena, 4 * m, sizeof *small->force);

    // Drives of joints.
    small->driveBones = snwArena_Alloc(arena, m, sizeof *small->driveBones);
    small->driveTargets = snwArena_Alloc(arena, joints, sizeof *small->driveTargets);
    small->driven = snwArena_Alloc(arena, joints, sizeof *small->driven);
    small->jointClips = snwArena_Alloc(arena, joints, sizeof(void*));

    if (body->model->solver != snw_apdArticulated)
    {
        body->boneMetric = snwArena_Alloc(arena, 16 * m * m, sizeof(double));
        body->boneStart = snwArena_Alloc(arena, 4 * m, sizeof *body->boneStart);
    }

    if (arena->failed)
        return snwFailMemory(message);
    for (int i = 0; i < def->jointCount; ++i)
        small->jointClips[i] = snwSim_FindClip(sim, snw_clipJoint, index, i);
    return snw_ok;
}
