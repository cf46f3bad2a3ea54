#include "column.h"
#include "contact_suite.h"

#include "scene/shipped.h"
#include "base/context.h"
#include "base/result.h"
#include "contact/collider.h"
#include "linalg/lu.h"
#include "scene/file.h"
#include "sim/apd/elastic.h"
#include "sim/character.h"
#include "sim/scene.h"
#include "sim/softcontact/softcontact.h"
#include "sinew/tools.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct
{
    const char* name;
    bool halve;     // a brief run has half the cells along each side: the verdict does not depend on them
    double seconds; // of a brief run; 0: the scene's, or what the case says
} s_scenes[snw_suiteCaseCount] = {{"incline", false, 0}, {"stack", true, 0}, {"stairs", true, 0}, {"press", true, 0},
    {"fold", true, 2.4}, {"wall", false, 0}, {"sink", false, 2}, {"anvil", true, 2.75}};

// ---------------------------------------------------------------------------------------------------------------------
// A run

typedef struct Run
{
    snwContext* context;
    snwSceneFile file;
    const snwSceneDef* scene;
    double seconds; // how long the scene runs
    snwSim* sim;
    bool applies;
} Run;

static void Close(Run* run)
{
    if (run->sim != NULL)
        snwDestroySim(run->sim);
    if (run->file.scene != NULL)
        snwSceneFile_Close(&run->file);
    if (run->context != NULL)
        snwDestroyContext(run->context);
}

// The scene's text with half the cells along each side of its bodies. free() it. NULL: no scene, no memory.
static char* HalveCells(const char* text, size_t size)
{
    json_t *scene = json_loadb(text, size, 0, NULL), *body;
    size_t i;
    json_array_foreach(json_object_get(scene, "bodies"), i, body)
    {
        json_t* cells = json_object_get(json_object_get(body, "character"), "cells");
        for (size_t k = 0; k < json_array_size(cells); ++k)
            json_array_set_new(cells, k, json_integer((json_integer_value(json_array_get(cells, k)) + 1) / 2));
    }
    char* halved = json_dumps(scene, JSON_COMPACT);
    json_decref(scene);
    return halved;
}

static snwResult OpenScene(Run* run, const snwSuiteDef* def, snwSuiteCase which, snwMessage* message)
{
    char path[4400], folder[4096], *text = NULL;
    size_t size = 0;
    snwScenesFolder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s.json", folder, s_scenes[which].name);
    if (!def->brief || !s_scenes[which].halve)
        return snwSceneFile_Open(run->context, path, NULL, &run->file, message);

    snwResult code = snwFile_Read(run->context, path, 1 << 20, &text, &size, message);
    if (code < 0)
        return code;
    char* halved = HalveCells(text, size);
    snwFree(run->context, text);
    if (halved == NULL)
        return snwFailMemory(message);
    code = snwSceneFile_Parse(run->context, halved, strlen(halved), path, NULL, &run->file, message);
    free(halved);
    return code;
}

// Not applying is an answer, not an error.
static snwResult Open(Run* run, const snwSuiteDef* def, snwSuiteCase which, snwSuiteResult* result, snwMessage* message)
{
    *run = (Run){0};
    *result = (snwSuiteResult){.values = {NAN, NAN}};
    snwContextDef context = snwDefaultContextDef();
    context.threadCount = def->threadCount;
    snwResult code = snwCreateContext(&context, &run->context, message);
    code = code < 0 ? code : OpenScene(run, def, which, message);
    if (code < 0)
        return code;
    run->scene = snwScene_GetDef(run->file.scene);
    run->seconds = def->brief && s_scenes[which].seconds > 0 ? s_scenes[which].seconds : run->scene->duration;
    snwSimDef sim = snwDefaultSimDef();
    sim.scene = run->file.scene;
    sim.method = def->method;
    snwMessage words = {0};
    code = snwCreateSim(run->context, &sim, &run->sim, &words);
    run->applies = result->applies = code >= 0;
    if (code == snw_errorUnsupported)
        snprintf(result->note, sizeof result->note, "%s", words.text);
    else if (code < 0 && message != NULL)
        *message = words;
    return code == snw_errorUnsupported ? snw_ok : code < 0 ? code : snw_ok;
}

