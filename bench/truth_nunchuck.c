// Two rigid bodies on a ball joint, the first held at a point: Newton's and Euler's equations with the forces at the
// pin and at the joint as unknowns, the joints differentiated twice (index one), Runge-Kutta of fourth order.
//
// Each step ends with a projection: the centres and their velocities are set to what the rotations and spins say, so
// that the joints stay closed to rounding. What a step had opened is of the step's own order and is reported; the
// projection leaves the order alone. Minimal coordinates would need no projection, but then no gap could tell of a
// mistake in the equations.
//
// The accuracy is known by halving: every run goes with two steps, h and h/2, side by side.

#include "truth.h"

#include "base/result.h"
#include "sim/character.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Bodies

typedef struct Sum
{
    double mass;
    snwVec3 first;  // sum of m p
    snwMat3 second; // sum of m p p^T, about a point near by
} Sum;

static void AddPoint(Sum* sum, double mass, snwVec3 p)
{
    sum->mass += mass;
    sum->first = snwVec3_MulAdd(sum->first, mass, p);
    sum->second = snwMat3_Add(sum->second, snwMat3_Scale(snwMat3_Outer(p, p), mass));
}

static snwTruthBody MakeBody(const Sum* sum)
{
    snwVec3 centre = snwVec3_Scale(sum->first, 1 / sum->mass);
    snwMat3 about = snwMat3_Sub(sum->second, snwMat3_Scale(snwMat3_Outer(centre, centre), sum->mass));
    double trace = snwMat3_Trace(about);
    return (snwTruthBody){sum->mass, centre, snwMat3_Sub(snwMat3_Diagonal(trace, trace, trace), about)};
}

snwTruthBody snwTruthBody_FromPoints(const snwVec3* points, const double* masses, int count)
{
    Sum sum = {0};
    for (int i = 0; i < count; ++i)
        AddPoint(&sum, masses[i], points[i]);
    return MakeBody(&sum);
}

int snwNunchuck_Corner(const snwCharacter* character)
{
    int best = -1;
    for (int v = 0; v < character->def.vertexCount; ++v)
    {
        if (character->vertexBones[v] != 0)
            continue;
        snwVec3 d = best < 0 ? (snwVec3){-1, 0, 0}
                             : snwVec3_Sub(character->def.vertices[v], character->def.vertices[best]);
        if (d.y + d.z - d.x > 1e-9) // equally far: the first
            best = v;
    }
    return best;
}

snwNunchuckDef snwNunchuck_FromCharacter(const snwCharacter* character, int pin)
{
    Sum sums[2] = {0};
    for (int v = 0; v < character->def.vertexCount; ++v)
    {
        int k = character->vertexBones[v];
        if (k == 0 || k == 1)
            AddPoint(&sums[k], character->masses[v], character->def.vertices[v]);
    }
    return (snwNunchuckDef){
        .bodies = {MakeBody(&sums[0]), MakeBody(&sums[1])},
        .pin = character->def.vertices[pin],
        .joint = character->def.joints[0].position,
        .gravity = {0, -9.81, 0},
        .start = {snwQuat_Identity(), snwQuat_Identity()},
        .tolerance = 1e-9 * snwVec3_Distance(character->lower, character->upper),
    };
}

// ---------------------------------------------------------------------------------------------------------------------
// Equations

typedef struct Body
{
    snwVec3 centre; // m
    snwQuat turn;
    snwVec3 velocity; // m/s
    snwVec3 spin;     // rad/s, in the world
} Body;

typedef struct State
{
    Body bodies[2];
} State;

enum
{
    snw_stateNumbers = sizeof(State) / sizeof(double),
    snw_equations = 18
};

// In the world, now.
typedef struct Arms
{
    snwVec3 pin;      // from the centre of the first body
    snwVec3 joint[2]; // from each centre
    snwMat3 inertia[2];
} Arms;

