// Reading command logs: line by line, so that a message names the line, and a log cut off in the middle of a line is
// still good up to there.

#include "scene/log.h"
#include "scene/commands.h"
#include "scene/scene_file.h"
#include "base/array.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

enum
{
    snw_maxLogBytes = 512 << 20,
    snw_maxLineBytes = snw_maxSceneBytes + 4096
};

typedef struct HeaderData
{
    int format;
    const char *version, *simd;
    const json_t* scene;
} HeaderData;

typedef struct LineData
{
    const json_t* command;
    int frame, end, frames;
    const char *hash, *checksum;
} LineData;

static const snwField s_headerFields[] = {
    {.key = "sinew_log",
        .type = snw_fieldInt,
        .offset = offsetof(HeaderData, format),
        .lower = 1,
        .upper = 1,
        .required = true},
    {.key = "version", .type = snw_fieldText, .offset = offsetof(HeaderData, version)},
    {.key = "simd", .type = snw_fieldText, .offset = offsetof(HeaderData, simd)},
    {.key = "scene", .type = snw_fieldRaw, .offset = offsetof(HeaderData, scene), .required = true},
};
static const snwTable s_headerTable = {"log", "", SNW_TABLE_FIELDS(s_headerFields), sizeof(HeaderData), NULL, NULL};

static const snwField s_lineFields[] = {
    {.key = "command", .type = snw_fieldRaw, .offset = offsetof(LineData, command)},
    {.key = "frame", .type = snw_fieldInt, .offset = offsetof(LineData, frame), .upper = snw_maxFrames},
    {.key = "hash", .type = snw_fieldText, .offset = offsetof(LineData, hash)},
    {.key = "end", .type = snw_fieldInt, .offset = offsetof(LineData, end), .upper = snw_maxFrames},
    {.key = "frames", .type = snw_fieldInt, .offset = offsetof(LineData, frames), .upper = snw_maxFrames},
    {.key = "checksum", .type = snw_fieldText, .offset = offsetof(LineData, checksum)},
};
static const snwTable s_lineTable = {"line", "", SNW_TABLE_FIELDS(s_lineFields), sizeof(LineData), NULL, NULL};

typedef struct Reader
{
    snwContext* context;
    snwMessage* message;
    const char* name;
    const snwWall* wall;
    snwLog* log;
    snwArray(snwCommand) commands;
    snwArray(uint64_t) hashes;
    uint64_t checksum; // of the lines before this one
    int line;          // from 1
    bool ended;        // the last line was read
} Reader;

static snwResult ReadHash(snwJson* json, const char* text, uint64_t* hash)
{
    static const char s_digits[] = "0123456789abcdef";
    uint64_t value = 0;
    int digits = 0;
    for (; text[digits] != 0 && digits <= 16; ++digits)
    {
        const char* at = strchr(s_digits, text[digits]);
        if (at == NULL)
            break;
        value = value << 4 | (uint64_t)(at - s_digits);
    }
    if (digits != 16 || text[digits] != 0)
        return snwJson_Fail(json, NULL, "a hash must have 16 hexadecimal digits");
    *hash = value;
    return snw_ok;
}

static snwResult ReadLogHeader(Reader* reader, snwJson* json, const json_t* root)
{
    HeaderData data;
    snwResult result = snwTable_Read(json, &s_headerTable, root, &data, NULL);
    if (result < 0)
        return result;
    if (data.version != NULL)
        snprintf(reader->log->version, sizeof reader->log->version, "%s", data.version);
    snwSceneOptions options = snwDefaultSceneOptions();
    options.wall = reader->wall;
    result = snwSceneFile_FromJson(
        reader->context, data.scene, reader->name, &options, &reader->log->file, reader->message);
    if (result < 0)
    {
        snwMessage_AddPlace(reader->message, "scene");
        snwMessage_AddPlace(reader->message, "%s", json->path);
    }
    return result;
}

static snwResult ReadLogCommand(Reader* reader, snwJson* json, const json_t* value)
{
    snwCommand command;
    size_t mark = snwJson_Enter(json, "command");
    snwResult result = snwCommand_ReadJson(json, snwScene_GetDef(reader->log->file.scene), value, &command);
    if (result < 0)
        return result;
    // A command stands between the frame it starts from and the frame it leads to.
    if (reader->hashes.count == 0 || command.step != (uint64_t)(reader->hashes.count - 1))
        return snwJson_Fail(json, NULL, "step %llu is out of order", (unsigned long long)command.step);
    snwJson_Leave(json, mark);
    if (!snwArray_Push(reader->context, &reader->commands, command))
        return snwFailMemory(reader->message);
    return snw_ok;
}

static snwResult ReadFrameLine(Reader* reader, snwJson* json, const LineData* data)
{
    uint64_t hash = 0;
    if (data->frame != reader->hashes.count)
        return snwJson_Fail(json, NULL, "frame %d is out of order; %d comes next", data->frame, reader->hashes.count);
    snwResult result = ReadHash(json, data->hash, &hash);
    if (result < 0)
        return result;
    if (!snwArray_Push(reader->context, &reader->hashes, hash))
        return snwFailMemory(reader->message);
    return snw_ok;
}

