// The header of a frames cache: written from a scene, read from anybody. All sections start at multiples of eight
// bytes, so that the tables of a header in memory are used where they are.

#include "scene/frames.h"
#include "scene/tables.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Writing

static void WriteName(snwWriter* writer, const char* text, size_t length)
{
    snwWriteU64(writer, length);
    snwWrite(writer, text, length);
    snwWrite(writer, "", 1);
    snwWriteZeros(writer, 8);
}

static void WriteArray(snwWriter* writer, const void* data, size_t count, size_t size)
{
    snwWrite(writer, data, count * size);
    snwWriteZeros(writer, 8);
}

// One attribute of the skin's vertices, taken from the character's.
static void WriteGathered(snwWriter* writer, const snwFramesBody* body, const void* data, size_t size)
{
    for (int i = 0; i < body->skinVertexCount; ++i)
        snwWrite(writer, (const char*)data + (size_t)body->skinVertices[i] * size, size);
    snwWriteZeros(writer, 8);
}

static void WriteBones(snwWriter* writer, const snwCharacterDef* def)
{
    for (int i = 0; i < def->boneCount; ++i)
    {
        const snwBoneDef* bone = &def->bones[i];
        WriteName(writer, bone->name, strlen(bone->name));
        snwWrite(writer, &bone->head, sizeof bone->head);
        snwWrite(writer, &bone->tail, sizeof bone->tail);
        snwWriteReal(writer, bone->radius);
        snwWriteInt(writer, bone->parent);
        snwWriteInt(writer, 0);
    }
}

static void WriteSkin(snwWriter* writer, const snwCharacterDef* def, const snwFramesBody* skin)
{
    const snwTexture* texture = &def->texture;
    bool textured = texture->width > 0;

    // Flags say which arrays follow.
    int flags = (def->colors != NULL ? snw_skinHasColors : 0) | (def->texcoords != NULL ? snw_skinHasTexcoords : 0) |
                (textured ? snw_skinHasTexture : 0);

    // Counts first, then arrays in a fixed order; only what the skin's vertices have is stored.
    WriteName(writer, def->name, strlen(def->name));
    const int32_t numbers[] = {skin->skinVertexCount, skin->triangleCount, def->vertexCount, def->boneCount, flags,
        textured ? texture->width : 0, textured ? texture->height : 0, 0};
    snwWrite(writer, numbers, sizeof numbers);
    WriteArray(writer, def->color, 3, sizeof(float));
    WriteArray(writer, skin->skinVertices, (size_t)skin->skinVertexCount, sizeof(int));
    WriteArray(writer, skin->triangles, 3 * (size_t)skin->triangleCount, sizeof(int));
    if (def->colors != NULL)
        WriteGathered(writer, skin, def->colors, sizeof *def->colors);
    if (def->texcoords != NULL)
        WriteGathered(writer, skin, def->texcoords, sizeof *def->texcoords);
    if (textured)
        WriteArray(writer, texture->pixels, (size_t)texture->width * (size_t)texture->height, 4);
    WriteBones(writer, def);
}

// What is seen of the character: which of its vertices are on the skin, their triangles and colours, and the bones.
static snwResult WriteCharacter(snwWriter* writer, const snwCharacter* character, snwMessage* message)
{
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    snwSkin rest;
    snwResult result = snwCharacter_GetRestSkin(character, &rest);
    if (result < 0)
        return snwFail(message, result, NULL, "the character '%s' has no skin to store", def->name);

    snwFramesBody skin = {.skinVertexCount = rest.vertexCount,
        .skinVertices = rest.vertices,
        .triangles = rest.triangles,
        .triangleCount = rest.triangleCount};
    int* all = NULL;

    if (rest.vertexCount == 0) // a spring: all there is to be seen are its vertices
    {
        skin.skinVertices = all = snwAllocArray(writer->context, (size_t)def->vertexCount, sizeof *all);
        if (all == NULL)
            return snwFailMemory(message);
        skin.skinVertexCount = def->vertexCount;
        for (int i = 0; i < def->vertexCount; ++i)
            all[i] = i;
    }

    WriteSkin(writer, def, &skin);
    snwFree(writer->context, all);
    return snw_ok;
}

