// Rounds of unfolding over the blocks of a body, alone or in turns with the contacts of its island.

#include "sim/constraints/unfold.h"
#include "base/context.h"
#include "sim/constraints/kernels.h"

#include <string.h>

enum
{
    unfold_markGrain = 1024, // blocks: enough for a worker to be worth waking
    unfold_lookAgain = 4,    // rounds between two looks at all blocks
    unfold_mostRounds = 64,
    unfold_islandRounds = 64,
};

typedef struct UnfoldLoop
{
    const snwConstraintKernels* kernels;
    const snwUnfold* unfold;
} UnfoldLoop;

static bool AnyMarked(const snwUnfold* unfold, int mark)
{
    return memchr(unfold->folded, mark, (size_t)unfold->blocks->tetBlocks) != NULL;
}

static bool IsMarked(const snwUnfold* unfold)
{
    return AnyMarked(unfold, snw_nearlyFolded) || AnyMarked(unfold, snw_unfoldedNow);
}

static void MarkBlocks(int begin, int end, void* data)
{
    const UnfoldLoop* loop = data;
    const snwUnfold* unfold = loop->unfold;
    loop->kernels->markFolded(unfold->positions, unfold->tets, unfold->folded, begin, end);
}

static void UnfoldBlocks(int begin, int end, void* data)
{
    const UnfoldLoop* loop = data;
    const snwUnfold* unfold = loop->unfold;
    loop->kernels->unfold(unfold->positions, unfold->tets, unfold->folded, begin, end);
}

bool snwUnfold_Mark(snwContext* context, const snwUnfold* unfold)
{
    UnfoldLoop loop = {snwConstraint_Kernels(context->simd), unfold};
    snwParallelFor(context, unfold->blocks->tetBlocks, unfold_markGrain, MarkBlocks, &loop);
    return AnyMarked(unfold, snw_nearlyFolded);
}

bool snwUnfold_Round(snwContext* context, const snwUnfold* unfold, bool back)
{
    UnfoldLoop loop = {snwConstraint_Kernels(context->simd), unfold};
    if (!IsMarked(unfold))
        return false;
    (back ? snwColours_SweepBack : snwColours_Sweep)(context, &unfold->blocks->tetColours, UnfoldBlocks, &loop);
    return AnyMarked(unfold, snw_unfoldedNow);
}

bool snwUnfold_Next(snwContext* context, const snwUnfold* unfold, int index)
{
    if (!IsMarked(unfold))
        return false;
    bool fresh = index % unfold_lookAgain == 0 || !AnyMarked(unfold, snw_unfoldedNow);
    if (fresh)
        snwUnfold_Mark(context, unfold);
    return snwUnfold_Round(context, unfold, false) || !fresh;
}

void snwUnfold_All(snwContext* context, const snwUnfold* unfold)
{
    bool any = snwUnfold_Mark(context, unfold);
    for (int round = 0; round < unfold_mostRounds && any; ++round)
        any = snwUnfold_Next(context, unfold, round);
}

void snwUnfold_Island(snwResponse* response, int island, const snwUnfold* unfolds)
{
    bool any = true;
    for (int round = 0; round < unfold_islandRounds && any; ++round)
    {
        any = false;
        for (int k = response->islandStarts[island]; k < response->islandStarts[island + 1]; ++k)
        {
            int body = response->islandMembers[k];
            if (body < response->scene->bodyCount && unfolds[body].tets != NULL)
                any = snwUnfold_Next(response->context, &unfolds[body], round) || any;
        }
        if (any && round < unfold_islandRounds / 2)
            snwResponse_Solve(response, island, false);
        else if (any)
            snwResponse_SolveWithoutSelf(response, island);
    }
}
