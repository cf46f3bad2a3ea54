// The method softcontact: its parameters, scenes turned into solids, probes and frictions, the substep on a
// snwSoftWorld, and what is told of it.

#include "sim/softcontact/softcontact.h"

#include "contact/friction.h"
#include "contact/prop.h"
#include "sim/scene.h"

#include <math.h>
#include <string.h>

enum
{
    soft_stageBegin,
    soft_stageStep,
    soft_stageFinish,
    soft_stageCount
};

static const char* const s_stages[soft_stageCount] = {"begin", "step", "finish"};
static const char* const s_modes[] = {"adaptive", "rigid", "soft", NULL};
static const char* const s_integrations[] = {"implicit", "explicit", "literal", NULL};
static const char* const s_cones[] = {"cone", "pyramid4", "pyramid8", NULL};
static const char* const s_solvers[] = {"newton", "sweeps", NULL};
static const char* const s_contacts[] = {"complementarity", "penalty", NULL};
static const char* const s_starts[] = {"warm", "zero", "ones", "random", NULL};

#define REAL(name_, unit_, lower_, upper_, initial_, live_, help_)                                                     \
    {                                                                                                                  \
        .name = name_, .type = snw_paramReal, .unit = unit_, .lower = lower_, .upper = upper_, .initial = initial_,    \
        .live = live_, .help = help_                                                                                   \
    }
#define WHOLE(name_, lower_, upper_, initial_, live_, help_)                                                           \
    {                                                                                                                  \
        .name = name_, .type = snw_paramInt, .unit = "", .lower = lower_, .upper = upper_, .initial = initial_,        \
        .live = live_, .help = help_                                                                                   \
    }
#define CHOICE(name_, choices_, count_, help_)                                                                         \
    {                                                                                                                  \
        .name = name_, .type = snw_paramChoice, .unit = "", .lower = 0, .upper = (count_)-1, .initial = 0,             \
        .choices = choices_, .live = true, .help = help_                                                               \
    }

