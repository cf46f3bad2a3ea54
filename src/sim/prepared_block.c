// Prepared characters as blocks of memory; the layout is told in prepared.h. Textures are stored as they are in memory:
// unpacking pictures would cost more than everything else of a load.

#include "base/bytes.h"
#include "base/hash.h"
#include "sim/character.h"
#include "sim/limits.h"
#include "sim/prepared.h"
#include "sim/vertex_track.h"

#include <string.h>

static const char s_magic[8] = {'S', 'N', 'W', 'P', 'R', 'E', 'P', '1'};

enum
{
    snw_tagSource = 0x45435253,    // "SRCE"
    snw_tagCharacter = 0x52414843, // "CHAR"
    snw_tagEmbedding = 0x44424D45, // "EMBD"
    snw_tagSurfaces = 0x46525553,  // "SURF"
    snw_tagTextures = 0x54584554,  // "TEXT"
    snw_tagTracks = 0x4B415254,    // "TRAK": what motions do to surfaces; only where they do
    snw_tagLinks = 0x4B4E494C,     // "LINK": clips of motions, bones of anchors; only where they are known
    snw_sectionCount = 7,
    snw_neededCount = 5,
    snw_tracksSection = 5,
    snw_linksSection = 6,
    snw_headBytes = 24,
    snw_sectionBytes = 32,
    snw_maxSections = 64,
};

// ---------------------------------------------------------------------------------------------------------------------
// Writing

typedef struct Section
{
    uint32_t tag;
    snwWriter writer;
} Section;

static void WriteOptional(snwWriter* writer, const void* data, size_t bytes)
{
    snwWriteInt(writer, data != NULL);
    if (data != NULL)
        snwWrite(writer, data, bytes);
}

static void WriteSource(const snwPrepared* prepared, snwWriter* writer)
{
    const snwPreparedInfo* info = &prepared->info;
    snwWriteText(writer, info->source);
    snwWriteU64(writer, info->sourceHash);
    snwWriteReal(writer, info->scale);
    snwWriteText(writer, info->settings);
    snwWriteReal(writer, info->embeddingError);
    int bones = snwCharacter_GetInfo(prepared->character).boneCount;
    snwWriteInt(writer, bones);
    snwWrite(writer, info->boneNodes, (size_t)bones * sizeof(int));
}

static void WriteEmbedding(const snwEmbedding* embedding, snwWriter* writer)
{
    size_t points = (size_t)embedding->pointCount, vertices = (size_t)embedding->vertexCount;
    snwWriteInt(writer, embedding->pointCount);
    snwWriteInt(writer, embedding->vertexCount);
    snwWriteInt(writer, embedding->outsideCount);
    snwWriteReal(writer, embedding->maxOutside);
    snwWrite(writer, embedding->corners, points * sizeof *embedding->corners);
    snwWrite(writer, embedding->weights, points * sizeof *embedding->weights);
    snwWrite(writer, embedding->vertices, vertices * sizeof *embedding->vertices);
    snwWriteInt(writer, embedding->arms != NULL);
    if (embedding->arms == NULL)
        return;
    size_t entries = (size_t)embedding->starts[vertices];
    snwWrite(writer, embedding->arms, points * sizeof *embedding->arms);
    snwWrite(writer, embedding->starts, (vertices + 1) * sizeof *embedding->starts);
    snwWrite(writer, embedding->neighbours, entries * sizeof *embedding->neighbours);
    snwWrite(writer, embedding->gradients, entries * sizeof *embedding->gradients);
}

