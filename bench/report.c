// Rows as JSON for programs and as a table for people, with the host they were measured on.

#include "app/table.h"
#include "bench.h"
#include "math/cpu.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// Host

typedef struct Host
{
    char cpu[96], simd[16], compiler[96], os[160];
    int cores;
    double memory; // GB
} Host;

// The rest of the first line that starts with key, without separators and quotes; "unknown" if there is none.
static void ReadLine(const char* path, const char* key, char* value, size_t capacity)
{
    char line[256];
    FILE* file = fopen(path, "r");
    snprintf(value, capacity, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
    {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        const char* start = line + strlen(key);
        start += strspn(start, " \t:=\"");
        snprintf(value, capacity, "%.*s", (int)strcspn(start, "\"\n"), start);
        break;
    }
    if (file != NULL)
        fclose(file);
}

static Host ReadHost(void)
{
    Host host = {0};
    struct utsname system;
    char name[80];
    ReadLine("/proc/cpuinfo", "model name", host.cpu, sizeof host.cpu);
    ReadLine("/etc/os-release", "PRETTY_NAME", name, sizeof name);
    const char* kernel = uname(&system) == 0 ? system.release : "unknown kernel";
    snprintf(host.os, sizeof host.os, "%s, %.64s", name, kernel);
    snprintf(host.simd, sizeof host.simd, "%s", snwSimd_Name(snwSimd_Best()));
#if defined(__clang__)
    snprintf(host.compiler, sizeof host.compiler, "clang %s", __clang_version__);
#else
    snprintf(host.compiler, sizeof host.compiler, "gcc %s", __VERSION__);
#endif
    host.cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    host.memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * 1e-9;
    return host;
}

// ---------------------------------------------------------------------------------------------------------------------
// JSON

static json_t* Real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t* Text(const char* text)
{
    return text != NULL && text[0] != 0 ? json_string(text) : json_null();
}

static json_t* RowToJson(const snwBenchRow* row)
{
    int pass = snwBenchRow_Passes(row);
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "case", row->caseName,
        "method", row->method, "metric", row->metric, "value", Real(row->value), "unit",
        snwMetric_Find(row->metric)->unit, "n", row->n, "spread", Real(row->spread), "paper", Real(row->paper), "peer",
        Real(row->peer), "peer_name", Text(row->peerName), "target", Real(row->target), "op", Text(row->op), "pass",
        pass < 0 ? json_null() : json_boolean(pass), "note", row->note);
}

snwResult snwBenchReport_WriteJson(const snwBenchReport* report, FILE* file)
{
    Host host = ReadHost();
    json_t* rows = json_array();
    for (int i = 0; i < report->count; ++i)
        json_array_append_new(rows, RowToJson(&report->rows[i]));
    json_t* json = json_pack("{s:i, s:s, s:{s:s, s:i, s:s, s:f, s:s, s:s}, s:o}", "schema", 1, "bench", report->bench,
        "host", "cpu", host.cpu, "cores", host.cores, "simd", host.simd, "memory", round(host.memory * 10) / 10,
        "compiler", host.compiler, "os", host.os, "rows", rows);
    int result = json == NULL ? -1 : json_dumpf(json, file, JSON_REAL_PRECISION(7));
    json_decref(json);
    fputc('\n', file);
    return result == 0 ? snw_ok : snw_errorIo;
}

// ---------------------------------------------------------------------------------------------------------------------
// Table

static void SetNumber(snwTextTable* table, int column, double value)
{
    char number[32] = "";
    if (isfinite(value))
        snwFormatNumber(value, number, sizeof number);
    snwTextTable_Set(table, column, "%s", number);
}

static void AddTableRow(snwTextTable* table, const snwBenchRow* row)
{
    static const char* const verdicts[] = {"", "FAILED", "ok"};
    snwTextTable_AddRow(table);
    snwTextTable_Set(table, 0, "%s", row->caseName);
    snwTextTable_Set(table, 1, "%s", row->method);
    snwTextTable_Set(table, 2, "%s", row->metric);
    if (isfinite(row->value))
        SetNumber(table, 3, row->value);
    else
        snwTextTable_Set(table, 3, "missing");
    snwTextTable_Set(table, 4, "%s", snwMetric_Find(row->metric)->unit);
    SetNumber(table, 5, row->spread);
    snwTextTable_Set(table, 6, "%d", row->n);
    SetNumber(table, 7, row->paper);
    SetNumber(table, 8, row->peer);
    snwTextTable_Set(table, 9, "%s", row->peerName);
    if (isfinite(row->target))
    {
        char number[32];
        snwFormatNumber(row->target, number, sizeof number);
        snwTextTable_Set(table, 10, "%s %s", row->op, number);
    }
    snwTextTable_Set(table, 11, "%s", verdicts[snwBenchRow_Passes(row) + 1]);
    snwTextTable_Set(table, 12, "%s", row->note);
}

void snwBenchReport_WriteTable(const snwBenchReport* report, FILE* file)
{
    Host host = ReadHost();
    fprintf(file, "bench %s on %s, %d cores, %s, %.1f GB, %s, %s\n\n", report->bench, host.cpu, host.cores, host.simd,
        host.memory, host.compiler, host.os);
    static const char* const heads[] = {"<case", "<method", "<metric", "value", "<unit", "spread", "n", "paper", "peer",
        "<peer name", "<target", "<pass", "<note"};
    snwTextTable table = snwTextTable_Start(heads, 13);
    for (int i = 0; i < report->count; ++i)
        AddTableRow(&table, &report->rows[i]);
    snwTextTable_Print(&table, file);
    snwTextTable_Free(&table);
    fputc('\n', file);
}
