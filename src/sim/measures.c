// Measures of a body, the same for all methods: what an experimenter would read off the frames.
//
// Elastic energy is that of the law that the method simulates (snwMethod.elasticDensity), or of corotated linear
// elasticity where it simulates none; see laws.h. The deformation gradient F is constant in a tet, taken at the eight
// Gauss points of a hex, and with s_3 = 1 (plane strain) in a flat character, whose volume is its area times its
// thickness. The figure depends on the frame alone and not on how a warm start got there.

#include "sim/method.h"
#include "contact/prop.h"
#include "rig/joint_rows.h"
#include "sim/laws.h"
#include "sim/origin.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const snwMeasureInfo s_infos[] = {
    {"time", "s", "simulated time"},
    {"kinetic", "J", "kinetic energy"},
    {"elastic", "J", "elastic energy, by the law that is simulated"},
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
    {"volume", "m^3", "volume of all elements"},
    {"min_volume_ratio", "", "smallest element volume over its rest volume; below 0 is inverted"},
    {"max_stretch", "", "largest relative change of an edge's length"},
    {"max_speed", "m/s", "fastest vertex"},
    {"max_depth", "m", "deepest contact before it was resolved"},
    {"contacts", "", "vertices in contact"},
    {"step_ms", "ms", "time the last step took"},
    {"retries", "", "how often the last step was begun again with twice the substeps"},
    {"residual", "", "how far the last iteration of the last substep moved a vertex, of the size of its body"},
    {"joint_gap", "", "widest gap between the bones of a joint, of the size of the body"},
    {"rigidity", "", "farthest that a vertex of a bone is from where its bone has it, of the size of the body"},
    {"fit", "", "farthest that what is seen is from what is simulated, of the size of the body"},
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

static snwVec3 MeasuredRow(const float* data, int stride, int index)
{
    const float* row = (const float*)((const char*)data + (size_t)index * (size_t)stride);
    return (snwVec3){row[0], row[1], row[2]};
}

static snwMat3 EdgeMatrix(snwVec3 a, snwVec3 b, snwVec3 c, snwVec3 d)
{
    return snwMat3_FromColumns(snwVec3_Sub(b, a), snwVec3_Sub(c, a), snwVec3_Sub(d, a));
}

typedef struct Subject
{
    const snwSim* sim;
    int index;
    const snwBody* body;
    snwVertices vertices; // relative to the body's origin
    snwVec3 plane;        // normal of a flat character's plane as the body started
} Subject;

// Corners of an element, now or at rest.
static void GatherNow(const Subject* subject, int element, snwVec3 x[8])
{
    snwElements elements = subject->body->character->elements;
    for (int k = 0; k < elements.arity; ++k)
        x[k] = MeasuredRow(
            subject->vertices.positions, subject->vertices.stride, snwElements_Corners(elements, element)[k]);
}

static void GatherRest(const Subject* subject, int element, snwVec3 x[8])
{
    const snwCharacter* character = subject->body->character;
    for (int k = 0; k < character->elements.arity; ++k)
        x[k] = character->def.vertices[snwElements_Corners(character->elements, element)[k]];
}

static snwVec3 TriangleNormal(const snwVec3 x[3])
{
    return snwVec3_Cross(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]));
}

// The two edges of a triangle and its unit normal, on the side of the plane's: turning out of the plane is no strain,
// and turning over within it is an inversion.
static snwMat3 FlatMatrix(const snwVec3 x[3], snwVec3 plane)
{
    snwVec3 normal = TriangleNormal(x);
    double side = snwVec3_Dot(normal, plane) < 0.0 ? -1.0 : 1.0;
    return snwMat3_FromColumns(
        snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Scale(snwVec3_Normalize(normal), side));
}

static snwMat3 EdgesOf(int arity, const snwVec3 x[8], int point, snwVec3 plane)
{
    if (arity == 8)
        return snwHex_Jacobian(x, point);
    return arity == 3 ? FlatMatrix(x, plane) : EdgeMatrix(x[0], x[1], x[2], x[3]);
}