static void WriteSurface(const snwPrepared* prepared, int index, snwWriter* writer)
{
    const snwSurfaceInfo* surface = &prepared->surfaces[index];
    size_t count = (size_t)surface->vertexCount;
    snwWriteText(writer, surface->name);
    const int numbers[] = {(int)surface->kind, surface->bone, surface->mesh, surface->node, surface->vertexCount,
        surface->triangleCount, surface->partCount};
    for (int i = 0; i < 7; ++i)
        snwWriteInt(writer, numbers[i]);
    snwWrite(writer, surface->place, sizeof surface->place);

    // Geometry, as it is in memory.
    snwWrite(writer, surface->positions, count * sizeof *surface->positions);
    snwWrite(writer, surface->normals, count * sizeof *surface->normals);
    WriteOptional(writer, surface->texcoords, count * sizeof *surface->texcoords);
    WriteOptional(writer, surface->colors, count * sizeof *surface->colors);
    snwWrite(writer, surface->triangles, (size_t)surface->triangleCount * sizeof *surface->triangles);
    snwWrite(writer, prepared->points[index], count * sizeof(int));

    for (int i = 0; i < surface->partCount; ++i)
    {
        const snwSurfacePart* part = &surface->parts[i];
        snwWriteText(writer, part->material);
        snwWriteInt(writer, part->firstTriangle);
        snwWriteInt(writer, part->triangleCount);
        snwWriteInt(writer, part->texture);
        snwWrite(writer, part->color, sizeof part->color);
    }
}

static bool HasTracks(const snwPrepared* prepared)
{
    bool any = false;
    for (int i = 0; i < prepared->info.surfaceCount; ++i)
        any = any || prepared->surfaces[i].tracks != NULL;
    return any;
}

static void WriteTracks(const snwPrepared* prepared, snwWriter* writer)
{
    int motions = snwCharacter_GetInfo(prepared->character).motionCount;
    for (int i = 0; i < prepared->info.surfaceCount; ++i)
    {
        const snwSurfaceInfo* surface = &prepared->surfaces[i];
        snwWriteInt(writer, surface->tracks != NULL);
        for (int k = 0; k < motions && surface->tracks != NULL; ++k)
            snwVertexTrack_Write(writer, &surface->tracks[k], surface->vertexCount);
    }
}

static bool HasLinks(const snwPrepared* prepared)
{
    bool any = prepared->info.clips != NULL;
    for (int i = 0; i < prepared->anchorCount; ++i)
        any = any || prepared->anchors[i].bone >= 0;
    return any;
}

static void WriteLinks(const snwPrepared* prepared, snwWriter* writer)
{
    int motions = prepared->info.clips != NULL ? snwCharacter_GetInfo(prepared->character).motionCount : 0;
    snwWriteInt(writer, motions);
    for (int i = 0; i < motions; ++i)
        snwWriteInt(writer, prepared->info.clips[i]);
    snwWriteInt(writer, prepared->anchorCount);
    for (int i = 0; i < prepared->anchorCount; ++i)
        snwWriteInt(writer, prepared->anchors[i].bone);
}

// In the order in which they stand in the file.
static const uint32_t s_tags[snw_sectionCount] = {
    snw_tagSource, snw_tagCharacter, snw_tagEmbedding, snw_tagSurfaces, snw_tagTextures, snw_tagTracks, snw_tagLinks};

static void WriteSections(const snwPrepared* prepared, Section sections[snw_sectionCount])
{
    for (int i = 0; i < snw_sectionCount; ++i)
        sections[i] = (Section){s_tags[i], {.context = prepared->context}};

    // The body is a block of its own, as it is saved by itself.
    void* block = NULL;
    size_t size = 0;
    WriteSource(prepared, &sections[0].writer);
    if (snwCharacter_Save(prepared->character, &block, &size, NULL) < 0)
        sections[1].writer.failed = true;
    else
        snwWrite(&sections[1].writer, block, size);

    snwFree(prepared->context, block);
    WriteEmbedding(&prepared->embedding, &sections[2].writer);

    // Surfaces, and what rigid ones are fitted to.
    snwWriteInt(&sections[3].writer, prepared->info.surfaceCount);
    for (int i = 0; i < prepared->info.surfaceCount; ++i)
        WriteSurface(prepared, i, &sections[3].writer);
    snwWriteInt(&sections[3].writer, prepared->anchorCount);

    for (int i = 0; i < prepared->anchorCount; ++i)
    {
        const snwRigidAnchor* anchor = &prepared->anchors[i];
        snwWriteInt(&sections[3].writer, anchor->count);
        snwWrite(&sections[3].writer, anchor->vertices, (size_t)anchor->count * sizeof(int));
    }

    // Textures as pixels.
    snwWriteInt(&sections[4].writer, prepared->info.textureCount);
    for (int i = 0; i < prepared->info.textureCount; ++i)
    {
        const snwTexture* texture = &prepared->textures[i];
        snwWriteInt(&sections[4].writer, texture->width);
        snwWriteInt(&sections[4].writer, texture->height);
        snwWrite(&sections[4].writer, texture->pixels, 4 * (size_t)texture->width * (size_t)texture->height);
    }

    // What only some files have.
    WriteTracks(prepared, &sections[snw_tracksSection].writer);
    WriteLinks(prepared, &sections[snw_linksSection].writer);
}