static const snwParamInfo s_params[snw_softParamCount] = {
    [snw_softStiffness] = REAL("softcontact.stiffness", "N/m", 0, 1e9, 1e4, true,
        "k_m of the published skin: springs and dampers of its points are parts of it"),
    [snw_softVertex] = REAL(
        "softcontact.vertex", "", 0, 100, 0.4, false, "of the stiffness: springs of points to their bones"),
    [snw_softEdge] = REAL(
        "softcontact.edge", "", 0, 100, 0.6, false, "of the stiffness: springs along the edges of the skin"),
    [snw_softDamping] = REAL("softcontact.damping", "s", 0, 100, 0.1, false, "of the stiffness: dampers of points"),
    [snw_softShare] = REAL("softcontact.share", "", 1e-3, 1, 0.3, false,
        "of the mass around a vertex of the skin that is its point's; the rest is the bone's"),
    [snw_softAwake] = WHOLE(
        "softcontact.awake", 1, 2000, 400, false, "points of a body that can be soft at once; others wait"),
    [snw_softContacts] = WHOLE("softcontact.contacts", 1, 1000, 400, false,
        "contacts that are felt at once; the farthest ones beyond are left out"),
    [snw_softMode] = CHOICE("softcontact.mode", s_modes, 3,
        "adaptive: soft where something touches, and around; rigid: the same masses and points, asleep; soft: all "
        "of it, as far as softcontact.awake goes"),
    [snw_softIntegration] = CHOICE("softcontact.integration", s_integrations, 3,
        "springs and dampers of skin and joints at the end of a step (implicit) or at its start; literal: at its end, "
        "and "
        "velocity products as in Eq. 12 of the paper, to compare with: a matrix without symmetry, momentum that is "
        "lost"),
    [snw_softRings] = WHOLE(
        "softcontact.rings", 0, 100, 2, true, "rings of neighbours that wake with a point that touches"),
    [snw_softRest] = REAL("softcontact.rest", "m", 0, 1, 1e-4, true,
        "points that nothing touches sleep again once they are nearer to their place, and move by less in 50 ms"),
    [snw_softCone] = CHOICE(
        "softcontact.cone", s_cones, 3, "Coulomb's cone, or pyramids in it with corners along two directions"),
    [snw_softSolver] = CHOICE("softcontact.solver", s_solvers, 2,
        "newton: to the tolerance, with sweeps where it is lost; sweeps: so many, for a steady price"),
    [snw_softSweeps] = WHOLE("softcontact.sweeps", 0, 10000, 200, true, "sweeps of a step, at most"),
    [snw_softTolerance] = REAL("softcontact.tolerance", "", 1e-12, 1, 1e-9, true,
        "of the largest impulse: what contact impulses may be wrong by"),
    [snw_softCompliance] = REAL("softcontact.compliance", "", 0, 1, 1e-4, true,
        "of what a rigid contact yields to its own impulse: how much more it yields"),
    [snw_softRecover] = REAL("softcontact.recover", "", 0, 1, 0.2, true, "of a depth that a substep takes back"),
    [snw_softStart] = CHOICE("softcontact.start", s_starts, 4,
        "what the solver begins with: impulses of the substep before, 0, 1 N s"
        " or random ones"),
    [snw_softContact] = CHOICE("softcontact.contact", s_contacts, 2,
        "complementarity: nobody goes deeper; penalty: springs and dampers instead, to compare with"),
    [snw_softPenalty] = REAL(
        "softcontact.penalty_stiffness", "N/m", 0, 1e9, 2e4, true, "of penalty contact, per point"),
    [snw_softPenaltyDamping] = REAL(
        "softcontact.penalty_damping", "N s/m", 0, 1e9, 20, true, "of penalty contact, per point"),
    [snw_softDrive] = REAL("softcontact.drive", "Hz", 0, 1000, 5, true,
        "how tightly joints without stiffness of their own follow motions, clips, motors and places: frequency against "
        "the inertia of what hangs on them; 0: not"),
    [snw_softHold] = {.name = "softcontact.hold",
        .type = snw_paramBool,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0,
        .live = true,
        .help = "joints without stiffness of their own, which nothing else leads, hold the pose that they have"},
};

static const snwMeasureInfo s_measures[snw_softMeasureCount] = {
    [snw_softMeasureActive] = {"active", "", "points of the skin that are soft"},
    [snw_softMeasureContacts] = {"pressed", "", "contacts of the body that press"},
    [snw_softMeasureResidual] = {"lcp_residual", "", "of the last substep's contact problem"},
    [snw_softMeasureNewtons] = {"lcp_newtons", "", "steps of Newton in it"},
    [snw_softMeasureSweeps] = {"lcp_sweeps", "", "sweeps in it"},
    [snw_softMeasureFailures] = {"lcp_failures", "", "problems so far that were not solved to the tolerance"},
    [snw_softMeasureForceX] = {"contact.x", "N", "what contacts push the body with"},
    [snw_softMeasureForceY] = {"contact.y", "N", "what contacts push the body with"},
    [snw_softMeasureForceZ] = {"contact.z", "N", "what contacts push the body with"},
    [snw_softMeasurePressureX] = {"pressure.x", "m", "centre of pressure of all contacts of the body; 0 without any"},
    [snw_softMeasurePressureY] = {"pressure.y", "m", "centre of pressure of all contacts of the body; 0 without any"},
    [snw_softMeasurePressureZ] = {"pressure.z", "m", "centre of pressure of all contacts of the body; 0 without any"},
};

// ---------------------------------------------------------------------------------------------------------------------
// Scratch

static snwResult CreateProp(snwSim* sim, int prop, snwSoftBody* body, snwMessage* message)
{
    snwPropMass mass = snwPropDef_Mass(&sim->def->props[prop]);
    snwLinkDef link = {.joint = snwDefaultJointDef()};
    link.joint.type = snw_jointFree;
    link.mass = snwLinkMass_Make(
        mass.mass, (snwVec3){0, 0, 0}, snwMat3_Diagonal(mass.inertia.x, mass.inertia.y, mass.inertia.z));
    snwSoftBodyDef def = {.linkCount = 1, .links = &link};
    return snwSoftBody_Create(sim->context, &def, body, message);
}