static snwResult Step(Run* run, double seconds, snwMessage* message)
{
    int steps = (int)lround(seconds * run->scene->rate);
    snwResult code = snw_ok;
    for (int i = 0; i < steps && code >= 0; ++i)
        code = snwSim_Step(run->sim, 1.0 / run->scene->rate, message);
    return code;
}

static int FindBody(const Run* run, const char* name)
{
    for (int i = 0; i < run->scene->bodyCount; ++i)
        if (strcmp(run->scene->bodies[i].name, name) == 0)
            return i;
    return -1;
}

static const float* Vertex(const snwVertices* vertices, int index)
{
    return (const float*)((const char*)vertices->positions + (size_t)index * (size_t)vertices->stride);
}

static snwVec3 VertexAt(const snwVertices* vertices, int index)
{
    const float* p = Vertex(vertices, index);
    return (snwVec3){p[0], p[1], p[2]};
}

// ---------------------------------------------------------------------------------------------------------------------
// Incline

static double DownTheSlope(const Run* run, snwVec3 v)
{
    snwVec3 down = snwQuat_Rotate(run->scene->colliders[0].transform.rotation, (snwVec3){1, 0, 0});
    return snwVec3_Dot(v, down);
}

static double SlopeSpeed(Run* run, int body)
{
    snwMeasures m;
    snwSim_GetMeasures(run->sim, body, &m);
    return DownTheSlope(run, m.momentum) / snwCharacter_GetInfo(run->scene->bodies[body].character).mass;
}

static double SlopePlace(Run* run, int body)
{
    snwMeasures m;
    snwSim_GetMeasures(run->sim, body, &m);
    return DownTheSlope(run, m.centre);
}

// g (sin a - mu cos a), with mu of the first pair of surfaces that the body's has.
static double SlopeAcceleration(const Run* run, int body)
{
    const snwSceneDef* scene = run->scene;
    double mu = NAN, along = DownTheSlope(run, scene->gravity), all = snwVec3_Length(scene->gravity);
    for (int i = 0; i < scene->frictionCount; ++i)
        if (strcmp(scene->frictions[i].first, scene->bodies[body].surface) == 0)
            mu = scene->frictions[i].friction;
    return along - mu * sqrt(all * all - along * along);
}

static snwResult RunIncline(Run* run, const snwSuiteDef* def, snwSuiteResult* result, snwMessage* message)
{
    int holds = FindBody(run, "holds"), slides = FindBody(run, "slides");
    snwResult code = Step(run, 1.0, message);
    double place = SlopePlace(run, holds), speed = SlopeSpeed(run, slides), seconds = def->brief ? 1.0 : 2.0;
    code = code < 0 ? code : Step(run, seconds, message);
    result->values[0] = fabs(SlopePlace(run, holds) - place);
    double expected = SlopeAcceleration(run, slides);
    result->values[1] = fabs((SlopeSpeed(run, slides) - speed) / seconds / expected - 1.0);
    return code;
}

// ---------------------------------------------------------------------------------------------------------------------
// Stack

static snwResult RunStack(Run* run, const snwSuiteDef* def, snwSuiteResult* result, snwMessage* message)
{
    enum
    {
        most = 64
    };
    snwVec3 places[most];
    int count = run->scene->bodyCount < most ? run->scene->bodyCount : most;
    snwResult code = Step(run, def->brief ? 2.0 : 4.0, message);
    for (int i = 0; i < count; ++i)
    {
        snwMeasures m;
        snwSim_GetMeasures(run->sim, i, &m);
        places[i] = m.centre;
    }
    code = code < 0 ? code : Step(run, def->stackSeconds, message);
    result->values[0] = 0;
    for (int i = 0; i < count; ++i)
    {
        snwMeasures m;
        snwSim_GetMeasures(run->sim, i, &m);
        result->values[0] = fmax(result->values[0], snwVec3_Distance(m.centre, places[i]));
    }
    return code;
}

