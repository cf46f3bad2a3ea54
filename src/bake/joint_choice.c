// Weights of one vertex over candidate joints: nonnegative least squares that sum to one, by an active set, then
// thinned to as many joints as a skin may have.

#include "bake/joint_choice.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SNW_FADED 1e-5 // weights that are dropped
#define SNW_RIDGE 1e-12
#define SNW_SLOPE 1e-6 // of one: how much steeper a candidate must be to be followed

typedef struct Active
{
    int rows[snw_mostCandidates]; // that are followed
    int count;
    double shift; // added to all of G: the same for all weights that sum to one, and no problem is singular for it
    double lower[snw_mostCandidates][snw_mostCandidates]; // Cholesky factor of their part of G
    double values[snw_mostCandidates];                    // G^-1 of ones
    double worth[snw_mostCandidates];                     // what the sum of values loses without one of them
} Active;

void snwJointChoice_Add(snwJointChoice* choice, int bone)
{
    for (int k = 0; k < choice->count; ++k)
        if (choice->bones[k] == bone)
            return;
    if (choice->count < snw_mostCandidates)
        choice->bones[choice->count++] = bone;
}

double snwJointChoice_Cost(const snwJointChoice* choice)
{
    double sum = 0;
    for (int k = 0; k < choice->count; ++k)
        for (int l = 0; l < choice->count; ++l)
            sum += choice->weights[k] * choice->gram[k][l] * choice->weights[l];
    return sum;
}

// ---------------------------------------------------------------------------------------------------------------------

// Two candidates that move alike leave a pivot of nothing but rounding: the floor decides between them.
static void FactorGram(const snwJointChoice* c, Active* a)
{
    for (int i = 0; i < a->count; ++i)
        for (int j = 0; j <= i; ++j)
        {
            double diagonal = c->gram[a->rows[i]][a->rows[i]];
            double sum = c->gram[a->rows[i]][a->rows[j]] + a->shift + (i == j ? SNW_RIDGE * diagonal + 1e-30 : 0);
            for (int k = 0; k < j; ++k)
                sum -= a->lower[i][k] * a->lower[j][k];
            a->lower[i][j] = i == j ? sqrt(fmax(sum, SNW_RIDGE * diagonal + 1e-30)) : sum / a->lower[j][j];
        }
}

static void Substitute(const Active* a, double* x)
{
    for (int i = 0; i < a->count; ++i)
    {
        for (int k = 0; k < i; ++k)
            x[i] -= a->lower[i][k] * x[k];
        x[i] /= a->lower[i][i];
    }
    for (int i = a->count - 1; i >= 0; --i)
    {
        for (int k = i + 1; k < a->count; ++k)
            x[i] -= a->lower[k][i] * x[k];
        x[i] /= a->lower[i][i];
    }
}

static void SolveActive(const snwJointChoice* c, Active* a)
{
    FactorGram(c, a);
    for (int i = 0; i < a->count; ++i)
        a->values[i] = 1;
    Substitute(a, a->values);
}

static void WeighActive(const snwJointChoice* c, Active* a)
{
    SolveActive(c, a);
    for (int i = 0; i < a->count; ++i)
    {
        double column[snw_mostCandidates] = {0};
        column[i] = 1;
        Substitute(a, column);
        a->worth[i] = a->values[i] * a->values[i] / column[i];
    }
}

static void DropActive(Active* a, int index)
{
    memmove(a->rows + index, a->rows + index + 1, (size_t)(a->count - index - 1) * sizeof *a->rows);
    --a->count;
}

// From x to the solution of the active ones; whoever comes to nothing on the way is left behind.
static void SettleActive(const snwJointChoice* c, Active* a, double* x)
{
    for (int first = 0; first >= 0 && a->count > 0;)
    {
        double step = 1;
        first = -1;

        // The solution of the active ones; the first that would get below zero on the way stops it.
        SolveActive(c, a);
        for (int i = 0; i < a->count; ++i)
        {
            double here = x[a->rows[i]], part = a->values[i] > 0 ? 1 : here / (here - a->values[i]);
            if (!(a->values[i] > 0) && (first < 0 || part < step))
            {
                step = part;
                first = i;
            }
        }

        // As far as that one, which then is zero and leaves.
        for (int i = 0; i < a->count; ++i)
            x[a->rows[i]] += step * (a->values[i] - x[a->rows[i]]);
        if (first >= 0)
        {
            x[a->rows[first]] = 0;
            DropActive(a, first);
        }
    }
}

