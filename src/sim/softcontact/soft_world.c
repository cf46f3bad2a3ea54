// One step of all soft bodies (soft_world.h): what touches what, who wakes and who sleeps, and for each island of
// bodies one contact problem for coulomb.h.

#include "sim/softcontact/soft_world.h"

#include "base/clock.h"

#include <string.h>

static const double s_settle = 0.05;    // s, of the motion that still counts as rest
static const double s_nearLimit = 0.05; // rad or m
static const double s_skinFriction = 0.5;
static const double s_jointYield = 1e-9; // of the W of limits and loops, which may say the same twice

snwSoftSettings snwSoftWorld_DefaultSettings(void)
{
    snwCoulombDef solver = snwCoulomb_DefaultDef();
    return (snwSoftSettings){.h = 0.004,
        .gravity = {0, -9.81, 0},
        .implicit = true,
        .rings = 2,
        .rest = 1e-4,
        .margin = 0.002,
        .recover = 0.2,
        .leave = INFINITY,
        .penaltyStiffness = 2e4,
        .penaltyDamping = 20,
        .compliance = 1e-4,
        .newtons = solver.newtons,
        .sweeps = solver.sweeps,
        .tolerance = solver.tolerance};
}

// ---------------------------------------------------------------------------------------------------------------------
// Making

static int JointRoom(const snwSoftBody* body)
{
    return snw_maxLinkLimits * body->tree.linkCount + 6 * body->loopCount;
}

static bool AllocateWorld(snwSoftWorld* world)
{
    snwContext* context = world->context;
    const snwSoftWorldDef* def = &world->def;
    int threes = 3 * (def->contactCapacity + def->tieCapacity);
    int rows = threes, freedom = 0, skins = 0, bodyRows = threes;

    // The most rows that any island can have, and the most that one body can have part in.
    for (int i = 0; i < def->bodyCount; ++i)
    {
        int joints = JointRoom(&def->bodies[i]);
        rows += joints;
        bodyRows = threes + joints > bodyRows ? threes + joints : bodyRows;
        freedom = def->bodies[i].tree.freedom > freedom ? def->bodies[i].tree.freedom : freedom;
        skins = def->bodies[i].skinCount > skins ? def->bodies[i].skinCount : skins;
    }

    world->rowCapacity = rows;
    size_t n = (size_t)rows, own = (size_t)bodyRows;

    // Copies of what is given.
    world->solids = snwCopyArray(context, def->solids, (size_t)def->solidCount, sizeof *def->solids);
    world->probes = snwCopyArray(context, def->probes, (size_t)def->probeCount, sizeof *def->probes);
    if (def->frictions != NULL)
        world->frictions = snwCopyArray(
            context, def->frictions, (size_t)def->bodyCount * (size_t)def->solidCount, sizeof *def->frictions);
    if (def->skinFrictions != NULL)
        world->skinFrictions = snwCopyArray(
            context, def->skinFrictions, (size_t)def->bodyCount * (size_t)def->bodyCount, sizeof *def->skinFrictions);

    // What was found, and the problem that is made of it: W, compliances, q, lambda and scratch in one piece.
    world->memory = snwAllocArray(context, (size_t)def->contactCapacity, sizeof *world->memory);
    world->contacts = snwAllocArray(context, (size_t)def->contactCapacity, sizeof *world->contacts);
    world->ties = snwAllocArray(context, (size_t)def->tieCapacity, sizeof *world->ties);
    world->tieParts = snwAllocArray(context, (size_t)def->tiePartCapacity, sizeof *world->tieParts);
    world->blocks = snwAllocArray(context, n, sizeof *world->blocks);
    world->w = snwAllocArray(context, n * n + 4 * n + snwCoulomb_ScratchCount(rows), sizeof *world->w);

    // Rows of one body at a time.
    world->rows = snwAllocArray(context, (own + 1) * (size_t)freedom, sizeof *world->rows);
    world->panels = snwAllocArray(context, snwDense_PanelCount(bodyRows, freedom), sizeof *world->panels);
    world->gram = snwAllocArray(context, own * own, sizeof *world->gram);
    world->index = snwAllocArray(context, own, sizeof *world->index);

    world->order = snwAllocArray(context, (size_t)def->contactCapacity, sizeof *world->order);
    world->islandOf = snwAllocArray(context, (size_t)def->bodyCount, sizeof *world->islandOf);
    world->jointRows = snwAllocArray(context, (size_t)def->bodyCount, sizeof *world->jointRows);
    world->wakes = snwAllocArray(context, 2 * (size_t)skins, sizeof *world->wakes);

    if (world->w == NULL || world->wakes == NULL)
        return false;
    world->compliance = world->w + n * n, world->q = world->compliance + n;
    world->lambda = world->q + n, world->scratch = world->lambda + n;
    world->sleeps = world->wakes + skins;

    return world->solids != NULL && world->probes != NULL && world->memory != NULL && world->contacts != NULL &&
           world->blocks != NULL && world->rows != NULL && world->panels != NULL && world->gram != NULL &&
           world->ties != NULL && world->tieParts != NULL && world->index != NULL && world->order != NULL &&
           world->islandOf != NULL && world->jointRows != NULL &&
           (def->frictions == NULL || world->frictions != NULL) &&
           (def->skinFrictions == NULL || world->skinFrictions != NULL);
}

