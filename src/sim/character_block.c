// Characters as blocks of memory. The block holds the definition, not what follows from it; loading checks it as
// strictly as creating does.

#include "sim/character.h"
#include "base/bytes.h"

#include <string.h>

#define SNW_CHARACTER_MAGIC 0x31434E53u // "SNC1"

static void WriteVec3(snwWriter* writer, snwVec3 v)
{
    snwWriteReal(writer, v.x);
    snwWriteReal(writer, v.y);
    snwWriteReal(writer, v.z);
}

static snwVec3 ReadVec3(snwReader* reader)
{
    double x = snwReadReal(reader), y = snwReadReal(reader), z = snwReadReal(reader);
    return (snwVec3){x, y, z};
}

static const char* ReadName(snwReader* reader, snwArena* arena)
{
    char* text = snwReadText(reader, arena->context);
    arena->failed = arena->failed || (text == NULL && !reader->failed);
    const char* name = snwArena_Text(arena, text);
    snwFree(arena->context, text);
    return name;
}

static void WriteJoint(snwWriter* writer, const snwJointDef* joint)
{
    snwWriteText(writer, joint->name);
    snwWriteInt(writer, (int32_t)joint->type);
    snwWriteInt(writer, joint->parentBone);
    snwWriteInt(writer, joint->bone);
    WriteVec3(writer, joint->position);
    WriteVec3(writer, joint->axis);
    WriteVec3(writer, joint->axis2);
    const double numbers[] = {joint->lower, joint->upper, joint->cone, joint->stiffness, joint->damping, joint->target};
    for (int i = 0; i < 6; ++i)
        snwWriteReal(writer, numbers[i]);
    snwWriteInt(writer, joint->motor);
}

static void ReadJoint(snwReader* reader, snwArena* arena, snwJointDef* joint)
{
    joint->name = ReadName(reader, arena);
    joint->type = (snwJointType)snwReadInt(reader);
    joint->parentBone = snwReadInt(reader);
    joint->bone = snwReadInt(reader);
    joint->position = ReadVec3(reader);
    joint->axis = ReadVec3(reader);
    joint->axis2 = ReadVec3(reader);
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
        WriteVec3(writer, def->bones[i].head);
        WriteVec3(writer, def->bones[i].tail);
        snwWriteReal(writer, def->bones[i].radius);
    }
    snwWriteInt(writer, def->jointCount);
    for (int i = 0; i < def->jointCount; ++i)
        WriteJoint(writer, &def->joints[i]);
    snwWriteInt(writer, def->handleCount);
    for (int i = 0; i < def->handleCount; ++i)
    {
        snwWriteText(writer, def->handles[i].name);
        snwWriteInt(writer, (int32_t)def->handles[i].kind);
        WriteVec3(writer, def->handles[i].position);
        snwWriteInt(writer, (int32_t)def->handles[i].given);
    }
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

snwResult snwCharacter_Save(const snwCharacter* character, void** data, size_t* size, snwMessage* message)
{
    const snwCharacterDef* def = &character->def;
    snwWriter writer = {.context = character->context};
    snwWriteInt(&writer, (int32_t)SNW_CHARACTER_MAGIC);
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
    snwWriteInt(&writer, def->materialCount);
    snwWrite(&writer, def->materials, (size_t)def->materialCount * sizeof *def->materials);
    WriteRig(&writer, def);
    if (writer.failed)
    {
        snwFree(character->context, writer.data);
        return snwFailMemory(message);
    }
    *data = writer.data;
    *size = writer.size;
    return snw_ok;
}

static void* ReadArray(snwReader* reader, snwArena* arena, int count, size_t size)
{
    void* array = reader->failed ? NULL : snwArena_Alloc(arena, (size_t)count, size);
    if (array != NULL)
        snwRead(reader, array, (size_t)count * size);
    return array;
}

static void ReadMesh(snwReader* reader, snwArena* arena, snwCharacterDef* def)
{
    def->vertexCount = snwReadCount(reader, sizeof *def->vertices);
    def->vertices = ReadArray(reader, arena, def->vertexCount, sizeof *def->vertices);
    def->tetCount = snwReadCount(reader, sizeof *def->tets + sizeof *def->regions);
    def->tets = ReadArray(reader, arena, def->tetCount, sizeof *def->tets);
    def->regions = ReadArray(reader, arena, def->tetCount, sizeof *def->regions);
    def->edgeCount = snwReadCount(reader, sizeof *def->edges);
    def->edges = ReadArray(reader, arena, def->edgeCount, sizeof *def->edges);
    if (snwReadInt(reader) != 0)
        def->masses = ReadArray(reader, arena, def->vertexCount, sizeof *def->masses);
    def->materialCount = snwReadCount(reader, sizeof *def->materials);
    def->materials = ReadArray(reader, arena, def->materialCount, sizeof *def->materials);
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
    def->boneCount = snwReadCount(reader, 60);
    snwBoneDef* bones = snwArena_Alloc(arena, (size_t)def->boneCount, sizeof *bones);
    for (int i = 0; bones != NULL && i < def->boneCount; ++i)
    {
        bones[i].name = ReadName(reader, arena);
        bones[i].head = ReadVec3(reader);
        bones[i].tail = ReadVec3(reader);
        bones[i].radius = snwReadReal(reader);
    }
    def->jointCount = snwReadCount(reader, 140);
    snwJointDef* joints = snwArena_Alloc(arena, (size_t)def->jointCount, sizeof *joints);
    for (int i = 0; joints != NULL && i < def->jointCount; ++i)
        ReadJoint(reader, arena, &joints[i]);
    def->handleCount = snwReadCount(reader, 36);
    snwHandleDef* handles = snwArena_Alloc(arena, (size_t)def->handleCount, sizeof *handles);
    for (int i = 0; handles != NULL && i < def->handleCount; ++i)
    {
        handles[i].name = ReadName(reader, arena);
        handles[i].kind = (snwHandleKind)snwReadInt(reader);
        handles[i].position = ReadVec3(reader);
        handles[i].given = (uint32_t)snwReadInt(reader);
    }
    def->bones = bones;
    def->joints = joints;
    def->handles = handles;
    ReadConstraints(reader, arena, def);
}

snwResult snwCharacter_Load(
    snwContext* context, const void* data, size_t size, snwCharacter** character, snwMessage* message)
{
    *character = NULL;
    snwReader reader = {.data = data, .size = size};
    if ((uint32_t)snwReadInt(&reader) != SNW_CHARACTER_MAGIC)
        return snwFail(message, snw_errorInput, NULL, "not a saved character, or of another version");
    snwArena arena = {.context = context};
    snwCharacterDef def = snwDefaultCharacterDef();
    def.name = ReadName(&reader, &arena);
    def.source = ReadName(&reader, &arena);
    snwRead(&reader, def.color, sizeof def.color);
    ReadMesh(&reader, &arena, &def);
    ReadRig(&reader, &arena, &def);
    snwResult result;
    if (arena.failed) // first: what was read after it is out of step
        result = snwFailMemory(message);
    else if (reader.failed || reader.position != size)
        result = snwFail(message, snw_errorInput, "save it again", "the saved character is cut short or damaged");
    else
        result = snwCreateCharacter(context, &def, character, message);
    snwArena_Free(&arena);
    if (result == snw_errorArgument)
    {
        result = snw_errorInput;
        if (message != NULL)
            message->result = result;
    }
    return result;
}
