// Measures of a body, the same for all methods: what an experimenter would read off the frames.
//
// Elastic energy is that of corotated linear elasticity,
//     V (mu sum_i (s_i - 1)^2 + lambda/2 (sum_i s_i - 3)^2),
// with s_i the signed singular values of the deformation gradient F. They come from the eigenvalues of F^T F in closed
// form, without a rotation, so the figure depends on the frame alone and not on how a warm start got there.

#include "sim/method.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const snwMeasureInfo s_infos[] = {
    {"time", "s", "simulated time"},
    {"kinetic", "J", "kinetic energy"},
    {"elastic", "J", "elastic energy of the corotated linear material"},
    {"potential", "J", "energy against gravity, zero at the world's origin"},
    {"energy", "J", "kinetic, elastic and potential energy together"},
    {"momentum.x", "kg m/s", "linear momentum"},
    {"momentum.y", "kg m/s", "linear momentum"},
    {"momentum.z", "kg m/s", "linear momentum"},
    {"angular_momentum.x", "kg m^2/s", "angular momentum about the world's origin"},
    {"angular_momentum.y", "kg m^2/s", "angular momentum about the world's origin"},
    {"angular_momentum.z", "kg m^2/s", "angular momentum about the world's origin"},
    {"centre.x", "m", "centre of mass"},
    {"centre.y", "m", "centre of mass"},
    {"centre.z", "m", "centre of mass"},
    {"volume", "m^3", "volume of all tets"},
    {"min_volume_ratio", "", "smallest tet volume over its rest volume; below 0 is inverted"},
    {"max_stretch", "", "largest relative change of an edge's length"},
    {"max_speed", "m/s", "fastest vertex"},
    {"max_depth", "m", "deepest contact before it was resolved"},
    {"contacts", "", "vertices in contact"},
    {"step_ms", "ms", "time the last step took"},
};

_Static_assert(sizeof(snwMeasures) == sizeof s_infos / sizeof s_infos[0] * sizeof(double), "one row per number");

int snwMeasureCount(void)
{
    return (int)(sizeof s_infos / sizeof s_infos[0]);
}

const snwMeasureInfo* snwMeasure_GetInfo(int measure)
{
    return measure < 0 || measure >= snwMeasureCount() ? NULL : &s_infos[measure];
}