// Colliders, then props.
static void PutSolids(const snwSim* sim, snwSoftSolid* solids)
{
    for (int i = 0; i < sim->def->colliderCount; ++i)
        solids[i] = (snwSoftSolid){.collider = sim->scene->colliders[i], .body = -1};
    for (int i = 0; i < sim->def->propCount; ++i)
    {
        const snwPropDef* prop = &sim->def->props[i];
        solids[sim->def->colliderCount + i] = (snwSoftSolid){
            .collider = snwMakeCollider(prop->kind, prop->size, prop->friction),
            .body = sim->bodyCount + i,
            .place = snwTransform_Identity()};
    }
}

static snwFrictionSide SideOf(const snwSim* sim, int body)
{
    return body < sim->bodyCount ? snwBodyDef_Friction(&sim->def->bodies[body])
                                 : snwPropDef_Friction(&sim->def->props[body - sim->bodyCount]);
}

static void PutFrictions(const snwSim* sim, int bodies, int solids, double* frictions)
{
    for (int b = 0; b < bodies; ++b)
        for (int s = 0; s < solids; ++s)
        {
            snwFrictionSide other = s < sim->def->colliderCount
                                        ? snwColliderDef_Friction(&sim->def->colliders[s])
                                        : snwPropDef_Friction(&sim->def->props[s - sim->def->colliderCount]);
            frictions[b * solids + s] = snwFriction_Between(sim->def, SideOf(sim, b), other).fixed;
        }
}

// Friction of skin on skin, by pairs of bodies.
static void PutSkinFrictions(const snwSim* sim, int bodies, double* frictions)
{
    for (int a = 0; a < bodies; ++a)
        for (int b = 0; b < bodies; ++b)
            frictions[a * bodies + b] = snwFriction_Between(sim->def, SideOf(sim, a), SideOf(sim, b)).fixed;
}

static int PutProbes(const snwSim* sim, snwSoftProbe* probes)
{
    int count = 0;
    for (int i = 0; i < sim->bodyCount; ++i)
        count += snwSoft_PutProbes(sim, i, probes + count);
    for (int i = 0; i < sim->def->propCount; ++i)
    {
        snwPropPoints points = snwPropPoints_Make(sim->def->props[i].kind, sim->def->props[i].size);
        for (int p = 0; p < points.count; ++p)
            probes[count++] = (snwSoftProbe){.body = sim->bodyCount + i, .at = points.at[p], .radius = points.radius};
    }
    return count;
}

