// Characters as blocks of memory. The block holds the definition, not what follows from it; loading checks it as
// strictly as creating does.
//
// Version 2 is version 1 with more behind it, version 3 is version 2 with weights behind that, version 4 is version 3
// with frequency and settling of the materials and the vertices of motions behind that, version 5 is version 4 with
// bodies of bones and further ranges of joints behind that. A character that needs nothing of a version is written as
// the one before, so that it keeps the hash by which saved states and logs know it.

#include "sim/character.h"
#include "base/bytes.h"
#include "sim/limits.h"
#include "sim/vertex_track.h"

#include <string.h>

#define SNW_CHARACTER_MAGIC_1 0x31434E53u // "SNC1"
#define SNW_CHARACTER_MAGIC_2 0x32434E53u // "SNC2"
#define SNW_CHARACTER_MAGIC_3 0x33434E53u // "SNC3"
#define SNW_CHARACTER_MAGIC_4 0x34434E53u // "SNC4"
#define SNW_CHARACTER_MAGIC_5 0x35434E53u // "SNC5"

static void WriteBlockVec3(snwWriter* writer, snwVec3 v)
{
    snwWriteReal(writer, v.x);
    snwWriteReal(writer, v.y);
    snwWriteReal(writer, v.z);
}

static snwVec3 ReadBlockVec3(snwReader* reader)
{
    double x = snwReadReal(reader), y = snwReadReal(reader), z = snwReadReal(reader);
    return (snwVec3){x, y, z};
}

static const char* ReadBlockName(snwReader* reader, snwArena* arena)
{
    char* text = snwReadText(reader, arena->context);
    arena->failed = arena->failed || (text == NULL && !reader->failed);
    const char* name = snwArena_Text(arena, text);
    snwFree(arena->context, text);
    return name;
}

static void WriteBlockJoint(snwWriter* writer, const snwJointDef* joint)
{
    snwWriteText(writer, joint->name);
    snwWriteInt(writer, (int32_t)joint->type);
    snwWriteInt(writer, joint->parentBone);
    snwWriteInt(writer, joint->bone);
    WriteBlockVec3(writer, joint->position);
    WriteBlockVec3(writer, joint->axis);
    WriteBlockVec3(writer, joint->axis2);
    const double numbers[] = {joint->lower, joint->upper, joint->cone, joint->stiffness, joint->damping, joint->target};
    for (int i = 0; i < 6; ++i)
        snwWriteReal(writer, numbers[i]);
    snwWriteInt(writer, joint->motor);
}

static void ReadBlockJoint(snwReader* reader, snwArena* arena, snwJointDef* joint)
{
    joint->name = ReadBlockName(reader, arena);
    joint->type = (snwJointType)snwReadInt(reader);
    joint->parentBone = snwReadInt(reader);
    joint->bone = snwReadInt(reader);
    joint->position = ReadBlockVec3(reader);
    joint->axis = ReadBlockVec3(reader);
    joint->axis2 = ReadBlockVec3(reader);
    double* numbers[] = {
        &joint->lower, &joint->upper, &joint->cone, &joint->stiffness, &joint->damping, &joint->target};
    for (int i = 0; i < 6; ++i)
        *numbers[i] = snwReadReal(reader);
    joint->motor = snwReadInt(reader) != 0;
}

