#include "rig_world.h"

// ---------------------------------------------------------------------------------------------------------------------
// The matrix and the right side

// Forces on everything as the moments have them: C at a pose, or -M motion without flesh.
static void MomentForces(const snwRigWorld* world, const snwRigPose* pose, const snwRigPose* motion, bool flesh,
    const snwRigLiteral* l, double* out)
{
    snwRigFitScratch* s = world->scratch;
    int d = world->dimension;
    double turns[9 * snw_mostHandles] = {0};
    for (int k = 0; k < world->model->stride; ++k)
        for (int a = 0; a < d; ++a)
        {
            s->pose.moves[a][k] = k < world->handleCount ? snwTest_Component(motion[k].place, a) : 0;
            s->forces.moves[a][k] = flesh ? s->sums.moves[a][k] : 0;
            for (int b = 0; b < d; ++b)
            {
                s->pose.linear[a][b][k] = k < world->handleCount ? motion[k].linear.m[a][b] : 0;
                s->forces.linear[a][b][k] = flesh ? s->sums.linear[a][b][k] : 0;
            }
        }
    snwRigFit_Subtract(world->model, s->all.kernels, &s->pose, &s->forces);
    snwRigSystem_Set(world->model, &s->all, s->all.freeMoves, s->all.freeTurns, 1e-12);
    snwRigSystem_Contract(world->model, &s->all, pose, (double* const(*)[3])s->forces.linear, turns);
    for (int k = 0; k < world->handleCount; ++k)
        for (int i = 0; i < l->starts[k + 1] - l->starts[k]; ++i)
            out[l->starts[k] + i] = i < d ? s->forces.moves[i][k] : turns[s->all.turnStart[k] + i - d];
}

// The motion of one degree of freedom.
static snwRigPose UnitMotion(const snwRigWorld* world, int handle, int s)
{
    int d = world->dimension;
    snwRigPose motion = {.place = {s == 0, s == 1, s == 2 && d == 3}};
    if (s < d)
        return motion;
    s -= d;
    if (world->handles[handle].freedom == snw_rigAffine)
        motion.linear.m[s / d][s % d] = 1, motion.place = (snwVec3){0};
    else
    {
        snwVec3 axis = d == 2 ? (snwVec3){0, 0, 1} : (snwVec3){s == 0, s == 1, s == 2};
        motion = (snwRigPose){snwMat3_Mul(snwMat3_Skew(axis), world->pose[handle].linear), {0, 0, 0}};
    }
    return motion;
}

static void CheckMoments(snwRigWorld* world)
{
    snwRigWorld_RandomPose(world, 1);
    snwRigWorld_Shake(world, 0.3);
    snwRigLiteral l = snwRigLiteral_New(world, world->pose);
    double *forces = calloc((size_t)l.columns, sizeof(double)), worst = 0;
    snwRigFit_Gather(world->context, world->model, world->scratch, world->x);
    MomentForces(world, world->pose, world->pose, true, &l, forces);
    for (int s = 0; s < l.columns; ++s)
        worst = fmax(worst, fabs(forces[s] - l.c[s]) / sqrt(l.m[s * l.columns + s]));
    CHECK(worst < 1e-13);
    for (int k = 0; k < world->handleCount; ++k)
        for (int t = 0; t < l.starts[k + 1] - l.starts[k]; ++t)
        {
            snwRigPose motion[snw_mostHandles] = {0};
            motion[k] = UnitMotion(world, k, t);
            MomentForces(world, world->pose, motion, false, &l, forces);
            int column = l.starts[k] + t;
            for (int s = 0; s < l.columns; ++s)
                CHECK_NEAR(-forces[s], l.m[s * l.columns + column],
                    1e-13 * sqrt(l.m[s * l.columns + s] * l.m[column * l.columns + column]));
        }
    free(forces);
    snwRigLiteral_Free(&l);
}