static snwResult ReadLogEnd(Reader* reader, snwJson* json, const LineData* data)
{
    uint64_t checksum = 0;
    snwResult result = ReadHash(json, data->checksum, &checksum);
    if (result < 0)
        return result;
    if (data->end != reader->hashes.count - 1)
        return snwJson_Fail(
            json, NULL, "the log says it has %d frames, but has %d", data->end, reader->hashes.count - 1);
    if (checksum != reader->checksum)
        return snwJson_Fail(json, "it was edited or damaged; without this last line it is read as a log cut short",
            "the checksum is wrong");
    reader->ended = true;
    reader->log->complete = data->end == data->frames;
    return snw_ok;
}

static snwResult ReadRecord(Reader* reader, snwJson* json, const json_t* root)
{
    LineData data;
    uint64_t seen = 0;
    snwResult result = snwTable_Read(json, &s_lineTable, root, &data, &seen);
    if (result < 0)
        return result;
    bool frame = snwTable_Saw(&s_lineTable, seen, "frame"), end = snwTable_Saw(&s_lineTable, seen, "end");
    bool frames = snwTable_Saw(&s_lineTable, seen, "frames");
    bool whole = frame == (data.hash != NULL) && end == (data.checksum != NULL) && end == frames;
    if (!whole || frame + end + (data.command != NULL) != 1)
        return snwJson_Fail(json, NULL, "must be one of a command, a frame with its hash, or the end with a checksum");
    if (data.command != NULL)
        return ReadLogCommand(reader, json, data.command);
    return frame ? ReadFrameLine(reader, json, &data) : ReadLogEnd(reader, json, &data);
}

static snwResult ReadLogLine(Reader* reader, const char* text, size_t size)
{
    snwJson json = {.context = reader->context, .message = reader->message, .file = reader->name};
    snwResult result = snw_ok;
    snprintf(json.path, sizeof json.path, "line %d", reader->line);
    if (reader->ended)
        return snwJson_Fail(&json, NULL, "there is more after the end");
    if (size > snw_maxLineBytes)
        return snwJson_Fail(&json, NULL, "too long");
    json_t* root = snwJson_Parse(&json, text, size, &result);
    if (root == NULL)
        return result;
    result = reader->line == 1 ? ReadLogHeader(reader, &json, root) : ReadRecord(reader, &json, root);
    json_decref(root);
    return result;
}

static bool IsWhole(const char* text, size_t size)
{
    json_t* root = json_loadb(text, size, 0, NULL);
    json_decref(root);
    return root != NULL;
}

static bool IsScene(const char* text, size_t size)
{
    json_t* root = size <= snw_maxSceneBytes ? json_loadb(text, size, 0, NULL) : NULL;
    bool scene = json_object_get(root, "sinew") != NULL;
    json_decref(root);
    return scene;
}

static snwResult FailScene(Reader* reader)
{
    snwMessage_Clear(reader->message);
    snwFail(reader->message, snw_errorInput, "sinew sim runs it; with -o it writes log.jsonl",
        "this is a scene, not a log");
    snwMessage_SetFile(reader->message, reader->name);
    return snw_errorInput;
}

static snwResult ReadLogLines(Reader* reader, const char* text, size_t size)
{
    size_t at = 0;
    while (at < size)
    {
        const char* line = text + at;
        const char* end = memchr(line, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - line) : size - at;

        reader->line++;
        // A crash may leave half a line, but only at the end and only without its line break.
        if (end == NULL && reader->line > 1 && !IsWhole(line, length))
            return snw_ok;
        snwResult result = ReadLogLine(reader, line, length);
        if (result < 0)
            return reader->line == 1 && IsScene(text, size) ? FailScene(reader) : result;
        at += length + (end != NULL);
        reader->checksum = snwHash(line, length + (end != NULL), reader->checksum);
    }

    if (reader->line > 0)
        return snw_ok;
    snwResult result = snwFail(reader->message, snw_errorInput, NULL, "is empty");
    snwMessage_SetFile(reader->message, reader->name);
    return result;
}

snwResult snwLog_Parse(snwContext* context, const char* text, size_t size, const char* name, const snwWall* wall,
    snwLog* log, snwMessage* message)
{
    Reader reader = {
        .context = context, .message = message, .name = name != NULL ? name : "", .wall = wall, .log = log};
    *log = (snwLog){0};
    snwMessage_Clear(message);
    snwResult result = ReadLogLines(&reader, text, size);
    log->commands = reader.commands.data;
    log->commandCount = reader.commands.count;
    log->hashes = reader.hashes.data;
    log->frameCount = reader.hashes.count;
    if (result < 0)
        snwLog_Close(context, log);
    return result;
}

snwResult snwLog_Open(snwContext* context, const char* path, const snwWall* wall, snwLog* log, snwMessage* message)
{
    char* text = NULL;
    size_t size = 0;
    *log = (snwLog){0};
    snwResult result = snwFile_Read(context, path, snw_maxLogBytes, &text, &size, message);
    if (result == snw_ok)
        result = snwLog_Parse(context, text, size, path, wall, log, message);
    snwFree(context, text);
    return result;
}

void snwLog_Close(snwContext* context, snwLog* log)
{
    snwSceneFile_Close(&log->file);
    snwFree(context, log->commands);
    snwFree(context, log->hashes);
    *log = (snwLog){0};
}