static void WriteRig(snwWriter* writer, const snwCharacterDef* def)
{
    snwWriteInt(writer, def->boneCount);
    for (int i = 0; i < def->boneCount; ++i)
    {
        snwWriteText(writer, def->bones[i].name);
        WriteBlockVec3(writer, def->bones[i].head);
        WriteBlockVec3(writer, def->bones[i].tail);
        snwWriteReal(writer, def->bones[i].radius);
    }

    // Each list with its count before it.
    snwWriteInt(writer, def->jointCount);
    for (int i = 0; i < def->jointCount; ++i)
        WriteBlockJoint(writer, &def->joints[i]);

    snwWriteInt(writer, def->handleCount);
    for (int i = 0; i < def->handleCount; ++i)
    {
        snwWriteText(writer, def->handles[i].name);
        snwWriteInt(writer, (int32_t)def->handles[i].kind);
        WriteBlockVec3(writer, def->handles[i].position);
        snwWriteInt(writer, (int32_t)def->handles[i].given);
    }

    // Rules between handles: a value, and terms that name handles by number.
    snwWriteInt(writer, def->constraintCount);
    for (int i = 0; i < def->constraintCount; ++i)
    {
        const snwLinearConstraintDef* constraint = &def->constraints[i];
        snwWriteReal(writer, constraint->value);
        snwWriteInt(writer, constraint->termCount);
        for (int k = 0; k < constraint->termCount; ++k)
        {
            snwWriteInt(writer, constraint->terms[k].handle);
            snwWriteInt(writer, (int32_t)constraint->terms[k].dof);
            snwWriteReal(writer, constraint->terms[k].coefficient);
        }
    }
}

static bool NeedsMore(const snwCharacterDef* def)
{
    bool needs = def->hexCount > 0 || def->triangleCount > 0 || def->elementBones != NULL || def->colors != NULL ||
                 def->texcoords != NULL || def->texture.width > 0 || def->motionCount > 0 ||
                 def->thickness != snwDefaultCharacterDef().thickness;
    for (int i = 0; i < def->boneCount; ++i)
        needs = needs || def->bones[i].parent >= 0;
    return needs;
}

// An array that may be missing.
static void WriteOptional(snwWriter* writer, const void* data, size_t bytes)
{
    snwWriteInt(writer, data != NULL);
    if (data != NULL)
        snwWrite(writer, data, bytes);
}

static void WriteBlockMotions(snwWriter* writer, const snwCharacterDef* def)
{
    snwWriteInt(writer, def->motionCount);
    for (int i = 0; i < def->motionCount; ++i)
    {
        const snwMotionDef* motion = &def->motions[i];
        snwWriteText(writer, motion->name);
        snwWriteReal(writer, motion->duration);
        snwWriteInt(writer, motion->loop);
        snwWriteInt(writer, motion->trackCount);
        for (int k = 0; k < motion->trackCount; ++k)
        {
            const snwTrackDef* track = &motion->tracks[k];
            snwWriteInt(writer, track->bone);
            snwWriteInt(writer, track->keyCount);
            snwWrite(writer, track->keys, (size_t)track->keyCount * sizeof *track->keys);
        }
    }
}

static void WriteMore(snwWriter* writer, const snwCharacterDef* def)
{
    size_t vertices = (size_t)def->vertexCount, elements = (size_t)snwCharacterDef_Elements(def).count;

    // Parents stand here and not with their bones: blocks of the first version end before.
    for (int i = 0; i < def->boneCount; ++i)
        snwWriteInt(writer, def->bones[i].parent);
    snwWriteReal(writer, def->thickness);

    // Other kinds of elements.
    snwWriteInt(writer, def->hexCount);
    snwWrite(writer, def->hexes, (size_t)def->hexCount * sizeof *def->hexes);
    snwWriteInt(writer, def->triangleCount);
    snwWrite(writer, def->triangles, (size_t)def->triangleCount * sizeof *def->triangles);
    if (def->tetCount == 0) // else they stand beside the tets
        snwWrite(writer, def->regions, elements * sizeof *def->regions);

    // What may be missing says whether it is there.
    WriteOptional(writer, def->elementBones, elements * sizeof *def->elementBones);
    WriteOptional(writer, def->colors, vertices * sizeof *def->colors);
    WriteOptional(writer, def->texcoords, vertices * sizeof *def->texcoords);

    const snwTexture* texture = &def->texture;
    snwWriteInt(writer, texture->width);
    snwWriteInt(writer, texture->height);
    snwWrite(writer, texture->pixels, 4 * (size_t)texture->width * (size_t)texture->height);
    WriteBlockMotions(writer, def);
}

