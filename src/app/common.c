// What several verbs share: a context from the common options, paths and folders, where scenes and programs are, JSON
// on stdout.

#include "app/common.h"
#include "app/console.h"
#include "base/result.h"
#include "math/cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
