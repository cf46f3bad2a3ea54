// Weights of the fit of helper joints, and what they leave.

#include "bake/joint_parts.h"

#include <math.h>
#include <string.h>

static const double s_memory = 0.8; // of how much an error matters: without it vertices take turns in being neglected
static const double s_least = 0.3;  // squares of errors in tolerances: those that are larger matter more and more,
static const double s_most = 9;     // up to here: what is far off needs more helpers, not more of everybody's attention

enum
{
    snw_mostOwn = 8, // joints of the source that a vertex may choose from
    snw_tries = 8    // of a vertex alone to keep the tolerance
};

static snwVec3 Skin(const snwJointFitter* f, int frame, int vertex)
{
    snwVec3 base = snwJointFitter_Get(f->def->bases, f, frame, vertex), sum = {0, 0, 0};
    for (int k = 0; k < snw_mostInfluences; ++k)
    {
        double weight = (double)f->fit->weights[vertex][k];
        if (weight > 0)
            sum = snwVec3_MulAdd(sum, weight, snwJointFitter_Follow(f, frame, f->fit->bones[vertex][k], base));
    }
    return sum;
}

static void Emphasize(const snwJointFitter* f, int frame, int vertex, double square)
{
    float* say = &f->says[snwJointFitter_Row(f, frame, vertex)];
    double over = s_least + fmin(square / (f->def->tolerance * f->def->tolerance), s_most);
    *say = (float)(pow((double)*say, s_memory) * pow(over, 3 * (1 - s_memory)));
}

static void MeasureFitVertices(int begin, int end, void* data)
{
    snwJointFitter* f = data;
    for (int i = begin; i < end; ++i)
    {
        double worst = 0, sum = 0;
        for (int frame = 0; frame < f->def->frameCount; ++frame)
        {
            snwVec3 left = snwVec3_Sub(snwJointFitter_Get(f->def->targets, f, frame, i), Skin(f, frame, i));
            double square = snwVec3_LengthSquared(left);
            snwJointFitter_SetLeft(f, frame, i, left);
            Emphasize(f, frame, i, square);
            worst = fmax(worst, square);
            sum += square;
        }
        f->errors[i] = sum / f->def->frameCount;
        f->worst[i] = worst;
    }
}

static void Sum(snwJointFitter* f)
{
    double worst = 0, sum = 0;
    f->overCount = 0;
    for (int i = 0; i < f->def->vertexCount; ++i)
    {
        worst = fmax(worst, f->worst[i]);
        sum += f->errors[i];
        f->overCount += f->worst[i] > f->def->tolerance * f->def->tolerance;
    }
    f->fit->maxError = sqrt(worst);
    f->fit->rmsError = sqrt(sum / f->def->vertexCount);
}

void snwJointFitter_Measure(snwJointFitter* f)
{
    snwParallelFor(f->context, f->def->vertexCount, snw_fitGrain, MeasureFitVertices, f);
    Sum(f);
}

// ---------------------------------------------------------------------------------------------------------------------

static void FillGram(const snwJointFitter* f, int vertex, snwJointChoice* c)
{
    memset(c->gram, 0, sizeof c->gram);
    for (int frame = 0; frame < f->def->frameCount; ++frame)
    {
        snwVec3 base = snwJointFitter_Get(f->def->bases, f, frame, vertex),
                target = snwJointFitter_Get(f->def->targets, f, frame, vertex);
        double say = snwJointFitter_Say(f, frame, vertex);
        snwVec3 errors[snw_mostCandidates];
        for (int k = 0; k < c->count; ++k)
            errors[k] = snwVec3_Sub(snwJointFitter_Follow(f, frame, c->bones[k], base), target);
        for (int k = 0; k < c->count; ++k)
            for (int l = 0; l <= k; ++l)
                c->gram[k][l] += say * snwVec3_Dot(errors[k], errors[l]);
    }
    for (int k = 0; k < c->count; ++k)
        for (int l = 0; l < k; ++l)
            c->gram[l][k] = c->gram[k][l];
}