static double ElementElastic(const Subject* subject, int element)
{
    const snwCharacter* character = subject->body->character;
    const snwMethod* method = subject->sim->method;
    snwLame lame = snwMaterial_Lame(&subject->body->materials[character->def.regions[element]]);
    int arity = character->elements.arity, points = arity == 8 ? snw_hexPoints : 1;
    snwVec3 rest[8], now[8];

    GatherRest(subject, element, rest);
    GatherNow(subject, element, now);

    double sum = 0.0;
    for (int point = 0; point < points; ++point)
    {
        // One point of a tet or triangle, whose F is the same all over; eight of a hex.
        snwMat3 inverse, shape = EdgesOf(arity, rest, point, (snwVec3){0, 0, 1});
        if (!snwMat3_Inverse(shape, &inverse))
            continue;
        double volume = points > 1 ? snwMat3_Determinant(shape) / points : character->restVolumes[element];
        snwMat3 f = snwMat3_Mul(EdgesOf(arity, now, point, subject->plane), inverse);
        sum += volume * (method->elasticDensity != NULL
                                ? method->elasticDensity(subject->sim, subject->index, element, f)
                                : snwDensity_Corotated(lame, f));
    }

    return sum;
}

static double SumElastic(int begin, int end, void* data)
{
    double sum = 0.0;
    for (int i = begin; i < end; ++i)
        sum += ElementElastic(data, i);
    return sum;
}

static double ElementVolume(const Subject* subject, int element)
{
    const snwCharacterDef* def = &subject->body->character->def;
    snwVec3 x[8];
    GatherNow(subject, element, x);
    if (def->hexCount > 0)
        return snwHex_Volume(x);
    if (def->triangleCount == 0)
        return snwMat3_Determinant(EdgeMatrix(x[0], x[1], x[2], x[3])) / 6.0;
    snwVec3 normal = TriangleNormal(x);
    return copysign(0.5 * snwVec3_Length(normal) * def->thickness, snwVec3_Dot(normal, subject->plane));
}

static void MeasureElements(const Subject* subject, snwMeasures* m)
{
    const snwCharacter* character = subject->body->character;
    const float* p = subject->vertices.positions;
    int stride = subject->vertices.stride;
    for (int i = 0; i < character->elements.count; ++i)
    {
        double volume = ElementVolume(subject, i);
        m->volume += volume;
        m->minVolumeRatio = fmin(m->minVolumeRatio, volume / character->restVolumes[i]);
    }
    for (int i = 0; i < character->edgeCount; ++i)
    {
        const int* e = character->edges[i];
        double rest = snwVec3_Distance(character->def.vertices[e[0]], character->def.vertices[e[1]]);
        double now = snwVec3_Distance(MeasuredRow(p, stride, e[0]), MeasuredRow(p, stride, e[1]));
        m->maxStretch = rest > 0.0 ? fmax(m->maxStretch, fabs(now / rest - 1.0)) : m->maxStretch;
    }
}

static snwBonePose PoseOfBoneAt(const snwTransforms* bones, int bone, snwVec3 point)
{
    if (bone < 0)
        return (snwBonePose){{0, 0, 0, 1}, point};
    return (snwBonePose){bones->data[bone].rotation, snwTransform_Apply(bones->data[bone], point)};
}

// m. A joint of the world stands where the body started with it.
static double WidestJoint(const Subject* subject, const snwTransforms* bones)
{
    const snwCharacterDef* def = &subject->body->character->def;
    double widest = 0.0;
    for (int i = 0; i < def->jointCount; ++i)
    {
        const snwJointDef* joint = &def->joints[i];
        if (joint->bone < 0 || joint->parentBone < 0)
            continue;
        snwJointRowsDef rows = {.joint = joint, .restCentres = {joint->position, joint->position}};
        rows.poses[0] = PoseOfBoneAt(bones, joint->bone, joint->position);
        rows.poses[1] = PoseOfBoneAt(bones, joint->parentBone, joint->position);
        widest = fmax(widest, snwJointRows_Gap(&rows).length);
    }
    return widest;
}

