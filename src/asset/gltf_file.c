// The container: a GLB's chunks or plain JSON, the version, the extensions that the file cannot be read without.

#include "asset/gltf_parts.h"
#include "scene/words.h"

#include <string.h>

enum
{
    snw_glbMagic = 0x46546C67, // "glTF"
    snw_glbJson = 0x4E4F534A,  // "JSON"
    snw_glbBinary = 0x004E4942,
    snw_glbHeader = 12,
    snw_glbChunkHeader = 8,
};

// Where the pieces of the file are.
typedef struct Pieces
{
    const char* json;
    size_t jsonSize;
    const unsigned char* chunk; // NULL: no BIN
    size_t chunkSize;
} Pieces;

static uint32_t ReadU32(const unsigned char* bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

// ---------------------------------------------------------------------------------------------------------------------
// GLB

static void KeepChunk(snwGltfReading* reading, snwGltfChunk chunk)
{
    snwGltf* gltf = reading->gltf;
    enum
    {
        most = 64
    };
    if (gltf->chunkCount == most)
    {
        snwGltf_Fail(reading, NULL, "has more than %d chunks", most);
        return;
    }

    if (gltf->chunks == NULL)
        gltf->chunks = snwGltf_Room(reading, most, sizeof *gltf->chunks);

    // Chunks of others are kept, to be written out again.
    unsigned char* copy = snwGltf_Room(reading, (int64_t)chunk.size, 1);
    if (gltf->chunks == NULL || copy == NULL)
        return;

    if (chunk.size > 0)
        memcpy(copy, chunk.data, chunk.size);
    chunk.data = copy;
    gltf->chunks[gltf->chunkCount++] = chunk;
    snwGltf_Note(reading, snw_noteOdd, 1, "a chunk of an unknown kind is kept but not read");
}

static void TakeGlbChunk(snwGltfReading* reading, Pieces* pieces, int index, snwGltfChunk chunk)
{
    // JSON first, then at most one binary chunk; others are kept unread.
    if (index == 0 && chunk.kind != snw_glbJson)
        snwGltf_Fail(reading, "export the file again", "the first chunk of a GLB must be JSON");
    else if (index == 0)
    {
        pieces->json = (const char*)chunk.data;
        pieces->jsonSize = chunk.size;
    }
    else if (chunk.kind == snw_glbJson)
        snwGltf_Fail(reading, "export the file again", "has a second JSON chunk");
    else if (chunk.kind == snw_glbBinary && pieces->chunk == NULL)
    {
        pieces->chunk = chunk.data;
        pieces->chunkSize = chunk.size;
        if (index > 1)
            snwGltf_Note(reading, snw_noteOdd, 1, "the BIN chunk does not follow the JSON; it was read all the same");
    }
    else
        KeepChunk(reading, chunk);
}

// Bytes of the file that count. A length beyond the file is a cut file; bytes behind it are left out.
static size_t CheckGlbHeader(snwGltfReading* reading, const unsigned char* bytes, size_t size)
{
    static const char s_cut[] = "the file is cut: copy or download it again";
    if (size < snw_glbHeader)
    {
        snwGltf_Fail(reading, s_cut, "ends inside of the GLB header");
        return 0;
    }
    uint32_t version = ReadU32(bytes + 4), length = ReadU32(bytes + 8);
    if (version != 2)
        snwGltf_Fail(reading, "export it as glTF 2.0", "is GLB version %u; only version 2 is read", version);
    else if (length > size)
        snwGltf_Fail(reading, s_cut, "should have %u bytes, has %zu", length, size);
    else if (length < snw_glbHeader)
        snwGltf_Fail(reading, "export the file again", "its header says that it has %u bytes", length);
    else if (length < size)
        snwGltf_Note(reading, snw_noteLeftOut, 1, "bytes behind the end of the GLB (%zu)", size - length);
    return length;
}

static void SplitBinary(snwGltfReading* reading, Pieces* pieces)
{
    const unsigned char* bytes = (const unsigned char*)reading->input->data;
    size_t size = CheckGlbHeader(reading, bytes, reading->input->size);
    size_t next = snw_glbHeader;

    // Chunk by chunk; what is cut or too long is told with its number.
    for (int index = 0; !snwGltfReading_Failed(reading) && next < size; ++index)
    {
        size_t mark = snwJson_Enter(&reading->json, "chunk");
        snwJson_EnterIndex(&reading->json, (size_t)index);
        if (size - next < snw_glbChunkHeader)
        {
            snwGltf_Note(reading, snw_noteLeftOut, 1, "bytes behind the last chunk (%zu)", size - next);
            break;
        }

        uint32_t length = ReadU32(bytes + next), kind = ReadU32(bytes + next + 4);
        next += snw_glbChunkHeader;
        if (length > size - next)
            snwGltf_Fail(reading, "the file is cut, or its exporter wrote a wrong length: export it again",
                "has %u bytes, but only %zu are left in the file", length, size - next);
        else
            TakeGlbChunk(reading, pieces, index, (snwGltfChunk){kind, bytes + next, length});

        next += length;
        if (length % 4 != 0)
            snwGltf_Note(reading, snw_noteOdd, 1, "the length of a chunk is no multiple of 4");
        snwJson_Leave(&reading->json, mark);
    }

    reading->json.path[0] = 0;
    if (pieces->json == NULL)
        snwGltf_Fail(reading, "the file is cut: copy or download it again", "has no JSON chunk");
}

// ---------------------------------------------------------------------------------------------------------------------
// JSON

// jansson's memory is not ours to bound, so the text is: what it costs grows with commas, colons and brackets.
static bool IsCheap(const char* text, size_t size)
{
    int64_t values = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; ++i)
    {
        char c = text[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == ',' || c == ':' || c == '[' || c == '{'))
            values++;
    }
    return values <= snw_maxGltfValues && size <= snw_maxGltfJson;
}

