#include "app/common.h"
#include "app/console.h"
#include "base/result.h"
#include "math/cpu.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// Context

// The words of the option, not of snwSimd_Name: "base" is meant on every machine.
static snwSimd ParseSimd(const char* text)
{
    static const char* const words[] = {"auto", "scalar", "base", "avx2"};
    int simd = snw_simdAvx2;
    while (simd > snw_simdAuto && strcmp(text, words[simd]) != 0)
        --simd;
    return (snwSimd)simd;
}

snwExit snwContextFromArgs(const snwArgs* args, snwContext** context)
{
    snwContextDef def = snwDefaultContextDef();
    snwMessage message;
    def.log = snwConsole_Log;
    if (!snwArgs_Int(args, "threads", 0, 64, &def.threadCount))
        return snw_exitUsage;
    if (snwArgs_Text(args, "simd") != NULL)
        def.simd = ParseSimd(snwArgs_Text(args, "simd"));
    if (snwCreateContext(&def, context, &message) < 0)
    {
        snwPrintError(&message);
        return message.result == snw_errorUnsupported ? snw_exitUsage : snw_exitFailed;
    }
    snwDetail("%d thread(s), %s", snwContext_ThreadCount(*context), snwSimd_Name(snwContext_Simd(*context)));
    return snw_exitOk;
}

// ---------------------------------------------------------------------------------------------------------------------
// Files and folders

bool snwJoinPath(char* buffer, size_t capacity, const char* folder, const char* name)
{
    const char* slash = folder[0] != 0 && folder[strlen(folder) - 1] == '/' ? "" : "/";
    int length = snprintf(buffer, capacity, "%s%s%s", folder, slash, name);
    return length > 0 && (size_t)length < capacity;
}

bool snwFileExists(const char* path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static snwResult FailSystem(snwMessage* message, const char* path, const char* remedy, const char* what)
{
    snwFail(message, snw_errorIo, remedy, "%s: %s", what, strerror(errno));
    snwMessage_SetFile(message, path);
    return snw_errorIo;
}

snwResult snwMakeFolder(const char* path, snwMessage* message)
{
    char part[snw_maxPath];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return snwFail(message, snw_errorIo, NULL, "the path is too long");
    for (char* slash = part + 1;; ++slash)
    {
        char kept = *slash;
        if (kept != '/' && kept != 0)
            continue;
        *slash = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return FailSystem(message, part, "choose a folder you may write to with -o", "cannot make the folder");
        *slash = kept;
        if (kept == 0)
            break;
    }
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return snw_ok;
    errno = ENOTDIR;
    return FailSystem(message, path, "choose another folder with -o", "cannot write there");
}

static bool IsFolder(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool snwMayBeJson(const char* path)
{
    char start[256] = "";
    FILE* file = fopen(path, "rb");
    if (file == NULL)
        return true;
    size_t size = fread(start, 1, sizeof start - 1, file);
    bool readable = ferror(file) == 0;
    fclose(file);
    const char* mark = "\xEF\xBB\xBF"; // of UTF-8
    const char* first = start + (strncmp(start, mark, 3) == 0 ? 3 : 0);
    return !readable || size == 0 || first[strspn(first, " \t\r\n")] == '{';
}

bool snwHasProgram(const char* name)
{
    const char* folders = getenv("PATH");
    char path[snw_maxPath];
    while (folders != NULL && *folders != 0)
    {
        size_t length = strcspn(folders, ":");
        // An empty folder in PATH is the current one.
        int size = snprintf(path, sizeof path, "%.*s%s/%s", (int)length, folders, length > 0 ? "" : ".", name);
        if (size < (int)sizeof path && !IsFolder(path) && access(path, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

// bin/sinew -> share/sinew/scenes, so that an installation may be moved as a whole
static bool FindBesideProgram(char* buffer, size_t capacity)
{
    ssize_t length = readlink("/proc/self/exe", buffer, capacity - 1);
    if (length <= 0)
        return false;
    buffer[length] = 0;
    char* slash = strrchr(buffer, '/');
    size_t room = capacity - (size_t)(slash - buffer);
    return snprintf(slash, room, "/../share/sinew/scenes") < (int)room && IsFolder(buffer);
}

const char* snwScenesFolder(char* buffer, size_t capacity)
{
    const char* chosen = getenv("SINEW_SCENES");
    if (chosen != NULL && chosen[0] != 0)
        snprintf(buffer, capacity, "%s", chosen);
    else if (!FindBesideProgram(buffer, capacity))
        snprintf(buffer, capacity, "%s", IsFolder(SNW_SOURCE_DIR "/scenes") ? SNW_SOURCE_DIR "/scenes" : SNW_SCENE_DIR);
    return buffer;
}

snwExit snwReportInput(const snwMessage* message)
{
    snwExit result = snwReportMessage(message);
    if (message->result == snw_errorArgument) // readers blame their file with another one
        return snw_exitUsage;
    return message->result == snw_errorIo || message->result == snw_errorUnsupported ? snw_exitInput : result;
}

int snwLog_Frames(const snwLog* log)
{
    return log->frameCount > 0 ? log->frameCount - 1 : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// JSON

json_t* snwJsonReal(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

snwExit snwPrintJson(json_t* value)
{
    int result = value == NULL ? -1 : json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(value);
    if (result != 0)
        return snwReport(snw_errorIo, NULL, "could not write JSON to stdout");
    putchar('\n');
    return snw_exitOk;
}

json_t* snwMeasures_ToJson(const snwMeasures* measures)
{
    json_t* object = json_object();
    for (int i = 0; i < snwMeasureCount(); ++i)
        json_object_set_new(object, snwMeasure_GetInfo(i)->name, snwJsonReal(snwMeasures_Get(measures, i)));
    return object;
}