static Arms MakeArms(const snwNunchuckDef* def, const State* state)
{
    Arms arms;
    for (int k = 0; k < 2; ++k)
    {
        snwMat3 r = snwQuat_ToMat3(snwQuat_Normalize(state->bodies[k].turn));
        arms.joint[k] = snwMat3_MulVec(r, snwVec3_Sub(def->joint, def->bodies[k].centre));
        arms.inertia[k] = snwMat3_MulTranspose(snwMat3_Mul(r, def->bodies[k].inertia), r);
        if (k == 0)
            arms.pin = snwMat3_MulVec(r, snwVec3_Sub(def->pin, def->bodies[0].centre));
    }
    return arms;
}

typedef struct System
{
    double matrix[snw_equations][snw_equations];
    double right[snw_equations];
} System;

static void AddBlock(System* system, int row, int column, snwMat3 block)
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            system->matrix[row + i][column + j] += block.m[i][j];
}

static void AddRight(System* system, int row, snwVec3 value)
{
    system->right[row] += value.x;
    system->right[row + 1] += value.y;
    system->right[row + 2] += value.z;
}

// Gauss with pivots; the solution takes the place of the right side.
static void SolveSystem(System* system)
{
    for (int c = 0; c < snw_equations; ++c)
    {
        int pivot = c;
        for (int r = c + 1; r < snw_equations; ++r)
            pivot = fabs(system->matrix[r][c]) > fabs(system->matrix[pivot][c]) ? r : pivot;
        for (int j = 0; j < snw_equations; ++j)
        {
            double kept = system->matrix[c][j];
            system->matrix[c][j] = system->matrix[pivot][j];
            system->matrix[pivot][j] = kept;
        }
        double kept = system->right[c];
        system->right[c] = system->right[pivot];
        system->right[pivot] = kept;
        for (int r = c + 1; r < snw_equations; ++r)
        {
            double factor = system->matrix[r][c] / system->matrix[c][c];
            for (int j = c; j < snw_equations; ++j)
                system->matrix[r][j] -= factor * system->matrix[c][j];
            system->right[r] -= factor * system->right[c];
        }
    }
    for (int c = snw_equations - 1; c >= 0; --c)
    {
        for (int j = c + 1; j < snw_equations; ++j)
            system->right[c] -= system->matrix[c][j] * system->right[j];
        system->right[c] /= system->matrix[c][c];
    }
}

// A point of body k at `arm` feels the unknown force at `force` (sign +1 or -1), and its acceleration enters the three
// rows that go with that force.
static void Connect(System* system, int k, int force, double sign, snwVec3 arm, snwVec3 spin)
{
    snwMat3 one = snwMat3_Diagonal(sign, sign, sign), skew = snwMat3_Scale(snwMat3_Skew(arm), sign);
    snwMat3 back = snwMat3_Transpose(skew);
    AddBlock(system, 6 * k, force, snwMat3_Scale(one, -1));
    AddBlock(system, 6 * k + 3, force, snwMat3_Scale(skew, -1));
    AddBlock(system, force, 6 * k, one);
    AddBlock(system, force, 6 * k + 3, back); // a x arm = -[arm]x a
    AddRight(system, force, snwVec3_Scale(snwVec3_Cross(spin, snwVec3_Cross(spin, arm)), -sign));
}

// Unknowns: acceleration and angular acceleration of both bodies, force at the pin, force at the joint.
static void Accelerations(const snwNunchuckDef* def, const State* state, snwVec3 linear[2], snwVec3 angular[2])
{
    System system = {0};
    Arms arms = MakeArms(def, state);
    for (int k = 0; k < 2; ++k)
    {
        double mass = def->bodies[k].mass;
        snwVec3 spin = state->bodies[k].spin;
        AddBlock(&system, 6 * k, 6 * k, snwMat3_Diagonal(mass, mass, mass));
        AddBlock(&system, 6 * k + 3, 6 * k + 3, arms.inertia[k]);
        AddRight(&system, 6 * k, snwVec3_Scale(def->gravity, mass));
        AddRight(&system, 6 * k + 3, snwVec3_Cross(snwMat3_MulVec(arms.inertia[k], spin), spin));
        Connect(&system, k, 15, k == 0 ? 1 : -1, arms.joint[k], spin);
    }
    Connect(&system, 0, 12, 1, arms.pin, state->bodies[0].spin);
    SolveSystem(&system);
    for (int k = 0; k < 2; ++k)
    {
        memcpy(&linear[k], system.right + 6 * k, sizeof linear[k]);
        memcpy(&angular[k], system.right + 6 * k + 3, sizeof angular[k]);
    }
}