static void WriteBlockWeights(snwWriter* writer, const snwWeights* weights)
{
    int entries = weights->vertexCount > 0 ? weights->starts[weights->vertexCount] : 0;
    snwWriteInt(writer, entries); // every row has some: 0 is none
    if (entries == 0)
        return;
    snwWrite(writer, weights->starts, ((size_t)weights->vertexCount + 1) * sizeof *weights->starts);
    snwWrite(writer, weights->handles, (size_t)entries * sizeof *weights->handles);
    snwWrite(writer, weights->values, (size_t)entries * sizeof *weights->values);
}

// What every version has of a material.
static void WriteMaterials(snwWriter* writer, const snwCharacterDef* def)
{
    snwWriteInt(writer, def->materialCount);
    for (int i = 0; i < def->materialCount; ++i)
    {
        const snwMaterial* material = &def->materials[i];
        const double numbers[4] = {material->density, material->young, material->poisson, material->damping};
        snwWrite(writer, numbers, sizeof numbers);
    }
}

static bool NeedsTracks(const snwCharacterDef* def)
{
    bool needs = false;
    for (int i = 0; i < def->materialCount; ++i)
        needs = needs || def->materials[i].frequency != 0.0 || def->materials[i].settling != 0.0;
    for (int i = 0; i < def->motionCount; ++i)
        needs = needs || def->motions[i].vertices.sampleCount > 0;
    return needs;
}

static void WriteBehind(snwWriter* writer, const snwCharacterDef* def)
{
    for (int i = 0; i < def->materialCount; ++i)
    {
        snwWriteReal(writer, def->materials[i].frequency);
        snwWriteReal(writer, def->materials[i].settling);
    }
    for (int i = 0; i < def->motionCount; ++i)
        snwVertexTrack_Write(writer, &def->motions[i].vertices, def->vertexCount);
}

static bool NeedsBodies(const snwCharacterDef* def)
{
    bool needs = false;
    for (int i = 0; i < def->boneCount; ++i)
        needs = needs || def->bones[i].mass > 0.0 || def->bones[i].shape.kind != snw_colliderPlane;
    for (int i = 0; i < def->jointCount; ++i)
        needs = needs || def->joints[i].lower2 < def->joints[i].upper2 || def->joints[i].lower3 < def->joints[i].upper3;
    return needs;
}

static void WriteBlockBodies(snwWriter* writer, const snwCharacterDef* def)
{
    for (int i = 0; i < def->boneCount; ++i)
    {
        const snwBoneDef* bone = &def->bones[i];
        const snwBoneShape* shape = &bone->shape;
        const snwQuat q = shape->place.rotation;

        // Mass and inertia as they were given, then the shape that touches, its place and its cells.
        snwWriteReal(writer, bone->mass);
        WriteBlockVec3(writer, bone->centre);
        for (int k = 0; k < 6; ++k)
            snwWriteReal(writer, bone->inertia[k]);
        snwWriteInt(writer, (int32_t)shape->kind);
        WriteBlockVec3(writer, shape->place.position);
        const double turn[4] = {q.x, q.y, q.z, q.w};
        snwWrite(writer, turn, sizeof turn);
        WriteBlockVec3(writer, shape->size);
        for (int k = 0; k < 3; ++k)
            snwWriteInt(writer, shape->cells[k]);
    }

    // Ranges about second and third axes.
    for (int i = 0; i < def->jointCount; ++i)
    {
        const snwJointDef* joint = &def->joints[i];
        const double ranges[4] = {joint->lower2, joint->upper2, joint->lower3, joint->upper3};
        snwWrite(writer, ranges, sizeof ranges);
    }
}

