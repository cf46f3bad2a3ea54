// Rests of a substep, for the lanes that simd.h gives; see snwRestSweep. Included by kernel.h.

static inline snwWide Clamp(snwWide value, snwWide lower, snwWide upper)
{
    return snwWide_Max(lower, snwWide_Min(value, upper));
}

static inline snwWide Creep(snwWide rest, snwWide before, float creep)
{
    return rest + creep * (before - rest);
}

static inline snwWide EdgeLength(const float* rows, const snwEdgeBlock* block, int lane)
{
    snwWide a[4], b[4];
    snwWide_Load4(rows, block->index[0] + lane, &a[0], &a[1], &a[2], &a[3]);
    snwWide_Load4(rows, block->index[1] + lane, &b[0], &b[1], &b[2], &b[3]);
    snwWide d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return snwWide_Sqrt(Dot(d, d));
}

static inline void RestOfEdges(const snwRestSweep* sweep, int b, int lane)
{
    snwSoftEdges* state = &sweep->edgeStates[b];
    const snwWide third = snwWide_Splat(1.0f / 3.0f), three = snwWide_Splat(3.0f);
    snwWide rest = snwWide_Load(sweep->edges[b].rest + lane);
    if (sweep->reference != NULL)
        rest = Clamp(EdgeLength(sweep->reference, &sweep->edges[b], lane), third * rest, three * rest);
    if (sweep->creep > 0.0f)
        rest = Creep(rest, EdgeLength(sweep->before, &sweep->edges[b], lane), sweep->creep);
    snwWide_Store(state->rest + lane, rest);
    snwWide_Store(state->sum + lane, snwWide_Splat(0.0f));
}

static inline snwWide TetVolume(const float* rows, const snwTetBlock* block, int lane)
{
    snwWide p[4][4], u[3][3], g[4][3];
    for (int k = 0; k < 4; ++k)
        snwWide_Load4(rows, block->index[k] + lane, &p[k][0], &p[k][1], &p[k][2], &p[k][3]);
    VolumeGradients(p, u, g);
    return Dot(u[0], g[1]);
}

static inline void RestOfTets(const snwRestSweep* sweep, int b, int lane)
{
    snwSoftTets* state = &sweep->tetStates[b];
    const snwWide third = snwWide_Splat(1.0f / 3.0f), three = snwWide_Splat(3.0f);
    snwWide rest = snwWide_Load(sweep->tets[b].rest + lane);
    if (sweep->reference != NULL)
        rest = Clamp(TetVolume(sweep->reference, &sweep->tets[b], lane), third * rest, three * rest);
    if (sweep->creep > 0.0f)
        rest = Creep(rest, TetVolume(sweep->before, &sweep->tets[b], lane), sweep->creep);
    snwWide_Store(state->rest + lane, rest);
    snwWide_Store(state->sum + lane, snwWide_Splat(0.0f));
}

static inline void LoadDeformation(
    const float* rows, const snwTetBlock* block, const snwNeoRest* rest, int lane, snwWide f[3][3])
{
    snwWide p[4][4], g[4][3];
    for (int k = 0; k < 4; ++k)
        snwWide_Load4(rows, block->index[k] + lane, &p[k][0], &p[k][1], &p[k][2], &p[k][3]);
    ShapeGradients(rest, lane, g);
    Deformation(p, g, f);
}

static inline void StrainsOf(
    const float* rows, const snwTetBlock* block, const snwNeoRest* rest, int lane, snwWide e[6])
{
    snwWide f[3][3], c[6];
    LoadDeformation(rows, block, rest, lane, f);
    StrainGeometry(f, c);
    GreenStrains(c, e);
}

// Strains are seen from the shapes in sweep->rests: with those of the character the reference has strains, with its own
// it has none.
static inline void RestOfStrains(const snwRestSweep* sweep, int b, int lane)
{
    snwStrainState* state = &sweep->strainStates[b];
    const snwWide zero = snwWide_Splat(0.0f);
    snwWide rest[6] = {zero, zero, zero, zero, zero, zero}, before[6];
    if (sweep->reference != NULL)
        StrainsOf(sweep->reference, &sweep->tets[b], &sweep->rests[b], lane, rest);

    // A part of the way to the strains that there are now: what viscosity makes of the rest.
    if (sweep->creep > 0.0f)
    {
        StrainsOf(sweep->before, &sweep->tets[b], &sweep->rests[b], lane, before);
        for (int i = 0; i < 6; ++i)
            rest[i] = Creep(rest[i], before[i], sweep->creep);
    }

    for (int i = 0; i < 6; ++i)
    {
        snwWide_Store(state->rest[i] + lane, rest[i]);
        snwWide_Store(state->sum[i] + lane, zero);
    }

    for (int i = 0; i < 9; ++i)
        snwWide_Store(state->push[i] + lane, zero);
}

