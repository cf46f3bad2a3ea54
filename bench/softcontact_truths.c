// Bodies and contact against what is known of them: energies, momentum, weights, angles of friction.

#include "softcontact_bench.h"

#include "base/context.h"
#include "base/result.h"
#include "softcontact_stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double Signed(uint64_t* seed)
{
    return 2 * snwBenchRandom(seed) - 1;
}

static void Add(snwBenchRows* rows, const char* name, const char* metric, double value, const char* op, double target)
{
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", metric);
    row.value = value, row.n = 1;
    if (op != NULL)
        snwBenchRow_SetTarget(&row, op, target);
    if (!isfinite(value))
        snprintf(row.note, sizeof row.note, "a step failed");
    snwBenchRows_Add(rows, &row);
}

// ---------------------------------------------------------------------------------------------------------------------
// Links alone

// Two rods with their masses at the ends, thrown: the most that the energy is off within two seconds.
static snwResult PendulumDrift(snwSoftStage* stage, snwContext* context, double h, double* drift, snwMessage* message)
{
    snwLinkDef links[2];
    for (int i = 0; i < 2; ++i)
    {
        links[i] = (snwLinkDef){.joint = snwDefaultJointDef()};
        links[i].joint.type = snw_jointHinge, links[i].joint.parentBone = i - 1;
        links[i].joint.axis = (snwVec3){0, 0, 1}, links[i].joint.position = (snwVec3){0, -i, 0};
        snwLinkMass_AddPoint(&links[i].mass, 1, (snwVec3){0, -1, 0});
    }
    snwSoftStage_Begin(stage, context, 0, (snwVec3){0, 0, 1}, 0);
    stage->solidCount = 0;
    snwResult result = snwSoftStage_AddBody(stage, &(snwSoftBodyDef){.linkCount = 2, .links = links}, message);
    if (result == snw_ok)
        result = snwSoftStage_Open(stage, 1, message);
    snwSoftBody* body = stage->bodies;
    const double start[2] = {1.2, -0.8};
    double first = 0, mass;
    *drift = 0, stage->settings.h = h;
    if (result == snw_ok)
    {
        snwBodyTree_Move(&body->tree, start, 1, body->poses);
        snwSoftBody_Look(body);
    }
    for (int i = 0; i * h < 2 && result == snw_ok; ++i)
    {
        double energy = snwSoftBody_KineticEnergy(body) + 2 * 9.81 * snwSoftBody_Centre(body, &mass).y;
        first = i == 0 ? energy : first;
        *drift = fmax(*drift, fabs(energy - first));
        result = snwSoftStage_Step(stage, 1, message);
    }
    snwSoftStage_Close(stage);
    return result;
}

static void AddPendulum(snwBenchRows* rows, snwContext* context, snwSoftStage* stage)
{
    double coarse, fine;
    if (!snwBenchRows_Wants(rows, "double pendulum", "softcontact"))
        return;
    rows->result = PendulumDrift(stage, context, 0.004, &coarse, rows->message);
    if (rows->result == snw_ok)
        rows->result = PendulumDrift(stage, context, 0.001, &fine, rows->message);
    if (rows->result == snw_ok)
        Add(rows, "double pendulum", "pendulum_energy_order", log2(coarse / fine) / 2, ">=", 0.95);
}

// A figure in empty space. torque: at random on each joint, anew every 50 ms, joints damped; 0: it tumbles.
static void AddFigure(snwBenchRows* rows, snwContext* context, snwSoftStage* stage, double h, double torque)
{
    char name[48];
    snprintf(name, sizeof name, torque > 0 ? "figure, 100 N m, %g ms" : "figure, tumbling, %g ms", 1e3 * h);
    if (!snwBenchRows_Wants(rows, name, "softcontact"))
        return;
    snwSoftStage_Begin(stage, context, 0, (snwVec3){0, 0, 1}, 0);
    stage->solidCount = 0;
    rows->result = snwSoftStage_AddFigure(stage, rows->message);
    snwSoftBody* body = stage->bodies;
    for (int i = 1; i < snw_ragdollLinks && rows->result == snw_ok; ++i)
        body->tree.links[i].joint.damping = torque > 0 ? 5 : 0;
    if (rows->result == snw_ok)
        rows->result = snwSoftStage_Open(stage, 1, rows->message);
    if (rows->result == snw_ok)
    {
        body->u[0] = 1, body->u[2] = -0.5, body->u[3] = 2, body->u[4] = 3;
        snwSoftBody_Look(body);
        uint64_t seed = 1234;
        double *forces = calloc((size_t)body->tree.freedom, sizeof *forces), lost = 0, most = 0, mass;
        stage->settings.h = h, stage->settings.gravity = (snwVec3){0, 0, 0};
        snwSoftBody_Centre(body, &mass);
        double first = snwSoftBody_KineticEnergy(body), scale = mass * sqrt(1.25);
        snwSpatial before = snwSoftBody_Momentum(body);
        before.turn = snwVec3_Add(before.turn, snwVec3_Cross(body->tree.origin, before.shift));
        int steps = (int)(10 / h + 0.5), held = (int)(0.05 / h + 0.5);
        for (int i = 0; i < steps && forces != NULL && rows->result == snw_ok; ++i)
        {
            for (int k = 6; i % held == 0 && k < body->tree.freedom; ++k)
                forces[k] = torque * Signed(&seed);
            snwSoftStep step = {.forces = forces};
            rows->result = snwSoftStage_StepWith(stage, &step, rows->message);
            snwSpatial now = snwSoftBody_Momentum(body);
            now.turn = snwVec3_Add(now.turn, snwVec3_Cross(body->tree.origin, now.shift));
            now = snwSpatial_MulAdd(now, -1, before);
            lost = fmax(lost, snwVec3_Length(now.shift) + snwVec3_Length(now.turn));
            most = fmax(most, snwSoftBody_KineticEnergy(body));
        }
        free(forces);
        if (torque > 0)
            Add(rows, name, "momentum_err", lost / scale, "<=", 1e-10);
        else
            Add(rows, name, "energy_max_over_start", most / first, "<=", 1.01);
    }
    snwSoftStage_Close(stage);
}

