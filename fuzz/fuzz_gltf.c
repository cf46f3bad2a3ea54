// glTF and GLB: no input may crash, what is read keeps the promises of assets, what is refused is refused with words.
//
// An input is a file as it is; or, behind "P", the JSON of a GLB up to a zero and then its BIN chunk, so that changes
// to the text need not guess the lengths. Pairs have a mutator of their own: most changes of JSON text only break its
// syntax, so it prefers to change a number, swap two texts or change the chunk.

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

// ---------------------------------------------------------------------------------------------------------------------
// Changes that keep the syntax

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed);

typedef struct Token
{
    size_t start, size;
} Token;

static unsigned int Next(unsigned int* seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

// Some token of the text: a number, or a text with its quotes. size 0: there is none.
static Token FindToken(const uint8_t* text, size_t size, bool number, unsigned int* seed)
{
    Token chosen = {0};
    unsigned int count = 0;
    for (size_t i = 0; i < size;)
    {
        size_t start = i++;
        bool quoted = text[start] == '"', digit = text[start] == '-' || (text[start] >= '0' && text[start] <= '9');
        while (quoted && i < size && text[i] != '"')
            i++;
        i += quoted;
        while (digit && i < size && strchr("0123456789.eE+-", text[i]) != NULL && text[i] != 0)
            i++;
        if ((number ? digit : quoted) && i <= size && Next(seed) % ++count == 0)
            chosen = (Token){start, i - start};
    }
    return chosen;
}

// data[token] = word, if there is room.
static size_t Replace(uint8_t* data, size_t size, size_t most, Token token, const char* word, size_t length)
{
    if (size - token.size + length > most)
        return size;
    size_t end = token.start + token.size;
    memmove(data + token.start + length, data + end, size - end);
    memcpy(data + token.start, word, length);
    return size - token.size + length;
}

static size_t ChangeNumber(uint8_t* data, size_t size, size_t text, size_t most, unsigned int* seed)
{
    static const char* const s_numbers[] = {"0", "1", "2", "3", "4", "5", "8", "12", "16", "-1", "255", "65536", "5120",
        "5121", "5122", "5123", "5125", "5126", "2147483647", "4294967296", "1e30", "-0.5", "0.001"};
    const char* word = s_numbers[Next(seed) % (sizeof s_numbers / sizeof *s_numbers)];
    Token token = FindToken(data + 1, text - 1, true, seed);
    token.start += 1;
    return token.size == 0 ? size : Replace(data, size, most, token, word, strlen(word));
}

static size_t ChangeText(uint8_t* data, size_t size, size_t text, size_t most, unsigned int* seed)
{
    Token from = FindToken(data + 1, text - 1, false, seed), to = FindToken(data + 1, text - 1, false, seed);
    char word[64];
    if (from.size == 0 || to.size == 0 || from.size > sizeof word)
        return size;
    memcpy(word, data + 1 + from.start, from.size);
    to.start += 1;
    return Replace(data, size, most, to, word, from.size);
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed)
{
    const uint8_t* zero = size > 0 && data[0] == 'P' ? memchr(data, 0, size) : NULL;
    size_t text = zero == NULL ? 0 : (size_t)(zero - data);
    unsigned int choice = Next(&seed) % 8;
    if (zero == NULL || choice == 0)
        return LLVMFuzzerMutate(data, size, most);
    if (choice <= 4)
        return ChangeNumber(data, size, text, most, &seed);
    if (choice == 5)
        return ChangeText(data, size, text, most, &seed);
    return text + 1 + LLVMFuzzerMutate(data + text + 1, size - text - 1, most - text - 1);
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
