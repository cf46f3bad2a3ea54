// Both sweeps over one supernode, for SNW_REAL. `width` is a constant wherever these are called, so that the loops over
// it and over the parts of a panel's column unroll.

#define SNW_INLINE static inline __attribute__((always_inline))
#define SNW_PARTS  (8 / SNW_LANES)

// Eight numbers: one column of a panel, or one right side of eight rows.
typedef struct SNW_NAME(Column)
{
    SNW_WIDE parts[SNW_PARTS];
} SNW_NAME(Column);

SNW_INLINE SNW_NAME(Column) SNW_NAME(LoadColumn)(const SNW_REAL* p)
{
    SNW_NAME(Column) column;
    for (int i = 0; i < SNW_PARTS; ++i)
        column.parts[i] = *(const SNW_WIDE*)(p + i * SNW_LANES);
    return column;
}

SNW_INLINE void SNW_NAME(StoreColumn)(SNW_REAL* p, SNW_NAME(Column) column)
{
    for (int i = 0; i < SNW_PARTS; ++i)
        *(SNW_WIDE*)(p + i * SNW_LANES) = column.parts[i];
}

// ---------------------------------------------------------------------------------------------------------------------
// Forward

// sums[g][k] += panel g * x[k], for `group` panels of equal width that lie one behind the other.
SNW_INLINE void SNW_NAME(AddPanels)(
    SNW_NAME(Column) (*sums)[4], const SNW_REAL* panel, int columns, const SNW_REAL* x, int group, int width)
{
    size_t stride = width == 1 ? 1 : 4, next = 8 * (size_t)columns;
    for (int c = 0; c < columns; ++c, panel += 8, x += stride)
    {
        __builtin_prefetch((const char*)(panel + (size_t)(group - 1) * next) + 1024); // the stream goes on across nodes
        for (int g = 0; g < group; ++g)
        {
            SNW_NAME(Column) column = SNW_NAME(LoadColumn)(panel + (size_t)g * next);
            for (int k = 0; k < width; ++k)
                for (int i = 0; i < SNW_PARTS; ++i)
                    sums[g][k].parts[i] += column.parts[i] * x[k];
        }
    }
}

SNW_INLINE void SNW_NAME(StorePanel)(SNW_REAL (*out)[8], const SNW_NAME(Column) * sums, int width)
{
    for (int k = 0; k < width; ++k)
        SNW_NAME(StoreColumn)(out[k], sums[k]);
}

// x[rows[i]] -= sums, for eight different rows (or padding, where the sums are 0).
SNW_INLINE void SNW_NAME(ScatterPanel)(const SNW_NAME(Column) * sums, const int* rows, SNW_REAL* x, int width)
{
#if SNW_HAS_ROWS
    for (int i = 0; i < SNW_PARTS && width > 1; ++i)
    {
        SNW_WIDE row[4];
        snwWide_Load4(x, rows + i * SNW_LANES, &row[0], &row[1], &row[2], &row[3]);
        for (int k = 0; k < width; ++k)
            row[k] -= sums[k].parts[i];
        snwWide_Store4(x, rows + i * SNW_LANES, row[0], row[1], row[2], row[3]);
    }
    if (width > 1)
        return;
#endif
    size_t stride = width == 1 ? 1 : 4;
    _Alignas(64) SNW_REAL out[4][8];
    SNW_NAME(StorePanel)(out, sums, width);
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < width; ++k)
            x[stride * (size_t)rows[i] + (size_t)k] -= out[k][i];
}

// y = L^-1 x for the panel's eight unknowns, those before it being done.
SNW_INLINE void SNW_NAME(ForwardDiagonal)(
    const snwCholeskyNode* node, const SNW_REAL* values, int panel, SNW_REAL* x, int width)
{
    int stride = width == 1 ? 1 : 4, before = 8 * panel;
    int count = node->columns - before < 8 ? node->columns - before : 8;
    const SNW_REAL* p = values + node->diagonal + 32 * (size_t)panel * (size_t)(panel + 1);
    SNW_NAME(Column) sums[1][4] = {{{{{0}}}}}, out[1][4] = {{{{{0}}}}};
    _Alignas(64) SNW_REAL rest[4][8];
    SNW_NAME(AddPanels)(sums, p, before, x, 1, width);
    SNW_NAME(StorePanel)(rest, sums[0], width);
    SNW_REAL* own = x + (size_t)stride * (size_t)before;
    for (int r = 0; r < count; ++r)
        for (int k = 0; k < width; ++k)
            own[stride * r + k] -= rest[k][r];
    SNW_NAME(AddPanels)(out, p + 8 * (size_t)before, count, own, 1, width);
    SNW_NAME(StorePanel)(rest, out[0], width);
    for (int r = 0; r < count; ++r)
        for (int k = 0; k < width; ++k)
            own[stride * r + k] = rest[k][r];
}