TEST(rigfit, matrixAndRightSideAreThoseOfLiteralSums)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int variant = 0; variant < 4; ++variant)
    {
        snwRigWorld* world = snwRigWorld_New(context, 2 + variant % 2, 150, 6);
        if (variant >= 2)
            snwRigWorld_MixFreedoms(world);
        snwRigWorld_Finish(world);
        CheckMoments(world);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// J of the oracle itself, by differences of skinning.
TEST(rigfit, literalJacobianIsTheSlopeOfSkinning)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_New(context, dimension, 20, 4);
        snwRigWorld_MixFreedoms(world);
        snwRigWorld_Finish(world);
        snwRigWorld_RandomPose(world, 1);
        snwRigLiteral l = snwRigLiteral_New(world, world->pose);
        for (int k = 0; k < 4; ++k)
            for (int s = 0; s < l.starts[k + 1] - l.starts[k]; ++s)
            {
                double e = 1e-5;
                snwRigPose motion = UnitMotion(world, k, s), poses[2][snw_mostHandles];
                for (int side = 0; side < 2; ++side)
                {
                    double step = side == 0 ? -e : e;
                    memcpy(poses[side], world->pose, sizeof world->pose);
                    poses[side][k].place = snwVec3_MulAdd(world->pose[k].place, step, motion.place);
                    poses[side][k].linear = snwMat3_Add(world->pose[k].linear, snwMat3_Scale(motion.linear, step));
                }
                for (int i = 0; i < world->vertexCount; ++i)
                {
                    snwVec3 slope = snwVec3_Sub(
                        snwRigWorld_Skinned(world, poses[1], i), snwRigWorld_Skinned(world, poses[0], i));
                    for (int d = 0; d < dimension; ++d)
                        CHECK_NEAR(
                            snwTest_Component(slope, d) / (2 * e), l.j[l.rows * (l.starts[k] + s) + 3 * i + d], 1e-9);
                }
            }
        snwRigLiteral_Free(&l);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Single steps

// Gauss with pivots on the rows and columns that are free; x is 0 elsewhere.
static void SolveFree(const snwRigLiteral* l, const bool* isFree, double share, const double* right, double* x)
{
    int n = l->columns, count = 0, *index = calloc((size_t)n, sizeof(int));
    double* a = calloc((size_t)n * (size_t)(n + 1), sizeof(double));
    for (int i = 0; i < n; ++i)
        if (isFree[i])
            index[count++] = i;
    for (int i = 0; i < count; ++i)
    {
        for (int j = 0; j < count; ++j)
            a[i * (n + 1) + j] = l->m[index[i] * n + index[j]] * (i == j ? 1 + share : 1);
        a[i * (n + 1) + n] = right[index[i]];
    }
    for (int i = 0; i < count; ++i)
    {
        int pivot = i;
        for (int r = i + 1; r < count; ++r)
            if (fabs(a[r * (n + 1) + i]) > fabs(a[pivot * (n + 1) + i]))
                pivot = r;
        for (int c = 0; c <= n; ++c)
        {
            double swap = a[i * (n + 1) + c];
            a[i * (n + 1) + c] = a[pivot * (n + 1) + c], a[pivot * (n + 1) + c] = swap;
        }
        for (int r = 0; r < count; ++r)
        {
            double f = r != i ? a[r * (n + 1) + i] / a[i * (n + 1) + i] : 0;
            for (int c = i; c <= n && f != 0; ++c)
                a[r * (n + 1) + c] -= f * a[i * (n + 1) + c];
        }
    }
    memset(x, 0, (size_t)n * sizeof *x);
    for (int i = 0; i < count; ++i)
        x[index[i]] = a[i * (n + 1) + n] / a[i * (n + 1) + i];
    free(a), free(index);
}

static bool IsFree(const snwRigWorld* world, int handle, int s)
{
    uint32_t given = world->targets[handle].given;
    uint32_t turns = world->dimension == 2 ? snw_dofRotationZ : snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
    return s < world->dimension ? (given >> s & 1) == 0 : (given & turns) == 0;
}

static void MarkFree(const snwRigWorld* world, const snwRigLiteral* l, bool* isFree)
{
    for (int k = 0; k < world->handleCount; ++k)
        for (int s = 0; s < l->starts[k + 1] - l->starts[k]; ++s)
            isFree[l->starts[k] + s] = IsFree(world, k, s);
}

// Only places, as a whole or not at all, so that coordinates are eliminated together.
static void GiveWholePlaces(snwRigWorld* world)
{
    const uint32_t places = snw_dofX | snw_dofY | snw_dofZ;
    for (int k = 0; k < world->handleCount; ++k)
        world->targets[k].given = (world->targets[k].given & places) == places ? places : 0;
}

// Given ones set, then one step of Gauss and Newton on the rest, as the paper writes it.
static void CheckStep(snwRigWorld* world, bool whole)
{
    snwRigWorld_RandomPose(world, 0.5);
    snwRigWorld_SkinTo(world, world->x);
    snwRigWorld_Shake(world, 0.01);
    snwRigWorld_GiveSome(world);
    if (whole)
        GiveWholePlaces(world);
    snwRigPose before[snw_mostHandles];
    memcpy(before, world->pose, sizeof before);
    for (int k = 0; k < world->handleCount; ++k)
    {
        const snwRigTarget* target = &world->targets[k];
        if ((target->given & snw_dofX) != 0)
            before[k].place.x = target->place.x;
        if ((target->given & snw_dofY) != 0)
            before[k].place.y = target->place.y;
        if ((target->given & snw_dofZ) != 0)
            before[k].place.z = target->place.z;
        if ((target->given & snw_dofRotationZ) != 0)
            before[k].linear = snwQuat_ToMat3(target->rotation);
    }
    snwRigLiteral l = snwRigLiteral_New(world, before);
    bool* isFree = calloc((size_t)l.columns, 1);
    double* step = calloc((size_t)l.columns, sizeof(double));
    MarkFree(world, &l, isFree);
    SolveFree(&l, isFree, 1e-8, l.c, step);
    CHECK(snwRigWorld_Fit(world).largest < 0.2); // else it would be several steps
    for (int k = 0; k < world->handleCount; ++k)
    {
        int d = world->dimension, count = l.starts[k + 1] - l.starts[k];
        const double* own = step + l.starts[k];
        for (int s = 0; s < d; ++s)
            CHECK_NEAR(
                snwTest_Component(world->pose[k].place, s), snwTest_Component(before[k].place, s) + own[s], 1e-9);
        snwMat3 linear = before[k].linear;
        if (world->handles[k].freedom == snw_rigAffine)
            for (int s = d; s < count; ++s)
                linear.m[(s - d) / d][(s - d) % d] += own[s];
        else if (count > d)
        {
            snwVec3 turn = d == 2 ? (snwVec3){0, 0, own[2]} : (snwVec3){own[3], own[4], own[5]};
            linear = snwMat3_Mul(snwQuat_ToMat3(snwQuat_FromRotationVector(turn)), linear);
        }
        CHECK(snwMat3_LargestEntry(snwMat3_Sub(linear, world->pose[k].linear)) < 1e-8);
    }
    free(step), free(isFree);
    snwRigLiteral_Free(&l);
}

TEST(rigfit, aStepIsThatOfTheLiteralSystem)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int variant = 0; variant < 4; ++variant)
    {
        snwRigWorld* world = snwRigWorld_New(context, 2 + variant % 2, 200, 6);
        if (variant >= 2)
            snwRigWorld_MixFreedoms(world);
        snwRigWorld_Finish(world);
        for (int trial = 0; trial < 6; ++trial)
        {
            CheckStep(world, trial >= 3);
            CHECK((world->scratch->fit->groupCount == 1) == (trial >= 3));
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

TEST(rigfit, givenDegreesOfFreedomAreExact)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_Simple(context, dimension, 100, 6);
        for (int trial = 0; trial < 20; ++trial)
        {
            snwRigWorld_GiveSome(world);
            world->targets[trial % 6].given = snw_dofAll;
            snwRigWorld_Shake(world, 0.02);
            snwRigWorld_Fit(world);
            for (int k = 0; k < 6; ++k)
            {
                const snwRigTarget* target = &world->targets[k];
                for (int d = 0; d < dimension; ++d)
                    if ((target->given >> d & 1) != 0)
                        CHECK(snwTest_Component(world->pose[k].place, d) == snwTest_Component(target->place, d));
                snwMat3 turn = snwQuat_ToMat3(target->rotation);
                if ((target->given & snw_dofRotationZ) != 0)
                    CHECK(snwMat3_LargestEntry(snwMat3_Sub(world->pose[k].linear, turn)) < 1e-15);
            }
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// Exact in floats: a quarter turn and a shift of points on a grid.
TEST(rigfit, fitOfARigidlyMovedShapeIsThatMotion)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_New(context, dimension, 200, 5);
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3* p = &world->rest[i];
            *p = (snwVec3){rint(p->x * 1024) / 1024, rint(p->y * 1024) / 1024, rint(p->z * 1024) / 1024};
        }
        snwRigWorld_Finish(world);
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3 p = world->rest[i];
            world->x[4 * i] = (float)(2 - p.y), world->x[4 * i + 1] = (float)(p.x - 1),
                         world->x[4 * i + 2] = (float)p.z;
        }
        snwMat3 quarter = {{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
        for (int step = 0; step < 12; ++step)
            snwRigWorld_Fit(world);
        for (int k = 0; k < 5; ++k)
        {
            snwVec3 origin = world->handles[k].origin, place = {2 - origin.y, origin.x - 1, origin.z};
            CHECK(snwMat3_LargestEntry(snwMat3_Sub(world->pose[k].linear, quarter)) < 1e-12);
            CHECK(snwVec3_Distance(world->pose[k].place, place) < 1e-12);
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

TEST(rigfit, affineHandlesReproduceAffineMaps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_New(context, dimension, 200, 4);
        for (int k = 0; k < 4; ++k)
            world->handles[k].freedom = snw_rigAffine;
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3* p = &world->rest[i];
            *p = (snwVec3){rint(p->x * 1024) / 1024, rint(p->y * 1024) / 1024, rint(p->z * 1024) / 1024};
        }
        snwRigWorld_Finish(world);
        snwMat3 map = {{{1.5, 0.25, 0}, {-0.5, 0.75, 0}, {0, 0, 1}}};
        if (dimension == 3)
            map.m[2][0] = 0.5, map.m[1][2] = -0.25, map.m[2][2] = 2;
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3 p = snwMat3_MulVec(map, world->rest[i]);
            world->x[4 * i] = (float)p.x, world->x[4 * i + 1] = (float)p.y, world->x[4 * i + 2] = (float)p.z;
        }
        for (int step = 0; step < 3; ++step)
            snwRigWorld_Fit(world);
        for (int k = 0; k < 4; ++k)
        {
            CHECK(snwMat3_LargestEntry(snwMat3_Sub(world->pose[k].linear, map)) < 1e-11);
            snwVec3 place = snwMat3_MulVec(map, world->handles[k].origin);
            CHECK(snwVec3_Distance(world->pose[k].place, place) < 1e-11);
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The complement

// One constraint after the other (XPBD, Eq. 6 and 7 of the paper) until nothing moves: every C_s to `wanted`.
static void Sweep(const snwRigWorld* world, const snwRigLiteral* l, const double* wanted, double compliance, double* dx)
{
    double *lambda = calloc((size_t)l->columns, sizeof(double)), *r = calloc((size_t)l->rows, sizeof(double));
    memcpy(r, l->residual, (size_t)l->rows * sizeof *r);
    for (int sweep = 0; sweep < 3000; ++sweep)
        for (int s = 0; s < l->columns; ++s)
        {
            const double* column = l->j + (size_t)l->rows * (size_t)s;
            double own = l->m[s * l->columns + s], c = snwRigWorld_MassDot(world, column, r) - wanted[s];
            double change = (-c - compliance * own * lambda[s]) / (own + compliance * own);
            lambda[s] += change;
            for (int i = 0; i < l->rows; ++i)
                r[i] += change * column[i];
        }
    for (int i = 0; i < l->rows; ++i)
        dx[i] = r[i] - l->residual[i];
    free(lambda), free(r);
}

static double LargestOf(const double* a, const double* b, int count)
{
    double largest = 0;
    for (int i = 0; i < count; ++i)
        largest = fmax(largest, fabs(a[i] - (b != NULL ? b[i] : 0)));
    return largest;
}

static void CheckOneShot(snwRigWorld* world, double compliance, int fits)
{
    snwRigWorld_RandomPose(world, 0.2);
    snwRigWorld_SkinTo(world, world->x);
    snwRigWorld_Shake(world, 0.02);
    snwRigWorld_GiveSome(world);
    world->hold.compliance = compliance;
    for (int i = 0; i < fits; ++i)
        snwRigWorld_Fit(world);
    CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
    snwRigLiteral l = snwRigLiteral_New(world, world->pose);
    size_t n = (size_t)l.columns;
    bool* isFree = calloc(n, 1);
    double *rest = calloc(n, sizeof(double)), *wanted = calloc(n, sizeof(double));
    double *swept = calloc((size_t)l.rows, sizeof(double)), *answer = calloc((size_t)l.rows, sizeof(double));
    MarkFree(world, &l, isFree);
    SolveFree(&l, isFree, 1e-8, l.c, rest);
    for (int s = 0; s < l.columns; ++s) // the lag of the fit stays
        for (int t = 0; t < l.columns; ++t)
            wanted[s] += l.m[s * l.columns + t] * rest[t];
    for (int s = 0; s < l.columns; ++s)
        wanted[s] = isFree[s] ? l.c[s] : wanted[s];
    Sweep(world, &l, wanted, compliance, swept);
    snwRigWorld_AnswerOf(world, &l, answer);
    CHECK(LargestOf(swept, NULL, l.rows) > 1e-3);
    CHECK(LargestOf(swept, answer, l.rows) < 1e-8 * LargestOf(swept, NULL, l.rows));
    if (fits > 10) // then there is no lag: what is given alone
        CHECK(LargestOf(rest, NULL, l.columns) < 1e-6);
    free(isFree), free(rest), free(wanted), free(swept), free(answer);
    snwRigLiteral_Free(&l);
}

TEST_HEAVY(rigfit, oneShotIsManySequentialSweeps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_New(context, dimension, 30, 3);
        world->handles[2].freedom = snw_rigMoving;
        snwRigWorld_Finish(world);
        CheckOneShot(world, 0, 1);
        CheckOneShot(world, 0.3, 1);
        CheckOneShot(world, 0, 20);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

TEST(rigfit, nothingGivenMovesNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_Simple(context, dimension, 101, 5);
        size_t bytes = 4 * (size_t)world->vertexCount * sizeof(float);
        float* before = malloc(bytes);
        snwRigWorld_Shake(world, 0.05);
        memcpy(before, world->x, bytes);
        snwRigWorld_Fit(world);
        CHECK(!snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
        snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, world->rigged);
        CHECK(memcmp(before, world->x, bytes) == 0);
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3 p = snwRigWorld_Skinned(world, world->pose, i);
            for (int d = 0; d < dimension; ++d)
                CHECK_NEAR(world->rigged[4 * i + d], snwTest_Component(p, d), 3e-7);
        }
        free(before);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// Vertices get what the answer says, once each, and nothing else of them changes.
TEST(rigfit, applyAddsTheAnswer)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int variant = 0; variant < 3; ++variant)
    {
        snwRigWorld* world = snwRigWorld_New(context, variant == 2 ? 3 : 2, 101, 5);
        world->handles[1].freedom = variant == 1 ? snw_rigAffine : snw_rigRigid;
        snwRigWorld_Finish(world);
        snwRigWorld_Shake(world, 0.02);
        snwRigWorld_GiveSome(world);
        snwRigWorld_Fit(world);
        CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
        snwRigLiteral l = snwRigLiteral_New(world, world->pose);
        double* answer = calloc((size_t)l.rows, sizeof(double));
        float* before = malloc(4 * (size_t)world->vertexCount * sizeof(float));
        memcpy(before, world->x, 4 * (size_t)world->vertexCount * sizeof(float));
        snwRigWorld_AnswerOf(world, &l, answer);
        snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, NULL);
        for (int i = 0; i < world->vertexCount; ++i)
            for (int d = 0; d < 4; ++d)
            {
                double expected = (double)before[4 * i + d] + (d < 3 ? answer[3 * i + d] : 0);
                CHECK_NEAR(world->x[4 * i + d], expected, d < world->dimension ? 3e-7 : 0);
            }
        free(answer), free(before);
        snwRigLiteral_Free(&l);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// However badly the rig is built and however far the fit lags behind, the flesh never moves farther than it was from
// the rig, in the metric of mass.
TEST(rigfit, answersAreNoLargerThanTheDistance)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_New(context, dimension, 100, 6);
        for (int i = 0; i < world->vertexCount; ++i) // handle 3 is almost handle 2, handle 5 has nothing
        {
            double* w = world->dense + 6 * i;
            w[3] = w[2] * (1 + 1e-4 * snwTest_Signed(&world->seed)), w[4] += w[5] + 0.01, w[5] = 0;
        }
        snwRigWorld_Finish(world);
        for (int trial = 0; trial < 20; ++trial)
        {
            snwRigWorld_Shake(world, 0.05);
            world->targets[2].given = trial % 2 == 0 ? snw_dofAll : snw_dofX;
            world->targets[2].place = snwVec3_MulAdd(world->pose[2].place, 0.2, snwRigWorld_RandomVector(world));
            world->targets[2].rotation = snwRigWorld_RandomTurn(world, 3);
            snwRigWorld_Fit(world);
            snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose);
            snwRigLiteral l = snwRigLiteral_New(world, world->pose);
            double* answer = calloc((size_t)l.rows, sizeof(double));
            snwRigWorld_AnswerOf(world, &l, answer);
            double moved = snwRigWorld_MassDot(world, answer, answer);
            CHECK(moved <= 1.0001 * snwRigWorld_MassDot(world, l.residual, l.residual));
            free(answer);
            snwRigLiteral_Free(&l);
            snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, NULL);
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}