// Places at both ends of all links of a figure, pushed upwards: the most by which what one does to another differs from
// the reverse, of the most that any does. NAN: no memory.
static double Asymmetry(const snwSoftStage* stage, bool literal, snwMessage* message)
{
    snwSoftBody* body = (snwSoftBody*)stage->bodies;
    int n = body->tree.freedom, count = stage->probeCount;
    size_t panels = snwDense_PanelCount(count, n), all = panels + (size_t)(count * (n + count));
    double* numbers = snwAllocArray(stage->context, all, sizeof *numbers);
    snwSoftStep step = {.h = stage->settings.h, .implicit = true, .literal = literal};
    if (numbers == NULL || snwSoftBody_Begin(body, &step, message) != snw_ok)
    {
        snwFree(stage->context, numbers);
        return NAN;
    }
    double *rows = numbers + panels, *coupling = rows + count * n, apart = 0, largest = 0;
    for (int i = 0; i < count; ++i)
    {
        const snwSoftProbe* probe = &stage->probes[i];
        snwVec3 arm = snwMat3_MulVec(body->tree.axes[probe->link], probe->at);
        snwSoftTouch touch = {.skin = -1, .link = probe->link, .at = snwVec3_Add(body->tree.points[probe->link], arm)};
        snwSoftBody_Row(body, &touch, (snwVec3){0, 1, 0}, rows + i * n);
    }
    snwSoftBody_Couple(body, count, rows, numbers, coupling);
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j)
        {
            apart = fmax(apart, fabs(coupling[i * count + j] - coupling[j * count + i]));
            largest = fmax(largest, fabs(coupling[i * count + j]));
        }
    snwFree(stage->context, numbers);
    return apart / largest;
}

// Ours and Eq. 12 as printed: what becomes of the energy and the momentum of a figure that tumbles for ten seconds, and
// how unlike its contacts see each other.
static void AddLiteral(snwBenchRows* rows, snwContext* context, snwSoftStage* stage, bool literal)
{
    const char* name = literal ? "figure, Eq. 12, 4 ms" : "figure, ours, 4 ms";
    if (!snwBenchRows_Wants(rows, name, "softcontact"))
        return;
    snwSoftStage_Begin(stage, context, 0, (snwVec3){0, 0, 1}, 0);
    stage->solidCount = 0;
    rows->result = snwSoftStage_AddFigure(stage, rows->message);
    if (rows->result == snw_ok)
        rows->result = snwSoftStage_Open(stage, 1, rows->message);
    if (rows->result == snw_ok)
    {
        snwSoftBody* body = stage->bodies;
        stage->settings.gravity = (snwVec3){0, 0, 0}, stage->settings.literal = literal;
        body->u[3] = 6, body->u[4] = 8;
        snwSoftBody_Look(body);
        snwSpatial before = snwSoftBody_Momentum(body);
        before.turn = snwVec3_Add(before.turn, snwVec3_Cross(body->tree.origin, before.shift));
        double first = snwSoftBody_KineticEnergy(body);
        rows->result = snwSoftStage_Step(stage, 25, rows->message);
        double apart = rows->result == snw_ok ? Asymmetry(stage, literal, rows->message) : NAN;
        if (rows->result == snw_ok)
            rows->result = snwSoftStage_Step(stage, 2475, rows->message);
        snwSpatial lost = snwSoftBody_Momentum(body);
        lost.turn = snwVec3_Add(lost.turn, snwVec3_Cross(body->tree.origin, lost.shift));
        lost = snwSpatial_MulAdd(lost, -1, before);
        double loss = snwVec3_Length(lost.turn) / snwVec3_Length(before.turn);
        if (rows->result == snw_ok)
        {
            Add(rows, name, "asymmetry", apart, literal ? NULL : "<=", literal ? NAN : 1e-12);
            Add(rows, name, "energy_max_over_start", snwSoftBody_KineticEnergy(body) / first, NULL, NAN);
            Add(rows, name, "momentum_err", loss, literal ? NULL : "<=", literal ? NAN : 1e-10);
        }
    }
    snwSoftStage_Close(stage);
}