snwResult snwCharacter_Save(const snwCharacter* character, void** data, size_t* size, snwMessage* message)
{
    const snwCharacterDef* def = &character->def;
    snwWriter writer = {.context = character->context};
    bool bodies = NeedsBodies(def), tracks = bodies || NeedsTracks(def);
    bool weights = tracks || def->boneWeights.vertexCount > 0 || def->handleWeights.vertexCount > 0;
    bool more = weights || NeedsMore(def);

    // The lowest version that can hold it, so that a character keeps its bytes and its hash when new versions come.
    snwWriteInt(&writer, (int32_t)(bodies    ? SNW_CHARACTER_MAGIC_5
                                   : tracks  ? SNW_CHARACTER_MAGIC_4
                                   : weights ? SNW_CHARACTER_MAGIC_3
                                   : more    ? SNW_CHARACTER_MAGIC_2
                                             : SNW_CHARACTER_MAGIC_1));

    // The mesh.
    snwWriteText(&writer, def->name);
    snwWriteText(&writer, def->source);
    snwWrite(&writer, def->color, sizeof def->color);
    snwWriteInt(&writer, def->vertexCount);
    snwWrite(&writer, def->vertices, (size_t)def->vertexCount * sizeof *def->vertices);
    snwWriteInt(&writer, def->tetCount);
    snwWrite(&writer, def->tets, (size_t)def->tetCount * sizeof *def->tets);
    snwWrite(&writer, def->regions, (size_t)def->tetCount * sizeof *def->regions);
    snwWriteInt(&writer, def->edgeCount);
    snwWrite(&writer, def->edges, (size_t)def->edgeCount * sizeof *def->edges);

    snwWriteInt(&writer, def->masses != NULL);
    if (def->masses != NULL)
        snwWrite(&writer, def->masses, (size_t)def->vertexCount * sizeof *def->masses);

    // Materials and rig, then what later versions have added, each behind the one before.
    WriteMaterials(&writer, def);
    WriteRig(&writer, def);
    if (more)
        WriteMore(&writer, def);
    if (weights)
    {
        WriteBlockWeights(&writer, &def->boneWeights);
        WriteBlockWeights(&writer, &def->handleWeights);
    }

    if (tracks)
        WriteBehind(&writer, def);
    if (bodies)
        WriteBlockBodies(&writer, def);

    // Whatever went wrong on the way shows here.
    if (writer.failed)
    {
        snwFree(character->context, writer.data);
        return snwFailMemory(message);
    }

    *data = writer.data;
    *size = writer.size;
    return snw_ok;
}

static void* ReadBlockArray(snwReader* reader, snwArena* arena, int count, size_t size)
{
    void* array = reader->failed ? NULL : snwArena_Alloc(arena, (size_t)count, size);
    if (array != NULL)
        snwRead(reader, array, (size_t)count * size);
    return array;
}

// An array whose count was not read with it: it must fit into what is left before memory is asked for.
static void* ReadLong(snwReader* reader, snwArena* arena, int count, size_t size)
{
    if ((size_t)count * size > reader->size - reader->position)
        reader->failed = true;
    return ReadBlockArray(reader, arena, count, size);
}

static const snwMaterial* ReadBlockMaterials(snwReader* reader, snwArena* arena, int count)
{
    snwMaterial* materials = reader->failed ? NULL : snwArena_Alloc(arena, (size_t)count, sizeof *materials);
    for (int i = 0; materials != NULL && i < count; ++i)
    {
        double* numbers[] = {&materials[i].density, &materials[i].young, &materials[i].poisson, &materials[i].damping};
        for (int k = 0; k < 4; ++k)
            *numbers[k] = snwReadReal(reader);
    }
    return materials;
}

static void ReadBlockMesh(snwReader* reader, snwArena* arena, snwCharacterDef* def)
{
    def->vertexCount = snwReadCount(reader, sizeof *def->vertices);
    def->vertices = ReadBlockArray(reader, arena, def->vertexCount, sizeof *def->vertices);
    def->tetCount = snwReadCount(reader, sizeof *def->tets + sizeof *def->regions);
    def->tets = ReadBlockArray(reader, arena, def->tetCount, sizeof *def->tets);
    def->regions = ReadBlockArray(reader, arena, def->tetCount, sizeof *def->regions);
    def->edgeCount = snwReadCount(reader, sizeof *def->edges);
    def->edges = ReadBlockArray(reader, arena, def->edgeCount, sizeof *def->edges);
    if (snwReadInt(reader) != 0)
        def->masses = ReadLong(reader, arena, def->vertexCount, sizeof *def->masses);
    def->materialCount = snwReadCount(reader, 4 * sizeof(double));
    def->materials = ReadBlockMaterials(reader, arena, def->materialCount);
}

