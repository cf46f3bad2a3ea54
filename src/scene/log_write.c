// Command logs, written line by line and flushed after every frame; each line goes into a running checksum, so that a
// log that was cut or changed is noticed.

#include "scene/log.h"
#include "scene/commands.h"
#include "scene/scene_file.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

static const char* SimdName(snwSimd simd)
{
    switch (simd)
    {
        case snw_simdScalar:
            return "scalar";
        case snw_simdBase:
            return "base";
        case snw_simdAvx2:
            return "avx2";
        default:
            return "auto";
    }
}

// The checksum is a chain of those of the lines.
static snwResult WriteBytes(snwLogWriter* writer, const char* line, size_t size, snwMessage* message)
{
    snwResult result = snwPartFile_Write(&writer->output, line, size, message);
    if (result == snw_ok)
        writer->checksum = snwHash(line, size, writer->checksum);
    return result;
}

// Takes the text: ends it with a new line, counts it into the checksum and writes it.
static snwResult WriteLine(snwLogWriter* writer, snwText* text, snwMessage* message)
{
    snwText_Raw(text, "\n", 1);
    snwResult result = text->failed ? snwFailMemory(message) : WriteBytes(writer, text->data, text->size, message);
    snwText_Free(text);
    return result;
}

static void WriteHash(snwText* text, const char* key, uint64_t hash)
{
    char digits[17];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
    snwText_Key(text, key);
    snwText_String(text, digits);
}

static snwResult WriteLogHeader(snwLogWriter* writer, const snwSceneFile* file, snwMessage* message)
{
    snwText text = snwCreateText(writer->context, 0);
    snwVersion version = snwGetVersion();
    char digits[40];

    // All that a replay needs: version, instruction set, and the scene with every default spelled out.
    snprintf(digits, sizeof digits, "%d.%d.%d", version.major, version.minor, version.patch);
    snwText_Open(&text, '{');
    snwText_Key(&text, "sinew_log");
    snwText_Int(&text, 1);
    snwText_Key(&text, "version");
    snwText_String(&text, digits);
    snwText_Key(&text, "simd");
    snwText_String(&text, SimdName(snwContext_Simd(writer->context)));
    snwText_Key(&text, "scene");
    snwResult result = snwSceneFile_WriteJson(&text, file, message);
    snwText_Close(&text, '}');
    if (result == snw_ok)
        return WriteLine(writer, &text, message);
    snwText_Free(&text);

    return result;
}

snwResult snwLogWriter_Open(snwLogWriter* writer, snwContext* context, const char* path, const snwSceneFile* file,
    bool overwrite, snwMessage* message)
{
    *writer = (snwLogWriter){.context = context, .scene = snwScene_GetDef(file->scene)};
    snwResult result = snwPartFile_Open(&writer->output, context, path, overwrite, message);
    if (result == snw_ok)
        result = WriteLogHeader(writer, file, message);
    if (result < 0)
        snwPartFile_Drop(&writer->output);
    return result;
}

void snwLog_FormatCommand(snwText* text, const snwSceneDef* scene, const snwCommand* command)
{
    text->first = true; // a new document, though others may stand before it
    snwText_Open(text, '{');
    snwText_Key(text, "command");
    snwCommand_WriteJson(text, scene, command);
    snwText_Close(text, '}');
    snwText_Raw(text, "\n", 1);
}

snwResult snwLogWriter_AddCommands(snwLogWriter* writer, const char* lines, size_t size, snwMessage* message)
{
    snwResult result = snw_ok;
    while (size > 0 && result == snw_ok)
    {
        const char* end = memchr(lines, '\n', size);
        size_t length = end != NULL ? (size_t)(end - lines) + 1 : size;
        result = WriteBytes(writer, lines, length, message);
        lines += length;
        size -= length;
    }
    return result;
}

static snwResult WriteLogCommand(snwLogWriter* writer, const snwCommand* command, snwMessage* message)
{
    snwText text = snwCreateText(writer->context, 0);
    snwLog_FormatCommand(&text, writer->scene, command);
    snwResult result = text.failed ? snwFailMemory(message) : WriteBytes(writer, text.data, text.size, message);
    snwText_Free(&text);
    return result;
}

snwResult snwLogWriter_AddFrame(snwLogWriter* writer, const snwSim* sim, int frame, uint64_t hash, snwMessage* message)
{
    int count = 0;
    const snwCommand* commands = sim != NULL ? snwSim_GetLog(sim, &count) : NULL;

    // Commands since the last frame come before it: they were applied on the way to it.
    for (; writer->commandCount < count; writer->commandCount++)
    {
        snwResult result = WriteLogCommand(writer, &commands[writer->commandCount], message);
        if (result < 0)
            return result;
    }

    snwText text = snwCreateText(writer->context, 0);
    snwText_Open(&text, '{');
    snwText_Key(&text, "frame");
    snwText_Int(&text, frame);
    WriteHash(&text, "hash", hash);
    snwText_Close(&text, '}');
    snwResult result = WriteLine(writer, &text, message);
    writer->frameCount = frame;

    return result < 0 ? result : snwPartFile_Flush(&writer->output, message);
}

snwResult snwLogWriter_Finish(snwLogWriter* writer, int frames, snwMessage* message)
{
    snwText text = snwCreateText(writer->context, 0);
    uint64_t checksum = writer->checksum;
    snwText_Open(&text, '{');
    snwText_Key(&text, "end");
    snwText_Int(&text, writer->frameCount);
    snwText_Key(&text, "frames");
    snwText_Int(&text, frames);
    WriteHash(&text, "checksum", checksum);
    snwText_Close(&text, '}');
    snwResult result = WriteLine(writer, &text, message);
    if (result == snw_ok)
        return snwPartFile_Commit(&writer->output, message);
    snwPartFile_Abandon(&writer->output);
    return result;
}

void snwLogWriter_Abandon(snwLogWriter* writer)
{
    snwPartFile_Abandon(&writer->output);
}