static void ParseJson(snwGltfReading* reading, const Pieces* pieces)
{
    // Some exporters pad with zeros instead of blanks.
    size_t size = pieces->jsonSize;
    while (size > 0 && pieces->json[size - 1] == 0)
        size--;
    if (size < pieces->jsonSize)
        snwGltf_Note(
            reading, snw_noteRepaired, 1, "zeros behind the JSON text were left out; it is padded with blanks");
    if (!IsCheap(pieces->json, size))
    {
        snwGltf_Fail(reading, "split the file, or store its data in a .bin or .glb",
            "its JSON is too large: at most %d MB and %d values", snw_maxGltfJson >> 20, snw_maxGltfValues);
        return;
    }

    // The document stays open: everything else is read from it.
    snwResult result;
    json_t* root = snwJson_Parse(&reading->json, pieces->json, size, &result);
    reading->gltf->root = root;
    if (root == NULL)
        reading->result = result;
    else if (!json_is_object(root))
        snwGltf_Fail(reading, NULL, "is no glTF document: it is %s", snwJson_TypeName(root));
}

// ---------------------------------------------------------------------------------------------------------------------
// Version and extensions

static void CheckVersion(snwGltfReading* reading)
{
    const json_t* info = snwGltf_Object(reading, reading->gltf->root, "asset");
    const char* version = snwGltf_Text(reading, info, "version");
    const char* least = snwGltf_Text(reading, info, "minVersion");
    size_t mark = snwJson_Enter(&reading->json, "asset");
    if (version == NULL)
        snwGltf_Fail(reading, "is this a glTF file? export it as glTF 2.0", "it gives no version");
    else if (strncmp(version, "2.", 2) != 0 && strcmp(version, "2") != 0)
        snwGltf_Fail(reading, "export it as glTF 2.0", "version '%s' is not read", snwQuoteWord(version).text);
    else if (least != NULL && strcmp(least, "2.0") != 0)
        snwGltf_Fail(reading, "export it as glTF 2.0", "it needs a reader of version '%s'", snwQuoteWord(least).text);
    snwJson_Leave(&reading->json, mark);
}