static snwResult CreateSoftScratch(snwSim* sim, snwMessage* message)
{
    snwResult checked = snwSoft_CheckPins(sim, message);
    if (checked < 0)
        return checked;
    snwSoftScratch* scratch = snwArena_Alloc(&sim->arena, 1, sizeof *scratch);
    sim->scratch = scratch;
    if (scratch == NULL)
        return snwFailMemory(message);

    // Props are bodies of one link behind the scene's bodies.
    int bodies = sim->bodyCount + sim->def->propCount, solids = sim->def->colliderCount + sim->def->propCount;
    scratch->bodies = snwArena_Alloc(&sim->arena, (size_t)bodies, sizeof *scratch->bodies);
    scratch->steps = snwArena_Alloc(&sim->arena, (size_t)bodies, sizeof *scratch->steps);
    scratch->loads = snwArena_Alloc(&sim->arena, (size_t)bodies, sizeof(snwSpatial*));
    scratch->drives = snwArena_Alloc(&sim->arena, (size_t)bodies, sizeof(snwJointDrive*));
    size_t bones = 1, handles = 1;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwCharacterDef* def = &sim->bodies[i].character->def;
        size_t own = (size_t)def->boneCount, held = (size_t)snwCharacterDef_HandleCount(def);
        bones = own > bones ? own : bones, handles = held > handles ? held : handles;
    }
    scratch->bones = snwArena_Alloc(&sim->arena, bones, sizeof *scratch->bones);
    scratch->marks = snwArena_Alloc(&sim->arena, bones, sizeof *scratch->marks);
    scratch->handles = snwArena_Alloc(&sim->arena, handles, sizeof *scratch->handles);
    scratch->handleMatrices = snwArena_Alloc(&sim->arena, handles, sizeof *scratch->handleMatrices);
    snwSoftSolid* solidList = snwArena_Alloc(&sim->arena, (size_t)solids, sizeof *solidList);
    double* frictions = snwArena_Alloc(&sim->arena, (size_t)bodies * (size_t)solids, sizeof *frictions);
    double* skinFrictions = snwArena_Alloc(&sim->arena, (size_t)bodies * (size_t)bodies, sizeof *skinFrictions);

    // Probes of props and bodies: balls of hard shapes.
    size_t most = (size_t)sim->def->propCount * snw_maxPropPoints;
    for (int i = 0; i < sim->bodyCount; ++i)
        most += (size_t)snwSoft_PutProbes(sim, i, NULL);
    snwSoftProbe* probes = snwArena_Alloc(&sim->arena, most, sizeof *probes);

    if (sim->arena.failed)
        return snwFailMemory(message);

    for (int i = 0; i < bodies; ++i)
    {
        snwSoftBody* body = &scratch->bodies[i];
        snwResult result = i < sim->bodyCount ? snwSoft_CreateBody(sim, i, body, message)
                                              : CreateProp(sim, i - sim->bodyCount, body, message);
        if (result < 0)
            return result;
        ++scratch->bodyCount;
        scratch->loads[i] = snwArena_Alloc(&sim->arena, (size_t)body->tree.linkCount, sizeof(snwSpatial));
        if (i < sim->bodyCount)
            scratch->drives[i] = snwArena_Alloc(&sim->arena, (size_t)body->tree.linkCount, sizeof(snwJointDrive));
        if (sim->arena.failed)
            return snwFailMemory(message);
    }

    // What can be touched, and with which friction.
    PutSolids(sim, solidList);
    PutFrictions(sim, bodies, solids, frictions);
    PutSkinFrictions(sim, bodies, skinFrictions);

    snwSoftWorldDef def = {.bodyCount = bodies,
        .bodies = scratch->bodies,
        .solidCount = solids,
        .solids = solidList,
        .probeCount = PutProbes(sim, probes),
        .probes = probes,
        .frictions = frictions,
        .skinFrictions = skinFrictions,
        .contactCapacity = (int)snwSim_Param(sim, snw_softContacts),
        .tieCapacity = snwSoft_TieRoom(sim),
        .tiePartCapacity = snwSoft_TiePartRoom(sim)};
    snwResult result = snwSoftWorld_Create(sim->context, &def, &scratch->world, message);
    scratch->made = result == snw_ok;
    return result;
}

static void DestroySoftScratch(snwSim* sim)
{
    snwSoftScratch* scratch = sim->scratch;
    if (scratch == NULL)
        return;
    if (scratch->made)
        snwSoftWorld_Free(&scratch->world);
    for (int i = 0; i < scratch->bodyCount; ++i)
        snwSoftBody_Free(&scratch->bodies[i]);
}

// ---------------------------------------------------------------------------------------------------------------------
// The substep

