#include "softcontact_stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Figures

static snwMat3 BoxInertia(double mass, snwVec3 half)
{
    double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
    return snwMat3_Diagonal(mass * (y + z) / 3, mass * (x + z) / 3, mass * (x + y) / 3);
}

snwLinkDef snwRagdoll_Box(snwJointType type, int parent, snwVec3 point, snwVec3 centre, snwVec3 half, double mass)
{
    snwLinkDef link = {.joint = snwDefaultJointDef()};
    link.joint.type = type, link.joint.parentBone = parent, link.joint.position = point;
    link.mass = snwLinkMass_Make(mass, snwVec3_Sub(centre, point), BoxInertia(mass, half));
    return link;
}

static void Range(snwLinkDef* link, snwVec3 axis, double lower, double upper, double cone)
{
    link->joint.axis = axis, link->joint.lower = lower, link->joint.upper = upper, link->joint.cone = cone;
}

void snwRagdoll_Links(bool limits, snwLinkDef links[snw_ragdollLinks])
{
    links[0] = snwRagdoll_Box(
        snw_jointFree, -1, (snwVec3){0, 1, 0}, (snwVec3){0, 1, 0}, (snwVec3){0.15, 0.1, 0.1}, 12.9);
    links[1] = snwRagdoll_Box(
        snw_jointBall, 0, (snwVec3){0, 1.15, 0}, (snwVec3){0, 1.4, 0}, (snwVec3){0.18, 0.25, 0.1}, 22.5);
    links[2] = snwRagdoll_Box(
        snw_jointBall, 1, (snwVec3){0, 1.65, 0}, (snwVec3){0, 1.8, 0}, (snwVec3){0.08, 0.12, 0.1}, 5.2);
    for (int side = 0; side < 2; ++side)
    {
        double s = side == 0 ? 1 : -1;
        snwLinkDef* limb = &links[3 + 5 * side];
        int first = 3 + 5 * side;
        limb[0] = snwRagdoll_Box(snw_jointBall, 1, (snwVec3){0.2 * s, 1.6, 0}, (snwVec3){0.36 * s, 1.6, 0},
            (snwVec3){0.16, 0.05, 0.05}, 2.2);
        limb[1] = snwRagdoll_Box(snw_jointHinge, first, (snwVec3){0.52 * s, 1.6, 0}, (snwVec3){0.72 * s, 1.6, 0},
            (snwVec3){0.2, 0.04, 0.04}, 1.7);
        limb[2] = snwRagdoll_Box(snw_jointBall, 0, (snwVec3){0.1 * s, 0.92, 0}, (snwVec3){0.1 * s, 0.7, 0},
            (snwVec3){0.07, 0.22, 0.07}, 6.6);
        limb[3] = snwRagdoll_Box(snw_jointHinge, first + 2, (snwVec3){0.1 * s, 0.48, 0}, (snwVec3){0.1 * s, 0.27, 0},
            (snwVec3){0.05, 0.21, 0.05}, 3.2);
        limb[4] = snwRagdoll_Box(snw_jointUniversal, first + 3, (snwVec3){0.1 * s, 0.06, 0},
            (snwVec3){0.1 * s, 0.03, 0.05}, (snwVec3){0.05, 0.03, 0.12}, 1.2);
        limb[1].joint.axis = (snwVec3){0, s, 0};
        limb[4].joint.axis2 = (snwVec3){0, 0, 1};
        if (!limits)
            continue;
        Range(&limb[0], (snwVec3){1, 0, 0}, -1, 1, 1.6);
        Range(&limb[1], limb[1].joint.axis, -2.5, 0, SNW_PI);
        Range(&limb[2], (snwVec3){0, 1, 0}, -0.7, 0.7, 1.3);
        Range(&limb[3], (snwVec3){1, 0, 0}, 0, 2.4, SNW_PI);
        Range(&limb[4], (snwVec3){1, 0, 0}, -0.7, 0.7, SNW_PI);
    }
    if (limits)
    {
        Range(&links[1], (snwVec3){0, 1, 0}, -0.6, 0.6, 0.6);
        Range(&links[2], (snwVec3){0, 1, 0}, -0.9, 0.9, 0.6);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Boxes

static bool Inside(const int at[3], const int cells[3])
{
    for (int c = 0; c < 3; ++c)
        if (at[c] <= 0 || at[c] >= cells[c])
            return false;
    return true;
}

static bool OnOneFace(const int a[3], const int b[3], const int cells[3])
{
    for (int c = 0; c < 3; ++c)
        if (a[c] == b[c] && (a[c] == 0 || a[c] == cells[c]))
            return true;
    return false;
}

// Neighbours on one face, straight or across a square.
static bool AreTied(const int a[3], const int b[3], const int cells[3])
{
    int far = abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
    bool near = abs(a[0] - b[0]) <= 1 && abs(a[1] - b[1]) <= 1 && abs(a[2] - b[2]) <= 1;
    return near && far <= 2 && OnOneFace(a, b, cells);
}

static int ListSurface(const int cells[3], int points[snw_mostBoxPoints][3])
{
    int count = 0;
    for (int x = 0; x <= cells[0]; ++x)
        for (int y = 0; y <= cells[1]; ++y)
            for (int z = 0; z <= cells[2]; ++z)
            {
                const int at[3] = {x, y, z};
                if (!Inside(at, cells) && count < snw_mostBoxPoints)
                    memcpy(points[count++], at, sizeof at);
            }
    return count;
}

static int Find(int places[snw_mostBoxPoints][3], const int at[3])
{
    int i = 0;
    while (memcmp(places[i], at, 3 * sizeof *at) != 0)
        ++i;
    return i;
}

// Two to a square, seen from outside counter-clockwise.
static int PutTriangles(int places[snw_mostBoxPoints][3], const int cells[3], int triangles[][3])
{
    int count = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 2; ++side)
        {
            int u = (axis + 1 + (side == 0)) % 3, v = (axis + 2 - (side == 0)) % 3;
            for (int i = 0; i < cells[u]; ++i)
                for (int j = 0; j < cells[v]; ++j)
                {
                    int corners[4];
                    for (int c = 0; c < 4; ++c)
                    {
                        int at[3];
                        at[axis] = side * cells[axis], at[u] = i + (c == 1 || c == 2), at[v] = j + (c >= 2);
                        corners[c] = Find(places, at);
                    }
                    for (int half = 0; half < 2; ++half, ++count)
                        for (int c = 0; c < 3; ++c)
                            triangles[count][c] = corners[c == 0 ? 0 : c + half];
                }
        }
    return count;
}

void snwSkinBox_Make(snwSkinBox* box, const snwSkinBoxDef* def)
{
    memset(box, 0, sizeof *box);
    box->half = def->half;
    box->link = snwRagdoll_Box(snw_jointFree, -1, def->centre, def->centre, def->half, def->mass);
    box->skin = (snwPointSkinDef){.points = box->points,
        .anchors = box->anchors,
        .masses = box->masses,
        .stiffness = box->stiffness,
        .damping = box->damping,
        .edges = box->edges,
        .edgeStiffness = box->edgeStiffness,
        .triangles = box->triangles};
    static const int four[3] = {4, 4, 4};
    const int* cells = def->cells[0] > 0 ? def->cells : four;
    int places[snw_mostBoxPoints][3], count = ListSurface(cells, places);
    for (int n = 0; n < count; ++n)
    {
        snwVec3 at = {(2.0 * places[n][0] / cells[0] - 1) * def->half.x,
            (2.0 * places[n][1] / cells[1] - 1) * def->half.y, (2.0 * places[n][2] / cells[2] - 1) * def->half.z};
        box->points[n] = snwVec3_Add(def->centre, at);
        box->anchors[n] = (snwPointAnchor){.count = 1, .links = {0}, .weights = {1}};
        box->masses[n] = 0.1 * def->mass / count;
        box->stiffness[n] = 0.4 * def->stiffness, box->damping[n] = 0.1 * def->stiffness;
        snwLinkMass_AddPoint(&box->link.mass, -box->masses[n], at);
        for (int i = 0; i < n && def->edges > 0; ++i)
            if (AreTied(places[i], places[n], cells))
            {
                int* edge = box->edges[box->skin.edgeCount];
                edge[0] = i, edge[1] = n;
                box->edgeStiffness[box->skin.edgeCount++] = def->edges * def->stiffness;
            }
    }
    box->skin.pointCount = count;
    box->skin.triangleCount = PutTriangles(places, cells, box->triangles);
}

// ---------------------------------------------------------------------------------------------------------------------
// Worlds

void snwSoftStage_Begin(snwSoftStage* stage, snwContext* context, double friction, snwVec3 axis, double tilt)
{
    memset(stage, 0, sizeof *stage);
    stage->context = context;
    stage->settings = snwSoftWorld_DefaultSettings();
    snwTransform ground = {{0, 0, 0}, snwQuat_FromAxisAngle(axis, tilt)};
    snwSoftStage_AddSolid(stage, -1, snw_colliderPlane, (snwVec3){0, 0, 0}, friction, ground);
}

void snwSoftStage_AddSolid(
    snwSoftStage* stage, int body, snwColliderKind kind, snwVec3 size, double friction, snwTransform place)
{
    stage->solids[stage->solidCount++] = (snwSoftSolid){
        .collider = snwMakeCollider(kind, size, friction), .body = body, .place = place, .before = place};
}

snwResult snwSoftStage_AddBody(snwSoftStage* stage, const snwSoftBodyDef* def, snwMessage* message)
{
    snwResult result = snwSoftBody_Create(stage->context, def, &stage->bodies[stage->bodyCount], message);
    stage->bodyCount += result == snw_ok;
    return result;
}

snwResult snwSoftStage_AddBox(snwSoftStage* stage, const snwSkinBox* box, snwMessage* message)
{
    snwSoftBodyDef def = {.linkCount = 1, .links = &box->link, .skinCount = 1, .skins = &box->skin};
    return snwSoftStage_AddBody(stage, &def, message);
}

snwResult snwSoftStage_AddFigure(snwSoftStage* stage, snwMessage* message)
{
    snwLinkDef links[snw_ragdollLinks];
    snwRagdoll_Links(true, links);
    int body = stage->bodyCount;
    for (int i = 0; i < snw_ragdollLinks; ++i)
    {
        snwVec3 centre = snwVec3_Scale(links[i].mass.moment, 1 / links[i].mass.mass);
        for (int end = -1; end <= 1; end += 2)
            stage->probes[stage->probeCount++] = (snwSoftProbe){
                .body = body, .link = i, .at = snwVec3_Scale(centre, 1 + 0.8 * end), .radius = 0.05};
    }
    return snwSoftStage_AddBody(stage, &(snwSoftBodyDef){.linkCount = snw_ragdollLinks, .links = links}, message);
}

snwResult snwSoftStage_AddTower(snwSoftStage* stage, int count, const double* masses, snwMessage* message)
{
    const snwVec3 half = {0.1, 0.1, 0.1};
    snwResult result = snw_ok;
    for (int i = 0; i < count && result == snw_ok; ++i)
    {
        snwVec3 centre = {0.003 * (i % 3), 0.1 + 0.2 * i, 0.002 * (i % 2)};
        snwLinkDef link = snwRagdoll_Box(snw_jointFree, -1, centre, centre, half, masses[i]);
        int body = stage->bodyCount;
        result = snwSoftStage_AddBody(stage, &(snwSoftBodyDef){.linkCount = 1, .links = &link}, message);
        snwSoftStage_AddSolid(stage, body, snw_colliderBox, half, 0.5, snwTransform_Identity());
        for (int c = 0; c < 8; ++c)
            stage->probes[stage->probeCount++] = (snwSoftProbe){
                .body = body, .at = {c & 1 ? 0.09 : -0.09, c & 2 ? 0.1 : -0.1, c & 4 ? 0.09 : -0.09}};
    }
    return result;
}

snwResult snwSoftStage_Open(snwSoftStage* stage, int contactCapacity, snwMessage* message)
{
    snwSoftWorldDef def = {.bodyCount = stage->bodyCount,
        .bodies = stage->bodies,
        .solidCount = stage->solidCount,
        .solids = stage->solids,
        .probeCount = stage->probeCount,
        .probes = stage->probes,
        .contactCapacity = contactCapacity};
    return snwSoftWorld_Create(stage->context, &def, &stage->world, message);
}

void snwSoftStage_Close(snwSoftStage* stage)
{
    snwSoftWorld_Free(&stage->world);
    for (int i = 0; i < stage->bodyCount; ++i)
        snwSoftBody_Free(&stage->bodies[i]);
}

snwResult snwSoftStage_StepWith(snwSoftStage* stage, const snwSoftStep* others, snwMessage* message)
{
    for (int b = 0; b < stage->bodyCount; ++b)
        snwSoftBody_Look(&stage->bodies[b]);
    return snwSoftWorld_Step(&stage->world, &stage->settings, others, message);
}

snwResult snwSoftStage_Step(snwSoftStage* stage, int steps, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < steps && result == snw_ok; ++i)
        result = snwSoftStage_StepWith(stage, NULL, message);
    return result;
}

double snwSoftStage_Lowest(const snwSoftBody* body)
{
    double lowest = INFINITY;
    for (int i = 0; i < body->skins->count; ++i)
        lowest = fmin(lowest, body->skins->x[i].y);
    return lowest;
}

double snwSoftStage_ForceAlong(const snwSoftStage* stage, snwVec3 direction)
{
    double sum = 0;
    for (int c = 0; c < stage->world.contactCount; ++c)
        sum += snwVec3_Dot(stage->world.contacts[c].impulse, direction);
    return sum / stage->settings.h;
}
