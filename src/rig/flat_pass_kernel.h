// The kernels of flat_pass.h, for the lanes of math/simd.h. Included by rig_pass_kernel.h.

// The rows of a group: those of the flesh, or a copy if there are fewer than lanes. Returns the rows to work on.
static inline float* TakeRows(const snwFlatPass* pass, const snwFlatGroup* group, float* rows, float* copy)
{
    float* own = rows + 4 * (size_t)group->vertex;
    int left = pass->vertexCount - group->vertex;
    if (left >= group->lanes)
        return own;
    memset(copy, 0, 4 * (size_t)group->lanes * sizeof *copy);
    memcpy(copy, own, 4 * (size_t)left * sizeof *copy);
    return copy;
}

static inline void PutRows(const snwFlatPass* pass, const snwFlatGroup* group, float* rows, const float* copy)
{
    int left = pass->vertexCount - group->vertex;
    if (left < group->lanes)
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
    const double (*position)[SNW_FLAT_GROUP], int lanes, const float* rows, FlatValues* out)
{
    _Alignas(32) float places[2][SNW_FLAT_GROUP];
    for (int lane = 0; lane < lanes; lane += SNW_WIDE_LANES)
    {
        snwWide x, y, z, w;
        snwWide_LoadNext4(rows + 4 * (lane & ~7), lane & 7, &x, &y, &z, &w);
        snwWide_Store(places[0] + lane, x);
        snwWide_Store(places[1] + lane, y);
    }

    // The four numbers that sums need of a place x, y: itself, and its products with the rest place p.
    for (int lane = 0; lane < lanes; lane += s_lanes)
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
    const snwFlatPass* pass, int at, int lanes, int numbers, const FlatValues* values, double* out)
{
    double* to = out + (size_t)SNW_FLAT_NUMBERS * (size_t)pass->handles[at];
    snwWideDouble sums[SNW_FLAT_NUMBERS][4 / s_lanes] = {0};
#pragma GCC unroll 1 // as below
    for (int lane = 0; lane < lanes; lane += 4)
        for (int i = 0; i < 4 / s_lanes; ++i)
            for (int c = 0; c < numbers; ++c)
            {
                int place = lane + i * s_lanes;
                sums[c][i] = sums[c][i] + Load(pass->masses[at] + place) * Load(values->numbers[c] + place);
            }
    for (int c = 0; c < numbers; ++c)
    {
        const double* parts = (const double*)sums[c];
        to[c] += (parts[0] + parts[1]) + (parts[2] + parts[3]);
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
        PutFlatValues(pass->positions[i], group->lanes, TakeRows(pass, group, flesh->rows, copy), &values);
        for (int k = group->first; k < group->first + group->count && group->turns; ++k)
            SumHandle(pass, k, group->lanes, 4, &values, sums);
        for (int k = group->first; k < group->first + group->count && !group->turns; ++k)
            SumHandle(pass, k, group->lanes, 2, &values, sums);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums of places and moves

enum
{
    s_eight = 8 / SNW_WIDE_LANES // vectors of eight lanes
};

// What is summed over a group's vertices, about the first of them: m x, m y, m p x x and m p . x.
typedef struct PlaneValues
{
    _Alignas(64) float numbers[SNW_FLAT_NUMBERS][SNW_FLAT_GROUP];
    double x, y; // m: the first one
} PlaneValues;

static __attribute__((noinline)) void PutPlaneValues(const snwFlatGroup* group, const float* rows, PlaneValues* out)
{
    float x0 = rows[0] + rows[2], y0 = rows[1] + rows[3];
    out->x = x0, out->y = y0;
    for (int lane = 0; lane < group->lanes; lane += SNW_WIDE_LANES)
    {
        snwWide x, y, m = snwWide_Load(group->mass + lane);
        snwWide_LoadNext2(rows + 4 * (lane & ~7), lane & 7, x0, y0, &x, &y);
        x = m * x, y = m * y;
        snwWide_Store(out->numbers[0] + lane, x);
        snwWide_Store(out->numbers[1] + lane, y);
        if (!group->turns)
            continue;
        snwWide p = snwWide_Load(group->position[0] + lane), q = snwWide_Load(group->position[1] + lane);
        snwWide_Store(out->numbers[2] + lane, p * y - q * x);
        snwWide_Store(out->numbers[3] + lane, p * x + q * y);
    }
}

// Rows of four sums: of a handle with four numbers, or of two handles with two each.
static inline __attribute__((always_inline)) void SumWeights(
    const float (*weights)[SNW_FLAT_GROUP], int lanes, int rows, int numbers, const PlaneValues* values, snwRow* out)
{
    // Each sum has one lane per vertex of eight; lanes are added up at the end, always in the same order.
    snwWide sums[3][4][s_eight];
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < 4; ++c)
            for (int i = 0; i < s_eight; ++i)
                sums[r][c][i] = snwWide_Splat(0);
#pragma GCC unroll 1 // else compilers do one sum after the other, and each waits for itself
    for (int lane = 0; lane < lanes; lane += 8)
        for (int i = 0; i < s_eight; ++i)
            for (int c = 0; c < 4; ++c)
            {
                int at = lane + i * SNW_WIDE_LANES;
                snwWide value = snwWide_Load(values->numbers[c % numbers] + at);
                for (int r = 0; r < rows; ++r)
                {
                    snwWide w = snwWide_Load(weights[r * (4 / numbers) + c / numbers] + at);
                    sums[r][c][i] = sums[r][c][i] + w * value;
                }
            }

    for (int r = 0; r < rows; ++r)
        out[r] = snwWide_SumLanes((const snwWide(*)[s_eight])sums[r]);
}

static inline void AddSums(const snwFlatPass* pass, int at, const PlaneValues* values, snwRow row, double* sums)
{
    double* to = sums + (size_t)SNW_FLAT_NUMBERS * (size_t)pass->handles[at];
    const double(*anchor)[SNW_FLAT_NUMBERS] = pass->anchors[at];
    for (int c = 0; c < SNW_FLAT_NUMBERS; c += s_lanes)
    {
        snwWideDouble own = snwWideDouble_FromFloats((const float*)&row + c);
        snwWideDouble whole = Load(anchor[0] + c) * values->x + Load(anchor[1] + c) * values->y;
        Store(to + c, Load(to + c) + (whole + own));
    }
}

// Some rows of a group's sums. Of handles that only move, sums about the centre are not asked for: whatever comes in
// their place stays finite.
static inline __attribute__((always_inline)) void AddRows(const snwFlatPass* pass, const snwFlatGroup* group, int first,
    int rows, int numbers, const PlaneValues* values, double* sums)
{
    snwRow sum[3];
    int handles = 4 / numbers, begin = group->first + first * handles, end = group->first + group->count;
    SumWeights((const float(*)[SNW_FLAT_GROUP])pass->weights + begin, group->lanes, rows, numbers, values, sum);
    for (int r = 0; r < rows; ++r, begin += handles)
    {
        if (numbers == 4)
            AddSums(pass, begin, values, sum[r], sums);
        else
            AddSums(pass, begin, values, (snwRow){sum[r][0], sum[r][1], 0, 0}, sums);
        if (numbers == 2 && begin + 1 < end)
            AddSums(pass, begin + 1, values, (snwRow){sum[r][2], sum[r][3], 0, 0}, sums);
    }
}

// Two rows at a time, at the end three: a row alone would wait for its own sums. (Registers of four lanes hold no more
// than one.)
static inline __attribute__((always_inline)) void SumGroup(
    const snwFlatPass* pass, const snwFlatGroup* group, int numbers, const PlaneValues* values, double* sums)
{
    int rows = (group->count * numbers + 3) / 4, r = 0;
    for (; rows - r > 3 && SNW_WIDE_LANES == 8; r += 2)
        AddRows(pass, group, r, 2, numbers, values, sums);
    if (rows - r == 3 && SNW_WIDE_LANES == 8)
        AddRows(pass, group, r, 3, numbers, values, sums);
    else if (rows - r == 2 && SNW_WIDE_LANES == 8)
        AddRows(pass, group, r, 2, numbers, values, sums);
    else
        for (; r < rows; ++r)
            AddRows(pass, group, r, 1, numbers, values, sums);
}

static __attribute__((noinline)) void SumTurning(
    const snwFlatPass* pass, const snwFlatGroup* group, const PlaneValues* values, double* sums)
{
    SumGroup(pass, group, 4, values, sums);
}

static __attribute__((noinline)) void SumMoving(
    const snwFlatPass* pass, const snwFlatGroup* group, const PlaneValues* values, double* sums)
{
    SumGroup(pass, group, 2, values, sums);
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
        (group->turns ? SumTurning : SumMoving)(pass, group, &values, sums);
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

// Maps (c, s, tx, ty) of a group's handles: that of the main one, and how others differ from it.
typedef struct GroupMaps
{
    _Alignas(16) float others[SNW_FLAT_HANDLES][SNW_FLAT_NUMBERS];
    snwRow main;
} GroupMaps;

static inline void TakeMaps(const snwFlatPass* pass, const snwFlatGroup* group, const float* maps, GroupMaps* out)
{
    const int* handles = pass->handles + group->first;
    int others = group->count - 1;
    out->main = *(const snwRow*)(maps + (size_t)SNW_FLAT_NUMBERS * (size_t)handles[others]);
    for (int k = 0; k < others; ++k)
        *(snwRow*)out->others[k] = *(const snwRow*)(maps + (size_t)SNW_FLAT_NUMBERS * (size_t)handles[k]) - out->main;
}

// All numbers of the maps, or those from `skip` on, on some vectors of a group.
static inline __attribute__((always_inline)) void BlendMaps(const snwFlatPass* pass, const snwFlatGroup* group,
    const GroupMaps* maps, int skip, int lane, int vectors, snwWide (*sums)[SNW_FLAT_NUMBERS])
{
    const float* weights = pass->weights[group->first] + lane;
    const float(*end)[SNW_FLAT_NUMBERS] = maps->others + (group->count - 1);
    for (int v = 0; v < vectors; ++v)
        for (int c = skip; c < SNW_FLAT_NUMBERS; ++c)
            sums[v][c] = snwWide_Splat(maps->main[c]);
    for (const float(*map)[SNW_FLAT_NUMBERS] = maps->others; map < end; ++map, weights += SNW_FLAT_GROUP)
        for (int v = 0; v < vectors; ++v)
        {
            snwWide w = snwWide_Load(weights + v * SNW_WIDE_LANES);
            for (int c = skip; c < SNW_FLAT_NUMBERS; ++c)
                sums[v][c] = sums[v][c] + w * snwWide_Splat((*map)[c]);
        }
}

typedef struct FlatPlace
{
    snwWide x, y;
} FlatPlace;

static inline __attribute__((always_inline)) void BlendVectors(
    const snwFlatPass* pass, const snwFlatGroup* group, const GroupMaps* maps, int lane, FlatPlace out[2])
{
    snwWide sums[2][SNW_FLAT_NUMBERS];
    BlendMaps(pass, group, maps, 0, lane, 2, sums);
    for (int v = 0; v < 2; ++v)
    {
        int at = lane + v * SNW_WIDE_LANES;
        snwWide p = snwWide_Load(group->position[0] + at), q = snwWide_Load(group->position[1] + at);
        out[v].x = sums[v][0] * p - sums[v][1] * q + sums[v][2];
        out[v].y = sums[v][1] * p + sums[v][0] * q + sums[v][3];
    }
}

static inline __attribute__((always_inline)) void AddPlace(float* rows, int lane, bool plane, FlatPlace change)
{
    snwWide_AddNext2(rows + 4 * (lane & ~7), lane & 7, plane, change.x, change.y);
}

static inline __attribute__((always_inline)) void ChangeTurning(
    const snwFlatPass* pass, const snwFlatGroup* group, const GroupMaps* maps, bool plane, float* rows)
{
    for (int lane = 0; lane < group->lanes; lane += 2 * SNW_WIDE_LANES)
    {
        FlatPlace changes[2];
        BlendVectors(pass, group, maps, lane, changes);
        for (int v = 0; v < 2; ++v)
            AddPlace(rows, lane + v * SNW_WIDE_LANES, plane, changes[v]);
    }
}

// Nothing turns: twice as many vectors fit into registers.
static inline __attribute__((always_inline)) void ChangeMoving(
    const snwFlatPass* pass, const snwFlatGroup* group, const GroupMaps* maps, bool plane, float* rows)
{
    for (int lane = 0; lane < group->lanes; lane += 4 * SNW_WIDE_LANES)
    {
        snwWide sums[4][SNW_FLAT_NUMBERS];
        BlendMaps(pass, group, maps, 2, lane, 4, sums);
        for (int v = 0; v < 4; ++v)
            AddPlace(rows, lane + v * SNW_WIDE_LANES, plane, (FlatPlace){sums[v][2], sums[v][3]});
    }
}

// plane: as that of the flesh; known when this is compiled, for it decides on every step.
static inline __attribute__((always_inline)) void ChangeGroup(
    const snwFlatPass* pass, const snwFlatGroup* group, const snwRigBlend* b, bool plane)
{
    _Alignas(32) float copy[4 * SNW_FLAT_GROUP];
    GroupMaps maps;
    float* rows = TakeRows(pass, group, b->flesh.rows, copy);
    TakeMaps(pass, group, b->changes, &maps);
    if (group->turns)
        ChangeTurning(pass, group, &maps, plane, rows);
    else
        ChangeMoving(pass, group, &maps, plane, rows);
    PutRows(pass, group, b->flesh.rows, copy);
}

static inline void ShowPlace(float* rows, int lane, FlatPlace place, const snwRigBlend* b)
{
    snwWide_StoreNext4(rows + 4 * (lane & ~7), lane & 7, place.x + b->origin[0], place.y + b->origin[1],
        snwWide_Splat(b->origin[2]), snwWide_Splat(0));
}

static inline void ShowGroup(const snwFlatPass* pass, const snwFlatGroup* group, const snwRigBlend* b)
{
    _Alignas(32) float copy[4 * SNW_FLAT_GROUP];
    GroupMaps maps;
    float* rows = TakeRows(pass, group, b->rigged, copy);
    TakeMaps(pass, group, b->maps, &maps);
    for (int lane = 0; lane < group->lanes; lane += 2 * SNW_WIDE_LANES)
    {
        FlatPlace places[2];
        BlendVectors(pass, group, &maps, lane, places);
        ShowPlace(rows, lane, places[0], b);
        ShowPlace(rows, lane + SNW_WIDE_LANES, places[1], b);
    }
    PutRows(pass, group, b->rigged, copy);
}

static void BlendFlat(const snwPassRange* range, const snwRigBlend* b)
{
    const snwFlatPass* pass = &range->pass->flat;
    bool changes = b->flesh.rows != NULL;
    for (int i = range->begin; i < range->end && changes && b->flesh.plane; ++i)
        ChangeGroup(pass, &pass->groups[i], b, true);
    for (int i = range->begin; i < range->end && changes && !b->flesh.plane; ++i)
        ChangeGroup(pass, &pass->groups[i], b, false);
    for (int i = range->begin; i < range->end && b->rigged != NULL; ++i)
        ShowGroup(pass, &pass->groups[i], b);
}
