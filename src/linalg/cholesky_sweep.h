// Both sweeps over one supernode, for SNW_REAL. `width` is a constant wherever these are called, and the loops over it
// and over the parts of a panel's column unroll.

#define SNW_INLINE static inline __attribute__((always_inline))
#define SNW_PARTS  (8 / SNW_LANES)

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

// sums[k] += column * x[k]
SNW_INLINE void SNW_NAME(AddColumn)(SNW_NAME(Column) * sums, const SNW_REAL* p, const SNW_REAL* x, int width)
{
    SNW_NAME(Column) column = SNW_NAME(LoadColumn)(p);
    for (int k = 0; k < width; ++k)
        for (int i = 0; i < SNW_PARTS; ++i)
            sums[k].parts[i] += column.parts[i] * x[k];
}

SNW_INLINE void SNW_NAME(AddPanel)(
    SNW_NAME(Column) * sums, const SNW_REAL* panel, int columns, const SNW_REAL* x, int width)
{
    int stride = width == 1 ? 1 : 4;
    for (int c = 0; c < columns; ++c)
        SNW_NAME(AddColumn)(sums, panel + 8 * (size_t)c, x + (size_t)stride * (size_t)c, width);
}

SNW_INLINE void SNW_NAME(StorePanel)(SNW_REAL (*out)[8], const SNW_NAME(Column) * sums, int width)
{
    for (int k = 0; k < width; ++k)
        SNW_NAME(StoreColumn)(out[k], sums[k]);
}

// y = L^-1 x for the panel's eight unknowns, those before it being done.
SNW_INLINE void SNW_NAME(ForwardDiagonal)(
    const snwCholeskyNode* node, const SNW_REAL* values, int panel, SNW_REAL* x, int width)
{
    int stride = width == 1 ? 1 : 4, before = 8 * panel;
    int count = node->columns - before < 8 ? node->columns - before : 8;
    const SNW_REAL* p = values + node->diagonal + 32 * (size_t)panel * (size_t)(panel + 1);
    SNW_NAME(Column) sums[4] = {{{{0}}}}, out[4] = {{{{0}}}};
    _Alignas(64) SNW_REAL rest[4][8];
    SNW_NAME(AddPanel)(sums, p, before, x, width);
    SNW_NAME(StorePanel)(rest, sums, width);
    SNW_REAL* own = x + (size_t)stride * (size_t)before;
    for (int r = 0; r < count; ++r)
        for (int k = 0; k < width; ++k)
            own[stride * r + k] -= rest[k][r];
    SNW_NAME(AddPanel)(out, p + 8 * (size_t)before, count, own, width);
    SNW_NAME(StorePanel)(rest, out, width);
    for (int r = 0; r < count; ++r)
        for (int k = 0; k < width; ++k)
            own[stride * r + k] = rest[k][r];
}

SNW_INLINE void SNW_NAME(ForwardNode)(
    const snwCholeskyNode* node, const SNW_REAL* values, const int* rows, SNW_REAL* x, int width)
{
    int stride = width == 1 ? 1 : 4;
    SNW_REAL* own = x + (size_t)stride * (size_t)node->first;
    for (int panel = 0; 8 * panel < node->columns; ++panel)
        SNW_NAME(ForwardDiagonal)(node, values, panel, own, width);
    const SNW_REAL* p = values + node->below;
    for (int r = 0; r < node->rowCount; r += 8, p += 8 * (size_t)node->columns)
    {
        SNW_NAME(Column) sums[4] = {{{{0}}}};
        _Alignas(64) SNW_REAL out[4][8];
        SNW_NAME(AddPanel)(sums, p, node->columns, own, width);
        SNW_NAME(StorePanel)(out, sums, width);
        for (int i = 0; i < 8; ++i)
            for (int k = 0; k < width; ++k)
                x[(size_t)stride * (size_t)rows[r + i] + (size_t)k] -= out[k][i];
    }
}

// ---------------------------------------------------------------------------------------------------------------------

