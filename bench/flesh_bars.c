// Bars that are known by heart: they sag by what converged Newton says, fall by g t (t + h) / 2 wherever they are,
// keep their momentum, and move alike at any size.

#include "flesh_bench.h"

#include "sim/apd/elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The methods, and pbd with a law that has moduli.
typedef struct Method
{
    const char *label, *name;
    snwSetting setting; // of its own; a name NULL: none
} Method;

static const Method s_methods[] = {{"pbd", "pbd", {0}}, {"pbd compliant", "pbd", {"pbd.law", 1}}, {"apd", "apd", {0}},
    {"pbcd", "pbcd", {0}}, {"rigpbd", "rigpbd", {0}}, {"skelfem", "skelfem", {0}}};

enum
{
    snw_methodCount = sizeof s_methods / sizeof *s_methods
};

// A bar along x of a given length, in the world of a test.
typedef struct Bar
{
    double length;    // m
    double thickness; // of the length
    int cells[2];     // along and across
    double young, poisson;
    const char* place; // members of the body, JSON
    const char* world; // members of the scene, JSON
} Bar;

static json_t* MakeBar(const Bar* bar)
{
    char character[320], place[200];
    double across = bar->thickness * bar->length;
    json_t *scene = json_object(), *body = json_object();
    snprintf(character, sizeof character,
        "\"name\": \"bar\", \"character\": {\"shape\": \"bar\", \"size\": [%.9g, %.9g, %.9g], \"cells\": [%d, %d, %d], "
        "\"material\": {\"density\": 1000, \"young\": %.9g, \"poisson\": %.9g}}",
        bar->length, across, across, bar->cells[0], bar->cells[1], bar->cells[1], bar->young, bar->poisson);
    snwJson_Add(body, character);
    snprintf(place, sizeof place, "%s", bar->place);
    snwJson_Add(body, place);
    snwJson_Add(scene, "\"sinew\": 1, \"name\": \"bar\", \"rate\": 60");
    snwJson_Add(scene, bar->world);
    json_object_set_new(scene, "bodies", json_pack("[o]", body));
    return scene;
}

static snwFleshRun RunOf(const Method* method, int substeps)
{
    snwFleshRun run = {.method = method->name};
    int count = 0;
    if (substeps > 0)
        run.settings[count++] = (snwSetting){"sim.substeps", substeps};
    if (method->setting.name != NULL)
        run.settings[count++] = method->setting;
    return run;
}

static snwVec3 At(const snwFleshStage* stage, int vertex)
{
    snwVertices now;
    if (snwSim_GetVertices(stage->sim, 0, &now) < 0)
        return (snwVec3){NAN, NAN, NAN};
    const float* x = (const float*)((const char*)now.positions + (size_t)vertex * (size_t)now.stride);
    return (snwVec3){(double)x[0], (double)x[1], (double)x[2]};
}

// ---------------------------------------------------------------------------------------------------------------------
// Sag

static const double s_sagYoungs[] = {1e4, 1e5, 1e6, 1e7, 1e8};

// How far the free end hangs below its rest, m.
static double Sag(const snwFleshStage* stage)
{
    const snwCharacter* character = stage->character;
    double sum = 0;
    int count = 0;
    for (int i = 0; i < character->def.vertexCount; ++i)
        if (character->def.vertices[i].x > character->upper.x - 1e-6)
        {
            sum += character->def.vertices[i].y - At(stage, i).y;
            count++;
        }
    return sum / count;
}

static snwResult SagAfter(
    snwFleshStage* stage, const snwFleshRun* run, double seconds, double* sag, bool* failed, snwMessage* message)
{
    snwResult result = snwFleshStage_Start(stage, run, message);
    if (result < 0)
        return result;
    snwFleshWatch watch = snwFleshStage_StartWatch(stage);
    *failed = !snwFleshStage_Play(stage, &watch, seconds);
    *sag = Sag(stage);
    return snw_ok;
}