static void ReadConstraints(snwReader* reader, snwArena* arena, snwCharacterDef* def)
{
    def->constraintCount = snwReadCount(reader, 12);
    snwLinearConstraintDef* constraints = snwArena_Alloc(arena, (size_t)def->constraintCount, sizeof *constraints);
    for (int i = 0; constraints != NULL && i < def->constraintCount; ++i)
    {
        constraints[i].value = snwReadReal(reader);
        constraints[i].termCount = snwReadCount(reader, 16);
        snwLinearTerm* terms = snwArena_Alloc(arena, (size_t)constraints[i].termCount, sizeof *terms);
        for (int k = 0; terms != NULL && k < constraints[i].termCount; ++k)
        {
            terms[k].handle = snwReadInt(reader);
            terms[k].dof = (uint32_t)snwReadInt(reader);
            terms[k].coefficient = snwReadReal(reader);
        }
        constraints[i].terms = terms;
    }
    def->constraints = constraints;
}

static void ReadRig(snwReader* reader, snwArena* arena, snwCharacterDef* def)
{
    // Counts are bounded by the bytes that one of them takes at least: a damaged count allocates nothing large.
    def->boneCount = snwReadCount(reader, 60);
    snwBoneDef* bones = snwArena_Alloc(arena, (size_t)def->boneCount, sizeof *bones);
    for (int i = 0; bones != NULL && i < def->boneCount; ++i)
    {
        bones[i].name = ReadBlockName(reader, arena);
        bones[i].head = ReadBlockVec3(reader);
        bones[i].tail = ReadBlockVec3(reader);
        bones[i].radius = snwReadReal(reader);
        bones[i].parent = -1;
        bones[i].shape.place = snwTransform_Identity();
    }

    def->jointCount = snwReadCount(reader, 140);
    snwJointDef* joints = snwArena_Alloc(arena, (size_t)def->jointCount, sizeof *joints);
    for (int i = 0; joints != NULL && i < def->jointCount; ++i)
        ReadBlockJoint(reader, arena, &joints[i]);

    def->handleCount = snwReadCount(reader, 36);
    snwHandleDef* handles = snwArena_Alloc(arena, (size_t)def->handleCount, sizeof *handles);

    for (int i = 0; handles != NULL && i < def->handleCount; ++i)
    {
        handles[i].name = ReadBlockName(reader, arena);
        handles[i].kind = (snwHandleKind)snwReadInt(reader);
        handles[i].position = ReadBlockVec3(reader);
        handles[i].given = (uint32_t)snwReadInt(reader);
    }

    // Rules name handles, so they come last.
    def->bones = bones;
    def->joints = joints;
    def->handles = handles;
    ReadConstraints(reader, arena, def);
}

static void* ReadOptional(snwReader* reader, snwArena* arena, int count, size_t size)
{
    return snwReadInt(reader) != 0 ? ReadLong(reader, arena, count, size) : NULL;
}

static const snwTrackDef* ReadBlockTracks(snwReader* reader, snwArena* arena, int count)
{
    snwTrackDef* tracks = snwArena_Alloc(arena, (size_t)count, sizeof *tracks);
    for (int i = 0; tracks != NULL && i < count; ++i)
    {
        tracks[i].bone = snwReadInt(reader);
        tracks[i].keyCount = snwReadCount(reader, sizeof(snwKey));
        tracks[i].keys = ReadBlockArray(reader, arena, tracks[i].keyCount, sizeof(snwKey));
    }
    return tracks;
}

