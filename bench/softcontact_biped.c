// Table 1 of the paper: freedoms, contacts and speed of its biped. The walker steps in place, its joints driven through
// the poses of a gait and its pelvis held upright by a spring; the feet carry it.

#include "softcontact_bench.h"

#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"
#include "sim/softcontact/softcontact.h"
#include "sinew/tools.h"
#include "softcontact_shake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_bipedSteps = 1500,
    snw_settleSteps = 125
};

static const double s_step = 0.004, s_period = 0.48; // s, of a step
static const double s_paperStep = 0.004;             // s, of the paper's row
static const char s_scene[] =
    "{\"sinew\": 1, \"name\": \"biped\", \"method\": \"pbd\", \"rate\": 60, \"duration\": 1, \"bodies\": [{\"name\": "
    "\"walker\", \"character\": {\"blueprint\": \"walker\", \"size\": {\"tets\": 4000}}}], \"colliders\": [{\"name\": "
    "\"ground\", \"kind\": \"plane\", \"friction\": 0.8}]}";

typedef struct Biped
{
    snwContext* context;
    snwSceneFile file;
    snwSim* sim;
    snwSoftWorld* world;
    snwSoftBody* body;
    snwSoftSettings settings;
    snwJointDrive* drives;
    snwSpatial* loads;
    int pelvis;
} Biped;

static snwResult Open(Biped* biped, snwMessage* message)
{
    snwContextDef contextDef = snwDefaultContextDef();
    *biped = (Biped){.settings = snwSoftWorld_DefaultSettings()};
    contextDef.threadCount = 1;
    snwResult result = snwCreateContext(&contextDef, &biped->context, message);
    if (result >= 0)
        result = snwSceneFile_Parse(biped->context, s_scene, strlen(s_scene), "bench", NULL, &biped->file, message);
    if (result < 0)
        return result;
    snwSimDef def = snwDefaultSimDef();
    def.scene = biped->file.scene;
    result = snwCreateSimWith(biped->context, &def, &snwSoftcontactMethod, &biped->sim, message);
    if (result < 0)
        return result;
    snwSoftScratch* scratch = biped->sim->scratch;
    biped->world = &scratch->world, biped->body = &scratch->bodies[0];
    snwSoft_Load(biped->sim, 0);
    snwSoftBody_Look(biped->body);
    size_t links = (size_t)biped->body->tree.linkCount;
    biped->drives = calloc(links, sizeof *biped->drives), biped->loads = calloc(links, sizeof *biped->loads);
    return biped->drives != NULL && biped->loads != NULL ? snw_ok : snwFailMemory(message);
}

static void Close(Biped* biped)
{
    free(biped->drives), free(biped->loads);
    if (biped->sim != NULL)
        snwDestroySim(biped->sim);
    if (biped->file.scene != NULL)
        snwSceneFile_Close(&biped->file);
    snwDestroyContext(biped->context);
}

// What a joint is driven to: legs lift by turns.
static double AngleOf(const char* name, double phase)
{
    bool left = strstr(name, ".l") != NULL;
    double turn = sin(SNW_PI * (phase - floor(phase))), lift = ((long)phase % 2 == 0) == left ? turn : 0;
    if (strncmp(name, "thigh", 5) == 0)
        return -0.5 * lift;
    if (strncmp(name, "shin", 4) == 0)
        return 1.1 * lift;
    if (strncmp(name, "foot", 4) == 0)
        return -0.4 * lift;
    return 0;
}

static void Drive(Biped* biped, double time)
{
    const snwSoftModel* model = biped->sim->bodies[0].model;
    const snwCharacterDef* def = &model->character->def;
    for (int b = 0; b < def->boneCount; ++b)
    {
        double angle = AngleOf(def->bones[b].name, time / s_period);
        const char* part = def->bones[b].name;
        bool leg = strncmp(part, "thigh", 5) == 0 || strncmp(part, "shin", 4) == 0,
             toes = strncmp(part, "toes", 4) == 0;
        double stiffness = leg ? 1000 : strncmp(part, "foot", 4) == 0 ? 30 : toes ? 10 : 200;
        biped->drives[model->linkOfBone[b]] = (snwJointDrive){
            .rotation = snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, angle),
            .stiffness = stiffness,
            .damping = 0.1 * stiffness};
        if (strcmp(def->bones[b].name, "pelvis") == 0)
            biped->pelvis = model->linkOfBone[b];
    }
    biped->drives[biped->pelvis].stiffness = biped->drives[biped->pelvis].damping = 0;

    // The spring at the pelvis: sideways, and against leaning.
    const snwLinkPose* pose = &biped->body->poses[biped->pelvis];
    const double* u = biped->body->u + biped->body->tree.first[biped->pelvis];
    snwVec3 lean = snwQuat_ToRotationVector(pose->turn);
    snwSpatial load = {{0, 0, 0}, {-2000 * pose->shift.x - 300 * u[0], 0, -2000 * pose->shift.z - 300 * u[2]}};
    load.turn = snwVec3_MulAdd(load.turn, -2000, lean);
    load.turn = snwVec3_MulAdd(load.turn, -200, (snwVec3){u[3], u[4], u[5]});
    biped->loads[biped->pelvis] = load;
}

typedef struct Tally
{
    int dofs, steps, touching, highest;
    double active, contacts, seconds, worst;
    double* ms; // of problems, by step
} Tally;

