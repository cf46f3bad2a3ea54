// What is prepared from a character, and the state of a body.

#include "sim/layout.h"
#include "sim/origin.h"
#include "sim/softcontact/softcontact.h"

#include "math/rows.h"
#include "rig/handles.h"
#include "rig/skeleton.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Links

static double Own(const snwModelDef* def, int param)
{
    return def->params[snw_sharedParamCount + param];
}

static int FirstJointOf(const snwCharacterDef* character, int bone)
{
    for (int j = 0; j < character->jointCount; ++j)
        if (character->joints[j].bone == bone)
            return j;
    return -1;
}

// The first bone that has no link yet and whose joint's other side has one; -1: all that are left hang in circles.
static int NextBone(const snwSoftModel* model, const snwCharacterDef* character)
{
    for (int b = 0; b < character->boneCount; ++b)
    {
        int joint = FirstJointOf(character, b), parent = joint < 0 ? -1 : character->joints[joint].parentBone;
        if (model->linkOfBone[b] < 0 && (parent < 0 || model->linkOfBone[parent] >= 0))
            return b;
    }
    return -1;
}

// A body's bones become links, parents first. A bone hangs on the bone of its first joint; joints beyond that, and
// those that would close a circle, are loops.
static void PlaceLinks(snwSoftModel* model, const snwCharacterDef* character)
{
    int bones = character->boneCount;
    for (int b = 0; b < bones; ++b)
        model->linkOfBone[b] = -1;
    for (int j = 0; j < character->jointCount; ++j)
        model->linkOfJoint[j] = -1;
    for (int placed = 0; placed < bones; ++placed)
    {
        // The next one whose parent is placed already.
        int bone = NextBone(model, character), joint = bone < 0 ? -1 : FirstJointOf(character, bone);
        for (int b = 0; bone < 0; ++b) // a circle is cut at its first bone
            bone = model->linkOfBone[b] < 0 ? b : -1;

        snwLinkDef* link = &model->links[placed];
        link->joint = joint >= 0 ? character->joints[joint] : snwDefaultJointDef();
        if (joint < 0)
            link->joint.type = snw_jointFree, link->joint.position = character->bones[bone].head;
        int parent = joint >= 0 ? character->joints[joint].parentBone : -1;
        link->joint.bone = placed, link->joint.parentBone = parent < 0 ? -1 : model->linkOfBone[parent];

        model->linkOfBone[bone] = placed;
        if (joint >= 0)
            model->linkOfJoint[joint] = placed;
    }

    model->linkCount = bones;

    // Joints that have no link of their own.
    for (int j = 0; j < character->jointCount; ++j)
    {
        if (model->linkOfJoint[j] >= 0)
            continue;
        snwJointDef* loop = &model->loops[model->loopCount++];
        *loop = character->joints[j];
        loop->bone = model->linkOfBone[loop->bone];
        loop->parentBone = loop->parentBone < 0 ? -1 : model->linkOfBone[loop->parentBone];
    }
}