// The candidate that would help most, or -1.
static int Steepest(const snwJointChoice* c, const Active* a, const double* x, const bool* barred)
{
    int best = -1;
    double most = SNW_SLOPE;
    for (int k = 0; k < c->count; ++k)
    {
        double slope = 1;
        for (int l = 0; l < c->count; ++l)
            slope -= (c->gram[k][l] + a->shift) * x[l];
        if (!barred[k] && !(x[k] > 0) && slope > most)
        {
            most = slope;
            best = k;
        }
    }
    return best;
}

static double Shift(const snwJointChoice* c)
{
    double least = INFINITY;
    for (int k = 0; k < c->count; ++k)
        least = fmin(least, c->gram[k][k]);
    return 1e-3 * least + 1e-30;
}

// Sets the weights, and the active ones with what they are worth.
static void SolveChoice(snwJointChoice* c, const bool* barred, Active* a)
{
    double x[snw_mostCandidates] = {0}, sum = 0;
    a->count = 0;
    a->shift = Shift(c);

    // From the weights so far, scaled to the unnormalised problem.
    for (int k = 0; k < c->count; ++k)
        if (c->weights[k] > 0 && !barred[k])
        {
            x[k] = c->weights[k] / (snwJointChoice_Cost(c) + a->shift);
            a->rows[a->count++] = k;
        }

    for (int round = 0; round < 3 * snw_mostCandidates; ++round) // rounding may make two of them take turns
    {
        SettleActive(c, a, x);
        int next = Steepest(c, a, x, barred);
        if (next < 0)
            break;
        a->rows[a->count++] = next;
    }

    SettleActive(c, a, x);

    // Back to a sum of one.
    for (int k = 0; k < c->count; ++k)
        sum += x[k];
    for (int k = 0; k < c->count; ++k)
        c->weights[k] = sum > 0 ? x[k] / sum : c->weights[k];
}

void snwJointChoice_Balance(snwJointChoice* choice)
{
    Active active;
    bool barred[snw_mostCandidates];
    for (int k = 0; k < choice->count; ++k)
        barred[k] = !(choice->weights[k] > 0);
    SolveChoice(choice, barred, &active);
}

// The active joint whose loss the others make up for best; but one that weighs next to nothing goes first.
static int LeastWorth(const snwJointChoice* c, Active* a)
{
    int best = 0;
    WeighActive(c, a);
    for (int i = 0; i < a->count; ++i)
        if (c->weights[a->rows[i]] < SNW_FADED)
            return i;
    for (int i = 1; i < a->count; ++i)
        best = a->worth[i] < a->worth[best] ? i : best;
    return best;
}

static bool HasFaded(const snwJointChoice* c)
{
    for (int k = 0; k < c->count; ++k)
        if (c->weights[k] > 0 && c->weights[k] < SNW_FADED)
            return true;
    return false;
}

void snwJointChoice_Thin(snwJointChoice* choice, int most)
{
    Active active;
    bool barred[snw_mostCandidates] = {false};
    SolveChoice(choice, barred, &active);
    while (active.count > 1 && (active.count > most || HasFaded(choice)))
    {
        int gone = active.rows[LeastWorth(choice, &active)];
        barred[gone] = true;
        choice->weights[gone] = 0;
        SolveChoice(choice, barred, &active);
    }
}

int snwJointChoice_Sort(const snwJointChoice* choice, int order[snw_mostInfluences])
{
    int count = 0;
    bool taken[snw_mostCandidates] = {false};
    while (count < snw_mostInfluences)
    {
        int best = -1;
        for (int k = 0; k < choice->count; ++k)
            if (!taken[k] && choice->weights[k] > (best >= 0 ? choice->weights[best] : 0))
                best = k;
        if (best < 0)
            return count;
        taken[best] = true;
        order[count++] = best;
    }
    return count;
}
