// The projections, for the lanes that simd.h gives. Included once per instruction set.
//
// Nothing here has an absolute threshold: a body of a millimetre and one of a kilometre are the same to it. Where a
// gradient or all masses vanish the divisor is exactly 0 and the constraint rests for that sweep.

#include "math/simd.h"
#include "sim/constraints/kernels.h"

#include <string.h>

// Visits are put into their loops: what a loop knows (a commit, a correction) costs nothing then. As plain inline
// functions they are too long for gcc, which calls them and asks for every block.
#define SNW_VISIT static inline __attribute__((always_inline))

static inline snwWide SafeRatio(snwWide numerator, snwWide denominator)
{
    snwWideInt good = denominator > snwWide_Splat(0.0f);
    snwWide safe = snwWide_Select(good, denominator, snwWide_Splat(1.0f));
    return snwWide_Select(good, numerator / safe, snwWide_Splat(0.0f));
}

// C = |a - b| - rest
SNW_VISIT void ProjectEdges(float* positions, const snwEdgeBlock* block, int lane, snwWide stiffness)
{
    const int *ia = block->index[0] + lane, *ib = block->index[1] + lane;
    snwWide a[4], b[4];
    snwWide_Load4(positions, ia, &a[0], &a[1], &a[2], &a[3]);
    snwWide_Load4(positions, ib, &b[0], &b[1], &b[2], &b[3]);
    snwWide dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
    snwWide length = snwWide_Sqrt(dx * dx + dy * dy + dz * dz);
    snwWide error = length - snwWide_Load(block->rest + lane);
    snwWide s = SafeRatio(stiffness * error, (a[3] + b[3]) * length);
    snwWide sa = s * a[3], sb = s * b[3];
    snwWide_Store4(positions, ia, a[0] - sa * dx, a[1] - sa * dy, a[2] - sa * dz, a[3]);
    snwWide_Store4(positions, ib, b[0] + sb * dx, b[1] + sb * dy, b[2] + sb * dz, b[3]);
}

static inline void Cross(const snwWide a[3], const snwWide b[3], snwWide out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline snwWide Dot(const snwWide a[3], const snwWide b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Edges from corner 0 and the gradients of six times the volume: the cross products of the edges.
static inline void VolumeGradients(const snwWide p[4][4], snwWide u[3][3], snwWide g[4][3])
{
    for (int k = 0; k < 3; ++k)
        for (int d = 0; d < 3; ++d)
            u[k][d] = p[k + 1][d] - p[0][d];
    Cross(u[1], u[2], g[1]);
    Cross(u[2], u[0], g[2]);
    Cross(u[0], u[1], g[3]);
    for (int d = 0; d < 3; ++d)
        g[0][d] = -(g[1][d] + g[2][d] + g[3][d]);
}

// C = (p1 - p0) . ((p2 - p0) x (p3 - p0)) - 6 V0. Returns C, and with `unfold` what it is below 0.
SNW_VISIT snwWide ProjectTets(float* positions, const snwTetBlock* block, int lane, snwWide stiffness, bool unfold)
{
    snwWide p[4][4], u[3][3], g[4][3];
    for (int k = 0; k < 4; ++k)
        snwWide_Load4(positions, block->index[k] + lane, &p[k][0], &p[k][1], &p[k][2], &p[k][3]);
    VolumeGradients(p, u, g);

    // Six times the volumes.
    snwWide rest = snwWide_Load(block->rest + lane), volume = Dot(u[0], g[1]);
    snwWide error = volume - rest;
    if (unfold)
        error = snwWide_Min(volume - snwWide_Splat(0.2f) * rest, snwWide_Splat(0.0f));

    // w |grad C|^2 over the corners.
    snwWide sum = p[0][3] * Dot(g[0], g[0]) + p[1][3] * Dot(g[1], g[1]) + p[2][3] * Dot(g[2], g[2]) +
                  p[3][3] * Dot(g[3], g[3]);
    snwWide s = SafeRatio(stiffness * error, sum);

    // Each corner by its share of the mass.
    for (int k = 0; k < 4; ++k)
    {
        snwWide sk = s * p[k][3];
        snwWide_Store4(positions, block->index[k] + lane, p[k][0] - sk * g[k][0], p[k][1] - sk * g[k][1],
            p[k][2] - sk * g[k][2], p[k][3]);
    }

    return error;
}

static void Distance(float* positions, const snwEdgeBlock* blocks, int begin, int end, float stiffness)
{
    for (int i = begin; i < end; ++i)
        for (int lane = 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)
            ProjectEdges(positions, &blocks[i], lane, snwWide_Splat(stiffness));
}

static void Volume(float* positions, const snwTetBlock* blocks, int begin, int end, float stiffness)
{
    for (int i = begin; i < end; ++i)
        for (int lane = 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)
            ProjectTets(positions, &blocks[i], lane, snwWide_Splat(stiffness), false);
}

static void Unfold(float* positions, const snwTetBlock* blocks, unsigned char* folded, int begin, int end)
{
    for (int i = begin; i < end; ++i)
    {
        bool moved = false;
        for (int lane = folded[i] == 0 ? snw_blockLanes : 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)
        {
            snwWide error = ProjectTets(positions, &blocks[i], lane, snwWide_Splat(1.0f), true);
            moved = snwWideInt_Any(error < snwWide_Splat(-0.01f) * snwWide_Abs(snwWide_Load(blocks[i].rest + lane))) ||
                    moved;
        }
        folded[i] = (unsigned char)(moved ? snw_unfoldedNow : folded[i] != 0 ? snw_nearlyFolded : 0);
    }
}

static void MarkFolded(const float* positions, const snwTetBlock* blocks, unsigned char* folded, int begin, int end)
{
    for (int i = begin; i < end; ++i)
    {
        bool near = false;
        for (int lane = 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)
        {
            snwWide p[4][4], u[3][3], g[4][3];
            for (int k = 0; k < 4; ++k)
                snwWide_Load4(positions, blocks[i].index[k] + lane, &p[k][0], &p[k][1], &p[k][2], &p[k][3]);
            VolumeGradients(p, u, g);
            snwWide half = snwWide_Splat(0.5f) * snwWide_Load(blocks[i].rest + lane);
            near = snwWideInt_Any(Dot(u[0], g[1]) < half) || near;
        }
        folded[i] = near ? snw_nearlyFolded : 0;
    }
}

#include "sim/constraints/damp_kernel.h"
#include "sim/constraints/neo_hookean_kernel.h"
#include "sim/constraints/pair_kernel.h"
#include "sim/constraints/plane_kernel.h"
#include "sim/constraints/soft_kernel.h"

#include "sim/constraints/rest_kernel.h"

static const snwConstraintKernels s_kernels = {
    .distance = Distance,
    .volume = Volume,
    .neoHookean = NeoHookean,
    .neoMoves = NeoMoves,
    .markFolded = MarkFolded,
    .unfold = Unfold,
    .pairTriangles = PairTriangles,
    .pairTets = PairTets,
    .unfoldTriangles = UnfoldTriangles,
    .unfoldTets = UnfoldTets,
    .planePredict = PlanePredict,
    .planeFinish = PlaneFinish,
    .dampSum = DampSum,
    .dampApply = DampApply,
    .softDistance = SoftDistance,
    .softVolume = SoftVolume,
    .softStrain = SoftStrain,
    .softNeo = SoftNeo,
    .lengths = Lengths,
    .volumes = Volumes,
    .strains = Strains,
    .neoRests = NeoRests,
};
