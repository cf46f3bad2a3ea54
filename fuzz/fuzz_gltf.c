// glTF and GLB: no input may crash, what is read keeps the promises of assets, what is refused is refused with words.
//
// An input is a file as it is; or, behind "P", the JSON of a GLB up to a zero and then its BIN chunk, so that changes
// to the text need not guess the lengths.

#include "fuzz.h"

#include "asset_sound.h"
#include "base/context.h"

#include <string.h>

// Every file beside it has the same 64 bytes.
static snwResult ReadBeside(
    void* user, snwContext* context, const char* name, char** data, size_t* size, snwMessage* message)
{
    (void)user;
    (void)name;
    *size = 64;
    *data = snwAlloc(context, 65);
    return *data != NULL ? snw_ok : snwFailMemory(message);
}

static void Put32(char* out, size_t value)
{
    for (int i = 0; i < 4; ++i)
        out[i] = (char)(value >> (8 * i) & 255);
}

// size bytes of "text \0 binary" as a GLB.
static char* Wrap(const char* data, size_t size, size_t* total)
{
    const char* zero = memchr(data, 0, size);
    size_t text = zero == NULL ? size : (size_t)(zero - data), binary = zero == NULL ? 0 : size - text - 1;
    *total = 28 + text + binary;
    char* file = calloc(1, *total + 1);
    if (file == NULL)
        abort();
    memcpy(file, "glTF\2\0\0", 8);
    Put32(file + 8, *total);
    Put32(file + 12, text);
    memcpy(file + 16, "JSON", 4);
    memcpy(file + 20, data, text);
    Put32(file + 20 + text, binary);
    memcpy(file + 24 + text, "BIN", 4);
    if (binary > 0)
        memcpy(file + 28 + text, zero + 1, binary);
    return file;
}

static char* Copy(const char* data, size_t size)
{
    char* file = calloc(1, size + 1);
    if (file == NULL)
        abort();
    if (size > 0)
        memcpy(file, data, size);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    snwMessage message = {0};
    snwAsset* asset = NULL;
    snwContext* context = snwFuzz_NewContext(&memory, 16 << 20);
    bool pair = size > 0 && data[0] == 'P';
    size_t total = size;
    char* file = pair ? Wrap((const char*)data + 1, size - 1, &total) : Copy((const char*)data, size);
    snwAssetFolder folder = {ReadBeside, NULL};
    snwAssetInput input = {"fuzz.gltf", file, total, &folder};
    if (snwAsset_Read(context, &input, &asset, &message) >= 0)
    {
        if (!snwSound_Asset(asset) || asset->gltf == NULL)
            abort();
    }
    else if (message.text[0] == 0 || asset != NULL)
        abort();
    snwAsset_Close(asset);
    free(file);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