static size_t RoundUp(size_t size)
{
    return (size + 15) / 16 * 16;
}

static void JoinSections(const Section* sections, int count, snwWriter* out)
{
    size_t start = RoundUp(snw_headBytes + (size_t)count * snw_sectionBytes + 8), total = start;

    // The sections' places follow from their sizes; the table comes first.
    for (int i = 0; i < count; ++i)
        total = RoundUp(total) + sections[i].writer.size;
    snwWrite(out, s_magic, sizeof s_magic);
    snwWriteInt(out, snw_preparedVersion);
    snwWriteInt(out, count);
    snwWriteU64(out, total);

    // A row of the table for each: where it is, how long, and its checksum.
    for (int i = 0; i < count; ++i)
    {
        const snwWriter* writer = &sections[i].writer;
        snwWriteInt(out, (int32_t)sections[i].tag);
        snwWriteInt(out, 0);
        snwWriteU64(out, start);
        snwWriteU64(out, writer->size);
        snwWriteU64(out, snwHash(writer->data, writer->size, sections[i].tag));
        start = RoundUp(start + writer->size);
    }

    // The checksum of head and table, then the sections, each from a multiple of 16 on.
    snwWriteU64(out, snwHash(out->data, out->size, 0));
    for (int i = 0; i < count; ++i)
    {
        snwWriteZeros(out, 16);
        snwWrite(out, sections[i].writer.data, sections[i].writer.size);
    }
}

