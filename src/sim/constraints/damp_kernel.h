// The passes of damping.h, for the lanes that simd.h gives. Included by kernel.h.

enum
{
    s_dampEight = 8 / SNW_WIDE_LANES, // vectors of eight lanes
    s_dampMost = 12,                  // sums at a time
};

typedef struct DampLanes
{
    snwWide m, r[3], v[3], d[3];
} DampLanes;

// Eight rows, of which the last are empty where there are fewer.
typedef struct DampRows
{
    const float *positions, *drift;
    float* velocities;
    _Alignas(32) float copies[3][32];
} DampRows;

static inline void TakeDampRows(const snwDampRows* rows, int first, int end, DampRows* out)
{
    size_t at = 4 * (size_t)first, bytes = 4 * (size_t)(end - first) * sizeof(float);
    out->positions = rows->positions + at;
    out->velocities = rows->velocities + at;
    out->drift = rows->drift != NULL ? rows->drift + at : NULL;
    if (end - first >= 8)
        return;
    memset(out->copies, 0, sizeof out->copies);
    memcpy(out->copies[0], out->positions, bytes);
    memcpy(out->copies[1], out->velocities, bytes);
    if (out->drift != NULL)
        memcpy(out->copies[2], out->drift, bytes);
    out->positions = out->copies[0], out->velocities = out->copies[1];
    out->drift = out->drift != NULL ? out->copies[2] : NULL;
}

SNW_VISIT DampLanes LoadDampLanes(const snwDampRows* rows, const DampRows* eight, int first)
{
    DampLanes l;
    snwWide w, none;
    snwWide_LoadNext4(eight->positions, first, &l.r[0], &l.r[1], &l.r[2], &none);
    snwWide_LoadNext4(eight->velocities, first, &l.v[0], &l.v[1], &l.v[2], &w);
    for (int i = 0; i < 3; ++i)
        l.r[i] = l.r[i] - snwWide_Splat(rows->origin[i]), l.d[i] = snwWide_Splat(0.0f);
    l.m = SafeRatio(snwWide_Splat(1.0f), w);
    return l;
}

SNW_VISIT void LoadDampDrift(const DampRows* eight, int first, DampLanes* l)
{
    snwWide none;
    snwWide_LoadNext4(eight->drift, first, &l->d[0], &l->d[1], &l->d[2], &none);
}

// What a part of the sums adds up of eight vertices: the order is that of snw_damp...
typedef enum DampPart
{
    s_dampPlane,
    s_dampPlaneDrift,
    s_dampMomenta,
    s_dampInertia,
    s_dampDrift,
} DampPart;

SNW_VISIT int PutDampPart(DampPart part, const DampLanes* l, snwWide* out)
{
    snwWide mr[3], mv[3], md[3];
    const snwWide *r = l->r, *v = l->v, *d = l->d;
    for (int i = 0; i < 3; ++i)
        mr[i] = l->m * r[i], mv[i] = l->m * v[i], md[i] = l->m * d[i];

    // In the order of snw_dampPlaneSums and the like.
    switch (part)
    {
        case s_dampPlane:
        case s_dampPlaneDrift:
            out[0] = l->m, out[1] = mr[0], out[2] = mr[1], out[3] = mv[0], out[4] = mv[1];
            out[5] = r[0] * mv[1] - r[1] * mv[0];
            out[6] = r[0] * mr[0] + r[1] * mr[1];
            out[7] = snwWide_Splat(0.0f);
            if (part == s_dampPlane)
                return 8;
            out[8] = md[0], out[9] = md[1], out[10] = r[0] * md[1] - r[1] * md[0], out[11] = snwWide_Splat(0.0f);
            return 12;
        case s_dampMomenta:
            out[0] = l->m, out[1] = snwWide_Splat(0.0f);
            for (int i = 0; i < 3; ++i)
                out[2 + i] = mr[i], out[5 + i] = mv[i];
            Cross(r, mv, out + 8);
            out[11] = snwWide_Splat(0.0f);
            return 12;
        case s_dampInertia:
            for (int i = 0; i < 3; ++i)
                out[i] = r[i] * mr[i];
            out[3] = r[0] * mr[1], out[4] = r[0] * mr[2], out[5] = r[1] * mr[2];
            out[6] = out[7] = snwWide_Splat(0.0f);
            return 8;
        case s_dampDrift:
            for (int i = 0; i < 3; ++i)
                out[i] = md[i];
            Cross(r, md, out + 3);
            out[6] = out[7] = snwWide_Splat(0.0f);
            return 8;
    }

    return 0;
}