// ---------------------------------------------------------------------------------------------------------------------
// Stairs and wall

static double DeepestVertex(const Run* run)
{
    double deepest = 0;
    for (int b = 0; b < run->scene->bodyCount; ++b)
    {
        snwVertices vertices;
        snwSim_GetVertices(run->sim, b, &vertices);
        for (int i = 0; i < vertices.count; ++i)
            for (int c = 0; c < run->scene->colliderCount; ++c)
                deepest = fmax(deepest, snwCollider_Touch(&run->file.scene->colliders[c],
                                            run->scene->colliders[c].transform, VertexAt(&vertices, i))
                                            .depth);
    }
    return deepest;
}

static snwResult RunStairs(Run* run, const snwSuiteDef* def, snwSuiteResult* result, snwMessage* message)
{
    (void)def;
    snwResult code = snw_ok;
    int frames = (int)(run->seconds * run->scene->rate);
    result->values[0] = 0;
    for (int i = 0; i < frames && code >= 0; ++i)
    {
        code = snwSim_Step(run->sim, 1.0 / run->scene->rate, message);
        result->values[0] = fmax(result->values[0], DeepestVertex(run));
    }
    result->values[1] = DeepestVertex(run);
    return code;
}

// Vertices that are, or ever were, behind the front of the wall.
static int CountBeyond(const Run* run)
{
    const snwColliderDef* wall = &run->scene->colliders[1];
    snwVertices vertices;
    snwSim_GetVertices(run->sim, 0, &vertices);
    int beyond = 0;
    for (int i = 0; i < vertices.count; ++i)
    {
        snwVec3 x = snwTransform_ApplyInverse(wall->transform, VertexAt(&vertices, i));
        beyond += x.x > 0 && fabs(x.y) < wall->size.y && fabs(x.z) < wall->size.z;
    }
    return beyond;
}

static snwResult RunWall(Run* run, const snwSuiteDef* def, snwSuiteResult* result, snwMessage* message)
{
    (void)def;
    snwResult code = snw_ok;
    int frames = (int)(run->seconds * run->scene->rate);
    result->values[0] = 0;
    for (int i = 0; i < frames && code >= 0; ++i)
    {
        code = snwSim_Step(run->sim, 1.0 / run->scene->rate, message);
        result->values[0] = fmax(result->values[0], CountBeyond(run));
    }
    return code;
}

// ---------------------------------------------------------------------------------------------------------------------
// Press

// Extent along x of a body's vertices: side 1: the largest, -1: the smallest.
static double Side(const Run* run, int body, int side)
{
    snwVertices vertices;
    snwSim_GetVertices(run->sim, body, &vertices);
    double most = -INFINITY;
    for (int i = 0; i < vertices.count; ++i)
        most = fmax(most, side * (double)Vertex(&vertices, i)[0]);
    return side * most;
}

// The balls are mirror images: the plane between them must lie in the middle. What each gave way is how far its own
// side lies from where it would be undeformed.
static snwResult RunPress(Run* run, const snwSuiteDef* def, snwSuiteResult* result, snwMessage* message)
{
    (void)def;
    snwResult code = Step(run, 1.3, message);
    snwMeasures left, right;
    snwSim_GetMeasures(run->sim, 0, &left);
    snwSim_GetMeasures(run->sim, 1, &right);
    snwCharacterInfo info = snwCharacter_GetInfo(run->scene->bodies[0].character);
    double radius = 0.5 * (info.upper.x - info.lower.x);
    double gaveLeft = left.centre.x + radius - Side(run, 0, 1), gaveRight = Side(run, 1, -1) - right.centre.x + radius;
    result->values[0] = gaveLeft / (gaveLeft + gaveRight);
    code = code < 0 ? code : Step(run, run->seconds - 1.3, message);
    result->values[1] = Side(run, 1, -1) - Side(run, 0, 1);
    return code;
}

