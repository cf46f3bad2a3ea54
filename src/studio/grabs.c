// Hands. Each holds one thing and tells the engine where it shall be, at most once per step; everything that a hand
// does is a command. What it did, from taking to letting go, is one deed to undo.

#include "studio/requests.h"

#include "sim/command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SNW_GRIP 0.5 // strength of a hand on flesh

const char* const snw_handKindWords[] = {"none", "flesh", "handle", "bone", "joint", "pin", "prop", "collider"};

static const snwCharacterDef* CharacterOf(const snwSession* session, int body)
{
    return &session->sim->def->bodies[body].character->def;
}

static snwVec3 VertexAt(const snwSession* session, int body, int vertex)
{
    snwVertices now = {0};
    snwSim_GetVertices(session->sim, body, &now);
    const float* p = (const float*)((const char*)now.positions + (size_t)vertex * (size_t)now.stride);
    return (snwVec3){(double)p[0], (double)p[1], (double)p[2]};
}

static snwTransform TransformAt(const snwTransforms* list, int index)
{
    return *(const snwTransform*)((const char*)list->data + (size_t)index * (size_t)list->stride);
}

static bool Answers(const snwSession* session, snwFeature feature)
{
    return (session->sim->method->features & (uint32_t)feature) != 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Taking hold

// Flesh is held where the ray met it, though the engine pulls at the vertex beside.
static void HoldVertexInHand(const snwSession* session, snwHand* hand, int vertex)
{
    hand->vertices[0] = vertex;
    hand->offsets[0] = snwVec3_Sub(VertexAt(session, hand->body, vertex), hand->from);
    hand->vertexCount = 1;
}

// The handle that a bone is, or -1.
static int HandleOfBone(const snwSession* session, int body, int bone)
{
    const snwCharacterDef* def = CharacterOf(session, body);
    if (!Answers(session, snw_featureHandles))
        return -1;
    if (def->handleCount == 0)
        return bone;
    for (int i = 0; i < def->handleCount; ++i)
        if (def->handles[i].kind == snw_handleBone && strcmp(def->handles[i].name, def->bones[bone].name) == 0)
            return i;
    return -1;
}

static double DistanceFromBone(const snwBoneDef* bone, snwVec3 p)
{
    snwVec3 along = snwVec3_Sub(bone->tail, bone->head), to = snwVec3_Sub(p, bone->head);
    double square = snwVec3_Dot(along, along);
    double t = square > 0 ? fmax(0, fmin(snwVec3_Dot(to, along) / square, 1)) : 0;
    return snwVec3_Length(snwVec3_Sub(to, snwVec3_Scale(along, t)));
}

// Vertices that belong to a bone, else those nearest to it; of those each is as far from the others as can be, so that
// the hand can turn it.
static void HoldBoneVertices(const snwSession* session, snwHand* hand, int bone)
{
    const snwCharacter* character = session->sim->def->bodies[hand->body].character;
    const snwCharacterDef* def = &character->def;
    bool owned = false;

    // Without elements of its own the bone is held by the vertices next to it.
    for (int i = 0; i < def->vertexCount; ++i)
        owned = owned || character->vertexBones[i] == bone;

    // One vertex after the other: the nearest first, then always the one farthest from all that are held.
    while (hand->vertexCount < snw_maxGrabVertices)
    {
        int best = -1;
        double most = -INFINITY;
        for (int i = 0; i < def->vertexCount; ++i)
        {
            if (owned && character->vertexBones[i] != bone)
                continue;
            double worth = -DistanceFromBone(&def->bones[bone], def->vertices[i]);
            for (int k = 0; k < hand->vertexCount; ++k)
                worth = fmin(k == 0 ? INFINITY : worth,
                    snwVec3_Length(snwVec3_Sub(def->vertices[i], def->vertices[hand->vertices[k]])));
            best = worth > most ? i : best;
            most = fmax(most, worth);
        }

        // None left, or a second one would not help to turn the bone.
        if (best < 0 || (hand->vertexCount > 0 && (!owned || most <= 0)))
            return;

        // Where it is relative to the hand: these distances stay.
        hand->offsets[hand->vertexCount] = snwVec3_Sub(VertexAt(session, hand->body, best), hand->from);
        hand->vertices[hand->vertexCount++] = best;
    }
}

static snwVec3 BonePlace(const snwSession* session, int body, int bone)
{
    const snwBoneDef* def = &CharacterOf(session, body)->bones[bone];
    snwTransforms bones = {0};
    snwSim_GetBones(session->sim, body, &bones);
    return snwTransform_Apply(TransformAt(&bones, bone), snwVec3_Scale(snwVec3_Add(def->head, def->tail), 0.5));
}

static void HoldBone(const snwSession* session, snwHand* hand, int bone)
{
    hand->handle = HandleOfBone(session, hand->body, bone);

    // A bone that is a handle is moved as a handle.
    if (hand->handle >= 0)
    {
        hand->start = snwSession_HandlePose(session, hand->body, hand->handle);
        hand->from = hand->start.position;
        return;
    }

    if (session->sim->method->getBones != NULL)
        hand->from = BonePlace(session, hand->body, bone);
    HoldBoneVertices(session, hand, bone);

    // Without bones in the method the hand itself is at the first vertex.
    if (session->sim->method->getBones == NULL && hand->vertexCount > 0)
    {
        snwVec3 first = snwVec3_Add(hand->from, hand->offsets[0]);
        for (int i = 0; i < hand->vertexCount; ++i)
            hand->offsets[i] = snwVec3_Sub(snwVec3_Add(hand->from, hand->offsets[i]), first);
        hand->from = first;
    }
}

static snwResult CheckHandNumber(snwAnswer* answer, const char* what, int number, int count)
{
    if (number >= 0 && number < count)
        return snw_ok;
    return snwFail(
        answer->json.message, snw_errorArgument, NULL, "there are %d of them, no %s %d", count, what, number);
}

static snwResult TakeFlesh(snwAnswer* answer, snwHand* hand)
{
    snwSession* session = answer->session;
    snwPick pick;
    if (!snwAnswer_Saw(answer, "origin") || !snwAnswer_Saw(answer, "direction"))
        return snwFail(answer->json.message, snw_errorInput,
            "origin and direction, or handle, bone, joint, pin, prop or collider", "it does not say what to take");
    snwResult result = snwSim_Pick(session->sim, answer->data.origin, answer->data.direction, &pick);
    if (result < 0)
        return snwFail(answer->json.message, result, NULL, "direction must point somewhere");
    if (pick.body < 0)
        return snw_ok;
    hand->kind = snw_handFlesh;
    hand->body = pick.body;
    hand->index = pick.vertex;
    hand->from = pick.position;
    HoldVertexInHand(session, hand, pick.vertex);
    return snw_ok;
}

static snwResult TakeHandle(snwAnswer* answer, snwHand* hand)
{
    snwSession* session = answer->session;
    int count = snwCharacterDef_HandleCount(CharacterOf(session, hand->body));
    snwResult result = CheckHandNumber(answer, "handle", answer->data.handle, count);
    if (result < 0)
        return result;
    if (!Answers(session, snw_featureHandles))
        return snwFail(answer->json.message, snw_errorUnsupported, "method rigpbd does",
            "method %s does not move handles", session->sim->method->name);
    hand->kind = snw_handHandle;
    hand->index = hand->handle = answer->data.handle;
    hand->start = snwSession_HandlePose(session, hand->body, hand->handle);
    hand->from = hand->start.position;
    return snw_ok;
}

static snwResult TakeHeldBone(snwAnswer* answer, snwHand* hand)
{
    const snwCharacterDef* def = CharacterOf(answer->session, hand->body);
    snwResult result = CheckHandNumber(answer, "bone", answer->data.bone, def->boneCount);
    if (result < 0)
        return result;
    hand->kind = snw_handBone;
    hand->index = answer->data.bone;
    HoldBone(answer->session, hand, hand->index);
    return snw_ok;
}

static bool IsPowered(const snwSession* session, const snwJointDef* joint)
{
    return Answers(session, snw_featureJoints) && joint->type == snw_jointHinge &&
           (joint->motor || joint->stiffness > 0);
}

// A motor is told where to turn; any other joint is moved by the bone below it.
static snwResult TakeJoint(snwAnswer* answer, snwHand* hand)
{
    snwSession* session = answer->session;
    const snwCharacterDef* def = CharacterOf(session, hand->body);
    snwTransforms joints = {0};
    snwResult result = CheckHandNumber(answer, "joint", answer->data.joint, def->jointCount);

    if (result < 0)
        return result;

    // A joint without a motor is moved by its bone.
    const snwJointDef* joint = &def->joints[answer->data.joint];
    hand->kind = snw_handJoint;
    hand->index = answer->data.joint;
    if (!IsPowered(session, joint))
    {
        HoldBone(session, hand, joint->bone);
        return snw_ok;
    }

    // With a motor it is turned: the hand remembers the joint's own turn.
    snwSim_GetJoints(session->sim, hand->body, &joints);
    hand->start = TransformAt(&joints, hand->index);
    hand->from = BonePlace(session, hand->body, joint->bone);
    return snw_ok;
}

static snwResult TakePin(snwAnswer* answer, snwHand* hand)
{
    const snwSim* sim = answer->session->sim;
    snwResult result = CheckHandNumber(answer, "pin", answer->data.pin, sim->def->pinCount);
    if (result < 0)
        return result;
    hand->kind = snw_handPin;
    hand->index = answer->data.pin;
    hand->body = sim->def->pins[hand->index].body;
    hand->start = sim->pins[hand->index].transform;
    hand->from = snwVec3_Add(sim->pinSets[hand->index].pivot, hand->start.position);
    return snw_ok;
}

static snwResult TakeThing(snwAnswer* answer, snwHand* hand, bool prop)
{
    const snwSim* sim = answer->session->sim;
    int count = prop ? sim->def->propCount : sim->def->colliderCount;
    int number = prop ? answer->data.prop : answer->data.collider;
    snwResult result = CheckHandNumber(answer, prop ? "prop" : "collider", number, count);
    if (result < 0)
        return result;
    hand->kind = prop ? snw_handProp : snw_handCollider;
    hand->index = number;
    hand->body = -1;
    hand->start = prop ? sim->props[number].transform : sim->colliders[number].transform;
    hand->from = hand->start.position;
    return snw_ok;
}

static snwResult TakeInHand(snwAnswer* answer, snwHand* hand)
{
    static const struct
    {
        const char* key;
        snwResult (*take)(snwAnswer* answer, snwHand* hand);
    } takes[] = {{"handle", TakeHandle}, {"bone", TakeHeldBone}, {"joint", TakeJoint}};

    // Things that belong to no body, then parts of bodies, then flesh at a place.
    if (snwAnswer_Saw(answer, "pin"))
        return TakePin(answer, hand);
    if (snwAnswer_Saw(answer, "prop"))
        return TakeThing(answer, hand, true);
    if (snwAnswer_Saw(answer, "collider"))
        return TakeThing(answer, hand, false);

    // The first key that the request has decides.
    for (size_t i = 0; i < sizeof takes / sizeof takes[0]; ++i)
    {
        if (!snwAnswer_Saw(answer, takes[i].key))
            continue;
        snwResult result = snwAnswer_CheckBody(answer);
        hand->body = answer->data.body;
        return result < 0 ? result : takes[i].take(answer, hand);
    }

    return TakeFlesh(answer, hand);
}

static void WriteHand(const snwHand* hand, snwText* text)
{
    snwText_Key(text, "grab");
    snwText_Int(text, hand->kind != snw_handNone ? hand->number : 0);
    snwText_Key(text, "kind");
    snwText_String(text, snw_handKindWords[hand->kind]);
    snwText_Key(text, "body");
    snwText_Int(text, hand->body);
    snwText_Key(text, "index");
    snwText_Int(text, hand->index);
    snwText_Key(text, "position");
    snwText_Reals(text, (double[]){hand->from.x, hand->from.y, hand->from.z}, 3);
}

snwResult snwAct_Grab(snwAnswer* answer)
{
    snwSession* session = answer->session;
    snwHand hand = {.client = answer->client, .body = -1, .index = -1, .handle = -1, .start = snwIdentityTransform()};
    snwResult result = snwSession_GoOn(session, answer->json.message);

    // Everything that may fail comes before the hand is counted.
    if (result >= 0 && session->handCount == snw_maxGrabs)
        result = snwFail(
            answer->json.message, snw_errorArgument, "let go of some", "%d hands hold on already", snw_maxGrabs);
    if (result >= 0)
        result = TakeInHand(answer, &hand);
    if (result >= 0 && hand.kind != snw_handNone)
        result = snwSession_TakeMoment(session, &hand.before, answer->json.message);
    if (result < 0)
        return result;

    // It wants to be where it is, and what was given before is known for letting go.
    hand.target = (snwTransform){hand.from, hand.start.rotation};
    hand.givenBefore = hand.handle >= 0 ? session->live.handles[hand.body][hand.handle].given : 0;
    hand.number = session->nextHand;

    if (hand.kind != snw_handNone)
    {
        session->nextHand++;
        session->hands[session->handCount++] = hand;
        session->stale = true;
    }

    WriteHand(&hand, &answer->text);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// What the engine is told

static void PushCommand(snwSession* session, const snwCommand* command)
{
    snwMessage message;
    if (snwSession_Push(session, command, &message) < 0)
        snwSession_NoteMessage(session, "warning", &message);
}

static void PushVertices(snwSession* session, const snwHand* hand, bool on)
{
    for (int i = 0; i < hand->vertexCount; ++i)
    {
        snwCommand command = snwDefaultCommand(snw_commandDrag);
        snwVec3 arm = hand->offsets[i];
        if (hand->turned)
            arm = snwQuat_Rotate(hand->target.rotation, arm);
        command.body = hand->body;
        command.index = hand->vertices[i];
        command.on = on;
        command.value = SNW_GRIP;
        command.transform.position = snwVec3_Add(hand->target.position, arm);
        PushCommand(session, &command);
    }
}

// Places are given; turns only if the hand says them or they were given before.
static void PushHandle(snwSession* session, const snwHand* hand)
{
    snwCommand command = snwDefaultCommand(snw_commandHandle);
    const snwLiveHandle* live = &session->live.handles[hand->body][hand->handle];
    const uint32_t turns = snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
    bool flat = CharacterOf(session, hand->body)->triangleCount > 0;
    command.body = hand->body;
    command.index = hand->handle;
    command.mask = snw_dofX | snw_dofY | (flat ? live->given & snw_dofZ : snw_dofZ) |
                   (hand->turned ? (flat ? snw_dofRotationZ : turns) : live->given & turns);
    command.transform = hand->target;
    PushCommand(session, &command);
}

// How far the pointer has gone round the joint's axis since it took hold.
static void PushMotor(snwSession* session, const snwHand* hand)
{
    const snwJointDef* joint = &CharacterOf(session, hand->body)->joints[hand->index];
    snwVec3 centre = snwTransform_Apply(hand->start, joint->position);
    snwVec3 axis = snwQuat_Rotate(hand->start.rotation, joint->axis);
    snwVec3 a = snwVec3_Sub(hand->from, centre), b = snwVec3_Sub(hand->target.position, centre);
    a = snwVec3_Sub(a, snwVec3_Scale(axis, snwVec3_Dot(a, axis)));
    b = snwVec3_Sub(b, snwVec3_Scale(axis, snwVec3_Dot(b, axis)));
    double angle = joint->target + atan2(snwVec3_Dot(snwVec3_Cross(a, b), axis), snwVec3_Dot(a, b));
    snwCommand command = snwDefaultCommand(snw_commandJoint);
    command.body = hand->body;
    command.index = hand->index;
    command.value = joint->lower <= joint->upper ? fmax(joint->lower, fmin(angle, joint->upper)) : angle;
    PushCommand(session, &command);
}

static void PushPin(snwSession* session, const snwHand* hand)
{
    snwCommand command = snwDefaultCommand(snw_commandPin);
    command.index = hand->index;
    command.transform.position = snwVec3_Sub(hand->target.position, session->sim->pinSets[hand->index].pivot);
    command.transform.rotation = hand->target.rotation;
    PushCommand(session, &command);
}

static void PushThing(snwSession* session, const snwHand* hand, bool on)
{
    snwCommand command = snwDefaultCommand(hand->kind == snw_handProp ? snw_commandDrag : snw_commandCollider);
    command.body = -1;
    command.index = hand->index;
    command.on = on;
    command.transform = hand->target;
    PushCommand(session, &command);
}

static void PushHand(snwSession* session, const snwHand* hand)
{
    if (hand->handle >= 0)
        PushHandle(session, hand);
    else if (hand->vertexCount > 0)
        PushVertices(session, hand, true);
    else if (hand->kind == snw_handJoint)
        PushMotor(session, hand);
    else if (hand->kind == snw_handPin)
        PushPin(session, hand);
    else
        PushThing(session, hand, true);
}

void snwSession_PushHands(snwSession* session)
{
    for (int i = 0; i < session->handCount; ++i)
    {
        snwHand* hand = &session->hands[i];
        bool holds = hand->vertexCount > 0 || hand->kind == snw_handProp; // from the first touch on
        if (!hand->fresh && (hand->applied || !holds))
            continue;
        PushHand(session, hand);
        hand->fresh = false;
        hand->applied = true;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Moving

snwHand* snwSession_FindHand(snwSession* session, int client, int number)
{
    for (int i = 0; i < session->handCount; ++i)
        if (session->hands[i].number == number && session->hands[i].client == client)
            return &session->hands[i];
    return NULL;
}

snwVec3 snwHand_Place(const snwSession* session, const snwHand* hand)
{
    if (hand->handle >= 0)
        return snwSession_HandlePose(session, hand->body, hand->handle).position;
    if (hand->vertexCount > 0)
    {
        snwVec3 at = VertexAt(session, hand->body, hand->vertices[0]);
        return hand->kind == snw_handFlesh ? at : snwVec3_Sub(at, hand->offsets[0]);
    }
    const snwSim* sim = session->sim;
    if (hand->kind == snw_handPin)
        return snwVec3_Add(sim->pinSets[hand->index].pivot, sim->pins[hand->index].transform.position);
    if (hand->kind == snw_handProp)
        return sim->props[hand->index].transform.position;
    if (hand->kind == snw_handCollider)
        return sim->colliders[hand->index].transform.position;
    return BonePlace(session, hand->body, CharacterOf(session, hand->body)->joints[hand->index].bone);
}

static snwResult FindOwn(snwAnswer* answer, snwHand** hand)
{
    *hand = snwSession_FindHand(answer->session, answer->client, answer->data.grab);
    if (*hand != NULL)
        return snw_ok;
    return snwFail(answer->json.message, snw_errorArgument, "grab it again", "you hold no grab %d", answer->data.grab);
}

snwResult snwAct_Move(snwAnswer* answer)
{
    snwHand* hand;
    snwResult result = FindOwn(answer, &hand);
    if (result < 0)
        return result;
    hand->target.position = answer->data.position;
    if (snwAnswer_Saw(answer, "rotation"))
    {
        hand->target.rotation = answer->data.rotation;
        hand->turned = true;
    }
    hand->fresh = hand->moved = true;
    hand->request = (uint32_t)json_integer_value(answer->id);
    answer->silent = answer->id == NULL;
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Letting go

// As it was given before it was taken, where it is now.
static void ReleaseHandle(snwSession* session, const snwHand* hand, bool keep)
{
    snwCommand command = snwDefaultCommand(snw_commandHandle);
    uint32_t given = session->live.handles[hand->body][hand->handle].given;
    command.body = hand->body;
    command.index = hand->handle;
    command.mask = keep ? given : hand->givenBefore;
    command.transform = hand->target;
    if (hand->applied)
        PushCommand(session, &command);
}

// Flesh that stays held becomes a pin where the hand has it.
static void ReleaseVertices(snwSession* session, const snwHand* hand, bool keep)
{
    PushVertices(session, hand, false);
    for (int i = 0; keep && i < hand->vertexCount; ++i)
    {
        snwCommand command = snwDefaultCommand(snw_commandPin);
        command.body = hand->body;
        command.index = hand->vertices[i];
        command.transform.position = snwVec3_Add(hand->target.position, hand->offsets[i]);
        PushCommand(session, &command);
    }
}

static void LabelOf(const snwSession* session, const snwHand* hand, char* label, size_t capacity)
{
    const snwSceneDef* def = session->sim->def;
    const char* name = "";
    // By what it holds.
    if (hand->kind == snw_handPin)
        name = def->pins[hand->index].name;
    else if (hand->kind == snw_handProp)
        name = def->props[hand->index].name;
    else if (hand->kind == snw_handCollider)
        name = def->colliders[hand->index].name;
    else if (hand->kind == snw_handFlesh)
        name = def->bodies[hand->body].name;
    else
    {
        const snwCharacterDef* character = CharacterOf(session, hand->body);
        name = hand->kind == snw_handJoint                                 ? character->joints[hand->index].name
               : hand->kind == snw_handBone || character->handleCount == 0 ? character->bones[hand->index].name
                                                                           : character->handles[hand->index].name;
    }

    snprintf(label, capacity, "drag of %s %.80s", snw_handKindWords[hand->kind], name);
}

static void LetGo(snwSession* session, int index, bool keep)
{
    snwHand hand = session->hands[index];
    char label[112];
    session->hands[index] = session->hands[--session->handCount];
    if (hand.fresh && hand.moved && keep)
        PushHand(session, &hand), hand.applied = true;
    if (hand.handle >= 0)
        ReleaseHandle(session, &hand, keep);
    else if (hand.vertexCount > 0 && (hand.applied || keep))
        ReleaseVertices(session, &hand, keep);
    else if (hand.kind == snw_handProp && hand.applied && !keep)
        PushThing(session, &hand, false);
    LabelOf(session, &hand, label, sizeof label);
    if (hand.applied || keep)
        snwHistory_AddMoment(session, label, &hand.before);
    snwMoment_Free(session->context, &hand.before);
    session->stale = true;
}

snwResult snwAct_Drop(snwAnswer* answer)
{
    snwHand* hand;
    snwResult result = FindOwn(answer, &hand);
    if (result >= 0)
        LetGo(answer->session, (int)(hand - answer->session->hands), answer->data.keep);
    return result;
}

void snwSession_DropClient(snwSession* session, int client)
{
    for (int i = session->handCount - 1; i >= 0; --i)
        if (session->hands[i].client == client)
            LetGo(session, i, false);
    for (int i = session->clients.count - 1; i >= 0; --i)
        if (session->clients.data[i].number == client)
            session->clients.data[i] = session->clients.data[--session->clients.count];
    snwSession_GatherWants(session);
}

void snwSession_ForgetHands(snwSession* session)
{
    for (int i = 0; i < session->handCount; ++i)
        snwMoment_Free(session->context, &session->hands[i].before);
    session->handCount = 0;
}

void snwSession_GatherWants(snwSession* session)
{
    session->want = 0;
    for (int i = 0; i < session->clients.count; ++i)
        session->want |= session->clients.data[i].want;
}