double snwMeasures_Get(const snwMeasures* measures, int measure)
{
    double value = 0.0;
    if (measure >= 0 && measure < snwMeasureCount())
        memcpy(&value, (const char*)measures + (size_t)measure * sizeof value, sizeof value);
    return value;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwVec3 Row(const float* data, int stride, int index)
{
    const float* row = (const float*)((const char*)data + (size_t)index * (size_t)stride);
    return (snwVec3){row[0], row[1], row[2]};
}

static snwMat3 EdgeMatrix(snwVec3 a, snwVec3 b, snwVec3 c, snwVec3 d)
{
    return snwMat3_FromColumns(snwVec3_Sub(b, a), snwVec3_Sub(c, a), snwVec3_Sub(d, a));
}

// Signed singular values through the eigenvalues of C = F^T F (Smith 1961).
static void SingularValues(snwMat3 f, double s[3])
{
    snwMat3 c = snwMat3_TransposeMul(f, f);
    double mean = snwMat3_Trace(c) / 3.0;
    for (int i = 0; i < 3; ++i)
        c.m[i][i] -= mean;
    double p = snwMat3_Norm(c) / sqrt(6.0);
    double r = p > 0.0 ? 0.5 * snwMat3_Determinant(snwMat3_Scale(c, 1.0 / p)) : 0.0;
    double angle = acos(r < -1.0 ? -1.0 : r > 1.0 ? 1.0 : r) / 3.0;
    double eigen[3] = {mean + 2.0 * p * cos(angle), 0.0, mean + 2.0 * p * cos(angle + 2.0 * SNW_PI / 3.0)};
    eigen[1] = 3.0 * mean - eigen[0] - eigen[2];
    for (int i = 0; i < 3; ++i)
        s[i] = sqrt(eigen[i] > 0.0 ? eigen[i] : 0.0);
    if (snwMat3_Determinant(f) < 0.0)
        s[2] = -s[2];
}

static double ElasticDensity(const snwMaterial* material, snwMat3 f)
{
    // At nu = 0.5 lambda is infinite; the measure stops short of it.
    double nu = material->poisson < 0.4999 ? material->poisson : 0.4999;
    double mu = material->young / (2.0 * (1.0 + nu));
    double lambda = material->young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
    double s[3];
    SingularValues(f, s);
    double shape = 0.0, trace = s[0] + s[1] + s[2] - 3.0;
    for (int i = 0; i < 3; ++i)
        shape += (s[i] - 1.0) * (s[i] - 1.0);
    return mu * shape + 0.5 * lambda * trace * trace;
}

typedef struct Subject
{
    const snwBody* body;
    snwVertices vertices;
} Subject;

static double SumElastic(int begin, int end, void* data)
{
    const Subject* subject = data;
    const snwCharacter* character = subject->body->character;
    const snwCharacterDef* def = &character->def;
    double sum = 0.0;
    for (int i = begin; i < end; ++i)
    {
        const int* v = def->tets[i];
        const snwVec3* x = def->vertices;
        snwMat3 inverse, rest = EdgeMatrix(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
        if (!snwMat3_Inverse(rest, &inverse))
            continue;
        const float* p = subject->vertices.positions;
        int stride = subject->vertices.stride;
        snwMat3 now = EdgeMatrix(
            Row(p, stride, v[0]), Row(p, stride, v[1]), Row(p, stride, v[2]), Row(p, stride, v[3]));
        snwMat3 f = snwMat3_Mul(now, inverse);
        sum += character->restVolumes[i] * ElasticDensity(&subject->body->materials[def->regions[i]], f);
    }
    return sum;
}

static void MeasureTets(const Subject* subject, snwMeasures* m)
{
    const snwCharacter* character = subject->body->character;
    const float* p = subject->vertices.positions;
    int stride = subject->vertices.stride;
    for (int i = 0; i < character->def.tetCount; ++i)
    {
        const int* v = character->def.tets[i];
        snwMat3 now = EdgeMatrix(
            Row(p, stride, v[0]), Row(p, stride, v[1]), Row(p, stride, v[2]), Row(p, stride, v[3]));
        double volume = snwMat3_Determinant(now) / 6.0;
        m->volume += volume;
        m->minVolumeRatio = fmin(m->minVolumeRatio, volume / character->restVolumes[i]);
    }
    for (int i = 0; i < character->edgeCount; ++i)
    {
        const int* e = character->edges[i];
        double rest = snwVec3_Distance(character->def.vertices[e[0]], character->def.vertices[e[1]]);
        double now = snwVec3_Distance(Row(p, stride, e[0]), Row(p, stride, e[1]));
        m->maxStretch = rest > 0.0 ? fmax(m->maxStretch, fabs(now / rest - 1.0)) : m->maxStretch;
    }
}

static void MeasureMotion(const snwSim* sim, const Subject* subject, const double* masses, double* mass, snwMeasures* m)
{
    snwVec3 moment = {0, 0, 0};
    for (int i = 0; i < subject->vertices.count; ++i)
    {
        snwVec3 x = Row(subject->vertices.positions, subject->vertices.stride, i);
        snwVec3 v = Row(subject->vertices.velocities, subject->vertices.stride, i);
        snwVec3 p = snwVec3_Scale(v, masses[i]);
        m->kinetic += 0.5 * snwVec3_Dot(p, v);
        m->potential -= masses[i] * snwVec3_Dot(sim->state->gravity, x);
        m->momentum = snwVec3_Add(m->momentum, p);
        m->angularMomentum = snwVec3_Add(m->angularMomentum, snwVec3_Cross(x, p));
        m->maxSpeed = fmax(m->maxSpeed, snwVec3_Length(v));
        moment = snwVec3_MulAdd(moment, masses[i], x);
        *mass += masses[i];
    }
    // Weighted by mass here; the caller divides when all bodies are in.
    m->centre = snwVec3_Add(m->centre, moment);
}

static snwResult MeasureBody(snwSim* sim, int index, double* mass, snwMeasures* m)
{
    const snwBody* body = &sim->bodies[index];
    double* masses = snwAllocArray(sim->context, (size_t)body->character->def.vertexCount, sizeof *masses);
    if (masses == NULL)
        return snw_errorMemory;
    snwCharacter_ComputeMasses(body->character, body->materials, masses);
    Subject subject = {.body = body};
    sim->method->getVertices(sim, index, &subject.vertices);
    m->elastic += snwParallelSum(sim->context, body->character->def.tetCount, 512, SumElastic, &subject);
    MeasureTets(&subject, m);
    MeasureMotion(sim, &subject, masses, mass, m);
    snwFree(sim->context, masses);
    return snw_ok;
}

snwResult snwSim_GetMeasures(snwSim* sim, int body, snwMeasures* m)
{
    memset(m, 0, sizeof *m);
    if (body < -1 || body >= sim->bodyCount)
        return snw_errorArgument;
    m->minVolumeRatio = DBL_MAX;
    double mass = 0.0;
    snwResult result = snw_ok;
    for (int i = 0; i < sim->bodyCount && result >= 0; ++i)
        if (body < 0 || body == i)
            result = MeasureBody(sim, i, &mass, m);
    m->centre = snwVec3_Scale(m->centre, mass > 0.0 ? 1.0 / mass : 0.0);
    m->minVolumeRatio = m->minVolumeRatio < DBL_MAX ? m->minVolumeRatio : 1.0;
    for (int i = 0; i < sim->contactCount; ++i)
    {
        if (body >= 0 && sim->contacts[i].body != body)
            continue;
        m->contacts += 1.0;
        m->maxDepth = fmax(m->maxDepth, (double)sim->contacts[i].depth);
    }
    m->energy = m->kinetic + m->elastic + m->potential;
    m->time = sim->state->time;
    m->stepMs = sim->stepMs;
    return result;
}