static snwResult Play(Biped* biped, Tally* tally, snwMessage* message)
{
    const snwPointSkin* skin = biped->body->skins;
    snwResult result = snw_ok;
    tally->dofs = biped->body->tree.freedom + 3 * skin->count;
    for (int i = -snw_settleSteps; i < snw_bipedSteps && result == snw_ok; ++i)
    {
        Drive(biped, fmax(0, i * s_step));
        snwSoftStep step = {.drives = biped->drives, .loads = biped->loads};
        double began = snwClock_ThreadSeconds(), problems = biped->world->problemTime;
        snwSoftBody_Look(biped->body);
        result = snwSoftWorld_Step(biped->world, &biped->settings, &step, message);
        if (i < 0)
            continue;
        tally->seconds += snwClock_ThreadSeconds() - began;
        tally->ms[tally->steps++] = 1e3 * (biped->world->problemTime - problems);
        tally->active += biped->body->tree.freedom + 3 * skin->activeCount;
        tally->worst = fmax(tally->worst, biped->world->report.residual);
        int touching = 0;
        for (int c = 0; c < biped->world->contactCount; ++c)
            touching += snwVec3_Dot(biped->world->contacts[c].impulse, biped->world->contacts[c].normal) > 0;
        tally->touching += touching > 0, tally->contacts += touching;
    }
    return result;
}

static void Add(snwBenchRows* rows, const char* name, const char* metric, double value, double paper, const char* note)
{
    snwBenchRow row = snwMakeBenchRow(name, "softcontact", metric);
    row.value = value, row.paper = paper, row.n = isfinite(value) ? snw_bipedSteps : 0;
    snprintf(row.note, sizeof row.note, "%s", note);
    snwBenchRows_Add(rows, &row);
}

static void AddBiped(snwBenchRows* rows, bool rigid)
{
    const char* name = rigid ? "biped in place, rigid soles" : "biped in place";
    if (!snwBenchRows_Wants(rows, name, "softcontact"))
        return;
    Biped biped;
    double ms[snw_bipedSteps];
    Tally tally = {.ms = ms};
    rows->result = Open(&biped, rows->message);
    biped.settings.rigid = rigid;
    rows->result = rows->result >= 0 ? Play(&biped, &tally, rows->message) : rows->result;
    if (rows->result >= 0)
    {
        double steps = snw_bipedSteps, problems = 0, none = NAN, median = snwMedian(ms, snw_bipedSteps);
        for (int i = 0; i < snw_bipedSteps; ++i)
            problems += 1e-3 * ms[i];
        Add(rows, name, "dofs", tally.dofs, rigid ? none : 334, "34 and three for each of 100 points");
        Add(rows, name, "active_dofs", tally.active / steps, rigid ? none : 197, "the paper's has a spread of 43");
        Add(rows, name, "contacts", tally.contacts / fmax(1, tally.touching), rigid ? none : 16,
            "that press; the paper's has a spread of 3");
        Add(rows, name, "realtime_factor", steps * s_step / tally.seconds, rigid ? none : 18.5 * s_paperStep,
            "4 ms a step; the paper's 18.5 frames of 4 ms a second");
        Add(rows, name, "lcp_share", 100 * problems / tally.seconds, rigid ? none : 63, "");
        Add(rows, name, "lcp_ms", median, none, "median of all steps, warm; with limits of joints");
        snwBenchRow row = snwMakeBenchRow(name, "softcontact", "lcp_residual");
        row.value = tally.worst, row.n = snw_bipedSteps;
        snwBenchRow_SetTarget(&row, "<=", rigid ? 1e-5 : 1e-6);
        snprintf(row.note, sizeof row.note, "worst");
        snwBenchRows_Add(rows, &row);
        row = snwMakeBenchRow(name, "softcontact", "lcp_failures");
        row.value = (double)biped.world->failures / (double)biped.world->problems, row.n = (int)biped.world->problems;
        snwBenchRow_SetTarget(&row, "<=", rigid ? 0.01 : 0.001);
        snwBenchRows_Add(rows, &row);
    }
    Close(&biped);
}

// The other rows of the table, which have no scenes here yet.
static void AddAbsent(snwBenchRows* rows)
{
    static const struct
    {
        const char* name;
        double dofs, active, contacts, frames, share, step; // frames of a step (ms) a second
    } absent[] = {{"finger flick", 2573, 576, 39, 3.9, 86, 1.7}, {"arm fold", 2802, 322, 33, 3.5, 68, 8.3},
        {"pinch grasp", 1427, 258, 29, 5.2, 85, 1.7}};
    const char* why = "hands and arms are to come";
    for (size_t i = 0; i < sizeof absent / sizeof *absent; ++i)
    {
        if (!snwBenchRows_Wants(rows, absent[i].name, "softcontact"))
            continue;
        Add(rows, absent[i].name, "dofs", NAN, absent[i].dofs, why);
        Add(rows, absent[i].name, "active_dofs", NAN, absent[i].active, why);
        Add(rows, absent[i].name, "contacts", NAN, absent[i].contacts, why);
        Add(rows, absent[i].name, "realtime_factor", NAN, absent[i].frames * 1e-3 * absent[i].step, why);
        Add(rows, absent[i].name, "lcp_share", NAN, absent[i].share, why);
    }
}

void snwAddSoftTable(snwBenchRows* rows)
{
    AddBiped(rows, false);
    AddBiped(rows, true);
    AddAbsent(rows);
}