// ---------------------------------------------------------------------------------------------------------------------
// Fold

static bool InTet(const snwVec3 x[4], snwVec3 p)
{
    snwMat3 inverse,
        edges = snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0]));
    if (!(snwMat3_Determinant(edges) > 0) || !snwMat3_Inverse(edges, &inverse))
        return false;
    snwVec3 w = snwMat3_MulVec(inverse, snwVec3_Sub(p, x[0]));
    const double inside = 0.05; // of the way to the opposite corner
    return w.x > inside && w.y > inside && w.z > inside && 1 - w.x - w.y - w.z > inside;
}

static bool IsInsideAnother(const snwCharacterDef* character, const snwVertices* vertices, int vertex)
{
    snwVec3 p = VertexAt(vertices, vertex);
    for (int t = 0; t < character->tetCount; ++t)
    {
        const int* v = character->tets[t];
        snwVec3 x[4];
        bool own = false;
        for (int k = 0; k < 4; ++k)
        {
            x[k] = VertexAt(vertices, v[k]);
            own = own || v[k] == vertex;
        }
        if (!own && InTet(x, p))
            return true;
    }
    return false;
}

static snwResult RunFold(Run* run, const snwSuiteDef* def, snwSuiteResult* result, snwMessage* message)
{
    (void)def;
    snwResult code = Step(run, run->seconds, message);
    snwVertices vertices;
    snwSkin skin;
    snwSim_GetVertices(run->sim, 0, &vertices);
    snwSim_GetSkin(run->sim, 0, &skin);
    const snwCharacterDef* character = snwCharacter_GetDef(run->scene->bodies[0].character);
    result->values[0] = 0;
    for (int i = 0; i < skin.vertexCount; ++i)
        result->values[0] += IsInsideAnother(character, &vertices, skin.vertices[i]);
    return code;
}

// ---------------------------------------------------------------------------------------------------------------------
// Props on flesh

static double PropSpeed(const Run* run)
{
    snwProps props;
    snwSim_GetProps(run->sim, &props);
    double speed = 0;
    for (int i = 0; i < props.count; ++i)
        speed = fmax(speed, snwVec3_Length(props.data[i].velocity));
    return speed;
}

static double PlateWeight(const Run* run)
{
    const snwPropDef* plate = &run->scene->props[0];
    double volume = 8 * plate->size.x * plate->size.y * plate->size.z;
    return volume * plate->density * snwVec3_Length(run->scene->gravity);
}

// A plate on a block of flesh that sticks to it and to the ground. The truth minimises the energy of the method.
static double ColumnHeight(const Run* run)
{
    double corotated = 0.0;
    snwSim_GetParam(run->sim, "apd.law", &corotated);
    bool skelfem = strcmp(snwMethod_GetInfo(snwSim_GetMethod(run->sim)).name, "skelfem") == 0;
    snwColumnLaw law = skelfem || corotated == snw_elasticCorotated ? snw_columnCorotated : snw_columnNeoHookean;
    const snwCharacter* column = run->scene->bodies[0].character;
    double g = snwVec3_Length(run->scene->gravity);
    return snwFindColumnHeight(law, snwCharacter_GetDef(column), column->masses, PlateWeight(run), g);
}

