// The passes over flat flesh that is alone: nothing touches, pins or drags it. Then a substep needs no positions, no
// moves of their own and nothing of where it began: the plane's rows (x y predicted, x y moved) are all, the elements
// and the rig read and write nothing else, and the state is met twice, here. Numbers are the same as with all passes of
// rigpbd.c, but these wait for memory, and five of them took as long as the elements.

#include "sim/rigpbd/rigpbd.h"

#include <math.h>

enum
{
    snw_mostSpeed = 15, // sizes per second that a vertex has against the handles
    snw_planeChunk = 16,
};

snwRigpbdBound snwRigpbd_Bound(const snwRigpbdWork* work)
{
    snwVec3 mean = snwRigpbd_MeanVelocity(work);
    return (snwRigpbdBound){.centre = {(float)mean.x, (float)mean.y, (float)mean.z, 0.0f},
        .most = work->model->handleCount > 0 ? (float)(snw_mostSpeed * work->model->size) : INFINITY};
}

snwRow snwRigpbd_LimitVelocity(snwRow v, const snwRigpbdBound* bound)
{
    snwRow against = v - bound->centre, square = against * against;
    float sum = square[0] + square[1] + square[2];
    if (!(sum > bound->most * bound->most))
        return v;
    float part = bound->most / sqrtf(sum);
    return bound->centre + against * (snwRow){part, part, part, 1.0f};
}

void snwRigpbd_PredictPlane(int begin, int end, void* data)
{
    const snwRigpbdPass* pass = data;
    const snwRow h = {pass->h, pass->h, 0.0f, 0.0f}, upright = {1.0f, 1.0f, 0.0f, 0.0f};
    const snwRow acceleration = pass->acceleration;
    const float* positions = pass->work->state.positions;
    float *velocities = pass->work->state.velocities, *plane = pass->work->plane;
    for (size_t at = 4 * (size_t)begin; at < 4 * (size_t)end; at += 4)
    {
        snwRow v = *(const snwRow*)(velocities + at) + acceleration;
        *(snwRow*)(velocities + at) = v;
        *(snwRow*)(plane + at) = (*(const snwRow*)(positions + at) + h * v) * upright;
    }
}

// Gives sums of squares of the velocities against the centre.
static snwRow FinishChunk(const snwRigpbdPass* pass, snwRow centre, size_t begin, size_t end)
{
    const snwRow rate = {pass->inverseH, pass->inverseH, 0.0f, 0.0f}, keep = {pass->keep, pass->keep, pass->keep, 1.0f};
    const snwRow mass = {0.0f, 0.0f, 0.0f, 1.0f};
    const float* plane = pass->work->plane;
    float *velocities = pass->work->state.velocities, *positions = pass->work->state.positions;
    snwRow squares = {0};
    for (size_t at = begin; at < end; at += 4)
    {
        snwRow p = *(const snwRow*)(plane + at), d = __builtin_shufflevector(p, p, 2, 3, 2, 3), x = p + d;
        snwRow v = (*(const snwRow*)(velocities + at) + d * rate) * keep, against = v - centre;
        snwRow w = *(const snwRow*)(positions + at) * mass;
        *(snwRow*)(positions + at) = __builtin_shufflevector(x, w, 0, 1, 6, 7);
        *(snwRow*)(velocities + at) = v;
        squares += against * against;
    }
    return squares;
}

// x = p + d, v += d / h. Few velocities are too large: a chunk is looked through only if one may be.
void snwRigpbd_FinishPlane(int begin, int end, void* data)
{
    const snwRigpbdPass* pass = data;
    snwRigpbdBound bound = snwRigpbd_Bound(pass->work);
    float most = bound.most * bound.most;
    for (int first = begin; first < end; first += snw_planeChunk)
    {
        int last = first + snw_planeChunk < end ? first + snw_planeChunk : end;
        snwRow squares = FinishChunk(pass, bound.centre, 4 * (size_t)first, 4 * (size_t)last);
        for (int i = first; i < last && !(squares[0] + squares[1] + squares[2] < most); ++i)
        {
            snwRow* v = snwRigpbd_RowAt(pass->work->state.velocities, i);
            *v = snwRigpbd_LimitVelocity(*v, &bound);
        }
    }
}