// ---------------------------------------------------------------------------------------------------------------------
// Skins

// A box that rolls, some of it asleep and bent, is made soft all over within a step.
static void AddSoften(snwBenchRows* rows, snwContext* context, snwSoftStage* stage, snwSkinBox* box)
{
    if (!snwBenchRows_Wants(rows, "rolling box", "softcontact"))
        return;
    snwSkinBox_Make(box, &(snwSkinBoxDef){{0, 0.15, 0}, {0.1, 0.1, 0.1}, 4, 3e3, 0.6, {0}});
    snwSoftStage_Begin(stage, context, 0.5, (snwVec3){0, 0, 1}, 0);
    rows->result = snwSoftStage_AddBox(stage, box, rows->message);
    if (rows->result == snw_ok)
        rows->result = snwSoftStage_Open(stage, 200, rows->message);
    snwSoftBody* body = stage->bodies;
    double jump = 0;
    for (int i = 0; i < 30 && rows->result == snw_ok; ++i)
    {
        body->u[5] += i == 0 ? -8 : 0, body->u[0] += i == 0 ? 1 : 0;
        snwSoftBody_Look(body);
        rows->result = snwSoftStage_Step(stage, 5, rows->message);
        snwSpatial before = snwSoftBody_Momentum(body);
        double kinetic = snwSoftBody_KineticEnergy(body), elastic = snwSoftBody_ElasticEnergy(body);
        unsigned char all[snw_mostBoxPoints];
        memset(all, 1, sizeof all);
        snwSoftBody_Soften(body, (const unsigned char*[]){all});
        snwSpatial after = snwSpatial_MulAdd(snwSoftBody_Momentum(body), -1, before);
        double energy = kinetic + elastic;
        jump = fmax(jump, fabs(snwSoftBody_KineticEnergy(body) + snwSoftBody_ElasticEnergy(body) - energy) / energy);
        jump = fmax(jump, snwVec3_Length(after.shift) / (snwVec3_Length(before.shift) + 1));
        jump = fmax(jump, snwVec3_Length(after.turn) / (snwVec3_Length(before.turn) + 1));
    }
    if (rows->result == snw_ok)
        Add(rows, "rolling box", "soften_jump", jump, "<=", 1e-12);
    snwSoftStage_Close(stage);
}

// On springs without edges: weight over their stiffness.
static void AddSink(snwBenchRows* rows, snwContext* context, snwSoftStage* stage, snwSkinBox* box)
{
    if (!snwBenchRows_Wants(rows, "sole without edges", "softcontact"))
        return;
    snwSkinBox_Make(box, &(snwSkinBoxDef){{0, 0.1, 0}, {0.1, 0.1, 0.1}, 20, 3e3, 0, {0}});
    snwSoftStage_Begin(stage, context, 0.5, (snwVec3){0, 0, 1}, 0);
    rows->result = snwSoftStage_AddBox(stage, box, rows->message);
    if (rows->result == snw_ok)
        rows->result = snwSoftStage_Open(stage, 200, rows->message);
    if (rows->result == snw_ok)
        rows->result = snwSoftStage_Step(stage, 1000, rows->message);
    double wanted = (20 - 25 * box->masses[0]) * 9.81 / (25 * 0.4 * 3e3);
    if (rows->result == snw_ok)
        Add(rows, "sole without edges", "sink_err", fabs(-stage->bodies[0].poses[0].shift.y / wanted - 1), "<=", 0.01);
    snwSoftStage_Close(stage);
}

// ---------------------------------------------------------------------------------------------------------------------
// Contact