static void ReadMotions(snwReader* reader, snwArena* arena, snwCharacterDef* def)
{
    def->motionCount = snwReadCount(reader, 20);
    snwMotionDef* motions = snwArena_Alloc(arena, (size_t)def->motionCount, sizeof *motions);
    for (int i = 0; motions != NULL && i < def->motionCount; ++i)
    {
        motions[i].name = ReadBlockName(reader, arena);
        motions[i].duration = snwReadReal(reader);
        motions[i].loop = snwReadInt(reader) != 0;
        motions[i].trackCount = snwReadCount(reader, 8);
        motions[i].tracks = ReadBlockTracks(reader, arena, motions[i].trackCount);
    }
    def->motions = motions;
}

static void ReadBlockTexture(snwReader* reader, snwArena* arena, snwTexture* texture)
{
    texture->width = snwReadInt(reader);
    texture->height = snwReadInt(reader);
    if (texture->width < 0 || texture->width > SNW_MAX_TEXTURE || texture->height < 0 ||
        texture->height > SNW_MAX_TEXTURE)
        reader->failed = true;
    else
        texture->pixels = ReadLong(reader, arena, texture->width * texture->height, 4);
}

static void ReadMore(snwReader* reader, snwArena* arena, snwCharacterDef* def)
{
    snwBoneDef* bones = (snwBoneDef*)def->bones; // our own, of ReadRig
    for (int i = 0; bones != NULL && i < def->boneCount; ++i)
        bones[i].parent = snwReadInt(reader);

    def->thickness = snwReadReal(reader);
    def->hexCount = snwReadCount(reader, sizeof *def->hexes);
    def->hexes = ReadBlockArray(reader, arena, def->hexCount, sizeof *def->hexes);

    def->triangleCount = snwReadCount(reader, sizeof *def->triangles);
    def->triangles = ReadBlockArray(reader, arena, def->triangleCount, sizeof *def->triangles);

    // One kind of elements; what belongs to elements comes once their number is known.
    int elements = snwCharacterDef_Elements(def).count;
    if (def->tetCount == 0)
        def->regions = ReadLong(reader, arena, elements, sizeof *def->regions);
    else if (elements != def->tetCount)
        reader->failed = true; // two kinds: the arrays below would be of neither

    // Arrays by element, whatever the kind of elements.
    def->elementBones = ReadOptional(reader, arena, elements, sizeof *def->elementBones);
    def->colors = ReadOptional(reader, arena, def->vertexCount, sizeof *def->colors);
    def->texcoords = ReadOptional(reader, arena, def->vertexCount, sizeof *def->texcoords);
    ReadBlockTexture(reader, arena, &def->texture);
    ReadMotions(reader, arena, def);
}

static snwWeights ReadWeights(snwReader* reader, snwArena* arena, const snwCharacterDef* def, int handleCount)
{
    int entries = snwReadCount(reader, sizeof(int) + sizeof(double));
    if (entries == 0)
        return (snwWeights){0};
    int* starts = ReadLong(reader, arena, def->vertexCount + 1, sizeof(int));
    int* handles = ReadLong(reader, arena, entries, sizeof(int));
    double* values = ReadLong(reader, arena, entries, sizeof(double));
    // The check of a definition trusts the last start to tell how long the arrays are.
    if (starts != NULL && starts[def->vertexCount] != entries)
        reader->failed = true;
    return (snwWeights){def->vertexCount, handleCount, starts, handles, values};
}

static void ReadBehind(snwReader* reader, snwArena* arena, const snwCharacterDef* def)
{
    snwMaterial* materials = (snwMaterial*)def->materials; // our own, of ReadBlockMaterials
    for (int i = 0; materials != NULL && i < def->materialCount; ++i)
    {
        materials[i].frequency = snwReadReal(reader);
        materials[i].settling = snwReadReal(reader);
    }
    snwMotionDef* motions = (snwMotionDef*)def->motions; // likewise, of ReadMotions
    for (int i = 0; motions != NULL && i < def->motionCount; ++i)
        motions[i].vertices = snwVertexTrack_Read(reader, arena, def->vertexCount);
}

