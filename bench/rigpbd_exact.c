// What the rig computes from constant moments, held against literal sums over all vertices, with the weights and masses
// of real characters.
//
// moment_err: J^T M J in a random pose, the largest entry's error over the roots of its diagonal entries.
// oneshot_err: flesh is bent, two handles are given, the fit is repeated until it stands still; then the complementary
// step at once against the paper's way, one constraint after the other (Eq. 6), swept until nothing moves.

#include "rigpbd_bench.h"

#include "base/result.h"
#include "math/rows.h"
#include "rig/moments.h"
#include "rig/rig_fit_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_fitRounds = 400,
    snw_mostSweeps = 40000
};

typedef struct Exact
{
    snwContext* context;
    snwArena arena;
    const snwCharacter* character;
    snwWeights* weights;
    int dimension, handles, vertices;
    snwVec3* origins;
    snwRigPose* pose;
    snwRigTarget* targets;
    float* x; // rows
    // Columns of J by handle, coordinate: moves, then turns; three numbers per vertex
    double* columns;
    int perHandle, columnCount;
} Exact;

static double Wave(int i)
{
    return sin(12.9898 * i + 0.7);
}

static snwResult MakeExact(Exact* e, const snwRigStage* stage, snwMessage* message)
{
    snwWeightsDef wanted = snwDefaultWeightsDef();
    e->context = e->arena.context = stage->context;
    e->character = stage->character;
    wanted.handles = stage->character->def.handleCount > 0;
    snwResult result = snwComputeWeights(stage->character, &wanted, &e->weights, message);
    if (result < 0)
        return result;
    e->dimension = stage->character->def.triangleCount > 0 ? 2 : 3;
    e->handles = e->weights->handleCount;
    e->vertices = stage->character->def.vertexCount;
    e->perHandle = e->dimension == 2 ? 3 : 6;
    e->columnCount = e->perHandle * e->handles;
    size_t handles = (size_t)e->handles, vertices = (size_t)e->vertices;
    e->origins = snwArena_Alloc(&e->arena, handles, sizeof *e->origins);
    e->pose = snwArena_Alloc(&e->arena, handles, sizeof *e->pose);
    e->targets = snwArena_Alloc(&e->arena, handles, sizeof *e->targets);
    e->x = snwArena_Alloc(&e->arena, vertices + 8, 4 * sizeof *e->x);
    e->columns = snwArena_Alloc(&e->arena, (size_t)e->columnCount * vertices, 3 * sizeof *e->columns);
    for (int k = 0; k < e->handles && !e->arena.failed; ++k)
        e->origins[k] = snwRigStage_HandleRest(stage, k);
    return e->arena.failed ? snwFailMemory(message) : snw_ok;
}

static void FreeExact(Exact* e)
{
    if (e->context == NULL)
        return;
    snwFree(e->context, e->weights);
    snwArena_Free(&e->arena);
}

// ---------------------------------------------------------------------------------------------------------------------
// Literally

// The motion of handle k's own frame per unit of its s-th degree of freedom, at an arm that is turned already.
static snwVec3 Slope(const Exact* e, int s, snwVec3 arm)
{
    snwVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (s < e->dimension)
        return axes[s];
    return snwVec3_Cross(axes[e->dimension == 2 ? 2 : s - 3], arm);
}

static void MakeColumns(Exact* e)
{
    const snwWeights* w = e->weights;
    size_t rows = 3 * (size_t)e->vertices;
    memset(e->columns, 0, rows * (size_t)e->columnCount * sizeof *e->columns);
    for (int i = 0; i < e->vertices; ++i)
        for (int entry = w->starts[i]; entry < w->starts[i + 1]; ++entry)
            for (int s = 0; s < e->perHandle; ++s)
            {
                int k = w->handles[entry];
                snwVec3 arm = snwVec3_Sub(e->character->def.vertices[i], e->origins[k]);
                snwVec3 slope = Slope(e, s, snwMat3_MulVec(e->pose[k].linear, arm));
                double* to = e->columns + (size_t)(k * e->perHandle + s) * rows + 3 * (size_t)i;
                to[0] = w->values[entry] * slope.x;
                to[1] = w->values[entry] * slope.y;
                to[2] = w->values[entry] * slope.z;
            }
}

static double MassDot(const Exact* e, const double* a, const double* b)
{
    double sum = 0;
    for (int i = 0; i < e->vertices; ++i)
        sum += e->character->masses[i] *
               (a[3 * i] * b[3 * i] + a[3 * i + 1] * b[3 * i + 1] + a[3 * i + 2] * b[3 * i + 2]);
    return sum;
}

static const double* Column(const Exact* e, int s)
{
    return e->columns + (size_t)s * 3 * (size_t)e->vertices;
}

// ---------------------------------------------------------------------------------------------------------------------
// Moments

// Where degree of freedom s of snwMoments_RigMatrix (six per handle) is among the columns; -1: not in the plane.
static int ColumnOf(const Exact* e, int s)
{
    int own = s % 6;
    if (e->dimension == 3)
        return s;
    return own < 2 ? s / 6 * 3 + own : own == 5 ? s / 6 * 3 + 2 : -1;
}