// Sums of a part over a tile: float by lane, then double.
SNW_VISIT double* SumDampPart(const snwDampRows* rows, DampPart part, int begin, int end, double* sums)
{
    snwWide lanes[s_dampMost][s_dampEight], own[s_dampMost];
    int count = 0;
    for (int i = 0; i < s_dampMost * s_dampEight; ++i)
        lanes[i / s_dampEight][i % s_dampEight] = snwWide_Splat(0.0f);

    // Eight vertices at a time; what is beyond the last has no mass.
    for (int first = begin; first < end; first += 8)
    {
        DampRows eight;
        TakeDampRows(rows, first, end, &eight);
        for (int i = 0; i < s_dampEight; ++i)
        {
            DampLanes l = LoadDampLanes(rows, &eight, i * SNW_WIDE_LANES);
            if (part == s_dampDrift || part == s_dampPlaneDrift)
                LoadDampDrift(&eight, i * SNW_WIDE_LANES, &l);
            count = PutDampPart(part, &l, own);
            for (int c = 0; c < count; ++c)
                lanes[c][i] = lanes[c][i] + own[c];
        }
    }

    // Eight lanes into one sum, four sums at a time.
    for (int c = 0; c < count; c += 4)
    {
        snwRow row = snwWide_SumLanes((const snwWide(*)[s_dampEight])(lanes + c));
        for (int i = 0; i < 4; ++i)
            *sums++ += (double)row[i];
    }

    return sums;
}

static void SumDampTile(const snwDampRows* rows, int begin, int end, double* sums)
{
    if (rows->flat && rows->drift != NULL)
        SumDampPart(rows, s_dampPlaneDrift, begin, end, sums);
    else if (rows->flat)
        SumDampPart(rows, s_dampPlane, begin, end, sums);
    else
    {
        double* next = SumDampPart(rows, s_dampMomenta, begin, end, sums);
        next = SumDampPart(rows, s_dampInertia, begin, end, next);
        if (rows->drift != NULL)
            SumDampPart(rows, s_dampDrift, begin, end, next);
    }
}

static void DampSum(const snwDampRows* rows, int begin, int end, double* sums)
{
    for (int first = begin; first < end; first += snw_dampTile)
        SumDampTile(rows, first, first + snw_dampTile < end ? first + snw_dampTile : end, sums);
}

// velocity + spin x arm
SNW_VISIT void RigidLanes(const snwDampMotion* motion, const snwWide arm[3], bool flat, snwWide out[3])
{
    snwWide spin[3];
    for (int i = 0; i < 3; ++i)
        spin[i] = snwWide_Splat(motion->spin[i]);
    if (flat)
        out[0] = -(spin[2] * arm[1]), out[1] = spin[2] * arm[0], out[2] = snwWide_Splat(0.0f);
    else
        Cross(spin, arm, out);
    for (int i = 0; i < (flat ? 2 : 3); ++i)
        out[i] = out[i] + snwWide_Splat(motion->velocity[i]);
}

// w: the inverse masses in use.
SNW_VISIT void DampEight(const snwDampRows* rows, const snwDampChange* change, bool flat, bool drifts, DampRows* eight)
{
    for (int i = 0; i < s_dampEight; ++i)
    {
        int first = i * SNW_WIDE_LANES;
        snwWide arm[3], rigid[3], drift[3], x, y, z, w;
        DampLanes l = LoadDampLanes(rows, eight, first);
        snwWide_LoadNext4(eight->positions, first, &x, &y, &z, &w);
        for (int c = 0; c < 3; ++c)
            arm[c] = l.r[c] - snwWide_Splat(change->centre[c]);

        // The rigid motion at each vertex, and that of the drift.
        RigidLanes(&change->flesh, arm, flat, rigid);
        if (drifts)
            LoadDampDrift(eight, first, &l), RigidLanes(&change->drift, arm, flat, drift);

        // What is held stays as it is.
        snwWideInt free = w > snwWide_Splat(0.0f);
        snwWide own[3];

        for (int c = 0; c < 3; ++c)
        {
            snwWide d = snwWide_Splat(change->share) * (rigid[c] - l.v[c]);
            if (drifts)
                d = d + snwWide_Splat(change->driftShare) * ((rigid[c] - drift[c]) - ((l.v[c] + d) - l.d[c]));
            own[c] = snwWide_Select(free, d, snwWide_Splat(0.0f));
        }

        snwWide_AddNext4(eight->velocities, first, own[0], own[1], own[2], snwWide_Splat(0.0f));
    }
}

SNW_VISIT void DampAll(const snwDampRows* rows, const snwDampChange* change, bool flat, bool drifts, int begin, int end)
{
    for (int first = begin; first < end; first += 8)
    {
        DampRows eight;
        TakeDampRows(rows, first, end, &eight);
        DampEight(rows, change, flat, drifts, &eight);
        if (end - first < 8)
            memcpy(rows->velocities + 4 * (size_t)first, eight.velocities, 4 * (size_t)(end - first) * sizeof(float));
    }
}

static void DampApply(const snwDampRows* rows, const snwDampChange* change, int begin, int end)
{
    if (rows->flat && rows->drift != NULL)
        DampAll(rows, change, true, true, begin, end);
    else if (rows->flat)
        DampAll(rows, change, true, false, begin, end);
    else if (rows->drift != NULL)
        DampAll(rows, change, false, true, begin, end);
    else
        DampAll(rows, change, false, false, begin, end);
}