// The same of softcontact: z are the free points' vertical ways from their anchors, then those of the bone and of the
// plate; points at the bottom stay where they are, those at the top go with the plate. d = C z, C^T K C z = load.
static double SkinColumnDepth(const Run* run, double weight)
{
    enum
    {
        most = 200
    };
    static double k[most * most];
    const snwSoftModel* model = run->sim->bodies[0].model;
    const snwPointSkinDef* skin = &model->skin;
    double g = snwVec3_Length(run->scene->gravity), z[most] = {0}, low = INFINITY, high = -INFINITY;
    int place[most], pivots[most], free = 0;
    for (int i = 0; i < skin->pointCount; ++i)
        low = fmin(low, skin->points[i].y), high = fmax(high, skin->points[i].y);
    for (int i = 0; i < skin->pointCount; ++i)
        place[i] = skin->points[i].y < low + 1e-6 ? -2 : skin->points[i].y > high - 1e-6 ? -1 : free++;
    int bone = free, plate = free + 1, n = free + 2;
    double firm = 0;
    snwSim_GetParam(run->sim, "softcontact.stiffness", &firm); // the model's are for each of it
    memset(k, 0, (size_t)n * (size_t)n * sizeof *k);

    // Springs by what their stretch is of z.
    for (int s = 0; s < skin->pointCount + skin->edgeCount; ++s)
    {
        double row[most] = {0},
               stiffness = s < skin->pointCount ? skin->stiffness[s] : skin->edgeStiffness[s - skin->pointCount];
        for (int end = 0; end < (s < skin->pointCount ? 1 : 2); ++end)
        {
            int i = s < skin->pointCount ? s : skin->edges[s - skin->pointCount][end];
            double sign = end == 0 ? 1 : -1;
            row[place[i] >= 0 ? place[i] : plate] += place[i] == -2 ? 0 : sign;
            row[bone] -= place[i] < 0 ? sign : 0;
        }
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b)
                k[a * n + b] += firm * stiffness * row[a] * row[b];
    }
    for (int i = 0; i < skin->pointCount; ++i)
    {
        double own = skin->masses[i] * g;
        z[place[i] >= 0 ? place[i] : plate] -= place[i] == -2 ? 0 : own;
        z[bone] -= place[i] >= 0 ? own : 0;
    }
    z[bone] -= model->links[0].mass.mass * g, z[plate] -= weight;
    if (!snwLu_Factor(n, k, n, pivots))
        return NAN;
    snwLu_Solve(n, k, n, pivots, z);
    return -z[plate];
}

static snwResult RunSink(Run* run, const snwSuiteDef* def, snwSuiteResult* result, snwMessage* message)
{
    (void)def;
    snwResult code = Step(run, run->seconds, message);
    snwProps props;
    snwSim_GetProps(run->sim, &props);
    snwCharacterInfo info = snwCharacter_GetInfo(run->scene->bodies[0].character);
    double height = props.data[0].transform.position.y - run->scene->props[0].size.y;
    double rest = info.upper.y - info.lower.y;
    bool skin = strcmp(snwMethod_GetInfo(snwSim_GetMethod(run->sim)).name, "softcontact") == 0;
    double expected = skin ? SkinColumnDepth(run, PlateWeight(run)) : rest - ColumnHeight(run);
    result->values[0] = fabs((rest - height) / expected - 1);
    result->values[1] = PropSpeed(run);
    return code;
}

static snwResult RunAnvil(Run* run, const snwSuiteDef* def, snwSuiteResult* result, snwMessage* message)
{
    (void)def;
    snwResult code = Step(run, run->seconds, message);
    snwProps props;
    snwSim_GetProps(run->sim, &props);
    result->values[0] = snwVec3_Length(props.data[0].velocity);
    return code;
}

// ---------------------------------------------------------------------------------------------------------------------
// All of them

typedef snwResult CaseFn(Run* run, const snwSuiteDef* def, snwSuiteResult* result, snwMessage* message);

static CaseFn* const s_cases[snw_suiteCaseCount] = {
    RunIncline, RunStack, RunStairs, RunPress, RunFold, RunWall, RunSink, RunAnvil};

snwResult snwSuite_Run(const snwSuiteDef* def, snwSuiteCase which, snwSuiteResult* result, snwMessage* message)
{
    Run run;
    snwResult code = Open(&run, def, which, result, message);
    if (code >= 0 && run.applies)
        code = s_cases[which](&run, def, result, message);
    Close(&run);
    return code < 0 ? code : snw_ok;
}

