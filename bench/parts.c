#include "parts.h"

#include "base/result.h"

#include <string.h>

void snwBenchRows_Add(snwBenchRows* rows, const snwBenchRow* row)
{
    if (rows->result >= 0)
        rows->result = snwBenchReport_Add(rows->report, row, rows->message);
}

void snwBenchRows_AddValue(
    snwBenchRows* rows, const char* caseName, const char* method, const char* metric, double value)
{
    snwBenchRow row = snwMakeBenchRow(caseName, method, metric);
    row.value = value;
    row.n = 1;
    snwBenchRows_Add(rows, &row);
}

// "storm" and "storm/horse" ask for the part storm.
static bool IsAsked(const snwBenchOptions* options, const snwBenchPart* part)
{
    size_t length = strlen(part->name);
    return options->only == NULL || (strncmp(options->only, part->name, length) == 0 &&
                                        (options->only[length] == 0 || options->only[length] == '/'));
}

bool snwBenchRows_Wants(const snwBenchRows* rows, const char* caseName, const char* method)
{
    const char* some = rows->options->only != NULL ? strchr(rows->options->only, '/') : NULL;
    const char* only = rows->options->method;
    return rows->result >= 0 && (some == NULL || strstr(caseName, some + 1) != NULL) &&
           (only == NULL || strcmp(only, method) == 0);
}

static snwResult CheckCase(const snwBenchParts* parts, const snwBenchOptions* options, snwMessage* message)
{
    char names[160] = "";
    for (int i = 0; i < parts->count; ++i)
    {
        size_t used = strlen(names);
        if (IsAsked(options, &parts->parts[i]))
            return snw_ok;
        snprintf(names + used, sizeof names - used, " %s", parts->parts[i].name);
    }
    return snwFail(message, snw_errorArgument, names + 1, "there is no case '%s'", options->only);
}

snwResult snwBenchParts_Run(
    const snwBenchParts* parts, const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    snwBenchRows rows = {.report = report, .options = options, .message = message};
    rows.result = CheckCase(parts, options, message);
    for (int i = 0; i < parts->count; ++i)
        if (IsAsked(options, &parts->parts[i]) && rows.result >= 0)
            parts->parts[i].add(&rows);
    return rows.result;
}