// The four links that a vertex follows most.
static snwPointAnchor AnchorOfVertex(const snwSoftModel* model, int vertex)
{
    const snwCharacterDef* def = &model->character->def;
    snwPointAnchor anchor = {.count = 1, .links = {0}, .weights = {1}};
    int owner = def->boneCount > 0 ? model->character->vertexBones[vertex] : -1;

    // A bone's own vertices go with it alone.
    if (owner >= 0)
        anchor.links[0] = model->linkOfBone[owner];
    if (def->boneCount == 0 || owner >= 0)
        return anchor;

    // Without weights: with the nearest bone.
    if (def->boneWeights.vertexCount == 0)
    {
        double least = INFINITY;
        for (int b = 0; b < def->boneCount; ++b)
        {
            snwHandleShape bone = {snw_handleBone, def->bones[b].head, def->bones[b].tail};
            double away = snwHandleShape_Distance(&bone, def->vertices[vertex]);
            if (away < least)
                least = away, anchor.links[0] = model->linkOfBone[b];
        }

        return anchor;
    }

    const snwWeights* weights = &def->boneWeights;
    anchor.count = 0;

    // Insertion by weight, into as many places as there are.
    for (int e = weights->starts[vertex]; e < weights->starts[vertex + 1]; ++e)
    {
        int at = anchor.count < snw_maxAnchorLinks ? anchor.count++ : snw_maxAnchorLinks;
        for (; at > 0 && weights->values[e] > anchor.weights[at - 1]; --at)
            if (at < snw_maxAnchorLinks)
                anchor.links[at] = anchor.links[at - 1], anchor.weights[at] = anchor.weights[at - 1];
        if (at < snw_maxAnchorLinks)
            anchor.links[at] = model->linkOfBone[weights->handles[e]], anchor.weights[at] = weights->values[e];
    }

    // They sum to one.
    double sum = 0;
    for (int k = 0; k < anchor.count; ++k)
        sum += anchor.weights[k];

    for (int k = 0; k < anchor.count; ++k)
        anchor.weights[k] /= sum;
    return anchor;
}

// Masses of vertices go to their links, or what bones say in their place; what the skin takes comes out of it. shapes:
// whose points they are, or NULL. ratios: [2 linkCount] room.
static snwResult WeighSoftPoints(
    snwSoftModel* model, double share, const snwSoftPoints* shapes, double* ratios, snwMessage* message)
{
    const snwCharacterDef* def = &model->character->def;
    double* skin = (double*)model->skin.masses;

    // All of the mesh first, by its weights.
    for (int v = 0; v < def->vertexCount; ++v)
        for (int k = 0; k < model->anchors[v].count; ++k)
        {
            snwLinkDef* link = &model->links[model->anchors[v].links[k]];
            snwVec3 arm = snwVec3_Sub(def->vertices[v], link->joint.position);
            snwLinkMass_AddPoint(&link->mass, model->anchors[v].weights[k] * model->character->masses[v], arm);
        }

    // Where a bone says what it weighs, that counts.
    for (int i = 0; i < model->linkCount; ++i)
        ratios[i] = 1;
    for (int b = 0; b < def->boneCount; ++b)
    {
        snwLinkDef* link = &model->links[model->linkOfBone[b]];
        ratios[model->linkOfBone[b]] = snwSoft_MassRatio(&def->bones[b], link->mass.mass);
        snwSoft_GiveMass(&def->bones[b], link);
        ratios[model->linkCount + model->linkOfBone[b]] = link->mass.mass;
    }

    const double* whole = ratios + model->linkCount;
    for (int p = 0; p < model->pointCount; ++p)
    {
        const snwPointAnchor* anchor = &model->skin.anchors[p];
        double ratio = 0, mass = model->character->masses[model->vertexOfPoint[p]];

        // What a point takes: its vertex' mass as the link has it, or its part of the bone's shape.
        for (int k = 0; k < anchor->count; ++k)
            ratio += anchor->weights[k] * ratios[anchor->links[k]];
        if (shapes != NULL) // all points of a bone are alike
        {
            int count = 0;
            for (int q = 0; q < model->pointCount; ++q)
                count += shapes->bones[q] == shapes->bones[p];
            skin[p] = share * whole[anchor->links[0]] / count;
        }
        else
            skin[p] = share * ratio * mass;

        // That much less is the link's.
        for (int k = 0; k < anchor->count; ++k)
        {
            snwLinkDef* link = &model->links[anchor->links[k]];
            snwVec3 arm = snwVec3_Sub(model->skin.points[p], link->joint.position);
            snwLinkMass_AddPoint(&link->mass, -anchor->weights[k] * skin[p], arm);
        }
    }

    // Nothing of a bone may be left below nothing.
    for (int b = 0; b < def->boneCount; ++b)
    {
        snwResult result = snwSoft_CheckMass(&def->bones[b], &model->links[model->linkOfBone[b]].mass, message);
        if (result < 0)
            return result;
    }

    return snw_ok;
}