static void LoadProp(const snwSim* sim, int index, snwSoftBody* body)
{
    const snwProp* prop = &sim->props[index];
    snwVec3 v = prop->velocity, w = prop->angularVelocity;
    const double u[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    body->poses[0] = (snwLinkPose){.turn = prop->transform.rotation, .shift = prop->transform.position};
    memcpy(body->u, u, sizeof u);
    snwSoftBody_Look(body);
}

static void StoreProp(const snwSim* sim, int index, const snwSoftBody* body)
{
    const double* u = body->u;
    sim->props[index] = (snwProp){.transform = {body->poses[0].shift, body->poses[0].turn},
        .velocity = {u[0], u[1], u[2]},
        .angularVelocity = {u[3], u[4], u[5]}};
}

// A push on a vertex, on a whole body in proportion to its masses, or on a prop.
static void PushBodies(const snwSim* sim, double h)
{
    snwSoftScratch* scratch = sim->scratch;

    for (int i = 0; i < scratch->bodyCount; ++i)
        memset(scratch->loads[i], 0, (size_t)scratch->bodies[i].tree.linkCount * sizeof **scratch->loads);
    for (int g = 0; g < sim->grabCount; ++g)
    {
        const snwGrab* grab = &sim->grabs[g];
        if (grab->kind != snw_grabPush)
            continue;

        snwVec3 force = snwSim_PushForce(sim, grab);
        int index = grab->body < 0 ? sim->bodyCount + grab->vertex : grab->body;
        const snwSoftBody* body = &scratch->bodies[index];
        const snwSoftModel* model = grab->body < 0 ? NULL : sim->bodies[index].model;

        // On a point of a skin, it is a kick.
        if (model != NULL && grab->vertex >= 0 && model->pointOfVertex[grab->vertex] >= 0)
        {
            snwVec3* kick = &body->skins->kicks[model->pointOfVertex[grab->vertex]];
            *kick = snwVec3_MulAdd(*kick, h, force);
            continue;
        }

        // Else a force on its link, or on all links by their mass, at their centres.
        double mass = 0;
        snwSoftBody_Centre(body, &mass);
        bool inside = model != NULL && grab->vertex >= 0;
        for (int link = 0; link < body->tree.linkCount; ++link)
        {
            double part = body->masses[link].mass / mass;
            if (inside)
                part = link == model->anchors[grab->vertex].links[0];

            snwVec3 own = snwVec3_Scale(force, part), arm = {0, 0, 0};
            if (!inside && body->masses[link].mass > 0)
                arm = snwMat3_MulVec(
                    body->tree.axes[link], snwVec3_Scale(body->masses[link].moment, 1 / body->masses[link].mass));

            snwSpatial load = {snwVec3_Cross(arm, own), own};
            scratch->loads[index][link] = snwSpatial_MulAdd(scratch->loads[index][link], 1, load);
        }

        for (int p = 0; model != NULL && !inside && p < body->skins->count; ++p)
            if (body->skins->awake[p] || body->skins->single[p] < 0)
                body->skins->kicks[p] = snwVec3_MulAdd(body->skins->kicks[p], h * body->skins->masses[p] / mass, force);
    }
}

// m/s: what is inside of something else comes out by half the size of the smallest body in a second.
static double LeaveSpeed(const snwSim* sim)
{
    double least = INFINITY;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwCharacter* character = sim->bodies[i].character;
        least = fmin(least, snwVec3_Distance(character->lower, character->upper));
    }
    return 0.5 * least;
}

static snwSoftSettings SoftSettingsOf(const snwSim* sim, double h)
{
    snwSoftSettings settings = snwSoftWorld_DefaultSettings();

    // In the order of the parameters.
    settings.h = h, settings.gravity = sim->state->gravity;
    settings.implicit = snwSim_Param(sim, snw_softIntegration) != 1;
    settings.literal = snwSim_Param(sim, snw_softIntegration) == 2;
    settings.rigid = snwSim_Param(sim, snw_softMode) == 1, settings.soft = snwSim_Param(sim, snw_softMode) == 2;
    settings.rings = (int)snwSim_Param(sim, snw_softRings);
    settings.rest = snwSim_Param(sim, snw_softRest);

    settings.compliance = snwSim_Param(sim, snw_softCompliance);
    settings.recover = snwSim_Param(sim, snw_softRecover);
    settings.leave = LeaveSpeed(sim);
    settings.shape = (snwCoulombShape)snwSim_Param(sim, snw_softCone);
    settings.start = (snwCoulombStart)snwSim_Param(sim, snw_softStart);
    settings.sweeps = (int)snwSim_Param(sim, snw_softSweeps);

    settings.penalty = snwSim_Param(sim, snw_softContact) == 1;
    settings.penaltyStiffness = snwSim_Param(sim, snw_softPenalty);
    settings.penaltyDamping = snwSim_Param(sim, snw_softPenaltyDamping);
    settings.tolerance = snwSim_Param(sim, snw_softTolerance);

    if (snwSim_Param(sim, snw_softSolver) == 1)
        settings.newtons = 0;
    return settings;
}

