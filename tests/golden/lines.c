#include "golden.h"
#include "../process.h"

#include <stdlib.h>
#include <string.h>

static const char* const s_files[snw_goldenKindCount] = {"states.txt", "files.txt", "pictures.txt"};

static void PathOf(snwGoldenKind kind, char* path, size_t capacity)
{
    snprintf(path, capacity, SNW_SOURCE_DIR "/tests/golden/%s", s_files[kind]);
}

void snwGoldenValues_Add(snwGoldenValues* values, const char* key, const char* text)
{
    values->list = realloc(values->list, (size_t)(values->count + 1) * sizeof *values->list);
    snwGoldenValue* value = &values->list[values->count++];
    snprintf(value->key, sizeof value->key, "%s", key);
    snprintf(value->text, sizeof value->text, "%s", text);
}

const char* snwGoldenValues_Find(const snwGoldenValues* values, const char* key)
{
    for (int i = 0; i < values->count; ++i)
        if (strcmp(values->list[i].key, key) == 0)
            return values->list[i].text;
    return NULL;
}

void snwGoldenValues_Free(snwGoldenValues* values)
{
    free(values->list);
    *values = (snwGoldenValues){0};
}

const char* snwGoldenLine_Option(const snwGoldenLine* line, const char* key)
{
    size_t length = strlen(key);
    for (int i = 0; i < line->wordCount; ++i)
        if (strncmp(line->words[i], key, length) == 0 && line->words[i][length] == '=')
            return line->words[i] + length + 1;
    return NULL;
}

const snwGoldenLine* snwGoldenNet_Find(const snwGoldenNet* net, const char* name)
{
    for (int i = 0; i < net->count; ++i)
        if (strcmp(net->lines[i].name, name) == 0)
            return &net->lines[i];
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

static bool AddCase(snwGoldenNet* net, snwGoldenKind kind, char* text)
{
    char* rest = text;
    char* name = strtok_r(rest, " ", &rest);
    if (snwGoldenNet_Find(net, name) != NULL)
        return fprintf(stderr, "%s: two cases are called %s\n", s_files[kind], name), false;

    net->lines = realloc(net->lines, (size_t)(net->count + 1) * sizeof *net->lines);
    snwGoldenLine* line = &net->lines[net->count++];
    *line = (snwGoldenLine){.kind = kind};
    snprintf(line->name, sizeof line->name, "%s", name);
    for (char* word; (word = strtok_r(rest, " ", &rest)) != NULL && line->wordCount < snw_goldenMaxWords;)
        line->words[line->wordCount++] = strdup(word);
    if (line->wordCount == 0)
        return fprintf(stderr, "%s: %s does not say what to do\n", s_files[kind], name), false;
    return true;
}

static bool ReadFile(snwGoldenNet* net, snwGoldenKind kind)
{
    char path[512];
    PathOf(kind, path, sizeof path);
    char* text = snwReadWhole(path);
    if (text == NULL)
        return fprintf(stderr, "%s cannot be read\n", path), false;

    bool sound = true;
    int casesBefore = net->count;
    char* rest = text;
    for (char* row; sound && (row = strtok_r(rest, "\n", &rest)) != NULL;)
    {
        char key[96], value[112];
        if (row[0] == '#')
            continue;
        else if (row[0] != ' ')
            sound = AddCase(net, kind, row);
        else if (net->count > casesBefore && sscanf(row, " %95s %111s", key, value) == 2)
            snwGoldenValues_Add(&net->lines[net->count - 1].recorded, key, value);
        else
            sound = fprintf(stderr, "%s: no case, and no value of one: '%s'\n", s_files[kind], row) < 0;
    }
    free(text);
    return sound;
}

bool snwGoldenNet_Read(snwGoldenNet* net)
{
    bool sound = true;
    *net = (snwGoldenNet){0};
    for (snwGoldenKind kind = 0; kind < snw_goldenKindCount && sound; ++kind)
        sound = ReadFile(net, kind);
    return sound;
}

void snwGoldenNet_Free(snwGoldenNet* net)
{
    for (int i = 0; i < net->count; ++i)
    {
        for (int k = 0; k < net->lines[i].wordCount; ++k)
            free(net->lines[i].words[k]);
        snwGoldenValues_Free(&net->lines[i].recorded);
    }
    free(net->lines);
    *net = (snwGoldenNet){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing

// Cases and comments are copied from the file as it is; values come from the net.
static bool WriteFile(const snwGoldenNet* net, snwGoldenKind kind)
{
    char path[512], newPath[520];
    PathOf(kind, path, sizeof path);
    snprintf(newPath, sizeof newPath, "%s.new", path);
    char* text = snwReadWhole(path);
    FILE* file = text != NULL ? fopen(newPath, "w") : NULL;
    if (file == NULL)
        return perror(newPath), free(text), false;

    for (char *row = text, *next; *row != 0; row = next)
    {
        size_t length = strcspn(row, "\n");
        next = row + length + (row[length] == '\n');
        if (row[0] == ' ')
            continue; // an old value
        fprintf(file, "%.*s\n", (int)length, row);

        char name[64];
        if (row[0] == '#' || sscanf(row, "%63s", name) != 1 || length == 0)
            continue;
        const snwGoldenLine* line = snwGoldenNet_Find(net, name);
        for (int i = 0; line != NULL && i < line->recorded.count; ++i)
            fprintf(file, "    %s %s\n", line->recorded.list[i].key, line->recorded.list[i].text);
    }
    free(text);
    bool written = !ferror(file);
    if (fclose(file) != 0 || !written || rename(newPath, path) != 0)
        return perror(path), false;
    return true;
}

bool snwGoldenNet_Write(const snwGoldenNet* net)
{
    bool written = true;
    for (snwGoldenKind kind = 0; kind < snw_goldenKindCount; ++kind)
        written = WriteFile(net, kind) && written;
    return written;
}
