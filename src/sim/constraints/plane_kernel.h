// The passes of plane.h, for the lanes that simd.h gives: two rows in a vector of eight, else one. Included by
// kernel.h.

enum
{
    s_planeFloats = SNW_WIDE_LANES == 8 ? 8 : 4,
};

typedef float PlaneRows __attribute__((vector_size(4 * s_planeFloats), aligned(16), may_alias));

#if SNW_WIDE_LANES == 8

static inline PlaneRows SpreadRow(snwRow a)
{
    return __builtin_shufflevector(a, a, 0, 1, 2, 3, 0, 1, 2, 3);
}

static inline PlaneRows LastTwo(PlaneRows a)
{
    return __builtin_shufflevector(a, a, 2, 3, 2, 3, 6, 7, 6, 7);
}

static inline PlaneRows JoinTwo(PlaneRows a, PlaneRows b)
{
    return __builtin_shufflevector(a, b, 0, 1, 10, 11, 4, 5, 14, 15);
}

static inline float SumSquares(PlaneRows a)
{
    return (a[0] + a[1] + a[2]) + (a[4] + a[5] + a[6]);
}

#else

static inline PlaneRows SpreadRow(snwRow a)
{
    return a;
}

static inline PlaneRows LastTwo(PlaneRows a)
{
    return __builtin_shufflevector(a, a, 2, 3, 2, 3);
}

static inline PlaneRows JoinTwo(PlaneRows a, PlaneRows b)
{
    return __builtin_shufflevector(a, b, 0, 1, 6, 7);
}

static inline float SumSquares(PlaneRows a)
{
    return a[0] + a[1] + a[2];
}

#endif

// An odd row is done in company of an empty one.
typedef struct PlanePair
{
    _Alignas(32) float x[8], v[8], plane[8];
} PlanePair;

static snwPlaneStep TakeLast(const snwPlaneStep* step, int row, PlanePair* pair)
{
    *pair = (PlanePair){0};
    memcpy(pair->x, step->positions + 4 * (size_t)row, 4 * sizeof(float));
    memcpy(pair->v, step->velocities + 4 * (size_t)row, 4 * sizeof(float));
    memcpy(pair->plane, step->plane + 4 * (size_t)row, 4 * sizeof(float));
    snwPlaneStep last = *step;
    last.positions = pair->x, last.velocities = pair->v, last.plane = pair->plane;
    return last;
}

static void PutLast(const snwPlaneStep* step, int row, const PlanePair* pair)
{
    memcpy(step->positions + 4 * (size_t)row, pair->x, 4 * sizeof(float));
    memcpy(step->velocities + 4 * (size_t)row, pair->v, 4 * sizeof(float));
    memcpy(step->plane + 4 * (size_t)row, pair->plane, 4 * sizeof(float));
}

SNW_VISIT void PredictRows(const snwPlaneStep* step, size_t begin, size_t end)
{
    const PlaneRows acceleration = SpreadRow(step->acceleration);
    const PlaneRows h = SpreadRow((snwRow){step->h, step->h, 0.0f, 0.0f});
    const PlaneRows upright = SpreadRow((snwRow){1.0f, 1.0f, 0.0f, 0.0f});
    const float* positions = step->positions;
    float *velocities = step->velocities, *plane = step->plane;
    for (size_t at = begin; at < end; at += s_planeFloats)
    {
        PlaneRows v = *(const PlaneRows*)(velocities + at) + acceleration;
        *(PlaneRows*)(velocities + at) = v;
        *(PlaneRows*)(plane + at) = (*(const PlaneRows*)(positions + at) + h * v) * upright;
    }
}

SNW_VISIT float FinishRows(const snwPlaneStep* step, size_t begin, size_t end)
{
    const PlaneRows rate = SpreadRow((snwRow){step->inverseH, step->inverseH, 0.0f, 0.0f});
    const PlaneRows keep = SpreadRow((snwRow){step->keep, step->keep, step->keep, 1.0f});
    const PlaneRows mass = SpreadRow((snwRow){0.0f, 0.0f, 0.0f, 1.0f}), centre = SpreadRow(step->centre);
    const float* plane = step->plane;
    float *velocities = step->velocities, *positions = step->positions;
    PlaneRows squares = {0};
    for (size_t at = begin; at < end; at += s_planeFloats)
    {
        PlaneRows p = *(const PlaneRows*)(plane + at), d = LastTwo(p);
        PlaneRows v = (*(const PlaneRows*)(velocities + at) + d * rate) * keep, against = v - centre;
        *(PlaneRows*)(positions + at) = JoinTwo(p + d, *(const PlaneRows*)(positions + at) * mass);
        *(PlaneRows*)(velocities + at) = v;
        squares = squares + against * against;
    }
    return SumSquares(squares);
}

static void PlanePredict(const snwPlaneStep* step, int begin, int end)
{
    int odd = (end - begin) % (s_planeFloats / 4);
    PredictRows(step, 4 * (size_t)begin, 4 * (size_t)(end - odd));
    if (odd == 0)
        return;
    PlanePair pair;
    snwPlaneStep last = TakeLast(step, end - 1, &pair);
    PredictRows(&last, 0, s_planeFloats);
    PutLast(step, end - 1, &pair);
}

static float PlaneFinish(const snwPlaneStep* step, int begin, int end)
{
    int odd = (end - begin) % (s_planeFloats / 4);
    float squares = FinishRows(step, 4 * (size_t)begin, 4 * (size_t)(end - odd));
    if (odd == 0)
        return squares;
    PlanePair pair;
    snwPlaneStep last = TakeLast(step, end - 1, &pair);
    squares += FinishRows(&last, 0, s_planeFloats);
    PutLast(step, end - 1, &pair);
    return squares;
}
