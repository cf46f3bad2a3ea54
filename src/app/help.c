// Help texts and the man page, made from the tables of verbs and options, so that they cannot differ from what is
// understood.

#include "app/help.h"

#include <ctype.h>
#include <string.h>

static const char s_summary[] = "soft articulated characters: flesh and skeleton that move each other";

static const snwExample s_examples[] = {
    {"sinew demo", "a soft body falls; a film, a picture, a plot and numbers in out/demo-drop"},
    {"sinew sim scene.json -o out/first", "simulate a scene file and keep everything"},
    {"sinew sim scene.json --sweep pbd.iterations=5,10,20", "one run per value, one row each"},
    {"sinew info --params", "what can be set with --set, with units and ranges"},
    {0},
};

static const struct
{
    snwExit code;
    const char* help;
} s_exits[] = {
    {snw_exitOk, "done"},
    {snw_exitFailed, "failed, or a comparison found a difference"},
    {snw_exitUsage, "the command line makes no sense"},
    {snw_exitInput, "a file is bad"},
    {snw_exitDiverged, "the simulation diverged"},
    {snw_exitInterrupted, "interrupted; finished frames are kept"},
};

static const struct
{
    const char* name;
    const char* help;
} s_variables[] = {
    {"SINEW_SCENES", "folder of the built-in scenes, instead of the installed one"},
    {"NO_COLOR", "if set, no colours on the terminal"},
};

// ---------------------------------------------------------------------------------------------------------------------
// --help

static void PrintOption(const snwOption* option, FILE* file)
{
    char left[48], letter[8] = "    ";
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
        option->argument ? option->argument : "");
    fprintf(file, "  %-28s %s%s\n", left, option->help, option->repeatable ? " (may be repeated)" : "");
}

static void PrintExamples(const snwExample* examples, FILE* file)
{
    fprintf(file, "\nExamples:\n");
    for (; examples->command != NULL; ++examples)
        fprintf(file, "  %s\n      %s\n", examples->command, examples->help);
}

void snwPrintVerbHelp(const snwVerb* verb, FILE* file)
{
    fprintf(file, "Usage: sinew %s%s%s [OPTIONS]\n\n%c%s.\n", verb->name, verb->operands[0] ? " " : "", verb->operands,
        toupper((unsigned char)verb->summary[0]), verb->summary + 1);
    if (verb->about[0] != 0)
        fprintf(file, "\n%s\n", verb->about);
    fprintf(file, "\nOptions:\n");
    for (const snwOption* option = verb->options; option->name != NULL; ++option)
        PrintOption(option, file);
    for (const snwOption* option = snwCommonOptions; option->name != NULL; ++option)
        PrintOption(option, file);
    PrintExamples(verb->examples, file);
}

void snwPrintHelp(FILE* file)
{
    fprintf(file, "sinew - %s\n\nUsage: sinew VERB [OPTIONS]\n\nVerbs:\n", s_summary);
    for (int i = 0; snwVerbs[i] != NULL; ++i)
        fprintf(file, "  %-14s%s\n", snwVerbs[i]->name, snwVerbs[i]->summary);
    fprintf(file, "\n  sinew VERB --help explains one verb; sinew --version names the version.\n");
    PrintExamples(s_examples, file);
    fprintf(file, "\nExit codes:\n");
    for (size_t i = 0; i < sizeof s_exits / sizeof *s_exits; ++i)
        fprintf(file, "  %-5d%s\n", (int)s_exits[i].code, s_exits[i].help);
}

// ---------------------------------------------------------------------------------------------------------------------
// Man page. Only what the tables say: no date and no version, so the stored page changes with the tables alone.

// Hyphens become minus signs so that they can be copied; a dot or quote at the start of a line is not a request.
static void PrintRoff(const char* text, FILE* file)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", file);
    for (; *text != 0; ++text)
    {
        if (*text == '-')
            fputs("\\-", file);
        else if (*text == '\\')
            fputs("\\e", file);
        else
            fputc(*text, file);
        if (*text == '\n' && (text[1] == '.' || text[1] == '\''))
            fputs("\\&", file);
    }
}

static void PrintRoffOption(const snwOption* option, FILE* file)
{
    fputs(".TP\n", file);
    if (option->letter != 0)
        fprintf(file, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB", file);
    PrintRoff("--", file);
    PrintRoff(option->name, file);
    fputs("\\fR", file);
    if (option->argument != NULL)
        fprintf(file, " \\fI%s\\fR", option->argument);
    fputc('\n', file);
    PrintRoff(option->help, file);
    fputs(option->repeatable ? " (may be repeated)\n" : "\n", file);
}

// Paragraphs: an empty line becomes a .PP.
static void PrintRoffText(const char* text, FILE* file)
{
    while (*text != 0)
    {
        char line[256];
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (length == 0)
            fputs(".PP\n", file);
        else
        {
            PrintRoff(line, file);
            fputc('\n', file);
        }
        text += length + (text[length] == '\n');
    }
}

static void PrintRoffExamples(const snwExample* examples, FILE* file)
{
    for (; examples->command != NULL; ++examples)
    {
        fputs(".TP\n\\fB", file);
        PrintRoff(examples->command, file);
        fputs("\\fR\n", file);
        PrintRoff(examples->help, file);
        fputc('\n', file);
    }
}

static void PrintRoffVerb(const snwVerb* verb, FILE* file)
{
    fprintf(file, ".SS sinew %s %s\n", verb->name, verb->operands);
    PrintRoff(verb->summary, file);
    fputs(".\n", file);
    if (verb->about[0] != 0)
    {
        fputs(".PP\n", file);
        PrintRoffText(verb->about, file);
    }
    for (const snwOption* option = verb->options; option->name != NULL; ++option)
        PrintRoffOption(option, file);
    fputs(".PP\nExamples:\n", file);
    PrintRoffExamples(verb->examples, file);
}

void snwPrintManPage(FILE* file)
{
    fprintf(file, ".\\\" Made by `sinew help --man`; change the tables in src/app, not this file.\n"
                  ".TH SINEW 1 \"\" sinew \"Sinew manual\"\n.SH NAME\nsinew \\- ");
    PrintRoff(s_summary, file);
    fputs("\n.SH SYNOPSIS\n.B sinew\n.I VERB\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n"
          "Data goes to stdout; progress and messages go to stderr. Existing files are never replaced without\n"
          "\\fB\\-\\-force\\fR.\n.SH VERBS\n",
        file);

    // Verbs and options from the tables that the parser reads.
    for (int i = 0; snwVerbs[i] != NULL; ++i)
        PrintRoffVerb(snwVerbs[i], file);
    fputs(".SH OPTIONS OF EVERY VERB\n", file);
    for (const snwOption* option = snwCommonOptions; option->name != NULL; ++option)
        PrintRoffOption(option, file);

    fputs(".SH EXAMPLES\n", file);
    PrintRoffExamples(s_examples, file);
    fputs(".SH EXIT STATUS\n", file);
    for (size_t i = 0; i < sizeof s_exits / sizeof *s_exits; ++i)
        fprintf(file, ".TP\n.B %d\n%s\n", (int)s_exits[i].code, s_exits[i].help);
    fputs(".SH ENVIRONMENT\n", file);
    for (size_t i = 0; i < sizeof s_variables / sizeof *s_variables; ++i)
        fprintf(file, ".TP\n.B %s\n%s\n", s_variables[i].name, s_variables[i].help);
}
