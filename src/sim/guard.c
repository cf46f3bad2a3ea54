// "ok" shall mean that a person would agree. Finite is not enough: a vertex at 1e10 m/s is a finite number.
//
// The bounds are there to stop what cannot be meant, not what is merely wild; that shows in the measures, and the
// report warns of it. So they are far from all that scenes do, and relative to the body, so that a flea and a whale
// have the same ones. With L the diagonal of the body at rest and dt the step (a frame):
//
//   length   an edge of 20 L. Wild is one that is both 20 times as long as at rest and longer than 3 L: a body
//            that starts stretched ten times stays below the first, one whose vertices are thrown together at random,
//            or a vertex that a hand pulls two sizes away, below the second. A step that makes flesh wild is tried with
//            more substeps, but if they do not help it is kept: it may be a hand that jumped, and flesh may come back.
//   speed    1000 L / dt + 10 c + |g| t + what the body started with. 1000 sizes between two frames can neither be seen
//            nor resolved by any of our contacts. But a grain of 1 mm may fall for a minute: hence |g| t, t the time
//            since the scene began. And small stiff things fly apart faster when they are let go: c = sqrt(E / rho) is
//            their speed of sound, which the speed of a release is below times the strain it was held with.
//   turn     of props, by the same bound: its radius times the rate.
//
// Volumes need no bound of their own: they are below the cube of an edge.
//
// This costs one pass over the vertices in a step. Edges are looked at only when the body's bounds are so large that
// one of them may be too long.

#include "sim/guard.h"
#include "contact/prop.h"
#include "sim/scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double s_mostLength = 20.0;   // L
static const double s_wildLength = 3.0;    // L
static const double s_wildStretch = 20.0;  // of an edge
static const double s_mostTravel = 1000.0; // L per step
static const double s_mostWaves = 10.0;    // c
static const double s_deep = 0.05;         // L: a start inside of a collider that is told
static const double s_unconverged = 0.03;  // L: the way of a last iteration that is told
static const double s_soft = 0.97;         // of the stiffness that is asked for: below, it is told

enum
{
    snw_stiffnessSamples = 8 // after so many times: an impact alone is no reason
};

// ---------------------------------------------------------------------------------------------------------------------
// Warnings