SNW_INLINE SNW_REAL SNW_NAME(SumLanes)(SNW_NAME(Column) column)
{
    _Alignas(64) SNW_REAL v[8];
    SNW_NAME(StoreColumn)(v, column);
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// Adds the products of `count` panels' columns first .. first + group - 1 with the gathered rows.
SNW_INLINE void SNW_NAME(DotPanel)(
    SNW_NAME(Column) (*sums)[4], const SNW_REAL* p, const SNW_REAL* gathered, int group, int width)
{
    for (int k = 0; k < width; ++k)
    {
        SNW_NAME(Column) u = SNW_NAME(LoadColumn)(gathered + 8 * k);
        for (int c = 0; c < group; ++c)
        {
            SNW_NAME(Column) column = SNW_NAME(LoadColumn)(p + 8 * c);
            for (int i = 0; i < SNW_PARTS; ++i)
                sums[c][k].parts[i] += column.parts[i] * u.parts[i];
        }
    }
}

// x of columns c .. c + group - 1, less what the rows below and the panels from `panel` on take from it.
SNW_INLINE void SNW_NAME(BackwardColumns)(const snwCholeskyNode* node, const SNW_REAL* values, int panel, int c,
    SNW_REAL* own, const SNW_REAL* gathered, int group, int width)
{
    int stride = width == 1 ? 1 : 4, panels = (node->columns + 7) / 8, below = (node->rowCount + 7) / 8;
    SNW_NAME(Column) sums[4][4] = {{{{{0}}}}};
    const SNW_REAL* p = values + node->below + 8 * (size_t)c;
    for (int i = 0; i < below; ++i, p += 8 * (size_t)node->columns)
        SNW_NAME(DotPanel)(sums, p, gathered + 8 * (size_t)width * (size_t)(panels + i), group, width);
    for (int i = panel + 1; i < panels; ++i)
    {
        p = values + node->diagonal + 32 * (size_t)i * (size_t)(i + 1) + 8 * (size_t)c;
        SNW_NAME(DotPanel)(sums, p, gathered + 8 * (size_t)width * (size_t)i, group, width);
    }
    for (int j = 0; j < group; ++j)
        for (int k = 0; k < width; ++k)
            own[(size_t)stride * (size_t)(c + j) + (size_t)k] -= SNW_NAME(SumLanes)(sums[j][k]);
}

SNW_INLINE void SNW_NAME(BackwardDiagonal)(
    const snwCholeskyNode* node, const SNW_REAL* values, int panel, SNW_REAL* own, SNW_REAL* gathered, int width)
{
    int stride = width == 1 ? 1 : 4, before = 8 * panel;
    int count = node->columns - before < 8 ? node->columns - before : 8;
    const SNW_REAL* p = values + node->diagonal + 32 * (size_t)panel * (size_t)(panel + 1) + 8 * (size_t)before;
    SNW_REAL* mine = gathered + 8 * (size_t)width * (size_t)panel;
    own += (size_t)stride * (size_t)before;
    for (int k = 0; k < width; ++k)
        for (int r = 0; r < 8; ++r)
            mine[8 * k + r] = r < count ? own[stride * r + k] : 0;
    for (int c = 0; c < count; ++c)
    {
        SNW_NAME(Column) sums[1][4] = {{{{{0}}}}};
        SNW_NAME(DotPanel)(sums, p + 8 * c, mine, 1, width);
        for (int k = 0; k < width; ++k)
            own[stride * c + k] = SNW_NAME(SumLanes)(sums[0][k]);
    }
    for (int k = 0; k < width; ++k)
        for (int r = 0; r < count; ++r)
            mine[8 * k + r] = own[stride * r + k];
}

SNW_INLINE void SNW_NAME(GatherRows)(
    const snwCholeskyNode* node, const int* rows, const SNW_REAL* x, SNW_REAL* gathered, int width)
{
    int stride = width == 1 ? 1 : 4;
    for (int r = 0; r < node->rowCount; r += 8, gathered += 8 * width)
        for (int i = 0; i < 8; ++i)
            for (int k = 0; k < width; ++k)
                gathered[8 * k + i] = x[(size_t)stride * (size_t)rows[r + i] + (size_t)k];
}

SNW_INLINE void SNW_NAME(BackwardNode)(
    const snwCholeskyNode* node, const SNW_REAL* values, const int* rows, SNW_REAL* x, SNW_REAL* gathered, int width)
{
    enum
    {
        group = SNW_PARTS >= 4 ? 1 : 4 / SNW_PARTS // as many sums as there are registers
    };
    int stride = width == 1 ? 1 : 4, panels = (node->columns + 7) / 8;
    SNW_REAL* own = x + (size_t)stride * (size_t)node->first;
    SNW_NAME(GatherRows)(node, rows, x, gathered + 8 * (size_t)width * (size_t)panels, width);
    for (int panel = panels - 1; panel >= 0; --panel)
    {
        int c = 8 * panel, end = c + 8 < node->columns ? c + 8 : node->columns;
        for (; c + group <= end; c += group)
            SNW_NAME(BackwardColumns)(node, values, panel, c, own, gathered, group, width);
        for (; c < end; ++c)
            SNW_NAME(BackwardColumns)(node, values, panel, c, own, gathered, 1, width);
        SNW_NAME(BackwardDiagonal)(node, values, panel, own, gathered, width);
    }
}

#define SNW_SWEEP(width)                                                                                               \
    static void SNW_NAME(Forward##width)(                                                                              \
        const snwCholeskyNode* node, const SNW_REAL* values, const int* rows, SNW_REAL* x, SNW_REAL* gathered)         \
    {                                                                                                                  \
        (void)gathered;                                                                                                \
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
