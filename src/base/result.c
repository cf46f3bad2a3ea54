// The names of results, and messages: what went wrong, in which file, at which place and what would help. Texts that
// are too long are cut; nothing here allocates.

#include "base/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// In words, for a message that has no text of its own.
const char* snwResult_Name(snwResult result)
{
    switch (result)
    {
        case snw_ok:
            return "ok";
        case snw_warning:
            return "warning";
        case snw_errorMemory:
            return "out of memory";
        case snw_errorArgument:
            return "bad argument";
        case snw_errorInput:
            return "bad input";
        case snw_errorIo:
            return "input/output error";
        case snw_errorDiverged:
            return "diverged";
        case snw_errorUnsupported:
            return "unsupported";
        case snw_errorInterrupted:
            return "interrupted";
    }

    return "unknown result";
}

int snwMessage_Format(const snwMessage* message, char* buffer, size_t capacity)
{
    const char* file = message->file[0] ? ": " : "";
    const char* place = message->place[0] ? ": " : "";
    const char* text = message->text[0] ? message->text : snwResult_Name(message->result);
    if (message->remedy[0] == 0)
        return snprintf(buffer, capacity, "%s%s%s%s%s", message->file, file, message->place, place, text);
    return snprintf(
        buffer, capacity, "%s%s%s%s%s (%s)", message->file, file, message->place, place, text, message->remedy);
}

void snwMessage_Clear(snwMessage* message)
{
    if (message != NULL)
        memset(message, 0, sizeof *message);
}

snwResult snwFail(snwMessage* message, snwResult result, const char* remedy, const char* format, ...)
{
    if (message == NULL)
        return result;
    snwMessage_Clear(message);
    message->result = result;
    va_list args;
    va_start(args, format);
    vsnprintf(message->text, sizeof message->text, format, args);
    va_end(args);
    if (remedy != NULL)
        snprintf(message->remedy, sizeof message->remedy, "%s", remedy);
    return result;
}

snwResult snwFailMemory(snwMessage* message)
{
    return snwFail(message, snw_errorMemory, "free some memory or make the scene smaller", "out of memory");
}

void snwMessage_AddPlace(snwMessage* message, const char* format, ...)
{
    if (message == NULL)
        return;
    char outer[sizeof message->place], inner[sizeof message->place];
    va_list args;
    va_start(args, format);
    vsnprintf(outer, sizeof outer, format, args);
    va_end(args);
    memcpy(inner, message->place, sizeof inner);
    const char* dot = inner[0] == 0 || inner[0] == '[' ? "" : ".";
    size_t used = strlen(outer);
    memcpy(message->place, outer, used + 1);
    snprintf(message->place + used, sizeof message->place - used, "%s%s", dot, inner);
}

void snwMessage_SetFile(snwMessage* message, const char* file)
{
    if (message != NULL)
        snprintf(message->file, sizeof message->file, "%s", file);
}