snwResult snwSoftWorld_Create(snwContext* context, const snwSoftWorldDef* def, snwSoftWorld* world, snwMessage* message)
{
    *world = (snwSoftWorld){.context = context, .def = *def};
    for (int i = 0; i < def->solidCount; ++i)
        if (def->solids[i].body >= def->bodyCount ||
            (def->solids[i].body >= 0 && def->solids[i].link >= def->bodies[def->solids[i].body].tree.linkCount))
            return snwFail(message, snw_errorArgument, NULL, "solid %d is on a body or link that is not there", i);

    for (int i = 0; i < def->probeCount; ++i)
        if (def->probes[i].body < 0 || def->probes[i].body >= def->bodyCount ||
            def->probes[i].link >= def->bodies[def->probes[i].body].tree.linkCount)
            return snwFail(message, snw_errorArgument, NULL, "probe %d is on a body or link that is not there", i);

    // Room for the largest skin.
    int most = 0;
    for (int i = 0; i < def->bodyCount; ++i)
        for (int s = 0; s < def->bodies[i].skinCount; ++s)
            most = def->bodies[i].skins[s].count > most ? def->bodies[i].skins[s].count : most;

    snwResult result = AllocateWorld(world) ? snw_ok : snwFailMemory(message);
    if (result == snw_ok)
        result = snwSkinSearch_Create(context, most, &world->search, message);
    if (result != snw_ok)
        snwSoftWorld_Free(world);
    return result;
}

void snwSoftWorld_Free(snwSoftWorld* world)
{
    void* all[] = {world->solids, world->probes, world->frictions, world->skinFrictions, world->memory, world->contacts,
        world->ties, world->tieParts, world->blocks, world->w, world->rows, world->panels, world->gram, world->index,
        world->order, world->islandOf, world->jointRows, (void*)world->wakes};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        snwFree(world->context, all[i]);
    if (world->search.context != NULL)
        snwSkinSearch_Free(&world->search);
    *world = (snwSoftWorld){.context = world->context};
}

// ---------------------------------------------------------------------------------------------------------------------
// Who touches what

static snwTransform LinkPlace(const snwSoftWorld* world, int body, int link, snwTransform place)
{
    const snwBodyTree* tree = &world->def.bodies[body].tree;
    snwTransform at = {tree->points[link], tree->rotations[link]};
    return snwTransform_Compose(at, place);
}

// Puts a contact in its place by its key; when there is no room, the farthest goes.
static void AddContact(snwSoftWorld* world, const snwSoftContact* contact)
{
    if (world->contactCount == world->def.contactCapacity)
    {
        ++world->left;
        int at = 0;
        for (int i = 1; i < world->contactCount; ++i)
            at = world->contacts[i].gap > world->contacts[at].gap ? i : at;
        if (at == world->contactCount || contact->gap >= world->contacts[at].gap)
            return;
        --world->contactCount;
        memmove(world->contacts + at, world->contacts + at + 1, (size_t)(world->contactCount - at) * sizeof *contact);
    }
    int at = world->contactCount++;
    for (; at > 0 && world->contacts[at - 1].key > contact->key; --at)
        world->contacts[at] = world->contacts[at - 1];
    world->contacts[at] = *contact;
}

static double FrictionOfPair(const snwSoftWorld* world, int body, int solid)
{
    return world->frictions != NULL ? world->frictions[body * world->def.solidCount + solid]
                                    : world->solids[solid].collider.def.friction;
}

// Names what touches where, for whoever starts with the impulses of the step before.
static int64_t KeyOfTouch(const snwSoftWorld* world, int64_t probe, int solid)
{
    int64_t solids = world->def.solidCount;
    for (int b = 0; b < world->def.bodyCount; ++b)
        solids += world->def.bodies[b].skinCount;
    return probe * solids + solid;
}

// When the step begins.
static snwVec3 VelocityNow(const snwSoftBody* body, const snwSoftTouch* touch)
{
    const snwPointSkin* skin = touch->skin < 0 ? NULL : &body->skins[touch->skin];
    if (skin == NULL || !skin->awake[touch->point])
        return snwSoftBody_Velocity(body, touch);
    return snwVec3_Add(skin->v[touch->point], snwVec3_Cross(body->tree.twists[touch->link].turn, touch->arm));
}

static snwVec3 PartVelocity(const snwSoftWorld* world, int body, const snwSoftTiePart* parts, int count)
{
    snwVec3 v = {0, 0, 0};
    for (int p = 0; p < count; ++p)
        v = snwVec3_MulAdd(v, parts[p].share, VelocityNow(&world->def.bodies[body], &parts[p].touch));
    return v;
}