// Edges of the skin's triangles, each once.
static int PutSkinEdges(const snwCharacter* character, int (*edges)[2])
{
    int count = 0;
    for (int t = 0; t < character->skinTriangleCount; ++t)
        for (int c = 0; c < 3; ++c)
        {
            int a = character->skinTriangles[t][c], b = character->skinTriangles[t][(c + 1) % 3];
            if (a < b) // the triangle on the other side has it the other way round
                edges[count][0] = a, edges[count++][1] = b;
        }
    return count;
}

snwResult snwSoft_CreateModel(const snwModelDef* def, void** out, snwMessage* message)
{
    const snwCharacter* character = def->character;
    snwSoftModel* model = snwAlloc(def->context, sizeof *model);
    *out = model;
    if (model == NULL)
        return snwFailMemory(message);
    model->character = character;
    model->arena.context = def->context;

    // Points are those of the skin, or of the bones' shapes.
    size_t bones = (size_t)character->def.boneCount, joints = (size_t)character->def.jointCount;
    bool shaped = snwSoft_IsShaped(&character->def);
    size_t vertices = (size_t)character->def.vertexCount;
    size_t points = (size_t)(shaped ? snwSoft_ShapePointCount(&character->def) : character->skinVertexCount);
    size_t edges = shaped ? 12 * points : 3 * (size_t)character->skinTriangleCount;
    snwArena* arena = &model->arena;

    // Links and joints.
    model->links = snwArena_Alloc(arena, bones + 1, sizeof *model->links);
    model->loops = snwArena_Alloc(arena, joints, sizeof *model->loops);
    model->linkOfBone = snwArena_Alloc(arena, bones, sizeof *model->linkOfBone);
    model->linkOfJoint = snwArena_Alloc(arena, joints, sizeof *model->linkOfJoint);

    // Vertices, and which points they follow.
    model->anchors = snwArena_Alloc(arena, vertices, sizeof *model->anchors);
    model->vertexOfPoint = snwArena_Alloc(arena, points, sizeof(int));
    model->inertias = snwArena_Alloc(arena, bones + 1, sizeof *model->inertias);
    model->vertexOfLink = snwArena_Alloc(arena, bones + 1, sizeof(int));
    model->follows = shaped ? snwArena_Alloc(arena, vertices, sizeof *model->follows) : NULL;
    double* ratios = snwArena_Alloc(arena, 2 * bones + 2, sizeof *ratios);
    int* bonesOfPoints = snwArena_Alloc(arena, points, sizeof *bonesOfPoints);
    int(*corners)[3] = snwArena_Alloc(arena, points, sizeof *corners);

    // The skin's definition, and room for it.
    model->pointOfVertex = snwArena_Alloc(arena, vertices, sizeof(int));
    snwVec3* rest = snwArena_Alloc(arena, points, sizeof *rest);
    snwPointAnchor* anchors = snwArena_Alloc(arena, points, sizeof *anchors);
    double *masses = snwArena_Alloc(arena, points, sizeof *masses), *stiffness = snwArena_Alloc(arena, points, 8);
    double *damping = snwArena_Alloc(arena, points, 8), *edgeStiffness = snwArena_Alloc(arena, edges, 8);
    int(*pairs)[2] = snwArena_Alloc(arena, edges, sizeof *pairs);

    if (arena->failed)
    {
        snwSoft_DestroyModel(def->context, model);
        return snwFailMemory(message);
    }

    // Vertices and points by each other's numbers.
    model->pointCount = (int)points;
    for (size_t v = 0; v < vertices; ++v)
        model->pointOfVertex[v] = -1;
    for (size_t p = 0; p < points && !shaped; ++p)
        model->vertexOfPoint[p] = character->skinVertices[p], model->pointOfVertex[character->skinVertices[p]] = (int)p;

    // Links; without bones the body is one.
    PlaceLinks(model, &character->def);
    if (bones == 0)
    {
        model->linkCount = 1;
        model->links[0].joint = snwDefaultJointDef();
        model->links[0].joint.type = snw_jointFree, model->links[0].joint.position = character->centre;
    }

    for (int i = 0; i < model->linkCount; ++i)
        model->freedom += snwJointType_Freedom(model->links[i].joint.type);
    for (size_t v = 0; v < vertices; ++v)
        model->anchors[v] = AnchorOfVertex(model, (int)v);

    // The skin: points with springs to their links and to each other.
    model->skin = (snwPointSkinDef){.pointCount = (int)points,
        .capacity = (int)Own(def, snw_softAwake),
        .points = rest,
        .anchors = anchors,
        .masses = masses,
        .stiffness = stiffness,
        .damping = damping,
        .edges = pairs,
        .edgeStiffness = edgeStiffness,
        .triangleCount = shaped ? 0 : character->skinTriangleCount,
        .triangles = (const int(*)[3])character->skinTriangles};

    snwSoftPoints made = {rest, anchors, bonesOfPoints, corners, pairs};
    if (shaped)
    {
        model->skin.edgeCount = snwSoft_PutShapePoints(model, &made);
        snwSoft_FollowPoints(model, &made);
    }
    else
        model->skin.edgeCount = PutSkinEdges(character, pairs);

    // Vertices of the skin rest where the mesh has them.
    for (size_t p = 0; p < points; ++p)
    {
        if (!shaped)
        {
            rest[p] = character->def.vertices[model->vertexOfPoint[p]];
            anchors[p] = model->anchors[model->vertexOfPoint[p]];
        }
        stiffness[p] = Own(def, snw_softVertex), damping[p] = Own(def, snw_softDamping);
    }

    for (int e = 0; e < model->skin.edgeCount; ++e)
        edgeStiffness[e] = Own(def, snw_softEdge);

    snwResult weighed = WeighSoftPoints(model, Own(def, snw_softShare), shaped ? &made : NULL, ratios, message);
    if (weighed < 0)
        snwSoft_DestroyModel(def->context, model);
    else
        snwSoft_FindInertias(model);
    return weighed;
}

