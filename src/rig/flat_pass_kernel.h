// The kernels of flat_pass.h, for the lanes of math/simd.h. Included by rig_pass_kernel.h.

// The rows of a group: those of the flesh, or a copy if the group is not full. Returns the rows to work on.
static inline float* TakeRows(const snwFlatPass* pass, const snwFlatGroup* group, float* rows, float* copy)
{
    float* own = rows + 4 * (size_t)group->vertex;
    int left = pass->vertexCount - group->vertex;
    if (left >= SNW_FLAT_GROUP)
        return own;
    memset(copy, 0, 4 * SNW_FLAT_GROUP * sizeof *copy);
    memcpy(copy, own, 4 * (size_t)left * sizeof *copy);
    return copy;
}

static inline void PutRows(const snwFlatPass* pass, const snwFlatGroup* group, float* rows, const float* copy)
{
    int left = pass->vertexCount - group->vertex;
    if (left < SNW_FLAT_GROUP)
        memcpy(rows + 4 * (size_t)group->vertex, copy, 4 * (size_t)left * sizeof *copy);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums of places

// x, y, p x x and p . x of a group's vertices.
typedef struct FlatValues
{
    _Alignas(64) double numbers[SNW_FLAT_NUMBERS][SNW_FLAT_GROUP];
} FlatValues;

// Not part of the loops that read what it writes: there the compiler would keep a second copy of it.
static __attribute__((noinline)) void PutFlatValues(
    const double (*position)[SNW_FLAT_GROUP], const float* rows, FlatValues* out)
{
    _Alignas(32) float places[2][SNW_FLAT_GROUP];
    for (int lane = 0; lane < SNW_FLAT_GROUP; lane += SNW_WIDE_LANES)
    {
        snwWide x, y, z, w;
        snwWide_LoadNext4(rows + 4 * (lane / 8 * 8), lane % 8, &x, &y, &z, &w);
        snwWide_Store(places[0] + lane, x);
        snwWide_Store(places[1] + lane, y);
    }
    for (int lane = 0; lane < SNW_FLAT_GROUP; lane += s_lanes)
    {
        snwWideDouble x = snwWideDouble_FromFloats(places[0] + lane), y = snwWideDouble_FromFloats(places[1] + lane);
        snwWideDouble p = Load(position[0] + lane), q = Load(position[1] + lane);
        Store(out->numbers[0] + lane, x);
        Store(out->numbers[1] + lane, y);
        Store(out->numbers[2] + lane, p * y - q * x);
        Store(out->numbers[3] + lane, p * x + q * y);
    }
}

// Four lanes of a sum, however many a vector has; then these.
static inline __attribute__((always_inline)) void SumHandle(
    const snwFlatPass* pass, int at, int numbers, const FlatValues* values, double* out)
{
    double* to = out + (size_t)SNW_FLAT_NUMBERS * (size_t)pass->handles[at];
    for (int c = 0; c < numbers; ++c)
    {
        _Alignas(32) double lanes[4];
        for (int part = 0; part < 4; part += s_lanes)
        {
            snwWideDouble sum = {0};
            for (int lane = part; lane < SNW_FLAT_GROUP; lane += 4)
                sum = sum + Load(pass->masses[at] + lane) * Load(values->numbers[c] + lane);
            Store(lanes + part, sum);
        }
        to[c] += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
}

static void GatherPlaces(const snwPassRange* range, const snwRigFlesh* flesh, double* sums)
{
    const snwFlatPass* pass = &range->pass->flat;
    for (int i = range->begin; i < range->end; ++i)
    {
        _Alignas(32) float copy[4 * SNW_FLAT_GROUP];
        FlatValues values;
        const snwFlatGroup* group = &pass->groups[i];
        int moving = group->first + group->turning;
        PutFlatValues(pass->positions[i], TakeRows(pass, group, flesh->rows, copy), &values);
        for (int k = group->first; k < moving; ++k)
            SumHandle(pass, k, 4, &values, sums);
        for (int k = moving; k < moving + group->moving; ++k)
            SumHandle(pass, k, 2, &values, sums);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums of places and moves

enum
{
    s_eight = 8 / SNW_WIDE_LANES // vectors of eight lanes
};

// Of a group's vertices, about the first of them: m x, m y, m p x x and m p . x.
typedef struct PlaneValues
{
    _Alignas(64) float numbers[SNW_FLAT_NUMBERS][SNW_FLAT_GROUP];
    double x, y; // m: the first one
} PlaneValues;

static __attribute__((noinline)) void PutPlaneValues(const snwFlatGroup* group, const float* rows, PlaneValues* out)
{
    float x0 = rows[0] + rows[2], y0 = rows[1] + rows[3];
    out->x = x0, out->y = y0;
    for (int lane = 0; lane < SNW_FLAT_GROUP; lane += SNW_WIDE_LANES)
    {
        snwWide x, y, z, w, m = snwWide_Load(group->mass + lane);
        snwWide_LoadNext4(rows + 4 * (lane / 8 * 8), lane % 8, &x, &y, &z, &w);
        x = m * ((x - x0) + z), y = m * ((y - y0) + w);
        snwWide_Store(out->numbers[0] + lane, x);
        snwWide_Store(out->numbers[1] + lane, y);
        if (group->turning == 0)
            continue;
        snwWide p = snwWide_Load(group->position[0] + lane), q = snwWide_Load(group->position[1] + lane);
        snwWide_Store(out->numbers[2] + lane, p * y - q * x);
        snwWide_Store(out->numbers[3] + lane, p * x + q * y);
    }
}

// Two handles with two numbers each, or one with four; in the latter case the second handle is the first.
static inline __attribute__((always_inline)) snwRow SumWeights(
    const float* first, const float* second, int numbers, const PlaneValues* values)
{
    snwWide sums[4][s_eight];
    for (int c = 0; c < 4; ++c)
        for (int i = 0; i < s_eight; ++i)
            sums[c][i] = snwWide_Splat(0);
#pragma GCC unroll 4 // all eight would be loaded before anything is done
    for (int eight = 0; eight < SNW_FLAT_GROUP; eight += 8)
        for (int c = 0; c < 4; ++c)
            for (int i = 0; i < s_eight; ++i)
            {
                int lane = eight + i * SNW_WIDE_LANES;
                snwWide w = snwWide_Load((c < numbers ? first : second) + lane);
                sums[c][i] = sums[c][i] + w * snwWide_Load(values->numbers[c % numbers] + lane);
            }
    return snwWide_SumLanes(sums);
}

static inline void AddSums(const snwFlatPass* pass, int at, const PlaneValues* values, const float* row, double* sums)
{
    double* to = sums + (size_t)SNW_FLAT_NUMBERS * (size_t)pass->handles[at];
    const double(*anchor)[SNW_FLAT_NUMBERS] = pass->anchors[at];
    for (int c = 0; c < SNW_FLAT_NUMBERS; c += s_lanes)
    {
        snwWideDouble own = snwWideDouble_FromFloats(row + c);
        snwWideDouble whole = Load(anchor[0] + c) * values->x + Load(anchor[1] + c) * values->y;
        Store(to + c, Load(to + c) + (whole + own));
    }
}

static __attribute__((noinline)) void SumTurning(
    const snwFlatPass* pass, const snwFlatGroup* group, const PlaneValues* values, double* sums)
{
    for (int k = group->first; k < group->first + group->turning; ++k)
    {
        snwRow row = SumWeights(pass->weights[k], pass->weights[k], 4, values);
        AddSums(pass, k, values, (const float*)&row, sums);
    }
}

// Sums about the centre are not asked for: whatever comes in their place stays finite.
static __attribute__((noinline)) void SumMoving(
    const snwFlatPass* pass, const snwFlatGroup* group, const PlaneValues* values, double* sums)
{
    int begin = group->first + group->turning, end = begin + group->moving;
    for (int k = begin; k < end; k += 2)
    {
        int next = k + 1 < end ? k + 1 : k;
        snwRow row = SumWeights(pass->weights[k], pass->weights[next], 2, values);
        const snwRow rows[2] = {{row[0], row[1], 0, 0}, {row[2], row[3], 0, 0}};
        AddSums(pass, k, values, (const float*)&rows[0], sums);
        if (next > k)
            AddSums(pass, next, values, (const float*)&rows[1], sums);
    }
}

static void GatherPlane(const snwPassRange* range, const snwRigFlesh* flesh, double* sums)
{
    const snwFlatPass* pass = &range->pass->flat;
    for (int i = range->begin; i < range->end; ++i)
    {
        _Alignas(32) float copy[4 * SNW_FLAT_GROUP];
        PlaneValues values;
        const snwFlatGroup* group = &pass->groups[i];
        PutPlaneValues(group, TakeRows(pass, group, flesh->rows, copy), &values);
        if (group->turning > 0)
            SumTurning(pass, group, &values, sums);
        if (group->moving > 0)
            SumMoving(pass, group, &values, sums);
    }
}

static void GatherFlat(const snwPassRange* range, const snwRigFlesh* flesh, double* sums)
{
    if (flesh->plane)
        GatherPlane(range, flesh, sums);
    else
        GatherPlaces(range, flesh, sums);
}

// ---------------------------------------------------------------------------------------------------------------------
// Blending

// Adds maps (c, s, tx, ty), or only their last numbers, of some handles, on some vectors of a group.
static inline __attribute__((always_inline)) void AddMaps(const snwFlatPass* pass, int first, int count,
    const float* maps, int skip, int lane, int vectors, snwWide (*sums)[SNW_FLAT_NUMBERS])
{
    for (int k = first; k < first + count; ++k)
    {
        const float *map = maps + (size_t)SNW_FLAT_NUMBERS * (size_t)pass->handles[k],
                    *weights = pass->weights[k] + lane;
        for (int v = 0; v < vectors; ++v)
        {
            snwWide w = snwWide_Load(weights + v * SNW_WIDE_LANES);
            for (int c = skip; c < SNW_FLAT_NUMBERS; ++c)
                sums[v][c] = sums[v][c] + w * snwWide_Splat(map[c]);
        }
    }
}

typedef struct FlatPlace
{
    snwWide x, y;
} FlatPlace;

// turning: how many of the group's handles turn; the others' linear parts are left out.
static inline __attribute__((always_inline)) void BlendVectors(
    const snwFlatPass* pass, const snwFlatGroup* group, int turning, const float* maps, int lane, FlatPlace out[2])
{
    int all = group->turning + group->moving;
    snwWide sums[2][SNW_FLAT_NUMBERS];
    for (int v = 0; v < 2; ++v)
        for (int c = 0; c < SNW_FLAT_NUMBERS; ++c)
            sums[v][c] = snwWide_Splat(0);
    AddMaps(pass, group->first, turning, maps, 0, lane, 2, sums);
    AddMaps(pass, group->first + turning, all - turning, maps, 2, lane, 2, sums);
    for (int v = 0; v < 2; ++v)
    {
        int at = lane + v * SNW_WIDE_LANES;
        snwWide p = snwWide_Load(group->position[0] + at), q = snwWide_Load(group->position[1] + at);
        out[v].x = sums[v][0] * p - sums[v][1] * q + sums[v][2];
        out[v].y = sums[v][1] * p + sums[v][0] * q + sums[v][3];
    }
}

static inline void AddPlace(float* rows, int lane, bool plane, FlatPlace change)
{
    snwWide_AddNext2(rows + 4 * (lane / 8 * 8), lane % 8, plane, change.x, change.y);
}

static inline void ChangeTurning(const snwFlatPass* pass, const snwFlatGroup* group, const snwRigBlend* b, float* rows)
{
    for (int lane = 0; lane < SNW_FLAT_GROUP; lane += 2 * SNW_WIDE_LANES)
    {
        FlatPlace changes[2];
        BlendVectors(pass, group, group->turning, b->changes, lane, changes);
        AddPlace(rows, lane, b->flesh.plane, changes[0]);
        AddPlace(rows, lane + SNW_WIDE_LANES, b->flesh.plane, changes[1]);
    }
}

// Nothing turns: twice as many vectors fit into registers.
static inline void ChangeMoving(const snwFlatPass* pass, const snwFlatGroup* group, const snwRigBlend* b, float* rows)
{
    for (int lane = 0; lane < SNW_FLAT_GROUP; lane += 4 * SNW_WIDE_LANES)
    {
        snwWide sums[4][SNW_FLAT_NUMBERS];
        for (int v = 0; v < 4; ++v)
            sums[v][2] = sums[v][3] = snwWide_Splat(0);
        AddMaps(pass, group->first, group->moving, b->changes, 2, lane, 4, sums);
        for (int v = 0; v < 4; ++v)
            AddPlace(rows, lane + v * SNW_WIDE_LANES, b->flesh.plane, (FlatPlace){sums[v][2], sums[v][3]});
    }
}

static inline void ChangeGroup(const snwFlatPass* pass, const snwFlatGroup* group, const snwRigBlend* b)
{
    _Alignas(32) float copy[4 * SNW_FLAT_GROUP];
    float* rows = TakeRows(pass, group, b->flesh.rows, copy);
    if (group->turning > 0)
        ChangeTurning(pass, group, b, rows);
    else
        ChangeMoving(pass, group, b, rows);
    PutRows(pass, group, b->flesh.rows, copy);
}

static inline void ShowPlace(const snwFlatPass* pass, int first, FlatPlace place, const snwRigBlend* b)
{
    snwRow rows[SNW_WIDE_LANES];
    snwWide_ToRows(place.x + b->origin[0], place.y + b->origin[1], snwWide_Splat(b->origin[2]), snwWide_Splat(0), rows);
    for (int i = 0; i < SNW_WIDE_LANES; ++i)
    {
        int lane = first + i, vertex = lane / 8 * 8 + snwWide_NextRow(lane % 8);
        if (vertex < pass->vertexCount)
            *(snwRow*)(b->rigged + 4 * (size_t)vertex) = rows[i];
    }
}

static inline void ShowGroup(const snwFlatPass* pass, const snwFlatGroup* group, const snwRigBlend* b)
{
    for (int lane = 0; lane < SNW_FLAT_GROUP; lane += 2 * SNW_WIDE_LANES)
    {
        FlatPlace places[2];
        BlendVectors(pass, group, group->turning + group->moving, b->maps, lane, places);
        ShowPlace(pass, group->vertex + lane, places[0], b);
        ShowPlace(pass, group->vertex + lane + SNW_WIDE_LANES, places[1], b);
    }
}

static void BlendFlat(const snwPassRange* range, const snwRigBlend* b)
{
    const snwFlatPass* pass = &range->pass->flat;
    for (int i = range->begin; i < range->end && b->flesh.rows != NULL; ++i)
        ChangeGroup(pass, &pass->groups[i], b);
    for (int i = range->begin; i < range->end && b->rigged != NULL; ++i)
        ShowGroup(pass, &pass->groups[i], b);
}