static double WorstEntry(const Exact* e, const double* matrix)
{
    int n = 6 * e->handles;
    double worst = 0;
    for (int s = 0; s < n; ++s)
        for (int t = 0; t <= s; ++t)
        {
            int a = ColumnOf(e, s), b = ColumnOf(e, t);
            if (a < 0 || b < 0)
                continue;
            double literal = MassDot(e, Column(e, a), Column(e, b));
            double scale = sqrt(matrix[s * n + s] * matrix[t * n + t]);
            worst = fmax(worst, scale > 0 ? fabs(literal - matrix[s * n + t]) / scale : 0);
        }
    return worst;
}

static snwResult MomentError(Exact* e, double* error, snwMessage* message)
{
    snwMoments moments = {0};
    snwMomentsDef def = {.vertexCount = e->vertices,
        .rest = e->character->def.vertices,
        .masses = e->character->masses,
        .weights = e->weights,
        .origins = e->origins};
    size_t n = 6 * (size_t)e->handles;
    snwResult result = snwMoments_Create(e->context, &def, &moments, message);
    if (result < 0)
        return result;
    snwMat3* rotations = snwArena_Alloc(&e->arena, (size_t)e->handles, sizeof *rotations);
    double* matrix = snwArena_Alloc(&e->arena, n * n, sizeof *matrix);
    for (int k = 0; k < e->handles && !e->arena.failed; ++k)
    {
        snwVec3 turn = {0, 0, 2 * Wave(3 * k)};
        if (e->dimension == 3)
            turn.x = 2 * Wave(3 * k + 1), turn.y = 2 * Wave(3 * k + 2);
        rotations[k] = e->pose[k].linear = snwQuat_ToMat3(snwQuat_FromRotationVector(turn));
    }
    if (!e->arena.failed)
    {
        MakeColumns(e);
        snwMoments_RigMatrix(&moments, rotations, matrix);
        *error = WorstEntry(e, matrix);
    }
    snwMoments_Free(e->context, &moments);
    return e->arena.failed ? snwFailMemory(message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// One shot

static snwResult CreateFit(const Exact* e, snwRigFit** fit, snwMessage* message)
{
    snwRigHandleDef* handles = snwAllocArray(e->context, (size_t)e->handles, sizeof *handles);
    if (handles == NULL)
        return snwFailMemory(message);
    for (int k = 0; k < e->handles; ++k)
        handles[k] = (snwRigHandleDef){e->origins[k], snw_rigRigid};
    snwRigFitDef def = {.dimension = e->dimension,
        .vertexCount = e->vertices,
        .rest = e->character->def.vertices,
        .masses = e->character->masses,
        .weights = e->weights,
        .handles = handles};
    snwResult result = snwRigFit_Create(e->context, &def, fit, message);
    snwFree(e->context, handles);
    return result;
}

// Bent and rough flesh; the first handle is held, of the last one a coordinate and the turn.
static void Bend(Exact* e, double size)
{
    snwVec3 first = e->origins[0];
    for (int i = 0; i < e->vertices; ++i)
    {
        snwVec3 p = e->character->def.vertices[i];
        double along = snwVec3_Distance(p, first);
        p.y += 0.1 * along * along / size + 0.003 * size * Wave(i);
        p.x += 0.003 * size * Wave(7 * i);
        snwRow_Set(e->x, i, p);
    }
    e->targets[0].given = snw_dofX | snw_dofY;
    e->targets[0].place.y += 0.1 * size;
    // In space a part of a rotation vector is no single degree of freedom of J: the whole turn then.
    e->targets[e->handles - 1].given = snw_dofX | snw_dofRotationZ;
    if (e->dimension == 3)
        e->targets[e->handles - 1].given |= snw_dofRotationX | snw_dofRotationY;
    e->targets[e->handles - 1].rotation = snwQuat_FromRotationVector((snwVec3){0, 0, 0.2});
}

static bool IsGiven(const Exact* e, int s)
{
    static const uint32_t flat[3] = {snw_dofX, snw_dofY, snw_dofRotationZ};
    uint32_t bit = e->dimension == 2 ? flat[s % 3] : 1u << s % 6;
    return (e->targets[s / e->perHandle].given & bit) != 0;
}

// x less what is skinned.
static void Residual(const Exact* e, double* r)
{
    const snwWeights* w = e->weights;
    for (int i = 0; i < e->vertices; ++i)
    {
        snwVec3 x = snwRow_Get(e->x, i);
        for (int entry = w->starts[i]; entry < w->starts[i + 1]; ++entry)
        {
            int k = w->handles[entry];
            snwVec3 arm = snwVec3_Sub(e->character->def.vertices[i], e->origins[k]);
            snwVec3 place = snwVec3_Add(snwMat3_MulVec(e->pose[k].linear, arm), e->pose[k].place);
            x = snwVec3_MulAdd(x, -w->values[entry], place);
        }
        r[3 * i] = x.x, r[3 * i + 1] = x.y, r[3 * i + 2] = e->dimension == 2 ? 0 : x.z;
    }
}

// moves: what the flesh moves by until C is 0 where it is given and as it was elsewhere.
static void Sweep(const Exact* e, double* moves, double* r, double* wanted)
{
    size_t rows = 3 * (size_t)e->vertices;
    Residual(e, r);
    for (int s = 0; s < e->columnCount; ++s)
        wanted[s] = IsGiven(e, s) ? 0 : MassDot(e, Column(e, s), r);
    memset(moves, 0, rows * sizeof *moves);
    double largest = 1, first = 0;
    for (int sweep = 0; sweep < snw_mostSweeps && largest > 1e-15 * first; ++sweep)
    {
        largest = 0;
        for (int s = 0; s < e->columnCount; ++s)
        {
            const double* column = Column(e, s);
            double own = MassDot(e, column, column), change = (wanted[s] - MassDot(e, column, r)) / own;
            largest = fmax(largest, fabs(change) * sqrt(own));
            for (size_t i = 0; i < rows; ++i)
                r[i] += change * column[i], moves[i] += change * column[i];
        }
        first = fmax(first, largest);
    }
}

// The same at once.
static void AddAnswer(const Exact* e, const snwRigPose* answer, double* moves)
{
    const snwWeights* w = e->weights;
    for (int i = 0; i < e->vertices; ++i)
        for (int entry = w->starts[i]; entry < w->starts[i + 1]; ++entry)
        {
            int k = w->handles[entry];
            snwVec3 arm = snwVec3_Sub(e->character->def.vertices[i], e->origins[k]);
            snwVec3 move = snwVec3_Add(snwMat3_MulVec(answer[k].linear, arm), answer[k].place);
            moves[3 * i] -= w->values[entry] * move.x;
            moves[3 * i + 1] -= w->values[entry] * move.y;
            moves[3 * i + 2] -= e->dimension == 2 ? 0 : w->values[entry] * move.z;
        }
}

static double Largest(const double* values, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; ++i)
        largest = fmax(largest, fabs(values[i]));
    return largest;
}

static double CompareWays(Exact* e, const snwRigFit* fit, snwRigFitScratch* scratch, double size)
{
    size_t rows = 3 * (size_t)e->vertices;
    double* moves = snwArena_Alloc(&e->arena, 2 * rows + (size_t)e->columnCount, sizeof *moves);
    snwRigHold hold = {.targets = e->targets};
    snwRigFit_Rest(fit, e->pose, e->targets, NULL);
    if (moves == NULL)
        return NAN;
    Bend(e, size);
    snwRigFit_Gather(e->context, fit, scratch, e->x);
    for (int i = 0; i < snw_fitRounds; ++i)
        snwRigFit_Solve(fit, scratch, &hold, e->pose);
    snwRigFit_Complement(fit, scratch, &hold, e->pose);
    MakeColumns(e);
    Sweep(e, moves, moves + rows, moves + 2 * rows);
    double largest = Largest(moves, rows);
    AddAnswer(e, scratch->answer, moves);
    return Largest(moves, rows) / largest;
}

static snwResult OneShotError(Exact* e, double size, double* error, snwMessage* message)
{
    snwRigFit* fit = NULL;
    snwRigFitScratch* scratch = NULL;
    snwResult result = CreateFit(e, &fit, message);
    if (result >= 0)
        result = snwRigFitScratch_Create(e->context, fit, &scratch, message);
    if (result >= 0)
        *error = CompareWays(e, fit, scratch, size);
    if (scratch != NULL)
        snwRigFitScratch_Destroy(e->context, scratch);
    if (fit != NULL)
        snwRigFit_Destroy(e->context, fit);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

static void AddRow(snwBenchRows* rows, const char* character, const char* metric, double value, double target)
{
    snwBenchRow row = snwMakeBenchRow(character, "rigpbd", metric);
    row.value = value;
    row.n = 1;
    row.target = target;
    row.op = "<=";
    snwBenchRows_Add(rows, &row);
}

static void AddCase(snwBenchRows* rows, const char* character)
{
    snwRigStage stage;
    snwRigStageDef def = {.character = character};
    Exact e = {0};
    double moment = NAN, oneShot = NAN;
    rows->result = snwRigStage_Open(&stage, &def, rows->message);
    if (rows->result < 0)
        return;
    rows->result = MakeExact(&e, &stage, rows->message);
    if (rows->result >= 0)
        rows->result = MomentError(&e, &moment, rows->message);
    if (rows->result >= 0)
        rows->result = OneShotError(&e, stage.size, &oneShot, rows->message);
    if (rows->result >= 0)
    {
        AddRow(rows, character, "moment_err", moment, 1e-10);
        AddRow(rows, character, "oneshot_err", oneShot, 1e-8);
    }
    FreeExact(&e);
    snwRigStage_Close(&stage);
}

void snwAddRigpbdExact(snwBenchRows* rows)
{
    static const char* const characters[] = {"worm", "starfish", "manikin"};
    for (size_t i = 0; i < sizeof characters / sizeof *characters && rows->result >= 0; ++i)
        AddCase(rows, characters[i]);
}