static void StoreInfluences(const snwJointFitter* f, int vertex, const snwJointChoice* c)
{
    int* bones = f->fit->bones[vertex];
    float* weights = f->fit->weights[vertex];
    int order[snw_mostInfluences], count = snwJointChoice_Sort(c, order);
    count = count < f->def->influences ? count : f->def->influences;
    double sum = 0, left = 1;
    for (int k = 0; k < count; ++k)
        sum += c->weights[order[k]];
    memset(bones, 0, snw_mostInfluences * sizeof *bones);
    memset(weights, 0, snw_mostInfluences * sizeof *weights);
    for (int k = count - 1; k >= 0; --k) // the largest takes what rounding leaves
    {
        bones[k] = c->bones[order[k]];
        weights[k] = (float)(k > 0 ? c->weights[order[k]] / sum : left);
        left -= (double)weights[k];
    }
}

// The source's weights; the heaviest if there are many.
static void BeginChoice(const snwJointFitter* f, int vertex, snwJointChoice* c)
{
    *c = (snwJointChoice){0};

    // Insertion by weight.
    for (int k = f->def->starts[vertex]; k < f->def->starts[vertex + 1]; ++k)
    {
        int at = c->count < snw_mostOwn ? c->count++ : snw_mostOwn;
        for (; at > 0 && c->weights[at - 1] < f->def->values[k]; --at)
            if (at < snw_mostOwn)
            {
                c->weights[at] = c->weights[at - 1];
                c->bones[at] = c->bones[at - 1];
            }

        if (at < snw_mostOwn)
        {
            c->weights[at] = f->def->values[k];
            c->bones[at] = f->def->bones[k];
        }
    }

    // Nobody holds it: the first joint does.
    if (c->count == 0)
    {
        c->count = 1;
        c->weights[0] = 1;
    }
}

// Sets the weights of the candidates to those that the vertex has by now.
static void Recall(const snwJointFitter* f, int vertex, snwJointChoice* c)
{
    memset(c->weights, 0, sizeof c->weights);
    for (int k = 0; k < c->count; ++k)
        for (int l = 0; l < snw_mostInfluences; ++l)
            if (f->fit->weights[vertex][l] > 0 && f->fit->bones[vertex][l] == c->bones[k])
                c->weights[k] = (double)f->fit->weights[vertex][l];
}

static void GatherCandidates(const snwJointFitter* f, int vertex, snwJointChoice* c)
{
    BeginChoice(f, vertex, c);
    for (int k = 0; k < snw_mostInfluences; ++k)
        if (f->fit->weights[vertex][k] > 0)
            snwJointChoice_Add(c, f->fit->bones[vertex][k]);
    for (int k = 0; k < snw_nearHelpers && f->nearest[vertex][k] >= 0; ++k)
        snwJointChoice_Add(c, f->def->jointCount + f->nearest[vertex][k]);
}

static void ChooseVertexBones(const snwJointFitter* f, int vertex, int most)
{
    snwJointChoice c;
    GatherCandidates(f, vertex, &c);
    FillGram(f, vertex, &c);
    Recall(f, vertex, &c);
    snwJointChoice before = c; // what it follows by now may still be better
    snwJointChoice_Thin(&c, most);
    snwJointChoice_Balance(&before);
    bool keeps = most == f->def->influences && snwJointChoice_Cost(&before) < snwJointChoice_Cost(&c);
    StoreInfluences(f, vertex, keeps ? &before : &c);
}

static void WeighVertices(int begin, int end, void* data)
{
    for (int i = begin; i < end; ++i)
        ChooseVertexBones(data, i, ((const snwJointFitter*)data)->def->influences);
}

void snwJointFitter_Weigh(snwJointFitter* f)
{
    snwParallelFor(f->context, f->def->vertexCount, snw_fitGrain, WeighVertices, f);
}

typedef struct Influences
{
    int bones[snw_mostInfluences];
    float weights[snw_mostInfluences];
} Influences;