void snwSim_Warn(snwSim* sim, snwWarningKind kind, int which, const char* remedy, const char* format, ...)
{
    uint64_t step = sim->state->step;
    int at = 0;

    // A warning of a kind about a thing is told once, and counted.
    while (at < sim->warningCount && (sim->warningKeys[at].kind != kind || sim->warningKeys[at].which != which))
        ++at;
    if (at == snw_maxWarnings)
        return;

    // The first time it gets its words.
    snwWarning* warning = &sim->warnings[at];
    if (at == sim->warningCount)
    {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(warning->text, sizeof warning->text, format, arguments);
        va_end(arguments);
        snprintf(warning->remedy, sizeof warning->remedy, "%s", remedy != NULL ? remedy : "");
        warning->step = step;
        sim->warningKeys[at].kind = kind;
        sim->warningKeys[at].which = which;
        sim->warningCount++;
    }
    else if (sim->warningKeys[at].last == step)
        return;

    sim->warningKeys[at].last = step;
    warning->count++;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reason

static double SizeOfBody(const snwBody* body)
{
    return snwVec3_Distance(body->character->lower, body->character->upper);
}

// m/s, of the stiffest material.
static double WaveSpeed(const snwBody* body)
{
    double square = 0.0;
    for (int i = 0; i < body->character->def.materialCount; ++i)
        square = fmax(square, body->materials[i].young / body->materials[i].density);
    return sqrt(square);
}

// m/s: what a thing of this size may have at most that started with a speed.
static double MostSpeed(const snwSim* sim, double size, double start)
{
    double gravity = fmax(snwVec3_Length(sim->state->gravity), snwVec3_Length(sim->def->gravity));
    return s_mostTravel * size / sim->dt + gravity * (snwSim_SceneTime(sim) + sim->dt) + start;
}

static const float* RowAt(const float* data, int stride, int index)
{
    return (const float*)((const char*)data + (size_t)index * (size_t)stride);
}

static const char s_notFinite[] = "its place or speed is no number";
static const char s_tooFast[] = "it moves at %.3g m/s";
static const char s_tooLong[] = "an edge is drawn out to %.3g times its length";

static snwResult Diverged(const snwSim* sim, snwMessage* message, const char* format, double figure)
{
    char what[128];
    snprintf(what, sizeof what, format, figure);
    return snwFail(message, snw_errorDiverged, NULL, "the simulation diverged at step %llu (%.6g s): %s",
        (unsigned long long)sim->state->step, sim->state->time, what);
}

static snwResult CheckProps(const snwSim* sim, snwMessage* message)
{
    for (int i = 0; i < sim->def->propCount; ++i)
    {
        const snwProp* prop = &sim->props[i];
        const snwPropDef* def = &sim->def->props[i];
        bool finite = snwTransform_IsFinite(prop->transform) && snwVec3_IsFinite(prop->velocity) &&
                      snwVec3_IsFinite(prop->angularVelocity);
        double radius = snwPropDef_Radius(def);
        double start = snwVec3_Length(def->velocity) + radius * snwVec3_Length(def->angularVelocity);
        double speed = snwVec3_Length(prop->velocity) + radius * snwVec3_Length(prop->angularVelocity);
        if (finite && speed <= MostSpeed(sim, 2.0 * radius, start))
            continue;
        snwResult result = Diverged(sim, message, finite ? s_tooFast : s_notFinite, speed);
        snwMessage_AddPlace(message, "prop '%s'", def->name);
        return result;
    }
    return snw_ok;
}

// Looks at all edges, and names the first vertex of one that is too long. snw_warning: some are wild.
static snwResult CheckEdges(const snwSim* sim, int index, const snwVertices* vertices, snwMessage* message)
{
    const snwBody* body = &sim->bodies[index];
    const snwVec3* rest = body->character->def.vertices;
    double size = SizeOfBody(body);
    snwResult result = snw_ok;

    for (int i = 0; i < body->character->edgeCount && result >= 0; ++i)
    {
        const int* edge = body->character->edges[i];
        const float* a = RowAt(vertices->positions, vertices->stride, edge[0]);
        const float* b = RowAt(vertices->positions, vertices->stride, edge[1]);
        double d[3] = {(double)a[0] - (double)b[0], (double)a[1] - (double)b[1], (double)a[2] - (double)b[2]};
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        double times = length / snwVec3_Distance(rest[edge[0]], rest[edge[1]]);

        // Wild is what is long both for its body and for itself.
        if (length <= s_wildLength * size || times <= s_wildStretch)
            continue;
        result = snw_warning;
        if (length <= s_mostLength * size)
            continue;

        // Too long for anything that could be meant.
        result = Diverged(sim, message, s_tooLong, times);
        snwMessage_AddPlace(message, "body '%s', vertex %d", sim->def->bodies[index].name, edge[0]);
    }

    return result;
}

static snwResult CheckBodySpeed(const snwSim* sim, int index, snwMessage* message)
{
    const snwBody* body = &sim->bodies[index];
    const snwBodyStart* start = &sim->starts[index];

    // The bounds; see the top of the file.
    double size = SizeOfBody(body);
    double most = MostSpeed(sim, size, snwVec3_Length(start->velocity) + size * snwVec3_Length(start->angularVelocity));

    most += s_mostWaves * WaveSpeed(body);
    snwVertices vertices;
    sim->method->getVertices(sim, index, &vertices);

    // A sum of something that is not finite is not either, so one comparison sees to that and to the speed.
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < vertices.count; ++i)
    {
        const float* x = RowAt(vertices.positions, vertices.stride, i);
        const float* v = RowAt(vertices.velocities, vertices.stride, i);
        double speed = 0.0, sum = 0.0;
        for (int k = 0; k < 3; ++k)
        {
            lower[k] = x[k] < lower[k] ? x[k] : lower[k];
            upper[k] = x[k] > upper[k] ? x[k] : upper[k];
            speed += (double)v[k] * (double)v[k];
            sum += fabs((double)x[k]);
        }

        if (speed <= most * most && sum < INFINITY)
            continue;
        bool finite = isfinite(speed) && isfinite(sum);
        snwResult result = Diverged(sim, message, finite ? s_tooFast : s_notFinite, sqrt(speed));
        snwMessage_AddPlace(message, "body '%s', vertex %d", sim->def->bodies[index].name, i);

        return result;
    }

    // No edge is longer than the diagonal of the body's bounds.
    double across = 0.0;
    for (int k = 0; k < 3; ++k)
        across = fmax(across, (double)upper[k] - (double)lower[k]);
    return sqrt(3.0) * across > s_wildLength * size ? CheckEdges(sim, index, &vertices, message) : snw_ok;
}