// A trailing * stands for anything: extensions of materials, textures and lights change no shape and no motion; they
// stay in the document.
static const char* const s_known[] = {"KHR_mesh_quantization", "EXT_meshopt_compression", "KHR_draco_mesh_compression",
    "KHR_lights_punctual", "KHR_materials_*", "KHR_texture_*", "EXT_texture_*", "MSFT_texture_*", "KHR_xmp_json_ld",
    "KHR_node_visibility", "KHR_node_selectability", "KHR_node_hoverability"};

static const struct
{
    const char *name, *remedy;
} s_remedies[] = {
    {"KHR_meshopt_compression", "compress with EXT_meshopt_compression (gltfpack -c), or not at all"},
    {"EXT_mesh_gpu_instancing", "write the copies as nodes of their own before the export"},
    {"KHR_animation_pointer", "bake what it animates into nodes before the export"},
};

static bool IsKnownExtension(const char* name)
{
    for (size_t i = 0; i < sizeof s_known / sizeof *s_known; ++i)
    {
        size_t length = strlen(s_known[i]);
        bool open = s_known[i][length - 1] == '*';
        if (open ? strncmp(name, s_known[i], length - 1) == 0 : strcmp(name, s_known[i]) == 0)
            return true;
    }
    return false;
}

static void RefuseExtension(snwGltfReading* reading, const char* name)
{
    const char* remedy = "export the file without it";
    for (size_t i = 0; i < sizeof s_remedies / sizeof *s_remedies; ++i)
        if (strcmp(name, s_remedies[i].name) == 0)
            remedy = s_remedies[i].remedy;
    snwGltf_Check(reading, snwFail(reading->json.message, snw_errorUnsupported, remedy,
                               "the file needs the extension '%s', which is not read", snwQuoteWord(name).text));
}

static void CheckExtensions(snwGltfReading* reading)
{
    int count;
    const json_t* list = snwGltf_List(reading, reading->gltf->root, "extensionsRequired", 1000, &count);
    size_t mark = snwJson_Enter(&reading->json, "extensionsRequired");
    for (int i = 0; i < count && !snwGltfReading_Failed(reading); ++i)
    {
        size_t item = snwJson_EnterIndex(&reading->json, (size_t)i);
        const char* name = json_string_value(json_array_get(list, (size_t)i));
        if (name == NULL)
            snwGltf_Fail(reading, NULL, "must be the name of an extension");
        else if (!IsKnownExtension(name))
            RefuseExtension(reading, name);
        snwJson_Leave(&reading->json, item);
    }
    snwJson_Leave(&reading->json, mark);
}

// ---------------------------------------------------------------------------------------------------------------------

static bool IsBinary(const snwAssetInput* input)
{
    return input->size >= 4 && ReadU32((const unsigned char*)input->data) == snw_glbMagic;
}

snwResult snwGltf_Parse(snwAsset* asset, const snwAssetInput* input, snwMessage* message)
{
    snwMessage words;
    snwGltfReading reading = {.asset = asset, .input = input};
    reading.json = (snwJson){.message = message != NULL ? message : &words, .file = ""};
    reading.gltf = snwArena_Alloc(&asset->arena, 1, sizeof *reading.gltf);
    if (reading.gltf == NULL)
        return snwFailMemory(message);
    asset->gltf = reading.gltf;
    reading.gltf->sourceBytes = input->size;
    reading.gltf->binary = IsBinary(input);
    Pieces pieces = {.json = input->data, .jsonSize = input->size};

    // A GLB has its JSON in a chunk; otherwise all of it is JSON.
    if (reading.gltf->binary)
    {
        pieces = (Pieces){0};
        SplitBinary(&reading, &pieces);
    }

    // Each step does nothing once one has failed.
    if (!snwGltfReading_Failed(&reading))
        ParseJson(&reading, &pieces);
    CheckVersion(&reading);
    CheckExtensions(&reading);
    snwGltf_ReadBuffers(&reading, pieces.chunk, pieces.chunkSize);
    snwGltf_ReadViews(&reading);
    snwGltf_ReadAccessors(&reading);
    snwGltf_UnpackDraco(&reading);

    return reading.result;
}

void snwGltf_Free(snwGltf* gltf)
{
    if (gltf != NULL)
        json_decref(gltf->root);
}