static State Derivative(const snwNunchuckDef* def, const State* state)
{
    snwVec3 linear[2], angular[2];
    Accelerations(def, state, linear, angular);
    State change;
    for (int k = 0; k < 2; ++k)
    {
        const Body* body = &state->bodies[k];
        snwQuat spin = {0.5 * body->spin.x, 0.5 * body->spin.y, 0.5 * body->spin.z, 0};
        change.bodies[k] = (Body){body->velocity, snwQuat_Mul(spin, body->turn), linear[k], angular[k]};
    }
    return change;
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps

static State Moved(const State* state, double step, const State* change)
{
    State moved;
    double numbers[snw_stateNumbers], changes[snw_stateNumbers];
    memcpy(numbers, state, sizeof numbers);
    memcpy(changes, change, sizeof changes);
    for (int i = 0; i < snw_stateNumbers; ++i)
        numbers[i] += step * changes[i];
    memcpy(&moved, numbers, sizeof moved);
    return moved;
}

// Closes pin and joint; returns how far they were open, m.
static double Project(const snwNunchuckDef* def, State* state)
{
    Body *a = &state->bodies[0], *b = &state->bodies[1];
    a->turn = snwQuat_Normalize(a->turn);
    b->turn = snwQuat_Normalize(b->turn);
    Arms arms = MakeArms(def, state);
    snwVec3 joint = snwVec3_Add(a->centre, arms.joint[0]);
    double pinGap = snwVec3_Distance(snwVec3_Add(a->centre, arms.pin), def->pin);
    double jointGap = snwVec3_Distance(joint, snwVec3_Add(b->centre, arms.joint[1]));
    a->centre = snwVec3_Sub(def->pin, arms.pin);
    a->velocity = snwVec3_Cross(arms.pin, a->spin);
    snwVec3 jointVelocity = snwVec3_Add(a->velocity, snwVec3_Cross(a->spin, arms.joint[0]));
    b->centre = snwVec3_Sub(snwVec3_Add(a->centre, arms.joint[0]), arms.joint[1]);
    b->velocity = snwVec3_Sub(jointVelocity, snwVec3_Cross(b->spin, arms.joint[1]));
    return fmax(pinGap, jointGap);
}

static double StepOnce(const snwNunchuckDef* def, State* state, double step)
{
    State k1 = Derivative(def, state), at = Moved(state, step / 2, &k1);
    State k2 = Derivative(def, &at);
    at = Moved(state, step / 2, &k2);
    State k3 = Derivative(def, &at);
    at = Moved(state, step, &k3);
    State k4 = Derivative(def, &at);
    *state = Moved(state, step / 6, &k1);
    *state = Moved(state, step / 3, &k2);
    *state = Moved(state, step / 3, &k3);
    *state = Moved(state, step / 6, &k4);
    return Project(def, state);
}

static void Energies(const snwNunchuckDef* def, const State* state, double* kinetic, double* potential)
{
    Arms arms = MakeArms(def, state);
    *kinetic = *potential = 0;
    for (int k = 0; k < 2; ++k)
    {
        const Body* body = &state->bodies[k];
        double mass = def->bodies[k].mass;
        *kinetic += 0.5 * mass * snwVec3_LengthSquared(body->velocity);
        *kinetic += 0.5 * snwVec3_Dot(body->spin, snwMat3_MulVec(arms.inertia[k], body->spin));
        *potential -= mass * snwVec3_Dot(def->gravity, body->centre);
    }
}

// About the pin. Gravity has no moment about the vertical, so that part stays what it was: zero.
static snwVec3 AngularMomentum(const snwNunchuckDef* def, const State* state)
{
    Arms arms = MakeArms(def, state);
    snwVec3 sum = {0, 0, 0};
    for (int k = 0; k < 2; ++k)
    {
        const Body* body = &state->bodies[k];
        snwVec3 orbit = snwVec3_Cross(snwVec3_Sub(body->centre, def->pin), body->velocity);
        sum = snwVec3_MulAdd(sum, def->bodies[k].mass, orbit);
        sum = snwVec3_Add(sum, snwMat3_MulVec(arms.inertia[k], body->spin));
    }
    return sum;
}

static State Start(const snwNunchuckDef* def)
{
    State state = {.bodies = {{.turn = def->start[0]}, {.turn = def->start[1]}}};
    Project(def, &state);
    return state;
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs

static snwAffine TransformOf(const snwNunchuckDef* def, const State* state, int k)
{
    snwMat3 r = snwQuat_ToMat3(state->bodies[k].turn);
    return (snwAffine){r, snwVec3_Sub(state->bodies[k].centre, snwMat3_MulVec(r, def->bodies[k].centre))};
}

// m: how far apart two states have points of the bodies, at most.
static double Difference(const State* a, const State* b, double size)
{
    double worst = 0;
    for (int k = 0; k < 2; ++k)
        worst = fmax(worst, snwVec3_Distance(a->bodies[k].centre, b->bodies[k].centre) +
                                size * snwQuat_Angle(a->bodies[k].turn, b->bodies[k].turn));
    return worst;
}

static void Advance(const snwNunchuckDef* def, State* state, double time, int steps, snwNunchuckReport* report)
{
    State start = Start(def);
    double kinetic, potential;
    Energies(def, &start, &kinetic, &potential);
    double first = kinetic + potential;
    snwVec3 down = snwVec3_Normalize(def->gravity);
    for (int i = 0; i < steps; ++i)
    {
        report->drift = fmax(report->drift, StepOnce(def, state, time / steps));
        Energies(def, state, &kinetic, &potential);
        report->energyScale = fmax(report->energyScale, kinetic);
        snwVec3 momentum = AngularMomentum(def, state);
        report->momentum = fmax(report->momentum, fabs(snwVec3_Dot(momentum, down)));
        report->momentumScale = fmax(report->momentumScale, snwVec3_Length(momentum));
        report->energyChange = fmax(report->energyChange, fabs(kinetic + potential - first));
    }
}

typedef struct Output
{
    const double* times;
    int count;
    snwAffine* transforms;
} Output;

// With `rate` and twice as many steps per second, side by side; the finer ones are the result.
static void RunPair(const snwNunchuckDef* def, int rate, const Output* output, snwNunchuckReport* report)
{
    double size = snwVec3_Distance(def->pin, def->joint), before = 0;
    State coarse = Start(def), fine = coarse;
    *report = (snwNunchuckReport){.steps = 2 * rate};
    snwNunchuckReport unused = {0};
    for (int i = 0; i < output->count; ++i)
    {
        double time = output->times[i] - before;
        int steps = (int)ceil(time * rate);
        before = output->times[i];
        Advance(def, &coarse, time, steps, &unused);
        Advance(def, &fine, time, 2 * steps, report);
        report->change = fmax(report->change, Difference(&coarse, &fine, size));
        output->transforms[2 * i] = TransformOf(def, &fine, 0);
        output->transforms[2 * i + 1] = TransformOf(def, &fine, 1);
    }
}

snwResult snwNunchuck_Solve(const snwNunchuckDef* def, const double* times, int count, snwAffine* transforms,
    snwNunchuckReport* report, snwMessage* message)
{
    const int coarsest = 125, finest = 64000; // steps per second
    Output output = {times, count, transforms};
    for (int i = 0; i < count; ++i)
        if (!(times[i] > (i > 0 ? times[i - 1] : 0)) || times[i] > 1000)
            return snwFail(message, snw_errorArgument, NULL, "times must rise from above 0 to at most 1000 s");
    for (int rate = coarsest; rate <= finest; rate *= 2)
    {
        RunPair(def, rate, &output, report);
        if (report->change <= def->tolerance)
            return snw_ok;
    }
    return snwFail(message, snw_errorDiverged, "ask for a shorter time: the motion is chaotic",
        "the nunchuck still changes by %.3g m when the step is halved", report->change);
}