snwResult snwPrepared_Save(const snwPrepared* prepared, void** data, size_t* size, snwMessage* message)
{
    Section sections[snw_sectionCount], used[snw_sectionCount];
    snwWriter out = {.context = prepared->context};
    *data = NULL;
    *size = 0;
    WriteSections(prepared, sections);
    bool failed = false;
    int count = 0;

    // Tracks and links only where there are any: files without are as old readers know them.
    for (int i = 0; i < snw_sectionCount; ++i)
    {
        bool needed = i == snw_tracksSection ? HasTracks(prepared) : i == snw_linksSection ? HasLinks(prepared) : true;
        failed = failed || sections[i].writer.failed;
        if (needed)
            used[count++] = sections[i];
    }

    if (!failed)
        JoinSections(used, count, &out);
    for (int i = 0; i < snw_sectionCount; ++i)
        snwFree(prepared->context, sections[i].writer.data);
    if (failed || out.failed)
    {
        snwFree(prepared->context, out.data);
        return snwFailMemory(message);
    }

    *data = out.data;
    *size = out.size;
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

typedef struct Loader
{
    snwContext* context;
    snwArena arena; // of what the definition points to
    snwReader sections[snw_sectionCount];
    bool found[snw_sectionCount];
    snwPreparedDef def;
    snwEmbedding embedding;
    int boneCount; // as the section of the source says
    snwMessage* message;
} Loader;

bool snwPrepared_IsOne(const void* data, size_t size)
{
    return size >= sizeof s_magic && memcmp(data, s_magic, sizeof s_magic) == 0;
}

uint64_t snwPrepared_PeekChecksum(const void* data, size_t size)
{
    snwReader reader = {.data = data, .size = size, .position = sizeof s_magic + 4};
    int count = snwReadInt(&reader);
    if (reader.failed || count < 1 || count > snw_maxSections)
        return 0;
    reader.position = snw_headBytes + (size_t)count * snw_sectionBytes;
    return reader.position <= size ? snwReadU64(&reader) : 0;
}

static snwResult Damaged(snwMessage* message, const char* what)
{
    return snwFail(message, snw_errorInput, "prepare it again", "the prepared character is damaged: %s", what);
}

static bool AreBytesZero(const unsigned char* data, size_t size)
{
    unsigned char any = 0;
    for (size_t i = 0; i < size; ++i)
        any |= data[i];
    return any == 0;
}

// One row of the table of sections; *end is where the last one ended, so that no byte is without a checksum.
static snwResult TakeSection(Loader* loader, snwReader* head, size_t* end)
{
    uint32_t tag = (uint32_t)snwReadInt(head);
    int32_t zero = snwReadInt(head);
    uint64_t offset = snwReadU64(head), size = snwReadU64(head), checksum = snwReadU64(head);

    // Sections stand in the order of the table, with no more than the padding between them, and that is zeros.
    if (head->failed || zero != 0 || offset < *end || offset - *end >= 16 || offset > head->size ||
        size > head->size - offset || !AreBytesZero(head->data + *end, (size_t)offset - *end))
        return Damaged(loader->message, "its sections do not follow each other");

    const unsigned char* data = head->data + offset;
    if (snwHash(data, (size_t)size, tag) != checksum)
        return Damaged(loader->message, "a checksum does not fit");
    *end = (size_t)(offset + size);

    // Tags that are not known are skipped: later versions may have more.
    for (int i = 0; i < snw_sectionCount; ++i)
        if (s_tags[i] == tag)
        {
            if (loader->found[i])
                return Damaged(loader->message, "a section comes twice");
            loader->found[i] = true;
            loader->sections[i] = (snwReader){.data = data, .size = (size_t)size};
        }

    return snw_ok;
}

static snwResult TakeSections(Loader* loader, const void* data, size_t size)
{
    snwReader head = {.data = data, .size = size, .position = sizeof s_magic};
    if (!snwPrepared_IsOne(data, size))
        return snwFail(loader->message, snw_errorInput, "make it with sinew prep", "not a prepared character");

    // The head: each mistake has words of its own.
    int version = snwReadInt(&head), count = snwReadInt(&head);
    uint64_t total = snwReadU64(&head);

    if (head.failed)
        return Damaged(loader->message, "it is cut short");
    if (version != snw_preparedVersion)
        return snwFail(loader->message, snw_errorInput, "prepare it again with this version",
            "a prepared character of version %d, but %d is read here", version, snw_preparedVersion);

    if (total != size)
        return Damaged(loader->message, total > size ? "it is cut short" : "something follows its end");
    if (count < 1 || count > snw_maxSections)
        return Damaged(loader->message, "it has no sections");

    // The table is trusted only once its own checksum fits.
    size_t tableEnd = snw_headBytes + (size_t)count * snw_sectionBytes;
    if (tableEnd + sizeof(uint64_t) > size)
        return Damaged(loader->message, "it is cut short");
    snwReader sum = {.data = data, .size = size, .position = tableEnd};
    uint64_t checksum = snwReadU64(&sum);
    if (sum.failed || snwHash(data, tableEnd, 0) != checksum)
        return Damaged(loader->message, "a checksum does not fit");
    loader->def.info.checksum = checksum;

    size_t end = tableEnd + 8;
    for (int i = 0; i < count; ++i)
        if (TakeSection(loader, &head, &end) < 0)
            return snw_errorInput;

    for (int i = 0; i < snw_neededCount; ++i)
        if (!loader->found[i])
            return Damaged(loader->message, "a section is missing");

    return end == size ? snw_ok : Damaged(loader->message, "something follows its sections");
}

static const char* ReadPreparedName(Loader* loader, snwReader* reader)
{
    char* text = snwReadText(reader, loader->context);
    loader->arena.failed = loader->arena.failed || (text == NULL && !reader->failed);
    const char* name = snwArena_Text(&loader->arena, text);
    snwFree(loader->context, text);
    return name;
}

// An array of a size that must fit into what is left before memory is asked for; NULL if it does not.
static void* ReadPreparedLong(Loader* loader, snwReader* reader, int count, size_t size)
{
    if (reader->failed || count < 0 || (size_t)count > (reader->size - reader->position) / size)
    {
        reader->failed = true;
        return NULL;
    }
    void* array = snwArena_Alloc(&loader->arena, (size_t)count, size);
    if (array != NULL)
        snwRead(reader, array, (size_t)count * size);
    return array;
}

static void* ReadPreparedOptional(Loader* loader, snwReader* reader, int count, size_t size)
{
    return snwReadInt(reader) != 0 ? ReadPreparedLong(loader, reader, count, size) : NULL;
}

static void ReadPreparedSource(Loader* loader, snwReader* reader)
{
    snwPreparedInfo* info = &loader->def.info;
    info->source = ReadPreparedName(loader, reader);
    info->sourceHash = snwReadU64(reader);
    info->scale = snwReadReal(reader);
    info->settings = ReadPreparedName(loader, reader);
    info->embeddingError = snwReadReal(reader);
    loader->boneCount = snwReadCount(reader, sizeof(int));
    info->boneNodes = ReadPreparedLong(loader, reader, loader->boneCount, sizeof(int));
}

static void ReadEmbedding(Loader* loader, snwReader* reader)
{
    snwEmbedding* embedding = &loader->embedding;
    embedding->pointCount = snwReadCount(reader, 32);
    embedding->vertexCount = snwReadCount(reader, 4);
    embedding->outsideCount = snwReadInt(reader);
    embedding->maxOutside = snwReadReal(reader);
    embedding->corners = ReadPreparedLong(loader, reader, embedding->pointCount, sizeof *embedding->corners);
    embedding->weights = ReadPreparedLong(loader, reader, embedding->pointCount, sizeof *embedding->weights);
    embedding->vertices = ReadPreparedLong(loader, reader, embedding->vertexCount, sizeof *embedding->vertices);
    if (snwReadInt(reader) == 0)
        return;
    embedding->arms = ReadPreparedLong(loader, reader, embedding->pointCount, sizeof *embedding->arms);
    embedding->starts = ReadPreparedLong(loader, reader, embedding->vertexCount + 1, sizeof *embedding->starts);
    int entries = embedding->starts != NULL ? embedding->starts[embedding->vertexCount] : 0;
    embedding->neighbours = ReadPreparedLong(loader, reader, entries, sizeof *embedding->neighbours);
    embedding->gradients = ReadPreparedLong(loader, reader, entries, sizeof *embedding->gradients);
}

static const snwSurfacePart* ReadSurfaceParts(Loader* loader, snwReader* reader, int count)
{
    if (count < 0 || (size_t)count > (reader->size - reader->position) / 28)
        reader->failed = true;
    snwSurfacePart* parts = reader->failed ? NULL : snwArena_Alloc(&loader->arena, (size_t)count, sizeof *parts);
    for (int i = 0; i < count && parts != NULL; ++i)
    {
        parts[i].material = ReadPreparedName(loader, reader);
        parts[i].firstTriangle = snwReadInt(reader);
        parts[i].triangleCount = snwReadInt(reader);
        parts[i].texture = snwReadInt(reader);
        snwRead(reader, parts[i].color, sizeof parts[i].color);
    }
    return parts;
}

// As WriteSurface wrote it. points: for each vertex the point of the embedding that it is, or ~anchor.
static void ReadSurface(Loader* loader, snwReader* reader, snwSurfaceInfo* surface, const int** points)
{
    surface->name = ReadPreparedName(loader, reader);
    int numbers[7];
    for (int i = 0; i < 7; ++i)
        numbers[i] = snwReadInt(reader);

    surface->kind = (snwSurfaceKind)numbers[0];
    surface->bone = numbers[1];
    surface->mesh = numbers[2];
    surface->node = numbers[3];
    surface->vertexCount = numbers[4];
    surface->triangleCount = numbers[5];
    surface->partCount = numbers[6];

    snwRead(reader, surface->place, sizeof surface->place);
    surface->positions = ReadPreparedLong(loader, reader, surface->vertexCount, sizeof *surface->positions);
    surface->normals = ReadPreparedLong(loader, reader, surface->vertexCount, sizeof *surface->normals);
    surface->texcoords = ReadPreparedOptional(loader, reader, surface->vertexCount, sizeof *surface->texcoords);
    surface->colors = ReadPreparedOptional(loader, reader, surface->vertexCount, sizeof *surface->colors);
    surface->triangles = ReadPreparedLong(loader, reader, surface->triangleCount, sizeof *surface->triangles);

    *points = ReadPreparedLong(loader, reader, surface->vertexCount, sizeof(int));
    surface->parts = ReadSurfaceParts(loader, reader, surface->partCount);
}

static void ReadAnchors(Loader* loader, snwReader* reader)
{
    int count = snwReadCount(reader, 8);
    snwRigidAnchor* anchors = snwArena_Alloc(&loader->arena, (size_t)count, sizeof *anchors);
    for (int i = 0; i < count && anchors != NULL; ++i)
    {
        anchors[i].bone = -1;
        anchors[i].count = snwReadCount(reader, sizeof(int));
        anchors[i].vertices = ReadPreparedLong(loader, reader, anchors[i].count, sizeof(int));
    }
    loader->def.anchors = anchors;
    loader->def.anchorCount = count;
}

static void ReadPreparedSurfaces(Loader* loader, snwReader* reader)
{
    int count = snwReadCount(reader, 140);
    snwSurfaceInfo* surfaces = snwArena_Alloc(&loader->arena, (size_t)count, sizeof *surfaces);
    const int** points = snwArena_Alloc(&loader->arena, (size_t)count, sizeof *points);
    for (int i = 0; i < count && !loader->arena.failed && !reader->failed; ++i)
        ReadSurface(loader, reader, &surfaces[i], &points[i]);
    loader->def.surfaces = surfaces;
    loader->def.points = points;
    loader->def.surfaceCount = count;
    ReadAnchors(loader, reader);
}

static void ReadTextures(Loader* loader, snwReader* reader)
{
    int count = snwReadCount(reader, 8);
    snwTexture* textures = snwArena_Alloc(&loader->arena, (size_t)count, sizeof *textures);
    for (int i = 0; i < count && textures != NULL && !reader->failed; ++i)
    {
        textures[i].width = snwReadInt(reader);
        textures[i].height = snwReadInt(reader);
        bool sound = textures[i].width > 0 && textures[i].width <= SNW_MAX_TEXTURE && textures[i].height > 0 &&
                     textures[i].height <= SNW_MAX_TEXTURE;
        textures[i].pixels = ReadPreparedLong(loader, reader, sound ? textures[i].width * textures[i].height : -1, 4);
    }
    loader->def.textures = textures;
    loader->def.textureCount = count;
}

// The character, whose motions they belong to, comes later: it tells how many there are.
static snwResult ReadPreparedTracks(Loader* loader)
{
    snwReader* reader = &loader->sections[snw_tracksSection];
    int motions = snwCharacter_GetInfo(loader->def.character).motionCount;
    snwSurfaceInfo* surfaces = (snwSurfaceInfo*)loader->def.surfaces; // our own, of ReadPreparedSurfaces
    for (int i = 0; i < loader->def.surfaceCount && loader->found[snw_tracksSection] && !reader->failed; ++i)
    {
        bool has = snwReadInt(reader) != 0;
        snwVertexTrackDef* tracks = has ? snwArena_Alloc(&loader->arena, (size_t)motions, sizeof *tracks) : NULL;
        for (int k = 0; k < motions && tracks != NULL; ++k)
            tracks[k] = snwVertexTrack_Read(reader, &loader->arena, surfaces[i].vertexCount);
        surfaces[i].tracks = tracks;
    }
    if (loader->arena.failed)
        return snwFailMemory(loader->message);
    bool whole = !reader->failed && reader->position == reader->size;
    return whole ? snw_ok : Damaged(loader->message, "a section is not as long as it should be");
}

static snwResult ReadLinks(Loader* loader)
{
    snwReader* reader = &loader->sections[snw_linksSection];
    snwRigidAnchor* anchors = (snwRigidAnchor*)loader->def.anchors; // our own, of ReadAnchors
    if (!loader->found[snw_linksSection])
        return snw_ok;
    int motions = snwReadCount(reader, sizeof(int));
    int* clips = motions > 0 ? ReadPreparedLong(loader, reader, motions, sizeof(int)) : NULL;
    int count = snwReadCount(reader, sizeof(int));
    bool fits = count == loader->def.anchorCount &&
                (motions == 0 || motions == snwCharacter_GetInfo(loader->def.character).motionCount);
    for (int i = 0; i < count && fits; ++i)
        anchors[i].bone = snwReadInt(reader);
    loader->def.info.clips = clips;
    if (loader->arena.failed)
        return snwFailMemory(loader->message);
    bool whole = fits && !reader->failed && reader->position == reader->size;
    return whole ? snw_ok : Damaged(loader->message, "its links do not fit");
}

static snwResult ReadSections(Loader* loader)
{
    ReadPreparedSource(loader, &loader->sections[0]);
    ReadEmbedding(loader, &loader->sections[2]);
    ReadPreparedSurfaces(loader, &loader->sections[3]);
    ReadTextures(loader, &loader->sections[4]);
    if (loader->arena.failed)
        return snwFailMemory(loader->message);
    for (int i = 0; i < snw_neededCount; ++i)
        if (i != 1 && (loader->sections[i].failed || loader->sections[i].position != loader->sections[i].size))
            return Damaged(loader->message, "a section is not as long as it should be");
    return snw_ok;
}

static snwResult FinishPrepared(Loader* loader, const char* name, const char* source, snwPrepared** prepared)
{
    const snwReader* block = &loader->sections[1];
    snwResult result = snwCharacter_LoadAs(
        loader->context, block->data, block->size, name, source, &loader->def.character, loader->message);
    if (result < 0)
        return result;

    // Bones were counted when the links were read.
    bool fits = snwCharacter_GetInfo(loader->def.character).boneCount == loader->boneCount;
    loader->def.embedding = &loader->embedding;
    result = fits ? ReadPreparedTracks(loader) : Damaged(loader->message, "its bones do not fit its character");

    if (result >= 0)
        result = ReadLinks(loader);
    if (result >= 0)
        result = snwCreatePrepared(loader->context, &loader->def, prepared, loader->message);
    snwCharacter_Release(loader->def.character);

    // It came out of a file, so it is the file that is wrong.
    if (result == snw_errorArgument)
    {
        result = snw_errorInput;
        if (loader->message != NULL)
            loader->message->result = result;
    }

    return result;
}

snwResult snwPrepared_LoadAs(snwContext* context, const void* data, size_t size, const char* name, const char* source,
    snwPrepared** prepared, snwMessage* message)
{
    Loader loader = {.context = context, .arena = {.context = context}, .message = message};
    *prepared = NULL;
    snwResult result = TakeSections(&loader, data, size);
    if (result >= 0)
        result = ReadSections(&loader);
    if (result >= 0)
        result = FinishPrepared(&loader, name, source, prepared);
    snwArena_Free(&loader.arena);
    return result;
}

snwResult snwPrepared_Load(
    snwContext* context, const void* data, size_t size, snwPrepared** prepared, snwMessage* message)
{
    return snwPrepared_LoadAs(context, data, size, NULL, NULL, prepared, message);
}