// Slopes that fall in many directions, at 0.99 of the angle of friction: what slips most in two seconds; and how much
// directions matter for what slides at 0.9 of the friction that would hold it, of the way.
static void AddIncline(snwBenchRows* rows, snwContext* context, snwSoftStage* stage, snwSkinBox* box)
{
    if (!snwBenchRows_Wants(rows, "slopes, any direction", "softcontact"))
        return;
    double slip = 0, least = INFINITY, most = 0;
    for (int i = 0; i < 8 && rows->result == snw_ok; ++i)
    {
        bool held = i < 4;
        double tilt = 0.3, way = 0.7 * (i % 4);
        snwVec3 axis = {cos(way), 0, sin(way)};
        snwSkinBox_Make(box, &(snwSkinBoxDef){{0, 0, 0}, {0.2, 0.05, 0.2}, 4, 1e4, 0.6, {0}});
        snwSoftStage_Begin(stage, context, held ? tan(tilt / 0.99) : 0.9 * tan(tilt), axis, tilt);
        rows->result = snwSoftStage_AddBox(stage, box, rows->message);
        if (rows->result == snw_ok)
            rows->result = snwSoftStage_Open(stage, 200, rows->message);
        if (rows->result == snw_ok)
        {
            snwSoftBody* body = stage->bodies;
            stage->settings.rigid = true;
            body->poses[0].turn = snwQuat_FromAxisAngle(axis, tilt);
            body->poses[0].shift = snwQuat_Rotate(body->poses[0].turn, (snwVec3){0, 0.05, 0});
            snwSoftBody_Look(body);
            snwVec3 from = body->poses[0].shift;
            rows->result = snwSoftStage_Step(stage, 500, rows->message);
            double far = snwVec3_Distance(from, body->poses[0].shift);
            slip = held ? fmax(slip, far) : slip;
            least = held ? least : fmin(least, far), most = held ? most : fmax(most, far);
        }
        snwSoftStage_Close(stage);
    }
    if (rows->result != snw_ok)
        return;
    Add(rows, "slopes, any direction", "incline_slip", slip, "<=", 1e-6);
    Add(rows, "slopes, any direction", "incline_spread", (most - least) / most, "<=", 1e-3);
}

static void AddTower(snwBenchRows* rows, snwContext* context, snwSoftStage* stage, int count, double last)
{
    double masses[10], drift = 0, time = rows->options->full ? 60 : 8;
    char name[48];
    snprintf(name, sizeof name, count == 10 ? "stack of ten boxes" : "1,000 kg on 1 kg");
    if (!snwBenchRows_Wants(rows, name, "softcontact"))
        return;
    for (int i = 0; i < count; ++i)
        masses[i] = i == count - 1 ? last : 1;
    snwSoftStage_Begin(stage, context, 0.5, (snwVec3){0, 0, 1}, 0);
    rows->result = snwSoftStage_AddTower(stage, count, masses, rows->message);
    if (rows->result == snw_ok)
        rows->result = snwSoftStage_Open(stage, 200, rows->message);
    snwVec3 start[10];
    for (int i = 0; i < count && rows->result == snw_ok; ++i)
        start[i] = stage->bodies[i].poses[0].shift;
    if (rows->result == snw_ok)
        rows->result = snwSoftStage_Step(stage, (int)(time / stage->settings.h), rows->message);
    for (int i = 0; i < count && rows->result == snw_ok; ++i)
        drift = fmax(drift, snwVec3_Distance(start[i], stage->bodies[i].poses[0].shift));
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", "stack_drift");
    row.value = drift, row.n = 1;
    snwBenchRow_SetTarget(&row, "<=", 0.001);
    snprintf(row.note, sizeof row.note, "rigid, in %g s; %ld of %ld problems unsolved", time, stage->world.failures,
        stage->world.problems);
    if (rows->result == snw_ok)
        snwBenchRows_Add(rows, &row);
    snwSoftStage_Close(stage);
}

void snwAddSoftTruths(snwBenchRows* rows)
{
    snwContextDef contextDef = snwDefaultContextDef();
    snwContext* context = NULL;
    contextDef.threadCount = 1;
    rows->result = snwCreateContext(&contextDef, &context, rows->message);
    snwSoftStage* stage = malloc(sizeof *stage);
    snwSkinBox* box = malloc(sizeof *box);
    if (rows->result == snw_ok && (stage == NULL || box == NULL))
        rows->result = snwFailMemory(rows->message);
    if (rows->result == snw_ok && stage != NULL && box != NULL)
    {
        AddPendulum(rows, context, stage);
        AddFigure(rows, context, stage, 0.001, 100);
        AddFigure(rows, context, stage, 0.004, 100);
        AddFigure(rows, context, stage, 0.004, 0);
        AddLiteral(rows, context, stage, false);
        AddLiteral(rows, context, stage, true);
        AddSoften(rows, context, stage, box);
        AddSink(rows, context, stage, box);
        AddIncline(rows, context, stage, box);
        AddTower(rows, context, stage, 10, 1);
        AddTower(rows, context, stage, 2, 1000);
    }
    free(stage), free(box);
    snwDestroyContext(context);
}