// A ball at a point that moves, against all solids.
static void Probe(snwSoftWorld* world, const snwSoftSettings* settings, snwSoftContact* contact, snwVec3 velocity,
    double radius, int64_t key)
{
    snwVec3 centre = contact->touch.at;
    for (int i = 0; i < world->def.solidCount; ++i)
    {
        const snwSoftSolid* solid = &world->solids[i];
        if (solid->body == contact->body)
            continue;

        // How near the ball is, and how both sides move there.
        snwTransform place = solid->body < 0 ? solid->place : LinkPlace(world, solid->body, solid->link, solid->place);
        snwTouch touch = snwCollider_Touch(&solid->collider, place, centre);
        double gap = -touch.depth - radius;
        snwVec3 at = snwVec3_MulAdd(centre, -radius, touch.normal), drift = {0, 0, 0};

        if (solid->body < 0)
            drift = snwVec3_Scale(snwCollider_Motion(solid->before, solid->place, at), 1 / settings->h);
        contact->otherCount = solid->body < 0 ? 0 : 1;
        contact->others[0] = (snwSoftTiePart){{.skin = -1, .link = solid->link, .at = at}, 1};
        snwVec3 there = solid->body < 0 ? drift : PartVelocity(world, solid->body, contact->others, 1);

        // Kept if it may meet within the step.
        double closing = -snwVec3_Dot(touch.normal, snwVec3_Sub(velocity, there));
        if (!(gap < settings->margin + 2 * settings->h * fmax(closing, 0)))
            continue;

        contact->key = KeyOfTouch(world, key, i);
        contact->solid = i, contact->otherBody = solid->body;
        contact->gap = gap, contact->normal = touch.normal, contact->drift = drift;
        contact->slip = snwVec3_Sub(velocity, there);
        contact->friction = FrictionOfPair(world, contact->body, i);
        snwSoftContact own = *contact;
        own.touch.at = at;
        AddContact(world, &own);
    }
}

static snwSoftContact PointContact(const snwSoftWorld* world, int b, int s, int point)
{
    return (snwSoftContact){
        .probe = -1, .body = b, .touch = {.skin = s, .point = point, .at = world->def.bodies[b].skins[s].x[point]}};
}

// How far apart skins may be to meet within this step: not more than twice what their edges are long, about.
static double ReachOfStep(const snwSoftSettings* settings, const snwSoftBody* one, const snwSoftBody* two, double edge)
{
    double fastest = 0;
    for (int side = 0; side < 2; ++side)
    {
        const snwBodyTree* tree = side == 0 ? &one->tree : &two->tree;
        for (int i = 0; i < tree->linkCount; ++i)
        {
            snwVec3 v = snwSpatial_At(tree->twists[i], snwVec3_Sub(tree->points[i], tree->origin));
            fastest = fmax(fastest, snwVec3_Length(v) + snwVec3_Length(tree->twists[i].turn) * edge);
        }
    }
    return settings->margin + fmin(fmax(0.5 * edge, 4 * settings->h * fastest), 2 * edge);
}

static double MeanSkinEdge(const snwPointSkin* skin)
{
    double sum = 0;
    for (int t = 0; t < skin->triangleCount; ++t)
        sum += snwVec3_Distance(skin->x[skin->triangles[t][0]], skin->x[skin->triangles[t][1]]);
    return skin->triangleCount > 0 ? sum / skin->triangleCount : 0;
}

// Points of one skin against the surface of another, the number `number` of all, or of its own.
static void MeetSkin(snwSoftWorld* world, const snwSoftSettings* settings, int64_t key, int b, int s, int otherBody,
    int otherSkin, int number)
{
    const snwSoftBody *body = &world->def.bodies[b], *other = &world->def.bodies[otherBody];
    const snwPointSkin *from = &body->skins[s], *onto = &other->skins[otherSkin];
    double reach = ReachOfStep(settings, body, other, MeanSkinEdge(onto));
    if (!snwSkinSearch_Find(&world->search, from, onto, &other->tree, reach))
        return;

    // Each point that has found a triangle: its weights at the corners are shares of what it pushes.
    for (int i = 0; i < from->count; ++i)
    {
        const snwSkinTouch* touch = &world->search.touches[i];
        if (touch->triangle < 0)
            continue;

        snwSoftContact contact = PointContact(world, b, s, i);
        contact.otherBody = otherBody, contact.otherCount = 3, contact.solid = world->def.solidCount + number;
        for (int c = 0; c < 3; ++c)
        {
            int corner = onto->triangles[touch->triangle][c];
            snwSoftTouch at = {.skin = otherSkin, .point = corner, .link = snwPointSkin_MainLink(onto, corner)};
            at.arm = snwVec3_Sub(from->x[i], onto->x[corner]), at.at = from->x[i];
            contact.others[c] = (snwSoftTiePart){at, touch->weights[c]};
        }

        contact.slip = snwVec3_Sub(
            VelocityNow(body, &contact.touch), PartVelocity(world, otherBody, contact.others, 3));
        contact.gap = touch->gap, contact.normal = touch->normal;
        double closing = -snwVec3_Dot(touch->normal, contact.slip);
        if (!(contact.gap < settings->margin + 2 * settings->h * fmax(closing, 0)))
            continue;

        contact.key = KeyOfTouch(world, key + i, contact.solid);
        contact.friction = world->skinFrictions != NULL ? world->skinFrictions[b * world->def.bodyCount + otherBody]
                                                        : s_skinFriction;
        AddContact(world, &contact);
    }
}

