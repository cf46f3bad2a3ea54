// Shell completions. Each shell gets one function that looks at the verb and the word before the cursor.

#include "app/help.h"
#include "scene/builtin.h"

#include <string.h>

static const char s_askDemos[] = "$(sinew demo --list --quiet 2>/dev/null)";

// Parameters that methods share come once.
static bool IsFirstWithParam(int method, const char* name)
{
    for (int before = 0; before < method; ++before)
        for (int i = 0; i < snwMethod_GetInfo(before).paramCount; ++i)
            if (strcmp(snwMethod_GetParam(before, i)->name, name) == 0)
                return false;
    return true;
}

static bool IsList(snwComplete complete)
{
    return complete == snw_completeWords || complete == snw_completeCharacters || complete == snw_completeMethods ||
           complete == snw_completeParams;
}

// The words of a list, with blanks between them.
static void PrintWords(snwComplete complete, const char* words, FILE* file)
{
    // Names of characters, words of a list, methods, or parameters with "=".
    for (int i = 0; complete == snw_completeCharacters && i < snwBuiltInCount(); ++i)
        fprintf(file, "%s%s", i > 0 ? " " : "", snwBuiltIn_Get(i)->name);
    const char* gap = "";
    if (complete == snw_completeWords)
        fputs(words, file);
    bool methods = complete == snw_completeMethods || complete == snw_completeParams;

    for (int m = 0; m < snwMethodCount() && methods; ++m)
    {
        if (complete == snw_completeMethods)
        {
            fprintf(file, "%s%s", gap, snwMethod_GetInfo(m).name);
            gap = " ";
            continue;
        }

        // A parameter that several methods have is named once.
        for (int i = 0; i < snwMethod_GetInfo(m).paramCount; ++i)
            if (IsFirstWithParam(m, snwMethod_GetParam(m, i)->name))
            {
                fprintf(file, "%s%s=", gap, snwMethod_GetParam(m, i)->name);
                gap = " ";
            }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// bash

static void BashValues(snwComplete complete, const char* words, FILE* file)
{
    if (complete == snw_completeFile)
        fputs("COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames", file);
    else if (complete == snw_completeFolder)
        fputs("COMPREPLY=($(compgen -d -- \"$cur\")); compopt -o filenames", file);
    else if (complete == snw_completeDemos)
        fprintf(file, "COMPREPLY=($(compgen -W \"%s\" -- \"$cur\"))", s_askDemos);
    else if (IsList(complete))
    {
        fputs("COMPREPLY=($(compgen -W \"", file);
        PrintWords(complete, words, file);
        fputs("\" -- \"$cur\"))", file);
        if (complete == snw_completeParams)
            fputs("; compopt -o nospace", file); // the value follows
    }
    else
        fputs("COMPREPLY=()", file);
}

static void BashOptionNames(const snwOption* option, FILE* file)
{
    for (; option->name != NULL; ++option)
        fprintf(file, "--%s ", option->name);
}

static void BashVerb(const snwVerb* verb, FILE* file)
{
    fprintf(file, "    %s)\n        case $prev in\n", verb->name);

    // After an option its values, else the verb's options or operands.
    for (const snwOption* option = verb->options; option->name != NULL; ++option)
    {
        if (option->argument == NULL)
            continue;
        fprintf(file, "        --%s", option->name);
        if (option->letter != 0)
            fprintf(file, "|-%c", option->letter);
        fputs(") ", file);
        BashValues(option->complete, option->words, file);
        fputs("; return ;;\n", file);
    }

    // A dash asks for options, anything else for operands.
    fputs("        esac\n        if [[ $cur == -* ]]; then\n            COMPREPLY=($(compgen -W \"", file);
    BashOptionNames(verb->options, file);
    BashOptionNames(snwCommonOptions, file);
    fputs("\" -- \"$cur\"))\n        else\n            ", file);
    BashValues(verb->complete, verb->words, file);
    fputs("\n        fi ;;\n", file);
}

static void PrintBash(FILE* file)
{
    fputs("# source <(sinew completions bash)\n_sinew()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    if [[ $COMP_CWORD -eq 1 ]]; then\n        COMPREPLY=($(compgen -W \"",
        file);
    for (int i = 0; snwVerbs[i] != NULL; ++i)
        fprintf(file, "%s ", snwVerbs[i]->name);
    fputs("--help --version\" -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", file);
    for (int i = 0; snwVerbs[i] != NULL; ++i)
        BashVerb(snwVerbs[i], file);
    fputs("    esac\n}\ncomplete -F _sinew sinew\n", file);
}

// ---------------------------------------------------------------------------------------------------------------------
// zsh

// Inside '...' and [...] of an _arguments specification.
static void ZshText(const char* text, FILE* file)
{
    for (; *text != 0; ++text)
    {
        if (*text == '\'')
            fputs("'\\''", file);
        else if (*text == '[' || *text == ']' || *text == ':')
            fprintf(file, "\\%c", *text);
        else
            fputc(*text, file);
    }
}

static void ZshValues(snwComplete complete, const char* words, FILE* file)
{
    if (complete == snw_completeFile)
        fputs("_files", file);
    else if (complete == snw_completeFolder)
        fputs("_files -/", file);
    else if (complete == snw_completeDemos)
        fprintf(file, "(%s)", s_askDemos);
    else if (IsList(complete))
    {
        fputc('(', file);
        PrintWords(complete, words, file);
        fputc(')', file);
    }
}

static void ZshOption(const snwOption* option, bool longName, FILE* file)
{
    fprintf(file, "            '%s", option->repeatable ? "*" : "");
    if (longName)
        fprintf(file, "--%s", option->name);
    else
        fprintf(file, "-%c", option->letter);
    fputc('[', file);
    ZshText(option->help, file);
    fputc(']', file);
    if (option->argument != NULL)
    {
        fprintf(file, ":%s:", option->argument);
        ZshValues(option->complete, option->words, file);
    }
    fputs("' \\\n", file);
}

static void ZshOptions(const snwOption* option, FILE* file)
{
    for (; option->name != NULL; ++option)
    {
        ZshOption(option, true, file);
        if (option->letter != 0)
            ZshOption(option, false, file);
    }
}

static void ZshVerb(const snwVerb* verb, FILE* file)
{
    fprintf(file, "    %s)\n        _arguments \\\n", verb->name);
    ZshOptions(verb->options, file);
    ZshOptions(snwCommonOptions, file);
    if (verb->complete == snw_completeNothing)
        fputs("            && return ;;\n", file);
    else
    {
        // Double quotes let zsh ask the program for the names of the demos.
        fprintf(file, "            \"*:%s:", verb->operands);
        ZshValues(verb->complete, verb->words, file);
        fputs("\" && return ;;\n", file);
    }
}

static void PrintZsh(FILE* file)
{
    fputs("#compdef sinew\n# sinew completions zsh > ~/.zfunc/_sinew\n_sinew()\n{\n    local -a verbs=(\n", file);
    for (int i = 0; snwVerbs[i] != NULL; ++i)
    {
        fprintf(file, "        '%s:", snwVerbs[i]->name);
        ZshText(snwVerbs[i]->summary, file);
        fputs("'\n", file);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n    fi\n"
          "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n",
        file);
    for (int i = 0; snwVerbs[i] != NULL; ++i)
        ZshVerb(snwVerbs[i], file);
    fputs("    esac\n}\nif [[ $funcstack[1] == _sinew ]]; then _sinew \"$@\"; else compdef _sinew sinew; fi\n", file);
}

// ---------------------------------------------------------------------------------------------------------------------
// fish

static void FishText(const char* text, FILE* file)
{
    for (; *text != 0; ++text)
    {
        if (*text == '\'' || *text == '\\')
            fputc('\\', file);
        fputc(*text, file);
    }
}

static void FishValues(snwComplete complete, const char* words, FILE* file)
{
    if (complete == snw_completeFile)
        fputs(" -F", file);
    else if (complete == snw_completeFolder)
        fputs(" -a '(__fish_complete_directories)'", file);
    else if (complete == snw_completeDemos)
        fputs(" -a '(sinew demo --list --quiet 2>/dev/null)'", file);
    else if (IsList(complete))
    {
        fputs(" -a '", file);
        PrintWords(complete, words, file);
        fputc('\'', file);
    }
}

static void FishOptions(const char* verb, const snwOption* option, FILE* file)
{
    for (; option->name != NULL; ++option)
    {
        fprintf(file, "complete -c sinew -n '__fish_seen_subcommand_from %s' -l %s", verb, option->name);
        if (option->letter != 0)
            fprintf(file, " -s %c", option->letter);
        if (option->argument != NULL)
            fputs(" -r", file);
        FishValues(option->complete, option->words, file);
        fputs(" -d '", file);
        FishText(option->help, file);
        fputs("'\n", file);
    }
}

static void PrintFish(FILE* file)
{
    fputs("# sinew completions fish | source\ncomplete -c sinew -f\n", file);
    for (int i = 0; snwVerbs[i] != NULL; ++i)
    {
        const snwVerb* verb = snwVerbs[i];
        fprintf(file, "complete -c sinew -n __fish_use_subcommand -a %s -d '", verb->name);
        FishText(verb->summary, file);
        fputs("'\n", file);
        if (verb->complete != snw_completeNothing)
        {
            fprintf(file, "complete -c sinew -n '__fish_seen_subcommand_from %s'", verb->name);
            FishValues(verb->complete, verb->words, file);
            fputc('\n', file);
        }
        FishOptions(verb->name, verb->options, file);
        FishOptions(verb->name, snwCommonOptions, file);
    }
}

bool snwPrintCompletions(const char* shell, FILE* file)
{
    if (strcmp(shell, "bash") == 0)
        PrintBash(file);
    else if (strcmp(shell, "zsh") == 0)
        PrintZsh(file);
    else if (strcmp(shell, "fish") == 0)
        PrintFish(file);
    else
        return false;
    return true;
}