// What the solver left undone. Each is the worst of all bodies, of its body's size.
static void MeasureErrors(const Subject* subject, snwMeasures* m)
{
    const snwSim* sim = subject->sim;
    const snwCharacter* character = subject->body->character;
    double size = snwVec3_Distance(character->lower, character->upper), loose = 0.0, apart = 0.0;
    snwTransforms bones;
    snwVertices shown;

    snwSim_GetBones(sim, subject->index, &bones);
    snwSim_SeeVertices(sim, subject->index, 1, *subject->body->origin, &shown);

    // How far bones' vertices are from their bones, and what is shown from what is simulated.
    for (int i = 0; i < subject->vertices.count; ++i)
    {
        snwVec3 x = MeasuredRow(subject->vertices.positions, subject->vertices.stride, i);
        int bone = character->vertexBones[i];
        if (sim->method->getBones != NULL && bone >= 0)
            loose = fmax(loose, snwVec3_Distance(snwVec3_Add(*subject->body->origin, x),
                                    snwTransform_Apply(bones.data[bone], character->def.vertices[i])));
        if (shown.positions != subject->vertices.positions)
            apart = fmax(apart, snwVec3_Distance(x, MeasuredRow(shown.positions, shown.stride, i)));
    }

    // As shares of the body's size, so that bodies can be compared.
    m->residual = fmax(m->residual, subject->body->residual);
    m->rigidity = fmax(m->rigidity, loose / size);
    m->fit = fmax(m->fit, apart / size);
    if (sim->method->getBones != NULL)
        m->jointGap = fmax(m->jointGap, WidestJoint(subject, &bones) / size);
}

static void AddMotion(const snwSim* sim, const Subject* subject, const double* masses, double* mass, snwMeasures* m)
{
    snwVec3 moment = {0, 0, 0};
    for (int i = 0; i < subject->vertices.count; ++i)
    {
        snwVec3 at = MeasuredRow(subject->vertices.positions, subject->vertices.stride, i);
        snwVec3 x = snwVec3_Add(*subject->body->origin, at);
        snwVec3 v = MeasuredRow(subject->vertices.velocities, subject->vertices.stride, i);
        snwVec3 p = snwVec3_Scale(v, masses[i]);

        // Relative to the world's origin, where momenta are told.
        m->kinetic += 0.5 * snwVec3_Dot(p, v);
        m->potential -= masses[i] * snwVec3_Dot(sim->state->gravity, x);
        m->momentum = snwVec3_Add(m->momentum, p);
        m->angularMomentum = snwVec3_Add(m->angularMomentum, snwVec3_Cross(x, p));
        moment = snwVec3_MulAdd(moment, masses[i], x);
        *mass += masses[i];
    }
    // Weighted by mass here; the caller divides when all bodies are in.
    m->centre = snwVec3_Add(m->centre, moment);
}

static double FastestVertex(const Subject* subject)
{
    double most = 0.0;
    for (int i = 0; i < subject->vertices.count; ++i)
        most = fmax(most, snwVec3_Length(MeasuredRow(subject->vertices.velocities, subject->vertices.stride, i)));
    return most;
}

static snwResult MeasureBody(snwSim* sim, int index, double* mass, snwMeasures* m)
{
    const snwBody* body = &sim->bodies[index];
    double* masses = snwAllocArray(sim->context, (size_t)body->character->def.vertexCount, sizeof *masses);
    if (masses == NULL)
        return snw_errorMemory;
    snwCharacter_ComputeMasses(body->character, body->materials, masses);
    snwVec3 plane = snwQuat_Rotate(sim->starts[index].transform.rotation, (snwVec3){0, 0, 1});
    Subject subject = {.sim = sim, .index = index, .body = body, .plane = plane};
    sim->method->getVertices(sim, index, &subject.vertices);
    if (sim->method->addMotion != NULL)
        sim->method->addMotion(sim, index, m, mass);
    else
    {
        m->elastic += snwParallelSum(sim->context, body->character->elements.count, 512, SumElastic, &subject);
        AddMotion(sim, &subject, masses, mass, m);
    }
    m->maxSpeed = fmax(m->maxSpeed, FastestVertex(&subject));
    MeasureElements(&subject, m);
    MeasureErrors(&subject, m);
    snwFree(sim->context, masses);
    return snw_ok;
}