static Influences GetInfluences(const snwJointFitter* f, int vertex)
{
    Influences influences;
    memcpy(influences.bones, f->fit->bones[vertex], sizeof influences.bones);
    memcpy(influences.weights, f->fit->weights[vertex], sizeof influences.weights);
    return influences;
}

static void SetInfluences(snwJointFitter* f, int vertex, const Influences* influences)
{
    memcpy(f->fit->bones[vertex], influences->bones, sizeof influences->bones);
    memcpy(f->fit->weights[vertex], influences->weights, sizeof influences->weights);
    MeasureFitVertices(vertex, vertex + 1, f);
}

// A vertex for itself, without new poses: a few tries more to get within the tolerance.
static void PolishVertex(snwJointFitter* f, int vertex)
{
    Influences best = GetInfluences(f, vertex);
    double least = f->worst[vertex];
    for (int n = 0; n < snw_tries && snwJointFitter_IsOff(f, vertex); ++n)
    {
        ChooseVertexBones(f, vertex, f->def->influences);
        MeasureFitVertices(vertex, vertex + 1, f);
        if (f->worst[vertex] < least)
        {
            least = f->worst[vertex];
            best = GetInfluences(f, vertex);
        }
    }
    SetInfluences(f, vertex, &best);
}

static void PolishVertices(int begin, int end, void* data)
{
    snwJointFitter* f = data;
    for (int i = begin; i < end; ++i)
        if (snwJointFitter_IsOff(f, i))
            PolishVertex(f, i);
}

// What mattered to a vertex for itself does not matter to the helpers.
void snwJointFitter_Polish(snwJointFitter* f)
{
    size_t bytes = (size_t)f->def->frameCount * (size_t)f->def->vertexCount * sizeof *f->says;
    memcpy(f->keptSays, f->says, bytes);
    snwParallelFor(f->context, f->def->vertexCount, snw_fitGrain, PolishVertices, f);
    memcpy(f->says, f->keptSays, bytes);
    Sum(f);
}

static void LightenVertices(int begin, int end, void* data)
{
    snwJointFitter* f = data;
    for (int i = begin; i < end; ++i)
    {
        Influences before = GetInfluences(f, i);
        if (!(before.weights[snw_setSize] > 0))
            continue;
        ChooseVertexBones(f, i, snw_setSize);
        MeasureFitVertices(i, i + 1, f);
        if (snwJointFitter_IsOff(f, i))
            SetInfluences(f, i, &before);
    }
}

void snwJointFitter_Lighten(snwJointFitter* f)
{
    snwParallelFor(f->context, f->def->vertexCount, snw_fitGrain, LightenVertices, f);
    Sum(f);
}

static void UseSource(const snwJointFitter* f, int vertex)
{
    snwJointChoice c;
    BeginChoice(f, vertex, &c);
    StoreInfluences(f, vertex, &c);
}

void snwJointFitter_UseSource(snwJointFitter* f)
{
    for (int i = 0; i < f->def->vertexCount; ++i)
        UseSource(f, i);
}

double snwJointFitter_Restore(snwJointFitter* f, int vertex, int joint)
{
    UseSource(f, vertex);
    MeasureFitVertices(vertex, vertex + 1, f);
    for (int k = 0; k < snw_mostInfluences; ++k)
        if (f->fit->bones[vertex][k] == joint && f->fit->weights[vertex][k] > 0)
            return (double)f->fit->weights[vertex][k];
    return 1;
}

bool snwJointFitter_Carry(snwJointFitter* f, int vertex, int helper, double share)
{
    Influences before = GetInfluences(f, vertex);
    int* bones = f->fit->bones[vertex];
    bool follows = false;
    UseSource(f, vertex);
    for (int k = 0; k < snw_mostInfluences; ++k)
        if (f->fit->weights[vertex][k] > 0 && bones[k] == f->fit->helpers[helper].parent)
        {
            bones[k] = f->def->jointCount + helper;
            follows = true;
        }
    MeasureFitVertices(vertex, vertex + 1, f);
    double most = share * f->def->tolerance;
    if (follows && f->worst[vertex] <= most * most)
        return true;
    SetInfluences(f, vertex, &before);
    return false;
}
