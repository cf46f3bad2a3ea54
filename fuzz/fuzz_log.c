// Command logs: no input may crash; what is read must hang together.

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    snwLog log;
    snwMessage message;
    snwContext* context = snwFuzz_NewContext(&memory, 4 << 20);
    if (snwLog_Parse(context, (const char*)data, size, "fuzz", NULL, &log, &message) >= 0)
    {
        for (int i = 0; i < log.commandCount; ++i)
            if (log.commands[i].step >= (uint64_t)log.frameCount)
                abort();
    }
    else if (message.text[0] == 0 || log.file.scene != NULL)
        abort();
    snwLog_Close(context, &log);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