static void MeasureProps(const snwSim* sim, double* mass, snwMeasures* m)
{
    for (int i = 0; i < sim->def->propCount; ++i)
    {
        const snwProp* prop = &sim->props[i];
        snwPropMass own = snwPropDef_Mass(&sim->def->props[i]);
        snwVec3 x = prop->transform.position, p = snwVec3_Scale(prop->velocity, own.mass);
        snwVec3 w = snwQuat_InverseRotate(prop->transform.rotation, prop->angularVelocity);
        snwVec3 spin = {w.x * own.inertia.x, w.y * own.inertia.y, w.z * own.inertia.z};
        m->kinetic += 0.5 * snwVec3_Dot(p, prop->velocity) + 0.5 * snwVec3_Dot(spin, w);
        m->potential -= own.mass * snwVec3_Dot(sim->state->gravity, x);
        m->momentum = snwVec3_Add(m->momentum, p);
        m->angularMomentum = snwVec3_Add(
            m->angularMomentum, snwVec3_Add(snwVec3_Cross(x, p), snwQuat_Rotate(prop->transform.rotation, spin)));
        m->maxSpeed = fmax(m->maxSpeed, snwVec3_Length(prop->velocity));
        m->centre = snwVec3_MulAdd(m->centre, own.mass, x);
        *mass += own.mass;
    }
}

snwResult snwSim_GetMeasures(snwSim* sim, int body, snwMeasures* m)
{
    memset(m, 0, sizeof *m);
    if (body < -1 || body >= sim->bodyCount)
        return snw_errorArgument;
    m->minVolumeRatio = DBL_MAX;

    // One body, or all of them and the props.
    double mass = 0.0;
    snwResult result = snw_ok;

    for (int i = 0; i < sim->bodyCount && result >= 0; ++i)
        if (body < 0 || body == i)
            result = MeasureBody(sim, i, &mass, m);
    if (body < 0)
        MeasureProps(sim, &mass, m);

    m->centre = snwVec3_Scale(m->centre, mass > 0.0 ? 1.0 / mass : 0.0);
    m->minVolumeRatio = m->minVolumeRatio < DBL_MAX ? m->minVolumeRatio : 1.0;

    // Contacts of the last substep.
    for (int i = 0; i < sim->contactCount; ++i)
    {
        if (body >= 0 && sim->contacts[i].body != body)
            continue;
        m->contacts += 1.0;
        m->maxDepth = fmax(m->maxDepth, (double)sim->contacts[i].depth);
    }

    // All energies together, and what the step itself has measured.
    m->energy = m->kinetic + m->elastic + m->potential;
    m->time = sim->state->time;
    m->stepMs = sim->stepMs;
    m->retries = sim->retries;

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// What a method tells besides

int snwSim_GetOwnMeasureCount(const snwSim* sim)
{
    return sim->method->measureCount;
}

const snwMeasureInfo* snwSim_GetOwnMeasureInfo(const snwSim* sim, int measure)
{
    return measure < 0 || measure >= sim->method->measureCount ? NULL : &sim->method->measures[measure];
}

snwResult snwSim_GetOwnMeasures(const snwSim* sim, int body, double* values)
{
    int count = sim->method->measureCount;
    if (body < -1 || body >= sim->bodyCount)
        return snw_errorArgument;
    for (int k = 0; k < count; ++k)
        values[k] = 0.0;
    for (int i = body < 0 ? 0 : body; i < (body < 0 ? sim->bodyCount : body + 1) && count > 0; ++i)
    {
        double own[snw_maxOwnMeasures];
        sim->method->getMeasures(sim, i, own);
        for (int k = 0; k < count; ++k)
            values[k] = strcmp(sim->method->measures[k].unit, "N") == 0 ? values[k] + own[k] : fmax(values[k], own[k]);
    }
    return snw_ok;
}