// Bodies often share a character: it is written once, where its first body comes. Returns that body.
static int FirstUse(const snwSceneDef* scene, int body)
{
    int first = 0;
    while (scene->bodies[first].character != scene->bodies[body].character)
        first++;
    return first;
}

static snwResult WriteFramesBodies(snwWriter* writer, const snwSceneDef* scene, snwMessage* message)
{
    int numbers[snw_maxBodies], count = 0;
    snwResult result = snw_ok;
    if (scene->bodyCount > snw_maxBodies)
        return snwFail(message, snw_errorUnsupported, NULL, "a frames cache holds at most %d bodies", snw_maxBodies);

    // A character that several bodies share is stored once, where it is first used.
    for (int i = 0; i < scene->bodyCount && result >= 0; ++i)
    {
        int first = FirstUse(scene, i);
        numbers[i] = first < i ? numbers[first] : count++;
        if (first == i)
            result = WriteCharacter(writer, scene->bodies[i].character, message);
    }

    // Bodies refer to characters by number.
    for (int i = 0; i < scene->bodyCount && result >= 0; ++i)
    {
        WriteName(writer, scene->bodies[i].name, strlen(scene->bodies[i].name));
        snwWriteU64(writer, (uint64_t)numbers[i]);
    }

    return result;
}

static void WriteFramesColliders(snwWriter* writer, const snwSceneDef* scene)
{
    for (int i = 0; i < scene->colliderCount; ++i)
    {
        const snwColliderDef* collider = &scene->colliders[i];
        WriteName(writer, collider->name, strlen(collider->name));
        snwWriteU64(writer, (uint64_t)collider->kind);
        snwWrite(writer, &collider->size, sizeof collider->size);
    }
}

static void WriteProps(snwWriter* writer, const snwSceneDef* scene)
{
    for (int i = 0; i < scene->propCount; ++i)
    {
        const snwPropDef* prop = &scene->props[i];
        WriteName(writer, prop->name, strlen(prop->name));
        snwWriteU64(writer, (uint64_t)prop->kind);
        snwWrite(writer, &prop->size, sizeof prop->size);
    }
}

// Bytes of a frame without a tolerance, about.
static double FrameBytes(const snwSceneDef* scene, bool vertices)
{
    double bytes = 512 + 56.0 * (scene->colliderCount + scene->propCount);
    for (int i = 0; i < scene->bodyCount; ++i)
    {
        snwCharacterInfo info = snwCharacter_GetInfo(scene->bodies[i].character);
        int skin = info.skinVertexCount > 0 ? info.skinVertexCount : info.vertexCount;
        bytes += 12.0 * (skin + (vertices ? info.vertexCount : 0)) + 56.0 * info.boneCount;
    }
    return bytes;
}

// A state per chunk should not weigh more than its frames; but a chunk is also what a crash may lose and what a reader
// holds in memory.
static int ChooseFrames(const snwFramesDef* def, const snwSceneDef* scene, double stateBytes)
{
    if (def->framesPerChunk > 0)
        return def->framesPerChunk;
    double frame = FrameBytes(scene, def->vertices) / (def->tolerance > 0 ? 3 : 1);
    double wanted = fmax(16, 3 * stateBytes / frame), most = fmax(1, 32e6 / frame);
    return (int)fmin(fmin(wanted, most), 64);
}

static int CountCharacters(const snwSceneDef* scene)
{
    int count = 0;
    for (int i = 0; i < scene->bodyCount; ++i)
        count += FirstUse(scene, i) == i;
    return count;
}