static void ReadBlockBodies(snwReader* reader, const snwCharacterDef* def)
{
    snwBoneDef* bones = (snwBoneDef*)def->bones; // our own, of ReadRig
    for (int i = 0; bones != NULL && i < def->boneCount; ++i)
    {
        snwBoneShape* shape = &bones[i].shape;
        bones[i].mass = snwReadReal(reader);
        bones[i].centre = ReadBlockVec3(reader);
        for (int k = 0; k < 6; ++k)
            bones[i].inertia[k] = snwReadReal(reader);
        shape->kind = (snwColliderKind)snwReadInt(reader);
        shape->place.position = ReadBlockVec3(reader);

        // In the order in which they were written: x y z w.
        double* turn[4] = {
            &shape->place.rotation.x, &shape->place.rotation.y, &shape->place.rotation.z, &shape->place.rotation.w};
        for (int k = 0; k < 4; ++k)
            *turn[k] = snwReadReal(reader);

        shape->size = ReadBlockVec3(reader);
        for (int k = 0; k < 3; ++k)
            shape->cells[k] = snwReadInt(reader);
    }

    snwJointDef* joints = (snwJointDef*)def->joints; // likewise
    for (int i = 0; joints != NULL && i < def->jointCount; ++i)
    {
        double* ranges[4] = {&joints[i].lower2, &joints[i].upper2, &joints[i].lower3, &joints[i].upper3};
        for (int k = 0; k < 4; ++k)
            *ranges[k] = snwReadReal(reader);
    }
}

snwResult snwCharacter_LoadAs(snwContext* context, const void* data, size_t size, const char* name, const char* source,
    snwCharacter** character, snwMessage* message)
{
    *character = NULL;
    snwReader reader = {.data = data, .size = size};
    uint32_t magic = (uint32_t)snwReadInt(&reader);
    if (magic < SNW_CHARACTER_MAGIC_1 || magic > SNW_CHARACTER_MAGIC_5 || (magic & 0xFFFFFF) != 0x434E53)
        return snwFail(message, snw_errorInput, NULL, "not a saved character, or of another version");

    // In the order of snwCharacter_Save.
    snwArena arena = {.context = context};
    snwCharacterDef def = snwDefaultCharacterDef();
    def.name = ReadBlockName(&reader, &arena);
    def.source = ReadBlockName(&reader, &arena);
    snwRead(&reader, def.color, sizeof def.color);

    ReadBlockMesh(&reader, &arena, &def);
    ReadRig(&reader, &arena, &def);
    if (magic != SNW_CHARACTER_MAGIC_1)
        ReadMore(&reader, &arena, &def);
    if (magic >= SNW_CHARACTER_MAGIC_3)
    {
        def.boneWeights = ReadWeights(&reader, &arena, &def, def.boneCount);
        def.handleWeights = ReadWeights(&reader, &arena, &def, def.handleCount);
    }

    if (magic >= SNW_CHARACTER_MAGIC_4)
        ReadBehind(&reader, &arena, &def);
    if (magic == SNW_CHARACTER_MAGIC_5)
        ReadBlockBodies(&reader, &def);

    // The caller's names, if it gave any: a file that was renamed, say.
    def.name = name != NULL ? name : def.name;
    def.source = source != NULL ? source : def.source;
    snwResult result;

    if (arena.failed) // first: what was read after it is out of step
        result = snwFailMemory(message);
    else if (reader.failed || reader.position != size)
        result = snwFail(message, snw_errorInput, "save it again", "the saved character is cut short or damaged");
    else
        result = snwCreateCharacter(context, &def, character, message);

    snwArena_Free(&arena);
    // It came out of a file, so it is the file that is wrong.
    if (result == snw_errorArgument)
    {
        result = snw_errorInput;
        if (message != NULL)
            message->result = result;
    }

    return result;
}

snwResult snwCharacter_Load(
    snwContext* context, const void* data, size_t size, snwCharacter** character, snwMessage* message)
{
    return snwCharacter_LoadAs(context, data, size, NULL, NULL, character, message);
}