// By keys that grow: skins first, body by body, then probes.
static void FindContacts(snwSoftWorld* world, const snwSoftSettings* settings)
{
    int64_t key = 0;
    world->contactCount = 0;
    for (int b = 0; b < world->def.bodyCount; ++b)
    {
        const snwSoftBody* body = &world->def.bodies[b];
        for (int s = 0; s < body->skinCount; ++s)
        {
            const snwPointSkin* skin = &body->skins[s];

            // A point against solids, then all points of its skin against the surfaces of others; in one body only
            // where limbs may meet.
            for (int i = 0; i < skin->count; ++i, ++key)
            {
                snwSoftContact contact = PointContact(world, b, s, i);
                Probe(world, settings, &contact, VelocityNow(body, &contact.touch), 0, key);
            }

            for (int o = 0, number = 0; o < world->def.bodyCount; ++o)
                for (int t = 0; t < world->def.bodies[o].skinCount; ++t, ++number)
                    if (o != b || t != s || body->tree.linkCount > 2)
                        MeetSkin(world, settings, key - skin->count, b, s, o, t, number);
        }
    }

    for (int p = 0; p < world->def.probeCount; ++p, ++key)
    {
        const snwSoftProbe* probe = &world->probes[p];
        snwTransform at = LinkPlace(world, probe->body, probe->link, (snwTransform){probe->at, snwQuat_Identity()});
        snwSoftContact contact = {
            .probe = p, .body = probe->body, .touch = {.skin = -1, .link = probe->link, .at = at.position}};
        snwVec3 v = snwSoftBody_Velocity(&world->def.bodies[probe->body], &contact.touch);
        Probe(world, settings, &contact, v, probe->radius, key);
    }

    // Two directions across each normal.
    for (int c = 0; c < world->contactCount; ++c)
    {
        snwSoftContact* contact = &world->contacts[c];
        contact->tangents[0] = snwVec3_Perpendicular(contact->normal);
        contact->tangents[1] = snwVec3_Cross(contact->normal, contact->tangents[0]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Who is soft

static bool IsAtRest(const snwSoftBody* body, int s, int i, double rest)
{
    const snwPointSkin* skin = &body->skins[s];
    snwVec3 slip = snwVec3_Sub(skin->v[i], snwPointSkin_Carried(skin, &body->tree, i));
    return snwVec3_Length(skin->offsets[i]) <= rest && snwVec3_Length(slip) * s_settle <= rest;
}

// Points that touch, and their neighbours, wake; what is awake otherwise sleeps once it has come to rest.
static snwResult Adapt(snwSoftWorld* world, const snwSoftSettings* settings, snwMessage* message)
{
    for (int b = 0; b < world->def.bodyCount; ++b)
    {
        snwSoftBody* body = &world->def.bodies[b];
        for (int s = 0; s < body->skinCount; ++s)
        {
            snwPointSkin* skin = &body->skins[s];

            // Who touches, on either side.
            memset(skin->wake, settings->soft && !settings->rigid, (size_t)skin->count);
            for (int c = 0; c < world->contactCount && !settings->rigid; ++c)
            {
                const snwSoftContact* contact = &world->contacts[c];
                if (contact->body == b && contact->touch.skin == s)
                    skin->wake[contact->touch.point] = 1;
                for (int o = 0; o < contact->otherCount; ++o)
                    if (contact->otherBody == b && contact->others[o].touch.skin == s && contact->others[o].share > 0)
                        skin->wake[contact->others[o].touch.point] = 1;
            }

            for (int t = 0; t < world->tieCount && !settings->rigid; ++t)
                for (int p = world->ties[t].first; p < world->ties[t].first + world->ties[t].count; ++p)
                    if (world->ties[t].body == b && world->tieParts[p].touch.skin == s)
                        skin->wake[world->tieParts[p].touch.point] = 1;

            // And whoever is near to that; the others sleep when they have come to rest.
            snwPointSkin_SpreadMarks(skin, settings->rings, skin->wake);
            for (int i = 0; i < skin->count; ++i)
                skin->sleep[i] = skin->awake[i] && !skin->wake[i] &&
                                 (settings->rigid || IsAtRest(body, s, i, settings->rest));
            world->wakes[s] = skin->wake, world->sleeps[s] = skin->sleep;
        }

        snwResult result = snwSoftBody_Soften(body, world->wakes);
        if (result == snw_ok)
            result = snwSoftBody_Harden(body, world->sleeps, message);
        if (result != snw_ok)
            return result;
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The problem

static void PutJointBlock(snwSoftWorld* world, snwCoulombKind kind, int row, double q)
{
    world->blocks[world->blockCount++] = (snwCoulombBlock){.kind = kind, .row = row};
    world->q[row] = q;
}

// Rows of a body's loops, and of its limits that may be met in this step, into world->rows; they go behind the rows
// that there are. Returns how many.
static int JointRows(snwSoftWorld* world, const snwSoftSettings* settings, const snwSoftBody* body)
{
    const snwBodyTree* tree = &body->tree;
    int n = tree->freedom, count = 0;

    // Loops: open by so much, closed at that over h.
    for (int i = 0; i < body->loopCount; ++i)
    {
        double error[6];
        int made = snwBodyTree_LoopRows(tree, &body->loops[i], error, world->rows + count * n);
        for (int r = 0; r < made; ++r, ++count)
            PutJointBlock(world, snw_coulombEqual, world->rowCount + count, error[r] / settings->h);
    }

    // Limits that the free motion comes near to.
    for (int i = 0; i < tree->linkCount; ++i)
    {
        snwLinkLimit limits[snw_maxLinkLimits];
        int made = snwBodyTree_Limits(tree, i, &body->poses[i], limits);
        for (int l = 0; l < made; ++l)
        {
            double speed = 0, *row = world->rows + count * n;
            for (int k = 0; k < limits[l].count; ++k)
                speed += limits[l].gradient[k] * body->next[limits[l].first + k];
            if (limits[l].gap > s_nearLimit + 2 * settings->h * fmax(-speed, 0))
                continue;
            memset(row, 0, (size_t)n * sizeof *row);
            memcpy(row + limits[l].first, limits[l].gradient, (size_t)limits[l].count * sizeof *row);

            // A gap below 0 is taken back in part.
            double part = limits[l].gap > 0 ? 1 : settings->recover;
            PutJointBlock(world, snw_coulombAtLeast, world->rowCount + count++, part * limits[l].gap / settings->h);
        }
    }

    return count;
}

static snwVec3 ContactAxis(const snwSoftContact* contact, int c)
{
    return c == 0 ? contact->normal : contact->tangents[c - 1];
}

static snwSoftContact* SoftContactAt(const snwSoftWorld* world, int place)
{
    return &world->contacts[world->order[world->island.first + place]];
}

// row += that of a touch; behind it is room for one.
static void AddTouchRow(const snwSoftBody* body, const snwSoftTouch* touch, snwVec3 direction, double* row)
{
    int n = body->tree.freedom;
    snwSoftBody_Row(body, touch, direction, row + n);
    for (int k = 0; k < n; ++k)
        row[k] += row[n + k];
}

// row <- that of a tie's mean.
static void TieRow(const snwSoftWorld* world, const snwSoftTie* tie, int c, double* row)
{
    const snwSoftBody* body = &world->def.bodies[tie->body];
    const snwVec3 axis = {c == 0, c == 1, c == 2};
    int n = body->tree.freedom;
    memset(row, 0, (size_t)n * sizeof *row);
    for (int p = tie->first; p < tie->first + tie->count; ++p)
        AddTouchRow(body, &world->tieParts[p].touch, snwVec3_Scale(axis, world->tieParts[p].share), row);
}

// world->rows and index from `count` on: those of the contacts and ties that a body has part in.
static int TouchRows(snwSoftWorld* world, int b, int count)
{
    const snwSoftBody* body = &world->def.bodies[b];
    int n = body->tree.freedom;
    for (int c = 0; c < world->island.contacts; ++c)
    {
        const snwSoftContact* contact = SoftContactAt(world, c);
        if (contact->body != b && contact->otherBody != b)
            continue;

        // Along each axis: what the body has of the one side, less what it has of the other.
        for (int d = 0; d < 3; ++d, ++count)
        {
            double* row = world->rows + (size_t)count * (size_t)n;
            memset(row, 0, (size_t)n * sizeof *row);
            if (contact->body == b)
                AddTouchRow(body, &contact->touch, ContactAxis(contact, d), row);
            for (int o = 0; o < contact->otherCount && contact->otherBody == b; ++o)
                AddTouchRow(body, &contact->others[o].touch,
                    snwVec3_Scale(ContactAxis(contact, d), -contact->others[o].share), row);
            world->index[count] = 3 * c + d;
        }
    }

    // Ties, wherever they hold it.
    for (int t = 0; t < world->tieCount; ++t)
        for (int d = 0; d < 3 && world->ties[t].body == b; ++d, ++count)
        {
            TieRow(world, &world->ties[t], d, world->rows + (size_t)count * (size_t)n);
            world->index[count] = world->ties[t].islandRow + d;
        }

    return count;
}

static double* IslandEntry(const snwSoftWorld* world, int row, int column)
{
    return &world->w[(size_t)row * (size_t)world->rowCapacity + (size_t)column];
}

// W of what a body's rows do to each other through its links; its joints' rows are added.
static void AddBodyRows(snwSoftWorld* world, const snwSoftSettings* settings, int b)
{
    const snwSoftBody* body = &world->def.bodies[b];
    int joints = JointRows(world, settings, body), n = body->tree.freedom, first = world->rowCount;

    // Velocities that joints have without any impulse.
    for (int r = 0; r < joints; ++r)
    {
        world->index[r] = first + r;
        for (int k = 0; k < n; ++k)
            world->q[first + r] += world->rows[r * n + k] * body->next[k];
    }

    int count = TouchRows(world, b, joints);
    world->jointRows[b] = world->island.rows + first;
    world->rowCount += joints;
    if (count == 0)
        return;

    // J A^-1 J^T, added to what other bodies have put there.
    snwSoftBody_Couple(body, count, world->rows, world->panels, world->gram);
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j)
            *IslandEntry(world, world->index[i], world->index[j]) += world->gram[i * count + j];

    for (int r = first; r < first + joints; ++r)
        world->compliance[r] = s_jointYield * *IslandEntry(world, r, r);
}

// How much faster what a contact feels on a body is by an impulse of 1 at a point of it, besides what the links do.
static double ContactCompliance(
    const snwSoftWorld* world, const snwSoftContact* contact, int body, const snwSoftTouch* touch)
{
    double sum = 0;
    if (contact->body == body)
        sum += snwSoftBody_Compliance(&contact->touch, touch, &world->def.bodies[body]);
    for (int o = 0; o < contact->otherCount && contact->otherBody == body; ++o)
        sum -= contact->others[o].share *
               snwSoftBody_Compliance(&contact->others[o].touch, touch, &world->def.bodies[body]);
    return sum;
}

// W of points of one skin, besides.
static void AddSkins(snwSoftWorld* world)
{
    for (int a = 0; a < world->island.contacts; ++a)
        for (int b = 0; b < world->island.contacts; ++b)
        {
            const snwSoftContact *one = SoftContactAt(world, a), *two = SoftContactAt(world, b);
            double g = ContactCompliance(world, two, one->body, &one->touch);
            for (int o = 0; o < one->otherCount; ++o)
                g -= one->others[o].share * ContactCompliance(world, two, one->otherBody, &one->others[o].touch);
            for (int c = 0; c < 3 && g != 0; ++c)
                for (int d = 0; d < 3; ++d)
                    *IslandEntry(world, 3 * a + c, 3 * b + d) += g *
                                                                 snwVec3_Dot(ContactAxis(one, c), ContactAxis(two, d));
        }
}

// How much faster what a tie holds is by an impulse of 1 there, besides what the links do.
static double TieCompliance(const snwSoftWorld* world, const snwSoftTie* tie, const snwSoftTouch* touch)
{
    double sum = 0;
    for (int p = tie->first; p < tie->first + tie->count; ++p)
        sum += world->tieParts[p].share *
               snwSoftBody_Compliance(&world->tieParts[p].touch, touch, &world->def.bodies[tie->body]);
    return sum;
}

// The same with what ties hold.
static void AddTies(snwSoftWorld* world, int island)
{
    for (int t = 0; t < world->tieCount; ++t)
    {
        const snwSoftTie* tie = &world->ties[t];
        if (world->islandOf[tie->body] != island)
            continue;

        // What the tie and each contact do to each other beside the links: the same along all axes.
        for (int c = 0; c < world->island.contacts; ++c)
        {
            const snwSoftContact* contact = SoftContactAt(world, c);
            double g = 0;
            for (int p = tie->first; p < tie->first + tie->count; ++p)
                g += world->tieParts[p].share * ContactCompliance(world, contact, tie->body, &world->tieParts[p].touch);
            for (int d = 0; d < 3 && g != 0; ++d)
            {
                const snwVec3 axis = ContactAxis(contact, d);
                const double along[3] = {axis.x, axis.y, axis.z};
                for (int e = 0; e < 3; ++e)
                {
                    *IslandEntry(world, 3 * c + d, tie->islandRow + e) += g * along[e];
                    *IslandEntry(world, tie->islandRow + e, 3 * c + d) += g * along[e];
                }
            }
        }

        // And ties to each other.
        for (int o = 0; o < world->tieCount; ++o)
        {
            const snwSoftTie* other = &world->ties[o];
            double g = 0;
            for (int p = other->first; p < other->first + other->count && other->body == tie->body; ++p)
                g += world->tieParts[p].share * TieCompliance(world, tie, &world->tieParts[p].touch);
            for (int d = 0; d < 3 && g != 0; ++d)
                *IslandEntry(world, tie->islandRow + d, other->islandRow + d) += g;
        }
    }
}

// What a tie asks for, and how much it yields.
static void PutTie(snwSoftWorld* world, snwSoftTie* tie)
{
    int row = tie->islandRow;
    snwVec3 v = snwVec3_Negate(tie->velocity);
    for (int p = tie->first; p < tie->first + tie->count; ++p)
    {
        const snwSoftTiePart* part = &world->tieParts[p];
        v = snwVec3_MulAdd(v, part->share, snwSoftBody_Velocity(&world->def.bodies[tie->body], &part->touch));
    }
    world->blocks[row / 3] = (snwCoulombBlock){.kind = snw_coulombBall, .row = row, .most = tie->most};
    world->q[row] = v.x, world->q[row + 1] = v.y, world->q[row + 2] = v.z;
    for (int d = 0; d < 3; ++d)
        world->compliance[row + d] = tie->yield + (tie->give + s_jointYield) * *IslandEntry(world, row + d, row + d);
    tie->row = world->island.rows + row;
}

static bool IsHard(const snwSoftBody* body, const snwSoftTouch* touch)
{
    return touch->skin < 0 || !body->skins[touch->skin].awake[touch->point];
}

// Velocities that contacts ask for, and how much they yield.
static void PutContact(snwSoftWorld* world, const snwSoftSettings* settings, int c)
{
    snwSoftContact* contact = SoftContactAt(world, c);
    int row = 3 * c;
    double h = settings->h;

    // How fast the sides move against each other without an impulse.
    const snwSoftBody* body = &world->def.bodies[contact->body];
    snwVec3 v = snwVec3_Sub(snwSoftBody_Velocity(body, &contact->touch), contact->drift);

    contact->rigid = IsHard(body, &contact->touch);
    for (int o = 0; o < contact->otherCount; ++o)
    {
        const snwSoftBody* other = &world->def.bodies[contact->otherBody];
        const snwSoftTouch* touch = &contact->others[o].touch;
        v = snwVec3_MulAdd(v, -contact->others[o].share, snwSoftBody_Velocity(other, touch));
        contact->rigid = contact->rigid && IsHard(other, touch);
    }

    // Spring and damper where both sides are hard, as compliance and the part of a gap that is taken back.
    double part = settings->recover, firm = settings->stiffness * h + settings->damping;
    world->blocks[c] = (snwCoulombBlock){.kind = snw_coulombFriction, .row = row, .friction = contact->friction};
    for (int d = 0; d < 3; ++d)
    {
        world->q[row + d] = snwVec3_Dot(ContactAxis(contact, d), v);
        world->compliance[row + d] = contact->rigid ? settings->compliance * *IslandEntry(world, row + d, row + d) : 0;
    }

    if (contact->rigid && firm > 0)
    {
        part = settings->stiffness * h / firm;
        world->compliance[row] = 1 / (h * firm);
    }

    // What is deep is led out in part, and at a bearable speed: else the shorter the step, the harder it is thrown.
    world->q[row] += contact->gap > 0 ? contact->gap / h : fmax(part * contact->gap / h, -settings->leave);
}

// What the same contact had in the step before.
static void PutLastImpulses(snwSoftWorld* world, double* lambda)
{
    for (int c = 0, m = 0; c < world->island.contacts; ++c)
    {
        snwSoftContact* contact = SoftContactAt(world, c);
        while (m < world->memoryCount && world->memory[m].key < contact->key)
            ++m;
        bool known = m < world->memoryCount && world->memory[m].key == contact->key;
        for (int d = 0; d < 3; ++d)
            lambda[3 * c + d] = known ? snwVec3_Dot(ContactAxis(contact, d), world->memory[m].impulse) : 0;
        contact->row = world->island.rows + 3 * c;
    }
}

// Bodies that touch each other, and whom these touch, have one number: the least of theirs.
static void FindIslands(snwSoftWorld* world)
{
    for (int b = 0; b < world->def.bodyCount; ++b)
        world->islandOf[b] = b;
    for (bool changed = true; changed;)
    {
        changed = false;
        for (int c = 0; c < world->contactCount; ++c)
        {
            const snwSoftContact* contact = &world->contacts[c];
            if (contact->otherBody < 0)
                continue;
            int *one = &world->islandOf[contact->body], *two = &world->islandOf[contact->otherBody];
            int least = *one < *two ? *one : *two;
            changed = changed || *one != *two;
            *one = *two = least;
        }
    }
}

// An island: rows of its contacts first, three each, then those of its ties, then those of its bodies' joints.
static void SolveSoftIsland(snwSoftWorld* world, const snwSoftSettings* settings, int island)
{
    // Rows of ties and room for joints; W is cleared as far as it may be filled.
    world->island.blocks = world->island.contacts;
    for (int t = 0; t < world->tieCount; ++t)
        if (world->islandOf[world->ties[t].body] == island)
            world->ties[t].islandRow = 3 * world->island.blocks++;

    int first = 3 * world->island.blocks, most = first;
    for (int b = 0; b < world->def.bodyCount; ++b)
        most += world->islandOf[b] == island ? JointRoom(&world->def.bodies[b]) : 0;
    for (int i = 0; i < most; ++i)
        memset(IslandEntry(world, i, 0), 0, (size_t)most * sizeof *world->w);

    world->rowCount = first, world->blockCount = world->island.blocks;
    double* lambda = world->lambda + world->island.rows;

    for (int b = 0; b < world->def.bodyCount; ++b)
        if (world->islandOf[b] == island)
            AddBodyRows(world, settings, b);

    AddSkins(world);
    AddTies(world, island);

    // What contacts and ties ask for, and what to start from.
    for (int c = 0; c < world->island.contacts; ++c)
        PutContact(world, settings, c);
    PutLastImpulses(world, lambda);

    for (int t = 0; t < world->tieCount; ++t)
        if (world->islandOf[world->ties[t].body] == island)
            PutTie(world, &world->ties[t]);

    for (int r = 3 * world->island.contacts; r < world->rowCount; ++r)
        lambda[r] = 0;

    snwCoulombDef def = {.rows = world->rowCount,
        .blockCount = world->blockCount,
        .blocks = world->blocks,
        .w = world->w,
        .stride = world->rowCapacity,
        .compliance = world->compliance,
        .q = world->q,
        .shape = settings->shape,
        .start = settings->start,
        .newtons = settings->newtons,
        .sweeps = settings->sweeps,
        .tolerance = settings->tolerance,
        .kernels = snwCholesky_Kernels(world->context->simd),
        .lambda = lambda,
        .scratch = world->scratch};

    // Looked at, solved, and counted.
    if (world->watch != NULL)
        world->watch(world->watcher, &def);
    snwCoulombReport report = snwCoulomb_Solve(&def);

    world->report.newtons += report.newtons, world->report.sweeps += report.sweeps;
    world->report.residual = fmax(world->report.residual, report.residual);
    world->report.solved = world->report.solved && report.solved;
    world->problems += world->rowCount > 0;
    world->failures += !report.solved;
}

static void SolveWorld(snwSoftWorld* world, const snwSoftSettings* settings)
{
    world->report = (snwCoulombReport){.solved = true};
    world->island.first = world->island.rows = 0;
    FindIslands(world);
    for (int island = 0; island < world->def.bodyCount; ++island)
    {
        if (world->islandOf[island] != island)
            continue;
        world->island.contacts = 0;
        for (int c = 0; c < world->contactCount && !settings->penalty; ++c)
            if (world->islandOf[world->contacts[c].body] == island)
                world->order[world->island.first + world->island.contacts++] = c;
        SolveSoftIsland(world, settings, island);
        world->island.first += world->island.contacts;
        world->island.rows += world->rowCount;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The step

static void PushContact(snwSoftWorld* world, const snwSoftContact* contact)
{
    snwSoftBody_Push(&world->def.bodies[contact->body], &contact->touch, contact->impulse);
    for (int o = 0; o < contact->otherCount; ++o)
        snwSoftBody_Push(&world->def.bodies[contact->otherBody], &contact->others[o].touch,
            snwVec3_Scale(contact->impulse, -contact->others[o].share));
}

// Contacts by springs and dampers.
static void Penalize(snwSoftWorld* world, const snwSoftSettings* settings)
{
    for (int c = 0; c < world->contactCount; ++c)
    {
        snwSoftContact* contact = &world->contacts[c];
        double speed = snwVec3_Dot(contact->slip, contact->normal), depth = fmax(-contact->gap, 0);
        double push = fmax(0, settings->penaltyStiffness * depth - settings->penaltyDamping * speed);
        snwVec3 slide = snwVec3_MulAdd(contact->slip, -speed, contact->normal);
        double sliding = snwVec3_Length(slide), rub = settings->penaltyDamping;
        if (rub * sliding > contact->friction * push)
            rub = contact->friction * push / sliding;
        snwVec3 force = snwVec3_MulAdd(snwVec3_Scale(contact->normal, push), -rub, slide);
        contact->impulse = snwVec3_Scale(force, contact->gap < 0 ? settings->h : 0);
        PushContact(world, contact);
    }
    for (int b = 0; b < world->def.bodyCount; ++b)
        snwSoftBody_Absorb(&world->def.bodies[b]);
}

static void ApplyImpulses(snwSoftWorld* world, const snwSoftSettings* settings)
{
    world->memoryCount = 0;

    // Contacts; what they push is kept to start from.
    for (int c = 0; c < world->contactCount && !settings->penalty; ++c)
    {
        snwSoftContact* contact = &world->contacts[c];
        contact->impulse = (snwVec3){0, 0, 0};
        for (int d = 0; d < 3; ++d)
            contact->impulse = snwVec3_MulAdd(
                contact->impulse, world->lambda[contact->row + d], ContactAxis(contact, d));
        if (world->lambda[contact->row] == 0)
            continue;
        PushContact(world, contact);
        world->memory[world->memoryCount++] = (snwSoftMemory){contact->key, contact->impulse};
    }

    // Ties, each in the parts that it holds.
    for (int t = 0; t < world->tieCount; ++t)
    {
        snwSoftTie* tie = &world->ties[t];
        const double* lambda = world->lambda + tie->row;
        tie->impulse = (snwVec3){lambda[0], lambda[1], lambda[2]};
        for (int p = tie->first; p < tie->first + tie->count; ++p)
        {
            snwVec3 part = snwVec3_Scale(tie->impulse, world->tieParts[p].share);
            snwSoftBody_Push(&world->def.bodies[tie->body], &world->tieParts[p].touch, part);
        }
    }

    // Joints: the same rows once more.
    world->rowCount = world->blockCount = 0;
    for (int b = 0; b < world->def.bodyCount; ++b)
    {
        snwSoftBody* body = &world->def.bodies[b];
        int joints = JointRows(world, settings, body);
        for (int r = 0; r < joints; ++r)
            snwSoftBody_PushJoint(body, world->rows + r * body->tree.freedom, world->lambda[world->jointRows[b] + r]);
    }
}

snwResult snwSoftWorld_Step(
    snwSoftWorld* world, const snwSoftSettings* settings, const snwSoftStep* others, snwMessage* message)
{
    FindContacts(world, settings);
    snwResult result = Adapt(world, settings, message);

    // How every body would move by itself.
    for (int b = 0; b < world->def.bodyCount && result == snw_ok; ++b)
    {
        snwSoftStep step = others != NULL ? others[b] : (snwSoftStep){.h = 0};
        step.h = settings->h, step.gravity = settings->gravity, step.implicit = settings->implicit;
        step.literal = settings->literal;
        result = snwSoftBody_Begin(&world->def.bodies[b], &step, message);
    }

    if (result != snw_ok)
        return result;
    if (settings->penalty)
        Penalize(world, settings);

    double began = snwClock_ThreadSeconds();
    SolveWorld(world, settings);
    world->problemTime += snwClock_ThreadSeconds() - began;

    ApplyImpulses(world, settings);
    for (int b = 0; b < world->def.bodyCount; ++b)
        snwSoftBody_End(&world->def.bodies[b]);
    return snw_ok;
}
