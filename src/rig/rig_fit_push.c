// Steps with rows: M step = right + G^T lambda, G step = targets.
//
// Rows cost far more than the step itself: with r of them and n turns, r n^2 to sweep them, r^2 n for their Gram matrix
// and r^3 / 3 to factor that. So all of that is done for few rows, and seldom:
//   - Limits that the step does not come to take no part in it. Only near ones are taken along; if the step that comes
//     out passes others, those join, and it is taken again. What comes out is the answer for all rows.
//   - Rows are compared with those of the step before. Where they and the factor are the same, as in a fit that begins
//     where the complement before it stood, so is all that was made of them, to the last bit.
//   - What a fit leaves open is closed with the matrices of the fit (Newton's method with an old derivative): rows
//     change little in a step.

#include "linalg/active.h"
#include "rig/rig_fit_parts.h"

#include <string.h>

static const double s_beside = 0.02; // rad: limits that are nearer take part from the beginning

// ---------------------------------------------------------------------------------------------------------------------
// Which rows take part

static double WantedRow(const snwRigRow* row, const snwRigPush* push)
{
    return row->atLeast && push->reach == 0 ? fmin(0, -row->error) : -push->reach * row->error;
}

static void ChooseNear(snwRigFitScratch* s)
{
    for (int i = 0; i < s->rowCount; ++i)
        s->rows[i].chosen = !s->rows[i].atLeast || s->rows[i].length || s->rows[i].error < s_beside;
}

// What a row without moves sees of the step.
static double TurnsSeen(const snwRigFitScratch* s, const snwRigRow* row)
{
    double sum = 0;
    for (int t = row->firstTerm; t < row->firstTerm + row->termCount; ++t)
    {
        const snwRigTerm* term = &s->terms[t];
        int first = s->fit->turnStart[term->handle], count = s->fit->turnStart[term->handle + 1] - first;
        for (int i = 0; i < count; ++i)
            sum += term->turn[i] * s->step.turns[first + i];
    }
    return sum;
}

// Limits that the step passes: they have only turns.
static bool ChoosePassed(snwRigFitScratch* s, const snwRigPush* push)
{
    bool any = false;
    for (int i = 0; i < s->rowCount; ++i)
    {
        snwRigRow* row = &s->rows[i];
        if (row->chosen || TurnsSeen(s, row) >= WantedRow(row, push))
            continue;
        row->chosen = any = true;
    }
    return any;
}

// As far as what is free goes.
static bool IsSameTerm(const snwRigSystem* system, const snwRigTerm* a, const snwRigTerm* b)
{
    int turns = system->turnStart[a->handle + 1] - system->turnStart[a->handle];
    bool same = a->handle == b->handle;
    for (int i = 0; i < 3; ++i)
        same = same && a->move[i] == b->move[i];
    for (int i = 0; i < turns; ++i)
        same = same && a->turn[i] == b->turn[i];
    return same;
}

static bool IsSameRow(const snwRigFitScratch* s, const snwRigRow* row, const snwRigRow* kept)
{
    bool same = row->id == kept->id && row->atLeast == kept->atLeast && row->termCount == kept->termCount &&
                row->softness == kept->softness;
    for (int t = 0; t < row->termCount && same; ++t)
        same = IsSameTerm(s->fit, &s->terms[row->firstTerm + t], &s->kept.terms[kept->firstTerm + t]);
    return same;
}