// Impulses to start from are in the states of their bodies, those of props in that of the first body; by keys.
static void LoadMemory(const snwSim* sim, snwSoftWorld* world)
{
    world->memoryCount = 0;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwSoftState state = snwSoft_State(sim, i);
        for (int m = 0; m < *state.memoryCount && world->memoryCount < world->def.contactCapacity; ++m)
        {
            int at = world->memoryCount++;
            for (; at > 0 && world->memory[at - 1].key > state.memory[m].key; --at)
                world->memory[at] = world->memory[at - 1];
            world->memory[at] = state.memory[m];
        }
    }
}

static void StoreMemory(const snwSim* sim, const snwSoftWorld* world)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwSoftState state = snwSoft_State(sim, i);
        memset(state.memory, 0, snw_softMemoryRoom * sizeof *state.memory);
        *state.memoryCount = 0;
        for (int c = 0; c < world->contactCount && *state.memoryCount < snw_softMemoryRoom; ++c)
        {
            const snwSoftContact* contact = &world->contacts[c];
            bool own = contact->body == i || (i == 0 && contact->body >= sim->bodyCount);
            if (own && snwVec3_LengthSquared(contact->impulse) > 0)
                state.memory[(*state.memoryCount)++] = (snwSoftMemory){contact->key, contact->impulse};
        }
    }
}

static void Put3(float out[3], snwVec3 v)
{
    out[0] = (float)v.x, out[1] = (float)v.y, out[2] = (float)v.z;
}

static void ReportContacts(snwSim* sim, double h)
{
    const snwSoftScratch* scratch = sim->scratch;
    for (int c = 0; c < scratch->world.contactCount; ++c)
    {
        const snwSoftContact* from = &scratch->world.contacts[c];
        if (!(snwVec3_LengthSquared(from->impulse) > 0))
            continue;

        // Which body or prop it is on, and which vertex stands for it.
        bool body = from->body < sim->bodyCount;
        snwContact contact = {.body = body ? from->body : -1, .collider = -1, .prop = -1, .otherBody = -1};
        const snwSoftModel* model = body ? sim->bodies[from->body].model : NULL;
        contact.vertex = from->body - sim->bodyCount;
        if (body)
            contact.vertex = from->probe < 0 ? model->vertexOfPoint[from->touch.point]
                                             : scratch->world.probes[from->probe].vertex;
        if (from->solid < sim->def->colliderCount)
            contact.collider = from->solid;
        else if (from->solid >= sim->def->colliderCount + sim->def->propCount)
            contact.otherBody = from->otherBody;
        else
            contact.prop = from->solid - sim->def->colliderCount;

        contact.depth = fmax(-from->gap, 0);
        Put3(contact.position, from->touch.at), Put3(contact.normal, from->normal);
        Put3(contact.force, snwVec3_Scale(from->impulse, 1 / h));
        snwSim_AddContact(sim, &contact);
    }
}