void snwSoft_DestroyModel(snwContext* context, void* data)
{
    snwSoftModel* model = data;
    if (model != NULL)
        snwArena_Free(&model->arena);
    snwFree(context, model);
}

// The body where it starts: there it rests, so that joints of the world are where they should be.
snwResult snwSoft_CreateBody(snwSim* sim, int index, snwSoftBody* body, snwMessage* message)
{
    const snwSoftModel* model = sim->bodies[index].model;
    snwTransform start = sim->starts[index].transform;

    snwMat3 R = snwQuat_ToMat3(start.rotation);
    snwArena arena = {.context = sim->context};
    snwLinkDef* links = snwArena_Copy(&arena, model->links, (size_t)model->linkCount, sizeof *links);
    snwJointDef* loops = snwArena_Copy(&arena, model->loops, (size_t)model->loopCount, sizeof *loops);
    snwVec3* points = snwArena_Alloc(&arena, (size_t)model->pointCount, sizeof *points);
    snwResult result = arena.failed ? snwFailMemory(message) : snw_ok;

    // Joints and loops turned into the world.
    for (int i = 0; i < model->linkCount + model->loopCount && result == snw_ok; ++i)
    {
        snwJointDef* joint = i < model->linkCount ? &links[i].joint : &loops[i - model->linkCount];
        joint->position = snwTransform_Apply(start, joint->position);
        joint->axis = snwQuat_Rotate(start.rotation, joint->axis);
        joint->axis2 = snwQuat_Rotate(start.rotation, joint->axis2);
    }

    // Masses turn with them; so do points.
    for (int i = 0; i < model->linkCount && result == snw_ok; ++i)
    {
        snwLinkMass* mass = &links[i].mass;
        mass->moment = snwMat3_MulVec(R, mass->moment);
        mass->inertia = snwMat3_MulTranspose(snwMat3_Mul(R, mass->inertia), R);
    }

    for (int p = 0; p < model->pointCount && result == snw_ok; ++p)
        points[p] = snwTransform_Apply(start, model->skin.points[p]);
    if (result == snw_ok)
    {
        snwPointSkinDef skin = model->skin;
        skin.points = points;
        snwSoftBodyDef def = {model->linkCount, 1, model->loopCount, links, &skin, loops};
        result = snwSoftBody_Create(sim->context, &def, body, message);
    }

    snwArena_Free(&arena);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// State

static snwSoftState LayOutSoftState(const snwSoftModel* model, snwLayout* layout)
{
    const snwCharacterDef* def = &model->character->def;
    size_t points = (size_t)model->pointCount, vertices = (size_t)def->vertexCount;

    snwSoftState state;
    state.poses = snwLayout_Take(layout, (size_t)model->linkCount, sizeof *state.poses);
    state.aims = snwLayout_Take(layout, (size_t)model->linkCount, sizeof *state.aims);
    state.u = snwLayout_Take(layout, (size_t)model->freedom, sizeof *state.u);
    state.x = snwLayout_Take(layout, points, sizeof *state.x);
    state.v = snwLayout_Take(layout, points, sizeof *state.v);
    state.frozen = snwLayout_Take(layout, points, sizeof *state.frozen);
    state.awake = snwLayout_Take(layout, points, 1);

    // What the last step has left, and what commands have changed.
    state.memoryCount = snwLayout_Take(layout, 1, sizeof *state.memoryCount);
    state.memory = snwLayout_Take(layout, snw_softMemoryRoom, sizeof *state.memory);
    state.joints = snwLayout_Take(layout, (size_t)def->jointCount, sizeof *state.joints);
    state.reaches = snwLayout_Take(layout, (size_t)snwCharacterDef_HandleCount(def), sizeof *state.reaches);
    state.outPositions = snwLayout_Take(layout, vertices, 4 * sizeof(float));
    state.outVelocities = snwLayout_Take(layout, vertices, 4 * sizeof(float));
    state.outBones = snwLayout_Take(layout, (size_t)def->boneCount, sizeof *state.outBones);
    state.outJoints = snwLayout_Take(layout, (size_t)def->jointCount, sizeof *state.outJoints);

    return state;
}

size_t snwSoft_StateSize(const void* model)
{
    snwLayout layout = {0};
    LayOutSoftState(model, &layout);
    return layout.size;
}

snwSoftState snwSoft_PlaceState(const snwSoftModel* model, void* bytes)
{
    return LayOutSoftState(model, &(snwLayout){.bytes = bytes});
}

static snwSoftBody* SoftBodyOf(const snwSim* sim, int index)
{
    return &((snwSoftScratch*)sim->scratch)->bodies[index];
}

void snwSoft_InitBody(snwSim* sim, int index)
{
    const snwSoftModel* model = sim->bodies[index].model;
    const snwBodyStart* start = &sim->starts[index];
    snwSoftBody* body = SoftBodyOf(sim, index);

    memset(sim->bodies[index].state, 0, snwSoft_StateSize(model));
    snwSoftState state = snwSoft_State(sim, index);
    for (int j = 0; j < model->character->def.jointCount; ++j)
        state.joints[j] = (snwSoftJoint){
            model->character->def.joints[j].target, model->character->def.joints[j].motor, 0};

    snwSoftBody_Reset(body);

    // Roots that are free have the velocity of the start; all others follow.
    snwVec3 centre = snwTransform_Apply(start->transform, model->character->centre);
    for (int i = 0; i < model->linkCount; ++i)
    {
        const snwJointDef* joint = &body->tree.links[i].joint;
        if (joint->parentBone >= 0 || joint->type != snw_jointFree)
            continue;
        snwVec3 w = start->angularVelocity, arm = snwVec3_Sub(joint->position, centre);
        snwVec3 v = snwVec3_Add(start->velocity, snwVec3_Cross(w, arm));
        const double u[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
        memcpy(body->u + body->tree.first[i], u, sizeof u);
    }

    snwSoftBody_Look(body);
    snwSoft_Store(sim, index);
    memcpy(state.aims, state.poses, (size_t)model->linkCount * sizeof *state.aims);
    snwSoft_StartReaches(sim, index);
    snwSoft_Publish(sim, index);
}

static bool IsSoundPose(const snwLinkPose* pose)
{
    return snwQuat_IsFinite(pose->turn) && snwVec3_IsFinite(pose->shift) && isfinite(pose->angles[0]) &&
           isfinite(pose->angles[1]) && fabs(snwQuat_Dot(pose->turn, pose->turn) - 1) < 1e-6;
}

bool snwSoft_IsSound(const snwSim* sim, int index)
{
    const snwSoftModel* model = sim->bodies[index].model;
    snwSoftState state = snwSoft_State(sim, index);
    bool sound = *state.memoryCount >= 0 && *state.memoryCount <= snw_softMemoryRoom;
    for (int i = 0; i < model->linkCount && sound; ++i)
        sound = IsSoundPose(&state.poses[i]) && IsSoundPose(&state.aims[i]);
    for (int i = 0; i < snwCharacterDef_HandleCount(&model->character->def) && sound; ++i)
        sound = snwTransform_IsFinite(state.reaches[i].target) && state.reaches[i].given <= snw_dofAll &&
                (!state.reaches[i].byClip || snwSim_FindClip(sim, snw_clipHandle, index, i) != NULL);
    for (int k = 0; k < model->freedom && sound; ++k)
        sound = isfinite(state.u[k]);

    // Points: no more awake than there is room for.
    int awake = 0, most = model->skin.capacity > 0 ? model->skin.capacity : model->pointCount;
    for (int p = 0; p < model->pointCount && sound; ++p)
    {
        sound = snwVec3_IsFinite(state.x[p]) && snwVec3_IsFinite(state.v[p]) && snwVec3_IsFinite(state.frozen[p]) &&
                state.awake[p] <= 1;
        awake += state.awake[p];
    }

    for (int m = 0; sound && m < *state.memoryCount; ++m)
        sound = snwVec3_IsFinite(state.memory[m].impulse);
    for (int j = 0; sound && j < model->character->def.jointCount; ++j)
        sound = isfinite(state.joints[j].target);
    return sound && awake <= most;
}

// How much stiffer the body's materials are than its character's: 1 until a command changes one.
static double FirmnessOf(const snwSim* sim, int index)
{
    const snwCharacterDef* def = &sim->bodies[index].character->def;
    double sum = 0;
    for (int i = 0; i < def->materialCount; ++i)
        sum += sim->bodies[index].materials[i].young / def->materials[i].young;
    return def->materialCount > 0 ? sum / def->materialCount : 1;
}

void snwSoft_Load(const snwSim* sim, int index)
{
    const snwSoftModel* model = sim->bodies[index].model;
    snwSoftState state = snwSoft_State(sim, index);
    snwSoftBody* body = SoftBodyOf(sim, index);
    size_t points = (size_t)model->pointCount;

    memcpy(body->poses, state.poses, (size_t)model->linkCount * sizeof *state.poses);
    memcpy(body->u, state.u, (size_t)model->freedom * sizeof *state.u);
    memcpy(body->skins->x, state.x, points * sizeof *state.x);
    memcpy(body->skins->v, state.v, points * sizeof *state.v);
    memcpy(body->skins->frozen, state.frozen, points * sizeof *state.frozen);
    memcpy(body->skins->awake, state.awake, points);

    // Motors and their targets are states.
    for (int j = 0; j < model->character->def.jointCount; ++j)
    {
        if (model->linkOfJoint[j] < 0)
            continue;
        snwJointDef* joint = &body->tree.links[model->linkOfJoint[j]].joint;
        joint->target = state.joints[j].target, joint->motor = state.joints[j].motor != 0;
    }

    body->skins->firmness = snwSim_Param(sim, snw_softStiffness) * FirmnessOf(sim, index);
    snwSoftBody_Look(body);
}

void snwSoft_Store(snwSim* sim, int index)
{
    const snwSoftModel* model = sim->bodies[index].model;
    snwSoftState state = snwSoft_State(sim, index);
    const snwSoftBody* body = SoftBodyOf(sim, index);
    size_t points = (size_t)model->pointCount;
    memcpy(state.poses, body->poses, (size_t)model->linkCount * sizeof *state.poses);
    memcpy(state.u, body->u, (size_t)model->freedom * sizeof *state.u);
    memcpy(state.x, body->skins->x, points * sizeof *state.x);
    memcpy(state.v, body->skins->v, points * sizeof *state.v);
    memcpy(state.frozen, body->skins->frozen, points * sizeof *state.frozen);
    memcpy(state.awake, body->skins->awake, points);
}

// ---------------------------------------------------------------------------------------------------------------------
// What others see

// What takes a point of the character's rest pose to where a link has it.
static snwTransform MotionOfLink(const snwSim* sim, int index, int link)
{
    const snwBodyTree* tree = &SoftBodyOf(sim, index)->tree;
    snwTransform from = {snwVec3_Negate(tree->links[link].joint.position), snwQuat_Identity()};
    snwTransform to = {tree->points[link], tree->rotations[link]};
    return snwTransform_Compose(snwTransform_Compose(to, from), sim->starts[index].transform);
}

void snwSoft_Publish(snwSim* sim, int index)
{
    const snwSoftModel* model = sim->bodies[index].model;
    const snwSoftBody* body = SoftBodyOf(sim, index);
    const snwBodyTree* tree = &body->tree;
    const snwPointSkin* skin = body->skins;
    snwSoftState state = snwSoft_State(sim, index);

    // Vertices: carried by links, or where their points are.
    for (int v = 0; v < model->character->def.vertexCount; ++v)
    {
        int point = model->pointOfVertex[v];
        snwVec3 x = {0, 0, 0}, u = {0, 0, 0};
        for (int k = 0; k < model->anchors[v].count && point < 0; ++k)
        {
            int link = model->anchors[v].links[k];
            snwVec3 rest = snwTransform_Apply(sim->starts[index].transform, model->character->def.vertices[v]);
            snwVec3 arm = snwMat3_MulVec(tree->axes[link], snwVec3_Sub(rest, tree->links[link].joint.position));
            snwVec3 y = snwVec3_Add(tree->points[link], arm);
            x = snwVec3_MulAdd(x, model->anchors[v].weights[k], y);
            u = snwVec3_MulAdd(
                u, model->anchors[v].weights[k], snwSpatial_At(tree->twists[link], snwVec3_Sub(y, tree->origin)));
        }

        if (point >= 0)
        {
            x = skin->x[point];
            u = skin->awake[point] ? skin->v[point] : snwPointSkin_Carried(skin, tree, point);
        }

        // With shapes that touch in its place, the mesh follows their points.
        if (model->follows != NULL)
            x = snwVec3_Add(x, snwSoft_Followed(&model->follows[v], tree, skin));

        if (v == 0)
            snwBody_Follow(&sim->bodies[index], x);
        snwRow_SetPlace(state.outPositions, v, *sim->bodies[index].origin, x);
        snwRow_Set(state.outVelocities, v, u);
    }

    const snwCharacterDef* def = &model->character->def;
    for (int b = 0; b < def->boneCount; ++b)
        state.outBones[b] = MotionOfLink(sim, index, model->linkOfBone[b]);
    for (int j = 0; j < def->jointCount; ++j)
        state.outJoints[j] = state.outBones[def->joints[j].bone];
}