SNW_INLINE void SNW_NAME(ForwardNode)(
    const snwCholeskyNode* node, const SNW_REAL* values, const int* rows, SNW_REAL* x, int width)
{
    enum
    {
        group = SNW_PARTS == 1 ? 2 : 1 // enough sums that do not wait for each other
    };
    SNW_REAL* own = x + (width == 1 ? 1 : 4) * (size_t)node->first;
    for (int panel = 0; 8 * panel < node->columns; ++panel)
        SNW_NAME(ForwardDiagonal)(node, values, panel, own, width);
    const SNW_REAL* p = values + node->below;
    size_t next = 8 * (size_t)node->columns;
    int r = 0;
    for (; group > 1 && r + 8 < node->rowCount; r += 16, p += 2 * next)
    {
        SNW_NAME(Column) sums[2][4] = {{{{{0}}}}};
        SNW_NAME(AddPanels)(sums, p, node->columns, own, 2, width);
        SNW_NAME(ScatterPanel)(sums[0], rows + r, x, width);
        SNW_NAME(ScatterPanel)(sums[1], rows + r + 8, x, width);
    }
    for (; r < node->rowCount; r += 8, p += next)
    {
        SNW_NAME(Column) sums[1][4] = {{{{{0}}}}};
        SNW_NAME(AddPanels)(sums, p, node->columns, own, 1, width);
        SNW_NAME(ScatterPanel)(sums[0], rows + r, x, width);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Backward
//
// The sums of a column stay in memory as eight lanes, [column][right side][8], while its panels stream by; two panels
// at a time, and at most snw_sumColumns columns, so that the lanes stay in the first cache.

// out[k] = sum of the eight lanes of right side k, k < width; as ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
SNW_INLINE void SNW_NAME(SumLanes)(const SNW_REAL* lanes, SNW_REAL* out, int width)
{
#if SNW_LANES >= 4
    if (width > 1) // four by four, turned over in registers; rows beyond the width are not looked at
    {
        typedef SNW_REAL Row __attribute__((vector_size(4 * sizeof(SNW_REAL)), may_alias));
        Row half[4];
        for (int k = 0; k < 4; ++k)
        {
            const Row* v = (const Row*)(lanes + 8 * (k < width ? k : 0));
            half[k] = v[0] + v[1];
        }
        Row a = __builtin_shufflevector(half[0], half[1], 0, 4, 1, 5),
            b = __builtin_shufflevector(half[0], half[1], 2, 6, 3, 7);
        Row c = __builtin_shufflevector(half[2], half[3], 0, 4, 1, 5),
            d = __builtin_shufflevector(half[2], half[3], 2, 6, 3, 7);
        Row even = __builtin_shufflevector(a, c, 0, 1, 4, 5) + __builtin_shufflevector(b, d, 0, 1, 4, 5);
        Row odd = __builtin_shufflevector(a, c, 2, 3, 6, 7) + __builtin_shufflevector(b, d, 2, 3, 6, 7);
        *(Row*)out = even + odd;
        return;
    }
#endif
    for (int k = 0; k < width; ++k)
    {
        const SNW_REAL* v = lanes + 8 * k;
        out[k] = ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
    }
}

// sums[c] += panel's column c * gathered, for `group` panels `next` apart.
SNW_INLINE void SNW_NAME(DotPanels)(
    SNW_REAL* sums, const SNW_REAL* p, size_t next, int columns, const SNW_REAL* gathered, int group, int width)
{
    SNW_NAME(Column) u[2][4];
    for (int g = 0; g < group; ++g)
        for (int k = 0; k < width; ++k)
            u[g][k] = SNW_NAME(LoadColumn)(gathered + 8 * (g * width + k));
    for (int c = 0; c < columns; ++c, p += 8, sums += 8 * width)
    {
        __builtin_prefetch((const char*)(p + (size_t)(group - 1) * next) + 1024);
        SNW_NAME(Column) a = SNW_NAME(LoadColumn)(p), b = SNW_NAME(LoadColumn)(p + (group > 1 ? next : 0));
        for (int k = 0; k < width; ++k)
        {
            SNW_NAME(Column) sum = SNW_NAME(LoadColumn)(sums + 8 * k);
            for (int i = 0; i < SNW_PARTS; ++i)
            {
                sum.parts[i] += a.parts[i] * u[0][k].parts[i];
                if (group > 1)
                    sum.parts[i] += b.parts[i] * u[1][k].parts[i];
            }
            SNW_NAME(StoreColumn)(sums + 8 * k, sum);
        }
    }
}

SNW_INLINE void SNW_NAME(GatherRows)(
    const snwCholeskyNode* node, const int* rows, const SNW_REAL* x, SNW_REAL* gathered, int width)
{
    for (int r = 0; r < node->rowCount; r += 8, gathered += 8 * width)
    {
#if SNW_HAS_ROWS
        for (int i = 0; i < SNW_PARTS && width > 1; ++i)
        {
            SNW_WIDE row[4];
            snwWide_Load4(x, rows + r + i * SNW_LANES, &row[0], &row[1], &row[2], &row[3]);
            for (int k = 0; k < width; ++k)
                *(SNW_WIDE*)(gathered + 8 * k + i * SNW_LANES) = row[k];
        }
        if (width > 1)
            continue;
#endif
        size_t stride = width == 1 ? 1 : 4;
        for (int i = 0; i < 8; ++i)
            for (int k = 0; k < width; ++k)
                gathered[8 * k + i] = x[stride * (size_t)rows[r + i] + (size_t)k];
    }
}

// What the rows below take from each column.
SNW_INLINE void SNW_NAME(DotBelow)(
    const snwCholeskyNode* node, const SNW_REAL* values, const SNW_REAL* gathered, SNW_REAL* sums, int width)
{
    enum
    {
        snw_sumColumns = 64
    };
    size_t next = 8 * (size_t)node->columns;
    int panels = (node->rowCount + 7) / 8;
    memset(sums, 0, next * (size_t)width * sizeof *sums);
    for (int c = 0; c < node->columns; c += snw_sumColumns)
    {
        int count = node->columns - c < snw_sumColumns ? node->columns - c : snw_sumColumns, i = 0;
        const SNW_REAL *p = values + node->below + 8 * (size_t)c, *u = gathered;
        SNW_REAL* out = sums + 8 * (size_t)width * (size_t)c;
        for (; i + 1 < panels; i += 2, p += 2 * next, u += 16 * width)
            SNW_NAME(DotPanels)(out, p, next, count, u, 2, width);
        if (i < panels)
            SNW_NAME(DotPanels)(out, p, next, count, u, 1, width);
    }
}

// The panel's unknowns: x less the sums, times the inverse square transposed; then what they take from columns before.
SNW_INLINE void SNW_NAME(BackwardDiagonal)(
    const snwCholeskyNode* node, const SNW_REAL* values, int panel, SNW_REAL* own, SNW_REAL* sums, int width)
{
    int stride = width == 1 ? 1 : 4, before = 8 * panel;
    int count = node->columns - before < 8 ? node->columns - before : 8;
    const SNW_REAL* p = values + node->diagonal + 32 * (size_t)panel * (size_t)(panel + 1);
    SNW_REAL* mine = sums + 8 * (size_t)width * (size_t)before;
    _Alignas(64) SNW_REAL rest[4 * 8] = {0}, squares[8 * 4 * 8] = {0}, sum[4];
    own += (size_t)stride * (size_t)before;
    for (int c = 0; c < count; ++c)
    {
        SNW_NAME(SumLanes)(mine + 8 * c * width, sum, width);
        for (int k = 0; k < width; ++k)
            rest[8 * k + c] = own[stride * c + k] - sum[k];
    }
    SNW_NAME(DotPanels)(squares, p + 8 * (size_t)before, 0, count, rest, 1, width);
    for (int c = 0; c < count; ++c)
    {
        SNW_NAME(SumLanes)(squares + 8 * c * width, sum, width);
        for (int k = 0; k < width; ++k)
            own[stride * c + k] = rest[8 * k + c] = sum[k];
    }
    SNW_NAME(DotPanels)(sums, p, 0, before, rest, 1, width);
}

// Backwards the stream breaks at every node: the one before it comes next.
SNW_INLINE void SNW_NAME(PrefetchBefore)(const snwCholeskyNode* node, const SNW_REAL* values)
{
    if (node->first == 0)
        return;
    const char* p = (const char*)(values + node[-1].below);
    for (int i = 0; i < 16; ++i)
        __builtin_prefetch(p + 64 * i);
}

SNW_INLINE void SNW_NAME(BackwardNode)(
    const snwCholeskyNode* node, const SNW_REAL* values, const int* rows, SNW_REAL* x, SNW_REAL* gathered, int width)
{
    SNW_REAL* own = x + (width == 1 ? 1 : 4) * (size_t)node->first;
    SNW_REAL* sums = gathered + 8 * (size_t)width * (size_t)((node->rowCount + 7) / 8);
    SNW_NAME(PrefetchBefore)(node, values);
    SNW_NAME(GatherRows)(node, rows, x, gathered, width);
    SNW_NAME(DotBelow)(node, values, gathered, sums, width);
    for (int panel = (node->columns + 7) / 8 - 1; panel >= 0; --panel)
        SNW_NAME(BackwardDiagonal)(node, values, panel, own, sums, width);
}

#define SNW_SWEEP(width)                                                                                               \
    static void SNW_NAME(Forward##width)(                                                                              \
        const snwCholeskyNode* node, const SNW_REAL* values, const int* rows, SNW_REAL* x)                             \
    {                                                                                                                  \
        SNW_NAME(ForwardNode)(node, values, rows, x, width);                                                           \
    }                                                                                                                  \
    static void SNW_NAME(Backward##width)(                                                                             \
        const snwCholeskyNode* node, const SNW_REAL* values, const int* rows, SNW_REAL* x, SNW_REAL* gathered)         \
    {                                                                                                                  \
        SNW_NAME(BackwardNode)(node, values, rows, x, gathered, width);                                                \
    }

SNW_SWEEP(1)
SNW_SWEEP(2)
SNW_SWEEP(3)
SNW_SWEEP(4)

#undef SNW_SWEEP
#undef SNW_PARTS
#undef SNW_INLINE
