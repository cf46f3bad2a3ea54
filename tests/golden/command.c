// Runs a command line of sinew in this folder and keeps what it wrote: files as hashes and sizes, a picture as cells.
//
// What depends on the clock, or on another program, is left out: films and PNG files (pictures have cases of their own,
// and are compared by what is seen), the plot of timings, and in JSON files the keys listed below.

#include "golden.h"
#include "../fixture.h"
#include "../process.h"

#include "app/cli.h"
#include "app/common.h"
#include "base/ending.h"
#include "view/image.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Durations, and how a run was run.
static const char* const s_clockKeys[] = {"step_ms", "step_ms_median", "step_ms_max", "stage_ms", "wall_seconds",
    "seconds", "prepare_seconds", "threads", "simd", NULL};
static const char* const s_leftOut[] = {".png", ".mp4", ".gif", "timings.svg", NULL};

// Tables of measures: columns of durations go out of the head and out of every row.
static bool RemoveClockColumns(json_t* columns, json_t* rows)
{
    bool removed = false;
    for (size_t i = json_array_size(columns); i-- > 0;)
    {
        const char* unit = json_string_value(json_object_get(json_array_get(columns, i), "unit"));
        if (unit == NULL || strcmp(unit, "ms") != 0)
            continue;
        removed = json_array_remove(columns, i) == 0;
        for (size_t row = 0; row < json_array_size(rows); ++row)
            json_array_remove(json_array_get(rows, row), i);
    }
    return removed;
}

// Removes the keys of the clock; true if there were any.
static bool RemoveClock(json_t* value)
{
    bool removed = RemoveClockColumns(json_object_get(value, "columns"), json_object_get(value, "rows"));
    for (int i = 0; s_clockKeys[i] != NULL && json_is_object(value); ++i)
        removed = json_object_del(value, s_clockKeys[i]) == 0 || removed;
    const char* key;
    json_t* child;
    size_t i;
    json_object_foreach(value, key, child) removed = RemoveClock(child) || removed;
    json_array_foreach(value, i, child) removed = RemoveClock(child) || removed;
    return removed;
}

static void AddFile(const snwGoldenLine* line, const char* path, snwGoldenValues* found)
{
    const char* only = snwGoldenLine_Option(line, "only");
    if (only != NULL && fnmatch(only, path, 0) != 0)
        return;
    for (int i = 0; s_leftOut[i] != NULL; ++i)
        if (snwHasEnding(path, s_leftOut[i]))
            return;
    struct stat info;
    char* data = snwReadWhole(path);
    if (data == NULL || stat(path, &info) != 0)
        snwGolden_Fail("%s cannot be read", path);
    size_t size = (size_t)info.st_size;
    json_t* json = data[0] == '{' && strstr(data, "\n{") == NULL ? json_loadb(data, size, 0, NULL) : NULL;
    if (RemoveClock(json))
    {
        free(data);
        data = json_dumps(json, JSON_COMPACT);
        size = strlen(data);
    }
    snwGolden_AddHash(found, path, data, size);
    json_decref(json);
    free(data);
}

// All files whose path begins with "out", in the order of their names.
static void AddFolder(const snwGoldenLine* line, const char* folder, const char* prefix, snwGoldenValues* found)
{
    struct dirent** entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; ++i)
    {
        char path[512];
        struct stat info;
        const char* name = entries[i]->d_name;
        snprintf(path, sizeof path, "%s%s%s", prefix, prefix[0] != 0 ? "/" : "", name);
        bool ours = name[0] != '.' && strncmp(path, "out", 3) == 0 && lstat(path, &info) == 0;
        if (ours && S_ISDIR(info.st_mode))
            AddFolder(line, path, path, found);
        else if (ours)
            AddFile(line, path, found);
        free(entries[i]);
    }
    free(entries);
}

// ---------------------------------------------------------------------------------------------------------------------

// Means over 9 rows of 16 fields, two digits for each of red, green and blue: what a picture is like from afar.
static void AddPicture(const char* path, snwGoldenValues* found)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImage image;
    snwMessage message;
    if (snwImage_ReadPng(context, path, &image, &message) < 0)
        snwGolden_Fail("%s", message.text);
    for (int row = 0; row < 9; ++row)
    {
        char key[8], text[112];
        int y0 = row * image.height / 9, y1 = (row + 1) * image.height / 9;
        for (int cell = 0; cell < 48; ++cell)
        {
            int x0 = cell / 3 * image.width / 16, x1 = (cell / 3 + 1) * image.width / 16;
            long sum = 0, pixels = (long)(x1 - x0) * (y1 - y0);
            for (int y = y0; y < y1; ++y)
                for (int x = x0; x < x1; ++x)
                    sum += image.pixels[3 * ((size_t)y * (size_t)image.width + (size_t)x) + (size_t)cell % 3];
            snprintf(text + 2 * cell, 3, "%02x", (unsigned)(sum / (pixels > 0 ? pixels : 1)));
        }
        snprintf(key, sizeof key, "row%d", row);
        snwGoldenValues_Add(found, key, text);
    }
    snwDestroyImage(context, &image);
    snwDestroyContext(context);
}

static bool HasOption(const snwVerb* verb, const char* name)
{
    for (const snwOption* option = verb->options; option->name != NULL; ++option)
        if (strcmp(option->name, name) == 0)
            return true;
    return false;
}

void snwGolden_RunCommand(const snwGoldenLine* line, char** words, int wordCount, snwGoldenValues* found)
{
    const char* arguments[snw_goldenMaxWords + 4] = {"sinew"};
    int count = 1;
    const snwVerb* verb = wordCount > 0 ? snwVerb_Find(words[0]) : NULL;
    if (verb == NULL)
        snwGolden_Fail("'%s' is no verb of sinew", wordCount > 0 ? words[0] : "");
    for (int i = 0; i < wordCount; ++i)
        arguments[count++] = words[i];
    if (HasOption(verb, "threads"))
        arguments[count++] = "--threads", arguments[count++] = "1";

    // What it says goes into files of this folder.
    int saved = dup(STDERR_FILENO);
    fflush(stdout);
    if (freopen("stdout", "w", stdout) == NULL || freopen("stderr", "w", stderr) == NULL)
        snwGolden_Fail("this folder cannot be written");
    snwExit code = snwRunCommandLine(count, (char**)(size_t)arguments); // it changes none of them
    fflush(stdout);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    if (code != snw_exitOk)
    {
        char* said = snwReadWhole("stderr");
        snwGolden_Fail("sinew %s ends with %d: %s", words[0], (int)code, said != NULL ? said : "");
    }

    if (line->kind == snw_goldenPicture)
        return AddPicture(line->words[0], found);
    AddFolder(line, ".", "", found);
    if (found->count == 0)
        AddFile(line, "stdout", found);
}
