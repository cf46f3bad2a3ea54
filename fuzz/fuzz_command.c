// Single commands against a fixed scene: what is read must be written and read back to the same text.

#include "fuzz.h"

#include <string.h>

static const char s_scene[] =
    "{\"sinew\": 1, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": \"block\", \"cells\": [1, 1, 1]}}],"
    " \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\"}],"
    " \"pins\": [{\"name\": \"p\", \"body\": \"b\", \"lower\": [-1, -1, -1], \"upper\": [1, 1, 1]}]}";

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static snwFuzzMemory s_memory;
    static snwContext* s_context;
    static snwSceneFile s_file;
    if (s_context == NULL)
    {
        s_context = snwFuzz_NewContext(&s_memory, 16 << 20);
        if (snwSceneFile_Parse(s_context, s_scene, strlen(s_scene), "fixed", NULL, &s_file, NULL) < 0)
            abort();
    }
    snwCommand command, again;
    snwMessage message;
    char first[2048], second[2048];
    if (snwCommand_Parse(s_file.scene, (const char*)data, size, &command, &message) < 0)
    {
        if (message.text[0] == 0)
            abort();
        return 0;
    }
    int length = snwCommand_Format(s_file.scene, &command, first, sizeof first);
    if (length <= 0 || length >= (int)sizeof first)
        abort();
    if (snwCommand_Parse(s_file.scene, first, (size_t)length, &again, &message) != snw_ok)
        abort();
    snwCommand_Format(s_file.scene, &again, second, sizeof second);
    if (strcmp(first, second) != 0)
        abort();
    return 0;
}
