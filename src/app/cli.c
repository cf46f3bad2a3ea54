// The command line: verbs, options in all their spellings, operands, and what is wrong with them in words. One table
// per verb says what there is; help, man page and completions use the same tables.

#include "app/cli.h"
#include "app/console.h"
#include "app/help.h"
#include "app/nearest.h"
#include "app/verbs.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const snwVerb* const snwVerbs[] = {
    &snwStudioVerb,
    &snwBakeVerb,
    &snwDemoVerb,
    &snwSimVerb,
    &snwCompareVerb,
    &snwReplayVerb,
    &snwInfoVerb,
    &snwCheckVerb,
    &snwPrepVerb,
    &snwRenderVerb,
    &snwBenchVerb,
    &snwHelpVerb,
    &snwCompletionsVerb,
    NULL,
};

const snwOption snwCommonOptions[] = {
    {"quiet", 'q', NULL, false, snw_completeNothing, NULL, "no progress and notes; results still go to stdout"},
    {"verbose", 'v', NULL, false, snw_completeNothing, NULL, "also say what is being done"},
    {"help", 'h', NULL, false, snw_completeNothing, NULL, "explain this verb and end"},
    {0},
};

const snwVerb* snwVerb_Find(const char* name)
{
    for (int i = 0; snwVerbs[i] != NULL; ++i)
        if (strcmp(snwVerbs[i]->name, name) == 0)
            return snwVerbs[i];
    return NULL;
}

