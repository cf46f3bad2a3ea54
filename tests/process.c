#include "process.h"
#include "test.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

enum
{
    snw_maxVariables = 512
};

static void MakeEnvironment(const char* variable, char** variables)
{
    int count = 0;
    if (variable != NULL)
        variables[count++] = (char*)(size_t)variable; // posix_spawn does not change it
    for (char** entry = environ; *entry != NULL && count < snw_maxVariables - 1; ++entry)
        variables[count++] = *entry;
    variables[count] = NULL;
}

snwProcess snwProcess_Start(const char* const* words, const char* variable)
{
    static int serial;
    snwProcess process = {.code = -1};
    char* variables[snw_maxVariables];
    snprintf(process.outPath, sizeof process.outPath, "%s/out-%d", snwTest_TempDir(), ++serial);
    snprintf(process.errorPath, sizeof process.errorPath, "%s/errors-%d", snwTest_TempDir(), serial);
    MakeEnvironment(variable, variables);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, process.outPath, flags, 0644);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, process.errorPath, flags, 0644);
    char* const* arguments = (char* const*)(size_t)words;
    if (posix_spawnp(&process.id, words[0], &actions, NULL, arguments, variables) != 0)
        process.id = 0;
    posix_spawn_file_actions_destroy(&actions);
    return process;
}

char* snwReadWhole(const char* path)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char* text = calloc(1, (size_t)(size > 0 ? size : 0) + 1);
    if (text != NULL && size > 0 && fread(text, 1, (size_t)size, file) != (size_t)size)
        text[0] = 0;
    fclose(file);
    return text;
}

void snwProcess_Wait(snwProcess* process)
{
    int status = 0;
    if (process->id > 0 && waitpid(process->id, &status, 0) == process->id)
        process->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    process->text = snwReadWhole(process->outPath);
    process->errors = snwReadWhole(process->errorPath);
    if (process->text == NULL)
        process->text = calloc(1, 1);
    if (process->errors == NULL)
        process->errors = calloc(1, 1);
}

void snwProcess_Free(snwProcess* process)
{
    free(process->text);
    free(process->errors);
}

snwProcess snwProcess_Run(const char* const* words)
{
    snwProcess process = snwProcess_Start(words, NULL);
    snwProcess_Wait(&process);
    return process;
}