snwResult snwSuite_SameHash(
    const snwSuiteDef* def, snwSuiteCase which, int frames, snwSuiteResult* result, snwMessage* message)
{
    static const int threads[] = {1, 2, 8};
    uint64_t hashes[3] = {0};
    snwResult code = snw_ok;
    for (int i = 0; i < 3 && code >= 0; ++i)
    {
        snwSuiteDef own = *def;
        Run run;
        own.threadCount = threads[i];
        code = Open(&run, &own, which, result, message);
        if (code >= 0 && run.applies)
        {
            code = Step(&run, frames / run.scene->rate, message);
            hashes[i] = snwSim_Hash(run.sim);
        }
        Close(&run);
    }
    if (result->applies)
        result->values[0] = hashes[0] == hashes[1] && hashes[1] == hashes[2];
    return code < 0 ? code : snw_ok;
}

typedef struct RowInfo
{
    snwSuiteCase which;
    int value;
    const char* metric;
    const char* op;
    double target;
} RowInfo;

static const RowInfo s_rows[] = {
    {snw_suiteIncline, 0, "incline_slip", "<=", 1e-4},
    {snw_suiteIncline, 1, "incline_accel_err", "<=", 0.01},
    {snw_suiteStack, 0, "stack_drift", "<=", 1e-3},
    {snw_suiteStairs, 0, "max_penetration", "<=", 5e-3},
    {snw_suiteStairs, 1, "end_penetration", "<=", 1e-3},
    {snw_suitePress, 0, "overlap_shared", "~5%", 0.5},
    {snw_suitePress, 1, "separated", ">=", 0},
    {snw_suiteFold, 0, "self_crossing", "==", 0},
    {snw_suiteWall, 0, "tunnelled", "==", 0},
    {snw_suiteSink, 0, "sink_err", "<=", 0.05},
    {snw_suiteSink, 1, "rest_speed", "<=", 1e-3},
    {snw_suiteAnvil, 0, "rest_speed", "<=", 1e-3},
};

static const char* CaseName(snwSuiteCase which)
{
    return which < snw_suiteCaseCount ? s_scenes[which].name : "?";
}

static snwResult AddRow(
    snwBenchReport* report, const char* method, const RowInfo* info, const snwSuiteResult* result, snwMessage* message)
{
    snwBenchRow row = snwMakeBenchRow(CaseName(info->which), method, info->metric);
    row.value = result->applies ? result->values[info->value] : NAN;
    row.n = 1;
    row.op = info->op;
    row.target = info->target;
    snprintf(row.note, sizeof row.note, "%s", result->note);
    return snwBenchReport_Add(report, &row, message);
}

static snwResult AddHashRows(const snwSuiteDef* def, snwBenchReport* report, snwMessage* message)
{
    snwResult code = snw_ok;
    for (int which = 0; which < snw_suiteCaseCount && code >= 0; ++which)
    {
        snwSuiteResult result;
        RowInfo info = {(snwSuiteCase)which, 0, "hash_equal", "==", 1};
        code = snwSuite_SameHash(def, (snwSuiteCase)which, 40, &result, message);
        code = code < 0 ? code : AddRow(report, def->method, &info, &result, message);
    }
    return code;
}

snwResult snwSuite_AddRows(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    snwSuiteDef def = {options->method != NULL ? options->method : "pbd", 56, 1, false};
    snwSuiteResult result = {0};
    snwResult code = snw_ok;
    int last = -1;
    for (size_t i = 0; i < sizeof s_rows / sizeof s_rows[0] && code >= 0; ++i)
    {
        if (options->only != NULL && strcmp(options->only, CaseName(s_rows[i].which)) != 0)
            continue;
        if ((int)s_rows[i].which != last)
            code = snwSuite_Run(&def, s_rows[i].which, &result, message);
        last = (int)s_rows[i].which;
        code = code < 0 ? code : AddRow(report, def.method, &s_rows[i], &result, message);
    }
    return code < 0 || options->only != NULL ? code : AddHashRows(&def, report, message);
}