static const snwOption* FindOption(const snwOption* options, const char* name, size_t length)
{
    for (; options->name != NULL; ++options)
        if (strlen(options->name) == length && strncmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

static const snwOption* FindLetter(const snwOption* options, char letter)
{
    for (; options->name != NULL; ++options)
        if (options->letter == letter)
            return options;
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// Parsing

static snwExit UnknownOption(const snwVerb* verb, const char* word, size_t length)
{
    char name[64], remedy[128];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    snwNearest nearest = snwNearest_Start(name);
    for (const snwOption* option = verb->options; option->name != NULL; ++option)
        snwNearest_Try(&nearest, option->name);
    for (const snwOption* option = snwCommonOptions; option->name != NULL; ++option)
        snwNearest_Try(&nearest, option->name);
    if (nearest.best != NULL)
        snprintf(remedy, sizeof remedy, "--%s", nearest.best);
    else
        snprintf(remedy, sizeof remedy, "sinew %s --help", verb->name);
    return snwUsage(remedy, "%s has no option --%s", verb->name, name);
}

static bool IsOneOf(const char* words, const char* value)
{
    size_t length = strlen(value);
    for (const char* word = words; *word != 0; word += strspn(word, " "))
    {
        size_t size = strcspn(word, " ");
        if (size == length && strncmp(word, value, size) == 0)
            return true;
        word += size;
    }
    return false;
}

static snwExit AddOption(snwArgs* args, const snwOption* option, const char* value)
{
    if (!option->repeatable && option->argument != NULL && snwArgs_Count(args, option->name) > 0)
        return snwUsage("give it once", "--%s is given twice", option->name);
    if (option->complete == snw_completeWords && value != NULL && !IsOneOf(option->words, value))
        return snwUsage(option->words, "--%s does not know '%s'", option->name, value);
    args->given[args->givenCount++] = (snwGiven){option, value};
    return snw_exitOk;
}

// --name, --name value, --name=value
static snwExit ParseLong(snwArgs* args, int count, char** words, int* position)
{
    const char* name = words[*position] + 2;
    size_t length = strcspn(name, "=");
    const char* value = name[length] == '=' ? name + length + 1 : NULL;
    const snwOption* option = FindOption(args->verb->options, name, length);

    // The verb's own options win.
    if (option == NULL)
        option = FindOption(snwCommonOptions, name, length);
    if (option == NULL)
        return UnknownOption(args->verb, name, length);
    if (option->argument == NULL && value != NULL)
        return snwUsage("leave out '=' and what follows", "--%s takes no value", option->name);

    // The value behind '=', or the next word.
    if (option->argument != NULL && value == NULL)
    {
        if (*position + 1 >= count)
            return snwUsage(option->help, "--%s needs %s", option->name, option->argument);
        value = words[++*position];
    }

    return AddOption(args, option, value);
}

// -o DIR, -oDIR, -qj
static snwExit ParseShort(snwArgs* args, int count, char** words, int* position)
{
    for (const char* letter = words[*position] + 1; *letter != 0; ++letter)
    {
        const snwOption* option = FindLetter(args->verb->options, *letter);
        if (option == NULL)
            option = FindLetter(snwCommonOptions, *letter);
        if (option == NULL)
            return snwUsage("see --help for the options", "%s has no option -%c", args->verb->name, *letter);

        // Letters without values may share a word.
        if (option->argument == NULL)
        {
            AddOption(args, option, NULL);
            continue;
        }

        // The value in the same word, or the next one.
        const char* value = letter[1] != 0 ? letter + 1 : *position + 1 < count ? words[++*position] : NULL;
        if (value == NULL)
            return snwUsage(option->help, "-%c needs %s", *letter, option->argument);
        return AddOption(args, option, value);
    }

    return snw_exitOk;
}

static snwExit CheckOperands(const snwArgs* args)
{
    const snwVerb* verb = args->verb;
    char remedy[128];
    snprintf(remedy, sizeof remedy, "sinew %s --help", verb->name);
    if (args->operandCount < verb->leastOperands && !snwArgs_Has(args, "help"))
        return snwUsage(remedy, "%s needs %s", verb->name, verb->operands);
    if (args->operandCount > verb->mostOperands)
        return snwUsage(remedy, "%s does not take '%s'", verb->name, args->operands[verb->mostOperands]);
    return snw_exitOk;
}

snwExit snwArgs_Parse(const snwVerb* verb, int count, char** words, snwArgs* args)
{
    // -qqq may give as many options as there are letters.
    size_t letters = 1;
    for (int i = 0; i < count; ++i)
        letters += strlen(words[i]) + 1;
    *args = (snwArgs){.verb = verb};
    args->given = calloc(letters, sizeof *args->given);
    args->operands = calloc((size_t)count + 1, sizeof *args->operands);
    if (args->given == NULL || args->operands == NULL)
        return snwReportMemory();
    bool only = false; // after --, everything is an operand
    snwExit result = snw_exitOk;

    // Options and operands in any order.
    for (int i = 0; i < count && result == snw_exitOk; ++i)
    {
        if (!only && strcmp(words[i], "--") == 0)
            only = true;
        else if (!only && strncmp(words[i], "--", 2) == 0)
            result = ParseLong(args, count, words, &i);
        else if (!only && words[i][0] == '-' && words[i][1] != 0)
            result = ParseShort(args, count, words, &i);
        else
            args->operands[args->operandCount++] = words[i];
    }

    return result == snw_exitOk ? CheckOperands(args) : result;
}

void snwArgs_Free(snwArgs* args)
{
    free(args->given);
    free(args->operands);
    *args = (snwArgs){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Asking

int snwArgs_Count(const snwArgs* args, const char* name)
{
    int count = 0;
    for (int i = 0; i < args->givenCount; ++i)
        count += strcmp(args->given[i].option->name, name) == 0;
    return count;
}

bool snwArgs_Has(const snwArgs* args, const char* name)
{
    return snwArgs_Count(args, name) > 0;
}

const char* snwArgs_Nth(const snwArgs* args, const char* name, int index)
{
    for (int i = 0; i < args->givenCount; ++i)
        if (strcmp(args->given[i].option->name, name) == 0 && index-- == 0)
            return args->given[i].value;
    return NULL;
}

const char* snwArgs_Text(const snwArgs* args, const char* name)
{
    return snwArgs_Nth(args, name, snwArgs_Count(args, name) - 1);
}

bool snwParseReal(const char* text, double* value)
{
    char* end = NULL;
    double number = strtod(text, &end);
    if (end == text || *end != 0 || !isfinite(number) || isspace((unsigned char)text[0]))
        return false;
    *value = number;
    return true;
}

bool snwParseInt(const char* text, int* value)
{
    double number = 0;
    if (!snwParseReal(text, &number) || number != floor(number) || fabs(number) > 2147483647.0)
        return false;
    *value = (int)number;
    return true;
}

bool snwArgs_Int(const snwArgs* args, const char* name, int lower, int upper, int* value)
{
    const char* text = snwArgs_Text(args, name);
    int number = 0;
    if (text == NULL)
        return true;
    char remedy[96];
    snprintf(remedy, sizeof remedy, "a whole number from %d to %d", lower, upper);
    if (!snwParseInt(text, &number) || number < lower || number > upper)
        return snwUsage(remedy, "--%s cannot be '%s'", name, text) == snw_exitOk;
    *value = number;
    return true;
}

bool snwArgs_Real(const snwArgs* args, const char* name, double lower, double upper, double* value)
{
    const char* text = snwArgs_Text(args, name);
    double number = 0;
    if (text == NULL)
        return true;
    char remedy[96];
    snprintf(remedy, sizeof remedy, "a number from %g to %g", lower, upper);
    if (!snwParseReal(text, &number) || number < lower || number > upper)
        return snwUsage(remedy, "--%s cannot be '%s'", name, text) == snw_exitOk;
    *value = number;
    return true;
}

bool snwArgs_U64(const snwArgs* args, const char* name, uint64_t* value)
{
    const char* text = snwArgs_Text(args, name);
    if (text == NULL)
        return true;
    char* end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != 0 || errno != 0)
        return snwUsage("a whole number, not negative", "--%s cannot be '%s'", name, text) == snw_exitOk;
    *value = number;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The program

static snwExit UnknownVerb(const char* word)
{
    char remedy[96] = "sinew --help";
    snwNearest nearest = snwNearest_Start(word);
    for (int i = 0; snwVerbs[i] != NULL; ++i)
        snwNearest_Try(&nearest, snwVerbs[i]->name);
    if (nearest.best != NULL)
        snprintf(remedy, sizeof remedy, "sinew %s", nearest.best);
    return snwUsage(remedy, "there is no verb '%s'", word);
}

static void SetLoudness(const snwArgs* args)
{
    snwConsole_SetLoudness(snwArgs_Has(args, "quiet"), snwArgs_Has(args, "verbose"));
}

static snwExit RunVerb(const snwVerb* verb, int count, char** words)
{
    snwArgs args;
    snwExit result = snwArgs_Parse(verb, count, words, &args);
    if (result == snw_exitOk && snwArgs_Has(&args, "help"))
        snwPrintVerbHelp(verb, stdout);
    else if (result == snw_exitOk)
    {
        SetLoudness(&args);
        result = verb->run(&args);
    }
    snwArgs_Free(&args);
    return result;
}

static snwExit RunGlobal(const char* word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    {
        snwPrintHelp(stdout);
        return snw_exitOk;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
    {
        snwVersion version = snwGetVersion();
        printf("sinew %d.%d.%d\n", version.major, version.minor, version.patch);
        return snw_exitOk;
    }
    return snwUsage("sinew --help", "there is no option %s before the verb", word);
}

snwExit snwRunCommandLine(int argc, char** argv)
{
    if (argc < 2)
    {
        snwPrintHelp(stderr);
        return snw_exitUsage;
    }
    if (argv[1][0] == '-')
        return RunGlobal(argv[1]);
    const snwVerb* verb = snwVerb_Find(argv[1]);
    return verb == NULL ? UnknownVerb(argv[1]) : RunVerb(verb, argc - 2, argv + 2);
}
