// A frame for viewers: see docs/studio.md for the layout. Everything is written twice by the same code, first to count
// and then into a blob of just that size.

#include "studio/encode.h"
#include "studio/session_parts.h"
#include "view/film.h"

#include <math.h>
#include <string.h>

#define SNW_MEASURE_PAUSE 0.05 // s

// ---------------------------------------------------------------------------------------------------------------------
// Sections

void* snwEncoder_Add(snwEncoder* encoder, uint32_t kind, uint32_t index, size_t count, size_t bytes)
{
    size_t padded = (bytes + 7) / 8 * 8;
    unsigned char* at = encoder->data != NULL ? encoder->data + encoder->size : NULL;
    const uint32_t head[4] = {kind, index, (uint32_t)count, (uint32_t)bytes};
    encoder->size += sizeof head + padded;
    encoder->sections++;
    if (at == NULL)
        return NULL;
    memcpy(at, head, sizeof head);
    memset(at + sizeof head + bytes, 0, padded - bytes);
    return at + sizeof head;
}

void snwBlob_SetHead(snwBlob* blob, const snwBlobHead* head)
{
    _Static_assert(sizeof *head == snw_blobHead, "no gaps");
    memcpy(blob->data, head, sizeof *head);
}

void snwBlob_SetFrame(snwBlob* blob, const snwSession* session, uint32_t serial, uint32_t flags)
{
    snwBlobHead head;
    memcpy(&head, blob->data, sizeof head);
    head.serial = serial;
    head.flags = flags;
    head.ms = 1e3 * snwSession_Now(session);
    snwBlob_SetHead(blob, &head);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bodies

static void PackNormals(const float* normals, int count, int16_t* out)
{
    for (int i = 0; i < count; ++i)
    {
        const float* n = normals + 3 * (size_t)i;
        float square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        float scale = square > 0 ? 32767 / sqrtf(square) : 0;
        for (int k = 0; k < 3; ++k)
            out[4 * (size_t)i + (size_t)k] = (int16_t)lrintf(scale * n[k]); // rounding never passes 32767.01
        out[4 * (size_t)i + 3] = 0;
    }
}

// Normals of flat characters: all look at the viewer.
static void PackPlane(int count, int16_t* out)
{
    static const int16_t towards[4] = {0, 0, 32767, 0};
    for (int i = 0; i < count; ++i)
        memcpy(out + 4 * (size_t)i, towards, sizeof towards);
}

static void EncodeParts(const snwSession* session, snwEncoder* encoder)
{
    const snwShown* shown = session->stage->shown;
    for (int i = 0; i < shown->partCount; ++i)
    {
        // Each part with its own points; paper has one normal, bodies have as many as points.
        const snwShownPart* part = &shown->parts[i];
        const snwShownBody* body = &shown->bodies[part->body];
        size_t count = (size_t)part->pointCount, first = 3 * (size_t)part->firstPoint;
        float* positions = snwEncoder_Add(encoder, snw_sectionPositions, (uint32_t)i, count, 3 * count * sizeof(float));

        if (positions != NULL && count > 0)
            memcpy(positions, body->positions + first, 3 * count * sizeof(float));
        if (body->triangleCount == 0)
            continue;

        // 16 bits are enough for a normal, and a fourth number keeps them aligned.
        int16_t* normals = snwEncoder_Add(encoder, snw_sectionNormals, (uint32_t)i, count, 4 * count * sizeof(int16_t));
        if (normals != NULL && body->flat)
            PackPlane(part->pointCount, normals);
        else if (normals != NULL)
            PackNormals(body->normals + first, part->pointCount, normals);
    }
}

static void PutTransform(snwTransform t, float* out)
{
    const double values[7] = {
        t.position.x, t.position.y, t.position.z, t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w};
    for (int k = 0; k < 7; ++k)
        out[k] = (float)values[k];
}

static void AddTransforms(snwEncoder* encoder, snwSection kind, int index, const snwTransforms* transforms)
{
    size_t count = (size_t)transforms->count;
    float* out = count > 0 ? snwEncoder_Add(encoder, kind, (uint32_t)index, count, 7 * count * sizeof(float)) : NULL;
    for (size_t i = 0; i < count && out != NULL; ++i)
        PutTransform(
            *(const snwTransform*)((const char*)transforms->data + i * (size_t)transforms->stride), out + 7 * i);
}

// Only those that a hand can move: other methods have handles that nothing follows.
static void EncodeHandles(const snwSession* session, int body, snwEncoder* encoder)
{
    snwMatrices handles = {0};
    if ((session->sim->method->features & snw_featureHandles) != 0)
        snwSim_GetHandleMatrices(session->sim, body, &handles);
    size_t count = (size_t)handles.count;
    if (count == 0)
        return;
    float* out = snwEncoder_Add(encoder, snw_sectionHandles, (uint32_t)body, count, 12 * count * sizeof(float));
    for (size_t i = 0; i < count && out != NULL; ++i)
        for (size_t k = 0; k < 12; ++k)
            out[12 * i + k] = (float)((const double*)((const char*)handles.data + i * (size_t)handles.stride))[k];
    uint32_t* given = snwEncoder_Add(encoder, snw_sectionGiven, (uint32_t)body, count, count * sizeof(uint32_t));
    for (size_t i = 0; i < count && given != NULL; ++i)
        given[i] = session->live.handles[body][i].given;
}

// Methods without bones: the rigid motions that fit the flesh best.
static void EncodeBones(snwSession* session, int body, snwEncoder* encoder)
{
    const snwSim* sim = session->sim;
    const snwCharacterDef* def = &sim->bodies[body].character->def;
    snwTransforms bones = {0};
    snwVertices now = {0};

    if (def->boneCount == 0)
        return;

    // Fitted only when the section is written, not when it is counted: the bytes are the same.
    if (sim->method->getBones == NULL && encoder->data != NULL && snwSim_GetShown(sim, body, &now) >= 0)
    {
        snwTransform* fitted = snwAllocArray(session->context, (size_t)def->boneCount, sizeof *fitted);
        if (fitted != NULL && snwFitBones(session->context, def, &now, fitted, NULL) >= 0)
        {
            bones = (snwTransforms){fitted, def->boneCount, (int)sizeof *fitted};
            AddTransforms(encoder, snw_sectionBones, body, &bones);
            snwFree(session->context, fitted);
            return;
        }
        snwFree(session->context, fitted);
    }

    // Bones that the method moves by itself.
    snwSim_GetBones(sim, body, &bones);
    AddTransforms(encoder, snw_sectionBones, body, &bones);
}

static void EncodeElements(const snwSession* session, int body, snwEncoder* encoder)
{
    snwVertices now = {0};
    snwSim_GetVertices(session->sim, body, &now);
    size_t count = (size_t)now.count;
    float* out = snwEncoder_Add(encoder, snw_sectionElements, (uint32_t)body, count, 3 * count * sizeof(float));
    for (size_t i = 0; i < count && out != NULL; ++i)
        memcpy(out + 3 * i, (const char*)now.positions + i * (size_t)now.stride, 3 * sizeof(float));
}

static void AddBodies(snwSession* session, snwEncoder* encoder)
{
    for (int i = 0; i < session->sim->bodyCount; ++i)
    {
        snwTransforms joints = {0};
        EncodeBones(session, i, encoder);
        snwSim_GetJoints(session->sim, i, &joints);
        AddTransforms(encoder, snw_sectionJoints, i, &joints);
        EncodeHandles(session, i, encoder);
        if ((session->want & snw_wantElements) != 0)
            EncodeElements(session, i, encoder);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Colours

static bool WantedLook(const snwSession* session, snwFilmLook* look)
{
    static const snwFilmLook looks[] = {snw_filmStrain, snw_filmSpeed, snw_filmContact, snw_filmStiffness};
    for (int i = 0; i < 4; ++i)
        if ((session->want & (snw_wantStrain << i)) != 0)
            return *look = looks[i], true;
    return false;
}

// One range for the whole body, so that its parts go together.
static void FindValueRange(const snwShownBody* body, const float* values, float range[2])
{
    range[0] = range[1] = body->pointCount > 0 ? values[body->carriers[0]] : 0;
    for (int i = 1; i < body->pointCount; ++i)
    {
        range[0] = fminf(range[0], values[body->carriers[i]]);
        range[1] = fmaxf(range[1], values[body->carriers[i]]);
    }
}

static void PutValues(const int* carriers, int count, const float* values, const float range[2], unsigned char* out)
{
    float span = range[1] - range[0], scale = span > 0 ? 255 / span : 0;
    memcpy(out, range, 2 * sizeof(float));
    for (int i = 0; i < count; ++i)
        out[8 + i] = (unsigned char)lrintf(scale * (values[carriers[i]] - range[0]));
}

static void EncodeValues(snwSession* session, snwEncoder* encoder)
{
    snwShown* shown = session->stage->shown;
    snwFilmLook look;
    if (!WantedLook(session, &look))
        return;

    // Values by carrier: the vertex that each point rides on most, in a range of its own per body.
    for (int b = 0; b < shown->bodyCount; ++b)
    {
        const snwShownBody* body = &shown->bodies[b];
        float range[2] = {0, 0};
        if (encoder->data != NULL && snwShown_FindValues(shown, session->sim, b, look))
            FindValueRange(body, shown->values, range);

        for (int i = body->firstPart; i < body->firstPart + body->partCount; ++i)
        {
            const snwShownPart* part = &shown->parts[i];
            size_t count = (size_t)part->pointCount;
            unsigned char* out = snwEncoder_Add(encoder, snw_sectionValues, (uint32_t)i, count, 8 + count);
            if (out != NULL)
                PutValues(body->carriers + part->firstPoint, part->pointCount, shown->values, range, out);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The rest

static void EncodeContacts(const snwSession* session, snwEncoder* encoder)
{
    snwContacts contacts = {0};
    snwSim_GetContacts(session->sim, &contacts);
    size_t count = contacts.count < 4096 ? (size_t)contacts.count : 4096;
    if ((session->want & snw_wantContacts) == 0)
        return;
    float* out = snwEncoder_Add(encoder, snw_sectionContacts, 0, count, 7 * count * sizeof(float));
    for (size_t i = 0; i < count && out != NULL; ++i)
    {
        const snwContact* contact = (const snwContact*)((const char*)contacts.data + i * (size_t)contacts.stride);
        memcpy(out + 7 * i, contact->position, sizeof contact->position);
        memcpy(out + 7 * i + 3, contact->force, sizeof contact->force);
        out[7 * i + 6] = contact->depth;
    }
}

// Where the forces from below act together.
static void EncodePressure(const snwSession* session, snwEncoder* encoder)
{
    snwContacts contacts = {0};
    double sum[3] = {0}, force[3] = {0}, load = 0;
    if ((session->want & snw_wantPressure) == 0)
        return;
    float* out = snwEncoder_Add(encoder, snw_sectionPressure, 0, 1, 6 * sizeof(float));
    snwSim_GetContacts(session->sim, &contacts);

    // Forces from below, weighted by how much they carry; contacts between bodies cancel.
    for (int i = 0; i < contacts.count && out != NULL; ++i)
    {
        const snwContact* contact = (const snwContact*)((const char*)contacts.data +
                                                        (size_t)i * (size_t)contacts.stride);
        double up = fmax((double)contact->force[1], 0);
        for (int k = 0; k < 3 && contact->otherBody < 0; ++k)
        {
            sum[k] += up * (double)contact->position[k];
            force[k] += (double)contact->force[k];
        }

        load += contact->otherBody < 0 ? up : 0;
    }

    // The centre of pressure, and the whole force.
    for (int k = 0; k < 3 && out != NULL; ++k)
    {
        out[k] = (float)(load > 0 ? sum[k] / load : 0);
        out[3 + k] = (float)force[k];
    }
}

// Energies take longer than some steps do, and nobody reads more of them in a second.
static const snwMeasures* RefreshMeasures(snwSession* session)
{
    double now = snwSession_Now(session);
    uint64_t step = snwSim_GetStepCount(session->sim);
    if (step != session->measuredStep + 1 || now - session->measuredAt > SNW_MEASURE_PAUSE)
    {
        if (snwSim_GetMeasures(session->sim, -1, &session->measures) < 0)
            session->measures = (snwMeasures){0};
        session->measuredAt = now;
    }
    session->measuredStep = step;
    session->measures.time = snwSim_GetTime(session->sim);
    session->measures.stepMs = session->sim->stepMs;
    return &session->measures;
}

static void AddMeasures(snwSession* session, snwEncoder* encoder)
{
    size_t count = (size_t)snwMeasureCount();
    snwTimings timings;
    float* out = snwEncoder_Add(encoder, snw_sectionMeasures, 0, count, count * sizeof(float));
    const snwMeasures* measures = out != NULL ? RefreshMeasures(session) : NULL;
    for (size_t i = 0; i < count && measures != NULL; ++i)
        out[i] = (float)snwMeasures_Get(measures, (int)i);
    snwSim_GetTimings(session->sim, &timings);
    float* ms = snwEncoder_Add(
        encoder, snw_sectionStages, 0, (size_t)timings.count, (size_t)timings.count * sizeof(float));
    for (int i = 0; i < timings.count && ms != NULL; ++i)
        ms[i] = (float)timings.data[i].ms;
}

static void EncodeVertex(const snwSim* sim, int body, int vertex, float* out)
{
    snwVertices now = {0};
    if (snwSim_GetShown(sim, body, &now) >= 0 && vertex >= 0 && vertex < now.count)
        memcpy(out, (const char*)now.positions + (size_t)vertex * (size_t)now.stride, 3 * sizeof(float));
}

// The scene's pins that hold now, and vertices that a command holds.
static void EncodePins(const snwSession* session, snwEncoder* encoder)
{
    const snwSim* sim = session->sim;
    size_t count = 0, at = 0;
    for (int p = 0; p < sim->def->pinCount; ++p)
        count += sim->pins[p].held ? (size_t)sim->pinSets[p].count : 0;
    for (int g = 0; g < sim->grabCount; ++g)
        count += sim->grabs[g].kind == snw_grabPin;
    float* out = count > 0 ? snwEncoder_Add(encoder, snw_sectionPins, 0, count, 3 * count * sizeof(float)) : NULL;
    if (out == NULL)
        return;
    for (int p = 0; p < sim->def->pinCount; ++p)
        for (int i = 0; sim->pins[p].held && i < sim->pinSets[p].count; ++i)
            EncodeVertex(sim, sim->pinSets[p].body, sim->pinSets[p].vertices[i], out + 3 * at++);
    for (int g = 0; g < sim->grabCount; ++g)
        if (sim->grabs[g].kind == snw_grabPin)
            EncodeVertex(sim, sim->grabs[g].body, sim->grabs[g].vertex, out + 3 * at++);
}

static void AddHands(const snwSession* session, snwEncoder* encoder)
{
    size_t count = (size_t)session->handCount;
    if (count == 0)
        return;
    float* out = snwEncoder_Add(encoder, snw_sectionGrabs, 0, count, 6 * count * sizeof(float));

    // Where each hand holds on, and where it wants that to be.
    for (size_t i = 0; i < count && out != NULL; ++i)
    {
        const snwHand* hand = &session->hands[i];
        snwVec3 from = snwHand_Place(session, hand), to = hand->target.position;
        const double values[6] = {from.x, from.y, from.z, to.x, to.y, to.z};
        for (size_t k = 0; k < 6; ++k)
            out[6 * i + k] = (float)values[k];
    }

    // Which request of which client each hand follows: pages draw their own pointer until they see it.
    uint32_t* acks = snwEncoder_Add(encoder, snw_sectionAcks, 0, count, 2 * count * sizeof(uint32_t));
    for (size_t i = 0; i < count && acks != NULL; ++i)
    {
        acks[2 * i] = (uint32_t)session->hands[i].client;
        acks[2 * i + 1] = session->hands[i].request;
    }
}

static void EncodeFrame(snwSession* session, snwEncoder* encoder)
{
    snwTransforms colliders = {0}, props = {0};
    encoder->size = snw_blobHead;
    EncodeParts(session, encoder);
    AddBodies(session, encoder);
    snwSim_GetColliders(session->sim, &colliders);
    AddTransforms(encoder, snw_sectionColliders, 0, &colliders);
    props = (snwTransforms){session->sim->props != NULL ? &session->sim->props[0].transform : NULL,
        session->sim->def->propCount, (int)sizeof(snwProp)};
    AddTransforms(encoder, snw_sectionProps, 0, &props);
    EncodeContacts(session, encoder);
    EncodeValues(session, encoder);
    AddMeasures(session, encoder);
    EncodePins(session, encoder);
    AddHands(session, encoder);
    EncodePressure(session, encoder);
}

snwBlob* snwSession_EncodeFrame(snwSession* session)
{
    // Counted, then written into memory of just that size.
    snwEncoder encoder = {0};
    snwShown_Update(session->stage->shown, session->sim);
    EncodeFrame(session, &encoder);
    snwBlob* blob = snwCreateBlob(session->context, encoder.size);
    if (blob == NULL)
        return NULL;
    encoder = (snwEncoder){.data = blob->data};
    EncodeFrame(session, &encoder);
    blob->serial = ++session->frameSerial;

    // The head is written last, when the number of sections is known.
    snwBlobHead head = {.magic = SNW_BLOB_MAGIC,
        .layout = 1,
        .kind = 1,
        .serial = (uint32_t)blob->serial,
        .model = (uint32_t)session->stage->model->serial,
        .frame = snwSim_GetStepCount(session->sim),
        .time = snwSim_GetTime(session->sim),
        .ms = 1e3 * snwSession_Now(session),
        .flags = session->playing ? 1 : 0,
        .sections = encoder.sections};
    snwBlob_SetHead(blob, &head);

    return blob;
}
