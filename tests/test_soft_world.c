// Soft and rigid bodies that fall, slide, lie and pile up.
// Labels: kernels

#include "fixture.h"
#include "softcontact_stage.h"
#include "test.h"

enum
{
    snw_boxPoints = 98
};

typedef snwSkinBox Box;
typedef snwSoftStage World;

// stiffness: k_m, N/m; 0.4 of it to the bone, edges of it between neighbours. A tenth of the mass is the skin's.
static void MakeBox(Box* box, snwVec3 centre, snwVec3 half, double mass, double stiffness, double edges)
{
    snwSkinBox_Make(box, &(snwSkinBoxDef){centre, half, mass, stiffness, edges, {0}});
}

// With a ground of this friction, tilted about an axis.
static void BeginWorld(World* w, double friction, snwVec3 axis, double tilt)
{
    snwSoftStage_Begin(w, snwFixture_Context(1, snw_simdAuto, NULL), friction, axis, tilt);
}

static void Expect(snwResult result, const snwMessage* message)
{
    if (result != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s", message->text);
}

static snwSoftBody* AddBox(World* w, const Box* box)
{
    snwMessage message;
    Expect(snwSoftStage_AddBox(w, box, &message), &message);
    return &w->bodies[w->bodyCount - 1];
}

static void EndWorld(World* w)
{
    snwMessage message;
    Expect(snwSoftStage_Open(w, 200, &message), &message);
}

static void Run(World* w, int steps)
{
    snwMessage message;
    Expect(snwSoftStage_Step(w, steps, &message), &message);
}

static void FreeWorld(World* w)
{
    snwContext* context = w->context;
    snwSoftStage_Close(w);
    snwDestroyContext(context);
}

// How fast a box comes out of the ground that begins half inside of it.
static double LeaveSpeed(double h, double leave)
{
    static Box box;
    static World w;
    BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
    MakeBox(&box, (snwVec3){0, 0, 0}, (snwVec3){0.1, 0.1, 0.1}, 4, 1e4, 0.6);
    snwSoftBody* body = AddBox(&w, &box);
    EndWorld(&w);
    w.settings.rigid = true, w.settings.h = h, w.settings.leave = leave;
    double fastest = 0, low = snwSoftStage_Lowest(body);
    CHECK_NEAR(low, -0.1, 1e-9);
    for (int i = 0; i < (int)(1 / h); ++i)
    {
        Run(&w, 1);
        fastest = fmax(fastest, (snwSoftStage_Lowest(body) - low) / h);
        low = snwSoftStage_Lowest(body);
    }
    CHECK(snwSoftStage_Lowest(body) > -0.002);
    FreeWorld(&w);
    return fastest;
}

TEST(softworld, whatIsDeepIsLedOutAndNotThrown)
{
    CHECK(LeaveSpeed(0.001, INFINITY) > 5); // a fifth of 0.1 m in a step of a millisecond
    CHECK_NEAR(LeaveSpeed(0.004, 0.3), 0.3, 0.03);
    CHECK_NEAR(LeaveSpeed(0.001, 0.3), 0.3, 0.03);
}

// A box falls 0.5 m, flat or on a corner, and lies still within four seconds.
static void Drop(double tilt, bool rigid, double stiffness, double h)
{
    static Box box;
    static World w;
    BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
    MakeBox(&box, (snwVec3){0, 0, 0}, (snwVec3){0.1, 0.1, 0.1}, 4, stiffness, 0.6);
    snwSoftBody* body = AddBox(&w, &box);
    EndWorld(&w);
    w.settings.rigid = rigid, w.settings.h = h;
    body->poses[0].turn = snwQuat_FromRotationVector((snwVec3){tilt, 0.3, tilt});
    snwSoftBody_Look(body);
    body->poses[0].shift.y = 0.5 - snwSoftStage_Lowest(body);
    snwSoftBody_Look(body);
    double deepest = 0, rebound = 0;
    bool touched = false;
    for (int i = 0; i < (int)(4 / h); ++i)
    {
        Run(&w, 1);
        touched = touched || w.world.memoryCount > 0;
        deepest = fmin(deepest, snwSoftStage_Lowest(body));
        rebound = touched ? fmax(rebound, snwSoftStage_Lowest(body)) : 0;
    }
    CHECK(touched);
    CHECK(deepest >= -1e-4 * 0.2);
    CHECK(rebound < 0.01 * 0.5);
    CHECK_NEAR(snwSoftStage_ForceAlong(&w, (snwVec3){0, 1, 0}), 4 * 9.81, 0.001 * 4 * 9.81);
    CHECK_INT(w.world.failures, 0);
    CHECK_INT(w.world.left, 0);
    for (int k = 0; k < 6; ++k)
        CHECK_NEAR(body->u[k], 0, 1e-6);
    // Soft where it touches and near there, and nowhere else.
    CHECK_INT(body->skins->activeCount, rigid ? 0 : 57);
    FreeWorld(&w);
}

TEST(softworld, aBoxThatIsDroppedLiesWhereItFalls)
{
    Drop(0, true, 1e4, 0.004);
    Drop(0.4, true, 1e4, 0.004);
    Drop(0, false, 1e4, 0.004);
    Drop(0.4, false, 1e4, 0.004);
    Drop(0.4, false, 1e3, 0.001);
    Drop(0.4, false, 1e5, 0.008);
}

// The published stiffnesses: k_e = 600 at 4 ms, k_v = 4000 and k_e = 6000 at 8.3 ms; twenty times as stiff at 8 ms.
TEST(softworld, publishedStiffnessesAreStable)
{
    Drop(0.2, false, 1e3, 0.004);
    Drop(0.2, false, 1e4, 0.0083);
    Drop(0.2, false, 2e5, 0.008);
}

// The published comparison: a hard box stays where complementarity stops it, and bounces on penalty springs.
TEST(softworld, penaltyContactBounces)
{
    static Box box;
    static World w;
    double rebound[2] = {0}, deepest[2] = {0};
    for (int penalty = 0; penalty < 2; ++penalty)
    {
        BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
        MakeBox(&box, (snwVec3){0, 0.6, 0}, (snwVec3){0.1, 0.1, 0.1}, 4, 1e4, 0.6);
        snwSoftBody* body = AddBox(&w, &box);
        EndWorld(&w);
        w.settings.rigid = true, w.settings.h = 0.0005, w.settings.penalty = penalty == 1;
        w.settings.penaltyStiffness = 1e4, w.settings.penaltyDamping = 4;
        bool touched = false;
        for (int i = 0; i < 2000; ++i)
        {
            Run(&w, 1);
            touched = touched || snwSoftStage_ForceAlong(&w, (snwVec3){0, 1, 0}) > 0;
            rebound[penalty] = touched ? fmax(rebound[penalty], snwSoftStage_Lowest(body)) : 0;
            deepest[penalty] = fmin(deepest[penalty], snwSoftStage_Lowest(body));
        }
        FreeWorld(&w);
    }
    CHECK(rebound[0] < 0.01 * 0.5);
    CHECK(rebound[1] > 0.2 * 0.5);
    CHECK(rebound[1] < 0.5);
    CHECK(deepest[1] < 100 * deepest[0]);
}

// Weight on springs without edges.
TEST(softworld, aSoleSinksByItsWeight)
{
    static Box box;
    static World w;
    BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
    MakeBox(&box, (snwVec3){0, 0.1, 0}, (snwVec3){0.1, 0.1, 0.1}, 20, 3e3, 0);
    snwSoftBody* body = AddBox(&w, &box);
    EndWorld(&w);
    Run(&w, 1000);
    int touching = 0;
    for (int c = 0; c < w.world.contactCount; ++c)
        touching += w.world.contacts[c].impulse.y > 0;
    CHECK_INT(touching, 25);
    double weight = (20 - 25 * box.masses[0]) * 9.81; // what lies on the ground itself presses no spring
    CHECK_NEAR(-body->poses[0].shift.y, weight / (25 * 0.4 * 3e3), 0.01 * weight / (25 * 0.4 * 3e3));
    FreeWorld(&w);
}

// On a slope, soft and rigid: what friction holds stays, what it does not hold slides as it should, whichever way the
// slope falls.
static void Slope(double direction, bool rigid, bool held)
{
    static Box box;
    static World w;
    const double tilt = 0.3;
    snwVec3 axis = {cos(direction), 0, sin(direction)};
    BeginWorld(&w, tan(tilt) * (held ? 1.02 : 0.9), axis, tilt);
    MakeBox(&box, (snwVec3){0, 0, 0}, (snwVec3){0.2, 0.05, 0.2}, 4, 1e4, 0.6);
    snwSoftBody* body = AddBox(&w, &box);
    EndWorld(&w);
    w.settings.rigid = rigid;
    snwQuat turn = snwQuat_FromAxisAngle(axis, tilt);
    body->poses[0].turn = turn;
    body->poses[0].shift = snwQuat_Rotate(turn, (snwVec3){0, 0.05, 0});
    snwSoftBody_Look(body);
    Run(&w, 250); // settled
    snwVec3 from = body->poses[0].shift, u = {body->u[0], body->u[1], body->u[2]};
    Run(&w, 250);
    snwVec3 way = snwVec3_Sub(body->poses[0].shift, from), normal = snwQuat_Rotate(turn, (snwVec3){0, 1, 0});
    if (held)
        CHECK(snwVec3_Length(way) < 1e-6);
    else
    {
        double rate = 0.1 * sin(tilt) * 9.81;
        CHECK_NEAR(snwVec3_Length(way), snwVec3_Length(u) + 0.5 * rate, 0.005);
        // Straight down the slope.
        snwVec3 down = snwVec3_Normalize(
            snwVec3_MulAdd((snwVec3){0, -1, 0}, snwVec3_Dot(normal, (snwVec3){0, 1, 0}), normal));
        CHECK_NEAR(snwVec3_Dot(snwVec3_Normalize(way), down), 1, 1e-6);
    }
    FreeWorld(&w);
}

TEST(softworld, slopesHoldUpToTheAngleOfFriction)
{
    for (int i = 0; i < 4; ++i)
    {
        Slope(0.7 * i, i % 2 == 0, true);
        Slope(0.7 * i, i % 2 == 0, false);
    }
}

static void Tower(World* w, int count, const double* masses)
{
    snwMessage message;
    BeginWorld(w, 0.5, (snwVec3){0, 0, 1}, 0);
    Expect(snwSoftStage_AddTower(w, count, masses, &message), &message);
    EndWorld(w);
}

TEST_HEAVY(softworld, aStackOfTenStands)
{
    static World w;
    const double masses[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    Tower(&w, 10, masses);
    snwVec3 start[10];
    for (int i = 0; i < 10; ++i)
        start[i] = w.bodies[i].poses[0].shift;
    double drift = 0;
    Run(&w, 15000);
    for (int i = 0; i < 10; ++i)
        drift = fmax(drift, snwVec3_Distance(start[i], w.bodies[i].poses[0].shift));
    CHECK(drift <= 0.001);
    CHECK_INT(w.world.failures, 0);
    FreeWorld(&w);
}

TEST(softworld, aThousandTimesTheMassIsCarried)
{
    static World w;
    const double masses[2] = {1, 1000};
    Tower(&w, 2, masses);
    Run(&w, 1000);
    CHECK_NEAR(w.bodies[0].poses[0].shift.y, 0, 0.001);
    CHECK_NEAR(w.bodies[1].poses[0].shift.y, 0, 0.001);
    FreeWorld(&w);
}

// A slender rod that slides on its tip, leaning back: whatever comes of it is bounded.
TEST(softworld, painlevesRodIsBounded)
{
    static World w;
    static Box box;
    for (int k = 0; k < 6; ++k)
    {
        BeginWorld(&w, 1.5 + 0.2 * k, (snwVec3){0, 0, 1}, 0);
        MakeBox(&box, (snwVec3){0, 1, 0}, (snwVec3){0.01, 1, 0.01}, 1, 0, 0);
        box.skin.pointCount = box.skin.triangleCount = 0;
        AddBox(&w, &box);
        w.probes[w.probeCount++] = (snwSoftProbe){.at = {0, -1, 0}};
        w.probes[w.probeCount++] = (snwSoftProbe){.at = {0, 1, 0}};
        EndWorld(&w);
        snwSoftBody* body = &w.bodies[0];
        body->poses[0].turn = snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, 0.5);
        body->poses[0].shift.y = cos(0.5) - 1;
        body->u[0] = 3;
        snwSoftBody_Look(body);
        double first = snwSoftBody_KineticEnergy(body) + 9.81, most = 0;
        for (int i = 0; i < 1000; ++i)
        {
            Run(&w, 1);
            double energy = snwSoftBody_KineticEnergy(body) + 9.81 * (1 + body->poses[0].shift.y);
            most = fmax(most, energy);
        }
        CHECK(most <= 1.01 * first);
        CHECK_INT(w.world.failures, 0);
        FreeWorld(&w);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Skin on skin

static snwSpatial MomentumOf(const World* w)
{
    snwSpatial sum = {{0, 0, 0}, {0, 0, 0}};
    for (int b = 0; b < w->bodyCount; ++b)
    {
        snwSpatial own = snwSoftBody_Momentum(&w->bodies[b]);
        own.turn = snwVec3_Add(own.turn, snwVec3_Cross(w->bodies[b].tree.origin, own.shift));
        sum = snwSpatial_MulAdd(sum, 1, own);
    }
    return sum;
}

// Two soft boxes of the same size, one on the other, and one that lies askew: they carry each other, and what the upper
// one is pressed with comes out below.
static void Pile(double askew, bool rigid)
{
    static World w;
    static Box box;
    BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
    for (int i = 0; i < 2; ++i)
    {
        MakeBox(&box, (snwVec3){0, 0.1 + 0.2 * i, 0}, (snwVec3){0.1, 0.1, 0.1}, i == 0 ? 4 : 2, 1e4, 0.6);
        AddBox(&w, &box);
    }
    EndWorld(&w);
    w.settings.rigid = rigid;
    w.bodies[1].poses[0].turn = snwQuat_FromAxisAngle((snwVec3){0, 1, 0}, askew);
    w.bodies[1].poses[0].shift = (snwVec3){0.2 * askew, 0.05, 0.1 * askew};
    snwSoftBody_Look(&w.bodies[1]);
    Run(&w, 1000);
    double carried = 0, deepest = 0;
    for (int c = 0; c < w.world.contactCount; ++c)
    {
        const snwSoftContact* contact = &w.world.contacts[c];
        if (contact->otherBody < 0)
            continue;
        carried += fabs(contact->impulse.y) / w.settings.h;
        deepest = fmin(deepest, contact->gap);
    }
    CHECK_NEAR(carried, 2 * 9.81, 0.005 * 2 * 9.81);
    CHECK(deepest > -1e-4 * 0.2);
    CHECK_NEAR(w.bodies[1].poses[0].shift.x, 0.2 * askew, 2e-3);
    for (int b = 0; b < 2; ++b)
        for (int k = 0; k < 6; ++k)
            CHECK_NEAR(w.bodies[b].u[k], 0, 1e-4);
    CHECK_INT(w.world.failures, 0);
    FreeWorld(&w);
}

TEST(softworld, softBoxesLieOnEachOther)
{
    Pile(0, false);
    Pile(0.3, false);
    Pile(0.3, true);
}

// One skin over two links that are not joined to each other: a spring presses the one on the other.
TEST(softworld, aSkinMeetsItselfOnOtherLinks)
{
    enum
    {
        count = 2 * snw_boxPoints
    };
    static Box boxes[2];
    static World w;
    static snwVec3 points[count];
    static snwPointAnchor anchors[count];
    static double masses[count], stiffness[count], damping[count], edgeStiffness[2 * snw_mostBoxEdges];
    static int edges[2 * snw_mostBoxEdges][2], triangles[4 * snw_mostBoxPoints][3];
    snwPointSkinDef skin = {.points = points,
        .anchors = anchors,
        .masses = masses,
        .stiffness = stiffness,
        .damping = damping,
        .edges = edges,
        .edgeStiffness = edgeStiffness,
        .triangles = triangles};
    for (int i = 0; i < 2; ++i)
    {
        MakeBox(&boxes[i], (snwVec3){0.02 * i, 0.3 * i, 0.01 * i}, (snwVec3){0.1, 0.1, 0.1}, 2, 1e4, 0.6);
        const snwPointSkinDef* own = &boxes[i].skin;
        for (int p = 0; p < own->pointCount; ++p, ++skin.pointCount)
        {
            int at = skin.pointCount;
            points[at] = own->points[p], anchors[at] = own->anchors[p], anchors[at].links[0] = 2 * i;
            masses[at] = own->masses[p], stiffness[at] = own->stiffness[p], damping[at] = own->damping[p];
        }
        for (int e = 0; e < own->edgeCount; ++e, ++skin.edgeCount)
        {
            edgeStiffness[skin.edgeCount] = own->edgeStiffness[e];
            for (int c = 0; c < 2; ++c)
                edges[skin.edgeCount][c] = own->edges[e][c] + i * snw_boxPoints;
        }
        for (int t = 0; t < own->triangleCount; ++t, ++skin.triangleCount)
            for (int c = 0; c < 3; ++c)
                triangles[skin.triangleCount][c] = own->triangles[t][c] + i * snw_boxPoints;
    }
    // A slide, and the upper box fixed to it.
    snwVec3 at = {0.3, 0, 0}, upper = {0.02, 0.3, 0.01};
    snwLinkDef links[3] = {
        boxes[0].link, snwRagdoll_Box(snw_jointPrismatic, 0, at, at, (snwVec3){0.05, 0.05, 0.05}, 0.5), boxes[1].link};
    links[1].joint.axis = (snwVec3){0, 1, 0};
    links[1].joint.target = -0.15, links[1].joint.stiffness = 1000, links[1].joint.damping = 30;
    links[1].joint.motor = true;
    links[2].joint.type = snw_jointFixed, links[2].joint.parentBone = 1, links[2].joint.position = upper;

    snwMessage message;
    BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
    w.solidCount = 0;
    snwSoftBodyDef def = {.linkCount = 3, .links = links, .skinCount = 1, .skins = &skin};
    Expect(snwSoftStage_AddBody(&w, &def, &message), &message);
    EndWorld(&w);
    w.settings.gravity = (snwVec3){0, 0, 0};
    w.bodies[0].u[0] = 0.5, w.bodies[0].u[4] = 1;
    snwSoftBody_Look(&w.bodies[0]);
    snwSpatial before = MomentumOf(&w);
    Run(&w, 1000);
    double pressed = 0, deepest = 0;
    for (int c = 0; c < w.world.contactCount; ++c)
    {
        pressed += snwVec3_Length(w.world.contacts[c].impulse) / w.settings.h;
        deepest = fmin(deepest, w.world.contacts[c].gap);
    }
    double slide = w.bodies[0].poses[1].angles[0];
    CHECK(slide > -0.12 && slide < -0.095);
    CHECK_NEAR(pressed, 1000 * (slide + 0.15), 0.02 * 1000 * (slide + 0.15));
    CHECK(deepest > -1e-4 * 0.2);
    snwSpatial missed = snwSpatial_MulAdd(MomentumOf(&w), -1, before);
    CHECK_NEAR(snwVec3_Length(missed.turn) + snwVec3_Length(missed.shift), 0, 1e-10 * 4);
    CHECK_INT(w.world.failures, 0);
    FreeWorld(&w);
}

// Nothing but the two of them: momentum, linear and angular, whatever happens.
TEST(softworld, skinsThatMeetKeepTheirMomentum)
{
    static World w;
    static Box box;
    BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
    w.solidCount = 0;
    for (int i = 0; i < 2; ++i)
    {
        MakeBox(&box, (snwVec3){0.3 * i, 0.08 * i, 0.05 * i}, (snwVec3){0.1, 0.1, 0.1}, 2 + i, 3e3, 0.6);
        snwSoftBody* body = AddBox(&w, &box);
        body->u[0] = i == 0 ? 2 : -1, body->u[3] = 3, body->u[5] = i == 0 ? 4 : -5;
        snwSoftBody_Look(body);
    }
    EndWorld(&w);
    w.settings.gravity = (snwVec3){0, 0, 0};
    snwSpatial before = MomentumOf(&w);
    double pressed = 0, missed = 0, energy = 0, first = 0;
    for (int b = 0; b < 2; ++b)
        first += snwSoftBody_KineticEnergy(&w.bodies[b]);
    for (int i = 0; i < 200; ++i)
    {
        Run(&w, 1);
        snwSpatial now = snwSpatial_MulAdd(MomentumOf(&w), -1, before);
        missed = fmax(missed, fmax(snwVec3_Length(now.turn), snwVec3_Length(now.shift)));
        for (int c = 0; c < w.world.contactCount; ++c)
            pressed += snwVec3_Length(w.world.contacts[c].impulse);
    }
    for (int b = 0; b < 2; ++b)
        energy += snwSoftBody_KineticEnergy(&w.bodies[b]);
    CHECK(pressed > 1);
    CHECK(energy < first);
    CHECK_NEAR(missed, 0, 1e-10 * (2 * 2 + 3 * 1));
    CHECK_INT(w.world.failures, 0);
    FreeWorld(&w);
}

// ---------------------------------------------------------------------------------------------------------------------
// A figure

static void Figure(World* w, double height)
{
    snwMessage message;
    BeginWorld(w, 0.7, (snwVec3){0, 0, 1}, 0);
    Expect(snwSoftStage_AddFigure(w, &message), &message);
    w->bodies[0].poses[0].shift.y = height;
    EndWorld(w);
    snwSoftBody_Look(&w->bodies[0]);
}

TEST(softworld, aFigureFallsDownAndLiesStill)
{
    static World w;
    Figure(&w, 0.5);
    snwSoftBody* body = &w.bodies[0];
    for (int i = 1; i < snw_ragdollLinks; ++i)
        body->tree.links[i].joint.damping = 1;
    body->u[0] = 1, body->u[3] = 2;
    snwSoftBody_Look(body);
    double deepest = 0, fastest = 0;
    for (int i = 0; i < 2500; ++i)
    {
        Run(&w, 1);
        for (int k = 0; k < snw_ragdollLinks; ++k)
        {
            snwLinkLimit limits[snw_maxLinkLimits];
            int count = snwBodyTree_Limits(&body->tree, k, &body->poses[k], limits);
            for (int l = 0; l < count; ++l)
                deepest = fmin(deepest, limits[l].gap);
        }
        for (int k = 0; k < body->tree.freedom; ++k)
            fastest = fmax(fastest, fabs(body->u[k]));
    }
    double mass;
    snwSoftBody_Centre(body, &mass);
    CHECK_NEAR(snwSoftStage_ForceAlong(&w, (snwVec3){0, 1, 0}), mass * 9.81, 0.01 * mass * 9.81);
    CHECK(snwSoftBody_KineticEnergy(body) < 1e-3);
    CHECK(w.world.failures <= 2); // of 2500
    FreeWorld(&w);
}

// Figures thrown on a heap of hard balls: many contacts, limits at their stops, more rows than freedoms.
TEST_HEAVY(softworld, figuresOnHardBallsLeaveNothingUnsolved)
{
    static World w;
    snwMessage message;
    long problems = 0, failures = 0;
    double worst = 0;
    uint64_t seed = 13;
    for (int run = 0; run < 10; ++run)
    {
        BeginWorld(&w, 0.7, (snwVec3){0, 0, 1}, 0);
        for (int i = 0; i < 26; ++i)
        {
            snwVec3 size = {0.15 + 0.1 * snwTest_Random(&seed), 0, 0};
            snwVec3 at = {2 * snwTest_Random(&seed) - 1, 0.05 * snwTest_Random(&seed), 2 * snwTest_Random(&seed) - 1};
            snwSoftStage_AddSolid(&w, -1, snw_colliderSphere, size, 0.7, (snwTransform){at, snwQuat_Identity()});
        }
        Expect(snwSoftStage_AddFigure(&w, &message), &message);
        EndWorld(&w);
        snwSoftBody* body = &w.bodies[0];
        body->poses[0].shift.y = 0.5;
        for (int k = 0; k < 6; ++k)
            body->u[k] = (k < 3 ? 1 : 3) * (2 * snwTest_Random(&seed) - 1);
        snwSoftBody_Look(body);
        for (int i = 0; i < 500; ++i)
        {
            Run(&w, 1);
            worst = fmax(worst, w.world.report.residual);
        }
        problems += w.world.problems, failures += w.world.failures;
        FreeWorld(&w);
    }
    CHECK(problems > 4000);
    CHECK_INT(failures, 0);
    CHECK(worst <= 1e-9);
}

// ---------------------------------------------------------------------------------------------------------------------
// State

static void CopyState(const World* from, World* to)
{
    for (int b = 0; b < from->bodyCount; ++b)
    {
        const snwSoftBody* body = &from->bodies[b];
        snwSoftBody* copy = &to->bodies[b];
        memcpy(copy->poses, body->poses, (size_t)body->tree.linkCount * sizeof *body->poses);
        memcpy(copy->u, body->u, (size_t)body->tree.freedom * sizeof *body->u);
        for (int s = 0; s < body->skinCount; ++s)
        {
            const snwPointSkin* skin = &body->skins[s];
            size_t n = (size_t)skin->count;
            memcpy(copy->skins[s].x, skin->x, n * sizeof *skin->x);
            memcpy(copy->skins[s].v, skin->v, n * sizeof *skin->v);
            memcpy(copy->skins[s].frozen, skin->frozen, n * sizeof *skin->frozen);
            memcpy(copy->skins[s].awake, skin->awake, n);
        }
        snwSoftBody_Look(copy);
    }
    to->world.memoryCount = from->world.memoryCount;
    memcpy(to->world.memory, from->world.memory, (size_t)from->world.memoryCount * sizeof *from->world.memory);
}

static void RollingBox(World* w, Box* box)
{
    BeginWorld(w, 0.5, (snwVec3){0, 0, 1}, 0.1);
    MakeBox(box, (snwVec3){0, 0.3, 0}, (snwVec3){0.1, 0.1, 0.1}, 4, 3e3, 0.6);
    snwSoftBody* body = AddBox(w, box);
    EndWorld(w);
    body->u[0] = -2, body->u[5] = 9, body->u[3] = 2;
    snwSoftBody_Look(body);
}

// All that a step reads is in the state: another world that gets it goes on with the same bits, factors made anew.
TEST(softworld, theStateIsAllThatIsNeededToGoOn)
{
    static World a, b;
    static Box box;
    RollingBox(&a, &box);
    RollingBox(&b, &box);
    uint64_t seed = 3;
    for (int round = 0; round < 200; ++round)
    {
        if (round % 20 == 0) // kicked, or it would soon lie
        {
            a.bodies[0].u[1] += 1, a.bodies[0].u[3] += 6, a.bodies[0].u[5] -= 5;
            snwSoftBody_Look(&a.bodies[0]);
        }
        Run(&a, 1 + (int)(7 * snwTest_Random(&seed)));
        CopyState(&a, &b);
        Run(&a, 2), Run(&b, 2);
        CHECK(memcmp(a.bodies[0].u, b.bodies[0].u, 6 * sizeof(double)) == 0);
        CHECK(memcmp(a.bodies[0].skins->x, b.bodies[0].skins->x, snw_boxPoints * sizeof(snwVec3)) == 0);
        CHECK(memcmp(a.bodies[0].skins->awake, b.bodies[0].skins->awake, snw_boxPoints) == 0);
    }
    FreeWorld(&a), FreeWorld(&b);
}

// Contacts without symmetry are solved, and shorter steps bring Eq. 12 and ours together.
TEST(softworld, literalVelocityProductsLeadToTheSamePlace)
{
    static World w;
    double apart[2];
    bool touched = false;
    for (int fine = 0; fine < 2; ++fine)
    {
        snwVec3 places[2];
        for (int literal = 0; literal < 2; ++literal)
        {
            Figure(&w, 0.08);
            w.bodies[0].u[0] = 1, w.bodies[0].u[3] = 2;
            snwSoftBody_Look(&w.bodies[0]);
            w.settings.h = fine ? 0.0005 : 0.004, w.settings.literal = literal == 1;
            Run(&w, fine ? 400 : 50);
            places[literal] = w.bodies[0].poses[0].shift;
            touched = touched || w.world.memoryCount > 0;
            CHECK_INT(w.world.failures, 0);
            FreeWorld(&w);
        }
        apart[fine] = snwVec3_Distance(places[0], places[1]);
    }
    CHECK(touched);
    CHECK(apart[0] > 1e-5 && apart[0] < 0.05);
    CHECK(apart[1] < 0.5 * apart[0]);
}

TEST(softworld, skinsWakeAndSleepAsABoxRolls)
{
    static World w;
    static Box box;
    RollingBox(&w, &box);
    int most = 0, least = snw_boxPoints, wakings = 0, before = 0;
    double mass = 0, sum = 0;
    for (int i = 0; i < 500; ++i)
    {
        Run(&w, 1);
        int active = w.bodies[0].skins->activeCount;
        most = active > most ? active : most, least = active < least ? active : least;
        wakings += active != before;
        before = active;
        snwSoftBody_Centre(&w.bodies[0], &mass);
        sum = fmax(sum, fabs(mass - 4));
    }
    CHECK(most > 20 && most < snw_boxPoints && wakings > 10);

    // Lifted off, all of it falls asleep again.
    w.settings.gravity = (snwVec3){0, 0, 0};
    w.bodies[0].u[1] = 1;
    snwSoftBody_Look(&w.bodies[0]);
    Run(&w, 400);
    CHECK_INT(w.bodies[0].skins->activeCount, 0);
    CHECK_NEAR(sum, 0, 1e-12);
    CHECK_INT(w.world.failures, 0);
    FreeWorld(&w);
}

// Live: hard, and soft again, while it lies.
TEST(softworld, aBoxThatLiesMayBeMadeHardAndSoft)
{
    static Box box;
    static World w;
    BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
    MakeBox(&box, (snwVec3){0, 0.1, 0}, (snwVec3){0.1, 0.1, 0.1}, 4, 3e3, 0.6);
    snwSoftBody* body = AddBox(&w, &box);
    EndWorld(&w);
    Run(&w, 500);
    double height = body->poses[0].shift.y;
    for (int round = 0; round < 4; ++round)
    {
        w.settings.rigid = round % 2 == 0;
        Run(&w, 100);
        CHECK_INT(body->skins->activeCount > 0, round % 2);
        CHECK_NEAR(body->poses[0].shift.y, height, 2e-5); // frozen as it was bent
        CHECK_NEAR(snwSoftStage_ForceAlong(&w, (snwVec3){0, 1, 0}), 4 * 9.81, 0.01 * 4 * 9.81);
    }
    FreeWorld(&w);
}

TEST(softworld, aSteadyStepTakesNoMemory)
{
    static World w;
    static Box box;
    snwCountingAllocator counter = {0};
    BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
    snwDestroyContext(w.context);
    w.context = snwFixture_Context(1, snw_simdAuto, &counter);
    MakeBox(&box, (snwVec3){0, 0.3, 0}, (snwVec3){0.1, 0.1, 0.1}, 4, 3e3, 0.6);
    AddBox(&w, &box);
    EndWorld(&w);
    long before = counter.allocations;
    Run(&w, 200);
    CHECK_INT(counter.allocations, before);
    snwSoftWorld_Free(&w.world), snwSoftBody_Free(&w.bodies[0]);
    snwDestroyContext(w.context);
}

TEST(softworld, badWorldsAreErrors)
{
    static World w;
    snwMessage message;
    BeginWorld(&w, 0.5, (snwVec3){0, 0, 1}, 0);
    w.solids[0].body = 3;
    snwSoftWorldDef def = {.solidCount = 1, .solids = w.solids, .contactCapacity = 10};
    CHECK_INT(snwSoftWorld_Create(w.context, &def, &w.world, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "solid 0");
    FreeWorld(&w);
}