static snwResult WriteHeaderParts(snwWriter* writer, const snwFramesDef* def, const snwSim* sim, snwMessage* message)
{
    const snwSceneDef* scene = snwScene_GetDef(def->file->scene);
    snwVersion version = snwGetVersion();
    char words[40], *text = NULL;
    size_t size = 0;
    int length = snprintf(words, sizeof words, "%d.%d.%d", version.major, version.minor, version.patch);
    snwResult result = snwSceneFile_Format(writer->context, def->file, &text, &size, message);

    if (result < 0 && result != snw_errorUnsupported) // a character made by a program: no text tells it
        return result;
    snwMessage_Clear(message);

    // Plain numbers, the counts, the version and the scene's text.
    size_t state = snwSim_GetStateSize(sim);
    snwWriteReal(writer, scene->rate);
    snwWriteReal(writer, def->tolerance);
    snwWriteU64(writer, snwScene_Hash(def->file->scene));
    snwWriteU64(writer, state);
    const int32_t numbers[] = {def->lastFrame, ChooseFrames(def, scene, (double)state),
        def->vertices ? snw_framesHasVertices : 0, snwMeasureCount(), CountCharacters(scene), scene->bodyCount,
        scene->colliderCount, scene->propCount};
    snwWrite(writer, numbers, sizeof numbers);
    WriteName(writer, words, (size_t)length);
    WriteName(writer, text, size);
    snwFree(writer->context, text);

    // The tables of things that are drawn.
    result = WriteFramesBodies(writer, scene, message);
    WriteFramesColliders(writer, scene);
    WriteProps(writer, scene);

    return result;
}