// Drag of 10 1/s stills the bar within the time; it does not change where it ends.
static snwFleshRun SagRun(const Method* method)
{
    static const char* const s_drags[][2] = {{"pbd", "pbd.drag"}, {"apd", "apd.drag"}, {"pbcd", "pbcd.drag"},
        {"rigpbd", "rigpbd.drag"}, {"skelfem", "skelfem.damping"}};
    snwFleshRun run = RunOf(method, 0);
    int last = method->setting.name != NULL;
    for (size_t i = 0; i < sizeof s_drags / sizeof *s_drags; ++i)
        if (strcmp(s_drags[i][0], method->name) == 0)
            run.settings[last] = (snwSetting){s_drags[i][1], 10};
    return run;
}

static void AddSagsOf(snwBenchRows* rows, snwFleshStage* stage, double young)
{
    // Newton's method for Neo-Hookean flesh. apd's own law has no Newton: its iterations end in the same minimum, so
    // two hundred in every step are its truth.
    static const double s_seconds = 4;
    const snwFleshRun newton = {
        .method = "pbcd", .settings = {{"pbcd.solver", 2}, {"sim.substeps", 1}, {"pbcd.drag", 10}}};
    const snwFleshRun converged = {
        .method = "apd", .settings = {{"apd.iterations", 200}, {"sim.substeps", 1}, {"apd.drag", 10}}};
    const snwFleshRun corotated = {.method = "apd",
        .settings = {
            {"apd.iterations", 200}, {"sim.substeps", 1}, {"apd.drag", 10}, {"apd.law", snw_elasticCorotated}}};
    double truth = NAN, apdTruth = NAN, corotatedTruth = NAN;
    bool failed = false;
    char name[48];
    snprintf(name, sizeof name, "sag, E = %.0e", young);

    for (int m = 0; m < snw_methodCount && rows->result >= 0; ++m)
    {
        const Method* method = &s_methods[m];
        bool isApd = strcmp(method->name, "apd") == 0;
        bool isSkelfem = strcmp(method->name, "skelfem") == 0; // of another law than the rest
        double* right = isApd ? &apdTruth : isSkelfem ? &corotatedTruth : &truth;
        if (!snwBenchRows_Wants(rows, name, method->name))
            continue;
        if (m == 0)
        {
            snwFleshRows_AddMissing(rows, name, method->label, "sag_err", "its stiffness is not that of the material");
            continue;
        }
        if (isnan(*right))
            rows->result = SagAfter(stage,
                isApd       ? &converged
                : isSkelfem ? &corotated
                            : &newton,
                s_seconds, right, &failed, rows->message);

        snwFleshRun run = SagRun(method);
        double sag = NAN;
        if (rows->result >= 0)
            rows->result = SagAfter(stage, &run, s_seconds, &sag, &failed, rows->message);
        if (rows->result < 0)
            return;
        snwBenchRow row = snwMakeBenchRow(name, method->label, "sag_err");
        bool warned = snwFleshStage_WasWarned(stage);
        row.n = 1;
        row.value = failed ? 1 : fabs(sag / *right - 1);
        if (!warned)
            snwBenchRow_SetTarget(&row, "<=", 0.03);
        snprintf(row.note, sizeof row.note, "%.4g m, %s %.4g m%s%s", sag,
            isApd       ? "200 iterations"
            : isSkelfem ? "apd with that law and 200 iterations"
                        : "Newton",
            *right, warned ? "; it was warned of" : "", failed ? "; diverged" : "");
        snwBenchRows_Add(rows, &row);
    }
}

