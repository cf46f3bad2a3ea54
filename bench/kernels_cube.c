#include "kernels_cube.h"

#include "math/vec.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void* snwBench_Allocate(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void snwBenchCube_Free(snwBenchCube* cube)
{
    void* all[] = {cube->tets, cube->inverse, cube->blocks, cube->positions, cube->exact, cube->q, cube->guess, cube->R,
        cube->S, cube->svd, cube->baseQ, cube->baseR};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

bool snwBenchCube_Allocate(snwBenchCube* cube, int tetCount)
{
    memset(cube, 0, sizeof *cube);
    cube->side = (int)(cbrt(tetCount / 5.0) + 0.5);
    cube->side = cube->side < 1 ? 1 : cube->side;
    size_t nv = (size_t)(cube->side + 1) * (size_t)(cube->side + 1) * (size_t)(cube->side + 1);
    size_t nt = 5 * (size_t)cube->side * (size_t)cube->side * (size_t)cube->side, nb = (nt + 7) / 8;
    cube->vertexCount = (int)nv, cube->tetCount = (int)nt, cube->blockCount = (int)nb;
    cube->tets = snwBench_Allocate(nt * sizeof *cube->tets);
    cube->inverse = snwBench_Allocate(nt * sizeof *cube->inverse);
    cube->blocks = snwBench_Allocate(nb * sizeof *cube->blocks);
    cube->positions = snwBench_Allocate(nv * 4 * sizeof(float));
    cube->exact = snwBench_Allocate(nv * sizeof *cube->exact);
    cube->q = snwBench_Allocate(nb * sizeof *cube->q);
    cube->guess = snwBench_Allocate(nb * sizeof *cube->guess);
    cube->R = snwBench_Allocate(nb * sizeof *cube->R);
    cube->S = snwBench_Allocate(nb * sizeof *cube->S);
    cube->svd = snwBench_Allocate(nb * sizeof *cube->svd);
    cube->baseQ = snwBench_Allocate(nt * sizeof *cube->baseQ);
    cube->baseR = snwBench_Allocate(nt * sizeof *cube->baseR);
    return cube->tets && cube->inverse && cube->blocks && cube->positions && cube->exact && cube->q && cube->guess &&
           cube->R && cube->S && cube->svd && cube->baseQ && cube->baseR;
}

static snwVec3 RestPosition(const snwBenchCube* cube, int vertex)
{
    int n = cube->side + 1, x = vertex % n, y = vertex / n % n, z = vertex / n / n;
    double h = 0.5 / cube->side;
    return (snwVec3){h * x, h * y, h * z};
}

// Five tetrahedra per cell, mirrored in every other cell so that faces match.
static void FillCell(snwBenchCube* cube, int cell, int x, int y, int z)
{
    static const int corners[5][4] = {{0, 1, 3, 5}, {0, 3, 2, 6}, {0, 5, 4, 6}, {3, 5, 6, 7}, {0, 3, 6, 5}};
    int n = cube->side + 1, flip = (x + y + z) & 1;
    for (int t = 0; t < 5; t++)
    {
        for (int k = 0; k < 4; k++)
        {
            int c = corners[t][k] ^ flip;
            cube->tets[5 * cell + t][k] = (x + (c & 1)) + n * ((y + (c >> 1 & 1)) + n * (z + (c >> 2 & 1)));
        }
    }
}

void snwBenchCube_FillRest(snwBenchCube* cube)
{
    for (int cell = 0; cell < cube->tetCount / 5; cell++)
        FillCell(cube, cell, cell % cube->side, cell / cube->side % cube->side, cell / cube->side / cube->side);
    memset(cube->blocks, 0, (size_t)cube->blockCount * sizeof *cube->blocks);
    for (int t = 0; t < cube->tetCount; t++)
    {
        snwVec3 x[4];
        for (int k = 0; k < 4; k++)
        {
            x[k] = RestPosition(cube, cube->tets[t][k]);
            cube->blocks[t / 8].index[k][t % 8] = cube->tets[t][k];
        }
        snwMat3 inverse = snwMat3_Identity();
        snwMat3_Inverse(
            snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0])), &inverse);
        for (int i = 0; i < 9; i++)
        {
            cube->inverse[t][i] = inverse.m[i / 3][i % 3];
            cube->blocks[t / 8].inverseRest[i][t % 8] = (float)inverse.m[i / 3][i % 3];
        }
    }
}

void snwBenchCube_Deform(snwBenchCube* cube, int frame)
{
    uint64_t noise = 88172645463325252u;
    for (int v = 0; v < cube->vertexCount; v++)
    {
        snwVec3 p = RestPosition(cube, v);
        double angle = 6 * p.z * (1 + 0.03 * frame), c = cos(angle), s = sin(angle);
        double x = 1.2 * p.x - 0.25, y = 0.9 * p.y - 0.25;
        double* out = cube->exact[v];
        out[0] = c * x - s * y, out[1] = s * x + c * y, out[2] = 1.1 * p.z;
        for (int k = 0; k < 3; k++)
        {
            noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
            out[k] += 0.12 / cube->side * ((double)(noise >> 11) * 0x1p-53 - 0.5);
            cube->positions[4 * v + k] = (float)out[k];
        }
        cube->positions[4 * v + 3] = 0;
    }
}