static snwResult StepSoftcontact(snwSim* sim, double h, snwMessage* message)
{
    snwSoftScratch* scratch = sim->scratch;
    snwSoftWorld* world = &scratch->world;
    for (int i = 0; i < scratch->bodyCount; ++i)
    {
        if (i < sim->bodyCount)
            snwSoft_Load(sim, i), snwSoft_Lead(sim, i, h);
        else
            LoadProp(sim, i - sim->bodyCount, &scratch->bodies[i]);
        scratch->steps[i] = (snwSoftStep){.loads = scratch->loads[i], .drives = scratch->drives[i]};
    }
    for (int i = 0; i < sim->def->colliderCount; ++i)
        world->solids[i].place = sim->colliders[i].transform, world->solids[i].before = sim->colliders[i].previous;
    PushBodies(sim, h);
    snwSoft_TakeHold(sim, h);
    LoadMemory(sim, world);
    snwSim_EndStage(sim, soft_stageBegin);

    snwSoftSettings settings = SoftSettingsOf(sim, h);
    snwResult result = snwSoftWorld_Step(world, &settings, scratch->steps, message);
    if (result < 0)
        return result;
    snwSim_EndStage(sim, soft_stageStep);

    // What comes of it: impulses to start from, contacts, props and bodies.
    StoreMemory(sim, world);
    ReportContacts(sim, h);
    for (int i = 0; i < scratch->bodyCount; ++i)
        if (i >= sim->bodyCount)
            StoreProp(sim, i - sim->bodyCount, &scratch->bodies[i]);
        else
        {
            snwSoft_Store(sim, i);
            snwSoft_Publish(sim, i);
            sim->bodies[i].residual = 0;
        }

    if (!world->report.solved && sim->lastSubstep)
        snwSim_Warn(sim, snw_warnUnconverged, 0, "more softcontact.compliance, or more substeps",
            "contact impulses are not what they should be: residual %.1e", world->report.residual);
    snwSim_EndStage(sim, soft_stageFinish);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// What it tells

static void OnSoftCommand(snwSim* sim, const snwCommand* command)
{
    if (command->kind == snw_commandHandle)
        snwSoft_TakeReach(sim, command);
    if (command->kind != snw_commandJoint)
        return;
    snwSoftJoint* joint = &snwSoft_State(sim, command->body).joints[command->index];
    joint->target = command->value;
    joint->motor = command->on;
}

static void GetSoftVertices(const snwSim* sim, int index, snwVertices* vertices)
{
    snwSoftState state = snwSoft_State(sim, index);
    int count = sim->bodies[index].character->def.vertexCount;
    *vertices = (snwVertices){state.outPositions, state.outVelocities, count, 4 * (int)sizeof(float)};
}

static void GetBones(const snwSim* sim, int index, snwTransforms* bones)
{
    bones->data = snwSoft_State(sim, index).outBones;
}

static void GetJoints(const snwSim* sim, int index, snwTransforms* joints)
{
    joints->data = snwSoft_State(sim, index).outJoints;
}

// A handle that is no bone stays in the rest pose.
static void GetHandles(const snwSim* sim, int index, snwTransforms* handles)
{
    const snwSoftScratch* scratch = sim->scratch;
    const snwCharacterDef* def = &sim->bodies[index].character->def;
    for (int i = 0; i < handles->count; ++i)
    {
        int bone = snwCharacterDef_BoneOfHandle(def, i);
        scratch->handles[i] = bone >= 0 ? snwSoft_State(sim, index).outBones[bone] : sim->bodies[index].restPoses[i];
    }
    handles->data = scratch->handles;
}

static void GetHandleMatrices(const snwSim* sim, int index, snwMatrices* handles)
{
    const snwSoftScratch* scratch = sim->scratch;
    snwTransforms now = {.count = handles->count};
    GetHandles(sim, index, &now);
    for (int i = 0; i < handles->count; ++i)
        snwAffine_ToMatrix(snwAffine_FromTransform(now.data[i]), scratch->handleMatrices[i]);
    handles->data = (const double(*)[12])scratch->handleMatrices;
}

static void AddMotion(const snwSim* sim, int index, snwMeasures* m, double* mass)
{
    const snwSoftBody* body = &((const snwSoftScratch*)sim->scratch)->bodies[index];
    snwSoft_Load(sim, index);
    double own;
    snwVec3 centre = snwSoftBody_Centre(body, &own);
    snwSpatial momentum = snwSoftBody_Momentum(body); // about the tree's origin
    snwVec3 spin = snwVec3_Add(momentum.turn, snwVec3_Cross(body->tree.origin, momentum.shift));
    m->kinetic += snwSoftBody_KineticEnergy(body), m->elastic += snwSoftBody_ElasticEnergy(body);
    m->potential -= own * snwVec3_Dot(sim->state->gravity, centre);
    m->momentum = snwVec3_Add(m->momentum, momentum.shift);
    m->angularMomentum = snwVec3_Add(m->angularMomentum, spin);
    m->centre = snwVec3_MulAdd(m->centre, own, centre);
    *mass += own;
}

static void GetSoftMeasures(const snwSim* sim, int index, double* values)
{
    const snwSoftScratch* scratch = sim->scratch;
    const snwSoftWorld* world = &scratch->world;
    snwVec3 force = {0, 0, 0}, centre = {0, 0, 0};
    double press = 0;
    int pressed = 0;

    for (int c = 0; c < world->contactCount; ++c)
    {
        // What a body does to itself is no force on it.
        const snwSoftContact* contact = &world->contacts[c];
        int side = (contact->body == index) - (contact->otherBody == index);
        force = snwVec3_MulAdd(force, side / scratch->bodies[index].h, contact->impulse);
        double normal = side != 0 ? snwVec3_Dot(contact->impulse, contact->normal) : 0;
        centre = snwVec3_MulAdd(centre, normal, contact->touch.at), press += normal;
        pressed += (contact->body == index || contact->otherBody == index) &&
                   snwVec3_LengthSquared(contact->impulse) > 0;
    }

    values[snw_softMeasureActive] = scratch->bodies[index].skins->activeCount;
    values[snw_softMeasureContacts] = pressed;
    values[snw_softMeasureResidual] = world->report.residual;
    values[snw_softMeasureNewtons] = world->report.newtons;
    values[snw_softMeasureSweeps] = world->report.sweeps;
    values[snw_softMeasureFailures] = (double)world->failures;
    values[snw_softMeasureForceX] = force.x;
    values[snw_softMeasureForceY] = force.y;
    values[snw_softMeasureForceZ] = force.z;
    values[snw_softMeasurePressureX] = press > 0 ? centre.x / press : 0;
    values[snw_softMeasurePressureY] = press > 0 ? centre.y / press : 0;
    values[snw_softMeasurePressureZ] = press > 0 ? centre.z / press : 0;
}

const snwMethod snwSoftcontactMethod = {
    .name = "softcontact",
    .title = "articulated bodies with soft skins, contact by complementarity",
    .source = "Jain, Liu: Controlling Physics-Based Characters Using Soft Contacts, 2011",
    .features = snw_featurePins | snw_featureDrag | snw_featurePush | snw_featureHandles | snw_featureJoints |
                snw_featureColliders | snw_featureProps | snw_featureTets | snw_featureHexes | snw_featureBones,
    .params = s_params,
    .paramCount = snw_softParamCount,
    .stages = s_stages,
    .stageCount = soft_stageCount,
    .measures = s_measures,
    .measureCount = snw_softMeasureCount,
    .createModel = snwSoft_CreateModel,
    .destroyModel = snwSoft_DestroyModel,
    .bodyStateSize = snwSoft_StateSize,
    .initBody = snwSoft_InitBody,
    .isSound = snwSoft_IsSound,
    .createScratch = CreateSoftScratch,
    .destroyScratch = DestroySoftScratch,
    .applied = OnSoftCommand,
    .step = StepSoftcontact,
    .getVertices = GetSoftVertices,
    .getBones = GetBones,
    .getJoints = GetJoints,
    .getHandles = GetHandles,
    .getHandleMatrices = GetHandleMatrices,
    .addMotion = AddMotion,
    .getMeasures = GetSoftMeasures,
};