// Only lengths and angles of a rest shape count, C = F^T F of the reference seen from the character's rest; the shape
// is that of U in C = U^T U, upper triangular. Skinning that keeps the volume is what the artist wants; where it loses
// volume - twists, armpits, the inside of knees - it is the collapse of linear blending that nobody wants, and C turns
// into the identity by and by, all of it from 0.85 of the volume on. A shape that a morph or a cache makes is what the
// artist wants whatever its volume: it stands in for the identity, unless it is nearly flat itself. So a rest is never
// flat and never inside out.
static inline void RestOfNeo(const snwRestSweep* sweep, int b, int lane)
{
    const snwNeoRest* shape = &sweep->restShapes[b];
    snwNeoRest* out = &sweep->rests[b];
    const snwWide zero = snwWide_Splat(0.0f), one = snwWide_Splat(1.0f);
    snwWide f[3][3], c[6], s[3], kept[6] = {one, zero, zero, one, zero, one}, volume = one, flat = zero;

    if (sweep->shaped != NULL)
    {
        LoadDeformation(sweep->shaped, &sweep->tets[b], shape, lane, f);
        StrainGeometry(f, kept);
        Cross(f[1], f[2], s);
        volume = Dot(f[0], s);
        flat = Clamp((snwWide_Splat(0.4f) - volume) * snwWide_Splat(1.0f / 0.3f), zero, one);
        for (int n = 0; n < 6; ++n)
            kept[n] = kept[n] + flat * ((n == 0 || n == 3 || n == 5 ? one : zero) - kept[n]);
        volume = snwWide_Max(volume, snwWide_Splat(0.1f));
    }

    LoadDeformation(sweep->reference, &sweep->tets[b], shape, lane, f);
    StrainGeometry(f, c);
    Cross(f[1], f[2], s);
    snwWide lost = one - Dot(f[0], s) / volume;
    snwWide mix = snwWide_Max(Clamp(lost * snwWide_Splat(1.0f / 0.15f), zero, one), flat);
    for (int n = 0; n < 6; ++n)
        c[n] = c[n] + mix * (kept[n] - c[n]);

    // U of C = U^T U. Rest edges become U times what they were, so the inverse of their matrix is multiplied by U^-1.
    snwWide u00 = snwWide_Sqrt(c[0]), i00 = SafeRatio(one, u00);
    snwWide u01 = c[1] * i00, u02 = c[2] * i00;
    snwWide u11 = snwWide_Sqrt(snwWide_Max(c[3] - u01 * u01, zero)), i11 = SafeRatio(one, u11);
    snwWide u12 = (c[4] - u01 * u02) * i11;
    snwWide i22 = SafeRatio(one, snwWide_Sqrt(snwWide_Max(c[5] - u02 * u02 - u12 * u12, zero)));
    snwWide i01 = -u01 * i00 * i11, i12 = -u12 * i11 * i22, i02 = (u01 * u12 * i11 - u02) * i00 * i22;

    for (int j = 0; j < 3; ++j)
    {
        snwWide x = snwWide_Load(shape->inverse[3 * j] + lane), y = snwWide_Load(shape->inverse[3 * j + 1] + lane),
                z = snwWide_Load(shape->inverse[3 * j + 2] + lane);
        snwWide_Store(out->inverse[3 * j] + lane, x * i00);
        snwWide_Store(out->inverse[3 * j + 1] + lane, x * i01 + y * i11);
        snwWide_Store(out->inverse[3 * j + 2] + lane, x * i02 + y * i12 + z * i22);
    }
}

#define SNW_REST_KERNEL(name, visit)                                                                                   \
    static void name(const snwRestSweep* sweep, int begin, int end)                                                    \
    {                                                                                                                  \
        for (int b = begin; b < end; ++b)                                                                              \
            for (int lane = 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)                                          \
                visit(sweep, b, lane);                                                                                 \
    }

SNW_REST_KERNEL(Lengths, RestOfEdges)
SNW_REST_KERNEL(Volumes, RestOfTets)
SNW_REST_KERNEL(Strains, RestOfStrains)
SNW_REST_KERNEL(NeoRests, RestOfNeo)
