// The loops of cholesky_kernels.h; included once per instruction set. Sums run over columns in rising order (forward)
// or in eight lanes that are added at the end in one order (backward), whatever the width of the registers: a panel's
// column of eight numbers is one, two, four or eight of them.

#include "linalg/cholesky_kernels.h"
#include "math/simd.h"

#include <string.h>

#define SNW_REAL       float
#define SNW_WIDE       snwWide
#define SNW_LANES      SNW_WIDE_LANES
#define SNW_HAS_ROWS   1 // simd.h loads rows of four
#define SNW_NAME(name) name##Float
#include "linalg/cholesky_sweep.h"
#undef SNW_REAL
#undef SNW_WIDE
#undef SNW_LANES
#undef SNW_HAS_ROWS
#undef SNW_NAME

#define SNW_REAL       double
#define SNW_WIDE       snwWideDouble
#define SNW_LANES      SNW_WIDE_DOUBLE_LANES
#define SNW_HAS_ROWS   0
#define SNW_NAME(name) name##Double
#include "linalg/cholesky_sweep.h"

static void Tile(const double* a, const double* b, int count, double* out)
{
    enum
    {
        parts = 8 / SNW_WIDE_DOUBLE_LANES
    };
    snwWideDouble sums[4][parts];
    memset(sums, 0, sizeof sums);
    for (int k = 0; k < count; ++k)
    {
        for (int part = 0; part < parts; ++part)
        {
            snwWideDouble column = *(const snwWideDouble*)(a + 8 * k + part * SNW_WIDE_DOUBLE_LANES);
            for (int j = 0; j < 4; ++j)
                sums[j][part] += column * b[8 * k + j];
        }
    }
    memcpy(out, sums, sizeof sums);
}

static const snwCholeskyKernels s_kernels = {
    .tile = Tile,
    .forwardDouble = {Forward1Double, Forward2Double, Forward3Double, Forward4Double},
    .backwardDouble = {Backward1Double, Backward2Double, Backward3Double, Backward4Double},
    .forwardFloat = {Forward1Float, Forward2Float, Forward3Float, Forward4Float},
    .backwardFloat = {Backward1Float, Backward2Float, Backward3Float, Backward4Float},
};