snwResult snwSim_CheckReason(const snwSim* sim, snwMessage* message)
{
    snwResult result = CheckProps(sim, message);
    for (int i = 0; i < sim->bodyCount && result >= 0; ++i)
    {
        snwResult own = CheckBodySpeed(sim, i, message);
        result = own != snw_ok ? own : result;
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Convergence

double snwRows_LongestWay(const float* from, const float* to, int count)
{
    float most = 0.0f;
    for (size_t i = 0; i < 4 * (size_t)count; i += 4)
    {
        float d[3] = {to[i] - from[i], to[i + 1] - from[i + 1], to[i + 2] - from[i + 2]};
        float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        most = square > most ? square : most;
    }
    return sqrt((double)most);
}

void snwSim_SetResidual(snwSim* sim, int body, double longest, const char* remedy)
{
    double residual = longest / SizeOfBody(&sim->bodies[body]);
    sim->bodies[body].residual = residual;
    if (remedy != NULL && residual > s_unconverged)
        snwSim_Warn(sim, snw_warnUnconverged, body, remedy,
            "the flesh of '%s' is not converged: the last iteration still moved it by %.2g of its size",
            sim->def->bodies[body].name, residual);
}

void snwSim_TellStiffness(snwSim* sim, int index, double part, const char* remedy)
{
    snwBody* body = &sim->bodies[index];
    body->stiffnessSum += part;
    double mean = body->stiffnessSum / ++body->stiffnessCount, young = 0.0;
    if (body->stiffnessCount < snw_stiffnessSamples || mean > s_soft)
        return;
    for (int i = 0; i < body->character->def.materialCount; ++i)
        young = fmax(young, body->materials[i].young);
    snwSim_Warn(sim, snw_warnSoft, index, remedy,
        "the flesh of '%s' behaves as if Young's modulus were %.3g Pa instead of %.3g Pa", sim->def->bodies[index].name,
        mean * young, young);
}

// ---------------------------------------------------------------------------------------------------------------------
// Remedies

// The same thing before the step: `now` lies in the state block.
static const void* InBackup(const snwSim* sim, const void* now)
{
    return sim->backup + ((const unsigned char*)now - sim->block);
}

static double WayOfMover(const snwSim* sim, const snwMover* mover)
{
    const snwMover* before = InBackup(sim, mover);
    return snwVec3_Distance(mover->transform.position, before->transform.position);
}

static double SmallestSize(const snwSim* sim)
{
    double size = INFINITY;
    for (int i = 0; i < sim->bodyCount; ++i)
        size = fmin(size, SizeOfBody(&sim->bodies[i]));
    return size;
}

static bool NameMover(const snwSim* sim, snwMessage* message)
{
    double far = SmallestSize(sim), most = far;

    // The worst of all is named, if it goes farther than the smallest body is large.
    for (int i = 0; i < sim->def->pinCount; ++i)
    {
        double way = WayOfMover(sim, &sim->pins[i]);
        if (way > most)
            snprintf(message->remedy, sizeof message->remedy, "move pin '%s' more slowly: it goes %.3g m in this step",
                sim->def->pins[i].name, way);
        most = fmax(most, way);
    }

    for (int i = 0; i < sim->def->colliderCount; ++i)
    {
        double way = WayOfMover(sim, &sim->colliders[i]);
        if (way > most)
            snprintf(message->remedy, sizeof message->remedy,
                "move collider '%s' more slowly: it goes %.3g m in this step", sim->def->colliders[i].name, way);
        most = fmax(most, way);
    }

    return most > far;
}

// A push that alone makes its body cross itself in a step; the hand that holds a vertex.
static bool NameGrab(const snwSim* sim, snwMessage* message)
{
    bool held = false;
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->body < 0 || grab->kind == snw_grabNone)
            continue;
        const snwBody* body = &sim->bodies[grab->body];
        double force = snwVec3_Length(grab->vector), mass = body->character->mass;

        if (grab->kind == snw_grabPush && force / mass * sim->dt * sim->dt > SizeOfBody(body))
        {
            snprintf(message->remedy, sizeof message->remedy, "push less: %.3g N are too much for a body of %.3g kg",
                force, mass);
            return true;
        }

        // Hands are told of where no push is to blame.
        held = held || grab->kind != snw_grabPush;
    }

    if (held)
        snprintf(message->remedy, sizeof message->remedy,
            "pull more gently (less strength, a nearer target), or use more iterations or softer flesh; more substeps "
            "were tried");

    return held;
}

void snwSim_NameRemedy(const snwSim* sim, snwMessage* message)
{
    if (message->result != snw_errorDiverged || message->remedy[0] != 0)
        return;
    if (!NameMover(sim, message) && !NameGrab(sim, message))
        snprintf(message->remedy, sizeof message->remedy,
            "slower motions of what leads the body, softer or heavier flesh, or more iterations; more substeps were "
            "tried");
}

// ---------------------------------------------------------------------------------------------------------------------
// Overlaps

void snwSim_WarnOfOverlaps(snwSim* sim)
{
    for (int b = 0; b < sim->bodyCount; ++b)
    {
        const snwBody* body = &sim->bodies[b];
        snwVertices vertices;
        sim->method->getVertices(sim, b, &vertices);
        double deepest = s_deep * SizeOfBody(body);
        int where = -1;

        // The deepest vertex that touches, of all colliders.
        for (int c = 0; c < sim->def->colliderCount; ++c)
            for (int i = 0; i < body->character->touchCount; ++i)
            {
                const float* x = RowAt(vertices.positions, vertices.stride, snwBody_ContactVertex(body, i));
                snwVec3 at = snwVec3_Add(*body->origin, (snwVec3){(double)x[0], (double)x[1], (double)x[2]});
                snwTouch touch = snwCollider_Touch(&sim->scene->colliders[c], sim->colliders[c].transform, at);
                where = touch.depth > deepest ? c : where;
                deepest = fmax(deepest, touch.depth);
            }

        if (where >= 0)
            snwSim_Warn(sim, snw_warnInside, b, "start it outside; it is pushed out slowly",
                "body '%s' starts %.3g m inside of collider '%s'", sim->def->bodies[b].name, deepest,
                sim->def->colliders[where].name);
    }
}