void snwAddFleshSag(snwBenchRows* rows)
{
    for (size_t i = 0; i < sizeof s_sagYoungs / sizeof *s_sagYoungs && rows->result >= 0; ++i)
    {
        snwFleshStage stage = {0};
        Bar bar = {.length = 0.4, .thickness = 0.5, .cells = {8, 3}, .young = s_sagYoungs[i], .poisson = 0.4};
        bar.place = "";
        bar.world = "\"pins\": [{\"name\": \"wall\", \"body\": \"bar\", \"lower\": [-0.21, -1, -1], \"upper\": "
                    "[-0.19, 1, 1]}]";
        rows->result = snwFleshStage_Open(&stage, MakeBar(&bar), rows->message);
        if (rows->result >= 0)
            AddSagsOf(rows, &stage, s_sagYoungs[i]);
        snwFleshStage_Close(&stage);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Fall and flight

static const double s_away[3] = {0, 1000, 4000};    // m
static const snwVec3 s_whither = {0.6, 0.48, 0.64}; // of the origin
static const char s_farSphere[] = "\"colliders\": [{\"name\": \"far\", \"kind\": \"sphere\", \"radius\": 0.1, "
                                  "\"position\": [0, -900, 0]}]";

static json_t* MakeFlyer(double away, const char* motion, const char* world)
{
    char place[200];
    snprintf(place, sizeof place, "\"position\": [%.9g, %.9g, %.9g]%s", away * s_whither.x, away * s_whither.y,
        away * s_whither.z, motion);
    Bar bar = {.length = 1, .thickness = 0.25, .cells = {3, 1}, .young = 2e4, .poisson = 0.45};
    bar.place = place;
    bar.world = world;
    return MakeBar(&bar);
}

// Error of the distance that it falls in 121 frames, some 20 m, relative. The integrator's own is not counted: N steps
// of h make g h^2 N (N + 1) / 2.
static snwResult FallError(snwFleshStage* stage, const Method* method, int substeps, double* error, snwMessage* message)
{
    enum
    {
        frames = 121
    };
    snwFleshRun run = RunOf(method, substeps);
    snwMeasures before = {0}, after = {0};
    snwResult result = snwFleshStage_Start(stage, &run, message);
    if (result < 0)
        return result;
    snwSim_GetMeasures(stage->sim, 0, &before);
    snwFleshWatch watch = snwFleshStage_StartWatch(stage);
    for (int i = 0; i < frames && snwFleshStage_Step(stage, &watch);)
        ++i;
    snwSim_GetMeasures(stage->sim, 0, &after);
    double h = 1 / (stage->def->rate * substeps), n = (double)frames * substeps;

    // By semi-implicit Euler's rule; by the second-order rule of skelfem, which begins with a step of Euler's.
    bool second = strcmp(method->name, "skelfem") == 0;
    double exact = -stage->def->gravity.y * h * h * (second ? 0.5 * n * n + 0.75 : 0.5 * n * (n + 1));
    *error = watch.failed ? 1 : fabs((before.centre.y - after.centre.y) / exact - 1);
    return snw_ok;
}

static void AddFall(snwBenchRows* rows, snwFleshStage* stage, const char* name, const Method* method)
{
    static const int s_substeps[] = {1, 16, 256, 4, 64}; // brief: the first three
    snwBenchRow row = snwMakeBenchRow(name, method->label, "fall_err");
    int count = rows->options->full ? 5 : 3;
    row.value = 0;
    for (int i = 0; i < count && rows->result >= 0; ++i)
    {
        double error = NAN;
        size_t used = strlen(row.note);
        rows->result = FallError(stage, method, s_substeps[i], &error, rows->message);
        snprintf(row.note + used, sizeof row.note - used, "%s%.2g with %d", used > 0 ? ", " : "", error, s_substeps[i]);
        row.value = fmax(row.value, error);
        row.n++;
    }
    strncat(row.note, " substeps", sizeof row.note - strlen(row.note) - 1);
    snwBenchRow_SetTarget(&row, "<=", 1e-4);
    snwBenchRows_Add(rows, &row);
}

static double SumOfMomenta(const snwFleshStage* stage)
{
    snwVertices now;
    double sum = 0;
    if (snwSim_GetVertices(stage->sim, 0, &now) < 0)
        return NAN;
    for (int i = 0; i < now.count; ++i)
    {
        const float* v = (const float*)((const char*)now.velocities + (size_t)i * (size_t)now.stride);
        sum += stage->character->masses[i] * snwVec3_Length((snwVec3){(double)v[0], (double)v[1], (double)v[2]});
    }
    return sum;
}

static void AddFlight(snwBenchRows* rows, snwFleshStage* stage, const char* name, const Method* method)
{
    snwFleshRun run = RunOf(method, 0);
    run.noGravity = true;
    rows->result = snwFleshStage_Start(stage, &run, rows->message);
    if (rows->result < 0)
        return;
    snwMeasures before = {0}, after = {0};
    snwSim_GetMeasures(stage->sim, 0, &before);
    double sum = SumOfMomenta(stage);
    snwFleshWatch watch = snwFleshStage_StartWatch(stage);
    snwFleshStage_Play(stage, &watch, 1);
    snwSim_GetMeasures(stage->sim, 0, &after);
    snwBenchRow row = snwMakeBenchRow(name, method->label, "momentum_err");
    row.n = 1;
    row.value = watch.failed ? 1 : snwVec3_Distance(before.momentum, after.momentum) / sum;
    snwBenchRow_SetTarget(&row, "<=", 5e-4);
    snprintf(row.note, sizeof row.note, "1 s, default substeps%s%s", watch.failed ? "; diverged: " : "", watch.why);
    snwBenchRows_Add(rows, &row);
}

void snwAddFleshFall(snwBenchRows* rows)
{
    static const char s_motion[] = ", \"velocity\": [1, 0.5, -0.3], \"angular_velocity\": [1, 4, 2]";
    for (int place = 0; place < 3; ++place)
        for (int kind = 0; kind < 3 && rows->result >= 0; ++kind) // falls alone, falls beside something, flies
        {
            snwFleshStage stage = {0};
            char name[48];
            snprintf(name, sizeof name, "%s, %g km away",
                kind == 0   ? "fall"
                : kind == 1 ? "fall, a sphere"
                            : "flight",
                s_away[place] / 1000);
            if (place == 1 && !rows->options->full)
                continue;
            rows->result = snwFleshStage_Open(&stage,
                MakeFlyer(s_away[place], kind == 2 ? s_motion : "", kind == 1 ? s_farSphere : ""), rows->message);
            for (int m = 0; m < snw_methodCount; ++m)
            {
                if (!snwBenchRows_Wants(rows, name, s_methods[m].name))
                    continue;
                if (kind == 2)
                    AddFlight(rows, &stage, name, &s_methods[m]);
                else
                    AddFall(rows, &stage, name, &s_methods[m]);
            }
            snwFleshStage_Close(&stage);
        }
}

// ---------------------------------------------------------------------------------------------------------------------
// Sizes

static const double s_sizes[] = {1, 1e-3, 1e-2, 0.1, 10, 100}; // m; the first is what the others are compared with

enum
{
    snw_sizeCount = sizeof s_sizes / sizeof *s_sizes
};

// With lengths and gravity times s and Young's modulus times s^2 everything happens at the same time.
static json_t* MakeScaled(double s)
{
    char place[160], world[200];
    snprintf(place, sizeof place, "\"position\": [0, %.9g, 0], \"angles\": [10, 0, 25]", 0.5 * s);
    snprintf(world, sizeof world,
        "\"gravity\": [0, %.9g, 0], \"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\", \"friction\": 0.5}]",
        -9.81 * s);
    Bar bar = {.length = s, .thickness = 0.25, .cells = {8, 2}, .young = 1e5 * s * s, .poisson = 0.45};
    bar.place = place;
    bar.world = world;
    return MakeBar(&bar);
}

// Where its vertices are after a second, of the size.
static snwResult PlayScaled(const Method* method, double s, snwVec3* places, bool* failed, snwMessage* message)
{
    snwFleshStage stage = {0};
    snwFleshRun run = RunOf(method, 0);
    snwResult result = snwFleshStage_Open(&stage, MakeScaled(s), message);
    if (result >= 0)
        result = snwFleshStage_Start(&stage, &run, message);
    if (result >= 0)
    {
        snwFleshWatch watch = snwFleshStage_StartWatch(&stage);
        *failed = !snwFleshStage_Play(&stage, &watch, 1);
        for (int i = 0; i < stage.character->def.vertexCount; ++i)
            places[i] = snwVec3_Scale(At(&stage, i), 1 / s);
    }
    snwFleshStage_Close(&stage);
    return result;
}

static void AddScaled(snwBenchRows* rows, const Method* method)
{
    enum
    {
        vertices = 81
    };
    snwVec3 places[2][vertices];
    bool failed = false;
    for (int i = 0; i < snw_sizeCount && rows->result >= 0; ++i)
    {
        char name[48];
        snprintf(name, sizeof name, "scale, %g m", s_sizes[i]);
        rows->result = PlayScaled(method, s_sizes[i], places[i > 0], &failed, rows->message);
        if (i == 0 || rows->result < 0)
            continue;
        snwBenchRow row = snwMakeBenchRow(name, method->label, "scale_err");
        row.n = 1;
        row.value = 0;
        for (int v = 0; v < vertices; ++v)
            row.value = fmax(row.value, snwVec3_Distance(places[0][v], places[1][v]));
        if (failed)
            row.value = 1;
        snwBenchRow_SetTarget(&row, "<=", 0.01);
        snprintf(row.note, sizeof row.note, "%s", failed ? "diverged" : "dropped, after 1 s, against 1 m");
        snwBenchRows_Add(rows, &row);
    }
}

// The same material and gravity at any size: what is small is stiff, and stays as high as it is.
static void AddHeights(snwBenchRows* rows, const Method* method)
{
    static const double s_small[] = {1e-3, 3e-3, 1e-2, 3e-2};
    for (size_t i = 0; i < sizeof s_small / sizeof *s_small && rows->result >= 0; ++i)
    {
        double s = s_small[i];
        snwFleshStage stage = {0};
        char place[80], name[48];
        snprintf(place, sizeof place, "\"position\": [0, %.9g, 0]", s);
        snprintf(name, sizeof name, "block of %g mm", 1000 * s);
        Bar bar = {.length = s, .thickness = 1, .cells = {4, 4}, .young = 1e5, .poisson = 0.45, .place = place};
        bar.world = "\"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\", \"friction\": 0.5}]";
        snwFleshRun run = RunOf(method, 0);
        rows->result = snwFleshStage_Open(&stage, MakeBar(&bar), rows->message);
        if (rows->result >= 0)
            rows->result = snwFleshStage_Start(&stage, &run, rows->message);
        if (rows->result >= 0)
        {
            snwFleshWatch watch = snwFleshStage_StartWatch(&stage);
            bool good = snwFleshStage_Play(&stage, &watch, 1);
            double lowest = INFINITY, highest = -INFINITY;
            for (int v = 0; v < stage.character->def.vertexCount; ++v)
            {
                lowest = fmin(lowest, At(&stage, v).y);
                highest = fmax(highest, At(&stage, v).y);
            }
            snwBenchRow row = snwMakeBenchRow(name, method->label, "height_err");
            row.n = 1;
            row.value = good ? fabs((highest - lowest) / s - 1) : 1;
            snwBenchRow_SetTarget(&row, "<=", 0.1);
            snprintf(row.note, sizeof row.note, "1e5 Pa, dropped, after 1 s%s; least volume %.2g",
                good ? "" : ", diverged", watch.leastNow);
            snwBenchRows_Add(rows, &row);
        }
        snwFleshStage_Close(&stage);
    }
}

void snwAddFleshScale(snwBenchRows* rows)
{
    for (int m = 0; m < snw_methodCount; ++m)
    {
        if (snwBenchRows_Wants(rows, "scale", s_methods[m].name))
            AddScaled(rows, &s_methods[m]);
        if (snwBenchRows_Wants(rows, "block", s_methods[m].name))
            AddHeights(rows, &s_methods[m]);
    }
}