snwResult snwFramesHeader_Write(snwWriter* writer, const snwFramesDef* def, const snwSim* sim, snwMessage* message)
{
    snwWriteU64(writer, SNW_FRAMES_MAGIC);
    snwWriteInt(writer, snw_framesVersion);
    snwWriteInt(writer, (int32_t)SNW_ENDIAN_MARK);
    snwWriteU64(writer, 0);
    snwResult result = WriteHeaderParts(writer, def, sim, message);
    if (result < 0)
        return result;
    if (writer->failed)
        return snwFailMemory(message);
    uint64_t size = writer->size + sizeof(uint64_t);
    memcpy(writer->data + 16, &size, sizeof size);
    snwWriteU64(writer, snwHash(writer->data, writer->size, 0));
    return writer->failed ? snwFailMemory(message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

static bool AreFinite(const float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static bool AreIndices(const int* values, size_t count, int limit)
{
    for (size_t i = 0; i < count; ++i)
        if (values[i] < 0 || values[i] >= limit)
            return false;
    return true;
}

// Everything in the block is eight bytes wide in the end, so pointers into it are aligned.
static const void* ReadWholeArray(snwReader* reader, size_t count, size_t size)
{
    return count <= reader->size / size ? snwReadBytes(reader, snwPadded(count * size)) : (reader->failed = true, NULL);
}

static const char* ReadFramesName(snwReader* reader, size_t* size)
{
    uint64_t length = snwReadU64(reader);
    const char* text = length < reader->size ? ReadWholeArray(reader, (size_t)length + 1, 1) : NULL;
    if (text == NULL || text[length] != 0 || memchr(text, 0, (size_t)length) != NULL)
        reader->failed = true;
    if (size != NULL)
        *size = reader->failed ? 0 : (size_t)length;
    return reader->failed ? "" : text;
}

static snwVec3 ReadFramesVec3(snwReader* reader)
{
    snwVec3 v = {snwReadReal(reader), 0, 0};
    v.y = snwReadReal(reader);
    v.z = snwReadReal(reader);
    return v;
}

// A count of things that take at least `least` bytes each, given the number that the header tells.
static bool CountFits(const snwReader* reader, int count, size_t least)
{
    return !reader->failed && count >= 0 && (size_t)count <= (reader->size - reader->position) / least;
}

static void ReadFramesBones(snwReader* reader, snwArena* arena, snwFramesBody* body)
{
    // Eighty bytes at least: a hostile count is refused before memory is asked for.
    if (!CountFits(reader, body->boneCount, 80))
    {
        reader->failed = true;
        return;
    }

    snwFramesBone* bones = snwArena_Alloc(arena, (size_t)body->boneCount, sizeof *bones);
    body->bones = bones;

    // Parents must exist; a reserved number must be 0.
    for (int i = 0; bones != NULL && i < body->boneCount && !reader->failed; ++i)
    {
        bones[i].name = ReadFramesName(reader, NULL);
        bones[i].head = ReadFramesVec3(reader);
        bones[i].tail = ReadFramesVec3(reader);
        bones[i].radius = snwReadReal(reader);
        bones[i].parent = snwReadInt(reader);
        reader->failed = snwReadInt(reader) != 0 || reader->failed || bones[i].parent < -1 ||
                         bones[i].parent >= body->boneCount;
    }
}

static void ReadFrameTexture(snwReader* reader, int width, int height, snwTexture* texture)
{
    if (width < 1 || width > 8192 || height < 1 || height > 8192)
        reader->failed = true;
    else
        *texture = (snwTexture){width, height, ReadWholeArray(reader, (size_t)width * (size_t)height, 4)};
}

static void ReadCharacter(snwReader* reader, snwArena* arena, snwFramesBody* body)
{
    int32_t numbers[8];

    // Counts that cannot be are refused before anything is allocated by them.
    body->character = ReadFramesName(reader, NULL);
    snwRead(reader, numbers, sizeof numbers);
    const float* color = ReadWholeArray(reader, 3, sizeof(float));
    int flags = numbers[4];
    body->skinVertexCount = numbers[0];
    body->triangleCount = numbers[1];
    body->vertexCount = numbers[2];
    body->boneCount = numbers[3];

    if (reader->failed || numbers[0] < 0 || numbers[1] < 0 || numbers[2] < 0 || flags < 0 || flags > 7 ||
        numbers[7] != 0)
    {
        reader->failed = true;
        return;
    }

    memcpy(body->color, color, sizeof body->color);

    // Arrays in the order of writing; all of them are used in place.
    size_t count = (size_t)body->skinVertexCount, corners = 3 * (size_t)body->triangleCount;
    body->skinVertices = ReadWholeArray(reader, count, sizeof(int));
    body->triangles = ReadWholeArray(reader, corners, sizeof(int));
    if (flags & snw_skinHasColors)
        body->colors = ReadWholeArray(reader, count, sizeof *body->colors);
    if (flags & snw_skinHasTexcoords)
        body->texcoords = ReadWholeArray(reader, count, sizeof *body->texcoords);
    if (flags & snw_skinHasTexture)
        ReadFrameTexture(reader, numbers[5], numbers[6], &body->texture);
    ReadFramesBones(reader, arena, body);

    // Indices must point at something, and numbers must be finite.
    reader->failed = reader->failed || !AreFinite(body->color, 3) ||
                     !AreIndices(body->skinVertices, count, body->vertexCount) ||
                     !AreIndices(body->triangles, corners, body->skinVertexCount) ||
                     (body->colors != NULL && !AreFinite(&body->colors[0][0], 3 * count)) ||
                     (body->texcoords != NULL && !AreFinite(&body->texcoords[0][0], 2 * count));
}

static void ReadFramesBodies(snwReader* reader, snwFramesHeader* header, int characterCount)
{
    if (!CountFits(reader, characterCount, 48) || !CountFits(reader, header->bodyCount, 24))
    {
        reader->failed = true;
        return;
    }

    // Each character once, then the bodies that use them.
    snwFramesBody* characters = snwArena_Alloc(&header->arena, (size_t)characterCount, sizeof *characters);
    header->bodies = snwArena_Alloc(&header->arena, (size_t)header->bodyCount, sizeof *header->bodies);
    if (header->arena.failed)
        return;
    for (int i = 0; i < characterCount && !reader->failed; ++i)
        ReadCharacter(reader, &header->arena, &characters[i]);

    for (int i = 0; i < header->bodyCount && !reader->failed; ++i)
    {
        // Bodies of one character share its arrays.
        const char* name = ReadFramesName(reader, NULL);
        uint64_t number = snwReadU64(reader);
        if (reader->failed || number >= (uint64_t)characterCount)
        {
            reader->failed = true;
            return;
        }

        header->bodies[i] = characters[number];
        header->bodies[i].name = name;
    }
}

// Colliders and props are told alike.
static snwFramesCollider* ReadSolids(snwReader* reader, snwArena* arena, int count, snwColliderKind first)
{
    if (!CountFits(reader, count, 48))
    {
        reader->failed = true;
        return NULL;
    }
    snwFramesCollider* solids = snwArena_Alloc(arena, (size_t)count, sizeof *solids);
    for (int i = 0; solids != NULL && i < count && !reader->failed; ++i)
    {
        solids[i].name = ReadFramesName(reader, NULL);
        uint64_t kind = snwReadU64(reader);
        solids[i].size = ReadFramesVec3(reader);
        reader->failed = reader->failed || kind >= snw_colliderKindCount || kind < (uint64_t)first;
        solids[i].kind = reader->failed ? first : (snwColliderKind)kind;
    }
    return solids;
}

static bool NumbersAreSound(const snwFramesHeader* header, const int32_t numbers[8])
{
    bool tolerance = header->tolerance == 0 ||
                     (header->tolerance >= SNW_MIN_TOLERANCE && header->tolerance <= SNW_MAX_TOLERANCE);
    return header->rate > 0 && tolerance && header->stateSize <= SNW_MAX_CHUNK_BYTES && numbers[0] >= 0 &&
           numbers[0] <= snw_maxFrames && numbers[1] >= 1 && numbers[1] <= snw_maxChunkFrames && numbers[2] >= 0 &&
           numbers[2] <= snw_framesHasVertices && numbers[3] >= 0 && numbers[3] <= 1024;
}

static void ReadHeaderParts(snwReader* reader, snwFramesHeader* header)
{
    int32_t numbers[8];

    // In the order of WriteHeaderParts.
    header->rate = snwReadReal(reader);
    header->tolerance = snwReadReal(reader);
    header->sceneHash = snwReadU64(reader);
    header->stateSize = snwReadU64(reader);
    snwRead(reader, numbers, sizeof numbers);

    // Counts that cannot be are told at once; what follows then reads nothing.
    if (!NumbersAreSound(header, numbers))
        reader->failed = true;

    header->lastFrame = numbers[0];
    header->framesPerChunk = numbers[1];
    header->vertices = numbers[2] != 0;
    header->measureCount = numbers[3];
    header->bodyCount = numbers[5];
    header->colliderCount = numbers[6];
    header->propCount = numbers[7];

    header->version = ReadFramesName(reader, NULL);
    header->scene = ReadFramesName(reader, &header->sceneSize);
    ReadFramesBodies(reader, header, numbers[4]);
    header->colliders = ReadSolids(reader, &header->arena, header->colliderCount, snw_colliderPlane);
    header->props = ReadSolids(reader, &header->arena, header->propCount, snw_colliderSphere);
}

snwResult snwFramesHeader_Parse(
    snwFramesHeader* header, snwContext* context, const unsigned char* bytes, size_t size, snwMessage* message)
{
    uint64_t checksum;
    *header = (snwFramesHeader){.arena = {.context = context}, .size = size};
    memcpy(&checksum, bytes + size - sizeof checksum, sizeof checksum);
    header->checksum = checksum;
    snwResult result = snw_ok;
    snwReader reader = {.data = bytes, .size = size - sizeof checksum, .position = snw_framesStart};

    // The checksum first: what is damaged is not even parsed.
    if (checksum != snwHash(bytes, size - sizeof checksum, 0))
        result = snwFail(message, snw_errorInput, "it is damaged: make it again", "the checksum is wrong");
    if (result == snw_ok)
        ReadHeaderParts(&reader, header);
    if (result == snw_ok && header->arena.failed)
        result = snwFailMemory(message);
    else if (result == snw_ok && (reader.failed || reader.position != reader.size))
        result = snwFail(message, snw_errorInput, "it is damaged: make it again", "holds what cannot be, near byte %zu",
            reader.position);

    if (result < 0)
    {
        snwFramesHeader_Free(header);
        snwMessage_AddPlace(message, "header");
    }

    return result;
}

void snwFramesHeader_Free(snwFramesHeader* header)
{
    snwArena_Free(&header->arena);
    *header = (snwFramesHeader){0};
}