// Copies the chosen rows to the kept ones. Returns whether nothing changed but errors.
static bool KeepChosenRows(snwRigFitScratch* s)
{
    snwRigKept* kept = &s->kept;
    int count = 0, terms = 0;
    bool same = true;
    for (int i = 0; i < s->rowCount; ++i)
    {
        const snwRigRow* row = &s->rows[i];
        if (!row->chosen)
            continue;
        same = same && count < kept->count && IsSameRow(s, row, &kept->rows[count]);
        memcpy(kept->terms + terms, s->terms + row->firstTerm, (size_t)row->termCount * sizeof *kept->terms);

        // Terms of the kept rows follow each other.
        kept->rows[count] = *row;
        kept->rows[count++].firstTerm = terms;
        terms += row->termCount;
    }

    same = same && count == kept->count;
    kept->count = count;
    return same;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is made of them

void snwRigSystem_AddRow(const snwRigFit* model, const snwRigSystem* system, const snwRigTerm* terms,
    const snwRigRow* row, double factor, const snwRigMotion* to)
{
    for (int t = row->firstTerm; t < row->firstTerm + row->termCount; ++t)
    {
        const snwRigTerm* term = &terms[t];
        int first = system->turnStart[term->handle], count = system->turnStart[term->handle + 1] - first;
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
            to->moves[a][term->handle] += factor * term->move[a];
        for (int i = 0; i < count; ++i)
            to->turns[first + i] += factor * term->turn[i];
    }
}

// Turns of all rows with their moves eliminated.
static void ReduceRows(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose)
{
    const snwRigSystem* system = s->fit;
    memset(s->kept.matrix, 0, (size_t)s->kept.count * (size_t)system->n * sizeof(double));
    for (int i = 0; i < s->kept.count; ++i)
    {
        const snwRigRow* row = &s->kept.rows[i];
        const snwRigTerm* terms = s->kept.terms + row->firstTerm;
        double* turns = s->kept.matrix + (size_t)i * (size_t)system->n;
        for (int t = 0; t < row->termCount; ++t)
        {
            int first = system->turnStart[terms[t].handle], count = system->turnStart[terms[t].handle + 1] - first;
            for (int j = 0; j < count; ++j)
                turns[first + j] += terms[t].turn[j];
        }
        snwRigSystem_ReduceRow(model, system, pose, terms, row->termCount, (double* const(*)[3])s->linear, turns);
    }
}

static bool HasMove(const snwRigKept* kept, int row, int a)
{
    const snwRigTerm* terms = kept->terms + kept->rows[row].firstTerm;
    bool has = false;
    for (int t = 0; t < kept->rows[row].termCount; ++t)
        has = has || terms[t].move[a] != 0;
    return has;
}

// P0^-1 G_u^T of one row, along one coordinate.
static void MoveByRow(const snwRigFit* model, const snwRigFitScratch* s, const snwRigRow* row, int a, double* moves)
{
    memset(moves, 0, (size_t)model->stride * sizeof *moves);
    for (int t = row->firstTerm; t < row->firstTerm + row->termCount; ++t)
    {
        const snwRigTerm* term = &s->kept.terms[t];
        const double* inverse = s->fit->inverse[s->fit->groupOf[a]] + (size_t)term->handle * (size_t)model->stride;
        for (int k = 0; k < model->stride; ++k)
            moves[k] += term->move[a] * inverse[k];
    }
}

// What a row sees of moves along one coordinate.
static double MoveSeen(const snwRigKept* kept, const snwRigRow* row, int a, const double* moves)
{
    double sum = 0;
    for (int t = row->firstTerm; t < row->firstTerm + row->termCount; ++t)
        sum += kept->terms[t].move[a] * moves[kept->terms[t].handle];
    return sum;
}

// Adds G_u P0^-1 G_u^T to the Gram matrix.
static void AddMovesProducts(const snwRigFit* model, snwRigFitScratch* s)
{
    snwRigKept* kept = &s->kept;
    int count = kept->count;
    bool* has = kept->pushes; // free until the forces are looked for
    double* moves = s->linear[0][0];

    // The moves have a matrix for each coordinate; rows that push nothing along it are skipped.
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
    {
        for (int i = 0; i < count; ++i)
        {
            has[i] = HasMove(kept, i, a);
            if (has[i])
                MoveByRow(model, s, &kept->rows[i], a, moves);
            for (int j = 0; j <= i && has[i]; ++j)
            {
                if (!has[j])
                    continue;
                double sum = kept->gram[i * count + j] + MoveSeen(kept, &kept->rows[j], a, moves);
                kept->gram[i * count + j] = kept->gram[j * count + i] = sum;
            }
        }
    }
}

// Panels and Gram matrix of the chosen rows.
static void FillPanels(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose)
{
    snwRigKept* kept = &s->kept;
    bool pure = snwRigSystem_IsOf(model, s->fit, pose), same = KeepChosenRows(s);
    if (same && pure && kept->version == s->fit->version)
        return;
    kept->version = pure ? s->fit->version : -1;
    kept->softness = -1;
    ReduceRows(model, s, pose);
    snwDense_ForwardRows(&s->fit->factor, kept->count, kept->matrix, s->fit->n, kept->panels);
    snwDense_Gram(&s->fit->factor, kept->count, kept->panels, kept->gram, kept->count);
    AddMovesProducts(model, s);
}

// ---------------------------------------------------------------------------------------------------------------------
// Forces

// From kept->right.
static void FindLambda(const snwRigFit* model, snwRigFitScratch* s, const snwRigPush* push)
{
    snwRigKept* kept = &s->kept;
    int count = kept->count;
    for (int i = 0; i < count; ++i)
    {
        const snwRigRow* row = &kept->rows[i];
        double spring = row->leaving ? snw_rigLeash * model->mass : row->firm ? 0 : push->spring;
        kept->compliance[i] = (push->softness + row->softness) * kept->gram[i * count + i];
        if (spring > 0)
            kept->compliance[i] += 1 / (spring * (row->length ? 1 : model->size * model->size));
        kept->atLeast[i] = row->atLeast;
        kept->pushes[i] = row->atLeast && row->error <= 0;
    }
    snwActiveDef active = {s->fit->factor.kernels, count, kept->gram, count, kept->compliance, kept->right,
        kept->atLeast, kept->pushes, kept->lambda, kept->active, push->spring == 0 && kept->softness == push->softness};
    kept->softness = snwActive_Solve(&active).pivots > 0 && push->spring == 0 ? push->softness : -1;
}

// step's moves are those without any forces of rows.
static void PushChosenRows(const snwRigFit* model, snwRigFitScratch* s, const snwRigPush* push)
{
    snwRigKept* kept = &s->kept;
    snwDense_MulRows(&s->fit->factor, kept->count, kept->panels, s->step.turns, kept->right);
    for (int i = 0; i < kept->count; ++i)
    {
        const snwRigRow* row = &kept->rows[i];
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
            kept->right[i] += MoveSeen(kept, row, a, s->step.moves[a]);
        kept->right[i] = WantedRow(row, push) - kept->right[i];
    }
    FindLambda(model, s, push);
}

static void AddRowForces(const snwRigFit* model, snwRigFitScratch* s)
{
    for (int i = 0; i < s->kept.count; ++i)
        snwRigSystem_AddRow(model, s->fit, s->kept.terms, &s->kept.rows[i], s->kept.lambda[i], &s->right);
}

static void FindPushedTurns(snwRigFitScratch* s)
{
    snwDense_AddRows(&s->fit->factor, s->kept.count, s->kept.panels, s->kept.lambda, s->step.turns);
    snwDense_Backward(&s->fit->factor, s->step.turns);
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps

void snwRigFit_SolveTurns(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose, const snwRigPush* push)
{
    snwRigFitScratch* s = scratch;
    snwRigSystem_Reduce(model, s->fit, pose, &s->right, (double* const(*)[3])s->linear);
    if (s->rowCount == 0)
    {
        s->kept.count = 0;
        memcpy(s->step.turns, s->right.turns, (size_t)s->fit->n * sizeof(double));
        snwDense_Solve(&s->fit->factor, s->step.turns);
        return;
    }

    // With rows: their turns are swept through the factor, forces found, and limits that the step would pass join in
    // until there are none.
    snwRigSystem_Moves(model, s->fit, (double* const*)s->right.moves, (double* const*)s->step.moves);
    ChooseNear(s);
    do
    {
        FillPanels(model, s, pose);
        memcpy(s->step.turns, s->right.turns, (size_t)s->fit->n * sizeof(double));
        snwDense_Forward(&s->fit->factor, s->step.turns);
        PushChosenRows(model, s, push);
        FindPushedTurns(s);
    } while (ChoosePassed(s, push));

    AddRowForces(model, s);
}

// Errors of the kept rows at another pose. False: other rows count there.
static bool TakeErrors(snwRigFitScratch* s)
{
    snwRigKept* kept = &s->kept;
    int at = 0;
    for (int i = 0; i < s->rowCount; ++i)
    {
        const snwRigRow* row = &s->rows[i];
        if (at < kept->count && kept->rows[at].id == row->id)
            kept->rows[at++].error = row->error;
        else if (!row->atLeast || row->error < 0)
            return false;
    }
    return at == kept->count;
}

bool snwRigFit_CloseAgain(const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose, double softness)
{
    snwRigFitScratch* s = scratch;
    if (s->kept.softness != softness || !TakeErrors(s))
        return false;
    for (int i = 0; i < s->kept.count; ++i)
        s->kept.right[i] = -s->kept.rows[i].error;
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        memset(s->right.moves[a], 0, (size_t)model->stride * sizeof(double));
    memset(s->step.turns, 0, (size_t)s->fit->n * sizeof(double));
    FindLambda(model, s, &(snwRigPush){1, softness, 0});
    FindPushedTurns(s);
    AddRowForces(model, s);
    snwRigSystem_Return(model, s->fit, pose, s->right.moves, &s->step, (double* const(*)[3])s->linear);
    return true;
}
